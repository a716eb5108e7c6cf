//! What a module says of the globals that functions use. Finding it takes a look at all code, and every state that is found again
//! needs it; so an executor keeps it.

use crate::state::memory::{Memory, Object};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_criteria::Doubt;
use touchstone_ir::{DataTypeId, FuncId, GlobalId};

/// Functions that pointers may lead to, with the globals that stand for them, by the type behind the pointer.
pub(crate) type FunctionsByType = FxHashMap<DataTypeId, Rc<[(GlobalId, FuncId)]>>;

/// Globals as they are at the start, shared by all states that start: states are found again by executing, and each would have its
/// own copy of what a library keeps in its tables.
#[derive(Default)]
pub(crate) struct InitialGlobals {
    /// All of them, without contents.
    pub blank: Option<Memory>,
    /// Those with their initial values.
    pub objects: BTreeMap<GlobalId, Rc<Object>>,
}

#[derive(Debug)]
pub(crate) struct UsedGlobals {
    /// The functions.
    pub roots: Vec<FuncId>,
    pub all: BTreeSet<GlobalId>,
    /// Those that tests set.
    pub inputs: BTreeSet<GlobalId>,
    /// Those that no test sets and that others may change.
    pub hidden: BTreeMap<GlobalId, Doubt>,
}
