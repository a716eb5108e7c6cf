//! Compile flags: the user's, or those of compile_commands.json.

use crate::clang::options::{OffsetofMode, Options};
use crate::error::FrontError;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Macros for text that is not preprocessed; in preprocessed text they would shift source positions.
///
/// The first one puts the member's address next to the `offsetof` that clang evaluates: the expression stays constant,
/// and its operands are nodes of the AST. The next ones map names of gcc to those of clang.
const SOURCE_MACROS: [&str; 8] = [
    "-D__builtin_offsetof(t,...)=__builtin_choose_expr(1,\
     __builtin_offsetof(t,__VA_ARGS__),(__SIZE_TYPE__)&((t*)0)->__VA_ARGS__)",
    "-D__builtin_imaxabs=__builtin_labs",
    "-D__builtin_shuffle=__builtin_shufflevector",
    // clang ignores the attribute. Records with this one are unsupported, too.
    "-Dscalar_storage_order(order)=ms_struct",
    "-D__scalar_storage_order__(order)=ms_struct",
    // The time of compilation, which is unknown here (`link/build_assumptions.rs`).
    "-D__DATE__=\"Dec 31 9999\"",
    "-D__TIME__=\"23:59:57\"",
    "-D__TIMESTAMP__=\"Fri Dec 31 23:59:57 9999\"",
];

/// Returns the macros that are predefined for a text.
pub(crate) fn predefined_macros(options: &Options) -> impl Iterator<Item = String> {
    let written = options.offsets == OffsetofMode::Spelled;
    SOURCE_MACROS.into_iter().filter(move |_| written).map(str::to_string)
}

/// Returns the names of the macros that are predefined for text that is not preprocessed.
pub fn predefined_macro_names() -> impl Iterator<Item = &'static str> {
    SOURCE_MACROS.iter().filter_map(|flag| flag.strip_prefix("-D")?.split(['=', '(']).next())
}

/// Returns the flags to compile a file with: those of compile_commands.json (with paths made absolute), then the
/// user's, then the directory of Touchstone's headers.
pub fn flags_for(file: &Path, options: &Options) -> Result<Vec<String>, FrontError> {
    let mut flags = Vec::new();
    let meant = options.replacements.iter().find(|(stands, _)| stands == file);
    let file = meant.map_or(file, |(_, meant)| meant.as_path());
    if let Some(database) = &options.compile_commands {
        flags.extend(from_database(database, file)?);
    }
    flags.extend(options.flags.iter().cloned());
    if let Some(directory) = &options.include_dir {
        flags.push("-isystem".to_string());
        flags.push(directory.to_string_lossy().into_owned());
    }
    Ok(flags)
}

/// Returns the C sources that a compile_commands.json names, without duplicates.
pub fn database_sources(database: &Path) -> Result<Vec<PathBuf>, FrontError> {
    let base = database.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in entries(&text_of(database)?, database)? {
        let path = base.join(&entry.directory).join(&entry.file);
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        if path.extension().is_some_and(|extension| extension == "c") && !found.contains(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

fn text_of(database: &Path) -> Result<String, FrontError> {
    let bad =
        |error: std::io::Error| FrontError::BadCompileCommands { file: database.to_path_buf(), why: error.to_string() };
    std::fs::read_to_string(database).map_err(bad)
}

fn entries(text: &str, database: &Path) -> Result<Vec<Entry>, FrontError> {
    let bad = |error: serde_json::Error| FrontError::BadCompileCommands {
        file: database.to_path_buf(),
        why: error.to_string(),
    };
    serde_json::from_str(text).map_err(bad)
}

fn from_database(database: &Path, file: &Path) -> Result<Vec<String>, FrontError> {
    from_text(&text_of(database)?, database, file)
}

/// Returns the flags for a file from the text of a compile_commands.json; empty if it has no entry.
pub(crate) fn from_text(text: &str, database: &Path, file: &Path) -> Result<Vec<String>, FrontError> {
    let bad = |why: String| FrontError::BadCompileCommands { file: database.to_path_buf(), why };
    let wanted = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let base = database.parent().unwrap_or(Path::new("."));
    for entry in entries(text, database)? {
        let directory = base.join(&entry.directory);
        let path = directory.join(&entry.file);
        if std::fs::canonicalize(&path).unwrap_or(path) != wanted {
            continue;
        }
        let words = match (entry.arguments, entry.command) {
            (Some(words), _) => words,
            (None, Some(command)) => split_command(&command),
            (None, None) => return Err(bad(format!("the entry of {} has no command", entry.file.display()))),
        };
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        return Ok(clean(&words, &directory, &entry.file, &wanted));
    }
    Ok(Vec::new())
}

/// Drops the compiler, the file, the output and the dependency flags; makes paths absolute.
fn clean(words: &[String], directory: &Path, file: &Path, wanted: &Path) -> Vec<String> {
    const WITH_PATH: [&str; 7] = ["-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"];
    let absolute = |path: &str| directory.join(path).to_string_lossy().into_owned();
    let is_file = |word: &str| {
        let path = directory.join(word);
        Path::new(word) == file || std::fs::canonicalize(path).is_ok_and(|path| path == wanted)
    };
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" | "-MJ" => drop(words.next()),
            "-c" | "-S" | "-E" | "--" => {}
            other if other.starts_with("-M") || (other.starts_with("-o") && other.len() > 2) => {}
            other if WITH_PATH.contains(&other) => {
                flags.push(other.to_string());
                flags.extend(words.next().map(|path| absolute(path)));
            }
            other if !other.starts_with('-') && is_file(other) => {}
            other => {
                match WITH_PATH.iter().find(|flag| other.starts_with(**flag) && !other.starts_with("-include-pch")) {
                    Some(flag) => flags.push(format!("{flag}{}", absolute(&other[flag.len()..]))),
                    None => flags.push(other.to_string()),
                }
            }
        }
    }
    flags
}

/// Splits a command like a shell: with quotes and backslashes, without expansion.
fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        assert_eq!(
            split_command(r#"cc -DX="a b" -DY='"q"' -D\"Z  x.c"#),
            ["cc", "-DX=a b", "-DY=\"q\"", "-D\"Z", "x.c"]
        );
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let words = split_command(command);
        assert_eq!(clean(&words, Path::new("/proj"), Path::new("a.c"), Path::new("/proj/a.c")), expected);
    }

    #[test]
    fn output_dependencies_and_the_file_itself_are_dropped() {
        check("cc -c -O2 -o a.o -MD -MF a.d -MT x a.c", &["-O2"]);
        check(
            "cc -Iinc -I /abs -isystem sys -include pre.h -DX a.c",
            &["-I/proj/inc", "-I", "/abs", "-isystem", "/proj/sys", "-include", "/proj/pre.h", "-DX"],
        );
    }
}
