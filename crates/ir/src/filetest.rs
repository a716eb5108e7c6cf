//! Expectations in file tests: IR text and expected results, in one file.
//!
//! An expectation is a comment of the form `; command: subject == expected`:
//!
//! ```text
//! ; run: @f(1, -2) == 3
//! ; run: @f(0) == error "division by zero"
//! ; run: @ask() inputs("\x05\0\0\0") == 5 output "five\n"
//! ; trace: @f(1) == fn0.b0=1 fn0.b2=>b4
//! ; paths: @f == 4
//! ; ends: @f == 3 returned, 1 out of bounds
//! ; turns: @f == 7
//! ; verify: error "fn0 b0 instruction 0: %7 is no register"
//! ; parse: error "3:7: expected …"
//! ```
//!
//! This module only finds and rewrites them. Each runner executes the commands that it knows and ignores those of other
//! runners; an unknown command is an error here.

use crate::text::{Token, lex};

/// The commands of all runners.
const COMMANDS: [&str; 7] = ["run", "trace", "paths", "ends", "turns", "verify", "parse"];

/// One expectation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// Index of its line in the text.
    pub line: usize,
    /// The command: `run`, `trace`, `paths`, `ends`, `turns`, `verify` or `parse`.
    pub command: String,
    /// The subject of the command; empty for `verify` and `parse`.
    pub subject: String,
    /// The expected result.
    pub expected: String,
}

/// A call, as the subject of `run` and `trace`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Name of the function.
    pub function: String,
    /// Arguments, as 64-bit numbers to be cut to their width (null is 0).
    pub args: Vec<u64>,
    /// Bytes for the inputs that the program asks for.
    pub inputs: Vec<Vec<u8>>,
}

/// All expectations of a text, in order. A comment that looks like one but isn't is an error.
pub fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let mut found = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let Some((command, rest)) = content.strip_prefix("; ").and_then(|comment| comment.split_once(':')) else {
            continue;
        };
        if command.is_empty() || !command.bytes().all(|byte| byte.is_ascii_lowercase()) {
            continue;
        }
        if !COMMANDS.contains(&command) {
            return Err(format!("line {}: `{command}` is no command (known: {})", line + 1, COMMANDS.join(", ")));
        }
        let (subject, expected) = match command {
            "verify" | "parse" => ("", rest),
            _ => rest.split_once("==").unwrap_or((rest, "")),
        };
        found.push(Expectation {
            line,
            command: command.to_string(),
            subject: subject.trim().to_string(),
            expected: expected.trim().to_string(),
        });
    }
    Ok(found)
}

/// The text with the `expected` of each given expectation in place of the old one.
pub fn bless(text: &str, expectations: &[Expectation]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for Expectation { line, command, subject, expected } in expectations {
        if let Some(content) = lines.get_mut(*line) {
            *content = match subject.as_str() {
                "" => format!("; {command}: {expected}"),
                _ => format!("; {command}: {subject} == {expected}"),
            };
        }
    }
    lines.join("\n") + "\n"
}

impl Expectation {
    /// The subject as a function's name, for `paths`, `ends` and `turns`.
    pub fn function(&self) -> Result<String, String> {
        match &self.tokens()?[..] {
            [Token::Name(name), Token::End] => Ok(name.clone()),
            _ => Err(self.complain("`@function`")),
        }
    }

    /// The subject as a call, for `run` and `trace`.
    pub fn call(&self) -> Result<Call, String> {
        const WHAT: &str = "`@function(1, -2, null)` and perhaps `inputs(\"\\x01\", …)`";
        let complain = || self.complain(WHAT);
        let tokens = self.tokens()?;
        let mut tokens = tokens.iter();
        let Some(Token::Name(function)) = tokens.next() else { return Err(complain()) };
        let mut call = Call { function: function.clone(), args: Vec::new(), inputs: Vec::new() };
        let mut in_inputs = false;
        let mut negative = false;
        for token in tokens {
            match token {
                Token::Number(number) if !in_inputs => {
                    call.args.push(if negative { number.wrapping_neg() } else { *number });
                    negative = false;
                }
                Token::Word(word) if !in_inputs && word == "null" => call.args.push(0),
                Token::Sign("-") if !in_inputs && !negative => negative = true,
                Token::Word(word) if word == "inputs" => in_inputs = true,
                Token::Text(bytes) if in_inputs => call.inputs.push(bytes.clone()),
                Token::Sign("(" | ")" | ",") | Token::End if !negative => {}
                _ => return Err(complain()),
            }
        }
        Ok(call)
    }

    fn tokens(&self) -> Result<Vec<Token>, String> {
        let tokens = lex(&self.subject).map_err(|error| format!("line {}: {}", self.line + 1, error.message))?;
        Ok(tokens.into_iter().map(|placed| placed.token).collect())
    }

    fn complain(&self, expected: &str) -> String {
        format!("line {}: expected {expected} after `{}:`, found `{}`", self.line + 1, self.command, self.subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "; A comment: not an expectation.\n; run: @f(1, -2, null) == 3\nfunc @f()\n; paths: @f == 4\n";

    #[test]
    fn expectations_are_found_among_other_comments() {
        let found = expectations(TEXT).expect("well-formed");
        assert_eq!(found.len(), 2);
        let call = found[0].call().expect("a call");
        assert_eq!(call, Call { function: "f".to_string(), args: vec![1, 2u64.wrapping_neg(), 0], inputs: vec![] });
        assert_eq!((found[0].expected.as_str(), found[1].expected.as_str()), ("3", "4"));
        assert_eq!(found[1].function(), Ok("f".to_string()));
    }

    #[test]
    fn inputs_are_quoted_bytes() {
        let found = expectations("; run: @f() inputs(\"\\x05\", \"ab\") == 1").expect("well-formed");
        assert_eq!(found[0].call().expect("a call").inputs, [b"\x05".to_vec(), b"ab".to_vec()]);
    }

    #[test]
    fn an_unknown_command_or_subject_is_an_error() {
        assert!(expectations("; rum: @f() == 1").is_err());
        for subject in ["f()", "@f(-)", "@f(x)", "@f(\"a\")", "@f(%)"] {
            let found = expectations(&format!("; run: {subject} == 1")).expect("a known command");
            assert!(found[0].call().is_err(), "{subject}");
        }
    }

    #[test]
    fn blessing_changes_only_the_expectations() {
        let mut found = expectations(TEXT).expect("well-formed");
        found[1].expected = "5".to_string();
        assert_eq!(bless(TEXT, &found), TEXT.replace("== 4", "== 5"));
    }
}
