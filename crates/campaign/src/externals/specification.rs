//! Parses specifications of external functions: a list of cases per function.
//!
//! ```text
//! # the function with the names of its parameters, and below it the cases
//! read(fd, buf, count)
//!     when fd < 0      returns -1   writes errno = EBADF
//!     when fd >= 0     returns -1   writes errno = EIO
//!                      returns 0 .. count   writes buf[0 .. result]
//! ```
//!
//! Expressions are written in the language of the program, and only its compiler reads them.

use std::path::{Path, PathBuf};

/// The code by which a check reports a failure of a value in Java, where exceptions are caught.
pub(super) const FAILED_IN_JAVA: u64 = 2;
/// The code by which a check reports a constant of the first case that its type cannot hold; codes of the other cases
/// follow.
pub(super) const TOO_LARGE: u64 = 1000;

/// The specifications of all given files.
#[derive(Clone, Default, Debug)]
pub(crate) struct ExternalSpecs {
    /// In the order of the files.
    pub functions: Vec<FunctionSpec>,
}

/// The specification of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionSpec {
    /// The file.
    pub file: PathBuf,
    /// The line of the function's name.
    pub line: u32,
    /// The name of the function, with its class if it has one.
    pub function: String,
    /// The names of the parameters in this specification.
    pub params: Vec<String>,
    /// The cases.
    pub cases: Vec<ParsedCase>,
}

/// One case of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ParsedCase {
    /// The line on which it begins.
    pub line: u32,
    /// The condition under which it applies.
    pub when: SpecGuard,
    /// The possible results; any if absent.
    pub returns: Option<ValueSet>,
    /// The memory that it writes.
    pub writes: Vec<SpecWrite>,
    /// The class of the exception.
    pub throws: Option<Fragment>,
    /// True if the call ends the program.
    pub fails: bool,
}

/// The condition of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SpecGuard {
    Always,
    Holds(Fragment),
    /// No other case applies.
    Otherwise,
}

/// One write of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SpecWrite {
    /// A location has a value afterwards.
    Value(Fragment, ValueSet),
    /// The first elements of a parameter's pointee have any values; the second fragment is their number.
    Anything(Fragment, Fragment),
}

/// A set of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ValueSet {
    Any,
    One(Fragment),
    /// A range, both ends included.
    Range(Fragment, Fragment),
}

impl ValueSet {
    /// Returns the expressions of the set.
    pub fn fragments(&self) -> Vec<&Fragment> {
        match self {
            ValueSet::Any => Vec::new(),
            ValueSet::One(fragment) => vec![fragment],
            ValueSet::Range(low, high) => vec![low, high],
        }
    }
}

/// A fragment of the specification, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fragment {
    pub text: String,
    pub line: u32,
    pub column: u32,
}

/// Errors of a specification.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SpecificationError {
    #[error("can't read {}", file.display())]
    NotReadable { file: PathBuf, source: std::io::Error },
    /// A message with file, line, column and a remedy.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Parameters(#[from] touchstone_emit::EmitError),
}

const CLAUSES: [&str; 6] = ["when", "otherwise", "returns", "writes", "throws", "fails"];

impl ExternalSpecs {
    /// Reads and parses specification files.
    pub fn read(files: &[PathBuf]) -> Result<ExternalSpecs, SpecificationError> {
        let mut externals = ExternalSpecs::default();
        for file in files {
            let text = std::fs::read_to_string(file)
                .map_err(|source| SpecificationError::NotReadable { file: file.clone(), source })?;
            for spec in parse(file, &text)? {
                if let Some(earlier) = externals.functions.iter().find(|known| known.function == spec.function) {
                    let place = format!("{}:{}", earlier.file.display(), earlier.line);
                    return Err(spec.error_at(
                        &Fragment { text: String::new(), line: spec.line, column: 1 },
                        format!("`{}` was described before, at {place}", spec.function),
                        "put all its cases below one line",
                    ));
                }
                externals.functions.push(spec);
            }
        }
        Ok(externals)
    }
}

