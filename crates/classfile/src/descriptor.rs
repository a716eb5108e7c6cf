//! Descriptors: the encoding of types in class files (JVM specification, section 4.3).

use super::operations::SlotKind;
use std::sync::Arc;

/// The type of a field, a parameter or a result.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Desc {
    /// `V`: no result.
    Void,
    /// `Z`.
    Boolean,
    /// `B`.
    Byte,
    /// `C`.
    Char,
    /// `S`.
    Short,
    /// `I`.
    Int,
    /// `J`.
    Long,
    /// `F`.
    Float,
    /// `D`.
    Double,
    /// A class or an array, by its name in class constants (`java/lang/String`, `[I`, `[Ljava/lang/String;`).
    Ref(Arc<str>),
}

impl Desc {
    /// Parses the descriptor of one type.
    pub fn parse(text: &str) -> Option<Desc> {
        let (desc, rest) = Desc::first(text)?;
        rest.is_empty().then_some(desc)
    }

    /// Returns the keyword of a primitive type or `void`.
    pub fn word(&self) -> Option<&'static str> {
        Some(match self {
            Desc::Void => "void",
            Desc::Boolean => "boolean",
            Desc::Byte => "byte",
            Desc::Char => "char",
            Desc::Short => "short",
            Desc::Int => "int",
            Desc::Long => "long",
            Desc::Float => "float",
            Desc::Double => "double",
            Desc::Ref(_) => return None,
        })
    }

    /// Parses the type at the start of a string, and returns the rest.
    fn first(text: &str) -> Option<(Desc, &str)> {
        let simple = match text.bytes().next()? {
            b'V' => Desc::Void,
            b'Z' => Desc::Boolean,
            b'B' => Desc::Byte,
            b'C' => Desc::Char,
            b'S' => Desc::Short,
            b'I' => Desc::Int,
            b'J' => Desc::Long,
            b'F' => Desc::Float,
            b'D' => Desc::Double,
            b'L' => {
                let end = text.find(';').filter(|end| *end > 1)?;
                return Some((Desc::Ref(text[1..end].into()), &text[end + 1..]));
            }
            b'[' => {
                let element = text.trim_start_matches('[');
                let (desc, rest) = Desc::first(element)?;
                let dimensions = text.len() - element.len();
                if desc == Desc::Void || dimensions > 255 {
                    return None;
                }
                return Some((Desc::Ref(text[..text.len() - rest.len()].into()), rest));
            }
            _ => return None,
        };
        Some((simple, &text[1..]))
    }

    /// Returns the encoded descriptor.
    pub fn text(&self) -> String {
        match self {
            Desc::Void => "V".to_string(),
            Desc::Boolean => "Z".to_string(),
            Desc::Byte => "B".to_string(),
            Desc::Char => "C".to_string(),
            Desc::Short => "S".to_string(),
            Desc::Int => "I".to_string(),
            Desc::Long => "J".to_string(),
            Desc::Float => "F".to_string(),
            Desc::Double => "D".to_string(),
            Desc::Ref(name) => class_desc(name),
        }
    }

    /// Returns the size in memory in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Desc::Void => 0,
            Desc::Boolean | Desc::Byte => 1,
            Desc::Char | Desc::Short => 2,
            Desc::Int | Desc::Float => 4,
            Desc::Long | Desc::Double | Desc::Ref(_) => 8,
        }
    }

    /// The kind of slot that holds a value of this type. `void` has no value and counts as `int`.
    pub fn kind(&self) -> SlotKind {
        match self {
            Desc::Long => SlotKind::Long,
            Desc::Float => SlotKind::Float,
            Desc::Double => SlotKind::Double,
            Desc::Ref(_) => SlotKind::Ref,
            _ => SlotKind::Int,
        }
    }

    /// True if it takes two slots on the stack or among the locals.
    pub fn is_wide(&self) -> bool {
        matches!(self, Desc::Long | Desc::Double)
    }

    /// True if it is a class or an array.
    pub fn is_ref(&self) -> bool {
        matches!(self, Desc::Ref(_))
    }
}

/// Returns the descriptor of a class or array, by its name in class constants.
pub fn class_desc(name: &str) -> String {
    if name.starts_with('[') { name.to_string() } else { format!("L{name};") }
}

/// The type of a method.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodDesc {
    /// Parameters, without the receiver.
    pub params: Vec<Desc>,
    /// Result.
    pub result: Desc,
}

impl MethodDesc {
    /// Parses a method descriptor.
    pub fn parse(text: &str) -> Option<MethodDesc> {
        let mut rest = text.strip_prefix('(')?;
        let mut params = Vec::new();
        while !rest.starts_with(')') {
            let (desc, behind) = Desc::first(rest)?;
            if desc == Desc::Void || params.len() == 255 {
                return None;
            }
            params.push(desc);
            rest = behind;
        }
        Some(MethodDesc { params, result: Desc::parse(&rest[1..])? })
    }

    /// Returns the encoded descriptor.
    pub fn text(&self) -> String {
        let params: String = self.params.iter().map(Desc::text).collect();
        format!("({params}){}", self.result.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_read_and_written_and_others_are_refused() {
        for text in ["()V", "(I[[JLjava/lang/String;Z)[Ljava/lang/Object;", "(BCSDF)J"] {
            assert_eq!(MethodDesc::parse(text).map(|desc| desc.text()).as_deref(), Some(text));
        }
        for text in ["", "(", "()", "(V)V", "(I", "(L;)V", "(Lx)V", "()VV", "(Q)V", "([V)V"] {
            assert_eq!(MethodDesc::parse(text), None, "{text}");
        }
    }
}
