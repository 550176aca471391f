//! Finds unknown fields of a VM, and values of types that KubeVirt rejects.
//!
//! This is what Kubernetes calls field validation, offline: the API server drops an unknown field
//! or rejects the VM, and a rule about the intended field sees a default instead. The table of
//! fields belongs to one release of KubeVirt; users of a newer one can disable this check. Parts
//! outside the table (`status`, the specs of data volumes) are not checked.

use std::collections::HashSet;

use ytterby_text::quantity;
use ytterby_text::spelling::{closest, nearest};

use crate::schema::{self, FieldKind, KUBEVIRT, VmField};
use crate::trail::TrailStep;
use crate::value::{Value, quoted};

/// Keys of a VM.
const VM: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// Keys of a VM's `spec`.
const SPEC: [&str; 7] = [
    "running",
    "runStrategy",
    "instancetype",
    "preference",
    "template",
    "dataVolumeTemplates",
    "updateVolumesStrategy",
];

/// A field that does not fit.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldProblem {
    /// `unknown-field`, `duplicate-field` or `wrong-type`.
    pub id: &'static str,
    /// The keys from the VM to the field.
    pub keys: Vec<TrailStep>,
    /// The problem, and a suggestion.
    pub detail: String,
    /// Whether a newer release of KubeVirt may have the field, because it resembles no known one.
    pub may_be_newer: bool,
}

impl FieldProblem {
    /// Example: `spec.template.spec.domain.cpu.cors`.
    pub fn path(&self) -> String {
        path(&self.keys)
    }

    /// A description of the id.
    pub fn title(&self) -> &'static str {
        match self.id {
            "unknown-field" => "unknown field",
            "duplicate-field" => "field given twice",
            _ => "wrong type",
        }
    }
}

fn path(keys: &[TrailStep]) -> String {
    let text: String = keys.iter().map(TrailStep::to_string).collect();
    text.strip_prefix('.').map_or(text.clone(), str::to_owned)
}

/// All fields of a VM that do not fit, in order.
pub fn problems(vm: &Value) -> Vec<FieldProblem> {
    let mut walk = FieldWalk { found: Vec::new(), way: Vec::new(), above: Vec::new() };
    walk.names(vm, &VM);
    if let Some(metadata) = vm.get("metadata") {
        // The metadata of a VM and of its pods have the same type.
        let field = schema::template().child("metadata").expect("the table has metadata");
        walk.below("metadata", metadata, field);
    }
    if let Some(spec) = vm.get("spec") {
        walk.way.push(BorrowedKey::Name("spec"));
        walk.names(spec, &SPEC);
        if let Some(template) = spec.get("template") {
            walk.below("template", template, schema::template());
        }
        walk.way.pop();
    }
    walk.found
}

/// A borrowed [`TrailStep`]: most fields fit, so that no copy is needed.
#[derive(Clone, Copy)]
enum BorrowedKey<'a> {
    Name(&'a str),
    Index(usize),
}

struct FieldWalk<'a> {
    found: Vec<FieldProblem>,
    way: Vec<BorrowedKey<'a>>,
    /// The parents of the current field.
    above: Vec<&'static VmField>,
}

