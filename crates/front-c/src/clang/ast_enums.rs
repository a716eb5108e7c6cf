//! clang's words for operators, casts, storage classes and tags, as types.
//!
//! Parsed once, while the AST is read, and without an allocation for a word that is known. A word that nobody here knows is
//! [`Other`](Opcode::Other) and carries its name, so that it can be said. Each gives its word back by `Display`.
//!
//! Deliberately not here: what a word means. clang says `*` for a product and for what a pointer leads to; the kind of the
//! node says which.

/// An enum of words: each variant with its word, `Absent` for a node that has none, `Other` for the rest.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $word:expr,)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub(crate) enum $name {
            /// The node has none.
            #[default]
            Absent,
            $($variant,)*
            /// A word that is not known here.
            Other(Box<str>),
        }

        impl $name {
            /// All that are known.
            #[cfg(test)]
            pub const KNOWN: &[$name] = &[$($name::$variant),*];

            /// What a word of clang's stands for.
            pub fn of(word: &str) -> $name {
                $(if word == $word {
                    return $name::$variant;
                })*
                if word.is_empty() { $name::Absent } else { $name::Other(word.into()) }
            }
            /// clang's word.
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

/// The same where variants are called as clang calls them.
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
    /// Whether it compares.
    pub fn is_comparison(&self) -> bool {
        use Opcode::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | Greater | LessEqual | GreaterEqual)
    }
    /// Whether it is `++` or `--`.
    pub fn is_step(&self) -> bool {
        matches!(self, Opcode::Increment | Opcode::Decrement)
    }
    /// The operator that a compound assignment computes with; `None` for others.
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
    /// The operator that is computed: of a compound assignment its own, else itself.
    pub fn computed(&self) -> &Opcode {
        self.compound().unwrap_or(self)
    }
}

names! {
    /// What a cast does.
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
    /// What kind of type a tag names.
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
