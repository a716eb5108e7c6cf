//! Probes and labels in the text of real programs.
//!
//! - [`annotate`]: the user's text with objectives as labels, for other tools;
//! - [`instrument`]: the preprocessed text with probes, and a record that says what each probe means;
//! - `c/wrappers.rs`: programs that stand before the compilers of a build;
//! - `c/cc.rs`: what they start: what a compile command means, and how it is carried out with probes;
//! - `java/`: what the probes of classes mean, and the agent that puts them there;
//! - `state`: state coverage, by a trace of what a run does to data;
//! - `suggest`: assertions that are missing, as a measurement tells;
//! - `hits`: what the probes of a run left behind;
//! - `outside`: what other tools measured.
//!
//! What belongs to a language is in its folder (`c/`, `java/`); records, hits, traces and their judgement are neutral.
//!
//! A probe is a byte of an array that is mapped to a file: a run sets it, nothing resets it, so that forks, threads and a
//! sudden death lose nothing.

#![warn(missing_docs)]

mod c;
mod hits;
mod imports;
mod java;
mod measurement;
mod record;
mod state;
mod storage;

pub use c::annotate::{AnnotateStyle, Annotated, annotate, not_labels};
pub use c::probes::{Order, Probed, Request, elsewhere, instrument};
pub use c::state::{NamedTarget, targets as state_targets};
pub use c::wrapper::{
    CACHE, COUNTS, CRITERIA, CompileCommand, CompileError, DIRECTORY, Family, INSIDE, NamedByPlace, NothingCompiled,
    OWN_MEMORY, Probing, SUGGEST, Surrounded, WrapperError, Wrapping, behind_wrappers, compile, not_measured,
    path_behind,
};
pub use hits::{HitError, HitFile, MeasuredUnit};
pub use imports::{Line, Outside, OutsideError, Place, Seen};
pub use java::probes::{
    AGENT, AgentError, HolderSource, JavaClass, OfflineClass, OfflineProbes, PLANNED, ROOT, class_plan, class_unit,
    find_agent, java_record, java_record_of_nothing, left_alone, planned_unit, surround_jvms,
};
pub use measurement::{
    MeasureError, Measured, States, hits_reading, read, response_reading, states, suggestions, trace_reading,
    trim_traces,
};
pub use record::{
    EVENTS, Keeps, LineDirective, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange, UnitRecord,
    Unprobed,
};
pub use state::{
    Insertion, Piece, StateRecord, StateRules, StateSite, StateTarget, StateUse, Suggested, Suggestion, TestStates,
    WhyNone,
};
pub use storage::{check_own, clear_own, make_own, prune_kept};
