//! The tests that run, and the attribution of hits to them.
//!
//! While one test runs at a time, all hits belong to it, in whichever thread they occur: tests start threads. Once several tests ran
//! concurrently, a hit belongs to the test of its thread ([`crate::test_attribution`]). A thread that a test started belongs to the test if it ends
//! before the test: a thread that outlives it may work for several tests, as threads of pools do. Hits of other threads are not attributed.
//!
//! Every framework reports when a test begins and ends ([`crate::test_frameworks`]). A framework may run the tests of another one: then
//! the report of the first one counts.

use crate::hit_log_writer::{CHILD_THREAD, HitLogWriter, HitOwner};
use crate::jvm_interface::{GlobalRef, JObject, Jni};
use crate::test_frameworks::Framework;
use crate::{HIT_LOG, test_attribution, trace_recorder};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A test that runs.
struct RunningTest {
    /// The thread in which it began.
    thread: usize,
    framework: Framework,
    name: String,
    /// Its number as an owner of hits.
    owner: u32,
    /// The threads that it started, with their numbers as owners.
    child_threads: Vec<(u32, GlobalRef)>,
}

/// The tests and groups that run.
struct RunningTests {
    tests: Vec<RunningTest>,
    /// The test groups that run: the thread and the identity of each. An identity begins with that of the enclosing group.
    groups: Vec<(usize, String)>,
    /// True once tests ran concurrently.
    concurrent: bool,
}

static RUNNING: Mutex<RunningTests> =
    Mutex::new(RunningTests { tests: Vec::new(), groups: Vec::new(), concurrent: false });

/// The number of the next owner.
static NEXT_OWNER: AtomicU32 = AtomicU32::new(1);

/// The time for which the end of a test waits for threads that are about to end.
const MAX_THREAD_END_WAIT: Duration = Duration::from_millis(10);
const THREAD_POLL_INTERVAL: Duration = Duration::from_micros(100);

/// Returns an unused number, or 0 if there are none left.
fn next_owner() -> u32 {
    Some(NEXT_OWNER.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < CHILD_THREAD).unwrap_or(0)
}

/// Begins a test in the current thread. `identity` begins with the identities of the enclosing groups.
pub fn begin(jni: Jni, framework: Framework, name: String, identity: Option<&str>) {
    let Ok(mut running) = RUNNING.lock() else { return };
    let thread = jni.thread();
    let innermost = running.tests.iter().rev().find(|test| test.thread == thread);
    // Two frameworks report the same test, or one of them twice.
    if innermost.is_some_and(|test| test.framework != framework || test.name == name) {
        return;
    }
    let owner = next_owner();
    test_attribution::begin_test(jni, owner);
    trace_recorder::begin_test(jni, &name, owner);
    running.tests.push(RunningTest { thread, framework, name, owner, child_threads: Vec::new() });
    running.detect_concurrency(jni, thread, identity);
    running.update_log(jni);
}

/// Begins a test group in the current thread.
pub fn begin_group(jni: Jni, identity: String) {
    let Ok(mut running) = RUNNING.lock() else { return };
    let was_concurrent = running.concurrent;
    running.detect_concurrency(jni, jni.thread(), Some(&identity));
    running.groups.push((jni.thread(), identity));
    if running.concurrent != was_concurrent {
        running.update_log(jni);
    }
}

/// Ends a test group.
pub fn end_group(identity: &str) {
    let Ok(mut running) = RUNNING.lock() else { return };
    if let Some(found) = running.groups.iter().rposition(|(_, group)| group == identity) {
        running.groups.remove(found);
    }
}

