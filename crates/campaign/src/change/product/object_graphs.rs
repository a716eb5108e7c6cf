//! The driver of a product program where objects have classes: each version gets its own object graph. Input objects
//! are duplicated, with equal contents and the same shape; both versions run, and the graphs that they left are
//! compared object by object.
//!
//! Only completely laid out objects can be duplicated: arrays of scalars, strings (immutable, so both versions share
//! them), and objects of one class that point to such, without cycles. Any other object that comes out, or sharing that
//! may differ between the versions, makes the driver *unsure*.

use super::driver_builder::{DriverBuilder, scalar};
use super::java::is_string;
use std::collections::BTreeSet;
use touchstone_ir::{
    BinOp, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, Field, FuncId, GlobalId, InstKind, Module,
    Operand, Point, PointId, PointKind, Reg, StructKind, TermKind, Ty,
};

/// The inputs of both versions, and the state that they leave.
pub(super) struct SeparateGraphs {
    /// How each parameter is passed.
    pub params: Vec<ParameterPassing>,
    /// Static variables that are inputs, of the new version and of the old one.
    pub inputs: Vec<(GlobalId, GlobalId)>,
    /// Static variables and existing objects that one of the versions may write.
    pub outputs: Vec<(GlobalId, GlobalId)>,
    /// The names of types of objects that exist before a run: one of them may be returned instead of a new one.
    pub existing: BTreeSet<String>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ParameterPassing {
    /// Unchanged, with the type that it has as an input.
    Unchanged(DataTypeId),
    /// As the receiver of a method: never null.
    Receiver(DataTypeId),
    /// As null: no version reads it.
    Omitted,
}

/// An object and its duplicate; null where there is none.
#[derive(Clone, Copy)]
struct ObjectPair {
    new: Reg,
    old: Reg,
    object: DataTypeId,
}

/// The points that a driver reaches if the versions differ, or if it cannot decide.
pub(super) struct DriverPoints {
    pub differs: PointId,
    pub unsure: PointId,
}

/// The maximum nesting depth of objects.
const MAX_OBJECT_DEPTH: usize = 3;

/// The state of building a driver with two object graphs.
struct GraphBuilder<'m, 'd> {
    builder: &'d mut DriverBuilder<'m>,
    duplicates: Vec<ObjectPair>,
    /// Objects that both versions may have allocated.
    allocated: Vec<ObjectPair>,
    /// Registers that are initialised to null.
    nulls: Vec<Reg>,
    unsure: Reg,
    existing: &'d BTreeSet<String>,
}

impl<'m> DriverBuilder<'m> {
    /// Builds a driver, or returns `None` if an input cannot be duplicated.
    pub fn build_with_graphs(
        mut self,
        (new, old): (FuncId, FuncId),
        graphs: &SeparateGraphs,
    ) -> Option<(DriverBuilder<'m>, DriverPoints)> {
        let function = &self.module.functions[new];
        for (param, passing) in self.driver.params.iter_mut().zip(&graphs.params) {
            if let ParameterPassing::Unchanged(data) | ParameterPassing::Receiver(data) = passing {
                param.data = *data;
            }
        }
        let unsure = self.number(0);
        for (new, old) in &graphs.inputs {
            self.set(*new, *old);
        }
        let (duplicates, nulls) = (Vec::new(), Vec::new());
        let mut graph = GraphBuilder {
            builder: &mut self,
            duplicates,
            allocated: Vec::new(),
            nulls,
            unsure,
            existing: &graphs.existing,
        };
        let (mut new_args, mut old_args) = (Vec::new(), Vec::new());
        for (index, passing) in graphs.params.iter().enumerate() {
            let reg = graph.builder.driver.params[index].reg;
            let is_pointer = graph.builder.driver.regs[reg].ty == Ty::Ptr;
            let (now, before) = match passing {
                ParameterPassing::Omitted => (Operand::Const(Ty::Ptr, 0), Operand::Const(Ty::Ptr, 0)),
                ParameterPassing::Receiver(data) => {
                    let is = graph.is(CmpOp::Eq, Operand::Reg(reg), NULL);
                    graph.only_if(is, |graph| graph.builder.end(TermKind::Return(None)));
                    (Operand::Reg(reg), Operand::Reg(graph.duplicate(reg, *data, 0)?))
                }
                ParameterPassing::Unchanged(data) if is_pointer => {
                    (Operand::Reg(reg), Operand::Reg(graph.duplicate(reg, *data, 0)?))
                }
                ParameterPassing::Unchanged(_) => (Operand::Reg(reg), Operand::Reg(reg)),
            };
            new_args.push(now);
            old_args.push(before);
        }
        let (now, class_now) = graph.call(new, function.result, new_args);
        let (before, class_before) = graph.call(old, function.result, old_args);
        graph.builder.compare(class_now?, class_before?);
        match now.zip(before) {
            Some((now, before)) if function.result == Some(Ty::Ptr) => {
                graph.compare_pointers(now, before, function.result_data, 0);
            }
            Some((now, before)) => graph.builder.compare(now, before),
            None => {}
        }
        for (new, old) in &graphs.outputs {
            graph.compare_globals(*new, *old)?;
        }
        for duplicate in graph.duplicates.clone() {
            let is = graph.is(CmpOp::Ne, Operand::Reg(duplicate.new), NULL);
            graph.only_if(is, |graph| graph.compare_fields(duplicate, 0));
        }
        graph.compare_sharing();
        let nulls = graph.nulls;
        let differs = self.differs;
        let points = [(differs, "both versions leave the same"), (unsure, "both versions leave what can be compared")];
        let mut places = Vec::new();
        for (asked, text) in points {
            let point = self.driver.points.push(Point::new(PointKind::Statement, function.span, text.to_string()));
            places.push(point);
            self.prove(asked);
            self.insts.push(InstKind::Point { point });
            self.end(TermKind::Return(None));
        }
        self.end(TermKind::Return(None));
        let first = self.driver.blocks.ids().next()?;
        let span = self.driver.span;
        for dst in nulls {
            let kind = InstKind::Copy { dst, src: NULL };
            self.driver.blocks[first].insts.insert(0, touchstone_ir::Inst { kind, span });
        }
        Some((self, DriverPoints { differs: places[0], unsure: places[1] }))
    }

