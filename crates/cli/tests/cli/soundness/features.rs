//! Features of the environment of a function. Each feature adds declarations to the file, expressions to the function,
//! and to the driver the actions of other code.

use crate::soundness::draft::Draft;
use crate::soundness::program::File;
use crate::soundness::text::Tree;
use crate::soundness::toolchain_features;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// Nothing: arithmetic over parameters.
    Plain,
    /// Static locals of the function itself.
    StaticLocal,
    /// Statics of the file, which other functions of the file change.
    FileStatic,
    /// Static locals of functions that it calls.
    Callee,
    /// Pointers into fields of the pointees of other pointers.
    Fields,
    /// Pointers onto parts by other types: bytes, unsigned, void, unions.
    Bytes,
    /// Globals that other files see, and pointers into them.
    Globals,
    /// Pointers into arrays, some elements from each other.
    Elements,
    /// A pair of pointers that delimit a string, and the element before a pointer.
    Walk,
    /// Memory that may not be had.
    Allocation,
    /// Variables and functions of other files.
    External,
    /// Registers at fixed addresses, and volatile globals.
    Register,
    /// Time, chance, environment, error numbers.
    Library,
    /// Pointers to functions, kept in statics or given.
    Callback,
    /// A function that calls itself and keeps count.
    Recursion,
    /// Unions with a tag, of which two pointers may be to the same.
    Tagged,
    /// Pointers to what others begin with, and to types that are never defined; what is behind them shows in casts.
    Hidden,
    /// Pointers that are compared with constants, literals and `__func__`.
    Sentinel,
    /// Attributes through which other code defines, writes or aliases what a file has.
    Attribute,
    /// Inline and file-scope assembly that writes.
    Assembly,
    /// Compile flags that change types.
    Flags,
}

pub const FEATURES: [Feature; 21] = {
    use Feature::*;
    [
        Plain,
        StaticLocal,
        FileStatic,
        Callee,
        Fields,
        Bytes,
        Globals,
        Elements,
        Walk,
        Allocation,
        External,
        Register,
        Library,
        Callback,
        Recursion,
        Tagged,
        Hidden,
        Sentinel,
        Attribute,
        Assembly,
        Flags,
    ]
};

impl Feature {
    /// Adds it to a function; `u` is a prefix of names that nothing else in the file has.
    pub fn add(self, file: &mut File, draft: &mut Draft, u: &str) {
        match self {
            Feature::Plain => {}
            Feature::StaticLocal => static_local(file, draft),
            Feature::FileStatic => file_static(file, draft, u),
            Feature::Callee => callee(file, draft, u),
            Feature::Fields => fields(file, draft),
            Feature::Bytes => bytes(file, draft),
            Feature::Globals => globals(file, draft, u),
            Feature::Elements => elements(file, draft),
            Feature::Walk => walk(file, draft),
            Feature::Allocation => allocation(file, draft),
            Feature::External => external(file, draft, u),
            Feature::Register => register(file, draft, u),
            Feature::Library => library(file, draft, u),
            Feature::Callback => callback(file, draft, u),
            Feature::Recursion => recursion(file, draft, u),
            Feature::Tagged => tagged(file, draft, u),
            Feature::Hidden => hidden(file, draft, u),
            Feature::Sentinel => toolchain_features::sentinel(file, draft, u),
            Feature::Attribute => toolchain_features::attribute(file, draft, u),
            Feature::Assembly => toolchain_features::assembly(file, draft, u),
            Feature::Flags => toolchain_features::flags(file, draft, u),
        }
    }
}

pub fn or(a: &str, b: &str) -> Tree {
    Tree::Or(Box::new(Tree::Leaf(a.to_string())), Box::new(Tree::Leaf(b.to_string())))
}

fn static_local(file: &mut File, draft: &mut Draft) {
    let value = file.rng.between(0, 2);
    match file.rng.below(9) {
        7 => {
            // Code that reads it in the structure may write it through a pointer in another call.
            draft.locals.push("static § int shown;".to_string());
            draft.param("struct s *", "p", "struct_place()");
            draft.param("int *", "q", "int_place(0, 0)");
            draft.place(&["shown", "shown"]);
            draft.guard("p != 0", &["p->x"], &["p->x"]);
            draft.guard("q != 0", &["*q"], &["*q"]);
            draft.refuse = Some(or("p == 0", "q == 0"));
            draft.effect(&["p->ip = &shown;"]);
            draft.fact(&["q == &shown", "p->ip == &shown"]);
        }
        8 => {
            // A small stack of earlier calls.
            draft.locals.push("static § int held[3];".to_string());
            draft.locals.push("static § int *top = held;".to_string());
            draft.fact(&["top == held", "top == held + 1", "top == held + 3", "top - held == 2"]);
            draft.effect(&["top = held + (unsigned)a % 4;", "top = held;"]);
            draft.place(&["held[0]", "held[2]"]);
        }
        0 => {
            draft.locals.push(format!("static § int k = {value};"));
            draft.place(&["k", "k", "k"]);
            draft.start.push(file.rng.word("k++; k+=a; k=k+2;").to_string());
        }
        1 => {
            draft.locals.push("static § int t[3];".to_string());
            draft.place(&["t[0]", "t[1]", "t[2]", "t[(unsigned)a % 3]"]);
        }
        2 => {
            draft.locals.push(format!("static § struct {{ int m; unsigned char n; }} z = {{{value}, 1}};"));
            draft.place(&["z.m", "z.n", "z.m"]);
        }
        3 => {
            draft.locals.push("static § int *kept;".to_string());
            draft.param("int *", "q", "int_place(0, 0)");
            draft.fact(&["kept == q", "kept != 0"]);
            draft.effect(&["kept = q;"]);
            draft.guard("kept != 0", &["*kept"], &["*kept"]);
            draft.guard("q != 0", &["*q"], &["*q"]);
        }
        4 => {
            draft.locals.push("enum mode { IDLE, ARMED, FIRED };".to_string());
            draft.locals.push("static § enum mode m;".to_string());
            draft.place(&["m"]);
            draft.effect(&["m = FIRED;", "m = ARMED;"]);
            draft.fact(&["m == FIRED", "m == ARMED"]);
        }
        5 => {
            draft.locals.push("static § int first = 1;".to_string());
            draft.read(&["first", "first"]);
            draft.effect(&["first = 0;"]);
        }
        _ => {
            draft.locals.push("static § int hidden;".to_string());
            draft.start.push("int *h = &hidden;".to_string());
            draft.place(&["*h", "hidden"]);
        }
    }
}

