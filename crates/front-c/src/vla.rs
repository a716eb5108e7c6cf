//! Arrays whose length is known when they are declared.
//!
//! clang's JSON has the length as text only, so names are looked up as the source would: sums, products and the like of
//! variables, members, elements, calls and constants are understood, anything else is named as unsupported. The array is an object of the stack
//! that dies at the end of its block.

use crate::ast::Node;
use crate::ctype::{Type, TypeKind};
use crate::func::{Local, Lowerer};
use crate::lifetimes::Life;
use crate::offsetof::member;
use crate::place::Place;
use crate::tokens::Token;
use crate::typename::Parser;
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, Callee, InstKind, Operand, Ty};

/// Operators by how tightly they bind.
const LEVELS: [&[(&str, BinOp)]; 3] = [
    &[("<<", BinOp::Shl), (">>", BinOp::AShr)],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("/", BinOp::SDiv), ("%", BinOp::SRem)],
];

impl Lowerer<'_, '_> {
    /// Declares such an array.
    pub fn declare_variable_array(&mut self, node: &Node, element: &Type, length: &Rc<[Token]>, span: Span) {
        let Some(bytes) = self.array_bytes(element, length, span) else {
            return self.unsupported("variable-length array", node);
        };
        let (pointer, size) = match self.locals.get(&node.id).copied() {
            Some(Local::Variable(pointer, size)) => (pointer, size),
            _ => (self.variable(Ty::Ptr, &node.name), self.variable(Ty::I64, &format!("sizeof {}", node.name))),
        };
        self.emit(InstKind::Copy { dst: size, src: bytes }, span);
        let args = vec![Operand::Reg(size)];
        self.emit(InstKind::Builtin { dst: Some(pointer), builtin: Builtin::Alloca, args }, span);
        self.locals.insert(node.id, Local::Variable(pointer, size));
        self.lives.declare(Life::Array(pointer));
    }

    /// Whether a `sizeof` is of such an array.
    pub fn is_variable_size(&self, node: &Node) -> bool {
        node.name == "sizeof" && matches!(self.sized_type(node).kind, TypeKind::Variable(..))
    }
    fn sized_type(&self, node: &Node) -> Type {
        match (&node.arg_type, node.inner.first()) {
            (Some(text), _) => self.unit.type_named(text),
            (None, Some(inner)) => self.unit.type_of(inner),
            (None, None) => Type::int(),
        }
    }
    /// The value of a `sizeof` of such an array.
    pub fn variable_size(&mut self, node: &Node, span: Span) -> Operand {
        let mut inner = node.inner.first();
        while let Some(paren) = inner.filter(|inner| inner.kind == "ParenExpr") {
            inner = paren.inner.first();
        }
        if let (None, Some(decl)) = (&node.arg_type, inner.and_then(|inner| inner.decl.as_ref()))
            && let Some(Local::Variable(_, size)) = self.locals.get(&decl.id)
        {
            return Operand::Reg(*size);
        }
        let bytes = match self.sized_type(node).kind {
            TypeKind::Variable(element, length) if node.arg_type.is_some() => self.array_bytes(&element, &length, span),
            _ => None,
        };
        bytes.unwrap_or_else(|| self.unsupported_value("sizeof of this type", node))
    }

    fn array_bytes(&mut self, element: &Type, length: &[Token], span: Span) -> Option<Operand> {
        let size = self.element_size(&element.clone().pointer_to())?;
        let mut text = Text { tokens: length, at: 0 };
        let length = self.length(&mut text, 0, span)?;
        if text.at < text.tokens.len() {
            return None;
        }
        let bytes = self.bin_scaled(length, size, span);
        Some(self.keep(bytes, span))
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
            Token::Number(number) | Token::Suffixed(number, _) => Some(Operand::Const(Ty::I64, number as u64)),
            Token::Sign(sign) if sign == "(" => {
                let value = self.length(text, 0, span)?;
                let closed = text.is(")");
                text.at += 1;
                closed.then_some(value)
            }
            Token::Sign(sign) if sign == "-" => {
                let value = self.length_atom(text, span)?;
                Some(self.bin(BinOp::Sub, Operand::Const(Ty::I64, 0), value, span))
            }
            Token::Sign(_) => None,
            Token::Word(word) if word == "sizeof" => {
                let end = text.tokens[text.at..].iter().position(|token| token.is(")"))? + text.at;
                let inside = text.tokens.get(text.at + 1..end)?.to_vec();
                text.at = end + 1;
                let mut parser = Parser::new(inside, &self.unit.scopes, &self.unit.program.types);
                let ty = parser.type_name()?;
                Some(Operand::Const(Ty::I64, self.element_size(&ty.pointer_to())?))
            }
            Token::Word(word) if text.is("(") => self.length_call(&word, text, span),
            Token::Word(word) => {
                if let (None, Some(value)) = (self.unit.scopes.variable(&word), self.unit.scopes.constants.get(&word)) {
                    return Some(Operand::Const(Ty::I64, *value as u64));
                }
                let (place, ty) = self.length_place(&word, text, span)?;
                self.length_value(place, &ty, span)
            }
        }
    }
    /// An integer as a length.
    fn length_value(&mut self, place: Place, ty: &Type, span: Span) -> Option<Operand> {
        if !is_integer(ty) {
            return None;
        }
        let value = self.load(place, ty, span);
        let signed = self.unit.program.types.is_signed(ty);
        Some(self.resize(value, Ty::I64, signed, span))
    }
    /// A variable, and what is in it: `n`, `header->count`, `sizes[2]`.
    fn length_place(&mut self, name: &str, text: &mut Text<'_>, span: Span) -> Option<(Place, Type)> {
        let (mut place, mut ty) = match self.unit.scopes.variable(name).cloned() {
            Some((id, ty)) => (self.local_place(id, span)?, ty),
            None => {
                let (global, ty) = self.unit.global_declared(name)?;
                (Place::Memory(self.global_address(global, span), 0), ty)
            }
        };
        loop {
            if text.is("->") || text.is(".") {
                if text.is("->") {
                    let pointee = ty.element()?.clone();
                    place = Place::Memory(self.length_pointer(place, &ty, span)?, 0);
                    ty = pointee;
                }
                let Token::Word(name) = text.tokens.get(text.at + 1)? else { return None };
                let (offset, inner) = member(&self.unit.program.types, &ty, name)?;
                let Place::Memory(base, before) = place else { return None };
                (place, ty) = (Place::Memory(base, before.wrapping_add(offset as i64)), inner);
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
                (place, ty) = (Place::Memory(self.offset(base, offset, span), 0), pointee);
            } else {
                return Some((place, ty));
            }
        }
    }
    /// A pointer, or an array as one.
    fn length_pointer(&mut self, place: Place, ty: &Type, span: Span) -> Option<Operand> {
        match ty.kind {
            TypeKind::Pointer(_) => Some(self.load(place, ty, span)),
            TypeKind::Array(..) => Some(self.address(place, span)),
            _ => None,
        }
    }
    /// A call of a function with integers and pointers: `strlen(name)`.
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
                let Token::Word(word) = text.tokens.get(text.at)?.clone() else { return None };
                text.at += 1;
                let (place, ty) = self.length_place(&word, text, span)?;
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

fn is_integer(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Enum(_) | TypeKind::Bool)
}

struct Text<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Text<'_> {
    fn is(&self, sign: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is(sign))
    }
}
