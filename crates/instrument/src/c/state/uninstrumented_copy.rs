//! Uninstrumented copies of functions, for runs whose trace is full.
//!
//! In a long run the trace is full early. From then on a function that is entered runs without events, at its usual
//! speed; one that is already running checks before each event. Both copies are one function with one name and address.
//! Functions whose copy would create other objects or labels are not copied: those with static variables, assembly or
//! computed jumps.

use crate::c::text::{Insertions, TokenKind, TokenisedSource};
use std::collections::BTreeSet;
use touchstone_front_c::FunctionDataFlow;

/// The kind of copies that are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UninstrumentedCopies {
    /// A copy without events.
    Plain,
    /// None.
    None,
}

/// The text to insert before a function's body, and the end of the body.
pub(super) struct UninstrumentedCopy {
    /// The uninstrumented copy, up to the opening brace of the instrumented one.
    pub text: String,
    /// The offset of the body's closing brace.
    pub end: usize,
}

/// Builds the copies of a unit.
pub(super) struct CopyBuilder<'a> {
    source: TokenisedSource<'a>,
    /// The probes of other criteria, which both copies contain.
    insertions: &'a Insertions,
}

/// Words that prevent a copy of a body.
const WORDS_THAT_PREVENT_COPIES: [&str; 8] =
    ["static", "asm", "__asm", "__asm__", "__label__", "__thread", "_Thread_local", "thread_local"];

impl<'a> CopyBuilder<'a> {
    pub fn new(text: &'a str, insertions: &'a Insertions) -> CopyBuilder<'a> {
        CopyBuilder { source: TokenisedSource::new(text), insertions }
    }

    /// Builds the copy of a function, or returns `None` if it can't be copied.
    pub fn of(&self, function: &FunctionDataFlow) -> Option<UninstrumentedCopy> {
        let source = &self.source;
        let first = source.first_token_from(function.body);
        let after = source.after_bracket(first.checked_sub(1)?)?;
        let end = source.tokens.get(after.checked_sub(1)?)?.start;
        let words = || (first..after - 1).map(|at| source.word(at));
        if words().any(|word| WORDS_THAT_PREVENT_COPIES.contains(&word)) {
            return None;
        }
        // A run that is long enough to matter spends most of its time in this copy.
        let mut text = String::from(" if (__builtin_expect(!__touchstone_told, 1)) { ");
        let labels = self.labels(first, after - 1)?;
        if !labels.is_empty() {
            text += &format!("__label__ {}; ", labels.into_iter().collect::<Vec<_>>().join(", "));
        }
        let mut close = "}";
        // A parameter whose address events record is in memory, so this copy has variables of its own. Not with
        // `va_start`, which needs the last parameter.
        if !words().any(|word| word.contains("va_start")) && !function.parameters.is_empty() {
            for (at, name) in &function.parameters {
                text += &format!("__typeof__({name}) __touchstone_p{at} = {name}; ");
            }
            text += "{ ";
            for (at, name) in &function.parameters {
                text += &format!("__typeof__(__touchstone_p{at}) {name} = __touchstone_p{at}; ");
            }
            close = "}}";
        }
        text += &self.insertions.within(source.text, function.body..end);
        text += &format!("\n{close} else {{\n{}\n", self.line_marker(function.body)?);
        Some(UninstrumentedCopy { text, end })
    }

    /// Returns the labels of a body, or `None` if they are ambiguous.
    fn labels(&self, first: usize, end: usize) -> Option<BTreeSet<&'a str>> {
        let source = &self.source;
        let mut wanted = BTreeSet::new();
        let mut found = BTreeSet::new();
        for at in first..end {
            let named = |at: usize| source.tokens[at].kind == TokenKind::Word;
            if source.word(at) == "goto" {
                if !named(at + 1) {
                    return None;
                }
                wanted.insert(source.word(at + 1));
            }
            let begins = at == first || matches!(source.word(at - 1), "{" | "}" | ";" | ":" | ")" | "else" | "do");
            if named(at) && begins && source.word(at + 1) == ":" && source.word(at) != "default" {
                found.insert(source.word(at));
            }
        }
        // A name before a colon may be an operand of a conditional: only one that is jumped to is certainly a label.
        (wanted == found).then_some(wanted)
    }

    /// Returns a line marker that continues at the line of an offset.
    fn line_marker(&self, at: usize) -> Option<String> {
        let before = &self.source.text[..at];
        let start = before.rfind("\n# ").map(|at| at + 1).or(before.starts_with("# ").then_some(0))?;
        let (line, since) = before[start + 2..].split_once('\n')?;
        let number: usize = line.split(' ').next()?.parse().ok()?;
        let (from, to) = (line.find('"')?, line.rfind('"')?);
        let system = if line[to..].contains('3') { " 3" } else { "" };
        Some(format!("# {} {}{system}", number + since.matches('\n').count(), &line[from..=to]))
    }
}
