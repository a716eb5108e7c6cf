//! Mathematical functions whose values the Java platform prescribes to the last bit: those of `java.lang.StrictMath`,
//! which computes with the algorithms of fdlibm.
//!
//! The crate `libm` has the same algorithms; functions for which it gives other values are here. `sin`, `cos` and `log1p`
//! are missing: nothing in the workspace may take them for those of `libm`.

pub(crate) use libm::{acos, asin, atan, expm1, tan};

/// ln 2, split so that a product of the high part and an exponent is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// log10 2, split in the same way.
const LOG10_2_HIGH: f64 = 3.010_299_956_636_117_7e-1;
const LOG10_2_LOW: f64 = 3.694_239_077_158_931e-13;
/// The coefficients of (ln(1+s) - ln(1-s) - 2s) / s as a polynomial in s².
const LOG_SERIES: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];
/// 2^54, by which subnormal numbers are scaled.
const SCALE: f64 = 18_014_398_509_481_984.0;
/// The high word of the largest x whose exponential is finite, and the largest x whose hyperbolic sine is.
const LARGE: u32 = 0x4086_2E42;
const LARGEST: u64 = 0x4086_33CE_8FB9_F87D;

/// The error of the constant π.
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

fn high(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

fn with_high(x: f64, high: u32) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff | u64::from(high) << 32)
}

/// Near the y axis and left of it, the original corrects the error of π twice; `libm` does not.
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let exponents = (high(y.abs()) as i32 - high(x.abs()) as i32) >> 20;
    if exponents > 60 && x < 0.0 && x.is_finite() && y.is_finite() {
        let positive = std::f64::consts::PI - (std::f64::consts::FRAC_PI_2 - PI_LOW);
        return positive.copysign(y);
    }
    libm::atan2(y, x)
}

/// Returns the logarithm of a number without one.
fn log_of_special(x: f64) -> Option<f64> {
    match x {
        _ if x.is_nan() || x == f64::INFINITY => Some(x),
        0.0 => Some(f64::NEG_INFINITY),
        _ if x < 0.0 => Some(f64::NAN),
        _ => None,
    }
}

/// Splits a positive number into its exponent and a number with the exponent 0 in its high word's place.
fn split(x: f64) -> (i32, u32, f64) {
    let (x, least) = if high(x) < 0x0010_0000 { (x * SCALE, -54) } else { (x, 0) };
    let exponent = least + (high(x) >> 20) as i32 - 1023;
    (exponent, high(x) & 0x000f_ffff, x)
}

pub(crate) fn log(x: f64) -> f64 {
    if let Some(special) = log_of_special(x) {
        return special;
    }
    let (exponent, fraction, x) = split(x);
    // From sqrt(1/2) to sqrt(2).
    let carry = (fraction + 0x95f64) & 0x10_0000;
    let f = with_high(x, fraction | (carry ^ 0x3ff0_0000)) - 1.0;
    let k = f64::from(exponent + (carry >> 20) as i32);
    if 0x000f_ffff & (2 + fraction) < 3 {
        if f == 0.0 {
            return k * LN2_HIGH + k * LN2_LOW;
        }
        let r = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
        return if k == 0.0 { f - r } else { k * LN2_HIGH - ((r - k * LN2_LOW) - f) };
    }
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = w * (LOG_SERIES[1] + w * (LOG_SERIES[3] + w * LOG_SERIES[5]));
    let even = z * (LOG_SERIES[0] + w * (LOG_SERIES[2] + w * (LOG_SERIES[4] + w * LOG_SERIES[6])));
    let r = even + odd;
    let (below, above) = (fraction as i32 - 0x6147a, 0x6b851 - fraction as i32);
    if below | above > 0 {
        let half_square = 0.5 * f * f;
        match k == 0.0 {
            true => f - (half_square - s * (half_square + r)),
            false => k * LN2_HIGH - ((half_square - (s * (half_square + r) + k * LN2_LOW)) - f),
        }
    } else if k == 0.0 {
        f - s * (f - r)
    } else {
        k * LN2_HIGH - ((s * (f - r) - k * LN2_LOW) - f)
    }
}

