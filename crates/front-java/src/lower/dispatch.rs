//! Dispatch over classes: virtual calls, `instanceof`, and queries of a class's properties.
//!
//! A dispatch covers the classes that are known when it is lowered. Objects of later classes are dispatched by its next
//! generation, which is lowered at its first call; where the whole program is known, the first generation is lowered
//! once more with all classes.

use crate::classes::ClassShape;
use crate::classes::layout::CLASS_WORD_OFFSET;
use crate::classes::{ClassId, LoweringError, MethodRef};
use crate::classfile::access;
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{ClassQuery, FuncKind, GlobalKind};
use std::collections::BTreeMap;
use touchstone_ir::{BlockId, BranchRole, CmpOp, FuncId, Operand, SwitchArm, Ty};

impl Lowering {
    /// Returns the latest generation of a dispatch.
    pub fn latest_generation(&mut self, of: impl Fn(u32) -> FuncKind) -> FuncId {
        let generation = self.latest_generation.get(&of(0)).copied().unwrap_or(0);
        self.func(of(generation))
    }

    /// Returns a number that grows with every loaded and every instantiated class.
    fn class_count(&self) -> usize {
        self.classes.iter().filter(|(_, class)| class.instantiated).count() + self.classes.len()
    }

    /// Returns true if a later generation would cover the same classes as the one before it, for now.
    pub fn is_premature(&self, id: FuncId) -> bool {
        let before = self.func_kind(id).and_then(|func| func.earlier_generations().pop());
        before.is_some_and(|before| self.classes_seen.get(&before).is_none_or(|seen| *seen == self.class_count()))
    }

    /// Delegates classes that a generation does not cover to the next one.
    fn next_generation(&mut self, b: &mut Builder, generation: u32, of: impl Fn(u32) -> FuncKind, result: Option<Ty>) {
        let known = self.class_count();
        let before = generation.checked_sub(1).and_then(|before| self.classes_seen.get(&of(before)).copied());
        if before == Some(known) {
            b.unsupported("a class that has no such method");
            return;
        }
        self.classes_seen.insert(of(generation), known);
        self.latest_generation.insert(of(0), generation);
        let next = self.func(of(generation + 1));
        let args = b.params();
        let value = b.call(next, args, result);
        b.ret(result.map(|_| value));
    }

    /// Maps class words to blocks; adjacent words with one target form a range.
    fn arms(&self, targets: impl Iterator<Item = (ClassId, BlockId)>) -> Vec<SwitchArm> {
        let mut arms: Vec<SwitchArm> = Vec::new();
        for (class, target) in targets {
            let word = self.word(class);
            match arms.last_mut() {
                Some(last) if last.target == target && last.high + 1 == word => last.high = word,
                _ => arms.push(SwitchArm { low: word, high: word, signed: false, target }),
            }
        }
        arms
    }

    /// Returns the function that a virtual call executes for objects of a class.
    fn target(&mut self, class: ClassId, method: MethodRef) -> Option<FuncId> {
        let member = self.classes.method(method);
        let (name, desc) = (member.name.clone(), member.desc.clone());
        if let ClassShape::Lambda(lambda) = &self.classes.get(class).shape {
            let own = lambda.descs.iter().position(|known| lambda.name == name && known.text() == *desc);
            if let Some(index) = own {
                return Some(self.func(FuncKind::Lambda(class, index)));
            }
        }
        if let ClassShape::Stub(methods) = &self.classes.get(class).shape {
            let own = methods.iter().position(|method| method.name == name && method.desc.text() == *desc);
            if let Some(index) = own {
                return Some(self.func(FuncKind::Stub(class, index)));
            }
        }
        let found = self.classes.select_method(class, method)?;
        (!self.classes.method(found).is(access::ABSTRACT)).then(|| self.func(FuncKind::Method(found)))
    }

    /// Returns true if no class can override a method.
    pub fn is_not_overridable(&self, method: MethodRef) -> bool {
        let class = self.classes.get(method.class);
        let member = self.classes.method(method);
        !member.is(access::ABSTRACT) && (member.is(access::PRIVATE | access::FINAL) || class.is(access::FINAL))
    }

    /// Returns the function of a call on an object of any subclass: the method itself or its dispatch.
    pub fn virtual_target(&mut self, method: MethodRef) -> FuncId {
        match self.is_not_overridable(method) {
            true => self.func(FuncKind::Method(method)),
            false => self.latest_generation(|generation| FuncKind::Dispatch(method, generation)),
        }
    }

