//! Probes in Java class files: which probes a class gets, what a hit of each implies, and the class with its probes.
//!
//! The agent weaves probes into classes as a JVM loads them, without their source. The reader of the hits has the source, and computes the same
//! layout from the same bytes.
//!
//! Folders, each of which uses only those before it:
//! - `encode/`: constants, instructions and stack maps that are written here, and classes that are compiled templates;
//! - `cfg/`: the control-flow graph of a method, and the groups of jumps that may be one decision;
//! - `trace/`: the events that methods record for state coverage;
//! - `predicates/`: checks and predicates over values of frames;
//! - `layout/`: the probes of a class by number;
//! - `weave/`: the class with its probes.
//!
//! `test_classes.rs` recognises measured classes and tests; it uses no folder.
//!
//! Deliberately not here: decisions of the source, files, and any JVM.

#![warn(missing_docs)]

mod cfg;
mod encode;
mod layout;
mod predicates;
mod test_classes;
mod trace;
mod weave;

pub use cfg::jump_groups::{GroupJump, GroupSuccessor, JumpGroup, JumpOutcomes, PathPrefixes};
pub use encode::class_template::{CLASS_VERSION, Replacement, instantiate};
pub use encode::replay_hits::replay_hits_class;
pub use layout::probe_layout::{MethodProbes, ProbeLayout, SwitchTarget, WeaveFailure};
pub use layout::probe_request::ProbeRequest;
pub use predicates::check_class::{check_class, check_class_name};
pub use predicates::frame_types::FrameTypes;
pub use predicates::predicate_class::predicate_class_name;
pub use predicates::predicate_plan::{
    BinaryOp, CodePoint, Formula, FrameValue, MAX_ARGUMENT_WORDS, PointPredicates, PredicatePlan, Relation, UnaryOp,
    argument_words,
};
pub use predicates::value_checks::{DomainPart, ValueCheck};
pub use test_classes::{
    SOURCE_EXTENSIONS, TEST_CLASS_DIRECTORIES, expects_exception, has_known_source, is_test_class, is_test_method,
};
pub use trace::emit_events as trace_calls;
pub use trace::events::{InsnEvent, TracedMethod};
pub use weave::class_weaver::{WeaveRequest, WovenClass, weave};
pub use weave::entry_calls::{EntryCall, insert_entry_calls};

/// The version of the probe layout. It changes whenever the same class gets different probes.
pub const LAYOUT_VERSION: u32 = 6;

/// Returns the identity of a class with its probes: a hash of its bytes and of the request.
pub fn unit(bytes: &[u8], request: ProbeRequest) -> u64 {
    // FNV-1a, and the finaliser of MurmurHash3.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let begin = [LAYOUT_VERSION as u8, request.bits()];
    let mut hash = begin.iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| step(hash, *byte));
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(factor);
    }
    hash ^ hash >> 33
}

/// Returns the identity of a class that also has the probes of a plan; `unit` is its identity without them.
pub fn planned_unit(unit: u64, plan: &[u8]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = plan.iter().fold(unit, |hash, byte| step(hash, *byte)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}
