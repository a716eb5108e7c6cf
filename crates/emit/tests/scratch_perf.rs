mod common;
use common::*;
use std::time::Instant;
use touchstone_criteria::Replay;
use touchstone_ir::DataValue;
#[test]
fn perf() {
    let n: i64 = std::env::var("PERF_N").ok().and_then(|t| t.parse().ok()).unwrap_or(10000);
    let errors: bool = std::env::var("PERF_ERR").is_ok();
    let mut bench = Bench::new(
        "#include <stdio.h>\n#include <string.h>\nint match(const char *p, const char *s) {\n    return p[0] == s[0] ? p[2] / (int)(p[3]-42+1) : 0;\n}\n",
    );
    let p = bench.pointer(bench.char);
    bench.function("match", &[("pattern", p), ("text", p)], bench.int);
    let tests: Vec<_> = (0..n)
        .map(|i| {
            let pat = vec![b'a', b'b', (i % 100) as u8, if errors { 41 } else { 42 }, b'c', 0];
            let txt = vec![b'a', b'b', (i % 50) as u8, b'x', b'c', 0];
            let mut t = bench.test(
                &format!("match_{i}"),
                "match",
                vec![to(0), if std::env::var("PERF_NULL").is_ok() { null() } else { to(1) }],
                vec![object("pattern", bench.char, chars(&pat)), object("text", bench.char, chars(&txt))],
            );
            t.description = "p[0] == '*': false, p[0] == s[0]: true, p[1] == 0: false".into();
            if errors {
                t.outcome = error(
                    if std::env::var("PERF_NULL").is_ok() {
                        touchstone_ir::ErrorKind::NullPointer
                    } else {
                        touchstone_ir::ErrorKind::DivisionByZero
                    },
                    4,
                );
            } else {
                t.expected.result = Some(DataValue::Int((i % 100) as u64));
                t.expected.objects = vec![chars(&pat), chars(&txt)];
            }
            t
        })
        .collect();
    let begin = Instant::now();
    let suite = bench.write(&tests);
    println!("write {:?}", begin.elapsed());
    let begin = Instant::now();
    let mut first = None;
    let v = touchstone_emit::replay(&suite, &bench.module, &bench.target, &tests, &mut |d| {
        if d == 1 {
            first = Some(begin.elapsed());
        }
    })
    .unwrap();
    println!("replay {:?} first {:?}", begin.elapsed(), first);
    let bad: Vec<_> = v.iter().filter(|v| **v != Replay::Agreed).collect();
    println!("bad {} {:?}", bad.len(), bad.first());
    println!("{}", std::fs::read_to_string(&suite).unwrap().lines().take(24).collect::<Vec<_>>().join("\n"));
}
