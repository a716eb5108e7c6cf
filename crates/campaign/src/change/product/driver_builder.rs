//! Builds the driver of a product program, block by block: it saves the inputs, calls the new version, saves what that
//! left, restores the inputs, calls the old version, and compares.

use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap};
use touchstone_ir::{
    BinOp, Block, BlockId, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, FuncId, Function, GlobalId, Inst,
    InstKind, Module, Operand, Point, PointId, PointKind, Reg, RegInfo, Slot, TermKind, Terminator, Ty,
};

/// The maximum number of scalars that are compared in one object.
const MAX_SCALARS: usize = 64;

/// A scalar of an object: offset and type.
pub(super) type Scalar = (u64, Ty);

/// Says whether a version writes the objects that parameters point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PointeeWrites {
    Written,
    NotWritten,
}

/// Builds a driver, block by block.
pub(super) struct DriverBuilder<'m> {
    pub module: &'m Module,
    pub driver: Function,
    /// The instructions of the current block so far.
    pub insts: Vec<InstKind>,
    /// Not zero once a difference has been found.
    pub differs: Reg,
}

impl<'m> DriverBuilder<'m> {
    /// Begins a driver that takes the parameters of the function.
    pub fn begin(module: &'m Module, new: FuncId, nothing: DataTypeId) -> DriverBuilder<'m> {
        let function = &module.functions[new];
        let mut made = Function {
            name: format!("both versions of {}", function.name),
            internal: true,
            result: None,
            result_data: nothing,
            aggregate_result: false,
            params: function.own_params().to_vec(),
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: IndexMap::new(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
            ..function.clone()
        };
        for param in &mut made.params {
            param.reg = made.regs.push(function.regs[param.reg].clone());
        }
        let differs = made.regs.push(RegInfo { ty: Ty::I64, name: None });
        let mut builder = DriverBuilder { module, driver: made, insts: Vec::new(), differs };
        builder.insts.push(InstKind::Copy { dst: differs, src: Operand::Const(Ty::I64, 0) });
        builder
    }

    /// Builds a driver of versions that share the memory they write: globals, and the pointees of parameters if
    /// `objects` says so. Returns the driver and the point that it reaches if they differ.
    pub fn build(
        self,
        (new, old): (FuncId, FuncId),
        globals: &BTreeSet<GlobalId>,
        objects: PointeeWrites,
    ) -> Option<(Function, PointId)> {
        let mut builder = self;
        let function = &builder.module.functions[new];
        if function.variadic || function.result == Some(Ty::Ptr) {
            return None;
        }
        let mut kept = Vec::new();
        for global in globals {
            kept.push(builder.save_global(*global)?);
        }
        for (index, param) in function.own_params().iter().enumerate() {
            if objects == PointeeWrites::Written && function.regs[param.reg].ty == Ty::Ptr {
                kept.push(builder.save_object(index)?);
            }
        }
        let args: Vec<Operand> = builder.driver.params.iter().map(|param| Operand::Reg(param.reg)).collect();
        let results = match function.aggregate_result {
            true => Some(builder.results(function.result_data)?),
            false => None,
        };
        let call = |builder: &mut DriverBuilder<'m>, callee: FuncId, result: Option<Reg>| {
            let args: Vec<Operand> = result.map(Operand::Reg).into_iter().chain(args.iter().copied()).collect();
            let dst = function.result.map(|ty| builder.reg(ty));
            // The result of a call that throws is zero.
            dst.iter().for_each(|dst| {
                let src = Operand::Const(builder.driver.regs[*dst].ty, 0);
                builder.insts.push(InstKind::Copy { dst: *dst, src });
            });
            builder.insts.push(InstKind::Call { dst, callee: Callee::Direct(callee), args });
            let class = builder.catch();
            (dst, class)
        };
        let (now, class_now) = call(&mut builder, new, results.as_ref().map(|results| results.after));
        kept.iter().for_each(|kept| builder.save_and_restore(kept));
        let (before, class_before) = call(&mut builder, old, results.as_ref().map(|results| results.at));
        for (now, before) in [now.zip(before), class_now.zip(class_before)].into_iter().flatten() {
            builder.compare(now, before);
        }
        kept.iter().chain(&results).for_each(|kept| builder.compare_memory(kept));
        let (yes, no) = builder.prove(builder.differs);
        let point = Point::new(PointKind::Statement, function.span, "both versions leave the same".to_string());
        let point = builder.driver.points.push(point);
        builder.insts.push(InstKind::Point { point });
        builder.end(TermKind::Return(None));
        debug_assert_eq!(yes.index() + 1, no.index());
        builder.end(TermKind::Return(None));
        Some((builder.driver, point))
    }

    /// Catches what the last call throws, if the language has exceptions: returns the register that holds its class, or
    /// the largest number if nothing is thrown.
    pub fn catch(&mut self) -> Option<Reg> {
        let tag = self.module.class_tag()?;
        let (thrown, class) = (self.reg(Ty::Ptr), self.reg(Ty::Int(tag.bits)));
        let (handler, next, behind) = (self.next_block(1), self.next_block(2), self.next_block(3));
        self.end(TermKind::Catch { thrown, handler, next });
        let addr = self.reg(Ty::Ptr);
        let (base, offset) = (Operand::Reg(thrown), Operand::Const(Ty::I64, tag.offset));
        self.insts.push(InstKind::PtrAdd { dst: addr, base, offset });
        self.insts.push(InstKind::Load { dst: class, addr: Operand::Reg(addr) });
        self.end(TermKind::Jump(behind));
        let nothing = touchstone_ir::mask(u64::MAX, tag.bits);
        self.insts.push(InstKind::Copy { dst: class, src: Operand::Const(Ty::Int(tag.bits), nothing) });
        self.end(TermKind::Jump(behind));
        Some(class)
    }

    pub fn reg(&mut self, ty: Ty) -> Reg {
        self.driver.regs.push(RegInfo { ty, name: None })
    }

    pub fn end(&mut self, kind: TermKind) {
        let span = self.driver.span;
        let insts = std::mem::take(&mut self.insts).into_iter().map(|kind| Inst { kind, span }).collect();
        self.driver.blocks.push(Block { insts, terminator: Terminator { kind, span } });
    }

    pub fn next_block(&self, after: usize) -> BlockId {
        BlockId::new(self.driver.blocks.len() + after)
    }

    /// Ends a block with a branch on a number being not zero; returns the two blocks that follow.
    pub fn prove(&mut self, value: Reg) -> (BlockId, BlockId) {
        let cond = self.reg(Ty::I1);
        let ty = self.driver.regs[value].ty;
        self.insts.push(InstKind::Cmp { dst: cond, op: CmpOp::Ne, a: Operand::Reg(value), b: Operand::Const(ty, 0) });
        let (yes, no) = (self.next_block(1), self.next_block(2));
        let kind = TermKind::Branch {
            cond: Operand::Reg(cond),
            then_block: yes,
            else_block: no,
            role: BranchRole::Dispatch,
            tag: None,
        };
        self.end(kind);
        (yes, no)
    }

    /// Allocates a slot of the driver and returns its address.
    fn slot(&mut self, data: DataTypeId, size: u64) -> Reg {
        let slot = self.driver.slots.push(Slot { name: None, data, size });
        let dst = self.reg(Ty::Ptr);
        self.insts.push(InstKind::SlotAddr { dst, slot });
        dst
    }

    /// Allocates memory for the structures that both versions return.
    fn results(&mut self, data: DataTypeId) -> Option<SharedMemory> {
        let scalars = scalars(self.module, data)?;
        let size = self.module.types[data].size(&self.module.types);
        let (at, after) = (self.slot(data, size), self.slot(data, size));
        Some(SharedMemory { at, before: at, after, size: Operand::Const(Ty::I64, size), scalars, element: None })
    }

    fn save_global(&mut self, global: GlobalId) -> Option<SharedMemory> {
        let (data, size) = (self.module.globals[global].data, self.module.globals[global].size);
        let scalars = scalars(self.module, data)?;
        let at = self.reg(Ty::Ptr);
        self.insts.push(InstKind::GlobalAddr { dst: at, global });
        let (before, after) = (self.slot(data, size), self.slot(data, size));
        let size = Operand::Const(Ty::I64, size);
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(before), src: Operand::Reg(at), size });
        Some(SharedMemory { at, before, after, size, scalars, element: None })
    }

    /// Returns true if all of a variable can be compared.
    pub fn can_compare(module: &Module, global: GlobalId) -> bool {
        scalars(module, module.globals[global].data).or_else(|| words(module, global)).is_some()
    }

    /// Returns a variable of the new version with its counterpart of the old one.
    pub fn globals(&mut self, new: GlobalId, old: GlobalId) -> Option<SharedMemory> {
        let (data, size) = (self.module.globals[new].data, self.module.globals[new].size);
        let scalars = scalars(self.module, data).or_else(|| words(self.module, new))?;
        let (after, at) = (self.reg(Ty::Ptr), self.reg(Ty::Ptr));
        self.insts.push(InstKind::GlobalAddr { dst: after, global: new });
        self.insts.push(InstKind::GlobalAddr { dst: at, global: old });
        Some(SharedMemory { at, before: at, after, size: Operand::Const(Ty::I64, size), scalars, element: None })
    }

    /// Saves the pointee of a parameter, if it has one.
    fn save_object(&mut self, param: usize) -> Option<SharedMemory> {
        let module = self.module;
        let own = &self.driver.params[param];
        let (at, data) = (own.reg, own.data);
        let element = match &module.types[data] {
            DataType::Pointer { pointee, .. } => *pointee,
            DataType::Array { element, .. } => *element,
            _ if own.aggregate => data,
            _ => return None,
        };
        let scalars = scalars(module, element)?;
        let stride = module.types[element].size(&module.types);
        if stride == 0 {
            return None;
        }
        let size = self.reg(Ty::I64);
        let (before, after) = (self.reg(Ty::Ptr), self.reg(Ty::Ptr));
        let null = Operand::Const(Ty::Ptr, 0);
        self.insts.push(InstKind::Copy { dst: size, src: Operand::Const(Ty::I64, 0) });
        self.insts.push(InstKind::Copy { dst: before, src: null });
        self.insts.push(InstKind::Copy { dst: after, src: null });
        let is = self.reg(Ty::I1);
        self.insts.push(InstKind::Cmp { dst: is, op: CmpOp::Ne, a: Operand::Reg(at), b: null });
        let (some, next) = (self.next_block(1), self.next_block(2));
        self.end(TermKind::Branch {
            cond: Operand::Reg(is),
            then_block: some,
            else_block: next,
            role: BranchRole::Dispatch,
            tag: None,
        });
        self.insts.push(InstKind::Builtin {
            dst: Some(size),
            builtin: Builtin::ObjectSize,
            args: vec![Operand::Reg(at)],
        });
        for dst in [before, after] {
            let args = vec![Operand::Reg(size)];
            self.insts.push(InstKind::Builtin { dst: Some(dst), builtin: Builtin::Allocate, args });
        }
        let size = Operand::Reg(size);
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(before), src: Operand::Reg(at), size });
        self.end(TermKind::Jump(next));
        Some(SharedMemory { at, before, after, size, scalars, element: Some(stride) })
    }

    /// Saves what the new version left, and restores the input.
    fn save_and_restore(&mut self, kept: &SharedMemory) {
        let SharedMemory { at, before, after, size, .. } = kept;
        let next = kept.element.map(|_| self.skip_if_absent(kept));
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(*after), src: Operand::Reg(*at), size: *size });
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(*at), src: Operand::Reg(*before), size: *size });
        if let Some(next) = next {
            self.end(TermKind::Jump(next));
        }
    }

    /// Skips what follows if the object does not exist; returns the block behind it.
    fn skip_if_absent(&mut self, kept: &SharedMemory) -> BlockId {
        let size = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst: size, src: kept.size });
        self.prove(size).1
    }

    fn compare_memory(&mut self, kept: &SharedMemory) {
        let Some(stride) = kept.element else {
            return self.compare_scalars(kept, Operand::Const(Ty::I64, 0));
        };
        self.for_each(kept.size, stride, |builder, at| builder.compare_scalars(kept, at));
    }

    /// Emits `for (at = 0; at + stride <= size; at += stride)`.
    pub fn for_each(&mut self, size: Operand, stride: u64, body: impl FnOnce(&mut Self, Operand)) {
        let at = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst: at, src: Operand::Const(Ty::I64, 0) });
        let head = self.next_block(1);
        self.end(TermKind::Jump(head));
        let end = self.bin(BinOp::Add, Operand::Reg(at), Operand::Const(Ty::I64, stride));
        let is = self.reg(Ty::I1);
        self.insts.push(InstKind::Cmp { dst: is, op: CmpOp::Ule, a: Operand::Reg(end), b: size });
        let (first, behind) = (self.next_block(1), self.next_block(2));
        self.end(TermKind::Branch {
            cond: Operand::Reg(is),
            then_block: first,
            else_block: behind,
            role: BranchRole::Dispatch,
            tag: None,
        });
        body(self, Operand::Reg(at));
        self.insts.push(InstKind::Copy { dst: at, src: Operand::Reg(end) });
        self.end(TermKind::Jump(head));
    }

    pub fn bin(&mut self, op: BinOp, a: Operand, b: Operand) -> Reg {
        let dst = self.reg(Ty::I64);
        self.insts.push(InstKind::Bin { dst, op, a, b });
        dst
    }

    pub fn compare_scalars(&mut self, kept: &SharedMemory, element: Operand) {
        for (offset, ty) in &kept.scalars {
            let offset = self.bin(BinOp::Add, element, Operand::Const(Ty::I64, *offset));
            let load = |builder: &mut DriverBuilder<'m>, base: Reg| {
                let (addr, dst) = (builder.reg(Ty::Ptr), builder.reg(*ty));
                builder.insts.push(InstKind::PtrAdd {
                    dst: addr,
                    base: Operand::Reg(base),
                    offset: Operand::Reg(offset),
                });
                builder.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
                dst
            };
            let (now, before) = (load(self, kept.after), load(self, kept.at));
            self.compare(now, before);
        }
    }

    pub fn compare(&mut self, now: Reg, before: Reg) {
        let is = self.reg(Ty::I1);
        self.insts.push(InstKind::Cmp { dst: is, op: CmpOp::Ne, a: Operand::Reg(now), b: Operand::Reg(before) });
        let wide = self.reg(Ty::I64);
        self.insts.push(InstKind::Cast { dst: wide, op: touchstone_ir::CastOp::Zext, src: Operand::Reg(is) });
        let differs = self.differs;
        let (a, b) = (Operand::Reg(differs), Operand::Reg(wide));
        self.insts.push(InstKind::Bin { dst: differs, op: BinOp::Or, a, b });
    }
}

