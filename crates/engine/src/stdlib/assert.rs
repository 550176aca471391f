//! `@ytt:assert`: fails on purpose, catches failures, and checks values.
//!
//! Every named rule of validations is also a function here, which returns an assertion object.

use ytterby_diag::{Diagnostic, Failure, Id, Path, ViolationBlock};
use ytterby_starlark::{Args, Builtin, Error, Eval, Problem, Value};
use ytterby_text::Str;

use super::{Module, yaml};
use crate::annotation::Level;
use crate::args::{fail, go_type, string};
use crate::node::{self, Fragment, FragmentData};
use crate::path::Way;
use crate::run::Run;
use crate::validate::rules::{self, RuleRow, Subject, Takes};
use crate::validate::{Assertion, CheckedValue, Checker, DocumentKind, Rules, failure_of, judge, output};

/// The module.
pub(super) fn module() -> Module {
    let mut module = Module::new("assert")
        .with("equals", equals)
        .with("fail", fail_with)
        .with("try_to", try_to)
        .with("not_null", not_null)
        .with("one_not_null", one_not_null)
        .with("one_of", one_of)
        .with_beyond_ytt("fail_at", fail_at)
        .with_beyond_ytt("validate", validate)
        .with_beyond_ytt("valid", valid);
    for rule in rules::all(Level::Ytterby).filter(|rule| rule.takes != Takes::Other) {
        let function = rule_function(rule);
        module = match rule.beyond_ytt {
            true => module.with_value_beyond_ytt(rule.name, function),
            false => module.with_value(rule.name, function),
        };
    }
    module
}

/// The function that creates the assertion object of a rule.
fn rule_function(rule: &'static RuleRow) -> Value {
    Value::from(Builtin::new(rule.function, move |_, args| {
        let given = args.positional.len();
        let made = match (args.positional, rule.takes) {
            ([], Takes::Nothing) => assertion(rule, &Value::Bool(true)),
            ([value], Takes::Argument | Takes::Other) => assertion(rule, value),
            (_, takes) => {
                let wanted = usize::from(takes != Takes::Nothing);
                Err(Error::of(Problem::Call, format!("got {given} arguments, want {wanted}")))
            }
        };
        made.map_err(|error| error.in_context(rule.function))
    }))
}

fn assertion(rule: &RuleRow, argument: &Value) -> Result<Value, Error> {
    match (rule.make)(argument, Subject::Value) {
        Ok(Some(made)) => Ok(Value::host(Assertion::new(rule.function, made))),
        Ok(None) => fail!("there is no rule {}", rule.name),
        Err(bad) => {
            let problem = Diagnostic::error(Id::CODE_CALL, bad.text).helps(bad.hint);
            Err(Failure::from(problem).into())
        }
    }
}

fn equals(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [expected, actual] = args.positional else {
        fail!(Call, "got {} arguments, want 2", args.positional.len());
    };
    for value in [expected, actual] {
        if value.is_callable() {
            fail!(Type, "expected argument not to be a function, but was {}", go_type(value));
        }
    }
    let (expected_text, actual_text) = (yaml::encoded(expected)?, yaml::encoded(actual)?);
    if expected_text != actual_text {
        fail!(
            Assert,
            "Not equal:\n(expected type: {})\n{}\n\n(was type: {})\n{}",
            expected.type_name(),
            expected_text.to_str(),
            actual.type_name(),
            actual_text.to_str()
        );
    }
    Ok(Value::None)
}

fn fail_with(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [message] = args.positional else {
        fail!(Call, "got {} arguments, want 1", args.positional.len());
    };
    Err(Error::of(Problem::Fail, string(message)?.to_str()).in_context("fail"))
}

/// Returns `(result, None)`, or `(None, message)` on failure. Programs cannot catch reached limits.
fn try_to(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [function] = args.positional else {
        fail!(Call, "got {} arguments, want 1", args.positional.len());
    };
    if !function.is_callable() {
        fail!(Type, "expected argument to be a function, but was {}", go_type(function));
    }
    let contexts = eval.data::<Run>().map(|run| run.contexts.clone());
    let depth = contexts.as_ref().map_or(0, |contexts| contexts.depth());
    match eval.call(function, &[], &[]) {
        Ok(result) => Ok(Value::tuple(vec![result, Value::None])),
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => {
            if let Some(contexts) = contexts {
                contexts.unwind(depth);
            }
            let text = match eval.data::<Run>() {
                Some(run) => error.text(&run.sources),
                None => error.to_string(),
            };
            Ok(Value::tuple(vec![Value::None, Value::from(text)]))
        }
    }
}

