//! Invocations of the C compiler.
//!
//! Our flags come last: signed overflow wraps and types may alias, as in the model, whatever the user's flags are.

use crate::c::build::configuration::Build;
use crate::c::build::include_path::include_name;
use crate::c::build::object_cache::executable_path;
use crate::c::build::preprocessor::inline_definitions;
use crate::{EmitError, SourceUnit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_ir::Module;

/// The variant of a build.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum BuildVariant {
    /// Without instrumentation, for tests that run to completion.
    Plain,
    /// With sanitizers, for tests that end in an error.
    Sanitized,
}

const PLAIN: &[&str] = &["-O0", "-g0", "-pipe"];
/// The flags of the sanitized build. They detect only what the model treats as an error, so not overflow, shifts and
/// alignment. A null pointer is detected by the access, not by address computation. Violated bounds of declared arrays
/// are reported without ending the run, because an index beyond a row of a matrix is still inside the object.
const SANITIZED: &[&str] = &[
    "-O0",
    // addr2line up to 2.40 returns the wrong file for DWARF 5 if one source file includes another.
    "-g1",
    "-gdwarf-4",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,integer-divide-by-zero,unreachable,bounds",
    "-fno-sanitize-recover=integer-divide-by-zero,unreachable",
    "-fsanitize-recover=bounds",
];

/// Compiles and links in one directory.
#[derive(Clone, Copy)]
pub(crate) struct Compiler<'a> {
    pub(crate) target: &'a Build,
    pub(crate) module: &'a Module,
    pub(crate) dir: &'a Path,
}

