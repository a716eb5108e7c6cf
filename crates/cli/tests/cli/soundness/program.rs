//! A random file of several functions, its twin, and the tables of its driver.

use crate::soundness::draft::{Body, Draft, Param};
use crate::soundness::features::{FEATURES, Feature};
use crate::soundness::text::{Text, Tree};
use crate::support::rng::Rng;
use std::collections::BTreeSet;

/// The structures that the whole file shares.
const TYPES: [&str; 3] = [
    "struct s { int x; int y; int arr[2]; int *ip; struct s *next; };",
    "struct o { int tag; struct s in; };",
    "union w { int i; unsigned u; unsigned char b[4]; };",
];

/// Objects that the other files of the program have.
const OBJECTS: &str = "
static STATE int pool[4];
static STATE struct s objects[2];
static STATE struct o wraps[2];
static STATE int *pointers[2];
static STATE char letters[10];
static struct o *outer_place(void) { return choose(6) ? wraps + choose(2) : NULL; }
static int small(void) { return (int)choose(6) - 1; }
static int *int_place(int before, int behind);
static int *int_edge(void);
static struct s *struct_place(void);
static int **pointer_place(void);
static char *char_place(void);
static char letter(void);
static void text_range(const char **from, const char **to);
";

/// A file in the making.
pub struct File {
    pub rng: Rng,
    pub text: Text,
    /// By function: the feature that it is about.
    pub functions: Vec<(String, Feature)>,
    /// Compile flags.
    pub flags: Vec<&'static str>,
    unit: usize,
    named: BTreeSet<String>,
    definitions: String,
    regions: Vec<String>,
    structs: Vec<String>,
    pointers: Vec<String>,
    calls: Vec<(usize, String)>,
    others: Vec<String>,
    once: Vec<String>,
    signatures: Vec<(String, Vec<Param>)>,
    /// The entry function of runs, or 0 if any function may be called.
    entry: &'static str,
}

/// The kind of runs of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Calls of its functions, in any order, from anywhere.
    Functions,
    /// One call of `start`, from the state that the file begins with.
    Program,
}

impl File {
    /// A file with functions about each of the features, for its functions or from its beginning.
    pub fn new(seed: u64, features: &[Feature], scope: Scope) -> File {
        let mut file = File {
            rng: Rng::new(seed),
            text: Text::default(),
            functions: Vec::new(),
            flags: Vec::new(),
            unit: 0,
            named: BTreeSet::new(),
            definitions: String::new(),
            regions: Vec::new(),
            structs: Vec::new(),
            pointers: Vec::new(),
            calls: Vec::new(),
            others: Vec::new(),
            once: Vec::new(),
            signatures: Vec::new(),
            entry: "0",
        };
        for header in ["errno.h", "stdlib.h", "string.h", "time.h"] {
            file.text.line(&format!("#include <{header}>"));
        }
        for line in TYPES {
            file.text.line(line);
        }
        file.common_places();
        for feature in features {
            file.function(*feature);
            file.unit += 1;
        }
        if scope == Scope::Program {
            file.beginning();
        }
        file
    }

    /// `start` calls every function of the file with its own constants and globals, or with what other files give.
    fn beginning(&mut self) {
        let mut lines = Vec::new();
        self.text.line("§ int start_i = 2;");
        self.text.line("static § int start_k = 1;");
        for (function, params) in std::mem::take(&mut self.signatures) {
            lines.push("{".to_string());
            for param in &params {
                let (given, of) = (format!("{function}_{}", param.argument), param.of());
                // Others must have more behind them.
                let own = param.argument == "q";
                let value = match self.rng.below(4) {
                    0 if own => "&start_i".to_string(),
                    1 if own => "&start_k".to_string(),
                    // No number is an address: a compiler may remove any access through one.
                    0..=2 if of == "int " => self.rng.between(0, 5).to_string(),
                    _ => {
                        self.text.line(&format!("{of}{given}(void);"));
                        self.define(&format!(
                            "{of}{given}(void) {{ external(); {} return {}; }}",
                            param.chosen, param.argument
                        ));
                        format!("{given}()")
                    }
                };
                lines.push(format!("{of}{} = {value};", param.argument));
            }
            let arguments: Vec<&str> = params.iter().map(|param| param.argument.as_str()).collect();
            lines.push(format!("{function}({});", arguments.join(", ")));
            lines.push("}".to_string());
        }
        self.int_region("&start_i", 1);
        self.text.line("int start(void)");
        self.text.open("{");
        for line in lines {
            match line.as_str() {
                "{" => self.text.open("{"),
                "}" => self.text.close("}"),
                _ => drop(self.text.statement(&line)),
            }
        }
        self.text.statement("return 0;");
        self.text.close("}");
        self.entry = "start";
    }

    fn common_places(&mut self) {
        self.regions.push("{-1, pool, 4, FOREIGN}".to_string());
        for index in 0..2 {
            self.structure("-1", &format!("&objects[{index}]"), "FOREIGN");
            self.structure("-1", &format!("&wraps[{index}].in"), "FOREIGN");
            self.regions.push(format!("{{-1, &wraps[{index}].tag, 1, FOREIGN}}"));
            self.pointers.push(format!("{{-1, &pointers[{index}]}}"));
        }
    }

    fn structure(&mut self, unit: &str, place: &str, whose: &str) {
        for (field, count) in [("x", 1), ("y", 1)] {
            self.regions.push(format!("{{{unit}, &({place})->{field}, {count}, {whose}}}"));
        }
        self.regions.push(format!("{{{unit}, ({place})->arr, 2, {whose}}}"));
        self.pointers.push(format!("{{{unit}, &({place})->ip}}"));
        self.structs.push(format!("{{{unit}, {place}}}"));
    }

