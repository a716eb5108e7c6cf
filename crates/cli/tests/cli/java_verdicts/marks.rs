//! Source with marks: written plainly, or with calls that record what is met.

use touchstone_base::Id;
use touchstone_ir::{BoolTree, CondId};

/// The kind of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Statement,
    Decision,
    Condition {
        decision: usize,
        own: CondId,
    },
    /// The selector of a switch.
    Selector,
}

/// A mark: what it is of, and where that begins.
#[derive(Clone, Debug)]
pub struct Mark {
    pub kind: Kind,
    pub line: usize,
    pub column: usize,
    /// The tree of a decision.
    pub tree: Option<BoolTree>,
}

/// A source in the making.
#[derive(Default)]
pub struct Marked {
    pub plain: String,
    pub recording: String,
    pub marks: Vec<Mark>,
    line: usize,
    column: usize,
}

impl Marked {
    pub fn text(&mut self, text: &str) {
        self.recording.push_str(text);
        self.add(text);
    }

    fn add(&mut self, text: &str) {
        self.plain.push_str(text);
        for letter in text.chars() {
            match letter {
                '\n' => (self.line, self.column) = (self.line + 1, 0),
                _ => self.column += 1,
            }
        }
    }

    fn mark(&mut self, kind: Kind) -> usize {
        self.marks.push(Mark { kind, line: self.line + 1, column: self.column + 1, tree: None });
        self.marks.len() - 1
    }

    /// A statement begins here.
    pub fn statement(&mut self) {
        let mark = self.mark(Kind::Statement);
        self.recording.push_str(&format!("Seen.s({mark}); "));
    }

    /// The statement that just began does so behind this.
    pub fn moved(&mut self, text: &str) {
        self.text(text);
        let (line, column) = (self.line + 1, self.column + 1);
        if let Some(last) = self.marks.last_mut() {
            (last.line, last.column) = (line, column);
        }
    }

    /// A decision, a condition or what a switch is about begins here.
    pub fn begin(&mut self, kind: Kind) -> usize {
        let mark = self.mark(kind);
        match kind {
            Kind::Decision => self.recording.push_str(&format!("Seen.d({mark}, ")),
            Kind::Condition { decision, own } => {
                self.recording.push_str(&format!("Seen.c({mark}, {decision}, {}, ", own.index()))
            }
            Kind::Selector => self.recording.push_str(&format!("Seen.w({mark}, ")),
            Kind::Statement => {}
        }
        mark
    }

    pub fn end(&mut self, _mark: usize) {
        self.recording.push(')');
    }

    pub fn end_decision(&mut self, mark: usize, tree: BoolTree) {
        self.marks[mark].tree = Some(tree);
        self.recording.push(')');
    }
}
