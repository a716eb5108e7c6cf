//! Calls: of functions, and of recognised names that become builtins.

use crate::clang::ast_enums::CastKind as Cast;
use crate::clang::ast_queries::{callee_name, has_effects};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::Node;
use crate::construct::Construct;
use crate::link::models;
use crate::lower::context::func::Lowerer;
use crate::lower::context::point_table::label_call;
use crate::lower::numbers::math_calls::{self, Classify, Math};
use crate::lower::objects::atomic::is_atomic_call;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::float::Format;
use touchstone_ir::{BinOp, Builtin, CBuiltin, Callee, CmpOp, InputSource, InstKind, Operand, TermKind, Ty};

/// The lowering of a recognised name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// A builtin with these argument types and this result.
    Plain(Builtin, &'static [Ty], Option<Ty>),
    Printf,
    Assume,
    Assert,
    AssertFail,
    /// Only the arguments are evaluated.
    Nothing,
    /// The arguments are not evaluated.
    Unevaluated,
    Range,
    /// A builtin that does not return.
    Last(Builtin, &'static [Ty]),
    Expect,
    Unreachable,
    ConstantP,
    TypeClass,
    SetJump,
    Copy,
    Set,
    VaStart,
    VaCopy,
    Vprintf,
    Overflow(BinOp),
    /// `ilogbl`.
    LongExponent,
    ReturnAddress,
    ObjectSize,
    /// Unsupported; the argument names the construct.
    Refuse,
    Math(Math, Format),
    Classify(Classify),
}

fn known(name: &str) -> Option<Known> {
    const PTR: Ty = Ty::Ptr;
    Some(match name {
        "klee_make_symbolic" | "touchstone_symbolic" => made_bytes(InputSource::Request),
        "touchstone_given_answer" => made_bytes(InputSource::External),
        "touchstone_given_stdin" => made_bytes(InputSource::Stdin),
        "touchstone_given_file" => made_bytes(InputSource::File),
        "touchstone_given_output" => made_bytes(InputSource::Output),
        "touchstone_given_variable" => made_bytes(InputSource::Variable),
        "klee_int" => Known::Plain(Builtin::FreshInt(InputSource::Request), &[PTR], Some(Ty::I32)),
        "klee_assume" | "touchstone_assume" | "__VERIFIER_assume" => Known::Assume,
        "touchstone_assert" | "__VERIFIER_assert" => Known::Assert,
        "touchstone_pointer" => Known::Plain(Builtin::FreshInt(InputSource::Request), &[PTR], Some(PTR)),
        "klee_range" => Known::Range,
        "__builtin_prefetch"
        | "klee_prefer_cex"
        | "klee_posix_prefer_cex"
        | "klee_mark_global"
        | "klee_set_forking"
        | "klee_open_merge"
        | "klee_close_merge"
        | "klee_warning"
        | "klee_warning_once"
        | "klee_print_expr"
        | "klee_print_range"
        | "klee_stack_trace"
        | "__VERIFIER_atomic_begin"
        | "__VERIFIER_atomic_end"
        | "touchstone_test_begin" => Known::Nothing,
        "__assert_fail" => Known::AssertFail,
        "abort" | "__builtin_abort" | "__builtin_trap" | "__VERIFIER_error" | "reach_error" | "klee_abort"
        | "klee_report_error" => Known::Last(Builtin::Abort, &[]),
        "exit" | "klee_silent_exit" | "__builtin_exit" => Known::Last(Builtin::Exit, &[Ty::I32]),
        "touchstone_at_exit" => Known::Plain(Builtin::C(CBuiltin::AtExit), &[PTR], None),
        "touchstone_unsettled" => Known::Plain(Builtin::Unsettled, &[PTR, Ty::I32], Some(Ty::I32)),
        "touchstone_unsettled_size" => Known::Plain(Builtin::Unsettled, &[PTR, Ty::I64], Some(Ty::I64)),
        "touchstone_run_only" => Known::Plain(Builtin::RunOnly, &[PTR], None),
        "touchstone_write" => Known::Plain(Builtin::Write, &[Ty::I32, PTR, Ty::I64], None),
        "touchstone_read_byte" => Known::Plain(Builtin::ReadByte, &[], Some(Ty::I32)),
        "touchstone_float_text" => Known::Plain(
            Builtin::C(CBuiltin::FloatText),
            &[Ty::I64, Ty::I32, Ty::I32, Ty::I32, Ty::I32, Ty::I32],
            Some(Ty::I32),
        ),
        "touchstone_vprintf" => Known::Vprintf,
        "touchstone_refuse" => Known::Refuse,
        "malloc" | "__builtin_malloc" => Known::Plain(Builtin::C(CBuiltin::Malloc), &[Ty::I64], Some(PTR)),
        "calloc" | "__builtin_calloc" => Known::Plain(Builtin::C(CBuiltin::Calloc), &[Ty::I64, Ty::I64], Some(PTR)),
        "touchstone_allocate" => Known::Plain(Builtin::Allocate, &[Ty::I64], Some(PTR)),
        "free" | "__builtin_free" => Known::Plain(Builtin::C(CBuiltin::Free), &[PTR], None),
        "touchstone_parse" => Known::Plain(Builtin::ParseFloat(Format::F64), &[PTR, Ty::I64], Some(Ty::I64)),
        "touchstone_parsef" => Known::Plain(Builtin::ParseFloat(Format::F32), &[PTR, Ty::I64], Some(Ty::I32)),
        "__builtin_expect"
        | "__builtin_expect_with_probability"
        | "__builtin_assume_aligned"
        | "__builtin_extract_return_addr"
        | "__builtin_frob_return_addr" => Known::Expect,
        "__builtin_assume" | "__assume" => Known::Unevaluated,
        "__builtin_unreachable" => Known::Unreachable,
        "__builtin_constant_p" => Known::ConstantP,
        "__builtin_classify_type" => Known::TypeClass,
        "memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove" => Known::Copy,
        "memset" | "__builtin_memset" => Known::Set,
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "__builtin_setjmp" => Known::SetJump,
        "longjmp" | "siglongjmp" | "_longjmp" | "__builtin_longjmp" => {
            Known::Last(Builtin::C(CBuiltin::Resume), &[PTR, Ty::I32])
        }
        "alloca" | "__builtin_alloca" => Known::Plain(Builtin::C(CBuiltin::Alloca), &[Ty::I64], Some(PTR)),
        "__builtin_va_start" => Known::VaStart,
        "__builtin_va_end" => Known::Nothing,
        "__builtin_va_copy" => Known::VaCopy,
        "__builtin_return_address" => Known::ReturnAddress,
        "ilogbl" | "__builtin_ilogbl" => Known::LongExponent,
        "touchstone_is_stream" => Known::Plain(Builtin::C(CBuiltin::IsStream), &[PTR], Some(Ty::I32)),
        "touchstone_object_size" => Known::Plain(Builtin::ObjectSize, &[PTR], Some(Ty::I64)),
        "__builtin_object_size" | "__builtin_dynamic_object_size" => Known::ObjectSize,
        "__builtin_add_overflow"
        | "__builtin_sadd_overflow"
        | "__builtin_saddl_overflow"
        | "__builtin_saddll_overflow"
        | "__builtin_uadd_overflow"
        | "__builtin_uaddl_overflow"
        | "__builtin_uaddll_overflow" => Known::Overflow(BinOp::Add),
        "__builtin_sub_overflow"
        | "__builtin_ssub_overflow"
        | "__builtin_ssubl_overflow"
        | "__builtin_ssubll_overflow"
        | "__builtin_usub_overflow"
        | "__builtin_usubl_overflow"
        | "__builtin_usubll_overflow" => Known::Overflow(BinOp::Sub),
        "__builtin_mul_overflow"
        | "__builtin_smul_overflow"
        | "__builtin_smull_overflow"
        | "__builtin_smulll_overflow"
        | "__builtin_umul_overflow"
        | "__builtin_umull_overflow"
        | "__builtin_umulll_overflow" => Known::Overflow(BinOp::Mul),
        _ => match math_calls::classification(name) {
            Some(what) => Known::Classify(what),
            None => math_calls::known(name).map(|(math, format)| Known::Math(math, format))?,
        },
    })
}

/// A request for input bytes of a source.
fn made_bytes(source: InputSource) -> Known {
    Known::Plain(Builtin::MakeSymbolic(source), &[Ty::Ptr, Ty::I64, Ty::Ptr], None)
}

impl Lowerer<'_, '_> {
    /// Lowers a call. A structure result is written to `into`; a scalar one is returned.
    pub fn call(&mut self, node: &Node, into: Option<Operand>) -> Option<Operand> {
        let span = self.unit.span(node);
        let Some(name) = callee_name(node).map(str::to_string) else {
            let callee = node.inner.first()?;
            let signature = self.unit.type_of(callee);
            let callee = self.rvalue(callee);
            let callee = self.keep(callee, span);
            return self.plain_call(Callee::Indirect(callee), signature.element(), node, into, span);
        };
        if let Some(label) = label_call(&name) {
            self.mark_label(label, node);
            return None;
        }
        let name = self.allocator_of(name);
        let name = self.labelled_of(name);
        if self.unit.is_always_inlined(&name) {
            return match known(&name) {
                Some(known) => self.known_call(known, node, span),
                None => self.direct_call(&format!("__builtin_{name}"), node, into, span),
            };
        }
        if let Some(known) = known(&name)
            && !self.is_own(&name)
        {
            self.unit.program.recognised.insert(name);
            return self.known_call(known, node, span);
        }
        self.direct_call(&name, node, into, span)
    }
    /// Maps `__builtin_malloc` to the program's own `malloc`, if it has one, also in the library.
    fn allocator_of(&mut self, name: String) -> String {
        match name.strip_prefix("__builtin_") {
            Some(plain) if models::is_replaceable(plain) => {
                if self.is_own(plain) {
                    return plain.to_string();
                }
                self.unit.program.recognised.insert(plain.to_string());
                name
            }
            _ => name,
        }
    }
    /// Maps `__builtin_memcpy` to the program's `memcpy` if an assembler label renames that.
    fn labelled_of(&self, name: String) -> String {
        match name.strip_prefix("__builtin_") {
            Some(plain) if self.unit.is_labelled(plain) => plain.to_string(),
            _ => name,
        }
    }
    /// Lowers a call without use of its value. The value of an output function is then not computed.
    pub fn call_for_effect(&mut self, node: &Node) {
        let name = callee_name(node).unwrap_or_default();
        let name = name.strip_prefix("__builtin_").unwrap_or(name).to_string();
        let quiet = format!("touchstone_quiet_{name}");
        let builtin = match name.as_str() {
            "printf" => Some(Known::Printf),
            "putchar" => Some(Known::Plain(Builtin::C(CBuiltin::Putchar), &[Ty::I32], Some(Ty::I32))),
            "puts" => Some(Known::Plain(Builtin::C(CBuiltin::Puts), &[Ty::Ptr], None)),
            _ => None,
        };
        if self.is_own(&name) || builtin.is_none() && !models::has(&quiet) {
            self.call(node, None);
            return;
        }
        let span = self.unit.span(node);
        match builtin {
            Some(known) => self.known_call(known, node, span),
            None => self.direct_call(&quiet, node, None, span),
        };
        self.unit.program.recognised.insert(name);
    }
    /// Returns true if the program itself defines the function.
    pub fn is_own(&self, name: &str) -> bool {
        let program = &self.unit.program;
        if self.unit.is_library() {
            return self.unit.has_body(name) || models::is_replaceable(name) && program.overrides(name);
        }
        program.own.contains(name) || program.defines(name) || self.unit.has_body(name) || self.unit.is_internal(name)
    }

    fn direct_call(&mut self, name: &str, node: &Node, into: Option<Operand>, span: Span) -> Option<Operand> {
        let mut name = name.to_string();
        if name.starts_with("__builtin_") && !self.is_own(&name) {
            match models::of_builtin(&name) {
                Some(model) => {
                    let of_zero = ["clz", "ctz"].iter().any(|bits| name["__builtin_".len()..].starts_with(bits));
                    if let (true, Some(argument)) = (of_zero, node.inner.get(1)) {
                        self.mark_zero(node, argument);
                    }
                    name = self.unlocked(&name).unwrap_or(model);
                }
                None => {
                    self.unsupported(Construct::Builtin(name), node);
                    return None;
                }
            }
        } else if is_atomic_call(&name) && !self.is_own(&name) {
            return self.atomic(node, span);
        }
        let callee_type = callee_reference(node).and_then(|decl| decl.ty.as_ref());
        let mut signature = callee_type.map(|text| self.unit.type_named(text));
        // A builtin that clang does not know has no prototype, but the function that implements it has.
        if callee_name(node).is_some_and(|called| called.starts_with("__builtin_"))
            && !signature.as_ref().is_some_and(has_prototype)
        {
            signature = self.unit.function_declared(&name).filter(has_prototype).or(signature);
        }
        let id = match self.unit.is_always_inlined(name.trim_start_matches("__builtin_")) {
            true => self.unit.library_function(&name, callee_type),
            false => self.unit.function_named(&name, callee_type),
        };
        if self.unit.program.weak.contains(&name) {
            self.emit_weak(&name, span);
        }
        self.plain_call(Callee::Direct(id), signature.as_ref(), node, into, span)
    }

    /// Returns the program's own unlocked function for a builtin; the library's model is the locked one.
    fn unlocked(&mut self, builtin: &str) -> Option<String> {
        let plain = builtin.strip_prefix("__builtin_").filter(|plain| plain.ends_with("_unlocked"))?;
        if self.is_own(plain) {
            return Some(plain.to_string());
        }
        self.unit.program.recognised.insert(plain.to_string());
        None
    }

    fn plain_call(
        &mut self,
        callee: Callee,
        signature: Option<&Type>,
        node: &Node,
        into: Option<Operand>,
        span: Span,
    ) -> Option<Operand> {
        let arguments = node.inner.get(1..).unwrap_or_default();
        let (fixed, variable) = match signature.map(|ty| &ty.kind) {
            Some(TypeKind::Function(signature)) if signature.variadic => {
                let (fixed, variable) = arguments.split_at(signature.params.len().min(arguments.len()));
                (fixed, Some(variable))
            }
            _ => (arguments, None),
        };
        let result = self.unit.type_of(node);
        let mut args = Vec::new();
        let temporary = match (result.is_record(), into) {
            (true, Some(into)) => Some(into),
            (true, None) => Some(self.temporary(&result, span)),
            _ => None,
        };
        args.extend(temporary);
        let params = match signature.map(|ty| &ty.kind) {
            Some(TypeKind::Function(signature)) => signature.params.as_slice(),
            _ => &[],
        };
        let backwards = is_backwards(arguments);
        let packed = variable.filter(|_| backwards).map(|variable| self.pack(variable, backwards, span));
        let mut values: Vec<Operand> = Vec::new();
        for at in 0..fixed.len() {
            let index = if backwards { fixed.len() - 1 - at } else { at };
            values.push(self.passed(&fixed[index], params.get(index), span));
        }
        if backwards {
            values.reverse();
        }
        args.extend(values);
        args.extend(packed.or_else(|| variable.map(|variable| self.pack(variable, backwards, span))));
        let dst = match result.kind {
            TypeKind::Void => None,
            _ if result.is_record() => None,
            _ => Some(self.temp(self.unit.program.types.scalar(&result))),
        };
        self.emit(InstKind::Call { dst, callee, args }, span);
        dst.map(Operand::Reg)
    }

    /// Evaluates an argument and converts it to the type of its parameter, if it is known.
    fn passed(&mut self, argument: &Node, param: Option<&Type>, span: Span) -> Operand {
        let ty = self.unit.type_of(argument);
        if ty.is_record() {
            let address = self.temporary(&ty, span);
            self.aggregate(argument, &ty, address);
            return address;
        }
        self.mark_value(argument);
        let value = self.rvalue(argument);
        match param {
            Some(Type { kind: TypeKind::Int { bits, .. }, .. }) if matches!(ty.kind, TypeKind::Int { .. }) => {
                self.resize(value, Ty::Int(*bits), self.unit.program.types.is_signed(&ty), span)
            }
            _ => value,
        }
    }

    fn known_call(&mut self, known: Known, node: &Node, span: Span) -> Option<Operand> {
        let args = node.inner.get(1..).unwrap_or_default();
        match known {
            Known::Plain(Builtin::MakeSymbolic(InputSource::Request), types, None)
                if self.asked_through(args).is_some() =>
            {
                self.typed_request(args, types, span);
                None
            }
            Known::Plain(builtin, types, result) => {
                let args = match builtin {
                    Builtin::MakeSymbolic(_) | Builtin::FreshInt(_) => self.harness_arguments(args, types, span),
                    _ => self.arguments(args, types, span),
                };
                let dst = result.map(|ty| self.temp(ty));
                self.emit(InstKind::Builtin { dst, builtin, args }, span);
                dst.map(Operand::Reg)
            }
            Known::Printf => {
                let mut printed = |arg: &Node| {
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
                None
            }
            Known::Assume => {
                let condition = args.first().map_or(Operand::Const(Ty::I1, 1), |arg| self.assumed_truth(arg));
                self.check(Builtin::Assume, condition, span);
                None
            }
            Known::Assert => {
                args.first().into_iter().for_each(|arg| self.mark_value(arg));
                let condition = args.first().map_or(Operand::Const(Ty::I1, 1), |arg| self.asserted_truth(arg));
                self.check(Builtin::Assert, condition, span);
                None
            }
            Known::AssertFail => {
                self.check(Builtin::Assert, Operand::Const(Ty::I1, 0), span);
                self.stop(TermKind::Unreachable, span);
                None
            }
            Known::Nothing => {
                args.iter().for_each(|arg| self.effect(arg));
                None
            }
            Known::Unevaluated => None,
            Known::VaStart => {
                args.first().into_iter().for_each(|list| self.start_arguments(list, node, span));
                None
            }
            Known::VaCopy => {
                if let [to, from] = args {
                    self.copy_arguments(to, from, span);
                }
                None
            }
            Known::Vprintf => {
                let [stream, format, list] = args else { return None };
                let (stream, format) = (self.rvalue(stream), self.rvalue(format));
                let list = self.cursor(list, span);
                let dst = Some(self.temp(Ty::I32));
                self.emit(
                    InstKind::Builtin { dst, builtin: Builtin::C(CBuiltin::Vprintf), args: vec![stream, format, list] },
                    span,
                );
                dst.map(Operand::Reg)
            }
            Known::Overflow(op) => self.overflow(op, args, node, span),
            Known::LongExponent => args.first().map(|value| self.long_exponent(value, span)),
            Known::ReturnAddress => {
                self.run_only("return address", span);
                let args = self.arguments(args, &[Ty::I32], span);
                let dst = Some(self.temp(Ty::Ptr));
                self.emit(InstKind::Builtin { dst, builtin: Builtin::C(CBuiltin::ReturnAddress), args }, span);
                dst.map(Operand::Reg)
            }
            Known::ObjectSize => {
                // Not known at compile time, an answer that compilers may always give.
                let kind = args.get(1).and_then(|kind| self.unit.const_int(kind)).unwrap_or(0);
                Some(Operand::Const(Ty::I64, if kind & 2 == 0 { u64::MAX } else { 0 }))
            }
            Known::Range => self.range(args, node, span),
            Known::Last(builtin, types) => {
                let args = self.arguments(args, types, span);
                self.emit(InstKind::Builtin { dst: None, builtin, args }, span);
                self.stop(TermKind::Unreachable, span);
                None
            }
            Known::Expect => {
                let value = args.first().map(|arg| self.rvalue(arg));
                let value = value.map(|value| self.keep(value, span));
                args.iter().skip(1).filter(|arg| has_effects(arg)).for_each(|arg| self.effect(arg));
                value
            }
            Known::Unreachable => {
                self.stop(TermKind::Unreachable, span);
                None
            }
            Known::ConstantP => {
                let constant = args.first().is_some_and(|arg| self.unit.is_constant(arg));
                Some(Operand::Const(Ty::I32, u64::from(constant)))
            }
            Known::SetJump => Some(self.set_jump(args, span)),
            Known::TypeClass => {
                let ty = args.first().map_or_else(Type::int, |arg| self.unit.type_of(arg));
                Some(Operand::Const(Ty::I32, touchstone_ir::mask(self.unit.type_class(&ty), 32)))
            }
            Known::Copy => {
                let args = self.arguments(args, &[Ty::Ptr, Ty::Ptr, Ty::I64], span);
                let &[dst, src, size] = args.as_slice() else { return None };
                let dst = self.keep(dst, span);
                self.emit(InstKind::MemCopy { dst, src, size }, span);
                Some(dst)
            }
            Known::Set => {
                let args = self.arguments(args, &[Ty::Ptr, Ty::I8, Ty::I64], span);
                let &[dst, value, size] = args.as_slice() else { return None };
                let dst = self.keep(dst, span);
                self.emit(InstKind::MemSet { dst, value, size }, span);
                Some(dst)
            }
            Known::Refuse => {
                let what = args.first().map(|what| self.unit.text(what)).unwrap_or_default();
                Some(self.unsupported_value(Construct::Model(what.trim_matches('"').to_string()), node))
            }
            Known::Math(math, format) => Some(self.math_call(math, format, args, node, span)),
            Known::Classify(what) => Some(self.classify_call(what, args, node, span)),
        }
    }
    /// Lowers `setjmp`. The return by `longjmp` is no edge of the control-flow graph and only followed in concrete
    /// runs.
    fn set_jump(&mut self, args: &[Node], span: Span) -> Operand {
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
    fn arguments(&mut self, args: &[Node], types: &[Ty], span: Span) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (index, &ty) in types.iter().enumerate() {
            args.get(index).into_iter().for_each(|arg| self.mark_value(arg));
            operands.push(self.argument(args.get(index), ty, span));
        }
        operands
    }
    /// Evaluates arguments of a call that belongs to the test harness and not to the code under test: without program
    /// points.
    fn harness_arguments(&mut self, args: &[Node], types: &[Ty], span: Span) -> Vec<Operand> {
        types.iter().enumerate().map(|(index, &ty)| self.argument(args.get(index), ty, span)).collect()
    }
    fn argument(&mut self, arg: Option<&Node>, ty: Ty, span: Span) -> Operand {
        let Some(arg) = arg else { return Operand::Const(ty, 0) };
        let signed = self.unit.program.types.is_signed(&self.unit.type_of(arg));
        let value = self.rvalue(arg);
        self.resize(value, ty, signed, span)
    }
    /// Returns the pointee type of a request for an input through a pointer, if the request is for exactly one object
    /// of it. The type of a variable is already known.
    fn asked_through(&self, args: &[Node]) -> Option<Type> {
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
    fn typed_request(&mut self, args: &[Node], types: &[Ty], span: Span) {
        let Some(ty) = self.asked_through(args) else { return };
        let operands = self.harness_arguments(args, types, span);
        let &[dst, size, name] = operands.as_slice() else { return };
        let dst = self.keep(dst, span);
        let src = self.temporary(&ty, span);
        let builtin = Builtin::MakeSymbolic(InputSource::Request);
        self.emit(InstKind::Builtin { dst: None, builtin, args: vec![src, size, name] }, span);
        self.emit(InstKind::MemCopy { dst, src, size }, span);
    }
    fn check(&mut self, builtin: Builtin, condition: Operand, span: Span) {
        self.emit(InstKind::Builtin { dst: None, builtin, args: vec![condition] }, span);
    }

    /// Lowers `klee_range(low, high, name)`: an input with `low <= value < high`.
    fn range(&mut self, args: &[Node], node: &Node, span: Span) -> Option<Operand> {
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

fn has_prototype(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Function(signature) if signature.prototype)
}

/// Returns the declaration that a direct call refers to.
fn callee_reference(node: &Node) -> Option<&crate::clang::node::DeclRef> {
    let mut callee = node.inner.first()?;
    while callee.kind != K::DeclRefExpr {
        callee = callee.inner.first()?;
    }
    callee.decl.as_deref()
}

/// Returns true if arguments are evaluated from the last to the first. C leaves the order unspecified; it matters if
/// several arguments have side effects, and then it is that of gcc, which compiles the tests.
fn is_backwards(arguments: &[Node]) -> bool {
    arguments.iter().filter(|argument| has_effects(argument)).count() > 1
}
