//! Features that the compiler and the linker decide: constants and literals that pointers are compared with, attributes,
//! assembly, and compile flags.

use crate::soundness::draft::Draft;
use crate::soundness::features::or;
use crate::soundness::program::File;
use crate::soundness::text::Tree;

/// The compile flags of a file that has the feature `Flags`, and whether they let objects be accessed as any type.
const FLAGS: [(&[&str], bool); 8] = [
    (&["-fpack-struct"], false),
    (&["-fshort-enums"], false),
    (&["-funsigned-char"], false),
    (&["-fno-strict-aliasing"], true),
    (&["-fpack-struct=2", "-fshort-enums"], false),
    (&["-fshort-wchar"], false),
    (&["-fshort-enums", "-funsigned-char", "-fno-strict-aliasing"], true),
    (&["-fno-short-enums", "-fsigned-char"], false),
];

/// A function of the file that returns one expression.
fn accessor(file: &mut File, header: &str, value: &str) {
    file.text.line(header);
    file.text.open("{");
    file.text.statement(&format!("return {value};"));
    file.text.close("}");
}

pub fn sentinel(file: &mut File, draft: &mut Draft, u: &str) {
    for _ in 0..2 {
        let linkage = file.rng.word("static extern").replace("extern", "");
        match file.rng.below(6) {
            0 if file.once(u, "nil") => {
                file.text.line(&format!("struct {u}_n {{ int v; const struct {u}_n *l; }};"));
                file.text.line(&format!("{linkage} const struct {u}_n {u}_nil = {{0, &{u}_nil}};"));
                accessor(file, &format!("const struct {u}_n *{u}_leaf(void)"), &format!("&{u}_nil"));
                file.define(&format!("STATE struct {u}_n {u}_nodes[2];"));
                let node = "n->v = num(); n->l = choose(2) ? U_leaf() : choose(2) ? U_nodes + choose(2) : 0; return n;";
                let place = format!(
                    "static const struct U_n *U_node(void) {{ struct U_n *n = U_nodes + choose(2); \
                     if (choose(4) == 0) return choose(2) ? U_leaf() : 0; {node} }}"
                );
                file.define(&place.replace("U_", &format!("{u}_")));
                draft.param(&format!("const struct {u}_n *"), "nd", &format!("{u}_node()"));
                draft.fact(&[&format!("nd == &{u}_nil"), &format!("nd != &{u}_nil")]);
                let last = format!("(nd->l == &{u}_nil)");
                draft.guard("nd != 0", &["nd->v", &last, &last, "(nd->l == nd)"], &[]);
            }
            1 if file.once(u, "none") => {
                file.text.line(&format!("{linkage} const int {u}_none = 2;"));
                accessor(file, &format!("const int *{u}_nothing(void)"), &format!("&{u}_none"));
                draft.param("const int *", "cq", &format!("choose(3) ? int_place(0, 0) : {u}_nothing()"));
                draft.fact(&[&format!("cq == &{u}_none"), &format!("cq != &{u}_none")]);
                draft.guard("cq != 0", &["*cq"], &[]);
            }
            2 if file.once(u, "tab") => {
                file.text.line(&format!("{linkage} const int {u}_tab[3] = {{1, 2, 3}};"));
                accessor(file, &format!("const int *{u}_mark(void)"), &format!("&{u}_tab[1]"));
                // Only compared: it may be the end.
                let chosen = format!("choose(3) ? int_edge() : {u}_mark() - 1 + choose(4)");
                draft.param("const int *", "ce", &chosen);
                draft.fact(&[&format!("ce == &{u}_tab[1]"), &format!("ce == {u}_tab"), &format!("ce == {u}_tab + 3")]);
            }
            3 if file.once(u, "off") => {
                file.text.line(&format!("static § int {u}_off;"));
                accessor(file, &format!("int *{u}_disabled(void)"), &format!("&{u}_off"));
                draft.param("int *", "q", &format!("choose(3) ? int_place(0, 0) : {u}_disabled()"));
                draft.fact(&[&format!("q == &{u}_off"), &format!("q != &{u}_off")]);
                draft.place(&[&format!("{u}_off")]);
                draft.guard("q != 0", &["*q"], &["*q"]);
            }
            4 if file.once(u, "name") => {
                file.text.line(&format!("static const char *const {u}_lit = \"abc\";"));
                let named = file.rng.word("U_lit \"abc\"").replace("U_", &format!("{u}_"));
                accessor(file, &format!("const char *{u}_name(void)"), &named);
                let chosen = format!("choose(3) ? letters + choose(sizeof letters - 1) : {u}_name()");
                draft.param("const char *", "cs", &chosen);
                draft.fact(&[&format!("cs == {u}_lit"), "cs == \"abc\"", &format!("cs == {u}_name()")]);
                draft.guard("cs != 0", &["*cs", "cs[0]"], &[]);
            }
            5 if file.once(u, "me") => {
                accessor(file, &format!("const char *{u}_me(void)"), "__func__");
                file.text.line(&format!("§ const char *{u}_seen;"));
                let chosen = format!("choose(3) ? {u}_seen : {u}_me()");
                draft.param("const char *", "cf", &chosen);
                draft.effect(&[&format!("{u}_seen = __func__;"), &format!("{u}_seen = 0;")]);
                draft.fact(&["cf == __func__", "cf == 0", &format!("cf == {u}_me()"), &format!("{u}_seen == cf")]);
            }
            _ => {}
        }
    }
}