    pub fn dispatch(&mut self, b: &mut Builder, method: MethodRef, generation: u32) -> Result<(), LoweringError> {
        let result = self.signature(method).1;
        let this = b.param(0);
        let word = b.load(this, CLASS_WORD_OFFSET, Ty::I32);
        let fits: Vec<ClassId> = self
            .classes
            .iter()
            .filter(|(id, class)| class.instantiated && self.classes.is_subtype(*id, method.class))
            .map(|(id, _)| id)
            .collect();
        let entry = b.current_block();
        let mut blocks: BTreeMap<FuncId, BlockId> = BTreeMap::new();
        let mut targets = Vec::new();
        for class in fits {
            let Some(function) = self.target(class, method) else { continue };
            let block = match blocks.get(&function) {
                Some(block) => *block,
                None => {
                    let block = b.block();
                    b.at(block);
                    let args = b.params();
                    let value = b.call(function, args, result);
                    b.ret(result.map(|_| value));
                    blocks.insert(function, block);
                    block
                }
            };
            targets.push((class, block));
        }
        let default = b.block();
        b.at(default);
        self.next_generation(b, generation, |generation| FuncKind::Dispatch(method, generation), result);
        let arms = self.arms(targets.into_iter());
        b.at(entry);
        b.switch(word, arms, default, BranchRole::Dispatch);
        Ok(())
    }

    /// Switches over all known classes, with one block for each distinct answer.
    fn switch_by_class<A: Ord + Clone>(
        &mut self,
        b: &mut Builder,
        word: Operand,
        answer: impl Fn(&Lowering, ClassId) -> A,
        mut body: impl FnMut(&mut Lowering, &mut Builder, A) -> Result<(), LoweringError>,
    ) -> Result<BlockId, LoweringError> {
        let entry = b.current_block();
        let answers: Vec<(ClassId, A)> = self.classes.iter().map(|(id, _)| (id, answer(self, id))).collect();
        let mut blocks: BTreeMap<A, BlockId> = BTreeMap::new();
        let mut targets = Vec::new();
        for (class, answer) in answers {
            let block = match blocks.get(&answer) {
                Some(block) => *block,
                None => {
                    let block = b.block();
                    b.at(block);
                    blocks.insert(answer.clone(), block);
                    body(self, b, answer)?;
                    block
                }
            };
            targets.push((class, block));
        }
        let default = b.block();
        let arms = self.arms(targets.into_iter());
        b.at(entry);
        b.switch(word, arms, default, BranchRole::Dispatch);
        b.at(default);
        Ok(default)
    }

    pub fn instance_of(&mut self, b: &mut Builder, class: ClassId, generation: u32) {
        let this = b.param(0);
        let word = b.load(this, CLASS_WORD_OFFSET, Ty::I32);
        let made = self.switch_by_class(
            b,
            word,
            |lowering, id| lowering.classes.is_subtype(id, class),
            |_, b, answer| {
                b.ret(Some(Operand::Const(Ty::I1, u64::from(answer))));
                Ok(())
            },
        );
        debug_assert!(made.is_ok());
        self.next_generation(b, generation, |generation| FuncKind::InstanceOf(class, generation), Some(Ty::I1));
    }

    pub fn mirror(&mut self, b: &mut Builder, generation: u32) {
        let this = b.param(0);
        let word = b.load(this, CLASS_WORD_OFFSET, Ty::I32);
        let made = self.switch_by_class(
            b,
            word,
            |lowering, id| (!lowering.classes.get(id).instantiated, id),
            |lowering, b, (never, id)| {
                if never {
                    let next = lowering.func(FuncKind::Mirror(generation + 1));
                    let args = b.params();
                    let value = b.call(next, args, Some(Ty::Ptr));
                    b.ret(Some(value));
                } else {
                    let global = lowering.global_id(GlobalKind::Mirror(id));
                    let value = b.global(global);
                    b.ret(Some(value));
                }
                Ok(())
            },
        );
        debug_assert!(made.is_ok());
        self.next_generation(b, generation, FuncKind::Mirror, Some(Ty::Ptr));
    }

    /// Throws the exception of a failed cast, by the object's class.
    pub fn cast_failed(&mut self, b: &mut Builder, class: ClassId, generation: u32) -> Result<(), LoweringError> {
        let this = b.param(0);
        let word = b.load(this, CLASS_WORD_OFFSET, Ty::I32);
        let cast = self.jdk("java/lang/ClassCastException")?;
        let throw = self.func(FuncKind::Throw(cast));
        self.switch_by_class(
            b,
            word,
            |_, id| id,
            |lowering, b, id| {
                let text = lowering.cast_message(id, class);
                let message = lowering.literal(b, &text);
                b.call(throw, vec![message], None);
                Ok(())
            },
        )?;
        self.next_generation(b, generation, |generation| FuncKind::CastFailed(class, generation), None);
        Ok(())
    }

