//! ProcessIsolation of frameworks that run all tests of a file in one: what a test leaves in static variables is what the next one
//! finds. Where no test can set such a variable, or a test needs what the program begins with, each test gets a process of
//! its own.
//!
//! Our own harness always does that.

use std::collections::BTreeSet;
use touchstone_ir::{CallGraph, Function, GlobalRole, InstKind, Linkage, Module};

/// How many processes the tests of a file run in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessIsolation {
    /// All in one.
    Shared,
    /// Each in its own.
    PerTest,
}

impl ProcessIsolation {
    /// What the tests of a function need, whatever they do.
    pub(crate) fn required_by(module: &Module, function: &Function) -> ProcessIsolation {
        let Some(root) = module.function_named(&function.name) else { return ProcessIsolation::Shared };
        let reached: BTreeSet<_> = CallGraph::new(module).reachable_from(root);
        let insts = reached.iter().flat_map(|id| module.functions[*id].blocks.values()).flat_map(|block| &block.insts);
        let mut named = insts.filter_map(|inst| match inst.kind {
            InstKind::GlobalAddr { global, .. } => Some(&module.globals[global]),
            _ => None,
        });
        let is_hidden = named.any(|global| {
            let variable = !global.constant && global.function.is_none() && global.role == GlobalRole::Variable;
            let elsewhere = global.linkage == Linkage::Internal && global.span.file != function.span.file;
            variable && (global.linkage == Linkage::Local || elsewhere)
        });
        if is_hidden { ProcessIsolation::PerTest } else { ProcessIsolation::Shared }
    }
}

/// A test in the list of a file.
pub(crate) struct RegisteredTest {
    pub(crate) id: String,
    pub(crate) ends: ProcessEnd,
}

/// What becomes of the process of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessEnd {
    Returns,
    /// With this status.
    Exits(i32),
    /// The framework can't run it.
    Skipped,
}

/// How one test is run by itself.
pub(crate) const UNITY_OWN_PROCESS: &str = "
#define ALONE(...)                            \\
    do {                                      \\
        if (touchstone_begins()) {            \\
            UNITY_BEGIN();                    \\
            __VA_ARGS__;                      \\
            touchstone_leave(UNITY_END());    \\
        }                                     \\
        failures += touchstone_failed();      \\
    } while (0)
";
pub(crate) const CMOCKA_OWN_PROCESS: &str = "
#define ALONE(test)                                                       \\
    do {                                                                  \\
        if (touchstone_begins()) {                                        \\
            const struct CMUnitTest one[] = {cmocka_unit_test(test)};     \\
            touchstone_leave(cmocka_run_group_tests(one, NULL, NULL));    \\
        }                                                                 \\
        failures += touchstone_failed();                                  \\
    } while (0)
";

/// What runs each test in a process of its own. The functions are the system's, whatever the program calls by their names.
pub(crate) fn own_process_macros(one: &str) -> String {
    format!("{OWN_PROCESS}{}", &one[1..])
}

const OWN_PROCESS: &str = "
/* Static variables keep what a test leaves, so each test has a process of its own. */
extern int touchstone_fork(void) __asm__(\"fork\");
extern int touchstone_wait(int, int *, int) __asm__(\"waitpid\");
extern void touchstone_leave(int) __asm__(\"exit\");
static int touchstone_child;
static int touchstone_begins(void) { return (touchstone_child = touchstone_fork()) == 0; }
static int touchstone_failed(void) {
    int status = 1;
    touchstone_wait(touchstone_child, &status, 0);
    return status != 0;
}
";
