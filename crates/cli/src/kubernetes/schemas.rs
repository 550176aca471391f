//! `--kubernetes-schema`: loads schemas, and looks up those of single kinds when a document needs
//! them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use ytterby_text::{Str, budget};

use ytterby::InputFile;
use ytterby_diag::{Diagnostic, Failure, Id, Source, Sources};
use ytterby_kubernetes::{AddedSchema, Catalog, CheckOptions, Gvk, Node, documents, expand, is_template, layouts};
use ytterby_yaml::{ReadOptions, parse};

use crate::read::{self, Stdin, Symlinks};

/// A catalog, and the locations for looking up further schemas.
#[derive(Clone, Debug)]
pub(super) struct Schemas {
    pub catalog: Catalog,
    templates: Vec<String>,
    asked: HashSet<String>,
}

/// Reads all locations given by `--kubernetes-schema`.
pub(super) fn load(locations: &[String], options: CheckOptions, sources: &Arc<Sources>) -> Result<Schemas, Failure> {
    let mut schemas = Schemas { catalog: Catalog::new(options), templates: Vec::new(), asked: HashSet::new() };
    for location in locations {
        if is_template(location) {
            schemas.templates.push(location.clone());
            continue;
        }
        let is_directory = Path::new(location).is_dir();
        if is_directory {
            schemas.templates.extend(layouts(location));
        }
        for file in list(location)? {
            // JSON Schemas of single kinds are parsed on demand: there can be thousands.
            let text = file.content.read()?;
            if is_directory && is_schema_of_kind(&file.path, &text) {
                continue;
            }
            schemas.add(&file, &text, is_directory, sources)?;
        }
    }
    Ok(schemas)
}

/// The files at a location; those of a directory are filtered by extension.
fn list(location: &str) -> Result<Vec<InputFile>, Failure> {
    let symlinks = Symlinks { allow_all: true, allowed: Vec::new() };
    let mut files = read::list(&[location.to_owned()], &symlinks, &Stdin::default())?;
    if Path::new(location).is_dir() {
        files.retain(|file| [".yaml", ".yml", ".json"].iter().any(|end| file.path.ends_with(end)));
    }
    Ok(files)
}

/// Guesses, without parsing it, whether a JSON file of a directory is the schema of one kind.
fn is_schema_of_kind(path: &str, text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    path.ends_with(".json") && !has(b"CustomResourceDefinition") && !has(b"\"swagger\"") && !has(b"\"openapi\"")
}

impl Schemas {
    fn add(&mut self, file: &InputFile, text: &Str, lenient: bool, sources: &Arc<Sources>) -> Result<(), Failure> {
        let name = file.place.clone().unwrap_or_else(|| file.path.clone());
        let _working = budget::working_at(sources.next_id().0, 0);
        let roots = parsed(&name, text, sources)?;
        let mut is_useful = false;
        for root in &roots {
            is_useful |= match self.catalog.add(root) {
                AddedSchema::Definition | AddedSchema::Policy => true,
                AddedSchema::OpenApi(_) => true,
                AddedSchema::JsonSchema => self.add_json_schema(root),
                _ => false,
            };
        }
        if is_useful || lenient {
            return Ok(());
        }
        let text = format!(
            "'{name}' contains no schema: expected CustomResourceDefinitions, a ValidatingAdmissionPolicy or an OpenAPI document"
        );
        let problem = Diagnostic::error(Id::KUBERNETES_SCHEMA_FILE, text);
        Err(problem
            .help("directories and URLs of JSON Schemas need a template: {{.ResourceKind}}{{.KindSuffix}}.json")
            .into())
    }

    /// Adds a JSON Schema that names its kinds itself; returns whether it does.
    fn add_json_schema(&mut self, root: &Node) -> bool {
        let kinds = root.get("x-kubernetes-group-version-kind").map(Node::items).unwrap_or_default();
        for kind in kinds {
            let text = |key: &str| kind.text(key).unwrap_or_default().to_owned();
            let gvk = Gvk { group: text("group"), version: text("version"), kind: text("kind") };
            self.catalog.add_json_schema(gvk, root);
        }
        !kinds.is_empty()
    }

    /// Whether there are locations for looking up schemas.
    pub fn has_templates(&self) -> bool {
        !self.templates.is_empty()
    }

    /// Looks up schemas of unknown kinds.
    pub fn look_up(&mut self, kinds: impl IntoIterator<Item = Gvk>) {
        for gvk in kinds {
            if self.catalog.knows(&gvk.api_version(), &gvk.kind) {
                continue;
            }
            let version = self.catalog.options().version;
            for location in self.templates.iter().map(|template| expand(template, &gvk, version)) {
                if !self.asked.insert(location.clone()) {
                    continue;
                }
                let is_url = location.starts_with("http://") || location.starts_with("https://");
                if !is_url && !Path::new(&location).is_file() {
                    continue;
                }
                // A kind without a schema at the location stays unknown.
                let Ok(files) = list(&location) else { continue };
                let Some(Ok(text)) = files.first().map(|file| file.content.read()) else { continue };
                let Ok(roots) = parsed(&location, &text, &Arc::new(Sources::new())) else { continue };
                if let Some(root) = roots.first() {
                    if self.catalog.add(root) == AddedSchema::JsonSchema {
                        self.catalog.add_json_schema(gvk.clone(), root);
                    }
                    break;
                }
            }
        }
    }
}

fn parsed(name: &str, text: &Str, sources: &Arc<Sources>) -> Result<Vec<Arc<Node>>, Failure> {
    let readers = ytterby_diag::Readers { outline: ytterby_yaml::outline, ..ytterby_diag::Readers::default() };
    let file = sources.add(Source::new(name, text.clone()).with_readers(readers));
    match parse(text, file, &ReadOptions { comments: false, ..ReadOptions::default() }) {
        Ok(tree) => Ok(documents(&tree).into_iter().map(|document| document.root).collect()),
        Err(error) => Err(Failure::from(Diagnostic::from(error)).doing(format!("Reading schema '{name}'"))),
    }
}
