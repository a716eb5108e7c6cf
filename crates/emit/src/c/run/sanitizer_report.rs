//! Reads what sanitizers and `assert` print about a run that went wrong.

/// A place that a report names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedPlace {
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// What a report says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// AddressSanitizer, with its own word for it: `heap-use-after-free`, `SEGV`, `FPE`.
    Address(String),
    /// UndefinedBehaviorSanitizer's sentence.
    Undefined(String),
    /// A failed `assert`.
    Assertion,
}

/// A finding with the places of its stack, innermost first; without debug information there are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Report {
    pub(crate) finding: Finding,
    pub(crate) places: Vec<NamedPlace>,
}

/// All findings in the text, in order.
pub(crate) fn reports(stderr: &[String]) -> Vec<Report> {
    let mut found: Vec<Report> = Vec::new();
    // Only the first stack of an address report is where it happened; later ones tell of allocation.
    let mut in_stack = false;
    for line in stderr {
        let trimmed = line.trim_start();
        if let Some((_, rest)) = line.split_once("ERROR: AddressSanitizer: ") {
            let word = rest.split([' ', ':']).next().unwrap_or_default();
            let word = if word == "attempting" { rest.split(" on ").next().unwrap_or(word) } else { word };
            found.push(Report { finding: Finding::Address(word.to_string()), places: Vec::new() });
            in_stack = !jumped_to_null(rest);
        } else if let Some((place, what)) = line.split_once(": runtime error: ") {
            let places = place_of(place).into_iter().collect();
            found.push(Report { finding: Finding::Undefined(what.to_string()), places });
            in_stack = false;
        } else if let Some((place, _)) = line.split_once(": Assertion `") {
            // `prog: file.c:12: function: Assertion ...`; musl and others leave parts away.
            let place = place.split(": ").find_map(place_of);
            found.push(Report { finding: Finding::Assertion, places: place.into_iter().collect() });
            in_stack = false;
        } else if line.starts_with("Assertion ") {
            found.push(Report { finding: Finding::Assertion, places: Vec::new() });
            in_stack = false;
        } else if trimmed.starts_with('#') && in_stack {
            let place = trimmed.rsplit(' ').next().and_then(place_of);
            if let (Some(place), Some(report)) = (place, found.last_mut()) {
                report.places.push(place);
            }
        } else if trimmed.is_empty() && found.last().is_some_and(|report| !report.places.is_empty()) {
            in_stack = false;
        }
    }
    found
}

/// A call through a null pointer: it had no frame of its own yet, so the stack that is shown lacks the caller.
fn jumped_to_null(report: &str) -> bool {
    let pc = report.split_once("(pc 0x").map(|(_, rest)| rest.split(' ').next().unwrap_or(rest));
    pc.is_some_and(|pc| !pc.is_empty() && pc.bytes().all(|digit| digit == b'0'))
}

/// `dir/file.c:12` or `dir/file.c:12:7`.
fn place_of(text: &str) -> Option<NamedPlace> {
    let mut parts: Vec<&str> = text.split(':').collect();
    let last: u32 = parts.pop()?.parse().ok()?;
    let line = match parts.last().and_then(|part| part.parse().ok()) {
        Some(line) => {
            parts.pop();
            line
        }
        None => last,
    };
    let path = parts.join(":");
    let file = path.rsplit('/').next().filter(|file| !file.is_empty())?.to_string();
    Some(NamedPlace { file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stderr: &str, expected: &[(Finding, &[(&str, u32)])]) {
        let lines: Vec<String> = stderr.lines().map(str::to_string).collect();
        let expected: Vec<Report> = expected
            .iter()
            .map(|(finding, places)| Report {
                finding: finding.clone(),
                places: places.iter().map(|(file, line)| NamedPlace { file: file.to_string(), line: *line }).collect(),
            })
            .collect();
        assert_eq!(reports(&lines), expected);
    }

    #[test]
    fn an_address_report_has_its_word_and_first_stack() {
        check(
            "==1==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7ff at pc 0x5 bp 0x7 sp 0x7\n\
             READ of size 4 at 0x7ff thread T0\n    #0 0x55 in f ../src/a.c:12\n    #1 0x56 in g ../src/a.c:20:3\n\
             \x20   #2 0x57 (/lib/libc.so+0x2)\n\nAddress 0x7ff is located\n    #0 0x55 in other ../src/a.c:99\n",
            &[(Finding::Address("stack-buffer-overflow".into()), &[("a.c", 12), ("a.c", 20)])],
        );
        check(
            "==1==ERROR: AddressSanitizer: attempting double-free on 0x6 in thread T0:\n    #0 0x5 in free (lib.so+0x1)\n\
             \x20   #1 0x6 in f a.c:4\n",
            &[(Finding::Address("attempting double-free".into()), &[("a.c", 4)])],
        );
        check(
            "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x5)\n",
            &[(Finding::Address("SEGV".into()), &[])],
        );
        // What is called through a null pointer has no frame, and the caller's is left out: the next one is another call.
        check(
            "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x000000000000 bp 0x7 sp 0x7 T0)\n\
             \x20   #0 0x0  (<unknown module>)\n    #1 0x55 in f a.c:261\n",
            &[(Finding::Address("SEGV".into()), &[])],
        );
    }

    #[test]
    fn runtime_errors_and_assertions_name_their_line() {
        check(
            "../src/a.c:7:12: runtime error: division by zero\n",
            &[(Finding::Undefined("division by zero".into()), &[("a.c", 7)])],
        );
        check("t: ../src/a.c:9: f: Assertion `x > 0' failed.\n", &[(Finding::Assertion, &[("a.c", 9)])]);
        check("Assertion of touchstone_assert failed\n", &[(Finding::Assertion, &[])]);
        check("hello\n", &[]);
    }
}
