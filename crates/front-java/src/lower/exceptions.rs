//! Implicit exceptions, allocation and calls: objects of the JDK's own classes, with the JVM's messages.

use crate::classes::layout::CLASS_WORD_OFFSET;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_ir::{BranchRole, Builtin, CmpOp, Operand, Ty};

/// An operand of a string concatenation.
pub(crate) enum StringPart {
    Text(String),
    Units(Vec<u16>),
    Value(Operand, Desc),
}

impl Lowering {
    /// Allocates an object, zeroed except for its class word.
    pub fn allocate(&mut self, b: &mut Builder, class: ClassId) -> Operand {
        self.classes.mark_instantiated(class);
        let size = self.classes.get(class).size;
        let object = b.builtin(Builtin::Allocate, vec![long(size as i64)], Some(Ty::Ptr));
        b.store(object, CLASS_WORD_OFFSET, Operand::Const(Ty::I32, self.word(class)));
        object
    }

    /// Calls a method of the JDK by name, without dispatch.
    pub fn call_jdk(
        &mut self,
        b: &mut Builder,
        (class, name, desc): (&str, &str, &str),
        args: Vec<Operand>,
    ) -> Result<Operand, LoweringError> {
        let method = self.jdk_method(class, name, desc)?;
        Ok(self.call_method(b, method, args))
    }

    /// Calls a method without dispatch.
    pub fn call_method(&mut self, b: &mut Builder, method: MethodRef, args: Vec<Operand>) -> Operand {
        let result = self.signature(method).1;
        let function = self.func(FuncKind::Method(method));
        b.call(function, args, result)
    }

    /// Calls a method of the JDK by name, with dispatch on the receiver.
    pub fn call_virtual(
        &mut self,
        b: &mut Builder,
        (class, name, desc): (&str, &str, &str),
        args: Vec<Operand>,
    ) -> Result<Operand, LoweringError> {
        let method = self.jdk_method(class, name, desc)?;
        let result = self.signature(method).1;
        let function = self.latest_generation(|generation| FuncKind::Dispatch(method, generation));
        Ok(b.call(function, args, result))
    }

    pub fn throw_new(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        self.ensure_init(b, class);
        let object = self.allocate(b, class);
        let message = b.param(0);
        let with = self.classes.declared(class, "<init>", "(Ljava/lang/String;)V");
        let without = self.classes.declared(class, "<init>", "()V");
        let object = b.copied(object);
        match (with, without) {
            (Some(with), Some(without)) => {
                let (named, plain, made) = (b.block(), b.block(), b.block());
                let is_named = b.cmp(CmpOp::Ne, message, NULL);
                b.branch(is_named, named, plain, BranchRole::Check);
                b.at(named);
                self.call_method(b, with, vec![object, message]);
                b.jump(made);
                b.at(plain);
                self.call_method(b, without, vec![object]);
                b.jump(made);
                b.at(made);
            }
            (Some(with), None) => drop(self.call_method(b, with, vec![object, message])),
            (None, Some(without)) => drop(self.call_method(b, without, vec![object])),
            (None, None) => {
                return Err(LoweringError::NoMethod(format!("{}.<init>", self.classes.get(class).name)));
            }
        }
        b.throw(object);
        Ok(())
    }

    pub fn throw_index(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let parts = [
            StringPart::Text("Index ".to_string()),
            StringPart::Value(b.param(0), Desc::Int),
            StringPart::Text(" out of bounds for length ".to_string()),
            StringPart::Value(b.param(1), Desc::Int),
        ];
        self.throw_text(b, "java/lang/ArrayIndexOutOfBoundsException", &parts)
    }

    pub fn throw_negative(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let parts = [StringPart::Value(b.param(0), Desc::Int)];
        self.throw_text(b, "java/lang/NegativeArraySizeException", &parts)
    }

    fn throw_text(&mut self, b: &mut Builder, class: &str, parts: &[StringPart]) -> Result<(), LoweringError> {
        let text = self.concat(b, parts)?;
        let class = self.jdk(class)?;
        let throw = self.func(FuncKind::Throw(class));
        b.call(throw, vec![text], None);
        Ok(())
    }

    /// Throws an exception of a class, with a constant message or without one.
    pub fn throw_constant(&mut self, b: &mut Builder, class: &str, message: Option<&str>) {
        match self.jdk(class) {
            Ok(class) => {
                let throw = self.func(FuncKind::Throw(class));
                let message = match message {
                    Some(text) => self.literal(b, text),
                    None => NULL,
                };
                b.call(throw, vec![message], None);
                b.end(touchstone_ir::TermKind::Unreachable);
            }
            Err(error) => b.unsupported(error.to_string()),
        }
    }

