//! Objects that functions of the program construct: tests create, change and release them by calls, as the program's
//! users do. A state that no call sequence reaches is still covered, and its test says so.

use super::sequences::{Generated, touchstone};

const QUEUE: &str = include_str!("../../../../docs/examples/queue.c");

/// The reasons of the objectives of a function.
fn reasons(found: &Generated, function: &str) -> Vec<String> {
    let all = found.report["objectives"].as_array().expect("objectives").iter();
    let own = all.filter(|one| one["function"] == function);
    own.filter_map(|one| one["reason"].as_str().map(str::to_string)).collect()
}

#[test]
fn objects_are_created_changed_and_released_by_calls() {
    let found = Generated::new(QUEUE, &[]);
    for function in ["queue_push", "queue_pop"] {
        found.covers_all(function);
        assert_eq!(reasons(&found, function), Vec::<String>::new(), "{function}");
        let suite = found.suite(function);
        assert!(suite.contains("struct queue *q = queue_create("), "{suite}");
        assert!(suite.contains("    queue_free(q);\n}"), "{suite}");
        assert!(!suite.contains(".head ="), "{suite}");
    }
    let popped = found.suite("queue_pop");
    assert!(popped.contains("CHECK_INT(0, queue_push(q, ") && popped.contains("CHECK_INT(0, q->count);"), "{popped}");
}

#[test]
fn an_initialised_object_is_a_variable_and_strings_are_literals() {
    let found = Generated::new(
        "#include <string.h>\n\
         typedef struct { const char *name; int hits; } counter;\n\
         int counter_init(counter *c, const char *name) {\n\
             if (!name || !*name) return -1;\n\
             c->name = name; c->hits = 0; return 0;\n\
         }\n\
         void counter_add(counter *c, int n) { if (n > 0) c->hits += n; }\n\
         int counter_is(const counter *c, const char *name) { return strcmp(c->name, name) == 0 && c->hits > 2; }\n",
        &[],
    );
    found.covers_all("counter_is");
    assert_eq!(reasons(&found, "counter_is"), Vec::<String>::new());
    let suite = found.suite("counter_is");
    assert!(suite.contains("    counter c = {0};\n") && suite.contains("counter_add(&c, "), "{suite}");
    assert!(suite.contains("counter_is(&c, \""), "{suite}");
}

const BOUNDED: &str = "struct level { int n; };\n\
     void level_init(struct level *l) { l->n = 0; }\n\
     void level_raise(struct level *l) { if (l->n < 3) l->n++; }\n\
     int level_bad(const struct level *l) { if (l->n > 5) return 1; return 0; }\n";

#[test]
fn a_state_that_no_call_reaches_is_covered_and_the_test_says_so() {
    let found = Generated::new(BOUNDED, &["-f", "level_bad"]);
    found.covers_all("level_bad");
    assert_eq!(reasons(&found, "level_bad"), ["heap_not_shown_reachable"]);
    let suite = found.suite("level_bad");
    assert_eq!(suite.matches("no API sequence constructs this state").count(), 1, "{suite}");
    assert!(suite.contains("level_init(&l);"), "{suite}");
}

#[test]
fn such_states_can_be_excluded_and_are_then_unknown() {
    let found = Generated::new(BOUNDED, &["-f", "level_bad", "--inputs", "api"]);
    assert_eq!(reasons(&found, "level_bad"), ["inputs"]);
    assert_eq!(found.with_status("level_bad", "infeasible"), Vec::<String>::new());
    assert_eq!(found.with_status("level_bad", "covered").len(), 1);
    assert!(!found.suite("level_bad").contains("no API sequence"));
}

#[test]
fn private_variables_get_their_values_by_calls() {
    let found = Generated::new(
        "enum state { IDLE, RUNNING, DONE };\n\
         static enum state state;\n\
         static int progress;\n\
         void start(void) { state = RUNNING; progress = 0; }\n\
         int step(int work) {\n\
             if (state != RUNNING) return -1;\n\
             if (work < 0 || work > 50) return -2;\n\
             progress += work;\n\
             if (progress >= 100) state = DONE;\n\
             return progress;\n\
         }\n",
        &["-f", "step"],
    );
    found.covers_all("step");
    assert_eq!(reasons(&found, "step"), Vec::<String>::new());
    let suite = found.suite("step");
    assert!(suite.contains("start();") && !suite.contains("state = ") && !suite.contains("progress = "), "{suite}");
}

