//! What tests look at after a call: getters and fields of objects that the test made, and of the result.
//!
//! Each is written to a global of its own that the run leaves. Only what is simple is looked at: a getter with a loop, or one that calls others,
//! would be explored, too.

use super::MADE;
use super::builder::Builder;
use super::known_classes::unboxed;
use super::making::{Look, Making, Observed, Whose};
use super::world::{Data, Func, World};
use crate::classfile::{ClassFile, Desc, Insn, Member, MemberRef, MethodDesc, access, decode};
use crate::world::{ClassId, MethodRef, Refusal};
use touchstone_ir::{BlockId, BranchRole, CmpOp, Operand, Reg};

/// So much of one object is looked at.
const MOST: usize = 4;
/// So long the code of a getter is.
const LONGEST: usize = 24;

/// Whether a getter is simple: no loop, and nothing that could go far.
fn is_simple(file: &ClassFile, member: &Member) -> bool {
    let Some(code) = member.code().filter(|code| code.bytes.len() <= LONGEST) else { return false };
    let insns = decode(&code.bytes, code.offset).unwrap_or_default();
    let mut at = 0;
    insns.iter().all(|insn| {
        let back = insn.insn.targets().iter().any(|target| *target <= at);
        at = insn.next;
        let goes_far = match &insn.insn {
            Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) => {
                !file.pool.method(*index).is_ok_and(|(called, _)| is_near(&called))
            }
            Insn::InvokeSpecial(_) | Insn::InvokeStatic(_) | Insn::InvokeDynamic(_) => true,
            _ => false,
        };
        !back && !goes_far
    })
}

/// Whether a call only looks at a number.
fn is_near(called: &MemberRef) -> bool {
    let counts = matches!(&*called.name, "size" | "isEmpty" | "length" | "intValue" | "ordinal");
    counts && (called.class.starts_with("java/util/") || called.class.starts_with("java/lang/"))
}

impl World {
    /// What can be looked at of objects of a class, from a package.
    pub fn looks(&mut self, class: ClassId, package: &str, tested: MethodRef) -> Vec<(Look, Desc)> {
        let own = self.classes.get(class).clone();
        let Some(file) = own.file().filter(|_| !self.is_library(class)) else { return Vec::new() };
        let near = own.name.rsplit_once('/').map_or("", |(package, _)| package) == package && !own.of_jdk;
        let visible = |member: &Member| {
            member.is(access::PUBLIC) && own.is(access::PUBLIC) || near && !member.is(access::PRIVATE)
        };
        let mut found = Vec::new();
        for (index, member) in file.methods.iter().enumerate() {
            let method = MethodRef { class, index: index as u16 };
            let Some(desc) = MethodDesc::parse(&member.desc).filter(|desc| desc.params.is_empty()) else { continue };
            let is_value = !desc.result.is_ref() && desc.result != Desc::Void;
            let is_getter = !member.is(access::STATIC | MADE) && visible(member) && &*member.name != "hashCode";
            // What is there to say whether something is right is no state.
            let says = &*member.name == "repOk" || self.is_contract(method);
            if is_value && is_getter && !says && method != tested && is_simple(file, member) && !self.changes(method) {
                found.push((Look::Getter(member.name.to_string(), method), desc.result));
            }
        }
        for member in file.fields.iter().filter(|member| !member.is(access::STATIC | MADE) && visible(member)) {
            let Some(desc) = Desc::parse(&member.desc).filter(|desc| !desc.is_ref()) else { continue };
            let getter =
                |(look, _): &(Look, Desc)| matches!(look, Look::Getter(name, _) if is_getter_of(name, &member.name));
            if let Some(place) = self.classes.field_named(class, &member.name).filter(|_| !found.iter().any(getter)) {
                found.push((Look::Field(member.name.to_string(), place.offset), desc));
            }
        }
        found.truncate(MOST);
        found
    }

