//! Repetitions of a trace: interprets the events that the recorder counted instead of storing.
//!
//! Every pass through the body of a repetition is the same function of the interpreter's state, unless indices of arrays
//! differ from pass to pass. So if the state is equivalent to an earlier one (`state_digest.rs`), passes from then on only repeat
//! what was computed, and whole periods are skipped. The result is that of interpreting all events.

use super::java_trace::{JavaEvent, JavaEventKind, JavaSlot, JavaTrace};
use super::state_digest::{BoundaryDigest, DigestWindow, change_keys};
use super::test_execution::TestExecution;
use super::thread_ownership::TracedThread;
use super::trace_interpreter::TraceInterpreter;
use std::rc::Rc;

/// The maximum number of repeated events that are interpreted for one test.
const MAX_REPEATED_EVENTS: u64 = 2_000_000;
/// The number of passes whose states are compared with each new one.
const MAX_COMPARED_PASSES: usize = 64;
/// The minimum number of remaining events for which states are compared.
const MIN_SKIPPED_EVENTS: u64 = 64;

/// The body of a repetition.
struct RepeatedBody {
    thread: u32,
    start: usize,
    events: u64,
    /// For each slot, what the index of its element grows by in each pass. Empty if no index changes.
    steps: Vec<u32>,
}

/// The repetitions that contain the current event, outermost first, each with its pass.
type OpenRepetitions = Vec<(Rc<RepeatedBody>, u32)>;

/// The states after earlier passes of a repetition.
struct PassStates {
    window: DigestWindow,
    boundaries: Vec<(u64, BoundaryDigest)>,
    /// The number of passes between two comparisons.
    spacing: u64,
}

impl RepeatedBody {
    /// Reads the repetition in a slot, or returns `None` if it is none or is damaged.
    fn read(trace: &JavaTrace, own: usize) -> Option<RepeatedBody> {
        let JavaSlot::Repetition { thread, start, events } = trace.slot(own) else { return None };
        let mut steps = Vec::new();
        let mut next = own + 1;
        while next < trace.slots()
            && let JavaSlot::Stride { slot, step } = trace.slot(next)
        {
            steps.resize(own - start, 0);
            *steps.get_mut(slot)? = step;
            next += 1;
        }
        (start < own).then_some(RepeatedBody { thread, start, events, steps })
    }
}

