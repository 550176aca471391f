//! `@schema/secret`: values that are never shown.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use ytterby_diag::Pos;

use super::report::source_text;
use super::{MapType, Slot, Type};
use crate::node::{Node, Scalar, scalar_to_value};
use crate::run::Run;

/// What stands in place of a secret.
pub(crate) const REDACTED: &str = "<redacted>";

/// The texts of all secrets of a run's data values.
#[derive(Default, Debug)]
pub(crate) struct Secrets {
    /// Longest first, with their lengths.
    texts: BTreeSet<(Reverse<usize>, String)>,
    /// Made when it is asked for; nothing where there are no secrets.
    finder: OnceCell<Option<AhoCorasick>>,
}

impl Secrets {
    /// Adds the scalars of `node` that `slot` declares secret.
    pub fn add(&mut self, node: &Node, slot: &Slot) {
        let mut found = BTreeSet::new();
        collect(node, slot, false, &mut found);
        self.texts.extend(found.into_iter().map(|text| (Reverse(text.len()), text)));
        self.finder.take();
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// A text with whole-word occurrences of secrets replaced.
    pub fn hide(&self, text: &str) -> String {
        let Some(finder) = self.finder() else { return text.to_owned() };
        let mut out = String::with_capacity(text.len());
        let (mut copied, mut from) = (0, 0);
        while let Some(found) = finder.find(Input::new(text).range(from..)) {
            let start = found.start();
            // Where the longest secret is part of a longer word, a shorter one may still be a word.
            let whole = is_word(text, start, found.end()).then_some(found.end()).or_else(|| {
                let ends = self.texts.iter().filter(|(_, secret)| text[start..].starts_with(secret.as_str()));
                ends.map(|(_, secret)| start + secret.len()).find(|end| is_word(text, start, *end))
            });
            from = match whole {
                Some(end) => {
                    out.push_str(&text[copied..start]);
                    out.push_str(REDACTED);
                    copied = end;
                    end
                }
                None => start + text[start..].chars().next().map_or(1, char::len_utf8),
            };
        }
        out.push_str(&text[copied..]);
        out
    }

    /// Finds the longest secret at the first place where there is one: one pass however many there are.
    fn finder(&self) -> Option<&AhoCorasick> {
        let build = || {
            let texts = self.texts.iter().map(|(_, text)| text);
            let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
            (!self.texts.is_empty()).then(|| finder.expect("the secrets fit into memory, and so does their index"))
        };
        self.finder.get_or_init(build).as_ref()
    }
}

/// Whether no letter or digit goes on at either end of a part of a text.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (before, part, after) = (&text[..start], &text[start..end], &text[end..]);
    let goes_on_before = is_letter(before.chars().next_back()) && is_letter(part.chars().next());
    let goes_on_after = is_letter(part.chars().next_back()) && is_letter(after.chars().next());
    !goes_on_before && !goes_on_after
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(secrets: &[&str], text: &str) -> String {
        let texts = secrets.iter().map(|secret| (Reverse(secret.len()), (*secret).to_owned())).collect();
        Secrets { texts, finder: OnceCell::new() }.hide(text)
    }

    #[test]
    fn whole_words_are_hidden() {
        for (secrets, text, shown) in [
            (&["hush"][..], "hush, not hushed: hush", "<redacted>, not hushed: <redacted>"),
            (&["hush", "\"hush\""], "it was \"hush\"", "it was <redacted>"),
            (&["a.b", "a"], "a.b axb a b.a", "<redacted> axb <redacted> b.<redacted>"),
            (&["ab", "ab-c"], "ab-cd ab-c", "<redacted>-cd <redacted>"),
            (&["-x-"], "a-x-b", "a<redacted>b"),
            (&["é"], "é ée", "<redacted> ée"),
            (&["aa"], "aaaa aa", "aaaa <redacted>"),
            (&[], "nothing", "nothing"),
        ] {
            assert_eq!(hide(secrets, text), shown, "{secrets:?}");
        }
    }
}
