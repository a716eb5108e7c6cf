//! Text style: colours, widths, truncation, and tables of aligned columns.

/// The style of a text report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// True for ANSI colours.
    pub color: bool,
    /// The width of the terminal in columns; longer input values are truncated.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 100 }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Paint {
    Bold,
    Red,
    Yellow,
    Green,
    Dim,
}

impl Style {
    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Bold => "1",
            Paint::Red => "31",
            Paint::Yellow => "33",
            Paint::Green => "32",
            Paint::Dim => "2",
        };
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// Writes an empty line and a title.
pub(crate) fn heading(out: &mut String, style: Style, paint: Paint, title: &str) {
    out.push('\n');
    out.push_str(&style.paint(paint, title));
    out.push('\n');
}

pub(crate) fn longest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Truncates a line that is too long, with `…` at its end.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width.max(20) {
        return line.trim_end().to_string();
    }
    let mut short: String = line.chars().take(width.max(20) - 1).collect();
    short.push('…');
    short
}

/// Wraps the lines of a text to a width. Continuation lines are indented. Colours take no columns.
pub fn fit(text: &str, width: usize) -> String {
    let width = width.max(20);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if visible(line) <= width {
            out.push_str(line);
        } else {
            wrap(&mut out, line, width);
        }
        out.push_str(end);
    }
    out
}

/// Returns the number of visible characters of a line.
fn visible(line: &str) -> usize {
    let mut count = 0;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => drop(chars.by_ref().find(|char| *char == 'm')),
            _ => count += 1,
        }
    }
    count
}

fn wrap(out: &mut String, line: &str, width: usize) {
    let blanks = line.chars().take_while(|char| *char == ' ').count().min(width / 2);
    let further = " ".repeat((blanks + 4).min(width / 2));
    let mut room = 0;
    let mut is_first = true;
    for word in line.trim_start().split(' ') {
        let size = visible(word);
        if is_first {
            out.push_str(&" ".repeat(blanks));
            room = width - blanks;
            is_first = false;
        } else if size < room {
            out.push(' ');
            room -= 1;
        } else {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&further);
            room = width - further.len();
        }
        let mut rest = word;
        while visible(rest) > room {
            // The word is longer than a line, for example a long path.
            let at = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            out.push_str(&rest[..at]);
            out.push('\n');
            out.push_str(&further);
            room = width - further.len();
            rest = &rest[at..];
        }
        out.push_str(rest);
        room -= visible(rest);
    }
}

/// The alignment of a cell in its column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Formats rows of cells as aligned lines: two spaces between columns, none at the end of a line.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]], align: [Align; N]) -> Vec<String> {
    let all: Vec<usize> = (0..N).collect();
    selected_columns(rows, align, &all)
}

/// Formats the selected columns of rows, as [`columns`] does.
pub(crate) fn selected_columns<const N: usize>(
    rows: &[[String; N]],
    align: [Align; N],
    selected: &[usize],
) -> Vec<String> {
    let width = |column: &usize| longest(rows.iter().map(|row| &row[*column]));
    let widths: Vec<usize> = selected.iter().map(width).collect();
    let line = |row: &[String; N]| {
        let cells = selected.iter().zip(&widths).map(|(&column, &width)| match align[column] {
            Align::Left => format!("{:<width$}", row[column]),
            Align::Right => format!("{:>width$}", row[column]),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// Returns the number of columns that a line takes on a terminal. Colours take none.
pub(crate) fn width_of(lines: &[String]) -> usize {
    lines.iter().map(|line| visible(line)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_there_is_room_and_no_word_is_lost() {
        let text = "short\n  a line that is much too long for forty columns and \u{1b}[31mred at\u{1b}[0m its end\n\
                    a/path/that/has/no/blank/at/all/and/does/not/end/before/column/forty.c:3:4 and more\n";
        let fitted = fit(text, 40);
        assert!(fitted.lines().all(|line| visible(line) <= 40), "{fitted}");
        let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
        assert_eq!(letters(text), letters(&fitted));
        assert!(fitted.contains("\n      "), "{fitted}");
        assert_eq!(fit("short\n", 40), "short\n");
    }
}
