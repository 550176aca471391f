//! The matchers of `@ytt:overlay`: `overlay.all`, `overlay.subset(…)` and so on.
//!
//! For programs they are built-in functions with three arguments. Overlays recognise them and
//! decide without calling Starlark, usually without scanning every item.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use ytterby_starlark::{Args, Error, Eval, HostValue, Value};
use ytterby_text::{Str, budget};

use super::compare;
use super::index::{self, Leaf};
use crate::args::boolean;
use crate::node::{FragmentData, Node, Scalar, from_value, scalar_from_value, scalar_to_value, to_value};

/// Maximum number of leaves of `overlay.subset()` to try as index keys.
const LEAVES: usize = 4;

/// A function that decides whether an item on the left matches.
#[derive(Clone)]
pub(crate) enum Matcher {
    All,
    Index(i64),
    MapKey(Str),
    Subset(Value),
    And(Vec<Value>),
    Or(Vec<Value>),
    Not(Value),
}

/// The place of an item: its index, or its key in a map.
#[derive(Clone, Copy)]
pub(super) enum ItemKey<'a> {
    Number(usize),
    Key(&'a Scalar),
}

impl ItemKey<'_> {
    pub fn to_value(self) -> Value {
        match self {
            ItemKey::Number(number) => Value::from(number),
            ItemKey::Key(key) => scalar_to_value(key),
        }
    }
}

/// Which items can match at all, known before testing them one by one.
pub(super) enum MatchHint {
    /// Test every item.
    Any,
    /// Only the item with this index; all others cannot match.
    Number(i64),
    /// Only items that have all leaves of one of these lists; all others cannot match.
    Leaves(Vec<Vec<Leaf>>),
    /// Only items with this leaf, if all of them have something at its path.
    Key(Leaf),
}

impl Matcher {
    /// Whether an item on the left matches.
    pub(super) fn test(&self, eval: &mut Eval, place: ItemKey<'_>, left: &Node, right: &Node) -> Result<bool, Error> {
        self.decide(eval, place, left, right).map_err(|error| error.in_context(self.name()))
    }

