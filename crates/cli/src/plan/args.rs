//! The options of the commands that read a program. This file only parses: `request.rs` turns options into a request, and
//! `touchstone_campaign::Plan` resolves it.

use clap::builder::{ArgPredicate, PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use touchstone_campaign::parse_bounds;
use touchstone_criteria::{AssumeOption, Criterion, Mutator};

/// The default output directory.
pub const DEFAULT_OUT: &str = "touchstone-out";

/// The options of compilation.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct Compile {
    /// Define a macro; other compiler flags go after `--`
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Compilation")]
    pub define: Vec<String>,
    /// Add an include directory
    #[arg(short = 'I', value_name = "DIR", help_heading = "Compilation")]
    pub include: Vec<String>,
    /// The directory of compile_commands.json [default: the directory of the sources, its parents, or build/ in one of them]
    #[arg(short = 'p', value_name = "DIR", help_heading = "Compilation")]
    pub commands: Option<PathBuf>,
    /// Java: the class path of the program; its entries are jars, directories of classes or directories of jars, and are not tested
    #[arg(long, visible_alias = "cp", value_name = "PATH", help_heading = "Compilation")]
    pub class_path: Vec<OsString>,
}

/// Returns the help of `-c`: the criteria of the registry, and `others`, which are not in the registry.
pub fn criteria_help(others: &str) -> String {
    let names: Vec<&str> = touchstone_criteria::REGISTRY.iter().map(|criterion| criterion.name()).collect();
    format!("Criteria, separated by commas: {} {others}", names.join(" "))
}

/// The criterion of `generate` by default.
pub const DEFAULT_CRITERION: &str = "mcdc";

/// The criteria of `generate` that are not in the registry.
const PATH_CRITERIA: &str = "paths paths:K block:K";

/// Parses the name of a criterion as a string. Shell completion offers the names of the registry and `others`.
#[derive(Clone)]
pub struct CriterionNames {
    others: &'static str,
}

impl CriterionNames {
    /// A parser whose completions include `others`, separated by spaces.
    pub fn new(others: &'static str) -> CriterionNames {
        CriterionNames { others }
    }
}

impl TypedValueParser for CriterionNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let registered = touchstone_criteria::REGISTRY
            .iter()
            .map(|criterion| PossibleValue::new(criterion.name()).help(criterion.about()));
        // `paths:K` needs a number, so it is not a completion.
        let others =
            self.others.split(' ').filter(|name| !name.is_empty() && !name.contains(':')).map(PossibleValue::new);
        Some(Box::new(registered.chain(others)))
    }
}

fn criterion() -> impl TypedValueParser<Value = Criterion> {
    CriterionNames::new(PATH_CRITERIA).try_map(|name| name.parse::<Criterion>())
}

#[derive(ClapArgs, Debug, Clone)]
pub struct Generate {
    /// The program: C sources; or Java sources, class files, jars, directories, or class names (java.util.TreeMap)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A function to test, or a Java class for all its methods; may be repeated [default: every function in the files]
    #[arg(short, long = "function", value_name = "FUNC")]
    pub functions: Vec<String>,
    #[arg(help = criteria_help(PATH_CRITERIA), value_parser = criterion(), hide_possible_values = true, short, long, default_value = DEFAULT_CRITERION, default_value_if("on_top_of", ArgPredicate::IsPresent, None), value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<Criterion>,
    /// Generate only the tests that an existing suite lacks, by default for all criteria that it was measured for. PATH is
    /// the output directory of `measure`, the JSON of `llvm-cov export` or `gcov --json-format`, or an LCOV tracefile
    #[arg(long, value_name = "PATH")]
    pub on_top_of: Option<PathBuf>,
    /// Impact analysis: cover only what a change since this git revision can affect, and look for inputs on which the versions
    /// differ. Existing tests are run first, as with --update
    #[arg(long, value_name = "REV", conflicts_with = "resume")]
    pub since: Option<String>,
    /// Impact analysis against the older version in DIR, which has the same file paths
    #[arg(long, value_name = "DIR", conflicts_with_all = ["since", "resume"], value_hint = clap::ValueHint::DirPath)]
    pub old: Option<PathBuf>,
    /// Run the existing tests of the output directory first, and report failures with expected and actual values (implied by
    /// --since and --old)
    #[arg(long, conflicts_with = "resume")]
    pub update: bool,
    /// With --since, --old or --update: remove passing tests that no objective of the run needs, and list them
    #[arg(long)]
    pub prune: bool,
    /// Resume an interrupted run: functions that it finished and that have not changed are not explored again
    #[arg(long)]
    pub resume: bool,
    /// The directory of the result cache, or `off` [default: $TOUCHSTONE_CACHE, or touchstone/ in the user's cache directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub cache: Option<PathBuf>,
    /// Explore a whole program, starting at this function
    #[arg(long, value_name = "FUNC", conflicts_with = "functions")]
    pub entry: Option<String>,
    /// The form of the tests; may be repeated or separated by commas
    #[arg(long, value_name = "KIND", default_value = "c", value_delimiter = ',')]
    pub emit: Vec<Emit>,
    /// The output directory
    #[arg(short, long, value_name = "DIR", default_value = DEFAULT_OUT)]
    pub out: PathBuf,
    /// The format of the report on standard output
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: OutputFormat,
    /// Do not compile and replay the tests; coverage is then predicted, not observed
    #[arg(long)]
    pub no_replay: bool,
    /// Replay in the current directory without a sandbox: files that the tested functions delete or write are the real ones
    #[arg(long, conflicts_with = "no_replay")]
    pub unsafe_replay: bool,
    /// Exit with 3 if an objective is unknown
    #[arg(long)]
    pub strict: bool,
    /// List every function, every unknown and infeasible objective, and every row of the truth tables
    #[arg(short, long)]
    pub verbose: bool,
    /// Print only errors on standard error
    #[arg(short, long)]
    pub quiet: bool,

