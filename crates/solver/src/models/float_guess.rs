//! Candidate float values: natural ones first, so that tests are readable, then those next to a boundary.

use touchstone_base::float::{FloatOp, Format, eval};

use crate::terms::float_order::{is_finite, step};
use crate::terms::semantics::{mask, signed};

/// Numbers up to this magnitude are compared by whole steps before single places are tried.
const MAX_INTEGRAL_STEP_MAGNITUDE: f64 = (1u64 << 20) as f64;

/// The value of a float variable in the `k`-th of the first guesses.
pub(crate) fn first(format: Format, k: usize, raw: u64) -> u64 {
    let unit = (raw >> 11) as f64 / (1u64 << 53) as f64;
    let value = match k {
        0 => 0.0,
        1 => 1.0,
        2 => -1.0,
        3 => 0.5,
        4 => 10.0,
        5 => -100.0,
        6 => (raw % 2001) as f64 - 1000.0,
        7 => f64::NAN.copysign(1.0),
        8 => f64::INFINITY,
        9 => f64::NEG_INFINITY,
        10 => return format.infinity() - 1,
        11 => return 1,
        12 => return format.sign_mask(),
        _ if k.is_multiple_of(3) => unit * 2.0 - 1.0,
        _ if k % 3 == 1 => ((raw % 20_001) as f64 - 10_000.0) / 16.0,
        _ => return raw & mask(format.bits()),
    };
    if value.is_nan() { format.infinity() | format.quiet_bit() } else { format.of(value) }
}

/// Numbers above another one: a whole number, one that is a little greater, the very next.
fn above(format: Format, bits: u64) -> [u64; 3] {
    let value = format.value(bits);
    let whole =
        if value.abs() < MAX_INTEGRAL_STEP_MAGNITUDE { value.floor() + 1.0 } else { value + value.abs() / 256.0 };
    let next = step(format, bits, 1);
    // The zeros are two places but one number.
    let next = if next == 0 { 1 } else { next };
    let near = if value == 0.0 { 1.0 / 1024.0 } else { value.abs() / 1024.0 };
    [format.of(whole), format.of(value + near), next]
}

fn below(format: Format, bits: u64) -> [u64; 3] {
    above(format, bits ^ format.sign_mask()).map(|v| v ^ format.sign_mask())
}

/// Values for one side of a comparison (`false`: the first) that may give it a truth value, the other side unchanged.
pub(crate) fn sides(op: FloatOp, format: Format, truth: bool, x: u64, y: u64) -> Vec<(bool, u64)> {
    let nan = format.infinity() | format.quiet_bit();
    if truth && format.is_nan(x) && format.is_nan(y) {
        return vec![(false, 0), (true, 0)];
    }
    let mut values = Vec::new();
    // What the first side should be relative to y, and the second relative to x.
    let want_less = (op != FloatOp::Eq) == truth;
    if op == FloatOp::Eq {
        if truth {
            if !format.is_nan(y) {
                values.push((false, y));
            }
            if !format.is_nan(x) {
                values.push((true, x));
            }
            return values;
        }
        for (second, other) in [(false, y), (true, x)] {
            values.extend(above(format, other).into_iter().chain(below(format, other)).map(|v| (second, v)));
        }
    } else {
        let equal_too = (op == FloatOp::Le) == truth;
        for (second, other) in [(false, y), (true, x)] {
            if format.is_nan(other) {
                continue;
            }
            let targets = if want_less != second { below(format, other) } else { above(format, other) };
            values.push((second, targets[0]));
            if equal_too {
                values.push((second, other));
            }
            values.extend(targets[1..].iter().map(|&v| (second, v)));
        }
    }
    if !truth {
        values.extend([(false, nan), (true, nan)]);
    }
    values
}

