//! `@ytt:spelling`: finds the name that was probably meant.

use ytterby_starlark::args::{Iterable, convert};
use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::{Str, spelling};

use super::Module;
use crate::args::{fail, string, two};

/// The module.
pub(super) fn module() -> Module {
    Module::new("spelling").with("nearest", nearest).with("distance", distance)
}

fn distance(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let (left, right) = two(&args)?;
    Ok(Value::from(compared(&string(left)?.to_str(), &string(right)?.to_str())?))
}

fn compared(left: &str, right: &str) -> Result<usize, Error> {
    spelling::distance(left, right).ok_or_else(|| {
        let (left, right) = (left.chars().count(), right.chars().count());
        Error::new(format!("words of {left} and {right} characters are too long to be compared"))
    })
}

fn nearest(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [word, candidates, max] = args.unpack("nearest", ["word", "candidates", "max?"])?;
    let word = string(word.unwrap_or(&Value::None))?.to_str();
    let candidates: Option<Iterable> = convert("nearest", "candidates", candidates)?;
    let max = match max {
        None | Some(Value::None) => usize::MAX,
        Some(Value::Int(max)) => match usize::try_from(*max) {
            Ok(max) => max,
            Err(_) => return Ok(Value::None),
        },
        Some(other) => fail!("expected max to be an int, but was {}", other.type_name()),
    };
    let mut best: Option<(usize, Str)> = None;
    for candidate in candidates.iter().flat_map(Iterable::iterate) {
        let candidate = string(&candidate)?;
        let distance = compared(&word, &candidate.to_str())?;
        if distance <= max && best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, candidate.clone()));
        }
    }
    Ok(best.map_or(Value::None, |(_, candidate)| Value::Str(candidate)))
}
