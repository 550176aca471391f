//! Merges inputs over the defaults of a schema.
//!
//! Each input is prepared, merged as an overlay, and then checked and completed with defaults,
//! before the next one follows. With `--all-errors`, the parts of an input that do not match are
//! left out and their errors are collected.

use std::collections::HashSet;
use std::rc::Rc;

use ytterby_diag::{Cause, Failure, Help, Id, Part, Path, Pos, SchemaBlock as Block, SchemaReport, Text};
use ytterby_starlark::Eval;

use super::around::maps_around;
use super::dotted::join_keys;
use super::envelope::{Envelope, Input};
use super::prepare::{PreparedInput, Touch, prepare};
use super::settle;
use super::undo::Undo;
use crate::limits::working_at;
use crate::node::{Document, Map, MapItem, Node, key_text};
use crate::overlay::{self, Purpose};
use crate::run::Run;
use crate::schema::check::{self, CheckContext, Order};
use crate::schema::{Schema, redact_misfit};

/// The title of type errors.
pub(crate) const TITLE: &str = "One or more data values were invalid";

/// The result of merging. With `--all-errors`, type errors do not end it.
pub(crate) struct Merged {
    pub doc: Document,
    /// The type errors of all inputs, in order.
    pub problems: Vec<Block>,
}

/// Merges `inputs` over the defaults of `schema`; without a schema, over the first of them.
pub(crate) fn merge(
    eval: &mut Eval,
    run: &Run,
    schema: Option<&Schema>,
    inputs: Vec<Envelope>,
) -> Result<Merged, Failure> {
    let Some(schema) = schema else {
        return Ok(Merged { doc: merge_untyped(eval, run, inputs)?, problems: Vec::new() });
    };
    let mut doc = schema.defaults();
    let mut problems = Vec::new();
    for input in inputs {
        let _working = working_at(input.doc.pos);
        schema.keep_secrets(run, &input.doc.value);
        doc = step(&mut CheckContext { eval, run }, schema, doc, input, &mut problems)?;
    }
    Ok(Merged { doc, problems })
}

fn merge_untyped(eval: &mut Eval, run: &Run, inputs: Vec<Envelope>) -> Result<Document, Failure> {
    let mut merged: Option<Document> = None;
    for input in inputs {
        let _working = working_at(input.doc.pos);
        let mut doc = match merged {
            None => input.doc.clone(),
            Some(left) => overlay::merge_document(eval, run, left, &input.doc, Purpose::Values)?,
        };
        if let Input::Code(pos) = input.input {
            settle::place(&mut doc.value, &input.doc.value, pos);
        }
        merged = Some(doc);
    }
    Ok(merged.unwrap_or_else(|| Document::new(Node::map(Map::new()), Pos::UNKNOWN)))
}

/// The result of merging one input.
pub(crate) enum MergeResult {
    Merged(Document),
    /// It does not match the schema.
    Wrong(Vec<Block>),
}

/// Merges one input and checks it.
pub(crate) fn try_merge(
    cx: &mut CheckContext<'_>,
    schema: &Schema,
    left: Document,
    input: &Envelope,
) -> Result<MergeResult, Failure> {
    let mut right = input.doc.clone();
    let (outcome, _) = merge_prepared(cx, schema, left, &mut right, input.input, Left::Lost)?;
    Ok(outcome)
}

/// Whether to restore the values before an input if it does not match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Lost,
    Kept,
}

/// Whether messages show the map around a wrong value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Shown,
    Omitted,
}

fn merge_prepared(
    cx: &mut CheckContext<'_>,
    schema: &Schema,
    left: Document,
    right: &mut Document,
    input: Input,
    keep: Left,
) -> Result<(MergeResult, Option<Document>), Failure> {
    let run = cx.run;
    let PreparedInput { touch, removed } = prepare(cx, &left, right, schema, input)?;
    if !removed.is_empty() {
        return Ok((MergeResult::Wrong(removed), Some(left)));
    }
    let undo = (keep == Left::Kept).then(|| Undo::of(&left, &right.value, &touch));
    // The document is not shared here, so it is changed in place.
    let mut merged = overlay::merge_document(cx.eval, run, left, right, Purpose::Values).map_err(|mut failure| {
        if let Input::Code(pos) = input {
            failure.place_at(pos, Part::Token);
        }
        failure
    })?;
    if settle::settle(cx, &mut merged.value, &right.value, &schema.root, &touch)? {
        if let Input::Code(pos) = input {
            settle::place(&mut merged.value, &right.value, pos);
        }
        return Ok((MergeResult::Merged(merged), None));
    }
    let order = if input == Input::Checked { Order::Document } else { Order::Reference };
    let touched = touched_part(&merged.value, &right.value, &touch);
    let mut found = check::problems(cx, &touched, merged.pos, &schema.root, order)?;
    for block in &mut found {
        block.call = input.place();
    }
    // Finding the map around a mistake walks the whole document; for thousands of flags that is too
    // expensive.
    let size = merged.value.as_map().map_or(1, |map| map.len() + 1);
    let around = if run.may_compare(size) { Around::Shown } else { Around::Omitted };
    add_hints(&mut found, &merged, schema, input, around);
    let left = undo.map(|undo| {
        undo.apply(&mut merged);
        merged
    });
    Ok((MergeResult::Wrong(found), left))
}

