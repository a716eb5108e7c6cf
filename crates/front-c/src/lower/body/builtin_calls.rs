//! Calls of recognised functions, which become builtins or instructions.

use crate::clang::ast_enums::CastKind as Cast;
use crate::clang::ast_queries::has_effects;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::body::builtin_table::BuiltinCall;
use crate::lower::body::call::is_backwards;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, CBuiltin, CmpOp, InputSource, InstKind, Operand, TermKind, Ty};

impl Lowerer<'_, '_> {
    /// Lowers a call of a recognised function.
    pub fn builtin_call(&mut self, call: BuiltinCall, node: &AstNode, span: Span) -> Option<Operand> {
        let args = node.inner.get(1..).unwrap_or_default();
        match call {
            BuiltinCall::Direct(builtin, types, result) => self.direct_builtin(builtin, types, result, args, span),
            BuiltinCall::NoReturn(builtin, types) => {
                let args = self.arguments(args, types, span);
                self.emit(InstKind::Builtin { dst: None, builtin, args }, span);
                self.stop(TermKind::Unreachable, span);
                None
            }
            BuiltinCall::ArgumentsOnly => {
                args.iter().for_each(|arg| self.effect(arg));
                None
            }
            BuiltinCall::Unevaluated => None,
            BuiltinCall::Unreachable => {
                self.stop(TermKind::Unreachable, span);
                None
            }
            BuiltinCall::Unsupported => {
                let what = args.first().map(|what| self.unit.text(what)).unwrap_or_default();
                Some(self.unsupported_value(Construct::Model(what.trim_matches('"').to_string()), node))
            }
            BuiltinCall::Assume | BuiltinCall::Assert | BuiltinCall::AssertFail => {
                self.check_call(call, args, span);
                None
            }
            BuiltinCall::KleeRange => self.range(args, node, span),
            BuiltinCall::Expect => self.expected(args, span),
            BuiltinCall::ConstantP | BuiltinCall::TypeClass | BuiltinCall::ObjectSize => {
                Some(self.compile_time_value(call, args, span))
            }
            BuiltinCall::ReturnAddress => Some(self.return_address(args, span)),
            BuiltinCall::SetJump => Some(self.set_jump(args, span)),
            BuiltinCall::Copy | BuiltinCall::Set => self.memory_call(call, args, span),
            BuiltinCall::VaStart => {
                args.first().into_iter().for_each(|list| self.start_arguments(list, node, span));
                None
            }
            BuiltinCall::VaCopy => {
                if let [to, from] = args {
                    self.copy_arguments(to, from, span);
                }
                None
            }
            BuiltinCall::Printf => {
                self.printf(args, node, span);
                None
            }
            BuiltinCall::Vprintf => self.vprintf(args, span),
            BuiltinCall::Overflow(op) => self.overflow(op, args, node, span),
            BuiltinCall::Math(math, format) => Some(self.math_call(math, format, args, node, span)),
            BuiltinCall::Classify(what) => Some(self.classify_call(what, args, node, span)),
            BuiltinCall::LongExponent => args.first().map(|value| self.long_exponent(value, span)),
        }
    }

    fn direct_builtin(
        &mut self,
        builtin: Builtin,
        types: &[Ty],
        result: Option<Ty>,
        args: &[AstNode],
        span: Span,
    ) -> Option<Operand> {
        if builtin == Builtin::MakeSymbolic(InputSource::Request) && self.requested_type(args).is_some() {
            self.typed_request(args, types, span);
            return None;
        }
        let args = match builtin {
            Builtin::MakeSymbolic(_) | Builtin::FreshInt(_) => self.harness_arguments(args, types, span),
            _ => self.arguments(args, types, span),
        };
        let dst = result.map(|ty| self.temp(ty));
        self.emit(InstKind::Builtin { dst, builtin, args }, span);
        dst.map(Operand::Reg)
    }

    /// Lowers an assumption or an assertion.
    fn check_call(&mut self, call: BuiltinCall, args: &[AstNode], span: Span) {
        let always = Operand::Const(Ty::I1, 1);
        match call {
            BuiltinCall::Assume => {
                let condition = args.first().map_or(always, |arg| self.assumed_truth(arg));
                self.check(Builtin::Assume, condition, span);
            }
            BuiltinCall::Assert => {
                args.first().into_iter().for_each(|arg| self.mark_value(arg));
                let condition = args.first().map_or(always, |arg| self.asserted_truth(arg));
                self.check(Builtin::Assert, condition, span);
            }
            _ => {
                self.check(Builtin::Assert, Operand::Const(Ty::I1, 0), span);
                self.stop(TermKind::Unreachable, span);
            }
        }
    }
    fn check(&mut self, builtin: Builtin, condition: Operand, span: Span) {
        self.emit(InstKind::Builtin { dst: None, builtin, args: vec![condition] }, span);
    }

