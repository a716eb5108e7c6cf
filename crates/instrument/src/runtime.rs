//! The C that goes with the probes of a unit.

/// Alignment of probes: a page of every machine that we know.
const PAGE: u32 = 4096;

const RUNTIME: &str = include_str!("../runtime/probes.c");
const STATE: &str = include_str!("../runtime/state.c");

/// Types of memory that predicates read.
const TYPES: &str = "\
typedef unsigned char __attribute__((__may_alias__)) touchstone_u8;
typedef unsigned short __attribute__((__may_alias__)) touchstone_u16;
typedef unsigned int __attribute__((__may_alias__)) touchstone_u32;
typedef unsigned long long __attribute__((__may_alias__)) touchstone_u64;
typedef char *__attribute__((__may_alias__)) touchstone_pointer;
void touchstone_test_begin(const char *);
";

/// What walks through a decision with too many rows: its local array has the node, then for each condition whether it was
/// evaluated (1 false, 2 true) and whether that decided so far (4).
pub(crate) const WALK: &str = "\
static __attribute__((__unused__)) void __touchstone_start(unsigned *walk, unsigned conditions, unsigned node) {
    unsigned at;
    for (at = 1; at <= conditions; at++) walk[at] = 0;
    walk[0] = node;
}
static __attribute__((__unused__)) int __touchstone_step(unsigned *walk, const unsigned *table, int outcome) {
    const unsigned *node = table + 5 * walk[0], *masks = table + node[outcome ? 4 : 2];
    unsigned count = masks[0];
    walk[1 + node[0]] = outcome ? 6 : 5;
    while (count) walk[1 + masks[count--]] &= 3;
    walk[0] = node[outcome ? 3 : 1];
    return outcome;
}
static __attribute__((__unused__)) int __touchstone_done(unsigned *walk, unsigned conditions, volatile unsigned char *to,
                                                         int result) {
    unsigned at;
    to[result] = 1;
    for (at = 0; at < conditions; at++) {
        unsigned seen = walk[1 + at];
        if (seen & 3) to[2 + 2 * at + (seen & 3) - 1] = 1;
        if (seen & 4) to[2 + 2 * (conditions + at) + (seen & 3) - 1] = 1;
    }
    return result;
}
";

/// What probes do, with numbers instead of marks. A number is not atomic: threads may lose some of each other's, but never all.
pub(crate) fn counting(text: &str) -> String {
    const NUMBERS: &str = "((volatile touchstone_u64 *)__touchstone_h)";
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("__touchstone_h[") {
        let (index, behind) = after.split_once("] = 1").unwrap_or((after, ""));
        made += &format!("{before}++{NUMBERS}[{index}]");
        rest = behind;
    }
    made += rest;
    made.replace("__touchstone_h +", &format!("{NUMBERS} +"))
        .replace("volatile unsigned char *to", "volatile touchstone_u64 *to")
        .replace("to[result] = 1", "to[result]++")
        .replace("(seen & 3) - 1] = 1", "(seen & 3) - 1]++")
}

/// Bytes of whole pages.
pub(crate) fn rounded(size: u32) -> u32 {
    size.max(1).div_ceil(PAGE) * PAGE
}

/// A text with probes, with their declaration before and their runtime behind it.
/// `helpers` are functions that the probes use. What a unit whose state is followed does at its beginning stands behind it.
pub(crate) fn around(text: &str, unit: u64, size: u32, hits: &str, helpers: &str, state: Option<&str>) -> String {
    let runtime = runtime(unit, hits);
    let (declarations, state) = match state {
        Some(begin) => (crate::state::DECLARATIONS, format!("{STATE}{begin}")),
        None => ("", String::new()),
    };
    format!(
        "# 1 \"<touchstone>\" 3\n{TYPES}{declarations}\
         static volatile unsigned char __touchstone_h[{size}] __attribute__((__aligned__({PAGE}), __used__));\n{helpers}{text}\n{runtime}{state}"
    )
}

/// A C++ text whose state is followed. The runtime is the same: it is C that is C++, too.
pub(crate) fn around_cxx(text: &str, unit: u64, hits: &str, state: &str) -> String {
    let (runtime, declarations) = (runtime(unit, hits), crate::state::DECLARATIONS);
    // What keeps a value is called so there.
    let text = text.replace("__auto_type __touchstone_", "auto __touchstone_");
    format!(
        "# 1 \"<touchstone>\" 3\nextern \"C\" {{\n{TYPES}{declarations}\
         static volatile unsigned char __touchstone_h[{PAGE}] __attribute__((__aligned__({PAGE}), __used__));\n}}\n\
         {text}\nextern \"C\" {{\n{runtime}{STATE}{state}}}\n"
    )
}

fn runtime(unit: u64, hits: &str) -> String {
    let hits: String = hits.chars().flat_map(|c| if c == '"' || c == '\\' { vec!['\\', c] } else { vec![c] }).collect();
    RUNTIME.replace("0xUNITull", &format!("0x{unit:016x}ull")).replace("\"HITS\"", &format!("\"{hits}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_numbers() {
        let check = |text: &str, expected: &str| assert_eq!(counting(text), expected);
        check("(__touchstone_h[3] = 1, 1)", "(++((volatile touchstone_u64 *)__touchstone_h)[3], 1)");
        check("x; __touchstone_h[0 + r] = 1; y", "x; ++((volatile touchstone_u64 *)__touchstone_h)[0 + r]; y");
        check("no probe", "no probe");
        assert!(!counting(WALK).contains("= 1;\n    for"));
        assert_eq!(counting(WALK).matches("]++").count(), 3);
        assert!(!counting(crate::errors::RUNTIME).contains("] = 1"));
    }
}
