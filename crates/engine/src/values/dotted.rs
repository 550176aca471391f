//! Keys that contain dots, on the command line.
//!
//! `-v tls.crt=x` means the key `crt` of the map `tls`. If a schema declares no `tls` but a key
//! `tls.crt`, the latter is meant; ytt has no way to name it. Paths that the schema accepts as they
//! are keep their meaning.

use std::rc::Rc;

use ytterby_diag::Failure;

use crate::node::{Annotated, Document, Map, Node, Scalar, key_text};
use crate::schema::check::CheckContext;
use crate::schema::{MapType, Schema};

/// Joins keys along the path of a flag, which was split at `separator`, if only that makes them
/// declared ones.
pub(super) fn join_keys(
    cx: &mut CheckContext<'_>,
    doc: &mut Document,
    schema: &Schema,
    separator: &str,
) -> Result<(), Failure> {
    let mut node = &mut doc.value;
    let mut slot = &schema.root;
    while let (Node::Map(map), Some(ty)) = (node, slot.as_map()) {
        let Some(item) = map.items().first() else { return Ok(()) };
        let mut declared = cx.item_for(ty, &item.key)?;
        if declared.is_none() {
            let Some(joined) = joined(map, ty, separator) else { return Ok(()) };
            *map = Rc::new(joined);
            declared = ty.literal(&map.items()[0].key);
        }
        // After the last key comes the value, which must stay as the user wrote it.
        let (Some(declared), false) = (declared, is_last(map)) else { return Ok(()) };
        slot = &declared.slot;
        node = &mut Rc::make_mut(map).item_mut(0).value;
    }
    Ok(())
}

/// The map with its first keys joined, if the schema declares the joined key.
fn joined(map: &Map, ty: &MapType, separator: &str) -> Option<Map> {
    let mut item = map.items().first()?;
    let mut key = key_text(&item.key).into_owned();
    while !item.policy().replaces {
        item = item.value.as_map()?.items().first()?;
        key = format!("{key}{separator}{}", key_text(&item.key));
        let whole = Scalar::from(&*key);
        if ty.literal(&whole).is_some() {
            let mut item = item.clone();
            item.key = whole;
            return Some(Map::from_items(vec![item]));
        }
    }
    None
}

/// Whether the first item of a map contains the value of the flag.
fn is_last(map: &Map) -> bool {
    map.items().first().is_none_or(|item| item.policy().replaces)
}
