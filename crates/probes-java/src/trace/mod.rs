pub mod emit_events;
pub(crate) mod events;
