//! The last resort: bit-blasting onto an incremental SAT solver, with late aliases.
//!
//! A read is a set of free bits at first. If that is unsatisfiable, so is the query. If not, the values of the input
//! variables are taken from the SAT model and the constraints are evaluated for real; where a read's bits differ from
//! what memory holds there, the lemma `offset == c → read == contents at c` is added and the query is solved again.
//! Lemmas follow from the definition of a read, so they stay for good. A float remainder, which has no circuit, is
//! treated in the same way: told at the arguments of each model that gets it wrong.

use std::rc::Rc;

use batsat::{SolverInterface, lbool};
use rustc_hash::{FxHashMap, FxHashSet};
use touchstone_base::float::{FloatOp, Format, eval};
use touchstone_base::{WorkKind, spend};

use crate::models::model::Model;
use crate::sat::blast::Blaster;
use crate::terms::path_bounds::parts_of;
use crate::terms::term::{Op, Rel, Term, TermId, VarId};
use crate::terms::term_store::Terms;
use crate::unknown_reason::Why;

/// After this many single lemmas for a read, all its offsets are spelled out, if they are few.
const MAX_SINGLE_LEMMAS: usize = 3;
/// The maximum number of offsets that count as few.
const MAX_FEW_OFFSETS: u64 = 128;
/// The maximum number of wrong models if a float remainder is involved.
const MAX_REMAINDER_ROUNDS: u32 = 100;
/// The maximum number of conflicts of the first part of a query. Only between parts the work of the solver is known exactly;
/// each part may have twice as many conflicts as the one before.
const FIRST_PART_CONFLICTS: u64 = 1_000;
/// An instance below this size is never thrown away.
const MIN_DISCARDED_SIZE: usize = 4_000;

pub(crate) enum SatAnswer {
    Sat(Rc<Model>),
    Unsat,
    Unknown(Why),
}

/// The limits of one SAT query.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) conflicts: Option<u64>,
    /// The maximum number of times that lemmas are added.
    pub(crate) rounds: Option<u32>,
    pub(crate) deadline: touchstone_base::Deadline,
}

/// The incremental instance and what has been told to it.
pub(crate) struct Sat {
    blaster: Blaster,
    lemmas: FxHashMap<TermId, Lemmas>,
    interrupt: Option<std::sync::Arc<std::sync::atomic::AtomicBool>>,
    pub(crate) calls: u64,
    pub(crate) lemma_count: u64,
    pub(crate) conflicts: u64,
}

/// The lemmas of one read: the offsets that were instantiated, and the terms for the contents there.
#[derive(Default)]
struct Lemmas {
    offsets: FxHashSet<u64>,
    contents: Vec<TermId>,
}

impl Sat {
    pub(crate) fn new(interrupt: Option<std::sync::Arc<std::sync::atomic::AtomicBool>>) -> Sat {
        Sat { blaster: Blaster::new(), lemmas: FxHashMap::default(), interrupt, calls: 0, lemma_count: 0, conflicts: 0 }
    }

