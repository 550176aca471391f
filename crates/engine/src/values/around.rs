//! Shows the map around a wrong value, as it is after the merge: the value with its neighbours, one
//! line each.
//!
//! Each map is shown once, even if several of its values are wrong.

use std::collections::{HashMap, HashSet};

use ytterby_diag::Pos;
use ytterby_yaml::write::scalar_text;

use crate::node::{Map, MapItem, Node, Scalar, key_text};

/// Items shown on each side of the wrong one.
const NEIGHBOURS: usize = 1;

/// Maximum characters of a text. A longer one is omitted, since a part of a secret would not be
/// recognised.
const LONGEST_TEXT: usize = 60;

/// Replaces a long text.
const MORE: &str = "…";

/// For each position of a wrong value, in document order: the map to show, as lines of YAML.
pub(super) fn maps_around(root: &Node, places: &[Pos]) -> Vec<Option<Vec<String>>> {
    let mut search = MapSearch { places: places.iter().copied().collect(), found: HashMap::new() };
    search.node(root, None);
    let mut shown: HashSet<*const Map> = HashSet::new();
    let mut lines_at = |pos: &Pos| {
        let (map, at) = search.found.get(pos)?;
        shown.insert(std::ptr::from_ref(*map)).then(|| lines(map, *at))
    };
    places.iter().map(&mut lines_at).collect()
}

/// Finds the innermost map around each position, and the item of the map.
struct MapSearch<'n> {
    places: HashSet<Pos>,
    found: HashMap<Pos, (&'n Map, usize)>,
}

impl<'n> MapSearch<'n> {
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

/// The item at an index of a map and its neighbours.
fn lines(map: &Map, at: usize) -> Vec<String> {
    let (start, end) = (at.saturating_sub(NEIGHBOURS), (at + NEIGHBOURS + 1).min(map.len()));
    let mut lines: Vec<String> = map.items()[start..end].iter().map(line).collect();
    if start > 0 {
        lines.insert(0, MORE.to_owned());
    }
    if end < map.len() {
        lines.push(MORE.to_owned());
    }
    lines
}

fn line(item: &MapItem) -> String {
    let key = key_text(&item.key);
    match &item.value {
        Node::Scalar(Scalar::Str(text)) if text.to_str().chars().count() > LONGEST_TEXT => format!("{key}: {MORE}"),
        Node::Scalar(scalar) => format!("{key}: {}", String::from_utf8_lossy(&scalar_text(scalar))),
        Node::Map(_) => format!("{key}: {{{MORE}}}"),
        Node::Array(_) => format!("{key}: [{MORE}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ytterby_diag::FileId;

    fn pos(offset: u32) -> Pos {
        Pos::new(FileId(0), offset)
    }

    /// A map of the keys `k0`, `k1`, … with these values; the positions are the numbers.
    fn map(values: impl IntoIterator<Item = Node>) -> Node {
        let item = |(at, value)| MapItem::new(Scalar::from(&*format!("k{at}")), value, pos(at as u32));
        Node::map(values.into_iter().enumerate().map(item).collect())
    }

    #[test]
    fn each_map_is_shown_once() {
        let numbers = map((0..2).map(|at| Node::Scalar(Scalar::Int(at))));
        let shown = maps_around(&numbers, &[pos(1), pos(0), pos(9)]);
        assert_eq!(shown, [Some(vec!["k0: 0".to_owned(), "k1: 1".to_owned()]), None, None]);
    }

    #[test]
    fn large_maps_are_cut_around_the_error() {
        let numbers = map((0..100).map(|at| Node::Scalar(Scalar::Int(at))));
        let shown = maps_around(&numbers, &[pos(50)]).remove(0).unwrap();
        assert_eq!(shown, ["…", "k49: 49", "k50: 50", "k51: 51", "…"]);
    }

    #[test]
    fn long_values_are_omitted() {
        let values = [Node::str("é".repeat(500)), map([]), Node::NULL, Node::str("short")];
        let shown = maps_around(&map(values), &[pos(2)]).remove(0).unwrap();
        assert_eq!(shown, ["…", "k1: {…}", "k2: null", "k3: short"]);
    }
}
