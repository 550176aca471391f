//! Runs a Starlark file: `cargo run --release --example run -- file.star`.
//!
//! Prints to standard output; an error goes to standard error in ytt's format.

use std::process::ExitCode;
use std::rc::Rc;

use ytterby_diag::{Cause, Failure, FileId, Listing, ListingStyle, Pos, Source, Sources};
use ytterby_starlark::{Eval, Exports, NoOps, ProgramPiece, compile};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: run FILE");
        return ExitCode::FAILURE;
    };
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let sources = Sources::new();
    let file = sources.add(Source::new(path, text.as_slice()));
    sources.set_listing(file, Listing::new(ListingStyle::Starlark));
    match run(&text, file) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.text(&sources).trim_start());
            ExitCode::FAILURE
        }
    }
}

fn run(text: &[u8], file: FileId) -> Result<Rc<Exports>, Failure> {
    let mut eval = Eval::new();
    eval.set_print(|line| println!("{}", String::from_utf8_lossy(line)));
    let program = compile(&[ProgramPiece::Code { text, at: Pos::new(file, 0) }], &[]).map_err(|errors| {
        Failure::of(Cause::Code(errors.into_iter().map(|error| error.into_code_problem(&|_| false)).collect()))
    })?;
    program
        .run(&mut eval, Rc::new(NoOps), &Exports::default())
        .map_err(|error| Failure::of(Cause::Code(vec![error.into_code_problem(&|_| false)])))
}
