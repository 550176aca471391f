//! Runs a Starlark file: `cargo run --release --example run -- file.star`.
//!
//! Prints to standard output; an error goes to standard error the way ytt shows it.

use std::process::ExitCode;
use std::rc::Rc;

use ytterby_diag::{Pos, Sources};
use ytterby_starlark::{Eval, Exports, NoOps, Piece, compile};

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
    let file = sources.add(path, text.clone());
    let line = |pos: Pos| format!("{} | {}", sources.line(pos), sources.line_text(pos).unwrap_or_default());
    let mut eval = Eval::new();
    eval.set_print(|line| println!("{}", String::from_utf8_lossy(line)));
    let program = match compile(&[Piece::Code { text: &text, at: Pos::new(file, 0) }], &[]) {
        Ok(program) => program,
        Err(errors) => {
            errors.iter().for_each(|error| eprintln!("- {}\n    {}", error.message, line(error.pos)));
            return ExitCode::FAILURE;
        }
    };
    match program.run(&mut eval, Rc::new(NoOps), &Exports::default()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("- {}", error.message());
            for frame in error.frames().iter().filter(|frame| frame.pos.is_known()) {
                eprintln!("    in {}\n      {}", frame.name, line(frame.pos));
            }
            ExitCode::FAILURE
        }
    }
}
