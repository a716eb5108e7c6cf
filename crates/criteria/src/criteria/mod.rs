//! The criteria, one file each.

pub(crate) mod branch;
pub(crate) mod condition;
pub(crate) mod dcc;
pub(crate) mod decision;
pub(crate) mod idc;
pub(crate) mod labels;
pub(crate) mod mcc;
pub(crate) mod mcdc;
pub(crate) mod rte;
pub(crate) mod stmt;
pub(crate) mod wm;
