//! Removes unreferenced registers (a symbolic state holds every register of a frame), data types and files (headers
//! declare thousands), and merges equal data types.

use crate::construct::Construct;
use crate::link::memory_rules::byte_type;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use touchstone_base::{FileId, Files, Id, IndexMap, Span};
use touchstone_ir::{
    Block, BlockId, Builtin, Callee, DataType, DataTypeId, DataTypes, Expr, ExprKind, Function, InstKind, IntKind,
    Module, Operand, PointKind, Reg, TermKind, Terminator,
};

/// Renumbers the registers so that only parameters and referenced ones remain, in their order.
pub(crate) fn drop_unused_registers(function: &mut Function) {
    let mut used = vec![false; function.regs.len()];
    for param in &function.params {
        used[param.reg.index()] = true;
    }
    each_register(function, |reg| used[reg.index()] = true);
    let mut new_ids = vec![Reg::new(0); used.len()];
    let mut regs = IndexMap::new();
    for (reg, info) in function.regs.iter() {
        if used[reg.index()] {
            new_ids[reg.index()] = regs.push(info.clone());
        }
    }
    function.regs = regs;
    for param in &mut function.params {
        param.reg = new_ids[param.reg.index()];
    }
    each_register(function, |reg| *reg = new_ids[reg.index()]);
}

fn each_register(function: &mut Function, mut visit: impl FnMut(&mut Reg)) {
    for point in function.points.values_mut() {
        for formula in formulas_mut(&mut point.kind) {
            each_part(formula, &mut |expr| {
                if let ExprKind::Reg(reg) = &mut expr.kind {
                    visit(reg);
                }
            });
        }
    }
    for block in function.blocks.values_mut() {
        for inst in &mut block.insts {
            registers(&mut inst.kind, &mut visit);
        }
        match &mut block.terminator.kind {
            TermKind::Branch { cond: operand, .. }
            | TermKind::Switch { value: operand, .. }
            | TermKind::Throw(operand)
            | TermKind::Return(Some(operand)) => read(operand, &mut visit),
            TermKind::Catch { thrown, .. } => visit(thrown),
            TermKind::Jump(_) | TermKind::Return(None) | TermKind::Unsupported(_) | TermKind::Unreachable => {}
        }
    }
}

/// Ends a block before an instruction, at an unsupported construct. Program points after it are kept in an unreachable
/// block.
pub(crate) fn stop_at(function: &mut Function, block: BlockId, at: usize, construct: Construct, span: Span) {
    let stopped = &mut function.blocks[block];
    let mut rest = stopped.insts.split_off(at);
    stopped.terminator = Terminator { kind: TermKind::Unsupported(construct.to_string()), span };
    rest.retain(|inst| matches!(inst.kind, InstKind::Point { .. }));
    if !rest.is_empty() {
        let terminator = Terminator { kind: TermKind::Unreachable, span };
        function.blocks.push(Block { insts: rest, terminator });
    }
}

/// Removes points and renumbers the others.
pub(crate) fn drop_points(function: &mut Function, unwanted: impl Fn(&PointKind) -> bool) {
    if !function.points.values().any(|point| unwanted(&point.kind)) {
        return;
    }
    let mut points = IndexMap::new();
    let mut new_ids = FxHashMap::default();
    for (id, point) in function.points.iter().filter(|(_, point)| !unwanted(&point.kind)) {
        new_ids.insert(id, points.push(point.clone()));
    }
    function.points = points;
    for block in function.blocks.values_mut() {
        block.insts.retain_mut(|inst| match &mut inst.kind {
            InstKind::Point { point } => new_ids.get(point).map(|new| *point = *new).is_some(),
            _ => true,
        });
    }
}

/// Returns the formulas of a point.
fn formulas_mut(kind: &mut PointKind) -> Vec<&mut Expr> {
    match kind {
        PointKind::Statement | PointKind::TooDeep => vec![],
        PointKind::Value(expr)
        | PointKind::Decision(expr)
        | PointKind::Condition { value: expr, .. }
        | PointKind::Hazard(expr)
        | PointKind::Label { predicate: expr, .. } => vec![expr],
        PointKind::Store { address, value } => vec![address, value],
    }
}

fn each_part(expr: &mut Expr, visit: &mut impl FnMut(&mut Expr)) {
    visit(expr);
    match &mut expr.kind {
        ExprKind::Const(_) | ExprKind::Reg(_) | ExprKind::Slot(_) | ExprKind::Global(_) => {}
        ExprKind::Load(a) | ExprKind::Cast(_, a) | ExprKind::AsFloat(_, a) | ExprKind::Not(a) => each_part(a, visit),
        ExprKind::Float(_, _, args) => args.iter_mut().for_each(|arg| each_part(arg, visit)),
        ExprKind::Bin(_, a, b)
        | ExprKind::Cmp(_, a, b)
        | ExprKind::PtrAdd(a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b) => {
            each_part(a, visit);
            each_part(b, visit);
        }
        ExprKind::Ite(c, a, b) => {
            each_part(c, visit);
            each_part(a, visit);
            each_part(b, visit);
        }
    }
}

