//! Custom rules: functions of the user.
//!
//! A function gets the value, and optionally `ctx` with the values around it. It is called with its
//! own budget, and its result, or its failure, becomes a [`Validity`].

use ytterby_diag::{Cause, Id, Sources};
use ytterby_starlark::{CallLimits, Error, Eval, Value};
use ytterby_text::Str;

use crate::node::Struct;
use crate::node::{Fragment, Node, to_value};

/// The budget of one call of a rule, or of `when=`: about a second. There may be as many calls as
/// there are values, so the limit of a whole run would be too late for a rule that does not
/// terminate.
pub(crate) const BUDGET: CallLimits = CallLimits { steps: 50_000_000, memory: 1 << 30 };

/// A function and how its results are interpreted.
#[derive(Debug)]
pub(crate) struct Custom {
    function: Value,
    form: RuleForm,
    /// Whether it is called with `(value, ctx)`.
    takes_context: bool,
    /// Whether results other than `True` and `False` have a meaning.
    beyond_ytt: bool,
}

/// The syntax of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuleForm {
    /// `function`
    Bare,
    /// `(description, function)`
    Pair,
    /// `(description, function, message)`
    Triple,
}

/// The result of a rule.
#[derive(Debug)]
pub(crate) enum Validity {
    Valid,
    /// Not valid: the text after `found:`, and the value of `{failure}`.
    Invalid {
        found: String,
        failure: String,
        /// Advice about the rule, if the value may not be the reason.
        advice: Option<&'static str>,
    },
    /// Nested values are not valid: their paths and what is wrong with them.
    Below(Vec<(String, String)>),
}

/// The surroundings of a value, for functions.
pub(crate) struct ValueContext<'a> {
    pub parent: Option<&'a Node>,
    pub root: Option<&'a Node>,
}

impl ValueContext<'_> {
    /// `ctx`, with `ctx.parent` and `ctx.root`.
    pub fn value(&self) -> Value {
        let of = |node: Option<&Node>| node.map_or(Value::None, to_value);
        let fields = vec![(Str::from("parent"), of(self.parent)), (Str::from("root"), of(self.root))];
        Value::host(Struct::new(fields))
    }
}

impl Custom {
    pub fn new(function: Value, form: RuleForm, beyond_ytt: bool) -> Custom {
        let takes_context = match &function {
            Value::Function(function) => beyond_ytt && function.required_params() == 2,
            _ => false,
        };
        Custom { function, form, takes_context, beyond_ytt }
    }

    /// A hint about the requirement of our own functions; their names alone are not clear.
    pub fn hint(&self) -> Option<String> {
        let Value::Builtin(builtin) = &self.function else { return None };
        let text = match &*builtin.name().to_str() {
            "base64.decodable" => "a text in base64",
            "json.decodable" => "a text that is JSON",
            "yaml.decodable" => "a text that is YAML",
            "regexp.is_valid" => "a regular expression in RE2 syntax",
            _ => return None,
        };
        Some(text.to_owned())
    }

    pub fn function(&self) -> &Value {
        &self.function
    }

    /// Whether the function accepts a value by itself; `None` if it reads other values, or does not
    /// terminate.
    pub fn admits(&self, eval: &mut Eval, value: &Node, sources: &Sources) -> Option<bool> {
        if self.takes_context {
            return None;
        }
        let nothing = ValueContext { parent: None, root: None };
        self.judge(eval, value, &nothing, sources).ok().map(|verdict| matches!(verdict, Validity::Valid))
    }

    /// Calls the function. Errors that are not its fault (limits, cancellation) are passed on.
    pub fn judge(
        &self,
        eval: &mut Eval,
        value: &Node,
        context: &ValueContext<'_>,
        sources: &Sources,
    ) -> Result<Validity, Error> {
        let value = to_value(value);
        let result = if self.takes_context {
            eval.call_within(BUDGET, &self.function, &[value, context.value()])
        } else {
            eval.call_within(BUDGET, &self.function, &[value])
        };
        match result {
            Ok(result) => Ok(self.read(&result)),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => Ok(self.read_error(&error, sources)),
        }
    }

    fn read(&self, result: &Value) -> Validity {
        let advice = matches!(result, Value::None)
            .then_some("the function returned None, which a function without return does; return True or False");
        let without_text = || Validity::Invalid { found: String::new(), failure: self.returned(result), advice };
        match result {
            Value::Bool(true) => Validity::Valid,
            Value::None if !matches!(self.form, RuleForm::Pair) => Validity::Valid,
            Value::Tuple(tuple) if self.beyond_ytt => {
                let parts: Vec<&Value> = tuple.iter().collect();
                match parts[..] {
                    [ok, _] if is_true(ok) => Validity::Valid,
                    [_, message] => {
                        let text = message.to_text().to_str().into_owned();
                        Validity::Invalid { found: text.clone(), failure: text, advice: None }
                    }
                    _ => without_text(),
                }
            }
            Value::Dict(dict) if self.beyond_ytt => match dict.items() {
                items if items.is_empty() => Validity::Valid,
                items => {
                    let text = |value: &Value| value.to_text().to_str().into_owned();
                    Validity::Below(items.iter().map(|(path, message)| (text(path), text(message))).collect())
                }
            },
            _ => without_text(),
        }
    }

    fn read_error(&self, error: &Error, sources: &Sources) -> Validity {
        if let (Some((path, message)), true) = (assertion_below(error), self.beyond_ytt) {
            return Validity::Below(vec![(path, message)]);
        }
        let text = match error.failure() {
            Some(failure) => failure.text(sources),
            None => error.bare_message().to_owned(),
        };
        // A rule is expected to call `fail(…)` and `.check(…)` of an assertion.
        let mut names: Vec<&str> = error.contexts().collect();
        for expected in ["fail", "check"] {
            if names.first() == Some(&expected) {
                names.remove(0);
            }
        }
        let found = names.iter().map(|name| format!("{name}: ")).collect::<String>() + &text;
        let failure = if names == ["assert.fail", "fail"] { text } else { found.clone() };
        Validity::Invalid { found, failure, advice: None }
    }

    /// `"is_even()" returned False`
    fn returned(&self, result: &Value) -> String {
        let name = match &self.function {
            Value::Function(function) if function.lambda().is_some() => "lambda".to_owned(),
            Value::Function(function) => format!("{}()", function.name().to_str()),
            Value::Builtin(builtin) => format!("{}()", builtin.name().to_str()),
            other => other.type_name().to_owned(),
        };
        format!("\"{name}\" returned {}", result.repr().to_str())
    }
}

/// The path and the message of `assert.fail_at(path, message)`, if the error comes from it.
fn assertion_below(error: &Error) -> Option<(String, String)> {
    match error.failure()?.cause() {
        Cause::Problem(problem) if problem.id == Id::CODE_ASSERT => {
            Some((problem.path.as_ref()?.to_string(), problem.message.plain().into_owned()))
        }
        _ => None,
    }
}

/// Whether a result counts as true; every yamlfragment does.
fn is_true(value: &Value) -> bool {
    value.downcast::<Fragment>().is_some() || value.truth()
}
