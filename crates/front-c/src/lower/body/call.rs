//! Calls of functions; calls of recognised functions are in `builtin_calls.rs`.

use crate::clang::ast_queries::{callee_name, has_effects};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::link::models;
use crate::lower::body::builtin_table::{builtin_call, quiet_output};
use crate::lower::context::func::Lowerer;
use crate::lower::context::point_table::label_call;
use crate::lower::objects::atomic::is_atomic_call;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{Callee, InstKind, Operand, Ty};

impl Lowerer<'_, '_> {
    /// Lowers a call. A structure result is written to `into`; a scalar one is returned.
    pub fn call(&mut self, node: &AstNode, into: Option<Operand>) -> Option<Operand> {
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
            return match builtin_call(&name) {
                Some(call) => self.builtin_call(call, node, span),
                None => self.direct_call(&format!("__builtin_{name}"), node, into, span),
            };
        }
        if let Some(call) = builtin_call(&name)
            && !self.is_own(&name)
        {
            self.unit.program.recognised.insert(name);
            return self.builtin_call(call, node, span);
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
    pub fn call_for_effect(&mut self, node: &AstNode) {
        let name = callee_name(node).unwrap_or_default();
        let name = name.strip_prefix("__builtin_").unwrap_or(name).to_string();
        let quiet = format!("touchstone_quiet_{name}");
        let builtin = quiet_output(&name);
        if self.is_own(&name) || builtin.is_none() && !models::has(&quiet) {
            self.call(node, None);
            return;
        }
        let span = self.unit.span(node);
        match builtin {
            Some(call) => self.builtin_call(call, node, span),
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

    fn direct_call(&mut self, name: &str, node: &AstNode, into: Option<Operand>, span: Span) -> Option<Operand> {
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
        node: &AstNode,
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
    fn passed(&mut self, argument: &AstNode, param: Option<&Type>, span: Span) -> Operand {
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
}

fn has_prototype(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Function(signature) if signature.prototype)
}

/// Returns the declaration that a direct call refers to.
fn callee_reference(node: &AstNode) -> Option<&crate::clang::node::DeclRef> {
    let mut callee = node.inner.first()?;
    while callee.kind != K::DeclRefExpr {
        callee = callee.inner.first()?;
    }
    callee.decl.as_deref()
}

/// Returns true if arguments are evaluated from the last to the first. C leaves the order unspecified; it matters if
/// several arguments have side effects, and then it is that of gcc, which compiles the tests.
pub(super) fn is_backwards(arguments: &[AstNode]) -> bool {
    arguments.iter().filter(|argument| has_effects(argument)).count() > 1
}