fn read(operand: &mut Operand, visit: &mut impl FnMut(&mut Reg)) {
    if let Operand::Reg(reg) = operand {
        visit(reg);
    }
}

fn registers(kind: &mut InstKind, visit: &mut impl FnMut(&mut Reg)) {
    match kind {
        InstKind::Copy { dst, src } | InstKind::Cast { dst, src, .. } => {
            visit(dst);
            read(src, visit);
        }
        InstKind::Float { dst, args, .. } => {
            visit(dst);
            args.iter_mut().for_each(|arg| read(arg, visit));
        }
        InstKind::Bin { dst, a, b, .. } | InstKind::Cmp { dst, a, b, .. } | InstKind::PtrDiff { dst, a, b } => {
            visit(dst);
            read(a, visit);
            read(b, visit);
        }
        InstKind::SlotAddr { dst, .. } | InstKind::GlobalAddr { dst, .. } => visit(dst),
        InstKind::PtrAdd { dst, base, offset } => {
            visit(dst);
            read(base, visit);
            read(offset, visit);
        }
        InstKind::Load { dst, addr } => {
            visit(dst);
            read(addr, visit);
        }
        InstKind::Store { addr, value } => {
            read(addr, visit);
            read(value, visit);
        }
        InstKind::MemCopy { dst, src, size } => {
            read(dst, visit);
            read(src, visit);
            read(size, visit);
        }
        InstKind::MemSet { dst, value, size } => {
            read(dst, visit);
            read(value, visit);
            read(size, visit);
        }
        InstKind::SlotBegin { .. } | InstKind::SlotEnd { .. } | InstKind::Point { .. } => {}
        InstKind::Call { dst, callee: Callee::Indirect(callee), args } => {
            dst.iter_mut().for_each(&mut *visit);
            read(callee, visit);
            args.iter_mut().for_each(|arg| read(arg, visit));
        }
        InstKind::Call { dst, args, .. } | InstKind::Builtin { dst, args, .. } => {
            if let Some(dst) = dst {
                visit(dst);
            }
            args.iter_mut().for_each(|arg| read(arg, visit));
        }
    }
}

/// Merges equal data types, also of several files, replaces an incomplete structure by the complete one of its name,
/// and removes unused types. Two types are equal if they are bisimilar: no sequence of steps into their parts tells
/// them apart.
pub(crate) fn merge_types(module: &mut Module) {
    let types = std::mem::take(&mut module.types);
    let stand_in = representatives(&types);
    let of = |classes: &[usize], id: DataTypeId| classes[stand_in[id.index()].index()];
    let mut classes = vec![0usize; types.len()];
    let mut count = 1;
    loop {
        let mut known: FxHashMap<DataType, usize> = FxHashMap::default();
        let mut next = Vec::with_capacity(types.len());
        for id in types.ids() {
            let shape = map_types(&types[stand_in[id.index()]], |child| DataTypeId::new(of(&classes, child)));
            let fresh = known.len();
            next.push(*known.entry(shape).or_insert(fresh));
        }
        let new_count = known.len();
        classes = next;
        if new_count == count {
            break;
        }
        count = new_count;
    }
    // The representatives, in the order of their first use.
    let mut first = vec![None; count];
    for id in types.ids() {
        first[classes[id.index()]].get_or_insert(stand_in[id.index()]);
    }
    let mut merged = TypeClasses {
        types: &types,
        first,
        class: |id| of(&classes, id),
        new_ids: FxHashMap::default(),
        order: Vec::new(),
    };
    each_type(module, |id| *id = merged.new_id(*id));
    let shapes: Vec<DataTypeId> = merged.all();
    let new_ids = merged.new_ids;
    module.types = shapes.into_iter().map(|id| map_types(&types[id], |child| new_ids[&of(&classes, child)])).collect();
}

/// Returns the representative of each type: itself, or the complete structure with the name of an incomplete one.
fn representatives(types: &DataTypes) -> Vec<DataTypeId> {
    let mut complete: FxHashMap<&str, DataTypeId> = FxHashMap::default();
    for (id, ty) in types.iter() {
        if let DataType::Struct { name, .. } | DataType::Union { name, .. } = ty {
            complete.entry(name).or_insert(id);
        }
    }
    let stands_for = |(id, ty): (DataTypeId, &DataType)| match ty {
        DataType::Opaque { name, size: 0, .. } => complete.get(name.as_str()).copied().unwrap_or(id),
        _ => id,
    };
    types.iter().map(stands_for).collect()
}

