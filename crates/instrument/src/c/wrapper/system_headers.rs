//! The system headers that a unit uses, reduced to what it needs.
//!
//! Most of what clang reads and prints for a small source are system headers. The compiler's preprocessor has already
//! read them, and reports their macros. So each inclusion of such a header is replaced by its preprocessed text without
//! unused declarations, which clang finds instead of the header. This is done only if everything has a simple form;
//! otherwise clang reads the original headers.

use std::collections::BTreeMap;
use std::path::Path;

/// The directory of the headers, relative to that of their unit. clang treats a directory of this name as a system
/// directory.
pub(crate) const FOLDER: &str = "lib/clang/include";

/// Returns true if the preprocessor can be told to emit macros; not if the command itself requests or changes such
/// output.
pub(crate) fn can_emit_macros(words: &[String]) -> bool {
    let shows = ["-g3", "-ggdb3", "-d", "-C", "-P", "-traditional", "-fdirectives", "-fpch"];
    !words.iter().any(|word| shows.iter().any(|flag| word.starts_with(flag)))
}

/// Returns the text without macro definitions.
pub(crate) fn without_macros(with_macros: &str) -> String {
    let mut text = String::with_capacity(with_macros.len());
    for line in lines(with_macros) {
        match line {
            PreprocessorLine::Nothing => {}
            PreprocessorLine::Macro(_) => text.push('\n'),
            PreprocessorLine::Text(line) => text.push_str(line),
        }
    }
    text
}

/// A line of the preprocessor's output.
enum PreprocessorLine<'a> {
    /// A macro of the compiler or of the command line, which is not in the text.
    Nothing,
    Macro(&'a str),
    Text(&'a str),
}

fn lines(with_macros: &str) -> impl Iterator<Item = PreprocessorLine<'_>> {
    // `<built-in>` or `<command-line>`, which are no files.
    let mut nowhere = None;
    with_macros.split_inclusive('\n').map(move |line| {
        if line.starts_with("# ") {
            let now = line.split('"').nth(1).filter(|name| name.starts_with('<'));
            let repeated = std::mem::replace(&mut nowhere, now) == now && now.is_some();
            return if repeated { PreprocessorLine::Nothing } else { PreprocessorLine::Text(line) };
        }
        match line.starts_with("#define ") || line.starts_with("#undef ") {
            true if nowhere.is_some() => PreprocessorLine::Nothing,
            true => PreprocessorLine::Macro(line),
            false => PreprocessorLine::Text(line),
        }
    })
}

/// The headers, by the name in the include directive: the text of each inclusion, in order.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct UsedSystemHeaders(BTreeMap<String, Vec<String>>);

/// A line marker: `# LINE "FILE" FLAGS`.
struct LineMarker<'a> {
    line: usize,
    file: &'a str,
    enters: bool,
    returns: bool,
    is_system: bool,
}

impl<'a> LineMarker<'a> {
    fn of(text: &'a str) -> Option<LineMarker<'a>> {
        let (line, rest) = text.strip_prefix("# ")?.split_once(" \"")?;
        let (file, flags) = rest.rsplit_once('"')?;
        let has = |flag: &str| flags.split_ascii_whitespace().any(|word| word == flag);
        // Names with escapes are not supported.
        (!file.contains('\\')).then_some(LineMarker {
            line: line.parse().ok()?,
            file,
            enters: has("1"),
            returns: has("2"),
            is_system: has("3"),
        })
    }
}

/// The inclusion of a system header that is being read.
struct Inclusion {
    depth: usize,
    /// True if the compiler includes it implicitly, which clang does not.
    unasked: bool,
    content: String,
}

impl UsedSystemHeaders {
    /// Extracts the headers from the preprocessor's output and the same text in clang's form; `source` reads a file.
    pub fn new(
        with_macros: &str,
        for_clang: &str,
        source: impl Fn(&str) -> Option<String>,
    ) -> Option<UsedSystemHeaders> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut sources: BTreeMap<&str, String> = BTreeMap::new();
        let mut readable = for_clang.split_inclusive('\n');
        let mut current = "";
        let mut inclusion: Option<Inclusion> = None;
        for line in lines(with_macros) {
            let (text, shown) = match line {
                PreprocessorLine::Nothing => continue,
                PreprocessorLine::Macro(text) => (text, readable.next().map(|_| text)?),
                PreprocessorLine::Text(text) => (text, readable.next()?),
            };
            if !text.starts_with("# ") {
                if let Some(inclusion) = inclusion.as_mut().filter(|_| !shown.trim_start().is_empty()) {
                    inclusion.content += shown;
                }
                continue;
            }
            let marker = LineMarker::of(text.trim_end())?;
            match &mut inclusion {
                None if marker.enters && marker.is_system => {
                    marker.file.starts_with("/usr/").then_some(())?;
                    inclusion = Some(Inclusion { depth: 1, unasked: current.starts_with('<'), content: String::new() });
                }
                None => {}
                Some(inside) if marker.enters => {
                    (marker.is_system && marker.file.starts_with("/usr/")).then_some(())?;
                    inside.depth += 1;
                }
                Some(inside) if marker.returns => {
                    inside.depth -= 1;
                    if inside.depth == 0 {
                        let Inclusion { unasked, content, .. } = inclusion.take()?;
                        if !unasked {
                            let text = match sources.entry(marker.file) {
                                std::collections::btree_map::Entry::Occupied(text) => text.into_mut(),
                                std::collections::btree_map::Entry::Vacant(place) => place.insert(source(marker.file)?),
                            };
                            let name = included(text.lines().nth(marker.line.checked_sub(2)?)?)?;
                            found.entry(name.to_string()).or_default().push(content);
                        }
                    }
                }
                Some(_) => {}
            }
            current = marker.file;
        }
        (inclusion.is_none() && readable.next().is_none()).then_some(UsedSystemHeaders(found))
    }

