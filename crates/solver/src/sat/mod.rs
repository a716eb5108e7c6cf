//! Terms as circuits (`blast.rs`, `circuit.rs`, `float_circuit.rs`) for a SAT solver (`batsat.rs`).

pub(crate) mod batsat;
pub(crate) mod blast;
pub(crate) mod circuit;
pub(crate) mod float_circuit;
