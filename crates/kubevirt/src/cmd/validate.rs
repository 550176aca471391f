//! `validate`: checks VMs against their rules.

use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;

use super::args::Args;
use super::load::{self, File};
use super::report::{Checked, Located, Place, Report};
use super::{BROKEN, Failure, Host, OK, UNREADABLE, output};
use crate::compat::{self, Verdict};
use crate::evaluate::{Outcome, Sizing, Status, complete_cpu, evaluate};
use crate::instancetype;
use crate::objects::{Annotation, Vm};
use crate::rules::{self, Rules, Unreadable};
use crate::select::{self, Source};
use crate::value::Value;

pub(super) fn run(
    args: &Args,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = World::load(args, host)?;
    let mut report = Report::default();
    let mut cache = Cache::default();
    for file in &world.files {
        match &file.objects {
            Err(problem) => report.objects.push(unreadable_file(file, &problem.message, problem.at)),
            Ok(objects) => {
                for vm in &objects.vms {
                    report.objects.push(check(vm, file, &world, &mut cache, stderr)?);
                }
            }
        }
    }
    for file in world.templates.iter().chain(&world.instancetype_files) {
        if let Err(problem) = &file.objects {
            report.objects.push(unreadable_file(file, &problem.message, problem.at));
        }
    }
    if report.objects.is_empty() {
        writeln!(stderr, "There is no VirtualMachine and no Template in the input")?;
    }
    output::write(&report, args.format, stdout)?;
    Ok(if report.unreadable() {
        UNREADABLE
    } else if !report.valid() || args.fail_on_warn && report.warns() {
        BROKEN
    } else {
        OK
    })
}

fn error(message: &str, detail: String) -> Outcome {
    Outcome {
        rule: String::new(),
        status: Status::Error,
        path: String::new(),
        message: message.to_owned(),
        detail,
        offset: None,
        notable: false,
    }
}

fn unreadable_file(file: &File, message: &str, at: Option<(u32, u32)>) -> Checked {
    let (line, column) = at.unwrap_or((1, 1));
    let place = Place { file: file.name.clone(), line, column };
    let shown = if at.is_some() { place.to_string() } else { file.name.clone() };
    let outcome = error("The file cannot be read", format!("{shown}: {message}"));
    Checked {
        kind: String::new(),
        name: String::new(),
        namespace: String::new(),
        file: file.name.clone(),
        line,
        unreadable: true,
        results: vec![Located { outcome, at: Some(place) }],
    }
}

/// All that was read for a run.
pub(super) struct World {
    pub files: Vec<File>,
    templates: Vec<File>,
    instancetype_files: Vec<File>,
    instancetypes: Vec<Value>,
    compat: bool,
}

impl World {
    pub(super) fn load(args: &Args, host: &dyn Host) -> Result<World, Failure> {
        let files = load::files(&args.files, &args.parameters, host);
        let templates = load::files(&args.templates, &args.parameters, host);
        let instancetype_files = load::files(&args.instancetypes, &args.parameters, host);
        let all = || files.iter().chain(&templates).chain(&instancetype_files);
        let objects = || all().filter_map(|file| file.objects.as_ref().ok());
        let instancetypes = objects().flat_map(|objects| objects.instancetypes.iter().cloned()).collect();
        let mut names: Vec<&String> = args.parameters.keys().collect();
        names.sort();
        for name in names {
            if all().all(|file| file.objects.is_ok()) && !objects().any(|objects| objects.parameters.contains(name)) {
                return Err(Failure::Usage(format!("No template has a parameter {name}")));
            }
        }
        Ok(World { files, templates, instancetype_files, instancetypes, compat: args.compat })
    }

    /// The template with that name, and its rules.
    fn template(&self, namespace: &str, name: &str) -> Option<(&File, Option<&Annotation>)> {
        self.files.iter().chain(&self.templates).find_map(|file| {
            let objects = file.objects.as_ref().ok()?;
            let template = objects.templates.iter().find(|template| {
                template.name == name && (template.namespace.is_empty() || template.namespace == namespace)
            })?;
            let own = template.rules.as_ref();
            // The reference never looks at the VM inside; offline, nobody has copied its annotation yet.
            Some((file, if self.compat { own } else { own.or(template.vm_rules.as_ref()) }))
        })
    }
}

/// The rules that apply to a VM, if any, and the file that they stand in.
pub(super) fn rules_of<'w>(
    vm: &'w Vm,
    file: &'w File,
    world: &'w World,
    stderr: &mut dyn Write,
) -> Result<Option<(&'w Annotation, &'w File)>, Failure> {
    let source = select::source(&vm.value);
    match source {
        Source::Deleted | Source::Skipped => return Ok(None),
        Source::Own(_) => return Ok(vm.rules.as_ref().map(|rules| (rules, file))),
        Source::Template { .. } | Source::None => {}
    }
    let enclosing = vm.template.and_then(|index| file.objects.as_ref().ok()?.templates[index].rules.as_ref());
    if let Some(rules) = enclosing {
        return Ok(Some((rules, file)));
    }
    if let Source::Template { namespace, name } = source {
        if let Some((file, rules)) = world.template(namespace, name) {
            return Ok(rules.map(|rules| (rules, file)));
        }
        let problem = format!("its template {namespace}/{name} is not among the files");
        writeln!(stderr, "{}: {}: no rules: {problem}", file.name, vm.name)?;
    } else if vm.template.is_none()
        && let Some(name) = select::template_name(&vm.value)
    {
        let problem = format!("it names the template {name} but not its namespace");
        writeln!(stderr, "{}: {}: no rules: {problem}", file.name, vm.name)?;
    }
    Ok(None)
}

