//! Random whole programs that print what they compute.
//!
//! No undefined behaviour except signed overflow, and nothing that depends on the order of evaluation: an expression is
//! *pure* (no side effects), or its side effects are sequenced (`,`, `&&`, `||`, `?:`, calls with pure arguments).

use crate::support::rng::Rng;
use std::fmt::Write;

/// A type, as the walk from a variable to one of its scalars needs it.
#[derive(Clone, PartialEq, Debug)]
enum Ty {
    Scalar(&'static str),
    Array(Box<Ty>, usize),
    Struct(usize),
    /// To element `at` of `count` elements.
    Pointer(Box<Ty>, usize, usize),
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Ty,
    writable: bool,
}

#[derive(Clone)]
struct Function {
    name: String,
    params: Vec<Ty>,
    result: Ty,
    cost: u64,
    /// Its first parameter counts down.
    recursive: bool,
}

const SCALARS: [&str; 16] = [
    "_Bool",
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "i16",
    "u64",
    "enum E",
];

/// The maximum number of statements that one run of a function executes.
const BUDGET: u64 = 3000;

struct Gen {
    rng: Rng,
    unit: String,
    /// Fields of the structs.
    structs: Vec<Vec<(String, Ty)>>,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    fresh: usize,
    /// The number of executions of the statement that is being generated.
    times: u64,
    cost: u64,
    /// Loops around, and whether `continue` is allowed in the innermost.
    loops: usize,
    result: Option<Ty>,
}

/// One file with one program for every seed, and a `main` that runs all of them.
pub fn program(seeds: std::ops::Range<u64>) -> String {
    let mut text = String::from(
        "#include <stdio.h>\ntypedef short i16;\ntypedef unsigned long long u64;\n\
         enum E { RED, GREEN = 5, BLUE, BLACK = -3 };\n",
    );
    for seed in seeds.clone() {
        text.push_str(&unit(seed));
    }
    text.push_str("int main(void) {\n  unsigned status = 0;\n");
    for seed in seeds {
        let _ = writeln!(text, "  status = status * 31 + main_{seed}();");
    }
    text.push_str("  return status & 127;\n}\n");
    text
}

fn unit(seed: u64) -> String {
    let mut generator = Gen {
        rng: Rng::new(seed ^ 0x00c0_ffee_0000),
        unit: seed.to_string(),
        structs: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        fresh: 0,
        times: 1,
        cost: 0,
        loops: 0,
        result: None,
    };
    generator.unit()
}

impl Gen {
    fn unit(&mut self) -> String {
        let mut text = String::new();
        for index in 0..2 {
            let fields = self.fields();
            let _ = writeln!(text, "struct S{index}_{} {{", self.unit);
            for (name, ty) in &fields {
                let _ = writeln!(text, "  {};", self.declare(ty, name));
            }
            text.push_str("};\n");
            self.structs.push(fields);
        }
        for _ in 0..3 + self.rng.below(5) {
            let ty = self.ty(2);
            let name = self.name("g");
            let storage = self.rng.word("static    const");
            let initial =
                if self.rng.chance(75) { format!(" = {}", self.initialiser(&ty, true)) } else { String::new() };
            let _ = writeln!(text, "{storage} {}{initial};", self.declare(&ty, &name));
            self.variables.push(Variable { name, ty, writable: storage != "const" });
        }
        self.global_pointers(&mut text);
        for _ in 0..2 + self.rng.below(4) {
            let function = self.function();
            text.push_str(&function);
        }
        let _ = writeln!(text, "int main_{}(void) {{\n  unsigned long long sum = 0;", self.unit);
        let known = self.variables.len();
        (self.cost, self.times, self.result) = (0, 1, None);
        self.statements(&mut text, 1, 6);
        for variable in self.variables.iter().take(known).cloned().collect::<Vec<_>>() {
            for leaf in self.leaves(&variable.name, &variable.ty) {
                let _ = writeln!(text, "  sum = sum * 31 + (unsigned long long)({leaf});");
            }
            let _ = writeln!(text, "  printf(\"{} %llu\\n\", sum);", variable.name);
        }
        self.variables.truncate(known);
        text.push_str("  return (int)sum;\n}\n");
        text
    }

