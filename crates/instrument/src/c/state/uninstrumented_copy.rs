//! A function whose state is followed is there twice: with events, and as it is, for when no more events are told.
//!
//! A trace is full early in a long run. From then on a function that is entered runs without events, at its usual speed;
//! one that is running asks before each event. Both copies are one function with one address and one name. Not copied is what
//! would be another object or another label then: a function with static variables, with assembly, with computed jumps.

use crate::c::text::{Insertions, TokenKind, TokenisedSource};
use std::collections::BTreeSet;
use touchstone_front_c::FunctionDataFlow;

/// Whether functions are there twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UninstrumentedCopies {
    /// A copy has no events.
    Plain,
    /// There is none.
    None,
}

/// What stands before a function's body, up to the other copy; and where that ends.
pub(super) struct UninstrumentedCopy {
    /// Opens the block of the other copy.
    pub text: String,
    /// The brace that closes the body.
    pub end: usize,
}

/// Makes the copies of a unit.
pub(super) struct CopyBuilder<'a> {
    source: TokenisedSource<'a>,
    /// Probes of other criteria, which both copies have.
    insertions: &'a Insertions,
}

/// Words in whose presence a body can't be there twice.
const WORDS_THAT_PREVENT_COPIES: [&str; 8] =
    ["static", "asm", "__asm", "__asm__", "__label__", "__thread", "_Thread_local", "thread_local"];

impl<'a> CopyBuilder<'a> {
    pub fn new(text: &'a str, insertions: &'a Insertions) -> CopyBuilder<'a> {
        CopyBuilder { source: TokenisedSource::new(text), insertions }
    }

    /// The copy of a function, unless it can't be there twice.
    pub fn of(&self, function: &FunctionDataFlow) -> Option<UninstrumentedCopy> {
        let source = &self.source;
        let first = source.first_token_from(function.body);
        let after = source.after_bracket(first.checked_sub(1)?)?;
        let end = source.tokens.get(after.checked_sub(1)?)?.start;
        let words = || (first..after - 1).map(|at| source.word(at));
        if words().any(|word| WORDS_THAT_PREVENT_COPIES.contains(&word)) {
            return None;
        }
        let mut text = String::from(" if (__builtin_expect(!__touchstone_told, 0)) { ");
        let labels = self.labels(first, after - 1)?;
        if !labels.is_empty() {
            text += &format!("__label__ {}; ", labels.into_iter().collect::<Vec<_>>().join(", "));
        }
        let mut close = "}";
        // A parameter of whom events tell the address lives in memory: this copy has its own. Not where a list of arguments
        // begins behind the last of them.
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

    /// The labels of a body; `None` if it is not certain what they are.
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
        // A name between colons may be the value of a choice: only one that is jumped to is a label for certain.
        (wanted == found).then_some(wanted)
    }

    /// What makes the line of a place the next one again.
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
