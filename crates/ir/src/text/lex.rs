//! Tokens of the text form, each with its place.

use std::fmt;
use touchstone_base::{FileId, Id, Span};

/// A syntax error with its position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The expected and the actual token.
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// A word; ids (`b3`, `ty0`) are words too.
    Word(String),
    /// `%3`
    Reg(u32),
    /// `@name`
    Name(String),
    /// `@f0:12:7-12:9`
    Span(Span),
    /// A quoted text.
    Text(Vec<u8>),
    /// A number without sign.
    Number(u64),
    /// Anything else that is one sign: `{`, `..`, `=>`, …
    Sign(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Reg(reg) => write!(f, "`%{reg}`"),
            Token::Name(name) => write!(f, "`@{name}`"),
            Token::Span(_) => f.write_str("a source position"),
            Token::Text(_) => f.write_str("a quoted text"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A token and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub token: Token,
    pub line: u32,
    pub column: u32,
}

/// Longer signs first.
const SIGNS: [&str; 16] = ["->", "=>", "..", "{", "}", "(", ")", "[", "]", ",", ":", "=", "+", "-", ".", "|"];

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

/// Splits a text into tokens; the last one is [`Token::End`].
pub(crate) fn lex(text: &str) -> Result<Vec<Placed>, ParseError> {
    let mut lexer = Lexer { text: text.as_bytes(), at: 0, line: 1, line_start: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = lexer.place();
        let token = lexer.token()?;
        let done = token == Token::End;
        tokens.push(Placed { token, line, column });
        if done {
            return Ok(tokens);
        }
    }
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn place(&self) -> (u32, u32) {
        (self.line, u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX))
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let (line, column) = self.place();
        Err(ParseError { line, column, message: message.into() })
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    self.line_start = self.at + 1;
                }
                b' ' | b'\t' | b'\r' => {}
                b';' => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        let Some(byte) = self.peek() else { return Ok(Token::End) };
        match byte {
            b'%' => {
                self.at += 1;
                Ok(Token::Reg(self.u32()?))
            }
            b'@' => self.at_sign(),
            b'"' => Ok(Token::Text(self.quoted()?)),
            b'0'..=b'9' => Ok(Token::Number(self.number()?)),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                Ok(Token::Word(self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_')))
            }
            _ => match SIGNS.iter().find(|sign| self.text[self.at..].starts_with(sign.as_bytes())) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(Token::Sign(sign))
                }
                None => self.fail("unexpected character"),
            },
        }
    }

    fn run(&mut self, member: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&member) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        let start = (self.at, self.line_start);
        let digits = self.run(|byte| byte.is_ascii_alphanumeric());
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        value.or_else(|_| {
            self.at = start.0;
            self.fail(format!("expected a number of at most 64 bits, found `{digits}`"))
        })
    }

    fn u32(&mut self) -> Result<u32, ParseError> {
        let start = self.at;
        match self.number().map(u32::try_from) {
            // The last number would leave no room for a count.
            Ok(Ok(value)) if value < u32::MAX => Ok(value),
            _ => {
                self.at = start;
                self.fail("expected a number of at most 32 bits")
            }
        }
    }

    /// A name or a span: only a span has a colon and a digit right behind a file's id.
    fn at_sign(&mut self) -> Result<Token, ParseError> {
        self.at += 1;
        if self.peek() == Some(b'"') {
            let bytes = self.quoted()?;
            return match String::from_utf8(bytes) {
                Ok(name) => Ok(Token::Name(name)),
                Err(_) => self.fail("a name must be UTF-8"),
            };
        }
        let start = self.at;
        let name = self.run(is_name_byte);
        let file = name.strip_prefix('f').and_then(|digits| digits.parse::<u32>().ok()).filter(|&file| file < u32::MAX);
        let digit_follows = self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        match file {
            Some(file) if self.peek() == Some(b':') && digit_follows => Ok(Token::Span(self.span(file)?)),
            _ if name.is_empty() => {
                self.at = start;
                self.fail("expected a name after `@`")
            }
            _ => Ok(Token::Name(name)),
        }
    }

    fn span(&mut self, file: u32) -> Result<Span, ParseError> {
        self.expect(b':')?;
        let line = self.u32()?;
        self.expect(b':')?;
        let column = self.u32()?;
        let mut span = Span::at(FileId::new(file as usize), line, column);
        if self.peek() == Some(b'-') {
            self.at += 1;
            span.end_line = self.u32()?;
            self.expect(b':')?;
            span.end_column = self.u32()?;
        }
        Ok(span)
    }

    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.peek() != Some(byte) {
            return self.fail(format!("expected `{}` in a source position", char::from(byte)));
        }
        self.at += 1;
        Ok(())
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ParseError> {
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek().filter(|&byte| byte != b'\n') else {
                return self.fail("expected `\"` at the end of a quoted text");
            };
            self.at += 1;
            match byte {
                b'"' => return Ok(bytes),
                b'\\' => bytes.push(self.escape()?),
                _ => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<u8, ParseError> {
        let hex = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
        let (value, length) = match self.peek() {
            Some(b'n') => (b'\n', 1),
            Some(b't') => (b'\t', 1),
            Some(b'r') => (b'\r', 1),
            Some(b'0') => (0, 1),
            Some(byte @ (b'\\' | b'"')) => (byte, 1),
            Some(b'x') => match (hex(self.text.get(self.at + 1)), hex(self.text.get(self.at + 2))) {
                (Some(high), Some(low)) => ((high * 16 + low) as u8, 3),
                _ => return self.fail("expected two hexadecimal digits after `\\x`"),
            },
            _ => return self.fail("expected one of `n t r 0 \\ \" x` after a backslash"),
        };
        self.at += length;
        Ok(value)
    }
}
