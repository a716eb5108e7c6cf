//! The questions: branch, assume, check, range, values. How they are answered is in `search`.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use touchstone_base::{Deadline, MemoryLimit, WorkKind, spend};

use rustc_hash::FxHashMap;

use crate::models::guess::Scratch;
use crate::models::model::Model;
use crate::sat::batsat::Sat;
use crate::search::answers::{Half, Split};
use crate::search::constraint_path::{ConstraintGroup, ModelPool, Path};
use crate::search::query_log::QueryLog;
use crate::terms::support::SupportId;
use crate::terms::term::{Op, Term, TermId, VarId};
use crate::terms::term_store::Terms;
use crate::unknown_reason::Why;

/// The maximum number of assignments for which `range` is computed exactly.
const MAX_EXACT_RANGE: usize = 512;

/// The default size of remembered answers, in bytes.
const DEFAULT_REMEMBERED_BYTES: usize = 200 << 20;

/// The limits and options of a solver.
#[derive(Clone, Debug)]
pub struct Config {
    /// The work time of one query.
    pub timeout: Option<Duration>,
    /// The maximum number of SAT conflicts of one query.
    pub conflicts: Option<u64>,
    /// The time by which all queries must have ended.
    pub deadline: Deadline,
    /// Set from outside to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The greatest number of points of a domain that is enumerated; 0: never.
    pub enumeration: usize,
    /// The number of models that a group of constraints keeps.
    pub pool: usize,
    /// The approximate size in bytes at which all remembered answers are dropped.
    pub remembered: usize,
    /// The memory limit of the process, at which long lists of values end.
    pub memory: Option<MemoryLimit>,
    /// Seed of the first guesses.
    pub seed: u64,
    /// Receives the queries that reach the SAT solver.
    pub query_log: Option<Arc<dyn QueryLog>>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            timeout: None,
            conflicts: None,
            deadline: Deadline::NEVER,
            interrupt: None,
            enumeration: 1 << 22,
            pool: 16,
            remembered: DEFAULT_REMEMBERED_BYTES,
            memory: None,
            seed: 0,
            query_log: None,
        }
    }
}

/// The answer to a query.
pub enum Answer {
    /// Satisfiable, by this model; it was evaluated against every constraint.
    Sat(Rc<Model>),
    /// Proved unsatisfiable.
    Unsat,
    /// Neither.
    Unknown(Why),
}

/// One side of a branch.
pub enum Side {
    /// The path goes on here.
    Feasible(Path),
    /// Proved impossible.
    Infeasible,
    /// Neither.
    Unknown(Why),
}

/// Bounds that hold for every value of a term on a path. Over-approximate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least and greatest, unsigned.
    pub unsigned: (u64, u64),
    /// Least and greatest, signed.
    pub signed: (i64, i64),
}

/// The values of a term on a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// Sorted; each is possible.
    pub values: Vec<u64>,
    /// True if there are no others.
    pub complete: bool,
}

/// The statistics of a solver.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stats {
    /// Questions asked: branches, assumptions, checks.
    pub queries: u64,
    /// Calls of the SAT solver.
    pub sat_calls: u64,
    /// Sides of a branch that were feasible by a model at hand.
    pub pool_hits: u64,
    /// Questions answered before, about the same constraints.
    pub cache_hits: u64,
    /// Sides refuted by bounds or orderings.
    pub refuted: u64,
    /// Sides found feasible by a guess.
    pub guesses: u64,
    /// Domains enumerated.
    pub domains: u64,
    /// Alias lemmas told to the SAT solver.
    pub lemmas: u64,
    /// Total time.
    pub seconds: f64,
}

/// Variables and constraints of a group.
pub(crate) type GroupKey = (Rc<[VarId]>, Rc<[TermId]>);

/// The effort that an answer may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SolverEffort {
    /// Whatever the configuration allows.
    Full,
    /// Models at hand, bounds, guesses and small enumerations; the SAT solver is not asked.
    Little,
}

/// Answers questions about paths, and remembers.
pub struct Solver {
    pub(crate) config: Config,
    pub(crate) effort: SolverEffort,
    pub(crate) sat: Sat,
    pub(crate) stats: Stats,
    /// Bytes that the tables hold on to, roughly.
    pub(crate) remembered: usize,
    pub(crate) bases: FxHashMap<(Vec<u64>, SupportId), Rc<ConstraintGroup>>,
    pub(crate) interned: FxHashMap<GroupKey, Rc<ConstraintGroup>>,
    pub(crate) splits: FxHashMap<(u64, TermId), Split>,
    pub(crate) narrowed: FxHashMap<(u64, TermId), Half>,
    pub(crate) scratch: Scratch,
    /// Variables whose enumeration failed, and the size (log 2) of the box that was tried.
    pub(crate) too_large: FxHashMap<Rc<[VarId]>, f64>,
}

