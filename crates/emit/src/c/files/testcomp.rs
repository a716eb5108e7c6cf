//! Test-Comp's exchange format: tests of a whole program as a directory of XML files, and as a zip archive.
//!
//! `test-suite/metadata.xml` describes the program, `test-suite/testcase-N.xml` contains one `input` for each value
//! that the program requests by `__VERIFIER_nondet_TYPE()`, in order. A program that requests inputs in another way
//! cannot be expressed, and the error names the input.
//!
//! Deliberately not here: expected results. The format contains inputs only.

use crate::EmitError;
use crate::archive::zip;
use crate::c::build::configuration::Build;
use crate::sha256::sha256;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use touchstone_base::{check_confined, write_beside};
use touchstone_criteria::{EnvironmentInput, TestCase, TestKind};
use touchstone_ir::{FuncId, Module, sign_extend};

/// The suite of a program; every test is a file.
pub struct TestCompSuite {
    dir: PathBuf,
    /// The name and contents of every file, for the archive.
    files: Vec<(String, String)>,
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";

/// The prefix of functions that request a value.
pub(crate) const NONDET: &str = "__VERIFIER_nondet_";

impl TestCompSuite {
    /// Creates `test-suite` in `dir`, which is created if needed; an older suite is overwritten.
    pub fn create(
        dir: &Path,
        module: &Module,
        entry: FuncId,
        target: &Build,
        producer: &str,
    ) -> Result<TestCompSuite, EmitError> {
        let folder = dir.join("test-suite");
        check_confined(dir, &folder).map_err(EmitError::io(&folder))?;
        refuse_foreign(&folder)?;
        refuse_foreign_archive(&dir.join("test-suite.zip"))?;
        fs::create_dir_all(&folder).map_err(EmitError::io(&folder))?;
        for number in 1.. {
            let old = folder.join(test_name(number));
            if !old.exists() {
                break;
            }
            fs::remove_file(&old).map_err(EmitError::io(&old))?;
        }
        let function = &module.functions[entry];
        let unit = &target.units[target.unit_defining(module, function)?];
        let source = fs::read(&unit.path).map_err(EmitError::io(&unit.path))?;
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let fields = [
            ("sourcecodelang", "C".to_string()),
            ("producer", producer.to_string()),
            ("specification", "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )".to_string()),
            ("programfile", unit.path.display().to_string()),
            ("programhash", sha256(&source)),
            ("entryfunction", function.name.clone()),
            ("architecture", "64bit".to_string()),
            ("creationtime", timestamp(seconds)),
        ];
        let mut text = format!(
            "{XML}<!DOCTYPE test-metadata PUBLIC \"+//IDN sosy-lab.org//DTD test-format test-metadata 1.1//EN\" \
             \"https://sosy-lab.org/test-format/test-metadata-1.1.dtd\">\n<test-metadata>\n"
        );
        for (name, value) in fields {
            text.push_str(&format!("  <{name}>{}</{name}>\n", escape(&value)));
        }
        text.push_str("</test-metadata>\n");
        let mut suite = TestCompSuite { dir: dir.to_path_buf(), files: Vec::new() };
        suite.write("metadata.xml".to_string(), text)?;
        Ok(suite)
    }

    /// Writes a test.
    pub fn add(&mut self, test: &TestCase) -> Result<(), EmitError> {
        let TestKind::Program = test.kind else {
            return Err(EmitError::NotTestComp { why: format!("`{}` is called directly", test.function) });
        };
        let mut text = format!(
            "{XML}<!DOCTYPE testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
             \"https://sosy-lab.org/test-format/testcase-1.1.dtd\">\n<testcase>\n"
        );
        for input in &test.answers {
            let (ty, value) = input_value(input).ok_or_else(|| EmitError::NotTestComp {
                why: format!("the input `{}` is requested in another way", input.title()),
            })?;
            text.push_str(&format!("  <input type=\"{ty}\">{value}</input>\n"));
        }
        text.push_str("</testcase>\n");
        self.write(test_name(self.files.len()), text)
    }

    /// Writes `test-suite.zip`, and returns its path.
    pub fn finish(&self) -> Result<PathBuf, EmitError> {
        let path = self.dir.join("test-suite.zip");
        let named = self.files.iter().map(|(name, text)| (format!("test-suite/{name}"), text.as_bytes()));
        write_beside(&path, zip(named)).map_err(EmitError::io(&path))?;
        Ok(path)
    }

