//! Float operations as circuits, for any width of exponent and fraction (tests use tiny ones, exhaustively).
//!
//! An operand is taken apart into sign, exponent and a significand with its leading one; the exact result, or as much of
//! it as matters and a sticky bit for the rest, is rounded by one shared circuit. Quotients and roots are computed digit by
//! digit: as free bits that are pinned by a multiplication they took the SAT solver seconds even for given operands.
//!
//! Not here: the remainder, whose exact circuit would be enormous. Its bits are free, and `sat` tells what it is at the
//! arguments that a model needs.

use batsat::Lit;
use touchstone_base::float::{FloatOp, Format, Rounding};

use crate::sat::blast::{Bits, Blaster};
use crate::terms::term::Rel;

/// The widths of a binary format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) exponent: usize,
    pub(crate) fraction: usize,
}

impl Shape {
    fn of(format: Format) -> Shape {
        Shape { exponent: usize::from(format.exponent_bits()), fraction: usize::from(format.fraction_bits()) }
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The least exponent of a normal number.
    fn least(self) -> i64 {
        1 - self.bias()
    }

    /// Bits of a signed exponent that holds sums and differences of normalised ones.
    fn wide(self) -> usize {
        let digits = usize::BITS as usize - self.fraction.leading_zeros() as usize;
        self.exponent.max(digits) + 4
    }
}

/// The parts of a pattern.
struct Fields {
    sign: Lit,
    exponent: Bits,
    fraction: Bits,
    /// The exponent's bits are all 0.
    low: Lit,
    nan: Lit,
    infinite: Lit,
    zero: Lit,
}

/// `(-1)^sign * significand * 2^exponent`, the significand between 1 and 2. Means nothing for zeros, infinities, NaNs.
struct Number {
    sign: Lit,
    /// Signed.
    exponent: Bits,
    /// The top bit is the leading one.
    significand: Bits,
}

impl Blaster {
    /// The circuit of an operation; arguments that it does not have are ignored.
    pub(crate) fn float(&mut self, op: FloatOp, format: Format, args: &[Bits; 3]) -> Bits {
        let shape = Shape::of(format);
        let [a, b, c] = args;
        match op {
            FloatOp::Add => self.float_add(shape, a, b, b),
            FloatOp::Sub => {
                let mut negated = b.clone();
                if let Some(sign) = negated.last_mut() {
                    *sign = !*sign;
                }
                self.float_add(shape, a, &negated, b)
            }
            FloatOp::Mul => self.float_mul(shape, a, b),
            FloatOp::Div => self.float_div(shape, a, b),
            FloatOp::Sqrt => self.float_sqrt(shape, a),
            FloatOp::Fma => self.float_fma(shape, a, b, c),
            FloatOp::Rem => self.fresh_bits(format.bits()),
            FloatOp::Eq | FloatOp::Lt | FloatOp::Le => vec![self.float_compare(shape, op, a, b)],
            FloatOp::Round(mode) => self.float_round(shape, mode, a),
            FloatOp::Convert(to) => self.float_convert(shape, Shape::of(to), a),
            FloatOp::FromSigned(_) => self.float_from_signed(shape, a),
            FloatOp::FromUnsigned(_) => {
                let off = self.off();
                self.float_from(shape, off, a)
            }
            FloatOp::ToSigned(bits) => self.float_to_signed(shape, a, usize::from(bits)),
            FloatOp::ToUnsigned(bits) => self.float_to_unsigned(shape, a, usize::from(bits)),
            FloatOp::Saturate(_) => unreachable!("invariant: `Terms::float` writes it with other operations"),
        }
    }

    fn off(&self) -> Lit {
        self.circuit.constant(false)
    }

    /// A signed constant of any width.
    fn number(&self, width: usize, value: i64) -> Bits {
        (0..width).map(|i| self.circuit.constant(value >> i.min(63) & 1 == 1)).collect()
    }

    fn any(&mut self, lits: &[Lit]) -> Lit {
        let none = self.none(lits);
        !none
    }

    fn none(&mut self, lits: &[Lit]) -> Lit {
        let negated: Bits = lits.iter().map(|&l| !l).collect();
        self.circuit.all(&negated)
    }

    fn all(&mut self, lits: &[Lit]) -> Lit {
        self.circuit.all(lits)
    }

    fn plus(&mut self, x: &[Lit], y: &[Lit]) -> Bits {
        let off = self.off();
        self.add(x, y, off).0
    }

