//! `#pragma pack`: the packing in effect at a position of a file.

/// Returns the packing at the end of a text. Directives in conditionals count as if all applied; a packing that another
/// file set is not seen.
pub(crate) fn in_effect(text: &str) -> Option<u64> {
    let mut now: Option<u64> = None;
    let mut stack: Vec<Option<u64>> = Vec::new();
    for line in text.lines() {
        let words: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        let Some(rest) = words.strip_prefix("#pragmapack(") else { continue };
        let Some((arguments, _)) = rest.split_once(')') else { continue };
        let mut number = None;
        for argument in arguments.split(',') {
            match argument {
                "push" => stack.push(now),
                "pop" => now = stack.pop().flatten(),
                "" => now = None,
                other => number = other.parse().ok(),
            }
        }
        if number.is_some() {
            now = number;
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use super::in_effect;

    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(in_effect(text), expected, "{text}");
    }

    #[test]
    fn the_last_directive_counts_and_the_stack_is_kept() {
        check("", None);
        check("#pragma pack(1)\nint x;\n", Some(1));
        check("#pragma pack(push)\n#pragma pack(1)\n", Some(1));
        check("# pragma pack ( push , 2 )\n#pragma pack(pop)\n", None);
        check("#pragma pack(4)\n#pragma pack(push, 1)\n#pragma pack(pop)\n", Some(4));
        check("#pragma pack(1)\n#pragma pack()\n", None);
    }
}