    fn number(&mut self, number: u64) -> Reg {
        let dst = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst, src: Operand::Const(Ty::I64, number) });
        dst
    }

    /// Copies a variable of the new version to that of the old one.
    fn set(&mut self, new: GlobalId, old: GlobalId) {
        let (from, to) = (self.reg(Ty::Ptr), self.reg(Ty::Ptr));
        self.insts.push(InstKind::GlobalAddr { dst: from, global: new });
        self.insts.push(InstKind::GlobalAddr { dst: to, global: old });
        let size = Operand::Const(Ty::I64, self.module.globals[new].size);
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(to), src: Operand::Reg(from), size });
    }
}

const NULL: Operand = Operand::Const(Ty::Ptr, 0);

impl<'m> GraphBuilder<'m, '_> {
    /// Returns a pointer register that is null at first.
    fn pointer(&mut self) -> Reg {
        let reg = self.builder.reg(Ty::Ptr);
        self.nulls.push(reg);
        reg
    }

    /// Emits a comparison whose result is 1 or 0.
    fn is(&mut self, op: CmpOp, a: Operand, b: Operand) -> Reg {
        let (is, wide) = (self.builder.reg(Ty::I1), self.builder.reg(Ty::I64));
        self.builder.insts.push(InstKind::Cmp { dst: is, op, a, b });
        self.builder.insts.push(InstKind::Cast { dst: wide, op: touchstone_ir::CastOp::Zext, src: Operand::Reg(is) });
        wide
    }

    fn bin(&mut self, op: BinOp, a: Reg, b: Reg) -> Reg {
        self.builder.bin(op, Operand::Reg(a), Operand::Reg(b))
    }

    /// Emits `body` so that it is executed only if a number is not zero.
    fn only_if<T>(&mut self, number: Reg, body: impl FnOnce(&mut Self) -> T) -> T {
        let zero = Operand::Const(Ty::I64, 0);
        let cond = self.builder.reg(Ty::I1);
        self.builder.insts.push(InstKind::Cmp { dst: cond, op: CmpOp::Ne, a: Operand::Reg(number), b: zero });
        let from = self.builder.next_block(0);
        self.builder.end(TermKind::Unreachable);
        let done = body(self);
        let last = self.builder.next_block(0);
        self.builder.end(TermKind::Unreachable);
        let (first, next) =
            (touchstone_base::Id::new(touchstone_base::Id::index(from) + 1), self.builder.next_block(0));
        let (role, tag) = (BranchRole::Dispatch, None);
        let cond = Operand::Reg(cond);
        let blocks = &mut self.builder.driver.blocks;
        blocks[from].terminator.kind = TermKind::Branch { cond, then_block: first, else_block: next, role, tag };
        blocks[last].terminator.kind = TermKind::Jump(next);
        done
    }

    fn load(&mut self, base: Reg, offset: u64, ty: Ty) -> Reg {
        let (addr, dst) = (self.builder.reg(Ty::Ptr), self.builder.reg(ty));
        let offset = Operand::Const(Ty::I64, offset);
        self.builder.insts.push(InstKind::PtrAdd { dst: addr, base: Operand::Reg(base), offset });
        self.builder.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
        dst
    }

    fn call(&mut self, callee: FuncId, result: Option<Ty>, args: Vec<Operand>) -> (Option<Reg>, Option<Reg>) {
        let dst = result.map(|ty| self.builder.reg(ty));
        // The result of a call that throws is zero.
        dst.iter().for_each(|dst| {
            let src = Operand::Const(self.builder.driver.regs[*dst].ty, 0);
            self.builder.insts.push(InstKind::Copy { dst: *dst, src });
        });
        self.builder.insts.push(InstKind::Call { dst, callee: Callee::Direct(callee), args });
        (dst, self.builder.catch())
    }

    /// Emits the duplication of an input object; returns its duplicate.
    fn duplicate(&mut self, new: Reg, data: DataTypeId, depth: usize) -> Option<Reg> {
        let module = self.builder.module;
        let (object, _) = object(module, data)?;
        if is_string(module, object) {
            return Some(new);
        }
        let size = size(module, object).filter(|_| depth < MAX_OBJECT_DEPTH)?;
        let DataType::Struct { fields, .. } = &module.types[object] else { return None };
        let (own, old) = (self.pointer(), self.pointer());
        self.builder.insts.push(InstKind::Copy { dst: own, src: Operand::Reg(new) });
        let known: Vec<ObjectPair> = self
            .duplicates
            .iter()
            .copied()
            .filter(|duplicate| same_structure(module, duplicate.object, object))
            .collect();
        self.duplicates.push(ObjectPair { new: own, old, object });
        let mut open = self.is(CmpOp::Ne, Operand::Reg(own), NULL);
        for duplicate in known {
            let is = self.is(CmpOp::Eq, Operand::Reg(own), Operand::Reg(duplicate.new));
            let same = self.bin(BinOp::And, open, is);
            self.only_if(same, |graph| {
                graph.builder.insts.push(InstKind::Copy { dst: old, src: Operand::Reg(duplicate.old) });
            });
            let other = self.is(CmpOp::Ne, Operand::Reg(own), Operand::Reg(duplicate.new));
            open = self.bin(BinOp::And, open, other);
        }
        self.only_if(open, |graph| {
            let bytes = match size {
                Size::Fixed(bytes) => Operand::Const(Ty::I64, bytes),
                Size::Counted { at, element, header } => {
                    let length = graph.load(own, at, Ty::Int(32));
                    let wide = graph.builder.reg(Ty::I64);
                    let (op, src) = (touchstone_ir::CastOp::Zext, Operand::Reg(length));
                    graph.builder.insts.push(InstKind::Cast { dst: wide, op, src });
                    let all = graph.builder.bin(BinOp::Mul, Operand::Reg(wide), Operand::Const(Ty::I64, element));
                    Operand::Reg(graph.builder.bin(BinOp::Add, Operand::Reg(all), Operand::Const(Ty::I64, header)))
                }
            };
            let (builtin, args) = (Builtin::Allocate, vec![bytes]);
            graph.builder.insts.push(InstKind::Builtin { dst: Some(old), builtin, args });
            let (dst, src) = (Operand::Reg(old), Operand::Reg(own));
            graph.builder.insts.push(InstKind::MemCopy { dst, src, size: bytes });
            for field in fields.iter().filter(|field| matches!(module.types[field.ty], DataType::Pointer { .. })) {
                let inner = graph.load(own, field.offset, Ty::Ptr);
                let duplicate = graph.duplicate(inner, field.ty, depth + 1)?;
                let addr = graph.builder.reg(Ty::Ptr);
                let (base, offset) = (Operand::Reg(old), Operand::Const(Ty::I64, field.offset));
                graph.builder.insts.push(InstKind::PtrAdd { dst: addr, base, offset });
                graph.builder.insts.push(InstKind::Store { addr: Operand::Reg(addr), value: Operand::Reg(duplicate) });
            }
            Some(())
        })?;
        Some(old)
    }

    /// Emits the comparison of two pointers that the versions left in corresponding locations.
    fn compare_pointers(&mut self, new: Reg, old: Reg, data: DataTypeId, depth: usize) {
        let some = self.is(CmpOp::Ne, Operand::Reg(new), NULL);
        let some_before = self.is(CmpOp::Ne, Operand::Reg(old), NULL);
        self.builder.compare(some, some_before);
        let both_some = self.bin(BinOp::And, some, some_before);
        // Input objects correspond to their duplicates; strings are shared.
        let mut settled = self.is(CmpOp::Eq, Operand::Reg(new), Operand::Reg(old));
        for duplicate in self.duplicates.clone() {
            let now = self.is(CmpOp::Eq, Operand::Reg(new), Operand::Reg(duplicate.new));
            let before = self.is(CmpOp::Eq, Operand::Reg(old), Operand::Reg(duplicate.old));
            let both_known = self.bin(BinOp::And, both_some, now);
            let both_known_before = self.bin(BinOp::And, both_some, before);
            self.builder.compare(both_known, both_known_before);
            let either = self.bin(BinOp::Or, now, before);
            settled = self.bin(BinOp::Or, settled, either);
        }
        let zero = Operand::Const(Ty::I64, 0);
        let open = self.is(CmpOp::Eq, Operand::Reg(settled), zero);
        let open = self.bin(BinOp::And, both_some, open);
        self.only_if(open, |graph| graph.compare_objects(new, old, data, depth));
    }

    /// Emits the comparison of two objects that the versions allocated.
    fn compare_objects(&mut self, new: Reg, old: Reg, data: DataTypeId, depth: usize) {
        let module = self.builder.module;
        let found = object(module, data).filter(|_| depth < MAX_OBJECT_DEPTH);
        let Some(((object, class), tag)) = found.zip(module.class_tag()) else { return self.mark_unsure() };
        let is_known = match &module.types[object] {
            DataType::Struct { name, fields, .. } => {
                let complete = !is_string(module, object) || fields.iter().any(|field| field.name == "coder");
                complete && !self.existing.contains(name)
            }
            _ => false,
        };
        let ty = Ty::Int(tag.bits);
        let (now, before) = (self.load(new, tag.offset, ty), self.load(old, tag.offset, ty));
        self.builder.compare(now, before);
        if !is_known {
            return self.mark_unsure();
        }
        let mut same = self.is(CmpOp::Eq, Operand::Reg(now), Operand::Reg(before));
        if let Some(class) = class {
            let other = self.is(CmpOp::Ne, Operand::Reg(now), Operand::Const(ty, class));
            self.only_if(other, GraphBuilder::mark_unsure);
            let own = self.is(CmpOp::Eq, Operand::Reg(now), Operand::Const(ty, class));
            same = self.bin(BinOp::And, same, own);
        }
        let duplicate = ObjectPair { new: self.pointer(), old: self.pointer(), object };
        self.only_if(same, |graph| {
            graph.builder.insts.push(InstKind::Copy { dst: duplicate.new, src: Operand::Reg(new) });
            graph.builder.insts.push(InstKind::Copy { dst: duplicate.old, src: Operand::Reg(old) });
            graph.compare_fields(duplicate, depth);
        });
        // The identity of a string's internal array is not observable.
        if !is_string(module, object) {
            self.allocated.push(duplicate);
        }
    }

    fn mark_unsure(&mut self) {
        let (dst, src) = (self.unsure, Operand::Const(Ty::I64, 1));
        self.builder.insts.push(InstKind::Copy { dst, src });
    }

    /// Emits the comparison of two objects of one class.
    fn compare_fields(&mut self, duplicate: ObjectPair, depth: usize) {
        let module = self.builder.module;
        let DataType::Struct { fields, kind, .. } = &module.types[duplicate.object] else { return self.mark_unsure() };
        for field in fields {
            match (scalar(module, field.ty), &module.types[field.ty]) {
                (Some(ty), _) => {
                    let (now, before) =
                        (self.load(duplicate.new, field.offset, ty), self.load(duplicate.old, field.offset, ty));
                    self.builder.compare(now, before);
                }
                (None, DataType::Pointer { .. }) => {
                    let now = self.load(duplicate.new, field.offset, Ty::Ptr);
                    let before = self.load(duplicate.old, field.offset, Ty::Ptr);
                    self.compare_pointers(now, before, field.ty, depth + 1);
                }
                (None, DataType::Array { element, .. }) if kind.is_counted() => {
                    self.compare_elements(duplicate, field, *element);
                }
                _ => self.mark_unsure(),
            }
        }
    }

    /// Emits the comparison of array elements, if the lengths are equal.
    fn compare_elements(&mut self, duplicate: ObjectPair, tail: &Field, element: DataTypeId) {
        let module = self.builder.module;
        let Some((Size::Counted { at, element: stride, header }, ty)) =
            size(module, duplicate.object).zip(scalar(module, element))
        else {
            return self.mark_unsure();
        };
        let lengths = [duplicate.new, duplicate.old].map(|array| {
            let (length, wide) = (self.load(array, at, Ty::Int(32)), self.builder.reg(Ty::I64));
            let (op, src) = (touchstone_ir::CastOp::Zext, Operand::Reg(length));
            self.builder.insts.push(InstKind::Cast { dst: wide, op, src });
            wide
        });
        debug_assert_eq!(header, tail.offset);
        let same = self.is(CmpOp::Eq, Operand::Reg(lengths[0]), Operand::Reg(lengths[1]));
        self.only_if(same, |graph| {
            let all = graph.builder.bin(BinOp::Mul, Operand::Reg(lengths[0]), Operand::Const(Ty::I64, stride));
            graph.builder.for_each(Operand::Reg(all), stride, |builder, at| {
                let offset = builder.bin(BinOp::Add, at, Operand::Const(Ty::I64, header));
                let load = |builder: &mut DriverBuilder<'_>, base: Reg| {
                    let (addr, dst) = (builder.reg(Ty::Ptr), builder.reg(ty));
                    let (base, offset) = (Operand::Reg(base), Operand::Reg(offset));
                    builder.insts.push(InstKind::PtrAdd { dst: addr, base, offset });
                    builder.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
                    dst
                };
                let (now, before) = (load(builder, duplicate.new), load(builder, duplicate.old));
                builder.compare(now, before);
            });
        });
    }

    /// Emits a check for sharing: objects that are one in one version and two in the other.
    fn compare_sharing(&mut self) {
        let module = self.builder.module;
        let allocated = std::mem::take(&mut self.allocated);
        for (index, one) in allocated.iter().enumerate() {
            for other in allocated[index + 1..].iter().filter(|other| same_structure(module, other.object, one.object))
            {
                let now = self.is(CmpOp::Eq, Operand::Reg(one.new), Operand::Reg(other.new));
                let before = self.is(CmpOp::Eq, Operand::Reg(one.old), Operand::Reg(other.old));
                let differ = self.is(CmpOp::Ne, Operand::Reg(now), Operand::Reg(before));
                self.only_if(differ, GraphBuilder::mark_unsure);
            }
        }
    }

    /// Emits the comparison of a variable, or of an object that existed before the run.
    fn compare_globals(&mut self, new: GlobalId, old: GlobalId) -> Option<()> {
        let kept = self.builder.globals(new, old)?;
        self.builder.compare_scalars(&kept, Operand::Const(Ty::I64, 0));
        Some(())
    }
}

