//! Preprocessed text in the form that clang reads: without syntax that only gcc knows, and without unused declarations.
//!
//! Most of a small unit's text declares functions of system headers, which clang would parse and print. Those that
//! nothing mentions are replaced by spaces, so all offsets stay the same. Only declarations of one simple form are
//! removed, in text that the line markers assign to the system; types and everything else stay.

use std::collections::HashSet;
use std::ops::Range;

/// Replaces gcc's syntax and unused declarations by spaces, and line markers by comments. All offsets stay the same,
/// and clang reports locations in this text.
pub(crate) fn for_clang(text: &str) -> String {
    let mut made = without_gcc(text).into_bytes();
    for range in unused(text) {
        made[range].fill(b' ');
    }
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    for at in starts.filter(|at| text[*at..].starts_with("# ")) {
        made[at..at + 2].copy_from_slice(b"//");
    }
    String::from_utf8(made).unwrap_or_else(|_| text.to_string())
}

/// Replaces syntax that only gcc knows by spaces.
pub(crate) fn without_gcc(text: &str) -> String {
    const ATTRIBUTE: &str = "__malloc__";
    let mut made = text.as_bytes().to_vec();
    for (at, _) in text.match_indices(ATTRIBUTE) {
        let rest = &text[at + ATTRIBUTE.len()..];
        let open = rest.len() - rest.trim_start_matches(' ').len();
        if !rest[open..].starts_with('(') {
            continue;
        }
        let mut depth = 0i32;
        for (index, byte) in rest.bytes().enumerate().skip(open) {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            made[at + ATTRIBUTE.len() + index] = if byte == b'\n' { b'\n' } else { b' ' };
            if depth == 0 {
                break;
            }
        }
    }
    String::from_utf8(made).unwrap_or_else(|_| text.to_string())
}

/// The declaration of a function in a system header.
struct Declared<'a> {
    name: &'a str,
    tokens: Range<usize>,
}

/// Returns the tokens of unused declarations.
fn unused(text: &str) -> Vec<Range<usize>> {
    let tokens = tokens(text);
    let word = |at: usize| &text[tokens[at].place.clone()];
    let mut mentioned: HashSet<&str> = HashSet::new();
    let mut waiting: Vec<Declared<'_>> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = statement_end(text, &tokens, at);
        match declared(text, &tokens[at..end]) {
            Some(name) => waiting.push(Declared { name, tokens: at..end }),
            None => mentioned.extend((at..end).filter(|at| tokens[*at].is_word).map(word)),
        }
        at = end;
    }
    // Declarations that stay may mention others, in attributes.
    loop {
        let known = mentioned.len();
        waiting.retain(|declared| {
            let stays = mentioned.contains(declared.name);
            if stays {
                mentioned.extend(declared.tokens.clone().filter(|at| tokens[*at].is_word).map(word));
            }
            !stays
        });
        if mentioned.len() == known {
            break;
        }
    }
    waiting.into_iter().flat_map(|declared| declared.tokens).map(|at| tokens[at].place.clone()).collect()
}

/// A token of the text.
struct Token {
    place: Range<usize>,
    is_word: bool,
    /// True if the token and everything before it in its line are in a system header.
    is_system: bool,
}

/// Splits a preprocessed text into tokens, as far as declarations need them, without directives.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$' || *byte >= 0x80;
    let mut tokens = Vec::with_capacity(bytes.len() / 4);
    let mut is_system = false;
    let mut at = 0;
    while at < bytes.len() {
        let begins_line = at == 0 || bytes[at - 1] == b'\n';
        let length = match bytes[at] {
            b'#' if begins_line => {
                let line = bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
                let line = &text[at..at + line];
                if line.starts_with("# ") {
                    is_system = line.rsplit('"').next().is_some_and(|flags| flags.split(' ').any(|flag| flag == "3"));
                }
                at += line.len();
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            quote @ (b'"' | b'\'') => quoted(&bytes[at..], quote),
            byte if is_word(&byte) => bytes[at..].iter().take_while(|byte| is_word(byte)).count(),
            _ => 1,
        };
        tokens.push(Token { place: at..at + length, is_word: is_word(&bytes[at]), is_system });
        at += length;
    }
    tokens
}

