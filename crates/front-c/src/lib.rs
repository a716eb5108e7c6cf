//! The front end for C: clang's typed AST becomes IR.
//!
//! clang does the parsing, typing, implicit conversions and constant values; this crate reads its JSON as a stream and
//! lowers one declaration at a time. Folders, each using only those before it: `clang/` (running clang, its nodes), `types/`
//! (what types mean), `link/` (the program, the C library, what nobody defines), `lower/` (declarations and bodies),
//! `points/` (where coverage speaks of the source). `follow/` stands beside them, on `clang/` alone: what a text does to
//! data, for probes.
//!
//! Invariants, as absences: a construct that is not supported is never an error and never dropped, it is a
//! [`TermKind::Unsupported`](touchstone_ir::TermKind::Unsupported) with its place; there is no preprocessor and no
//! type checker here; no other crate sees clang's AST.

#![warn(missing_docs)]

mod clang;
mod error;
mod follow;
mod headers;
mod link;
mod lower;
mod points;
mod types;

pub use clang::dump::Dump;
pub use clang::flags::{flags_for, names_of_own_macros, sources_in};
#[doc(hidden)]
pub use clang::fuzzing::{ast_readings, compile_commands_reading};
pub use clang::options::{Described, DescribedCase, Library, Offsets, Options, Place, Surroundings, helper};
pub use clang::pair::{Texts, dump_both};
pub use clang::resident::Resident;
pub use clang::run::gnu_version;
pub use error::FrontError;
pub use follow::cxx::follow_tests;
pub use follow::followed::{
    Action, Argument, Escape, Followed, FollowedFunction, Form, Gives, Lvalue, Origin, PointeeSize, Visible,
    WrittenState,
};
pub use follow::hazards::{After, Hazard, HazardKind, Root, Unaskable, hazards};
pub use follow::text::follow;
pub use headers::{kept_headers, write_headers};
pub use lower::files::lower_files;