impl Compiler<'_> {
    fn variant_flags(variant: BuildVariant) -> &'static [&'static str] {
        match variant {
            BuildVariant::Plain => PLAIN,
            BuildVariant::Sanitized => SANITIZED,
        }
    }

    /// Compiles one source file to an object file, with the flags of its unit.
    pub(crate) fn compile(
        &self,
        source: &Path,
        flags: &[String],
        defines: &[&str],
        variant: BuildVariant,
        object: &str,
    ) -> Result<PathBuf, EmitError> {
        let object = self.dir.join(object);
        let mut command = Command::new(&self.target.cc);
        command.args(flags.iter().filter(|flag| !is_strictness(flag) && !is_instrumentation_flag(flag)));
        command.arg("-I").arg(&self.target.include_dir);
        command
            .args(Self::variant_flags(variant))
            .args(["-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-w"])
            .args(defines);
        // The analysis ran without a sanitizer, so code that tests for one must not find it.
        if variant == BuildVariant::Sanitized && !flags.iter().any(|flag| flag.starts_with("-D__SANITIZE_ADDRESS__")) {
            command.args(["-U__SANITIZE_ADDRESS__", "-DTOUCHSTONE_SANITIZED=1"]);
        }
        command.arg("-c").arg(source).arg("-o").arg(&object);
        self.run(command)?;
        Ok(object)
    }

    /// Links object files to a program. A symbol that the program's sources only declare gets a definition that reports
    /// its call, so that one file of a larger program can be tested.
    pub(crate) fn link(&self, objects: &[PathBuf], variant: BuildVariant, program: &str) -> Result<PathBuf, EmitError> {
        if let Some(quick) = QuickLink::new(self, variant) {
            if let Ok(linked) = self.link_with(quick.linker, quick.math, objects, variant, program) {
                return Ok(linked);
            }
            self.target.unit_objects.give_up_quick_links();
        }
        self.link_with(Linker::Default, true, objects, variant, program)
    }

    fn link_with(
        &self,
        linker: Linker,
        math: bool,
        objects: &[PathBuf],
        variant: BuildVariant,
        program: &str,
    ) -> Result<PathBuf, EmitError> {
        let output = self.dir.join(program);
        let mut linked = self.try_link((linker, math), objects, variant, &output);
        if !math && linked.as_ref().is_err_and(|failed| !failed.undefined_symbols().is_empty()) {
            // The other programs of the run lack the same symbols.
            self.target.unit_objects.link_with_math();
            linked = self.try_link((linker, true), objects, variant, &output);
        }
        let Err(failed) = linked else { return Ok(output) };
        let missing = failed.undefined_symbols();
        if missing.is_empty() {
            return Err(failed);
        }
        let source = self.dir.join(format!("{program}.missing.c"));
        std::fs::write(&source, self.undefined_symbol_definitions(&missing)).map_err(EmitError::io(&source))?;
        let object = self.compile(&source, &[], &[], BuildVariant::Plain, &format!("{program}.missing.o"))?;
        let mut objects = objects.to_vec();
        objects.push(object);
        self.try_link((linker, true), &objects, variant, &output)?;
        Ok(output)
    }

    fn try_link(
        &self,
        (linker, math): (Linker, bool),
        objects: &[PathBuf],
        variant: BuildVariant,
        output: &Path,
    ) -> Result<(), EmitError> {
        let mut command = Command::new(&self.target.cc);
        command.args(linker.flags()).args(Self::variant_flags(variant)).arg("-w").args(objects).arg("-o").arg(output);
        let flags = self.target.units.iter().flat_map(|unit| &unit.flags);
        let linked: BTreeSet<&String> = flags.filter(|flag| is_link_flag(flag)).collect();
        command.args(linked).args(math.then_some("-lm"));
        command.args(self.target.sandbox.link_flags(self.module));
        self.run(command)
    }

    /// Links one object file of the runtime to a program.
    pub(crate) fn link_plain(&self, object: &Path, program: &str) -> Result<PathBuf, EmitError> {
        let output = self.dir.join(program);
        let mut command = Command::new(&self.target.cc);
        command.arg(object).arg("-o").arg(&output);
        self.run(command).map(|()| output)
    }

    /// Returns definitions of undefined symbols. The module knows its globals; every other symbol is assumed to be a
    /// function.
    fn undefined_symbol_definitions(&self, missing: &BTreeSet<String>) -> String {
        let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n");
        for name in missing {
            match self.module.global_named(name) {
                Some(id) => {
                    let size = self.module.globals[id].size.max(1);
                    text.push_str(&format!("char {name}[{size}] __attribute__((aligned(16)));\n"));
                }
                None => text.push_str(&format!(
                    "void {name}(void) {{ fputs(\"`{name}` is called, but defined nowhere\\n\", stderr); _Exit(99); }}\n"
                )),
            }
        }
        text
    }

    /// Returns true if the compiler has sanitizers and their programs run on this machine.
    pub(crate) fn has_sanitizers(&self) -> bool {
        let source = self.dir.join("probe.c");
        if std::fs::write(&source, "int main(void) { return 0; }\n").is_err() {
            return false;
        }
        let Ok(object) = self.compile(&source, &[], &[], BuildVariant::Sanitized, "probe.o") else { return false };
        let Ok(()) =
            self.try_link((Linker::Default, true), &[object], BuildVariant::Sanitized, &self.dir.join("probe"))
        else {
            return false;
        };
        Command::new(self.dir.join("probe")).output().is_ok_and(|output| output.status.success())
    }

    fn run(&self, mut command: Command) -> Result<(), EmitError> {
        let output = command
            .env("LC_ALL", "C")
            .output()
            .map_err(|source| EmitError::NoCompiler { cc: self.target.cc.clone(), source })?;
        if output.status.success() {
            return Ok(());
        }
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(EmitError::DoesNotCompile { command: words.join(" "), stderr })
    }
}

/// The linker that the compiler starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linker {
    Default,
    /// GNU gold, which takes half the time of GNU ld for a small program.
    Gold,
}

impl Linker {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Linker::Default => &[],
            Linker::Gold => &["-fuse-ld=gold"],
        }
    }
}

/// A link that is tried first, because it takes half the time. If it fails, the program is linked as usual, and so are
/// all others of the run.
struct QuickLink {
    linker: Linker,
    /// True if the program is linked with the mathematical library.
    math: bool,
}

impl QuickLink {
    /// Returns the quick link of a program, or `None` if there is none.
    fn new(compiler: &Compiler<'_>, variant: BuildVariant) -> Option<QuickLink> {
        let target = compiler.target;
        let mut flags = target.units.iter().flat_map(|unit| &unit.flags);
        // Instructions for one linker need not work with another.
        let is_special = |flag: &String| flag.starts_with("-Wl,") || flag.starts_with("-flto");
        if variant != BuildVariant::Plain || target.unit_objects.quick_links_failed() || flags.any(is_special) {
            return None;
        }
        let gold = cfg!(target_arch = "x86_64") && executable_path("ld.gold").is_some();
        let linker = if gold { Linker::Gold } else { Linker::Default };
        let mentions_math = |unit| target.preprocessed.unit(target, unit).mentions_math();
        let math = target.unit_objects.links_with_math() || (0..target.units.len()).any(mentions_math);
        (gold || !math).then_some(QuickLink { linker, math })
    }
}

