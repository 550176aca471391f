//! Finds VMs, templates and instance types in YAML.
//!
//! Lists are expanded, parameters of templates are substituted, and each object has its position
//! and that of its rules. Other objects are ignored.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use ytterby_yaml::{MapItem, NodeId, Scalar, Style, Tree, View};

use crate::parameters::{self, Parameters};
use crate::positions::Positions;
use crate::rules::{self, ANNOTATION, Rules, Unreadable};
use crate::select::TEMPLATE_ANNOTATION;
use crate::trail::TrailStep;
use crate::value::Value;

/// Deeper YAML is rejected, because values are walked recursively.
const MAX_DEPTH: usize = 500;

/// Files with more values are rejected: aliases can make a small file huge.
const MAX_VALUES: usize = 50_000_000;

/// Maximum nesting of lists.
const MAX_LISTS: usize = 16;

/// The objects in a file.
#[derive(Debug, Default)]
pub struct Objects {
    /// VMs, including those inside templates.
    pub vms: Vec<Vm>,
    /// Templates.
    pub templates: Vec<Template>,
    /// Instance types and preferences, unchanged.
    pub instancetypes: Vec<Value>,
    /// Parameters that templates declare.
    pub parameters: Vec<String>,
}

/// A VM.
#[derive(Debug)]
pub struct Vm {
    /// The kind of the object that contains it: `VirtualMachine`, `Template`,
    /// `VirtualMachineTemplate`.
    pub kind: &'static str,
    /// The name of that object.
    pub name: String,
    /// The namespace of that object; empty if it has none.
    pub namespace: String,
    /// The byte offset of that object.
    pub offset: usize,
    /// The VM in its tree.
    pub node: NodeId,
    /// The VM, with parameters substituted.
    pub value: Value,
    /// Its own rules.
    pub rules: Option<RulesAnnotation>,
    /// The index in [`Objects::templates`] of the template that contains it.
    pub template: Option<usize>,
    /// The reason that its parameters could not be substituted.
    pub problem: Option<String>,
}

/// An OpenShift `Template` or a `VirtualMachineTemplate`.
#[derive(Debug)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its namespace; empty if it has none and matches any.
    pub namespace: String,
    /// Rules on the template itself.
    pub rules: Option<RulesAnnotation>,
    /// Rules on the first VM in it that has some.
    pub vm_rules: Option<RulesAnnotation>,
}

/// The text of an annotation and its position.
#[derive(Clone, Debug)]
pub struct RulesAnnotation {
    /// The rules as text.
    pub text: Box<str>,
    /// The byte offset of the key.
    pub key: usize,
    /// The byte range of the value.
    pub span: (usize, usize),
    /// Its YAML style.
    pub style: Style,
    /// A description of the value if it is not a string; then the text is empty.
    stray: Option<&'static str>,
    /// Whether parameters changed the text, so that its offsets do not match the file.
    changed: bool,
    positions: OnceLock<Positions>,
}

impl RulesAnnotation {
    /// Its rules.
    pub fn rules(&self) -> Result<Rules, Unreadable> {
        self.readable().and_then(rules::parse)
    }

    /// Its text, or an error if the value is not text.
    pub fn readable(&self) -> Result<&str, Unreadable> {
        self.stray.map_or(Ok(&self.text), |found| Err(Unreadable::Stray { found }))
    }

    /// Whether it contains no rules, not even invalid ones.
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.stray.is_none()
    }

    /// The offset in the file for an offset in the text.
    pub fn locate(&self, source: &[u8], offset: usize) -> usize {
        if self.changed || self.stray.is_some() {
            return self.key;
        }
        let (start, end) = self.span;
        let scalar = source.get(start..end.min(source.len())).unwrap_or_default();
        let positions = self.positions.get_or_init(|| Positions::new(scalar, start, self.style, &self.text));
        positions.source(offset).unwrap_or(self.key)
    }
}

/// Finds the objects of a file. The error names a limit that is exceeded.
pub fn objects(tree: &Tree, given: &Parameters) -> Result<Objects, String> {
    let mut finder = Finder { tree, given, found: Objects::default(), budget: MAX_VALUES };
    for document in tree.documents() {
        finder.object(document.value, 0)?;
    }
    Ok(finder.found)
}

/// Converts a node to a value.
pub fn value(tree: &Tree, id: NodeId) -> Result<Value, String> {
    let mut budget = MAX_VALUES;
    convert(tree, id, 0, &mut budget)
}

fn convert(tree: &Tree, id: NodeId, depth: usize, budget: &mut usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("values are nested deeper than {MAX_DEPTH}"));
    }
    *budget = budget.checked_sub(1).ok_or_else(|| format!("more than {MAX_VALUES} values"))?;
    Ok(match tree.value(id) {
        View::Scalar(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(*value),
            Scalar::Int(value) => Value::Int(i128::from(*value)),
            Scalar::UInt(value) => Value::Int(i128::from(*value)),
            Scalar::Float(value) => Value::Float(*value),
            Scalar::Str(text) => Value::String(text.to_str().into()),
            Scalar::Complex(_) => Value::String(key_text(scalar).into()),
        },
        View::Array(items) => {
            let convert = |item: &ytterby_yaml::ArrayItem| convert(tree, item.value, depth + 1, budget);
            Value::Array(items.iter().map(convert).collect::<Result<_, _>>()?)
        }
        View::Map(items) => {
            let mut entries = Vec::with_capacity(items.len());
            for item in items {
                entries.push((key_text(&item.key).into(), convert(tree, item.value, depth + 1, budget)?));
            }
            Value::Object(entries)
        }
    })
}