impl<'a> FieldWalk<'a> {
    fn keys(&self) -> Vec<TrailStep> {
        let key = |way: &BorrowedKey<'_>| match *way {
            BorrowedKey::Name(name) => TrailStep::Name(name.into()),
            BorrowedKey::Index(index) => TrailStep::Index(index),
        };
        self.way.iter().map(key).collect()
    }

    fn add(&mut self, id: &'static str, detail: String) {
        let keys = self.keys();
        self.found.push(FieldProblem { id, keys, detail, may_be_newer: false });
    }

    fn below(&mut self, name: &'a str, value: &'a Value, field: &'static VmField) {
        self.way.push(BorrowedKey::Name(name));
        self.value(value, field);
        self.way.pop();
    }

    /// Checks keys of which only the names are known.
    fn names(&mut self, value: &'a Value, known: &[&'static str]) {
        let Value::Object(entries) = value else {
            if !value.is_null() {
                self.add("wrong-type", format!("expected an object, found {}", shown(value)));
            }
            return;
        };
        self.duplicates(entries);
        for (name, _) in entries.iter().filter(|(name, _)| !known.contains(&&**name)) {
            let hint = guess(name, known.iter().copied()).map_or(String::new(), meant);
            self.unknown(name, &hint);
        }
    }

    fn unknown(&mut self, name: &'a str, hint: &str) {
        let parent = if self.way.is_empty() { "a VirtualMachine".to_owned() } else { path(&self.keys()) };
        self.way.push(BorrowedKey::Name(name));
        let newer = if hint.is_empty() { "; a newer release may have it" } else { "" };
        self.add("unknown-field", format!("{parent} has no field `{name}` in KubeVirt {KUBEVIRT}{hint}{newer}"));
        if let Some(misfit) = self.found.last_mut() {
            misfit.may_be_newer = hint.is_empty();
        }
        self.way.pop();
    }

    /// Reports duplicate keys: strict parsers reject them, others use the last.
    fn duplicates(&mut self, entries: &'a [(Box<str>, Value)]) {
        // Most objects have few keys, so a linear search is fine.
        let double = |at: usize| entries[..at].iter().any(|(name, _)| *name == entries[at].0);
        let doubles: Vec<usize> = if entries.len() <= 16 {
            (1..entries.len()).filter(|&at| double(at)).collect()
        } else {
            let mut seen = HashSet::new();
            (0..entries.len()).filter(|&at| !seen.insert(&*entries[at].0)).collect()
        };
        for at in doubles {
            let name = &entries[at].0;
            self.way.push(BorrowedKey::Name(name));
            self.add("duplicate-field", format!("duplicate field `{name}`; the last one counts"));
            self.way.pop();
        }
    }

    fn value(&mut self, value: &'a Value, field: &'static VmField) {
        match (field.kind, value) {
            (_, Value::Null) => {}
            (FieldKind::Object, Value::Object(entries)) => {
                self.duplicates(entries);
                // The table has no fields of this type.
                if field.children().next().is_none() {
                    return;
                }
                self.above.push(field);
                for (name, value) in entries {
                    match field.child(name) {
                        Some(child) => self.below(name, value, child),
                        None => {
                            let hint = self.hint(field, name);
                            self.unknown(name, &hint);
                        }
                    }
                }
                self.above.pop();
            }
            (FieldKind::Map, Value::Object(entries)) => {
                self.duplicates(entries);
                for (name, value) in entries {
                    if let Some(child) = field.child(name) {
                        self.below(name, value, child);
                    }
                }
            }
            (FieldKind::Array, Value::Array(items)) => {
                let Some(child) = field.item() else { return };
                for (index, item) in items.iter().enumerate() {
                    self.way.push(BorrowedKey::Index(index));
                    self.value(item, child);
                    self.way.pop();
                }
            }
            _ => {
                if let Some(detail) = unfit(value, field) {
                    self.add("wrong-type", detail);
                }
            }
        }
    }

    /// A suggestion for an unknown name: a similar name, or the same name further in or further
    /// out.
    fn hint(&self, field: &'static VmField, name: &str) -> String {
        if let Some(name) = guess(name, field.children().map(|child| child.name)) {
            return meant(name);
        }
        if let Some(found) = schema::below(field, name) {
            let parent = found.path.rsplit_once('.').map_or("", |(parent, _)| parent);
            return belongs(name, parent);
        }
        let outer = self.above.iter().rev().skip(1).find(|outer| outer.child(name).is_some());
        outer.map_or(String::new(), |outer| belongs(name, outer.path))
    }
}

/// A similar name; two swapped letters are one mistake.
fn guess<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    nearest(name, known.clone()).or_else(|| closest(name, known, 1))
}

fn meant(name: &str) -> String {
    format!("; did you mean `{name}`?")
}

fn belongs(name: &str, path: &str) -> String {
    format!("; `{name}` belongs to spec.template{path}")
}

/// A value in words.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(_) | Value::Object(_) | Value::Null => value.what().to_owned(),
        scalar => format!("{} {scalar}", scalar.what().replacen("a ", "the ", 1)),
    }
}

