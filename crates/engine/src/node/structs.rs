//! Structs: maps of data values as programs see them, and the results of `@ytt:struct`.
//!
//! A [`Struct`] is an immutable mapping from names to values: `s.a`, `s["a"]`, `for name in s`. An
//! [`Object`] is a struct with its own type name, whose fields are mostly functions; it cannot
//! become YAML.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use ytterby_starlark::{Error, Eval, HostValue, List, Mapping, Value, ValueIter};
use ytterby_text::Str;

use super::{Map, Node, Scalar, key_text, scalar_to_value};
use crate::args::{self, fail};

/// From this many fields on, a struct is searched by hash.
const INDEX_FROM: usize = 9;

/// A struct: names and values, in order.
#[derive(Default)]
pub(crate) struct Struct {
    fields: OnceCell<Rc<[(Str, Value)]>>,
    index: OnceCell<HashMap<Str, usize>>,
    /// The source of the fields, until all of them are requested.
    source: Option<StructSource>,
}

/// A map of data values, and the fields that were requested so far.
struct StructSource {
    map: Rc<Map>,
    /// Tracks the lists in it.
    lists: Option<Rc<SharedLists>>,
    made: RefCell<MadeFields>,
}

/// Fields by their index in the map.
enum MadeFields {
    /// For a map that is not large. With keys that are not copied, `s.port` takes 324 instructions
    /// instead of 428.
    Few(Vec<Option<Value>>),
    Many(BTreeMap<usize, Value>),
}

/// Maximum number of fields for which all slots are allocated.
const FEW: usize = 64;

impl StructSource {
    fn new(map: Rc<Map>, lists: Option<Rc<SharedLists>>) -> StructSource {
        let made = if map.len() <= FEW { MadeFields::Few(Vec::new()) } else { MadeFields::Many(BTreeMap::new()) };
        StructSource { map, lists, made: RefCell::new(made) }
    }

    /// The field at an index of the map, created once: programs may change its content.
    fn field(&self, at: usize) -> Value {
        if let Some(reads) = self.lists.as_ref().and_then(|lists| lists.reads.as_ref()) {
            reads.add(&self.map, at);
        }
        let made = match &*self.made.borrow() {
            MadeFields::Few(fields) => fields.get(at).and_then(Option::clone),
            MadeFields::Many(fields) => fields.get(&at).cloned(),
        };
        made.unwrap_or_else(|| {
            let value = watched_values_of(&self.map.items()[at].value, self.lists.as_ref());
            match &mut *self.made.borrow_mut() {
                MadeFields::Few(fields) => {
                    fields.resize(fields.len().max(at + 1), None);
                    fields[at] = Some(value.clone());
                }
                MadeFields::Many(fields) => {
                    fields.insert(at, value.clone());
                }
            }
            value
        })
    }
}

impl Struct {
    /// A struct with these fields; names must be unique.
    pub fn new(fields: impl Into<Rc<[(Str, Value)]>>) -> Struct {
        Struct { fields: OnceCell::from(fields.into()), ..Struct::default() }
    }

    /// A struct of a map whose keys are strings. Fields are created lazily.
    pub fn of_map(map: Rc<Map>, lists: Option<Rc<SharedLists>>) -> Struct {
        Struct { source: Some(StructSource::new(map, lists)), ..Struct::default() }
    }

    /// The map of data values that this is, if no field was requested and nobody watches reads:
    /// nothing can differ from the map.
    pub fn unread_map(&self) -> Option<&Map> {
        let source = self.source.as_ref().filter(|_| self.fields.get().is_none())?;
        let is_watched = source.lists.as_ref().is_some_and(|lists| lists.reads.is_some());
        let is_unread = match &*source.made.borrow() {
            MadeFields::Few(fields) => fields.is_empty(),
            MadeFields::Many(fields) => fields.is_empty(),
        };
        (is_unread && !is_watched).then_some(&*source.map)
    }

    /// The value of a field.
    pub fn get(&self, name: &Str) -> Option<Value> {
        if let (None, Some(source)) = (self.fields.get(), &self.source) {
            return source.map.find_text(name).map(|at| source.field(at));
        }
        let fields = self.fields();
        if fields.len() < INDEX_FROM {
            return fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
        }
        let index =
            self.index.get_or_init(|| fields.iter().enumerate().map(|(at, (field, _))| (field.clone(), at)).collect());
        index.get(name).map(|&at| fields[at].1.clone())
    }

    /// All fields in order.
    pub fn fields(&self) -> &Rc<[(Str, Value)]> {
        self.fields.get_or_init(|| match &self.source {
            None => Rc::default(),
            Some(source) => {
                let name = |key: &Scalar| key.as_str().cloned().unwrap_or_else(|| Str::from(&*key_text(key)));
                source.map.iter().enumerate().map(|(at, item)| (name(&item.key), source.field(at))).collect()
            }
        })
    }

    fn count(&self) -> usize {
        match (self.fields.get(), &self.source) {
            (None, Some(source)) => source.map.len(),
            _ => self.fields().len(),
        }
    }

    fn names(&self) -> Vec<Str> {
        self.fields().iter().map(|(name, _)| name.clone()).collect()
    }

    fn iter_names(&self) -> ValueIter {
        let fields = self.fields().clone();
        Box::new((0..fields.len()).map(move |at| Value::Str(fields[at].0.clone())))
    }

    fn pairs(&self) -> Vec<(Value, Value)> {
        self.fields().iter().map(|(name, value)| (Value::Str(name.clone()), value.clone())).collect()
    }

