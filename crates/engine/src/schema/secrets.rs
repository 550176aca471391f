//! `@schema/secret`: values that are never shown.

use std::collections::BTreeSet;

use ytterby_diag::Pos;

use super::report::source_text;
use super::{MapType, Slot, Type};
use crate::node::{Node, Scalar, scalar_to_value};
use crate::run::Run;

/// What stands in place of a secret.
pub(crate) const REDACTED: &str = "<redacted>";

/// The texts of all secrets of a run's data values, longest first.
#[derive(Clone, Default, Debug)]
pub(crate) struct Secrets {
    texts: Vec<String>,
}

impl Secrets {
    /// The scalars of `node` that `slot` declares secret.
    pub fn of(node: &Node, slot: &Slot) -> Secrets {
        let mut found = BTreeSet::new();
        collect(node, slot, false, &mut found);
        Secrets::from_texts(found)
    }

    fn from_texts(found: BTreeSet<String>) -> Secrets {
        let mut texts: Vec<String> = found.into_iter().collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Secrets { texts }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// A text with whole-word occurrences of secrets replaced.
    pub fn hide(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| replace_words(&text, secret))
    }
}

fn collect(node: &Node, slot: &Slot, secret: bool, found: &mut BTreeSet<String>) {
    let secret = secret || slot.secret;
    match node {
        Node::Scalar(scalar) if secret => add(scalar, found),
        Node::Scalar(_) => {}
        Node::Map(map) => {
            let ty = slot.as_map();
            for item in map.iter() {
                match ty.and_then(|ty| declared(ty, &item.key)) {
                    Some(slot) => crate::deep(|| collect(&item.value, slot, secret, found)),
                    None if secret => all(&item.value, found),
                    None => {}
                }
            }
        }
        Node::Array(array) => {
            for item in &array.items {
                match slot.as_array() {
                    Some(ty) => crate::deep(|| collect(&item.value, &ty.item, secret, found)),
                    None if secret => all(&item.value, found),
                    None => {}
                }
            }
        }
    }
}

/// The slot of a key without asking functions: a free key counts as secret if any pattern is.
fn declared<'a>(ty: &'a MapType, key: &Scalar) -> Option<&'a Slot> {
    let literal = ty.literal(key);
    literal
        .or_else(|| ty.patterns.iter().find(|item| item.slot.secret))
        .or_else(|| ty.patterns.first())
        .map(|i| &i.slot)
}

fn all(node: &Node, found: &mut BTreeSet<String>) {
    match node {
        Node::Scalar(scalar) => add(scalar, found),
        Node::Map(map) => map.iter().for_each(|item| crate::deep(|| all(&item.value, found))),
        Node::Array(array) => array.items.iter().for_each(|item| crate::deep(|| all(&item.value, found))),
    }
}

fn add(scalar: &Scalar, found: &mut BTreeSet<String>) {
    if scalar.is_null() {
        return;
    }
    let value = scalar_to_value(scalar);
    let (text, repr) = (value.to_text().to_string(), value.repr().to_string());
    found.extend([text, repr].into_iter().filter(|text| !text.is_empty() && text != "\"\""));
}

fn replace_words(text: &str, secret: &str) -> String {
    if !text.contains(secret) {
        return text.to_owned();
    }
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (starts, ends) = (is_word(secret.chars().next()), is_word(secret.chars().next_back()));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(secret) {
        let before = out.chars().next_back().filter(|_| at == 0).or_else(|| rest[..at].chars().next_back());
        let after = rest[at + secret.len()..].chars().next();
        let whole = !(starts && is_word(before) || ends && is_word(after));
        out.push_str(&rest[..at]);
        out.push_str(if whole { REDACTED } else { secret });
        rest = &rest[at + secret.len()..];
    }
    out.push_str(rest);
    out
}

/// A value as it may be shown: secrets replaced.
pub(crate) fn redact(node: &Node, slot: &Slot) -> Node {
    if slot.secret {
        return hidden(node);
    }
    match (node, &slot.ty) {
        (Node::Map(map), ty) if ty.as_map().is_some() => {
            let ty = ty.as_map().expect("just seen");
            let mut result = (**map).clone();
            for item in result.iter_mut() {
                if let Some(slot) = declared(ty, &item.key) {
                    item.value = crate::deep(|| redact(&item.value, slot));
                }
            }
            Node::map(result)
        }
        (Node::Array(array), ty) if ty.as_array().is_some() => {
            let ty = ty.as_array().expect("just seen");
            let mut result = (**array).clone();
            for item in &mut result.items {
                item.value = crate::deep(|| redact(&item.value, &ty.item));
            }
            Node::array(result)
        }
        (_, Type::Shapes(shapes)) => {
            shapes.slots.iter().fold(node.clone(), |node, slot| crate::deep(|| redact(&node, slot)))
        }
        _ => node.clone(),
    }
}

fn hidden(node: &Node) -> Node {
    match node {
        Node::Scalar(_) => Node::str(REDACTED),
        Node::Map(map) => {
            let mut result = (**map).clone();
            result.iter_mut().for_each(|item| item.value = crate::deep(|| hidden(&item.value)));
            Node::map(result)
        }
        Node::Array(array) => {
            let mut result = (**array).clone();
            result.items.iter_mut().for_each(|item| item.value = crate::deep(|| hidden(&item.value)));
            Node::array(result)
        }
    }
}

/// The source line of a secret node with its value replaced. In a block it is the rest of the line that goes, in flow
/// style what stands before the next `,` or bracket.
pub(super) fn redacted_line(run: &Run, pos: Pos, node: &Node) -> String {
    let line = source_text(run, pos);
    let Some(source) = run.sources.get(pos.file) else { return line };
    if source.name().starts_with('(') {
        return match line.split_once('=') {
            Some((key, _)) => format!("{key}={REDACTED}"),
            None => REDACTED.to_owned(),
        };
    }
    let column = source.line_column(pos.offset).1 as usize - 1;
    let Some((before, item)) = line.split_at_checked(column) else { return REDACTED.to_owned() };
    let key_end = match item.strip_prefix('-') {
        Some(_) => Some(1),
        None => item.find(": ").or_else(|| item.strip_suffix(':').map(str::len)).map(|at| at + 1),
    };
    let Some(key_end) = key_end else { return format!("{before}{REDACTED}") };
    let (key, value) = item.split_at(key_end);
    let text = match node {
        Node::Scalar(scalar) => scalar_to_value(scalar).to_text().to_string(),
        _ => String::new(),
    };
    let trimmed = value.trim_start();
    let gap = &value[..value.len() - trimmed.len()];
    let in_flow = before.contains(['{', '[']);
    if in_flow {
        let quoted = ["", "'", "\""].iter().find_map(|q| trimmed.strip_prefix(&format!("{q}{text}{q}")));
        let rest = quoted.unwrap_or_else(|| &trimmed[trimmed.find([',', '}', ']']).unwrap_or(trimmed.len())..]);
        return format!("{before}{key}{gap}{REDACTED}{rest}");
    }
    format!("{before}{key}{}{REDACTED}", if gap.is_empty() { " " } else { gap })
}
