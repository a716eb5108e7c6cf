//! A parser of type names (in clang's spelling) and of parameter declarations (as `-ast-print` prints them).

use crate::construct::Construct;
use crate::types::ctype::{FunctionSignature, Type, TypeKind, TypeTable};
use crate::types::scope::{Scopes, TagType};
use crate::types::tokens::{TypeToken, tokenize};
use std::rc::Rc;
use touchstone_base::float::Format;

/// Returns the type that a text names; an unsupported type if it can't be parsed.
pub(crate) fn parse_type(text: &str, scopes: &Scopes, types: &TypeTable) -> Type {
    parse_known(text, scopes, types).unwrap_or_else(|| Type::unsupported(text, Construct::UnknownType))
}

/// Returns the type that a text names, or `None` if it can't be parsed.
pub(crate) fn parse_known(text: &str, scopes: &Scopes, types: &TypeTable) -> Option<Type> {
    let text = replace_unnamed(text, scopes)?;
    let mut parser = TypeParser::new(tokenize(&text), scopes, types);
    let ty = parser.type_name()?;
    parser.peek().is_none().then_some(ty)
}

/// Replaces `(unnamed struct at file:1:2)` by a word that the parser resolves.
fn replace_unnamed(text: &str, scopes: &Scopes) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let Some(start) = ["(unnamed ", "(anonymous "].iter().filter_map(|mark| rest.find(mark)).min() else {
            out.push_str(rest);
            return Some(out);
        };
        let at = start + rest[start..].find(" at ")? + 4;
        let end = at + place_end(&rest[at..])?;
        out.push_str(&rest[..start]);
        match scopes.unnamed.get(&rest[at..end]) {
            Some(TagType::Record(id)) => out.push_str(&format!("$record{id}")),
            Some(TagType::Enum(id)) => out.push_str(&format!("$enum{id}")),
            None => out.push_str("$unknown"),
        }
        rest = &rest[end + 1..];
    }
}

/// Returns the length of a `file:line:column` before a closing parenthesis.
fn place_end(text: &str) -> Option<usize> {
    text.match_indices(')').map(|(end, _)| end).find(|&end| {
        let mut parts = text[..end].rsplit(':');
        let is_number = |part: Option<&str>| {
            part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some()
    })
}

/// A recursive-descent parser over tokens.
pub(crate) struct TypeParser<'a> {
    tokens: Vec<TypeToken>,
    at: usize,
    pub scopes: &'a Scopes,
    pub types: &'a TypeTable,
}

