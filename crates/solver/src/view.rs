//! All assignments of a few variables, as columns: one value per point and term.
//!
//! A view is a set of points. A child view keeps some points of its parent and gathers the columns it needs, so that
//! evaluating one more condition costs its new terms times the points that are left.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::model::Model;
use crate::term::{TermId, VarId};

/// Columns of values.
pub(crate) struct View {
    pub(crate) vars: Rc<[VarId]>,
    pub(crate) len: usize,
    columns: RefCell<FxHashMap<TermId, Rc<Vec<u64>>>>,
}

impl View {
    /// One point as a model.
    pub(crate) fn point(&self, _index: usize) -> Model {
        todo!()
    }
    pub(crate) fn sample(&self, _limit: usize) -> Vec<Model> {
        todo!()
    }
}
