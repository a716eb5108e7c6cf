//! Returned expressions of a function of the text, and the labels over them.

use super::label_placement::{AnnotatedFunction, LabelPosition};
use crate::record::ProbeObstacle;
use std::collections::BTreeSet;
use touchstone_base::Span;
use touchstone_base::float::Format;
use touchstone_criteria::{Goal, ResultPredicate};
use touchstone_ir::{DataType, TermKind};

/// The type of a function's result, as probes need it.
pub(crate) enum ResultType {
    /// A pointer.
    Pointer,
    /// A number, with a cast to its type.
    Number(String),
}

impl AnnotatedFunction<'_> {
    /// Returns the type of the function's result, or `None` if it has none, or is an aggregate.
    pub(crate) fn result_type(&self) -> Option<ResultType> {
        self.function.result?;
        let integer = |bits: u8, signed: bool| {
            let name = match bits {
                8 => "char",
                16 => "short",
                32 => "int",
                64 => "long long",
                _ => return None,
            };
            Some(ResultType::Number(format!("({} {name})", if signed { "signed" } else { "unsigned" })))
        };
        match &self.module.types[self.function.result_data] {
            DataType::Pointer { .. } => Some(ResultType::Pointer),
            DataType::Bool { .. } => Some(ResultType::Number("(_Bool)".to_string())),
            DataType::Float { format: Format::F32, .. } => Some(ResultType::Number("(float)".to_string())),
            DataType::Float { format: Format::F64, .. } => Some(ResultType::Number("(double)".to_string())),
            DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => integer(*bits, *signed),
            _ => None,
        }
    }

    /// Returns the byte ranges of the expressions that `return` statements of the body have, in order.
    pub(crate) fn returned_expressions(&self) -> Result<Vec<(usize, usize)>, ProbeObstacle> {
        let (brace, _) = self.body.ok_or(ProbeObstacle::NoBody)?;
        let after = self.source.after_bracket(brace).ok_or(ProbeObstacle::Brackets)?;
        let mut found = Vec::new();
        for keyword in (brace + 1..after).filter(|at| self.source.word(*at) == "return") {
            let mut end = keyword + 1;
            while self.source.word(end) != ";" {
                end = match self.source.word(end) {
                    "(" | "[" | "{" => self.source.after_bracket(end).ok_or(ProbeObstacle::Brackets)?,
                    _ => end + 1,
                };
                if end >= after {
                    return Err(ProbeObstacle::Brackets);
                }
            }
            if end > keyword + 1 {
                let (start, end) = (self.source.tokens[keyword + 1].start, self.source.tokens[end - 1].end);
                match self.wrap(start, end)? {
                    LabelPosition::Wrapped(start, end) => found.push((start, end)),
                    LabelPosition::Before(_) | LabelPosition::Braced(..) => return Err(ProbeObstacle::NoExpression),
                }
            }
        }
        Ok(found)
    }

    /// Returns the byte of the brace that closes the body.
    pub(crate) fn end_of_body(&self) -> Option<usize> {
        let after = self.source.after_bracket(self.body?.0)?;
        Some(self.source.tokens[after - 1].start)
    }

    /// Returns the labels of which any covers a goal.
    pub(super) fn labels(&self, goal: &Goal) -> Result<Vec<(LabelPosition, String)>, ProbeObstacle> {
        match goal {
            Goal::Return { predicate, .. } => self.result_labels(*predicate),
            _ => self.label(goal).map(|label| vec![label]),
        }
    }

    /// Returns a label before each `return` statement, over the expression that it returns.
    fn result_labels(&self, predicate: ResultPredicate) -> Result<Vec<(LabelPosition, String)>, ProbeObstacle> {
        let ty = match self.result_type().ok_or(ProbeObstacle::NoExpression)? {
            ResultType::Pointer => String::new(),
            ResultType::Number(ty) => ty,
        };
        let negation = match predicate {
            ResultPredicate::Zero => "!",
            ResultPredicate::NonZero => "!!",
        };
        let expressions = self.returned_expressions()?;
        let returns = self.function.blocks.values().filter_map(|block| match block.terminator.kind {
            TermKind::Return(Some(_)) => Some(block.terminator.span),
            _ => None,
        });
        if returns.collect::<BTreeSet<Span>>().len() != expressions.len() {
            return Err(ProbeObstacle::MacroStatement);
        }
        let label = |(start, end): (usize, usize)| {
            let expression = &self.source.text[start..end];
            if !self.source.is_effect_free(expression) {
                return Err(ProbeObstacle::Effect(expression.to_string()));
            }
            let keyword = self.source.tokens[self.source.first_token_from(start) - 1].start;
            Ok((self.before_statement(keyword)?, format!("{negation}{ty}({expression})")))
        };
        expressions.into_iter().map(label).collect()
    }
}
