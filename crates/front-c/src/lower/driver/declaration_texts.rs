//! The declarations of a program as preprocessed text, for code that is not lowered: two versions of a function with an
//! unsupported construct, or with file-scope assembly behind it, are the same only if their texts are.
//!
//! Clang's JSON has no assembly, so the text is used. The search for the declarations that one depends on goes by name,
//! without scopes: it may find too many of them, never too few.

use crate::clang::compiler_version;
use crate::clang::flags::flags_for;
use crate::clang::options::Options;
use crate::clang::process::{self, ClangInput};
use crate::error::FrontError;
use crate::types::tokens::{TypeToken, tokenize};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::hash::Hash;
use std::path::Path;
use touchstone_base::WideHasher;

/// The file-scope declarations of a program, by the names that they declare.
#[derive(Debug, Default)]
pub struct DeclarationTexts {
    declarations: Vec<Declaration>,
    by_name: FxHashMap<String, Vec<usize>>,
}

/// One declaration or definition at file scope.
#[derive(Debug)]
struct Declaration {
    hash: u128,
    /// The names that occur in it.
    names: Vec<String>,
}

/// Macros whose values differ between directories and lines without a change of the program.
const POSITION_MACROS: [&str; 3] = ["-D__FILE__=\"\"", "-D__FILE_NAME__=\"\"", "-D__LINE__=0"];

/// Words that many declarations contain and that declare nothing. A word that is missing here makes fingerprints
/// depend on more declarations.
const KEYWORDS: [&str; 41] = [
    "static",
    "extern",
    "const",
    "volatile",
    "inline",
    "register",
    "typedef",
    "struct",
    "union",
    "enum",
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "_Bool",
    "restrict",
    "return",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "goto",
    "sizeof",
    "__attribute__",
    "__extension__",
    "__inline",
    "__inline__",
    "__restrict",
    "__asm__",
    "asm",
];

impl DeclarationTexts {
    /// Preprocesses a file and adds its declarations.
    pub fn read(&mut self, file: &Path, options: &Options) -> Result<(), FrontError> {
        let clang = process::find(options)?;
        let mut flags = flags_for(file, options)?;
        flags.splice(0..0, options.compiler.as_deref().and_then(compiler_version::gnu_version));
        flags.extend(POSITION_MACROS.map(str::to_string));
        let text = process::capture(&clang, "-E", &flags, ClangInput::File(file))?
            .map_err(|stderr| FrontError::DoesNotCompile { file: file.to_path_buf(), stderr })?;
        self.add(&text);
        Ok(())
    }

    /// Adds the declarations of a preprocessed text.
    fn add(&mut self, text: &str) {
        let code: String = text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
        let mut tokens: Vec<TypeToken> = Vec::new();
        let (mut depth, mut in_body) = (0i32, false);
        let mut rest = tokenize(&code).into_iter().peekable();
        while let Some(token) = rest.next() {
            if depth == 0 && token.is("{") {
                in_body = is_function_header(&tokens);
            }
            depth += i32::from(opens(&token)) - i32::from(closes(&token));
            // The declarations of old-style parameters precede the body.
            let ends_declaration = token.is(";") && !rest.peek().is_some_and(|next| next.is("{"));
            let ends = depth == 0 && (ends_declaration || token.is("}") && in_body);
            tokens.push(token);
            if ends {
                self.declare(&std::mem::take(&mut tokens), in_body);
                in_body = false;
            }
        }
        self.declare(&tokens, false);
    }

    fn declare(&mut self, tokens: &[TypeToken], is_function: bool) {
        if tokens.is_empty() {
            return;
        }
        let mut hasher = WideHasher::default();
        let is_assembly = is_assembly(tokens);
        let is_enumeration = !is_function && tokens.iter().any(|token| token.is_word("enum"));
        let (mut names, mut declared) = (BTreeSet::new(), BTreeSet::new());
        let (mut depth, mut in_braces) = (0i32, false);
        for (at, token) in tokens.iter().enumerate() {
            in_braces |= token.is("{");
            depth += i32::from(opens(token)) - i32::from(closes(token));
            match token {
                TypeToken::Word(word) => {
                    word.hash(&mut hasher);
                    if KEYWORDS.contains(&word.as_str()) {
                        continue;
                    }
                    names.insert(word.clone());
                    let is_declared = match depth {
                        0 => is_declarator(tokens.get(at + 1)),
                        _ if in_braces => is_enumeration,
                        // `int (*f)(void)`, `int (f)(void)`
                        _ => is_in_parentheses(tokens, at),
                    };
                    if is_declared {
                        declared.insert(word.clone());
                    }
                }
                TypeToken::Sign(sign) => {
                    sign.hash(&mut hasher);
                    // Instructions and attributes name symbols in strings. `\n` in front of a name is spelled with a
                    // backslash.
                    let words = sign.split(|c: char| !c.is_alphanumeric() && c != '_');
                    let unescaped = words.flat_map(|word| [word, word.trim_start_matches(['n', 't'])]);
                    let unescaped = unescaped.filter(|word| !word.is_empty()).map(str::to_string);
                    if is_assembly {
                        declared.extend(unescaped.clone());
                    }
                    names.extend(unescaped);
                }
                TypeToken::Number(number) => number.hash(&mut hasher),
                TypeToken::Suffixed(number, suffix) => (number, suffix).hash(&mut hasher),
            }
        }
        for name in declared {
            self.by_name.entry(name).or_default().push(self.declarations.len());
        }
        self.declarations.push(Declaration { hash: hasher.wide(), names: names.into_iter().collect() });
    }

