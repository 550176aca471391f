//! Shrinks values that show a problem, as long as they still show it.
//!
//! Greedy, from large steps to small ones: first removes keys and items, then simplifies the rest.
//! Each step tests whether the problem is still there; the number of tests is limited, so the
//! result is small but not necessarily minimal.

use std::rc::Rc;

use crate::node::{Array, Map, Node, Scalar};

/// Maximum number of tests.
const QUESTIONS: usize = 2_000;

/// The smallest value found for which `fails` returns true. It must be true for `node`.
pub(super) fn shrink(node: &Node, fails: &mut dyn FnMut(&Node) -> bool) -> Node {
    let mut shrinker = Shrinker { best: node.clone(), left: QUESTIONS, fails };
    while shrinker.pass() {}
    shrinker.best
}

struct Shrinker<'f> {
    best: Node,
    left: usize,
    fails: &'f mut dyn FnMut(&Node) -> bool,
}

impl Shrinker<'_> {
    /// Tries every step once; returns whether one of them helped.
    fn pass(&mut self) -> bool {
        let mut helped = false;
        let mut ways = vec![Vec::new()];
        // Outer values first: removing a map saves looking into it.
        while let Some(way) = ways.pop() {
            helped |= self.leave_out(&way);
            helped |= self.simplify(&way);
            let count = at(&self.best, &way).map_or(0, item_count);
            ways.extend((0..count).rev().map(|item| [&way[..], &[item]].concat()));
        }
        helped && self.left > 0
    }

    /// Removes items of a map or array: all, halves, then single ones.
    fn leave_out(&mut self, way: &[usize]) -> bool {
        let mut helped = false;
        let mut size = at(&self.best, way).map_or(0, item_count);
        while size > 0 {
            let mut start = 0;
            while let Some(count) = at(&self.best, way).map(item_count).filter(|count| start < *count) {
                let end = (start + size).min(count);
                if self.attempt(way, |node| without(node, start, end)) {
                    helped = true;
                } else {
                    start = end;
                }
            }
            size /= 2;
        }
        helped
    }

    /// Replaces a scalar by simpler ones.
    fn simplify(&mut self, way: &[usize]) -> bool {
        let mut helped = false;
        while let Some(Node::Scalar(scalar)) = at(&self.best, way) {
            let simpler = simpler(scalar);
            let better = simpler.into_iter().any(|scalar| self.attempt(way, |_| Some(Node::Scalar(scalar.clone()))));
            if !better {
                break;
            }
            helped = true;
        }
        helped
    }

    /// Keeps a change if the problem is still there.
    fn attempt(&mut self, way: &[usize], change: impl FnOnce(&Node) -> Option<Node>) -> bool {
        if self.left == 0 {
            return false;
        }
        let Some(changed) = at(&self.best, way).and_then(change) else { return false };
        let candidate = with(&self.best, way, changed);
        self.left -= 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }
}

fn item_count(node: &Node) -> usize {
    match node {
        Node::Scalar(_) => 0,
        Node::Map(map) => map.len(),
        Node::Array(array) => array.items.len(),
    }
}

fn at<'n>(node: &'n Node, way: &[usize]) -> Option<&'n Node> {
    way.iter().try_fold(node, |node, item| match node {
        Node::Scalar(_) => None,
        Node::Map(map) => map.items().get(*item).map(|item| &item.value),
        Node::Array(array) => array.items.get(*item).map(|item| &item.value),
    })
}

fn with(node: &Node, way: &[usize], value: Node) -> Node {
    let Some((item, rest)) = way.split_first() else { return value };
    match node {
        Node::Scalar(_) => node.clone(),
        Node::Map(map) => {
            let mut map = Map::clone(map);
            let below = with(&map.items()[*item].value, rest, value);
            map.item_mut(*item).value = below;
            Node::map(map)
        }
        Node::Array(array) => {
            let mut array = Array::clone(array);
            let below = with(&array.items[*item].value, rest, value);
            array.items[*item].value = below;
            Node::array(array)
        }
    }
}

