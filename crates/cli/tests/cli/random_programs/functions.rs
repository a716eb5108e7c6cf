//! Random functions over small domains, for comparison with brute force.
//!
//! Expressions have no side effects, so that all compilers agree about their value; a call is a statement of its own. A
//! path may still divide by zero, leave an array, or (on request) read an uninitialised variable.

use crate::support::rng::Rng;
use std::fmt::Write;

/// A function under test with everything that it needs.
pub struct RandomUnit {
    /// Its name; `NAME_pre` restricts its inputs.
    pub name: String,
    /// The C text: types, globals, helpers, precondition, function.
    pub text: String,
    /// Smallest and largest value of every scalar, by the name of its input.
    pub domains: Vec<(String, i64, i64)>,
    /// True if eager aliases are tried as well.
    pub eager: bool,
}

/// The constructs that a function may contain.
#[derive(Clone, Copy)]
pub struct Style {
    /// Divisions by zero.
    pub divisions: bool,
    /// Accesses outside an array.
    pub bounds: bool,
    /// True if functions may read uninitialised variables, which the interpreter detects and a compiled program does
    /// not.
    pub uninitialised: bool,
    /// The maximum number of combinations of inputs.
    pub points: u64,
}

/// An array that statements may use: how to name it, how many elements, whether it can be written.
#[derive(Clone)]
struct Table {
    name: String,
    length: i64,
    writable: bool,
}

struct Gen<'r> {
    rng: &'r mut Rng,
    style: Style,
    unit: String,
    /// Scalars that can be read; the first `writable` of them also written.
    reads: Vec<String>,
    writes: Vec<String>,
    tables: Vec<Table>,
    /// Arrays of `struct P`.
    records: Vec<Table>,
    /// Pointers to `int` that always lead somewhere.
    pointers: Vec<String>,
    /// Arrays of such pointers.
    pointer_tables: Vec<Table>,
    helpers: Vec<(String, usize)>,
    fresh: usize,
    /// Depth of loops: bounds the work of one run.
    loops: usize,
    /// Statements left.
    fuel: usize,
}

/// The function of this seed.
pub fn unit(seed: u64, name: &str, style: Style) -> RandomUnit {
    let mut rng = Rng::new(seed);
    let mut generator = Gen {
        rng: &mut rng,
        style,
        unit: name.to_string(),
        reads: Vec::new(),
        writes: Vec::new(),
        tables: Vec::new(),
        records: Vec::new(),
        pointers: Vec::new(),
        pointer_tables: Vec::new(),
        helpers: Vec::new(),
        fresh: 0,
        loops: 0,
        fuel: 0,
    };
    generator.unit()
}

