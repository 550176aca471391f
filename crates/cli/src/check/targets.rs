//! What is checked: the targets of the project, or the files of the command line.

use std::sync::Arc;

use ytterby::{Failure, InputFile, Options, OutputNode, OutputValue, PlacedValue, ValueFlags, ValuesFile};
use ytterby_check::{Target, ValuesAre};
use ytterby_diag::render::Rendering;
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_project::{Data, FILE_NAME, Placed, ProjectFile, Scalar, Value, is_below, join, select};
use ytterby_yaml::Scalar as YamlScalar;

use crate::flags::Invocation;
use crate::read::{self, Rules, Skip, Stdin, Symlinks, Urls};
use crate::{kubernetes, limits, project, render};

/// What is checked, and what is wrong with the project file.
pub struct Checked {
    pub targets: Vec<Target>,
    pub problems: Vec<Diagnostic>,
}

/// What the command line asks for.
///
/// # Errors
/// Where there is neither a file nor a project, or a target is not known.
pub fn find(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    sources: &Arc<Sources>,
) -> Result<Checked, Failure> {
    if flags.list("file").is_empty() {
        return of_project(program, flags, sources);
    }
    if let Some(extra) = flags.operands.first() {
        let text = format!("Expected no target with -f, but was '{extra}'");
        let help = "targets are those of the project; -f checks files without it";
        return Err(Diagnostic::error(Id::FLAG_OPERAND, text).help(help).into());
    }
    let compat = render::compat(program, flags)?;
    let symlinks = Symlinks {
        allow_all: flags.is_on("dangerous-allow-all-symlink-destinations"),
        allowed: flags.list("allow-symlink-destination").to_vec(),
    };
    let stdin = Stdin::default();
    let mut files = read::list_as(render::rules(compat), flags.list("file"), &symlinks, &stdin)?;
    files.retain(|file| !is_of_project(file));
    let options = render::options(program, flags, rendering, compat, &symlinks, &stdin)?;
    let output_check = kubernetes::output_check(flags, sources)?;
    let target = Target { files, options: Options { output_check, ..options }, values: ValuesAre::Examples };
    Ok(Checked { targets: vec![target], problems: Vec::new() })
}

fn of_project(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<Checked, Failure> {
    let Some((base, root)) = project::find() else {
        let message = format!("there is no {FILE_NAME} in this directory or above it");
        let problem = Diagnostic::error(Id::PROJECT_MISSING, message);
        return Err(problem.help("check files with -f, or write a project file").into());
    };
    let path = join(&base, FILE_NAME);
    let text = std::fs::read(&path).map_err(|error| {
        Failure::new(Id::FILE_MISSING, format!("Reading project file '{path}': {}", read::io_text(&error)))
    })?;
    let (described, mut problems) = ytterby_project::read(&path, Arc::from(text), &root, sources);
    let selected = select(&described, &flags.operands).map_err(|problem| *problem)?;
    // A project without targets is one by itself.
    let selected = if described.targets.is_empty() { vec![&described.base] } else { selected };
    let mut targets = Vec::new();
    for target in selected {
        let mut reader = Reader { project: &described, base: &base, problems: &mut problems };
        let files = reader.files(&target.files);
        let values = reader.values(&target.values);
        let (Some(files), Some(values)) = (files, values) else { continue };
        let placed = target.set.iter();
        let placed = placed.map(|set| PlacedValue { key: set.key.clone(), value: node(&set.value) }).collect();
        let flag = flags.text("kubernetes");
        let version = match (flag, &target.kubernetes) {
            ("off", _) => None,
            ("", version) => version.as_ref().map(|version| version.value.clone()),
            (flag, _) => Some(flag.to_owned()),
        };
        let mut schemas: Vec<String> = target.schemas.iter().map(|path| join(&base, &path.value)).collect();
        schemas.extend(flags.list("kubernetes-schema").iter().cloned());
        let output_check = match version {
            Some(version) => Some(kubernetes::check_of(flags, &version, &schemas, sources)?),
            None => None,
        };
        let options = Options {
            program: program.to_owned(),
            values: ValueFlags { files: values, placed, ..ValueFlags::default() },
            strict_annotations: target.strict_annotations,
            limits: target.limits,
            meter: Some(Arc::new(limits::Process::default())),
            output_check,
            ..Options::default()
        };
        targets.push(Target { files, options, values: ValuesAre::All });
    }
    Ok(Checked { targets, problems })
}

/// Whether a file that was found in a directory is about the project rather than part of it.
fn is_of_project(file: &InputFile) -> bool {
    file.is_implied() && (file.name() == FILE_NAME || file.found_path.split('/').any(|piece| piece == "__snapshots__"))
}

struct Reader<'a> {
    project: &'a ProjectFile,
    base: &'a str,
    problems: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn list(&mut self, path: &Placed<String>, shown: &str) -> Option<Vec<InputFile>> {
        let at = join(self.base, shown);
        let rules = Rules { urls: Urls::MayHoldEquals, skip: Skip::Project(&[]) };
        match read::list_as(rules, &[at], &Symlinks::default(), &Stdin::default()) {
            Ok(files) => Some(files),
            Err(failure) => {
                let message = failure.diagnostics().first().map(|problem| problem.message.plain().into_owned());
                self.problems.push(path.problem(Id::FILE_MISSING, message.unwrap_or_default(), None));
                None
            }
        }
    }

    /// The files behind paths; nothing where one is missing.
    fn files(&mut self, paths: &[Placed<String>]) -> Option<Vec<InputFile>> {
        let mut all = Some(Vec::new());
        for path in paths {
            match (self.list(path, &path.value), &mut all) {
                (Some(files), Some(all)) => {
                    let tests: Vec<String> =
                        self.project.tests.iter().map(|tests| join(self.base, &tests.value)).collect();
                    let is_test = |file: &InputFile| {
                        let place = join("", file.place.as_deref().unwrap_or(&file.path));
                        tests.iter().any(|tests| is_below(&place, tests))
                    };
                    all.extend(files.into_iter().filter(|file| !is_of_project(file) && !is_test(file)));
                }
                _ => all = None,
            }
        }
        all
    }

    fn values(&mut self, paths: &[Placed<String>]) -> Option<Vec<ValuesFile>> {
        let mut all = Some(Vec::new());
        for path in paths {
            let (library, shown) = match path.value.split_once(':') {
                Some((library, rest)) if library.starts_with('@') => (library, rest),
                _ => ("", path.value.as_str()),
            };
            match (self.list(path, shown), &mut all) {
                (Some(files), Some(all)) => {
                    let path = join(self.base, shown);
                    all.push(ValuesFile { library: library.to_owned(), path, files: Ok(files) });
                }
                _ => all = None,
            }
        }
        all
    }
}

fn node(value: &Value) -> OutputNode {
    let content = match &value.value {
        Data::Scalar(leaf) => OutputValue::Scalar(scalar(leaf)),
        Data::List(items) => OutputValue::Array(items.iter().map(node).collect()),
        Data::Map(items) => OutputValue::Map(items.iter().map(|(key, item)| (scalar(key), node(item))).collect()),
    };
    OutputNode { value: content, pos: value.pos }
}

fn scalar(scalar: &Scalar) -> YamlScalar {
    match scalar {
        Scalar::Null => YamlScalar::Null,
        Scalar::Bool(value) => YamlScalar::Bool(*value),
        Scalar::Int(value) => YamlScalar::Int(*value),
        Scalar::UInt(value) => YamlScalar::UInt(*value),
        Scalar::Float(value) => YamlScalar::Float(*value),
        Scalar::Text(text) => YamlScalar::from(text.as_str()),
    }
}
