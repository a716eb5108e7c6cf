//! The type of an expression that is available only as source text: the operand in `typeof (p->next) *`.
//!
//! clang's JSON has the type of a `typeof` only where the `typeof` is the whole type. In a declarator (`const typeof
//! (((struct item *)0)->list) *`, as in `container_of`) the expression is parsed here, with names resolved in the
//! current scopes. A name that visible scopes declare with different types is rejected, since the text may be used in
//! an inner scope of its origin. Statement expressions, `_Generic` and strings are rejected, too.

use crate::types::ctype::{Type, TypeKind, TypeTable};
use crate::types::offsetof::member;
use crate::types::tokens::TypeToken;
use crate::types::typename::TypeParser;
use touchstone_base::float::Format;

/// Binary operators by increasing precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl TypeParser<'_> {
    /// Returns the type of the expression that consists of all tokens.
    pub fn operand_type(&mut self) -> Option<Type> {
        let ty = self.comma_type()?;
        self.peek().is_none().then_some(ty)
    }
    fn comma_type(&mut self) -> Option<Type> {
        let mut ty = self.conditional_type()?;
        while self.accept(",") {
            ty = decayed(self.conditional_type()?);
        }
        Some(ty)
    }
    fn conditional_type(&mut self) -> Option<Type> {
        let condition = self.binary_type(0)?;
        if self.accept("=") {
            self.conditional_type()?;
            return Some(unqualified(condition));
        }
        if !self.accept("?") {
            return Some(condition);
        }
        let yes = decayed(self.comma_type()?);
        if !self.accept(":") {
            return None;
        }
        let no = decayed(self.conditional_type()?);
        match (yes.is_pointer(), no.is_pointer()) {
            (false, false) if yes.is_record() && yes == no => Some(yes),
            (false, false) => self.common(&yes, &no),
            // A null pointer constant takes the type of the other operand; `void *` is not told apart from it.
            (true, false) => Some(yes),
            (false, true) => Some(no),
            (true, true) => (yes == no).then_some(yes),
        }
    }
    fn binary_type(&mut self, level: usize) -> Option<Type> {
        let Some(signs) = LEVELS.get(level) else { return self.unary_type() };
        let mut left = self.binary_type(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.is(sign)) {
            self.skip();
            let right = decayed(self.binary_type(level + 1)?);
            let from = decayed(left);
            left = match *sign {
                "||" | "&&" | "==" | "!=" | "<" | ">" | "<=" | ">=" => Type::int(),
                "<<" | ">>" => self.promoted(&from)?,
                "-" if from.is_pointer() && right.is_pointer() => long(true),
                "+" | "-" if from.is_pointer() => from,
                "+" if right.is_pointer() => right,
                _ => self.common(&from, &right)?,
            };
        }
        Some(left)
    }
    fn unary_type(&mut self) -> Option<Type> {
        let sign = ["*", "&", "-", "+", "~", "!", "++", "--"].into_iter().find(|sign| self.is(sign));
        if let Some(sign) = sign {
            self.skip();
            let ty = self.unary_type()?;
            return match sign {
                "*" if matches!(ty.kind, TypeKind::Function(_)) => Some(ty),
                "*" => decayed(ty).element().cloned(),
                "&" => Some(ty.pointer_to()),
                "!" => Some(Type::int()),
                "++" | "--" => Some(unqualified(ty)),
                _ => self.promoted(&ty),
            };
        }
        match self.word() {
            Some("__extension__") => {
                self.skip();
                return self.unary_type();
            }
            Some("sizeof" | "_Alignof" | "__alignof__" | "__alignof") => {
                self.skip();
                if self.is("(") {
                    self.group()?;
                } else {
                    self.unary_type()?;
                }
                return Some(long(false));
            }
            _ => {}
        }
        if self.is("(") {
            let tokens = self.group()?;
            if tokens.first().is_some_and(|token| token.is("{")) {
                return None;
            }
            let mut inner = self.inside(tokens);
            if let Some(ty) = inner.type_name()
                && inner.peek().is_none()
            {
                if self.is("{") {
                    return None;
                }
                self.unary_type()?;
                return Some(unqualified(ty));
            }
            inner.rewind();
            let ty = inner.operand_type()?;
            return self.postfix_type(ty);
        }
        let ty = self.primary_type()?;
        self.postfix_type(ty)
    }
    fn primary_type(&mut self) -> Option<Type> {
        let token = self.peek()?.clone();
        self.skip();
        match token {
            TypeToken::Number(_) => Some(Type::int()),
            TypeToken::Suffixed(_, suffix) => integer_type(&suffix),
            TypeToken::Sign(text) if text.starts_with(|c: char| c.is_ascii_digit()) => float_type(&text),
            TypeToken::Sign(_) => None,
            TypeToken::Word(word) => self.scopes.value_type(&word),
        }
    }
    fn postfix_type(&mut self, mut ty: Type) -> Option<Type> {
        loop {
            if self.accept("[") {
                let index = self.comma_type()?;
                if !self.accept("]") {
                    return None;
                }
                let base = decayed(ty);
                let pointer = if base.is_pointer() { base } else { decayed(index) };
                ty = pointer.element()?.clone();
            } else if self.is(".") || self.is("->") {
                let arrow = self.is("->");
                self.skip();
                let name = self.word()?.to_string();
                self.skip();
                let record = if arrow { decayed(ty).element()?.clone() } else { ty };
                let mut part = member(self.types, &record, &name)?.1;
                part.is_const |= record.is_const;
                ty = part;
            } else if self.is("(") {
                self.group()?;
                let called = decayed(ty);
                let TypeKind::Function(signature) = &called.element()?.kind else { return None };
                ty = unqualified(signature.result.clone());
            } else if self.accept("++") || self.accept("--") {
                ty = unqualified(ty);
            } else {
                return Some(ty);
            }
        }
    }

    /// Applies integer promotion; other arithmetic types are unchanged.
    fn promoted(&self, ty: &Type) -> Option<Type> {
        promoted(ty, self.types)
    }
    /// Applies the usual arithmetic conversions.
    fn common(&self, a: &Type, b: &Type) -> Option<Type> {
        let (a, b) = (self.promoted(a)?, self.promoted(b)?);
        let rank = |ty: &Type| match &ty.kind {
            TypeKind::LongDouble => Some(8),
            TypeKind::Float { format: Format::F64, .. } => Some(7),
            TypeKind::Float { .. } => Some(6),
            TypeKind::Int128 { .. } => Some(5),
            TypeKind::Int { name: "long long" | "unsigned long long", .. } => Some(4),
            TypeKind::Int { bits: 64, .. } => Some(3),
            TypeKind::Int { .. } => Some(2),
            _ => None,
        };
        let (of_a, of_b) = (rank(&a)?, rank(&b)?);
        let (high, low) = if of_a >= of_b { (a, b) } else { (b, a) };
        let unsigned = |ty: &Type| !self.types.is_signed(ty);
        let whole = matches!(high.kind, TypeKind::Int { .. } | TypeKind::Int128 { .. });
        let same_width = whole && self.types.size(&high) == self.types.size(&low);
        Some(if same_width && unsigned(&low) { to_unsigned(high) } else { high })
    }
}

