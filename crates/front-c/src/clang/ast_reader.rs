//! A reader of clang's JSON AST.
//!
//! clang omits the file and the line of a position if they equal those of the previously printed position, across the
//! whole document. So positions are resolved *while* the text is read, in document order, also in declarations that are
//! not used. One top-level declaration is in memory at a time.
//!
//! Deliberately not here: the meaning of any node.

use crate::clang::compact;
use crate::clang::json_keys::JsonKey;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::{AstNode, AstPosition, DeclRef, RawLoc, TypeText};
use rustc_hash::FxHashMap;
use serde::Deserializer;
use serde::de::{Deserialize, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::{BufReader, Chain, Cursor, Read};
use std::rc::Rc;

/// The state of position resolution, and the interned strings.
#[derive(Default)]
pub(crate) struct PositionReader {
    /// File names as clang prints them.
    pub files: Vec<Rc<str>>,
    by_name: FxHashMap<Rc<str>, u32>,
    file: u32,
    line: u32,
    strings: FxHashMap<Rc<str>, ()>,
}

impl PositionReader {
    fn file_index(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.by_name.get(name) {
            return index;
        }
        let index = self.files.len() as u32;
        let name: Rc<str> = Rc::from(name);
        self.files.push(Rc::clone(&name));
        self.by_name.insert(name, index);
        index
    }
    fn intern(&mut self, text: &str) -> Rc<str> {
        if let Some((known, ())) = self.strings.get_key_value(text) {
            return Rc::clone(known);
        }
        let text: Rc<str> = Rc::from(text);
        self.strings.insert(Rc::clone(&text), ());
        text
    }
}

/// The maximum size of a dump that is read from memory. A longer one is read as a stream, which takes twice as long.
const MAX_BYTES_IN_MEMORY: u64 = 64 << 20;

/// The beginning of a dump, which is in memory, and the rest.
type LongDump<R> = Chain<Cursor<Vec<u8>>, BufReader<IndentStripper<R>>>;

/// A dump without indentation.
enum DumpText<R> {
    /// All of it.
    Whole(Vec<u8>),
    /// A long one.
    Stream(Box<LongDump<R>>),
}

impl<R: Read> DumpText<R> {
    fn new(reader: R) -> Result<DumpText<R>, serde_json::Error> {
        let mut dense = BufReader::with_capacity(1 << 16, IndentStripper::new(reader));
        let mut text = Vec::new();
        dense.by_ref().take(MAX_BYTES_IN_MEMORY).read_to_end(&mut text).map_err(serde_json::Error::io)?;
        Ok(match (text.len() as u64) < MAX_BYTES_IN_MEMORY {
            true => DumpText::Whole(text),
            false => DumpText::Stream(Box::new(Cursor::new(text).chain(dense))),
        })
    }
}

/// Reads a translation unit and passes every top-level declaration to `each`.
pub(crate) fn read<R, F>(reader: R, positions: &mut PositionReader, each: F) -> Result<(), serde_json::Error>
where
    R: Read,
    F: FnMut(&PositionReader, AstNode),
{
    match DumpText::new(reader)? {
        DumpText::Whole(text) => read_unit(serde_json::Deserializer::from_str(utf8(&text)?), positions, each),
        DumpText::Stream(text) => read_unit(serde_json::Deserializer::from_reader(text), positions, each),
    }
}

fn read_unit<'de, I, F>(
    mut json: serde_json::Deserializer<I>,
    positions: &mut PositionReader,
    each: F,
) -> Result<(), serde_json::Error>
where
    I: serde_json::de::Read<'de>,
    F: FnMut(&PositionReader, AstNode),
{
    json.disable_recursion_limit();
    UnitSeed { positions, each }.deserialize(&mut json)?;
    json.end()
}

/// Validates a text once, instead of each of its strings.
fn utf8(bytes: &[u8]) -> Result<&str, serde_json::Error> {
    std::str::from_utf8(bytes).map_err(serde::de::Error::custom)
}