fn without(node: &Node, start: usize, end: usize) -> Option<Node> {
    match node {
        Node::Scalar(_) => None,
        Node::Map(map) => {
            let mut map = map.clone();
            Rc::make_mut(&mut map).edit(|items| drop(items.drain(start..end)));
            Some(Node::Map(map))
        }
        Node::Array(array) => {
            let mut array = Array::clone(array);
            array.items.drain(start..end);
            Some(Node::array(array))
        }
    }
}

/// Simpler scalars of the same type, simplest first.
fn simpler(scalar: &Scalar) -> Vec<Scalar> {
    match scalar {
        Scalar::Int(number) => {
            let mut numbers = vec![0, number / 2, number - number.signum()];
            if *number < 0 {
                numbers.extend(number.checked_neg());
            }
            numbers.dedup();
            numbers.into_iter().filter(|other| is_simpler_int(*other, *number)).map(Scalar::Int).collect()
        }
        Scalar::UInt(number) => vec![Scalar::Int(0), Scalar::Int((number / 2) as i64)],
        Scalar::Float(number) if number.is_finite() => {
            let numbers = [0.0, number.trunc(), (number / 2.0).trunc()];
            numbers.into_iter().filter(|other| other.abs() < number.abs()).map(Scalar::Float).collect()
        }
        Scalar::Str(text) => {
            let text = text.to_str();
            let chars: Vec<char> = text.chars().collect();
            let part = |chars: &[char]| chars.iter().collect::<String>();
            let count = chars.len();
            let mut texts = Vec::new();
            if count > 0 {
                texts.push(String::new());
                texts.push(part(&chars[..count / 2]));
                texts.push(part(&chars[count / 2..]));
                texts.push(part(&chars[..count - 1]));
                texts.push(part(&chars[1..]));
            }
            let plain = "a".repeat(count);
            if count > 0 && chars.iter().any(|c| *c != 'a') {
                texts.push(plain);
            }
            texts.into_iter().filter(|other| *other != text).map(|text| Scalar::from(text.as_str())).collect()
        }
        Scalar::Bool(true) => vec![Scalar::Bool(false)],
        Scalar::Bool(false) | Scalar::Null | Scalar::Float(_) | Scalar::Complex(_) => Vec::new(),
    }
}

fn is_simpler_int(other: i64, number: i64) -> bool {
    other.unsigned_abs() < number.unsigned_abs() || (number < 0 && other == -number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::rules::tests::yaml;

    fn shrunk(text: &str, fails: impl Fn(&Node) -> bool) -> Node {
        shrink(&yaml(text), &mut |node| fails(node))
    }

    fn is(node: &Node, text: &str) {
        assert!(node.same(&yaml(text)), "{node:?}");
    }

    #[test]
    fn leaves_out_what_does_not_matter() {
        let has_zero = |node: &Node| {
            let map = node.as_map();
            map.and_then(|map| map.get_str("parts")).is_some_and(|item| item.value.same(&yaml("0")))
        };
        is(&shrunk("{name: x, parts: 0, hosts: [a, b], db: {host: y}}", has_zero), "{parts: 0}");
    }

    #[test]
    fn finds_the_smallest_number_and_text() {
        let is_large = |node: &Node| matches!(node, Node::Scalar(Scalar::Int(number)) if *number > 41);
        is(&shrunk("1000", is_large), "42");
        let is_long = |node: &Node| matches!(node, Node::Scalar(Scalar::Str(text)) if text.as_bytes().len() >= 3);
        is(&shrunk("'quite a text'", is_long), "aaa");
    }

    #[test]
    fn keeps_the_item_that_matters() {
        let has_empty = |node: &Node| {
            let items = node.as_array().map(|array| &array.items[..]).unwrap_or_default();
            items.iter().any(|item| {
                item.value.as_map().and_then(|map| map.get_str("name")).is_some_and(|name| name.value.same(&yaml("''")))
            })
        };
        is(&shrunk("[{name: a}, {name: '', port: 1}, {name: b}]", has_empty), "[{name: ''}]");
    }
}
