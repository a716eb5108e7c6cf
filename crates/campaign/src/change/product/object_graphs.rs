//! A driver of both versions where objects have classes: each version has objects of its own. What comes in is there twice, with equal contents and the same
//! shape (*twins*); both versions run, and what they left is compared object by object.
//!
//! Only what is laid out completely has twins: arrays of numbers, texts (which nobody changes, so both have the same one), and objects of one class that
//! lead to such, never in circles. What else comes out, or may be one object for one version and two for the other, makes the driver *unsure*.

use super::driver_builder::{Maker, scalar};
use super::java::is_text;
use std::collections::BTreeSet;
use touchstone_ir::{
    BinOp, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, Field, FuncId, GlobalId, InstKind, Module,
    Operand, Point, PointId, PointKind, Reg, StructKind, TermKind, Ty,
};

/// What both versions get, and where they leave something.
pub(super) struct Apart {
    /// How each parameter is passed.
    pub params: Vec<Passed>,
    /// Static variables that are inputs, of the new version and of the old one.
    pub given: Vec<(GlobalId, GlobalId)>,
    /// Static variables and objects that one of them may write.
    pub left: Vec<(GlobalId, GlobalId)>,
    /// Names of types of objects that are there before a run: one of them may be returned instead of a new one.
    pub there: BTreeSet<String>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passed {
    /// As it is, with the type that it has as an input.
    AsItIs(DataTypeId),
    /// It is the object that a method is called on: never null.
    Receiver(DataTypeId),
    /// Nobody looks at it.
    Nowhere,
}

/// An object that is there twice; null where it is not.
#[derive(Clone, Copy)]
struct Twin {
    new: Reg,
    old: Reg,
    object: DataTypeId,
}

/// Where a driver of both versions gets if they left something else, or if it can't say.
pub(super) struct Places {
    pub differs: PointId,
    pub unsure: PointId,
}

/// Objects in objects in objects.
const DEEPEST: usize = 3;

/// What there is beside the driver itself.
struct Both<'m, 'd> {
    maker: &'d mut Maker<'m>,
    twins: Vec<Twin>,
    /// Objects that both versions made, if they did.
    made: Vec<Twin>,
    /// Are null at first.
    nulls: Vec<Reg>,
    unsure: Reg,
    there: &'d BTreeSet<String>,
}

impl<'m> Maker<'m> {
    /// A driver; `None` if something comes in that has no twin.
    pub fn make_apart(mut self, (new, old): (FuncId, FuncId), apart: &Apart) -> Option<(Maker<'m>, Places)> {
        let function = &self.module.functions[new];
        for (param, passed) in self.made.params.iter_mut().zip(&apart.params) {
            if let Passed::AsItIs(data) | Passed::Receiver(data) = passed {
                param.data = *data;
            }
        }
        let unsure = self.number(0);
        for (new, old) in &apart.given {
            self.set(*new, *old);
        }
        let (twins, nulls) = (Vec::new(), Vec::new());
        let mut both = Both { maker: &mut self, twins, made: Vec::new(), nulls, unsure, there: &apart.there };
        let (mut given, mut kept) = (Vec::new(), Vec::new());
        for (index, passed) in apart.params.iter().enumerate() {
            let reg = both.maker.made.params[index].reg;
            let is_pointer = both.maker.made.regs[reg].ty == Ty::Ptr;
            let (now, before) = match passed {
                Passed::Nowhere => (Operand::Const(Ty::Ptr, 0), Operand::Const(Ty::Ptr, 0)),
                Passed::Receiver(data) => {
                    let is = both.is(CmpOp::Eq, Operand::Reg(reg), NULL);
                    both.only_if(is, |both| both.maker.end(TermKind::Return(None)));
                    (Operand::Reg(reg), Operand::Reg(both.twin(reg, *data, 0)?))
                }
                Passed::AsItIs(data) if is_pointer => (Operand::Reg(reg), Operand::Reg(both.twin(reg, *data, 0)?)),
                Passed::AsItIs(_) => (Operand::Reg(reg), Operand::Reg(reg)),
            };
            given.push(now);
            kept.push(before);
        }
        let (now, class_now) = both.call(new, function.result, given);
        let (before, class_before) = both.call(old, function.result, kept);
        both.maker.compare(class_now?, class_before?);
        match now.zip(before) {
            Some((now, before)) if function.result == Some(Ty::Ptr) => {
                both.compare_pointers(now, before, function.result_data, 0);
            }
            Some((now, before)) => both.maker.compare(now, before),
            None => {}
        }
        for (new, old) in &apart.left {
            both.compare_globals(*new, *old)?;
        }
        for twin in both.twins.clone() {
            let is = both.is(CmpOp::Ne, Operand::Reg(twin.new), NULL);
            both.only_if(is, |both| both.compare_fields(twin, 0));
        }
        both.compare_shapes();
        let nulls = both.nulls;
        let differs = self.differs;
        let points = [(differs, "both versions leave the same"), (unsure, "both versions leave what can be compared")];
        let mut places = Vec::new();
        for (asked, text) in points {
            let point = self.made.points.push(Point::new(PointKind::Statement, function.span, text.to_string()));
            places.push(point);
            self.ask(asked);
            self.insts.push(InstKind::Point { point });
            self.end(TermKind::Return(None));
        }
        self.end(TermKind::Return(None));
        let first = self.made.blocks.ids().next()?;
        let span = self.made.span;
        for dst in nulls {
            let kind = InstKind::Copy { dst, src: NULL };
            self.made.blocks[first].insts.insert(0, touchstone_ir::Inst { kind, span });
        }
        Some((self, Places { differs: places[0], unsure: places[1] }))
    }

