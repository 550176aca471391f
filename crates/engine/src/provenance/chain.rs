//! The history of a value, step by step.
//!
//! A chain begins with the default of the schema and has a link for each input or overlay that
//! touches the value, a part of it or a parent. Links refer to nodes; they become text only for
//! chains that are shown (`Link::written`).

use ytterby_diag::{Path, Pos, Sources, Step};

use super::blocks::{BlockKind, Blocks, CodeBlock};
use super::nodes::{self, LocatedNode};
use super::session::Session;
use super::{ChainLink, ExplainedFrame, ExplainedPlace};
use crate::annotation::Ann;
use crate::node::{Annotated, Document, Node, key_text};
use crate::record::{History, LibraryCall, Replaced};

/// A step before its value is formatted.
pub(super) struct Link<'n> {
    pub kind: &'static str,
    pub pos: Pos,
    pub action: &'static str,
    pub value: Option<&'n Node>,
    pub frames: Vec<(Pos, String)>,
}

impl Link<'_> {
    pub fn written(&self, sources: &Sources, shown: &dyn Fn(&Node) -> String) -> ChainLink {
        ChainLink {
            kind: self.kind,
            place: place(sources, self.pos),
            action: self.action,
            value: self.value.map(shown),
            frames: self
                .frames
                .iter()
                .filter_map(|(pos, text)| Some(ExplainedFrame { place: place(sources, *pos)?, text: text.clone() }))
                .collect(),
        }
    }
}

/// A position as a path that users can open.
pub(super) fn place(sources: &Sources, pos: Pos) -> Option<ExplainedPlace> {
    let pos = sources.source_place(pos);
    let source = sources.get(pos.file)?;
    let (line, column) = source.line_column(pos.offset);
    Some(ExplainedPlace { file: crate::output_source::openable(&source), line, column })
}

/// The history of a data value: the default, and each input that sets it, a part of it, or one of
/// its parents.
pub(super) fn of_value<'s>(session: &'s Session, defaults: Option<&'s Document>, path: &Path) -> Vec<Link<'s>> {
    let mut links = Vec::new();
    if let Some(defaults) = defaults
        && let Some(found) = nodes::at(defaults, path)
    {
        links.push(Link {
            kind: "schema",
            pos: found.place,
            action: "default",
            value: Some(found.value),
            frames: Vec::new(),
        });
    }
    let mut before = defaults;
    for input in &session.inputs {
        let was = before.and_then(|doc| nodes::at(doc, path));
        let is = nodes::at(&input.after, path);
        before = Some(&input.after);
        let Some(touch) = touching(&input.doc, path) else { continue };
        // A list that is merged item by item has other positions than its overlay.
        if touch.is_above && same(was, is) {
            continue;
        }
        let action = match (touch.action, was.is_some(), is.map(|found| found.value)) {
            (Some(action), _, _) => action,
            (None, _, None) => "remove",
            (None, _, Some(Node::Map(_))) if !touch.is_above => "merge",
            (None, true, _) => "set",
            (None, false, _) => "insert",
        };
        let pos = if touch.pos.is_known() { touch.pos } else { input.place };
        let value = is.map(|found| found.value);
        links.push(Link { kind: input.kind.name(), pos, action, value, frames: Vec::new() });
    }
    links
}

fn same(was: Option<LocatedNode<'_>>, is: Option<LocatedNode<'_>>) -> bool {
    match (was, is) {
        (Some(was), Some(is)) => was.value.same(is.value),
        (None, None) => true,
        _ => false,
    }
}

/// The item of an overlay that affects a path.
struct Touch {
    pos: Pos,
    /// The action of its annotations; `None` if it is merged.
    action: Option<&'static str>,
    /// Whether it contains the path and replaces or removes everything there.
    is_above: bool,
}

/// Follows a path in an overlay. List items are matched by what they have in common with those of
/// the path, or by index if nothing better is known.
fn touching(doc: &Document, path: &Path) -> Option<Touch> {
    let mut node = &doc.value;
    let mut touch = Touch { pos: doc.pos, action: action_of(doc), is_above: true };
    let steps = path.steps();
    // The content of an added item is added with it.
    let mut added = touch.action.filter(|action| matches!(*action, "insert" | "append"));
    for (number, step) in steps.iter().enumerate() {
        let item: &dyn Annotated = match (step, node) {
            (Step::Key(key), Node::Map(map)) => {
                match map.get_str(key).or_else(|| map.iter().find(|item| key_text(&item.key) == *key)) {
                    Some(item) => item,
                    None => return above(touch, false),
                }
            }
            (Step::Index(index), Node::Array(array)) => {
                let rest = &steps[number + 1..];
                let has_rest = |item: &&crate::node::ArrayItem| {
                    rest.iter().all(|step| matches!(step, Step::Index(_)))
                        || nodes::at(&Document::new(item.value.clone(), item.pos), &rest.iter().cloned().collect())
                            .is_some()
                };
                match array
                    .items
                    .get(*index)
                    .filter(|item| has_rest(item))
                    .or_else(|| array.items.iter().find(has_rest))
                {
                    Some(item) => item,
                    None => return above(touch, true),
                }
            }
            // A scalar or another kind of collection before the end of the path.
            _ => return above(touch, true),
        };
        let action = action_of(item);
        let is_last = number + 1 == steps.len();
        let replaces = matches!(action, Some("remove" | "replace"));
        added = action.filter(|action| matches!(*action, "insert" | "append")).or(added);
        touch = Touch { pos: item.pos(), action: action.or(added), is_above: !is_last };
        if replaces && !is_last {
            return Some(touch);
        }
        node = item.value();
    }
    touch.is_above = false;
    Some(touch)
}

