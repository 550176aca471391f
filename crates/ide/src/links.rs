//! Paths in files that can be opened.

use crate::TextRange;
use crate::file::{self, File};
use crate::project::Project;

/// The files that a file names: in `load`, and in the project file.
pub fn links(project: &Project, file: &File) -> Vec<(TextRange, String)> {
    let model = file.model();
    if file::is_project_file(&file.path) {
        let values = model.items.iter().filter(|item| !item.value.is_empty());
        let found = values.filter_map(|item| {
            let path = file::join(&project.root, &crate::schema::scalar_text(item.value.of(&file.text)));
            project.file(&path).map(|file| (item.value, file.path.clone()))
        });
        return found.collect();
    }
    let Some(index) = project.index(&file.path) else { return Vec::new() };
    let loads = model.loads.iter().filter_map(|load| {
        let other = project.loaded(index, &load.path)?;
        Some((load.path_range, project.files[other].file.path.clone()))
    });
    loads.collect()
}
