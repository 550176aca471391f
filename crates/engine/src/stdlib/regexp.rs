//! `@ytt:regexp`: regular expressions in Go's syntax.

use std::rc::Rc;

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::Str;

use super::Module;
use crate::args::{fail, one, string, two};
use ytterby_regexp::Regexp;

/// The module.
pub(super) fn module() -> Module {
    Module::new("regexp").with("match", is_match).with("replace", replace).with_beyond_ytt("is_valid", is_valid)
}

fn is_match(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let (pattern, text) = two(&args)?;
    let (pattern, text) = (string(pattern)?, string(text)?);
    Ok(Value::Bool(compiled(pattern)?.is_match(text)))
}

fn replace(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [pattern, text, replacement] = args.positional else { fail!("expected exactly 3 arguments") };
    let regexp = compiled(string(pattern)?)?;
    let text = string(text)?;
    if !replacement.is_callable() {
        return regexp.replace_all(text, string(replacement)?).map(Value::Str).map_err(Error::new);
    }
    let replaced = regexp.replace_all_with(text, |matched| {
        let result = eval.call(replacement, &[Value::from(matched)], &[])?;
        string(&result).cloned()
    });
    replaced.map(Value::Str)
}

/// Whether a pattern is valid.
fn is_valid(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(string(one(&args)?).is_ok_and(|pattern| compiled(pattern).is_ok())))
}

fn compiled(pattern: &Str) -> Result<Rc<Regexp>, Error> {
    Regexp::shared(pattern).map_err(Error::new)
}
