//! Exported CRDs accept the same values as our schemas.
//!
//! Schemas, rules and values are random. The comparison does the same as Kubernetes: a JSON Schema
//! validator checks the keywords, the `cel` crate the rules of `x-kubernetes-validations`, each at
//! its own place. Kubernetes does not show null fields to CEL.
//!
//! If a rule is only exported as text, the CRD may accept more values than we do, but never fewer.

use std::collections::HashMap;

use crate::shape::{check_defaults, check_structural};
use crate::support::{Rules, export, validator, values};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use ytterby::{ImportOptions, import_schema};
use ytterby_kubernetes as kubernetes;

/// A sequence of choices. After its end, the first option is always chosen.
struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    fn of<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[self.below(items.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}

/// A node of the schema.
#[derive(Debug)]
struct Place {
    shape: Shape,
    nullable: bool,
    /// Whether its key is optional.
    optional: bool,
    rules: Vec<String>,
}

#[derive(Debug)]
enum Shape {
    Bool,
    Int,
    Float,
    Text,
    IntOrText,
    List(Box<Place>),
    Object(Vec<(&'static str, Place)>),
    /// A map with free keys: `@schema/key` with these arguments.
    Free(&'static str, Box<Place>),
}

const KEYS: [&str; 8] = ["a", "b", "c", "a-b", "x.y/z", "in", "__u", "n 1"];
const TEXTS: [&str; 9] = ["", "a", "ab", "b", "ba", "it's", "10.0.0.1", "80", "x\\y"];

fn scalar(choices: &mut Choices<'_>) -> Place {
    let shape = match choices.below(6) {
        0 => Shape::Int,
        1 => Shape::Text,
        2 => Shape::Bool,
        3 => Shape::Float,
        4 => Shape::IntOrText,
        _ => Shape::Int,
    };
    let nullable = choices.one_in(4);
    with_rules(Place { shape, nullable, optional: false, rules: Vec::new() }, choices)
}

fn place(choices: &mut Choices<'_>, depth: usize) -> Place {
    let shape = match choices.below(if depth == 0 { 1 } else { 6 }) {
        1 | 2 => {
            let count = 1 + choices.below(4);
            let mut items: Vec<(&'static str, Place)> = Vec::new();
            for _ in 0..count {
                let key = KEYS[choices.below(KEYS.len())];
                if items.iter().all(|(other, _)| *other != key) {
                    let mut item = place(choices, depth - 1);
                    item.optional = choices.one_in(6);
                    items.push((key, item));
                }
            }
            Shape::Object(items)
        }
        3 => Shape::List(Box::new(place(choices, depth - 1))),
        4 => {
            let keys = choices.of(&[
                "any-key",
                "key allowed=\"[a-z-]+\", expects=\"1+\"",
                "key allowed=\"any\", expects=[1, 2]",
                "key allowed=\"any\", expects=2",
                "key allowed=\"any\", expects=[0, 2]",
                "key allowed=lambda key: True, missing_ok=True",
            ]);
            Shape::Free(keys, Box::new(scalar(choices)))
        }
        _ => return scalar(choices),
    };
    let nullable = choices.one_in(5);
    with_rules(Place { shape, nullable, optional: false, rules: Vec::new() }, choices)
}

fn with_rules(mut place: Place, choices: &mut Choices<'_>) -> Place {
    // Plain items of arrays cannot be null without further annotations.
    if choices.one_in(2) {
        place.rules.push(named_rule(&place, choices));
    }
    if choices.one_in(3) {
        let body = Lambda { choices }.condition(&place.shape, 2);
        place.rules.insert(0, format!("lambda v: {body}"));
    }
    place.rules.retain(|rule| !rule.is_empty());
    place
}

fn named_rule(place: &Place, choices: &mut Choices<'_>) -> String {
    let rule = match &place.shape {
        Shape::Bool => choices.of(&["one_of=[True]", "one_of=[True, False]", "cel=\"self || !self\""]),
        Shape::Int => choices.of(&[
            "min=1, max=5",
            "above=0",
            "below=4",
            "min=1, above=0",
            "even=True",
            "odd=True",
            "multiple_of=3",
            "one_of=[1, 2, 3]",
            "format=\"port\"",
            "cel=\"self > 1 && self % 2 == 1\"",
            "min=\"a\"",
        ]),
        Shape::Float => choices.of(&["min=0.5", "max=2", "below=2.5", "multiple_of=0.5", "one_of=[0.5, 1]"]),
        Shape::Text => choices.of(&[
            "min_len=1",
            "max_len=2",
            "len=2",
            "one_of=[\"a\", \"ab\"]",
            "starts_with=\"a\"",
            "ends_with=\"b\", starts_with=\"a\"",
            "contains=\"'\"",
            "matches=\"^(?i)A\"",
            "matches=\"a\", contains=\"b\"",
            "format=\"ip\"",
            "format=\"ipv4\"",
            "format=\"port\"",
            "cel=\"self.startsWith('a') || self == ''\"",
            "min=1",
        ]),
        Shape::IntOrText => choices.of(&["one_of=[1, \"a\"]", "format=\"port\"", "cel=\"type(self) == int\""]),
        Shape::List(item) => match item.shape {
            Shape::Text => choices.of(&["min_len=1", "unique=True", "contains=\"a\"", "cel=\"self.all(x, x != 'b')\""]),
            Shape::Int => choices.of(&["max_len=1", "unique=True", "contains=2", "min_len=1, unique=True"]),
            Shape::Float => choices.of(&["contains=1", "contains=0.5", "unique=True"]),
            _ => choices.of(&["unique=True", "min_len=1", "len=1"]),
        },
        Shape::Object(items) => {
            let quoted: Vec<String> = items.iter().map(|(key, _)| format!("{key:?}")).collect();
            return match choices.below(4) {
                0 => "one_not_null=True".to_owned(),
                1 => format!("one_not_null=[{}]", quoted.join(", ")),
                // Whether a null field exists depends on the evaluator.
                2 if !items[0].1.nullable => format!("contains={}", quoted[0]),
                // Kubernetes does not count null fields.
                _ if items.iter().any(|(_, item)| !item.nullable && !item.optional) => "min_len=1".to_owned(),
                _ => String::new(),
            };
        }
        Shape::Free(..) => choices.of(&["min_len=1", "max_len=1", "contains=\"a\"", "cel=\"!('b' in self)\""]),
    };
    rule.to_owned()
}

/// Writes bodies of lambdas. Most of them make sense for the type; others must be refused or mean
/// the same nevertheless.
struct Lambda<'c, 'b> {
    choices: &'c mut Choices<'b>,
}

impl Lambda<'_, '_> {
    fn condition(&mut self, shape: &Shape, depth: usize) -> String {
        let kinds = if depth == 0 { 6 } else { 9 };
        match self.choices.below(kinds) {
            6 => format!("not ({})", self.condition(shape, depth - 1)),
            7 => format!("({}) and ({})", self.condition(shape, depth - 1), self.condition(shape, depth - 1)),
            8 => format!("({}) or ({})", self.condition(shape, depth - 1), self.condition(shape, depth - 1)),
            5 => {
                let (path, _) = self.path(shape);
                format!("{path} {} None", self.choices.of(&["==", "!="]))
            }
            4 => {
                let (path, of) = self.path(shape);
                let items: Vec<String> = (0..self.choices.below(3)).map(|_| self.literal(of)).collect();
                format!("{path} {} [{}]", self.choices.of(&["in", "not in"]), items.join(", "))
            }
            kind => {
                let (path, of) = self.path(shape);
                match of {
                    Shape::Bool if kind < 3 => path,
                    Shape::Text if kind == 0 => {
                        let method = self.choices.of(&["startswith", "endswith"]);
                        format!("{path}.{method}({})", self.literal(of))
                    }
                    Shape::Text | Shape::List(_) | Shape::Free(..) if kind < 3 => {
                        format!("len({path}) {} {}", self.comparison(), self.choices.below(3))
                    }
                    _ => {
                        let left = self.operand(shape, path, of);
                        let right = match self.choices.one_in(3) {
                            true => self.path(shape).0,
                            false => self.literal(of),
                        };
                        format!("{left} {} {right}", self.comparison())
                    }
                }
            }
        }
    }

    fn comparison(&mut self) -> &'static str {
        self.choices.of(&["==", "!=", "<", "<=", ">", ">="])
    }

    /// The value at a path, alone or in a sum.
    fn operand(&mut self, shape: &Shape, path: String, of: &Shape) -> String {
        match self.choices.below(7) {
            0 => {
                let op = self.choices.of(&["+", "-", "*", "%"]);
                format!("{path} {op} {}", self.literal(of))
            }
            1 => {
                let other = self.path(shape).0;
                format!("({path} {} {other}) * 2", self.choices.of(&["+", "-", "%"]))
            }
            2 => format!("-{path}"),
            3 => format!("{path} % 3"),
            _ => path,
        }
    }

    fn literal(&mut self, of: &Shape) -> String {
        let other = self.choices.one_in(8);
        match of {
            Shape::Text if !other => format!("{:?}", TEXTS[self.choices.below(TEXTS.len())]),
            Shape::Float if !other => self.choices.of(&["0.5", "1.0", "2", "-1.5"]).to_owned(),
            Shape::Bool if !other => self.choices.of(&["True", "False"]).to_owned(),
            Shape::IntOrText => self.choices.of(&["1", "\"a\"", "3"]).to_owned(),
            _ => self.choices.of(&["1", "0", "2", "-3", "4", "0.5"]).to_owned(),
        }
    }

    /// A path into the value, and its type.
    fn path<'s>(&mut self, shape: &'s Shape) -> (String, &'s Shape) {
        let mut path = "v".to_owned();
        let mut at = shape;
        loop {
            match at {
                Shape::Object(items) => {
                    let (key, item) = &items[self.choices.below(items.len())];
                    let is_name = key.bytes().all(|byte| byte.is_ascii_alphanumeric()) && *key != "in";
                    match is_name && self.choices.one_in(2) {
                        true => path.push_str(&format!(".{key}")),
                        false => path.push_str(&format!("[{key:?}]")),
                    }
                    at = &item.shape;
                }
                Shape::Free(_, item) if self.choices.one_in(2) => {
                    path.push_str(self.choices.of(&["[\"a\"]", ".a", "[\"a-b\"]"]));
                    at = &item.shape;
                }
                other => return (path, other),
            }
            if self.choices.one_in(12) {
                return (path, at);
            }
        }
    }
}

impl Place {
    fn write(&self, out: &mut String, head: &str, margin: usize) {
        let mut line = |text: &str| out.push_str(&format!("{:margin$}{text}\n", ""));
        if self.optional {
            line("#@schema/key-may-be-present");
        }
        if self.nullable {
            line("#@schema/nullable");
        }
        if matches!(self.shape, Shape::IntOrText) {
            line("#@schema/type one_of=[\"int\", \"string\"]");
        }
        if !self.rules.is_empty() {
            line(&format!("#@schema/validation {}", self.rules.join(", ")));
        }
        match &self.shape {
            Shape::Bool => line(&format!("{head} true")),
            Shape::Int | Shape::IntOrText => line(&format!("{head} 1")),
            Shape::Float => line(&format!("{head} 0.5")),
            Shape::Text => line(&format!("{head} \"a\"")),
            Shape::List(item) => {
                line(head);
                item.write(out, "-", margin + 2);
            }
            Shape::Object(items) => {
                line(head);
                for (key, item) in items {
                    item.write(out, &format!("{key:?}:"), margin + 2);
                }
            }
            Shape::Free(keys, item) => {
                line(head);
                line(&format!("  #@schema/{keys}"));
                item.write(out, "_:", margin + 2);
            }
        }
    }

    fn value(&self, choices: &mut Choices<'_>) -> Value {
        if self.nullable && choices.one_in(3) {
            return Value::Null;
        }
        match &self.shape {
            Shape::Bool => Value::from(choices.one_in(2)),
            Shape::Int => Value::from(choices.below(12) as i64 - 5),
            Shape::Float => Value::from(choices.below(9) as f64 / 2.0 - 1.5),
            Shape::Text => Value::from(TEXTS[choices.below(TEXTS.len())]),
            Shape::IntOrText => match choices.one_in(2) {
                true => Value::from(TEXTS[choices.below(TEXTS.len())]),
                false => Value::from(choices.below(4)),
            },
            Shape::List(item) => (0..choices.below(4)).map(|_| item.value(choices)).collect(),
            Shape::Object(items) => {
                let mut map = Map::new();
                for (key, item) in items {
                    if !choices.one_in(4) {
                        map.insert((*key).to_owned(), item.value(choices));
                    }
                }
                map.into()
            }
            Shape::Free(_, item) => {
                let keys = ["a", "b", "a-b"].into_iter().filter(|_| choices.one_in(2)).collect::<Vec<_>>();
                keys.into_iter().map(|key| (key.to_owned(), item.value(choices))).collect::<Map<_, _>>().into()
            }
        }
    }
}

/// A name as Kubernetes escapes it for CEL.
fn cel_name(key: &str) -> String {
    match key {
        "in" => "__in__".to_owned(),
        key => key
            .replace("__", "__underscores__")
            .replace('-', "__dash__")
            .replace('.', "__dot__")
            .replace('/', "__slash__"),
    }
}

/// A value as CEL sees it through the schema of a CRD.
fn to_cel(schema: &Value, value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), schema["type"] == "number") {
            (Some(int), false) => int.into(),
            _ => number.as_f64().expect("numbers are floats").into(),
        },
        Value::String(text) => text.clone().into(),
        Value::Array(list) => {
            let items: Vec<cel::Value> = list.iter().map(|item| to_cel(&schema["items"], item)).collect();
            items.into()
        }
        Value::Object(map) => {
            let properties = schema.get("properties");
            let mut fields: HashMap<String, cel::Value> = HashMap::new();
            for (key, value) in map {
                match properties.and_then(|properties| properties.get(key)) {
                    Some(schema) => {
                        let name = cel_name(key);
                        // `'k' in self` uses the unescaped key.
                        if name != *key {
                            fields.insert(key.clone(), cel::Value::Null);
                        }
                        if !value.is_null() {
                            fields.insert(name, to_cel(schema, value));
                        }
                    }
                    None => {
                        fields.insert(key.clone(), to_cel(&schema["additionalProperties"], value));
                    }
                }
            }
            fields.into()
        }
    }
}

