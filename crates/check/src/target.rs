//! Checks one target: by running it, and by analysing its files.
//!
//! A run stops at the first template with an error. It is therefore repeated without the failing
//! templates, up to a limit, to find the problems of the others. The analysis of a file depends on
//! that file alone and is cached.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use ytterby::facts::{OverlayRecord, SchemaFacts, compile_files, marked_files, schema_facts};
use ytterby::{Failure, InputFile, Options, Silent, render};
use ytterby_diag::{Diagnostic, FileId, Id, Pos, Sources, limits};
use ytterby_text::Str;
use ytterby_text::budget::{self, BudgetGuard, Exceeded};
use ytterby_yaml::{ReadOptions, Tree, parse};

use crate::declared::{self, TrackedValues};
use crate::flow::{self, LibraryReads, UnknownRead};
use crate::lints;
use crate::lints::given::Given;
use crate::project::{CheckedProject, has_code, project};
use crate::{Cache, CheckTarget, ValuesAre, effect};

/// Maximum templates that are left out one by one to find errors in others.
const TRIES: usize = 10;

/// The findings of a target.
#[derive(Default)]
pub(crate) struct TargetFindings {
    pub findings: Vec<Diagnostic>,
    /// The sources of the target.
    pub files: HashSet<FileId>,
    /// Overlay items, and whether they had an effect.
    pub overlays: Vec<(Pos, bool)>,
    /// Whether the run failed, so that not all overlays were applied.
    pub failed: bool,
}

/// The extent of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Only what can be found without running code.
    Static,
    /// Everything.
    Full,
}

/// Checks a target. All of its runs and lints have one budget.
pub(crate) fn check(target: &CheckTarget, depth: Depth, sources: &Arc<Sources>, cache: &mut Cache) -> TargetFindings {
    let mut report = TargetFindings::default();
    let _budget = begin(target);
    let read = budget::catch(|| examine(target, depth, &mut report, sources, cache));
    // Looks at the clock: runs inside may have reached the end.
    match read.and_then(|examined| budget::work(UNITS).map(|()| examined)) {
        // Experiments use what is left, and only that.
        Ok(Some(examined)) => {
            let _ = budget::catch(|| experiment(target, &examined, &mut report, sources));
        }
        Ok(None) => {}
        Err(exceeded) => report.exceeded(exceeded, sources),
    }
    report
}

/// Units of work after which the clock is read in any case.
pub(crate) const UNITS: usize = 1 << 16;

/// Opens the budget of a target.
pub(crate) fn begin(target: &CheckTarget) -> BudgetGuard {
    let options = &target.options;
    let guard = budget::begin(options.limits, options.cancellation.clone(), options.meter.clone());
    for file in &target.files {
        budget::input(file.content.read().map_or(0, |text| text.len()));
    }
    guard
}

/// What is known of a target that ran, for experiments.
struct Examined {
    files: Vec<InputFile>,
    options: Options,
    table: TrackedValues,
    flow: LibraryReads,
}

/// Runs a target and analyses its files. Returns what experiments need, if they make sense.
fn examine(
    target: &CheckTarget,
    depth: Depth,
    report: &mut TargetFindings,
    sources: &Arc<Sources>,
    cache: &mut Cache,
) -> Option<Examined> {
    let files = match marked_files(target.files.clone(), &target.options) {
        Ok(files) => files,
        Err(failure) => {
            report.take(&failure);
            report.failed = true;
            return None;
        }
    };
    let options = Options {
        look_for_slips: true,
        all_errors: true,
        file_marks: Vec::new(),
        inspect: None,
        ..target.options.clone()
    };
    let project = project(&files, sources, cache);
    report.files = project.files.iter().map(|file| file.source).collect();
    let known: Vec<InputFile> =
        project.files.iter().filter(|file| file.library.is_some()).map(|file| file.input.clone()).collect();
    let compiled = compile_files(&known, &options, sources);
    let mut broken: HashSet<String> = HashSet::new();
    for (path, failure) in &compiled.failures {
        report.take(failure);
        broken.insert(path.clone());
    }
    report.findings.extend(compiled.warnings);
    report.failed = !broken.is_empty();
    if depth == Depth::Full {
        report.run(&files, &options, &broken, sources);
    }
    let table = report.read(&project, &options, sources, cache);
    let (table, flow) = table.filter(|_| depth == Depth::Full && !report.failed)?;
    Some(Examined { files, options, table, flow })
}

