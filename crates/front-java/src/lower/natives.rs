//! What stands for methods: natives, and the few methods of the JDK that speak with the machine. All of it is IR.

use super::builder::{Builder, NULL, int, long};
use super::data::mirror;
use super::world::{Data, Func, Question, World};
use crate::classfile::{Desc, MethodDesc, access};
use crate::world::{ARRAY_BASE, CLASS_WORD, HASH_WORD, MIRROR_HIDDEN, MethodRef, Refusal};
use touchstone_base::float::{Format, Op};
use touchstone_base::math;
use touchstone_ir::{BinOp, BranchRole, Builtin, CastOp, CmpOp, InstKind, JavaBuiltin, Operand, Ty};

impl World {
    /// Makes the body of what stands for a method; false if nothing does.
    pub fn stand_in(&mut self, method: MethodRef, b: &mut Builder) -> Result<bool, Refusal> {
        if !self.classes.get(method.class).of_jdk {
            return Ok(false);
        }
        let class = self.classes.get(method.class).name.clone();
        let member = self.classes.method(method);
        let (name, desc, is_native) = (member.name.clone(), member.desc.clone(), member.is(access::NATIVE));
        let (class, name, desc) = (&*class, &*name, &*desc);
        if matches!(name, "registerNatives" | "initIDs") && is_native {
            b.ret(None);
            return Ok(true);
        }
        Ok(match class {
            "java/lang/Object" => self.object_native(b, name, desc)?,
            "java/lang/Class" => self.class_native(b, name, desc)?,
            "java/lang/System" | "java/lang/Runtime" | "java/lang/Shutdown" => self.system_native(b, name)?,
            "java/lang/Math" | "java/lang/StrictMath" => math_native(b, class, name, desc, is_native),
            "java/lang/Float" | "java/lang/Double" if is_native => {
                let value = b.param(0);
                b.ret(Some(value));
                true
            }
            "java/lang/Throwable" => match (name, desc) {
                ("fillInStackTrace", _) => {
                    let this = b.param(0);
                    b.ret(Some(this));
                    true
                }
                // Without the lines that say where: nobody keeps them.
                ("printStackTrace", "()V") => {
                    let this = b.param(0);
                    self.tell(b, this)?;
                    b.ret(None);
                    true
                }
                ("printStackTrace" | "getStackTrace" | "getOurStackTrace", _) => {
                    b.unsupported("a stack trace");
                    true
                }
                _ => false,
            },
            "java/lang/String" if name == "intern" => {
                let this = b.param(0);
                let same = self.by_text(b, this, JavaBuiltin::Intern)?;
                b.ret(Some(same));
                true
            }
            "java/io/PrintStream" => self.print_stream(b, method, name, desc)?,
            "java/io/FileInputStream" | "java/io/FileDescriptor" | "java/io/FileCleanable" => {
                self.file_native(b, name, desc, is_native)?
            }
            "jdk/internal/misc/Unsafe" => self.unsafe_native(b, name, desc, is_native)?,
            "java/lang/invoke/MethodHandles"
            | "java/lang/invoke/MethodHandles$Lookup"
            | "java/lang/invoke/VarHandle" => self.handle_native(b, name, desc)?,
            "java/security/AccessController" => self.privileged(b, name, desc)?,
            _ => self.other_native(b, class, name, desc)?,
        })
    }

    // Objects.

