//! Plans: every decision is made before any work starts.
//!
//! `campaign_plan.rs` resolves a request, `work.rs` is the part of a plan that concerns one function, `resume.rs`
//! restricts a plan to what an interrupted run left open, and `objective_list.rs` lists objectives without a search.
//!
//! One circle: `campaign_plan.rs` and `resume.rs`. A plan keeps the results of the interrupted run, and the
//! fingerprints that select them hash the whole plan.

mod campaign_plan;
mod objective_list;
mod resume;
mod work;

pub(crate) use campaign_plan::{Material, keeping};
pub use campaign_plan::{Plan, Task};
pub use objective_list::ObjectiveList;
pub(crate) use work::Work;