    /// Precondition: a C expression over the parameters
    #[arg(long, value_name = "EXPR", help_heading = "Inputs")]
    pub pre: Option<String>,
    /// The number of elements that a pointer or array parameter points to
    #[arg(long, value_name = "PARAM=N", help_heading = "Inputs", value_parser = parse_length)]
    pub len: Vec<(String, u64)>,
    /// The range of an integer input, or of every element of an array
    #[arg(long, value_name = "PARAM=LO..HI", help_heading = "Inputs", value_parser = parse_range)]
    pub range: Vec<(String, (i128, i128))>,
    /// The maximum number of objects that symbolic pointers materialise on one path [default: 4]
    #[arg(long, value_name = "N", help_heading = "Inputs")]
    pub max_objects: Option<u32>,
    /// The maximum length of input objects without --len: they grow from one element to N while objectives are uncovered and
    /// time is left [default: 16, and 64 while that is quick]
    #[arg(long, value_name = "N", help_heading = "Inputs")]
    pub grow: Option<u64>,
    /// The maximum number of calls in one test, if static variables must hold the effect of earlier calls; 1 for the tested
    /// call alone
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Inputs", value_parser = parse_calls)]
    pub calls: u32,
    /// The states that tests may start from: those that API sequences construct, or any
    #[arg(long, default_value = "any", value_name = "MODE", help_heading = "Inputs")]
    pub inputs: InputStates,
    /// A function that returns a new object of a structure type, or stores its address through a parameter, if names and
    /// types do not tell (also several times)
    #[arg(long, value_name = "TYPE=FUNC", help_heading = "Inputs", value_parser = parse_creator)]
    pub returned_by: Vec<(String, String)>,
    /// A function that initialises the object that its first parameter points to (also several times)
    #[arg(long, value_name = "TYPE=FUNC", help_heading = "Inputs", value_parser = parse_creator)]
    pub initialised_by: Vec<(String, String)>,
    /// Java: the objects that tests may use if API sequences do not cover an objective
    #[arg(long, default_value = "any", value_name = "MODE", help_heading = "Inputs")]
    pub heaps: Heaps,
    /// The maximum length of the strings that character pointers point to, unless --len sets it
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub strings: Option<u32>,
    /// A file with the cases of external functions: guard, result, writes (docs/native.md)
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub world: Vec<PathBuf>,
    #[command(flatten)]
    pub environment_inputs: EnvironmentOptions,

