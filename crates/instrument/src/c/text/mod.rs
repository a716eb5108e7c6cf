//! The text of C sources: tokens, statements and insertions.

mod c_tokens;
mod insertions;
mod statement_layout;

pub(crate) use c_tokens::{TokenKind, TokenisedSource};
pub(crate) use insertions::Insertions;
pub(crate) use statement_layout::{StatementLayout, find_body};