/// Returns the structure that a pointer points to, and its class if it is the only one.
pub(super) fn object(module: &Module, data: DataTypeId) -> Option<(DataTypeId, Option<u64>)> {
    let DataType::Pointer { pointee, .. } = &module.types[data] else { return None };
    match &module.types[*pointee] {
        DataType::OneOf { variants, .. } => match variants.as_slice() {
            [variant] => Some((variant.ty, Some(variant.tag))),
            _ => None,
        },
        DataType::Struct { .. } => Some((*pointee, None)),
        _ => None,
    }
}

/// The size of objects of a class.
#[derive(Clone, Copy)]
enum Size {
    Fixed(u64),
    /// The offset of the length field, the bytes of an element, and those before the first element.
    Counted {
        at: u64,
        element: u64,
        header: u64,
    },
}

/// Returns the size of an object, or `None` if it contains more than scalars and pointers.
fn size(module: &Module, object: DataTypeId) -> Option<Size> {
    let DataType::Struct { fields, size, kind, .. } = &module.types[object] else { return None };
    match kind {
        StructKind::Counted { by } => {
            let tail = module.types[object].tail(&module.types)?;
            scalar(module, tail.element)?;
            let element = module.types[tail.element].size(&module.types);
            (scalar(module, fields.get(*by)?.ty)? == Ty::Int(32)).then_some(())?;
            Some(Size::Counted { at: fields.get(*by)?.offset, element, header: tail.offset })
        }
        StructKind::Record => {
            let is_held = |field: &Field| {
                scalar(module, field.ty).is_some() || matches!(module.types[field.ty], DataType::Pointer { .. })
            };
            fields.iter().all(is_held).then_some(Size::Fixed(*size))
        }
        StructKind::Halves | StructKind::Open => None,
    }
}

/// Returns true if pointers to one type may point to the other.
fn same_structure(module: &Module, one: DataTypeId, other: DataTypeId) -> bool {
    match (&module.types[one], &module.types[other]) {
        (DataType::Struct { name, .. }, DataType::Struct { name: other, .. }) => name == other,
        _ => true,
    }
}