    fn global_pointers(&mut self, text: &mut String) {
        for variable in self.variables.clone() {
            let Ty::Array(element, count) = &variable.ty else { continue };
            if !variable.writable || !self.rng.chance(40) {
                continue;
            }
            let at = self.rng.below(*count);
            let ty = Ty::Pointer(element.clone(), at, *count);
            let name = self.name("gp");
            let address = if self.rng.chance(50) {
                format!("&{}[{at}]", variable.name)
            } else {
                format!("{} + {at}", variable.name)
            };
            let _ = writeln!(text, "{} = {address};", self.declare(&ty, &name));
            self.variables.push(Variable { name: name.clone(), ty: ty.clone(), writable: false });
            if self.rng.chance(40) {
                let outer = self.name("gpp");
                let ty = Ty::Pointer(Box::new(ty), 0, 1);
                let _ = writeln!(text, "{} = &{name};", self.declare(&ty, &outer));
                self.variables.push(Variable { name: outer, ty, writable: false });
            }
        }
        if self.rng.chance(50) {
            let name = self.name("words");
            let _ = writeln!(
                text,
                "static const char *{name}[4] = {{\"abc\", \"de\\n\\x41\", \"\\0q\\377\", \"long\" \"er\"}};"
            );
            // Every word has at least two characters.
            let ty = Ty::Array(Box::new(Ty::Pointer(Box::new(Ty::Scalar("char")), 0, 2)), 4);
            self.variables.push(Variable { name, ty, writable: false });
        }
    }

    fn fields(&mut self) -> Vec<(String, Ty)> {
        let count = 2 + self.rng.below(4);
        (0..count).map(|index| (format!("m{index}"), self.ty(1))).collect()
    }

    fn ty(&mut self, depth: usize) -> Ty {
        match self.rng.below(10) {
            0 | 1 if depth > 0 && !self.structs.is_empty() => Ty::Struct(self.rng.below(self.structs.len())),
            2..=4 if depth > 0 => {
                let element = if self.rng.chance(30) { self.ty(depth - 1) } else { self.scalar() };
                let mut ty = Ty::Array(Box::new(element), 1 << self.rng.below(3));
                while depth > 1 && self.rng.chance(30) {
                    ty = Ty::Array(Box::new(ty), 2);
                }
                ty
            }
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Ty {
        let index = self.rng.below(SCALARS.len());
        Ty::Scalar(SCALARS[index])
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}_{}", self.fresh, self.unit)
    }

    fn declare(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Scalar(scalar) => format!("{scalar} {name}"),
            Ty::Struct(index) => format!("struct S{index}_{} {name}", self.unit),
            Ty::Array(element, count) => self.declare(element, &format!("{name}[{count}]")),
            Ty::Pointer(element, ..) if matches!(**element, Ty::Array(..)) => {
                self.declare(element, &format!("(*{name})"))
            }
            Ty::Pointer(element, ..) => self.declare(element, &format!("*{name}")),
        }
    }

    /// An initialiser; of constants for a global.
    fn initialiser(&mut self, ty: &Ty, constant: bool) -> String {
        match ty {
            Ty::Scalar(_) if constant => self.literal(),
            Ty::Scalar(_) => self.pure(2),
            Ty::Array(element, count) if **element == Ty::Scalar("char") && *count == 4 && self.rng.chance(40) => {
                self.rng.word("\"abc\" \"x\" \"\" \"wxyz\" {\"q\"} {\"vwx\"}").to_string()
            }
            Ty::Array(element, count) => {
                let given = 1 + self.rng.below(*count);
                let mut items: Vec<String> = (0..given).map(|_| self.initialiser(element, constant)).collect();
                if self.rng.chance(20) {
                    items[0] = format!("[{}] = {}", count - given, items[0]);
                }
                format!("{{{}}}", items.join(", "))
            }
            Ty::Struct(index) => {
                let fields = self.structs[*index].clone();
                if self.rng.chance(25) {
                    let (name, ty) = self.rng.pick(&fields).clone();
                    return format!("{{.{name} = {}}}", self.initialiser(&ty, constant));
                }
                let given = 1 + self.rng.below(fields.len());
                let items: Vec<String> = fields[..given].iter().map(|(_, ty)| self.initialiser(ty, constant)).collect();
                format!("{{{}}}", items.join(", "))
            }
            Ty::Pointer(..) => "0".into(),
        }
    }