fn file_static(file: &mut File, draft: &mut Draft, u: &str) {
    let value = file.rng.between(0, 3);
    let set = format!("{u}_set");
    match file.rng.below(6) {
        0 | 1 => {
            file.text.line(&format!("static § int {u}_k = {value};"));
            let change = *file.rng.pick(&["= v", "+= 1", "^= v", "= v + 1"]);
            file.setter(&set, "int v", &["num()"], &[format!("{u}_k {change};")], "v > 1");
            draft.read(&[&format!("{u}_k"), &format!("{u}_k")]);
            draft.effect(&[&format!("{set}(a);")]);
            if file.rng.chance(40) {
                draft.write(&[&format!("{u}_k")]);
            }
        }
        2 => {
            file.text.line(&format!("static § int {u}_t[4] = {{1, 2, 3, 4}};"));
            let put = format!("{u}_t[(unsigned)i & 3] = v;");
            file.setter(&set, "int i, int v", &["num()", "num()"], &[put], "i != v");
            draft.read(&[&format!("{u}_t[0]"), &format!("{u}_t[1]"), &format!("{u}_t[(unsigned)a & 3]")]);
        }
        3 => {
            file.text.line(&format!("static § struct {{ int on; int level; }} {u}_c = {{0, {value}}};"));
            file.setter(&set, "int v", &["num()"], &[format!("{u}_c.on = 1;"), format!("{u}_c.level = v;")], "v == 3");
            draft.place(&[&format!("{u}_c.on"), &format!("{u}_c.level")]);
        }
        4 => {
            file.text.line(&format!("static § int {u}_k = {value};"));
            file.text.line(&format!("static § int *{u}_where = &{u}_k;"));
            file.setter(&set, "int v", &["num()"], &[format!("*{u}_where = v;")], "v < 4");
            draft.read(&[&format!("{u}_k"), &format!("*{u}_where")]);
        }
        _ => {
            // Its address is known to other files.
            file.text.line(&format!("static § int {u}_k = {value};"));
            file.text.line(&format!("int *{u}_place(void)"));
            file.text.open("{");
            file.text.statement(&format!("return &{u}_k;"));
            file.text.close("}");
            file.callable(&format!("save({u}_place());"));
            draft.param("int *", "q", "int_place(0, 0)");
            draft.place(&[&format!("{u}_k")]);
            draft.guard("q != 0", &["*q"], &["*q"]);
        }
    }
}

fn callee(file: &mut File, draft: &mut Draft, u: &str) {
    let next = format!("{u}_next");
    file.text.line(&format!("static int {next}(void)"));
    file.text.open("{");
    file.text.line("static § int n;");
    let step = file.rng.between(1, 2);
    file.text.statement(&format!("n += {step};"));
    if file.rng.chance(50) {
        file.text.open_deciding("if (", &Tree::Leaf("n > 6".to_string()), ") {");
        file.text.statement("n = 0;");
        file.text.close("}");
    }
    file.text.statement("return n;");
    file.text.close("}");
    draft.answer(&[&format!("{next}()")]);
    if file.rng.chance(50) {
        draft.start.push(format!("int counted = {next}();"));
        draft.read(&["counted", "counted", "counted"]);
    }
    if file.rng.chance(50) {
        // A buffer that every call gives back.
        let buffer = format!("{u}_buffer");
        file.text.line(&format!("static int *{buffer}(void)"));
        file.text.open("{");
        file.text.line("static § int b[2];");
        file.text.statement("return b;");
        file.text.close("}");
        draft.start.push(format!("int *held = {buffer}();"));
        draft.place(&["held[0]", "held[1]"]);
    }
}

