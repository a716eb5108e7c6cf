//! `touchstone init` writes an initial `touchstone.toml`.

use crate::output::exit::Exit;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_front_c::database_sources;

/// The options of `init`.
#[derive(clap::Args, Debug)]
pub struct InitOptions {
    /// The directory of compile_commands.json [default: this directory, or build/ in it]
    #[arg(short = 'p', value_name = "DIR")]
    pub commands: Option<PathBuf>,
}

/// The file to write.
const NAME: &str = "touchstone.toml";
/// The compilation database to read.
const DATABASE: &str = "compile_commands.json";
/// Directories whose sources do not belong to the program.
const NOT_TESTED: [&str; 8] =
    ["test", "tests", "build", "target", "touchstone-out", "third_party", "vendor", "CMakeFiles"];

/// Runs `init`.
pub fn init(options: &InitOptions) -> Result<ExitCode> {
    if Path::new(NAME).exists() {
        bail!("{NAME} is there already; change it by hand, or move it away");
    }
    let here = std::env::current_dir()?.canonicalize()?;
    let folders = match &options.commands {
        Some(folder) => vec![folder.clone()],
        None => vec![PathBuf::from("."), PathBuf::from("build")],
    };
    let found = folders.iter().find(|folder| folder.join(DATABASE).is_file());
    let sources = match found {
        Some(folder) => database_sources(&folder.join(DATABASE))?,
        None if options.commands.is_some() => bail!("there is no {DATABASE} in {}", folders[0].display()),
        None => sources_below(&here)?,
    };
    let inside = |path: &PathBuf| path.strip_prefix(&here).ok().map(Path::to_path_buf);
    let mut sources: Vec<PathBuf> = sources.iter().filter_map(inside).filter(|path| is_tested(path)).collect();
    sources.sort();
    if sources.is_empty() {
        bail!("there are no C sources here; go to the directory of the project, or write {NAME} by hand");
    }
    let text = written(&sources, found.map(PathBuf::as_path));
    touchstone_base::write_atomically(Path::new(NAME), text).with_context(|| format!("can't write {NAME}"))?;
    let from =
        found.map_or_else(|| "the sources here".to_string(), |folder| folder.join(DATABASE).display().to_string());
    let count = sources.len();
    let files = if count == 1 { "1 file".to_string() } else { format!("{count} files") };
    crate::output::stdout::show(format!("wrote {NAME}: {files}, from {from}\n"))?;
    Ok(Exit::Done.into())
}

fn is_tested(path: &Path) -> bool {
    !path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with('.') || NOT_TESTED.contains(&part.as_ref())
    })
}

/// Returns all C sources below a directory, without following symbolic links.
fn sources_below(here: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![here.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| format!("can't read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let tested = path.strip_prefix(here).is_ok_and(is_tested);
            if kind.is_dir() && tested {
                folders.push(path);
            } else if kind.is_file() && tested && path.extension().is_some_and(|extension| extension == "c") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Returns the contents of the file.
fn written(sources: &[PathBuf], database: Option<&Path>) -> String {
    // A JSON string is also a TOML string.
    let quoted = |path: &Path| serde_json::Value::String(path.to_string_lossy().into_owned()).to_string();
    let files: String = sources.iter().map(|path| format!("    {},\n", quoted(path))).collect();
    let commands = match database {
        Some(folder) => format!("commands = {}\n", quoted(folder)),
        None => "# commands = \"build\"          # the directory of compile_commands.json\n".to_string(),
    };
    format!(
        "# What touchstone takes as typed in this project; the command line wins. Every option can stand here by its name.\n\
         files = [\n{files}]\n\
         {commands}\
         criteria = [\"mcdc\"]\n\
         # fail_under = [\"mcdc=90\"]\n\
         # timeout = 60                # seconds for each function\n\
         # assume = [\"allocation\"]     # what verdicts may take for granted\n\
         \n\
         [measure]\n\
         criteria = [\"stmt\", \"branch\", \"mcdc\"]\n\
         # exclude = [\"tests\"]\n\
         \n\
         # [function.NAME]\n\
         # pre = \"n >= 0\"\n\
         # len = {{ keys = 4 }}\n\
         # range = {{ n = \"0..4\" }}\n"
    )
}
