//! Probes of classes.

mod agent_attachment;
mod class_record;
mod mutant_predicates;
mod offline_weaving;
mod value_probes;

pub use agent_attachment::{AGENT, AgentError, ROOT, find_agent, surround_jvms};
pub use class_record::{JavaClass, empty as java_record_of_nothing, java_record, left_alone};
pub use mutant_predicates::{PLANNED, class_plan, class_unit};
pub use offline_weaving::{HolderSource, OfflineClass, OfflineProbes};
pub use touchstone_probes_java::planned_unit;
