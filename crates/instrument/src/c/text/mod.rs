//! Text of C.

mod c_tokens;
mod insertions;
mod statement_layout;

pub(crate) use c_tokens::{Kind, Source};
pub(crate) use insertions::Pieces;
pub(crate) use statement_layout::{Layout, body};