fn fields(file: &mut File, draft: &mut Draft) {
    let structure = |draft: &mut Draft| draft.param("struct s *", "p", "struct_place()");
    let number = |draft: &mut Draft| draft.param("int *", "q", "int_place(0, 0)");
    if file.rng.chance(50) {
        structure(draft);
        number(draft);
    } else {
        number(draft);
        structure(draft);
    }
    draft.place(&["p->x", "p->y", "p->arr[1]", "*q", "*q"]);
    draft.fact(&[
        "q == &p->x",
        "q == p->arr + 1",
        "p->ip == &p->y",
        "p->ip == q",
        "p->next == p",
        "(void *)q == (void *)p",
    ]);
    draft.guard("p->ip != 0", &["*p->ip"], &["*p->ip"]);
    draft.guard("p->next != 0", &["p->next->x", "p->next->y"], &["p->next->x"]);
    if file.rng.chance(80) {
        draft.refuse = Some(or("p == 0", "q == 0"));
    }
    match file.rng.below(4) {
        0 => {
            draft.param("struct s *", "p2", "struct_place()");
            draft.fact(&["p2 == p", "p2 == p + 1"]);
            draft.guard("p2 != 0", &["p2->x", "p2->arr[0]"], &["p2->x"]);
        }
        1 => {
            draft.param("int **", "pp", "pointer_place()");
            draft.fact(&["pp == &p->ip"]);
            draft.guard("pp != 0 ", &[], &[]);
            draft.guard("*pp != 0", &["**pp"], &["**pp"]);
            draft.fact(&["*pp == q"]);
            draft.effect(&["*pp = q;", "*pp = 0;", "p->ip = 0;", "p->ip = q;"]);
            draft.fact(&["p->ip != 0", "p->ip == 0"]);
        }
        2 => {
            draft.param("struct o *", "o", "outer_place()");
            draft.guard("o != 0", &["o->in.x", "o->tag"], &["o->in.x", "o->tag"]);
            draft.fact(&["p == &o->in"]);
        }
        _ => {
            draft.param("int *", "edge", "int_edge()");
            draft.fact(&["edge == q + 1", "edge == p->arr + 2", "edge == &p->y"]);
        }
    }
}

fn bytes(file: &mut File, draft: &mut Draft) {
    draft.param("int *", "q", "int_place(0, 0)");
    draft.place(&["*q", "*q"]);
    let refuse = match file.rng.below(8) {
        7 => {
            // Taken for one thing here and for another there.
            draft.param("void *", "v", "struct_place()");
            draft.guard("r > 1", &["((struct s *)v)->y", "((struct s *)v)->arr[1]"], &["((struct s *)v)->x"]);
            draft.guard("a > 2", &["*(int *)v", "((int *)v)[1]"], &["((int *)v)[1]"]);
            draft.guard("n == 1", &["((unsigned char *)v)[4]"], &["((unsigned char *)v)[4]"]);
            draft.fact(&["v == (void *)q", "(int *)v + 1 == q", "((struct s *)v)->next == v"]);
            "v == 0"
        }
        5 => {
            // Copied by bytes, whatever its type is called.
            draft.param("short *", "h", "(short *)int_place(0, 0)");
            draft.effect(&["memcpy(h, &r, 2);", "memset(h, 0, 2);", "memset(h, 1, 2);"]);
            draft.fact(&["*q == 0x101", "*q == 0"]);
            "h == 0"
        }
        6 => {
            draft.param("int *", "t", "int_place(0, 1)");
            draft.effect(&[
                "memcpy(t, q, sizeof *q);",
                "memmove(t + 1, t, sizeof *t);",
                "memset(t, 0, 2 * sizeof *t);",
            ]);
            draft.place(&["t[0]", "t[1]"]);
            "t == 0"
        }
        0 => {
            draft.param("char *", "c", "char_place()");
            draft.place(&["*c"]);
            draft.fact(&["*q == 0x201", "*q == 0x102"]);
            "c == 0"
        }
        1 => {
            draft.param("unsigned *", "w", "(unsigned *)int_place(0, 0)");
            draft.place(&["*w"]);
            "w == 0"
        }
        2 => {
            draft.param("void *", "v", "int_place(0, 0)");
            draft.place(&["*(int *)v"]);
            draft.effect(&["memset(v, 0, sizeof(int));", "memcpy(v, &r, sizeof(int));", "memcpy(v, q, 1);"]);
            "v == 0"
        }
        3 => {
            draft.param("union w *", "w", "(union w *)int_place(0, 0)");
            draft.place(&["w->i", "w->b[1]"]);
            draft.fact(&["w->i == 0x300", "&w->i == q"]);
            "w == 0"
        }
        _ => {
            draft.param("unsigned char *", "c", "(unsigned char *)char_place()");
            draft.param("const struct s *", "p", "struct_place()");
            draft.place(&["*c"]);
            draft.guard("p != 0", &["p->x", "p->arr[0]"], &[]);
            "c == 0"
        }
    };
    draft.refuse = Some(or("q == 0", refuse));
}

