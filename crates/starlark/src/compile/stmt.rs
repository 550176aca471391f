//! Compiles statements.
//!
//! Temporaries of a statement are free again at its end. Common forms get instructions of their
//! own: `x = x + y` grows a string in place, and neighbouring locals are unpacked at once.

use ytterby_diag::Pos;

use super::{Compiled, Constant, FnCompiler, Instr, LoadCode, Loop, Reg};
use crate::ast::{Arg, ExprId, ExprKind, Load, Stmt};
use crate::host::BinaryOp;
use crate::resolve::Scope;
use crate::{Dialect, ProgramPiece};

impl FnCompiler<'_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Compiled<()> {
        let is_observed = self.program.coverage.is_some() || self.program.profiled;
        let mut run_end = 0;
        for (at, stmt) in stmts.iter().enumerate() {
            let mark = self.next;
            if at >= run_end && !is_observed {
                run_end = at + self.run_of_ops(&stmts[at..]);
            }
            if is_observed && let Some(pos) = self.place(stmt) {
                if let Some(coverage) = self.program.coverage {
                    coverage.declare(pos);
                }
                self.emit(Instr::Reach, pos);
            }
            let done = stacker::maybe_grow(64 << 10, 1 << 20, || self.stmt(stmt));
            done.map_err(|error| error.at(self.place(stmt)))?;
            self.next = mark;
        }
        Ok(())
    }

    /// Announces host operations with consecutive numbers, and returns how many statements they
    /// are.
    fn run_of_ops(&mut self, stmts: &[Stmt]) -> usize {
        let op_of = |stmt: &Stmt| match stmt {
            Stmt::HostOp(piece, _) => match self.program.pieces.get(*piece as usize) {
                Some(&ProgramPiece::Op { op, at, .. }) => Some((op, at)),
                _ => None,
            },
            _ => None,
        };
        let Some((op, at)) = stmts.first().and_then(op_of) else { return 0 };
        let ops = stmts.iter().map_while(op_of).take(usize::from(u16::MAX));
        let count = ops.zip(op..).take_while(|((op, _), next)| op == next).count();
        self.emit(Instr::OpRun { op, count: count as u16 }, at);
        count
    }

    /// The position of a statement.
    fn place(&self, stmt: &Stmt) -> Option<Pos> {
        let pos = match stmt {
            Stmt::HostOp(_, pos) | Stmt::Break(pos) | Stmt::Continue(pos) | Stmt::Return(_, pos) => *pos,
            Stmt::Assign { pos, .. } | Stmt::Augmented { pos, .. } | Stmt::For { pos, .. } => *pos,
            Stmt::Expr(x) | Stmt::While { condition: x, .. } => self.ast[*x].pos,
            Stmt::If { branches, .. } => self.ast[branches.first()?.0].pos,
            Stmt::Def(_, def) => def.pos,
            Stmt::Load(load) => load.pos,
        };
        pos.is_known().then_some(pos)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Compiled<()> {
        match stmt {
            Stmt::Expr(x) => self.expr_stmt(*x)?,
            Stmt::HostOp(piece, _) => {
                if let Some(&ProgramPiece::Op { op, at, .. }) = self.program.pieces.get(*piece as usize) {
                    self.emit(Instr::Op { op }, at);
                }
            }
            Stmt::Break(_) => {
                let jump = self.jump();
                if let Some(innermost) = self.loops.last_mut() {
                    innermost.breaks.push(jump);
                }
                self.assigned.unreachable = true;
            }
            Stmt::Continue(_) => {
                if let Some(innermost) = self.loops.last() {
                    let to = innermost.start as u32;
                    self.emit(Instr::Jump { to }, Pos::UNKNOWN);
                }
                self.assigned.unreachable = true;
            }
            Stmt::Return(result, _) => {
                let (instr, pos) = match (result, self.fragment) {
                    (Some(x), None) => {
                        let x = self.ast.unparen(*x);
                        // A local variable is moved, because nothing uses it after `return`.
                        let pos = match &self.ast[x].kind {
                            ExprKind::Ident(_) if self.local(x)?.is_some() => self.ast[x].start,
                            _ => Pos::UNKNOWN,
                        };
                        (Instr::Return { x: self.operand(x)? }, pos)
                    }
                    (Some(x), Some(_)) => (Instr::Leave { x: self.temporary_operand(*x)? }, Pos::UNKNOWN),
                    (None, None) => (Instr::ReturnNone, Pos::UNKNOWN),
                    (None, Some(_)) => (Instr::LeaveNone, Pos::UNKNOWN),
                };
                self.leave_profile();
                self.emit(instr, pos);
                self.assigned.unreachable = true;
            }
            Stmt::Assign { target, value, pos } => self.assign_stmt(*target, *value, *pos)?,
            Stmt::Augmented { target, op, value, pos } => self.augmented(*target, *op, *value, *pos)?,
            Stmt::If { branches, otherwise } => self.if_stmt(branches, otherwise)?,
            Stmt::For { vars, iterable, body, pos } => {
                self.for_loop(*vars, *iterable, *pos, |compiler| compiler.stmts(body))?;
            }
            Stmt::While { condition, body } => self.while_stmt(*condition, body)?,
            Stmt::Def(ident, def) => {
                let reg = self.temp()?;
                self.function(*ident, def, reg)?;
                self.assign(*ident, reg, def.pos)?;
            }
            Stmt::Load(load) => self.load(load)?,
        }
        Ok(())
    }

    fn expr_stmt(&mut self, x: ExprId) -> Compiled<()> {
        match &self.ast[x].kind {
            ExprKind::Int(_) | ExprKind::BigInt(_) | ExprKind::Float(_) | ExprKind::Str(_) => Ok(()),
            ExprKind::Call(_, args) => match self.program.host_op(x) {
                Some(&ProgramPiece::Op { op, at, .. }) => self.host_op(op, args, at),
                _ => self.temporary_operand(x).map(drop),
            },
            _ => self.temporary_operand(x).map(drop),
        }
    }

    /// A host operation. Its first argument is generated by the lexer.
    fn host_op(&mut self, op: u32, args: &[Arg], at: Pos) -> Compiled<()> {
        match args {
            [_] => self.emit(Instr::Op { op }, at),
            [_, Arg::Positional(x)] => {
                let x = self.temporary_operand(*x)?;
                self.emit(Instr::OpValue { x, op }, at);
            }
            [_, _, Arg::Positional(x)] if self.is_host_args(*x) => {
                let ExprKind::Call(_, args) = &self.ast[*x].kind else { return Ok(()) };
                let base = self.next as Reg;
                let shape = self.args(args)?;
                self.emit(Instr::OpCall { base, op }, at);
                self.emit(Instr::Shape { shape }, Pos::UNKNOWN);
            }
            _ => return Err("expected exactly one value".into()),
        }
        Ok(())
    }

    fn is_host_args(&self, x: ExprId) -> bool {
        match &self.ast[x].kind {
            ExprKind::Call(callee, _) => matches!(self.ast[*callee].kind, ExprKind::HostArgs),
            _ => false,
        }
    }

    fn assign_stmt(&mut self, target: ExprId, value: ExprId, pos: Pos) -> Compiled<()> {
        let (target, value) = (self.ast.unparen(target), self.ast.unparen(value));
        match (&self.ast[target].kind, &self.ast[value].kind) {
            (ExprKind::Ident(_), _) if self.local(target)?.is_some() => {
                let Some(dst) = self.local(target)? else { return Ok(()) };
                if !self.append_text(dst, value)? {
                    self.into(value, dst)?;
                }
                self.assigned.insert(usize::from(dst));
                Ok(())
            }
            // Swap values without creating a tuple.
            (ExprKind::Tuple(targets), ExprKind::Tuple(values)) if targets.len() == values.len() => {
                let mut regs = Vec::with_capacity(values.len());
                for value in values {
                    regs.push(self.temporary_operand(*value)?);
                }
                for (target, reg) in targets.iter().zip(regs) {
                    self.assign(*target, reg, pos)?;
                }
                Ok(())
            }
            _ => {
                let src = self.temporary_operand(value)?;
                self.assign(target, src, pos)
            }
        }
    }

    /// The register of a local variable that is not in a cell.
    fn local(&self, ident: ExprId) -> Compiled<Option<Reg>> {
        let binding = self.program.binding(ident)?;
        Ok((binding.scope == Scope::Local).then_some(binding.index as Reg))
    }

    /// Compiles `x = x + y` such that a string grows in place. Returns whether the statement has
    /// that form.
    fn append_text(&mut self, x: Reg, value: ExprId) -> Compiled<bool> {
        let ExprKind::Binary(BinaryOp::Add, left, right) = self.ast[value].kind else { return Ok(false) };
        let left = self.ast.unparen(left);
        let same = matches!(self.ast[left].kind, ExprKind::Ident(_)) && self.local(left)? == Some(x);
        if !same || self.small_int(right).is_some() {
            return Ok(false);
        }
        self.check_local(x, self.ast[left].start);
        let y = self.operand_or_constant(right)?;
        let pos = self.ast[value].pos;
        if y == x {
            self.emit(Instr::Add { dst: x, x, y }, pos);
        } else {
            self.emit(Instr::AppendText { x, y }, pos);
        }
        Ok(true)
    }

    /// Assigns the value of `src`, a temporary that is not used again.
    pub(super) fn assign(&mut self, target: ExprId, src: Reg, pos: Pos) -> Compiled<()> {
        let expr = &self.ast[target];
        let mark = self.next;
        match &expr.kind {
            ExprKind::Paren(x) => self.assign(*x, src, pos)?,
            ExprKind::Ident(_) => {
                let binding = self.program.binding(target)?;
                match binding.scope {
                    Scope::Local => {
                        self.take(binding.index as Reg, src);
                        self.assigned.insert(binding.index);
                    }
                    Scope::Cell => self.emit(Instr::SetCell { src, cell: binding.index as Reg }, Pos::UNKNOWN),
                    Scope::Global => {
                        self.emit(Instr::SetGlobal { src, index: binding.index as u32 }, Pos::UNKNOWN);
                    }
                    _ => return Err(format!("internal error: cannot assign to {}", binding.name).into()),
                }
            }
            ExprKind::Index(x, y) => {
                let (x, y) = (self.operand(*x)?, self.operand_or_constant(*y)?);
                self.emit(Instr::SetIndex { x, y, value: src }, expr.pos);
            }
            ExprKind::Dot(x, name) => {
                let x = self.operand(*x)?;
                let name = self.name(name)?;
                self.emit(Instr::SetAttr { x, value: src, name }, expr.pos);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let count =
                    u16::try_from(items.len()).map_err(|_| "too many variables in one assignment (limit is 65535)")?;
                if let Some(first) = self.adjacent_locals(items)? {
                    self.emit(Instr::Unpack { src, first, count }, pos);
                    (0..items.len()).for_each(|n| self.assigned.insert(usize::from(first) + n));
                } else {
                    let first = self.next as Reg;
                    for _ in items {
                        self.temp()?;
                    }
                    self.emit(Instr::Unpack { src, first, count }, pos);
                    for (n, item) in items.iter().enumerate() {
                        stacker::maybe_grow(64 << 10, 1 << 20, || self.assign(*item, first + n as Reg, pos))?;
                    }
                }
            }
            _ => return Err("internal error: unexpected target of an assignment".into()),
        }
        self.next = mark;
        Ok(())
    }

    /// The first of the variables, if they are locals in consecutive registers.
    fn adjacent_locals(&self, items: &[ExprId]) -> Compiled<Option<Reg>> {
        let mut first = None;
        for (n, item) in items.iter().enumerate() {
            if !matches!(self.ast[*item].kind, ExprKind::Ident(_)) {
                return Ok(None);
            }
            match (self.local(*item)?, first) {
                (Some(reg), None) => first = Some(reg),
                (Some(reg), Some(first)) if usize::from(reg) == usize::from(first) + n => {}
                _ => return Ok(None),
            }
        }
        Ok(first)
    }

    fn augmented(&mut self, target: ExprId, op: BinaryOp, value: ExprId, pos: Pos) -> Compiled<()> {
        let target = self.ast.unparen(target);
        let expr = &self.ast[target];
        match &expr.kind {
            ExprKind::Ident(_) if op == BinaryOp::Or && self.ast.dialect == Dialect::Current => {
                let x = self.temporary_operand(target)?;
                self.add_or_compute(op, x, value, pos)?;
                self.assign(target, x, pos)
            }
            ExprKind::Ident(_) => {
                let binding = self.program.binding(target)?;
                match (binding.scope, op) {
                    (Scope::Local, BinaryOp::Add) => {
                        let x = binding.index as Reg;
                        self.check_local(x, expr.start);
                        if let Some(y) = self.small_int(value) {
                            // Adding an integer to a list fails either way, so `+=` needs no
                            // special case for it.
                            self.emit(Instr::AddInt { dst: x, x, y }, pos);
                            return Ok(());
                        }
                        let mut y = self.operand_or_constant(value)?;
                        if y == x {
                            y = self.temporary_operand(value)?;
                        }
                        self.emit(Instr::AddAssign { x, y }, pos);
                        return Ok(());
                    }
                    (Scope::Local, _) => {
                        let x = binding.index as Reg;
                        self.check_local(x, expr.start);
                        return self.operation(op, x, value, x, pos);
                    }
                    (Scope::Global, BinaryOp::Add) => {
                        let index = binding.index as u32;
                        self.emit(Instr::CheckGlobal { index }, expr.start);
                        let y = self.operand(value)?;
                        self.emit(Instr::AddAssignGlobal { index, y }, pos);
                        return Ok(());
                    }
                    _ => {}
                }
                let x = self.temporary_operand(target)?;
                self.add_or_compute(op, x, value, pos)?;
                self.assign(target, x, pos)
            }
            ExprKind::Index(object, key) => {
                let (object, key) = (self.operand(*object)?, self.operand_or_constant(*key)?);
                let x = self.temp()?;
                self.emit(Instr::Index { dst: x, x: object, y: key }, expr.pos);
                self.add_or_compute(op, x, value, pos)?;
                self.emit(Instr::SetIndex { x: object, y: key, value: x }, expr.pos);
                Ok(())
            }
            ExprKind::Dot(object, name) => {
                let object = self.operand(*object)?;
                let name = self.name(name)?;
                let x = self.temp()?;
                self.emit(Instr::Attr { dst: x, x: object, name }, expr.pos);
                self.add_or_compute(op, x, value, pos)?;
                self.emit(Instr::SetAttr { x: object, value: x, name }, expr.pos);
                Ok(())
            }
            _ => Err("internal error: unexpected target of an assignment".into()),
        }
    }

    /// `x op= value` for a temporary.
    fn add_or_compute(&mut self, op: BinaryOp, x: Reg, value: ExprId, pos: Pos) -> Compiled<()> {
        if op == BinaryOp::Or && self.ast.dialect == Dialect::Current {
            return self.or_assign(x, value, pos);
        }
        if op != BinaryOp::Add {
            return self.operation(op, x, value, x, pos);
        }
        let y = self.operand_or_constant(value)?;
        self.emit(Instr::AddAssign { x, y }, pos);
        Ok(())
    }

    /// `x |= y`, which changes a dict in place: a call of a hidden built-in function.
    fn or_assign(&mut self, x: Reg, value: ExprId, pos: Pos) -> Compiled<()> {
        let index = self.constant(Constant::OrAssign);
        let base = self.temp()?;
        self.emit(Instr::Const { dst: base, index }, Pos::UNKNOWN);
        let left = self.temp()?;
        self.emit(Instr::Move { dst: left, src: x }, Pos::UNKNOWN);
        let right = self.temp()?;
        self.into(value, right)?;
        self.emit(Instr::Call { count: 2, base }, pos);
        self.emit(Instr::Move { dst: x, src: base }, Pos::UNKNOWN);
        Ok(())
    }

    fn operation(&mut self, op: BinaryOp, x: Reg, value: ExprId, dst: Reg, pos: Pos) -> Compiled<()> {
        let instr = match self.small_int(value) {
            Some(y) => super::int_instr(op, dst, x, y),
            None => super::binary_instr(op, dst, x, self.operand_or_constant(value)?),
        };
        self.emit(instr, pos);
        Ok(())
    }

    fn if_stmt(&mut self, branches: &[(ExprId, Vec<Stmt>)], otherwise: &[Stmt]) -> Compiled<()> {
        let mut to_end = Vec::new();
        let mut after: Option<super::Assigned> = None;
        for (n, (condition, body)) in branches.iter().enumerate() {
            let mut to_next = Vec::new();
            self.branch(*condition, false, &mut to_next)?;
            let before = self.assigned.clone();
            self.stmts(body)?;
            if n + 1 < branches.len() || !otherwise.is_empty() {
                to_end.push(self.jump());
            }
            self.land(to_next)?;
            let done = std::mem::replace(&mut self.assigned, before);
            match &mut after {
                Some(after) => after.meet(&done),
                None => after = Some(done),
            }
        }
        self.stmts(otherwise)?;
        self.land(to_end)?;
        if let Some(after) = after {
            self.assigned.meet(&after);
        }
        Ok(())
    }

    /// A loop over an iterable, in a statement or a comprehension.
    pub(super) fn for_loop(
        &mut self,
        vars: ExprId,
        iterable: ExprId,
        pos: Pos,
        body: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let mark = self.next;
        let iter = self.temp()?;
        let src = self.operand(iterable)?;
        self.emit(Instr::IterStart { dst: iter, src }, pos);
        self.start_with_pairs(vars, iterable, iter);
        self.next = usize::from(iter) + 1;
        let before = self.assigned.clone();
        let start = self.here();
        let var = match &self.ast[vars].kind {
            ExprKind::Ident(_) => self.local(vars)?,
            _ => None,
        };
        let dst = match var {
            Some(reg) => reg,
            None => self.temp()?,
        };
        let mut exits = Vec::new();
        if self.far {
            self.emit(Instr::IterNextFar { iter, dst }, pos);
            exits.push(self.jump());
        } else {
            exits.push(start);
            self.emit(Instr::IterNext { iter, dst, by: 0 }, pos);
        }
        match var {
            Some(reg) => self.assigned.insert(usize::from(reg)),
            None => self.assign(vars, dst, pos)?,
        }
        self.loops.push(Loop { start, breaks: exits });
        body(self)?;
        if self.far {
            self.emit(Instr::Jump { to: start as u32 }, Pos::UNKNOWN);
        } else {
            let back = i16::try_from(self.here() - start - 1).map_err(|_| "function too large")?;
            self.emit(Instr::IterAgain { iter, dst, by: -back }, Pos::UNKNOWN);
        }
        let exits = self.loops.pop().map(|done| done.breaks).unwrap_or_default();
        self.land(exits)?;
        self.emit(Instr::Clear { reg: iter }, Pos::UNKNOWN);
        self.assigned = before;
        self.next = mark;
        Ok(())
    }

    /// Optimizes a loop `for a, b in x.items()` or `in enumerate(x)` that was just started: it
    /// creates no tuples.
    fn start_with_pairs(&mut self, vars: ExprId, iterable: ExprId, iter: Reg) {
        let is_pair = match &self.ast[self.ast.unparen(vars)].kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items.len() == 2,
            _ => false,
        };
        // No jump may lead past the call: `x.items()` must be the whole expression, not part of a
        // condition.
        if !is_pair || !matches!(self.ast[self.ast.unparen(iterable)].kind, ExprKind::Call(..)) {
            return;
        }
        if let Some([Instr::CallBuiltin1 { dst, x, index }, Instr::IterStart { src, .. }]) = self.instrs.last_chunk()
            && dst == src
            && self.constants[usize::from(*index)] == Constant::Universal("enumerate".into())
        {
            let (at, x) = (self.here() - 2, *x);
            self.instrs.insert(at, Instr::EnumerateStart { dst: iter, x });
            self.positions.insert(at, self.positions[at]);
            return;
        }
        // A call without arguments has a fast path for methods before the general one.
        if let Some([Instr::Method0 { .. }, Instr::Method { x, name, .. }, _, Instr::IterStart { .. }]) =
            self.instrs.last_chunk()
            && self.names[usize::from(*name)].name == *"items"
        {
            let (at, x) = (self.here() - 4, *x);
            self.instrs[at] = Instr::PairsStart { dst: iter, x };
            self.positions[at] = self.positions[at + 1];
        }
    }

    fn while_stmt(&mut self, condition: ExprId, body: &[Stmt]) -> Compiled<()> {
        let start = self.here();
        self.emit(Instr::Step, self.ast[condition].start);
        let mut exits = Vec::new();
        self.branch(condition, false, &mut exits)?;
        let before = self.assigned.clone();
        self.loops.push(Loop { start, breaks: exits });
        self.stmts(body)?;
        self.emit(Instr::Jump { to: start as u32 }, Pos::UNKNOWN);
        let exits = self.loops.pop().map(|done| done.breaks).unwrap_or_default();
        self.land(exits)?;
        self.assigned = before;
        Ok(())
    }

    fn load(&mut self, load: &Load) -> Compiled<()> {
        let first = self.next as Reg;
        for _ in &load.names {
            self.temp()?;
        }
        let index = u16::try_from(self.loads.len()).map_err(|_| "too many load statements (limit is 65536)")?;
        let names = load.names.iter().map(|(name, pos, _)| (name.clone(), *pos)).collect();
        self.loads.push(LoadCode { module: load.module.clone(), names });
        self.emit(Instr::Load { first, index }, load.pos);
        for (n, (.., ident)) in load.names.iter().enumerate() {
            self.assign(*ident, first + n as Reg, load.pos)?;
        }
        Ok(())
    }
}
