//! The comparison of a plan's program with its old version, shared by the work on all functions.

use super::impact::{ChangeImpact, Versions};
use super::product::OldTarget;
use crate::plan::Plan;
use std::collections::BTreeSet;
use touchstone_ir::FuncId;

/// Compares two versions of a program.
pub(crate) struct Comparison<'m> {
    pub versions: Versions<'m>,
    /// Runs tests of the new version on the compiled old one, or `None` if tests are not replayed.
    pub target: Option<OldTarget>,
}

impl<'m> Comparison<'m> {
    /// Compares a plan's program with its old version, or returns `None` if the request names none.
    pub fn of(plan: &'m Plan) -> Option<Comparison<'m>> {
        let (version, old) = (plan.request.old.as_ref()?, plan.old.as_ref()?);
        let compiler = &plan.request.compilation.compiler;
        let texts = move || [old, &plan.program].map(|program| program.declaration_texts(compiler));
        let versions = Versions::new(&old.module, &plan.program.module, texts);
        Some(Comparison { versions, target: OldTarget::new(plan, version, old) })
    }

    /// Computes the impact of the change on a function that tests call.
    pub fn change_impact(&self, func: FuncId) -> ChangeImpact {
        self.versions.change_impact(func)
    }

    /// Returns true if both versions have functions of these names, with the same code.
    pub fn are_same(&self, names: &BTreeSet<&str>) -> bool {
        let module = &self.versions.new.module;
        names.iter().all(|name| module.function_named(name).is_some_and(|func| self.versions.is_same(func)))
    }
}
