//! `@ytt:json`: encodes and decodes JSON as the reference does.

mod read;

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::Str;
use ytterby_text::gojson::Html;
use ytterby_yaml::write::{JsonOptions, JsonWriter};

use super::Module;
use crate::args::{bool_keyword, indent, known_keywords, one, one_string, string};
use crate::node;

/// The module.
pub(super) fn module() -> Module {
    Module::new("json").with("encode", encode).with("decode", decode).with_beyond_ytt("decodable", decodable)
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one(&args)?;
    known_keywords(&args, &["indent", "escape_html"])?;
    let node = node::node_from_value(value).map_err(Error::new)?;
    let indent = indent(&args)?;
    let html = if bool_keyword(&args, "escape_html", true)? { Html::Escape } else { Html::Keep };
    let mut writer = JsonWriter::new(JsonOptions { indent, html });
    node::write_node(&mut writer, &node)?;
    Ok(Value::from(Str::from(writer.finish().map_err(Error::new)?)))
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    read::read(one_string(&args)?).map_err(Error::new)
}

/// Whether `decode` would succeed.
fn decodable(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(string(one(&args)?).is_ok_and(|text| read::read(text).is_ok())))
}
