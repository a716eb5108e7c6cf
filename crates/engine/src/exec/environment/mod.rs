//! The environment of the function under test.

mod allocation_failure;
mod doubts;
mod external_calls;
mod overlap;
