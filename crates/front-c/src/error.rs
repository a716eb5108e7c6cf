//! What can go wrong before there is a program. Constructs that are not supported are *not* here: they are terminators
//! of the IR.

use std::path::PathBuf;

/// Why a program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// There is no clang.
    #[error(
        "clang was not found{}. Install it (for example `apt-get install clang-19`; any version from 14 on will do), or set \
         TOUCHSTONE_CLANG to its path",
        .tried.as_ref().map(|path| format!(" at `{}`", path.display())).unwrap_or_default()
    )]
    ClangNotFound {
        /// The path that was asked for by option or environment, if any.
        tried: Option<PathBuf>,
    },
    /// clang is there, but it could not be run.
    #[error("could not run `{}`: {source}", clang.display())]
    ClangFailed {
        /// The clang that was run.
        clang: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A source file can't be read.
    #[error("cannot read `{}`: {source}", file.display())]
    NotReadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A directory was given where a file is needed.
    #[error("`{}` is a directory; give a C file", file.display())]
    IsDirectory {
        /// The directory.
        file: PathBuf,
    },
    /// clang refuses the file; its own message.
    #[error("`{}` does not compile:\n{stderr}{}", file.display(), gnu_construct(.stderr))]
    DoesNotCompile {
        /// The file.
        file: PathBuf,
        /// clang's message, verbatim.
        stderr: String,
    },
    /// clang was ended when the time was over.
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
    /// compile_commands.json can't be used.
    #[error("cannot use `{}`: {why}", file.display())]
    BadCompileCommands {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// clang's AST is not what we know of it.
    #[error("clang's AST of `{}` has an unexpected form at {at}: {what}", file.display())]
    UnexpectedAst {
        /// The file.
        file: PathBuf,
        /// What was met.
        what: String,
        /// Where.
        at: String,
    },
}

/// What clang does not know of GNU C, by its message: it is no mistake of the program.
fn gnu_construct(stderr: &str) -> String {
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
