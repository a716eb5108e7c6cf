//! Maps clang's positions to spans and source text as the user sees them.
//!
//! Code from a macro's body is attributed to the macro's call; only a token in an argument of the call keeps its own
//! position.

use crate::clang::node::{AstNode, AstPosition, RawLoc};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use touchstone_base::{FileId, Files, Id, Span};

/// The first line of every part of a preprocessed text, and whether it comes from a system header.
type Parts = Rc<[(u32, bool)]>;

/// Source texts, read on first use.
#[derive(Default)]
pub(crate) struct SourceTexts {
    texts: RefCell<FxHashMap<String, Rc<[u8]>>>,
    /// The parts of each preprocessed file.
    parts: RefCell<FxHashMap<String, Parts>>,
    ids: FxHashMap<String, FileId>,
}

/// Returns the parts into which line markers (`# 12 "file.h" 1 3`) divide a text. Commented-out markers (`//12 "file.h"
/// 1 3`) count too: clang's positions then refer to the text itself.
fn line_markers(text: &[u8]) -> Vec<(u32, bool)> {
    let mut parts = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let ([b'#', b' ', b'0'..=b'9', ..] | [b'/', b'/', b'0'..=b'9', ..]) = line else { continue };
        if !line.contains(&b'"') {
            continue;
        }
        let flags = line.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
        let system = flags.split(|byte| *byte == b' ').any(|flag| flag == b"3");
        parts.push((index as u32 + 2, system));
    }
    parts
}

/// A range of a file: offset, line and column of its first byte and of the byte after its last.
#[derive(Clone, Copy)]
struct Extent {
    file: u32,
    begin: (u32, u32, u32),
    end: (u32, u32, u32),
}

