//! What a module says of the globals that functions use. Finding it takes a look at all code, and every state that is found again
//! needs it; so an executor keeps it.

use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::Doubt;
use touchstone_ir::{FuncId, GlobalId};

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
