//! Prepares an input before it is merged.
//!
//! One walk along the input, the current values and the schema finds the parts that the merge will
//! touch ([`Touch`]). It also does what the schema requires: it refuses removed keys, warns about
//! deprecated ones, allows optional keys and patterns, lets values of another kind replace each
//! other, and converts strings.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Failure, Id, Part, Path, Pos, SchemaBlock as Block};

use super::envelope::Input;
use crate::annotation::{Ann, Annotation};
use crate::node::{Annotated, ArrayItem, Document, Map, MapItem, Node, Scalar, key_text};
use crate::schema::check::CheckContext;
use crate::schema::{MapItemType, Presence, Schema, Slot, Type, coerced};

/// Which part of a value a merge touches.
#[derive(Debug)]
pub(super) enum Touch {
    /// Possibly all of it.
    Whole,
    /// These items, by their indexes in the map of the input.
    Items(Vec<(usize, Touch)>),
}

/// The result of the walk.
pub(super) struct PreparedInput {
    pub touch: Touch,
    /// Removed keys that the input gives.
    pub removed: Vec<Block>,
}

/// Prepares a document to be merged into `left`.
pub(super) fn prepare(
    cx: &mut CheckContext<'_>,
    left: &Document,
    right: &mut Document,
    schema: &Schema,
    input: Input,
) -> Result<PreparedInput, Failure> {
    let uses = schema.uses;
    let coerce = cx.run.options.coerce_values && matches!(input, Input::String | Input::EnvString);
    let replaces_kinds = input == Input::Checked;
    let goes_on = cx.run.options.all_errors;
    let uses_more = uses.keys || uses.unions || uses.shapes || uses.deprecated || uses.removed;
    let alters = uses_more || coerce || replaces_kinds || goes_on;
    let warn = uses.deprecated;
    let mut walk =
        Preparation { cx, coerce, replaces_kinds, goes_on, place: input.place(), alters, removed: Vec::new(), warn };
    if replaces_kinds && differs_in_kind(&left.value, &right.value) {
        right.meta_mut().policy.replaces = true;
    }
    let plain = !right.annotations().iter().any(is_drastic) && !is_replacing(right);
    let touch = walk.value(Some(&left.value), &mut right.value, &schema.root, &Path::document())?;
    let touch = if plain { touch } else { Touch::Whole };
    Ok(PreparedInput { touch, removed: walk.removed })
}

/// Annotations that may change more than the named items.
fn is_drastic(ann: &Annotation) -> bool {
    match ann.ann {
        Some(Ann::OverlayMatch) => ann.kwarg("by").is_some(),
        Some(Ann::OverlayRemove | Ann::OverlayInsert | Ann::OverlayAppend) => true,
        _ => false,
    }
}

/// Whether an item may be replaced by anything in the merge.
fn is_replacing(item: &impl Annotated) -> bool {
    item.policy().replaces || item.has(Ann::OverlayReplace) || item.has(Ann::OverlayAssert)
}

/// Whether an input gives a value for this item: not if it only removes it or leaves it unchanged.
fn gives(item: &dyn Annotated) -> bool {
    !item.has(Ann::OverlayRemove) && !item.has(Ann::OverlayNoop)
}

/// Whether a collection would be merged into something of another kind.
fn differs_in_kind(below: &Node, value: &Node) -> bool {
    !below.is_null()
        && std::mem::discriminant(below) != std::mem::discriminant(value)
        && !matches!(value, Node::Scalar(_))
}

struct Preparation<'w, 'a> {
    cx: &'w mut CheckContext<'a>,
    coerce: bool,
    /// Whether a value may replace one of another kind anywhere.
    replaces_kinds: bool,
    /// Whether the merge must not fail if the check after it can report the error, together with
    /// others.
    goes_on: bool,
    /// The position to use for nodes that code created.
    place: Pos,
    /// Whether there is anything to do besides finding what is touched.
    alters: bool,
    removed: Vec<Block>,
    /// Whether to warn about deprecated items: not inside one that was reported.
    warn: bool,
}

impl Preparation<'_, '_> {
    fn value(&mut self, left: Option<&Node>, right: &mut Node, slot: &Slot, path: &Path) -> Result<Touch, Failure> {
        match right {
            Node::Scalar(_) => Ok(Touch::Whole),
            Node::Map(map) => match slot.as_map() {
                Some(ty) => {
                    let left = left.and_then(Node::as_map);
                    if left.is_none() && !self.alters {
                        return Ok(Touch::Whole);
                    }
                    let ty = ty.clone();
                    crate::deep(|| self.map(left, map, &ty, path))
                }
                None => Ok(Touch::Whole),
            },
            Node::Array(array) => {
                if let (true, Some(ty)) = (self.alters, slot.as_array()) {
                    let ty = ty.clone();
                    let items = &mut Rc::make_mut(array).items;
                    crate::deep(|| {
                        items
                            .iter_mut()
                            .enumerate()
                            .try_for_each(|(at, item)| self.array_item(item, &ty.item, path, at))
                    })?;
                }
                Ok(Touch::Whole)
            }
        }
    }

    fn array_item(&mut self, item: &mut ArrayItem, slot: &Slot, path: &Path, at: usize) -> Result<(), Failure> {
        let path = path.index(at);
        let was_warning = self.warn;
        self.notice(item, slot, &path);
        self.value(None, &mut item.value, slot, &path)?;
        self.warn = was_warning;
        Ok(())
    }

