//! Random Java classes of small methods, with marks: what a method does depends on few bits of its parameters, so that all its inputs can be
//! tried.
//!
//! A class is written once and read twice: plainly, as `touchstone` gets it, and with calls that record which statement,
//! condition and decision was met.

use super::marks::{Kind, Marked};
use crate::support::rng::Rng;
use touchstone_base::Id;
use touchstone_ir::{BoolTree, CondId};

/// The declarations that all classes share: types to test, to close, to throw and to call.
const HEAD: &str = r#"
  enum Hue { RED, GREEN, BLUE }
  static class Own extends Exception { Own(String m) { super(m); } }
  static class Base { int get(int k) { return k + 1; } }
  static class Derived extends Base { int own; Derived(int own) { this.own = own; } @Override int get(int k) { return own - k; } }
  static final class Last extends Derived { Last() { super(3); } @Override int get(int k) { if (k == 2) throw new IllegalStateException(); return super.get(k); } }
  static class Closing implements AutoCloseable { final int when; Closing(int when) { this.when = when; st += 1; } public void close() throws Own { st ^= 2; if ((st & 3) == when) throw new Own("close"); } }
  static int st; static boolean flag; static long wide; static char letter = 'a'; static final int[] TABLE = {4, 0, -3, 2147483647};
  static Object obj(int i) { switch (i & 7) { case 0: return i; case 1: return "s" + i; case 2: return new Derived(i); case 3: return new int[] {i}; case 4: return new String[1]; case 5: return (long) i; case 6: return null; default: return new Last(); } }
  static Base base(int i) { switch (i & 3) { case 0: return new Base(); case 1: return new Derived(i); case 2: return null; default: return new Last(); } }
  static int bump(int by) { st += by; return st; }
  static boolean turn() { flag = !flag; return flag; }
  static int deep(int n) { return n <= 0 ? 0 : 1 + deep(n - 1); }
  static class Late { static int level = 3; static final int KEPT = Math.abs(-4); static int raise() { return ++level; } }
"#;

/// A parameter of the tested method, and the expression for it in the body.
struct Param {
    declared: &'static str,
    domain: &'static str,
    given: &'static str,
    local: &'static str,
    ty: &'static str,
}

const INTS: &str = "int NAME : Seen.INTS";
const FEW: &str = "int NAME : Seen.FEW";
const PARAMS: [Param; 17] = [
    Param { declared: "int", domain: INTS, given: "NAME", local: "NAME & 7", ty: "int" },
    Param { declared: "int", domain: INTS, given: "NAME", local: "NAME << 29 >> 29", ty: "int" },
    Param { declared: "int", domain: INTS, given: "NAME", local: "NAME % 4", ty: "int" },
    Param { declared: "int", domain: FEW, given: "NAME", local: "(NAME & 3) + 2147483646", ty: "int" },
    Param { declared: "int", domain: FEW, given: "NAME", local: "NAME << 30", ty: "int" },
    Param { declared: "int", domain: FEW, given: "NAME", local: "TABLE[NAME & 3]", ty: "int" },
    Param { declared: "int", domain: FEW, given: "NAME", local: "new int[] {0, -1, 31, 33}[NAME & 3]", ty: "int" },
    Param { declared: "long", domain: FEW, given: "NAME", local: "(NAME & 3) + Long.MAX_VALUE - 1", ty: "long" },
    Param {
        declared: "long",
        domain: FEW,
        given: "NAME * 4294967296L + NAME",
        local: "NAME % 8589934595L",
        ty: "long",
    },
    Param { declared: "boolean", domain: "int NAME : Seen.TRUTHS", given: "NAME > 0", local: "NAME", ty: "boolean" },
    Param { declared: "char", domain: FEW, given: "(char) NAME", local: "(char) (NAME % 3 + 96)", ty: "char" },
    Param { declared: "byte", domain: FEW, given: "(byte) NAME", local: "(byte) (NAME << 6)", ty: "byte" },
    Param { declared: "short", domain: FEW, given: "(short) NAME", local: "(short) (NAME & 3 | 32766)", ty: "short" },
    Param {
        declared: "int",
        domain: FEW,
        given: "NAME",
        local: "new double[] {Double.NaN, -0.0, 1.5, 1e10}[NAME & 3]",
        ty: "double",
    },
    Param {
        declared: "int",
        domain: FEW,
        given: "NAME",
        local: "new String[] {null, \"\", \"ab\", \"b\"}[NAME & 3]",
        ty: "String",
    },
    Param { declared: "String", domain: "String NAME : Seen.TEXTS", given: "NAME", local: "NAME", ty: "String" },
    Param {
        declared: "int[]",
        domain: "int[] NAME : Seen.ARRAYS",
        given: "NAME == null ? null : NAME.clone()",
        local: "NAME",
        ty: "int[]",
    },
];

