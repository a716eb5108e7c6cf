//! Execution of constructors and destructors before and after `main`.
//!
//! Constructors are called at the entry of `main`, and destructors are registered there like `atexit` handlers, so that
//! executors need not know about them. Deliberately not here: initialisers of shared libraries.

use crate::construct::Construct;
use crate::link::cleanup;
use crate::link::constructor::{Priority, StartupFunction, StartupTime};
use crate::link::linked_program::LinkedProgram;
use touchstone_ir::{Builtin, CBuiltin, Callee, FuncId, Inst, InstKind, Operand, RegInfo, Ty};

impl LinkedProgram {
    /// Inserts calls of constructors and registrations of destructors at the entry of `main`.
    pub fn surround_main(&mut self) {
        let startup_functions = std::mem::take(&mut self.startup_functions);
        let Some(main) = self.functions.ids().find(|&id| self.functions[id].name == "main") else { return };
        if startup_functions.is_empty() || !self.functions[main].is_defined() {
            return;
        }
        let span = self.functions[main].span;
        let entry = self.functions[main].blocks.ids().next().expect("invariant: a defined function has a block");
        let mut order = startup_functions;
        order.sort_by_key(|starter| starter.priority);
        if let Some(what) = self.startup_problem(main, &order) {
            cleanup::stop_at(&mut self.functions[main], entry, 0, what, span);
            return;
        }
        let mut insts = Vec::new();
        // Handlers run in reverse order of registration.
        for starter in order.iter().filter(|starter| starter.when == StartupTime::After) {
            let ty = self.function_types[&starter.function].clone();
            let global = self.function_mark(starter.function, &ty, span);
            let dst = self.functions[main].regs.push(RegInfo { ty: Ty::Ptr, name: None });
            insts.push(InstKind::GlobalAddr { dst, global });
            let args = vec![Operand::Reg(dst)];
            insts.push(InstKind::Builtin { dst: None, builtin: Builtin::C(CBuiltin::AtExit), args });
        }
        for starter in order.iter().filter(|starter| starter.when == StartupTime::Before) {
            let callee = Callee::Direct(starter.function);
            insts.push(InstKind::Call { dst: None, callee, args: Vec::new() });
        }
        let insts = insts.into_iter().map(|kind| Inst { kind, span });
        self.functions[main].blocks[entry].insts.splice(0..0, insts);
    }

    fn startup_problem(&self, main: FuncId, order: &[StartupFunction]) -> Option<Construct> {
        let unknown = |when| {
            let mut all = order.iter().filter(|starter| starter.when == when);
            all.clone().any(|starter| starter.priority == Priority::Unknown) && all.nth(1).is_some()
        };
        let takes_arguments = |starter: &StartupFunction| !self.functions[starter.function].params.is_empty();
        let calls_main = |inst: &Inst| matches!(&inst.kind, InstKind::Call { callee: Callee::Direct(callee), .. } if *callee == main);
        let mut insts = self.functions.values().flat_map(|function| function.blocks.values()).flat_map(|b| &b.insts);
        if unknown(StartupTime::Before) || unknown(StartupTime::After) {
            Some(Construct::ConstructorPriority)
        } else if order.iter().any(takes_arguments) {
            Some(Construct::ConstructorParameters)
        } else if insts.any(calls_main) {
            Some(Construct::ConstructorWithRecursiveMain)
        } else {
            None
        }
    }
}
