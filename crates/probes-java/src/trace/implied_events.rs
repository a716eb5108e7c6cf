//! Instructions whose events follow from the event before them.
//!
//! A method records its receiver when it begins. So an access to a field of `this` needs no event if it is certainly executed after the event before it,
//! and if it may as well be executed at that time: no other thread can be waited for in between. The same holds for `return`. A
//! read may be followed without an exception of an earlier instruction; a write and `return` may not.

use crate::cfg::blocks::MethodCfg;
use crate::trace::events::InsnEvent;
use std::collections::BTreeSet;
use touchstone_classfile::{Arith, ClassFile, Convert, Desc, Insn, Member, SlotKind, access};

const VOLATILE: u16 = 0x0040;

/// The point of a block that is followed, relative to the event before it.
struct FollowedPoint {
    /// True if an event precedes it in the block, and no other thread can be waited for in between.
    is_anchored: bool,
    /// True if also no exception can be thrown in between.
    is_certain: bool,
    /// For each slot of the operand stack, as far as it is known, true if it holds the receiver.
    stack: Vec<bool>,
}

/// Returns the instructions that need no event.
pub(super) fn implied_events(
    class: &ClassFile,
    method: &Member,
    cfg: &MethodCfg,
    events: &[InsnEvent],
    recorded_blocks: &BTreeSet<usize>,
) -> Vec<usize> {
    let stores_receiver = cfg.insns.iter().any(|insn| matches!(insn.insn, Insn::Store(_, 0)));
    let is_instance_method = !method.is(access::STATIC) && &*method.name != "<init>";
    let knows_receiver = is_instance_method && !stores_receiver;
    let may_return = !method.is(access::SYNCHRONIZED) && !method.name.starts_with('<');
    let is_target =
        |block: usize| cfg.blocks.iter().any(|other| other.next.contains(&block) || other.handlers.contains(&block));
    let mut implied = Vec::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        let begins = recorded_blocks.contains(&number) || (number == 0 && !is_target(0));
        let mut point = FollowedPoint { is_anchored: begins, is_certain: begins, stack: Vec::new() };
        for (index, event) in (block.first..).zip(&events[block.first..=block.last]) {
            let insn = &cfg.insns[index].insn;
            let is_implied = match insn {
                Insn::GetField(field) => {
                    knows_receiver && point.is_anchored && point.holds_receiver(0) && is_plain(class, *field)
                }
                Insn::PutField(field) => {
                    let below = field_words(class, *field);
                    let is_receiver = below.is_some_and(|below| point.holds_receiver(below));
                    knows_receiver && point.is_certain && is_receiver && is_plain(class, *field)
                }
                Insn::Return(_) => may_return && point.is_certain,
                _ => false,
            };
            if is_implied {
                implied.push(index);
            }
            point.pass(class, insn, is_implied || *event == InsnEvent::None, is_implied);
        }
    }
    implied
}

/// Returns true if a field is declared by the class itself and is not volatile.
fn is_plain(class: &ClassFile, field: u16) -> bool {
    let Ok(named) = class.pool.field(field) else { return false };
    named.class == class.name
        && class.fields.iter().any(|own| own.name == named.name && own.desc == named.desc && !own.is(VOLATILE))
}

/// Returns the number of stack slots of a field's value.
fn field_words(class: &ClassFile, field: u16) -> Option<usize> {
    let desc = class.pool.field(field).ok()?.desc;
    Some(if Desc::parse(&desc)?.is_wide() { 2 } else { 1 })
}

impl FollowedPoint {
    /// Returns true if a slot of the operand stack, counted from the top, holds the receiver.
    fn holds_receiver(&self, below: usize) -> bool {
        self.stack.len().checked_sub(below + 1).is_some_and(|slot| self.stack[slot])
    }

    fn change(&mut self, taken: usize, given: usize) {
        self.stack.truncate(self.stack.len().saturating_sub(taken));
        self.stack.extend(std::iter::repeat_n(false, given));
    }

    /// Passes an instruction, which records an event unless `is_silent`.
    fn pass(&mut self, class: &ClassFile, insn: &Insn, is_silent: bool, is_implied: bool) {
        let words = |kind: SlotKind| if kind.is_wide() { 2 } else { 1 };
        let field = |field: u16| field_words(class, field);
        let mut throws = false;
        let mut waits = false;
        match insn {
            Insn::Load(SlotKind::Ref, 0) => self.stack.push(true),
            Insn::Load(kind, _) => self.change(0, words(*kind)),
            Insn::Store(kind, _) => self.change(words(*kind), 0),
            Insn::Null | Insn::PushInt(_) | Insn::PushFloat(_) => self.change(0, 1),
            Insn::PushLong(_) | Insn::PushDouble(_) => self.change(0, 2),
            Insn::Nop | Insn::Increment(..) | Insn::Neg(_) | Insn::Goto(_) => {}
            Insn::Dup => {
                let top = self.holds_receiver(0);
                self.stack.push(top);
            }
            Insn::Pop => self.change(1, 0),
            Insn::Arith(operation, kind) => {
                throws = matches!(operation, Arith::Div | Arith::Rem);
                let shifts = matches!(operation, Arith::Shl | Arith::Shr | Arith::Ushr);
                let other = if shifts { 1 } else { words(*kind) };
                self.change(words(*kind) + other, words(*kind));
            }
            Insn::Compare(kind, _) => self.change(2 * words(*kind), 1),
            Insn::Convert(convert) => {
                let to = match convert {
                    Convert::Kinds(_, to) => words(*to),
                    _ => 1,
                };
                self.change(words(convert.from()), to);
            }
            Insn::GetField(number) => match field(*number) {
                Some(words) => self.change(1, words),
                None => self.stack.clear(),
            },
            Insn::PutField(number) => match field(*number) {
                Some(words) => self.change(1 + words, 0),
                None => self.stack.clear(),
            },
            Insn::If(..)
            | Insn::IfInts(..)
            | Insn::IfRefs(..)
            | Insn::IfNull(..)
            | Insn::Switch(..)
            | Insn::Return(_) => {
                self.stack.clear();
            }
            // The length of an array that is null.
            Insn::ArrayLength => {
                throws = true;
                self.change(1, 1);
            }
            Insn::ArrayLoad(_) | Insn::ArrayStore(_) => {
                throws = true;
                self.stack.clear();
            }
            // Initialisation of a class, calls, locks.
            _ => {
                (throws, waits) = (true, true);
                self.stack.clear();
            }
        }
        if is_implied {
            return;
        }
        if matches!(insn, Insn::GetField(_) | Insn::PutField(_)) {
            // The object may be null; the field may be volatile.
            throws = true;
            waits = match insn {
                Insn::GetField(number) | Insn::PutField(number) => !is_plain(class, *number),
                _ => true,
            };
        }
        if !is_silent {
            (self.is_anchored, self.is_certain) = (true, true);
        }
        self.is_anchored &= !waits;
        self.is_certain &= !waits && !throws;
    }
}
