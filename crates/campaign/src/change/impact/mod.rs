//! Impact analysis: which objectives of a function can a change affect?
//!
//! Both versions of a function are walked in lockstep from equal inputs (`relational_walk.rs`, one instruction at a
//! time in `transfer.rs`), over the control-flow graphs of both (`control_flow.rs`) and a matching of their
//! instructions (`matching.rs`). The abstract state says which registers are equal and which memory regions may differ
//! (`equalities.rs`, `memory_regions.rs`); `side_effects.rs` summarises code that only one version executes.
//! `versions.rs` pairs functions, globals and types, and `affected.rs` maps the result to goals.
//!
//! One circle: `relational_walk.rs` and `transfer.rs` are one type,
//! [`RelationalWalk`](relational_walk::RelationalWalk), whose control flow and transfer functions are in a file each.

mod affected;
mod control_flow;
mod equalities;
mod matching;
mod memory_regions;
mod relational_walk;
mod side_effects;
mod transfer;
mod versions;

pub(crate) use affected::{ChangeImpact, mark_unaffected_goals};
pub(super) use memory_regions::Region;
pub(super) use side_effects::Effects;
pub(crate) use versions::Versions;