fn promoted(ty: &Type, types: &TypeTable) -> Option<Type> {
    let narrow = match &ty.kind {
        TypeKind::Bool => true,
        TypeKind::Int { bits, .. } => *bits < 32,
        TypeKind::Enum(_) => {
            let (bits, signed) = (types.size(ty) * 8, types.is_signed(ty));
            return Some(match (bits, signed) {
                (64, signed) => long(signed),
                (32, false) => to_unsigned(Type::int()),
                _ => Type::int(),
            });
        }
        TypeKind::Float { .. } | TypeKind::LongDouble | TypeKind::Int128 { .. } => false,
        _ => return None,
    };
    Some(if narrow { Type::int() } else { unqualified(Type { alias: None, ..ty.clone() }) })
}

/// Returns the type after decay: arrays and functions become pointers.
fn decayed(ty: Type) -> Type {
    match &ty.kind {
        TypeKind::Array(element, _) | TypeKind::OpenArray(element) => (**element).clone().pointer_to(),
        TypeKind::Function(_) => ty.pointer_to(),
        _ => ty,
    }
}

fn unqualified(ty: Type) -> Type {
    Type { is_const: false, is_volatile: false, ..ty }
}

fn long(signed: bool) -> Type {
    Type::plain(TypeKind::Int { name: if signed { "long" } else { "unsigned long" }, bits: 64, signed })
}

fn to_unsigned(ty: Type) -> Type {
    let kind = match ty.kind {
        TypeKind::Int { bits, name, .. } => {
            let name = match (bits, name) {
                (64, "long long" | "unsigned long long") => "unsigned long long",
                (64, _) => "unsigned long",
                _ => "unsigned int",
            };
            TypeKind::Int { name, bits, signed: false }
        }
        TypeKind::Int128 { .. } => TypeKind::Int128 { signed: false },
        other => other,
    };
    Type::plain(kind)
}

/// Returns the type of an integer literal from its suffix, which clang always prints.
fn integer_type(suffix: &str) -> Option<Type> {
    let suffix = suffix.to_ascii_lowercase();
    let kind = match suffix.as_str() {
        "u" => TypeKind::Int { name: "unsigned int", bits: 32, signed: false },
        "l" => TypeKind::Int { name: "long", bits: 64, signed: true },
        "ll" => TypeKind::Int { name: "long long", bits: 64, signed: true },
        "ul" | "lu" => TypeKind::Int { name: "unsigned long", bits: 64, signed: false },
        "ull" | "llu" => TypeKind::Int { name: "unsigned long long", bits: 64, signed: false },
        _ => return None,
    };
    Some(Type::plain(kind))
}

fn float_type(text: &str) -> Option<Type> {
    let (name, format) = match text.chars().last()?.to_ascii_lowercase() {
        'f' if !text.starts_with("0x") => ("float", Format::F32),
        'l' => return Some(Type::plain(TypeKind::LongDouble)),
        '0'..='9' | '.' => ("double", Format::F64),
        _ => return None,
    };
    Some(Type::plain(TypeKind::Float { name, format }))
}
