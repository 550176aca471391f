//! Starts of nodes that were written before are written again as one text.
//!
//! Between two values that code computes, a template starts several nodes: keys with constant
//! values, and collections down to the next computed value. In a loop, these starts have the same
//! text each time, if they begin at an equal point of the output. It is kept when they run for the
//! second time, with the collections that they leave open.
//!
//! A start with annotations or a computed key, and keys that may come again, are not written this
//! way.

use ytterby_text::budget;
use ytterby_yaml::write::{WritePoint, WriterMark, WrittenStart};

use super::build::Result;
use super::item_writer::{ItemWriter, Keys, OpenText, SCALAR_BYTES};
use super::place::Collection;
use super::table::{LinkedTable, NodeNumber, NodeTable, Op, TemplateNodeKind};
use crate::contexts::OpenContexts;

/// What is known of consecutive operations that start nodes.
#[derive(Default)]
pub(super) enum Run {
    #[default]
    New,
    /// It ran once; most do not run again.
    Seen,
    /// It is never written at once.
    Never,
    Kept(Box<KeptRun>),
}

/// The text of a run, and what it changes.
pub(super) struct KeptRun {
    /// Where it begins.
    point: WritePoint,
    /// Whether the collection had items, and how many collections were open.
    had_items: bool,
    depth: usize,
    /// The number of nodes it starts.
    nodes: u32,
    text: WrittenStart,
    /// The numbers of the items in maps that stay open.
    items: Box<[NodeNumber]>,
    /// The collection in which it begins, then those that it opens.
    open: Box<[KeptOpen]>,
}

/// The state of an open collection after a run, relative to the state before.
struct KeptOpen {
    tag: NodeNumber,
    item: NodeNumber,
    collection: Collection,
    has_items: bool,
    has_value: bool,
    value: WriterMark,
    first_key: usize,
    may_be_overlay: bool,
}

impl ItemWriter {
    /// Writes the nodes of `count` operations from `first` on at once. If this returns false, they
    /// must run one by one.
    #[inline]
    pub fn start_run(&mut self, table: &LinkedTable, first: u32, count: u32, paid: &OpenContexts) -> Result<bool> {
        let index = first as usize;
        match self.runs.get_mut(index) {
            Some(Run::Never) => return Ok(false),
            Some(Run::Seen | Run::Kept(_)) => {}
            Some(run) => {
                *run = Run::Seen;
                return Ok(false);
            }
            None => {
                self.runs.resize_with(index + 1, Run::default);
                self.runs[index] = Run::Seen;
                return Ok(false);
            }
        }
        let Some(tag) = table.op(first).starts() else {
            self.runs[index] = Run::Never;
            return Ok(false);
        };
        if !self.is_ready_for(table, tag) {
            return Ok(false);
        }
        let Run::Kept(kept) = std::mem::take(&mut self.runs[index]) else {
            return self.keep_run(table, first, count, paid);
        };
        let fits = self.yaml.point() == kept.point
            && self.open.len() == kept.depth
            && self.open.last().is_some_and(|open| open.has_items == kept.had_items);
        if fits {
            self.repeat(&kept, count, paid)?;
        }
        self.runs[index] = Run::Kept(kept);
        Ok(fits)
    }

    /// Closes what is open below the place of a new item. Returns whether it can start there
    /// without looking at annotations, computed keys and earlier items.
    #[inline]
    fn is_ready_for(&mut self, table: &NodeTable, tag: NodeNumber) -> bool {
        let node = table.node(tag);
        match self.open.last() {
            Some(open) if open.tag == node.parent => self.close_item(),
            Some(_) => {
                if self.close_to_parent_of(table, tag, node).is_err() {
                    return false;
                }
            }
            None => return false,
        }
        let Some(open) = self.open.last() else { return false };
        let is_next = match open.keys {
            Keys::InOrder(first) => self.items[first..].last().is_none_or(|last| *last < tag),
            Keys::Looked(_) => false,
        };
        is_next
            && open.tag == node.parent
            && open.item == 0
            && self.pending.is_empty()
            && self.idle.is_clear()
            && self.problem.is_none()
    }