impl SourceTexts {
    /// Registers a text under a name that no file has (library models).
    pub fn insert(&mut self, name: &str, text: &str) {
        self.texts.get_mut().insert(name.to_string(), Rc::from(text.as_bytes()));
    }
    /// Returns the text of a file; empty if it can't be read. Texts are only used for display.
    pub fn text(&self, name: &str) -> Rc<[u8]> {
        let mut texts = self.texts.borrow_mut();
        if let Some(text) = texts.get(name) {
            return Rc::clone(text);
        }
        let text: Rc<[u8]> = std::fs::read(name).map(Rc::from).unwrap_or_else(|_| Rc::from([]));
        texts.insert(name.to_string(), Rc::clone(&text));
        text
    }
    /// Returns true if the line markers attribute this line to a system header.
    pub fn is_system_line(&self, name: &str, line: u32) -> bool {
        let known = self.parts.borrow().get(name).cloned();
        let parts = known.unwrap_or_else(|| {
            let parts: Parts = line_markers(&self.text(name)).into();
            self.parts.borrow_mut().insert(name.to_string(), Rc::clone(&parts));
            parts
        });
        let index = parts.partition_point(|(first, _)| *first <= line);
        index.checked_sub(1).is_some_and(|index| parts[index].1)
    }
    /// Returns the id of a file, which is added if it is new.
    pub fn file_id(&mut self, files: &mut Files, name: &str) -> FileId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = files.push(name.to_string());
        self.ids.insert(name.to_string(), id);
        id
    }
    /// Returns the span of a node.
    pub fn span(&mut self, files: &mut Files, names: &[Rc<str>], node: &AstNode) -> Span {
        match self.extent(names, &node.begin, &node.end) {
            Some(extent) => self.span_of(files, names, extent),
            None => self.point(files, names, &node.loc),
        }
    }
    /// Returns the span of a declaration's name.
    pub fn point(&mut self, files: &mut Files, names: &[Rc<str>], position: &AstPosition) -> Span {
        match position.expansion {
            Some(loc) => {
                let file = self.file_id(files, &names[loc.file as usize]);
                let mut span = Span::at(file, loc.line, loc.column);
                span.end_column += loc.token;
                span
            }
            None => Span::at(FileId::new(0), 0, 0),
        }
    }
    /// Returns the source text of a node on one line, without comments.
    pub fn node_text(&mut self, names: &[Rc<str>], node: &AstNode) -> String {
        let Some(extent) = self.extent(names, &node.begin, &node.end) else { return String::new() };
        let text = self.text(&names[extent.file as usize]);
        match text.get(extent.begin.0 as usize..extent.end.0 as usize) {
            Some(piece) => fold(&String::from_utf8_lossy(piece)),
            None => String::new(),
        }
    }

    /// Returns the source text of a node, shortened for display.
    pub fn short_text(&mut self, names: &[Rc<str>], node: &AstNode) -> String {
        self.extent(names, &node.begin, &node.end).map(|extent| self.short(names, extent)).unwrap_or_default()
    }
    fn short(&self, names: &[Rc<str>], extent: Extent) -> String {
        // Enough for the displayed length, comments included. Without this bound, deep expressions would take quadratic
        // time.
        const MAX_SOURCE_BYTES: usize = 1000;
        let text = self.text(&names[extent.file as usize]);
        let (begin, end) = (extent.begin.0 as usize, extent.end.0 as usize);
        match text.get(begin..end.min(begin.saturating_add(MAX_SOURCE_BYTES))) {
            Some(piece) => shorten(fold(&String::from_utf8_lossy(piece))),
            None => String::new(),
        }
    }
    /// Returns the span and the shortened text between two tokens.
    pub fn piece(
        &mut self,
        files: &mut Files,
        names: &[Rc<str>],
        begin: &AstPosition,
        end: &AstPosition,
    ) -> (Span, String) {
        match self.extent(names, begin, end) {
            Some(extent) => (self.span_of(files, names, extent), self.short(names, extent)),
            None => (self.point(files, names, begin), String::new()),
        }
    }
    /// Returns the span and the shortened text from a keyword to the parenthesis that closes after it; without one
    /// (inside a macro), up to `end`.
    pub fn head(
        &mut self,
        files: &mut Files,
        names: &[Rc<str>],
        begin: &AstPosition,
        end: &AstPosition,
    ) -> (Span, String) {
        if let Some(keyword) = self.in_argument(names, begin)
            && let Some(end) = self.call_end(names, &keyword)
        {
            let extent = Extent { file: keyword.file, begin: (keyword.offset, keyword.line, keyword.column), end };
            return (self.span_of(files, names, extent), self.short(names, extent));
        }
        self.piece(files, names, begin, end)
    }
    fn span_of(&mut self, files: &mut Files, names: &[Rc<str>], extent: Extent) -> Span {
        let file = self.file_id(files, &names[extent.file as usize]);
        Span { file, line: extent.begin.1, column: extent.begin.2, end_line: extent.end.1, end_column: extent.end.2 }
    }

    fn extent(&mut self, names: &[Rc<str>], begin: &AstPosition, end: &AstPosition) -> Option<Extent> {
        if let (Some(first), Some(last)) = (self.in_argument(names, begin), self.in_argument(names, end))
            && first.file == last.file
            && first.offset <= last.offset
            && (begin.spelling.is_none() || end.spelling.is_none() || self.is_one_argument(names, &first, &last))
        {
            return Some(Extent {
                file: first.file,
                begin: (first.offset, first.line, first.column),
                end: (last.offset + last.token, last.line, last.column + last.token),
            });
        }
        let (first, last) = (begin.expansion?, end.expansion?);
        if first.file != last.file {
            return Some(Extent {
                file: first.file,
                begin: (first.offset, first.line, first.column),
                end: (first.offset + first.token, first.line, first.column + first.token),
            });
        }
        let plain = (last.offset + last.token, last.line, last.column + last.token);
        let end = if end.spelling.is_some() { self.call_end(names, &last).unwrap_or(plain) } else { plain };
        Some(Extent { file: first.file, begin: (first.offset, first.line, first.column), end })
    }

    /// Returns the spelling location of a token that is outside of macros or in an argument of the user's macro call.
    fn in_argument(&mut self, names: &[Rc<str>], position: &AstPosition) -> Option<RawLoc> {
        let expansion = position.expansion?;
        let Some(spelling) = &position.spelling else { return Some(expansion) };
        if !position.macro_argument || spelling.file != expansion.file {
            return None;
        }
        let (end, _, _) = self.call_end(names, &expansion)?;
        (expansion.offset < spelling.offset && spelling.offset < end).then_some(**spelling)
    }

    /// Returns true if no comma between the two tokens separates macro arguments.
    fn is_one_argument(&self, names: &[Rc<str>], first: &RawLoc, last: &RawLoc) -> bool {
        let text = self.text(&names[first.file as usize]);
        let mut piece = text.get(first.offset as usize..last.offset as usize).unwrap_or_default();
        let mut depth = 0i32;
        let mut quote = None;
        while let [byte, rest @ ..] = piece {
            if quote.is_none()
                && let Some(length) = comment(piece)
            {
                piece = &piece[length..];
                continue;
            }
            piece = rest;
            match (quote, byte) {
                (Some(_), b'\\') => piece = piece.get(1..).unwrap_or_default(),
                (Some(open), _) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') => depth -= 1,
                (None, b',') if depth <= 0 => return false,
                _ => {}
            }
        }
        true
    }

    /// Returns the end of a macro call's parenthesis: offset, line and column after it.
    fn call_end(&mut self, names: &[Rc<str>], name: &RawLoc) -> Option<(u32, u32, u32)> {
        let text = self.text(&names[name.file as usize]);
        let mut at = (name.offset + name.token) as usize;
        let (mut line, mut column) = (name.line, name.column + name.token);
        let mut depth = 0u32;
        let mut quote = None;
        loop {
            let byte = *text.get(at)?;
            if quote.is_none()
                && let Some(length) = comment(&text[at..])
            {
                for &skipped in &text[at..at + length] {
                    column += 1;
                    if skipped == b'\n' {
                        line += 1;
                        column = 1;
                    }
                }
                at += length;
                continue;
            }
            match (quote, byte) {
                (Some(_), b'\\') => {
                    at += 1;
                    column += 1;
                }
                (Some(open), _) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') if depth > 0 => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') if depth > 0 => depth -= 1,
                (None, _) if depth == 0 && !byte.is_ascii_whitespace() => return None,
                _ => {}
            }
            at += 1;
            column += 1;
            if byte == b'\n' {
                line += 1;
                column = 1;
            }
            if depth == 0 && byte == b')' {
                return Some((at as u32, line, column));
            }
        }
    }
}

