//! `@ytt:struct`, and the struct values that it and other parts make.
//!
//! A [`Struct`] is an immutable mapping from names to values: `s.a`, `s["a"]`, `for name in s`. An [`Object`] is a
//! struct with a type name of its own whose fields are mostly functions; it refuses to become YAML.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use ytterby_starlark::{Args, Builtin, Error, Eval, HostValue, Mapping, Value, ValueIter};
use ytterby_text::Str;

use super::args::{fail, one};
use super::data::{self, SharedLists};
use super::{Module, args, function};
use crate::deep;
use crate::node::{self, Array, FragmentData, Map, Node, Scalar};

/// From how many fields on a struct is searched by hash.
const INDEX_FROM: usize = 9;

/// Deepest nesting that `struct.encode` and `struct.decode` convert.
const MAX_DEPTH: usize = 10_000;

/// A struct: names and values, in order.
#[derive(Default)]
pub(crate) struct Struct {
    fields: OnceCell<Rc<[(Str, Value)]>>,
    index: OnceCell<HashMap<Str, usize>>,
    /// Where the fields come from, as long as nobody asked for all of them.
    source: Option<Source>,
}

/// A map of data values, and the fields that were asked for so far.
struct Source {
    map: Rc<Map>,
    /// Who wants to know of the lists in it.
    lists: Option<Rc<SharedLists>>,
    made: RefCell<Made>,
}

/// Fields by their place in the map.
enum Made {
    /// Of a map that is not large. With keys that are not copied, `s.port` takes 324 instructions instead of 428.
    Few(Vec<Option<Value>>),
    Many(BTreeMap<usize, Value>),
}

/// How many fields a map may have for there to be room for all of them.
const FEW: usize = 64;

impl Source {
    fn new(map: Rc<Map>, lists: Option<Rc<SharedLists>>) -> Source {
        let made = if map.len() <= FEW { Made::Few(Vec::new()) } else { Made::Many(BTreeMap::new()) };
        Source { map, lists, made: RefCell::new(made) }
    }

    /// The field at a place of the map, made once: programs may change what is in it.
    fn field(&self, at: usize) -> Value {
        let made = match &*self.made.borrow() {
            Made::Few(fields) => fields.get(at).and_then(Option::clone),
            Made::Many(fields) => fields.get(&at).cloned(),
        };
        made.unwrap_or_else(|| {
            let value = data::watched_values_of(&self.map.items()[at].value, self.lists.as_ref());
            match &mut *self.made.borrow_mut() {
                Made::Few(fields) => {
                    fields.resize(fields.len().max(at + 1), None);
                    fields[at] = Some(value.clone());
                }
                Made::Many(fields) => {
                    fields.insert(at, value.clone());
                }
            }
            value
        })
    }
}

impl Struct {
    /// A struct with these fields; no name may stand twice.
    pub fn new(fields: impl Into<Rc<[(Str, Value)]>>) -> Struct {
        Struct { fields: OnceCell::from(fields.into()), ..Struct::default() }
    }

