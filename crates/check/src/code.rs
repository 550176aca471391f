//! Parses the code of a file to a syntax tree, with the YAML around it as operations.
//!
//! This is the front end of templates without evaluation: it keeps the lines of code, and adds an
//! operation for every node, annotation and computed value, of which only the position matters.
//! Positions are offsets in the file (file 0); code inside strings (`@yaml/text-templated-strings`)
//! has its own files, which map back to the node that contains it.

use ytterby::{FileKind, InputFile};
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Dialect, OpArgs, ProgramPiece, Syntax, parse_in};
use ytterby_yaml::{Comment, NodeId, ReadOptions, Scalar, Tree, View, parse};

/// The code of one file.
pub(crate) struct Code {
    /// The syntax tree; `None` if the code cannot be parsed.
    pub syntax: Option<Syntax>,
    /// The operations, by their number in the syntax tree.
    pub ops: Vec<Op>,
    /// The code of each operation.
    pub texts: Vec<String>,
    /// Offsets of the nodes whose strings contain code: file `n + 1` of a position is the `n`th of
    /// these.
    pub strings: Vec<u32>,
    /// The YAML, if the file is YAML.
    pub tree: Option<Tree>,
}

/// An operation in the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// No operation: a line of code.
    Code,
    /// A node or a piece of text, with a text that is equal for equal nodes.
    Node(String),
    /// The computed value of a node.
    Value,
    /// An annotation: its name and offset.
    Annotation(String, u32),
}

/// Reads a file.
pub(crate) fn read(file: &InputFile, text: &[u8]) -> Code {
    let mut pieces = Pieces::default();
    let has_code = file.is_template() || file.is_library();
    let tree = match file.kind() {
        FileKind::Yaml => {
            let options = ReadOptions { comments: has_code, ..ReadOptions::default() };
            let Ok(tree) = parse(text, FILE, &options) else { return Code::broken() };
            if has_code {
                Front { tree: &tree, lines: &Lines::of(text), pieces: &mut pieces }.documents();
            }
            Some(tree)
        }
        FileKind::Text if has_code => {
            pieces.text(&String::from_utf8_lossy(text), FILE);
            None
        }
        FileKind::Starlark => {
            pieces.code(String::from_utf8_lossy(text).into_owned(), Pos::new(FILE, 0));
            None
        }
        FileKind::Text | FileKind::Data => None,
    };
    let syntax = parse_in(Dialect::Current, &pieces.compiled()).ok();
    let (ops, texts) = pieces.list.into_iter().map(|piece| (piece.op, piece.text)).unzip();
    Code { syntax, ops, texts, strings: pieces.strings, tree }
}

impl Code {
    fn broken() -> Code {
        Code { syntax: None, ops: Vec::new(), texts: Vec::new(), strings: Vec::new(), tree: None }
    }

    /// The offset in the file for a position, and whether it is exact.
    pub fn place(&self, pos: Pos) -> (u32, bool) {
        match pos.file.0 {
            0 => (pos.offset, true),
            number => (self.strings.get(number as usize - 1).copied().unwrap_or_default(), false),
        }
    }
}

const FILE: FileId = FileId(0);

#[derive(Default)]
struct Pieces {
    list: Vec<OwnPiece>,
    strings: Vec<u32>,
}

struct OwnPiece {
    op: Op,
    text: String,
    form: PieceForm,
    at: Pos,
}

#[derive(Clone, Copy, PartialEq)]
enum PieceForm {
    Code,
    Nothing,
    Expr,
    Call,
}

impl Pieces {
    fn add(&mut self, op: Op, form: PieceForm, text: String, at: Pos) {
        self.list.push(OwnPiece { op, text, form, at });
    }

    fn code(&mut self, text: String, at: Pos) {
        self.add(Op::Code, PieceForm::Code, text, at);
    }

    /// A text template.
    fn text(&mut self, text: &str, file: FileId) {
        let mut at = 0;
        while let Some(open) = text[at..].find("(@") {
            let start = at + open + 2;
            let print = text[at..at + open].to_owned();
            self.add(Op::Node(print), PieceForm::Nothing, String::new(), Pos::new(file, at as u32));
            let Some(length) = text[start..].find("@)") else { return };
            let whole = &text[start..start + length];
            let front = ["-=", "=", "-"].iter().find(|mark| whole.starts_with(**mark)).map_or(0, |mark| mark.len());
            let inner = &whole[front..];
            let inner = inner.strip_suffix('-').unwrap_or(inner);
            let pos = Pos::new(file, (start + front) as u32);
            match whole.starts_with('=') || whole.starts_with("-=") {
                true => self.add(Op::Value, PieceForm::Expr, inner.to_owned(), pos),
                false => self.code(inner.to_owned(), pos),
            }
            at = start + length + 2;
        }
        self.add(Op::Node(text[at..].to_owned()), PieceForm::Nothing, String::new(), Pos::new(file, at as u32));
    }

    fn compiled(&self) -> Vec<ProgramPiece<'_>> {
        let piece = |(number, piece): (usize, &'_ OwnPiece)| -> ProgramPiece<'_> {
            // Borrowing through the closure's argument needs the lifetime of the list.
            let own = &self.list[number];
            let (text, at) = (own.text.as_bytes(), piece.at);
            let args = match own.form {
                PieceForm::Code => return ProgramPiece::Code { text, at },
                PieceForm::Nothing => OpArgs::None,
                PieceForm::Expr => OpArgs::Expr { text, at },
                PieceForm::Call => OpArgs::Call { text, at },
            };
            ProgramPiece::Op { op: number as u32, dialect: 0, args, at }
        };
        self.list.iter().enumerate().map(piece).collect()
    }
}

