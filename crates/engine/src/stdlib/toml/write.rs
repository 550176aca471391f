//! Nodes to TOML: scalars first, then tables, keys sorted, in the layout of the reference's Go
//! library.

use ytterby_text::{Str, budget, gofloat};

use crate::node::{Array, Map, Node, Scalar, key_text};

/// Maximum nesting.
const MAX_DEPTH: usize = 1_000;

/// The node as TOML, with `indent` spaces per level of tables. The error is a message.
pub(super) fn write(node: &Node, indent: usize) -> Result<Vec<u8>, String> {
    let mut writer = Writer { out: Vec::new(), indent, path: Vec::new(), depth: 0 };
    match node {
        Node::Scalar(Scalar::Null) => return Err("a null value has no TOML text".to_owned()),
        Node::Map(map) => writer.table(map)?,
        Node::Array(array) => {
            kind_of_array(array)?;
            return Err(NO_KEY.to_owned());
        }
        Node::Scalar(_) => return Err(NO_KEY.to_owned()),
    }
    Ok(writer.out)
}

const NO_KEY: &str = "toml: top-level values must be Go maps or structs";

/// The form of an array in TOML.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayKind {
    /// `[1, 2]`.
    Values,
    /// `[[name]]` for each table.
    Tables,
}

struct Writer<'a> {
    out: Vec<u8>,
    indent: usize,
    /// The keys of the tables around.
    path: Vec<&'a Str>,
    depth: usize,
}

impl<'a> Writer<'a> {
    fn table(&mut self, map: &'a Map) -> Result<(), String> {
        let (direct, below) = split(map)?;
        for (key, value) in direct.into_iter().chain(below) {
            if value.is_null() {
                continue;
            }
            self.path.push(key);
            self.nest(|writer| writer.entry(value))?;
            self.path.pop();
        }
        Ok(())
    }

    /// The value of the key at the end of the path.
    fn entry(&mut self, value: &'a Node) -> Result<(), String> {
        match value {
            Node::Map(map) => {
                if self.path.len() == 1 {
                    self.blank_line();
                }
                self.header("[", "]");
                self.table(map)
            }
            Node::Array(array) if kind_of_array(array)? == ArrayKind::Tables => {
                for item in &array.items {
                    self.blank_line();
                    self.header("[[", "]]");
                    if let Node::Map(map) = &item.value {
                        self.table(map)?;
                    }
                }
                Ok(())
            }
            value => {
                self.margin();
                if let Some(name) = self.path.last() {
                    key(&mut self.out, name);
                }
                self.out.extend_from_slice(b" = ");
                self.value(value)?;
                self.out.push(b'\n');
                Ok(())
            }
        }
    }

    fn header(&mut self, open: &str, close: &str) {
        self.margin();
        self.out.extend_from_slice(open.as_bytes());
        for (at, name) in self.path.iter().enumerate() {
            if at > 0 {
                self.out.push(b'.');
            }
            key(&mut self.out, name);
        }
        self.out.extend_from_slice(close.as_bytes());
        self.out.push(b'\n');
    }

    fn margin(&mut self) {
        let spaces = self.indent * (self.path.len() - 1);
        self.out.resize(self.out.len() + spaces, b' ');
    }

    fn blank_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    /// A value after `=`, on one line.
    fn value(&mut self, value: &'a Node) -> Result<(), String> {
        match value {
            Node::Scalar(value) => scalar(&mut self.out, value)?,
            Node::Array(array) => {
                self.out.push(b'[');
                for (at, item) in array.items.iter().enumerate() {
                    if at > 0 {
                        self.out.extend_from_slice(b", ");
                    }
                    self.nest(|writer| writer.value(&item.value))?;
                }
                self.out.push(b']');
            }
            Node::Map(map) => self.inline_table(map)?,
        }
        Ok(())
    }

    fn inline_table(&mut self, map: &'a Map) -> Result<(), String> {
        self.out.push(b'{');
        let (direct, below) = split(map)?;
        let has_below = !below.is_empty();
        for (part, is_last) in [(direct, !has_below), (below, true)] {
            let count = part.len();
            for (at, (name, value)) in part.into_iter().enumerate() {
                if value.is_null() {
                    continue;
                }
                key(&mut self.out, name);
                self.out.extend_from_slice(b" = ");
                self.nest(|writer| writer.value(value))?;
                if !is_last || at + 1 < count {
                    self.out.extend_from_slice(b", ");
                }
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn nest(&mut self, write: impl FnOnce(&mut Writer<'a>) -> Result<(), String>) -> Result<(), String> {
        if self.depth >= MAX_DEPTH {
            return Err(format!("a value nested deeper than {MAX_DEPTH} levels cannot be TOML"));
        }
        budget::memory(32).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string())?;
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }
}

type Entries<'a> = Vec<(&'a Str, &'a Node)>;

/// The entries of a map, sorted: those in the table itself, and those that are tables below it.
fn split(map: &Map) -> Result<(Entries<'_>, Entries<'_>), String> {
    let (mut direct, mut below) = (Vec::new(), Vec::new());
    for item in map.iter() {
        let Scalar::Str(key) = &item.key else {
            return Err(format!("Expected key to be string, but was {}", key_text(&item.key)));
        };
        let is_below = match &item.value {
            Node::Map(_) => true,
            Node::Array(array) => kind_of_array(array)? == ArrayKind::Tables,
            Node::Scalar(_) => false,
        };
        let part = if is_below { &mut below } else { &mut direct };
        part.push((key, &item.value));
    }
    direct.sort_by_key(|entry| entry.0);
    below.sort_by_key(|entry| entry.0);
    Ok((direct, below))
}

fn kind_of_array(array: &Array) -> Result<ArrayKind, String> {
    let mut kind = if array.items.is_empty() { ArrayKind::Values } else { ArrayKind::Tables };
    for item in &array.items {
        match &item.value {
            Node::Map(_) => {}
            Node::Scalar(Scalar::Null) => return Err("toml: cannot encode array with nil element".to_owned()),
            Node::Scalar(_) => kind = ArrayKind::Values,
            Node::Array(inner) => {
                crate::deep(|| kind_of_array(inner))?;
                kind = ArrayKind::Values;
            }
        }
    }
    Ok(kind)
}

pub(super) fn key(out: &mut Vec<u8>, name: &[u8]) {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.iter().all(is_bare) {
        out.extend_from_slice(name);
    } else {
        string(out, name);
    }
}

/// Longer texts are charged before they are written.
const LONG: usize = 64 << 10;

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    // Where that is too much, the run ends when code goes on.
    if bytes.len() > LONG && budget::text(2 * bytes.len()).is_err() {
        return;
    }
    out.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn scalar(out: &mut Vec<u8>, value: &Scalar) -> Result<(), String> {
    let text = match value {
        Scalar::Null => return Err("toml: cannot encode array with nil element".to_owned()),
        Scalar::Complex(key) => return Err(format!("a {} cannot be a TOML key", key.kind())),
        Scalar::Str(value) => {
            string(out, value);
            return Ok(());
        }
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Float(value) if value.is_nan() => "nan".to_owned(),
        Scalar::Float(value) if value.is_infinite() => if *value < 0.0 { "-inf" } else { "+inf" }.to_owned(),
        Scalar::Float(value) => {
            let text = gofloat::format_f_shortest(*value);
            if text.contains('.') { text } else { format!("{text}.0") }
        }
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