    fn minus(&mut self, x: &[Lit], y: &[Lit]) -> Bits {
        let on = !self.off();
        let negated: Bits = y.iter().map(|&l| !l).collect();
        self.add(x, &negated, on).0
    }

    /// `x` where `on`, else 0.
    fn gated(&mut self, on: Lit, x: &[Lit]) -> Bits {
        x.iter().map(|&l| self.circuit.and(on, l)).collect()
    }

    fn zero_extended(&self, x: &[Lit], width: usize) -> Bits {
        let mut bits = x.to_vec();
        bits.resize(width.max(x.len()), self.off());
        bits
    }

    /// The negated number where `negative`, else the number.
    fn signed_by(&mut self, negative: Lit, x: &[Lit]) -> Bits {
        let flipped: Bits = x.iter().map(|&l| self.circuit.xor(l, negative)).collect();
        let zero = self.number(x.len(), 0);
        self.add(&flipped, &zero, negative).0
    }

    /// Shifted to the right, and whether a one was lost.
    fn shift_right(&mut self, x: &[Lit], amount: &[Lit]) -> (Bits, Lit) {
        let off = self.off();
        let mut bits = x.to_vec();
        let mut lost = off;
        for (stage, &by) in amount.iter().enumerate() {
            let distance = 1usize.checked_shl(stage as u32).unwrap_or(usize::MAX).min(bits.len());
            let dropped = self.any(&bits[..distance]);
            let dropped = self.circuit.and(by, dropped);
            lost = self.circuit.or(lost, dropped);
            let mut moved = bits[distance..].to_vec();
            moved.resize(bits.len(), off);
            bits = self.choose(by, &moved, &bits);
        }
        (bits, lost)
    }

    /// Shifted to the left until the top bit is set, and by how much; the top bit is taken for set.
    fn normalise(&mut self, x: &[Lit]) -> (Bits, Bits) {
        let off = self.off();
        let mut bits = x.to_vec();
        let len = bits.len();
        let mut count = Vec::new();
        let stages = usize::BITS - (len - 1).leading_zeros();
        for stage in (0..stages).rev() {
            let distance = 1usize << stage;
            let empty = self.none(&bits[len - distance..]);
            let mut moved = vec![off; distance];
            moved.extend_from_slice(&bits[..len - distance]);
            bits = self.choose(empty, &moved, &bits);
            count.push(empty);
        }
        count.reverse();
        bits[len - 1] = !off;
        (bits, count)
    }

    fn fields(&mut self, shape: Shape, x: &[Lit]) -> Fields {
        let fraction = x[..shape.fraction].to_vec();
        let exponent = x[shape.fraction..shape.fraction + shape.exponent].to_vec();
        let sign = x[shape.fraction + shape.exponent];
        let (low, high) = (self.none(&exponent), self.all(&exponent));
        let empty = self.none(&fraction);
        let nan = self.circuit.and(high, !empty);
        let infinite = self.circuit.and(high, empty);
        let zero = self.circuit.and(low, empty);
        Fields { sign, exponent, fraction, low, nan, infinite, zero }
    }

    /// An operand with its leading one in place, subnormals too.
    fn unpack(&mut self, shape: Shape, fields: &Fields) -> Number {
        let wide = shape.wide();
        let biased = self.zero_extended(&fields.exponent, wide);
        let bias = self.number(wide, shape.bias());
        let normal = self.minus(&biased, &bias);
        // A subnormal is 0.fraction * 2^least; with the leading one moved out, 1.rest * 2^(least - 1 - zeros).
        let (moved, zeros) = self.normalise(&fields.fraction);
        let mut moved_out = vec![self.off()];
        moved_out.extend_from_slice(&moved);
        let zeros = self.zero_extended(&zeros, wide);
        let least = self.number(wide, shape.least() - 1);
        let subnormal = self.minus(&least, &zeros);
        let mut significand = fields.fraction.clone();
        significand.push(!self.off());
        Number {
            sign: fields.sign,
            exponent: self.choose(fields.low, &subnormal, &normal),
            significand: self.choose(fields.low, &moved_out, &significand),
        }
    }

    /// A significand cut to what rounding needs, the rest in the lowest bit.
    fn compressed(&mut self, shape: Shape, significand: &[Lit]) -> Bits {
        let keep = shape.fraction + 3;
        if significand.len() <= keep + 1 {
            return significand.to_vec();
        }
        let cut = significand.len() - keep;
        let mut bits = vec![self.any(&significand[..cut])];
        bits.extend_from_slice(&significand[cut..]);
        bits
    }

