//! Intervals of floats, kept in the same [`Facts`] as everything else.
//!
//! The signed bound of a pattern limits the positive numbers (and excludes positive NaNs), the unsigned bound the negative
//! ones; so facts about a pattern express every interval of numbers exactly, provided that it excludes NaNs. Where a NaN
//! is possible nothing is said.
//!
//! Forward, an operation is evaluated at the corners: rounding is monotone, so the rounded corner bounds all rounded
//! results. Backward, the inverse operation is taken on intervals that were widened by a few places on either side,
//! which is more than rounding can have moved them.

use touchstone_base::float::{FloatOp, Format, eval, fits_integer};

use crate::terms::facts::Facts;
use crate::terms::float_order::{key, of_key};
use crate::terms::semantics::{mask, signed_max, signed_min};

/// Places by which an interval grows on each side, at each backward step.
const SLACK_ULPS: i64 = 4;

/// The numbers from one place to another (in the order of `float_order`), and perhaps NaNs. No numbers: `low > high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatInterval {
    format: Format,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) nan: bool,
}

/// The place of a number where both zeros are one.
fn place(key: i64) -> i64 {
    if key < 0 { key + 1 } else { key }
}

impl FloatInterval {
    /// All numbers, infinities included.
    pub(crate) fn numbers(format: Format) -> FloatInterval {
        let infinity = format.infinity() as i64;
        FloatInterval { format, low: !infinity, high: infinity, nan: false }
    }

    /// Returns the smallest span around some values, or `None` if one of them is a NaN. A zero at an end represents
    /// both zeros.
    fn around(format: Format, values: &[u64]) -> Option<FloatInterval> {
        if values.is_empty() || values.iter().any(|&v| format.is_nan(v)) {
            return None;
        }
        let keys = values.iter().map(|&v| key(format, v));
        let (low, high) = (keys.clone().min()?, keys.max()?);
        let low = if low == 0 { -1 } else { low };
        let high = if high == -1 { 0 } else { high };
        Some(FloatInterval { format, low, high, nan: false })
    }

    /// Returns the span of the numbers whose patterns satisfy the facts.
    pub(crate) fn of(format: Format, facts: &Facts) -> FloatInterval {
        let (sign, magnitude) = (format.sign_mask(), format.magnitude_mask());
        let infinity = format.infinity();
        let mut span = FloatInterval { format, low: i64::MAX, high: i64::MIN, nan: false };
        let mut half = |from: u64, to: u64, negative: bool| {
            if from > to {
                return;
            }
            span.nan |= to > infinity;
            if from <= infinity {
                let (near, far) = (from as i64, to.min(infinity) as i64);
                let (low, high) = if negative { (!far, !near) } else { (near, far) };
                span.low = span.low.min(low);
                span.high = span.high.max(high);
            }
        };
        if facts.ones & sign == 0 && facts.signed.1 >= 0 {
            let from = facts.unsigned.0.max(facts.signed.0.max(0) as u64);
            half(from, facts.unsigned.1.min(facts.signed.1 as u64).min(magnitude), false);
        }
        if facts.zeros & sign == 0 && facts.signed.0 < 0 && facts.unsigned.1 >= sign {
            let all = sign | magnitude;
            let from = facts.unsigned.0.max(sign).max(facts.signed.0 as u64 & all);
            let to = facts.unsigned.1.min(if facts.signed.1 < 0 { facts.signed.1 as u64 & all } else { all });
            if from <= to {
                half(from & magnitude, to & magnitude, true);
            }
        }
        span
    }

    /// The facts about a pattern that a span is; nothing is known if it may be a NaN.
    pub(crate) fn facts(&self) -> Facts {
        let width = self.format.bits();
        if self.nan {
            return Facts::top(width);
        }
        if self.low > self.high {
            return Facts { unsigned: (1, 0), ..Facts::top(width) };
        }
        let (low, high) = (of_key(self.format, self.low), of_key(self.format, self.high));
        match (self.low < 0, self.high < 0) {
            (true, true) => Facts::between(width, high, low),
            (false, false) => Facts::between(width, low, high),
            _ => Facts::between(width, 0, low).meet(&Facts::signed_between(width, signed_min(width), high as i64)),
        }
    }

    fn ends(&self) -> [u64; 2] {
        [of_key(self.format, self.low), of_key(self.format, self.high)]
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }

    fn has_zero(&self) -> bool {
        place(self.low) <= 0 && 0 <= place(self.high)
    }

    fn has_infinity(&self) -> bool {
        let infinity = self.format.infinity() as i64;
        self.low <= !infinity || infinity <= self.high
    }

