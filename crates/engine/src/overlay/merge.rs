//! Applies an overlay: walks over the right side and changes the left side where it matches.
//!
//! Only matching parts are touched; shared parts of the left are copied when they change (copy on
//! write).

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Failure, Id, Part, Step, Text};
use ytterby_starlark::{Error, Eval, Value};
use ytterby_text::profile::{self, SpanKind};
use ytterby_text::{Str, budget};

use super::action::{self, Action, Insertion, Replacement};
use super::compare;
use super::edit::{self, Edits};
use super::expects::{Expects, MatchingItems, Unmet};
use super::explain;
use super::left::{End, Entries, ItemKind, Items, Left, LeftDocuments};
use super::search::{self, LeftState, MatchRule, MatchingSlots, Pairing};
use super::sequence::InsertSide;
use super::values::{Copies, cleaned, mark_values_given, strip};
use super::{Purpose, values};
use crate::annotation::Ann;
use crate::args::go_type;
use crate::deep;
use crate::node::{Annotated, Document, FragmentData, Node, Origin, from_value, key_text, to_value};
use crate::record::Record;
use crate::run::Run;

/// Approximate bytes of an item, with its slot in an index.
const ITEM_BYTES: usize = 128;

/// The state while an overlay is applied.
pub(super) struct Merge<'c> {
    pub eval: &'c mut Eval,
    pub run: &'c Run,
    pub purpose: Purpose,
    copies: Copies,
}

/// The result of merging a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Merged {
    /// The left value was changed as needed.
    Inside,
    /// The right value replaces the left one.
    Replaced,
}