fn globals(file: &mut File, draft: &mut Draft, u: &str) {
    draft.param("int *", "q", "int_place(0, 0)");
    draft.guard("q != 0", &["*q"], &["*q"]);
    for _ in 0..2 {
        match file.rng.below(6) {
            0 if file.once(u, "g") => {
                let value = *file.rng.pick(&["", " = 0", " = 3", " = 1"]);
                file.text.line(&format!("§ int {u}_g{value};"));
                file.int_region(&format!("&{u}_g"), 1);
                draft.place(&[&format!("{u}_g")]);
                draft.fact(&[&format!("q == &{u}_g")]);
            }
            1 if file.once(u, "gb") => {
                let value = *file.rng.pick(&["", " = {1, 2, 3}"]);
                file.text.line(&format!("§ int {u}_gb[3]{value};"));
                file.int_region(&format!("{u}_gb"), 3);
                draft.place(&[&format!("{u}_gb[1]"), &format!("{u}_gb[2]")]);
                draft.fact(&[&format!("q == {u}_gb + 1")]);
                draft.param("int *", "edge", "int_edge()");
                draft.fact(&[&format!("edge == {u}_gb + 3")]);
            }
            2 if file.once(u, "gs") => {
                file.text.line(&format!("§ struct s {u}_gs;"));
                file.struct_places(&format!("&{u}_gs"));
                draft.place(&[&format!("{u}_gs.x"), &format!("{u}_gs.y")]);
                draft.param("struct s *", "p", "struct_place()");
                draft.fact(&[&format!("q == &{u}_gs.y"), &format!("p == &{u}_gs")]);
                draft.guard("p != 0", &["p->x"], &["p->x"]);
            }
            3 if file.once(u, "gp") => {
                file.text.line(&format!("§ int *{u}_gp;"));
                file.pointer_place(&format!("&{u}_gp"));
                draft.fact(&[&format!("{u}_gp == q")]);
                draft.guard(&format!("{u}_gp != 0"), &[&format!("*{u}_gp")], &[&format!("*{u}_gp")]);
            }
            4 if file.once(u, "kc") => {
                file.text.line(&format!("static const int {u}_kc = 4;"));
                file.text.line(&format!("const int {u}_ko = 2;"));
                draft.read(&[&format!("{u}_kc"), &format!("{u}_ko")]);
            }
            5 if file.once(u, "gt") => {
                file.text.line(&format!("§ struct s {u}_gt[2];"));
                file.struct_places(&format!("&{u}_gt[0]"));
                file.struct_places(&format!("&{u}_gt[1]"));
                draft.param("struct s *", "p", "struct_place()");
                draft.place(&[&format!("{u}_gt[1].x"), &format!("{u}_gt[0].y")]);
                draft.guard("p != 0", &["p->x", "p->y"], &["p->x", "p->y"]);
                draft.fact(&[&format!("p == {u}_gt + 1")]);
            }
            _ => {}
        }
    }
}

fn elements(file: &mut File, draft: &mut Draft) {
    let (before, chosen) = if file.rng.chance(30) { ("t[-1]", "int_place(1, 1)") } else { ("t[0]", "int_place(0, 1)") };
    draft.param("int *", "t", chosen);
    draft.param("int *", "q", "int_place(0, 0)");
    draft.refuse = Some(or("t == 0", "q == 0"));
    draft.place(&["t[1]", before, "*q"]);
    draft.fact(&["q == t + 1", "q == t", "t == q + 1"]);
    draft.effect(&["*q = 7;"]);
    if file.rng.chance(50) {
        draft.param("int *", "edge", "int_edge()");
        draft.fact(&["edge == t + 2", "edge == t + 1"]);
    }
    if file.rng.chance(50) {
        draft.place(&["t[(unsigned)a & 1]"]);
    }
    // The same pointers, declared as arrays.
    if file.rng.chance(40) {
        draft.declare("t", "int t[2]");
    }
    if file.rng.chance(30) {
        draft.declare("q", "int q[1]");
    }
}

fn walk(file: &mut File, draft: &mut Draft) {
    if file.rng.chance(30) {
        draft.param("const char *", "s", "letters + 1 + choose(sizeof letters - 2)");
        draft.read(&["s[-1]", "s[0]"]);
        draft.fact(&["s[-1] == 'a'", "s[0] == ','", "s[-1] == s[0]"]);
        return;
    }
    draft.params.push(crate::soundness::draft::Param {
        declaration: "const char *buf".to_string(),
        chosen: "const char *buf, *end; text_range(&buf, &end);".to_string(),
        argument: "buf".to_string(),
    });
    draft.params.push(crate::soundness::draft::Param {
        declaration: "const char *end".to_string(),
        chosen: String::new(),
        argument: "end".to_string(),
    });
    draft.fact(&["buf == end", "buf == end", "buf != end", "end - buf == 2", "buf - end < 0", "(end - buf) / 2 >= 1"]);
    draft.scope.walk = Some(file.rng.word("!= <").to_string());
}

