//! Zip archives of a few small files, stored without compression and without dates, so that equal files give equal
//! bytes.

/// Returns the archive of the files, in the given order.
pub(crate) fn zip<'a>(files: impl Iterator<Item = (String, &'a [u8])>) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    let mut count: u16 = 0;
    for (name, contents) in files {
        let offset = bytes.len() as u32;
        let header = header(&name, contents);
        bytes.extend([b'P', b'K', 3, 4]);
        bytes.extend(&header);
        bytes.extend(name.as_bytes());
        bytes.extend(contents);
        directory.extend([b'P', b'K', 1, 2, 20, 0]);
        directory.extend(&header);
        // No comment, the first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        count = count.saturating_add(1);
    }
    let offset = bytes.len() as u32;
    let size = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend([b'P', b'K', 5, 6, 0, 0, 0, 0]);
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// Returns the fields that the local header and the central directory share: version, flags, method, date, checksum,
/// sizes, lengths.
fn header(name: &str, contents: &[u8]) -> Vec<u8> {
    // Version 2.0, names in UTF-8, stored, midnight of 1 January 1980.
    let mut header = vec![20, 0, 0, 8, 0, 0, 0, 0, 33, 0];
    header.extend(crc32(contents).to_le_bytes());
    header.extend((contents.len() as u32).to_le_bytes());
    header.extend((contents.len() as u32).to_le_bytes());
    header.extend((name.len() as u16).to_le_bytes());
    header.extend([0, 0]);
    header
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_zip_format() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
