//! Facts about the globals that functions use. Computing them takes a pass over all code, and every replayed state
//! needs them, so an executor caches them.

use crate::state::memory::{Memory, Object};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_criteria::Caveat;
use touchstone_ir::{DataTypeId, FuncId, GlobalId};

/// Functions with the globals that represent their addresses, by the pointee type of function pointers.
pub(crate) type FunctionsByType = FxHashMap<DataTypeId, Rc<[(GlobalId, FuncId)]>>;

/// Globals at program start, shared by all initial states: each replay of a state would otherwise copy all tables of a
/// library.
#[derive(Default)]
pub(crate) struct InitialGlobals {
    /// All globals, without contents.
    pub blank: Option<Memory>,
    /// Globals with their initial values.
    pub objects: BTreeMap<GlobalId, Rc<Object>>,
}

#[derive(Debug)]
pub(crate) struct UsedGlobals {
    /// The functions that the facts hold for.
    pub roots: Vec<FuncId>,
    pub all: BTreeSet<GlobalId>,
    /// Globals that tests set.
    pub inputs: BTreeSet<GlobalId>,
    /// Globals that no test sets and that earlier calls or other files may change, with the reason.
    pub hidden: BTreeMap<GlobalId, Caveat>,
}
