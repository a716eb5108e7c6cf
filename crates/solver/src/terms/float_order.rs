//! Floats as integers in their own order: `-inf < … < -0 < +0 < … < +inf`, one apart from neighbour to neighbour.

use touchstone_base::float::Format;

/// The place of a number in the order. Not for NaNs.
pub(crate) fn key(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if bits & format.sign_mask() != 0 { !magnitude } else { magnitude }
}

/// The number at a place in the order; beyond the infinities it is an infinity.
pub(crate) fn of_key(format: Format, key: i64) -> u64 {
    let infinity = format.infinity() as i64;
    if key < 0 { format.sign_mask() | (!key).min(infinity) as u64 } else { key.min(infinity) as u64 }
}

/// The number some places further, up to the infinities. The zeros are two places.
pub(crate) fn step(format: Format, bits: u64, by: i64) -> u64 {
    of_key(format, key(format, bits).saturating_add(by))
}

/// Returns true if the pattern is a zero.
pub(crate) fn is_zero(format: Format, bits: u64) -> bool {
    bits & format.magnitude_mask() == 0
}

/// Returns true if the pattern is a finite number.
pub(crate) fn is_finite(format: Format, bits: u64) -> bool {
    bits & format.magnitude_mask() < format.infinity()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_numbers() {
        for format in [Format::F32, Format::F64] {
            let numbers = [f64::NEG_INFINITY, -2.5, -1.0, -1e-30, -0.0, 0.0, 1e-30, 1.0, 1.5, 1e30, f64::INFINITY];
            let keys: Vec<i64> = numbers.iter().map(|&x| key(format, format.of(x))).collect();
            assert!(keys.windows(2).all(|w| w[0] < w[1]), "{keys:?}");
            for (&number, &k) in numbers.iter().zip(&keys) {
                assert_eq!(of_key(format, k), format.of(number));
            }
            assert_eq!(step(format, format.of(-0.0), 1), format.of(0.0));
            assert_eq!(step(format, format.infinity(), 1), format.infinity());
            assert_eq!(step(format, format.of(f64::NEG_INFINITY), i64::MIN), format.of(f64::NEG_INFINITY));
        }
        assert_eq!(step(Format::F64, 1f64.to_bits(), 1), 1f64.next_up().to_bits());
        assert_eq!(step(Format::F64, (-1f64).to_bits(), 1), (-1f64).next_up().to_bits());
    }
}
