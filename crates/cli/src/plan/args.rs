//! The options of verbs that read a program, as clap sees them. No decisions are made here: the request that they become
//! (`request.rs`) is resolved by `touchstone_campaign::Plan`.

use clap::{Args as ClapArgs, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use touchstone_campaign::parse_bounds;
use touchstone_criteria::{Assume, Criterion, Mutator};

/// Where everything goes, if nobody says where.
pub const DEFAULT_OUT: &str = "touchstone-out";

/// How sources are compiled.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct Compile {
    /// Define a macro (also: flags after `--`)
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Compilation")]
    pub define: Vec<String>,
    /// Add an include directory
    #[arg(short = 'I', value_name = "DIR", help_heading = "Compilation")]
    pub include: Vec<String>,
    /// Directory that holds compile_commands.json [default: the sources' directory, its parents, or build/ there]
    #[arg(short = 'p', value_name = "DIR", help_heading = "Compilation")]
    pub commands: Option<PathBuf>,
    /// Java: what the program needs and is not tested: jars, directories of classes or of jars, separated as on a class path
    #[arg(long, visible_alias = "cp", value_name = "PATH", help_heading = "Compilation")]
    pub class_path: Vec<OsString>,
}

/// What `-c` takes: the registry's criteria, and those that have no objectives.
pub fn criteria_help(others: &str) -> String {
    let names: Vec<&str> = touchstone_criteria::REGISTRY.iter().map(|criterion| criterion.name()).collect();
    format!("Criteria, separated by commas: {} {others}", names.join(" "))
}

#[derive(ClapArgs, Debug, Clone)]
pub struct Generate {
    /// Files of the program: C sources; or Java sources, classes, jars and directories, or names of classes (java.util.TreeMap)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Function to test, or a Java class for all its methods; may be repeated [default: every function that the files define]
    #[arg(short, long = "function", value_name = "FUNC")]
    pub functions: Vec<String>,
    #[arg(help = criteria_help("paths paths:K block:K"), short, long, default_value = "mcdc", value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<Criterion>,
    /// Begin from what a measured suite covers, and add only what is missing: a directory that `measure -o` wrote, the JSON
    /// of `llvm-cov export` or `gcov --json-format`, or an LCOV tracefile
    #[arg(long, value_name = "PATH")]
    pub on_top_of: Option<PathBuf>,
    /// Only what changed since this revision of git, and what that may have an impact on; the rest is unaffected. Tests that are
    /// there are run first, as with --update
    #[arg(long, value_name = "REV", conflicts_with = "resume")]
    pub since: Option<String>,
    /// The same, compared with an older version in this directory, whose files have the same paths
    #[arg(long, value_name = "DIR", conflicts_with_all = ["since", "resume"], value_hint = clap::ValueHint::DirPath)]
    pub old: Option<PathBuf>,
    /// First run the tests that are there already: which still pass, what they expect and get, and what is missing; --since and
    /// --old do so anyway
    #[arg(long, conflicts_with = "resume")]
    pub update: bool,
    /// Go on with a run that was interrupted: what it finished, and what has not changed since, is not explored again
    #[arg(long)]
    pub resume: bool,
    /// Where results are kept for later runs, and found: a directory, or `off` [default: $TOUCHSTONE_CACHE, or touchstone/ in the
    /// user's cache directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
    /// Explore a whole program from this function instead of testing functions
    #[arg(long, value_name = "FUNC", conflicts_with = "functions")]
    pub entry: Option<String>,
    /// What to write; may be repeated or separated by commas
    #[arg(long, value_name = "KIND", default_value = "c", value_delimiter = ',')]
    pub emit: Vec<Emit>,
    /// Where to write
    #[arg(short, long, value_name = "DIR", default_value = DEFAULT_OUT)]
    pub out: PathBuf,
    /// Form of the report on standard output
    #[arg(long, default_value = "text", value_name = "FORM")]
    pub format: Format,
    /// Don't compile and replay the tests
    #[arg(long)]
    pub no_replay: bool,
    /// Replay without a sandbox, in the current directory: what the tested functions remove, write or send is real
    #[arg(long, conflicts_with = "no_replay")]
    pub unsafe_replay: bool,
    /// Exit with 3 if anything stayed unknown
    #[arg(long)]
    pub strict: bool,
    /// In the text report: every truth table with all its rows, every infeasible objective
    #[arg(short, long)]
    pub verbose: bool,
    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Precondition: a C expression over the parameters
    #[arg(long, value_name = "EXPR", help_heading = "Inputs")]
    pub pre: Option<String>,
    /// Elements behind a pointer or array parameter
    #[arg(long, value_name = "PARAM=N", help_heading = "Inputs", value_parser = parse_length)]
    pub len: Vec<(String, u64)>,
    /// Range of an integer input; for an array, of every element
    #[arg(long, value_name = "PARAM=LO..HI", help_heading = "Inputs", value_parser = parse_range)]
    pub range: Vec<(String, (i128, i128))>,
    /// Objects that undecided input pointers may lead to, on one path [default: 4]
    #[arg(long, value_name = "N", help_heading = "Inputs")]
    pub max_objects: Option<u32>,
    /// Where nobody said how long they are, objects behind input pointers grow from one element to at most N while
    /// something is open and time is left; 1 (or 0) for one element [default: 16, and 64 while that is quick]
    #[arg(long, value_name = "N", help_heading = "Inputs")]
    pub grow: Option<u64>,
    /// Where static variables have to hold what earlier calls leave, a test makes at most N calls; 1 for none before the
    /// function's own
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Inputs", value_parser = parse_calls)]
    pub calls: u32,
    /// Java: objects that tests use, where those that calls make leave something open
    #[arg(long, default_value = "any", value_name = "MODE", help_heading = "Inputs")]
    pub heaps: Heaps,
    /// Pointers to characters lead to texts of at most N characters, unless --len says otherwise
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub strings: Option<u32>,
    /// A file that says what functions do that nobody defines, case by case (docs/native.md)
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub world: Vec<PathBuf>,
    #[command(flatten)]
    pub surroundings: Surroundings,

