//! The result of a replay on the real program, and its reasons.

use crate::{GoalId, Outcome};
use touchstone_ir::ErrorKind;

/// The result of a replay on the real program.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Replay {
    /// Not replayed (yet).
    #[default]
    NotRun,
    /// The real program did what was predicted.
    Agreed,
    /// It did something else.
    Disagreed(Disagreement),
    /// It can't be judged: for example an uninitialised read.
    NotCheckable(NotCheckable),
}

touchstone_base::reasons! {
    /// A difference from the prediction. Positions and messages are data.
    #[derive(Clone, PartialEq, Debug, thiserror::Error)]
    pub enum Disagreement {
        /// The reference interpreter does not reach what the engine reached.
        #[error("the reference interpreter does not reach an objective that the engine reached")]
        "goal_not_reached" => GoalNotReached(GoalId),
        /// The reference interpreter could not run it to an end: what stopped it.
        #[error("the reference interpreter stopped: {0}")]
        "interpreter_stopped" => InterpreterStopped(String),
        /// The reference interpreter ended in another way than the engine.
        #[error("the reference interpreter ended with {0}, the engine with {1}")]
        "interpreter_ended_otherwise" => InterpreterEndedOtherwise(Outcome, Outcome),
        /// The reference interpreter took another path.
        #[error("the reference interpreter took another path")]
        "interpreter_took_another_path" => InterpreterTookAnotherPath,
        /// The reference interpreter returned something else than the engine.
        #[error("the reference interpreter returned {0}, the engine {1}")]
        "interpreter_returned_otherwise" => InterpreterReturnedOtherwise(u64, u64),
        /// The oracle should have rejected the result.
        #[error("expected the oracle to reject the result, but it accepted")]
        "oracle_accepted" => OracleAccepted,
        /// A check of the test failed, and what the test said.
        #[error("{0}")]
        "check_failed" => CheckFailed(String),
        /// An error was expected, and the run did not get to it.
        #[error("expected {0}; {1}")]
        "error_not_reached" => ErrorNotReached(ErrorKind, String),
        /// An error was expected at a place, and another was reported.
        #[error("expected {0} at {1}, but got {2}")]
        "other_error" => OtherError(ErrorKind, String, String),
        /// An error was expected at a place, and it happened in another line.
        #[error("expected {0} at {1}, but it happened in line {2}")]
        "other_line" => OtherLine(ErrorKind, String, u32),
        /// An error was expected at a place, and the run ended in another way.
        #[error("expected {0} at {1}, but the run ended with: {2}")]
        "other_end" => OtherEnd(ErrorKind, String, String),
        /// The test program ended before this test.
        #[error("the test program ended before it got to this test")]
        "not_reached" => NotReached,
    }
}

touchstone_base::reasons! {
    /// The reason why a test cannot be checked on the real program.
    #[derive(Clone, PartialEq, Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
    pub enum NotCheckable {
        /// Each read of a volatile object is an input.
        #[error("it depends on what a volatile object holds at each read, which no test can set")]
        "volatile" => Volatile,
        /// The machine traps, or has another value, where the model has one.
        #[error("it computes what C leaves undefined (the least number divided by -1, the leading zeros of 0): machines trap or differ")]
        "traps" => Traps,
        /// The test can't be written, and why.
        #[error("{0}")]
        "not_written" => NotWritten(String),
        /// It did what the sandbox forbids, and what that was.
        #[error("{0}")]
        "sandbox" => Sandbox(String),
        /// A system call that the sandbox forbids, and can't name.
        #[error("makes a system call that the sandbox does not allow")]
        "system_call" => SystemCall,
        /// No sandbox protects files on this machine, and the user did not ask for a replay without one.
        #[error("no sandbox works on this machine; --unsafe-replay runs tests without one")]
        "no_sandbox" => NoSandbox,
        /// Nothing detects an uninitialised read.
        #[error("the replay can't see reads of uninitialised memory")]
        "uninitialised" => Uninitialised,
        /// The sanitizers let the access pass and report something later.
        #[error("the sanitizers missed the access and report {0} later")]
        "reported_later" => ReportedLater(String),
        /// Nothing shows this kind of error.
        #[error("the replay can't see this: {0}")]
        "invisible_error" => InvisibleError(ErrorKind),
        /// Only sanitizers show this kind of error, and the compiler has none.
        #[error("the compiler has no sanitizers, without them nothing shows: {0}")]
        "no_sanitizers" => NoSanitizers(ErrorKind),
        /// The access may have hit other memory.
        #[error("the sanitizers report nothing; the access may have hit other valid memory")]
        "not_reported" => NotReported,
        /// A function that the model knows is in no file that tests are linked with; what the run said.
        #[error("{0}")]
        "undefined_function" => UndefinedFunction(String),
        /// The test does not compile, and what the compiler said.
        #[error("it does not compile: {0}")]
        "test_does_not_compile" => TestDoesNotCompile(String),
        /// The program does not compile, and what the compiler said.
        #[error("the program does not compile: {0}")]
        "program_does_not_compile" => ProgramDoesNotCompile(String),
        /// The tests and the program don't link, and what the linker said.
        #[error("the tests can't be linked: {0}")]
        "not_linked" => NotLinked(String),
        /// No time was left.
        #[error("bound --timeout: the time for replay is over")]
        "timeout" => Timeout,
        /// The runner gave up, and what it said.
        #[error("{0}")]
        "runner_gave_up" => RunnerGaveUp(String),
        /// No test file can be made for the function, and why.
        #[error("{0}")]
        "no_test_file" => NoTestFile(String),
    }
}

touchstone_base::reasons! {
    /// The reason why no test can be constructed for a path.
    #[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
    pub enum Untestable {
        /// An object whose insides are the library's own business.
        #[error("a `{0}` that the library did not make as an input")]
        "librarys_own" => LibrarysOwn(String),
        /// An end that the language of the tests does not have: the class of what is thrown.
        #[error("`{0}` is thrown, and nothing in C catches it")]
        "thrown" => Thrown(String),
        /// An error, in a round after the first, on the way to what other tests cover.
        #[error("a test that ends in an error ({0}) and covers nothing new")]
        "nothing_new" => NothingNew(ErrorKind),
    }
}
