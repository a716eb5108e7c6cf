//! Plans: every decision made before any work starts.

mod campaign_plan;
mod objective_list;
mod resume;
mod work;

pub(crate) use campaign_plan::{Material, keeping};
pub use campaign_plan::{Plan, Task};
pub use objective_list::Listed;
pub(crate) use work::Work;
