//! All files of a run, and which of their rules apply to which VM.
//!
//! `LoadedInputs::governed` embodies the precedence of `docs/kubevirt.md`: rules of the VM itself,
//! then those of the template that it names. Below are positions: where in a file a byte of an
//! annotation or a value of a VM is.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::args::KubevirtArgs;
use super::load::{self, LoadedFile};
use super::report::Position;
use super::{Failure, Host, usage, within_limits};
use ytterby_diag::{Id, Sources};
use ytterby_kubevirt::evaluate::{Sizing, complete_cpu};
use ytterby_kubevirt::instancetype::{self, Instancetypes};
use ytterby_kubevirt::objects::{RulesAnnotation, Template, ValueOffsets, Vm, locate};
use ytterby_kubevirt::rules::{self, Rules, Unreadable};
use ytterby_kubevirt::select::{self, RulesSource};
use ytterby_kubevirt::trail::TrailStep;
use ytterby_kubevirt::value::Value;
use ytterby_text::budget::WorkingAt;

/// Files, templates and instance types.
pub(super) struct LoadedInputs {
    pub files: Vec<LoadedFile>,
    pub templates: Vec<LoadedFile>,
    pub instancetype_files: Vec<LoadedFile>,
    instancetypes: Instancetypes,
    /// Contains the texts that diagnostics quote.
    pub sources: Arc<Sources>,
    /// Templates by name, as the indexes of their file (those of `templates` after those of
    /// `files`) and of the template in it.
    by_name: HashMap<Box<str>, Vec<(usize, usize)>>,
    pub compat: bool,
}

/// Which rules apply to a VM.
pub(super) enum Governed<'w> {
    /// These rules, from this file.
    By(&'w RulesAnnotation, &'w LoadedFile),
    /// None: it is exempt, for this reason.
    Exempt(&'static str),
    /// None.
    Free,
    /// Unknown: its template cannot be found, as this message explains.
    Unknown(String),
}

impl LoadedInputs {
    pub(super) fn load(args: &KubevirtArgs, host: &dyn Host) -> Result<LoadedInputs, Failure> {
        let sources = args.sources.clone();
        let files = load::files(&args.files, &args.parameters, host, &sources);
        let templates = load::files(&args.templates, &args.parameters, host, &sources);
        let instancetype_files = load::files(&args.instancetypes, &args.parameters, host, &sources);
        within_limits()?;
        let all = || files.iter().chain(&templates).chain(&instancetype_files);
        let objects = || all().filter_map(|file| file.objects.as_ref().ok());
        let instancetypes = Instancetypes::new(objects().flat_map(|objects| objects.instancetypes.iter().cloned()));
        let mut names: Vec<&String> = args.parameters.keys().collect();
        names.sort();
        for name in names {
            if all().all(|file| file.objects.is_ok()) && !objects().any(|objects| objects.parameters.contains(name)) {
                return Err(usage(Id::FLAG_VALUE, format!("No template has a parameter {name}")));
            }
        }
        let mut by_name: HashMap<Box<str>, Vec<(usize, usize)>> = HashMap::new();
        for (number, file) in files.iter().chain(&templates).enumerate() {
            for (index, template) in file.objects.iter().flat_map(|objects| &objects.templates).enumerate() {
                by_name.entry(template.name.as_str().into()).or_default().push((number, index));
            }
        }
        Ok(LoadedInputs { files, templates, instancetype_files, instancetypes, sources, by_name, compat: args.compat })
    }

    /// Notes that the results of all files are being worked on.
    pub(super) fn working_at(&self) -> Option<WorkingAt> {
        Some(self.files.first()?.working_at(0))
    }

    /// Templates with this name, with their files.
    fn named(&self, name: &str) -> impl Iterator<Item = (&LoadedFile, &Template)> {
        self.by_name.get(name).into_iter().flatten().filter_map(|&(number, index)| {
            let file = self.files.iter().chain(&self.templates).nth(number)?;
            Some((file, file.objects.as_ref().ok()?.templates.get(index)?))
        })
    }