    /// How to treat accesses at an index that depends on inputs
    #[arg(long, default_value = "late", value_name = "MODE", help_heading = "Search")]
    pub aliases: Aliases,
    /// How labels are searched for: fork on them, ask at each visit, or ask until covered
    #[arg(long, default_value = "idl", value_name = "MODE", help_heading = "Search")]
    pub labels: Labels,
    /// Whether all cases of a called function become one term instead of a path for each; verdicts stay the same
    #[arg(long, default_value = "auto", value_name = "WHERE", help_heading = "Search")]
    pub summaries: Summaries,
    /// Which path is followed next [default: nearest; dfs for paths]
    #[arg(long, value_name = "ORDER", help_heading = "Search")]
    pub search: Option<Search>,
    /// Mutation operators for wm, separated by commas: ABS AOR ROR COR UOI CRP VRP [default: all]
    #[arg(long, value_name = "NAMES", help_heading = "Search", value_delimiter = ',')]
    pub mutators: Vec<Mutator>,
    /// Which functions' objectives count
    #[arg(long, default_value = "own", value_name = "SCOPE", help_heading = "Search")]
    pub scope: Scope,
    /// At most so many iterations of each loop entry
    #[arg(long, value_name = "K", help_heading = "Search")]
    pub loop_bound: Option<u32>,
    /// At most so many input-dependent outcomes on a path
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub depth: Option<u32>,
    /// At most so many paths for each function
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub max_paths: Option<u64>,
    /// mcdc: questions to the solver for tests that complete independence pairs; 0 for no such tests
    /// [default: 2000 and twice those that the objectives took]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub pair_questions: Option<u64>,
    /// Seconds of search for each function; naming and choosing its tests may take as long again, and proofs (at most
    /// 5 s); reading the source and replay ten times as long and half a minute. 0 for no limit
    #[arg(long, value_name = "SECS", default_value_t = 60.0, help_heading = "Search", value_parser = parse_seconds)]
    pub timeout: f64,
    /// Megabytes that the process may have before exploration stops; 0 for no limit
    #[arg(long, value_name = "MB", default_value_t = 1900, help_heading = "Search")]
    pub memory: u64,
    /// Seconds for one question to the solver, 0 for no limit; else a tenth of --timeout, and at most 10
    #[arg(long, value_name = "SECS", help_heading = "Search", value_parser = parse_seconds)]
    pub solver_timeout: Option<f64>,
    /// Frames of one path's call stack
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Search")]
    pub call_depth: usize,
    /// Values of one thing that must be fixed on a path (an index in eager mode, the size of a copy)
    #[arg(long, value_name = "N", default_value_t = 4096, help_heading = "Search")]
    pub max_values: usize,
    /// Instructions of one path
    #[arg(long, value_name = "N", default_value_t = 2_000_000, help_heading = "Search")]
    pub steps: u64,
    /// Functions to work on at the same time [default: the number of cores]
    #[arg(short, long, value_name = "N", help_heading = "Search", value_parser = parse_jobs)]
    pub jobs: Option<usize>,
    /// Seed for every free choice
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Search")]
    pub seed: u64,

    /// What verdicts may take for granted; they name it
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Inputs", value_parser = assume())]
    pub assume: Vec<Assume>,