impl TraceInterpreter<'_> {
    /// Interprets the repetition in a slot.
    pub(super) fn repeat(&mut self, trace: &JavaTrace, own: usize) {
        self.repeat_within(trace, own, u64::MAX, &mut OpenRepetitions::new());
        if let JavaSlot::Repetition { thread, .. } = trace.slot(own) {
            self.has_no_room(thread);
        }
    }

    /// Interprets a repetition, up to a number of events. Returns the number of its events.
    fn repeat_within(&mut self, trace: &JavaTrace, own: usize, most: u64, open: &mut OpenRepetitions) -> u64 {
        // A body contains whole repetitions only; anything else is damaged.
        let is_inside = |body: &RepeatedBody| open.last().is_none_or(|(outer, _)| body.start >= outer.start);
        let Some(body) = RepeatedBody::read(trace, own).filter(is_inside).map(Rc::new) else { return 0 };
        let events = body.events.min(most);
        if self.has_no_room(body.thread) {
            return events;
        }
        let mut left = events;
        let mut states = None;
        let mut pass: u64 = 0;
        open.push((body.clone(), 0));
        while left > 0 {
            pass += 1;
            if let Some((_, number)) = open.last_mut() {
                *number = pass as u32;
            }
            let before = left;
            for at in body.start..own {
                if left == 0 {
                    break;
                }
                match trace.slot(at) {
                    JavaSlot::Event(event) => {
                        self.repeated_event(event, at, open);
                        left -= 1;
                    }
                    JavaSlot::Repetition { .. } => left -= self.repeat_within(trace, at, left, open),
                    JavaSlot::Stride { .. } | JavaSlot::Unused => {}
                }
            }
            let length = before - left;
            if length == 0 {
                break;
            }
            if left >= length {
                let skipped = self.skipped_passes(&body, pass, (length, left / length), &mut states);
                pass += skipped;
                left -= skipped * length;
            }
        }
        open.pop();
        events
    }

    /// Returns true if the test of a thread has had too many repeated events, and marks it as incomplete then.
    fn has_no_room(&mut self, thread: u32) -> bool {
        let events = std::mem::take(&mut self.repeated_events);
        let execution = self.threads.get(&thread).and_then(|thread| self.executions.get_mut(&thread.execution));
        execution.is_some_and(|execution| {
            execution.repeated_events += events;
            let is_full = execution.repeated_events > MAX_REPEATED_EVENTS;
            execution.is_cut_off |= is_full;
            is_full
        })
    }

    /// Interprets an event of the innermost repetition.
    fn repeated_event(&mut self, mut event: JavaEvent, at: usize, open: &OpenRepetitions) {
        if event.kind == JavaEventKind::In {
            let mut index = event.second();
            for (body, pass) in open {
                let step = body.steps.get(at - body.start).copied().unwrap_or(0);
                index = index.wrapping_add(step.wrapping_mul(*pass));
            }
            event.what = u64::from(event.object()) | u64::from(index) << 32;
        }
        self.repeated_events += 1;
        self.event(&event);
    }

    /// Returns the number of further passes that need not be interpreted, after a pass of `length` events, if `remaining` passes follow.
    fn skipped_passes(
        &mut self,
        body: &RepeatedBody,
        pass: u64,
        (length, remaining): (u64, u64),
        states: &mut Option<PassStates>,
    ) -> u64 {
        let Some(mut thread) = self.threads.remove(&body.thread) else { return 0 };
        let Some(mut execution) = self.executions.remove(&thread.execution) else {
            self.threads.insert(body.thread, thread);
            return 0;
        };
        execution.repeated_events += std::mem::take(&mut self.repeated_events);
        let skipped = if execution.repeated_events > MAX_REPEATED_EVENTS {
            execution.is_cut_off = true;
            remaining
        } else if body.steps.is_empty() && length * remaining > MIN_SKIPPED_EVENTS {
            let states = states.get_or_insert_with(|| {
                let window = DigestWindow::new(&execution);
                let spacing = (window.size() as u64 / length).max(1);
                PassStates { window, boundaries: Vec::new(), spacing }
            });
            // A comparison may cost about as much as the events since the one before.
            if states.spacing < remaining && pass.is_multiple_of(states.spacing) {
                self.compare(states, pass, remaining, (&mut thread, &mut execution))
            } else {
                0
            }
        } else {
            0
        };
        self.executions.insert(thread.execution, execution);
        self.threads.insert(body.thread, thread);
        skipped
    }

    /// Compares the state with earlier ones. Returns the number of passes that can be skipped.
    fn compare(
        &mut self,
        states: &mut PassStates,
        pass: u64,
        remaining: u64,
        (thread, execution): (&mut TracedThread, &mut TestExecution),
    ) -> u64 {
        let Some(digest) = states.window.digest(self, thread, execution) else {
            states.boundaries.clear();
            return 0;
        };
        let equal = |(_, other): &&(u64, BoundaryDigest)| other.digest == digest.digest;
        let periods = states.boundaries.iter().rev().filter(equal).find_map(|(earlier, known)| {
            let period = pass - earlier;
            if known.keys == digest.keys {
                return Some((period, Vec::new()));
            }
            // Constants that differ, such as a counter of the loop, must have changed in the same way twice: then they always do.
            let (_, first) = states.boundaries.iter().filter(equal).find(|(first, _)| first + period == *earlier)?;
            let change = |from: &BoundaryDigest, to: &BoundaryDigest| -> Vec<i32> {
                to.keys.iter().zip(&from.keys).map(|(to, from)| to.wrapping_sub(*from)).collect()
            };
            let changes = change(known, &digest);
            (changes == change(first, known)).then_some((period, changes))
        });
        let Some((period, changes)) = periods else {
            if states.boundaries.len() == MAX_COMPARED_PASSES {
                states.boundaries.remove(0);
            }
            states.boundaries.push((pass, digest));
            return 0;
        };
        let times = remaining / period;
        if !changes.is_empty() {
            let changes: Vec<i32> = changes.iter().map(|change| change.wrapping_mul(times as i32)).collect();
            change_keys(thread, &changes);
        }
        states.boundaries.clear();
        times * period
    }
}