/// Returns the length of the comment that a text starts with.
fn comment(text: &[u8]) -> Option<usize> {
    match text {
        [b'/', b'*', rest @ ..] => {
            Some(rest.windows(2).position(|two| two == b"*/").map_or(text.len(), |length| length + 4))
        }
        [b'/', b'/', ..] => Some(text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len())),
        _ => None,
    }
}

/// Shortens a text to at most 80 characters.
pub(crate) fn shorten(mut text: String) -> String {
    const MAX_CHARS: usize = 80;
    if let Some((cut, _)) = text.char_indices().nth(MAX_CHARS - 1)
        && text.chars().count() > MAX_CHARS
    {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Replaces white space, line continuations and comments by single spaces.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quote = None;
    let mut space = false;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        if quote.is_none() {
            if c.is_whitespace() || (c == '\\' && matches!(next, Some('\n' | '\r'))) {
                space = true;
                continue;
            }
            if c == '/' && next == Some('/') {
                for skipped in chars.by_ref() {
                    if skipped == '\n' {
                        break;
                    }
                }
                space = true;
                continue;
            }
            if c == '/' && next == Some('*') {
                chars.next();
                let mut star = false;
                for skipped in chars.by_ref() {
                    if star && skipped == '/' {
                        break;
                    }
                    star = skipped == '*';
                }
                space = true;
                continue;
            }
        }
        if space && !out.is_empty() {
            out.push(' ');
        }
        space = false;
        out.push(c);
        match quote {
            Some(_) if c == '\\' => out.extend(chars.next()),
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        assert_eq!(fold(input), expected);
    }

    #[test]
    fn source_text_becomes_one_line_without_comments() {
        check("a   &&\n\t b", "a && b");
        check("a /* why */ && // because\n b", "a && b");
        check("a && \\\n b", "a && b");
        check("x == ' ' || s == \"/*  */\"", "x == ' ' || s == \"/*  */\"");
        check("c == '\\'' &&  d", "c == '\\'' && d");
    }
}
