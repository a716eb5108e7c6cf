//! Both versions of a function as one: a module that also has the old one, and a *driver* that calls both with the same inputs and then asks
//! whether they left the same. Whoever explores, runs or proves the driver needs to know nothing of versions.
//!
//! The driver keeps what inputs hold, calls the new version, keeps what that left, gives everything back, calls the old one, and
//! compares. There is one only where neither sees what the other did: all that pointers lead to is kept, and nothing is asked of the world. Where objects have classes, results and what is thrown are compared, not what
//! objects hold.

use super::memory::Part;
use super::versions::Versions;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_ir::{
    BinOp, Block, BlockId, BranchRole, Builtin, Callee, CmpOp, DataType, DataTypeId, FuncId, Function, GlobalId, Init,
    Inst, InstKind, Linkage, Module, Operand, Part as Piece, Point, PointId, PointKind, Reg, RegInfo, Slot, TermKind,
    Terminator, Ty,
};

/// Both versions in one module.
pub(crate) struct Together {
    pub module: Module,
    /// The old version of the function.
    pub old: FuncId,
    pub driver: Option<Driven>,
}

/// A driver of both versions.
pub(crate) struct Driven {
    pub func: FuncId,
    /// Is reached where they left something else.
    pub differs: PointId,
    /// All that they leave is compared.
    pub whole: bool,
}

/// More scalars than this of one object are not compared.
const MOST_SCALARS: usize = 64;

impl Together {
    /// `None` where the versions can't be compared so.
    pub fn new(versions: &Versions<'_>, func: FuncId) -> Option<Together> {
        let old = versions.old_of(func)?;
        let mut merged = Merged {
            versions,
            module: versions.new.module.clone(),
            functions: BTreeMap::new(),
            globals: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let copies = merged.functions_to_copy(old)?;
        for id in &copies {
            merged.copy(*id)?;
        }
        let written = written(versions, old, func);
        let (mut module, old) = (merged.module, merged.functions[&old]);
        let nothing = module.types.push(DataType::Void);
        // Which object is returned is not compared.
        let whole = module.functions[func].result != Some(Ty::Ptr);
        let made = written
            .and_then(|written| Some((Maker::make(&module, (func, old), nothing, &written)?, written.whole && whole)));
        let driver =
            made.map(|((driver, differs), whole)| Driven { func: module.functions.push(driver), differs, whole });
        touchstone_ir::verify(&module).is_empty().then_some(Together { module, old, driver })
    }
}

/// What either version may write.
struct Written {
    globals: BTreeSet<GlobalId>,
    /// Also what parameters lead to.
    objects: bool,
    /// And nothing else.
    whole: bool,
}

/// What either version may write; `None` if one may see what the other did.
fn written(versions: &Versions<'_>, old: FuncId, new: FuncId) -> Option<Written> {
    let mut globals = BTreeSet::new();
    let module = versions.new.module;
    let (mut objects, mut whole) = (false, true);
    let parts = versions.old.of_call(old).writes.into_iter().map(|part| versions.renamed(part, |_| None));
    for part in parts.chain(versions.new.of_call(new).writes.into_iter().map(Some)) {
        match part? {
            Part::Global(id) => drop(globals.insert(id)),
            Part::World => return None,
            Part::Anything | Part::Field(..) => objects = true,
            Part::Definedness | Part::Slot(_) => {}
        }
    }
    for (side, func) in [(&versions.old, old), (&versions.new, new)] {
        let called = side.calls.reachable_from(func);
        let insts = |id: &FuncId| side.module.functions[*id].blocks.values().flat_map(|block| &block.insts);
        let anybody = |inst: &Inst| matches!(inst.kind, InstKind::Call { callee: Callee::Indirect(_), .. });
        if called.iter().any(|id| !side.module.functions[*id].is_defined() || insts(id).any(anybody)) {
            return None;
        }
    }
    let function = &module.functions[new];
    if objects && module.has_classes() {
        // All objects that it writes are its own: none comes in.
        let leads_on = |id: &GlobalId| scalars(module, module.globals[*id].data).is_none();
        if function.params.iter().any(|param| function.regs[param.reg].ty == Ty::Ptr) || globals.iter().any(leads_on) {
            return None;
        }
        (objects, whole) = (false, false);
    }
    if objects {
        // Pointers lead to what parameters lead to, and to any of these.
        globals.extend(versions.variables(old, new)?);
    }
    Some(Written { globals, objects, whole })
}

/// The new version with functions of the old one.
struct Merged<'v, 'm> {
    versions: &'v Versions<'m>,
    module: Module,
    /// What functions of the old version are here.
    functions: BTreeMap<FuncId, FuncId>,
    globals: BTreeMap<GlobalId, GlobalId>,
    files: BTreeMap<FileId, FileId>,
}

impl Merged<'_, '_> {
    /// The functions that are not there yet; those that are the same in both are.
    fn functions_to_copy(&mut self, root: FuncId) -> Option<Vec<FuncId>> {
        let old = &self.versions.old;
        let mut copies = Vec::new();
        for id in old.calls.reachable_from(root) {
            let name = &old.module.functions[id].name;
            let same = self.versions.new.module.function_named(name).filter(|new| self.versions.is_same(*new));
            let here = match same {
                Some(new) => new,
                None => {
                    let placeholder = old.module.functions[id].clone();
                    copies.push(id);
                    self.module.functions.push(placeholder)
                }
            };
            self.functions.insert(id, here);
        }
        Some(copies)
    }

