//! What a schema declares, as data.

use std::sync::Arc;

use ytterby_diag::{Pos, Sources};

use crate::export::model::{self, Model, When};
use crate::node::Node;
use crate::output_check::{self, OutputNode};
use crate::schema::Schema;
use crate::validate::{Described, Detail};

/// What the schema of a project declares.
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
    /// What positions of fields refer to.
    pub sources: Arc<Sources>,
}

/// One field of a schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The way to it from the root: `databases[].name`, `*` for keys that are free.
    pub path: String,
    /// The key; of an array item the array's key and `[]`.
    pub name: String,
    /// How many fields are above it.
    pub depth: usize,
    /// The title, or one made of the name.
    pub title: String,
    /// What it is for.
    pub description: Option<String>,
    /// `string`, `array of map`, `integer or string`.
    pub type_name: String,
    /// Whether null is allowed besides.
    pub nullable: bool,
    /// What stands there when nothing is given; secrets are hidden. None for maps, which are made of their items, and where a
    /// value must be given.
    pub default: Option<OutputNode>,
    /// Whether a value must be given.
    pub required: bool,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// What to use instead, where it should not be used any more.
    pub deprecated: Option<String>,
    /// Values as examples, each with a description if it has one.
    pub examples: Vec<(Option<String>, OutputNode)>,
    /// What its value must be like.
    pub rules: Vec<FieldRule>,
    /// When it is there.
    pub presence: Presence,
    /// Where it is declared.
    pub pos: Pos,
}

/// A rule of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FieldRule {
    /// What a value must be: `at least 1`.
    pub text: String,
    /// More about it, such as what a format looks like.
    pub hint: Option<String>,
}

/// When a field is there.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Presence {
    /// Always: its default stands in for it.
    Always,
    /// Where it is given.
    Given,
    /// Wherever a key is one of these.
    Matching(String),
}

impl SchemaInfo {
    pub(super) fn new(schema: &Schema, sources: &Arc<Sources>) -> SchemaInfo {
        let Model { title, documentation, rules, fields, .. } = model::model(schema, Detail::Texts);
        let text = |text: Option<ytterby_text::Str>| text.map(|text| text.to_string());
        let field = |field: model::Field| Field {
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
            deprecated: text(field.deprecated),
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
    output_check::node(node, Pos::UNKNOWN, &mut { crate::node::MAX_NODES })
}
