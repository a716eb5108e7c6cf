//! Explains why one objective is covered, infeasible or unknown. The exploration and the proofs are those of a
//! campaign, restricted to that objective, so the answer takes less time and is never less precise. Conflicts come from
//! a separate search, which proves nothing.
//!
//! Deliberately not here: sentences. The caller that shows an [`ExplainedObjective`] writes them.

use crate::java::InitialInputs;
use crate::plan::{Material, Task};
use crate::program::Program;
use crate::program::subject;
use crate::program::{ExplainError, PlanError};
use crate::request::GrowthLimits;
use crate::request::{Effort, Request, Subject};
use crate::stages::call_sequences::sequences;
use crate::stages::conclude::{ProofContext, conclude};
use crate::stages::explore::ExploredTests;
use crate::stages::grow::grow;
use crate::stages::rounds::RoundContext;
use crate::stages::test_coverage::run_for_coverage;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use touchstone_base::Deadline;
use touchstone_criteria::{
    Assumption, Criterion, GoalId, GoalIndex, IncompletePaths, Objective, Objectives, Status, TestCase, WhyInfeasible,
    WhyUnknown,
};
use touchstone_engine::{Config, Explanation, Goals, MachineTemplates, SeedPool, explore_goals};

/// A question about one objective, with all decisions made.
#[derive(Debug)]
pub struct ObjectiveQuestion {
    /// The program.
    pub program: Program,
    task: Task,
    effort: Effort,
    growing: Option<GrowthLimits>,
    calls: u32,
    objectives: Objectives,
    goal: GoalId,
}

/// An objective with the reason for its verdict.
#[derive(Clone, Debug)]
pub struct ExplainedObjective {
    /// The objective, with its verdict.
    pub objective: Objective,
    /// The reason for the verdict.
    pub why: VerdictReason,
}

/// The reason for a verdict.
#[derive(Clone, Debug)]
pub enum VerdictReason {
    /// This test covers it; `None` if it counts as covered without one.
    Covered(Option<Box<TestCase>>),
    /// Constants exclude it.
    Constant {
        /// The kind of proof.
        how: WhyInfeasible,
    },
    /// No input reaches it.
    Infeasible {
        /// The kind of proof.
        how: WhyInfeasible,
        /// Branch conditions that exclude each other.
        conflicts: Explanation,
        /// The assumptions of the verdict.
        assumptions: Vec<Assumption>,
    },
    /// It represents more cases than can be searched for.
    TooMuch {
        /// The bound that it exceeds.
        why: WhyUnknown,
    },
    /// It may lie on one of these paths, which were abandoned.
    Open(Vec<IncompletePaths>),
}

/// Splits an id into function and criterion. The hash at the end may be missing: `max3.mcdc.1`.
fn parts(id: &str) -> Option<(&str, &str)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match id.rsplitn(4, '.').collect::<Vec<_>>()[..] {
        [_, number, criterion, function] if is_number(number) => Some((function, criterion)),
        _ => match id.rsplitn(3, '.').collect::<Vec<_>>()[..] {
            [number, criterion, function] if is_number(number) => Some((function, criterion)),
            _ => None,
        },
    }
}

impl ObjectiveQuestion {
    /// Reads the program and finds the objective. The request's criteria should be those of the campaign in question:
    /// the other objectives influence what is explored.
    pub fn new(request: &Request, id: &str) -> Result<ObjectiveQuestion, ExplainError> {
        let (function, criterion) = parts(id).ok_or_else(|| ExplainError::NoId { id: id.to_string() })?;
        let criterion: Criterion = criterion.parse()?;
        if criterion == Criterion::State {
            return Err(ExplainError::State { id: id.to_string() });
        }
        let mut request = request.clone();
        if !request.criteria.contains(&criterion) {
            request.criteria = vec![criterion];
        }
        let material = Material::read(&request)?;
        let module = &material.program.module;
        let (entry, functions) = subject::resolve(&material.program, &request).map_err(PlanError::from)?;
        let named = functions.iter().copied().find(|id| module.functions[*id].name == function);
        let (entry, func) = match (named, functions.as_slice()) {
            (Some(func), _) => (entry, func),
            // A whole program, or one function with its callees.
            (None, [only]) => (entry, *only),
            (None, _) => {
                let own = Request { subject: Subject::Functions(vec![function.to_string()]), ..request.clone() };
                let (entry, functions) = subject::resolve(&material.program, &own).map_err(PlanError::from)?;
                let &[func] = functions.as_slice() else { return Err(ExplainError::SeveralFunctions) };
                (entry, func)
            }
        };
        let testable = subject::testable(&material.program, &request, vec![func]).map_err(PlanError::from)?;
        let func = testable.first().copied().unwrap_or(func);
        let name = module.functions[func].name.clone();
        let material = material.with_preconditions(&[func])?;
        let task = material.task(&name, entry)?;
        let program = material.program;
        let criteria = request.labellings();
        let objectives = touchstone_criteria::objectives(&program.module, &task.functions, &criteria, &task.criteria);
        let is_meant = |own: &str| own.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let Some((goal, _)) = objectives.list.iter().find(|(_, objective)| is_meant(&objective.id)) else {
            return Err(ExplainError::NoObjective { function: name, id: id.to_string(), criterion });
        };
        let (effort, growing, calls) = (request.effort.clone(), request.growing(), request.calls(entry));
        Ok(ObjectiveQuestion { program, task, effort, growing, calls, objectives, goal })
    }

