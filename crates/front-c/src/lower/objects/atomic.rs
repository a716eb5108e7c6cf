//! Atomic operations: plain reads and writes, since programs run in one thread.
//!
//! Covers `<stdatomic.h>` and `__atomic_…` (clang represents both as `AtomicExpr`, where the memory order is the second
//! operand) and `__sync_…` (plain calls). Only scalars: atomic structures are unsupported.

use crate::clang::ast_queries::callee_name;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{BinOp, CmpOp, InstKind, Operand, Ty};

/// An operation on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Load,
    Store,
    Exchange,
    /// A read-modify-write operation, and the value that it returns.
    Update(Update, Wanted),
    /// Compare and exchange; the second operand points to the expected value.
    Compare,
    /// `__sync_…_compare_and_swap`; the second operand is the expected value.
    Swap(Wanted),
    TestAndSet,
    Clear,
    Fence,
    LockFree,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Update {
    Plain(BinOp),
    Nand,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Old,
    New,
    Success,
}

/// The passing of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Values,
    /// `__atomic_load(p, &result, order)`.
    Pointers,
}

fn operation(name: &str) -> Option<(Operation, Form)> {
    let sync = name.strip_prefix("__sync_").map(|rest| rest.trim_end_matches(|c: char| c.is_ascii_digit()));
    if let Some(rest) = sync {
        let rest = rest.strip_suffix('_').unwrap_or(rest);
        return sync_operation(rest).map(|operation| (operation, Form::Values));
    }
    let (rest, gnu) = match name.strip_prefix("__c11_atomic_") {
        Some(rest) => (rest, false),
        None => (name.strip_prefix("__atomic_")?, true),
    };
    let (rest, form) = match rest.strip_suffix("_n") {
        Some(rest) => (rest, Form::Values),
        None if gnu && matches!(rest, "load" | "store" | "exchange" | "compare_exchange") => (rest, Form::Pointers),
        None => (rest, Form::Values),
    };
    let operation = match rest {
        "load" => Operation::Load,
        "store" | "init" => Operation::Store,
        "exchange" => Operation::Exchange,
        "compare_exchange" | "compare_exchange_strong" | "compare_exchange_weak" => Operation::Compare,
        "test_and_set" => Operation::TestAndSet,
        "clear" => Operation::Clear,
        "thread_fence" | "signal_fence" => Operation::Fence,
        "always_lock_free" | "is_lock_free" => Operation::LockFree,
        _ => match (rest.strip_prefix("fetch_"), rest.strip_suffix("_fetch")) {
            (Some(op), _) => Operation::Update(update(op)?, Wanted::Old),
            (None, Some(op)) => Operation::Update(update(op)?, Wanted::New),
            (None, None) => return None,
        },
    };
    Some((operation, form))
}

fn sync_operation(rest: &str) -> Option<Operation> {
    Some(match rest {
        "synchronize" => Operation::Fence,
        "lock_test_and_set" | "swap" => Operation::Exchange,
        "lock_release" => Operation::Clear,
        "bool_compare_and_swap" => Operation::Swap(Wanted::Success),
        "val_compare_and_swap" => Operation::Swap(Wanted::Old),
        _ => match (rest.strip_prefix("fetch_and_"), rest.strip_suffix("_and_fetch")) {
            (Some(op), _) => Operation::Update(update(op)?, Wanted::Old),
            (None, Some(op)) => Operation::Update(update(op)?, Wanted::New),
            (None, None) => return None,
        },
    })
}

fn update(name: &str) -> Option<Update> {
    Some(match name {
        "add" => Update::Plain(BinOp::Add),
        "sub" => Update::Plain(BinOp::Sub),
        "and" => Update::Plain(BinOp::And),
        "or" => Update::Plain(BinOp::Or),
        "xor" => Update::Plain(BinOp::Xor),
        "nand" => Update::Nand,
        _ => return None,
    })
}

/// Returns true if a call is an atomic operation.
pub(crate) fn is_atomic_call(name: &str) -> bool {
    name.starts_with("__sync_") || name.starts_with("__atomic_") || name.starts_with("__c11_atomic_")
}

/// The object and the operands of an operation.
struct Parts<'n> {
    operation: Operation,
    form: Form,
    /// The type of the object.
    ty: Type,
    object: Operand,
    values: Vec<&'n AstNode>,
    /// The unit of pointer arithmetic, in bytes.
    scale: u64,
}

