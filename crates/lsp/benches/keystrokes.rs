//! Measures how long an editor waits after a keystroke: completion, hover and diagnostics in a
//! project of 1,000 files.
//!
//! `cargo bench -p ytterby-lsp` generates the project; `-- FOLDER FILE` measures a real one and
//! types into that file of it. Exits with 1 above 50 ms (completion, hover), 200 ms (diagnostics)
//! or 150 MB.

#[path = "../tests/session/mod.rs"]
mod session;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use session::Session;

const GROUPS: usize = 40;
const TEMPLATES: usize = 24;
const TYPED: &str = "\nzz: #@ data.values.nothing_here + \"x\"\n";
const ROUNDS: usize = 4;

fn generated() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut schema = String::from("#@data/values-schema\n---\n");
    for group in 0..GROUPS {
        schema.push_str(&format!(
            "#@schema/desc \"Group {group}\"\ngroup{group}:\n  enabled: true\n  #@schema/validation min=1\n  replicas: 2\n  \
             host: g{group}.example.com\n  ports:\n  - name: \"\"\n    port: 80\n"
        ));
        let code = format!("def name(n):\n  \"\"\"A name of group {group}.\"\"\"\n  return \"g{group}-\" + n\nend\n");
        files.push((format!("config/g{group}/names.star"), code));
        for template in 0..TEMPLATES {
            let text = format!(
                "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"names.star\", \"name\")\n#@ group = data.values.group{group}\n\
                 #@ if group.enabled:\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: #@ name(\"t{template}\")\n\
                 spec:\n  replicas: #@ group.replicas\n  template:\n    spec:\n      containers:\n      - name: main\n        \
                 image: #@ \"registry/\" + group.host\n        ports:\n        #@ for port in group.ports:\n        \
                 - name: #@ port.name\n          containerPort: #@ port.port\n        #@ end\n#@ end\n"
            );
            files.push((format!("config/g{group}/t{template}.yml"), text));
        }
    }
    files.push(("config/schema.yml".to_owned(), schema));
    files.push(("values/dev.yml".to_owned(), "group0:\n  replicas: 3\n".to_owned()));
    files.push(("values/prod.yml".to_owned(), "group1:\n  replicas: 9\n".to_owned()));
    let project = "files: [config]\ntargets:\n  dev: {values: [values/dev.yml]}\n  prod: {values: [values/prod.yml]}\n";
    files.push(("ytterby.yml".to_owned(), project.to_owned()));
    files
}

fn read(folder: &Path, below: &str, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.path().is_dir() {
            read(folder, &path, files);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push((path, text));
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (files, name) = match &arguments[..] {
        [folder, file] => {
            let mut files = Vec::new();
            read(Path::new(folder), "", &mut files);
            (files, file.clone())
        }
        _ => (generated(), "config/g3/t5.yml".to_owned()),
    };
    // The files must not contain markers of tests.
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let count = files.len();
    let mut session = Session::new(&files);
    session.open(&name, "ytt");
    session.settle();
    let original = session.text(&name).to_owned();
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for typed in TYPED.chars() {
            let end = session.text(&name).len();
            session.edit(&name, end, end, &typed.to_string());
            let text = session.text(&name);
            let line = text.matches('\n').count();
            let character = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
            let document = json!({"uri": session.uri(&name)});
            let at = json!({"textDocument": document, "position": {"line": line, "character": character}});
            let start = Instant::now();
            for (method, times) in ["completion", "hover", "diagnostic"].into_iter().zip(&mut times) {
                let own = Instant::now();
                session.request(&format!("textDocument/{method}"), at.clone()).expect("it is answered");
                // The time for diagnostics counts from the keystroke.
                times.push(if method == "diagnostic" { start.elapsed() } else { own.elapsed() });
            }
        }
        let end = session.text(&name).len();
        session.edit(&name, 0, end, &original);
    }
    println!("{count} files");
    let mut is_slow = false;
    for ((method, limit), mut times) in [("completion", 50), ("hover", 50), ("diagnostics", 200)].into_iter().zip(times)
    {
        times.sort();
        let milliseconds = |at: usize| times[at.min(times.len() - 1)].as_secs_f64() * 1000.0;
        let p95 = milliseconds(times.len() * 95 / 100);
        println!("{method:12} p50 {:.1} ms, p95 {p95:.1} ms, limit {limit} ms", milliseconds(times.len() / 2));
        is_slow |= p95 > f64::from(limit);
    }
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096;
    println!("memory       {} MB, limit 150 MB", resident >> 20);
    std::process::exit(i32::from(is_slow || resident > 150 << 20));
}