impl<'a> TypeParser<'a> {
    /// Creates a parser at the first token.
    pub fn new(tokens: Vec<TypeToken>, scopes: &'a Scopes, types: &'a TypeTable) -> TypeParser<'a> {
        TypeParser { tokens, at: 0, scopes, types }
    }
    /// Creates a parser of other tokens in the same scopes.
    pub fn inside(&self, tokens: Vec<TypeToken>) -> TypeParser<'a> {
        TypeParser::new(tokens, self.scopes, self.types)
    }
    /// Advances to the next token.
    pub fn skip(&mut self) {
        self.at += 1;
    }
    /// Returns to the first token.
    pub fn rewind(&mut self) {
        self.at = 0;
    }
    /// Returns the next token.
    pub fn peek(&self) -> Option<&TypeToken> {
        self.tokens.get(self.at)
    }
    /// Returns true if the next token is this punctuator.
    pub fn is(&self, sign: &str) -> bool {
        self.peek().is_some_and(|token| token.is(sign))
    }
    /// Skips a punctuator if it is next; returns true if it was.
    pub fn accept(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }
    /// Returns the next token if it is an identifier or keyword.
    pub fn word(&self) -> Option<&str> {
        match self.peek() {
            Some(TypeToken::Word(word)) => Some(word),
            _ => None,
        }
    }
    /// Skips a balanced parenthesis and returns the tokens in it.
    pub fn group(&mut self) -> Option<Vec<TypeToken>> {
        if !self.accept("(") {
            return None;
        }
        let start = self.at;
        let mut depth = 1;
        while depth > 0 {
            let token = self.peek()?;
            if token.is("(") {
                depth += 1;
            } else if token.is(")") {
                depth -= 1;
            }
            self.at += 1;
        }
        Some(self.tokens[start..self.at - 1].to_vec())
    }

    /// Parses a type name, with an abstract declarator.
    pub fn type_name(&mut self) -> Option<Type> {
        let base = self.specifiers()?;
        Some(self.declarator(base)?.0)
    }
    /// Parses a parameter declaration; returns its type as declared (arrays not decayed) and its name.
    pub fn parameter(&mut self) -> Option<(Type, Option<String>)> {
        let base = self.specifiers()?;
        self.declarator(base)
    }

    /// Skips an attribute, if one is next; returns the vector type that it declares, if any.
    fn skip_attribute(&mut self) -> Option<Option<VectorAttribute>> {
        if !matches!(self.word(), Some("__attribute__" | "__attribute" | "_Alignas" | "alignas")) {
            return None;
        }
        self.at += 1;
        let tokens = self.group()?;
        let is_vector = |token: &TypeToken| matches!(token, TypeToken::Word(word) if word.contains("vector_"));
        let Some(at) = tokens.iter().position(is_vector) else { return Some(None) };
        let mut inner = TypeParser::new(tokens, self.scopes, self.types);
        let name = inner.tokens[at].clone();
        inner.at = at + 1;
        let number = inner.group().and_then(|tokens| TypeParser::new(tokens, self.scopes, self.types).ternary());
        let number = number.and_then(|number| u64::try_from(number).ok());
        let is = |names: [&str; 2]| matches!(&name, TypeToken::Word(word) if names.contains(&word.as_str()));
        Some(Some(match number {
            Some(bytes) if is(["vector_size", "__vector_size__"]) => VectorAttribute::Bytes(bytes),
            Some(lanes) if is(["ext_vector_type", "__ext_vector_type__"]) => VectorAttribute::Lanes(lanes),
            _ => VectorAttribute::Unknown,
        }))
    }

    fn specifiers(&mut self) -> Option<Type> {
        let mut words = Specifiers::default();
        loop {
            if let Some(vector) = self.skip_attribute() {
                words.vector = words.vector.or(vector);
                continue;
            }
            let Some(word) = self.word().map(str::to_string) else { break };
            match word.as_str() {
                "const" | "__const" => words.is_const = true,
                "volatile" | "__volatile__" => words.is_volatile = true,
                "restrict" | "__restrict" | "__restrict__" | "register" | "__extension__" | "static" | "extern"
                | "inline" | "_Noreturn" | "_Nonnull" | "_Nullable" => {}
                "signed" | "__signed__" => words.signed = true,
                "unsigned" => words.unsigned = true,
                "short" => words.short = true,
                "long" => words.long += 1,
                "_Complex" => words.complex = true,
                "bool" if words.is_empty() && self.scopes.typedef("bool").is_some() => words.ty = self.alias("bool"),
                "void" | "_Bool" | "bool" | "char" | "int" | "float" | "double" | "__int128" | "_Float16"
                | "__fp16" | "__bf16" | "_Float32" | "_Float64" | "__float128" | "_Float128" | "nullptr_t" => {
                    words.base = Some(word)
                }
                "typeof" | "__typeof__" | "__typeof" | "typeof_unqual" => {
                    self.at += 1;
                    words.ty = Some(self.type_of_operand()?);
                    continue;
                }
                // Programs run in one thread: an atomic scalar is a plain object.
                "_Atomic" if self.tokens.get(self.at + 1).is_some_and(|token| token.is("(")) => {
                    words.ty = Some(self.atomic()?);
                    continue;
                }
                // Other threads may change it at any time, like a volatile object.
                "_Atomic" => words.is_volatile = true,
                "_BitInt" => return self.wrapped("_BitInt", Construct::BitInt),
                "struct" | "union" | "enum" => {
                    self.at += 1;
                    words.ty = Some(self.tag(&word)?);
                    continue;
                }
                _ if words.is_empty() => {
                    let Some(ty) = self.alias(&word) else { break };
                    words.ty = Some(ty);
                }
                _ => break,
            }
            self.at += 1;
        }
        words.build(self.types)
    }

    fn alias(&self, word: &str) -> Option<Type> {
        if word == "__builtin_va_list" || word == "va_list" && self.scopes.typedef(word).is_none() {
            let list = Type::plain(TypeKind::Record(TypeTable::ARGUMENT_LIST));
            return Some(Type::plain(TypeKind::Array(Rc::new(list), 1)));
        }
        let mut ty = self.scopes.typedef(word)?.clone();
        // Integers keep the typedef name of the source; pointers, arrays and structures are shown by their structure.
        if matches!(
            ty.kind,
            TypeKind::Int { .. } | TypeKind::Int128 { .. } | TypeKind::Bool | TypeKind::Unsupported { .. }
        ) {
            ty.alias = Some(Rc::from(word));
        }
        Some(ty)
    }

    /// Parses the operand of `typeof`, a type or an expression; an unknown expression has an unsupported type.
    fn type_of_operand(&mut self) -> Option<Type> {
        let tokens = self.group()?;
        let mut inner = self.inside(tokens);
        if let Some(ty) = inner.type_name()
            && inner.peek().is_none()
        {
            return Some(ty);
        }
        inner.rewind();
        Some(inner.operand_type().unwrap_or_else(|| Type::unsupported("typeof", Construct::TypeofExpression)))
    }
    /// Parses `_Atomic(int)`.
    fn atomic(&mut self) -> Option<Type> {
        let start = self.at;
        self.at += 1;
        let tokens = self.group()?;
        match self.inside(tokens).type_name()? {
            ty if ty.is_record() => {
                self.at = start;
                self.wrapped("_Atomic", Construct::Atomic)
            }
            ty => Some(Type { is_volatile: true, ..ty }),
        }
    }
    /// Parses `_Atomic(struct s)` and `_BitInt(7)`, which are unsupported.
    fn wrapped(&mut self, spelling: &str, construct: Construct) -> Option<Type> {
        self.at += 1;
        let tokens = self.group()?;
        let inner = TypeParser::new(tokens, self.scopes, self.types).type_name();
        let (size, align) = inner.map_or((0, 1), |inner| (self.types.size(&inner), self.types.align(&inner)));
        Some(Type::plain(TypeKind::Unsupported { spelling: Rc::from(spelling), construct, size, align }))
    }

    fn tag(&mut self, keyword: &str) -> Option<Type> {
        let mut name = self.word()?.to_string();
        self.at += 1;
        while self.accept("::") {
            name = self.word()?.to_string();
            self.at += 1;
        }
        let numbered = |prefix: &str| name.strip_prefix(prefix).and_then(|digits| digits.parse::<usize>().ok());
        if let Some(id) = numbered("$record") {
            return Some(Type::plain(TypeKind::Record(id)));
        }
        if let Some(id) = numbered("$enum") {
            return Some(Type::plain(TypeKind::Enum(id)));
        }
        let full = format!("{keyword} {name}");
        if full == "struct __va_list_tag" {
            return Some(Type::plain(TypeKind::Record(TypeTable::ARGUMENT_LIST)));
        }
        match self.scopes.tag(&full) {
            Some(TagType::Record(id)) => Some(Type::plain(TypeKind::Record(id))),
            Some(TagType::Enum(id)) => Some(Type::plain(TypeKind::Enum(id))),
            // An unnamed structure has the name of its typedef.
            None => match self.scopes.typedef(&name) {
                Some(ty) => Some(ty.clone()),
                None => Some(Type::unsupported(&full, Construct::IncompleteType)),
            },
        }
    }

    fn declarator(&mut self, mut base: Type) -> Option<(Type, Option<String>)> {
        loop {
            if self.accept("*") {
                base = base.pointer_to();
                while let Some(word) = self.word() {
                    match word {
                        "const" => base.is_const = true,
                        "volatile" => base.is_volatile = true,
                        "restrict" | "__restrict" | "__restrict__" | "_Nonnull" | "_Nullable" => {}
                        _ => break,
                    }
                    self.at += 1;
                }
            } else if self.accept("^") {
                base = Type::unsupported("block", Construct::BlockPointer);
            } else if self.skip_attribute().is_none() {
                break;
            }
        }
        let grouped = self.is("(")
            && self.tokens.get(self.at + 1).is_some_and(|token| token.is("*") || token.is("^") || token.is("("));
        if grouped {
            let tokens = self.group()?;
            let base = self.suffixes(base)?;
            let mut inner = TypeParser::new(tokens, self.scopes, self.types);
            return inner.declarator(base);
        }
        let name = self.word().map(str::to_string);
        self.at += usize::from(name.is_some());
        Some((self.suffixes(base)?, name))
    }

    fn suffixes(&mut self, base: Type) -> Option<Type> {
        while self.skip_attribute().is_some() {}
        if self.accept("[") {
            while matches!(self.word(), Some("static" | "const" | "restrict" | "volatile")) {
                self.at += 1;
            }
            if self.is("*") && self.tokens.get(self.at + 1).is_some_and(|token| token.is("]")) {
                self.at += 1;
            }
            let start = self.at;
            let length = if self.is("]") { None } else { Some(self.length()) };
            let tokens = self.tokens.get(start..self.at).unwrap_or_default();
            let tokens: Rc<[TypeToken]> = tokens.into();
            if !self.accept("]") {
                return None;
            }
            let element = self.suffixes(base)?;
            return Some(match length {
                None => Type::plain(TypeKind::OpenArray(Rc::new(element))),
                Some(Some(length)) => Type::plain(TypeKind::Array(Rc::new(element), length)),
                Some(None) => Type::plain(TypeKind::Variable(Rc::new(element), tokens)),
            });
        }
        if self.is("(") {
            let tokens = self.group()?;
            let signature = self.signature(tokens, base)?;
            while self.skip_attribute().is_some() {}
            return Some(Type::plain(TypeKind::Function(Rc::new(signature))));
        }
        Some(base)
    }

    /// Parses the length of an array up to `]`; `None` if it is no supported constant.
    fn length(&mut self) -> Option<u64> {
        let start = self.at;
        let value = self.ternary();
        if self.is("]") && value.is_some() {
            return value.and_then(|value| u64::try_from(value).ok());
        }
        self.at = start;
        let mut depth = 0;
        while let Some(token) = self.peek() {
            if token.is("]") && depth == 0 {
                break;
            }
            depth += i32::from(token.is("[")) - i32::from(token.is("]"));
            self.at += 1;
        }
        None
    }

    fn signature(&self, tokens: Vec<TypeToken>, result: Type) -> Option<FunctionSignature> {
        let mut signature =
            FunctionSignature { result, params: Vec::new(), variadic: false, prototype: !tokens.is_empty() };
        if matches!(tokens.as_slice(), [token] if token.is_word("void")) {
            return Some(signature);
        }
        for tokens in split_commas(&tokens) {
            if matches!(tokens.as_slice(), [token] if token.is("...")) {
                signature.variadic = true;
            } else {
                let (ty, _) = TypeParser::new(tokens, self.scopes, self.types).parameter()?;
                signature.params.push(ty);
            }
        }
        Some(signature)
    }

    // Constant expressions in array lengths.

    /// Returns the value of the constant expression that consists of all tokens.
    pub fn constant(&mut self) -> Option<i64> {
        let value = self.ternary()?;
        self.peek().is_none().then_some(value)
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if self.accept("?") {
            let yes = self.ternary()?;
            if !self.accept(":") {
                return None;
            }
            let no = self.ternary()?;
            return Some(if condition != 0 { yes } else { no });
        }
        Some(condition)
    }
    fn binary(&mut self, level: usize) -> Option<i64> {
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
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.is(sign)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = match *sign {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.checked_shl(u32::try_from(right).ok()?)?,
                ">>" => left.checked_shr(u32::try_from(right).ok()?)?,
                "+" => left.checked_add(right)?,
                "-" => left.checked_sub(right)?,
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }
    fn unary(&mut self) -> Option<i64> {
        if self.accept("-") {
            return self.unary()?.checked_neg();
        }
        if self.accept("+") {
            return self.unary();
        }
        if self.accept("~") {
            return Some(!self.unary()?);
        }
        if self.accept("!") {
            return Some(i64::from(self.unary()? == 0));
        }
        if let Some(number) = self.peek().and_then(TypeToken::number) {
            self.at += 1;
            return Some(number);
        }
        if self.is("(") {
            let tokens = self.group()?;
            let mut inner = TypeParser::new(tokens, self.scopes, self.types);
            if let Some(ty) = inner.type_name()
                && inner.peek().is_none()
            {
                let value = self.unary()?;
                return Some(truncate(value, self.types.scalar(&ty).bits(), self.types.is_signed(&ty)));
            }
            inner.at = 0;
            let value = inner.ternary()?;
            return inner.peek().is_none().then_some(value);
        }
        let word = self.word()?.to_string();
        self.at += 1;
        if word == "sizeof" || word == "_Alignof" {
            let tokens = self.group()?;
            let mut inner = TypeParser::new(tokens, self.scopes, self.types);
            let ty = inner.type_name()?;
            let size = if word == "sizeof" { self.types.size(&ty) } else { self.types.align(&ty) };
            return (inner.peek().is_none() && size > 0).then_some(size as i64);
        }
        self.scopes.constants.get(&word).copied()
    }
}

