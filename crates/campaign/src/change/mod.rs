//! Change analysis: what differs between two versions of a program.
//!
//! Functions are matched by name and compared by structure, so moved and reformatted code is unchanged. A function that
//! depends on nothing that changed behaves the same in both versions: no test can distinguish them.
//!
//! The folders, in order: `impact/` (impact analysis: a relational analysis of both versions computes what a change
//! affects), `product/` (product programs and differential runs that find or exclude an observable difference).
//! `comparison.rs` joins them for a campaign.
//!
//! Deliberately not here: where the old version comes from.

mod comparison;
mod impact;
mod product;

pub(crate) use comparison::Comparison;
pub(crate) use impact::{ChangeImpact, mark_unaffected_goals};
pub(crate) use product::{BehaviourComparison, compare};
