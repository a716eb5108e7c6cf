//! The identity of a path.
//!
//! A path is the sequence of outcomes of all executed condition branches and switches, including those of callees, of
//! the targets of indirect calls, and, if it ends in an error, the error and its position; if it ends in an uncaught
//! exception, the class of the exception. Checks and dispatches ([`BranchRole`]) are no outcomes, but the code that
//! they select has some. Interpreter and engine feed the same outcomes into a [`PathHash`], so equal numbers mean equal
//! paths (up to 64-bit collisions).
//!
//! A branch with a tag is identified by the tag and not by its block: a front end may duplicate the code of one source
//! condition (both sides of an exclusive or).
//!
//! Only the *sequence* counts: two modules that differ in block numbers give different hashes, so the numbers are
//! comparable within one module, never across edits.

use crate::{BlockId, BranchRole, CondTag, ErrorKind, FuncId};
use touchstone_base::{Id, Span, stable_hash};

/// A running hash over the outcomes of a path; sensitive to order. Cheap to copy into a forked state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathHash(u64);

/// The kind of an outcome, which keeps outcomes of different kinds apart.
#[derive(Clone, Copy)]
enum OutcomeWord {
    TaggedBranch = 1,
    PlainBranch = 2,
    Switch = 3,
    Error = 4,
    Indirect = 5,
    Threw = 6,
}

impl Default for PathHash {
    fn default() -> Self {
        PathHash::new()
    }
}

impl PathHash {
    /// The empty path.
    pub const fn new() -> PathHash {
        PathHash(0x9e37_79b9_7f4a_7c15)
    }

    /// A branch in `block` went to its then side (`taken`) or its else side.
    pub fn branch(&mut self, func: FuncId, block: BlockId, role: BranchRole, tag: Option<CondTag>, taken: bool) {
        if !role.is_outcome() {
            return;
        }
        let place = match tag {
            Some(tag) => pair(tag.decision, tag.condition),
            None => block.index() as u64,
        };
        let kind = if tag.is_some() { OutcomeWord::TaggedBranch } else { OutcomeWord::PlainBranch };
        self.mix(func, kind, u64::from(taken));
        self.word(place);
    }

    /// A switch in `block` went to `target`.
    pub fn switch(&mut self, func: FuncId, block: BlockId, role: BranchRole, target: BlockId) {
        if !role.is_outcome() {
            return;
        }
        self.mix(func, OutcomeWord::Switch, 0);
        self.word(pair(block, target));
    }

    /// A call through a pointer in `block` went to `callee`.
    pub fn indirect(&mut self, func: FuncId, block: BlockId, callee: FuncId) {
        self.mix(func, OutcomeWord::Indirect, 0);
        self.word(pair(block, callee));
    }

    /// The path ended in an error.
    pub fn end_error(&mut self, kind: ErrorKind, span: Span) {
        self.word(stable_hash(&(OutcomeWord::Error as u8, kind as u8, span.file.index(), span.line, span.column)));
    }

    /// Ends the path with an uncaught exception of a class. The class is part of the path, the position is not.
    pub fn end_threw(&mut self, class: Option<u64>) {
        self.word(stable_hash(&(OutcomeWord::Threw as u8, class)));
    }

    /// The hash of what was fed so far.
    pub fn value(self) -> u64 {
        self.0
    }

    fn mix(&mut self, func: FuncId, kind: OutcomeWord, taken: u64) {
        self.word((func.index() as u64) << 8 | (kind as u64) << 1 | taken);
    }

    /// One round of a multiply-xorshift permutation (after the finaliser of `splitmix64`): every bit of `word` and of
    /// the state before reaches every bit of the state after.
    fn word(&mut self, word: u64) {
        let mut x = (self.0.rotate_left(5) ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = x ^ (x >> 31);
    }
}

fn pair(a: impl Id, b: impl Id) -> u64 {
    (a.index() as u64) << 32 | b.index() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CondId, DecisionId};

    fn tag(decision: usize, condition: usize) -> Option<CondTag> {
        Some(CondTag { decision: DecisionId::new(decision), condition: CondId::new(condition) })
    }

    fn hash(outcomes: &[(usize, usize, Option<CondTag>, bool)]) -> u64 {
        let mut path = PathHash::new();
        for &(func, block, tag, taken) in outcomes {
            path.branch(FuncId::new(func), BlockId::new(block), BranchRole::Condition, tag, taken);
        }
        path.value()
    }

    #[test]
    fn duplicates_of_one_condition_are_the_same_outcome() {
        assert_eq!(hash(&[(0, 1, tag(0, 1), true)]), hash(&[(0, 7, tag(0, 1), true)]));
    }

    #[test]
    fn different_sequences_have_different_hashes() {
        let mut seen = std::collections::BTreeSet::new();
        let mut count = 0;
        seen.insert(hash(&[]));
        for first in 0..40 {
            for second in 0..40 {
                for (a, b) in [(true, true), (true, false), (false, true), (false, false)] {
                    count += 2;
                    seen.insert(hash(&[(first, second, None, a), (second, first, None, b)]));
                    seen.insert(hash(&[(first, 0, tag(second, first), a), (first, 0, tag(first, second), b)]));
                }
            }
        }
        // Where both numbers are equal, nothing distinguishes the two steps but their order: those are still distinct.
        assert_eq!(seen.len(), count + 1);
    }

    #[test]
    fn checks_and_dispatches_are_no_outcomes() {
        let (func, block) = (FuncId::new(0), BlockId::new(1));
        for role in [BranchRole::Check, BranchRole::Dispatch] {
            let mut path = PathHash::new();
            path.branch(func, block, role, None, true);
            path.switch(func, block, role, block);
            assert_eq!(path, PathHash::new(), "{role:?}");
        }
    }

    #[test]
    fn a_switch_is_told_by_its_target_and_an_error_by_its_place() {
        let (func, block) = (FuncId::new(0), BlockId::new(1));
        let (mut a, mut b) = (PathHash::new(), PathHash::new());
        a.switch(func, block, BranchRole::Condition, BlockId::new(2));
        b.switch(func, block, BranchRole::Condition, BlockId::new(3));
        assert_ne!(a, b);
        let before = a;
        let mut other = a;
        a.end_error(ErrorKind::OutOfBounds, Span::none());
        other.end_error(ErrorKind::NullPointer, Span::none());
        assert_ne!(a, before);
        assert_ne!(a, other);
    }
}
