//! Paths from any text, followed on one VM in every world, and regular expressions from the same
//! text.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use ytterby_kubevirt::jsonpath::JsonPath;
use ytterby_kubevirt::jsonpath::eval::{World, find};
use ytterby_kubevirt::value::Value;
use ytterby_kubevirt::{json, schema};

const VM: &str = include_str!("kubevirt_vm.json");

fuzz_target!(|text: &str| {
    static VALUE: OnceLock<Value> = OnceLock::new();
    let vm = VALUE.get_or_init(|| json::parse(VM).expect("the VM is JSON").to_value());
    if let Ok(path) = JsonPath::parse(&format!("jsonpath::{text}")) {
        for world in [World::Specification, World::Struct, World::ReferenceVm] {
            let _ = find(&path, vm, world);
        }
        if let Some(steps) = path.steps() {
            schema::target(steps);
        }
    }
    // What Go accepts, the translation must be able to say: that is asserted inside.
    let _ = ytterby_regexp::Regexp::new(text.as_bytes());
});
