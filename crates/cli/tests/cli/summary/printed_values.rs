//! The printed cases of functions, evaluated as C: for every input of a small domain exactly one guard holds, and its
//! result is what the compiled function returns.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Functions of two parameters, with the types of the parameters.
const FUNCTIONS: [(&str, &str, &str); 30] = [
    ("unsigned char", "unsigned char", "int f(T a, U b) { return (unsigned char)(a + b) < a; }"),
    ("unsigned char", "unsigned char", "unsigned char f(T a, U b) { return a + b; }"),
    ("signed char", "int", "int f(T a, U b) { a = -a; return a < b; }"),
    ("signed char", "int", "signed char f(T a, U b) { a += 3; return a; }"),
    ("signed char", "signed char", "int f(T a, U b) { a += 3; if (a > b) return a; return b; }"),
    ("unsigned char", "int", "int f(T a, U b) { if (a > 200) return b; return a; }"),
    (
        "unsigned short",
        "short",
        "int f(T a, U b) { if ((short)a < b) return (short)(a * b); return (unsigned short)b; }",
    ),
    ("int", "unsigned", "int f(T a, U b) { return a < b; }"),
    ("int", "unsigned", "unsigned f(T a, U b) { return a / 3 + b / 3; }"),
    ("int", "unsigned", "long f(T a, U b) { return (long)a + b; }"),
    ("int", "unsigned", "long f(T a, U b) { return a + b; }"),
    ("int", "int", "long f(T a, U b) { return (long)a * b; }"),
    ("int", "int", "long f(T a, U b) { return (unsigned)a * (unsigned)b; }"),
    ("unsigned", "unsigned", "unsigned long f(T a, U b) { if (a - b > 5) return (unsigned long)a << 3; return -1; }"),
    ("unsigned", "int", "int f(T a, U b) { return (int)(a >> 3) + (b >> 3); }"),
    ("long", "unsigned long", "int f(T a, U b) { if (a < 0) return (int)b; return (unsigned long)a < b; }"),
    ("long", "int", "unsigned char f(T a, U b) { return a >> 8 ^ b; }"),
    ("unsigned long", "unsigned", "unsigned long f(T a, U b) { return a % (b | 1u); }"),
    ("int", "int", "int f(T a, U b) { return a > b ? a : b; }"),
    ("signed char", "unsigned char", "int f(T a, U b) { return a == b; }"),
    ("signed char", "unsigned char", "int f(T a, U b) { return a * b; }"),
    ("char", "char", "unsigned f(T a, U b) { if (a == -56) return b; return ~a; }"),
    ("_Bool", "unsigned char", "int f(T a, U b) { return a ? b : -1; }"),
    (
        "unsigned",
        "unsigned",
        "int f(T a, U b) { struct { unsigned x : 3; int y : 4; } s; s.x = a; s.y = b; return s.x + s.y; }",
    ),
    ("signed char", "short", "short f(T a, U b) { if (a) return b / a; return -1; }"),
    ("unsigned char", "unsigned char", "int f(T a, U b) { if (a < b) return (signed char)(a - b); return -(a >> 1); }"),
    (
        "int",
        "int",
        "int f(T a, U b) { if ((a & 0xff) == 0xfe) return 1; if ((unsigned)b >= 4294967290u) return 2; return 3; }",
    ),
    ("unsigned short", "unsigned short", "unsigned short f(T a, U b) { return (a << 8) | (b >> 8); }"),
    (
        "int",
        "unsigned char",
        "long f(T a, U b) { if (a == -2147483647 - 1) return 4294967295; return a >= b ? -a : b; }",
    ),
    ("int", "long", "int f(T a, U b) { return (short)(a + b) == (short)a; }"),
];

/// Values of a type, in C.
const VALUES: &str = "0, 1, 2, 3, 5, 7, 100, 124, 125, 126, 127, 128, 129, 200, 201, 250, 253, 254, 255, 256, 257, 500, 32767, \
                      32768, 65534, 65535, 65536, 2147483645, 2147483647, -1, -2, -3, -56, -100, -127, -128, -129, -32768, \
                      -2147483647 - 1, 4294967294, 4294967295, 4294967300, -4294967297";