    /// A model of the constraints over the (sorted) variables.
    pub(crate) fn solve(
        &mut self,
        terms: &mut Terms,
        constraints: &[TermId],
        vars: &Rc<[VarId]>,
        budget: Budget,
    ) -> SatAnswer {
        let (mut relevant, size) = self.cone(terms, constraints);
        // The solver assigns all its variables, so an instance full of old business slows every query down.
        if self.blaster.size() > MIN_DISCARDED_SIZE.max(size * 3) {
            self.restart();
        }
        let mut rounds = 0;
        loop {
            let answer = self.call(terms, constraints, budget);
            if answer == lbool::FALSE {
                // What the instance holds is definitions; alone they can not contradict each other.
                if !self.blaster.circuit.solver.is_ok() {
                    debug_assert!(false, "the definitions contradict each other");
                    self.restart();
                    return SatAnswer::Unknown(Why::Internal);
                }
                return SatAnswer::Unsat;
            }
            if answer != lbool::TRUE {
                let why = self.blaster.circuit.solver.cb().reason();
                return SatAnswer::Unknown(why.unwrap_or(Why::Conflicts));
            }
            let values = vars.iter().map(|&var| self.blaster.var_value(terms, var)).collect();
            let model = Model::new(vars.clone(), values);
            if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                return SatAnswer::Sat(Rc::new(model));
            }
            if !self.learn(terms, &relevant, &model) {
                debug_assert!(false, "a SAT model fails evaluation though every read agrees");
                return SatAnswer::Unknown(Why::Internal);
            }
            rounds += 1;
            // Unlike the offsets of a read, the arguments of a remainder never run out.
            let remainder = |&term: &TermId| matches!(terms.get(term), Term::Float(..));
            if rounds > MAX_REMAINDER_ROUNDS && relevant.iter().any(remainder) {
                return SatAnswer::Unknown(Why::Conflicts);
            }
            if budget.rounds.is_some_and(|limit| rounds > limit) {
                return SatAnswer::Unknown(Why::Conflicts);
            }
            if budget.deadline.is_over() {
                return SatAnswer::Unknown(Why::Timeout);
            }
            relevant = self.cone(terms, constraints).0;
        }
    }

    fn restart(&mut self) {
        self.blaster = Blaster::new();
        self.lemmas.clear();
    }

    fn call(&mut self, terms: &Terms, constraints: &[TermId], budget: Budget) -> lbool {
        let assumptions: Vec<_> = constraints.iter().map(|&c| self.blaster.literal(terms, c)).collect();
        let solver = &mut self.blaster.circuit.solver;
        self.calls += 1;
        let (mut left, mut part) = (budget.conflicts, FIRST_PART_CONFLICTS);
        loop {
            let (decisions, propagations) = (solver.num_decisions(), solver.num_propagations());
            let limits = solver.cb_mut();
            limits.restart();
            limits.conflicts = Some(left.map_or(part, |left| left.min(part)));
            limits.deadline = budget.deadline;
            limits.propagations_per_decision = propagations / decisions.max(1);
            limits.interrupt.clone_from(&self.interrupt);
            let answer = solver.solve_limited(&assumptions);
            let limits = solver.cb();
            let spent = (solver.num_decisions() - decisions) * limits.propagations_per_decision;
            spend(WorkKind::Propagation, (solver.num_propagations() - propagations).saturating_sub(spent));
            self.conflicts += limits.seen_conflicts;
            left = left.map(|left| left.saturating_sub(limits.seen_conflicts));
            if answer != lbool::UNDEF || limits.reason() != Some(Why::Conflicts) || left == Some(0) {
                return answer;
            }
            if budget.deadline.is_over() {
                limits.set_reason(Why::Timeout);
                return answer;
            }
            part *= 2;
        }
    }

    /// The reads that the constraints depend on, lowest first, and a measure of the size of it all.
    fn cone(&self, terms: &Terms, constraints: &[TermId]) -> (Vec<TermId>, usize) {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack: Vec<TermId> = constraints.to_vec();
        let mut reads = Vec::new();
        let mut size = 0;
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            let shape = terms.get(term);
            size += gates(shape, usize::from(terms.width(term)));
            if matches!(shape, Term::Read { .. } | Term::Float(FloatOp::Rem, ..)) {
                reads.push(term);
                if let Some(lemmas) = self.lemmas.get(&term) {
                    stack.extend(&lemmas.contents);
                }
            }
            stack.extend(parts_of(shape).into_iter().flatten());
        }
        reads.sort_unstable();
        (reads, size)
    }

    /// Adds lemmas for the reads whose bits are not what memory holds. Says whether there was any.
    fn learn(&mut self, terms: &mut Terms, reads: &[TermId], model: &Model) -> bool {
        let wrong: Vec<TermId> = reads
            .iter()
            .copied()
            .filter(|&read| self.blaster.knows(read) && self.blaster.value(terms, read) != model.eval(terms, read))
            .collect();
        let mut learned = false;
        for read in wrong {
            let offset = match *terms.get(read) {
                Term::Read { offset, .. } => offset,
                Term::Float(op, format, args) => {
                    self.float_lemma(terms, read, op, format, args.map(|arg| model.eval(terms, arg)));
                    learned = true;
                    continue;
                }
                _ => continue,
            };
            let at = model.eval(terms, offset);
            learned |= self.lemma(terms, read, at);
            if self.lemmas.get(&read).is_some_and(|l| l.offsets.len() == MAX_SINGLE_LEMMAS) {
                for at in few_offsets(terms, read) {
                    self.lemma(terms, read, at);
                }
            }
        }
        learned
    }

    /// An operation without a circuit has its result at these arguments.
    fn float_lemma(&mut self, terms: &mut Terms, term: TermId, op: FloatOp, format: Format, values: [u64; 3]) {
        let Term::Float(_, _, args) = *terms.get(term) else { return };
        let mut clause = Vec::new();
        for (&arg, &value) in args.iter().zip(&values).take(op.arity()) {
            let value = terms.constant(terms.width(arg), value);
            let here = terms.eq(arg, value);
            clause.push(!self.blaster.literal(terms, here));
        }
        let result = terms.constant(terms.width(term), eval(op, format, &values));
        let same = terms.eq(term, result);
        clause.push(self.blaster.literal(terms, same));
        self.blaster.circuit.clause(&clause);
        self.lemma_count += 1;
    }

    /// `offset == at → read == contents at at`; at offsets outside of the array one lemma says it for all.
    fn lemma(&mut self, terms: &mut Terms, read: TermId, at: u64) -> bool {
        let Term::Read { array, offset, bytes } = *terms.get(read) else { return false };
        let size = terms.array_size(array);
        let at = at.min(size);
        if !self.lemmas.entry(read).or_default().offsets.insert(at) {
            return false;
        }
        let position = terms.constant(64, at);
        let here = if at == size { terms.cmp(Rel::Ule, position, offset) } else { terms.eq(offset, position) };
        let contents = terms.expand(array, at, bytes);
        let same = terms.eq(read, contents);
        let (here, same) = (self.blaster.literal(terms, here), self.blaster.literal(terms, same));
        self.blaster.circuit.clause(&[!here, same]);
        if let Some(lemmas) = self.lemmas.get_mut(&read) {
            lemmas.contents.push(contents);
        }
        self.lemma_count += 1;
        true
    }
}

