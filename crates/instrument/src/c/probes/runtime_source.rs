//! The C source of the runtime, and the declarations around an instrumented unit.

/// The alignment of probes: the page size of all supported machines.
const PAGE_BYTES: u32 = 4096;

const SYSTEM: &str = include_str!("../../../runtime/system.c");
const PROBES: &str = include_str!("../../../runtime/probes.c");
const STATE: &str = include_str!("../../../runtime/state.c");

/// The types of memory that predicates read.
const TYPES: &str = "\
typedef unsigned char __attribute__((__may_alias__)) touchstone_u8;
typedef unsigned short __attribute__((__may_alias__)) touchstone_u16;
typedef unsigned int __attribute__((__may_alias__)) touchstone_u32;
typedef unsigned long long __attribute__((__may_alias__)) touchstone_u64;
typedef char *__attribute__((__may_alias__)) touchstone_pointer;
void touchstone_test_begin(const char *);
";

/// The runtime for decisions with too many rows. A local array holds 1 (false) or 2 (true) for each evaluated
/// condition, in any order; at the end a walk through the decision graph adds 4 for each condition that was not masked.
pub(crate) const DECISION_WALK_RUNTIME: &str = "\
static __attribute__((__unused__)) void __touchstone_start(unsigned *seen, unsigned conditions) {
    unsigned at;
    for (at = 0; at < conditions; at++) seen[at] = 0;
}
static __attribute__((__unused__)) int __touchstone_step(unsigned *seen, unsigned condition, int outcome) {
    seen[condition] = outcome ? 2 : 1;
    return outcome;
}
static __attribute__((__unused__)) int __touchstone_done(unsigned *walk, const unsigned *table, unsigned at, unsigned end,
                                                         unsigned conditions, volatile unsigned char *to, int result) {
    while (at != end) {
        const unsigned *node = table + 5 * at;
        int outcome = walk[node[0]] & 2;
        const unsigned *masks = table + node[outcome ? 4 : 2];
        unsigned count = masks[0];
        walk[node[0]] |= 4;
        for (masks++; count; count--, masks += 2)
            for (at = masks[0]; at < masks[1]; at++) walk[at] &= 3;
        at = node[outcome ? 3 : 1];
    }
    to[result] = 1;
    for (at = 0; at < conditions; at++) {
        unsigned seen = walk[at];
        if (seen & 3) to[2 + 2 * at + (seen & 3) - 1] = 1;
        if (seen & 4) to[2 + 2 * (conditions + at) + (seen & 3) - 1] = 1;
    }
    return result;
}
";

/// Rewrites probes from marks to counters. A counter is not atomic: concurrent threads may lose some increments, but
/// never all.
pub(crate) fn with_counters(text: &str) -> String {
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

/// Rounds a size up to whole pages.
pub(crate) fn round_to_pages(size: u32) -> u32 {
    size.max(1).div_ceil(PAGE_BYTES) * PAGE_BYTES
}

/// Assembles an instrumented unit: the declaration of its probes before the text, and its registration after it. The
/// runtime itself is not included. `helpers` are functions that the probes call; `state` is the initialisation of state
/// coverage.
pub(crate) fn assemble_unit(
    text: &str,
    unit: u64,
    size: u32,
    hits: &str,
    helpers: &str,
    state: Option<&str>,
) -> String {
    let unit_registration = unit_registration(unit, hits);
    let (declarations, state) = match state {
        Some(begin) => (crate::c::state::DECLARATIONS, format!("{STATE_UNIT}{begin}")),
        None => ("", String::new()),
    };
    format!(
        "# 1 \"<touchstone>\" 3\n{TYPES}{declarations}\
         static volatile unsigned char __touchstone_h[{size}] __attribute__((__aligned__({PAGE_BYTES}), __used__));\n{helpers}{text}\n{unit_registration}{state}"
    )
}

/// Assembles a C++ unit with state coverage. The runtime is valid C++, too.
pub(crate) fn assemble_cxx_unit(text: &str, unit: u64, hits: &str, state: &str, shared: &str) -> String {
    let (unit_registration, declarations) = (unit_registration(unit, hits), crate::c::state::DECLARATIONS);
    // C++ spells `__auto_type` as `auto`.
    let text = text.replace("__auto_type __touchstone_", "auto __touchstone_");
    format!(
        "# 1 \"<touchstone>\" 3\nextern \"C\" {{\n{TYPES}{declarations}\
         static volatile unsigned char __touchstone_h[{PAGE_BYTES}] __attribute__((__aligned__({PAGE_BYTES}), __used__));\n}}\n\
         {text}\nextern \"C\" {{\n{unit_registration}{STATE_UNIT}{state}{shared}}}\n"
    )
}

const STATE_UNIT: &str =
    "__attribute__((__visibility__(\"default\"))) unsigned __touchstone_state_unit(unsigned long long);\n";

/// Returns the code that registers a unit with the runtime.
fn unit_registration(unit: u64, hits: &str) -> String {
    let (hits, elsewhere) = (quoted(hits), quoted(&fallback_hit_directory(hits)));
    format!(
        "# 1 \"<touchstone>\" 3\n\
         __attribute__((__visibility__(\"default\"))) void __touchstone_register_2(unsigned long long, volatile unsigned char *, unsigned, const char *, const char *);\n\
         __attribute__((__visibility__(\"default\"))) void __touchstone_forget_2(volatile unsigned char *);\n\
         __attribute__((__constructor__(101), __no_instrument_function__)) static void __touchstone_begin(void) \
         {{ __touchstone_register_2(0x{unit:016x}ull, __touchstone_h, sizeof __touchstone_h, {hits}, {elsewhere}); }}\n\
         __attribute__((__destructor__(101), __no_instrument_function__)) static void __touchstone_end(void) \
         {{ __touchstone_forget_2(__touchstone_h); }}\n"
    )
}

/// Returns the directory for the hits of programs that can't write to `hits`, for example because they run as another
/// user.
pub fn fallback_hit_directory(hits: &str) -> String {
    format!("/tmp/touchstone-hits-{:016x}", touchstone_base::stable_hash(hits))
}

/// Quotes a C string literal.
fn quoted(text: &str) -> String {
    let mut made = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => made.extend(['\\', c]),
            '\n' => made += "\\n",
            c => made.push(c),
        }
    }
    made + "\""
}