/// The effect of an enclosing item: only if it replaces, removes or adds.
fn above(touch: Touch, ends: bool) -> Option<Touch> {
    (ends || touch.action.is_some()).then_some(Touch { is_above: true, ..touch })
}

fn action_of(item: &dyn Annotated) -> Option<&'static str> {
    let written = item.annotations().iter().find_map(|annotation| {
        Some(match annotation.ann? {
            Ann::OverlayRemove => "remove",
            Ann::OverlayReplace => "replace",
            Ann::OverlayInsert => "insert",
            Ann::OverlayAppend => "append",
            _ => return None,
        })
    });
    // Plain values files and flags replace scalars, too, but that is called setting them.
    written.or_else(|| (item.policy().replaces && matches!(item.value(), Node::Array(_))).then_some("replace"))
}

/// The records of a render, and the sources and code of its files.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'h> {
    pub sources: &'h Sources,
    pub blocks: &'h Blocks,
    pub histories: &'h [History],
    pub libraries: &'h [LibraryCall],
    pub replaced: &'h [Replaced],
}

/// Which of the documents or items from one position: the second of three.
pub(super) type Occurrence = Option<(usize, usize)>;

/// The history of a node of the output: its template, and each overlay that changed it.
pub(super) fn of_node<'h>(
    doc: &'h Document,
    number: usize,
    path: &Path,
    turn: Occurrence,
    record: &Recorded<'h>,
) -> Vec<Link<'h>> {
    let histories = record.histories;
    let mut links = Vec::new();
    let slot_in = |history: &History| {
        let (_, docs) = history.steps.last()?;
        let expected = docs.get(number).filter(|(_, left)| is_same_document(left, doc));
        expected.or_else(|| docs.iter().find(|(_, left)| is_same_document(left, doc))).map(|(slot, _)| *slot)
    };
    match histories.last().and_then(|history| Some((history, slot_in(history)?))) {
        Some((history, slot)) => history_of(history, slot, path, turn, record, &mut links),
        None => template_of(doc, path, turn, record, &mut links),
    }
    links
}

/// The history of a document with this number.
pub(super) fn history_of<'h>(
    history: &'h History,
    slot: usize,
    path: &Path,
    turn: Occurrence,
    record: &Recorded<'h>,
    links: &mut Vec<Link<'h>>,
) {
    let find = |docs: &'h [(usize, Document)]| docs.iter().find(|(number, _)| *number == slot).map(|(_, doc)| doc);
    let start = find(&history.start);
    let docs: Vec<Option<&Document>> =
        std::iter::once(start).chain(history.steps.iter().map(|(_, docs)| find(docs))).collect();
    let paths = paths_in(&docs, path);
    if let Some(doc) = start {
        let index = record.histories.iter().position(|other| std::ptr::eq(other, history)).unwrap_or(0);
        template_of(doc, &paths[0], turn, &Recorded { histories: &record.histories[..index], ..*record }, links);
    }
    for (number, (overlay, _)) in history.steps.iter().enumerate() {
        let (before, after) = (docs[number], docs[number + 1]);
        let path = &paths[number + 1];
        let was = before.and_then(|doc| nodes::at(doc, &paths[number]));
        let is = after.and_then(|doc| nodes::at(doc, path));
        let is_new = before.is_none() && after.is_some();
        let is_touched = match (was, is) {
            (None, None) => false,
            (Some(was), Some(is)) => was.pos != is.pos || !was.value.same(is.value),
            _ => true,
        };
        if !is_touched {
            continue;
        }
        let touch = touching(overlay, path);
        let own = is.filter(|is| was.is_none_or(|was| was.pos != is.pos)).map(|is| is.place);
        let pos = own.filter(|pos| pos.file == overlay.pos.file && pos.is_known());
        let pos = pos.or(touch.as_ref().map(|touch| touch.pos)).unwrap_or(overlay.pos);
        let action = match (touch.and_then(|touch| touch.action), was, is) {
            (_, Some(_), None) => "remove",
            _ if is_new => action_of(overlay).filter(|action| *action != "replace").unwrap_or("insert"),
            (Some(action), ..) => action,
            (None, None, _) => "insert",
            (None, _, Some(LocatedNode { value: Node::Scalar(_), .. })) => "set",
            (None, ..) => "merge",
        };
        links.push(Link { kind: "overlay", pos, action, value: is.map(|found| found.value), frames: Vec::new() });
    }
}

