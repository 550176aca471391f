//! The settings in the project file `ytterby.yml` that editors need.
//!
//! They are read from the recovering model, so that an incomplete project file still defines its
//! inputs. Problems of the file are reported by `ytterby-project`, whose tables of keys are also
//! used here.

use ytterby_project::keys::{self, Key};

use crate::TextRange;
use crate::file::{self, File};
use crate::findings::Finding;
use crate::model::{Model, YamlItem, outline};
use crate::project::ProjectSnapshot;

/// Inputs and targets.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Inputs of all targets: paths relative to the project file.
    pub files: Vec<String>,
    /// Values files of all targets.
    pub values: Vec<String>,
    /// Values of all targets: `key=yaml`.
    pub set: Vec<String>,
    /// The version of Kubernetes for checking output.
    pub kubernetes: Option<String>,
    /// Additional schemas for that check.
    pub schemas: Vec<String>,
    /// Directories of tests.
    pub tests: Vec<String>,
    /// Targets in the order of the file.
    pub targets: Vec<TargetConfig>,
}

/// A target.
#[derive(Clone, Debug, Default)]
pub struct TargetConfig {
    /// Its name.
    pub name: String,
    /// Its inputs, in addition to those of all targets.
    pub files: Vec<String>,
    /// Its values files.
    pub values: Vec<String>,
    /// Its values.
    pub set: Vec<String>,
    /// Its own version of Kubernetes, if any.
    pub kubernetes: Option<String>,
}

/// Reads a project file.
pub fn read(file: &File) -> Config {
    let (model, text) = (file.model(), &*file.text);
    let mut config = Config::default();
    for item in model.children(0, None) {
        match model.items[item].key.as_deref() {
            Some("files") => config.files = strings(model, text, item),
            Some("values") => config.values = strings(model, text, item),
            Some("set") => config.set = pairs(model, text, item, ""),
            Some("kubernetes") => config.kubernetes = scalar(model, text, item),
            Some("schemas") => config.schemas = strings(model, text, item),
            Some("tests") => config.tests = strings(model, text, item),
            Some("targets") => {
                config.targets =
                    model.children(0, Some(item)).flat_map(|target| targets(model, text, target)).collect();
            }
            _ => {}
        }
    }
    config
}

/// Maximum combinations of a matrix.
const MAX_COMBINATIONS: usize = 8;

/// A target, or the targets of its matrix.
fn targets(model: &Model, text: &str, item: usize) -> Vec<TargetConfig> {
    let Some(name) = model.items[item].key.clone() else { return Vec::new() };
    let mut target = TargetConfig { name, ..TargetConfig::default() };
    let mut matrix: Vec<(String, Vec<String>)> = Vec::new();
    for child in model.children(0, Some(item)) {
        match model.items[child].key.as_deref() {
            Some("files") => target.files = strings(model, text, child),
            Some("values") => target.values = strings(model, text, child),
            Some("set") => target.set = pairs(model, text, child, ""),
            Some("kubernetes") => target.kubernetes = scalar(model, text, child),
            Some("matrix") => {
                let axes = model.children(0, Some(child));
                matrix = axes
                    .filter_map(|axis| Some((model.items[axis].key.clone()?, strings(model, text, axis))))
                    .filter(|(_, values)| !values.is_empty())
                    .collect();
            }
            _ => {}
        }
    }
    if matrix.is_empty() {
        return vec![target];
    }
    let mut combinations: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for (name, values) in &matrix {
        combinations = combinations
            .iter()
            .flat_map(|chosen| values.iter().map(move |value| [&chosen[..], &[(&name[..], &value[..])]].concat()))
            .take(MAX_COMBINATIONS)
            .collect();
    }
    let made = combinations.into_iter().map(|chosen| {
        let replaced = |texts: &[String]| -> Vec<String> {
            let replace = |text: &String| {
                chosen.iter().fold(text.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
            };
            texts.iter().map(replace).collect()
        };
        let shown: Vec<String> = chosen.iter().map(|(name, value)| format!("{name}={value}")).collect();
        TargetConfig {
            name: format!("{}[{}]", target.name, shown.join(",")),
            files: replaced(&target.files),
            values: replaced(&target.values),
            set: replaced(&target.set),
            kubernetes: target.kubernetes.clone(),
        }
    });
    made.collect()
}

fn scalar(model: &Model, text: &str, item: usize) -> Option<String> {
    let value = model.items[item].value.of(text);
    (!value.is_empty()).then(|| outline::unquoted(value))
}

/// A list of strings, or one string.
fn strings(model: &Model, text: &str, item: usize) -> Vec<String> {
    let items: Vec<String> = model
        .children(model.items[item].document, Some(item))
        .filter(|child| model.items[*child].is_array_item)
        .filter_map(|child| scalar(model, text, child))
        .collect();
    if !items.is_empty() || model.items[item].value.of(text).starts_with('[') {
        return items;
    }
    scalar(model, text, item).into_iter().collect()
}

/// Keys and values; those of nested maps have dotted keys.
fn pairs(model: &Model, text: &str, item: usize, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for child in model.children(model.items[item].document, Some(item)) {
        let YamlItem { key: Some(key), value, .. } = &model.items[child] else { continue };
        let key = format!("{prefix}{key}");
        match value.of(text) {
            "" => found.extend(pairs(model, text, child, &format!("{key}."))),
            value => found.push(format!("{key}={value}")),
        }
    }
    found
}

/// The keys allowed at a path of the project file: those at the top, of a target or of limits.
pub fn keys_at(path: &[Option<&str>]) -> &'static [Key] {
    match path {
        [] => keys::PROJECT,
        [Some("targets"), Some(_)] => keys::TARGET,
        [Some("limits")] | [Some("targets"), Some(_), Some("limits")] => keys::LIMITS,
        _ => &[],
    }
}

