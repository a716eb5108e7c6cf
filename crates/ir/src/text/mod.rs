//! The text form of modules: `parse(print(m)) == m` for every module that the verifier accepts.
//!
//! Made to be written by hand in file tests as well as printed. Free-form: line ends are white space, `;` starts a
//! comment.
//!
//! ```text
//! file f0 "max.c"
//! type ty0 = int "int" 32 signed
//! global @limit: ty0 size 4 internal constant = { 0: i32 100 }
//!
//! func @max(%0 "a": i32 ty0, %1 "b": i32 ty0) -> i32 ty0 @f0:3:1-3:40 {
//!   slot s0 "copy": ty0 size 4
//!   decision d0 if "a < b" @f0:3:29 = c0 {
//!     c0 "a < b" @f0:3:29
//!   }
//!   point p0 condition d0.c0 (slt i1 (i32 %0 "a") (i32 %1 "b") "a < b") "a < b" @f0:3:29
//! b0:
//!   point p0
//!   %2: i1 = cmp slt %0, %1
//!   branch %2, b1, b2 [d0.c0]
//! b1:
//!   return %1
//! b2:
//!   %3: ptr = slot_addr s0
//!   store %3, i32 7
//!   %0 = add %0, 0
//!   return %0
//! }
//! ```
//!
//! - A register's type stands where it is declared: with a parameter, in a `reg %4 "name": i32` line, or at one of its
//!   definitions. A named register needs the `reg` line.
//! - A constant needs its type (`i32 7`, `null`) except where the other operands or the instruction give it.
//! - Names are bare where they look like identifiers, else quoted (`@"odd name"`). Where two functions or globals have
//!   one name, and in hand-written text if you like, they are referred to by id: `fn3`, `g0`.
//! - Spans (`@file:line:column-line:column`) may be left out everywhere; so may data types (`ty0` is meant, and is `void`
//!   if the text declares no types).
//! - A point is a `statement`, a `value`, a `condition` of a decision or a `label` with its name, then its source text.
//! - A pure expression is `(operation type parts "text")`, or `(type leaf "text")` for a register, a constant, a slot or
//!   a global; an empty text is left out. `signed` or `unsigned` follows the type where it is not the default:
//!   `i1` and `ptr` are usually unsigned, the others signed. `and` and `or` work on bits; the short-circuit ones of truth
//!   values are `and_then` and `or_else`.
//! - `branch check %1, b1, b2` and `switch dispatch %1 { … }` have another role than a condition.
//! - A call that may throw is the last of its block: `%1: i32 = call @f()`, then `catch %2: ptr => b1, else => b2`.
//!   `type ty3 = one_of "shape" tag 0 32 { 1: ty1, 2: ty2 }` is a type with variants, told apart by 32 bits at offset 0;
//!   `thrown ty3` is the module's type of thrown objects.
//! - `type ty4 = struct "int[]" size 8 align 4 counted 1 { "class": ty0 at 0, "length": ty0 at 4, "data": ty1 at 8 }` ends in
//!   an array (`ty1`, of length 0) with as many elements as field 1 says.
//! - `entry @main` names the function that programs begin with.
//! - `memory ty1 = text ty1 same ty0 part ty0 shares everything` says what an input pointer to `ty1` points to and what shares
//!   memory with that, where it is not the usual (`elements ty1 same ty1 part ty1 shares parts`); `memory byte_writes anything`
//!   that writes of bytes may change anything.
//! - `start @f` is a function that runs before any other; a global with the role `heap` is an object that is there then;
//!   `runtime` is one of the language's own library.
//! - A function without blocks is only declared.

mod body;
mod lex;
mod parse;
mod points;
mod print;
mod words;

pub use lex::ParseError;
pub(crate) use lex::{Token, lex};
pub use parse::parse;
pub use print::print;

#[cfg(test)]
mod tests;
