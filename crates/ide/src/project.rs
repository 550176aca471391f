//! A snapshot of a project: its files, its schema, and names across files.
//!
//! A snapshot does not change, so a run on another thread sees one state. Files that a user edits
//! may not compile; the schema then comes from the last version that did.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ytterby_diag::FileId;
use ytterby_kubernetes::{Catalog, CheckOptions, UnknownKinds, Version};
use ytterby_yaml::ReadOptions;

use crate::TextRange;
use crate::config::Config;
use crate::file::{self, File, FileSystem};
use crate::model::{Chain, DefKind, ModelKind};
use crate::schema::LibrarySchema;

/// Directories below one of `schemas:` that are looked at.
const MAX_SCHEMA_DEPTH: usize = 8;

/// The purpose of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileRole {
    /// An input: template, schema, overlay, code.
    Input,
    /// A values file of targets.
    Values,
    /// An open values file that no target names.
    LooseValues,
    /// A plain file that is ignored because it looks like a values file.
    Plain,
    /// An open file that is not an input.
    Outside,
}

/// A file of a project.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    /// The file.
    pub file: Arc<File>,
    /// Its path in templates.
    pub logical: String,
    /// Its role.
    pub role: FileRole,
    /// The index of the only target that it belongs to.
    pub target: Option<usize>,
}

/// A snapshot of a project.
pub struct ProjectSnapshot {
    /// Its directory.
    pub root: String,
    /// Its project file.
    pub project_file: Option<Arc<File>>,
    /// The settings in the project file.
    pub config: Option<Config>,
    /// Its files.
    pub files: Vec<SnapshotFile>,
    /// The last version of each file that compiled.
    pub(crate) good: Arc<HashMap<String, Arc<File>>>,
    /// Access to other files.
    pub(crate) system: Arc<dyn FileSystem>,
    by_path: HashMap<String, usize>,
    /// Schemas by library; the root has an empty name.
    schemas: OnceLock<Arc<LibrarySchemas>>,
    old_schemas: Option<Arc<LibrarySchemas>>,
    /// Known kinds of Kubernetes.
    catalog: OnceLock<Option<Arc<Catalog>>>,
    old_catalog: Option<OldCatalog>,
}

/// The catalog of an earlier state of a project, and the project file that it was made for.
type OldCatalog = (Option<Arc<File>>, Option<Arc<Catalog>>);

/// Schemas and the files that they were made from.
struct LibrarySchemas {
    sources: Vec<Arc<File>>,
    by_library: HashMap<String, Arc<LibrarySchema>>,
}

/// The meaning of a name with attributes.
#[derive(Clone, PartialEq, Debug)]
pub enum Meaning {
    /// A module `@ytt:name`.
    Module(String),
    /// A function or value of a module.
    ModuleMember(String, String),
    /// A data value, by its path from the root; `None` for items of arrays.
    DataValue(Vec<Option<String>>),
    /// A definition: file and index.
    Definition(usize, usize),
}

/// A field of a struct or module that the project makes.
#[derive(Clone, Debug)]
pub struct StructField {
    /// Its name.
    pub name: String,
    /// Where it is given.
    pub place: FileRange,
    /// The first word of its value.
    pub value: String,
    /// The function or variable that it is: file and definition.
    pub target: Option<(usize, usize)>,
}

/// A range of a file of the project.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileRange {
    /// The path of the file.
    pub path: String,
    /// The range.
    pub range: TextRange,
}

impl ProjectSnapshot {
    pub(crate) fn new(
        root: &str,
        project_file: Option<Arc<File>>,
        config: Option<Config>,
        files: Vec<SnapshotFile>,
        good: Arc<HashMap<String, Arc<File>>>,
        system: Arc<dyn FileSystem>,
        old: Option<&ProjectSnapshot>,
    ) -> ProjectSnapshot {
        let by_path = files.iter().enumerate().map(|(index, file)| (file.file.path.clone(), index)).collect();
        let old_schemas = old.and_then(|old| old.schemas.get().cloned());
        let old_catalog = old.and_then(|old| Some((old.project_file.clone(), old.catalog.get()?.clone())));
        ProjectSnapshot {
            root: root.to_owned(),
            project_file,
            config,
            files,
            good,
            system,
            by_path,
            schemas: OnceLock::new(),
            old_schemas,
            catalog: OnceLock::new(),
            old_catalog,
        }
    }

    /// Whether both have the same files in the same roles.
    pub(crate) fn is_same(&self, other: &ProjectSnapshot) -> bool {
        let same_file = |(a, b): (&SnapshotFile, &SnapshotFile)| {
            Arc::ptr_eq(&a.file, &b.file) && a.role == b.role && a.target == b.target && a.logical == b.logical
        };
        let same_config = match (&self.project_file, &other.project_file) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same_config && self.files.len() == other.files.len() && self.files.iter().zip(&other.files).all(same_file)
    }

