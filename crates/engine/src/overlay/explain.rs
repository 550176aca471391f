//! Says more about an overlay that does not match than the reference's text does: what was looked for, what is there,
//! what comes nearest, and which annotation would allow it. Shown by the rich and the machine-readable renderings.

use ytterby_diag::{Diagnostic, Kind as Sort, Message, Note, Pos, Severity};
use ytterby_text::spelling;

use super::Purpose;
use super::compare::is_leaf;
use super::index::{Leaf, at_path};
use super::left::{Kind, Left};
use super::matcher::{Matcher, Place};
use super::search::{By, Found, Rule};
use crate::api::Failure;
use crate::node::{Annotated, Node, Scalar, key_text, scalar_to_value};
use crate::run::Run;

/// How many items of the left side are listed.
const LISTED: usize = 8;

/// The failure of an item that matches fewer or more items than expected.
pub(super) fn unmet<L: Left>(
    run: &Run,
    purpose: Purpose,
    left: &L,
    right: &L::Item,
    rule: &Rule<'_>,
    found: &Found,
    text: String,
) -> Failure {
    let what = match L::KIND {
        Kind::Document => "documents",
        Kind::MapItem => "map items",
        Kind::ArrayItem => "array items",
    };
    let key = match &rule.by {
        By::Key => left.key_of(right).map(|key| key_text(key).into_owned()),
        _ => None,
    };
    let wanted = match &rule.by {
        By::Matcher(matcher) => matcher.wanted(right.value()),
        _ => Vec::new(),
    };
    let looked_for = match (&rule.by, &key) {
        (By::Key, Some(key)) => format!("map item with key \"{key}\""),
        (By::Matcher(Matcher::All), _) => format!("all {what}"),
        (By::Matcher(Matcher::Index(number)), _) => format!("{what} number {number}"),
        (By::Matcher(_), _) if !wanted.is_empty() => format!("{what} with {}", join(wanted.iter().map(leaf_text))),
        (By::Function(function), _) => format!("{what} accepted by {}", function.repr()),
        _ => what.to_owned(),
    };
    let looked_for = run.hide(looked_for);
    let there = there(run, left, &wanted);
    let mut hints = Vec::new();
    let mut nearest_text = None;
    if found.count() == 0 {
        if let Some(near) = key.as_deref().and_then(|key| nearest_key(left, key)) {
            hints.push(run.hide(format!("did you mean \"{near}\"?")));
        }
        nearest_text = nearest_item(run, left, &wanted);
        hints.extend(remedy::<L>(purpose).map(str::to_owned));
    } else {
        hints.push("to change all of them, annotate it with @overlay/match and expects=\"1+\"".to_owned());
    }

    let mut message = Message::new(&*text);
    if right.pos().is_known() {
        message.note(Note::Excerpt(right.pos()));
    }
    let mut lines = vec![format!("    = looked for: {looked_for}"), format!("    = found: {there}")];
    lines.extend(nearest_text.iter().map(|nearest| format!("    = nearest: {nearest}")));
    lines.extend(hints.iter().map(|hint| format!("    = hint: {hint}")));
    message.note(Note::Text(lines.join("\n")));

    let sort =
        if purpose == Purpose::Values && key.is_some() && found.count() == 0 { Sort::UnknownKey } else { Sort::Other };
    hints.extend(nearest_text.map(|nearest| format!("nearest: {nearest}")));
    let diagnostic = Diagnostic {
        expected: Some(looked_for),
        found: Some(there),
        from: known(right.pos()),
        by: right.annotation(crate::annotation::Ann::OverlayMatch).and_then(|annotation| known(annotation.pos)),
        hints,
        ..Diagnostic::new(Severity::Error, sort, text)
    };
    Failure { message, diagnostics: vec![diagnostic] }
}

/// A failure inside of an item, told from outside: `prefix` says where. The first place that a failure passes is the
/// one that it is about; what came from code may hold secrets.
pub(super) fn inside(run: &Run, mut failure: Failure, prefix: &str, pos: Pos) -> Failure {
    if failure.diagnostics.is_empty() {
        if run.has_secrets() {
            failure.message = Message::new(run.hide(failure.message.text().to_owned()));
        }
        let first_line = failure.message.text().lines().next().unwrap_or_default();
        let diagnostic = Diagnostic { from: known(pos), ..Diagnostic::new(Severity::Error, Sort::Other, first_line) };
        failure.diagnostics.push(diagnostic);
        if pos.is_known() {
            failure.message.note(Note::Excerpt(pos));
        }
    } else if pos.is_known() {
        failure.place_at(pos);
    }
    failure.prefixed(prefix)
}

/// The same with a step of the path to the node that the failure is about: `key` or `[number]`.
pub(super) fn inside_step(run: &Run, failure: Failure, prefix: &str, pos: Pos, step: &str) -> Failure {
    let mut failure = inside(run, failure, prefix, pos);
    for diagnostic in &mut failure.diagnostics {
        let (path, message) = match &diagnostic.path {
            None => (step.to_owned(), format!("{step}: {}", diagnostic.message)),
            Some(path) => {
                let dot = if path.starts_with('[') { "" } else { "." };
                (format!("{step}{dot}{path}"), format!("{step}{dot}{}", diagnostic.message))
            }
        };
        diagnostic.path = Some(path);
        diagnostic.message = message;
    }
    failure
}

