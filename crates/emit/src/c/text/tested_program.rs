//! The program under test, as the tests of a file share it.

use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::names::program_names;
use crate::c::text::form::CTestForm;
use crate::c::text::visibility::Visibility;
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_ir::{Builtin, CBuiltin, Function, InstKind, Module};

/// Facts about a whole program that every one of its suites needs.
#[derive(Debug)]
pub struct ProgramFacts {
    /// The names that a local variable of a test must not shadow.
    pub(crate) names: BTreeSet<String>,
    /// True if the program allocates, by the library's allocator.
    pub(crate) allocates: bool,
}

impl ProgramFacts {
    /// Computes the facts, by a pass over all functions.
    pub fn new(module: &Module) -> ProgramFacts {
        ProgramFacts { names: program_names(module), allocates: allocates(module) }
    }
}

/// Returns true if the program allocates and does not define an allocator.
fn allocates(module: &Module) -> bool {
    const ALLOCATORS: [&str; 7] = ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "strdup", "strndup"];
    let is_own = |function: &Function| {
        function.is_defined() && !function.is_library() && ALLOCATORS.contains(&function.name.as_str())
    };
    let asks = |function: &Function| {
        let mut insts = function.blocks.values().flat_map(|block| &block.insts);
        insts.any(|inst| {
            let InstKind::Builtin { builtin: Builtin::C(builtin), .. } = inst.kind else { return false };
            matches!(builtin, CBuiltin::Malloc | CBuiltin::Calloc)
        })
    };
    !module.functions.values().any(is_own) && module.functions.values().any(asks)
}

/// The program under test.
pub(crate) struct TestedProgram<'m> {
    pub(crate) form: CTestForm,
    pub(crate) module: &'m Module,
    pub(crate) function: &'m Function,
    /// The function's name in the source.
    pub(crate) name: String,
    pub(crate) ctypes: CTypes<'m>,
    pub(crate) facts: Arc<ProgramFacts>,
    pub(crate) visibility: Visibility<'m>,
    /// True if its tests need stubs.
    pub(crate) has_stubs: bool,
    /// True if the function accesses nothing but its arguments.
    pub(crate) is_side_effect_free: bool,
}