/// Annotations that were read already: many VMs carry the same text.
#[derive(Default)]
pub(super) struct Cache(HashMap<Box<str>, Rc<Result<Rules, Unreadable>>>);

impl Cache {
    pub(super) fn rules(&mut self, text: &str) -> Rc<Result<Rules, Unreadable>> {
        if let Some(rules) = self.0.get(text) {
            return Rc::clone(rules);
        }
        let rules = Rc::new(rules::parse(text));
        self.0.insert(text.into(), Rc::clone(&rules));
        rules
    }
}

/// The VM as rules see it, and where its cpu and memory come from.
pub(super) fn prepared(vm: &Vm, world: &World) -> (Value, Sizing) {
    let mut value = vm.value.clone();
    let mut sizing = Sizing::Own;
    if !world.compat
        && let Some((_, name)) = instancetype::wanted(&value)
    {
        let name = name.to_owned();
        if !instancetype::expand(&mut value, &world.instancetypes) {
            sizing = Sizing::Instancetype(name);
        }
    }
    complete_cpu(&mut value);
    (value, sizing)
}

/// Where a byte of an annotation stands.
pub(super) fn place(annotation: &Annotation, file: &File, offset: usize) -> Place {
    let (line, column) = file.position(annotation.locate(file.text(), offset));
    Place { file: file.name.clone(), line, column }
}

fn check(vm: &Vm, file: &File, world: &World, cache: &mut Cache, stderr: &mut dyn Write) -> Result<Checked, Failure> {
    let mut checked = Checked {
        kind: vm.kind.to_owned(),
        name: vm.name.clone(),
        namespace: vm.namespace.clone(),
        file: file.name.clone(),
        line: file.position(vm.offset).0,
        unreadable: false,
        results: Vec::new(),
    };
    let unreadable = |at: Place, message: &str, reason: String| {
        vec![Located { outcome: error(message, format!("{at}: {reason}")), at: Some(at) }]
    };
    if let Some(problem) = &vm.problem {
        let (line, column) = file.position(vm.offset);
        let at = Place { file: file.name.clone(), line, column };
        checked.unreadable = true;
        checked.results = unreadable(at, "The template cannot be processed", problem.clone());
        return Ok(checked);
    }
    let Some((annotation, rules_file)) = rules_of(vm, file, world, stderr)? else { return Ok(checked) };
    let place = |offset: usize| place(annotation, rules_file, offset);
    let outcomes = if world.compat {
        compat::parse(&annotation.text).map(|rules| compat_outcomes(&rules, &prepared(vm, world).0))
    } else {
        match &*cache.rules(&annotation.text) {
            Ok(rules) => {
                let (value, sizing) = prepared(vm, world);
                Ok(evaluate(rules, &value, &sizing))
            }
            Err(problem) => {
                let hint = problem.hint().map_or(String::new(), |hint| format!(" ({hint})"));
                Err((problem.message() + &hint, problem.offset()))
            }
        }
    };
    match outcomes {
        Ok(outcomes) => {
            let located = |outcome: Outcome| {
                // A place costs a search; only what is shown with one gets it.
                let shown = !matches!(outcome.status, Status::Ok | Status::Skipped);
                Located { at: outcome.offset.filter(|_| shown).map(place), outcome }
            };
            checked.results = outcomes.into_iter().map(located).collect();
        }
        Err((reason, offset)) => {
            checked.unreadable = true;
            checked.results = unreadable(place(offset), "The rules cannot be read", reason);
        }
    }
    Ok(checked)
}

fn compat_outcomes(rules: &[compat::Rule], vm: &Value) -> Vec<Outcome> {
    if !rules.is_empty() && vm.at(&["spec", "template"]).is_none() {
        // Where the reference crashes: any rule of ours gives the one error that says so.
        let any = rules::parse("[{}]").expect("an empty rule can be read");
        return evaluate(&any, vm, &Sizing::Own);
    }
    let outcome = |report: compat::Report| {
        let (status, detail) = match report.verdict {
            Verdict::Skipped => (Status::Skipped, String::new()),
            Verdict::Satisfied(text) => (Status::Ok, text),
            Verdict::Unsatisfied(text) if report.just_warning => (Status::Warning, text),
            Verdict::Unsatisfied(text) => (Status::Violation, text),
            Verdict::Failed(text, _) => (Status::Error, text),
        };
        Outcome {
            rule: report.name,
            status,
            path: report.path,
            message: report.rule_message,
            detail,
            offset: Some(report.offset),
            notable: false,
        }
    };
    compat::evaluate(rules, vm).into_iter().map(outcome).collect()
}
