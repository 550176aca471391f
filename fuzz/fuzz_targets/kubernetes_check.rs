//! Any documents are checked, the first one as a schema for the others, and expressions compile or
//! are refused; nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ytterby_cel::{Env, Program, Type, Val};
use ytterby_diag::FileId;
use ytterby_kubernetes::{Catalog, CheckOptions, documents};
use ytterby_yaml::{ReadOptions, parse};

fuzz_target!(|text: &[u8]| {
    if let Ok(source) = std::str::from_utf8(text) {
        let env = Env { variables: vec![("self".to_owned(), Type::Dyn)], ..Env::default() };
        if let Ok(program) = Program::compile(source, &env) {
            let value =
                Val::list(vec![Val::Int(1), Val::from("a"), Val::map(vec![(Val::from("k"), Val::Double(0.5))])]);
            let _ = program.evaluate(&[value], 100_000);
        }
    }
    let Ok(tree) = parse(text, FileId(0), &ReadOptions::default()) else { return };
    let docs = documents(&tree);
    let mut catalog = Catalog::new(CheckOptions::default());
    if let Some(first) = docs.first() {
        catalog.add(&first.root);
    }
    for document in &docs {
        let is_valid = catalog.is_valid(document);
        let checked = catalog.check(document);
        assert_eq!(is_valid, checked.iter().all(|checked| checked.is_valid()));
    }
});