    /// What can be looked at of a result that is an object.
    pub fn result_looks(&mut self, class: ClassId, made: &[(usize, ClassId)]) -> Vec<(Look, Desc)> {
        let mut found = Vec::new();
        let fits = |(_, other): &&(usize, ClassId)| {
            self.classes.is_subtype(*other, class) || self.classes.is_subtype(class, *other)
        };
        let alike: Vec<usize> = made.iter().filter(fits).map(|(number, _)| *number).collect();
        if !alike.is_empty() {
            found.push((Look::Same(alike), Desc::Int));
        }
        let own = self.classes.get(class).clone();
        if let Some(value) = unboxed(&own.name) {
            found.push((Look::Boxed(own.title()), value));
        }
        if own.is(access::ENUM)
            && let Some(file) = own.file()
        {
            let title = own.title().replace('$', ".");
            let constants = file.fields.iter().filter(|field| field.is(access::ENUM));
            let names = constants.map(|field| format!("{title}.{}", field.name)).collect();
            found.push((Look::Constant(names), Desc::Int));
        }
        found
    }

    /// Leaves what tests look at.
    pub fn observe(
        &mut self,
        b: &mut Builder,
        method: MethodRef,
        observed: &[Observed],
        objects: &[Reg],
        result: Operand,
    ) -> Result<(), Refusal> {
        let over = b.block();
        let thrown = b.reg(touchstone_ir::Ty::Ptr);
        b.catcher = Some((thrown, over));
        for (index, one) in observed.iter().enumerate() {
            let object = match one.of {
                Whose::Object(number) => Operand::Reg(objects[number]),
                Whose::Result => result,
            };
            let next = b.block();
            let place = self.datum(Data::Observed(method, index));
            let place = b.global(place);
            if let Look::Same(others) = &one.look {
                self.observe_same(b, place, object, others, objects, next);
                continue;
            }
            let there = b.cmp(CmpOp::Ne, object, super::builder::NULL);
            b.check(there, next);
            let value = self.looked(b, one, object, next)?;
            b.store_as(place, &one.desc, value);
            b.jump(next);
            b.at(next);
        }
        b.jump(over);
        b.catcher = None;
        b.at(over);
        Ok(())
    }

    fn observe_same(
        &mut self,
        b: &mut Builder,
        place: Operand,
        object: Operand,
        others: &[usize],
        objects: &[Reg],
        next: BlockId,
    ) {
        let there = b.cmp(CmpOp::Ne, object, super::builder::NULL);
        b.check(there, next);
        for number in others {
            let same = b.cmp(CmpOp::Eq, object, Operand::Reg(objects[*number]));
            let (yes, no) = (b.block(), b.block());
            b.branch(same, yes, no, BranchRole::Check);
            b.at(yes);
            b.store(place, 0, super::builder::int(*number as i32 + 1));
            b.jump(next);
            b.at(no);
        }
        b.store(place, 0, super::builder::int(0));
        b.jump(next);
        b.at(next);
    }

    fn looked(&mut self, b: &mut Builder, one: &Observed, object: Operand, next: BlockId) -> Result<Operand, Refusal> {
        let field = |world: &World, class: ClassId, name: &str| {
            let place = world.classes.field_named(class, name).map(|field| field.offset);
            place.ok_or_else(|| Refusal::NoField(name.to_string()))
        };
        let offset = match &one.look {
            Look::Getter(_, method) => {
                let result = self.signature(*method).1;
                let function = match self.is_fixed(*method) {
                    true => self.func(Func::Method(*method)),
                    false => self.newest(|generation| Func::Dispatch(*method, generation)),
                };
                return Ok(b.call(function, vec![object], result));
            }
            Look::Field(_, offset) => *offset,
            Look::Boxed(_) | Look::Constant(_) => {
                let test = self.newest(|generation| Func::InstanceOf(one.class, generation));
                let fits = b.call(test, vec![object], Some(touchstone_ir::Ty::I1));
                b.check(fits, next);
                let name = if matches!(one.look, Look::Boxed(_)) { "value" } else { "ordinal" };
                field(self, one.class, name)?
            }
            Look::Same(_) => return Ok(super::builder::int(0)),
        };
        let place = b.add(object, super::builder::long(offset as i64));
        Ok(b.load_as(place, &one.desc))
    }
}

/// Whether a method is called as getters of a field are.
fn is_getter_of(method: &str, field: &str) -> bool {
    let plain = |text: &str| text.eq_ignore_ascii_case(field);
    plain(method) || ["get", "is"].iter().any(|word| method.strip_prefix(word).is_some_and(plain))
}

/// The number of an object that is an argument or the receiver.
pub(crate) fn object_of(making: &Making) -> Option<usize> {
    match making {
        Making::Object(object) => Some(object.number),
        Making::Given(_) => None,
    }
}
