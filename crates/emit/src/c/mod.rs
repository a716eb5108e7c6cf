//! Tests of C, in folders of which each uses only those before it: `syntax/` (types, literals, names and comments in C's
//! notation), `build/` (the compiler, the preprocessor, object files and the sandbox that test programs are linked with), `text/`
//! (the source of a test, for each framework), `files/` (suites on disk) and `run/` (compilation and execution of a suite, and
//! the comparison with the prediction).

pub(crate) mod build;
pub(crate) mod files;
pub(crate) mod run;
pub(crate) mod syntax;
pub(crate) mod text;
