//! `explain`: describes rules in words, with the values that they are applied to.

use std::io::Write;

use super::args::KubevirtArgs;
use super::output::plain;
use super::validate::{ABBREVIATED, is_abbreviated};
use super::world::{Governed, LoadedInputs, RulesCache, place};
use super::{BROKEN, Failure, Host, OK, UNREADABLE, usage};
use ytterby_diag::Id;
use ytterby_kubevirt::evaluate::{evaluate, untried};
use ytterby_kubevirt::explain::sentences;

pub(super) fn run(
    args: &KubevirtArgs,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = LoadedInputs::load(args, host)?;
    let mut cache = RulesCache::default();
    let mut code = OK;
    let mut explained = 0;
    for file in &world.files {
        let Some(objects) = file.readable(stderr)? else {
            code = UNREADABLE;
            continue;
        };
        for vm in &objects.vms {
            let _working = file.working_at(vm.offset);
            let (annotation, rules_file) = match world.governed(vm, file) {
                Governed::By(annotation, rules_file) => (annotation, rules_file),
                Governed::Exempt(why) => {
                    writeln!(stderr, "{}: {}: no rules: {why}", file.name, vm.name)?;
                    continue;
                }
                Governed::Unknown(problem) => {
                    writeln!(stderr, "{}: {}: no rules: {problem}", file.name, vm.name)?;
                    continue;
                }
                Governed::Free => continue,
            };
            let rules = cache.rules(annotation);
            let rules = match &*rules {
                Ok(rules) => rules,
                Err(problem) => {
                    let at = place(annotation, rules_file, problem.offset());
                    writeln!(stderr, "{at}: {}", problem.message())?;
                    code = UNREADABLE;
                    continue;
                }
            };
            let (value, sizing) = world.prepared(vm);
            let outcomes = match is_abbreviated(vm) {
                true => untried(rules, ABBREVIATED),
                false => evaluate(rules, &value, &sizing),
            };
            for (index, entry) in rules.entries.iter().enumerate() {
                if args.rule.as_ref().is_some_and(|wanted| *wanted != entry.label()) {
                    continue;
                }
                explained += 1;
                let at = place(annotation, rules_file, entry.offset);
                let head = format!("{} ({at}), on {} {}", entry.label(), vm.kind, vm.name);
                writeln!(stdout, "{}", plain(&head))?;
                for sentence in sentences(entry) {
                    writeln!(stdout, "  {}", plain(&sentence))?;
                }
                // A VM without a template has one outcome for all rules.
                if let Some(outcome) = outcomes.get(index).or(outcomes.first()) {
                    writeln!(stdout, "  Here: {}: {}", outcome.status.as_str(), plain(&outcome.detail))?;
                }
            }
        }
    }
    if let (Some(rule), 0) = (&args.rule, explained) {
        return Err(usage(Id::FLAG_VALUE, format!("There is no rule {rule} in the input")));
    }
    if explained == 0 && code == OK {
        writeln!(stderr, "There are no rules in the input")?;
        code = BROKEN;
    }
    Ok(code)
}