/// Whether all CEL rules are true, at all places.
fn cel_holds(schema: &Value, value: &Value) -> bool {
    if value.is_null() {
        return true;
    }
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    for rule in rules {
        let expression = rule["rule"].as_str().expect("rules are texts");
        let program = cel::Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
        let mut context = cel::Context::default();
        context.add_variable_from_value("self", to_cel(schema, value));
        match program.execute(&context) {
            Ok(cel::Value::Bool(true)) => {}
            Ok(cel::Value::Bool(false)) | Err(_) => return false,
            Ok(other) => panic!("{expression} is no condition: {other:?}"),
        }
    }
    match value {
        Value::Array(list) => list.iter().all(|item| cel_holds(&schema["items"], item)),
        Value::Object(map) => map.iter().all(|(key, value)| {
            let own = schema.get("properties").and_then(|properties| properties.get(key));
            own.or_else(|| schema.get("additionalProperties")).is_none_or(|schema| cel_holds(schema, value))
        }),
        _ => true,
    }
}

/// The keywords of a CRD as JSON Schema.
fn as_json_schema(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let is = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let mut result = Map::new();
    for (name, value) in map {
        let value = match &**name {
            "properties" => {
                let items = value.as_object().into_iter().flatten();
                items.map(|(key, value)| (key.clone(), as_json_schema(value))).collect::<Map<_, _>>().into()
            }
            "items" | "additionalProperties" => as_json_schema(value),
            "minimum" if is("exclusiveMinimum") => {
                result.insert("exclusiveMinimum".into(), value.clone());
                continue;
            }
            "maximum" if is("exclusiveMaximum") => {
                result.insert("exclusiveMaximum".into(), value.clone());
                continue;
            }
            "allOf" => value.as_array().into_iter().flatten().map(as_json_schema).collect(),
            "exclusiveMinimum" | "exclusiveMaximum" | "nullable" | "default" | "description" => continue,
            "type" if is("nullable") => json!([value, "null"]),
            "x-kubernetes-list-type" => {
                assert_eq!(value, "set");
                result.insert("uniqueItems".into(), true.into());
                continue;
            }
            "x-kubernetes-int-or-string" => {
                let null = is("nullable").then(|| json!("null"));
                result.insert(
                    "type".into(),
                    json!(["integer", "string"].map(Value::from).into_iter().chain(null).collect::<Vec<_>>()),
                );
                continue;
            }
            name if name.starts_with("x-kubernetes-") => continue,
            "pattern" => Value::from(value.as_str().expect("patterns are texts").replace("(?i)A", "[aA]")),
            _ => value.clone(),
        };
        result.insert(name.clone(), value);
    }
    result.into()
}

