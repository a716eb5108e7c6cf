//! Random Java programs: arithmetic of all types, exceptions, inheritance, interfaces, lambdas, switches, records, strings, collections.
//! Seeded; what they print does not depend on anything but the language.

const TYPES: [&str; 9] = ["int", "long", "double", "float", "byte", "short", "char", "boolean", "String"];
const NUMBERS: [&str; 7] = ["int", "long", "double", "float", "byte", "short", "char"];
const CAUGHT: [&str; 5] = [
    "ArithmeticException",
    "RuntimeException",
    "ArrayIndexOutOfBoundsException | NullPointerException",
    "IllegalArgumentException",
    "Own",
];

/// The common head of all programs.
const HEAD: &str = r#"
  static class Own extends Exception { Own(String m) { super(m); } }
  interface Shape { int area(int k); default String label() { return "shape" + area(2); } }
  static class Sq implements Shape { int s; Sq(int s) { this.s = s; } public int area(int k) { return s * s + k; } public String toString() { return "Sq" + s + label(); } }
  static class Tri extends Sq { Tri(int s) { super(s + 1); } @Override public int area(int k) { return super.area(k) / 2; } @Override public String label() { return "tri"; } }
  static class Odd extends Tri { Odd() { super(5); } @Override public int area(int k) { if (k % 3 == 0) throw new IllegalStateException("odd " + k); return -k; } }
  record Rec(int a, String b, double c) { }
  static int[] arr = {3, 1, 4, 1, 5, 9, 2, 6}; static List<Integer> list = new ArrayList<>(); static Map<String, Integer> map = new TreeMap<>();
  static Shape shape(int i) { switch (i & 3) { case 0: return new Sq(i); case 1: return new Tri(i); case 2: return new Odd(); default: return new Shape() { public int area(int k) { return k * i; } public String toString() { return "anon" + i; } }; } }
  static Object obj(int i) { return switch (i & 7) { case 0 -> i; case 1 -> "s" + i; case 2 -> new Sq(i); case 3 -> new int[] {i}; case 4 -> new String[1]; case 5 -> (long) i; case 6 -> null; default -> 'c'; }; }
  static Function<Integer, String> fn(int i) { return switch (i & 1) { case 0 -> x -> "f" + (x + i); default -> String::valueOf; }; }
  static int len(String s) { return s.length(); } static boolean eq(String a, String b) { return a.equals(b); }
  static String sub(String s, int a, int b) { return s.substring(a & 3, b); }
  static int sum(String s) { return s.chars().map(c -> c * 3).filter(c -> c % 2 == 0).sum(); }
  static int sw(int i) { switch (i) { case 0: return 1; case 1: case 2: return 5; case 100: return 7; case -13: i++; default: return i - 1; } }
  static String ssw(String s) { return switch (s) { case "x" -> "ex"; case "Aa" -> "AA"; case "BB" -> "bb"; case "hello" -> "world"; default -> s + "!"; }; }
  static void log(Object o) { System.out.println(o); } static void log(int o) { System.out.println(o); } static void log(long o) { System.out.println(o); } static void log(double o) { System.out.println(o); }
  static void log(float o) { System.out.println(o); } static void log(char o) { System.out.println((int) o); } static void log(boolean o) { System.out.println(o); }
"#;

pub struct Generator {
    state: u64,
    names: usize,
    out: String,
}

type Scope = Vec<(String, &'static str)>;

/// The source of a program whose class has this name.
pub fn program(seed: u64, class: &str) -> String {
    let mut generator = Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, names: 0, out: String::new() };
    for _ in 0..5 {
        generator.below(2);
    }
    let head = format!("import java.util.*;\nimport java.util.function.*;\npublic class {class} {{{HEAD}");
    generator.out.push_str(&head);
    for method in 0..4 {
        generator.line(1, &format!("static void m{method}(int p, String q, double r) throws Exception {{"));
        let scope = vec![("p".to_string(), "int"), ("q".to_string(), "String"), ("r".to_string(), "double")];
        let count = 5 + generator.below(5);
        generator.statements(scope, 3, count, 2, Place::Body);
        generator.line(1, "}");
    }
    generator.line(1, "public static void main(String[] args) {");
    for method in 0..4 {
        for arguments in ["3, \"abc\", 2.5", "-7, null, Double.NaN", "100, \"hello\", 1e9"] {
            let call = format!("try {{ m{method}({arguments}); }} catch (Exception e) {{ log(e.toString()); }}");
            generator.line(2, &call);
        }
    }
    generator.line(2, "log(list); log(map); log(Arrays.toString(arr));");
    generator.out.push_str("  }\n}\n");
    generator.out
}