fn allocation(file: &mut File, draft: &mut Draft) {
    match file.rng.below(6) {
        5 => {
            // A block that is kept by what comes after its header.
            draft.locals.push("static § int *inside;".to_string());
            draft.start.push("int was = inside != 0;".to_string());
            draft.start.push("free(inside - was);".to_string());
            draft.start.push("inside = malloc(3 * sizeof *inside);".to_string());
            draft.start.push("inside += inside != 0;".to_string());
            draft.fact(&["inside == 0"]);
            draft.read(&["was", "was"]);
            draft.guard("inside != 0", &[], &["inside[0]", "inside[1]"]);
        }
        4 => {
            // A block that an earlier call allocated is given back or grown.
            draft.locals.push("static § int *block;".to_string());
            draft.start.push("int was = block != 0;".to_string());
            draft.start.push(file.rng.word("free(block); block=realloc(block,4*sizeof*block);").to_string());
            draft.start.push("block = calloc(2, sizeof *block);".to_string());
            draft.fact(&["block == 0"]);
            draft.read(&["was", "was"]);
            draft.guard("block != 0", &["block[1]"], &["block[0]", "block[1]"]);
        }
        0 => {
            draft.start.push("int *m = malloc(sizeof(int));".to_string());
            draft.fact(&["m == 0", "m != 0"]);
            draft.guard("m != 0", &[], &["*m"]);
            draft.effect(&["m = malloc(8);", "free(malloc(1));"]);
        }
        1 => {
            draft.start.push("int *m = calloc(2, sizeof(int));".to_string());
            draft.fact(&["m == 0"]);
            draft.guard("m != 0", &["m[0]", "m[1]"], &["m[0]", "m[1]"]);
        }
        2 => {
            draft.start.push("int *m = calloc(1, sizeof(int));".to_string());
            draft.start.push("int *big = realloc(m, 2 * sizeof(int));".to_string());
            draft.fact(&["big == 0", "big != 0"]);
            draft.guard("big != 0", &["big[0]"], &["big[0]"]);
        }
        _ => {
            draft.start.push("char *d = strdup(\"ab\");".to_string());
            draft.fact(&["d == 0"]);
            draft.guard("d != 0", &["d[0]", "d[1]"], &["d[0]"]);
        }
    }
    draft.start.push("errno = 0;".to_string());
    draft.start.push("int *x = malloc(4);".to_string());
    draft.fact(&["x == 0", "errno == ENOMEM"]);
    draft.read(&["errno"]);
}

