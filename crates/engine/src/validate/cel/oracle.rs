//! Compares the evaluation with another CEL implementation, on generated expressions.
//!
//! Most expressions are well-typed. Division by zero and missing indexes or keys still occur, and
//! both evaluators must then fail.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::validate::rules::tests::yaml;

const CASES: u32 = 3000;

/// Expressions of each type over `self`, a map with an int `i`, a string `s`, a list of ints `l`
/// and a bool `b`.
#[derive(Clone)]
struct Grammar {
    int: BoxedStrategy<String>,
    text: BoxedStrategy<String>,
    list: BoxedStrategy<String>,
    bool: BoxedStrategy<String>,
}

fn grammar(depth: u32) -> Grammar {
    let of = |choices: &'static [&'static str]| proptest::sample::select(choices).prop_map(str::to_owned);
    let (int, text) = (of(&["self.i", "0", "1", "2", "-3", "7"]), of(&["self.s", "'a'", "'ab'", "''", "\"é\""]));
    let (list, bool) = (of(&["self.l", "[]", "[1]", "[0, 2, 2]"]), of(&["self.b", "true", "false"]));
    if depth == 0 {
        return Grammar { int: int.boxed(), text: text.boxed(), list: list.boxed(), bool: bool.boxed() };
    }
    let inner = grammar(depth - 1);
    let (i, t, l, b) = (inner.int.clone(), inner.text.clone(), inner.list.clone(), inner.bool.clone());
    let arithmetic = of(&["+", "-", "*", "/", "%"]);
    let order = of(&["<", "<=", ">", ">=", "==", "!="]);
    let equality = of(&["==", "!="]);
    let conditions = of(&["x > 1", "x == self.i", "x % 2 == 0", "10 / x > 2"]);
    let macros = of(&["all", "exists", "exists_one"]);
    let both = |x: &BoxedStrategy<String>, op: BoxedStrategy<String>, y: &BoxedStrategy<String>| {
        (x.clone(), op, y.clone()).prop_map(|(x, op, y)| format!("({x} {op} {y})")).boxed()
    };
    Grammar {
        int: prop_oneof![
            int,
            both(&i, arithmetic.boxed(), &i),
            (b.clone(), i.clone(), i.clone()).prop_map(|(b, x, y)| format!("({b} ? {x} : {y})")),
            t.clone().prop_map(|text| format!("size({text})")),
            l.clone().prop_map(|list| format!("{list}.size()")),
            (l.clone(), i.clone()).prop_map(|(list, at)| format!("{list}[{at}]")),
            i.clone().prop_map(|x| format!("-({x})")),
        ]
        .boxed(),
        text: prop_oneof![
            text,
            both(&t, of(&["+"]).boxed(), &t),
            i.clone().prop_map(|x| format!("string({x})")),
            (b.clone(), t.clone(), t.clone()).prop_map(|(b, x, y)| format!("({b} ? {x} : {y})")),
        ]
        .boxed(),
        list: prop_oneof![
            list,
            both(&l, of(&["+"]).boxed(), &l),
            (l.clone(), conditions.clone()).prop_map(|(list, x)| format!("{list}.filter(x, {x})")),
            (l.clone(), of(&["x + 1", "x * self.i", "2 / x"])).prop_map(|(list, x)| format!("{list}.map(x, {x})")),
            (i.clone(), i.clone()).prop_map(|(x, y)| format!("[{x}, {y}]")),
        ]
        .boxed(),
        bool: prop_oneof![
            bool,
            both(&i, order.clone().boxed(), &i),
            both(&t, order.boxed(), &t),
            both(&l, equality.boxed(), &l),
            both(&b, of(&["&&", "||"]).boxed(), &b),
            both(&i, of(&["in"]).boxed(), &l),
            b.clone().prop_map(|b| format!("!({b})")),
            (l.clone(), macros, conditions).prop_map(|(list, name, x)| format!("{list}.{name}(x, {x})")),
            (t.clone(), of(&["contains", "startsWith", "endsWith"]), t.clone())
                .prop_map(|(x, name, y)| format!("{x}.{name}({y})")),
            (t, of(&["^a", "b$", "[ab]+", "^$"])).prop_map(|(x, pattern)| format!("{x}.matches('{pattern}')")),
            of(&["has(self.i)", "has(self.nothing)", "self.nothing", "'i' in self"]),
        ]
        .boxed(),
    }
}

fn values() -> impl Strategy<Value = (i64, String, Vec<i64>, bool)> {
    (-3i64..4, "[abé]{0,3}", proptest::collection::vec(-2i64..4, 0..4), any::<bool>())
}

/// The result of the other evaluator.
fn other(source: &str, (n, s, l, b): &(i64, String, Vec<i64>, bool)) -> Result<bool, String> {
    use std::collections::HashMap;
    let list: Vec<cel::Value> = l.iter().map(|item| (*item).into()).collect();
    let fields: HashMap<String, cel::Value> = HashMap::from([
        ("i".to_owned(), (*n).into()),
        ("s".to_owned(), s.as_str().into()),
        ("l".to_owned(), list.into()),
        ("b".to_owned(), (*b).into()),
    ]);
    let program = cel::Program::compile(source).map_err(|error| error.to_string())?;
    let mut context = cel::Context::default();
    context.add_variable_from_value("self", cel::Value::from(fields));
    match program.execute(&context) {
        Ok(cel::Value::Bool(answer)) => Ok(answer),
        Ok(other) => Err(format!("not a bool: {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn agrees_with_another_evaluator() {
    let counts = std::cell::Cell::new((0u32, 0u32, 0u32));
    TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() })
        .run(&(grammar(3).bool, values()), |(source, value)| {
            let (n, s, l, b) = &value;
            let ours = match CelProgram::compile(&source) {
                Ok(program) => program.holds(&yaml(&format!("{{i: {n}, s: '{s}', l: {l:?}, b: {b}}}"))),
                Err(problem) => Err(problem),
            };
            let theirs = other(&source, &value);
            prop_assert_eq!(
                ours.clone().ok(),
                theirs.clone().ok(),
                "{} on {:?}: {:?} {:?}",
                source,
                value,
                ours,
                theirs
            );
            let (yes, no, failed) = counts.get();
            counts.set(match ours {
                Ok(true) => (yes + 1, no, failed),
                Ok(false) => (yes, no + 1, failed),
                Err(_) => (yes, no, failed + 1),
            });
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let (yes, no, failed) = counts.get();
    assert!(yes.min(no).min(failed) > CASES / 20, "{yes} hold, {no} do not, {failed} fail");
}
