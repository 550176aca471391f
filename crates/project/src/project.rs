//! The project file: `ytterby.yml`.
//!
//! `read` returns all problems together with what could be read, so that editors and commands can
//! go on. Keys for all targets are read first and form the base of each target; `matrix` expands
//! each target into its combinations.

use ytterby_diag::{Diagnostic, FileId, Id, Part, Pos, Sources};
use ytterby_text::Str;
use ytterby_text::budget::{parse_size, parse_time};
use ytterby_yaml::{Scalar as YamlScalar, View};

use crate::keys::{self, KeyKind};
use crate::limits::{self, Limits};
use crate::matrix::{self, Choice};
use crate::outputs;
use crate::reader::{Ids, PlacedNode, Reader};
use crate::value::{Placed, PlacedData, problem};

/// The name of project files.
pub const FILE_NAME: &str = "ytterby.yml";

/// A project, as its file describes it. Paths are relative to the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ProjectFile {
    /// Its source; `None` if it could not be parsed.
    pub file: Option<FileId>,
    /// The settings for every target, and for tests without one.
    pub base: Target,
    /// The targets in the order of the file; each combination of a matrix is a target.
    pub targets: Vec<Target>,
    /// Test files and directories.
    pub tests: Vec<Placed<String>>,
}

/// Something to render: the keys of a target merged with those for all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Target {
    /// Its name: `prod`, or `all[region=eu,tier=a]` for one combination of a matrix.
    pub name: String,
    /// The name in the file: `all`.
    pub group: String,
    /// The choices of its combination, in the order of the matrix.
    pub choices: Vec<(String, String)>,
    /// The position of its key in the file.
    pub pos: Option<Pos>,
    /// Input files and directories.
    pub files: Vec<Placed<String>>,
    /// Values files.
    pub values: Vec<Placed<String>>,
    /// Data values, which take precedence over values files.
    pub set: Vec<SetValue>,
    /// The directory for its output.
    pub output: Option<Placed<String>>,
    /// Whether suspicious annotations are errors.
    pub strict_annotations: bool,
    /// The version of Kubernetes for checking output; `None` for `off`.
    pub kubernetes: Option<Placed<String>>,
    /// Additional schemas for that check.
    pub schemas: Vec<Placed<String>>,
    /// Resource limits.
    pub limits: Limits,
}

/// A data value: a dotted key and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct SetValue {
    /// The key as written: `db.port`, or `@lib:db.port` for a library.
    pub key: String,
    /// The value. Its position is that of the item.
    pub value: PlacedData,
}

/// A target before its matrix is expanded.
#[derive(Default)]
pub(crate) struct DeclaredTarget {
    pub target: Target,
    pub matrix: Vec<(String, Vec<Choice>)>,
}

const IDS: Ids =
    Ids { unknown_key: Id::PROJECT_UNKNOWN_KEY, wrong_type: Id::PROJECT_TYPE, wrong_value: Id::PROJECT_VALUE };

/// Reads a project file. Its text becomes a source named `name`; `root` is its directory, if known,
/// which is needed to recognise absolute paths into the project.
///
/// The valid parts are returned even if there are problems.
///
/// ```
/// use ytterby_diag::Sources;
/// let text = b"files: [config]\ntargets: {dev: {output: out}}\n";
/// let (project, problems) = ytterby_project::read("ytterby.yml", (*text).into(), "", &Sources::new());
/// assert!(problems.is_empty());
/// assert_eq!(project.targets[0].name, "dev");
/// ```
pub fn read(name: &str, text: Str, root: &str, sources: &Sources) -> (ProjectFile, Vec<Diagnostic>) {
    let mut reader = match Reader::new(name, text, IDS, sources) {
        Ok(reader) => reader,
        Err(error) => return (ProjectFile::default(), vec![*error]),
    };
    let mut project = ProjectFile { file: Some(reader.tree.file()), ..ProjectFile::default() };
    let mut targets = None;
    if let Some(root) = reader.root() {
        for (key, item) in reader.table(root, "the project file", keys::PROJECT) {
            match key.name {
                "targets" => targets = Some(item),
                "tests" => project.tests = reader.texts(item, "tests"),
                name => common(&mut reader, &mut project.base, name, item),
            }
        }
    }
    for (name, item) in targets.map(|item| reader.map(item, "targets")).unwrap_or_default() {
        if let Some(declared) = target(&mut reader, &project.base, name, item) {
            matrix::expand(&mut reader, declared, &mut project.targets);
        }
    }
    let mut problems = reader.problems;
    problems.extend(outputs::check(&project, root));
    (project, problems)
}

/// Reads the keys shared by targets and the whole project. Lists are appended; the last `set` of a
/// key wins.
fn common(reader: &mut Reader, target: &mut Target, name: &str, item: PlacedNode) {
    match name {
        "files" => target.files.extend(reader.texts(item, name)),
        "values" => target.values.extend(reader.texts(item, name)),
        "schemas" => target.schemas.extend(reader.texts(item, name)),
        "set" => target.set.extend(set(reader, item)),
        "strict-annotations" => {
            if let Some(strict) = reader.bool(item, name) {
                target.strict_annotations = strict;
            }
        }
        "kubernetes" => target.kubernetes = version(reader, item),
        "limits" => target.limits = limits::or(limits_of(reader, item), target.limits),
        _ => {}
    }
}

