//! A document in the formats of other tools, one a file. All are text made from the document alone, byte for byte the same
//! for the same document: none has a date or the name of a machine.

mod badge;
mod cobertura;
mod jacoco;
mod junit;
mod lcov;
mod lines;
mod patch;
mod sarif;
mod xml;

pub use badge::badge;
pub use cobertura::cobertura;
pub use jacoco::jacoco;
pub use junit::junit;
pub use lcov::lcov;
pub(crate) use lines::{Run, position, run};
pub use patch::patch;
pub use sarif::sarif;