/// Ends a test, usually in the thread in which it began.
pub fn end(jni: Jni, framework: Framework, name: &str) {
    let thread = jni.thread();
    let Some((owner, child_threads)) = RUNNING.lock().ok().and_then(|mut running| {
        let found = running.find(framework, name, thread)?;
        let concurrent = running.concurrent;
        let test = &mut running.tests[found];
        // While tests run one after another, threads are not attributed.
        Some((test.owner, if concurrent { std::mem::take(&mut test.child_threads) } else { Vec::new() }))
    }) else {
        return;
    };
    let ended = wait_for_end(jni, &child_threads);
    child_threads.into_iter().for_each(|(_, thread)| jni.delete_global_ref(thread));
    trace_recorder::end_test(jni, owner, &ended);
    test_attribution::end_test(jni, owner);
    let Ok(mut running) = RUNNING.lock() else { return };
    if let Some(found) = running.tests.iter().position(|test| test.owner == owner) {
        let test = running.tests.remove(found);
        test.child_threads.into_iter().for_each(|(_, thread)| jni.delete_global_ref(thread));
    }
    with_log(|log| ended.iter().for_each(|thread| log.thread_ended(*thread, owner)));
    running.update_log(jni);
}

/// Returns the threads that have ended, after a short wait without a lock for those that may be about to end.
fn wait_for_end(jni: Jni, threads: &[(u32, GlobalRef)]) -> Vec<u32> {
    let (mut alive, mut ended): (Vec<&(u32, GlobalRef)>, _) = (threads.iter().collect(), Vec::new());
    let begun = Instant::now();
    loop {
        alive.retain(|(number, thread)| {
            let has_ended = jni.call_boolean(thread.0, c"isAlive") == Some(false);
            if has_ended {
                ended.push(*number);
            }
            !has_ended
        });
        if alive.is_empty() || begun.elapsed() > MAX_THREAD_END_WAIT {
            return ended;
        }
        std::thread::sleep(THREAD_POLL_INTERVAL);
    }
}

/// Registers a thread that a test started, and returns its number as an owner.
pub fn register_thread(jni: Jni, test: u32, thread: JObject) -> u32 {
    let owner = next_owner() | CHILD_THREAD;
    if let Ok(mut running) = RUNNING.lock()
        && let Some(test) = running.tests.iter_mut().find(|running| running.owner == test)
        && let Some(thread) = jni.new_global_ref(thread)
    {
        test.child_threads.push((owner, thread));
    }
    owner
}

/// Returns the name of the test that runs in the current thread.
pub fn of_current_thread(jni: Jni) -> Option<String> {
    let (running, thread) = (RUNNING.lock().ok()?, jni.thread());
    running.tests.iter().rev().find(|test| test.thread == thread).map(|test| test.name.clone())
}

/// Writes the running test to a log that was created after the test began.
pub fn update_log(jni: Jni) {
    if let Ok(running) = RUNNING.lock() {
        running.update_log(jni);
    }
}

fn with_log(action: impl FnOnce(&mut HitLogWriter)) {
    if let Ok(mut log) = HIT_LOG.lock()
        && let Some(log) = log.as_mut()
    {
        action(log);
    }
}

impl RunningTests {
    /// Finds a test, preferably one that began in the given thread.
    fn find(&self, framework: Framework, name: &str, thread: usize) -> Option<usize> {
        let is_it = |test: &RunningTest| test.framework == framework && test.name == name;
        let here = self.tests.iter().rposition(|test| is_it(test) && test.thread == thread);
        here.or_else(|| self.tests.iter().rposition(is_it))
    }

    /// Detects whether a test or group begins while another test, or a group that does not enclose it, runs in another thread.
    fn detect_concurrency(&mut self, jni: Jni, thread: usize, identity: Option<&str>) {
        let encloses = |group: &str| identity.is_none_or(|identity| identity.starts_with(group));
        let is_concurrent = self.tests.iter().any(|test| test.thread != thread)
            || self.groups.iter().any(|(other, group)| *other != thread && !encloses(group));
        if is_concurrent && !self.concurrent {
            self.concurrent = true;
            test_attribution::set_concurrent(jni);
            trace_recorder::set_concurrent(jni);
        }
    }

    fn update_log(&self, jni: Jni) {
        with_log(|log| match self.tests.last() {
            _ if self.concurrent => log.set_concurrent(jni, self.tests.iter().map(|test| (test.owner, &*test.name))),
            None => log.set_owner(jni, HitOwner::NoTest),
            Some(last) => log.set_owner(jni, HitOwner::Test(last.name.clone())),
        });
    }
}
