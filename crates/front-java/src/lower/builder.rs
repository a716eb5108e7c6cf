//! A builder for IR functions.

use crate::classes::layout::memory_ty;
use crate::classfile::Desc;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_base::{IndexMap, Span, float};
use touchstone_ir::{
    ArmName, BinOp, Block, BlockId, BranchRole, Builtin, Callee, CastOp, CmpOp, DataTypeId, FuncId, Function,
    FunctionRole, GlobalId, Inst, InstKind, Operand, Param, PointId, Reg, RegInfo, SwitchArm, TermKind, Terminator, Ty,
};

/// A function under construction. Instructions are appended to the current block.
pub(crate) struct Builder {
    regs: IndexMap<Reg, RegInfo>,
    blocks: Vec<(Vec<Inst>, Option<Terminator>)>,
    current: usize,
    params: usize,
    /// Registers for short-lived values, by type, and the number of them in use.
    temps: Vec<(Ty, Vec<Reg>, usize)>,
    /// The source position of the next instructions.
    pub span: Span,
    /// The landing pad of calls: the register of the exception, and the block of the handler.
    pub landing_pad: Option<(Reg, BlockId)>,
    /// The hazard point of the next check's failing branch.
    pub failure_point: Option<PointId>,
    /// Choices that Java leaves to the JVM and that the function makes in one way.
    pub left_open: BTreeSet<String>,
}

/// Returns a 32-bit constant.
pub(crate) fn int(value: i32) -> Operand {
    Operand::Const(Ty::I32, u64::from(value as u32))
}

/// Returns a 64-bit constant.
pub(crate) fn long(value: i64) -> Operand {
    Operand::Const(Ty::I64, value as u64)
}

/// The null reference.
pub(crate) const NULL: Operand = Operand::Const(Ty::Ptr, 0);

impl Builder {
    pub fn new(params: &[Ty]) -> Builder {
        let regs = params.iter().map(|ty| RegInfo { ty: *ty, name: None }).collect();
        Builder {
            regs,
            blocks: vec![(Vec::new(), None)],
            current: 0,
            params: params.len(),
            temps: Vec::new(),
            span: Span::none(),
            landing_pad: None,
            failure_point: None,
            left_open: BTreeSet::new(),
        }
    }

    pub fn param(&self, index: usize) -> Operand {
        Operand::Reg(Reg::new(index))
    }

    pub fn params(&self) -> Vec<Operand> {
        (0..self.params).map(|index| self.param(index)).collect()
    }

    pub fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.regs[reg].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    // Registers and blocks.

    /// Creates a register.
    pub fn reg(&mut self, ty: Ty) -> Reg {
        self.regs.push(RegInfo { ty, name: None })
    }

    /// Creates or reuses a register for a short-lived value: see [`Builder::reuse_temps`].
    pub fn temp(&mut self, ty: Ty) -> Reg {
        let at = match self.temps.iter().position(|(known, ..)| *known == ty) {
            Some(at) => at,
            None => {
                self.temps.push((ty, Vec::new(), 0));
                self.temps.len() - 1
            }
        };
        let used = self.temps[at].2;
        if used == self.temps[at].1.len() {
            let reg = self.reg(ty);
            self.temps[at].1.push(reg);
        }
        self.temps[at].2 += 1;
        self.temps[at].1[used]
    }

    /// Allows the registers of short-lived values to be reused from here on.
    pub fn reuse_temps(&mut self) {
        for (_, _, used) in &mut self.temps {
            *used = 0;
        }
    }