    fn widened(&self) -> FloatInterval {
        let [low, high] = [self.low.saturating_sub(SLACK_ULPS), self.high.saturating_add(SLACK_ULPS)];
        let all = FloatInterval::numbers(self.format);
        FloatInterval { low: low.max(all.low), high: high.min(all.high), ..*self }
    }

    /// An operation at all corners of some intervals. `None`: a NaN is possible.
    fn corners(op: FloatOp, args: &[FloatInterval]) -> Option<FloatInterval> {
        let format = args.first()?.format;
        if args.iter().any(|a| a.nan || a.is_empty()) {
            return None;
        }
        let to = match op {
            FloatOp::Convert(to) => to,
            _ => format,
        };
        let mut values = [0; 8];
        for (corner, value) in values.iter_mut().enumerate() {
            let mut point = [0; 3];
            for (k, (slot, arg)) in point.iter_mut().zip(args).enumerate() {
                *slot = arg.ends()[corner >> k & 1];
            }
            *value = eval(op, format, &point);
        }
        FloatInterval::around(to, &values)
    }

    fn add(&self, other: &FloatInterval) -> Option<FloatInterval> {
        // Infinities are at the ends, so opposite ones meet in a corner only if both ends are combined crosswise, as
        // `corners` does.
        FloatInterval::corners(FloatOp::Add, &[*self, *other])
    }

    fn sub(&self, other: &FloatInterval) -> Option<FloatInterval> {
        FloatInterval::corners(FloatOp::Sub, &[*self, *other])
    }

    fn mul(&self, other: &FloatInterval) -> Option<FloatInterval> {
        if self.has_zero() && other.has_infinity() || self.has_infinity() && other.has_zero() {
            return None;
        }
        FloatInterval::corners(FloatOp::Mul, &[*self, *other])
    }

    fn div(&self, other: &FloatInterval) -> Option<FloatInterval> {
        if other.has_zero() {
            return None;
        }
        FloatInterval::corners(FloatOp::Div, &[*self, *other])
    }

    /// The product of a number with itself.
    fn square(&self) -> Option<FloatInterval> {
        if self.nan || self.is_empty() {
            return None;
        }
        let ends = self.ends().map(|end| eval(FloatOp::Mul, self.format, &[end, end]));
        let around = FloatInterval::around(self.format, &ends)?;
        let low = if self.has_zero() { -1 } else { around.low };
        Some(FloatInterval { low, ..around })
    }

    fn rem(&self, other: &FloatInterval) -> Option<FloatInterval> {
        if self.nan || other.nan || self.is_empty() || other.is_empty() || self.has_infinity() || other.has_zero() {
            return None;
        }
        Some(FloatInterval { low: self.low.min(-1), high: self.high.max(0), ..*self })
    }

    fn sqrt(&self) -> Option<FloatInterval> {
        FloatInterval::corners(FloatOp::Sqrt, &[*self])
    }

    fn fma(args: &[FloatInterval; 3]) -> Option<FloatInterval> {
        if args.iter().any(FloatInterval::has_infinity) {
            return None;
        }
        FloatInterval::corners(FloatOp::Fma, args)
    }
}

/// Facts about an operation's result.
pub(crate) fn float(op: FloatOp, format: Format, args: &[Facts; 3]) -> Facts {
    let width = op.result_bits(format);
    let used = &args[..op.arity()];
    if used.iter().any(Facts::is_empty) {
        return Facts::top(width);
    }
    let values = args.map(|a| a.singleton());
    if let [Some(a), Some(b), Some(c)] = values {
        return Facts::constant(width, eval(op, format, &[a, b, c]));
    }
    if let FloatOp::FromSigned(bits) | FloatOp::FromUnsigned(bits) = op {
        let ends = match op {
            FloatOp::FromSigned(_) => [args[0].signed.0 as u64, args[0].signed.1 as u64],
            _ => [args[0].unsigned.0, args[0].unsigned.1],
        };
        let ends = ends.map(|end| eval(op, format, &[end & mask(bits)]));
        return FloatInterval::around(format, &ends).map_or_else(|| Facts::top(width), |s| s.facts());
    }
    let [a, b, c] = args.map(|facts| FloatInterval::of(format, &facts));
    if let Some(nan) = certain_nan(op, format, &[a, b, c][..op.arity()], args) {
        return nan;
    }
    let span = match op {
        FloatOp::Eq | FloatOp::Lt | FloatOp::Le => {
            return match decide(op, &a, &b) {
                Some(truth) => Facts::constant(1, u64::from(truth)),
                None => Facts::top(1),
            };
        }
        FloatOp::Saturate(_) => return Facts::top(width),
        FloatOp::ToSigned(bits) | FloatOp::ToUnsigned(bits) => {
            let signed = matches!(op, FloatOp::ToSigned(_));
            return match fits(&a, bits, signed) {
                false => Facts::top(width),
                true => {
                    let [low, high] = a.ends().map(|end| eval(op, format, &[end]));
                    match signed {
                        true => Facts::signed_between(
                            width,
                            crate::terms::semantics::signed(width, low),
                            crate::terms::semantics::signed(width, high),
                        ),
                        false => Facts::between(width, low, high),
                    }
                }
            };
        }
        FloatOp::Add => a.add(&b),
        FloatOp::Sub => a.sub(&b),
        FloatOp::Mul => a.mul(&b),
        FloatOp::Div => a.div(&b),
        FloatOp::Rem => a.rem(&b),
        FloatOp::Sqrt => a.sqrt(),
        FloatOp::Fma => FloatInterval::fma(&[a, b, c]),
        FloatOp::Round(_) | FloatOp::Convert(_) => FloatInterval::corners(op, &[a]),
        FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_) => None,
    };
    span.map_or_else(|| Facts::top(width), |s| s.facts())
}

