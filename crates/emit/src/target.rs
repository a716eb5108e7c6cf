//! What tests are compiled against and run on, by language.

use crate::{Build, EmitError, JavaTarget, Replayed};
use std::path::Path;
use touchstone_criteria::TestCase;
use touchstone_ir::{FuncId, Module};

/// What tests are compiled against and run on.
#[derive(Debug)]
pub enum Target {
    /// C sources and a compiler.
    C(Box<Build>),
    /// Java classes and a JVM.
    Java(Box<JavaTarget>),
}

impl Target {
    /// The build, if the program is C.
    pub fn c(&self) -> Option<&Build> {
        match self {
            Target::C(build) => Some(build),
            Target::Java(_) => None,
        }
    }

    /// The classes, if the program is Java.
    pub fn java(&self) -> Option<&JavaTarget> {
        match self {
            Target::Java(target) => Some(target),
            Target::C(_) => None,
        }
    }

    /// Makes ready what every replay needs, so that it is there when the first test is.
    pub fn prepare(&self, module: &Module) {
        match self {
            Target::C(build) => build.prepare(module),
            Target::Java(target) => target.jvm.prepare(),
        }
    }

    /// What nothing keeps replayed tests from, as a sentence.
    pub fn unprotected(&self) -> Option<String> {
        match self {
            Target::C(build) => build.sandbox.unprotected(),
            Target::Java(target) => target.jvm.unprotected(),
        }
    }

    /// Compiles and runs the tests of a function.
    pub fn replay(
        &self,
        suite: &Path,
        module: &Module,
        func: FuncId,
        tests: &[TestCase],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Replayed, EmitError> {
        match self {
            Target::C(build) => crate::replay(suite, module, build, tests, progress),
            Target::Java(target) => crate::replay_java(suite, &module.functions[func].name, target, tests, progress),
        }
    }
}
