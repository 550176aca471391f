//! The map around a wrong value, as it stands after the merge.
//!
//! Each map is shown once, however many of its values are wrong. Of large ones one sees what is next to the wrong
//! values, of long values the beginning: a message does not grow with the data values.

use std::collections::{BTreeSet, HashMap, HashSet};

use ytterby_diag::Pos;

use crate::library::FileDocuments;
use crate::node::{Array, ArrayItem, Document, DocumentSet, Map, MapItem, Node, Scalar};
use crate::output;

/// Maps with up to so many items are shown whole.
const SMALL: usize = 12;
/// So many items are shown on each side of a wrong one.
const NEIGHBOURS: usize = 2;
/// So many lines are shown of an item.
const ITEM_LINES: usize = 6;
/// So many lines are shown in all.
const LINES: usize = 40;
/// So many bytes are shown of a text.
const TEXT: usize = 200;

/// What stands for what is left out.
const MORE: &str = "…";

/// For the places of wrong values in a document, in their order: the map to show with each, as lines of YAML. `hide`
/// replaces secrets in texts.
pub(super) fn maps_around(root: &Node, places: &[Pos], hide: &dyn Fn(String) -> String) -> Vec<Option<Vec<String>>> {
    let mut search = Search { places: places.iter().copied().collect(), found: HashMap::new() };
    search.node(root, None);
    let found = search.found;
    let mut wrong: HashMap<*const Map, BTreeSet<usize>> = HashMap::new();
    for (map, at) in found.values() {
        wrong.entry(std::ptr::from_ref(*map)).or_default().insert(*at);
    }
    let once = |pos: &Pos| {
        let (map, _) = found.get(pos)?;
        wrong.remove(&std::ptr::from_ref(*map)).map(|wrong| lines(map, &wrong, hide))
    };
    places.iter().map(once).collect()
}

/// Finds the innermost map around each place, and the item of the map.
struct Search<'n> {
    places: HashSet<Pos>,
    found: HashMap<Pos, (&'n Map, usize)>,
}

impl<'n> Search<'n> {
    fn node(&mut self, node: &'n Node, holder: Option<(&'n Map, usize)>) {
        match node {
            Node::Scalar(_) => {}
            Node::Map(map) => {
                for (at, item) in map.iter().enumerate() {
                    self.note(item.pos, Some((map, at)));
                    crate::deep(|| self.node(&item.value, Some((map, at))));
                }
            }
            Node::Array(array) => {
                for item in &array.items {
                    self.note(item.pos, holder);
                    crate::deep(|| self.node(&item.value, None));
                }
            }
        }
    }

    fn note(&mut self, pos: Pos, holder: Option<(&'n Map, usize)>) {
        if let (true, Some(holder)) = (self.places.contains(&pos), holder) {
            self.found.entry(pos).or_insert(holder);
        }
    }
}

/// A map as YAML, cut around the items that are wrong.
fn lines(map: &Map, wrong: &BTreeSet<usize>, hide: &dyn Fn(String) -> String) -> Vec<String> {
    let shown: BTreeSet<usize> = if map.len() <= SMALL {
        (0..map.len()).collect()
    } else {
        let around = |at: &usize| at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(map.len());
        wrong.iter().take(LINES).flat_map(around).collect()
    };
    let mut lines = Vec::new();
    let mut next = 0;
    for at in shown {
        if at > next {
            lines.push(MORE.to_owned());
        }
        lines.extend(item_lines(&map.items()[at], hide));
        next = at + 1;
        if lines.len() > LINES {
            lines.truncate(LINES);
            next = 0;
            break;
        }
    }
    if next < map.len() {
        lines.push(MORE.to_owned());
    }
    lines
}

