//! Variable-length arrays.
//!
//! clang's JSON has the length only as text, so it is parsed here and names are resolved in the current scopes.
//! Supported are sums, products and the like of variables, members, elements, calls and constants. The array is a stack
//! object that ends with its block.
//!
//! A length is evaluated once, at the declaration; the same text may have another value later. So a declared type is
//! *frozen*: each length becomes a token that refers to a register. clang's spellings don't have these tokens, so the
//! type of an expression that uses such a variable is derived from its structure.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::has_effects;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::{Local, Lowerer, ParamStyle};
use crate::lower::context::lifetimes::ScopedObject;
use crate::lower::context::lvalue::Location;
use crate::types::ctype::{Type, TypeKind};
use crate::types::offsetof::member;
use crate::types::tokens::{TypeToken, tokenize};
use crate::types::typename::TypeParser;
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, CBuiltin, Callee, InstKind, Operand, Ty};

/// Operators by increasing precedence.
const LEVELS: [&[(&str, BinOp)]; 3] = [
    &[("<<", BinOp::Shl), (">>", BinOp::AShr)],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("/", BinOp::SDiv), ("%", BinOp::SRem)],
];

/// The prefix of tokens for frozen lengths; no identifier of C starts with it.
const FROZEN: &str = "$length";

impl Type {
    /// Returns true if the type is variably modified (C11 6.7.6).
    pub fn is_variably_modified(&self) -> bool {
        match &self.kind {
            TypeKind::Variable(..) => true,
            TypeKind::Pointer(inner) | TypeKind::Array(inner, _) | TypeKind::OpenArray(inner) => {
                inner.is_variably_modified()
            }
            _ => false,
        }
    }
    /// Returns true if evaluating a length in the type has a side effect.
    pub fn has_length_effect(&self) -> bool {
        match &self.kind {
            TypeKind::Variable(inner, length) => length_effects(length) > 0 || inner.has_length_effect(),
            TypeKind::Pointer(inner) | TypeKind::Array(inner, _) | TypeKind::OpenArray(inner) => {
                inner.has_length_effect()
            }
            _ => false,
        }
    }
    /// Returns true if the size of the type is only known at run time.
    pub fn has_variable_size(&self) -> bool {
        match &self.kind {
            TypeKind::Variable(..) => true,
            TypeKind::Array(inner, _) => inner.has_variable_size(),
            _ => false,
        }
    }
}

