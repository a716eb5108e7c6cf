//! Native methods of the JDK, and methods whose bytecode depends on the JVM's internals.

use crate::classes::layout::HASH_WORD_OFFSET;
use crate::classes::{LoweringError, MethodRef};
use crate::classfile::{Desc, MethodDesc, access};
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{ClassQuery, FuncKind, GlobalKind};
use touchstone_base::float::{FloatOp, Format};
use touchstone_base::math;
use touchstone_ir::{BinOp, BranchRole, Builtin, CastOp, CmpOp, InstKind, JavaBuiltin, Operand, Ty};

impl Lowering {
    /// Lowers the intrinsic of a method; returns false if the method has none.
    pub fn lower_intrinsic(&mut self, method: MethodRef, b: &mut Builder) -> Result<bool, LoweringError> {
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
        if self.lower_environment_query(b, method, class, name) {
            return Ok(true);
        }
        if self.box_native(b, class, name, desc)? {
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
                // Frames of the stack trace are not recorded.
                ("printStackTrace", "()V") => {
                    let this = b.param(0);
                    self.print_exception(b, this)?;
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
                let same = self.object_by_string(b, this, JavaBuiltin::Intern)?;
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

    fn object_native(&mut self, b: &mut Builder, name: &str, _: &str) -> Result<bool, LoweringError> {
        let this = b.param(0);
        match name {
            "hashCode" => self.identity_hash(b, this),
            "getClass" => {
                let mirror = self.latest_generation(FuncKind::Mirror);
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
        self.note_nondeterminism(b, "the identity hash code of an object");
        let known = b.load(object, HASH_WORD_OFFSET, Ty::I32);
        let has = b.cmp(CmpOp::Ne, known, int(0));
        let (done, fresh) = (b.block(), b.block());
        b.branch(has, done, fresh, BranchRole::Check);
        b.at(done);
        b.ret(Some(known));
        b.at(fresh);
        let cell = self.global_id(GlobalKind::Cell("hashes"));
        let cell = b.global(cell);
        let last = b.load(cell, 0, Ty::I32);
        let next = b.bin(BinOp::Add, last, int(0x0102_4a7f));
        let next = b.bin(BinOp::And, next, int(0x7fff_ffff));
        let next = b.bin(BinOp::Or, next, int(1));
        b.store(cell, 0, next);
        b.store(object, HASH_WORD_OFFSET, next);
        b.ret(Some(next));
    }

    fn clone_object(&mut self, b: &mut Builder, this: Operand) -> Result<(), LoweringError> {
        let cloneable = self.jdk("java/lang/Cloneable")?;
        let test = self.latest_generation(|generation| FuncKind::InstanceOf(cloneable, generation));
        let fits = b.call(test, vec![this], Some(Ty::I1));
        let wrong = b.block();
        b.check(fits, wrong);
        let size = b.builtin(Builtin::ObjectSize, vec![this], Some(Ty::I64));
        let copy = b.builtin(Builtin::Allocate, vec![size], Some(Ty::Ptr));
        b.emit(InstKind::MemCopy { dst: copy, src: this, size });
        b.store(copy, HASH_WORD_OFFSET, int(0));
        b.ret(Some(copy));
        b.at(wrong);
        let name = self.class_name_of(b, this)?;
        let class = self.jdk("java/lang/CloneNotSupportedException")?;
        let throw = self.func(FuncKind::Throw(class));
        b.call(throw, vec![name], None);
        Ok(())
    }

    fn system_native(&mut self, b: &mut Builder, name: &str) -> Result<bool, LoweringError> {
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
                self.note_nondeterminism(b, "the time");
                // The clock advances by one with every query.
                let cell = self.global_id(GlobalKind::Cell("clock"));
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
            "availableProcessors" => {
                self.note_nondeterminism(b, "the number of processors");
                b.ret(Some(int(1)));
            }
            "freeMemory" | "totalMemory" | "maxMemory" => {
                self.note_nondeterminism(b, "the size of the heap");
                b.ret(Some(long(1 << 30)));
            }
            "gc" => b.ret(None),
            "addShutdownHook" => b.unsupported("a shutdown hook"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn privileged(&mut self, b: &mut Builder, name: &str, desc: &str) -> Result<bool, LoweringError> {
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

    fn other_native(&mut self, b: &mut Builder, class: &str, name: &str, desc: &str) -> Result<bool, LoweringError> {
        match class {
            "java/lang/Thread" => return Ok(self.thread_native(b, name)),
            "java/util/concurrent/ForkJoinPool" | "java/util/concurrent/ForkJoinTask" => {
                return Ok(pool_native(b, class, name));
            }
            "jdk/internal/misc/VM" => return self.vm_native(b, name),
            "jdk/internal/misc/CDS" => return Ok(archive_native(b, desc)),
            "java/lang/ref/Reference" => return self.reference_native(b, name),
            "java/util/Locale" | "java/text/DecimalFormatSymbols" | "java/text/NumberFormat" => {
                return self.locale_native(b, class, name, desc);
            }
            "java/lang/reflect/Array" | "java/lang/reflect/Constructor" => {
                return self.reflection_native(b, class, name);
            }
            _ => {}
        }
        match (class, name) {
            ("java/lang/NullPointerException", "getExtendedNPEMessage") => b.ret(Some(NULL)),
            ("java/lang/StringUTF16", "isBigEndian") => b.ret(Some(int(0))),
            ("jdk/internal/reflect/Reflection", "getCallerClass") => self.caller_class(b)?,
            ("java/util/concurrent/atomic/AtomicLong", "VMSupportsCS8") => b.ret(Some(int(1))),
            // There is one thread: parallel streams run sequentially.
            ("java/util/stream/AbstractPipeline", "isParallel") => b.ret(Some(int(0))),
            ("java/util/HashMap" | "java/util/concurrent/ConcurrentHashMap", "comparableClassFor") => {
                self.comparable_class(b)?;
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

    fn caller_class(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let object = self.jdk("java/lang/Object")?;
        let mirror = self.global_id(GlobalKind::Mirror(object));
        let mirror = b.global(mirror);
        b.ret(Some(mirror));
        Ok(())
    }

    fn comparable_class(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let object = b.param(0);
        let mirror = self.latest_generation(FuncKind::Mirror);
        let class = b.call(mirror, vec![object], Some(Ty::Ptr));
        let class = self.query_mirror(b, ClassQuery::ComparableClass, class, &[], Some(Ty::Ptr))?;
        b.ret(Some(class));
        Ok(())
    }

    fn thread_native(&mut self, b: &mut Builder, name: &str) -> bool {
        match name {
            "currentThread" | "currentCarrierThread" => {
                let thread = self.global_id(GlobalKind::Named("main thread"));
                let thread = b.global(thread);
                b.ret(Some(thread));
            }
            "holdsLock" => b.ret(Some(int(1))),
            "start" | "start0" => b.unsupported("a thread"),
            "yield0" | "yield" | "sleep0" | "sleep" | "setPriority0" | "onSpinWait" => b.ret(None),
            "scopedValueCache" | "getStackTrace0" => b.ret(Some(NULL)),
            _ => return false,
        }
        true
    }

    fn vm_native(&mut self, b: &mut Builder, name: &str) -> Result<bool, LoweringError> {
        match name {
            "initialize" | "initializeFromArchive" => b.ret(None),
            "getSavedProperty" => {
                let get = ("java/lang/System", "getProperty", "(Ljava/lang/String;)Ljava/lang/String;");
                let key = b.param(0);
                let value = self.call_jdk(b, get, vec![key])?;
                b.ret(Some(value));
            }
            "isBooted" | "isModuleSystemInited" => b.ret(Some(int(1))),
            "latestUserDefinedLoader0" => b.ret(Some(NULL)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn reference_native(&mut self, b: &mut Builder, name: &str) -> Result<bool, LoweringError> {
        if !matches!(name, "refersTo0" | "clear0") {
            return Ok(false);
        }
        let this = b.param(0);
        let of = self.jdk("java/lang/ref/Reference")?;
        let Some(field) = self.classes.field_named(of, "referent").cloned() else { return Ok(false) };
        if name == "clear0" {
            b.store(this, field.offset as i64, NULL);
            b.ret(None);
            return Ok(true);
        }
        let object = b.param(1);
        let value = b.load(this, field.offset as i64, Ty::Ptr);
        let same = b.cmp(CmpOp::Eq, value, object);
        let same = b.cast(CastOp::Zext, Ty::I32, same);
        b.ret(Some(same));
        Ok(true)
    }
}

/// Lowers methods of thread pools, which are unsupported.
fn pool_native(b: &mut Builder, class: &str, name: &str) -> bool {
    match (class, name) {
        ("java/util/concurrent/ForkJoinPool", "getCommonPoolParallelism") => b.ret(Some(int(1))),
        ("java/util/concurrent/ForkJoinPool", _) | (_, "fork") => b.unsupported("a pool of threads"),
        _ => return false,
    }
    true
}

/// Lowers methods of class data sharing as if there were no archive; returns false for references.
fn archive_native(b: &mut Builder, desc: &str) -> bool {
    match MethodDesc::parse(desc).map(|desc| desc.result) {
        Some(Desc::Boolean | Desc::Int) => b.ret(Some(int(0))),
        Some(Desc::Long) => b.ret(Some(long(0))),
        Some(Desc::Void) => b.ret(None),
        _ => return false,
    }
    true
}

/// Lowers mathematical functions; returns false for other methods.
fn math_native(b: &mut Builder, class: &str, name: &str, desc: &str, is_native: bool) -> bool {
    if !matches!(desc, "(D)D" | "(DD)D") {
        return false;
    }
    let args = b.params();
    if name == "sqrt" {
        let value = b.float(FloatOp::Sqrt, Format::F64, Ty::I64, args);
        b.ret(Some(value));
        return true;
    }
    // The JVM has intrinsics for these methods of `Math`, whose last digit is unspecified. All others are bytecode or native.
    const OF_MACHINE: [&str; 7] = ["sin", "cos", "tan", "exp", "log", "log10", "pow"];
    let function = match class {
        "java/lang/Math" if OF_MACHINE.contains(&name) => {
            b.left_open.insert(format!("the last digit of `Math.{name}` is that of the C library"));
            math::MathFunction::of_c(name)
        }
        _ if is_native => math::MathFunction::of_java(name),
        _ => None,
    };
    let Some(function) = function.filter(|function| function.arity() == args.len()) else {
        return false;
    };
    let value = b.builtin(Builtin::Math(function, Format::F64), args, Some(Ty::I64));
    b.ret(Some(value));
    true
}
