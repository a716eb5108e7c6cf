//! Gates over SAT literals: constant folding, hash-consing, Tseitin clauses. Knows no terms.
//!
//! Every gate's clauses define its output in both directions, so they can stay for good: they never exclude a value of
//! the inputs.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_base::{Deadline, WorkKind, spend};

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};
use rustc_hash::FxHashMap;

use crate::unknown_reason::Why;

/// The limits of a SAT call. The time is checked only now and then, so that the check costs nothing.
#[derive(Default)]
pub(crate) struct SatLimits {
    pub(crate) deadline: Deadline,
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
    pub(crate) conflicts: Option<u64>,
    pub(crate) seen_conflicts: u64,
    /// The average of all calls so far.
    pub(crate) propagations_per_decision: u64,
    ticks: Cell<u32>,
    reason: Cell<Option<Why>>,
}

impl SatLimits {
    /// Returns the reason for which the last call was stopped.
    pub(crate) fn reason(&self) -> Option<Why> {
        self.reason.get()
    }
    /// Sets the reason for which the last call is not continued.
    pub(crate) fn set_reason(&self, why: Why) {
        self.reason.set(Some(why));
    }
    /// Forgets the last call.
    pub(crate) fn restart(&mut self) {
        self.seen_conflicts = 0;
        self.ticks.set(0);
        self.reason.set(None);
    }
}

impl Callbacks for SatLimits {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if matches!(kind, ClauseKind::Learnt) {
            self.seen_conflicts += 1;
            spend(WorkKind::Conflict, 1);
        }
    }
    fn stop(&self) -> bool {
        if self.reason.get().is_some() {
            return true;
        }
        if self.conflicts.is_some_and(|limit| self.seen_conflicts > limit) {
            self.reason.set(Some(Why::Conflicts));
            return true;
        }
        spend(WorkKind::Propagation, self.propagations_per_decision);
        let tick = self.ticks.get();
        self.ticks.set(tick.wrapping_add(1));
        if !tick.is_multiple_of(1024) {
            return false;
        }
        if self.deadline.is_over() {
            self.reason.set(Some(Why::Timeout));
        } else if self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.reason.set(Some(Why::Interrupted));
        }
        self.reason.get().is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
    Majority(Lit, Lit, Lit),
}

/// A growing circuit inside a SAT solver.
pub(crate) struct Circuit {
    pub(crate) solver: Solver<SatLimits>,
    gates: FxHashMap<Gate, Lit>,
    truth: Lit,
    clause: Vec<Lit>,
}

impl Circuit {
    pub(crate) fn new() -> Circuit {
        let mut solver = Solver::new(SolverOpts::default(), SatLimits::default());
        let truth = Lit::new(solver.new_var(lbool::UNDEF, true), true);
        solver.add_clause_reuse(&mut vec![truth]);
        Circuit { solver, gates: FxHashMap::default(), truth, clause: Vec::new() }
    }

    /// The literal that is always true, or its negation.
    pub(crate) fn constant(&self, value: bool) -> Lit {
        if value { self.truth } else { !self.truth }
    }

    /// The constant that a literal is, if it is one.
    pub(crate) fn known(&self, lit: Lit) -> Option<bool> {
        (lit.var() == self.truth.var()).then(|| lit == self.truth)
    }

