//! Annotations that document a node: description, title, examples, deprecation.
//!
//! To add one, give it a field in [`Docs`], read it in [`read`], and name it in [`Docs::remarks`]:
//! all exports show remarks. The helpers are shared with the other schema annotations, which all
//! have a fixed number of arguments.

use ytterby_diag::{By, Cause, Failure, Pos, SchemaBlock as Block, SchemaReport, Text};
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::check;
use super::{Slot, placed};
use crate::annotation::{Ann, Annotation};
use crate::node::{Annotated, Node, Scalar, node_from_value, with_position};
use crate::run::Run;

const EXAMPLE_FORM: &str = "2-tuple containing description (string) and example value (of expected type)";

/// The documentation of a slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Docs {
    pub title: Option<Str>,
    pub description: Option<Str>,
    pub deprecated: Option<Str>,
    pub examples: Vec<Example>,
}

/// One example.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub description: Option<Str>,
    pub value: Node,
}

/// A text that documentation shows under a name: `Deprecated: use port`.
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    /// In lower case.
    pub name: &'static str,
    pub text: Str,
    /// Its keyword in OpenAPI and JSON Schema. The schemas of CRDs allow no others than their own,
    /// so the description contains the text there.
    pub keyword: (&'static str, Node),
}

/// The name of the remark of `@schema/deprecated`.
pub(crate) const DEPRECATED: &str = "deprecated";

impl Docs {
    /// Further remarks of documentation, in this order: not title, description or examples.
    pub fn remarks(&self) -> Vec<Remark> {
        let deprecated = self.deprecated.clone().map(|text| Remark {
            name: DEPRECATED,
            text,
            keyword: ("deprecated", Node::Scalar(Scalar::Bool(true))),
        });
        deprecated.into_iter().collect()
    }
}

impl Remark {
    /// The name with a capital letter.
    pub fn label(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        first.to_uppercase() + rest
    }
}

/// Reads the documentation from a node's annotations; examples are checked later.
pub(super) fn read(run: &Run, node: &dyn Annotated) -> Result<Docs, Failure> {
    let mut docs = Docs::default();
    let invalid = |block: Block| block.under("Invalid schema");
    if let Some(ann) = node.annotation(Ann::SchemaDesc) {
        docs.description = Some(string(ann, node.pos())?);
    }
    if let Some(ann) = node.annotation(Ann::SchemaTitle) {
        docs.title = Some(string(ann, node.pos())?);
    }
    if let Some(ann) = node.annotation(Ann::SchemaExample) {
        docs.examples.push(example(ann, node.pos())?);
    }
    if let Some(ann) = node.annotation(Ann::SchemaExamples) {
        docs.examples.extend(examples(run, ann, node.pos())?);
    }
    if let Some(ann) = node.annotation(Ann::SchemaDeprecated) {
        if node.kind() == "document" {
            let block = Block::at(node.pos(), "", "")
                .about("@schema/deprecated not supported on a document")
                .annotation(ann.pos)
                .hint("do you mean to deprecate the entire schema document?")
                .hint("use schema/deprecated on individual keys.");
            return Err(invalid(block));
        }
        docs.deprecated = Some(string(ann, node.pos())?);
    }
    Ok(docs)
}

/// The only argument of an annotation, which must be a string.
pub(super) fn string(ann: &Annotation, node: Pos) -> Result<Str, Failure> {
    let syntax = |found: String| syntax_error(ann, node, found, "string");
    let invalid = |block: Block| Err(block.under("Invalid schema"));
    let name = ann.canonical_name();
    if !ann.kwargs.is_empty() {
        let block = syntax(format!("keyword argument in @{name}"));
        return invalid(block.hint("this annotation only accepts one argument: a string."));
    }
    match &ann.args[..] {
        [] => invalid(syntax(format!("missing value in @{name}"))),
        [Value::Str(text)] => Ok(text.clone()),
        [_] => invalid(syntax(format!("Non-string value in @{name}"))),
        args => invalid(syntax(format!("{} values in @{name}", args.len()))),
    }
}

/// A block about the arguments of an annotation. `found` gets the annotation's position.
pub(super) fn syntax_error(ann: &Annotation, node: Pos, found: impl Into<Text>, expected: impl Into<Text>) -> Block {
    Block::at(node, placed(found, "by", ann.pos), expected)
        .about(format!("syntax error in @{} annotation", ann.canonical_name()))
        .annotation(ann.pos)
}

/// A block about an annotation on a kind of node that does not support it.
pub(super) fn not_supported(ann: &Annotation, node: &dyn Annotated, expected: &str) -> Failure {
    let title = format!("Invalid schema - @{} not supported on {}", ann.name, node.kind());
    Block::at(node.pos(), "", expected.to_owned()).annotation(ann.pos).under(title)
}

/// `@schema/example value`.
fn example(ann: &Annotation, node: Pos) -> Result<Example, Failure> {
    let syntax =
        |found: String| syntax_error(ann, node, found, "example value (of expected type)").under("Invalid schema");
    if !ann.kwargs.is_empty() {
        return Err(syntax("keyword argument in @schema/example".into()));
    }
    match &ann.args[..] {
        [] => Err(syntax("missing value in @schema/example".into())),
        [value] => Ok(Example { description: None, value: value_node(value, node).unwrap_or(UNFIT) }),
        args => Err(syntax(format!("{} values in @schema/example", args.len()))),
    }
}

/// A placeholder for a value that is not YAML, until [`check_examples`] reports it.
const UNFIT: Node = Node::NULL;

