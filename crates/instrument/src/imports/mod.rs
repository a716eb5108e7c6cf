//! Coverage of other tools: JSON of llvm-cov and gcov (also compressed), and LCOV tracefiles.
//!
//! Deliberately not here: what the data means for objectives (`touchstone_campaign`), where it may be unknown.

mod gcov_json;
mod imported_coverage;
mod lcov_tracefile;
mod llvm_cov_json;

pub use imported_coverage::{FileCoverage, ImportedCoverage, LineColumn, LineCoverage};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The reason why a file can't be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ImportError {
    #[error("can't read {}", path.display())]
    NotReadable { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is no coverage that can be read ({why}); known are a directory that `touchstone measure -o` wrote, the JSON of \
         `llvm-cov export` and of `gcov --json-format`, and LCOV tracefiles",
        path.display()
    )]
    NotCoverage { path: PathBuf, why: String },
}

impl ImportedCoverage {
    /// Reads a file in any of the formats.
    pub fn read(path: &Path) -> Result<ImportedCoverage, ImportError> {
        let mut bytes = Vec::new();
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|source| ImportError::NotReadable { path: path.to_path_buf(), source })?;
        ImportedCoverage::parse(&bytes).map_err(|why| ImportError::NotCoverage { path: path.to_path_buf(), why })
    }

    /// Parses the contents of a file. The error says why it has none of the formats.
    pub fn parse(bytes: &[u8]) -> Result<ImportedCoverage, String> {
        let inflated = if bytes.starts_with(&[0x1f, 0x8b]) { Some(inflate(bytes)?) } else { None };
        let bytes = inflated.as_deref().unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| "it is no text".to_string())?;
        if !text.trim_start().starts_with('{') {
            return lcov_tracefile::read(text);
        }
        let json: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match (json.get("type").and_then(|word| word.as_str()), json.get("gcc_version")) {
            (Some("llvm.coverage.json.export"), _) => llvm_cov_json::read(&json),
            (_, Some(_)) => gcov_json::read(&json),
            (_, None) if json.get("schema_version").is_some() => {
                Err("it is a report of touchstone: give the directory of the measurement".to_string())
            }
            (_, None) => Err("it is JSON of something else".to_string()),
        }
    }
}

/// Decompresses a gzip file.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let broken = || "it is a damaged gzip file".to_string();
    let flags = *bytes.get(3).ok_or_else(broken)?;
    let mut at = 10;
    if flags & 4 != 0 {
        let length = bytes.get(at..at + 2).ok_or_else(broken)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // The name and the comment end with a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let rest = bytes.get(at..).ok_or_else(broken)?;
            at += rest.iter().position(|byte| *byte == 0).ok_or_else(broken)? + 1;
        }
    }
    at += if flags & 2 != 0 { 2 } else { 0 };
    let data = bytes.get(at..).ok_or_else(broken)?;
    miniz_oxide::inflate::decompress_to_vec_with_limit(data, 1 << 30).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    const LCOV: &str = "TN:\nSF:/p/a.c\nDA:3,5\nDA:4,0\nBRDA:3,0,0,2\nBRDA:3,0,1,-\nMCDC:7,2,t,1,0,a\nMCDC:7,2,f,1,0,a\nMCDC:7,2,t,1,1,b\nMCDC:7,2,f,0,1,b\nend_of_record\n";

    #[test]
    fn a_tracefile_says_lines_branches_and_conditions() {
        let read = ImportedCoverage::parse(LCOV.as_bytes()).expect("a tracefile");
        let seen = &read.files["/p/a.c"];
        assert_eq!((seen.lines[&3], seen.lines[&4]), (LineCoverage::Some, LineCoverage::Not));
        assert_eq!(seen.branches[&3], [true, false]);
        assert_eq!(seen.decisions_in_line[&(7, 2)], Some(vec![(true, true), (true, false)]));
    }

    #[test]
    fn what_is_no_coverage_says_why_and_damaged_files_never_panic() {
        let why = |text: &str| ImportedCoverage::parse(text.as_bytes()).expect_err("no coverage");
        assert!(why("{}").contains("something else") && why("{\"schema_version\": 1}").contains("touchstone"));
        assert!(why("hello\n").contains("no tracefile") && why("").contains("empty"));
        assert!(why("{\"type\": \"llvm.coverage.json.export\"}").contains("data"));
        let llvm = r#"{"type":"llvm.coverage.json.export","version":"2.0.1","data":[{"files":[{"filename":"/p/a.c",
            "segments":[[1,1,1,true,true,false],[2,3,0,true,true,false],[3,1,0,false,false,false]],
            "branches":[[2,7,2,12,4,0,0,0,4]],"mcdc_records":[[5,9,5,20,0,5,[true,false]]]}]}]}"#;
        let gcov = r#"{"gcc_version":"14","current_working_directory":"/p","files":[{"file":"a.c","lines":[
            {"line_number":3,"count":4,"unexecuted_block":false,"branches":[{"count":1},{"count":3}],
             "conditions":[{"count":4,"covered":3,"not_covered_true":[],"not_covered_false":[1]}]}]}]}"#;
        for whole in [LCOV, llvm, gcov] {
            assert!(ImportedCoverage::parse(whole.as_bytes()).is_ok());
            for damaged in CorruptedInputs::of(whole.as_bytes()).take(2000) {
                let _ = ImportedCoverage::parse(&damaged);
            }
        }
        let seen = &ImportedCoverage::parse(llvm.as_bytes()).expect("read").files["/p/a.c"];
        assert_eq!(
            (seen.executed((1, 5)), seen.executed((2, 4)), seen.executed((3, 2))),
            (Some(true), Some(false), None)
        );
        assert_eq!((seen.conditions[&(2, 7)], seen.decisions[&(5, 9)].clone()), ((true, false), vec![true, false]));
        let seen = &ImportedCoverage::parse(gcov.as_bytes()).expect("read").files["/p/a.c"];
        assert_eq!((seen.lines[&3], seen.branches[&3].clone()), (LineCoverage::All, vec![true, true]));
        assert_eq!(seen.decisions_in_line[&(3, 2)], Some(vec![(true, true), (true, false)]));
    }
}
