//! Runs a program and shows the result as text: its output, then its error in ytt's format.
#![allow(dead_code)]

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::{Cause, CodeProblem, Failure, FileId, Listing, ListingStyle, Pos, Source, Sources};
use ytterby_starlark::{Eval, EvalLimits, Exports, NoOps, ProgramPiece, Value, compile};
use ytterby_text::Str;

/// The output of a program, and its error.
pub struct Outcome {
    pub printed: String,
    pub error: Option<String>,
}

/// Runs a file named `t.star`.
pub fn run(code: &str) -> Outcome {
    run_with(code, EvalLimits::default())
}

pub fn run_with(code: &str, limits: EvalLimits) -> Outcome {
    let sources = Sources::new();
    let file = sources.add(Source::new("t.star", code.as_bytes()));
    sources.set_listing(file, Listing::new(ListingStyle::Starlark));
    let printed = Rc::new(RefCell::new(Vec::new()));
    let mut eval = Eval::new();
    eval.set_limits(limits);
    let sink = printed.clone();
    eval.set_print(move |line| {
        sink.borrow_mut().extend_from_slice(line);
        sink.borrow_mut().push(b'\n');
    });
    // Every module exports one name, `json`.
    eval.set_load(|_, _, _| Ok(Rc::new(Exports::new([(Str::from("json"), Value::None)]))));
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(file, 0) };
    let error = match compile(&[piece], &[]) {
        Err(errors) => Some(errors.into_iter().map(|error| error.into_code_problem(&|_| false)).collect()),
        Ok(program) => {
            let failed = program.run(&mut eval, Rc::new(NoOps), &Exports::default()).err();
            failed.map(|error| vec![error.into_code_problem(&|_| false)])
        }
    };
    let error = error.map(|problems| shown(&sources, problems));
    let printed = visible(&printed.borrow());
    Outcome { printed, error }
}

/// As text, with bytes that are not UTF-8 as `\\xff`.
fn visible(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out += chunk.valid();
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// ytt's text for problems of code, each beginning with `- `.
fn shown(sources: &Sources, problems: Vec<CodeProblem>) -> String {
    format!("{}\n", Failure::of(Cause::Code(problems)).text(sources).trim_start())
}

/// Checks the output of a program, followed by its error.
#[track_caller]
pub fn check(code: &str, expected: &str) {
    let outcome = run(code);
    let got = outcome.printed + &outcome.error.unwrap_or_default();
    assert_eq!(got, expected, "\nprogram:\n{code}");
}

/// An unknown position.
pub fn nowhere() -> Pos {
    Pos::new(FileId(0), 0)
}
