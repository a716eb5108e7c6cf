//! A lexer of C for syntax colouring: comments, literals, numbers, keywords, directives. No parser.

/// The class of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenClass {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    Directive,
}

impl TokenClass {
    /// Returns the CSS class, one letter, since there are many elements.
    pub(super) fn class(self) -> Option<&'static str> {
        match self {
            TokenClass::Plain => None,
            TokenClass::Comment => Some("m"),
            TokenClass::Text => Some("t"),
            TokenClass::Number => Some("o"),
            TokenClass::Keyword => Some("w"),
            TokenClass::Directive => Some("d"),
        }
    }
}

/// The lexer state at the end of a line: inside a block comment or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LexerState {
    comment: bool,
}

const KEYWORDS: &[&str] = &[
    "_Bool", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
];

/// Returns the tokens of a line: their offsets and classes.
pub(super) fn tokens(line: &str, open: &mut LexerState) -> Vec<(usize, TokenClass)> {
    let bytes = line.as_bytes();
    let mut found: Vec<(usize, TokenClass)> = Vec::new();
    let mut push = |at: usize, kind: TokenClass| {
        if found.last().is_none_or(|(_, last)| *last != kind) {
            found.push((at, kind));
        }
    };
    let mut at = 0;
    let directive = !open.comment && line.trim_start().starts_with('#');
    while at < bytes.len() {
        if open.comment {
            push(at, TokenClass::Comment);
            match line[at..].find("*/") {
                Some(length) => {
                    at += length + 2;
                    open.comment = false;
                }
                None => at = bytes.len(),
            }
            continue;
        }
        let rest = &line[at..];
        match bytes[at] {
            b'/' if rest.starts_with("//") => {
                push(at, TokenClass::Comment);
                at = bytes.len();
            }
            b'/' if rest.starts_with("/*") => {
                push(at, TokenClass::Comment);
                open.comment = true;
                at += 2;
                // `/*/` is no complete comment.
                if bytes.len() == at {
                    break;
                }
            }
            quote @ (b'"' | b'\'') => {
                push(at, TokenClass::Text);
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
            }
            _ if directive => {
                push(at, TokenClass::Directive);
                at += 1;
            }
            first if first.is_ascii_alphanumeric() || first == b'_' => {
                let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
                let end = bytes[at..].iter().position(|b| !word(b)).map_or(bytes.len(), |length| at + length);
                let text = &line[at..end];
                let kind = match first {
                    b'0'..=b'9' => TokenClass::Number,
                    _ if KEYWORDS.binary_search(&text).is_ok() => TokenClass::Keyword,
                    _ => TokenClass::Plain,
                };
                push(at, kind);
                at = end;
            }
            _ => {
                push(at, TokenClass::Plain);
                at += 1;
            }
        }
        while !line.is_char_boundary(at) {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order_so_that_they_are_found() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn a_line_is_cut_into_what_colours_need() {
        let check = |line: &str, open: bool, expected: &str, after: bool| {
            let mut state = LexerState { comment: open };
            let mut shown = String::new();
            let found = tokens(line, &mut state);
            for (index, (start, kind)) in found.iter().enumerate() {
                let end = found.get(index + 1).map_or(line.len(), |next| next.0);
                shown += &format!("{}[{}]", kind.class().unwrap_or(""), &line[*start..end]);
            }
            assert_eq!((shown.as_str(), state.comment), (expected, after), "{line}");
        };
        check("if (x1 < 10u) return;", false, "w[if][ (x1 < ]o[10u][) ]w[return][;]", false);
        check("a /* b */ c // d", false, "[a ]m[/* b */][ c ]m[// d]", false);
        check("é = \"/* ü\\\"\"; /* ö", false, "[é = ]t[\"/* ü\\\"\"][; ]m[/* ö]", true);
        check("x */ y", true, "m[x */][ y]", false);
        check("#include <a> /* b */", false, "d[#include <a> ]m[/* b */]", false);
        check("'\\", false, "t['\\]", false);
        check("", true, "", true);
    }
}
