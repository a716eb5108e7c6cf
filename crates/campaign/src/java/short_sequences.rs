//! Inputs that are run before any search, where tests construct objects by calls: all short API sequences, with small
//! numbers.
//!
//! The behaviour of a collection shows in a few calls that fit together. Mutating one choice at a time hardly ever
//! finds three of them, and symbolic execution explores every call on the way. Running all short sequences takes a
//! fraction of a second (bounded-exhaustive testing; Boyapati, Khurshid, Marinov, *Korat*, 2002, applies it to heaps).

use std::hash::{Hash, Hasher};
use touchstone_engine::RandomGenerator;
use touchstone_fixture_java::{
    ApiCall, CallSlot, Construction, FillLoop, FillPosition, Fixture, FixtureValue, ObjectPlan,
};

/// The maximum number of sequences of one length; if there are more, a random sample is run.
const MAX_SEQUENCES_PER_LENGTH: usize = 260;
/// The number of runs of each sequence, with other numbers and objects.
const RUNS_PER_SEQUENCE: usize = 6;
/// The number of runs of a call that needs no sequence.
const RUNS_WITHOUT_SEQUENCE: usize = 60;

/// Values of parameters by index; all others are zero.
type Numbers = Vec<(usize, u64)>;

/// The inputs that are run first.
#[derive(Default)]
pub(crate) struct InitialInputs {
    /// Sequences of few calls.
    pub few: Vec<Numbers>,
    /// Sequences with fill loops, for large collections.
    pub many: Vec<Numbers>,
}

impl InitialInputs {
    /// Adds the inputs to a hash, for cache keys.
    pub fn feed(&self, hasher: &mut impl Hasher) {
        (&self.few, &self.many).hash(hasher);
    }

    /// Computes the inputs of a fixture.
    pub fn of(fixture: &Fixture, seed: u64) -> InitialInputs {
        let mut choosing = InputChooser { chance: RandomGenerator::new(seed), numbers: Vec::new() };
        let Some(FixtureValue::Object(receiver)) = &fixture.receiver else {
            let few = (0..RUNS_WITHOUT_SEQUENCE).map(|_| choosing.inputs(fixture, &[], 0)).collect();
            return InitialInputs { few, many: Vec::new() };
        };
        let mut few = Vec::new();
        for length in 0..=receiver.slots.len() {
            for sequence in sequences(&receiver.slots[..length], &mut choosing.chance) {
                few.extend((0..RUNS_PER_SEQUENCE).map(|_| choosing.inputs(fixture, &sequence, 0)));
            }
        }
        let mut many = Vec::new();
        let all = receiver.fill_loops.as_ref().map_or(&[][..], |many| &many.loops);
        for length in 0..=receiver.slots.len().min(2) {
            // The first of two calls comes before the loop.
            let is_there = |series: &FillLoop| match series.position {
                FillPosition::First => length <= 1,
                FillPosition::AfterOneCall => length >= 1,
            };
            for sequence in sequences(&receiver.slots[..length], &mut choosing.chance) {
                for (number, _) in all.iter().enumerate().filter(|(_, series)| is_there(series)) {
                    many.extend((0..RUNS_PER_SEQUENCE).map(|_| choosing.inputs(fixture, &sequence, number + 1)));
                }
            }
        }
        InitialInputs { few, many }
    }
}

/// Returns sequences that fill all slots: the index of the call in each.
fn sequences(slots: &[CallSlot], chance: &mut RandomGenerator) -> Vec<Vec<usize>> {
    let count = slots.iter().try_fold(1usize, |product, slot| product.checked_mul(slot.calls.len()));
    match count {
        Some(count) if count <= MAX_SEQUENCES_PER_LENGTH => {
            let mut all = vec![Vec::new()];
            for slot in slots {
                let longer =
                    |before: Vec<usize>| (0..slot.calls.len()).map(move |call| [&before[..], &[call]].concat());
                all = all.into_iter().flat_map(longer).collect();
            }
            all
        }
        _ => {
            let mut one = || slots.iter().map(|slot| chance.below(slot.calls.len())).collect();
            (0..MAX_SEQUENCES_PER_LENGTH).map(|_| one()).collect()
        }
    }
}

/// The choices of one input.
struct InputChooser {
    chance: RandomGenerator,
    numbers: Numbers,
}

