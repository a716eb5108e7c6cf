//! MC/DC: decision graphs and their marking function (Whalen et al.), truth tables, independence pairs.
//!
//! There is no circle: `masks`, `decision_graph`, `goal_reachability`, `independence_pairs`, `decision_table`.

pub(crate) mod decision_graph;
pub(crate) mod decision_table;
pub(crate) mod goal_reachability;
pub(crate) mod independence_pairs;
pub(crate) mod masks;
