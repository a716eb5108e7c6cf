//! Candidates: the inputs of a run, with facts that the run showed.

use crate::confirm::run_record::ConcreteRun;
use std::rc::Rc;
use touchstone_criteria::{EnvironmentInput, TestKind};

/// The inputs of a run.
#[derive(Clone)]
pub(super) struct CandidateInputs {
    pub kind: TestKind,
    pub answers: Vec<EnvironmentInput>,
    /// Pairs of different integers that the run compared, if it is known.
    pub compared: Rc<[(u64, u64)]>,
    /// The parameters that the run read, for objects with classes and if it is known.
    pub asked: Rc<[usize]>,
}

impl CandidateInputs {
    /// Marks the objects that a run freed as allocated on the heap.
    pub fn mark_freed(&mut self, run: &ConcreteRun) {
        if let TestKind::Function { objects, .. } = &mut self.kind {
            objects.iter_mut().zip(&run.freed).for_each(|(object, freed)| object.on_heap = *freed);
        }
    }
}