/// Compiles the program's files except for those in `without`, to be linked with tests.
pub(crate) fn compile_other_units(
    compiler: &Compiler,
    without: &[usize],
    variant: BuildVariant,
) -> Result<Vec<PathBuf>, EmitError> {
    let target = compiler.target;
    let others = target.units.iter().enumerate().filter(|(index, _)| !without.contains(index));
    others
        .map(|(index, SourceUnit { path, flags })| {
            let defines = target.rename_of_main(compiler.module, index);
            target.unit_objects.unit((index, variant), |dir| {
                let compiler = Compiler { dir, ..*compiler };
                let path = with_inline_definitions(&compiler, index, path)?;
                compiler.compile(&path, flags, defines, variant, &format!("unit{index}.{variant:?}.o"))
            })
        })
        .collect()
}

/// Returns the file, or a file that includes it and defines its inline functions, for which tests may find no other
/// definition.
fn with_inline_definitions(compiler: &Compiler, unit: usize, path: &Path) -> Result<PathBuf, EmitError> {
    let preprocessed = compiler.target.preprocessed.unit(compiler.target, unit);
    let definitions = inline_definitions(compiler.module, &preprocessed);
    let whole = path.canonicalize().map_err(EmitError::io(path))?;
    let Some(name) = include_name(&whole).filter(|_| !definitions.is_empty()) else { return Ok(path.to_path_buf()) };
    let source = compiler.dir.join(format!("unit{unit}.c"));
    std::fs::write(&source, format!("#include \"{name}\"\n{definitions}")).map_err(EmitError::io(&source))?;
    Ok(source)
}

/// Returns true for flags that turn warnings into errors: they must not apply to the source of tests.
fn is_strictness(flag: &str) -> bool {
    flag.starts_with("-Werror") || flag == "-pedantic-errors"
}

/// Returns true for flags of sanitizers, coverage and profilers. The replay uses its own.
fn is_instrumentation_flag(flag: &str) -> bool {
    const STARTS: &[&str] = &[
        "-fsanitize",
        "-fno-sanitize",
        "-fprofile",
        "-ftest-coverage",
        "-finstrument-functions",
        "-fcoverage-mapping",
    ];
    const WHOLE: &[&str] = &["--coverage", "-coverage", "-pg", "-p"];
    const LIBRARIES: &[&str] =
        &["-lasan", "-lubsan", "-ltsan", "-llsan", "-lgcov", "-static-libasan", "-shared-libasan"];
    STARTS.iter().any(|start| flag.starts_with(start)) || WHOLE.contains(&flag) || LIBRARIES.contains(&flag)
}

fn is_link_flag(flag: &str) -> bool {
    !is_instrumentation_flag(flag) && ["-l", "-L", "-Wl,", "-pthread"].iter().any(|start| flag.starts_with(start))
}

impl EmitError {
    /// Returns the undefined symbols that the linker reported.
    fn undefined_symbols(&self) -> BTreeSet<String> {
        match self {
            EmitError::DoesNotCompile { stderr, .. } => undefined_symbols(stderr),
            _ => BTreeSet::new(),
        }
    }
}

/// Returns the undefined symbols in the messages of GNU ld, gold and lld.
fn undefined_symbols(stderr: &str) -> BTreeSet<String> {
    let end = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
    let after = |line: &str, mark: &str| {
        let rest = line.split_once(mark)?.1.trim_start_matches(['`', '\'', ' ']);
        rest.split(end).next().filter(|name| !name.is_empty()).map(str::to_string)
    };
    stderr
        .lines()
        .filter_map(|line| after(line, "undefined reference to ").or_else(|| after(line, "undefined symbol: ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_symbols_are_read_from_what_linkers_say() {
        let check = |stderr: &str, expected: &[&str]| {
            assert_eq!(undefined_symbols(stderr).into_iter().collect::<Vec<_>>(), expected);
        };
        check("ld: t.c:(.text+0x5): undefined reference to `send_byte'\n", &["send_byte"]);
        check("t.c:t.c:function f: error: undefined reference to 'send_byte'\n", &["send_byte"]);
        check("ld.lld: error: undefined symbol: gauge\n>>> referenced by t.c\n", &["gauge"]);
        check("t.c:3: error: expected ';'\n", &[]);
    }
}
