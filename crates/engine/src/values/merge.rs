//! Merges inputs over the defaults of a schema, checking each right after it.

use std::collections::HashSet;
use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Eval;

use super::around::maps_around;
use super::dotted::join_keys;
use super::envelope::{Envelope, Input};
use super::prepare::{Prepared, Touch, prepare};
use super::settle;
use super::undo::Undo;
use crate::api::Failure;
use crate::node::{Document, Map, MapItem, Node};
use crate::overlay::{self, Purpose};
use crate::run::Run;
use crate::schema::check::{self, Context, Order, join_key};
use crate::schema::report::{self, Block};
use crate::schema::{Schema, SecretPlaces, hide_lines, redact_misfit};

/// What stands over type errors.
pub(crate) const TITLE: &str = "One or more data values were invalid";

/// The outcome of merging: with `--all-errors`, what is wrong does not end it.
pub(crate) struct Merged {
    pub doc: Document,
    /// The type errors of all inputs, in their order.
    pub problems: Option<Failure>,
}

/// Merges `inputs` over the defaults of `schema`; without a schema, over the first of them.
pub(crate) fn merge(
    eval: &mut Eval,
    run: &Run,
    schema: Option<&Schema>,
    inputs: Vec<Envelope>,
) -> Result<Merged, Failure> {
    let Some(schema) = schema else {
        return Ok(Merged { doc: merge_untyped(eval, run, inputs)?, problems: None });
    };
    let mut doc = schema.defaults();
    let mut problems = Vec::new();
    for input in inputs {
        doc = step(&mut Context { eval, run }, schema, doc, input, &mut problems)?;
    }
    let problems = (!problems.is_empty()).then(|| report::failure(run, TITLE, &problems));
    Ok(Merged { doc, problems })
}

fn merge_untyped(eval: &mut Eval, run: &Run, inputs: Vec<Envelope>) -> Result<Document, Failure> {
    let mut merged: Option<Document> = None;
    for input in inputs {
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

/// What becomes of one input.
pub(crate) enum Outcome {
    Merged(Document),
    /// It does not fit.
    Wrong(Vec<Block>),
}

/// Merges one input and checks it.
pub(crate) fn try_merge(
    cx: &mut Context<'_>,
    schema: &Schema,
    left: Document,
    input: &Envelope,
) -> Result<Outcome, Failure> {
    let mut right = input.doc.clone();
    let (outcome, _) = merge_prepared(cx, schema, left, &mut right, input.input, Left::Lost)?;
    Ok(outcome)
}

/// Whether the values before an input are wanted back if it does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Lost,
    Kept,
}

fn merge_prepared(
    cx: &mut Context<'_>,
    schema: &Schema,
    left: Document,
    right: &mut Document,
    input: Input,
    keep: Left,
) -> Result<(Outcome, Option<Document>), Failure> {
    let run = cx.run;
    let Prepared { touch, mut removed } = prepare(cx, &left, right, schema, input)?;
    if !removed.is_empty() {
        hide_lines(run, &mut removed, &right.value, &schema.root);
        return Ok((Outcome::Wrong(removed), Some(left)));
    }
    let undo = (keep == Left::Kept).then(|| Undo::of(&left, &right.value, &touch));
    // Nobody else holds the document: it is changed in place.
    let mut merged = overlay::merge_document(cx.eval, run, left, right, Purpose::Values).map_err(|mut failure| {
        if let Input::Code(pos) = input
            && pos.is_known()
        {
            failure.place_at(pos);
        }
        without_secrets(run, failure, &right.value, schema)
    })?;
    if settle::settle(cx, &mut merged.value, &right.value, &schema.root, &touch)? {
        if let Input::Code(pos) = input {
            settle::place(&mut merged.value, &right.value, pos);
        }
        return Ok((Outcome::Merged(merged), None));
    }
    let order = if input == Input::Checked { Order::Document } else { Order::Reference };
    let touched = touched_part(&merged.value, &right.value, &touch);
    let mut found = check::problems(cx, &touched, merged.pos, &schema.root, order)?;
    for block in &mut found {
        block.call = input.place();
    }
    add_hints(run, &mut found, &merged, schema, input);
    let left = undo.map(|undo| {
        undo.apply(&mut merged);
        merged
    });
    Ok((Outcome::Wrong(found), left))
}

/// What an input touched. The rest was there before and fits.
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

/// A failure of the merge whose excerpts show no secrets of the input.
fn without_secrets(run: &Run, mut failure: Failure, right: &Node, schema: &Schema) -> Failure {
    if run.options.rich && schema.uses.secrets {
        let places = SecretPlaces::of(right, &schema.root);
        failure.message.redact(|pos| places.redacted_line(run, pos));
    }
    failure
}

/// Merges one input. With `--all-errors`, what does not fit is noted and left out.
fn step(
    cx: &mut Context<'_>,
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
            (Outcome::Merged(doc), _) => return Ok(doc),
            (Outcome::Wrong(found), Some(before)) if keep == Left::Kept => {
                left = before;
                found
            }
            (Outcome::Wrong(found), _) => return Err(report::failure(run, TITLE, &found)),
        };
        let wrong = Wrong::of(&found);
        problems.extend(found);
        if !wrong.prune(&mut right.value, "") {
            // The document itself is of the wrong type.
            return Ok(left);
        }
    }
}

