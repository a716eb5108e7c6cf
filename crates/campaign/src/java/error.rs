//! Errors of reading a Java program.

use crate::externals::java::SayingError;
use std::path::PathBuf;
use touchstone_front_java::{JdkError, ProgramError};

/// Why a Java program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    /// The JDK can't be used, or its compiler refuses the source.
    #[error(transparent)]
    Jdk(#[from] JdkError),
    /// A class can't be loaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A class file is none.
    #[error("{}: {why}", file.display())]
    NoClassFile {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A file is of another kind.
    #[error("{}: a Java program is made of .java files, .class files, jars and directories of them", .0.display())]
    OtherFile(PathBuf),
    /// A file is not there.
    #[error("{}: no such file", .0.display())]
    NoFile(PathBuf),
    /// A part of the class path is not there.
    #[error("{}: no such jar or directory; it is part of --class-path", .0.display())]
    NoLibrary(PathBuf),
    /// No class can be loaded.
    #[error("can't load the class {class}: {reason}{}", needs(*.others))]
    NoneLoads {
        /// The first one.
        class: String,
        /// Why not.
        reason: String,
        /// How many others.
        others: usize,
    },
    /// What is said of methods without code can't be used.
    #[error(transparent)]
    Saying(#[from] SayingError),
    /// There is nothing to read.
    #[error("no class is in {}", .0.display())]
    NoClass(PathBuf),
}

fn needs(others: usize) -> String {
    let others = if others > 0 { format!(", nor {others} more") } else { String::new() };
    format!("{others}; give what the program needs with --class-path")
}