    /// Returns the module and loader of a class, as the JVM's messages write them.
    fn module_text(&self, class: ClassId) -> String {
        let mut of = class;
        while let ClassShape::Array { component, .. } = self.classes.get(of).shape {
            of = component;
        }
        let class = self.classes.get(of);
        if !class.of_jdk {
            return "unnamed module of loader 'app'".to_string();
        }
        let module = self.classes.path().image().module_of_class(&class.name).unwrap_or("java.base".to_string());
        let loader = match module.as_str() {
            "java.sql" | "jdk.compiler" | "jdk.httpserver" => "platform",
            _ => "bootstrap",
        };
        format!("module {module} of loader '{loader}'")
    }

    fn cast_message(&self, from: ClassId, to: ClassId) -> String {
        let (a, b) = (self.classes.get(from).title(), self.classes.get(to).title());
        let (in_a, in_b) = (self.module_text(from), self.module_text(to));
        let places = match in_a == in_b {
            true => format!("{a} and {b} are in {in_a}"),
            false => format!("{a} is in {in_a}; {b} is in {in_b}"),
        };
        format!("class {a} cannot be cast to class {b} ({places})")
    }

    pub fn store_check(&mut self, b: &mut Builder, generation: u32) -> Result<(), LoweringError> {
        let (array, value) = (b.param(0), b.param(1));
        let not_null = b.cmp(CmpOp::Ne, value, NULL);
        let fine = b.block();
        b.check(not_null, fine);
        let word = b.load(array, CLASS_WORD_OFFSET, Ty::I32);
        let object = self.jdk("java/lang/Object")?;
        let failed = b.block();
        let component = |lowering: &Lowering, id: ClassId| match lowering.classes.get(id).shape {
            ClassShape::Array { component, .. } => Some(component),
            _ => None,
        };
        self.switch_by_class(b, word, component, |lowering, b, component| {
            match component {
                Some(component) if component != object => {
                    let test = lowering.latest_generation(|generation| FuncKind::InstanceOf(component, generation));
                    let fits = b.call(test, vec![value], Some(Ty::I1));
                    b.branch(fits, fine, failed, BranchRole::Check);
                }
                _ => b.jump(fine),
            }
            Ok(())
        })?;
        self.next_generation(b, generation, FuncKind::StoreCheck, None);
        b.at(fine);
        b.ret(None);
        b.at(failed);
        let class = self.class_name_of(b, value)?;
        let exception = self.jdk("java/lang/ArrayStoreException")?;
        let throw = self.func(FuncKind::Throw(exception));
        b.call(throw, vec![class], None);
        Ok(())
    }

    /// Loads the name of an object's class.
    pub fn class_name_of(&mut self, b: &mut Builder, object: Operand) -> Result<Operand, LoweringError> {
        let mirror = self.latest_generation(FuncKind::Mirror);
        let class = b.call(mirror, vec![object], Some(Ty::Ptr));
        let name = self.jdk_method("java/lang/Class", "getName", "()Ljava/lang/String;")?;
        let name = self.func(FuncKind::Method(name));
        Ok(b.call(name, vec![class], Some(Ty::Ptr)))
    }

    /// Lowers a query of a class that is given by its class word.
    pub fn class_query(&mut self, b: &mut Builder, query: ClassQuery, generation: u32) -> Result<(), LoweringError> {
        let word = b.param(0);
        let args = b.params();
        self.switch_by_class(b, word, |_, id| id, |lowering, b, id| lowering.answer_query(b, query, id, &args))?;
        let result = query.shape().1;
        self.next_generation(b, generation, |generation| FuncKind::Ask(query, generation), result);
        Ok(())
    }

