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

pub use compile_command::{CompileCommand, Family};
pub use compiler_toolchain::{INSIDE, OWN_MEMORY};
pub use instrumented_compile::{CompileError, compile, not_measured};
pub use probing_options::Probing;
pub(crate) use response_files::split;
pub use wrapper_scripts::{
    CACHE, COUNTS, CRITERIA, DIRECTORY, NamedByPlace, NothingCompiled, SUGGEST, Surrounded, WrapperError, Wrapping,
    behind_wrappers, path_behind,
};