impl FunctionSpec {
    /// Returns an error at a fragment.
    pub fn error_at(&self, at: &Fragment, what: impl Into<String>, help: impl Into<String>) -> SpecificationError {
        error_at(&self.file, at.line, at.column, what, help)
    }

    /// Returns the position of a case.
    pub fn position_of(&self, case: &ParsedCase) -> Fragment {
        Fragment { text: String::new(), line: case.line, column: 1 }
    }
}

fn error_at(
    file: &Path,
    line: u32,
    column: u32,
    what: impl Into<String>,
    help: impl Into<String>,
) -> SpecificationError {
    SpecificationError::Wrong(format!("{}:{line}:{column}: {}\n  help: {}", file.display(), what.into(), help.into()))
}

/// Parses a specification.
pub(crate) fn parse(file: &Path, text: &str) -> Result<Vec<FunctionSpec>, SpecificationError> {
    let mut all: Vec<FunctionSpec> = Vec::new();
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
        let Some(spec) = all.last_mut() else {
            let help = "begin with the function at the start of a line: read(fd, buf, count)";
            return Err(error_at(file, number, 1, "a case of no function", help));
        };
        for (clause, fragment) in clauses(file, number, line)? {
            add(file, spec, clause, fragment)?;
        }
    }
    for spec in &all {
        if spec.cases.is_empty() {
            let what = format!("the description of `{}` is empty", spec.function);
            return Err(error_at(file, spec.line, 1, what, "add cases below it, indented: when x < 0 returns -1"));
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

/// Parses the line of a function: `read(fd, buf, count)`.
fn header(file: &Path, number: u32, line: &str) -> Result<FunctionSpec, SpecificationError> {
    let help = "write it as it is called, without types: read(fd, buf, count)";
    let line = line.trim_end().trim_end_matches(':').trim_end();
    let parts = line.split_once('(').and_then(|(name, rest)| Some((name.trim(), rest.strip_suffix(')')?)));
    let Some((name, params)) = parts else {
        return Err(error_at(file, number, 1, format!("`{line}` is no function with its parameters"), help));
    };
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    if !name.split('.').all(is_word) {
        return Err(error_at(file, number, 1, format!("`{name}` is no name"), help));
    }
    let params: Vec<String> = match params.trim() {
        "" => Vec::new(),
        params => params.split(',').map(|param| param.trim().to_string()).collect(),
    };
    if let Some(bad) = params.iter().find(|param| !is_word(param)) {
        return Err(error_at(file, number, 1, format!("`{bad}` is no name of a parameter"), help));
    }
    Ok(FunctionSpec { file: file.to_path_buf(), line: number, function: name.to_string(), params, cases: Vec::new() })
}

/// Splits a line into clauses: a keyword, and what follows it.
fn clauses<'l>(file: &Path, number: u32, line: &'l str) -> Result<Vec<(&'static str, Fragment)>, SpecificationError> {
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
            "a case consists of: when CONDITION, otherwise, returns VALUE, writes PLACE = VALUE, throws CLASS, fails";
        return Err(error_at(file, number, column(first), format!("`{}` says nothing", line.trim()), help));
    }
    let mut all = Vec::new();
    for (index, (at, clause)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(line.len(), |(next, _)| *next);
        let rest = &line[at + clause.len()..end];
        let text = rest.trim().trim_end_matches([',', ';', ':']).trim();
        let from = at + clause.len() + (rest.len() - rest.trim_start().len());
        all.push((*clause, Fragment { text: text.to_string(), line: number, column: column(from) }));
    }
    Ok(all)
}