fn experiment(target: &CheckTarget, examined: &Examined, report: &mut TargetFindings, sources: &Arc<Sources>) {
    let Examined { files, options, table, flow } = examined;
    let mut experiment = effect::Experiment::new(files, options);
    effect::check(&mut experiment, table, flow, &report.overlays, &mut report.findings);
    if target.values == ValuesAre::Examples {
        effect::check_overlays(&mut experiment, table, &mut report.overlays, sources);
    }
}

impl TargetFindings {
    /// Reports a limit, unless the run has reported it with its place.
    pub(crate) fn exceeded(&mut self, exceeded: Exceeded, sources: &Sources) {
        self.failed = true;
        let is_known = self.findings.iter().any(|finding| finding.id.limit() == exceeded.limit());
        if exceeded != Exceeded::Cancelled && !is_known {
            self.take(&limits::explained(exceeded.into(), sources));
        }
    }

    fn take(&mut self, failure: &Failure) {
        self.findings.extend(failure.diagnostics().iter().cloned());
        self.findings.extend(failure.warnings().iter().cloned());
    }

    /// Runs the target, and again without failing templates, to find the problems of the others.
    fn run(&mut self, files: &[InputFile], options: &Options, broken: &HashSet<String>, sources: &Arc<Sources>) {
        let record = Arc::new(OverlayRecord::default());
        let options = Options { overlay_record: Some(record.clone()), ..options.clone() };
        let mut left_out = HashSet::new();
        for _ in 0..TRIES {
            let inputs: Vec<InputFile> = files.iter().filter(|file| !left_out.contains(&file.path)).cloned().collect();
            match render(inputs, &options, sources, Rc::new(Silent)) {
                Ok(rendered) => {
                    if left_out.is_empty() {
                        self.findings.extend(rendered.warnings);
                    }
                    break;
                }
                Err(failure) => {
                    self.failed = true;
                    // With templates missing, overlays and checks of output may fail because of
                    // that.
                    let is_sure = |finding: &&Diagnostic| {
                        let group = finding.id.name().split('/').next().unwrap_or_default();
                        left_out.is_empty() || matches!(group, "code" | "schema" | "values" | "rule" | "yaml")
                    };
                    self.findings.extend(failure.diagnostics().iter().filter(is_sure).cloned());
                    if left_out.is_empty() {
                        self.findings.extend(failure.warnings().iter().cloned());
                    }
                    let is_template = |path: &String| {
                        files.iter().any(|file| file.path == *path && file.is_for_output() && !file.is_library())
                    };
                    let mut culprits: Vec<String> = culprits(&failure, sources);
                    culprits.extend(broken.iter().cloned());
                    culprits.retain(|path| is_template(path) && !left_out.contains(path));
                    if culprits.is_empty() {
                        break;
                    }
                    left_out.extend(culprits);
                }
            }
        }
        self.overlays = record.items();
    }