fn has_texts(schema: &Value) -> bool {
    schema.to_string().contains("Must be: ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn crds_keep_the_verdict(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut choices = Choices { bytes: &bytes, at: 0 };
        let root = place(&mut choices, 3);
        let mut schema = "#@data/values-schema\n---\n".to_owned();
        root.write(&mut schema, "root:", 0);
        let exported = &export(&schema, "crd")["openAPIV3Schema"];
        check_structural(exported, "");
        check_defaults(exported, &|schema, value| {
            validator(&as_json_schema(schema)).is_valid(value) && cel_holds(schema, value)
        });
        let imported = import_schema(json!({ "openAPIV3Schema": exported }).to_string().as_bytes(), &ImportOptions::default());
        let imported = imported.expect("it is a CRD");
        prop_assert!(imported.diagnostics.is_empty(), "{:?}\n{}", imported.diagnostics, exported);
        // Optional keys become ordinary items, which enclosing rules may notice.
        let is_whole = !has_texts(exported) && !schema.contains("key-may-be-present");
        let imported = is_whole.then_some(imported.text);
        let keywords = validator(&as_json_schema(exported));
        for _ in 0..3 {
            let given = json!({ "root": root.value(&mut choices) });
            let ours = values(&schema, &given, Rules::Checked);
            let filled = values(&schema, &given, Rules::Skipped).unwrap_or_else(|error| panic!("{schema}\n{given}\n{error}"));
            let by_keywords = keywords.is_valid(&filled);
            let judged = by_keywords && cel_holds(exported, &filled);
            let agree = if has_texts(exported) { judged || ours.is_err() } else { judged == ours.is_ok() };
            prop_assert!(agree, "{}\n{}\n{}\n{:?}", schema, filled, exported, ours);
            if let Some(imported) = &imported {
                let theirs = values(imported, &given, Rules::Checked);
                prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}\n{}\n{}\n{:?}\n{:?}", schema, imported, given, ours, theirs);
            }
        }
    }
}