    /// Rounds a number to nearest even and packs it; what is too large becomes infinite.
    fn round(&mut self, shape: Shape, number: &Number) -> Bits {
        let width = number.exponent.len() + 1;
        let mut exponent = number.exponent.clone();
        exponent.push(exponent[exponent.len() - 1]);
        let least = self.number(width, shape.least());
        let deficit = self.minus(&least, &exponent);
        let zero = self.number(width, 0);
        let small = self.compare(Rel::Slt, &zero, &deficit);
        let amount = self.gated(small, &deficit[..width - 1]);
        let significand = self.compressed(shape, &number.significand);
        let (shifted, lost) = self.shift_right(&significand, &amount);
        self.pack(shape, number.sign, &number.exponent, &shifted, small, lost)
    }

    /// The same for a number that is certainly not subnormal.
    fn round_normal(&mut self, shape: Shape, number: &Number) -> Bits {
        let off = self.off();
        let significand = self.compressed(shape, &number.significand);
        self.pack(shape, number.sign, &number.exponent, &significand, off, off)
    }

    fn pack(&mut self, shape: Shape, sign: Lit, exponent: &[Lit], significand: &[Lit], small: Lit, lost: Lit) -> Bits {
        let keep = shape.fraction + 1;
        let mut significand = significand.to_vec();
        while significand.len() < keep + 1 {
            significand.insert(0, self.off());
        }
        let cut = significand.len() - keep;
        let below = self.any(&significand[..cut - 1]);
        let sticky = self.circuit.or(below, lost);
        let (guard, kept) = (significand[cut - 1], &significand[cut..]);
        let tie = self.circuit.or(sticky, kept[0]);
        let up = self.circuit.and(guard, tie);
        // The leading one is carried into the exponent, and so is an overflow of the significand by rounding.
        let width = exponent.len();
        let bias = self.number(width, shape.bias() - 1);
        let biased = self.plus(exponent, &bias);
        let biased = self.gated(!small, &biased);
        let mut base = vec![self.off(); shape.fraction];
        base.extend_from_slice(&biased);
        let kept = self.zero_extended(kept, base.len());
        let sum = self.add(&base, &kept, up).0;
        let top = self.number(width, (1 << shape.exponent) - 1);
        let large = self.compare(Rel::Sle, &top, &sum[shape.fraction..]);
        let infinity = self.infinity(shape, sign);
        let mut bits = sum[..shape.fraction + shape.exponent].to_vec();
        bits.push(sign);
        self.choose(large, &infinity, &bits)
    }

    fn zero(&self, shape: Shape, sign: Lit) -> Bits {
        let mut bits = self.number(shape.fraction + shape.exponent, 0);
        bits.push(sign);
        bits
    }

    fn infinity(&self, shape: Shape, sign: Lit) -> Bits {
        let mut bits = self.number(shape.fraction, 0);
        bits.extend(self.number(shape.exponent, -1));
        bits.push(sign);
        bits
    }

    fn default_nan(&self, shape: Shape) -> Bits {
        let on = !self.off();
        let mut bits = self.infinity(shape, on);
        bits[shape.fraction - 1] = on;
        bits
    }

    /// The result, unless an operand is a NaN: then the first of those, made quiet.
    fn nan_or(&mut self, shape: Shape, operands: &[(&[Lit], Lit)], result: Bits) -> Bits {
        let mut result = result;
        for &(operand, nan) in operands.iter().rev() {
            let mut quiet = operand.to_vec();
            quiet[shape.fraction - 1] = !self.off();
            result = self.choose(nan, &quiet, &result);
        }
        result
    }

