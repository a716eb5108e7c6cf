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
mod fuzzing;
mod hit_log;
mod hits;
mod java;
mod kept;
mod line_directives;
mod measured;
mod outside;
mod own;
mod record;
mod rows;
mod state;
mod suggest;
mod unprobed;

pub use c::annotate::{AnnotateStyle, Annotated, annotate, not_labels};
pub use c::cc::{CompileError, Probing, compile, not_measured};
pub use c::command::{CompileCommand, Family};
pub use c::probe::{Probed, Request, instrument};
pub use c::runtime::elsewhere;
pub use c::toolchain::{INSIDE, OWN_MEMORY};
pub use c::wrappers::{
    CACHE, COUNTS, CRITERIA, DIRECTORY, NamedByPlace, NothingCompiled, SUGGEST, Surrounded, WrapperError, Wrapping,
    behind_wrappers, path_behind,
};
pub use fuzzing::{hits_reading, response_reading, trace_reading};
pub use hits::{HitError, HitFile};
pub use java::{
    AGENT, AgentError, HolderSource, JavaClass, OfflineClass, OfflineProbes, PLANNED, ROOT, class_plan, class_unit,
    find_agent, java_record, java_record_of_nothing, left_alone, planned_unit, surround_jvms,
};
pub use kept::prune_kept;
pub use line_directives::LineDirective;
pub use measured::{MeasureError, Measured, MeasuredUnit, read};
pub use measured::{States, states, suggestions};
pub use outside::{Line, Outside, OutsideError, Place, Seen};
pub use own::{check_own, clear_own, make_own};
pub use record::{Keeps, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange, UnitRecord};
pub use state::trace::trim_traces;
pub use state::{
    NamedTarget, Piece, StateRecord, StateRules, StateSite, StateTarget, StateUse, TestStates, targets as state_targets,
};
pub use suggest::{Insertion, Suggested, Suggestion, WhyNone};
pub use unprobed::{EVENTS, Unprobed};