fn external(file: &mut File, draft: &mut Draft, u: &str) {
    for _ in 0..2 {
        match file.rng.below(15) {
            12 if file.once(u, "receive") => {
                file.text.line(&format!("void {u}_receive(char *to, unsigned size);"));
                let body = "{ external(); for (unsigned i = 0; i < size; i++) if (choose(2)) to[i] = (char)num(); }";
                file.define(&format!("void {u}_receive(char *to, unsigned size) {body}"));
                draft.start.push("char got[3] = {1, 2, 3};".to_string());
                draft.effect(&[&format!("{u}_receive(got, 2);"), &format!("{u}_receive(got + 1, 2);")]);
                draft.read(&["got[0]", "got[1]", "got[2]"]);
            }
            13 if file.once(u, "out") => {
                file.text.line(&format!("int {u}_out(int **to);"));
                let body = "{ external(); if (choose(2)) *to = int_place(0, 0); return num(); }";
                file.define(&format!("int {u}_out(int **to) {body}"));
                draft.start.push("int *led = 0;".to_string());
                draft.start.push(format!("int said = {u}_out(&led);"));
                draft.fact(&["led == 0", "said == 0"]);
                draft.guard("led != 0", &["*led"], &["*led"]);
                draft.read(&["said"]);
            }
            14 if file.once(u, "many") => {
                file.text.line(&format!("struct {u}_both {{ short low; int *inside; }};"));
                file.text.line(&format!("void {u}_many(struct {u}_both *to, int count);"));
                let body = "{ external(); for (int i = 0; i < count; i++) { if (choose(2)) to[i].low = (short)num(); \
                    if (choose(2)) to[i].inside = int_place(0, 0); } }";
                file.define(&format!("void {u}_many(struct {u}_both *to, int count) {body}"));
                draft.start.push(format!("struct {u}_both both[2] = {{{{1, 0}}, {{2, &a}}}};"));
                draft.effect(&[&format!("{u}_many(both, 1);"), &format!("{u}_many(both, 2);")]);
                draft.fact(&["both[1].inside == 0", "both[0].inside == 0"]);
                draft.read(&["both[0].low", "both[1].low"]);
            }
            8 if file.once(u, "log") => {
                file.text.line(&format!("int {u}_log(const char *, ...);"));
                let written = "va_list all; va_start(all, how); int *p = va_arg(all, int *); va_end(all);";
                file.define(&format!(
                    "int {u}_log(const char *how, ...) {{ {written} external(); if (choose(2)) *p = num(); return num(); }}"
                ));
                draft.effect(&[&format!("{u}_log(\"%d\", &r);"), &format!("{u}_log(\"%d\", &a);")]);
                draft.answer(&[&format!("{u}_log(\"%d\", &r)")]);
                draft.read(&["r"]);
            }
            9 if file.once(u, "take") => {
                // An address inside of a structure that is given by value.
                file.text.line(&format!("struct {u}_box {{ int *inside; }};"));
                file.text.line(&format!("void {u}_take(struct {u}_box);"));
                let body = "{ external(); if (choose(2)) *box.inside = num(); }";
                file.define(&format!("void {u}_take(struct {u}_box box) {body}"));
                draft.start.push("int boxed = 1;".to_string());
                draft.start.push(format!("struct {u}_box box = {{&boxed}};"));
                draft.effect(&[&format!("{u}_take(box);"), "boxed = 2;"]);
                draft.place(&["boxed", "boxed"]);
            }
            10 if file.once(u, "held") => {
                // A local that other files can find through a global.
                file.text.line(&format!("§ int *{u}_held;"));
                file.text.line(&format!("void {u}_poke(void);"));
                let poked = format!("if ({u}_held && choose(2)) *{u}_held = num();");
                file.define(&format!("void {u}_poke(void) {{ {poked} }}"));
                draft.start.push("int found = 1;".to_string());
                draft.effect(&[
                    &format!("{u}_held = &found;"),
                    &format!("{u}_held = 0;"),
                    &format!("{u}_poke();"),
                    &format!("{u}_poke();"),
                ]);
                draft.place(&["found", "found"]);
                draft.ends.push(format!("{u}_held = 0;"));
            }
            11 if file.once(u, "late") => {
                // A constant of this file beside one that looks like it.
                file.text.line(&format!("static const int {u}_fixed = 3;"));
                file.text.line(&format!("extern const int {u}_late[2];"));
                file.constant(&format!("{u}_late"), "int");
                draft.read(&[&format!("{u}_fixed"), &format!("{u}_late[0]"), &format!("{u}_late[0]")]);
            }
            0 if file.once(u, "ev") => {
                file.text.line(&format!("extern int {u}_ev;"));
                file.define(&format!("STATE int {u}_ev;"));
                file.extern_region(&format!("&{u}_ev"), 1);
                draft.place(&[&format!("{u}_ev")]);
            }
            1 if file.once(u, "ec") => {
                file.text.line(&format!("extern const unsigned {u}_ec;"));
                file.constant(&format!("{u}_ec"), "unsigned");
                draft.read(&[&format!("{u}_ec"), &format!("{u}_ec")]);
            }
            2 if file.once(u, "et") => {
                file.text.line(&format!("extern int {u}_et[];"));
                file.define(&format!("STATE int {u}_et[3];"));
                file.extern_region(&format!("{u}_et"), 3);
                draft.place(&[&format!("{u}_et[1]"), &format!("{u}_et[2]")]);
            }
            3 if file.once(u, "ask") => {
                file.text.line(&format!("int {u}_ask(void);"));
                file.define(&format!("int {u}_ask(void) {{ return other_files(); }}"));
                draft.answer(&[&format!("{u}_ask()")]);
                draft.effect(&[&format!("{u}_ask();")]);
            }
            4 if file.once(u, "fill") => {
                file.text.line(&format!("void {u}_fill(int *);"));
                file.define(&format!("void {u}_fill(int *p) {{ external(); if (p && choose(2)) *p = num(); }}"));
                draft.param("int *", "q", "int_place(0, 0)");
                draft.guard("q != 0", &["*q"], &["*q"]);
                draft.effect(&[&format!("{u}_fill(&r);"), &format!("{u}_fill(q);")]);
                draft.read(&["r"]);
            }
            5 if file.once(u, "keep") => {
                file.text.line(&format!("void {u}_keep(int *);"));
                file.define(&format!("void {u}_keep(int *p) {{ save(p); }}"));
                file.text.line(&format!("void {u}_act(void);"));
                file.define(&format!("void {u}_act(void) {{ external(); }}"));
                draft.start.push("int local = a;".to_string());
                draft.start.push(format!("{u}_keep(&local);"));
                draft.place(&["local", "local"]);
                draft.effect(&[&format!("{u}_act();"), &format!("{u}_act();")]);
            }
            6 if file.once(u, "get") => {
                file.text.line(&format!("int *{u}_get(void);"));
                file.define(&format!("int *{u}_get(void) {{ external(); return int_place(0, 0); }}"));
                file.text.line(&format!("§ int {u}_own;"));
                file.int_region(&format!("&{u}_own"), 1);
                draft.start.push(format!("int *given = {u}_get();"));
                draft.fact(&["given == 0", &format!("given == &{u}_own")]);
                draft.guard("given != 0", &["*given"], &["*given"]);
                draft.place(&[&format!("{u}_own")]);
            }
            7 if file.once(u, "see") => {
                file.text.line(&format!("int {u}_see(const int *);"));
                file.define(&format!(
                    "int {u}_see(const int *p) {{ if (choose(2)) *(int *)p = num(); return other_files(); }}"
                ));
                draft.answer(&[&format!("{u}_see(&a)")]);
                draft.effect(&[&format!("{u}_see(&a);")]);
            }
            _ => {}
        }
    }
}