/// The form in which the runtime is added to a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RuntimeForm {
    /// Assembly, which the compiler of a unit only copies, so that the runtime is compiled once.
    Assembly,
    /// C, where assembly is impossible: for link-time optimisation, and for C++.
    Text,
}

/// The events that a unit records besides hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventRecording {
    /// None.
    None,
    /// The events of state coverage.
    Recorded,
}

/// Returns the source of the runtime.
pub(crate) fn source(events: EventRecording) -> String {
    let declarations = if events == EventRecording::Recorded { crate::c::state::DECLARATIONS } else { "" };
    format!("{TYPES}{declarations}{}", source_behind_unit(events))
}

/// Returns the same for units that contain the declarations themselves.
pub(crate) fn source_behind_unit(events: EventRecording) -> String {
    format!("{SYSTEM}{PROBES}{}", if events == EventRecording::Recorded { STATE } else { "" })
}

/// Converts the assembly of the runtime to a C declaration.
pub(crate) fn as_declaration(assembly: &str) -> String {
    // Only metadata of the file follows.
    let end = assembly.find("\t.ident").unwrap_or(assembly.len());
    let mut made = String::from("__asm__(\".pushsection .text\\n\"\n");
    for line in assembly[..end].lines().filter(|line| !line.trim_start().starts_with(".file")) {
        made += &quoted(&format!("{}\n", with_own_labels(line)));
        made.push('\n');
    }
    made + "\".popsection\\n\");\n"
}

/// Renames the local labels in a line of assembly so that they are different from those of the unit.
fn with_own_labels(line: &str) -> String {
    let mut made = String::with_capacity(line.len() + 16);
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if line[at..].starts_with(".L") && !before.is_ascii_alphanumeric() && !"_.$\"".contains(before) {
            made += ".Ltouchstone_";
        } else if !(c == 'L' && before == '.' && made.ends_with("_")) {
            made.push(c);
        }
        before = c;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_becomes_a_declaration_with_labels_of_its_own() {
        let made = as_declaration(
            "\t.file\t\"x.c\"\n.L2:\n\tjmp\t.L2\n\tleaq\t.LC0(%rip), %rax\n\t.string\t\"a\"\n\t.ident\t\"x\"\n",
        );
        assert!(made.contains("\".Ltouchstone_2:\\n\"") && made.contains("\tjmp\t.Ltouchstone_2\\n"), "{made}");
        assert!(made.contains(".Ltouchstone_C0(%rip)") && made.contains(".string\t\\\"a\\\""), "{made}");
        assert!(!made.contains(".file") && !made.contains(".ident"), "{made}");
    }

    #[test]
    fn marks_become_numbers() {
        let check = |text: &str, expected: &str| assert_eq!(with_counters(text), expected);
        check("(__touchstone_h[3] = 1, 1)", "(++((volatile touchstone_u64 *)__touchstone_h)[3], 1)");
        check("x; __touchstone_h[0 + r] = 1; y", "x; ++((volatile touchstone_u64 *)__touchstone_h)[0 + r]; y");
        check("no probe", "no probe");
        assert!(!with_counters(DECISION_WALK_RUNTIME).contains("= 1;\n    for"));
        assert_eq!(with_counters(DECISION_WALK_RUNTIME).matches("]++").count(), 3);
    }
}