    fn copy(&mut self, id: FuncId) -> Option<()> {
        let mut function = self.versions.old.module.functions[id].clone();
        function.name = format!("{} before", function.name);
        function.internal = true;
        self.place(&mut function.span);
        for param in &mut function.params {
            param.data = self.data(param.data)?;
        }
        function.result_data = self.data(function.result_data)?;
        for slot in function.slots.values_mut() {
            slot.data = self.data(slot.data)?;
        }
        // Nothing is asked of it.
        function.points = IndexMap::new();
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| !matches!(inst.kind, InstKind::Point { .. }));
            self.place(&mut block.terminator.span);
            for inst in &mut block.insts {
                self.place(&mut inst.span);
                match &mut inst.kind {
                    InstKind::GlobalAddr { global, .. } => *global = self.global(*global)?,
                    InstKind::Call { callee: Callee::Direct(callee), .. } => *callee = *self.functions.get(callee)?,
                    InstKind::Builtin { builtin: Builtin::TakeFor, args, .. } => {
                        let Some(Operand::Const(_, number)) = args.get_mut(1) else { return None };
                        *number = self.data(DataTypeId::new(usize::try_from(*number).ok()?))?.index() as u64;
                    }
                    _ => {}
                }
            }
        }
        for decision in function.decisions.values_mut() {
            self.place(&mut decision.span);
            decision.conditions.values_mut().for_each(|condition| self.place(&mut condition.span));
        }
        let here = self.functions[&id];
        self.module.functions[here] = function;
        Some(())
    }

    fn place(&mut self, span: &mut Span) {
        if let Some(path) = self.versions.old.module.files.get(span.file) {
            let files = &mut self.module.files;
            span.file = *self.files.entry(span.file).or_insert_with(|| files.push(path.clone()));
        }
    }

    fn data(&self, old: DataTypeId) -> Option<DataTypeId> {
        self.versions.new_type(old)
    }

    /// A global of the old version. A constant that changed is there twice.
    fn global(&mut self, old: GlobalId) -> Option<GlobalId> {
        if let Some(known) = self.globals.get(&old) {
            return Some(*known);
        }
        let global = &self.versions.old.module.globals[old];
        let became = self.versions.new_global(old);
        let here = match became {
            Some(id) if !self.versions.begins_otherwise(id) => id,
            _ if global.constant || global.linkage == Linkage::Literal => {
                let mut copy = global.clone();
                copy.name = format!("{} before", copy.name);
                copy.data = self.data(copy.data)?;
                if copy.init.iter().flatten().any(|piece| matches!(piece, Init::GlobalAddr { .. }))
                    || copy.function.is_some()
                {
                    return None;
                }
                self.module.globals.push(copy)
            }
            _ => return None,
        };
        self.globals.insert(old, here);
        Some(here)
    }
}