/// Reads a translation unit that is in memory.
pub(crate) fn read_bytes<F>(bytes: &[u8], positions: &mut PositionReader, each: F) -> Result<(), serde_json::Error>
where
    F: FnMut(&PositionReader, AstNode),
{
    if compact::is_compact(bytes) {
        let mut compact = compact::Compact::new(bytes)?;
        UnitSeed { positions, each }.deserialize(&mut compact)?;
        return compact.end();
    }
    read_unit(serde_json::Deserializer::from_str(utf8(bytes)?), positions, each)
}

/// Reads a sequence of declarations, as `-ast-dump-filter` prints them.
pub(crate) fn read_each<R, F>(reader: R, positions: &mut PositionReader, each: F) -> Result<(), serde_json::Error>
where
    R: Read,
    F: FnMut(AstNode),
{
    match DumpText::new(reader)? {
        DumpText::Whole(text) => read_nodes(serde_json::Deserializer::from_str(utf8(&text)?), positions, each),
        DumpText::Stream(text) => read_nodes(serde_json::Deserializer::from_reader(text), positions, each),
    }
}

fn read_nodes<'de, I, F>(
    mut json: serde_json::Deserializer<I>,
    positions: &mut PositionReader,
    mut each: F,
) -> Result<(), serde_json::Error>
where
    I: serde_json::de::Read<'de>,
    F: FnMut(AstNode),
{
    json.disable_recursion_limit();
    loop {
        match NodeSeed(positions).deserialize(&mut json) {
            Ok(node) => each(node),
            Err(error) if error.is_eof() => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Strips the indentation from clang's output: in deep code it is most of the bytes. No JSON string contains a line
/// break.
pub(super) struct IndentStripper<R> {
    inner: R,
    chunk: Vec<u8>,
    at: usize,
    end: usize,
    indenting: bool,
    /// Finds a line break that a space follows.
    indented: memchr::memmem::Finder<'static>,
}

impl<R> IndentStripper<R> {
    pub(super) fn new(inner: R) -> Self {
        let indented = memchr::memmem::Finder::new(b"\n ");
        IndentStripper { inner, chunk: vec![0; 1 << 18], at: 0, end: 0, indenting: true, indented }
    }
}

impl<R: Read> Read for IndentStripper<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut written = 0;
        while written == 0 && !out.is_empty() {
            if self.at == self.end {
                self.end = self.inner.read(&mut self.chunk)?;
                self.at = 0;
                if self.end == 0 {
                    return Ok(0);
                }
            }
            while self.at < self.end && written < out.len() {
                let rest = &self.chunk[self.at..self.end];
                if self.indenting {
                    let spaces = leading_spaces(rest);
                    self.at += spaces;
                    self.indenting = spaces == rest.len();
                    continue;
                }
                // Line breaks are kept: the boundary between two units is recognised at the start of a line.
                let line = self.indented.find(rest).map_or(rest.len(), |at| at + 1);
                let length = line.min(out.len() - written);
                out[written..written + length].copy_from_slice(&rest[..length]);
                written += length;
                self.at += length;
                self.indenting = rest[length - 1] == b'\n';
            }
        }
        Ok(written)
    }
}

/// Counts leading spaces, many at a time: a decision of 5,000 conditions comes with gigabytes of them.
fn leading_spaces(text: &[u8]) -> usize {
    const SPACES: [u8; 256] = [b' '; 256];
    const WORD: usize = 16;
    let many = SPACES.len() * text.chunks_exact(SPACES.len()).take_while(|chunk| **chunk == SPACES).count();
    let words = text[many..].chunks_exact(WORD).take_while(|chunk| **chunk == SPACES[..WORD]).count();
    let start = many + WORD * words;
    start + text[start..].iter().take_while(|&&byte| byte == b' ').count()
}

struct UnitSeed<'p, F> {
    positions: &'p mut PositionReader,
    each: F,
}