pub fn attribute(file: &mut File, draft: &mut Draft, u: &str) {
    for _ in 0..3 {
        let which = file.rng.below(10);
        match which {
            0 if file.once(u, "al") => {
                file.text.line(&format!("static § int {u}_k = 1;"));
                file.text.line(&format!("extern int {u}_al __attribute__((alias(\"{u}_k\")));"));
                file.other_state(&format!("{u}_al = num();"));
                draft.place(&[&format!("{u}_k"), &format!("{u}_al")]);
                draft.fact(&[&format!("{u}_k != {u}_al"), &format!("&{u}_k == &{u}_al")]);
            }
            1 if file.once(u, "s") => {
                let place = format!("__attribute__((section(\"{u}_sec\"), used))");
                file.text.differing(&format!("static int {u}_s {place} = 1;"), &format!("static STATE int {u}_s = 1;"));
                let start = format!("__start_{u}_sec");
                file.text.differing(&format!("extern int {start}[];"), &format!("#define {start} (&{u}_s)"));
                file.other_state(&format!("{u}_s = num();"));
                draft.place(&[&format!("{u}_s")]);
                draft.effect(&[&format!("{start}[0] = 4;")]);
            }
            2 if file.once(u, "us") => {
                file.text.line(&format!("static § int {u}_us __attribute__((used));"));
                file.other_state(&format!("{u}_us = num();"));
                draft.read(&[&format!("{u}_us"), &format!("{u}_us")]);
            }
            3 if file.once(u, "ctor") => {
                file.text.line(&format!("static § int {u}_c = 1;"));
                file.text.line(&format!("static § int {u}_d;"));
                file.text.line(&format!("__attribute__((constructor)) static void {u}_ctor(void)"));
                file.text.open("{");
                file.text.statement(&format!("{u}_c = 4;"));
                file.text.open_deciding("if (", &Tree::Leaf(format!("{u}_d == 0")), ") {");
                file.text.statement(&format!("{u}_d = {u}_c;"));
                file.text.close("}");
                file.text.close("}");
                draft.read(&[&format!("{u}_c"), &format!("{u}_d")]);
                draft.fact(&[&format!("{u}_c == 4"), &format!("{u}_d == 4")]);
            }
            4 | 5 if file.once(u, "al2") => {
                file.text.line(&format!("typedef short __attribute__((may_alias)) {u}_short;"));
                aliased(draft, &format!("{u}_short"));
            }
            6 if file.once(u, "weak") => {
                let own = format!("{u}_weak");
                let header = format!("__attribute__((weak)) int {own}(int x)");
                defined_twice(file, &header, &own, &format!("choose(2) ? {own}_own(x) : other_files()"));
                draft.answer(&[&format!("{own}(a)"), &format!("{own}(2)")]);
            }
            7 if file.once(u, "wc") => {
                file.text.differing(
                    &format!("__attribute__((weak)) const int {u}_wc = 3;"),
                    &format!("extern const int {u}_wc;"),
                );
                file.constant(&format!("{u}_wc"), "int");
                draft.read(&[&format!("{u}_wc"), &format!("{u}_wc")]);
                draft.fact(&[&format!("{u}_wc != 3")]);
            }
            8 if file.once(u, "clean") => {
                file.text.line(&format!("static § int {u}_cleaned;"));
                file.text.line(&format!("static void {u}_clean(int *p)"));
                file.text.open("{");
                file.text.statement(&format!("{u}_cleaned = *p;"));
                file.text.close("}");
                draft.start.push(format!("int watched __attribute__((cleanup({u}_clean))) = a;"));
                draft.place(&["watched"]);
                draft.read(&[&format!("{u}_cleaned"), &format!("{u}_cleaned")]);
            }
            9 if file.once(u, "inl") => {
                let header = *file.rng.pick(&["inline", "extern inline __attribute__((gnu_inline))"]);
                let own = format!("{u}_inl");
                // That calls use the inline definition is an assumption, which the report names.
                defined_twice(file, &format!("{header} int {own}(int x)"), &own, &format!("{own}_own(x)"));
                draft.answer(&[&format!("{own}(a)"), &format!("{own}(1)")]);
            }
            _ => {}
        }
    }
}

