//! `@schema/type`: which types a node accepts.
//!
//! By default the type is inferred from the value. The annotation names one type, several (a
//! union), or any. Unknown names get a suggestion, because people use the names of other languages.

use std::rc::Rc;

use ytterby_diag::{Failure, Help, Pos, SchemaBlock as Block};
use ytterby_starlark::Value;
use ytterby_text::spelling;

use super::placed;
use super::{ScalarType, Type, Union};
use crate::annotation::Annotation;
use crate::args::go_type;
use crate::run::Run;
use crate::validate::formats;

/// The content of `@schema/type`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// No type: it is inferred from the value.
    Inferred,
    Any,
    /// These types, and that of the value if `or_inferred`.
    OneOf {
        kinds: Vec<ScalarType>,
        or_inferred: bool,
        hint: bool,
    },
}

const NAMES: [(&str, ScalarType); 5] = [
    ("bool", ScalarType::Bool),
    ("float", ScalarType::Float),
    ("int", ScalarType::Int),
    ("null", ScalarType::Null),
    ("string", ScalarType::String),
];

/// Reads the annotation.
pub(super) fn read(run: &Run, ann: &Annotation, node: Pos) -> Result<Asked, Failure> {
    let reader = TypeReader { ann, node };
    if ann.kwargs.is_empty() && (ann.args.is_empty() || !run.is_beyond_ytt()) {
        let block = reader
            .block("missing keyword argument and value", "valid keyword argument and value")
            .about("expected @schema/type annotation to have keyword argument and value");
        let block = block.hint("Supported key-value pairs are 'any=True', 'any=False'");
        let more = "names of types will do, too, as in @schema/type \"int\", \"string\"";
        return Err(reader.invalid(block.help(more)));
    }
    let (mut any, mut one_of, mut or_inferred) = (None, None, None);
    for (name, value) in &ann.kwargs {
        match &*name.to_str() {
            "any" => any = Some(reader.flag(value)?),
            "one_of" if run.is_beyond_ytt() => one_of = Some(reader.names(value)?),
            "or_inferred" if run.is_beyond_ytt() => or_inferred = Some(reader.flag(value)?),
            other => {
                let names = ["any", "one_of", "or_inferred"];
                let near = spelling::closest(other, names, spelling::tolerance_of_short(other));
                let hint = match near {
                    Some(name) => Help::rename_argument(format!("did you mean {name}=?"), other, name),
                    None => "there are any=, one_of= and or_inferred=; names of types need no keyword".into(),
                };
                let block = reader.unknown_argument(other, "A valid kwarg");
                return Err(reader.invalid(block.help(hint)));
            }
        }
    }
    let positional = if run.is_beyond_ytt() { &ann.args[..] } else { &[] };
    if let [Value::Str(name)] = positional
        && *name == "any"
        && ann.kwargs.is_empty()
    {
        return Ok(Asked::Any);
    }
    if let Some(any) = any {
        if run.is_beyond_ytt() && (ann.kwargs.len() > 1 || !positional.is_empty()) {
            let block = reader.block("any= and other arguments", "any=True alone");
            let text = "any= cannot be combined with other arguments of @schema/type";
            return Err(reader.invalid(block.about(text)));
        }
        return Ok(if any { Asked::Any } else { Asked::Inferred });
    }
    if !positional.is_empty() && one_of.is_some() {
        let block = reader.block("names by position and one_of=", "types given once");
        return Err(reader.invalid(block.about("types are given twice in @schema/type")));
    }
    let kinds = match one_of {
        Some(kinds) => kinds,
        None => positional.iter().map(|name| reader.name(name)).collect::<Result<_, Failure>>()?,
    };
    let mut distinct: Vec<ScalarType> = Vec::with_capacity(kinds.len());
    for kind in kinds {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    match (distinct.is_empty(), or_inferred) {
        (true, Some(true)) => Ok(Asked::Inferred),
        (true, _) => {
            let block = reader.block("no type", "names of types, or or_inferred=True");
            Err(reader.invalid(block.about("no type left in @schema/type")))
        }
        (false, given) => Ok(Asked::OneOf { kinds: distinct, or_inferred: given == Some(true), hint: given.is_none() }),
    }
}

/// The union of these kinds and a type inferred from the value.
pub(super) fn union(kinds: &[ScalarType], inferred: Option<Type>) -> Type {
    let mut members: Vec<Type> = kinds.iter().map(|kind| Type::Scalar(*kind)).collect();
    match inferred {
        Some(Type::Scalar(kind)) if kinds.contains(&kind) => {}
        Some(inferred) => members.push(inferred),
        None => {}
    }
    match &members[..] {
        [one] if !matches!(one, Type::Scalar(ScalarType::Null)) => one.clone(),
        _ => Type::Union(Rc::new(Union { members })),
    }
}

struct TypeReader<'a> {
    ann: &'a Annotation,
    node: Pos,
}

