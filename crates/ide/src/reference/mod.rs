//! The reference of modules, functions, annotations and rules.
//!
//! Hover, completion and signature help show these entries, and `docs/` is checked against them.
//! Tests compare the names with the engine's tables and run every example. The texts are in files
//! in this directory: `#` begins a module or a type, `##` an entry with its signature. `only:
//! ytterby` marks what ytt does not have, `also:` lists aliases, `on:` the nodes of an annotation,
//! `- name:` describes an argument. Indented lines are an example, `=> ` is its output.

use std::sync::OnceLock;

/// The description of a function, an annotation or a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReferenceEntry {
    /// The name without arguments: `json.encode`, `overlay/match`, `min_len`.
    pub name: String,
    /// The name with its arguments.
    pub signature: String,
    /// The description.
    pub text: String,
    /// Arguments with their descriptions.
    pub arguments: Vec<(String, String)>,
    /// Example code.
    pub example: String,
    /// The output of the example; may be empty.
    pub result: String,
    /// Whether ytt lacks it.
    pub beyond_ytt: bool,
    /// Other names.
    pub aliases: Vec<String>,
    /// The nodes that an annotation applies to.
    pub on: String,
}

/// A module with its members, or a type with its methods.
#[derive(Clone, Debug)]
pub struct ReferenceModule {
    /// `json`.
    pub name: String,
    /// Its purpose.
    pub text: String,
    /// Its functions and values.
    pub members: Vec<ReferenceEntry>,
}

/// All annotations.
pub fn annotations() -> &'static [ReferenceEntry] {
    static ENTRIES: OnceLock<Vec<ReferenceEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| entries(include_str!("annotations.txt")))
}

/// The named rules of validations.
pub fn rules() -> &'static [ReferenceEntry] {
    static ENTRIES: OnceLock<Vec<ReferenceEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| entries(include_str!("rules.txt")))
}

/// The built-in functions.
pub fn builtins() -> &'static [ReferenceEntry] {
    static ENTRIES: OnceLock<Vec<ReferenceEntry>> = OnceLock::new();
    ENTRIES.get_or_init(|| entries(include_str!("builtins.txt")))
}

/// The modules of `@ytt:`.
pub fn modules() -> &'static [ReferenceModule] {
    static MODULES: OnceLock<Vec<ReferenceModule>> = OnceLock::new();
    MODULES.get_or_init(|| groups(include_str!("modules.txt")))
}

/// The built-in types that have methods.
pub fn types() -> &'static [ReferenceModule] {
    static TYPES: OnceLock<Vec<ReferenceModule>> = OnceLock::new();
    TYPES.get_or_init(|| groups(include_str!("methods.txt")))
}

/// Names of formats for the rule `format`.
pub const FORMATS: [&str; 15] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ip",
    "ipv4",
    "ipv6",
    "iso-duration",
    "percent",
    "port",
    "quantity",
    "time",
    "uri",
    "uri-reference",
];

/// The entry of an annotation, by its name or an alias.
pub fn annotation(name: &str) -> Option<&'static ReferenceEntry> {
    find(annotations(), name)
}

/// The entry of a rule.
pub fn rule(name: &str) -> Option<&'static ReferenceEntry> {
    find(rules(), name)
}

/// The entry of a built-in function.
pub fn builtin(name: &str) -> Option<&'static ReferenceEntry> {
    find(builtins(), name)
}

/// A module.
pub fn module(name: &str) -> Option<&'static ReferenceModule> {
    modules().iter().find(|module| module.name == name)
}

/// A member of a module.
pub fn member(module: &str, name: &str) -> Option<&'static ReferenceEntry> {
    let members = &self::module(module)?.members;
    members.iter().find(|entry| entry.own_name() == name)
}

/// A method of a built-in type.
pub fn method(of: &str, name: &str) -> Option<&'static ReferenceEntry> {
    let members = &types().iter().find(|known| known.name == of)?.members;
    members.iter().find(|entry| entry.own_name() == name)
}