const TYPES: [&str; 9] = ["int", "int", "int", "long", "boolean", "char", "byte", "double", "String"];

type Scope = Vec<(String, &'static str)>;

/// The position of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Loop,
    /// An end of the method here would hide an exception; it may.
    Finally,
}

pub struct Methods {
    rng: Rng,
    out: Marked,
    names: usize,
    /// Labels of loops around.
    labels: Vec<String>,
    /// The driver's calls.
    calls: String,
}

/// A class of this name, and a method body that calls all its methods with all inputs.
pub fn class(seed: u64, name: &str, owners: &[Owner]) -> (Marked, String) {
    let mut made =
        Methods { rng: Rng::new(seed), out: Marked::default(), names: 0, labels: Vec::new(), calls: String::new() };
    made.out.text(&format!("import java.util.*;\npublic class {name} {{{HEAD}"));
    made.out.text(&format!("  int size = 1; int[] items = new int[2]; {name}(int k) {{ size = k & 3; }}\n"));
    made.out.text("  void grow(int by) { if (by < 0) throw new IllegalArgumentException(); size += by & 3; items[size & 1] = by; }\n");
    for (number, owner) in owners.iter().enumerate() {
        made.method(name, number, *owner);
    }
    made.out.text("}\n");
    (made.out, made.calls)
}

/// The construct that contains the body of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// In a static method.
    Class,
    /// In a method of an object.
    Object,
    /// In a method of an object inside of another.
    Inner,
    /// In a class that a static method has, and calls.
    Local,
    /// The same, without a name.
    Anonymous,
    /// In a lambda expression.
    Lambda,
}

impl Owner {
    fn has_object(self) -> bool {
        matches!(self, Owner::Object | Owner::Inner)
    }

    /// Returns the text before and after a body. In the first, HEAD is the method's result, name and parameters.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Owner::Class => ("  static HEAD throws Own {\n", "  }\n"),
            Owner::Object => ("  HEAD throws Own {\n", "  }\n"),
            Owner::Inner => (
                "  class InNUMBER { int own; InNUMBER(int own) { this.own = own & 3; }\n  HEAD throws Own {\n",
                "  } }\n",
            ),
            Owner::Local => (
                "  static HEAD throws Own { class Local { RESULT q() throws Own {\n",
                "  } }\n  return new Local().q(); }\n",
            ),
            Owner::Anonymous => (
                "  interface CallNUMBER { RESULT q() throws Own; }\n  static HEAD throws Own { CallNUMBER it = new CallNUMBER() { public RESULT q() throws Own {\n",
                "  } };\n  return it.q(); }\n",
            ),
            Owner::Lambda => (
                "  interface CallNUMBER { RESULT q() throws Own; }\n  static HEAD throws Own { CallNUMBER it = () -> {\n",
                "  };\n  return it.q(); }\n",
            ),
        }
    }
}