fn key_text(key: &Scalar) -> String {
    match key {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Str(text) => text.to_str().into_owned(),
        Scalar::Complex(_) => String::from_utf8_lossy(&ytterby_yaml::write::scalar_text(key)).into_owned(),
    }
}

struct Finder<'a> {
    tree: &'a Tree,
    given: &'a Parameters,
    found: Objects,
    budget: usize,
}

impl<'a> Finder<'a> {
    fn object(&mut self, id: NodeId, lists: usize) -> Result<(), String> {
        let kind = self.text(id, &["kind"]).unwrap_or_default();
        let group = self.text(id, &["apiVersion"]).unwrap_or_default();
        let group = group.split_once('/').map_or("", |(group, _)| group);
        match kind.as_str() {
            "VirtualMachine" if matches!(group, "" | "kubevirt.io") => self.vm(id, None),
            "" if self.get(id, &["spec", "template", "spec", "domain"]).is_some() => self.vm(id, None),
            "Template" if matches!(group, "" | "template.openshift.io") => {
                self.template(id, "Template", &["parameters"], &["objects"])
            }
            "VirtualMachineTemplate" => {
                self.template(id, "VirtualMachineTemplate", &["spec", "parameters"], &["spec", "virtualMachine"])
            }
            "VirtualMachineInstancetype"
            | "VirtualMachineClusterInstancetype"
            | "VirtualMachinePreference"
            | "VirtualMachineClusterPreference" => {
                let value = self.value(id)?;
                self.found.instancetypes.push(value);
                Ok(())
            }
            kind if kind.ends_with("List") => {
                let items = self.get(id, &["items"]).map(|item| item.value);
                if lists == MAX_LISTS {
                    return Err(format!("lists are nested deeper than {MAX_LISTS}"));
                }
                if let Some(View::Array(items)) = items.map(|id| self.tree.value(id)) {
                    for item in items {
                        self.object(item.value, lists + 1)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn vm(&mut self, id: NodeId, inside: Option<(usize, &Parameters)>) -> Result<(), String> {
        let mut value = self.value(id)?;
        let mut rules = self.annotation(id, ANNOTATION);
        if let Some((_, parameters)) = inside {
            parameters::substitute(&mut value, parameters);
            if let Some(rules) = &mut rules {
                let text = value.at(&["metadata", "annotations"]).and_then(|all| all.get(ANNOTATION)?.as_str());
                if let Some(text) = text.filter(|text| rules.stray.is_none() && **text != *rules.text) {
                    rules.text = text.into();
                    rules.changed = true;
                }
            }
        }
        let name = |key: &str| value.at(&["metadata", key]).and_then(Value::render).unwrap_or_default();
        self.found.vms.push(Vm {
            kind: "VirtualMachine",
            name: name("name"),
            namespace: name("namespace"),
            offset: start(self.tree, id),
            node: id,
            rules: rules.filter(|rules| !rules.is_empty()),
            template: inside.map(|(template, _)| template),
            problem: None,
            value,
        });
        Ok(())
    }

    fn template(&mut self, id: NodeId, kind: &'static str, parameters: &[&str], vms: &[&str]) -> Result<(), String> {
        let list = match self.get(id, parameters).map(|item| item.value) {
            Some(list) => Some(self.value(list)?),
            None => None,
        };
        for parameter in list.as_ref().and_then(Value::as_array).unwrap_or_default() {
            self.found.parameters.extend(parameter.get("name").and_then(Value::render));
        }
        let (values, problem) = match parameters::declared(list.as_ref(), self.given) {
            Ok(values) => (values, None),
            Err(problem) => (Parameters::new(), Some(problem)),
        };
        let name = self.text(id, &["metadata", "name"]).unwrap_or_default();
        let namespace = self.text(id, &["metadata", "namespace"]).unwrap_or_default();
        let index = self.found.templates.len();
        let rules = self.annotation(id, TEMPLATE_ANNOTATION).filter(|rules| !rules.is_empty());
        self.found.templates.push(Template { name: name.clone(), namespace: namespace.clone(), rules, vm_rules: None });
        let first = self.found.vms.len();
        if let Some(objects) = self.get(id, vms).map(|item| item.value) {
            let nodes = match self.tree.value(objects) {
                View::Array(items) => items.iter().map(|item| item.value).collect(),
                View::Map(_) => vec![objects],
                View::Scalar(_) => Vec::new(),
            };
            for node in nodes {
                let object_kind = self.text(node, &["kind"]).unwrap_or_default();
                // The VM in a VirtualMachineTemplate needs no kind.
                if object_kind == "VirtualMachine" || object_kind.is_empty() && kind != "Template" {
                    self.vm(node, Some((index, &values)))?;
                }
            }
        }
        let offset = start(self.tree, id);
        for vm in &mut self.found.vms[first..] {
            vm.kind = kind;
            vm.name.clone_from(&name);
            vm.namespace.clone_from(&namespace);
            vm.offset = offset;
            vm.problem.clone_from(&problem);
        }
        let vm_rules = self.found.vms[first..].iter().find_map(|vm| vm.rules.clone());
        self.found.templates[index].vm_rules = vm_rules;
        Ok(())
    }

    fn value(&mut self, id: NodeId) -> Result<Value, String> {
        convert(self.tree, id, 0, &mut self.budget)
    }

    fn get(&self, id: NodeId, keys: &[&str]) -> Option<&'a MapItem> {
        get(self.tree, id, keys)
    }

    fn text(&self, id: NodeId, keys: &[&str]) -> Option<String> {
        match self.tree.value(self.get(id, keys)?.value) {
            View::Scalar(Scalar::Null) => None,
            View::Scalar(scalar) => Some(key_text(scalar)),
            _ => None,
        }
    }

    fn annotation(&self, id: NodeId, key: &str) -> Option<RulesAnnotation> {
        let item = self.get(id, &["metadata", "annotations", key])?;
        let (text, stray) = match self.tree.value(item.value) {
            View::Scalar(Scalar::Null) => return None,
            View::Scalar(Scalar::Str(text)) => (text.to_str(), None),
            View::Scalar(Scalar::Bool(_)) => (Cow::Borrowed(""), Some("a boolean")),
            View::Scalar(_) => (Cow::Borrowed(""), Some("a number")),
            View::Array(_) => (Cow::Borrowed(""), Some("an array")),
            View::Map(_) => (Cow::Borrowed(""), Some("a map")),
        };
        let span = self.tree.span(item.value);
        Some(RulesAnnotation {
            text: text.into(),
            stray,
            key: item.pos.offset as usize,
            span: (span.start as usize, span.end as usize),
            style: self.tree.style(item.value),
            changed: false,
            positions: OnceLock::new(),
        })
    }
}

/// The offset of an object: its first key.
fn start(tree: &Tree, id: NodeId) -> usize {
    match tree.value(id) {
        View::Map([first, ..]) => first.pos.offset as usize,
        _ => tree.span(id).start as usize,
    }
}

/// The byte offsets of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueOffsets {
    /// Its key, or the start of a list item.
    pub key: usize,
    /// The scalar itself, otherwise the key.
    pub value: usize,
}

/// The items of large maps by key, so that finding many values in one map takes linear time.
#[derive(Debug, Default)]
pub struct LargeMaps(HashMap<NodeId, HashMap<Box<str>, usize>>);

impl LargeMaps {
    /// Smaller maps are searched.
    const LEAST: usize = 64;

    /// The item with a name; of duplicate keys the last.
    fn find<'t>(&mut self, map: NodeId, items: &'t [MapItem], name: &str) -> Option<&'t MapItem> {
        let key = |item: &'t MapItem| match &item.key {
            Scalar::Str(text) => text.to_str(),
            other => key_text(other).into(),
        };
        if items.len() < LargeMaps::LEAST {
            return items.iter().rev().find(|item| key(item) == name);
        }
        let index = || items.iter().enumerate().map(|(at, item)| (key(item).into(), at)).collect();
        let by_name = self.0.entry(map).or_insert_with(index);
        by_name.get(name).map(|at| &items[*at])
    }
}