    fn answer_query(
        &mut self,
        b: &mut Builder,
        query: ClassQuery,
        id: ClassId,
        args: &[Operand],
    ) -> Result<(), LoweringError> {
        match query {
            ClassQuery::IsInstance => {
                let test = self.latest_generation(|generation| FuncKind::InstanceOf(id, generation));
                let value = b.call(test, vec![args[1]], Some(Ty::I1));
                b.ret(Some(value));
            }
            ClassQuery::NewArrayOf => match self.classes.get(id).shape {
                ClassShape::Array { .. } => {
                    let make = self.func(FuncKind::NewArray(id));
                    let value = b.call(make, vec![args[1]], Some(Ty::Ptr));
                    b.ret(Some(value));
                }
                _ => b.unsupported("an array of a class that is none"),
            },
            ClassQuery::FieldOffset => {
                let find = self.func(FuncKind::FieldOffset(id));
                let value = b.call(find, args.to_vec(), Some(Ty::I64));
                b.ret(Some(value));
            }
            ClassQuery::EnumConstants => {
                let desc = format!("()[L{};", self.classes.get(id).name);
                match self.classes.declared(id, "values", &desc) {
                    Some(values) => {
                        self.ensure_init(b, id);
                        let values = self.func(FuncKind::Method(values));
                        let value = b.call(values, vec![], Some(Ty::Ptr));
                        b.ret(Some(value));
                    }
                    None => b.ret(Some(NULL)),
                }
            }
            ClassQuery::ElementSize => {
                let size = match &self.classes.get(id).shape {
                    ClassShape::Array { element, .. } if element.is_ref() => -8,
                    ClassShape::Array { element, .. } => element.size() as i32,
                    _ => 0,
                };
                b.ret(Some(int(size)));
            }
            ClassQuery::SimpleName => {
                let name = self.simple_name(id);
                let name = self.literal(b, &name);
                b.ret(Some(name));
            }
            ClassQuery::CanonicalName => {
                let name = match self.canonical_name(id) {
                    Some(name) => self.literal(b, &name),
                    None => NULL,
                };
                b.ret(Some(name));
            }
            ClassQuery::ComparableClass => {
                let class = match self.compares_with_itself(id) {
                    true => {
                        let mirror = self.global_id(GlobalKind::Mirror(id));
                        b.global(mirror)
                    }
                    false => NULL,
                };
                b.ret(Some(class));
            }
            ClassQuery::NewInstance => match self.classes.declared(id, "<init>", "()V") {
                Some(make) if !self.classes.get(id).is(access::ABSTRACT) => {
                    self.ensure_init(b, id);
                    let object = self.allocate(b, id);
                    let object = b.copied(object);
                    self.call_method(b, make, vec![object]);
                    b.ret(Some(object));
                }
                _ => b.unsupported("reflection: an object of a class without such a constructor"),
            },
            ClassQuery::Initialise => {
                self.ensure_init(b, id);
                b.ret(None);
            }
            ClassQuery::IsSubclass => {
                let entry = b.current_block();
                let (yes, no) = (b.block(), b.block());
                let subtypes: Vec<ClassId> = self
                    .classes
                    .iter()
                    .map(|(other, _)| other)
                    .filter(|other| self.classes.is_subtype(*other, id))
                    .collect();
                let arms = self.arms(subtypes.into_iter().map(|class| (class, yes)));
                b.at(yes);
                b.ret(Some(Operand::Const(Ty::I1, 1)));
                b.at(no);
                b.ret(Some(Operand::Const(Ty::I1, 0)));
                b.at(entry);
                let other = args[1];
                b.switch(other, arms, no, BranchRole::Dispatch);
            }
        }
        Ok(())
    }

    /// Returns true if a class declares `implements Comparable<itself>`.
    fn compares_with_itself(&self, id: ClassId) -> bool {
        let class = self.classes.get(id);
        let own = format!("Ljava/lang/Comparable<L{};>;", class.name);
        class.file().and_then(|file| file.signature()).is_some_and(|signature| signature.contains(&own))
    }

    /// Returns the offset of an instance field by its name.
    pub fn field_offset(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        let name = b.param(1);
        let equals = self.jdk_method("java/lang/String", "equals", "(Ljava/lang/Object;)Z")?;
        let equals = self.func(FuncKind::Method(equals));
        let fields: Vec<(String, u64)> =
            self.classes.get(class).fields.iter().rev().map(|field| (field.name.to_string(), field.offset)).collect();
        for (text, offset) in fields {
            let literal = self.literal(b, &text);
            let same = b.call(equals, vec![literal, name], Some(Ty::I32));
            let same = b.cmp(CmpOp::Ne, same, int(0));
            let (found, next) = (b.block(), b.block());
            b.branch(same, found, next, BranchRole::Dispatch);
            b.at(found);
            b.ret(Some(long(offset as i64)));
            b.at(next);
        }
        b.ret(Some(long(-1)));
        Ok(())
    }
}
