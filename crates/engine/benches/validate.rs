//! Measures validations and their growth: twice the values must take twice the time.
//!
//!     cargo bench -p ytterby --bench validate                  # milliseconds of processor time
//!     cargo bench -p ytterby --bench validate -- violations    # only one
//!
//! `rules` measures validation itself: maps with ten rules each and no violation, as the difference
//! between a run and the same run without validation; 1,000 maps should take at most 20 ms. The
//! others are whole runs, similar to workloads that are also compared with ytt. Times depend on the
//! load of the machine; instruction counts do not:
//!
//!     valgrind --tool=callgrind target/release/deps/validate-<hash> rules once

use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ytterby::{Content, InputFile, Options, Silent, ValuesFile, render};
use ytterby_diag::Sources;

/// The input of a render.
struct Workload {
    schema: String,
    /// Plain values that override those of the schema.
    values: Option<String>,
    valid: bool,
}

type Make = fn(usize) -> Workload;

/// Name, smallest size, and generator.
const WORKLOADS: [(&str, usize, Make); 4] = [
    ("rules", 1000, rules),
    ("schema-wide", 1000, schema_wide),
    ("schema-array", 1000, schema_array),
    ("violations", 1000, violations),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "once");
    let wanted: Vec<_> = args.iter().filter(|arg| *arg != "once").collect();
    for (name, size, make) in WORKLOADS {
        if !wanted.is_empty() && !wanted.iter().any(|arg| *arg == name) {
            continue;
        }
        if once {
            run(&make(size), &Options::default());
            continue;
        }
        println!("{name}");
        let sizes = [size, 2 * size, 4 * size, 8 * size];
        let times: Vec<f64> = sizes.iter().map(|size| milliseconds(name, &make(*size))).collect();
        for (size, time) in sizes.iter().zip(&times) {
            println!("  {size:>6} {time:>9.2} ms {:>8.2} us each", time * 1e3 / *size as f64);
        }
        println!("  growth {:.2}", (times[3] / times[0]).log2() / 3.0);
    }
}

fn milliseconds(name: &str, workload: &Workload) -> f64 {
    let whole = best(|| run(workload, &Options::default()));
    let time = match name {
        "rules" => {
            let without = Options { skip_value_validation: true, ..Options::default() };
            whole.saturating_sub(best(|| run(workload, &without)))
        }
        _ => whole,
    };
    time.as_secs_f64() * 1e3
}

fn run(workload: &Workload, options: &Options) {
    let file = |name: &str, text: &str| InputFile::new(name, Content::new(text.as_bytes()));
    let mut options = options.clone();
    let values = workload.values.iter().map(|text| ValuesFile {
        library: String::new(),
        path: "values.yml".to_owned(),
        files: Ok(vec![file("values.yml", text)]),
    });
    options.values.files.extend(values);
    let template = file("config.yml", "#@ load('@ytt:data', 'data')\nsize: #@ len(dir(data.values))\n");
    let files = vec![file("schema.yml", &workload.schema), template];
    let rendered = render(files, &options, &Arc::new(Sources::new()), Rc::new(Silent));
    match rendered {
        Ok(_) => assert!(workload.valid, "there should be violations"),
        Err(failure) => assert!(!workload.valid, "{}", failure),
    }
}

/// The time of one run, from the batch that was disturbed least by other programs. Some systems
/// count in ticks of 4 ms, so a batch is much longer.
fn best(run: impl Fn()) -> Duration {
    const BATCH: Duration = Duration::from_millis(80);
    let batch = || {
        let (start, cpu) = (Instant::now(), cpu_time());
        let mut runs = 0;
        while start.elapsed() < BATCH {
            run();
            runs += 1;
        }
        cpu.and_then(|cpu| cpu_time()?.checked_sub(cpu)).unwrap_or_else(|| start.elapsed()) / runs
    };
    (0..7).map(|_| batch()).min().expect("there are batches")
}

/// Processor time of this thread, if the system provides it; it excludes other programs.
fn cpu_time() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes all text");
}

