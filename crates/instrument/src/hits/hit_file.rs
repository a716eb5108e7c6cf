//! Hit files: the probes that one process executed. `runtime/probes.c` describes the format of C programs, `hit_log.rs`
//! reads that of JVMs.

use super::hit_log;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"TSHITS01";
const TEST: std::ops::Range<usize> = 16..528;
const COMMAND: std::ops::Range<usize> = 528..1552;
const TABLE: usize = 4096;
const ENTRY: usize = 16;
/// The meaning of an empty file.
const LOST: &str = "its process could not write what it hit (a full disk, or a limit on the size of files: ulimit -f)";

/// The hits of one process, or of one test in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HitFile {
    /// The name of the test, if the run set one.
    pub test: Option<String>,
    /// The command line of the process.
    pub command: Vec<String>,
    /// The process id.
    pub pid: u32,
    /// For each unit, its nonzero probe bytes with their offsets.
    pub units: Vec<(u64, Vec<(u32, u8)>)>,
}

/// The reason why a hit file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HitError {
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    NotReadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file has another format, or is damaged.
    #[error("{path} is no hit file: {why}")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The defect.
        why: &'static str,
    },
}

impl HitFile {
    /// Reads a file. Returns one element for each test in it, and none if the process died before its first hit.
    pub fn read(path: &Path) -> Result<Vec<HitFile>, HitError> {
        let bytes = std::fs::read(path).map_err(|source| HitError::NotReadable { path: path.to_path_buf(), source })?;
        HitFile::all(&bytes).map_err(|why| HitError::Damaged { path: path.to_path_buf(), why })
    }

    pub(crate) fn all(bytes: &[u8]) -> Result<Vec<HitFile>, &'static str> {
        match hit_log::is_log(bytes) {
            true => hit_log::parse(bytes),
            false => HitFile::parse(bytes).map(|file| file.into_iter().collect()),
        }
    }

    /// Parses the header of a hit file, which identifies the process. The result has no hits.
    pub(crate) fn process(bytes: &[u8]) -> Result<HitFile, &'static str> {
        let text = |range: std::ops::Range<usize>| bytes.get(range).ok_or("it is too short");
        let test = until_zero(text(TEST)?);
        let command = text(COMMAND)?;
        let end = command.windows(2).position(|two| two == [0, 0]).unwrap_or(command.len());
        let words = command[..end].split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let command = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let pid = bytes.get(8..12).and_then(|pid| pid.try_into().ok()).map_or(0, u32::from_le_bytes);
        Ok(HitFile { test: Some(test).filter(|test| !test.is_empty()), command, pid, units: Vec::new() })
    }

    fn parse(bytes: &[u8]) -> Result<Option<HitFile>, &'static str> {
        let number = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
        // The process writes the magic last: a file without it has no hits yet.
        match bytes.get(..8) {
            Some(start) if start == MAGIC => {}
            Some(start) if start.iter().all(|byte| *byte == 0) => return Ok(None),
            None if bytes.is_empty() => return Err(LOST),
            _ => return Err("it does not begin like one"),
        }
        let process = HitFile::process(bytes)?;
        let count = number(12).ok_or("it is too short")?;
        let mut units = Vec::new();
        let mut left = bytes.len();
        for index in 0..count as usize {
            let at = TABLE + ENTRY * index;
            let unit = bytes.get(at..at + 8).and_then(|raw| raw.try_into().ok()).map(u64::from_le_bytes);
            let (Some(unit), Some(offset), Some(size)) = (unit, number(at + 8), number(at + 12)) else {
                return Err("its table is cut off");
            };
            let probes = bytes.get(offset as usize..offset as usize + size as usize).ok_or("its probes are cut off")?;
            left = left.checked_sub(probes.len()).ok_or("its units share probes")?;
            let hit = probes.iter().enumerate().filter(|(_, byte)| **byte != 0);
            let hit = hit.map(|(index, byte)| (index as u32, *byte));
            units.push((unit, hit.collect()));
        }
        Ok(Some(HitFile { units, ..process }))
    }

    /// Returns a test name for a process without one: its program and arguments.
    pub fn process_name(&self) -> String {
        let mut words = self.command.iter();
        let program = words.next().map(|program| Path::new(program).file_name().unwrap_or_default().to_string_lossy());
        let program = program.map_or_else(|| format!("process {}", self.pid), |program| program.into_owned());
        std::iter::once(program).chain(words.cloned()).collect::<Vec<_>>().join(" ")
    }
}

fn until_zero(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    /// Returns a file of two units with some hits.
    fn whole() -> Vec<u8> {
        let mut bytes = vec![0; TABLE];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&u32::to_le_bytes(77));
        bytes[12..16].copy_from_slice(&u32::to_le_bytes(2));
        bytes[16..20].copy_from_slice(b"test");
        bytes[528..538].copy_from_slice(b"prog\0-x\0\0\0");
        let first = TABLE + 2 * ENTRY;
        for (unit, offset, size) in [(5u64, first, 20u32), (6, first + 20, 30)] {
            bytes.extend(unit.to_le_bytes());
            bytes.extend(u32::try_from(offset).expect("small").to_le_bytes());
            bytes.extend(size.to_le_bytes());
        }
        bytes.extend((0..50u8).map(|index| u8::from(index % 3 == 0)));
        bytes
    }

    #[test]
    fn a_damaged_hit_file_is_read_or_refused() {
        let whole = whole();
        let hits = HitFile::parse(&whole).expect("one of ours").expect("not empty");
        assert_eq!(
            (hits.units.len(), hits.test.as_deref(), hits.process_name().as_str()),
            (2, Some("test"), "prog -x")
        );
        let (mut read, mut refused) = (0, 0);
        let mut check = |bytes: &[u8]| match HitFile::parse(bytes) {
            Ok(Some(hits)) => {
                let all: usize = hits.units.iter().map(|(_, hit)| hit.len()).sum();
                assert!(all <= bytes.len());
                read += 1;
            }
            _ => refused += 1,
        };
        CorruptedInputs::of(&whole[..32]).take(3000).for_each(|damaged| check(&[&damaged, &whole[32..]].concat()));
        CorruptedInputs::of(&whole[TABLE..])
            .take(3000)
            .for_each(|damaged| check(&[&whole[..TABLE], &damaged].concat()));
        assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
    }

    #[test]
    fn units_that_share_probes_are_refused() {
        let mut bytes = whole();
        bytes[12..16].copy_from_slice(&u32::to_le_bytes(1000));
        let entry = bytes[TABLE..TABLE + ENTRY].to_vec();
        bytes.truncate(TABLE);
        (0..1000).for_each(|_| bytes.extend(&entry));
        bytes[TABLE + 12..TABLE + 16].copy_from_slice(&u32::to_le_bytes(15_000));
        bytes[TABLE + ENTRY + 12..TABLE + ENTRY + 16].copy_from_slice(&u32::to_le_bytes(15_000));
        assert_eq!(HitFile::parse(&bytes), Err("its units share probes"));
    }
}