fn register(file: &mut File, draft: &mut Draft, u: &str) {
    match file.rng.below(7) {
        5 => {
            file.text.line(&format!("static § struct {{ int plain; volatile int v; }} {u}_dev;"));
            draft.answer(&[&format!("⟦{u}_dev.v⟧"), &format!("⟦{u}_dev.v⟧")]);
            draft.effect(&[&format!("{u}_dev.v = 0;")]);
            draft.place(&[&format!("{u}_dev.plain")]);
        }
        6 => {
            draft.param("volatile int *", "w", "int_place(0, 0)");
            draft.refuse = Some(or("w == 0", "n > 4"));
            draft.answer(&["⟦*w⟧", "⟦*w⟧"]);
            draft.write(&["*w"]);
        }
        0 => {
            file.text.line(&format!("#define {u}_ADC (*(volatile unsigned *)0x40012400)"));
            draft.answer(&[&format!("⟦{u}_ADC⟧"), &format!("⟦{u}_ADC⟧")]);
            draft.write(&[&format!("{u}_ADC")]);
        }
        1 => {
            file.text.line(&format!("struct {u}_regs {{ volatile unsigned cr, sr; volatile unsigned char dr; }};"));
            file.text.line(&format!("#define {u}_DEV ((struct {u}_regs *)0x40020000)"));
            draft.answer(&[&format!("⟦{u}_DEV->sr⟧"), &format!("⟦{u}_DEV->cr⟧"), &format!("⟦{u}_DEV->dr⟧")]);
            draft.effect(&[&format!("{u}_DEV->cr = 1;")]);
        }
        2 => {
            file.text.line(&format!(
                "static volatile unsigned char *const {u}_base = (volatile unsigned char *)0x40020010;"
            ));
            draft.answer(&[
                &format!("⟦{u}_base[0]⟧"),
                &format!("⟦{u}_base[2]⟧"),
                &format!("⟦{u}_base[(unsigned)a & 3]⟧"),
            ]);
        }
        3 => {
            // Without volatile it is memory that nothing here made.
            file.text.line(&format!("#define {u}_ID (*(const unsigned *)0x40012420)"));
            draft.read(&[&format!("{u}_ID"), &format!("{u}_ID")]);
        }
        _ => {
            let value = *file.rng.pick(&["", " = 1"]);
            let linkage = *file.rng.pick(&["", "static "]);
            file.text.line(&format!("{linkage}§ volatile int {u}_v{value};"));
            draft.answer(&[&format!("⟦{u}_v⟧"), &format!("⟦{u}_v⟧")]);
            draft.effect(&[&format!("{u}_v = 0;")]);
        }
    }
}

fn tagged(file: &mut File, draft: &mut Draft, u: &str) {
    let members = "int *ip; long n; struct { int lo; short hi; } pair; unsigned char c;";
    file.text.line(&format!("struct {u}_t {{ int tag; union {{ {members} }} u; }};"));
    let made = "case 1: t->u.ip = int_place(0, 0); break; case 3: t->u.pair.lo = num(); t->u.pair.hi = num(); break; default: t->u.n = num();";
    file.define(&format!("STATE struct {u}_t {u}_all[2];"));
    file.define(&format!(
        "static struct {u}_t *{u}_place(void) {{ struct {u}_t *t = {u}_all + choose(2); if (!choose(8)) return 0; t->tag = choose(4); switch (t->tag) {{ {made} }} return t; }}"
    ));
    draft.param(&format!("struct {u}_t *"), "vt", &format!("{u}_place()"));
    draft.param(&format!("struct {u}_t *"), "vo", &format!("{u}_place()"));
    draft.refuse = Some(or("vt == 0", "vo == 0"));
    draft.read(&["vt->tag", "vo->tag"]);
    draft.fact(&["vt == vo", "vt->tag == vo->tag"]);
    draft.guard("vt->tag == 1 && vt->u.ip", &["*vt->u.ip"], &["*vt->u.ip"]);
    draft.guard("vt->tag == 2", &["(int)vt->u.n", "vt->u.c"], &["vt->u.n"]);
    draft.guard("vt->tag == 3", &["vt->u.pair.lo", "vt->u.pair.hi"], &["vt->u.pair.hi"]);
    draft.guard("vo->tag == 3", &["vo->u.pair.lo"], &["vo->u.pair.lo"]);
    draft.effect(&["*vt = *vo;", "vt->u = vo->u;", "vo->u.ip = 0;"]);
}

