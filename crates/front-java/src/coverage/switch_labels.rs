//! Labels of switches over strings, enumeration constants or patterns. The compiler maps them to integers; the mapping
//! is recovered from the bytecode.

use crate::classes::ClassTable;
use crate::classfile::{ArrayKind, ClassFile, Constant, Decoded, Insn, MemberRef, SlotKind, access, decode};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The labels of the source, by the integers of the bytecode.
type Labels = BTreeMap<i32, String>;

/// The exceptions that the compiler throws for the missing `default` of an exhaustive switch.
const IMPLICIT_DEFAULT_EXCEPTIONS: [&str; 2] = ["java/lang/MatchException", "java/lang/IncompatibleClassChangeError"];

/// Prefix of the compiler's array that maps the ordinals of an enumeration to case numbers.
const SWITCH_MAP_PREFIX: &str = "$SwitchMap$";

/// Recovers the labels of switches in a method.
pub(crate) struct LabelResolver<'c> {
    pub classes: &'c mut ClassTable,
    pub file: &'c ClassFile,
    pub insns: &'c [Decoded],
}

impl LabelResolver<'_> {
    /// Returns the targets of a switch's arms with their labels, in the order of the code; empty if the labels are
    /// integers in the source, or if the mapping is not recognised.
    pub fn labels(&mut self, switch: usize, default: usize, cases: &[(i32, usize)]) -> Vec<(usize, String)> {
        let Some(at) = self.insns.iter().position(|insn| insn.at == switch) else { return Vec::new() };
        let found = match &self.insns[..at] {
            [before @ .., call, Decoded { insn: Insn::ArrayLoad(ArrayKind::Int), .. }] => {
                self.switch_map_labels(before, call)
            }
            [.., Decoded { insn: Insn::InvokeVirtual(called), .. }] => self.ordinal_labels(*called),
            [before @ .., Decoded { insn: Insn::Load(SlotKind::Int, number), .. }] => {
                string_labels(self.file, before, *number)
            }
            [.., Decoded { insn: Insn::InvokeDynamic(site), .. }] => pattern_labels(self.file, *site),
            _ => None,
        };
        let Some(found) = found else { return Vec::new() };
        let mut labels = Vec::new();
        for (number, target) in cases {
            match found.get(number) {
                Some(label) => labels.push((*target, format!("case {label}"))),
                None if *target == default => {}
                None => return Vec::new(),
            }
        }
        if !labels.is_empty() && !self.is_implicit_default(default) {
            labels.push((default, "default".to_string()));
        }
        labels.sort_by_key(|(target, _)| *target);
        labels
    }

    /// Returns true if the compiler added the `default` arm.
    fn is_implicit_default(&self, default: usize) -> bool {
        let first = self.insns.iter().find(|insn| insn.at == default);
        let made = first.and_then(|first| match first.insn {
            Insn::New(class) => self.file.pool.class(class).ok(),
            _ => None,
        });
        made.is_some_and(|class| IMPLICIT_DEFAULT_EXCEPTIONS.contains(&&*class))
    }

    /// Reads `Map.$SwitchMap$E[e.ordinal()]`: the initialiser of the map contains `$SwitchMap$E[E.RED.ordinal()] = 1`.
    fn switch_map_labels(&mut self, before: &[Decoded], call: &Decoded) -> Option<Labels> {
        let Insn::InvokeVirtual(called) = call.insn else { return None };
        let name = format!("{SWITCH_MAP_PREFIX}{}", ordinal_of(self.file, called)?.replace('/', "$"));
        let is_map = |field: &MemberRef| *field.name == *name;
        let map = before.iter().rev().find_map(|insn| static_field_read(self.file, insn).filter(is_map))?;
        let class = self.classes.load(&map.class).ok()?;
        let file = self.classes.get(class).file().cloned()?;
        let makes = file.methods.iter().find(|method| &*method.name == "<clinit>")?.code()?;
        let insns = decode(&makes.bytes, makes.offset).ok()?;
        let entry = |insns: &[Decoded]| match insns {
            [map, constant, called, number, end] => {
                static_field_read(&file, map).filter(is_map)?;
                let constant = static_field_read(&file, constant)?;
                matches!(called.insn, Insn::InvokeVirtual(_)).then_some(())?;
                matches!(end.insn, Insn::ArrayStore(ArrayKind::Int)).then_some(())?;
                Some((pushed_int(&file, number)?, constant.name.to_string()))
            }
            _ => None,
        };
        Some(insns.windows(5).filter_map(entry).collect())
    }

    /// Reads a switch over `e.ordinal()`: ordinals are in the order of declaration.
    fn ordinal_labels(&mut self, called: u16) -> Option<Labels> {
        let class = ordinal_of(self.file, called)?;
        let class = self.classes.load(&class).ok()?;
        let file = self.classes.get(class).file().cloned()?;
        let constants = file.fields.iter().filter(|field| field.is(access::ENUM));
        Some((0..).zip(constants.map(|field| field.name.to_string())).collect())
    }
}

