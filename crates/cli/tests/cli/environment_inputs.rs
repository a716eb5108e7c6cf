//! The environment of a program as inputs: external functions, arguments, standard input, environment variables. The
//! interpreter runs all answers over small domains: a covered objective has a witness, an infeasible one has none, and
//! nothing is unknown unless a bound says so. All emitted tests agree with the compiled program.

use crate::support;

use std::collections::BTreeSet;
use std::process::Command;
use touchstone_base::Id;
use touchstone_criteria::{
    CriteriaOptions, EnvironmentInput, GoalIndex, Incomplete, InputContent, REGISTRY, Replay, Status, TestCase,
    conclude, objectives,
};
use touchstone_engine::{
    CallInputs, ConcreteRun, Config, Entry, Goals, RunObservation, SearchEvent, Sink, explore_goals, watch_function,
    watch_program,
};
use touchstone_front_c::{EnvironmentInputs, Options, lower_files, write_headers};
use touchstone_interp::End;
use touchstone_ir::{FuncId, InputSource, Module};

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

fn lower(text: &str, environment: EnvironmentInputs) -> Module {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    write_headers(scratch.path()).expect("headers");
    let file = scratch.path().join("program.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let options = Options {
        include_dir: Some(scratch.path().to_path_buf()),
        environment_inputs: environment,
        ..Options::default()
    };
    lower_files(&[file], &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A function without parameters, or a program, with all answers that it can get.
struct Subject<'a> {
    text: &'a str,
    entry: Entry,
    environment: EnvironmentInputs,
    /// The maximum number of arguments and the maximum length of each.
    arguments: Option<(u32, u32)>,
    /// Bytes that texts are made of; all of them and none are tried at every place.
    alphabet: &'a [u8],
    /// The objectives that may stay unknown, with the reason; all others must be decided.
    open: &'a str,
}

impl Subject<'_> {
    fn run(&self, module: &Module, func: FuncId, answers: &[EnvironmentInput], watch: &GoalIndex) -> ConcreteRun {
        let look = RunObservation { watch: Some(watch), ..RunObservation::default() };
        match self.entry {
            Entry::Function => watch_function(
                module,
                func,
                CallInputs { earlier: &[], params: &[], globals: &[], objects: &[], answers },
                look,
            ),
            Entry::Program => watch_program(module, func, answers, look),
        }
    }

    /// Returns all strings up to a length.
    fn texts(&self, most: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut begin = 0;
        for _ in 0..most {
            let end = all.len();
            for text in begin..end {
                for &byte in self.alphabet {
                    let longer = [all[text].as_slice(), &[byte]].concat();
                    all.push(longer);
                }
            }
            begin = end;
        }
        all
    }

    /// All answers to a request. Numbers have a small value or its negative; the subjects ask for nothing else.
    fn answers(&self, request: &EnvironmentInput) -> Vec<Vec<u8>> {
        let size = request.bytes.len();
        let padded = |mut bytes: Vec<u8>| {
            bytes.resize(size, 0);
            bytes
        };
        match request.given() {
            InputContent::Stdin(_) => {
                let most = self.environment.stdin.expect("a size") as usize;
                let given = |text: Vec<u8>| padded([(text.len() as u32).to_le_bytes().as_slice(), &text].concat());
                self.texts(most).into_iter().map(given).collect()
            }
            InputContent::Variable(..) => {
                let set = self.texts(size - 2).into_iter().map(|text| padded([[1].as_slice(), &text].concat()));
                set.chain([vec![0; size]]).collect()
            }
            InputContent::File(_) | InputContent::Output(_) => panic!("no subject has files"),
            InputContent::FailingAllocation(_) => panic!("whole programs get their memory"),
            InputContent::Argument(_) | InputContent::Answer(_) => {
                (-2..=5i64).map(|value| value.to_le_bytes()[..size.min(8)].to_vec()).map(padded).collect()
            }
        }
    }

    /// The goals that some answers reach.
    fn reached(&self, module: &Module, func: FuncId, watch: &GoalIndex) -> BTreeSet<usize> {
        let mut pending: Vec<Vec<EnvironmentInput>> = vec![Vec::new()];
        if let Some((most, length)) = self.arguments {
            let words = self.texts(length as usize);
            let mut last = pending.clone();
            for number in 1..=most as usize {
                let with = |list: &Vec<EnvironmentInput>| {
                    let (source, name) = (InputSource::Argument, number.to_string());
                    let word = |word: &Vec<u8>| {
                        let mut bytes = word.clone();
                        bytes.resize(length as usize + 1, 0);
                        list.iter().cloned().chain([EnvironmentInput::of_bytes(source, name.clone(), bytes)]).collect()
                    };
                    words.iter().map(word).collect::<Vec<Vec<EnvironmentInput>>>()
                };
                last = last.iter().flat_map(with).collect();
                pending.extend(last.clone());
            }
        }
        let mut reached = BTreeSet::new();
        let mut runs = 0;
        while let Some(given) = pending.pop() {
            runs += 1;
            assert!(runs < 200_000, "too many answers");
            let run = self.run(module, func, &given, watch);
            match run.requested.get(given.len()) {
                Some(next) => pending.extend(self.answers(next).into_iter().map(|bytes| {
                    let next = EnvironmentInput::of_bytes(next.source, next.name.clone(), bytes);
                    given.iter().cloned().chain([next]).collect()
                })),
                None if matches!(run.end, End::Assumed) => {}
                None => reached.extend(run.hits.iter().map(|goal| goal.index())),
            }
        }
        reached
    }

    fn check(&self) {
        let module = lower(self.text, self.environment);
        let name = if self.entry == Entry::Program { "main" } else { "f" };
        let func = module.function_named(name).expect("the function");
        let criteria: Vec<_> = REGISTRY.iter().copied().filter(|criterion| criterion.name() != "labels").collect();
        let mut wanted = objectives(&module, &[func], &criteria, &CriteriaOptions::default());
        let watch = GoalIndex::new(&module, wanted.goals.clone());
        let closed = wanted.list.iter().filter(|(_, objective)| matches!(objective.status, Status::Infeasible(_)));
        let goals = Goals { closed: closed.map(|(id, _)| id).collect(), watch: watch.clone().into() };
        // All answers are tried, of a world in which nothing else happens.
        let assume = touchstone_criteria::AssumeOption::ALL.into();
        let config = Config { entry: self.entry, arguments: self.arguments, assume, ..Config::default() };
        let mut tests = Collect::default();
        let found = explore_goals(&module, func, goals, &config, &mut tests);
        for test in &tests.0 {
            assert!(!matches!(test.replayed, Replay::Disagreed(_)), "{}: {:?}\n{}", test.id, test.replayed, self.text);
        }
        for incomplete in &found.result.incomplete {
            let why = incomplete.why.to_string();
            let stated = matches!(&incomplete.why, Incomplete::Bound(_) | Incomplete::Unsupported(_));
            assert!(stated && !self.open.is_empty() && why.contains(self.open), "{why}\n{}", self.text);
        }
        conclude(&mut wanted, &tests.0, &found.ruling(&Default::default()), &module.files);
        let reached = self.reached(&module, func, &watch);
        let mut infeasible = 0;
        for (id, objective) in wanted.list.iter() {
            let what = format!("{} `{}` of\n{}", objective.id, objective.text, self.text);
            match &objective.status {
                Status::Covered(by) => {
                    let witness = |test: &&TestCase| by.contains(&test.id);
                    let test = tests.0.iter().find(witness).unwrap_or_else(|| panic!("covered by no test: {what}"));
                    let run = self.run(&module, func, &test.answers, &watch);
                    assert!(run.hits.contains(&id), "covered by {}, which doesn't: {what}", test.id);
                }
                Status::Infeasible(_) => {
                    infeasible += 1;
                    assert!(!reached.contains(&id.index()), "WRONG INFEASIBLE: {what}");
                }
                Status::Unknown(_) => assert!(!reached.contains(&id.index()), "missed: {what}"),
                Status::Uncovered | Status::Unaffected => panic!("uncovered: {what}"),
            }
        }
        if self.open.is_empty() {
            assert!(found.result.exhaustive, "{}", self.text);
            assert!(infeasible > 0, "nothing is infeasible here, so this checks nothing\n{}", self.text);
        }
    }
}