/// A schema generated from choices.
pub fn generated(bytes: &[u8]) -> String {
    let root = place(&mut Choices { bytes, at: 0 }, 3);
    let mut schema = "#@data/values-schema\n---\n".to_owned();
    root.write(&mut schema, "root:", 0);
    schema
}

/// A CustomResourceDefinition whose objects have data values as their `spec`.
pub fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "shops.example.test" },
        "spec": {
            "group": "example.test",
            "names": { "kind": "Shop", "plural": "shops" },
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": schema } } },
            }],
        },
    })
}

/// The problems that an API server would report: structural rules, defaults, types and costs of CEL
/// rules.
fn refusals(definition: &Value) -> Vec<String> {
    let options = kubernetes::CheckOptions {
        version: kubernetes::Version::parse("1.36").expect("it is known"),
        unknown: kubernetes::UnknownKinds::Error,
        skip: Vec::new(),
    };
    let text = definition.to_string();
    let tree = ytterby_yaml::parse(text.as_bytes(), ytterby_diag::FileId(0), &ytterby_yaml::ReadOptions::default());
    let documents = kubernetes::documents(&tree.expect("JSON is YAML"));
    let catalog = kubernetes::Catalog::new(options);
    let findings = documents.iter().flat_map(|document| catalog.check(document)).flat_map(|checked| checked.findings);
    findings.map(|finding| format!("{}: {}", finding.id.name(), finding.message.plain())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kubernetes_accepts_crds(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let schema = generated(&bytes);
        let exported = &export(&schema, "crd")["openAPIV3Schema"];
        let refused = refusals(&definition(exported));
        prop_assert!(refused.is_empty(), "{}\n{}\n{:#?}", schema, exported, refused);
    }
}

#[test]
fn refusals_are_noticed() {
    let rule = json!([{ "rule": "self.a != null" }]);
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" } },
        "x-kubernetes-validations": rule,
    });
    assert_eq!(refusals(&definition(&schema)).len(), 1);
    assert!(!refusals(&definition(&json!({ "type": "object", "properties": { "a": {} } }))).is_empty());
}