    fn object_native(&mut self, b: &mut Builder, name: &str, _: &str) -> Result<bool, Refusal> {
        let this = b.param(0);
        match name {
            "hashCode" => self.identity_hash(b, this),
            "getClass" => {
                let mirror = self.newest(Func::Mirror);
                let value = b.call(mirror, vec![this], Some(Ty::Ptr));
                b.ret(Some(value));
            }
            "clone" => self.clone_object(b, this)?,
            "notify" | "notifyAll" => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn identity_hash(&mut self, b: &mut Builder, object: Operand) {
        let known = b.load(object, HASH_WORD, Ty::I32);
        let has = b.cmp(CmpOp::Ne, known, int(0));
        let (done, fresh) = (b.block(), b.block());
        b.branch(has, done, fresh, BranchRole::Check);
        b.at(done);
        b.ret(Some(known));
        b.at(fresh);
        let cell = self.datum(Data::Cell("hashes"));
        let cell = b.global(cell);
        let last = b.load(cell, 0, Ty::I32);
        let next = b.bin(BinOp::Add, last, int(0x0102_4a7f));
        let next = b.bin(BinOp::And, next, int(0x7fff_ffff));
        let next = b.bin(BinOp::Or, next, int(1));
        b.store(cell, 0, next);
        b.store(object, HASH_WORD, next);
        b.ret(Some(next));
    }

    fn clone_object(&mut self, b: &mut Builder, this: Operand) -> Result<(), Refusal> {
        let cloneable = self.jdk("java/lang/Cloneable")?;
        let test = self.newest(|generation| Func::InstanceOf(cloneable, generation));
        let fits = b.call(test, vec![this], Some(Ty::I1));
        let wrong = b.block();
        b.check(fits, wrong);
        let size = b.builtin(Builtin::ObjectSize, vec![this], Some(Ty::I64));
        let copy = b.builtin(Builtin::Allocate, vec![size], Some(Ty::Ptr));
        b.emit(InstKind::MemCopy { dst: copy, src: this, size });
        b.store(copy, HASH_WORD, int(0));
        b.ret(Some(copy));
        b.at(wrong);
        let name = self.class_name_of(b, this)?;
        let class = self.jdk("java/lang/CloneNotSupportedException")?;
        let throw = self.func(Func::Throw(class));
        b.call(throw, vec![name], None);
        Ok(())
    }

    /// Asks for the object that belongs to a string.
    fn by_text(&mut self, b: &mut Builder, string: Operand, builtin: JavaBuiltin) -> Result<Operand, Refusal> {
        let class = self.jdk("java/lang/String")?;
        let field = |name| self.classes.field_named(class, name).cloned();
        let (Some(value), Some(coder)) = (field("value"), field("coder")) else {
            return Err(Refusal::NoField("java/lang/String.value".to_string()));
        };
        let bytes = b.load(string, value.offset as i64, Ty::Ptr);
        let coder_place = b.add(string, long(coder.offset as i64));
        let coder = b.load_as(coder_place, &coder.desc);
        let length = self.array_length(b, bytes);
        let length = b.cast(CastOp::Zext, Ty::I64, length);
        let first = b.add(bytes, long(ARRAY_BASE));
        Ok(b.builtin(Builtin::Java(builtin), vec![first, length, coder], Some(Ty::Ptr)))
    }

    fn class_by_name(&mut self, b: &mut Builder, initialise: Option<Operand>) -> Result<(), Refusal> {
        let name = b.param(0);
        self.null_check(b, name);
        let class = self.by_text(b, name, JavaBuiltin::ClassNamed)?;
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
        self.ask_mirror(b, Question::Initialise, class, &[], None)?;
        b.jump(done);
        b.at(done);
        b.ret(Some(class));
        b.at(none);
        let exception = self.jdk("java/lang/ClassNotFoundException")?;
        let throw = self.func(Func::Throw(exception));
        b.call(throw, vec![name], None);
        Ok(())
    }

    /// A field, or the constructor without parameters, that only says whose it is: enough for the JDK, which asks for nothing
    /// else.
    fn declared_member(&mut self, b: &mut Builder, member: &str) -> Result<(), Refusal> {
        let (this, name) = (b.param(0), b.param(1));
        let flags = self.hidden(b, this, mirror::FLAGS, Ty::I32)?;
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

    /// How English writes numbers. What the JDK reads from resources is given here; other languages are not there.
    fn number_symbols(&mut self, b: &mut Builder, locale: Operand) -> Result<Operand, Refusal> {
        let language = ("java/util/Locale", "getLanguage", "()Ljava/lang/String;");
        let language = self.call_jdk(b, language, vec![locale])?;
        let (found, other) = (b.block(), b.block());
        for known in ["en", ""] {
            let literal = self.literal(b, known);
            let equals = ("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
            let same = self.call_jdk(b, equals, vec![literal, language])?;
            let same = b.cmp(CmpOp::Ne, same, int(0));
            let next = b.block();
            b.branch(same, found, next, BranchRole::Check);
            b.at(next);
        }
        b.jump(other);
        b.at(other);
        b.unsupported("numbers as another language than English writes them");
        b.at(found);
        let class = self.jdk("java/text/DecimalFormatSymbols")?;
        self.ensure_init(b, class);
        let object = self.allocate(b, class);
        let object = b.kept(object);
        let texts = [
            ("infinity", "∞"),
            ("NaN", "NaN"),
            ("exponentialSeparator", "E"),
            ("perMillText", "‰"),
            ("percentText", "%"),
            ("minusSignText", "-"),
        ];
        for (field, text) in texts {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                let text = self.literal(b, text);
                b.store(object, place.offset as i64, text);
            }
        }
        let characters = [
            ("zeroDigit", '0'),
            ("groupingSeparator", ','),
            ("decimalSeparator", '.'),
            ("perMill", '‰'),
            ("percent", '%'),
            ("digit", '#'),
            ("patternSeparator", ';'),
            ("minusSign", '-'),
            ("exponential", 'E'),
            ("monetarySeparator", '.'),
            ("monetaryGroupingSeparator", ','),
        ];
        for (field, character) in characters {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                let at = b.add(object, long(place.offset as i64));
                b.store_as(at, &place.desc, int(character as i32));
            }
        }
        for (field, value) in [("locale", locale)] {
            if let Some(place) = self.classes.field_named(class, field).cloned() {
                b.store(object, place.offset as i64, value);
            }
        }
        Ok(object)
    }

    /// Where the field that an object stands for is.
    fn offset_of_field(&mut self, b: &mut Builder) -> Result<(), Refusal> {
        let field = b.param(1);
        self.null_check(b, field);
        let of = self.jdk("java/lang/reflect/Field")?;
        let place = |name| self.classes.field_named(of, name).map(|place| place.offset as i64);
        let (Some(class), Some(name)) = (place("clazz"), place("name")) else {
            return Err(Refusal::NoField("java/lang/reflect/Field.clazz".to_string()));
        };
        let (class, name) = (b.load(field, class, Ty::Ptr), b.load(field, name, Ty::Ptr));
        let offset = self.ask_mirror(b, Question::FieldOffset, class, &[name], Some(Ty::I64))?;
        b.ret(Some(offset));
        Ok(())
    }

    // Classes.

    /// A hidden field of a class object.
    fn hidden(&mut self, b: &mut Builder, class: Operand, field: u64, ty: Ty) -> Result<Operand, Refusal> {
        let of = self.jdk("java/lang/Class")?;
        let at = self.classes.get(of).size - MIRROR_HIDDEN + field;
        Ok(b.load(class, at as i64, ty))
    }

    /// Asks a question about the class that a class object stands for.
    fn ask_mirror(
        &mut self,
        b: &mut Builder,
        question: Question,
        class: Operand,
        more: &[Operand],
        result: Option<Ty>,
    ) -> Result<Operand, Refusal> {
        let word = self.hidden(b, class, mirror::CLASS, Ty::I32)?;
        let ask = self.newest(|generation| Func::Ask(question, generation));
        let args = std::iter::once(word).chain(more.iter().copied()).collect();
        Ok(b.call(ask, args, result))
    }

    fn class_native(&mut self, b: &mut Builder, name: &str, desc: &str) -> Result<bool, Refusal> {
        let flag = match name {
            "isArray" => 1,
            "isPrimitive" => 2,
            "isInterface" => 4,
            _ => 0,
        };
        if flag != 0 {
            let this = b.param(0);
            let flags = self.hidden(b, this, mirror::FLAGS, Ty::I32)?;
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
            "getClassLoader" | "getClassLoader0" | "getProtectionDomain0" => b.ret(Some(NULL)),
            "getSuperclass" => {
                let this = b.param(0);
                let above = self.hidden(b, this, mirror::SUPERCLASS, Ty::Ptr)?;
                b.ret(Some(above));
            }
            "getModifiers" => {
                let this = b.param(0);
                let flags = self.hidden(b, this, mirror::MODIFIERS, Ty::I32)?;
                b.ret(Some(flags));
            }
            "getSimpleName" => {
                let this = b.param(0);
                let name = self.ask_mirror(b, Question::SimpleName, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(name));
            }
            "getCanonicalName" => {
                let this = b.param(0);
                let name = self.ask_mirror(b, Question::CanonicalName, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(name));
            }
            "isRecord0" => b.ret(Some(int(1))),
            "isInstance" => {
                let (this, object) = (b.param(0), b.param(1));
                let none = b.block();
                let there = b.cmp(CmpOp::Ne, object, NULL);
                b.check(there, none);
                let fits = self.ask_mirror(b, Question::IsInstance, this, &[object], Some(Ty::I1))?;
                let fits = b.cast(CastOp::Zext, Ty::I32, fits);
                b.ret(Some(fits));
                b.at(none);
                b.ret(Some(int(0)));
            }
            "isAssignableFrom" => {
                let (this, other) = (b.param(0), b.param(1));
                self.null_check(b, other);
                let word = self.hidden(b, other, mirror::CLASS, Ty::I32)?;
                let fits = self.ask_mirror(b, Question::IsSubclass, this, &[word], Some(Ty::I1))?;
                let fits = b.cast(CastOp::Zext, Ty::I32, fits);
                b.ret(Some(fits));
            }
            "getEnumConstantsShared" => {
                let this = b.param(0);
                let values = self.ask_mirror(b, Question::EnumConstants, this, &[], Some(Ty::Ptr))?;
                b.ret(Some(values));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn primitive_class(&mut self, b: &mut Builder) -> Result<(), Refusal> {
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
            let class = self.classes.of_desc(&desc)?;
            let literal = self.literal(b, word);
            let equals = ("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
            let same = self.call_jdk(b, equals, vec![literal, name])?;
            let same = b.cmp(CmpOp::Ne, same, int(0));
            let next = b.block();
            b.check(same, next);
            let mirror = self.datum(Data::Mirror(class));
            let mirror = b.global(mirror);
            b.ret(Some(mirror));
            b.at(next);
        }
        b.ret(Some(NULL));
        Ok(())
    }

    // The system.

    fn system_native(&mut self, b: &mut Builder, name: &str) -> Result<bool, Refusal> {
        match name {
            "arraycopy" => self.array_copy(b)?,
            "identityHashCode" => {
                let object = b.param(0);
                let none = b.block();
                let there = b.cmp(CmpOp::Ne, object, NULL);
                b.check(there, none);
                self.identity_hash(b, object);
                b.at(none);
                b.ret(Some(int(0)));
            }
            "currentTimeMillis" | "nanoTime" => {
                // A clock that goes on by one whenever somebody looks.
                let cell = self.datum(Data::Cell("clock"));
                let cell = b.global(cell);
                let last = b.load(cell, 0, Ty::I64);
                let next = b.bin(BinOp::Add, last, long(1));
                b.store(cell, 0, next);
                b.ret(Some(next));
            }
            "exit" | "halt" => {
                let status = b.params().last().copied().unwrap_or(int(0));
                b.builtin(Builtin::Exit, vec![status], None);
            }
            "availableProcessors" => b.ret(Some(int(1))),
            "freeMemory" | "totalMemory" | "maxMemory" => b.ret(Some(long(1 << 30))),
            "gc" => b.ret(None),
            "addShutdownHook" => b.unsupported("a shutdown hook"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn array_copy(&mut self, b: &mut Builder) -> Result<(), Refusal> {
        let [from, from_at, to, to_at, length] = [b.param(0), b.param(1), b.param(2), b.param(3), b.param(4)];
        self.null_check(b, from);
        self.null_check(b, to);
        let size = self.newest(|generation| Func::Ask(Question::ElementSize, generation));
        let (from_class, to_class) = (b.load(from, CLASS_WORD, Ty::I32), b.load(to, CLASS_WORD, Ty::I32));
        let from_size = b.call(size, vec![from_class], Some(Ty::I32));
        let to_size = b.call(size, vec![to_class], Some(Ty::I32));
        let (mismatch, outside) = (b.block(), b.block());
        let is_array = b.cmp(CmpOp::Ne, from_size, int(0));
        b.check(is_array, mismatch);
        let same_class = b.cmp(CmpOp::Eq, from_class, to_class);
        let (fits, other, refs) = (b.block(), b.block(), b.reg(Ty::I1));
        b.copy(refs, Operand::Const(Ty::I1, 0));
        b.branch(same_class, fits, other, BranchRole::Check);
        b.at(other);
        // Arrays of different classes: only of references, each of which is looked at.
        let both = b.bin(BinOp::And, from_size, to_size);
        let are_refs = b.cmp(CmpOp::Slt, both, int(0));
        b.check(are_refs, mismatch);
        b.copy(refs, Operand::Const(Ty::I1, 1));
        b.jump(fits);
        b.at(fits);
        for (array, at) in [(from, from_at), (to, to_at)] {
            for value in [at, length] {
                let fine = b.cmp(CmpOp::Sle, int(0), value);
                b.check(fine, outside);
            }
            let available = self.array_length(b, array);
            let room = b.bin(BinOp::Sub, available, length);
            let fine = b.cmp(CmpOp::Sle, at, room);
            b.check(fine, outside);
        }
        let (slow, fast) = (b.block(), b.block());
        b.branch(Operand::Reg(refs), slow, fast, BranchRole::Check);
        b.at(slow);
        self.copy_refs(b, [from, from_at, to, to_at, length])?;
        b.at(fast);
        let sign = b.bin(BinOp::AShr, from_size, int(31));
        let flipped = b.bin(BinOp::Xor, from_size, sign);
        let scale = b.bin(BinOp::Sub, flipped, sign);
        let scale = b.cast(CastOp::Zext, Ty::I64, scale);
        let place = |b: &mut Builder, array, at| {
            let at = b.cast(CastOp::Zext, Ty::I64, at);
            let bytes = b.bin(BinOp::Mul, at, scale);
            let offset = b.bin(BinOp::Add, bytes, long(ARRAY_BASE));
            b.add(array, offset)
        };
        let (src, dst) = (place(b, from, from_at), place(b, to, to_at));
        let count = b.cast(CastOp::Zext, Ty::I64, length);
        let size = b.bin(BinOp::Mul, count, scale);
        b.emit(InstKind::MemCopy { dst, src, size });
        b.ret(None);
        b.at(mismatch);
        let text = "arraycopy: type mismatch: can not copy between these arrays";
        self.throw_constant(b, "java/lang/ArrayStoreException", Some(text));
        b.at(outside);
        self.copy_outside(b, [from, from_at, to, to_at, length])?;
        Ok(())
    }

    /// Says which of the numbers of an array copy is wrong.
    fn copy_outside(
        &mut self,
        b: &mut Builder,
        [from, from_at, to, to_at, length]: [Operand; 5],
    ) -> Result<(), Refusal> {
        use super::throwing::Part;
        let text = |text: &str| Part::Text(text.to_string());
        let class = self.jdk("java/lang/ArrayIndexOutOfBoundsException")?;
        let throw = self.func(Func::Throw(class));
        let say = |world: &mut World, b: &mut Builder, parts: Vec<Part>| -> Result<(), Refusal> {
            let message = world.concat(b, &parts)?;
            b.call(throw, vec![message], None);
            b.end(touchstone_ir::TermKind::Unreachable);
            Ok(())
        };
        for (array, at, word) in [(from, from_at, "source"), (to, to_at, "destination")] {
            let (wrong, next) = (b.block(), b.block());
            let negative = b.cmp(CmpOp::Slt, at, int(0));
            b.branch(negative, wrong, next, BranchRole::Check);
            b.at(wrong);
            let name = self.array_title(b, array)?;
            let parts = vec![
                text(&format!("arraycopy: {word} index ")),
                Part::Value(at, Desc::Int),
                text(" out of bounds for "),
                Part::Value(name, Desc::Ref("java/lang/String".into())),
            ];
            say(self, b, parts)?;
            b.at(next);
        }
        let (wrong, next) = (b.block(), b.block());
        let negative = b.cmp(CmpOp::Slt, length, int(0));
        b.branch(negative, wrong, next, BranchRole::Check);
        b.at(wrong);
        say(self, b, vec![text("arraycopy: length "), Part::Value(length, Desc::Int), text(" is negative")])?;
        b.at(next);
        for (array, at, word) in [(from, from_at, "source"), (to, to_at, "destination")] {
            let available = self.array_length(b, array);
            let room = b.bin(BinOp::Sub, available, length);
            let fine = b.cmp(CmpOp::Sle, at, room);
            let (wrong, next) = (b.block(), b.block());
            b.branch(fine, next, wrong, BranchRole::Check);
            b.at(wrong);
            let last = b.bin(BinOp::Add, at, length);
            let last = b.cast(CastOp::Zext, Ty::I64, last);
            let name = self.array_title(b, array)?;
            let parts = vec![
                text(&format!("arraycopy: last {word} index ")),
                Part::Value(last, Desc::Long),
                text(" out of bounds for "),
                Part::Value(name, Desc::Ref("java/lang/String".into())),
            ];
            say(self, b, parts)?;
            b.at(next);
        }
        b.end(touchstone_ir::TermKind::Unreachable);
        Ok(())
    }

    /// `int[10]`, `object array[3]`.
    fn array_title(&mut self, b: &mut Builder, array: Operand) -> Result<Operand, Refusal> {
        use super::throwing::Part;
        let word = b.load(array, CLASS_WORD, Ty::I32);
        let size = self.newest(|generation| Func::Ask(Question::ElementSize, generation));
        let size = b.call(size, vec![word], Some(Ty::I32));
        let simple = self.newest(|generation| Func::Ask(Question::SimpleName, generation));
        let simple = b.call(simple, vec![word], Some(Ty::Ptr));
        let length = ("java/lang/String", "length", "()I");
        let letters = self.call_jdk(b, length, vec![simple])?;
        let letters = b.bin(BinOp::Sub, letters, int(2));
        let cut = ("java/lang/String", "substring", "(II)Ljava/lang/String;");
        let element = self.call_jdk(b, cut, vec![simple, int(0), letters])?;
        let title = b.reg(Ty::Ptr);
        b.copy(title, element);
        let is_ref = b.cmp(CmpOp::Slt, size, int(0));
        let (refs, done) = (b.block(), b.block());
        b.branch(is_ref, refs, done, BranchRole::Check);
        b.at(refs);
        let words = self.literal(b, "object array");
        b.copy(title, words);
        b.jump(done);
        b.at(done);
        let count = self.array_length(b, array);
        let parts = [
            Part::Value(Operand::Reg(title), Desc::Ref("java/lang/String".into())),
            Part::Text("[".to_string()),
            Part::Value(count, Desc::Int),
            Part::Text("]".to_string()),
        ];
        self.concat(b, &parts)
    }

    fn copy_refs(&mut self, b: &mut Builder, [from, from_at, to, to_at, length]: [Operand; 5]) -> Result<(), Refusal> {
        let element = Desc::Ref("java/lang/Object".into());
        let index = b.reg(Ty::I32);
        b.copy(index, int(0));
        let (head, body, done) = (b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let more = b.cmp(CmpOp::Slt, Operand::Reg(index), length);
        b.branch(more, body, done, BranchRole::Check);
        b.at(body);
        let source = b.bin(BinOp::Add, from_at, Operand::Reg(index));
        let target = b.bin(BinOp::Add, to_at, Operand::Reg(index));
        let place = self.element_address(b, from, source, &element);
        let value = b.load(place, 0, Ty::Ptr);
        let check = self.newest(Func::StoreCheck);
        b.call(check, vec![to, value], None);
        let place = self.element_address(b, to, target, &element);
        b.store(place, 0, value);
        let next = b.bin(BinOp::Add, Operand::Reg(index), int(1));
        b.copy(index, next);
        b.jump(head);
        b.at(done);
        b.ret(None);
        Ok(())
    }

    // Streams.

    /// Standard output and standard error write at once; other streams are the JDK's.
    fn print_stream(&mut self, b: &mut Builder, method: MethodRef, name: &str, desc: &str) -> Result<bool, Refusal> {
        let known = matches!(
            (name, desc),
            ("write" | "writeln", "(Ljava/lang/String;)V" | "([C)V")
                | ("write", "(I)V" | "([BII)V")
                | ("newLine" | "flush" | "close" | "ensureOpen", "()V")
                | ("checkError", "()Z")
        );
        if !known {
            return Ok(false);
        }
        let this = b.param(0);
        let stream = b.reg(Ty::I32);
        let (ours, other) = (b.block(), b.block());
        for (number, data) in [(1, "stdout"), (2, "stderr")] {
            let object = self.datum(Data::Named(data));
            let object = b.global(object);
            let same = b.cmp(CmpOp::Eq, this, object);
            let (found, next) = (b.block(), b.block());
            b.branch(same, found, next, BranchRole::Dispatch);
            b.at(found);
            b.copy(stream, int(number));
            b.jump(ours);
            b.at(next);
        }
        b.jump(other);
        b.at(other);
        let result = self.signature(method).1;
        let original = self.func(Func::Original(method));
        let args = b.params();
        let value = b.call(original, args, result);
        b.ret(result.map(|_| value));
        b.at(ours);
        let stream = Operand::Reg(stream);
        match (name, desc) {
            ("write" | "writeln", "(Ljava/lang/String;)V") => {
                let text = b.param(1);
                self.write_string(b, stream, text)?;
            }
            ("write" | "writeln", "([C)V") => {
                let array = b.param(1);
                self.null_check(b, array);
                self.write_array(b, stream, array, int(1), 1);
            }
            ("write", "(I)V") => {
                let cell = self.datum(Data::Cell("written byte"));
                let cell = b.global(cell);
                let byte = b.cast(CastOp::Trunc, Ty::I8, b.param(1));
                b.store(cell, 0, byte);
                b.builtin(Builtin::Write, vec![stream, cell, long(1)], None);
            }
            ("write", _) => {
                let (array, at, length) = (b.param(1), b.param(2), b.param(3));
                self.null_check(b, array);
                let first = self.element_address(b, array, at, &Desc::Byte);
                let length = b.cast(CastOp::Zext, Ty::I64, length);
                b.builtin(Builtin::Write, vec![stream, first, length], None);
            }
            _ => {}
        }
        if matches!(name, "writeln" | "newLine") {
            let end = self.literal(b, "\n");
            self.write_string(b, stream, end)?;
        }
        b.ret((name == "checkError").then(|| int(0)));
        Ok(true)
    }

    fn file_native(&mut self, b: &mut Builder, name: &str, desc: &str, is_native: bool) -> Result<bool, Refusal> {
        match (name, desc) {
            ("getHandle", _) => b.ret(Some(long(-1))),
            ("getAppend", _) => b.ret(Some(int(0))),
            ("available0" | "isRegularFile0", _) if is_native => b.ret(Some(int(0))),
            ("read0", _) => {
                let byte = b.builtin(Builtin::ReadByte, vec![], Some(Ty::I32));
                b.ret(Some(byte));
            }
            ("readBytes", "([BII)I") => self.read_bytes(b),
            ("cleanupClose0" | "close0", _) => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads up to the end of a line, so that whoever talks with the program gets its answers.
    fn read_bytes(&mut self, b: &mut Builder) {
        let (array, at, length) = (b.param(1), b.param(2), b.param(3));
        let count = b.reg(Ty::I32);
        b.copy(count, int(0));
        let (head, body, kept, done, empty, some) = (b.block(), b.block(), b.block(), b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let more = b.cmp(CmpOp::Slt, Operand::Reg(count), length);
        b.branch(more, body, some, BranchRole::Check);
        b.at(body);
        let byte = b.builtin(Builtin::ReadByte, vec![], Some(Ty::I32));
        let there = b.cmp(CmpOp::Sle, int(0), byte);
        b.branch(there, kept, done, BranchRole::Check);
        b.at(kept);
        let place = b.bin(BinOp::Add, at, Operand::Reg(count));
        let place = self.element_address(b, array, place, &Desc::Byte);
        b.store_as(place, &Desc::Byte, byte);
        let next = b.bin(BinOp::Add, Operand::Reg(count), int(1));
        b.copy(count, next);
        let end = b.cmp(CmpOp::Eq, byte, int(10));
        b.branch(end, some, head, BranchRole::Check);
        b.at(done);
        let none = b.cmp(CmpOp::Eq, Operand::Reg(count), int(0));
        b.branch(none, empty, some, BranchRole::Check);
        b.at(empty);
        b.ret(Some(int(-1)));
        b.at(some);
        b.ret(Some(Operand::Reg(count)));
    }

    // Unsafe.

    fn unsafe_native(&mut self, b: &mut Builder, name: &str, desc: &str, is_native: bool) -> Result<bool, Refusal> {
        let Some(types) = MethodDesc::parse(desc) else { return Ok(false) };
        match name {
            "arrayBaseOffset0" => {
                let wide = types.result == Desc::Long;
                b.ret(Some(if wide { long(ARRAY_BASE) } else { int(ARRAY_BASE as i32) }));
            }
            "arrayIndexScale0" => {
                let class = b.param(1);
                let size = self.ask_mirror(b, Question::ElementSize, class, &[], Some(Ty::I32))?;
                let sign = b.bin(BinOp::AShr, size, int(31));
                let flipped = b.bin(BinOp::Xor, size, sign);
                let size = b.bin(BinOp::Sub, flipped, sign);
                b.ret(Some(size));
            }
            "addressSize0" => b.ret(Some(int(8))),
            "pageSize" => b.ret(Some(int(4096))),
            "isBigEndian0" | "shouldBeInitialized0" => b.ret(Some(int(0))),
            "unalignedAccess0" => b.ret(Some(int(1))),
            "fullFence" | "storeFence" | "loadFence" | "unpark" => b.ret(None),
            "objectFieldOffset1" | "knownObjectFieldOffset0" => {
                let (class, field) = (b.param(1), b.param(2));
                let offset = self.ask_mirror(b, Question::FieldOffset, class, &[field], Some(Ty::I64))?;
                b.ret(Some(offset));
            }
            "objectFieldOffset0" => self.offset_of_field(b)?,
            "ensureClassInitialized0" => {
                let class = b.param(1);
                self.ask_mirror(b, Question::Initialise, class, &[], None)?;
                b.ret(None);
            }
            _ if is_native => return Ok(memory_native(b, name, &types)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    // Handles of variables.

    fn handle_native(&mut self, b: &mut Builder, name: &str, _: &str) -> Result<bool, Refusal> {
        match name {
            "lookup" => {
                let class = self.jdk("java/lang/invoke/MethodHandles$Lookup")?;
                let object = self.allocate(b, class);
                b.ret(Some(object));
            }
            "privateLookupIn" => b.ret(Some(b.param(1))),
            "findVarHandle" => {
                let (class, field) = (b.param(1), b.param(2));
                self.null_check(b, class);
                let offset = self.ask_mirror(b, Question::FieldOffset, class, &[field], Some(Ty::I64))?;
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                let at = self.classes.get(handle).size - crate::world::HANDLE_HIDDEN;
                b.store(object, at as i64, offset);
                b.ret(Some(object));
            }
            "arrayElementVarHandle" => {
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                b.ret(Some(object));
            }
            "byteArrayViewVarHandle" => {
                let orders = self.jdk("java/nio/ByteOrder")?;
                self.ensure_init(b, orders);
                let Some(big) = self.classes.static_named(orders, "BIG_ENDIAN") else { return Ok(false) };
                let big = self.datum(Data::Static(big));
                let big = b.global(big);
                let big = b.load(big, 0, Ty::Ptr);
                let other = b.block();
                let little = b.cmp(CmpOp::Ne, b.param(1), big);
                b.check(little, other);
                let handle = self.jdk("java/lang/invoke/VarHandle")?;
                let object = self.allocate(b, handle);
                let at = self.classes.get(handle).size - crate::world::HANDLE_HIDDEN + 8;
                b.store(object, at as i64, long(1));
                b.ret(Some(object));
                b.at(other);
                b.unsupported("bytes as big-endian numbers behind a handle");
            }
            "withInvokeExactBehavior" | "withInvokeBehavior" => b.ret(Some(b.param(0))),
            "fullFence" | "acquireFence" | "releaseFence" | "loadLoadFence" | "storeStoreFence" => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn privileged(&mut self, b: &mut Builder, name: &str, desc: &str) -> Result<bool, Refusal> {
        match name {
            "doPrivileged" | "doPrivilegedWithCombiner" => {
                let action = b.param(0);
                self.null_check(b, action);
                let class = match desc.contains("PrivilegedExceptionAction") {
                    true => "java/security/PrivilegedExceptionAction",
                    false => "java/security/PrivilegedAction",
                };
                let value = self.call_virtual(b, (class, "run", "()Ljava/lang/Object;"), vec![action])?;
                b.ret(Some(value));
            }
            "getStackAccessControlContext" | "getContext" | "getInheritedAccessControlContext" => b.ret(Some(NULL)),
            "checkPermission" | "ensureMaterializedForStackWalk" => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn other_native(&mut self, b: &mut Builder, class: &str, name: &str, desc: &str) -> Result<bool, Refusal> {
        match (class, name) {
            ("java/lang/Thread", "currentThread" | "currentCarrierThread") => {
                let thread = self.datum(Data::Named("main thread"));
                let thread = b.global(thread);
                b.ret(Some(thread));
            }
            ("java/lang/NullPointerException", "getExtendedNPEMessage") => b.ret(Some(NULL)),
            ("java/lang/Thread", "holdsLock") => b.ret(Some(int(1))),
            ("java/lang/Thread", "start" | "start0") => b.unsupported("a thread"),
            ("java/lang/Thread", "yield0" | "yield" | "sleep0" | "sleep" | "setPriority0" | "onSpinWait") => {
                b.ret(None)
            }
            ("java/lang/Thread", "scopedValueCache" | "getStackTrace0") => b.ret(Some(NULL)),
            ("java/lang/StringUTF16", "isBigEndian") => b.ret(Some(int(0))),
            ("jdk/internal/misc/CDS", _) => match MethodDesc::parse(desc).map(|desc| desc.result) {
                Some(Desc::Boolean | Desc::Int) => b.ret(Some(int(0))),
                Some(Desc::Long) => b.ret(Some(long(0))),
                Some(Desc::Void) => b.ret(None),
                _ => return Ok(false),
            },
            ("jdk/internal/misc/VM", "initialize" | "initializeFromArchive") => b.ret(None),
            ("jdk/internal/misc/VM", "getSavedProperty") => {
                let get = ("java/lang/System", "getProperty", "(Ljava/lang/String;)Ljava/lang/String;");
                let key = b.param(0);
                let value = self.call_jdk(b, get, vec![key])?;
                b.ret(Some(value));
            }
            ("jdk/internal/misc/VM", "isBooted" | "isModuleSystemInited") => b.ret(Some(int(1))),
            ("jdk/internal/misc/VM", "latestUserDefinedLoader0") => b.ret(Some(NULL)),
            ("jdk/internal/reflect/Reflection", "getCallerClass") => {
                let object = self.jdk("java/lang/Object")?;
                let mirror = self.datum(Data::Mirror(object));
                let mirror = b.global(mirror);
                b.ret(Some(mirror));
            }
            ("java/lang/ref/Reference", "refersTo0") => {
                let (this, object) = (b.param(0), b.param(1));
                let of = self.jdk("java/lang/ref/Reference")?;
                let Some(field) = self.classes.field_named(of, "referent").cloned() else { return Ok(false) };
                let value = b.load(this, field.offset as i64, Ty::Ptr);
                let same = b.cmp(CmpOp::Eq, value, object);
                let same = b.cast(CastOp::Zext, Ty::I32, same);
                b.ret(Some(same));
            }
            ("java/lang/ref/Reference", "clear0") => {
                let this = b.param(0);
                let of = self.jdk("java/lang/ref/Reference")?;
                let Some(field) = self.classes.field_named(of, "referent").cloned() else { return Ok(false) };
                b.store(this, field.offset as i64, NULL);
                b.ret(None);
            }
            ("java/lang/reflect/Constructor", "newInstance") => {
                let this = b.param(0);
                let of = self.jdk("java/lang/reflect/Constructor")?;
                let Some(field) = self.classes.field_named(of, "clazz").cloned() else { return Ok(false) };
                let class = b.load(this, field.offset as i64, Ty::Ptr);
                let object = self.ask_mirror(b, Question::NewInstance, class, &[], Some(Ty::Ptr))?;
                b.ret(Some(object));
            }
            ("java/text/DecimalFormatSymbols", "getInstance") if desc.starts_with("(L") => {
                let locale = b.param(0);
                self.null_check(b, locale);
                let symbols = self.number_symbols(b, locale)?;
                b.ret(Some(symbols));
            }
            ("java/text/NumberFormat", "getInstance") if desc.ends_with("I)Ljava/text/NumberFormat;") => {
                let (locale, choice) = (b.param(0), b.param(2));
                let other = b.block();
                let plain = b.cmp(CmpOp::Eq, choice, int(0));
                b.check(plain, other);
                let symbols = self.number_symbols(b, locale)?;
                const FORMAT: &str = "java/text/DecimalFormat";
                let class = self.jdk(FORMAT)?;
                self.ensure_init(b, class);
                let object = self.allocate(b, class);
                let object = b.kept(object);
                let pattern = self.literal(b, "#,##0.###");
                let make = (FORMAT, "<init>", "(Ljava/lang/String;Ljava/text/DecimalFormatSymbols;)V");
                self.call_jdk(b, make, vec![object, pattern, symbols])?;
                b.ret(Some(object));
                b.at(other);
                b.unsupported("a number format other than the usual one");
            }
            ("java/lang/reflect/Array", "newArray") => {
                let (component, length) = (b.param(0), b.param(1));
                self.null_check(b, component);
                let word = self.hidden(b, component, mirror::ARRAYS, Ty::I32)?;
                let make = self.newest(|generation| Func::Ask(Question::NewArrayOf, generation));
                let array = b.call(make, vec![word, length], Some(Ty::Ptr));
                b.ret(Some(array));
            }
            ("java/lang/reflect/Array", "getLength") => {
                let array = b.param(0);
                self.null_check(b, array);
                let length = self.array_length(b, array);
                b.ret(Some(length));
            }
            ("java/util/concurrent/atomic/AtomicLong", "VMSupportsCS8") => b.ret(Some(int(1))),
            ("java/util/concurrent/ForkJoinPool", "getCommonPoolParallelism") => b.ret(Some(int(1))),
            ("java/util/concurrent/ForkJoinPool", _) => b.unsupported("a pool of threads"),
            ("java/util/concurrent/ForkJoinTask", "fork") => b.unsupported("a pool of threads"),
            // One thread: what is in parallel is in order.
            ("java/util/stream/AbstractPipeline", "isParallel") => b.ret(Some(int(0))),
            ("java/util/HashMap" | "java/util/concurrent/ConcurrentHashMap", "comparableClassFor") => {
                let object = b.param(0);
                let mirror = self.newest(Func::Mirror);
                let class = b.call(mirror, vec![object], Some(Ty::Ptr));
                let class = self.ask_mirror(b, Question::ComparableClass, class, &[], Some(Ty::Ptr))?;
                b.ret(Some(class));
            }
            ("java/util/concurrent/atomic/Striped64", "getProbe") => b.ret(Some(int(1))),
            ("java/lang/StackTraceElement", "of") | ("java/lang/Throwable", "getStackTraceElement") => {
                b.unsupported("a stack trace");
            }
            ("jdk/internal/util/random/RandomSupport", "initialSeedBits") => b.ret(Some(long(42))),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Reads and writes of any object at any place.
fn memory_native(b: &mut Builder, name: &str, types: &MethodDesc) -> bool {
    let place = |b: &mut Builder| b.add(b.param(1), b.param(2));
    if name.starts_with("compareAndSet") || name.starts_with("compareAndExchange") {
        let Some(desc) = types.params.get(2) else { return false };
        let place = place(b);
        let (expected, value) = (b.param(3), b.param(4));
        let old = b.load_as(place, desc);
        let same = b.cmp(CmpOp::Eq, old, expected);
        let (swap, done) = (b.block(), b.block());
        b.branch(same, swap, done, BranchRole::Check);
        b.at(swap);
        b.store_as(place, desc, value);
        b.jump(done);
        b.at(done);
        let answer = match types.result == Desc::Boolean {
            true => b.cast(CastOp::Zext, Ty::I32, same),
            false => old,
        };
        b.ret(Some(answer));
        return true;
    }
    let objects = matches!(types.params.first(), Some(Desc::Ref(name)) if &**name == "java/lang/Object");
    match (name, types.params.len()) {
        (name, 2) if objects && name.starts_with("get") => {
            let place = place(b);
            let value = b.load_as(place, &types.result);
            b.ret(Some(value));
        }
        (name, 3) if objects && name.starts_with("put") => {
            let place = place(b);
            b.store_as(place, &types.params[2], b.param(3));
            b.ret(None);
        }
        _ => return false,
    }
    true
}

/// Mathematical functions that the JDK takes from the machine.
fn math_native(b: &mut Builder, class: &str, name: &str, desc: &str, is_native: bool) -> bool {
    if !matches!(desc, "(D)D" | "(DD)D") {
        return false;
    }
    let args = b.params();
    if name == "sqrt" {
        let value = b.float(Op::Sqrt, Format::F64, Ty::I64, args);
        b.ret(Some(value));
        return true;
    }
    // The JVM computes these of `Math` itself; all others are the JDK's code, or its natives.
    const OF_MACHINE: [&str; 7] = ["sin", "cos", "tan", "exp", "log", "log10", "pow"];
    if !is_native && (class == "java/lang/StrictMath" || !OF_MACHINE.contains(&name)) {
        return false;
    }
    let function = math::Function::ALL.iter().find(|function| function.name() == name);
    let Some(function) = function.filter(|function| function.arity() == args.len()) else {
        return false;
    };
    let value = b.builtin(Builtin::Math(*function, Format::F64), args, Some(Ty::I64));
    b.ret(Some(value));
    true
}
