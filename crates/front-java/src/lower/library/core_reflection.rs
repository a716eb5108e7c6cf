//! `Class` objects, and the part of reflection that the JDK itself uses.

use crate::classes::LoweringError;
use crate::classes::layout::{ARRAY_BASE_OFFSET, MIRROR_HIDDEN_BYTES};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::static_data::mirror;
use crate::lower::symbols::{ClassQuery, FuncKind, GlobalKind};
use touchstone_ir::{BinOp, BranchRole, Builtin, CastOp, CmpOp, JavaBuiltin, Operand, Ty};

impl Lowering {
    /// Returns the unique object of a string: its interned string, or its class.
    pub fn object_by_string(
        &mut self,
        b: &mut Builder,
        string: Operand,
        builtin: JavaBuiltin,
    ) -> Result<Operand, LoweringError> {
        let class = self.jdk("java/lang/String")?;
        let field = |name| self.classes.field_named(class, name).cloned();
        let (Some(value), Some(coder)) = (field("value"), field("coder")) else {
            return Err(LoweringError::NoField("java/lang/String.value".to_string()));
        };
        let bytes = b.load(string, value.offset as i64, Ty::Ptr);
        let coder_place = b.add(string, long(coder.offset as i64));
        let coder = b.load_as(coder_place, &coder.desc);
        let length = self.array_length(b, bytes);
        let length = b.cast(CastOp::Zext, Ty::I64, length);
        let first = b.add(bytes, long(ARRAY_BASE_OFFSET));
        Ok(b.builtin(Builtin::Java(builtin), vec![first, length, coder], Some(Ty::Ptr)))
    }

    pub fn class_by_name(&mut self, b: &mut Builder, initialise: Option<Operand>) -> Result<(), LoweringError> {
        let name = b.param(0);
        self.null_check(b, name);
        let class = self.object_by_string(b, name, JavaBuiltin::ClassNamed)?;
        let none = b.block();
        let there = b.cmp(CmpOp::Ne, class, NULL);
        b.check(there, none);
        let (first, done) = (b.block(), b.block());
        let wanted = match initialise {
            Some(flag) => b.cmp(CmpOp::Ne, flag, int(0)),
            None => Operand::Const(Ty::I1, 1),
        };
        b.branch(wanted, first, done, BranchRole::Check);
        b.at(first);
        self.query_mirror(b, ClassQuery::Initialise, class, &[], None)?;
        b.jump(done);
        b.at(done);
        b.ret(Some(class));
        b.at(none);
        let exception = self.jdk("java/lang/ClassNotFoundException")?;
        let throw = self.func(FuncKind::Throw(exception));
        b.call(throw, vec![name], None);
        Ok(())
    }

    /// Lowers the lookup of a field, or of the constructor without parameters. The object records only its class and
    /// name, which suffices for the JDK.
    pub fn declared_member(&mut self, b: &mut Builder, member: &str) -> Result<(), LoweringError> {
        let (this, name) = (b.param(0), b.param(1));
        let flags = self.hidden_field(b, this, mirror::FLAGS, Ty::I32)?;
        let own = b.bin(BinOp::And, flags, int(mirror::OF_PROGRAM));
        let of_jdk = b.cmp(CmpOp::Eq, own, int(0));
        let other = b.block();
        b.check(of_jdk, other);
        let class = self.jdk(member)?;
        let object = self.allocate(b, class);
        for (field, value) in [("clazz", this), ("name", name)] {
            if let Some(place) = self.classes.field_named(class, field) {
                let offset = place.offset as i64;
                b.store(object, offset, value);
            }
        }
        b.ret(Some(object));
        b.at(other);
        b.unsupported("reflection on a class of the program");
        Ok(())
    }