fn target(reader: &mut Reader, base: &Target, name: String, item: PlacedNode) -> Option<DeclaredTarget> {
    let is_wrong = |c: char| c.is_whitespace() || c.is_control() || "[]{},=/".contains(c);
    if name.is_empty() || name.starts_with('-') || name.contains(is_wrong) {
        let message = format!("\"{name}\" cannot be the name of a target");
        let hint = Some("use letters, digits, dots, dashes and underscores".to_owned());
        reader.report(problem(Id::PROJECT_VALUE, message, item.pos, Part::Key, hint));
        return None;
    }
    let target = Target { name: name.clone(), group: name.clone(), pos: Some(item.pos), ..base.clone() };
    let mut declared = DeclaredTarget { target, ..DeclaredTarget::default() };
    for (key, item) in reader.table(item, &format!("target {name}"), keys::TARGET) {
        match key.name {
            "output" => declared.target.output = reader.text(item, "output"),
            "matrix" => declared.matrix = matrix::read(reader, item),
            name => common(reader, &mut declared.target, name, item),
        }
    }
    Some(declared)
}

/// Reads a map of data values with dotted keys.
pub(crate) fn set(reader: &mut Reader, item: PlacedNode) -> Vec<SetValue> {
    let items = reader.map(item, "set");
    let mut found = Vec::with_capacity(items.len());
    for (key, item) in items {
        let library = key.strip_prefix('@').and_then(|rest| rest.split_once(':'));
        let path = library.map_or(&*key, |(_, path)| path);
        if path.split('.').any(str::is_empty) {
            let message = format!("\"{key}\" is not the path of a data value");
            let hint = Some("write keys with single dots between them: db.port".to_owned());
            reader.report(problem(reader.ids.wrong_value, message, item.pos, Part::Key, hint));
        } else if let Some(value) = reader.value(item, "set") {
            found.push(SetValue { key, value });
        }
    }
    found
}

/// Reads a version such as `1.36`, with or without quotes; `None` for `off`.
fn version(reader: &mut Reader, item: PlacedNode) -> Option<Placed<String>> {
    let text = match reader.tree.value(item.node) {
        View::Scalar(YamlScalar::Bool(false)) => return None,
        View::Scalar(YamlScalar::Str(text)) if text.as_bytes() == b"off" => return None,
        View::Scalar(YamlScalar::Str(_) | YamlScalar::Float(_) | YamlScalar::Int(_)) => reader.text_of(item.node),
        _ => {
            reader.wrong_type(item, "a version for kubernetes, such as \"1.36\"", None);
            return None;
        }
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut pieces = text.strip_prefix('v').unwrap_or(&text).splitn(3, '.');
    let is_version = pieces.next() == Some("1") && pieces.next().is_some_and(is_number) && pieces.all(is_number);
    if !is_version {
        let hint = Some("versions are written as \"1.36\"; off switches the check off".to_owned());
        reader.wrong_value(item.pos, format!("\"{text}\" is not a version of Kubernetes"), hint);
        return None;
    }
    Some(Placed::new(text, item.pos))
}

fn limits_of(reader: &mut Reader, item: PlacedNode) -> Limits {
    let mut found = Limits::default();
    for (key, item) in reader.table(item, "limits", keys::LIMITS) {
        match key.kind {
            KeyKind::Duration => found.time = quantity(reader, item, key.name, "30s", parse_time),
            KeyKind::Size => {
                let size = quantity(reader, item, key.name, "2GiB", parse_size);
                *(if key.name == "memory" { &mut found.memory } else { &mut found.output }) = size;
            }
            _ => {
                let count = reader.count(item, key.name);
                match key.name {
                    "steps" => found.steps = count,
                    _ => found.depth = count.and_then(|depth| usize::try_from(depth).ok()),
                }
            }
        }
    }
    found
}

/// Reads a duration or a size.
fn quantity<T>(
    reader: &mut Reader,
    item: PlacedNode,
    name: &str,
    example: &str,
    read: fn(&str) -> Option<T>,
) -> Option<T> {
    let text = match reader.tree.value(item.node) {
        View::Scalar(YamlScalar::Str(_) | YamlScalar::Int(_) | YamlScalar::UInt(_) | YamlScalar::Float(_)) => {
            reader.text_of(item.node)
        }
        _ => {
            reader.wrong_type(item, &format!("a value such as {example} for {name}"), None);
            return None;
        }
    };
    let value = read(&text);
    if value.is_none() {
        let hint = Some(format!("write a number and its unit: {example}"));
        reader.wrong_value(item.pos, format!("\"{text}\" is not a limit for {name}"), hint);
    }
    value
}
