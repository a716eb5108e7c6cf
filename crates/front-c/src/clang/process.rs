//! Location and execution of clang.

use crate::clang::options::Options;
use crate::clang::watchdog::{ChildOutput, Watchdog};
use crate::error::FrontError;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use touchstone_base::Deadline;

const OLDEST_VERSION: u32 = 14;
const NEWEST_VERSION: u32 = 40;

/// The path of clang, and its deadline.
pub(crate) struct Clang {
    pub program: PathBuf,
    deadline: Deadline,
}

/// Finds the clang to use: the one of the options, `TOUCHSTONE_CLANG`, `clang`, or the newest `clang-NN` on the path.
pub(crate) fn find(options: &Options) -> Result<Clang, FrontError> {
    find_program(options.clang.clone()).map(|program| Clang { program, deadline: options.deadline })
}

fn find_program(asked: Option<PathBuf>) -> Result<PathBuf, FrontError> {
    let asked = asked.or_else(|| std::env::var_os("TOUCHSTONE_CLANG").map(PathBuf::from));
    if let Some(path) = asked {
        let found =
            if path.components().count() > 1 { is_program(&path).then(|| path.clone()) } else { on_path(&path) };
        return found.ok_or(FrontError::ClangNotFound { tried: Some(path) });
    }
    std::iter::once("clang".to_string())
        .chain((OLDEST_VERSION..=NEWEST_VERSION).rev().map(|version| format!("clang-{version}")))
        .find_map(|name| on_path(Path::new(&name)))
        .ok_or(FrontError::ClangNotFound { tried: None })
}