    /// A struct of a map, whose keys are strings. Fields are made when they are asked for.
    pub fn of_map(map: Rc<Map>, lists: Option<Rc<SharedLists>>) -> Struct {
        Struct { source: Some(Source::new(map, lists)), ..Struct::default() }
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
                let name = |key: &Scalar| key.as_str().cloned().unwrap_or_else(|| Str::from(&*node::key_text(key)));
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

/// A struct with a type of its own: an address, a URL, an assertion.
pub(crate) struct Object {
    type_name: &'static str,
    go_type: &'static str,
    hint: &'static str,
    fields: Struct,
}

impl Object {
    /// An object of the type `type_name`; `go_type` is what the reference holds it in, `hint` says what to do where it
    /// would have to become YAML: `use .string()`.
    pub fn new(
        type_name: &'static str,
        go_type: &'static str,
        hint: &'static str,
        fields: impl Into<Rc<[(Str, Value)]>>,
    ) -> Object {
        Object { type_name, go_type, hint, fields: Struct::new(fields) }
    }

    /// The Go type that messages of the reference show.
    pub fn go_type(&self) -> &'static str {
        self.go_type
    }
}

/// Why a value refuses to become YAML, if it is one that does.
pub(crate) fn conversion_hint(value: &Value) -> Option<String> {
    if let Some(assertion) = value.downcast::<crate::validate::Assertion>() {
        return Some(assertion.conversion_hint());
    }
    let object = value.downcast::<Object>()?;
    Some(format!("{} does not automatically encode (hint: {})", object.type_name, object.hint))
}

/// Implements a host value through the struct in it: both kinds behave alike but for their type name.
macro_rules! struct_like {
    ($type:ty, |$this:ident| $fields:expr, $type_name:expr) => {
        impl HostValue for $type {
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

struct_like!(Struct, |this| this, {
    let _ = this;
    "struct"
});
struct_like!(Object, |this| this.fields, this.type_name);

/// The module.
pub(super) fn module() -> Module {
    Module::new("struct")
        .with("make", make)
        .with("make_and_bind", make_and_bind)
        .with("bind", bind)
        .with("encode", encode)
        .with("decode", decode)
}

fn make(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if !args.positional.is_empty() {
        fail!("unexpected positional arguments (structs are made from keyword arguments only)");
    }
    Ok(from_keywords(args.named.iter().cloned()))
}

fn make_and_bind(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [receiver] = args.positional else { fail!("expected at exactly one argument") };
    Ok(from_keywords(args.named.iter().map(|(name, value)| match value.is_callable() {
        true => (name.clone(), bound(value.clone(), vec![receiver.clone()])),
        false => (name.clone(), value.clone()),
    })))
}

/// A struct of keyword arguments. `**` can give a name again: the last value wins, at the first place.
fn from_keywords(keywords: impl Iterator<Item = (Str, Value)>) -> Value {
    let mut fields: Vec<(Str, Value)> = Vec::with_capacity(keywords.size_hint().0);
    let mut places: HashMap<Str, usize> = HashMap::new();
    for (name, value) in keywords {
        match places.get(&name) {
            Some(&at) => fields[at].1 = value,
            None => {
                places.insert(name.clone(), fields.len());
                fields.push((name, value));
            }
        }
    }
    Value::host(Struct::new(fields))
}

fn bind(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    match args.positional {
        [callee, first, rest @ ..] => Ok(bound(callee.clone(), std::iter::once(first).chain(rest).cloned().collect())),
        _ => fail!("expected at least two arguments"),
    }
}

/// A function that calls `callee` with `first` in front of its own arguments.
fn bound(callee: Value, first: Vec<Value>) -> Value {
    const NAME: &str = "struct.bind_result";
    Value::from(Builtin::new(NAME, move |eval, args| {
        let mut positional = first.clone();
        positional.extend_from_slice(args.positional);
        eval.call(&callee, &positional, args.named).map_err(|error| error.in_context(NAME))
    }))
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    structs_of(&plain_node(one(&args)?)?, 0)
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(node::to_plain_value(&plain_node(one(&args)?)?))
}

fn plain_node(value: &Value) -> Result<Node, Error> {
    match node::from_value(value).map_err(Error::new)? {
        FragmentData::Node(node) => Ok(node),
        FragmentData::Documents(_) => fail!("a document set cannot be converted (hint: take one of its documents)"),
    }
}

/// A node as Starlark values, its maps as structs.
fn structs_of(node: &Node, depth: usize) -> Result<Value, Error> {
    if depth > MAX_DEPTH {
        fail!("value is nested deeper than {MAX_DEPTH} levels");
    }
    match node {
        Node::Scalar(scalar) => Ok(node::scalar_to_value(scalar)),
        Node::Array(array) => list_of(array, depth),
        Node::Map(map) => struct_of(map, depth),
    }
}

fn list_of(array: &Array, depth: usize) -> Result<Value, Error> {
    let items = array.items.iter().map(|item| deep(|| structs_of(&item.value, depth + 1)));
    Ok(Value::list(items.collect::<Result<_, Error>>()?))
}

fn struct_of(map: &Map, depth: usize) -> Result<Value, Error> {
    let fields = map.iter().map(|item| match &item.key {
        Scalar::Str(name) => Ok((name.clone(), deep(|| structs_of(&item.value, depth + 1))?)),
        other => fail!("expected struct key {} to be string", node::key_text(other)),
    });
    Ok(Value::host(Struct::new(fields.collect::<Result<Vec<_>, Error>>()?)))
}

/// Puts a function into an object's fields: its messages begin with `name`.
pub(crate) fn method(
    field: &str,
    name: &'static str,
    body: impl Fn(&mut Eval, Args<'_>) -> Result<Value, Error> + 'static,
) -> (Str, Value) {
    (Str::from(field), function(name, body))
}
