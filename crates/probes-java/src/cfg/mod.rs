//! Control flow of methods: basic blocks, call targets, and groups of conditional jumps.

pub(crate) mod blocks;
pub(crate) mod call_target;
pub(crate) mod jump_groups;