    /// Lowers the offset of the field that a `Field` object represents.
    pub fn offset_of_field(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let field = b.param(1);
        self.null_check(b, field);
        let of = self.jdk("java/lang/reflect/Field")?;
        let place = |name| self.classes.field_named(of, name).map(|place| place.offset as i64);
        let (Some(class), Some(name)) = (place("clazz"), place("name")) else {
            return Err(LoweringError::NoField("java/lang/reflect/Field.clazz".to_string()));
        };
        let (class, name) = (b.load(field, class, Ty::Ptr), b.load(field, name, Ty::Ptr));
        let offset = self.query_mirror(b, ClassQuery::FieldOffset, class, &[name], Some(Ty::I64))?;
        b.ret(Some(offset));
        Ok(())
    }

    /// Loads a hidden field of a `Class` object.
    pub fn hidden_field(
        &mut self,
        b: &mut Builder,
        class: Operand,
        field: u64,
        ty: Ty,
    ) -> Result<Operand, LoweringError> {
        let of = self.jdk("java/lang/Class")?;
        let at = self.classes.get(of).size - MIRROR_HIDDEN_BYTES + field;
        Ok(b.load(class, at as i64, ty))
    }

    /// Queries the class that a `Class` object represents.
    pub fn query_mirror(
        &mut self,
        b: &mut Builder,
        question: ClassQuery,
        class: Operand,
        more: &[Operand],
        result: Option<Ty>,
    ) -> Result<Operand, LoweringError> {
        let word = self.hidden_field(b, class, mirror::CLASS, Ty::I32)?;
        let ask = self.latest_generation(|generation| FuncKind::Ask(question, generation));
        let args = std::iter::once(word).chain(more.iter().copied()).collect();
        Ok(b.call(ask, args, result))
    }