impl Lowerer<'_, '_> {
    /// Declares a variable-length array.
    pub fn declare_variable_array(&mut self, node: &AstNode, ty: &Type, span: Span) {
        let frozen = self.frozen(ty, span);
        let bytes = frozen.as_ref().and_then(|ty| self.bytes_of_type(ty, span));
        let (Some(frozen), Some(bytes)) = (frozen, bytes) else {
            return self.unsupported(Construct::VariableLengthArray, node);
        };
        let (pointer, size) = match self.locals.get(&node.id).copied() {
            Some(Local::Variable(pointer, size)) => (pointer, size),
            _ => (self.variable(Ty::Ptr, &node.name), self.variable(Ty::I64, &format!("sizeof {}", node.name))),
        };
        self.frozen_types.insert(node.id, frozen);
        self.emit(InstKind::Copy { dst: size, src: bytes }, span);
        let args = vec![Operand::Reg(size)];
        self.emit(InstKind::Builtin { dst: Some(pointer), builtin: Builtin::C(CBuiltin::Alloca), args }, span);
        self.locals.insert(node.id, Local::Variable(pointer, size));
        self.lifetimes.declare(ScopedObject::Array(pointer));
    }
    /// Evaluates the lengths in a declared variable's type that are not frozen yet; returns false if they are
    /// unsupported.
    pub fn freeze_variable(&mut self, id: u64, ty: &Type, span: Span) -> bool {
        if ty.is_variably_modified() {
            let Some(frozen) = self.frozen(ty, span) else { return false };
            self.frozen_types.insert(id, frozen);
        }
        true
    }
    /// Evaluates the side effects in the length of an array parameter, which becomes a pointer without a length (`int
    /// a[n++]`); returns their number. clang's JSON does not contain them, so the source text is parsed.
    pub fn enter_parameter(&mut self, param: &AstNode, style: ParamStyle) -> usize {
        let (ty, span) = (self.unit.type_of(param), self.unit.span(param));
        let tokens = tokenize(&self.unit.text(param));
        let count = effects(&tokens);
        let outer = match declared_length(&tokens, &param.name) {
            // The length in an old-style declaration is not evaluated.
            Some(_) if style == ParamStyle::Old => true,
            Some(length) if count > 0 && !is_constant(length) => self.whole_length(length, span).is_some(),
            _ => true,
        };
        let inner = self.freeze_variable(param.id, &ty, span);
        if outer && inner { count } else { 0 }
    }
    /// Evaluates the lengths of a typedef at block scope.
    pub fn freeze_typedef(&mut self, node: &AstNode) {
        let Some(ty) = self.unit.scopes.typedef(&node.name).filter(|ty| ty.is_variably_modified()).cloned() else {
            return;
        };
        let span = self.unit.span(node);
        match self.frozen(&ty, span) {
            Some(frozen) => self.unit.redefine_type(&node.name, frozen),
            None => self.unsupported(Construct::VariableLengthArray, node),
        }
    }
    /// Freezes the lengths of a type, the outer ones first.
    fn frozen(&mut self, ty: &Type, span: Span) -> Option<Type> {
        let kind = match &ty.kind {
            TypeKind::Variable(element, length) if is_frozen(length) => {
                TypeKind::Variable(Rc::new(self.frozen(element, span)?), Rc::clone(length))
            }
            TypeKind::Variable(element, length) => {
                let value = self.whole_length(length, span)?;
                let name = format!("{FROZEN}{}", self.lengths.len());
                let reg = self.variable(Ty::I64, &name);
                self.emit(InstKind::Copy { dst: reg, src: value }, span);
                self.lengths.push(reg);
                TypeKind::Variable(Rc::new(self.frozen(element, span)?), Rc::from([TypeToken::Word(name)]))
            }
            TypeKind::Array(element, length) => TypeKind::Array(Rc::new(self.frozen(element, span)?), *length),
            TypeKind::Pointer(inner) => TypeKind::Pointer(Rc::new(self.frozen(inner, span)?)),
            TypeKind::OpenArray(inner) => TypeKind::OpenArray(Rc::new(self.frozen(inner, span)?)),
            _ => return Some(ty.clone()),
        };
        Some(Type { kind, ..ty.clone() })
    }
    /// Emits the size of a type, which may only be known at run time.
    fn bytes_of_type(&mut self, ty: &Type, span: Span) -> Option<Operand> {
        match &ty.kind {
            TypeKind::Variable(element, length) => {
                let length = self.whole_length(length, span)?;
                let size = self.bytes_of_type(element, span)?;
                Some(self.times(length, size, span))
            }
            TypeKind::Array(element, length) if element.has_variable_size() => {
                let size = self.bytes_of_type(element, span)?;
                Some(self.times(Operand::Const(Ty::I64, *length), size, span))
            }
            _ => Some(Operand::Const(Ty::I64, self.element_size(&ty.clone().pointer_to())?)),
        }
    }
    /// Emits `index * size`.
    pub fn times(&mut self, index: Operand, size: Operand, span: Span) -> Operand {
        match size {
            Operand::Const(_, size) => self.bin_scaled(index, size, span),
            Operand::Reg(_) => self.bin(BinOp::Mul, index, size, span),
        }
    }
    /// Emits the size of a pointer expression's pointee, if it is known.
    pub fn stride(&mut self, pointer: &AstNode, span: Span) -> Option<Operand> {
        let ty = self.unit.type_of(pointer);
        if !ty.is_variably_modified() {
            return self.element_size(&ty).map(|size| Operand::Const(Ty::I64, size));
        }
        let element = self.exact_type(pointer)?.element()?.clone();
        self.bytes_of_type(&element, span)
    }
    /// Returns the type of an expression with frozen lengths.
    fn exact_type(&self, node: &AstNode) -> Option<Type> {
        let ty = self.unit.type_of(node);
        if !ty.is_variably_modified() && !node.inner.iter().any(|inner| self.unit.type_of(inner).is_variably_modified())
        {
            return Some(ty);
        }
        match (&node.kind, node.inner.as_slice()) {
            (K::DeclRefExpr, _) => self.frozen_types.get(&node.decl.as_ref()?.id).cloned(),
            (K::ParenExpr, [inner]) => self.exact_type(inner),
            (K::ImplicitCastExpr, [inner]) if node.cast == Cast::ArrayToPointerDecay => {
                Some(self.exact_type(inner)?.element()?.clone().pointer_to())
            }
            (K::ImplicitCastExpr, [inner]) if matches!(node.cast, Cast::LValueToRValue | Cast::NoOp) => {
                self.exact_type(inner)
            }
            // The lengths in a cast are evaluated now.
            (K::CStyleCastExpr, _) => Some(ty),
            (K::ArraySubscriptExpr, [a, b]) => {
                let base = if self.unit.type_of(a).is_pointer() { a } else { b };
                Some(self.exact_type(base)?.element()?.clone())
            }
            (K::UnaryOperator, [inner]) => match &node.opcode {
                Opcode::Star => Some(self.exact_type(inner)?.element()?.clone()),
                Opcode::Amp => Some(self.exact_type(inner)?.pointer_to()),
                Opcode::Increment | Opcode::Decrement | Opcode::Extension => self.exact_type(inner),
                _ => None,
            },
            (K::BinaryOperator, [_, right]) if node.opcode == Opcode::Comma => self.exact_type(right),
            (K::BinaryOperator, [left, right])
                if matches!(node.opcode, Opcode::Plus | Opcode::Minus | Opcode::Assign) =>
            {
                self.exact_type(if self.unit.type_of(left).is_pointer() { left } else { right })
            }
            (K::CompoundAssignOperator, [left, _]) => self.exact_type(left),
            (K::ConditionalOperator, [_, yes, no]) => self.exact_type(yes).or_else(|| self.exact_type(no)),
            _ => None,
        }
    }

