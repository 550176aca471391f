//! TOML to Starlark values. Keys are sorted, as in the reference; dates become strings, which the reference cannot do.

use toml::{Table, Value as Toml};
use ytterby_starlark::Value;

/// The table of a text as a dict. The error is a message.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(text).map_err(|_| "toml: invalid UTF-8".to_owned())?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| message(text, &error))?;
    Ok(dict(table))
}

fn dict(table: Table) -> Value {
    let pairs = table.into_iter().map(|(key, item)| (Value::from(key), value(item)));
    Value::dict(pairs).expect("strings can be hashed")
}

fn value(item: Toml) -> Value {
    match item {
        Toml::String(text) => Value::from(text),
        Toml::Integer(number) => Value::Int(number),
        Toml::Float(number) => Value::Float(number),
        Toml::Boolean(value) => Value::Bool(value),
        Toml::Datetime(date) => Value::from(date.to_string()),
        Toml::Array(items) => Value::list(items.into_iter().map(value).collect()),
        Toml::Table(table) => dict(table),
    }
}

/// What is wrong, and in which line.
fn message(text: &str, error: &toml::de::Error) -> String {
    let problem = error.message().lines().collect::<Vec<_>>().join(", ");
    match error.span() {
        Some(span) => {
            let line = 1 + text.as_bytes()[..span.start.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
            format!("toml: line {line}: {problem}")
        }
        None => format!("toml: {problem}"),
    }
}
