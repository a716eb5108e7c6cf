//! Tokens of a C text, without comments and preprocessor lines: enough to find statements and scopes.

use std::collections::BTreeMap;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    Word,
    Number,
    /// A string or character literal.
    Quoted,
    Sign,
}

/// A token: bytes `start..end` of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CToken {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// A text with its tokens and the macros that it defines.
pub(crate) struct TokenisedSource<'s> {
    pub text: &'s str,
    pub tokens: Vec<CToken>,
    /// The bodies of the macros that the text itself defines; several for a macro that is redefined.
    pub macros: BTreeMap<&'s str, Vec<&'s str>>,
    /// The offsets of lines with conditional directives.
    pub conditionals: Vec<usize>,
    lines: Vec<usize>,
}

const SIGNS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=",
];

impl<'s> TokenisedSource<'s> {
    pub fn new(text: &'s str) -> TokenisedSource<'s> {
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut source =
            TokenisedSource { text, tokens: Vec::new(), macros: BTreeMap::new(), conditionals: Vec::new(), lines };
        let bytes = text.as_bytes();
        let (mut at, mut line_begins) = (0, true);
        while at < bytes.len() {
            let byte = bytes[at];
            if let Some(length) = comment(&bytes[at..]) {
                at += length;
            } else if byte == b'\n' {
                line_begins = true;
                at += 1;
            } else if byte.is_ascii_whitespace() || byte == b'\\' {
                at += 1;
            } else if byte == b'#' && line_begins {
                let end = directive_end(bytes, at);
                source.directive(at, end);
                at = end;
            } else {
                line_begins = false;
                let (kind, length) = token(&text[at..]);
                source.tokens.push(CToken { kind, start: at, end: at + length });
                at += length;
            }
        }
        source
    }

    fn directive(&mut self, start: usize, end: usize) {
        let rest = self.text[start + 1..end].trim_start();
        if rest.starts_with("if") || rest.starts_with("el") {
            self.conditionals.push(start);
        }
        let Some(definition) = rest.strip_prefix("define") else { return };
        let definition = definition.trim_start();
        let length = definition.find(|c: char| !is_word(c)).unwrap_or(definition.len());
        let (name, mut body) = definition.split_at(length);
        if body.starts_with('(') {
            body = body.split_once(')').map_or("", |(_, body)| body);
        }
        self.macros.entry(name).or_default().push(body);
    }

    pub fn word(&self, index: usize) -> &'s str {
        self.tokens.get(index).map_or("", |token| &self.text[token.start..token.end])
    }

    /// Returns the offset of a line and column, both counted from 1.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let at = start + usize::try_from(column).ok()?.checked_sub(1)?;
        self.text.is_char_boundary(at).then_some(at)
    }

    /// Returns the index of the first token that starts at or after an offset.
    pub fn first_token_from(&self, offset: usize) -> usize {
        self.tokens.partition_point(|token| token.start < offset)
    }

    /// Returns the index of the token after the bracket that closes the one at `index`.
    pub fn after_bracket(&self, index: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in index..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the index of the token after the colon of the label `case …:` or `default:` at `index`.
    pub fn after_case(&self, index: usize) -> Option<usize> {
        let mut depth = 0i32;
        for at in index + 1..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" | "?" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                ":" if depth > 0 => depth -= 1,
                ":" => return Some(at + 1),
                _ => {}
            }
        }
        None
    }

    /// Returns true if a piece of C has no side effect as far as its text and the macros of this file show: no
    /// assignment, no increment and no call.
    pub fn is_effect_free(&self, piece: &str) -> bool {
        const MAX_NESTING_DEPTH: u32 = 20;
        self.effect_free(piece, MAX_NESTING_DEPTH)
    }
    fn effect_free(&self, piece: &str, left: u32) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        let inner = TokenisedSource::new(piece);
        (0..inner.tokens.len()).all(|at| {
            let word = inner.word(at);
            match inner.tokens[at].kind {
                TokenKind::Sign => !(matches!(word, "=" | "++" | "--" | "{" | "#") || is_assignment(word)),
                TokenKind::Word => match self.macros.get(word) {
                    Some(bodies) => bodies.iter().all(|body| self.effect_free(body, left)),
                    None => inner.word(at + 1) != "(" || word == "sizeof",
                },
                TokenKind::Number | TokenKind::Quoted => true,
            }
        })
    }

    /// Returns true if a piece uses a macro of this file.
    pub fn uses_macro(&self, piece: &str) -> bool {
        let inner = TokenisedSource::new(piece);
        (0..inner.tokens.len()).any(|at| self.macros.contains_key(inner.word(at)))
    }

    /// Returns the names before the parentheses that enclose an offset, from the token `first` on, innermost last.
    pub fn calls_around(&self, first: usize, offset: usize) -> Vec<&'s str> {
        let mut open: Vec<&str> = Vec::new();
        for at in first..self.first_token_from(offset) {
            let token = self.tokens[at];
            if token.kind != TokenKind::Sign {
                continue;
            }
            match self.text.as_bytes()[token.start] {
                b'(' if at > 0 && self.tokens[at - 1].kind == TokenKind::Word => open.push(self.word(at - 1)),
                b'(' | b'[' | b'{' => open.push(""),
                b')' | b']' | b'}' => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.retain(|name| !name.is_empty());
        open
    }
}

