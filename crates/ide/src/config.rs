//! What the server needs to know of the project file `ytterby.yml`.
//!
//! It is read from the recovering model, so that a project file that is being edited still names its inputs.

use ytterby_text::spelling;

use crate::TextRange;
use crate::file::File;
use crate::findings::{Finding, Fix, TextEdit};
use crate::model::{Item, Model, outline};

/// Inputs and targets.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Inputs of all targets: paths relative to the project file.
    pub files: Vec<String>,
    /// Values files of all targets.
    pub values: Vec<String>,
    /// Values of all targets: `key=yaml`.
    pub set: Vec<String>,
    /// The version of Kubernetes that output is checked against.
    pub kubernetes: Option<String>,
    /// More schemas for that.
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
    /// Its inputs beside those of all.
    pub files: Vec<String>,
    /// Its values files.
    pub values: Vec<String>,
    /// Its values.
    pub set: Vec<String>,
    /// The version of Kubernetes, where it has its own.
    pub kubernetes: Option<String>,
}

/// A key of the project file: name, what it is, whether targets have it, too.
pub struct ConfigKey {
    /// The key.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// Whether it can be given at the top.
    pub at_top: bool,
    /// Whether targets have it.
    pub in_target: bool,
}

const fn key(name: &'static str, about: &'static str, at_top: bool, in_target: bool) -> ConfigKey {
    ConfigKey { name, about, at_top, in_target }
}

/// All keys.
pub const KEYS: &[ConfigKey] = &[
    key("files", "Input files and directories, as with `-f`; relative to the project file.", true, true),
    key("values", "Values files, as with `--data-values-file`.", true, true),
    key("set", "Data values by key; keys may be dotted.", true, true),
    key("output", "The directory that the output replaces; without it, standard output.", true, true),
    key("strict-annotations", "Whether unknown and misplaced annotations are errors.", true, true),
    key("matrix", "Lists of values: the target is built for every combination.", true, true),
    key("kubernetes", "The version of Kubernetes that the output is checked against.", true, true),
    key("schemas", "More schemas for the check of Kubernetes: CRDs, OpenAPI documents.", true, true),
    key("targets", "What `ytterby build` builds, by name. A target extends the keys at the top.", true, false),
    key("tests", "Directories with files `*_test.yml` for `ytterby test`.", true, false),
    key("limits", "Limits on `time`, `memory`, `steps`, `output` and `depth`.", true, true),
];

/// The keys of `limits:`.
pub const LIMITS: &[&str] = &["time", "memory", "steps", "output", "depth"];

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

/// Combinations of a matrix that are looked at.
const MAX_COMBINATIONS: usize = 8;

/// A target, or those that its matrix makes of it.
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

/// Keys and values, those of nested maps with dotted keys.
fn pairs(model: &Model, text: &str, item: usize, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for child in model.children(model.items[item].document, Some(item)) {
        let Item { key: Some(key), value, .. } = &model.items[child] else { continue };
        let key = format!("{prefix}{key}");
        match value.of(text) {
            "" => found.extend(pairs(model, text, child, &format!("{key}."))),
            value => found.push(format!("{key}={value}")),
        }
    }
    found
}

/// Keys that the project file cannot have, with what was probably meant.
pub fn findings(file: &File) -> Vec<Finding> {
    let model = file.model();
    let mut found = Vec::new();
    let mut check = |item: usize, known: Vec<&'static str>| {
        let Item { key: Some(key), key_range, .. } = &model.items[item] else { return };
        if known.contains(&key.as_str()) || key == "<<" {
            return;
        }
        let meant = spelling::closest(key, known.iter().copied(), spelling::tolerance(key));
        let advice = match meant {
            Some(meant) => format!("; did you mean {meant}?"),
            None => format!("; keys are {}", known.join(", ")),
        };
        let mut finding =
            Finding::error(&file.path, *key_range, "project/unknown-key", format!("unknown key {key:?}{advice}"));
        finding.fixes.extend(meant.map(|meant| Fix {
            title: format!("Change {key:?} to {meant:?}"),
            edits: vec![TextEdit::new(&file.path, *key_range, meant)],
            is_preferred: true,
        }));
        found.push(finding);
    };
    for item in model.children(0, None) {
        check(item, KEYS.iter().filter(|key| key.at_top).map(|key| key.name).collect());
        match model.items[item].key.as_deref() {
            Some("targets") => {
                for target in model.children(0, Some(item)) {
                    for child in model.children(0, Some(target)) {
                        check(child, KEYS.iter().filter(|key| key.in_target).map(|key| key.name).collect());
                    }
                }
            }
            Some("limits") => model.children(0, Some(item)).for_each(|child| check(child, LIMITS.to_vec())),
            _ => {}
        }
    }
    found
}

/// The keys that fit at a place of the project file: those at the top, of a target or of limits.
pub fn keys_at(path: &[Option<&str>]) -> Vec<&'static ConfigKey> {
    let keys = KEYS.iter();
    match path {
        [] => keys.filter(|key| key.at_top).collect(),
        [Some("targets"), Some(_)] => keys.filter(|key| key.in_target).collect(),
        _ => Vec::new(),
    }
}

/// The key of the project file at a range, for messages.
pub fn about(path: &[Option<&str>]) -> Option<&'static ConfigKey> {
    let name = match path {
        [Some(name)] => name,
        [Some("targets"), Some(_), Some(name)] => name,
        _ => return None,
    };
    KEYS.iter().find(|key| key.name == *name)
}

/// Where a target is named.
pub fn target_range(file: &File, name: &str) -> Option<TextRange> {
    let model = file.model();
    let targets = model.children(0, None).find(|item| model.items[*item].key.as_deref() == Some("targets"))?;
    let target = model.children(0, Some(targets)).find(|item| model.items[*item].key.as_deref() == Some(name))?;
    Some(model.items[target].key_range)
}