/// Memory that both versions may write.
pub(super) struct SharedMemory {
    at: Reg,
    /// The contents before the calls, and those that the new version left.
    before: Reg,
    after: Reg,
    size: Operand,
    scalars: Vec<Scalar>,
    /// The bytes of an element, if the number of elements is known only at run time.
    element: Option<u64>,
}

/// Returns all scalars of a type, or `None` if it contains anything else, or too many.
pub(super) fn scalars(module: &Module, data: DataTypeId) -> Option<Vec<Scalar>> {
    let mut found = Vec::new();
    let mut pending = vec![(0u64, data)];
    while let Some((offset, data)) = pending.pop() {
        match &module.types[data] {
            DataType::Int { bits, .. } => found.push((offset, Ty::Int(*bits))),
            DataType::Bool { .. } | DataType::Enum { .. } | DataType::Float { .. } => {
                found.push((offset, scalar(module, data)?));
            }
            DataType::Array { element, .. } => {
                let (all, one) = (module.types[data].size(&module.types), module.types[*element].size(&module.types));
                let count = all.checked_div(one)?;
                pending.extend((0..count.min(MAX_SCALARS as u64 + 1)).map(|index| (offset + index * one, *element)));
            }
            DataType::Struct { fields, .. } => {
                pending.extend(fields.iter().map(|field| (offset + field.offset, field.ty)));
            }
            _ => return None,
        }
        if found.len() + pending.len() > MAX_SCALARS {
            return None;
        }
    }
    found.sort_unstable();
    Some(found)
}

/// Returns the register type of a scalar.
pub(super) fn scalar(module: &Module, data: DataTypeId) -> Option<Ty> {
    match &module.types[data] {
        DataType::Int { bits, .. } => Some(Ty::Int(*bits)),
        other @ (DataType::Bool { .. } | DataType::Enum { .. } | DataType::Float { .. }) => {
            let bits = u8::try_from(other.size(&module.types).checked_mul(8)?).ok()?;
            matches!(bits, 8 | 16 | 32 | 64).then_some(Ty::Int(bits))
        }
        _ => None,
    }
}

/// Returns the elements of an array that exists before the run, or `None` if they are no scalars or too many.
fn words(module: &Module, global: GlobalId) -> Option<Vec<Scalar>> {
    let (data, size) = (module.globals[global].data, module.globals[global].size);
    let tail = module.types[data].tail(&module.types)?;
    scalar(module, tail.element)?;
    let element = module.types[tail.element].size(&module.types);
    let count = size.checked_sub(tail.offset)?.checked_div(element)?;
    let ty = scalar(module, tail.element)?;
    (count <= MAX_SCALARS as u64).then(|| (0..count).map(|index| (tail.offset + index * element, ty)).collect())
}
