//! Events of state coverage in the text of a unit. What they mean is in `crate::state`.

mod plain;
mod probes;

pub(crate) use plain::Copies;
pub(crate) use probes::{DECLARATIONS, Following, probes};
