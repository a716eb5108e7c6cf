//! `touchstone cache` shows or clears the cache of results.

use crate::output::exit::Exit;
use crate::output::stdout;
use crate::plan::cache_location;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;
use touchstone_campaign::{CacheSummary, clear_cache, clear_compiled_runtime, summarize_cache};

/// The options of `cache`.
#[derive(clap::Args, Debug)]
pub struct CacheOptions {
    /// The action
    #[arg(default_value = "show")]
    pub what: What,
    /// The cache directory [default: $TOUCHSTONE_CACHE, or touchstone/ in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// An action on the cache.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Show the directory, the size and the functions with the most entries
    Show,
    /// Delete all entries
    Clear,
}

/// The maximum number of functions that are shown.
const MAX_FUNCTIONS_SHOWN: usize = 20;

/// Runs `cache`.
pub fn cache(options: &CacheOptions) -> Result<ExitCode> {
    let Some(directory) = cache_location::directory(options.cache.as_deref()) else {
        bail!("there is no cache: it is off, or the user's cache directory is unknown; set it with --cache DIR");
    };
    let place = directory.display();
    let text = match options.what {
        What::Show => {
            let summary = summarize_cache(&directory).with_context(|| format!("can't read {place}"))?;
            format!("{place}\n{}", told(&summary))
        }
        What::Clear => {
            let mut removed = clear_cache(&directory).with_context(|| format!("can't clear {place}"))?;
            // The compiled parts of the test runner lie beside the results, whatever directory those have.
            if options.cache.is_none() {
                removed += clear_compiled_runtime().context("can't clear the compiled parts of the test runner")?;
            }
            format!("{place}: {removed} {} removed\n", plural(removed, "entry", "entries"))
        }
    };
    stdout::show(text)?;
    Ok(Exit::Done.into())
}

fn told(summary: &CacheSummary) -> String {
    let CacheSummary { verdicts, replays, bytes, functions, unreadable } = summary;
    let size = match bytes {
        0..10_000 => format!("{bytes} bytes"),
        _ => format!("{:.1} MB", *bytes as f64 / 1e6),
    };
    let results = format!("{verdicts} {} of {} functions", plural(*verdicts, "result", "results"), functions.len());
    let mut text = format!("{results}, {replays} {}, {size}\n", plural(*replays, "replay", "replays"));
    if *unreadable > 0 {
        text += &format!("{unreadable} {} no entries of this version\n", plural(*unreadable, "file is", "files are"));
    }
    let mut most: Vec<(&String, &usize)> = functions.iter().collect();
    most.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    for (name, count) in most.iter().take(MAX_FUNCTIONS_SHOWN) {
        text += &format!("  {count:>4}  {name}\n");
    }
    if most.len() > MAX_FUNCTIONS_SHOWN {
        text += &format!("        and {} more\n", most.len() - MAX_FUNCTIONS_SHOWN);
    }
    text
}

fn plural<'w>(count: usize, one: &'w str, more: &'w str) -> &'w str {
    if count == 1 { one } else { more }
}
