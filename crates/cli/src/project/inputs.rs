//! Turns the paths of targets and tests into input files.
//!
//! Each path is listed and read once, even if several targets name it. A path that does not exist
//! is reported at the line that names it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ytterby::{Failure, InputFile, OutputCheck, ValuesFile};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{Limits, Placed, ProjectFile, SetValue, Target, join};
use ytterby_text::spelling;

use super::engine::{CompiledFiles, RenderJob};
use crate::commands::flag;
use crate::flags::Invocation;
use crate::kubernetes;
use crate::limits;
use crate::read::{self, InputOptions, Skip, Stdin, Symlinks, Urls};

/// The files of all paths, each listed once.
pub struct Inputs<'a> {
    /// The flags of the command: flags about Kubernetes take precedence over the project.
    flags: &'a Invocation,
    /// Output directories of the project, as absolute paths.
    outputs: Vec<String>,
    known: Mutex<HashMap<Vec<String>, Listed>>,
    compiled: Mutex<HashMap<CompiledKey, Arc<CompiledFiles>>>,
    checks: Mutex<HashMap<CheckKey, CheckResult>>,
    rendering: Rendering,
    sources: Arc<Sources>,
}

/// Paths, and whether suspicious annotations are errors.
type CompiledKey = (Vec<String>, bool);

/// A version of Kubernetes and additional schemas.
type CheckKey = (String, Vec<String>);

type CheckResult = Result<Arc<dyn OutputCheck>, Failure>;

type Listed = Result<Arc<Vec<InputFile>>, Failure>;

impl<'a> Inputs<'a> {
    /// Inputs of a project in the directory `root`.
    pub fn new(
        project: &ProjectFile,
        root: &str,
        flags: &'a Invocation,
        rendering: Rendering,
        sources: &Arc<Sources>,
    ) -> Inputs<'a> {
        Inputs {
            flags,
            outputs: super::outputs(project, root),
            known: Mutex::default(),
            compiled: Mutex::default(),
            checks: Mutex::default(),
            rendering,
            sources: Arc::clone(sources),
        }
    }

    /// The job for a target whose paths are relative to `base`.
    ///
    /// # Errors
    /// If paths do not exist or the check of the output is wrong.
    pub fn job(&self, target: &Target, base: &str, form: ytterby::OutputForm) -> Result<RenderJob, Vec<Diagnostic>> {
        self.job_with(target, base, &Additions::default(), form)
    }

    /// The job for a target with the additions of a test.
    ///
    /// # Errors
    /// If paths do not exist or the check of the output is wrong.
    pub fn job_with(
        &self,
        target: &Target,
        base: &str,
        more: &Additions<'_>,
        form: ytterby::OutputForm,
    ) -> Result<RenderJob, Vec<Diagnostic>> {
        let with = |base: &str, paths: &[Placed<String>]| -> Vec<(String, Placed<String>)> {
            paths.iter().map(|path| (base.to_owned(), path.clone())).collect()
        };
        let files = [with(base, &target.files), with(more.base, more.files)].concat();
        let values = [with(base, &target.values), with(more.base, more.values)].concat();
        let strict = target.strict_annotations;
        let (compiled, values) = self.files_and_values(&files, &values, strict)?;
        let schemas = target.schemas.iter().filter(|path| is_missing(&join_location(base, &path.value)));
        let absent: Vec<Diagnostic> = schemas.map(|path| does_not_exist(path, base)).collect();
        if !absent.is_empty() {
            return Err(absent);
        }
        let set = target.set.iter().chain(more.set).cloned().collect();
        Ok(RenderJob {
            compiled,
            values,
            set,
            limits: self.limits(target.limits),
            check: self.check(target, base)?,
            form,
        })
    }

    /// The files and values files at these paths, each with the directory that it is relative to.
    ///
    /// # Errors
    /// If paths do not exist.
    fn files_and_values(
        &self,
        files: &[(String, Placed<String>)],
        values: &[(String, Placed<String>)],
        strict: bool,
    ) -> Result<(Arc<CompiledFiles>, Vec<ValuesFile>), Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let paths: Vec<String> = files.iter().map(|(base, path)| argument(base, &path.value)).collect();
        let listed = self.list(&paths).or_else(|_| {
            // List each path alone to find the one that fails.
            for ((base, path), argument) in files.iter().zip(&paths) {
                if let Err(failure) = self.list(std::slice::from_ref(argument)) {
                    problems.push(missing(path, base, &failure));
                }
            }
            if problems.is_empty() { self.list(&paths) } else { Ok(Arc::default()) }
        });
        let mut found = Vec::with_capacity(values.len());
        for (base, path) in values {
            let (library, rest) = match path.value.split_once(':') {
                Some((library, rest)) if library.starts_with('@') => (library, rest),
                _ => ("", &*path.value),
            };
            let argument = argument(base, rest);
            match self.list(std::slice::from_ref(&argument)) {
                Ok(files) => {
                    let files = Ok((*files).clone());
                    found.push(ValuesFile { library: library.to_owned(), path: argument, files });
                }
                Err(failure) => problems.push(missing(path, base, &failure)),
            }
        }
        match listed {
            Ok(files) if problems.is_empty() => {
                let compiled = self.compile(paths, &files, strict).map_err(|failure| failure.diagnostics())?;
                Ok((compiled, found))
            }
            Ok(_) => Err(problems),
            Err(failure) => Err(failure.diagnostics()),
        }
    }

    /// Compiles the files, once for all targets that have the same.
    fn compile(&self, paths: Vec<String>, files: &[InputFile], strict: bool) -> Result<Arc<CompiledFiles>, Failure> {
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (paths, strict);
        if let Some(compiled) = known.get(&key) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Arc::new(CompiledFiles::new(files.to_vec(), strict, self.rendering, &self.sources)?);
        known.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    fn list(&self, paths: &[String]) -> Listed {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = known.get(paths) {
            return listed.clone();
        }
        let rules = InputOptions { urls: Urls::MayHoldEquals, skip: Skip::Project(&self.outputs) };
        let listed = read::list_as(rules, paths, &Symlinks::default(), &Stdin::default()).map(Arc::new);
        known.insert(paths.to_vec(), listed.clone());
        listed
    }

    /// The check of a target's output.
    fn check(&self, target: &Target, base: &str) -> Result<Option<Arc<dyn OutputCheck>>, Vec<Diagnostic>> {
        let flag = self.flags.text(&flag::KUBERNETES_VERSION);
        let version = match (flag, &target.kubernetes) {
            ("off", _) | ("", None) => return Ok(None),
            ("", Some(version)) => version.value.clone(),
            (flag, _) => flag.to_owned(),
        };
        let mut schemas: Vec<String> = target.schemas.iter().map(|path| join_location(base, &path.value)).collect();
        schemas.extend(self.flags.list(&flag::KUBERNETES_SCHEMA).iter().cloned());
        let key = (version.clone(), schemas.clone());
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || kubernetes::check_of(self.flags, &version, &schemas, &self.sources);
        let check = checks.entry(key).or_insert_with(make).clone();
        check.map(Some).map_err(|failure| {
            // A wrong flag is not a problem of the project file.
            let mut problems = failure.diagnostics();
            let is_version = problems.first().is_some_and(|problem| problem.id == Id::FLAG_VALUE);
            let place = match is_version {
                true => target.kubernetes.as_ref().filter(|_| flag.is_empty()),
                false => target.schemas.first(),
            };
            if let (Some(place), [problem]) = (place, &mut problems[..])
                && problem.labels.is_empty()
            {
                let message = problem.message.plain().into_owned();
                let id = if is_version { Id::PROJECT_VALUE } else { problem.id };
                *problem = place.problem(id, message, None);
            }
            problems
        })
    }

    /// The limits of a target; those of the flags take precedence.
    fn limits(&self, own: Limits) -> Limits {
        let given = limits::of_flags(self.flags).unwrap_or_default();
        Limits {
            time: given.time.or(own.time),
            memory: given.memory.or(own.memory),
            steps: given.steps.or(own.steps),
            output: given.output.or(own.output),
            depth: given.depth.or(own.depth),
        }
    }
}

