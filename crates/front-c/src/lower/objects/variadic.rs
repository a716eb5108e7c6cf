//! Variable arguments.
//!
//! The caller packs them into one object, 8 bytes each (a structure takes as many as it needs), and passes its address
//! as a last, hidden parameter. A `va_list` holds the address of the next argument; the rest of its 24 bytes is unused.
//! A read beyond the last argument is an error of the path.
//!
//! The variable arguments of a function under test are inputs of the types that `va_arg` is used with: each `va_arg`
//! accesses a member of the union of all those types (`TypeTable::arguments`).

use crate::clang::ast_queries::callee_name;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::types::ctype::{Type, round_up};
use touchstone_base::Span;
use touchstone_ir::{BinOp, BranchRole, Builtin, CBuiltin, CmpOp, InstKind, Operand, SlotId, TermKind, Ty};

/// The offset of the next argument's address in a `va_list`.
const NEXT: i64 = 8;

/// The object into which arguments are packed.
#[derive(Clone, Copy)]
enum Packed {
    Slot(SlotId),
    /// The object at this address.
    Object(Operand),
}

impl Lowerer<'_, '_> {
    /// Evaluates variable arguments into a new object; returns its address.
    pub fn pack(&mut self, arguments: &[AstNode], backwards: bool, span: Span) -> Operand {
        match arguments {
            [own @ .., rest] if callee_name(rest) == Some("__builtin_va_arg_pack") => {
                let Some(hidden) = self.hidden(Construct::VaArgPack, rest, span) else {
                    return Operand::Const(Ty::Ptr, 0);
                };
                if own.is_empty() { hidden } else { self.pack_before(own, hidden, backwards, span) }
            }
            _ => {
                let size: u64 = arguments.iter().map(|argument| self.packed_size(argument)).sum();
                let slot = self.new_bytes(size.max(8));
                self.emit(InstKind::SlotBegin { slot }, span);
                self.pack_into(arguments, Packed::Slot(slot), backwards, span);
                self.slot_address(slot, span)
            }
        }
    }
    /// Evaluates arguments into a new object, followed by this function's own variable arguments.
    fn pack_before(&mut self, arguments: &[AstNode], hidden: Operand, backwards: bool, span: Span) -> Operand {
        let own: u64 = arguments.iter().map(|argument| self.packed_size(argument)).sum();
        let (rest, object) = (self.temp(Ty::I64), self.temp(Ty::Ptr));
        self.emit(InstKind::Builtin { dst: Some(rest), builtin: Builtin::ObjectSize, args: vec![hidden] }, span);
        let size = self.bin(BinOp::Add, Operand::Reg(rest), Operand::Const(Ty::I64, own), span);
        self.emit(
            InstKind::Builtin { dst: Some(object), builtin: Builtin::C(CBuiltin::Alloca), args: vec![size] },
            span,
        );
        let object = Operand::Reg(object);
        self.pack_into(arguments, Packed::Object(object), backwards, span);
        let behind = self.offset(object, Operand::Const(Ty::I64, own), span);
        self.emit(InstKind::MemCopy { dst: behind, src: hidden, size: Operand::Reg(rest) }, span);
        object
    }
    fn pack_into(&mut self, arguments: &[AstNode], object: Packed, backwards: bool, span: Span) {
        let mut end = 0i64;
        let mut places: Vec<(&AstNode, i64)> = Vec::new();
        for argument in arguments {
            places.push((argument, end));
            end += self.packed_size(argument) as i64;
        }
        if backwards {
            places.reverse();
        }
        for (argument, at) in places {
            let ty = self.unit.type_of(argument);
            if ty.is_record() {
                let base = self.packed_address(object, span);
                let dst = self.address(Location::Memory(base, at), span);
                self.aggregate(argument, &ty, dst);
            } else {
                self.mark_value(argument);
                let value = self.rvalue(argument);
                let signed = self.unit.program.types.is_signed(&ty);
                let wide = if self.ty(value) == Ty::Ptr { Ty::Ptr } else { Ty::I64 };
                let value = self.resize(value, wide, signed, span);
                let base = self.packed_address(object, span);
                self.store(Location::Memory(base, at), value, span);
            }
        }
    }
    fn packed_address(&mut self, object: Packed, span: Span) -> Operand {
        match object {
            Packed::Slot(slot) => self.slot_address(slot, span),
            Packed::Object(address) => address,
        }
    }
    fn packed_size(&self, argument: &AstNode) -> u64 {
        let ty = self.unit.type_of(argument);
        if ty.is_record() { round_up(self.unit.program.types.size(&ty), 8) } else { 8 }
    }

    /// Lowers `va_start`.
    pub fn start_arguments(&mut self, list: &AstNode, node: &AstNode, span: Span) {
        let list = self.rvalue(list);
        let Some(hidden) = self.hidden(Construct::VaStart, node, span) else { return };
        self.store(Location::Memory(list, NEXT), hidden, span);
    }
    /// Returns the address of this function's variable arguments.
    fn hidden(&mut self, construct: Construct, node: &AstNode, span: Span) -> Option<Operand> {
        let hidden = self.function.params.last().filter(|_| self.function.variadic).map(|param| param.reg);
        let Some(hidden) = hidden else {
            self.unsupported(construct, node);
            return None;
        };
        // It is null only in calls with unknown arguments.
        let none = self.cmp(CmpOp::Eq, Operand::Reg(hidden), Operand::Const(Ty::Ptr, 0), span);
        let (unknown, known) = (self.new_block(), self.new_block());
        self.terminate(
            TermKind::Branch {
                cond: none,
                then_block: unknown,
                else_block: known,
                role: BranchRole::Condition,
                tag: None,
            },
            span,
        );
        self.start(unknown);
        self.terminate(TermKind::Unsupported(Construct::VariableArguments.to_string()), span);
        self.start(known);
        Some(Operand::Reg(hidden))
    }

    /// Lowers `va_copy`.
    pub fn copy_arguments(&mut self, to: &AstNode, from: &AstNode, span: Span) {
        let (to, from) = (self.rvalue(to), self.rvalue(from));
        let pointer = Type::plain(crate::types::ctype::TypeKind::Void).pointer_to();
        let next = self.load(Location::Memory(from, NEXT), &pointer, span);
        self.store(Location::Memory(to, NEXT), next, span);
    }

    /// Returns the address at which a `va_list` holds the address of the next argument.
    pub fn cursor(&mut self, list: &AstNode, span: Span) -> Operand {
        let list = self.rvalue(list);
        self.address(Location::Memory(list, NEXT), span)
    }

    /// Lowers `va_arg`: returns the location of the argument and advances the list.
    pub fn next_argument(&mut self, node: &AstNode, ty: &Type, span: Span) -> Location {
        let Some(list) = node.inner.first() else {
            self.unsupported(Construct::VaArg, node);
            return Location::UNREACHABLE;
        };
        let list = self.rvalue(list);
        let pointer = Type::plain(crate::types::ctype::TypeKind::Void).pointer_to();
        let argument = self.load(Location::Memory(list, NEXT), &pointer, span);
        let member = self.unit.program.types.argument_member(ty).unwrap_or(u64::MAX);
        let args = vec![argument, Operand::Const(Ty::I64, 8), Operand::Const(Ty::I64, member)];
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::ObserveMember, args }, span);
        let size = round_up(self.unit.program.types.size(ty), 8);
        let next = self.offset(argument, Operand::Const(Ty::I64, size), span);
        self.store(Location::Memory(list, NEXT), next, span);
        Location::Memory(argument, 0)
    }
}
