//! All assignments of a few variables, as columns: one value per point and term.
//!
//! A view is a set of points. A child view keeps some points of its parent and gathers the columns it needs, so that
//! evaluating one more condition costs its new terms times the points that are left.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::models::model::Model;
use crate::models::program::{BLOCK, TermProgram};
use crate::terms::term::{Term, TermId, VarId};
use crate::terms::term_store::Terms;

/// In a view of at most this many points every intermediate column is kept.
const MAX_POINTS_FULLY_KEPT: usize = 4096;
/// In larger views a column is kept if it ends a chain of this many steps.
const MIN_CHAIN_STEPS: u32 = 8;

/// Values in the narrowest type that holds them.
pub(crate) enum Column {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Column {
    pub(crate) fn new() -> Column {
        Column::U8(Vec::new())
    }

    pub(crate) fn get(&self, index: usize) -> u64 {
        match self {
            Column::U8(v) => u64::from(v[index]),
            Column::U16(v) => u64::from(v[index]),
            Column::U32(v) => u64::from(v[index]),
            Column::U64(v) => v[index],
        }
    }

    /// Returns the size of a value in bytes.
    pub(crate) fn bytes_per_value(&self) -> usize {
        match self {
            Column::U8(_) => 1,
            Column::U16(_) => 2,
            Column::U32(_) => 4,
            Column::U64(_) => 8,
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::U8(v) => v.len(),
            Column::U16(v) => v.len(),
            Column::U32(v) => v.len(),
            Column::U64(v) => v.len(),
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<u64> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// Appends values, widening if they need it.
    pub(crate) fn extend(&mut self, values: &[u64]) {
        let all = values.iter().fold(0, |sum, &v| sum | v);
        self.widen(all);
        match self {
            Column::U8(v) => v.extend(values.iter().map(|&x| x as u8)),
            Column::U16(v) => v.extend(values.iter().map(|&x| x as u16)),
            Column::U32(v) => v.extend(values.iter().map(|&x| x as u32)),
            Column::U64(v) => v.extend_from_slice(values),
        }
    }

    fn widen(&mut self, value: u64) {
        let fits = match self {
            Column::U8(_) => value <= 0xff,
            Column::U16(_) => value <= 0xffff,
            Column::U32(_) => value <= 0xffff_ffff,
            Column::U64(_) => true,
        };
        if fits {
            return;
        }
        let old = self.to_vec();
        *self = if value <= 0xffff {
            Column::U16(old.into_iter().map(|x| x as u16).collect())
        } else if value <= 0xffff_ffff {
            Column::U32(old.into_iter().map(|x| x as u32).collect())
        } else {
            Column::U64(old)
        };
    }

    fn gather(&self, indices: &[u32]) -> Column {
        match self {
            Column::U8(v) => Column::U8(indices.iter().map(|&i| v[i as usize]).collect()),
            Column::U16(v) => Column::U16(indices.iter().map(|&i| v[i as usize]).collect()),
            Column::U32(v) => Column::U32(indices.iter().map(|&i| v[i as usize]).collect()),
            Column::U64(v) => Column::U64(indices.iter().map(|&i| v[i as usize]).collect()),
        }
    }

    fn load(&self, from: usize, target: &mut [u64]) {
        match self {
            Column::U8(v) => target.iter_mut().zip(&v[from..]).for_each(|(t, &x)| *t = u64::from(x)),
            Column::U16(v) => target.iter_mut().zip(&v[from..]).for_each(|(t, &x)| *t = u64::from(x)),
            Column::U32(v) => target.iter_mut().zip(&v[from..]).for_each(|(t, &x)| *t = u64::from(x)),
            Column::U64(v) => target.iter_mut().zip(&v[from..]).for_each(|(t, &x)| *t = x),
        }
    }
}

/// A set of points.
pub(crate) struct View {
    vars: Rc<[VarId]>,
    len: usize,
    source: Source,
    columns: RefCell<FxHashMap<TermId, Rc<Column>>>,
}

enum Source {
    /// Values of the variables, in their order.
    Root(Vec<Rc<Column>>),
    /// Some points of another view.
    Child(Rc<View>, Vec<u32>),
}

impl View {
    /// A view of given points; one column per variable.
    pub(crate) fn root(terms: &Terms, vars: Rc<[VarId]>, columns: Vec<Column>) -> View {
        let len = columns.first().map_or(1, Column::len);
        let columns: Vec<Rc<Column>> = columns.into_iter().map(Rc::new).collect();
        let cache = vars.iter().map(|&v| terms.var_term(v)).zip(columns.iter().cloned()).collect();
        View { vars, len, source: Source::Root(columns), columns: RefCell::new(cache) }
    }

    /// The product of views over different variables.
    pub(crate) fn product(terms: &Terms, parts: &[Rc<View>], vars: Rc<[VarId]>) -> View {
        let len: usize = parts.iter().map(|p| p.len).product();
        let mut values: FxHashMap<VarId, Vec<u64>> = FxHashMap::default();
        let mut step = len;
        for part in parts {
            step /= part.len;
            let points: Vec<Model> = (0..part.len).map(|i| part.point(i)).collect();
            for &var in part.vars.iter() {
                let own: Vec<u64> = points.iter().map(|p| p.value(var)).collect();
                values.insert(var, (0..len).map(|i| own[i / step % own.len()]).collect());
            }
        }
        let columns = vars
            .iter()
            .map(|var| {
                let mut column = Column::new();
                column.extend(values.get(var).map_or(&[], Vec::as_slice));
                column
            })
            .collect();
        View::root(terms, vars, columns)
    }

    /// The variables, sorted.
    pub(crate) fn vars(&self) -> &[VarId] {
        &self.vars
    }

    /// Returns the number of points.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// One point as a model.
    pub(crate) fn point(&self, index: usize) -> Model {
        let mut view = self;
        let mut index = index;
        loop {
            match &view.source {
                Source::Child(parent, indices) => {
                    index = indices[index] as usize;
                    view = parent;
                }
                Source::Root(columns) => {
                    let values = columns.iter().map(|c| c.get(index)).collect();
                    return Model::new(self.vars.clone(), values);
                }
            }
        }
    }

    /// At most `limit` points, spread evenly, the first one among them.
    pub(crate) fn sample(&self, limit: usize) -> Vec<Model> {
        let count = self.len.min(limit.max(1));
        (0..count).map(|k| self.point(k * self.len / count)).collect()
    }

    /// The column of a term that is already known here or above.
    fn known(&self, term: TermId) -> Option<Rc<Column>> {
        if let Some(column) = self.columns.borrow().get(&term) {
            return Some(column.clone());
        }
        // Find it above, then gather along the way down.
        let mut chain: Vec<&[u32]> = Vec::new();
        let mut view = self;
        let found = loop {
            let Source::Child(parent, indices) = &view.source else { return None };
            chain.push(indices);
            if let Some(column) = parent.columns.borrow().get(&term) {
                break column.clone();
            }
            view = parent;
        };
        let mut indices: Vec<u32> = chain[0].to_vec();
        for level in &chain[1..] {
            for index in &mut indices {
                *index = level[*index as usize];
            }
        }
        let column = Rc::new(found.gather(&indices));
        self.columns.borrow_mut().insert(term, column.clone());
        Some(column)
    }

    /// Evaluates terms over all points and hands out the values of the roots block by block: `each(start, root, values)`.
    pub(crate) fn evaluate(&self, terms: &Terms, roots: &[TermId], mut each: impl FnMut(usize, usize, &[u64])) {
        let mut inputs: Vec<Rc<Column>> = Vec::new();
        let mut program = TermProgram::new(terms, roots, |term| match self.known(term) {
            Some(column) => {
                inputs.push(column);
                true
            }
            None => false,
        });
        let kept = self.kept(terms, &program);
        let mut kept_columns: Vec<Column> = kept.iter().map(|_| Column::new()).collect();
        let mut constant = vec![0; BLOCK];
        let mut start = 0;
        while start < self.len {
            let count = BLOCK.min(self.len - start);
            for (k, column) in inputs.iter().enumerate() {
                let register = program.inputs[k].1;
                column.load(start, &mut program.register_mut(register)[..count]);
            }
            program.run(count);
            for ((_, register), column) in kept.iter().zip(&mut kept_columns) {
                column.extend(&program.values(*register)[..count]);
            }
            for (k, &root) in roots.iter().enumerate() {
                match program.register_of(root) {
                    Some(register) => each(start, k, &program.values(register)[..count]),
                    None => {
                        constant.fill(terms.as_const(root).unwrap_or(0));
                        each(start, k, &constant[..count]);
                    }
                }
            }
            start += count;
        }
        let mut columns = self.columns.borrow_mut();
        for ((term, _), column) in kept.into_iter().zip(kept_columns) {
            columns.insert(term, Rc::new(column));
        }
    }

    /// Returns the computed terms that are worth a column.
    fn kept(&self, terms: &Terms, program: &TermProgram) -> Vec<(TermId, usize)> {
        if self.len <= MAX_POINTS_FULLY_KEPT {
            return program.computed.clone();
        }
        let mut distance: FxHashMap<TermId, u32> = FxHashMap::default();
        let mut kept = Vec::new();
        for &(term, register) in &program.computed {
            let parts = crate::terms::path_bounds::parts_of(terms.get(term));
            let below = parts.iter().flatten().filter_map(|p| distance.get(p)).max().copied().unwrap_or(0);
            if matches!(terms.get(term), Term::Read { .. }) || below + 1 >= MIN_CHAIN_STEPS {
                kept.push((term, register));
                distance.insert(term, 0);
            } else {
                distance.insert(term, below + 1);
            }
        }
        kept
    }

    /// The points that satisfy all conditions, and the others.
    pub(crate) fn partition(&self, terms: &Terms, conditions: &[TermId]) -> (Vec<u32>, Vec<u32>) {
        let mut with: Vec<u32> = Vec::new();
        let mut without: Vec<u32> = Vec::new();
        let mut all = vec![1u64; BLOCK];
        let last = conditions.len() - 1;
        self.evaluate(terms, conditions, |start, root, values| {
            if root == 0 {
                all[..values.len()].copy_from_slice(values);
            } else {
                all.iter_mut().zip(values).for_each(|(a, &v)| *a &= v);
            }
            if root == last {
                for (i, &holds) in all[..values.len()].iter().enumerate() {
                    let index = (start + i) as u32;
                    if holds == 1 { with.push(index) } else { without.push(index) }
                }
            }
        });
        (with, without)
    }

    /// The distinct values of a term, sorted.
    pub(crate) fn values(&self, terms: &Terms, term: TermId) -> Vec<u64> {
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        self.evaluate(terms, &[term], |_, _, values| seen.extend(values));
        let mut values: Vec<u64> = seen.into_iter().collect();
        values.sort_unstable();
        values
    }

    /// The view of some of the points.
    pub(crate) fn child(self: &Rc<View>, indices: Vec<u32>) -> View {
        View {
            vars: self.vars.clone(),
            len: indices.len(),
            source: Source::Child(self.clone(), indices),
            columns: RefCell::default(),
        }
    }
}
