//! Parked states: a waiting state as a compact prefix, a tenth of its size.
//!
//! The choices of its path and inputs that take it are packed into bytes; the executor of the state replays them
//! (`path_following.rs`). So an open path costs a prefix, and a search that forks much and covers little runs out of
//! time, not of memory.
//!
//! With the names of the variables (`InputTable`), any other executor of the same function replays them, too.
//!
//! Deliberately not here: prefixes for other processes (`prefix.rs`), which are checked with a fingerprint.

use crate::exec::executor::Executor;
use crate::exec::executor::path_replay::{InputKey, PathReplay};
use crate::state::State;
use crate::state::trail::Choice;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_criteria::GoalId;
use touchstone_ir::{BlockId, FuncId};
use touchstone_solver::VarId;

/// A waiting state as a compact prefix.
pub(crate) struct ParkedState {
    /// The number of choices, the choices, and the inputs that are not zero.
    code: Box<[u8]>,
    pub steps: u64,
    pub charged_steps: u64,
    /// Goals that the path has reached and not reported.
    pub pending: Vec<GoalId>,
    place: (FuncId, BlockId),
}

/// The inputs of an executor, by their variables.
pub(crate) type InputTable = FxHashMap<VarId, InputKey>;

/// A parked state that leaves its executor.
pub(crate) struct TransferredState {
    pub parked: Arc<ParkedState>,
    /// The inputs of the executor that parked it.
    pub inputs: Arc<InputTable>,
}

impl ParkedState {
    pub fn new(state: &State) -> ParkedState {
        let mut code = Vec::new();
        let choices = state.trail.choices();
        write(&mut code, choices.len() as u64);
        choices.into_iter().for_each(|choice| write_choice(&mut code, choice));
        let mut before = 0;
        for (var, value) in state.path.model().values().filter(|(_, value)| *value != 0) {
            write(&mut code, var.index() as u64 - before);
            write(&mut code, value);
            before = var.index() as u64;
        }
        ParkedState {
            code: code.into(),
            steps: state.steps,
            charged_steps: state.charged_steps,
            pending: state.pending.to_vec(),
            place: place(state),
        }
    }

    /// Returns the replay of the prefix in the executor that parked it.
    pub fn replay(&self) -> PathReplay {
        let (choices, values) = self.unpacked();
        PathReplay::with_values(&choices, values)
    }

    /// Returns the choices of the path, and the inputs that are not zero.
    fn unpacked(&self) -> (Vec<Choice>, Vec<(VarId, u64)>) {
        let mut code = self.code.iter().copied();
        let count = read(&mut code).unwrap_or(0);
        let choices: Vec<Choice> = (0..count).map_while(|_| read_choice(&mut code)).collect();
        let (mut values, mut var) = (Vec::new(), 0);
        while let (Some(step), Some(value)) = (read(&mut code), read(&mut code)) {
            var += step;
            values.push((VarId::new(var as usize), value));
        }
        (choices, values)
    }

    /// Returns true if a state is where the parked state was.
    pub fn is_at(&self, state: &State) -> bool {
        state.steps == self.steps && place(state) == self.place
    }
}

impl TransferredState {
    /// Returns the replay of the prefix in another executor.
    pub fn replay(&self, executor: &Executor<'_>) -> PathReplay {
        let (choices, values) = self.parked.unpacked();
        let named = values.into_iter().filter_map(|(var, value)| Some((self.inputs.get(&var)?.clone(), value)));
        let mut replay = PathReplay::new(&choices, named.collect());
        executor.bind_inputs(&mut replay);
        replay
    }
}

fn place(state: &State) -> (FuncId, BlockId) {
    let top = state.top();
    (top.func, top.block)
}

fn write_choice(code: &mut Vec<u8>, choice: Choice) {
    let (tag, number) = match choice {
        Choice::Branch(taken) => return code.push(u8::from(taken)),
        Choice::Check(holds) => return code.push(2 + u8::from(holds)),
        Choice::Start(number) => (4, number.into()),
        Choice::Arm(number) => (5, number.into()),
        Choice::Shape(number) => (6, number.into()),
        Choice::Callee(value) => (7, value),
        Choice::Value(value) => (8, value),
        Choice::Beyond(value) => (9, value),
    };
    code.push(tag);
    write(code, number);
}

fn read_choice(code: &mut impl Iterator<Item = u8>) -> Option<Choice> {
    let tag = code.next()?;
    let mut number = || read(code);
    Some(match tag {
        0 | 1 => Choice::Branch(tag == 1),
        2 | 3 => Choice::Check(tag == 3),
        4 => Choice::Start(number()? as u32),
        5 => Choice::Arm(number()? as u32),
        6 => Choice::Shape(number()? as u32),
        7 => Choice::Callee(number()?),
        8 => Choice::Value(number()?),
        _ => Choice::Beyond(number()?),
    })
}

/// Encodes an integer as LEB128: seven bits per byte, the lowest first.
fn write(code: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        code.push(number as u8 | 0x80);
        number >>= 7;
    }
    code.push(number as u8);
}

fn read(code: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = code.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_and_numbers_are_read_as_they_were_written() {
        let choices = [
            Choice::Start(3),
            Choice::Branch(true),
            Choice::Branch(false),
            Choice::Check(true),
            Choice::Check(false),
            Choice::Arm(u32::MAX),
            Choice::Shape(0),
            Choice::Callee(1 << 40),
            Choice::Value(u64::MAX),
            Choice::Beyond(8),
        ];
        let mut code = Vec::new();
        choices.iter().for_each(|choice| write_choice(&mut code, *choice));
        write(&mut code, 127);
        write(&mut code, 128);
        let mut code = code.into_iter();
        let read_back: Vec<Choice> = choices.iter().filter_map(|_| read_choice(&mut code)).collect();
        assert_eq!(read_back, choices);
        assert_eq!([read(&mut code), read(&mut code), read(&mut code)], [Some(127), Some(128), None]);
    }
}