impl<'de, F: FnMut(&PositionReader, AstNode)> DeserializeSeed<'de> for UnitSeed<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&PositionReader, AstNode)> Visitor<'de> for UnitSeed<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a translation unit")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::Inner => {
                    map.next_value_seed(Declarations { positions: self.positions, each: &mut self.each })?
                }
                JsonKey::Loc => drop(map.next_value_seed(LocSeed(self.positions))?),
                JsonKey::Range => drop(map.next_value_seed(RangeSeed(self.positions))?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Declarations<'p, F> {
    positions: &'p mut PositionReader,
    each: &'p mut F,
}

impl<'de, F: FnMut(&PositionReader, AstNode)> DeserializeSeed<'de> for Declarations<'_, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&PositionReader, AstNode)> Visitor<'de> for Declarations<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declarations")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(node) = seq.next_element_seed(NodeSeed(self.positions))? {
            (self.each)(self.positions, node);
        }
        Ok(())
    }
}

struct NodesSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for NodesSeed<'_> {
    type Value = Vec<AstNode>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<AstNode>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for NodesSeed<'_> {
    type Value = Vec<AstNode>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nodes")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<AstNode>, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = seq.next_element_seed(NodeSeed(self.0))? {
            // A documentation comment is a child of the declaration and has no meaning.
            if node.kind != K::FullComment {
                nodes.push(node);
            }
        }
        Ok(nodes)
    }
}

struct NodeSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = AstNode;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AstNode, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = AstNode;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AstNode, A::Error> {
        let mut node = AstNode::default();
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::Id => node.id = map.next_value::<HexId>()?.0,
                JsonKey::Kind => node.kind = map.next_value()?,
                JsonKey::Loc => node.loc = map.next_value_seed(LocSeed(self.0))?,
                JsonKey::Range => (node.begin, node.end) = map.next_value_seed(RangeSeed(self.0))?,
                JsonKey::Name => node.name = map.next_value()?,
                JsonKey::MangledName => node.mangled = map.next_value()?,
                JsonKey::Type => node.ty = map.next_value_seed(TypeSeed(self.0))?,
                JsonKey::ArgType => node.arg_type = map.next_value_seed(TypeSeed(self.0))?,
                JsonKey::ComputeLhsType => node.compute_lhs = map.next_value_seed(TypeSeed(self.0))?,
                JsonKey::ComputeResultType => node.compute_result = map.next_value_seed(TypeSeed(self.0))?,
                JsonKey::Opcode => node.opcode = map.next_value()?,
                JsonKey::CastKind => node.cast = map.next_value()?,
                JsonKey::Value => node.value = map.next_value::<Scalar>()?.0,
                JsonKey::StorageClass => node.storage = map.next_value()?,
                JsonKey::TagUsed => node.tag = map.next_value()?,
                JsonKey::ReferencedDecl | JsonKey::Decl | JsonKey::Field => {
                    node.decl = Some(Box::new(map.next_value_seed(DeclRefSeed(self.0))?));
                }
                JsonKey::OwnedTagDecl => node.link = map.next_value_seed(DeclRefSeed(self.0))?.id,
                JsonKey::Link => node.link = map.next_value::<HexId>()?.0,
                JsonKey::Init => {
                    map.next_value::<IgnoredAny>()?;
                    node.has_init = true;
                }
                JsonKey::Tls => {
                    map.next_value::<IgnoredAny>()?;
                    node.is_thread_local = true;
                }
                JsonKey::IsArrow => node.is_arrow = map.next_value()?,
                JsonKey::IsPostfix => node.is_postfix = map.next_value()?,
                JsonKey::IsBitfield => node.is_bitfield = map.next_value()?,
                JsonKey::ObjectKind => node.is_bitfield = map.next_value::<String>()? == "bitfield",
                JsonKey::CompleteDefinition => node.is_complete = map.next_value()?,
                JsonKey::IsGnuRange => node.is_gnu_range = map.next_value()?,
                JsonKey::Inline => node.is_inline = map.next_value()?,
                JsonKey::IsImplicit => node.is_implicit = map.next_value()?,
                JsonKey::Variadic => node.is_variadic = map.next_value()?,
                JsonKey::Selected => node.is_selected = map.next_value()?,
                JsonKey::HasElse => node.has_else = map.next_value()?,
                JsonKey::ArrayFiller => node.filler = map.next_value_seed(NodesSeed(self.0))?,
                JsonKey::Inner => node.inner = map.next_value_seed(NodesSeed(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(spelled_offset(node))
    }
}

/// Turns an `offsetof` that a macro expanded into a node with the member's address as its only child.
fn spelled_offset(mut node: AstNode) -> AstNode {
    let is_spelled = node.kind == K::ChooseExpr && node.inner.get(1).is_some_and(|inner| inner.kind == K::OffsetOfExpr);
    if is_spelled {
        node.inner.drain(..2);
        node.kind = K::SpelledOffset;
    }
    node
}

/// A node id: `0x` and hexadecimal digits, or a number.
struct HexId(u64);

impl<'de> Deserialize<'de> for HexId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HexId, D::Error> {
        struct HexVisitor;
        impl Visitor<'_> for HexVisitor {
            type Value = HexId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node id")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HexId, E> {
                let digits = text.strip_prefix("0x").unwrap_or(text);
                u64::from_str_radix(digits, 16).map(HexId).map_err(|_| E::custom("a node id is not hexadecimal"))
            }
            fn visit_u64<E>(self, id: u64) -> Result<HexId, E> {
                Ok(HexId(id))
            }
        }
        deserializer.deserialize_str(HexVisitor)
    }
}