const INPUTS: EnvironmentInputs =
    EnvironmentInputs { externals: true, callbacks: true, stdin: None, environment: None, volatile: false };

#[test]
fn every_verdict_about_external_functions_is_what_all_their_answers_say() {
    let check = |text: &str| {
        let (entry, environment) = (Entry::Function, INPUTS);
        Subject { text, entry, environment, arguments: None, alphabet: &[], open: "" }.check();
    };
    check(
        "signed char next(void);\n\
         int f(void) { int n = 0; while (n < 3) { int v = next() & 3; if (v == 3) return n; if (v == 7) return 9; \
         if (v && n == 2) return -1; n++; } return n > 3; }",
    );
    check(
        "_Bool a(int x); short b(void);\n\
         int f(void) { int x = a(1) + a(2); if (x == 3) return 1; if (x == 2 && b() == b()) return 2; \
         return a(x) != (x > 0) || x == 1; }",
    );
    check(
        "struct pair { signed char a, b; }; struct pair two(void); void log_it(const char *, ...);\n\
         int f(void) { struct pair p = two(); log_it(\"%d\", p.a); int d = (p.a & 1) - (p.b & 1); \
         if (d == 2) return 2; return d ? d > 0 : 5; }",
    );
    check(
        "#include <time.h>\n\
         int f(void) { time_t a = time(0), b; time(&b); if (b < a) return 1; if (a < 0) return 2; return b - a == 3; }",
    );
    check(
        "#include <stdlib.h>\n\
         int f(void) { srand(5); int a = rand(); if (a < 0) return 1; if (a % 2 == 1 && random() == 4) return 2; return 0; }",
    );
    check(
        "static int twice(int x) { return 2 * (x & 3); } typedef int (*step)(int); signed char which(void);\n\
         static int other(int x) { return x + 1; } static step table[2] = {twice, other};\n\
         int f(void) { step s = table[which() & 1]; int r = s(3); if (r == 6) return 1; if (r == 5) return 2; return 0; }",
    );
}