struct Front<'a> {
    tree: &'a Tree,
    lines: &'a Lines,
    pieces: &'a mut Pieces,
}

/// Where the lines of a text start; a line can have many nodes.
struct Lines(Vec<u32>);

impl Lines {
    fn of(text: &[u8]) -> Lines {
        let feeds = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Lines(std::iter::once(0).chain(feeds.map(|(at, _)| at as u32 + 1)).collect())
    }

    /// The number of the line of an offset.
    fn line(&self, offset: u32) -> usize {
        self.0.partition_point(|start| *start <= offset) - 1
    }

    /// Bytes before an offset on its line.
    fn column(&self, offset: u32) -> u32 {
        offset - self.0[self.line(offset)]
    }
}

impl Front<'_> {
    fn documents(mut self) {
        for doc in self.tree.documents() {
            let pos = if doc.injected { Pos::UNKNOWN } else { doc.pos };
            self.item(pos, None, doc.value, self.tree.comments(doc), false);
        }
    }

    /// A document, map item or array item. `templated` is whether strings contain code.
    fn item(&mut self, pos: Pos, key: Option<&Scalar>, value: NodeId, comments: &[Comment], mut templated: bool) {
        let mut values = Vec::new();
        let mut annotations = Vec::new();
        let mut needs_end = false;
        for comment in comments {
            let Some(rest) = comment.text.as_str().and_then(|text| text.strip_prefix('@')) else { continue };
            let (name, content) = rest.split_once(' ').unwrap_or((rest, ""));
            let at = Pos::new(FILE, comment.pos.offset + 3 + name.len() as u32);
            match name {
                "comment" => {}
                "" if pos.is_known() && self.is_same_line(pos.offset, comment.pos.offset) => {
                    values.push((content.to_owned(), at));
                }
                "template/value" => values.push((content.to_owned(), at)),
                "" | "template/code" => {
                    let sugar = without_sugar(content);
                    needs_end |= sugar.is_some();
                    self.pieces.code(sugar.unwrap_or_else(|| content.to_owned()), at);
                }
                name => annotations.push((name.to_owned(), content.to_owned(), at, comment.pos.offset)),
            }
        }
        for (name, args, at, start) in annotations {
            templated |= name == "yaml/text-templated-strings";
            self.pieces.add(Op::Annotation(name, start), PieceForm::Call, args, at);
        }
        if let (true, Some(key)) = (templated, key) {
            self.string(pos, key);
        }
        let print = self.print(pos, key, value);
        self.pieces.add(Op::Node(print), PieceForm::Nothing, String::new(), pos);
        if values.is_empty() {
            self.value(pos, value, templated);
        }
        for (text, at) in values {
            self.pieces.add(Op::Value, PieceForm::Expr, text, at);
        }
        if needs_end {
            self.pieces.code("end".to_owned(), pos);
        }
    }

    fn value(&mut self, pos: Pos, value: NodeId, templated: bool) {
        match self.tree.value(value) {
            View::Scalar(scalar) => {
                if templated {
                    self.string(pos, scalar);
                }
            }
            View::Map(items) => stacker::maybe_grow(128 << 10, 2 << 20, || {
                for item in items {
                    self.item(item.pos, Some(&item.key), item.value, self.tree.comments(item), templated);
                }
            }),
            View::Array(items) => stacker::maybe_grow(128 << 10, 2 << 20, || {
                for item in items {
                    self.item(item.pos, None, item.value, self.tree.comments(item), templated);
                }
            }),
        }
    }

    /// A string that may contain `(@ … @)`.
    fn string(&mut self, owner: Pos, scalar: &Scalar) {
        let Scalar::Str(text) = scalar else { return };
        let Some(text) = text.as_str().filter(|text| text.contains("(@")) else { return };
        self.pieces.strings.push(owner.offset);
        let file = FileId(self.pieces.strings.len() as u32);
        self.pieces.text(text, file);
    }

    /// A node without its children as text: its column, key and scalar.
    fn print(&self, pos: Pos, key: Option<&Scalar>, value: NodeId) -> String {
        let column = if pos.is_known() { self.lines.column(pos.offset) } else { 0 };
        match self.tree.value(value) {
            View::Scalar(scalar) => format!("{column} {key:?} {scalar:?}"),
            View::Map(_) => format!("{column} {key:?} map"),
            View::Array(_) => format!("{column} {key:?} array"),
        }
    }

    fn is_same_line(&self, one: u32, other: u32) -> bool {
        self.lines.line(one) == self.lines.line(other)
    }
}

/// `if/end x:` with blanks instead of `/end`, so that positions stay the same.
fn without_sugar(code: &str) -> Option<String> {
    let trimmed = code.trim_start();
    let indent = code.len() - trimmed.len();
    ["if", "else", "elif", "for", "def"].iter().find_map(|keyword| {
        let rest = trimmed.strip_prefix(keyword)?.strip_prefix("/end")?;
        // A blank before a colon is allowed.
        Some(format!("{}{keyword}    {rest}", &code[..indent]))
    })
}
