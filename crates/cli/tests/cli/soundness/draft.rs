//! A function in the making: its parameters, what its body can read, write and ask, and a random body over that.

use crate::soundness::text::{Text, Tree};
use crate::support::rng::Rng;

/// A parameter, and how the driver chooses an argument.
pub struct Param {
    pub declaration: String,
    /// C statements of the driver that make the argument.
    pub chosen: String,
    pub argument: String,
}

impl Param {
    /// Returns the type of a variable that holds the argument, as written before the name.
    pub fn of(&self) -> &str {
        match self.declaration.contains('[') {
            true => "int *",
            false => self.declaration.strip_suffix(&self.argument).expect("a name at the end"),
        }
    }
}

/// A pointer that is looked behind only where it leads somewhere.
#[derive(Clone)]
pub struct Guard {
    pub condition: String,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

/// The expressions that a body may use. All are C expressions of integer type, unless noted otherwise.
#[derive(Clone, Default)]
pub struct Scope {
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    /// Values that are another one each time: calls and devices. Never two in one expression, since C gives no order.
    pub answers: Vec<String>,
    /// Conditions as they are, about pointers mostly.
    pub facts: Vec<String>,
    /// Statements as they are.
    pub effects: Vec<String>,
    pub guards: Vec<Guard>,
    /// There are `buf` and `end`, and this is how they are compared.
    pub walk: Option<String>,
}

#[derive(Default)]
pub struct Draft {
    pub params: Vec<Param>,
    /// Lines before the first statement.
    pub locals: Vec<String>,
    /// Statements at the beginning.
    pub start: Vec<String>,
    /// Statements before every return.
    pub ends: Vec<String>,
    /// A condition under which the function returns at once.
    pub refuse: Option<Tree>,
    pub scope: Scope,
}

impl Draft {
    pub fn param(&mut self, declaration: &str, name: &str, chosen: &str) {
        if self.params.iter().any(|param| param.argument == name) {
            return;
        }
        self.params.push(Param {
            declaration: format!("{declaration}{name}"),
            chosen: format!("{declaration}{name} = {chosen};"),
            argument: name.to_string(),
        });
    }

    /// Declares a parameter in another way.
    pub fn declare(&mut self, name: &str, declaration: &str) {
        for param in self.params.iter_mut().filter(|param| param.argument == name) {
            param.declaration = declaration.to_string();
        }
    }

    pub fn read(&mut self, names: &[&str]) {
        self.scope.reads.extend(names.iter().map(|name| (*name).to_string()));
    }

    pub fn write(&mut self, names: &[&str]) {
        self.scope.writes.extend(names.iter().map(|name| (*name).to_string()));
    }

    /// Something that is read and written.
    pub fn place(&mut self, names: &[&str]) {
        self.read(names);
        self.write(names);
    }

    pub fn fact(&mut self, conditions: &[&str]) {
        self.scope.facts.extend(conditions.iter().map(|condition| (*condition).to_string()));
    }

    pub fn answer(&mut self, values: &[&str]) {
        self.scope.answers.extend(values.iter().map(|value| (*value).to_string()));
    }

    pub fn effect(&mut self, statements: &[&str]) {
        self.scope.effects.extend(statements.iter().map(|statement| (*statement).to_string()));
    }

    pub fn guard(&mut self, condition: &str, reads: &[&str], writes: &[&str]) {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
        let guard = Guard { condition: condition.to_string(), reads: texts(reads), writes: texts(writes) };
        self.scope.guards.push(guard);
    }
}

/// Writes the body of a function that returns `r`.
pub struct Body<'a> {
    pub rng: &'a mut Rng,
    pub text: &'a mut Text,
    ends: Vec<String>,
    /// Names given so far.
    names: usize,
    /// Statements that are left.
    left: usize,
}

impl<'a> Body<'a> {
    pub fn write(rng: &'a mut Rng, text: &'a mut Text, draft: &Draft, size: usize) {
        for line in &draft.locals {
            text.line(line);
        }
        text.statement("int r = 0;");
        if let Some(tree) = &draft.refuse {
            text.open_deciding("if (", tree, ") {");
            text.statement("return -1;");
            text.close("}");
        }
        for statement in &draft.start {
            text.statement(statement);
        }
        let mut scope = draft.scope.clone();
        scope.writes.push("r".to_string());
        let mut body = Body { rng, text, ends: draft.ends.clone(), names: 0, left: size };
        while body.left > 0 {
            body.statement(&scope, 0);
        }
        body.leave("r");
    }

    fn leave(&mut self, value: &str) {
        for statement in &self.ends {
            self.text.statement(statement);
        }
        self.text.statement(&format!("return {value};"));
    }

