//! Mathematical functions without an exactly rounded result.
//!
//! Functions of C have the values of the host's library; only functions that Rust's standard library takes from there are here
//! (it has its own `cbrt`, `asinh`, …). Functions of Java have those of `strict_math.rs`.
//! They are evaluated on concrete values only. The NaN rule is that of [`crate::float`].

use crate::float::Format;
use crate::strict_math;

macro_rules! functions {
    ($($variant:ident $name:literal $arity:literal $call:expr;)*) => {
        /// A function of C or Java.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum MathFunction {
            $($variant,)*
        }

        impl MathFunction {
            /// All of them.
            pub const ALL: &[MathFunction] = &[$(MathFunction::$variant,)*];

            /// C's name of it for `double`; that of Java's functions begins with `strict`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MathFunction::$variant => $name,)*
                }
            }

            /// Returns the number of arguments.
            pub const fn arity(self) -> usize {
                match self {
                    $(MathFunction::$variant => $arity,)*
                }
            }

            fn double(self, a: f64, b: f64) -> f64 {
                match self {
                    $(MathFunction::$variant => {
                        let call: fn(f64, f64) -> f64 = $call;
                        call(a, b)
                    })*
                }
            }

            fn single(self, a: f32, b: f32) -> f32 {
                match self {
                    $(MathFunction::$variant => {
                        let call: fn(f32, f32) -> f32 = $call;
                        call(a, b)
                    })*
                }
            }
        }
    };
}

functions! {
    Sin "sin" 1 |a, _| a.sin();
    Cos "cos" 1 |a, _| a.cos();
    Tan "tan" 1 |a, _| a.tan();
    Asin "asin" 1 |a, _| a.asin();
    Acos "acos" 1 |a, _| a.acos();
    Atan "atan" 1 |a, _| a.atan();
    Atan2 "atan2" 2 |a, b| a.atan2(b);
    Sinh "sinh" 1 |a, _| a.sinh();
    Cosh "cosh" 1 |a, _| a.cosh();
    Tanh "tanh" 1 |a, _| a.tanh();
    Exp "exp" 1 |a, _| a.exp();
    Exp2 "exp2" 1 |a, _| a.exp2();
    Expm1 "expm1" 1 |a, _| a.exp_m1();
    Log "log" 1 |a, _| a.ln();
    Log2 "log2" 1 |a, _| a.log2();
    Log10 "log10" 1 |a, _| a.log10();
    Log1p "log1p" 1 |a, _| a.ln_1p();
    Pow "pow" 2 |a, b| a.powf(b);
    Hypot "hypot" 2 |a, b| a.hypot(b);
    StrictTan "stricttan" 1 |a, _| a.by(strict_math::tan);
    StrictAsin "strictasin" 1 |a, _| a.by(strict_math::asin);
    StrictAcos "strictacos" 1 |a, _| a.by(strict_math::acos);
    StrictAtan "strictatan" 1 |a, _| a.by(strict_math::atan);
    StrictAtan2 "strictatan2" 2 |a, b| a.by_two(b, strict_math::atan2);
    StrictSinh "strictsinh" 1 |a, _| a.by(strict_math::sinh);
    StrictCosh "strictcosh" 1 |a, _| a.by(strict_math::cosh);
    StrictTanh "stricttanh" 1 |a, _| a.by(strict_math::tanh);
    StrictExpm1 "strictexpm1" 1 |a, _| a.by(strict_math::expm1);
    StrictLog "strictlog" 1 |a, _| a.by(strict_math::log);
    StrictLog10 "strictlog10" 1 |a, _| a.by(strict_math::log10);
}

impl MathFunction {
    /// Returns the function of C with this name.
    pub fn of_c(name: &str) -> Option<MathFunction> {
        MathFunction::ALL.iter().copied().find(|function| function.name() == name && !name.starts_with("strict"))
    }

    /// Returns the function of Java's `StrictMath` with this name.
    pub fn of_java(name: &str) -> Option<MathFunction> {
        MathFunction::ALL.iter().copied().find(|function| function.name().strip_prefix("strict") == Some(name))
    }
}

/// A number to which a function of `f64` is applied.
trait Real {
    fn by(self, function: impl Fn(f64) -> f64) -> Self;
    fn by_two(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self;
}

impl Real for f64 {
    fn by(self, function: impl Fn(f64) -> f64) -> f64 {
        function(self)
    }
    fn by_two(self, other: f64, function: impl Fn(f64, f64) -> f64) -> f64 {
        function(self, other)
    }
}

impl Real for f32 {
    fn by(self, function: impl Fn(f64) -> f64) -> f32 {
        function(f64::from(self)) as f32
    }
    fn by_two(self, other: f32, function: impl Fn(f64, f64) -> f64) -> f32 {
        function(f64::from(self), f64::from(other)) as f32
    }
}

/// The value of a function as bits; a missing argument counts as 0.
pub fn eval(function: MathFunction, format: Format, args: &[u64]) -> u64 {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    let result = match format {
        Format::F32 => {
            let arg = |index| f32::from_bits(arg(index) as u32);
            u64::from(function.single(arg(0), arg(1)).to_bits())
        }
        Format::F64 => function.double(f64::from_bits(arg(0)), f64::from_bits(arg(1))).to_bits(),
    };
    match format.is_nan(result) {
        false => result,
        true => {
            let given = (0..function.arity()).map(arg).find(|&value| format.is_nan(value));
            given.map_or(format.default_nan(), |nan| nan | format.quiet_bit())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_librarys_and_nans_follow_the_rule() {
        let check = |function, args: &[f64], expected: f64| {
            let bits: Vec<u64> = args.iter().map(|value| value.to_bits()).collect();
            assert_eq!(eval(function, Format::F64, &bits), expected.to_bits(), "{function:?} {args:?}");
        };
        check(MathFunction::Pow, &[2.0, 10.0], 1024.0);
        check(MathFunction::Hypot, &[3.0, 4.0], 5.0);
        check(MathFunction::Exp, &[0.0], 1.0);
        check(MathFunction::Atan2, &[-0.0, -1.0], -std::f64::consts::PI);
        assert_eq!(eval(MathFunction::Log, Format::F64, &[(-1.0f64).to_bits()]), Format::F64.default_nan());
        assert_eq!(eval(MathFunction::Sin, Format::F32, &[0x7f80_0001]), 0x7fc0_0001);
    }
}
