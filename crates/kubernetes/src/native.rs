//! Built-in kinds: decodes like Go, then checks the published schema.
//!
//! Null always means absent. Unknown fields are errors, with the nearest declared name; names are
//! case-sensitive. `status` is only decoded: the server drops it when an object is created.

use ytterby_diag::{Edit, Help, Id, Part, Safety};
use ytterby_text::spelling;

use crate::document::{Node, Value};
use crate::report::{At, CheckFindings, FindingText};
use crate::scalars;
use crate::schema::{Additional, Schema, SchemaId, Schemas, ValueType};

/// The extent of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Types and unknown fields.
    Decode,
    /// Required fields and enums, too.
    Full,
}

pub(crate) struct Decoder<'a> {
    pub schemas: &'a Schemas,
    pub report: &'a mut CheckFindings,
    /// Errors after which the server stops.
    pub type_errors: usize,
}

impl Decoder<'_> {
    /// Checks a whole object: `status` is only decoded.
    pub fn object(&mut self, node: &Node, id: SchemaId, at: &At<'_>) {
        self.map(node, self.schemas.get(id), at, Depth::Full, true);
    }

    pub fn check(&mut self, node: &Node, id: SchemaId, at: &At<'_>, depth: Depth) {
        if self.report.is_done() {
            return;
        }
        let schema = self.schemas.get(id);
        match (schema.kind, &node.value) {
            (_, Value::Null) | (ValueType::Any, _) => {}
            (ValueType::Object, Value::Map(_)) => self.map(node, schema, at, depth, false),
            (ValueType::Array, Value::List(items)) => {
                let Some(of) = schema.items else { return };
                for (index, item) in items.iter().enumerate() {
                    let here = at.index(index, item);
                    match item.value {
                        Value::Null => self.null_item(of, &here, depth),
                        _ => self.check(item, of, &here, depth),
                    }
                }
            }
            (ValueType::String, Value::Str(text)) => {
                let is_checked = depth == Depth::Full && !schema.enumeration.is_empty();
                if is_checked && !(text.is_empty() && empty_is_default(at)) {
                    self.enumeration(node, schema, at);
                }
            }
            (ValueType::Boolean, Value::Bool(_)) | (ValueType::IntOrString, Value::Str(_)) => {}
            (ValueType::Int32 | ValueType::IntOrString, _) if node.as_int().is_some() => {
                if node.as_int().is_some_and(|value| i32::try_from(value).is_err()) {
                    self.fault(Id::KUBERNETES_TYPE, at, || {
                        FindingText::of_value("the number does not fit into 32 bits", node)
                    });
                }
            }
            (ValueType::Int64 | ValueType::Integer, _) if node.as_int().is_some() => {}
            (ValueType::Number, Value::Int(_) | Value::UInt(_) | Value::Float(_)) => {}
            (ValueType::Quantity, _) => self.quantity(node, at),
            (ValueType::Time | ValueType::MicroTime, Value::Str(text)) => {
                let micros = schema.kind == ValueType::MicroTime;
                if scalars::time(text, micros).is_none() {
                    self.fault(Id::KUBERNETES_FORMAT, at, || time_fault(node, micros));
                }
            }
            (ValueType::Bytes, Value::Str(text)) => {
                if scalars::base64(text).is_none() {
                    self.fault(Id::KUBERNETES_FORMAT, at, base64_fault);
                }
            }
            // Go also decodes a list of numbers as bytes.
            (ValueType::Bytes, Value::List(items))
                if items.iter().all(|item| item.as_int().is_some_and(|byte| (0..256).contains(&byte))) => {}
            (ValueType::SchemaOrBool | ValueType::SchemaOrArray | ValueType::SchemaOrStrings, _) => {
                self.schema_or(node, schema.kind, at, depth);
            }
            (kind, _) => self.fault(Id::KUBERNETES_TYPE, at, || FindingText::wrong_type(kind.name(), node)),
        }
    }

    /// A null item of a list is an empty object, so its required fields are missing.
    fn null_item(&mut self, of: SchemaId, at: &At<'_>, depth: Depth) {
        let schema = self.schemas.get(of);
        if depth == Depth::Full && schema.kind == ValueType::Object {
            for name in &schema.required {
                self.report.key_error(Id::KUBERNETES_REQUIRED, &at.missing(name), || required(name));
            }
        }
    }

    fn fault(&mut self, id: Id, at: &At<'_>, finding: impl FnOnce() -> FindingText) {
        self.type_errors += 1;
        self.report.error(id, at, finding);
    }

    fn quantity(&mut self, node: &Node, at: &At<'_>) {
        match &node.value {
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => {}
            Value::Str(text) => {
                if let Some(fault) = scalars::quantity_fault(text) {
                    let value = FindingText::of_value(format!("the value {fault}"), node);
                    self.fault(Id::KUBERNETES_FORMAT, at, || value);
                }
            }
            _ => self.fault(Id::KUBERNETES_FORMAT, at, || FindingText::wrong_type("quantity", node)),
        }
    }

    fn enumeration(&mut self, node: &Node, schema: &Schema, at: &At<'_>) {
        let is_one = schema.enumeration.iter().any(|value| value.same(&node.value));
        if !is_one {
            self.report.error(Id::KUBERNETES_ENUM, at, || one_of(&schema.enumeration, node));
        }
    }

    fn map(&mut self, node: &Node, schema: &Schema, at: &At<'_>, depth: Depth, is_root: bool) {
        let mut meant: Vec<&str> = Vec::new();
        for entry in node.entries() {
            let here = at.entry(entry);
            match schema.field_of(entry.key.as_bytes()) {
                Some(field) => {
                    let is_status = is_root && entry.key == "status";
                    self.check(&entry.node, field, &here, if is_status { Depth::Decode } else { depth });
                }
                None => match schema.additional {
                    Additional::Of(values) => self.check(&entry.node, values, &here, depth),
                    Additional::Any => {}
                    Additional::No => meant.extend(unknown_field(self.report, schema, &entry.key, &here)),
                },
            }
        }
        if depth == Depth::Decode {
            return;
        }
        for name in &schema.required {
            // A misspelt field is already reported.
            if node.given(name).is_none() && !meant.contains(&&**name) {
                self.report.key_error(Id::KUBERNETES_REQUIRED, &at.missing(name), || required(name));
            }
        }
    }

    /// The unions inside of `JSONSchemaProps`.
    fn schema_or(&mut self, node: &Node, kind: ValueType, at: &At<'_>, depth: Depth) {
        let props = self.schemas_props();
        match (&node.value, kind) {
            (Value::Map(_), _) => {
                if let Some(props) = props {
                    self.check(node, props, at, depth);
                }
            }
            (Value::Bool(_), ValueType::SchemaOrBool) => {}
            (Value::List(items), ValueType::SchemaOrArray) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(props) = props {
                        self.check(item, props, &at.index(index, item), depth);
                    }
                }
            }
            (Value::List(items), ValueType::SchemaOrStrings) => {
                for (index, item) in items.iter().enumerate() {
                    self.check(item, Schemas::primitive(ValueType::String), &at.index(index, item), depth);
                }
            }
            _ => self.fault(Id::KUBERNETES_TYPE, at, || FindingText::wrong_type(kind.name(), node)),
        }
    }

    fn schemas_props(&self) -> Option<SchemaId> {
        self.schemas.props
    }
}

