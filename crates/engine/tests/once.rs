//! Every file is parsed once and compiled once in a run, however often it is evaluated.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ytterby::{Content, Host, InputFile, Options};
use ytterby_diag::Sources;

#[derive(Default)]
struct Notes(RefCell<String>);

impl Host for Notes {
    fn print(&self, _: &[u8]) {}

    fn debug(&self, text: &str) {
        self.0.borrow_mut().push_str(text);
    }
}

#[test]
fn files_are_parsed_and_compiled_once() {
    let file = |path: &str, text: &str| InputFile::new(path, Content::new(text.as_bytes()));
    let files = vec![
        file(
            "a.yml",
            "#@ load('@ytt:library', 'library')\n#@ load('@ytt:template', 'template')\n--- #@ template.replace(library.get('l').eval())\n--- #@ template.replace(library.get('l').eval())\n",
        ),
        file("b.yml", "#@ load('c.star', 'c')\n---\nb: #@ c\n"),
        file("c.star", "c = 3\n"),
        file("d.yml", "#@ load('c.star', 'c')\n---\nd: #@ c\n"),
        file("_ytt_lib/l/e.yml", "e: #@ 1 + 1\n"),
    ];
    let notes = Rc::new(Notes::default());
    let options = Options { debug: true, ..Options::default() };
    let rendered = ytterby::render(files, &options, &Arc::new(Sources::new()), notes.clone()).expect("it renders");
    assert_eq!(String::from_utf8_lossy(&rendered.documents), "e: 2\n---\ne: 2\n---\nb: 3\n---\nd: 3\n");
    let notes = notes.0.borrow();
    let count =
        |step: &str, path: &str| notes.lines().filter(|line| line.starts_with(&format!("## {step} {path}"))).count();
    for path in ["a.yml", "b.yml", "d.yml", "_ytt_lib/l/e.yml"] {
        assert_eq!(count("parse", path), 1, "{path}\n{notes}");
        assert_eq!(count("compile", path), 1, "{path}\n{notes}");
    }
    assert_eq!(count("compile", "c.star"), 1, "{notes}");
    assert_eq!(count("evaluate", "c.star"), 1, "{notes}");
    assert_eq!(count("evaluate", "_ytt_lib/l/e.yml"), 2, "{notes}");
}
