//! Just enough of C's tokens to colour a source: comments, literals, numbers, keywords, directives. No parser.

/// What a stretch of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain,
    Comment,
    Text,
    Number,
    Keyword,
    Directive,
}

impl Kind {
    /// The class of its element; one letter, since there are many.
    pub(super) fn class(self) -> Option<&'static str> {
        match self {
            Kind::Plain => None,
            Kind::Comment => Some("m"),
            Kind::Text => Some("t"),
            Kind::Number => Some("o"),
            Kind::Keyword => Some("w"),
            Kind::Directive => Some("d"),
        }
    }
}

/// Whether the line before ended inside a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Open {
    comment: bool,
}

const KEYWORDS: &[&str] = &[
    "_Bool", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
];

/// The stretches of a line: where each begins, and what it is.
pub(super) fn tokens(line: &str, open: &mut Open) -> Vec<(usize, Kind)> {
    let bytes = line.as_bytes();
    let mut found: Vec<(usize, Kind)> = Vec::new();
    let mut push = |at: usize, kind: Kind| {
        if found.last().is_none_or(|(_, last)| *last != kind) {
            found.push((at, kind));
        }
    };
    let mut at = 0;
    let directive = !open.comment && line.trim_start().starts_with('#');
    while at < bytes.len() {
        if open.comment {
            push(at, Kind::Comment);
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
                push(at, Kind::Comment);
                at = bytes.len();
            }
            b'/' if rest.starts_with("/*") => {
                push(at, Kind::Comment);
                open.comment = true;
                at += 2;
                // `/*/` is no whole comment.
                if bytes.len() == at {
                    break;
                }
            }
            quote @ (b'"' | b'\'') => {
                push(at, Kind::Text);
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
            }
            _ if directive => {
                push(at, Kind::Directive);
                at += 1;
            }
            first if first.is_ascii_alphanumeric() || first == b'_' => {
                let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
                let end = bytes[at..].iter().position(|b| !word(b)).map_or(bytes.len(), |length| at + length);
                let text = &line[at..end];
                let kind = match first {
                    b'0'..=b'9' => Kind::Number,
                    _ if KEYWORDS.binary_search(&text).is_ok() => Kind::Keyword,
                    _ => Kind::Plain,
                };
                push(at, kind);
                at = end;
            }
            _ => {
                push(at, Kind::Plain);
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
            let mut state = Open { comment: open };
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
