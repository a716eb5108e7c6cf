//! Class files, images and jars of the installed JDKs are read, and damaged ones are rejected.

use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_base::CorruptedInputs;
use touchstone_front_java::classfile::{ClassFile, Constant, Insn, decode};
use touchstone_front_java::path::{ClassPath, Image, Jar};

/// Returns every JDK with an image; CI has at least one.
fn jdks() -> Vec<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").expect("a JDK is installed").flatten().map(|entry| entry.path());
    let mut homes: Vec<PathBuf> =
        homes.filter(|home| home.join("lib/modules").is_file()).filter_map(|home| home.canonicalize().ok()).collect();
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty(), "no JDK under /usr/lib/jvm");
    homes
}

fn compiled(directory: &Path, name: &str, source: &str) -> Vec<u8> {
    let file = directory.join(format!("{name}.java"));
    std::fs::write(&file, source).expect("written");
    let status = Command::new("javac").arg("-g").arg("-d").arg(directory).arg(&file).status().expect("javac runs");
    assert!(status.success());
    std::fs::read(directory.join(format!("{name}.class"))).expect("a class file")
}

const SOURCE: &str = r#"
public class Sample {
    static final long BIG = 1234567890123L;
    static final String TEXT = "a\u0000\ud83d\ude00\ud83d";
    int[][] grid = new int[3][4];
    int many(int x, long y, double d, String s) throws Exception {
        int sum = 0;
        switch (x) { case 1: case 2: case 3: sum += 5; break; case 1000: sum = 7; break; default: sum--; }
        switch (x) { case 1: sum++; break; case 100000: sum += 300; }
        try { sum += s.length() + (int) (y << 3) + (int) d; } catch (RuntimeException e) { sum = -1; } finally { sum *= 2; }
        Runnable r = () -> System.out.println(s + x);
        synchronized (this) { r.run(); }
        return sum;
    }
}
"#;

#[test]
fn a_class_of_javac_is_read_with_its_constants_code_handlers_and_lines() {
    let scratch = tempfile::tempdir().expect("a directory");
    let class = ClassFile::read(&compiled(scratch.path(), "Sample", SOURCE)).expect("well-formed");
    assert_eq!(&*class.name, "Sample");
    assert_eq!(class.superclass.as_deref(), Some("java/lang/Object"));
    let constant = |name: &str| {
        let field = class.fields.iter().find(|field| &*field.name == name).expect("the field");
        class.pool.get(field.constant().expect("a constant")).expect("it is there").clone()
    };
    assert_eq!(constant("BIG"), Constant::Long(1_234_567_890_123));
    let Constant::String(text) = constant("TEXT") else { panic!("a string") };
    assert_eq!(class.pool.text(text).expect("a text").units(), [97, 0, 0xd83d, 0xde00, 0xd83d]);
    let many = &class.methods[class.method("many", "(IJDLjava/lang/String;)I").expect("the method")];
    let code = many.code().expect("code");
    let insns = decode(&code.bytes, code.offset).expect("well-formed code");
    assert_eq!(insns.iter().filter(|insn| matches!(insn.insn, Insn::Switch(..))).count(), 2);
    assert!(insns.iter().any(|insn| matches!(insn.insn, Insn::InvokeDynamic(_))));
    assert!(code.handlers.iter().any(|handler| handler.class.as_deref() == Some("java/lang/RuntimeException")));
    assert!(code.handlers.iter().any(|handler| handler.class.is_none()));
    assert_eq!(code.line(0), 7);
    assert_eq!(code.local_name(1, 0).map(|name| &**name), Some("x"));
    assert_eq!(class.source_file().map(|name| &**name), Some("Sample.java"));
}

#[test]
fn every_class_of_java_base_is_read_and_its_code_decoded() {
    for home in jdks() {
        let image = Image::open(&home.join("lib/modules")).expect("an image");
        let names = image.classes_of("java.base");
        assert!(names.len() > 5000, "{} classes in {}", names.len(), home.display());
        let mut methods = 0;
        for name in names {
            let bytes = match image.class(&name).expect("readable") {
                Some(bytes) => bytes,
                None => image.resource(&format!("/java.base/{name}.class")).expect("readable").expect("it is listed"),
            };
            let class = ClassFile::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            for method in &class.methods {
                if let Some(code) = method.code() {
                    decode(&code.bytes, code.offset).unwrap_or_else(|error| panic!("{name}.{}: {error}", method.name));
                    methods += 1;
                }
            }
        }
        assert!(methods > 50_000, "{methods} methods");
    }
}