    /// Concatenates strings as the operator `+` does.
    pub fn concat(&mut self, b: &mut Builder, parts: &[StringPart]) -> Result<Operand, LoweringError> {
        const BUILDER: &str = "java/lang/StringBuilder";
        let class = self.jdk(BUILDER)?;
        self.ensure_init(b, class);
        let object = self.allocate(b, class);
        let object = b.copied(object);
        self.call_jdk(b, (BUILDER, "<init>", "()V"), vec![object])?;
        for part in parts {
            let (value, ty) = match part {
                StringPart::Text(text) => (self.literal(b, text), "Ljava/lang/String;".to_string()),
                StringPart::Units(units) => {
                    let global = self.global_id(GlobalKind::Literal(units.clone().into()));
                    (b.global(global), "Ljava/lang/String;".to_string())
                }
                StringPart::Value(value, desc) => (*value, append_type(desc)),
            };
            let desc = format!("({ty})L{BUILDER};");
            self.call_jdk(b, (BUILDER, "append", &desc), vec![object, value])?;
        }
        self.call_jdk(b, (BUILDER, "toString", "()Ljava/lang/String;"), vec![object])
    }

    /// Throws the linkage error for an unresolved symbolic reference; other errors end the path.
    pub fn throw_linkage_error(&mut self, b: &mut Builder, error: &LoweringError) {
        match error {
            LoweringError::NoClass(name) => {
                let text = name.to_string();
                self.throw_constant(b, "java/lang/NoClassDefFoundError", Some(&text));
            }
            LoweringError::NoField(name) => {
                let field = name.rsplit_once('.').map_or(&**name, |(_, field)| field).to_string();
                self.throw_constant(b, "java/lang/NoSuchFieldError", Some(&field));
            }
            LoweringError::NoMethod(name) => {
                let text = format!("'{name}'");
                self.throw_constant(b, "java/lang/NoSuchMethodError", Some(&text));
            }
            LoweringError::Malformed(text) | LoweringError::Unsupported(text) => b.unsupported(text.clone()),
        }
    }

    /// Continues if a reference is not null, else throws.
    pub fn null_check(&mut self, b: &mut Builder, reference: Operand) {
        self.null_check_with(b, reference, None);
    }

    /// Continues if a reference is not null, else throws with a detail message.
    pub fn null_check_with(&mut self, b: &mut Builder, reference: Operand, message: Option<&str>) {
        let not_null = b.cmp(CmpOp::Ne, reference, NULL);
        let (next, wrong) = (b.block(), b.block());
        b.branch(not_null, next, wrong, BranchRole::Check);
        b.at_failure(wrong);
        let throw = self.func(FuncKind::ThrowNull);
        let message = message.map_or(NULL, |text| self.literal(b, text));
        b.call(throw, vec![message], None);
        b.end(touchstone_ir::TermKind::Unreachable);
        b.at(next);
    }

    pub fn throw_null(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        const CLASS: &str = "java/lang/NullPointerException";
        let class = self.jdk(CLASS)?;
        self.ensure_init(b, class);
        let object = self.allocate(b, class);
        self.call_jdk(b, (CLASS, "<init>", "()V"), vec![object])?;
        // The JDK computes the message on demand and caches it in these fields.
        if let Some(field) = self.classes.field_named(class, "extendedMessage") {
            let offset = field.offset as i64;
            b.store(object, offset, b.param(0));
        }
        if let Some(field) = self.classes.field_named(class, "extendedMessageState") {
            let offset = field.offset as i64;
            b.store(object, offset, int(2));
        }
        b.throw(object);
        Ok(())
    }

    /// Continues if a divisor is not zero, else throws.
    pub fn zero_check(&mut self, b: &mut Builder, divisor: Operand) {
        if matches!(divisor, Operand::Const(_, value) if value != 0) {
            return;
        }
        let zero = match b.ty(divisor) {
            Ty::I64 => long(0),
            _ => int(0),
        };
        let not_zero = b.cmp(CmpOp::Ne, divisor, zero);
        let (next, wrong) = (b.block(), b.block());
        b.branch(not_zero, next, wrong, BranchRole::Check);
        b.at_failure(wrong);
        self.throw_constant(b, "java/lang/ArithmeticException", Some("/ by zero"));
        b.at(next);
    }
}

/// Returns the parameter type of the `append` method for a type.
fn append_type(desc: &Desc) -> String {
    match desc {
        Desc::Byte | Desc::Short | Desc::Int => "I".to_string(),
        Desc::Ref(name) if &**name == "java/lang/String" => "Ljava/lang/String;".to_string(),
        Desc::Ref(_) => "Ljava/lang/Object;".to_string(),
        other => other.text(),
    }
}
