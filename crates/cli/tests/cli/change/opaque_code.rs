//! Changes of code that is not lowered, and of functions that leave state for others: never equivalent, unless both
//! texts are the same.

use super::{Project, behaviour};

/// A definition of `NAME` before and after a change, and the behaviour that is reported.
struct Pair {
    old: &'static str,
    new: &'static str,
    expected: &'static str,
}

const fn pair(old: &'static str, new: &'static str, expected: &'static str) -> Pair {
    Pair { old, new, expected }
}

const PAIRS: [Pair; 20] = [
    // Code after an unsupported construct, the construct itself, and code that only it uses.
    pair(
        r#"int NAME(int x) { __asm__ volatile("nop"); return x + 1; }"#,
        r#"int NAME(int x) { __asm__ volatile("nop"); return x + 2; }"#,
        "unknown",
    ),
    pair(
        r#"int NAME(int x) { __asm__("incl %0" : "+r"(x)); return x; }"#,
        r#"int NAME(int x) { __asm__("decl %0" : "+r"(x)); return x; }"#,
        "unknown",
    ),
    pair(
        r#"int NAME(int x) { __asm__("addl %1, %0" : "+r"(x) : "r"(x)); return x; }"#,
        r#"int NAME(int x) { __asm__("addl %1, %0" : "+r"(x) : "r"(x + 1)); return x; }"#,
        "unknown",
    ),
    pair(
        "#define NAME_code \"incl %0\"\nint NAME(int x) { __asm__(NAME_code : \"+r\"(x)); return x; }",
        "#define NAME_code \"decl %0\"\nint NAME(int x) { __asm__(NAME_code : \"+r\"(x)); return x; }",
        "unknown",
    ),
    pair(
        "static int NAME_g(int x) { __asm__(\"incl %0\" : \"+r\"(x)); return x; }\nint NAME(int x) { return NAME_g(x) > 3; }",
        "static int NAME_g(int x) { __asm__(\"decl %0\" : \"+r\"(x)); return x; }\nint NAME(int x) { return NAME_g(x) > 3; }",
        "unknown",
    ),
    pair(
        "static int NAME_g(int x) { return x; }\nint NAME(int x) { __asm__(\"addl %1, %0\" : \"+r\"(x) : \"r\"(NAME_g(x))); return x; }",
        "static int NAME_g(int x) { return 2; }\nint NAME(int x) { __asm__(\"addl %1, %0\" : \"+r\"(x) : \"r\"(NAME_g(x))); return x; }",
        "unknown",
    ),
    pair(
        "struct NAME_s { int a; };\nint NAME(int x) { __asm__(\"addl %1, %0\" : \"+r\"(x) : \"r\"((int)sizeof(struct NAME_s))); return x; }",
        "struct NAME_s { int a, b; };\nint NAME(int x) { __asm__(\"addl %1, %0\" : \"+r\"(x) : \"r\"((int)sizeof(struct NAME_s))); return x; }",
        "unknown",
    ),
    pair(
        "static int NAME_g(int x) { __asm__(\"incl %0\" : \"+r\"(x)); return x; }\nint NAME(int x) { return NAME_g(x); }",
        "static int NAME_g(int x) { __asm__(\"incl %0\" : \"+r\"(x)); return x; }\nint NAME(int x) { return NAME_g(x + 1); }",
        "unknown",
    ),
    pair(
        "__attribute__((target(\"sse4.2\"))) unsigned NAME(unsigned x) { return __builtin_ia32_crc32si(x, 1); }",
        "__attribute__((target(\"sse4.2\"))) unsigned NAME(unsigned x) { return __builtin_ia32_crc32si(x, 2); }",
        "unknown",
    ),
    pair(
        "asm(\"NAME_asm: movl $1, %eax; ret\");\nint NAME_asm(int);\nint NAME(int x) { return NAME_asm(x); }",
        "asm(\"NAME_asm: movl $2, %eax; ret\");\nint NAME_asm(int);\nint NAME(int x) { return NAME_asm(x); }",
        "unknown",
    ),
    pair(
        "static int NAME_g(void) { return 1; }\nint NAME(void) { int x; __asm__(\"call NAME_g\" : \"=a\"(x)); return x; }",
        "static int NAME_g(void) { return 2; }\nint NAME(void) { int x; __asm__(\"call NAME_g\" : \"=a\"(x)); return x; }",
        "unknown",
    ),
    // The same text.
    pair(
        r#"int NAME(int x) { __asm__("incl %0" : "+r"(x)); return x; }"#,
        "/* moved */\n\nint NAME(int x) { __asm__(\"incl %0\" : \"+r\"(x));\n return x; }",
        "unaffected",
    ),
    pair(
        "#include <assert.h>\nint NAME(int x) { assert(x); __asm__(\"incl %0\" : \"+r\"(x)); return x; }",
        "#include <assert.h>\n\n\nint NAME(int x) { assert(x); __asm__(\"incl %0\" : \"+r\"(x)); return x; }",
        "unaffected",
    ),
    // State that earlier calls leave.
    pair(
        "static int NAME_s; void NAME_set(int x) { NAME_s = x > 5 ? 5 : x; }\nint NAME(void) { return NAME_s > 5; }",
        "static int NAME_s; void NAME_set(int x) { NAME_s = x > 6 ? 6 : x; }\nint NAME(void) { return NAME_s > 5; }",
        "unknown",
    ),
    pair(
        "static int NAME_s, NAME_t; void NAME_set(int x) { NAME_s = x > 5 ? 5 : x; } void NAME_copy(void) { NAME_t = NAME_s; }\n\
         int NAME(void) { return NAME_t > 5; }",
        "static int NAME_s, NAME_t; void NAME_set(int x) { NAME_s = x > 6 ? 6 : x; } void NAME_copy(void) { NAME_t = NAME_s; }\n\
         int NAME(void) { return NAME_t > 5; }",
        "unknown",
    ),
    pair(
        "static int NAME_v, *NAME_s = &NAME_v; void NAME_set(int x) { *NAME_s = x > 5 ? 5 : x; }\nint NAME(void) { return *NAME_s > 5; }",
        "static int NAME_v, *NAME_s = &NAME_v; void NAME_set(int x) { *NAME_s = x > 6 ? 6 : x; }\nint NAME(void) { return *NAME_s > 5; }",
        "unknown",
    ),
    pair(
        "static int NAME_k; __attribute__((constructor)) static void NAME_i(void) { NAME_k = 1; }\nint NAME(int x) { return x > NAME_k; }",
        "static int NAME_k; __attribute__((constructor)) static void NAME_i(void) { NAME_k = 2; }\nint NAME(int x) { return x > NAME_k; }",
        "unknown",
    ),
    pair(
        "static int NAME_s; void NAME_set(int x) { __asm__(\"incl %0\" : \"+r\"(x)); NAME_s = x; }\nint NAME(void) { return NAME_s > 5; }",
        "static int NAME_s; void NAME_set(int x) { __asm__(\"decl %0\" : \"+r\"(x)); NAME_s = x; }\nint NAME(void) { return NAME_s > 5; }",
        "unknown",
    ),
    pair(
        "static int NAME_s; void NAME_set(int x) { NAME_s = x > 5 ? 5 : x; }\nint NAME(void) { return NAME_s > 5; }",
        "static int NAME_s; void NAME_put(int x) { NAME_s = x > 6 ? 6 : x; }\nint NAME(void) { return NAME_s > 5; }",
        "unknown",
    ),
    // The same state.
    pair(
        "static int NAME_s; void NAME_set(int x) { NAME_s = x > 5 ? 5 : x; }\nint NAME(void) { return NAME_s > 5; }",
        "static int NAME_s; void NAME_set(int x) { if (x > 5) x = 5; NAME_s = x; }\nint NAME(void) { return NAME_s > 5; }",
        "equivalent",
    ),
];

/// Runs pairs that are independent of each other as one program.
fn check(pairs: &[Pair]) {
    let name = |index: usize| format!("f{}_", (b'a' + index as u8) as char);
    let all = |text: fn(&Pair) -> &'static str| -> String {
        pairs.iter().enumerate().map(|(index, pair)| text(pair).replace("NAME", &name(index)) + "\n").collect()
    };
    let project = Project::new("f.c", &all(|pair| pair.old), &all(|pair| pair.new));
    let words = ["generate", "f.c", "--old", "v1", "-c", "stmt", "--no-replay", "--cache", "off"];
    let document = project.document(&words);
    for (index, Pair { old, new, expected }) in pairs.iter().enumerate() {
        assert_eq!(behaviour(&document, &name(index)), *expected, "{old}\n{new}");
    }
}

#[test]
fn a_change_of_code_that_is_not_lowered_or_of_state_is_never_equivalent() {
    // A proof that all changed functions leave the same state fails if one does not.
    let (equivalent, others): (Vec<Pair>, Vec<Pair>) =
        PAIRS.into_iter().partition(|pair| pair.expected == "equivalent");
    check(&others);
    check(&equivalent);
}
