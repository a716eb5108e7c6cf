//! Inline assembly without instructions: `asm volatile("" ::: "memory")`, `asm("" : "+r"(x))`.
//!
//! It is opaque to compilers but has no effect: operands keep their values, and an output that shares its register with
//! an input gets that value. clang's JSON has only the operands, so template and constraints are parsed from the source
//! text. Assembly with an instruction is unsupported.

use crate::clang::node::AstNode;
use crate::clang::source_text::fold;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::types::tokens::{TypeToken, tokenize};
use crate::types::typename::split_commas;
use touchstone_base::Span;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{Operand, Ty};

/// The value of an output after the statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Output {
    /// Its value before.
    Kept,
    /// The value of an input, by its number.
    Input(usize),
}

/// A statement without instructions.
#[derive(PartialEq, Eq, Debug)]
struct Empty {
    outputs: Vec<Output>,
    inputs: usize,
}

impl Lowerer<'_, '_> {
    /// Lowers an assembly statement.
    pub fn assembly(&mut self, node: &AstNode, span: Span) {
        let empty = self.assembly_text(node).and_then(|text| understand(&text));
        match empty {
            Some(empty) if empty.outputs.len() + empty.inputs == node.inner.len() => {
                self.empty_assembly(&empty, node, span);
            }
            _ if is_injected(Fault::AssemblyIgnored) => {}
            _ => {
                self.unit.note_assembly();
                self.unsupported(Construct::InlineAssembly, node);
            }
        }
    }
    /// Returns the source text from the keyword on, at its spelling location.
    fn assembly_text(&self, node: &AstNode) -> Option<String> {
        const MAX_SOURCE_BYTES: usize = 1 << 14;
        let begin = node.begin.spelling.as_deref().copied().or(node.begin.expansion)?;
        let text = self.unit.program.sources.text(self.unit.names.get(begin.file as usize)?);
        let rest = text.get(begin.offset as usize..)?;
        Some(fold(&String::from_utf8_lossy(&rest[..rest.len().min(MAX_SOURCE_BYTES)])))
    }
    /// Returns the integer type of a value's width.
    fn word_of(&self, value: Operand) -> Ty {
        if self.ty(value) == Ty::Ptr { Ty::I64 } else { self.ty(value) }
    }
    fn empty_assembly(&mut self, empty: &Empty, node: &AstNode, span: Span) {
        let (outputs, inputs) = node.inner.split_at(empty.outputs.len());
        let places: Vec<_> = outputs.iter().map(|output| self.written_lvalue(output)).collect();
        let mut values = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            if !empty.outputs.contains(&Output::Input(number)) {
                self.effect(input);
                values.push(None);
            } else if self.unit.type_of(input).is_record() {
                return self.unsupported(Construct::InlineAssembly, node);
            } else {
                let value = self.rvalue(input);
                values.push(Some(self.keep(value, span)));
            }
        }
        for ((output, place), what) in outputs.iter().zip(places).zip(&empty.outputs) {
            let Output::Input(number) = what else { continue };
            let ty = self.unit.type_of(output);
            match values.get(*number).copied().flatten() {
                // Both are in one register: a narrower output is its low part.
                Some(value) if !ty.is_record() && fits(self.ty(value), self.unit.program.types.scalar(&ty)) => {
                    let scalar = self.unit.program.types.scalar(&ty);
                    let value =
                        if scalar == Ty::Ptr { value } else { self.resize(value, self.word_of(value), false, span) };
                    let value = self.resize(value, scalar, false, span);
                    self.store(place, value, span);
                }
                _ => return self.unsupported(Construct::InlineAssembly, node),
            }
        }
    }
}

fn fits(input: Ty, output: Ty) -> bool {
    input == output
        || matches!((input, output), (Ty::Int(from), Ty::Int(to)) if to < from)
        || matches!((input, output), (Ty::Ptr, Ty::Int(_)))
}

