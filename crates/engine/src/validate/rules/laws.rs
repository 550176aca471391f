//! Properties of every rule: the check and the explanation agree with the rule's definition.
//!
//! Definitions are written in Starlark (`laws.star`), as users would write them. They check
//! generated arguments and values, for which each rule often holds and often does not.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Eval, Exports, NoOps, ProgramPiece, compile};

use super::tests::{rule, strings};
use super::*;

/// Number of cases for each rule.
const CASES: u32 = 1500;

/// Numbers in quarters and tenths, strings of few characters: similar values, so that comparisons
/// are interesting.
fn scalars() -> impl Strategy<Value = Node> {
    prop_oneof![
        1 => Just(Node::NULL),
        1 => any::<bool>().prop_map(|value| Node::Scalar(Scalar::Bool(value))),
        4 => (-12i64..12).prop_map(|value| Node::Scalar(Scalar::Int(value))),
        2 => (-20i32..20).prop_map(|value| Node::Scalar(Scalar::Float(f64::from(value) / 4.0))),
        2 => (-20i32..20).prop_map(|value| Node::Scalar(Scalar::Float(f64::from(value) / 10.0))),
        5 => "[ab:é]{0,4}".prop_map(Node::str),
        3 => "[+-]?[0-9]{1,5}(\\.[0-9])?%?".prop_map(Node::str),
    ]
}

fn array(items: Vec<Node>) -> Node {
    let items = items.into_iter().map(|item| ArrayItem::new(item, Pos::UNKNOWN)).collect();
    Node::array(Array { items, ..Array::default() })
}

fn nodes() -> impl Strategy<Value = Node> {
    scalars().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(array),
            proptest::collection::btree_map("[ab]", inner, 0..3).prop_map(|items| {
                let mut map = Map::new();
                items.into_iter().for_each(|(key, value)| map.push_new(&*key, value));
                Node::map(map)
            }),
        ]
    })
}

fn lists() -> impl Strategy<Value = Node> {
    proptest::collection::vec(scalars(), 0..4).prop_map(array)
}

/// An argument for the rule of this name, as code gives it.
fn arguments(name: &str) -> BoxedStrategy<Value> {
    let numbers = || prop_oneof![(-3i64..6).prop_map(Value::Int), (-4i32..4).prop_map(|n| (f64::from(n) / 4.0).into())];
    let texts = || "[ab]{0,2}".prop_map(|text| Value::from(&*text));
    let lengths = || (0i64..4).prop_map(Value::Int);
    let of = |choices: &'static [&'static str]| select(choices).prop_map(Value::from).boxed();
    match name {
        "min" | "max" | "above" | "below" => {
            prop_oneof![3 => numbers(), 3 => texts(), 1 => Just(Value::list(vec![Value::Int(1)]))].boxed()
        }
        "min_len" | "max_len" | "len" => lengths().boxed(),
        "one_not_null" => {
            prop_oneof![Just(Value::Bool(true)), Just(strings(&["a"])), Just(strings(&["a", "b", "c"]))].boxed()
        }
        "one_of" => proptest::collection::vec(prop_oneof![numbers(), texts()], 8..20).prop_map(Value::list).boxed(),
        "starts_with" | "ends_with" => texts().boxed(),
        "contains" => prop_oneof![3 => "[ab]".prop_map(|text| Value::from(&*text)), 1 => numbers()].boxed(),
        "matches" => of(&["^a", "b$", "^$", "a.*b", "^[ab]+$", "(?i)A|:"]),
        "format" => of(&["port", "percent", "quantity"]),
        "multiple_of" => {
            prop_oneof![(1i64..4).prop_map(Value::Int), select(vec![0.1, 0.25, 0.5]).prop_map(Value::from)].boxed()
        }
        "cel" => of(&[
            "self > 3",
            "self == 1",
            "self.contains('a')",
            "has(self.a)",
            "type(self) == list && self.all(x, x == self[0])",
            "type(self) != string",
        ]),
        "not_null" | "even" | "odd" | "unique" => Just(Value::Bool(true)).boxed(),
        other => panic!("add arguments for the rule {other} to `arguments` in laws.rs"),
    }
}

