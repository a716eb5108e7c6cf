//! Remarks for users that are no errors, as data. The caller decides how to show them.

use std::fmt;
use std::path::PathBuf;

/// A remark for users.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The measured suite has the function, compiled with other macros or types.
    OtherVariant {
        /// The name of the function.
        function: String,
    },
    /// The measured suite does not have the function.
    NotMeasured {
        /// The name of the function.
        function: String,
    },
    /// There was no time to determine the coverage of every test: some list only the objectives that they were found
    /// for.
    NotNamed {
        /// The function under test.
        function: String,
        /// The number of tests with incomplete coverage.
        some: usize,
        /// The number of all tests.
        all: usize,
    },
    /// The replay lacked some protection.
    Unprotected {
        /// The missing protection, as a sentence.
        told: String,
    },
    /// A source file is newer than the coverage to start from.
    ChangedSince {
        /// The coverage file.
        suite: PathBuf,
        /// The source file.
        file: PathBuf,
    },
    /// The coverage to start from does not support some criteria.
    SaysNothing {
        /// The coverage file.
        suite: PathBuf,
        /// The unsupported criteria.
        criteria: Vec<String>,
    },
    /// The coverage to start from has branches, but no conditions.
    OnlySingleConditions {
        /// The coverage file.
        suite: PathBuf,
    },
    /// A file that would be written was edited, or was not written by Touchstone.
    FileStays {
        /// The kept file.
        file: PathBuf,
    },
    /// A test file was edited; new tests are in another file.
    TestsStay {
        /// The edited file.
        file: PathBuf,
        /// The file with new tests.
        new_tests: PathBuf,
    },
    /// A decision has no objectives.
    SkippedDecision {
        /// Its position.
        place: String,
        /// The decision.
        text: String,
    },
    /// The source is missing: decisions are those of the compiler.
    NoSource {
        /// The first such function.
        function: String,
        /// The number of other functions.
        others: usize,
    },
    /// Methods of the given classes have other code than the given source.
    SourceDiffers {
        /// The number of methods.
        methods: usize,
    },
    /// Some classes cannot be loaded.
    Unloadable {
        /// The first such class.
        class: String,
        /// The reason.
        why: String,
        /// The number of other classes.
        others: usize,
    },
    /// The specification of a function has no effect.
    NotDescribed {
        /// The position in the specification.
        place: String,
        /// The name of the function.
        function: String,
        /// The reason.
        why: String,
    },
    /// There was no time to check that the specification of a function has exactly one case for each call.
    NotChecked {
        /// The position in the specification.
        place: String,
        /// The name of the function.
        function: String,
    },
    /// A function has no test because preconditions exclude all inputs.
    NothingAllowed {
        /// The name of the function.
        function: String,
    },
    /// A file of the cache is damaged.
    NotOfCache {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// The cache cannot be written.
    CacheNotWritten {
        /// The directory of the cache.
        directory: PathBuf,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::OtherVariant { function } => write!(
                f,
                "the suite was measured on another variant of `{function}`: give the flags of its build: -D and -I, and others such as -std=gnu99 after --"
            ),
            Notice::NotMeasured { function } => {
                write!(
                    f,
                    "the suite was not measured on `{function}`: its file was not compiled or loaded with probes then"
                )
            }
            Notice::NotNamed { function, some, all } => {
                write!(
                    f,
                    "bound --timeout: {some} of {all} tests of `{function}` say only what they were found for, not all that they cover"
                )
            }
            Notice::Unprotected { told } => f.write_str(told),
            Notice::ChangedSince { suite, file } => {
                let (file, suite) = (file.display(), suite.display());
                write!(f, "{file} was changed after {suite} was written: nothing in it counts as covered")
            }
            Notice::SaysNothing { suite, criteria } => {
                let (suite, criteria) = (suite.display(), criteria.join(", "));
                write!(f, "{suite} says nothing about {criteria}: none of these objectives counts as covered")
            }
            Notice::OnlySingleConditions { suite } => write!(
                f,
                "{} has no MC/DC: of mcdc only decisions with one condition can count as covered",
                suite.display()
            ),
            Notice::FileStays { file } => {
                write!(f, "{} was edited, or was not written by Touchstone: it is not overwritten", file.display())
            }
            Notice::TestsStay { file, new_tests } => {
                let (file, new_tests) = (file.display(), new_tests.display());
                write!(
                    f,
                    "{file} was edited, or was not written by Touchstone: it is not overwritten, and new tests are in {new_tests}"
                )
            }
            Notice::NotOfCache { file, why } => {
                write!(f, "{} is ignored as an entry of the cache: {why}", file.display())
            }
            Notice::CacheNotWritten { directory, why } => {
                write!(f, "nothing is kept for later runs in {}: {why}", directory.display())
            }
            Notice::SkippedDecision { place, text } => {
                write!(f, "{place}: the decision `{text}` has no objectives: an operand is not compiled to a jump")
            }
            Notice::NoSource { function, others } => {
                let others = match others {
                    0 => String::new(),
                    others => format!(" and {others} more"),
                };
                write!(
                    f,
                    "no source of `{function}`{others}: decisions are the compiler's, one for each jump of the code"
                )
            }
            Notice::SourceDiffers { methods } => {
                let (what, their) = if *methods == 1 { ("method has", "its") } else { ("methods have", "their") };
                write!(
                    f,
                    "{methods} {what} other code in the given classes than {their} source is compiled to: the given code is used, and its decisions are the compiler's"
                )
            }
            Notice::Unloadable { class, why, others } => {
                let others = match others {
                    0 => String::new(),
                    others => format!(" and {others} more classes"),
                };
                write!(f, "can't load {class} ({why}){others}: left out; --class-path names what they need")
            }
            Notice::NotDescribed { place, function, why } => {
                write!(f, "{place}: the description of `{function}` is ignored: {why}")
            }
            Notice::NotChecked { place, function } => {
                write!(
                    f,
                    "{place}: no time to check that every call of `{function}` has one case: they are taken as they are"
                )
            }
            Notice::NothingAllowed { function } => {
                write!(f, "no input of `{function}` is allowed: its precondition or ranges exclude everything")
            }
        }
    }
}
