//! Random programs with `setjmp` in decisions and jumps out of decisions, measured while they run. A twin with marks of its own
//! says which outcomes, conditions and rows there were: nothing else is covered, and where no decision is entered again,
//! nothing less, except for conditions of decisions that a jump leaves.
//!
//! `TOUCHSTONE_LONG=1` measures a hundred programs, `TOUCHSTONE_SEED=N` one of them, `N..M` some.

use crate::soundness::judge::{Covered, reached};
use crate::soundness::text::{Text, Tree};
use crate::support::rng::Rng;
use crate::support::seeds;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Functions of one program.
const FUNCTIONS: usize = 8;

/// A jump back continues the evaluation that called `setjmp`.
const JUMPS: &str = "
static int saved;
static __typeof__(evaluation[0]) saved_row;
#define FRESH(e) (saved = evaluations, saved_row = evaluation[evaluations - 1], e)
#define longjmp(b, v) (evaluations = saved, evaluation[saved - 1] = saved_row, (longjmp)(b, v))
";

struct Program {
    rng: Rng,
    text: Text,
}

impl Program {
    fn leaf(&mut self, name: &str, jumps: bool) -> Tree {
        let constant = self.rng.between(0, 4);
        let leaf = match self.rng.below(if jumps { 4 } else { 3 }) {
            0 => format!("n > {constant}"),
            1 => format!("m == {constant}"),
            2 => format!("{name}_c < {constant}"),
            _ => format!("{name}_jump(n, m)"),
        };
        Tree::Leaf(leaf)
    }

    /// A decision over `first` and up to two other conditions.
    fn tree(&mut self, name: &str, first: Tree, jumps: bool) -> Tree {
        let mut tree = first;
        for _ in 0..self.rng.below(3) {
            let other = self.leaf(name, jumps);
            let (a, b) = if self.rng.chance(60) { (tree, other) } else { (other, tree) };
            let both = (Box::new(a), Box::new(b));
            tree = if self.rng.chance(50) { Tree::And(both.0, both.1) } else { Tree::Or(both.0, both.1) };
            if self.rng.chance(15) {
                tree = Tree::Not(Box::new(tree));
            }
        }
        tree
    }

    fn choice(&mut self, tree: &Tree) {
        self.text.open_deciding("if (", tree, ") {");
        self.text.statement("left += 1;");
        self.text.close("} else {");
        self.text.indent();
        self.text.statement("left += 2;");
        self.text.close("}");
    }

    /// Jumps back until the counter reaches a limit.
    fn jump(&mut self, name: &str) {
        let limit = *self.rng.pick(&[0, 1, 2, 3, 40]);
        self.text.open_deciding("if (", &Tree::Leaf(format!("{name}_c < {limit}")), ") {");
        self.text.statement(&format!("{name}_c++;"));
        self.text.statement(&format!("longjmp({name}_b, 1 + {name}_c % 2);"));
        self.text.close("}");
    }

    fn function(&mut self, name: &str) {
        self.text.line(&format!("static jmp_buf {name}_b;"));
        self.text.line(&format!("static int {name}_c;"));
        self.text.line(&format!("static int {name}_jump(int n, int m)"));
        self.text.open("{");
        self.jump(name);
        self.text.statement("return n > m;");
        self.text.close("}");
        self.text.line(&format!("void {name}(int n, int m)"));
        self.text.open("{");
        self.text.statement(&format!("{name}_c = 0;"));
        // A jump needs a buffer also where the next decision does not evaluate its call.
        self.text.open_deciding("if (", &Tree::Leaf(format!("⟦setjmp({name}_b)⟧ == 9")), ") {");
        self.text.statement("return;");
        self.text.close("}");
        let (again, test) =
            (*self.rng.pick(&["setjmp", "sigsetjmp"]), *self.rng.pick(&["== 0", "< 2", "!= 1", "== 2"]));
        let call = if again == "setjmp" { format!("setjmp({name}_b)") } else { format!("sigsetjmp({name}_b, 0)") };
        let tree = self.tree(name, Tree::Leaf(format!("⟦{call}⟧ {test}")), false);
        self.choice(&tree);
        if self.rng.chance(60) {
            self.jump(name);
        }
        for _ in 0..1 + self.rng.below(2) {
            let first = self.leaf(name, true);
            let tree = self.tree(name, first, true);
            self.choice(&tree);
        }
        self.text.close("}");
    }
}

/// A program of which `main` calls most functions.
fn program(seed: u64) -> Text {
    let mut program = Program { rng: Rng::new(seed ^ 0x1eaf), text: Text::default() };
    program.text.line("#include <setjmp.h>");
    program.text.line("static int left;");
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("f{number}")).collect();
    for name in &names {
        program.function(name);
    }
    program.text.line("int main(void) {");
    for name in &names {
        for _ in 0..program.rng.below(4) {
            let (n, m) = (program.rng.below(6), program.rng.below(6));
            program.text.line(&format!("{name}({n}, {m});"));
        }
    }
    program.text.differing("return 0; }", "print_marks(); return 0; }");
    program.text
}

/// Compiles and runs the twin.
fn marks(folder: &Path, text: &Text) -> Covered {
    let runtime = include_str!("soundness/marks.c");
    let headers = "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    std::fs::write(folder.join("twin.c"), format!("{headers}{runtime}{JUMPS}{}", text.twin)).expect("written");
    let built = Command::new("gcc").args(["-w", "-O0", "-o", "twin", "twin.c"]).current_dir(folder).output();
    let built = built.expect("gcc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(folder.join("twin")).output().expect("the twin runs");
    assert!(ran.status.success(), "{}\n{}", ran.status, text.plain);
    Covered::read(&String::from_utf8(ran.stdout).expect("numbers"))
}

fn measured(folder: &Path, optimisation: &str) -> Vec<Value> {
    let command = format!("gcc -w {optimisation} -o program program.c && ./program");
    let ran = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "branch,decision,condition,mcdc", "--format", "json", "--", "sh", "-c", &command])
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let message = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{message}");
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{message}"));
    report["objectives"].as_array().expect("objectives").clone()
}

#[test]
fn what_is_covered_around_setjmp_is_what_the_program_did() {
    let (mut covered, mut uncovered, mut unknown, mut wrong) = (0, 0, 0, Vec::new());
    for seed in seeds(0..2, 0..100) {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let text = program(seed);
        std::fs::write(scratch.path().join("program.c"), &text.plain).expect("written");
        let marks = marks(scratch.path(), &text);
        for objective in measured(scratch.path(), ["-O0", "-O2"][seed as usize % 2]) {
            let reached = reached(&text, &marks, &objective).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let status = objective["status"].as_str().expect("a status");
            match status {
                "covered" => covered += 1,
                "uncovered" => uncovered += 1,
                _ => unknown += 1,
            }
            // Probes record conditions when the decision ends, which a jump out of it prevents.
            let missed = status == "uncovered" && reached && objective["criterion"] != "condition";
            if (status == "covered" && !reached) || missed {
                wrong.push(format!("seed {seed}: line {} is {status}: {objective}", objective["line"]));
            }
        }
        if !wrong.is_empty() {
            wrong.push(text.plain);
            break;
        }
    }
    println!("{covered} covered, {uncovered} uncovered, {unknown} unknown");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(covered > 0 && uncovered > 0, "nothing to judge");
}
