//! Response files: `gcc @file` reads further arguments from a file.

/// The maximum nesting depth of response files.
const MAX_RESPONSE_FILE_DEPTH: u32 = 20;
/// The maximum number of response files, as in gcc: files that name others repeatedly would otherwise take forever.
const MAX_RESPONSE_FILES: u32 = 2000;
/// Longer commands stay in their files, because the system limits the length of a command line.
const MAX_COMMAND_BYTES: usize = 1 << 16;

/// Replaces response files by their arguments. Returns `None` if there are none, or if they are too long.
pub fn expanded(words: &[String]) -> Option<Vec<String>> {
    words.iter().find(|word| word.starts_with('@'))?;
    let mut made = Vec::new();
    expand(words, &mut made, MAX_RESPONSE_FILE_DEPTH, &mut MAX_RESPONSE_FILES.clone())?;
    (made.iter().map(String::len).sum::<usize>() < MAX_COMMAND_BYTES).then_some(made)
}

fn expand(words: &[String], made: &mut Vec<String>, depth: u32, files: &mut u32) -> Option<()> {
    for word in words {
        match word.strip_prefix('@').map(std::fs::read_to_string) {
            Some(Ok(text)) if depth > 0 => {
                *files = files.checked_sub(1)?;
                expand(&split(&text), made, depth - 1, files)?;
            }
            Some(Ok(_)) => return None,
            // A missing file is an ordinary argument, as for compilers.
            Some(Err(_)) | None => made.push(word.clone()),
        }
    }
    Some(())
}

/// Splits a response file into words: separated by white space, with both kinds of quotes, and backslash escapes.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match (next, quote) {
            ('\\', _) => word.get_or_insert_default().extend(rest.next()),
            (_, Some(open)) if next == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(next),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(next);
            }
            (_, None) if next.is_ascii_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_split_and_no_character_is_made_up() {
        let text = "-O2 \"-DA=1 2\"\n-DB='x \"y\"' a\\ b.c @other -I/usr/include é\t-o\\\\x";
        for damaged in touchstone_base::CorruptedInputs::of(text.as_bytes()).take(5000) {
            let damaged = String::from_utf8_lossy(&damaged);
            let words = split(&damaged);
            assert!(words.iter().map(String::len).sum::<usize>() <= damaged.len(), "{damaged:?}: {words:?}");
        }
    }

    #[test]
    fn files_that_name_others_many_times_are_left_to_the_compiler() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let name = |index: u32| format!("@{}", folder.path().join(format!("f{index}")).display());
        for index in 0..19 {
            let text = format!("{0} {0} {0} {0}", name(index + 1));
            std::fs::write(folder.path().join(format!("f{index}")), text).expect("writable");
        }
        std::fs::write(folder.path().join("f19"), "").expect("writable");
        assert_eq!(expanded(&[name(0)]), None);
    }

    #[test]
    fn words_of_a_response_file_are_split_as_gcc_does() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text}");
        check("-O2\n  -c a.c\t-o a.o\n", &["-O2", "-c", "a.c", "-o", "a.o"]);
        check("\"-DA=1 2\" -DB='x \"y\"' a\\ b.c", &["-DA=1 2", "-DB=x \"y\"", "a b.c"]);
        check("'' x\\\\y", &["", "x\\y"]);
        check("  ", &[]);
    }

    #[test]
    fn files_in_files_are_read_and_missing_ones_are_names() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let file = |name: &str| format!("@{}", folder.path().join(name).display());
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
        write("inner", "-c a.c");
        write("outer", &format!("-O1 {} -g", file("inner")));
        write("endless", &file("endless"));
        let check = |given: &[&str], expected: Option<&[&str]>| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            let expected: Option<Vec<String>> = expected.map(|words| words.iter().map(ToString::to_string).collect());
            assert_eq!(expanded(&given), expected, "{given:?}");
        };
        check(&["-c", "a.c"], None);
        check(&["-w", &file("outer")], Some(&["-w", "-O1", "-c", "a.c", "-g"]));
        check(&[&file("nothing")], Some(&[&file("nothing")]));
        check(&[&file("endless")], None);
    }
}
