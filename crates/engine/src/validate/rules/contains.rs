//! `contains`: a string with a substring, a list with an item, a map with a key.

use std::rc::Rc;

use ytterby_starlark::Value;

use super::{
    ExportTarget, Keyword, MadeRule, Most, NamedRule, NodeType, RuleViolation, Subject, Want, equal, node_of, plain,
    wrong_type,
};
use crate::node::{Array, ArrayItem, Map, Node, Origin, Scalar};
use ytterby_regexp as regexp;

#[derive(Debug)]
struct Contains {
    /// The argument in messages.
    quoted: String,
    part: Node,
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let part = plain(&node_of(value, subject)?);
    Ok(Some(Rc::new(Contains { quoted: value.repr().to_string(), part })))
}

impl Contains {
    fn text(&self) -> Option<&[u8]> {
        match &self.part {
            Node::Scalar(Scalar::Str(text)) => Some(text.as_bytes()),
            _ => None,
        }
    }
}

impl NamedRule for Contains {
    fn must_be(&self) -> String {
        format!("a value containing {}", self.quoted)
    }

    fn accepts(&self, value: &Node) -> bool {
        match value {
            Node::Scalar(Scalar::Str(text)) => {
                self.text().is_some_and(|part| memchr::memmem::find(text.as_bytes(), part).is_some())
            }
            Node::Scalar(_) => false,
            Node::Array(array) => array.items.iter().any(|item| equal(&item.value, &self.part)),
            Node::Map(map) => match &self.part {
                Node::Scalar(key) => map.get(key).is_some(),
                _ => false,
            },
        }
    }

    fn suits(&self, value: &Node) -> bool {
        match value {
            Node::Scalar(Scalar::Str(_)) => self.text().is_some(),
            Node::Scalar(_) => false,
            Node::Array(_) | Node::Map(_) => true,
        }
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::Part(&self.part))
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match value {
            Node::Scalar(Scalar::Str(_)) | Node::Array(_) | Node::Map(_) => {
                format!("does not contain {}", self.quoted)
            }
            Node::Scalar(_) => wrong_type("string, a list or a map", value),
        })
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let unknown = ytterby_diag::Pos::UNKNOWN;
        match (shape, &self.part) {
            (NodeType::Text, Node::Scalar(Scalar::Str(text))) => {
                vec![Keyword::Pattern(regexp::escape(&text.to_str()).into_owned())]
            }
            (NodeType::List { items }, part) => match target {
                ExportTarget::OpenApi => Vec::new(),
                ExportTarget::JsonSchema => {
                    let mut schema = Map::new();
                    schema.push_new("const", part.clone());
                    vec![Keyword::Plain("contains", Node::map(schema))]
                }
                ExportTarget::Crd => {
                    let literal = items.cel_literal(part);
                    let rule = |literal| Keyword::Loop(format!("self.exists(x, x == {literal})"), Most::Any);
                    literal.map(rule).into_iter().collect()
                }
            },
            (NodeType::Map(shape), Node::Scalar(key)) if shape.always.contains(key) => vec![Keyword::Void],
            (NodeType::Map(shape), part @ Node::Scalar(key @ Scalar::Str(_))) => match target {
                ExportTarget::OpenApi => Vec::new(),
                ExportTarget::JsonSchema => {
                    let items = vec![ArrayItem::new(part.clone(), unknown)];
                    vec![Keyword::Plain("required", Node::array(Array { items, origin: Origin::Code }))]
                }
                ExportTarget::Crd => {
                    shape.cel_has(key).map(|rule| Keyword::Loop(rule, Most::Any)).into_iter().collect()
                }
            },
            _ => Vec::new(),
        }
    }
}
