//! The statements of a function, found in the text alone.
//!
//! This is no parser of C: keywords and brackets determine the statements. A function whose brackets don't match
//! (conditional compilation, macros that open braces) has no layout, and nothing that needs one is inserted into it.

use super::c_tokens::{TokenKind, TokenisedSource};

/// A statement, as a range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StatementSpan {
    pub start: usize,
    pub end: usize,
    /// True if an `if`, a loop or an `else` controls it and it has no braces of its own.
    pub single: bool,
}

/// A range of the text in which declarations are visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct DeclarationScope {
    start: usize,
    end: usize,
    /// True for the body of a switch, whose declarations can be jumped over.
    switch: bool,
}

/// The statements of a function.
#[derive(Debug)]
pub(crate) struct StatementLayout {
    pub statements: Vec<StatementSpan>,
    scopes: Vec<DeclarationScope>,
    jumps: bool,
}

/// Finds the body of a function: the index of its opening brace, and the offset after it.
pub(crate) fn find_body(source: &TokenisedSource<'_>, name_offset: usize) -> Option<(usize, usize)> {
    let mut at = source.first_token_from(name_offset);
    while at < source.tokens.len() {
        match source.word(at) {
            "{" => return Some((at, source.tokens[at].end)),
            "(" | "[" => at = source.after_bracket(at)?,
            // `int (f)(int a) {`, `int (*f(int a))[3] {`: the name is in parentheses.
            ")" if matches!(source.word(at + 1), "(" | "[" | ")") => at += 1,
            // A declaration without a body, or an unknown construct.
            "}" | ")" | "]" | "=" => return None,
            _ => at += 1,
        }
    }
    None
}

impl StatementLayout {
    /// Computes the layout of the body that opens at a token.
    pub fn new(source: &TokenisedSource<'_>, brace: usize) -> Option<StatementLayout> {
        let end = source.after_bracket(brace)?;
        let bytes = source.tokens[brace].start..source.tokens[end - 1].end;
        if source.conditionals.iter().any(|at| bytes.contains(at)) {
            return None;
        }
        let jumps = (brace..end).any(|at| source.word(at) == "goto");
        let mut walk =
            LayoutBuilder { source, layout: StatementLayout { statements: Vec::new(), scopes: Vec::new(), jumps } };
        if walk.compound(brace, false, MAX_STATEMENT_DEPTH)? != end {
            return None;
        }
        // Statement expressions, which heads and simple statements skip.
        for at in (brace + 1..end).filter(|at| source.word(*at) == "{" && source.word(at - 1) == "(") {
            walk.compound(at, false, MAX_STATEMENT_DEPTH)?;
        }
        Some(walk.layout)
    }

    /// Returns the statement that begins at an offset.
    pub fn at(&self, start: usize) -> Option<&StatementSpan> {
        self.statements.iter().find(|statement| statement.start == start)
    }

    /// Returns true if a local variable that is first named by the token `declared` is certainly initialised at the
    /// offset `at`.
    pub fn is_live(&self, source: &TokenisedSource<'_>, declared: usize, at: usize) -> bool {
        let token = source.tokens[declared];
        let around = self.scopes.iter().filter(|scope| scope.start <= token.start && token.end <= scope.end);
        let Some(scope) = around.min_by_key(|scope| scope.end - scope.start) else { return false };
        // The declaration must be complete: `int x = (here)` does not see `x`.
        let statement = self.statements.iter().filter(|s| s.start <= token.start && token.end <= s.end);
        let Some(own) = statement.min_by_key(|s| s.end - s.start) else { return false };
        let in_head = scope.start == own.start;
        let initialised = source.word(declared + 1) == "=";
        let after = if in_head { at > token.end && !self.in_first_clause(source, scope, at) } else { own.end <= at };
        initialised && after && at < scope.end && !scope.switch && !self.jumps
    }

    /// Returns true if an offset is before the first semicolon of a `for`.
    fn in_first_clause(&self, source: &TokenisedSource<'_>, scope: &DeclarationScope, at: usize) -> bool {
        let mut depth = 0i32;
        for index in source.first_token_from(scope.start)..source.tokens.len() {
            match source.word(index) {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" => depth -= 1,
                ";" if depth == 1 => return at < source.tokens[index].end,
                _ => {}
            }
        }
        true
    }
}

/// The maximum nesting depth of statements.
const MAX_STATEMENT_DEPTH: u32 = 300;

struct LayoutBuilder<'a, 's> {
    source: &'a TokenisedSource<'s>,
    layout: StatementLayout,
}

impl LayoutBuilder<'_, '_> {
    /// Scans a block, and returns the index of the token after its closing brace.
    fn compound(&mut self, brace: usize, switch: bool, left: u32) -> Option<usize> {
        let mut at = brace + 1;
        while self.source.word(at) != "}" {
            at = self.statement(at, false, left)?;
        }
        let (start, end) = (self.source.tokens[brace].start, self.source.tokens[at].end);
        self.layout.scopes.push(DeclarationScope { start, end, switch });
        Some(at + 1)
    }