/// A printed case: the tokens of its condition and of its result, and the printed line.
type ParsedCase = (Vec<Token>, Vec<Token>, String);

#[test]
fn printed_cases_have_the_values_of_the_compiled_function() {
    let folder = tempfile::tempdir().expect("a directory");
    let (mut source, mut calls) = (String::new(), String::new());
    for (index, (first, second, text)) in FUNCTIONS.iter().enumerate() {
        let name = format!("f{index}");
        let text = text.replace(" f(T ", &format!(" {name}({first} ")).replace("U b", &format!("{second} b"));
        source += &format!("{text}\n");
        calls += &format!(
            "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {{ {first} a = v[i]; {second} b = v[j];\n\
             printf(\"{index} %lld %lld %lld\\n\", (long long)a, (long long)b, (long long){name}(a, b)); }}\n"
        );
    }
    let main = format!(
        "#include <stdio.h>\n#include \"a.c\"\nstatic const long v[] = {{{VALUES}}};\nenum {{ N = sizeof v / sizeof *v }};\n\
         int main(void) {{\n{calls} return 0; }}\n"
    );
    std::fs::write(folder.path().join("a.c"), &source).expect("written");
    std::fs::write(folder.path().join("main.c"), main).expect("written");
    let run = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(folder.path()).output().expect("it starts");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run("cc", &["-w", "-fwrapv", "main.c", "-o", "main"]);
    let returned = run(&folder.path().join("main").to_string_lossy(), &[]);
    let printed = run(env!("CARGO_BIN_EXE_touchstone"), &["summary", "a.c", "--format", "json", "--cache", "off"]);
    let document: Value = serde_json::from_str(&printed).expect("JSON");
    let functions: BTreeMap<&str, &Value> = document["functions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|f| (f["name"].as_str().expect("a name"), f))
        .collect();
    let cases: Vec<Vec<ParsedCase>> = (0..FUNCTIONS.len())
        .map(|index| {
            let function = functions[format!("f{index}").as_str()];
            assert_eq!(function["incomplete"], Value::Array(Vec::new()), "{function}");
            let words = |value: &Value| -> Vec<String> {
                value.as_array().expect("a list").iter().map(|word| word.as_str().expect("text").to_string()).collect()
            };
            let given = words(&function["given"]);
            let all = function["cases"].as_array().expect("a list").iter();
            all.map(|case| {
                let guards: Vec<String> =
                    given.iter().cloned().chain(words(&case["when"])).map(|g| format!("({g})")).collect();
                let guard = if guards.is_empty() { "true".to_string() } else { guards.join(" && ") };
                (tokens(&guard), tokens(case["returns"].as_str().unwrap_or("0")), case.to_string())
            })
            .collect()
        })
        .collect();
    let mut checked = 0;
    for line in returned.lines() {
        let numbers: Vec<i128> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [index, a, b, result] = numbers[..] else { panic!("{line}") };
        let (first, second, text) = FUNCTIONS[index as usize];
        let inputs = [("a", typed(a, first)), ("b", typed(b, second))];
        let holds = |guard: &[Token]| Parser { rest: guard, inputs: &inputs }.ternary().value != 0;
        let taken: Vec<_> = cases[index as usize].iter().filter(|(guard, ..)| holds(guard)).collect();
        let [(_, value, case)] = taken[..] else { panic!("{text} with {a}, {b}: {} cases hold", taken.len()) };
        let value = Parser { rest: value, inputs: &inputs }.ternary().value;
        // The program prints an unsigned long as a long long.
        assert_eq!(value as i64, result as i64, "{text} with {a}, {b}: {case}");
        checked += 1;
    }
    assert!(checked > 40_000, "{checked}");
}

/// A value of C: an integer, and the number of bits and the signedness of its type.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: i128,
    wide: bool,
    unsigned: bool,
}

