//! Stub methods: the behaviour of a test double for an interface or an abstract class.

use crate::object::FixtureValue;

/// A method of a stub.
#[derive(Clone, Debug)]
pub struct StubMethod {
    /// Its name.
    pub name: String,
    /// The types of its parameters, as source writes them.
    pub params: Vec<String>,
    /// The type of its result, as source writes it.
    pub result: String,
    /// The result of the first call, then of all later calls; empty for `void`.
    pub answers: Vec<FixtureValue>,
    /// Exceptions that it may throw instead.
    pub throws: Option<StubExceptions>,
    /// A change that it may make to the receiver of the tested call.
    pub mutation: Option<ReceiverMutation>,
}

/// The exceptions that a stub method may throw.
#[derive(Clone, Debug)]
pub struct StubExceptions {
    /// The parameter that selects the exception: 0 for none, 1 for the first.
    pub selector: usize,
    /// The exceptions, as source constructs them: `new IllegalStateException()`.
    pub exceptions: Vec<String>,
}

/// A call by which a stub method changes the receiver of the tested call: a concurrent modification that the tested code
/// may check for.
#[derive(Clone, Debug)]
pub struct ReceiverMutation {
    /// The parameter that selects when: 0 for never, 1 for every call, 2 for every call but the first.
    pub selector: usize,
    /// The number of the receiver in its fixture.
    pub object: usize,
    /// The call on the receiver, as source writes it.
    pub call: String,
}
