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

/// Bytes of whole pages.
pub(crate) fn rounded(size: u32) -> u32 {
    size.max(1).div_ceil(PAGE) * PAGE
}

/// A text with probes, with their declaration before and their runtime behind it.
/// What a unit whose state is followed does at its beginning stands behind it.
pub(crate) fn around(text: &str, unit: u64, size: u32, hits: &str, state: Option<&str>) -> String {
    let hits: String = hits.chars().flat_map(|c| if c == '"' || c == '\\' { vec!['\\', c] } else { vec![c] }).collect();
    let runtime =
        RUNTIME.replace("0xUNITull", &format!("0x{unit:016x}ull")).replace("\"HITS\"", &format!("\"{hits}\""));
    let (declarations, state) = match state {
        Some(begin) => (crate::state::DECLARATIONS, format!("{STATE}{begin}")),
        None => ("", String::new()),
    };
    format!(
        "# 1 \"<touchstone>\" 3\n{TYPES}{declarations}\
         static volatile unsigned char __touchstone_h[{size}] __attribute__((__aligned__({PAGE}), __used__));\n{text}\n{runtime}{state}"
    )
}
