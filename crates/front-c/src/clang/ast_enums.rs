//! Enums for attributes of clang's nodes: operators, cast kinds, storage classes and tags.
//!
//! They are parsed once, while the AST is read, and without an allocation for a known spelling. An unknown spelling is
//! kept in [`Other`](Opcode::Other), so that messages can name it. `Display` prints clang's spelling.
//!
//! Deliberately not here: the meaning of an attribute. clang uses `*` for a product and for a dereference; the kind of
//! the node tells them apart.

/// Defines an enum with a spelling for each variant, `Absent` for nodes without the attribute and `Other` for the rest.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $word:expr,)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub(crate) enum $name {
            /// The node does not have the attribute.
            #[default]
            Absent,
            $($variant,)*
            /// An unknown spelling.
            Other(Box<str>),
        }

        impl $name {
            /// All variants with a spelling.
            #[cfg(test)]
            pub const KNOWN: &[$name] = &[$($name::$variant),*];

            /// Parses clang's spelling.
            pub fn of(word: &str) -> $name {
                $(if word == $word {
                    return $name::$variant;
                })*
                if word.is_empty() { $name::Absent } else { $name::Other(word.into()) }
            }
            /// Returns clang's spelling.
            pub fn word(&self) -> &str {
                match self {
                    $name::Absent => "",
                    $($name::$variant => $word,)*
                    $name::Other(word) => word,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct Words;
                impl serde::de::Visitor<'_> for Words {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a string")
                    }
                    fn visit_str<E>(self, word: &str) -> Result<$name, E> {
                        Ok($name::of(word))
                    }
                }
                deserializer.deserialize_str(Words)
            }
        }
    };
}

/// Defines an enum with variants that are spelled as in clang.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($variant:ident,)* }) => {
        words! { $(#[$about])* $name { $($variant = stringify!($variant),)* } }
    };
}

pub(super) use {names, words};

words! {
    /// An operator, by its token.
    Opcode {
        Assign = "=",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Amp = "&",
        Pipe = "|",
        Caret = "^",
        ShiftLeft = "<<",
        ShiftRight = ">>",
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        Greater = ">",
        LessEqual = "<=",
        GreaterEqual = ">=",
        And = "&&",
        Or = "||",
        Comma = ",",
        Not = "!",
        Tilde = "~",
        Increment = "++",
        Decrement = "--",
        Extension = "__extension__",
        Real = "__real",
        Imag = "__imag",
        PlusAssign = "+=",
        MinusAssign = "-=",
        StarAssign = "*=",
        SlashAssign = "/=",
        PercentAssign = "%=",
        AmpAssign = "&=",
        PipeAssign = "|=",
        CaretAssign = "^=",
        ShiftLeftAssign = "<<=",
        ShiftRightAssign = ">>=",
    }
}

impl Opcode {
    /// Returns true if it is a comparison.
    pub fn is_comparison(&self) -> bool {
        use Opcode::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | Greater | LessEqual | GreaterEqual)
    }
    /// Returns true if it is `++` or `--`.
    pub fn is_step(&self) -> bool {
        matches!(self, Opcode::Increment | Opcode::Decrement)
    }
    /// Returns the operator of a compound assignment; `None` for other operators.
    pub fn compound(&self) -> Option<&'static Opcode> {
        Some(match self {
            Opcode::PlusAssign => &Opcode::Plus,
            Opcode::MinusAssign => &Opcode::Minus,
            Opcode::StarAssign => &Opcode::Star,
            Opcode::SlashAssign => &Opcode::Slash,
            Opcode::PercentAssign => &Opcode::Percent,
            Opcode::AmpAssign => &Opcode::Amp,
            Opcode::PipeAssign => &Opcode::Pipe,
            Opcode::CaretAssign => &Opcode::Caret,
            Opcode::ShiftLeftAssign => &Opcode::ShiftLeft,
            Opcode::ShiftRightAssign => &Opcode::ShiftRight,
            _ => return None,
        })
    }
    /// Returns the operator that computes the value: that of a compound assignment, otherwise itself.
    pub fn computed(&self) -> &Opcode {
        self.compound().unwrap_or(self)
    }
}

names! {
    /// The kind of a cast.
    CastKind {
        LValueToRValue,
        IntegralCast,
        FunctionToPointerDecay,
        ArrayToPointerDecay,
        NoOp,
        BitCast,
        NullToPointer,
        BuiltinFnToFnPtr,
        ToVoid,
        IntegralToBoolean,
        PointerToBoolean,
        IntegralToPointer,
        PointerToIntegral,
        IntegralToFloating,
        FloatingToIntegral,
        FloatingToBoolean,
        FloatingCast,
        BooleanToSignedIntegral,
        LValueBitCast,
        ToUnion,
        VectorSplat,
        AtomicToNonAtomic,
        NonAtomicToAtomic,
        FloatingRealToComplex,
        FloatingComplexToReal,
        FloatingComplexToBoolean,
        FloatingComplexCast,
        FloatingComplexToIntegralComplex,
        IntegralRealToComplex,
        IntegralComplexToReal,
        IntegralComplexToBoolean,
        IntegralComplexCast,
        IntegralComplexToFloatingComplex,
    }
}

words! {
    /// A storage class.
    Storage {
        Static = "static",
        Extern = "extern",
        Register = "register",
        Auto = "auto",
    }
}

words! {
    /// The keyword of a tag.
    TagKind {
        Struct = "struct",
        Union = "union",
        Enum = "enum",
    }
}

#[cfg(test)]
mod tests {
    use super::{CastKind, Opcode, Storage, TagKind};
    use crate::clang::kind::NodeKind;

    #[test]
    fn every_known_word_comes_back_and_an_unknown_one_is_carried() {
        macro_rules! check {
            ($($name:ident),*) => {$(
                for known in $name::KNOWN {
                    assert_eq!(&$name::of(&known.to_string()), known);
                    let read: $name = serde_json::from_str(&format!("{:?}", known.word())).expect("a word");
                    assert_eq!(&read, known);
                }
                assert_eq!($name::of("NoSuchWord"), $name::Other("NoSuchWord".into()));
                assert_eq!($name::of("NoSuchWord").to_string(), "NoSuchWord");
                assert_eq!(($name::of(""), $name::default().word()), ($name::Absent, ""));
            )*};
        }
        check!(NodeKind, Opcode, CastKind, Storage, TagKind);
    }

    #[test]
    fn a_compound_assignment_computes_with_the_operator_before_its_equals_sign() {
        for opcode in Opcode::KNOWN {
            let computes = opcode.compound().map(|computed| format!("{computed}="));
            let is_compound = opcode.word().ends_with('=') && *opcode != Opcode::Assign && !opcode.is_comparison();
            assert_eq!(computes, is_compound.then(|| opcode.to_string()), "{opcode}");
        }
    }
}
