//! scratch
use touchstone_interp::{End, Limits, Machine, PathRecorder, Value};
fn main() {
    for file in std::env::args().skip(1) {
        let module = match touchstone_front_c::lower_files(&[file.clone().into()], &Default::default()) {
            Ok(m) => m,
            Err(e) => {
                println!("{file}: ERROR {}", e.to_string().lines().take(3).collect::<Vec<_>>().join(" | "));
                continue;
            }
        };
        let errors = touchstone_ir::verify(&module);
        if !errors.is_empty() {
            println!("{file}: VERIFY {errors:?}");
            continue;
        }
        let Some(main) = module.function_named("main") else {
            println!("{file}: NOMAIN");
            continue;
        };
        let mut machine = Machine::new(&module, Limits { steps: 100_000_000, ..Limits::default() });
        let mut r = PathRecorder::default();
        let args: Vec<Value> = module.functions[main].params.iter().map(|_| Value::Int(0)).collect();
        let end = machine.call(main, &args, &mut r);
        let status = match end {
            End::Returned(Some(Value::Int(s))) => s as i32 & 255,
            End::Exited(s) => s & 255,
            End::Error { kind, span } => {
                println!("{file}: RUNERR {kind} {}", span.display(&module.files));
                continue;
            }
            End::Unsupported { what, span } => {
                println!("{file}: UNSUPPORTED {what} {}", span.display(&module.files));
                continue;
            }
            other => {
                println!("{file}: OTHER {other:?}");
                continue;
            }
        };
        let d = tempfile::tempdir().unwrap();
        let p = d.path().join("p");
        let c =
            std::process::Command::new("gcc").args(["-w", "-fwrapv", "-O0", "-o"]).arg(&p).arg(&file).output().unwrap();
        if !c.status.success() {
            println!("{file}: NOGCC");
            continue;
        }
        let o = std::process::Command::new(&p).output().unwrap();
        let ok = o.stdout == r.output && o.status.code() == Some(status);
        println!(
            "{file}: {}",
            if ok {
                "ok".to_string()
            } else {
                format!(
                    "DIFF {status} vs {:?}\n--ours\n{}\n--gcc\n{}",
                    o.status.code(),
                    String::from_utf8_lossy(&r.output),
                    String::from_utf8_lossy(&o.stdout)
                )
            }
        );
    }
}
