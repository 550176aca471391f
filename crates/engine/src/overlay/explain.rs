//! Explains why an overlay does not match, in more detail than ytt's text: what was searched, which
//! items are most similar, and which annotation would allow it.

use ytterby_diag::{Diagnostic, Edit, Failure, Help, Id, Label, Part, Pos, Role, Safety, Step, Text};
use ytterby_text::spelling;

use super::Purpose;
use super::compare::is_leaf;
use super::index::{Leaf, at_path};
use super::left::{ItemKind, Left};
use super::matcher::{ItemKey, Matcher};
use super::search::{By, MatchRule, MatchingSlots};
use crate::annotation::{Ann, Annotation};
use crate::node::{Annotated, Node, Scalar, key_text, scalar_to_value};
use crate::run::Run;

/// Maximum number of items of the left side to list or label.
const LISTED: usize = 3;

/// The failure of an item that matches fewer or more items than expected.
pub(super) fn unmet<L: Left>(
    run: &Run,
    purpose: Purpose,
    left: &L,
    right: &L::Item,
    rule: &MatchRule<'_>,
    found: &MatchingSlots,
    text: Text,
) -> Failure {
    let key = match &rule.by {
        By::Key => left.key_of(right).map(|key| key_text(key).into_owned()),
        _ => None,
    };
    let wanted = match &rule.by {
        By::Matcher(matcher) => matcher.wanted(right.value()),
        _ => Vec::new(),
    };
    let looked_for = looked_for(L::KIND, rule, key.as_deref(), &wanted);
    let annotation = right.annotation(Ann::OverlayMatch);
    let is_unknown_key = purpose == Purpose::Values && key.is_some() && found.count() == 0;
    let id = match found.count() {
        _ if is_unknown_key => Id::SCHEMA_UNKNOWN_KEY,
        0 => Id::OVERLAY_NO_MATCH,
        _ => Id::OVERLAY_TOO_MANY,
    };
    let message = match found.count() {
        0 => Text::new("nothing matches: expected ").join(looked_for.clone()),
        count => Text::new(format!("{count} nodes match, which is not what is expected: ")).join(looked_for.clone()),
    };
    let message = if is_unknown_key { text.clone() } else { message };
    let mut problem = Diagnostic::error(id, message).reference(text).expected(looked_for);
    problem = match annotation {
        Some(annotation) if key.is_none() => {
            let part = if annotation.kwarg("by").is_some() { by_argument() } else { Part::Annotation };
            problem.at(annotation.pos, part)
        }
        _ => problem.at(right.pos(), Part::Key),
    };
    if let Some(annotation) =
        annotation.filter(|annotation| problem.problem_label().is_none_or(|at| at.pos != annotation.pos))
    {
        problem = problem.label(Label::new(Role::Rule, annotation.pos, Part::Annotation));
    }
    let (there, candidates) = candidates(left, found, key.as_deref(), &wanted);
    problem = problem.found(there);
    problem = candidates.into_iter().fold(problem, Diagnostic::label);
    if found.count() > 0 {
        return problem.help(allow_many(run, right, annotation, rule)).into();
    }
    if let Some(near) = key.as_deref().and_then(|key| nearest_key(left, key)) {
        let help = Help::new(Text::new("did you mean \"").value(near.clone()).then("\"?"));
        let edit = Edit::replace(right.pos(), Part::Key, near.clone());
        problem = problem.help(help.fixed_by(format!("Change the key to \"{near}\""), vec![edit], Safety::Likely));
    }
    if let Some(help) = allow_missing::<L>(run, purpose, right, annotation) {
        problem = problem.help(help);
    }
    problem.into()
}

/// Adds the context of an enclosing item to a failure. The position of the innermost item is kept.
pub(super) fn inside(mut failure: Failure, context: Text, pos: Pos) -> Failure {
    failure.place_at(pos, Part::Key);
    failure.doing(context)
}

/// The same with a step of the path to the node that the failure is about.
pub(super) fn inside_step(mut failure: Failure, context: Text, pos: Pos, step: Step) -> Failure {
    failure.add_step(step);
    inside(failure, context, pos)
}

fn by_argument() -> Part {
    Part::Argument(ytterby_diag::Argument::Named("by".to_owned()))
}