fn truncate(value: i64, bits: u8, signed: bool) -> i64 {
    let masked = touchstone_ir::mask(value as u64, bits);
    if signed { touchstone_ir::sign_extend(masked, bits) } else { masked as i64 }
}

/// Splits tokens at the commas outside of brackets.
pub(crate) fn split_commas(tokens: &[TypeToken]) -> Vec<Vec<TypeToken>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0;
    for token in tokens {
        if token.is("(") || token.is("[") || token.is("{") {
            depth += 1;
        } else if token.is(")") || token.is("]") || token.is("}") {
            depth -= 1;
        }
        if depth == 0 && token.is(",") {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
    }
    if parts.len() == 1 && parts[0].is_empty() {
        parts.clear();
    }
    parts
}

/// The vector type that an attribute declares.
#[derive(Clone, Copy)]
enum VectorAttribute {
    Bytes(u64),
    Lanes(u64),
    /// An unsupported vector attribute.
    Unknown,
}

/// The declaration specifiers before a declarator.
#[derive(Default)]
struct Specifiers {
    is_const: bool,
    is_volatile: bool,
    signed: bool,
    unsigned: bool,
    short: bool,
    long: u8,
    complex: bool,
    vector: Option<VectorAttribute>,
    base: Option<String>,
    ty: Option<Type>,
}

