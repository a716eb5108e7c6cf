//! The front end for C: lowers clang's typed AST to IR.
//!
//! clang parses, checks types, inserts implicit conversions and evaluates constants; this crate reads its JSON as a stream
//! and lowers one declaration at a time. Folders, each of which uses only those before it:
//!
//! - `clang/`: invocation of clang, and its AST as typed nodes;
//! - `dataflow/`: reads and writes of a preprocessed text, for the probes of state coverage; uses `clang/` only;
//! - `types/`: C types and their layouts;
//! - `link/`: the linked program, models of the C library, external functions;
//! - `lower/`: declarations and bodies, in the folders `context/`, `numbers/`, `objects/`, `body/` and `driver/`;
//! - `points/`: program points for coverage criteria.
//!
//! Invariants, as absences: an unsupported construct is never an error and never dropped, it becomes a
//! [`TermKind::Unsupported`](touchstone_ir::TermKind::Unsupported) with its source position; there is no preprocessor and
//! no type checker here; no other crate sees clang's AST.

#![warn(missing_docs)]

mod clang;
mod construct;
mod dataflow;
mod error;
mod headers;
mod link;
mod lower;
mod points;
mod types;

pub use clang::clang_server::ClangServer;
pub use clang::compiler_version::gnu_version;
pub use clang::dump::AstDump;
pub use clang::dump_pair::{SourcePair, dump_pair};
pub use clang::flags::{database_sources, flags_for, predefined_macro_names};
#[doc(hidden)]
pub use clang::fuzzing::{ast_readings, compile_commands_reading};
pub use clang::options::{
    EnvironmentInputs, ExternalSpec, LibraryMode, OffsetofMode, Options, SpecCase, WriteTarget, helper_name,
};
pub use dataflow::actions::{
    Action, CallArgument, Escape, FunctionDataFlow, Lvalue, Observable, PointeeSize, ResultForm, SourceOrigin,
    UnitDataFlow, ValueForm, WrittenObject,
};
pub use dataflow::body_walk::RETURNS_TWICE;
pub use dataflow::c_unit::unit_data_flow;
pub use dataflow::cxx_tests::test_data_flow;
pub use dataflow::hazards::{AccessBase, Hazard, HazardKind, HazardObstacle, PrecedingAssignment, hazards};
pub use error::FrontError;
pub use headers::{cached_headers, write_headers};
pub use lower::driver::declaration_texts::DeclarationTexts;
pub use lower::driver::files::lower_files;