fn looked_for(kind: ItemKind, rule: &MatchRule<'_>, key: Option<&str>, wanted: &[Leaf]) -> Text {
    let what = match kind {
        ItemKind::Document => "documents",
        ItemKind::MapItem => "map items",
        ItemKind::ArrayItem => "array items",
    };
    match (&rule.by, key) {
        (By::Key, Some(key)) => Text::new("map item with key \"").value(key.to_owned()).then("\""),
        (By::Matcher(Matcher::All), _) => format!("all {what}").into(),
        (By::Matcher(Matcher::Index(number)), _) => format!("{what} number {number}").into(),
        (By::Matcher(_), _) if !wanted.is_empty() => {
            let mut text = Text::new(format!("{what} with "));
            for (at, leaf) in wanted.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                text = match leaf.path.is_empty() {
                    true => text.then(comma).value(scalar_text(&leaf.scalar)),
                    false => {
                        let path = format!("{comma}{}: ", path_text(&leaf.path));
                        text.then(path).value(scalar_text(&leaf.scalar))
                    }
                };
            }
            text
        }
        (By::Function(function), _) => format!("{what} accepted by {}", function.repr()).into(),
        _ => what.into(),
    }
}

fn scalar_text(scalar: &Scalar) -> String {
    scalar_to_value(scalar).repr().to_str().into_owned()
}

fn path_text(path: &[Scalar]) -> String {
    path.iter().map(|key| key_text(key)).collect::<Vec<_>>().join(".")
}

/// One item of the left side, and its similarity.
struct SimilarItem {
    pos: Pos,
    text: Text,
    /// The number of wanted parts that are present, then the distance in spelling.
    closeness: (usize, std::cmp::Reverse<usize>),
}

/// The items of the left side as a text and as labels, most similar first; if something matches,
/// only the matching ones.
fn candidates<L: Left>(left: &L, found: &MatchingSlots, key: Option<&str>, wanted: &[Leaf]) -> (Text, Vec<Label>) {
    let matches = found.count() > 0;
    let slots: Vec<usize> = match matches {
        true => found.iter().collect(),
        false => std::iter::successors(left.first(), |&slot| left.after(slot)).collect(),
    };
    let mut listed: Vec<SimilarItem> = slots.iter().map(|slot| candidate(left, *slot, key, wanted)).collect();
    if !matches {
        listed.sort_by_key(|candidate| std::cmp::Reverse(candidate.closeness));
    }
    let more = listed.len().saturating_sub(LISTED);
    listed.truncate(LISTED);
    let mut text = Text::default();
    for (at, candidate) in listed.iter().enumerate() {
        text = if at == 0 { text } else { text.then(", ") };
        text = match candidate.text.is_empty() {
            true => text.at(candidate.pos),
            false => text.join(candidate.text.clone()).then(" (").at(candidate.pos).then(")"),
        };
    }
    text = match (listed.is_empty(), more) {
        (true, _) => "nothing".into(),
        (false, 0) => text,
        (false, more) => text.then(format!(" and {more} more")),
    };
    let is_near = |candidate: &SimilarItem| matches || is_close(candidate, key, wanted);
    let labels = listed.iter().filter(|candidate| is_near(candidate)).map(|candidate| {
        let words = match (matches, candidate.text.is_empty()) {
            (true, _) => "matches".into(),
            (false, true) => "the nearest candidate".into(),
            (false, false) => Text::new("the nearest candidate has ").join(candidate.text.clone()),
        };
        Label::new(Role::Candidate, candidate.pos, Part::Key).text(words)
    });
    let shown = if matches { LISTED } else { 1 };
    let mut labels: Vec<Label> = labels.take(shown).collect();
    if let (true, Some(&first)) = (labels.is_empty(), slots.first()) {
        labels.extend(searched(left, first));
    }
    (text, labels)
}

/// Where a search without similar items began: in a long manifest, the path alone does not show
/// which document it was.
fn searched<L: Left>(left: &L, first: usize) -> Option<Label> {
    let text = match L::KIND {
        ItemKind::Document => return None,
        ItemKind::MapItem => "nothing in this map matches",
        ItemKind::ArrayItem => "nothing in this array matches",
    };
    let pos = left.get(first).pos();
    pos.is_known().then(|| Label::new(Role::Candidate, pos, Part::Key).text(text))
}

fn is_close(candidate: &SimilarItem, key: Option<&str>, wanted: &[Leaf]) -> bool {
    let limit = match (key, wanted.first()) {
        (Some(key), _) => spelling::tolerance_of_short(key),
        (None, Some(leaf)) => tolerance(&leaf.scalar),
        (None, None) => return false,
    };
    candidate.closeness.0 > 0 || candidate.closeness.1.0 <= limit
}