impl Number {
    fn int(value: i128) -> Number {
        Number { value, wide: false, unsigned: false }
    }

    /// Wraps to its type.
    fn wrapped(self) -> Number {
        let value = match (self.wide, self.unsigned) {
            (false, false) => i128::from(self.value as i32),
            (false, true) => i128::from(self.value as u32),
            (true, false) => i128::from(self.value as i64),
            (true, true) => i128::from(self.value as u64),
        };
        Number { value, ..self }
    }
}

/// Converts an input as the harness printed it to its promoted type.
fn typed(value: i128, ty: &str) -> Number {
    let (wide, unsigned) = match ty {
        "int" => (false, false),
        "unsigned" => (false, true),
        "long" => (true, false),
        "unsigned long" => (true, true),
        _ => return Number::int(value),
    };
    Number { value, wide, unsigned }.wrapped()
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Number(i128, bool),
    Word(String),
    Sign(String),
}

fn tokens(text: &str) -> Vec<Token> {
    const SIGNS: [&str; 16] =
        ["<=u", ">=u", ">>u", "<<", ">>", "<=", ">=", "<u", ">u", "/u", "%u", "==", "!=", "&&", "||", "->"];
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if c.is_ascii_digit() {
            let (digits, unsigned) = match rest[..word].strip_suffix('u') {
                Some(digits) => (digits, true),
                None => (&rest[..word], false),
            };
            let value = match digits.strip_prefix("0x") {
                Some(digits) => i128::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            found.push(Token::Number(value.expect("a number"), unsigned));
            word
        } else if word > 0 {
            found.push(Token::Word(rest[..word].to_string()));
            word
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(1, |sign| sign.len());
            found.push(Token::Sign(rest[..sign].to_string()));
            sign
        };
        rest = rest[length..].trim_start();
    }
    found
}

/// Evaluates expressions while it parses them.
struct Parser<'t> {
    rest: &'t [Token],
    inputs: &'t [(&'static str, Number)],
}

/// Binary operators by precedence, the lowest first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">=", "<u", "<=u", ">u", ">=u"],
    &["<<", ">>", ">>u"],
    &["+", "-"],
];

impl Parser<'_> {
    fn sign(&mut self, signs: &[&str]) -> Option<String> {
        match self.rest.first() {
            Some(Token::Sign(sign)) if signs.contains(&sign.as_str()) => {
                self.rest = &self.rest[1..];
                Some(sign.clone())
            }
            _ => None,
        }
    }

    fn ternary(&mut self) -> Number {
        let condition = self.binary(0);
        if self.sign(&["?"]).is_none() {
            return condition;
        }
        let yes = self.ternary();
        assert!(self.sign(&[":"]).is_some(), "{:?}", self.rest);
        let no = self.ternary();
        let (yes, no) = converted(yes, no);
        if condition.value != 0 { yes } else { no }
    }

    fn binary(&mut self, level: usize) -> Number {
        let Some(signs) = LEVELS.get(level) else { return self.product() };
        let mut left = self.binary(level + 1);
        while let Some(sign) = self.sign(signs) {
            left = apply(&sign, left, self.binary(level + 1));
        }
        left
    }

    fn product(&mut self) -> Number {
        let mut left = self.unary();
        while let Some(sign) = self.sign(&["*", "/", "%", "/u", "%u"]) {
            left = apply(&sign, left, self.unary());
        }
        left
    }

    fn unary(&mut self) -> Number {
        // A number that an int can hold is one.
        if let [Token::Sign(minus), Token::Number(value, false), ..] = self.rest
            && minus == "-"
        {
            let value = -*value;
            self.rest = &self.rest[2..];
            return Number { value, wide: i32::try_from(value).is_err(), unsigned: false };
        }
        if let Some(sign) = self.sign(&["-", "!", "~"]) {
            let value = self.unary();
            return match sign.as_str() {
                "-" => Number { value: -value.value, ..value }.wrapped(),
                "~" => Number { value: !value.value, ..value }.wrapped(),
                _ => Number::int(i128::from(value.value == 0)),
            };
        }
        if self.sign(&["("]).is_none() {
            return self.primary();
        }
        let mut ty = Vec::new();
        while let Some(Token::Word(word)) = self.rest.first()
            && ["unsigned", "signed", "char", "short", "int", "long"].contains(&word.as_str())
        {
            ty.push(word.as_str());
            self.rest = &self.rest[1..];
        }
        let inner = if ty.is_empty() { self.ternary() } else { Number::int(0) };
        assert!(self.sign(&[")"]).is_some(), "{:?}", self.rest);
        if ty.is_empty() {
            return inner;
        }
        let value = self.unary().value;
        match ty.join(" ").as_str() {
            "unsigned char" => Number::int(i128::from(value as u8)),
            "signed char" => Number::int(i128::from(value as i8)),
            "unsigned short" => Number::int(i128::from(value as u16)),
            "short" => Number::int(i128::from(value as i16)),
            other => typed(value, other),
        }
    }

    fn primary(&mut self) -> Number {
        let (token, rest) = self.rest.split_first().expect("an operand");
        self.rest = rest;
        match token {
            Token::Number(value, unsigned) => {
                let fits = if *unsigned { u32::try_from(*value).is_ok() } else { i32::try_from(*value).is_ok() };
                Number { value: *value, wide: !fits, unsigned: *unsigned }
            }
            Token::Word(word) if word == "true" => Number::int(1),
            Token::Word(word) if word == "false" => Number::int(0),
            Token::Word(word) => {
                self.inputs.iter().find(|(name, _)| name == word).unwrap_or_else(|| panic!("{word}")).1
            }
            Token::Sign(sign) => panic!("{sign} before {rest:?}"),
        }
    }
}

