//! Weaving: the code of a method is rewritten with its probes, and everything in the class that refers to positions in it is updated.

pub(crate) mod class_weaver;
pub(crate) mod code_pieces;
pub(crate) mod code_rewriter;
pub(crate) mod entry_calls;
pub(crate) mod position_tables;
