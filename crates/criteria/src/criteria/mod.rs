//! The criteria, one file each. A new one is a line here.

use crate::registry::GoalCriterion;

/// Declares the files of criteria and lists what is in them.
macro_rules! criteria {
    ($($file:ident::$criterion:ident,)*) => {
        $(pub(crate) mod $file;)*

        /// All criteria whose objectives are goals, in the order in which reports show them.
        pub static REGISTRY: &[&dyn GoalCriterion] = &[$(&$file::$criterion,)*];
    };
}

criteria! {
    stmt::Stmt,
    branch::Branch,
    decision::Decision,
    condition::Condition,
    dcc::Dcc,
    mcc::Mcc,
    mcdc::Mcdc,
    wm::Wm,
    idc::Idc,
    returns::Returns,
    rte::Rte,
    labels::Labels,
}
