//! Random classes whose expressions are written as objectives show them: plainly, or with every mutant beside its expression.

use crate::support::rng::Rng;
use serde_json::Value;
use std::collections::BTreeMap;

/// A line of a method.
enum Line {
    /// Nothing is computed.
    Plain(String),
    /// A value that is computed on the line when it is reached.
    Value { before: String, value: String, behind: String },
    /// `if` or `while`, and conditions that the operator joins.
    Decision { word: &'static str, conditions: Vec<String>, operator: &'static str },
}

/// The request of an objective: an expression at a line, the condition under which it is computed, and its mutant.
pub struct Asked {
    line: usize,
    guard: Option<String>,
    value: String,
    mutant: String,
}

/// A class.
pub struct Written {
    pub name: String,
    lines: Vec<Line>,
}

const HELP: &str = "  static int abs(int x) { return Math.abs(x); }
  static long abs(long x) { return Math.abs(x); }
";

/// The text with something in the place of a part, if that part is there once.
fn replaced(text: &str, part: &str, by: &str) -> Option<String> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
    let stands_alone = |at: usize| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
        let words = (part.chars().next(), part.chars().next_back());
        !(is_word(before) && is_word(words.0) || is_word(behind) && is_word(words.1))
    };
    let places: Vec<usize> = (0..text.len()).filter(|at| text[*at..].starts_with(part) && stands_alone(*at)).collect();
    match places.as_slice() {
        [at] => Some(format!("{}({by}){}", &text[..*at], &text[at + part.len()..])),
        _ => None,
    }
}

impl Line {
    fn plain(&self) -> String {
        match self {
            Line::Plain(text) => text.clone(),
            Line::Value { before, value, behind } => format!("{before}{value}{behind}"),
            Line::Decision { word, conditions, operator } => {
                format!("{word} ({}) {{", conditions.join(&format!(" {operator} ")))
            }
        }
    }
}

impl Written {
    pub fn plain(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(Line::plain).collect();
        format!("class {} {{\n{}\n{HELP}}}\n", self.name, lines.join("\n"))
    }

    /// Returns the request of an objective; `None` if its text is ambiguous.
    pub fn asked(&self, objective: &Value) -> Option<Asked> {
        let line = objective["line"].as_u64()? as usize - 2;
        let column = objective["column"].as_u64()? as usize;
        let (_, change) = objective["text"].as_str()?.split_once(' ')?;
        let (from, to) = change.split_once(" -> ")?;
        let asked = |guard, value: &str| {
            let mutant = replaced(value, from, to)?;
            Some(Asked { line, guard, value: value.to_string(), mutant })
        };
        match self.lines.get(line)? {
            Line::Plain(_) => None,
            Line::Value { value, .. } => asked(None, value),
            Line::Decision { word, conditions, operator } => {
                let joined = conditions.join(&format!(" {operator} "));
                if from == joined {
                    return asked(None, &joined);
                }
                let mut place = word.len() + 3;
                let mut before: Option<&String> = None;
                for condition in conditions {
                    if place == column {
                        let guard = before
                            .map(|before| if *operator == "&&" { before.clone() } else { format!("!({before})") });
                        return asked(guard, condition);
                    }
                    place += condition.len() + 4;
                    before = Some(condition);
                }
                None
            }
        }
    }

    /// With calls that record which mutants differ from what they are made of.
    pub fn recording(&self, asked: &[Option<Asked>]) -> String {
        let mut checks: BTreeMap<usize, String> = BTreeMap::new();
        for (number, asked) in asked.iter().enumerate() {
            let Some(Asked { line, guard, value, mutant }) = asked else { continue };
            let guard = guard.as_deref().unwrap_or("true");
            checks.entry(*line).or_default().push_str(&format!(
                "try {{ if ({guard}) if (({value}) != ({mutant})) Seen.s({number}); }} catch (ArithmeticException e) {{ }}\n"
            ));
        }
        let mut made = format!("class {} {{\n{HELP}", self.name);
        for (number, line) in self.lines.iter().enumerate() {
            let checks = checks.get(&number).cloned().unwrap_or_default();
            match line {
                Line::Decision { word: "while", conditions, operator } => {
                    let joined = conditions.join(&format!(" {operator} "));
                    made.push_str(&format!("while (true) {{\n{checks}if (!({joined})) break;\n"));
                }
                line => made.push_str(&format!("{checks}{}\n", line.plain())),
            }
        }
        made + "}\n"
    }

    /// Calls all methods with all inputs.
    pub fn driver(&self) -> String {
        let mut calls = String::new();
        for method in 0..METHODS {
            calls.push_str(&format!(
                "for (int a : Seen.INTS) for (int b : Seen.INTS) for (int c : Seen.TRUTHS) for (int d : Seen.FEW) for (int l : Seen.FEW) {{
      try {{ {}.f{method}(a, b, c > 0, (char) (d + 97), l); }} catch (ArithmeticException e) {{ }}
    }}\n",
                self.name
            ));
        }
        let name = &self.name;
        format!("public class All {{ public static void main(String[] args) {{\n{calls}Seen.done(\"{name}\");\n}} }}\n")
    }
}

const METHODS: usize = 1;

/// A method in the making.
struct Maker {
    rng: Rng,
    lines: Vec<Line>,
    /// Numbers, letters and truth values that have a value here.
    ints: Vec<String>,
    truths: Vec<String>,
    fresh: usize,
}

/// An expression, and how strongly it binds.
type Part = (String, u8);