    fn statement(&mut self, at: usize, single: bool, left: u32) -> Option<usize> {
        let left = left.checked_sub(1)?;
        let source = self.source;
        let start = source.tokens.get(at)?.start;
        let next = match source.word(at) {
            "{" => return self.compound(at, false, left),
            ";" => return Some(at + 1),
            "}" | ")" | "]" | "else" => return None,
            "case" | "default" => {
                return self.labelled(source.after_case(at)?, single, left);
            }
            "if" => {
                let mut next = self.controlled(self.head(at)?, left)?;
                if source.word(next) == "else" {
                    next = self.controlled(next + 1, left)?;
                }
                next
            }
            "switch" => {
                let body = self.head(at)?;
                match source.word(body) {
                    "{" => self.compound(body, true, left)?,
                    _ => self.controlled(body, left)?,
                }
            }
            "while" | "for" => {
                let next = self.controlled(self.head(at)?, left)?;
                let end = source.tokens.get(next.checked_sub(1)?)?.end;
                self.layout.scopes.push(DeclarationScope { start, end, switch: false });
                next
            }
            "do" => {
                let test = self.controlled(at + 1, left)?;
                let next = (source.word(test) == "while").then(|| self.head(test)).flatten()?;
                (source.word(next) == ";").then_some(next + 1)?
            }
            _ if source.tokens[at].kind == TokenKind::Word && source.word(at + 1) == ":" => {
                return self.labelled(at + 2, single, left);
            }
            _ => self.plain(at, left)?,
        };
        let end = source.tokens.get(next.checked_sub(1)?)?.end;
        self.layout.statements.push(StatementSpan { start, end, single });
        Some(next)
    }

    /// Scans the statement after a label.
    fn labelled(&mut self, at: usize, single: bool, left: u32) -> Option<usize> {
        if self.source.word(at) == "}" { Some(at) } else { self.statement(at, single, left) }
    }
    fn controlled(&mut self, at: usize, left: u32) -> Option<usize> {
        self.statement(at, true, left)
    }
    /// Returns the index of the token after the parentheses that follow a keyword.
    fn head(&self, keyword: usize) -> Option<usize> {
        (self.source.word(keyword + 1) == "(").then(|| self.source.after_bracket(keyword + 1)).flatten()
    }
    /// Scans an expression statement or a declaration, up to its semicolon.
    fn plain(&mut self, at: usize, left: u32) -> Option<usize> {
        let source = self.source;
        if source.tokens[at].kind == TokenKind::Word && source.word(at + 1) == "(" {
            let after = source.after_bracket(at + 1)?;
            // A macro that expands to a loop.
            if source.word(after) == "{" {
                return self.compound(after, false, left);
            }
        }
        let mut next = at;
        loop {
            match source.word(next) {
                ";" => return Some(next + 1),
                "(" | "[" | "{" => next = source.after_bracket(next)?,
                ")" | "]" | "}" | "" => return None,
                // A keyword in the middle: the macro before it was a whole statement.
                "if" | "while" | "for" | "do" | "switch" | "return" | "else" if next > at => return None,
                _ => next += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, bool)]) {
        let source = TokenisedSource::new(text);
        let (brace, _) = find_body(&source, 0).expect("a body");
        let layout = StatementLayout::new(&source, brace).expect("a layout");
        let mut found = layout.statements.clone();
        found.sort_by_key(|statement| (statement.start, usize::MAX - statement.end));
        let found: Vec<(&str, bool)> =
            found.iter().map(|statement| (&text[statement.start..statement.end], statement.single)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn statements_without_braces_are_found_with_their_ends() {
        check(
            "int f(int a) { if (a) x = 1; else y = 2; return x; }",
            &[("if (a) x = 1; else y = 2;", false), ("x = 1;", true), ("y = 2;", true), ("return x;", false)],
        );
        check(
            "void f(void) { do x++; while (x < 3); l: while (x) if (y) z(); }",
            &[
                ("do x++; while (x < 3);", false),
                ("x++;", true),
                ("while (x) if (y) z();", false),
                ("if (y) z();", true),
                ("z();", true),
            ],
        );
        check(
            "void f(void) { switch (x) { case 1: a(); break; default: ; } int t[2] = {1, 2}; }",
            &[
                ("switch (x) { case 1: a(); break; default: ; }", false),
                ("a();", false),
                ("break;", false),
                ("int t[2] = {1, 2};", false),
            ],
        );
    }

    #[test]
    fn blocks_that_are_expressions_have_statements_too() {
        check(
            "int f(void) { return ({ int v = 1; if (v) g(({ h(); 2; })); v; }); }",
            &[
                ("return ({ int v = 1; if (v) g(({ h(); 2; })); v; });", false),
                ("int v = 1;", false),
                ("if (v) g(({ h(); 2; }));", false),
                ("g(({ h(); 2; }));", true),
                ("h();", false),
                ("2;", false),
                ("v;", false),
            ],
        );
    }

    #[test]
    fn a_label_may_have_a_choice() {
        check(
            "void f(void) { switch (x) { case A ? 1 : 2: a(); } }",
            &[("switch (x) { case A ? 1 : 2: a(); }", false), ("a();", false)],
        );
    }

    #[test]
    fn what_the_text_does_not_show_has_no_layout() {
        for text in [
            "void f(void) {\n#ifdef A\n if (x) {\n#else\n if (y) {\n#endif\n z(); } }",
            "void f(void) { BEGIN if (x) y(); }",
        ] {
            let source = TokenisedSource::new(text);
            let layout = find_body(&source, 0).and_then(|(brace, _)| StatementLayout::new(&source, brace));
            assert!(layout.is_none(), "{text}");
        }
    }
}