impl TypeReader<'_> {
    fn block(&self, found: &str, expected: &'static str) -> Block {
        let found = placed(found.to_owned(), "by", self.ann.pos);
        Block::at(self.node, found, expected).annotation(self.ann.pos)
    }

    fn unknown_argument(&self, found: &str, expected: &'static str) -> Block {
        self.block(found, expected)
            .about("unknown @schema/type annotation keyword argument")
            .hint("Supported kwargs are 'any'")
    }

    fn invalid(&self, block: Block) -> Failure {
        block.under("Invalid schema")
    }

    fn flag(&self, value: &Value) -> Result<bool, Failure> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => Err(self.invalid(self.unknown_argument(go_type(other), "starlark.Bool"))),
        }
    }

    fn names(&self, value: &Value) -> Result<Vec<ScalarType>, Failure> {
        match value {
            Value::List(list) => list.to_vec().iter().map(|name| self.name(name)).collect(),
            Value::Tuple(tuple) => tuple.iter().map(|name| self.name(name)).collect(),
            one => Ok(vec![self.name(one)?]),
        }
    }

    fn name(&self, value: &Value) -> Result<ScalarType, Failure> {
        let text = match value {
            Value::Str(text) => text.to_str(),
            Value::None => return Ok(ScalarType::Null),
            function if function.is_callable() => {
                let name = function.repr();
                let text = name.to_str();
                let name = text.trim_start_matches("<built-in function ").trim_end_matches('>');
                let found = format!("the function {name}");
                let block = self.block(&found, "names of types in quotes, or any=True");
                let block = block.about("types are given by their names in @schema/type");
                return Err(self.invalid(block.hint(format!("write \"{name}\" in quotes, or any=True"))));
            }
            other => {
                let block = self.unknown_argument(go_type(other), "starlark.String");
                return Err(self.invalid(block.help(how_to_name(other))));
            }
        };
        if let Some((_, kind)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*kind);
        }
        let mut block = Block::at(self.node, format!("\"{text}\""), "one of bool, float, int, null, string")
            .about(format!("unknown type \"{text}\" in @schema/type"))
            .annotation(self.ann.pos);
        if let Some(hint) = meant(&text) {
            // The help with the same words contains the fix.
            let name = similar_name(&text).filter(|name| NAMES.iter().any(|(known, _)| known == name));
            let fix = name.map(|name| Help { text: hint.clone().into(), ..Help::rename_string(&text, name) });
            block = block.hint(hint);
            block.helps.extend(fix);
        }
        Err(self.invalid(block))
    }
}

/// Names of the types in other languages, and in our own messages.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("boolean", "bool"),
    ("decimal", "float"),
    ("double", "float"),
    ("integer", "int"),
    ("long", "int"),
    ("nil", "null"),
    ("none", "null"),
    ("nonetype", "null"),
    ("number", "float"),
    ("str", "string"),
    ("text", "string"),
    ("uint", "int"),
];

