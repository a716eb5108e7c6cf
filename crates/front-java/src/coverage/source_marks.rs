//! Marks of the source in the bytecode: decisions with their conditions, statements and switches, by the offsets of
//! their instructions.
//!
//! The compiler's helper (`helper/TouchstoneCompile.java`) records them, one record a line. Deliberately not here: how
//! the helper is run (`program/jdk.rs`), and what is derived from the marks (`coverage/method_decisions.rs`).

use crate::classfile::{ClassFile, Code, Decoded, Insn, decode};
use crate::coverage::changed_code::changed_offsets;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_ir::{BoolTree, CondId, DecisionKind};

/// A range of a source file: line and column of its start and of its end.
pub(crate) type MarkedRange = [u32; 4];

/// A decision of the source.
#[derive(Debug)]
pub(crate) struct DecisionMark {
    /// Its number in the order of the source file.
    pub number: usize,
    pub kind: DecisionKind,
    pub range: MarkedRange,
    pub text: String,
    pub tree: BoolTree,
    pub conditions: Vec<(MarkedRange, String)>,
}

/// A statement of the source.
#[derive(Debug)]
pub(crate) struct StatementMark {
    pub range: MarkedRange,
    pub text: String,
}

/// The type of a switch's selector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selector {
    /// An integer: the arms of the bytecode are those of the source.
    Number,
    /// A string, an enumeration or a pattern, which the compiler maps to integers.
    Other,
}

/// A switch, and the position of its keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchMark {
    pub selector: Selector,
    pub line: u32,
    pub column: u32,
}

/// A jump that evaluates a condition.
#[derive(Clone, Debug)]
pub(crate) struct JumpMark {
    pub decision: Rc<DecisionMark>,
    pub condition: usize,
    /// The opcode that jumps if the condition holds; the code may contain the opposite jump.
    pub opcode: u8,
}

/// The marks of a method, by the offsets of instructions.
#[derive(Debug, Default)]
pub(crate) struct MethodMarks {
    /// The source file.
    pub file: String,
    pub jumps: BTreeMap<usize, JumpMark>,
    pub statements: BTreeMap<usize, Vec<Rc<StatementMark>>>,
    /// Switches, by the offset of their first instruction.
    pub switches: BTreeMap<usize, SwitchMark>,
    /// Jumps that are not conditions, with the reason.
    pub others: BTreeMap<usize, Option<Rc<str>>>,
}

impl MethodMarks {
    /// Returns the marks at other offsets.
    fn moved(&self, offsets: &FxHashMap<usize, usize>) -> MethodMarks {
        fn at<T: Clone>(marks: &BTreeMap<usize, T>, offsets: &FxHashMap<usize, usize>) -> BTreeMap<usize, T> {
            marks.iter().filter_map(|(at, mark)| Some((*offsets.get(at)?, mark.clone()))).collect()
        }
        MethodMarks {
            file: self.file.clone(),
            jumps: at(&self.jumps, offsets),
            statements: at(&self.statements, offsets),
            switches: at(&self.switches, offsets),
            others: at(&self.others, offsets),
        }
    }
}

/// Statistics of the conditional jumps of classes.
#[derive(Debug, Default)]
pub struct JumpCounts {
    /// The number of jumps that are conditions.
    pub conditions: usize,
    /// The number of jumps that are not conditions, by reason.
    pub others: BTreeMap<String, usize>,
    /// The locations of jumps without any mark.
    pub unexplained: Vec<String>,
}

/// The marks of all methods of a program, by class, name and descriptor.
#[derive(Debug, Default)]
pub struct SourceMarks {
    methods: FxHashMap<(String, String, String), Rc<MethodMarks>>,
}

/// The marks of a source file, by position.
#[derive(Default)]
struct FileMarks {
    conditions: FxHashMap<i64, (usize, usize)>,
    decisions: BTreeMap<usize, DecisionMark>,
    statements: FxHashMap<i64, Rc<StatementMark>>,
    switches: FxHashMap<i64, SwitchMark>,
    reasons: FxHashMap<i64, Rc<str>>,
}

