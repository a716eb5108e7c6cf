//! Functions that would harm their user if their tests ran as they are.

use crate::trial::room::Room;

/// Harmful tested functions, with `VICTIM` for a file of the user. Neither the file nor its folder may change.
const HARMS: &[&str] = &[
    "unlink(VICTIM);",
    "remove(VICTIM);",
    "rename(VICTIM, VICTIM \".gone\");",
    "{ FILE *t = fopen(VICTIM, \"w\"); if (t) { fputs(\"gone\", t); fclose(t); } }",
    "{ FILE *t = fopen(VICTIM \".new\", \"w\"); if (t) fclose(t); }",
    "remove(\"victim\");",
];

#[test]
fn no_tested_function_harms_its_user() {
    for harm in HARMS {
        let room = Room::new();
        let victim = room.file("victim", "precious");
        let source = format!(
            "#include <stdio.h>\n#include <unistd.h>\n#define VICTIM \"{}\"\n\
             int f(int x) {{\n    int r = x == 7 ? 1 : 2;\n    {harm}\n    return r;\n}}\n",
            victim.display()
        );
        room.file("f.c", source);
        // With stubs, and without.
        let output = room.touchstone(&["generate", "f.c", "-f", "f", "-o", "out"]);
        assert_ne!(output.status.code(), Some(4), "{harm}: a disagreement");
        let output = room.touchstone(&["generate", "f.c", "-f", "f", "-o", "out", "--externals", "named"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(room.read("victim"), "precious", "{harm}\n{said}");
        let mut names: Vec<_> = std::fs::read_dir(room.path())
            .expect("readable")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["f.c", "out", "victim"], "{harm}\n{said}");
        assert_ne!(output.status.code(), Some(4), "{harm}: a disagreement\n{said}");
    }
}
