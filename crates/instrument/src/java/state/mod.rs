//! State coverage of Java programs: interprets a trace together with the classes' bytecode to build a dynamic
//! dependence graph.
//!
//! The trace contains the control flow and the identities of accessed objects (`touchstone-probes-java`). The
//! interpreter executes the same bytecode on dependences instead of values (`trace_interpreter.rs`,
//! `instruction_effects.rs`): every value is a node of the graph (`test_execution.rs`), and control dependences end at
//! post-dominators (`method_frames.rs`). Library methods are not traced: they are modelled to modify their receiver,
//! depending on their name and result type, and to return a value that depends on everything that they can read
//! (`call_effect.rs`, `library_models.rs`).
//!
//! Lambda expressions and method references are `function_objects.rs`.
//!
//! Repeated events are counted in a trace: `repetitions.rs` interprets passes of a loop until they change nothing any more (`state_digest.rs`).
//!
//! Two groups of files use each other. `trace_interpreter.rs`, `instruction_effects.rs`, `call_completion.rs`,
//! `thread_ownership.rs`, `repetitions.rs` and `state_digest.rs` implement one type, the interpreter. `traced_classes.rs`, `method_facts.rs`,
//! `test_execution.rs`, `container_contents.rs` and `function_objects.rs` describe one heap: facts of methods name classes and keys of
//! containers, updates name methods.

mod call_completion;
mod call_effect;
mod container_contents;
mod function_objects;
mod instruction_effects;
mod java_trace;
mod library_models;
mod method_facts;
mod method_frames;
mod operand_stack;
mod repetitions;
mod state_digest;
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

/// Computes the state coverage of the tests in a trace. Also returns the number of classes and events that could not be
/// used. `units` is the directory with the class files.
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
