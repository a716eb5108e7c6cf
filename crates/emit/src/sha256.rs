//! SHA-256 (FIPS 180-4). A Test-Comp suite identifies its program by this hash.

/// Returns the digest in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    let primes = first_primes();
    // FIPS 180-4, 4.2.2 and 5.3.3: the first 32 bits of the fractional parts of the cube roots of 64 primes and of the
    // square roots of 8.
    let constants: Vec<u32> = primes.iter().map(|&prime| root_fraction(prime, 3)).collect();
    let mut state: Vec<u32> = primes[..8].iter().map(|&prime| root_fraction(prime, 2)).collect();
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn first_primes() -> Vec<u128> {
    (2..).filter(|&number| (2..number).all(|divisor| number % divisor != 0)).take(64).collect()
}

/// Returns the fractional part of the largest `root` with `root^power <= number * 2^(32 * power)`.
fn root_fraction(number: u128, power: u32) -> u32 {
    let wanted = number << (32 * power);
    let mut root: u128 = 0;
    for bit in (0..37).rev() {
        let next = root | 1 << bit;
        if next.pow(power) <= wanted {
            root = next;
        }
    }
    root as u32
}

fn compress(state: &mut [u32], block: &[u8], constants: &[u32]) {
    let mut words: Vec<u32> =
        block.chunks_exact(4).map(|four| four.iter().fold(0, |word, &byte| word << 8 | u32::from(byte))).collect();
    for index in 16..64 {
        let (a, b) = (words[index - 15], words[index - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let large = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        words.push(words[index - 16].wrapping_add(small).wrapping_add(words[index - 7]).wrapping_add(large));
    }
    let mut s: Vec<u32> = state.to_vec();
    for (word, constant) in words.iter().zip(constants) {
        let large = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
        let choice = s[4] & s[5] ^ !s[4] & s[6];
        let first = s[7].wrapping_add(large).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let small = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
        let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2];
        s.rotate_right(1);
        s[4] = s[4].wrapping_add(first);
        s[0] = first.wrapping_add(small).wrapping_add(majority);
    }
    for (old, new) in state.iter_mut().zip(s) {
        *old = old.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let check = |text: &[u8], expected: &str| assert_eq!(sha256(text), expected);
        check(b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check(b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check(&[b'a'; 1000], "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
    }
}
