//! Class initialisation (JVMS §5.5): once, before the first use, superclasses first. A class whose initialiser threw
//! remains unusable.

use crate::classes::layout::STRING;
use crate::classes::synthetic::SYNTHETIC;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::{Arith, Desc, Insn, access, decode};
use crate::lower::builder::Builder;
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use rustc_hash::FxHashSet;
use touchstone_ir::{BranchRole, CmpOp, Operand, SwitchArm, Ty};

/// A use of the program by a method.
enum Used {
    /// An access to a static field.
    Variable {
        of: ClassId,
        is_not_overridable: bool,
    },
    Method(MethodRef),
}

/// Maximum number of methods that are inspected for one initialiser.
const MAX_INSPECTED_METHODS: usize = 300;

const DONE: u64 = 1;
const FAILED: u64 = 2;

impl Lowering {
    /// Initialises a class here, unless it is initialised.
    pub fn ensure_init(&mut self, b: &mut Builder, class: ClassId) {
        if !self.needs_init(class) {
            return;
        }
        let flag = self.global_id(GlobalKind::InitFlag(class));
        let flag = b.global(flag);
        let flag = b.load(flag, 0, Ty::I8);
        let done = b.cmp(CmpOp::Eq, flag, Operand::Const(Ty::I8, DONE));
        let (next, first) = (b.block(), b.block());
        b.branch(done, next, first, BranchRole::Check);
        b.at(first);
        let init = self.func(FuncKind::Init(class));
        b.call(init, vec![], None);
        b.jump(next);
        b.at(next);
    }

    pub fn init(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        let flag = self.global_id(GlobalKind::InitFlag(class));
        let flag = b.global(flag);
        let state = b.load(flag, 0, Ty::I8);
        let (begun, failed, fresh) = (b.block(), b.block(), b.block());
        let arm = |value, target| SwitchArm { low: value, high: value, signed: false, target };
        b.switch(state, vec![arm(DONE, begun), arm(FAILED, failed)], fresh, BranchRole::Check);
        b.at(begun);
        b.ret(None);
        b.at(failed);
        let title = self.classes.get(class).title();
        let message = format!("Could not initialize class {title}");
        self.throw_constant(b, "java/lang/NoClassDefFoundError", Some(&message));
        b.at(fresh);
        b.store(flag, 0, Operand::Const(Ty::I8, DONE));
        let thrown = b.reg(Ty::Ptr);
        let landing = b.block();
        b.landing_pad = Some((thrown, landing));
        self.init_above(b, class);
        if !self.lower_intrinsic_initialiser(b, class)?
            && let Some(own) = self.classes.initialiser(class)
        {
            let own = self.func(FuncKind::Method(own));
            b.call(own, vec![], None);
        }
        b.ret(None);
        b.landing_pad = None;
        b.at(landing);
        if self.classes.get(class).of_jdk {
            // Initialisers of the JDK do not throw in a JVM: the cause is a part of the JVM that is missing here, and
            // no program may catch it.
            let title = self.classes.get(class).title();
            b.unsupported(format!("the initialiser of {title}, which throws here"));
            return Ok(());
        }
        b.store(flag, 0, Operand::Const(Ty::I8, FAILED));
        let error = self.jdk("java/lang/Error")?;
        let test = self.latest_generation(|generation| FuncKind::InstanceOf(error, generation));
        let is_error = b.call(test, vec![Operand::Reg(thrown)], Some(Ty::I1));
        let (again, wrapped) = (b.block(), b.block());
        b.branch(is_error, again, wrapped, BranchRole::Dispatch);
        b.at(again);
        b.throw(Operand::Reg(thrown));
        b.at(wrapped);
        let wrapper = self.jdk("java/lang/ExceptionInInitializerError")?;
        self.ensure_init(b, wrapper);
        let object = self.allocate(b, wrapper);
        let object = b.copied(object);
        let make = ("java/lang/ExceptionInInitializerError", "<init>", "(Ljava/lang/Throwable;)V");
        self.call_jdk(b, make, vec![object, Operand::Reg(thrown)])?;
        b.throw(object);
        Ok(())
    }

    /// Returns true if the time of initialisation is observable: the initialiser accesses static fields of other
    /// classes of the program, and may have run before the method under test.
    pub fn init_uses_other_classes(&mut self, class: ClassId) -> bool {
        if let Some(known) = self.init_uses_others.get(&class) {
            return *known;
        }
        let mut worklist: Vec<MethodRef> = Vec::new();
        let mut above = Some(class);
        while let Some(one) = above {
            worklist.extend(self.classes.initialiser(one));
            above = self.classes.get(one).superclass;
        }
        let mut visited: FxHashSet<MethodRef> = worklist.iter().copied().collect();
        let mut found = false;
        while let Some(method) = worklist.pop().filter(|_| !found) {
            for used in self.uses(method) {
                match used {
                    Used::Variable { of, is_not_overridable } => found |= of != class && !is_not_overridable,
                    Used::Method(next) if visited.insert(next) => worklist.push(next),
                    Used::Method(_) => {}
                }
            }
            // More calls are assumed to be observable.
            found |= visited.len() > MAX_INSPECTED_METHODS;
        }
        self.init_uses_others.insert(class, found);
        found
    }

