//! Comparison.

use super::impact::{Touched, Versions};
use super::product::OldTarget;
use crate::plan::Plan;
use touchstone_ir::FuncId;

/// Compares two versions of a program.
pub(crate) struct Comparison<'m> {
    pub versions: Versions<'m>,
    /// What tests of the new version also run on.
    pub target: Option<OldTarget>,
}

impl<'m> Comparison<'m> {
    /// Compares a plan's program with its older version, if there is one.
    pub fn of(plan: &'m Plan) -> Option<Comparison<'m>> {
        let (version, old) = (plan.request.old.as_ref()?, plan.old.as_ref()?);
        let versions = Versions::new(&old.module, &plan.program.module);
        Some(Comparison { versions, target: OldTarget::new(plan, version, old) })
    }

    /// What the change is to a function that tests call.
    pub fn touched(&self, func: FuncId) -> Touched {
        self.versions.touched(func)
    }
}