pub(super) fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// An input of clang.
#[derive(Clone, Copy)]
pub(crate) enum ClangInput<'a> {
    /// A file.
    File(&'a Path),
    /// A C++ file.
    Cxx(&'a Path),
    /// A text without a file, passed on standard input.
    Text(&'a str),
}

impl ClangInput<'_> {
    /// Returns its name in messages.
    fn name(self) -> PathBuf {
        match self {
            ClangInput::File(file) | ClangInput::Cxx(file) => file.to_path_buf(),
            ClangInput::Text(_) => PathBuf::from("<library>"),
        }
    }
}

/// A running clang with its pipes.
pub(crate) struct ClangRun {
    clang: PathBuf,
    input: PathBuf,
    child: Watchdog,
    stdout: Option<ChildOutput>,
    stderr: JoinHandle<Vec<u8>>,
    stdin: Option<JoinHandle<()>>,
}

/// Starts `clang -fsyntax-only -Xclang ACTION FLAGS INPUT`.
pub(crate) fn start(
    clang: &Clang,
    action: &str,
    flags: &[String],
    input: ClangInput<'_>,
) -> Result<ClangRun, FrontError> {
    let failed = |source| FrontError::ClangFailed { clang: clang.program.clone(), source };
    let mut command = with_deep_stack(&clang.program);
    command.args(words(action, flags, input));
    command.stdin(if matches!(input, ClangInput::Text(_)) { Stdio::piped() } else { Stdio::null() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let stdin = match (input, child.stdin.take()) {
        (ClangInput::Text(text), Some(mut pipe)) => {
            let text = text.to_string();
            // A clang that stops reading closes the pipe; its message gives the reason.
            Some(std::thread::spawn(move || drop(pipe.write_all(text.as_bytes()))))
        }
        _ => None,
    };
    let mut pipe = child.stderr.take();
    let stderr = std::thread::spawn(move || {
        let mut message = Vec::new();
        if let Some(pipe) = &mut pipe {
            // On an error, the part that was read is the best message available.
            let _ = pipe.read_to_end(&mut message);
        }
        message
    });
    let stdout = child.stdout.take().map(|pipe| ChildOutput::new(pipe, clang.deadline));
    let child = Watchdog::new(child, clang.deadline);
    Ok(ClangRun { clang: clang.program.clone(), input: input.name(), child, stdout, stderr, stdin })
}

/// Returns the arguments of clang: `-fsyntax-only -Xclang ACTION FLAGS INPUT`.
pub(crate) fn words(action: &str, flags: &[String], input: ClangInput<'_>) -> Vec<OsString> {
    const FIRST: [&str; 11] = [
        "-fsyntax-only",
        "-w",
        "-fno-color-diagnostics",
        "-Qunused-arguments",
        // Errors of newer clangs only: old code that other compilers accept.
        "-Wno-error=implicit-function-declaration",
        "-Wno-error=implicit-int",
        "-Wno-error=int-conversion",
        "-Wno-error=incompatible-function-pointer-types",
        "-Wno-error=incompatible-pointer-types",
        "-Wno-error=return-type",
        "-Wno-error=return-mismatch",
    ];
    let mut words: Vec<OsString> = FIRST.iter().copied().chain(["-Xclang", action]).map(OsString::from).collect();
    if is_gcc(flags) {
        // Before the user's flags, which may override them.
        words.extend(CLANG_ONLY_MACROS.map(OsString::from));
    }
    words.extend(flags.iter().map(OsString::from));
    // Other compilers accept any nesting. Without the other flags, glibc's headers replace functions by tables and
    // inline bodies that can't be lowered.
    words.extend(["-fbracket-depth=100000", "-O0", "-D__NO_CTYPE", "-x"].map(OsString::from));
    let (language, input) = match input {
        ClangInput::File(file) => ("c", guarded(file)),
        ClangInput::Cxx(file) => ("c++", guarded(file)),
        ClangInput::Text(_) => ("c", PathBuf::from("-")),
    };
    words.extend([OsString::from(language), input.into_os_string()]);
    words
}

/// Returns a command with a larger stack: clang recurses into nested code, and a thousand `?:` overflow the usual 8 MB.
/// The limit is raised for this command only, because child processes would inherit Touchstone's own.
pub(crate) fn with_deep_stack(program: &Path) -> Command {
    const SCRIPT: &str =
        "ulimit -s 1048576 2>/dev/null || ulimit -s \"$(ulimit -H -s)\" 2>/dev/null; exec \"$0\" \"$@\"";
    // Without a shell, or if the shell would resolve the name differently, it is run directly.
    if !is_program(Path::new("/bin/sh")) || !is_program(program) {
        return Command::new(program);
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).arg(program);
    command
}

/// The prefix of the flag that names the version of the gcc that translates the program.
pub(super) const GNU_VERSION: &str = "-fgnuc-version=";

/// Undefines macros that clang defines and gcc does not: if gcc translates the program, `#ifdef __clang__` is false.
const CLANG_ONLY_MACROS: [&str; 6] = [
    "-U__clang__",
    "-U__clang_major__",
    "-U__clang_minor__",
    "-U__clang_patchlevel__",
    "-U__clang_version__",
    "-U__llvm__",
];

/// Returns true if the flags say that gcc translates the program.
pub(crate) fn is_gcc(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with(GNU_VERSION))
}

/// Protects a relative path that starts with a dash from being parsed as a flag.
fn guarded(file: &Path) -> PathBuf {
    if file.as_os_str().to_string_lossy().starts_with('-') { Path::new(".").join(file) } else { file.to_path_buf() }
}

impl ClangRun {
    /// Takes its standard output.
    pub fn output(&mut self) -> Option<ChildOutput> {
        self.stdout.take()
    }

    /// Waits for the end of clang; returns its message if it failed.
    pub fn finish(mut self) -> Result<Result<(), String>, FrontError> {
        if let Some(mut pipe) = self.stdout.take() {
            // The rest is not needed, but clang must be able to write it.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let ended = self.child.wait().map_err(|source| FrontError::ClangFailed { clang: self.clang, source })?;
        // Other processes may still hold its pipes; they are not waited for.
        let Some(status) = ended else { return Err(FrontError::TookTooLong { file: self.input }) };
        if let Some(writer) = self.stdin {
            let _ = writer.join();
        }
        let message = self.stderr.join().unwrap_or_default();
        let mut message = String::from_utf8_lossy(&message).into_owned();
        if status.code().is_none() {
            // A crash leaves no message.
            message += &format!("clang was ended ({status}): the file may be nested too deep for it\n");
        }
        Ok(if status.success() { Ok(()) } else { Err(message) })
    }
}

/// Runs clang and returns its output, or its message if it failed.
pub(crate) fn capture(
    clang: &Clang,
    action: &str,
    flags: &[String],
    input: ClangInput<'_>,
) -> Result<Result<String, String>, FrontError> {
    let mut run = start(clang, action, flags, input)?;
    let mut text = Vec::new();
    let read = run.output().map_or(Ok(0), |mut output| output.read_to_end(&mut text));
    let finished = run.finish()?;
    read.map_err(|source| FrontError::ClangFailed { clang: clang.program.clone(), source })?;
    Ok(finished.map(|()| String::from_utf8_lossy(&text).into_owned()))
}