impl Gen<'_> {
    fn unit(&mut self) -> RandomUnit {
        let name = self.unit.clone();
        let mut text = String::new();
        let _ = writeln!(text, "struct P_{name} {{ int f; {} g; short h[2]; }};", self.rng.word("char int long"));
        let _ = writeln!(text, "enum E_{name} {{ A_{name}, B_{name}, C_{name} = 4, D_{name} = -1 }};");
        for _ in 0..self.rng.below(3) {
            let helper = self.helper();
            text.push_str(&helper);
        }
        let mut domains = Vec::new();
        let mut points = 1u64;
        let mut params = Vec::new();
        let mut wanted = 2 + self.rng.below(3);
        let mut extra = self.rng.below(3);
        while wanted + extra > 0 {
            let global = wanted == 0;
            if global {
                extra -= 1;
            } else {
                wanted -= 1;
            }
            let input = format!("{}{}", if global { format!("g_{name}_") } else { "p".into() }, domains.len());
            let room = (self.style.points / points).max(1);
            let (declaration, low, high, scalars, kind) = self.input(&input, room);
            points *= ((high - low + 1) as u64).pow(scalars as u32);
            domains.push((input.clone(), low, high, scalars, kind));
            if global {
                let _ = writeln!(text, "{declaration};");
            } else {
                params.push(declaration);
            }
            match kind {
                Kind::Scalar => {
                    self.reads.push(input.clone());
                    self.writes.push(input);
                }
                Kind::Array => {
                    self.tables.push(Table { name: input, length: scalars as i64, writable: true });
                }
                Kind::Record => {
                    for field in [".f", ".g", ".h[0]", ".h[1]"] {
                        self.reads.push(format!("{input}{field}"));
                        self.writes.push(format!("{input}{field}"));
                    }
                    self.records.push(Table { name: format!("(&{input})"), length: 1, writable: true });
                }
            }
        }
        let pre = self.precondition(&params.join(", "), &domains);
        text.push_str(&pre);
        // known: a global that only the precondition reads is no input, so the function reads all of them.
        let globals = domains.iter().filter(|(name, ..)| name.starts_with("g_"));
        let globals: String = globals
            .map(|(name, _, _, _, kind)| match kind {
                Kind::Scalar => format!(" + 0 * {name}"),
                Kind::Array => format!(" + 0 * {name}[0]"),
                Kind::Record => format!(" + 0 * {name}.f"),
            })
            .collect();
        let body = self.body(&globals);
        let _ = writeln!(text, "int {name}({}) {{\n{body}}}", params.join(", "));
        let domains = domains.into_iter().map(|(name, low, high, ..)| (name, low, high)).collect();
        let eager = self.rng.chance(20);
        RandomUnit { name, text, domains, eager }
    }

    /// A declaration, its range, how many scalars it has.
    fn input(&mut self, name: &str, room: u64) -> (String, i64, i64, usize, Kind) {
        let unit = self.unit.clone();
        let width = |room: u64, scalars: u32| (2..=4i64).rev().find(|&width| (width as u64).pow(scalars) <= room);
        if self.rng.chance(30) {
            let length = 2 + self.rng.below(2);
            if let Some(width) = width(room, length as u32) {
                let ty = self.rng.word("int int char short unsigned long");
                let low = if ty == "unsigned" { 0 } else { -i64::from(self.rng.chance(25)) };
                return (format!("{ty} {name}[{length}]"), low, low + width - 1, length, Kind::Array);
            }
        }
        if self.rng.chance(8)
            && let Some(width) = width(room, 4)
        {
            return (format!("struct P_{unit} {name}"), 0, width - 1, 4, Kind::Record);
        }
        let ty = *self.rng.pick(&[
            "int",
            "int",
            "int",
            "char",
            "signed char",
            "unsigned char",
            "short",
            "unsigned short",
            "unsigned",
            "long",
            "unsigned long long",
            "_Bool",
            "enum",
        ]);
        let width = width(room, 1).unwrap_or(1);
        match ty {
            "_Bool" => (format!("_Bool {name}"), 0, 1, 1, Kind::Scalar),
            "enum" => (format!("enum E_{unit} {name}"), -1, width - 2, 1, Kind::Scalar),
            _ => {
                let low = if ty.starts_with('u') { 0 } else { -(self.rng.below(3) as i64).min(width - 1) };
                (format!("{ty} {name}"), low, low + width - 1, 1, Kind::Scalar)
            }
        }
    }

    /// A function of `int`s that others call.
    fn helper(&mut self) -> String {
        let name = format!("h{}_{}", self.helpers.len(), self.unit);
        let count = 1 + self.rng.below(2);
        let params: Vec<String> = (0..count).map(|index| format!("q{index}")).collect();
        let (reads, writes) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.writes));
        self.reads = params.clone();
        self.writes = params.clone();
        let text = match self.rng.below(4) {
            0 => format!("  return {};\n", self.value(2)),
            1 => format!("  if ({}) return {};\n  return {};\n", self.decision(1), self.value(1), self.value(1)),
            2 => format!("  return {};\n", self.decision(2)),
            _ => format!(
                "  if (q0 <= 0) return {};\n  return {name}({}) {} {};\n",
                self.value(1),
                params.iter().map(|param| format!("{param} - 1")).collect::<Vec<_>>().join(", "),
                self.rng.word("+ ^ -"),
                self.value(1),
            ),
        };
        self.reads = reads;
        self.writes = writes;
        self.helpers.push((name.clone(), count));
        let params: Vec<String> = params.iter().map(|param| format!("int {param}")).collect();
        let linkage = self.rng.word("static  ");
        format!("{linkage} int {name}({}) {{\n{text}}}\n", params.join(", "))
    }

    fn precondition(&mut self, params: &str, domains: &[(String, i64, i64, usize, Kind)]) -> String {
        let unit = self.unit.clone();
        let mut checks = Vec::new();
        let mut arrays = Vec::new();
        for (name, low, high, scalars, kind) in domains {
            match kind {
                Kind::Scalar => checks.push(self.range(name, *low, *high)),
                Kind::Array if self.rng.chance(50) => arrays.push((name.clone(), *low, *high, *scalars)),
                Kind::Array => {
                    checks.extend(
                        (0..*scalars)
                            .map(|index| (format!("{name}[{index}]"), *low, *high))
                            .map(|(place, low, high)| self.range(&place, low, high)),
                    );
                }
                Kind::Record => checks.extend([".f", ".g", ".h[0]", ".h[1]"].map(|field| {
                    let place = format!("{name}{field}");
                    self.range(&place, *low, *high)
                })),
            }
        }
        if self.rng.chance(40) {
            let style = self.style;
            (self.style.divisions, self.style.bounds) = (false, false);
            checks.push(self.decision(1));
            self.style = style;
        }
        let mut text = String::new();
        let helper = self.rng.chance(30);
        if helper {
            let _ = writeln!(text, "static int in_{unit}(long x, long low, long high) {{");
            let bodies = [
                "  if (x < low) return 0;\n  if (x > high) return 0;\n  return 1;\n}\n",
                "  return x >= low && x <= high;\n}\n",
                "  return x < low ? 0 : x > high ? 0 : 7;\n}\n",
            ];
            text.push_str(bodies[self.rng.below(bodies.len())]);
        }
        let _ = writeln!(text, "int {unit}_pre({params}) {{");
        for (name, low, high, scalars) in arrays {
            let test = if helper {
                format!("!in_{unit}({name}[i], {low}, {high})")
            } else {
                format!("{name}[i] < {low} || {name}[i] > {high}")
            };
            let stop = if self.rng.chance(70) { "return 0" } else { "goto no" };
            let _ = writeln!(text, "  for (int i = 0; i < {scalars}; i++) if ({test}) {stop};");
        }
        let label = text.contains("goto no");
        match self.rng.below(4) {
            0 => {
                for check in &checks {
                    let _ = writeln!(text, "  if (!({check})) return 0;");
                }
                text.push_str("  return 1;\n");
            }
            1 => {
                let _ = writeln!(text, "  int ok = 1;");
                for check in &checks {
                    let _ = writeln!(text, "  if (ok) ok = {check};");
                }
                text.push_str("  return ok;\n");
            }
            2 => {
                let _ = writeln!(text, "  _Bool ok = 1;");
                for check in &checks {
                    let _ = writeln!(text, "  ok &= ({check});");
                }
                text.push_str("  return ok;\n");
            }
            _ => {
                let all = checks.iter().map(|check| format!("({check})")).collect::<Vec<_>>().join(" && ");
                let _ = writeln!(text, "  return {};", if all.is_empty() { "1" } else { &all });
            }
        }
        text.push_str(if label { "no: return 0;\n}\n" } else { "}\n" });
        text
    }

    fn range(&mut self, name: &str, low: i64, high: i64) -> String {
        match self.rng.below(4) {
            0 => format!("!({name} < {low} || {name} > {high})"),
            1 => format!("{name} >= {low} ? {name} <= {high} : 0"),
            2 if low >= 0 => format!("({name} & ~7) == 0 && {name} >= {low} && {name} < {}", high + 1),
            _ => format!("{name} >= {low} && {name} <= {high}"),
        }
        // A range below zero never belongs to an unsigned input.
    }

    fn body(&mut self, globals: &str) -> String {
        let mut text = format!("  int r = 0{globals};\n");
        self.reads.push("r".into());
        self.writes.push("r".into());
        for _ in 0..1 + self.rng.below(3) {
            let name = self.name("x");
            let _ = writeln!(
                text,
                "  {} {name} = {};",
                self.rng.word("int int int unsigned short long char"),
                self.value(2)
            );
            self.reads.push(name.clone());
            self.writes.push(name);
        }
        for _ in 0..self.rng.below(3) {
            self.declare_table(&mut text);
        }
        if self.rng.chance(40) {
            self.declare_pointers(&mut text);
        }
        if self.style.uninitialised && self.rng.chance(6) {
            text.push_str("  int u;\n");
            let _ = writeln!(text, "  if ({}) u = {};", self.decision(1), self.value(1));
            self.reads.push("u".into());
        }
        self.fuel = 4 + self.rng.below(8);
        while self.fuel > 0 {
            self.statement(&mut text, 1);
        }
        let _ = writeln!(text, "  return r;");
        text
    }

    fn declare_table(&mut self, text: &mut String) {
        let name = self.name("t");
        let unit = self.unit.clone();
        match self.rng.below(4) {
            0 => {
                let items: Vec<String> = (0..4).map(|_| self.rng.between(-1, 3).to_string()).collect();
                let qualifier = self.rng.word("static_const const static");
                let _ = writeln!(text, "  {} int {name}[4] = {{{}}};", qualifier.replace('_', " "), items.join(", "));
                self.tables.push(Table { name, length: 4, writable: qualifier == "static" });
            }
            1 => {
                let length = 2 + self.rng.below(3);
                let ty = self.rng.word("int int char short unsigned _Bool long");
                let items: Vec<String> = (0..length).map(|_| self.value(1)).collect();
                let _ = writeln!(text, "  {ty} {name}[{length}] = {{{}}};", items.join(", "));
                self.tables.push(Table { name, length: length as i64, writable: true });
            }
            2 => {
                let _ = writeln!(
                    text,
                    "  short {name}[2][3] = {{{{{}, 1}}, {{{}, {}, 2}}}};",
                    self.value(1),
                    self.value(1),
                    self.value(1)
                );
                let row = self.index(2);
                self.tables.push(Table { name: format!("{name}[{row}]"), length: 3, writable: true });
                self.tables.push(Table { name: format!("{name}[1]"), length: 3, writable: true });
            }
            _ => {
                let (a, b, c) = (self.value(1), self.value(1), self.value(1));
                let _ = writeln!(
                    text,
                    "  struct P_{unit} {name}[3] = {{{{{a}, 1, {{2, 3}}}}, {{{b}, {c}}}, {{.h = {{1}}, .f = 2}}}};"
                );
                self.records.push(Table { name, length: 3, writable: true });
            }
        }
    }

    fn declare_pointers(&mut self, text: &mut String) {
        let (a, b, c) = (self.name("y"), self.name("y"), self.name("z"));
        let _ = writeln!(
            text,
            "  int {a} = {}, {b} = {}, {c}[3] = {{{}, 2}};",
            self.value(1),
            self.value(1),
            self.value(1)
        );
        for name in [&a, &b] {
            self.reads.push(name.clone());
            self.writes.push(name.clone());
        }
        self.tables.push(Table { name: c.clone(), length: 3, writable: true });
        let p = self.name("p");
        let choice = match self.rng.below(3) {
            0 => format!("{} ? &{a} : &{b}", self.decision(1)),
            1 => {
                let index = self.index(3);
                format!("&{c}[{index}]")
            }
            _ => {
                let index = self.index(3);
                format!("({}) ? {c} + ({index}) : &{a}", self.decision(0))
            }
        };
        let _ = writeln!(text, "  int *{p} = {choice};");
        self.pointers.push(p.clone());
        if self.rng.chance(50) {
            let table = self.name("pt");
            let _ = writeln!(text, "  int *{table}[3] = {{&{a}, {p}, {c} + 1}};");
            self.pointer_tables.push(Table { name: table, length: 3, writable: true });
        }
        if self.rng.chance(30) {
            let twice = self.name("pp");
            let _ = writeln!(text, "  int **{twice} = &{p};");
            self.pointers.push(format!("(*{twice})"));
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}_{}", self.fresh)
    }

    /// An index: nearly always inside.
    fn index(&mut self, length: i64) -> String {
        if self.style.bounds && self.rng.chance(12) {
            return self.value(1);
        }
        match self.rng.below(5) {
            0 => self.rng.between(0, length - 1).to_string(),
            _ if length == 1 => "0".into(),
            1 | 2 => format!("(unsigned)({}) % {length}", self.value(1)),
            3 if length == 4 => format!("({}) & 3", self.value(1)),
            _ => format!("({}) & 1", self.value(1)),
        }
    }

    /// Something in memory that can be read.
    fn element(&mut self, writable: bool) -> Option<String> {
        let tables: Vec<Table> = self.tables.iter().filter(|table| table.writable || !writable).cloned().collect();
        let mut choices = Vec::new();
        for _ in 0..1 {
            if !tables.is_empty() {
                choices.push(0);
                choices.push(0);
            }
            if !self.records.is_empty() {
                choices.push(1);
            }
            if !self.pointers.is_empty() {
                choices.push(2);
                choices.push(2);
            }
            if !self.pointer_tables.is_empty() {
                choices.push(3);
                choices.push(3);
            }
        }
        if choices.is_empty() {
            return None;
        }
        Some(match *self.rng.pick(&choices) {
            0 => {
                let table = self.rng.pick(&tables).clone();
                let index = if self.rng.chance(25) && !self.tables.is_empty() {
                    // Double indirection.
                    let inner = self.rng.pick(&self.tables).clone();
                    let index = self.index(inner.length);
                    if self.style.bounds && self.rng.chance(20) {
                        format!("{}[{index}]", inner.name)
                    } else {
                        format!("(unsigned)({}[{index}]) % {}", inner.name, table.length)
                    }
                } else {
                    self.index(table.length)
                };
                if self.rng.chance(15) {
                    format!("*({} + ({index}))", table.name)
                } else {
                    format!("{}[{index}]", table.name)
                }
            }
            1 => {
                let record = self.rng.pick(&self.records).clone();
                let index = self.index(record.length);
                match self.rng.below(4) {
                    0 => format!("{}[{index}].f", record.name),
                    1 => format!("{}[{index}].g", record.name),
                    2 => format!("({} + ({index}))->f", record.name),
                    _ => {
                        let inner = self.index(2);
                        format!("{}[{index}].h[{inner}]", record.name)
                    }
                }
            }
            2 => format!("*{}", self.rng.pick(&self.pointers)),
            _ => {
                let table = self.rng.pick(&self.pointer_tables).clone();
                let index = self.index(table.length);
                format!("*{}[{index}]", table.name)
            }
        })
    }

    fn leaf(&mut self) -> String {
        if self.reads.is_empty() || self.rng.chance(20) {
            let number = self.rng.between(-2, 4);
            return if number < 0 { format!("({number})") } else { number.to_string() };
        }
        self.rng.pick(&self.reads).clone()
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        match self.rng.below(17) {
            16 => self.distance().unwrap_or_else(|| self.leaf()),
            0..=3 => self.leaf(),
            4..=6 => self.element(false).unwrap_or_else(|| self.leaf()),
            7 | 8 => format!("({} {} {})", self.value(depth - 1), self.rng.word("+ - *"), self.value(depth - 1)),
            9 => format!("({} {} {})", self.value(depth - 1), self.rng.word("& | ^"), self.value(depth - 1)),
            10 => {
                let operator = self.rng.word("/ %");
                let (a, b) = (self.value(depth - 1), self.value(depth - 1));
                if self.style.divisions && self.rng.chance(30) {
                    format!("({a} {operator} {b})")
                } else {
                    format!("({a} {operator} ((({b}) & 3) + 1))")
                }
            }
            11 => format!("({} {} (({}) & 3))", self.value(depth - 1), self.rng.word("<< >>"), self.value(depth - 1)),
            12 => format!("({})({})", self.rng.word("char short unsigned _Bool int long"), self.value(depth - 1)),
            13 => {
                let (condition, a, b) = (self.decision(depth - 1), self.value(depth - 1), self.value(depth - 1));
                // A compiler drops a condition that decides nothing, with the errors in it.
                if a == b { a } else { format!("({condition} ? {a} : {b})") }
            }
            14 => format!("({}{})", self.rng.word("- ~ !"), self.leaf()),
            _ => format!("({})", self.decision(depth - 1)),
        }
    }

    /// Returns the distance of two elements of a table.
    fn distance(&mut self) -> Option<String> {
        if self.tables.is_empty() {
            return None;
        }
        let table = self.rng.pick(&self.tables).clone();
        Some(format!("(&{0}[{1}] - &{0}[{2}])", table.name, self.index(table.length), self.index(table.length)))
    }

    /// A comparison.
    fn condition(&mut self) -> String {
        let left = if self.rng.chance(40) { self.element(false) } else { None };
        let left = left.unwrap_or_else(|| self.value(1));
        format!("{left} {} {}", self.rng.word("== != < > <= >="), self.value(1))
    }

    fn decision(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.rng.chance(80) { self.condition() } else { self.value(1) };
        }
        let part = |generator: &mut Self| format!("({})", generator.decision(depth - 1));
        match self.rng.below(10) {
            0 | 1 => format!("{} && {}", part(self), part(self)),
            2 | 3 => format!("{} || {}", part(self), part(self)),
            4 => format!("!{}", part(self)),
            5 => format!("{} ? {} : {}", part(self), part(self), part(self)),
            6 => format!("({}) {} ({})", self.condition(), self.rng.word("^ == != & |"), self.condition()),
            7 => format!("({} && {}) != ({})", part(self), part(self), self.condition()),
            _ => self.condition(),
        }
    }

    fn target(&mut self) -> String {
        if self.rng.chance(50)
            && let Some(element) = self.element(true)
        {
            return element;
        }
        self.rng.pick(&self.writes).clone()
    }

    fn block(&mut self, text: &mut String, depth: usize) {
        text.push_str(" {\n");
        for _ in 0..1 + self.rng.below(2) {
            self.statement(text, depth + 1);
        }
        let _ = write!(text, "{}}}", "  ".repeat(depth));
    }

    fn statement(&mut self, text: &mut String, depth: usize) {
        self.fuel = self.fuel.saturating_sub(1);
        let pad = "  ".repeat(depth);
        text.push_str(&pad);
        let choice = if depth > 3 { self.rng.below(10) } else { self.rng.below(24) };
        match choice {
            0..=3 => self.assignment(text),
            4 => {
                let target = self.rng.pick(&self.writes).clone();
                let _ = write!(text, "{target} += {};", self.decision(2));
            }
            5 | 6 => self.pointer_statement(text),
            7 => self.call(text),
            8 if self.records.is_empty() => self.assignment(text),
            8 => {
                let (a, b) = (self.rng.pick(&self.records).clone(), self.rng.pick(&self.records).clone());
                let (i, j) = (self.index(a.length), self.index(b.length));
                let _ = write!(text, "{}[{i}] = {}[{j}];", a.name, b.name);
            }
            9 if self.loops > 0 && self.rng.chance(60) => {
                let _ = write!(text, "if ({}) {};", self.decision(1), self.rng.word("break continue"));
            }
            9 => self.assignment(text),
            10..=15 => {
                let _ = write!(text, "if ({})", self.decision(2));
                self.block(text, depth);
                if self.rng.chance(50) {
                    text.push_str(" else");
                    self.block(text, depth);
                }
            }
            16..=18 if self.loops < 2 => self.loop_statement(text, depth),
            19 | 20 => self.switch(text, depth),
            21 if depth > 1 => {
                let _ = write!(text, "return {};", self.value(1));
            }
            22 if depth > 1 && self.rng.chance(30) => {
                let _ = write!(text, "if ({}) return r;", self.decision(1));
            }
            _ => {
                let _ = write!(text, "if ({}) r = {};", self.decision(1), self.value(2));
            }
        }
        text.push('\n');
    }

    fn assignment(&mut self, text: &mut String) {
        let target = self.target();
        let _ = match self.rng.below(8) {
            0 => write!(text, "{target} {} {};", self.rng.word("+= -= ^= |= &= *="), self.value(1)),
            1 => write!(text, "{target}{};", self.rng.word("++ --")).map(|()| {
                // `*p++` would move the pointer instead.
                if target.starts_with('*') {
                    let at = text.rfind(&target).expect("just written");
                    text.replace_range(at..at + target.len(), &format!("({target})"));
                }
            }),
            2 => write!(text, "r = r * 3 + {};", self.value(2)),
            _ => write!(text, "{target} = {};", self.value(2)),
        };
    }

    fn pointer_statement(&mut self, text: &mut String) {
        let Some(pointer) = self.pointers.first().cloned() else { return self.assignment(text) };
        let tables: Vec<Table> = self.tables.iter().filter(|table| table.name.starts_with("z_")).cloned().collect();
        match self.rng.below(4) {
            0 => {
                let table = self.rng.pick(&tables).clone();
                let index = self.index(table.length);
                let _ = write!(text, "{pointer} = &{}[{index}];", table.name);
            }
            1 if !self.pointer_tables.is_empty() => {
                let table = self.rng.pick(&self.pointer_tables).clone();
                let (i, j) = (self.index(table.length), self.index(table.length));
                let _ = if self.rng.chance(50) {
                    write!(text, "{}[{i}] = {}[{j}];", table.name, table.name)
                } else {
                    write!(text, "{pointer} = {}[{i}];", table.name)
                };
            }
            2 if !self.pointer_tables.is_empty() => {
                let table = self.rng.pick(&self.pointer_tables).clone();
                let index = self.index(table.length);
                let _ = write!(text, "if ({}[{index}] {} {pointer}) r += 5;", table.name, self.rng.word("== !="));
            }
            _ => {
                let table = self.rng.pick(&tables).clone();
                let _ = write!(text, "if ({pointer} == {} + ({})) r ^= 9;", table.name, self.index(3));
            }
        }
    }

    fn call(&mut self, text: &mut String) {
        if self.helpers.is_empty() {
            return self.assignment(text);
        }
        let (helper, count) = self.rng.pick(&self.helpers).clone();
        let arguments: Vec<String> = (0..count).map(|_| format!("({}) & 3", self.value(1))).collect();
        let target = self.rng.pick(&self.writes).clone();
        let _ = write!(text, "{target} = {helper}({});", arguments.join(", "));
    }

    fn loop_statement(&mut self, text: &mut String, depth: usize) {
        let counter = self.name("i");
        let bound =
            if self.rng.chance(60) { (1 + self.rng.below(3)).to_string() } else { format!("(({}) & 3)", self.leaf()) };
        let limit = self.name("n");
        self.loops += 1;
        self.reads.push(counter.clone());
        let known = self.reads.len();
        match self.rng.below(3) {
            0 => {
                let _ = write!(text, "for (int {counter} = 0, {limit} = {bound}; {counter} < {limit}; {counter}++)");
                self.block(text, depth);
            }
            1 => {
                let _ = write!(text, "for (int {counter} = 3; {counter} > 0 && ({}); --{counter})", self.decision(1));
                self.block(text, depth);
            }
            _ => {
                let _ = write!(text, "{{ int {counter} = {bound}; do");
                self.block(text, depth);
                let _ = write!(text, " while ({counter}-- > 0); }}");
            }
        }
        self.reads.truncate(known - 1);
        self.loops -= 1;
    }

    fn switch(&mut self, text: &mut String, depth: usize) {
        let _ = writeln!(text, "switch ({}) {{", self.value(1));
        let pad = "  ".repeat(depth);
        let mut next = self.rng.between(-2, 0);
        for _ in 0..2 + self.rng.below(3) {
            let _ = match self.rng.below(4) {
                0 => write!(text, "{pad}case {next} ... {}:", next + 1),
                1 => write!(text, "{pad}case {next}: case {}:", next + 1),
                _ => write!(text, "{pad}case {next}:"),
            };
            next += 2;
            self.block(text, depth);
            text.push_str(if self.rng.chance(60) { " break;\n" } else { "\n" });
        }
        if self.rng.chance(60) {
            let _ = write!(text, "{pad}default:");
            self.block(text, depth);
            text.push('\n');
        }
        let _ = write!(text, "{pad}}}");
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Scalar,
    Array,
    Record,
}
