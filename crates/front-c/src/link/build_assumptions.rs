//! Facts that only a build or a run determines: the effects of unknown flags, the rounding mode, the other definition of
//! an inline function, the time of compilation.
//!
//! Most are named as assumptions of all verdicts. The time of compilation is data of the program, and unknown.

use crate::link::linked_program::LinkedProgram;
use std::collections::BTreeMap;
use touchstone_base::float::FloatOp;
use touchstone_ir::{Builtin, FunctionRole, Global, GlobalId, GlobalRole, Init, InstKind, Linkage, Module};

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
        let uses_errno = self.external_function("__errno_location");
        let own = self.functions.values_mut().filter(|function| function.role == FunctionRole::Program);
        for function in own {
            function.left_open.extend(self.assumptions.iter().cloned());
            let has = |is_kind: fn(&InstKind) -> bool| {
                function.blocks.values().any(|block| block.insts.iter().any(|inst| is_kind(&inst.kind)))
            };
            let multiplies = has(|kind| matches!(kind, InstKind::Float { op: FloatOp::Mul, .. }));
            let reports_errors = has(may_set_errno);
            if multiplies {
                let unfused = |flag| {
                    format!(
                        "products are rounded before they are added, although `{flag}` allows compilers to fuse both"
                    )
                };
                function.left_open.extend(self.fused.iter().map(unfused));
            }
            if uses_errno && reports_errors {
                function.left_open.insert("functions of math.h do not set `errno`".to_string());
            }
        }
    }

    /// Makes the contents that the time of compilation determines unknown to proofs.
    pub fn expose_build_stamps(&mut self) {
        let stamped = self.globals.values_mut().filter(|global| global.init.iter().flatten().any(is_stamped));
        for global in stamped {
            if global.constant {
                // A test cannot set it.
                (global.constant, global.linkage) = (false, Linkage::Local);
            }
            global.role = GlobalRole::Exposed;
        }
    }
}

/// Returns true for contents with a time of compilation.
fn is_stamped(piece: &Init) -> bool {
    match piece {
        Init::Bytes { bytes, .. } => {
            BUILD_STAMPS.iter().any(|stamp| bytes.windows(stamp.len()).any(|part| part == stamp.as_bytes()))
        }
        Init::GlobalAddr { .. } => false,
    }
}

/// Returns the globals whose contents depend on the time of compilation, with a description.
pub(crate) fn build_stamps(module: &Module) -> BTreeMap<GlobalId, String> {
    let mut found: BTreeMap<GlobalId, String> = BTreeMap::new();
    loop {
        let points_to_stamp = |piece: &Init| match piece {
            Init::GlobalAddr { global, .. } => found.contains_key(global),
            Init::Bytes { .. } => is_stamped(piece),
        };
        let is_new = |id: &GlobalId, global: &Global| {
            !found.contains_key(id) && global.init.iter().flatten().any(points_to_stamp)
        };
        let new: Vec<GlobalId> =
            module.globals.iter().filter(|(id, global)| is_new(id, global)).map(|(id, _)| id).collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new.into_iter().map(|id| (id, "the time of compilation (`__DATE__`, `__TIME__`)".to_string())));
    }
}

/// Returns true for a function of math.h that reports errors by `errno`.
fn may_set_errno(kind: &InstKind) -> bool {
    match kind {
        InstKind::Float { op, .. } => matches!(op, FloatOp::Sqrt | FloatOp::Rem | FloatOp::Fma),
        InstKind::Builtin { builtin, .. } => matches!(builtin, Builtin::Math(..)),
        _ => false,
    }
}