/// Roughly how many SAT variables a term takes.
fn gates(term: &Term, width: usize) -> usize {
    match term {
        Term::Bin(Op::Mul, ..) => width * width,
        Term::Bin(Op::UDiv | Op::URem | Op::SDiv | Op::SRem, ..) => 2 * width * width,
        Term::Bin(Op::Shl | Op::LShr | Op::AShr, ..) => 6 * width,
        Term::Bin(Op::Add | Op::Sub, ..) => 3 * width,
        Term::Cmp(..) => 64,
        Term::Float(op, format, _) => {
            let fraction = usize::from(format.fraction_bits());
            match op {
                FloatOp::Mul | FloatOp::Fma => 4 * fraction * fraction,
                FloatOp::Div | FloatOp::Sqrt => 5 * fraction * fraction,
                FloatOp::Rem => width,
                _ => 40 * fraction,
            }
        }
        _ => width,
    }
}

/// All offsets a read can have, if they are few.
fn few_offsets(terms: &Terms, read: TermId) -> Vec<u64> {
    let Term::Read { array, offset, .. } = *terms.get(read) else { return Vec::new() };
    let facts = terms.facts(offset);
    let step = 1u64 << facts.trailing_zeros().min(3);
    let size = terms.array_size(array);
    let last = facts.unsigned.1.min(size.saturating_sub(1));
    let Some(first) = facts.unsigned.0.checked_next_multiple_of(step) else { return Vec::new() };
    if first > last || (last - first) / step > MAX_FEW_OFFSETS {
        return Vec::new();
    }
    (first..=last).step_by(step as usize).collect()
}
