//! A compile command, as far as the wrapper must parse it.

use crate::c::probes::InstructionOrder;
use crate::record::ProbeObstacle;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The compiler whose behaviour applies where compilers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompilerFamily {
    /// gcc and compatible compilers.
    Gcc,
    /// clang, which warns about unused flags.
    Clang,
}

/// The parsed command line of cc, gcc or clang.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompileCommand {
    /// All words after the compiler, unchanged.
    pub words: Vec<String>,
    /// The C sources, as indices into `words`.
    pub sources: Vec<usize>,
    /// The C++ and other sources without probes, as indices into `words`.
    pub foreign: Vec<usize>,
    /// Those of them that are C++.
    pub cxx: Vec<usize>,
    /// True if it stops before linking (`-c`, `-S`).
    pub stops_early: bool,
    /// True if it compiles nothing: it only preprocesses, lists or queries.
    pub compiles_nothing: bool,
    /// The output file.
    pub output: Option<String>,
    /// The obstacle, if the command is not supported.
    pub unsupported: Option<ProbeObstacle>,
}

/// Flags whose argument is the next word.
const FLAGS_WITH_ARGUMENT: [&str; 28] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-T",
    "-u",
    "-z",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-aux-info",
    "-arch",
    "-target",
    "--param",
];

