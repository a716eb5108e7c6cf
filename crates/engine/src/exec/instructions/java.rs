//! Builtins of Java on symbolic states.

use crate::state::Stop;
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::JavaBuiltin;

/// What a builtin does: output is nothing that a path depends on.
pub(in crate::exec) fn step(builtin: JavaBuiltin, span: Span) -> Result<(), Stop> {
    match builtin {
        JavaBuiltin::WriteText => Ok(()),
        JavaBuiltin::Intern => Err(Stop::unsupported(Unsupported::Construct("String.intern".to_string()), span)),
        JavaBuiltin::ClassNamed => Err(Stop::unsupported(Unsupported::Construct("Class.forName".to_string()), span)),
    }
}
