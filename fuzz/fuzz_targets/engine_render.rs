//! Sets of files of any kind end in output or in problems that can be shown, the same each time.
//!
//! Parts of the data become a schema, templates, overlays, text, code and a library.

#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;
use ytterby::{Inspect, Options};

const NAMES: [&str; 7] = ["a.yml", "schema.yml", "overlay.yml", "b.txt", "c.star", "d.lib.yml", "_ytt_lib/l/e.yml"];

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let parts = common::parts(data);
    let files: Vec<(&str, &[u8])> = NAMES.into_iter().zip(parts).collect();
    let inspect = match kind % 4 {
        1 => Some(Inspect::Values),
        2 => Some(Inspect::Schema),
        3 => Some(Inspect::SchemaDocs),
        _ => None,
    };
    let options = Options { inspect, all_errors: kind & 4 != 0, look_for_slips: kind & 8 != 0, ..Options::default() };
    common::render(&files, &options);
});
