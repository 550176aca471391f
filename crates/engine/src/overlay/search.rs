//! Finds the items on the left that an overlay's item matches: the arguments of `@overlay/match`,
//! and the search.

use ytterby_diag::{Failure, Id};
use ytterby_starlark::{Eval, Value};

use super::expects::{Expects, unknown_argument};
use super::index::{Index, Leaf};
use super::left::{ItemKind, Left};
use super::matcher::{self, MatchHint, Matcher};
use super::values::cleaned;
use crate::annotation::Ann;
use crate::args::go_type;
use crate::node::{Annotated, Node};

/// Which items match, and how many are expected.
pub(super) struct MatchRule<'r> {
    pub by: By<'r>,
    pub expects: Expects<'r>,
}

/// How items are found.
pub(super) enum By<'r> {
    /// The item with the same key.
    Key,
    /// The only document.
    OnlyDocument,
    /// None: the item is added.
    Nothing,
    /// Items for which a matcher returns true.
    Matcher(Matcher),
    /// Items for which a function returns true.
    Function(&'r Value),
    /// `by=` is missing.
    Missing,
    /// `by=` has an invalid value.
    Wrong(&'r Value),
}

/// Whether an overlay's documents are matched, or paired one to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pairing {
    ByMatch,
    OneToOne,
}

impl<'r> MatchRule<'r> {
    /// The rule of an item of the overlay.
    pub fn of<I: Annotated>(
        kind: ItemKind,
        pairing: Pairing,
        item: &'r I,
        defaults: Expects<'r>,
    ) -> Result<MatchRule<'r>, Failure> {
        let annotation = item.annotation(Ann::OverlayMatch);
        let one_to_one = kind == ItemKind::Document && pairing == Pairing::OneToOne;
        match annotation {
            None if kind == ItemKind::ArrayItem => {
                return Ok(MatchRule {
                    by: By::Nothing,
                    expects: Expects { expects: Some(&NONE), ..Expects::default() },
                });
            }
            None if kind == ItemKind::Document && !one_to_one => return Err(no_arguments()),
            Some(annotation) if annotation.kwargs.is_empty() && kind != ItemKind::MapItem && !one_to_one => {
                return Err(no_arguments());
            }
            _ => {}
        }
        let mut by = None;
        let mut expects = Expects::default();
        if let Some(annotation) = annotation {
            for (name, value) in &annotation.kwargs {
                match name.as_bytes() {
                    b"by" => by = Some(value),
                    name_bytes if expects.set(name_bytes, value) => {}
                    _ => return Err(unknown_argument(annotation, name)),
                }
            }
        }
        let by = match by {
            _ if one_to_one => By::OnlyDocument,
            None if kind == ItemKind::MapItem => By::Key,
            None => By::Missing,
            Some(Value::Str(key)) if kind != ItemKind::Document => By::Matcher(Matcher::MapKey(key.clone())),
            Some(value) => match value.downcast::<Matcher>() {
                Some(matcher) => By::Matcher(matcher.clone()),
                None if value.is_callable() => By::Function(value),
                None => By::Wrong(value),
            },
        };
        Ok(MatchRule { by, expects: expects.or(defaults).or_adding(annotation.is_none() && item.policy().adds) })
    }
}

/// No match is expected.
const NONE: Value = Value::Int(0);

fn no_arguments() -> Failure {
    let text = "Expected 'overlay/match' annotation to have at least one keyword argument (by=..., expects=...)";
    Failure::new(Id::OVERLAY_MATCHER, text)
}

/// The slots found, in order. Usually there is one, which needs no allocation.
#[derive(Default, Debug)]
pub(super) struct MatchingSlots {
    first: Option<usize>,
    more: Vec<usize>,
}

impl MatchingSlots {
    pub fn count(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.first.iter().chain(&self.more).copied()
    }

    fn push(&mut self, slot: usize) {
        match self.first {
            None => self.first = Some(slot),
            Some(_) => self.more.push(slot),
        }
    }
}

impl From<Option<usize>> for MatchingSlots {
    fn from(first: Option<usize>) -> MatchingSlots {
        MatchingSlots { first, more: Vec::new() }
    }
}

/// Whether the left side is ready to be passed to functions of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeftState {
    Clean,
    AsItCame,
}