    /// `a + b`; `shown` is what a NaN in the place of `b` looks like.
    pub(crate) fn float_add(&mut self, shape: Shape, a: &[Lit], b: &[Lit], shown: &[Lit]) -> Bits {
        let top = shape.fraction + shape.exponent;
        let swap = self.compare(Rel::Ult, &a[..top], &b[..top]);
        let big = self.choose(swap, b, a);
        let small = self.choose(swap, a, b);
        let (fields_a, fields_b) = (self.fields(shape, a), self.fields(shape, b));
        let (big, small) = (self.fields(shape, &big), self.fields(shape, &small));
        let aligned = |blaster: &mut Blaster, fields: &Fields| {
            let mut exponent = fields.exponent.clone();
            exponent[0] = blaster.circuit.or(exponent[0], fields.low);
            let mut significand = vec![blaster.off(); 3];
            significand.extend_from_slice(&fields.fraction);
            significand.push(!fields.low);
            (exponent, significand)
        };
        let (big_exponent, big_significand) = aligned(self, &big);
        let (small_exponent, small_significand) = aligned(self, &small);
        let distance = self.minus(&big_exponent, &small_exponent);
        let (mut moved, lost) = self.shift_right(&small_significand, &distance);
        moved[0] = self.circuit.or(moved[0], lost);
        let differ = self.circuit.xor(big.sign, small.sign);
        let (sum, empty) = self.sum(&big_significand, &moved, differ);
        let (significand, zeros) = self.normalise(&sum);
        let wide = shape.wide();
        let exponent = self.zero_extended(&big_exponent, wide);
        let zeros = self.zero_extended(&zeros, wide);
        let bias = self.number(wide, shape.bias() - 1);
        let exponent = self.minus(&exponent, &bias);
        let exponent = self.minus(&exponent, &zeros);
        let rounded = self.round(shape, &Number { sign: big.sign, exponent, significand });
        let both = self.circuit.and(a[top], b[top]);
        let nothing = self.zero(shape, both);
        let result = self.choose(empty, &nothing, &rounded);
        let infinity = self.infinity(shape, big.sign);
        let result = self.choose(big.infinite, &infinity, &result);
        let invalid = self.all(&[big.infinite, small.infinite, differ]);
        let nan = self.default_nan(shape);
        let result = self.choose(invalid, &nan, &result);
        self.nan_or(shape, &[(a, fields_a.nan), (shown, fields_b.nan)], result)
    }

    /// The sum or difference of two significands, the greater first, one bit longer; and whether it is 0.
    fn sum(&mut self, big: &[Lit], small: &[Lit], differ: Lit) -> (Bits, Lit) {
        let len = big.len() + 1;
        let big = self.zero_extended(big, len);
        let small: Bits = self.zero_extended(small, len).into_iter().map(|l| self.circuit.xor(l, differ)).collect();
        let sum = self.add(&big, &small, differ).0;
        let empty = self.none(&sum);
        (sum, empty)
    }

    pub(crate) fn float_mul(&mut self, shape: Shape, a: &[Lit], b: &[Lit]) -> Bits {
        let (fields_a, fields_b) = (self.fields(shape, a), self.fields(shape, b));
        let product = self.product(shape, &fields_a, &fields_b);
        let sign = product.sign;
        let rounded = self.round(shape, &product);
        let zero = self.circuit.or(fields_a.zero, fields_b.zero);
        let infinite = self.circuit.or(fields_a.infinite, fields_b.infinite);
        let (nothing, infinity) = (self.zero(shape, sign), self.infinity(shape, sign));
        let result = self.choose(zero, &nothing, &rounded);
        let result = self.choose(infinite, &infinity, &result);
        let invalid = self.circuit.and(zero, infinite);
        let nan = self.default_nan(shape);
        let result = self.choose(invalid, &nan, &result);
        self.nan_or(shape, &[(a, fields_a.nan), (b, fields_b.nan)], result)
    }

    /// The exact product.
    fn product(&mut self, shape: Shape, a: &Fields, b: &Fields) -> Number {
        let sign = self.circuit.xor(a.sign, b.sign);
        let (x, y) = (self.unpack(shape, a), self.unpack(shape, b));
        let product = self.multiplied(&x.significand, &y.significand);
        let carry = product[product.len() - 1];
        let mut moved = vec![self.off()];
        moved.extend_from_slice(&product[..product.len() - 1]);
        let mut significand = self.choose(carry, &product, &moved);
        let top = significand.len() - 1;
        significand[top] = !self.off();
        let exponent = self.add(&x.exponent, &y.exponent, carry).0;
        Number { sign, exponent, significand }
    }

    /// The whole product, as long as both factors together.
    fn multiplied(&mut self, x: &[Lit], y: &[Lit]) -> Bits {
        let constants = |bits: &[Lit]| bits.iter().filter(|&&l| self.circuit.known(l).is_some()).count();
        let (x, y) = if constants(x) > constants(y) { (y, x) } else { (x, y) };
        let wide = self.zero_extended(x, x.len() + y.len());
        self.multiply(&wide, y)
    }

