//! Tests without side effects, after which other tests can run in the same process.
//!
//! This is a static property of the code: no function that the tested one can call is external or a library function,
//! accesses a variable with static lifetime, or requests anything but its inputs. The arguments of a test are local
//! variables of the test. If a test fails nevertheless, it is run again in its own process, as are the tests that
//! shared the process.

use crate::c::text::tested_program::TestedProgram;
use std::collections::BTreeSet;
use touchstone_criteria::{TestCase, TestKind};
use touchstone_ir::{Builtin, Callee, FuncId, Function, InputSource, InstKind, Module};

/// Returns true if other tests can run in the process after this one.
pub(crate) fn leaves_no_state(program: &TestedProgram, test: &TestCase) -> bool {
    let sets_globals = matches!(&test.kind, TestKind::Function { globals, .. } if !globals.is_empty());
    !sets_globals && test.expected.globals.is_empty() && program.is_side_effect_free
}

/// Returns true if a function and its oracle access nothing but their arguments.
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

/// Returns true if the builtin only requests an input.
fn requests_input(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::MakeSymbolic(InputSource::Request) | Builtin::FreshInt(InputSource::Request))
}

/// Returns the functions that a function calls, or `None` if it may have a side effect that outlives the call.
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