/// The position of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Loop,
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn literal(&mut self, ty: &str) -> String {
        let number = self.below(2000) as i64 - 1000;
        let small = number % 200;
        match ty {
            "int" if self.below(3) == 0 => format!("({number})"),
            "int" => self.pick(&["0", "1", "(-1)", "7", "42", "Integer.MAX_VALUE", "Integer.MIN_VALUE"]).to_string(),
            "long" if self.below(3) == 0 => format!("({number}L)"),
            "long" => self.pick(&["0L", "1L", "Long.MAX_VALUE", "Long.MIN_VALUE", "123456789012L"]).to_string(),
            "double" => self
                .pick(&["0.0", "1.5", "(-2.25)", "1e10", "1e-5", "Double.NaN", "Double.MAX_VALUE", "(-0.0)", "1e300"])
                .to_string(),
            "float" => self.pick(&["0f", "1.5f", "(-2.25f)", "1e10f", "0.1f"]).to_string(),
            "byte" | "short" => format!("(({ty}) {small})"),
            "char" => self.pick(&["'a'", "'Z'", "'0'", "'\\u20ac'", "'~'"]).to_string(),
            "boolean" => self.pick(&["true", "false"]).to_string(),
            _ => self
                .pick(&["\"x\"", "\"hello\"", "\"\"", "\"\\u00e9\\u20ac\"", "\"Aa\"", "(String) null", "\"123\""])
                .to_string(),
        }
    }

    fn number(&mut self) -> &'static str {
        NUMBERS[self.below(NUMBERS.len())]
    }

    fn expr(&mut self, ty: &str, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.below(100) < 15 {
            let fitting: Vec<&String> = scope.iter().filter(|(_, own)| *own == ty).map(|(name, _)| name).collect();
            return match fitting.is_empty() || self.below(10) < 3 {
                true => self.literal(ty),
                false => fitting[self.below(fitting.len())].clone(),
            };
        }
        let next = depth - 1;
        if self.below(12) == 0 {
            let condition = self.expr("boolean", scope, next);
            let (a, b) = (self.expr(ty, scope, next), self.expr(ty, scope, next));
            return format!("({condition} ? {a} : {b})");
        }
        match ty {
            "int" | "long" => self.integral(ty, scope, next),
            "double" | "float" if self.below(3) > 0 => {
                let op = self.pick(&["+", "-", "*", "/", "%"]);
                format!("({} {op} {})", self.expr(ty, scope, next), self.expr(ty, scope, next))
            }
            "double" | "float" => {
                let from = self.number();
                format!("(({ty}) ({}))", self.expr(from, scope, next))
            }
            "byte" | "short" | "char" => {
                let from = self.pick(&["int", "long", "double", "float"]);
                format!("(({ty}) ({}))", self.expr(from, scope, next))
            }
            "boolean" => self.truth(scope, next),
            _ => self.text(scope, next),
        }
    }

    fn integral(&mut self, ty: &str, scope: &Scope, depth: usize) -> String {
        let choice = self.below(if ty == "int" { 16 } else { 10 });
        let own = |generator: &mut Generator| generator.expr(ty, scope, depth);
        match choice {
            0..=4 => {
                let op = self.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", own(self), own(self))
            }
            5 => {
                let op = self.pick(&["<<", ">>", ">>>"]);
                let left = own(self);
                format!("({left} {op} {})", self.expr("int", scope, depth))
            }
            6 | 7 => {
                let from = self.number();
                format!("(({ty}) ({}))", self.expr(from, scope, depth))
            }
            8 => format!("(-({}))", own(self)),
            9 => format!("Math.max({}, {})", own(self), own(self)),
            10 => format!("len({})", self.expr("String", scope, depth)),
            11 => format!("arr[{} & 7]", own(self)),
            12 => format!("arr[{}]", own(self)),
            13 => format!("shape({}).area({})", own(self), own(self)),
            14 => format!("sum({})", self.expr("String", scope, depth)),
            _ => format!("sw({})", own(self)),
        }
    }

    fn truth(&mut self, scope: &Scope, depth: usize) -> String {
        match self.below(10) {
            0..=3 => {
                let ty = self.number();
                let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {op} {})", self.expr(ty, scope, depth), self.expr(ty, scope, depth))
            }
            4..=6 => {
                let op = self.pick(&["&&", "||", "&", "|", "^", "=="]);
                format!("({} {op} {})", self.expr("boolean", scope, depth), self.expr("boolean", scope, depth))
            }
            7 => format!("(!{})", self.expr("boolean", scope, depth)),
            8 => format!("eq({}, {})", self.expr("String", scope, depth), self.expr("String", scope, depth)),
            _ => {
                let class = self.pick(&["Number", "String", "Comparable", "Sq", "Shape", "Object[]", "int[]"]);
                format!("(obj({}) instanceof {class})", self.expr("int", scope, depth))
            }
        }
    }

    fn text(&mut self, scope: &Scope, depth: usize) -> String {
        match self.below(10) {
            0..=3 => {
                let ty = TYPES[self.below(TYPES.len())];
                format!("({} + {})", self.expr("String", scope, depth), self.expr(ty, scope, depth))
            }
            4 => {
                let ty = TYPES[self.below(8)];
                format!("String.valueOf({})", self.expr(ty, scope, depth))
            }
            5 => {
                let (text, from, to) =
                    (self.expr("String", scope, depth), self.expr("int", scope, depth), self.expr("int", scope, depth));
                format!("sub({text}, {from}, {to})")
            }
            6 => format!("({}).toUpperCase()", self.expr("String", scope, depth)),
            7 => format!("shape({}).toString()", self.expr("int", scope, depth)),
            8 => format!("ssw({})", self.expr("String", scope, depth)),
            _ if self.below(2) == 0 => {
                format!("fn({}).apply({})", self.expr("int", scope, depth), self.expr("int", scope, depth))
            }
            _ => {
                let (a, b) = (self.expr("int", scope, depth), self.expr("String", scope, depth));
                format!("new Rec({a}, {b}, {}).toString()", self.expr("double", scope, depth))
            }
        }
    }

    fn statements(&mut self, mut scope: Scope, depth: usize, count: usize, indent: usize, place: Place) {
        for _ in 0..count {
            match self.below(if depth == 0 { 13 } else { 22 }) {
                0..=4 => {
                    let ty = TYPES[self.below(TYPES.len())];
                    let (name, value) = (self.fresh("v"), self.expr(ty, &scope, 3));
                    self.line(indent, &format!("{ty} {name} = {value};"));
                    scope.push((name, ty));
                }
                5..=7 => self.assignment(&scope, indent),
                8..=9 => {
                    let ty = TYPES[self.below(TYPES.len())];
                    let value = self.expr(ty, &scope, 3);
                    self.line(indent, &format!("log({value});"));
                }
                10 => {
                    let (at, value) = (self.expr("int", &scope, 2), self.expr("int", &scope, 2));
                    self.line(indent, &format!("arr[{at} & 7] = {value};"));
                }
                11 => {
                    let (item, key) = (self.expr("int", &scope, 2), self.expr("int", &scope, 1));
                    let line =
                        format!("list.add({item}); map.merge(String.valueOf({key}), {item}, (a, b) -> a * 31 + b);");
                    self.line(indent, &line);
                }
                12 if place == Place::Loop => {
                    let (condition, word) = (self.expr("boolean", &scope, 2), self.pick(&["break", "continue"]));
                    self.line(indent, &format!("if ({condition}) {word};"));
                }
                12 => {}
                13..=15 => {
                    let condition = self.expr("boolean", &scope, 2);
                    self.line(indent, &format!("if ({condition}) {{"));
                    self.inner(&scope, depth, indent, place);
                    if self.below(2) == 0 {
                        self.line(indent, "} else {");
                        self.inner(&scope, depth, indent, place);
                    }
                    self.line(indent, "}");
                }
                16..=18 => {
                    let (name, times) = (self.fresh("i"), 1 + self.below(5));
                    self.line(indent, &format!("for (int {name} = 0; {name} < {times}; {name}++) {{"));
                    let mut inside = scope.clone();
                    inside.push((name, "int"));
                    self.inner(&inside, depth, indent, Place::Loop);
                    self.line(indent, "}");
                }
                _ => self.attempt(&scope, depth, indent, place),
            }
        }
    }

    fn inner(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let count = 1 + self.below(3);
        self.statements(scope.clone(), depth - 1, count, indent + 1, place);
    }

    fn assignment(&mut self, scope: &Scope, indent: usize) {
        // Counters of loops are left alone.
        let mine: Vec<&(String, &str)> = scope.iter().filter(|(name, _)| !name.starts_with('i')).collect();
        let (name, ty) = mine[self.below(mine.len())].clone();
        let line = match (NUMBERS.contains(&ty), self.below(3)) {
            (true, 0) => {
                let (op, from) = (self.pick(&["+=", "-=", "*="]), self.number());
                format!("{name} {op} {};", self.expr(from, scope, 2))
            }
            (true, 1) if !matches!(ty, "double" | "float") => {
                let op = self.pick(&["++", "--"]);
                format!("{name}{op};")
            }
            _ => format!("{name} = {};", self.expr(ty, scope, 3)),
        };
        self.line(indent, &line);
    }

    fn attempt(&mut self, scope: &Scope, depth: usize, indent: usize, place: Place) {
        let (caught, name) = (self.pick(&CAUGHT), self.fresh("e"));
        self.line(indent, "try {");
        self.inner(scope, depth, indent, place);
        if caught == "Own" {
            let (condition, text) = (self.expr("boolean", scope, 2), self.expr("String", scope, 2));
            self.line(indent + 1, &format!("if ({condition}) throw new Own({text});"));
        }
        self.line(indent, &format!("}} catch ({caught} {name}) {{"));
        self.line(indent + 1, &format!("log(\"caught \" + {name}.getMessage());"));
        self.inner(scope, depth, indent, place);
        if self.below(2) == 0 {
            self.line(indent, "} finally {");
            self.inner(scope, depth, indent, Place::Body);
        }
        self.line(indent, "}");
    }
}
