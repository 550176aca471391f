//! Assertion objects: the results of `assert.min(1)` and similar functions.
//!
//! An object has a function `check`, which code can call, and it can be used as a rule in
//! annotations.

use std::rc::Rc;

use ytterby_diag::{Id, Pos};
use ytterby_starlark::{Args, Builtin, Error, Eval, HostValue, Mapping, Problem, StackFrame, Value, ValueIter};
use ytterby_text::Str;
use ytterby_text::quote::quote;

use super::rules::{NamedRule, RuleViolation};
use crate::node::{self, Array, ArrayItem, FragmentData, Node};
use crate::run::Run;

/// A rule as a Starlark value: `.check(value)` returns `True` or fails.
pub(crate) struct Assertion {
    pub rule: Rc<dyn NamedRule>,
    /// The id of a violation of the rule.
    pub id: Id,
    check: Value,
}

impl Assertion {
    /// The result of a function of `@ytt:assert`; `name` is the name of that function:
    /// `assert.min`.
    pub fn new(name: &'static str, rule: Rc<dyn NamedRule>) -> Assertion {
        let check = match rule.is_native() {
            true => {
                let checked = rule.clone();
                Value::from(Builtin::new(name, move |eval, args| check(eval, name, &*checked, args)))
            }
            false => Value::host(CheckMethod { name, rule: rule.clone() }),
        };
        Assertion { rule, id: id_of(name), check }
    }

    /// The rule of an assertion object, or of its `.check`.
    pub fn rule_of(value: &Value) -> Option<(Rc<dyn NamedRule>, Id)> {
        let object = value.downcast::<Assertion>().map(|assertion| (assertion.rule.clone(), assertion.id));
        object.or_else(|| value.downcast::<CheckMethod>().map(|check| (check.rule.clone(), id_of(check.name))))
    }
}

/// The id of a violation of a function's rule: that of `assert.min` is `rule/min`.
fn id_of(function: &str) -> Id {
    Id::of_rule(function.strip_prefix("assert.").unwrap_or(function))
}

/// Checks a value as code would: in the reference most rules are lambdas, which its traces show.
fn check(eval: &mut Eval, name: &'static str, rule: &dyn NamedRule, mut args: Args<'_>) -> Result<Value, Error> {
    if rule.is_native() {
        // Named arguments are ignored.
        args = Args::of(args.positional);
        args.count("check", 1, 1)?;
    }
    let node = argument(name, args).and_then(node_of).map_err(|problem| in_lambda(eval, name, Error::new(problem)))?;
    judge(eval, name, rule, &node)
}

/// The value as a node: documents become the items of an array, so that they have a length.
fn node_of(value: &Value) -> Result<Node, String> {
    Ok(match node::from_value(value)? {
        FragmentData::Node(node) => node,
        FragmentData::Documents(docs) => {
            let items = docs.items.iter().map(|doc| ArrayItem::new(doc.value.clone(), doc.pos));
            Node::array(Array { items: items.collect(), ..Array::default() })
        }
    })
}

/// Fails like `.check()` if the value is not valid.
pub(crate) fn judge(eval: &mut Eval, name: &'static str, rule: &dyn NamedRule, value: &Node) -> Result<Value, Error> {
    if rule.accepts(value) {
        return Ok(Value::Bool(true));
    }
    let error = match rule.found(value) {
        found if rule.is_native() => return Err(Error::new(found.into_text()).in_context("check")),
        RuleViolation::Failure(text) => Error::of(Problem::Fail, text).in_context("fail"),
        RuleViolation::Error(text) => Error::new(text),
    };
    Err(in_lambda(eval, name, error))
}

/// The argument of the lambda that the reference uses for the rule `name`; the error is a message.
fn argument<'a>(name: &str, args: Args<'a>) -> Result<&'a Value, String> {
    let param = match name {
        "assert.not_null" => "value",
        "assert.min_len" | "assert.max_len" => "sequence",
        _ => "val",
    };
    let mut found = match args.positional {
        [] => None,
        [value] => Some(value),
        many => return Err(format!("function lambda accepts 1 positional argument ({} given)", many.len())),
    };
    for (key, value) in args.named {
        if *key != param {
            return Err(format!("function lambda got an unexpected keyword argument {}", quote(key)));
        }
        if found.replace(value).is_some() {
            return Err(format!("function lambda got multiple values for parameter {}", quote(key)));
        }
    }
    found.ok_or_else(|| format!("function lambda missing 1 argument ({param})"))
}

/// The error as if it came from a lambda in a source that is not visible.
fn in_lambda(eval: &Eval, name: &'static str, error: Error) -> Error {
    let Some(run) = eval.data::<Run>() else { return error };
    let pos = Pos::new(run.unseen_source(name), 0);
    error.with_frame(StackFrame { name: Str::from("lambda"), pos })
}

/// `.check` of rules that are lambdas in the reference; to programs it looks like a lambda.
struct CheckMethod {
    name: &'static str,
    rule: Rc<dyn NamedRule>,
}

impl HostValue for CheckMethod {
    fn type_name(&self) -> &str {
        "function"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<function lambda>");
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        check(eval, self.name, &*self.rule, args)
    }
}

impl HostValue for Assertion {
    fn why_not_data(&self) -> Option<String> {
        Some(format!("{} does not encode (did you mean to call check()?)", self.type_name()))
    }

    fn type_name(&self) -> &str {
        "@ytt:assert.assertion"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"struct(...)");
    }

    fn hash(&self) -> Result<u64, Error> {
        Err(Error::new("unhashable type: struct"))
    }

    fn attr(&self, _eval: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
        Ok((*name == "check").then(|| self.check.clone()))
    }

    fn attr_names(&self) -> Vec<Str> {
        vec![Str::from("check")]
    }

    fn mapping(&self) -> Option<&dyn Mapping> {
        Some(self)
    }

    fn len(&self) -> Option<usize> {
        Some(1)
    }

    fn iterate(&self) -> Option<ValueIter> {
        Some(Box::new(std::iter::once(Value::from("check"))))
    }
}

impl Mapping for Assertion {
    fn get(&self, key: &Value) -> Result<Option<Value>, Error> {
        Ok(key.as_str().filter(|key| **key == "check").map(|_| self.check.clone()))
    }

    fn items(&self) -> Option<Vec<(Value, Value)>> {
        Some(vec![(Value::from("check"), self.check.clone())])
    }
}