impl<'c> Merge<'c> {
    pub fn new(eval: &'c mut Eval, run: &'c Run, purpose: Purpose) -> Merge<'c> {
        Merge { eval, run, purpose, copies: Copies::default() }
    }

    /// Applies the documents of an overlay one after the other.
    pub fn documents(&mut self, left: &mut LeftDocuments, right: &[Document]) -> Result<(), Failure> {
        let record = Record::of(self.run).filter(|_| !self.purpose.is_one_to_one());
        if let Some(record) = &record {
            record.begin(left.snapshot());
        }
        for doc in right {
            let _span = profile::span_at(SpanKind::Overlay, (doc.pos.file.0, doc.pos.offset), || {
                Str::from(match self.purpose {
                    Purpose::Templates => "templates",
                    Purpose::Call => "overlay.apply",
                    Purpose::Values => "data values",
                    Purpose::Schema => "schema",
                })
            });
            let merged = self.item(left, doc, Expects::default());
            // A report of an exceeded limit names the overlay that took most of the time.
            budget::at(doc.pos.file.0, doc.pos.offset);
            merged.map_err(|failure| explain::inside(failure, Text::new("Document on line ").at(doc.pos), doc.pos))?;
            if let Some(record) = &record {
                record.step(doc, left.snapshot());
            }
        }
        Ok(())
    }

    /// Applies a value of an overlay to a value.
    pub fn value<'r>(&mut self, left: &mut Node, right: &'r Node, defaults: Expects<'r>) -> Result<Merged, Failure> {
        // Most values: without looking at the stack.
        if let Node::Scalar(_) = right {
            return Ok(Merged::Replaced);
        }
        deep(|| match (left, right) {
            (_, Node::Scalar(_)) => Ok(Merged::Replaced),
            (Node::Map(left), Node::Map(right)) => {
                if right.is_empty() {
                    return Ok(Merged::Inside);
                }
                budget::memory(ITEM_BYTES * left.len())?;
                let left = Rc::make_mut(left);
                (left.origin, left.is_merged) = (Origin::Yaml, true);
                let mut entries = Entries::new(left);
                for item in right.iter() {
                    self.item(&mut entries, item, defaults).map_err(|failure| {
                        let key = key_text(&item.key).into_owned();
                        let context = Text::new("Map item (key '").value(key.clone()).then("') on line ").at(item.pos);
                        explain::inside_step(failure, context, item.pos, Step::Key(key))
                    })?;
                }
                entries.finish()?;
                Ok(Merged::Inside)
            }
            (Node::Array(left), Node::Array(right)) => {
                if right.items.is_empty() {
                    return Ok(Merged::Inside);
                }
                budget::memory(ITEM_BYTES * left.items.len())?;
                let left = Rc::make_mut(left);
                left.origin = Origin::Yaml;
                let mut items = Items::new(std::mem::take(&mut left.items));
                let mut result = Ok(Merged::Inside);
                for (number, item) in right.items.iter().enumerate() {
                    if let Err(failure) = self.item(&mut items, item, defaults) {
                        let context = Text::new("Array item on line ").at(item.pos);
                        result = Err(explain::inside_step(failure, context, item.pos, Step::Index(number)));
                        break;
                    }
                }
                left.items = items.into_vec();
                result
            }
            (other, Node::Map(_)) => Err(conflict("map", other.type_name())),
            (other, Node::Array(_)) => Err(conflict("array", other.type_name())),
        })
    }

    fn item<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        budget::work(4)?;
        match Action::of(right)? {
            Action::Merge => self.merge(left, right, defaults),
            Action::Noop => self.leave(left, right, defaults),
            Action::Remove => self.remove(left, right, defaults),
            Action::Replace => self.replace(left, right, defaults),
            Action::Assert => self.assert(left, right, defaults),
            Action::Insert if L::KIND == ItemKind::MapItem => Err(self.only_on_arrays(Ann::OverlayInsert, right)),
            Action::Append if L::KIND == ItemKind::MapItem => Err(self.only_on_arrays(Ann::OverlayAppend, right)),
            Action::Insert => self.insert(left, right, defaults),
            Action::Append => self.append(left, right),
        }
    }

    fn merge<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let child_defaults = defaults.for_children(right)?;
        let rule = self.rule::<L>(right, defaults)?;
        let edits = Edits::of(self.run, right)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        if found.count() == 0 && L::KIND != ItemKind::Document {
            let item = self.copy(right);
            left.push(item, End::Last);
            self.note_effect(right, true);
        }
        for slot in found.iter() {
            budget::memory(ITEM_BYTES)?;
            budget::work(4)?;
            let item = left.get_mut(slot);
            let merged = match item.value() {
                Node::Scalar(scalar) if scalar.is_null() => Merged::Replaced,
                _ => self.value(item.value_mut(), right.value(), child_defaults)?,
            };
            if merged == Merged::Replaced {
                *item.value_mut() = self.copy_value(right.value());
                if L::KIND != ItemKind::Document {
                    item.set_pos(right.pos());
                }
            }
            if self.marks_given() {
                item.meta_mut().given.push(right.pos());
            }
            edit::merge_annotations(self, item, right, &edits)?;
            left.changed(slot);
        }
        Ok(())
    }

    /// `@overlay/noop`.
    fn leave<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let rule = self.rule::<L>(right, defaults)?;
        let edits = Edits::of(self.run, right)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        found.iter().try_for_each(|slot| edit::merge_annotations(self, left.get_mut(slot), right, &edits))
    }

    fn remove<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let rule = self.rule::<L>(right, defaults)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        found.iter().for_each(|slot| left.remove(slot));
        Ok(())
    }

    fn replace<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let rule = self.rule::<L>(right, defaults)?;
        let Replacement { via, or_add } = Replacement::of(right)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        for slot in found.iter() {
            budget::memory(ITEM_BYTES)?;
            budget::work(4)?;
            let mut item = self.copy_via(right, via, Some(left.get(slot).value()))?;
            if self.marks_given()
                && let Some(meta) = left.get(slot).meta()
            {
                item.meta_mut().given.splice(0..0, meta.given.iter().copied());
            }
            left.replace(slot, item);
        }
        if found.count() == 0 && or_add {
            let item = self.copy_via(right, via, None)?;
            self.check_has_home(left)?;
            left.push(item, End::First);
            self.note_effect(right, true);
        }
        Ok(())
    }

    fn insert<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let rule = self.rule::<L>(right, defaults)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        let Insertion { before, after, via } = Insertion::of(right)?;
        for slot in found.iter() {
            budget::memory(2 * ITEM_BYTES)?;
            budget::work(4)?;
            let item = self.copy_via(right, via, Some(left.get(slot).value()))?;
            if before {
                left.insert(slot, InsertSide::Before, item.clone());
            }
            if after {
                left.insert(slot, InsertSide::After, item);
            }
        }
        Ok(())
    }

    fn append<L: Left>(&mut self, left: &mut L, right: &L::Item) -> Result<(), Failure> {
        self.check_has_home(left)?;
        budget::memory(ITEM_BYTES)?;
        let item = self.copy(right);
        left.push(item, End::Last);
        Ok(())
    }

    fn assert<'r, L: Left>(&mut self, left: &mut L, right: &'r L::Item, defaults: Expects<'r>) -> Result<(), Failure> {
        let child_defaults = defaults.for_children(right)?;
        let rule = self.rule::<L>(right, defaults)?;
        let via = action::assertion(right)?;
        let edits = Edits::of(self.run, right)?;
        let Some(found) = self.find(left, right, &rule)? else { return Ok(()) };
        for slot in found.iter() {
            self.check_assertion(left.get(slot).value(), right.value(), via)?;
            let item = left.get_mut(slot);
            self.value(item.value_mut(), right.value(), child_defaults)?;
            edit::merge_annotations(self, item, right, &edits)?;
            left.changed(slot);
        }
        Ok(())
    }

    fn rule<'r, L: Left>(&self, right: &'r L::Item, defaults: Expects<'r>) -> Result<MatchRule<'r>, Failure> {
        let pairing = if self.purpose.is_one_to_one() { Pairing::OneToOne } else { Pairing::ByMatch };
        MatchRule::of(L::KIND, pairing, right, defaults)
    }

    /// The matching items; none if `when=` is not satisfied.
    fn find<'r, L: Left>(
        &mut self,
        left: &mut L,
        right: &'r L::Item,
        rule: &MatchRule<'r>,
    ) -> Result<Option<MatchingSlots>, Failure> {
        let value = match rule.by {
            search::By::Key | search::By::Nothing => Node::NULL,
            _ => self.copies.of(right.value()),
        };
        let found = search::find(self.eval, left, self.left_state(), &rule.by, right, &value)?;
        self.note_effect(right, found.count() > 0);
        let places = || found.iter().map(|slot| left.get(slot).pos()).collect();
        match rule.expects.check(self.eval, MatchingItems { count: found.count(), places: &places }) {
            Ok(()) => Ok(Some(found)),
            Err(Unmet::Count(_)) if rule.expects.when.is_some() => Ok(None),
            Err(Unmet::Count(text)) => Err(explain::unmet(self.run, self.purpose, left, right, rule, &found, text)),
            Err(Unmet::Error(error)) => Err(error.into_failure()),
        }
    }

    /// Records whether an item of the right side matched anything, if the host wants to know.
    fn note_effect(&self, right: &impl Annotated, has_effect: bool) {
        if self.purpose == Purpose::Templates
            && let Some(record) = &self.run.options.overlay_record
        {
            record.note(right.pos(), has_effect);
        }
    }

    /// A copy of a right-side item for the left side.
    fn copy<I: Annotated + Clone>(&mut self, right: &I) -> I {
        let mut item = right.clone();
        strip(&mut item);
        *item.value_mut() = self.copies.of(right.value());
        if self.marks_given() {
            values::mark_given(&mut item);
        }
        item
    }

    fn copy_value(&mut self, right: &Node) -> Node {
        let mut value = self.copies.of(right);
        if self.marks_given() {
            mark_values_given(&mut value);
        }
        value
    }

    /// The same with a value that a function computes from the left and the right value.
    fn copy_via<I: Annotated + Clone>(
        &mut self,
        right: &I,
        via: Option<&Value>,
        left: Option<&Node>,
    ) -> Result<I, Failure> {
        let Some(via) = via else { return Ok(self.copy(right)) };
        let args = [self.left_value(left), to_value(&self.copies.of(right.value()))];
        let result = self.eval.call(via, &args, &[]).map_err(Error::into_failure)?;
        let made = from_value(&result).map_err(|why| Failure::new(Id::CODE_VALUE, why))?;
        let value = match made {
            FragmentData::Node(node) => cleaned(&node).unwrap_or(node),
            FragmentData::Documents(_) => {
                let text = "Expected via invocation to return a value, but was document set";
                return Err(Failure::new(Id::ANNOTATION_ARGUMENT, text));
            }
        };
        let mut item = right.clone();
        strip(&mut item);
        *item.value_mut() = value;
        if self.marks_given() {
            values::mark_given(&mut item);
        }
        Ok(item)
    }

    fn check_assertion(&mut self, left: &Node, right: &Node, via: Option<&Value>) -> Result<(), Failure> {
        let Some(via) = via else {
            return match compare::mismatch(left, right) {
                None => Ok(()),
                Some(mismatch) => {
                    let text = Text::new("Expected objects to equal, but did not: ").value(mismatch.to_string());
                    Err(Failure::new(Id::OVERLAY_ASSERT, text))
                }
            };
        };
        if !via.is_callable() {
            let found = go_type(via);
            return Err(Failure::new(
                Id::ANNOTATION_ARGUMENT,
                format!("Expected 'overlay/assert' annotation keyword argument 'via' to be function, but was {found}"),
            ));
        }
        let args = [self.left_value(Some(left)), to_value(&self.copies.of(right))];
        let result = self.eval.call(via, &args, &[]).map_err(Error::into_failure)?;
        let pair = match &result {
            Value::None | Value::Bool(true) => return Ok(()),
            Value::Bool(false) => {
                let text = "Expected via invocation to return true, but was false";
                return Err(Failure::new(Id::OVERLAY_ASSERT, text));
            }
            Value::Tuple(pair) => pair.to_vec(),
            Value::List(pair) => pair.to_vec(),
            _ => Vec::new(),
        };
        match pair.as_slice() {
            [Value::Bool(true), Value::Str(_)] => Ok(()),
            [Value::Bool(false), Value::Str(message)] => Err(Failure::new(
                Id::OVERLAY_ASSERT,
                format!("Expected via invocation to return true, but was false with message: {message}"),
            )),
            _ => Err(Failure::new(
                Id::ANNOTATION_ARGUMENT,
                "Expected via invocation to return NoneType, Bool or Tuple(Bool,String), but returned neither of those",
            )),
        }
    }

    /// A value of the left side as functions see it.
    fn left_value(&self, left: Option<&Node>) -> Value {
        let Some(left) = left else { return Value::None };
        match self.left_state() {
            LeftState::Clean => to_value(left),
            LeftState::AsItCame => to_value(&cleaned(left).unwrap_or_else(|| left.clone())),
        }
    }

    fn left_state(&self) -> LeftState {
        if self.purpose.is_one_to_one() { LeftState::AsItCame } else { LeftState::Clean }
    }

    fn marks_given(&self) -> bool {
        self.purpose == Purpose::Values && self.run.is_beyond_ytt()
    }

    fn only_on_arrays(&self, ann: Ann, item: &impl Annotated) -> Failure {
        let name = ann.name();
        let text = Text::new(format!("Found @{name} on map item (")).at(item.pos());
        let text = text.then(format!("); only array items can be annotated with @{name}"));
        let pos = item.annotation(ann).map_or(item.pos(), |annotation| annotation.pos);
        Diagnostic::error(Id::ANNOTATION_MISPLACED, text).at(pos, Part::Annotation).into()
    }

    /// A new document belongs to the file of another one, so there must be one.
    fn check_has_home<L: Left>(&self, left: &L) -> Result<(), Failure> {
        if L::KIND == ItemKind::Document && !left.has_room() {
            let text = "Expected to find at least one document to add to, but there is none";
            return Err(Failure::new(Id::OVERLAY_CONFLICT, text));
        }
        Ok(())
    }
}

/// The error for a value of another kind than the overlay's.
pub(super) fn conflict(expected: &'static str, found: &str) -> Failure {
    let problem = Diagnostic::error(Id::OVERLAY_CONFLICT, format!("Expected {expected}, but was {found}"));
    let article = |kind: &str| if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    let (here, below) = (article(expected), article(found));
    problem.help(format!("{here} {expected} cannot be merged with {below} {found}: give {below} {found} here")).into()
}
