//! Parses the reports of sanitizers and of `assert`.

/// A source location in a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReportedLocation {
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// The kind of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// AddressSanitizer, with its word for the error: `heap-use-after-free`, `SEGV`, `FPE`.
    Address(String),
    /// UndefinedBehaviorSanitizer, with its sentence.
    Undefined(String),
    /// A failed `assert`.
    Assertion,
}

/// A finding with the locations of its stack, innermost first; without debug information, there are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SanitizerReport {
    pub(crate) finding: Finding,
    pub(crate) locations: Vec<ReportedLocation>,
}

/// Returns all findings, in order.
pub(crate) fn reports(stderr: &[String]) -> Vec<SanitizerReport> {
    let mut found: Vec<SanitizerReport> = Vec::new();
    // Only the first stack of an address report is that of the error; later ones are those of allocations.
    let mut in_stack = false;
    for line in stderr {
        let trimmed = line.trim_start();
        if let Some((_, rest)) = line.split_once("ERROR: AddressSanitizer: ") {
            let word = rest.split([' ', ':']).next().unwrap_or_default();
            let word = if word == "attempting" { rest.split(" on ").next().unwrap_or(word) } else { word };
            found.push(SanitizerReport { finding: Finding::Address(word.to_string()), locations: Vec::new() });
            in_stack = !is_null_call(rest);
        } else if let Some((location, what)) = line.split_once(": runtime error: ") {
            let locations = location_of(location).into_iter().collect();
            found.push(SanitizerReport { finding: Finding::Undefined(what.to_string()), locations });
            in_stack = false;
        } else if let Some((location, _)) = line.split_once(": Assertion `") {
            // `prog: file.c:12: function: Assertion ...`; musl and others omit parts.
            let location = location.split(": ").find_map(location_of);
            found.push(SanitizerReport { finding: Finding::Assertion, locations: location.into_iter().collect() });
            in_stack = false;
        } else if line.starts_with("Assertion ") {
            found.push(SanitizerReport { finding: Finding::Assertion, locations: Vec::new() });
            in_stack = false;
        } else if trimmed.starts_with('#') && in_stack {
            let location = trimmed.rsplit(' ').next().and_then(location_of);
            if let (Some(location), Some(report)) = (location, found.last_mut()) {
                report.locations.push(location);
            }
        } else if trimmed.is_empty() && found.last().is_some_and(|report| !report.locations.is_empty()) {
            in_stack = false;
        }
    }
    found
}

/// Returns true for a call through a null pointer: it has no frame of its own, so the stack lacks the caller.
fn is_null_call(report: &str) -> bool {
    let pc = report.split_once("(pc 0x").map(|(_, rest)| rest.split(' ').next().unwrap_or(rest));
    pc.is_some_and(|pc| !pc.is_empty() && pc.bytes().all(|digit| digit == b'0'))
}

/// Parses `dir/file.c:12` or `dir/file.c:12:7`.
fn location_of(text: &str) -> Option<ReportedLocation> {
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
    Some(ReportedLocation { file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stderr: &str, expected: &[(Finding, &[(&str, u32)])]) {
        let lines: Vec<String> = stderr.lines().map(str::to_string).collect();
        let expected: Vec<SanitizerReport> = expected
            .iter()
            .map(|(finding, locations)| SanitizerReport {
                finding: finding.clone(),
                locations: locations
                    .iter()
                    .map(|(file, line)| ReportedLocation { file: file.to_string(), line: *line })
                    .collect(),
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
        // A call through a null pointer has no frame, and its caller is omitted: the next frame belongs to another
        // call.
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
