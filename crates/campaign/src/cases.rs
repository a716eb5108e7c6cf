//! The cases of functions: for each path its condition and its result.

use crate::plan::Plan;
use crate::program::PlanError;
use crate::request::Request;
use touchstone_engine::{Config, Search, SearchEvent, Sink, SummaryCase, explore};

/// The cases of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCases {
    /// The name of the function.
    pub name: String,
    /// The call: the name of the function with those of its parameters.
    pub call: String,
    /// Conditions that hold in every case: ranges, preconditions.
    pub given: Vec<String>,
    /// One case per path.
    pub cases: Vec<SummaryCase>,
    /// Reasons why there may be more cases, if not all paths were explored.
    pub incomplete: Vec<String>,
}

/// Computes the cases of the functions under test.
pub fn cases(request: &Request) -> Result<Vec<FunctionCases>, PlanError> {
    let plan = Plan::new(request)?;
    Ok(touchstone_base::on_deep_stack(|| {
        plan.tasks
            .iter()
            .map(|task| {
                let module = &plan.program.module;
                let function = &module.functions[task.func];
                let deadline = request.effort.deadline();
                let config = Config { deadline, search: Search::Dfs, oracle: None, ..task.config.clone() };
                let mut found = Collected::default();
                let result = explore(module, task.func, &config, &mut found);
                let told = |paths: &touchstone_criteria::IncompletePaths| {
                    format!("{} at {} ({} paths)", paths.why, paths.span.display(&module.files), paths.count)
                };
                let params: Vec<&str> = function.own_params().iter().map(|param| param.name.as_str()).collect();
                let given = found.common();
                FunctionCases {
                    given,
                    name: function.name.clone(),
                    call: format!("{}({})", function.name, params.join(", ")),
                    cases: found.cases,
                    incomplete: result.incomplete.iter().map(told).collect(),
                }
            })
            .collect()
    }))
}

#[derive(Default)]
struct Collected {
    cases: Vec<SummaryCase>,
}

impl Collected {
    /// Removes the conditions that all cases have in common, and returns them.
    fn common(&mut self) -> Vec<String> {
        let [first, others @ ..] = self.cases.as_slice() else { return Vec::new() };
        if others.is_empty() {
            return Vec::new();
        }
        let common: Vec<String> =
            first.when.iter().filter(|fact| others.iter().all(|case| case.when.contains(fact))).cloned().collect();
        self.cases.iter_mut().for_each(|case| case.when.retain(|fact| !common.contains(fact)));
        common
    }
}

impl Sink for Collected {
    fn event(&mut self, _: SearchEvent<'_>) {}

    fn wants_cases(&self) -> bool {
        true
    }

    fn case(&mut self, case: SummaryCase) {
        self.cases.push(case);
    }
}
