//! Exports to the formats of other tools, one per file. All are computed from the document alone and deterministic:
//! none contains a date or a host name.

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
pub(crate) use lines::{ExecutedLines, position, run};
pub use patch::patch;
pub use sarif::sarif;