/// A `value`: a JSON string, number or boolean, as a string.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        Ok(Scalar(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Some(text),
            serde_json::Value::Number(number) => Some(number.to_string()),
            serde_json::Value::Bool(truth) => Some(u8::from(truth).to_string()),
            _ => None,
        }))
    }
}

struct TypeSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for TypeSeed<'_> {
    type Value = Option<TypeText>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TypeSeed<'_> {
    type Value = Option<TypeText>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut written = None;
        let mut desugared = None;
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::QualType => written = Some(map.next_value_seed(TextSeed(self.0))?),
                JsonKey::DesugaredQualType => desugared = Some(map.next_value_seed(TextSeed(self.0))?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(written.map(|written| TypeText { written, desugared }))
    }
}

struct TextSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for TextSeed<'_> {
    type Value = Rc<str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for TextSeed<'_> {
    type Value = Rc<str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_str<E>(self, text: &str) -> Result<Rc<str>, E> {
        Ok(self.0.intern(text))
    }
}

struct DeclRefSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for DeclRefSeed<'_> {
    type Value = DeclRef;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DeclRef, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DeclRefSeed<'_> {
    type Value = DeclRef;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mention of a declaration")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DeclRef, A::Error> {
        let mut decl = DeclRef::default();
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::Id => decl.id = map.next_value::<HexId>()?.0,
                JsonKey::Kind => decl.kind = map.next_value()?,
                JsonKey::Name => decl.name = map.next_value()?,
                JsonKey::Type => decl.ty = map.next_value_seed(TypeSeed(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(decl)
    }
}

struct RangeSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for RangeSeed<'_> {
    type Value = (AstPosition, AstPosition);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RangeSeed<'_> {
    type Value = (AstPosition, AstPosition);
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a range")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut range = (AstPosition::default(), AstPosition::default());
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::Begin => range.0 = map.next_value_seed(LocSeed(self.0))?,
                JsonKey::End => range.1 = map.next_value_seed(LocSeed(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(range)
    }
}

struct LocSeed<'p>(&'p mut PositionReader);

