//! TODO

pub(crate) mod compiler;
pub(crate) mod compiler_wrapper;
pub(crate) mod configuration;
pub(crate) mod object_cache;
pub(crate) mod preprocessor;
pub(crate) mod sandbox;
pub(crate) mod unit_objects;
