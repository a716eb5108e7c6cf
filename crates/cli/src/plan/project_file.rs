//! Translates `touchstone.toml` into command-line arguments. A key at the top level or in the table of a command acts
//! as if the option had been typed, unless the option was typed.
//!
//! ```toml
//! files = ["src/list.c", "src/heap.c"]
//! criteria = ["mcdc", "branch"]
//! fail_under = ["mcdc=90"]
//! include = ["include"]
//!
//! [measure]
//! exclude = ["tests"]
//! ```
//!
//! So every option has one name, meaning, check and message. Relative paths are relative to the file. Deliberately not
//! here: the tables of functions, which `touchstone_campaign` reads.

use crate::plan::cache_location;
use crate::plan::config_trust::{TRUST_CONFIG, needs_trust};
use anyhow::{Context, Result, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use touchstone_campaign::{nearest_name, options_file_near};

/// The commands that take options from the file.
const VERBS: [&str; 8] = ["generate", "prove", "objectives", "annotate", "explain", "measure", "merge", "report"];
/// The key of the tables of functions, which are neither commands nor options.
const FUNCTIONS: &str = "function";
/// Options that belong to a single run.
const NEVER: [&str; 5] = ["help", "version", "command", "objective", TRUST_CONFIG];
/// Former keys of options, which are still accepted. The command line has aliases for them.
const FORMER_KEYS: [(&str, &str); 1] = [("pair_questions", "pair_queries")];
/// Options whose strings are paths.
const PATHS: [&str; 1] = ["include"];

/// Adds the arguments of the project file to a command line. Returns the file if it added any.
pub fn with_project_file(words: Vec<OsString>, mut command: Command) -> Result<(Vec<OsString>, Option<PathBuf>)> {
    let own: Vec<&OsString> = words.iter().skip(1).take_while(|word| *word != "--").collect();
    if own.iter().any(|word| *word == "--help" || *word == "-h") {
        return Ok((words, None));
    }
    // Errors on the command line are reported later, by the real parse.
    let Ok(typed) = command.clone().ignore_errors(true).try_get_matches_from(&words) else { return Ok((words, None)) };
    let Some((name, typed)) = typed.subcommand().filter(|(name, _)| VERBS.contains(name)) else {
        return Ok((words, None));
    };
    let Some(path) = options_file_near(&start(typed)) else { return Ok((words, None)) };
    command.build();
    let file = ProjectFile::read(path, &command)?;
    let verb = command.find_subcommand(name).context("internal: a verb got lost")?;
    let added = file.words(verb, typed)?;
    if added.options.is_empty() && added.files.is_empty() && added.flags.is_empty() {
        return Ok((words, None));
    }
    Ok((added.put_into(words, name), Some(file.path)))
}

/// Returns the directory in which the search for the file starts: that of the first source, or the current one.
fn start(typed: &ArgMatches) -> PathBuf {
    let files = typed.try_get_many::<PathBuf>("files").ok().flatten();
    let folder = |file: &PathBuf| file.parent().map(Path::to_path_buf).filter(|folder| !folder.as_os_str().is_empty());
    files.and_then(|mut files| folder(files.next()?)).unwrap_or_else(|| PathBuf::from("."))
}

/// A parsed project file.
struct ProjectFile {
    path: PathBuf,
    text: String,
    table: Table,
}

/// The arguments that the file adds to a command line.
#[derive(Default)]
struct Added {
    options: Vec<OsString>,
    files: Vec<OsString>,
    flags: Vec<OsString>,
}

impl Added {
    /// Inserts options after the command, files after the typed arguments, and compiler flags at the end.
    fn put_into(self, words: Vec<OsString>, verb: &str) -> Vec<OsString> {
        let at = words.iter().position(|word| word == verb).map_or(words.len(), |at| at + 1);
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let mut all: Vec<OsString> = words[..at].to_vec();
        all.extend(self.options);
        all.extend_from_slice(&words[at..end]);
        all.extend(self.files);
        all.extend_from_slice(&words[end..]);
        if !self.flags.is_empty() {
            all.push("--".into());
            all.extend(self.flags);
        }
        all
    }
}

impl ProjectFile {
    fn read(path: PathBuf, command: &Command) -> Result<ProjectFile> {
        let text = std::fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
        let table = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        let file = ProjectFile { path, text, table };
        file.check(command)?;
        Ok(file)
    }

    /// Checks that every key is an option of some command, or of the command whose table contains it.
    fn check(&self, command: &Command) -> Result<()> {
        let verbs: Vec<&Command> = VERBS.iter().filter_map(|verb| command.find_subcommand(verb)).collect();
        let options = |verbs: &[&Command]| -> BTreeSet<String> {
            verbs
                .iter()
                .flat_map(|verb| verb.get_arguments())
                .filter(|arg| is_for_files(arg))
                .flat_map(keys_of)
                .collect()
        };
        let all = options(&verbs);
        for (key, value) in &self.table {
            let verb = verbs.iter().find(|verb| verb.get_name() == key);
            match (verb, value) {
                (Some(verb), Value::Table(table)) => {
                    let own = options(&[verb]);
                    table.keys().try_for_each(|key| self.check_key(key, &own, &format!("of `{}`", verb.get_name())))?;
                }
                (_, Value::Table(_)) if key == FUNCTIONS => {}
                _ => {
                    let mut known = all.clone();
                    known.extend([FUNCTIONS.to_string()].into_iter().chain(VERBS.map(str::to_string)));
                    self.check_key(key, &known, "of any verb")?;
                }
            }
        }
        Ok(())
    }

    fn check_key(&self, key: &str, known: &BTreeSet<String>, of: &str) -> Result<()> {
        if known.contains(&plain(key)) {
            return Ok(());
        }
        let hint = match nearest_name(&plain(key), known.iter().map(String::as_str)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        bail!("{}: `{key}` is not an option {of}{hint}", self.place(key))
    }

    /// Returns the position of a key, for example `touchstone.toml:3`.
    fn place(&self, key: &str) -> String {
        let is_it =
            |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        match self.text.lines().position(is_it) {
            Some(line) => format!("{}:{}", self.path.display(), line + 1),
            None => self.path.display().to_string(),
        }
    }

    /// Returns the arguments for a command, without those that were typed.
    fn words(&self, verb: &Command, typed: &ArgMatches) -> Result<Added> {
        let own = self.table.get(verb.get_name()).and_then(Value::as_table);
        let is_typed = |arg: &Arg| {
            let source = typed
                .try_contains_id(arg.get_id().as_str())
                .ok()
                .and_then(|_| typed.value_source(arg.get_id().as_str()));
            source == Some(ValueSource::CommandLine)
        };
        let mut added = Added::default();
        for arg in verb.get_arguments().filter(|arg| is_for_files(arg)) {
            let key = key_of(arg);
            let keys = keys_of(arg);
            let find = |table: &Table| {
                table.iter().find(|(known, _)| keys.contains(&plain(known))).map(|(_, value)| value.clone())
            };
            let Some(value) = own.and_then(find).or_else(|| find(&self.table)) else { continue };
            if is_typed(arg) || verb.get_arg_conflicts_with(arg).into_iter().any(is_typed) {
                continue;
            }
            let values = self.values(arg, &key, &value)?;
            if let Some(why) = needs_trust(arg, &values).filter(|_| !typed.get_flag(TRUST_CONFIG)) {
                let help = "If you trust the project, add --trust-config to the command line";
                bail!("{}: `{key}` is refused: {why}. {help}", self.place(&key));
            }
            match (arg.get_long(), arg.get_short()) {
                _ if arg.is_last_set() => added.flags.extend(values),
                (None, None) => added.files.extend(values),
                (Some(long), _) if takes_none(arg) => {
                    added.options.extend(values.iter().map(|_| OsString::from(format!("--{long}"))));
                }
                (Some(long), _) => {
                    added.options.extend(values.into_iter().map(|value| joined(&format!("--{long}="), &value)))
                }
                (None, Some(short)) => {
                    added.options.extend(values.into_iter().map(|value| joined(&format!("-{short}"), &value)))
                }
            }
        }
        Ok(added)
    }

    /// Returns the values of an option as command-line arguments.
    fn values(&self, arg: &Arg, key: &str, value: &Value) -> Result<Vec<OsString>> {
        let one = |value: &Value| -> Result<Option<String>> {
            Ok(match (value, takes_none(arg)) {
                (Value::Boolean(wanted), true) => wanted.then(String::new),
                (Value::String(text), false) => Some(text.clone()),
                (Value::Integer(number), false) => Some(number.to_string()),
                (Value::Float(number), false) => Some(number.to_string()),
                (other, _) => bail!("{}: `{key}` can't be {}", self.place(key), other.type_str()),
            })
        };
        let texts: Vec<Option<String>> = match value {
            Value::Array(values) => values.iter().map(one).collect::<Result<_>>()?,
            // `len = { buf = 8 }` is `--len buf=8`.
            Value::Table(table) => {
                let named = |(name, value): (&String, &Value)| Ok(one(value)?.map(|value| format!("{name}={value}")));
                table.iter().map(named).collect::<Result<_>>()?
            }
            value => vec![one(value)?],
        };
        let is_path = arg.get_value_hint() != ValueHint::Unknown || PATHS.contains(&arg.get_id().as_str());
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let off = |text: &str| arg.get_id() == "cache" && text == cache_location::OFF;
        let placed = |text: String| match is_path && folder != Path::new(".") && !off(&text) {
            true => folder.join(text).into_os_string(),
            false => OsString::from(text),
        };
        Ok(texts.into_iter().flatten().map(placed).collect())
    }
}

/// Returns true if the option is allowed in the file.
fn is_for_files(arg: &Arg) -> bool {
    !NEVER.contains(&arg.get_id().as_str())
}

/// Returns true if the option is a flag without a value.
fn takes_none(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Returns the key of an option: its long name, or its id if it has none.
fn key_of(arg: &Arg) -> String {
    match arg.get_id().as_str() {
        "functions" => "functions".to_string(),
        id => plain(arg.get_long().unwrap_or(id)),
    }
}

/// Returns the keys of an option: its own key, then its former name.
fn keys_of(arg: &Arg) -> Vec<String> {
    let own = key_of(arg);
    let former = FORMER_KEYS.iter().find(|(_, now)| *now == own).map(|(former, _)| former.to_string());
    std::iter::once(own).chain(former).collect()
}

/// `fail-under` and `fail_under` are the same.
fn plain(key: &str) -> String {
    key.replace('-', "_")
}

fn joined(option: &str, value: &OsString) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}