/// Returns the length of the string or character literal at the beginning of a text.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != quote && text[at] != b'\n' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// Returns the end of the declaration that begins at a token: after its semicolon or its body.
fn statement_end(text: &str, tokens: &[Token], start: usize) -> usize {
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match &text[token.place.clone()] {
            "(" | "[" | "{" => depth += 1,
            "}" if depth <= 1 => return at + 1,
            ")" | "]" | "}" => depth -= 1,
            ";" if depth <= 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Returns the name of the function, if tokens of a system header have the form `extern TYPE NAME(PARAMETERS)
/// ATTRIBUTES;`.
fn declared<'a>(text: &'a str, tokens: &[Token]) -> Option<&'a str> {
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.place.clone()]);
    let first = usize::from(word(0) == "__extension__");
    if word(first) != "extern" || tokens.iter().any(|token| !token.is_system) {
        return None;
    }
    let open = (first..tokens.len()).find(|at| word(*at) == "(")?;
    let name = open.checked_sub(1).filter(|name| *name > first + 1)?;
    if (first..=name).any(|at| !tokens[at].is_word && word(at) != "*") || !tokens[name].is_word {
        return None;
    }
    let mut at = after_group(&word, tokens.len(), open)?;
    while matches!(word(at), "__attribute__" | "__asm__") {
        at = after_group(&word, tokens.len(), at + 1)?;
    }
    (word(at) == ";" && at + 1 == tokens.len()).then(|| word(name))
}

/// Returns the index of the token after the parentheses that open at one.
fn after_group<'a>(word: &impl Fn(usize) -> &'a str, end: usize, open: usize) -> Option<usize> {
    let mut depth = 0i32;
    for at in open..end {
        depth += i32::from(word(at) == "(") - i32::from(word(at) == ")");
        if depth == 0 {
            return (at > open).then_some(at + 1);
        }
        if matches!(word(at), "{" | "}" | ";") {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the remaining declarations of a header, without spaces and markers.
    fn left(header: &str, own: &str) -> String {
        let text = format!("# 0 \"a.c\"\n# 1 \"h.h\" 1 3 4\n{header}\n# 2 \"a.c\" 2\n{own}\n");
        let made = for_clang(&text);
        assert_eq!(made.len(), text.len());
        assert_eq!(made.matches('\n').count(), text.matches('\n').count());
        let lines = made.lines().filter(|line| !line.starts_with("//"));
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn functions_of_the_system_that_nothing_mentions_are_left_out() {
        let check = |header: &str, own: &str, expected: &str| assert_eq!(left(header, own), expected, "{header}");
        let two = "extern int puts (const char *s) __attribute__ ((__nothrow__));\nextern char *gets(char *s);";
        check(two, "int x;", "int x;");
        check(
            two,
            "int x(void) { return puts(\"gets\"); }",
            &format!("{} int x(void) {{ return puts(\"gets\"); }}", two.lines().next().unwrap_or_default()),
        );
        // Declarations that stay only because others mention them.
        let freed =
            "extern void *m(int n) __attribute__((__dealloc__(f)));\nextern void f(void *p);\nextern void g(void *p);";
        check(
            freed,
            "int x = m;",
            "extern void *m(int n) __attribute__((__dealloc__(f))); extern void f(void *p); int x = m;",
        );
        check("extern int asm_named(int) __asm__ (\"\" \"__other\");", "int x;", "int x;");
    }

    #[test]
    fn whatever_has_another_form_stays() {
        for header in [
            "typedef int t;",
            "extern int variable;",
            "extern int (*pointer)(int);",
            "extern void (*signal_like(int n))(int);",
            "extern __typeof (one) two;",
            "extern int a(void), b(void);",
            "extern int a(void) { return 1; }",
            "extern __attribute__((x)) int a(void);",
            "static int a(void);",
            "int a(void);",
            "struct s { int a; } extern_like(int n);",
        ] {
            assert_eq!(left(header, "int x;"), format!("{header} int x;"));
        }
    }

    #[test]
    fn functions_that_the_user_declares_stay() {
        let text = "# 0 \"a.c\"\nextern int puts(const char *s);\n# 1 \"h.h\" 1\nextern int gets(char *s);\n";
        assert_eq!(for_clang(text), text.replace("# ", "//"));
    }
}
