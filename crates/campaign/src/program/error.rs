//! Errors: before work starts ([`PlanError`]), when an objective is explained ([`ExplainError`]), and while tests are
//! written and replayed ([`CampaignError`]). Limits of an exploration are no errors: they are part of the results.

use super::reader::ReadError;
use crate::externals::SpecificationError;
use crate::request::OptionsFileError;
use crate::request::OutDirError;
use crate::request::TestForm;
use std::path::PathBuf;
use touchstone_criteria::{Criterion, CriterionParseError};
use touchstone_emit::EmitError;
use touchstone_instrument::{ImportError, MeasurementError};
use touchstone_report::BadExclusion;

/// An error in a request.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Tests cannot be generated for state coverage.
    #[error("state coverage can only be measured: touchstone measure -c state -- COMMAND")]
    State,
    /// The request names no files.
    #[error("no source files are given")]
    NoFiles,
    /// The output directory cannot be written to.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// The program cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The older version has none of the files.
    #[error(
        "{name} has no {}: nothing can be compared\n  \
         help: a file stands there where it stands here, seen from the current directory; or give files of which some were there",
        file.display()
    )]
    NoOldFiles {
        /// The name of the version.
        name: String,
        /// The first file.
        file: PathBuf,
    },
    /// The older version cannot be read.
    #[error("the older version, {name}, can't be read: {source}")]
    OldVersion {
        /// The name of the version.
        name: String,
        /// The cause.
        source: ReadError,
    },
    /// A file for reading the older version cannot be written.
    #[error("can't write to {}: {why}", directory.display())]
    OldFiles {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        why: std::io::Error,
    },
    /// `touchstone.toml` is malformed.
    #[error(transparent)]
    OptionsFile(#[from] OptionsFileError),
    /// A comment with an exclusion is malformed.
    #[error(transparent)]
    Exclusion(#[from] BadExclusion),
    /// No function can be tested.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The framework has no tests of whole programs.
    #[error(
        "--emit {}: tests of a whole program can't be written for this framework\n  \
         help: name functions by -f, or use --emit c, json or testcomp",
        form.word()
    )]
    FrameworkOfProgram {
        /// The framework.
        form: TestForm,
    },
    /// A Test-Comp suite has no tests of functions.
    #[error(
        "--emit testcomp: a Test-Comp suite has the inputs of a whole program\n  \
         help: explore one by --entry main; tests of functions are --emit c, json, unity, cmocka or gtest"
    )]
    TestCompOfFunctions,
    /// The test form belongs to another language.
    #[error("--emit {}: tests of this form are for another language", form.word())]
    FormOfOtherLanguage {
        /// The form.
        form: TestForm,
    },
    /// A length or range has an unknown name.
    #[error("no parameter or global is called `{name}`; check --len and --range")]
    NoSuchInput {
        /// The name.
        name: String,
    },
    /// A function that should create objects does not exist or does not fit.
    #[error("{}: {}", if *returned { "--returned-by" } else { "--initialised-by" }, creator_problem(of_type, function, *returned, *is_known))]
    NoCreator {
        /// The type of the objects.
        of_type: String,
        /// The function.
        function: String,
        /// True if it should return or store the address of an object; otherwise it should initialise one.
        returned: bool,
        /// True if the program has a function of that name.
        is_known: bool,
    },
    /// A helper function, recognised by its name, has the wrong parameters.
    #[error(
        "`{helper}` at {at} must take {} of `{function}` and return a number; rename it if it is not meant for `{function}`",
        takes.text()
    )]
    Signature {
        /// The name of the helper.
        helper: String,
        /// Its position.
        at: String,
        /// The parameters that it must have.
        takes: HelperParameters,
        /// The function that it belongs to.
        function: String,
    },
    /// Preconditions as expressions exist only for C.
    #[error(
        "--pre is for C: in Java, write a method `boolean {function}_pre(...)` with the parameters of `{function}` beside it"
    )]
    PreconditionOfJava {
        /// The method.
        function: String,
    },
    /// The function of a precondition is defined in a header.
    #[error("--pre: `{function}` is not defined in one of the given files but in {file}")]
    PreconditionElsewhere {
        /// The function.
        function: String,
        /// The file that defines it.
        file: String,
    },
    /// A specification of an external function is malformed.
    #[error(transparent)]
    ExternalSpecs(#[from] SpecificationError),
    /// The parameters of a precondition cannot be declared.
    #[error(transparent)]
    Parameters(#[from] EmitError),
    /// A path cannot be made absolute.
    #[error("can't find {}", path.display())]
    NoPath {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A generated file cannot be written.
    #[error("can't write {}", path.display())]
    NotWritten {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The suite to start from does not exist.
    #[error(
        "{} holds no measurement; name a directory that `touchstone measure -o` or `merge -o` wrote",
        directory.display()
    )]
    NoMeasurement {
        /// The directory.
        directory: PathBuf,
    },
    /// The suite was measured for other criteria.
    #[error("{} was not measured for {criterion}: measure again with -c {criterion}", directory.display())]
    NotMeasuredFor {
        /// The directory of the suite.
        directory: PathBuf,
        /// The missing criterion.
        criterion: Criterion,
    },
    /// The suite cannot be read.
    #[error(transparent)]
    Measurement(#[from] MeasurementError),
    /// The coverage file of another tool cannot be read.
    #[error(transparent)]
    Outside(#[from] ImportError),
    /// A function disappeared when the program was read again: a bug in Touchstone.
    #[error("internal: a function got lost")]
    LostFunction,
}

/// The parameters that a precondition or oracle must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HelperParameters {
    /// The parameters of its function.
    Parameters,
    /// The parameters and the result of its function.
    ParametersAndResult,
}

impl HelperParameters {
    fn text(self) -> &'static str {
        match self {
            HelperParameters::Parameters => "the parameters",
            HelperParameters::ParametersAndResult => "the parameters and the result",
        }
    }
}

/// An error in the selection of functions under test.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SubjectError {
    /// Only a whole program has arguments.
    #[error("--argv: only a whole program has arguments\n  help: explore one by --entry main, without -f")]
    ArgumentsOfFunction,
    /// The files define no function.
    #[error("the files define no function; nothing to test")]
    NoFunction,
    /// Several files define a static function of this name.
    #[error(
        "several files define a static `{name}`: give only one of these files ({name} and {})",
        others.join(", ")
    )]
    AmbiguousStatic {
        /// The requested name.
        name: String,
        /// The names of the others.
        others: Vec<String>,
    },
    /// The function is declared but not defined.
    #[error("function `{name}` is declared but not defined in the given files; add the file that defines it")]
    OnlyDeclared {
        /// The requested name.
        name: String,
    },
    /// The function cannot be tested.
    #[error("`{name}` can't be tested: {why}")]
    NotTestable {
        /// The requested name.
        name: String,
        /// The reason.
        why: String,
    },
    /// Several methods have this name.
    #[error("`{name}` may be {}; say which", which.join(" or "))]
    Ambiguous {
        /// The requested name.
        name: String,
        /// The possible methods.
        which: Vec<String>,
    },
    /// No function has this name.
    #[error("there is no function `{name}`{}", others(name, known))]
    Unknown {
        /// The requested name.
        name: String,
        /// The known functions.
        known: Vec<String>,
    },
}