    /// The treatment of memory accesses at a symbolic index
    #[arg(long, default_value = "late", value_name = "MODE", help_heading = "Search")]
    pub aliases: Aliases,
    /// The search for labels
    #[arg(long, default_value = "idl", value_name = "MODE", help_heading = "Search")]
    pub labels: Labels,
    /// The calls that are composed from a summary of the called function instead of explored path by path
    #[arg(long, default_value = "auto", value_name = "WHERE", help_heading = "Search")]
    pub summaries: Summaries,
    /// The search order [default: nearest; dfs for paths]
    #[arg(long, value_name = "ORDER", help_heading = "Search")]
    pub search: Option<Search>,
    /// The mutation operators of wm, separated by commas: ABS AOR ROR COR UOI CRP VRP [default: all]
    #[arg(long, value_name = "NAMES", help_heading = "Search", value_delimiter = ',')]
    pub mutators: Vec<Mutator>,
    /// The functions whose objectives count
    #[arg(long, default_value = "own", value_name = "SCOPE", help_heading = "Search")]
    pub scope: Scope,
    /// The maximum number of iterations each time a loop is entered
    #[arg(long, value_name = "K", help_heading = "Search")]
    pub loop_bound: Option<u32>,
    /// The maximum number of input-dependent branches on a path
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub depth: Option<u32>,
    /// The maximum number of paths for each function
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub max_paths: Option<u64>,
    /// mcdc: the maximum number of solver queries for tests that complete independence pairs; 0 for no such tests [default: 2000
    /// plus twice the number that the objectives took]
    #[arg(long, alias = "pair-questions", value_name = "N", help_heading = "Search")]
    pub pair_queries: Option<u64>,
    /// The work of the search for each function, counted and scaled to CPU seconds, so that verdicts do not depend on the load
    /// of the machine; 0 for no limit [default: a third of --timeout]
    #[arg(long, value_name = "SECS", help_heading = "Search", value_parser = parse_seconds)]
    pub budget: Option<f64>,
    /// Wall-clock seconds for each function, if the machine is too slow for the budget; 0 for no limit. Reducing and naming its
    /// tests may take as long again, reading the source and replay ten times as long plus half a minute
    #[arg(long, value_name = "SECS", default_value_t = 60.0, help_heading = "Search", value_parser = parse_seconds)]
    pub timeout: f64,
    /// Megabytes of memory after which exploration stops; 0 for no limit
    #[arg(long, value_name = "MB", default_value_t = 1900, help_heading = "Search")]
    pub memory: u64,
    /// The work of one solver query, in seconds as for --budget; 0 for no limit [default: a tenth of --timeout, at most 10]
    #[arg(long, value_name = "SECS", help_heading = "Search", value_parser = parse_seconds)]
    pub solver_timeout: Option<f64>,
    /// The maximum depth of the call stack of a path
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Search")]
    pub call_depth: usize,
    /// The maximum number of values to enumerate where a value must be concrete (an index with --aliases eager, the size of a copy)
    #[arg(long, value_name = "N", default_value_t = 4096, help_heading = "Search")]
    pub max_values: usize,
    /// The maximum number of instructions on one path; the first 9 N that depend on no input don't count
    #[arg(long, value_name = "N", default_value_t = 2_000_000, help_heading = "Search")]
    pub steps: u64,
    /// The number of cores to use, for several functions and for one long search; results do not depend on it [default: all]
    #[arg(short, long, value_name = "N", help_heading = "Search", value_parser = parse_jobs)]
    pub jobs: Option<usize>,
    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Search")]
    pub seed: u64,
    /// Write every solver query that reaches the SAT solver to DIR, as an SMT-LIB 2 file with our answer and its cost. The cache
    /// is not used. Only for generate and prove
    #[arg(long, value_name = "DIR", conflicts_with = "resume", help_heading = "Search", value_hint = clap::ValueHint::DirPath)]
    pub dump_queries: Option<PathBuf>,

    /// An assumption that verdicts may rest on; verdicts name it
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Inputs", value_parser = assume())]
    pub assume: Vec<AssumeOption>,

