//! One run of the engine: compiles the changed files of a target from memory, and renders.
//!
//! Files in an editor are broken most of the time. A run replaces a file that does not compile by
//! its last version that did, or omits it, so that the other files still get findings; what results
//! only from a replacement is not reported.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use ytterby::{Content, InputFile, Inspect, Options, OutputCheck, Rendered, Silent, ValueFlags, ValuesFile};
use ytterby_diag::{Failure, Sources};

use super::finding::finding;
use super::{
    CompiledProject, Engine, MAX_COMPILED, RecordedOutput, Variant, entries, is_about_values, stops_compiling,
};
use crate::file::{self, File};
use crate::findings::{Finding, Severity};
use crate::model::ModelKind;
use crate::project::{FileRole, ProjectSnapshot, SnapshotFile};

/// A run of the engine with replacements for files that do not compile.
pub(super) struct PartialRun<'a> {
    project: &'a ProjectSnapshot,
    engine: &'a Engine,
    variant: &'a Variant,
    /// Files with their replacements; `None` omits the file.
    replaced: HashMap<String, Option<Arc<File>>>,
    pub(super) without_values: bool,
}

impl<'a> PartialRun<'a> {
    pub(super) fn new(project: &'a ProjectSnapshot, engine: &'a Engine, variant: &'a Variant) -> PartialRun<'a> {
        PartialRun { project, engine, variant, replaced: HashMap::new(), without_values: false }
    }

    /// Renders; returns whether that failed, and the findings.
    pub(super) fn findings(&self, inspect: Option<Inspect>) -> (bool, Vec<Finding>) {
        let (result, sources) = self.render(inspect, None);
        let (diagnostics, is_failed) = match &result {
            Ok(rendered) => (rendered.warnings.clone(), false),
            Err(failure) => (entries(failure), true),
        };
        let found = diagnostics.iter().filter_map(|entry| finding(self.project, self.variant, entry, &sources));
        (is_failed, found.collect())
    }

    /// Replaces files that are known not to compile, and returns their findings.
    pub(super) fn replace_known(&mut self) -> Vec<Finding> {
        let cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.broken.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for file in self.project.files.iter().filter(|file| file.target.is_none() || file.target == self.variant.number)
        {
            let path = &file.file.path;
            if let Some((version, findings)) = cache.broken.get(path)
                && Arc::ptr_eq(version, &file.file)
                && !self.replaced.contains_key(path)
            {
                found.extend(findings.iter().cloned());
                self.replaced.insert(path.clone(), self.project.good.get(path).cloned());
            }
        }
        found
    }

    /// Replaces files that do not compile by older versions, or omits them. Returns whether that
    /// changes anything.
    pub(super) fn replace(&mut self, found: &[Finding]) -> bool {
        let broken = found.iter().filter(|finding| stops_compiling(&finding.code));
        let broken: HashSet<&str> = broken.map(|finding| finding.path.as_str()).collect();
        let mut is_changed = false;
        for path in broken {
            let next = match self.replaced.get(path) {
                None => {
                    self.note_broken(path, found);
                    self.project.good.get(path).cloned()
                }
                Some(Some(_)) => None,
                Some(None) => continue,
            };
            self.replaced.insert(path.to_owned(), next);
            is_changed = true;
        }
        is_changed
    }

    /// The problems of files that do not compile: a run stops at the first, and does not look at
    /// libraries that it does not reach. Files that are known to compile are not compiled again.
    pub(super) fn broken(&self) -> Vec<Finding> {
        let path_of = |file: &SnapshotFile| file.file.path.clone();
        let unknown: Vec<&SnapshotFile> = {
            let cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let is_sound = |file: &SnapshotFile| {
                cache.sound.get(&file.file.path).is_some_and(|known| Arc::ptr_eq(known, &file.file))
            };
            self.inputs().filter(|file| !self.replaced.contains_key(&file.file.path) && !is_sound(file)).collect()
        };
        let inputs: Vec<InputFile> = unknown.iter().filter_map(|file| self.input(file)).collect();
        let options = Options {
            limits: self.engine.limits(),
            meter: self.engine.meter.clone(),
            cancellation: Some(self.engine.cancellation.clone()),
            ..settings()
        };
        let sources = Arc::new(Sources::new());
        let compiled = ytterby::facts::compile_files(&inputs, &options, &sources);
        let problems = compiled.failures.iter().flat_map(|(_, failure)| entries(failure));
        let found = problems.filter_map(|entry| finding(self.project, self.variant, &entry, &sources));
        let found: Vec<Finding> = found.filter(|finding| stops_compiling(&finding.code)).collect();
        if !self.engine.cancellation.is_cancelled() {
            let broken: HashSet<&str> = found.iter().map(|finding| finding.path.as_str()).collect();
            let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let sound = unknown.iter().filter(|file| !broken.contains(file.file.path.as_str()));
            cache.sound.extend(sound.map(|file| (path_of(file), file.file.clone())));
        }
        found
    }

    /// Caches the findings that prevent a file from being compiled, but not those that only a run
    /// can find.
    fn note_broken(&self, path: &str, found: &[Finding]) {
        let Some(file) = self.project.file(path) else { return };
        let is_lasting = |finding: &&Finding| {
            finding.path == path
                && matches!(finding.code.as_str(), "yaml/syntax" | "code/syntax" | "code/block" | "code/undefined")
        };
        let lasting: Vec<Finding> = found.iter().filter(is_lasting).cloned().collect();
        if lasting.is_empty() {
            return;
        }
        let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.broken.len() > 1000 {
            cache.broken.clear();
        }
        cache.broken.insert(path.to_owned(), (file.clone(), lasting));
    }

    /// Whether a finding is about the file's current text, not a consequence of a replacement.
    pub(super) fn is_to_tell(&self, finding: &Finding) -> bool {
        let is_replaced_now = self.replaced.get(&finding.path);
        let is_first_word = stops_compiling(&finding.code) && finding.severity == Severity::Error;
        let is_consequence = !self.replaced.is_empty() && matches!(finding.code.as_str(), "file/missing" | "code/load")
            || self.without_values && is_about_values(&finding.code);
        match is_replaced_now {
            Some(_) => is_first_word && self.is_current(finding),
            None => !is_consequence,
        }
    }

    /// Whether a finding came from a file's current text: the first replacement is made right after
    /// it.
    fn is_current(&self, finding: &Finding) -> bool {
        let length = self.project.file(&finding.path).map_or(0, |file| file.text.len());
        finding.range.end <= length
            && !matches!(self.replaced.get(&finding.path), Some(None) if self.had_good(&finding.path))
    }

    fn had_good(&self, path: &str) -> bool {
        self.project.good.contains_key(path)
    }

    pub(super) fn render(
        &self,
        inspect: Option<Inspect>,
        seen: Option<Arc<RecordedOutput>>,
    ) -> (Result<Rendered, Failure>, Arc<Sources>) {
        let check: Option<Arc<dyn OutputCheck>> = match (seen, &self.variant.kubernetes) {
            (Some(seen), _) => Some(seen),
            (None, Some(version)) if version != "off" && inspect.is_none() => self.kubernetes_check(version),
            _ => None,
        };
        let options = Options {
            values: self.values(),
            inspect,
            all_errors: true,
            limits: self.engine.limits(),
            meter: self.engine.meter.clone(),
            cancellation: Some(self.engine.cancellation.clone()),
            output_check: check,
            ..settings()
        };
        let project = match self.compiled() {
            Ok(project) => project,
            Err(error) => return (Err(error.failure().clone()), error.sources().clone()),
        };
        match project.renderer().run(&options, Rc::new(Silent)) {
            Ok((rendered, sources)) => (Ok(rendered), sources),
            Err(error) => (Err(error.failure().clone()), error.sources().clone()),
        }
    }

    fn kubernetes_check(&self, version: &str) -> Option<Arc<dyn OutputCheck>> {
        let make = self.engine.kubernetes.as_ref()?;
        let schemas = self.project.config.as_ref().map(|config| &config.schemas[..]).unwrap_or_default();
        let schemas: Vec<String> = schemas.iter().map(|path| file::join(&self.project.root, path)).collect();
        let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (version.to_owned(), schemas);
        if let Some(check) = cache.checks.get(&key).filter(|_| key.1.is_empty()) {
            return check.clone();
        }
        let check = make(version, &key.1, &Arc::new(Sources::new()));
        cache.checks.insert(key, check.clone());
        check
    }

    /// The files of the variant.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &'a SnapshotFile> + use<'a> {
        let number = self.variant.number;
        let belongs = move |file: &&SnapshotFile| {
            file.role == FileRole::Input && (file.target.is_none() || file.target == number)
        };
        self.project.files.iter().filter(belongs)
    }

