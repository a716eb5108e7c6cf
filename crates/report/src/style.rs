//! How text looks: colours, widths, cutting, and tables of aligned columns.

/// How the text is to look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Columns of the terminal; longer input values are cut.
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

/// An empty line and a title.
pub(crate) fn heading(out: &mut String, style: Style, paint: Paint, title: &str) {
    out.push('\n');
    out.push_str(&style.paint(paint, title));
    out.push('\n');
}

pub(crate) fn longest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

/// The line, ended with `…` where it is too long.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width.max(20) {
        return line.trim_end().to_string();
    }
    let mut short: String = line.chars().take(width.max(20) - 1).collect();
    short.push('…');
    short
}

/// On which side of its column a cell stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Lines of cells under each other, two blanks between columns, none at the end.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]], align: [Align; N]) -> Vec<String> {
    let widths: Vec<usize> = (0..N).map(|column| longest(rows.iter().map(|row| &row[column]))).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).zip(align).map(|((cell, &width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
