//! The C sources of the runtime, embedded in the library: the harness, the headers that tests include, and the sandbox.

/// The header that test files include.
pub(crate) const HEADER: &str = include_str!("../../../runtime/touchstone_test.h");
/// The runner that test files are linked with.
pub(crate) const RUNNER: &str = include_str!("../../../runtime/touchstone_test.c");
/// What tests of every form need where the program calls what nobody defines.
pub(crate) const STUBS: &str = include_str!("../../../runtime/touchstone_stubs.h");
/// What tests of every form need where allocations fail.
pub(crate) const ALLOCATIONS: &str = include_str!("../../../runtime/touchstone_allocations.h");
/// What tests of every form need that have registers, and those that have files: the name of a header, and its text.
pub(crate) const REGISTERS: (&str, &str) =
    ("touchstone_registers.h", include_str!("../../../runtime/touchstone_registers.h"));
pub(crate) const ENVIRONMENT: (&str, &str) =
    ("touchstone_environment.h", include_str!("../../../runtime/touchstone_environment.h"));
pub(crate) const FILES: (&str, &str) = ("touchstone_files.h", include_str!("../../../runtime/touchstone_files.h"));
/// What tests for GoogleTest include, and are linked with.
pub(crate) const GTEST_HEADER: &str = include_str!("../../../runtime/touchstone_gtest.h");
pub(crate) const GTEST_GLUE: &str = include_str!("../../../runtime/touchstone_gtest.cc");

pub(crate) const FILTER: &str = include_str!("../../../runtime/sandbox/touchstone_filter.h");
pub(crate) const LAUNCHER: &str = include_str!("../../../runtime/sandbox/touchstone_sandbox.c");
pub(crate) const GUARD: &str = include_str!("../../../runtime/sandbox/touchstone_guard.c");