/// A value for the rule of this name: mostly of the type that the rule applies to.
fn values(name: &str) -> BoxedStrategy<Node> {
    let texts = || "[ab:é]{0,4}".prop_map(Node::str);
    match name {
        "min" | "max" | "above" | "below" | "one_of" | "format" | "even" | "odd" | "multiple_of" => {
            prop_oneof![9 => scalars(), 1 => nodes()].boxed()
        }
        "starts_with" | "ends_with" | "matches" => prop_oneof![3 => texts(), 1 => nodes()].boxed(),
        "contains" => prop_oneof![texts(), lists(), nodes()].boxed(),
        "not_null" => prop_oneof![1 => Just(Node::NULL), 3 => nodes()].boxed(),
        "unique" => prop_oneof![4 => lists(), 1 => nodes()].boxed(),
        _ => nodes().boxed(),
    }
}

/// The definitions of rules; see `laws.star`.
struct Meanings {
    eval: RefCell<Eval>,
    functions: Rc<Exports>,
}

/// The result of a definition.
#[derive(PartialEq, Debug)]
enum Meaning {
    Valid,
    /// Not valid, with what is found; `None` if any text is accepted.
    Invalid(Option<String>),
}

impl Meanings {
    fn new() -> Meanings {
        let text = include_bytes!("laws.star");
        let program =
            compile(&[ProgramPiece::Code { text, at: Pos::new(FileId(0), 0) }], &[]).expect("laws.star is right");
        let mut eval = Eval::new();
        let functions = program.run(&mut eval, Rc::new(NoOps), &Exports::default()).expect("laws.star runs");
        Meanings { eval: RefCell::new(eval), functions }
    }

    fn of(&self, name: &str, argument: &Value, value: &Node) -> Meaning {
        // ytt's own rules compare values after a round trip through YAML.
        let is_shipped = matches!(name, "min" | "max" | "above" | "below" | "one_of" | "one_not_null");
        let read = |node: &Node| node::to_plain_value(&if is_shipped { plain(node) } else { node.clone() });
        let limit = read(&node::node_from_value(argument).expect("arguments are YAML"));
        let args = [read(value), limit, node::to_value(value), argument.clone()];
        let name = if name == "len" { "len_" } else { name };
        let function =
            self.functions.get(&Str::from(name)).unwrap_or_else(|| panic!("laws.star has no function {name}"));
        match self.eval.borrow_mut().call(function, &args, &[]) {
            Ok(Value::Bool(true)) => Meaning::Invalid(None),
            Ok(Value::None) => Meaning::Valid,
            Ok(found) => Meaning::Invalid(Some(found.to_text().to_string())),
            Err(error) => Meaning::Invalid(Some(error.message().into_owned())),
        }
    }
}

#[test]
fn rules_agree_with_their_definitions() {
    let meanings = Meanings::new();
    for entry in TABLE {
        let name = entry.name;
        let counts = RefCell::new(BTreeMap::from([(true, 0u32), (false, 0)]));
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() })
            .run(&(arguments(name), values(name)), |(argument, value)| {
                let rule = rule(name, argument.clone());
                let expected = meanings.of(name, &argument, &value);
                let accepted = rule.accepts(&value);
                *counts.borrow_mut().entry(accepted).or_default() += 1;
                let about = format!("{name}={} on {}", argument.repr(), node::to_plain_value(&value).repr());
                match expected {
                    Meaning::Valid => prop_assert!(accepted, "{} is not accepted", about),
                    Meaning::Invalid(found) => {
                        prop_assert!(!accepted, "{} is accepted", about);
                        let text = rule.found(&value).into_text();
                        prop_assert!(!text.is_empty(), "{} has no explanation", about);
                        if let Some(found) = found {
                            prop_assert_eq!(text, found, "{}", about);
                        }
                    }
                }
                Ok(())
            })
            .unwrap_or_else(|failure| panic!("{failure}"));
        let counts = counts.into_inner();
        assert!(
            counts.values().all(|count| *count >= CASES / 12),
            "{name} is rarely valid or rarely invalid ({counts:?}): add an arm to `values` in laws.rs"
        );
    }
}
