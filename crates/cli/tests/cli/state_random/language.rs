//! A small language of random tests: a syntax tree, and its translation to C and Java.

use std::fmt::Write;

/// Globals, and what C calls them: variables, fields of an object, a field behind a pointer.
pub const GLOBALS: [&str; 5] = ["g0", "g1", "thing.a", "thing.b", "held->a"];
/// Locals of a test.
pub const LOCALS: usize = 3;

/// An expression.
#[derive(Clone, Debug)]
pub enum Value {
    Global(usize),
    Local(usize),
    Constant(u32),
    Add(Box<Value>, Box<Value>),
    Xor(Box<Value>, Box<Value>),
    Triple(Box<Value>),
    /// `(a & 1) ? b : 4`
    Choose(Box<Value>, Box<Value>),
    /// `a < 5 && b > 2`
    Both(Box<Value>, Box<Value>),
    /// A call of a function with a loop and two returns.
    Help(Box<Value>, Box<Value>),
    /// A call of a function that gets a structure.
    Pair(Box<Value>, Box<Value>),
    /// In Java: a lambda expression that adds a global to the value.
    Lambda(Box<Value>, usize),
    /// In Java: a reference to a method that adds `held.a`.
    Reference(Box<Value>),
    /// In Java: the field of a clone.
    Clone(usize),
    /// In Java: the first element of a cloned array of both.
    Element(Box<Value>, Box<Value>),
    /// In Java: a constant that a method of one of two classes returns.
    Dispatch(Box<Value>),
    /// In Java: the value, put into a list by a reference to a method of the list.
    Through(Box<Value>),
}

/// The target of an assignment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variable {
    Global(usize),
    Local(usize),
}

/// The way in which a value reaches a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    Assign,
    /// Through a pointer in a called function.
    Call,
    /// By `memcpy`.
    Copy,
    /// In Java: by a lambda expression, called for a list of 1 and the value.
    Each,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    Set(Variable, Value, Way),
    If(Value, Vec<Statement>, Vec<Statement>),
    /// A loop with as many iterations as the lowest two bits of the value, evaluated before each iteration.
    Loop(Value, Vec<Statement>),
    /// `case 0: l0++; break; case 1: l1 += g1; default: l2 = thing.a;`
    Switch(Value),
    BreakIf(Value),
    ReturnIf(Value, Value),
}

/// A generator of random tests.
pub struct Random(pub u64, pub Form);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    pub fn value(&mut self, depth: usize) -> Value {
        if depth == 0 {
            return match self.below(10) {
                0..=4 => Value::Global(self.below(GLOBALS.len())),
                5..=7 => Value::Local(self.below(LOCALS)),
                _ => Value::Constant(self.below(9) as u32),
            };
        }
        let (left, right) = (Box::new(self.value(depth - 1)), Box::new(self.value(depth - 1)));
        match self.below(if self.1 == Form::Java { 16 } else { 10 }) {
            10 => Value::Lambda(left, self.below(GLOBALS.len())),
            11 => Value::Reference(left),
            12 => Value::Clone(2 + self.below(GLOBALS.len() - 2)),
            13 => Value::Element(left, right),
            14 => Value::Dispatch(left),
            15 => Value::Through(left),
            0..=2 => Value::Add(left, right),
            3 => Value::Xor(left, right),
            4 => Value::Triple(left),
            5 => Value::Choose(left, right),
            6 => Value::Both(left, right),
            7 => Value::Help(left, right),
            8 => Value::Pair(left, right),
            _ => *left,
        }
    }

    /// A condition: one with a compound literal in it is not followed to the end of its statement.
    fn condition(&mut self) -> Value {
        let value = self.value(2);
        if c(&value).contains("pair(") { Value::Global(self.below(GLOBALS.len())) } else { value }
    }

    pub fn statements(&mut self, depth: usize, in_loop: bool) -> Vec<Statement> {
        (0..=self.below(4)).map(|_| self.statement(depth, in_loop)).collect()
    }

    fn statement(&mut self, depth: usize, in_loop: bool) -> Statement {
        let global = Variable::Global(self.below(GLOBALS.len()));
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0..=2 => Statement::Set(global, self.value(2), Way::Assign),
            3 if in_loop => Statement::BreakIf(self.condition()),
            // What a called function would have written is not known where a condition leaves the call out.
            3 if depth == 2 => {
                // Which field it is that a called function writes is not told.
                let one = global < Variable::Global(2);
                let way = match self.below(if self.1 == Form::Java { 3 } else { 2 }) {
                    0 if one => Way::Call,
                    2 => Way::Each,
                    _ => Way::Copy,
                };
                Statement::Set(global, self.value(2), way)
            }
            3 | 4 => Statement::Set(Variable::Local(self.below(LOCALS)), self.value(2), Way::Assign),
            5 if self.below(3) == 0 => Statement::ReturnIf(self.condition(), self.value(1)),
            5 => Statement::Set(Variable::Local(self.below(LOCALS)), self.value(1), Way::Assign),
            6 | 7 => {
                let condition = self.condition();
                Statement::If(condition, self.statements(depth - 1, in_loop), self.statements(depth - 1, in_loop))
            }
            8 => Statement::Loop(self.condition(), self.statements(depth - 1, true)),
            _ => Statement::Switch(self.condition()),
        }
    }
}

