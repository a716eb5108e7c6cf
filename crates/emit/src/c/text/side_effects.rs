//! Which tests leave nothing behind, so that others can follow in the same process.
//!
//! Said of the program's code, not of a run: nothing that the function can call is the library's or unknown, has a variable that
//! outlives a call, or asks for anything but its inputs. What a test gives the function are variables of the test. A test that goes wrong
//! nevertheless is run again in a process of its own, with those that ran beside it.

use crate::c::text::tested_program::TestedProgram;
use std::collections::BTreeSet;
use touchstone_criteria::{TestCase, TestKind};
use touchstone_ir::{Builtin, Callee, FuncId, Function, InputSource, InstKind, Module};

/// Whether other tests can run in the process after this one.
pub(crate) fn leaves_no_state(program: &TestedProgram, test: &TestCase) -> bool {
    let sets_globals = matches!(&test.kind, TestKind::Function { globals, .. } if !globals.is_empty());
    !sets_globals && test.expected.globals.is_empty() && program.is_side_effect_free
}

/// Whether a function and its oracle touch nothing but what they are given.
pub(crate) fn is_side_effect_free(module: &Module, function: FuncId) -> bool {
    let oracle = module.function_named(&format!("{}_post", module.functions[function].name));
    let mut reached: BTreeSet<FuncId> = [function].into_iter().chain(oracle).collect();
    let mut pending: Vec<FuncId> = reached.iter().copied().collect();
    while let Some(id) = pending.pop() {
        let function = &module.functions[id];
        let Some(callees) = callees_if_side_effect_free(module, function) else { return false };
        pending.extend(callees.into_iter().filter(|callee| reached.insert(*callee)));
    }
    true
}

/// Whether all that it does is to ask the test.
fn requests_input(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::MakeSymbolic(InputSource::Request) | Builtin::FreshInt(InputSource::Request))
}

/// Whom a function calls; `None` if it does anything that could be seen after its return.
fn callees_if_side_effect_free(module: &Module, function: &Function) -> Option<Vec<FuncId>> {
    if !function.is_defined() || function.is_library() || function.is_callback() {
        return None;
    }
    let mut callees = Vec::new();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::Call { callee: Callee::Direct(callee), .. } => callees.push(*callee),
            InstKind::Call { callee: Callee::Indirect(_), .. } => return None,
            InstKind::Builtin { builtin: Builtin::Assert | Builtin::Abort | Builtin::Assume, .. } => {}
            InstKind::Builtin { builtin, .. } if requests_input(*builtin) => {}
            InstKind::Builtin { .. } => return None,
            InstKind::GlobalAddr { global, .. } if !module.globals[*global].constant => return None,
            _ => {}
        }
    }
    Some(callees)
}
