//! The fields of kinds, for editors: names and types at a path.
//!
//! A path is followed through the compiled schemas. Descriptions are not compiled; for custom kinds
//! they are looked up in the definition as written, for built-in kinds there are none.

use crate::catalog::Catalog;
use crate::document::{Node, Value};
use crate::facts::{self, Gvk};
use crate::schema::{Additional, SchemaId, Schemas, ValueType};

/// A field of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindField {
    /// Its name.
    pub name: String,
    /// The name of its type in messages.
    pub type_name: String,
    /// Whether it is required.
    pub is_required: bool,
    /// Whether it contains other fields.
    pub is_object: bool,
    /// Whether it is a list.
    pub is_list: bool,
    /// The allowed values, if enumerated.
    pub members: Vec<String>,
    /// The description, if its definition has one. The facts of built-in kinds have none.
    pub description: String,
    /// Its default and its limits, for people: `Default: 3`, `Minimum: 1`.
    pub rules: Vec<String>,
}

impl Catalog {
    /// The fields below a path (`None` for items of lists). Empty if the kind or the path is
    /// unknown.
    pub fn fields(&self, api_version: &str, kind: &str, path: &[Option<&str>]) -> Vec<KindField> {
        let Some((schemas, root)) = self.root(api_version, kind) else { return Vec::new() };
        let Some(at) = walk(schemas, root, self.meta(api_version, kind), path) else { return Vec::new() };
        let schema = schemas.get(at);
        let source = self.source(api_version, kind, path);
        let field = |field: &crate::schema::Property| {
            let described = describe(schemas, at, &field.name, field.schema);
            described.explained_by(source.and_then(|source| below(source, Some(&field.name))))
        };
        schema.fields.iter().map(field).collect()
    }

    /// The field at a path.
    pub fn field(&self, api_version: &str, kind: &str, path: &[Option<&str>]) -> Option<KindField> {
        let (schemas, root) = self.root(api_version, kind)?;
        let (last, above) = path.split_last()?;
        let parent = walk(schemas, root, self.meta(api_version, kind), above)?;
        let name = (*last)?;
        let schema = schemas.get(parent);
        let described = describe(schemas, parent, name, schema.property(name)?);
        Some(described.explained_by(self.source(api_version, kind, path)))
    }

    /// The schema at a path as the definition of a custom kind has it.
    fn source(&self, api_version: &str, kind: &str, path: &[Option<&str>]) -> Option<&Node> {
        let root = self.custom.get(&Gvk::of(api_version, kind))?.schema()?;
        path.iter().try_fold(root, |schema, step| below(schema, *step))
    }

    /// `apiVersion` and `kind` of all known kinds.
    pub fn kinds(&self) -> Vec<(String, String)> {
        let builtin = facts::kinds(self.options.version).map(|known| {
            let group = if known.group.is_empty() { String::new() } else { format!("{}/", known.group) };
            (format!("{group}{}", known.version), known.kind.to_owned())
        });
        let custom = self.custom.keys().map(|gvk| (gvk.api_version(), gvk.kind.to_string()));
        let mut all: Vec<(String, String)> = builtin.chain(custom).collect();
        all.sort();
        all.dedup();
        all
    }

    fn root(&self, api_version: &str, kind: &str) -> Option<(&Schemas, SchemaId)> {
        let gvk = Gvk::of(api_version, kind);
        if let Some(custom) = self.custom.get(&gvk) {
            let kind = custom.compiled();
            return Some((&kind.schemas, kind.root));
        }
        self.builtin.kind(&gvk).map(|(_, root)| (&self.builtin.schemas, root))
    }

    /// The schema of `ObjectMeta` among those of a kind.
    fn meta(&self, api_version: &str, kind: &str) -> Option<SchemaId> {
        let is_custom = self.custom.contains_key(&Gvk::of(api_version, kind));
        (!is_custom).then_some(self.builtin.meta)
    }
}

/// The schema of a property, or of the items of a list.
fn below<'n>(schema: &'n Node, step: Option<&str>) -> Option<&'n Node> {
    match step {
        Some(name) => schema.at(&["properties", name]).or_else(|| schema.given("additionalProperties")),
        None => schema.given("items"),
    }
}

impl KindField {
    fn explained_by(mut self, source: Option<&Node>) -> KindField {
        let Some(source) = source else { return self };
        self.description = source.text("description").unwrap_or_default().to_owned();
        const RULES: [(&str, &str); 9] = [
            ("default", "Default"),
            ("format", "Format"),
            ("pattern", "Pattern"),
            ("minimum", "Minimum"),
            ("maximum", "Maximum"),
            ("minLength", "Minimum length"),
            ("maxLength", "Maximum length"),
            ("minItems", "Minimum of items"),
            ("maxItems", "Maximum of items"),
        ];
        let rules = RULES.iter().filter_map(|(key, name)| Some((name, source.given(key)?)));
        self.rules = rules.map(|(name, value)| format!("{name}: `{}`", value.value.shown())).collect();
        self
    }
}

fn walk(schemas: &Schemas, root: SchemaId, meta: Option<SchemaId>, path: &[Option<&str>]) -> Option<SchemaId> {
    let mut at = root;
    for (depth, step) in path.iter().enumerate() {
        let schema = schemas.get(at);
        at = match step {
            Some("metadata") if depth == 0 && meta.is_some() => meta?,
            Some(name) => schema.property(name)?,
            None => schema.items?,
        };
    }
    Some(at)
}

fn describe(schemas: &Schemas, owner: SchemaId, name: &str, id: SchemaId) -> KindField {
    let schema = schemas.get(id);
    let members = schema.enumeration.iter().filter_map(|value| match value {
        Value::Str(text) => Some(text.to_string()),
        _ => None,
    });
    KindField {
        name: name.to_owned(),
        type_name: type_name(schemas, id),
        is_required: schemas.get(owner).required.iter().any(|required| **required == *name),
        is_object: schema.kind == ValueType::Object || matches!(schema.additional, Additional::Of(_)),
        is_list: schema.kind == ValueType::Array,
        members: members.collect(),
        description: String::new(),
        rules: schema.default.iter().map(|value| format!("Default: `{}`", value.shown())).collect(),
    }
}

/// The name of a type; that of a list tells its items.
fn type_name(schemas: &Schemas, id: SchemaId) -> String {
    let schema = schemas.get(id);
    match schema.items {
        Some(items) => format!("array of {}", schemas.get(items).kind.name()),
        None => schema.kind.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Catalog, CheckOptions, UnknownKinds, Version};

    #[test]
    fn fields_are_found_by_paths() {
        let version = Version::parse("1.36").unwrap();
        let catalog = Catalog::new(CheckOptions { version, unknown: UnknownKinds::Ignore, skip: Vec::new() });
        let names = |path: &[Option<&str>]| -> Vec<String> {
            catalog.fields("apps/v1", "Deployment", path).into_iter().map(|field| field.name).collect()
        };
        assert!(names(&[Some("spec")]).contains(&"replicas".to_owned()));
        assert!(names(&[Some("metadata")]).contains(&"labels".to_owned()));
        let container = [Some("spec"), Some("template"), Some("spec"), Some("containers"), None];
        assert!(names(&container).contains(&"image".to_owned()));
        assert!(names(&[Some("nothing")]).is_empty());
        let replicas = catalog.field("apps/v1", "Deployment", &[Some("spec"), Some("replicas")]).unwrap();
        assert_eq!((replicas.type_name.as_str(), replicas.is_object), ("integer", false));
        assert!(catalog.kinds().contains(&("v1".to_owned(), "Pod".to_owned())));
    }
}
