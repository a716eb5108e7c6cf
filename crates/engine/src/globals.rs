//! Globals when exploration begins: which a function can see, which of them are inputs, and what the others hold.

use crate::executor::Executor;
use crate::inputs::{MOST_INPUT, NamedInput};
use crate::memory::{Cell, Object, ObjectKind, disassemble};
use crate::state::{State, Stop};
use crate::value::{ObjectId, Value};
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_ir::{CallGraph, Expr, ExprKind, FuncId, GlobalId, InstKind, Linkage, Module, Operand, PointKind, Reg};

/// A global larger than this is not modelled.
const MOST_BYTES: u64 = 1 << 24;

impl Executor<'_> {
    /// Puts the globals that are used into memory. For a function under test, those that it or its precondition or
    /// oracle may read are inputs; a program starts with the initial values.
    pub(crate) fn globals(&mut self, state: &mut State, func: FuncId) -> Result<(), Stop> {
        let module = self.module;
        let helpers = [&self.config.precondition, &self.config.oracle].into_iter().flatten();
        let mut roots: Vec<FuncId> = helpers.filter_map(|name| module.function_named(name)).collect();
        roots.push(func);
        let used = used_globals(module, &roots);
        let inputs = match self.config.entry {
            crate::Entry::Function => inputs_among(module, used.clone()),
            crate::Entry::Program => BTreeSet::new(),
        };
        for (id, global) in module.globals.iter() {
            if used.contains(&id) && global.size > MOST_BYTES {
                let what = format!("global {} of {} bytes", global.name, global.size);
                return Err(Stop::unsupported(what, global.span));
            }
            let kind = if global.constant { ObjectKind::Constant } else { ObjectKind::Global };
            let mut object = Object::with_cells(Vec::new(), kind, Some(global.data));
            object.size = global.size;
            state.memory.alloc(object);
        }
        let mut constraints = Vec::new();
        for id in used {
            let global = &module.globals[id];
            let mut cells = Vec::new();
            let is_input = inputs.contains(&id);
            if is_input && global.size > MOST_INPUT {
                // No test can say what all of it is: whoever reads it stops.
                cells.resize(global.size as usize, Cell::Unmade);
            } else if is_input {
                self.input_cells(state.inputs_mut(), global.data, &global.name, &mut constraints, &mut cells);
                let input = NamedInput { name: global.name.clone(), data: global.data, cells: cells.clone() };
                state.inputs_mut().globals.push(Rc::new(input));
            } else if global.name == LEFT_BEHIND && self.config.entry == crate::Entry::Function {
                cells.resize(global.size as usize, Cell::Unmade);
            } else {
                cells = self.initial_cells(id);
            }
            // Elements of a flexible array member are behind what the type knows.
            cells.resize(global.size as usize, if is_input { Cell::Unmade } else { Cell::Byte(0) });
            state.memory.get_mut(global_object(id)).contents = crate::memory::Contents::Cells(cells);
        }
        self.assume_all(state, &constraints)
    }

    fn initial_cells(&mut self, id: GlobalId) -> Vec<Cell> {
        let global = &self.module.globals[id];
        let mut cells = vec![Cell::Byte(0); global.size as usize];
        for piece in global.init.iter().flatten() {
            match piece {
                touchstone_ir::Init::Bytes { offset, bytes } => {
                    for (cell, byte) in cells[*offset as usize..].iter_mut().zip(bytes) {
                        *cell = Cell::Byte(*byte);
                    }
                }
                touchstone_ir::Init::GlobalAddr { offset, global, addend } => {
                    let value = Value::pointer(global_object(*global), *addend as u64);
                    let made = disassemble(&value, 8, &mut self.pointers);
                    for (cell, new) in cells[*offset as usize..].iter_mut().zip(made) {
                        *cell = new;
                    }
                }
            }
        }
        cells
    }
}

/// The object of a global: they are allocated first, in order.
pub(crate) fn global_object(id: GlobalId) -> ObjectId {
    ObjectId::new(id.index())
}