    /// The compiled files of the variant. Only changed files are compiled again.
    fn compiled(&self) -> Result<ytterby::Project, ytterby::ProjectError> {
        let inputs: Vec<(&SnapshotFile, Arc<File>)> =
            self.inputs().filter_map(|file| Some((file, self.version(file)?.clone()))).collect();
        let others = self.other_inputs();
        let builder = ytterby::Project::builder().options(settings());
        if !others.is_empty() {
            // Files that code reads from disk at run time may have changed.
            let inputs = inputs.iter().filter_map(|(file, _)| self.input(file));
            return builder.inputs(inputs).inputs(others).build();
        }
        let mut cache = self.engine.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let is_like = |known: &CompiledProject| {
            known.files.len() == inputs.len()
                && known.files.iter().zip(&inputs).all(|((path, known), (file, new))| {
                    *path == file.logical && known.path == new.path && known.kind() == new.kind()
                })
        };
        let mut compiled = match cache.compiled.iter().position(is_like) {
            Some(at) => cache.compiled.remove(at),
            None => {
                let project = builder.inputs(inputs.iter().filter_map(|(file, _)| self.input(file))).build()?;
                let files = inputs.iter().map(|(file, version)| (file.logical.clone(), version.clone())).collect();
                CompiledProject { files, project }
            }
        };
        for ((_, known), (file, new)) in compiled.files.iter_mut().zip(&inputs) {
            if !Arc::ptr_eq(known, new)
                && let Some(input) = self.input(file)
            {
                compiled.project = compiled.project.with_file(input);
                *known = new.clone();
            }
        }
        let project = compiled.project.clone();
        cache.compiled.insert(0, compiled);
        cache.compiled.truncate(MAX_COMPILED);
        Ok(project)
    }

