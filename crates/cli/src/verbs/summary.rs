//! `touchstone summary` prints the cases of a function as a table: guard, result, side effects.

use crate::output::exit::Exit;
use crate::output::{outputs, stdout};
use crate::plan::args::{Generate, OutputFormat};
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use touchstone_campaign::{FunctionCases, cases};
use touchstone_engine::SummaryCase;

#[derive(ClapArgs, Debug)]
pub struct Summary {
    #[command(flatten)]
    pub generate: Generate,
    /// Also write the tables as an HTML page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Runs `summary`.
pub fn summary(options: &Summary) -> Result<ExitCode> {
    let scratch = tempfile::tempdir().context("can't make a temporary directory")?;
    let found = cases(&options.generate.request_in(scratch.path()))?;
    let text = match options.generate.format {
        OutputFormat::Json => format!("{:#}\n", json_of(&found)),
        OutputFormat::Text => outputs::fitted(found.iter().map(table).collect::<Vec<String>>().join("\n")),
    };
    if let Some(file) = &options.page {
        std::fs::write(file, page(&found)).with_context(|| format!("can't write {}", file.display()))?;
    }
    stdout::show(text)?;
    let open = options.generate.strict && found.iter().any(|function| !function.incomplete.is_empty());
    Ok(if open { Exit::Unknowns } else { Exit::Done }.into())
}

/// Returns the guard, the result and the side effects of a case as text.
fn columns(case: &SummaryCase) -> [String; 3] {
    let when = if case.when.is_empty() { "always".to_string() } else { case.when.join(", ") };
    let result = case.returns.clone().or_else(|| case.ends.clone()).unwrap_or_else(|| "returns".to_string());
    let changes: Vec<String> = case.changes.iter().map(|(what, to)| format!("{what} = {to}")).collect();
    [when, result, changes.join(", ")]
}

fn table(function: &FunctionCases) -> String {
    let mut out = format!("{}\n", function.call);
    if !function.given.is_empty() {
        out.push_str(&format!("  given {}\n", function.given.join(", ")));
    }
    let mut rows = vec![["when", "result", "changes"].map(str::to_string)];
    rows.extend(function.cases.iter().map(columns));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (when, result) = (width(0), width(1));
    for row in &rows {
        let line = format!("  {:<when$}  {:<result$}  {}", row[0], row[1], row[2]);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for why in &function.incomplete {
        out.push_str(&format!("  there may be more: {why}\n"));
    }
    out
}

fn json_of(found: &[FunctionCases]) -> serde_json::Value {
    let case = |case: &SummaryCase| {
        let changes: Vec<serde_json::Value> =
            case.changes.iter().map(|(what, to)| json!({ "what": what, "to": to })).collect();
        json!({ "when": case.when, "returns": case.returns, "ends": case.ends, "changes": changes })
    };
    let function = |function: &FunctionCases| {
        json!({
            "name": function.name,
            "call": function.call,
            "given": function.given,
            "cases": function.cases.iter().map(case).collect::<Vec<_>>(),
            "incomplete": function.incomplete,
        })
    };
    json!({ "functions": found.iter().map(function).collect::<Vec<_>>() })
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1f2328}\
    table{border-collapse:collapse;width:100%;margin-bottom:2rem}td,th{text-align:left;vertical-align:top;padding:.4rem .8rem;\
    border-bottom:1px solid #d8dee4}code{font:13px/1.5 ui-monospace,monospace}h2 code{font-size:1.1rem}.more{color:#9a6700}\
    .end{color:#b42318}@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}td,th{border-color:#30363d}}";

fn page(found: &[FunctionCases]) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Cases</title><style>{STYLE}</style></head>\n<body><h1>Cases</h1>\n"
    );
    for function in found {
        out += &format!(
            "<h2><code>{}</code></h2>\n<p><code>{}</code></p><table><tr><th>when</th><th>result</th><th>changes</th></tr>\n",
            escape(&function.call),
            escape(&function.given.join(", "))
        );
        for case in &function.cases {
            let [_, result, _] = columns(case);
            let lines = |parts: Vec<String>| parts.iter().map(|part| escape(part)).collect::<Vec<_>>().join("<br>");
            let when = if case.when.is_empty() { "always".to_string() } else { lines(case.when.clone()) };
            let changes = lines(case.changes.iter().map(|(what, to)| format!("{what} = {to}")).collect());
            let class = if case.ends.is_some() { " class=\"end\"" } else { "" };
            out += &format!(
                "<tr><td><code>{when}</code></td><td{class}><code>{}</code></td><td><code>{changes}</code></td></tr>\n",
                escape(&result)
            );
        }
        out += "</table>\n";
        for why in &function.incomplete {
            out += &format!("<p class=\"more\">There may be more: {}</p>\n", escape(why));
        }
    }
    out + "</body></html>\n"
}