    /// Returns true for a `sizeof` of a variable-length array.
    pub fn is_variable_size(&self, node: &AstNode) -> bool {
        node.name == "sizeof" && self.sized_type(node).has_variable_size()
    }
    fn sized_type(&self, node: &AstNode) -> Type {
        match (&node.arg_type, node.inner.first()) {
            (Some(text), _) => self.unit.type_named(text),
            (None, Some(inner)) => self.unit.type_of(inner),
            (None, None) => Type::int(),
        }
    }
    /// Evaluates a `sizeof` of a variable-length array.
    pub fn variable_size(&mut self, node: &AstNode, span: Span) -> Operand {
        let ty = match (&node.arg_type, node.inner.first()) {
            (None, Some(inner)) if has_effects(inner) => None,
            (None, Some(inner)) => self.exact_type(inner),
            _ => Some(self.sized_type(node)),
        };
        let bytes = ty.and_then(|ty| self.bytes_of_type(&ty, span));
        bytes.unwrap_or_else(|| self.unsupported_value(Construct::SizeOf, node))
    }

    /// Evaluates a length that consists of all tokens.
    fn whole_length(&mut self, length: &[TypeToken], span: Span) -> Option<Operand> {
        let mut text = Text { tokens: length, at: 0 };
        let value = self.length(&mut text, 0, span)?;
        if text.at < text.tokens.len() {
            return None;
        }
        Some(self.keep(value, span))
    }