/// The C of an expression.
fn c(value: &Value) -> String {
    match value {
        Value::Global(global) => GLOBALS[*global].to_string(),
        Value::Local(local) => format!("l{local}"),
        Value::Constant(constant) => format!("{constant}u"),
        Value::Add(left, right) => format!("({} + {})", c(left), c(right)),
        Value::Xor(left, right) => format!("({} ^ {})", c(left), c(right)),
        Value::Triple(inner) => format!("({} * 3u)", c(inner)),
        Value::Choose(condition, chosen) => format!("(({} & 1u) ? {} : 4u)", c(condition), c(chosen)),
        Value::Both(left, right) => format!("({} < 5u && {} > 2u)", c(left), c(right)),
        Value::Help(left, right) => format!("help({}, {})", c(left), c(right)),
        Value::Pair(left, right) => format!("pair((struct pair){{{}, {}}})", c(left), c(right)),
        Value::Lambda(left, global) => format!("({} + {})", c(left), GLOBALS[*global]),
        Value::Reference(left) => format!("({} + held->a)", c(left)),
        Value::Clone(global) => GLOBALS[*global].to_string(),
        Value::Element(left, _) | Value::Through(left) => c(left),
        Value::Dispatch(left) => format!("(({} & 1u) ? 1u : 2u)", c(left)),
    }
}

fn name(variable: Variable) -> String {
    match variable {
        Variable::Global(global) => GLOBALS[global].to_string(),
        Variable::Local(local) => format!("l{local}"),
    }
}

fn print(statements: &[Statement], out: &mut String) {
    for statement in statements {
        let _ = match statement {
            Statement::Set(variable, value, way) => {
                let (variable, value) = (name(*variable), c(value));
                match way {
                    Way::Assign => writeln!(out, "{variable} = {value};"),
                    Way::Call => writeln!(out, "set(&{variable}, {value});"),
                    Way::Copy | Way::Each => {
                        writeln!(out, "{{ unsigned from = {value}; memcpy(&{variable}, &from, sizeof from); }}")
                    }
                }
            }
            Statement::If(condition, then, otherwise) => {
                let _ = writeln!(out, "if ({} & 1u) {{", c(condition));
                print(then, out);
                out.push_str("} else {\n");
                print(otherwise, out);
                writeln!(out, "}}")
            }
            Statement::Loop(rounds, body) => {
                let _ = writeln!(out, "for (unsigned i = 0; i < ({} & 3u); i++) {{", c(rounds));
                print(body, out);
                writeln!(out, "}}")
            }
            Statement::Switch(value) => writeln!(
                out,
                "switch ({} & 3u) {{\ncase 0: l0++; break;\ncase 1: l1 += g1;\ndefault: l2 = thing.a;\n}}",
                c(value)
            ),
            Statement::BreakIf(condition) => writeln!(out, "if ({} & 1u) break;", c(condition)),
            Statement::ReturnIf(condition, value) => writeln!(out, "if ({} & 1u) return {};", c(condition), c(value)),
        };
    }
}

/// A test: what it does, and what it asserts something about.
pub type Test = (Vec<Statement>, Value);

/// The program of some tests; it prints what each asserts something about.
pub fn program(tests: &[Test]) -> String {
    let mut bodies = String::new();
    for (number, (statements, asserted)) in tests.iter().enumerate() {
        let mut body = String::new();
        print(statements, &mut body);
        let _ = writeln!(
            bodies,
            "static unsigned body{number}(void) {{\nunsigned l0 = 1, l1 = 2, l2 = 3;\n{body}return {};\n}}\n\
             static void test{number}(void) {{\nunsigned seen = body{number}();\nassert(seen + 1u != seen);\n\
             touchstone_test_begin(\"between\");\nprintf(\"%u\\n\", seen);\n}}",
            c(asserted)
        );
    }
    let names: Vec<String> = (0..tests.len()).map(|test| format!("test{test}")).collect();
    let reset: String = (0..GLOBALS.len()).map(|global| format!("{} = {}; ", GLOBALS[global], global + 2)).collect();
    format!(
        "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n\
         void touchstone_test_begin(const char *);\n\
         struct pair {{ unsigned a, b; }};\nstruct thing {{ unsigned a, b; }};\nstruct held {{ unsigned a; }};\n\
         static unsigned g0, g1;\nstatic struct thing thing;\nstatic struct held hidden, *held = &hidden;\n\
         static unsigned help(unsigned a, unsigned b) {{ if (a & 1u) return a + b; unsigned c = 0; while (c < (b & 3u)) c++; return c ^ a; }}\n\
         static unsigned pair(struct pair p) {{ struct pair q = p; return q.a ? q.b : 7u; }}\n\
         static void set(unsigned *p, unsigned v) {{ *p = v; }}\n\
         {bodies}\
         int main(void) {{\n  static void (*const tests[])(void) = {{{list}}};\n\
         \x20 for (unsigned t = 0; t < {count}; t++) {{\n    char name[16];\n    snprintf(name, sizeof name, \"test%u\", t);\n\
         \x20   {reset}\n    touchstone_test_begin(name);\n    tests[t]();\n  }}\n  return 0;\n}}\n",
        list = names.join(", "),
        count = tests.len(),
    )
}

