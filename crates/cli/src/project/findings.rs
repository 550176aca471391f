//! Collects the findings of several renders and merges equal ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ytterby_diag::render::{Rendering, Report, render};
use ytterby_diag::{Diagnostic, Failure, Severity, Sources};

use super::series;

/// Maximum number of targets named in a finding.
const MAX_NAMES: usize = 5;

/// Problems and warnings of several renders.
#[derive(Debug, Default)]
pub struct Findings {
    failures: Vec<(usize, Failure, Arc<Sources>)>,
    warnings: Vec<(usize, Diagnostic, Arc<Sources>)>,
    /// The targets' names by the numbers in failures and warnings.
    names: HashMap<usize, String>,
}

impl Findings {
    /// Adds the failure of a target. Its positions are resolved in `layer`.
    pub fn fail(&mut self, number: usize, name: &str, failure: Failure, layer: &Arc<Sources>) {
        self.names.insert(number, name.to_owned());
        self.failures.push((number, failure, Arc::clone(layer)));
    }

    /// Adds warnings of a target.
    pub fn warn(&mut self, number: usize, name: &str, warnings: &[Diagnostic], layer: &Arc<Sources>) {
        if !warnings.is_empty() {
            self.names.insert(number, name.to_owned());
            self.warnings.extend(warnings.iter().map(|warning| (number, warning.clone(), Arc::clone(layer))));
        }
    }

    /// Whether nothing failed.
    pub fn is_good(&self) -> bool {
        self.failures.is_empty()
    }

    /// The whole report, in the order of the targets. Equal findings are reported once; if there
    /// are several targets, each finding names those that have it. Sources of renders are added to
    /// `sources`.
    pub fn report(mut self, program: &str, sources: &Arc<Sources>, rendering: Rendering) -> String {
        self.failures.sort_by_key(|(number, ..)| *number);
        self.warnings.sort_by_key(|(number, ..)| *number);
        match rendering {
            Rendering::Text => self.text(program),
            _ => self.entries(program, sources, rendering),
        }
    }

    /// In ytt's text format, which has no list of problems, each failure is reported separately.
    fn text(self, program: &str) -> String {
        let mut seen = HashSet::new();
        let mut out = String::new();
        for (_, warning, layer) in self.warnings {
            if seen.insert(key(&warning, &layer)) {
                let warnings = std::slice::from_ref(&warning);
                out.push_str(&render(&Report::new(program, None, warnings, &layer), Rendering::Text));
            }
        }
        for (number, failure, layer) in self.failures {
            let Some(failure) = failure.retain(&mut |one| seen.insert(key(one, &layer))) else { continue };
            let failure = match self.names.get(&number).filter(|name| !name.is_empty()) {
                Some(name) => failure.doing(format!("Target {name}")),
                None => failure,
            };
            out.push_str(&render(&Report::new(program, Some(&failure), &[], &layer), Rendering::Text));
        }
        out
    }

    fn entries(self, program: &str, sources: &Arc<Sources>, rendering: Rendering) -> String {
        let all = self.all(sources);
        let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            all.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
        let failure = (!errors.is_empty()).then(|| series(errors));
        render(&Report::new(program, failure.as_ref(), &warnings, sources), rendering)
    }

    /// All findings, warnings first, with positions in `sources`.
    pub fn all(self, sources: &Arc<Sources>) -> Vec<Diagnostic> {
        let mut found: Vec<(Diagnostic, Vec<usize>)> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let failures = self.failures.iter();
        let errors = failures.flat_map(|(number, failure, layer)| {
            failure.diagnostics().into_iter().map(|one| (*number, one, Arc::clone(layer)))
        });
        for (number, diagnostic, layer) in self.warnings.iter().cloned().chain(errors) {
            let at = *seen.entry(key(&diagnostic, &layer)).or_insert_with(|| {
                found.push((moved(diagnostic, &layer, sources), Vec::new()));
                found.len() - 1
            });
            if found[at].1.last() != Some(&number) {
                found[at].1.push(number);
            }
        }
        let names = &self.names;
        let noted = |(diagnostic, numbers): (Diagnostic, Vec<usize>)| {
            let names: Vec<&str> = numbers.iter().filter_map(|number| names.get(number)).map(|name| &**name).collect();
            match in_targets(&names) {
                Some(note) => diagnostic.note(note),
                None => diagnostic,
            }
        };
        found.into_iter().map(noted).collect()
    }
}

/// Moves the positions of a diagnostic from a layer to the sources below it.
fn moved(diagnostic: Diagnostic, layer: &Arc<Sources>, sources: &Arc<Sources>) -> Diagnostic {
    if Arc::ptr_eq(layer, sources) {
        return diagnostic;
    }
    let place = sources.absorb(layer);
    diagnostic.relocate(layer, &place)
}

/// Example: `in target dev`, `in targets dev, prod and 3 more`.
fn in_targets(names: &[&str]) -> Option<String> {
    let names: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    match names.len() {
        0 => None,
        1 => Some(format!("in target {}", names[0])),
        count if count > MAX_NAMES => {
            Some(format!("in targets {} and {} more", names[..MAX_NAMES].join(", "), count - MAX_NAMES))
        }
        _ => Some(format!("in targets {}", names.join(", "))),
    }
}

/// The identity of a finding: everything that a program would read.
fn key(diagnostic: &Diagnostic, sources: &Sources) -> String {
    match diagnostic.severity {
        Severity::Error => {
            let failure = Failure::from(diagnostic.clone());
            render(&Report::new("", Some(&failure), &[], sources), Rendering::Json)
        }
        _ => render(&Report::new("", None, std::slice::from_ref(diagnostic), sources), Rendering::Json),
    }
}
