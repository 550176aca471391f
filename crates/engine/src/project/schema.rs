//! The schema of a project, as data.

use std::sync::Arc;

use ytterby_diag::{Pos, Sources};

use crate::export::model::{self, Model, When};
use crate::node::Node;
use crate::output_documents::{self, OutputNode};
use crate::schema::Schema;
use crate::validate::{Described, Detail};

/// The schema of a project.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SchemaInfo {
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Rules for the data values as a whole.
    pub rules: Vec<FieldRule>,
    /// All fields, depth first: a field comes before those below it.
    pub fields: Vec<Field>,
    /// Resolves the positions of fields.
    pub sources: Arc<Sources>,
}

/// One field of a schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The path from the root: `databases[].name`, `*` for free keys.
    pub path: String,
    /// The key; for an array item, the array's key and `[]`.
    pub name: String,
    /// The number of enclosing fields.
    pub depth: usize,
    /// The title, or one derived from the name.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// `string`, `array of map`, `integer or string`.
    pub type_name: String,
    /// Whether null is also allowed.
    pub nullable: bool,
    /// The default; secrets are masked. `None` for maps, whose defaults are those of their items, and for required
    /// values.
    pub default: Option<OutputNode>,
    /// Whether a value is required.
    pub required: bool,
    /// Whether its value is secret.
    pub secret: bool,
    /// The notice about its deprecation, if it is deprecated.
    pub deprecated: Option<String>,
    /// Example values, each with an optional description.
    pub examples: Vec<(Option<String>, OutputNode)>,
    /// Its rules.
    pub rules: Vec<FieldRule>,
    /// When it exists.
    pub presence: Presence,
    /// The position of its declaration.
    pub pos: Pos,
}

/// A rule of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FieldRule {
    /// The requirement: `at least 1`.
    pub text: String,
    /// Additional information, such as an example of a format.
    pub hint: Option<String>,
}

/// When a field exists.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Presence {
    /// Always: it has a default.
    Always,
    /// If a value is given.
    Given,
    /// For each key that matches this pattern.
    Matching(String),
}

impl SchemaInfo {
    pub(super) fn new(schema: &Schema, sources: &Arc<Sources>) -> SchemaInfo {
        let Model { title, documentation, rules, fields, .. } = model::model(schema, Detail::Texts);
        let text = |text: Option<ytterby_text::Str>| text.map(|text| text.to_string());
        let field = |field: model::DocumentedField| Field {
            deprecated: text(field.deprecated().cloned()),
            path: field.path,
            name: field.name,
            depth: field.depth,
            title: field.title,
            description: text(field.documentation),
            type_name: field.type_name,
            nullable: field.nullable,
            default: field.default.as_ref().and_then(value),
            required: field.required,
            secret: field.secret,
            examples: field
                .examples
                .into_iter()
                .filter_map(|example| Some((text(example.description), value(&example.value)?)))
                .collect(),
            rules: field.rules.into_iter().map(rule).collect(),
            presence: match field.presence {
                When::Always => Presence::Always,
                When::Given => Presence::Given,
                When::Matching(keys) => Presence::Matching(keys),
            },
            pos: field.pos,
        };
        SchemaInfo {
            title: text(title),
            description: text(documentation),
            rules: rules.into_iter().map(rule).collect(),
            fields: fields.into_iter().map(field).collect(),
            sources: sources.clone(),
        }
    }

    /// The field at a path.
    pub fn field(&self, path: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.path == path)
    }
}

fn rule(rule: Described) -> FieldRule {
    FieldRule { text: rule.text, hint: rule.hint }
}

fn value(node: &Node) -> Option<OutputNode> {
    output_documents::node(node, Pos::UNKNOWN, &mut { crate::node::MAX_NODES })
}
