//! What is done with the values after an input was merged: checking and filling what the merge touched.

use std::rc::Rc;

use ytterby_diag::{Failure, Pos};

use super::prepare::Touch;
use crate::node::{Map, Node};
use crate::schema::check::{Context, Fit, fit};
use crate::schema::{Presence, Slot};

/// Checks and fills what `right` touched in `merged`. False where something does not fit.
pub(super) fn settle(
    cx: &mut Context<'_>,
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
                // Nothing was to happen to it.
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
            // It may be missing only where the input asked for nothing to happen.
            None if matches!(declared.presence, Presence::Always) => return whole(cx, merged, slot),
            None => {}
        }
    }
    if !in_order {
        ty.put_in_order(map);
    }
    Ok(true)
}

fn whole(cx: &mut Context<'_>, node: &mut Node, slot: &Slot) -> Result<bool, Failure> {
    match fit(cx, node, slot)? {
        Fit::Not => return Ok(false),
        Fit::AsIs => {}
        Fit::Filled(filled) => *node = filled,
    }
    Ok(true)
}

/// Gives a position to what code made and an input brought in, so that messages can show where it came from.
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
