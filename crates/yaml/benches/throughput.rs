//! Megabytes per second of reading and writing.
//!
//!     cargo bench -p ytterby-yaml                  # a generated file
//!     cargo bench -p ytterby-yaml -- FILE…         # files of your own
//!
//! Instruction counts do not depend on the load of the machine; with valgrind:
//!
//!     valgrind --tool=callgrind --toggle-collect='*ytterby_yaml*parse*' target/release/deps/throughput-… --once

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use ytterby_diag::FileId;
use ytterby_yaml::write::{YamlWriter, write_tree};
use ytterby_yaml::{ReadOptions, parse};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "--once");
    let files: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    if files.is_empty() {
        measure("generated", &generated(if once { 200 } else { 20_000 }), once);
    }
    for file in files {
        measure(file, &std::fs::read(file).expect("the file can be read"), once);
    }
}

fn measure(name: &str, text: &[u8], once: bool) {
    let options = ReadOptions::default();
    let tree = parse(text, FileId(0), &options).expect("the file is YAML");
    let write = || {
        let mut yaml = YamlWriter::with_capacity(text.len());
        write_tree(&tree, &mut yaml);
        yaml.finish()
    };
    let written = write().len();
    if once {
        return;
    }
    let read = best(|| drop(black_box(parse(black_box(text), FileId(0), &options))));
    let wrote = best(|| drop(black_box(write())));
    println!("{name}: {:.1} MB", text.len() as f64 / 1e6);
    println!("  read    {:7.1} MB/s", text.len() as f64 / 1e6 / read.as_secs_f64());
    println!("  written {:7.1} MB/s", written as f64 / 1e6 / wrote.as_secs_f64());
}

/// The shortest of several runs: the one least disturbed by others.
fn best(run: impl Fn()) -> Duration {
    let time = || {
        let (start, cpu) = (Instant::now(), cpu_time());
        run();
        cpu.and_then(|cpu| cpu_time()?.checked_sub(cpu)).unwrap_or_else(|| start.elapsed())
    };
    (0..12).map(|_| time()).min().expect("there are runs")
}

/// Processor time of this thread, if the system provides it; it excludes other programs.
fn cpu_time() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Kubernetes-like documents with comments.
fn generated(documents: usize) -> Vec<u8> {
    let mut text = String::new();
    for at in 0..documents {
        write!(
            text,
            "---\n#! service number {at}\napiVersion: v1\nkind: Service\nmetadata:\n  name: service-{at}\n  namespace: default\n  \
             labels:\n    app.kubernetes.io/name: service-{at}\n    tier: \"backend\"\nspec:\n  type: ClusterIP #! no load \
             balancer\n  replicas: {at}\n  enabled: true\n  ports:\n  - name: http\n    port: 80\n    targetPort: 8080\n  - \
             {{name: metrics, port: 9090}}\n  script: |\n    echo one\n    echo two\n"
        )
        .expect("a string takes all text");
    }
    text.into_bytes()
}
