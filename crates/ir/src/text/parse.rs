//! The parser of the text form: tokens, ids, and everything outside function bodies.
//!
//! It accepts modules that the verifier rejects (ids out of range, wrong operand types), so that file tests can show
//! such modules to the verifier.

use super::lex::{ParseError, Placed, Token, lex};
use super::words::Word;
use crate::{
    DataType, DataTypeId, EnumItem, Field, FuncId, Global, GlobalId, Init, Linkage, Module, Pointee, StructKind,
    TaggedVariant, Ty, VariantTag, mask,
};
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};

/// Parses a module.
pub fn parse(text: &str) -> std::result::Result<Module, ParseError> {
    let mut parser = Parser::new(lex(text)?);
    let mut module = Module::default();
    while *parser.peek() != Token::End {
        parser.item(&mut module)?;
    }
    if parser.data_type_left_out && module.types.is_empty() {
        module.types.push(DataType::Void);
    }
    Ok(module)
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// The item that a name refers to.
#[derive(Clone, Copy)]
enum Referent<I> {
    One(I),
    Many,
}

pub(super) struct Parser {
    pub tokens: Vec<Placed>,
    pub at: usize,
    functions: BTreeMap<String, Referent<FuncId>>,
    globals: BTreeMap<String, Referent<GlobalId>>,
    data_type_left_out: bool,
}

/// A constant as written, before its width is known.
#[derive(Clone, Copy)]
pub(super) struct Number {
    negative: bool,
    magnitude: u64,
}

impl Number {
    /// The bits; a negative number is cut to the width.
    pub fn bits(self, width: u8) -> u64 {
        if self.negative { mask(self.magnitude.wrapping_neg(), width) } else { self.magnitude }
    }
}

impl Parser {
    fn new(tokens: Vec<Placed>) -> Parser {
        let mut parser =
            Parser { tokens, at: 0, functions: BTreeMap::new(), globals: BTreeMap::new(), data_type_left_out: false };
        parser.collect_names();
        parser
    }

    /// Functions and globals may be used before they are declared, so their ids are handed out first.
    fn collect_names(&mut self) {
        let (mut functions, mut globals, mut depth) = (0, 0, 0usize);
        for pair in self.tokens.windows(2) {
            match (&pair[0].token, &pair[1].token) {
                (Token::Sign("{"), _) => depth += 1,
                (Token::Sign("}"), _) => depth = depth.saturating_sub(1),
                (Token::Word(word), Token::Name(name)) if depth == 0 && word == "func" => {
                    remember(&mut self.functions, name, FuncId::new(functions));
                    functions += 1;
                }
                (Token::Word(word), Token::Name(name)) if depth == 0 && word == "global" => {
                    remember(&mut self.globals, name, GlobalId::new(globals));
                    globals += 1;
                }
                _ => {}
            }
        }
    }

    // Tokens.

    pub fn peek(&self) -> &Token {
        &self.placed().token
    }

    fn placed(&self) -> &Placed {
        // The last token is the end, and nothing goes past it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// An error at the next token.
    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        let Placed { line, column, .. } = *self.placed();
        Err(ParseError { line, column, message: message.into() })
    }

    /// An error at an earlier token.
    pub fn fail_at<T>(&self, at: usize, message: impl Into<String>) -> Result<T> {
        let Placed { line, column, .. } = self.tokens[at.min(self.tokens.len() - 1)];
        Err(ParseError { line, column, message: message.into() })
    }

    pub fn expected<T>(&self, what: &str) -> Result<T> {
        self.fail(format!("expected {what}, found {}", self.peek()))
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    pub fn eat_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.next();
        }
        found
    }

    pub fn sign(&mut self, sign: &str) -> Result<()> {
        if self.eat_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub fn word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// One of the words of an enumeration, if it is next.
    pub fn try_one_of<W: Word>(&mut self) -> Option<W> {
        let Token::Word(word) = self.peek() else { return None };
        let value = W::from_word(word)?;
        self.next();
        Some(value)
    }

    pub fn one_of<W: Word>(&mut self, what: &str) -> Result<W> {
        match self.try_one_of() {
            Some(value) => Ok(value),
            None => self.expected(what),
        }
    }

    /// `prefix` and a number, as ids are written.
    pub fn try_id<I: Id>(&mut self, prefix: &str) -> Option<I> {
        let Token::Word(word) = self.peek() else { return None };
        let digits = word.strip_prefix(prefix).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let index = digits.parse::<u32>().ok().filter(|&index| index < u32::MAX)?;
        self.next();
        Some(I::new(index as usize))
    }

    pub fn id<I: Id>(&mut self, prefix: &str, what: &str) -> Result<I> {
        match self.try_id(prefix) {
            Some(id) => Ok(id),
            None => self.expected(what),
        }
    }

    /// The id that is next in order; ids are written so that people see them, not to choose them.
    pub fn id_in_order<I: Id>(&mut self, prefix: &str, next: I) -> Result<()> {
        let at = self.at;
        match self.try_id::<I>(prefix) {
            Some(id) if id == next => Ok(()),
            Some(id) => self.fail_at(at, format!("expected `{next}`, found `{id}`: ids are in order")),
            None => self.expected(&format!("`{next}`")),
        }
    }

    pub fn u64(&mut self, what: &str) -> Result<u64> {
        match *self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => self.expected(what),
        }
    }

    pub fn number(&mut self, what: &str) -> Result<Number> {
        let negative = self.eat_sign("-");
        let at = self.at;
        let magnitude = self.u64(what)?;
        if negative && magnitude > 1 << 63 {
            return self.fail_at(at, "expected a number of at most 64 bits");
        }
        Ok(Number { negative, magnitude })
    }

    pub fn text(&mut self, what: &str) -> Result<String> {
        match self.try_text() {
            Some(text) => text,
            None => self.expected(what),
        }
    }

    /// A quoted text, if it is next; it must be UTF-8.
    pub fn try_text(&mut self) -> Option<Result<String>> {
        let Token::Text(bytes) = self.peek() else { return None };
        let text = match String::from_utf8(bytes.clone()) {
            Ok(text) => Ok(text),
            Err(_) => self.fail("expected UTF-8 in this text"),
        };
        self.next();
        Some(text)
    }

    pub fn name(&mut self, what: &str) -> Result<String> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// A position, or none.
    pub fn span(&mut self) -> Span {
        match *self.peek() {
            Token::Span(span) => {
                self.next();
                span
            }
            _ => Span::none(),
        }
    }

    pub fn try_ty(&mut self) -> Option<Ty> {
        let Token::Word(word) = self.peek() else { return None };
        let ty = ty_of_word(word)?;
        self.next();
        Some(ty)
    }

    pub fn ty(&mut self) -> Result<Ty> {
        match self.try_ty() {
            Some(ty) => Ok(ty),
            None => self.expected("a type (i1, i8, i16, i32, i64 or ptr)"),
        }
    }

    /// A data type, `ty0` if left out.
    pub fn data(&mut self) -> DataTypeId {
        self.try_id("ty").unwrap_or_else(|| {
            self.data_type_left_out = true;
            DataTypeId::new(0)
        })
    }

    /// Things between brackets, separated by commas; a comma before the end is allowed.
    pub fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Parser) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat_sign(end) {
            items.push(item(self)?);
            if !self.eat_sign(",") {
                if !self.is_sign(end) {
                    return self.expected(&format!("`,` or `{end}`"));
                }
                continue;
            }
        }
        Ok(items)
    }

    // References.

    pub fn function_ref(&mut self) -> Result<FuncId> {
        if let Some(id) = self.try_id("fn") {
            return Ok(id);
        }
        let at = self.at;
        let name = self.name("a function (`@name` or `fn0`)")?;
        match self.functions.get(&name) {
            Some(Referent::One(id)) => Ok(*id),
            Some(Referent::Many) => self.fail_at(at, format!("several functions are named `{name}`: use the id")),
            None => self.fail_at(at, format!("expected a function, but none is named `{name}`")),
        }
    }

    pub fn global_ref(&mut self) -> Result<GlobalId> {
        if let Some(id) = self.try_id("g") {
            return Ok(id);
        }
        let at = self.at;
        let name = self.name("a global (`@name` or `g0`)")?;
        match self.globals.get(&name) {
            Some(Referent::One(id)) => Ok(*id),
            Some(Referent::Many) => self.fail_at(at, format!("several globals are named `{name}`: use the id")),
            None => self.fail_at(at, format!("expected a global, but none is named `{name}`")),
        }
    }

    // Items.

    fn item(&mut self, module: &mut Module) -> Result<()> {
        if self.eat_word("file") {
            self.id_in_order("f", module.files.next_id())?;
            module.files.push(self.text("the path of the file in quotes")?);
        } else if self.eat_word("type") {
            self.id_in_order("ty", module.types.next_id())?;
            self.sign("=")?;
            module.types.push(self.data_type()?);
        } else if self.eat_word("entry") {
            module.entry = Some(self.name("a name (`@main`)")?);
        } else if self.eat_word("memory") {
            self.memory(module)?;
        } else if self.eat_word("thrown") {
            module.thrown = Some(self.id("ty", "a data type (ty0)")?);
        } else if self.eat_word("start") {
            module.startup.push(self.function_ref()?);
        } else if self.eat_word("global") {
            module.globals.push(self.global()?);
        } else if self.is_word("func") {
            module.functions.push(self.function()?);
        } else {
            return self.expected("`file`, `type`, `entry`, `memory`, `thrown`, `start`, `global` or `func`");
        }
        Ok(())
    }

    fn memory(&mut self, module: &mut Module) -> Result<()> {
        if self.eat_word("byte_writes") {
            module.memory.byte_writes = self.one_of("`bytes` or `anything`")?;
            return Ok(());
        }
        let data = |parser: &mut Parser| parser.id("ty", "a data type (ty0)");
        let id = data(self)?;
        self.sign("=")?;
        let stands = self.one_of("`elements` or `text`")?;
        let element = data(self)?;
        self.word("same")?;
        let same = data(self)?;
        self.word("part")?;
        let part = data(self)?;
        self.word("shares")?;
        let shares = self.one_of("`parts`, `any_part`, `unknown` or `everything`")?;
        module.memory.set(id, Pointee { element, stands, same, part, shares }, &module.types);
        Ok(())
    }

    fn data_type(&mut self) -> Result<DataType> {
        let at = self.at;
        let Token::Word(word) = self.next() else {
            return self.fail_at(
                at,
                "expected a kind of type (void, int, float, bool, enum, bits, pointer, array, struct, union, one_of, opaque)",
            );
        };
        match word.as_str() {
            "void" => Ok(DataType::Void),
            "int" => {
                let name = self.text("the name of the type in quotes")?;
                let (bits, signed) = self.width()?;
                let kind = self.try_one_of().unwrap_or_default();
                Ok(DataType::Int { name, bits, signed, kind })
            }
            "float" => {
                let name = self.text("the name of the type in quotes")?;
                Ok(DataType::Float { name, format: self.one_of("a float format (f32, f64)")? })
            }
            "bool" => Ok(DataType::Bool { name: self.text("the name of the type in quotes")? }),
            "enum" => {
                let name = self.text("the name of the type in quotes")?;
                let (bits, signed) = self.width()?;
                self.sign("{")?;
                let items = self.list("}", |parser| {
                    let name = parser.text("the name of a value in quotes")?;
                    parser.sign("=")?;
                    Ok(EnumItem { name, value: parser.number("a number")?.bits(64) as i64 })
                })?;
                Ok(DataType::Enum { name, bits, signed, items })
            }
            "bits" => {
                let first = self.u64("the first bit")? as u8;
                self.word("width")?;
                let (width, signed) = self.width()?;
                Ok(DataType::Bits { first, width, signed })
            }
            "pointer" => {
                let to_const = self.eat_word("const");
                Ok(DataType::Pointer { pointee: self.id("ty", "a data type (ty0)")?, to_const })
            }
            "array" => {
                let element = self.id("ty", "a data type (ty0)")?;
                self.word("length")?;
                Ok(DataType::Array { element, length: self.u64("a number of elements")? })
            }
            "struct" => {
                let name = self.text("the name of the type in quotes")?;
                let (size, align) = self.layout()?;
                let kind = self.struct_kind()?;
                Ok(DataType::Struct { name, fields: self.fields()?, size, align, kind })
            }
            "union" => {
                let name = self.text("the name of the type in quotes")?;
                let (size, align) = self.layout()?;
                Ok(DataType::Union { name, members: self.fields()?, size, align })
            }
            "one_of" => {
                let name = self.text("the name of the type in quotes")?;
                self.word("tag")?;
                let offset = self.u64("the offset of the tag")?;
                let at = self.at;
                let Ok(bits) = u8::try_from(self.u64("the width of the tag in bits")?) else {
                    return self.fail_at(at, "expected a width of at most 64 bits");
                };
                self.sign("{")?;
                let variants = self.list("}", |parser| {
                    let tag = parser.u64("the tag of a variant")?;
                    parser.sign(":")?;
                    Ok(TaggedVariant { tag, ty: parser.id("ty", "a data type (ty0)")? })
                })?;
                Ok(DataType::OneOf { name, tag: VariantTag { offset, bits }, variants })
            }
            "opaque" => {
                let name = self.text("the name of the type in quotes")?;
                let (size, align) = self.layout()?;
                Ok(DataType::Opaque { name, size, align })
            }
            _ => self.fail_at(
                at,
                format!(
                    "expected a kind of type (void, int, float, bool, enum, bits, pointer, array, struct, union, one_of, opaque), found `{word}`"
                ),
            ),
        }
    }

    fn fields(&mut self) -> Result<Vec<Field>> {
        self.sign("{")?;
        self.list("}", |parser| {
            let name = parser.text("the name of a field in quotes")?;
            parser.sign(":")?;
            let ty = parser.id("ty", "a data type (ty0)")?;
            parser.word("at")?;
            Ok(Field { name, ty, offset: parser.u64("an offset in bytes")? })
        })
    }

    fn width(&mut self) -> Result<(u8, bool)> {
        let at = self.at;
        let bits = self.u64("a width in bits")?;
        let Ok(bits) = u8::try_from(bits) else { return self.fail_at(at, "expected a width of at most 64 bits") };
        let signed = self.eat_word("signed");
        if !signed {
            self.word("unsigned")?;
        }
        Ok((bits, signed))
    }

    fn layout(&mut self) -> Result<(u64, u64)> {
        self.word("size")?;
        let size = self.u64("a size in bytes")?;
        self.word("align")?;
        Ok((size, self.u64("an alignment in bytes")?))
    }

    fn struct_kind(&mut self) -> Result<StructKind> {
        if self.eat_word("counted") {
            let by = self.u64("the index of the field that says how many elements there are")? as usize;
            return Ok(StructKind::Counted { by });
        }
        if self.eat_word("open") {
            return Ok(StructKind::Open);
        }
        Ok(if self.eat_word("halves") { StructKind::Halves } else { StructKind::Record })
    }

    fn global(&mut self) -> Result<Global> {
        let name = self.name("the name of a global (`@name`)")?;
        self.sign(":")?;
        let data = self.data();
        self.word("size")?;
        let size = self.u64("a size in bytes")?;
        let linkage = self.try_one_of().unwrap_or(Linkage::External);
        let constant = self.eat_word("constant");
        let role = self.try_one_of().unwrap_or_default();
        let function = if self.eat_word("of") { Some(self.function_ref()?) } else { None };
        let display_name = if self.eat_word("as") { Some(self.text("what people call it")?) } else { None };
        let span = self.span();
        let init = if self.eat_sign("=") {
            self.sign("{")?;
            Some(self.list("}", Parser::init)?)
        } else {
            None
        };
        Ok(Global { name, span, data, size, constant, linkage, role, display_name, function, init })
    }

    /// `0: "bytes"`, `8: @other + 4`, or `4: i32 7` for the bytes of a number.
    fn init(&mut self) -> Result<Init> {
        let offset = self.u64("an offset in bytes")?;
        self.sign(":")?;
        if let Token::Text(bytes) = self.peek() {
            let bytes = bytes.clone();
            self.next();
            return Ok(Init::Bytes { offset, bytes });
        }
        if let Some(ty) = self.try_ty() {
            let value = self.number("a number")?.bits(ty.bits());
            return Ok(Init::Bytes { offset, bytes: value.to_le_bytes()[..usize::from(ty.bytes())].to_vec() });
        }
        if !matches!(self.peek(), Token::Name(_) | Token::Word(_)) {
            return self.expected("bytes in quotes, a typed number or a global");
        }
        let global = self.global_ref()?;
        let addend = match (self.is_sign("-"), self.eat_sign("+")) {
            (false, false) => 0,
            _ => self.number("a number of bytes")?.bits(64) as i64,
        };
        Ok(Init::GlobalAddr { offset, global, addend })
    }
}

pub(super) fn ty_of_word(word: &str) -> Option<Ty> {
    match word {
        "i1" => Some(Ty::I1),
        "i8" => Some(Ty::I8),
        "i16" => Some(Ty::I16),
        "i32" => Some(Ty::I32),
        "i64" => Some(Ty::I64),
        "ptr" => Some(Ty::Ptr),
        _ => None,
    }
}

fn remember<I>(names: &mut BTreeMap<String, Referent<I>>, name: &str, id: I) {
    names.entry(name.to_string()).and_modify(|referent| *referent = Referent::Many).or_insert(Referent::One(id));
}
