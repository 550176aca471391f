//! After an input was merged: checks what the merge touched, and adds defaults there.

use std::rc::Rc;

use ytterby_diag::{Failure, Pos};

use super::prepare::Touch;
use crate::node::{Map, Node};
use crate::schema::check::{CheckContext, Fit, fit};
use crate::schema::{Presence, Slot};

/// Checks and completes what `right` touched in `merged`. Returns false if something does not
/// match.
pub(super) fn settle(
    cx: &mut CheckContext<'_>,
    merged: &mut Node,
    right: &Node,
    slot: &Slot,
    touch: &Touch,
) -> Result<bool, Failure> {
    let (Touch::Items(touched), Node::Map(map), Node::Map(right), Some(ty)) =
        (touch, &mut *merged, right, slot.as_map())
    else {
        return whole(cx, merged, slot);
    };
    let map = Rc::make_mut(map);
    let mut in_order = true;
    for (at, touch) in touched {
        let item = &right.items()[*at];
        let found = map.find(&item.key);
        let Some(declared) = cx.item_for(ty, &item.key)? else {
            match found {
                Some(_) => return Ok(false),
                // The input left it unchanged.
                None => continue,
            }
        };
        match found {
            Some(at) => {
                in_order &= ty.is_in_order_at(map, at);
                let fits = crate::deep(|| settle(cx, &mut map.item_mut(at).value, &item.value, &declared.slot, touch))?;
                if !fits {
                    return Ok(false);
                }
            }
            // It may be missing only if the input did not ask for a change.
            None if matches!(declared.presence, Presence::Always) => return whole(cx, merged, slot),
            None => {}
        }
    }
    if !in_order {
        ty.put_in_order(map);
    }
    Ok(true)
}

fn whole(cx: &mut CheckContext<'_>, node: &mut Node, slot: &Slot) -> Result<bool, Failure> {
    match fit(cx, node, slot)? {
        Fit::Not => return Ok(false),
        Fit::AsIs => {}
        Fit::Filled(filled) => *node = filled,
    }
    Ok(true)
}

/// Sets a position for nodes that code created and an input added, so that messages can show their
/// origin.
pub(super) fn place(merged: &mut Node, right: &Node, pos: Pos) {
    match (merged, right) {
        (Node::Map(merged), Node::Map(right)) => {
            let merged = Rc::make_mut(merged);
            for item in right.iter() {
                let Some(at) = merged.find(&item.key) else { continue };
                let target = merged.item_mut(at);
                if !target.pos.is_known() {
                    target.pos = pos;
                }
                crate::deep(|| place(&mut target.value, &item.value, pos));
            }
        }
        (Node::Array(merged), Node::Array(_)) => {
            for item in &mut Rc::make_mut(merged).items {
                if !item.pos.is_known() {
                    item.pos = pos;
                }
                crate::deep(|| place_all(&mut item.value, pos));
            }
        }
        _ => {}
    }
}

fn place_all(node: &mut Node, pos: Pos) {
    match node {
        Node::Scalar(_) => {}
        Node::Map(map) => place_items(Rc::make_mut(map), pos),
        Node::Array(array) => {
            for item in &mut Rc::make_mut(array).items {
                if !item.pos.is_known() {
                    item.pos = pos;
                }
                crate::deep(|| place_all(&mut item.value, pos));
            }
        }
    }
}

fn place_items(map: &mut Map, pos: Pos) {
    for item in map.iter_mut() {
        if !item.pos.is_known() {
            item.pos = pos;
        }
        crate::deep(|| place_all(&mut item.value, pos));
    }
}
