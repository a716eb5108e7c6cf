//! Java: what the probes of a class mean, once its source is known.
//!
//! The agent gives every class probes without knowing its source (`touchstone-probes-java`), and keeps the class. Here the
//! same layout is found out again, and its probes are given to the objectives that every verb has: a way through a group of jumps is
//! a row of each decision inside of it. `state/` follows what methods told, `suggest/` writes the assertions that are missing. What
//! only the source knows is asked for by a plan that the agent is told (`mutants.rs`).
//!
//! Deliberately not here: where sources are, and how they are compiled (a campaign's).

mod agent;
mod mutants;
mod offline;
mod record;
pub(crate) mod state;
pub(crate) mod suggest;
mod values;

pub use agent::{AGENT, AgentError, ROOT, find_agent, surround_jvms};
pub use mutants::{PLANNED, class_plan, class_unit};
pub use offline::{HolderSource, OfflineClass, OfflineProbes};
pub use record::{JavaClass, empty as java_record_of_nothing, java_record, left_alone};
pub use touchstone_probes_java::planned_unit;
