//! Insertions into a text. Nothing is removed, and lines keep their numbers.

use std::ops::Range;

/// The order of insertions at one offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum InsertionOrder {
    /// The end of an expression.
    CloseExpression,
    /// The end of a statement.
    CloseStatement,
    /// The text before a statement.
    Statement,
    /// The beginning of an expression.
    OpenExpression,
}

/// Insertions into one text.
#[derive(Default)]
pub(crate) struct Insertions {
    /// Offset, order, nesting (outer first when opening, last when closing), rank in the same sense, text.
    list: Vec<(usize, InsertionOrder, usize, usize, String)>,
}

impl Insertions {
    /// Inserts text before a statement, or wherever a statement may be.
    pub fn before(&mut self, at: usize, text: String) {
        let order = self.list.len();
        self.list.push((at, InsertionOrder::Statement, 0, order, text));
    }
    /// Encloses a statement in braces, with text after the opening one.
    pub fn brace(&mut self, start: usize, end: usize, text: &str) {
        let order = self.list.len();
        self.list.push((start, InsertionOrder::Statement, 0, order, format!("{{ {text}")));
        self.list.push((end, InsertionOrder::CloseStatement, usize::MAX - start, 0, " }".to_string()));
    }
    /// Encloses a statement in two texts.
    pub fn enclose(&mut self, start: usize, end: usize, open: String, close: String) {
        let order = self.list.len();
        self.list.push((start, InsertionOrder::Statement, 0, order, open));
        self.list.push((end, InsertionOrder::CloseStatement, usize::MAX - start, 0, close));
    }
    /// Encloses an expression in two texts. Of two insertions around the same expression, the one with the lower rank
    /// is the outer.
    pub fn wrap(&mut self, start: usize, end: usize, rank: usize, open: String, close: String) {
        self.list.push((start, InsertionOrder::OpenExpression, usize::MAX - end, rank, open));
        self.list.push((end, InsertionOrder::CloseExpression, usize::MAX - start, usize::MAX - rank, close));
    }

    /// Rewrites the text of all insertions.
    pub fn rewrite(&mut self, change: impl Fn(&str) -> String) {
        self.list.iter_mut().for_each(|piece| piece.4 = change(&piece.4));
    }

    /// Applies the insertions to a range of the text, without those before its first statement.
    pub fn within(&self, text: &str, stretch: Range<usize>) -> String {
        let inside = |at: usize, turn: InsertionOrder| match at == stretch.start {
            true => turn == InsertionOrder::OpenExpression,
            false => stretch.start < at && at <= stretch.end,
        };
        let list = self.list.iter().filter(|piece| inside(piece.0, piece.1));
        let moved =
            list.map(|(at, turn, nesting, rank, piece)| (at - stretch.start, *turn, *nesting, *rank, piece.clone()));
        Insertions { list: moved.collect() }.apply(&text[stretch])
    }

    /// Applies all insertions.
    pub fn apply(mut self, text: &str) -> String {
        self.list.sort();
        let mut made = String::with_capacity(text.len() + self.list.iter().map(|piece| piece.4.len()).sum::<usize>());
        let mut done = 0;
        for (at, _, _, _, piece) in &self.list {
            made += &text[done..*at];
            made += piece;
            done = *at;
        }
        made += &text[done..];
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_meets_at_one_byte_nests() {
        let mut insertions = Insertions::default();
        let text = "a && b;";
        insertions.wrap(0, 1, 2, "<".into(), ">".into());
        insertions.wrap(0, 6, 2, "{".into(), "}".into());
        insertions.wrap(0, 6, 1, "[".into(), "]".into());
        insertions.wrap(5, 6, 0, "<".into(), ">".into());
        insertions.before(0, "s; ".into());
        insertions.before(0, "t; ".into());
        assert_eq!(insertions.apply(text), "s; t; [{<a> && <b>}];");
    }

    #[test]
    fn a_stretch_has_what_is_inserted_behind_its_beginning() {
        let mut insertions = Insertions::default();
        let text = "{a = b;}x;";
        insertions.before(1, "s; ".into());
        insertions.wrap(1, 2, 0, "<".into(), ">".into());
        insertions.wrap(5, 6, 0, "[".into(), "]".into());
        insertions.before(7, "t; ".into());
        insertions.before(8, "u; ".into());
        assert_eq!(insertions.within(text, 1..7), "<a> = [b];t; ");
    }
}