impl Inputs<'_> {
    /// The rules of the schemas of everything rendered so far: the path of a field, and the rule's
    /// requirement.
    pub fn rules(&self) -> BTreeSet<(String, String)> {
        let known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().flat_map(|compiled| compiled.rules()).collect()
    }
}

/// The inputs that a test adds to a target. Paths are relative to `base`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions<'a> {
    /// The directory of the test file.
    pub base: &'a str,
    /// Input files.
    pub files: &'a [Placed<String>],
    /// Values files.
    pub values: &'a [Placed<String>],
    /// Data values.
    pub set: &'a [SetValue],
}

/// The argument that `-f` needs for a path relative to `base`.
pub fn argument(base: &str, path: &str) -> String {
    match path.split_once('=') {
        Some((name, path)) if !is_url(name) => format!("{name}={}", join_location(base, path)),
        _ => join_location(base, path),
    }
}

fn join_location(base: &str, path: &str) -> String {
    if is_url(path) || path == "-" { path.to_owned() } else { join(base, path) }
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// A path that cannot be listed, reported at the line that names it.
fn missing(path: &Placed<String>, base: &str, failure: &Failure) -> Diagnostic {
    let place = join_location(base, path.value.split_once('=').map_or(&*path.value, |(_, path)| path));
    if is_url(&place) || fs::symlink_metadata(&place).is_ok() {
        return path.problem(Id::FILE_MISSING, failure.to_string(), None);
    }
    does_not_exist(path, base)
}

/// Whether a path does not exist. Path templates (`{{ .Group }}`) and URLs are not checked.
fn is_missing(place: &str) -> bool {
    !is_url(place) && !place.contains('{') && fs::symlink_metadata(place).is_err()
}

fn does_not_exist(path: &Placed<String>, base: &str) -> Diagnostic {
    let place = join_location(base, path.value.split_once('=').map_or(&*path.value, |(_, path)| path));
    let hint = neighbour(&place).unwrap_or_else(|| "paths are relative to the file that names them".to_owned());
    path.problem(Id::FILE_MISSING, format!("{place} does not exist"), Some(hint))
}

/// A file with a similar name in the same directory.
fn neighbour(path: &str) -> Option<String> {
    let path = Path::new(path);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name()?.to_str()?;
    let entries = fs::read_dir(parent).ok()?.take(1000);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let near = spelling::closest(name, names.iter().map(String::as_str), spelling::tolerance(name).max(2))?;
    Some(format!("did you mean {}?", parent.join(near).display().to_string().trim_start_matches("./")))
}