/// Finds the items that match a rule. `right` is the clean value of the overlay's item.
pub(super) fn find<L: Left>(
    eval: &mut Eval,
    left: &mut L,
    state: LeftState,
    by: &By<'_>,
    item: &L::Item,
    right: &Node,
) -> Result<MatchingSlots, Failure> {
    match by {
        By::Nothing => Ok(MatchingSlots::default()),
        By::Key => Ok(left.same_key(item).into()),
        By::OnlyDocument => match left.first() {
            Some(slot) => Ok(Some(slot).into()),
            None => {
                let text = "Expected to find exactly one left document when merging exactly two documents";
                Err(Failure::new(Id::OVERLAY_CONFLICT, text))
            }
        },
        By::Missing => Err(Failure::new(
            Id::OVERLAY_MATCHER,
            match L::KIND {
                // The reference has two spaces here.
                ItemKind::Document => "Expected 'overlay/match' annotation keyword argument 'by'  to be specified",
                _ => "Expected 'overlay/match' annotation keyword argument 'by' to be specified",
            },
        )),
        By::Wrong(value) => {
            let wanted = match L::KIND {
                ItemKind::Document => "function",
                _ => "either string (for map key) or function",
            };
            let found = go_type(value);
            Err(Failure::new(
                Id::OVERLAY_MATCHER,
                format!("Expected 'overlay/match' annotation keyword argument 'by' to be {wanted}, but was {found}"),
            ))
        }
        By::Matcher(matcher) => by_matcher(eval, left, state, matcher, right),
        By::Function(function) => scan(left, |number_or_key, value| {
            let cleaned = if state == LeftState::Clean { None } else { cleaned(value) };
            Ok(matcher::test(function, eval, number_or_key, cleaned.as_ref().unwrap_or(value), right)?)
        }),
    }
}

fn by_matcher<L: Left>(
    eval: &mut Eval,
    left: &mut L,
    state: LeftState,
    matcher: &Matcher,
    right: &Node,
) -> Result<MatchingSlots, Failure> {
    let candidates = match matcher.hint(right) {
        MatchHint::Number(number) if L::KIND != ItemKind::MapItem => {
            return Ok(usize::try_from(number).ok().and_then(|number| left.nth(number)).into());
        }
        MatchHint::Leaves(lists) => with_index(left, |index, left| {
            let mut slots = Vec::new();
            // All paths are looked up, so that the next search finds their tables.
            let found: Vec<bool> = lists.iter().map(|leaves| rarest(index, left, leaves, &mut slots)).collect();
            found.into_iter().all(|found| found).then_some(slots)
        }),
        MatchHint::Key(leaf) => with_index(left, |index, left| match index.candidates(&leaf, left.values()) {
            Some((slots, 0)) => Some(slots.to_vec()),
            // Items without the key are an error; the scan item by item creates its message.
            _ => None,
        }),
        MatchHint::Number(_) | MatchHint::Any => None,
    };
    let prepared = matcher.prepared();
    let Some(candidates) = candidates else {
        let needs_cleaning = state == LeftState::AsItCame && matcher.calls_programs();
        return scan(left, |place, value| {
            let cleaned = if needs_cleaning { cleaned(value) } else { None };
            Ok(prepared.test(eval, place, cleaned.as_ref().unwrap_or(value), right)?)
        });
    };
    let mut slots: Vec<usize> = candidates.into_iter().map(|slot| slot as usize).collect();
    slots.retain(|&slot| left.is_live(slot));
    left.sort(&mut slots);
    slots.dedup();
    let mut found = MatchingSlots::default();
    for slot in slots {
        // Matchers with hints ignore indexes.
        if prepared.test(eval, left.place(slot, 0), left.get(slot).value(), right)? {
            found.push(slot);
        }
    }
    Ok(found)
}

/// Adds the slots with the leaf that the fewest items have. Says whether there is a table for one
/// of the leaves.
fn rarest<L: Left>(index: &mut Index, left: &L, leaves: &[Leaf], slots: &mut Vec<u32>) -> bool {
    let count = |index: &mut Index, leaf| index.candidates(leaf, left.values()).map(|(slots, _)| slots.len());
    let counts = leaves.iter().filter_map(|leaf| Some((count(index, leaf)?, leaf)));
    let Some((_, rarest)) = counts.min_by_key(|(count, _)| *count) else { return false };
    if let Some((found, _)) = index.candidates(rarest, left.values()) {
        slots.extend_from_slice(found);
    }
    true
}

fn with_index<L: Left, R>(left: &mut L, look: impl FnOnce(&mut Index, &L) -> R) -> R {
    let mut index = std::mem::take(left.index());
    let result = look(&mut index, left);
    *left.index() = index;
    result
}

/// Tests every item.
fn scan<L: Left>(
    left: &L,
    mut test: impl FnMut(matcher::ItemKey<'_>, &Node) -> Result<bool, Failure>,
) -> Result<MatchingSlots, Failure> {
    let mut found = MatchingSlots::default();
    for (number, (slot, value)) in left.values().enumerate() {
        if test(left.place(slot, number), value)? {
            found.push(slot);
        }
    }
    Ok(found)
}
