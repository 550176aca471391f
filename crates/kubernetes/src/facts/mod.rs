//! Facts about built-in kinds: the published schemas of all versions, packed into tables.
//!
//! `tests/facts.rs` generates `facts.bin`, 60 kB of tables whose rows refer to each other by
//! number. They are read in place: nothing is decompressed, a lookup is a binary search, and the
//! schema of a type is made when a document first needs it. A run pays for the kinds of its
//! documents only.

mod table;

use std::sync::{Arc, OnceLock};

use crate::document::Value;
use crate::schema::{Additional, ListType, Property, Schema, SchemaId, Schemas, ValueType};
use table::{Composite, KindRow, LifecycleRow};

/// The oldest known version.
const OLDEST: u8 = 24;

/// The newest known version.
const NEWEST: u8 = 36;

/// A known version of Kubernetes: 1.24 to 1.36.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version(u8);

impl Version {
    /// The newest one.
    pub const NEWEST: Version = Version(NEWEST);

    /// All versions, oldest first.
    pub fn all() -> impl Iterator<Item = Version> {
        (OLDEST..=NEWEST).map(Version)
    }

    /// Parses `1.36`, `v1.36`, `1.36.4` or `master`.
    pub fn parse(text: &str) -> Option<Version> {
        if text == "master" || text == "latest" {
            return Some(Version::NEWEST);
        }
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.")?;
        let (minor, patch) = rest.split_once('.').unwrap_or((rest, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(minor) || !is_number(patch) {
            return None;
        }
        minor.parse().ok().filter(|minor| (OLDEST..=NEWEST).contains(minor)).map(Version)
    }

    /// The minor version: 36 for 1.36.
    pub fn minor(self) -> u8 {
        self.0
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// A group, a version and a kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gvk {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Gvk {
    /// Splits `apiVersion`.
    pub fn of(api_version: &str, kind: &str) -> Gvk {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Gvk { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// As written in manifests: `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// A kind of some version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownKind {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    first: u8,
    last: u8,
    schema: SchemaId,
}

impl KnownKind {
    fn of(row: KindRow) -> KnownKind {
        let [group, version, kind, plural] = row.names.map(table::string);
        let schema = SchemaId(row.schema.into());
        KnownKind { group, version, kind, plural, namespaced: row.namespaced, first: row.first, last: row.last, schema }
    }

    fn is_in(&self, version: Version) -> bool {
        (self.first..=self.last).contains(&version.0)
    }
}

/// When an API version was introduced, deprecated and removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifecycle {
    pub introduced: Option<u8>,
    pub deprecated: Option<u8>,
    pub removed: Option<u8>,
    /// Whether 1.36 disables it by default.
    pub is_off: bool,
    /// Group, version and kind of its replacement.
    pub replacement: Option<[&'static str; 3]>,
}

impl Lifecycle {
    fn of(row: LifecycleRow) -> Lifecycle {
        let minor = |minor: u8| Some(minor).filter(|minor| *minor > 0);
        Lifecycle {
            introduced: minor(row.introduced),
            deprecated: minor(row.deprecated),
            removed: minor(row.removed),
            is_off: row.is_off,
            replacement: Some(row.replacement.map(table::string)).filter(|[_, _, kind]| !kind.is_empty()),
        }
    }
}

type GvkText = (&'static str, &'static str, &'static str);

/// API versions whose deprecation the published documents do not record.
const DEPRECATED: [(GvkText, u8, [&str; 3]); 2] = [
    (("", "v1", "Endpoints"), 33, ["discovery.k8s.io", "v1", "EndpointSlice"]),
    (("", "v1", "ComponentStatus"), 19, ["", "", ""]),
];

/// The lifecycle of an API version, if it ever changes.
pub(crate) fn lifecycle(gvk: &Gvk) -> Option<Lifecycle> {
    let key = (&*gvk.group, &*gvk.version, &*gvk.kind);
    if let Some((_, deprecated, replacement)) = DEPRECATED.iter().find(|row| row.0 == key) {
        return Some(Lifecycle {
            introduced: None,
            deprecated: Some(*deprecated),
            removed: None,
            is_off: false,
            replacement: Some(*replacement).filter(|[_, _, kind]| !kind.is_empty()),
        });
    }
    table::lifecycle(key).map(Lifecycle::of)
}

/// The rows of a kind, each for a range of Kubernetes versions.
fn rows_of(gvk: &Gvk) -> impl Iterator<Item = KnownKind> {
    table::kinds_of((&gvk.group, &gvk.version, &gvk.kind)).map(KnownKind::of)
}

/// The ranges of Kubernetes versions that have a kind.
pub(crate) fn spans(gvk: &Gvk) -> impl Iterator<Item = (u8, u8)> {
    rows_of(gvk).map(|known| (known.first, known.last))
}

/// The kinds of this name in a version.
pub(crate) fn kinds_named(kind: &str, version: Version) -> impl Iterator<Item = KnownKind> {
    kinds(version).filter(move |known| known.kind == kind)
}

/// All kinds of a version.
pub(crate) fn kinds(version: Version) -> impl Iterator<Item = KnownKind> {
    table::kinds().map(KnownKind::of).filter(move |known| known.is_in(version))
}

/// The schemas of a version.
#[derive(Debug)]
pub(crate) struct Builtin {
    version: Version,
    pub schemas: Schemas,
    /// `ObjectMeta`.
    pub meta: SchemaId,
}

impl Builtin {
    /// A built-in kind of this version.
    pub fn kind(&self, gvk: &Gvk) -> Option<(KnownKind, SchemaId)> {
        let known = rows_of(gvk).find(|known| known.is_in(self.version))?;
        Some((known, known.schema))
    }
}

/// The schemas of a version, shared by everybody who asks for it.
pub(crate) fn builtin(version: Version) -> Arc<Builtin> {
    static VERSIONS: [OnceLock<Arc<Builtin>>; (NEWEST - OLDEST + 1) as usize] =
        [const { OnceLock::new() }; (NEWEST - OLDEST + 1) as usize];
    let new = || {
        let [meta, props] = table::roots().map(|id| SchemaId(id.into()));
        let mut schemas = Schemas::of_version(version);
        schemas.props = Some(props);
        Arc::new(Builtin { version, schemas, meta })
    };
    VERSIONS[(version.0 - OLDEST) as usize].get_or_init(new).clone()
}

/// The number of types, including primitive ones.
pub(crate) fn types() -> usize {
    Schemas::PRIMITIVES.len() + table::definitions() + table::composites()
}

/// The schema of a type that is not primitive, in a version.
pub(crate) fn schema(id: SchemaId, version: Version) -> Schema {
    let at = id.0 as usize - Schemas::PRIMITIVES.len();
    if at < table::definitions() {
        return object(at, version);
    }
    let of = |id: u16| SchemaId(id.into());
    match table::composite(at - table::definitions()) {
        Composite::List(items) => Schema { items: Some(of(items)), ..Schema::of(ValueType::Array) },
        Composite::Set(items) => Schema { items: Some(of(items)), list: ListType::Set, ..Schema::of(ValueType::Array) },
        Composite::ListMap(items, keys) => {
            let list = ListType::Map(keys.split(',').map(Arc::from).collect());
            Schema { items: Some(of(items)), list, ..Schema::of(ValueType::Array) }
        }
        Composite::Map(values) => Schema { additional: Additional::Of(of(values)), ..Schema::of(ValueType::Object) },
        Composite::Text(values, default) => Schema {
            enumeration: values.split('|').filter(|value| !value.is_empty()).map(text).collect(),
            default: Some(default).filter(|default| !default.is_empty()).map(text),
            ..Schema::of(ValueType::String)
        },
    }
}

fn text(text: &str) -> Value {
    Value::Str(text.into())
}

/// The schema of a definition; an empty object in versions that do not have it.
fn object(definition: usize, version: Version) -> Schema {
    let mut schema = Schema::of(ValueType::Object);
    for row in table::fields(definition, version.0) {
        let name: Arc<str> = table::string(row.name).into();
        if row.is_required {
            schema.required.push(name.clone());
        }
        schema.fields.push(Property { name, schema: SchemaId(row.schema.into()) });
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_compiles() {
        for version in Version::all() {
            let builtin = builtin(version);
            let (known, schema) = builtin.kind(&Gvk::of("apps/v1", "Deployment")).unwrap();
            assert!(known.namespaced && builtin.schemas.get(schema).field("spec").is_some());
            for id in 0..types() as u32 {
                let schema = builtin.schemas.get(SchemaId(id));
                assert!(schema.fields.is_sorted_by(|a, b| a.name < b.name), "{version}, type {id}");
                let refers_to = schema.fields.iter().map(|field| field.schema).chain(schema.items);
                assert!(refers_to.into_iter().all(|id| (id.0 as usize) < types()), "{version}, type {id}");
            }
        }
    }

    #[test]
    fn versions_are_parsed() {
        for (text, minor) in [("1.36", 36), ("v1.24", 24), ("1.30.2", 30), ("master", 36)] {
            assert_eq!(Version::parse(text).map(Version::minor), Some(minor));
        }
        for text in ["1.23", "1.37", "2.1", "1.", "1.3x", "banana", "1.36."] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn kinds_depend_on_the_version() {
        let psp = Gvk::of("policy/v1beta1", "PodSecurityPolicy");
        assert_eq!(spans(&psp).collect::<Vec<_>>(), [(24, 24)]);
        assert_eq!(lifecycle(&Gvk::of("extensions/v1beta1", "Ingress")).unwrap().removed, Some(22));
    }
}
