//! Entry points for fuzz targets; the readers are private otherwise.

use crate::clang::ast_reader::{PositionReader, read, read_bytes};
use crate::clang::flags::from_text;
use crate::clang::node::AstNode;
use std::path::Path;

/// Returns the declarations of an AST, read from memory and as a stream, or the errors.
///
/// If reading from memory succeeds, the stream gives the same. The converse is false: the stream drops line breaks, so
/// that it accepts a string that contains one, which is no JSON.
pub fn ast_readings(json: &[u8]) -> [Result<String, String>; 2] {
    touchstone_base::on_deep_stack(|| readings(json))
}

/// Returns the flags that a compile_commands.json has for `/nowhere/a.c`, or the error.
pub fn compile_commands_reading(text: &str) -> Result<Vec<String>, String> {
    from_text(text, Path::new("/nowhere/compile_commands.json"), Path::new("/nowhere/a.c"))
        .map_err(|error| error.to_string())
}

fn readings(json: &[u8]) -> [Result<String, String>; 2] {
    let shown = |nodes: &[AstNode], read: Result<(), serde_json::Error>| match read {
        Ok(()) => Ok(format!("{nodes:?}")),
        Err(error) => Err(error.to_string()),
    };
    let (mut whole, mut stream) = (Vec::new(), Vec::new());
    let from_memory = read_bytes(json, &mut PositionReader::default(), |_, node| whole.push(node));
    let from_stream = read(json, &mut PositionReader::default(), |_, node| stream.push(node));
    [shown(&whole, from_memory), shown(&stream, from_stream)]
}

#[cfg(test)]
mod tests {
    use super::{compile_commands_reading, readings};
    use touchstone_base::CorruptedInputs;

    #[test]
    fn a_damaged_database_of_compile_commands_gives_flags_or_an_error() {
        let whole = r#"[{"directory": "/x y", "file": "b.c", "command": "cc -DB b.c"},
  {"directory": "/nowhere", "file": "a.c", "command": "gcc -I inc -D'A=\"1 2\"' -c a.c -o a.o -MD -MF d -include c.h"},
  {"directory": ".", "file": "c.c", "arguments": ["cc", "-O2", "c.c"]}]"#;
        assert!(compile_commands_reading(whole).is_ok_and(|flags| flags.contains(&"-DA=\"1 2\"".to_string())));
        let (mut read, mut refused) = (0, 0);
        for damaged in CorruptedInputs::of(whole.as_bytes()).take(5000) {
            match compile_commands_reading(&String::from_utf8_lossy(&damaged)) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
    }

    const TEXT: &str = r#"{
  "id": "0x1", "kind": "TranslationUnitDecl", "loc": {}, "range": { "begin": {}, "end": {} },
  "inner": [
    {
      "id": "0x2", "kind": "VarDecl", "loc": { "offset": 4, "file": "a.c", "line": 1, "col": 5, "tokLen": 1 },
      "range": { "begin": { "offset": 0, "col": 1, "tokLen": 3 }, "end": {} },
      "name": "x", "type": { "desugaredQualType": "int", "qualType": "T" }, "storageClass": "static", "init": "c",
      "inner": [ { "id": "0x3", "kind": "UnaryOperator", "opcode": "-", "inner": [
        { "id": "0x4", "kind": "NoSuchExpr", "castKind": "NoSuchCast", "value": "5", "isArrow": true }, {}
      ] } ]
    }
  ]
}"#;

    #[test]
    fn both_readings_agree_and_carry_words_that_are_not_known() {
        let [whole, stream] = readings(TEXT.as_bytes());
        assert_eq!(whole, stream);
        let shown = whole.expect("an AST");
        for part in ["kind: VarDecl", "storage: Static", "opcode: Minus", "Other(\"NoSuchExpr\")", "kind: Absent"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn an_ast_that_is_cut_or_changed_at_any_byte_is_read_alike_or_refused() {
        for at in 0..TEXT.len() {
            let cut = &TEXT.as_bytes()[..at];
            assert!(readings(cut).iter().all(Result::is_err), "cut at {at}");
            for byte in [b'"', b'{', b'9', b'\n', 0xff] {
                let mut changed = TEXT.as_bytes().to_vec();
                changed[at] = byte;
                let [whole, stream] = readings(&changed);
                assert!(whole.is_err() || whole == stream, "byte {at} is {byte}: {whole:?}, {stream:?}");
            }
        }
    }
}