/// A function of which other files may have a definition, too, and the result of a call.
fn defined_twice(file: &mut File, header: &str, name: &str, result: &str) {
    file.text.twin_line(&format!("static int {name}(int x);"));
    file.text.differing(header, &format!("static int {name}_own(int x)"));
    file.text.open("{");
    file.text.open_deciding("if (", &Tree::Leaf("x > 3".to_string()), ") {");
    file.text.statement("return 2;");
    file.text.close("}");
    file.text.statement("return x & 1;");
    file.text.close("}");
    file.define(&format!("static int {name}(int x) {{ return {result}; }}"));
}

/// A pointer that may point to a part of an integer.
fn aliased(draft: &mut Draft, of: &str) {
    draft.param(&format!("{of} *"), "h", &format!("({of} *)int_place(0, 0)"));
    draft.param("int *", "q", "int_place(0, 0)");
    draft.refuse = Some(or("h == 0", "q == 0"));
    draft.place(&["*h", "*q", "*h"]);
    draft.fact(&["(void *)h == (void *)q"]);
    draft.effect(&["*q = 0x10002;", "*h = 3;"]);
}

pub fn assembly(file: &mut File, draft: &mut Draft, u: &str) {
    let static_name = format!("{u}_av");
    assembly_variable(file, &static_name, " = 1");
    draft.place(&[&static_name, &static_name]);
    draft.start.push("int loc = 1;".to_string());
    draft.place(&["loc"]);
    if file.rng.chance(40) {
        let write = *file.rng.pick(&["movl $7, %0", "addl $2, %0", "incl %0"]);
        let place = *file.rng.pick(&["loc", static_name.as_str()]);
        draft.start.push(format!("{place} = 2;"));
        draft.start.push(format!("__asm__(\"{write}\" : \"+m\"({place}));"));
        draft.start.push(format!("int after = {place};"));
        draft.read(&["after", "after"]);
        draft.fact(&["after != 2", "after == 7", "after > 2"]);
    }
    for _ in 0..2 {
        match file.rng.below(8) {
            0 => draft.effect(&[&format!("__asm__(\"movl $5, %0\" : \"=m\"({static_name}));")]),
            1 => {
                let write = format!("__asm__ volatile(\"movl $6, (%0)\" : : \"r\"(&{static_name}) : \"memory\");");
                draft.effect(&[&write]);
            }
            2 => draft.effect(&["__asm__(\"incl %0\" : \"+r\"(r));"]),
            3 => draft.effect(&[&format!("__asm__(\"addl $2, %0\" : \"+m\"({static_name}));")]),
            4 => draft.effect(&["__asm__ volatile(\"\" : : : \"memory\");", "__asm__(\"\" : \"+r\"(a));"]),
            5 => draft.effect(&["__asm__(\"movl $7, %0\" : \"=m\"(loc));"]),
            6 if file.once(u, "sy") => {
                assembly_variable(file, &format!("{u}_sy"), "");
                draft.place(&[&format!("{u}_sy"), &format!("{u}_sy")]);
                draft.effect(&[&format!("__asm__ volatile(\"movl $3, {u}_sy(%%rip)\" : : : \"memory\");")]);
            }
            7 if file.once(u, "fa") => {
                let code = format!(".pushsection .text\\n{u}_fa: movl $4, {static_name}(%rip)\\nret\\n.popsection");
                file.text.line(&format!("__asm__(\"{code}\");"));
                file.text.line(&format!("void {u}_fa(void);"));
                draft.effect(&[&format!("{u}_fa();"), &format!("{u}_fa();")]);
            }
            _ => {}
        }
    }
}

/// A variable that assembly refers to by its symbol. Only an optimising compiler would drop it.
fn assembly_variable(file: &mut File, name: &str, value: &str) {
    let used = "static STATE __attribute__((used))";
    file.text.differing(&format!("static int {name}{value};"), &format!("{used} int {name}{value};"));
}