fn add(file: &Path, spec: &mut FunctionSpec, clause: &str, fragment: Fragment) -> Result<(), SpecificationError> {
    let bad = |what: String, help: &str| Err(error_at(file, fragment.line, fragment.column, what, help));
    let wants_more = matches!(clause, "when" | "returns" | "writes" | "throws");
    if wants_more && fragment.text.is_empty() {
        return bad(format!("`{clause}` without an expression after it"), "when x < 0 returns -1 writes *p = 0");
    }
    if !wants_more && !fragment.text.is_empty() {
        return bad(
            format!("`{}` after `{clause}`, which takes nothing", fragment.text),
            "write `returns` before a value",
        );
    }
    if matches!(clause, "when" | "returns")
        && let Some(at) = assignment(&fragment.text)
    {
        return assigned(file, &fragment, at);
    }
    let ends = |case: &ParsedCase| case.returns.is_some() || case.throws.is_some() || case.fails;
    let when = match (clause, spec.cases.last()) {
        ("when", _) => Some(SpecGuard::Holds(fragment.clone())),
        ("otherwise", _) => Some(SpecGuard::Otherwise),
        (_, None) => Some(SpecGuard::Always),
        // Another ending starts another case with the same condition.
        ("returns" | "throws" | "fails", Some(last)) if ends(last) => Some(last.when.clone()),
        _ => None,
    };
    if let Some(when) = when {
        let line = fragment.line;
        spec.cases.push(ParsedCase { line, when, returns: None, writes: Vec::new(), throws: None, fails: false });
    }
    let Some(case) = spec.cases.last_mut() else { return Ok(()) };
    match clause {
        "returns" => case.returns = Some(values(fragment)),
        "throws" => case.throws = Some(fragment),
        "fails" => case.fails = true,
        "writes" => case.writes.push(write(file, fragment)?),
        _ => {}
    }
    Ok(())
}

/// Returns the position of the first assignment in an expression, in brackets or not.
fn assignment(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (None, false);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        escaped = quoted.is_some() && c == '\\';
        match quoted {
            Some(quote) => quoted = quoted.filter(|_| c != quote),
            None if c == '"' || c == '\'' => quoted = Some(c),
            None => {}
        }
        let compares =
            |before: &str| before.ends_with(['=', '!', '<', '>']) && !before.ends_with("<<") && !before.ends_with(">>");
        if quoted.is_none() && c == '=' && !text[at + 1..].starts_with('=') && !compares(&text[..at]) {
            return Some(at);
        }
    }
    None
}

fn assigned<T>(file: &Path, fragment: &Fragment, at: usize) -> Result<T, SpecificationError> {
    let column = fragment.column + fragment.text[..at].chars().count() as u32;
    let what = format!("`{}` assigns: a description has no side effects but `writes`", fragment.text);
    Err(error_at(file, fragment.line, column, what, "`==` compares: when mode == 5"))
}

/// Parses a set of values: `-1`, `0 .. count`, `any`.
fn values(fragment: Fragment) -> ValueSet {
    if fragment.text == "any" {
        return ValueSet::Any;
    }
    match split(&fragment, "..") {
        Some((low, high)) => ValueSet::Range(low, high),
        None => ValueSet::One(fragment),
    }
}

/// Parses a write: `*p = 3`, `p->x = 0 .. 9`, `buf[0 .. n]`.
fn write(file: &Path, fragment: Fragment) -> Result<SpecWrite, SpecificationError> {
    let bad = |what: &str, help: &str| Err(error_at(file, fragment.line, fragment.column, what, help));
    if let Some((place, value)) = split(&fragment, "=") {
        if let Some(at) = assignment(&value.text) {
            return assigned(file, &value, at);
        }
        return Ok(SpecWrite::Value(place, values(value)));
    }
    let parts = fragment.text.split_once('[').and_then(|(root, rest)| Some((root.trim(), rest.strip_suffix(']')?)));
    let Some((root, inner)) = parts else {
        return bad("a place without a value", "writes *p = 3, writes *p = any, or writes buf[0 .. n] for anything");
    };
    let column = fragment.column + fragment.text.find('[').unwrap_or(0) as u32 + 1;
    let inner = Fragment { text: inner.to_string(), line: fragment.line, column };
    match split(&inner, "..") {
        Some((low, high)) if low.text == "0" => {
            Ok(SpecWrite::Anything(Fragment { text: root.to_string(), ..fragment.clone() }, high))
        }
        Some(_) => bad("elements that don't begin at 0", "writes buf[0 .. n]"),
        None => bad("a place without a value", "writes buf[2] = 3, or writes buf[0 .. n] for anything"),
    }
}

