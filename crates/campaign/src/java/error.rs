//! Errors of reading a Java program.

use crate::externals::java::JavaSpecError;
use std::path::PathBuf;
use touchstone_front_java::{JdkError, ProgramError};

/// An error of reading a Java program.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    /// The JDK cannot be used, or its compiler rejects the source.
    #[error(transparent)]
    Jdk(#[from] JdkError),
    /// A class cannot be loaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A class file is malformed.
    #[error("{}: {why}", file.display())]
    NoClassFile {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file is of an unknown kind.
    #[error("{}: a Java program consists of .java files, .class files, jars and directories of them", .0.display())]
    OtherFile(PathBuf),
    /// A file does not exist.
    #[error("{}: no such file", .0.display())]
    NoFile(PathBuf),
    /// An entry of the class path does not exist.
    #[error("{}: no such jar or directory; it is part of --class-path", .0.display())]
    NoLibrary(PathBuf),
    /// No class can be loaded.
    #[error("can't load the class {class}: {reason}{}", needs(*.others))]
    NoneLoads {
        /// The first class.
        class: String,
        /// The reason.
        reason: String,
        /// The number of other classes.
        others: usize,
    },
    /// A specification of an abstract method cannot be used.
    #[error(transparent)]
    Specification(#[from] JavaSpecError),
    /// The files contain no class.
    #[error("no class is in {}", .0.display())]
    NoClass(PathBuf),
}

fn needs(others: usize) -> String {
    let others = if others > 0 { format!(", nor {others} more") } else { String::new() };
    format!("{others}; give what the program needs with --class-path")
}