    /// Returns true if there may be objects of a class whose initialiser threw: the initialiser or a method of the
    /// program that it calls creates objects of the class, and may throw.
    pub fn objects_outlive_init(&mut self, class: ClassId) -> bool {
        if let Some(known) = self.objects_outlive_init.get(&class) {
            return *known;
        }
        let mut worklist: Vec<MethodRef> = Vec::new();
        if !self.classes.get(class).of_jdk {
            worklist.extend(self.classes.initialiser(class));
        }
        let mut visited: FxHashSet<MethodRef> = worklist.iter().copied().collect();
        let (mut creates, mut throws) = (false, false);
        while let Some(method) = worklist.pop().filter(|_| !(creates && throws)) {
            let Some(file) = self.classes.get(method.class).file().cloned() else { continue };
            let code = file.methods[usize::from(method.index)].code();
            for decoded in code.and_then(|code| decode(&code.bytes, code.offset).ok()).unwrap_or_default() {
                match decoded.insn {
                    Insn::New(index) => {
                        let created = file.pool.class(index).ok().and_then(|name| self.classes.load(&name).ok());
                        creates |= created.is_some_and(|created| self.classes.is_subtype(created, class));
                    }
                    Insn::Throw | Insn::ArrayLoad(_) | Insn::Arith(Arith::Div | Arith::Rem, _) => throws = true,
                    _ => {}
                }
            }
            for used in self.uses(method) {
                if let Used::Method(next) = used
                    && visited.insert(next)
                {
                    worklist.push(next);
                }
            }
            if visited.len() > MAX_INSPECTED_METHODS {
                (creates, throws) = (true, true);
            }
        }
        let outlive = creates && throws;
        self.objects_outlive_init.insert(class, outlive);
        outlive
    }

    /// Returns true if all fields of a class are constants: numbers, strings, and enumeration constants without other
    /// state.
    pub fn has_only_constants(&self, class: ClassId) -> bool {
        let Some(file) = self.classes.get(class).file() else { return false };
        let own = format!("L{};", file.name);
        let is_enum = file.is(access::ENUM);
        file.fields.iter().all(|field| {
            let fixed = match Desc::parse(&field.desc) {
                Some(Desc::Ref(name)) => &*name == STRING,
                Some(_) => true,
                None => false,
            };
            let one_of_enum = is_enum && field.is(access::STATIC) && *field.desc == *own;
            match field.is(access::STATIC) || is_enum {
                true => field.is(access::FINAL) && (fixed || one_of_enum || field.is(SYNTHETIC)),
                false => true,
            }
        })
    }

    /// Returns the static fields and methods of the program that a method uses.
    fn uses(&mut self, method: MethodRef) -> Vec<Used> {
        let Some(file) = self.classes.get(method.class).file().cloned() else { return Vec::new() };
        let member = &file.methods[usize::from(method.index)];
        let insns = member.code().and_then(|code| decode(&code.bytes, code.offset).ok()).unwrap_or_default();
        let initialises = &*member.name == "<clinit>";
        let mut used = Vec::new();
        for decoded in insns {
            let touched = match decoded.insn {
                Insn::GetStatic(index) | Insn::PutStatic(index) => {
                    let found = file.pool.field(index).ok().and_then(|found| self.classes.resolve_static(&found).ok());
                    let Some(field) = found.filter(|field| !self.classes.get(field.class).of_jdk) else { continue };
                    let is_read = matches!(decoded.insn, Insn::GetStatic(_));
                    let own = initialises && field.class == method.class;
                    let is_final = self.classes.static_field(field).0.is(access::FINAL);
                    used.push(Used::Variable { of: field.class, is_not_overridable: own || is_read && is_final });
                    field.class
                }
                Insn::InvokeStatic(index) | Insn::InvokeSpecial(index) | Insn::InvokeVirtual(index) => {
                    let found =
                        file.pool.method(index).ok().and_then(|found| self.classes.resolve_method(&found.0).ok());
                    let Some(called) = found.filter(|called| !self.classes.get(called.class).of_jdk) else { continue };
                    used.push(Used::Method(called));
                    called.class
                }
                _ => continue,
            };
            if touched != method.class {
                used.extend(self.classes.initialiser(touched).map(Used::Method));
            }
        }
        used
    }

    fn init_above(&mut self, b: &mut Builder, class: ClassId) {
        if self.classes.get(class).is(access::INTERFACE) {
            return;
        }
        let above: Vec<ClassId> =
            self.classes.get(class).superclass.into_iter().chain(self.default_interfaces(class)).collect();
        for above in above {
            self.ensure_init(b, above);
        }
    }
}
