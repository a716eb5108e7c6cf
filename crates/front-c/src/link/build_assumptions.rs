//! Facts that only a build or a run determines: the effects of unknown flags, the rounding mode, the other definition of
//! an inline function, the time of compilation.
//!
//! Most are named as assumptions of all verdicts. The time of compilation is data of the program, and unknown.

use crate::link::linked_program::LinkedProgram;
use touchstone_ir::{FunctionRole, GlobalRole, Init, Linkage};

/// Texts that clang is told to use for the date and the time of compilation: no real build has them.
pub(crate) const BUILD_STAMPS: [&str; 2] = ["Dec 31 9999", "23:59:57"];

/// Functions that change the rounding of floats.
const ROUNDING_SETTERS: [&str; 4] = ["fesetround", "fesetenv", "feupdateenv", "__builtin_ia32_ldmxcsr"];

impl LinkedProgram {
    /// Records that verdicts assume that a flag has no effect on the program.
    pub fn assume_flag(&mut self, flag: &str) {
        self.assumptions.insert(format!("`{flag}` does not change what the program computes"));
    }

    /// Adds the assumptions to all functions of the program.
    pub fn add_assumptions(&mut self) {
        for name in ROUNDING_SETTERS {
            if self.external_function(name) {
                let text = format!("floats are rounded to nearest, although the program calls `{name}`");
                self.assumptions.insert(text);
            }
        }
        let own = self.functions.values_mut().filter(|function| function.role == FunctionRole::Program);
        own.for_each(|function| function.left_open.extend(self.assumptions.iter().cloned()));
    }

    /// Makes the contents unknown where the time of compilation determines them.
    pub fn expose_build_stamps(&mut self) {
        let is_stamped = |piece: &Init| match piece {
            Init::Bytes { bytes, .. } => {
                BUILD_STAMPS.iter().any(|stamp| bytes.windows(stamp.len()).any(|part| part == stamp.as_bytes()))
            }
            Init::GlobalAddr { .. } => false,
        };
        for global in self.globals.values_mut() {
            if !global.init.iter().flatten().any(is_stamped) {
                continue;
            }
            if global.constant {
                // A test cannot set it.
                (global.constant, global.linkage) = (false, Linkage::Local);
                global.display_name = Some("the text of `__DATE__` or `__TIME__`".to_string());
            }
            global.role = GlobalRole::Exposed;
        }
    }
}
