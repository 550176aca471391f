//! Compares documents with an expectation.
//!
//! An expectation selects documents by some of their fields, and then requires a count, values at
//! paths, or their absence. Each difference is one failure with its position in the test file.

use similar::TextDiff;
use ytterby_diag::{Id, Label, Part, Path, Role, Step};
use ytterby_project::{Data, DataScalar, Expectation, Expected, Placed, PlacedData};
use ytterby_text::gojson::{self, Html};

use super::{TestFailure, remedy};
use crate::build::counted;

/// The differences between the documents and the expectation.
pub fn check(expectation: &Expectation, documents: &[&PlacedData]) -> Vec<TestFailure> {
    let is_meant = |document: &&&PlacedData| expectation.document.iter().all(|wanted| has(document, wanted));
    let meant: Vec<&PlacedData> = documents.iter().filter(is_meant).copied().collect();
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
    documents: &[&PlacedData],
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
    let shown = if meant.is_empty() { documents } else { meant };
    let mut names: Vec<String> = shown.iter().take(MAX).map(|document| name_of(document, documents)).collect();
    if shown.len() > MAX {
        names.push(format!("and {} more", shown.len() - MAX));
    }
    let help = remedy::of_count(expectation, meant.len(), documents);
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

/// Whether a node has everything that another one has: keys of maps, items of lists in any order, equal leaves.
pub fn contains(node: &PlacedData, wanted: &PlacedData) -> bool {
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
fn name_of(document: &PlacedData, documents: &[&PlacedData]) -> String {
    let text = |steps: &[&str]| {
        let steps: Vec<Step> = steps.iter().map(|key| Step::Key((*key).to_owned())).collect();
        match lookup(document, &steps).map(|node| &node.value) {
            Some(Data::Scalar(DataScalar::Text(text))) => Some(text.clone()),
            _ => None,
        }
    };
    match (text(&["kind"]), text(&["metadata", "name"])) {
        (Some(kind), Some(name)) => format!("{kind}/{name}"),
        (Some(kind), None) => kind,
        _ => {
            let number = documents.iter().position(|other| std::ptr::eq(*other, document)).unwrap_or_default();
            format!("document {}", number + 1)
        }
    }
}

/// Example: `3 (an integer)`, so that `3` and `"3"` look different.
fn typed(value: &PlacedData) -> String {
    format!("{} ({})", inline(value), value.value.kind())
}

/// A value in one line, as JSON.
pub fn inline(value: &PlacedData) -> String {
    match &value.value {
        Data::Scalar(DataScalar::Text(text)) => quoted(text),
        Data::Scalar(scalar) => scalar_text(scalar),
        Data::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Data::Map(items) => {
            let items = items.iter().map(|(key, value)| format!("{}: {}", scalar_text(key), inline(value)));
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
    let diff = TextDiff::from_lines(&old, &new);
    format!("--- expected\n+++ found\n{}", diff.unified_diff().context_radius(3))
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
        _ => out.push_str(&format!("{indent}{}\n", inline(value))),
    }
}

fn write_item(out: &mut String, indent: &str, head: &str, item: &PlacedData) {
    match &item.value {
        Data::List(items) if items.is_empty() => out.push_str(&format!("{indent}{head} []\n")),
        Data::Map(items) if items.is_empty() => out.push_str(&format!("{indent}{head} {{}}\n")),
        Data::Scalar(_) => out.push_str(&format!("{indent}{head} {}\n", inline(item))),
        _ => {
            out.push_str(&format!("{indent}{head}\n"));
            write_block(out, item, &format!("{indent}  "));
        }
    }
}