/// The target language. An object that is passed as a whole in C is passed field by field in Java.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    #[default]
    C,
    Java,
}

/// Globals as Java has them: static fields, and fields of objects in static fields.
const JAVA_GLOBALS: [&str; 5] = ["g0", "g1", "thing.a", "thing.b", "held.a"];

/// The Java of an expression.
fn java(value: &Value) -> String {
    match value {
        Value::Global(global) => JAVA_GLOBALS[*global].to_string(),
        Value::Local(local) => format!("l{local}"),
        Value::Constant(constant) => constant.to_string(),
        Value::Add(left, right) => format!("({} + {})", java(left), java(right)),
        Value::Xor(left, right) => format!("({} ^ {})", java(left), java(right)),
        Value::Triple(inner) => format!("({} * 3)", java(inner)),
        Value::Choose(condition, chosen) => format!("(({} & 1) != 0 ? {} : 4)", java(condition), java(chosen)),
        Value::Both(left, right) => {
            let compared = |value: &Value, to: u32| format!("Integer.compareUnsigned({}, {to})", java(value));
            format!("({} < 0 && {} > 0 ? 1 : 0)", compared(left, 5), compared(right, 2))
        }
        Value::Help(left, right) => format!("help({}, {})", java(left), java(right)),
        Value::Pair(left, right) => format!("pair(new Pair({}, {}))", java(left), java(right)),
        Value::Lambda(left, global) => format!("apply(x -> x + {}, {})", JAVA_GLOBALS[*global], java(left)),
        Value::Reference(left) => format!("apply(held::plus, {})", java(left)),
        Value::Clone(global) => JAVA_GLOBALS[*global].replace('.', ".clone()."),
        Value::Element(left, right) => format!("new int[] {{{}, {}}}.clone()[0]", java(left), java(right)),
        Value::Dispatch(left) => format!("pick({}).load()", java(left)),
        Value::Through(left) => format!("through({})", java(left)),
    }
}

fn print_java(statements: &[Statement], out: &mut String) {
    for statement in statements {
        let _ = match statement {
            Statement::Set(variable, value, way) => {
                let value = java(value);
                let name = match variable {
                    Variable::Global(global) => JAVA_GLOBALS[*global].to_string(),
                    Variable::Local(local) => format!("l{local}"),
                };
                match way {
                    Way::Assign => writeln!(out, "{name} = {value};"),
                    Way::Call => writeln!(out, "set{}({value});", name.to_uppercase()),
                    Way::Each => writeln!(out, "java.util.List.of(1, {value}).forEach(x -> {{ {name} = x; }});"),
                    Way::Copy => writeln!(
                        out,
                        "{{ int[] from = {{{value}}}, to = new int[1]; System.arraycopy(from, 0, to, 0, 1); {name} = to[0]; }}"
                    ),
                }
            }
            Statement::If(condition, then, otherwise) => {
                let _ = writeln!(out, "if (({} & 1) != 0) {{", java(condition));
                print_java(then, out);
                out.push_str("} else {\n");
                print_java(otherwise, out);
                writeln!(out, "}}")
            }
            Statement::Loop(rounds, body) => {
                // Variables of loops inside of each other have names of their own.
                let i = format!("i{}", out.len());
                let _ = writeln!(out, "for (int {i} = 0; {i} < ({} & 3); {i}++) {{", java(rounds));
                print_java(body, out);
                writeln!(out, "}}")
            }
            Statement::Switch(value) => writeln!(
                out,
                "switch ({} & 3) {{\ncase 0: l0++; break;\ncase 1: l1 += g1;\ndefault: l2 = thing.a;\n}}",
                java(value)
            ),
            Statement::BreakIf(condition) => writeln!(out, "if (({} & 1) != 0) break;", java(condition)),
            Statement::ReturnIf(condition, value) => {
                writeln!(out, "if (({} & 1) != 0) return {};", java(condition), java(value))
            }
        };
    }
}

