//! Probes in class files: their mapping to objectives, and the ways to insert them.

mod agent_attachment;
mod class_record;
mod mutant_predicates;
mod offline_weaving;
mod replay_weaving;
mod value_probes;

pub use agent_attachment::{AGENT_LIBRARY, AgentError, PROJECT_ROOT_VARIABLE, attach_agent, find_agent};
pub use class_record::{JavaClass, class_record, empty_class_record, unprobed_class_record};
pub use mutant_predicates::{class_plan, class_unit, has_predicates};
pub use offline_weaving::{HitHolderSource, InstrumentedClass, OfflineWeaver};
pub use replay_weaving::ReplayWeaver;
pub use touchstone_probes_java::{SOURCE_EXTENSIONS, TEST_CLASS_DIRECTORIES, has_known_source, planned_unit};
