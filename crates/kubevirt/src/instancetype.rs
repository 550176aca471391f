//! Applies instance types and preferences: cpu, memory, buses of disks, models of
//! interfaces.
//!
//! They come from files of the user, then from the table of common ones that KubeVirt ships
//! (`data/instancetypes.tsv`, `data/preferences.tsv`). In a cluster, the webhook asks KubeVirt
//! before it uses the table, because an administrator may have changed what a name
//! means.

use std::collections::HashMap;

use crate::value::Value;

/// The release of kubevirt/common-instancetypes in the tables.
pub const COMMON: &str = "1.7.0";

const INSTANCETYPES: &str = include_str!("../data/instancetypes.tsv");
const PREFERENCES: &str = include_str!("../data/preferences.tsv");

const CLUSTER_INSTANCETYPE: &str = "VirtualMachineClusterInstancetype";
const CLUSTER_PREFERENCE: &str = "VirtualMachineClusterPreference";

/// The kind and name of a VM's instance type. If it is inferred from a volume, the name is the
/// volume's.
pub fn wanted(vm: &Value) -> Option<(&str, &str)> {
    let place = vm.at(&["spec", "instancetype"])?;
    let inferred = || Some((CLUSTER_INSTANCETYPE, place.get("inferFromVolume")?.as_str()?));
    reference(place, CLUSTER_INSTANCETYPE).or_else(inferred)
}

fn reference<'a>(value: &'a Value, default_kind: &'static str) -> Option<(&'a str, &'a str)> {
    let name = value.get("name")?.as_str()?;
    let kind = value.get("kind").and_then(Value::as_str).filter(|kind| !kind.is_empty()).unwrap_or(default_kind);
    Some((kind, name))
}

/// Instance types and preferences by kind and name.
#[derive(Debug, Default)]
pub struct Instancetypes(HashMap<(String, String), Vec<Value>>);

impl Instancetypes {
    /// Indexes objects.
    pub fn new(objects: impl IntoIterator<Item = Value>) -> Instancetypes {
        let mut given = Instancetypes::default();
        for object in objects {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let key = (text(object.get("kind")).to_ascii_lowercase(), text(object.at(&["metadata", "name"])));
            given.0.entry(key).or_default().push(object);
        }
        given
    }

    /// The object for a VM in a namespace; an object or a VM without a namespace matches
    /// any.
    fn find(&self, (kind, name): (&str, &str), namespace: &str) -> Option<&Value> {
        let objects = self.0.get(&(singular(kind), name.to_owned()))?;
        objects.iter().find(|object| {
            let own = object.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
            own.is_empty() || namespace.is_empty() || own == namespace
        })
    }
}

/// The API also accepts plural kinds in lower case.
fn singular(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    kind.strip_suffix('s').map_or(kind.clone(), str::to_owned)
}

/// Applies a VM's instance type and preference to the VM; returns whether its instance type is
/// among the given ones.
pub fn expand(vm: &mut Value, given: &Instancetypes) -> bool {
    let found = specs(vm, |wanted, namespace| given.find(wanted, namespace)?.get("spec").cloned());
    apply(vm, found)
}

/// Like [`expand`], with the common ones that KubeVirt ships. A preference may be a given one.
pub fn expand_common(vm: &mut Value, given: &Instancetypes) -> bool {
    let found = specs(vm, |wanted, namespace| {
        given.find(wanted, namespace).and_then(|object| object.get("spec").cloned()).or_else(|| common(wanted))
    });
    apply(vm, found)
}

/// The specs of a VM's instance type and of its preference.
type Specs = (Option<Value>, Option<Value>);

fn specs(vm: &Value, find: impl Fn((&str, &str), &str) -> Option<Value>) -> Specs {
    let namespace = vm.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
    let named = |key, kind| find(reference(vm.at(&["spec", key])?, kind)?, namespace);
    (named("instancetype", CLUSTER_INSTANCETYPE), named("preference", CLUSTER_PREFERENCE))
}