impl Methods {
    fn method(&mut self, class: &str, number: usize, owner: Owner) {
        let count = 1 + self.rng.below(if owner.has_object() { 2 } else { 3 });
        let mut scope: Scope = Vec::new();
        let (mut declared, mut given, mut loops, mut locals) = (Vec::new(), Vec::new(), String::new(), Vec::new());
        let mut are_wide = 0;
        for index in 0..count {
            let param = self.rng.pick(&PARAMS);
            are_wide += usize::from(param.declared.ends_with(']') || param.declared == "String");
            let param = if are_wide > 1 { &PARAMS[0] } else { param };
            let name = format!("p{index}");
            declared.push(format!("{} {name}", param.declared));
            given.push(param.given.replace("NAME", &name));
            loops.push_str(&format!("for ({}) ", param.domain.replace("NAME", &name)));
            locals.push((format!("vp{index}"), param.ty, param.local.replace("NAME", &name)));
            scope.push((format!("vp{index}"), param.ty));
        }
        let result = *self.rng.pick(&["int", "long", "boolean", "String", "double", "int"]);
        let head = format!("{result} m{number}({})", declared.join(", "));
        let (before, behind) = owner.around();
        let written = before.replace("HEAD", &head).replace("NUMBER", &number.to_string()).replace("RESULT", result);
        self.out.text(&written);
        for (name, ty, value) in locals {
            self.statement(2, &format!("{ty} {name} = {value};"));
        }
        if owner == Owner::Inner {
            scope.push(("own".to_string(), "int"));
        }
        if owner.has_object() {
            scope.push(("size".to_string(), "int"));
            scope.push(("items".to_string(), "int[]"));
        }
        let statements = 2 + self.rng.below(3);
        let scope = self.statements(scope, 2, statements, 2, Place::Body);
        self.open(2, "return ");
        self.value(result, &scope, 2);
        self.out.text(&format!(";\n{behind}"));
        let receiver = match owner {
            Owner::Object => format!("Seen.made(new {class}(k), t)"),
            Owner::Inner => format!("Seen.made(new {class}(k), t).new In{number}(k ^ t)"),
            _ => class.to_string(),
        };
        let call = format!("{receiver}.m{number}({})", given.join(", "));
        let before =
            format!("{class}.st = s; {class}.flag = s > 1; {class}.wide = s - 2L; {class}.letter = (char) (96 + s);");
        let around = match owner.has_object() {
            false => "for (int s = 0; s < 4; s++) ",
            true => "for (int s = 0; s < 4; s += 3) for (int k = 0; k < 4; k++) for (int t = 0; t < 3; t++) ",
        };
        let made = call.replace("Seen.made(", &format!("made{class}("));
        self.calls.push_str(&format!(
            "    Seen.method(\"{class}.m{number}\"); {around}{loops}{{ {before} try {{ Seen.result({made}); }} catch (Throwable e) {{ Seen.thrown(e); }} Seen.result({class}.st + \" \" + {class}.flag); }}\n"
        ));
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.text(&"  ".repeat(depth));
        self.out.text(text);
        self.out.text("\n");
    }

    /// The beginning of a statement.
    fn open(&mut self, depth: usize, text: &str) {
        self.out.text(&"  ".repeat(depth));
        self.out.statement();
        self.out.text(text);
    }

    fn statement(&mut self, depth: usize, text: &str) {
        self.open(depth, text);
        self.out.text("\n");
    }