pub(crate) fn log10(x: f64) -> f64 {
    if let Some(special) = log_of_special(x) {
        return special;
    }
    let (exponent, fraction, x) = split(x);
    let is_negative = u32::from(exponent < 0);
    let k = f64::from(exponent + is_negative as i32);
    let x = with_high(x, fraction | (0x3ff - is_negative) << 20);
    let low = k * LOG10_2_LOW + std::f64::consts::LOG10_E * log(x);
    low + k * LOG10_2_HIGH
}

pub(crate) fn sinh(x: f64) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let (half, a) = (0.5f64.copysign(x), x.abs());
    if a < 22.0 {
        // 2^-28: the result is x.
        if a < 3.725_290_298_461_914e-9 {
            return x;
        }
        let t = libm::expm1(a);
        return if a < 1.0 { half * (2.0 * t - t * t / (t + 1.0)) } else { half * (t + t / (t + 1.0)) };
    }
    large(a, half).unwrap_or(f64::INFINITY.copysign(x))
}

pub(crate) fn cosh(x: f64) -> f64 {
    if !x.is_finite() {
        return x * x;
    }
    let a = x.abs();
    match high(a) {
        // Below ln 2 / 2.
        0..0x3fd6_2e43 => {
            let t = libm::expm1(a);
            let w = 1.0 + t;
            if high(a) < 0x3c80_0000 { w } else { 1.0 + t * t / (w + w) }
        }
        // Below 22.
        0x3fd6_2e43..0x4036_0000 => {
            let t = libm::exp(a);
            0.5 * t + 0.5 / t
        }
        _ => large(a, 0.5).unwrap_or(f64::INFINITY),
    }
}

/// Returns the hyperbolic sine or cosine of a large number, `half` times its exponential; `None` if that overflows.
fn large(a: f64, half: f64) -> Option<f64> {
    if high(a) < LARGE {
        return Some(half * libm::exp(a));
    }
    (a.to_bits() <= LARGEST).then(|| {
        let w = libm::exp(0.5 * a);
        half * w * w
    })
}

pub(crate) fn tanh(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let a = x.abs();
    let positive = match high(a) {
        // Below 2^-55.
        0..0x3c80_0000 => return x * (1.0 + x),
        0x3c80_0000..0x3ff0_0000 => {
            let t = libm::expm1(-2.0 * a);
            -t / (t + 2.0)
        }
        // Below 22.
        0x3ff0_0000..0x4036_0000 => {
            let t = libm::expm1(2.0 * a);
            1.0 - 2.0 / (t + 2.0)
        }
        _ => 1.0,
    };
    positive.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of JDK 17 on which libraries of C differ.
    #[test]
    fn values_are_those_of_java() {
        let x = -1.259572443559282;
        assert_eq!(tanh(x), -0.850946193783777);
        assert_eq!(cosh(x), 1.9038449117119087);
        assert_eq!(sinh(x), -1.6200695811758596);
        assert_eq!(log(-x), 0.23077233286925597);
        assert_eq!(log10(-x), 0.1002231507410583);
        assert_eq!(atan(x), -0.8997735929697639);
        assert_eq!((log10(700.25), sinh(710.2)), (2.8452531174956057, 1.3643036845527107e308));
        assert_eq!((atan2(1e30, -1.0), atan2(1e30, 1.0)), (1.5707963267948968, std::f64::consts::FRAC_PI_2));
        assert_eq!((log10(0.01), log(1.0), log(0.0)), (-2.0, 0.0, f64::NEG_INFINITY));
        assert!(log(-1.0).is_nan() && tanh(f64::NAN).is_nan());
        assert_eq!(
            (tanh(f64::NEG_INFINITY), cosh(f64::NEG_INFINITY), sinh(-800.0)),
            (-1.0, f64::INFINITY, f64::NEG_INFINITY)
        );
    }
}