    #[command(flatten)]
    pub outputs: crate::output::outputs::Outputs,
    #[command(flatten)]
    pub compile: Compile,
    /// Flags for the compiler, after `--`
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// The parts of a program's environment that are inputs.
#[derive(ClapArgs, Debug, Clone, Copy)]
pub struct EnvironmentOptions {
    /// The treatment of external functions, of time and of random numbers
    #[arg(long, default_value = "inputs", value_name = "MODE", help_heading = "Inputs")]
    pub externals: Externals,
    /// Use the arguments of a whole program as inputs: at most N arguments of at most LEN characters
    #[arg(long, value_name = "N[:LEN]", help_heading = "Inputs", value_parser = parse_words)]
    pub argv: Option<(u32, u32)>,
    /// Use standard input as an input, of at most N bytes
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub stdin: Option<u32>,
    /// Use environment variables as inputs: unset, or of at most N characters
    #[arg(long, value_name = "N", help_heading = "Inputs", value_parser = parse_size)]
    pub env: Option<u32>,
    /// The failure of allocations in a function under test
    #[arg(long, default_value = "may-fail", value_name = "MODE", help_heading = "Inputs")]
    pub malloc: Malloc,
    /// The value of a volatile read
    #[arg(long, default_value = "memory", value_name = "MODE", help_heading = "Inputs")]
    pub volatile: Volatile,
}

/// Parses an assumption by its name.
fn assume() -> impl TypedValueParser<Value = AssumeOption> {
    use clap::builder::PossibleValuesParser;
    let words = AssumeOption::ALL.map(|assume| PossibleValue::new(assume.word()).help(assume.to_string()));
    let named = |word: String| AssumeOption::ALL.into_iter().find(|assume| assume.word() == word);
    PossibleValuesParser::new(words).map(move |word| named(word).expect("invariant: only these words are taken"))
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heaps {
    /// Only objects that constructors and methods construct
    Calls,
    /// Also objects with arbitrary field values; such a test says that its heap was not shown reachable
    Any,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputStates {
    /// Only states that functions of the program construct, where there are such functions
    Api,
    /// Also objects and private variables with arbitrary values; such a test says that its state was not shown reachable
    Any,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Externals {
    /// The result and every side effect on arguments and globals is an input
    Inputs,
    /// The result is an input; there is no side effect on memory
    Pure,
    /// A path that calls one ends as unknown, with the name of the function
    Named,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malloc {
    /// A test makes an allocation fail if that covers an objective
    MayFail,
    /// The same as `--assume allocation`
    NeverFails,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Volatile {
    /// The value that memory holds, as for any other object
    Memory,
    /// A new input at every read; no test can set it, so such tests skip themselves
    Fresh,
}

#[derive(ClapArgs, Debug)]
pub struct Run {
    /// The program: C sources; or Java sources, class files or jars
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
    /// The benchmark to run [default: all]
    pub name: Option<BenchName>,
    /// The format of the result
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub format: OutputFormat,
    /// Run only the cases that take at most a second
    #[arg(long)]
    pub quick: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum BenchName {
    /// All paths and late aliases
    Paths,
    /// Label search: direct, tight, iterative deletion
    Labels,
    /// The cost of tracking MC/DC
    Mcdc,
    /// The interpreter beside compiled programs
    Interp,
    /// The run-time cost of probes, beside gcov and llvm-cov
    Measure,
    /// The cost of whole commands: many functions, hard queries, long runs
    Cost,
    /// Hard solver queries, beside Z3 and Bitwuzla from PyPI
    Solver,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// Plain C: one file for each function, compiled against the unmodified source
    C,
    /// JSON: one file for each function
    Json,
    /// Unity: one C file for each function, in unity/
    Unity,
    /// cmocka: one C file for each function, in cmocka/
    Cmocka,
    /// GoogleTest: a C file and a .cc file for each function, in gtest/
    Gtest,
    /// Test-Comp: test-suite/ and test-suite.zip with the inputs of a whole program
    Testcomp,
    /// JUnit 5 (Java): one test class for each class under test
    Junit5,
    /// JUnit 4 (Java): one test class for each class under test
    Junit4,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputFormat {
    Text,
    Json,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aliases {
    /// Delay the decision until the solver is asked (one test for each path)
    Late,
    /// Enumerate the values of the index at the access (the baseline)
    Eager,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Labels {
    /// Fork on every label (the baseline)
    Direct,
    /// Ask the solver for inputs at every visit of a label
    Tight,
    /// Ask the solver until a test covers the label (iterative label deletion)
    Idl,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Summaries {
    /// Calls of small functions without loops
    Auto,
    /// All calls that can be composed
    On,
    /// No calls
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
    /// The function under test and all functions that it calls
    Callees,
}

fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".to_string()),
        Ok(jobs) => Ok(jobs),
    }
}

/// The maximum of `--calls`.
const MAX_CALLS: u32 = 64;

fn parse_calls(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(calls) if (1..=MAX_CALLS).contains(&calls) => Ok(calls),
        _ => Err(format!("expected a number of calls, from 1 to {MAX_CALLS}")),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("expected a number of seconds, 0 for no limit".to_string()),
    }
}

/// The maximum length of an input, in bytes or characters.
const MAX_INPUT_BYTES: u32 = 4096;

fn parse_size(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(size) if size <= MAX_INPUT_BYTES => Ok(size),
        _ => Err(format!("expected a number up to {MAX_INPUT_BYTES}")),
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

fn parse_creator(text: &str) -> Result<(String, String), String> {
    let (of_type, function) = text.split_once('=').ok_or("expected TYPE=FUNC, for example queue=queue_create")?;
    Ok((of_type.to_string(), function.to_string()))
}

fn parse_range(text: &str) -> Result<(String, (i128, i128)), String> {
    let (name, range) = text.split_once('=').ok_or("expected PARAM=LO..HI, for example x=-3..10")?;
    Ok((name.to_string(), parse_bounds(range).map_err(|why| why.to_string())?))
}