fn known(pos: Pos) -> Option<Pos> {
    pos.is_known().then_some(pos)
}

fn join(pieces: impl Iterator<Item = String>) -> String {
    pieces.collect::<Vec<_>>().join(", ")
}

fn scalar_text(scalar: &Scalar) -> String {
    scalar_to_value(scalar).repr().to_str().into_owned()
}

fn path_text(path: &[Scalar]) -> String {
    path.iter().map(|key| key_text(key)).collect::<Vec<_>>().join(".")
}

fn leaf_text(leaf: &Leaf) -> String {
    match leaf.path.is_empty() {
        true => scalar_text(&leaf.scalar),
        false => format!("{}: {}", path_text(&leaf.path), scalar_text(&leaf.scalar)),
    }
}

/// What is on the left: keys, or what stands where the matcher looks.
fn there<L: Left>(run: &Run, left: &L, wanted: &[Leaf]) -> String {
    let slots = || std::iter::successors(left.first(), |&slot| left.after(slot));
    let mut listed: Vec<String> = Vec::new();
    for slot in slots().take(LISTED) {
        let item = left.get(slot);
        let place = run.locate(item.pos());
        let name = match left.place(slot, 0) {
            Place::Key(key) => key_text(key).into_owned(),
            Place::Number(_) => {
                let there = wanted.iter().filter_map(|leaf| {
                    let value = at_path(item.value(), &leaf.path)?;
                    Some(format!("{}: {}", path_text(&leaf.path), short(value)))
                });
                join(there)
            }
        };
        let name = run.hide(name);
        listed.push(if name.is_empty() { place } else { format!("{name} ({place})") });
    }
    let more = slots().skip(LISTED).count();
    match (listed.is_empty(), more) {
        (true, _) => "nothing".to_owned(),
        (false, 0) => listed.join(", "),
        (false, more) => format!("{} and {more} more", listed.join(", ")),
    }
}

fn short(node: &Node) -> String {
    match node {
        Node::Scalar(scalar) => scalar_text(scalar),
        other => format!("a {}", other.type_name()),
    }
}

fn nearest_key<L: Left>(left: &L, key: &str) -> Option<String> {
    let slots = std::iter::successors(left.first(), |&slot| left.after(slot));
    let keys: Vec<String> = slots
        .filter_map(|slot| match left.place(slot, 0) {
            Place::Key(key) => Some(key_text(key).into_owned()),
            Place::Number(_) => None,
        })
        .collect();
    spelling::closest(key, keys.iter().map(String::as_str), spelling::tolerance_of_short(key)).map(str::to_owned)
}

/// The item with the most of what was wanted, and what it has instead.
fn nearest_item<L: Left>(run: &Run, left: &L, wanted: &[Leaf]) -> Option<String> {
    let fits = |value: &Node, leaf: &Leaf| at_path(value, &leaf.path).is_some_and(|found| is_leaf(found, &leaf.scalar));
    let closeness = |value: &Node| {
        let fitting = wanted.iter().filter(|leaf| fits(value, leaf)).count();
        let spelling = wanted.iter().find(|leaf| !fits(value, leaf)).map_or(0, |leaf| {
            match (at_path(value, &leaf.path), &leaf.scalar) {
                (Some(Node::Scalar(Scalar::Str(there))), Scalar::Str(wanted))
                    if spelling::is_comparable(&there.to_str(), &wanted.to_str()) =>
                {
                    spelling::distance(&there.to_str(), &wanted.to_str()).unwrap_or(usize::MAX)
                }
                _ => usize::MAX,
            }
        });
        (fitting, std::cmp::Reverse(spelling))
    };
    // Of equally near ones the first.
    let mut best = None;
    for (slot, value) in left.values() {
        let close = closeness(value);
        let is_near = close.0 > 0 || close.1.0 <= wanted.first().map_or(0, |leaf| tolerance(&leaf.scalar));
        if is_near && best.as_ref().is_none_or(|(best, _, _)| close > *best) {
            best = Some((close, slot, value));
        }
    }
    let (_, slot, value) = best?;
    let other = wanted.iter().find(|leaf| !fits(value, leaf))?;
    let place = run.locate(left.get(slot).pos());
    let path = path_text(&other.path);
    Some(match at_path(value, &other.path) {
        Some(there) => format!("{place}, where {}", run.hide(format!("{path} is {}", short(there)))),
        None => format!("{place}, which has no {path}"),
    })
}

fn tolerance(scalar: &Scalar) -> usize {
    match scalar {
        Scalar::Str(text) => spelling::tolerance_of_short(&text.to_str()),
        _ => 0,
    }
}

/// What to write where nothing matches and that is fine.
fn remedy<L: Left>(purpose: Purpose) -> Option<&'static str> {
    Some(match (L::KIND, purpose) {
        (Kind::MapItem, Purpose::Values) => return None,
        (Kind::MapItem, _) => "to add it where it is missing, annotate it with @overlay/match missing_ok=True",
        (Kind::ArrayItem, _) => "to append it where nothing matches, add missing_ok=True to @overlay/match",
        (Kind::Document, _) => {
            "to go on where nothing matches, add missing_ok=True or expects=\"0+\" to @overlay/match"
        }
    })
}