    // Expressions are written as they are made.

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.rng.below(from.len())]
    }

    fn literal(&mut self, ty: &str) -> &'static str {
        match ty {
            "int" => self.pick(&["0", "1", "-1", "2", "3", "7", "32", "Integer.MAX_VALUE", "Integer.MIN_VALUE", "98"]),
            "long" => self.pick(&["0L", "1L", "-1L", "3L", "Long.MAX_VALUE", "Long.MIN_VALUE", "4294967296L"]),
            "boolean" => self.pick(&["flag", "flag", "true", "false"]),
            "char" => self.pick(&["'a'", "'b'", "'\\u0000'", "'\\uffff'"]),
            "short" => self.pick(&["(short) 1", "(short) -32768", "(short) 32767"]),
            "byte" => self.pick(&["(byte) 1", "(byte) -128", "(byte) 127"]),
            "double" => self.pick(&["0.0", "1.5", "-0.0", "Double.NaN", "1e10", "Double.POSITIVE_INFINITY"]),
            "String" => self.pick(&["\"\"", "\"a\"", "\"ab\"", "\"b\"", "\"xyz\""]),
            _ => "null",
        }
    }

    fn text(&mut self, text: &str) {
        self.out.text(text);
    }

    fn operand(&mut self, ty: &'static str, scope: &Scope) {
        let fitting: Vec<String> = scope.iter().filter(|(_, own)| *own == ty).map(|(name, _)| name.clone()).collect();
        let statics = match ty {
            "int" if self.rng.chance(20) => "Late.level",
            "int" => "st",
            "long" => "wide",
            "char" => "letter",
            _ => "",
        };
        if !fitting.is_empty() && self.rng.chance(75) {
            let name = fitting[self.rng.below(fitting.len())].clone();
            self.text(&name);
        } else if !statics.is_empty() && self.rng.chance(25) {
            self.text(statics);
        } else {
            let literal = self.literal(ty);
            self.text(literal);
        }
    }

    /// A value of a type; its text binds closer than operators.
    fn value(&mut self, ty: &'static str, scope: &Scope, depth: usize) {
        if ty == "boolean" && depth > 0 && self.rng.chance(80) {
            return self.kept_truth(scope, depth - 1);
        }
        if depth == 0 || self.rng.chance(25) {
            self.text("(");
            self.operand(ty, scope);
            return self.text(")");
        }
        if ty != "int[]" && self.rng.chance(10) {
            self.text("(");
            self.decision(scope, 1);
            self.text(" ? ");
            self.value(ty, scope, depth - 1);
            self.text(" : ");
            self.value(ty, scope, depth - 1);
            return self.text(")");
        }
        let next = depth - 1;
        match ty {
            "int" => self.int(scope, next),
            "long" => self.long(scope, next),
            "double" => self.binary("double", &[" + ", " - ", " * ", " / ", " % "], scope, next),
            "char" | "byte" | "short" => {
                let from = *self.rng.pick(&["int", "long", "double"]);
                self.cast(ty, from, scope, next);
            }
            "String" => self.string(scope, next),
            _ => {
                self.text("(");
                self.operand(ty, scope);
                self.text(")");
            }
        }
    }

    fn binary(&mut self, ty: &'static str, ops: &[&'static str], scope: &Scope, depth: usize) {
        self.text("(");
        self.value(ty, scope, depth);
        let op = self.pick(ops);
        self.text(op);
        self.value(ty, scope, depth);
        self.text(")");
    }

    fn cast(&mut self, ty: &'static str, from: &'static str, scope: &Scope, depth: usize) {
        // An Integer is no short.
        let unboxed = if from == "int" { "(int) " } else { "" };
        self.text(&format!("(({ty}) {unboxed}"));
        self.value(from, scope, depth);
        self.text(")");
    }

    fn call(&mut self, name: &str, params: &[&'static str], scope: &Scope, depth: usize) {
        self.text(name);
        self.text("(");
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.value(param, scope, depth);
        }
        self.text(")");
    }

    fn int(&mut self, scope: &Scope, depth: usize) {
        match self.rng.below(22) {
            0..=5 => self.binary("int", &[" + ", " - ", " * ", " & ", " | ", " ^ "], scope, depth),
            6 => self.binary("int", &[" / ", " % "], scope, depth),
            7 | 8 => self.binary("int", &[" << ", " >> ", " >>> "], scope, depth),
            9 => self.cast("int", "long", scope, depth),
            10 => self.cast("int", "double", scope, depth),
            11 => self.cast("int", "char", scope, depth),
            12 => self.cast("int", "byte", scope, depth),
            13 => self.call("Math.abs", &["int"], scope, depth),
            14 => {
                let name = self.pick(&["Math.max", "Math.floorMod", "Integer.compare", "Math.addExact"]);
                self.call(name, &["int", "int"], scope, depth);
            }
            15 => {
                self.value("String", scope, depth);
                let rest = self.pick(&[".length()", ".hashCode()", ".indexOf('b')", ".charAt(1)"]);
                self.text(rest);
            }
            16 => {
                self.call("base", &["int"], scope, depth);
                self.call(".get", &["int"], scope, depth);
            }
            17 => {
                let class = self.pick(&["Integer", "Derived", "Base", "int[]"]);
                let rest = match class {
                    "Integer" => "",
                    "int[]" => "[0]",
                    _ => ".get(1)",
                };
                self.text(&format!("(({class}) "));
                self.call("obj", &["int"], scope, depth);
                self.text(&format!("){rest}"));
            }
            18 if self.rng.chance(30) => self.text("Late.raise()"),
            18 => self.call("bump", &["int"], scope, depth),
            19 => {
                self.text("TABLE[");
                self.value("int", scope, depth);
                self.text("]");
            }
            20 => match scope.iter().find(|(_, ty)| *ty == "int[]").cloned() {
                Some((name, _)) if self.rng.chance(50) => self.text(&format!("{name}.length")),
                Some((name, _)) => {
                    self.text(&format!("{name}["));
                    self.value("int", scope, depth);
                    self.text("]");
                }
                None => self.text("Hue.values().length"),
            },
            _ => {
                let choice = self.pick(&[
                    "case 0 -> 5; case 1, 2 -> st; case -3 -> 7; default -> 1;",
                    "case 3 -> 5; default -> st;",
                ]);
                self.text("switch (");
                let mark = self.out.begin(Kind::Selector);
                self.value("int", scope, depth);
                self.out.end(mark);
                self.text(&format!(") {{ {choice} }}"));
            }
        }
    }

    fn long(&mut self, scope: &Scope, depth: usize) {
        match self.rng.below(6) {
            0..=2 => self.binary("long", &[" + ", " - ", " * ", " / ", " & ", " ^ "], scope, depth),
            3 => {
                self.text("(");
                self.value("long", scope, depth);
                let op = self.pick(&[" << ", " >> ", " >>> "]);
                self.text(op);
                self.value("int", scope, depth);
                self.text(")");
            }
            4 => self.cast("long", "int", scope, depth),
            _ => self.cast("long", "double", scope, depth),
        }
    }

    fn string(&mut self, scope: &Scope, depth: usize) {
        match self.rng.below(6) {
            0 | 1 => self.binary("String", &[" + "], scope, depth),
            2 => {
                let ty = *self.rng.pick(&["int", "char", "boolean", "long"]);
                self.call("String.valueOf", &[ty], scope, depth);
            }
            3 => {
                self.value("String", scope, depth);
                self.call(".substring", &["int"], scope, depth);
            }
            4 => {
                self.value("String", scope, depth);
                let rest = self.pick(&[".toUpperCase()", ".trim()", ".concat(\"b\")", ".replace('a', 'b')"]);
                self.text(rest);
            }
            _ => {
                self.text("(");
                self.value("String", scope, depth);
                self.text(" + ");
                let ty = *self.rng.pick(&["int", "char", "boolean"]);
                self.value(ty, scope, depth);
                self.text(")");
            }
        }
    }

    /// A truth value that is kept: one of several conditions is a decision, a single comparison is none.
    fn kept_truth(&mut self, scope: &Scope, depth: usize) {
        self.text("(");
        match self.rng.chance(50) {
            true => {
                let decision = self.out.begin(Kind::Decision);
                let mut conditions = 0;
                let tree = self.several(scope, depth, decision, &mut conditions);
                self.out.end_decision(decision, tree);
            }
            false => self.leaf(scope, depth),
        }
        self.text(")");
    }

    /// Writes the decision of a control statement.
    fn decision(&mut self, scope: &Scope, depth: usize) {
        let decision = self.out.begin(Kind::Decision);
        let mut conditions = 0;
        let tree = self.truth(scope, depth, decision, &mut conditions);
        self.out.end_decision(decision, tree);
    }

    fn truth(&mut self, scope: &Scope, depth: usize, decision: usize, conditions: &mut usize) -> BoolTree {
        if depth > 0 && self.rng.chance(50) {
            return self.several(scope, depth, decision, conditions);
        }
        let own = CondId::new(*conditions);
        *conditions += 1;
        let mark = self.out.begin(Kind::Condition { decision, own });
        self.leaf(scope, depth);
        self.out.end(mark);
        BoolTree::Cond(own)
    }

    fn inner_truth(&mut self, scope: &Scope, depth: usize, decision: usize, conditions: &mut usize) -> Box<BoolTree> {
        self.text("(");
        let tree = self.truth(scope, depth.saturating_sub(1), decision, conditions);
        self.text(")");
        Box::new(tree)
    }

    fn several(&mut self, scope: &Scope, depth: usize, decision: usize, conditions: &mut usize) -> BoolTree {
        match self.rng.below(8) {
            0..=2 => {
                let left = self.inner_truth(scope, depth, decision, conditions);
                self.text(" && ");
                BoolTree::And(left, self.inner_truth(scope, depth, decision, conditions))
            }
            3..=5 => {
                let left = self.inner_truth(scope, depth, decision, conditions);
                self.text(" || ");
                BoolTree::Or(left, self.inner_truth(scope, depth, decision, conditions))
            }
            6 => {
                self.text("!");
                BoolTree::Not(self.inner_truth(scope, depth, decision, conditions))
            }
            _ => {
                // A conditional expression alone is a decision of its condition only, so it is negated.
                self.text("!(");
                let condition = self.inner_truth(scope, depth, decision, conditions);
                self.text(" ? ");
                let yes = self.inner_truth(scope, depth, decision, conditions);
                self.text(" : ");
                let no = self.inner_truth(scope, depth, decision, conditions);
                self.text(")");
                BoolTree::Not(Box::new(BoolTree::Ite(condition, yes, no)))
            }
        }
    }

    /// A value that is no constant of the compiler's: one of those is no condition.
    fn varying(&mut self, ty: &'static str, scope: &Scope, depth: usize) {
        let fitting: Vec<String> = scope.iter().filter(|(_, own)| *own == ty).map(|(name, _)| name.clone()).collect();
        let name = match ty {
            _ if !fitting.is_empty() && self.rng.chance(75) => fitting[self.rng.below(fitting.len())].clone(),
            "long" => "wide".to_string(),
            "char" => "letter".to_string(),
            "boolean" => "flag".to_string(),
            "int" => "st".to_string(),
            other => format!("({other}) st"),
        };
        if matches!(ty, "int" | "long") && self.rng.chance(50) {
            let op = self.pick(&[" + ", " - ", " * ", " & ", " >> ", " << ", " >>> ", " / ", " % "]);
            self.text(&format!("({name}{op}"));
            self.value(ty, scope, depth);
            return self.text(")");
        }
        self.text(&name);
    }

    /// One condition.
    fn leaf(&mut self, scope: &Scope, depth: usize) {
        match self.rng.below(16) {
            0..=7 => {
                let ty = *self.rng.pick(&["int", "int", "int", "long", "char", "double", "byte"]);
                let other = match ty {
                    "int" if self.rng.chance(15) => "long",
                    "long" if self.rng.chance(15) => "int",
                    other => other,
                };
                self.varying(ty, scope, depth);
                let op = self.pick(&[" < ", " <= ", " > ", " >= ", " == ", " != "]);
                self.text(op);
                self.value(other, scope, depth);
            }
            8 => self.text("flag"),
            9 => {
                self.value("String", scope, depth);
                let name = self.pick(&[".equals", ".startsWith", ".endsWith", ".contains", ".equalsIgnoreCase"]);
                self.call(name, &["String"], scope, depth);
            }
            10 => {
                let class = self.pick(&["Number", "String", "Comparable", "Derived", "Last", "Object[]", "int[]"]);
                let class = match self.rng.chance(50) {
                    true => format!("{class} {}", self.fresh("q")),
                    false => class.to_string(),
                };
                self.call("obj", &["int"], scope, depth);
                self.text(&format!(" instanceof {class}"));
            }
            11 => {
                self.varying("boolean", scope, depth);
                let op = self.pick(&[" ^ ", " == ", " != ", " & ", " | "]);
                self.text(op);
                self.value("boolean", scope, depth.min(1));
            }
            12 => self.text("turn()"),
            13 => {
                self.value("String", scope, depth);
                let rest = self.pick(&[".isEmpty()", " == null", " != null"]);
                self.text(rest);
            }
            14 => {
                self.call("base", &["int"], scope, depth);
                self.text(" == null");
            }
            _ => {
                self.call("bump", &["int"], scope, depth);
                self.text(" > 2");
            }
        }
    }

    // Statements.

    fn statements(&mut self, mut scope: Scope, depth: usize, count: usize, indent: usize, place: Place) -> Scope {
        for _ in 0..count {
            match self.rng.below(if depth == 0 { 9 } else { 24 }) {
                0 | 1 => {
                    let ty = TYPES[self.rng.below(TYPES.len())];
                    let name = self.fresh("v");
                    self.open(indent, &format!("{ty} {name} = "));
                    self.value(ty, &scope, 2);
                    self.text(";\n");
                    scope.push((name, ty));
                }
                2 | 3 => self.assignment(&scope, indent),
                4 => self.array(&mut scope, indent),
                5 => {
                    let (field, ty) = *self.rng.pick(&[("st", "int"), ("flag", "boolean"), ("wide", "long")]);
                    self.open(indent, &format!("{field} = "));
                    self.value(ty, &scope, 2);
                    self.text(";\n");
                }
                6..=8 => self.leave(&scope, indent, place),
                9..=13 => self.choice(&scope, depth, indent, place),
                14..=17 => self.repeat(&scope, depth, indent, place),
                18 | 19 => self.switch(&scope, depth, indent, place),
                _ => self.attempt(&scope, depth, indent, place),
            }
        }
        scope
    }

    fn inner(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let count = 1 + self.rng.below(2);
        self.statements(scope.clone(), depth - 1, count, indent + 1, place);
    }

    fn choice(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        self.open(indent, "if (");
        self.decision(scope, 2);
        self.text(") {\n");
        self.inner(scope, depth, indent, place);
        if self.rng.chance(40) {
            self.line(indent, "} else {");
            self.inner(scope, depth, indent, place);
        }
        self.line(indent, "}");
    }

    /// A loop of few rounds, with a label.
    fn repeat(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let (name, label) = (self.fresh("i"), self.fresh("loop"));
        let times = 2 + self.rng.below(2);
        let place = if place == Place::Finally { Place::Finally } else { Place::Loop };
        let mut inside = scope.clone();
        inside.push((name.clone(), "int"));
        // The loop's own statement begins behind its label.
        match self.rng.below(3) {
            0 => {
                self.line(indent, &format!("int {name} = 0;"));
                self.open(indent, "");
                self.out.moved(&format!("{label}: "));
                self.text("do {\n");
                self.line(indent + 1, &format!("{name}++;"));
                self.labels.push(label);
                self.inner(&inside, depth, indent, place);
                self.labels.pop();
                self.text(&format!("{}}} while (", "  ".repeat(indent)));
                self.bounded(&inside, &format!("{name} < {times}"));
                self.text(");\n");
            }
            _ => {
                self.open(indent, "");
                self.out.moved(&format!("{label}: "));
                self.text(&format!("for (int {name} = 0; "));
                self.bounded(&inside, &format!("{name} < {times}"));
                self.text(&format!("; {name}++) {{\n"));
                self.labels.push(label);
                self.inner(&inside, depth, indent, place);
                self.labels.pop();
                self.line(indent, "}");
            }
        }
    }

    /// The loop's bound, and perhaps something else.
    fn bounded(&mut self, scope: &Scope, bound: &str) {
        let decision = self.out.begin(Kind::Decision);
        let own = CondId::new(0);
        let mark = self.out.begin(Kind::Condition { decision, own });
        self.text(bound);
        self.out.end(mark);
        let mut tree = BoolTree::Cond(own);
        if self.rng.chance(40) {
            self.text(" && ");
            let mut conditions = 1;
            tree = BoolTree::And(Box::new(tree), self.inner_truth(scope, 1, decision, &mut conditions));
        }
        self.out.end_decision(decision, tree);
    }

    fn switch(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let (ty, cases): (&'static str, [&str; 4]) = match self.rng.below(4) {
            0 => ("String", ["\"a\"", "\"ab\"", "\"b\"", "\"AaBB\""]),
            1 => ("char", ["'a'", "'b'", "'\\uffff'", "'c'"]),
            2 => ("Hue", ["RED", "GREEN", "BLUE", ""]),
            _ => ("int", ["0", "1", "-3", "Integer.MAX_VALUE"]),
        };
        self.open(indent, "switch (");
        let mark = self.out.begin(Kind::Selector);
        match ty {
            "Hue" => {
                self.text("Hue.values()[");
                self.value("int", scope, 1);
                self.text(" & 3]");
            }
            _ => self.value(ty, scope, 2),
        }
        self.out.end(mark);
        self.text(") {\n");
        for case in cases.iter().filter(|case| !case.is_empty()) {
            if self.rng.chance(25) {
                continue;
            }
            self.line(indent + 1, &format!("case {case}: {{"));
            self.inner(scope, depth, indent + 1, place);
            self.line(indent + 1, "}");
            if self.rng.chance(60) {
                self.statement(indent + 1, "break;");
            }
        }
        if self.rng.chance(60) {
            self.line(indent + 1, "default: {");
            self.inner(scope, depth, indent + 1, place);
            self.line(indent + 1, "}");
        }
        self.line(indent, "}");
    }

    fn assignment(&mut self, scope: &Scope, indent: usize) {
        // Counters of loops are left alone.
        let mine: Vec<(String, &'static str)> =
            scope.iter().filter(|(name, ty)| name.starts_with('v') && *ty != "int[]").cloned().collect();
        if mine.is_empty() {
            return;
        }
        let (name, ty) = mine[self.rng.below(mine.len())].clone();
        match (ty, self.rng.below(3)) {
            ("int" | "long" | "char" | "byte" | "double", 0) => {
                let op = self.pick(&["+=", "-=", "*="]);
                self.open(indent, &format!("{name} {op} "));
                let from = *self.rng.pick(&["int", "long", "double", "char"]);
                self.value(from, scope, 2);
            }
            ("int" | "long" | "char" | "byte", 1) => {
                let text = self.pick(&["++", "--", " <<= 1", " >>>= 1"]);
                self.open(indent, &format!("{name}{text}"));
            }
            _ => {
                self.open(indent, &format!("{name} = "));
                self.value(ty, scope, 2);
            }
        }
        self.text(";\n");
    }

    fn array(&mut self, scope: &mut Scope, indent: usize) {
        let known: Vec<String> = scope.iter().filter(|(_, ty)| *ty == "int[]").map(|(name, _)| name.clone()).collect();
        match self.rng.below(4) {
            0 | 1 if !known.is_empty() => {
                let name = known[self.rng.below(known.len())].clone();
                self.open(indent, &format!("{name}["));
                self.value("int", scope, 1);
                let op = self.pick(&["] = ", "] += ", "] ^= "]);
                self.text(op);
                self.value("int", scope, 2);
                self.text(";\n");
            }
            2 => {
                self.open(indent, "Object[] ");
                let name = self.fresh("o");
                self.text(&format!("{name} = "));
                self.decision(scope, 1);
                self.text(" ? new Object[1] : new Integer[2];\n");
                self.open(indent, &format!("{name}["));
                self.value("int", scope, 0);
                self.text("] = ");
                self.call("obj", &["int"], scope, 1);
                self.text(";\n");
            }
            _ => {
                let name = self.fresh("a");
                self.open(indent, &format!("int[] {name} = new int["));
                self.value("int", scope, 1);
                let mask = self.pick(&[" & 3", " % 4", " & 3"]);
                self.text(&format!("{mask}];\n"));
                scope.push((name, "int[]"));
            }
        }
    }

    /// Something that goes elsewhere if something holds.
    fn leave(&mut self, scope: &Scope, indent: usize, place: Place) {
        let word = match (place, self.rng.below(4)) {
            (Place::Finally, _) | (_, 0) => "throw new Own(\"left\");".to_string(),
            (Place::Loop, 1) if !self.labels.is_empty() => {
                let label = self.labels[self.rng.below(self.labels.len())].clone();
                let word = self.pick(&["break", "continue"]);
                format!("{word} {label};")
            }
            (Place::Loop, _) if !self.labels.is_empty() => self.pick(&["continue;", "break;"]).to_string(),
            _ => "throw new IllegalStateException(String.valueOf(st));".to_string(),
        };
        self.open(indent, "if (");
        self.decision(scope, 2);
        self.text(") {\n");
        self.statement(indent + 1, &word);
        self.line(indent, "}");
    }

    fn attempt(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let name = self.fresh("e");
        let mut inside = scope.clone();
        match self.rng.chance(25) {
            true => {
                let resource = self.fresh("r");
                self.open(indent, &format!("try (Closing {resource} = new Closing("));
                self.value("int", scope, 0);
                self.text(")) {\n");
                self.statements(scope.clone(), depth - 1, 2, indent + 1, place);
                self.line(indent, &format!("}} catch (Own | RuntimeException {name}) {{"));
            }
            false => {
                let caught = self.pick(&[
                    "ArithmeticException",
                    "RuntimeException",
                    "ArrayIndexOutOfBoundsException | NullPointerException",
                    "IllegalStateException",
                    "Exception",
                    "ClassCastException | ArrayStoreException",
                    "IndexOutOfBoundsException",
                    "NegativeArraySizeException",
                ]);
                self.open(indent, "try {\n");
                self.statements(scope.clone(), depth - 1, 2, indent + 1, place);
                self.line(indent, &format!("}} catch ({caught} {name}) {{"));
            }
        }
        inside.push((format!("{name}.getMessage()"), "String"));
        self.inner(&inside, depth, indent, place);
        if self.rng.chance(50) {
            self.line(indent, "} finally {");
            self.inner(scope, depth, indent, Place::Finally);
        }
        self.line(indent, "}");
    }
}