/// Returns the enumeration on which `ordinal()` is called.
fn ordinal_of(file: &ClassFile, called: u16) -> Option<Arc<str>> {
    let (called, _) = file.pool.method(called).ok()?;
    ((&*called.name, &*called.desc) == ("ordinal", "()I")).then_some(called.class)
}

/// Returns the static field that an instruction reads.
fn static_field_read(file: &ClassFile, insn: &Decoded) -> Option<MemberRef> {
    match insn.insn {
        Insn::GetStatic(field) => file.pool.field(field).ok(),
        _ => None,
    }
}

fn text_of(file: &ClassFile, constant: u16) -> Option<String> {
    match file.pool.get(constant) {
        Ok(Constant::String(text)) => Some(file.pool.text(*text).ok()?.text().to_string()),
        _ => None,
    }
}

fn pushed_int(file: &ClassFile, insn: &Decoded) -> Option<i32> {
    match insn.insn {
        Insn::PushInt(number) => Some(number),
        Insn::Constant(at) => match file.pool.get(at) {
            Ok(Constant::Integer(number)) => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// Reads a switch over strings: a switch over the hash code stores the number of the case in a variable: `if
/// (s.equals("stop")) number = 1`.
fn string_labels(file: &ClassFile, before: &[Decoded], number: u16) -> Option<Labels> {
    let is_call = |insn: &Decoded, name: &str| match insn.insn {
        Insn::InvokeVirtual(called) => {
            let called = file.pool.method(called);
            called.is_ok_and(|(called, _)| &*called.class == "java/lang/String" && &*called.name == name)
        }
        _ => false,
    };
    let is_hash = |pair: &[Decoded]| is_call(&pair[0], "hashCode") && matches!(pair[1].insn, Insn::Switch(..));
    let first = before.windows(2).rposition(is_hash)?;
    let case = |insns: &[Decoded]| match insns {
        [
            Decoded { insn: Insn::Constant(text), .. },
            equals,
            jump,
            value,
            Decoded { insn: Insn::Store(SlotKind::Int, kept), .. },
        ] if *kept == number && is_call(equals, "equals") && matches!(jump.insn, Insn::If(..)) => {
            Some((pushed_int(file, value)?, format!("{:?}", text_of(file, *text)?)))
        }
        _ => None,
    };
    let between = &before[first + 2..];
    if between.iter().any(|insn| matches!(insn.insn, Insn::Switch(..))) {
        return None;
    }
    let labels: Labels = between.windows(5).filter_map(case).collect();
    (!labels.is_empty()).then_some(labels)
}

/// Reads a switch over patterns: the labels are bootstrap arguments of the call site.
fn pattern_labels(file: &ClassFile, site: u16) -> Option<Labels> {
    let (bootstrap, _, _) = file.pool.call_site(site).ok()?;
    let bootstrap = file.bootstrap(bootstrap)?;
    let member = file.pool.handle(bootstrap.method).ok()?.member;
    if &*member.class != "java/lang/runtime/SwitchBootstraps" {
        return None;
    }
    let names_constants = &*member.name == "enumSwitch";
    let label = |argument: &u16| {
        Some(match file.pool.get(*argument).ok()? {
            Constant::String(_) if names_constants => text_of(file, *argument)?,
            Constant::String(_) => format!("{:?}", text_of(file, *argument)?),
            Constant::Integer(number) => number.to_string(),
            Constant::Class(_) => file.pool.class(*argument).ok()?.rsplit(['/', '$']).next()?.to_string(),
            _ => "a constant".to_string(),
        })
    };
    let labels: Option<Vec<String>> = bootstrap.arguments.iter().map(label).collect();
    Some((0..).zip(labels?).chain([(-1, "null".to_string())]).collect())
}
