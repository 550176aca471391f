//! Generates the packed facts about built-in kinds, and compares the packed file with them.
//!
//! `YTTERBY_BLESS=facts cargo test -p ytterby-kubernetes --test facts` rewrites `src/facts/facts.bin` from
//! `../shared/kubernetes`; without that folder the test is skipped. `src/facts` reads the format.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ytterby_diag::FileId;
use ytterby_kubernetes::{Node, Value, documents};
use ytterby_yaml::{ReadOptions, parse};

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubernetes");
    if !shared.join("facts.jsonl").exists() {
        println!("facts: skipped, {} is absent", shared.display());
        return;
    }
    let packed_path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/facts/facts.bin");
    let text = pack(&shared);
    if std::env::var("YTTERBY_BLESS").as_deref() == Ok("facts") {
        let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 10);
        println!("facts: {} bytes of text, {} bytes packed", text.len(), packed.len());
        std::fs::write(&packed_path, packed).unwrap();
        return;
    }
    let packed = std::fs::read(&packed_path).unwrap();
    assert!(packed.len() < 100_000, "{} bytes", packed.len());
    let unpacked = String::from_utf8(miniz_oxide::inflate::decompress_to_vec(&packed).unwrap()).unwrap();
    let difference = unpacked.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(unpacked == text, "facts.bin is not what the facts give; first difference: {difference:?}");
    println!("facts: {} lines, {} bytes packed", text.lines().count(), packed.len());
}

