//! Why one objective is covered, infeasible or unknown: the same exploration and the same proofs as a campaign's, but for that
//! objective alone, so that it takes less time and never knows less. What it shows of conflicts rests on a search of its own, which proves nothing.
//!
//! Deliberately not here: sentences. Whoever shows an [`Answer`] writes them.

use crate::java::FirstInputs;
use crate::plan::{Material, Task};
use crate::program::Program;
use crate::program::subject;
use crate::program::{ExplainError, PlanError};
use crate::request::Growing;
use crate::request::{Request, Subject};
use crate::stages::call_sequences::sequences;
use crate::stages::conclude::{Asked, conclude};
use crate::stages::explore::Kept;
use crate::stages::grow::grow;
use crate::stages::rounds::Rounds;
use crate::stages::test_coverage::watch_tests;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{
    Assumption, Criterion, GoalId, GoalIndex, IncompletePaths, Objective, Objectives, Status, TestCase, WhyInfeasible,
    WhyUnknown,
};
use touchstone_engine::{Config, Explanation, Goals, MachineTemplates, SeedPool, explore_goals};

/// What is asked, with everything decided.
#[derive(Debug)]
pub struct Question {
    /// The program.
    pub program: Program,
    task: Task,
    timeout: Option<Duration>,
    growing: Option<Growing>,
    calls: u32,
    wanted: Objectives,
    goal: GoalId,
}

/// What there is to say of an objective.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The objective, with its verdict.
    pub objective: Objective,
    /// Why it has it.
    pub why: Why,
}

/// Why an objective has its verdict.
#[derive(Clone, Debug)]
pub enum Why {
    /// This test covers it. None where it counts as covered without one.
    Covered(Option<Box<TestCase>>),
    /// Constants rule it out.
    Constant {
        /// The proof.
        how: WhyInfeasible,
    },
    /// No input can make it happen.
    Infeasible {
        /// The proof.
        how: WhyInfeasible,
        /// What stands in the way.
        conflicts: Explanation,
        /// What the verdict takes for granted.
        assumptions: Vec<Assumption>,
    },
    /// It stands for more than can be searched for.
    TooMuch {
        /// How much.
        why: WhyUnknown,
    },
    /// It may lie on these paths, which were given up.
    Open(Vec<IncompletePaths>),
}

/// The function and the criterion of an id, which may lack the hash at its end: `max3.mcdc.1`.
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

impl Question {
    /// Reads the program and finds the objective. The request's criteria should be those of the campaign that is asked
    /// about: what is wanted besides decides what is explored.
    pub fn new(request: &Request, id: &str) -> Result<Question, ExplainError> {
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
            // A whole program, or one function with the functions that it calls.
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
        let wanted = touchstone_criteria::objectives(&program.module, &task.functions, &criteria, &task.criteria);
        let is_meant = |own: &str| own.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let Some((goal, _)) = wanted.list.iter().find(|(_, objective)| is_meant(&objective.id)) else {
            return Err(ExplainError::NoObjective { function: name, id: id.to_string(), criterion });
        };
        let (timeout, growing, calls) = (request.effort.timeout, request.growing(), request.calls(entry));
        Ok(Question { program, task, timeout, growing, calls, wanted, goal })
    }

    /// Explores and proves as a campaign does, for one objective.
    pub fn answer(&self) -> Answer {
        let (module, func, goal) = (&self.program.module, self.task.func, self.goal);
        let config = self.config();
        let mut wanted = self.wanted.clone();
        let settled = wanted.settled.contains(&goal);
        // Nothing else is looked for.
        wanted.settled.extend(wanted.goals.ids().filter(|other| *other != goal).collect::<Vec<_>>());
        let watch = Rc::new(GoalIndex::new(module, wanted.goals.clone()));
        let goals = Goals { watch: Rc::clone(&watch), closed: wanted.settled.iter().copied().collect() };
        let mut tests = Kept::of(&self.program);
        let mut found = explore_goals(module, func, goals, &config, &mut tests);
        let growing = self.growing.unwrap_or(Growing::NOT);
        let machines = MachineTemplates::of(module);
        let rounds = Rounds {
            module,
            machines: &machines,
            func,
            wanted: &wanted,
            watch: &watch,
            config: &config,
            growing,
            first: FirstInputs::default(),
        };
        let last = match self.growing {
            Some(_) => grow(&rounds, &mut found, &mut SeedPool::default(), &mut tests),
            None => config.clone(),
        };
        let mut proofs = sequences(&self.program, &rounds, &last, self.calls, &mut found, &mut tests);
        watch_tests(module, func, &mut tests.tests, &watch, self.deadline(), &AtomicBool::new(false));
        let asked = Asked { module, func, watch: &watch, config: &config, wanted: &wanted };
        proofs.ask_about_open(&asked, &tests.tests, &found);
        conclude(module, &mut wanted, &tests.tests, &found, &proofs);
        let objective = wanted.list[goal].clone();
        let why = match &objective.status {
            Status::Covered(_) => {
                let test = tests.tests.into_iter().find(|test| test.covers.contains(&goal));
                Why::Covered(test.map(Box::new))
            }
            Status::Infeasible(how) if settled => Why::Constant { how: *how },
            Status::Infeasible(how) => {
                let closed = wanted.goals.ids().filter(|other| *other != goal).collect();
                let goals = Goals { watch, closed };
                let conflicts = touchstone_engine::explain(module, func, goals, &self.config());
                Why::Infeasible { how: *how, conflicts, assumptions: found.result.assumptions }
            }
            Status::Unknown(why) if settled => Why::TooMuch { why: why.clone() },
            Status::Unknown(_) | Status::Uncovered | Status::Unaffected => {
                Why::Open(found.doubted.remove(&goal).unwrap_or(found.result.incomplete))
            }
        };
        Answer { objective, why }
    }

    fn deadline(&self) -> Deadline {
        Deadline::within(self.timeout)
    }

    /// For a search that begins now.
    fn config(&self) -> Config {
        let first_round = self.growing.map_or(Deadline::NEVER, |_| Growing::first_round(self.timeout));
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
