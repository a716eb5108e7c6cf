//! Measurement of an existing suite: the build and its tests run with probes, and their hits become a document.
//!
//! - `measured_command.rs`: runs a command of the user with the compiler wrappers and agents of each language;
//! - `java.rs`: makes records of what the agent left about Java programs; `java/offline.rs`: inserts probes into
//!   classes without the agent; `java/plans.rs`: predicates that the agent needs from the source;
//! - `merge.rs`: joins several measurements;
//! - `directory.rs`: the directory that probes write to, also in processes of other users;
//! - `stored_exclusions.rs`: the files that do not count, which merging keeps;
//! - `document.rs`, `states.rs`, `suggest.rs`, `variants.rs`, `measured_files.rs`: the document that every report reads;
//! - `remark.rs`: remarks that users need to interpret the figures.
//!
//! One circle: `states.rs` and `suggest.rs`. Suggestions concern the objectives of state coverage, and are added to the
//! document with them. Another one is inside of `java/`, and `java.rs` states it.
//!
//! Deliberately not here: probes and how hits are read (`touchstone_instrument`'s), signals and the terminal (`cli`'s).

mod directory;
mod document;
mod error;
mod java;
mod measured_command;
mod measured_files;
mod merge;
mod remark;
mod states;
mod stored_exclusions;
mod suggest;
mod variants;

pub use directory::{EarlierMeasurement, Measurement};
pub use document::document as measured_document;
pub use error::MeasuringError;
pub use java::{OfflineRequest, PlansRequest, ProbedClasses, instrument_classes, plan_classes};
pub use measured_command::{CommandEnvironment, CommandOutput, JvmOptions, MeasureRequest, MeasuredRun, measure};
pub use measured_files::Selection;
pub use merge::merge;
pub use remark::Remark;
pub use stored_exclusions::store_exclusions;
pub use suggest::SuggestionScope;
