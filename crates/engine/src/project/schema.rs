//! The schema of a project, as data: fields, types, defaults, rules and descriptions.
//!
//! These types are public and stable, those of the compiled schema are neither; `SchemaInfo::new`
//! converts. Fields are a flat list with paths, so that a loop suffices for help texts and
//! completion.

use std::sync::Arc;

use ytterby_diag::{Id, Pos, Sources};

use crate::export::model::{self, Model, When};
use crate::node::Node;
use crate::output_documents::{self, OutputNode};
use crate::schema::{ScalarType, Schema, Type};
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
    /// Its type.
    pub ty: FieldType,
    /// Its type in words: `string`, `array of map`, `integer or string`.
    pub type_name: String,
    /// Whether null is also allowed.
    pub nullable: bool,
    /// The default; secrets are masked. `None` for maps, whose defaults are those of their items,
    /// and for required values.
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

/// The type of a field, apart from null.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FieldType {
    /// Any value.
    Any,
    /// Only null.
    Null,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A floating-point number; integers are also accepted.
    Float,
    /// A string.
    String,
    /// A map; its fields follow in the list, one level deeper.
    Map,
    /// An array; [`Field::type_name`] tells of what. If its items are maps, their fields follow in
    /// the list, below `name[]`.
    Array,
    /// A value of one of these types.
    OneOf(Vec<FieldType>),
    /// A value of one of several shapes, with their number; their fields follow in the list, below
    /// `name (1)` and so on.
    Shapes(usize),
}

impl FieldType {
    fn of(ty: &Type) -> FieldType {
        match ty {
            Type::Any => FieldType::Any,
            Type::Scalar(ScalarType::Null) => FieldType::Null,
            Type::Scalar(ScalarType::Bool) => FieldType::Boolean,
            Type::Scalar(ScalarType::Int) => FieldType::Integer,
            Type::Scalar(ScalarType::Float) => FieldType::Float,
            Type::Scalar(ScalarType::String) => FieldType::String,
            Type::Map(_) => FieldType::Map,
            Type::Array(_) => FieldType::Array,
            Type::Union(union) => {
                let mut types = union.members.iter().map(FieldType::of).filter(|ty| *ty != FieldType::Null);
                match (types.next(), types.next()) {
                    (None, _) => FieldType::Null,
                    (Some(one), None) => one,
                    (Some(first), Some(second)) => FieldType::OneOf([first, second].into_iter().chain(types).collect()),
                }
            }
            Type::Shapes(shapes) => FieldType::Shapes(shapes.slots.len()),
        }
    }
}

/// A rule of a field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FieldRule {
    /// The id of its violations, such as [`Id::RULE_MIN`]; `None` if only its text is known, as for
    /// rules about keys.
    pub id: Option<Id>,
    /// The argument of a named rule: the number of `min=1`, the list of `one_of=["a", "b"]`. `None`
    /// for rules that are only switched on, such as `unique=True`, and for functions.
    pub argument: Option<OutputNode>,
    /// The requirement: `a value >= 1`.
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
            ty: FieldType::of(&field.ty),
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
    FieldRule { id: rule.id, argument: rule.argument.as_ref().and_then(value), text: rule.text, hint: rule.hint }
}

fn value(node: &Node) -> Option<OutputNode> {
    output_documents::node(node, Pos::UNKNOWN, &mut { crate::node::MAX_NODES })
}
