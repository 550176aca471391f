//! Links: paths in files that can be opened.

use crate::TextRange;
use crate::file::{self, File};
use crate::model::{TokenKind, string_content};
use crate::project::{Meaning, ProjectSnapshot};

/// The files that a file refers to: in `load`, in `data.read`, and in the project file.
pub fn links(project: &ProjectSnapshot, file: &File) -> Vec<(TextRange, String)> {
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
    loads.chain(read_files(project, file, index)).collect()
}

/// The files in `data.read("…")`.
fn read_files<'a>(
    project: &'a ProjectSnapshot,
    file: &'a File,
    index: usize,
) -> impl Iterator<Item = (TextRange, String)> + 'a {
    let (model, text) = (file.model(), &*file.text);
    let own = &project.files[index].logical;
    let root = file.path.strip_suffix(own.as_str()).unwrap_or(&project.root);
    model.chains.iter().filter_map(move |chain| {
        let last = chain.parts.last().filter(|last| chain.is_called && last.name.as_deref() == Some("read"))?;
        let is_read = project.meaning(index, chain, chain.parts.len())
            == Some(Meaning::ModuleMember("data".to_owned(), "read".to_owned()));
        let token = model.tokens.partition_point(|token| token.range.start < last.range.end) + 1;
        let token = model.tokens.get(token).filter(|token| is_read && token.kind == TokenKind::Str)?;
        let written = token.range.of(text);
        let name = string_content(written);
        let path = match name.strip_prefix('/') {
            Some(name) => file::join(root.trim_end_matches('/'), name),
            None => file::join(file::parent(&file.path), name),
        };
        let is_there = project.file(&path).is_some() || project.system.stamp(&path).is_some();
        let start = token.range.start + written.find(name).unwrap_or(1);
        is_there.then(|| (TextRange::new(start, start + name.len()), path))
    })
}
