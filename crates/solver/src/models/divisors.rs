//! The divisors of an integer: the inverse of a multiplication that does not wrap.
//!
//! Small factors are found by trial division, the others by Pollard's rho method (J. M. Pollard, 1975) in R. P. Brent's
//! variant without the batches of greatest common divisors. Primality is decided by the test of Miller and Rabin with
//! the first twelve primes as bases, which is exact for 64 bits (J. Sorenson, J. Webster, 2015). All is deterministic.

use touchstone_base::{WorkKind, spend};

/// Factors up to this bound are found by trial division.
const MAX_TRIAL_DIVISOR: u64 = 256;
/// The bases of the primality test.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Returns all divisors, sorted; `None` for 0, and if there are more than `limit`.
pub(crate) fn divisors(number: u64, limit: usize) -> Option<Vec<u64>> {
    if number == 0 {
        return None;
    }
    let mut all = vec![1u64];
    for (prime, exponent) in factors(number) {
        let known = all.len();
        if known.checked_mul(exponent + 1)? > limit {
            return None;
        }
        let mut power = 1;
        for _ in 0..exponent {
            power *= prime;
            all.extend_from_within(..known);
            let new = all.len() - known;
            all[new..].iter_mut().for_each(|divisor| *divisor *= power);
        }
    }
    all.sort_unstable();
    Some(all)
}

/// Returns the prime factors with their exponents, sorted.
fn factors(number: u64) -> Vec<(u64, usize)> {
    let mut primes = Vec::new();
    let mut rest = number;
    for divisor in 2..=MAX_TRIAL_DIVISOR {
        while rest.is_multiple_of(divisor) {
            primes.push(divisor);
            rest /= divisor;
        }
    }
    let mut composites = vec![rest];
    while let Some(number) = composites.pop() {
        if number == 1 {
            continue;
        }
        if is_prime(number) {
            primes.push(number);
            continue;
        }
        let factor = proper_factor(number);
        composites.extend([factor, number / factor]);
    }
    primes.sort_unstable();
    let mut counted: Vec<(u64, usize)> = Vec::new();
    for prime in primes {
        match counted.last_mut() {
            Some((last, exponent)) if *last == prime => *exponent += 1,
            _ => counted.push((prime, 1)),
        }
    }
    counted
}

fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square, mut left) = (1, base % modulus, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(result, square, modulus);
        }
        square = multiply(square, square, modulus);
        left >>= 1;
    }
    result
}

fn is_prime(number: u64) -> bool {
    if number < 2 {
        return false;
    }
    if let Some(&base) = BASES.iter().find(|&&base| number.is_multiple_of(base)) {
        return number == base;
    }
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    BASES.iter().all(|&base| {
        let mut value = power(base, odd, number);
        if value == 1 || value == number - 1 {
            return true;
        }
        (1..twos).any(|_| {
            value = multiply(value, value, number);
            value == number - 1
        })
    })
}

/// Returns a factor of a composite number other than 1 and the number itself.
fn proper_factor(number: u64) -> u64 {
    for increment in 1u64.. {
        let step = |value: u64| {
            let next = u128::from(value) * u128::from(value) + u128::from(increment);
            (next % u128::from(number)) as u64
        };
        let (mut slow, mut fast, mut length, mut left, mut steps) = (2, 2, 1u64, 1u64, 0);
        let factor = loop {
            fast = step(fast);
            steps += 1;
            let factor = greatest_common_divisor(fast.abs_diff(slow), number);
            if factor != 1 {
                break factor;
            }
            left -= 1;
            if left == 0 {
                slow = fast;
                length *= 2;
                left = length;
            }
        };
        spend(WorkKind::Evaluation, steps);
        // The whole number: the sequence closed for all factors at once, and another one is tried.
        if factor != number {
            return factor;
        }
    }
    unreachable!("invariant: some sequence separates the factors")
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn divisors_of_small_numbers_are_those_that_divide() {
        assert_eq!(divisors(0, 100), None);
        for number in 1..3000u64 {
            let expected: Vec<u64> = (1..=number).filter(|d| number.is_multiple_of(*d)).collect();
            assert_eq!(divisors(number, 100), Some(expected), "{number}");
        }
    }

    #[test]
    fn factors_of_large_numbers_are_primes_whose_product_is_the_number() {
        let mut random = Random(7);
        let squares = [65_537u64 * 65_537, 4_294_967_291 * 4_294_967_291, 1_000_003 * 1_000_033, 257 * 257 * 257];
        let edges = [u64::MAX, u64::MAX - 58, 1 << 63, 3_215_031_751, 3_825_123_056_546_413_051];
        let some: Vec<u64> = (0..50).map(|k| random.next() >> (k % 40)).filter(|n| *n > 0).collect();
        for number in squares.into_iter().chain(edges).chain(some) {
            let factors = factors(number);
            let product = factors.iter().map(|(prime, exponent)| u128::from(*prime).pow(*exponent as u32)).product();
            assert_eq!(u128::from(number), product, "{factors:?}");
            for (prime, _) in factors {
                let small = (2..=prime.isqrt().min(100_000)).find(|d| prime.is_multiple_of(*d));
                assert!(is_prime(prime) && small.is_none(), "{prime} of {number}");
            }
        }
        assert_eq!(factors(1_000_003 * 1_000_033), [(1_000_003, 1), (1_000_033, 1)]);
        // The greatest prime of 64 bits, and strong pseudoprimes to small bases.
        assert!(is_prime(u64::MAX - 58) && !is_prime(3_215_031_751) && !is_prime(3_825_123_056_546_413_051));
    }

    #[test]
    fn more_divisors_than_the_limit_are_not_listed() {
        assert_eq!(divisors(1 << 40, 41).map(|all| all.len()), Some(41));
        assert_eq!(divisors(1 << 40, 40), None);
    }
}