    /// A free literal; the solver tries false first.
    pub(crate) fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var(lbool::UNDEF, true), true)
    }

    pub(crate) fn clause(&mut self, lits: &[Lit]) {
        self.clause.clear();
        self.clause.extend_from_slice(lits);
        self.solver.add_clause_reuse(&mut self.clause);
    }

    fn gate(&mut self, gate: Gate) -> Lit {
        if let Some(&lit) = self.gates.get(&gate) {
            return lit;
        }
        let out = self.fresh();
        match gate {
            Gate::And(a, b) => {
                self.clause(&[!out, a]);
                self.clause(&[!out, b]);
                self.clause(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
            }
            Gate::Mux(c, a, b) => {
                self.clause(&[!c, !a, out]);
                self.clause(&[!c, a, !out]);
                self.clause(&[c, !b, out]);
                self.clause(&[c, b, !out]);
                self.clause(&[!a, !b, out]);
                self.clause(&[a, b, !out]);
            }
            Gate::Majority(a, b, c) => {
                self.clause(&[!a, !b, out]);
                self.clause(&[!a, !c, out]);
                self.clause(&[!b, !c, out]);
                self.clause(&[a, b, !out]);
                self.clause(&[a, c, !out]);
                self.clause(&[b, c, !out]);
            }
        }
        self.gates.insert(gate, out);
        out
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known(a), self.known(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) | (_, Some(false)) => self.constant(false),
            _ if a == b => a,
            _ if a == !b => self.constant(false),
            _ => self.gate(Gate::And(a.min(b), a.max(b))),
        }
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.known(a), self.known(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) => !b,
            (_, Some(true)) => !a,
            _ if a == b => self.constant(false),
            _ if a == !b => self.constant(true),
            _ => {
                // Signs are pulled out, so that four gates share one.
                let (x, y) = (a.min(!a), b.min(!b));
                let flip = (x != a) != (y != b);
                let out = self.gate(Gate::Xor(x.min(y), x.max(y)));
                if flip { !out } else { out }
            }
        }
    }

    pub(crate) fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        match (self.known(c), self.known(a), self.known(b)) {
            (Some(true), ..) => a,
            (Some(false), ..) => b,
            _ if a == b => a,
            (_, Some(true), _) => self.or(c, b),
            (_, Some(false), _) => self.and(!c, b),
            (_, _, Some(true)) => self.or(!c, a),
            (_, _, Some(false)) => self.and(c, a),
            _ if a == !b => {
                let differs = self.xor(c, a);
                !differs
            }
            _ if c == !c.min(!c) => self.gate(Gate::Mux(!c, b, a)),
            _ => self.gate(Gate::Mux(c, a, b)),
        }
    }

    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        match (self.known(a), self.known(b), self.known(c)) {
            (Some(true), ..) => self.or(b, c),
            (Some(false), ..) => self.and(b, c),
            (_, Some(true), _) => self.or(a, c),
            (_, Some(false), _) => self.and(a, c),
            (_, _, Some(true)) => self.or(a, b),
            (_, _, Some(false)) => self.and(a, b),
            _ if a == b => a,
            _ if a == c => a,
            _ if b == c => b,
            _ if a == !b => c,
            _ if a == !c => b,
            _ if b == !c => a,
            _ => {
                let mut inputs = [a, b, c];
                inputs.sort_unstable();
                self.gate(Gate::Majority(inputs[0], inputs[1], inputs[2]))
            }
        }
    }

    /// Sum and carry of three bits.
    pub(crate) fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        (self.xor(half, c), self.majority(a, b, c))
    }

    /// Only the carry of three bits: at least two of them.
    pub(crate) fn full_adder_carry(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        self.majority(a, b, c)
    }

    /// The conjunction of many literals.
    pub(crate) fn all(&mut self, lits: &[Lit]) -> Lit {
        let mut open: Vec<Lit> = lits.iter().copied().filter(|&l| self.known(l) != Some(true)).collect();
        open.sort_unstable();
        open.dedup();
        if open.iter().any(|&l| self.known(l) == Some(false)) || open.windows(2).any(|w| w[0] == !w[1]) {
            return self.constant(false);
        }
        match *open.as_slice() {
            [] => self.constant(true),
            [a] => a,
            [a, b] => self.and(a, b),
            _ => {
                let out = self.fresh();
                for &lit in &open {
                    self.clause(&[!out, lit]);
                }
                self.clause.clear();
                self.clause.push(out);
                self.clause.extend(open.iter().map(|&l| !l));
                self.solver.add_clause_reuse(&mut self.clause);
                out
            }
        }
    }

    /// The value of a literal in the last model.
    pub(crate) fn value(&self, lit: Lit) -> bool {
        self.solver.value_lit(lit) == lbool::TRUE
    }
}