impl Specifiers {
    fn is_empty(&self) -> bool {
        self.ty.is_none() && self.base.is_none() && !self.signed && !self.unsigned && !self.short && self.long == 0
    }

    fn build(self, types: &TypeTable) -> Option<Type> {
        if self.is_empty() {
            return None;
        }
        let float = |spelling: &str, construct, size| TypeKind::Unsupported {
            spelling: Rc::from(spelling),
            construct,
            size,
            align: size,
        };
        let (single, double) = (
            TypeKind::Float { name: "float", format: Format::F32 },
            TypeKind::Float { name: "double", format: Format::F64 },
        );
        let mut ty = match (self.ty, self.base.as_deref()) {
            (Some(ty), _) => ty,
            (None, Some("void")) => Type::plain(TypeKind::Void),
            (None, Some("_Bool" | "bool")) => Type::plain(TypeKind::Bool),
            (None, Some("float" | "_Float32")) => Type::plain(single),
            (None, Some("double")) if self.long > 0 => Type::plain(TypeKind::LongDouble),
            (None, Some("double" | "_Float64" | "_Float32x")) => Type::plain(double),
            (None, Some("_Float16" | "__fp16" | "__bf16")) => Type::plain(float("_Float16", Construct::Float16, 2)),
            (None, Some("__float128" | "_Float128")) => Type::plain(float("__float128", Construct::Float128, 16)),
            (None, Some("__int128")) => Type::plain(TypeKind::Int128 { signed: !self.unsigned }),
            (None, Some("nullptr_t")) => Type::plain(TypeKind::Void).pointer_to(),
            (None, Some("char")) => Type::plain(match (self.signed, self.unsigned) {
                (true, _) => TypeKind::Int { name: "signed char", bits: 8, signed: true },
                (_, true) => TypeKind::Int { name: "unsigned char", bits: 8, signed: false },
                _ => TypeKind::Int { name: "char", bits: 8, signed: types.char_signed },
            }),
            _ => Type::plain(match (self.short, self.long, self.unsigned) {
                (true, _, false) => TypeKind::Int { name: "short", bits: 16, signed: true },
                (true, _, true) => TypeKind::Int { name: "unsigned short", bits: 16, signed: false },
                (_, 0, false) => TypeKind::Int { name: "int", bits: 32, signed: true },
                (_, 0, true) => TypeKind::Int { name: "unsigned int", bits: 32, signed: false },
                (_, 1, false) => TypeKind::Int { name: "long", bits: 64, signed: true },
                (_, 1, true) => TypeKind::Int { name: "unsigned long", bits: 64, signed: false },
                (_, _, false) => TypeKind::Int { name: "long long", bits: 64, signed: true },
                (_, _, true) => TypeKind::Int { name: "unsigned long long", bits: 64, signed: false },
            }),
        };
        if self.complex {
            ty = Type::plain(TypeKind::Complex(Rc::new(ty)));
        }
        if let Some(vector) = self.vector {
            let size = types.size(&ty).max(1);
            ty = match vector {
                VectorAttribute::Bytes(bytes) if bytes % size == 0 => {
                    Type::plain(TypeKind::Vector(Rc::new(ty), bytes / size))
                }
                VectorAttribute::Lanes(lanes) => Type::plain(TypeKind::Vector(Rc::new(ty), lanes)),
                _ => Type::unsupported("vector", Construct::VectorType),
            };
        }
        ty.is_const |= self.is_const;
        ty.is_volatile |= self.is_volatile;
        Some(ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let types = TypeTable::new();
        let mut scopes = Scopes::new();
        scopes.add_typedef("u8", parse_type("unsigned char", &scopes, &types));
        scopes.add_typedef("row", parse_type("u8[4]", &scopes, &types));
        scopes.constants.insert("LIMIT".to_string(), 7);
        let ty = parse_type(text, &scopes, &types);
        assert_eq!(types.spell(&ty, ""), expected, "{ty:?}");
    }

    #[test]
    fn type_names_mean_what_c_says() {
        check("int", "int");
        check("const unsigned long *const", "const unsigned long *const");
        check("int (*)[4]", "int (*)[4]");
        check("int (*(*)(int, char *))[3]", "int (*(*)(int, char *))[3]");
        check("void (const char *, ...) __attribute__((noreturn))", "void (const char *, ...)");
        check("int (*[3])(int, char *)", "int (*[3])(int, char *)");
        check("char[2][3]", "char [2][3]");
        check("u8 *restrict", "u8 *");
        check("row *", "u8 (*)[4]");
        check("int[LIMIT * 2 + sizeof(u8)]", "int [15]");
        check("unsigned int[]", "unsigned int []");
        check("long double", "long double");
        check("int ()", "int ()");
        check("int (void)", "int (void)");
    }

    #[test]
    fn an_array_whose_length_is_no_constant_is_refused_by_name() {
        let (types, scopes) = (TypeTable::new(), Scopes::new());
        let ty = parse_type("int[n]", &scopes, &types);
        assert_eq!(types.unsupported(&ty), Some(Construct::VariableLengthArray));
    }
}