    pub(crate) fn float_div(&mut self, shape: Shape, a: &[Lit], b: &[Lit]) -> Bits {
        let (fields_a, fields_b) = (self.fields(shape, a), self.fields(shape, b));
        let sign = self.circuit.xor(fields_a.sign, fields_b.sign);
        let (x, y) = (self.unpack(shape, &fields_a), self.unpack(shape, &fields_b));
        let (mut quotient, inexact) = self.quotient(shape, &x.significand, &y.significand);
        // The quotient lies between 1/2 and 2.
        let top = quotient.len() - 1;
        let large = quotient[top];
        let mut moved = vec![self.off()];
        moved.extend_from_slice(&quotient[..top]);
        quotient = self.choose(large, &quotient, &moved);
        quotient[top] = !self.off();
        let mut significand = vec![inexact];
        significand.extend(quotient);
        // E(x) - E(y) - 1, and the 1 back where the quotient is at least 1.
        let negated: Bits = y.exponent.iter().map(|&l| !l).collect();
        let exponent = self.add(&x.exponent, &negated, large).0;
        let rounded = self.round(shape, &Number { sign, exponent, significand });
        let (nothing, infinity) = (self.zero(shape, sign), self.infinity(shape, sign));
        let zero = self.circuit.or(fields_a.zero, fields_b.infinite);
        let infinite = self.circuit.or(fields_a.infinite, fields_b.zero);
        let result = self.choose(zero, &nothing, &rounded);
        let result = self.choose(infinite, &infinity, &result);
        let invalid = self.circuit.and(zero, infinite);
        let nan = self.default_nan(shape);
        let result = self.choose(invalid, &nan, &result);
        self.nan_or(shape, &[(a, fields_a.nan), (b, fields_b.nan)], result)
    }

    /// `x * 2^(fraction + 2) / y` and whether something remains, by long division; `x < 2 * y`.
    fn quotient(&mut self, shape: Shape, x: &[Lit], y: &[Lit]) -> (Bits, Lit) {
        let width = y.len() + 1;
        let mut rest = self.zero_extended(x, width);
        let divisor = self.zero_extended(y, width);
        let mut quotient = Vec::new();
        for _ in 0..shape.fraction + 3 {
            let (left, fits) = self.subtracted(&rest, &divisor);
            quotient.push(fits);
            // What is left is below y, so nothing is lost at the top.
            rest = vec![self.off()];
            rest.extend_from_slice(&left[..width - 1]);
        }
        quotient.reverse();
        let inexact = self.any(&rest);
        (quotient, inexact)
    }

    /// `x - y` where that is not negative, else `x`; and whether it is not.
    fn subtracted(&mut self, x: &[Lit], y: &[Lit]) -> (Bits, Lit) {
        let on = !self.off();
        let negated: Bits = y.iter().map(|&l| !l).collect();
        let (difference, fits) = self.add(x, &negated, on);
        (self.choose(fits, &difference, x), fits)
    }

    pub(crate) fn float_sqrt(&mut self, shape: Shape, a: &[Lit]) -> Bits {
        let fields = self.fields(shape, a);
        let x = self.unpack(shape, &fields);
        // An odd exponent gives one bit to the significand, which is then between 1 and 4.
        let odd = x.exponent[0];
        let off = self.off();
        let mut doubled = vec![off];
        doubled.extend_from_slice(&x.significand);
        let single = self.zero_extended(&x.significand, doubled.len());
        let radicand = self.choose(odd, &doubled, &single);
        let mut exponent = x.exponent[1..].to_vec();
        exponent.push(exponent[exponent.len() - 1]);
        let (root, inexact) = self.root(shape, &radicand);
        let mut significand = vec![inexact];
        significand.extend(root);
        let number = Number { sign: off, exponent, significand };
        // Only in tiny formats the root of a subnormal is one.
        let subnormal = shape.least() - (shape.fraction as i64) < 2 * shape.least();
        let rounded = if subnormal { self.round(shape, &number) } else { self.round_normal(shape, &number) };
        let zero = self.zero(shape, fields.sign);
        let infinity = self.infinity(shape, off);
        let nan = self.default_nan(shape);
        let result = self.choose(fields.infinite, &infinity, &rounded);
        let result = self.choose(fields.sign, &nan, &result);
        let result = self.choose(fields.zero, &zero, &result);
        self.nan_or(shape, &[(a, fields.nan)], result)
    }