    fn expected(&mut self, args: &[AstNode], span: Span) -> Option<Operand> {
        let value = args.first().map(|arg| self.rvalue(arg));
        let value = value.map(|value| self.keep(value, span));
        args.iter().skip(1).filter(|arg| has_effects(arg)).for_each(|arg| self.effect(arg));
        value
    }

    fn compile_time_value(&mut self, call: BuiltinCall, args: &[AstNode], span: Span) -> Operand {
        match call {
            BuiltinCall::ConstantP => {
                if args.first().is_some_and(|arg| self.unit.is_constant(arg)) {
                    return Operand::Const(Ty::I32, 1);
                }
                let what = "a compiler may know a value (__builtin_constant_p)";
                self.unspecified(what, Operand::Const(Ty::I32, 0), span)
            }
            BuiltinCall::TypeClass => {
                let ty = args.first().map_or_else(Type::int, |arg| self.unit.type_of(arg));
                Operand::Const(Ty::I32, touchstone_ir::mask(self.unit.type_class(&ty), 32))
            }
            _ => {
                // An answer that compilers may always give: the size is unknown.
                let kind = args.get(1).and_then(|kind| self.unit.const_int(kind)).unwrap_or(0);
                let unknown = Operand::Const(Ty::I64, if kind & 2 == 0 { u64::MAX } else { 0 });
                self.unspecified("a compiler may know the size of an object (__builtin_object_size)", unknown, span)
            }
        }
    }

    fn return_address(&mut self, args: &[AstNode], span: Span) -> Operand {
        self.run_only("return address", span);
        let args = self.arguments(args, &[Ty::I32], span);
        let dst = self.temp(Ty::Ptr);
        let builtin = Builtin::C(CBuiltin::ReturnAddress);
        self.emit(InstKind::Builtin { dst: Some(dst), builtin, args }, span);
        Operand::Reg(dst)
    }

    /// Lowers `memcpy`, `memmove` and `memset`.
    fn memory_call(&mut self, call: BuiltinCall, args: &[AstNode], span: Span) -> Option<Operand> {
        let second = if call == BuiltinCall::Copy { Ty::Ptr } else { Ty::I8 };
        let args = self.arguments(args, &[Ty::Ptr, second, Ty::I64], span);
        let &[dst, value, size] = args.as_slice() else { return None };
        let dst = self.keep(dst, span);
        let kind = match call {
            BuiltinCall::Copy => InstKind::MemCopy { dst, src: value, size },
            _ => InstKind::MemSet { dst, value, size },
        };
        self.emit(kind, span);
        Some(dst)
    }

