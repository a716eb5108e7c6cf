//! Abstract values: what a register or a piece of memory can hold.
//!
//! A value that nobody wrote is covered by "anything"; a value that says more than that was written.

use crate::prover::interval_domain;
use touchstone_ir::{GlobalId, Operand, SlotId, Ty, mask};
use touchstone_solver::Facts;

/// No object has an address below this.
const NULL_PAGE_BYTES: u64 = 4096;

/// What a register can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AbstractValue {
    /// An integer of the facts' width.
    Int(Facts),
    /// A pointer.
    Ptr(AbstractPointer),
}

/// What a pointer can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AbstractPointer {
    /// May be null, with no object behind it.
    pub zero: bool,
    /// May be another number; one that is the address of an object is covered by `object` too.
    pub bare: bool,
    /// Into which object it may lead.
    pub object: PointsTo,
    /// If it leads into an object, its address may be that of null (by arithmetic far outside of the object).
    pub odd: bool,
}

/// Where a pointer may lead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PointsTo {
    /// Into no object.
    None,
    /// Into this one, at these offsets (64 bits).
    Known(Base, Facts),
    /// Into any.
    Any,
}

/// An object that is known by name and alive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Base {
    /// A memory variable of the frame.
    Slot(SlotId),
    /// A global.
    Global(GlobalId),
    /// What a parameter of the function under test leads to at its start; two of them may be one object.
    Param(usize),
}

impl AbstractPointer {
    pub const NULL: AbstractPointer = AbstractPointer { zero: true, bare: false, object: PointsTo::None, odd: false };
    pub const ANY: AbstractPointer = AbstractPointer { zero: true, bare: true, object: PointsTo::Any, odd: true };

    /// The first byte of an object.
    pub fn start(base: Base) -> AbstractPointer {
        AbstractPointer { zero: false, bare: false, object: PointsTo::Known(base, Facts::constant(64, 0)), odd: false }
    }

    fn is_null(&self) -> bool {
        self.zero && !self.bare && self.object == PointsTo::None
    }

    /// Whether there is no pointer left that it could be.
    fn is_empty(&self) -> bool {
        let nowhere = match self.object {
            PointsTo::None => true,
            PointsTo::Known(_, offset) => offset.is_empty(),
            PointsTo::Any => false,
        };
        !self.zero && !self.bare && nowhere
    }

    /// Whether it equals null, if that is certain.
    pub fn equals_null(&self) -> Option<bool> {
        let yes = self.zero || (self.object != PointsTo::None && self.odd);
        let no = self.bare || self.object != PointsTo::None;
        match (yes, no) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// What it can be where it equals null, or does not.
    pub fn where_null(mut self, null: bool) -> AbstractPointer {
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

    /// The pointer so many bytes further on; `size` are the bytes of a known object.
    pub fn advanced(self, by: &Facts, size: impl Fn(Base) -> Option<u64>) -> AbstractPointer {
        if by.singleton() == Some(0) {
            return self;
        }
        let number = self.zero || self.bare;
        // A number that was computed may be the address of any object; close to null there is none.
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
    /// Anything of a type.
    pub fn top(ty: Ty) -> AbstractValue {
        match ty {
            Ty::Int(bits) => AbstractValue::Int(Facts::top(bits)),
            Ty::Ptr => AbstractValue::Ptr(AbstractPointer::ANY),
        }
    }

    /// A constant operand.
    pub fn constant(ty: Ty, value: u64) -> AbstractValue {
        match ty {
            Ty::Int(bits) => AbstractValue::Int(Facts::constant(bits, mask(value, bits))),
            Ty::Ptr if value == 0 => AbstractValue::Ptr(AbstractPointer::NULL),
            Ty::Ptr => AbstractValue::Ptr(AbstractPointer::ANY),
        }
    }

    /// The facts about an integer; nothing is known about a pointer's number, except null's.
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

    /// Whether no value is left.
    pub fn is_empty(&self) -> bool {
        match self {
            AbstractValue::Int(facts) => facts.is_empty(),
            AbstractValue::Ptr(pointer) => pointer.is_empty(),
        }
    }

    /// Whether a value of this type can be described by it.
    pub fn fits(&self, ty: Ty) -> bool {
        match (self, ty) {
            (AbstractValue::Int(facts), Ty::Int(bits)) => facts.width == bits,
            (AbstractValue::Ptr(_), Ty::Ptr) => true,
            _ => false,
        }
    }

    /// Either; `None` where the two are of different types.
    pub fn join(&self, other: &AbstractValue) -> Option<AbstractValue> {
        self.combined(other, Facts::join)
    }

    /// Either, with bounds that moved pushed to the next landmark.
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

/// Whether an operand is the constant null or zero.
pub(crate) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(_, 0))
}