/// Maps with ten rules of all kinds: named ones, a pattern, formats, an expression, functions.
fn rules(count: usize) -> Workload {
    let schema = "#@data/values-schema\n---\nservers:\n\
        #@schema/validation (\"a name that fits its zone\", lambda v: v[\"name\"].endswith(v[\"zone\"]))\n\
        -\n  #@schema/validation min_len=1, matches=\"^[a-z][a-z0-9-]*$\"\n  name: a\n\
        \x20 #@schema/validation min=1, max=65535\n  port: 1\n\
        \x20 #@schema/validation format=\"hostname\"\n  host: a\n\
        \x20 #@schema/validation one_of=[\"a\", \"b\", \"c\"]\n  zone: a\n\
        \x20 #@schema/validation cel=\"self % 2 == 0\"\n  size: 0\n\
        \x20 #@schema/validation format=\"ip\", when=lambda v, ctx: ctx.parent[\"port\"] > 0\n  address: ''\n\
        \x20 #@schema/validation (\"a short list\", lambda v: len(v) < 9)\n  tags:\n  - ''\n";
    let mut values = "servers:\n".to_owned();
    for at in 0..count {
        push(
            &mut values,
            format_args!(
                "- name: server-{at}-a\n  port: {}\n  host: server-{at}.example.com\n  zone: a\n  size: {}\n  address: \
                 10.0.{}.{}\n  tags: [a, b]\n",
                at % 60_000 + 1,
                at * 2,
                at / 250 % 250,
                at % 250
            ),
        );
    }
    Workload { schema: schema.to_owned(), values: Some(values), valid: true }
}

/// Many keys, each with a rule and a value.
fn schema_wide(count: usize) -> Workload {
    let (mut schema, mut values) = ("#@data/values-schema\n---\n".to_owned(), String::new());
    for at in 0..count {
        let (rule, default, value) = match at % 5 {
            0 => ("min_len=1, max_len=40", "name", format!("other-{at}")),
            1 => ("min=0, max=100000000", "10", at.to_string()),
            2 => ("one_of=[\"debug\", \"info\", \"warn\"]", "info", "warn".to_owned()),
            3 => ("(\"a value with a dash\", lambda v: \"-\" in v)", "a-b", format!("c-{at}")),
            _ => ("min_len=3, when=lambda v, ctx: ctx.root[\"k1\"] >= 0", "abc", format!("three-{at}")),
        };
        push(&mut schema, format_args!("#@schema/validation {rule}\nk{at}: {default}\n"));
        push(&mut values, format_args!("k{at}: {value}\n"));
    }
    Workload { schema, values: Some(values), valid: true }
}

/// A long array of maps, each typed, filled and validated.
fn schema_array(count: usize) -> Workload {
    let schema = "#@data/values-schema\n---\n#@schema/validation min_len=1\nservers:\n\
        -\n  #@schema/validation min_len=1\n  name: ''\n  #@schema/validation min=1, max=65535\n  port: 8080\n\
        \x20 #@schema/validation one_of=[\"tcp\", \"udp\"]\n  proto: tcp\n  opts:\n    timeout: 30\n    retries: 3\n\
        \x20   #@schema/nullable\n    label: ''\n  tags:\n  - ''\n";
    let mut values = "servers:\n".to_owned();
    for at in 0..count {
        push(&mut values, format_args!("- name: srv-{at}\n  port: {}\n  tags: [a, b]\n", at % 60_000 + 1));
    }
    Workload { schema: schema.to_owned(), values: Some(values), valid: true }
}

/// Many values, none of which is valid.
fn violations(count: usize) -> Workload {
    let mut schema = "#@data/values-schema\n---\n".to_owned();
    for at in 0..count {
        let (rule, value) = match at % 4 {
            0 => ("min_len=5", "abc"),
            1 => ("min=100", "10"),
            2 => ("one_of=[\"x\", \"y\"]", "z"),
            _ => ("(\"a dash\", lambda v: \"-\" in v)", "nodash"),
        };
        push(&mut schema, format_args!("#@schema/validation {rule}\nk{at}: {value}\n"));
    }
    Workload { schema, values: None, valid: false }
}
