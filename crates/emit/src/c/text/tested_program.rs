//! The program under test, as the tests of a file share it.

use crate::c::syntax::declarations::CTypes;
use crate::c::text::form::CTestForm;
use crate::c::text::visibility::Visibility;
use std::collections::BTreeSet;
use touchstone_ir::{Function, Module};

/// The program under test.
pub(crate) struct TestedProgram<'m> {
    pub(crate) form: CTestForm,
    pub(crate) module: &'m Module,
    pub(crate) function: &'m Function,
    /// The function's name in the source.
    pub(crate) name: String,
    pub(crate) ctypes: CTypes<'m>,
    pub(crate) names: BTreeSet<String>,
    pub(crate) visibility: Visibility<'m>,
    /// True if its tests need stubs.
    pub(crate) has_stubs: bool,
    /// True if the program allocates, by the library's allocator.
    pub(crate) allocates: bool,
    /// True if the function accesses nothing but its arguments.
    pub(crate) is_side_effect_free: bool,
}