/// Whether an empty text means absent: the field has a default, or is not checked if empty.
fn empty_is_default(at: &At<'_>) -> bool {
    let mut keys = at.keys();
    let (key, parent) = (keys.next().unwrap_or_default(), keys.next().unwrap_or_default());
    match key {
        "concurrencyPolicy" | "dnsPolicy" | "restartPolicy" | "imagePullPolicy" | "terminationMessagePolicy" => true,
        "persistentVolumeReclaimPolicy" | "reclaimPolicy" | "stopSignal" | "scheme" | "pullPolicy" => true,
        "allocationMode" | "externalTrafficPolicy" | "sessionAffinity" | "podManagementPolicy" => true,
        "operator" | "effect" => parent == "tolerations",
        "type" => matches!(parent, "strategy" | "updateStrategy" | "hostPath" | "spec"),
        // Except in endpoint slices, whose ports are at the root, and in network policies.
        "protocol" => keys.next().is_some_and(|above| above != "ingress" && above != "egress"),
        _ => false,
    }
}

/// Reports an unknown field; returns the declared name that was probably meant.
pub(crate) fn unknown_field<'s>(
    report: &mut CheckFindings,
    schema: &'s Schema,
    key: &str,
    at: &At<'_>,
) -> Option<&'s str> {
    let names = || schema.fields.iter().map(|field| &*field.name);
    // Two swapped letters are one mistake, even in a short word: `prot`.
    let swapped = || names().find(|name| spelling::distance(key, name) == Some(1));
    let near = names().find(|name| name.eq_ignore_ascii_case(key)).or_else(|| spelling::nearest(key, names()));
    let near = near.or_else(swapped);
    report.key_error(Id::KUBERNETES_UNKNOWN_FIELD, at, || {
        let finding = FindingText::new(format!("unknown field \"{key}\""));
        match near {
            Some(near) => {
                let edit = Edit::replace(at.pos, Part::Key, near);
                let help = Help::new(format!("did you mean \"{near}\"?"));
                finding.help(help.fixed_by(format!("Change \"{key}\" to \"{near}\""), vec![edit], Safety::Likely))
            }
            None if schema.fields.is_empty() => finding,
            None => {
                let mut known: Vec<&str> = names().take(13).collect();
                if known.len() == 13 {
                    known[12] = "…";
                }
                finding.note(format!("fields here: {}", known.join(", ")))
            }
        }
    });
    near
}

pub(crate) fn required(name: &str) -> FindingText {
    FindingText::new(format!("the required field \"{name}\" is missing"))
}

pub(crate) fn time_fault(node: &Node, micros: bool) -> FindingText {
    let form = if micros { "2006-01-02T15:04:05.000000Z" } else { "2006-01-02T15:04:05Z" };
    FindingText::of_value(format!("the time does not have the form {form} (RFC 3339)"), node)
}

/// The message does not show the value, which may be a secret.
pub(crate) fn base64_fault() -> FindingText {
    FindingText::new("the value is not base64").help("encode it, or use `stringData` of a Secret for plain text")
}

pub(crate) fn one_of(values: &[Value], node: &Node) -> FindingText {
    let shown: Vec<String> = values.iter().map(Value::shown).collect();
    let near = node.as_str().and_then(|text| {
        let texts =
            || values.iter().filter_map(|value| if let Value::Str(text) = value { Some(&**text) } else { None });
        texts().find(|value| value.eq_ignore_ascii_case(text)).or_else(|| spelling::nearest(text, texts()))
    });
    let finding = FindingText::of_value(format!("must be one of {}", shown.join(", ")), node);
    match near {
        Some(near) => finding.help(format!("did you mean \"{near}\"?")),
        None => finding,
    }
}
