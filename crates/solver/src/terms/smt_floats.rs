//! Operations on floats in SMT-LIB 2 scripts.
//!
//! SMT-LIB has one NaN and no function from a float to its bits. So the bits of a result are an unknown that is asserted
//! to be the float, and those of a NaN are computed as `touchstone_base::float::eval` does. Conversions to integers
//! where nothing fits, which SMT-LIB leaves open, are spelled out, too.
//!
//! Not here: the remainder. C's `fmod` is not the remainder of IEEE-754, and SMT-LIB has no other.

use touchstone_base::float::{FloatOp, Format, Rounding};

use crate::terms::smt_script::{ScriptWriter, bit_vector, literal};

impl ScriptWriter<'_> {
    /// Returns the bits of an operation's result, for the bits of its arguments.
    pub(crate) fn float(&mut self, op: FloatOp, format: Format, bits: &[String; 3]) -> String {
        self.floats = true;
        let [a, b, c] = bits.each_ref().map(|bits| format!("({} {bits})", conversion(format)));
        let arithmetic = |expression: String| (expression, nan_of_arguments(format, &bits[..op.arity()]));
        let (result, nan) = match op {
            FloatOp::Eq => return format!("(ite (fp.eq {a} {b}) #b1 #b0)"),
            FloatOp::Lt => return format!("(ite (fp.lt {a} {b}) #b1 #b0)"),
            FloatOp::Le => return format!("(ite (fp.leq {a} {b}) #b1 #b0)"),
            FloatOp::Rem => {
                self.unconstrained.insert("fmod");
                return self.unknown(format.bits());
            }
            FloatOp::Add => arithmetic(format!("(fp.add RNE {a} {b})")),
            FloatOp::Sub => arithmetic(format!("(fp.sub RNE {a} {b})")),
            FloatOp::Mul => arithmetic(format!("(fp.mul RNE {a} {b})")),
            FloatOp::Div => arithmetic(format!("(fp.div RNE {a} {b})")),
            FloatOp::Sqrt => arithmetic(format!("(fp.sqrt RNE {a})")),
            FloatOp::Fma => arithmetic(format!("(fp.fma RNE {a} {b} {c})")),
            FloatOp::Round(mode) => arithmetic(format!("(fp.roundToIntegral {} {a})", rounding(mode))),
            FloatOp::Convert(to) => (format!("({} RNE {a})", conversion(to)), converted_nan(format, to, &bits[0])),
            // No integer is a NaN.
            FloatOp::FromSigned(_) => (format!("({} RNE {})", conversion(format), bits[0]), String::new()),
            FloatOp::FromUnsigned(_) => {
                let conversion = conversion(format).replace("to_fp", "to_fp_unsigned");
                (format!("({conversion} RNE {})", bits[0]), String::new())
            }
            FloatOp::ToSigned(width) => {
                let word = if width <= 32 { 32 } else { 64 };
                let integer = self.integer(format, word, &a);
                return low_bits(&integer, word, width);
            }
            FloatOp::ToUnsigned(width @ ..=32) => {
                let word = if width <= 16 { 32 } else { 64 };
                let integer = self.integer(format, word, &a);
                return low_bits(&integer, word, width);
            }
            FloatOp::ToUnsigned(width) => {
                let integer = self.wide_unsigned(format, &a);
                return low_bits(&integer, 64, width);
            }
            FloatOp::Saturate(_) => unreachable!("invariant: `Terms::float` writes it with other operations"),
        };
        let to = op.result_format(format).unwrap_or(format);
        let result = self.name(sort(to), &result);
        let pattern = self.unknown(to.bits());
        self.line(format_args!("(assert (= ({} {pattern}) {result}))", conversion(to)));
        if nan.is_empty() { pattern } else { format!("(ite (fp.isNaN {result}) {nan} {pattern})") }
    }

    /// Returns a name for the integral part as a signed integer of 32 or 64 bits; the least one where nothing fits.
    fn integer(&mut self, format: Format, word: u8, float: &str) -> String {
        let limit = 2f64.powi(i32::from(word) - 1);
        let (low, high) = (constant(format, -limit), constant(format, limit));
        let integral = self.name(sort(format), &format!("(fp.roundToIntegral RTZ {float})"));
        let indefinite = literal(word, 1 << (word - 1));
        let fits = format!("(and (fp.leq {low} {integral}) (fp.lt {integral} {high}))");
        self.name(&bit_vector(word), &format!("(ite {fits} ((_ fp.to_sbv {word}) RTZ {integral}) {indefinite})"))
    }

    /// Returns a name for the integral part as an unsigned integer of 64 bits, as x86 computes it.
    fn wide_unsigned(&mut self, format: Format, float: &str) -> String {
        let (half, end) = (constant(format, 2f64.powi(63)), constant(format, 2f64.powi(64)));
        let small = self.integer(format, 64, float);
        let large = format!("(ite (fp.lt {float} {end}) ((_ fp.to_ubv 64) RTZ {float}) {})", literal(64, 0));
        self.name(&bit_vector(64), &format!("(ite (fp.leq {half} {float}) {large} {small})"))
    }
}