    fn write(&mut self, name: String, text: String) -> Result<(), EmitError> {
        let path = self.dir.join("test-suite").join(&name);
        write_beside(&path, &text).map_err(EmitError::io(&path))?;
        self.files.push((name, text));
        Ok(())
    }
}

/// Fails if another tool wrote the suite.
fn refuse_foreign(folder: &Path) -> Result<(), EmitError> {
    let filled = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let metadata = folder.join("metadata.xml");
    let ours = fs::read_to_string(&metadata).is_ok_and(|text| text.contains("<producer>touchstone"));
    if filled && !ours { Err(EmitError::NotOurs { path: folder.to_path_buf() }) } else { Ok(()) }
}

/// Fails if the archive exists and does not begin like ours.
fn refuse_foreign_archive(path: &Path) -> Result<(), EmitError> {
    const FIRST_ENTRY: &[u8] = b"test-suite/metadata.xml";
    const LOCAL_HEADER_BYTES: usize = 30;
    let Ok(bytes) = fs::read(path) else { return Ok(()) };
    let ours = bytes.get(LOCAL_HEADER_BYTES..).is_some_and(|rest| rest.starts_with(FIRST_ENTRY));
    if ours || bytes.is_empty() { Ok(()) } else { Err(EmitError::NotOurs { path: path.to_path_buf() }) }
}

fn test_name(number: usize) -> String {
    format!("testcase-{number}.xml")
}

/// Returns the C type of an input and its value in decimal, or `None` unless `__VERIFIER_nondet_*` requests it.
fn input_value(input: &EnvironmentInput) -> Option<(&'static str, String)> {
    let (ty, signed) = match input.name.strip_prefix(NONDET)? {
        "bool" => ("_Bool", false),
        "char" => ("char", true),
        "uchar" | "unsigned_char" | "u8" => ("unsigned char", false),
        "short" => ("short", true),
        "ushort" | "u16" => ("unsigned short", false),
        "int" => ("int", true),
        "uint" | "unsigned" | "u32" | "U32" => ("unsigned int", false),
        "size_t" => ("size_t", false),
        "schar" | "S8" | "int8" => ("signed char", true),
        "uint8" => ("unsigned char", false),
        "int16" => ("short", true),
        "uint16" => ("unsigned short", false),
        "int32" => ("int", true),
        "uint32" => ("unsigned int", false),
        "int64" | "ssize_t" => ("long", true),
        "uint64" | "u64" | "sector_t" | "pthread_t" => ("unsigned long", false),
        "loff_t" => ("long long", true),
        "long" => ("long", true),
        "ulong" => ("unsigned long", false),
        "longlong" => ("long long", true),
        "ulonglong" => ("unsigned long long", false),
        "float" => {
            let bytes: [u8; 4] = input.bytes.as_slice().try_into().ok()?;
            return Some((
                "float",
                decimal(f64::from(f32::from_le_bytes(bytes)), |_| format!("{:?}", f32::from_le_bytes(bytes))),
            ));
        }
        "double" => {
            let bytes: [u8; 8] = input.bytes.as_slice().try_into().ok()?;
            return Some(("double", decimal(f64::from_le_bytes(bytes), |value| format!("{value:?}"))));
        }
        _ => return None,
    };
    let mut wide = [0; 8];
    wide.get_mut(..input.bytes.len())?.copy_from_slice(&input.bytes);
    let value = u64::from_le_bytes(wide);
    let bits = u8::try_from(input.bytes.len() * 8).ok()?;
    Some((ty, if signed { sign_extend(value, bits).to_string() } else { value.to_string() }))
}

/// Returns a float in the notation of `scanf`.
fn decimal(value: f64, shortest: impl Fn(f64) -> String) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match value {
        _ if value.is_nan() => format!("{sign}nan"),
        _ if value.is_infinite() => format!("{sign}inf"),
        _ => shortest(value),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns seconds since 1970 as ISO 8601 in UTC.
fn timestamp(seconds: u64) -> String {
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_written_as_its_type_reads_it() {
        let check = |name: &str, bytes: &[u8], expected: Option<(&'static str, &str)>| {
            let input = EnvironmentInput::of_bytes(touchstone_ir::InputSource::Request, name, bytes.to_vec());
            assert_eq!(input_value(&input), expected.map(|(ty, value)| (ty, value.to_string())), "{name}");
        };
        check("__VERIFIER_nondet_int", &[0xff; 4], Some(("int", "-1")));
        check("__VERIFIER_nondet_uint", &[0xff; 4], Some(("unsigned int", "4294967295")));
        check("__VERIFIER_nondet_char", &[0x80], Some(("char", "-128")));
        check("__VERIFIER_nondet_uchar", &[0x80], Some(("unsigned char", "128")));
        check("__VERIFIER_nondet_bool", &[1], Some(("_Bool", "1")));
        check("__VERIFIER_nondet_long", &i64::MIN.to_le_bytes(), Some(("long", "-9223372036854775808")));
        check("__VERIFIER_nondet_ulong", &[0xff; 8], Some(("unsigned long", "18446744073709551615")));
        check("__VERIFIER_nondet_float", &0.1f32.to_le_bytes(), Some(("float", "0.1")));
        check("__VERIFIER_nondet_double", &(-0.0f64).to_le_bytes(), Some(("double", "-0.0")));
        check("__VERIFIER_nondet_double", &f64::NEG_INFINITY.to_le_bytes(), Some(("double", "-inf")));
        check("__VERIFIER_nondet_double", &f64::NAN.to_le_bytes(), Some(("double", "nan")));
        check("__VERIFIER_nondet_pointer", &[0; 8], None);
        check("price", &[0; 4], None);
    }

    #[test]
    fn a_time_is_the_date_that_it_is() {
        let check = |seconds, expected: &str| assert_eq!(timestamp(seconds), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_735_689_599, "2024-12-31T23:59:59Z");
    }
}
