//! `invokedynamic` call sites of javac: lambda expressions and method references, string concatenation, methods of
//! records, switches over patterns. Each call site is a function. Other bootstrap methods are unsupported.

use crate::classes::ClassShape;
use crate::classes::layout::register_ty;
use crate::classes::wrappers::{primitive_of, wrapper_of};
use crate::classes::{ClassId, Lambda, LoweringError};
use crate::classfile::{Constant, Desc, Handle, Malformed, MethodDesc};
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::{Lowering, result_ty};
use crate::lower::exceptions::StringPart;
use crate::lower::symbols::{FuncKind, GlobalKind};
use std::rc::Rc;
use touchstone_ir::{BinOp, BranchRole, CastOp, CmpOp, Operand, Ty};

fn malformed(error: Malformed) -> LoweringError {
    LoweringError::Malformed(error.to_string())
}

fn parsed(desc: &str) -> Result<MethodDesc, LoweringError> {
    MethodDesc::parse(desc).ok_or_else(|| LoweringError::Malformed(format!("the descriptor {desc}")))
}

/// A call site with the arguments of its bootstrap method.
struct Site {
    class: ClassId,
    name: std::sync::Arc<str>,
    desc: MethodDesc,
    arguments: Vec<u16>,
}

impl Lowering {
    pub fn call_site(&mut self, b: &mut Builder, class: ClassId, index: u16) -> Result<(), LoweringError> {
        let file = self.classes.get(class).file().cloned();
        let file = file.ok_or_else(|| LoweringError::Malformed("a call site of no class file".to_string()))?;
        let (bootstrap, name, desc) = file.pool.call_site(index).map_err(malformed)?;
        let bootstrap = file.bootstrap(bootstrap);
        let bootstrap =
            bootstrap.ok_or_else(|| LoweringError::Malformed("no such bootstrap method".to_string()))?.clone();
        let handle = file.pool.handle(bootstrap.method).map_err(malformed)?;
        let site = Site { class, name, desc: parsed(&desc)?, arguments: bootstrap.arguments };
        match (&*handle.member.class, &*handle.member.name) {
            ("java/lang/invoke/LambdaMetafactory", "metafactory" | "altMetafactory") => self.lambda_site(b, &site),
            ("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants" | "makeConcat") => {
                self.concat_site(b, &site)
            }
            ("java/lang/runtime/ObjectMethods", "bootstrap") => self.record_site(b, &site),
            ("java/lang/runtime/SwitchBootstraps", "typeSwitch" | "enumSwitch") => self.switch_site(b, &site),
            (class, name) => Err(LoweringError::Unsupported(format!("invokedynamic by {class}.{name}"))),
        }
    }

    // Lambdas.

    fn lambda_site(&mut self, b: &mut Builder, site: &Site) -> Result<(), LoweringError> {
        let file = self.classes.get(site.class).file().cloned();
        let (Some(file), [erased, handle, instantiated, more @ ..]) = (file, site.arguments.as_slice()) else {
            return Err(LoweringError::Malformed("a lambda with too few arguments".to_string()));
        };
        let Desc::Ref(interface) = &site.desc.result else {
            return Err(LoweringError::Malformed("a lambda that is no object".to_string()));
        };
        let mut interfaces = vec![self.classes.load(interface)?];
        let mut descs = vec![parsed(&file.pool.method_type(*erased).map_err(malformed)?)?];
        self.markers_and_bridges(&file, more, &mut interfaces, &mut descs)?;
        let lambda = Lambda {
            owner: site.class,
            name: site.name.clone(),
            descs,
            instantiated: parsed(&file.pool.method_type(*instantiated).map_err(malformed)?)?,
            handle: file.pool.handle(*handle).map_err(malformed)?,
            captured: site.desc.params.clone(),
        };
        let receiver = matches!(lambda.handle.kind, 5 | 7 | 9) && !lambda.captured.is_empty();
        let class = self.classes.add_lambda(interfaces, lambda)?;
        if receiver {
            let receiver = b.param(0);
            self.null_check(b, receiver);
        }
        let object = self.allocate(b, class);
        let fields: Vec<(u64, Desc)> =
            self.classes.get(class).fields.iter().map(|field| (field.offset, field.desc.clone())).collect();
        for (index, (offset, desc)) in fields.into_iter().enumerate() {
            let place = b.add(object, long(offset as i64));
            b.store_as(place, &desc, b.param(index));
        }
        b.ret(Some(object));
        Ok(())
    }

