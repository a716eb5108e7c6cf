//! Smart constructors of float operations. A float is its pattern, so negation and the like are bit operations.
//!
//! Only what IEEE-754 and the NaN rule of [`touchstone_base::float`] allow bit for bit: addition does not commute (the
//! first NaN wins), and `x * 1` is `x` only where `x` is no signalling NaN, which no operation's result is. Under another
//! operation that makes no difference, so operands are stripped of it.

use touchstone_base::float::{FloatOp, Format, Rounding, eval};

use crate::terms::float_facts;
use crate::terms::float_order::{is_finite, is_zero, step};
use crate::terms::semantics::{signed_max, signed_min};
use crate::terms::term::{Rel, Term, TermId};
use crate::terms::term_store::Terms;

impl Terms {
    /// A float constant.
    pub fn float_constant(&mut self, format: Format, value: f64) -> TermId {
        self.constant(format.bits(), format.of(value))
    }

    /// `a + b`.
    pub fn fadd(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Add, format, &[a, b])
    }

    /// `a - b`.
    pub fn fsub(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Sub, format, &[a, b])
    }

    /// `a * b`.
    pub fn fmul(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Mul, format, &[a, b])
    }

    /// `a / b`.
    pub fn fdiv(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Div, format, &[a, b])
    }

    /// C's `fmod`.
    pub fn frem(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Rem, format, &[a, b])
    }

    /// Square root.
    pub fn fsqrt(&mut self, format: Format, a: TermId) -> TermId {
        self.float(FloatOp::Sqrt, format, &[a])
    }

    /// `a * b + c`, rounded once.
    pub fn ffma(&mut self, format: Format, a: TermId, b: TermId, c: TermId) -> TermId {
        self.float(FloatOp::Fma, format, &[a, b, c])
    }

    /// `a == b`; false with a NaN.
    pub fn feq(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Eq, format, &[a, b])
    }

    /// `a < b`; false with a NaN.
    pub fn flt(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Lt, format, &[a, b])
    }

    /// `a <= b`; false with a NaN.
    pub fn fle(&mut self, format: Format, a: TermId, b: TermId) -> TermId {
        self.float(FloatOp::Le, format, &[a, b])
    }

    /// From one format to another.
    pub fn fcvt(&mut self, from: Format, to: Format, a: TermId) -> TermId {
        self.float(FloatOp::Convert(to), from, &[a])
    }

    /// The nearest float of a signed integer.
    pub fn f_from_sint(&mut self, format: Format, a: TermId) -> TermId {
        let width = self.width(a);
        self.float(FloatOp::FromSigned(width), format, &[a])
    }

    /// The nearest float of an unsigned integer.
    pub fn f_from_uint(&mut self, format: Format, a: TermId) -> TermId {
        let width = self.width(a);
        self.float(FloatOp::FromUnsigned(width), format, &[a])
    }

    /// The signed integer towards zero; out of range as [`FloatOp::ToSigned`] says.
    pub fn f_to_sint(&mut self, format: Format, a: TermId, width: u8) -> TermId {
        self.float(FloatOp::ToSigned(width), format, &[a])
    }

    /// The unsigned integer towards zero; out of range as [`FloatOp::ToUnsigned`] says.
    pub fn f_to_uint(&mut self, format: Format, a: TermId, width: u8) -> TermId {
        self.float(FloatOp::ToUnsigned(width), format, &[a])
    }

    /// Converts to a signed integer towards zero, with saturation; a NaN gives 0. Expressed by the other conversion
    /// where that is defined, so that it needs no meaning of its own elsewhere.
    fn saturated(&mut self, format: Format, a: TermId, width: u8) -> TermId {
        let limit = 2f64.powi(i32::from(width) - 1);
        let (above, below) = (format.of(limit), format.of(-limit));
        let [above, below] = [above, below].map(|bound| self.constant(format.bits(), bound));
        let (too_big, too_small) = (self.fle(format, above, a), self.flt(format, a, below));
        let least = 1u64 << (width - 1);
        let (most, least, zero) =
            (self.constant(width, least - 1), self.constant(width, least), self.constant(width, 0));
        let inside = self.f_to_sint(format, a, width);
        let number = self.ite(too_small, least, inside);
        let number = self.ite(too_big, most, number);
        let nan = self.is_nan(format, a);
        self.ite(nan, zero, number)
    }

    /// The integral value in a direction, as a float.
    pub fn fround_to_integral(&mut self, format: Format, mode: Rounding, a: TermId) -> TermId {
        self.float(FloatOp::Round(mode), format, &[a])
    }

    /// `-a`, a NaN's sign included.
    pub fn fneg(&mut self, format: Format, a: TermId) -> TermId {
        let sign = self.constant(format.bits(), format.sign_mask());
        self.xor(a, sign)
    }

    /// `a` without its sign.
    pub fn fabs(&mut self, format: Format, a: TermId) -> TermId {
        let rest = self.constant(format.bits(), format.magnitude_mask());
        self.and(a, rest)
    }

    /// Returns the condition that `a` is a NaN.
    pub fn is_nan(&mut self, format: Format, a: TermId) -> TermId {
        let magnitude = self.fabs(format, a);
        let infinity = self.constant(format.bits(), format.infinity());
        self.cmp(Rel::Ult, infinity, magnitude)
    }

    /// An operation on floats; as many arguments as [`FloatOp::arity`] says.
    pub fn float(&mut self, op: FloatOp, format: Format, args: &[TermId]) -> TermId {
        assert_eq!(args.len(), op.arity(), "invariant: as many arguments as the operation has");
        let width = op.argument_bits(format);
        assert!(args.iter().all(|&a| self.width(a) == width), "invariant: arguments of the operation's width");
        let mut all = [args[0]; 3];
        all[..args.len()].copy_from_slice(args);
        if let [Some(a), Some(b), Some(c)] = all.map(|arg| self.as_const(arg)) {
            return self.constant(op.result_bits(format), eval(op, format, &[a, b, c]));
        }
        if let FloatOp::Saturate(bits) = op {
            return self.saturated(format, args[0], bits);
        }
        let takes_float = !matches!(op, FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_));
        if takes_float {
            for arg in &mut all {
                *arg = self.stripped(format, *arg);
                self.note_float(*arg, format);
            }
        }
        // With one operand that is no NaN the order of the operands does not show.
        if matches!(op, FloatOp::Add | FloatOp::Mul) && self.as_const(all[0]).is_some_and(|c| !format.is_nan(c)) {
            all = [all[1], all[0], all[1]];
        }
        let simpler = match op {
            FloatOp::Eq | FloatOp::Lt | FloatOp::Le => self.compare_floats(op, format, all[0], all[1]),
            FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_) => self.float_of_extension(op, format, all[0]),
            FloatOp::ToSigned(_) | FloatOp::ToUnsigned(_) => self.integer_of_integer(op, all[0]),
            FloatOp::Convert(to) if to == format && self.is_quiet(format, all[0]) => Some(all[0]),
            FloatOp::Convert(to) => self.convert_of_exact(to, all[0]),
            FloatOp::Round(_) if self.is_integral(all[0]) => Some(all[0]),
            _ => None,
        };
        if let Some(simpler) = simpler {
            return simpler;
        }
        let own = self.intern(Term::Float(op, format, all));
        // What does nothing to numbers and quiet NaNs.
        let result = match op {
            FloatOp::Convert(to) => to,
            _ => format,
        };
        match self.unwrapped(result, own) {
            Some(inner) if self.is_quiet(result, inner) => inner,
            _ => own,
        }
    }

    /// The operand of an operation that does nothing but make NaNs quiet.
    fn unwrapped(&self, format: Format, term: TermId) -> Option<TermId> {
        let Term::Float(op, own, [a, b, _]) = *self.get(term) else { return None };
        let b = self.as_const(b);
        let neutral = match op {
            FloatOp::Mul | FloatOp::Div => Some(format.of(1.0)),
            FloatOp::Add => Some(format.of(-0.0)),
            FloatOp::Sub => Some(format.of(0.0)),
            // There and back.
            FloatOp::Convert(Format::F32) if own == Format::F64 => {
                return match *self.get(a) {
                    Term::Float(FloatOp::Convert(Format::F64), Format::F32, [inner, ..]) => Some(inner),
                    _ => None,
                };
            }
            FloatOp::Convert(to) if to == own => return Some(a),
            _ => return None,
        };
        (own == format && b == neutral).then_some(a)
    }

    /// An operand without what makes no difference to any operation that takes it.
    fn stripped(&self, format: Format, mut term: TermId) -> TermId {
        while let Some(inner) = self.unwrapped(format, term) {
            term = inner;
        }
        term
    }

    /// Returns true if a term is certainly not a signalling NaN.
    fn is_quiet(&self, format: Format, term: TermId) -> bool {
        match *self.get(term) {
            Term::Const { value, .. } => !format.is_nan(value) || value & format.quiet_bit() != 0,
            Term::Float(op, own, _) => match op {
                FloatOp::Eq | FloatOp::Lt | FloatOp::Le => false,
                FloatOp::ToSigned(_) | FloatOp::ToUnsigned(_) | FloatOp::Saturate(_) => false,
                FloatOp::Convert(to) => to == format,
                _ => own == format,
            },
            _ => !float_facts::FloatInterval::of(format, self.facts(term)).nan,
        }
    }

    /// Returns true if a term is certainly integral (or infinite, or a quiet NaN).
    fn is_integral(&self, term: TermId) -> bool {
        matches!(
            *self.get(term),
            Term::Float(FloatOp::Round(_) | FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_), ..)
        )
    }

    /// The integer under a conversion that loses nothing, and whether it is signed.
    fn exact_integer(&self, term: TermId) -> Option<(TermId, bool)> {
        let Term::Float(op, format, [arg, ..]) = *self.get(term) else { return None };
        let facts = self.facts(arg);
        let limit = 1i64 << (format.fraction_bits() + 1);
        match op {
            FloatOp::FromSigned(_) => (-limit < facts.signed.0 && facts.signed.1 < limit).then_some((arg, true)),
            FloatOp::FromUnsigned(_) => (facts.unsigned.1 < limit as u64).then_some((arg, false)),
            _ => None,
        }
    }

    /// The float of an extended integer is that of the narrow one.
    fn float_of_extension(&mut self, op: FloatOp, format: Format, arg: TermId) -> Option<TermId> {
        match (op, *self.get(arg)) {
            (FloatOp::FromSigned(_), Term::SExt { term, .. }) => Some(self.f_from_sint(format, term)),
            (_, Term::ZExt { term, .. }) => Some(self.f_from_uint(format, term)),
            _ => None,
        }
    }

    /// An integer that became a float exactly and becomes an integer again.
    fn integer_of_integer(&mut self, op: FloatOp, arg: TermId) -> Option<TermId> {
        let (integer, signed) = self.exact_integer(arg)?;
        let from = self.width(integer);
        match (op, signed) {
            (FloatOp::ToSigned(to), true) if from <= to => Some(self.sext(integer, to)),
            (FloatOp::ToSigned(to), false) if from < to => Some(self.zext(integer, to)),
            (FloatOp::ToUnsigned(to), false) if from <= to => Some(self.zext(integer, to)),
            // What is cut off was converted to 32 bits before.
            (FloatOp::ToSigned(to), true) if from <= 32 => Some(self.extract(integer, 0, to)),
            _ => None,
        }
    }

    /// A conversion of an integer that the narrower format already held.
    fn convert_of_exact(&mut self, to: Format, arg: TermId) -> Option<TermId> {
        let (integer, signed) = self.exact_integer(arg)?;
        Some(if signed { self.f_from_sint(to, integer) } else { self.f_from_uint(to, integer) })
    }

    fn compare_floats(&mut self, op: FloatOp, format: Format, a: TermId, b: TermId) -> Option<TermId> {
        let plain = (self.without_zero(format, a), self.without_zero(format, b));
        if plain != (a, b) {
            return Some(self.float(op, format, &[plain.0, plain.1]));
        }
        if a == b {
            let nan = self.is_nan(format, a);
            return Some(if op == FloatOp::Lt { self.truth(false) } else { self.not(nan) });
        }
        if let Some(simpler) = self.compare_integers(op, format, a, b) {
            return Some(simpler);
        }
        if let Some(simpler) = self.compare_narrow(op, a, b) {
            return Some(simpler);
        }
        if op != FloatOp::Eq {
            return None;
        }
        // Equality with a number other than zero is that of the patterns.
        let (term, c) = match (self.as_const(a), self.as_const(b)) {
            (Some(c), None) => (b, c),
            (None, Some(c)) => (a, c),
            _ => return (a > b).then(|| self.feq(format, b, a)),
        };
        if format.is_nan(c) {
            return Some(self.truth(false));
        }
        let (term, c) = if is_zero(format, c) { (self.fabs(format, term), 0) } else { (term, c) };
        let c = self.constant(format.bits(), c);
        Some(self.eq(term, c))
    }

    /// A sum with a zero differs from the term by the sign of a zero at most, which no comparison sees.
    fn without_zero(&self, format: Format, term: TermId) -> TermId {
        match *self.get(term) {
            Term::Float(FloatOp::Add | FloatOp::Sub, own, [x, c, _])
                if own == format && self.as_const(c).is_some_and(|c| is_zero(format, c)) =>
            {
                x
            }
            _ => term,
        }
    }

    /// Floats that were widened are compared in the narrow format.
    fn compare_narrow(&mut self, op: FloatOp, a: TermId, b: TermId) -> Option<TermId> {
        let narrow = |terms: &Terms, id: TermId| match *terms.get(id) {
            Term::Float(FloatOp::Convert(Format::F64), Format::F32, [inner, ..]) => Some(inner),
            _ => None,
        };
        match (narrow(self, a), narrow(self, b), self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y), ..) => Some(self.float(op, Format::F32, &[x, y])),
            (Some(x), _, _, Some(c)) => self.compare_narrow_const(op, x, c, false),
            (_, Some(y), Some(c), _) => self.compare_narrow_const(op, y, c, true),
            _ => None,
        }
    }

    /// `x op c` (or `c op x`) where `x` is narrow and `c` is wide.
    fn compare_narrow_const(&mut self, op: FloatOp, x: TermId, c: u64, c_first: bool) -> Option<TermId> {
        let (narrow, wide) = (Format::F32, Format::F64);
        if wide.is_nan(c) {
            return Some(self.truth(false));
        }
        let near = eval(FloatOp::Convert(narrow), wide, &[c]);
        let back = narrow.value(near);
        let value = wide.value(c);
        let (op, bound) = if back == value {
            (op, near)
        } else if op == FloatOp::Eq {
            return Some(self.truth(false));
        } else {
            // No narrow number lies between, so the next one beyond the constant is excluded and nothing else is.
            let by = match (c_first, back < value) {
                (false, true) => 1,
                (true, false) => -1,
                _ => 0,
            };
            (FloatOp::Lt, step(narrow, near, by))
        };
        let bound = self.constant(narrow.bits(), bound);
        let args = if c_first { [bound, x] } else { [x, bound] };
        Some(self.float(op, narrow, &args))
    }

    /// Integers that became floats exactly are compared as integers.
    fn compare_integers(&mut self, op: FloatOp, format: Format, a: TermId, b: TermId) -> Option<TermId> {
        match (self.exact_integer(a), self.exact_integer(b), self.as_const(a), self.as_const(b)) {
            (Some((x, x_signed)), Some((y, y_signed)), ..) => {
                // One bit more than the wider one holds both, signed.
                let width = self.width(x).max(self.width(y)) + 1;
                if width > 64 {
                    return None;
                }
                let mut wide = |id, signed| if signed { self.sext(id, width) } else { self.zext(id, width) };
                let (x, y) = (wide(x, x_signed), wide(y, y_signed));
                let rel = match op {
                    FloatOp::Eq => Rel::Eq,
                    FloatOp::Lt => Rel::Slt,
                    _ => Rel::Sle,
                };
                Some(self.cmp(rel, x, y))
            }
            (Some((x, signed)), _, _, Some(c)) => self.compare_integer_const(op, format, x, signed, c, false),
            (_, Some((y, signed)), Some(c), _) => self.compare_integer_const(op, format, y, signed, c, true),
            _ => None,
        }
    }

    /// `x op c` (or `c op x`) where `x` is an integer.
    fn compare_integer_const(
        &mut self,
        op: FloatOp,
        format: Format,
        x: TermId,
        signed: bool,
        c: u64,
        c_first: bool,
    ) -> Option<TermId> {
        if format.is_nan(c) {
            return Some(self.truth(false));
        }
        if self.width(x) > 63 {
            return None;
        }
        let width = self.width(x) + 1;
        let x = if signed { self.sext(x, width) } else { self.zext(x, width) };
        let value = format.value(c);
        let (least, greatest) = (signed_min(width) as f64, signed_max(width) as f64);
        let integral = is_finite(format, c) && value == value.trunc();
        if op == FloatOp::Eq {
            if !integral || value < least || value > greatest {
                return Some(self.truth(false));
            }
            let c = self.constant(width, value as i64 as u64);
            return Some(self.eq(x, c));
        }
        // The integer bound of x: an upper bound, or a lower one if the constant is the first operand.
        let bound = match (c_first, op) {
            (false, FloatOp::Lt) => value.ceil() - 1.0,
            (false, _) => value.floor(),
            (true, FloatOp::Lt) => value.floor() + 1.0,
            (true, _) => value.ceil(),
        };
        // Numbers this large are out of the range of x anyway, and the arithmetic above is exact below.
        let limit = (1u64 << 53) as f64;
        if bound.abs() >= limit {
            return Some(self.truth((bound > 0.0) != c_first));
        }
        if bound < least || bound > greatest {
            return Some(self.truth((bound > greatest) != c_first));
        }
        let bound = self.constant(width, bound as i64 as u64);
        Some(if c_first { self.cmp(Rel::Sle, bound, x) } else { self.cmp(Rel::Sle, x, bound) })
    }
}