impl Solver {
    /// A solver. It belongs to one store of terms: never mix stores.
    pub fn new(config: Config) -> Solver {
        let sat = Sat::new(config.interrupt.clone());
        Solver {
            config,
            effort: SolverEffort::Full,
            sat,
            stats: Stats::default(),
            remembered: 0,
            bases: FxHashMap::default(),
            interned: FxHashMap::default(),
            splits: FxHashMap::default(),
            narrowed: FxHashMap::default(),
            scratch: Scratch::default(),
            too_large: FxHashMap::default(),
        }
    }

    /// Splits a path by a condition (1 bit): the side where it is true, and the side where it is false.
    pub fn branch(&mut self, terms: &mut Terms, path: &Path, cond: TermId) -> (Side, Side) {
        let start = Instant::now();
        self.stats.queries += 1;
        let sides = match terms.as_const(cond) {
            Some(1) => (Side::Feasible(path.clone()), Side::Infeasible),
            Some(_) => (Side::Infeasible, Side::Feasible(path.clone())),
            None => {
                let negated = terms.not(cond);
                let (yes, no) = (conjuncts(terms, cond), conjuncts(terms, negated));
                if yes.len() == 1 && no.len() == 1 {
                    self.branch_atom(terms, path, yes[0], no[0])
                } else {
                    (self.extend(terms, path, yes), self.extend(terms, path, no))
                }
            }
        };
        self.account(start);
        sides
    }

    /// Only the side of a branch where the condition is true.
    pub fn assume(&mut self, terms: &mut Terms, path: &Path, cond: TermId) -> Side {
        let start = Instant::now();
        self.stats.queries += 1;
        let conditions = conjuncts(terms, cond);
        let side = self.extend(terms, path, conditions);
        self.account(start);
        side
    }

    /// Like [`Self::assume`], but gives up where it would take the SAT solver: for what would be nice to know early.
    pub fn assume_easily(&mut self, terms: &mut Terms, path: &Path, cond: TermId) -> Side {
        self.effort = SolverEffort::Little;
        let side = self.assume(terms, path, cond);
        self.effort = SolverEffort::Full;
        side
    }

    /// Returns the path extended by a condition that a model of the path satisfies, without a query, or `None` if the
    /// model violates the condition.
    pub fn follow(&mut self, terms: &mut Terms, path: &Path, cond: TermId, model: &Model) -> Option<Path> {
        if !model.satisfies(terms, cond) {
            return None;
        }
        let mut path = path.clone();
        let conditions = conjuncts(terms, cond);
        for component in components(terms, &path, &conditions) {
            let base = self.base(terms, &path, &component);
            path = path.replacing(self.with_model(terms, &base, &component, model), &component);
        }
        Some(path)
    }

    /// A model of the path and a condition.
    pub fn check(&mut self, terms: &mut Terms, path: &Path, cond: TermId) -> Answer {
        match self.assume(terms, path, cond) {
            Side::Feasible(path) => Answer::Sat(path.model()),
            Side::Infeasible => Answer::Unsat,
            Side::Unknown(why) => Answer::Unknown(why),
        }
    }

    /// Bounds of a term on a path, cheap and sound.
    pub fn range(&mut self, terms: &Terms, path: &Path, term: TermId) -> Range {
        let (groups, free) = path.groups_of(terms.support(term));
        if let ([group], false) = (groups.as_slice(), free)
            && let ModelPool::All(view) = &*group.pool.borrow()
            && view.len() <= MAX_EXACT_RANGE
        {
            return exact_range(terms.width(term), &view.values(terms, term));
        }
        let facts = match groups.as_slice() {
            [] => *terms.facts(term),
            [group] => group.bounds.facts(terms, term),
            [first, rest @ ..] => {
                let mut bounds = first.bounds.clone();
                for group in rest {
                    bounds = bounds.merge(&group.bounds);
                }
                bounds.facts(terms, term)
            }
        };
        Range { unsigned: facts.unsigned, signed: facts.signed }
    }