/// The function from bits, or with a rounding mode from other numbers, to a format.
fn conversion(format: Format) -> &'static str {
    match format {
        Format::F32 => "(_ to_fp 8 24)",
        Format::F64 => "(_ to_fp 11 53)",
    }
}

fn sort(format: Format) -> &'static str {
    match format {
        Format::F32 => "(_ FloatingPoint 8 24)",
        Format::F64 => "(_ FloatingPoint 11 53)",
    }
}

fn rounding(mode: Rounding) -> &'static str {
    match mode {
        Rounding::Floor => "RTN",
        Rounding::Ceil => "RTP",
        Rounding::Trunc => "RTZ",
        Rounding::Even => "RNE",
        Rounding::Away => "RNA",
    }
}

fn constant(format: Format, value: f64) -> String {
    format!("({} {})", conversion(format), literal(format.bits(), format.of(value)))
}

fn low_bits(integer: &str, word: u8, width: u8) -> String {
    if width == word { integer.to_string() } else { format!("((_ extract {} 0) {integer})", width - 1) }
}

/// The first argument that is a NaN, made quiet, or the default NaN.
fn nan_of_arguments(format: Format, arguments: &[String]) -> String {
    let quiet = literal(format.bits(), format.quiet_bit());
    arguments.iter().rev().fold(literal(format.bits(), format.default_nan()), |otherwise, bits| {
        format!("(ite (fp.isNaN ({} {bits})) (bvor {bits} {quiet}) {otherwise})", conversion(format))
    })
}

/// A NaN in another format: it keeps its sign and the upper bits of its fraction, and becomes quiet.
fn converted_nan(from: Format, to: Format, bits: &str) -> String {
    match (from, to) {
        (Format::F32, Format::F64) => format!(
            "(concat ((_ extract 31 31) {bits}) (concat #xfff (concat ((_ extract 21 0) {bits}) {})))",
            literal(29, 0)
        ),
        (Format::F64, Format::F32) => {
            format!("(concat ((_ extract 63 63) {bits}) (concat #b111111111 ((_ extract 50 29) {bits})))")
        }
        _ => format!("(bvor {bits} {})", literal(from.bits(), from.quiet_bit())),
    }
}

#[cfg(test)]
mod tests {
    use crate::terms::term_store::Terms;
    use touchstone_base::float::{FloatOp, Format};

    /// Returns the script of `op(x, ..) != 0`.
    fn script(op: FloatOp, format: Format) -> String {
        let mut terms = Terms::new();
        let args: Vec<_> = (0..op.arity()).map(|_| terms.var(op.argument_bits(format), "x")).collect();
        let result = terms.float(op, format, &args);
        let zero = terms.constant(op.result_bits(format), 0);
        let nonzero = terms.ne(result, zero);
        let script = terms.smt_script(&[nonzero]);
        assert_eq!(script.logic, "QF_BVFP");
        assert!(script.unconstrained.is_empty());
        script.text
    }

    #[test]
    fn the_bits_of_a_result_are_an_unknown_and_those_of_a_nan_are_computed() {
        let text = script(FloatOp::Add, Format::F32);
        for part in [
            "(define-fun t1 () (_ FloatingPoint 8 24) (fp.add RNE ((_ to_fp 8 24) |x|) ((_ to_fp 8 24) |x#2|)))",
            "(declare-const t2 (_ BitVec 32))",
            "(assert (= ((_ to_fp 8 24) t2) t1))",
            "(ite (fp.isNaN ((_ to_fp 8 24) |x#2|)) (bvor |x#2| #x00400000) #xffc00000)",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn every_operation_but_the_remainder_has_a_counterpart() {
        for format in [Format::F32, Format::F64] {
            let other = if format == Format::F32 { Format::F64 } else { Format::F32 };
            let (signed, unsigned) = ([8, 32, 64].map(FloatOp::ToSigned), [8, 16, 32, 64].map(FloatOp::ToUnsigned));
            let from = [FloatOp::FromSigned(64), FloatOp::FromUnsigned(64), FloatOp::Convert(other)];
            let plain = [FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Sqrt, FloatOp::Fma];
            for op in signed.into_iter().chain(unsigned).chain(from).chain(plain) {
                let text = script(op, format);
                let (open, close) = (text.matches('(').count(), text.matches(')').count());
                assert_eq!(open, close, "{op:?}: {text}");
            }
        }
    }
}