    /// The root of `x * 2^(fraction + 2)` and whether something remains, digit by digit.
    fn root(&mut self, shape: Shape, x: &[Lit]) -> (Bits, Lit) {
        let len = shape.fraction + 2;
        let off = self.off();
        let mut radicand = vec![off; len];
        radicand.extend_from_slice(x);
        radicand.resize(2 * len, off);
        let width = len + 2;
        let mut rest = vec![off; width];
        let mut root: Bits = Vec::new();
        for digits in radicand.rchunks(2) {
            let mut longer = digits.to_vec();
            longer.extend_from_slice(&rest[..width - 2]);
            let mut trial = vec![!off, off];
            trial.extend_from_slice(&root);
            let trial = self.zero_extended(&trial, width);
            let (left, fits) = self.subtracted(&longer, &trial[..width]);
            rest = left;
            root.insert(0, fits);
        }
        let inexact = self.any(&rest);
        (root, inexact)
    }

    pub(crate) fn float_fma(&mut self, shape: Shape, a: &[Lit], b: &[Lit], c: &[Lit]) -> Bits {
        let [fields_a, fields_b, fields_c] = [a, b, c].map(|x| self.fields(shape, x));
        let product = self.product(shape, &fields_a, &fields_b);
        let mut addend = self.unpack(shape, &fields_c);
        while addend.significand.len() < product.significand.len() {
            addend.significand.insert(0, self.off());
        }
        let product_zero = self.circuit.or(fields_a.zero, fields_b.zero);
        let product_infinite = self.circuit.or(fields_a.infinite, fields_b.infinite);
        // The greater magnitude first; a zero is always the smaller.
        let below = self.compare(Rel::Slt, &product.exponent, &addend.exponent);
        let same = self.compare(Rel::Eq, &product.exponent, &addend.exponent);
        let less = self.compare(Rel::Ult, &product.significand, &addend.significand);
        let less = self.circuit.and(same, less);
        let below = self.circuit.or(below, less);
        let below = self.circuit.and(below, !fields_c.zero);
        let swap = self.circuit.or(below, product_zero);
        let exponent = self.choose(swap, &addend.exponent, &product.exponent);
        let other = self.choose(swap, &product.exponent, &addend.exponent);
        let sign = self.circuit.mux(swap, addend.sign, product.sign);
        let big = self.choose(swap, &addend.significand, &product.significand);
        let small = self.choose(swap, &product.significand, &addend.significand);
        let both_zero = self.circuit.and(product_zero, fields_c.zero);
        let either_zero = self.circuit.or(product_zero, fields_c.zero);
        let big = self.gated(!both_zero, &big);
        let small = self.gated(!either_zero, &small);
        let distance = self.minus(&exponent, &other);
        let padded = |blaster: &Blaster, bits: &[Lit]| {
            let mut padded = vec![blaster.off(); 3];
            padded.extend_from_slice(bits);
            padded
        };
        let (big, small) = (padded(self, &big), padded(self, &small));
        let (mut moved, lost) = self.shift_right(&small, &distance);
        moved[0] = self.circuit.or(moved[0], lost);
        let differ = self.circuit.xor(product.sign, addend.sign);
        let (sum, empty) = self.sum(&big, &moved, differ);
        let (significand, zeros) = self.normalise(&sum);
        let zeros = self.zero_extended(&zeros, exponent.len());
        let one = self.number(exponent.len(), 1);
        let exponent = self.plus(&exponent, &one);
        let exponent = self.minus(&exponent, &zeros);
        let rounded = self.round(shape, &Number { sign, exponent, significand });
        let both = self.circuit.and(product.sign, addend.sign);
        let nothing = self.zero(shape, both);
        let result = self.choose(empty, &nothing, &rounded);
        let infinity = self.infinity(shape, addend.sign);
        let result = self.choose(fields_c.infinite, &infinity, &result);
        let infinity = self.infinity(shape, product.sign);
        let result = self.choose(product_infinite, &infinity, &result);
        let invalid = self.circuit.and(product_zero, product_infinite);
        let opposite = self.all(&[product_infinite, fields_c.infinite, differ]);
        let invalid = self.circuit.or(invalid, opposite);
        let nan = self.default_nan(shape);
        let result = self.choose(invalid, &nan, &result);
        self.nan_or(shape, &[(a, fields_a.nan), (b, fields_b.nan), (c, fields_c.nan)], result)
    }

