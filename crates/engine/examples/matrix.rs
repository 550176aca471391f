//! Renders a project many times with different values, on several threads, and prints the time of
//! each part.
//!
//!     cargo run --release --example matrix -- examples/hello name 100 2
//!
//! The arguments: files or directories, the path of a text value that differs between renders (`-`
//! for none), the number of renders, and the number of threads.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ytterby::{Project, ProjectError, Values};

mod common;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [paths @ .., value, count, threads] = &arguments[..] else {
        return Err("usage: matrix PATH… VALUE COUNT THREADS".into());
    };
    let (count, threads): (usize, usize) = (count.parse()?, threads.parse()?);
    let mut builder = Project::builder();
    for path in paths {
        builder = builder.inputs(common::files(Path::new(path))?);
    }
    let project = builder.build()?;
    let values = |turn: usize| match &**value {
        "-" => Values::new(),
        path => Values::new().set_text(path, &format!("turn-{turn}")),
    };

    let mut renderer = project.renderer();
    for turn in ["first", "second"] {
        let start = Instant::now();
        let bytes = renderer.render(&values(0))?.yaml()?.len();
        println!("{turn} render: {:.2} ms, {bytes} bytes", start.elapsed().as_secs_f64() * 1e3);
    }
    let (start, next) = (Instant::now(), AtomicUsize::new(0));
    let work = || -> Result<usize, ProjectError> {
        let mut renderer = project.renderer();
        let mut bytes = 0;
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            if turn >= count {
                return Ok(bytes);
            }
            bytes += renderer.render(&values(turn))?.yaml()?.len();
        }
    };
    let bytes = std::thread::scope(|scope| -> Result<usize, ProjectError> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut bytes = 0;
        for worker in workers {
            bytes += worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(bytes)
    })?;
    let elapsed = start.elapsed().as_secs_f64();
    let each = elapsed * 1e3 / count.max(1) as f64;
    println!("{count} renders on {threads} threads: {:.1} ms, {each:.2} ms each, {bytes} bytes", elapsed * 1e3);
    Ok(())
}