    /// Returns the number of low bits of a term that are certainly 0: its alignment.
    pub fn known_zero_low_bits(&self, terms: &Terms, term: TermId) -> u32 {
        terms.facts(term).trailing_zeros()
    }

    /// Returns the statistics so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    pub(crate) fn account(&mut self, start: Instant) {
        self.stats.sat_calls = self.sat.calls;
        self.stats.lemmas = self.sat.lemma_count;
        self.stats.seconds += start.elapsed().as_secs_f64();
        spend(WorkKind::Query, 1);
    }

    /// A branch on a condition that is no conjunction either way.
    fn branch_atom(&mut self, terms: &mut Terms, path: &Path, yes: TermId, no: TermId) -> (Side, Side) {
        let base = self.base(terms, path, &[yes]);
        let Split { yes: on_yes, no: on_no } = self.split(terms, &base, yes, no);
        (side(path, on_yes, yes), side(path, on_no, no))
    }

    /// The path with more constraints, each group of them solved on its own.
    pub(crate) fn extend(&mut self, terms: &mut Terms, path: &Path, conditions: Vec<TermId>) -> Side {
        let mut path = path.clone();
        for component in components(terms, &path, &conditions) {
            let base = self.base(terms, &path, &component);
            let outcome = match component.as_slice() {
                [] => continue,
                &[condition] => {
                    if let Some(value) = terms.as_const(condition) {
                        if value == 0 {
                            return Side::Infeasible;
                        }
                        continue;
                    }
                    self.narrow_one(terms, &base, condition)
                }
                many => self.narrow(terms, &base, many),
            };
            match outcome {
                Half::ConstraintGroup(group) => path = path.replacing(group, &component),
                Half::Implied => {
                    for &condition in &component {
                        path = path.noting(condition);
                    }
                }
                Half::Infeasible => return Side::Infeasible,
                Half::Unknown(why) => return Side::Unknown(why),
            }
        }
        Side::Feasible(path)
    }
}

fn exact_range(width: u8, values: &[u64]) -> Range {
    let signed = |v: &u64| crate::terms::semantics::signed(width, *v);
    Range {
        unsigned: (values.first().copied().unwrap_or(0), values.last().copied().unwrap_or(0)),
        signed: (values.iter().map(signed).min().unwrap_or(0), values.iter().map(signed).max().unwrap_or(0)),
    }
}

fn side(path: &Path, outcome: Half, condition: TermId) -> Side {
    match outcome {
        Half::ConstraintGroup(group) => Side::Feasible(path.replacing(group, &[condition])),
        Half::Implied => Side::Feasible(path.noting(condition)),
        Half::Infeasible => Side::Infeasible,
        Half::Unknown(why) => Side::Unknown(why),
    }
}

/// Returns the conjuncts of a condition. A false one is returned alone.
pub(crate) fn conjuncts(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut stack = vec![condition];
    while let Some(term) = stack.pop() {
        match *terms.get(term) {
            Term::Const { value: 1, .. } => {}
            Term::Const { .. } => return vec![term],
            Term::Bin(Op::And, a, b) => stack.extend([b, a]),
            Term::Not(inner) => match *terms.get(inner) {
                Term::Bin(Op::Or, a, b) => {
                    let (a, b) = (terms.not(a), terms.not(b));
                    stack.extend([b, a]);
                }
                _ => parts.push(term),
            },
            _ => parts.push(term),
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    parts.retain(|&part| seen.insert(part));
    parts
}

/// Conditions that share variables or groups of the path, directly or through others, belong together.
fn components(terms: &Terms, path: &Path, conditions: &[TermId]) -> Vec<Vec<TermId>> {
    if let [_] = conditions {
        return vec![conditions.to_vec()];
    }
    let mut parent: Vec<usize> = (0..conditions.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut owners: FxHashMap<(bool, u64), usize> = FxHashMap::default();
    for (index, &condition) in conditions.iter().enumerate() {
        for &var in terms.support(condition) {
            let key = match path.group_of(var) {
                Some(group) => (true, group.id),
                None => (false, touchstone_base::Id::index(var) as u64),
            };
            match owners.get(&key) {
                Some(&other) => {
                    let (a, b) = (root(&mut parent, index), root(&mut parent, other));
                    parent[a.max(b)] = a.min(b);
                }
                None => {
                    owners.insert(key, index);
                }
            }
        }
    }
    let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); conditions.len()];
    for (index, &condition) in conditions.iter().enumerate() {
        parts[root(&mut parent, index)].push(condition);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
