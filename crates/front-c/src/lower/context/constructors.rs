//! Constructor and destructor attributes of a definition.

use crate::clang::kind::NodeKind as K;
use crate::clang::node::Node;
use crate::link::constructor::{Priority, Starter, When};
use crate::lower::context::unit::Unit;
use crate::types::tokens::{Token, tokenize};
use touchstone_ir::FuncId;

impl Unit<'_> {
    /// Registers a definition with constructor or destructor attributes.
    pub fn starters(&mut self, node: &Node, function: FuncId) {
        for attribute in &node.inner {
            let when = match &attribute.kind {
                K::ConstructorAttr => When::Before,
                K::DestructorAttr => When::After,
                _ => continue,
            };
            let priority = self.priority(attribute);
            self.program.starters.push(Starter { function, when, priority });
        }
    }
    fn priority(&mut self, attribute: &Node) -> Priority {
        if attribute.begin == attribute.end {
            return Priority::None;
        }
        match tokenize(&self.text(attribute)).as_slice() {
            [Token::Word(_)] if attribute.begin.spelling.is_none() => Priority::None,
            [Token::Word(_), open, number, ..] if open.is("(") => {
                number.number().map_or(Priority::Unknown, Priority::Number)
            }
            _ => Priority::Unknown,
        }
    }
}
