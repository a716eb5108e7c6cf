//! What changed between two versions of a program, by structure.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use touchstone_campaign::{Difference, Impact, Plan, Purpose, Request, difference};

fn plan(name: &str, text: &str) -> (tempfile::TempDir, Plan) {
    let scratch = tempfile::tempdir().expect("a directory");
    let source = scratch.path().join(name);
    std::fs::write(&source, text).expect("written");
    let request = Request { purpose: Purpose::Verdicts, ..Request::new([source], scratch.path().join("out")) };
    let plan = Plan::new(&request).expect("a plan");
    (scratch, plan)
}

fn between(name: &str, old: &str, new: &str) -> Difference {
    let ((_old, old), (_new, new)) = (plan(name, old), plan(name, new));
    difference(&old.program, &new.program)
}

/// The functions that are not unaffected.
fn affected(difference: &Difference) -> BTreeMap<&str, Impact> {
    let others = difference.functions.iter().filter(|(_, impact)| **impact != Impact::Unaffected);
    others.map(|(name, impact)| (name.as_str(), *impact)).collect()
}

const OLD: &str = "struct pair { int first, second; };
static int last;
static int leaf(int x) { return x > 5 ? x + 1 : x; }
int middle(int x) { if (leaf(x) > 10) return 1; return 0; }
int swapped(struct pair *p) { if (p->first > p->second) return 1; return 0; }
void keep(int x) { last = x; }
int kept(int x) { if (last == x) return 1; return 0; }
const char *word(int x) { if (x == 42) return \"answer\"; return \"none\"; }
";

#[test]
fn moved_and_reformatted_code_is_unchanged() {
    let leaf = "static int leaf(int x) { return x > 5 ? x + 1 : x; }\n";
    let moved = OLD.replace(leaf, "/* below */ static int leaf(int x);\n") + &leaf.replace("{ ", "{\n\n    ");
    let difference = between("p.c", OLD, &moved);
    assert_eq!(affected(&difference), BTreeMap::new());
    assert_eq!(difference.functions.len(), 6);
}

#[test]
fn a_change_reaches_who_depends_on_it_and_nobody_else() {
    use Impact::{Added, Changed, Reached};
    let check = |from: &str, to: &str, expected: &[(&str, Impact)]| {
        assert!(OLD.contains(from), "{from}");
        let difference = between("p.c", OLD, &OLD.replacen(from, to, 1));
        assert_eq!(affected(&difference), expected.iter().copied().collect(), "{from} became {to}");
    };
    check("x + 1", "x + 2", &[("leaf", Changed), ("middle", Reached)]);
    check("> 10", "> 11", &[("middle", Changed)]);
    check("int first,", "int before, first,", &[("swapped", Changed)]);
    check("\"none\"", "\"None\"", &[("word", Changed)]);
    check("last = x;", "last = x & 7;", &[("keep", Changed), ("kept", Reached)]);
    check("static int last", "static int last = 3", &[("keep", Reached), ("kept", Reached)]);
    check("void keep", "int new_one(void) { return 1; }\nvoid keep", &[("new_one", Added)]);
}

#[test]
fn what_is_gone_is_told() {
    let difference = between("p.c", OLD, &OLD.replace("const char *word", "static const char *term"));
    assert_eq!(difference.removed.iter().collect::<Vec<_>>(), ["word"]);
    assert_eq!(affected(&difference), BTreeMap::from([("term", Impact::Added)]));
}

#[test]
fn methods_are_compared_like_functions() {
    let old = "class Shop {\n  static int rate(int a) { return a > 100 ? 5 : 0; }\n  static int paid(int a) { if (rate(a) > 3) return 1; return 0; }\n  \
               static int other(int a) { if (a > 3) return 1; return 0; }\n}\n";
    let lines = between("Shop.java", old, &old.replace("  static", "\n  // what it is for\n  static"));
    assert_eq!(affected(&lines), BTreeMap::new());
    let leaf = between("Shop.java", old, &old.replace("? 5", "? 6"));
    let names: Vec<(&str, Impact)> = affected(&leaf).into_iter().collect();
    let about = |part: &str| names.iter().find(|(name, _)| name.contains(part)).map(|(_, impact)| *impact);
    assert_eq!(
        (about("rate"), about("paid"), about("other")),
        (Some(Impact::Changed), Some(Impact::Reached), None),
        "{names:?}"
    );
}