    pub(crate) fn float_compare(&mut self, shape: Shape, op: FloatOp, a: &[Lit], b: &[Lit]) -> Lit {
        let top = shape.fraction + shape.exponent;
        let (fields_a, fields_b) = (self.fields(shape, a), self.fields(shape, b));
        let ordered = self.none(&[fields_a.nan, fields_b.nan]);
        let zeros = self.circuit.and(fields_a.zero, fields_b.zero);
        let same = self.compare(Rel::Eq, a, b);
        let equal = self.circuit.or(same, zeros);
        let above = self.compare(Rel::Ult, &a[..top], &b[..top]);
        let below = self.compare(Rel::Ult, &b[..top], &a[..top]);
        let by_size = self.circuit.mux(a[top], below, above);
        let differ = self.circuit.xor(a[top], b[top]);
        let less = self.circuit.mux(differ, a[top], by_size);
        let less = self.circuit.and(less, !zeros);
        let truth = match op {
            FloatOp::Eq => equal,
            FloatOp::Lt => less,
            _ => self.circuit.or(less, equal),
        };
        self.circuit.and(ordered, truth)
    }

    pub(crate) fn float_convert(&mut self, from: Shape, to: Shape, a: &[Lit]) -> Bits {
        let fields = self.fields(from, a);
        let mut number = self.unpack(from, &fields);
        let width = number.exponent.len().max(to.wide());
        let top = number.exponent[number.exponent.len() - 1];
        number.exponent.resize(width, top);
        let wider = to.least() <= from.least() - from.fraction as i64;
        let rounded = if wider { self.round_normal(to, &number) } else { self.round(to, &number) };
        let (zero, infinity) = (self.zero(to, fields.sign), self.infinity(to, fields.sign));
        let result = self.choose(fields.zero, &zero, &rounded);
        let result = self.choose(fields.infinite, &infinity, &result);
        // A NaN keeps its sign and the upper bits of its fraction.
        let mut nan = self.infinity(to, fields.sign);
        for (to, from) in (0..to.fraction).rev().zip((0..from.fraction).rev()) {
            nan[to] = fields.fraction[from];
        }
        nan[to.fraction - 1] = !self.off();
        self.choose(fields.nan, &nan, &result)
    }

    pub(crate) fn float_from_signed(&mut self, shape: Shape, a: &[Lit]) -> Bits {
        let sign = a[a.len() - 1];
        let size = self.signed_by(sign, a);
        self.float_from(shape, sign, &size)
    }

    /// The float of a sign and an unsigned integer.
    pub(crate) fn float_from(&mut self, shape: Shape, sign: Lit, size: &[Lit]) -> Bits {
        let empty = self.none(size);
        let (significand, zeros) = self.normalise(size);
        let width = shape.wide().max(zeros.len() + 2);
        let zeros = self.zero_extended(&zeros, width);
        let top = self.number(width, size.len() as i64 - 1);
        let exponent = self.minus(&top, &zeros);
        let rounded = self.round_normal(shape, &Number { sign, exponent, significand });
        let off = self.off();
        let nothing = self.zero(shape, off);
        self.choose(empty, &nothing, &rounded)
    }

    /// The integral part without its sign, of `bits` bits, and whether it needs more bits than one less, and than that.
    fn integral_part(&mut self, shape: Shape, fields: &Fields, bits: usize) -> (Bits, Lit, Lit) {
        let wide = shape.wide().max(9);
        let exponent = self.zero_extended(&fields.exponent, wide);
        let bias = self.number(wide, shape.bias());
        let exponent = self.minus(&exponent, &bias);
        let special = self.circuit.or(fields.nan, fields.infinite);
        let [last, beyond] = [bits - 1, bits].map(|limit| {
            let limit = self.number(wide, limit as i64);
            let reached = self.compare(Rel::Sle, &limit, &exponent);
            self.circuit.or(reached, special)
        });
        // The leading one at the top, then to the right.
        let len = (shape.fraction + 1).max(bits);
        let mut word = vec![self.off(); len - shape.fraction - 1];
        word.extend_from_slice(&fields.fraction);
        word.push(!self.off());
        let top = self.number(wide, len as i64 - 1);
        let distance = self.minus(&top, &exponent);
        let (moved, _) = self.shift_right(&word, &distance[..wide - 1]);
        let negative = exponent[wide - 1];
        let part = self.gated(!negative, &moved[..bits]);
        (part, last, beyond)
    }

