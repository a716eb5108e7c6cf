pub(crate) mod class_weaver;
pub(crate) mod code_layout;
pub(crate) mod entry_calls;
pub(crate) mod position_tables;