    fn function(&mut self, feature: Feature) {
        let u = format!("u{}", self.unit);
        let mut draft = Draft::default();
        draft.param("int ", "a", "num()");
        draft.param("int ", "n", "small()");
        draft.read(&["a", "a", "n"]);
        draft.write(&["a"]);
        if self.rng.chance(50) {
            draft.param("int ", "b", "num()");
            draft.read(&["b", "b"]);
        }
        feature.add(self, &mut draft, &u);
        // Functions without a world stay without.
        if feature != Feature::Plain && self.rng.chance(25) {
            let second = *self.rng.pick(&FEATURES);
            let clash = [feature, second].iter().any(|one| matches!(one, Feature::Fields | Feature::Bytes));
            let names = [feature, second].iter().any(|one| matches!(one, Feature::Recursion | Feature::StaticLocal));
            if second != feature && !clash && !names && second != Feature::Walk && second != Feature::Callback {
                second.add(self, &mut draft, &format!("{u}b"));
            }
        }
        let name = format!("{u}_f");
        let params: Vec<&str> = draft.params.iter().map(|param| param.declaration.as_str()).collect();
        self.text.line(&format!("int {name}({})", params.join(", ")));
        self.text.open("{");
        let size = 4 + self.rng.below(8);
        Body::write(&mut self.rng, &mut self.text, &draft, size);
        self.text.close("}");
        let chosen: Vec<&str> = draft.params.iter().map(|param| param.chosen.as_str()).collect();
        let arguments: Vec<&str> = draft.params.iter().map(|param| param.argument.as_str()).collect();
        self.callable(&format!("{} {name}({});", chosen.join(" "), arguments.join(", ")));
        self.signatures.push((name.clone(), draft.params));
        self.functions.push((name, feature));
    }

    /// Returns true for the first use of a name.
    pub fn once(&mut self, prefix: &str, name: &str) -> bool {
        self.named.insert(format!("{prefix}_{name}"))
    }

    /// Adds another function of the file, which modifies state that the function under test reads.
    pub fn setter(&mut self, name: &str, params: &str, arguments: &[&str], body: &[String], condition: &str) {
        self.text.line(&format!("void {name}({params})"));
        self.text.open("{");
        let conditional = self.rng.chance(50);
        if conditional {
            self.text.open_deciding("if (", &Tree::Leaf(condition.to_string()), ") {");
        }
        for line in body {
            self.text.statement(line);
        }
        if conditional {
            self.text.close("}");
        }
        self.text.close("}");
        self.callable(&format!("{name}({});", arguments.join(", ")));
    }

    /// C statements of the driver that call a function of this unit.
    pub fn callable(&mut self, statements: &str) {
        self.calls.push((self.unit, statements.to_string()));
    }

    /// Something that another file defines.
    pub fn define(&mut self, text: &str) {
        self.definitions.push_str(text);
        self.definitions.push('\n');
    }

    /// A constant of another file: any value, the same for a whole run.
    pub fn constant(&mut self, name: &str, of: &str) {
        let symbols = format!(".globl {name}\\n.globl {name}_w\\n{name}:\\n{name}_w:\\n.zero 8\\n");
        self.define(&format!(
            "__asm__(\".pushsection twin_state,\\\"aw\\\"\\n.balign 8\\n{symbols}.popsection\");\nextern {of} {name}_w;"
        ));
        self.once.push(format!("{name}_w = num();"));
    }

    pub fn other_state(&mut self, statement: &str) {
        self.others.push(statement.to_string());
    }

    /// A global of the file that others see.
    pub fn int_region(&mut self, base: &str, count: usize) {
        self.regions.push(format!("{{{}, {base}, {count}, OWN}}", self.unit));
    }

    /// A variable of another file.
    pub fn extern_region(&mut self, base: &str, count: usize) {
        self.regions.push(format!("{{{}, {base}, {count}, FOREIGN}}", self.unit));
    }

    pub fn struct_places(&mut self, place: &str) {
        self.structure(&self.unit.to_string(), place, "OWN");
    }

    pub fn pointer_place(&mut self, place: &str) {
        self.pointers.push(format!("{{{}, {place}}}", self.unit));
    }

    /// The whole C program that looks for everything that runs of the twin can cover.
    pub fn driver(&self) -> String {
        let mut calls = String::new();
        let mut callable = Vec::new();
        for (number, (unit, statements)) in self.calls.iter().enumerate() {
            calls.push_str(&format!("static int call_{number}(void) {{ {statements} return 0; }}\n"));
            callable.push(format!("{{{unit}, call_{number}}}"));
        }
        let table =
            |name: &str, of: &str, rows: &[String]| format!("static const {of} {name}[] = {{{}}};\n", rows.join(", "));
        let others: String =
            self.others.iter().enumerate().map(|(i, text)| format!("if (choose(2)) {text} /* {i} */ ")).collect();
        [
            include_str!("runtime.c"),
            include_str!("marks.c"),
            &self.text.twin,
            OBJECTS,
            &self.definitions,
            &calls,
            &table("int_regions", "struct region", &self.regions),
            &table("struct_places", "struct { int unit; struct s *place; }", &self.structs),
            &table("pointer_places", "struct { int unit; int **place; }", &self.pointers),
            &table("callable", "struct { int unit; int (*call)(void); }", &callable),
            &format!("static void other_state(void) {{ {others} }}\n"),
            &format!("static void once_a_program(void) {{ {} }}\n", self.once.join(" ")),
            &format!("static int (*const entry)(void) = {};\n", self.entry),
            &format!("enum {{ units = {} }};\n", self.unit),
            include_str!("driver.c"),
        ]
        .join("\n")
    }
}
