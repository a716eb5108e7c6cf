//! A lexer for the parts of C that occur in type names, parameter lists and constant expressions.

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TypeToken {
    /// An identifier or keyword.
    Word(String),
    /// An integer.
    Number(i64),
    /// An integer with a suffix: `5UL`.
    Suffixed(i64, String),
    /// Any other token; string and character literals are here too, in their spelling.
    Sign(String),
}

impl TypeToken {
    /// Returns true if it is this punctuator.
    pub fn is(&self, sign: &str) -> bool {
        matches!(self, TypeToken::Sign(text) if text == sign)
    }
    /// Returns the value of an integer.
    pub fn number(&self) -> Option<i64> {
        match self {
            TypeToken::Number(number) | TypeToken::Suffixed(number, _) => Some(*number),
            TypeToken::Word(_) | TypeToken::Sign(_) => None,
        }
    }
    /// Returns true if it is this identifier or keyword.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, TypeToken::Word(text) if text == word)
    }
}

const LONG_SIGNS: [&str; 14] = ["...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "::", "++", "--", "##"];

/// Splits a text into tokens. Never fails: an unexpected character is a token of its own.
pub(crate) fn tokenize(text: &str) -> Vec<TypeToken> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            tokens.push(TypeToken::Word(rest[..length].to_string()));
            length
        } else if c.is_ascii_digit() {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '.')).unwrap_or(rest.len());
            let word = &rest[..length];
            tokens.push(number(word).unwrap_or_else(|| TypeToken::Sign(word.to_string())));
            length
        } else if c == '"' || c == '\'' {
            let length = quoted(rest, c);
            let word = &rest[..length];
            tokens.push(character(word).map_or_else(|| TypeToken::Sign(word.to_string()), TypeToken::Number));
            length
        } else {
            let sign = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)).copied();
            let length = sign.map_or(c.len_utf8(), str::len);
            tokens.push(TypeToken::Sign(rest[..length].to_string()));
            length
        };
        rest = &rest[length..];
    }
    tokens
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    text.len()
}

fn character(text: &str) -> Option<i64> {
    let body = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = body.chars();
    let first = chars.next()?;
    (first != '\\' && first.is_ascii() && chars.next().is_none()).then_some(i64::from(first as u32))
}

fn number(text: &str) -> Option<TypeToken> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()
    } else {
        digits.parse().ok()
    }?;
    let suffix = &text[digits.len()..];
    Some(if suffix.is_empty() { TypeToken::Number(value) } else { TypeToken::Suffixed(value, suffix.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_words_and_long_signs_are_told_apart() {
        let words: Vec<String> = tokenize("int a[0x10u << 2] 'c' \"s)\" 1.5 ...")
            .into_iter()
            .map(|token| match token {
                TypeToken::Word(word) => format!("w:{word}"),
                TypeToken::Number(number) => format!("n:{number}"),
                TypeToken::Suffixed(number, suffix) => format!("n:{number}:{suffix}"),
                TypeToken::Sign(sign) => format!("s:{sign}"),
            })
            .collect();
        assert_eq!(words.join(" "), "w:int w:a s:[ n:16:u s:<< n:2 s:] n:99 s:\"s)\" s:1.5 s:...");
    }
}
