//! Constructor and destructor attributes of a definition.

use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::link::constructor::{Priority, StartupFunction, StartupTime};
use crate::lower::context::unit::Unit;
use crate::types::tokens::{TypeToken, tokenize};
use touchstone_ir::FuncId;

impl Unit<'_> {
    /// Registers a definition with constructor or destructor attributes.
    pub fn startup_functions(&mut self, node: &AstNode, function: FuncId) {
        for attribute in &node.inner {
            let when = match &attribute.kind {
                K::ConstructorAttr => StartupTime::Before,
                K::DestructorAttr => StartupTime::After,
                _ => continue,
            };
            let priority = self.priority(attribute);
            self.program.startup_functions.push(StartupFunction { function, when, priority });
        }
    }
    fn priority(&mut self, attribute: &AstNode) -> Priority {
        if attribute.begin == attribute.end {
            return Priority::None;
        }
        match tokenize(&self.text(attribute)).as_slice() {
            [TypeToken::Word(_)] if attribute.begin.spelling.is_none() => Priority::None,
            [TypeToken::Word(_), open, number, ..] if open.is("(") => {
                number.number().map_or(Priority::Unknown, Priority::Number)
            }
            _ => Priority::Unknown,
        }
    }
}