impl<'de> DeserializeSeed<'de> for LocSeed<'_> {
    type Value = AstPosition;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AstPosition, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LocSeed<'_> {
    type Value = AstPosition;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a position")
    }
    /// `offset` comes first in a bare position, and `file` and `line` precede `col`, so the state is complete when the
    /// map ends. `includedFrom` is not compressed and not needed.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AstPosition, A::Error> {
        let mut position = AstPosition::default();
        let (mut offset, mut column, mut token, mut macro_argument) = (None, 0, 0, false);
        while let Some(key) = map.next_key::<JsonKey>()? {
            match key {
                JsonKey::Offset => offset = Some(map.next_value::<u32>()?),
                JsonKey::File => {
                    let name = map.next_value_seed(TextSeed(self.0))?;
                    self.0.file = self.0.file_index(&name);
                }
                JsonKey::Line => self.0.line = map.next_value()?,
                JsonKey::Col => column = map.next_value()?,
                JsonKey::TokLen => token = map.next_value()?,
                JsonKey::IsMacroArgExpansion => macro_argument = map.next_value()?,
                JsonKey::SpellingLoc => {
                    position.spelling = map.next_value_seed(LocSeed(self.0))?.expansion.map(Box::new);
                }
                JsonKey::ExpansionLoc => {
                    let expansion = map.next_value_seed(LocSeed(self.0))?;
                    position.expansion = expansion.expansion;
                    position.macro_argument = expansion.macro_argument;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Some(offset) = offset {
            position.expansion = Some(RawLoc { file: self.0.file, line: self.0.line, column, offset, token });
            position.macro_argument = macro_argument;
        }
        Ok(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
      "kind": "TranslationUnitDecl",
      "inner": [
        {
          "id": "0x1", "kind": "VarDecl",
          "loc": { "offset": 4, "file": "a.c", "line": 1, "col": 5, "tokLen": 1 },
          "range": {
            "begin": { "offset": 0, "col": 1, "tokLen": 3 },
            "end": { "offset": 14, "line": 2, "col": 3, "tokLen": 2 }
          },
          "name": "with  spaces"
        },
        {
          "id": "0x2", "kind": "VarDecl",
          "loc": {
            "spellingLoc": { "offset": 9, "file": "b.h", "line": 7, "col": 1, "tokLen": 4,
                             "includedFrom": { "file": "a.c" } },
            "expansionLoc": { "offset": 30, "file": "a.c", "line": 7, "col": 2, "tokLen": 1, "isMacroArgExpansion": true }
          },
          "range": { "begin": { "offset": 31, "col": 3, "tokLen": 1 }, "end": {} },
          "value": 5
        }
      ]
    }"#;

    /// A reader that returns at most three bytes at a time.
    struct Slow<'a>(&'a [u8]);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(out.len()).min(3);
            out[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn left_out_files_and_lines_are_those_of_the_position_before() {
        let mut positions = PositionReader::default();
        let mut seen = Vec::new();
        let show = |position: &AstPosition, files: &[Rc<str>]| {
            let loc = |loc: &RawLoc| format!("{}:{}:{}", files[loc.file as usize], loc.line, loc.column);
            let spelling = position.spelling.as_deref().map(|spelling| format!(" from {}", loc(spelling)));
            let expansion = position.expansion.as_ref().map_or("nowhere".to_string(), loc);
            format!("{expansion}{}", spelling.unwrap_or_default())
        };
        read(Slow(TEXT.as_bytes()), &mut positions, |positions, node| {
            let places: Vec<String> =
                [&node.loc, &node.begin, &node.end].iter().map(|place| show(place, &positions.files)).collect();
            seen.push(format!("{} {:?} {}", node.name, node.value, places.join(", ")));
        })
        .expect("valid JSON");
        assert_eq!(
            seen,
            ["with  spaces None a.c:1:5, a.c:1:1, a.c:2:3", " Some(\"5\") a.c:7:2 from b.h:7:1, a.c:7:3, nowhere",]
        );
    }
}