/// Lambdas become expressions; empty if Kubernetes would reject or misunderstand them.
#[test]
fn lambdas_become_cel() {
    let table = [
        ("v.lo < v.hi and len(v.name) > 0", "self.lo < self.hi && size(self.name) > 0"),
        ("v[\"lo\"] + 2 * v.hi - 1 >= 4", "self.lo + 2 * self.hi - 1 >= 4"),
        ("(v.lo + 2) * v.hi == 6 or v.lo == v.hi", "(self.lo + 2) * self.hi == 6 || self.lo == self.hi"),
        ("not (v.lo == 1 and v.hi == 2)", "!(self.lo == 1 && self.hi == 2)"),
        ("not v.lo == 1", "!(self.lo == 1)"),
        ("v.hi - (v.lo - 1) == 2", "self.hi - (self.lo - 1) == 2"),
        ("v.name in [\"a\", \"it's\"]", "self.name in ['a', 'it\\'s']"),
        ("v.name not in [\"a\"]", "!(self.name in ['a'])"),
        ("v.name.startswith(\"b\") or v.name.endswith(\"a\")", "self.name.startsWith('b') || self.name.endsWith('a')"),
        ("v[\"a-b\"] == \"x\"", "self.a__dash__b == 'x'"),
        ("v.on", "self.on"),
        // Remainders have other signs, but 0 has none.
        ("v.hi % 2 == 0", "self.hi % 2 == 0"),
        ("len(v.name) % 3 == 1", "size(self.name) % 3 == 1"),
        ("v.hi % 3 == 1", "(self.hi % 3 + 3) % 3 == 1"),
        // Numbers are not mixed.
        ("v.ratio <= 1", "self.ratio <= 1.0"),
        ("v.lo < v.ratio", "double(self.lo) < self.ratio"),
        // Null fields are absent.
        ("v.opt == None", "!has(self.opt) || dyn(self.opt) == null"),
        ("v.sub != None and v.sub.x > 1", "has(self.sub) && self.sub != null && self.sub.x > 1"),
        ("v.opt != 3", "!has(self.opt) || self.opt != 3"),
        ("v.opt > 3", "self.opt > 3"),
        ("v.opt > 3 or v.on", "self.opt > 3 ? true : self.on"),
        ("v.free[\"a-b\"] == \"x\" and v.free.a == \"z\"", "self.free['a-b'] == 'x' && self.free.a == 'z'"),
        // Not conditions, or of types that Kubernetes does not compare.
        ("len(v.name)", ""),
        ("v.name and v.on", ""),
        ("v.name == 1", ""),
        ("v.lo == None", ""),
        ("v.list == [1]", ""),
        ("len(v) == 3", ""),
        ("v.nowhere == 1", ""),
        ("v.any == 1", ""),
        ("v.name in [\"a\", 1]", ""),
        ("v.name.upper() == \"A\"", ""),
        ("v.list[0] == 1", ""),
        ("v.lo / 2 == 1", ""),
        ("True if v.on else False", ""),
    ];
    for (body, expected) in table {
        let schema = format!(
            "#@data/values-schema\n---\n#@schema/validation (\"x\", lambda v: {body})\nr:\n  lo: 1\n  hi: 2\n  name: a\n  \"a-b\": x\n  \
             \"on\": true\n  ratio: 0.5\n  list:\n  - 1\n  #@schema/nullable\n  opt: 1\n  #@schema/nullable\n  sub:\n    x: 1\n  \
             #@schema/type any=True\n  any: 1\n  free:\n    #@schema/any-key\n    _: \"\"\n"
        );
        let exported = &export(&schema, "crd")["openAPIV3Schema"]["properties"]["r"];
        let rule = exported.pointer("/x-kubernetes-validations/0/rule").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(rule, expected, "{body}");
        assert_eq!(expected.is_empty(), has_texts(exported), "{body}");
    }
}
