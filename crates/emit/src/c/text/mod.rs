//! TODO

pub(crate) mod body;
pub(crate) mod call_sequence;
pub(crate) mod environment;
pub(crate) mod flexible_array;
pub(crate) mod form;
pub(crate) mod frame_condition;
pub(crate) mod library_types;
pub(crate) mod process_isolation;
pub(crate) mod side_effects;
pub(crate) mod stubs;
pub(crate) mod table_row;
pub(crate) mod values;
pub(crate) mod varargs;
pub(crate) mod visibility;
