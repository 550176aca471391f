//! The files of all projects in the editor: those on disk, replaced by unsaved ones.
//!
//! A [`Workspace`] changes; its [`ProjectSnapshot`]s are immutable, so that slow queries can run on
//! another thread while the user continues to type.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::config::{self, Config};
use crate::file::{self, EditorLanguage, File, FileSystem};
use crate::project::{FileRole, ProjectSnapshot, SnapshotFile};

/// Maximum files of a project; more are ignored.
const MAX_FILES: usize = 20_000;

/// Directories that contain no inputs, unless a project file names them.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__snapshots__"];

/// All files: open ones and those on disk.
pub struct Workspace {
    files: Arc<dyn FileSystem>,
    folders: Vec<String>,
    open: HashMap<String, Arc<File>>,
    /// Files read from disk, by path, with their stamps.
    disk: HashMap<String, (u64, Arc<File>)>,
    /// The last version of each file that compiled.
    good: Arc<HashMap<String, Arc<File>>>,
    /// Project roots by directory.
    roots: HashMap<String, String>,
    listings: HashMap<String, Arc<Vec<(String, u64)>>>,
    projects: HashMap<String, Arc<ProjectSnapshot>>,
    /// The projects before the last change; unchanged parts are reused.
    stale: HashMap<String, Arc<ProjectSnapshot>>,
}

impl Workspace {
    /// A workspace without folders and open files.
    pub fn new(files: Arc<dyn FileSystem>) -> Workspace {
        Workspace {
            files,
            folders: Vec::new(),
            open: HashMap::new(),
            disk: HashMap::new(),
            good: Arc::default(),
            roots: HashMap::new(),
            listings: HashMap::new(),
            projects: HashMap::new(),
            stale: HashMap::new(),
        }
    }

    /// Sets the folders.
    pub fn set_folders(&mut self, folders: Vec<String>) {
        self.folders = folders.into_iter().map(|folder| folder.trim_end_matches('/').to_owned()).collect();
        self.rescan();
    }

    /// The folders.
    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    /// Opens a file.
    pub fn open(&mut self, path: &str, language: EditorLanguage, version: i64, text: String) {
        self.open.insert(path.to_owned(), Arc::new(File::new(path, text, language, Some(version))));
        self.rescan();
    }

    /// Changes the text of an open file.
    pub fn change(&mut self, path: &str, version: i64, text: String) {
        let Some(old) = self.open.get(path).cloned() else { return };
        let new = Arc::new(File::new(path, text, old.language, Some(version)));
        if file::is_project_file(path) || declares(&old.text) != declares(&new.text) {
            self.roots.clear();
            self.listings.clear();
        }
        self.open.insert(path.to_owned(), new);
        self.forget_projects();
    }

    /// Closes a file: the text on disk is used again.
    pub fn close(&mut self, path: &str) {
        self.open.remove(path);
        self.rescan();
    }

    /// Lists directories again: files on disk may have changed.
    pub fn rescan(&mut self) {
        self.roots.clear();
        self.listings.clear();
        self.forget_projects();
    }

    /// Remembers the files that compile: all but those in `broken`.
    pub fn note_good(&mut self, project: &ProjectSnapshot, broken: &HashSet<&str>) {
        for file in project.files.iter().filter(|file| !broken.contains(file.file.path.as_str())) {
            let known = self.good.get(&file.file.path);
            if known.is_none_or(|known| !Arc::ptr_eq(known, &file.file)) {
                Arc::make_mut(&mut self.good).insert(file.file.path.clone(), file.file.clone());
            }
        }
    }

    fn forget_projects(&mut self) {
        self.stale.extend(self.projects.drain());
    }

    /// An open file.
    pub fn open_file(&self, path: &str) -> Option<&Arc<File>> {
        self.open.get(path)
    }

