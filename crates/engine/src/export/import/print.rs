//! Writes a schema file: annotations in comments, values as YAML.
//!
//! The types at the top are the intermediate form of all imports; `print` turns them into text.
//! Strings always have double quotes, so that none depends on the rules for plain scalars.

use ytterby_text::quote;

use crate::node::{MapItem, Node, Scalar, key_text};

/// A node of the schema to write.
#[derive(Debug, Default)]
pub(super) struct ImportedNode {
    /// The text after `#@schema/` in each of its comments, in order.
    pub annotations: Vec<String>,
    pub value: Sample,
    /// Annotations that allow more than values like `value`.
    pub besides: Besides,
    /// Whether its default violates a rule, or it is required.
    pub is_unsound: bool,
}

/// Values that a node accepts in addition to its sample.
#[derive(Debug, Default)]
pub(super) struct Besides {
    pub any: bool,
    pub null: bool,
    /// The scalars of a union.
    pub kinds: Vec<SampleKind>,
    /// Whether the item represents other keys than its own.
    pub keys: Keys,
    /// The annotation with its shapes: `one-of config_1(), config_2()`.
    pub shapes: Option<String>,
}

/// Which keys an item represents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Keys {
    #[default]
    Own,
    Any,
    Matching,
}

impl ImportedNode {
    /// Whether a value is allowed here. Keys that only a pattern accepts count as unknown.
    pub fn takes(&self, value: &Node) -> bool {
        crate::deep(|| match value {
            _ if self.besides.any => true,
            Node::Scalar(Scalar::Null) => self.besides.null,
            Node::Scalar(scalar) => {
                let stands = match &self.value {
                    Sample::Scalar(sample) => kind_of(sample).is_some_and(|kind| kind.takes(scalar)),
                    _ => false,
                };
                match self.besides.kinds.is_empty() {
                    true => stands,
                    false => self.besides.kinds.iter().any(|kind| kind.takes(scalar)),
                }
            }
            Node::Array(list) => match &self.value {
                Sample::Array(item) => list.items.iter().all(|own| item.takes(&own.value)),
                _ => false,
            },
            Node::Map(map) => match &self.value {
                Sample::Map(items) => map.iter().all(|own| {
                    // Samples are searched once per example; these are few and small.
                    let declared = items.iter().find(|(key, place)| place.besides.keys == Keys::Own && *key == own.key);
                    let declared = declared.or_else(|| items.iter().find(|(_, place)| place.besides.keys != Keys::Own));
                    let declared = declared.filter(|(_, place)| place.besides.keys != Keys::Matching);
                    declared.is_some_and(|(_, place)| place.takes(&own.value))
                }),
                _ => false,
            },
        })
    }
}

/// A kind of scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SampleKind {
    Bool,
    Int,
    Float,
    String,
}

impl SampleKind {
    /// Its name in `@schema/type`.
    pub fn name(self) -> &'static str {
        match self {
            SampleKind::Bool => "bool",
            SampleKind::Int => "int",
            SampleKind::Float => "float",
            SampleKind::String => "string",
        }
    }

    fn takes(self, scalar: &Scalar) -> bool {
        kind_of(scalar).is_some_and(|kind| kind == self || (kind, self) == (SampleKind::Int, SampleKind::Float))
    }
}

/// The kind of a scalar; `None` for null.
pub(super) fn kind_of(scalar: &Scalar) -> Option<SampleKind> {
    match scalar {
        Scalar::Null | Scalar::Complex(_) => None,
        Scalar::Bool(_) => Some(SampleKind::Bool),
        Scalar::Int(_) | Scalar::UInt(_) => Some(SampleKind::Int),
        Scalar::Float(_) => Some(SampleKind::Float),
        Scalar::Str(_) => Some(SampleKind::String),
    }
}

/// The sample value of a type.
#[derive(Debug)]
pub(super) enum Sample {
    Scalar(Scalar),
    Map(Vec<(Scalar, ImportedNode)>),
    Array(Box<ImportedNode>),
}

impl Default for Sample {
    fn default() -> Sample {
        Sample::Scalar(Scalar::Null)
    }
}

/// A schema file.
#[derive(Debug, Default)]
pub(super) struct SchemaFile {
    pub root: ImportedNode,
    /// Functions that return shapes; each may refer to those before it.
    pub shapes: Vec<(String, ImportedNode)>,
    /// Whether annotations use functions of `@ytt:assert`.
    pub uses_assert: bool,
}

/// The text of a schema file.
pub(super) fn print(file: &SchemaFile) -> String {
    let mut out = String::new();
    if file.uses_assert {
        out.push_str("#@ load(\"@ytt:assert\", \"assert\")\n\n");
    }
    for (name, place) in &file.shapes {
        out.push_str(&format!("#@ def {name}():\n"));
        document(&mut out, place);
        out.push_str("#@ end\n\n");
    }
    out.push_str("#@data/values-schema\n");
    document(&mut out, &file.root);
    out
}

