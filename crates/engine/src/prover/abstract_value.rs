//! Abstract values: the possible values of a register or memory cell.
//!
//! An uninitialised value is covered by the top element; any other element implies that the value was written.

use crate::prover::interval_domain;
use touchstone_ir::{GlobalId, Operand, SlotId, Ty, mask};
use touchstone_solver::Facts;

/// The size of the zone at null in which no object lies.
const NULL_PAGE_BYTES: u64 = 4096;

/// The possible values of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AbstractValue {
    /// An integer of the facts' width.
    Int(Facts),
    /// A pointer.
    Ptr(AbstractPointer),
}

/// The possible values of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AbstractPointer {
    /// True if it may be null, without an object.
    pub zero: bool,
    /// True if it may be another integer; one that is the address of an object is covered by `object` too.
    pub bare: bool,
    /// The objects that it may point into.
    pub object: PointsTo,
    /// True if it may equal null although it points into an object (by arithmetic far outside of it).
    pub odd: bool,
}

/// The objects that a pointer may point into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PointsTo {
    /// No object.
    None,
    /// This object, at these offsets (64 bits).
    Known(Base, Facts),
    /// Any object.
    Any,
}

/// A named object that is alive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Base {
    /// A slot of the frame.
    Slot(SlotId),
    /// A global.
    Global(GlobalId),
    /// The pointee of a parameter of the function under test at its entry; two of them may be one object.
    Param(usize),
}

impl AbstractPointer {
    pub const NULL: AbstractPointer = AbstractPointer { zero: true, bare: false, object: PointsTo::None, odd: false };
    pub const ANY: AbstractPointer = AbstractPointer { zero: true, bare: true, object: PointsTo::Any, odd: true };

    /// Returns a pointer to the first byte of an object.
    pub fn start(base: Base) -> AbstractPointer {
        AbstractPointer { zero: false, bare: false, object: PointsTo::Known(base, Facts::constant(64, 0)), odd: false }
    }

    fn is_null(&self) -> bool {
        self.zero && !self.bare && self.object == PointsTo::None
    }

    /// Returns true if it has no possible value.
    fn is_empty(&self) -> bool {
        let nowhere = match self.object {
            PointsTo::None => true,
            PointsTo::Known(_, offset) => offset.is_empty(),
            PointsTo::Any => false,
        };
        !self.zero && !self.bare && nowhere
    }

    /// Returns whether it equals null, if that is certain.
    pub fn equals_null(&self) -> Option<bool> {
        let yes = self.zero || (self.object != PointsTo::None && self.odd);
        let no = self.bare || self.object != PointsTo::None;
        match (yes, no) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Refines it to where it equals null, or does not.
    pub fn refine_null(mut self, null: bool) -> AbstractPointer {
        if null {
            self.bare = false;
            if !self.odd {
                self.object = PointsTo::None;
            }
        } else {
            self.zero = false;
            self.odd = false;
        }
        self
    }

    /// Returns the pointer advanced by some bytes; `size` gives the size of a known object.
    pub fn advanced(self, by: &Facts, size: impl Fn(Base) -> Option<u64>) -> AbstractPointer {
        if by.singleton() == Some(0) {
            return self;
        }
        let number = self.zero || self.bare;
        // A computed integer may be the address of any object, except close to null.
        if self.bare || (self.zero && by.unsigned.1 >= NULL_PAGE_BYTES) {
            return AbstractPointer::ANY;
        }
        let (object, odd) = match self.object {
            PointsTo::Known(base, offset) => {
                let offset = interval_domain::bin(touchstone_ir::BinOp::Add, &offset, by);
                let inside = size(base).is_some_and(|size| offset.unsigned.1 <= size);
                (PointsTo::Known(base, offset), !inside)
            }
            other => (other, true),
        };
        AbstractPointer { zero: number, bare: number, object, odd }
    }

    fn combined(&self, other: &AbstractPointer, offsets: impl Fn(&Facts, &Facts) -> Facts) -> AbstractPointer {
        let object = match (self.object, other.object) {
            (PointsTo::None, one) | (one, PointsTo::None) => one,
            (PointsTo::Known(a, x), PointsTo::Known(b, y)) if a == b => PointsTo::Known(a, offsets(&x, &y)),
            _ => PointsTo::Any,
        };
        AbstractPointer {
            zero: self.zero || other.zero,
            bare: self.bare || other.bare,
            object,
            odd: self.odd || other.odd,
        }
    }
}

impl AbstractValue {
    /// Returns the top element of a type.
    pub fn top(ty: Ty) -> AbstractValue {
        match ty {
            Ty::Int(bits) => AbstractValue::Int(Facts::top(bits)),
            Ty::Ptr => AbstractValue::Ptr(AbstractPointer::ANY),
        }
    }

    /// Returns the abstraction of a constant operand.
    pub fn constant(ty: Ty, value: u64) -> AbstractValue {
        match ty {
            Ty::Int(bits) => AbstractValue::Int(Facts::constant(bits, mask(value, bits))),
            Ty::Ptr if value == 0 => AbstractValue::Ptr(AbstractPointer::NULL),
            Ty::Ptr => AbstractValue::Ptr(AbstractPointer::ANY),
        }
    }

    /// Returns the facts of an integer; the integer of a pointer is unknown, except for null.
    pub fn facts(&self) -> Facts {
        match self {
            AbstractValue::Int(facts) => *facts,
            AbstractValue::Ptr(pointer) if pointer.is_null() => Facts::constant(64, 0),
            AbstractValue::Ptr(_) => Facts::top(64),
        }
    }

    pub fn pointer(&self) -> AbstractPointer {
        match self {
            AbstractValue::Ptr(pointer) => *pointer,
            AbstractValue::Int(_) => AbstractPointer::ANY,
        }
    }

    /// Returns true if it has no possible value.
    pub fn is_empty(&self) -> bool {
        match self {
            AbstractValue::Int(facts) => facts.is_empty(),
            AbstractValue::Ptr(pointer) => pointer.is_empty(),
        }
    }

    /// Returns true if it describes values of this type.
    pub fn fits(&self, ty: Ty) -> bool {
        match (self, ty) {
            (AbstractValue::Int(facts), Ty::Int(bits)) => facts.width == bits,
            (AbstractValue::Ptr(_), Ty::Ptr) => true,
            _ => false,
        }
    }

    /// Joins two values; `None` if their types differ.
    pub fn join(&self, other: &AbstractValue) -> Option<AbstractValue> {
        self.combined(other, Facts::join)
    }

    /// Widens: bounds that moved are pushed to the next landmark.
    pub fn widen(&self, new: &AbstractValue, landmarks: &[i128]) -> Option<AbstractValue> {
        self.combined(new, |old, new| interval_domain::widen(old, new, landmarks))
    }

    fn combined(&self, other: &AbstractValue, facts: impl Fn(&Facts, &Facts) -> Facts) -> Option<AbstractValue> {
        match (self, other) {
            (AbstractValue::Int(a), AbstractValue::Int(b)) if a.width == b.width => {
                Some(AbstractValue::Int(facts(a, b)))
            }
            (AbstractValue::Ptr(a), AbstractValue::Ptr(b)) => Some(AbstractValue::Ptr(a.combined(b, facts))),
            _ => None,
        }
    }
}

/// Returns true if an operand is the constant null or zero.
pub(crate) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(_, 0))
}