    /// Reads the marker interfaces and bridge descriptors of `altMetafactory`.
    fn markers_and_bridges(
        &mut self,
        file: &Rc<crate::classfile::ClassFile>,
        more: &[u16],
        interfaces: &mut Vec<ClassId>,
        descs: &mut Vec<MethodDesc>,
    ) -> Result<(), LoweringError> {
        let number = |index: &u16| match file.pool.get(*index) {
            Ok(Constant::Integer(value)) => *value,
            _ => 0,
        };
        let mut rest = more.iter();
        let flags = rest.next().map_or(0, number);
        if flags & 2 != 0 {
            for _ in 0..rest.next().map_or(0, number) {
                if let Some(index) = rest.next() {
                    interfaces.push(self.classes.load(&file.pool.class(*index).map_err(malformed)?)?);
                }
            }
        }
        if flags & 4 != 0 {
            for _ in 0..rest.next().map_or(0, number) {
                if let Some(index) = rest.next() {
                    descs.push(parsed(&file.pool.method_type(*index).map_err(malformed)?)?);
                }
            }
        }
        if flags & 1 != 0 {
            interfaces.push(self.jdk("java/io/Serializable")?);
        }
        Ok(())
    }

    pub fn lambda_body(&mut self, b: &mut Builder, class: ClassId, index: usize) -> Result<(), LoweringError> {
        let ClassShape::Lambda(lambda) = self.classes.get(class).shape.clone() else {
            return Err(LoweringError::Malformed("no lambda".to_string()));
        };
        let this = b.param(0);
        let fields: Vec<(u64, Desc)> =
            self.classes.get(class).fields.iter().map(|field| (field.offset, field.desc.clone())).collect();
        let mut values: Vec<(Operand, Desc)> = Vec::new();
        for (offset, desc) in fields {
            let place = b.add(this, long(offset as i64));
            let value = b.load_as(place, &desc);
            values.push((value, desc));
        }
        let called = &lambda.descs[index];
        for (at, (erased, real)) in called.params.iter().zip(&lambda.instantiated.params).enumerate() {
            let value = b.param(at + 1);
            let known = if erased.is_ref() && real.is_ref() { real } else { erased };
            if erased.is_ref() && erased != known {
                self.cast_to(b, value, known)?;
            }
            values.push((value, known.clone()));
        }
        let (value, desc) = self.call_handle(b, &lambda.handle, values)?;
        let result = match called.result {
            Desc::Void => None,
            _ => Some(self.convert(b, value, &desc, &called.result)?),
        };
        b.ret(result);
        Ok(())
    }

    /// Throws unless a value is null or an object of a class.
    fn cast_to(&mut self, b: &mut Builder, value: Operand, desc: &Desc) -> Result<(), LoweringError> {
        let class = self.classes.class_of(desc)?;
        if &*self.classes.get(class).name == "java/lang/Object" {
            return Ok(());
        }
        let (done, test, wrong) = (b.block(), b.block(), b.block());
        let null = b.cmp(CmpOp::Eq, value, NULL);
        b.branch(null, done, test, BranchRole::Check);
        b.at(test);
        let function = self.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
        let fits = b.call(function, vec![value], Some(Ty::I1));
        b.branch(fits, done, wrong, BranchRole::Check);
        b.at(wrong);
        let failed = self.latest_generation(|generation| FuncKind::CastFailed(class, generation));
        b.call(failed, vec![value], None);
        b.end(touchstone_ir::TermKind::Unreachable);
        b.at(done);
        Ok(())
    }

