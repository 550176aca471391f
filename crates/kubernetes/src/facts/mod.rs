//! Facts about built-in kinds: the published schemas of all versions, compressed to 27 kB.
//!
//! `tests/facts.rs` generates `facts.bin`: one line for each kind, lifecycle and definition. It is decompressed once per
//! process, on first use, and the definitions of a version are compiled once.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::document::Value;
use crate::schema::{Additional, Field, Kind, ListType, Schema, SchemaId, Schemas};

static PACKED: &[u8] = include_bytes!("facts.bin");

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
    schema: &'static str,
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

type Key = (&'static str, &'static str, &'static str);

/// The decompressed facts; definitions are still text.
struct Unpacked {
    kinds: Vec<KnownKind>,
    by_key: FxHashMap<Key, Vec<usize>>,
    lifecycles: FxHashMap<Key, Lifecycle>,
    definitions: Vec<(u8, u8, &'static str, &'static str)>,
}

fn unpacked() -> &'static Unpacked {
    static UNPACKED: OnceLock<Unpacked> = OnceLock::new();
    UNPACKED.get_or_init(|| {
        let bytes = miniz_oxide::inflate::decompress_to_vec(PACKED).expect("the packed facts are whole");
        let text: &'static str = String::leak(String::from_utf8(bytes).expect("the packed facts are text"));
        unpack(text)
    })
}

fn unpack(text: &'static str) -> Unpacked {
    let mut unpacked = Unpacked {
        kinds: Vec::new(),
        by_key: FxHashMap::default(),
        lifecycles: FxHashMap::default(),
        definitions: Vec::new(),
    };
    let minor = |letter: u8| letter - b'a' + OLDEST;
    for line in text.lines() {
        let bytes = line.as_bytes();
        match bytes[0] {
            b'K' => {
                let mut words = line[4..].split(' ');
                let mut word = || words.next().expect("a kind has five words");
                let (group, version, kind, plural, schema) = (word(), word(), word(), word(), word());
                let (first, last, namespaced) = (minor(bytes[1]), minor(bytes[2]), bytes[3] == b'N');
                unpacked.by_key.entry((group, version, kind)).or_default().push(unpacked.kinds.len());
                unpacked.kinds.push(KnownKind { group, version, kind, plural, namespaced, first, last, schema });
            }
            b'L' => {
                let mut words = line[1..].split(' ');
                let mut word = || words.next().expect("a lifecycle has eight words");
                let key = (word(), word(), word());
                let number = |text: &str| text.parse().ok();
                let lifecycle = Lifecycle {
                    introduced: number(word()),
                    deprecated: number(word()),
                    removed: number(word()),
                    is_off: word() == "off",
                    replacement: {
                        let mut parts = word().split(',');
                        match (parts.next(), parts.next(), parts.next()) {
                            (Some(group), Some(version), Some(kind)) => Some([group, version, kind]),
                            _ => None,
                        }
                    },
                };
                unpacked.lifecycles.insert(key, lifecycle);
            }
            _ => {
                let (name, body) = line[3..].split_once(' ').expect("a definition has a name");
                unpacked.definitions.push((minor(bytes[1]), minor(bytes[2]), name, body));
            }
        }
    }
    unpacked
}

/// API versions whose deprecation the published documents do not record.
const DEPRECATED: [(Key, u8, [&str; 3]); 2] = [
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
    unpacked().lifecycles.get(&key).copied()
}

/// The ranges of Kubernetes versions that have a kind.
pub(crate) fn spans(gvk: &Gvk) -> impl Iterator<Item = (u8, u8)> {
    let facts = unpacked();
    let found = facts.by_key.get(&(&*gvk.group, &*gvk.version, &*gvk.kind));
    found.into_iter().flatten().map(|&at| (facts.kinds[at].first, facts.kinds[at].last))
}