fn is_assignment(sign: &str) -> bool {
    sign.len() > 1 && sign.ends_with('=') && !matches!(sign, "==" | "!=" | "<=" | ">=")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn comment(text: &[u8]) -> Option<usize> {
    match text {
        [b'/', b'*', rest @ ..] => {
            Some(rest.windows(2).position(|two| two == b"*/").map_or(text.len(), |length| length + 4))
        }
        [b'/', b'/', ..] => Some(text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len())),
        _ => None,
    }
}

fn directive_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        if let Some(length) = comment(&bytes[at..]) {
            at += length;
            continue;
        }
        if bytes[at] == b'\n' {
            let before = bytes[start..at].iter().rev().find(|byte| **byte != b'\r');
            if before != Some(&b'\\') {
                return at;
            }
        }
        at += 1;
    }
    bytes.len()
}

fn token(text: &str) -> (TokenKind, usize) {
    let first = text.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        let number = |c: char| is_word(c) || c == '.';
        return (TokenKind::Number, text.find(|c| !number(c)).unwrap_or(text.len()));
    }
    if is_word(first) {
        let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
        return (TokenKind::Word, length);
    }
    if first == '"' || first == '\'' {
        let mut escaped = false;
        for (at, c) in text.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == first || c == '\n' => return (TokenKind::Quoted, at + 1),
                _ => {}
            }
        }
        return (TokenKind::Quoted, text.len());
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign));
    (TokenKind::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_directives_and_literals_hide_what_is_in_them() {
        let check = |text: &str, expected: &[&str]| {
            let source = TokenisedSource::new(text);
            let words: Vec<&str> = (0..source.tokens.len()).map(|at| source.word(at)).collect();
            assert_eq!(words, expected, "{text}");
        };
        check("a /* { */ + b // }\n;", &["a", "+", "b", ";"]);
        check("#define A { \\\n {\nx = '}';", &["x", "=", "'}'", ";"]);
        check("f(\"a;\\\"}\", x->y<<=1)", &["f", "(", "\"a;\\\"}\"", ",", "x", "->", "y", "<<=", "1", ")"]);
    }

    #[test]
    fn effects_are_seen_through_the_macros_of_the_file() {
        let source = TokenisedSource::new("#define DIGIT(c) ((c) >= '0' && (c) <= '9')\n#define NEXT(p) (*(p)++)\n");
        let check = |piece: &str, expected: bool| assert_eq!(source.is_effect_free(piece), expected, "{piece}");
        check("a <= b && c == d", true);
        check("DIGIT(c)", true);
        check("NEXT(p) == 3", false);
        check("f(x)", false);
        check("x = 3", false);
        check("a -= 1", false);
        check("i++ < 3", false);
        check("sizeof(x) > 3", true);
    }
}