#[test]
fn every_verdict_about_arguments_input_and_environment_is_what_all_of_them_say() {
    let none = EnvironmentInputs::default();
    let check = |text: &str, environment: EnvironmentInputs, arguments: Option<(u32, u32)>, open: &str| {
        Subject { text, entry: Entry::Program, environment, arguments, alphabet: b"-ab7 ", open }.check();
    };
    check(
        "#include <string.h>\n\
         int main(int argc, char **argv) { if (argc < 1) return 9; if (argc > 1 && !strcmp(argv[1], \"-a\")) return \
         argc == 3 && argv[2][0] == 'b' ? 1 : 2; return argv[argc] != 0; }",
        none,
        Some((2, 2)),
        "--argv",
    );
    let stdin = EnvironmentInputs { stdin: Some(3), ..none };
    check(
        "#include <stdio.h>\n\
         int main(void) { int c = getchar(); if (c == EOF) return 1; if (c > 255) return 9; \
         if (c == 'a') { c = getchar(); return c == 'b' ? 2 : c == EOF ? 3 : 4; } return 0; }",
        stdin,
        None,
        "",
    );
    check(
        "#include <stdio.h>\n\
         int main(void) { int n = 0, c; while ((c = getchar()) != EOF) n += c == 'a'; if (n == 4) return 9; return n == 3; }",
        stdin,
        None,
        "--stdin",
    );
    check(
        "#include <stdio.h>\n\
         int main(void) { int n = 5; if (scanf(\"%d\", &n) != 1) return 1; if (n == -7) return 2; return n == 77 ? 3 : 4; }",
        stdin,
        None,
        "--stdin",
    );
    let environment = EnvironmentInputs { environment: Some(2), ..none };
    check(
        "#include <stdlib.h>\n#include <string.h>\n\
         int main(void) { char *a = getenv(\"A\"); if (!a) return getenv(\"A\") != 0; if (!strcmp(a, \"ab\")) return 2; \
         char *b = getenv(\"B\"); return b && b[0] == a[0] ? 3 : 4; }",
        environment,
        None,
        "--env",
    );
}

/// Runs `generate` on a text: the standard output.
fn generate(text: &str, options: &[&str]) -> (String, String, i32) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("program.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(scratch.path()).env("NO_COLOR", "1").args(["generate", "program.c", "-o", "out"]).args(options);
    let output = command.output().expect("touchstone runs");
    let tests = std::fs::read_dir(scratch.path().join("out")).into_iter().flatten().flatten();
    let tests = tests
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test_")));
    let written: String = tests.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (shown, written, output.status.code().unwrap_or(-1))
}

