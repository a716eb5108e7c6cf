//! The C sources of the runtime, embedded in the library: the harness, the headers that tests include, and the sandbox.

/// The header that test files include.
pub(crate) const HEADER: &str = include_str!("../../../runtime/touchstone_test.h");
/// The runner that test files are linked with.
pub(crate) const RUNNER: &str = include_str!("../../../runtime/touchstone_test.c");
/// The header of tests of all forms that need stubs.
pub(crate) const STUBS: &str = include_str!("../../../runtime/touchstone_stubs.h");
/// The header of tests of all forms in which allocations may fail.
pub(crate) const ALLOCATIONS: &str = include_str!("../../../runtime/touchstone_allocations.h");
/// The assertions of Unity on top of [`HEADER`].
pub(crate) const UNITY: &str = include_str!("../../../runtime/touchstone_unity.h");
/// The headers of tests of all forms that need device registers, environment variables or files: the file name and the
/// contents.
pub(crate) const REGISTERS: (&str, &str) =
    ("touchstone_registers.h", include_str!("../../../runtime/touchstone_registers.h"));
pub(crate) const ENVIRONMENT: (&str, &str) =
    ("touchstone_environment.h", include_str!("../../../runtime/touchstone_environment.h"));
pub(crate) const FILES: (&str, &str) = ("touchstone_files.h", include_str!("../../../runtime/touchstone_files.h"));
/// The header of tests for GoogleTest, and the source that they are linked with.
pub(crate) const GTEST_HEADER: &str = include_str!("../../../runtime/touchstone_gtest.h");
pub(crate) const GTEST_GLUE: &str = include_str!("../../../runtime/touchstone_gtest.cc");

pub(crate) const FILTER: &str = include_str!("../../../runtime/sandbox/touchstone_filter.h");
pub(crate) const LAUNCHER: &str = include_str!("../../../runtime/sandbox/touchstone_sandbox.c");
pub(crate) const GUARD: &str = include_str!("../../../runtime/sandbox/touchstone_guard.c");
