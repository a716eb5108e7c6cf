//! Prefixes: a state as the choices that lead to it. For every example, a search that is cut short at random and goes on from
//! the prefixes of what waited, each in an executor of its own, finds exactly what an uncut search finds.

mod support;

use std::collections::BTreeSet;
use support::examples;
use touchstone_criteria::FunctionResult;
use touchstone_engine::{Aliases, Config, Entry, Event, Prefix, Search, Sink, explore, explore_from, explore_turns};
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_ir::{FuncId, Module};

/// More tests of one function are not compared here.
const MOST_TESTS: u64 = 600;

#[derive(Default)]
struct Paths(Vec<u64>);

impl Sink for Paths {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Test(test) = event {
            self.0.push(test.path);
        }
    }
}

fn lower(files: &[std::path::PathBuf], flags: Vec<String>) -> Module {
    let headers = tempfile::tempdir().expect("a scratch directory");
    write_headers(headers.path()).expect("headers");
    let options = Options { flags, include_dir: Some(headers.path().to_path_buf()), ..Options::default() };
    lower_files(files, &options).expect("examples compile")
}

/// A search that is cut after so many turns: the paths of both halves, and how many prefixes there were.
fn cut(
    module: &Module,
    func: FuncId,
    config: &Config,
    turns: u64,
    name: &str,
) -> (BTreeSet<u64>, usize, FunctionResult) {
    let mut first = Paths::default();
    let (result, prefixes) = explore_turns(module, func, config, &mut first, turns);
    let mut found: BTreeSet<u64> = first.0.into_iter().collect();
    for prefix in &prefixes {
        let text = serde_json::to_string(prefix).expect("a prefix is plain data");
        let prefix: Prefix = serde_json::from_str(&text).expect("and comes back");
        let mut rest = Paths::default();
        let resumed = explore_from(module, func, &prefix, config, &mut rest);
        let resumed = resumed.unwrap_or_else(|lost| panic!("{name} after {turns} turns: {lost}\n{prefix:?}"));
        assert_eq!(resumed.incomplete, Vec::new(), "{name} after {turns} turns");
        found.extend(rest.0);
    }
    (found, prefixes.len(), result)
}

#[test]
fn a_search_that_goes_on_from_prefixes_finds_what_an_uncut_one_finds() {
    let (mut compared, mut followed) = (0, 0);
    for example in examples() {
        for expectation in &example.expectations {
            if expectation.tests > MOST_TESTS {
                continue;
            }
            let module = lower(&example.files, expectation.defines());
            let func = module.function_named(&expectation.function).expect("the function");
            let precondition = format!("{}_pre", expectation.function);
            let precondition = module.function_named(&precondition).map(|_| precondition);
            let name = format!("{} {} {:?}", example.name, expectation.function, expectation.options);
            for (seed, search) in [(1, Search::Dfs), (2, Search::Random), (3, Search::Random)] {
                let config = Config {
                    entry: if expectation.has("--entry") { Entry::Program } else { Entry::Function },
                    aliases: if expectation.has("eager") { Aliases::Eager } else { Aliases::Late },
                    precondition: precondition.clone(),
                    search,
                    seed,
                    ..Config::default()
                };
                let mut all = Paths::default();
                let whole = explore(&module, func, &config, &mut all);
                if !whole.exhaustive {
                    continue;
                }
                let all: BTreeSet<u64> = all.0.into_iter().collect();
                // From the first fork to somewhere in the middle.
                for turns in [0, 1, 2 + seed, 7 * seed, all.len() as u64 / (1 + seed)] {
                    let (found, prefixes, _) = cut(&module, func, &config, turns, &name);
                    assert!(found == all, "{name}: {} paths in pieces, {} in one", found.len(), all.len());
                    followed += prefixes;
                }
                compared += 1;
            }
        }
    }
    assert!(compared >= 30, "only {compared} searches were compared");
    assert!(followed >= 500, "only {followed} prefixes were followed");
}
