//! Compares documents with an expectation.
//!
//! An expectation selects documents by some of their fields, and then requires a count, values at
//! paths, or their absence. Each difference is one failure with its position in the test file.

use std::collections::HashMap;
use std::fmt::Write;

use ytterby_diag::{Id, Label, Part, Path, Role, Step, unified_hunks};
use ytterby_project::{Data, DataScalar, Expectation, Expected, Placed, PlacedData};
use ytterby_text::budget;
use ytterby_text::gojson::{self, Html};

use super::{TestFailure, remedy};
use crate::build::counted;

/// Longer values are cut in messages.
const MAX_INLINE: usize = 1_000;

/// The length of a line of a difference.
const MAX_LINE: usize = 4 << 10;

/// The length of a difference.
const MAX_DIFF: usize = 64 << 10;

/// The documents of a test, which many expectations select by their values.
pub struct DocumentIndex<'a> {
    documents: Vec<&'a PlacedData>,
    /// The documents with a scalar at a path, by that scalar.
    by_value: HashMap<String, HashMap<String, Vec<usize>>>,
    numbers: HashMap<*const PlacedData, usize>,
}

impl<'a> DocumentIndex<'a> {
    /// Indexes documents other than null.
    pub fn new(documents: &'a [PlacedData]) -> DocumentIndex<'a> {
        let documents: Vec<&PlacedData> = documents.iter().filter(|document| !is_null(document)).collect();
        let numbers = documents.iter().enumerate().map(|(at, document)| (std::ptr::from_ref(*document), at)).collect();
        DocumentIndex { documents, by_value: HashMap::new(), numbers }
    }

    /// The documents that an expectation means.
    fn meant(&mut self, expectation: &Expectation) -> Vec<&'a PlacedData> {
        let mut fewest: Option<Vec<usize>> = None;
        for wanted in &expectation.document {
            let Some((path, value)) = index_key(wanted) else { continue };
            let values = self.by_value.entry(path);
            let values = values.or_insert_with(|| values_at(&self.documents, wanted.path.steps()));
            let found = values.get(&value).map_or(&[][..], Vec::as_slice);
            if fewest.as_ref().is_none_or(|known| found.len() < known.len()) {
                fewest = Some(found.to_vec());
            }
        }
        let is_meant = |document: &&PlacedData| expectation.document.iter().all(|wanted| has(document, wanted));
        match fewest {
            Some(few) => few.into_iter().map(|at| self.documents[at]).filter(is_meant).collect(),
            None => self.documents.iter().copied().filter(is_meant).collect(),
        }
    }
}

/// The numbers of documents by the scalar at a path.
fn values_at(documents: &[&PlacedData], steps: &[Step]) -> HashMap<String, Vec<usize>> {
    let mut values: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        if let Some(value) = lookup(document, steps).and_then(value_key) {
            values.entry(value).or_default().push(at);
        }
    }
    values
}

/// A path, and the key of the scalar that is wanted there.
fn index_key(wanted: &Expected) -> Option<(String, String)> {
    Some((format!("{:?}", wanted.path.steps()), value_key(&wanted.value)?))
}

/// A text that is equal for equal scalars. Numbers with fractions have none.
fn value_key(value: &PlacedData) -> Option<String> {
    match &value.value {
        Data::Scalar(DataScalar::Float(_)) | Data::List(_) | Data::Map(_) => None,
        Data::Scalar(scalar) => Some(format!("{scalar:?}")),
    }
}

/// The differences between the documents and the expectation.
pub fn check(expectation: &Expectation, index: &mut DocumentIndex<'_>) -> Vec<TestFailure> {
    let meant = index.meant(expectation);
    let documents = &*index;
    let looks_into =
        !(expectation.equals.is_empty() && expectation.contains.is_empty() && expectation.absent.is_empty());
    let count = expectation.count.as_ref().map(|count| count.value);
    let wanted = count.or((looks_into || expectation.has_selector).then_some(1));
    if let Some(wanted) = wanted
        && wanted != meant.len() as u64
    {
        return vec![other_count(expectation, wanted, &meant, documents)];
    }
    let mut found = Vec::new();
    for document in meant {
        let name = name_of(document, documents);
        found.extend(expectation.equals.iter().filter_map(|wanted| differs(document, wanted, &name)));
        found.extend(expectation.contains.iter().filter_map(|wanted| lacks(document, wanted, &name)));
        found.extend(expectation.absent.iter().filter_map(|path| exists(document, path, &name)));
    }
    found
}