    /// Calls the method of a method handle, and returns its result with its type.
    fn call_handle(
        &mut self,
        b: &mut Builder,
        handle: &Handle,
        values: Vec<(Operand, Desc)>,
    ) -> Result<(Operand, Desc), LoweringError> {
        let method = self.classes.resolve_method(&handle.member)?;
        let desc = parsed(&handle.member.desc)?;
        let receiver = matches!(handle.kind, 5 | 7 | 9);
        let class = Desc::Ref(handle.member.class.clone());
        let wanted: Vec<Desc> = receiver.then_some(class.clone()).into_iter().chain(desc.params.clone()).collect();
        let mut args = Vec::new();
        for ((value, have), want) in values.iter().zip(&wanted) {
            args.push(self.convert(b, *value, have, want)?);
        }
        let result = result_ty(&desc.result);
        let value = match handle.kind {
            6 => {
                self.ensure_init(b, method.class);
                self.call_method(b, method, args)
            }
            8 => {
                self.ensure_init(b, method.class);
                let object = self.allocate(b, method.class);
                let object = b.copied(object);
                args.insert(0, object);
                self.call_method(b, method, args);
                return Ok((object, class));
            }
            7 => self.call_method(b, method, args),
            _ if self.is_not_overridable(method) => {
                self.null_check(b, args[0]);
                self.call_method(b, method, args)
            }
            _ => {
                self.null_check(b, args[0]);
                let function = self.latest_generation(|generation| FuncKind::Dispatch(method, generation));
                b.call(function, args, result)
            }
        };
        Ok((value, desc.result))
    }

    /// Converts a value to another type by boxing, unboxing or widening, as method handles do.
    pub fn convert(
        &mut self,
        b: &mut Builder,
        value: Operand,
        from: &Desc,
        to: &Desc,
    ) -> Result<Operand, LoweringError> {
        match (from, to) {
            (Desc::Ref(_), Desc::Ref(_)) | (_, Desc::Void) => Ok(value),
            (Desc::Ref(class), to) => {
                let known = primitive_of(class).unwrap_or_else(|| to.clone());
                let Some((class, method)) = wrapper_of(&known) else { return Ok(value) };
                self.null_check(b, value);
                let desc = format!("(){}", known.text());
                let value = self.call_jdk(b, (class, method, &desc), vec![value])?;
                Ok(widened(b, value, &known, to))
            }
            (from, Desc::Ref(_)) => {
                let Some((class, _)) = wrapper_of(from) else { return Ok(value) };
                let desc = format!("({})L{class};", from.text());
                let id = self.jdk(class)?;
                self.ensure_init(b, id);
                self.call_jdk(b, (class, "valueOf", &desc), vec![value])
            }
            (from, to) => Ok(widened(b, value, from, to)),
        }
    }

    // Strings.

    fn concat_site(&mut self, b: &mut Builder, site: &Site) -> Result<(), LoweringError> {
        let file = self.classes.get(site.class).file().cloned();
        let mut params = site.desc.params.iter().enumerate().map(|(at, desc)| (b.param(at), desc.clone()));
        let mut parts: Vec<StringPart> = Vec::new();
        let (Some(file), [recipe, constants @ ..]) = (file, site.arguments.as_slice()) else {
            let parts: Vec<StringPart> = params.map(|(value, desc)| StringPart::Value(value, desc)).collect();
            let text = self.concat(b, &parts)?;
            b.ret(Some(text));
            return Ok(());
        };
        let recipe = match file.pool.get(*recipe).map_err(malformed)? {
            Constant::String(text) => file.pool.text(*text).map_err(malformed)?.units(),
            _ => return Err(LoweringError::Malformed("a recipe that is no string".to_string())),
        };
        let mut constants = constants.iter();
        let mut text: Vec<u16> = Vec::new();
        for unit in recipe {
            match unit {
                1 => {
                    parts.push(StringPart::Units(std::mem::take(&mut text)));
                    let (value, desc) = params
                        .next()
                        .ok_or_else(|| LoweringError::Malformed("a recipe with too few values".to_string()))?;
                    parts.push(StringPart::Value(value, desc));
                }
                2 => match constants.next().map(|index| file.pool.get(*index)) {
                    Some(Ok(Constant::String(constant))) => {
                        text.extend(file.pool.text(*constant).map_err(malformed)?.units());
                    }
                    Some(Ok(Constant::Integer(value))) => text.extend(value.to_string().encode_utf16()),
                    _ => return Err(LoweringError::Unsupported("a constant in a string concatenation".to_string())),
                },
                unit => text.push(unit),
            }
        }
        parts.push(StringPart::Units(text));
        parts.retain(|part| !matches!(part, StringPart::Units(units) if units.is_empty()));
        let text = self.concat(b, &parts)?;
        b.ret(Some(text));
        Ok(())
    }

    // Records.