    fn number(&mut self, number: u64) -> Reg {
        let dst = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst, src: Operand::Const(Ty::I64, number) });
        dst
    }

    /// A variable of the old version holds what that of the new one does.
    fn set(&mut self, new: GlobalId, old: GlobalId) {
        let (from, to) = (self.reg(Ty::Ptr), self.reg(Ty::Ptr));
        self.insts.push(InstKind::GlobalAddr { dst: from, global: new });
        self.insts.push(InstKind::GlobalAddr { dst: to, global: old });
        let size = Operand::Const(Ty::I64, self.module.globals[new].size);
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(to), src: Operand::Reg(from), size });
    }
}

const NULL: Operand = Operand::Const(Ty::Ptr, 0);

impl<'m> Both<'m, '_> {
    /// A pointer that is null until it is set.
    fn pointer(&mut self) -> Reg {
        let reg = self.maker.reg(Ty::Ptr);
        self.nulls.push(reg);
        reg
    }

    /// 1 if a relation holds, else 0.
    fn is(&mut self, op: CmpOp, a: Operand, b: Operand) -> Reg {
        let (is, wide) = (self.maker.reg(Ty::I1), self.maker.reg(Ty::I64));
        self.maker.insts.push(InstKind::Cmp { dst: is, op, a, b });
        self.maker.insts.push(InstKind::Cast { dst: wide, op: touchstone_ir::CastOp::Zext, src: Operand::Reg(is) });
        wide
    }

    fn bin(&mut self, op: BinOp, a: Reg, b: Reg) -> Reg {
        self.maker.bin(op, Operand::Reg(a), Operand::Reg(b))
    }

    /// What follows is done only if a number is not zero.
    fn only_if<T>(&mut self, number: Reg, body: impl FnOnce(&mut Self) -> T) -> T {
        let zero = Operand::Const(Ty::I64, 0);
        let cond = self.maker.reg(Ty::I1);
        self.maker.insts.push(InstKind::Cmp { dst: cond, op: CmpOp::Ne, a: Operand::Reg(number), b: zero });
        let from = self.maker.next_block(0);
        self.maker.end(TermKind::Unreachable);
        let done = body(self);
        let last = self.maker.next_block(0);
        self.maker.end(TermKind::Unreachable);
        let (first, next) = (touchstone_base::Id::new(touchstone_base::Id::index(from) + 1), self.maker.next_block(0));
        let (role, tag) = (BranchRole::Dispatch, None);
        let cond = Operand::Reg(cond);
        let blocks = &mut self.maker.made.blocks;
        blocks[from].terminator.kind = TermKind::Branch { cond, then_block: first, else_block: next, role, tag };
        blocks[last].terminator.kind = TermKind::Jump(next);
        done
    }

    fn load(&mut self, base: Reg, offset: u64, ty: Ty) -> Reg {
        let (addr, dst) = (self.maker.reg(Ty::Ptr), self.maker.reg(ty));
        let offset = Operand::Const(Ty::I64, offset);
        self.maker.insts.push(InstKind::PtrAdd { dst: addr, base: Operand::Reg(base), offset });
        self.maker.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
        dst
    }

    fn call(&mut self, callee: FuncId, result: Option<Ty>, args: Vec<Operand>) -> (Option<Reg>, Option<Reg>) {
        let dst = result.map(|ty| self.maker.reg(ty));
        // What nobody returned is zero.
        dst.iter().for_each(|dst| {
            let src = Operand::Const(self.maker.made.regs[*dst].ty, 0);
            self.maker.insts.push(InstKind::Copy { dst: *dst, src });
        });
        self.maker.insts.push(InstKind::Call { dst, callee: Callee::Direct(callee), args });
        (dst, self.maker.catch())
    }

    /// The object of the old version for one that comes in.
    fn twin(&mut self, new: Reg, data: DataTypeId, depth: usize) -> Option<Reg> {
        let module = self.maker.module;
        let (object, _) = object(module, data)?;
        if is_text(module, object) {
            return Some(new);
        }
        let size = size(module, object).filter(|_| depth < DEEPEST)?;
        let DataType::Struct { fields, .. } = &module.types[object] else { return None };
        let (own, old) = (self.pointer(), self.pointer());
        self.maker.insts.push(InstKind::Copy { dst: own, src: Operand::Reg(new) });
        let known: Vec<Twin> = self.twins.iter().copied().filter(|twin| alike(module, twin.object, object)).collect();
        self.twins.push(Twin { new: own, old, object });
        let mut open = self.is(CmpOp::Ne, Operand::Reg(own), NULL);
        for twin in known {
            let is = self.is(CmpOp::Eq, Operand::Reg(own), Operand::Reg(twin.new));
            let same = self.bin(BinOp::And, open, is);
            self.only_if(same, |both| {
                both.maker.insts.push(InstKind::Copy { dst: old, src: Operand::Reg(twin.old) });
            });
            let other = self.is(CmpOp::Ne, Operand::Reg(own), Operand::Reg(twin.new));
            open = self.bin(BinOp::And, open, other);
        }
        self.only_if(open, |both| {
            let bytes = match size {
                Size::Fixed(bytes) => Operand::Const(Ty::I64, bytes),
                Size::Counted { at, element, header } => {
                    let length = both.load(own, at, Ty::Int(32));
                    let wide = both.maker.reg(Ty::I64);
                    let (op, src) = (touchstone_ir::CastOp::Zext, Operand::Reg(length));
                    both.maker.insts.push(InstKind::Cast { dst: wide, op, src });
                    let all = both.maker.bin(BinOp::Mul, Operand::Reg(wide), Operand::Const(Ty::I64, element));
                    Operand::Reg(both.maker.bin(BinOp::Add, Operand::Reg(all), Operand::Const(Ty::I64, header)))
                }
            };
            let (builtin, args) = (Builtin::Allocate, vec![bytes]);
            both.maker.insts.push(InstKind::Builtin { dst: Some(old), builtin, args });
            let (dst, src) = (Operand::Reg(old), Operand::Reg(own));
            both.maker.insts.push(InstKind::MemCopy { dst, src, size: bytes });
            for field in fields.iter().filter(|field| matches!(module.types[field.ty], DataType::Pointer { .. })) {
                let inner = both.load(own, field.offset, Ty::Ptr);
                let twin = both.twin(inner, field.ty, depth + 1)?;
                let addr = both.maker.reg(Ty::Ptr);
                let (base, offset) = (Operand::Reg(old), Operand::Const(Ty::I64, field.offset));
                both.maker.insts.push(InstKind::PtrAdd { dst: addr, base, offset });
                both.maker.insts.push(InstKind::Store { addr: Operand::Reg(addr), value: Operand::Reg(twin) });
            }
            Some(())
        })?;
        Some(old)
    }

    /// Compares where pointers lead that both versions left in the same place.
    fn compare_pointers(&mut self, new: Reg, old: Reg, data: DataTypeId, depth: usize) {
        let some = self.is(CmpOp::Ne, Operand::Reg(new), NULL);
        let some_before = self.is(CmpOp::Ne, Operand::Reg(old), NULL);
        self.maker.compare(some, some_before);
        let both_some = self.bin(BinOp::And, some, some_before);
        // What comes in is known by its twin; texts are the same for both.
        let mut settled = self.is(CmpOp::Eq, Operand::Reg(new), Operand::Reg(old));
        for twin in self.twins.clone() {
            let now = self.is(CmpOp::Eq, Operand::Reg(new), Operand::Reg(twin.new));
            let before = self.is(CmpOp::Eq, Operand::Reg(old), Operand::Reg(twin.old));
            let both_known = self.bin(BinOp::And, both_some, now);
            let both_known_before = self.bin(BinOp::And, both_some, before);
            self.maker.compare(both_known, both_known_before);
            let either = self.bin(BinOp::Or, now, before);
            settled = self.bin(BinOp::Or, settled, either);
        }
        let zero = Operand::Const(Ty::I64, 0);
        let open = self.is(CmpOp::Eq, Operand::Reg(settled), zero);
        let open = self.bin(BinOp::And, both_some, open);
        self.only_if(open, |both| both.compare_objects(new, old, data, depth));
    }

    /// Compares objects that both versions made.
    fn compare_objects(&mut self, new: Reg, old: Reg, data: DataTypeId, depth: usize) {
        let module = self.maker.module;
        let found = object(module, data).filter(|_| depth < DEEPEST);
        let Some(((object, class), tag)) = found.zip(module.class_tag()) else { return self.say_unsure() };
        let is_known = match &module.types[object] {
            DataType::Struct { name, fields, .. } => {
                let whole = !is_text(module, object) || fields.iter().any(|field| field.name == "coder");
                whole && !self.there.contains(name)
            }
            _ => false,
        };
        let ty = Ty::Int(tag.bits);
        let (now, before) = (self.load(new, tag.offset, ty), self.load(old, tag.offset, ty));
        self.maker.compare(now, before);
        if !is_known {
            return self.say_unsure();
        }
        let mut same = self.is(CmpOp::Eq, Operand::Reg(now), Operand::Reg(before));
        if let Some(class) = class {
            let other = self.is(CmpOp::Ne, Operand::Reg(now), Operand::Const(ty, class));
            self.only_if(other, Both::say_unsure);
            let own = self.is(CmpOp::Eq, Operand::Reg(now), Operand::Const(ty, class));
            same = self.bin(BinOp::And, same, own);
        }
        let twin = Twin { new: self.pointer(), old: self.pointer(), object };
        self.only_if(same, |both| {
            both.maker.insts.push(InstKind::Copy { dst: twin.new, src: Operand::Reg(new) });
            both.maker.insts.push(InstKind::Copy { dst: twin.old, src: Operand::Reg(old) });
            both.compare_fields(twin, depth);
        });
        // Which bytes a text has inside of it makes no difference to anybody.
        if !is_text(module, object) {
            self.made.push(twin);
        }
    }

    fn say_unsure(&mut self) {
        let (dst, src) = (self.unsure, Operand::Const(Ty::I64, 1));
        self.maker.insts.push(InstKind::Copy { dst, src });
    }

    /// Compares two objects of one class.
    fn compare_fields(&mut self, twin: Twin, depth: usize) {
        let module = self.maker.module;
        let DataType::Struct { fields, kind, .. } = &module.types[twin.object] else { return self.say_unsure() };
        for field in fields {
            match (scalar(module, field.ty), &module.types[field.ty]) {
                (Some(ty), _) => {
                    let (now, before) = (self.load(twin.new, field.offset, ty), self.load(twin.old, field.offset, ty));
                    self.maker.compare(now, before);
                }
                (None, DataType::Pointer { .. }) => {
                    let now = self.load(twin.new, field.offset, Ty::Ptr);
                    let before = self.load(twin.old, field.offset, Ty::Ptr);
                    self.compare_pointers(now, before, field.ty, depth + 1);
                }
                (None, DataType::Array { element, .. }) if kind.is_counted() => {
                    self.compare_elements(twin, field, *element);
                }
                _ => self.say_unsure(),
            }
        }
    }

    /// Compares the elements of arrays, if there are as many.
    fn compare_elements(&mut self, twin: Twin, tail: &Field, element: DataTypeId) {
        let module = self.maker.module;
        let Some((Size::Counted { at, element: stride, header }, ty)) =
            size(module, twin.object).zip(scalar(module, element))
        else {
            return self.say_unsure();
        };
        let lengths = [twin.new, twin.old].map(|array| {
            let (length, wide) = (self.load(array, at, Ty::Int(32)), self.maker.reg(Ty::I64));
            let (op, src) = (touchstone_ir::CastOp::Zext, Operand::Reg(length));
            self.maker.insts.push(InstKind::Cast { dst: wide, op, src });
            wide
        });
        debug_assert_eq!(header, tail.offset);
        let same = self.is(CmpOp::Eq, Operand::Reg(lengths[0]), Operand::Reg(lengths[1]));
        self.only_if(same, |both| {
            let all = both.maker.bin(BinOp::Mul, Operand::Reg(lengths[0]), Operand::Const(Ty::I64, stride));
            both.maker.for_each(Operand::Reg(all), stride, |maker, at| {
                let offset = maker.bin(BinOp::Add, at, Operand::Const(Ty::I64, header));
                let load = |maker: &mut Maker<'_>, base: Reg| {
                    let (addr, dst) = (maker.reg(Ty::Ptr), maker.reg(ty));
                    let (base, offset) = (Operand::Reg(base), Operand::Reg(offset));
                    maker.insts.push(InstKind::PtrAdd { dst: addr, base, offset });
                    maker.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
                    dst
                };
                let (now, before) = (load(maker, twin.new), load(maker, twin.old));
                maker.compare(now, before);
            });
        });
    }

    /// Objects that are one for one version, and two for the other.
    fn compare_shapes(&mut self) {
        let module = self.maker.module;
        let made = std::mem::take(&mut self.made);
        for (index, one) in made.iter().enumerate() {
            for other in made[index + 1..].iter().filter(|other| alike(module, other.object, one.object)) {
                let now = self.is(CmpOp::Eq, Operand::Reg(one.new), Operand::Reg(other.new));
                let before = self.is(CmpOp::Eq, Operand::Reg(one.old), Operand::Reg(other.old));
                let differ = self.is(CmpOp::Ne, Operand::Reg(now), Operand::Reg(before));
                self.only_if(differ, Both::say_unsure);
            }
        }
    }

    /// Compares what both versions hold in a variable, or in an object that was there.
    fn compare_globals(&mut self, new: GlobalId, old: GlobalId) -> Option<()> {
        let kept = self.maker.globals(new, old)?;
        self.maker.compare_scalars(&kept, Operand::Const(Ty::I64, 0));
        Some(())
    }
}

/// The structure of what a pointer leads to, and its class, if there is just one.
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

/// How many bytes objects of a class have.
#[derive(Clone, Copy)]
enum Size {
    Fixed(u64),
    /// The field that counts, the bytes of an element, and those before the first.
    Counted {
        at: u64,
        element: u64,
        header: u64,
    },
}

/// `None` if objects hold more than numbers and pointers.
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

/// Whether pointers to one may lead to the other.
fn alike(module: &Module, one: DataTypeId, other: DataTypeId) -> bool {
    match (&module.types[one], &module.types[other]) {
        (DataType::Struct { name, .. }, DataType::Struct { name: other, .. }) => name == other,
        _ => true,
    }
}