/// Whether a document is null.
pub fn is_null(document: &PlacedData) -> bool {
    matches!(document.value, Data::Scalar(DataScalar::Null))
}

/// Whether a document has a node that contains the wanted one.
fn has(document: &PlacedData, wanted: &Expected) -> bool {
    lookup(document, wanted.path.steps()).is_some_and(|node| contains(node, &wanted.value))
}

fn other_count(
    expectation: &Expectation,
    wanted: u64,
    meant: &[&PlacedData],
    index: &DocumentIndex<'_>,
) -> TestFailure {
    const MAX: usize = 12;
    let selector: Vec<String> =
        expectation.document.iter().map(|wanted| format!("{}: {}", wanted.path, inline(&wanted.value))).collect();
    let plural = if wanted == 1 { "" } else { "s" };
    let what = match selector.is_empty() {
        true => format!("document{plural}"),
        false => format!("document{plural} with {}", selector.join(", ")),
    };
    let message = format!("expected {wanted} {what}, found {}", meant.len());
    let place = match &expectation.count {
        Some(count) => Placed::new((), count.pos),
        None => Placed::new((), expectation.document.first().map_or(expectation.pos, |wanted| wanted.value.pos)),
    };
    let shown = if meant.is_empty() { &index.documents[..] } else { meant };
    let mut names: Vec<String> = shown.iter().take(MAX).map(|document| name_of(document, index)).collect();
    if shown.len() > MAX {
        names.push(format!("and {} more", shown.len() - MAX));
    }
    let help = remedy::of_count(expectation, meant.len(), &index.documents);
    let diagnostic = place.problem(Id::TEST_COUNT, message, help);
    match names.is_empty() {
        true => diagnostic.note("there are no documents").into(),
        false => diagnostic.note(format!("documents: {}", names.join(", "))).into(),
    }
}

fn differs(document: &PlacedData, wanted: &Expected, name: &str) -> Option<TestFailure> {
    let Some(found) = lookup(document, wanted.path.steps()) else {
        return Some(absent(document, wanted, name, Id::TEST_EQUALS));
    };
    if equal(found, &wanted.value) {
        return None;
    }
    let (old, new) = (inline(&wanted.value), inline(found));
    let is_short = old.len() + new.len() < 120 && !is_collection(found) && !is_collection(&wanted.value);
    let message = match is_short {
        true => format!("{} of {name}: expected {}, found {}", wanted.path, typed(&wanted.value), typed(found)),
        false => format!("{} of {name} is not what is expected", wanted.path),
    };
    Some(TestFailure {
        diagnostic: at(wanted, Id::TEST_EQUALS, message, found, remedy::of_equals(wanted, found)),
        diff: if is_short { String::new() } else { diff(&wanted.value, found) },
    })
}

fn lacks(document: &PlacedData, wanted: &Expected, name: &str) -> Option<TestFailure> {
    let Some(found) = lookup(document, wanted.path.steps()) else {
        return Some(absent(document, wanted, name, Id::TEST_CONTAINS));
    };
    let is_inside = match (&found.value, &wanted.value.value) {
        // Text is compared by substring only at the top, not inside maps and lists.
        (Data::Scalar(DataScalar::Text(found)), Data::Scalar(DataScalar::Text(wanted))) => {
            found.contains(wanted.as_str())
        }
        (Data::List(items), Data::Scalar(_) | Data::Map(_)) => items.iter().any(|item| contains(item, &wanted.value)),
        _ => contains(found, &wanted.value),
    };
    if is_inside {
        return None;
    }
    let message = format!("{} of {name} does not contain {}", wanted.path, inline(&wanted.value));
    let help = remedy::of_contains(wanted, found);
    let diagnostic = at(wanted, Id::TEST_CONTAINS, message, found, help);
    Some(TestFailure { diagnostic, diff: diff(&wanted.value, found) })
}

fn exists(document: &PlacedData, path: &Placed<Path>, name: &str) -> Option<TestFailure> {
    let found = lookup(document, path.value.steps())?;
    let message = format!("{} of {name} exists, but is expected to be absent", path.value);
    let label = Label::new(Role::Related, found.pos, Part::Value).text("it comes from here");
    Some(path.problem(Id::TEST_ABSENT, message, Some(remedy::of_absent(&path.value))).label(label).into())
}

