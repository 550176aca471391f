//! Measures exports of a schema with 10,000 keys, imports of the exports, and a comparison, in
//! milliseconds.
//!
//!     cargo bench -p ytterby --bench exports               # 10,000 keys
//!     cargo bench -p ytterby --bench exports -- 20000      # twice as many should take twice as long
//!
//! Three schemas: all keys in one map, maps of a hundred keys each, and chains of maps fifty deep.

use std::fmt::Write as _;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ytterby::{
    Content, ImportFrom, ImportOptions, InputFile, Inspect, Options, OutputTypes, Silent, diff_schemas, import_schema,
    render,
};
use ytterby_diag::Sources;

fn main() {
    let keys = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(10_000);
    for (name, schema) in [("flat", flat(keys)), ("nested", nested(keys)), ("deep", deep(keys))] {
        println!("{name}: {keys} keys, {} kB", schema.len() / 1000);
        measure(&schema);
    }
}

fn measure(schema: &str) {
    for format in ["openapi-v3", "json-schema", "crd", "ytt-schema", "markdown", "html"] {
        show(format, || drop(black_box(export(schema, format))));
    }
    for format in ["openapi-v3", "json-schema", "crd"] {
        let exported = export(schema, format);
        let options = ImportOptions::default();
        show(&format!("import {format}"), || {
            drop(black_box(import_schema(&exported, &options).expect("it is a schema")));
        });
    }
    let values = inspect(schema, Inspect::Values, Vec::new());
    let options = ImportOptions::new(ImportFrom::Values);
    show("import values", || drop(black_box(import_schema(&values, &options).expect("they are values"))));
    let changed = schema.replace("min=1", "min=2").replace("Number 7", "Number VII");
    show("diff", || {
        let files = |text: &str| vec![InputFile::new("schema.yml", Content::new(text.as_bytes()))];
        let sources = Arc::new(Sources::new());
        let changes = diff_schemas(files(schema), files(&changed), &Options::default(), &sources, Rc::new(Silent));
        drop(black_box(changes.expect("both are schemas")));
    });
}

fn export(schema: &str, format: &str) -> Vec<u8> {
    inspect(schema, Inspect::Schema, vec![format.to_owned()])
}

fn inspect(schema: &str, inspect: Inspect, output_types: Vec<String>) -> Vec<u8> {
    let output_types = OutputTypes(output_types);
    let options = Options { inspect: Some(inspect), output_types, ..Options::default() };
    let files = vec![InputFile::new("schema.yml", Content::new(schema.as_bytes()))];
    let rendered = render(files, &options, &Arc::new(Sources::new()), Rc::new(Silent));
    rendered.expect("it is a schema").documents
}

fn show(name: &str, run: impl Fn()) {
    println!("  {name:<20} {:8.1} ms", best(run).as_secs_f64() * 1000.0);
}

/// The shortest of several runs: the one least disturbed by other programs.
fn best(run: impl Fn()) -> Duration {
    let time = || {
        let (start, cpu) = (Instant::now(), cpu_time());
        run();
        cpu.and_then(|cpu| cpu_time()?.checked_sub(cpu)).unwrap_or_else(|| start.elapsed())
    };
    (0..5).map(|_| time()).min().expect("there are runs")
}

/// Processor time of this thread, if the system provides it; it excludes other programs.
fn cpu_time() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// A key of one of several kinds, with typical annotations.
fn key(out: &mut String, number: usize, margin: usize) {
    let mut line = |text: String| writeln!(out, "{:margin$}{text}", "").expect("a string takes all text");
    line(format!("#@schema/desc \"Number {number} of the *settings*, with a [link](https://example.com/{number}).\""));
    match number % 6 {
        0 => {
            line("#@schema/validation min=1, max=65535".to_owned());
            line(format!("port_{number}: 80"));
        }
        1 => {
            line("#@schema/validation min_len=2, matches=\"^[a-z]+$\"".to_owned());
            line("#@schema/example \"abc\"".to_owned());
            line(format!("name_{number}: abc"));
        }
        2 => {
            line("#@schema/nullable".to_owned());
            line(format!("note_{number}: \"\""));
        }
        3 => {
            line("#@schema/validation (\"odd\", lambda v: v % 2 == 1)".to_owned());
            line(format!("count_{number}: 3"));
        }
        4 => {
            line("#@schema/validation unique=True".to_owned());
            line(format!("hosts_{number}:\n{:margin$}- \"\"", ""));
        }
        _ => {
            line("#@schema/type one_of=[\"int\", \"string\"]".to_owned());
            line(format!("size_{number}: 5"));
        }
    }
}

const HEAD: &str = "#@data/values-schema\n---\n";

fn flat(keys: usize) -> String {
    let mut out = HEAD.to_owned();
    (0..keys).for_each(|number| key(&mut out, number, 0));
    out
}

fn nested(keys: usize) -> String {
    let mut out = HEAD.to_owned();
    for number in 0..keys {
        if number % 100 == 0 {
            writeln!(out, "part_{number}:").expect("a string takes all text");
        }
        key(&mut out, number, 2);
    }
    out
}

fn deep(keys: usize) -> String {
    let mut out = HEAD.to_owned();
    for number in 0..keys {
        let depth = number % 50;
        key(&mut out, number, 2 * depth);
        writeln!(out, "{:1$}level_{number}:", "", 2 * depth).expect("a string takes all text");
        if depth == 49 || number + 1 == keys {
            writeln!(out, "{:1$}end: true", "", 2 * depth + 2).expect("a string takes all text");
        }
    }
    out
}