fn item_lines(item: &MapItem, hide: &dyn Fn(String) -> String) -> Vec<String> {
    let mut left = ITEM_LINES + 1;
    let item = MapItem::new(item.key.clone(), beginning(&item.value, &mut left, hide), Pos::UNKNOWN);
    let doc = Document::new(Node::map(Map::from_items(vec![item])), Pos::UNKNOWN);
    let Ok(yaml) = output::yaml([FileDocuments::Nodes(DocumentSet { items: vec![doc] })]) else { return Vec::new() };
    let yaml = String::from_utf8_lossy(&yaml);
    let mut lines: Vec<String> = yaml.trim_end().lines().take(ITEM_LINES + 1).map(str::to_owned).collect();
    if lines.len() > ITEM_LINES {
        lines.truncate(ITEM_LINES);
        lines.push(format!("  {MORE}"));
    }
    lines
}

/// The first items of a value, so that long ones need not be written.
fn beginning(node: &Node, left: &mut usize, hide: &dyn Fn(String) -> String) -> Node {
    *left = left.saturating_sub(1);
    match node {
        Node::Scalar(Scalar::Str(text)) => {
            // Before it is cut: part of a secret is not found any more.
            let text = hide(text.to_str().into_owned());
            if text.len() <= TEXT {
                return Node::str(text);
            }
            let end = (0..=TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            Node::str(format!("{}{MORE}", &text[..end]))
        }
        Node::Scalar(_) => node.clone(),
        Node::Map(map) => {
            let mut items = Vec::new();
            for item in map.iter() {
                if *left == 0 {
                    break;
                }
                let value = crate::deep(|| beginning(&item.value, left, hide));
                items.push(MapItem::new(item.key.clone(), value, item.pos));
            }
            Node::map(Map::from_items(items))
        }
        Node::Array(array) => {
            let mut items = Vec::new();
            for item in &array.items {
                if *left == 0 {
                    break;
                }
                items.push(ArrayItem::new(crate::deep(|| beginning(&item.value, left, hide)), item.pos));
            }
            Node::array(Array { items, origin: array.origin })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ytterby_diag::FileId;

    fn pos(offset: u32) -> Pos {
        Pos::new(FileId(0), offset)
    }

    /// A map of the keys `k0`, `k1`, … with these values; the places are the numbers.
    fn map(values: impl IntoIterator<Item = Node>) -> Node {
        let item = |(at, value)| MapItem::new(Scalar::from(&*format!("k{at}")), value, pos(at as u32));
        Node::map(values.into_iter().enumerate().map(item).collect())
    }

    fn numbers(count: i64) -> Node {
        map((0..count).map(|at| Node::Scalar(Scalar::Int(at))))
    }

    #[test]
    fn each_map_is_shown_once() {
        let shown = maps_around(&numbers(2), &[pos(1), pos(0), pos(9)], &|text| text);
        assert_eq!(shown, [Some(vec!["k0: 0".to_owned(), "k1: 1".to_owned()]), None, None]);
    }

    #[test]
    fn large_maps_are_cut_around_what_is_wrong() {
        let shown = maps_around(&numbers(100), &[pos(50), pos(1)], &|text| text).remove(0).unwrap();
        assert_eq!(
            shown,
            ["k0: 0", "k1: 1", "k2: 2", "k3: 3", "…", "k48: 48", "k49: 49", "k50: 50", "k51: 51", "k52: 52", "…"]
        );
        let all: Vec<Pos> = (0..10_000).map(pos).collect();
        let shown = maps_around(&numbers(10_000), &all, &|text| text).remove(0).unwrap();
        assert_eq!(shown.len(), LINES + 1);
        assert_eq!(shown[LINES], MORE);
    }

    #[test]
    fn long_values_are_cut() {
        let items = (0..1000).map(|at| ArrayItem::new(Node::Scalar(Scalar::Int(at)), Pos::UNKNOWN)).collect();
        let array = Node::array(Array { items, ..Array::default() });
        let shown = maps_around(&map([array, Node::str("é".repeat(500))]), &[pos(0)], &|text| text).remove(0).unwrap();
        let want = ["k0:", "- 0", "- 1", "- 2", "- 3", "- 4", "  …"].map(str::to_owned);
        assert_eq!(shown[..7], want);
        assert_eq!(shown[7], format!("k1: {}…", "é".repeat(TEXT / 2)));
    }
}
