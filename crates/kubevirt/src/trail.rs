//! The path of a value in a VM.
//!
//! Results of a JSONPath are values without a location. It is only needed for values that violate a
//! rule, so it is searched for then: along the path as far as it consists of fields and indexes,
//! below that by the address of the value.

use std::fmt;

use crate::jsonpath::{JsonPath, JsonPathStep, Slice, TemplatePart};
use crate::value::Value;

/// A step from a value to a part of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TrailStep {
    /// To the value of this key.
    Name(Box<str>),
    /// To the item at this index.
    Index(usize),
}

impl fmt::Display for TrailStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrailStep::Name(name) => write!(f, ".{name}"),
            TrailStep::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// The keys from a VM to `target`, one of the values that `path` visited; without a target, or if
/// it is not found, to the last existing value on the plain part of the path.
pub fn trail(vm: &Value, path: &JsonPath, target: Option<&Value>) -> Vec<TrailStep> {
    let mut keys = Vec::new();
    let mut at = vm;
    if let Some(TemplatePart::Expression(steps)) = path.parts.first() {
        for step in steps {
            if target.is_some_and(|target| std::ptr::eq(target, at)) {
                return keys;
            }
            let next = match step {
                JsonPathStep::Field(name) => at.get(name).map(|value| (TrailStep::Name(name.as_str().into()), value)),
                JsonPathStep::Slice(Slice { start: Some(start), single: true, .. }) => usize::try_from(*start)
                    .ok()
                    .and_then(|index| Some((TrailStep::Index(index), at.as_array()?.get(index)?))),
                _ => None,
            };
            // A null counts as absent; its parent is the location to show.
            let Some((key, value)) = next.filter(|(_, value)| !value.is_null()) else { break };
            keys.push(key);
            at = value;
        }
    }
    let plain = keys.len();
    if let Some(target) = target {
        search(at, target, &mut keys);
        keys[plain..].reverse();
    }
    keys
}

/// Adds the keys from a value to one inside it, identified by its address, last key first; returns
/// whether it was found.
fn search(at: &Value, target: &Value, keys: &mut Vec<TrailStep>) -> bool {
    if std::ptr::eq(at, target) {
        return true;
    }
    let key = match at {
        Value::Array(items) => items.iter().position(|value| search(value, target, keys)).map(TrailStep::Index),
        Value::Object(entries) => {
            let entry = entries.iter().find(|(_, value)| search(value, target, keys));
            entry.map(|(name, _)| TrailStep::Name(name.clone()))
        }
        _ => None,
    };
    let found = key.is_some();
    keys.extend(key);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonpath::eval::{self, World};

    /// Checks the keys to the last result of a path.
    fn check(path: &str, expect: &str) {
        let vm = crate::json::parse(
            r#"{"spec":{"template":{"spec":{"domain":{"cpu":null,"devices":{"disks":[{"name":"a"},{"name":"b","disk":{"bus":"sata"}}]}}}}}}"#,
        )
        .unwrap()
        .to_value();
        let path = JsonPath::parse(&format!("jsonpath::.spec.domain{path}")).unwrap();
        let near = eval::find(&path, &vm, World::Specification).ok().and_then(|items| items.last()?.near);
        let keys: String = trail(&vm, &path, near).iter().map(TrailStep::to_string).collect();
        assert_eq!(keys.strip_prefix(".spec.template.spec.domain"), Some(expect), "{}", path.text);
    }

    #[test]
    fn a_value_is_found_again() {
        check(".devices.disks[*].name", ".devices.disks[1].name");
        check("..bus", ".devices.disks[1].disk.bus");
        check(".devices.disks[1].name", ".devices.disks[1].name");
        check(".devices.disks[?(@.name=='a')].name", ".devices.disks[0].name");
    }

    #[test]
    fn unset_values_are_located_at_their_parent() {
        check(".devices.disks[*].serial", ".devices.disks[1]");
        check(".devices.disks[*].cdrom.bus", ".devices.disks");
        check(".devices.disks[7].name", ".devices.disks");
        check(".cpu.cores", "");
        check(".machine.type", "");
    }
}