    fn record_site(&mut self, b: &mut Builder, site: &Site) -> Result<(), LoweringError> {
        let file = self.classes.get(site.class).file().cloned();
        let (Some(file), [class, _, getters @ ..]) = (file, site.arguments.as_slice()) else {
            return Err(LoweringError::Malformed("a record with too few arguments".to_string()));
        };
        let class = self.classes.load(&file.pool.class(*class).map_err(malformed)?)?;
        let mut fields = Vec::new();
        for getter in getters {
            let member = file.pool.handle(*getter).map_err(malformed)?.member;
            fields.push(self.classes.resolve_field(&member)?);
        }
        let this = b.param(0);
        let load = |b: &mut Builder, object, index: usize| {
            let place = b.add(object, long(fields[index].offset as i64));
            b.load_as(place, &fields[index].desc)
        };
        match &*site.name {
            "toString" => {
                let mut parts = vec![StringPart::Text(format!("{}[", self.simple_name(class)))];
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    parts.push(StringPart::Text(format!("{comma}{}=", field.name)));
                    parts.push(StringPart::Value(load(b, this, index), field.desc.clone()));
                }
                parts.push(StringPart::Text("]".to_string()));
                let text = self.concat(b, &parts)?;
                b.ret(Some(text));
            }
            "hashCode" => {
                let mut hash = int(0);
                for (index, field) in fields.iter().enumerate() {
                    let value = load(b, this, index);
                    let own = match wrapper_of(&field.desc) {
                        Some((class, _)) => {
                            let id = self.jdk(class)?;
                            self.ensure_init(b, id);
                            let desc = format!("({})I", field.desc.text());
                            self.call_jdk(b, (class, "hashCode", &desc), vec![value])?
                        }
                        None => {
                            let hash = ("java/util/Objects", "hashCode", "(Ljava/lang/Object;)I");
                            self.call_jdk(b, hash, vec![value])?
                        }
                    };
                    let times = b.bin(BinOp::Mul, hash, int(31));
                    hash = b.bin(BinOp::Add, times, own);
                }
                b.ret(Some(hash));
            }
            _ => {
                let other = b.param(1);
                let different = b.block();
                let there = b.cmp(CmpOp::Ne, other, NULL);
                b.check(there, different);
                let test = self.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
                let fits = b.call(test, vec![other], Some(Ty::I1));
                b.check(fits, different);
                for (index, field) in fields.iter().enumerate() {
                    let (left, right) = (load(b, this, index), load(b, other, index));
                    let same = match &field.desc {
                        Desc::Float | Desc::Double => {
                            let (class, _) = wrapper_of(&field.desc).unwrap_or_default();
                            let ty = field.desc.text();
                            let id = self.jdk(class)?;
                            self.ensure_init(b, id);
                            let compare = (class, "compare", &*format!("({ty}{ty})I"));
                            let order = self.call_jdk(b, compare, vec![left, right])?;
                            b.cmp(CmpOp::Eq, order, int(0))
                        }
                        Desc::Ref(_) => {
                            let equals = ("java/util/Objects", "equals", "(Ljava/lang/Object;Ljava/lang/Object;)Z");
                            let same = self.call_jdk(b, equals, vec![left, right])?;
                            b.cmp(CmpOp::Ne, same, int(0))
                        }
                        _ => b.cmp(CmpOp::Eq, left, right),
                    };
                    b.check(same, different);
                }
                b.ret(Some(int(1)));
                b.at(different);
                b.ret(Some(int(0)));
            }
        }
        Ok(())
    }

    /// Returns the name of a class without its package and enclosing classes.
    pub fn simple_name(&self, class: ClassId) -> String {
        match &self.classes.get(class).shape {
            ClassShape::Array { component, .. } => format!("{}[]", self.simple_name(*component)),
            _ => match self.classes.get(class).file().and_then(|file| file.inner()) {
                Some(inner) => inner.name.as_ref().map_or(String::new(), |name| name.to_string()),
                None => {
                    let name = self.classes.get(class).name.trim_matches(['<', '>']).to_string();
                    name.rsplit('/').next().unwrap_or_default().to_string()
                }
            },
        }
    }

    /// Returns the canonical name of a class; `None` for local and anonymous classes.
    pub fn canonical_name(&self, class: ClassId) -> Option<String> {
        match &self.classes.get(class).shape {
            ClassShape::Array { component, .. } => Some(format!("{}[]", self.canonical_name(*component)?)),
            ClassShape::Lambda(_) | ClassShape::Stub(_) => None,
            ClassShape::Primitive(_) => Some(self.simple_name(class)),
            ClassShape::File(file) => match file.inner() {
                None => Some(self.classes.get(class).title()),
                Some(inner) => {
                    let outer = inner.outer.as_ref()?.replace(['/', '$'], ".");
                    Some(format!("{outer}.{}", inner.name.as_ref()?))
                }
            },
        }
    }

    // Switches over patterns.

    fn switch_site(&mut self, b: &mut Builder, site: &Site) -> Result<(), LoweringError> {
        let file = self.classes.get(site.class).file().cloned();
        let file = file.ok_or_else(|| LoweringError::Malformed("a call site of no class file".to_string()))?;
        let (target, restart) = (b.param(0), b.param(1));
        let null = b.block();
        let there = b.cmp(CmpOp::Ne, target, NULL);
        b.check(there, null);
        for (index, label) in site.arguments.iter().enumerate() {
            let next = b.block();
            let wanted = b.cmp(CmpOp::Sle, restart, int(index as i32));
            b.check(wanted, next);
            match file.pool.get(*label).map_err(malformed)? {
                Constant::Class(_) => {
                    let class = self.classes.load(&file.pool.class(*label).map_err(malformed)?)?;
                    let test = self.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
                    let fits = b.call(test, vec![target], Some(Ty::I1));
                    b.check(fits, next);
                }
                Constant::String(text) => {
                    let units = file.pool.text(*text).map_err(malformed)?.units();
                    let global = self.global_id(GlobalKind::Literal(units.into()));
                    let is_enum = matches!(&site.desc.params[0], Desc::Ref(name) if &**name != "java/lang/Object" && &**name != "java/lang/String");
                    let text = match is_enum {
                        true => self.call_jdk(b, ("java/lang/Enum", "name", "()Ljava/lang/String;"), vec![target])?,
                        false => target,
                    };
                    let label = b.global(global);
                    let equals = ("java/lang/String", "equals", "(Ljava/lang/Object;)Z");
                    let same = self.call_jdk(b, equals, vec![label, text])?;
                    let same = b.cmp(CmpOp::Ne, same, int(0));
                    b.check(same, next);
                }
                Constant::Integer(value) => self.integer_label(b, target, *value, next)?,
                _ => return Err(LoweringError::Unsupported("a switch over an enumeration among patterns".to_string())),
            }
            b.ret(Some(int(index as i32)));
            b.at(next);
        }
        b.ret(Some(int(site.arguments.len() as i32)));
        b.at(null);
        b.ret(Some(int(-1)));
        Ok(())
    }

    /// Continues if an object is a box of this integer or character.
    fn integer_label(
        &mut self,
        b: &mut Builder,
        target: Operand,
        value: i32,
        next: touchstone_ir::BlockId,
    ) -> Result<(), LoweringError> {
        let found = b.block();
        for (class, method, desc) in
            [("java/lang/Integer", "intValue", "()I"), ("java/lang/Character", "charValue", "()C")]
        {
            let id = self.jdk(class)?;
            let test = self.latest_generation(|generation| FuncKind::InstanceOf(id, generation));
            let fits = b.call(test, vec![target], Some(Ty::I1));
            let other = b.block();
            b.check(fits, other);
            let number = self.call_jdk(b, (class, method, desc), vec![target])?;
            let same = b.cmp(CmpOp::Eq, number, int(value));
            b.branch(same, found, next, BranchRole::Check);
            b.at(other);
        }
        b.jump(next);
        b.at(found);
        Ok(())
    }
}

/// Widens a primitive value.
fn widened(b: &mut Builder, value: Operand, from: &Desc, to: &Desc) -> Operand {
    use touchstone_base::float::{FloatOp, Format};
    let is_float = |desc: &Desc| matches!(desc, Desc::Float | Desc::Double);
    let format = |desc: &Desc| if *desc == Desc::Float { Format::F32 } else { Format::F64 };
    match (is_float(from), is_float(to)) {
        _ if from == to => value,
        (false, false) => b.cast(CastOp::Sext, register_ty(to), value),
        (false, true) => {
            b.float(FloatOp::FromSigned(register_ty(from).bits()), format(to), register_ty(to), vec![value])
        }
        (true, true) => b.float(FloatOp::Convert(format(to)), format(from), register_ty(to), vec![value]),
        (true, false) => value,
    }
}
