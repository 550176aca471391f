//! `-o ytt-schema`: the fields as YAML, for users who generate their own documentation.

use ytterby_diag::Pos;

use super::keywords::{array, map};
use super::model::{DocumentedField, model};
use crate::node::{Document, Node, Scalar};
use crate::schema::Schema;
use crate::validate::{Described, Detail};

/// The fields of a schema as a document.
pub(crate) fn ytt_schema(schema: &Schema) -> Document {
    let model = model(schema, Detail::Texts);
    let mut items = vec![item("name", Node::str("data/values"))];
    items.extend(model.title.map(|title| item("title", Node::str(title))));
    items.extend(model.documentation.map(|text| item("documentation", Node::str(text))));
    items.extend(texts("rules", model.rules.iter().map(|rule| rule.text.clone())));
    items.push(item("fields", array(model.fields.iter().map(field))));
    Document::new(map([item("schema", map(items))]), Pos::UNKNOWN)
}

fn field(field: &DocumentedField) -> Node {
    let flag = |name: &str, on: bool| on.then(|| item(name, Node::Scalar(Scalar::Bool(true))));
    let mut items = vec![
        item("name", Node::str(field.name.as_str())),
        item("path", Node::str(field.path.as_str())),
        item("title", Node::str(field.title.as_str())),
        item("documentation", field.documentation.clone().map_or(Node::NULL, Node::str)),
        item("type", Node::str(field.type_name.as_str())),
    ];
    items.extend(flag("nullable", field.nullable));
    items.extend(field.default.clone().map(|default| item("default", default)));
    items.extend(flag("required", field.required));
    items.extend(field.remarks.iter().map(|remark| item(remark.name, Node::str(remark.text.clone()))));
    items.extend(flag("secret", field.secret));
    if !field.examples.is_empty() {
        let examples = field.examples.iter().map(|example| {
            let description = example.description.clone().map_or(Node::NULL, Node::str);
            map([item("value", example.value.clone()), item("description", description)])
        });
        items.push(item("example", array(examples)));
    }
    items.extend(texts("rules", field.rules.iter().map(|rule| rule.text.clone())));
    items.extend(texts("hints", field.rules.iter().filter_map(|rule: &Described| rule.hint.clone())));
    map(items)
}

fn item(name: &str, value: Node) -> (Scalar, Node) {
    (Scalar::from(name), value)
}

/// A list of texts; `None` if it is empty.
fn texts(name: &str, texts: impl Iterator<Item = String>) -> Option<(Scalar, Node)> {
    let texts: Vec<Node> = texts.map(Node::str).collect();
    (!texts.is_empty()).then(|| item(name, array(texts)))
}
