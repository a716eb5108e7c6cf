//! What users should know that is no error, as data. Who shows it decides how.

use std::fmt;
use std::path::PathBuf;

/// What users should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The suite to begin from has the function, compiled otherwise.
    OtherVariant {
        /// Which function.
        function: String,
    },
    /// The suite to begin from does not have the function.
    NotMeasured {
        /// Which function.
        function: String,
    },
    /// There was no time to ask every test what it covers: some say only what they were found for, not all that they cover.
    NotNamed {
        /// Whose tests.
        function: String,
        /// So many
        some: usize,
        /// of so many.
        all: usize,
    },
    /// What nothing kept the replay from.
    Unprotected {
        /// As a sentence.
        told: String,
    },
    /// A source was changed after the coverage to begin from was written.
    ChangedSince {
        /// The coverage.
        suite: PathBuf,
        /// The source.
        file: PathBuf,
    },
    /// The coverage to begin from has no words for some criteria.
    SaysNothing {
        /// The coverage.
        suite: PathBuf,
        /// Which criteria.
        criteria: Vec<String>,
    },
    /// The coverage to begin from has branches, and no conditions.
    OnlySingleConditions {
        /// The coverage.
        suite: PathBuf,
    },
    /// A file that would be written was edited, or is somebody else's.
    FileStays {
        /// Which.
        file: PathBuf,
    },
    /// A file of tests was edited; new ones are in another.
    TestsStay {
        /// Which.
        file: PathBuf,
        /// Where new tests are.
        new_tests: PathBuf,
    },
    /// There is no source: decisions are the compiler's.
    NoSource {
        /// Which function.
        function: String,
        /// How many others.
        others: usize,
    },
    /// Methods of the given classes have other code than the given source.
    SourceDiffers {
        /// How many.
        methods: usize,
    },
    /// Classes can't be loaded.
    Unloadable {
        /// The first one.
        class: String,
        /// Why not.
        why: String,
        /// How many others.
        others: usize,
    },
    /// What a file says of a function changes nothing.
    NotDescribed {
        /// Where it says so.
        place: String,
        /// Which function.
        function: String,
        /// Why.
        why: String,
    },
    /// Whether what a file says of a function has one case for each call was not found out.
    NotChecked {
        /// Where it says so.
        place: String,
        /// Which function.
        function: String,
    },
    /// There is no test because there is no input.
    NothingAllowed {
        /// Which function.
        function: String,
    },
    /// A file of the cache is not what it should be.
    NotOfCache {
        /// Which.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Nothing can be kept for later runs.
    CacheNotWritten {
        /// The directory of the cache.
        directory: PathBuf,
        /// Why.
        why: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::OtherVariant { function } => write!(
                f,
                "the suite was measured on another variant of `{function}`: give the macros of the build (-D, -I)"
            ),
            Notice::NotMeasured { function } => {
                write!(f, "the suite was not measured on `{function}`: its unit was not compiled then")
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
                write!(f, "{} was edited, or is not Touchstone's: it stays as it is", file.display())
            }
            Notice::TestsStay { file, new_tests } => {
                let (file, new_tests) = (file.display(), new_tests.display());
                write!(
                    f,
                    "{file} was edited, or is not Touchstone's: it stays as it is, and new tests are in {new_tests}"
                )
            }
            Notice::NotOfCache { file, why } => {
                write!(f, "{} is ignored as an entry of the cache: {why}", file.display())
            }
            Notice::CacheNotWritten { directory, why } => {
                write!(f, "nothing is kept for later runs in {}: {why}", directory.display())
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
                write!(f, "{place}: what is said of `{function}` is not used: {why}")
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