/// The path of a node in each version of its document. List items are the same if they have the
/// same source position: overlays that remove or add others only change their indexes.
fn paths_in(docs: &[Option<&Document>], path: &Path) -> Vec<Path> {
    let mut paths = vec![path.clone(); docs.len()];
    for at in (1..docs.len()).rev() {
        if let (Some(before), Some(after)) = (docs[at - 1], docs[at]) {
            paths[at - 1] = path_before(before, after, &paths[at]);
        }
    }
    paths
}

fn path_before(before: &Document, after: &Document, path: &Path) -> Path {
    let (mut left, mut right) = (Some(&before.value), Some(&after.value));
    let mut found = Path::document();
    for step in path.steps() {
        let step = match (step, left, right) {
            (Step::Index(index), Some(Node::Array(left)), Some(Node::Array(right))) => {
                let item = right.items.get(*index).filter(|item| item.pos.is_known());
                let place = |pos: Pos| left.items.iter().enumerate().filter(move |(_, item)| item.pos == pos);
                let index = match item {
                    Some(item) => {
                        // Among the items of a loop, the one of the same iteration.
                        let turn = right.items[..*index].iter().filter(|other| other.pos == item.pos).count();
                        place(item.pos).nth(turn).map_or(usize::MAX, |(at, _)| at)
                    }
                    None => *index,
                };
                Step::Index(index)
            }
            (step, ..) => step.clone(),
        };
        left = left.and_then(|node| below(node, &step));
        right = right.and_then(|node| below(node, path.steps().get(found.steps().len())?));
        found.push(step);
    }
    found
}

fn below<'n>(node: &'n Node, step: &Step) -> Option<&'n Node> {
    match (step, node) {
        (Step::Key(key), Node::Map(map)) => map.iter().find(|item| key_text(&item.key) == *key).map(|item| &item.value),
        (Step::Index(index), Node::Array(array)) => array.items.get(*index).map(|item| &item.value),
        _ => None,
    }
}

/// The result of templates for a node, before overlays, but including those of libraries and of
/// `overlay.apply()`.
fn template_of<'h>(doc: &'h Document, path: &Path, turn: Occurrence, record: &Recorded<'h>, links: &mut Vec<Link<'h>>) {
    let libraries = record.libraries;
    for history in record.histories.iter().rev() {
        let last = history.steps.last().map(|(_, docs)| &docs[..]).unwrap_or_default();
        if let Some((slot, _)) = last.iter().find(|(_, left)| is_same_document(left, doc)) {
            history_of(history, *slot, path, turn, record, links);
            add_libraries(doc, path, libraries, links);
            return;
        }
    }
    let Some(found) = nodes::at(doc, path) else { return };
    let frames = frames(record, doc, path, turn);
    links.push(Link { kind: "template", pos: found.place, action: "set", value: Some(found.value), frames });
    add_libraries(doc, path, libraries, links);
}

/// The positions where code evaluated the libraries of a document, innermost first.
fn add_libraries<'h>(doc: &'h Document, path: &Path, libraries: &[LibraryCall], links: &mut Vec<Link<'h>>) {
    let has = |call: &&LibraryCall| call.documents.iter().any(|other| is_same_document(other, doc));
    for call in libraries.iter().filter(has) {
        let frames = vec![(call.pos, format!("library {}", call.name))];
        let value = nodes::at(doc, path).map(|found| found.value);
        links.push(Link { kind: "library", pos: call.pos, action: "insert", value, frames });
    }
}

/// Whether two documents are the same: overlays copy documents that they change, but not their
/// contents.
pub(super) fn is_same_document(one: &Document, other: &Document) -> bool {
    let is_shared = match (&one.value, &other.value) {
        (Node::Map(one), Node::Map(other)) => std::rc::Rc::ptr_eq(one, other),
        (Node::Array(one), Node::Array(other)) => std::rc::Rc::ptr_eq(one, other),
        _ => false,
    };
    is_shared || (one.pos == other.pos && one.value.same(&other.value))
}