    fn length(&mut self, text: &mut Text<'_>, level: usize, span: Span) -> Option<Operand> {
        let Some(operators) = LEVELS.get(level) else { return self.length_atom(text, span) };
        let mut value = self.length(text, level + 1, span)?;
        while let Some(&(_, op)) = operators.iter().find(|(sign, _)| text.is(sign)) {
            text.at += 1;
            let right = self.length(text, level + 1, span)?;
            value = self.bin(op, value, right, span);
        }
        Some(value)
    }
    fn length_atom(&mut self, text: &mut Text<'_>, span: Span) -> Option<Operand> {
        let token = text.tokens.get(text.at)?.clone();
        text.at += 1;
        match token {
            TypeToken::Number(number) | TypeToken::Suffixed(number, _) => Some(Operand::Const(Ty::I64, number as u64)),
            TypeToken::Sign(sign) if sign == "(" => {
                let value = self.length(text, 0, span)?;
                let closed = text.is(")");
                text.at += 1;
                closed.then_some(value)
            }
            TypeToken::Sign(sign) if sign == "-" => {
                let value = self.length_atom(text, span)?;
                Some(self.bin(BinOp::Sub, Operand::Const(Ty::I64, 0), value, span))
            }
            TypeToken::Sign(sign) if sign == "++" || sign == "--" => {
                let TypeToken::Word(word) = text.tokens.get(text.at)?.clone() else { return None };
                text.at += 1;
                let (place, ty) = self.length_lvalue(&word, text, span)?;
                self.length_step(place, &ty, &sign, span)?;
                self.length_value(place, &ty, span)
            }
            TypeToken::Sign(_) => None,
            TypeToken::Word(word) if word == "sizeof" => {
                let end = text.tokens[text.at..].iter().position(|token| token.is(")"))? + text.at;
                let inside = text.tokens.get(text.at + 1..end)?.to_vec();
                text.at = end + 1;
                let mut parser = TypeParser::new(inside, &self.unit.scopes, &self.unit.program.types);
                let ty = parser.type_name()?;
                Some(Operand::Const(Ty::I64, self.element_size(&ty.pointer_to())?))
            }
            TypeToken::Word(word) if word.starts_with(FROZEN) => {
                let number: usize = word.strip_prefix(FROZEN)?.parse().ok()?;
                self.lengths.get(number).map(|reg| Operand::Reg(*reg))
            }
            TypeToken::Word(word) if text.is("(") => self.length_call(&word, text, span),
            TypeToken::Word(word) => {
                if let (None, Some(value)) = (self.unit.scopes.variable(&word), self.unit.scopes.constants.get(&word)) {
                    return Some(Operand::Const(Ty::I64, *value as u64));
                }
                let (place, ty) = self.length_lvalue(&word, text, span)?;
                let value = self.length_value(place, &ty, span)?;
                if let Some(sign) = ["++", "--"].into_iter().find(|sign| text.is(sign)) {
                    text.at += 1;
                    let value = self.keep(value, span);
                    self.length_step(place, &ty, sign, span)?;
                    return Some(value);
                }
                Some(value)
            }
        }
    }
    /// Evaluates the effect of `n++` and the like in a length.
    fn length_step(&mut self, place: Location, ty: &Type, sign: &str, span: Span) -> Option<()> {
        if !matches!(ty.kind, TypeKind::Int { .. }) {
            return None;
        }
        let old = self.load(place, ty, span);
        let new = self.stepped(old, ty, sign == "++", span);
        self.store(place, new, span);
        Some(())
    }
    /// Reads an integer as a length.
    fn length_value(&mut self, place: Location, ty: &Type, span: Span) -> Option<Operand> {
        if !is_integer(ty) {
            return None;
        }
        let value = self.load(place, ty, span);
        let signed = self.unit.program.types.is_signed(ty);
        Some(self.resize(value, Ty::I64, signed, span))
    }
    /// Parses a designator: `n`, `header->count`, `sizes[2]`.
    fn length_lvalue(&mut self, name: &str, text: &mut Text<'_>, span: Span) -> Option<(Location, Type)> {
        let (mut place, mut ty) = match self.unit.scopes.variable(name).cloned() {
            Some((id, ty)) => (self.local_location(id, span)?, ty),
            None => {
                let (global, ty) = self.unit.global_declared(name)?;
                (Location::Memory(self.global_address(global, span), 0), ty)
            }
        };
        loop {
            if text.is("->") || text.is(".") {
                if text.is("->") {
                    let pointee = ty.element()?.clone();
                    place = Location::Memory(self.length_pointer(place, &ty, span)?, 0);
                    ty = pointee;
                }
                let TypeToken::Word(name) = text.tokens.get(text.at + 1)? else { return None };
                let (offset, inner) = member(&self.unit.program.types, &ty, name)?;
                let Location::Memory(base, before) = place else { return None };
                (place, ty) = (Location::Memory(base, before.wrapping_add(offset as i64)), inner);
                text.at += 2;
            } else if text.is("[") {
                let pointee = ty.element()?.clone();
                let base = self.length_pointer(place, &ty, span)?;
                text.at += 1;
                let index = self.length(text, 0, span)?;
                if !text.is("]") {
                    return None;
                }
                text.at += 1;
                let size = self.element_size(&pointee.clone().pointer_to())?;
                let offset = self.bin_scaled(index, size, span);
                (place, ty) = (Location::Memory(self.offset(base, offset, span), 0), pointee);
            } else {
                return Some((place, ty));
            }
        }
    }
    /// Reads a pointer, or takes the address of an array.
    fn length_pointer(&mut self, place: Location, ty: &Type, span: Span) -> Option<Operand> {
        match ty.kind {
            TypeKind::Pointer(_) => Some(self.load(place, ty, span)),
            TypeKind::Array(..) => Some(self.address(place, span)),
            _ => None,
        }
    }
    /// Lowers a call of a function with integers and pointers: `strlen(name)`.
    fn length_call(&mut self, name: &str, text: &mut Text<'_>, span: Span) -> Option<Operand> {
        let signature = match self.unit.function_declared(name)?.kind {
            TypeKind::Function(signature) if !signature.variadic && is_integer(&signature.result) => signature,
            _ => return None,
        };
        text.at += 1;
        let mut args = Vec::new();
        for (index, param) in signature.params.iter().enumerate() {
            if index > 0 {
                if !text.is(",") {
                    return None;
                }
                text.at += 1;
            }
            args.push(if param.is_pointer() {
                let TypeToken::Word(word) = text.tokens.get(text.at)?.clone() else { return None };
                text.at += 1;
                let (place, ty) = self.length_lvalue(&word, text, span)?;
                self.length_pointer(place, &ty, span)?
            } else if is_integer(param) {
                let value = self.length(text, 0, span)?;
                let ty = self.unit.program.types.scalar(param);
                self.resize(value, ty, true, span)
            } else {
                return None;
            });
        }
        if !text.is(")") {
            return None;
        }
        text.at += 1;
        let callee = Callee::Direct(self.unit.function_named(name, None));
        let dst = self.temp(self.unit.program.types.scalar(&signature.result));
        self.emit(InstKind::Call { dst: Some(dst), callee, args }, span);
        let signed = self.unit.program.types.is_signed(&signature.result);
        Some(self.resize(Operand::Reg(dst), Ty::I64, signed, span))
    }
}