impl CompileCommand {
    /// Parses the words after the compiler's name. A C++ compiler compiles C sources as C++.
    pub fn new(compiler: &str, words: &[String]) -> CompileCommand {
        let name = Path::new(compiler).file_name().and_then(|name| name.to_str()).unwrap_or(compiler);
        let own = if name.contains("++") { "cc" } else { "c" };
        let mut made = CompileCommand { words: words.to_vec(), ..CompileCommand::default() };
        let mut language: Option<&str> = None;
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_str();
            match word {
                "-c" | "-S" => made.stops_early = true,
                "-E" | "-M" | "-MM" | "-fsyntax-only" | "--version" | "-v" | "-dumpversion" | "-dumpmachine"
                | "-###" => {
                    made.compiles_nothing |= !(word == "-v" && words.len() > 1);
                }
                "-x" => language = words.get(at + 1).map(String::as_str),
                "-o" => made.output = words.get(at + 1).cloned(),
                "-" => made.unsupported = Some(ProbeObstacle::FromStandardInput),
                _ if word.starts_with("-print-") || word.starts_with("-dump") => made.compiles_nothing = true,
                _ if word.starts_with("-o") && word.len() > 2 => made.output = Some(word[2..].to_string()),
                _ if word.starts_with("-x") && word.len() > 2 => language = Some(&word[2..]),
                _ if word.starts_with('@') => {
                    made.unsupported = Some(ProbeObstacle::ArgumentsFromFile(word[1..].to_string()))
                }
                _ if !word.starts_with('-') => made.source(at, word, language, own),
                _ => {}
            }
            at += if FLAGS_WITH_ARGUMENT.contains(&word) { 2 } else { 1 };
        }
        made
    }

    /// Adds a source; `own` is the extension that the compiler assumes for `.c`.
    fn source(&mut self, at: usize, word: &str, language: Option<&str>, own: &str) {
        let extension = Path::new(word).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = match language {
            Some("c") => "c",
            Some("c++") => "cc",
            None | Some("none") if extension == "c" => own,
            None | Some("none") => extension,
            Some(_) => return,
        };
        match extension {
            "c" => self.sources.push(at),
            "cc" | "cpp" | "cxx" | "C" | "c++" | "cp" | "CPP" => {
                self.foreign.push(at);
                self.cxx.push(at);
            }
            "i" | "m" | "mm" | "ii" => self.foreign.push(at),
            _ => {}
        }
    }

    /// Returns the object file of a source.
    pub fn object(&self, source: &str) -> PathBuf {
        match &self.output {
            Some(output) if self.stops_early => PathBuf::from(output),
            _ => PathBuf::from(Path::new(source).file_stem().unwrap_or_default()).with_extension("o"),
        }
    }

    /// Returns the command that preprocesses one source. It also writes dependencies, if it can do so as the whole
    /// command would.
    pub fn preprocess(&self, source: &str, family: CompilerFamily) -> Vec<String> {
        let mut words = vec!["-E".to_string()];
        words.extend(self.dependencies_when_preprocessed(family).unwrap_or_default());
        words.extend((family == CompilerFamily::Clang).then(|| "-Qunused-arguments".to_string()));
        words.extend(self.for_one_source());
        if !self.is_cxx(source) {
            if self.words.iter().any(|word| word.starts_with("-D_FORTIFY_SOURCE")) {
                words.push("-U_FORTIFY_SOURCE".to_string());
            }
            // Otherwise the macros of ctype.h would become code to cover.
            words.push("-D__NO_CTYPE".to_string());
        }
        words.extend(self.as_input(source));
        words
    }

    /// Returns the command that compiles one source unchanged for its diagnostics. It only writes `output`.
    pub fn check(&self, source: &str, output: &Path, family: CompilerFamily) -> Vec<String> {
        let mut words = vec!["-S".to_string()];
        words.extend((family == CompilerFamily::Clang && !self.stops_early).then(|| "-Qunused-arguments".to_string()));
        words.extend(self.for_one_source());
        words.extend(["-o".to_string(), output.to_string_lossy().into_owned()]);
        words.extend(self.as_input(source));
        words
    }

    /// Returns the command that only writes the dependencies of all sources, if they are requested. It is based on the
    /// user's command, because compilers name these files differently.
    pub fn dependencies(&self) -> Option<Vec<String>> {
        self.words.iter().find(|word| writes_dependencies(word))?;
        let object =
            |at: usize| !self.words[at].starts_with('-') && !self.sources.contains(&at) && is_object(&self.words[at]);
        let kept =
            (0..self.words.len()).filter(|at| self.is_value(*at) || !object(*at)).map(|at| self.words[at].clone());
        Some(std::iter::once("-fsyntax-only".to_string()).chain(kept).collect())
    }

    /// Returns true if the preprocessor writes the requested dependencies.
    pub fn preprocessor_writes_dependencies(&self, family: CompilerFamily) -> bool {
        self.dependencies_when_preprocessed(family).is_some()
    }

    /// Returns the flags with which the preprocessor writes the same dependencies as gcc does while it compiles one
    /// source; by default it would name the file and its target differently. Returns `None` if none are requested, or
    /// if they could differ.
    fn dependencies_when_preprocessed(&self, family: CompilerFamily) -> Option<Vec<String>> {
        let has = |flag: &str| self.words.iter().any(|word| word.starts_with(flag));
        let is_one = self.sources.len() == 1 && self.foreign.is_empty();
        let plain = self.words.iter().any(|word| word == "-c") && !self.words.iter().any(|word| word == "-S");
        let other = has("-Wp,") || has("-MG") || has("-D_FORTIFY_SOURCE") || has("-save-temps");
        if family != CompilerFamily::Gcc
            || !is_one
            || !plain
            || other
            || !self.words.iter().any(|word| writes_dependencies(word))
        {
            return None;
        }
        let mut words = Vec::new();
        self.each(|word, value| {
            if about_dependencies(word) {
                words.push(word.to_string());
                words.extend(value.map(str::to_string));
            }
        });
        let object = self.object(&self.words[self.sources[0]]);
        if !has("-MF") {
            words.extend(["-MF".to_string(), object.with_extension("d").to_string_lossy().into_owned()]);
        }
        if !has("-MT") && !has("-MQ") {
            words.extend(["-MQ".to_string(), object.to_string_lossy().into_owned()]);
        }
        Some(words)
    }

    /// Returns a source as a compiler argument, with its language.
    fn as_input(&self, source: &str) -> Vec<String> {
        let language = match (self.is_cxx(source), self.sources.iter().any(|at| self.words[*at] == source)) {
            (true, _) => Some("c++"),
            (false, true) => Some("c"),
            (false, false) => None,
        };
        let language = language.map(|language| ["-x".to_string(), language.to_string()]);
        language.into_iter().flatten().chain([source.to_string()]).collect()
    }

    /// Returns the flags that matter for a single source.
    fn for_one_source(&self) -> Vec<String> {
        let mut words = Vec::new();
        self.each(|word, value| {
            let linking = ["-l", "-L", "-Wl,"].iter().any(|flag| word.starts_with(flag));
            let placing = matches!(word, "-c" | "-S") || word.starts_with("-o") || word.starts_with("-x");
            if !linking && !placing && !about_dependencies(word) && !leaves_files(word) {
                words.push(word.to_string());
                words.extend(value.map(str::to_string));
            }
        });
        words
    }

    /// Returns true if a source is C++.
    pub fn is_cxx(&self, source: &str) -> bool {
        self.cxx.iter().any(|at| self.words[*at] == source)
    }

    /// Returns the command that only parses all sources, for their diagnostics. With gcc it also writes dependencies;
    /// clang names them differently without an output.
    pub fn parse(&self, family: CompilerFamily) -> Vec<String> {
        let clang = family == CompilerFamily::Clang;
        let mut words = vec!["-fsyntax-only".to_string()];
        // Flags for the linker are not superfluous in a command that links.
        words.extend((clang && !self.stops_early).then(|| "-Qunused-arguments".to_string()));
        let mut at = 0;
        while at < self.words.len() {
            let word = self.words[at].as_str();
            let wide = FLAGS_WITH_ARGUMENT.contains(&word);
            let input = !word.starts_with('-') && !self.sources.contains(&at) && !self.foreign.contains(&at);
            let placing = matches!(word, "-c" | "-S") || (word.starts_with("-o") && !word.starts_with("-ob"));
            let dropped =
                (input && is_object(word)) || leaves_files(word) || (clang && (placing || about_dependencies(word)));
            if !dropped {
                words.push(word.to_string());
                words.extend(self.words.get(at + 1).filter(|_| wide).cloned());
            }
            at += if wide { 2 } else { 1 };
        }
        words
    }

    /// Returns true if the command requests additional warnings.
    pub fn asks_for_warnings(&self) -> bool {
        let asks = |word: &String| {
            let passed_on = ["-Wl,", "-Wp,", "-Wa,", "-Wno-"].iter().any(|flag| word.starts_with(flag));
            (word.starts_with("-W") && !passed_on) || word.starts_with("-pedantic")
        };
        !self.is_silent() && self.words.iter().any(asks)
    }

    /// Returns true if the command suppresses all warnings.
    pub fn is_silent(&self) -> bool {
        self.words.iter().any(|word| word == "-w")
    }

    /// Returns the flags that select the target machine.
    pub fn machine(&self) -> Vec<String> {
        let mut words = Vec::new();
        self.each(|word, value| {
            let flags = ["-m", "--target", "-target", "--sysroot", "-isysroot", "-B", "-fcf-protection"];
            if flags.iter().any(|flag| word.starts_with(flag)) {
                words.push(word.to_string());
                words.extend(value.map(str::to_string));
            }
        });
        words
    }

    /// Returns true if units are merged after compilation, which assembly in them would prevent.
    pub fn merges_units(&self) -> bool {
        let merging = |word: &String| word.starts_with("-flto") || word == "-emit-llvm" || word == "-fwhole-program";
        self.words.iter().any(merging)
    }

    /// Returns the files that the command writes.
    pub fn outputs(&self) -> Vec<PathBuf> {
        match (&self.output, self.stops_early) {
            (Some(output), _) => vec![PathBuf::from(output)],
            (None, false) => vec![PathBuf::from("a.out")],
            (None, true) => {
                let extension = if self.words.iter().any(|word| word == "-S") { "s" } else { "o" };
                let stem = |at: &usize| Path::new(&self.words[*at]).file_stem().map(PathBuf::from);
                let stems = self.sources.iter().chain(&self.foreign).filter_map(stem);
                stems.map(|stem| stem.with_extension(extension)).collect()
            }
        }
    }

    /// Returns the command with other, preprocessed sources. Warnings are not treated as errors.
    pub fn compile(&self, with: &[(usize, PathBuf)], family: CompilerFamily) -> Vec<String> {
        let mut words = Vec::new();
        words.extend((family == CompilerFamily::Clang).then(|| "-Qunused-arguments".to_string()));
        let mut at = 0;
        while at < self.words.len() {
            let word = self.words[at].as_str();
            let wide = FLAGS_WITH_ARGUMENT.contains(&word);
            let dropped = matches!(word, "-include" | "-imacros" | "-x")
                || about_dependencies(word)
                || word.starts_with("-Wp,")
                || word.starts_with("-fdump-")
                || matches!(word, "-Werror" | "-Wfatal-errors")
                || (word.starts_with("-x") && word.len() > 2);
            if let Some((_, path)) = with.iter().find(|(position, _)| *position == at) {
                words.push(path.to_string_lossy().into_owned());
            } else if !dropped {
                words.push(only_warning(word));
                words.extend(self.words.get(at + 1).filter(|_| wide).cloned());
            }
            at += if wide { 2 } else { 1 };
        }
        words
    }

    /// Returns true if a word is the argument of the flag before it.
    fn is_value(&self, at: usize) -> bool {
        let mut flag = 0;
        while flag < at {
            let wide = FLAGS_WITH_ARGUMENT.contains(&self.words[flag].as_str());
            if wide && flag + 1 == at {
                return true;
            }
            flag += if wide { 2 } else { 1 };
        }
        false
    }

    /// Returns the flags with which clang reads the source: language, macros, directories.
    pub fn meaning(&self) -> Vec<String> {
        self.meaning_without(&BTreeSet::new())
    }

    /// Returns the same without some macros.
    pub fn meaning_without(&self, macros: &BTreeSet<String>) -> Vec<String> {
        let mut words = Vec::new();
        self.each(|word, value| {
            let defined = word.strip_prefix("-D").or_else(|| word.strip_prefix("-U"));
            let defined = defined.map(|name| if name.is_empty() { value.unwrap_or_default() } else { name });
            if defined.is_some_and(|name| macros.contains(name.split(['=', '(']).next().unwrap_or_default())) {
                return;
            }
            let kept = ["-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot"];
            if kept.iter().any(|flag| word.starts_with(flag)) || is_language(word) {
                words.push(word.to_string());
                words.extend(value.map(str::to_string));
            }
        });
        words
    }

    /// Returns the instruction order that the last optimisation flag implies. Sanitizers need the order of the source.
    pub fn order(&self) -> InstructionOrder {
        let last = self.words.iter().rev().find_map(|word| word.strip_prefix("-O"));
        let sanitizes = self.words.iter().any(|word| word.starts_with("-fsanitize"));
        match last {
            Some("0") | None => InstructionOrder::Kept,
            Some(_) if sanitizes => InstructionOrder::Kept,
            Some(_) => InstructionOrder::Optimised,
        }
    }

    /// Returns the macros that are defined and undefined, as flags: `-DNAME=1`.
    pub fn macros(&self) -> Vec<String> {
        let mut words = Vec::new();
        self.each(|word, value| {
            if word.starts_with("-D") || word.starts_with("-U") {
                words.push(format!("{word}{}", value.unwrap_or_default()));
            }
        });
        words
    }

    /// Returns the flags by which variants of a source are told apart: macros and the standard of the language.
    pub fn distinguishing_flags(&self) -> Vec<String> {
        let standards = self.language().into_iter().filter(|word| word.starts_with("-std="));
        self.macros().into_iter().chain(standards).collect()
    }

    /// Returns those of them that matter for preprocessed text.
    pub fn language(&self) -> Vec<String> {
        let mut words = Vec::new();
        self.each(|word, _| words.extend(is_language(word).then(|| word.to_string())));
        words
    }

    /// Calls `each` for every flag with its argument, without sources.
    fn each(&self, mut each: impl FnMut(&str, Option<&str>)) {
        let mut at = 0;
        while at < self.words.len() {
            let word = self.words[at].as_str();
            let wide = FLAGS_WITH_ARGUMENT.contains(&word);
            if word.starts_with('-') {
                each(word, self.words.get(at + 1).filter(|_| wide).map(String::as_str));
            }
            at += if wide { 2 } else { 1 };
        }
    }
}

