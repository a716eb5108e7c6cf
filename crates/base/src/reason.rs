//! Reasons as closed enums. Each variant has one sentence for people (`Display`) and one stable word for programs.
//!
//! Code that gives something up returns a variant with data, never a sentence. The sentence is beside the variant
//! (thiserror's `#[error("…")]`) and is formatted where people read it. The word is part of the JSON and never changes.

/// Declares an enum of reasons. Each variant is led by its word: `"external_function" => External(String)`.
///
/// Beside the enum it gives `word`, and `WORDS` with the words of all variants in their order.
#[macro_export]
macro_rules! reasons {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$about:meta])* $word:literal => $variant:ident $( ( $($data:ty),* ) )? ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[$about])* $variant $( ( $($data),* ) )? ),*
        }

        impl $name {
            /// The words of all of them.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word by which programs know it.
            pub fn word(&self) -> &'static str {
                match self {
                    $( $name::$variant { .. } => $word ),*
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::reasons! {
        /// Two of them.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Refusal {
            /// Without data.
            "late" => Late,
            /// With data.
            "too_big" => TooBig(u64, String),
        }
    }

    #[test]
    fn every_variant_has_its_word() {
        let all = [Refusal::Late, Refusal::TooBig(3, "bytes".to_string())];
        assert_eq!(all.map(|refusal| refusal.word()), Refusal::WORDS);
    }
}
