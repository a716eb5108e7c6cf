//! Modified UTF-8, the encoding of strings in class files (JVM specification, section 4.4.7).

use std::sync::Arc;

/// A string of the constant pool.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Text {
    text: Arc<str>,
    /// The UTF-16 code units, if they contain unpaired surrogates, which `str` can't hold.
    units: Option<Arc<[u16]>>,
}

impl Text {
    /// Decodes bytes, or returns the offset of the first malformed byte.
    pub fn decode(bytes: &[u8]) -> Result<Text, usize> {
        if bytes.iter().all(|byte| (1..0x80).contains(byte)) {
            let text = std::str::from_utf8(bytes).map_err(|error| error.valid_up_to())?;
            return Ok(Text { text: text.into(), units: None });
        }
        let mut units = Vec::with_capacity(bytes.len());
        let mut at = 0;
        let next = |at: usize| bytes.get(at).filter(|byte| **byte & 0xc0 == 0x80).map(|byte| u16::from(byte & 0x3f));
        while at < bytes.len() {
            let first = u16::from(bytes[at]);
            let (unit, length) = match first {
                0x01..=0x7f => (first, 1),
                0xc0..=0xdf => ((first & 0x1f) << 6 | next(at + 1).ok_or(at)?, 2),
                0xe0..=0xef => ((first & 0x0f) << 12 | next(at + 1).ok_or(at)? << 6 | next(at + 2).ok_or(at)?, 3),
                _ => return Err(at),
            };
            units.push(unit);
            at += length;
        }
        Ok(match String::from_utf16(&units) {
            Ok(text) => Text { text: text.into(), units: None },
            Err(_) => Text { text: String::from_utf16_lossy(&units).into(), units: Some(units.into()) },
        })
    }

    /// The string; unpaired surrogates are replaced.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the UTF-16 code units.
    pub fn units(&self) -> Vec<u16> {
        match &self.units {
            Some(units) => units.to_vec(),
            None => self.text.encode_utf16().collect(),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text { text: text.into(), units: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_surrogates_and_umlauts_are_read_and_other_bytes_are_refused_with_their_place() {
        let text = |bytes: &[u8]| Text::decode(bytes).map(|text| text.units());
        assert_eq!(text(b"abc"), Ok(vec![97, 98, 99]));
        assert_eq!(text(&[0xc0, 0x80]), Ok(vec![0]));
        assert_eq!(text("ä€".as_bytes()), Ok(vec![0xe4, 0x20ac]));
        assert_eq!(text(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]), Ok(vec![0xd83d, 0xde00]));
        assert_eq!(text(&[0xed, 0xa0, 0xbd]), Ok(vec![0xd83d]));
        assert_eq!(text(&[97, 0]), Err(1));
        assert_eq!(text(&[97, 0xc3]), Err(1));
        assert_eq!(text(&[0xf0, 0x9f, 0x98, 0x80]), Err(0));
    }
}
