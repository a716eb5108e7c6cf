//! Program points of a method: statements, conditions, decisions, values and hazards that coverage criteria refer to.

pub(crate) mod branch_roles;
pub(crate) mod decision_points;
pub(crate) mod hazard_points;
pub(crate) mod value_points;
pub(crate) mod value_sources;
