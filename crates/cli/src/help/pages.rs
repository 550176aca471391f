//! The pages of the manual, from `docs/`.
//!
//! A release contains them in one compressed archive, unpacked on demand. A development build reads
//! them from the source tree, so that a changed page needs no new build.

#[cfg(manual_on_disk)]
use std::path::Path;

/// A page.
pub struct Page {
    /// The word that shows it: `overlays`.
    pub name: String,
    /// Markdown.
    pub text: String,
}

impl Page {
    /// The first heading.
    pub fn title(&self) -> &str {
        self.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&self.name)
    }
}

/// The page of this name; for pages in folders, the folder is optional.
pub fn find(name: &str) -> Option<Page> {
    let mut pages = all();
    let is_it = |page: &Page| page.name.rsplit('/').next() == Some(name);
    let at = pages.iter().position(|page| page.name == name).or_else(|| pages.iter().position(is_it))?;
    Some(pages.swap_remove(at))
}

/// All pages, sorted by name; those of guides and of the cookbook last.
#[cfg(not(manual_on_disk))]
pub fn all() -> Vec<Page> {
    packed()
}

/// All pages, sorted by name; those of guides and of the cookbook last.
#[cfg(manual_on_disk)]
pub fn all() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("manual");
    manual::pages(&root).into_iter().map(|(name, text)| Page { name, text }).collect()
}

/// The pages that the build script packed.
#[cfg(any(test, not(manual_on_disk)))]
fn packed() -> Vec<Page> {
    const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/manual.bin"));
    let bytes = miniz_oxide::inflate::decompress_to_vec(PACKED).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    let pages = text.split_terminator('\0').filter_map(|page| page.split_once('\n'));
    pages.map(|(name, text)| Page { name: name.to_owned(), text: text.to_owned() }).collect()
}

#[cfg(manual_on_disk)]
#[path = "../../manual_pages.rs"]
mod manual;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_pages_are_whole() {
        let pages = packed();
        assert!(pages.iter().any(|page| page.name == "overlays" && page.title() == "Overlays"));
        assert!(pages.len() > 20 && pages.iter().all(|page| page.text.starts_with("# ")));
    }

    #[test]
    fn pages_are_found_with_and_without_their_folder() {
        assert_eq!(find("overlays").map(|page| page.name), Some("overlays".to_owned()));
        assert!(find("nope").is_none());
    }
}
