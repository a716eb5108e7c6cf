pub(crate) mod blocks;
pub(crate) mod jump_groups;
