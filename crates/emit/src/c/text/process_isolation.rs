//! Process isolation in frameworks that run all tests of a file in one process: static variables keep their values
//! between tests. Each test gets a process of its own if the function depends on static variables that tests cannot
//! set, or if a test requires the program's initial state.
//!
//! Our own harness always isolates tests.

use touchstone_ir::{Function, GlobalRole, InstKind, Linkage, Module, reachable_functions};

/// The assignment of tests to processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessIsolation {
    /// All tests of a file share one process.
    Shared,
    /// Each test runs in its own process.
    PerTest,
}

impl ProcessIsolation {
    /// Returns the isolation that a function requires, independently of its tests.
    pub(crate) fn required_by(module: &Module, function: &Function) -> ProcessIsolation {
        let Some(root) = module.function_named(&function.name) else { return ProcessIsolation::Shared };
        let reached = reachable_functions(module, [root]);
        let insts = reached.iter().flat_map(|id| module.functions[*id].blocks.values()).flat_map(|block| &block.insts);
        let mut named = insts.filter_map(|inst| match inst.kind {
            InstKind::GlobalAddr { global, .. } => Some(&module.globals[global]),
            _ => None,
        });
        let is_hidden = named.any(|global| {
            let variable = !global.constant
                && global.function.is_none()
                && matches!(global.role, GlobalRole::Variable | GlobalRole::Exposed);
            let elsewhere = global.linkage == Linkage::Internal && global.span.file != function.span.file;
            variable && (global.linkage == Linkage::Local || elsewhere)
        });
        if is_hidden { ProcessIsolation::PerTest } else { ProcessIsolation::Shared }
    }
}

/// An entry in the list of tests of a file.
pub(crate) struct RegisteredTest {
    pub(crate) id: String,
    pub(crate) ends: ProcessEnd,
}

/// The end of a test's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProcessEnd {
    Returns,
    /// It exits with this status.
    Exits(i32),
    /// The framework cannot run the test.
    Skipped,
}

/// The macros that run one test in its own process.
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

/// Returns the definitions that run each test in its own process. They bind the system's functions by symbol, because
/// the program may define functions with the same names.
pub(crate) fn own_process_macros(one: &str) -> String {
    format!("{OWN_PROCESS}{}", &one[1..])
}

const OWN_PROCESS: &str = "
/* Static variables persist between tests, so each test runs in its own process. */
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
