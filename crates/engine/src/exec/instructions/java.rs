//! Builtins of Java.

use crate::state::Stop;
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::JavaBuiltin;

/// Executes a builtin: output does not affect the path, the others are unsupported.
pub(in crate::exec) fn step(builtin: JavaBuiltin, span: Span) -> Result<(), Stop> {
    match builtin {
        JavaBuiltin::WriteText => Ok(()),
        JavaBuiltin::Intern => Err(Stop::unsupported(Unsupported::Construct("String.intern".to_string()), span)),
        JavaBuiltin::ClassNamed => Err(Stop::unsupported(Unsupported::Construct("Class.forName".to_string()), span)),
    }
}
