//! Methods without code, of interfaces and of native libraries, of which a file says what they do (`--world`): stubs of tests do that and nothing
//! else, and what is wrong with the file is named.

use std::path::Path;
use std::process::{Command, Output};

fn touchstone(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(folder).args(words).args(["--cache", "off"]).output().expect("touchstone runs")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const PUMP: &str = r#"package example;

interface Sensor {
    int read(int channel) throws java.io.IOException;
    String name();
}

class Device {
    native int level(int tank);
    static native int all();
    int full(int tank) {
        int level = level(tank);
        if (level > 100) return 2;
        return level == 100 ? 1 : 0;
    }
}

public class Pump {
    static int state(Sensor sensor, int channel) {
        try {
            int value = sensor.read(channel);
            if (value > 1023) return 9;
            return value < 10 ? 1 : 2;
        } catch (java.io.IOException e) {
            return channel < 0 ? -1 : -2;
        }
    }
    static int both(Sensor sensor) throws java.io.IOException {
        if (!sensor.name().equals("north")) return 0;
        int first = sensor.read(1), second = sensor.read(2);
        return first < second ? 1 : 2;
    }
    static int known(Sensor sensor) {
        if (sensor.name().equals("north")) return 1;
        return sensor.name().isEmpty() ? 2 : 3;
    }
}
"#;

const WORLD: &str = r#"example.Sensor.read(channel)
    when channel < 0    throws java.io.IOException
    when channel >= 0   returns 0 .. 1023
example.Sensor.name()
    returns "north"
    returns "south"
example.Device.level(tank)
    when tank < 4   returns 0 .. 100
    otherwise       fails
"#;

fn folder(world: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("Pump.java"), PUMP).expect("a file");
    std::fs::write(folder.path().join("w"), world).expect("a file");
    folder
}

#[test]
fn stubs_of_interfaces_and_native_methods_do_what_is_said() {
    let folder = folder(WORLD);
    let words = ["generate", "Pump.java", "-c", "branch", "--world", "w", "-o", "out", "--format", "json", "-q"];
    let output = touchstone(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let all = report["objectives"].as_array().expect("objectives");
    let open: Vec<&str> =
        all.iter().filter(|one| one["status"] != "covered").filter_map(|one| one["text"].as_str()).collect();
    // The description forbids this answer, but another implementation could give it.
    let expected =
        ["level > 100 is true", "value > 1023 is true", "channel < 0 is false", "sensor.name().isEmpty() is true"];
    assert_eq!(open, expected, "{report:#}");
    let tests = report["tests"].as_array().expect("tests");
    assert!(tests.len() > 5 && tests.iter().all(|test| test["replay"] == "agreed"), "{report:#}");
    let written = std::fs::read_to_string(folder.path().join("out/example/PumpTouchstoneTest.java")).expect("tests");
    assert!(
        written.contains("throw new java.io.IOException()") || written.contains("throw new IOException()"),
        "{written}"
    );
    let written = std::fs::read_to_string(folder.path().join("out/example/DeviceTouchstoneTest.java")).expect("tests");
    assert!(written.contains("new Device() {"), "{written}");
}

#[test]
fn what_is_wrong_with_a_description_is_named() {
    let cases = [
        ("example.Sensor.read(c)\n  when chanel < 0 returns 1\n", "w:2:8: cannot find symbol\n"),
        (
            "example.Sensor.read(c)\n  when c < 0 returns 1\n",
            "w:2:1: there is no case for a call of `example.Sensor.read` with c = 0\n",
        ),
        (
            "example.Sensor.read(c)\n  when c <= 0 returns 1 .. 3\n  when c >= 0 returns 2\n",
            "at lines 2 and 3, are for c = 0, result = 2\n",
        ),
        ("example.Sensor.read(c)\n  throws java.io.IOExceptoin\n", "w:2:10: `java.io.IOExceptoin` is no exception"),
        ("example.Sensor.read(c)\n  returns 1 writes c = 2\n", "w:2:20: methods of Java write nothing here\n"),
    ];
    for (world, expected) in cases {
        let folder = folder(world);
        let output = touchstone(folder.path(), &["generate", "Pump.java", "--world", "w", "-o", "out", "--no-replay"]);
        assert_eq!(output.status.code(), Some(1), "{world}\n{}", said(&output));
        assert!(said(&output).contains(expected), "{world}\n{}", said(&output));
    }
    let world = "example.Pump.known(s)\n  returns 0\nexample.Device.all()\n  returns 0\nSensor.read(c)\n  fails\nread(c)\n  fails\nexample.Sensor.write(c)\n fails\n";
    let folder = folder(world);
    let output = touchstone(
        folder.path(),
        &["generate", "Pump.java", "-f", "known", "--world", "w", "-o", "out", "--no-replay"],
    );
    let text = said(&output);
    for expected in [
        "w:1: the description of `example.Pump.known` is ignored: the program defines it",
        "w:3: the description of `example.Device.all` is ignored: tests cannot replace it",
        "w:5: the description of `Sensor.read` is ignored: its class was not found; write it with its package",
        "w:7: the description of `read` is ignored: its class was not found",
        "w:9: the description of `example.Sensor.write` is ignored: its class has no method of this name with this number of parameters",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}
