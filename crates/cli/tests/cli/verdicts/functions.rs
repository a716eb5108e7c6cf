//! Random decision functions: a few inputs with small domains that a precondition closes, and a body that is mostly
//! decisions: nested, repeated, contradictory, with constants, side effects and hazards.

use crate::support::rng::Rng;
use std::fmt::Write;

/// A random function with its precondition and helpers.
pub struct Made {
    /// The function's name.
    pub name: String,
    /// Everything it needs, as C.
    pub text: String,
    /// Values of each input that the precondition can allow; a pointer's are those of what it points to.
    pub domains: Vec<(String, Vec<i128>)>,
    /// True if there is an input `p` (and perhaps `q`) that is a pointer. The precondition does not restrict it.
    pub pointer: bool,
    /// True if the array is between pointers.
    pub beside_pointers: bool,
}

/// Inputs that a function may have at most.
const MOST_POINTS: usize = 240;

/// Types of inputs, and whether they can be negative.
const TYPES: [(&str, bool); 8] = [
    ("int", true),
    ("int", true),
    ("int", true),
    ("unsigned char", false),
    ("_Bool", false),
    ("short", true),
    ("long", true),
    ("unsigned", false),
];

/// The function of a seed; always the same.
pub fn function(seed: u64) -> Made {
    let mut rng = Rng::new(seed);
    let name = format!("f{seed}");
    let mut params = Vec::new();
    let mut domains: Vec<(String, Vec<i128>)> = Vec::new();
    let mut points = 1;
    for index in 0..2 + rng.below(3) {
        let (ty, signed) = *rng.pick(&TYPES);
        let low = if signed { rng.between(-2, 0) } else { 0 };
        let most = if ty == "_Bool" { 1 } else { 4 };
        let high = low + rng.between(1, most);
        if points * (high - low + 1) as usize > MOST_POINTS {
            continue;
        }
        points *= (high - low + 1) as usize;
        let input = ["a", "b", "c", "d"][index];
        params.push(format!("{ty} {input}"));
        domains.push((input.to_string(), (i128::from(low)..=i128::from(high)).collect()));
    }
    let mut inputs: Vec<String> = domains.iter().map(|(name, _)| name.clone()).collect();
    let mut text = String::new();
    if rng.chance(20) && points * 2 <= MOST_POINTS {
        let global = format!("g{seed}");
        writeln!(text, "int {global};").expect("a string");
        domains.push((global.clone(), vec![0, 1]));
        inputs.push(global);
    }
    let (mut pointer, mut second) = (false, false);
    let mut allowed: Vec<String> = domains
        .iter()
        .map(|(name, values)| format!("{name} >= {} && {name} <= {}", values[0], values[values.len() - 1]))
        .collect();
    if rng.chance(20) && points * 6 <= MOST_POINTS {
        pointer = true;
        params.push("int *p".to_string());
        domains.push(("p".to_string(), vec![-1, 0, 1]));
        if rng.chance(50) && points * 24 <= MOST_POINTS {
            second = true;
            params.push("int *q".to_string());
            domains.push(("q".to_string(), vec![0, 2]));
        }
    }
    let params = params.join(", ");
    if rng.chance(40) {
        let (x, y) = (rng.pick(&inputs).clone(), rng.pick(&inputs).clone());
        allowed.push(match rng.below(4) {
            0 => format!("{x} != {y} + 1"),
            1 => format!("({x} > 0 || {y} > 0)"),
            2 => format!("{x} + {y} <= 3"),
            _ => format!("!({x} == 0 && {y} == 0)"),
        });
    }
    writeln!(text, "static int {name}_pre({params}) {{ return {}; }}", allowed.join(" && ")).expect("a string");
    let mut body = Body {
        rng,
        name: name.clone(),
        inputs,
        pointer,
        second,
        known: Vec::new(),
        leaves: 0,
        loops: 0,
        statements: 0,
        in_loop: false,
        helpers_use_decisions: false,
        beside_pointers: false,
    };
    text += &body.helpers();
    writeln!(text, "int {name}({params}) {{").expect("a string");
    text += &body.all();
    text += "}\n\n";
    Made { name, text, domains, pointer, beside_pointers: body.beside_pointers }
}

