//! `@schema/type`: which types a place takes.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::spelling;

use super::report::Block;
use super::{Kind, Type, Union};
use crate::annotation::Annotation;
use crate::api::Failure;
use crate::run::Run;
use crate::stdlib::go_type;

/// What `@schema/type` asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing: the type is that of the value.
    Inferred,
    Any,
    /// These, and that of the value if `or_inferred`.
    OneOf {
        kinds: Vec<Kind>,
        or_inferred: bool,
        hint: bool,
    },
}

const NAMES: [(&str, Kind); 5] =
    [("bool", Kind::Bool), ("float", Kind::Float), ("int", Kind::Int), ("null", Kind::Null), ("string", Kind::String)];

/// Reads the annotation.
pub(super) fn read(run: &Run, ann: &Annotation, node: Pos) -> Result<Asked, Failure> {
    let reader = Reader { run, ann, node };
    if ann.kwargs.is_empty() && (ann.args.is_empty() || !run.is_beyond_ytt()) {
        let block = reader
            .block("missing keyword argument and value", "valid keyword argument and value")
            .about("expected @schema/type annotation to have keyword argument and value");
        return Err(reader.invalid(block.hint("Supported key-value pairs are 'any=True', 'any=False'")));
    }
    let (mut any, mut one_of, mut or_inferred) = (None, None, None);
    for (name, value) in &ann.kwargs {
        match &*name.to_str() {
            "any" => any = Some(reader.flag(value)?),
            "one_of" if run.is_beyond_ytt() => one_of = Some(reader.names(value)?),
            "or_inferred" if run.is_beyond_ytt() => or_inferred = Some(reader.flag(value)?),
            other => {
                return Err(reader.invalid(reader.unknown_argument(other, "A valid kwarg")));
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
    let mut distinct: Vec<Kind> = Vec::with_capacity(kinds.len());
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
pub(super) fn union(kinds: &[Kind], inferred: Option<Type>) -> Type {
    let mut members: Vec<Type> = kinds.iter().map(|kind| Type::Scalar(*kind)).collect();
    match inferred {
        Some(Type::Scalar(kind)) if kinds.contains(&kind) => {}
        Some(inferred) => members.push(inferred),
        None => {}
    }
    match &members[..] {
        [one] if !matches!(one, Type::Scalar(Kind::Null)) => one.clone(),
        _ => Type::Union(Rc::new(Union { members })),
    }
}

struct Reader<'a> {
    run: &'a Run,
    ann: &'a Annotation,
    node: Pos,
}

impl Reader<'_> {
    fn block(&self, found: &str, expected: &str) -> Block {
        let found = format!("{found} (by {})", self.run.locate(self.ann.pos));
        Block::at(self.node, found, expected).annotation(self.ann.pos)
    }

    fn unknown_argument(&self, found: &str, expected: &str) -> Block {
        self.block(found, expected)
            .about("unknown @schema/type annotation keyword argument")
            .hint("Supported kwargs are 'any'")
    }

    fn invalid(&self, block: Block) -> Failure {
        block.under(self.run, "Invalid schema")
    }

    fn flag(&self, value: &Value) -> Result<bool, Failure> {
        match value {
            Value::Bool(value) => Ok(*value),
            other => Err(self.invalid(self.unknown_argument(go_type(other), "starlark.Bool"))),
        }
    }

    fn names(&self, value: &Value) -> Result<Vec<Kind>, Failure> {
        match value {
            Value::List(list) => list.to_vec().iter().map(|name| self.name(name)).collect(),
            Value::Tuple(tuple) => tuple.iter().map(|name| self.name(name)).collect(),
            one => Ok(vec![self.name(one)?]),
        }
    }

    fn name(&self, value: &Value) -> Result<Kind, Failure> {
        let text = match value {
            Value::Str(text) => text.to_str(),
            Value::None => return Ok(Kind::Null),
            other => return Err(self.invalid(self.unknown_argument(go_type(other), "starlark.String"))),
        };
        if let Some((_, kind)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*kind);
        }
        let mut block = Block::at(self.node, format!("\"{text}\""), "one of bool, float, int, null, string")
            .about(format!("unknown type \"{text}\" in @schema/type"))
            .annotation(self.ann.pos);
        let names = NAMES.iter().map(|(name, _)| *name);
        if let Some(meant) = spelling::closest(&text, names, spelling::tolerance(&text)) {
            block = block.hint(format!("did you mean \"{meant}\"?"));
        }
        Err(self.invalid(block))
    }
}
