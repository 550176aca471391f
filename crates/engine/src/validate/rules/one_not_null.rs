//! `one_not_null`: a map in which exactly one of the given keys, or of all, has a value that is not
//! null.

use std::rc::Rc;

use ytterby_starlark::Value;

use super::{
    BadArgument, ExportTarget, FreeKeys, Keyword, MadeRule, MapNodeType, NamedRule, NodeType, RuleViolation, Subject,
    node_of, plain, type_name,
};
use crate::node::{Array, ArrayItem, Map, Node, Origin, Scalar, scalar_to_value};

#[derive(Debug)]
struct OneNotNull {
    /// `None` means all keys of the map.
    keys: Option<Vec<Scalar>>,
    written: String,
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let bad = |keyword: String, function: String| {
        let text = if matches!(subject, Subject::Value) { function } else { keyword };
        BadArgument::new(text).without_position()
    };
    let keys = match value {
        Value::Bool(true) => None,
        Value::Bool(false) => {
            return Err(bad("one_not_null= cannot be False".into(), "one_not_null() cannot be False".into()));
        }
        other if super::one_of::is_sequence(other) => {
            let keys = other.iterate().into_iter().flatten().map(|key| node_of(&key, subject));
            let keys = keys.collect::<Result<Vec<Node>, BadArgument>>()?;
            // A key that is not a scalar is in no map; it counts as absent.
            Some(
                keys.iter()
                    .filter_map(|key| if let Node::Scalar(key) = plain(key) { Some(key) } else { None })
                    .collect(),
            )
        }
        other => {
            let name = other.type_name();
            return Err(bad(
                format!("expected True or a sequence of keys, but was a '{name}'"),
                format!("expected a sequence of keys, but was a '{name}'"),
            ));
        }
    };
    let written = if keys.is_some() { value.repr().to_string() } else { "all children".to_owned() };
    Ok(Some(Rc::new(OneNotNull { keys, written })))
}

impl OneNotNull {
    /// The number of values that are not null; stops at two.
    fn count(&self, map: &Map) -> usize {
        self.not_null(map).take(2).count()
    }

    fn not_null<'a>(&'a self, map: &'a Map) -> Box<dyn Iterator<Item = &'a Scalar> + 'a> {
        match &self.keys {
            None => Box::new(map.iter().filter(|item| !item.value.is_null()).map(|item| &item.key)),
            Some(keys) => Box::new(keys.iter().filter(|key| map.get(key).is_some_and(|item| !item.value.is_null()))),
        }
    }

    /// The relevant keys that the map may have. `None` if the schema does not declare them all.
    fn keys_in(&self, shape: &MapNodeType) -> Option<Vec<Scalar>> {
        let is_possible = |key: &&Scalar| shape.free != FreeKeys::No || shape.keys.contains(key);
        match &self.keys {
            Some(keys) => Some(keys.iter().filter(is_possible).cloned().collect()),
            None => (shape.free == FreeKeys::No).then(|| shape.keys.clone()),
        }
    }
}

impl NamedRule for OneNotNull {
    fn must_be(&self) -> String {
        format!("exactly one of {} to be not null", self.written)
    }

    fn accepts(&self, value: &Node) -> bool {
        value.as_map().is_some_and(|map| self.count(map) == 1)
    }

    fn suits(&self, value: &Node) -> bool {
        value.as_map().is_some()
    }

    fn found(&self, value: &Node) -> RuleViolation {
        let value = plain(value);
        let Some(map) = value.as_map() else {
            return RuleViolation::Failure(format!("value must be a map or dict, but was '{}'", type_name(&value)));
        };
        let not_null: Vec<Value> = self.not_null(map).map(scalar_to_value).collect();
        RuleViolation::Failure(match not_null.len() {
            0 if map.is_empty() => "value is empty".to_owned(),
            0 => "all values are null".to_owned(),
            _ => format!("{} are not null", Value::list(not_null).repr().to_str()),
        })
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let NodeType::Map(shape) = shape else { return Vec::new() };
        let keys = self.keys_in(shape).filter(|keys| !keys.is_empty());
        let Some(keys) = keys else {
            // If there are only undeclared keys, and none can be null, exactly one is allowed.
            let is_one = self.keys.is_none() && shape.keys.is_empty() && shape.free == FreeKeys::NotNull;
            let one = |name| Keyword::Plain(name, Node::Scalar(Scalar::Int(1)));
            return if is_one { vec![one("minProperties"), one("maxProperties")] } else { Vec::new() };
        };
        let text = |key: &Scalar| crate::node::key_text(key).into_owned();
        match target {
            ExportTarget::OpenApi => Vec::new(),
            ExportTarget::JsonSchema => {
                let only = |key| only(&text(key), shape.filled.contains(key));
                let items = keys.iter().map(|key| ArrayItem::new(only(key), ytterby_diag::Pos::UNKNOWN));
                let array = Array { items: items.collect(), origin: Origin::Code };
                vec![Keyword::Plain("oneOf", Node::array(array))]
            }
            ExportTarget::Crd => {
                let parts: Option<Vec<String>> = keys.iter().map(|key| shape.cel_has(key)).collect();
                let rule = |parts: Vec<String>| Keyword::Cel(format!("[{}].exists_one(x, x)", parts.join(", ")));
                parts.map(rule).into_iter().collect()
            }
        }
    }

    fn is_native(&self) -> bool {
        true
    }
}

/// `{required: [key], properties: {key: {not: {type: "null"}}}}`; a key with a default may be
/// absent.
fn only(key: &str, has_default: bool) -> Node {
    let map = |name: &str, value: Node| {
        let mut map = Map::new();
        map.push_new(name, value);
        map
    };
    let not_null = Node::map(map("not", Node::map(map("type", Node::str("null")))));
    if has_default {
        return Node::map(map("properties", Node::map(map(key, not_null))));
    }
    let required = ArrayItem::new(Node::str(key), ytterby_diag::Pos::UNKNOWN);
    let mut result = map("required", Node::array(Array { items: vec![required], origin: Origin::Code }));
    result.push_new("properties", Node::map(map(key, not_null)));
    Node::map(result)
}
