//! The static prover may prove only what no test covers: checked on every function of the examples and of the decision
//! functions, for every criterion, against the tests that exploration finds.

use crate::support;

use std::path::PathBuf;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{CriteriaOptions, GoalIndex, REGISTRY, objectives};
use touchstone_engine::{Config, Goals, Search, SearchEvent, Sink, explore_goals, prove_infeasible};

struct Quiet;

impl Sink for Quiet {
    fn event(&mut self, _: SearchEvent<'_>) {}
}

#[test]
fn nothing_that_a_test_covers_is_proved_infeasible() {
    let mut programs: Vec<Vec<PathBuf>> = support::examples().into_iter().map(|example| example.files).collect();
    for entry in std::fs::read_dir(support::root().join("tests/decisions")).expect("tests/decisions") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "c") {
            programs.push(vec![path]);
        }
    }
    // By default, every second program.
    let (step, share) = if support::long() { (1, 100) } else { (2, 50) };
    let (mut functions, mut proved_goals, mut covered_goals) = (0, 0, 0);
    for files in programs.into_iter().step_by(step) {
        let module = support::lowering::lower_once(&files, Vec::new());
        for (func, function) in module.functions.iter() {
            if !function.is_defined() || function.is_library() || function.name == "main" {
                continue;
            }
            let wanted = objectives(&module, &[func], REGISTRY, &CriteriaOptions::default());
            let watch = GoalIndex::new(&module, wanted.goals.clone());
            let config = Config {
                search: Search::Nearest,
                max_paths: Some(60),
                deadline: Deadline::after(Duration::from_millis(300)),
                proof_time: Duration::from_millis(500),
                ..Config::default()
            };
            let goals = Goals { watch: watch.clone().into(), closed: Vec::new() };
            let open = explore_goals(&module, func, goals, &config, &mut Quiet).open;
            let all: Vec<_> = wanted.goals.ids().collect();
            let proved = prove_infeasible(&module, func, &watch, &all, &config);
            for goal in proved.keys() {
                let objective = &wanted.list[*goal];
                assert!(
                    open.contains(goal),
                    "{}: {} is covered but proved infeasible",
                    files[0].display(),
                    objective.id
                );
            }
            functions += 1;
            proved_goals += proved.len();
            covered_goals += all.len() - open.len();
        }
    }
    assert!(
        functions >= share * 80 / 100 && proved_goals >= share * 50 / 100 && covered_goals >= share * 2000 / 100,
        "{functions} {proved_goals} {covered_goals}"
    );
}
