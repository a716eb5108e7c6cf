//! An instrumented copy of a source that other C files include instead of the source, as the tests of a replay do.
//!
//! The copy is preprocessed text. The definitions of its macros follow it, so that files which include it can use them,
//! and the include guards of its headers still work.

use super::compile_command::CompileCommand;
use super::compiler_toolchain::CompilerToolchain;
use super::instrumented_compile::{InstrumentedCompile, PreprocessedText, PreprocessorOutput};
use super::joint_clang_run::MAX_JOINT_TEXT_BYTES;
use super::probing_options::ProbingOptions;
use super::rejected_probes::RejectedProbes;
use crate::record::{ProbeObstacle, UnitRecord, system};
use std::collections::{BTreeMap, BTreeSet};

/// The C source of the runtime that replayed tests are linked with. After each test it prints the probes that the test
/// hit.
pub const REPLAY_RUNTIME: &str = include_str!("../../../runtime/replay.c");

/// An instrumented copy of a source.
pub struct ProbedCopy {
    /// The text to include.
    pub text: String,
    record: UnitRecord,
}

impl ProbedCopy {
    /// Instruments a source. `flags` are those that the compiler gets for it.
    pub fn new(
        compiler: &str,
        flags: &[String],
        source: &str,
        probing: &ProbingOptions<'_>,
    ) -> Result<ProbedCopy, ProbeObstacle> {
        let words: Vec<String> = flags.iter().cloned().chain(["-c".to_string(), source.to_string()]).collect();
        let command = CompileCommand::new(compiler, &words);
        if let Some(why) = command.unsupported {
            return Err(why);
        }
        let Some(&at) = command.sources.last() else { return Err(ProbeObstacle::OnlyC) };
        let toolchain = CompilerToolchain::new(compiler, probing);
        let job = InstrumentedCompile { toolchain, command, probing, small: MAX_JOINT_TEXT_BYTES };
        let scratch = tempfile::tempdir().map_err(system)?;
        let PreprocessorOutput { status, text, with_macros, .. } = job.preprocess(source)?;
        if !status.success() {
            return Err(ProbeObstacle::NotPreprocessed);
        }
        let unit = PreprocessedText { text: &text, with_macros: with_macros.as_deref() };
        let (text, record) = job.with_probes(at, unit, &RejectedProbes::default(), scratch.path())?;
        let macros = match &with_macros {
            Some(all) => macro_definitions(all),
            None => macro_definitions(&job.list_macros(source)?),
        };
        Ok(ProbedCopy { text: text + &macros, record })
    }

    /// Returns the ids of the objectives that a run covered, from the probes that it hit, with the identities of their
    /// units.
    pub fn covered(&self, hits: &BTreeSet<(u64, u32)>) -> BTreeSet<&str> {
        let unit = u64::from_str_radix(&self.record.unit, 16).unwrap_or_default();
        self.record.covered_by(hits.range((unit, 0)..=(unit, u32::MAX)).map(|(_, probe)| *probe).collect())
    }

    /// Returns the obstacle to a probe for each objective without one, by id.
    pub fn unprobed(&self) -> impl Iterator<Item = (&str, &ProbeObstacle)> {
        self.record.unprobed()
    }

    /// Returns the ids of the objectives that have probes.
    pub fn probed(&self) -> impl Iterator<Item = &str> {
        self.record.probed()
    }
}

/// Returns the macros that are defined at the end of the preprocessor's output, without those of the compiler.
fn macro_definitions(with_macros: &str) -> String {
    let mut defined: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut predefined = false;
    for line in with_macros.lines() {
        if line.starts_with("# ") {
            predefined = line.split('"').nth(1) == Some("<built-in>");
        } else if predefined {
            continue;
        } else if let Some(rest) = line.strip_prefix("#define ") {
            defined.insert(macro_name(rest), Some(line));
        } else if let Some(rest) = line.strip_prefix("#undef ") {
            defined.insert(macro_name(rest), None);
        }
    }
    let mut text = String::from("\n");
    for (name, line) in defined {
        text.push_str(&format!("#undef {name}\n"));
        text.extend(line.map(|line| format!("{line}\n")));
    }
    text
}

fn macro_name(rest: &str) -> &str {
    let end = rest.find(|char: char| !(char.is_alphanumeric() || char == '_' || char == '$'));
    &rest[..end.unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_definition_of_a_macro_counts() {
        let text = "# 0 \"<built-in>\"\n#define __x86_64__ 1\n# 1 \"a.c\"\n#define A 1\nint a;\n#define F(x) (x)\n#undef A\n#define A 2\n#define B\n#undef B\n";
        assert_eq!(macro_definitions(text), "\n#undef A\n#define A 2\n#undef B\n#undef F\n#define F(x) (x)\n");
    }
}
