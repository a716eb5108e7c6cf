//! What somebody says of functions that nobody defines: a text of cases.
//!
//! ```text
//! # a line for what may be called with which names, and below it what may happen
//! read(fd, buf, count)
//!     when fd < 0      returns -1   writes errno = EBADF
//!     when fd >= 0     returns -1   writes errno = EIO
//!                      returns 0 .. count   writes buf[0 .. result]
//! ```
//!
//! Expressions are those of the program's language, and only its compiler reads them.

use std::path::{Path, PathBuf};

/// Files that say what functions do.
#[derive(Clone, Default, Debug)]
pub(crate) struct World {
    /// In the order of the files.
    pub said: Vec<Said>,
}

/// What is said of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    /// The file.
    pub file: PathBuf,
    /// Where its name stands.
    pub line: u32,
    /// Its name, with its class where it has one.
    pub function: String,
    /// What its parameters are called here.
    pub params: Vec<String>,
    /// What may happen.
    pub cases: Vec<Case>,
}

/// What may happen at a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Case {
    /// Where it begins.
    pub line: u32,
    /// When it may happen.
    pub when: When,
    /// What is returned; anything if nothing is said.
    pub returns: Option<Values>,
    /// What is left.
    pub writes: Vec<Write>,
    /// The class of what is thrown.
    pub throws: Option<Piece>,
    /// The call ends the program.
    pub fails: bool,
}

/// When a case may happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Always,
    Holds(Piece),
    /// No other case does.
    Otherwise,
}

/// Something that is left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Write {
    /// A place holds a value afterwards.
    Value(Piece, Values),
    /// So many elements behind a parameter hold anything.
    Anything(Piece, Piece),
}

/// What a value may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Values {
    Any,
    One(Piece),
    /// From one to the other, both included.
    Range(Piece, Piece),
}

/// A piece of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub text: String,
    pub line: u32,
    pub column: u32,
}

/// What is wrong with such a file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum WorldError {
    #[error("can't read {}", file.display())]
    NotReadable { file: PathBuf, source: std::io::Error },
    /// With file, line and column, and what to do.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Parameters(#[from] touchstone_emit::EmitError),
}

const CLAUSES: [&str; 6] = ["when", "otherwise", "returns", "writes", "throws", "fails"];

impl World {
    /// Reads what files say.
    pub fn read(files: &[PathBuf]) -> Result<World, WorldError> {
        let mut world = World::default();
        for file in files {
            let text = std::fs::read_to_string(file)
                .map_err(|source| WorldError::NotReadable { file: file.clone(), source })?;
            for said in parse(file, &text)? {
                if let Some(earlier) = world.said.iter().find(|known| known.function == said.function) {
                    let place = format!("{}:{}", earlier.file.display(), earlier.line);
                    return Err(said.wrong(
                        &Piece { text: String::new(), line: said.line, column: 1 },
                        format!("`{}` was described before, at {place}", said.function),
                        "put all its cases below one line",
                    ));
                }
                world.said.push(said);
            }
        }
        Ok(world)
    }
}

impl Said {
    /// Something is wrong at a place of what is said.
    pub fn wrong(&self, at: &Piece, what: impl Into<String>, help: impl Into<String>) -> WorldError {
        wrong(&self.file, at.line, at.column, what, help)
    }

    /// The place of a case.
    pub fn place_of(&self, case: &Case) -> Piece {
        Piece { text: String::new(), line: case.line, column: 1 }
    }
}

fn wrong(file: &Path, line: u32, column: u32, what: impl Into<String>, help: impl Into<String>) -> WorldError {
    WorldError::Wrong(format!("{}:{line}:{column}: {}\n  help: {}", file.display(), what.into(), help.into()))
}

/// Reads a text.
pub(crate) fn parse(file: &Path, text: &str) -> Result<Vec<Said>, WorldError> {
    let mut all: Vec<Said> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index as u32 + 1;
        let line = without_comment(line);
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            all.push(header(file, number, line)?);
            continue;
        }
        let Some(said) = all.last_mut() else {
            let help = "begin with the function at the start of a line: read(fd, buf, count)";
            return Err(wrong(file, number, 1, "a case of no function", help));
        };
        for (clause, piece) in clauses(file, number, line)? {
            add(file, said, clause, piece)?;
        }
    }
    for said in &all {
        if said.cases.is_empty() {
            let what = format!("nothing is said of `{}`", said.function);
            return Err(wrong(file, said.line, 1, what, "add cases below it, indented: when x < 0 returns -1"));
        }
    }
    Ok(all)
}

fn without_comment(line: &str) -> &str {
    let mut quoted = None;
    for (at, c) in line.char_indices() {
        match (quoted, c) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quoted = Some(c),
            (Some(quote), c) if c == quote => quoted = None,
            _ => {}
        }
    }
    line
}