/// Splits at the first occurrence of an operator outside of brackets and quotes; `==` and the like are other operators.
fn split(fragment: &Fragment, sign: &str) -> Option<(Fragment, Fragment)> {
    let text = fragment.text.as_str();
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
            let column = fragment.column + text[..skipped].chars().count() as u32;
            let low = Fragment { text: text[..at].trim().to_string(), ..fragment.clone() };
            return Some((low, Fragment { text: behind.trim().to_string(), line: fragment.line, column }));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Vec<FunctionSpec> {
        parse(Path::new("w"), text).expect("right")
    }

    fn complains(text: &str) -> String {
        parse(Path::new("w"), text).expect_err("wrong").to_string()
    }

    #[test]
    fn cases_have_their_clauses() {
        let all = spec(
            "# device\nread(fd, buf, n)\n  when fd < 0 returns -1 writes errno = 9\n  when fd >= 0 # fine\n     returns 0 .. n\n     writes buf[0 .. result]\nreset()\n  fails\n",
        );
        assert_eq!(all.len(), 2);
        let [first, second] = all[0].cases.as_slice() else { panic!("{:?}", all[0].cases) };
        assert!(
            matches!(&first.when, SpecGuard::Holds(fragment) if fragment.text == "fd < 0" && (fragment.line, fragment.column) == (3, 8))
        );
        assert!(matches!(&first.returns, Some(ValueSet::One(fragment)) if fragment.text == "-1"));
        assert!(
            matches!(&first.writes[..], [SpecWrite::Value(place, ValueSet::One(value))] if place.text == "errno" && value.text == "9")
        );
        assert!(matches!(&second.returns, Some(ValueSet::Range(low, high)) if low.text == "0" && high.text == "n"));
        assert!(
            matches!(&second.writes[..], [SpecWrite::Anything(root, count)] if root.text == "buf" && count.text == "result")
        );
        let again = spec("f(x)\n  when x > 0 returns 1 writes y = 2\n    returns 3\n");
        let [first, second] = again[0].cases.as_slice() else { panic!("{again:?}") };
        assert_eq!((first.when == second.when, first.writes.len(), second.writes.len()), (true, 1, 0));
        assert!(all[1].cases[0].fails && all[1].cases[0].when == SpecGuard::Always);
    }

    #[test]
    fn words_in_brackets_and_names_are_no_clauses() {
        let all = spec("f(a)\n  when a == g(when) && returns_x <= 3 returns \"writes\"[0]\n");
        let [case] = all[0].cases.as_slice() else { panic!() };
        assert!(matches!(&case.when, SpecGuard::Holds(fragment) if fragment.text == "a == g(when) && returns_x <= 3"));
        assert!(matches!(&case.returns, Some(ValueSet::One(fragment)) if fragment.text == "\"writes\"[0]"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert!(complains("  when x returns 1\n").starts_with("w:1:1: a case of no function"));
        assert!(complains("int f(int x)\n  fails\n").starts_with("w:1:1: `int f` is no name"));
        assert!(complains("f(x)\n\n").starts_with("w:1:1: the description of `f` is empty"));
        assert!(complains("f(x)\n  x < 0 returns 1\n").starts_with("w:2:3: `x < 0 returns 1` says nothing"));
        assert!(complains("f(x)\n  when returns 1\n").starts_with("w:2:8: `when` without an expression after it"));
        assert!(complains("f(p)\n  writes *p\n").contains("a place without a value"));
        assert!(complains("f(a)\n  when a = 5 returns 1\n").starts_with("w:2:10: `a = 5` assigns"));
        assert!(complains("f(a)\n  when (a <<= 5) returns 1\n").contains("`==` compares"));
        assert!(complains("f(a, b)\n  returns a += 1\n").contains("assigns"));
        assert!(complains("f(a, b)\n  writes *a = b = 1\n").contains("assigns"));
        assert_eq!(spec("f(a)\n  when a <= 5 && a >= 1 || a == '=' || a != 2 returns \"=\"[0]\n").len(), 1);
        assert!(complains("f(p)\n  writes p[1 .. 2]\n").contains("don't begin at 0"));
    }
}