/// Returns the length in the brackets after a parameter's name.
fn declared_length<'t>(tokens: &'t [TypeToken], name: &str) -> Option<&'t [TypeToken]> {
    let named = |pair: &[TypeToken]| matches!(&pair[0], TypeToken::Word(word) if word == name) && pair[1].is("[");
    let mut begin = tokens.windows(2).position(named)? + 2;
    let word = |token: &TypeToken| matches!(token, TypeToken::Word(word) if ["static", "const", "restrict", "volatile"].contains(&word.trim_matches('_')));
    while tokens.get(begin).is_some_and(word) {
        begin += 1;
    }
    let mut depth = 1;
    let end = tokens[begin..].iter().position(|token| {
        depth += i32::from(token.is("[")) - i32::from(token.is("]"));
        depth == 0
    })?;
    Some(&tokens[begin..begin + end])
}

/// Counts the side effects of the array lengths in a declaration.
pub(crate) fn effects(declaration: &[TypeToken]) -> usize {
    let mut depth = 0;
    let inside = |token: &&TypeToken| {
        depth += i32::from(token.is("[")) - i32::from(token.is("]"));
        depth > 0
    };
    length_effects(&declaration.iter().filter(inside).cloned().collect::<Vec<TypeToken>>())
}

/// Counts the side effects of a length.
fn length_effects(length: &[TypeToken]) -> usize {
    let called = |pair: &&[TypeToken]| {
        let asks = |word: &str| ["sizeof", "alignof", "Alignof", "typeof"].contains(&word.trim_matches('_'));
        pair[1].is("(") && matches!(&pair[0], TypeToken::Word(word) if !asks(word))
    };
    let changes = length.iter().filter(|token| token.is("++") || token.is("--") || token.is("=")).count();
    changes + length.windows(2).filter(called).count()
}

fn is_constant(length: &[TypeToken]) -> bool {
    matches!(length, [] | [TypeToken::Number(_) | TypeToken::Suffixed(..)])
}

fn is_frozen(length: &[TypeToken]) -> bool {
    matches!(length, [TypeToken::Word(word)] if word.starts_with(FROZEN))
}

fn is_integer(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Enum(_) | TypeKind::Bool)
}

struct Text<'a> {
    tokens: &'a [TypeToken],
    at: usize,
}

impl Text<'_> {
    fn is(&self, sign: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is(sign))
    }
}