/// The usual arithmetic conversions.
fn converted(left: Number, right: Number) -> (Number, Number) {
    let wide = left.wide || right.wide;
    let unsigned = match left.wide == right.wide {
        true => left.unsigned || right.unsigned,
        false => {
            if left.wide {
                left.unsigned
            } else {
                right.unsigned
            }
        }
    };
    (Number { wide, unsigned, ..left }.wrapped(), Number { wide, unsigned, ..right }.wrapped())
}

fn apply(sign: &str, left: Number, right: Number) -> Number {
    if let "<<" | ">>" | ">>u" = sign {
        let left = if sign == ">>u" { Number { unsigned: true, ..left }.wrapped() } else { left };
        let value = if sign == "<<" { left.value << right.value } else { left.value >> right.value };
        return Number { value, ..left }.wrapped();
    }
    let truth = |truth: bool| Number::int(i128::from(truth));
    if let "&&" | "||" = sign {
        let (a, b) = (left.value != 0, right.value != 0);
        return truth(if sign == "&&" { a && b } else { a || b });
    }
    let (mut a, mut b) = converted(left, right);
    let operator = match sign.strip_suffix('u') {
        Some(operator) => {
            (a, b) = (Number { unsigned: true, ..a }.wrapped(), Number { unsigned: true, ..b }.wrapped());
            operator
        }
        None => sign,
    };
    let number = |value: i128| Number { value, ..a }.wrapped();
    match operator {
        "+" => number(a.value + b.value),
        "-" => number(a.value - b.value),
        "*" => number(a.value.wrapping_mul(b.value)),
        // Operands of `&&` that C would not evaluate.
        "/" | "%" if b.value == 0 => number(0),
        "/" => number(a.value / b.value),
        "%" => number(a.value % b.value),
        "&" => number(a.value & b.value),
        "|" => number(a.value | b.value),
        "^" => number(a.value ^ b.value),
        "==" => truth(a.value == b.value),
        "!=" => truth(a.value != b.value),
        "<" => truth(a.value < b.value),
        "<=" => truth(a.value <= b.value),
        ">" => truth(a.value > b.value),
        ">=" => truth(a.value >= b.value),
        other => panic!("{other}"),
    }
}
