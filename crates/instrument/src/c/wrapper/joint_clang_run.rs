//! A source and its preprocessed text in one run of clang.
//!
//! Both get the flags of the source, so the text must not see what these define: a header that it includes in the place of
//! a line marker takes the macros back. Large files go to two clangs that work at the same time; of them, what clang does
//! is more than its start.

use super::compile_command::CompileCommand;
use super::system_headers::{FOLDER, UsedSystemHeaders};
use std::path::Path;
use touchstone_front_c::{AstDump, Options, SourcePair, dump_pair, predefined_macro_names};

/// Bytes of a text up to which clang is started once.
pub(crate) const MAX_JOINT_TEXT_BYTES: usize = 256 * 1024;
const HEADER: &str = "u.h";

/// A source and the place of its preprocessed text.
pub(crate) struct JointClangRun<'a> {
    pub source: &'a str,
    pub written: &'a Options,
    pub command: &'a CompileCommand,
    pub copy: &'a Path,
    pub preprocessed: &'a Options,
    /// Bytes of a text up to which clang is started once.
    pub small: usize,
    /// What the preprocessor said, with its macros.
    pub with_macros: Option<&'a str>,
}

impl JointClangRun<'_> {
    /// Writes the text to its place; what clang says of the source and of the text, unless it has to be asked for each.
    pub fn write_and_dump(&self, mut text: String) -> std::io::Result<(Option<AstDump>, Option<AstDump>)> {
        let mut options = self.written.clone();
        let may_fit = text.len() <= self.small && !self.has_other_inputs();
        let headers = self
            .with_macros
            .filter(|_| may_fit)
            .and_then(|with_macros| UsedSystemHeaders::new(with_macros, &text, read));
        if let Some(headers) = headers {
            let folder = self.copy.with_file_name(FOLDER);
            headers.write(&folder)?;
            options.flags = self.flags_with(&folder);
        }
        let fits = may_fit && include_header(&mut text);
        std::fs::write(self.copy, &text)?;
        if !fits {
            return Ok((None, None));
        }
        std::fs::write(self.copy.with_file_name(HEADER), self.header())?;
        let texts = SourcePair { written: Path::new(self.source), preprocessed: self.copy };
        // What goes wrong here goes wrong with each, which says more.
        Ok(dump_pair(texts, &options).ok().flatten().unzip())
    }

    /// The flags of the source, for which the headers of the system are in this folder, and in no other. They are written for
    /// another compiler, as the text is.
    fn flags_with(&self, headers: &Path) -> Vec<String> {
        let defined = self.preprocessed.flags.iter().filter(|flag| flag.starts_with("-D_Float"));
        let found = ["-nostdinc".to_string(), "-idirafter".to_string(), headers.to_string_lossy().into_owned()];
        defined.chain(&self.written.flags).cloned().chain(found).collect()
    }

    /// Whether flags name other texts that are read before the source: the preprocessed one has them already.
    fn has_other_inputs(&self) -> bool {
        self.written.flags.iter().any(|flag| flag.starts_with("-include") || flag.starts_with("-imacros"))
    }

    /// Takes the macros of the command back, and defines those of the text.
    fn header(&self) -> String {
        let mut made = String::new();
        let own: Vec<&str> = predefined_macro_names().collect();
        let undefined = self.preprocessed.flags.iter().filter_map(|flag| flag.strip_prefix("-U"));
        let macros = self.command.macros();
        let defined = macros.iter().filter_map(|flag| flag.strip_prefix("-D"));
        for name in own.into_iter().chain(undefined).chain(defined) {
            let name = name.split(['=', '(']).next().unwrap_or_default();
            made += &format!("#undef {name}\n");
        }
        for flag in self.preprocessed.flags.iter().filter_map(|flag| flag.strip_prefix("-D")) {
            let (name, value) = flag.split_once('=').unwrap_or((flag, "1"));
            made += &format!("#define {name} {value}\n");
        }
        made
    }
}

fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// Puts the header in the place of one of the comments that a text begins with, so that every byte keeps its place.
fn include_header(text: &mut String) -> bool {
    let include = format!("#include \"{HEADER}\"");
    let mut at = 0;
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        if line.len() >= include.len() && !line.ends_with('\\') {
            let padded = format!("{include:<width$}", width = line.len());
            let end = at + line.len();
            text.replace_range(at..end, &padded);
            return true;
        }
        at += line.len() + 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_takes_the_place_of_a_line_marker() {
        let check = |text: &str, expected: Option<&str>| {
            let mut made = text.to_string();
            let done = include_header(&mut made).then_some(made.as_str());
            assert_eq!(done, expected, "{text}");
        };
        check("//0 \"a.c\"\n//0 \"<built-in>\"\nint x;\n", Some("//0 \"a.c\"\n#include \"u.h\"  \nint x;\n"));
        check("//0 \"a.c\"\nint x;\n//0 \"<built-in>\"\n", None);
    }
}