/// The globals that these functions and their callees name, and what the initial contents of those point to.
pub(crate) fn used_globals(module: &Module, roots: &[FuncId]) -> BTreeSet<GlobalId> {
    let calls = CallGraph::new(module);
    let reachable: BTreeSet<FuncId> = roots.iter().flat_map(|root| calls.reachable_from(*root)).collect();
    let mut pending: Vec<GlobalId> = Vec::new();
    for func in reachable {
        for inst in module.functions[func].blocks.values().flat_map(|block| &block.insts) {
            if let InstKind::GlobalAddr { global, .. } = &inst.kind {
                pending.push(*global);
            }
        }
        for point in module.functions[func].points.values() {
            if let PointKind::Label { predicate, .. } = &point.kind {
                globals_of(predicate, &mut pending);
            }
        }
    }
    let mut used = BTreeSet::new();
    while let Some(global) = pending.pop() {
        if used.insert(global) {
            for piece in module.globals[global].init.iter().flatten() {
                if let touchstone_ir::Init::GlobalAddr { global, .. } = piece {
                    pending.push(*global);
                }
            }
        }
    }
    used
}

/// The globals that an expression names.
fn globals_of(expr: &Expr, found: &mut Vec<GlobalId>) {
    if let ExprKind::Global(global) = expr.kind {
        found.push(global);
    }
    for part in expr.parts() {
        globals_of(part, found);
    }
}

/// The variable of the library's models that earlier calls may have left at any value.
pub(crate) const LEFT_BEHIND: &str = "touchstone_errno";

/// The globals that a function may read through its callees and that are not constants of the program.
///
/// Not an input: a constant, a literal, a static local (no test can set it), and a global that has an explicit
/// initialiser and that no code of the module writes or lets escape: its value is always the initialiser's.
pub fn global_inputs(module: &Module, func: FuncId) -> BTreeSet<GlobalId> {
    inputs_among(module, used_globals(module, &[func]))
}

fn inputs_among(module: &Module, mut used: BTreeSet<GlobalId>) -> BTreeSet<GlobalId> {
    let written = written_globals(module);
    used.retain(|id| {
        let global = &module.globals[*id];
        let settable = !matches!(global.linkage, Linkage::Local | Linkage::Literal);
        settable && !global.constant && (global.init.is_none() || written.contains(id))
    });
    used
}

/// The globals that some code writes, or whose address goes somewhere that can't be followed.
fn written_globals(module: &Module) -> BTreeSet<GlobalId> {
    let mut written = BTreeSet::new();
    for global in module.globals.values() {
        for piece in global.init.iter().flatten() {
            if let touchstone_ir::Init::GlobalAddr { global, .. } = piece {
                written.insert(*global);
            }
        }
    }
    for function in module.functions.values() {
        let mut derived: Vec<BTreeSet<GlobalId>> = vec![BTreeSet::new(); function.regs.len()];
        let of = |derived: &[BTreeSet<GlobalId>], operand: &Operand| match operand {
            Operand::Reg(reg) => derived[reg.index()].clone(),
            Operand::Const(..) => BTreeSet::new(),
        };
        // Registers are reassigned, so what a register may be derived from only grows: to a fixpoint.
        loop {
            let mut changed = false;
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                let (dst, from): (Reg, BTreeSet<GlobalId>) = match &inst.kind {
                    InstKind::GlobalAddr { dst, global } => (*dst, BTreeSet::from([*global])),
                    InstKind::PtrAdd { dst, base, .. } => (*dst, of(&derived, base)),
                    InstKind::Copy { dst, src } => (*dst, of(&derived, src)),
                    _ => continue,
                };
                let target = &mut derived[dst.index()];
                let before = target.len();
                target.extend(from);
                changed |= target.len() != before;
            }
            if !changed {
                break;
            }
        }
        for block in function.blocks.values() {
            for inst in &block.insts {
                let escaping: Vec<&Operand> = match &inst.kind {
                    InstKind::Store { addr, value } => vec![addr, value],
                    InstKind::MemCopy { dst, .. } | InstKind::MemSet { dst, .. } => vec![dst],
                    InstKind::Call { args, .. } | InstKind::Builtin { args, .. } => args.iter().collect(),
                    InstKind::Cast { src, .. } => vec![src],
                    _ => vec![],
                };
                for operand in escaping {
                    written.extend(of(&derived, operand));
                }
            }
            if let touchstone_ir::TermKind::Return(Some(operand)) = &block.terminator.kind {
                written.extend(of(&derived, operand));
            }
        }
    }
    written
}