impl SourceMarks {
    /// Parses the helper's records; `None` if they are malformed.
    pub fn parse(records: &str) -> Option<SourceMarks> {
        let mut files: FxHashMap<&str, FileMarks> = FxHashMap::default();
        let mut current = "";
        for line in records.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["U", file] => current = file,
                [kind @ ("D" | "C" | "S" | "X" | "N"), rest @ ..] => {
                    files.entry(current).or_default().add(kind, rest)?
                }
                _ => {}
            }
        }
        type Ready<'a> = (FileMarks, FxHashMap<usize, Rc<DecisionMark>>);
        let ready = |(name, mut file): (_, FileMarks)| {
            let decisions = std::mem::take(&mut file.decisions);
            let decisions = decisions.into_iter().map(|(number, decision)| (number, Rc::new(decision))).collect();
            (name, (file, decisions))
        };
        let files: FxHashMap<&str, Ready<'_>> = files.into_iter().map(ready).collect();
        let mut methods: FxHashMap<(String, String, String), MethodMarks> = FxHashMap::default();
        for line in records.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [kind @ ("J" | "R" | "T" | "W"), file, class, name, desc, at, position, opcode] = fields.as_slice()
            else {
                continue;
            };
            let key = (class.replace('.', "/"), name.to_string(), desc.to_string());
            let method = methods.entry(key).or_default();
            method.file = file.to_string();
            let Some((known, decisions)) = files.get(file) else { continue };
            let at: usize = at.parse().ok()?;
            if *kind == "R" {
                method.others.insert(at, Some(Rc::from(*position)));
                continue;
            }
            let position: i64 = position.parse().ok()?;
            match *kind {
                "J" => {
                    let opcode: u8 = opcode.parse().ok()?;
                    let Some((decision, condition)) = known.conditions.get(&position) else {
                        method.others.insert(at, known.reasons.get(&position).cloned());
                        continue;
                    };
                    let Some(decision) = decisions.get(decision) else { continue };
                    let mark = JumpMark { decision: decision.clone(), condition: *condition, opcode };
                    method.jumps.insert(at, mark);
                }
                "T" => {
                    if let Some(statement) = known.statements.get(&position) {
                        let here = method.statements.entry(at).or_default();
                        if !here.iter().any(|other| Rc::ptr_eq(other, statement)) {
                            here.push(statement.clone());
                        }
                    }
                }
                _ => {
                    if let Some(switch) = known.switches.get(&position) {
                        method.switches.insert(at, *switch);
                    }
                }
            }
        }
        Some(SourceMarks { methods: methods.into_iter().map(|(key, method)| (key, Rc::new(method))).collect() })
    }

    /// Drops the marks of methods whose code in the class `used` differs from the code that the source compiles to, and
    /// returns the number of these methods.
    pub fn keep_matching(&mut self, used: &ClassFile, compiled: &ClassFile) -> usize {
        let mut forgotten = 0;
        for method in &used.methods {
            let same = compiled.methods.iter().find(|other| other.name == method.name && other.desc == method.desc);
            let is_same = match (method.code(), same.and_then(|same| same.code())) {
                (Some(used), Some(compiled)) => is_same_code(used, compiled),
                (None, _) => true,
                (Some(_), None) => false,
            };
            if !is_same {
                let key = (used.name.to_string(), method.name.to_string(), method.desc.to_string());
                forgotten += usize::from(self.methods.remove(&key).is_some());
            }
        }
        forgotten
    }

    /// Moves the marks of a class to the class that another agent made of it, and drops those of methods whose code cannot be aligned.
    /// Returns the number of these methods.
    pub fn move_to(&mut self, changed: &ClassFile, compiled: &ClassFile) -> usize {
        let mut forgotten = 0;
        for method in &compiled.methods {
            let key = (compiled.name.to_string(), method.name.to_string(), method.desc.to_string());
            let Some(marks) = self.methods.remove(&key) else { continue };
            let other = changed.methods.iter().find(|other| other.name == method.name && other.desc == method.desc);
            let offsets = method.code().zip(other.and_then(|other| other.code()));
            match offsets.and_then(|(compiled, changed)| changed_offsets(compiled, changed)) {
                Some(offsets) => drop(self.methods.insert(key, Rc::new(marks.moved(&offsets)))),
                None => forgotten += 1,
            }
        }
        forgotten
    }

    /// Classifies the conditional jumps of a class whose source was compiled.
    pub fn count(&self, file: &ClassFile, jumps: &mut JumpCounts) {
        for (method, code) in file.methods.iter().filter_map(|method| Some((method, method.code()?))) {
            let known = self.of(&file.name, &method.name, &method.desc);
            let insns = decode(&code.bytes, code.offset).unwrap_or_default();
            for insn in insns.iter().filter(|insn| is_conditional(&insn.insn)) {
                let other = known.as_ref().and_then(|known| known.others.get(&insn.at)).cloned().flatten();
                match other {
                    _ if known.as_ref().is_some_and(|known| known.jumps.contains_key(&insn.at)) => {
                        jumps.conditions += 1
                    }
                    Some(reason) => *jumps.others.entry(reason.to_string()).or_default() += 1,
                    None => {
                        let line = code.line(insn.at);
                        jumps.unexplained.push(format!("{}.{}{}:{line}", file.name, method.name, method.desc));
                    }
                }
            }
        }
    }

    /// Returns the marks of a method, if its source was compiled.
    pub(crate) fn of(&self, class: &str, name: &str, desc: &str) -> Option<Rc<MethodMarks>> {
        self.methods.get(&(class.to_string(), name.to_string(), desc.to_string())).cloned()
    }
}

