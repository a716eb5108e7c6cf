//! Probes in class files: where they stand, and the class with them.
//!
//! - `flow.rs`: blocks of a method's code, and which follow which;
//! - `group.rs`: jumps that may be conditions of one decision, and the ways through them;
//! - `layout.rs`: the probes of a class, by number: what each says of the code;
//! - `wanted.rs`, `asked.rs`: what else is asked for, and what is asked of values; `asking.rs`, `answers.rs`: how;
//! - `plan.rs`: what whoever has the source asks for besides; `kinds.rs`: what it may ask for where; `planned.rs`, `judges.rs`: how;
//! - `frames.rs`, `tables.rs`, `code.rs`: code that is laid out again, with all that speaks of positions in it;
//! - `told.rs`, `telling.rs`: what methods tell while they run, and how, where all that a program does is followed;
//! - `test_classes.rs`: which classes and methods are tests;
//! - `weave.rs`: the class with probes;
//! - `call.rs`: a class whose methods tell somebody that they begin.
//!
//! The agent puts probes into classes as a JVM loads them, and knows no source. Whoever reads what they left has the source, and
//! finds out the same layout from the same bytes.
//!
//! Deliberately not here: what a decision is (the source's), files, and any JVM.

#![warn(missing_docs)]

mod cfg;
mod encode;
mod layout;
mod predicates;
mod test_classes;
mod trace;
mod weave;

pub use cfg::jump_groups::{Group, Node, Part, Steps, Way};
pub use encode::constant_pool as pool;
pub use layout::probe_layout::{Layout, MethodProbes, Side, Untreated, layout};
pub use layout::probe_request::Wanted;
pub use predicates::check_class::{answers, answers_name};
pub use predicates::frame_types::{Kinds, kind_of};
pub use predicates::predicate_class::judge_name;
pub use predicates::predicate_plan::{Formula, Held, MOST_WORDS, One, Place, Plan, Planned, Relation, Two, words};
pub use predicates::value_checks::{DomainPart, Question};
pub use test_classes::{TEST_PLACES, expects_exception, is_test_class, is_test_method};
pub use trace::emit_events as telling;
pub use trace::events::{Followed, Told};
pub use weave::class_weaver::{Weaving, Woven, weave};
pub use weave::entry_calls::{Call, with_calls};

/// Changed whenever the same class gets other probes.
pub const LAYOUT_VERSION: u32 = 5;

/// The identity of a class with its probes: the same wherever it is loaded.
pub fn unit(bytes: &[u8], wanted: Wanted) -> u64 {
    // FNV-1a, and what MurmurHash ends with.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let begin = [LAYOUT_VERSION as u8, wanted.bits()];
    let mut hash = begin.iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| step(hash, *byte));
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(factor);
    }
    hash ^ hash >> 33
}

/// The identity of a class that has the probes of a plan, too; `unit` is that of the class without.
pub fn planned_unit(unit: u64, plan: &[u8]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = plan.iter().fold(unit, |hash, byte| step(hash, *byte)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}