/// The key of the project file at a path.
pub fn about(path: &[Option<&str>]) -> Option<&'static Key> {
    let (last, above) = path.split_last()?;
    keys_at(above).iter().find(|key| Some(key.name) == *last)
}

/// Reports paths of files and values files that do not exist.
pub fn missing_files(project: &ProjectSnapshot, file: &File) -> Vec<Finding> {
    let model = file.model();
    let mut found = Vec::new();
    for (index, item) in model.items.iter().enumerate() {
        let value = item.value.of(&file.text);
        let path = model.path(index);
        let names_file = match &path[..] {
            [Some("files" | "values"), rest @ ..] => rest.len() <= 1,
            [Some("targets"), Some(_), Some("files" | "values"), rest @ ..] => rest.len() <= 1,
            _ => false,
        };
        // `{region}` is a placeholder for values of a matrix.
        let is_plain = !value.is_empty() && !value.contains('{') && !value.starts_with(['[', '|', '>', '*', '&']);
        if !names_file || !is_plain {
            continue;
        }
        let name = outline::unquoted(value);
        let is_elsewhere = name.contains("://") || name == "-" || name.contains('=');
        let place = file::join(&project.root, &name);
        let is_there = project
            .files
            .iter()
            .any(|known| known.file.path == place || file::below(&known.file.path, &place).is_some());
        if is_elsewhere || is_there || project.system.stamp(&place).is_some() || !project.system.list(&place).is_empty()
        {
            continue;
        }
        let message = format!("there is no file or directory {name}");
        found.push(Finding::error(&file.path, item.value, "file/missing", message));
    }
    found
}

/// The key and value in `set:` of a target, or of all targets, that set a data value.
pub fn set_place(file: &File, target: &str, steps: &[&str]) -> Option<(TextRange, TextRange)> {
    let model = file.model();
    let named = |parent: Option<usize>, key: &str| {
        model.children(0, parent).find(|item| model.items[*item].key.as_deref() == Some(key))
    };
    let of_target = named(None, "targets").and_then(|targets| named(Some(targets), target));
    let sets = [of_target.and_then(|target| named(Some(target), "set")), named(None, "set")];
    let find = |set: usize| {
        let (mut at, mut rest) = (set, steps);
        while !rest.is_empty() {
            // A key may be dotted: `db.host`.
            let next = model.children(0, Some(at)).find_map(|item| {
                let key = model.items[item].key.as_deref()?;
                let parts = key.split('.').count();
                (parts <= rest.len() && key.split('.').eq(rest[..parts].iter().copied())).then_some((item, parts))
            });
            let Some((item, parts)) = next else { break };
            (at, rest) = (item, &rest[parts..]);
        }
        let item = &model.items[at];
        (at != set).then_some((item.key_range, if item.value.is_empty() { item.key_range } else { item.value }))
    };
    sets.into_iter().flatten().find_map(find)
}

/// The range of a target's name.
pub fn target_range(file: &File, name: &str) -> Option<TextRange> {
    let model = file.model();
    let targets = model.children(0, None).find(|item| model.items[*item].key.as_deref() == Some("targets"))?;
    let target = model.children(0, Some(targets)).find(|item| model.items[*item].key.as_deref() == Some(name))?;
    Some(model.items[target].key_range)
}