    /// The index of a file.
    pub fn index(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A file by its path, including the project file and files outside.
    pub fn file(&self, path: &str) -> Option<&Arc<File>> {
        match self.index(path) {
            Some(index) => Some(&self.files[index].file),
            None => self.project_file.as_ref().filter(|file| file.path == path),
        }
    }

    /// Files that can contain code, without duplicates.
    pub fn inputs(&self) -> impl Iterator<Item = (usize, &SnapshotFile)> {
        let is_first = |index: usize, file: &SnapshotFile| self.by_path.get(&file.file.path) == Some(&index);
        self.files
            .iter()
            .enumerate()
            .filter(move |(index, file)| file.role == FileRole::Input && is_first(*index, file))
    }

    /// Values files, without duplicates.
    pub fn values_files(&self) -> impl Iterator<Item = &SnapshotFile> {
        let is_first = |index: usize, file: &SnapshotFile| self.by_path.get(&file.file.path) == Some(&index);
        let all = self.files.iter().enumerate().filter(move |(index, file)| is_values(file) && is_first(*index, file));
        all.map(|(_, file)| file)
    }

    /// Whether a file is a values file.
    pub fn is_values_file(&self, path: &str) -> bool {
        self.index(path).is_some_and(|index| is_values(&self.files[index]))
    }

    /// The library of a file: the path of its directory, empty for the root.
    pub fn library(&self, logical: &str) -> String {
        let Some(at) = logical.rfind("_ytt_lib/") else { return String::new() };
        let below = at + "_ytt_lib/".len();
        let first = logical[below..].find('/').map_or(logical.len(), |len| below + len);
        let declares = |directory: &str| {
            self.files.iter().any(|file| {
                file::parent(&format!("/{}", file.logical)).trim_start_matches('/') == directory
                    && file.file.text.contains("#@data/values")
            })
        };
        let mut directory = logical.rsplit_once('/').map_or("", |(directory, _)| directory);
        while directory.len() > first {
            if declares(directory) {
                return directory.to_owned();
            }
            directory = directory.rsplit_once('/').map_or("", |(directory, _)| directory);
        }
        logical[..first].to_owned()
    }

    /// The schema for a file.
    pub fn schema_for(&self, path: &str) -> Arc<LibrarySchema> {
        let library = match self.index(path) {
            Some(index) if self.files[index].role == FileRole::Input => self.library(&self.files[index].logical),
            _ => String::new(),
        };
        self.schemas().by_library.get(&library).cloned().unwrap_or_default()
    }

    /// The library that a document sets data values of: that of `@library/ref`, or that of its
    /// file.
    pub fn library_of_document(&self, file: usize, document: usize) -> String {
        let source = &self.files[file];
        let model = source.file.model();
        let annotations = model.documents.get(document).map(|document| &document.annotations[..]).unwrap_or_default();
        let named = annotations.iter().map(|index| &model.annotations[*index]).find_map(|annotation| {
            let text = annotation.arguments.of(&source.file.text).trim();
            let name = text.trim_matches(['"', '\'']).strip_prefix('@')?;
            // A tilde separates an alias.
            (annotation.name == "library/ref").then(|| name.split('~').next().unwrap_or(name))
        });
        match named.and_then(|name| self.library_directory(file, name)) {
            Some(directory) => directory,
            None if source.role == FileRole::Input => self.library(&source.logical),
            None => String::new(),
        }
    }

    /// The schema of a library; the root's has an empty name.
    pub fn schema_of_library(&self, library: &str) -> Arc<LibrarySchema> {
        self.schemas().by_library.get(library).cloned().unwrap_or_default()
    }

    /// The kinds of Kubernetes: those of the version that the project file names, or of the latest
    /// one, and those of the definitions that it lists. Definitions are read again when the project
    /// file changes.
    pub fn catalog(&self) -> Option<&Catalog> {
        let made = || {
            if let Some((file, catalog)) = &self.old_catalog
                && file.as_ref().map(Arc::as_ptr) == self.project_file.as_ref().map(Arc::as_ptr)
            {
                return catalog.clone();
            }
            let version = match self.config.as_ref().and_then(|config| config.kubernetes.as_deref()) {
                Some(version) => Version::parse(version)?,
                None => Version::NEWEST,
            };
            let mut catalog = Catalog::new(CheckOptions { version, unknown: UnknownKinds::Ignore, skip: Vec::new() });
            let listed = self.config.as_ref().map(|config| &config.schemas[..]).unwrap_or_default();
            let mut open: Vec<(String, usize)> = listed.iter().map(|path| (file::join(&self.root, path), 0)).collect();
            while let Some((path, depth)) = open.pop() {
                let below = self.system.list(&path);
                let deeper = below.into_iter().filter(|_| depth < MAX_SCHEMA_DEPTH);
                open.extend(deeper.map(|entry| (file::join(&path, &entry.name), depth + 1)));
                let Some(bytes) = self.system.read(&path) else { continue };
                if let Ok(tree) = ytterby_yaml::parse(&bytes, FileId(0), &ReadOptions::default()) {
                    for document in ytterby_kubernetes::documents(&tree) {
                        catalog.add(&document.root);
                    }
                }
            }
            Some(Arc::new(catalog))
        };
        self.catalog.get_or_init(made).as_deref()
    }

    /// The schemas of the root and of all libraries.
    pub fn all_schemas(&self) -> impl Iterator<Item = &Arc<LibrarySchema>> {
        self.schemas().by_library.values()
    }

    /// The schema of the root.
    pub fn schema(&self) -> Arc<LibrarySchema> {
        self.schemas().by_library.get("").cloned().unwrap_or_default()
    }

    fn schemas(&self) -> &LibrarySchemas {
        self.schemas.get_or_init(|| {
            let is_source = |file: &&SnapshotFile| {
                file.role == FileRole::Input
                    && file.file.kind() == ModelKind::Yaml
                    && (file.file.text.contains("#@data/values") || file.file.text.contains("#@schema"))
            };
            let sources: Vec<&SnapshotFile> = self.files.iter().filter(is_source).collect();
            if let Some(old) = &self.old_schemas
                && old.sources.len() == sources.len()
                && old.sources.iter().zip(&sources).all(|(old, new)| Arc::ptr_eq(old, &new.file))
            {
                return old.clone();
            }
            let mut by_library: HashMap<String, Vec<Arc<File>>> = HashMap::new();
            for source in &sources {
                by_library.entry(self.library(&source.logical)).or_default().push(source.file.clone());
            }
            let made = by_library.into_iter().map(|(library, files)| (library, Arc::new(LibrarySchema::of(&files))));
            Arc::new(LibrarySchemas {
                by_library: made.collect(),
                sources: sources.iter().map(|source| source.file.clone()).collect(),
            })
        })
    }

    /// The file that `load` finds at a path: beside the file, at the root of its library, or in a
    /// library.
    pub fn loaded(&self, from: usize, path: &str) -> Option<usize> {
        let logical = self.load_target(from, path)?;
        self.files.iter().position(|file| file.role == FileRole::Input && file.logical == logical)
    }

    /// The path in templates of a file in `load`.
    pub fn load_target(&self, from: usize, path: &str) -> Option<String> {
        let own = &self.files.get(from)?.logical;
        let library = self.library(own);
        let in_library = |path: &str| {
            let whole = file::join(&format!("/{library}"), path.trim_start_matches('/'));
            whole.trim_start_matches('/').to_owned()
        };
        if let Some(rest) = path.strip_prefix('@') {
            let (name, rest) = rest.split_once(':')?;
            if name == "ytt" {
                return None;
            }
            return Some(self.library_directory(from, name)? + "/" + rest);
        }
        if path.starts_with('/') {
            return Some(in_library(path));
        }
        let directory = format!("/{}", own.rsplit_once('/').map_or("", |(directory, _)| directory));
        Some(file::join(&directory, path).trim_start_matches('/').to_owned())
    }

    /// The directory of a library in templates: in `_ytt_lib` beside the file, or further up.
    pub fn library_directory(&self, from: usize, name: &str) -> Option<String> {
        let own = &self.files.get(from)?.logical;
        let mut directory = own.rsplit_once('/').map_or("", |(directory, _)| directory);
        loop {
            let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            let candidate = format!("{prefix}_ytt_lib/{name}");
            if self
                .files
                .iter()
                .any(|file| file::below(&format!("/{}", file.logical), &format!("/{candidate}")).is_some())
            {
                return Some(candidate);
            }
            if directory.is_empty() {
                return None;
            }
            directory = directory.rsplit_once('/').map_or("", |(directory, _)| directory);
        }
    }

    /// The meaning of a definition in a file, following loads.
    pub fn resolve(&self, file: usize, definition: usize) -> Option<Meaning> {
        self.resolve_within(file, definition, 16)
    }

    fn resolve_within(&self, file: usize, definition: usize, budget: usize) -> Option<Meaning> {
        let model = self.files.get(file)?.file.model();
        let found = model.definitions.get(definition)?;
        let budget = budget.checked_sub(1)?;
        match &found.kind {
            DefKind::Loaded { load, symbol, .. } => {
                let path = &model.loads.get(*load)?.path;
                if let Some(module) = path.strip_prefix("@ytt:") {
                    return Some(Meaning::Module(module.to_owned()));
                }
                let other = self.loaded(file, path)?;
                let target = self.exported(other, symbol)?;
                self.resolve_within(other, target, budget)
            }
            DefKind::Variable(Some(chain)) if chain.root_range.start > found.range.start => {
                let meaning = self.meaning_within(file, chain, chain.parts.len(), budget);
                match meaning {
                    Some(Meaning::Definition(..)) | None => Some(Meaning::Definition(file, definition)),
                    meaning => meaning,
                }
            }
            DefKind::LoopVariable(Some(chain)) => match self.meaning_within(file, chain, chain.parts.len(), budget) {
                Some(Meaning::DataValue(mut path)) => {
                    path.push(None);
                    Some(Meaning::DataValue(path))
                }
                _ => Some(Meaning::Definition(file, definition)),
            },
            _ => Some(Meaning::Definition(file, definition)),
        }
    }

    /// The fields of a struct or module that a variable is given: `struct.make(host="x")`.
    pub fn fields(&self, file: usize, definition: usize) -> Vec<StructField> {
        let mut found = Vec::new();
        let Some(source) = self.files.get(file).map(|file| &file.file) else { return found };
        let (model, text) = (source.model(), &*source.text);
        let Some(variable) = model.definitions.get(definition) else { return found };
        let word = |index: usize| model.tokens.get(index).map_or("", |token| token.range.of(text));
        let name = model.tokens.partition_point(|token| token.range.start < variable.range.start);
        // `name = module . make (`
        let at = |word_at: usize| model.tokens.get(name + word_at).map(|token| token.range);
        let module = at(2).and_then(|root| {
            let reference = model.references.binary_search_by_key(&root.start, |r| r.range.start).ok()?;
            self.meaning_of_reference(file, reference)
        });
        let is_maker =
            matches!(module, Some(Meaning::Module(module)) if matches!(module.as_str(), "struct" | "module"));
        if !matches!(variable.kind, DefKind::Variable(_)) || word(name + 1) != "=" || !is_maker {
            return found;
        }
        if word(name + 3) != "." || !word(name + 4).starts_with("make") || word(name + 5) != "(" {
            return found;
        }
        for argument in model.keyword_names(text, name + 5) {
            let value = model.tokens.get(argument + 2).map(|token| token.range).unwrap_or_default();
            let reference = model.references.binary_search_by_key(&value.start, |r| r.range.start).ok();
            let target = reference.and_then(|reference| self.meaning_of_reference(file, reference));
            found.push(StructField {
                name: word(argument).to_owned(),
                place: FileRange { path: source.path.clone(), range: model.tokens[argument].range },
                value: value.of(text).to_owned(),
                target: match target {
                    Some(Meaning::Definition(file, definition)) => Some((file, definition)),
                    _ => None,
                },
            });
        }
        found
    }

    /// A name that a file gives to others.
    pub fn exported(&self, file: usize, name: &str) -> Option<usize> {
        let model = self.files.get(file)?.file.model();
        model.definitions.iter().rposition(|definition| definition.scope == 0 && definition.name == name)
    }

    /// The meaning of the first parts of a chain.
    pub fn meaning(&self, file: usize, chain: &Chain, parts: usize) -> Option<Meaning> {
        self.meaning_within(file, chain, parts, 16)
    }

    fn meaning_within(&self, file: usize, chain: &Chain, parts: usize, budget: usize) -> Option<Meaning> {
        let model = self.files.get(file)?.file.model();
        let reference = model.references.binary_search_by_key(&chain.root_range.start, |r| r.range.start).ok();
        let definition = reference.and_then(|index| model.references[index].definition);
        let mut meaning = match definition {
            Some(definition) => self.resolve_within(file, definition, budget)?,
            // A module that is not loaded yet is still understood while the user writes.
            None if crate::reference::module(&chain.root).is_some() => Meaning::Module(chain.root.clone()),
            None => return None,
        };
        for part in &chain.parts[..parts.min(chain.parts.len())] {
            meaning = match (meaning, &part.name) {
                (Meaning::Module(module), Some(name)) if module == "data" && name == "values" => {
                    Meaning::DataValue(Vec::new())
                }
                (Meaning::Module(module), Some(name)) => Meaning::ModuleMember(module, name.clone()),
                (Meaning::DataValue(mut path), name) => {
                    path.push(name.clone());
                    Meaning::DataValue(path)
                }
                _ => return None,
            };
        }
        Some(meaning)
    }

    /// The meaning of a use of a name.
    pub fn meaning_of_reference(&self, file: usize, reference: usize) -> Option<Meaning> {
        let model = self.files.get(file)?.file.model();
        self.resolve(file, model.references.get(reference)?.definition?)
    }
}

fn is_values(file: &SnapshotFile) -> bool {
    matches!(file.role, FileRole::Values | FileRole::LooseValues | FileRole::Plain)
}
