//! The functions and loops around a place of a template.
//!
//! The position of a node is its origin. The syntax tree shows which `def` and `for` contain it:
//! operations that create nodes are statements of the template. A node without an operation of its
//! own belongs to the last one before it, because nodes without code below them are created as a
//! whole.

use std::collections::HashMap;
use std::rc::Rc;

use ytterby_diag::{FileId, Pos, Sources};
use ytterby_starlark::Syntax;
use ytterby_starlark::ast::{Ast, Def, DefBody, ExprId, ExprKind, Param, Stmt};

/// A function or a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CodeBlock {
    pub kind: BlockKind,
    /// The start of its first line.
    pub pos: Pos,
    /// That line as written, without the colon: `for host in data.values.hosts`.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Function,
    Loop,
}

/// The blocks of all files.
#[derive(Default)]
pub(super) struct Blocks {
    /// For each file, its operations in order.
    files: HashMap<FileId, Vec<Operation>>,
}

/// The offset of an operation, and the blocks around it, outermost first.
type Operation = (u32, Rc<[CodeBlock]>);

impl Blocks {
    /// The blocks in these files.
    pub fn of(files: &[(FileId, Syntax)], sources: &Sources) -> Blocks {
        let mut blocks = Blocks::default();
        for (file, syntax) in files {
            let Some(source) = sources.get(*file) else { continue };
            let text = source.text().clone();
            let mut reader =
                BlockReader { ast: &syntax.ast, file: *file, text: &text, open: Vec::new(), found: Vec::new() };
            reader.statements(&syntax.stmts);
            let mut found = reader.found;
            // Generated operations have offsets after the end of the text.
            found.retain(|(offset, _)| (*offset as usize) < text.len());
            found.sort_by_key(|(offset, _)| *offset);
            blocks.files.insert(*file, found);
        }
        blocks
    }

    /// The functions and loops around a place, outermost first.
    pub fn around(&self, sources: &Sources, pos: Pos) -> &[CodeBlock] {
        let pos = sources.source_place(pos);
        let Some(found) = self.files.get(&pos.file).filter(|_| pos.is_known()) else { return &[] };
        let after = found.partition_point(|(offset, _)| *offset <= pos.offset);
        after.checked_sub(1).map_or(&[], |at| &found[at].1)
    }
}

struct BlockReader<'a> {
    ast: &'a Ast,
    file: FileId,
    text: &'a [u8],
    open: Vec<CodeBlock>,
    found: Vec<Operation>,
}

impl BlockReader<'_> {
    fn statements(&mut self, stmts: &[Stmt]) {
        crate::deep(|| stmts.iter().for_each(|stmt| self.statement(stmt)));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::HostOp(_, pos) => self.operation(*pos),
            Stmt::Expr(id) => {
                if let ExprKind::Call(callee, _) = &self.ast[*id].kind
                    && matches!(self.ast[*callee].kind, ExprKind::HostOp(_))
                {
                    self.operation(self.ast[*callee].pos);
                }
            }
            Stmt::If { branches, otherwise } => {
                branches.iter().for_each(|(_, stmts)| self.statements(stmts));
                self.statements(otherwise);
            }
            Stmt::For { vars, iterable, body, pos } => {
                let text = format!("for {} in {}", self.written(*vars), self.written(*iterable));
                self.block(BlockKind::Loop, *pos, text, body);
            }
            Stmt::While { condition, body } => {
                let text = format!("while {}", self.written(*condition));
                self.block(BlockKind::Loop, self.ast[*condition].start, text, body);
            }
            Stmt::Def(name, def) => {
                let DefBody::Block(body) = &def.body else { return };
                let text = format!("def {}({})", self.written(*name), self.parameters(def));
                self.block(BlockKind::Function, def.pos, text, body);
            }
            _ => {}
        }
    }

    fn operation(&mut self, pos: Pos) {
        if pos.is_known() && pos.file == self.file {
            let around = match self.found.last() {
                Some((_, last)) if **last == *self.open => last.clone(),
                _ => self.open.as_slice().into(),
            };
            self.found.push((pos.offset, around));
        }
    }

    fn block(&mut self, kind: BlockKind, pos: Pos, text: String, body: &[Stmt]) {
        self.open.push(CodeBlock { kind, pos: self.line_of(pos), text });
        self.statements(body);
        self.open.pop();
    }

    fn parameters(&self, def: &Def) -> String {
        let parameter = |param: &Param| match param {
            Param::Plain(name) => self.written(*name),
            Param::Default(name, default, _) => format!("{}={}", self.written(*name), self.written(*default)),
            Param::Star(Some(name), _) => format!("*{}", self.written(*name)),
            Param::Star(None, _) => "*".to_owned(),
            Param::StarStar(name, _) => format!("**{}", self.written(*name)),
        };
        def.params.iter().map(parameter).collect::<Vec<_>>().join(", ")
    }

    /// An expression as it is written, in one line.
    fn written(&self, id: ExprId) -> String {
        let (start, end) = (self.ast[id].start, self.ast[id].end);
        let range = start.offset as usize..end.offset as usize;
        let text = String::from_utf8_lossy(self.text.get(range).unwrap_or_default());
        let lines = text.lines().map(|line| line.trim().trim_start_matches("#@").trim());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// Where the line of a place begins, without blanks.
    fn line_of(&self, pos: Pos) -> Pos {
        let before = self.text.get(..pos.offset as usize).unwrap_or_default();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
        let blanks = before[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        Pos::new(pos.file, (start + blanks) as u32)
    }
}
