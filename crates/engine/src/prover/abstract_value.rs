//! Abstract values: what a register or a piece of memory can hold.
//!
//! A value that nobody wrote is covered by "anything"; a value that says more than that was written.

use crate::prover::interval_domain;
use touchstone_ir::{GlobalId, Operand, SlotId, Ty, mask};
use touchstone_solver::Facts;

/// No object has an address below this.
const NULL_ZONE: u64 = 4096;

/// What a register can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Abs {
    /// An integer of the facts' width.
    Int(Facts),
    /// A pointer.
    Ptr(Pointer),
}

/// What a pointer can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
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

impl Pointer {
    pub const NULL: Pointer = Pointer { zero: true, bare: false, object: PointsTo::None, odd: false };
    pub const ANY: Pointer = Pointer { zero: true, bare: true, object: PointsTo::Any, odd: true };

    /// The first byte of an object.
    pub fn start(base: Base) -> Pointer {
        Pointer { zero: false, bare: false, object: PointsTo::Known(base, Facts::constant(64, 0)), odd: false }
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
    pub fn where_null(mut self, null: bool) -> Pointer {
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
    pub fn advanced(self, by: &Facts, size: impl Fn(Base) -> Option<u64>) -> Pointer {
        if by.singleton() == Some(0) {
            return self;
        }
        let number = self.zero || self.bare;
        // A number that was computed may be the address of any object; close to null there is none.
        if self.bare || (self.zero && by.unsigned.1 >= NULL_ZONE) {
            return Pointer::ANY;
        }
        let (object, odd) = match self.object {
            PointsTo::Known(base, offset) => {
                let offset = interval_domain::bin(touchstone_ir::BinOp::Add, &offset, by);
                let inside = size(base).is_some_and(|size| offset.unsigned.1 <= size);
                (PointsTo::Known(base, offset), !inside)
            }
            other => (other, true),
        };
        Pointer { zero: number, bare: number, object, odd }
    }

    fn combined(&self, other: &Pointer, offsets: impl Fn(&Facts, &Facts) -> Facts) -> Pointer {
        let object = match (self.object, other.object) {
            (PointsTo::None, one) | (one, PointsTo::None) => one,
            (PointsTo::Known(a, x), PointsTo::Known(b, y)) if a == b => PointsTo::Known(a, offsets(&x, &y)),
            _ => PointsTo::Any,
        };
        Pointer { zero: self.zero || other.zero, bare: self.bare || other.bare, object, odd: self.odd || other.odd }
    }
}

impl Abs {
    /// Anything of a type.
    pub fn top(ty: Ty) -> Abs {
        match ty {
            Ty::Int(bits) => Abs::Int(Facts::top(bits)),
            Ty::Ptr => Abs::Ptr(Pointer::ANY),
        }
    }

    /// A constant operand.
    pub fn constant(ty: Ty, value: u64) -> Abs {
        match ty {
            Ty::Int(bits) => Abs::Int(Facts::constant(bits, mask(value, bits))),
            Ty::Ptr if value == 0 => Abs::Ptr(Pointer::NULL),
            Ty::Ptr => Abs::Ptr(Pointer::ANY),
        }
    }

    /// The facts about an integer; nothing is known about a pointer's number, except null's.
    pub fn facts(&self) -> Facts {
        match self {
            Abs::Int(facts) => *facts,
            Abs::Ptr(pointer) if pointer.is_null() => Facts::constant(64, 0),
            Abs::Ptr(_) => Facts::top(64),
        }
    }

    pub fn pointer(&self) -> Pointer {
        match self {
            Abs::Ptr(pointer) => *pointer,
            Abs::Int(_) => Pointer::ANY,
        }
    }

    /// Whether no value is left.
    pub fn is_empty(&self) -> bool {
        match self {
            Abs::Int(facts) => facts.is_empty(),
            Abs::Ptr(pointer) => pointer.is_empty(),
        }
    }

    /// Whether a value of this type can be described by it.
    pub fn fits(&self, ty: Ty) -> bool {
        match (self, ty) {
            (Abs::Int(facts), Ty::Int(bits)) => facts.width == bits,
            (Abs::Ptr(_), Ty::Ptr) => true,
            _ => false,
        }
    }

    /// Either; `None` where the two are of different types.
    pub fn join(&self, other: &Abs) -> Option<Abs> {
        self.combined(other, Facts::join)
    }

    /// Either, with bounds that moved pushed to the next landmark.
    pub fn widen(&self, new: &Abs, landmarks: &[i128]) -> Option<Abs> {
        self.combined(new, |old, new| interval_domain::widen(old, new, landmarks))
    }

    fn combined(&self, other: &Abs, facts: impl Fn(&Facts, &Facts) -> Facts) -> Option<Abs> {
        match (self, other) {
            (Abs::Int(a), Abs::Int(b)) if a.width == b.width => Some(Abs::Int(facts(a, b))),
            (Abs::Ptr(a), Abs::Ptr(b)) => Some(Abs::Ptr(a.combined(b, facts))),
            _ => None,
        }
    }
}

/// Whether an operand is the constant null or zero.
pub(crate) fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(_, 0))
}