    /// Every scalar in a variable, by constant indices.
    fn leaves(&self, place: &str, ty: &Ty) -> Vec<String> {
        match ty {
            Ty::Scalar(_) => vec![place.to_string()],
            Ty::Array(element, count) => {
                (0..*count).flat_map(|index| self.leaves(&format!("{place}[{index}]"), element)).collect()
            }
            Ty::Struct(index) => {
                self.structs[*index].iter().flat_map(|(name, ty)| self.leaves(&format!("{place}.{name}"), ty)).collect()
            }
            Ty::Pointer(element, ..) => self.leaves(&format!("(*{place})"), element),
        }
    }

    fn literal(&mut self) -> String {
        let number = match self.rng.below(12) {
            0 => "0x7fffffff".to_string(),
            1 => "(-2147483647 - 1)".to_string(),
            2 => "0xffffffffu".to_string(),
            3 => "0x8000000000000000ull".to_string(),
            4 => self.rng.word("'a' '\\n' '\\xff' '\\0' '\\'' GREEN BLACK sizeof(long) sizeof(i16)").to_string(),
            5 => format!("{}{}", self.rng.below(70000), self.rng.word("u l ul ll ull L")),
            6 => format!("0{:o}", self.rng.below(4096)),
            7 => format!("0x{:x}", self.rng.next() >> self.rng.below(50)),
            _ => self.rng.between(-5, 300).to_string(),
        };
        if number.starts_with('-') { format!("({number})") } else { number }
    }

    /// A scalar in memory. With `writable`, one that may be assigned to.
    fn place(&mut self, writable: bool, depth: usize) -> Option<String> {
        let known: Vec<Variable> =
            self.variables.iter().filter(|known| known.writable || !writable || points(known)).cloned().collect();
        if known.is_empty() {
            return None;
        }
        let variable = self.rng.pick(&known).clone();
        if writable && !variable.writable && variable.name.starts_with("words") {
            return None;
        }
        Some(self.walk(variable.name, variable.ty, depth))
    }

    fn walk(&mut self, place: String, ty: Ty, depth: usize) -> String {
        match ty {
            Ty::Scalar(_) => place,
            Ty::Array(element, count) => {
                let index = self.index(count, depth);
                let place = match self.rng.below(6) {
                    0 => format!("(*({place} + {index}))"),
                    1 => format!("({index})[{place}]"),
                    _ => format!("{place}[{index}]"),
                };
                self.walk(place, *element, depth)
            }
            Ty::Struct(index) => {
                let (name, ty) = self.rng.pick(&self.structs[index]).clone();
                let place = if self.rng.chance(15) { format!("(&{place})->{name}") } else { format!("{place}.{name}") };
                self.walk(place, ty, depth)
            }
            Ty::Pointer(element, at, count) => {
                let index = self.index(count, depth);
                let place = match self.rng.below(3) {
                    0 => format!("(*{place})"),
                    1 => format!("{place}[(int){index} - {at}]"),
                    _ => format!("(*({place} - {at} + {index}))"),
                };
                self.walk(place, *element, depth)
            }
        }
    }

    fn index(&mut self, count: usize, depth: usize) -> String {
        if depth == 0 || count == 1 || self.rng.chance(30) {
            self.rng.below(count).to_string()
        } else {
            format!("(({}) & {})", self.pure(depth - 1), count - 1)
        }
    }