    #[command(flatten)]
    pub outputs: crate::output::outputs::Outputs,
    #[command(flatten)]
    pub compile: Compile,
    /// Flags for the compiler
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// What of a program's surroundings is an input.
#[derive(ClapArgs, Debug, Clone, Copy)]
pub struct Surroundings {
    /// Functions that are called and not defined: what they return and leave behind is an input (and so are time and
    /// chance), or they are named where they are called
    #[arg(long, default_value = "inputs", value_name = "MODE", help_heading = "Inputs")]
    pub externals: Externals,
    /// Arguments of a whole program: at most N words of at most LEN characters
    #[arg(long, value_name = "N[:LEN]", help_heading = "Inputs", value_parser = parse_words)]
    pub argv: Option<(u32, u32)>,
    /// Standard input of at most N bytes
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub stdin: Option<u32>,
    /// Variables of the environment: not set, or at most N characters
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub env: Option<u32>,
    /// Allocations of a function under test: each may fail, or none does
    #[arg(long, default_value = "may-fail", value_name = "MODE", help_heading = "Inputs")]
    pub malloc: Malloc,
    /// Volatile globals and what is volatile behind pointers: what memory holds, or a new input at every read
    #[arg(long, default_value = "memory", value_name = "MODE", help_heading = "Inputs")]
    pub volatile: Volatile,
}

/// What can be assumed, by its word.
fn assume() -> impl clap::builder::TypedValueParser<Value = Assume> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
    let words = Assume::ALL.map(|assume| PossibleValue::new(assume.word()).help(assume.to_string()));
    let named = |word: String| Assume::ALL.into_iter().find(|assume| assume.word() == word);
    PossibleValuesParser::new(words).map(move |word| named(word).expect("invariant: only these words are taken"))
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heaps {
    /// Only those that constructors and methods make
    Calls,
    /// Also objects with whatever their fields hold: such a test says that its heap was not shown reachable
    Any,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Externals {
    /// What it returns, writes through its arguments and leaves in globals is an input
    Inputs,
    /// What it returns is an input; it changes no memory
    Pure,
    /// A path that calls one is given up, with its name
    Named,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malloc {
    /// A test makes it fail where that leads somewhere
    MayFail,
    /// The same as `--assume allocation`
    NeverFails,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Volatile {
    /// Like any other object
    Memory,
    /// Every read is a new input; no test can set these, so such tests skip themselves
    Fresh,
}

#[derive(ClapArgs, Debug)]
pub struct Run {
    /// C source files of the program; or Java source, class files or jars
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compile: Compile,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<String>,
}

#[derive(ClapArgs, Debug)]
pub struct Bench {
    /// Which bench [default: all]
    pub name: Option<BenchName>,
    /// Form of the result
    #[arg(long, default_value = "text", value_name = "FORM")]
    pub format: Format,
    /// Only what takes a second or less
    #[arg(long)]
    pub quick: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum BenchName {
    /// All paths and late aliases
    Paths,
    /// Labels: direct, tight, iterative deletion
    Labels,
    /// What tracking MC/DC costs
    Mcdc,
    /// The interpreter beside compiled programs
    Interp,
    /// What probes cost at run time, beside gcov and llvm-cov
    Measure,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// One C file a function, compiled against the unmodified source
    C,
    /// One JSON file a function
    Json,
    /// Unity: one C file a function, under unity/
    Unity,
    /// cmocka: one C file a function, under cmocka/
    Cmocka,
    /// GoogleTest: a C file and a .cc file a function, under gtest/
    Gtest,
    /// Test-Comp: test-suite/ and test-suite.zip with the inputs of a whole program
    Testcomp,
    /// JUnit 5, for Java: one class for each class under test
    Junit5,
    /// JUnit 4, for Java: the same
    Junit4,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Text,
    Json,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aliases {
    /// Delay the access (one test a path)
    Late,
    /// Fix the index where it is met (the baseline)
    Eager,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Labels {
    /// Fork on every label (the baseline)
    Direct,
    /// Ask for inputs at every visit
    Tight,
    /// Ask until a test covers it
    Idl,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Summaries {
    /// Of small functions without loops
    Auto,
    /// Wherever it can be done
    On,
    /// None
    Off,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    Nearest,
    Dfs,
    Bfs,
    Random,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The function under test
    Own,
    /// The function under test and everything that it calls
    Callees,
}

fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".to_string()),
        Ok(jobs) => Ok(jobs),
    }
}

/// Calls of one test.
const MOST_CALLS: u32 = 64;

fn parse_calls(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(calls) if (1..=MOST_CALLS).contains(&calls) => Ok(calls),
        _ => Err(format!("expected a number of calls, from 1 to {MOST_CALLS}")),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("expected a number of seconds, 0 for no limit".to_string()),
    }
}

/// Bytes or characters that an input can have.
const MOST_BYTES: u32 = 4096;

fn parse_size(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(size) if size <= MOST_BYTES => Ok(size),
        _ => Err(format!("expected a number up to {MOST_BYTES}")),
    }
}

fn parse_words(text: &str) -> Result<(u32, u32), String> {
    let (count, length) = text.split_once(':').unwrap_or((text, "8"));
    let count = count.parse().ok().filter(|count| *count <= 64).ok_or("expected N or N:LEN, with N up to 64 words")?;
    Ok((count, parse_size(length)?))
}

fn parse_length(text: &str) -> Result<(String, u64), String> {
    let (name, count) = text.split_once('=').ok_or("expected PARAM=N, for example buf=8")?;
    let count = count.parse().map_err(|_| format!("`{count}` is not a number of elements"))?;
    Ok((name.to_string(), count))
}

fn parse_range(text: &str) -> Result<(String, (i128, i128)), String> {
    let (name, range) = text.split_once('=').ok_or("expected PARAM=LO..HI, for example x=-3..10")?;
    Ok((name.to_string(), parse_bounds(range).map_err(|why| why.to_string())?))
}
