//! The modules of `load("@ytt:…")`.

use ytterby_starlark::{HostValue, Value};
use ytterby_text::Str;

/// A struct: names and values, in order.
pub(crate) struct Struct {
    fields: Vec<(Str, Value)>,
}

impl Struct {
    pub fn fields(&self) -> &[(Str, Value)] {
        &self.fields
    }
}

impl HostValue for Struct {
    fn type_name(&self) -> &str {
        "struct"
    }
    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"struct(...)");
    }
}

pub(crate) fn conversion_hint(_value: &Value) -> Option<String> {
    None
}

/// What `load` says about a module that does not exist.
pub(crate) fn unknown_module(name: &str) -> String {
    format!("builtin ytt library does not have module '{name}' (hint: is it available in newer version of ytt?)")
}
