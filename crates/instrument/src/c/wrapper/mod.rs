//! The compiler wrapper: scripts that a build runs instead of its compilers, and the instrumented compilation that they
//! start.
//!
//! `wrapper_scripts.rs` puts wrappers on the path. Each runs `instrumented_compile.rs`, which uses all other files:
//! `compile_command.rs` parses the command, `compiler_toolchain.rs` runs the compiler, `clang_input.rs`,
//! `system_headers.rs` and `joint_clang_run.rs` prepare what clang reads, `rejected_probes.rs` and
//! `compiler_diagnostics.rs` interpret what the compiler reports. `probed_copy.rs` instruments a source for a replay.

mod clang_input;
mod compile_command;
mod compiler_diagnostics;
mod compiler_toolchain;
mod configure_check;
mod instrumented_compile;
mod joint_clang_run;
mod probed_copy;
mod probing_options;
mod rejected_probes;
mod response_files;
mod system_headers;
mod wrapper_scripts;

pub use compile_command::{CompileCommand, CompilerFamily};
pub use compiler_toolchain::{ALLOCATOR_VARIABLE, INSIDE_WRAPPER_VARIABLE};
pub use instrumented_compile::{CompileError, compile, record_unprobed_source};
pub use probed_copy::{ProbedCopy, REPLAY_RUNTIME};
pub use probing_options::ProbingOptions;
pub(crate) use response_files::split;
pub use wrapper_scripts::{
    AbsoluteCompilerPath, CACHE_VARIABLE, COUNTS_VARIABLE, CRITERIA_VARIABLE, DIRECTORY_VARIABLE, NothingCompiled,
    SUGGEST_VARIABLE, WrapperError, WrapperGuard, WrapperSetup, find_real_compiler, path_without_wrappers,
};