fn apply(vm: &mut Value, (instancetype, preference): Specs) -> bool {
    let Some(template) = vm.get_mut("spec").and_then(|spec| spec.get_mut("template")) else {
        return instancetype.is_some();
    };
    let spec = child(template, "spec");
    if let Some(preference) = &preference {
        prefer(spec, preference);
    }
    let Some(instancetype) = instancetype else { return false };
    let domain = child(spec, "domain");
    if let Some(cpu) = instancetype.get("cpu") {
        let count = match cpu.get("guest") {
            Some(Value::Int(count)) => *count,
            _ => 1,
        };
        let place = child(domain, "cpu");
        let (sockets, cores, threads) = topology(count, preference.as_ref());
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
    if let Some(memory) = instancetype.get("memory") {
        let place = child(domain, "memory");
        for key in ["guest", "hugepages", "maxGuest"] {
            if let Some(value) = memory.get(key) {
                place.set(key, value.clone());
            }
        }
    }
    true
}

/// Distributes CPUs over sockets, cores and threads.
fn topology(count: i128, preference: Option<&Value>) -> (i128, i128, i128) {
    let cpu = preference.and_then(|preference| preference.get("cpu"));
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let wish = text(cpu.and_then(|cpu| cpu.get("preferredCPUTopology")));
    let spread = cpu.and_then(|cpu| cpu.get("spreadOptions"));
    let ratio = match spread.and_then(|spread| spread.get("ratio")) {
        Some(Value::Int(ratio)) if *ratio > 0 => *ratio,
        _ => 2,
    };
    // The names of v1beta1, and older ones.
    match wish.trim_start_matches("prefer").to_ascii_lowercase().as_str() {
        "cores" => (1, count, 1),
        "threads" => (1, 1, count),
        "spread" => match text(spread.and_then(|spread| spread.get("across"))).as_str() {
            "CoresThreads" if count % 2 == 0 => (1, count / 2, 2),
            "SocketsCoresThreads" if count % (2 * ratio) == 0 => (count / 2 / ratio, ratio, 2),
            "" | "SocketsCores" if count % ratio == 0 => (count / ratio, ratio, 1),
            // KubeVirt rejects such a VM.
            _ => (count, 1, 1),
        },
        _ => (count, 1, 1),
    }
}

/// Applies a preference where the VM has no value.
fn prefer(spec: &mut Value, preference: &Value) {
    let wish = |keys: &[&str]| preference.at(keys).cloned();
    fn fill(place: &mut Value, key: &str, wish: &Option<Value>) {
        let is_open = place.get(key).is_none_or(|value| value.is_null() || value.as_str() == Some(""));
        if let Some(wish) = wish.as_ref().filter(|_| is_open) {
            place.set(key, wish.clone());
        }
    }
    fill(spec, "terminationGracePeriodSeconds", &wish(&["preferredTerminationGracePeriodSeconds"]));
    let domain = child(spec, "domain");
    if let machine @ Some(_) = wish(&["machine", "preferredMachineType"]) {
        fill(child(domain, "machine"), "type", &machine);
    }
    let Some(devices) = domain.get_mut("devices") else { return };
    let buses = [("disk", "preferredDiskBus"), ("cdrom", "preferredCdromBus"), ("lun", "preferredLunBus")]
        .map(|(kind, key)| (kind, wish(&["devices", key])));
    let (cache, io) = (wish(&["devices", "preferredDiskCache"]), wish(&["devices", "preferredDiskIO"]));
    for disk in items(devices, "disks") {
        for (kind, bus) in &buses {
            if let Some(target @ Value::Object(_)) = disk.get_mut(kind) {
                fill(target, "bus", bus);
            }
        }
        fill(disk, "cache", &cache);
        fill(disk, "io", &io);
    }
    let model = wish(&["devices", "preferredInterfaceModel"]);
    items(devices, "interfaces").for_each(|interface| fill(interface, "model", &model));
    let (bus, kind) = (wish(&["devices", "preferredInputBus"]), wish(&["devices", "preferredInputType"]));
    for input in items(devices, "inputs") {
        fill(input, "bus", &bus);
        fill(input, "type", &kind);
    }
}

/// The objects of a list.
fn items<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let items = match value.get_mut(key) {
        Some(Value::Array(items)) => items.as_mut_slice(),
        _ => &mut [],
    };
    items.iter_mut().filter(|item| matches!(item, Value::Object(_)))
}