    fn decide(&self, eval: &mut Eval, place: ItemKey<'_>, left: &Node, right: &Node) -> Result<bool, Error> {
        charge();
        match self {
            Matcher::All => Ok(true),
            Matcher::Index(wanted) => match place {
                ItemKey::Number(number) => Ok(i64::try_from(number) == Ok(*wanted)),
                ItemKey::Key(Scalar::Int(key)) => Ok(key == wanted),
                ItemKey::Key(Scalar::UInt(_)) => Err(Error::new("expected int64 value")),
                ItemKey::Key(_) => Err(Error::new("expected starlark.Int")),
            },
            Matcher::MapKey(name) => {
                let (left, right) = (value_of_key(left, name)?, value_of_key(right, name)?);
                Ok(matches!(right, Node::Scalar(scalar) if compare::is_leaf(left, scalar)))
            }
            Matcher::Subset(expected) => match contains_dict(left, expected, 0) {
                Some(answer) => Ok(answer),
                None => Ok(compare::contains(left, &yaml(expected)?)),
            },
            Matcher::And(all) => {
                for matcher in all {
                    if !test(matcher, eval, place, left, right)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Matcher::Or(any) => {
                for matcher in any {
                    if test(matcher, eval, place, left, right)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Matcher::Not(matcher) => Ok(!test(matcher, eval, place, left, right)?),
        }
    }

    /// The same with the parts precomputed that do not depend on the left, for testing many items.
    pub(super) fn prepared(&self) -> PreparedMatcher<'_> {
        // Functions of the program may change the values that others compare with.
        if self.calls_programs() { PreparedMatcher::Other(self) } else { self.prepared_alone() }
    }

    fn prepared_alone(&self) -> PreparedMatcher<'_> {
        charge();
        let all = |matchers| -> Option<Vec<PreparedMatcher<'_>>> {
            let prepared = |matcher| Value::downcast::<Matcher>(matcher).map(Matcher::prepared_alone);
            <[Value]>::iter(matchers).map(prepared).collect()
        };
        let prepared = match self {
            Matcher::Subset(expected) => yaml(expected).ok().map(PreparedMatcher::Subset),
            Matcher::And(matchers) => all(matchers).map(|all| PreparedMatcher::And(self, all)),
            Matcher::Or(matchers) => all(matchers).map(|any| PreparedMatcher::Or(self, any)),
            Matcher::Not(matcher) => all(std::slice::from_ref(matcher))
                .and_then(|mut one| one.pop())
                .map(|one| PreparedMatcher::Not(self, Box::new(one))),
            Matcher::All | Matcher::Index(_) | Matcher::MapKey(_) => None,
        };
        prepared.unwrap_or(PreparedMatcher::Other(self))
    }

    /// Which items can match at all.
    pub(super) fn hint(&self, right: &Node) -> MatchHint {
        charge();
        match self {
            Matcher::Index(number) => MatchHint::Number(*number),
            Matcher::MapKey(name) => match value_of_key(right, name) {
                Ok(Node::Scalar(scalar)) => {
                    MatchHint::Key(Leaf { path: vec![Scalar::Str(name.clone())], scalar: scalar.clone() })
                }
                _ => MatchHint::Any,
            },
            Matcher::Subset(expected) => match yaml(expected).map(|expected| index::leaves(&expected, LEAVES)) {
                Ok(leaves) if !leaves.is_empty() => MatchHint::Leaves(vec![leaves]),
                _ => MatchHint::Any,
            },
            // Items that the first matcher refuses never reach the others.
            Matcher::And(all) if !all.iter().any(sees_places) => match all.first().and_then(Value::downcast::<Matcher>)
            {
                Some(first @ (Matcher::Subset(_) | Matcher::And(_) | Matcher::Or(_))) => first.hint(right),
                _ => MatchHint::Any,
            },
            // Each alternative refuses the items without its leaves.
            Matcher::Or(any) if !any.iter().any(sees_places) => {
                let leaves = |matcher: &Value| match Value::downcast::<Matcher>(matcher)?.hint(right) {
                    MatchHint::Leaves(lists) => Some(lists),
                    _ => None,
                };
                any.iter()
                    .map(leaves)
                    .collect::<Option<Vec<_>>>()
                    .map_or(MatchHint::Any, |lists| MatchHint::Leaves(lists.concat()))
            }
            Matcher::All | Matcher::And(_) | Matcher::Or(_) | Matcher::Not(_) => MatchHint::Any,
        }
    }

    /// The leaves that an item must have, as far as known.
    pub(super) fn wanted(&self, right: &Node) -> Vec<Leaf> {
        const SHOWN: usize = 8;
        charge();
        match self {
            Matcher::Subset(expected) => {
                yaml(expected).map(|expected| index::leaves(&expected, SHOWN)).unwrap_or_default()
            }
            Matcher::MapKey(_) => match self.hint(right) {
                MatchHint::Key(leaf) => vec![leaf],
                _ => Vec::new(),
            },
            Matcher::And(all) => {
                all.iter().filter_map(Value::downcast::<Matcher>).flat_map(|matcher| matcher.wanted(right)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it calls functions of the program.
    pub(crate) fn calls_programs(&self) -> bool {
        charge();
        let calls = |value: &Value| value.downcast::<Matcher>().is_none_or(Matcher::calls_programs);
        match self {
            Matcher::All | Matcher::Index(_) | Matcher::MapKey(_) | Matcher::Subset(_) => false,
            Matcher::And(matchers) | Matcher::Or(matchers) => matchers.iter().any(calls),
            Matcher::Not(matcher) => calls(matcher),
        }
    }

    /// Its name in `repr()` and messages; `overlay.not_op` creates what the reference calls
    /// `or_op`.
    fn name(&self) -> &'static str {
        match self {
            Matcher::All => "overlay.all",
            Matcher::Index(_) => "overlay.index_matcher",
            Matcher::MapKey(_) => "overlay.map_key_matcher",
            Matcher::Subset(_) => "overlay.subset_matcher",
            Matcher::And(_) => "overlay.and_op",
            Matcher::Or(_) | Matcher::Not(_) => "overlay.or_op",
        }
    }
}

/// Whether the answer may depend on the place of an item.
fn sees_places(matcher: &Value) -> bool {
    charge();
    match matcher.downcast::<Matcher>() {
        None | Some(Matcher::Index(_)) => true,
        Some(Matcher::All | Matcher::MapKey(_) | Matcher::Subset(_)) => false,
        Some(Matcher::And(matchers) | Matcher::Or(matchers)) => matchers.iter().any(sees_places),
        Some(Matcher::Not(matcher)) => sees_places(matcher),
    }
}

/// Charges one matcher of those inside of others. `m = overlay.and_op(m, m)` doubles their number,
/// so that a few lines of code make walks over them endless.
fn charge() {
    budget::or_unwind(budget::work(1));
}

/// A matcher ready for many items.
pub(super) enum PreparedMatcher<'m> {
    Subset(Node),
    And(&'m Matcher, Vec<PreparedMatcher<'m>>),
    Or(&'m Matcher, Vec<PreparedMatcher<'m>>),
    Not(&'m Matcher, Box<PreparedMatcher<'m>>),
    Other(&'m Matcher),
}

impl PreparedMatcher<'_> {
    pub(super) fn test(&self, eval: &mut Eval, place: ItemKey<'_>, left: &Node, right: &Node) -> Result<bool, Error> {
        charge();
        match self {
            PreparedMatcher::Subset(expected) => Ok(compare::contains(left, expected)),
            PreparedMatcher::And(matcher, all) => {
                let refuses = |one: &PreparedMatcher<'_>| one.test(eval, place, left, right).map(|answer| !answer);
                first_that(all, refuses).map(|found| !found).map_err(|error| error.in_context(matcher.name()))
            }
            PreparedMatcher::Or(matcher, any) => {
                let accepts = |one: &PreparedMatcher<'_>| one.test(eval, place, left, right);
                first_that(any, accepts).map_err(|error| error.in_context(matcher.name()))
            }
            PreparedMatcher::Not(matcher, one) => {
                let answer = one.test(eval, place, left, right);
                answer.map(|answer| !answer).map_err(|error| error.in_context(matcher.name()))
            }
            PreparedMatcher::Other(matcher) => matcher.test(eval, place, left, right),
        }
    }
}

/// Whether one of them returns true; stops at the first that does, and at an error.
fn first_that<T>(all: &[T], mut says: impl FnMut(&T) -> Result<bool, Error>) -> Result<bool, Error> {
    for one in all {
        if says(one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls a matcher or a function of the program.
pub(super) fn test(
    matcher: &Value,
    eval: &mut Eval,
    place: ItemKey<'_>,
    left: &Node,
    right: &Node,
) -> Result<bool, Error> {
    match matcher.downcast::<Matcher>() {
        Some(matcher) => matcher.test(eval, place, left, right),
        None => boolean(&eval.call(matcher, &[place.to_value(), to_value(left), to_value(right)], &[])?),
    }
}

/// Whether a node has everything that a value asks for, where that is dicts and scalars: they need
/// not become nodes, which takes longer than to compare them. None for other values.
fn contains_dict(left: &Node, expected: &Value, depth: usize) -> Option<bool> {
    const DEEPEST: usize = 50;
    if depth > DEEPEST {
        return None;
    }
    let Value::Dict(dict) = expected else {
        return scalar_from_value(expected).map(|scalar| compare::is_leaf(left, &scalar));
    };
    let left = left.as_map();
    let mut answer = left.is_some();
    // Values that are not YAML are errors anywhere, so all are checked.
    for (key, value) in dict.items() {
        let key = scalar_from_value(&key)?;
        let found = left.and_then(|left| left.get(&key));
        answer &= contains_dict(found.map_or(&Node::NULL, |item| &item.value), &value, depth + 1)? && found.is_some();
    }
    Some(answer)
}

fn value_of_key<'n>(node: &'n Node, key: &Str) -> Result<&'n Node, Error> {
    let Some(map) = node.as_map() else {
        return Err(Error::new(format!("Expected value to be map, but was {}", node.type_name())));
    };
    match map.get(&Scalar::Str(key.clone())) {
        Some(item) => Ok(&item.value),
        None => Err(Error::new(format!("Expected to find map item with key '{key}', but did not"))),
    }
}

/// A value as YAML; documents cannot be compared with items.
fn yaml(value: &Value) -> Result<Node, Error> {
    match from_value(value).map_err(Error::new)? {
        FragmentData::Node(node) => Ok(node),
        FragmentData::Documents(_) => Err(Error::new("Expected a value to compare with, but was document set")),
    }
}

impl HostValue for Matcher {
    fn go_type(&self) -> &'static str {
        "*starlark.Builtin"
    }

    fn type_name(&self) -> &str {
        "builtin_function_or_method"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("<built-in function {}>", self.name()).as_bytes());
    }

    fn hash(&self) -> Result<u64, Error> {
        let mut hasher = FxHasher::default();
        self.name().hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        let [place, left, right] = args.positional else {
            return Err(Error::new("expected exactly 3 arguments").in_context(self.name()));
        };
        let key;
        let place = match (self, place) {
            (Matcher::And(_) | Matcher::Or(_) | Matcher::Not(_) | Matcher::Index(_), place) => {
                key = crate::node::scalar_from_value(place).unwrap_or_default();
                ItemKey::Key(&key)
            }
            _ => ItemKey::Number(0),
        };
        let in_context = |error: Error| error.in_context(self.name());
        let left = if matches!(self, Matcher::All) { Node::NULL } else { yaml(left).map_err(in_context)? };
        let right = if matches!(self, Matcher::MapKey(_) | Matcher::And(_) | Matcher::Or(_) | Matcher::Not(_)) {
            yaml(right).map_err(in_context)?
        } else {
            Node::NULL
        };
        self.test(eval, place, &left, &right).map(Value::Bool)
    }

    fn freeze_into(&self, contents: &mut Vec<Value>) {
        match self {
            Matcher::Subset(value) | Matcher::Not(value) => contents.push(value.clone()),
            Matcher::And(values) | Matcher::Or(values) => contents.extend(values.iter().cloned()),
            Matcher::All | Matcher::Index(_) | Matcher::MapKey(_) => {}
        }
    }
}
