//! Compiles pieces to code: parses, binds names, and emits instructions function by function.
//!
//! Expressions are compiled in two ways: [`FnCompiler::operand`] returns a register that contains
//! the value, which may be that of a variable; [`FnCompiler::into`] puts the value into a given
//! register and writes to it only after everything was read, because it may be a variable that the
//! expression uses.

mod code;
mod expr;
mod first_pos;
mod stmt;

pub(crate) use code::*;

use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

use ytterby_diag::{FileId, Pos, Span};
use ytterby_text::{Str, profile};

use crate::ast::{Ast, Def, DefBody, ExprId, ExprKind, Param, Stmt};
use crate::program::Toplevel;
use crate::resolve::{Binding, FunctionScope, NameError, Resolved, Scope, resolve};
use crate::syntax::parse;
use crate::{Dialect, Problem, ProgramPiece, StatementCoverage, SyntaxError};

/// Compiles a program; see [`crate::compile`].
pub(crate) fn compile(
    dialect: Dialect,
    pieces: &[ProgramPiece<'_>],
    predeclared: &[&str],
    coverage: Option<&StatementCoverage>,
) -> Result<Toplevel, Vec<SyntaxError>> {
    let (ast, stmts) = parse(dialect, pieces).map_err(|error| vec![error.advised(pieces)])?;
    let resolved = resolve(&ast, &stmts, predeclared).map_err(|errors| {
        let error =
            |NameError { pos, problem, message }| SyntaxError::at(pos, problem, message, pieces).advised(pieces);
        errors.into_iter().map(error).collect::<Vec<_>>()
    })?;
    let at = match pieces.first() {
        Some(ProgramPiece::Code { at, .. } | ProgramPiece::Op { at, .. }) => *at,
        None => Pos::UNKNOWN,
    };
    let profiled = profile::is_on();
    let program = ProgramCompiler { ast: Arc::new(ast), resolved, pieces, coverage, profiled };
    let code = program.toplevel(&stmts, at).map_err(|TooLarge { message, pos }| {
        let pos = pos.unwrap_or(at);
        vec![SyntaxError::at(pos, Problem::Syntax, message, pieces)]
    })?;
    Ok(Toplevel {
        code: Arc::new(code),
        globals: program.resolved.globals.into_boxed_slice(),
        predeclared: program.resolved.predeclared.into_boxed_slice(),
    })
}

struct ProgramCompiler<'a> {
    ast: Arc<Ast>,
    resolved: Resolved,
    pieces: &'a [ProgramPiece<'a>],
    coverage: Option<&'a StatementCoverage>,
    /// Whether the program records its functions and lines in the thread's profile.
    profiled: bool,
}

type Compiled<T> = Result<T, TooLarge>;

/// A valid construct that exceeds a limit of the machine.
struct TooLarge {
    message: String,
    /// The statement that contains it, once known.
    pos: Option<Pos>,
}

impl TooLarge {
    fn at(self, pos: Option<Pos>) -> TooLarge {
        TooLarge { pos: self.pos.or(pos), ..self }
    }
}

impl From<&str> for TooLarge {
    fn from(message: &str) -> TooLarge {
        TooLarge { message: message.to_owned(), pos: None }
    }
}

impl From<String> for TooLarge {
    fn from(message: String) -> TooLarge {
        TooLarge { message, pos: None }
    }
}

/// Functions with longer texts may need jumps that do not fit into the short forms.
const NEAR_TEXT: u32 = 12_000;

