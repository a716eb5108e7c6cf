//! The programs whose hard queries are compared: the questions of `touchstone bench cost`, and the examples.

/// A program, and how its queries are asked.
pub struct QuerySource {
    pub name: &'static str,
    /// The names and texts of the files, headers included.
    pub files: &'static [(&'static str, &'static str)],
    /// The arguments of `touchstone generate` besides the files.
    pub arguments: &'static str,
    /// True if the search takes at most a second.
    pub quick: bool,
}

impl QuerySource {
    /// Returns the files of the command line.
    pub fn sources(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".h"))
    }
}

/// Criteria with many different conditions: decisions, mutants, run-time errors.
const CRITERIA: &str = "-c mcdc,wm,rte";

macro_rules! question {
    ($function:literal) => {
        QuerySource {
            name: $function,
            files: &[("questions.c", include_str!("../../../../bench/cost/questions.c"))],
            arguments: concat!("-f ", $function),
            quick: true,
        }
    };
}

macro_rules! example {
    ($name:literal, $folder:literal: $($file:literal),+) => {
        QuerySource {
            name: $name,
            files: &[$(($file, include_str!(concat!("../../../../examples/", $folder, $file)))),+],
            arguments: CRITERIA,
            quick: false,
        }
    };
}

/// All programs.
pub const QUERY_SOURCES: &[QuerySource] = &[
    question!("factors"),
    question!("quotient"),
    question!("matrix"),
    question!("modulo"),
    question!("network"),
    example!("accounts", "": "accounts.c"),
    example!("binary_search", "": "binary_search.c"),
    example!("bubble_sort", "": "bubble_sort.c"),
    example!("controller", "": "controller.c"),
    example!("dispatch", "": "dispatch.c"),
    example!("errors", "": "errors.c"),
    example!("expression", "": "expression.c"),
    example!("getorder", "": "getorder.c"),
    example!("glob", "": "glob.c"),
    example!("klee_harness", "": "klee_harness.c"),
    example!("linked_list", "": "linked_list.c"),
    example!("matrix.c", "": "matrix.c"),
    example!("max3", "": "max3.c"),
    example!("max3als", "": "max3als.c"),
    example!("merge", "": "merge.c"),
    example!("packet", "": "packet.c"),
    example!("primes", "": "primes.c"),
    example!("program", "": "program.c"),
    example!("tcas", "": "tcas.c"),
    example!("triangle", "": "triangle.c"),
    example!("utf8", "": "utf8.c"),
    example!("ring", "ring/": "ring.c", "ring.h", "session.c"),
    example!("firmware", "firmware/src/": "can.c", "can.h", "hal.h", "motor.c", "pid.c", "pid.h"),
    example!("project", "project/src/": "journal.c", "journal.h", "thermostat.c", "thermostat.h"),
    example!("BoundedStack", "java/": "BoundedStack.java"),
    example!("FibHeap", "java/": "FibHeap.java"),
    example!("FlightGuidance", "java/": "FlightGuidance.java"),
    example!("IntHeap", "java/": "IntHeap.java"),
    example!("RingQueue", "java/": "RingQueue.java"),
    example!("SearchTree", "java/": "SearchTree.java"),
    example!("SortedList", "java/": "SortedList.java"),
    example!("Tcas", "java/": "Tcas.java"),
    example!("Triangle", "java/": "Triangle.java"),
    example!("WheelBrakes", "java/": "WheelBrakes.java"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_example_is_a_source_of_queries() {
        let known: BTreeSet<&str> =
            QUERY_SOURCES.iter().flat_map(|source| source.files).map(|(name, _)| *name).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for folder in ["", "ring", "firmware/src", "project/src", "java"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
                let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
                let is_source = name.ends_with(".c") || name.ends_with(".java");
                assert!(!is_source || known.contains(name.as_str()), "{name} is missing");
            }
        }
    }
}