fn hidden(file: &mut File, draft: &mut Draft, u: &str) {
    file.text.line(&format!("struct {u}_h; struct {u}_b {{ int kind; struct {u}_h *more; }};"));
    file.text.line(&format!("struct {u}_w {{ struct {u}_b base; int x; int *ip; }};"));
    file.text.line(&format!("struct {u}_v {{ int n; struct {u}_b *back; }};"));
    file.define(&format!(
        "STATE struct {u}_w {u}_wholes[2]; STATE struct {u}_b {u}_bases[2]; STATE struct {u}_v {u}_behind[2];"
    ));
    // Only what is whole has the kind of it.
    let whole =
        "struct U_w *w = U_wholes + choose(2); w->base.kind = 1; w->x = num(); w->ip = int_place(0, 0); b = &w->base;";
    let behind = "struct U_v *v = U_behind + choose(2); v->n = num(); v->back = choose(2) ? b : choose(2) ? &U_wholes[choose(2)].base : 0; b->more = (struct U_h *)v;";
    let place = format!(
        "static struct U_b *U_place(void) {{ struct U_b *b = U_bases + choose(2); if (!choose(8)) return 0; if (choose(2)) {{ {whole} }} else b->kind = 2 * choose(3); \
         b->more = 0; if (choose(3)) {{ {behind} }} return b; }}"
    );
    file.define(&place.replace("U_", &format!("{u}_")));
    draft.param(&format!("struct {u}_b *"), "ba", &format!("{u}_place()"));
    draft.param(&format!("struct {u}_b *"), "bo", &format!("{u}_place()"));
    draft.refuse = Some(or("ba == 0", "bo == 0"));
    draft.read(&["ba->kind", "bo->kind"]);
    draft.fact(&["ba == bo", "ba->kind == bo->kind", "ba->more == bo->more"]);
    let (wide, inner) = (format!("((struct {u}_w *)ba)"), format!("((struct {u}_v *)bo->more)"));
    draft.guard("ba->kind == 1", &[&format!("{wide}->x")], &[&format!("{wide}->x")]);
    draft.guard(&format!("ba->kind == 1 && {wide}->ip"), &[&format!("*{wide}->ip")], &[&format!("*{wide}->ip")]);
    draft.guard(
        "bo->more != 0",
        &[&format!("{inner}->n"), &format!("({inner}->back == ba)")],
        &[&format!("{inner}->n")],
    );
    draft.effect(&["bo->more = ba->more;", "ba->more = 0;"]);
}

fn library(file: &mut File, draft: &mut Draft, u: &str) {
    toolchain_features::library_results(file, u);
    match file.rng.below(4) {
        0 => draft.answer(&["rand()", "rand()"]),
        1 => {
            draft.start.push("long then = time(0);".to_string());
            draft.start.push("long later = time(0);".to_string());
            draft.fact(&["later > then", "later == then", "later - then == 2"]);
            draft.answer(&["time(0)"]);
        }
        2 => {
            draft.start.push("const char *e = getenv(\"MODE\");".to_string());
            draft.fact(&["e == 0", "e != 0"]);
            draft.guard("e != 0", &["e[0]"], &[]);
        }
        _ => {
            draft.read(&["errno", "errno"]);
            draft.effect(&["errno = 0;", "errno = 3;"]);
        }
    }
}

fn callback(file: &mut File, draft: &mut Draft, u: &str) {
    file.define(&format!("int {u}_other(int x) {{ external(); return choose(2) ? x : num(); }}"));
    file.text.line(&format!("static int {u}_twice(int x)"));
    file.text.open("{");
    file.text.statement("return 2 * x;");
    file.text.close("}");
    let chosen = format!("choose(3) ? {u}_other : 0");
    match file.rng.below(3) {
        0 => {
            file.text.line(&format!("static § int (*{u}_cb)(int);"));
            file.text.line(&format!("void {u}_use(int (*g)(int))"));
            file.text.open("{");
            file.text.statement(&format!("{u}_cb = g;"));
            file.text.close("}");
            file.callable(&format!("{u}_use({chosen});"));
            file.text.line(&format!("void {u}_reset(void)"));
            file.text.open("{");
            file.text.statement(&format!("{u}_cb = {u}_twice;"));
            file.text.close("}");
            file.callable(&format!("{u}_reset();"));
            draft.fact(&[&format!("{u}_cb != 0"), &format!("{u}_cb == {u}_twice")]);
            draft.answer(&[&format!("{u}_cb(a)")]);
        }
        1 => {
            draft.params.push(crate::soundness::draft::Param {
                declaration: "int (*act)(int)".to_string(),
                chosen: format!("int (*act)(int) = {chosen};"),
                argument: "act".to_string(),
            });
            draft.fact(&["act != 0"]);
            draft.answer(&["act(a)", "act(2)"]);
            file.text.line(&format!("§ int {u}_seen;"));
            file.int_region(&format!("&{u}_seen"), 1);
            draft.place(&[&format!("{u}_seen")]);
            draft.effect(&["act(1);"]);
        }
        _ => {
            file.text.line(&format!("§ int (*{u}_hook)(int) = {u}_twice;"));
            file.other_state(&format!("{u}_hook = {chosen};"));
            draft.fact(&[&format!("{u}_hook != 0")]);
            draft.answer(&[&format!("{u}_hook(1)"), &format!("{u}_hook(a)")]);
        }
    }
}

fn recursion(file: &mut File, draft: &mut Draft, u: &str) {
    file.text.line(&format!("static int {u}_deep(int d)"));
    file.text.open("{");
    file.text.line("static § int most;");
    file.text.open_deciding("if (", &Tree::Leaf("d > most".to_string()), ") {");
    file.text.statement("most = d;");
    file.text.close("}");
    file.text.open_deciding("if (", &Tree::Leaf("d < 3".to_string()), ") {");
    let step = *file.rng.pick(&["d + 1", "d + 2"]);
    file.text.statement(&format!("{u}_deep({step});"));
    file.text.close("}");
    file.text.statement("return most;");
    file.text.close("}");
    draft.locals.push("static § int k;".to_string());
    draft.read(&["k"]);
    draft.start.push("k = (k + 1) % 5;".to_string());
    draft.answer(&[&format!("{u}_deep(a)"), &format!("{u}_deep(4)")]);
}
