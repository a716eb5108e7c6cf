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

pub use clang::clang_server::Resident;
pub use clang::dump::Dump;
pub use clang::dump_pair::{Texts, dump_both};
pub use clang::flags::{flags_for, names_of_own_macros, sources_in};
#[doc(hidden)]
pub use clang::fuzzing::{ast_readings, compile_commands_reading};
pub use clang::options::{Described, DescribedCase, Library, Offsets, Options, Place, Surroundings, helper};
pub use clang::process::gnu_version;
pub use dataflow::actions::{
    Action, Argument, Escape, Followed, FollowedFunction, Form, Gives, Lvalue, Origin, PointeeSize, Visible,
    WrittenState,
};
pub use dataflow::c_unit::follow;
pub use dataflow::cxx_tests::follow_tests;
pub use dataflow::hazards::{After, Hazard, HazardKind, Root, Unaskable, hazards};
pub use error::FrontError;
pub use headers::{kept_headers, write_headers};
pub use lower::driver::files::lower_files;