    fn by_key(&self, key: &Value) -> Result<Option<Value>, Error> {
        Ok(self.get(args::string(key)?))
    }
}

/// A struct with its own type: an address, a URL, an assertion.
pub(crate) struct Object {
    type_name: &'static str,
    go_type: &'static str,
    hint: &'static str,
    fields: Struct,
}

impl Object {
    /// An object of the type `type_name`. `go_type` is its type in the reference; `hint` is the
    /// advice if it would have to become YAML: `use .string()`.
    pub fn new(
        type_name: &'static str,
        go_type: &'static str,
        hint: &'static str,
        fields: impl Into<Rc<[(Str, Value)]>>,
    ) -> Object {
        Object { type_name, go_type, hint, fields: Struct::new(fields) }
    }
}

/// Implements a host value through the struct in it: both kinds differ only in their type name.
macro_rules! struct_like {
    ($type:ty, |$this:ident| $fields:expr, $type_name:expr, $go_type:expr, $why_not_data:expr) => {
        impl HostValue for $type {
            fn go_type(&self) -> &'static str {
                let $this = self;
                $go_type
            }
            fn why_not_data(&self) -> Option<String> {
                let $this = self;
                $why_not_data
            }
            fn type_name(&self) -> &str {
                let $this = self;
                $type_name
            }
            fn write_repr(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(b"struct(...)");
            }
            fn truth(&self) -> bool {
                let $this = self;
                $fields.count() > 0
            }
            fn hash(&self) -> Result<u64, Error> {
                fail!("unhashable type: struct")
            }
            fn attr(&self, _eval: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
                let $this = self;
                Ok($fields.get(name))
            }
            fn attr_names(&self) -> Vec<Str> {
                let $this = self;
                $fields.names()
            }
            fn mapping(&self) -> Option<&dyn Mapping> {
                Some(self)
            }
            fn len(&self) -> Option<usize> {
                let $this = self;
                Some($fields.count())
            }
            fn iterate(&self) -> Option<ValueIter> {
                let $this = self;
                Some($fields.iter_names())
            }
        }

        impl Mapping for $type {
            fn get(&self, key: &Value) -> Result<Option<Value>, Error> {
                let $this = self;
                $fields.by_key(key)
            }
            fn items(&self) -> Option<Vec<(Value, Value)>> {
                let $this = self;
                Some($fields.pairs())
            }
        }
    };
}

struct_like!(Struct, |_this| _this, "struct", "*core.StarlarkStruct", None);
struct_like!(
    Object,
    |this| this.fields,
    this.type_name,
    this.go_type,
    Some(format!("{} does not automatically encode (hint: {})", this.type_name, this.hint))
);

/// Data values as programs see them: maps, whose keys must be strings, are structs. Fields of
/// structs are created lazily.
pub(crate) fn values_of(node: &Node) -> Value {
    watched_values_of(node, None)
}

/// The same; registers the lists in `lists`, because programs may change them.
pub(crate) fn watched_values_of(node: &Node, lists: Option<&Rc<SharedLists>>) -> Value {
    match node {
        Node::Scalar(scalar) => scalar_to_value(scalar),
        Node::Map(map) => Value::host(Struct::of_map(map.clone(), lists.cloned())),
        Node::Array(array) => {
            let items = array.items.iter().map(|item| crate::deep(|| watched_values_of(&item.value, lists)));
            let value = Value::list(items.collect());
            if let (Some(lists), Value::List(list)) = (lists, &value) {
                lists.add(list);
            }
            value
        }
    }
}

/// The lists of data values that several files share. Files may change them, and then a module may
/// evaluate to something else. The reference evaluates modules at every `load()`; we do so only if
/// this detects a change.
#[derive(Default)]
pub(crate) struct SharedLists {
    /// Each list, and its content at the last check.
    lists: RefCell<Vec<(Rc<List>, Vec<Value>)>>,
    changes: Cell<u64>,
    /// Records which values are read.
    reads: Option<Rc<Reads>>,
}

impl SharedLists {
    /// No lists yet; `reads` records reads.
    pub fn new(reads: Option<Rc<Reads>>) -> SharedLists {
        SharedLists { reads, ..SharedLists::default() }
    }

    fn add(&self, list: &Rc<List>) {
        self.lists.borrow_mut().push((list.clone(), list.to_vec()));
    }

    /// The number of changes so far.
    pub fn changes(&self) -> u64 {
        let mut has_changed = false;
        for (list, seen) in self.lists.borrow_mut().iter_mut() {
            let is_same = list.len() == seen.len() && list.items().iter().zip(&*seen).all(|(a, b)| is_same(a, b));
            if !is_same {
                *seen = list.to_vec();
                has_changed = true;
            }
        }
        self.changes.set(self.changes.get() + u64::from(has_changed));
        self.changes.get()
    }
}

/// Whether two values are the same: scalars by value, lists and host values by identity. Other
/// values count as different.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Host(a), Value::Host(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// The fields of data values that code requested: the address of a map, and the index in it.
#[derive(Default)]
pub(crate) struct Reads(RefCell<HashSet<(usize, usize)>>);

impl Reads {
    fn add(&self, map: &Rc<Map>, at: usize) {
        self.0.borrow_mut().insert((Rc::as_ptr(map).addr(), at));
    }

    pub fn has(&self, map: &Rc<Map>, at: usize) -> bool {
        self.0.borrow().contains(&(Rc::as_ptr(map).addr(), at))
    }
}