    fn printf(&mut self, args: &[AstNode], node: &AstNode, span: Span) {
        if self.may_store_count(args) {
            return self.unsupported(Construct::PrintfStore, node);
        }
        let mut printed = |arg: &AstNode| {
            if self.unit.type_of(arg).is_long_double() {
                let value = self.wide(arg);
                return vec![value.low, value.high];
            }
            self.mark_value(arg);
            vec![self.rvalue(arg)]
        };
        let values: Vec<Vec<Operand>> = match is_backwards(args) {
            true => {
                let last_first: Vec<Vec<Operand>> = args.iter().rev().map(&mut printed).collect();
                last_first.into_iter().rev().collect()
            }
            false => args.iter().map(&mut printed).collect(),
        };
        let args = values.concat();
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::C(CBuiltin::Printf), args }, span);
    }

    /// Returns true if a format may contain `%n`, which writes memory. Without a literal format, a pointer to an integer
    /// that is no character may belong to one.
    fn may_store_count(&self, args: &[AstNode]) -> bool {
        let mut format = args.first();
        while let Some(node) = format.filter(|node| matches!(node.kind, K::ImplicitCastExpr | K::ParenExpr)) {
            format = node.inner.first();
        }
        match format.filter(|node| node.kind == K::StringLiteral).and_then(|node| node.value.as_deref()) {
            Some(text) => stores_count(text),
            None => args.iter().skip(1).any(|arg| {
                let ty = self.unit.type_of(arg);
                ty.element().is_some_and(|element| matches!(element.kind, TypeKind::Int { bits, .. } if bits > 8))
            }),
        }
    }

    fn vprintf(&mut self, args: &[AstNode], span: Span) -> Option<Operand> {
        let [stream, format, list] = args else { return None };
        let (stream, format) = (self.rvalue(stream), self.rvalue(format));
        let list = self.cursor(list, span);
        let dst = Some(self.temp(Ty::I32));
        let args = vec![stream, format, list];
        self.emit(InstKind::Builtin { dst, builtin: Builtin::C(CBuiltin::Vprintf), args }, span);
        dst.map(Operand::Reg)
    }

    /// Lowers `setjmp`. The return by `longjmp` is no edge of the control-flow graph and only followed in concrete
    /// runs.
    fn set_jump(&mut self, args: &[AstNode], span: Span) -> Operand {
        let buffer = args.first().map(|arg| self.unit.type_of(arg));
        let args = self.arguments(args, &[Ty::Ptr], span);
        self.run_only("setjmp", span);
        // The contents of the buffer are unspecified.
        if let (Some(ty), &[dst]) = (buffer, args.as_slice())
            && let Some(tag) = ty.element().filter(|tag| matches!(tag.kind, TypeKind::Record(_)))
            && let Some(size) = self.element_size(&ty)
        {
            let src = self.temporary(tag, span);
            self.emit(InstKind::MemCopy { dst, src, size: Operand::Const(Ty::I64, size) }, span);
        }
        let dst = self.temp(Ty::I32);
        self.emit(InstKind::Builtin { dst: Some(dst), builtin: Builtin::C(CBuiltin::SetMark), args }, span);
        Operand::Reg(dst)
    }
    /// Evaluates arguments in the types that a builtin takes, with program points; missing ones are 0.
    fn arguments(&mut self, args: &[AstNode], types: &[Ty], span: Span) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (index, &ty) in types.iter().enumerate() {
            args.get(index).into_iter().for_each(|arg| self.mark_value(arg));
            operands.push(self.argument(args.get(index), ty, span));
        }
        operands
    }
    /// Evaluates arguments of a call that belongs to the test harness and not to the code under test: without program
    /// points.
    fn harness_arguments(&mut self, args: &[AstNode], types: &[Ty], span: Span) -> Vec<Operand> {
        types.iter().enumerate().map(|(index, &ty)| self.argument(args.get(index), ty, span)).collect()
    }
    fn argument(&mut self, arg: Option<&AstNode>, ty: Ty, span: Span) -> Operand {
        let Some(arg) = arg else { return Operand::Const(ty, 0) };
        let signed = self.unit.program.types.is_signed(&self.unit.type_of(arg));
        let value = self.rvalue(arg);
        self.resize(value, ty, signed, span)
    }
    /// Returns the pointee type of a request for an input through a pointer, if the request is for exactly one object
    /// of it. The type of a variable is already known.
    fn requested_type(&self, args: &[AstNode]) -> Option<Type> {
        let [address, size, ..] = args else { return None };
        let mut pointer = address;
        while matches!(pointer.kind, K::ImplicitCastExpr | K::CStyleCastExpr | K::ParenExpr)
            && !matches!(pointer.cast, Cast::LValueToRValue | Cast::ArrayToPointerDecay)
        {
            pointer = pointer.inner.first()?;
        }
        let ty = self.unit.type_of(pointer);
        let is_address = pointer.kind == K::UnaryOperator || pointer.cast == Cast::ArrayToPointerDecay;
        let element = ty.element().filter(|element| element.is_record() && !is_address)?;
        let wanted = u64::try_from(self.unit.const_signed(size)?).ok()?;
        (self.element_size(&ty) == Some(wanted)).then(|| element.clone())
    }
    /// Lowers a request through a pointer: the input is created in a variable of its type and copied to the
    /// destination.
    fn typed_request(&mut self, args: &[AstNode], types: &[Ty], span: Span) {
        let Some(ty) = self.requested_type(args) else { return };
        let operands = self.harness_arguments(args, types, span);
        let &[dst, size, name] = operands.as_slice() else { return };
        let dst = self.keep(dst, span);
        let src = self.temporary(&ty, span);
        let builtin = Builtin::MakeSymbolic(InputSource::Request);
        self.emit(InstKind::Builtin { dst: None, builtin, args: vec![src, size, name] }, span);
        self.emit(InstKind::MemCopy { dst, src, size }, span);
    }

    /// Lowers `klee_range(low, high, name)`: an input with `low <= value < high`.
    fn range(&mut self, args: &[AstNode], node: &AstNode, span: Span) -> Option<Operand> {
        let args = self.harness_arguments(args, &[Ty::I32, Ty::I32, Ty::Ptr], span);
        let &[low, high, name] = args.as_slice() else {
            return Some(self.unsupported_value(Construct::KleeRange, node));
        };
        let (low, high) = (self.keep(low, span), self.keep(high, span));
        let dst = self.temp(Ty::I32);
        let builtin = Builtin::FreshInt(InputSource::Request);
        self.emit(InstKind::Builtin { dst: Some(dst), builtin, args: vec![name] }, span);
        let value = Operand::Reg(dst);
        let above = self.cmp(CmpOp::Sle, low, value, span);
        let below = self.cmp(CmpOp::Slt, value, high, span);
        let both = self.bin(BinOp::And, above, below, span);
        self.check(Builtin::Assume, both, span);
        Some(value)
    }
}

/// Returns true if a format contains a conversion `%n`.
fn stores_count(format: &str) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let conversion = rest[at + 1..].trim_start_matches(|c: char| "-+ #0123456789.*$'hlLqjzt".contains(c));
        if conversion.starts_with('n') {
            return true;
        }
        rest = conversion.strip_prefix('%').unwrap_or(conversion);
    }
    false
}
