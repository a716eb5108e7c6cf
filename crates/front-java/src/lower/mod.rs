//! Lowering: bytecode to IR.
//!
//! Every method, dispatch, cast, class initialiser and native method is a function of the IR, which is lowered on
//! demand. The files form one circle: all of them extend the context (`context.rs`) or the method that is being lowered
//! (`method_body.rs`), and a function of the IR may call any other. `points/` and `library/` belong to that circle: a body
//! registers its program points while it is lowered, and the context keeps the functions of the library that are built.

pub(crate) mod arrays;
pub(crate) mod builder;
pub(crate) mod call_sites;
pub(crate) mod context;
pub(crate) mod data_types;
pub(crate) mod dispatch;
pub(crate) mod entry_functions;
pub(crate) mod exceptions;
pub(crate) mod initialisation;
pub(crate) mod instructions;
pub(crate) mod library;
pub(crate) mod method_body;
pub(crate) mod null_messages;
pub(crate) mod points;
pub(crate) mod source_names;
pub(crate) mod static_data;
pub(crate) mod symbols;
