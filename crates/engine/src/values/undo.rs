//! Reverts a merge, without copying the parts that it did not touch.
//!
//! With `--all-errors`, an input that does not match is left out and the merge continues. A full
//! copy of the values before each input would be expensive; this one costs as much as the input.

use std::rc::Rc;

use ytterby_diag::Pos;

use super::prepare::Touch;
use crate::annotation::Annotation;
use crate::node::{Annotated, Map, Meta, Node, Scalar};

/// A document, or an item of one, as it was before a merge.
pub(super) enum Undo {
    /// All of it.
    Whole { value: Node, pos: Pos, meta: Option<Rc<Meta>> },
    /// A map that was changed in place. `given` is the number of positions before the merge.
    Items { annotations: Vec<Annotation>, given: Option<usize>, items: Vec<(Scalar, Option<Undo>)> },
}

impl Undo {
    /// The information to revert the merge of `right` into `left`.
    pub fn of(left: &impl Annotated, right: &Node, touch: &Touch) -> Undo {
        let (Touch::Items(touched), Node::Map(map), Node::Map(right)) = (touch, left.value(), right) else {
            return Undo::Whole {
                value: left.value().clone(),
                pos: left.pos(),
                meta: left.meta().cloned().map(Rc::new),
            };
        };
        let before = |(at, touch): &(usize, Touch)| {
            let item = &right.items()[*at];
            let before = map.get(&item.key).map(|left| crate::deep(|| Undo::of(left, &item.value, touch)));
            (item.key.clone(), before)
        };
        Undo::Items {
            annotations: left.annotations().to_vec(),
            given: left.meta().map(|meta| meta.given.len()),
            items: touched.iter().map(before).collect(),
        }
    }

    /// Reverts the merge.
    pub fn apply(self, merged: &mut impl Annotated) {
        match self {
            Undo::Whole { value, pos, meta } => {
                *merged.value_mut() = value;
                merged.set_pos(pos);
                *merged.meta_slot() = meta;
            }
            Undo::Items { annotations, given, items } => {
                match given {
                    Some(given) => {
                        let meta = merged.meta_mut();
                        meta.annotations = annotations;
                        meta.given.truncate(given);
                    }
                    None => *merged.meta_slot() = None,
                }
                let Node::Map(map) = merged.value_mut() else {
                    unreachable!("a map of which only items are touched stays a map")
                };
                put_back(Rc::make_mut(map), items);
            }
        }
    }
}

fn put_back(map: &mut Map, items: Vec<(Scalar, Option<Undo>)>) {
    // In reverse order, because items are added at the end of a map.
    for (key, before) in items.into_iter().rev() {
        match (map.find(&key), before) {
            (Some(at), Some(before)) => crate::deep(|| before.apply(map.item_mut(at))),
            (Some(at), None) if at + 1 == map.len() => drop(map.pop()),
            (Some(at), None) => drop(map.remove(at)),
            (None, _) => {}
        }
    }
}
