//! Ranges `LO..HI`, as the command line and `touchstone.toml` write them.

/// Errors in a range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadBounds {
    /// The two dots are missing.
    #[error("expected LO..HI, for example -3..10")]
    NoRange,
    /// An end is no number.
    #[error("`{0}` is not a number")]
    NoNumber(String),
    /// The lower end is above the upper one.
    #[error("{0}..{1} is empty")]
    Empty(i128, i128),
}

/// Parses `LO..HI`, both ends included.
pub fn parse_bounds(text: &str) -> Result<(i128, i128), BadBounds> {
    let (low, high) = text.split_once("..").ok_or(BadBounds::NoRange)?;
    let high = high.strip_prefix('=').unwrap_or(high);
    let number = |text: &str| text.trim().parse::<i128>().map_err(|_| BadBounds::NoNumber(text.to_string()));
    let (low, high) = (number(low)?, number(high)?);
    if low > high { Err(BadBounds::Empty(low, high)) } else { Ok((low, high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_belong_to_a_range_and_an_empty_one_is_refused() {
        assert_eq!(parse_bounds("-3..10"), Ok((-3, 10)));
        assert_eq!(parse_bounds("0..=4"), Ok((0, 4)));
        assert_eq!(parse_bounds("4..0"), Err(BadBounds::Empty(4, 0)));
        assert_eq!(parse_bounds("4"), Err(BadBounds::NoRange));
        assert_eq!(parse_bounds("a..4"), Err(BadBounds::NoNumber("a".to_string())));
    }
}