#[test]
fn emitted_tests_give_the_compiled_program_the_same_surroundings() {
    let check = |text: &str, options: &[&str], lines: &[&str], least: u32| {
        let (shown, written, status) = generate(text, options);
        assert_eq!(status, 0, "{shown}");
        let last = shown.lines().find(|line| line.starts_with("replay: ")).unwrap_or("no replay");
        let agreed = last.strip_prefix("replay: ").and_then(|rest| rest.strip_suffix(" agreed")?.parse().ok());
        assert!(agreed.is_some_and(|agreed: u32| agreed >= least), "{last}\n{shown}\n{written}");
        for line in lines {
            assert!(written.contains(line), "{line}\n{written}");
        }
    };
    check(
        "int sensor(int channel); void note(const char *, ...); const char *label(int);\n\
         int f(int limit) { note(\"%d\", limit); if (label(3)) return 7; if (sensor(1) + sensor(2) > limit) return 1; return 0; }",
        &["--externals", "inputs", "-c", "branch"],
        &[
            "STUB(sensor, int, ",
            "STUB_OF_NOTHING(note, ",
            "RETURNS(int, sensor, ",
            "RETURNS(const char *, label, NULL);",
        ],
        2,
    );
    check(
        "#include <unistd.h>\n#include <time.h>\n\
         int f(void) { return getppid() == 42 ? time(0) > 7 ? 1 : 2 : clock() == 3 ? 4 : 5; }",
        &["--externals", "inputs", "-c", "branch"],
        &["STUB_TIME(time)", "STUB_OF_THE_WORLD(clock, ", "RETURNS(long, time, ", "RETURNS(long, clock, "],
        4,
    );
    check(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) { char line[4]; char *home = getenv(\"HOME\"); \
         if (argc == 2 && argv[1][0] == 'x') return 3; if (home && home[0] == '/') return 4; \
         return fgets(line, sizeof line, stdin) && line[1] == '\\n' ? 5 : 6; }",
        &["--argv", "1:1", "--stdin", "2", "--env", "1", "-c", "branch"],
        &[
            "char argument_1[2] = \"x\";",
            "char *arguments[] = {\"program\", argument_1, NULL};",
            "RUN_PROGRAM(2, arguments);",
            "ENVIRONMENT(\"HOME\", \"/\");",
            "STANDARD_INPUT(\"",
        ],
        4,
    );
    check(
        "typedef int (*test)(int);\nint f(test t, int x) { return t ? t(x) == 3 ? 1 : t(x + 1) : 2; }",
        &["--externals", "inputs", "-c", "branch"],
        &["RETURNS(int, touchstone_callback_1, 3);"],
        3,
    );
    check(
        "int g;\nint f(int *p, const char *s) { g = 1; *p = 5; if (g == 5) return 1; return s && s[0] == 'k' && s[1] == 'o'; }",
        &["--strings", "3", "-c", "mcdc"],
        &["f(&g, ", "char s[4] = \"ko\";"],
        5,
    );
}

#[test]
fn what_is_not_given_is_named_with_the_option_that_gives_it() {
    let check = |text: &str, options: &[&str], expected: &str| {
        let (shown, _, _) = generate(text, options);
        assert!(shown.contains(expected), "{expected}\n{shown}");
    };
    let reads = "#include <stdio.h>\nint main(int argc, char **argv) { return argc > 1 ? getchar() == 'x' : 0; }";
    check(reads, &["-c", "branch"], "arguments of the program (it is run without any; --argv makes them inputs)");
    check(reads, &["-c", "branch", "--argv", "1"], "standard input (--stdin makes it an input)");
    check(reads, &["--argv", "1", "-f", "main"], "--argv: only a whole program has arguments");
    check(reads, &["--argv", "1:x"], "expected a number up to 4096");
    check(reads, &["--argv", "99"], "expected N or N:LEN, with N up to 64 words");
    check(
        "int out(void);\nint f(void) { return out() ? 1 : 2; }",
        &["-c", "branch", "--externals", "named"],
        "external function out",
    );
    check(
        "_Noreturn void stop(void);\nint f(int x) { if (x) stop(); return 1; }",
        &["-c", "paths", "--externals", "named"],
        "external function stop",
    );
    // Only the library can make the object.
    check(
        "#include <stdio.h>\nint f(void) { return ftrylockfile(stdin) ? 1 : 2; }",
        &["-c", "paths"],
        "external function ftrylockfile",
    );
    check(
        "#include <stdlib.h>\nint f(char x) { char name[2] = {x, 0}; return getenv(name) ? 1 : 2; }",
        &["-c", "paths", "--env", "2"],
        "name of an input that depends on inputs",
    );
    check(
        "struct s { int a[100]; }; int fetch(struct s *to);\n\
         int f(void) { struct s x = {{1}}; if (!fetch(&x)) return 0; return x.a[0] == 1 ? 1 : 2; }",
        &["-c", "branch"],
        "what external function fetch writes through its arguments",
    );
    check(
        "char *find(void);\nint main(void) { return find() ? 1 : 2; }",
        &["-c", "branch", "--entry", "main"],
        "pointer other than null from external function find",
    );
}

/// All objectives are covered by tests that agree, and these lines are among them.
#[track_caller]
fn check_covered(text: &str, options: &[&str], objectives: u32, lines: &[&str]) {
    let (shown, written, status) = generate(text, &[&["-c", "branch"], options].concat());
    assert_eq!(status, 0, "{shown}\n{written}");
    assert!(shown.contains(&format!(" {objectives}/{objectives} ")), "{text}\n{shown}\n{written}");
    assert!(shown.contains(" agreed") && !shown.contains("disagreed"), "{shown}\n{written}");
    for line in lines {
        assert!(written.contains(line), "{line}\n{written}");
    }
}

#[test]
fn what_undefined_functions_leave_behind_is_an_input() {
    // Memory that is never written, and memory that may stay unchanged.
    check_covered(
        "int fetch(int *to);\nint f(void) { int x; if (fetch(&x)) return 0; return x == 77 ? 1 : 2; }",
        &[],
        4,
        &[
            "STUB_THAT_WRITES(fetch, int, (const void *a1), WRITTEN(fetch, to, a1), ADDRESS(a1))",
            "WRITES(int, fetch, to, 77);",
        ],
    );
    check_covered(
        "int fetch(int *to);\nint f(void) { int x = 5; if (!fetch(&x)) return 0; return x == 5 ? 1 : 2; }",
        &[],
        4,
        &["WRITES(int, fetch, to, "],
    );
    // A structure, an array, an enumeration; two parameters.
    check_covered(
        "enum mode { OFF, ON = 7 }; struct point { short x; enum mode m; double d; };\n\
         int fetch(struct point *at, float weights[3]);\n\
         int f(void) { struct point p; float w[3]; fetch(&p, w); if (p.m == ON && p.d > 2.5) return 1; return w[2] > 1.0f ? 2 : 3; }",
        &[],
        4,
        &["WRITES(struct point, fetch, at, {", ".m = ON"],
    );
    // Bytes with a length beside them, which may be less than there is room for.
    check_covered(
        "int receive(char *to, unsigned long size);\n\
         int f(unsigned long n) { char b[8] = \"\"; if (n > 8) return 0; receive(b, n); if (b[0] == 'o' && b[1] == 'k') return 1; return 2; }",
        &[],
        4,
        &["WRITES(char[", "receive, to, \"ok\""],
    );
    // A call that leaves nothing before one that does, with no result between them.
    check_covered(
        "void tick(int *at);\nint f(void) { int x = 1, y = 2; tick(&x); tick(&y); if (y == 3) return 1; return x; }",
        &[],
        2,
        &["KEEPS(tick, at);", "WRITES(int, tick, at, 3);"],
    );
    // Behind `void *` is what is there.
    check_covered(
        "void load(unsigned id, void *to);\nint f(void) { int x; load(3, &x); return x == -9 ? 1 : 2; }",
        &[],
        2,
        &["WRITES(int, load, to, -9);"],
    );
}

#[test]
fn undefined_functions_give_objects_and_change_globals() {
    check_covered(
        "struct node { int n; struct node *next; }; struct node *find(int key);\n\
         int f(int k) { struct node *p = find(k); if (!p) return 0; if (p->next && p->next->n == 4) return 1; return p->n == k; }",
        &[],
        4,
        &["RETURNS(struct node *, find, &find_result", "RETURNS(struct node *, find, NULL);"],
    );
    check_covered(
        "const char *name(void);\nint f(void) { const char *s = name(); if (s && s[0] == 'h' && s[1] == 'i' && !s[2]) return 1; return 0; }",
        &[],
        2,
        &["\"hi\""],
    );
    check_covered(
        "struct node { int n; }; int get(struct node **out);\n\
         int f(void) { struct node *p = 0; if (get(&p) != 0 || !p) return -1; return p->n == 12 ? 1 : 2; }",
        &[],
        4,
        &["WRITES(struct node *, get, out, &get_out"],
    );
    check_covered(
        "int mode; void wait(void);\nint f(void) { if (mode) return 0; wait(); if (mode == 9) return 1; return 2; }",
        &[],
        4,
        &["CHANGES(wait, mode, 9);"],
    );
    // What is said to be pure changes nothing.
    let text =
        "int mode; void wait(void);\nint f(void) { if (mode) return 0; wait(); if (mode == 9) return 1; return 2; }";
    support::verdicts::check(text, &["--externals", "pure"], [3, 1, 0]);
    let text = "void fill(int *); int f(void) { int x = 1; fill(&x); return x == 3 ? 1 : 2; }";
    support::verdicts::check(text, &["--externals", "pure"], [1, 1, 0]);
}

#[test]
fn a_function_that_never_returns_ends_the_test() {
    check_covered(
        "_Noreturn void stop(int why);\nint f(int x) { if (x > 3) stop(x); if (x == 2) return 1; return 2; }",
        &[],
        4,
        &["STUB_THAT_ENDS(stop, (int a1), a1)", "EXPECT_EXIT(0);"],
    );
}

#[test]
fn a_truth_value_that_is_an_input_is_0_or_1() {
    let text = "#include <klee/klee.h>\nint f(void) { _Bool b; klee_make_symbolic(&b, sizeof b, \"b\"); int n = b; if (n > 1) return 1; return n; }";
    support::verdicts::check(text, &[], [1, 1, 0]);
    let text = "#include <klee/klee.h>\nstruct s { int n; _Bool b[2]; };\n\
        int f(void) { struct s s; klee_make_symbolic(&s, sizeof s, \"s\"); if (s.b[0] + s.b[1] == 7) return 1; return 0; }";
    support::verdicts::check(text, &[], [1, 1, 0]);
}

#[test]
fn an_input_comes_from_where_it_was_made_whatever_its_name_looks_like() {
    let text = "#include <klee/klee.h>\nint sensor(int channel);\n\
        int main(void) { int a, b, c, d; klee_make_symbolic(&a, sizeof a, \"<argv 1>\"); klee_make_symbolic(&b, sizeof b, \"<stdin>\"); \
        klee_make_symbolic(&c, sizeof c, \"<volatile x>\"); klee_make_symbolic(&d, sizeof d, \"sensor\"); \
        if (a == 11) return 1; if (b == 12) return 2; if (c == 13) return 3; if (d == 14) return 4; return sensor(1) == 15 ? 5 : 0; }";
    let (shown, written, status) = generate(text, &["-c", "branch", "--externals", "inputs"]);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("replay: 6 agreed"), "{shown}\n{written}");
    let lines = [
        "INPUT_OF(int, \"<argv 1>\", 11);",
        "INPUT_OF(int, \"<stdin>\", 12);",
        "INPUT_OF(int, \"<volatile x>\", 13);",
        "INPUT_OF(int, \"sensor\", 14);",
    ];
    for line in lines.iter().chain(&["RETURNS(int, sensor, 15);"]) {
        assert!(written.contains(line), "{line}\n{written}");
    }
}

#[test]
fn reads_of_volatile_objects_make_no_harness_and_hide_none() {
    let harness =
        "#include <klee/klee.h>\nint g(int x) { return x > 3 ? 1 : 0; }\nint main(void) { return g(klee_int(\"x\")); }";
    let (shown, ..) = generate(harness, &["-c", "branch", "--volatile", "fresh"]);
    assert!(shown.lines().any(|line| line.starts_with("main ")), "{shown}");
    let none = "volatile int port;\nint g(int x) { return x > port ? 1 : 0; }\nint main(void) { return g(1); }";
    let (shown, ..) = generate(none, &["-c", "branch", "--volatile", "fresh"]);
    assert!(shown.lines().any(|line| line.starts_with("g ")), "{shown}");
}