    pub fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId::new(self.blocks.len() - 1)
    }

    /// Makes a block the current one.
    pub fn at(&mut self, block: BlockId) {
        self.current = block.index();
    }

    /// Makes the failing branch of a check the current block, and emits its hazard point.
    pub fn at_failure(&mut self, block: BlockId) {
        self.at(block);
        if let Some(point) = self.failure_point.take() {
            self.emit(InstKind::Point { point });
        }
    }

    pub fn current_block(&self) -> BlockId {
        BlockId::new(self.current)
    }

    /// Returns true if the current block has a terminator.
    pub fn is_terminated(&self) -> bool {
        self.blocks[self.current].1.is_some()
    }

    // Instructions.

    pub fn emit(&mut self, kind: InstKind) {
        let span = self.span;
        let (insts, end) = &mut self.blocks[self.current];
        if end.is_none() {
            insts.push(Inst { kind, span });
        }
    }

    pub fn copy(&mut self, dst: Reg, src: Operand) {
        if Operand::Reg(dst) != src {
            self.emit(InstKind::Copy { dst, src });
        }
    }

    /// Copies a value to a register that no other write changes.
    pub fn copied(&mut self, src: Operand) -> Operand {
        let dst = self.temp(self.ty(src));
        self.copy(dst, src);
        Operand::Reg(dst)
    }

    pub fn bin(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let dst = self.temp(self.ty(a));
        self.emit(InstKind::Bin { dst, op, a, b });
        Operand::Reg(dst)
    }

    pub fn cmp(&mut self, op: CmpOp, a: Operand, b: Operand) -> Operand {
        let dst = self.temp(Ty::I1);
        self.emit(InstKind::Cmp { dst, op, a, b });
        Operand::Reg(dst)
    }

    /// Changes the width of a value, if it differs.
    pub fn cast(&mut self, op: CastOp, to: Ty, src: Operand) -> Operand {
        if self.ty(src) == to {
            return src;
        }
        let dst = self.temp(to);
        self.emit(InstKind::Cast { dst, op, src });
        Operand::Reg(dst)
    }

    pub fn float(&mut self, op: float::FloatOp, format: float::Format, ty: Ty, args: Vec<Operand>) -> Operand {
        let dst = self.temp(ty);
        self.emit(InstKind::Float { dst, op, format, args });
        Operand::Reg(dst)
    }

    pub fn global(&mut self, global: GlobalId) -> Operand {
        let dst = self.temp(Ty::Ptr);
        self.emit(InstKind::GlobalAddr { dst, global });
        Operand::Reg(dst)
    }

    pub fn add(&mut self, base: Operand, offset: Operand) -> Operand {
        if matches!(offset, Operand::Const(_, 0)) {
            return base;
        }
        let dst = self.temp(Ty::Ptr);
        self.emit(InstKind::PtrAdd { dst, base, offset });
        Operand::Reg(dst)
    }

    pub fn load(&mut self, base: Operand, offset: i64, ty: Ty) -> Operand {
        let addr = self.add(base, long(offset));
        let dst = self.temp(ty);
        self.emit(InstKind::Load { dst, addr });
        Operand::Reg(dst)
    }

    pub fn store(&mut self, base: Operand, offset: i64, value: Operand) {
        let addr = self.add(base, long(offset));
        self.emit(InstKind::Store { addr, value });
    }

    /// Loads a value of a Java type, extended to its register type.
    pub fn load_as(&mut self, addr: Operand, desc: &Desc) -> Operand {
        let value = self.load(addr, 0, memory_ty(desc));
        match desc {
            Desc::Byte | Desc::Short => self.cast(CastOp::Sext, Ty::I32, value),
            Desc::Boolean | Desc::Char => self.cast(CastOp::Zext, Ty::I32, value),
            _ => value,
        }
    }

    /// Stores a value of a Java type.
    pub fn store_as(&mut self, addr: Operand, desc: &Desc, value: Operand) {
        let value = match desc {
            Desc::Boolean => self.bin(BinOp::And, value, int(1)),
            _ => value,
        };
        let value = self.cast(CastOp::Trunc, memory_ty(desc), value);
        self.emit(InstKind::Store { addr, value });
    }

    /// Emits a call. Exceptions are delivered to [`Builder::landing_pad`].
    pub fn call(&mut self, function: FuncId, args: Vec<Operand>, result: Option<Ty>) -> Operand {
        let dst = result.map(|ty| self.temp(ty));
        self.emit(InstKind::Call { dst, callee: Callee::Direct(function), args });
        if let Some((thrown, handler)) = self.landing_pad {
            let next = self.block();
            self.end(TermKind::Catch { thrown, handler, next });
            self.at(next);
        }
        dst.map_or(NULL, Operand::Reg)
    }

    pub fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>, result: Option<Ty>) -> Operand {
        let dst = result.map(|ty| self.temp(ty));
        self.emit(InstKind::Builtin { dst, builtin, args });
        dst.map_or(NULL, Operand::Reg)
    }

    // Terminators.

    pub fn end(&mut self, kind: TermKind) {
        let span = self.span;
        let (_, end) = &mut self.blocks[self.current];
        if end.is_none() {
            *end = Some(Terminator { kind, span });
        }
    }

    pub fn jump(&mut self, target: BlockId) {
        self.end(TermKind::Jump(target));
    }

    pub fn branch(&mut self, cond: Operand, then_block: BlockId, else_block: BlockId, role: BranchRole) {
        self.end(TermKind::Branch { cond, then_block, else_block, role, tag: None });
    }

    /// Continues in a new block if a condition holds, else jumps to `otherwise`.
    pub fn check(&mut self, cond: Operand, otherwise: BlockId) {
        let next = self.block();
        self.branch(cond, next, otherwise, BranchRole::Check);
        self.at(next);
    }

    pub fn switch(&mut self, value: Operand, arms: Vec<SwitchArm>, default: BlockId, role: BranchRole) {
        self.named_switch(value, (arms, default), role, Vec::new());
    }

    pub fn named_switch(
        &mut self,
        value: Operand,
        (arms, default): (Vec<SwitchArm>, BlockId),
        role: BranchRole,
        names: Vec<ArmName>,
    ) {
        self.end(TermKind::Switch { value, arms, default, role, names });
    }

    pub fn ret(&mut self, value: Option<Operand>) {
        self.end(TermKind::Return(value));
    }

    pub fn throw(&mut self, thrown: Operand) {
        match self.landing_pad {
            Some((reg, handler)) => {
                self.copy(reg, thrown);
                self.jump(handler);
            }
            None => self.end(TermKind::Throw(thrown)),
        }
    }

    /// Terminates the block with an unsupported construct: a path that reaches it is abandoned, with this name as the
    /// reason.
    pub fn unsupported(&mut self, what: impl Into<String>) {
        self.end(TermKind::Unsupported(what.into()));
    }

    /// Returns the finished function.
    pub fn finish(self, name: String, result: Option<Ty>, data: DataTypeId, role: FunctionRole) -> Function {
        let span = self.blocks.first().and_then(|(insts, _)| insts.first()).map_or(self.span, |inst| inst.span);
        let end = |end: Option<Terminator>| end.unwrap_or(Terminator { kind: TermKind::Unreachable, span });
        let param = |index| Param { name: format!("p{index}"), reg: Reg::new(index), data, aggregate: false };
        Function {
            name,
            span,
            internal: false,
            role,
            params: (0..self.params).map(param).collect(),
            result,
            result_data: data,
            aggregate_result: false,
            variadic: false,
            left_open: self.left_open,
            regs: self.regs,
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: self.blocks.into_iter().map(|(insts, last)| Block { insts, terminator: end(last) }).collect(),
        }
    }
}