    pub fn class_native(&mut self, b: &mut Builder, name: &str, desc: &str) -> Result<bool, LoweringError> {
        let flag = match name {
            "isArray" => 1,
            "isPrimitive" => 2,
            "isInterface" => 4,
            _ => 0,
        };
        if flag != 0 {
            let this = b.param(0);
            let flags = self.hidden_field(b, this, mirror::FLAGS, Ty::I32)?;
            let set = b.bin(BinOp::And, flags, int(flag));
            let set = b.cmp(CmpOp::Ne, set, int(0));
            let set = b.cast(CastOp::Zext, Ty::I32, set);
            b.ret(Some(set));
            return Ok(true);
        }
        match name {
            "getPrimitiveClass" => self.primitive_class(b)?,
            "forName0" => self.class_by_name(b, Some(b.param(1)))?,
            "forName" if desc == "(Ljava/lang/String;)Ljava/lang/Class;" => self.class_by_name(b, None)?,
            "getDeclaredField" => self.declared_member(b, "java/lang/reflect/Field")?,
            "getDeclaredConstructor" => self.declared_member(b, "java/lang/reflect/Constructor")?,
            "desiredAssertionStatus" | "desiredAssertionStatus0" | "isHidden" | "isHidden0" => b.ret(Some(int(0))),
            "getProtectionDomain0" => b.ret(Some(NULL)),
            "getClassLoader" | "getClassLoader0" => {
                let this = b.param(0);
                let flags = self.hidden_field(b, this, mirror::FLAGS, Ty::I32)?;
                let of_program = b.bin(BinOp::And, flags, int(mirror::OF_PROGRAM));
                let of_program = b.cmp(CmpOp::Ne, of_program, int(0));
                let (loaded, of_jdk) = (b.block(), b.block());
                b.branch(of_program, loaded, of_jdk, BranchRole::Check);
                b.at(of_jdk);
                b.ret(Some(NULL));
                b.at(loaded);
                b.unsupported("a class loader");
            }
            // There are no modules: null would be an exception that a program may catch.
            "getModule" => b.unsupported("the module of a class"),
            "getSuperclass" => {
                let this = b.param(0);
                let above = self.hidden_field(b, this, mirror::SUPERCLASS, Ty::Ptr)?;
                b.ret(Some(above));
            }
            "getModifiers" => {
                let this = b.param(0);
                let flags = self.hidden_field(b, this, mirror::MODIFIERS, Ty::I32)?;
                b.ret(Some(flags));
            }
            "getSimpleName" => {
                let this = b.param(0);
                let name = self.query_mirror(b, ClassQuery::SimpleName, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(name));
            }
            "getCanonicalName" => {
                let this = b.param(0);
                let name = self.query_mirror(b, ClassQuery::CanonicalName, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(name));
            }
            "isRecord0" => b.ret(Some(int(1))),
            "isInstance" => {
                let (this, object) = (b.param(0), b.param(1));
                let none = b.block();
                let there = b.cmp(CmpOp::Ne, object, NULL);
                b.check(there, none);
                let fits = self.query_mirror(b, ClassQuery::IsInstance, this, &[object], Some(Ty::I1))?;
                let fits = b.cast(CastOp::Zext, Ty::I32, fits);
                b.ret(Some(fits));
                b.at(none);
                b.ret(Some(int(0)));
            }
            "isAssignableFrom" => {
                let (this, other) = (b.param(0), b.param(1));
                self.null_check(b, other);
                let word = self.hidden_field(b, other, mirror::CLASS, Ty::I32)?;
                let fits = self.query_mirror(b, ClassQuery::IsSubclass, this, &[word], Some(Ty::I1))?;
                let fits = b.cast(CastOp::Zext, Ty::I32, fits);
                b.ret(Some(fits));
            }
            "getEnumConstantsShared" => {
                let this = b.param(0);
                let values = self.query_mirror(b, ClassQuery::EnumConstants, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(values));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lowers methods of `java.lang.reflect`; returns false for other methods.
    pub fn reflection_native(&mut self, b: &mut Builder, class: &str, name: &str) -> Result<bool, LoweringError> {
        match (class, name) {
            ("java/lang/reflect/Constructor", "newInstance") => {
                let this = b.param(0);
                let of = self.jdk("java/lang/reflect/Constructor")?;
                let Some(field) = self.classes.field_named(of, "clazz").cloned() else { return Ok(false) };
                let class = b.load(this, field.offset as i64, Ty::Ptr);
                let object = self.query_mirror(b, ClassQuery::NewInstance, class, &[], Some(Ty::Ptr))?;
                b.ret(Some(object));
            }
            ("java/lang/reflect/Array", "newArray") => {
                let (component, length) = (b.param(0), b.param(1));
                self.null_check(b, component);
                let word = self.hidden_field(b, component, mirror::ARRAYS, Ty::I32)?;
                let make = self.latest_generation(|generation| FuncKind::Ask(ClassQuery::NewArrayOf, generation));
                let array = b.call(make, vec![word, length], Some(Ty::Ptr));
                b.ret(Some(array));
            }
            ("java/lang/reflect/Array", "getLength") => {
                let array = b.param(0);
                self.null_check(b, array);
                let length = self.array_length(b, array);
                b.ret(Some(length));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn primitive_class(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let name = b.param(0);
        let all = [
            ("int", Desc::Int),
            ("long", Desc::Long),
            ("boolean", Desc::Boolean),
            ("char", Desc::Char),
            ("byte", Desc::Byte),
            ("short", Desc::Short),
            ("float", Desc::Float),
            ("double", Desc::Double),
            ("void", Desc::Void),
        ];
        for (word, desc) in all {
            let class = self.classes.class_of(&desc)?;
            let literal = self.literal(b, word);
            let equals = ("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
            let same = self.call_jdk(b, equals, vec![literal, name])?;
            let same = b.cmp(CmpOp::Ne, same, int(0));
            let next = b.block();
            b.check(same, next);
            let mirror = self.global_id(GlobalKind::Mirror(class));
            let mirror = b.global(mirror);
            b.ret(Some(mirror));
            b.at(next);
        }
        b.ret(Some(NULL));
        Ok(())
    }
}