    /// The open files.
    pub fn open_files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.open.values()
    }

    /// An open file, or otherwise one on disk.
    pub fn file(&mut self, path: &str) -> Option<Arc<File>> {
        if let Some(file) = self.open.get(path) {
            return Some(file.clone());
        }
        let stamp = self.files.stamp(path)?;
        self.read_disk(path, stamp)
    }

    /// A file on disk; read again if its stamp has changed.
    fn read_disk(&mut self, path: &str, stamp: u64) -> Option<Arc<File>> {
        if let Some((known, file)) = self.disk.get(path)
            && *known == stamp
        {
            return Some(file.clone());
        }
        let bytes = self.files.read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let file = Arc::new(File::new(path, &*text, EditorLanguage::Unknown, None));
        self.disk.insert(path.to_owned(), (stamp, file.clone()));
        Some(file)
    }

    /// The current project of a file.
    pub fn project(&mut self, path: &str) -> Arc<ProjectSnapshot> {
        let root = self.root(path);
        self.project_at(&root)
    }

    /// All projects of open files and folders with a project file.
    pub fn projects(&mut self) -> Vec<Arc<ProjectSnapshot>> {
        let mut roots: Vec<String> = Vec::new();
        let paths: Vec<String> = self.open.keys().cloned().collect();
        for path in paths {
            roots.push(self.root(&path));
        }
        for folder in self.folders.clone() {
            if self.project_file(&folder).is_some() {
                roots.push(folder);
            }
        }
        roots.sort();
        roots.dedup();
        roots.iter().map(|root| self.project_at(root)).collect()
    }

    /// The root of a file's project: the directory of the nearest project file; otherwise the
    /// nearest one that contains a schema or data values; otherwise the folder.
    fn root(&mut self, path: &str) -> String {
        let directory = file::parent(path).to_owned();
        if let Some(root) = self.roots.get(&directory) {
            return root.clone();
        }
        let root = self.find_root(&directory);
        self.roots.insert(directory, root.clone());
        root
    }

    fn find_root(&mut self, directory: &str) -> String {
        let mut at = directory;
        loop {
            if self.project_file(at).is_some() {
                return at.to_owned();
            }
            let parent = file::parent(at);
            if parent == at || parent.is_empty() {
                break;
            }
            at = parent;
        }
        let folder =
            self.folders.iter().filter(|folder| *folder == directory || file::below(directory, folder).is_some());
        let folder = folder.max_by_key(|folder| folder.len()).cloned();
        let mut at = self.library_user(directory, folder.as_deref()).unwrap_or(directory);
        loop {
            if self.has_yaml(at, declares) {
                return at.to_owned();
            }
            if folder.as_deref() == Some(at) || folder.is_none() {
                break;
            }
            at = file::parent(at);
        }
        folder.unwrap_or_else(|| directory.to_owned())
    }

    fn project_file(&mut self, directory: &str) -> Option<Arc<File>> {
        ["ytterby.yml", "ytterby.yaml"].iter().find_map(|name| self.file(&file::join(directory, name)))
    }

    /// The directory whose templates use the libraries that a directory belongs to: the files of a
    /// library and those that give it values are one project.
    fn library_user<'d>(&mut self, directory: &'d str, folder: Option<&str>) -> Option<&'d str> {
        let mut within = directory.match_indices("/_ytt_lib").map(|(at, name)| (&directory[..at], at + name.len()));
        let is_whole = |end: usize| matches!(directory.as_bytes().get(end), None | Some(b'/'));
        let is_open = |user: &str| folder.is_some_and(|folder| user == folder || file::below(user, folder).is_some());
        let (user, _) = within.find(|(user, end)| is_whole(*end) && is_open(user))?;
        self.has_yaml(user, |text| text.contains("@ytt:library") || text.contains("#@library/ref")).then_some(user)
    }

    /// Whether the text of a YAML file directly in a directory passes a test.
    fn has_yaml(&mut self, directory: &str, test: fn(&str) -> bool) -> bool {
        let is_here = |file: &Arc<File>| file::parent(&file.path) == directory && test(&file.text);
        if self.open.values().any(is_here) {
            return true;
        }
        let entries = self.files.list(directory);
        let is_yaml = |name: &str| name.ends_with(".yml") || name.ends_with(".yaml");
        entries.into_iter().filter(|entry| !entry.is_directory && is_yaml(&entry.name)).any(|entry| {
            let path = file::join(directory, &entry.name);
            !self.open.contains_key(&path) && self.read_disk(&path, entry.stamp).is_some_and(|file| test(&file.text))
        })
    }

    /// The project at a root.
    pub fn project_at(&mut self, root: &str) -> Arc<ProjectSnapshot> {
        if let Some(project) = self.projects.get(root) {
            return project.clone();
        }
        let project_file = self.project_file(root);
        let config = project_file.as_ref().map(|file| config::read(file));
        let files = match &config {
            Some(config) => self.configured_files(root, config),
            None => self.found_files(root),
        };
        let good = self.good.clone();
        let old = self.stale.remove(root);
        let project = ProjectSnapshot::new(root, project_file, config, files, good, self.files.clone(), old.as_deref());
        // Reuse the old project if nothing has changed, with all that is cached in it.
        let project = match old.filter(|old| old.is_same(&project)) {
            Some(old) => old,
            None => Arc::new(project),
        };
        self.projects.insert(root.to_owned(), project.clone());
        project
    }

    /// The files of a project with a project file.
    fn configured_files(&mut self, root: &str, config: &Config) -> Vec<SnapshotFile> {
        let tests: Vec<String> = config.tests.iter().map(|path| file::join(root, path)).collect();
        let is_test = |path: &str| tests.iter().any(|test| path == test || file::below(path, test).is_some());
        let mut found = Vec::new();
        let mut add = |workspace: &mut Workspace, paths: &[String], role: FileRole, target: Option<usize>| {
            for path in paths {
                let base = file::join(root, path);
                for (path, logical) in workspace.inputs(&base, false) {
                    if is_test(&path) || file::is_project_file(&path) || path.contains("/__snapshots__/") {
                        continue;
                    }
                    workspace.push(&mut found, path, logical, role, target);
                }
            }
        };
        add(self, &config.files, FileRole::Input, None);
        add(self, &config.values, FileRole::Values, None);
        for (number, target) in config.targets.iter().enumerate() {
            add(self, &target.files, FileRole::Input, Some(number));
            add(self, &target.values, FileRole::Values, Some(number));
        }
        self.add_loose_values(root, &mut found);
        self.add_outsiders(root, &mut found);
        found
    }

    /// Adds open files that are not inputs, to answer queries about them.
    fn add_outsiders(&mut self, root: &str, found: &mut Vec<SnapshotFile>) {
        let mut paths: Vec<String> = self.open.keys().filter(|path| !file::is_project_file(path)).cloned().collect();
        paths.retain(|path| !found.iter().any(|file| file.file.path == *path));
        paths.sort();
        for path in paths {
            if self.root(&path) == root {
                let logical = file::below(&path, root).unwrap_or(&path).to_owned();
                self.push(found, path, logical, FileRole::Outside, None);
            }
        }
    }

    /// Adds open values files that no target names: each is checked by itself.
    fn add_loose_values(&mut self, root: &str, found: &mut Vec<SnapshotFile>) {
        let is_values = |file: &&Arc<File>| file.language == EditorLanguage::Values;
        let mut paths: Vec<String> = self.open.values().filter(is_values).map(|file| file.path.clone()).collect();
        paths.sort();
        for path in paths {
            let is_known = found.iter().any(|file| file.file.path == path && file.role == FileRole::Values);
            if !is_known && self.root(&path) == root {
                let logical = file::below(&path, root).unwrap_or(&path).to_owned();
                found.retain(|file| file.file.path != path);
                self.push(found, path, logical, FileRole::LooseValues, None);
            }
        }
    }

    /// The files of a directory without a project file.
    fn found_files(&mut self, root: &str) -> Vec<SnapshotFile> {
        let mut found = Vec::new();
        for (path, logical) in self.inputs(root, true) {
            self.push(&mut found, path, logical, FileRole::Input, None);
        }
        self.add_loose_values(root, &mut found);
        self.add_outsiders(root, &mut found);
        let declared = crate::schema::top_keys(&found);
        for file in found.iter_mut().filter(|file| file.role == FileRole::Input) {
            if crate::schema::looks_like_values(file, &declared) {
                file.role = FileRole::Plain;
            }
        }
        found
    }

    fn push(
        &mut self,
        found: &mut Vec<SnapshotFile>,
        path: String,
        logical: String,
        role: FileRole,
        target: Option<usize>,
    ) {
        let file = match self.open.get(&path) {
            Some(file) => file.clone(),
            None => {
                let known = self.listed_stamp(&path);
                let Some(file) = known.and_then(|stamp| self.read_disk(&path, stamp)) else { return };
                file
            }
        };
        found.push(SnapshotFile { file, logical, role, target });
    }

    fn listed_stamp(&self, path: &str) -> Option<u64> {
        self.files.stamp(path)
    }

    /// The files at a path, each with its path in templates. Includes open files that are not on
    /// disk.
    fn inputs(&mut self, base: &str, skips: bool) -> Vec<(String, String)> {
        let is_file = self.open.contains_key(base) || self.files.stamp(base).is_some();
        if is_file {
            let name = base.rsplit('/').next().unwrap_or_default().to_owned();
            return vec![(base.to_owned(), name)];
        }
        let listing = match self.listings.get(base) {
            Some(listing) => listing.clone(),
            None => {
                let mut all = Vec::new();
                self.walk(base, skips, &mut all, 0);
                let listing = Arc::new(all);
                self.listings.insert(base.to_owned(), listing.clone());
                listing
            }
        };
        let mut paths: Vec<String> = listing.iter().map(|(path, _)| path.clone()).collect();
        let unsaved = self.open.keys().filter(|path| file::below(path, base).is_some());
        let mut unsaved: Vec<String> = unsaved.filter(|path| !paths.contains(path)).cloned().collect();
        unsaved.retain(|path| file::is_input(path));
        if !unsaved.is_empty() {
            paths.extend(unsaved);
            paths.sort();
        }
        let logical = |path: &String| file::below(path, base).unwrap_or_default().to_owned();
        paths.iter().map(|path| (path.clone(), logical(path))).collect()
    }

    fn walk(&self, directory: &str, skips: bool, all: &mut Vec<(String, u64)>, depth: usize) {
        let mut entries = self.files.list(directory);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for entry in entries {
            let is_skipped = skips && SKIPPED.contains(&entry.name.as_str());
            if all.len() >= MAX_FILES || is_skipped || entry.name.starts_with('.') {
                continue;
            }
            let path = file::join(directory, &entry.name);
            if entry.is_directory && depth < 32 {
                self.walk(&path, skips, all, depth + 1);
            } else if !entry.is_directory && file::is_input(&path) && !(skips && file::is_project_file(&path)) {
                all.push((path, entry.stamp));
            }
        }
    }
}

/// Whether a text has a schema or data values.
fn declares(text: &str) -> bool {
    ["#@data/values", "#@schema/definition", "#@schema/match"].iter().any(|mark| text.contains(mark))
}