/// Values for one operand (its number comes first) that may make an operation give a result, the others unchanged.
pub(crate) fn operands(op: FloatOp, format: Format, args: &[u64; 3], same: bool, target: u64) -> Vec<(usize, u64)> {
    let [x, y, z] = *args;
    let calc = |op: FloatOp, a: u64, b: u64| eval(op, format, &[a, b]);
    let mut values = Vec::new();
    match op {
        FloatOp::Add if same => values.push((0, calc(FloatOp::Mul, target, format.of(0.5)))),
        FloatOp::Add => values.extend([(0, calc(FloatOp::Sub, target, y)), (1, calc(FloatOp::Sub, target, x))]),
        FloatOp::Sub => values.extend([(0, calc(FloatOp::Add, target, y)), (1, calc(FloatOp::Sub, x, target))]),
        FloatOp::Mul if same => {
            let root = eval(FloatOp::Sqrt, format, &[target]);
            values.extend([(0, root), (0, root ^ format.sign_mask())]);
        }
        FloatOp::Mul => values.extend([(0, calc(FloatOp::Div, target, y)), (1, calc(FloatOp::Div, target, x))]),
        FloatOp::Div => values.extend([(0, calc(FloatOp::Mul, target, y)), (1, calc(FloatOp::Div, x, target))]),
        FloatOp::Sqrt => values.push((0, calc(FloatOp::Mul, target, target))),
        FloatOp::Rem | FloatOp::Round(_) => values.push((0, target)),
        FloatOp::Fma => {
            let rest = calc(FloatOp::Sub, target, z);
            values.extend([(0, calc(FloatOp::Div, rest, y)), (1, calc(FloatOp::Div, rest, x))]);
            values.push((2, calc(FloatOp::Sub, target, calc(FloatOp::Mul, x, y))));
        }
        FloatOp::Convert(to) => values.push((0, eval(FloatOp::Convert(format), to, &[target]))),
        FloatOp::FromSigned(bits) => values.push((0, format.value(target) as i64 as u64 & mask(bits))),
        FloatOp::FromUnsigned(bits) => values.push((0, format.value(target) as u64 & mask(bits))),
        FloatOp::ToSigned(bits) => {
            let whole = signed(bits, target) as f64;
            values.extend([(0, format.of(whole)), (0, format.of(whole + 0.5f64.copysign(whole)))]);
        }
        FloatOp::ToUnsigned(_) => values.extend([(0, format.of(target as f64)), (0, format.of(target as f64 + 0.5))]),
        FloatOp::Eq | FloatOp::Lt | FloatOp::Le | FloatOp::Saturate(_) => {}
    }
    if matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Div | FloatOp::Sqrt) {
        for (index, value) in &mut values {
            *value = nudged(op, format, args, same, *index, *value, target);
        }
    }
    values
}

/// A neighbour of an operand that hits the target, if rounding made the operand itself miss it.
fn nudged(op: FloatOp, format: Format, args: &[u64; 3], same: bool, index: usize, value: u64, target: u64) -> u64 {
    let hits = |value: u64| {
        let mut args = *args;
        args[index] = value;
        if same {
            args = [value; 3];
        }
        eval(op, format, &args) == target
    };
    if hits(value) || !is_finite(format, value) {
        return value;
    }
    [1, -1, 2, -2, 3, -3].into_iter().map(|by| step(format, value, by)).find(|&v| hits(v)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_side_gives_the_comparison_its_truth_value() {
        let format = Format::F64;
        let numbers = [0.0, -0.0, 1.0, -1.0, 37.5, 1e300, -1e-300, 0.1].map(|v| format.of(v));
        for op in [FloatOp::Eq, FloatOp::Lt, FloatOp::Le] {
            for truth in [true, false] {
                for x in numbers {
                    for y in numbers {
                        for (second, value) in sides(op, format, truth, x, y) {
                            let args = if second { [x, value] } else { [value, y] };
                            assert_eq!(eval(op, format, &args) == 1, truth, "{op:?} {args:x?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn inverting_an_operation_hits_the_target() {
        let check = |op, x: f64, y: f64, target: f64| {
            let format = Format::F64;
            let args = [x, y, x].map(|v| format.of(v));
            let target = format.of(target);
            for (index, value) in operands(op, format, &args, false, target) {
                let mut now = args;
                now[index] = value;
                assert_eq!(eval(op, format, &now), target, "{op:?} {x} {y}");
            }
        };
        check(FloatOp::Add, 0.3, 0.1, 0.7);
        check(FloatOp::Sub, 0.3, 0.1, 0.7);
        check(FloatOp::Mul, 0.5, 3.0, 0.75);
        check(FloatOp::Div, 7.0, 3.0, 0.25);
        check(FloatOp::Sqrt, 7.0, 7.0, 3.0);
    }
}
