//! Renders pure expressions of the IR as C.
//!
//! Every number is rendered as a C expression that equals it modulo two to the power of its width. Casts make width and
//! sign explicit, so the text does not depend on the types of the variables. Truth values are expressions that are 0 or
//! 1. Arithmetic wraps, as in the IR, because it is done on unsigned types.
//!
//! A predicate must not fault: it reads only memory that the program is about to read, or scalar variables that are
//! certainly initialised, and divides only after a comparison of the divisor with zero.

use crate::c::text::{TokenKind, TokenisedSource};
use crate::record::ProbeObstacle;
use touchstone_base::float;
use touchstone_ir::{
    BinOp, CastOp, CmpOp, DataType, Expr, ExprKind, Function, GlobalId, Linkage, Module, Ty, mask, sign_extend,
};

/// Renders the expressions of one program point.
pub(super) struct PredicateRenderer<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    /// The expression that the program is about to evaluate.
    pub own: Option<&'a Expr>,
    /// Returns true if a local variable is in scope and initialised.
    pub is_live: &'a dyn Fn(&str) -> bool,
    /// True if loads are guarded: a fault must happen in the program itself, after its own probe.
    pub guards: bool,
}

type Rendered = Result<String, ProbeObstacle>;

impl PredicateRenderer<'_> {
    /// Renders a predicate that is false where the expression is undefined.
    pub fn predicate(&self, expr: &Expr) -> Rendered {
        let text = self.value(expr)?;
        Ok(match self.defined(expr)? {
            Some(defined) => format!("({defined} && {text})"),
            None => text,
        })
    }

    /// Renders the value of an expression; it faults where the expression is undefined.
    pub fn value(&self, expr: &Expr) -> Rendered {
        match &expr.kind {
            ExprKind::Const(value) if expr.ty == Ty::Ptr && *value == 0 => Ok("(char *)0".to_string()),
            ExprKind::Const(_) if expr.ty == Ty::Ptr => Err(ProbeObstacle::FixedAddress),
            ExprKind::Const(value) => Ok(literal(*value, expr.ty.bits(), true)),
            ExprKind::Reg(_) | ExprKind::Slot(_) | ExprKind::Global(_) => self.leaf(expr),
            ExprKind::Load(address) => self.load(expr, address),
            ExprKind::Bin(op, a, b) => self.binary(*op, a, b, expr.ty.bits()),
            ExprKind::Cmp(op, a, b) => self.relation(*op, a, b),
            ExprKind::Cast(op, a) => self.cast(*op, a, expr.ty),
            ExprKind::Float(op, format, args) if op.result_format(*format).is_none() => self.float_result(*op, args),
            ExprKind::Float(..) | ExprKind::AsFloat(..) => Err(ProbeObstacle::FloatBits),
            ExprKind::PtrAdd(base, offset) => {
                Ok(format!("((char *){} + {})", self.value(base)?, self.as_type(offset, 64, true)?))
            }
            ExprKind::Not(a) => Ok(format!("!{}", self.value(a)?)),
            ExprKind::And(a, b) => Ok(format!("({} && {})", self.value(a)?, self.value(b)?)),
            ExprKind::Or(a, b) => Ok(format!("({} || {})", self.value(a)?, self.value(b)?)),
            ExprKind::Ite(c, a, b) => {
                let (a, b) = match expr.ty {
                    Ty::I1 => (self.value(a)?, self.value(b)?),
                    Ty::Ptr => (format!("(char *){}", self.value(a)?), format!("(char *){}", self.value(b)?)),
                    Ty::Int(bits) => (self.as_type(a, bits, false)?, self.as_type(b, bits, false)?),
                };
                Ok(format!("({} ? {a} : {b})", self.value(c)?))
            }
        }
    }

    /// Renders the condition under which an expression is defined, or returns `None` if it always is.
    fn defined(&self, expr: &Expr) -> Result<Option<String>, ProbeObstacle> {
        let both = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a} && {b}")),
            (only, None) | (None, only) => only,
        };
        let under = |condition: String, part: Option<String>| part.map(|part| format!("({condition} || ({part}))"));
        Ok(match &expr.kind {
            ExprKind::And(a, b) => {
                let right = under(format!("!{}", self.value(a)?), self.defined(b)?);
                both(self.defined(a)?, right)
            }
            ExprKind::Or(a, b) => {
                let right = under(self.value(a)?, self.defined(b)?);
                both(self.defined(a)?, right)
            }
            ExprKind::Ite(c, a, b) => {
                let condition = self.value(c)?;
                let yes = under(format!("!{condition}"), self.defined(a)?);
                let no = under(condition, self.defined(b)?);
                both(self.defined(c)?, both(yes, no))
            }
            ExprKind::Bin(op, a, b) => {
                let parts = both(self.defined(a)?, self.defined(b)?);
                let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
                match b.kind {
                    ExprKind::Const(value) if divides && value != 0 => parts,
                    _ if divides => both(parts, Some(format!("{} != 0", self.as_type(b, expr.ty.bits(), true)?))),
                    _ => parts,
                }
            }
            _ => {
                let mut all = None;
                for part in expr.parts() {
                    all = both(all, self.defined(part)?);
                }
                both(all, self.readable(expr))
            }
        })
    }

    /// Renders the condition under which a load is valid, as far as it can be checked.
    fn readable(&self, expr: &Expr) -> Option<String> {
        let ExprKind::Load(address) = &expr.kind else { return None };
        if !self.guards || self.is_scalar_variable(address, expr.ty) {
            return None;
        }
        let mut root = &**address;
        while let ExprKind::PtrAdd(base, _) = &root.kind {
            root = base;
        }
        let size = match &root.kind {
            ExprKind::Slot(slot) => self.function.slots[*slot].size,
            ExprKind::Global(global) => self.module.globals[*global].size,
            _ => return self.value(address).ok().map(|address| format!("(unsigned long){address} > 4095")),
        };
        let last = size.checked_sub(u64::from(expr.ty.bytes()))?;
        let (address, base) = (self.value(address).ok()?, self.value(root).ok()?);
        Some(format!("(unsigned long){address} - (unsigned long){base} <= {last}"))
    }

    /// Renders the value in a C type.
    fn as_type(&self, expr: &Expr, bits: u8, signed: bool) -> Rendered {
        match &expr.kind {
            ExprKind::Const(value) if expr.ty != Ty::Ptr => Ok(literal(mask(*value, bits), bits, signed)),
            _ if expr.ty == Ty::Ptr => Ok(format!("({})(unsigned long){}", c_type(bits, signed), self.value(expr)?)),
            _ => Ok(format!("({}){}", c_type(bits, signed), self.value(expr)?)),
        }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr, bits: u8) -> Rendered {
        // Narrow types would be promoted to int, where a product can overflow.
        let wide = bits.max(32);
        let plain =
            |sign: &str| Ok(format!("({} {sign} {})", self.as_type(a, wide, false)?, self.as_type(b, wide, false)?));
        let divide = |sign: &str, signed: bool| {
            let (x, y) = (self.as_type(a, bits, signed)?, self.as_type(b, bits, signed)?);
            if !signed || matches!(b.kind, ExprKind::Const(value) if value != mask(u64::MAX, bits)) {
                return Ok(format!("({x} {sign} {y})"));
            }
            // The minimum divided by -1 wraps.
            let negated = if sign == "/" { format!("0 - {}", self.as_type(a, wide, false)?) } else { "0".to_string() };
            Ok(format!("({y} == -1 ? {negated} : ({})({x} {sign} {y}))", c_type(wide, false)))
        };
        let shift = |sign: &str, bits_of_left: u8, signed: bool| {
            let amount = match b.kind {
                ExprKind::Const(value) => (value % u64::from(bits)).to_string(),
                _ => format!("({} % {bits})", self.as_type(b, bits, false)?),
            };
            Ok(format!("({} {sign} {amount})", self.as_type(a, bits_of_left, signed)?))
        };
        match op {
            BinOp::Add => plain("+"),
            BinOp::Sub => plain("-"),
            BinOp::Mul => plain("*"),
            BinOp::And => plain("&"),
            BinOp::Or => plain("|"),
            BinOp::Xor => plain("^"),
            BinOp::UDiv => divide("/", false),
            BinOp::URem => divide("%", false),
            BinOp::SDiv => divide("/", true),
            BinOp::SRem => divide("%", true),
            BinOp::Shl => shift("<<", wide, false),
            BinOp::LShr => shift(">>", bits, false),
            BinOp::AShr => shift(">>", bits, true),
        }
    }

    /// Renders a truth value or an integer that is computed from floats.
    fn float_result(&self, op: float::FloatOp, args: &[Expr]) -> Rendered {
        let args = args.iter().map(|arg| self.float(arg)).collect::<Result<Vec<_>, _>>()?;
        match (op, args.as_slice()) {
            (float::FloatOp::Eq, [a, b]) => Ok(format!("({a} == {b})")),
            (float::FloatOp::Lt, [a, b]) => Ok(format!("({a} < {b})")),
            (float::FloatOp::Le, [a, b]) => Ok(format!("({a} <= {b})")),
            (float::FloatOp::ToSigned(bits), [a]) => Ok(format!("({}){a}", c_type(bits, true))),
            (float::FloatOp::ToUnsigned(bits), [a]) => Ok(format!("({}){a}", c_type(bits, false))),
            _ => Err(ProbeObstacle::FloatOperation),
        }
    }

    /// Renders a value of a float type.
    fn float(&self, expr: &Expr) -> Rendered {
        match &expr.kind {
            ExprKind::AsFloat(format, inner) => match &inner.kind {
                ExprKind::Const(bits) if format.value(*bits).is_finite() => Ok(finite(*format, *bits)),
                ExprKind::Const(_) => Err(ProbeObstacle::FloatNoNumber),
                // An exclusive or with the sign bit is a negation.
                ExprKind::Bin(BinOp::Xor, a, _) if a.format() == Some(*format) => Ok(format!("(- {})", self.float(a)?)),
                ExprKind::Bin(BinOp::And, a, _) if a.format() == Some(*format) => {
                    let suffix = if *format == float::Format::F32 { "f" } else { "" };
                    Ok(format!("__builtin_fabs{suffix}({})", self.float(a)?))
                }
                ExprKind::Reg(_) => self.leaf(inner),
                ExprKind::Load(address) if self.is_scalar_variable(address, inner.ty) => self.load(inner, address),
                ExprKind::Load(address) => match self.load(inner, address)? {
                    text if text.starts_with('(') => Ok(text),
                    _ => Ok(format!("*({} *){}", c_float(*format), self.value(address)?)),
                },
                ExprKind::Ite(c, a, b) => Ok(format!("({} ? {} : {})", self.value(c)?, self.float(a)?, self.float(b)?)),
                _ => Err(ProbeObstacle::FloatBits),
            },
            ExprKind::Float(op, format, args) => self.float_operation(*op, *format, args),
            _ => Err(ProbeObstacle::IntegerAsFloat),
        }
    }
    fn float_operation(&self, op: float::FloatOp, format: float::Format, args: &[Expr]) -> Rendered {
        let [first, rest @ ..] = args else { return Err(ProbeObstacle::FloatWithoutArguments) };
        let sign = match op {
            float::FloatOp::FromSigned(bits) => {
                return Ok(format!("({}){}", c_float(format), self.as_type(first, bits, true)?));
            }
            float::FloatOp::FromUnsigned(bits) => {
                return Ok(format!("({}){}", c_float(format), self.as_type(first, bits, false)?));
            }
            float::FloatOp::Convert(to) => return Ok(format!("({}){}", c_float(to), self.float(first)?)),
            float::FloatOp::Add => "+",
            float::FloatOp::Sub => "-",
            float::FloatOp::Mul => "*",
            float::FloatOp::Div => "/",
            _ => return Err(ProbeObstacle::FloatOperation),
        };
        let second = rest.first().map_or(Ok(String::new()), |second| self.float(second))?;
        Ok(format!("({} {sign} {second})", self.float(first)?))
    }

    fn relation(&self, op: CmpOp, a: &Expr, b: &Expr) -> Rendered {
        let (sign, signed) = match op {
            CmpOp::Eq => ("==", true),
            CmpOp::Ne => ("!=", true),
            CmpOp::Slt => ("<", true),
            CmpOp::Sle => ("<=", true),
            CmpOp::Ult => ("<", false),
            CmpOp::Ule => ("<=", false),
        };
        let (a, b) = match a.ty {
            Ty::I1 => (self.value(a)?, self.value(b)?),
            Ty::Ptr => (format!("(char *){}", self.value(a)?), format!("(char *){}", self.value(b)?)),
            Ty::Int(bits) => (self.as_type(a, bits, signed)?, self.as_type(b, bits, signed)?),
        };
        Ok(format!("({a} {sign} {b})"))
    }

    fn cast(&self, op: CastOp, a: &Expr, to: Ty) -> Rendered {
        match op {
            CastOp::Zext if a.ty == Ty::I1 => self.value(a),
            CastOp::Sext if a.ty == Ty::I1 => Ok(format!("(- {})", self.value(a)?)),
            CastOp::Zext | CastOp::Sext => {
                let signed = op == CastOp::Sext;
                let inner = self.as_type(a, a.ty.bits(), signed)?;
                Ok(format!("({}){inner}", c_type(to.bits(), signed)))
            }
            CastOp::Trunc if to == Ty::I1 => Ok(format!("({} & 1)", self.as_type(a, a.ty.bits().max(32), false)?)),
            CastOp::Trunc => self.as_type(a, to.bits(), false),
            CastOp::PtrToInt => self.as_type(a, to.bits(), false),
            CastOp::IntToPtr => Ok(format!("(char *)(unsigned long){}", self.value(a)?)),
        }
    }

    /// Renders the variable of a register, or the address of a variable.
    fn leaf(&self, expr: &Expr) -> Rendered {
        let name = self.name(expr)?;
        let by_address = match &expr.kind {
            ExprKind::Reg(reg) => self.function.params.iter().any(|param| param.reg == *reg && param.aggregate),
            _ => true,
        };
        Ok(if by_address { format!("((char *)&{name})") } else { name.to_string() })
    }

    /// Returns the name of a leaf's variable, if it can be used at this point.
    fn name(&self, expr: &Expr) -> Result<&str, ProbeObstacle> {
        let no_name = || ProbeObstacle::NoName;
        let (name, local) = match &expr.kind {
            ExprKind::Reg(reg) => {
                let param = self.function.params.iter().find(|param| param.reg == *reg);
                let name = self.function.regs[*reg].name.as_deref().or(param.map(|param| param.name.as_str()));
                (name.ok_or_else(no_name)?, param.is_none())
            }
            ExprKind::Slot(slot) => (self.function.slots[*slot].name.as_deref().ok_or_else(no_name)?, true),
            ExprKind::Global(global) => return self.global(*global, expr),
            _ => return Err(no_name()),
        };
        if name.is_empty() {
            return Err(no_name());
        }
        if !self.is_own(expr) && (!self.is_unique(name) || (local && !(self.is_live)(name))) {
            return Err(ProbeObstacle::NoValue(name.to_string()));
        }
        Ok(name)
    }
    fn global(&self, id: GlobalId, expr: &Expr) -> Result<&str, ProbeObstacle> {
        let global = &self.module.globals[id];
        match global.linkage {
            Linkage::Literal => Err(ProbeObstacle::LiteralAddress),
            Linkage::Local => {
                let name = global.name.rsplit('.').next().unwrap_or_default();
                let usable = self.is_own(expr) || (self.is_unique(name) && (self.is_live)(name));
                usable.then_some(name).ok_or_else(|| ProbeObstacle::OutOfScope(name.to_string()))
            }
            _ if !self.is_own(expr) && self.carriers(&global.name) > 0 => {
                Err(ProbeObstacle::Hidden(global.name.clone()))
            }
            _ => Ok(&global.name),
        }
    }
    /// Returns the number of local variables with a name.
    fn carriers(&self, name: &str) -> usize {
        let regs = self.function.regs.values().filter(|reg| reg.name.as_deref() == Some(name)).count();
        let slots = self.function.slots.values().filter(|slot| slot.name.as_deref() == Some(name)).count();
        let full = format!("{}.{name}", self.function.name);
        regs + slots + self.module.globals.values().filter(|global| global.name == full).count()
    }
    fn is_unique(&self, name: &str) -> bool {
        self.carriers(name) <= 1
    }
    /// Returns true if the program's own expression contains this part, so that its name has the same meaning here.
    fn is_own(&self, part: &Expr) -> bool {
        self.own.is_some_and(|own| any_part(own, &|other| other.kind == part.kind))
    }
    /// Returns true if the program certainly evaluates this part here.
    fn is_evaluated(&self, part: &Expr) -> bool {
        self.own.is_some_and(|own| certain_part(own, &|other| other.kind == part.kind && other.ty == part.ty))
    }

    fn load(&self, expr: &Expr, address: &Expr) -> Rendered {
        if self.is_scalar_variable(address, expr.ty) {
            return self.name(address).map(str::to_string);
        }
        let own = self.own.is_some_and(|own| same_tree_somewhere(own, expr));
        if !own {
            return Err(ProbeObstacle::ReadsMore);
        }
        if self.is_trusted(&expr.text) {
            return Ok(format!("({})", expr.text));
        }
        let ty = match expr.ty {
            Ty::Ptr => "touchstone_pointer".to_string(),
            Ty::Int(bits) => format!("touchstone_u{}", bits.max(8)),
        };
        Ok(format!("*({ty} *){}", self.value(address)?))
    }

    /// Fails unless every load of the predicate is one that the program certainly performs here, or is guarded in the
    /// same way. Otherwise the predicate could fault where the program does not.
    pub fn check_loads(&self, expr: &Expr) -> Result<(), ProbeObstacle> {
        if self.own.is_some_and(|own| own == expr) || self.is_evaluated(expr) {
            return Ok(());
        }
        if let ExprKind::Load(address) = &expr.kind
            && !self.is_scalar_variable(address, expr.ty)
        {
            return Err(ProbeObstacle::MayReadMore);
        }
        expr.parts().into_iter().try_for_each(|part| self.check_loads(part))
    }

    /// Returns true if the evaluation of the expression can fault.
    pub fn can_fault(&self, expr: &Expr) -> bool {
        any_part(expr, &|part| match &part.kind {
            ExprKind::Load(address) => !self.is_scalar_variable(address, part.ty),
            ExprKind::Bin(op, ..) => matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem),
            _ => false,
        })
    }

    /// Returns true if an address is that of a variable of exactly this scalar type.
    fn is_scalar_variable(&self, address: &Expr, ty: Ty) -> bool {
        let data = match &address.kind {
            ExprKind::Slot(slot) => self.function.slots[*slot].data,
            ExprKind::Global(global) => self.module.globals[*global].data,
            _ => return false,
        };
        match &self.module.types[data] {
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => ty == Ty::Int(*bits),
            DataType::Float { format, .. } => ty == Ty::Int(format.bits()),
            DataType::Bool { .. } => ty == Ty::I8,
            DataType::Pointer { .. } => ty == Ty::Ptr,
            _ => false,
        }
    }

    /// Returns true if a source text can be used for its expression: it consists of variables, members and indices, so
    /// it contains no macro.
    fn is_trusted(&self, text: &str) -> bool {
        let inner = TokenisedSource::new(text);
        let known =
            |name: &str| self.carriers(name) > 0 || self.module.global_named(name).is_some() || self.is_param(name);
        let fits = |at: usize| match inner.tokens[at].kind {
            TokenKind::Word => {
                let member = at > 0 && matches!(inner.word(at - 1), "." | "->");
                (member || known(inner.word(at))) && inner.word(at + 1) != "("
            }
            TokenKind::Number => true,
            TokenKind::Quoted => false,
            TokenKind::Sign => {
                matches!(inner.word(at), "[" | "]" | "(" | ")" | "." | "->" | "*" | "+" | "-" | "&" | "/" | "%")
            }
        };
        !text.is_empty() && (0..inner.tokens.len()).all(fits)
    }
    fn is_param(&self, name: &str) -> bool {
        self.function.params.iter().any(|param| param.name == name)
    }
}