struct Body {
    rng: Rng,
    name: String,
    inputs: Vec<String>,
    pointer: bool,
    second: bool,
    /// Pure conditions that were used already.
    known: Vec<String>,
    /// Conditions that the current decision may still have.
    leaves: usize,
    loops: usize,
    statements: usize,
    in_loop: bool,
    helpers_use_decisions: bool,
    /// True if the array is between pointers, whose bytes must not be read.
    beside_pointers: bool,
}

impl Body {
    fn helpers(&mut self) -> String {
        let name = &self.name;
        let small = self.rng.between(0, 2);
        self.helpers_use_decisions = self.rng.chance(50);
        let pure = if self.helpers_use_decisions {
            format!("return x > {small} && x != 2 || x < -1;")
        } else {
            format!("return x > {small};")
        };
        format!(
            "static const int {name}_tab[4] = {{0, 2, 1, -1}};\n\
             static int {name}_is(int x) {{ {pure} }}\n\
             static int {name}_step(int *n) {{ *n = *n + 1; return *n > {}; }}\n",
            self.rng.between(1, 3)
        )
    }

    fn all(&mut self) -> String {
        let inputs = self.inputs.clone();
        let cells = format!("{{{}, 1, {}, 0}}", self.rng.pick(&inputs), self.rng.pick(&inputs));
        // Only what a function uses is an input.
        let global = inputs.iter().find(|input| input.starts_with('g')).map_or("0", String::as_str);
        let mut text = format!("    int t = 0, u = {}, r = {global};\n", self.rng.between(-1, 2));
        // The array is alone or between pointers, which a write may then hit.
        self.beside_pointers = self.rng.chance(33);
        text += &match self.beside_pointers {
            true => format!(
                "    struct {{ int *first; int cells[20]; int *last; int more; }} m = {{&t, {cells}, &u, 1}};\n    \
                 int *arr = m.cells;\n    r += *m.first + *m.last;\n"
            ),
            false => format!("    int arr[4] = {cells};\n"),
        };
        for _ in 0..1 + self.rng.below(3) {
            text += &self.statement(1, 2);
        }
        text += match self.rng.below(3) {
            0 => "    return r;\n",
            1 => "    return r + t + u;\n",
            _ => "    return r > 0 || t == u;\n",
        };
        text
    }

    fn block(&mut self, indent: usize, depth: usize) -> String {
        let mut text = String::from("{\n");
        for _ in 0..1 + self.rng.below(2) {
            text += &self.statement(indent + 1, depth);
        }
        text += &"    ".repeat(indent);
        text + "}"
    }

    fn statement(&mut self, indent: usize, depth: usize) -> String {
        let pad = "    ".repeat(indent);
        self.statements += 1;
        let choice = if depth == 0 || self.statements > 14 { self.rng.below(7) } else { self.rng.below(22) };
        match choice {
            0 => format!("{pad}r += {};\n", self.number()),
            1 => format!("{pad}t = {};\n", self.number()),
            2 => format!("{pad}{} = {};\n", self.rng.word("t u r"), self.decision(3)),
            3 => self.store(&pad),
            4 => {
                let condition = self.decision(3);
                format!("{pad}r = {condition} ? {} : {};\n", self.number(), self.number())
            }
            5 if self.in_loop => {
                let condition = self.decision(2);
                format!("{pad}if ({condition}) {};\n", self.rng.word("break continue"))
            }
            5 => {
                let condition = self.decision(2);
                format!("{pad}u = {}_is({condition});\n", self.name)
            }
            6 => format!("{pad}if ({}) return {};\n", self.decision(3), self.rng.between(0, 9)),
            7..=12 => {
                let condition = self.decision(5);
                let then = self.block(indent, depth - 1);
                format!("{pad}if ({condition}) {then}\n")
            }
            13..=15 => {
                let condition = self.decision(5);
                let (then, otherwise) = (self.block(indent, depth - 1), self.block(indent, depth - 1));
                format!("{pad}if ({condition}) {then} else {otherwise}\n")
            }
            16 | 17 => self.switch(indent, depth),
            18..=20 => self.looped(indent, depth),
            _ => {
                let (a, b, c) = (self.decision(2), self.decision(2), self.decision(2));
                format!("{pad}r = {a} ? ({b} ? 1 : 2) : {c};\n")
            }
        }
    }