impl Lowerer<'_, '_> {
    /// Lowers an `AtomicExpr`, or a call of `__sync_…` or `__atomic_…`; `None` if it has no value.
    pub fn atomic(&mut self, node: &AstNode, span: Span) -> Option<Operand> {
        let is_call = node.kind == K::CallExpr;
        let name = if is_call { callee_name(node).unwrap_or_default() } else { node.name.as_str() };
        let known = operation(name);
        let name = if name.is_empty() { "_Atomic".to_string() } else { name.to_string() };
        let Some((operation, form)) = known else {
            return Some(self.unsupported_value(Construct::Builtin(name), node));
        };
        let args = if is_call { node.inner.get(1..).unwrap_or_default() } else { node.inner.as_slice() };
        let result = self.unit.type_of(node);
        match operation {
            Operation::Fence => {
                args.iter().for_each(|arg| self.effect(arg));
                return None;
            }
            Operation::LockFree => return Some(Operand::Const(self.unit.program.types.scalar(&result), 1)),
            _ => {}
        }
        let object = args.first()?;
        let pointee = self.unit.type_of(object).element().cloned().unwrap_or_else(Type::int);
        let flag = matches!(operation, Operation::TestAndSet) || name == "__atomic_clear";
        let ty = if flag { Type::plain(TypeKind::Bool) } else { pointee };
        if ty.is_record() || self.unit.program.types.unsupported(&ty).is_some() || ty.kind == TypeKind::Void {
            return Some(self.unsupported_value(Construct::Atomic, node));
        }
        let scale = match ty.element() {
            Some(element) if name.starts_with("__c11_") => self.unit.program.types.size(element),
            _ => 1,
        };
        let object = self.rvalue(object);
        let object = self.keep(object, span);
        // Operands of an `AtomicExpr`: object, order, value, order on failure, second value, weakness.
        let values: Vec<&AstNode> = match (is_call, operation) {
            (true, _) => args[1..].iter().collect(),
            (false, _) if name == "__c11_atomic_init" => args[1..].iter().collect(),
            (false, Operation::Compare) => [args.get(2), args.get(4)].into_iter().flatten().collect(),
            (false, _) => args.get(2..).unwrap_or_default().iter().collect(),
        };
        let parts = Parts { operation, form, ty, object, values, scale };
        self.atomic_value(&parts, span).filter(|_| result.kind != TypeKind::Void)
    }

    fn atomic_value(&mut self, parts: &Parts<'_>, span: Span) -> Option<Operand> {
        let place = Location::Memory(parts.object, 0);
        match parts.operation {
            Operation::Load => {
                let value = self.atomic_load(place, &parts.ty, span);
                match parts.form {
                    Form::Values => Some(value),
                    Form::Pointers => {
                        let to = self.rvalue(parts.values.first()?);
                        self.store(Location::Memory(to, 0), value, span);
                        None
                    }
                }
            }
            Operation::Store => {
                let value = self.atomic_operand(parts, 0, span)?;
                self.store(place, value, span);
                None
            }
            Operation::Exchange => {
                let value = self.atomic_operand(parts, 0, span)?;
                let old = self.atomic_load(place, &parts.ty, span);
                self.store(place, value, span);
                match parts.form {
                    Form::Values => Some(old),
                    Form::Pointers => {
                        let to = self.rvalue(parts.values.get(1)?);
                        self.store(Location::Memory(to, 0), old, span);
                        None
                    }
                }
            }
            Operation::Update(update, wanted) => {
                let value = self.atomic_operand(parts, 0, span)?;
                let old = self.atomic_load(place, &parts.ty, span);
                let new = self.updated(update, old, value, parts, span);
                self.store(place, new, span);
                Some(if wanted == Wanted::Old { old } else { new })
            }
            Operation::Compare => {
                let expected = self.rvalue(parts.values.first()?);
                let expected = self.keep(expected, span);
                let desired = self.atomic_operand(parts, 1, span)?;
                let wanted = self.load(Location::Memory(expected, 0), &parts.ty, span);
                let old = self.atomic_load(place, &parts.ty, span);
                let same = self.cmp(CmpOp::Eq, old, wanted, span);
                // Both objects are written, one of them with its own value, to avoid a branch.
                let new = self.either(same, desired, old, span);
                self.store(place, new, span);
                self.store(Location::Memory(expected, 0), old, span);
                Some(self.resize(same, Ty::I8, false, span))
            }
            Operation::Swap(wanted) => {
                let expected = self.atomic_operand(parts, 0, span)?;
                let desired = self.atomic_operand(parts, 1, span)?;
                let old = self.atomic_load(place, &parts.ty, span);
                let same = self.cmp(CmpOp::Eq, old, expected, span);
                let new = self.either(same, desired, old, span);
                self.store(place, new, span);
                Some(if wanted == Wanted::Success { self.resize(same, Ty::I8, false, span) } else { old })
            }
            Operation::TestAndSet => {
                let old = self.atomic_load(place, &parts.ty, span);
                self.store(place, Operand::Const(Ty::I8, 1), span);
                Some(old)
            }
            Operation::Clear => {
                let zero = Operand::Const(self.unit.program.types.scalar(&parts.ty), 0);
                self.store(place, zero, span);
                None
            }
            Operation::Fence | Operation::LockFree => None,
        }
    }