pub fn flags(file: &mut File, draft: &mut Draft, u: &str) {
    if file.flags.is_empty() {
        file.flags = FLAGS[file.rng.below(FLAGS.len())].0.to_vec();
    }
    let flags = &file.flags;
    let any_aliasing = FLAGS.iter().any(|(names, any)| *any && *names == flags.as_slice());
    file.text.line(&format!("enum {u}_e {{ {u}_A, {u}_B = 200 }};"));
    file.text.line(&format!("enum {u}_x {{ {u}_X = 70000 }};"));
    file.text.line(&format!("struct {u}_p {{ char c; int i; short s; enum {u}_e e; }};"));
    file.text.line(&format!("struct {u}_f {{ int b : 3; unsigned w : 2; signed s : 4; char t : 5; }};"));
    layout(file, u);
    for _ in 0..3 {
        match file.rng.below(if any_aliasing { 6 } else { 5 }) {
            0 => {
                let to = format!("(enum {u}_e)a");
                draft.fact(&[&format!("(int){to} != a"), &format!("{to} == {u}_B"), &format!("{to} + 1 == 0")]);
            }
            1 | 2 if file.once(u, "bits") => {
                draft.start.push(format!("struct {u}_f bits = {{0}};"));
                draft.start.push("bits.b = a;".to_string());
                draft.start.push("bits.t = (char)n;".to_string());
                draft.place(&["bits.b", "bits.w", "bits.s", "bits.t"]);
                draft.fact(&["bits.b < 0", "bits.t < 0", "bits.t == 31"]);
            }
            3 if file.once(u, "chars") => {
                draft.start.push("char ch = (char)a;".to_string());
                draft.place(&["ch"]);
                draft.fact(&["ch < 0", "ch == -1", "ch == 255", "(char)(ch + 1) == 0"]);
            }
            4 => draft.fact(&["(__WCHAR_TYPE__)a != a"]),
            5 => aliased(draft, "short"),
            _ => {}
        }
    }
}

/// A function that compares sizes and signs with what they are under some flags.
fn layout(file: &mut File, u: &str) {
    let questions = [
        (format!("sizeof(enum {u}_e)"), &["== 1", "> 2"][..]),
        (format!("sizeof(enum {u}_x)"), &["== 4"]),
        (format!("sizeof(struct {u}_p)"), &["== 8", "== 11", "> 12"]),
        (format!("__builtin_offsetof(struct {u}_p, i)"), &["== 1", "== 2"]),
        ("sizeof(L'a')".to_string(), &["== 2"]),
        ("(__typeof__(L'a'))-1".to_string(), &["< 0"]),
        ("(char)-1".to_string(), &["< 0"]),
    ];
    compare(file, &format!("{u}_layout"), &[], &questions);
}

/// A function that compares what the library returns and writes.
pub fn library_results(file: &mut File, u: &str) {
    for line in ["void *mempcpy(void *, const void *, size_t);", "int toupper(int);"] {
        file.text.line(line);
    }
    let questions: [(&str, &[&str]); 9] = [
        ("strlen(s)", &["== 3", "> 3"]),
        ("strcmp(s, \"abc\")", &["== 0", "< 0", "> 0"]),
        ("memcmp(s, \"abd\", 2)", &["== 0", "> 0"]),
        ("strchr(s, 'c') - s", &["== 2", "== 1"]),
        ("d[0]", &["== 'x'", "> 'b'"]),
        ("d[1]", &["== 'b'"]),
        ("atoi(\"-12x\")", &["== -12"]),
        ("abs(a & 15)", &["== 3", "> 15"]),
        ("toupper(s[1])", &["== 'A'", "== 'C'"]),
    ];
    let setup = ["char s[4] = \"abc\";", "char d[3] = \"xy\";", "s[1] = 'a' + (a & 3);", "mempcpy(d + 1, s + 1, 1);"];
    compare(file, &format!("{u}_results"), &setup, &questions.map(|(value, answers)| (value.to_string(), answers)));
}

/// A function that compares each value with each answer. Values are read from a variable, since a condition that is a
/// constant masks others.
fn compare(file: &mut File, name: &str, setup: &[&str], questions: &[(String, &[&str])]) {
    file.text.line(&format!("int {name}(int a)"));
    file.text.open("{");
    for statement in setup {
        file.text.statement(statement);
    }
    file.text.statement("int v = 0, r = 0;");
    for (value, answers) in questions {
        file.text.statement(&format!("v = {value};"));
        for answer in *answers {
            let both = [format!("v {answer}"), format!("a > {}", file.rng.between(0, 3))];
            let [left, right] = both.map(|leaf| Box::new(Tree::Leaf(leaf)));
            file.text.open_deciding("if (", &Tree::And(left, right), ") {");
            file.text.statement("r++;");
            file.text.close("}");
        }
    }
    file.text.statement("return r;");
    file.text.close("}");
    file.callable(&format!("{name}(num());"));
}
