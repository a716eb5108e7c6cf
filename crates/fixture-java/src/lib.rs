//! Test fixtures of Java methods as plain data: how the receiver and the arguments of a tested call are constructed.
//!
//! A fixture is a tree of choices. Every choice (which constructor, which call, how many elements) and every number and
//! string is a parameter of one entry function, so that a search explores fixtures as it explores other inputs. The front
//! end plans fixtures and lowers them to IR, and the emitter writes a fixture with its chosen parameters as Java source.
//!
//! One circle: `object.rs` and `stub.rs`. An object may be a stub, and a stub returns objects.
//!
//! Deliberately not here: planning and lowering (`touchstone-front-java`), source text (`touchstone-emit`), choice of
//! parameters (`touchstone-campaign`).

#![warn(missing_docs)]

mod fill_loop;
mod fixture;
mod handle;
mod object;
mod stub;

pub use fill_loop::{FillLoop, FillLoops, FillPosition};
pub use fixture::{Fixture, HeapTyping, Overloading, ReceiverClass, SYMBOLIC_HEAP_CHOICE, SymbolicHeap, TestedCall};
pub use handle::{ClassId, FieldRef, MethodRef};
pub use object::{ApiCall, CallSlot, CollectionForm, Completeness, Construction, FixtureValue, ObjectPlan};
pub use stub::{ReceiverMutation, StubExceptions, StubMethod};
