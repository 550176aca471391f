//! The fields of a VirtualMachine below `.spec.template`: types, defaults, Go types.
//!
//! The table is `data/vmi-fields.tsv`, one line per path, taken from KubeVirt's API types. It
//! distinguishes a misspelled path from an unset one and a quantity from a string, and contains
//! which fields always exist: scalars that are not pointers.

use std::collections::VecDeque;
use std::sync::OnceLock;

use crate::jsonpath::JsonPathStep;

/// One field, list item (`[*]`) or map value (`*`).
#[derive(Debug)]
pub struct VmField {
    /// Its key; `[*]` for items, `*` for values of a map.
    pub name: &'static str,
    /// The whole path below `.spec.template`.
    pub path: &'static str,
    /// The type of the field.
    pub kind: FieldKind,
    /// Whether it is a pointer in Go, so that it may be absent; other scalars have a default.
    pub pointer: bool,
    /// The Go type, as the reference's messages show it.
    pub go: &'static str,
    /// Whether the reference's release of KubeVirt lacks it.
    pub is_new: bool,
    index: usize,
    children: Vec<usize>,
}

/// Kinds of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// An object with fields.
    Object,
    /// A map with any keys.
    Map,
    /// A list.
    Array,
    /// Text.
    String,
    /// An integer.
    Integer,
    /// `true`, `false`.
    Boolean,
    /// A Kubernetes quantity.
    Quantity,
    /// A number or a name.
    IntOrString,
    /// A date.
    Time,
}

impl FieldKind {
    /// Whether values of this kind are scalars.
    pub fn is_scalar(self) -> bool {
        !matches!(self, FieldKind::Object | FieldKind::Map | FieldKind::Array)
    }

    /// The name with an article, for messages.
    pub fn what(self) -> &'static str {
        match self {
            FieldKind::Object => "an object",
            FieldKind::Map => "a map",
            FieldKind::Array => "an array",
            FieldKind::String => "a string",
            FieldKind::Integer => "an integer",
            FieldKind::Boolean => "a boolean",
            FieldKind::Quantity => "a quantity",
            FieldKind::IntOrString => "an integer or a string",
            FieldKind::Time => "a time",
        }
    }
}

impl VmField {
    /// The field with this key, the value of a map, or the item of a list (`[*]`).
    pub fn child(&self, name: &str) -> Option<&'static VmField> {
        let key = if self.kind == FieldKind::Map { "*" } else { name };
        self.children().find(|field| field.name == key)
    }

    /// The item of a list.
    pub fn item(&self) -> Option<&'static VmField> {
        self.child("[*]")
    }

    /// Fields in the order of the Go type.
    pub fn children(&self) -> impl Iterator<Item = &'static VmField> + Clone + use<> {
        let table = table();
        table[self.index].children.iter().map(|&index| &table[index])
    }

    /// Whether the field exists whenever its parent does, with an empty value by default.
    pub fn has_default(&self) -> bool {
        // An unset time is null.
        !self.pointer && self.kind.is_scalar() && self.kind != FieldKind::Time && self.name != "[*]" && self.name != "*"
    }
}

/// The VM itself: the root of every path.
pub fn vm() -> &'static VmField {
    &table()[0]
}

/// The VM's `.spec.template`.
pub fn template() -> &'static VmField {
    &table()[2]
}

/// The release of KubeVirt in the table.
pub const KUBEVIRT: &str = "1.9.0";

const FIELDS: &str = include_str!("../data/vmi-fields.tsv");

fn table() -> &'static [VmField] {
    static TABLE: OnceLock<Vec<VmField>> = OnceLock::new();
    TABLE.get_or_init(read)
}

fn read() -> Vec<VmField> {
    let object = |index: usize, name, go, pointer| {
        let children = if index < 2 { vec![index + 1] } else { Vec::new() };
        VmField { name, path: "", kind: FieldKind::Object, pointer, go, is_new: false, index, children }
    };
    let mut table = vec![
        object(0, "", "*v1.VirtualMachine", true),
        object(1, "spec", "v1.VirtualMachineSpec", false),
        object(2, "template", "*v1.VirtualMachineInstanceTemplateSpec", true),
    ];
    // Lines are in depth-first order, so the ancestors of a line are the lines on this stack.
    let mut ancestors: Vec<usize> = vec![2];
    for line in FIELDS.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let mut column = || columns.next().expect("a line of the table has four columns");
        let (path, kind, pointer, go) = (column(), column(), column() == "*", column());
        let is_new = columns.next() == Some("new");
        let kind = match kind {
            "object" => FieldKind::Object,
            "map" => FieldKind::Map,
            "array" => FieldKind::Array,
            "string" => FieldKind::String,
            "integer" => FieldKind::Integer,
            "boolean" => FieldKind::Boolean,
            "quantity" => FieldKind::Quantity,
            "intOrString" => FieldKind::IntOrString,
            other => {
                debug_assert_eq!(other, "time");
                FieldKind::Time
            }
        };
        let (parent, name) = match path.strip_suffix("[*]") {
            Some(parent) => (parent, "[*]"),
            None => path.rsplit_once('.').expect("a path of the table has a dot"),
        };
        while ancestors.len() > 1 && ancestors.last().is_some_and(|&above| table[above].path != parent) {
            ancestors.pop();
        }
        let index = table.len();
        let above = *ancestors.last().expect("the template stays on the stack");
        table[above].children.push(index);
        table.push(VmField { name, path, kind, pointer, go, is_new, index, children: Vec::new() });
        ancestors.push(index);
    }
    table
}