/// The part that an input touched. The rest was checked before.
fn touched_part(merged: &Node, right: &Node, touch: &Touch) -> Node {
    let (Touch::Items(touched), Node::Map(map), Node::Map(right)) = (touch, merged, right) else {
        return merged.clone();
    };
    let found = touched.iter().filter_map(|(at, touch)| Some((map.find(&right.items()[*at].key)?, *at, touch)));
    let mut found: Vec<_> = found.collect();
    found.sort_unstable_by_key(|(at, ..)| *at);
    let part = |(at, from, touch): (usize, usize, &Touch)| {
        let item = &map.items()[at];
        let value = crate::deep(|| touched_part(&item.value, &right.items()[from].value, touch));
        MapItem { value, ..item.clone() }
    };
    let mut part: Map = found.into_iter().map(part).collect();
    part.origin = map.origin;
    Node::map(part)
}

/// Merges one input. With `--all-errors`, errors are recorded and the wrong parts are left out.
fn step(
    cx: &mut CheckContext<'_>,
    schema: &Schema,
    left: Document,
    input: Envelope,
    problems: &mut Vec<Block>,
) -> Result<Document, Failure> {
    let run = cx.run;
    let keep = if run.options.all_errors { Left::Kept } else { Left::Lost };
    let (mut left, mut right) = (left, input.doc.clone());
    if let Some(separator) = input.separator.filter(|_| run.is_beyond_ytt()) {
        join_keys(cx, &mut right, schema, separator)?;
    }
    loop {
        let found = match merge_prepared(cx, schema, left, &mut right, input.input, keep)? {
            (MergeResult::Merged(doc), _) => return Ok(doc),
            (MergeResult::Wrong(found), Some(before)) if keep == Left::Kept => {
                left = before;
                found
            }
            (MergeResult::Wrong(blocks), _) => {
                return Err(Failure::of(Cause::Schema(SchemaReport { title: TITLE.to_owned(), blocks })));
            }
        };
        let wrong = Wrong::of(&found);
        problems.extend(found);
        if !wrong.prune(&mut right.value, &Path::document()) {
            // The document itself is of the wrong type.
            return Ok(left);
        }
    }
}

/// The wrong parts of an input: by position, and by path if code created them.
struct Wrong {
    places: HashSet<Pos>,
    paths: HashSet<Path>,
}

impl Wrong {
    fn of(blocks: &[Block]) -> Wrong {
        let (placed, unplaced): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| block.pos.is_known());
        Wrong {
            places: placed.iter().map(|block| block.pos).collect(),
            paths: unplaced.iter().filter_map(|block| block.path.clone()).collect(),
        }
    }

    /// Removes them from the input. Returns false if there were none.
    fn prune(&self, node: &mut Node, path: &Path) -> bool {
        match node {
            Node::Scalar(_) => false,
            Node::Map(map) => {
                let map = Rc::make_mut(map);
                let count = map.len();
                map.edit(|items| items.retain(|item| !self.has(item.pos, || path.key(key_text(&item.key)))));
                let removed = map.len() < count;
                map.iter_mut().fold(removed, |removed, item| {
                    let path = self.path(|| path.key(key_text(&item.key)));
                    crate::deep(|| self.prune(&mut item.value, &path)) || removed
                })
            }
            Node::Array(array) => {
                let items = std::mem::take(&mut Rc::make_mut(array).items);
                let mut removed = false;
                for (at, mut item) in items.into_iter().enumerate() {
                    let path = self.path(|| path.index(at));
                    if self.has(item.pos, || path.clone()) {
                        removed = true;
                        continue;
                    }
                    removed |= crate::deep(|| self.prune(&mut item.value, &path));
                    Rc::make_mut(array).items.push(item);
                }
                removed
            }
        }
    }

    fn has(&self, pos: Pos, path: impl FnOnce() -> Path) -> bool {
        if pos.is_known() { self.places.contains(&pos) } else { self.paths.contains(&self.path(path)) }
    }

    /// A path, if there are any to compare with.
    fn path(&self, path: impl FnOnce() -> Path) -> Path {
        if self.paths.is_empty() { Path::document() } else { path() }
    }
}

/// Maximum number of problems for which the surrounding map is shown.
const SHOWN_AROUND: usize = 3;

/// Adds hints about other types, and the map around a wrong value as it is after the merge.
fn add_hints(found: &mut [Block], merged: &Document, schema: &Schema, input: Input, around: Around) {
    let flag = match input {
        Input::String => Some("--data-value-yaml"),
        Input::EnvString => Some("--data-values-env-yaml"),
        Input::Document | Input::Code(_) | Input::Checked => None,
    };
    if let Some(flag) = flag {
        let hint = format!("to give a value of another type than string, use {flag}");
        let mistyped = found.iter_mut().filter(|block| block.id == Id::SCHEMA_TYPE);
        mistyped.for_each(|block| block.helps.insert(0, Help::new(hint.clone())));
    }
    if around == Around::Omitted {
        return;
    }
    let shown = match schema.uses.secrets {
        true => redact_misfit(&merged.value, &schema.root),
        false => merged.value.clone(),
    };
    let is_mistyped = |block: &&mut Block| block.id == Id::SCHEMA_TYPE;
    let mut mistyped: Vec<&mut Block> = found.iter_mut().filter(is_mistyped).take(SHOWN_AROUND).collect();
    let places: Vec<Pos> = mistyped.iter().map(|block| block.pos).collect();
    for (block, lines) in mistyped.iter_mut().zip(maps_around(&shown, &places)) {
        let Some(lines) = lines.filter(|lines| lines.len() > 1) else { continue };
        block.notes.push(Text::new("merged:\n").value(lines.join("\n")));
    }
}
