//! Java with little memory: a program that fills its heap, and catches the error when it is full, does the same with probes in it, and
//! what it does while nothing is left is measured. `TOUCHSTONE_LONG=1` tries a heap of 2 GB as well.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const FULL: &str = r#"import java.util.ArrayList;
import java.util.List;
public class Full {
    static final class Block {
        final byte[] bytes;
        final Block before;
        int number;
        Block(int size, Block before) {
            bytes = new byte[size];
            this.before = before;
            number = before == null ? 1 : before.number + 1;
        }
    }
    Block last;
    String said = "nothing";
    /** Takes blocks until there is no memory left, and says so while there is none. */
    void fill(int size) {
        try {
            while (true) last = new Block(size, last);
        } catch (OutOfMemoryError full) {
            Block newest = last;
            if (newest != null && newest.number > 10 && newest.bytes.length == size) {
                newest.number = -newest.number;
                said = full.getMessage();
            }
        }
    }
    /** What a part of all memory holds. */
    long hold(long part, int size) {
        long sum = 0;
        for (long left = part; left > 0; left -= size) {
            last = new Block(size, last);
            last.bytes[size - 1] = (byte) left;
        }
        for (Block block = last; block != null; block = block.before) {
            sum += block.number + block.bytes[size - 1];
            if (block.number == 1 || block.before.number != block.number - 1) sum *= 3;
        }
        return sum;
    }
    static String large(int length) {
        try {
            return "there are " + new long[length].length;
        } catch (OutOfMemoryError none) {
            return none.getMessage() == null ? "none" : none.getMessage();
        }
    }
    public static void main(String[] words) {
        int size = Integer.parseInt(words[0]);
        long part = Runtime.getRuntime().maxMemory() / 10 * 8;
        System.out.println(new Full().hold(part, size));
        for (int round = 0; round < 2; round++) {
            Full full = new Full();
            full.fill(size);
            boolean ended = full.last.number < 0;
            full.last = null;
            System.out.println(full.said + " " + ended);
        }
        System.out.println(large(1 << 30) + ", " + large(Integer.MAX_VALUE) + ", " + large(10));
        System.out.println(new Full().hold(part, size));
        List<int[]> all = new ArrayList<>();
        while (true) all.add(new int[size]);
    }
}
"#;

/// Runs the program and returns its output, the messages of the JVM, and the exit code. The JVM's message about the
/// agent is removed.
fn ran(within: &Path, heap: &str, size: &str, measured: &[&str]) -> (String, String, String) {
    let script = format!("java -Xmx{heap} -cp classes Full {size} > printed 2> said; echo $? > code");
    let (program, words) = match measured {
        [] => ("sh", &[][..]),
        words => (env!("CARGO_BIN_EXE_touchstone"), words),
    };
    let script = if measured.is_empty() { vec!["-c", &script] } else { vec!["--", "sh", "-c", &script] };
    let run = Command::new(program).args(words).args(script).current_dir(within).output().expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let read = |name: &str| std::fs::read_to_string(within.join(name)).expect("a file");
    let said = read("said");
    let said: Vec<&str> = said.lines().filter(|line| !line.starts_with("Picked up JAVA_TOOL_OPTIONS")).collect();
    (read("printed"), said.join("\n"), read("code"))
}

#[test]
fn a_java_program_that_fills_its_heap_and_catches_the_error_does_the_same_with_probes() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::write(scratch.path().join("Full.java"), FULL).expect("writable");
    let compiled =
        crate::support::javac().args(["-g", "-d", "classes", "Full.java"]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    let heaps = [("24m", "4096"), ("2g", "65536")];
    for (heap, size) in &heaps[..if super::support::long() { 2 } else { 1 }] {
        let plain = ran(scratch.path(), heap, size, &[]);
        assert!(plain.0.contains("Java heap space true\nJava heap space true\n"), "{plain:?}");
        assert!(plain.1.contains("OutOfMemoryError") && plain.2 == "1\n", "{plain:?}");
        for criterion in ["mcdc", "state"] {
            let words = ["measure", "-q", "-c", criterion, "--json", "report.json"];
            assert_eq!(ran(scratch.path(), heap, size, &words), plain, "{heap} {criterion}");
            let report = std::fs::read_to_string(scratch.path().join("report.json")).expect("a report");
            let report: Value = serde_json::from_str(&report).expect("JSON");
            // The first time that anything of it is done, nothing is left.
            let known = |text: &str| {
                let objectives = report["objectives"].as_array().expect("objectives").iter();
                let here = objectives.filter(|one| one["text"] == text && one["function"] == "Full.fill");
                here.map(|one| one["status"].to_string()).collect::<Vec<_>>()
            };
            match criterion {
                "mcdc" => assert_eq!(
                    known("newest.number > 10 is true and independently affects the outcome"),
                    [r#""covered""#]
                ),
                // It is modified and never asserted.
                _ => assert_eq!(known("Full.said is checked"), [r#""unknown""#]),
            }
        }
    }
}