    fn statement(&mut self, scope: &Scope, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let nested = depth < 3 && self.left > 0;
        match self.rng.below(20) {
            0..=3 => self.assignment(scope),
            4 | 5 if !scope.effects.is_empty() => {
                let effect = self.rng.pick(&scope.effects).clone();
                self.text.statement(&effect);
            }
            6 | 7 if nested && !scope.guards.is_empty() => {
                let guard = self.rng.pick(&scope.guards).clone();
                let mut inner = scope.clone();
                inner.reads.extend([guard.reads.clone(), guard.reads.clone()].concat());
                inner.writes.extend(guard.writes.clone());
                inner.guards.retain(|other| other.condition != guard.condition);
                let leaves = guard.condition.split(" && ").map(|leaf| Tree::Leaf(leaf.to_string()));
                let all = leaves.reduce(|a, b| Tree::And(Box::new(a), Box::new(b)));
                self.choice(&all.expect("a condition"), scope, &inner, depth);
            }
            4..=7 if nested && scope.walk.is_some() => self.walk(scope, depth),
            8 if nested => self.repeat(scope, depth),
            9 if nested => self.switch(scope),
            10 => {
                let tree = self.tree(scope, 3);
                let (a, b) = (self.rng.between(-1, 5), self.read(scope));
                self.text.deciding("r = (", &tree, &format!(") ? {a} : {b};"));
            }
            11 => {
                let tree = self.tree(scope, 2);
                let tree = match tree {
                    Tree::Leaf(_) | Tree::Not(_) => Tree::And(Box::new(tree), Box::new(self.leaf(scope))),
                    other => other,
                };
                self.text.deciding("r = ", &tree, ";");
            }
            12..=14 => self.interference(scope),
            _ if nested => {
                let tree = self.tree(scope, 3);
                self.choice(&tree, scope, scope, depth);
            }
            _ => self.assignment(scope),
        }
    }

    fn block(&mut self, scope: &Scope, depth: usize) {
        for _ in 0..1 + self.rng.below(3) {
            self.statement(scope, depth + 1);
        }
        if self.rng.chance(30) {
            let value = self.rng.between(1, 9);
            self.leave(&value.to_string());
        }
    }

    fn choice(&mut self, tree: &Tree, outer: &Scope, inner: &Scope, depth: usize) {
        self.text.open_deciding("if (", tree, ") {");
        self.block(inner, depth);
        if self.rng.chance(35) {
            self.text.close("} else {");
            self.text.indent();
            self.block(outer, depth);
        }
        self.text.close("}");
    }

    /// Adds a change of state by something that is not named in between, which a wrong assumption about the environment
    /// misses.
    fn interference(&mut self, scope: &Scope) {
        let before = self.rng.between(0, 3);
        let after = before + self.rng.between(1, 3);
        let place = self.rng.pick(&scope.writes).clone();
        let between = match self.rng.below(3) {
            0 if !scope.effects.is_empty() => self.rng.pick(&scope.effects).clone(),
            _ => format!("{} = {after};", self.rng.pick(&scope.writes)),
        };
        let question = match self.rng.below(5) {
            0 | 1 => {
                self.text.statement(&format!("{place} = {before};"));
                format!("{place} {} {before}", self.rng.word("!= > <"))
            }
            2 => {
                self.text.statement(&format!("{place} = {before};"));
                format!("{place} == {after}")
            }
            3 if !scope.answers.is_empty() => {
                let answer = self.rng.pick(&scope.answers).clone();
                let old = self.old(&answer);
                format!("{answer} {} {old}", self.rng.word("!= > <"))
            }
            _ => {
                let place = self.read(scope);
                let old = self.old(&place);
                format!("{place} {} {old}", self.rng.word("!= > <"))
            }
        };
        self.text.statement(&between);
        // What may be dead is kept small.
        self.text.open_deciding("if (", &Tree::Leaf(question), ") {");
        self.assignment(scope);
        self.text.close("}");
    }

    fn old(&mut self, value: &str) -> String {
        self.names += 1;
        let name = format!("old{}", self.names);
        self.text.statement(&format!("int {name} = {value};"));
        name
    }

    /// Reads a character and moves to the next one; sometimes two characters belong together.
    fn walk(&mut self, scope: &Scope, depth: usize) {
        let mut inner = scope.clone();
        let relation = inner.walk.take().unwrap_or_default();
        inner.reads.extend(["*buf".to_string(), "*buf".to_string()]);
        inner.facts.extend(["*buf == ','".to_string(), "*buf == 'a'".to_string()]);
        let more = Tree::Leaf(format!("buf {relation} end"));
        self.text.open_deciding(if self.rng.chance(50) { "if (" } else { "while (" }, &more, ") {");
        if self.rng.chance(50) {
            self.text.open_deciding("if (", &Tree::Leaf("*buf == '\\r'".to_string()), ") {");
            self.text.statement("++buf;");
            self.text.open_deciding("if (", &Tree::Leaf("buf == end".to_string()), ") {");
            self.leave("1");
            self.text.close("}");
            self.text.close("}");
        }
        self.block(&inner, depth);
        self.text.statement("++buf;");
        self.text.close("}");
    }