/// `@schema/examples (description, value), …`, or one list of these.
fn examples(run: &Run, ann: &Annotation, node: Pos) -> Result<Vec<Example>, Failure> {
    let name = ann.canonical_name();
    let problem = |found: String, word: &'static str| {
        Block::at(node, placed(found, word, ann.pos), EXAMPLE_FORM)
            .about(format!("syntax error in @{name} annotation"))
            .annotation(ann.pos)
            .under("Invalid schema")
    };
    if !ann.kwargs.is_empty() {
        return Err(problem(format!("keyword argument in @{name}"), "by"));
    }
    let args = example_args(run, ann);
    if args.is_empty() {
        return Err(problem(format!("missing value in @{name}"), "by"));
    }
    let one = |value: &Value| {
        let Value::Tuple(tuple) = value else {
            return Err(problem(format!("{} for @{name}", value.type_name()), "at"));
        };
        let items: Vec<Value> = tuple.iter().cloned().collect();
        match &items[..] {
            [] | [_] => Err(problem(format!("empty tuple in @{name}"), "by")),
            [Value::Str(description), value] => {
                Ok(Example { description: Some(description.clone()), value: value_node(value, node).unwrap_or(UNFIT) })
            }
            [other, _] => Err(problem(format!("{} value for @{name}", other.type_name()), "at")),
            _ => Err(problem(format!("{}-tuple argument in @{name}", items.len()), "by")),
        }
    };
    args.iter().map(one).collect()
}

/// The arguments of `@schema/examples`; one list, or a tuple of tuples, is read as the arguments.
fn example_args(run: &Run, ann: &Annotation) -> Vec<Value> {
    match &ann.args[..] {
        [Value::List(list)] if run.is_beyond_ytt() => list.to_vec(),
        [Value::Tuple(tuple)]
            if run.is_beyond_ytt() && !tuple.is_empty() && tuple.iter().all(|item| matches!(item, Value::Tuple(_))) =>
        {
            tuple.iter().cloned().collect()
        }
        args => args.to_vec(),
    }
}

/// Checks that examples have the type of their node.
pub(super) fn check_examples(
    cx: &mut check::CheckContext<'_>,
    node: &dyn Annotated,
    slot: &Slot,
) -> Result<(), Failure> {
    let anns = [node.annotation(Ann::SchemaExample), node.annotation(Ann::SchemaExamples)];
    let mut examples = slot.docs.examples.iter();
    for ann in anns.into_iter().flatten() {
        let args = if ann.ann == Some(Ann::SchemaExample) { ann.args.clone() } else { example_args(cx.run, ann) };
        let title = format!("Invalid schema - @{} has wrong type", ann.canonical_name());
        let mut blocks = Vec::new();
        for (arg, example) in args.iter().zip(examples.by_ref()) {
            let value = match arg {
                Value::Tuple(pair) if ann.ann == Some(Ann::SchemaExamples) => pair.get(1).unwrap_or(arg),
                other => other,
            };
            if let Err(block) = value_as_node(cx.run, value, ann, slot, node.pos()) {
                blocks.push(*block);
                continue;
            }
            for block in check::problems_of(cx, &example.value, slot)? {
                blocks.push(Block { found: placed(block.found, "by", ann.pos), ..block }.annotation(ann.pos));
            }
        }
        if !blocks.is_empty() {
            return Err(Failure::of(Cause::Schema(SchemaReport { title, blocks })));
        }
    }
    Ok(())
}

/// An argument of an annotation as a node, with the position of the annotated node.
fn value_node(value: &Value, node: Pos) -> Option<Node> {
    node_from_value(value).ok().map(|value| with_position(&value, node))
}

/// The same; if the value is not YAML, a block with the error.
pub(super) fn value_as_node(
    run: &Run,
    value: &Value,
    ann: &Annotation,
    slot: &Slot,
    node: Pos,
) -> Result<Node, Box<Block>> {
    let made = value_node(value, node);
    let misfit = if made.is_none() || run.is_beyond_ytt() { misfit(value, slot, 0) } else { None };
    let (part, slot) = match (misfit, made) {
        (None, Some(made)) => return Ok(made),
        (None, None) => (value.clone(), slot),
        (Some(misfit), _) => misfit,
    };
    let found = match part {
        Value::Function(_) | Value::Builtin(_) => "function".to_owned(),
        other => other.type_name().to_owned(),
    };
    let block = Block::at(node, placed(found, "at", ann.pos), slot.ty.name());
    let block = block.by(By::Type(slot.declared_at())).annotation(ann.pos);
    Err(Box::new(block.hint("did you mean to call it?")))
}

/// Maximum depth of the search for parts that are not YAML: a value may contain itself.
const DEPTH: usize = 100;

/// The first part of a value that YAML cannot express, and the slot it was meant for. A set is one,
/// because it has no order.
fn misfit<'s>(value: &Value, slot: &'s Slot, depth: usize) -> Option<(Value, &'s Slot)> {
    if depth > DEPTH {
        return None;
    }
    let item = slot.as_array().map_or(slot, |ty| &ty.item);
    match value {
        Value::List(list) => list.to_vec().iter().find_map(|part| misfit(part, item, depth + 1)),
        Value::Tuple(tuple) => tuple.iter().find_map(|part| misfit(part, item, depth + 1)),
        Value::Dict(dict) => dict.items().iter().find_map(|(key, part)| misfit(part, below(slot, key), depth + 1)),
        Value::Set(_) => Some((value.clone(), slot)),
        other => node_from_value(other).is_err().then(|| (value.clone(), slot)),
    }
}

/// The slot of a key in a map; the map's slot if the key is not declared.
fn below<'s>(slot: &'s Slot, key: &Value) -> &'s Slot {
    let key = match node_from_value(key) {
        Ok(Node::Scalar(key)) => key,
        _ => return slot,
    };
    slot.as_map().and_then(|ty| ty.literal(&key)).map_or(slot, |item| &item.slot)
}