impl ProgramCompiler<'_> {
    fn toplevel(&self, stmts: &[Stmt], at: Pos) -> Compiled<Code> {
        let mut compiler = FnCompiler::new(self, &self.resolved.toplevel, at.file, true)?;
        compiler.stmts(stmts)?;
        compiler.emit(Instr::ReturnNone, Pos::UNKNOWN);
        let first_pos = self.first_pos_of_stmts(stmts).unwrap_or(Pos::UNKNOWN);
        let span = Span::new(at.file, at.offset, at.offset);
        compiler.finish(Str::from("<toplevel>"), at, span, first_pos)
    }

    /// `key` identifies the function in the resolver's result.
    fn function(&self, key: ExprId, def: &Def) -> Compiled<Code> {
        let scope = self.resolved.functions.get(&key).ok_or("internal error: function was not resolved")?;
        let span = if def.pos.file == def.end.file && def.pos.offset <= def.end.offset {
            Span::new(def.pos.file, def.pos.offset, def.end.offset)
        } else {
            Span::new(def.pos.file, def.pos.offset, def.pos.offset)
        };
        let far = span.end == span.start || span.end - span.start > NEAR_TEXT;
        let mut compiler = FnCompiler::new(self, scope, def.pos.file, far)?;
        compiler.params = self.params(&def.params);
        for reg in 0..compiler.params.count() {
            compiler.assigned.insert(reg);
        }
        if self.profiled {
            compiler.emit(Instr::ProfileEnter, Pos::UNKNOWN);
        }
        let first_pos = match &def.body {
            DefBody::Lambda(body) => {
                let reg = compiler.temporary_operand(*body)?;
                compiler.leave_profile();
                compiler.emit(Instr::Return { x: reg }, Pos::UNKNOWN);
                compiler.lambda = Some((self.ast.clone(), *body));
                self.leaf_of_expr(*body).or(Some(def.pos))
            }
            DefBody::Block(stmts) => {
                compiler.doc = self.docstring(stmts);
                compiler.fragment = self.fragment_dialect(stmts);
                if let Some(dialect) = compiler.fragment {
                    compiler.emit(Instr::Enter { dialect }, Pos::UNKNOWN);
                }
                compiler.stmts(stmts)?;
                let end = if compiler.fragment.is_some() { Instr::LeaveNone } else { Instr::ReturnNone };
                compiler.leave_profile();
                compiler.emit(end, Pos::UNKNOWN);
                match compiler.fragment {
                    Some(_) => self.first_pos_of_stmts(stmts),
                    None => self.leaf_of_stmts(stmts).or(Some(def.pos)),
                }
            }
        };
        compiler.finish(def.name.clone(), def.pos, span, first_pos.unwrap_or(Pos::UNKNOWN))
    }

    fn params(&self, params: &[Param]) -> Params {
        let mut out = Params::default();
        let (mut names, mut defaults) = (Vec::new(), Vec::new());
        let mut star = false;
        for param in params {
            match param {
                Param::Plain(ident) => {
                    names.push(self.ident_name(*ident));
                    defaults.push(None);
                }
                Param::Default(ident, ..) => {
                    names.push(self.ident_name(*ident));
                    defaults.push(Some(out.default_count as u16));
                    out.default_count += 1;
                }
                Param::Star(ident, _) => {
                    star = true;
                    out.positional = names.len();
                    out.varargs = ident.is_some();
                }
                Param::StarStar(..) => out.kwargs = true,
            }
        }
        if !star {
            out.positional = names.len();
        }
        out.names = names.into_boxed_slice();
        out.defaults = defaults.into_boxed_slice();
        out
    }

    fn ident_name(&self, ident: ExprId) -> Str {
        match &self.ast[ident].kind {
            ExprKind::Ident(name) => name.clone(),
            _ => Str::EMPTY,
        }
    }

    fn docstring(&self, stmts: &[Stmt]) -> Option<Str> {
        match stmts.first() {
            Some(Stmt::Expr(x)) => match &self.ast[*x].kind {
                ExprKind::Str(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The dialect of the first host operation in a body, not counting inner functions.
    fn fragment_dialect(&self, stmts: &[Stmt]) -> Option<u8> {
        stmts.iter().find_map(|stmt| match stmt {
            Stmt::Expr(x) => match self.host_op(*x) {
                Some(ProgramPiece::Op { dialect, .. }) => Some(*dialect),
                _ => None,
            },
            Stmt::HostOp(piece, _) => match self.pieces.get(*piece as usize) {
                Some(ProgramPiece::Op { dialect, .. }) => Some(*dialect),
                _ => None,
            },
            Stmt::If { branches, otherwise } => branches
                .iter()
                .find_map(|(_, body)| self.fragment_dialect(body))
                .or_else(|| self.fragment_dialect(otherwise)),
            Stmt::For { body, .. } | Stmt::While { body, .. } => self.fragment_dialect(body),
            _ => None,
        })
    }

    /// The piece of a host operation, if the expression is one.
    fn host_op(&self, x: ExprId) -> Option<&ProgramPiece<'_>> {
        let ExprKind::Call(callee, _) = &self.ast[x].kind else { return None };
        let ExprKind::HostOp(piece) = self.ast[*callee].kind else { return None };
        self.pieces.get(piece as usize)
    }

    fn binding(&self, ident: ExprId) -> Compiled<&Binding> {
        let id = self.resolved.idents[ident.index()];
        id.map(|id| &self.resolved.bindings[id]).ok_or_else(|| "internal error: name was not resolved".into())
    }
}

/// Emits the code of one function.
struct FnCompiler<'a> {
    program: &'a ProgramCompiler<'a>,
    ast: &'a Ast,
    scope: &'a FunctionScope,
    file: FileId,
    instrs: Vec<Instr>,
    positions: Vec<Pos>,
    /// The position of the last instruction that has one.
    last_pos: Pos,
    locals: usize,
    /// The next free temporary, and the maximum number of registers in use.
    next: usize,
    registers: usize,
    assigned: Assigned,
    loops: Vec<Loop>,
    far: bool,
    params: Params,
    doc: Option<Str>,
    fragment: Option<u8>,
    lambda: Option<(Arc<Ast>, ExprId)>,
    constants: Vec<Constant>,
    constant_of: HashMap<Constant, u32>,
    names: Vec<Name>,
    name_of: HashMap<Str, u16>,
    shapes: Vec<CallShape>,
    shape_of: HashMap<CallShape, u16>,
    formats: Vec<Box<[Str]>>,
    functions: Vec<Arc<Code>>,
    loads: Vec<LoadCode>,
}

struct Loop {
    start: usize,
    breaks: Vec<usize>,
}

/// Which local variables are certainly assigned.
#[derive(Clone, Default)]
struct Assigned {
    words: Vec<u64>,
    /// Code after `return`, `break` and `continue` never runs, so everything counts as assigned
    /// there.
    unreachable: bool,
}

impl Assigned {
    fn insert(&mut self, reg: usize) {
        if self.words.len() <= reg / 64 {
            self.words.resize(reg / 64 + 1, 0);
        }
        self.words[reg / 64] |= 1 << (reg % 64);
    }

    fn contains(&self, reg: usize) -> bool {
        self.unreachable || self.words.get(reg / 64).is_some_and(|word| word >> (reg % 64) & 1 == 1)
    }

    /// Keeps what is assigned on both paths.
    fn meet(&mut self, other: &Assigned) {
        if self.unreachable {
            *self = other.clone();
        } else if !other.unreachable {
            self.words.truncate(other.words.len());
            self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
        }
    }
}

impl<'a> FnCompiler<'a> {
    fn new(
        program: &'a ProgramCompiler<'a>,
        scope: &'a FunctionScope,
        file: FileId,
        far: bool,
    ) -> Compiled<FnCompiler<'a>> {
        let locals = scope.locals.len();
        const MOST: usize = u16::MAX as usize / 2;
        if locals >= MOST {
            return Err(format!("too many local variables ({locals}, limit is {})", MOST - 1).into());
        }
        Ok(FnCompiler {
            program,
            ast: &program.ast,
            scope,
            file,
            instrs: Vec::new(),
            positions: Vec::new(),
            last_pos: Pos::UNKNOWN,
            locals,
            next: locals,
            registers: locals,
            assigned: Assigned::default(),
            loops: Vec::new(),
            far,
            params: Params::default(),
            doc: None,
            fragment: None,
            lambda: None,
            constants: Vec::new(),
            constant_of: HashMap::default(),
            names: Vec::new(),
            name_of: HashMap::default(),
            shapes: Vec::new(),
            shape_of: HashMap::default(),
            formats: Vec::new(),
            functions: Vec::new(),
            loads: Vec::new(),
        })
    }

    fn finish(self, name: Str, pos: Pos, span: Span, first_pos: Pos) -> Compiled<Code> {
        let bindings = &self.program.resolved.bindings;
        let locals = self.scope.locals.iter().map(|&id| &bindings[id]);
        let cells = locals.clone().filter(|binding| binding.scope == Scope::Cell);
        let captures = self.scope.free.iter().map(|&id| &bindings[id]).map(|binding| match binding.scope {
            Scope::Free => Capture::Captured(binding.index as u16),
            _ => Capture::Register(binding.index as u16),
        });
        let mut params = self.params;
        let plain = params.count() == params.positional && cells.clone().next().is_none();
        params.plain = plain.then_some(params.positional);
        Ok(Code {
            id: CodeId::next(),
            name,
            pos,
            span,
            doc: self.doc,
            instrs: self.instrs.into_boxed_slice(),
            positions: self.positions.into_boxed_slice(),
            first_pos,
            registers: self.registers + 1,
            locals: locals.clone().map(|binding| binding.name.clone()).collect(),
            params,
            cells: cells.map(|binding| binding.index as Reg).collect(),
            constants: self.constants.into_boxed_slice(),
            names: self.names.into_boxed_slice(),
            shapes: self.shapes.into_boxed_slice(),
            formats: self.formats.into_boxed_slice(),
            functions: self.functions.into_boxed_slice(),
            loads: self.loads.into_boxed_slice(),
            captures: captures.collect(),
            free_names: self.scope.free.iter().map(|&id| bindings[id].name.clone()).collect(),
            lambda: self.lambda,
            file: self.file,
        })
    }

    /// Records the end of the function in the profile.
    fn leave_profile(&mut self) {
        if self.program.profiled {
            self.emit(Instr::ProfileLeave, Pos::UNKNOWN);
        }
    }

    fn emit(&mut self, instr: Instr, pos: Pos) {
        self.instrs.push(instr);
        self.positions.push(pos);
        if pos.is_known() {
            self.last_pos = pos;
        }
    }

    /// The next free temporary.
    fn temp(&mut self) -> Compiled<Reg> {
        let reg = self.next;
        if reg >= usize::from(u16::MAX - CONSTANT_OPERANDS) - 1 {
            return Err("expression too large: more than 65,000 values at once".into());
        }
        self.next += 1;
        self.registers = self.registers.max(self.next);
        Ok(reg as Reg)
    }

    fn is_temp(&self, reg: Reg) -> bool {
        usize::from(reg) >= self.locals
    }

    /// The index of the next instruction.
    fn here(&self) -> usize {
        self.instrs.len()
    }

    /// Emits a jump whose target is set later.
    fn jump(&mut self) -> usize {
        self.emit(Instr::Jump { to: 0 }, Pos::UNKNOWN);
        self.here() - 1
    }

    /// Lets jumps lead to the next instruction.
    fn land(&mut self, jumps: Vec<usize>) -> Compiled<()> {
        let target = self.here();
        for at in jumps {
            let distance = i16::try_from(target as i64 - at as i64);
            match &mut self.instrs[at] {
                Instr::Jump { to } | Instr::JumpIf { to, .. } | Instr::JumpIfNot { to, .. } => *to = target as u32,
                Instr::CompareJump { by, .. } | Instr::CompareIntJump { by, .. } | Instr::IterNext { by, .. } => {
                    *by = distance.map_err(|_| "function too large")?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn constant(&mut self, constant: Constant) -> u32 {
        if let Some(index) = self.constant_of.get(&constant) {
            return *index;
        }
        let next = self.constants.len() as u32;
        self.constants.push(constant.clone());
        self.constant_of.insert(constant, next);
        next
    }

    fn name(&mut self, name: &Str) -> Compiled<u16> {
        if let Some(&index) = self.name_of.get(name) {
            return Ok(index);
        }
        let index =
            u16::try_from(self.names.len()).map_err(|_| "too many attribute names in one function (limit is 65536)")?;
        self.names.push(crate::builtins::methods(self.ast.dialect, name));
        self.name_of.insert(name.clone(), index);
        Ok(index)
    }
}
