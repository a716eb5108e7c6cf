//! Floats: operations on bit patterns, computed if all arguments are constant, else as terms of the solver.
//!
//! The meaning of the operations is defined in [`touchstone_base::float`].

use crate::exec::executor::Executor;
use crate::state::value::{Scalar, Value};
use crate::state::{State, Stop};
use touchstone_base::Span;
use touchstone_base::float::{self, FloatOp, Format};
use touchstone_base::math;
use touchstone_criteria::Unsupported;
use touchstone_ir::{Operand, Reg, Ty};
use touchstone_solver::TermId;

impl Executor<'_> {
    pub(crate) fn step_float(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: FloatOp,
        format: Format,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let args: Vec<Value> = args.iter().map(|&arg| state.top().value(arg)).collect();
        let value = self.float(state, op, format, &args, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// Returns `op(args)`.
    pub(crate) fn float(
        &mut self,
        state: &mut State,
        op: FloatOp,
        format: Format,
        args: &[Value],
        span: Span,
    ) -> Result<Value, Stop> {
        let mut scalars = Vec::with_capacity(args.len());
        for arg in args {
            scalars.push(self.as_scalar(state, arg, span)?);
        }
        let known: Option<Vec<u64>> = scalars
            .iter()
            .map(|scalar| match scalar {
                Scalar::Const(value) => Some(*value),
                Scalar::Term(_) => None,
            })
            .collect();
        if let Some(args) = known {
            return Ok(Value::constant(float::eval(op, format, &args)));
        }
        let width = op.argument_bits(format);
        let args: Vec<TermId> = scalars.into_iter().map(|scalar| scalar.term(&mut self.terms, width)).collect();
        if let FloatOp::ToSigned(bits) | FloatOp::ToUnsigned(bits) = op {
            self.avoid_bad_conversion(state, format, args[0], bits, matches!(op, FloatOp::ToSigned(_)));
        }
        let term = self.terms.float(op, format, &args);
        Ok(Value::term(&self.terms, term))
    }

    /// Parses a decimal number; its characters must be constant.
    pub(crate) fn step_parse(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        format: Format,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let length = self.fixed(state, args[1], span)?;
        let start = state.top().value(args[0]);
        let mut text = Vec::new();
        for index in 0..length {
            let place = self.advance(state, &start, Scalar::Const(index), span)?;
            match self.load(state, &place, Ty::I8, span)? {
                Value::Int(Scalar::Const(byte)) => text.push(byte as u8),
                _ => return Err(Stop::unsupported(Unsupported::SymbolicDigits, span)),
            }
        }
        let value = float::parse_decimal(format, &text);
        let value = value.ok_or_else(|| Stop::unsupported(Unsupported::NoDecimal, span))?;
        if let Some(dst) = dst {
            state.set(dst, Value::constant(value));
        }
        Ok(())
    }

    /// Returns a byte of a formatted float; the float must be constant.
    pub(crate) fn float_text(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let mut values = [0; 6];
        for (value, &arg) in values.iter_mut().zip(args) {
            let known = state.top().value(arg);
            match self.as_scalar(state, &known, span)? {
                Scalar::Const(known) => *value = known,
                Scalar::Term(_) => return Err(Stop::unsupported(Unsupported::SymbolicFloatText, span)),
            }
        }
        if let Some(dst) = dst {
            state.set(dst, Value::constant(u64::from(touchstone_interp::float_text(&values))));
        }
        Ok(())
    }

    /// Calls a mathematical function of the host: its value for a symbolic argument is not modelled.
    pub(crate) fn step_math(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        function: math::MathFunction,
        format: Format,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let mut values = Vec::with_capacity(args.len());
        for &arg in args {
            let value = state.top().value(arg);
            match self.as_scalar(state, &value, span)? {
                Scalar::Const(value) => values.push(value),
                Scalar::Term(_) => {
                    return Err(Stop::unsupported(Unsupported::SymbolicMathematics(function.name().to_string()), span));
                }
            }
        }
        if let Some(dst) = dst {
            state.set(dst, Value::constant(math::eval(function, format, &values)));
        }
        Ok(())
    }

    /// Avoids conversions of a float that does not fit the integer type, which have no defined result, as long as the
    /// path has other inputs.
    fn avoid_bad_conversion(&mut self, state: &mut State, format: Format, value: TermId, bits: u8, signed: bool) {
        let (low, high) = float::integer_limits(format, bits, signed);
        let (low, high) = (self.terms.constant(format.bits(), low), self.terms.constant(format.bits(), high));
        let above = self.terms.float(FloatOp::Lt, format, &[low, value]);
        let below = self.terms.float(FloatOp::Lt, format, &[value, high]);
        let fine = self.terms.and(above, below);
        self.avoid(state, fine);
    }

    /// Constrains a float input to an interval, which also excludes NaN.
    pub(crate) fn between(&mut self, term: TermId, format: Format, low: f64, high: f64, out: &mut Vec<TermId>) {
        let (low, high) = (format.of(low), format.of(high));
        let (low, high) = (self.terms.constant(format.bits(), low), self.terms.constant(format.bits(), high));
        out.push(self.terms.float(FloatOp::Le, format, &[low, term]));
        out.push(self.terms.float(FloatOp::Le, format, &[term, high]));
    }
}
