//! `touchstone.toml`: options for functions, with the same names as on the command line.
//!
//! ```toml
//! [function.insert]
//! pre = "n >= 0"
//! len = { keys = 4 }
//! range = { n = "0..4" }
//! partitions = { n = ["0", "1..3", "4"] }
//! max_objects = 2
//! ```
//!
//! The file is in the directory of the sources, or in a directory above them up to the root of the git repository.
//! Deliberately not here: its top-level keys, which are options of the command line (`cli`'s).

use super::bounds::{BadBounds, parse_bounds};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the file.
const NAME: &str = "touchstone.toml";

/// Errors in the file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum OptionsFileError {
    #[error("can't read {}", path.display())]
    NotReadable { path: PathBuf, source: std::io::Error },
    #[error("in {}", path.display())]
    NotOptions { path: PathBuf, source: toml::de::Error },
    #[error("{NAME}: partitions of {input}: {why}")]
    Partitions { input: String, why: BadBounds },
    #[error("{NAME}: range of {input}: {why}")]
    Range { input: String, why: BadBounds },
    #[error("{NAME}: there is no function `{name}`; did you mean `{near}`?")]
    Function { name: String, near: String },
}

/// The options of all functions.
#[derive(Deserialize, Debug, Default)]
pub(crate) struct OptionsFile {
    #[serde(default)]
    function: BTreeMap<String, FunctionOptions>,
}

/// The options of one function.
#[derive(Deserialize, Debug, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct FunctionOptions {
    pub pre: Option<String>,
    #[serde(default)]
    pub len: BTreeMap<String, u64>,
    #[serde(default)]
    range: BTreeMap<String, String>,
    #[serde(default)]
    partitions: BTreeMap<String, Vec<String>>,
    pub max_objects: Option<u32>,
    pub loop_bound: Option<u32>,
}

impl FunctionOptions {
    /// Parses the partitions for `idc`.
    pub fn partitions(&self) -> Result<BTreeMap<String, Vec<(i128, i128)>>, OptionsFileError> {
        let read = |(name, parts): (&String, &Vec<String>)| {
            let bounds = |text: &String| {
                let both = if text.contains("..") { text.clone() } else { format!("{text}..{text}") };
                parse_bounds(&both).map_err(|why| OptionsFileError::Partitions { input: name.clone(), why })
            };
            Ok((name.clone(), parts.iter().map(bounds).collect::<Result<Vec<_>, _>>()?))
        };
        self.partitions.iter().map(read).collect()
    }

    /// Parses the ranges.
    pub fn ranges(&self) -> Result<BTreeMap<String, (i128, i128)>, OptionsFileError> {
        let read = |(name, text): (&String, &String)| match parse_bounds(text) {
            Ok(bounds) => Ok((name.clone(), bounds)),
            Err(why) => Err(OptionsFileError::Range { input: name.clone(), why }),
        };
        self.range.iter().map(read).collect()
    }
}

impl OptionsFile {
    /// Reads the file nearest to a source file, or returns empty options if there is none.
    pub fn near(source: &Path) -> Result<OptionsFile, OptionsFileError> {
        let folder = source.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Some(path) = options_file_near(folder) else { return Ok(OptionsFile::default()) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(OptionsFileError::NotReadable { path, source }),
        };
        OptionsFile::parse(&text).map_err(|source| OptionsFileError::NotOptions { path, source })
    }

    /// Rejects an unknown function if a known one has a similar name. Other unknown functions may be of other sources.
    pub fn check<'n>(&self, known: impl Iterator<Item = &'n str>) -> Result<(), OptionsFileError> {
        let known: Vec<&str> = known.collect();
        for name in self.function.keys().filter(|name| !known.contains(&name.as_str())) {
            if let Some(near) = nearest_name(name, known.iter().copied()) {
                return Err(OptionsFileError::Function { name: name.clone(), near: near.to_string() });
            }
        }
        Ok(())
    }

    fn parse(text: &str) -> Result<OptionsFile, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns the options of a function.
    pub fn function(&self, name: &str) -> FunctionOptions {
        self.function.get(name).cloned().unwrap_or_default()
    }
}

/// Returns the file in a directory, or in the nearest directory above it, up to the root of the git repository.
pub fn options_file_near(folder: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(folder).ok()?;
    let mut shown = folder.to_path_buf();
    for above in absolute.ancestors() {
        if above.join(NAME).is_file() {
            // A path in the directory itself is kept as short as it was given.
            let place = if above == absolute { std::mem::take(&mut shown) } else { above.to_path_buf() };
            return Some(if place == Path::new(".") { PathBuf::from(NAME) } else { place.join(NAME) });
        }
        if above.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Returns the most similar name: at most two letters differ, and fewer than half of them.
pub fn nearest_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    let near = known.min_by_key(distance)?;
    (distance(&near) <= 2 && 2 * distance(&near) < name.chars().count()).then_some(near)
}

/// Parses a text as an options file and prints the result, for fuzz targets.
pub fn options_file_reading(text: &str) -> Result<String, String> {
    let file = OptionsFile::parse(text).map_err(|error| error.to_string())?;
    let read = |options: &FunctionOptions| Ok((options.ranges()?, options.partitions()?));
    let all: Result<Vec<_>, OptionsFileError> = file.function.values().map(read).collect();
    all.map(|all| format!("{file:?} {all:?}")).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{nearest_name, options_file_reading};
    use touchstone_base::CorruptedInputs;

    #[test]
    fn a_name_that_is_nearly_right_is_found_and_no_other() {
        let near = |name| nearest_name(name, ["criteria", "timeout", "len"].into_iter());
        assert_eq!((near("critera"), near("timoeut"), near("lem")), (Some("criteria"), Some("timeout"), Some("len")));
        assert_eq!((near("speed"), near("l"), near("ten_")), (None, None, None));
    }

    #[test]
    fn a_damaged_file_gives_options_or_an_error() {
        let whole = r#"[function.insert]
pre = "n >= 0"
len = { keys = 4 }
range = { n = "0..4", m = "-3..127" }
partitions = { n = ["0", "1..3", "4"] }
max_objects = 2
"#;
        assert!(options_file_reading(whole).is_ok());
        let (mut read, mut refused) = (0, 0);
        for damaged in CorruptedInputs::of(whole.as_bytes()).take(5000) {
            match options_file_reading(&String::from_utf8_lossy(&damaged)) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(read > 200 && refused > 500, "{read} read, {refused} refused");
    }
}
