//! `validate`: checks VMs against their rules.
//!
//! `run` collects one `CheckedObject` for each VM and template; which rules govern a VM is decided
//! in `world`, and formats are written in `output`. Input without any object is a warning: a wrong
//! folder must not look like success.

use std::collections::HashSet;
use std::io::Write;

use super::args::{FieldValidation, KubevirtArgs};
use super::load::LoadedFile;
use super::report::{CheckedObject, Located, Position, ValidationReport};
use super::world::{Governed, LoadedInputs, RulesCache, key_place, place, value_place};
use super::{BROKEN, Failure, Host, NOTHING, OK, UNREADABLE, output, within_limits};
use ytterby_kubevirt::compat::{self, ReferenceVerdict};
use ytterby_kubevirt::evaluate::{RuleOutcome, Sizing, Status, evaluate, untried};
use ytterby_kubevirt::fields;
use ytterby_kubevirt::objects::{RulesAnnotation, Vm};
use ytterby_kubevirt::rules;
use ytterby_kubevirt::trail::{TrailStep, trail};
use ytterby_kubevirt::value::Value;

pub(super) fn run(args: &KubevirtArgs, host: &dyn Host, stdout: &mut dyn Write) -> Result<i32, Failure> {
    let world = LoadedInputs::load(args, host)?;
    let mut report = ValidationReport::default();
    let mut cache = RulesCache::default();
    // The reference does not look at fields that no rule names.
    let default = if args.compat { FieldValidation::Ignore } else { FieldValidation::Warn };
    let fields = args.field_validation.unwrap_or(default);
    for file in &world.files {
        match &file.objects {
            Err(_) => report.objects.extend(unreadable_file(file)),
            Ok(objects) => {
                for vm in &objects.vms {
                    let _working = file.working_at(vm.offset);
                    report.objects.push(check(vm, file, &world, fields, &mut cache));
                    within_limits()?;
                }
            }
        }
    }
    for file in world.templates.iter().chain(&world.instancetype_files) {
        report.objects.extend(unreadable_file(file));
    }
    if report.objects.is_empty() {
        report.objects.push(nothing(args, &world));
    }
    let _working = world.working_at();
    output::write(&report, args, &world.sources, stdout)?;
    Ok(if report.unreadable() {
        UNREADABLE
    } else if !report.valid() || args.fail_on_warn && report.warns() {
        BROKEN
    } else {
        OK
    })
}

/// The reason for not applying the rules of a template to its own VM.
pub(super) const ABBREVIATED: &str = "its VM has no spec.template to try the rules on";

/// Whether a template contains only the beginning of its VM, as examples do.
pub(super) fn is_abbreviated(vm: &Vm) -> bool {
    vm.template.is_some() && vm.value.at(&["spec", "template"]).is_none()
}

/// The result for a file that cannot be read.
fn unreadable_file(file: &LoadedFile) -> Option<CheckedObject> {
    let problem = file.objects.as_ref().err()?;
    let (line, column) = problem.at.unwrap_or((1, 1));
    let place = Position::unread(file.name.clone(), line, column);
    let shown = if problem.at.is_some() { place.to_string() } else { file.name.clone() };
    let detail = format!("{shown}: {}", problem.message);
    let result = Located::new("unreadable", Status::Error, "The file cannot be read", detail);
    let results = vec![Located { at: Some(place), ..result }];
    Some(CheckedObject { file: file.name.clone(), line, unreadable: true, results, ..CheckedObject::default() })
}

/// The result for input without objects: a wrong folder must not look like success.
fn nothing(args: &KubevirtArgs, world: &LoadedInputs) -> CheckedObject {
    let mut objects = world.files.iter().filter_map(|file| file.objects.as_ref().ok());
    let detail = if objects.any(|objects| !objects.templates.is_empty()) {
        "there is a Template in the input but no VirtualMachine"
    } else {
        NOTHING
    };
    let result = Located::new("nothing-to-check", Status::Warning, "Nothing was checked", detail.to_owned());
    let file = args.files.first().map_or(String::new(), |file| file.clone());
    CheckedObject { file, line: 1, results: vec![result], ..CheckedObject::default() }
}

