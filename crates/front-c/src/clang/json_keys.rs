//! The keys of clang's JSON that are read. The compact format (`compact.c`) omits all others.

use serde::Deserializer;
use serde::de::{Deserialize, Visitor};
use std::fmt;

macro_rules! keys {
    ($($key:ident = $($text:literal)|+,)*) => {
        /// A key of a JSON object.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum JsonKey {
            $($key,)*
            Other,
        }

        impl JsonKey {
            /// All spellings with their keys.
            pub const KNOWN: &[(&str, JsonKey)] = &[$($(($text, JsonKey::$key),)+)*];

            fn of(key: &str) -> JsonKey {
                match key {
                    $($($text)|+ => JsonKey::$key,)*
                    _ => JsonKey::Other,
                }
            }
        }
    };
}

keys! {
    Id = "id",
    Kind = "kind",
    Loc = "loc",
    Range = "range",
    Name = "name" | "aliasee",
    MangledName = "mangledName",
    Type = "type",
    ArgType = "argType" | "fixedUnderlyingType",
    ComputeLhsType = "computeLHSType",
    ComputeResultType = "computeResultType",
    Opcode = "opcode",
    CastKind = "castKind",
    Value = "value",
    StorageClass = "storageClass",
    TagUsed = "tagUsed",
    ReferencedDecl = "referencedDecl",
    Decl = "decl",
    Field = "field",
    OwnedTagDecl = "ownedTagDecl",
    Link = "referencedMemberDecl" | "targetLabelDeclId" | "labelDeclId" | "declId" | "previousDecl",
    Init = "init",
    Tls = "tls",
    IsArrow = "isArrow",
    IsPostfix = "isPostfix",
    IsBitfield = "isBitfield",
    ObjectKind = "objectKind",
    CompleteDefinition = "completeDefinition",
    IsGnuRange = "isGNURange",
    Inline = "inline",
    IsImplicit = "isImplicit",
    Variadic = "variadic",
    Selected = "selected",
    HasElse = "hasElse",
    ArrayFiller = "array_filler",
    Inner = "inner",
    QualType = "qualType",
    DesugaredQualType = "desugaredQualType",
    Begin = "begin",
    End = "end",
    Offset = "offset",
    File = "file",
    Line = "line",
    Col = "col",
    TokLen = "tokLen",
    SpellingLoc = "spellingLoc",
    ExpansionLoc = "expansionLoc",
    IsMacroArgExpansion = "isMacroArgExpansion",
}

impl<'de> Deserialize<'de> for JsonKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonKey, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = JsonKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E>(self, key: &str) -> Result<JsonKey, E> {
                Ok(JsonKey::of(key))
            }
            fn visit_u64<E: serde::de::Error>(self, index: u64) -> Result<JsonKey, E> {
                let known = usize::try_from(index).ok().and_then(|index| JsonKey::KNOWN.get(index));
                known.map(|(_, key)| *key).ok_or_else(|| E::custom("no such key"))
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

/// Returns the keys as a table in C: with the lengths of their spellings, whether each value is a node id, and the part
/// of a position that it is.
pub(super) fn table_in_c() -> String {
    let mut rows = String::new();
    let mut numbers = String::new();
    for (number, (text, key)) in JsonKey::KNOWN.iter().enumerate() {
        let is_node = u8::from(matches!(key, JsonKey::Id | JsonKey::Link));
        let is_place = match key {
            JsonKey::Offset => "'o'",
            JsonKey::File => "'f'",
            JsonKey::Line => "'l'",
            JsonKey::Col => "'c'",
            _ => "0",
        };
        rows += &format!("    {{\"{text}\", {}, {is_node}, {is_place}}},\n", text.len());
        match key {
            JsonKey::File => numbers += &format!("    FILE_KEY = {number},\n"),
            JsonKey::Line => numbers += &format!("    LINE_KEY = {number},\n"),
            _ => {}
        }
    }
    let row = "struct { const char *text; unsigned length; int is_node, is_place; }";
    format!("static const {row} keys[] = {{\n{rows}}};\nenum {{\n{numbers}}};\n")
}