/// Returns true for a conditional jump.
pub(crate) fn is_conditional(insn: &Insn) -> bool {
    matches!(insn, Insn::If(..) | Insn::IfInts(..) | Insn::IfRefs(..) | Insn::IfNull(..))
}

/// Returns true if two methods have the same instructions and jump targets; indices of constants may differ.
fn is_same_code(one: &Code, other: &Code) -> bool {
    let (Ok(first), Ok(second)) = (decode(&one.bytes, one.offset), decode(&other.bytes, other.offset)) else {
        return false;
    };
    let opcode = |code: &Code, insn: &Decoded| code.bytes.get(insn.at).copied();
    first.len() == second.len()
        && first
            .iter()
            .zip(&second)
            .all(|(a, b)| a.at == b.at && opcode(one, a) == opcode(other, b) && a.insn.targets() == b.insn.targets())
}

impl FileMarks {
    fn add(&mut self, kind: &str, fields: &[&str]) -> Option<()> {
        match (kind, fields) {
            ("D", [number, kind, a, b, c, d, tree, text]) => {
                let number: usize = number.parse().ok()?;
                let kind = match *kind {
                    "if" => DecisionKind::If,
                    "while" => DecisionKind::While,
                    "do" => DecisionKind::DoWhile,
                    "for" => DecisionKind::For,
                    "ternary" => DecisionKind::Ternary,
                    _ => DecisionKind::Value,
                };
                let tree = parse_tree(&mut tree.split(' '))?;
                let (range, text) = (range([a, b, c, d])?, text.to_string());
                self.decisions.insert(number, DecisionMark { number, kind, range, text, tree, conditions: Vec::new() });
            }
            ("C", [decision, number, position, a, b, c, d, text]) => {
                let (decision, number): (usize, usize) = (decision.parse().ok()?, number.parse().ok()?);
                let of = self.decisions.get_mut(&decision)?;
                of.conditions.push((range([a, b, c, d])?, text.to_string()));
                self.conditions.insert(position.parse().ok()?, (decision, number));
            }
            ("S", [position, a, b, c, d, text]) => {
                let mark = StatementMark { range: range([a, b, c, d])?, text: text.to_string() };
                self.statements.entry(position.parse().ok()?).or_insert_with(|| Rc::new(mark));
            }
            ("X", [position, kind, a, b, c, d]) => {
                let selector = if *kind == "number" { Selector::Number } else { Selector::Other };
                let [line, column, ..] = range([a, b, c, d])?;
                self.switches.insert(position.parse().ok()?, SwitchMark { selector, line, column });
            }
            ("N", [position, reason]) => {
                self.reasons.entry(position.parse().ok()?).or_insert_with(|| Rc::from(*reason));
            }
            _ => return None,
        }
        Some(())
    }
}

fn range(fields: [&str; 4]) -> Option<MarkedRange> {
    let mut numbers = [0; 4];
    for (number, field) in numbers.iter_mut().zip(fields) {
        *number = field.parse().ok()?;
    }
    Some(numbers)
}

/// Parses a tree in prefix notation: `& 0 ! 1`.
fn parse_tree<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<BoolTree> {
    let next = |words: &mut _| parse_tree(words).map(Box::new);
    Some(match words.next()? {
        "&" => BoolTree::And(next(words)?, next(words)?),
        "|" => BoolTree::Or(next(words)?, next(words)?),
        "!" => BoolTree::Not(next(words)?),
        "?" => BoolTree::Ite(next(words)?, next(words)?, next(words)?),
        "+" => BoolTree::Const(true),
        "-" => BoolTree::Const(false),
        number => BoolTree::Cond(CondId::new(number.parse().ok()?)),
    })
}