    /// An assignment to a computed place.
    fn store(&mut self, pad: &str) -> String {
        let (index, value) = (self.number(), self.number());
        match self.rng.below(8) {
            0 if self.second => format!("{pad}if (p && q) *p = *q + {value};\n"),
            1 if self.second => format!("{pad}if (q) *q = {value};\n"),
            0..=3 if self.pointer => format!("{pad}if (p) *p = {value};\n"),
            4 if self.pointer => format!("{pad}*p = {value};\n"),
            5 => format!("{pad}arr[{}] = {value};\n", self.variable()),
            6 => format!("{pad}arr[arr[{index} & 3] & 3] = {value};\n"),
            _ => format!("{pad}arr[{index} & 3] = {value};\n"),
        }
    }

    fn switch(&mut self, indent: usize, depth: usize) -> String {
        let pad = "    ".repeat(indent);
        let value = self.number();
        let mut text = format!("{pad}switch ({value}) {{\n");
        let outer = std::mem::replace(&mut self.in_loop, false);
        let mut case = self.rng.between(-1, 0);
        for _ in 0..2 + self.rng.below(2) {
            write!(text, "{pad}case {case}: ").expect("a string");
            case += 1;
            if self.rng.chance(25) {
                write!(text, "case {case}: ").expect("a string");
                case += 1;
            }
            text += &self.block(indent, depth - 1);
            text += if self.rng.chance(70) { " break;\n" } else { "\n" };
        }
        if self.rng.chance(60) {
            writeln!(text, "{pad}default: {}", self.block(indent, depth - 1)).expect("a string");
        }
        self.in_loop = outer;
        text + &pad + "}\n"
    }

    fn looped(&mut self, indent: usize, depth: usize) -> String {
        let pad = "    ".repeat(indent);
        let counter = format!("i{}", self.loops);
        self.loops += 1;
        let bound = self.rng.between(1, 3);
        let condition = self.decision(2);
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.block(indent, depth - 1);
        self.in_loop = outer;
        match self.rng.below(5) {
            0 => format!("{pad}for (int {counter} = 0; {counter} < {bound}; {counter}++) {body}\n"),
            1 => format!("{pad}for (int {counter} = 0; {counter} < {bound} && {condition}; {counter}++) {body}\n"),
            2 => format!("{pad}int {counter} = 0;\n{pad}while ({condition} && {counter}++ < {bound}) {body}\n"),
            3 => format!("{pad}int {counter} = 0;\n{pad}do {body} while (++{counter} < {bound} && {condition});\n"),
            _ => format!(
                "{pad}int {counter} = 0;\n{pad}for (;;) {{ if ({counter}++ == {bound} || {condition}) break; {body} }}\n"
            ),
        }
    }

    fn variable(&mut self) -> String {
        if self.rng.chance(75) { self.rng.pick(&self.inputs).clone() } else { self.rng.word("t u r").to_string() }
    }