#[test]
fn damaged_class_files_are_refused_or_read_and_never_panic() {
    let scratch = tempfile::tempdir().expect("a directory");
    let whole = compiled(scratch.path(), "Sample", SOURCE);
    let (mut read, mut refused) = (0, 0);
    for damaged in CorruptedInputs::of(&whole).take(20_000) {
        match ClassFile::read(&damaged) {
            Ok(class) => {
                read += 1;
                for code in class.methods.iter().filter_map(|method| method.code()) {
                    let _ = decode(&code.bytes, code.offset);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.offset <= damaged.len(), "{error} in {} bytes", damaged.len());
            }
        }
    }
    assert!(read > 100 && refused > 1000, "{read} read, {refused} refused");
}

#[test]
fn what_is_no_class_file_is_refused_with_place_and_reason() {
    let refused = |bytes: &[u8]| ClassFile::read(bytes).expect_err("refused").to_string();
    assert_eq!(refused(b""), "4 bytes expected, 0 left at byte 0");
    assert_eq!(refused(b"\x7fELF...."), "no class file: it does not begin with CAFEBABE at byte 0");
    let newer = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 70];
    assert_eq!(refused(&newer), "class file version 70.0; known are 45 to 69 (Java 25) at byte 4");
}

#[test]
fn code_that_leaves_the_code_is_refused() {
    for (code, reason) in [
        (&[0x00][..], "control runs out of the code at byte 11"),
        (&[0xa7, 0, 9, 0xb1], "a jump to 9, where no instruction begins at byte 10"),
        (&[0xa7, 0xff, 0xf0], "a jump to -16 at byte 13"),
        (&[0x10], "1 bytes expected, 0 left at byte 11"),
        (&[0xcb], "the unknown opcode 203 at byte 10"),
        (&[0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff], "a switch from 0 to 2147483647 at byte 26"),
    ] {
        assert_eq!(decode(code, 10).expect_err("refused").to_string(), reason, "{code:?}");
    }
}

#[test]
fn classes_come_from_the_image_from_directories_and_from_jars() {
    let scratch = tempfile::tempdir().expect("a directory");
    compiled(scratch.path(), "Sample", SOURCE);
    let jar = scratch.path().join("sample.jar");
    let made = Command::new("jar")
        .args(["cfe", "sample.jar", "Sample", "Sample.class"])
        .current_dir(scratch.path())
        .status()
        .expect("jar runs");
    assert!(made.success());
    assert_eq!(Jar::open(&jar).expect("a jar").manifest("Main-Class").expect("readable").as_deref(), Some("Sample"));
    for home in jdks() {
        for place in [scratch.path(), &jar] {
            let path = ClassPath::new(&home, &[place.to_path_buf()]).expect("a class path");
            let found = path.find("Sample").expect("readable").expect("it is there");
            assert!(!found.of_jdk && ClassFile::read(&found.bytes).is_ok());
            let object = path.find("java/util/ArrayList").expect("readable").expect("it is there");
            assert!(object.of_jdk && ClassFile::read(&object.bytes).is_ok());
            assert!(path.find("java/util/NoSuchClass").expect("readable").is_none());
            assert!(path.find("../Sample").expect("readable").is_none());
        }
    }
}

#[test]
fn a_file_that_is_no_jar_and_a_damaged_jar_are_refused_with_their_name() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = scratch.path().join("bad.jar");
    std::fs::write(&file, "this is no jar").expect("written");
    let error = Jar::open(&file).expect_err("refused").to_string();
    assert!(error.ends_with("bad.jar: no jar: it has no zip directory at byte 0"), "{error}");
    compiled(scratch.path(), "Sample", SOURCE);
    let made = Command::new("jar").args(["cf", "s.jar", "Sample.class"]).current_dir(scratch.path()).status();
    assert!(made.expect("jar runs").success());
    let whole = std::fs::read(scratch.path().join("s.jar")).expect("a jar");
    for damaged in CorruptedInputs::of(&whole).take(500) {
        std::fs::write(&file, damaged).expect("written");
        if let Ok(jar) = Jar::open(&file) {
            let names: Vec<String> = jar.names().map(str::to_string).collect();
            for name in names {
                let _ = jar.read(&name);
            }
        }
    }
}
