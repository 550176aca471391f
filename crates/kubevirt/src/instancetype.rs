//! Fills in what an instance type and a preference decide: cpu and memory.

use std::collections::HashMap;

use crate::value::Value;

/// The instance type that a VM names: kind and name.
pub fn wanted(vm: &Value) -> Option<(&str, &str)> {
    reference(vm.at(&["spec", "instancetype"])?, "VirtualMachineClusterInstancetype")
}

fn reference<'a>(value: &'a Value, default_kind: &'static str) -> Option<(&'a str, &'a str)> {
    let name = value.get("name").or_else(|| value.get("inferFromVolume"))?.as_str()?;
    let kind = value.get("kind").and_then(Value::as_str).filter(|kind| !kind.is_empty()).unwrap_or(default_kind);
    Some((kind, name))
}

/// Instance types and preferences by kind and name.
#[derive(Debug, Default)]
pub struct Given(HashMap<(String, String), Vec<Value>>);

impl Given {
    /// Sorts objects.
    pub fn new(objects: impl IntoIterator<Item = Value>) -> Given {
        let mut given = Given::default();
        for object in objects {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let key = (text(object.get("kind")).to_ascii_lowercase(), text(object.at(&["metadata", "name"])));
            given.0.entry(key).or_default().push(object);
        }
        given
    }

    /// The one that a VM of a namespace means; an object or a VM whose namespace is not told fits any.
    fn find(&self, wanted: Option<(&str, &str)>, namespace: &str) -> Option<&Value> {
        let (kind, name) = wanted?;
        // The API takes lower-case plural kinds as well.
        let mut kind = kind.to_ascii_lowercase();
        if kind.ends_with('s') {
            kind.pop();
        }
        let objects = self.0.get(&(kind, name.to_owned()))?;
        objects.iter().find(|object| {
            let own = object.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
            own.is_empty() || namespace.is_empty() || own == namespace
        })
    }
}

/// Puts the cpu and memory of a VM's instance type into the VM; whether the instance type is among those given.
pub fn expand(vm: &mut Value, given: &Given) -> bool {
    let namespace = vm.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
    let Some(instancetype) = given.find(wanted(vm), namespace) else { return false };
    let preference =
        vm.at(&["spec", "preference"]).and_then(|value| reference(value, "VirtualMachineClusterPreference"));
    let topology = given
        .find(preference, namespace)
        .and_then(|preference| preference.at(&["spec", "cpu", "preferredCPUTopology"])?.as_str())
        .unwrap_or("sockets")
        .trim_start_matches("prefer")
        .to_ascii_lowercase();
    let cpu = instancetype.at(&["spec", "cpu"]).cloned();
    let memory = instancetype.at(&["spec", "memory"]).cloned();
    let Some(template) = vm.get_mut("spec").and_then(|spec| spec.get_mut("template")) else { return true };
    let domain = child(child(template, "spec"), "domain");
    if let Some(cpu) = cpu {
        let count = match cpu.get("guest") {
            Some(Value::Int(count)) => *count,
            _ => 1,
        };
        let (sockets, cores, threads) = match topology.as_str() {
            "cores" => (1, count, 1),
            "threads" => (1, 1, count),
            "spread" if count % 2 == 0 => (count / 2, 2, 1),
            _ => (count, 1, 1),
        };
        let place = child(domain, "cpu");
        for (key, number) in [("sockets", sockets), ("cores", cores), ("threads", threads)] {
            place.set(key, Value::Int(number));
        }
        for (from, to) in [
            ("model", "model"),
            ("dedicatedCPUPlacement", "dedicatedCpuPlacement"),
            ("isolateEmulatorThread", "isolateEmulatorThread"),
            ("numa", "numa"),
            ("realtime", "realtime"),
            ("maxSockets", "maxSockets"),
        ] {
            if let Some(value) = cpu.get(from) {
                place.set(to, value.clone());
            }
        }
    }
    if let Some(memory) = memory {
        let place = child(domain, "memory");
        for key in ["guest", "hugepages", "maxGuest"] {
            if let Some(value) = memory.get(key) {
                place.set(key, value.clone());
            }
        }
    }
    true
}

/// The object at a key, made if it is not there.
fn child<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !matches!(value.get(key), Some(Value::Object(_))) {
        value.set(key, Value::Object(Vec::new()));
    }
    value.get_mut(key).expect("the key was just set")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_and_memory_come_from_the_instance_type() {
        let read = |text: &str| crate::json::parse(text).unwrap().to_value();
        let given = Given::new([
            read(
                r#"{"kind":"VirtualMachineClusterInstancetype","metadata":{"name":"u1"},"spec":{"cpu":{"guest":4},"memory":{"guest":"8Gi"}}}"#,
            ),
            read(
                r#"{"kind":"VirtualMachinePreference","metadata":{"name":"p"},"spec":{"cpu":{"preferredCPUTopology":"preferCores"}}}"#,
            ),
            read(
                r#"{"kind":"VirtualMachineInstancetype","metadata":{"name":"u1","namespace":"a"},"spec":{"memory":{"guest":"1Gi"}}}"#,
            ),
            read(
                r#"{"kind":"VirtualMachineInstancetype","metadata":{"name":"u1","namespace":"b"},"spec":{"memory":{"guest":"2Gi"}}}"#,
            ),
        ]);
        let mut vm = read(
            r#"{"spec":{"instancetype":{"name":"u1"},"preference":{"kind":"virtualmachinepreference","name":"p"},"template":{"spec":{"domain":{}}}}}"#,
        );
        assert!(expand(&mut vm, &given));
        let domain = vm.at(&["spec", "template", "spec", "domain"]).unwrap();
        assert_eq!(domain.to_string(), r#"{"cpu":{"sockets":1,"cores":4,"threads":1},"memory":{"guest":"8Gi"}}"#);
        let mut other = read(r#"{"spec":{"instancetype":{"name":"u2"},"template":{}}}"#);
        assert!(!expand(&mut other, &given));
        // Those that live in namespaces are those of the VM's.
        for (namespace, memory) in [("b", Some("2Gi")), ("c", None)] {
            let mut vm = read(&format!(
                r#"{{"metadata":{{"namespace":"{namespace}"}},"spec":{{"instancetype":{{"kind":"VirtualMachineInstancetype","name":"u1"}},"template":{{}}}}}}"#
            ));
            assert_eq!(expand(&mut vm, &given), memory.is_some());
            let found = vm.at(&["spec", "template", "spec", "domain", "memory", "guest"]).and_then(Value::as_str);
            assert_eq!(found, memory, "{namespace}");
        }
    }
}
