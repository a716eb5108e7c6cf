//! The verbs, as clap sees them: their names, what they are for, examples.

use crate::plan::args::{Bench, Generate, Run};
use crate::verbs::annotate::Annotate;
use crate::verbs::cache::Cache;
use crate::verbs::cc::Cc;
use crate::verbs::explain::Explain;
use crate::verbs::init::Init;
use crate::verbs::instrument::Instrument;
use crate::verbs::measure::{Measure, Merge};
use crate::verbs::plan_classes::PlanClasses;
use crate::verbs::report::Report;
use crate::verbs::summary::Summary;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Judges tests, and writes the ones that are missing.
#[derive(Parser, Debug)]
#[command(name = "touchstone", version = env!("TOUCHSTONE_VERSION"), about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done; 1 usage or input error; 2 below a threshold; 3 unknowns remain (--strict); \
    4 replay disagreed; 5 the measured command failed; 130 interrupted."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Write tests: by default for MC/DC, compiled and replayed on the real program
    #[command(after_help = "Examples:
  touchstone generate examples/triangle.c                  MC/DC tests for every function of the file
  touchstone generate examples/getorder.c -f getOrder -c paths -D N=6
  touchstone generate examples/max3als.c -f max3Als -c paths --aliases eager
  touchstone generate lib.c -f parse -c paths:3 --len buf=8 --range depth=0..4
  touchstone generate harness.c --entry main               a whole program, inputs by touchstone.h or klee.h
  touchstone generate tool.c --argv 2:4 --stdin 8          its arguments and standard input as inputs
  touchstone generate driver.c --externals named           stop at functions of other files, and name them
  touchstone generate src/a.c -f step -o tests -- -Iinclude -DDEBUG
  touchstone generate src/a.c --emit c,unity               also tests for Unity (cmocka, gtest), in unity/
  touchstone generate task.c --entry main -c branch --emit c,testcomp
  touchstone generate --since main src/*.c                  what a change touches, and whether anybody can tell")]
    Generate(Generate),
    /// Say of every objective whether a test covers it, no test can, or it is not known; writes no tests
    #[command(after_help = "Examples:
  touchstone prove examples/triangle.c -f triangle -c mcdc
  touchstone prove examples/errors.c -c rte")]
    Prove(Generate),
    /// List the objectives of criteria with their ids and places
    #[command(after_help = "Examples:
  touchstone objectives examples/triangle.c -c mcdc,branch
  touchstone objectives examples/max3.c -c wm --format json
  touchstone objectives src/list.c -c state                 what its functions may leave changed")]
    Objectives(Generate),
    /// Print the source with its objectives as labels, for other tools
    #[command(mut_arg("criteria", |arg| arg.default_value("dcc")))]
    #[command(after_help = "Examples:
  touchstone annotate examples/triangle.c > labelled.c       decisions and conditions, as MC/DC is no label
  touchstone annotate examples/max3.c -c wm --style tight")]
    Annotate(Annotate),
    /// Say why an objective is covered, infeasible or unknown, in source terms
    Explain(Explain),
    /// Print the cases of functions: for which inputs each returns what, and what it changes
    #[command(after_help = "Examples:
  touchstone summary examples/triangle.c -f triangle
  touchstone summary src/list.c -f insert --loop-bound 2 --page cases.html")]
    Summary(Summary),
    /// Run a command with probes in all C that it compiles and all Java that it loads, and say what its tests covered
    #[command(after_help = "Examples:
  touchstone measure -c mcdc,state -- make check           state: what tests change and never check
  touchstone measure -c state --suggest -- mvn test        and the assertions that would, as a patch
  touchstone measure -c stmt,branch -o coverage -- sh -c 'cc -o t t.c lib.c && ./t'")]
    Measure(Measure),
    /// Put measurements of several runs or machines together
    #[command(after_help = "Examples:
  touchstone merge unit-tests/ system-tests/ -o all --html site")]
    Merge(Merge),
    /// Compile with probes: in front of a compiler's command
    #[command(after_help = "Examples:
  make CC='touchstone cc gcc'
  TOUCHSTONE_DIR=coverage TOUCHSTONE_CRITERIA=mcdc touchstone cc gcc -O2 -c lib.c")]
    Cc(Cc),
    /// What the agent asks in JVMs that are measured
    #[command(hide = true)]
    PlanClasses(PlanClasses),
    /// Put probes into classes of Java, for programs that no agent comes into
    #[command(after_help = "Examples:
  touchstone instrument target/classes -o probed -c mcdc && java -cp probed:tests com.acme.AllTests
  touchstone merge touchstone-out -o coverage")]
    Instrument(Instrument),
    /// Run a program in the reference interpreter: same output and exit status as the compiled one
    #[command(after_help = "Examples:
  touchstone run examples/primes.c
  touchstone run main.c util.c -I include -- first-argument second
  touchstone run tests/java/Strings.java                  Java: source, a class file or a jar")]
    Run(Run),
    /// Render the last campaign again: terminal, HTML, LCOV, Cobertura, JaCoCo, SARIF, JUnit, badge
    #[command(after_help = "Examples:
  touchstone report                                    what touchstone-out holds, files with most to do first
  touchstone report --html report                      a static site: open report/index.html
  touchstone report out --lcov lcov.info --sarif touchstone.sarif
  touchstone report --since main --fail-under mcdc=90  changed lines only; exit code 2 if below")]
    Report(Report),
    /// Write a touchstone.toml for a project: its sources and what is asked of them
    #[command(after_help = "Examples:
  touchstone init                  from compile_commands.json here or in build/, else from the C files that are here
  touchstone init -p out && touchstone generate")]
    Init(Init),
    /// Show or clear what earlier runs of generate and prove left: results of functions that have not changed since
    #[command(after_help = "Examples:
  touchstone cache                 where it is, how much is in it, and what for
  touchstone cache clear")]
    Cache(Cache),
    /// Run the papers' experiments, ours beside theirs
    #[command(after_help = "Examples:
  touchstone bench            every bench
  touchstone bench paths      all paths and late aliases (figure 9 of the paper)
  touchstone bench labels     label search: paths, direct, tight, idl (table I of the paper)
  touchstone bench mcdc       what tracking MC/DC costs
  touchstone bench interp     the interpreter beside compiled programs
  touchstone bench measure    what probes cost, beside gcov and llvm-cov")]
    Bench(Bench),
    /// Print completions for a shell
    #[command(after_help = "Example:
  touchstone completions bash > ~/.local/share/bash-completion/completions/touchstone")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page a verb to DIR
    Man {
        /// Where to write
        dir: Option<PathBuf>,
    },
}
