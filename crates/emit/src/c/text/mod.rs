//! The C source of a test: fixture, call, assertions and stubs, for each framework.
//!
//! The files that write a test form one circle: a body has values, values may be stubs, stubs check their arguments as values,
//! and flexible arrays, variable arguments and frame conditions are parts of a body that write further lines of it.

pub(crate) mod earlier_calls;
pub(crate) mod flexible_array;
pub(crate) mod form;
pub(crate) mod frame_condition;
pub(crate) mod library_types;
pub(crate) mod process_isolation;
pub(crate) mod shared_process;
pub(crate) mod string_arguments;
pub(crate) mod stubs;
pub(crate) mod table_row;
pub(crate) mod test_body;
pub(crate) mod test_environment;
pub(crate) mod test_macros;
pub(crate) mod test_values;
pub(crate) mod tested_program;
pub(crate) mod varargs;
pub(crate) mod visibility;