    fn map(
        &mut self,
        left: Option<&Map>,
        right: &mut Rc<Map>,
        ty: &crate::schema::MapType,
        path: &Path,
    ) -> Result<Touch, Failure> {
        let mut touched = Vec::with_capacity(right.len());
        let mut whole = left.is_none();
        for at in 0..right.len() {
            let item = &right.items()[at];
            whole |= item.annotations().iter().any(is_drastic);
            let Some(declared) = self.cx.item_for(ty, &item.key)? else {
                // The merge, or the check after it, reports the error.
                if self.goes_on && gives(item) {
                    Rc::make_mut(right).item_mut(at).meta_mut().policy.adds = true;
                }
                touched.push((at, Touch::Whole));
                continue;
            };
            let below = left.and_then(|left| left.get(&item.key)).map(|item| &item.value);
            let replaces = is_replacing(item);
            // Most values are scalars; they need no copy of the map.
            if !self.alters && matches!(item.value, Node::Scalar(_)) {
                touched.push((at, Touch::Whole));
                continue;
            }
            let path = if self.alters { path.key(key_text(&item.key)) } else { Path::document() };
            let touch = if self.alters {
                self.alter(Rc::make_mut(right).item_mut(at), below, declared, &path)?
            } else {
                let mut value = item.value.clone();
                self.value(below, &mut value, &declared.slot, &path)?
            };
            touched.push((at, if replaces { Touch::Whole } else { touch }));
        }
        Ok(if whole { Touch::Whole } else { Touch::Items(touched) })
    }

    /// Changes an item as the schema requires.
    fn alter(
        &mut self,
        item: &mut MapItem,
        below: Option<&Node>,
        declared: &MapItemType,
        path: &Path,
    ) -> Result<Touch, Failure> {
        let slot = &declared.slot;
        match &declared.presence {
            Presence::Always => {}
            Presence::Removed(removed) => {
                if gives(item) {
                    self.removed.push(removed.block(&item.key, self.place_of(item), path.clone()));
                }
                return Ok(Touch::Whole);
            }
            Presence::Optional(_) | Presence::Pattern(_) => item.meta_mut().policy.adds = true,
        }
        let was_warning = self.warn;
        self.notice(item, slot, path);
        if self.coerce {
            coerce(&mut item.value, slot);
        }
        let is_open = match slot.ty {
            Type::Union(_) | Type::Shapes(_) => true,
            Type::Any => self.replaces_kinds,
            Type::Scalar(_) | Type::Map(_) | Type::Array(_) => self.replaces_kinds || self.goes_on,
        };
        let differs = below.is_some_and(|below| differs_in_kind(below, &item.value));
        let replaces = is_open && differs && !is_replacing(item);
        if replaces {
            item.meta_mut().policy.replaces = true;
        }
        if matches!(slot.ty, Type::Shapes(_)) {
            item.meta_mut().policy.adds_children = true;
        }
        let touch = self.value(below, &mut item.value, slot, path);
        self.warn = was_warning;
        Ok(if replaces { Touch::Whole } else { touch? })
    }

    fn place_of(&self, item: &dyn Annotated) -> Pos {
        if item.pos().is_known() { item.pos() } else { self.place }
    }

    /// Warns about a given item that is deprecated; the items inside it get no further warnings.
    fn notice(&mut self, item: &dyn Annotated, slot: &Slot, path: &Path) {
        let Some(notice) = &slot.docs.deprecated else { return };
        if self.warn && gives(item) {
            let text = format!("data value \"{path}\" is deprecated: {notice}");
            let warning = Diagnostic::warning(Id::VALUES_DEPRECATED, text).at(self.place_of(item), Part::Key);
            self.cx.run.warn(warning.path(path.clone()));
            self.warn = false;
        }
    }
}

/// Converts strings to YAML scalars if the slot accepts no strings; inside of shapes, if none of
/// them does.
fn coerce(value: &mut Node, slot: &Slot) {
    match value {
        Node::Scalar(Scalar::Str(_)) => coerce_for(value, &[slot]),
        // Values inside of other types are reached by the walk.
        _ if matches!(slot.ty, Type::Shapes(_)) => coerce_for(value, &[slot]),
        _ => {}
    }
}

fn coerce_for(value: &mut Node, slots: &[&Slot]) {
    let mut places = Vec::new();
    slots.iter().for_each(|slot| add_places(slot, &mut places));
    match value {
        Node::Scalar(Scalar::Str(text)) => {
            let takes_strings = places.iter().any(|place| place.ty.fits(&Scalar::Str(text.clone())));
            let read = places.iter().find_map(|place| coerced(text, place)).filter(|_| !takes_strings);
            if let Some(read) = read {
                *value = Node::Scalar(read);
            }
        }
        Node::Scalar(_) => {}
        Node::Map(map) => {
            for item in Rc::make_mut(map).iter_mut() {
                let below: Vec<&Slot> = places.iter().flat_map(|place| items_for(place, &item.key)).collect();
                crate::deep(|| coerce_for(&mut item.value, &below));
            }
        }
        Node::Array(array) => {
            let below: Vec<&Slot> = places.iter().filter_map(|place| Some(&place.as_array()?.item)).collect();
            Rc::make_mut(array).items.iter_mut().for_each(|item| crate::deep(|| coerce_for(&mut item.value, &below)));
        }
    }
}

/// The slots that a value may be meant for: those of all shapes.
fn add_places<'s>(slot: &'s Slot, places: &mut Vec<&'s Slot>) {
    match &slot.ty {
        Type::Shapes(shapes) => shapes.slots.iter().for_each(|shape| crate::deep(|| add_places(shape, places))),
        _ => places.push(slot),
    }
}

/// The slots for a key in a map: the literal one, otherwise those of patterns.
fn items_for<'s>(slot: &'s Slot, key: &Scalar) -> Vec<&'s Slot> {
    let Some(ty) = slot.as_map() else { return Vec::new() };
    match ty.literal(key) {
        Some(item) => vec![&item.slot],
        None => ty.patterns.iter().map(|item| &item.slot).collect(),
    }
}