/// The classes of equal types that are in use, numbered in the order of their first use.
struct TypeClasses<'t, F> {
    types: &'t DataTypes,
    /// A representative of each class.
    first: Vec<Option<DataTypeId>>,
    class: F,
    new_ids: FxHashMap<usize, DataTypeId>,
    order: Vec<usize>,
}

impl<F: Fn(DataTypeId) -> usize> TypeClasses<'_, F> {
    fn new_id(&mut self, id: DataTypeId) -> DataTypeId {
        self.class_id((self.class)(id))
    }
    fn class_id(&mut self, class: usize) -> DataTypeId {
        if let Some(&id) = self.new_ids.get(&class) {
            return id;
        }
        let id = DataTypeId::new(self.order.len());
        self.new_ids.insert(class, id);
        self.order.push(class);
        id
    }
    /// Returns a representative of each used class and, transitively, of the classes that it refers to.
    fn all(&mut self) -> Vec<DataTypeId> {
        let mut shapes = Vec::new();
        while let Some(&class) = self.order.get(shapes.len()) {
            let id = self.first[class].expect("invariant: no class is empty");
            shapes.push(id);
            for child in children(&self.types[id]) {
                self.new_id(child);
            }
        }
        shapes
    }
}

fn children(ty: &DataType) -> Vec<DataTypeId> {
    match ty {
        DataType::Pointer { pointee: inner, .. } | DataType::Array { element: inner, .. } => vec![*inner],
        DataType::Struct { fields, .. } | DataType::Union { members: fields, .. } => {
            fields.iter().map(|field| field.ty).collect()
        }
        _ => Vec::new(),
    }
}

fn map_types(ty: &DataType, map: impl Fn(DataTypeId) -> DataTypeId) -> DataType {
    let mut ty = ty.clone();
    match &mut ty {
        DataType::Pointer { pointee, .. } => *pointee = map(*pointee),
        DataType::Array { element, .. } => *element = map(*element),
        DataType::Struct { fields, .. } | DataType::Union { members: fields, .. } => {
            fields.iter_mut().for_each(|field| field.ty = map(field.ty));
        }
        _ => {}
    }
    ty
}

fn each_type(module: &mut Module, mut visit: impl FnMut(&mut DataTypeId)) {
    for global in module.globals.values_mut() {
        visit(&mut global.data);
    }
    for function in module.functions.values_mut() {
        visit(&mut function.result_data);
        function.params.iter_mut().for_each(|param| visit(&mut param.data));
        function.slots.values_mut().for_each(|slot| visit(&mut slot.data));
        for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
            if let InstKind::Builtin { builtin: Builtin::CastPointee, args, .. } = &mut inst.kind
                && let [_, Operand::Const(_, number)] = args.as_mut_slice()
            {
                let mut id = DataTypeId::new(*number as usize);
                visit(&mut id);
                *number = id.index() as u64;
            }
        }
    }
}

/// Adds the byte type to a program with a `void *`, which points to bytes.
pub(crate) fn add_byte(module: &mut Module) {
    let is_void = |id: DataTypeId| matches!(module.types[id], DataType::Void);
    let untyped = |ty: &DataType| matches!(ty, DataType::Pointer { pointee, .. } if is_void(*pointee));
    if module.types.values().any(untyped) && byte_type(&module.types).is_none() {
        module.types.push(DataType::Int {
            name: "unsigned char".to_string(),
            bits: 8,
            signed: false,
            kind: IntKind::Number,
        });
    }
}

/// Keeps the first `given` files and those that a span refers to.
pub(crate) fn drop_unused_files(module: &mut Module, given: usize) {
    let mut used: BTreeSet<FileId> = module.files.ids().take(given).collect();
    each_span(module, |span| {
        if span.is_some() {
            used.insert(span.file);
        }
    });
    let mut files = Files::new();
    let mut new_ids = FxHashMap::default();
    for id in used {
        if let Some(name) = module.files.get(id) {
            new_ids.insert(id, files.push(name.clone()));
        }
    }
    each_span(module, |span| span.file = new_ids.get(&span.file).copied().unwrap_or(FileId::new(0)));
    module.files = files;
}

fn each_span(module: &mut Module, mut visit: impl FnMut(&mut Span)) {
    module.globals.values_mut().for_each(|global| visit(&mut global.span));
    for function in module.functions.values_mut() {
        visit(&mut function.span);
        for decision in function.decisions.values_mut() {
            visit(&mut decision.span);
            decision.conditions.values_mut().for_each(|condition| visit(&mut condition.span));
        }
        function.points.values_mut().for_each(|point| visit(&mut point.span));
        for block in function.blocks.values_mut() {
            block.insts.iter_mut().for_each(|inst| visit(&mut inst.span));
            visit(&mut block.terminator.span);
        }
    }
}