    /// An expression without side effects.
    fn pure(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.rng.chance(35) {
                self.literal()
            } else {
                self.place(false, 0).unwrap_or_else(|| "1".into())
            };
        }
        let depth = depth - 1;
        match self.rng.below(21) {
            20 => self.pointer_expression(),
            0..=3 => self.place(false, depth).unwrap_or_else(|| "2".into()),
            4 | 5 => self.literal(),
            6..=8 => format!("({} {} {})", self.pure(depth), self.rng.word("+ - * & | ^"), self.pure(depth)),
            9 => format!("({} {} ((({}) & 7) + 1))", self.pure(depth), self.rng.word("/ %"), self.pure(depth)),
            10 => format!("({} {} (({}) & 31))", self.pure(depth), self.rng.word("<< >>"), self.pure(depth)),
            11 => format!(
                "(({})({}) {} (({}) & 63))",
                self.rng.word("long u64"),
                self.pure(depth),
                self.rng.word("<< >>"),
                self.pure(depth)
            ),
            12 => format!("({}({}))", self.rng.word("- ~ ! +"), self.pure(depth)),
            13 | 14 => {
                let ty = self.rng.pick(&SCALARS);
                format!("(({ty})({}))", self.pure(depth))
            }
            15 => format!("({} {} {})", self.pure(depth), self.rng.word("< > <= >= == !="), self.pure(depth)),
            16 => format!("({} {} {})", self.pure(depth), self.rng.word("&& ||"), self.pure(depth)),
            17 => format!("({} ? {} : {})", self.pure(depth), self.pure(depth), self.pure(depth)),
            18 => match self.rng.below(3) {
                0 => format!("\"hello\\377\\0x\"[({}) & 7]", self.pure(depth)),
                1 => format!("sizeof({})", self.pure(depth)),
                _ => format!("({}, {})", self.pure(depth), self.pure(depth)),
            },
            _ => format!("(!({}) {} !({}))", self.pure(depth), self.rng.word("^ == != &"), self.pure(depth)),
        }
    }

    /// A comparison or difference of pointers into one array.
    fn pointer_expression(&mut self) -> String {
        let arrays: Vec<Variable> =
            self.variables.iter().filter(|known| matches!(known.ty, Ty::Array(..))).cloned().collect();
        if arrays.is_empty() {
            return "3".into();
        }
        let variable = self.rng.pick(&arrays).clone();
        let Ty::Array(_, count) = variable.ty else { return "4".into() };
        let (i, j) = (self.index(count, 1), self.index(count, 1));
        let name = variable.name;
        let distance = format!("(&{name}[{i}] - &{name}[{j}])");
        match self.rng.below(7) {
            0 => distance,
            4 => format!("({distance} {} {})", self.rng.word("< > <= >="), self.rng.between(-2, 2)),
            5 => format!("({distance} {} 2)", self.rng.word("/ % >> *")),
            6 => format!("({distance} {} {})", self.rng.word("< > + - /"), self.rng.word("3L 2u 5uL (short)-2")),
            1 => format!("(&{name}[{i}] {} {name} + {j})", self.rng.word("< > <= >= == !=")),
            2 => format!("(sizeof({name}) / sizeof(*{name}))"),
            _ => format!("(!&{name}[{i}])"),
        }
    }

    /// An expression with sequenced side effects.
    fn effect(&mut self, depth: usize) -> String {
        if depth == 0 {
            let place = self.place(true, 1);
            return match (self.rng.below(5), place) {
                (0, Some(place)) => format!("{place}{}", self.rng.word("++ --")),
                (1, Some(place)) => format!("{}{place}", self.rng.word("++ --")),
                (2, Some(place)) => format!("({place} = {})", self.pure(1)),
                (3, _) => self.call(&|ty| matches!(ty, Ty::Scalar(_))).unwrap_or_else(|| self.pure(1)),
                _ => self.pure(1),
            };
        }
        let depth = depth - 1;
        match self.rng.below(8) {
            0 => match self.place(true, 1) {
                Some(place) => {
                    format!("({place} {} {}, {})", self.rng.word("+= -= |= ^= *= &="), self.pure(1), self.effect(depth))
                }
                None => self.pure(1),
            },
            1 | 2 => format!("({} {} {})", self.effect(depth), self.rng.word("&& ||"), self.effect(depth)),
            3 => format!("({} ? {} : {})", self.effect(depth), self.effect(depth), self.effect(depth)),
            4 => format!("({}({}))", self.rng.word("! - ~"), self.effect(depth)),
            5 => {
                let ty = self.rng.pick(&SCALARS);
                format!("({ty})({})", self.effect(depth))
            }
            6 => format!("({} {} {})", self.effect(depth), self.rng.word("+ - * == <"), self.literal()),
            _ => self.effect(0),
        }
    }