    /// Explores and proves as a campaign does, for one objective.
    pub fn answer(&self) -> ExplainedObjective {
        let (module, func, goal) = (&self.program.module, self.task.func, self.goal);
        let config = self.config();
        let mut objectives = self.objectives.clone();
        let settled = objectives.settled.contains(&goal);
        // All other goals are closed.
        objectives.settled.extend(objectives.goals.ids().filter(|other| *other != goal).collect::<Vec<_>>());
        let watch = Arc::new(GoalIndex::new(module, objectives.goals.clone()));
        let goals = Goals { watch: Arc::clone(&watch), closed: objectives.settled.iter().copied().collect() };
        let mut tests = ExploredTests::of(&self.program);
        let mut found = explore_goals(module, func, goals, &config, &mut tests);
        let growing = self.growing.unwrap_or(GrowthLimits::NONE);
        let machines = MachineTemplates::of(module);
        let rounds = RoundContext {
            module,
            machines: &machines,
            func,
            objectives: &objectives,
            watch: &watch,
            config: &config,
            growing,
            first: InitialInputs::default(),
        };
        let last = match self.growing {
            Some(_) => grow(&rounds, &mut found, &mut SeedPool::default(), &mut tests),
            None => config.clone(),
        };
        let mut proofs = sequences(&self.program, &rounds, &last, self.calls, &mut found, &mut tests);
        run_for_coverage(module, func, &mut tests.tests, &watch, self.deadline(), &AtomicBool::new(false));
        let asked = ProofContext { module, func, watch: &watch, config: &config, objectives: &objectives };
        proofs.prove_open(&asked, &tests.tests, &found);
        conclude(module, &mut objectives, &tests.tests, &found, &proofs);
        let objective = objectives.list[goal].clone();
        let why = match &objective.status {
            Status::Covered(_) => {
                let test = tests.tests.into_iter().find(|test| test.covers.contains(&goal));
                VerdictReason::Covered(test.map(Box::new))
            }
            Status::Infeasible(how) if settled => VerdictReason::Constant { how: *how },
            Status::Infeasible(how) => {
                let closed = objectives.goals.ids().filter(|other| *other != goal).collect();
                let goals = Goals { watch, closed };
                let conflicts = touchstone_engine::explain(module, func, goals, &self.config());
                VerdictReason::Infeasible { how: *how, conflicts, assumptions: found.result.assumptions }
            }
            Status::Unknown(why) if settled => VerdictReason::TooMuch { why: why.clone() },
            Status::Unknown(_) | Status::Uncovered | Status::Unaffected => {
                VerdictReason::Open(found.doubted.remove(&goal).unwrap_or(found.result.incomplete))
            }
        };
        ExplainedObjective { objective, why }
    }

    fn deadline(&self) -> Deadline {
        self.effort.deadline()
    }

    /// Returns the configuration of a search that starts now.
    fn config(&self) -> Config {
        let first_round = self.growing.map_or(Deadline::NEVER, |_| GrowthLimits::first_round(self.effort.budget));
        Config { deadline: self.deadline(), first_round, ..self.task.config.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_id_is_understood_with_its_hash_and_without_it() {
        assert_eq!(parts("max3.mcdc.1.0a1b2c3d"), Some(("max3", "mcdc")));
        assert_eq!(parts("max3.mcdc.12"), Some(("max3", "mcdc")));
        assert_eq!(parts("a.max3.mcdc.12"), Some(("a.max3", "mcdc")));
        assert_eq!(parts("a.max3.mcdc.12.01234567"), Some(("a.max3", "mcdc")));
        for other in ["", "max3", "max3.mcdc", "max3.mcdc.x", "mcdc.1", "max3.mcdc."] {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