    /// The rules that apply to a VM.
    pub(super) fn governed<'w>(&'w self, vm: &'w Vm, file: &'w LoadedFile) -> Governed<'w> {
        let source = select::source(&vm.value);
        match source {
            RulesSource::Deleted => return Governed::Exempt("it is being deleted"),
            RulesSource::Skipped => return Governed::Exempt("it asks not to be validated"),
            RulesSource::Own(_) | RulesSource::Template { .. } | RulesSource::None => {}
        }
        if let Some(rules) = &vm.rules {
            return Governed::By(rules, file);
        }
        let enclosing = vm.template.and_then(|index| file.objects.as_ref().ok()?.templates[index].rules.as_ref());
        if let Some(rules) = enclosing {
            return Governed::By(rules, file);
        }
        match source {
            RulesSource::Template { namespace, name } => self.by_template(namespace, name),
            _ if vm.template.is_none() => match select::template_name(&vm.value) {
                Some(name) => Governed::Unknown(format!("it names the template {name} but not its namespace")),
                None => Governed::Free,
            },
            _ => Governed::Free,
        }
    }

    fn by_template(&self, namespace: &str, name: &str) -> Governed<'_> {
        let fits = |template: &Template| template.namespace.is_empty() || template.namespace == namespace;
        if let Some((file, template)) = self.named(name).find(|(_, template)| fits(template)) {
            let own = template.rules.as_ref();
            // The reference ignores the VM inside; offline, its annotation has not been copied
            // yet.
            let rules = if self.compat { own } else { own.or(template.vm_rules.as_ref()) };
            return rules.map_or(Governed::Free, |rules| Governed::By(rules, file));
        }
        let elsewhere = self.named(name).next().map_or(String::new(), |(file, template)| {
            format!("; {} has one of that name in the namespace {}", file.name, template.namespace)
        });
        Governed::Unknown(format!("its template {namespace}/{name} is not among the files{elsewhere}"))
    }

    /// The VM as rules see it, and the origin of its cpu and memory.
    pub(super) fn prepared(&self, vm: &Vm) -> (Value, Sizing) {
        let mut value = vm.value.clone();
        let mut sizing = Sizing::Own;
        if !self.compat
            && let Some((_, name)) = instancetype::wanted(&value)
        {
            let name = name.to_owned();
            let given = &self.instancetypes;
            if !instancetype::expand(&mut value, given) && !instancetype::expand_common(&mut value, given) {
                sizing = Sizing::Instancetype(name);
            }
        }
        complete_cpu(&mut value);
        (value, sizing)
    }
}

/// Parsed annotations by text: many VMs have the same.
#[derive(Default)]
pub(super) struct RulesCache(HashMap<Box<str>, Rc<Result<Rules, Unreadable>>>);

impl RulesCache {
    pub(super) fn rules(&mut self, annotation: &RulesAnnotation) -> Rc<Result<Rules, Unreadable>> {
        let text = match annotation.readable() {
            Ok(text) => text,
            Err(problem) => return Rc::new(Err(problem)),
        };
        if let Some(rules) = self.0.get(text) {
            return Rc::clone(rules);
        }
        let rules = Rc::new(rules::parse(text));
        self.0.insert(text.into(), Rc::clone(&rules));
        rules
    }
}

/// The position of a byte of an annotation.
pub(super) fn place(annotation: &RulesAnnotation, file: &LoadedFile, offset: usize) -> Position {
    place_of(file, annotation.locate(file.text(), offset))
}

/// The position of a value of a VM, or of its nearest existing parent.
pub(super) fn value_place(vm: &Vm, file: &LoadedFile, keys: &[TrailStep]) -> Position {
    Position { path: path_in(file, keys), ..place_of(file, spot(vm, file, keys).value) }
}

/// The position of the key of a value of a VM.
pub(super) fn key_place(vm: &Vm, file: &LoadedFile, keys: &[TrailStep]) -> Position {
    Position { path: path_in(file, keys), ..place_of(file, spot(vm, file, keys).key) }
}

/// The path from a VM to a value, if the file is one long line.
fn path_in(file: &LoadedFile, keys: &[TrailStep]) -> Option<String> {
    let text: String = keys.iter().map(TrailStep::to_string).collect();
    Some(text.trim_start_matches('.').to_owned()).filter(|path| !path.is_empty() && file.is_one_line)
}

fn spot(vm: &Vm, file: &LoadedFile, keys: &[TrailStep]) -> ValueOffsets {
    let whole = ValueOffsets { key: vm.offset, value: vm.offset };
    file.tree.as_ref().map_or(whole, |tree| locate(tree, vm.node, keys, &mut file.maps.borrow_mut()))
}

fn place_of(file: &LoadedFile, offset: usize) -> Position {
    let (line, column) = file.position(offset);
    Position {
        file: file.name.clone(),
        line,
        column,
        pos: file.pos(offset),
        path: None,
        is_on_long_line: file.is_one_line,
    }
}