    pub(crate) fn float_to_signed(&mut self, shape: Shape, a: &[Lit], width: usize) -> Bits {
        let bits = if width <= 32 { 32 } else { 64 };
        self.word(shape, a, bits)[..width].to_vec()
    }

    /// To a signed integer of 32 or 64 bits.
    fn word(&mut self, shape: Shape, a: &[Lit], word: usize) -> Bits {
        let fields = self.fields(shape, a);
        let (part, large, _) = self.integral_part(shape, &fields, word);
        let value = self.signed_by(fields.sign, &part);
        let indefinite = self.lowest(word);
        self.choose(large, &indefinite, &value)
    }

    fn lowest(&self, width: usize) -> Bits {
        let mut bits = self.number(width, 0);
        bits[width - 1] = !self.off();
        bits
    }

    pub(crate) fn float_to_unsigned(&mut self, shape: Shape, a: &[Lit], width: usize) -> Bits {
        if width <= 32 {
            let bits = if width <= 16 { 32 } else { 64 };
            return self.word(shape, a, bits)[..width].to_vec();
        }
        let fields = self.fields(shape, a);
        let (part, last, beyond) = self.integral_part(shape, &fields, 64);
        let indefinite = self.lowest(64);
        let negated = self.signed_by(fields.sign, &part);
        let negative = self.choose(last, &indefinite, &negated);
        let positive = self.gated(!beyond, &part);
        let value = self.choose(fields.sign, &negative, &positive);
        self.choose(fields.nan, &indefinite, &value)[..width].to_vec()
    }

    pub(crate) fn float_round(&mut self, shape: Shape, mode: Rounding, a: &[Lit]) -> Bits {
        let off = self.off();
        let top = shape.fraction + shape.exponent;
        let fields = self.fields(shape, a);
        let sign = fields.sign;
        let at_least = |blaster: &mut Blaster, bound: i64| {
            let bound = blaster.number(shape.exponent + 1, bound);
            let exponent = blaster.zero_extended(&fields.exponent, shape.exponent + 1);
            blaster.compare(Rel::Ule, &bound, &exponent)
        };
        // Bit k belongs to the part behind the point if the exponent is below fraction - k.
        let behind: Bits =
            (0..=shape.fraction).map(|k| !at_least(self, shape.bias() + (shape.fraction - k) as i64)).collect();
        let (mut guards, mut stickies, mut lowest) = (Vec::new(), Vec::new(), Vec::new());
        let mut increment = vec![off; top];
        for k in 0..shape.fraction {
            let edge = self.circuit.and(behind[k], !behind[k + 1]);
            guards.push(self.circuit.and(a[k], edge));
            stickies.push(self.circuit.and(a[k], behind[k + 1]));
            // The bit above; at an exponent of 0 that is the exponent's lowest bit, which is then 1 like the leading one.
            lowest.push(self.circuit.and(a[k + 1], edge));
            increment[k + 1] = edge;
        }
        let (guard, sticky, lowest) = (self.any(&guards), self.any(&stickies), self.any(&lowest));
        let small = behind[shape.fraction];
        let half = at_least(self, shape.bias() - 1);
        let empty = self.none(&fields.fraction);
        let inexact = self.circuit.or(guard, sticky);
        let (up, up_small) = match mode {
            Rounding::Floor => (self.circuit.and(sign, inexact), self.circuit.and(sign, !fields.zero)),
            Rounding::Ceil => (self.circuit.and(!sign, inexact), self.circuit.and(!sign, !fields.zero)),
            Rounding::Trunc => (off, off),
            Rounding::Even => {
                let tie = self.circuit.or(sticky, lowest);
                (self.circuit.and(guard, tie), self.circuit.and(half, !empty))
            }
            Rounding::Away => (guard, half),
        };
        let whole: Bits =
            (0..top).map(|k| if k < shape.fraction { self.circuit.and(a[k], !behind[k]) } else { a[k] }).collect();
        let increment = self.gated(up, &increment);
        let mut result = self.plus(&whole, &increment);
        result.push(sign);
        let mut one = self.number(shape.fraction, 0);
        one.extend(self.number(shape.exponent, shape.bias()));
        let mut near = self.gated(up_small, &one);
        near.push(sign);
        let result = self.choose(small, &near, &result);
        self.nan_or(shape, &[(a, fields.nan)], result)
    }
}

#[cfg(test)]
mod tests;
