//! Java: objects as inputs. Tests make them as a caller would, and nothing is impossible only because of that.

use super::java_generate::{count, generated, source};

#[test]
fn boxes_of_small_numbers_are_one_object_and_others_are_not() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Boxed.java",
        "import java.util.*;
class Boxed {
    static int same(int x, int y) { Integer a = x, b = y; if (a == b) return 1; if (a.equals(b)) return 2; return 0; }
    static int small(long x) { Long a = x, b = x; if (x < -128 && a == b) return 1; return a == b ? 2 : 3; }
    static int map(int x, int y) {
        Map<Integer, Integer> m = new HashMap<>();
        m.put(x, 1);
        m.put(y, 2);
        if (m.size() == 1) return 1;
        return m.get(x) == 1 ? 2 : 0;
    }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    for objective in report["objectives"].as_array().expect("objectives") {
        let text = objective["text"].as_str().expect("a text");
        let never = ["x < -128 && a == b is true", "m.get(x) == 1 is false"].contains(&text);
        let expected = if never { "infeasible" } else { "covered" };
        assert_eq!(objective["status"], expected, "{objective:#}");
    }
    assert_eq!(count(&report, "infeasible"), 2, "{report:#}");
}
