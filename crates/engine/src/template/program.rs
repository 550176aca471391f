//! The lines of a template's program, in execution order.
//!
//! Front ends write them here: user code, and operations on nodes. Every line that the reference
//! would generate has a counterpart here, so that a syntax error is found at the same position.

use std::borrow::Cow;
use std::fmt::Display;

use ytterby_diag::{FileId, Listing, ListingStyle, Pos};
use ytterby_starlark::{OpArgs, ProgramPiece};
use ytterby_text::budget;

use super::comment::Content;
use super::table::{NodeTable, Op};

/// The prefix of the functions that the reference's generated code calls. It numbers what it
/// compiles; 2 is the first template of a run without data values.
pub(super) const GENERATED: &str = "__ytt_tpl2_";

/// A program being written.
pub(crate) struct ProgramWriter<'a> {
    pub file: FileId,
    pub table: NodeTable,
    pub lines: Listing,
    code: Vec<ProgramLine<'a>>,
    last: Option<Pos>,
    /// The number of nodes that the reference would have counted so far.
    shown_tags: u32,
    /// While a string inside a YAML file is written: the position of that string in the file.
    inside: Option<Pos>,
}

enum ProgramLine<'a> {
    Code(Cow<'a, str>, Pos),
    Op { op: u32, dialect: u8, args: OperationArgs<'a>, at: Pos },
}

/// The arguments of an operation.
#[derive(Clone, Copy)]
pub(crate) enum OperationArgs<'a> {
    None,
    Expr(Content<'a>),
    Call(Content<'a>),
}

impl<'a> ProgramWriter<'a> {
    pub fn new(file: FileId, style: ListingStyle) -> ProgramWriter<'a> {
        ProgramWriter {
            file,
            table: NodeTable::default(),
            lines: Listing::new(style),
            code: Vec::new(),
            last: None,
            shown_tags: 0,
            inside: None,
        }
    }

    /// A line of user code.
    pub fn code(&mut self, text: impl Into<Cow<'a, str>>, at: Pos) {
        charge_line();
        self.mark(at);
        self.code.push(ProgramLine::Code(text.into(), at));
    }

    /// A line of code that the reference generates.
    pub fn generated_code(&mut self, text: &'static str) {
        let at = self.generated(text);
        self.code.push(ProgramLine::Code(text.into(), at));
    }

    /// An operation with a position in the source.
    pub fn op(&mut self, op: Op, dialect: u8, args: OperationArgs<'a>, at: Pos) {
        charge_line();
        self.mark(at);
        let op = self.table.add_op(op);
        self.code.push(ProgramLine::Op { op, dialect, args, at });
    }

    /// Makes the last operation do more, at the same position. Returns false if it is another one.
    pub fn fuse(&mut self, op: Op) -> bool {
        self.table.fuse(op)
    }

    /// An operation without a counterpart in the source; `text` is the call that the reference
    /// generates for it, without the common prefix.
    pub fn generated_op(&mut self, op: Op, dialect: u8, text: impl Display) {
        charge_line();
        let at = self.generated(format!("{GENERATED}{text}"));
        let op = self.table.add_op(op);
        self.code.push(ProgramLine::Op { op, dialect, args: OperationArgs::None, at });
    }

    /// Counts nodes as the reference does, and returns the number of the last one.
    pub fn count_tags(&mut self, count: u32) -> u32 {
        self.shown_tags += count;
        self.shown_tags
    }

    /// Writes lines from a string at `place`; messages about generated lines show that position.
    pub fn inside<R>(&mut self, place: Pos, write: impl FnOnce(&mut Self) -> R) -> R {
        self.inside = place.is_known().then_some(place);
        let result = write(self);
        self.inside = None;
        result
    }

    /// The pieces to compile.
    pub fn pieces(&self) -> Vec<ProgramPiece<'_>> {
        self.code.iter().map(ProgramLine::piece).collect()
    }

    fn mark(&mut self, at: Pos) {
        let at = self.inside.unwrap_or(at);
        self.lines.continue_at(at);
        self.last = Some(at);
    }

    fn generated(&mut self, text: impl Into<String>) -> Pos {
        self.lines.add_generated(self.file, text, self.last)
    }
}

/// Charges a line of a program: the line, its syntax tree and its instructions.
fn charge_line() {
    const BYTES: usize = 512;
    budget::or_unwind(budget::memory(BYTES).and_then(|()| budget::work(1)));
}

impl ProgramLine<'_> {
    fn piece(&self) -> ProgramPiece<'_> {
        match self {
            ProgramLine::Code(text, at) => ProgramPiece::Code { text: text.as_bytes(), at: *at },
            ProgramLine::Op { op, dialect, args, at } => {
                let args = match args {
                    OperationArgs::None => OpArgs::None,
                    OperationArgs::Expr(content) => OpArgs::Expr { text: content.text.as_bytes(), at: content.at },
                    OperationArgs::Call(content) => OpArgs::Call { text: content.text.as_bytes(), at: content.at },
                };
                ProgramPiece::Op { op: *op, dialect: *dialect, args, at: *at }
            }
        }
    }
}