fn find(entries: &'static [ReferenceEntry], name: &str) -> Option<&'static ReferenceEntry> {
    entries.iter().find(|entry| entry.name == name || entry.aliases.iter().any(|alias| alias == name))
}

fn groups(text: &str) -> Vec<ReferenceModule> {
    let module = |part: &str| {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let text = rest.split("\n## ").next().unwrap_or_default().trim();
        ReferenceModule { name: name.trim().to_owned(), text: text.to_owned(), members: entries(rest) }
    };
    text.split("\n# ").map(|part| module(part.trim_start_matches("# "))).collect()
}

fn entries(text: &str) -> Vec<ReferenceEntry> {
    let parts = format!("\n{text}");
    parts.split("\n## ").skip(1).map(entry).collect()
}

fn entry(part: &str) -> ReferenceEntry {
    let mut lines = part.lines();
    let signature = lines.next().unwrap_or_default().trim().trim_start_matches('@').to_owned();
    let end = signature.find(['(', ' ', '=']).unwrap_or(signature.len());
    let mut entry = ReferenceEntry {
        name: signature[..end].to_owned(),
        signature,
        text: String::new(),
        arguments: Vec::new(),
        example: String::new(),
        result: String::new(),
        beyond_ytt: false,
        aliases: Vec::new(),
        on: String::new(),
    };
    for line in lines {
        if let Some(example) = line.strip_prefix("    ") {
            entry.example.push_str(example);
            entry.example.push('\n');
        } else if let Some(result) = line.strip_prefix("=> ") {
            entry.result.push_str(result);
            entry.result.push('\n');
        } else if line == "only: ytterby" {
            entry.beyond_ytt = true;
        } else if let Some((name, about)) = line.strip_prefix("- ").and_then(|line| line.split_once(": ")) {
            entry.arguments.push((name.to_owned(), about.to_owned()));
        } else if let Some(names) = line.strip_prefix("also: ") {
            entry.aliases = names.split(", ").map(str::to_owned).collect();
        } else if let Some(on) = line.strip_prefix("on: ") {
            on.clone_into(&mut entry.on);
        } else if line.starts_with('#') {
            break;
        } else if !line.trim().is_empty() {
            if !entry.text.is_empty() {
                entry.text.push(' ');
            }
            entry.text.push_str(line.trim());
        }
    }
    entry
}

impl ReferenceEntry {
    /// The entry as Markdown.
    pub fn markdown(&self, language: &str, prefix: &str) -> String {
        let mut out = format!("```{language}\n{prefix}{}\n```\n\n{}\n", self.signature, self.text);
        for (name, about) in &self.arguments {
            out.push_str(&format!("\n- `{name}`: {about}"));
        }
        if !self.on.is_empty() && self.on != "nothing" {
            out.push_str(&format!("\n\nOn: {}", self.on));
        }
        if self.beyond_ytt {
            out.push_str("\n\nNot in ytt.");
        }
        if !self.example.is_empty() {
            out.push_str(&format!("\n\n```yaml\n{}```\n", self.example));
        }
        if !self.result.is_empty() {
            out.push_str(&format!("\ngives\n\n```yaml\n{}```\n", self.result));
        }
        out
    }

    /// The name without its module or type: `encode`.
    pub fn own_name(&self) -> &str {
        self.name.rsplit_once('.').map_or(&self.name, |(_, own)| own)
    }

    /// The parameters as written in the signature: `[indent=int]`.
    pub fn parameters(&self) -> Vec<String> {
        let Some(open) = self.signature.find('(') else { return Vec::new() };
        let inner = self.signature[open + 1..].strip_suffix(')').unwrap_or(&self.signature[open + 1..]);
        let mut depth = 0;
        // Commas in brackets belong to a parameter: `[(description, function), …]`.
        let is_separator = |c: char| {
            depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            c == ',' && depth == 0
        };
        let pieces = inner.split(is_separator).map(str::trim).filter(|piece| !piece.is_empty());
        pieces.map(str::to_owned).collect()
    }

    /// The names for keyword arguments.
    pub fn keyword_names(&self) -> Vec<String> {
        let from_signature = self.signature.split(['(', ',', ' ', '[']).filter_map(|piece| piece.split_once('='));
        let mut names: Vec<String> = from_signature.map(|(name, _)| name.trim_matches('*').to_owned()).collect();
        for (name, _) in &self.arguments {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names.retain(|name| crate::model::is_identifier(name));
        names
    }
}