    /// Reads an atomic object; the value is marked as unspecified, since another thread may have changed it.
    fn atomic_load(&mut self, place: Location, ty: &Type, span: Span) -> Operand {
        let value = self.load(place, ty, span);
        self.unspecified("another thread may change an atomic object", value, span)
    }

    /// Evaluates an operand in the object's type.
    fn atomic_operand(&mut self, parts: &Parts<'_>, index: usize, span: Span) -> Option<Operand> {
        let node = parts.values.get(index)?;
        let value = self.rvalue(node);
        if parts.form == Form::Pointers {
            return Some(self.load(Location::Memory(value, 0), &parts.ty, span));
        }
        let value = self.keep(value, span);
        let arithmetic = matches!(parts.operation, Operation::Update(..)) && parts.ty.is_pointer();
        let scalar = if arithmetic { Ty::I64 } else { self.unit.program.types.scalar(&parts.ty) };
        let signed = self.unit.program.types.is_signed(&self.unit.type_of(node));
        Some(self.resize(value, scalar, signed, span))
    }

    fn updated(&mut self, update: Update, old: Operand, value: Operand, parts: &Parts<'_>, span: Span) -> Operand {
        match update {
            Update::Plain(op) if parts.ty.is_pointer() => {
                let bytes = self.bin_scaled(value, parts.scale, span);
                let zero = Operand::Const(Ty::I64, 0);
                let bytes = if op == BinOp::Sub { self.bin(BinOp::Sub, zero, bytes, span) } else { bytes };
                self.offset(old, bytes, span)
            }
            Update::Plain(op) => {
                let new = self.bin(op, old, value, span);
                match parts.ty.kind {
                    TypeKind::Bool => {
                        let truth = self.cmp(CmpOp::Ne, new, Operand::Const(Ty::I8, 0), span);
                        self.resize(truth, Ty::I8, false, span)
                    }
                    _ => new,
                }
            }
            Update::Nand => {
                let both = self.bin(BinOp::And, old, value, span);
                let ones = Operand::Const(self.ty(both), touchstone_ir::mask(u64::MAX, self.ty(both).bits()));
                self.bin(BinOp::Xor, both, ones, span)
            }
        }
    }

    /// Selects one of two values without a branch, since the source has no decision here.
    fn either(&mut self, which: Operand, yes: Operand, no: Operand, span: Span) -> Operand {
        let ty = self.ty(yes);
        if ty == Ty::Ptr {
            // Bits of pointers can't be mixed: the result is loaded from an array of both.
            let array = self.new_bytes(16);
            self.emit(InstKind::SlotBegin { slot: array }, span);
            let base = self.slot_address(array, span);
            self.store(Location::Memory(base, 0), no, span);
            self.store(Location::Memory(base, 8), yes, span);
            let index = self.resize(which, Ty::I64, false, span);
            let bytes = self.bin_scaled(index, 8, span);
            let at = self.offset(base, bytes, span);
            let dst = self.temp(Ty::Ptr);
            self.emit(InstKind::Load { dst, addr: at }, span);
            return Operand::Reg(dst);
        }
        self.select(which, yes, no, span)
    }
}
