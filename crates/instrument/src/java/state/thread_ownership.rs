//! Attributes threads to tests: to the one that began in the thread, that started the thread, or that is the only
//! running one.

use super::java_trace::{
    JavaEvent, JavaEventKind, MARK_CUT_OFF, MARK_HELPER_ENDED, MARK_HELPER_THREAD, MARK_TEST_BEGINS, MARK_TEST_ENDS,
    MARK_TEST_NUMBER, MARK_TESTS_OVERLAP,
};
use super::method_frames::MethodFrame;
use super::test_execution::TestExecution;
use super::trace_interpreter::TraceInterpreter;

/// The execution of threads that can't be attributed to one of several concurrent tests.
pub(super) const UNATTRIBUTED: usize = usize::MAX;

/// A thread.
#[derive(Default)]
pub(super) struct TracedThread {
    pub frames: Vec<MethodFrame>,
    /// The execution that it is attributed to.
    pub execution: usize,
    /// True if a test is running in it.
    pub has_own: bool,
    /// True if a test has ever run in it.
    pub had_own: bool,
    /// Its number, if a test started it.
    pub helps: Option<u32>,
    /// The tests that began in it and have not ended: number, and number of frames at the beginning.
    begun: Vec<(u32, usize)>,
    /// The objects that constructors allocated since the last other call from outside: frameworks construct tests
    /// before they announce them.
    pub new_objects: Vec<u32>,
    /// The bytes of a test's name, so far.
    name: Vec<u8>,
}

impl TraceInterpreter<'_> {
    /// Returns the execution for a thread in which no test is running.
    pub fn execution_of(&self, thread: &TracedThread) -> usize {
        let started = thread.helps.and_then(|helper| self.owners.get(self.ended_helpers.get(&helper)?)).copied();
        match started.filter(|execution| self.executions.contains_key(execution)) {
            Some(execution) => execution,
            None if self.tests_overlap => UNATTRIBUTED,
            None => self.current,
        }
    }

    /// Attributes a thread to another execution.
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
                // The trace had no room for the returns of the test's methods, nor for its end.
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

    /// Begins a test, once its name is complete.
    fn begins(&mut self, thread: &mut TracedThread, event: &JavaEvent) {
        thread.name.extend(event.what.to_le_bytes().iter().filter(|byte| **byte != 0));
        if event.insn == 0 {
            return;
        }
        let name = String::from_utf8_lossy(&std::mem::take(&mut thread.name)).into_owned();
        self.finish_frames(thread, 0);
        let before = thread.execution;
        let is_shared = self.threads.values().any(|other| other.has_own && other.execution == before);
        let made = std::mem::take(&mut thread.new_objects).into_iter().collect();
        self.executions.insert(self.next_execution, Box::new(TestExecution::of(name, made)));
        self.join(thread, self.next_execution);
        (thread.has_own, thread.had_own) = (true, true);
        (self.current, self.next_execution) = (self.next_execution, self.next_execution + 1);
        // State that was modified before the first test belongs to none.
        if before != 0 && before != UNATTRIBUTED && !is_shared {
            self.finish(before);
        }
    }

    /// Ends a test in its thread, with all of its frames.
    fn leave_test(&mut self, thread: &mut TracedThread, test: u32) {
        let Some(position) = thread.begun.iter().rposition(|(begun, _)| *begun == test) else { return };
        let before = thread.begun[position].1;
        self.finish_frames(thread, before);
        thread.frames.truncate(before);
        thread.begun.truncate(position);
    }

    /// Ends a test. If tests overlap, its thread belongs to no test until the next one begins.
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

/// Returns a helper thread that ended before the test that started it, and the test.
pub(super) fn ended_helper(event: JavaEvent) -> Option<(u32, u32)> {
    (event.kind == JavaEventKind::Mark && event.method == MARK_HELPER_ENDED)
        .then_some((event.what as u32, (event.what >> 32) as u32))
}