    /// Analyses the files. Returns the declarations of the root library, and the data flow of its
    /// code.
    fn read(
        &mut self,
        project: &CheckedProject,
        options: &Options,
        sources: &Arc<Sources>,
        cache: &mut Cache,
    ) -> Option<(TrackedValues, LibraryReads)> {
        let mut schemas: Vec<Option<SchemaFacts>> = Vec::new();
        for library in 0..project.libraries.len() {
            let files = if library == 0 { rooted_all(project) } else { project.rooted(library) };
            schemas.push(schema_facts(&files, options, &[], sources).ok().flatten());
        }
        let mut tables: Vec<Option<TrackedValues>> = Vec::new();
        let has_defaults = |tree: &Tree| {
            let mut comments = tree.all_comments().iter();
            comments.any(|comment| starts_with_name(&comment.text, "@schema/validation-defaults-for-strings"))
        };
        let rules_have_defaults =
            project.files.iter().any(|file| file.facts.code.tree.as_ref().is_some_and(has_defaults));
        let extends = schemas.iter().flatten().any(|schema| schema.extends_libraries);
        for schema in schemas {
            tables.push(schema.map(|mut schema| {
                let empty = ytterby::facts::DeclaredValue {
                    key: String::new(),
                    pos: Pos::UNKNOWN,
                    shape: ytterby::facts::DeclaredShape::Any,
                    nullable: false,
                    optional: false,
                    required: false,
                    secret: false,
                    deprecated: false,
                    default: ytterby::facts::PlainData::Map(Vec::new()),
                };
                let table = declared::table(std::mem::replace(&mut schema.root, empty));
                lints::schema::check(&schema, rules_have_defaults, &mut self.findings);
                lints::schema::defaults(&schema, &table, &mut self.findings);
                table
            }));
        }
        let members: Vec<Vec<usize>> = (0..project.libraries.len()).map(|library| project.members(library)).collect();
        let flows: Vec<LibraryReads> = members
            .iter()
            .enumerate()
            .map(|(library, members)| flow::follow(project, members, tables[library].as_ref()))
            .collect();
        self.values(project, &members, &tables, &flows, extends);
        let used = lints::files::used(project, &flows);
        lints::files::check(project, &flows, &used, &mut self.findings);
        let loaded = lints::names::loaded(project);
        for (number, file) in project.files.iter().enumerate() {
            let _working = budget::working_at(file.source.0, 0);
            if file.library.is_some() && has_code(&file.input) {
                lints::names::check(project, number, &loaded, used.contains(&number), &mut self.findings);
                lints::branches::check(file, &mut self.findings);
                let declares = gives_values(file.facts.code.tree.as_ref());
                lints::annotations::check(file, declares, &mut self.findings);
            }
        }
        for (library, table) in tables.iter().enumerate() {
            if let Some(table) = table {
                self.given(project, library, table, options, sources, cache);
            }
        }
        Some((tables.into_iter().next()??, flows.into_iter().next()?))
    }

    /// Reports undeclared values and unused values.
    fn values(
        &mut self,
        project: &CheckedProject,
        members: &[Vec<usize>],
        tables: &[Option<TrackedValues>],
        flows: &[LibraryReads],
        extends: bool,
    ) {
        let extends = extends || flows.iter().any(|flow| flow.extends_libraries);
        for (library, flow) in flows.iter().enumerate() {
            let Some(table) = &tables[library] else { continue };
            if flow.gave_up {
                continue;
            }
            let place = |read: &UnknownRead| (read.file, read.pos);
            let unknown: Vec<HashSet<(usize, Pos)>> =
                flows.iter().map(|flow| flow.unknown.iter().map(place).collect()).collect();
            for read in &flow.unknown {
                budget::or_unwind(budget::work(flows.len()));
                // A file that several libraries use is only wrong if it is wrong for all of them.
                let is_wrong =
                    |other: usize| unknown[other].contains(&place(read)) || !members[other].contains(&read.file);
                if (0..flows.len()).all(is_wrong) && !(extends && library > 0) {
                    self.findings.push(lints::values::unknown(project, table, read));
                }
            }
            let renders = project.files.iter().any(|file| {
                file.library == Some(library)
                    && file.input.is_for_output()
                    && !gives_values(file.facts.code.tree.as_ref())
            });
            if renders && !project.has_broken_files() {
                let words = lints::values::words_of_rules(project, library);
                lints::values::unused(table, flow, &words, &mut self.findings);
            }
        }
    }