/// The kinds of this name in a version.
pub(crate) fn kinds_named(kind: &str, version: Version) -> impl Iterator<Item = &'static KnownKind> {
    let is_served = move |known: &&KnownKind| (known.first..=known.last).contains(&version.0);
    unpacked().kinds.iter().filter(is_served).filter(move |known| known.kind == kind)
}

/// All kinds of a version.
pub(crate) fn kinds(version: Version) -> impl Iterator<Item = &'static KnownKind> {
    unpacked().kinds.iter().filter(move |known| (known.first..=known.last).contains(&version.0))
}

/// The compiled schemas of a version.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub schemas: Schemas,
    /// `ObjectMeta`.
    pub meta: SchemaId,
    definitions: FxHashMap<&'static str, SchemaId>,
}

impl Builtin {
    /// A built-in kind of this version.
    pub fn kind(&self, gvk: &Gvk, version: Version) -> Option<(&'static KnownKind, SchemaId)> {
        let facts = unpacked();
        let candidates = facts.by_key.get(&(&*gvk.group, &*gvk.version, &*gvk.kind))?;
        let mut known = candidates.iter().map(|&at| &facts.kinds[at]);
        let known = known.find(|known| (known.first..=known.last).contains(&version.0))?;
        Some((known, self.definitions[known.schema]))
    }
}

/// The compiled schemas of a version, created on first use.
pub(crate) fn builtin(version: Version) -> Arc<Builtin> {
    static COMPILED: [OnceLock<Arc<Builtin>>; (NEWEST - OLDEST + 1) as usize] =
        [const { OnceLock::new() }; (NEWEST - OLDEST + 1) as usize];
    COMPILED[(version.0 - OLDEST) as usize].get_or_init(|| Arc::new(compile(version))).clone()
}

/// The definition of `ObjectMeta`.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The definition of a schema within a CustomResourceDefinition.
const SCHEMA_PROPS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

fn compile(version: Version) -> Builtin {
    let facts = unpacked();
    let served = facts.definitions.iter().filter(|(first, last, ..)| (*first..=*last).contains(&version.0));
    let served: Vec<(&'static str, &'static str)> = served.map(|(_, _, name, body)| (*name, *body)).collect();
    let mut schemas = Schemas::new();
    let mut definitions = FxHashMap::with_capacity_and_hasher(served.len(), FxBuildHasher);
    for (name, _) in &served {
        definitions.insert(*name, schemas.add(Schema::of(Kind::Object)));
    }
    let mut compiler = Compiler { schemas, definitions };
    for (name, body) in &served {
        let id = compiler.definitions[name];
        compiler.object(id, name, body);
    }
    let meta = compiler.definitions[META];
    compiler.schemas.props = compiler.definitions.get(SCHEMA_PROPS).copied();
    Builtin { schemas: compiler.schemas, meta, definitions: compiler.definitions }
}

/// Fields that the documents call required but servers do not require: there, absent means the zero value.
const NOT_ASKED_FOR: [(&str, &str); 27] = [
    ("CSIDriver", "spec"),
    ("StatefulSetSpec", "serviceName"),
    ("NetworkPolicySpec", "podSelector"),
    ("PriorityClass", "value"),
    ("ControllerRevision", "revision"),
    ("Event", "metadata"),
    ("ResourceFieldSelector", "divisor"),
    ("PodFailurePolicy", "rules"),
    ("ForZone", "name"),
    ("Event", "involvedObject"),
    ("DeviceClass", "spec"),
    ("ResourceClaim", "spec"),
    ("ResourceClaimTemplate", "spec"),
    ("ResourceClaimTemplateSpec", "spec"),
    ("ResourcePool", "generation"),
    ("DeviceCapacity", "value"),
    ("TokenRequest", "audience"),
    ("CSINode", "spec"),
    ("CSINodeSpec", "drivers"),
    ("LimitRangeSpec", "limits"),
    ("Sysctl", "value"),
    ("PreferredSchedulingTerm", "preference"),
    ("HTTPHeader", "value"),
    ("SleepAction", "seconds"),
    ("ISCSIVolumeSource", "lun"),
    ("ISCSIPersistentVolumeSource", "lun"),
    ("ScaleIOVolumeSource", "secretRef"),
];