    /// Returns the hash of all declarations of a function, by its name in the module, and of everything that they refer
    /// to.
    pub fn fingerprint(&self, function: &str) -> u128 {
        // The module distinguishes several definitions of `count` as `count@b.c` or `count$2`.
        let names = [function, function.split(['@', '$']).next().unwrap_or_default()];
        let mut hashes = BTreeSet::new();
        let mut seen: FxHashSet<&str> = names.into_iter().collect();
        let mut pending = names.to_vec();
        while let Some(name) = pending.pop() {
            for declaration in self.by_name.get(name).into_iter().flatten().map(|index| &self.declarations[*index]) {
                if hashes.insert(declaration.hash) {
                    pending.extend(declaration.names.iter().map(String::as_str).filter(|name| seen.insert(name)));
                }
            }
        }
        let mut hasher = WideHasher::default();
        hashes.hash(&mut hasher);
        hasher.wide()
    }
}

fn opens(token: &TypeToken) -> bool {
    token.is("{") || token.is("(") || token.is("[")
}

fn closes(token: &TypeToken) -> bool {
    token.is("}") || token.is(")") || token.is("]")
}

/// Returns true if a name in front of this token is declared, and not the type of what follows.
fn is_declarator(next: Option<&TypeToken>) -> bool {
    match next {
        None => true,
        Some(TypeToken::Word(word)) => word.contains("asm") || word.contains("attribute"),
        Some(next) => !next.is("*"),
    }
}

/// Returns true if a word in parentheses may be declared by `(*name)` or `(name)`.
fn is_in_parentheses(tokens: &[TypeToken], at: usize) -> bool {
    let is_qualifier =
        |token: &&TypeToken| ["const", "volatile", "restrict", "__restrict"].iter().any(|word| token.is_word(word));
    let before = tokens[..at].iter().rev().find(|token| !is_qualifier(token));
    let is_alone = || tokens.get(at + 1).is_some_and(|next| next.is(")"));
    before.is_some_and(|before| before.is("*") || before.is("(") && is_alone())
}

/// Returns true if a function body follows these tokens, and not the members of a type or an initialiser.
fn is_function_header(mut tokens: &[TypeToken]) -> bool {
    loop {
        let Some((last, before)) = tokens.split_last() else { return false };
        if last.is(";") {
            return true;
        }
        if !last.is(")") {
            return false;
        }
        let mut depth = 1;
        let open = before.iter().rposition(|token| {
            depth += i32::from(token.is(")")) - i32::from(token.is("("));
            depth == 0
        });
        match open.and_then(|open| before[..open].split_last()) {
            Some((word, rest)) if word.is_word("__attribute__") || word.is_word("__attribute") => tokens = rest,
            word => return word.is_some(),
        }
    }
}

/// Returns true if a declaration is file-scope assembly.
fn is_assembly(tokens: &[TypeToken]) -> bool {
    let mut words = tokens.iter().skip_while(|token| token.is_word("__extension__") || token.is(";"));
    words.next().is_some_and(|token| ["asm", "__asm__", "__asm"].iter().any(|word| token.is_word(word)))
}

#[cfg(test)]
mod tests {
    use super::DeclarationTexts;

    fn fingerprint(text: &str, name: &str) -> u128 {
        let mut texts = DeclarationTexts::default();
        texts.add(text);
        texts.fingerprint(name)
    }

    #[test]
    fn a_fingerprint_depends_on_what_a_name_refers_to_and_on_nothing_else() {
        let text = "struct s { int a; } x; struct s *p = &x; enum { A, B }; static int g(struct s *q) { return q->a + B + x.a; }\n\
                    int other(void) { return 1; } int foo(int); asm(\".globl foo\\nfoo: ret\");\n\
                    int f(void) { asm(\"nop\" : : \"r\"(g(0))); return foo(2); }";
        let same =
            |from: &str, to: &str, name: &str| fingerprint(text, name) == fingerprint(&text.replace(from, to), name);
        assert!(same("return 1", "return 2", "f"));
        assert!(same(" + B", "  +  B", "f"));
        for (from, to) in [("nop", "hlt"), ("int a", "long a"), ("{ A, B", "{ B, A"), ("q->a", "-q->a"), ("ret", "hlt")]
        {
            assert!(!same(from, to, "f"), "{from} to {to}");
        }
        assert!(!same(": ret", ": hlt", "foo"));
        assert!(!same("int a", "long a", "p"));
        let text = "static int v = 1; static int g(void) { return v; } int k(void) __attribute__((ifunc(\"res\"))); \
                    static void *res(void) { return 0; } asm(\".globl m\\nm: jmp g\"); int m(void); \
                    int f(void) { asm(\"call g\"); return 0; } int h(void) { return m() + k(); }";
        for (from, to, name) in
            [("v = 1", "v = 2", "f"), ("v = 1", "v = 2", "h"), ("return 0; } asm", "return 1; } asm", "h")]
        {
            assert_ne!(fingerprint(text, name), fingerprint(&text.replace(from, to), name), "{from}");
        }
        let old_style =
            "int f(a) int a; { return g(a); } int g(int b) { return b; } int h(a, b) int a; int b; { return 1; }";
        assert_ne!(fingerprint(old_style, "f"), fingerprint(&old_style.replace("return b", "return -b"), "f"));
        assert_ne!(fingerprint(old_style, "h"), fingerprint(&old_style.replace("return 1", "return 2"), "h"));
        assert!(same("nop", "hlt", "g"));
    }
}