    fn repeat(&mut self, scope: &Scope, depth: usize) {
        self.names += 1;
        let index = format!("i{}", self.names);
        let bound = if self.rng.chance(70) { self.rng.between(1, 4).to_string() } else { "n".to_string() };
        self.text.statement(&format!("int {index} = 0;"));
        let bounded = Tree::Leaf(format!("{index} < {bound}"));
        let mut inner = scope.clone();
        inner.reads.push(index.clone());
        let tail = self.rng.chance(25);
        if tail {
            self.text.open_statement("do {");
        } else if self.rng.chance(40) {
            let more = self.leaf(scope);
            self.text.open_deciding("while (", &Tree::And(Box::new(bounded.clone()), Box::new(more)), ") {");
        } else {
            self.text.open_deciding("while (", &bounded, ") {");
        }
        self.block(&inner, depth.max(1));
        if tail {
            self.text.statement(&format!("{index}++;"));
            self.text.close_while(&bounded);
        } else {
            self.text.statement(&format!("{index}++;"));
            self.text.close("}");
        }
    }

    fn switch(&mut self, scope: &Scope) {
        let value = self.read(scope);
        self.text.statement(&format!("switch ({value}) {{"));
        let line = self.text.last_line();
        let first = self.rng.between(0, 3);
        for step in 0..2 + self.rng.below(2) as i64 {
            let what = self.assigned(scope);
            self.text.arm(line, &format!("case {}", first + 2 * step), &what);
            self.text.statement("break;");
        }
        let what = self.assigned(scope);
        self.text.arm(line, "default", &what);
        self.text.line("}");
    }

    fn assignment(&mut self, scope: &Scope) {
        let text = self.assigned(scope);
        self.text.statement(&text);
    }

    fn assigned(&mut self, scope: &Scope) -> String {
        if !scope.answers.is_empty() && self.rng.chance(20) {
            return format!("r = {};", self.rng.pick(&scope.answers));
        }
        let to = self.rng.pick(&scope.writes).clone();
        match self.rng.below(6) {
            0 | 1 => format!("{to} = {};", self.rng.between(-1, 6)),
            2 => format!("{to} = {};", self.read(scope)),
            3 => format!("{to} = {} + {};", self.read(scope), self.rng.between(1, 3)),
            4 => format!("{to} += {};", self.rng.between(1, 2)),
            _ => format!("{to} = {} & {};", self.read(scope), self.rng.between(1, 7)),
        }
    }

    fn read(&mut self, scope: &Scope) -> String {
        self.rng.pick(&scope.reads).clone()
    }

    fn tree(&mut self, scope: &Scope, leaves: usize) -> Tree {
        if leaves < 2 || self.rng.chance(50) {
            let leaf = self.leaf(scope);
            return if self.rng.chance(12) { Tree::Not(Box::new(leaf)) } else { leaf };
        }
        let left = self.rng.below(leaves - 1) + 1;
        let (a, b) = (self.tree(scope, left), self.tree(scope, leaves - left));
        let both = (Box::new(a), Box::new(b));
        let tree = if self.rng.chance(50) { Tree::And(both.0, both.1) } else { Tree::Or(both.0, both.1) };
        if self.rng.chance(12) { Tree::Not(Box::new(tree)) } else { tree }
    }

    fn leaf(&mut self, scope: &Scope) -> Tree {
        if !scope.facts.is_empty() && self.rng.chance(25) {
            return Tree::Leaf(self.rng.pick(&scope.facts).clone());
        }
        let constant = self.rng.between(-1, 7);
        let relation = self.rng.word("== == == != < > <= >=");
        if !scope.answers.is_empty() && self.rng.chance(30) {
            return Tree::Leaf(format!("{} {relation} {constant}", self.rng.pick(&scope.answers)));
        }
        let a = self.read(scope);
        Tree::Leaf(match self.rng.below(10) {
            0..=5 => format!("{a} {relation} {constant}"),
            6 | 7 => format!("{a} {relation} {}", self.read(scope)),
            8 => format!("{a} + {} {relation} {constant}", self.read(scope)),
            _ => format!("({a} & {}) {relation} {}", self.rng.between(1, 6), self.rng.between(0, 3)),
        })
    }
}
