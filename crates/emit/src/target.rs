//! The program under test, by language: what tests are compiled against and run on.

use crate::{Build, EmitError, JavaTarget, Replayed, SuiteToReplay};
use touchstone_ir::Module;

/// The program that tests are compiled against and run on.
#[derive(Debug)]
pub enum Target {
    /// C sources and a compiler.
    C(Box<Build>),
    /// Java classes and a JVM.
    Java(Box<JavaTarget>),
}

impl Target {
    /// Returns the build, or `None` if the program is not C.
    pub fn c(&self) -> Option<&Build> {
        match self {
            Target::C(build) => Some(build),
            Target::Java(_) => None,
        }
    }

    /// Returns the classes, or `None` if the program is not Java.
    pub fn java(&self) -> Option<&JavaTarget> {
        match self {
            Target::Java(target) => Some(target),
            Target::C(_) => None,
        }
    }

    /// Starts the work that every replay needs, so that it is done when the first test arrives.
    pub fn prepare(&self, module: &Module) {
        match self {
            Target::C(build) => build.prepare(module),
            Target::Java(target) => target.jvm.prepare(),
        }
    }

    /// Returns a sentence about what replayed tests are not protected from, or `None` if they are confined completely.
    pub fn unprotected(&self) -> Option<String> {
        match self {
            Target::C(build) => build.sandbox.unprotected(),
            Target::Java(target) => target.jvm.unprotected(),
        }
    }

    /// Compiles and runs suites, in C those of one unit, and returns one result for each. `progress` is called with the
    /// number of a suite and the number of its tests that are done.
    pub fn replay(
        &self,
        suites: &[SuiteToReplay<'_>],
        module: &Module,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Replayed>, EmitError> {
        match self {
            Target::C(build) => crate::replay_suites(suites, module, build, progress),
            Target::Java(target) => crate::replay_java_suites(suites, target, progress),
        }
    }
}
