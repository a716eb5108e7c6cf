//! Search among floats: downhill in representable numbers (`search.rs`), and by cutting boxes (`split.rs`).

pub(crate) mod descent;
pub(crate) mod split;