/// A scalar of an object.
type Scalar = (u64, Ty);

/// Makes a driver, block by block.
struct Maker<'m> {
    module: &'m Module,
    made: Function,
    /// What the block that is being made does so far.
    insts: Vec<InstKind>,
    /// Not zero once something differs.
    differs: Reg,
}

impl<'m> Maker<'m> {
    fn make(
        module: &'m Module,
        (new, old): (FuncId, FuncId),
        nothing: DataTypeId,
        written: &Written,
    ) -> Option<(Function, PointId)> {
        let function = &module.functions[new];
        let classes = module.has_classes();
        if function.variadic || function.result == Some(Ty::Ptr) && !classes {
            return None;
        }
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
        let mut driver = Maker { module, made, insts: Vec::new(), differs };
        driver.insts.push(InstKind::Copy { dst: differs, src: Operand::Const(Ty::I64, 0) });
        let mut kept = Vec::new();
        for global in &written.globals {
            kept.push(driver.keep_global(*global)?);
        }
        for (index, param) in function.own_params().iter().enumerate() {
            if written.objects && function.regs[param.reg].ty == Ty::Ptr {
                kept.push(driver.keep_object(index)?);
            }
        }
        let args: Vec<Operand> = driver.made.params.iter().map(|param| Operand::Reg(param.reg)).collect();
        let results = match function.aggregate_result {
            true => Some(driver.results(function.result_data)?),
            false => None,
        };
        let call = |driver: &mut Maker<'m>, callee: FuncId, result: Option<Reg>| {
            let args: Vec<Operand> = result.map(Operand::Reg).into_iter().chain(args.iter().copied()).collect();
            let dst = function.result.map(|ty| driver.reg(ty));
            // What nobody returned is zero.
            dst.iter().for_each(|dst| {
                let src = Operand::Const(driver.made.regs[*dst].ty, 0);
                driver.insts.push(InstKind::Copy { dst: *dst, src });
            });
            driver.insts.push(InstKind::Call { dst, callee: Callee::Direct(callee), args });
            let class = driver.catch();
            (dst.filter(|dst| driver.made.regs[*dst].ty != Ty::Ptr), class)
        };
        let (now, class_now) = call(&mut driver, new, results.as_ref().map(|results| results.after));
        kept.iter().for_each(|kept| driver.give_back(kept));
        let (before, class_before) = call(&mut driver, old, results.as_ref().map(|results| results.at));
        for (now, before) in [now.zip(before), class_now.zip(class_before)].into_iter().flatten() {
            driver.compare(now, before);
        }
        kept.iter().chain(&results).for_each(|kept| driver.compare_kept(kept));
        let (yes, no) = driver.ask(driver.differs);
        let point = Point::new(PointKind::Statement, function.span, "both versions leave the same".to_string());
        let point = driver.made.points.push(point);
        driver.insts.push(InstKind::Point { point });
        driver.end(TermKind::Return(None));
        debug_assert_eq!(yes.index() + 1, no.index());
        driver.end(TermKind::Return(None));
        Some((driver.made, point))
    }

    /// Catches what the last call throws, if something can be thrown: its class, or the largest number.
    fn catch(&mut self) -> Option<Reg> {
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

    fn reg(&mut self, ty: Ty) -> Reg {
        self.made.regs.push(RegInfo { ty, name: None })
    }

    fn end(&mut self, kind: TermKind) {
        let span = self.made.span;
        let insts = std::mem::take(&mut self.insts).into_iter().map(|kind| Inst { kind, span }).collect();
        self.made.blocks.push(Block { insts, terminator: Terminator { kind, span } });
    }

    fn next_block(&self, after: usize) -> BlockId {
        BlockId::new(self.made.blocks.len() + after)
    }

    /// Ends a block by asking whether a number is not zero; the two blocks that follow.
    fn ask(&mut self, value: Reg) -> (BlockId, BlockId) {
        let cond = self.reg(Ty::I1);
        let ty = self.made.regs[value].ty;
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

    /// A variable of the driver for all of a global.
    fn slot(&mut self, data: DataTypeId, size: u64) -> Reg {
        let slot = self.made.slots.push(Slot { name: None, data, size });
        let dst = self.reg(Ty::Ptr);
        self.insts.push(InstKind::SlotAddr { dst, slot });
        dst
    }

    /// Where both versions leave a structure that they return.
    fn results(&mut self, data: DataTypeId) -> Option<Kept> {
        let scalars = scalars(self.module, data)?;
        let size = self.module.types[data].size(&self.module.types);
        let (at, after) = (self.slot(data, size), self.slot(data, size));
        Some(Kept { at, before: at, after, size: Operand::Const(Ty::I64, size), scalars, element: None })
    }

    fn keep_global(&mut self, global: GlobalId) -> Option<Kept> {
        let (data, size) = (self.module.globals[global].data, self.module.globals[global].size);
        let scalars = scalars(self.module, data)?;
        let at = self.reg(Ty::Ptr);
        self.insts.push(InstKind::GlobalAddr { dst: at, global });
        let (before, after) = (self.slot(data, size), self.slot(data, size));
        let size = Operand::Const(Ty::I64, size);
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(before), src: Operand::Reg(at), size });
        Some(Kept { at, before, after, size, scalars, element: None })
    }

    /// What a parameter leads to, if that is anything.
    fn keep_object(&mut self, param: usize) -> Option<Kept> {
        let module = self.module;
        let own = &self.made.params[param];
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
        Some(Kept { at, before, after, size, scalars, element: Some(stride) })
    }

    /// Keeps what the new version left, and gives back what was there.
    fn give_back(&mut self, kept: &Kept) {
        let Kept { at, before, after, size, .. } = kept;
        let next = kept.element.map(|_| self.only_if_there(kept));
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(*after), src: Operand::Reg(*at), size: *size });
        self.insts.push(InstKind::MemCopy { dst: Operand::Reg(*at), src: Operand::Reg(*before), size: *size });
        if let Some(next) = next {
            self.end(TermKind::Jump(next));
        }
    }

    /// What follows is only done for an object that is there; the block behind it.
    fn only_if_there(&mut self, kept: &Kept) -> BlockId {
        let size = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst: size, src: kept.size });
        self.ask(size).1
    }

    fn compare_kept(&mut self, kept: &Kept) {
        let Some(stride) = kept.element else {
            return self.compare_scalars(kept, Operand::Const(Ty::I64, 0));
        };
        // for (at = 0; at + stride <= size; at += stride)
        let at = self.reg(Ty::I64);
        self.insts.push(InstKind::Copy { dst: at, src: Operand::Const(Ty::I64, 0) });
        let head = self.next_block(1);
        self.end(TermKind::Jump(head));
        let end = self.bin(BinOp::Add, Operand::Reg(at), Operand::Const(Ty::I64, stride));
        let is = self.reg(Ty::I1);
        self.insts.push(InstKind::Cmp { dst: is, op: CmpOp::Ule, a: Operand::Reg(end), b: kept.size });
        let (body, behind) = (self.next_block(1), self.next_block(2));
        self.end(TermKind::Branch {
            cond: Operand::Reg(is),
            then_block: body,
            else_block: behind,
            role: BranchRole::Dispatch,
            tag: None,
        });
        self.compare_scalars(kept, Operand::Reg(at));
        self.insts.push(InstKind::Copy { dst: at, src: Operand::Reg(end) });
        self.end(TermKind::Jump(head));
    }

    fn bin(&mut self, op: BinOp, a: Operand, b: Operand) -> Reg {
        let dst = self.reg(Ty::I64);
        self.insts.push(InstKind::Bin { dst, op, a, b });
        dst
    }

    fn compare_scalars(&mut self, kept: &Kept, element: Operand) {
        for (offset, ty) in &kept.scalars {
            let offset = self.bin(BinOp::Add, element, Operand::Const(Ty::I64, *offset));
            let load = |driver: &mut Maker<'m>, base: Reg| {
                let (addr, dst) = (driver.reg(Ty::Ptr), driver.reg(*ty));
                driver.insts.push(InstKind::PtrAdd {
                    dst: addr,
                    base: Operand::Reg(base),
                    offset: Operand::Reg(offset),
                });
                driver.insts.push(InstKind::Load { dst, addr: Operand::Reg(addr) });
                dst
            };
            let (now, before) = (load(self, kept.after), load(self, kept.at));
            self.compare(now, before);
        }
    }

    fn compare(&mut self, now: Reg, before: Reg) {
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
struct Kept {
    at: Reg,
    /// What it held, and what the new version left.
    before: Reg,
    after: Reg,
    size: Operand,
    scalars: Vec<Scalar>,
    /// Bytes of an element, where nobody knows how many there are.
    element: Option<u64>,
}

/// All numbers in an object of a type; `None` if it has something else, or too many.
fn scalars(module: &Module, data: DataTypeId) -> Option<Vec<Scalar>> {
    let mut found = Vec::new();
    let mut pending = vec![(0u64, data)];
    while let Some((offset, data)) = pending.pop() {
        match &module.types[data] {
            DataType::Int { bits, .. } => found.push((offset, Ty::Int(*bits))),
            other @ (DataType::Bool { .. } | DataType::Enum { .. } | DataType::Float { .. }) => {
                let bits = u8::try_from(other.size(&module.types).checked_mul(8)?).ok()?;
                found.push((offset, matches!(bits, 8 | 16 | 32 | 64).then_some(Ty::Int(bits))?));
            }
            DataType::Array { element, .. } => {
                let (all, one) = (module.types[data].size(&module.types), module.types[*element].size(&module.types));
                let count = all.checked_div(one)?;
                pending.extend((0..count.min(MOST_SCALARS as u64 + 1)).map(|index| (offset + index * one, *element)));
            }
            DataType::Struct { fields, .. } => {
                pending.extend(fields.iter().map(|field| (offset + field.offset, field.ty)));
            }
            _ => return None,
        }
        if found.len() + pending.len() > MOST_SCALARS {
            return None;
        }
    }
    found.sort_unstable();
    Some(found)
}

impl Versions<'_> {
    /// What a type of the old version is here.
    fn new_type(&self, old: DataTypeId) -> Option<DataTypeId> {
        self.types().get(&self.hash(0, Piece::Type(old))).copied()
    }

    /// All variables that either version of a function may reach; `None` if one of them is gone.
    fn variables(&self, old: FuncId, new: FuncId) -> Option<BTreeSet<GlobalId>> {
        let is_variable =
            |module: &Module, id: &GlobalId| !module.globals[*id].constant && module.globals[*id].function.is_none();
        let mut found: BTreeSet<GlobalId> =
            self.globals_of(1, new).into_iter().filter(|id| is_variable(self.new.module, id)).collect();
        for id in self.globals_of(0, old).into_iter().filter(|id| is_variable(self.old.module, id)) {
            found.insert(self.new_global(id)?);
        }
        Some(found)
    }
}
