//! Instrumentation of real C and Java programs, and the evaluation of what instrumented runs record.
//!
//! The folders, each of which uses only those before it:
//!
//! - `storage`: output directories and the content-addressed cache;
//! - `state`: the data of state coverage that both languages share: dependence graph, rules, results, suggested
//!   assertions;
//! - `record`: the record of an instrumented unit, which maps probes to objectives;
//! - `hits`: hit files, which list the probes that a process executed;
//! - `imports`: coverage files of gcov, LCOV and llvm-cov;
//! - `c`: labels and probes in C sources, the compiler wrapper, state coverage of C;
//! - `java`: probes in class files, state coverage of Java;
//! - `measurement`: records, hits and traces of a whole test suite.
//!
//! Neutral folders never name C or Java, apart from the form of an expression in [`StateRecord`].
//!
//! A probe is a byte of an array that is mapped to a file. A run sets the byte and nothing resets it, so forks, threads
//! and crashes lose no hits.

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
    CompileError, CompilerFamily, DIRECTORY_VARIABLE, INSIDE_WRAPPER_VARIABLE, NothingCompiled, ProbedCopy,
    ProbingOptions, REPLAY_RUNTIME, SUGGEST_VARIABLE, WrapperError, WrapperGuard, WrapperSetup, compile,
    find_real_compiler, path_without_wrappers, record_unprobed_source,
};
pub use hits::{HitError, HitFile, MeasuredUnit};
pub use imports::{FileCoverage, ImportError, ImportedCoverage, LineColumn, LineCoverage};
pub use java::probes::{
    AGENT_LIBRARY, AgentError, HitHolderSource, InstrumentedClass, JavaClass, OfflineWeaver, PROJECT_ROOT_VARIABLE,
    ReplayWeaver, SOURCE_EXTENSIONS, TEST_CLASS_DIRECTORIES, attach_agent, class_plan, class_record, class_unit,
    empty_class_record, find_agent, has_known_source, has_predicates, planned_unit, unprobed_class_record,
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