impl Maker {
    fn atom(&mut self, used: &mut Vec<String>) -> Part {
        if self.rng.chance(30) {
            return (self.rng.between(0, 9).to_string(), 9);
        }
        let free: Vec<String> = self.ints.iter().filter(|name| !used.contains(name)).cloned().collect();
        match free.is_empty() {
            true => (self.rng.between(10, 19).to_string(), 9),
            false => {
                let name = self.rng.pick(&free).clone();
                used.push(name.clone());
                (name, 9)
            }
        }
    }

    fn joined(&mut self, a: Part, sign: &str, b: Part) -> Part {
        let own = if "*/%".contains(sign) { 8 } else { 7 };
        let side = |(text, strength): Part, needed: u8| if strength < needed { format!("({text})") } else { text };
        (format!("{} {sign} {}", side(a, own), side(b, own + 1)), own)
    }

    /// A number; only a whole expression divides.
    fn number(&mut self, used: &mut Vec<String>, signs: &'static str) -> Part {
        let a = self.atom(used);
        if a.0.chars().all(|c| c.is_ascii_digit()) || self.rng.chance(25) {
            return a;
        }
        let b = match self.rng.chance(30) {
            true => {
                let (left, right) = (self.atom(used), self.atom(used));
                let constant = |part: &Part| part.0.chars().all(|c| c.is_ascii_digit());
                match constant(&left) && constant(&right) {
                    true => left,
                    false => {
                        let sign = self.rng.word("+ - *");
                        self.joined(left, sign, right)
                    }
                }
            }
            false => self.atom(used),
        };
        let sign = self.rng.word(signs);
        // The compiler refuses to divide by this.
        if b.0 == "0" {
            return a;
        }
        self.joined(a, sign, b)
    }

    fn condition(&mut self, used: &mut Vec<String>) -> String {
        if self.rng.chance(20) && !self.truths.is_empty() {
            let free: Vec<String> = self.truths.iter().filter(|name| !used.contains(name)).cloned().collect();
            if !free.is_empty() {
                let name = self.rng.pick(&free).clone();
                used.push(name.clone());
                return name;
            }
        }
        let (left, _) = self.number(used, "+ - *");
        let (right, _) = self.atom(used);
        // The compiler would compute what has no variable.
        let left = if left.chars().all(|c| c.is_ascii_digit()) { "a".to_string() } else { left };
        format!("{left} {} {right}", self.rng.word("< <= > >= == !="))
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn value(&mut self, before: &str, value: String, behind: &str) {
        self.lines.push(Line::Value { before: before.to_string(), value, behind: behind.to_string() });
    }

    fn plain(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Plain(text.into()));
    }

    fn statements(&mut self, count: usize, depth: usize) {
        let scope = (self.ints.len(), self.truths.len());
        for _ in 0..count {
            self.statement(depth);
        }
        self.ints.truncate(scope.0);
        self.truths.truncate(scope.1);
    }

    fn statement(&mut self, depth: usize) {
        let kind = if depth == 0 { self.rng.below(4) } else { self.rng.below(7) };
        match kind {
            0 | 1 => {
                let (name, (value, _)) = (self.name("v"), self.number(&mut Vec::new(), "+ - * / %"));
                self.value(&format!("long {name} = "), value, ";");
            }
            2 => {
                let (name, (value, _)) = (self.name("w"), self.number(&mut vec!["l".to_string()], "+ - * / %"));
                self.value(&format!("int {name} = "), value, ";");
                self.ints.push(name);
            }
            3 => {
                let (name, value) = (self.name("q"), self.condition(&mut Vec::new()));
                self.value(&format!("boolean {name} = "), value, ";");
                self.truths.push(name);
            }
            4 => {
                let name = self.name("n");
                self.value(&format!("int {name} = "), self.fresh.to_string(), ";");
                let conditions = vec![format!("{name} < {}", self.fresh + 2)];
                self.lines.push(Line::Decision { word: "while", conditions, operator: "" });
                self.value(&format!("{name} = "), format!("{name} + 1"), ";");
                self.ints.push(name);
                self.statements(2, depth - 1);
                self.plain("}");
                self.ints.pop();
            }
            _ => {
                // It has a value in one branch only.
                let name = self.name("u");
                self.plain(format!("int {name};"));
                let mut used = Vec::new();
                let mut conditions = vec![self.condition(&mut used)];
                let operator = if self.rng.chance(50) { "&&" } else { "||" };
                if self.rng.chance(60) {
                    conditions.push(self.condition(&mut used));
                }
                self.lines.push(Line::Decision { word: "if", conditions, operator });
                let (value, _) = self.number(&mut vec!["l".to_string()], "+ - * / %");
                self.value(&format!("{name} = "), value, ";");
                self.ints.push(name);
                self.statements(2, depth - 1);
                self.ints.pop();
                self.plain("} else {");
                self.statements(1, depth - 1);
                self.plain("}");
            }
        }
    }
}

/// The class of a seed.
pub fn class(seed: u64, name: &str) -> Written {
    let mut maker = Maker { rng: Rng::new(seed), lines: Vec::new(), ints: Vec::new(), truths: Vec::new(), fresh: 0 };
    for method in 0..METHODS {
        maker.ints = ["a", "b", "d", "l"].map(str::to_string).to_vec();
        maker.truths = vec!["c".to_string()];
        maker.plain(format!("static int f{method}(int a, int b, boolean c, char d, long l) {{"));
        for _ in 0..3 {
            maker.statement(2);
        }
        let (value, _) = maker.number(&mut vec!["l".to_string()], "+ - * / %");
        maker.value("return ", value, ";");
        maker.plain("}");
    }
    Written { name: name.to_string(), lines: maker.lines }
}
