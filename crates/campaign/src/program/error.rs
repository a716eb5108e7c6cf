//! What can go wrong: before work starts ([`PlanError`]), when something is to be explained ([`ExplainError`]), and while
//! tests are written and replayed ([`CampaignError`]). What an exploration could not do is no error: it is in the results.

use super::reader::ReadError;
use crate::externals::WorldError;
use crate::request::OptionsFileError;
use crate::request::OutDirError;
use crate::request::TestForm;
use std::path::PathBuf;
use touchstone_criteria::{Criterion, CriterionParseError};
use touchstone_emit::EmitError;
use touchstone_instrument::{ImportError, MeasurementError};
use touchstone_report::BadExclusion;

/// Why a request can't be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No test is searched for state.
    #[error("state coverage says what tests check, and is only measured: touchstone measure -c state -- COMMAND")]
    State,
    /// There are no files.
    #[error("no source files are given")]
    NoFiles,
    /// The output directory can't be written to.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// The program can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The older version has none of the files.
    #[error(
        "{name} has no {}: nothing can be compared\n  \
         help: a file stands there where it stands here, seen from the current directory; or give files of which some were there",
        file.display()
    )]
    NoOldFiles {
        /// What the version is called.
        name: String,
        /// The first file.
        file: PathBuf,
    },
    /// The older version can't be read.
    #[error("the older version, {name}, can't be read: {source}")]
    OldVersion {
        /// What it is called.
        name: String,
        /// Why not.
        source: ReadError,
    },
    /// What the older version is read with can't be written.
    #[error("can't write to {}: {why}", directory.display())]
    OldFiles {
        /// Where to.
        directory: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// `touchstone.toml` is wrong.
    #[error(transparent)]
    OptionsFile(#[from] OptionsFileError),
    /// A comment that excludes nothing because it is wrong.
    #[error(transparent)]
    Exclusion(#[from] BadExclusion),
    /// Nothing can be tested.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// There are no tests of a whole program for this framework.
    #[error(
        "--emit {}: tests of a whole program can't be written for this framework\n  \
         help: name functions by -f, or use --emit c, json or testcomp",
        form.word()
    )]
    FrameworkOfProgram {
        /// The framework.
        form: TestForm,
    },
    /// A Test-Comp suite of functions.
    #[error(
        "--emit testcomp: a Test-Comp suite has the inputs of a whole program\n  \
         help: explore one by --entry main; tests of functions are --emit c, json, unity, cmocka or gtest"
    )]
    TestCompOfFunctions,
    /// Tests in another language.
    #[error("--emit {}: tests of this form are for another language", form.word())]
    FormOfOtherLanguage {
        /// The form.
        form: TestForm,
    },
    /// A length or range of nothing.
    #[error("no parameter or global is called `{name}`; check --len and --range")]
    NoSuchInput {
        /// What it is called.
        name: String,
    },
    /// A function beside the one under test has a name with a meaning, and other parameters.
    #[error(
        "`{helper}` at {at} must take {} of `{function}` and return a number; rename it if it is not meant for `{function}`",
        takes.text()
    )]
    Signature {
        /// Its name.
        helper: String,
        /// Where it stands.
        at: String,
        /// What it has to take.
        takes: Takes,
        /// The function that it is for.
        function: String,
    },
    /// A precondition as an expression is C.
    #[error(
        "--pre is for C: in Java, write a method `boolean {function}_pre(...)` with the parameters of `{function}` beside it"
    )]
    PreconditionOfJava {
        /// The method.
        function: String,
    },
    /// A precondition for a function that stands in a header.
    #[error("--pre: `{function}` is not defined in one of the given files but in {file}")]
    PreconditionElsewhere {
        /// The function.
        function: String,
        /// Where it is defined.
        file: String,
    },
    /// What is said of functions that nobody defines is wrong.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The parameters of a precondition can't be written.
    #[error(transparent)]
    Parameters(#[from] EmitError),
    /// A path has no absolute form.
    #[error("can't find {}", path.display())]
    NoPath {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that we make can't be written.
    #[error("can't write {}", path.display())]
    NotWritten {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no suite to begin from.
    #[error(
        "{} holds no measurement; name a directory that `touchstone measure -o` or `merge -o` wrote",
        directory.display()
    )]
    NoMeasurement {
        /// Where it should be.
        directory: PathBuf,
    },
    /// The suite was measured for other criteria.
    #[error("{} was not measured for {criterion}: measure again with -c {criterion}", directory.display())]
    NotMeasuredFor {
        /// The suite.
        directory: PathBuf,
        /// What is asked for.
        criterion: Criterion,
    },
    /// The suite can't be read.
    #[error(transparent)]
    Measurement(#[from] MeasurementError),
    /// Coverage of another tool can't be read.
    #[error(transparent)]
    Outside(#[from] ImportError),
    /// A function is not there any more after the program was read again: a bug of ours.
    #[error("internal: a function got lost")]
    LostFunction,
}

/// What a precondition or oracle has to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// The parameters of its function.
    Parameters,
    /// Its parameters and its result.
    ParametersAndResult,
}

impl Takes {
    fn text(self) -> &'static str {
        match self {
            Takes::Parameters => "the parameters",
            Takes::ParametersAndResult => "the parameters and the result",
        }
    }
}

