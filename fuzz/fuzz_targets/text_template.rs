//! Text templates of any kind, as files and as strings of a YAML template, end in text or in
//! problems that can be shown.
//!
//! Parts of the data become a text template, the lines of a templated string, and a text template
//! that exports functions.

#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;
use ytterby::Options;

const LOADER: &[u8] = b"#@ load(\"f.lib.txt\", \"f\")\n---\nf: #@ f(1)\n";

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let parts = common::parts(data);
    let mut string = b"#@yaml/text-templated-strings\n---\nkey: |\n".to_vec();
    for line in parts.get(1).unwrap_or(&parts[0]).split(|&byte| byte == b'\n') {
        string.extend_from_slice(b"  ");
        string.extend_from_slice(line);
        string.push(b'\n');
    }
    let library = [b"(@ def f(x): -@)\n", *parts.get(2).unwrap_or(&parts[0]), b"(@ end -@)\n"].concat();
    let options = Options { all_errors: kind & 4 != 0, ..Options::default() };
    match kind % 4 {
        0 => common::render(&[("a.txt", parts[0])], &options),
        1 => common::render(&[("a.yml", &string)], &options),
        2 => common::render(&[("a.yml", LOADER), ("f.lib.txt", &library)], &options),
        _ => common::render(
            &[("a.txt", parts[0]), ("a.yml", &string), ("b.yml", LOADER), ("f.lib.txt", &library)],
            &options,
        ),
    }
});