/// A result that is certainly a NaN of a known sign, since the first operand that may be one is.
fn certain_nan(op: FloatOp, format: Format, spans: &[FloatInterval], args: &[Facts; 3]) -> Option<Facts> {
    let to = match op {
        FloatOp::Eq | FloatOp::Lt | FloatOp::Le => return None,
        FloatOp::ToSigned(_) | FloatOp::ToUnsigned(_) | FloatOp::Saturate(_) => return None,
        FloatOp::Convert(to) => to,
        _ => format,
    };
    let index = spans.iter().position(|span| span.nan)?;
    let sign = match spans[index].is_empty() {
        false => return None,
        true if args[index].zeros & format.sign_mask() != 0 => 0,
        true if args[index].ones & format.sign_mask() != 0 => to.sign_mask(),
        true => return None,
    };
    let least = sign | to.infinity() | to.quiet_bit();
    Some(Facts::between(to.bits(), least, sign | to.magnitude_mask()))
}

/// Facts about the product of a term with itself.
pub(crate) fn square(format: Format, arg: &Facts) -> Facts {
    if arg.is_empty() {
        return Facts::top(format.bits());
    }
    match FloatInterval::of(format, arg).square() {
        Some(span) => span.facts(),
        None => float(FloatOp::Mul, format, &[*arg; 3]),
    }
}

/// Returns true if all numbers of a span, truncated to integers, fit a type.
fn fits(span: &FloatInterval, bits: u8, signed: bool) -> bool {
    !span.nan && !span.is_empty() && span.ends().iter().all(|&end| fits_integer(span.format, end, bits, signed))
}

/// Decides a comparison, or returns `None` if the spans do not imply it.
fn decide(op: FloatOp, a: &FloatInterval, b: &FloatInterval) -> Option<bool> {
    if a.is_empty() || b.is_empty() {
        // One of them is a NaN.
        return Some(false);
    }
    let ((a_low, a_high), (b_low, b_high)) = ((place(a.low), place(a.high)), (place(b.low), place(b.high)));
    let numbers = !a.nan && !b.nan;
    match op {
        FloatOp::Lt if a_low >= b_high => Some(false),
        FloatOp::Lt if numbers && a_high < b_low => Some(true),
        FloatOp::Le if a_low > b_high => Some(false),
        FloatOp::Le if numbers && a_high <= b_low => Some(true),
        FloatOp::Eq if a_low > b_high || b_low > a_high => Some(false),
        FloatOp::Eq if numbers && a_low == a_high && b_low == b_high && a_low == b_low => Some(true),
        _ => None,
    }
}

/// Returns the facts about both operands that a comparison with a known truth value implies.
pub(crate) fn compared(op: FloatOp, format: Format, truth: bool, a: &Facts, b: &Facts) -> Option<[Facts; 2]> {
    let (a, b) = (FloatInterval::of(format, a), FloatInterval::of(format, b));
    let (op, a, b, swapped) = match (op, truth) {
        (_, true) => (op, a, b, false),
        (FloatOp::Lt, false) if !a.nan && !b.nan => (FloatOp::Le, b, a, true),
        (FloatOp::Le, false) if !a.nan && !b.nan => (FloatOp::Lt, b, a, true),
        _ => return None,
    };
    let all = FloatInterval::numbers(format);
    if a.is_empty() || b.is_empty() {
        // A NaN where there must be none.
        let nothing = FloatInterval { low: 1, high: 0, ..all }.facts();
        return Some([nothing, nothing]);
    }
    // From places back to keys: a zero as an upper end is +0, as a lower end -0.
    let upper = |place: i64| if place < 0 { place - 1 } else { place };
    let lower = |place: i64| if place <= 0 { place - 1 } else { place };
    let strict = i64::from(op == FloatOp::Lt);
    let (mut for_a, mut for_b) = (all, all);
    for_a.high = all.high.min(upper(place(b.high) - strict));
    for_b.low = all.low.max(lower(place(a.low) + strict));
    if op == FloatOp::Eq {
        for_a.low = lower(place(b.low));
        for_b.high = upper(place(a.high));
    }
    let news = [for_a.facts(), for_b.facts()];
    Some(if swapped { [news[1], news[0]] } else { news })
}

