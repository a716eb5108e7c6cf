//! Reads a source and its preprocessed text in one run of clang.
//!
//! Both are read with the flags of the source, so their macros must not apply to the text: a header included in place
//! of a line marker undefines them. Large texts are read by two processes concurrently, because their work exceeds the
//! start-up time of clang.

use super::compile_command::CompileCommand;
use super::system_headers::{FOLDER, UsedSystemHeaders};
use std::path::Path;
use touchstone_front_c::{AstDump, Options, SourcePair, dump_pair, predefined_macro_names};

/// The maximum size in bytes of a text for a joint run.
pub(crate) const MAX_JOINT_TEXT_BYTES: usize = 256 * 1024;
const HEADER: &str = "u.h";

/// A source and the path of its preprocessed text.
pub(crate) struct JointClangRun<'a> {
    pub source: &'a str,
    pub written: &'a Options,
    pub command: &'a CompileCommand,
    pub copy: &'a Path,
    pub preprocessed: &'a Options,
    /// The maximum size in bytes of a text for a joint run.
    pub small: usize,
    /// The preprocessor's output with macro definitions.
    pub with_macros: Option<&'a str>,
}

impl JointClangRun<'_> {
    /// Writes the text, and returns clang's dumps of the source and of the text, or `None` if they have to be read
    /// separately.
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
        // An error is reported better by separate runs.
        Ok(dump_pair(texts, &options).ok().flatten().unzip())
    }

    /// Returns the flags of the source with the system headers in this directory only, as the user's compiler
    /// preprocessed them.
    fn flags_with(&self, headers: &Path) -> Vec<String> {
        let defined = self.preprocessed.flags.iter().filter(|flag| flag.starts_with("-D_Float"));
        let found = ["-nostdinc".to_string(), "-idirafter".to_string(), headers.to_string_lossy().into_owned()];
        defined.chain(&self.written.flags).cloned().chain(found).collect()
    }

    /// Returns true if flags include other files before the source: the preprocessed text already contains them.
    fn has_other_inputs(&self) -> bool {
        self.written.flags.iter().any(|flag| flag.starts_with("-include") || flag.starts_with("-imacros"))
    }

    /// Undefines the macros of the command, and defines those of the text.
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

/// Replaces one of the initial comments by an include of the header, so that all offsets stay the same.
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