    fn repeat(&mut self, kept: &KeptRun, count: u32, paid: &OpenContexts) -> Result<()> {
        paid.count_nodes(kept.nodes)?;
        charge(count, kept.text.size())?;
        let (start, first_key) = (self.yaml.written(), self.items.len());
        self.yaml.repeat_start(&kept.text);
        self.items.extend_from_slice(&kept.items);
        let mut open = kept.open.iter();
        if let (Some(outer), Some(now)) = (open.next(), self.open.last_mut()) {
            now.item = outer.item;
            now.has_items = outer.has_items;
            now.has_value = outer.has_value;
            now.value = outer.value.after(start);
            now.may_be_overlay = outer.may_be_overlay;
        }
        self.open.extend(open.map(|open| OpenText {
            tag: open.tag,
            item: open.item,
            collection: open.collection,
            has_items: open.has_items,
            has_value: open.has_value,
            value: open.value.after(start),
            keys: Keys::InOrder(first_key + open.first_key),
            may_be_overlay: open.may_be_overlay,
        }));
        Ok(())
    }

    /// Runs the operations one by one and keeps the text.
    #[cold]
    fn keep_run(&mut self, table: &LinkedTable, first: u32, count: u32, paid: &OpenContexts) -> Result<bool> {
        let index = first as usize;
        let ops = || (first..first + count).map(|op| table.op(op));
        if !ops().all(|op| is_surely_startable(table, op)) {
            self.runs[index] = Run::Never;
            return Ok(false);
        }
        let Some(outer) = self.open.last() else { return Ok(false) };
        let (tag, had_items, depth) = (outer.tag, outer.has_items, self.open.len());
        let (point, start, levels) = (self.yaml.point(), self.yaml.written(), self.yaml.depth());
        let first_key = self.items.len();
        let nodes = ops().map(Op::nodes).sum();
        paid.count_nodes(nodes)?;
        for op in ops() {
            self.start_op(table, op)?;
        }
        let is_inside = self.open.get(depth - 1).is_some_and(|open| open.tag == tag);
        let is_usual = is_inside && self.problem.is_none() && self.idle.is_clear();
        let open: Option<Box<[KeptOpen]>> = match is_usual {
            true => self.open[depth - 1..].iter().map(|open| KeptOpen::new(open, start, first_key)).collect(),
            false => None,
        };
        let Some(open) = open else {
            self.runs[index] = Run::Never;
            return Ok(true);
        };
        let text = self.yaml.started_since(start, levels);
        charge(0, text.size())?;
        let items = self.items[first_key..].into();
        self.runs[index] = Run::Kept(Box::new(KeptRun { point, had_items, depth, nodes, text, items, open }));
        Ok(true)
    }
}

impl KeptOpen {
    /// The state of a collection after a run that began at `start` with `first_key` items; `None`
    /// for keys that may come again.
    fn new(open: &OpenText, start: usize, first_key: usize) -> Option<KeptOpen> {
        let &Keys::InOrder(first) = &open.keys else { return None };
        Some(KeptOpen {
            tag: open.tag,
            item: open.item,
            collection: open.collection,
            has_items: open.has_items,
            has_value: open.has_value,
            value: open.value.since(start),
            // The outer collection keeps its own.
            first_key: first.saturating_sub(first_key),
            may_be_overlay: open.may_be_overlay,
        })
    }
}

/// Whether an operation starts items, and collections whose keys are different.
fn is_surely_startable(table: &NodeTable, op: &Op) -> bool {
    let is_startable = |tag| match table.node(tag).kind {
        TemplateNodeKind::Document | TemplateNodeKind::MapItem(_) | TemplateNodeKind::ArrayItem => true,
        TemplateNodeKind::Map { distinct, .. } => distinct,
        TemplateNodeKind::Array(_) => true,
        TemplateNodeKind::DocumentSet | TemplateNodeKind::Text => false,
    };
    let Some(tag) = op.starts() else { return false };
    table.complex_key(op).is_none() && is_startable(tag) && (!matches!(op, Op::StartNested(_)) || is_startable(tag + 1))
}

/// Charges the text of a run.
fn charge(count: u32, text: usize) -> Result<()> {
    budget::text(count as usize * SCALAR_BYTES + text).map_err(|exceeded| exceeded.to_string())
}