#[test]
fn a_function_that_returns_an_existing_object_constructs_none() {
    let found = Generated::new(
        "struct log { int lines; };\n\
         static struct log shared;\n\
         struct log *log_create(void) { return &shared; }\n\
         int log_full(const struct log *l) { if (l->lines > 9) return 1; return 0; }\n",
        &["-f", "log_full"],
    );
    found.covers_all("log_full");
    assert!(!found.suite("log_full").contains("log_create"), "{}", found.suite("log_full"));
}

#[test]
fn a_creator_stores_the_address_of_its_object() {
    let found = Generated::new(
        "#include <stdlib.h>\n\
         struct stack { int depth; };\n\
         int stack_new(struct stack **out) {\n\
             struct stack *s = malloc(sizeof *s);\n\
             if (!s) return -1;\n\
             s->depth = 0; *out = s; return 0;\n\
         }\n\
         void stack_push(struct stack *s) { s->depth++; }\n\
         int stack_deep(const struct stack *s) { if (s->depth == 2) return 1; return 0; }\n\
         void stack_destroy(struct stack *s) { free(s); }\n",
        &["-f", "stack_deep"],
    );
    found.covers_all("stack_deep");
    assert_eq!(reasons(&found, "stack_deep"), Vec::<String>::new());
    let suite = found.suite("stack_deep");
    let created = "    struct stack *s = NULL;\n    CHECK_INT(0, stack_new(&s));\n    stack_push(s);\n";
    assert!(suite.contains(created) && suite.contains("    stack_destroy(s);\n}"), "{suite}");
}

const PLAIN: &str = "struct gauge { int level; };\n\
     void prepare(struct gauge *g) { g->level = 10; }\n\
     int gauge_low(const struct gauge *g) { if (g->level > 9) return 0; return 1; }\n";

#[test]
fn the_user_names_functions_that_initialise_objects() {
    let plain = Generated::new(PLAIN, &["-f", "gauge_low"]);
    assert!(!plain.suite("gauge_low").contains("prepare("), "{}", plain.suite("gauge_low"));
    let named = Generated::new(PLAIN, &["-f", "gauge_low", "--initialised-by", "gauge=prepare"]);
    named.covers_all("gauge_low");
    assert!(named.suite("gauge_low").contains("prepare(&g);"), "{}", named.suite("gauge_low"));
    for (value, why) in [("gauge=nothing", "no function `nothing`"), ("gouge=prepare", "is no `gouge *`")] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("p.c"), PLAIN).expect("a writable scratch directory");
        let output = touchstone(scratch.path(), &["generate", "p.c", "--initialised-by", value]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(why), "{said}");
    }
}

#[test]
fn tests_that_call_a_changed_function_are_renewed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let old = scratch.path().join("old");
    std::fs::create_dir(&old).expect("a writable scratch directory");
    for folder in [scratch.path(), &old] {
        std::fs::write(folder.join("p.c"), QUEUE).expect("a writable scratch directory");
    }
    let words = ["generate", "p.c", "-o", "out", "--format", "json", "-q"];
    assert!(touchstone(scratch.path(), &words).status.success());
    let suite = || std::fs::read_to_string(scratch.path().join("out/test_queue_pop.c")).expect("a suite");
    assert!(suite().contains("queue_create(1)"), "{}", suite());
    let changed = QUEUE.replace("capacity <= 0", "capacity <= 2");
    std::fs::write(scratch.path().join("p.c"), changed).expect("a writable scratch directory");
    let output = touchstone(scratch.path(), &[&words[..], &["--old", "old"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let tests = report["tests"].as_array().expect("tests").iter();
    let own: Vec<_> = tests.filter(|test| test["function"] == "queue_pop").collect();
    assert!(!own.is_empty() && own.iter().all(|test| test["replay"] == "agreed"), "{report:#}");
    assert!(!suite().contains("queue_create(1)"), "{}", suite());
}
