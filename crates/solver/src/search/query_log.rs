//! The record of queries that reach the SAT solver: those that neither facts nor models at hand nor guesses answer.
//!
//! To record a query is no work in the sense of `touchstone_base::work_time`, so a log changes no answer.
//!
//! Deliberately not here: files, and the CPU clock, which the log brings.

use std::fmt;
use std::time::Duration;

use touchstone_base::work_time;

use crate::search::answers::Half;
use crate::search::constraint_path::ConstraintGroup;
use crate::search::solver::Solver;
use crate::terms::smt_script::SmtScript;
use crate::terms::term::TermId;
use crate::terms::term_store::Terms;

/// A receiver of hard queries. Solvers of several threads may share it.
pub trait QueryLog: fmt::Debug + Send + Sync {
    /// Returns the CPU time of this thread.
    fn cpu_time(&self) -> Duration;
    /// Takes a query and its answer.
    fn record(&self, query: &LoggedQuery<'_>);
}

/// The answer to a recorded query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Satisfiability {
    /// A model was found and evaluated.
    Sat,
    /// It was proved that there is no model.
    Unsat,
    /// Neither.
    Unknown,
}

impl Satisfiability {
    /// Returns the word of SMT-LIB.
    pub fn word(self) -> &'static str {
        match self {
            Satisfiability::Sat => "sat",
            Satisfiability::Unsat => "unsat",
            Satisfiability::Unknown => "unknown",
        }
    }
}

/// A query that reached the SAT solver.
#[derive(Debug)]
pub struct LoggedQuery<'q> {
    /// The constraints in SMT-LIB.
    pub script: &'q SmtScript,
    /// The answer.
    pub answer: Satisfiability,
    /// The work time from the question to the answer.
    pub work: Duration,
    /// The CPU time from the question to the answer.
    pub cpu: Duration,
}

/// The begin of a query that may have to be recorded.
pub(crate) struct QueryStart {
    sat_calls: u64,
    work: Duration,
    cpu: Duration,
}

impl Solver {
    /// Notes the begin of a query, if queries are recorded.
    pub(crate) fn start_query(&self) -> Option<QueryStart> {
        let log = self.config.query_log.as_ref()?;
        Some(QueryStart { sat_calls: self.sat.calls, work: work_time(), cpu: log.cpu_time() })
    }

    /// Records a query about a group and more conditions, if it reached the SAT solver.
    pub(crate) fn record_query(
        &self,
        start: Option<QueryStart>,
        terms: &Terms,
        base: &ConstraintGroup,
        conditions: &[TermId],
        answer: &Half,
    ) {
        let (Some(start), Some(log)) = (start, &self.config.query_log) else { return };
        if self.sat.calls == start.sat_calls {
            return;
        }
        let (work, cpu) = (work_time() - start.work, log.cpu_time() - start.cpu);
        let answer = match answer {
            Half::ConstraintGroup(_) | Half::Implied => Satisfiability::Sat,
            Half::Infeasible => Satisfiability::Unsat,
            Half::Unknown(_) => Satisfiability::Unknown,
        };
        let constraints: Vec<TermId> = base.constraints.iter().chain(conditions).copied().collect();
        let script = terms.smt_script(&constraints);
        log.record(&LoggedQuery { script: &script, answer, work, cpu });
    }
}
