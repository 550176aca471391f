//! Fills in what an instance type and a preference decide: cpu and memory.

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

/// Puts the cpu and memory of a VM's instance type into the VM; whether the instance type is among those given.
pub fn expand(vm: &mut Value, given: &[Value]) -> bool {
    let find = |wanted: Option<(&str, &str)>| {
        let (kind, name) = wanted?;
        // The API takes lower-case plural kinds as well.
        let kind = kind.to_ascii_lowercase();
        let kind = kind.strip_suffix('s').unwrap_or(&kind);
        given.iter().find(|object| {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            text(object.get("kind")).to_ascii_lowercase() == *kind && text(object.at(&["metadata", "name"])) == name
        })
    };
    let Some(instancetype) = find(wanted(vm)) else { return false };
    let preference =
        vm.at(&["spec", "preference"]).and_then(|value| reference(value, "VirtualMachineClusterPreference"));
    let topology = find(preference)
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
        let given = [
            read(
                r#"{"kind":"VirtualMachineClusterInstancetype","metadata":{"name":"u1"},"spec":{"cpu":{"guest":4},"memory":{"guest":"8Gi"}}}"#,
            ),
            read(
                r#"{"kind":"VirtualMachinePreference","metadata":{"name":"p"},"spec":{"cpu":{"preferredCPUTopology":"preferCores"}}}"#,
            ),
        ];
        let mut vm = read(
            r#"{"spec":{"instancetype":{"name":"u1"},"preference":{"kind":"virtualmachinepreference","name":"p"},"template":{"spec":{"domain":{}}}}}"#,
        );
        assert!(expand(&mut vm, &given));
        let domain = vm.at(&["spec", "template", "spec", "domain"]).unwrap();
        assert_eq!(domain.to_string(), r#"{"cpu":{"sockets":1,"cores":4,"threads":1},"memory":{"guest":"8Gi"}}"#);
        let mut other = read(r#"{"spec":{"instancetype":{"name":"u2"},"template":{}}}"#);
        assert!(!expand(&mut other, &given));
    }
}
