//! `@ytt:url`: escaping, query strings, and the parts of URLs.

use std::collections::BTreeMap;
use std::rc::Rc;

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::url::{self, Url, UrlPart, User, escape, unescape};
use ytterby_text::{Str, budget};

use super::{Module, Object, Struct, method};
use crate::args::{fail, none, one, one_string};
use crate::node;

/// The module.
pub(super) fn module() -> Module {
    Module::new("url")
        .with("path_segment_encode", |_, args| encode(&args, UrlPart::PathSegment))
        .with("path_segment_decode", |_, args| decode(&args, UrlPart::PathSegment))
        .with("query_param_value_encode", |_, args| encode(&args, UrlPart::Query))
        .with("query_param_value_decode", |_, args| decode(&args, UrlPart::Query))
        .with("query_params_encode", query_params_encode)
        .with("query_params_decode", query_params_decode)
        .with("parse", parse)
}

fn encode(args: &Args<'_>, part: UrlPart) -> Result<Value, Error> {
    Ok(Value::from(Str::from(escaped(one_string(args)?, part)?)))
}

/// Escapes a text and charges the result.
fn escaped(text: &[u8], part: UrlPart) -> Result<Vec<u8>, Error> {
    budget::scan(text.len())?;
    let longer = text.iter().filter(|&&byte| part.escapes(byte)).count();
    budget::text(text.len() + 2 * longer)?;
    Ok(escape(text, part))
}

fn decode(args: &Args<'_>, part: UrlPart) -> Result<Value, Error> {
    let text = one_string(args)?;
    budget::text(text.len())?;
    Ok(Value::from(Str::from(unescape(text, part).map_err(Error::new)?)))
}

/// Copies of a URL in its parts.
const PARTS: usize = 4;

/// Memory of one name and value, apart from their texts.
const PAIR: usize = 128;

/// The values of a query string, by name.
type Params = BTreeMap<Str, Vec<Str>>;

fn query_params_encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let params = params(one(&args)?)?;
    let mut out = Vec::new();
    for (name, values) in &params {
        for value in values {
            if !out.is_empty() {
                out.push(b'&');
            }
            out.extend_from_slice(&escaped(name, UrlPart::Query)?);
            out.push(b'=');
            out.extend_from_slice(&escaped(value, UrlPart::Query)?);
        }
    }
    Ok(Value::from(Str::from(out)))
}

/// The lists of strings in a dict or struct.
fn params(value: &Value) -> Result<Params, Error> {
    // Values that cannot be converted are reported first, wherever they are.
    node::from_value(value).map_err(Error::new)?;
    let pairs = match value {
        Value::Dict(dict) => dict.items(),
        other => match other.downcast::<Struct>() {
            Some(fields) => {
                fields.fields().iter().map(|(name, value)| (Value::Str(name.clone()), value.clone())).collect()
            }
            None => fail!("expected argument to be a map, but was {}", node::go_type_name(other)),
        },
    };
    let mut params = Params::new();
    for (key, value) in pairs {
        let Value::Str(key) = key else {
            fail!("expected map key to be string, but was {}", node::go_type_name(&key));
        };
        let items = match &value {
            Value::List(_) | Value::Tuple(_) | Value::Set(_) => value.iterate().into_iter().flatten(),
            other => fail!("expected map value to be array, but was {}", node::go_type_name(other)),
        };
        let texts = items.map(|item| match item {
            Value::Str(text) => Ok(text),
            other => fail!("expected array value to be string, but was {}", node::go_type_name(&other)),
        });
        params.insert(key, texts.collect::<Result<_, Error>>()?);
    }
    Ok(params)
}

fn query_params_decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let mut params = Params::new();
    for pair in one_string(&args)?.split(|byte| matches!(byte, b'&' | b';')).filter(|pair| !pair.is_empty()) {
        budget::memory(PAIR).and_then(|()| budget::text(2 * pair.len()))?;
        let equals = pair.iter().position(|&byte| byte == b'=');
        let (name, value) = equals.map_or((pair, &b""[..]), |at| (&pair[..at], &pair[at + 1..]));
        let name = unescape(name, UrlPart::Query).map_err(Error::new)?;
        let value = unescape(value, UrlPart::Query).map_err(Error::new)?;
        params.entry(Str::from(name)).or_default().push(Str::from(value));
    }
    let list = |texts: Vec<Str>| Value::list(texts.into_iter().map(Value::Str).collect());
    Value::dict(params.into_iter().map(|(name, values)| (Value::Str(name), list(values))))
}

fn parse(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let text = one_string(&args)?;
    budget::text(PARTS * text.len())?;
    Ok(url_value(url::parse(text).map_err(Error::new)?))
}

fn url_value(url: Url) -> Value {
    let user = url.user.clone().map_or(Value::None, user_value);
    let url = Rc::new(url);
    let (without, text, host) = (url.clone(), url.clone(), url);
    let fields = [
        (Str::from("user"), user),
        method("without_user", "url.value.without_user", move |_, args| {
            none(&args).map(|()| url_value(without.without_user()))
        }),
        method("string", "url.value.string", move |_, args| none(&args).map(|()| Value::from(text.text()))),
        method("hostname", "url.value.hostname", move |_, args| none(&args).map(|()| Value::from(host.hostname()))),
    ];
    Value::host(Object::new("@ytt:url.value", "*yttlibrary.URLValue", "use .string()", fields))
}

fn user_value(user: User) -> Value {
    let fields = [
        (Str::from("name"), Value::Str(user.name.clone())),
        (Str::from("password"), user.password.clone().map_or(Value::None, Value::Str)),
        method("string", "string", move |_, args| none(&args).map(|()| Value::from(Str::from(user.text())))),
    ];
    Value::host(Object::new("@ytt:url.user", "*yttlibrary.URLUser", "use .string()", fields))
}
