//! `explain`: says rules in words, with the values that they saw.

use std::io::Write;

use super::args::Args;
use super::validate::{Cache, World, place, prepared, rules_of};
use super::{Failure, Host, OK, UNREADABLE};
use crate::evaluate::evaluate;
use crate::explain::sentences;

pub(super) fn run(
    args: &Args,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = World::load(args, host)?;
    let mut cache = Cache::default();
    let mut code = OK;
    let mut explained = 0;
    for file in &world.files {
        let Some(objects) = file.readable(stderr)? else {
            code = UNREADABLE;
            continue;
        };
        for vm in &objects.vms {
            let Some((annotation, rules_file)) = rules_of(vm, file, &world, stderr)? else { continue };
            let rules = cache.rules(&annotation.text);
            let rules = match &*rules {
                Ok(rules) => rules,
                Err(problem) => {
                    let at = place(annotation, rules_file, problem.offset());
                    writeln!(stderr, "{at}: {}", problem.message())?;
                    code = UNREADABLE;
                    continue;
                }
            };
            let (value, sizing) = prepared(vm, &world);
            let outcomes = evaluate(rules, &value, &sizing);
            for (index, entry) in rules.entries.iter().enumerate() {
                if args.rule.as_ref().is_some_and(|wanted| *wanted != entry.label()) {
                    continue;
                }
                explained += 1;
                let at = place(annotation, rules_file, entry.offset);
                writeln!(stdout, "{} ({at}), on {} {}", entry.label(), vm.kind, vm.name)?;
                for sentence in sentences(entry) {
                    writeln!(stdout, "  {sentence}")?;
                }
                // A VM without a template has one outcome for all rules.
                if let Some(outcome) = outcomes.get(index).or(outcomes.first()) {
                    writeln!(stdout, "  Here: {}: {}", outcome.status.as_str(), outcome.detail)?;
                }
            }
        }
    }
    if let (Some(rule), 0) = (&args.rule, explained) {
        return Err(Failure::Usage(format!("There is no rule {rule} in the input")));
    }
    Ok(code)
}
