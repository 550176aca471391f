//! Compiled schemas, in one form for built-in kinds, custom resources and OpenAPI documents.
//!
//! A [`Schemas`] is an arena; schemas refer to each other by index, so that recursive types
//! (`JSONSchemaProps`) need no special treatment and everything can be shared between threads.
//! Nothing here reads documents.

use std::sync::{Arc, OnceLock};

use ytterby_regexp::Regexp;

use crate::document::Value;
use crate::facts::{self, Version};
use crate::rules::CelRule;

/// The index of a schema in its [`Schemas`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SchemaId(pub u32);

/// An arena of schemas.
#[derive(Debug)]
pub(crate) struct Schemas {
    nodes: Vec<Schema>,
    /// The schemas of built-in types, whose ids follow those of `nodes`.
    builtin: Option<BuiltinSchemas>,
    /// `JSONSchemaProps`, if the arena contains it.
    pub props: Option<SchemaId>,
}

/// The schemas of the types of a version of Kubernetes, each made on first use.
#[derive(Debug)]
struct BuiltinSchemas {
    version: Version,
    made: Box<[OnceLock<Box<Schema>>]>,
}

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueType {
    /// Anything.
    Any,
    Object,
    Array,
    String,
    Boolean,
    /// Integers; `2.0` is one.
    Integer,
    Int32,
    Int64,
    Number,
    IntOrString,
    /// Go types with their own JSON format.
    Quantity,
    Time,
    MicroTime,
    /// A string in base64.
    Bytes,
    /// The unions of `JSONSchemaProps`: a schema or something else.
    SchemaOrBool,
    SchemaOrArray,
    SchemaOrStrings,
}

/// The semantics of a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    /// The keys that identify items.
    Map(Vec<Arc<str>>),
}

/// Which undeclared keys an object may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Additional {
    /// None.
    No,
    /// Any, with any value.
    Any,
    /// Any, with a value of this schema.
    Of(SchemaId),
}

/// One schema.
#[derive(Debug)]
pub(crate) struct Schema {
    pub kind: ValueType,
    /// Sorted by name.
    pub fields: Vec<Property>,
    pub additional: Additional,
    pub items: Option<SchemaId>,
    pub required: Vec<Arc<str>>,
    pub list: ListType,
    pub enumeration: Vec<Value>,
    pub default: Option<Value>,
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded: bool,
    /// Bounds and combinations, which are rare.
    pub limits: Option<Box<Constraints>>,
    pub rules: Vec<CelRule>,
    /// Whether there is a default below.
    pub has_defaults: bool,
    /// Whether there is a rule here or below.
    pub has_rules: bool,
}

/// A declared property.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub name: Arc<str>,
    pub schema: SchemaId,
}

/// Bounds and combinations.
#[derive(Debug, Default)]
pub(crate) struct Constraints {
    pub minimum: Option<NumberBound>,
    pub maximum: Option<NumberBound>,
    pub multiple_of: Option<f64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub unique_items: bool,
    pub pattern: Option<(String, Regexp)>,
    pub format: Option<String>,
    pub all_of: Vec<SchemaId>,
    pub any_of: Vec<SchemaId>,
    pub one_of: Vec<SchemaId>,
    pub not: Option<SchemaId>,
}

/// A bound of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct NumberBound {
    pub value: f64,
    pub exclusive: bool,
}

impl Schemas {
    pub fn new() -> Schemas {
        let nodes = Schemas::PRIMITIVES.into_iter().map(Schema::of).collect();
        Schemas { nodes, builtin: None, props: None }
    }

    /// The types of a version of Kubernetes, numbered as in [`facts`].
    pub fn of_version(version: Version) -> Schemas {
        let schemas = Schemas::new();
        let made = std::iter::repeat_with(OnceLock::new).take(facts::types() - schemas.len()).collect();
        Schemas { builtin: Some(BuiltinSchemas { version, made }), ..schemas }
    }

    pub fn get(&self, id: SchemaId) -> &Schema {
        let at = id.0 as usize;
        match &self.builtin {
            Some(builtin) if at >= self.nodes.len() => {
                let made = &builtin.made[at - self.nodes.len()];
                made.get_or_init(|| Box::new(facts::schema(id, builtin.version)))
            }
            _ => &self.nodes[at],
        }
    }

    pub fn get_mut(&mut self, id: SchemaId) -> &mut Schema {
        &mut self.nodes[id.0 as usize]
    }

    pub fn add(&mut self, schema: Schema) -> SchemaId {
        self.nodes.push(schema);
        SchemaId(self.nodes.len() as u32 - 1)
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The shared schema of a type without other constraints.
    pub fn primitive(kind: ValueType) -> SchemaId {
        let at = Schemas::PRIMITIVES.iter().position(|other| *other == kind).expect("a primitive");
        SchemaId(at as u32)
    }

    /// The types whose schemas come first in every arena, in this order.
    pub const PRIMITIVES: [ValueType; 15] = [
        ValueType::Any,
        ValueType::String,
        ValueType::Boolean,
        ValueType::Integer,
        ValueType::Int32,
        ValueType::Int64,
        ValueType::Number,
        ValueType::IntOrString,
        ValueType::Quantity,
        ValueType::Time,
        ValueType::MicroTime,
        ValueType::Bytes,
        ValueType::SchemaOrBool,
        ValueType::SchemaOrArray,
        ValueType::SchemaOrStrings,
    ];
}

impl Schema {
    pub fn of(kind: ValueType) -> Schema {
        Schema {
            kind,
            fields: Vec::new(),
            additional: if kind == ValueType::Any { Additional::Any } else { Additional::No },
            items: None,
            required: Vec::new(),
            list: ListType::Atomic,
            enumeration: Vec::new(),
            default: None,
            nullable: false,
            preserve: false,
            embedded: false,
            limits: None,
            rules: Vec::new(),
            has_defaults: false,
            has_rules: false,
        }
    }

    /// The schema of a declared property.
    pub fn field(&self, name: &str) -> Option<SchemaId> {
        self.field_of(name.as_bytes())
    }

    /// The schema of a declared property, by the bytes of its name.
    pub fn field_of(&self, name: &[u8]) -> Option<SchemaId> {
        let at = self.fields.binary_search_by(|field| field.name.as_bytes().cmp(name)).ok()?;
        Some(self.fields[at].schema)
    }

    /// The schema of a property, declared or not.
    pub fn property(&self, name: &str) -> Option<SchemaId> {
        self.field(name).or(match self.additional {
            Additional::Of(schema) => Some(schema),
            Additional::No | Additional::Any => None,
        })
    }
}

impl ValueType {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Any => "anything",
            ValueType::Object => "object",
            ValueType::Array => "array",
            ValueType::String => "string",
            ValueType::Boolean => "boolean",
            ValueType::Integer | ValueType::Int32 | ValueType::Int64 => "integer",
            ValueType::Number => "number",
            ValueType::IntOrString => "integer or string",
            ValueType::Quantity => "quantity",
            ValueType::Time | ValueType::MicroTime => "time",
            ValueType::Bytes => "string in base64",
            ValueType::SchemaOrBool => "schema or boolean",
            ValueType::SchemaOrArray => "schema or array",
            ValueType::SchemaOrStrings => "schema or array of strings",
        }
    }
}
