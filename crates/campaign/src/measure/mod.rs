//! Measuring a suite that is there: the build and its tests run with probes, and what they left becomes a document.
//!
//! - `run.rs`: a command of the user's, with what a language puts before its tools;
//! - `java.rs`: what the agent left of Java programs becomes records; `java/offline.rs`: classes that get probes without it;
//! - `merge.rs`: several measurements become one;
//! - `directory.rs`: where probes write, also those of other users' processes;
//! - `document.rs`, `states.rs`, `variants.rs`, `selection.rs`: the document that every report reads;
//! - `remark.rs`: what users must know to read its figures.
//!
//! Deliberately not here: probes and how hits are read (`touchstone_instrument`'s), signals and the terminal (`cli`'s).

mod directory;
mod document;
mod error;
mod java;
mod merge;
mod remark;
mod run;
mod selection;
mod states;
mod suggest;
mod variants;

pub use directory::{Earlier, Measurement};
pub use document::document as measured_document;
pub use error::MeasuringError;
pub use java::{Offline, Planning, Probed, instrument_classes, plan_classes};
pub use merge::merge;
pub use remark::Remark;
pub use run::{Jvms, Measuring, Ran, Surroundings, measure};
pub use selection::Selection;
pub use suggest::Suggest;
