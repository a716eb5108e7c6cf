pub mod constant_pool;
pub(crate) mod stack_maps;
