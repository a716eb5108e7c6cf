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

pub use c::annotate::{AnnotateStyle, AnnotatedText, annotate, not_labels};
pub use c::probes::{InstructionOrder, InstrumentationRequest, InstrumentedUnit, fallback_hit_directory, instrument};
pub use c::state::{LocatedStateTarget, state_targets};
pub use c::wrapper::{
    ALLOCATOR_VARIABLE, AbsoluteCompilerPath, CACHE_VARIABLE, COUNTS_VARIABLE, CRITERIA_VARIABLE, CompileCommand,
    CompileError, CompilerFamily, DIRECTORY_VARIABLE, INSIDE_WRAPPER_VARIABLE, NothingCompiled, ProbingOptions,
    SUGGEST_VARIABLE, WrapperError, WrapperGuard, WrapperSetup, compile, find_real_compiler, path_without_wrappers,
    record_unprobed_source,
};
pub use hits::{HitError, HitFile, MeasuredUnit};
pub use imports::{FileCoverage, ImportError, ImportedCoverage, LineColumn, LineCoverage};
pub use java::probes::{
    AGENT_LIBRARY, AgentError, HitHolderSource, JavaClass, OfflineWeaver, PLANNED, PROJECT_ROOT_VARIABLE, WovenClass,
    attach_agent, class_plan, class_record, class_unit, empty_class_record, find_agent, planned_unit,
    unprobed_class_record,
};
pub use measurement::{
    MeasuredSuite, MeasurementError, StateMeasurement, count_trace_events, measure_states, parse_hits,
    read_measurements, split_response_file, suggest_assertions, trim_traces,
};
pub use record::{
    EVENT_LIMIT_VARIABLE, LineDirective, ProbeObstacle, ProbeStorage, ProbedDecision, ProbedObjective, ProbedRow,
    RECORD_VERSION, SourceRange, UnitRecord,
};
pub use state::{
    ModifiedState, NoSuggestion, SourceInsertion, StateLocation, StateRecord, StateRules, StateSite, StateTarget,
    SuggestedAssertion, SuggestionOutcome, TestStateCoverage,
};
pub use storage::{check_output_directory, clear_output_directory, create_output_directory, prune_content_cache};
