//! Tests that run now, and whose hits are whose.
//!
//! Of what is hit while one test runs, that test is the cause, whichever thread does it: tests have helpers. From the first time on that
//! several run at the same time, a hit belongs to the test whose thread it is ([`crate::test_attribution`]). A thread that a test started is one of its
//! threads if it is over when the test ends: until then it may only wait for the work of others, as those of pools do. What any other thread
//! hits nobody can tell.
//!
//! Every framework says for itself when a test begins and ends ([`crate::test_frameworks`]), and one may run the tests of another: then
//! the first one's word counts.

use crate::hit_log_writer::{HELPER, Whose};
use crate::jvm_interface::{Jni, Object};
use crate::test_frameworks::Framework;
use crate::{hit_log_writer, test_attribution, trace_recorder};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A test that runs.
struct Running {
    /// The thread that said so.
    thread: usize,
    framework: Framework,
    name: String,
    /// The number of the owner of its hits.
    owner: u32,
    /// Threads that it started, and their numbers.
    helpers: Vec<(u32, Thread)>,
}

/// A thread of the program.
struct Thread(Object);

// SAFETY: it is a reference that every thread may use, until it is given back.
unsafe impl Send for Thread {}

/// What runs now.
struct Runs {
    tests: Vec<Running>,
    /// Groups of tests that have begun, by their threads and identities, which begin with those of the groups around them.
    groups: Vec<(usize, String)>,
    /// Tests run at the same time, or did.
    together: bool,
}

static RUNNING: Mutex<Runs> = Mutex::new(Runs { tests: Vec::new(), groups: Vec::new(), together: false });

/// Numbers of owners.
static OWNERS: AtomicU32 = AtomicU32::new(1);

/// A thread that is done is gone soon.
const SOON: Duration = Duration::from_millis(10);
const MOMENT: Duration = Duration::from_micros(100);

/// A number that nobody has; 0 if there are no more.
fn number() -> u32 {
    Some(OWNERS.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < HELPER).unwrap_or(0)
}

/// A test begins in this thread. Its identity, if it has one, begins with those of the groups that it is in.
pub fn begin(jni: Jni, framework: Framework, name: String, identity: Option<&str>) {
    let Ok(mut runs) = RUNNING.lock() else { return };
    let thread = jni.thread();
    let innermost = runs.tests.iter().rev().find(|test| test.thread == thread);
    // It is the same test, of which two frameworks speak, or one of them twice.
    if innermost.is_some_and(|test| test.framework != framework || test.name == name) {
        return;
    }
    let owner = number();
    test_attribution::begins(jni, owner);
    trace_recorder::begins(jni, &name, owner);
    runs.tests.push(Running { thread, framework, name, owner, helpers: Vec::new() });
    runs.notice(jni, thread, identity);
    runs.tell(jni);
}

/// A group of tests begins in this thread.
pub fn begin_group(jni: Jni, identity: String) {
    let Ok(mut runs) = RUNNING.lock() else { return };
    let was_together = runs.together;
    runs.notice(jni, jni.thread(), Some(&identity));
    runs.groups.push((jni.thread(), identity));
    if runs.together != was_together {
        runs.tell(jni);
    }
}

/// A group of tests ends.
pub fn end_group(identity: &str) {
    let Ok(mut runs) = RUNNING.lock() else { return };
    if let Some(found) = runs.groups.iter().rposition(|(_, group)| group == identity) {
        runs.groups.remove(found);
    }
}

/// A test ends. Mostly in the thread in which it began.
pub fn end(jni: Jni, framework: Framework, name: &str) {
    let thread = jni.thread();
    let Some((owner, helpers)) = RUNNING.lock().ok().and_then(|mut runs| {
        let found = runs.found(framework, name, thread)?;
        let together = runs.together;
        let test = &mut runs.tests[found];
        // While one test runs at a time nobody asks for them.
        Some((test.owner, if together { std::mem::take(&mut test.helpers) } else { Vec::new() }))
    }) else {
        return;
    };
    let over = gone(jni, &helpers);
    helpers.into_iter().for_each(|(_, thread)| jni.forget(thread.0));
    trace_recorder::ends(jni, owner, &over);
    test_attribution::ends(jni, owner);
    let Ok(mut runs) = RUNNING.lock() else { return };
    if let Some(found) = runs.tests.iter().position(|test| test.owner == owner) {
        let test = runs.tests.remove(found);
        test.helpers.into_iter().for_each(|(_, thread)| jni.forget(thread.0));
    }
    with_log(|log| over.iter().for_each(|helper| log.over(*helper, owner)));
    runs.tell(jni);
}

/// Threads that are over. Those that may be so in a moment are waited for, without a lock.
fn gone(jni: Jni, helpers: &[(u32, Thread)]) -> Vec<u32> {
    let (mut left, mut over): (Vec<&(u32, Thread)>, _) = (helpers.iter().collect(), Vec::new());
    let begun = Instant::now();
    loop {
        left.retain(|(number, thread)| {
            let is_over = jni.says(thread.0, c"isAlive") == Some(false);
            if is_over {
                over.push(*number);
            }
            !is_over
        });
        if left.is_empty() || begun.elapsed() > SOON {
            return over;
        }
        std::thread::sleep(MOMENT);
    }
}

/// A thread that a test started hit something while tests run at the same time: its number.
pub fn joins(jni: Jni, test: u32, thread: Object) -> u32 {
    let helper = number() | HELPER;
    if let Ok(mut runs) = RUNNING.lock()
        && let Some(test) = runs.tests.iter_mut().find(|running| running.owner == test)
        && let Some(thread) = jni.kept(thread)
    {
        test.helpers.push((helper, Thread(thread)));
    }
    helper
}

/// The test that runs in this thread.
pub fn of_thread(jni: Jni) -> Option<String> {
    let (runs, thread) = (RUNNING.lock().ok()?, jni.thread());
    runs.tests.iter().rev().find(|test| test.thread == thread).map(|test| test.name.clone())
}

/// Says which test runs to a log that was not there when it began.
pub fn tell_again(jni: Jni) {
    if let Ok(runs) = RUNNING.lock() {
        runs.tell(jni);
    }
}

fn with_log(does: impl FnOnce(&mut hit_log_writer::Log)) {
    if let Ok(mut log) = crate::LOG.lock()
        && let Some(log) = log.as_mut()
    {
        does(log);
    }
}

impl Runs {
    fn found(&self, framework: Framework, name: &str, thread: usize) -> Option<usize> {
        let is_it = |test: &Running| test.framework == framework && test.name == name;
        let here = self.tests.iter().rposition(|test| is_it(test) && test.thread == thread);
        here.or_else(|| self.tests.iter().rposition(is_it))
    }

    /// Something begins: whether anything runs beside it, a test or a group that is not around it.
    fn notice(&mut self, jni: Jni, thread: usize, identity: Option<&str>) {
        let is_around = |group: &str| identity.is_none_or(|identity| identity.starts_with(group));
        let is_beside = self.tests.iter().any(|test| test.thread != thread)
            || self.groups.iter().any(|(other, group)| *other != thread && !is_around(group));
        if is_beside && !self.together {
            self.together = true;
            test_attribution::together(jni);
            trace_recorder::together(jni);
        }
    }

    fn tell(&self, jni: Jni) {
        with_log(|log| match self.tests.last() {
            _ if self.together => log.together(jni, self.tests.iter().map(|test| (test.owner, &*test.name))),
            None => log.belongs(jni, Whose::Outside),
            Some(last) => log.belongs(jni, Whose::Test(last.name.clone())),
        });
    }
}