    /// The documents and files that set data values of a library.
    fn given(
        &mut self,
        project: &CheckedProject,
        library: usize,
        table: &TrackedValues,
        options: &Options,
        sources: &Arc<Sources>,
        cache: &mut Cache,
    ) {
        let mut given = Vec::new();
        for file in project.files.iter().filter(|file| file.library == Some(library)) {
            let Some(tree) = &file.facts.code.tree else { continue };
            let is_values = |comment: &ytterby_yaml::Comment| starts_with_name(&comment.text, "@data/values");
            let is_templated =
                tree.all_comments().iter().any(|comment| comment.text.starts_with(b"@") && !is_values(comment));
            for doc in tree.documents().iter().filter(|doc| tree.comments(*doc).iter().any(is_values)) {
                let is_foreign =
                    tree.comments(doc).iter().any(|comment| starts_with_name(&comment.text, "@library/ref"));
                if is_foreign {
                    continue;
                }
                given.push(Given { tree, root: doc.value, source: file.source, text: &file.facts.text, is_templated });
            }
        }
        let values: Vec<(Tree, FileId, Str)> = match library {
            0 => options
                .values
                .files
                .iter()
                .filter(|values| values.library.is_empty())
                .flat_map(|values| values.files.iter().flatten())
                .filter_map(|file| {
                    let text = file.content.read().ok()?;
                    let source = cache.source(sources, ytterby::facts::source_of(file).ok()?);
                    let _working = budget::working_at(source.0, 0);
                    let tree = parse(&text, source, &ReadOptions { comments: true, ..ReadOptions::default() }).ok()?;
                    Some((tree, source, text))
                })
                .collect(),
            _ => Vec::new(),
        };
        self.files.extend(values.iter().map(|(_, source, _)| *source));
        for (tree, source, text) in &values {
            for doc in tree.documents() {
                given.push(Given { tree, root: doc.value, source: *source, text, is_templated: false });
            }
        }
        lints::given::check(table, &given, sources, &mut self.findings);
    }
}

fn starts_with_name(text: &ytterby_text::Str, name: &str) -> bool {
    text.as_str()
        .is_some_and(|text| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Whether the documents of a file are schemas or data values.
fn gives_values(tree: Option<&Tree>) -> bool {
    const NAMES: [&str; 5] = ["@data/values", "@data/values-schema", "@schema/definition", "@schema/match", "@schema"];
    tree.is_some_and(|tree| {
        tree.all_comments().iter().any(|comment| NAMES.iter().any(|name| starts_with_name(&comment.text, name)))
    })
}

/// All files, including those of private libraries.
fn rooted_all(project: &CheckedProject) -> Vec<InputFile> {
    project.files.iter().map(|file| file.input.clone()).collect()
}

/// The templates that caused a failure.
fn culprits(failure: &Failure, sources: &Sources) -> Vec<String> {
    let name = |pos: Pos| sources.get(pos.file).map(|source| source.name().to_owned());
    let mut found = Vec::new();
    for finding in failure.diagnostics() {
        if !matches!(finding.id.name().split('/').next(), Some("code" | "yaml")) {
            continue;
        }
        let outermost = finding.frames.last().and_then(|frame| name(frame.place));
        found.extend(outermost);
        found.extend(finding.primary().and_then(|label| name(label.pos)));
    }
    found
}

/// Whether a finding is about what only a run can know.
pub(crate) fn is_lint(id: Id) -> bool {
    id.name().starts_with("lint/")
}

/// Whether an overlay had an effect in some target, by position.
pub(crate) fn overlays(reports: &[TargetFindings]) -> HashMap<(FileId, u32), bool> {
    let mut found: HashMap<(FileId, u32), bool> = HashMap::new();
    for (pos, has_effect) in reports.iter().flat_map(|report| &report.overlays) {
        *found.entry((pos.file, pos.offset)).or_default() |= has_effect;
    }
    found
}
