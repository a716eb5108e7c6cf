//! Loops that call one method many times, to construct objects that a few single calls never reach.

use crate::handle::MethodRef;

/// The loops that may fill an object.
#[derive(Clone, Debug)]
pub struct FillLoops {
    /// The parameter that selects the loop: 1 for the first, 0 for none.
    pub selector: usize,
    /// Indices of the constructions of the object that a loop may follow.
    pub constructions: Vec<usize>,
    /// The alternatives.
    pub loops: Vec<FillLoop>,
}

/// A loop of calls of one method.
#[derive(Clone, Debug)]
pub struct FillLoop {
    /// The called method.
    pub method: MethodRef,
    /// Index of the front end's rule for the arguments.
    pub rule: usize,
    /// The position of the loop among the single calls.
    pub position: FillPosition,
    /// The number of calls.
    pub count: u32,
    /// The call as source writes it; `i` counts from 0.
    pub call: String,
}

/// The position of a fill loop among the single calls of an API sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FillPosition {
    /// Before all single calls.
    First,
    /// After the first single call, which prepares the object. Without that call the loop is left out.
    AfterOneCall,
}

impl FillPosition {
    /// The number of single calls before the loop.
    pub fn preceding_calls(self) -> usize {
        match self {
            FillPosition::First => 0,
            FillPosition::AfterOneCall => 1,
        }
    }
}
