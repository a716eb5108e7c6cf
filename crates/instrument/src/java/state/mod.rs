//! State coverage of Java programs: a trace is followed by executing the classes' own code again, without values.
//!
//! Methods tell where control goes and which objects are accessed and passed (`touchstone-probes-java`, `told.rs`); what locals and the stack
//! hold follows from the code. Every value has a node of what it depends on (`world.rs`); conditions count until the block that all
//! ways from them pass (`frames.rs`). Methods that are not followed, those of libraries, change the object that they are called on,
//! if their name or their result says so, and give back something of all that they can see (`calls.rs`, `frameworks.rs`).

mod call_completion;
mod call_effect;
mod container_contents;
mod instruction_effects;
mod java_trace;
mod library_models;
mod method_facts;
mod method_frames;
mod operand_stack;
mod test_execution;
mod thread_ownership;
mod trace_interpreter;
mod traced_classes;

use crate::state::StateRules;
pub(crate) use java_trace::JavaTrace;
use std::path::Path;
use trace_interpreter::TraceInterpreter;
pub(crate) use trace_interpreter::{TestOwner, TestStateResult};
pub(in crate::java) use traced_classes::{TracedClass, TracedClasses};

/// What the tests of a trace did, and how many classes or events could not be used. Classes are kept in the directory of units.
pub(crate) fn follow(
    trace: &JavaTrace,
    units: &Path,
    rules: &StateRules,
    unit_of: &dyn Fn(u64) -> usize,
) -> (Vec<TestStateResult>, u64) {
    let classes = TracedClasses::new(units, &trace.classes);
    let unreadable = classes.unreadable() as u64;
    let (tests, unmatched_events) = TraceInterpreter::follow(classes, rules, unit_of, trace);
    (tests, unreadable + unmatched_events)
}