fn candidate<L: Left>(left: &L, slot: usize, key: Option<&str>, wanted: &[Leaf]) -> SimilarItem {
    let item = left.get(slot);
    let fits = |leaf: &&Leaf| at_path(item.value(), &leaf.path).is_some_and(|found| is_leaf(found, &leaf.scalar));
    let (text, distance) = match left.place(slot, 0) {
        ItemKey::Key(there) => {
            let there = key_text(there).into_owned();
            let distance = key.and_then(|key| spelling::distance(key, &there));
            (Text::of_value(there), distance)
        }
        ItemKey::Number(_) => {
            let mut text = Text::default();
            for leaf in wanted {
                let Some(value) = at_path(item.value(), &leaf.path) else { continue };
                let comma = if text.is_empty() { "" } else { ", " };
                text = text.then(format!("{comma}{}: ", path_text(&leaf.path))).value(short(value));
            }
            let wrong = wanted.iter().find(|leaf| !fits(leaf));
            (text, wrong.map_or(Some(0), |leaf| distance_to(item.value(), leaf)))
        }
    };
    let fitting = wanted.iter().filter(fits).count();
    SimilarItem { pos: item.pos(), text, closeness: (fitting, std::cmp::Reverse(distance.unwrap_or(usize::MAX))) }
}

/// The spelling distance of the text at a path from the wanted one.
fn distance_to(value: &Node, leaf: &Leaf) -> Option<usize> {
    match (at_path(value, &leaf.path)?, &leaf.scalar) {
        (Node::Scalar(Scalar::Str(there)), Scalar::Str(wanted))
            if spelling::is_comparable(&there.to_str(), &wanted.to_str()) =>
        {
            spelling::distance(&there.to_str(), &wanted.to_str())
        }
        _ => None,
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
            ItemKey::Key(key) => Some(key_text(key).into_owned()),
            ItemKey::Number(_) => None,
        })
        .collect();
    spelling::closest(key, keys.iter().map(String::as_str), spelling::tolerance_of_short(key)).map(str::to_owned)
}

fn tolerance(scalar: &Scalar) -> usize {
    match scalar {
        Scalar::Str(text) => spelling::tolerance_of_short(&text.to_str()),
        _ => 0,
    }
}

/// How to allow that nothing matches.
fn allow_missing<L: Left>(
    run: &Run,
    purpose: Purpose,
    right: &L::Item,
    annotation: Option<&Annotation>,
) -> Option<Help> {
    if annotation.is_some_and(|annotation| annotation.kwarg("expects").is_some()) {
        // It cannot be combined with missing_ok.
        return Some(Help::new("to go on where nothing matches, allow 0 in expects, for example expects=\"0+\""));
    }
    let text = match (L::KIND, purpose) {
        (ItemKind::MapItem, Purpose::Values) => return None,
        (ItemKind::MapItem, _) => "to add it where it is missing, annotate it with @overlay/match missing_ok=True",
        (ItemKind::ArrayItem, _) => "to append it where nothing matches, add missing_ok=True to @overlay/match",
        (ItemKind::Document, _) => {
            "to go on where nothing matches, add missing_ok=True or expects=\"0+\" to @overlay/match"
        }
    };
    let help = Help::new(text);
    Some(with_argument(run, help, "missing_ok=True", right.pos(), annotation))
}

/// How to allow that several nodes match.
fn allow_many(run: &Run, right: &impl Annotated, annotation: Option<&Annotation>, rule: &MatchRule<'_>) -> Help {
    let help = Help::new("to change all of them, annotate it with @overlay/match and expects=\"1+\"");
    if rule.expects.expects.is_some() || rule.expects.when.is_some() {
        return help;
    }
    with_argument(run, help, "expects=\"1+\"", right.pos(), annotation)
}

/// The advice with an edit that adds an argument to `@overlay/match`, or the whole annotation above
/// the item.
fn with_argument(run: &Run, help: Help, argument: &str, item: Pos, annotation: Option<&Annotation>) -> Help {
    let title = format!("Add {argument}");
    let has = |name: &str| annotation.is_some_and(|annotation| annotation.kwarg(name).is_some());
    if has("expects") || has("when") || has("missing_ok") {
        return help;
    }
    let edit = match annotation {
        Some(annotation) => {
            let Some(source) = run.sources.get(annotation.pos.file) else { return help };
            let Some(line) = source.part(annotation.pos.offset, &Part::Line) else { return help };
            let comma = if annotation.kwargs.is_empty() && annotation.args.is_empty() { "" } else { "," };
            Edit::insert(Pos::new(annotation.pos.file, line.end), format!("{comma} {argument}"))
        }
        None => {
            let Some(source) = run.sources.get(item.file) else { return help };
            let Some(start) = source.line_start(source.line(item.offset)) else { return help };
            let indent = source.text().get(start as usize..item.offset as usize).unwrap_or_default();
            if !indent.iter().all(|byte| *byte == b' ') {
                return help;
            }
            let indent = " ".repeat(indent.len());
            Edit::insert(Pos::new(item.file, start), format!("{indent}#@overlay/match {argument}\n"))
        }
    };
    help.fixed_by(title, vec![edit], Safety::Likely)
}
