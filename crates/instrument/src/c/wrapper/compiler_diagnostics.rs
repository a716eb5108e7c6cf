//! The diagnostics of the original source, which the build shows instead of those of the instrumented text.
//!
//! If the flags request warnings, the original source is parsed for them (`-fsyntax-only`). Some warnings come from
//! later passes: if the instrumented text has one of such a kind, the original source is compiled completely.

use super::compile_command::{CompileCommand, CompilerFamily};
use super::compiler_toolchain::CompilerToolchain;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Output;

/// The diagnostics, and the exit status.
#[derive(Clone, Default)]
pub(crate) struct CompilerDiagnostics {
    pub text: Vec<u8>,
    pub status: i32,
}

impl CompilerDiagnostics {
    /// Writes them to standard error.
    pub fn show(&self) {
        let _ = std::io::stderr().lock().write_all(&self.text);
    }

    /// Returns true if `other` contains a kind of warning that is missing here.
    pub fn lacks_kinds_of(&self, other: &[u8]) -> bool {
        !kinds(other).is_subset(&kinds(&self.text))
    }

    fn of(output: &Output) -> CompilerDiagnostics {
        CompilerDiagnostics { text: output.stderr.clone(), status: super::compiler_toolchain::exit_code(output.status) }
    }
}

/// Returns the parser's diagnostics for the original sources of a command. Also writes dependencies.
pub(crate) fn parser_diagnostics(
    toolchain: &CompilerToolchain<'_>,
    command: &CompileCommand,
) -> std::io::Result<CompilerDiagnostics> {
    if toolchain.family == CompilerFamily::Clang
        && let Some(words) = command.dependencies()
    {
        toolchain.run_captured(&words)?;
    }
    Ok(CompilerDiagnostics::of(&toolchain.run_captured(&command.parse(toolchain.family))?))
}

/// Returns the diagnostics of a complete compilation.
pub(crate) fn full_diagnostics(
    toolchain: &CompilerToolchain<'_>,
    command: &CompileCommand,
    scratch: &Path,
) -> std::io::Result<CompilerDiagnostics> {
    let mut sources: Vec<usize> = command.sources.iter().chain(&command.foreign).copied().collect();
    sources.sort_unstable();
    let mut all = CompilerDiagnostics::default();
    for at in sources {
        let output =
            toolchain.run_captured(&command.check(&command.words[at], &scratch.join("checked.s"), toolchain.family))?;
        let said = CompilerDiagnostics::of(&output);
        all.text.extend(said.text);
        all.status = all.status.max(said.status);
    }
    Ok(all)
}

/// Returns the kinds of warnings, by the flags that control them; those without a flag are one kind.
fn kinds(said: &[u8]) -> BTreeSet<String> {
    let said = String::from_utf8_lossy(said);
    let messages = said.lines().filter(|line| line.contains("warning: ") || line.contains("error: "));
    let kind = |line: &str| {
        let tag = line.trim_end().strip_suffix(']').and_then(|line| line.rsplit_once("[-W")).map(|(_, tag)| tag);
        // clang prints `-Werror,-Wunused`, gcc `-Werror=unused`.
        let tag = tag.unwrap_or_default();
        let tag = tag.strip_prefix("error=").or(tag.strip_prefix("error,-W")).unwrap_or(tag);
        tag.trim_end_matches('=').to_string()
    };
    messages.map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_warning_is_the_same_whether_it_is_an_error() {
        let check = |said: &str, expected: &[&str]| {
            assert_eq!(kinds(said.as_bytes()), expected.iter().map(ToString::to_string).collect(), "{said}");
        };
        check("a.c:1:2: warning: control reaches end [-Wreturn-type]\n", &["return-type"]);
        check("a.c:1:2: error: control reaches end [-Werror=return-type]\ncc1: some\n", &["return-type"]);
        check("a.c:1:2: error: unused [-Werror,-Wunused-variable]\n", &["unused-variable"]);
        check("a.c:1:2: warning: strange\n", &[""]);
        check("note: nothing\n", &[]);
    }
}