/// The problem of a node that does not exist.
fn absent(document: &PlacedData, wanted: &Expected, name: &str, id: Id) -> TestFailure {
    let message = format!("{} of {name} does not exist", wanted.path);
    let near = nearest(document, wanted.path.steps());
    wanted.value.problem(id, message, near).into()
}

fn at(wanted: &Expected, id: Id, message: String, found: &PlacedData, help: String) -> ytterby_diag::Diagnostic {
    let label = Label::new(Role::Related, found.pos, Part::Value).text("it comes from here");
    wanted.value.problem(id, message, Some(help)).label(label)
}

/// How far a path leads, and which keys exist there.
fn nearest(document: &PlacedData, steps: &[Step]) -> Option<String> {
    let mut end = steps.len();
    while end > 0 {
        end -= 1;
        let Some(node) = lookup(document, &steps[..end]) else { continue };
        let here: Path = steps[..end].iter().cloned().collect();
        return match &node.value {
            Data::Map(items) => {
                let keys: Vec<String> = items.iter().take(10).map(|(key, _)| scalar_text(key)).collect();
                Some(format!("keys of {} are {}", here.shown(), keys.join(", ")))
            }
            Data::List(items) => Some(list_hint(&here.shown(), items.len(), steps.get(end))),
            Data::Scalar(_) => Some(format!("{} is {}", here.shown(), node.value.kind())),
        };
    }
    None
}

/// Describes a list, and how to address its items if a key was given.
fn list_hint(list: &str, count: usize, step: Option<&Step>) -> String {
    let items = counted(count, "item");
    match step {
        Some(Step::Key(key)) if key.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{list} is a list of {items}: write {list}[{key}]")
        }
        Some(Step::Key(_)) => format!("{list} is a list of {items}: write {list}[0] for the first one"),
        _ => format!("{list} has {items}"),
    }
}

/// The node that a path leads to. A key that contains dots may be written without quotes.
pub fn lookup<'a>(node: &'a PlacedData, steps: &[Step]) -> Option<&'a PlacedData> {
    let Some((first, rest)) = steps.split_first() else { return Some(node) };
    charge(node, 1);
    match (first, &node.value) {
        (Step::Index(index), Data::List(items)) => lookup(items.get(*index)?, rest),
        (Step::Key(key), Data::Map(items)) => {
            let mut key = key.clone();
            let mut rest = rest;
            loop {
                let found = items.iter().find(|(name, _)| scalar_text(name) == key);
                if let Some(found) = found.and_then(|(_, value)| lookup(value, rest)) {
                    return Some(found);
                }
                let Some((Step::Key(next), behind)) = rest.split_first() else { return None };
                key = format!("{key}.{next}");
                rest = behind;
            }
        }
        _ => None,
    }
}

/// Whether nodes are the same. The order of keys does not count.
pub fn equal(a: &PlacedData, b: &PlacedData) -> bool {
    charge(a, length(b));
    match (&a.value, &b.value) {
        (Data::Scalar(a), Data::Scalar(b)) => same(a, b),
        (Data::List(a), Data::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Data::Map(a), Data::Map(b)) => {
            let find = |key: &DataScalar| b.iter().find(|(other, _)| same(key, other)).map(|(_, value)| value);
            a.len() == b.len() && a.iter().all(|(key, value)| find(key).is_some_and(|other| equal(value, other)))
        }
        _ => false,
    }
}

