//! The commands of the command line: names, one-line descriptions, examples.

use crate::plan::args::{Bench, Generate, Run};
use crate::verbs::annotate::Annotate;
use crate::verbs::cache::CacheOptions;
use crate::verbs::cc::Cc;
use crate::verbs::explain::Explain;
use crate::verbs::init::InitOptions;
use crate::verbs::instrument::Instrument;
use crate::verbs::measure::{Measure, Merge};
use crate::verbs::plan_classes::PlanClasses;
use crate::verbs::report::Report;
use crate::verbs::summary::Summary;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Generate, measure and prove test coverage for C and Java
#[derive(Parser, Debug)]
#[command(name = "touchstone", version = env!("TOUCHSTONE_VERSION"), about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 success; 1 usage or input error; 2 coverage below a threshold; 3 unknown objectives remain \
    (--strict); 4 a replay disagreed; 5 the measured command failed; 70 internal error; 130 interrupted."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// Let touchstone.toml switch the sandbox off, or pass flags that make the compiler execute or overwrite files
    #[arg(long, global = true)]
    pub trust_config: bool,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Generate tests, compile them and replay them on the real program (default criterion: MC/DC)
    #[command(after_help = "Examples:
  Cover MC/DC in every function of a file:
    touchstone generate examples/triangle.c
  Generate one test for every feasible path of a function:
    touchstone generate examples/getorder.c -f getOrder -c paths -D N=6
  Bound loops, the length of a buffer and the range of a number:
    touchstone generate lib.c -f parse -c paths:3 --len buf=8 --range depth=0..4
  Explore a whole program, with inputs from touchstone.h or klee.h:
    touchstone generate harness.c --entry main
  Use the arguments and the standard input of a program as inputs:
    touchstone generate tool.c --argv 2:4 --stdin 8
  Stop at external functions and name them, instead of stubbing them:
    touchstone generate driver.c --externals named
  Pass flags to the compiler:
    touchstone generate src/a.c -f step -o tests -- -Iinclude -DDEBUG
  Emit tests for Unity as well (also cmocka, gtest, testcomp):
    touchstone generate src/a.c --emit c,unity
  Emit JUnit tests for a Java method:
    touchstone generate src/Triangle.java -f Triangle.classify -c mcdc
  Test the impact of a change, and find inputs on which the versions differ:
    touchstone generate --since main src/*.c")]
    Generate(Generate),
    /// Print a verdict for every objective (covered, infeasible or unknown) without writing tests
    #[command(after_help = "Examples:
  touchstone prove examples/triangle.c -f triangle -c mcdc
  touchstone prove examples/errors.c -c rte")]
    Prove(Generate),
    /// List the objectives of the criteria, with ids and source positions
    #[command(after_help = "Examples:
  touchstone objectives examples/triangle.c -c mcdc,branch
  touchstone objectives examples/max3.c -c wm --format json
  List the state that the functions of a file may modify:
    touchstone objectives src/list.c -c state")]
    Objectives(Generate),
    /// Print the source with its objectives as labels, for other tools
    #[command(mut_arg("criteria", |arg| arg.default_value("dcc")))]
    #[command(after_help = "Examples:
  touchstone annotate examples/triangle.c > labelled.c
  touchstone annotate examples/max3.c -c wm --style tight
MC/DC cannot be written as labels; the default criterion is dcc.")]
    Annotate(Annotate),
    /// Explain why an objective is covered, infeasible or unknown
    Explain(Explain),
    /// Print the summary of a function: its cases, with guard, result and side effects
    #[command(after_help = "Examples:
  touchstone summary examples/triangle.c -f triangle
  touchstone summary src/list.c -f insert --loop-bound 2 --page cases.html")]
    Summary(Summary),
    /// Run a build and its tests with instrumentation, and report what the tests covered
    #[command(after_help = "Examples:
  Measure MC/DC and the state that tests modify but never check:
    touchstone measure -c mcdc,state -- make check
  Suggest the missing assertions as a patch:
    touchstone measure -c state --suggest -- mvn test
  touchstone measure -c stmt,branch -o coverage -- sh -c 'cc -o t t.c lib.c && ./t'")]
    Measure(Measure),
    /// Merge the measurements of several runs or machines
    #[command(after_help = "Examples:
  touchstone merge unit-tests/ system-tests/ -o all --html site")]
    Merge(Merge),
    /// Run a compiler command with instrumentation
    #[command(after_help = "Examples:
  make CC='touchstone cc gcc'
  TOUCHSTONE_DIR=coverage TOUCHSTONE_CRITERIA=mcdc touchstone cc gcc -O2 -c lib.c")]
    Cc(Cc),
    /// Plan the probes of a directory of classes (used by the agent)
    #[command(hide = true)]
    PlanClasses(PlanClasses),
    /// Instrument Java classes offline, for JVMs that cannot load the agent
    #[command(after_help = "Examples:
  touchstone instrument target/classes -o probed -c mcdc
  java -cp probed:tests com.acme.AllTests
  touchstone merge touchstone-out -o coverage")]
    Instrument(Instrument),
    /// Run a program in the reference interpreter
    #[command(after_help = "The output and the exit status are those of the compiled program.

Examples:
  touchstone run examples/primes.c
  touchstone run main.c util.c -I include -- first-argument second
  Java: source files, class files or jars:
    touchstone run tests/java/Strings.java")]
    Run(Run),
    /// Render the last run again: terminal, HTML, LCOV, Cobertura, JaCoCo, SARIF, JUnit, badge
    #[command(after_help = "Examples:
  Print the coverage in touchstone-out, files with the lowest coverage first:
    touchstone report
  Write a static site; open report/index.html:
    touchstone report --html report
  touchstone report out --lcov lcov.info --sarif touchstone.sarif
  Gate a pull request on its changed lines (exit code 2 if below):
    touchstone report --changed-lines main --fail-under mcdc=90")]
    Report(Report),
    /// Write a touchstone.toml for this project
    #[command(
        after_help = "The sources come from compile_commands.json here or in build/, else from the C files below this directory.

Examples:
  touchstone init
  touchstone init -p out && touchstone generate"
    )]
    Init(InitOptions),
    /// Show or clear the cache of results of unchanged functions
    #[command(after_help = "Examples:
  touchstone cache
  touchstone cache clear")]
    Cache(CacheOptions),
    /// Run the experiments of the papers and the project's own benchmarks
    #[command(after_help = "Examples:
  touchstone bench            every benchmark
  touchstone bench paths      all paths and late aliases (figure 9 of the paper)
  touchstone bench labels     label search (table I of the paper)
  touchstone bench mcdc       the cost of tracking MC/DC
  touchstone bench interp     the interpreter beside compiled programs
  touchstone bench measure    the cost of probes, beside gcov and llvm-cov
  touchstone bench solver     hard solver queries, beside Z3 and Bitwuzla")]
    Bench(Bench),
    /// Print completions for a shell
    #[command(after_help = "Example:
  touchstone completions bash > ~/.local/share/bash-completion/completions/touchstone")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page for each command to DIR
    Man {
        /// The directory to write the pages to
        dir: Option<PathBuf>,
    },
}
