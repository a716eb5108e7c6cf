//! Random functions with state that other functions set, with assembly and intrinsics, and random edits of them. Both
//! versions are compiled and called in the same random sequences: a function whose results differ is not equivalent.
//!
//! `TOUCHSTONE_LONG=1` tries a thousand pairs, `TOUCHSTONE_SEED=N` one of them, `N..M` some.

use super::{Project, behaviour};
use crate::cache::edits::edited;
use crate::support::rng::Rng;
use crate::support::seeds;
use std::path::Path;
use std::process::Command;

/// Functions of one file.
const BATCH: u64 = 2;

/// Variables of a unit `U`, and expressions that read them. None has external linkage: such a variable is an input, and
/// verdicts hold for equal values of it.
const STATES: [(&str, &[&str]); 8] = [
    ("static int U_s = 1;", &["U_s"]),
    ("static int U_s, U_t = 2;", &["U_s", "U_t"]),
    ("static int U_s[4] = {1, 2, 3, 4};", &["U_s[(unsigned)x & 3]", "U_s[2]"]),
    ("static struct { int a; unsigned char b; } U_s;", &["U_s.a", "U_s.b"]),
    ("static int U_v, *U_s = &U_v;", &["*U_s", "U_v"]),
    ("static int U_s; extern int U_al __attribute__((alias(\"U_s\")));", &["U_s", "U_al"]),
    ("static int U_s; __attribute__((constructor)) static void U_init(void) { U_s = 2; }", &["U_s"]),
    (
        "static int U_one(int x) { return x; } static int U_two(int x) { return x + 1; }\nstatic int (*U_h)(int) = U_one; static int U_s;",
        &["U_h(x)", "U_s"],
    ),
];

/// Statements that set `TO` from `x`.
const SETTERS: [&str; 12] = [
    "TO = x > 5 ? 5 : x;",
    "if (x > 3) TO = x;",
    "TO += x & 3;",
    "static int n; n = n + 1; if (n > 2) TO = n;",
    "__asm__(\"addl $3, %0\" : \"+r\"(x)); TO = x;",
    "__asm__(\"movl $5, %0\" : \"=m\"(TO));",
    "int *p = &TO; if (p) *p = x & 7;",
    "switch (x) { case 1: TO = 4; break; case 2: TO = 2; break; default: TO = 0; }",
    "for (int i = 0; i < 3; i++) TO = TO + i; TO = TO & 15;",
    "TO = U_g(x);",
    "if (x < 0) return; TO = x + 1;",
    "TO = x; if (TO > 6) { TO = 6; }",
];

/// Statements that return a value from `x` and `FROM`.
const READERS: [&str; 12] = [
    "return FROM > 5;",
    "if (FROM > 2 && x > 1) return 1; return 0;",
    "return FROM + x;",
    "if (x > 3) { __asm__ volatile(\"nop\"); } return x + 1;",
    "__asm__(\"addl $1, %0\" : \"+r\"(x)); return x > 3;",
    "return (int)__builtin_ia32_crc32si((unsigned)x, 1) & 255;",
    "static int calls; calls++; return calls > 3 ? FROM : 0;",
    "return U_g(x) > 3 && FROM == 4;",
    "return U_asm(x) + FROM;",
    "int r = 0; while (r < FROM && r < 4) r++; return r;",
    "return (signed char)(FROM * 60) < 0;",
    "__asm__ goto(\"testl %0, %0; jne %l1\" : : \"r\"(x) : \"cc\" : away); return FROM; away: return 2;",
];

/// A random unit: variables, a helper, a setter, and a function `U` under test.
fn unit(name: &str, rng: &mut Rng) -> String {
    let (state, places) = *rng.pick(&STATES);
    let is_variable = |place: &&str| !place.contains("_h(");
    let writable: Vec<&str> = places.iter().copied().filter(is_variable).collect();
    let (to, from) = (*rng.pick(&writable), *rng.pick(places));
    let setter = rng.pick(&SETTERS).replace("TO", to);
    let reader = rng.pick(&READERS).replace("FROM", from);
    let helper = *rng.pick(&["return x & 7;", "return x > 2 ? 3 : x;", "__asm__(\"incl %0\" : \"+r\"(x)); return x;"]);
    let hook = if state.contains("U_h") { "if (x == 3) U_h = U_two; if (x == 4) U_h = U_one; " } else { "" };
    let assembly = match reader.contains("U_asm") {
        true => "__asm__(\".pushsection .text\\nU_asm: movl $1, %eax\\nret\\n.popsection\");\nint U_asm(int);\n",
        false => "",
    };
    let text = format!(
        "\n{assembly}{state}\nstatic int U_g(int x) {{ {helper} }}\nvoid U_set(int x) {{ {hook}{setter} }}\n\
         __attribute__((target(\"sse4.2\"))) int U(int x) {{ {reader} }}\n"
    );
    text.replace("U_", &format!("{name}_")).replace("int U(", &format!("int {name}("))
}