fn check(
    vm: &Vm,
    file: &LoadedFile,
    world: &LoadedInputs,
    fields: FieldValidation,
    cache: &mut RulesCache,
) -> CheckedObject {
    let mut checked = CheckedObject {
        kind: vm.kind.to_owned(),
        name: vm.name.clone(),
        namespace: vm.namespace.clone(),
        file: file.name.clone(),
        line: file.line(vm.offset),
        ..CheckedObject::default()
    };
    if let Some(problem) = &vm.problem {
        let at = value_place(vm, file, &[]);
        checked.spoil(at, "The template cannot be processed", problem);
        return checked;
    }
    match world.governed(vm, file) {
        Governed::By(annotation, rules_file) => match outcomes(annotation, vm, world, cache) {
            Ok(outcomes) => {
                let located = |outcome| located(outcome, vm, file, annotation, rules_file);
                checked.results = outcomes.into_iter().map(located).collect();
            }
            Err((reason, offset)) => {
                checked.spoil(place(annotation, rules_file, offset), "The rules cannot be read", &reason);
                return checked;
            }
        },
        Governed::Exempt(why) => {
            checked.exempt = Some(why);
            return checked;
        }
        Governed::Unknown(problem) => {
            let result = Located::new("no-template", Status::Warning, "No rules were checked", problem);
            checked.results.push(Located { at: Some(value_place(vm, file, &[])), ..result });
        }
        Governed::Free => {}
    }
    if is_abbreviated(vm) && !world.compat {
        checked.exempt = Some(ABBREVIATED);
    }
    let status = match fields {
        FieldValidation::Ignore => return checked,
        FieldValidation::Warn => Status::Warning,
        FieldValidation::Strict => Status::Violation,
    };
    let problems = fields::problems(&vm.value);
    // Fields that a rule already complains about are not reported again.
    let told = checked.results.iter().filter(|result| result.outcome.status != Status::Ok);
    let told: HashSet<Vec<TrailStep>> = match problems.is_empty() {
        true => HashSet::new(),
        false => told.filter_map(|result| result.outcome.value.clone()).collect(),
    };
    for problem in problems.into_iter().filter(|problem| !told.contains(&problem.keys)) {
        let is_note = problem.may_be_newer && fields == FieldValidation::Warn;
        let status = if is_note { Status::Note } else { status };
        let mut result = Located::new(problem.id, status, problem.title(), problem.detail.clone());
        result.outcome.path = problem.path();
        let place = if problem.id == "wrong-type" { value_place } else { key_place };
        result.at = Some(place(vm, file, &problem.keys));
        checked.results.push(result);
    }
    checked
}

impl CheckedObject {
    /// Sets the only result of an object that cannot be read.
    fn spoil(&mut self, at: Position, message: &str, reason: &str) {
        self.unreadable = true;
        let result = Located::new("unreadable", Status::Error, message, format!("{at}: {reason}"));
        self.results = vec![Located { rule_at: Some(at), ..result }];
    }
}

/// Applies the rules of an annotation to a VM; or returns why they cannot be read, and where.
fn outcomes(
    annotation: &RulesAnnotation,
    vm: &Vm,
    world: &LoadedInputs,
    cache: &mut RulesCache,
) -> Result<Vec<RuleOutcome>, (String, usize)> {
    if let (true, Ok(text)) = (world.compat, annotation.readable()) {
        return compat::parse(text).map(|rules| compat_outcomes(&rules, &world.prepared(vm).0));
    }
    match &*cache.rules(annotation) {
        Ok(rules) if is_abbreviated(vm) => Ok(untried(rules, ABBREVIATED)),
        Ok(rules) => {
            let (value, sizing) = world.prepared(vm);
            let mut outcomes = evaluate(rules, &value, &sizing);
            if vm.template.is_some() && value.at(&["spec", "template"]).is_none() {
                // An abbreviated template, from which no VM can be created, deserves a warning.
                outcomes.iter_mut().for_each(|outcome| outcome.status = Status::Warning);
            }
            Ok(outcomes)
        }
        Err(problem) => {
            let hint = problem.hint().map_or(String::new(), |hint| format!(" ({hint})"));
            Err((problem.message() + &hint, problem.offset()))
        }
    }
}

fn located(
    outcome: RuleOutcome,
    vm: &Vm,
    file: &LoadedFile,
    annotation: &RulesAnnotation,
    rules_file: &LoadedFile,
) -> Located {
    // Finding a position is expensive, so only results that are shown get one.
    let shown = outcome.notable || !matches!(outcome.status, Status::Ok | Status::Skipped);
    Located {
        at: outcome.value.as_ref().filter(|_| shown).map(|keys| value_place(vm, file, keys)),
        rule_at: outcome.offset.filter(|_| shown).map(|offset| place(annotation, rules_file, offset)),
        id: "no-template-spec",
        outcome,
    }
}

fn compat_outcomes(rules: &[compat::ReferenceRule], vm: &Value) -> Vec<RuleOutcome> {
    if !rules.is_empty() && vm.at(&["spec", "template"]).is_none() {
        // The reference crashes here; any rule produces the one error that describes this.
        let any = rules::parse("[{}]").expect("an empty rule can be read");
        return evaluate(&any, vm, &Sizing::Own);
    }
    let outcome = |(report, rule): (compat::RuleReport, &compat::ReferenceRule)| {
        // Rules that cannot be applied are a problem of the VM; failures before that, of the rule.
        let (status, detail, blamed) = match report.verdict {
            ReferenceVerdict::Skipped => (Status::Skipped, String::new(), false),
            ReferenceVerdict::Satisfied(text) => (Status::Ok, text, false),
            ReferenceVerdict::Unsatisfied(text) if report.just_warning => (Status::Warning, text, true),
            ReferenceVerdict::Unsatisfied(text) => (Status::Violation, text, true),
            ReferenceVerdict::Failed(text, stage) => (Status::Error, text, stage == "cannot apply"),
        };
        RuleOutcome {
            rule: report.name,
            status,
            path: report.path,
            message: report.rule_message,
            detail,
            offset: Some(report.offset),
            value: rule.path.as_ref().filter(|_| blamed).map(|path| trail(vm, path, None)),
            notable: false,
        }
    };
    compat::evaluate(rules, vm).into_iter().zip(rules).map(outcome).collect()
}