fn document(out: &mut String, root: &ImportedNode) {
    annotations(out, root, 0);
    out.push_str("---\n");
    match &root.value {
        Sample::Scalar(scalar) => {
            out.push_str(&scalar_as_yaml(scalar));
            out.push('\n');
        }
        Sample::Map(items) if items.is_empty() => out.push_str("{}\n"),
        other => block(out, other, 0),
    }
}

fn block(out: &mut String, value: &Sample, indent: usize) {
    crate::deep(|| match value {
        Sample::Scalar(_) => {}
        Sample::Map(items) => {
            for (key, place) in items {
                annotations(out, place, indent);
                margin(out, indent);
                out.push_str(&key_as_yaml(key));
                out.push(':');
                below(out, &place.value, indent);
            }
        }
        Sample::Array(item) => {
            annotations(out, item, indent);
            margin(out, indent);
            out.push('-');
            match &item.value {
                // The first item is on the line of the dash, unless comments precede it.
                Sample::Map(items) if items.first().is_some_and(|(_, first)| first.annotations.is_empty()) => {
                    let start = out.len();
                    block(out, &item.value, indent + 2);
                    out.replace_range(start..start + indent + 2, " ");
                }
                other => below(out, other, indent),
            }
        }
    });
}

fn below(out: &mut String, value: &Sample, indent: usize) {
    match value {
        Sample::Scalar(scalar) => {
            out.push(' ');
            out.push_str(&scalar_as_yaml(scalar));
            out.push('\n');
        }
        Sample::Map(items) if items.is_empty() => out.push_str(" {}\n"),
        other => {
            out.push('\n');
            block(out, other, indent + 2);
        }
    }
}

fn annotations(out: &mut String, place: &ImportedNode, indent: usize) {
    for text in &place.annotations {
        margin(out, indent);
        out.push_str("#@schema/");
        out.push_str(text);
        out.push('\n');
    }
}

fn margin(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A key; without quotes if that is unambiguous.
fn key_as_yaml(key: &Scalar) -> String {
    match key {
        Scalar::Str(text) if is_plain(&text.to_str()) => text.to_string(),
        other => scalar_as_yaml(other),
    }
}

fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let goes_on = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
    starts && goes_on && matches!(ytterby_yaml::resolve(text.as_bytes()), Scalar::Str(_))
}

/// A scalar as YAML. Strings have double quotes.
fn scalar_as_yaml(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "null".to_owned(),
        Scalar::Str(text) => in_quotes(&text.to_str(), |c| format!("\\U{:08x}", c as u32)),
        Scalar::Float(float) if float.is_nan() => ".nan".to_owned(),
        Scalar::Float(float) if float.is_infinite() => if *float > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        Scalar::Float(float) => float_text(*float),
        other => key_text(other).into_owned(),
    }
}

/// A finite float; an integral one keeps its point, so that it is not read as an integer.
fn float_text(float: f64) -> String {
    if float.fract() == 0.0 && float.abs() < 1e15 {
        return format!("{float:.1}");
    }
    ytterby_text::gofloat::format_g(float)
}

/// A value as a Starlark expression with double quotes; `None` if Starlark has no literal for it.
pub(super) fn literal(value: &Node) -> Option<String> {
    crate::deep(|| {
        Some(match value {
            Node::Scalar(Scalar::Null) => "None".to_owned(),
            Node::Scalar(Scalar::Bool(true)) => "True".to_owned(),
            Node::Scalar(Scalar::Bool(false)) => "False".to_owned(),
            Node::Scalar(Scalar::Str(text)) => quoted(text.as_str()?),
            Node::Scalar(Scalar::Float(float)) if !float.is_finite() => return None,
            Node::Scalar(Scalar::Float(float)) => float_text(*float),
            Node::Scalar(number) => key_text(number).into_owned(),
            Node::Array(array) => {
                let items: Option<Vec<String>> = array.items.iter().map(|item| literal(&item.value)).collect();
                format!("[{}]", items?.join(", "))
            }
            Node::Map(map) => {
                let pair = |item: &MapItem| {
                    Some(format!("{}: {}", literal(&Node::Scalar(item.key.clone()))?, literal(&item.value)?))
                };
                let items: Option<Vec<String>> = map.iter().map(pair).collect();
                format!("{{{}}}", items?.join(", "))
            }
        })
    })
}

/// A text as a Starlark literal on one line.
pub(super) fn quoted(text: &str) -> String {
    // Starlark strings are bytes, so any character can be written as its bytes.
    in_quotes(text, |c| c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect())
}

/// A text in double quotes; `escape` writes line breaks and characters that YAML does not allow.
fn in_quotes(text: &str, escape: impl Fn(char) -> String) -> String {
    let is_unfit =
        |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    quote::literal('"', text, |c| is_unfit(c).then(|| escape(c)))
}
