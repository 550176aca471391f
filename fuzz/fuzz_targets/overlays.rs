//! Overlays on any documents, as files and through `overlay.apply`, end in output or in problems
//! that can be shown.
//!
//! The first part of the data is what is patched, the others are overlays. The first byte chooses
//! how they are applied, and whether they begin with annotations that match everything: those get
//! deeper than what the fuzzer finds alone.

#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;
use ytterby::Options;

const LOAD: &str = "#@ load(\"@ytt:overlay\", \"overlay\")\n";
const NAMES: [&str; 3] = ["overlay-1.yml", "overlay-2.yml", "overlay-3.yml"];

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let parts = common::parts(data);
    let (base, overlays) = (parts[0], &parts[1..]);
    let options = Options { all_errors: kind & 4 != 0, ..Options::default() };
    if kind & 1 != 0 {
        let template = [LOAD.as_bytes(), &function("left", base, b""), &calls(overlays, kind & 2 != 0)].concat();
        return common::render(&[("a.yml", &template)], &options);
    }
    let header = match kind & 2 != 0 {
        true => format!(
            "{LOAD}#@overlay/match by=overlay.all, expects=\"0+\"\n#@overlay/match-child-defaults missing_ok=True\n---\n"
        ),
        false => String::new(),
    };
    let overlays: Vec<Vec<u8>> = overlays.iter().map(|overlay| [header.as_bytes(), overlay].concat()).collect();
    let patches = NAMES.into_iter().zip(overlays.iter().map(Vec::as_slice));
    let files: Vec<(&str, &[u8])> = [("base.yml", base)].into_iter().chain(patches).collect();
    common::render(&files, &options);
});

/// A function that returns the nodes of a text.
fn function(name: &str, body: &[u8], annotation: &[u8]) -> Vec<u8> {
    let mut text = format!("#@ def {name}():\n").into_bytes();
    text.extend_from_slice(annotation);
    for line in body.split(|&byte| byte == b'\n') {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.extend_from_slice(b"#@ end\n");
    text
}

/// The overlays as functions, and a document that applies them one after the other.
fn calls(overlays: &[&[u8]], matches_all: bool) -> Vec<u8> {
    let annotation: &[u8] = if matches_all { b"#@overlay/match-child-defaults missing_ok=True\n" } else { b"" };
    let mut text = Vec::new();
    let mut names = String::from("left()");
    for (n, overlay) in overlays.iter().take(NAMES.len()).enumerate() {
        text.extend(function(&format!("right{n}"), overlay, annotation));
        names += &format!(", right{n}()");
    }
    text.extend(format!("---\nresult: #@ overlay.apply({names})\n").into_bytes());
    text
}
