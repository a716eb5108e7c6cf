//! Observers.

mod observation;
mod selection;

pub(super) use selection::look_around;
