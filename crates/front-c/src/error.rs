//! Errors that prevent a program from being read. Unsupported constructs are *not* here: they are terminators of the
//! IR.

use std::path::PathBuf;

/// The reason why a program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// clang is not installed.
    #[error(
        "clang was not found{}. Install it (for example `apt-get install clang-19`; any version from 14 on will do), or set \
         TOUCHSTONE_CLANG to its path",
        .tried.as_ref().map(|path| format!(" at `{}`", path.display())).unwrap_or_default()
    )]
    ClangNotFound {
        /// The path given by option or environment variable, if any.
        tried: Option<PathBuf>,
    },
    /// clang exists but could not be executed.
    #[error("could not run `{}`: {source}", clang.display())]
    ClangFailed {
        /// The clang that was run.
        clang: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A source file can't be read.
    #[error("cannot read `{}`: {source}", file.display())]
    NotReadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A directory was given where a file is needed.
    #[error("`{}` is a directory; give a C file", file.display())]
    IsDirectory {
        /// The directory.
        file: PathBuf,
    },
    /// clang rejects the file.
    #[error("`{}` does not compile:\n{stderr}{}", file.display(), gnu_extensions(.stderr))]
    DoesNotCompile {
        /// The file.
        file: PathBuf,
        /// clang's message, verbatim.
        stderr: String,
    },
    /// clang reached its deadline and was killed.
    #[error(
        "clang took too long to read `{}` and was ended; give more time with --timeout (reading may take ten times as \
         long and half a minute)",
        file.display()
    )]
    TookTooLong {
        /// The file.
        file: PathBuf,
    },
    /// Two files define the same external name.
    #[error("`{name}` is defined twice: at {first} and at {second}")]
    DuplicateDefinition {
        /// The name.
        name: String,
        /// `file:line:column` of the first definition.
        first: String,
        /// `file:line:column` of the second definition.
        second: String,
    },
    /// A flag selects a target whose types are unknown.
    #[error(
        "`{flag}` selects another target than x86-64 Linux, the only one whose types and layouts Touchstone knows, so that \
         verdicts would be wrong. Leave the flag out to analyse the program as x86-64 code"
    )]
    OtherTarget {
        /// The flag.
        flag: String,
    },
    /// A flag changes the meaning of the program and is not honoured.
    #[error(
        "`{flag}` {effect}, which is not supported, so that verdicts would be wrong. Leave the flag out to analyse the program \
         without it"
    )]
    RefusedFlag {
        /// The flag.
        flag: &'static str,
        /// The effect of the flag.
        effect: &'static str,
    },
    /// compile_commands.json is unusable.
    #[error("cannot use `{}`: {why}", file.display())]
    BadCompileCommands {
        /// The file.
        file: PathBuf,
        /// The problem with the file.
        why: String,
    },
    /// clang's AST has an unexpected form.
    #[error("clang's AST of `{}` has an unexpected form at {at}: {what}", file.display())]
    UnexpectedAst {
        /// The file.
        file: PathBuf,
        /// The unexpected part.
        what: String,
        /// The location in clang's output.
        at: String,
    },
}

/// Names the constructs of GNU C in clang's message that clang does not support: they are no errors of the program.
fn gnu_extensions(stderr: &str) -> String {
    let named = [
        ("function definition is not allowed here", "nested function"),
        ("'variable length array in structure'", "variable-length array in a structure"),
        ("GNU decimal type extension not supported", "decimal float"),
        ("__builtin_shuffle", "__builtin_shuffle"),
        ("array is too large", "array as large as half of the memory"),
        ("initialization of flexible array member is not allowed", "initialised flexible array member in a union"),
    ];
    let found = named.iter().filter(|(message, _)| stderr.contains(message));
    found
        .map(|(_, what)| format!("unsupported: {what} (clang, which reads programs here, does not know it)\n"))
        .collect()
}
