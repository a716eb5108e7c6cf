//! Translates options into a request, which is plain data. The environment is read here, and nothing is decided.

use crate::plan::args::{
    Aliases, Compile, DEFAULT_OUT, Emit, EnvironmentOptions, Externals, Generate, Heaps, InputStates, Labels, Malloc,
    Scope, Search, Summaries, Volatile,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use touchstone_campaign::{
    Compilation, Effort, InputAssumptions, ObjectiveScope, Purpose, Regeneration, ReplayMode, Request, Subject,
    TestDestination, TestForm, UnneededTests,
};
use touchstone_criteria::{AssumeOption, Criterion};
use touchstone_engine::SearchOptions;

impl Compile {
    /// Returns the compilation settings, with additional flags of the user.
    pub fn compilation(&self, flags: &[String]) -> Compilation {
        let mut all: Vec<String> = self.define.iter().map(|define| format!("-D{define}")).collect();
        all.extend(self.include.iter().map(|dir| format!("-I{dir}")));
        all.extend(flags.iter().cloned());
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
        let class_path = self.class_path.iter().flat_map(std::env::split_paths).collect();
        Compilation { flags: all, commands: self.commands.clone(), compiler, class_path }
    }
}

impl Generate {
    /// Returns the request of the options.
    pub fn request(&self, purpose: Purpose) -> Request {
        Request {
            files: self.files.clone(),
            out: self.out.clone(),
            // With `-o`, all files go to that directory.
            tests: if self.out == Path::new(DEFAULT_OUT) { TestDestination::Project } else { TestDestination::Output },
            compilation: self.compile.compilation(&self.flags),
            subject: match &self.entry {
                Some(entry) => Subject::Program(entry.clone()),
                None if self.functions.is_empty() => Subject::EveryFunction,
                None => Subject::Functions(self.functions.clone()),
            },
            purpose,
            criteria: if self.criteria.is_empty() { vec![Criterion::standard()] } else { self.criteria.clone() },
            mutators: self.mutators.clone(),
            objectives_of: match self.scope {
                Scope::Own => ObjectiveScope::Own,
                Scope::Callees => ObjectiveScope::Callees,
            },
            on_top_of: self.on_top_of.clone(),
            old: None,
            inputs: self.inputs(),
            effort: self.effort(),
            assume: self.assume.iter().copied().chain(self.environment_inputs.implied_assumptions()).collect(),
            emit: self.emit.iter().map(|emit| test_form(*emit)).collect(),
            replay: match (self.no_replay, self.unsafe_replay) {
                (true, _) => ReplayMode::Off,
                (false, true) => ReplayMode::Unprotected,
                (false, false) => ReplayMode::InSandbox,
            },
            cache: None,
            jobs: self.jobs,
            regeneration: match (self.update, self.resume) {
                (true, _) => Regeneration::Update,
                (false, true) => Regeneration::Resume,
                (false, false) => Regeneration::Plain,
            },
            unneeded: if self.prune { UnneededTests::Pruned } else { UnneededTests::Kept },
            tool: None,
            query_log: None,
            interrupt: Arc::default(),
        }
    }

    /// Returns a request that writes only to a temporary directory, for commands that leave no files.
    pub fn request_in(&self, scratch: &Path) -> Request {
        Request { out: scratch.to_path_buf(), ..self.request(Purpose::Verdicts) }
    }

    fn inputs(&self) -> InputAssumptions {
        InputAssumptions {
            precondition: self.pre.clone(),
            lengths: self.len.iter().cloned().collect(),
            ranges: self.range.iter().cloned().collect(),
            max_objects: self.max_objects,
            grow: self.grow,
            calls: self.calls,
            heaps: match (self.inputs, self.heaps) {
                (InputStates::Api, _) | (_, Heaps::Calls) => touchstone_campaign::HeapChoice::Calls,
                (InputStates::Any, Heaps::Any) => touchstone_campaign::HeapChoice::Any,
            },
            returned_by: self.returned_by.clone(),
            initialised_by: self.initialised_by.clone(),
            strings: self.strings,
            arguments: self.environment_inputs.argv,
            environment_inputs: self.environment_inputs.of_program(),
            external_specs: self.world.clone(),
        }
    }

    fn effort(&self) -> Effort {
        Effort {
            aliases: match self.aliases {
                Aliases::Late => touchstone_engine::Aliases::Late,
                Aliases::Eager => touchstone_engine::Aliases::Eager,
            },
            labels: match self.labels {
                Labels::Direct => touchstone_engine::Labels::Direct,
                Labels::Tight => touchstone_engine::Labels::Tight,
                Labels::Idl => touchstone_engine::Labels::Idl,
            },
            order: self.search.map(|search| match search {
                Search::Nearest => touchstone_engine::Search::Nearest,
                Search::Dfs => touchstone_engine::Search::Dfs,
                Search::Bfs => touchstone_engine::Search::Bfs,
                Search::Random => touchstone_engine::Search::Random,
            }),
            loop_bound: self.loop_bound,
            max_paths: self.max_paths,
            pair_queries: self.pair_queries,
            budget: match self.budget {
                Some(limit) => seconds(limit),
                // A machine that is three times as slow, or as busy, gives the same verdicts.
                None => seconds(self.timeout).map(|limit| limit / 3),
            },
            timeout: seconds(self.timeout),
            memory: (self.memory > 0).then_some(self.memory.saturating_mul(1 << 20)),
            solver_timeout: match self.solver_timeout {
                Some(limit) => seconds(limit),
                // One hard query must leave time for others.
                None => Some(seconds(self.timeout).map_or(MAX_QUERY_TIME, |limit| (limit / 10).min(MAX_QUERY_TIME))),
            },
            steps: self.steps,
            search: self.search_options(),
        }
    }

    fn search_options(&self) -> SearchOptions {
        SearchOptions {
            summaries: match self.summaries {
                Summaries::Auto => touchstone_engine::Summaries::Auto,
                Summaries::On => touchstone_engine::Summaries::On,
                Summaries::Off => touchstone_engine::Summaries::Off,
            },
            depth: self.depth,
            call_depth: self.call_depth,
            max_values: self.max_values,
            seed: self.seed,
        }
    }
}

impl EnvironmentOptions {
    /// Returns the assumptions that the treatment of external functions implies.
    fn implied_assumptions(&self) -> impl Iterator<Item = AssumeOption> {
        let pure = (self.externals == Externals::Pure).then_some(AssumeOption::PureExternals);
        let memory = (self.malloc == Malloc::NeverFails).then_some(AssumeOption::Allocation);
        pure.into_iter().chain(memory)
    }

    /// Returns the settings of the front end.
    fn of_program(&self) -> touchstone_front_c::EnvironmentInputs {
        touchstone_front_c::EnvironmentInputs {
            externals: self.externals != Externals::Named,
            callbacks: true,
            stdin: self.stdin,
            environment: self.env,
            volatile: self.volatile == Volatile::Fresh,
        }
    }
}

fn test_form(emit: Emit) -> TestForm {
    match emit {
        Emit::C => TestForm::C,
        Emit::Json => TestForm::Json,
        Emit::Unity => TestForm::Unity,
        Emit::Cmocka => TestForm::Cmocka,
        Emit::Gtest => TestForm::Gtest,
        Emit::Testcomp => TestForm::TestComp,
        Emit::Junit5 => TestForm::JUnit5,
        Emit::Junit4 => TestForm::JUnit4,
    }
}

/// The default limit of one solver query.
const MAX_QUERY_TIME: Duration = Duration::from_secs(10);

fn seconds(limit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(limit).ok().filter(|limit| !limit.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Parser, ValueEnum};

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        options: Generate,
    }

    fn request(words: &[&str]) -> Request {
        let only = Only::try_parse_from(["generate", "a.c"].iter().chain(words)).expect("options");
        let mut request = only.options.request(Purpose::Tests);
        // The test must not depend on the environment.
        request.compilation.compiler = "cc".to_string();
        request
    }

    #[test]
    fn without_options_the_command_line_asks_for_what_a_library_user_gets_by_default() {
        // Without `-o`, a project decides where its tests go.
        let tests = TestDestination::Project;
        let library = Request { tests, ..Request::new(["a.c".into()], "touchstone-out") };
        assert_eq!(format!("{:?}", request(&[])), format!("{library:?}"));
    }

    #[test]
    fn zero_means_no_limit_and_a_later_range_replaces_an_earlier_one() {
        let asked = request(&["--timeout", "0", "--memory", "0", "--range", "x=1..2", "--range", "x=3..4"]);
        assert_eq!((asked.effort.budget, asked.effort.timeout, asked.effort.memory), (None, None, None));
        assert_eq!(asked.inputs.ranges["x"], (3, 4));
        assert_eq!(request(&["--timeout", "1e300"]).effort.timeout, None);
    }

    #[test]
    fn a_form_of_tests_has_one_name() {
        for emit in Emit::value_variants() {
            let word = emit.to_possible_value().expect("it can be given");
            assert_eq!(word.get_name(), test_form(*emit).word());
        }
    }
}