/// What is wrong in an input: by place, and by path where code made it.
struct Wrong {
    places: HashSet<Pos>,
    paths: HashSet<String>,
}

impl Wrong {
    fn of(blocks: &[Block]) -> Wrong {
        let (placed, unplaced): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| block.pos.is_known());
        Wrong {
            places: placed.iter().map(|block| block.pos).collect(),
            paths: unplaced.iter().filter_map(|block| block.path.clone()).collect(),
        }
    }

    /// Takes it out of the input. False where nothing was.
    fn prune(&self, node: &mut Node, path: &str) -> bool {
        match node {
            Node::Scalar(_) => false,
            Node::Map(map) => {
                let map = Rc::make_mut(map);
                let count = map.len();
                map.edit(|items| items.retain(|item| !self.has(item.pos, || join_key(path, &item.key))));
                let removed = map.len() < count;
                map.iter_mut().fold(removed, |removed, item| {
                    let path = self.path(|| join_key(path, &item.key));
                    crate::deep(|| self.prune(&mut item.value, &path)) || removed
                })
            }
            Node::Array(array) => {
                let items = std::mem::take(&mut Rc::make_mut(array).items);
                let mut removed = false;
                for (at, mut item) in items.into_iter().enumerate() {
                    let path = self.path(|| format!("{path}[{at}]"));
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

    fn has(&self, pos: Pos, path: impl FnOnce() -> String) -> bool {
        if pos.is_known() { self.places.contains(&pos) } else { self.paths.contains(&self.path(path)) }
    }

    /// A path, if there are any to compare it with.
    fn path(&self, path: impl FnOnce() -> String) -> String {
        if self.paths.is_empty() { String::new() } else { path() }
    }
}

/// What rich messages and machine formats say besides: how to give other types; rich ones also show the map around.
fn add_hints(run: &Run, found: &mut [Block], merged: &Document, schema: &Schema, input: Input) {
    let flag = match input {
        Input::String => Some("--data-value-yaml"),
        Input::EnvString => Some("--data-values-env-yaml"),
        Input::Document | Input::Code(_) | Input::Checked => None,
    };
    if let Some(flag) = flag {
        let hint = format!("to give a value of another type than string, use {flag}");
        let mistyped = found.iter_mut().filter(|block| block.kind == ytterby_diag::Kind::Type);
        mistyped.for_each(|block| block.rich_hints.insert(0, hint.clone()));
    }
    if !run.options.rich {
        return;
    }
    let shown = match schema.uses.secrets {
        true => redact_misfit(&merged.value, &schema.root),
        false => merged.value.clone(),
    };
    let places: Vec<Pos> = found.iter().map(|block| block.pos).collect();
    // What code checks against a schema of its own may hold data values.
    let hide = |text: String| run.hide(text);
    for (block, lines) in found.iter_mut().zip(maps_around(&shown, &places, &hide)) {
        let Some(lines) = lines else { continue };
        let yaml = run.hide(lines.join("\n"));
        let lines: Vec<String> = yaml.lines().map(|line| format!("\n        {line}")).collect();
        block.rich_hints.push(format!("merged:{}", lines.concat()));
    }
}