/// Why there is nothing to test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubjectError {
    /// Only a whole program has arguments.
    #[error("--argv: only a whole program has arguments\n  help: explore one by --entry main, without -f")]
    ArgumentsOfFunction,
    /// There is no function.
    #[error("the files define no function; nothing to test")]
    NoFunction,
    /// Several files have a static function of this name.
    #[error(
        "several files define a static `{name}`: give only one of these files ({name} and {})",
        twins.join(", ")
    )]
    Twins {
        /// What was asked for.
        name: String,
        /// What the others are called.
        twins: Vec<String>,
    },
    /// It is only declared.
    #[error("function `{name}` is declared but not defined in the given files; add the file that defines it")]
    OnlyDeclared {
        /// What was asked for.
        name: String,
    },
    /// Tests of it can't be made.
    #[error("`{name}` can't be tested: {why}")]
    NotTestable {
        /// What was asked for.
        name: String,
        /// Why not.
        why: String,
    },
    /// Several methods have this name.
    #[error("`{name}` may be {}; say which", which.join(" or "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// What it may be.
        which: Vec<String>,
    },
    /// There is none of this name.
    #[error("there is no function `{name}`{}", others(name, known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

/// More names than these nobody reads.
const MOST_NAMES: usize = 20;

fn others(name: &str, known: &[String]) -> String {
    let last = |name: &str| {
        let plain = name.split('(').next().unwrap_or_default();
        plain.rsplit('.').next().unwrap_or_default().to_lowercase()
    };
    let list = |names: &[&String]| {
        let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(|name| name.as_str()).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    let wanted = last(name);
    let distance = |other: &str| strsim::damerau_levenshtein(&last(other), &wanted);
    let nearest = known.iter().map(|other| distance(other)).min().filter(|distance| *distance <= 2);
    let near: Vec<&String> = known.iter().filter(|other| Some(distance(other)) == nearest).collect();
    match (known.len(), near.as_slice()) {
        (0, _) => ": the files define no function".to_string(),
        (0..=MOST_NAMES, _) | (_, []) => format!("; the files define: {}", list(&known.iter().collect::<Vec<_>>())),
        (_, near) => format!("; did you mean {}?", list(near)),
    }
}

/// Why an objective can't be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// It is no id.
    #[error(
        "`{id}` is not the id of an objective; `touchstone objectives` lists them, for example max3.mcdc.1.0a1b2c3d, or max3.mcdc.1 for short"
    )]
    NoId {
        /// What was given.
        id: String,
    },
    /// Its criterion is not known.
    #[error(transparent)]
    Criterion(#[from] CriterionParseError),
    /// It is a piece of state.
    #[error(
        "`{id}` is a piece of state: the report of `touchstone measure -c state` says which tests change and check it"
    )]
    State {
        /// What was given.
        id: String,
    },
    /// It could be in several functions.
    #[error("explain is about one function")]
    SeveralFunctions,
    /// The function has no such objective.
    #[error("`{function}` has no objective `{id}`; `touchstone objectives -c {criterion}` lists them")]
    NoObjective {
        /// The function.
        function: String,
        /// What was given.
        id: String,
        /// Its criterion.
        criterion: Criterion,
    },
    /// The request can't be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Why a campaign could not go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Tests can't be written, compiled or replayed.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A file would be replaced that is not ours.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// A file can't be written.
    #[error("can't write {}", path.display())]
    NotWritten {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A sink of the caller's failed.
    #[error(transparent)]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}
