//! Arithmetic beyond integers of up to 64 bits.
//!
//! `floats.rs` lowers `float` and `double`; `int128.rs` two-word values, `long_double.rs` x87's extended format on top of
//! them (`long_const.rs` evaluates its constants, `long_math.rs` classifies it); `complex.rs` and `vector.rs` values with
//! several components. `bit_width.rs` computes in the width of a bit-field, `overflow.rs` lowers checked arithmetic and
//! `math_calls.rs` the functions of math.h.
//!
//! `long_double.rs` and `int128.rs` call each other's methods on `Lowerer`; there is no circle of imports.

mod bit_width;
pub(crate) mod complex;
pub(crate) mod floats;
pub(crate) mod int128;
mod long_const;
mod long_double;
mod long_math;
pub(crate) mod math_calls;
mod overflow;
pub(crate) mod vector;