/// Converts a flag that turns warnings into errors to one that only requests the warnings.
fn only_warning(word: &str) -> String {
    match word.strip_prefix("-Werror=") {
        Some(kind) => format!("-W{kind}"),
        None if word == "-pedantic-errors" => "-pedantic".to_string(),
        None => word.to_string(),
    }
}

/// Returns true for a flag that writes dependencies during compilation.
fn writes_dependencies(word: &str) -> bool {
    matches!(word, "-MD" | "-MMD") || word.starts_with("-Wp,-MD") || word.starts_with("-Wp,-MMD")
}

/// Returns true for such a flag, or one that configures it.
fn about_dependencies(word: &str) -> bool {
    writes_dependencies(word)
        || matches!(word, "-MP" | "-MG")
        || ["-MF", "-MT", "-MQ"].iter().any(|flag| word.starts_with(flag))
}

/// Returns true for a flag that writes additional files.
fn leaves_files(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    word.starts_with("-save-temps") || word.starts_with("save-temps") || word.starts_with("fdump-")
}

fn is_object(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "o" | "a" | "so" | "lo") || word.contains(".so.")
}

/// Returns true for a flag that changes the language.
fn is_language(word: &str) -> bool {
    const FLAGS: [&str; 13] = [
        "-ansi",
        "-m32",
        "-m64",
        "-mx32",
        "-fsigned-char",
        "-funsigned-char",
        "-fshort-enums",
        "-fms-extensions",
        "-fgnu89-inline",
        "-fno-builtin",
        "-ffreestanding",
        "-nostdinc",
        "-pthread",
    ];
    word.starts_with("-std=") || word.starts_with("--sysroot") || FLAGS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> CompileCommand {
        CompileCommand::new("cc", &text.split(' ').map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn sources_are_told_from_objects_and_flags() {
        let check = |text: &str, sources: &[&str], nothing: bool| {
            let made = command(text);
            let found: Vec<&str> = made.sources.iter().map(|at| made.words[*at].as_str()).collect();
            assert_eq!((found.as_slice(), made.compiles_nothing), (sources, nothing), "{text}");
        };
        check("-c a.c -o a.o", &["a.c"], false);
        check("a.c b.c lib.a -o prog -lm", &["a.c", "b.c"], false);
        check("-E a.c", &["a.c"], true);
        check("--version", &[], true);
        check("-I inc.c -c x.c", &["x.c"], false);
        check("a.o b.o -o prog", &[], false);
    }

    #[test]
    fn a_compiler_of_cxx_takes_c_for_cxx() {
        let check = |compiler: &str, text: &str, sources: &[&str], cxx: &[&str]| {
            let made = CompileCommand::new(compiler, &text.split(' ').map(str::to_string).collect::<Vec<_>>());
            let named = |list: &[usize]| list.iter().map(|at| made.words[*at].clone()).collect::<Vec<_>>();
            assert_eq!(named(&made.sources), sources, "{compiler} {text}");
            assert_eq!(named(&made.cxx), cxx, "{compiler} {text}");
        };
        check("gcc", "-c a.c b.cc", &["a.c"], &["b.cc"]);
        check("/usr/bin/g++", "a.c b.cpp x.o", &[], &["a.c", "b.cpp"]);
        check("clang++-19", "-x c a.c", &["a.c"], &[]);
        check("cc", "-x c++ a.c -x none b.c", &["b.c"], &["a.c"]);
    }

    #[test]
    fn the_last_flag_says_whether_the_compiler_optimises() {
        let check = |text: &str, order: InstructionOrder| assert_eq!(command(text).order(), order, "{text}");
        check("-c a.c", InstructionOrder::Kept);
        check("-O2 -O0 -c a.c", InstructionOrder::Kept);
        check("-O0 -Os -c a.c", InstructionOrder::Optimised);
        check("-O -c a.c", InstructionOrder::Optimised);
        check("-O1 -fsanitize=address -c a.c", InstructionOrder::Kept);
    }

    #[test]
    fn one_command_becomes_several() {
        let made = command("-MMD -O2 -Wall -Iinc -c src/a.c -o out/a.o");
        let words = made.preprocess("src/a.c", CompilerFamily::Gcc).join(" ");
        assert_eq!(words, "-E -MMD -MF out/a.d -MQ out/a.o -O2 -Wall -Iinc -D__NO_CTYPE -x c src/a.c");
        let words = made.preprocess("src/a.c", CompilerFamily::Clang).join(" ");
        assert_eq!(words, "-E -Qunused-arguments -O2 -Wall -Iinc -D__NO_CTYPE -x c src/a.c");
        let words = made.check("src/a.c", Path::new("t/a.s"), CompilerFamily::Gcc).join(" ");
        assert_eq!(words, "-S -O2 -Wall -Iinc -o t/a.s -x c src/a.c");
        let words = made.dependencies().expect("they are asked for").join(" ");
        assert_eq!(words, "-fsyntax-only -MMD -O2 -Wall -Iinc -c src/a.c -o out/a.o");
        assert_eq!(command("-MFx.d -O2 a.c").dependencies(), None);
        let compile = made.compile(&[(5, PathBuf::from("t/a.i"))], CompilerFamily::Gcc).join(" ");
        assert_eq!(compile, "-O2 -Wall -Iinc -c t/a.i -o out/a.o");
        assert_eq!(made.meaning(), ["-Iinc"]);
        let made = command("-Werror -Werror=format -MMD a.c x.o -lm -o p");
        assert_eq!(
            made.parse(CompilerFamily::Clang).join(" "),
            "-fsyntax-only -Qunused-arguments -Werror -Werror=format a.c -lm"
        );
        assert_eq!(made.parse(CompilerFamily::Gcc).join(" "), "-fsyntax-only -Werror -Werror=format -MMD a.c -lm -o p");
        let compile = made.compile(&[(3, PathBuf::from("a.i"))], CompilerFamily::Clang).join(" ");
        assert_eq!(compile, "-Qunused-arguments -Wformat a.i x.o -lm -o p");
    }
}
