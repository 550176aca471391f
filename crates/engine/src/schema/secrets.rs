//! `@schema/secret`: values that are never shown.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use ytterby_diag::{FileId, Pos, Source};
use ytterby_text::spelling;
use ytterby_yaml::{NodeId, ReadOptions, Style, Tree, View};

use super::report::{Block, Shown, source_text};
use super::{MapType, Slot, Type};
use crate::annotation::Ann;
use crate::node::{Annotated, Document, Node, Scalar, key_text, scalar_to_value};
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

    /// The length of the longest one.
    pub fn longest(&self) -> usize {
        self.texts.first().map_or(0, |(Reverse(length), _)| *length)
    }

    /// A text with whole-word occurrences of secrets replaced.
    pub fn hide(&self, text: &str) -> String {
        self.hide_in(text, 0..text.len())
    }

    /// Part of a text with whole-word occurrences of secrets replaced, also of those that are only partly in it.
    pub fn hide_in(&self, text: &str, part: Range<usize>) -> String {
        let Some(finder) = self.finder() else { return text[part].to_owned() };
        let mut out = String::with_capacity(part.len());
        let (mut copied, mut from) = (part.start, 0);
        while let Some(found) = finder.find(Input::new(text).range(from..)) {
            let start = found.start();
            // Where the longest secret is part of a longer word, a shorter one may still be a word.
            let whole = is_word(text, start, found.end()).then_some(found.end()).or_else(|| {
                let ends = self.texts.iter().filter(|(_, secret)| text[start..].starts_with(secret.as_str()));
                ends.map(|(_, secret)| start + secret.len()).find(|end| is_word(text, start, *end))
            });
            from = match whole {
                Some(end) => {
                    if end > part.start && start < part.end {
                        out.push_str(&text[copied..start.max(copied)]);
                        out.push_str(REDACTED);
                        copied = end.min(part.end);
                    }
                    end
                }
                None => start + text[start..].chars().next().map_or(1, char::len_utf8),
            };
        }
        out.push_str(&text[copied..part.end]);
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
    if let Type::Shapes(shapes) = &slot.ty {
        shapes.slots.iter().for_each(|shape| crate::deep(|| collect(node, shape, secret, found)));
    }
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

/// Whether something in a place is secret.
fn holds_secret(slot: &Slot) -> bool {
    fn inside(ty: &Type) -> bool {
        match ty {
            Type::Any | Type::Scalar(_) => false,
            Type::Map(map) => map.all_items().any(|item| crate::deep(|| holds_secret(&item.slot))),
            Type::Array(array) => crate::deep(|| holds_secret(&array.item)),
            Type::Union(union) => union.members.iter().any(inside),
            Type::Shapes(shapes) => shapes.slots.iter().any(|shape| crate::deep(|| holds_secret(shape))),
        }
    }
    slot.secret || inside(&slot.ty)
}

/// Whether a map stands where a map may be, an array where an array may be.
fn is_of_kind(node: &Node, slot: &Slot) -> bool {
    match (node, &slot.ty) {
        (Node::Scalar(_), _) | (_, Type::Any) => true,
        (_, Type::Shapes(shapes)) => shapes.slots.iter().any(|shape| is_of_kind(node, shape)),
        (Node::Map(_), _) => slot.as_map().is_some(),
        (Node::Array(_), _) => slot.as_array().is_some(),
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
    redact_beside(node, slot, Unknown::Shown)
}

/// The same for a value that need not fit: what is not declared is replaced, too, for it may be a secret under a
/// misspelt key.
pub(crate) fn redact_misfit(node: &Node, slot: &Slot) -> Node {
    redact_beside(node, slot, Unknown::Hidden)
}

/// What becomes of items that are not declared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Shown,
    Hidden,
}

fn redact_beside(node: &Node, slot: &Slot, unknown: Unknown) -> Node {
    if slot.secret {
        return hidden(node);
    }
    match (node, &slot.ty) {
        (Node::Map(map), ty) if ty.as_map().is_some() => {
            let ty = ty.as_map().expect("just seen");
            let mut result = (**map).clone();
            for item in result.iter_mut() {
                match declared(ty, &item.key) {
                    Some(slot) => item.value = crate::deep(|| redact_beside(&item.value, slot, unknown)),
                    None if unknown == Unknown::Hidden => item.value = hidden(&item.value),
                    None => {}
                }
            }
            Node::map(result)
        }
        (Node::Array(array), ty) if ty.as_array().is_some() => {
            let ty = ty.as_array().expect("just seen");
            let mut result = (**array).clone();
            for item in &mut result.items {
                item.value = crate::deep(|| redact_beside(&item.value, &ty.item, unknown));
            }
            Node::array(result)
        }
        // What one shape does not declare another may.
        (_, Type::Shapes(shapes)) => {
            let shown = shapes.slots.iter().fold(node.clone(), |node, slot| crate::deep(|| redact(&node, slot)));
            let holds_secret = unknown == Unknown::Hidden && shapes.slots.iter().any(holds_secret);
            if holds_secret { without_undeclared(shown, &shapes.slots.iter().collect::<Vec<_>>()) } else { shown }
        }
        _ if unknown == Unknown::Hidden && !is_of_kind(node, slot) && holds_secret(slot) => hidden(node),
        _ => node.clone(),
    }
}

/// A value without what none of these declares.
fn without_undeclared(node: Node, slots: &[&Slot]) -> Node {
    let below = |value: &Node, inner: Vec<&Slot>| match inner.as_slice() {
        [] => hidden(value),
        inner => crate::deep(|| without_undeclared(value.clone(), inner)),
    };
    match &node {
        Node::Scalar(_) => node,
        Node::Map(map) => {
            let mut result = (**map).clone();
            for item in result.iter_mut() {
                let inner = slots.iter().filter_map(|slot| declared(slot.ty.as_map()?, &item.key)).collect();
                item.value = below(&item.value, inner);
            }
            Node::map(result)
        }
        Node::Array(array) => {
            let mut result = (**array).clone();
            for item in &mut result.items {
                let inner = slots.iter().filter_map(|slot| Some(&slot.ty.as_array()?.item)).collect();
                item.value = below(&item.value, inner);
            }
            Node::array(result)
        }
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

/// The places in sources where secrets stand.
#[derive(Default, Debug)]
pub(crate) struct SecretPlaces {
    /// The items that hold a secret scalar.
    items: HashSet<Pos>,
    /// The items with such items somewhere below them. Those below can stand in a source of their own, as in
    /// `--data-value-yaml`.
    holders: HashSet<Pos>,
    /// The spans of the sources that were asked for.
    spans: RefCell<HashMap<FileId, Spans>>,
    /// Of maps in which undeclared keys were met, the items that hold secrets, by their places in the type.
    secret_items: HashMap<*const MapType, Rc<[usize]>>,
    /// How many names undeclared keys were compared with.
    compared: usize,
}

/// So many names are compared; beyond that, what is not declared counts as a secret.
const COMPARISONS: usize = 200_000;

/// What is hidden in a source, in its order. No two overlap.
type Spans = Rc<[(u32, u32)]>;

impl SecretPlaces {
    /// Those of the scalars in `node` that `slot` declares secret.
    pub fn of(node: &Node, slot: &Slot) -> SecretPlaces {
        let mut places = SecretPlaces::default();
        places.add(node, slot, false);
        places
    }

    /// Tells whether there are any.
    fn add(&mut self, node: &Node, slot: &Slot, secret: bool) -> bool {
        // A map where an array is wanted, or the other way round, may hold anything.
        let secret = secret || slot.secret || !is_of_kind(node, slot) && holds_secret(slot);
        let mut found = false;
        if let Type::Shapes(shapes) = &slot.ty {
            let fitting = shapes.slots.iter().filter(|shape| is_of_kind(node, shape));
            fitting.for_each(|shape| found |= crate::deep(|| self.add(node, shape, secret)));
        }
        match node {
            Node::Scalar(_) => {}
            Node::Map(map) => {
                let ty = slot.as_map();
                for item in map.iter() {
                    let slot = ty.and_then(|ty| declared(ty, &item.key).or_else(|| self.meant(ty, &item.key)));
                    found |= self.item(item.pos, &item.value, slot, secret);
                }
            }
            Node::Array(array) => {
                let slot = slot.as_array().map(|ty| &ty.item);
                array.items.iter().for_each(|item| found |= self.item(item.pos, &item.value, slot, secret));
            }
        }
        found
    }

    /// The item with secrets that a key which is not declared is similar to.
    fn meant<'t>(&mut self, ty: &'t Rc<MapType>, key: &Scalar) -> Option<&'t Slot> {
        let find =
            || ty.items.iter().enumerate().filter(|(_, item)| holds_secret(&item.slot)).map(|(at, _)| at).collect();
        let secret_items = self.secret_items.entry(Rc::as_ptr(ty)).or_insert_with(find).clone();
        let first = secret_items.first()?;
        self.compared += secret_items.len();
        if self.compared > COMPARISONS {
            return Some(&ty.items[*first].slot);
        }
        let key = key_text(key);
        let is_near = |at: &&usize| {
            let name = key_text(&ty.items[**at].key);
            let by_letters = spelling::closest(&key, [&*name], spelling::tolerance_of_short(&key));
            by_letters.is_some() || spelling::nearest(&key, [&*name]).is_some()
        };
        secret_items.iter().find(is_near).map(|at| &ty.items[*at].slot)
    }

    fn item(&mut self, pos: Pos, value: &Node, slot: Option<&Slot>, secret: bool) -> bool {
        if (secret || slot.is_some_and(|slot| slot.secret)) && matches!(value, Node::Scalar(_)) {
            self.items.insert(pos);
            return true;
        }
        let found = match slot {
            Some(slot) => crate::deep(|| self.add(value, slot, secret)),
            None if secret => crate::deep(|| self.add(value, &Slot::of(Type::Any, pos, Node::NULL), true)),
            None => false,
        };
        if found {
            self.holders.insert(pos);
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds those of the scalars in a schema document that are annotated as secrets.
    pub fn add_annotated(&mut self, doc: &Document) {
        self.annotated(doc, false);
    }

    fn annotated(&mut self, item: &dyn Annotated, secret: bool) {
        let secret = secret || item.has(Ann::SchemaSecret);
        match item.value() {
            Node::Scalar(_) if secret => self.add_place(item.pos()),
            Node::Scalar(_) => {}
            Node::Map(map) => map.iter().for_each(|item| crate::deep(|| self.annotated(item, secret))),
            Node::Array(array) => array.items.iter().for_each(|item| crate::deep(|| self.annotated(item, secret))),
        }
    }

    /// Adds an item that holds a secret.
    pub fn add_place(&mut self, pos: Pos) {
        if self.items.insert(pos) {
            self.spans.get_mut().remove(&pos.file);
        }
    }

    /// The line of a position with all secrets in it replaced; none where there are none.
    pub fn redacted_line(&self, run: &Run, pos: Pos) -> Option<String> {
        let source = run.sources.get(pos.file)?;
        if source.name().starts_with('(') {
            // A flag: its value is the secret, or holds it.
            let text = source_text(run, pos);
            return (self.items.contains(&pos) || self.holders.contains(&pos)).then(|| match text.split_once('=') {
                Some((key, _)) => format!("{key}={REDACTED}"),
                None => REDACTED.to_owned(),
            });
        }
        let window = if run.options.cut_lines { source.window(pos.offset)? } else { whole_line(&source, pos)? };
        let line = String::from_utf8_lossy(&source.text()[window.clone()]);
        let (start, end) = (window.start as u32, window.end as u32);
        let ends_line = source.text().get(window.end).is_none_or(|byte| *byte == b'\n');
        let spans = self.spans(&source, pos.file);
        let first = spans.partition_point(|(_, to)| *to <= start);
        let inside = spans[first..].iter().take_while(|(from, _)| *from < end || *from == end && ends_line);
        let mut inside = inside.map(|(from, to)| (from.max(&start) - start, to.min(&end) - start)).peekable();
        if inside.peek().is_none() {
            return self.items.contains(&pos).then(|| REDACTED.to_owned());
        }
        let mut out = String::new();
        let mut at = 0;
        for (from, to) in inside {
            let (from, to) = (from as usize, to as usize);
            out.push_str(line.get(at..from).unwrap_or_default());
            if from == line.len() {
                // The value begins on a line below.
                out.push(' ');
            }
            out.push_str(REDACTED);
            at = to;
        }
        out.push_str(line.get(at..).unwrap_or_default());
        Some(if run.options.cut_lines { source.marked(&window, &out) } else { out })
    }

    /// What stands for secrets in a source: in flow style the value, in a block all that is behind the key, which may be
    /// code or have a comment.
    fn spans(&self, source: &Source, file: FileId) -> Spans {
        let mut known = self.spans.borrow_mut();
        known.entry(file).or_insert_with(|| self.find_spans(source, file)).clone()
    }

    fn find_spans(&self, source: &Source, file: FileId) -> Spans {
        let options = ReadOptions { strict: false, comments: true };
        let Ok(tree) = ytterby_yaml::parse(source.text(), file, &options) else { return Rc::default() };
        let mut found = Vec::new();
        let mut search = SpanSearch { places: self, tree: &tree, text: source.text(), spans: &mut found };
        tree.documents().iter().for_each(|doc| search.node(doc.value));
        found.sort_unstable();
        let mut spans: Vec<(u32, u32)> = Vec::with_capacity(found.len());
        for (from, to) in found {
            match spans.last_mut() {
                Some((_, end)) if from < *end => *end = to.max(*end),
                _ => spans.push((from, to)),
            }
        }
        spans.into()
    }
}

/// The line of a position, in bytes of its source.
fn whole_line(source: &Source, pos: Pos) -> Option<Range<usize>> {
    let number = source.line(pos.offset);
    let start = source.line_start(number)? as usize;
    let end = source.line_start(number + 1).map_or(source.text().len(), |next| next as usize - 1);
    Some(start..end)
}

struct SpanSearch<'a> {
    places: &'a SecretPlaces,
    tree: &'a Tree,
    text: &'a [u8],
    spans: &'a mut Vec<(u32, u32)>,
}

impl SpanSearch<'_> {
    fn node(&mut self, id: NodeId) {
        let in_flow = self.tree.style(id) == Style::Flow;
        match self.tree.value(id) {
            View::Scalar(_) => {}
            View::Map(items) => items.iter().for_each(|item| self.item(item.pos, item.value, in_flow)),
            View::Array(items) => items.iter().for_each(|item| self.item(item.pos, item.value, in_flow)),
        }
    }

    fn item(&mut self, pos: Pos, value: NodeId, in_flow: bool) {
        if !self.places.items.contains(&pos) {
            return crate::deep(|| self.node(value));
        }
        let span = self.tree.span(value);
        if in_flow {
            self.spans.push((span.start, span.end));
            return;
        }
        let line_end = |from: u32| {
            let rest = self.text.get(from as usize..).unwrap_or_default();
            from + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()) as u32
        };
        let own_end = line_end(pos.offset);
        let start = if (pos.offset..own_end).contains(&span.start) && span.end > span.start {
            span.start
        } else {
            self.behind_key(pos.offset, own_end)
        };
        self.spans.push((start, line_end(span.end.max(start))));
    }

    /// Where the value of an item begins on its line, or what stands there instead of it.
    fn behind_key(&self, key: u32, end: u32) -> u32 {
        let line = self.text.get(key as usize..end as usize).unwrap_or_default();
        let colon = line.windows(2).position(|pair| pair == b": ").unwrap_or(line.len().saturating_sub(1));
        let behind = if line.starts_with(b"-") { 1 } else { colon + 1 };
        let blanks = line[behind.min(line.len())..].iter().take_while(|byte| **byte == b' ').count();
        key + (behind + blanks) as u32
    }
}

/// Hides secrets in the lines that blocks show.
pub(crate) fn hide_lines(run: &Run, blocks: &mut [Block], node: &Node, root: &Slot) {
    let places = SecretPlaces::of(node, root);
    if places.is_empty() {
        return;
    }
    for block in blocks {
        let shows_source =
            matches!(&block.shown, Shown::Source) || matches!(&block.shown, Shown::Line(line) if !line.is_empty());
        if shows_source && let Some(line) = places.redacted_line(run, block.pos) {
            block.shown = Shown::Line(line);
        }
    }
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