    /// The version of a file in this run; `None` if it is omitted.
    fn version<'f>(&'f self, file: &'f SnapshotFile) -> Option<&'f Arc<File>> {
        match self.replaced.get(&file.file.path) {
            Some(replacement) => replacement.as_ref(),
            None => Some(&file.file),
        }
    }

    pub(super) fn input(&self, file: &SnapshotFile) -> Option<InputFile> {
        let current = self.version(file)?;
        let mut input = InputFile::new(file.logical.clone(), Content::new(current.text.as_bytes()));
        input.place = Some(file.file.path.clone());
        if file.file.kind() == ModelKind::Text && ModelKind::of(&file.file.path) != ModelKind::Text {
            input.marked_kind = Some(ytterby::FileKind::Text);
            input.marked_template = Some(true);
        }
        Some(input)
    }

    /// Inputs for `data.read` only; they are read lazily.
    pub(super) fn other_inputs(&self) -> Vec<InputFile> {
        let asks = |file: &SnapshotFile| file.file.text.contains("data.read") || file.file.text.contains("data.list");
        if !self.project.files.iter().any(asks) {
            return Vec::new();
        }
        let bases: Vec<String> = match &self.project.config {
            Some(config) => config.files.iter().map(|path| file::join(&self.project.root, path)).collect(),
            None => vec![self.project.root.clone()],
        };
        let mut found = Vec::new();
        for base in bases {
            self.other_below(&base, &base, 0, &mut found);
        }
        found
    }

    fn other_below(&self, base: &str, directory: &str, depth: usize, found: &mut Vec<InputFile>) {
        for entry in self.project.system.list(directory) {
            let path = file::join(directory, &entry.name);
            if entry.name.starts_with('.') || depth > 16 || found.len() > 10_000 {
                continue;
            }
            if entry.is_directory {
                self.other_below(base, &path, depth + 1, found);
            } else if ModelKind::of(&path) == ModelKind::Other && self.project.index(&path).is_none() {
                let (system, place) = (self.project.system.clone(), path.clone());
                let read = move || {
                    let bytes = system.read(&place).ok_or_else(|| Content::unreadable(format!("Reading {place}")))?;
                    Ok(bytes.into())
                };
                let logical = file::below(&path, base).unwrap_or(&path).to_owned();
                let mut input = InputFile::new(logical, Content::later(read));
                input.place = Some(path);
                found.push(input);
            }
        }
    }

    pub(super) fn values(&self) -> ValueFlags {
        if self.without_values {
            return ValueFlags { yaml: self.variant.set.clone(), ..ValueFlags::default() };
        }
        let belongs = |file: &&SnapshotFile| {
            file.role == FileRole::Values && (file.target.is_none() || file.target == self.variant.number)
        };
        let loose = self.variant.loose.map(|index| &self.project.files[index]);
        // A single values file is checked without those of targets.
        let own: Vec<&SnapshotFile> = match loose {
            Some(file) => vec![file],
            None => self.project.files.iter().filter(belongs).collect(),
        };
        let of = |file: &&SnapshotFile| {
            let input = InputFile { path: file.file.path.clone(), ..self.input(file)? };
            Some(ValuesFile { library: String::new(), path: file.file.path.clone(), files: Ok(vec![input]) })
        };
        ValueFlags {
            files: own.iter().filter_map(of).collect(),
            yaml: self.variant.set.clone(),
            ..ValueFlags::default()
        }
    }
}

/// The settings of all runs.
pub(super) fn settings() -> Options {
    Options { program: "ytterby".to_owned(), look_for_slips: true, ..Options::default() }
}
