//! Rules from any text, in both modes: read, linted, mended, explained, exported and evaluated on
//! one VM.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use ytterby_kubevirt::evaluate::{Sizing, evaluate};
use ytterby_kubevirt::value::Value;
use ytterby_kubevirt::{compat, fix, json, lint, rules};

const VM: &str = include_str!("kubevirt_vm.json");

fuzz_target!(|text: &str| {
    static VALUE: OnceLock<Value> = OnceLock::new();
    let vm = VALUE.get_or_init(|| json::parse(VM).expect("the VM is JSON").to_value());
    if let Ok(rules) = rules::parse(text) {
        let outcomes = evaluate(&rules, vm, &Sizing::Own);
        assert_eq!(outcomes.len(), rules.entries.len());
    }
    if let Ok(rules) = compat::parse(text) {
        assert_eq!(compat::evaluate(&rules, vm).len(), rules.len());
    }
    lint::lint(text);
    let mended = fix::applied(text, &fix::edits(text));
    if json::parse(text).is_ok() {
        assert!(json::parse(&mended).is_ok(), "mending broke the JSON");
    }
});