/// The reason that a value does not fit a field.
fn unfit(value: &Value, field: &VmField) -> Option<String> {
    let whole = |value: &Value| match value {
        Value::Int(int) => Some(*int),
        Value::Float(float) if float.fract() == 0.0 && float.abs() < 1e18 => Some(*float as i128),
        _ => None,
    };
    let fits = match field.kind {
        FieldKind::String | FieldKind::Time => value.as_str().is_some(),
        FieldKind::Boolean => matches!(value, Value::Bool(_)),
        FieldKind::IntOrString => value.as_str().is_some() || whole(value).is_some(),
        FieldKind::Quantity => match value {
            Value::String(text) if quantity(text.trim()).is_none() => {
                let hint = "; write a number and one of k, M, G, T, Ki, Mi, Gi, Ti, m, …";
                return Some(format!("{} is no quantity{hint}", quoted(text)));
            }
            Value::String(_) | Value::Int(_) | Value::Float(_) => true,
            _ => false,
        },
        FieldKind::Integer => match whole(value) {
            Some(int) => {
                let (least, most) = range(field.go);
                if int < least || int > most {
                    return Some(format!("{int} is not between {least} and {most}"));
                }
                true
            }
            None => false,
        },
        FieldKind::Object | FieldKind::Map | FieldKind::Array => false,
    };
    if fits {
        return None;
    }
    let hint = match (field.kind, value) {
        (FieldKind::Integer, Value::String(text)) if text.parse::<i64>().is_ok() => {
            format!("; write {text} without quotes")
        }
        (FieldKind::Boolean, Value::String(text)) if matches!(&**text, "true" | "false") => {
            format!("; write {text} without quotes")
        }
        (FieldKind::String, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => "; put it in quotes".to_owned(),
        _ => String::new(),
    };
    Some(format!("expected {}, found {}{hint}", field.kind.what(), shown(value)))
}

/// The minimum and maximum of a Go integer type.
fn range(go: &str) -> (i128, i128) {
    match go.trim_start_matches('*') {
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint" | "uint64" => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vm: &str, expect: &[&str]) {
        let vm = crate::json::parse(vm).unwrap().to_value();
        let found: Vec<String> = problems(&vm)
            .iter()
            .map(|misfit| format!("{}: {}: {}", misfit.path(), misfit.title(), misfit.detail))
            .collect();
        assert_eq!(found, expect, "{vm}");
    }

    fn check_spec(spec: &str, expect: &[&str]) {
        let vm = format!(r#"{{"spec":{{"template":{{"spec":{spec}}}}}}}"#);
        let expect: Vec<String> = expect.iter().map(|text| text.replace("§", "spec.template.spec")).collect();
        check(&vm, &expect.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn misspelt_fields_get_suggestions() {
        check_spec(
            r#"{"domain":{"cpu":{"cors":2}}}"#,
            &[
                "§.domain.cpu.cors: unknown field: §.domain.cpu has no field `cors` in KubeVirt 1.9.0; did you mean `cores`?",
            ],
        );
        check_spec(
            r#"{"cpu":{},"domain":{"hostname":"x","devices":{"disks":[{"name":"a"},{"frob":1}]}}}"#,
            &[
                "§.cpu: unknown field: § has no field `cpu` in KubeVirt 1.9.0; `cpu` belongs to §.domain",
                "§.domain.hostname: unknown field: §.domain has no field `hostname` in KubeVirt 1.9.0; `hostname` belongs to §",
                "§.domain.devices.disks[1].frob: unknown field: §.domain.devices.disks[1] has no field `frob` in KubeVirt 1.9.0; a newer release may have it",
            ],
        );
        check(
            r#"{"sepc":{},"spec":{"runstrategy":"Always","status":{}},"status":{"x":1}}"#,
            &[
                "sepc: unknown field: a VirtualMachine has no field `sepc` in KubeVirt 1.9.0; did you mean `spec`?",
                "spec.runstrategy: unknown field: spec has no field `runstrategy` in KubeVirt 1.9.0; did you mean `runStrategy`?",
                "spec.status: unknown field: spec has no field `status` in KubeVirt 1.9.0; a newer release may have it",
            ],
        );
    }

    #[test]
    fn kinds_are_those_of_the_api() {
        check_spec(
            r#"{"hostname":12,"terminationGracePeriodSeconds":"30","domain":{"cpu":{"cores":"2","sockets":-1,"threads":1.5,"dedicatedCpuPlacement":"true"},"memory":{"guest":"1Gb"},"devices":{"disks":{}}}}"#,
            &[
                "§.hostname: wrong type: expected a string, found the number 12; put it in quotes",
                "§.terminationGracePeriodSeconds: wrong type: expected an integer, found the string \"30\"; write 30 without quotes",
                "§.domain.cpu.cores: wrong type: expected an integer, found the string \"2\"; write 2 without quotes",
                "§.domain.cpu.sockets: wrong type: -1 is not between 0 and 4294967295",
                "§.domain.cpu.threads: wrong type: expected an integer, found the number 1.5",
                "§.domain.cpu.dedicatedCpuPlacement: wrong type: expected a boolean, found the string \"true\"; write true without quotes",
                "§.domain.memory.guest: wrong type: \"1Gb\" is no quantity; write a number and one of k, M, G, T, Ki, Mi, Gi, Ti, m, …",
                "§.domain.devices.disks: wrong type: expected an array, found an object",
            ],
        );
        check(
            r#"{"metadata":{"labels":{"a":1}},"spec":[]}"#,
            &[
                "metadata.labels.a: wrong type: expected a string, found the number 1; put it in quotes",
                "spec: wrong type: expected an object, found an array",
            ],
        );
    }

    #[test]
    fn duplicate_keys_are_reported() {
        check_spec(
            r#"{"hostname":"a","hostname":"b"}"#,
            &["§.hostname: field given twice: duplicate field `hostname`; the last one counts"],
        );
    }

    #[test]
    fn valid_fields_are_not_reported() {
        check("{}", &[]);
        check_spec(
            r#"{"hostname":null,"nodeSelector":{"a.b/c":"d"},"domain":{"memory":{"guest":2147483648},"resources":{"requests":{"memory":"1.5Gi","cpu":"100m"}},"devices":{"rng":{"any":1},"interfaces":[{"name":"default","masquerade":{}}]}},"readinessProbe":{"httpGet":{"port":8080}}}"#,
            &[],
        );
    }
}
