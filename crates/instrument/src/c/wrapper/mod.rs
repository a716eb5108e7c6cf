//! The compiler wrapper.

mod clang_input;
mod compile_command;
mod compiler_diagnostics;
mod compiler_toolchain;
mod configure_check;
mod instrumented_compile;
mod joint_clang_run;
mod probing_options;
mod rejected_probes;
mod response_files;
mod system_headers;
mod wrapper_scripts;

pub use compile_command::{CompileCommand, CompilerFamily};
pub use compiler_toolchain::{ALLOCATOR_VARIABLE, INSIDE_WRAPPER_VARIABLE};
pub use instrumented_compile::{CompileError, compile, record_unprobed_source};
pub use probing_options::ProbingOptions;
pub(crate) use response_files::split;
pub use wrapper_scripts::{
    AbsoluteCompilerPath, CACHE_VARIABLE, COUNTS_VARIABLE, CRITERIA_VARIABLE, DIRECTORY_VARIABLE, NothingCompiled,
    SUGGEST_VARIABLE, WrapperError, WrapperGuard, WrapperSetup, find_real_compiler, path_without_wrappers,
};
