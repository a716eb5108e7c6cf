//! Impact analysis.

mod affected;
mod control_flow;
mod equalities;
mod matching;
mod memory_regions;
mod relational_walk;
mod side_effects;
mod transfer;
mod versions;

pub(crate) use affected::{Touched, leave_alone};
pub(super) use memory_regions::Part;
pub(super) use side_effects::Effects;
pub(crate) use versions::Versions;