/// The functions, calls and loops that made a node, innermost first. A node made by a function has
/// another position than the node around it; items made by a loop share one position.
fn frames(record: &Recorded<'_>, doc: &Document, path: &Path, turn: Occurrence) -> Vec<(Pos, String)> {
    let mut frames = Vec::new();
    let mut node = &doc.value;
    let inner = add_replaced(record, doc.pos, Pos::UNKNOWN, turn, &mut frames);
    add_blocks(record, doc.pos, &[], inner.unwrap_or(turn), &mut frames);
    let mut above = doc.pos;
    for step in path.steps() {
        let (value, pos, turn) = match (step, node) {
            (Step::Key(key), Node::Map(map)) => {
                let Some(at) = map.iter().position(|item| key_text(&item.key) == *key) else { break };
                let item = &map.items()[at];
                (&item.value, item.pos, twins(map.iter().map(|item| item.pos), at))
            }
            (Step::Index(index), Node::Array(array)) => {
                let Some(item) = array.items.get(*index) else { break };
                (&item.value, item.pos, twins(array.items.iter().map(|item| item.pos), *index))
            }
            _ => break,
        };
        if pos.is_known() {
            let replaced = add_replaced(record, pos, above, turn, &mut frames);
            let turn = replaced.unwrap_or(turn);
            let mut is_elsewhere = above.is_known() && (pos.file != above.file || pos.offset < above.offset);
            if is_elsewhere && replaced.is_none() {
                frames.push((above, "inserted here".to_owned()));
            }
            is_elsewhere |= replaced.is_some();
            let around = if is_elsewhere { &[] } else { record.blocks.around(record.sources, above) };
            add_blocks(record, pos, around, turn, &mut frames);
            above = pos;
        }
        node = value;
    }
    frames.reverse();
    frames
}

/// Adds the call of `template.replace()` that put an item there, and the blocks around the call.
/// Gives the turn of the item among those of this call; `None` if there is no call. Several calls
/// in one collection may insert items of the same place: they are told apart by the turn of the
/// item.
fn add_replaced(
    record: &Recorded<'_>,
    pos: Pos,
    above: Pos,
    turn: Occurrence,
    frames: &mut Vec<(Pos, String)>,
) -> Option<Occurrence> {
    let count = |call: &Replaced| call.by.iter().filter(|other| **other == pos).count();
    let mut calls: Vec<&Replaced> =
        record.replaced.iter().filter(|call| call.above == above && count(call) > 0).collect();
    let (turn, of) = turn.unwrap_or((1, 1));
    // Where the collection itself was made several times, each time had the same calls.
    let times = calls.iter().map(|call| count(call)).sum::<usize>() / of;
    calls.truncate(calls.len() / times.max(1));
    let mut before = 0;
    let at = calls.iter().position(|call| {
        let is_here = turn <= before + count(call);
        before += if is_here { 0 } else { count(call) };
        is_here
    })?;
    let call = calls[at];
    let around = if above.is_known() { record.blocks.around(record.sources, above) } else { &[] };
    add_blocks(record, call.pos, around, twins(calls.iter().map(|call| call.pos), at), frames);
    frames.push((call.pos, "template.replace()".to_owned()));
    Some((count(call) > 1).then(|| (turn - before, count(call))))
}

/// Adds the functions and loops around a place that are not around the one above it.
fn add_blocks(record: &Recorded<'_>, pos: Pos, above: &[CodeBlock], turn: Occurrence, frames: &mut Vec<(Pos, String)>) {
    let own = record.blocks.around(record.sources, pos);
    let new: Vec<&CodeBlock> = own.iter().filter(|block| !above.contains(block)).collect();
    let loops: Vec<&CodeBlock> = new.iter().copied().filter(|block| block.kind == BlockKind::Loop).collect();
    for block in new.iter().filter(|block| block.kind == BlockKind::Function) {
        frames.push((block.pos, format!("in {}", block.text)));
    }
    match (&loops[..], turn) {
        ([], None) => {}
        ([], Some((turn, of))) => frames.push((pos, format!("turn {turn} of {of} of a loop"))),
        ([outer @ .., inner], turn) => {
            let (turn, of) = turn.unwrap_or((1, 1));
            // Iterations of nested loops are counted together.
            let inside: String = outer.iter().rev().map(|block| format!(" in {}", block.text)).collect();
            frames.push((inner.pos, format!("turn {turn} of {of} of {}{inside}", inner.text)));
        }
    }
}

/// Which of the items at the same position this one is; `None` if it is the only one.
pub(super) fn twins(places: impl Iterator<Item = Pos>, at: usize) -> Occurrence {
    let places: Vec<Pos> = places.collect();
    let own = places.get(at).copied().filter(|pos| pos.is_known())?;
    let of = places.iter().filter(|pos| **pos == own).count();
    let turn = places[..=at].iter().filter(|pos| **pos == own).count();
    (of > 1).then_some((turn, of))
}