/// Parses the assembly statement at the start of a text; `None` if it has an instruction.
fn understand(text: &str) -> Option<Empty> {
    let mut tokens = tokenize(text).into_iter().skip(1).skip_while(
        |token| matches!(token, TypeToken::Word(word) if matches!(word.trim_matches('_'), "volatile" | "inline")),
    );
    if !tokens.next()?.is("(") {
        return None;
    }
    let mut sections = vec![Vec::new()];
    let mut depth = 1;
    loop {
        let token = tokens.next()?;
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        match token {
            _ if depth == 0 => break,
            token if depth == 1 && (token.is(":") || token.is("::")) => {
                sections.extend(std::iter::repeat_n(Vec::new(), if token.is(":") { 1 } else { 2 }));
            }
            token => sections.last_mut()?.push(token),
        }
    }
    let template = sections.first()?;
    if template.is_empty() || !template.iter().all(|token| token.is("\"\"")) {
        return None;
    }
    let operands = |number: usize| -> Option<Vec<(Option<String>, String)>> {
        sections
            .get(number)
            .map_or(Some(Vec::new()), |section| split_commas(section).iter().map(|part| operand(part)).collect())
    };
    let (outputs, inputs) = (operands(1)?, operands(2)?);
    let mut kinds = Vec::new();
    for (number, (name, constraint)) in outputs.iter().enumerate() {
        let shares = |(_, input): &(Option<String>, String)| match input.trim_start_matches('%').parse::<usize>() {
            Ok(shared) => shared == number,
            Err(_) => {
                input.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == name.as_deref() && name.is_some()
            }
        };
        kinds.push(match inputs.iter().position(shares) {
            Some(input) => Output::Input(input),
            // An output in memory and one with `+` keep their values.
            None if constraint.starts_with('+') || matches!(constraint.as_str(), "=m" | "=o" | "=V") => Output::Kept,
            None => return None,
        });
    }
    Some(Empty { outputs: kinds, inputs: inputs.len() })
}

/// Parses `[name] "constraint" (expression)`.
fn operand(tokens: &[TypeToken]) -> Option<(Option<String>, String)> {
    let (name, rest) = match tokens {
        [open, TypeToken::Word(name), close, rest @ ..] if open.is("[") && close.is("]") => (Some(name.clone()), rest),
        rest => (None, rest),
    };
    let [TypeToken::Sign(constraint), open, ..] = rest else { return None };
    let constraint = constraint.strip_prefix('"')?.strip_suffix('"')?;
    open.is("(").then(|| (name, constraint.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Empty, Output, understand};

    #[track_caller]
    fn check(text: &str, expected: Option<(&[Output], usize)>) {
        let expected = expected.map(|(outputs, inputs)| Empty { outputs: outputs.to_vec(), inputs });
        assert_eq!(understand(text), expected, "{text}");
    }

    #[test]
    fn assembly_without_instructions_is_understood_and_nothing_else() {
        check(r#"asm("");"#, Some((&[], 0)));
        check(r#"__asm__ __volatile__ ("" ::: "memory");"#, Some((&[], 0)));
        check(r#"asm volatile ("" : "+r" (f(a, b)), "=m"(y) : "r" (z) : "memory")"#, Some((&[Output::Kept; 2], 1)));
        check(r#"asm ("" : "=r" (x), "=r"(y) : "1" (a), "0"(b))"#, Some((&[Output::Input(1), Output::Input(0)], 2)));
        check(r#"asm ("" : [o] "=r" (x) : [i] "[o]" (a))"#, Some((&[Output::Input(0)], 1)));
        check(r#"asm ("nop")"#, None);
        check(r#"asm ("" "cpuid" : "=a"(x))"#, None);
        check(r#"asm ("" : "=r" (x))"#, None);
        check(r#"asm goto ("" : : : : label)"#, None);
        check(r#"asm (TEMPLATE : : "r" (x))"#, None);
        check(r#"asm ("" : C (x))"#, None);
    }
}
