//! For which test each thread of a trace works, as marks say it: the one that began in it, or that started it, or the only one that runs.

use super::java_trace::{
    JavaEvent, JavaEventKind, MARK_CUT_OFF, MARK_HELPER_ENDED, MARK_HELPER_THREAD, MARK_TEST_BEGINS, MARK_TEST_ENDS,
    MARK_TEST_NUMBER, MARK_TESTS_OVERLAP,
};
use super::method_frames::MethodFrame;
use super::test_execution::TestExecution;
use super::trace_interpreter::TraceInterpreter;

/// What threads do of which nobody knows for which of several tests they work.
pub(super) const UNATTRIBUTED: usize = usize::MAX;

/// A thread.
#[derive(Default)]
pub(super) struct TracedThread {
    pub frames: Vec<MethodFrame>,
    /// The test that it works for.
    pub execution: usize,
    /// A test began in it,
    pub has_own: bool,
    /// or some did before.
    pub had_own: bool,
    /// Its number, if a test started it.
    pub helps: Option<u32>,
    /// Tests that began in it and did not end yet, by their numbers, and how many methods ran when they began.
    begun: Vec<(u32, usize)>,
    /// Objects that constructors made since others called something else: frameworks make tests before they say that these begin.
    pub new_objects: Vec<u32>,
    /// A name that is being told.
    name: Vec<u8>,
}

impl TraceInterpreter<'_> {
    /// For which test a thread works in which none began. While one runs at a time it is that one.
    pub fn works_for(&self, thread: &TracedThread) -> usize {
        let started = thread.helps.and_then(|helper| self.owners.get(self.ended_helpers.get(&helper)?)).copied();
        match started.filter(|execution| self.executions.contains_key(execution)) {
            Some(execution) => execution,
            None if self.tests_overlap => UNATTRIBUTED,
            None => self.current,
        }
    }

    /// A thread works for another test from now on.
    pub fn join(&mut self, thread: &mut TracedThread, execution: usize) {
        if thread.execution != execution {
            thread.execution = execution;
            thread.frames.iter_mut().for_each(MethodFrame::forget);
        }
    }

    pub fn mark(&mut self, thread: &mut TracedThread, event: &JavaEvent) {
        match event.method {
            MARK_TEST_BEGINS => self.begins(thread, event),
            MARK_CUT_OFF => {
                self.left_out = event.what;
                // There was no room to say how the methods of the test that was cut off came to their ends, nor that it did.
                if let Some((test, _)) = thread.begun.last().copied() {
                    self.leave_test(thread, test);
                }
                self.executions.values_mut().for_each(|execution| execution.is_cut_off = true);
            }
            MARK_TEST_NUMBER => {
                self.owners.insert(event.what as u32, thread.execution);
                self.running.push(event.what as u32);
                thread.begun.push((event.what as u32, thread.frames.len()));
            }
            MARK_TEST_ENDS => self.ends(thread, event.what as u32),
            MARK_HELPER_THREAD => thread.helps = Some(event.what as u32),
            MARK_TESTS_OVERLAP => self.tests_overlap = true,
            _ => {}
        }
    }

    /// A test begins, once all of its name is there.
    fn begins(&mut self, thread: &mut TracedThread, event: &JavaEvent) {
        thread.name.extend(event.what.to_le_bytes().iter().filter(|byte| **byte != 0));
        if event.insn == 0 {
            return;
        }
        let name = String::from_utf8_lossy(&std::mem::take(&mut thread.name)).into_owned();
        self.expected(thread, 0);
        let before = thread.execution;
        let is_shared = self.threads.values().any(|other| other.has_own && other.execution == before);
        let made = std::mem::take(&mut thread.new_objects).into_iter().collect();
        self.executions.insert(self.next_execution, Box::new(TestExecution::of(name, made)));
        self.join(thread, self.next_execution);
        (thread.has_own, thread.had_own) = (true, true);
        (self.current, self.next_execution) = (self.next_execution, self.next_execution + 1);
        // What was done before the first test belongs to none of them.
        if before != 0 && before != UNATTRIBUTED && !is_shared {
            self.finish(before);
        }
    }

    /// A test ended that had begun in a thread: so did all methods that ran for it there, also those of which nobody told.
    fn leave_test(&mut self, thread: &mut TracedThread, test: u32) {
        let Some(position) = thread.begun.iter().rposition(|(begun, _)| *begun == test) else { return };
        let before = thread.begun[position].1;
        self.expected(thread, before);
        thread.frames.truncate(before);
        thread.begun.truncate(position);
    }

    /// A test ends. While tests run at the same time, what its thread does before the next one begins is for none of them.
    fn ends(&mut self, thread: &mut TracedThread, owner: u32) {
        self.running.retain(|other| *other != owner);
        self.leave_test(thread, owner);
        let Some(execution) = self.owners.remove(&owner).filter(|_| self.tests_overlap) else { return };
        if thread.execution == execution {
            thread.has_own = false;
        }
        self.threads.values_mut().filter(|other| other.execution == execution).for_each(|other| other.has_own = false);
        self.finish(execution);
    }
}

/// A thread that was over before the test that started it, and the test.
pub(super) fn ended_helper(event: JavaEvent) -> Option<(u32, u32)> {
    (event.kind == JavaEventKind::Mark && event.method == MARK_HELPER_ENDED)
        .then_some((event.what as u32, (event.what >> 32) as u32))
}