    /// A call of a function with such a result, if the budget allows it.
    fn call(&mut self, wanted: &dyn Fn(&Ty) -> bool) -> Option<String> {
        let affordable =
            |function: &&Function| wanted(&function.result) && self.cost + self.times * function.cost < BUDGET;
        let possible: Vec<Function> = self.functions.iter().filter(affordable).cloned().collect();
        if possible.is_empty() {
            return None;
        }
        let function = self.rng.pick(&possible).clone();
        self.cost += self.times * function.cost;
        let mut arguments = Vec::new();
        for (index, ty) in function.params.iter().enumerate() {
            let argument =
                if index == 0 && function.recursive { self.rng.below(4).to_string() } else { self.argument(ty)? };
            arguments.push(argument);
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    fn argument(&mut self, ty: &Ty) -> Option<String> {
        match ty {
            Ty::Scalar(_) => Some(self.pure(2)),
            Ty::Pointer(element, _, count) => {
                if *count == 1 {
                    return self.object(element, true).map(|place| format!("&{place}"));
                }
                self.object(&Ty::Array(element.clone(), *count), true)
            }
            _ => self.object(ty, false),
        }
    }

    /// A place of exactly this type.
    fn object(&mut self, ty: &Ty, writable: bool) -> Option<String> {
        let mut found = Vec::new();
        for variable in &self.variables {
            if variable.writable || !writable {
                self.objects(&variable.name, &variable.ty, ty, &mut found);
            }
        }
        if found.is_empty() { None } else { Some(self.rng.pick(&found).clone()) }
    }

    fn objects(&self, place: &str, ty: &Ty, wanted: &Ty, found: &mut Vec<String>) {
        if ty == wanted {
            found.push(place.to_string());
        }
        match ty {
            Ty::Array(element, count) => {
                self.objects(&format!("{place}[{}]", count - 1), element, wanted, found);
                self.objects(&format!("{place}[0]"), element, wanted, found);
            }
            Ty::Struct(index) => {
                for (name, ty) in &self.structs[*index] {
                    self.objects(&format!("{place}.{name}"), ty, wanted, found);
                }
            }
            _ => {}
        }
    }

    fn function(&mut self) -> String {
        let name = self.name("f");
        let recursive = self.rng.chance(30);
        let known = self.variables.len();
        let mut params = Vec::new();
        let mut text = Vec::new();
        for index in 0..1 + self.rng.below(4) {
            let ty = if index == 0 && recursive {
                Ty::Scalar("int")
            } else {
                match self.rng.below(8) {
                    0 | 1 => Ty::Struct(self.rng.below(2)),
                    2 => Ty::Pointer(Box::new(Ty::Struct(self.rng.below(2))), 0, 1),
                    3 => Ty::Pointer(Box::new(self.scalar()), 0, 1 << self.rng.below(3)),
                    _ => self.scalar(),
                }
            };
            let param = self.name("a");
            text.push(self.declare(&ty, &param));
            let counter = index == 0 && recursive;
            let writable = !counter && !matches!(ty, Ty::Pointer(..));
            self.variables.push(Variable { name: param, ty: ty.clone(), writable });
            params.push(ty);
        }
        let result = if self.rng.chance(25) { Ty::Struct(self.rng.below(2)) } else { self.scalar() };
        let mut out =
            format!("{} {}({}) {{\n", self.rng.word("static "), self.declare(&result, &name), text.join(", "));
        (self.cost, self.times, self.result) = (1, 1, Some(result.clone()));
        if self.rng.chance(30) {
            let counter = self.name("s");
            let ty = self.scalar();
            let _ = writeln!(out, "  static {} = {};", self.declare(&ty, &counter), self.literal());
            let _ = writeln!(out, "  {counter} += 3;");
            self.variables.push(Variable { name: counter, ty, writable: true });
        }
        let object = self.object(&result, false);
        if let (Ty::Struct(_), None) = (&result, object) {
            let local = self.name("r");
            let _ = writeln!(out, "  {} = {};", self.declare(&result, &local), self.initialiser(&result, false));
            self.variables.push(Variable { name: local, ty: result.clone(), writable: true });
        }
        if recursive {
            let stop = self.result_of(&result);
            let _ = writeln!(out, "  if ({} <= 0) return {stop};", self.variables[known].name);
        }
        let fuel = 2 + self.rng.below(4);
        self.statements(&mut out, 1, fuel);
        let mut cost = self.cost;
        if recursive {
            let mut arguments = vec![format!("{} - 1", self.variables[known].name)];
            let mut possible = true;
            for ty in &params[1..] {
                match self.argument(ty) {
                    Some(argument) => arguments.push(argument),
                    None => possible = false,
                }
            }
            if possible {
                let local = self.name("r");
                let _ = writeln!(out, "  {} = {name}({});", self.declare(&result, &local), arguments.join(", "));
                self.variables.push(Variable { name: local, ty: result.clone(), writable: true });
            }
            cost *= 4;
        }
        let last = self.result_of(&result);
        let _ = writeln!(out, "  return {last};\n}}");
        self.variables.truncate(known);
        self.functions.push(Function { name, params, result, cost, recursive });
        out
    }

    fn result_of(&mut self, result: &Ty) -> String {
        match result {
            Ty::Scalar(_) if self.rng.chance(30) => self.effect(1),
            Ty::Scalar(_) => self.pure(2),
            _ => self.object(result, false).expect("a local of the type was made"),
        }
    }

    fn statements(&mut self, text: &mut String, depth: usize, count: usize) {
        for _ in 0..count {
            self.statement(text, depth);
        }
    }

    fn block(&mut self, text: &mut String, depth: usize) {
        text.push_str("{\n");
        let known = self.variables.len();
        let count = 1 + self.rng.below(3);
        self.statements(text, depth + 1, count);
        self.variables.truncate(known);
        let _ = writeln!(text, "{}}}", "  ".repeat(depth));
    }

    fn statement(&mut self, text: &mut String, depth: usize) {
        self.cost += self.times;
        text.push_str(&"  ".repeat(depth));
        let choice = if depth > 3 { self.rng.below(12) } else { self.rng.below(28) };
        match choice {
            0..=3 => self.assignment(text),
            4 => {
                let effect = self.effect(2);
                let _ = writeln!(text, "{effect};");
            }
            5 => self.print(text),
            6 => self.struct_assignment(text),
            7 | 8 => self.declaration(text),
            9 => self.pointer_declaration(text),
            10 => {
                let simple: Vec<String> = self
                    .variables
                    .iter()
                    .filter(|known| known.writable && matches!(known.ty, Ty::Scalar(_)))
                    .map(|known| known.name.clone())
                    .collect();
                if simple.is_empty() {
                    return self.assignment(text);
                }
                let target = self.rng.pick(&simple).clone();
                let effect = self.effect(2);
                let _ = writeln!(text, "{target} = {effect};");
            }
            11 if self.loops > 0 => {
                let _ = writeln!(text, "if ({}) {};", self.pure(2), self.rng.word("break continue"));
            }
            11 => self.assignment(text),
            12..=15 => {
                let condition = if self.rng.chance(40) { self.effect(2) } else { self.pure(3) };
                let _ = write!(text, "if ({condition}) ");
                self.block(text, depth);
                if self.rng.chance(50) {
                    let _ = write!(text, "{}else ", "  ".repeat(depth));
                    self.block(text, depth);
                }
            }
            16..=20 => self.loop_statement(text, depth),
            21..=23 => self.switch(text, depth),
            24 => self.jumps(text, depth),
            25 => self.walk_array(text),
            26 if self.result.is_some() => {
                let result = self.result.clone().expect("just checked");
                let value = self.result_of(&result);
                let _ = writeln!(text, "if ({}) return {value};", self.pure(2));
            }
            _ => self.block(text, depth),
        }
    }

    fn assignment(&mut self, text: &mut String) {
        let Some(place) = self.place(true, 2) else { return text.push_str(";\n") };
        let value = self.pure(3);
        let _ = match self.rng.below(6) {
            0 => writeln!(text, "{place} {} (({value}) & 31);", self.rng.word("<<= >>=")),
            1 => writeln!(text, "{place} {} ((({value}) & 7) + 1);", self.rng.word("/= %=")),
            2 => writeln!(text, "{place} {} {value};", self.rng.word("+= -= *= &= |= ^=")),
            3 => writeln!(text, "{place}{};", self.rng.word("++ --")),
            _ => writeln!(text, "{place} = {value};"),
        };
    }

    fn print(&mut self, text: &mut String) {
        let tag = self.name("v");
        let value = if self.rng.chance(30) { self.effect(1) } else { self.pure(3) };
        let (format, cast) = *self.rng.pick(&[
            ("%d", "int"),
            ("%u", "unsigned"),
            ("%ld", "long"),
            ("%llx", "unsigned long long"),
            ("%5d|", "int"),
            ("%-6hhd|", "signed char"),
            ("%08lx", "unsigned long"),
            ("%hu", "unsigned short"),
            ("%o", "unsigned"),
            ("%+d", "int"),
            ("%#x", "unsigned"),
            ("%.3d", "int"),
            ("%zu", "unsigned long"),
        ]);
        let _ = writeln!(text, "printf(\"{tag} {format}\\n\", ({cast})({value}));");
    }

    fn struct_assignment(&mut self, text: &mut String) {
        let ty = Ty::Struct(self.rng.below(2));
        let Some(target) = self.object(&ty, true) else { return self.assignment(text) };
        let wanted = ty.clone();
        let call = if self.rng.chance(50) { self.call(&move |result| *result == wanted) } else { None };
        let value = call.or_else(|| self.object(&ty, false)).expect("the target itself is one");
        let value = if self.rng.chance(20) {
            match self.object(&ty, false) {
                Some(other) => format!("{} ? {value} : {other}", self.pure(1)),
                None => value,
            }
        } else {
            value
        };
        let _ = writeln!(text, "{target} = {value};");
    }

    fn declaration(&mut self, text: &mut String) {
        let ty = self.ty(2);
        let name = self.name("x");
        // An initialiser list has pure elements only: their order is not defined.
        let initial = match &ty {
            Ty::Struct(_) => match self.object(&ty, false) {
                Some(object) if self.rng.chance(40) => object,
                _ => self.initialiser(&ty, false),
            },
            _ => self.initialiser(&ty, false),
        };
        let qualifier = if self.rng.chance(10) { "const " } else { "" };
        let _ = writeln!(text, "{qualifier}{} = {initial};", self.declare(&ty, &name));
        self.variables.push(Variable { name, ty, writable: qualifier.is_empty() });
    }

    fn pointer_declaration(&mut self, text: &mut String) {
        let arrays: Vec<Variable> = self
            .variables
            .iter()
            .filter(|known| known.writable && matches!(known.ty, Ty::Array(..)))
            .cloned()
            .collect();
        let name = self.name("p");
        if let (Some(variable), true) = (arrays.get(self.rng.below(arrays.len().max(1))), self.rng.chance(60)) {
            let Ty::Array(element, count) = &variable.ty else { return };
            let at = self.rng.below(*count);
            let ty = Ty::Pointer(element.clone(), at, *count);
            let same: Vec<Variable> = arrays.iter().filter(|other| other.ty == variable.ty).cloned().collect();
            let other = self.rng.pick(&same).clone();
            let _ = writeln!(
                text,
                "{} = {} ? &{}[{at}] : {} + {at};",
                self.declare(&ty, &name),
                self.pure(1),
                variable.name,
                other.name
            );
            self.variables.push(Variable { name, ty, writable: false });
            return;
        }
        let element = if self.rng.chance(50) { Ty::Struct(self.rng.below(2)) } else { self.scalar() };
        match self.object(&element, true) {
            Some(object) => {
                let ty = Ty::Pointer(Box::new(element), 0, 1);
                let _ = writeln!(text, "{} = &{object};", self.declare(&ty, &name));
                self.variables.push(Variable { name, ty, writable: false });
            }
            None => self.assignment(text),
        }
    }

    fn loop_statement(&mut self, text: &mut String, depth: usize) {
        let count = 1 + self.rng.below(4) as u64;
        if self.cost + self.times * count * 10 > BUDGET {
            return self.assignment(text);
        }
        let counter = self.name("i");
        let before = (self.times, self.variables.len());
        self.times *= count;
        self.loops += 1;
        self.variables.push(Variable { name: counter.clone(), ty: Ty::Scalar("int"), writable: false });
        let _ = match self.rng.below(4) {
            0 => write!(text, "for (int {counter} = 0; {counter} < {count}; {counter}++) "),
            1 => write!(text, "for (int {counter} = {count}; {counter}-- > 0 && ({}); ) ", self.effect(1)),
            2 => write!(
                text,
                "for (unsigned char {counter} = 250; (unsigned char)({counter} - 250) < {count}; ++{counter}) "
            ),
            _ => write!(text, "{{ int {counter} = {count}; "),
        };
        let as_block = text.ends_with("; ") && !text.ends_with("; ) ");
        if as_block {
            let pre_test = self.rng.chance(50);
            if pre_test {
                let _ = write!(text, "while (--{counter} >= 0) ");
                self.block(text, depth);
            } else {
                text.push_str("do ");
                self.block(text, depth);
                let _ = writeln!(text, "{}while (--{counter} > 0);", "  ".repeat(depth));
            }
            let _ = writeln!(text, "{}}}", "  ".repeat(depth));
        } else {
            self.block(text, depth);
        }
        self.loops -= 1;
        self.times = before.0;
        self.variables.truncate(before.1);
    }

    fn switch(&mut self, text: &mut String, depth: usize) {
        let value = if self.rng.chance(40) { self.effect(1) } else { self.pure(2) };
        let value = if self.rng.chance(70) { format!("({value}) & 7") } else { value };
        let cast = self.rng.word("(int) (unsigned) (char) (long) (u64) ").to_string();
        let _ = writeln!(text, "switch ({cast}({value})) {{");
        let pad = "  ".repeat(depth);
        let mut next = self.rng.between(0, 2);
        let default = self.rng.below(6);
        for index in 0..2 + self.rng.below(4) {
            if index == default {
                let _ = write!(text, "{pad}default: ");
                self.block(text, depth);
            }
            let _ = match self.rng.below(5) {
                0 => write!(text, "{pad}case {next} ... {}: ", next + 2),
                1 => write!(text, "{pad}case {next}:\n{pad}case {}: ", next + 1),
                _ => write!(text, "{pad}case {next}: "),
            };
            next += 3 + self.rng.between(0, 1);
            self.block(text, depth);
            if self.rng.chance(60) {
                let _ = writeln!(text, "{pad}  break;");
            }
        }
        let _ = writeln!(text, "{pad}}}");
    }

    /// A loop made of `goto`s, with a jump out of its middle.
    fn jumps(&mut self, text: &mut String, depth: usize) {
        if self.cost + self.times * 30 > BUDGET {
            return self.assignment(text);
        }
        let (counter, again, out) = (self.name("n"), self.name("again"), self.name("out"));
        let pad = "  ".repeat(depth);
        let before = (self.times, self.variables.len());
        self.times *= 3;
        let _ = write!(text, "{{ int {counter} = 0;\n{pad}{again}: ");
        self.block(text, depth);
        let _ = write!(text, "{pad}if ({}) goto {out};\n{pad}", self.pure(2));
        self.block(text, depth);
        let _ = writeln!(text, "{pad}if (++{counter} < 3) goto {again};\n{pad}{out}: ;\n{pad}}}");
        self.times = before.0;
        self.variables.truncate(before.1);
    }

    /// A pointer that walks over an array of scalars.
    fn walk_array(&mut self, text: &mut String) {
        let arrays = self.variables.iter().filter_map(|known| match &known.ty {
            Ty::Array(element, count) if known.writable && matches!(**element, Ty::Scalar(_)) => {
                Some((known.name.clone(), (**element).clone(), *count))
            }
            _ => None,
        });
        let arrays: Vec<_> = arrays.collect();
        if arrays.is_empty() {
            return self.assignment(text);
        }
        let (name, element, count) = self.rng.pick(&arrays).clone();
        let p = self.name("w");
        let declared = self.declare(&Ty::Pointer(Box::new(element), 0, 1), &p);
        let value = self.pure(1);
        let _ = match self.rng.below(4) {
            0 => writeln!(text, "for ({declared} = {name}; {p} < {name} + {count}; {p}++) *{p} += {value};"),
            1 => writeln!(text, "{{ {declared} = {name} + {count}; while ({p} != {name}) *--{p} ^= {p} - {name}; }}"),
            2 => writeln!(text, "{{ {declared} = {name}; do {{ (*{p}++)++; }} while ({p} - {name} < {count}); }}"),
            _ => writeln!(
                text,
                "{{ {declared} = &{name}[0]; {p} += {count}; {p} -= 1; *{p} = {value}; --*{p}; printf(\"{p} %d\\n\", (int)*{p}--); }}"
            ),
        };
    }
}

/// Returns true if a write through this variable is allowed, although the variable itself must not be written.
fn points(variable: &Variable) -> bool {
    matches!(variable.ty, Ty::Pointer(..))
}