/// The maximum number of names in a message.
const MAX_NAMES_LISTED: usize = 20;

fn others(name: &str, known: &[String]) -> String {
    let last = |name: &str| {
        let plain = name.split('(').next().unwrap_or_default();
        plain.rsplit('.').next().unwrap_or_default().to_lowercase()
    };
    let list = |names: &[&String]| {
        let shown: Vec<&str> = names.iter().take(MAX_NAMES_LISTED).map(|name| name.as_str()).collect();
        let more = names.len().saturating_sub(MAX_NAMES_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    let wanted = last(name);
    let distance = |other: &str| strsim::damerau_levenshtein(&last(other), &wanted);
    let nearest = known.iter().map(|other| distance(other)).min().filter(|distance| *distance <= 2);
    let near: Vec<&String> = known.iter().filter(|other| Some(distance(other)) == nearest).collect();
    match (known.len(), near.as_slice()) {
        (0, _) => ": the files define no function".to_string(),
        (0..=MAX_NAMES_LISTED, _) | (_, []) => {
            format!("; the files define: {}", list(&known.iter().collect::<Vec<_>>()))
        }
        (_, near) => format!("; did you mean {}?", list(near)),
    }
}

/// An error in a question about an objective.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The text is not an id.
    #[error(
        "`{id}` is not the id of an objective; `touchstone objectives` lists them, for example max3.mcdc.1.0a1b2c3d, or max3.mcdc.1 for short"
    )]
    NoId {
        /// The given text.
        id: String,
    },
    /// The criterion of the id is unknown.
    #[error(transparent)]
    Criterion(#[from] CriterionParseError),
    /// The objective is a piece of state.
    #[error(
        "`{id}` is a piece of state: the report of `touchstone measure -c state` says which tests change and check it"
    )]
    State {
        /// The given id.
        id: String,
    },
    /// The function of the id is ambiguous.
    #[error("explain is about one function")]
    SeveralFunctions,
    /// The function has no such objective.
    #[error("`{function}` has no objective `{id}`; `touchstone objectives -c {criterion}` lists them")]
    NoObjective {
        /// The function.
        function: String,
        /// The given id.
        id: String,
        /// The criterion of the id.
        criterion: Criterion,
    },
    /// The request cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// An error that stops a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Tests cannot be written, compiled or replayed.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A file that Touchstone did not write would be overwritten.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// A file cannot be written.
    #[error("can't write {}", path.display())]
    NotWritten {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A sink of the caller failed.
    #[error(transparent)]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

/// Returns the reason why a function cannot create objects.
fn creator_problem(of_type: &str, function: &str, returned: bool, is_known: bool) -> String {
    match (is_known, returned) {
        (false, _) => format!("the program has no function `{function}`"),
        (true, true) => format!(
            "`{function}` neither returns a `{of_type} *` nor stores one through a parameter\n  \
             help: TYPE is the name of a structure, for example queue=queue_create"
        ),
        (true, false) => format!(
            "the first parameter of `{function}` is no `{of_type} *`\n  \
             help: TYPE is the name of a structure, for example queue=queue_init"
        ),
    }
}