    /// Writes each header to a file of its name.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for (index, (name, inclusions)) in self.0.iter().enumerate() {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, in_turn(index, inclusions))?;
        }
        Ok(())
    }
}

/// Returns a header that expands to the next text at each inclusion.
fn in_turn(header: usize, inclusions: &[String]) -> String {
    let mut text = String::new();
    for (turn, content) in inclusions.iter().enumerate() {
        let word = if turn == 0 { "if" } else { "elif" };
        text += &format!(
            "#{word} !defined __touchstone_{header}_{turn}\n#define __touchstone_{header}_{turn}\n{content}\n"
        );
    }
    text + "#endif\n"
}

/// Returns the name in an include directive, if the path stays inside of a directory.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let rest = rest.strip_prefix("_next").unwrap_or(rest).trim_start();
    let name = match rest.as_bytes().first()? {
        b'<' => rest[1..].split_once('>')?.0,
        b'"' => rest[1..].split_once('"')?.0,
        _ => return None,
    };
    let plain = !name.starts_with('/') && name.split('/').all(|part| !part.is_empty() && part != "..");
    plain.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "# 0 \"a.c\"\n# 0 \"<built-in>\"\n#define __STDC__ 1\n# 0 \"<built-in>\"\n#define __X 1\n\
        # 0 \"<command-line>\"\n# 1 \"/usr/include/stdc-predef.h\" 1 3 4\n#define __Y 2\n# 0 \"<command-line>\" 2\n\
        # 1 \"a.c\"\n# 1 \"/usr/include/s.h\" 1 3 4\n#define EOF (-1)\n# 1 \"/usr/include/t.h\" 1 3 4\nint t;\n\
        # 3 \"/usr/include/s.h\" 2 3 4\nint s;\n# 2 \"a.c\" 2\n#define N 3\nint a = 3;\n";

    fn headers(with_macros: &str, source: &str) -> Option<UsedSystemHeaders> {
        UsedSystemHeaders::new(with_macros, &without_macros(with_macros), |_| Some(source.to_string()))
    }

    #[test]
    fn an_inclusion_gives_what_all_its_headers_gave() {
        let found = headers(TOLD, "#include <s.h>\n").expect("plain text");
        let content = "#define EOF (-1)\nint t;\nint s;\n".to_string();
        assert_eq!(found, UsedSystemHeaders(BTreeMap::from([("s.h".to_string(), vec![content])])));
    }

    #[test]
    fn text_without_macros_keeps_its_lines() {
        let text = without_macros(TOLD);
        assert!(text.ends_with("# 2 \"a.c\" 2\n\nint a = 3;\n"), "{text}");
        assert!(!text.contains("#define"), "{text}");
        assert_eq!(text.matches("<built-in>").count(), 1);
    }

    #[test]
    fn what_is_not_plain_is_left_to_clang() {
        assert_eq!(headers(TOLD, "#include HEADER\n"), None, "a name that is computed");
        assert_eq!(headers(TOLD, "#include \"../s.h\"\n"), None, "a name that leads away");
        let user = TOLD.replace("# 1 \"/usr/include/t.h\" 1 3 4", "# 1 \"own.h\" 1");
        assert_eq!(headers(&user, "#include <s.h>\n"), None, "a user's header behind one of the system");
        let other = TOLD.replace("/usr/include/s.h", "/opt/include/s.h");
        assert_eq!(headers(&other, "#include <s.h>\n"), None, "a header that counts as the user's");
    }

    #[test]
    fn a_header_that_is_included_again_gives_what_it_gave_then() {
        let text = in_turn(4, &["int a;".to_string(), "int b;".to_string()]);
        let first = "#if !defined __touchstone_4_0\n#define __touchstone_4_0\nint a;\n";
        assert_eq!(text, format!("{first}#elif !defined __touchstone_4_1\n#define __touchstone_4_1\nint b;\n#endif\n"));
    }
}