/// `read(fd, buf, count)`
fn header(file: &Path, number: u32, line: &str) -> Result<Said, WorldError> {
    let help = "write it as it is called, without types: read(fd, buf, count)";
    let line = line.trim_end().trim_end_matches(':').trim_end();
    let parts = line.split_once('(').and_then(|(name, rest)| Some((name.trim(), rest.strip_suffix(')')?)));
    let Some((name, params)) = parts else {
        return Err(wrong(file, number, 1, format!("`{line}` is no function with its parameters"), help));
    };
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    if !name.split('.').all(is_word) {
        return Err(wrong(file, number, 1, format!("`{name}` is no name"), help));
    }
    let params: Vec<String> = match params.trim() {
        "" => Vec::new(),
        params => params.split(',').map(|param| param.trim().to_string()).collect(),
    };
    if let Some(bad) = params.iter().find(|param| !is_word(param)) {
        return Err(wrong(file, number, 1, format!("`{bad}` is no name of a parameter"), help));
    }
    Ok(Said { file: file.to_path_buf(), line: number, function: name.to_string(), params, cases: Vec::new() })
}

/// The clauses of a line: a word of ours, and what follows.
fn clauses<'l>(file: &Path, number: u32, line: &'l str) -> Result<Vec<(&'static str, Piece)>, WorldError> {
    let mut starts: Vec<(usize, &'static str)> = Vec::new();
    let (mut depth, mut quoted, mut word) = (0i32, None, None);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let end_of = |word: &mut Option<usize>, at: usize, depth: i32, starts: &mut Vec<(usize, &'static str)>| {
        let Some(start) = word.take() else { return };
        let text: &'l str = &line[start..at];
        if let Some(known) = CLAUSES.iter().find(|clause| **clause == text && depth == 0) {
            starts.push((start, known));
        }
    };
    for (at, c) in line.char_indices() {
        match quoted {
            Some(quote) if c == quote => quoted = None,
            Some(_) => {}
            None if is_part(c) => word = word.or(Some(at)),
            None => {
                end_of(&mut word, at, depth, &mut starts);
                match c {
                    '"' | '\'' => quoted = Some(c),
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth -= 1,
                    _ => {}
                }
            }
        }
    }
    end_of(&mut word, line.len(), depth, &mut starts);
    let column = |at: usize| line[..at].chars().count() as u32 + 1;
    let first = line.len() - line.trim_start().len();
    if starts.first().is_none_or(|(at, _)| *at != first) {
        let help =
            "a case is made of: when CONDITION, otherwise, returns VALUE, writes PLACE = VALUE, throws CLASS, fails";
        return Err(wrong(file, number, column(first), format!("`{}` says nothing", line.trim()), help));
    }
    let mut all = Vec::new();
    for (index, (at, clause)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(line.len(), |(next, _)| *next);
        let rest = &line[at + clause.len()..end];
        let text = rest.trim().trim_end_matches([',', ';', ':']).trim();
        let from = at + clause.len() + (rest.len() - rest.trim_start().len());
        all.push((*clause, Piece { text: text.to_string(), line: number, column: column(from) }));
    }
    Ok(all)
}

fn add(file: &Path, said: &mut Said, clause: &str, piece: Piece) -> Result<(), WorldError> {
    let bad = |what: String, help: &str| Err(wrong(file, piece.line, piece.column, what, help));
    let wants_more = matches!(clause, "when" | "returns" | "writes" | "throws");
    if wants_more && piece.text.is_empty() {
        return bad(format!("`{clause}` and nothing behind it"), "when x < 0 returns -1 writes *p = 0");
    }
    if !wants_more && !piece.text.is_empty() {
        return bad(
            format!("`{}` behind `{clause}`, which stands alone", piece.text),
            "write `returns` before a value",
        );
    }
    let ends = |case: &Case| case.returns.is_some() || case.throws.is_some() || case.fails;
    let when = match (clause, said.cases.last()) {
        ("when", _) => Some(When::Holds(piece.clone())),
        ("otherwise", _) => Some(When::Otherwise),
        (_, None) => Some(When::Always),
        // Another end is another case of the same calls.
        ("returns" | "throws" | "fails", Some(last)) if ends(last) => Some(last.when.clone()),
        _ => None,
    };
    if let Some(when) = when {
        let line = piece.line;
        said.cases.push(Case { line, when, returns: None, writes: Vec::new(), throws: None, fails: false });
    }
    let Some(case) = said.cases.last_mut() else { return Ok(()) };
    match clause {
        "returns" => case.returns = Some(values(piece)),
        "throws" => case.throws = Some(piece),
        "fails" => case.fails = true,
        "writes" => case.writes.push(write(file, piece)?),
        _ => {}
    }
    Ok(())
}

/// `-1`, `0 .. count`, `any`
fn values(piece: Piece) -> Values {
    if piece.text == "any" {
        return Values::Any;
    }
    match split(&piece, "..") {
        Some((low, high)) => Values::Range(low, high),
        None => Values::One(piece),
    }
}

/// `*p = 3`, `p->x = 0 .. 9`, `buf[0 .. n]`
fn write(file: &Path, piece: Piece) -> Result<Write, WorldError> {
    let bad = |what: &str, help: &str| Err(wrong(file, piece.line, piece.column, what, help));
    if let Some((place, value)) = split(&piece, "=") {
        return Ok(Write::Value(place, values(value)));
    }
    let parts = piece.text.split_once('[').and_then(|(root, rest)| Some((root.trim(), rest.strip_suffix(']')?)));
    let Some((root, inner)) = parts else {
        return bad("a place without a value", "writes *p = 3, writes *p = any, or writes buf[0 .. n] for anything");
    };
    let column = piece.column + piece.text.find('[').unwrap_or(0) as u32 + 1;
    let inner = Piece { text: inner.to_string(), line: piece.line, column };
    match split(&inner, "..") {
        Some((low, high)) if low.text == "0" => {
            Ok(Write::Anything(Piece { text: root.to_string(), ..piece.clone() }, high))
        }
        Some(_) => bad("elements that don't begin at 0", "writes buf[0 .. n]"),
        None => bad("a place without a value", "writes buf[2] = 3, or writes buf[0 .. n] for anything"),
    }
}

/// The two sides of the first such sign that stands in no brackets; `==` and the like are other signs.
fn split(piece: &Piece, sign: &str) -> Option<(Piece, Piece)> {
    let text = piece.text.as_str();
    let (mut depth, mut quoted) = (0i32, None);
    for (at, c) in text.char_indices() {
        match quoted {
            Some(quote) if c == quote => quoted = None,
            Some(_) => continue,
            None if c == '"' || c == '\'' => quoted = Some(c),
            None if "([{".contains(c) => depth += 1,
            None if ")]}".contains(c) => depth -= 1,
            None => {}
        }
        let here = depth == 0 && quoted.is_none() && text[at..].starts_with(sign);
        let before = text[..at].chars().next_back();
        let after = text[at + c.len_utf8()..].chars().next();
        let other = sign == "=" && (after == Some('=') || before.is_some_and(|c| "=!<>".contains(c)));
        if here && !other {
            let behind = &text[at + sign.len()..];
            let skipped = at + sign.len() + (behind.len() - behind.trim_start().len());
            let column = piece.column + text[..skipped].chars().count() as u32;
            let low = Piece { text: text[..at].trim().to_string(), ..piece.clone() };
            return Some((low, Piece { text: behind.trim().to_string(), line: piece.line, column }));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<Said> {
        parse(Path::new("w"), text).expect("right")
    }

    fn complains(text: &str) -> String {
        parse(Path::new("w"), text).expect_err("wrong").to_string()
    }

    #[test]
    fn cases_have_their_clauses() {
        let all = said(
            "# device\nread(fd, buf, n)\n  when fd < 0 returns -1 writes errno = 9\n  when fd >= 0 # fine\n     returns 0 .. n\n     writes buf[0 .. result]\nreset()\n  fails\n",
        );
        assert_eq!(all.len(), 2);
        let [first, second] = all[0].cases.as_slice() else { panic!("{:?}", all[0].cases) };
        assert!(
            matches!(&first.when, When::Holds(piece) if piece.text == "fd < 0" && (piece.line, piece.column) == (3, 8))
        );
        assert!(matches!(&first.returns, Some(Values::One(piece)) if piece.text == "-1"));
        assert!(
            matches!(&first.writes[..], [Write::Value(place, Values::One(value))] if place.text == "errno" && value.text == "9")
        );
        assert!(matches!(&second.returns, Some(Values::Range(low, high)) if low.text == "0" && high.text == "n"));
        assert!(
            matches!(&second.writes[..], [Write::Anything(root, count)] if root.text == "buf" && count.text == "result")
        );
        let again = said("f(x)\n  when x > 0 returns 1 writes y = 2\n    returns 3\n");
        let [first, second] = again[0].cases.as_slice() else { panic!("{again:?}") };
        assert_eq!((first.when == second.when, first.writes.len(), second.writes.len()), (true, 1, 0));
        assert!(all[1].cases[0].fails && all[1].cases[0].when == When::Always);
    }

    #[test]
    fn words_in_brackets_and_names_are_no_clauses() {
        let all = said("f(a)\n  when a == g(when) && returns_x <= 3 returns \"writes\"[0]\n");
        let [case] = all[0].cases.as_slice() else { panic!() };
        assert!(matches!(&case.when, When::Holds(piece) if piece.text == "a == g(when) && returns_x <= 3"));
        assert!(matches!(&case.returns, Some(Values::One(piece)) if piece.text == "\"writes\"[0]"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert!(complains("  when x returns 1\n").starts_with("w:1:1: a case of no function"));
        assert!(complains("int f(int x)\n  fails\n").starts_with("w:1:1: `int f` is no name"));
        assert!(complains("f(x)\n\n").starts_with("w:1:1: nothing is said of `f`"));
        assert!(complains("f(x)\n  x < 0 returns 1\n").starts_with("w:2:3: `x < 0 returns 1` says nothing"));
        assert!(complains("f(x)\n  when returns 1\n").starts_with("w:2:8: `when` and nothing behind it"));
        assert!(complains("f(p)\n  writes *p\n").contains("a place without a value"));
        assert!(complains("f(p)\n  writes p[1 .. 2]\n").contains("don't begin at 0"));
    }
}