/// Returns the facts about the arguments of an operation that the facts about its result imply.
pub(crate) fn arguments(
    op: FloatOp,
    format: Format,
    result: &Facts,
    args: &[Facts; 3],
    same: bool,
) -> [Option<Facts>; 3] {
    let none = [None; 3];
    if result.is_empty() || args.iter().any(Facts::is_empty) {
        return none;
    }
    match op {
        FloatOp::ToSigned(bits) => return [converted(format, bits, true, result, &args[0]), None, None],
        FloatOp::ToUnsigned(bits) => return [converted(format, bits, false, result, &args[0]), None, None],
        FloatOp::Eq | FloatOp::Lt | FloatOp::Le => return none,
        _ => {}
    }
    let to = match op {
        FloatOp::Convert(to) => to,
        _ => format,
    };
    let exact = FloatInterval::of(to, result);
    if exact.nan || exact.is_empty() {
        return none;
    }
    let result = exact.widened();
    if let FloatOp::FromSigned(bits) | FloatOp::FromUnsigned(bits) = op {
        let [low, high] = result.ends().map(|end| format.value(end));
        let (low, high) = (low.floor(), high.ceil());
        // These casts saturate.
        let facts = match op {
            FloatOp::FromSigned(_) => Facts {
                signed: ((low as i64).max(signed_min(bits)), (high as i64).min(signed_max(bits))),
                ..Facts::top(bits)
            },
            _ => Facts { unsigned: (low as u64, (high as u64).min(mask(bits))), ..Facts::top(bits) },
        };
        return [Some(facts), None, None];
    }
    let all = FloatInterval::numbers(format);
    let [a, b, _] = args.map(|facts| FloatInterval::of(format, &facts));
    let facts = |span: Option<FloatInterval>| Some(span.map_or(all, |s| s.widened()).facts());
    let one = |bits: f64| FloatInterval::around(format, &[format.of(-bits), format.of(bits)]);
    match op {
        FloatOp::Add => [facts(result.sub(&b)), facts(result.sub(&a)), None],
        FloatOp::Sub => [facts(result.add(&b)), facts(a.sub(&result)), None],
        FloatOp::Mul if same => {
            let high = eval(FloatOp::Sqrt, format, &[result.ends()[1]]);
            let root = FloatInterval::around(format, &[high, high ^ format.sign_mask()]);
            [facts(root), None, None]
        }
        FloatOp::Mul => [facts(result.div(&b)), facts(result.div(&a)), None],
        FloatOp::Div => [facts(result.mul(&b)), facts(a.div(&result)), None],
        FloatOp::Sqrt => {
            let square = FloatInterval { low: result.low.max(0), ..result }.square();
            let low = FloatInterval { low: -1, ..all };
            [
                Some(square.map_or(low, |s| FloatInterval { low: s.widened().low.max(-1), ..s.widened() }).facts()),
                None,
                None,
            ]
        }
        FloatOp::Convert(_) => [facts(FloatInterval::corners(FloatOp::Convert(format), &[result])), None, None],
        FloatOp::Round(_) => [facts(one(1.0).and_then(|s| result.add(&s))), None, None],
        FloatOp::Rem | FloatOp::Fma => {
            let number = Some(all.facts());
            [number, number, if op == FloatOp::Fma { number } else { None }]
        }
        _ => none,
    }
}

/// Returns the facts about a float that the facts about its conversion to an integer imply.
fn converted(format: Format, bits: u8, signed: bool, result: &Facts, arg: &Facts) -> Option<Facts> {
    let definite = signed && matches!(bits, 32 | 64) && result.signed.0 > signed_min(bits);
    if !definite && !fits(&FloatInterval::of(format, arg), bits, signed) {
        return None;
    }
    let (low, high) = match signed {
        true => (result.signed.0 as f64 - 1.0, result.signed.1 as f64 + 1.0),
        false => (result.unsigned.0 as f64 - 1.0, result.unsigned.1 as f64 + 1.0),
    };
    FloatInterval::around(format, &[format.of(low), format.of(high)]).map(|s| s.widened().facts())
}