fn read(path: &Path) -> Vec<Node> {
    let text = std::fs::read_to_string(path).unwrap();
    let json = |line: &str| {
        let tree = parse(line.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
        documents(&tree).remove(0).root
    };
    text.lines().map(json).collect()
}

/// One line for each kind (`K`), lifecycle (`L`) and definition (`D`). Versions are letters, `a` for 1.24.
fn pack(shared: &Path) -> String {
    let facts = read(&shared.join("facts.jsonl"));
    let extra = Extra::read(&read(&shared.join("facts-1.36.jsonl")));
    let mut out = String::new();
    let mut roots = BTreeSet::from([META.to_owned()]);
    for fact in facts.iter().filter(|fact| fact.get("kind").is_some()) {
        let kind = fact.get("kind").unwrap();
        let text = |key| kind.text(key).unwrap();
        roots.insert(text("schema").to_owned());
        let scope = if kind.get("namespaced").and_then(Node::as_bool).unwrap() { 'N' } else { 'C' };
        let (group, version, name, plural) = (text("group"), text("version"), text("kind"), text("plural"));
        let (span, schema) = (span(fact), text("schema"));
        writeln!(out, "K{span}{scope}{group} {version} {name} {plural} {schema}").unwrap();
    }
    for kind in read(&shared.join("kinds-1.36.jsonl")) {
        lifecycle(&kind, &mut out);
    }
    let mut definitions: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.get("name").is_some()) {
        definitions.entry(fact.text("name").unwrap().to_owned()).or_default().push(fact);
    }
    let mut reached = BTreeSet::new();
    let mut queue: Vec<String> = roots.into_iter().collect();
    while let Some(name) = queue.pop() {
        if primitive(&name).is_some() || !reached.insert(name.clone()) {
            continue;
        }
        for fact in &definitions[&name] {
            references(fact.get("schema").unwrap(), &mut queue);
        }
    }
    for name in reached {
        for fact in &definitions[&name] {
            let schema = fact.get("schema").unwrap();
            writeln!(out, "D{}{name} {}", span(fact), body(&name, schema, &extra)).unwrap();
        }
    }
    out
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

fn span(fact: &Node) -> String {
    let letter = |text: &str| char::from(b'a' + text.strip_prefix("1.").unwrap().parse::<u8>().unwrap() - 24);
    fact.get("versions").unwrap().items().iter().map(|version| letter(version.as_str().unwrap())).collect()
}

fn lifecycle(kind: &Node, out: &mut String) {
    let minor = |key: &str| kind.text(key).map_or("-", |version| version.strip_prefix("1.").unwrap());
    let is_off = kind.get("servedByDefault").and_then(Node::as_bool) == Some(false);
    let has_lifecycle = kind.get("deprecated").is_some() || kind.get("removed").is_some() || is_off;
    let text = |key| kind.text(key).unwrap();
    if !has_lifecycle || text("group").ends_with("example.com") {
        return;
    }
    let replacement: Vec<&str> =
        kind.get("replacement").map(|list| list.items().iter().filter_map(Node::as_str).collect()).unwrap_or_default();
    let off = if is_off { "off" } else { "on" };
    let (group, version, name) = (text("group"), text("version"), text("kind"));
    let (introduced, deprecated, removed) = (minor("introduced"), minor("deprecated"), minor("removed"));
    let replacement = if replacement.is_empty() { "-".to_owned() } else { replacement.join(",") };
    writeln!(out, "L{group} {version} {name} {introduced} {deprecated} {removed} {off} {replacement}").unwrap();
}

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

/// The letter of a definition that is a primitive type.
fn primitive(name: &str) -> Option<char> {
    Some(match name.rsplit('.').next().unwrap() {
        "Quantity" => 'q',
        "Time" => 't',
        "MicroTime" => 'm',
        "IntOrString" => 'x',
        "JSON" | "RawExtension" | "FieldsV1" => 'j',
        "JSONSchemaPropsOrBool" => '1',
        "JSONSchemaPropsOrArray" => '2',
        "JSONSchemaPropsOrStringArray" => '3',
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

fn body(name: &str, schema: &Node, extra: &Extra) -> String {
    let required: Vec<&str> =
        schema.get("required").map(|list| list.items().iter().filter_map(Node::as_str).collect()).unwrap_or_default();
    let field = |entry: &ytterby_kubernetes::Entry| {
        let key = &*entry.key;
        let mark = if required.contains(&key) { "!" } else { "" };
        let (values, default) = extra.0.get(&(name.to_owned(), key.to_owned())).cloned().unwrap_or_default();
        let default = default.map(|value| format!("={value}")).unwrap_or_default();
        format!("{key}{mark}:{}{default}", code(&entry.node, &values))
    };
    let fields: Vec<String> =
        schema.get("properties").map(Node::entries).unwrap_or_default().iter().map(field).collect();
    fields.join("\t")
}

fn code(schema: &Node, values: &[String]) -> String {
    if let Some(name) = schema.text("$ref") {
        return primitive(name).map_or_else(|| format!("@{name};"), String::from);
    }
    match (schema.text("type"), schema.text("format")) {
        (Some("string"), Some("byte")) => "y".to_owned(),
        (Some("string"), _) if !values.is_empty() => format!("e{};", values.join("|")),
        (Some("string"), _) => "s".to_owned(),
        (Some("integer"), Some("int32")) => "i".to_owned(),
        (Some("integer"), _) => "l".to_owned(),
        (Some("number"), _) => "d".to_owned(),
        (Some("boolean"), _) => "b".to_owned(),
        (Some("array"), _) => {
            let keys = schema.get("x-kubernetes-list-map-keys");
            let keys: Vec<&str> =
                keys.map(|keys| keys.items().iter().filter_map(Node::as_str).collect()).unwrap_or_default();
            let kind = match schema.text("x-kubernetes-list-type") {
                Some("set") => "s".to_owned(),
                Some("map") => format!("k{};", keys.join(",")),
                _ => "a".to_owned(),
            };
            format!("[{kind}{}", code(schema.get("items").unwrap(), values))
        }
        (Some("object"), _) => match schema.get("additionalProperties") {
            Some(values) => format!("{{{}", code(values, &[])),
            None => "j".to_owned(),
        },
        other => panic!("{other:?}"),
    }
}