/// Whether a node has everything that another one has: keys of maps, items of lists in any order,
/// equal leaves.
pub fn contains(node: &PlacedData, wanted: &PlacedData) -> bool {
    charge(node, length(wanted));
    match (&node.value, &wanted.value) {
        (Data::Map(items), Data::Map(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| items.iter().any(|(other, value)| same(key, other) && contains(value, wanted))),
        (Data::List(items), Data::List(wanted)) => {
            wanted.iter().all(|wanted| items.iter().any(|item| contains(item, wanted)))
        }
        _ => equal(node, wanted),
    }
}

/// Charges a comparison of every item with `others` others.
fn charge(node: &PlacedData, others: usize) {
    budget::or_unwind(budget::work(1 + length(node).saturating_mul(others) / 8));
}

fn length(node: &PlacedData) -> usize {
    match &node.value {
        Data::Scalar(DataScalar::Text(text)) => text.len() / 32,
        Data::Scalar(_) => 0,
        Data::List(items) => items.len(),
        Data::Map(items) => items.len(),
    }
}

fn same(a: &DataScalar, b: &DataScalar) -> bool {
    match (a, b) {
        (DataScalar::Float(a), DataScalar::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

pub fn is_collection(value: &PlacedData) -> bool {
    !matches!(value.value, Data::Scalar(_))
}

/// `Deployment/web`, or the number of the document.
fn name_of(document: &PlacedData, index: &DocumentIndex<'_>) -> String {
    let text = |steps: &[&str]| {
        let steps: Vec<Step> = steps.iter().map(|key| Step::Key((*key).to_owned())).collect();
        match lookup(document, &steps).map(|node| &node.value) {
            Some(Data::Scalar(DataScalar::Text(text))) => Some(cut(text.clone(), MAX_INLINE)),
            _ => None,
        }
    };
    match (text(&["kind"]), text(&["metadata", "name"])) {
        (Some(kind), Some(name)) => format!("{kind}/{name}"),
        (Some(kind), None) => kind,
        _ => {
            let number = index.numbers.get(&std::ptr::from_ref(document)).copied().unwrap_or_default();
            format!("document {}", number + 1)
        }
    }
}

/// Example: `3 (an integer)`, so that `3` and `"3"` look different.
fn typed(value: &PlacedData) -> String {
    format!("{} ({})", inline(value), value.value.kind())
}

/// A value in one line, as JSON; long ones are cut.
pub fn inline(value: &PlacedData) -> String {
    cut(whole(value), MAX_INLINE)
}

/// The first `most` bytes of a text; `…` shows that it was cut.
pub fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A difference without its longest lines, and without the last ones of many.
pub fn cut_diff(diff: &str) -> String {
    let mut out = String::new();
    let mut lines = diff.lines();
    while let Some(line) = lines.next() {
        if out.len() + line.len().min(MAX_LINE) > MAX_DIFF {
            let _ = writeln!(out, "… {} more lines", 1 + lines.count());
            break;
        }
        match line.len() > MAX_LINE {
            true => out.push_str(&cut(line.to_owned(), MAX_LINE)),
            false => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn whole(value: &PlacedData) -> String {
    budget::or_unwind(budget::work(1 + length(value)));
    match &value.value {
        Data::Scalar(DataScalar::Text(text)) => quoted(text),
        Data::Scalar(scalar) => scalar_text(scalar),
        Data::List(items) => format!("[{}]", items.iter().map(whole).collect::<Vec<_>>().join(", ")),
        Data::Map(items) => {
            let items = items.iter().map(|(key, value)| format!("{}: {}", scalar_text(key), whole(value)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}

pub fn scalar_text(scalar: &DataScalar) -> String {
    match scalar {
        DataScalar::Null => "null".to_owned(),
        DataScalar::Bool(value) => value.to_string(),
        DataScalar::Int(value) => value.to_string(),
        DataScalar::UInt(value) => value.to_string(),
        DataScalar::Float(value) => value.to_string(),
        DataScalar::Text(text) => text.clone(),
    }
}

/// A line diff of two values.
fn diff(wanted: &PlacedData, found: &PlacedData) -> String {
    let (old, new) = (block(wanted), block(found));
    format!("--- expected\n+++ found\n{}", unified_hunks(&old, &new))
}

/// A value as indented lines.
fn block(value: &PlacedData) -> String {
    let mut out = String::new();
    write_block(&mut out, value, "");
    out
}

fn write_block(out: &mut String, value: &PlacedData, indent: &str) {
    match &value.value {
        Data::List(items) if !items.is_empty() => {
            for item in items {
                write_item(out, indent, "-", item);
            }
        }
        Data::Map(items) if !items.is_empty() => {
            for (key, item) in items {
                write_item(out, indent, &format!("{}:", scalar_text(key)), item);
            }
        }
        _ => out.push_str(&format!("{indent}{}\n", whole(value))),
    }
}

fn write_item(out: &mut String, indent: &str, head: &str, item: &PlacedData) {
    match &item.value {
        Data::List(items) if items.is_empty() => out.push_str(&format!("{indent}{head} []\n")),
        Data::Map(items) if items.is_empty() => out.push_str(&format!("{indent}{head} {{}}\n")),
        Data::Scalar(_) => out.push_str(&format!("{indent}{head} {}\n", whole(item))),
        _ => {
            out.push_str(&format!("{indent}{head}\n"));
            write_block(out, item, &format!("{indent}  "));
        }
    }
}
