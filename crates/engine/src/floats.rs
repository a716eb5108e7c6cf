//! Floats: operations on bit patterns, computed if all arguments are known, else as terms of the solver.
//!
//! What an operation means is in [`touchstone_base::float`]; here is only who computes it.

use crate::executor::Executor;
use crate::state::{State, Stop};
use crate::value::{Scalar, Value};
use touchstone_base::Span;
use touchstone_base::float::{self, Format, Op};
use touchstone_ir::{Operand, Reg};

impl Executor<'_> {
    pub(crate) fn step_float(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: Op,
        format: Format,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let args: Vec<Value> = args.iter().map(|&arg| state.top().value(arg)).collect();
        let value = self.float(state, op, format, &args, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// `op(args)` as a value.
    pub(crate) fn float(
        &mut self,
        state: &mut State,
        op: Op,
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
        Err(Stop::unsupported("symbolic float", span))
    }
}