struct Compiler {
    schemas: Schemas,
    definitions: FxHashMap<&'static str, SchemaId>,
}

impl Compiler {
    fn object(&mut self, id: SchemaId, definition: &str, body: &'static str) {
        let short = definition.rsplit('.').next().unwrap_or(definition);
        let mut fields = Vec::new();
        let mut required: Vec<Arc<str>> = Vec::new();
        for field in body.split('\t').filter(|field| !field.is_empty()) {
            let (name, code) = field.split_once(':').expect("a field has a type");
            let (name, is_required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
            let mut rest = code;
            let mut schema = self.code(&mut rest);
            let default = rest.strip_prefix('=');
            if let Some(default) = default.filter(|_| self.schemas.get(schema).kind == Kind::String) {
                let enumeration = self.schemas.get(schema).enumeration.clone();
                let value = Some(Value::Str(default.into()));
                schema = self.schemas.add(Schema { enumeration, default: value, ..Schema::of(Kind::String) });
            }
            // The server treats an absent boolean as false, even if the document requires it.
            let is_bool = self.schemas.get(schema).kind == Kind::Boolean;
            let name: Arc<str> = name.into();
            if is_required && !is_bool && !NOT_ASKED_FOR.contains(&(short, &*name)) {
                required.push(name.clone());
            }
            fields.push(Field { name, schema });
        }
        fields.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let schema = self.schemas.get_mut(id);
        schema.fields = fields;
        schema.required = required;
    }

    /// Parses one type from the front.
    fn code(&mut self, rest: &mut &'static str) -> SchemaId {
        let letter = rest.as_bytes()[0];
        *rest = &rest[1..];
        let until = |rest: &mut &'static str| {
            let (text, tail) = rest.split_once(';').expect("a name ends with a semicolon");
            *rest = tail;
            text
        };
        let kind = match letter {
            b's' => Kind::String,
            b'i' => Kind::Int32,
            b'l' => Kind::Int64,
            b'b' => Kind::Boolean,
            b'd' => Kind::Number,
            b'q' => Kind::Quantity,
            b't' => Kind::Time,
            b'm' => Kind::MicroTime,
            b'x' => Kind::IntOrString,
            b'y' => Kind::Bytes,
            b'1' => Kind::SchemaOrBool,
            b'2' => Kind::SchemaOrArray,
            b'3' => Kind::SchemaOrStrings,
            b'@' => {
                let name = until(rest);
                return self.definitions[name];
            }
            b'e' => {
                let values = until(rest).split('|').map(|value| Value::Str(value.into())).collect();
                return self.schemas.add(Schema { enumeration: values, ..Schema::of(Kind::String) });
            }
            b'[' => {
                let letter = rest.as_bytes()[0];
                *rest = &rest[1..];
                let list = match letter {
                    b's' => ListType::Set,
                    b'k' => ListType::Map(until(rest).split(',').map(Arc::from).collect()),
                    _ => ListType::Atomic,
                };
                let items = self.code(rest);
                return self.schemas.add(Schema { items: Some(items), list, ..Schema::of(Kind::Array) });
            }
            b'{' => {
                let values = self.code(rest);
                return self.schemas.add(Schema { additional: Additional::Of(values), ..Schema::of(Kind::Object) });
            }
            _ => Kind::Any,
        };
        Schemas::primitive(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_compiles() {
        for version in Version::all() {
            let builtin = builtin(version);
            assert!(builtin.schemas.len() > 500, "{version}");
            let (known, schema) = builtin.kind(&Gvk::of("apps/v1", "Deployment"), version).unwrap();
            assert!(known.namespaced && builtin.schemas.get(schema).field("spec").is_some());
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