/// Renders a finite float constant as the shortest decimal that is parsed to the same number.
fn finite(format: float::Format, bits: u64) -> String {
    match format {
        float::Format::F32 => format!("{:?}f", f32::from_bits(bits as u32)),
        float::Format::F64 => format!("{:?}", f64::from_bits(bits)),
    }
}

fn any_part(expr: &Expr, holds: &dyn Fn(&Expr) -> bool) -> bool {
    holds(expr) || expr.parts().into_iter().any(|part| any_part(part, holds))
}

/// Like `any_part`, for the parts that are evaluated whenever the whole is.
fn certain_part(expr: &Expr, holds: &dyn Fn(&Expr) -> bool) -> bool {
    let certain = match &expr.kind {
        ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Ite(..) => 1,
        _ => usize::MAX,
    };
    holds(expr) || expr.parts().into_iter().take(certain).any(|part| certain_part(part, holds))
}

/// Returns true if an expression is an unchanged part of another.
fn same_tree_somewhere(own: &Expr, expr: &Expr) -> bool {
    any_part(own, &|other| other == expr)
}

/// Returns the C type of a float format.
fn c_float(format: float::Format) -> &'static str {
    match format {
        float::Format::F32 => "float",
        float::Format::F64 => "double",
    }
}

/// Returns the C type of an integer width.
fn c_type(bits: u8, signed: bool) -> &'static str {
    match (bits, signed) {
        (..=8, true) => "signed char",
        (..=8, false) => "unsigned char",
        (9..=16, true) => "short",
        (9..=16, false) => "unsigned short",
        (17..=32, true) => "int",
        (17..=32, false) => "unsigned",
        (_, true) => "long long",
        (_, false) => "unsigned long long",
    }
}

/// Renders a constant so that C gives it the right type and reads it as one token.
fn literal(value: u64, bits: u8, signed: bool) -> String {
    let suffix = if bits > 32 { "LL" } else { "" };
    if bits == 1 {
        return (value & 1).to_string();
    }
    if !signed {
        return format!("{}u{suffix}", mask(value, bits));
    }
    match sign_extend(mask(value, bits), bits) {
        least if bits >= 32 && least == i64::MIN >> (64 - bits) => format!("({}{suffix} - 1)", least + 1),
        negative @ ..0 => format!("({negative}{suffix})"),
        number => format!("{number}{suffix}"),
    }
}