/// The object at a key, created if absent.
fn child<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !matches!(value.get(key), Some(Value::Object(_))) {
        value.set(key, Value::Object(Vec::new()));
    }
    value.get_mut(key).expect("the key was just set")
}

/// The spec of a common instance type or preference.
fn common((kind, name): (&str, &str)) -> Option<Value> {
    let is = |wanted: &str| singular(kind) == wanted.to_ascii_lowercase();
    let row = |table: &'static str| {
        let mut rows = table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t'));
        rows.find_map(|mut columns| (columns.next() == Some(name)).then(|| columns.collect::<Vec<_>>()))
    };
    if is(CLUSTER_INSTANCETYPE) {
        let &[count, memory, pages, marks] = row(INSTANCETYPES)?.as_slice() else { return None };
        let count = Value::Int(count.parse().ok()?);
        let mut spec = Value::Object(Vec::new());
        let cpu = child(&mut spec, "cpu");
        cpu.set("guest", count.clone());
        for (mark, key, value) in [
            ('d', "dedicatedCPUPlacement", Value::Bool(true)),
            ('i', "isolateEmulatorThread", Value::Bool(true)),
            ('n', "numa", Value::Object(vec![("guestMappingPassthrough".into(), Value::Object(Vec::new()))])),
            ('r', "realtime", Value::Object(Vec::new())),
            ('m', "maxSockets", count),
        ] {
            if marks.contains(mark) {
                cpu.set(key, value);
            }
        }
        child(&mut spec, "memory").set("guest", memory.into());
        if pages != "-" {
            child(child(&mut spec, "memory"), "hugepages").set("pageSize", pages.into());
        }
        return Some(spec);
    }
    if !is(CLUSTER_PREFERENCE) {
        return None;
    }
    let &[topology, bus, model, seconds] = row(PREFERENCES)?.as_slice() else { return None };
    let mut spec = Value::Object(Vec::new());
    let mut topology = topology.split(':');
    if let Some(wish) = topology.next().filter(|wish| *wish != "-") {
        child(&mut spec, "cpu").set("preferredCPUTopology", wish.into());
    }
    if let (Some(ratio), Some(across)) = (topology.next(), topology.next()) {
        let spread = child(child(&mut spec, "cpu"), "spreadOptions");
        spread.set("ratio", Value::Int(ratio.parse().ok()?));
        spread.set("across", across.into());
    }
    let devices = child(&mut spec, "devices");
    devices.set("preferredDiskBus", bus.into());
    devices.set("preferredInterfaceModel", model.into());
    if let Ok(seconds) = seconds.parse() {
        spec.set("preferredTerminationGracePeriodSeconds", Value::Int(seconds));
    }
    Some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        crate::json::parse(text).unwrap().to_value()
    }

    #[test]
    fn cpu_and_memory_come_from_the_instance_type() {
        let given = Instancetypes::new([
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
        // Namespaced ones must be in the VM's namespace.
        for (namespace, memory) in [("b", Some("2Gi")), ("c", None)] {
            let mut vm = read(&format!(
                r#"{{"metadata":{{"namespace":"{namespace}"}},"spec":{{"instancetype":{{"kind":"VirtualMachineInstancetype","name":"u1"}},"template":{{}}}}}}"#
            ));
            assert_eq!(expand(&mut vm, &given), memory.is_some());
            let found = vm.at(&["spec", "template", "spec", "domain", "memory", "guest"]).and_then(Value::as_str);
            assert_eq!(found, memory, "{namespace}");
        }
    }

    #[test]
    fn common_ones_are_known() {
        for (name, cpu, memory) in [("u1.small", 1, "2Gi"), ("u1.2xlarge", 8, "32Gi"), ("cx1.large1gi", 2, "4Gi")] {
            let mut vm = read(&format!(
                r#"{{"spec":{{"instancetype":{{"name":"{name}"}},"template":{{"spec":{{"domain":{{}}}}}}}}}}"#
            ));
            assert!(
                !expand(&mut vm, &Instancetypes::default()) && expand_common(&mut vm, &Instancetypes::default()),
                "{name}"
            );
            let domain = vm.at(&["spec", "template", "spec", "domain"]).unwrap();
            assert_eq!(domain.at(&["cpu", "sockets"]), Some(&Value::Int(cpu)), "{domain}");
            assert_eq!(domain.at(&["memory", "guest"]).and_then(Value::as_str), Some(memory), "{domain}");
        }
        for place in [
            r#"{"name":"nope"}"#,
            r#"{"inferFromVolume":"u1.small"}"#,
            r#"{"kind":"VirtualMachineInstancetype","name":"u1.small"}"#,
        ] {
            let mut vm = read(&format!(r#"{{"spec":{{"instancetype":{place},"template":{{}}}}}}"#));
            assert!(!expand_common(&mut vm, &Instancetypes::default()), "{place}");
        }
        assert!(INSTANCETYPES.contains(COMMON) && PREFERENCES.contains(COMMON));
        for (table, columns, rows) in [(INSTANCETYPES, 5, 65), (PREFERENCES, 5, 54)] {
            let lines = || table.lines().filter(|line| !line.starts_with('#'));
            assert!(lines().all(|line| line.split('\t').count() == columns));
            assert_eq!(lines().count(), rows);
        }
    }

    #[test]
    fn preferences_fill_in_what_a_vm_leaves_open() {
        let mut vm = read(
            r#"{"spec":{"instancetype":{"name":"u1.xlarge"},"preference":{"name":"windows.11"},"template":{"spec":{"domain":{"devices":{
                "disks":[{"name":"a","disk":{}},{"name":"b","disk":{"bus":"scsi"}},{"name":"c","cdrom":{}}],
                "interfaces":[{"name":"n"},{"name":"m","model":"virtio"}]}}}}}}"#,
        );
        assert!(expand_common(&mut vm, &Instancetypes::default()));
        let spec = vm.at(&["spec", "template", "spec"]).unwrap();
        assert_eq!(
            spec.to_string(),
            r#"{"domain":{"devices":{"disks":[{"name":"a","disk":{"bus":"sata"}},{"name":"b","disk":{"bus":"scsi"}},{"name":"c","cdrom":{}}],"interfaces":[{"name":"n","model":"e1000e"},{"name":"m","model":"virtio"}]},"cpu":{"sockets":4,"cores":1,"threads":1},"memory":{"guest":"16Gi"}},"terminationGracePeriodSeconds":3600}"#
        );
    }

    #[test]
    fn cpus_are_spread_as_kubevirt_does() {
        let spread = |options: &str, count| {
            let preference = read(&format!(r#"{{"cpu":{{"preferredCPUTopology":"spread"{options}}}}}"#));
            topology(count, Some(&preference))
        };
        assert_eq!(spread("", 8), (4, 2, 1));
        assert_eq!(spread(r#","spreadOptions":{"ratio":4}"#, 8), (2, 4, 1));
        assert_eq!(spread(r#","spreadOptions":{"across":"CoresThreads"}"#, 8), (1, 4, 2));
        assert_eq!(spread(r#","spreadOptions":{"across":"SocketsCoresThreads","ratio":2}"#, 8), (2, 2, 2));
        assert_eq!(topology(4, None), (4, 1, 1));
    }
}
