//! A program and its instrumented twin, written line by line. Touchstone gets the plain one. The twin prints marks for
//! statements, conditions and decisions; its static state is in a section that the driver resets, and the driver
//! answers its volatile reads.
//!
//! Two signs in a text are for the twin only: `§` before a type (state of the program), and `⟦…⟧` around a read that
//! may have any value.

/// A Boolean expression whose leaves are conditions.
#[derive(Clone, Debug)]
pub enum Tree {
    Leaf(String),
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
}

/// The same without texts: what the judge computes with. Leaves are numbered from the left.
#[derive(Clone, Debug)]
pub enum Shape {
    Leaf(usize),
    Not(Box<Shape>),
    And(Box<Shape>, Box<Shape>),
    Or(Box<Shape>, Box<Shape>),
}

/// A decision, alone on its line.
pub struct Decision {
    pub line: usize,
    pub shape: Shape,
    /// Columns of each leaf in the plain text, from 1, the last one excluded.
    pub leaves: Vec<(usize, usize)>,
}

/// An arm of a switch: reached exactly when its first statement is.
pub struct Arm {
    pub line: usize,
    pub label: String,
    pub statement: usize,
}

/// Both texts so far, and where their marks are.
#[derive(Default)]
pub struct Text {
    pub plain: String,
    pub twin: String,
    lines: usize,
    depth: usize,
    pub decisions: Vec<Decision>,
    /// The line of each statement.
    pub statements: Vec<usize>,
    pub arms: Vec<Arm>,
}

impl Text {
    fn push(&mut self, plain: &str, twin: &str) {
        assert!(!plain.contains('\n') && !twin.contains('\n'), "a line is a line: {plain}");
        let indent = "  ".repeat(self.depth);
        self.plain.push_str(&format!("{indent}{plain}\n"));
        self.twin.push_str(&format!("{indent}{twin}\n"));
        self.lines += 1;
    }

    /// A line without marks.
    pub fn line(&mut self, text: &str) {
        self.push(&plain(text), &twin(text));
    }

    /// A line without marks that differs in the twin.
    pub fn differing(&mut self, plain: &str, twin: &str) {
        self.push(plain, twin);
    }

    /// A line that only the twin has.
    pub fn twin_line(&mut self, text: &str) {
        self.twin.push_str(&format!("{text}\n"));
    }

    /// A line that opens a block.
    pub fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// A statement that opens a block.
    pub fn open_statement(&mut self, text: &str) {
        self.statement(text);
        self.depth += 1;
    }

    /// One more level, after `} else {`.
    pub fn indent(&mut self) {
        self.depth += 1;
    }

    pub fn close(&mut self, text: &str) {
        self.depth -= 1;
        self.line(text);
    }

    fn next_statement(&mut self) -> usize {
        self.statements.push(self.lines + 1);
        self.statements.len() - 1
    }

    /// A statement on its own line.
    pub fn statement(&mut self, text: &str) -> usize {
        let mark = self.next_statement();
        self.push(&plain(text), &format!("S({mark}); {}", twin(text)));
        mark
    }

    /// `before DECISION after` as a statement on its own line.
    pub fn deciding(&mut self, before: &str, tree: &Tree, after: &str) {
        let mark = self.next_statement();
        self.decide(&format!("S({mark}); "), before, tree, after);
    }

    /// The end of a `do` loop: a decision that is no statement.
    pub fn close_while(&mut self, tree: &Tree) {
        self.depth -= 1;
        self.decide("", "} while (", tree, ");");
    }

    pub fn open_deciding(&mut self, before: &str, tree: &Tree, after: &str) {
        self.deciding(before, tree, after);
        self.depth += 1;
    }

    fn decide(&mut self, mark: &str, before: &str, tree: &Tree, after: &str) {
        let number = self.decisions.len();
        let mut writing = Writing {
            plain: plain(before),
            twin: format!("{mark}{}DEC({number}, ", twin(before)),
            start: 2 * self.depth + 1,
            leaves: Vec::new(),
        };
        let shape = writing.tree(tree);
        let Writing { plain: mut text, twin: mut marked, leaves, .. } = writing;
        text.push_str(&plain(after));
        marked.push_str(&format!("){}", twin(after)));
        self.decisions.push(Decision { line: self.lines + 1, shape, leaves });
        self.push(&text, &marked);
    }

    /// A switch over a value, with what each arm does; the last is the default.
    pub fn arm(&mut self, line: usize, label: &str, first: &str) {
        self.line(&format!("{label}:"));
        let statement = self.statement(first);
        self.arms.push(Arm { line, label: label.to_string(), statement });
    }

    /// The number of the last line.
    pub fn last_line(&self) -> usize {
        self.lines
    }
}

struct Writing {
    plain: String,
    twin: String,
    start: usize,
    leaves: Vec<(usize, usize)>,
}

impl Writing {
    fn both(&mut self, text: &str) {
        self.plain.push_str(text);
        self.twin.push_str(text);
    }

    fn tree(&mut self, tree: &Tree) -> Shape {
        match tree {
            Tree::Leaf(text) => {
                let number = self.leaves.len();
                let from = self.start + self.plain.len();
                self.plain.push_str(&plain(text));
                self.leaves.push((from, self.start + self.plain.len()));
                self.twin.push_str(&format!("C({number}, {})", twin(text)));
                Shape::Leaf(number)
            }
            Tree::Not(a) => {
                self.both("!(");
                let a = self.tree(a);
                self.both(")");
                Shape::Not(Box::new(a))
            }
            Tree::And(a, b) => {
                let (a, b) = self.pair(a, " && ", b);
                Shape::And(a, b)
            }
            Tree::Or(a, b) => {
                let (a, b) = self.pair(a, " || ", b);
                Shape::Or(a, b)
            }
        }
    }

    fn pair(&mut self, a: &Tree, operator: &str, b: &Tree) -> (Box<Shape>, Box<Shape>) {
        let a = self.operand(a);
        self.both(operator);
        let b = self.operand(b);
        (Box::new(a), Box::new(b))
    }

    fn operand(&mut self, tree: &Tree) -> Shape {
        let parentheses = matches!(tree, Tree::And(..) | Tree::Or(..));
        if parentheses {
            self.both("(");
        }
        let shape = self.tree(tree);
        if parentheses {
            self.both(")");
        }
        shape
    }
}

fn plain(text: &str) -> String {
    text.replace("§ ", "").replace(['⟦', '⟧'], "")
}

fn twin(text: &str) -> String {
    text.replace("§ ", "STATE ").replace('⟦', "FRESH(").replace('⟧', ")")
}
