//! The build of the user's program: its configuration, the compiler, the preprocessor, object files that several test programs
//! share, and the sandbox whose guard every test program is linked with.
//!
//! `configuration`, `compiler`, `preprocessor`, `unit_objects` and `sandbox` form one circle: the configuration owns what was
//! compiled for it so far, and the compiler needs the configuration.

pub(crate) mod compiler;
pub(crate) mod compiler_wrapper;
pub(crate) mod configuration;
pub(crate) mod include_path;
pub(crate) mod object_cache;
pub(crate) mod portable_path;
pub(crate) mod preprocessor;
pub(crate) mod runtime_files;
pub(crate) mod sandbox;
pub(crate) mod unit_objects;