impl InputChooser {
    /// Chooses an input with these calls.
    fn inputs(&mut self, fixture: &Fixture, sequence: &[usize], series: usize) -> Numbers {
        if let Some(FixtureValue::Object(receiver)) = &fixture.receiver {
            self.receiver(receiver, sequence, series);
        }
        let calls = &fixture.tested.calls;
        let number = self.chance.below(calls.len());
        if let Some(selector) = fixture.tested.selector {
            self.numbers.push((selector, number as u64));
        }
        if let Some(call) = calls.get(number) {
            self.call(call);
        }
        std::mem::take(&mut self.numbers)
    }

    fn receiver(&mut self, receiver: &ObjectPlan, sequence: &[usize], series: usize) {
        let filled = receiver.fill_loops.as_ref().filter(|_| series > 0);
        let ways =
            filled.map_or_else(|| (0..receiver.constructions.len()).collect(), |many| many.constructions.clone());
        self.way(receiver, &ways);
        if let Some(many) = filled {
            self.numbers.push((many.selector, series as u64));
        }
        for (slot, call) in receiver.slots.iter().zip(sequence) {
            self.numbers.push((slot.selector, *call as u64 + 1));
            self.call(&slot.calls[*call]);
        }
    }

    fn call(&mut self, call: &ApiCall) {
        call.enclosing.iter().chain(&call.arguments).for_each(|making| self.making(making));
    }

    fn making(&mut self, making: &FixtureValue) {
        match making {
            FixtureValue::Parameter(at) => self.number(*at),
            FixtureValue::Object(object) => {
                let all: Vec<usize> = (0..object.constructions.len()).collect();
                self.way(object, &all);
                if let Some(many) = object.fill_loops.as_ref().filter(|_| self.chance.one_in(8)) {
                    self.numbers.push((many.selector, 1 + self.chance.below(many.loops.len()) as u64));
                }
                let calls = self.chance.below(object.slots.len() + 1);
                for slot in &object.slots[..calls] {
                    let call = self.chance.below(slot.calls.len());
                    self.numbers.push((slot.selector, call as u64 + 1));
                    slot.calls.get(call).into_iter().for_each(|call| self.call(call));
                }
            }
        }
    }

    /// Chooses one of these constructions, null with a low probability. String parameters stay empty: they are no
    /// numbers.
    fn way(&mut self, object: &ObjectPlan, ways: &[usize]) {
        let is_something =
            |at: &&usize| !matches!(object.constructions[**at], Construction::Null | Construction::Parameter(_));
        let something: Vec<usize> = ways.iter().filter(is_something).copied().collect();
        let null = object.constructions.iter().position(|way| matches!(way, Construction::Null));
        let chosen = match (null, self.chance.of(&something)) {
            (Some(null), _) if something.is_empty() || self.chance.one_in(10) => null,
            (_, Some(way)) => *way,
            _ => 0,
        };
        self.numbers.push((object.selector, chosen as u64));
        match &object.constructions[chosen] {
            Construction::Null | Construction::Same(_) | Construction::Parameter(_) | Construction::Constant { .. } => {
            }
            Construction::New(call) | Construction::Factory(call) | Construction::Boxed(call) => self.call(call),
            Construction::Array { size, elements, .. } => {
                let count = self.chance.below(elements.len() + 1);
                self.numbers.push((*size, count as u64));
                elements[..count].iter().for_each(|element| self.making(element));
            }
            Construction::Collection { size, elements, .. } => {
                let count = self.chance.below(elements.len() + 1);
                self.numbers.push((*size, count as u64));
                elements[..count].iter().flatten().for_each(|element| self.making(element));
            }
            Construction::Stub { create, methods, .. } => {
                create.iter().for_each(|call| self.call(call));
                for method in methods {
                    method.answers.iter().for_each(|answer| self.making(answer));
                    if let Some(throws) = method.throws.as_ref().filter(|_| self.chance.one_in(6)) {
                        self.numbers.push((throws.selector, 1 + self.chance.below(throws.exceptions.len()) as u64));
                    }
                    if let Some(meddles) = method.mutation.as_ref().filter(|_| self.chance.one_in(6)) {
                        self.numbers.push((meddles.selector, 1 + self.chance.below(2) as u64));
                    }
                }
            }
        }
    }

    /// Chooses a value: mostly a small number, which may be an index, a count, or equal to another one.
    fn number(&mut self, at: usize) {
        const OTHERS: [u64; 4] = [u64::MAX, 1000, i32::MAX as u64, i32::MIN as u64];
        let number = match self.chance.one_in(12) {
            true => OTHERS[self.chance.below(OTHERS.len())],
            false => self.chance.below(4) as u64,
        };
        self.numbers.push((at, number));
    }
}
