//! `yamlfragment`: YAML as a Starlark value.
//!
//! A fragment shares the node; nothing is copied until code assigns it. Code cannot change
//! fragments, with one exception: `overlay.apply()` changes the one on its left, as in the
//! reference.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_starlark::{CompareOp, Dialect, Error, Eval, HostValue, Mapping, Value, ValueIter};
use ytterby_text::{Str, spelling};

use super::convert::{scalar_from_value, scalar_to_value};
use super::{DocumentSet, Node, Origin, Scalar, to_value};

/// Maximum number of keys to compare an unknown name with.
const COMPARED_KEYS: usize = 1_000;

/// A YAML value or documents as a Starlark value.
pub(crate) struct Fragment {
    data: RefCell<FragmentData>,
    /// Whether this is the result of an overlay, so that the next one need not clean it.
    is_clean: Cell<bool>,
    /// Whether others may use it and must not see it change.
    is_frozen: Cell<bool>,
}

/// The content of a fragment.
#[derive(Clone, Debug)]
pub(crate) enum FragmentData {
    Node(Node),
    Documents(Rc<DocumentSet>),
}

impl Fragment {
    pub fn new(node: Node) -> Fragment {
        Fragment::from(FragmentData::Node(node))
    }

    /// The content; the clone only increments a counter.
    pub fn data(&self) -> FragmentData {
        self.data.borrow().clone()
    }

    /// The result of an overlay, which need not be cleaned again.
    pub fn overlaid(data: FragmentData) -> Fragment {
        Fragment { is_clean: Cell::new(true), ..Fragment::from(data) }
    }

    /// Whether it is the result of an overlay.
    pub fn is_clean(&self) -> bool {
        self.is_clean.get()
    }

    /// Whether it must not change.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen.get()
    }

    /// Takes the data out, so that an overlay can change it in place, until
    /// [`Fragment::put_overlaid`].
    pub fn take(&self) -> FragmentData {
        self.data.replace(FragmentData::Node(Node::NULL))
    }

    /// Puts the result of an overlay back.
    pub fn put_overlaid(&self, data: FragmentData) {
        self.data.replace(data);
        self.is_clean.set(true);
    }
}

impl From<FragmentData> for Fragment {
    fn from(data: FragmentData) -> Fragment {
        Fragment { data: RefCell::new(data), is_clean: Cell::new(false), is_frozen: Cell::new(false) }
    }
}

impl From<DocumentSet> for Fragment {
    fn from(docs: DocumentSet) -> Fragment {
        Fragment::from(FragmentData::Documents(Rc::new(docs)))
    }
}

impl FragmentData {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            // The reference's messages contain Go's type names for collections of code.
            FragmentData::Node(Node::Map(map)) if map.origin == Origin::Code => "*orderedmap.Map",
            FragmentData::Node(Node::Array(array)) if array.origin == Origin::Code => "[]interface {}",
            FragmentData::Node(node) => node.type_name(),
            FragmentData::Documents(_) => "document set",
        }
    }

    /// The name of its Go type in the reference.
    pub fn go_type_name(&self) -> &'static str {
        match self {
            FragmentData::Node(Node::Map(_)) => "*yamlmeta.Map",
            FragmentData::Node(Node::Array(_)) => "*yamlmeta.Array",
            FragmentData::Node(Node::Scalar(_)) => "<nil>",
            FragmentData::Documents(_) => "*yamlmeta.DocumentSet",
        }
    }

    pub fn len(&self) -> usize {
        match self {
            FragmentData::Node(Node::Map(map)) => map.len(),
            FragmentData::Node(Node::Array(array)) => array.items.len(),
            FragmentData::Node(Node::Scalar(_)) => 0,
            FragmentData::Documents(docs) => docs.items.len(),
        }
    }

    fn at(&self, index: usize) -> Option<Value> {
        match self {
            FragmentData::Node(Node::Array(array)) => array.items.get(index).map(|item| to_value(&item.value)),
            FragmentData::Documents(docs) => docs.items.get(index).map(|doc| to_value(&doc.value)),
            FragmentData::Node(_) => None,
        }
    }
}

impl HostValue for Fragment {
    fn go_type(&self) -> &'static str {
        "*yamltemplate.StarlarkFragment"
    }

    fn type_name(&self) -> &str {
        "yamlfragment"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("yamlfragment({})", self.data.borrow().go_type_name()).as_bytes());
    }

    fn truth(&self) -> bool {
        self.data.borrow().len() > 0
    }

    /// On maps, `v.a` is `v["a"]`.
    fn attr(&self, eval: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
        match &*self.data.borrow() {
            FragmentData::Node(Node::Map(map)) if eval.dialect() == Dialect::Current => {
                Ok(map.get(&Scalar::Str(name.clone())).map(|item| to_value(&item.value)))
            }
            _ => Ok(None),
        }
    }

    fn near_attr(&self, name: &Str) -> Option<String> {
        let data = self.data.borrow();
        let FragmentData::Node(Node::Map(map)) = &*data else { return None };
        let keys = map.iter().take(COMPARED_KEYS).filter_map(|item| item.key.as_str()?.as_str());
        spelling::nearest(&name.to_str(), keys).map(str::to_owned)
    }

    fn mapping(&self) -> Option<&dyn Mapping> {
        Some(self)
    }

    fn len(&self) -> Option<usize> {
        Some(self.data.borrow().len())
    }

    fn iterate(&self) -> Option<ValueIter> {
        let data = self.data();
        Some(match data {
            FragmentData::Node(Node::Map(map)) => {
                Box::new((0..map.len()).map(move |at| scalar_to_value(&map.items()[at].key)))
            }
            data => Box::new((0..data.len()).map_while(move |at| data.at(at))),
        })
    }

    fn freeze_into(&self, _contents: &mut Vec<Value>) {
        self.is_frozen.set(true);
    }

    fn compare(&self, _op: CompareOp, _other: &Value, _depth: usize) -> Result<Option<bool>, Error> {
        Err(Error::new("yamlfragment.CompareSameType: Not implemented"))
    }
}

impl Mapping for Fragment {
    fn get(&self, key: &Value) -> Result<Option<Value>, Error> {
        match (&*self.data.borrow(), key) {
            (FragmentData::Node(Node::Map(map)), key) => {
                let item = scalar_from_value(key).and_then(|key| map.get(&key));
                Ok(item.map(|item| to_value(&item.value)))
            }
            (FragmentData::Node(Node::Scalar(_)), _) => Ok(None),
            (data, Value::Int(index)) => Ok(usize::try_from(*index).ok().and_then(|index| data.at(index))),
            (FragmentData::Documents(_), other) => Err(Error::new(format!(
                "yamlfragment.Get: Expected document set index to be an int64, but was {}",
                super::go_type_name(other)
            ))),
            (_, other) => Err(Error::new(format!(
                "yamlfragment.Get: Expected array index to be an int64, but was {}",
                super::go_type_name(other)
            ))),
        }
    }

    fn items(&self) -> Option<Vec<(Value, Value)>> {
        match &*self.data.borrow() {
            FragmentData::Node(Node::Map(map)) => {
                Some(map.iter().map(|item| (scalar_to_value(&item.key), to_value(&item.value))).collect())
            }
            FragmentData::Node(Node::Scalar(_)) => Some(Vec::new()),
            _ => None,
        }
    }

    fn set_key(&self, _key: Value, _value: Value) -> Result<(), Error> {
        Err(Error::new("yamlfragment.SetKey: Not implemented"))
    }
}
