//! Probes over the result of a function: around every returned expression.

use super::function_probes::FunctionProbes;
use crate::c::annotate::ResultType;
use crate::record::ProbeObstacle;
use touchstone_criteria::ResultPredicate;

/// The rank of the outermost probe around an expression.
const RESULT_RANK: usize = 0;

impl FunctionProbes<'_, '_, '_> {
    /// Allocates the probe of a predicate over the result.
    pub(super) fn result(&mut self, predicate: ResultPredicate) -> Result<Vec<u32>, ProbeObstacle> {
        self.place.returned_expressions()?;
        self.place.result_type().ok_or(ProbeObstacle::NoExpression)?;
        let probe = self.fresh(1);
        self.results.push((predicate, probe));
        Ok(vec![probe])
    }

    /// Wraps every returned expression in the probes of predicates over the result.
    ///
    /// The value is converted to the function's type first, as by the return. The conditional keeps a null pointer
    /// constant a pointer, and makes an integer of a bit-field.
    pub(super) fn write_results(&mut self) {
        let (Ok(expressions), Some(result)) = (self.place.returned_expressions(), self.place.result_type()) else {
            return;
        };
        if self.results.is_empty() {
            return;
        }
        let (other, ty) = match &result {
            ResultType::Pointer => ("(void *)0", ""),
            ResultType::Number(ty) => ("0", ty.as_str()),
        };
        let checks = |value: &str| -> String {
            let check = |(predicate, probe): &(ResultPredicate, u32)| {
                let negation = match predicate {
                    ResultPredicate::Zero => "!",
                    ResultPredicate::NonZero => "!!",
                };
                // No `if`: compilers warn about one that begins on the line of another.
                format!("{negation}{ty}{value} ? (void)(__touchstone_h[{probe}] = 1) : (void)0; ")
            };
            self.results.iter().map(check).collect()
        };
        let open = "(__extension__ ({ __auto_type __touchstone_v = 1 ? (";
        let close = format!(") : {other}; {}__touchstone_v; }}))", checks("__touchstone_v"));
        for (start, end) in expressions {
            self.unit.insertions.wrap(start, end, RESULT_RANK, open.to_string(), close.clone());
        }
        // C99, 5.1.2.2.3: reaching the end of `main` returns 0.
        if self.place.function.name == "main"
            && let Some(end) = self.place.end_of_body()
        {
            self.unit.insertions.before(end, format!(" {}", checks("0")));
        }
    }
}
