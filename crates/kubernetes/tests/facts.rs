//! Generates the packed facts about built-in kinds, and compares the packed file with them.
//!
//! `YTTERBY_BLESS=facts cargo test -p ytterby-kubernetes --test facts` rewrites
//! `src/facts/facts.bin` from `../shared/kubernetes`; without that folder the test is skipped.
//! `src/facts` reads the format.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ytterby_diag::FileId;
use ytterby_kubernetes::{Node, Value, documents};
use ytterby_yaml::{ReadOptions, parse};

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubernetes");
    if !shared.join("facts.jsonl").exists() {
        println!("facts: skipped, {} is absent", shared.display());
        return;
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/facts/facts.bin");
    let packed = pack(&shared);
    println!("facts: {} bytes packed", packed.len());
    assert!(packed.len() < 100_000);
    if std::env::var("YTTERBY_BLESS").as_deref() == Ok("facts") {
        std::fs::write(&path, packed).unwrap();
        return;
    }
    assert!(std::fs::read(&path).unwrap() == packed, "facts.bin is not what the facts give");
}

fn read(path: &Path) -> Vec<Node> {
    let text = std::fs::read_to_string(path).unwrap();
    let json = |line: &str| {
        let tree = parse(line.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
        Arc::unwrap_or_clone(documents(&tree).remove(0).root)
    };
    text.lines().map(json).collect()
}

/// The tables that `src/facts/table.rs` reads.
fn pack(shared: &Path) -> Vec<u8> {
    let facts = read(&shared.join("facts.jsonl"));
    let extra = Extra::read(&read(&shared.join("facts-1.36.jsonl")));
    let mut definitions: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.get("name").is_some()) {
        definitions.entry(fact.text("name").unwrap()).or_default().push(fact);
    }
    let kinds: Vec<&Node> = facts.iter().filter(|fact| fact.get("kind").is_some()).collect();
    let mut queue: Vec<String> =
        kinds.iter().map(|fact| fact.at(&["kind", "schema"]).unwrap().as_str().unwrap().to_owned()).collect();
    queue.push(META.to_owned());
    let mut reached = BTreeSet::new();
    while let Some(name) = queue.pop() {
        if primitive(&name).is_some() || !reached.insert(name.clone()) {
            continue;
        }
        for fact in &definitions[&*name] {
            references(fact.get("schema").unwrap(), &mut queue);
        }
    }
    let mut packer = Packer::new(&reached);
    packer.kinds(&kinds);
    packer.lifecycles(&read(&shared.join("kinds-1.36.jsonl")));
    for name in &reached {
        packer.definition(name, &definitions[&**name], &extra);
    }
    packer.finish()
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

const PROPS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// Primitive types, in the order of `Schemas::PRIMITIVES`.
const PRIMITIVES: [&str; 15] = [
    "any",
    "string",
    "boolean",
    "integer",
    "int32",
    "int64",
    "number",
    "int-or-string",
    "quantity",
    "time",
    "micro-time",
    "bytes",
    "schema-or-bool",
    "schema-or-array",
    "schema-or-strings",
];

fn primitive_id(name: &str) -> u16 {
    PRIMITIVES.iter().position(|other| *other == name).unwrap() as u16
}

/// Tables under construction.
struct Packer {
    strings: Vec<String>,
    string_ids: HashMap<String, u16>,
    definition_ids: HashMap<String, u16>,
    composites: Vec<[u16; 3]>,
    kinds: Vec<u8>,
    lifecycles: Vec<u8>,
    definitions: Vec<u8>,
    variants: Vec<u8>,
    fields: Vec<u8>,
}

impl Packer {
    fn new(definitions: &BTreeSet<String>) -> Packer {
        let first = PRIMITIVES.len() as u16;
        let definition_ids = definitions.iter().zip(first..).map(|(name, id)| (name.clone(), id)).collect();
        let mut packer = Packer {
            strings: Vec::new(),
            string_ids: HashMap::new(),
            definition_ids,
            composites: Vec::new(),
            kinds: Vec::new(),
            lifecycles: Vec::new(),
            definitions: Vec::new(),
            variants: Vec::new(),
            fields: Vec::new(),
        };
        packer.string("");
        packer
    }

    fn string(&mut self, text: &str) -> u16 {
        if let Some(id) = self.string_ids.get(text) {
            return *id;
        }
        let id = self.strings.len() as u16;
        self.strings.push(text.to_owned());
        self.string_ids.insert(text.to_owned(), id);
        id
    }

    fn composite(&mut self, tag: u8, a: u16, b: u16) -> u16 {
        let row = [tag.into(), a, b];
        let at = self.composites.iter().position(|other| *other == row).unwrap_or_else(|| {
            self.composites.push(row);
            self.composites.len() - 1
        });
        (PRIMITIVES.len() + self.definition_ids.len() + at) as u16
    }

    fn kinds(&mut self, facts: &[&Node]) {
        let names = |fact: &Node| {
            let kind = fact.get("kind").unwrap();
            ["group", "version", "kind", "plural"].map(|key| kind.text(key).unwrap().to_owned())
        };
        let mut facts = facts.to_vec();
        facts.sort_by_key(|fact| (names(fact), span(fact)));
        for fact in facts {
            let kind = fact.get("kind").unwrap();
            for name in names(fact) {
                let id = self.string(&name);
                push(&mut self.kinds, id);
            }
            push(&mut self.kinds, self.definition_ids[kind.text("schema").unwrap()]);
            self.kinds.extend(span(fact));
            self.kinds.push(kind.get("namespaced").and_then(Node::as_bool).unwrap().into());
        }
    }

    fn lifecycles(&mut self, kinds: &[Node]) {
        let names = |kind: &Node| ["group", "version", "kind"].map(|key| kind.text(key).unwrap().to_owned());
        let is_off = |kind: &Node| kind.get("servedByDefault").and_then(Node::as_bool) == Some(false);
        let has_one = |kind: &&Node| kind.get("deprecated").is_some() || kind.get("removed").is_some() || is_off(kind);
        let is_real = |kind: &&Node| !kind.text("group").unwrap().ends_with("example.com");
        let mut kinds: Vec<&Node> = kinds.iter().filter(has_one).filter(is_real).collect();
        kinds.sort_by_key(|kind| names(kind));
        for kind in kinds {
            for name in names(kind) {
                let id = self.string(&name);
                push(&mut self.lifecycles, id);
            }
            for key in ["introduced", "deprecated", "removed"] {
                self.lifecycles.push(kind.text(key).map_or(0, minor));
            }
            self.lifecycles.push(is_off(kind).into());
            let replacement = kind.get("replacement").map(Node::items).unwrap_or_default();
            for at in 0..3 {
                let name = replacement.get(at).and_then(Node::as_str).unwrap_or_default();
                let id = self.string(name);
                push(&mut self.lifecycles, id);
            }
        }
    }

    fn definition(&mut self, name: &str, facts: &[&Node], extra: &Extra) {
        push(&mut self.definitions, (self.variants.len() / 4) as u16);
        for fact in facts {
            self.variants.extend(span(fact));
            push(&mut self.variants, (self.fields.len() / 4) as u16);
            self.body(name, fact.get("schema").unwrap(), extra);
        }
    }

    fn body(&mut self, name: &str, schema: &Node, extra: &Extra) {
        let short = name.rsplit('.').next().unwrap();
        let required = schema.get("required").map(Node::items).unwrap_or_default();
        let mut fields: Vec<_> = schema.get("properties").map(Node::entries).unwrap_or_default().iter().collect();
        fields.sort_by(|a, b| a.key.cmp(&b.key));
        for entry in fields {
            let key = &*entry.key;
            let (values, default) = extra.0.get(&(name.to_owned(), key.to_owned())).cloned().unwrap_or_default();
            let mut id = self.code(&entry.node, &values);
            let is_text = entry.node.text("type") == Some("string") && entry.node.text("format") != Some("byte");
            if let Some(default) = default.filter(|_| is_text) {
                let (values, default) = (self.string(&values.join("|")), self.string(&default));
                id = self.composite(b't', values, default);
            }
            // The server treats an absent boolean as false, even if the document requires it.
            let is_required = required.iter().any(|name| name.as_str() == Some(key))
                && id != primitive_id("boolean")
                && !NOT_ASKED_FOR.contains(&(short, key));
            let name = self.string(key);
            push(&mut self.fields, name);
            assert!(id < 0x8000);
            push(&mut self.fields, id | if is_required { 0x8000 } else { 0 });
        }
    }

    /// The number of a type; `values` are the allowed ones.
    fn code(&mut self, schema: &Node, values: &[String]) -> u16 {
        if let Some(name) = schema.text("$ref") {
            return primitive(name).map_or_else(|| self.definition_ids[name], primitive_id);
        }
        match (schema.text("type"), schema.text("format")) {
            (Some("string"), Some("byte")) => primitive_id("bytes"),
            (Some("string"), _) if !values.is_empty() => {
                let values = self.string(&values.join("|"));
                self.composite(b't', values, 0)
            }
            (Some("integer"), Some("int32")) => primitive_id("int32"),
            (Some("integer"), _) => primitive_id("int64"),
            (Some(name @ ("string" | "number" | "boolean")), _) => primitive_id(name),
            (Some("array"), _) => {
                let keys = schema.get("x-kubernetes-list-map-keys").map(Node::items).unwrap_or_default();
                let keys: Vec<&str> = keys.iter().filter_map(Node::as_str).collect();
                let items = self.code(schema.get("items").unwrap(), values);
                match schema.text("x-kubernetes-list-type") {
                    Some("set") => self.composite(b's', items, 0),
                    Some("map") => {
                        let keys = self.string(&keys.join(","));
                        self.composite(b'k', items, keys)
                    }
                    _ => self.composite(b'l', items, 0),
                }
            }
            (Some("object"), _) => match schema.get("additionalProperties") {
                Some(values) => {
                    let values = self.code(values, &[]);
                    self.composite(b'm', values, 0)
                }
                None => primitive_id("any"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        push(&mut out, self.definition_ids[META]);
        push(&mut out, self.definition_ids[PROPS]);
        let counts = [
            self.strings.len(),
            self.kinds.len() / 13,
            self.lifecycles.len() / 16,
            self.definition_ids.len(),
            self.variants.len() / 4,
            self.fields.len() / 4,
            self.composites.len(),
        ];
        counts.into_iter().for_each(|count| push(&mut out, count as u16));
        let mut end = 0;
        for string in &self.strings {
            push(&mut out, u16::try_from(end).unwrap());
            end += string.len();
        }
        push(&mut out, u16::try_from(end).unwrap());
        push(&mut self.definitions, counts[4] as u16);
        self.variants.extend([0, 0]);
        push(&mut self.variants, counts[5] as u16);
        for table in [&self.kinds, &self.lifecycles, &self.definitions, &self.variants, &self.fields] {
            out.extend(table);
        }
        for [tag, a, b] in self.composites {
            out.push(tag as u8);
            push(&mut out, a);
            push(&mut out, b);
        }
        self.strings.iter().for_each(|string| out.extend(string.bytes()));
        out
    }
}

fn push(out: &mut Vec<u8>, number: u16) {
    out.extend(number.to_le_bytes());
}

/// The minor version: 36 for `1.36`.
fn minor(version: &str) -> u8 {
    version.strip_prefix("1.").unwrap().parse().unwrap()
}

fn span(fact: &Node) -> [u8; 2] {
    let versions = fact.get("versions").unwrap().items();
    [0, 1].map(|at| minor(versions[at].as_str().unwrap()))
}

/// Fields that the documents call required but servers do not require: there, absent means the zero
/// value.
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

/// Facts from a running server that the published documents lack, by definition and field.
struct Extra(HashMap<(String, String), (Vec<String>, Option<String>)>);

impl Extra {
    fn read(facts: &[Node]) -> Extra {
        let mut found = HashMap::new();
        for fact in facts {
            let name = fact.text("name").unwrap();
            for entry in fact.get("fields").map(Node::entries).unwrap_or_default() {
                let strings = |node: &Node| node.items().iter().filter_map(|v| v.as_str().map(str::to_owned)).collect();
                let field = &entry.node;
                let items = field.get("items").filter(|items| items.get("enum").is_some());
                let values: Vec<String> = items.unwrap_or(field).get("enum").map(strings).unwrap_or_default();
                let default = field.get("default").map(|value| match &value.value {
                    Value::Str(text) => text.to_string(),
                    other => other.shown(),
                });
                if !values.is_empty() || default.is_some() {
                    found.insert((name.to_owned(), entry.key.to_string()), (values, default));
                }
            }
        }
        Extra(found)
    }
}

/// The primitive type that a definition is, if any.
fn primitive(name: &str) -> Option<&'static str> {
    Some(match name.rsplit('.').next().unwrap() {
        "Quantity" => "quantity",
        "Time" => "time",
        "MicroTime" => "micro-time",
        "IntOrString" => "int-or-string",
        "JSON" | "RawExtension" | "FieldsV1" => "any",
        "JSONSchemaPropsOrBool" => "schema-or-bool",
        "JSONSchemaPropsOrArray" => "schema-or-array",
        "JSONSchemaPropsOrStringArray" => "schema-or-strings",
        _ => return None,
    })
}

fn references(schema: &Node, found: &mut Vec<String>) {
    match &schema.value {
        Value::Map(entries) => {
            for entry in entries {
                match (&*entry.key, entry.node.as_str()) {
                    ("$ref", Some(name)) => found.push(name.to_owned()),
                    _ => references(&entry.node, found),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
