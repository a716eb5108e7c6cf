//! Search among floats: downhill in representable numbers (`search.rs`), and by cutting boxes (`split.rs`).

pub(crate) mod search;
pub(crate) mod split;
