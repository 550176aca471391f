//! Hints for mistakes in code, in addition to the reference's hints.
//!
//! A hint is data; if the remedy is certain enough, it includes edits.

use ytterby_diag::{Edit, Help, Part, Pos, Safety};
use ytterby_text::Str;
use ytterby_text::spelling::{closest, nearest};

use crate::host::BinaryOp;
use crate::{Dialect, Problem, builtins};

/// The hints for a problem whose token is at `place`; an unknown place means that there is nothing
/// to edit.
pub(crate) fn helps(problem: &Problem, place: Pos) -> Vec<Help> {
    match problem {
        Problem::Undefined { name, similar: Some(similar) } => {
            vec![renamed(place, Part::Exactly(name.to_str().into_owned()), name, similar)]
        }
        Problem::NoAttribute { name, similar: Some(similar), .. } => {
            vec![renamed(place, Part::Exactly(format!(".{name}")), &dotted(name), &dotted(similar))]
        }
        Problem::UnknownArgument { name, similar: Some(similar) } => {
            vec![renamed(place, Part::ArgumentName(name.to_str().into_owned()), name, similar)]
        }
        Problem::NotExported { name, similar: Some(similar) } => {
            vec![renamed(place, Part::Exactly(format!("\"{name}\"")), &quoted(name), &quoted(similar))]
        }
        Problem::MissingKey { key: Some(key), similar: Some(similar), .. } => {
            let index = |key: &Str| Str::from(format!("[\"{key}\"]"));
            vec![renamed(place, Part::Exactly(index(key).to_str().into_owned()), &index(key), &index(similar))]
        }
        Problem::Undefined { name, similar: None } => undefined(name, place).into_iter().collect(),
        Problem::NoAttribute { of, name, similar: None } if of == "struct" && words(problem).is_none() => {
            vec![Help::new(format!(
                "if it is a data value, declare {name} in the schema; for an optional one, ask with \
                 hasattr(value, \"{name}\")"
            ))]
        }
        _ => words(problem).map(Help::new).into_iter().collect(),
    }
}

/// A candidate that is one typing error away, including swapped letters, which the reference does
/// not recognise.
pub(crate) fn mistyped<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<Str> {
    if name.len() < 3 {
        return None;
    }
    closest(name, candidates, 1).map(Str::from)
}

/// A hint for a name of another language.
fn undefined(name: &Str, place: Pos) -> Option<Help> {
    let meant = match &**name {
        b"true" | b"TRUE" => "True",
        b"false" | b"FALSE" => "False",
        b"null" | b"nil" | b"none" | b"NULL" | b"undefined" => "None",
        _ => return elsewhere(name).map(Help::new).or_else(|| builtin(name, place)),
    };
    let problem = Problem::Undefined { name: name.clone(), similar: None };
    let text = problem.hint().map_or_else(|| format!("use {meant}"), str::to_owned);
    let edit = Edit::replace(place, Part::Exactly(name.to_str().into_owned()), meant);
    Some(Help::new(text).fixed_by(format!("Change {name} to {meant}"), vec![edit], Safety::Likely))
}

/// A built-in function with a similar name. The reference does not look for these.
fn builtin(name: &Str, place: Pos) -> Option<Help> {
    let similar = Str::from(nearest(&name.to_str(), builtins::names(Dialect::Ytt))?);
    Some(renamed(place, Part::Exactly(name.to_str().into_owned()), name, &similar))
}

/// Our equivalents of functions of Helm, Jinja and Python.
fn elsewhere(name: &Str) -> Option<&'static str> {
    Some(match &**name {
        b"toYaml" | b"to_yaml" => "use yaml.encode(value), after load(\"@ytt:yaml\", \"yaml\")",
        b"fromYaml" | b"from_yaml" => "use yaml.decode(text), after load(\"@ytt:yaml\", \"yaml\")",
        b"toJson" | b"to_json" => "use json.encode(value), after load(\"@ytt:json\", \"json\")",
        b"fromJson" | b"from_json" => "use json.decode(text), after load(\"@ytt:json\", \"json\")",
        b"b64enc" => "use base64.encode(text), after load(\"@ytt:base64\", \"base64\")",
        b"b64dec" => "use base64.decode(text), after load(\"@ytt:base64\", \"base64\")",
        b"include" => "define a function and call it",
        b"default" => "write `value or default`",
        b"isinstance" => "compare types: type(value) == \"string\"",
        b"map" | b"filter" => "use a comprehension: [f(item) for item in items if condition]",
        b"sum" => "add the items in a loop",
        b"length" => "use len(value)",
        b"endif" | b"endfor" | b"enddef" | b"endwhile" => "blocks are closed by `end`",
        _ => return None,
    })
}

fn quoted(name: &Str) -> Str {
    Str::from(format!("\"{name}\""))
}

fn dotted(name: &Str) -> Str {
    Str::from(format!(".{name}"))
}

/// A hint to use a similar name.
fn renamed(place: Pos, part: Part, name: &Str, similar: &Str) -> Help {
    let edit = Edit::replace(place, part, similar.to_str());
    let title = format!("Change {name} to {similar}");
    Help::new(format!("did you mean {similar}?")).fixed_by(title, vec![edit], Safety::Likely)
}

/// A hint without edits.
fn words(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::BinaryOp { op: BinaryOp::Add, left, right } if left == "string" || right == "string" => {
            "a string can only be added to a string: convert the other value with str(…), \
             or write \"%s\" % value or \"{}\".format(value)"
        }
        Problem::BinaryOp { left, right, .. } if left == "NoneType" || right == "NoneType" => {
            "one of the values is None: check it first, as in `if value != None:`"
        }
        Problem::NoAttribute { of, name, .. } if of == "struct" => match &**name {
            b"items" | b"keys" | b"values" => STRUCT_LOOP,
            b"get" => "use getattr(value, name, default)",
            _ => return None,
        },
        Problem::NoAttribute { of, .. } if of == "NoneType" => {
            "the value is None: check it first, as in `if value != None:`"
        }
        Problem::NoAttribute { of, name, .. } if of == "yamlfragment" && &**name == b"get" => {
            "keys of a fragment are read by index: value[\"key\"]; `\"key\" in value` checks whether a key exists"
        }
        Problem::NoAttribute { of, .. } if of == "dict" => "keys of a dict are read by index: value[\"key\"]",
        Problem::NotIterable { of } if of == "struct" => STRUCT_LOOP,
        Problem::NotIterable { of } if of == "int" => "to count, iterate over range(value)",
        Problem::NotIterable { of } if of == "string" => "to iterate over characters, use value.elems()",
        Problem::NotIterable { of } if of == "NoneType" => "the value is None: write `for item in value or []:`",
        Problem::NotASequence { of } if of == "string" => {
            "a string is not a pair of values; to iterate over a map, write `for key, value in map.items():`"
        }
        // Only dicts have get().
        Problem::MissingKey { of, .. } if of != "dict" => {
            "to allow that the key is missing, check it first: `value[\"key\"] if \"key\" in value else None`"
        }
        Problem::MissingKey { .. } => "use get(key), which returns None, or get(key, default) for optional keys",
        _ => return None,
    })
}

/// The loop that works for structs.
const STRUCT_LOOP: &str = "a struct is not a dict: convert it, as in `for key, item in dict(value).items():`, or loop \
                           with `for key in value:` and read `getattr(value, key)`";
