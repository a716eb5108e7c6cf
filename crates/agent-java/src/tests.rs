//! Tests that run now, and whose hits are whose.
//!
//! Of what is hit while one test runs, that test is the cause, whichever thread does it: tests have helpers. While several run at the
//! same time nobody can tell, and nobody is named.
//!
//! Every framework says for itself when a test begins and ends ([`crate::frameworks`]), and one may run the tests of another: then
//! the first one's word counts.

use crate::frameworks::Framework;
use crate::jvm::Jni;
use crate::log::Whose;
use std::sync::Mutex;

/// A test that runs.
struct Running {
    /// The thread that said so.
    thread: usize,
    framework: Framework,
    name: String,
}

static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

/// A test begins in this thread.
pub fn begin(jni: Jni, framework: Framework, name: String) {
    let Ok(mut running) = RUNNING.lock() else { return };
    let thread = jni.thread();
    let innermost = running.iter().rev().find(|test| test.thread == thread);
    // It is the same test, of which two frameworks speak, or one of them twice.
    if innermost.is_some_and(|test| test.framework != framework || test.name == name) {
        return;
    }
    crate::recorder::begins(jni, &name);
    running.push(Running { thread, framework, name });
    tell(jni, &running);
}

/// A test ends. Mostly in the thread in which it began.
pub fn end(jni: Jni, framework: Framework, name: &str) {
    let Ok(mut running) = RUNNING.lock() else { return };
    let thread = jni.thread();
    let is_it = |test: &Running| test.framework == framework && test.name == name;
    let here = running.iter().rposition(|test| is_it(test) && test.thread == thread);
    if let Some(found) = here.or_else(|| running.iter().rposition(is_it)) {
        running.remove(found);
        tell(jni, &running);
    }
}

/// The test that runs in this thread.
pub fn of_thread(jni: Jni) -> Option<String> {
    let (running, thread) = (RUNNING.lock().ok()?, jni.thread());
    running.iter().rev().find(|test| test.thread == thread).map(|test| test.name.clone())
}

/// Says which test runs to a log that was not there when it began.
pub fn tell_again(jni: Jni) {
    if let Ok(running) = RUNNING.lock() {
        tell(jni, &running);
    }
}

fn tell(jni: Jni, running: &[Running]) {
    let whose = match running.last() {
        None => Whose::Outside,
        Some(last) if running.iter().all(|test| test.thread == last.thread) => Whose::Test(last.name.clone()),
        Some(_) => Whose::Together,
    };
    if let Ok(mut log) = crate::LOG.lock()
        && let Some(log) = log.as_mut()
    {
        log.belongs(jni, whose);
    }
}