/// The assertion of a rule whose function has other arguments than the rule.
fn named_assertion(name: &str, argument: &Value) -> Result<Value, Error> {
    let Some((_, rule)) = rules::find(name, Level::Ytt049) else { fail!("there is no rule {name}") };
    assertion(rule, argument)
}

fn not_null(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if args.positional.len() > 1 {
        fail!(Call, "got {} arguments, want at most 1", args.positional.len());
    }
    let object = named_assertion("not_null", &Value::Bool(true))?;
    match (args.positional, object.downcast::<Assertion>()) {
        ([value], Some(assertion)) => {
            // Every value except `None` is valid, even one that YAML cannot express.
            let node = if matches!(value, Value::None) { node::Node::NULL } else { node::Node::str("") };
            judge(eval, "assert.not_null", &*assertion.rule, &node)
        }
        _ => Ok(object),
    }
}

fn one_not_null(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let keys = match args.positional {
        [] => &Value::Bool(true),
        [keys] => keys,
        many => fail!(Call, "got {} arguments, want 1", many.len()),
    };
    named_assertion("one_not_null", keys)
}

fn one_of(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    match args.positional {
        [] => fail!(Call, "got 0 arguments, want at least 1"),
        [list] => named_assertion("one_of", list),
        many => named_assertion("one_of", &Value::tuple(many.to_vec())),
    }
}

/// Fails like `fail()`, but about a nested value: rules turn it into a violation there
/// (docs/validations.md).
fn fail_at(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [path, message] = args.positional else {
        fail!(Call, "got {} arguments, want 2", args.positional.len());
    };
    let (path, message) = (string(path)?.clone(), string(message)?.clone());
    let text = format!("{}: {}", path.to_str(), message.to_str());
    let problem = Diagnostic::error(Id::CODE_ASSERT, message.to_str().into_owned()).reference(text);
    // The path as code writes it; the rule that turns it into a violation resolves it in the value.
    Err(Failure::from(problem.path(Path::document().key(path.to_str()))).into())
}

/// `assert.validate(key, value, *rules, **named)`. Key and value may also be given by name.
fn validate(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let mut positional = args.positional.iter();
    let mut named = args.named.to_vec();
    let mut take = |name: &str| match named.iter().position(|(given, _)| *given == name) {
        Some(at) => Some(named.remove(at).1),
        None => positional.next().cloned(),
    };
    let (Some(key), Some(value)) = (take("key"), take("value")) else {
        fail!(Call, "got {} arguments, want at least 2", args.positional.len());
    };
    let key: Str = string(&key)?.clone();
    let Some(run) = eval.data::<Run>() else { fail!("there is no run to validate in") };
    let pos = eval.position();
    let rules = Rules::from_arguments(positional.as_slice(), &named, &run, pos)?;
    let node = node::node_from_value(&value).map_err(Error::new)?;
    let key_text = key.to_str();
    let way = Way::Name(&key_text);
    let mut checker = Checker::new(eval, &run, None, DocumentKind::Values);
    let spot = CheckedValue { value: &node, parent: None, way: &way, pos, secret: false };
    checker.check(&rules, &spot)?;
    told(checker.blocks)
}

/// `assert.valid(fragment)`: checks the `@assert/validate` annotations in a fragment.
fn valid(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [value] = args.positional else {
        fail!(Call, "got {} arguments, want 1", args.positional.len());
    };
    let Some(fragment) = value.downcast::<Fragment>() else {
        fail!("expected a yamlfragment, but was {}", value.type_name());
    };
    let Some(run) = eval.data::<Run>() else { fail!("there is no run to validate in") };
    let mut blocks = Vec::new();
    match fragment.data() {
        FragmentData::Node(node) => blocks = output::check_node(eval, &run, &node)?,
        FragmentData::Documents(docs) => {
            for doc in &docs.items {
                blocks.extend(output::check_document(eval, &run, doc)?);
            }
        }
    }
    told(blocks)
}

/// `True`, or an error with all violations.
fn told(blocks: Vec<ViolationBlock>) -> Result<Value, Error> {
    match failure_of(blocks) {
        None => Ok(Value::Bool(true)),
        Some(failure) => Err(failure.in_stage("Validating").into()),
    }
}
