//! Compiles expressions.
//!
//! Each expression is compiled into a register that the caller names, or into an operand: the
//! register of a variable, a temporary, or a constant. Registers of variables are read in place, so
//! a call that could assign them again needs `temporary_operand`.

use ytterby_diag::Pos;
use ytterby_text::Str;

use super::{
    CONSTANT_OPERANDS, CallShape, Compiled, Constant, FnCompiler, Instr, Reg, Shortcut, binary_instr, int_instr,
};
use crate::Value;
use crate::ast::{Arg, Clause, Comprehension, ComprehensionBody, Def, DictEntry, ExprId, ExprKind, Param};
use crate::host::{BinaryOp, UnaryOp};
use crate::resolve::Scope;
use std::sync::Arc;

/// Longer lists are built item by item.
const LONG_LIST: usize = 1_000;

impl FnCompiler<'_> {
    /// A register that contains the value. It may be that of a variable.
    pub(super) fn operand(&mut self, id: ExprId) -> Compiled<Reg> {
        let id = self.ast.unparen(id);
        if let ExprKind::Ident(_) = self.ast[id].kind {
            let binding = self.program.binding(id)?;
            if binding.scope == Scope::Local {
                let reg = binding.index as Reg;
                self.check_local(reg, self.ast[id].start);
                return Ok(reg);
            }
        }
        let reg = self.temp()?;
        self.into(id, reg)?;
        Ok(reg)
    }

    /// Like [`FnCompiler::operand`], for the first operand of an instruction with the result `dst`.
    /// It may be in `dst` itself, so that long chains (`a + b + c`) do not keep the value of each
    /// part.
    fn left(&mut self, id: ExprId, dst: Reg) -> Compiled<Reg> {
        let id = self.ast.unparen(id);
        if !self.is_temp(dst) || matches!(self.ast[id].kind, ExprKind::Ident(_)) {
            return self.operand(id);
        }
        self.into(id, dst)?;
        Ok(dst)
    }

    /// Like [`FnCompiler::left`], for instructions that can read a literal from the constants.
    fn left_or_constant(&mut self, id: ExprId, dst: Reg) -> Compiled<Reg> {
        let id = self.ast.unparen(id);
        let is_single =
            matches!(self.ast[id].kind, ExprKind::Str(_) | ExprKind::Float(_) | ExprKind::Int(_) | ExprKind::Ident(_));
        if is_single { self.operand_or_constant(id) } else { self.left(id, dst) }
    }

    /// Like [`FnCompiler::operand`], for instructions that can read a literal from the constants.
    pub(super) fn operand_or_constant(&mut self, id: ExprId) -> Compiled<Reg> {
        let id = self.ast.unparen(id);
        let index = match &self.ast[id].kind {
            ExprKind::Str(text) => self.constant(Constant::Str(text.clone())),
            ExprKind::Float(value) => self.constant(Constant::Float(value.to_bits())),
            ExprKind::Int(value) if i32::try_from(*value).is_ok() => self.constant(Constant::Int(*value)),
            ExprKind::Ident(_) => {
                let binding = self.program.binding(id)?;
                match crate::builtins::universe(self.ast.dialect, &binding.name) {
                    Some(Value::None | Value::Bool(_)) if binding.scope == Scope::Universal => {
                        self.constant(Constant::Universal(binding.name.clone()))
                    }
                    _ => return self.operand(id),
                }
            }
            _ => return self.operand(id),
        };
        if index < u32::from(CONSTANT_OPERANDS) { Ok(!(index as Reg)) } else { self.operand(id) }
    }

    /// An operand that needs no instruction: a literal, or a variable that is certainly assigned.
    fn free_operand(&mut self, id: ExprId) -> Compiled<Option<Reg>> {
        let id = self.ast.unparen(id);
        let free = match &self.ast[id].kind {
            ExprKind::Str(_) | ExprKind::Float(_) => self.constants.len() < usize::from(CONSTANT_OPERANDS),
            ExprKind::Int(value) => {
                self.constants.len() < usize::from(CONSTANT_OPERANDS) && i32::try_from(*value).is_ok()
            }
            ExprKind::Ident(_) => {
                let binding = self.program.binding(id)?;
                binding.scope == Scope::Local && self.assigned.contains(binding.index)
            }
            _ => false,
        };
        if free { self.operand_or_constant(id).map(Some) } else { Ok(None) }
    }

    /// Like [`FnCompiler::operand`], but never the register of a variable.
    pub(super) fn temporary_operand(&mut self, id: ExprId) -> Compiled<Reg> {
        let reg = self.temp()?;
        self.into(id, reg)?;
        Ok(reg)
    }

    pub(super) fn check_local(&mut self, reg: Reg, pos: Pos) {
        if !self.assigned.contains(usize::from(reg)) {
            self.emit(Instr::CheckLocal { reg }, pos);
            self.assigned.insert(usize::from(reg));
        }
    }

    /// Puts the value into `dst`, which is written only after everything was read.
    pub(super) fn into(&mut self, id: ExprId, dst: Reg) -> Compiled<()> {
        let id = self.ast.unparen(id);
        let mark = self.next;
        match &self.ast[id].kind {
            ExprKind::Ident(_) => self.ident(id, dst)?,
            ExprKind::Int(value) => self.int(*value, dst),
            ExprKind::BigInt(value) => {
                let index = self.constant(Constant::Big(value.clone()));
                self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
            }
            ExprKind::Float(value) => {
                let index = self.constant(Constant::Float(value.to_bits()));
                self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
            }
            ExprKind::Str(text) => self.text(text, dst),
            ExprKind::Bytes(bytes) => {
                let index = self.constant(Constant::Bytes(bytes.clone()));
                self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
            }
            _ => stacker::maybe_grow(64 << 10, 1 << 20, || self.compound(id, dst))?,
        }
        self.next = mark;
        Ok(())
    }

    fn int(&mut self, value: i64, dst: Reg) {
        match i32::try_from(value) {
            Ok(value) => self.emit(Instr::Int { dst, value }, Pos::UNKNOWN),
            Err(_) => {
                let index = self.constant(Constant::Int(value));
                self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
            }
        }
    }

    fn text(&mut self, text: &Str, dst: Reg) {
        let index = self.constant(Constant::Str(text.clone()));
        self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
    }

    fn ident(&mut self, id: ExprId, dst: Reg) -> Compiled<()> {
        let binding = self.program.binding(id)?;
        let pos = self.ast[id].start;
        let index = binding.index as u32;
        match binding.scope {
            Scope::Local => {
                let src = binding.index as Reg;
                self.check_local(src, pos);
                if src != dst {
                    self.emit(Instr::Move { dst, src }, pos);
                }
            }
            Scope::Cell => self.emit(Instr::Cell { dst, cell: binding.index as Reg }, pos),
            Scope::Free => self.emit(Instr::Free { dst, index: binding.index as u16 }, pos),
            Scope::Global => self.emit(Instr::Global { dst, index }, pos),
            Scope::Predeclared => self.emit(Instr::Predeclared { dst, index }, pos),
            Scope::Universal => match crate::builtins::universe(self.ast.dialect, &binding.name) {
                Some(Value::None) => self.emit(Instr::None { dst }, Pos::UNKNOWN),
                Some(Value::Bool(value)) => self.emit(Instr::Bool { dst, value }, Pos::UNKNOWN),
                Some(_) => {
                    let index = self.constant(Constant::Universal(binding.name.clone()));
                    self.emit(Instr::Const { dst, index }, Pos::UNKNOWN);
                }
                None => return Err(format!("internal error: {} is not universal", binding.name).into()),
            },
            Scope::Undefined => return Err(format!("undefined: {}", binding.name).into()),
        }
        Ok(())
    }

    fn compound(&mut self, id: ExprId, dst: Reg) -> Compiled<()> {
        let expr = &self.ast[id];
        let pos = expr.pos;
        match &expr.kind {
            // Long lists are data; they would use too many registers.
            ExprKind::List(items) if items.len() > LONG_LIST => {
                let list = self.scratch(dst)?;
                self.emit(Instr::List { dst: list, first: list, count: 0 }, Pos::UNKNOWN);
                for item in items {
                    let mark = self.next;
                    let item = self.temporary_operand(*item)?;
                    self.emit(Instr::ListPush { list, item }, Pos::UNKNOWN);
                    self.next = mark;
                }
                self.take(dst, list);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let first = self.consecutive(items)?;
                let count =
                    u16::try_from(items.len()).map_err(|_| "too many values in one expression (limit is 65535)")?;
                let instr = match expr.kind {
                    ExprKind::List(_) => Instr::List { dst, first, count },
                    _ => Instr::Tuple { dst, first, count },
                };
                self.emit(instr, Pos::UNKNOWN);
            }
            ExprKind::Dict(entries) => {
                let dict = self.scratch(dst)?;
                self.emit(Instr::Dict { dst: dict }, Pos::UNKNOWN);
                for entry in entries {
                    let mark = self.next;
                    let first = self.entry(entry)?;
                    self.emit(Instr::DictEntry { dict, first }, entry.colon);
                    self.next = mark;
                }
                self.take(dst, dict);
            }
            ExprKind::Unary(UnaryOp::Minus, x) if matches!(self.ast[*x].kind, ExprKind::Int(_)) => {
                if let ExprKind::Int(value) = self.ast[*x].kind {
                    self.int(-value, dst);
                }
            }
            ExprKind::Unary(op, x) => {
                let x = self.operand(*x)?;
                self.emit(Instr::Unary { op: *op, dst, x }, pos);
            }
            ExprKind::Not(x) => {
                let x = self.operand(*x)?;
                self.emit(Instr::Not { dst, x }, pos);
            }
            ExprKind::Binary(op, x, y) => self.binary(*op, *x, *y, dst, pos)?,
            ExprKind::NotIn(x, y) => {
                let (x, y) = (self.left_or_constant(*x, dst)?, self.operand_or_constant(*y)?);
                let found = self.temp()?;
                self.emit(Instr::Binary { op: BinaryOp::In, dst: found, x, y }, pos);
                self.emit(Instr::Not { dst, x: found }, Pos::UNKNOWN);
            }
            ExprKind::Compare(op, x, y) => {
                let instr = match self.small_int(*y) {
                    Some(y) => Instr::CompareInt { op: *op, dst, x: self.left(*x, dst)?, y },
                    None => {
                        let (x, y) = (self.left_or_constant(*x, dst)?, self.operand_or_constant(*y)?);
                        Instr::Compare { op: *op, dst, x, y }
                    }
                };
                self.emit(instr, pos);
            }
            ExprKind::And(x, y) | ExprKind::Or(x, y) => {
                let result = self.scratch(dst)?;
                self.into(*x, result)?;
                let jump = match expr.kind {
                    ExprKind::And(..) => Instr::JumpIfNot { x: result, to: 0 },
                    _ => Instr::JumpIf { x: result, to: 0 },
                };
                self.emit(jump, Pos::UNKNOWN);
                let jump = self.here() - 1;
                let before = self.assigned.clone();
                self.into(*y, result)?;
                self.assigned = before;
                self.land(vec![jump])?;
                self.take(dst, result);
            }
            ExprKind::Cond { condition, then, otherwise } => {
                let mut to_else = Vec::new();
                self.branch(*condition, false, &mut to_else)?;
                let before = self.assigned.clone();
                self.into(*then, dst)?;
                let to_end = self.jump();
                self.land(to_else)?;
                self.assigned = before.clone();
                self.into(*otherwise, dst)?;
                self.assigned = before;
                self.land(vec![to_end])?;
            }
            ExprKind::Dot(x, name) => {
                let x = self.left(*x, dst)?;
                let name = self.name(name)?;
                self.emit(Instr::Attr { dst, x, name }, pos);
            }
            ExprKind::Index(x, y) => {
                let (x, y) = (self.left(*x, dst)?, self.operand_or_constant(*y)?);
                self.emit(Instr::Index { dst, x, y }, pos);
            }
            ExprKind::Slice { operand, start, stop, step } => {
                let first = if self.is_last_temp(dst) { dst } else { self.temp()? };
                self.into(*operand, first)?;
                // Show at least the position of the bracket.
                if !self.last_pos.is_known() {
                    self.last_pos = pos;
                }
                for part in [start, stop, step] {
                    let reg = self.temp()?;
                    match part {
                        Some(part) => self.into(*part, reg)?,
                        None => self.emit(Instr::None { dst: reg }, Pos::UNKNOWN),
                    }
                }
                self.emit(Instr::Slice { dst, first }, self.last_pos);
            }
            ExprKind::Call(callee, args) => self.call(*callee, args, dst, pos)?,
            ExprKind::Lambda(def) => self.function(id, def, dst)?,
            ExprKind::Comprehension(comprehension) => {
                let Comprehension { body, clauses } = &**comprehension;
                let result = self.scratch(dst)?;
                self.emit(
                    match body {
                        ComprehensionBody::List(_) => Instr::List { dst: result, first: result, count: 0 },
                        ComprehensionBody::Dict(_) => Instr::Dict { dst: result },
                    },
                    Pos::UNKNOWN,
                );
                let before = self.assigned.clone();
                self.clauses(body, clauses, result)?;
                self.assigned = before;
                self.take(dst, result);
            }
            ExprKind::HostOp(_) | ExprKind::HostArgs => {
                return Err("an operation of the host cannot be used as a value".into());
            }
            _ => return Err("internal error: unexpected expression".into()),
        }
        Ok(())
    }

    /// Whether it is the last temporary, so that the next one follows it.
    fn is_last_temp(&self, reg: Reg) -> bool {
        self.is_temp(reg) && usize::from(reg) + 1 == self.next
    }

    /// `dst` itself if it is a temporary, otherwise a new temporary.
    fn scratch(&mut self, dst: Reg) -> Compiled<Reg> {
        if self.is_temp(dst) { Ok(dst) } else { self.temp() }
    }

    pub(super) fn take(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.emit(Instr::Take { dst, src }, Pos::UNKNOWN);
        }
    }

    /// Puts values into consecutive registers; returns the first.
    fn consecutive(&mut self, items: &[ExprId]) -> Compiled<Reg> {
        let first = self.next as Reg;
        for item in items {
            self.temporary_operand(*item)?;
        }
        Ok(first)
    }

    fn entry(&mut self, entry: &DictEntry) -> Compiled<Reg> {
        let first = self.temporary_operand(entry.key)?;
        self.temporary_operand(entry.value)?;
        Ok(first)
    }

    /// An integer literal that fits into an instruction.
    pub(super) fn small_int(&self, id: ExprId) -> Option<i16> {
        match &self.ast[id].kind {
            ExprKind::Int(value) => i16::try_from(*value).ok(),
            ExprKind::Unary(UnaryOp::Minus, x) => match self.ast[*x].kind {
                ExprKind::Int(value) => i16::try_from(-value).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId, dst: Reg, pos: Pos) -> Compiled<()> {
        let instr = match self.small_int(y) {
            Some(y) => int_instr(op, dst, self.left(x, dst)?, y),
            None => {
                let (x, y) = (self.left_or_constant(x, dst)?, self.operand_or_constant(y)?);
                binary_instr(op, dst, x, y)
            }
        };
        self.emit(instr, pos);
        Ok(())
    }

    /// Jumps if the truth of a condition is `jump_if`; the jumps are added to `jumps`.
    pub(super) fn branch(&mut self, id: ExprId, jump_if: bool, jumps: &mut Vec<usize>) -> Compiled<()> {
        let id = self.ast.unparen(id);
        let mark = self.next;
        match &self.ast[id].kind {
            ExprKind::Not(x) => stacker::maybe_grow(64 << 10, 1 << 20, || self.branch(*x, !jump_if, jumps))?,
            ExprKind::And(x, y) | ExprKind::Or(x, y) => {
                let is_and = matches!(self.ast[id].kind, ExprKind::And(..));
                stacker::maybe_grow(64 << 10, 1 << 20, || self.branch_both(*x, *y, is_and, jump_if, jumps))?;
            }
            ExprKind::Compare(op, x, y) if !jump_if && !self.far => {
                let instr = match self.small_int(*y) {
                    Some(y) => {
                        let compared = self.operand(*x)?;
                        if let Some(Instr::ModInt { dst, x, y }) = self.instrs.last().copied()
                            && dst == compared
                            && let Some(last) = self.instrs.last_mut()
                        {
                            *last = Instr::ModIntCompare { dst, x, y };
                        }
                        Instr::CompareIntJump { op: *op, x: compared, y, by: 0 }
                    }
                    None => {
                        let (x, y) = (self.operand_or_constant(*x)?, self.operand_or_constant(*y)?);
                        Instr::CompareJump { op: *op, x, y, by: 0 }
                    }
                };
                jumps.push(self.here());
                self.emit(instr, self.ast[id].pos);
            }
            ExprKind::NotIn(x, y) => {
                let (x, y) = (self.operand_or_constant(*x)?, self.operand_or_constant(*y)?);
                let found = self.temp()?;
                self.emit(Instr::Binary { op: BinaryOp::In, dst: found, x, y }, self.ast[id].pos);
                self.jump_on(found, !jump_if, jumps);
            }
            _ => {
                let x = self.operand(id)?;
                self.jump_on(x, jump_if, jumps);
            }
        }
        self.next = mark;
        Ok(())
    }

    fn branch_both(
        &mut self,
        x: ExprId,
        y: ExprId,
        is_and: bool,
        jump_if: bool,
        jumps: &mut Vec<usize>,
    ) -> Compiled<()> {
        // A false left side decides `and`, a true one `or`.
        let decided_by = !is_and;
        if decided_by == jump_if {
            self.branch(x, jump_if, jumps)?;
            let before = self.assigned.clone();
            self.branch(y, jump_if, jumps)?;
            self.assigned = before;
        } else {
            let mut over = Vec::new();
            self.branch(x, decided_by, &mut over)?;
            let before = self.assigned.clone();
            self.branch(y, jump_if, jumps)?;
            self.assigned = before;
            self.land(over)?;
        }
        Ok(())
    }

    fn jump_on(&mut self, x: Reg, jump_if: bool, jumps: &mut Vec<usize>) {
        jumps.push(self.here());
        let instr = if jump_if { Instr::JumpIf { x, to: 0 } } else { Instr::JumpIfNot { x, to: 0 } };
        self.emit(instr, Pos::UNKNOWN);
    }

    fn call(&mut self, callee: ExprId, args: &[Arg], dst: Reg, pos: Pos) -> Compiled<()> {
        let simple = args.iter().all(|arg| matches!(arg, Arg::Positional(_)));
        // A call replaces the callee by its result; that may be `dst` itself if it is the last
        // temporary.
        let top = self.is_last_temp(dst);
        let method = match &self.ast[self.ast.unparen(callee)].kind {
            ExprKind::Dot(x, name) if simple => Some((*x, name)),
            _ => None,
        };
        if let Some((x, name)) = method {
            let dot = self.ast[self.ast.unparen(callee)].pos;
            let x = self.left_or_constant(x, dst)?;
            let name = self.name(name)?;
            let base = if top && x != dst && self.next == usize::from(dst) + 1 { dst } else { self.temp()? };
            let shortcut = self.names[usize::from(name)].shortcut;
            let format = match (shortcut, self.string_constant(x)) {
                (Shortcut::Format, Some(text)) => self.format(&text.clone()),
                _ => None,
            };
            if format.is_none() {
                self.method_in_place(name, shortcut, base, x, args, pos)?;
            }
            match self.string_constant(x) {
                // A string certainly has this method.
                Some(_) if self.names[usize::from(name)].string.is_some() => self.emit(Instr::Clear { reg: base }, dot),
                _ => self.emit(Instr::Method { dst: base, x, name }, dot),
            }
            let count = self.positional(args)?;
            if let Some(format) = format {
                self.emit(Instr::Format { count, base, format }, pos);
            } else if shortcut == Shortcut::Append && count == 1 {
                self.emit(Instr::AppendItem { base, x }, pos);
            }
            self.emit(Instr::CallMethod { count, base, x, name }, pos);
            self.take(dst, base);
            return Ok(());
        }
        if simple && let Some(index) = self.builtin(callee)? {
            if let [Arg::Positional(x)] = args {
                let x = self.operand_or_constant(*x)?;
                match &self.constants[usize::from(index)] {
                    Constant::Universal(name) if *name == "len" => self.emit(Instr::Len { dst, x }, pos),
                    Constant::Universal(name) if *name == "str" => self.emit(Instr::Text { dst, x }, pos),
                    _ => {}
                }
                self.emit(Instr::CallBuiltin1 { dst, x, index }, pos);
                return Ok(());
            }
            let base = if top { dst } else { self.temp()? };
            let count = self.positional(args)?;
            self.emit(Instr::CallBuiltin { count, base, index }, pos);
            self.take(dst, base);
            return Ok(());
        }
        let base = if top { dst } else { self.temp()? };
        self.into(callee, base)?;
        if simple {
            let count = self.positional(args)?;
            self.emit(Instr::Call { count, base }, pos);
        } else {
            let shape = self.args(args)?;
            self.emit(Instr::CallShape { base, shape }, pos);
        }
        self.take(dst, base);
        Ok(())
    }

    /// Begins a call of a method with up to two operands that need no instruction: does it at once
    /// for built-in types, and skips the general way after it.
    fn method_in_place(
        &mut self,
        name: u16,
        shortcut: Shortcut,
        base: Reg,
        x: Reg,
        args: &[Arg],
        pos: Pos,
    ) -> Compiled<()> {
        let Ok(name) = u8::try_from(name) else { return Ok(()) };
        match args {
            [] => self.emit(
                match shortcut {
                    Shortcut::Upper | Shortcut::Lower => {
                        Instr::Case { upper: shortcut == Shortcut::Upper, dst: base, x }
                    }
                    _ => Instr::Method0 { name, base, x },
                },
                pos,
            ),
            [Arg::Positional(y)] => {
                if let Some(y) = self.free_operand(*y)? {
                    let instr = match shortcut {
                        Shortcut::StartsWith | Shortcut::EndsWith => {
                            Instr::Affix { end: shortcut == Shortcut::EndsWith, dst: base, x, y }
                        }
                        Shortcut::Append => Instr::Append { dst: base, x, y },
                        _ => Instr::Method1 { name, base, x, y },
                    };
                    self.emit(instr, pos);
                }
            }
            [Arg::Positional(y), Arg::Positional(z)] => {
                if let Some(y) = self.free_operand(*y)?
                    && let Some(z) = self.free_operand(*z)?
                {
                    let instr = match shortcut {
                        Shortcut::Get => Instr::Get { dst: base, x, y },
                        Shortcut::Replace => Instr::Replace { dst: base, x, y },
                        _ => Instr::Method2 { name, base, x, y },
                    };
                    self.emit(instr, pos);
                    self.emit(Instr::Operand { z }, Pos::UNKNOWN);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The text of an operand that is a string constant.
    fn string_constant(&self, operand: Reg) -> Option<&Str> {
        match self.constants.get(usize::from(!operand)) {
            Some(Constant::Str(text)) if !operand < CONSTANT_OPERANDS => Some(text),
            _ => None,
        }
    }

    /// The texts around the fields of a format, if all of them are `{}`.
    fn format(&mut self, text: &Str) -> Option<u16> {
        let mut pieces = Vec::new();
        let mut rest = text.as_bytes();
        while let Some(at) = memchr::memchr2(b'{', b'}', rest) {
            let field = rest[at..].strip_prefix(b"{}")?;
            pieces.push(Str::new(&rest[..at]));
            rest = field;
        }
        pieces.push(Str::new(rest));
        let index = u16::try_from(self.formats.len()).ok()?;
        self.formats.push(pieces.into_boxed_slice());
        Some(index)
    }

    /// The constant of a built-in function, if the name refers to one.
    fn builtin(&mut self, callee: ExprId) -> Compiled<Option<u16>> {
        let callee = self.ast.unparen(callee);
        if !matches!(self.ast[callee].kind, ExprKind::Ident(_)) {
            return Ok(None);
        }
        let binding = self.program.binding(callee)?;
        if binding.scope != Scope::Universal {
            return Ok(None);
        }
        match crate::builtins::universe(self.ast.dialect, &binding.name) {
            Some(Value::Builtin(_)) => Ok(u16::try_from(self.constant(Constant::Universal(binding.name.clone()))).ok()),
            _ => Ok(None),
        }
    }

    fn positional(&mut self, args: &[Arg]) -> Compiled<u8> {
        for arg in args {
            if let Arg::Positional(x) = arg {
                self.temporary_operand(*x)?;
            }
        }
        Ok(u8::try_from(args.len()).map_err(|_| "too many arguments in call (limit is 255)")?)
    }

    /// Puts arguments into consecutive registers: positional, named, `*args`, `**kwargs`.
    pub(super) fn args(&mut self, args: &[Arg]) -> Compiled<u16> {
        let mut shape = CallShape::default();
        let mut names = Vec::new();
        // The resolver has checked that named arguments follow positional ones.
        for arg in args {
            match arg {
                Arg::Positional(x) => {
                    self.temporary_operand(*x)?;
                    shape.positional += 1;
                }
                Arg::Named(name, x, _) => {
                    self.temporary_operand(*x)?;
                    names.push(name.clone());
                }
                Arg::Star(..) | Arg::StarStar(..) => {}
            }
        }
        for arg in args {
            if let Arg::Star(x, _) = arg {
                self.temporary_operand(*x)?;
                shape.star = true;
            }
        }
        for arg in args {
            if let Arg::StarStar(x, _) = arg {
                self.temporary_operand(*x)?;
                shape.star_star = true;
            }
        }
        shape.names = names.into_boxed_slice();
        // Shapes are shared, because long files repeat the same few: a schema has one call per
        // annotation.
        if let Some(&index) = self.shape_of.get(&shape) {
            return Ok(index);
        }
        let index =
            u16::try_from(self.shapes.len()).map_err(|_| "too many kinds of calls in one function (limit is 65536)")?;
        self.shapes.push(shape.clone());
        self.shape_of.insert(shape, index);
        Ok(index)
    }

    /// Makes a function. `key` identifies it in the resolver's result.
    pub(super) fn function(&mut self, key: ExprId, def: &Def, dst: Reg) -> Compiled<()> {
        let code = self.program.function(key, def)?;
        let mut base = None;
        for param in &def.params {
            if let Param::Default(_, default, _) = param {
                let reg = self.temporary_operand(*default)?;
                base.get_or_insert(reg);
            }
        }
        let base = match base {
            Some(base) => base,
            None => self.temp()?,
        };
        let index = u16::try_from(self.functions.len())
            .map_err(|_| "too many functions in one function or file (limit is 65536)")?;
        self.functions.push(Arc::new(code));
        self.emit(Instr::Function { dst: base, index }, def.pos);
        self.take(dst, base);
        Ok(())
    }

    fn clauses(&mut self, body: &ComprehensionBody, clauses: &[Clause], result: Reg) -> Compiled<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            let mark = self.next;
            match body {
                ComprehensionBody::List(x) => {
                    let item = self.temporary_operand(*x)?;
                    self.emit(Instr::ListPush { list: result, item }, Pos::UNKNOWN);
                }
                ComprehensionBody::Dict(entry) => {
                    let first = self.entry(entry)?;
                    self.emit(Instr::DictAdd { dict: result, first }, entry.colon);
                }
            }
            self.next = mark;
            return Ok(());
        };
        stacker::maybe_grow(64 << 10, 1 << 20, || match clause {
            Clause::If(condition) => {
                let mut over = Vec::new();
                self.branch(*condition, false, &mut over)?;
                self.clauses(body, rest, result)?;
                self.land(over)
            }
            Clause::For { vars, iterable, pos } => {
                self.for_loop(*vars, *iterable, *pos, |compiler| compiler.clauses(body, rest, result))
            }
        })
    }
}