/// The nearest field below with a name that a field lacks, such as `devices` in
/// `.spec.domain`.
pub(crate) fn below(field: &'static VmField, name: &str) -> Option<&'static VmField> {
    let mut queue: VecDeque<&'static VmField> = field.children().collect();
    while let Some(inner) = queue.pop_front().filter(|_| queue.len() < 64) {
        if inner.kind == FieldKind::Object {
            if let Some(found) = inner.child(name) {
                return Some(found);
            }
            queue.extend(inner.children());
        }
    }
    None
}

/// The target of a path, as far as the table contains it.
#[derive(Clone, Debug)]
pub enum PathTarget {
    /// This field.
    Field(&'static VmField),
    /// An unknown field.
    Unknown {
        /// The field that lacks it.
        parent: &'static VmField,
        /// The unknown name.
        name: String,
        /// The most similar name that it has.
        nearest: Option<&'static str>,
    },
    /// Several fields, or something that depends on the VM.
    Open,
}

/// Resolves steps from `.spec.template`.
pub fn target(steps: &[JsonPathStep]) -> PathTarget {
    let mut field = template();
    for step in steps {
        let next = match step {
            JsonPathStep::Field(name) => match field.child(name) {
                Some(next) => next,
                None if field.kind == FieldKind::Object && field.children().next().is_none() => {
                    return PathTarget::Open;
                }
                None => {
                    let names: Vec<&'static str> = field.children().map(|field| field.name).collect();
                    let nearest = ytterby_text::spelling::nearest(name, names);
                    return PathTarget::Unknown { parent: field, name: name.clone(), nearest };
                }
            },
            JsonPathStep::Slice(_) | JsonPathStep::Filter(_) => match field.item() {
                Some(next) => next,
                None => return PathTarget::Unknown { parent: field, name: "[…]".to_owned(), nearest: None },
            },
            JsonPathStep::Wildcard if matches!(field.kind, FieldKind::Map | FieldKind::Array) => {
                match field.children().next() {
                    Some(next) => next,
                    None => return PathTarget::Open,
                }
            }
            _ => return PathTarget::Open,
        };
        field = next;
    }
    PathTarget::Field(field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonpath::JsonPath;

    fn at(path: &str) -> PathTarget {
        target(JsonPath::parse(&format!("jsonpath::{path}")).unwrap().steps().unwrap())
    }

    #[test]
    fn the_table_is_complete() {
        assert_eq!(table().len(), 3 + 656 + 9);
        assert_eq!(table().iter().filter(|field| field.is_new).count(), 9);
        assert!(
            FIELDS.starts_with(&format!(
                "# Fields of a VirtualMachine below .spec.template (kubevirt.io/api {KUBEVIRT})"
            ))
        );
        let defaults = table().iter().filter(|field| field.path.starts_with(".spec.domain.") && field.has_default());
        assert_eq!(defaults.filter(|field| !field.is_new).count(), 84);
    }

    #[test]
    fn the_fields_that_the_format_lists_have_defaults() {
        for path in [
            ".spec.domain.cpu.sockets",
            ".spec.domain.cpu.cores",
            ".spec.domain.cpu.threads",
            ".spec.domain.machine.type",
            ".spec.domain.devices.disks[*].serial",
            ".spec.domain.devices.disks[*].cache",
            ".spec.domain.devices.disks[*].io",
            ".spec.domain.devices.disks[*].tag",
            ".spec.domain.devices.interfaces[*].model",
            ".spec.domain.devices.interfaces[*].macAddress",
            ".spec.domain.devices.interfaces[*].pciAddress",
            ".spec.domain.devices.interfaces[*].tag",
            ".spec.domain.devices.interfaces[*].ports[*].protocol",
            ".spec.domain.devices.interfaces[*].ports[*].port",
        ] {
            assert!(
                matches!(at(path), PathTarget::Field(field) if field.has_default() && field.path == path),
                "{path}"
            );
        }
    }

    #[test]
    fn misspelt_fields_are_distinguished_from_unset_ones() {
        assert!(matches!(at(".spec.domain.cpu.coress"), PathTarget::Unknown { nearest: Some("cores"), .. }));
        assert!(
            matches!(at(".spec.domain.resources.requests.memory"), PathTarget::Field(f) if f.kind == FieldKind::Quantity)
        );
        assert!(matches!(at(".spec.domain.devices.disks[0].cdrom"), PathTarget::Field(f) if f.pointer));
        assert!(matches!(at(".spec.domain.cpu[0]"), PathTarget::Unknown { .. }));
        assert!(matches!(at("..bus"), PathTarget::Open));
        let spec = template().child("spec").unwrap();
        assert_eq!(below(spec, "devices").map(|field| field.path), Some(".spec.domain.devices"));
        assert!(below(spec, "nonsense").is_none());
    }
}
