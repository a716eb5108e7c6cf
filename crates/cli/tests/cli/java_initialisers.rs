//! Java: static fields whose initialisers read the environment of a run.

use crate::java_generate::{generated, source};
use serde_json::Value;

/// Returns the objectives of the methods with a name.
fn of<'r>(report: &'r Value, method: &str) -> Vec<&'r Value> {
    let all = report["objectives"].as_array().expect("objectives");
    let is_own = |objective: &&Value| objective["function"].as_str().is_some_and(|name| name.ends_with(method));
    all.iter().filter(is_own).collect()
}

#[test]
fn values_of_initialisers_that_read_the_environment_decide_nothing_and_cost_no_other_method() {
    let scratch = tempfile::tempdir().expect("a directory");
    let fields = [
        ("Millis", "static final long V = System.currentTimeMillis();", "V > 1000000000000L"),
        ("Nanos", "static final long V = System.nanoTime();", "V == 7"),
        ("Chance", "static final int V = new java.util.Random().nextInt(10);", "V == 7"),
        ("Property", "static final Integer V = Integer.getInteger(\"x.y\");", "V != null"),
        ("Flag", "static final boolean V = Boolean.getBoolean(\"x.y\");", "V"),
        ("Variable", "static final String V = System.getenv(\"X_Y\");", "V != null"),
        ("Today", "static final java.util.Date V = new java.util.Date();", "V.getTime() > 1000000000000L"),
        ("Day", "static final java.time.LocalDate V = java.time.LocalDate.now();", "V.getYear() > 2020"),
        ("Hash", "static final int V = new Object().hashCode();", "V == 12345"),
        ("Derived", "static final long T = System.nanoTime(); static final boolean V = T > 0;", "V"),
        ("Branch", "static final int V; static { if (System.nanoTime() > 0) V = 1; else V = 2; }", "V == 2"),
        ("Object", "final long t = System.nanoTime(); static final Object V = new Object();", "V.t == 5"),
    ];
    let mut code = String::new();
    for (class, field, condition) in fields {
        let class = if class == "Object" { "Held" } else { class };
        let field = field.replace("Object V = new Object", "Held V = new Held");
        code += &format!(
            "class {class} {{
    {field}
    static final int[] TABLE = {{1, 5, 9}};
    static int dependent(int x) {{ if ({condition}) return 1; return x; }}
    static int independent(int i) {{ if (i >= 0 && i < 3 && TABLE[i] > 4) return 1; return 0; }}
}}
"
        );
    }
    let file = source(scratch.path(), "Around.java", &code);
    let report = generated(&["-c", "branch"], &file, scratch.path());
    let dependent = of(&report, ".dependent");
    assert_eq!(dependent.len(), 2 * fields.len(), "{report:#}");
    for objective in dependent {
        assert_eq!(
            (&objective["status"], &objective["reason"]),
            (&"unknown".into(), &"run_only".into()),
            "{objective:#}"
        );
        let why = objective["why"].as_str().expect("a reason");
        assert!(why.contains("whose initial value depends on"), "{why}");
    }
    let independent = of(&report, ".independent");
    assert_eq!(independent.len(), 2 * fields.len(), "{report:#}");
    for objective in independent {
        assert_eq!(objective["status"], "covered", "{objective:#}");
    }
}