/// Finds the value at a path, or its nearest existing parent. `maps` belongs to the tree.
pub fn locate(tree: &Tree, from: NodeId, keys: &[TrailStep], maps: &mut LargeMaps) -> ValueOffsets {
    let mut at = from;
    let mut spot = ValueOffsets { key: start(tree, from), value: start(tree, from) };
    for key in keys {
        let (key, value) = match (key, tree.value(at)) {
            (TrailStep::Name(name), View::Map(items)) => {
                let Some(item) = maps.find(at, items, name) else { break };
                (item.pos.offset as usize, item.value)
            }
            (TrailStep::Index(index), View::Array(items)) => {
                let Some(item) = items.get(*index) else { break };
                (start(tree, item.value), item.value)
            }
            _ => break,
        };
        at = value;
        let span = tree.span(at);
        let is_scalar = matches!(tree.value(at), View::Scalar(_)) && span.end > span.start;
        spot = ValueOffsets { key, value: if is_scalar { span.start as usize } else { key } };
    }
    spot
}

/// The item at a path; of duplicate keys the last.
fn get<'a>(tree: &'a Tree, id: NodeId, keys: &[&str]) -> Option<&'a MapItem> {
    let mut at = id;
    let mut found = None;
    for key in keys {
        let View::Map(items) = tree.value(at) else { return None };
        let item = items.iter().rev().find(|item| matches!(&item.key, Scalar::Str(text) if *text == **key))?;
        at = item.value;
        found = Some(item);
    }
    found
}