    fn number(&mut self) -> String {
        let (x, y) = (self.variable(), self.variable());
        if self.pointer && self.rng.chance(20) {
            return "*p".to_string();
        }
        match self.rng.below(9) {
            0 => self.rng.between(-1, 3).to_string(),
            1 | 2 => x,
            3 => format!("({x} + {y})"),
            4 => format!("({x} - {y})"),
            5 => format!("({x} * {y})"),
            6 => format!("arr[{x} & 3]"),
            7 => format!("{}_tab[({x} + {y}) & 3]", self.name),
            _ => format!("({x} + {})", self.rng.between(1, 2)),
        }
    }

    /// Returns a boolean expression in parentheses, with at most `leaves` conditions.
    fn decision(&mut self, leaves: usize) -> String {
        let outer = std::mem::replace(&mut self.leaves, leaves);
        let text = self.tree(3);
        self.leaves = outer;
        format!("({text})")
    }

    fn tree(&mut self, depth: usize) -> String {
        if depth == 0 || self.leaves <= 1 {
            return self.leaf();
        }
        match self.rng.below(16) {
            0..=3 => format!("({} && {})", self.tree(depth - 1), self.tree(depth - 1)),
            4..=7 => format!("({} || {})", self.tree(depth - 1), self.tree(depth - 1)),
            8 | 9 => format!("!({})", self.tree(depth - 1)),
            10 => format!("({} ^ {})", self.truth(depth - 1), self.truth(depth - 1)),
            11 => format!("({} == {})", self.truth(depth - 1), self.truth(depth - 1)),
            12 => format!("({} != {})", self.truth(depth - 1), self.truth(depth - 1)),
            13 => format!("({} ? {} : {})", self.tree(depth - 1), self.tree(depth - 1), self.tree(depth - 1)),
            _ => self.leaf(),
        }
    }

    /// A tree that surely is a truth value.
    fn truth(&mut self, depth: usize) -> String {
        format!("(!({}))", self.tree(depth))
    }

    fn leaf(&mut self) -> String {
        self.leaves = self.leaves.saturating_sub(1);
        if !self.known.is_empty() && self.rng.chance(25) {
            let again = self.rng.pick(&self.known).clone();
            return if self.rng.chance(40) { format!("!({again})") } else { again };
        }
        let (x, y) = (self.variable(), self.variable());
        let small = self.rng.between(-1, 2);
        let relation = self.rng.word("< <= > >= == !=");
        let name = self.name.clone();
        if self.pointer && self.rng.chance(30) {
            return match self.rng.below(4) {
                0 => "!!p".to_string(),
                1 => "p == 0".to_string(),
                2 => format!("p && *p {relation} {small}"),
                _ => format!("*p {relation} {small}"),
            };
        }
        let pure = match self.rng.below(24) {
            0..=2 => x,
            3..=7 => format!("{x} {relation} {small}"),
            8 | 9 => format!("{x} {relation} {y}"),
            10 => format!("{x} + {y} {relation} {small}"),
            11 => format!("{name}_tab[{x} & 3] {relation} {small}"),
            12 => format!("arr[({x} + {y}) & 3]"),
            13 => format!("arr[{x} & 3] {relation} {y}"),
            14 => format!("{name}_is({x})"),
            // What follows has side effects, nested decisions or hazards, and is not repeated.
            15 => return self.rng.word("0 1 (2>1) (3==4)").to_string(),
            16 | 17 => return format!("{name}_step(&t)"),
            18 => return format!("(t = {x} - 1, t {relation} {small})"),
            19 => return format!("u++ {relation} {small}"),
            20 if self.leaves > 0 => return format!("{name}_is({})", self.decision(2)),
            21 if self.leaves > 0 => return format!("arr[{}] {relation} {small}", self.decision(2)),
            22 if self.rng.chance(40) => return format!("{x} % {y} {relation} {small}"),
            23 if self.rng.chance(40) && !self.beside_pointers => return format!("arr[{x}] {relation} {small}"),
            _ => format!("{x} > {small}"),
        };
        self.known.push(pure.clone());
        pure
    }
}