/// Returns true if javac folds the value, so that code under it is removed.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Constant(_) => true,
        Value::Add(left, right) | Value::Xor(left, right) | Value::Choose(left, right) => {
            is_constant(left) && is_constant(right)
        }
        Value::Triple(inner) => is_constant(inner),
        _ => false,
    }
}

/// Returns true if javac folds one of the conditions of the statements.
pub fn has_constant_condition(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Set(..) => false,
        Statement::If(condition, then, otherwise) => {
            is_constant(condition) || has_constant_condition(then) || has_constant_condition(otherwise)
        }
        Statement::Loop(rounds, body) => is_constant(rounds) || has_constant_condition(body),
        Statement::Switch(value) | Statement::BreakIf(value) | Statement::ReturnIf(value, _) => is_constant(value),
    })
}

/// How a Java test asserts something about a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JavaAssertion {
    Statement,
    /// An odd value throws an exception before `fail()`.
    Caught,
    /// An odd value throws an exception in `assertThrows`.
    Thrown,
}

impl JavaAssertion {
    fn text(self) -> &'static str {
        match self {
            JavaAssertion::Statement => "assert seen + 1 != seen;",
            JavaAssertion::Caught => {
                "try { need(seen); org.junit.jupiter.api.Assertions.fail(); } catch (IllegalStateException expected) {}"
            }
            JavaAssertion::Thrown => {
                "org.junit.jupiter.api.Assertions.assertThrows(IllegalStateException.class, () -> need(seen));"
            }
        }
    }
}

/// The Java program of some tests; it prints what each asserts something about.
pub fn java_program(tests: &[(Test, JavaAssertion)]) -> String {
    let mut bodies = String::new();
    for (number, ((statements, asserted), assertion)) in tests.iter().enumerate() {
        let assertion = assertion.text();
        let mut body = String::new();
        print_java(statements, &mut body);
        let reset: String =
            (0..GLOBALS.len()).map(|global| format!("{} = {}; ", JAVA_GLOBALS[global], global + 2)).collect();
        let _ = writeln!(
            bodies,
            "static int body{number}() {{\nint l0 = 1, l1 = 2, l2 = 3;\n{body}return {};\n}}\n\
             static void test{number}() {{\n{reset}\nstandin.Main.begin(\"test{number}\");\nint seen = body{number}();\n\
             {assertion}\nstandin.Main.end(\"test{number}\"); standin.Main.begin(\"between\");\n\
             System.out.println(seen);\nstandin.Main.end(\"between\");\n}}",
            java(asserted)
        );
    }
    let calls: String = (0..tests.len()).map(|test| format!("test{test}(); ")).collect();
    format!(
        "class Pair {{ final int a, b; Pair(int a, int b) {{ this.a = a; this.b = b; }} }}\n\
         class Copied implements Cloneable {{ Object copy() {{\n\
         try {{ return super.clone(); }} catch (CloneNotSupportedException e) {{ throw new RuntimeException(e); }} }} }}\n\
         class Thing extends Copied {{ int a, b; @Override public Thing clone() {{ return (Thing) copy(); }} }}\n\
         class Held extends Copied {{ int a; int plus(int x) {{ return x + a; }}\n\
         @Override public Held clone() {{ Object made = copy(); return (Held) made; }} }}\n\
         interface Shape {{ int load(); }}\nclass One implements Shape {{ public int load() {{ return 1; }} }}\n\
         class Two implements Shape {{ public int load() {{ return 2; }} }}\n\
         public class Random {{\nstatic int g0, g1;\nstatic final Thing thing = new Thing();\nstatic final Held held = new Held();\n\
         static int help(int a, int b) {{ if ((a & 1) != 0) return a + b; int c = 0; while (c < (b & 3)) c++; return c ^ a; }}\n\
         static int pair(Pair p) {{ Pair q = p; return q.a != 0 ? q.b : 7; }}\n\
         static int apply(java.util.function.IntUnaryOperator f, int v) {{ return f.applyAsInt(v); }}\n\
         static Shape pick(int v) {{ return (v & 1) != 0 ? new One() : new Two(); }}\n\
         static int through(int v) {{ java.util.List<Integer> got = new java.util.ArrayList<>();\n\
         java.util.List.of(v).forEach(got::add); return got.get(0); }}\n\
         static void need(int v) {{ if ((v & 1) != 0) throw new IllegalStateException(); }}\n\
         static void setG0(int v) {{ g0 = v; }}\nstatic void setG1(int v) {{ g1 = v; }}\n{bodies}\
         public static void main(String[] arguments) {{ {calls} }}\n}}\n"
    )
}