/// Edits of code that is not lowered.
const OPAQUE: [(&str, &str); 7] = [
    ("incl %0", "decl %0"),
    ("addl $1", "addl $2"),
    ("addl $3", "addl $2"),
    ("movl $5", "movl $6"),
    ("movl $1", "movl $3"),
    ("(unsigned)x, 1)", "(unsigned)x, 2)"),
    ("jne %l1", "je %l1"),
];

/// Returns another version of a unit.
fn changed(text: &str, rng: &mut Rng) -> String {
    let opaque: Vec<_> = OPAQUE.iter().filter(|(from, _)| text.contains(from)).collect();
    if !opaque.is_empty() && rng.chance(50) {
        let (from, to) = rng.pick(&opaque);
        return text.replace(from, to);
    }
    edited(text, rng).unwrap_or_else(|| text.to_string())
}

/// The driver: each function is called in random sequences, each from the initial state, and prints its results.
const DRIVER: &str = "
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long chance;
static int choose(int count) { chance = chance * 6364136223846793005ul + 1442695040888963407ul; return (int)((chance >> 33) % (unsigned long)count); }
static int value(void) { return choose(16) ? choose(12) - 2 : choose(2000) - 1000; }
static void sequences(const char *name, int (*f)(int), void (*set)(int)) {
    printf(\"%s\", name);
    for (int sequence = 0; sequence < 150; sequence++) {
        fflush(stdout);
        if (fork() == 0) {
            chance = (unsigned long)sequence;
            for (int i = choose(12); i > 0; i--) { int x = value(); if (choose(3)) set(x); else printf(\" %d\", f(x)); }
            for (int x = -2; x < 9; x++) printf(\" %d\", f(x));
            fflush(stdout);
            _exit(0);
        }
        wait(0);
    }
    printf(\"\\n\");
}
";

/// Returns the lines that the functions of a version print, or `None` if it is no program.
fn printed(folder: &Path, text: &str, names: &[String]) -> Option<Vec<String>> {
    let calls: String = names
        .iter()
        .map(|name| format!("sequences(\"{name}\", (int (*)(int)){name}, (void (*)(int)){name}_set); "))
        .collect();
    std::fs::write(folder.join("driver.c"), format!("{text}{DRIVER}int main(void) {{ {calls}return 0; }}\n"))
        .expect("written");
    let built = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-o", "driver", "driver.c"])
        .current_dir(folder)
        .output()
        .expect("gcc runs");
    let ran = built.status.success().then(|| Command::new(folder.join("driver")).output().expect("the driver runs"))?;
    Some(String::from_utf8_lossy(&ran.stdout).lines().map(str::to_string).collect())
}

/// The verdicts about pairs.
#[derive(Default, Debug)]
struct Figures {
    differs: usize,
    equivalent: usize,
    unaffected: usize,
    unknown: usize,
    wrong: Vec<String>,
}

fn judge(batch: u64, figures: &mut Figures) {
    let mut rng = Rng::new(batch ^ 0x57a7e);
    let names: Vec<String> = (0..BATCH).map(|number| format!("f{number}")).collect();
    let old: Vec<String> = names.iter().map(|name| unit(name, &mut rng)).collect();
    // Mostly one unit changes: others are equal in both versions.
    let new: Vec<String> = old
        .iter()
        .map(|text| match rng.chance(60) {
            true => changed(text, &mut rng),
            false => text.clone(),
        })
        .collect();
    let (old, new) = (old.concat(), new.concat());
    let project = Project::new("f.c", &old, &new);
    let texts = [&old, &new].map(|text| printed(project.path(), text, &names));
    let [Some(before), Some(now)] = texts else { return };
    std::fs::remove_file(project.path().join("driver.c")).expect("it was written");
    let words = [
        "generate",
        "f.c",
        "--old",
        "v1",
        "-c",
        "stmt",
        "--no-replay",
        "--cache",
        "off",
        "--timeout",
        "2",
        "--jobs",
        "1",
        "--format",
        "json",
    ];
    // clang refuses more than gcc does in functions that are not used.
    let output = project.run(&words);
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("does not compile") {
        return;
    }
    let document =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("batch {batch}: {error}\n{message}"));
    for (index, name) in names.iter().enumerate() {
        let behaviour = behaviour(&document, name);
        match behaviour.as_str() {
            "differs" => figures.differs += 1,
            "equivalent" => figures.equivalent += 1,
            "unaffected" => figures.unaffected += 1,
            _ => figures.unknown += 1,
        }
        if matches!(behaviour.as_str(), "equivalent" | "unaffected") && before.get(index) != now.get(index) {
            figures.wrong.push(format!("batch {batch}: {name} is not {behaviour}\nold:\n{old}\nnew:\n{new}"));
        }
    }
}

#[test]
fn compiled_versions_that_are_equivalent_return_the_same_in_all_sequences_of_calls() {
    let mut figures = Figures::default();
    let batches = seeds(0..4, 0..500);
    for batch in batches.clone() {
        judge(batch, &mut figures);
    }
    let Figures { differs, equivalent, unaffected, unknown, wrong } = figures;
    println!(
        "{differs} differ, {equivalent} equivalent, {unaffected} unaffected, {unknown} unknown, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(batches.end - batches.start < 4 || equivalent + unaffected > 0, "no verdict to judge");
}