/// Names of collections, whose type is always inferred from the value.
const COLLECTIONS: [&str; 8] = ["array", "dict", "list", "map", "mapping", "object", "sequence", "struct"];

/// A suggestion for an unknown name.
fn meant(text: &str) -> Option<String> {
    let name = text.to_lowercase();
    if COLLECTIONS.contains(&&*name) {
        let hint = "maps and arrays are declared by the value below; or_inferred=True allows its type besides others";
        return Some(hint.to_owned());
    }
    if name == "any" {
        return Some("to allow all types, write any=True alone".to_owned());
    }
    if formats::find(text).is_some() {
        return Some(format!("that is a format of strings: write @schema/validation format=\"{text}\""));
    }
    let name = similar_name(text)?;
    if COLLECTIONS.contains(&name) {
        return meant(name);
    }
    let more = if name == "float" && text == "number" { ", which also accepts integers" } else { "" };
    Some(format!("did you mean \"{name}\"{more}?"))
}

/// The type or collection for another name, or for one that is spelled similarly.
fn similar_name(text: &str) -> Option<&'static str> {
    let name = text.to_lowercase();
    let names = || NAMES.iter().map(|(name, _)| *name);
    let known = names().find(|known| *known == name);
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, known)| *known);
    let similar = || {
        let others = OTHER_NAMES.iter().map(|(other, _)| *other).chain(COLLECTIONS);
        let near = spelling::closest(&name, names().chain(others), spelling::tolerance_of_short(&name))?;
        Some(OTHER_NAMES.iter().find(|(other, _)| *other == near).map_or(near, |(_, known)| *known))
    };
    known.or(other).or_else(similar)
}

/// How to specify a type, if something other than a string was given.
fn how_to_name(value: &Value) -> String {
    const QUOTED: &str = "types are named by strings";
    let name_of = |value: &Value| match value {
        Value::Builtin(builtin) => Some(builtin.name().to_string()),
        Value::Str(text) => Some(text.to_string()),
        _ => None,
    };
    let items: Vec<Value> = match value {
        Value::List(list) => list.to_vec(),
        Value::Tuple(tuple) => tuple.iter().cloned().collect(),
        Value::Builtin(_) => {
            let name = name_of(value).unwrap_or_default();
            if let Some((_, known)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
                return format!("{QUOTED}: write \"{known}\"");
            }
            if !NAMES.iter().any(|(known, _)| *known == name) {
                return meant(&name).unwrap_or_else(|| QUOTED.to_owned());
            }
            return format!("{QUOTED}: write \"{name}\"");
        }
        _ => return format!("{QUOTED}: bool, float, int, null, string"),
    };
    let names: Option<Vec<String>> = items.iter().map(|item| Some(format!("\"{}\"", name_of(item)?))).collect();
    match names {
        Some(names) if !names.is_empty() => format!("for one of several types, write one_of=[{}]", names.join(", ")),
        _ => "for one of several types, write one_of=[\"int\", \"string\"]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_types_are_understood() {
        for (written, hint) in [
            ("strin", "did you mean \"string\"?"),
            ("Integer", "did you mean \"int\"?"),
            ("boolan", "did you mean \"bool\"?"),
            ("number", "did you mean \"float\", which also accepts integers?"),
            ("STR", "did you mean \"string\"?"),
        ] {
            assert_eq!(meant(written).as_deref(), Some(hint), "{written}");
        }
        for name in COLLECTIONS.into_iter().chain(["lst", "aray", "Object"]) {
            assert!(meant(name).unwrap().contains("or_inferred=True"), "{name}");
        }
        assert!(meant("email").unwrap().contains("format=\"email\""));
        assert!(meant("any").unwrap().contains("any=True"));
        assert_eq!(meant("xyzzy"), None);
        assert_eq!(meant("z"), None);
    }
}
