//! `@ytt:yaml`: encodes and decodes YAML.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::{Args, Dict, Error, Eval, Value};
use ytterby_text::{Str, budget};
use ytterby_yaml::write::YamlWriter;
use ytterby_yaml::{NodeId, ReadOptions, Sink, Tree, View, parse};

use super::Module;
use crate::args::{one, one_string, string};
use crate::deep;
use crate::node::{self, FragmentData, Node, Scalar};

/// The module.
pub(super) fn module() -> Module {
    Module::new("yaml").with("encode", encode).with("decode", decode).with_beyond_ytt("decodable", decodable)
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    encoded(one(&args)?).map(Value::from)
}

/// A value as YAML text.
pub(super) fn encoded(value: &Value) -> Result<Str, Error> {
    let mut writer = YamlWriter::new();
    let mut write = |node: &Node| {
        if node.is_blank() {
            return Ok(());
        }
        writer.document();
        node::write_node(&mut writer, node)
    };
    match node::from_value(value).map_err(Error::new)? {
        FragmentData::Node(node) => write(&node)?,
        FragmentData::Documents(docs) => docs.items.iter().try_for_each(|doc| write(&doc.value))?,
    }
    Ok(Str::from(writer.finish()))
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    decoded(one_string(&args)?).map_err(Error::new)
}

/// Whether `decode` would succeed.
fn decodable(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(string(one(&args)?).is_ok_and(|text| decoded(text).is_ok())))
}

/// The only document of a text as dicts and lists. The error is a message.
fn decoded(text: &[u8]) -> Result<Value, String> {
    // Nothing here outlives the call, so the text need not be added to the sources.
    let file = Pos::UNKNOWN.file;
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let tree = parse(text, file, &options).map_err(|error| error.reference())?;
    let mut docs = tree.documents().iter().filter(|doc| !doc.injected);
    match (docs.next(), docs.next()) {
        (Some(doc), None) => value_of(&tree, doc.value),
        _ => Err("Expected to find exactly one YAML document".to_owned()),
    }
}

fn value_of(tree: &Tree, id: NodeId) -> Result<Value, String> {
    let charge =
        |bytes: usize| budget::memory(bytes).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string());
    match tree.value(id) {
        View::Scalar(scalar) => Ok(node::scalar_to_value(scalar)),
        View::Array(items) => {
            charge(64 + 16 * items.len())?;
            let items = items.iter().map(|item| deep(|| value_of(tree, item.value)));
            Ok(Value::list(items.collect::<Result<_, String>>()?))
        }
        View::Map(items) => {
            let dict = Dict::new();
            charge(128 + 64 * items.len())?;
            for item in items {
                if let Scalar::Complex(key) = &item.key {
                    let key = key.kind();
                    let (cause, help) = (node::COMPLEX_KEY_CAUSE, node::COMPLEX_KEY_HELP);
                    return Err(format!("a {key} cannot be a key of a dict ({cause}: {help})"));
                }
                let old = dict.insert(node::scalar_to_value(&item.key), deep(|| value_of(tree, item.value))?);
                if old.map_err(|error| error.to_string())?.is_some() {
                    return Err(format!("Unexpected duplicate key: {}", node::key_text(&item.key)));
                }
            }
            Ok(Value::Dict(Rc::new(dict)))
        }
    }
}
