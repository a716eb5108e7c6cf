//! Parts of class files that are written here: constants, instructions, stack maps, and classes that are compiled templates.

pub(crate) mod class_template;
pub(crate) mod constant_pool;
pub(crate) mod instructions;
pub(crate) mod replay_hits;
pub(crate) mod stack_maps;
