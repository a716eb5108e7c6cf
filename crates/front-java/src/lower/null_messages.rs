//! Origins of values, for the helpful messages of null pointer exceptions (JEP 358).

use crate::classes::type_names::type_name;
use crate::classfile::{ArrayKind, Desc, MemberRef, MethodDesc};
use crate::lower::method_body::Body;
use std::rc::Rc;
use std::sync::Arc;
use touchstone_ir::{Operand, Ty};

/// The origin of a value.
#[derive(Debug)]
pub(crate) enum ValueOrigin {
    /// An integer constant.
    Int(i32),
    /// The null constant.
    Null,
    /// A local variable, by its name.
    Local(String),
    /// A static field.
    Static(String),
    /// A field of an object.
    Field(Option<Rc<ValueOrigin>>, Arc<str>),
    /// An element of an array.
    Element(Option<Rc<ValueOrigin>>, Option<Rc<ValueOrigin>>),
    /// The result of a call.
    Call(String),
}

impl ValueOrigin {
    /// Returns the description; fields and elements are nested at most five deep, as in the JVM.
    fn text(&self, depth: u8) -> Option<String> {
        let inner = |origin: &Option<Rc<ValueOrigin>>| match depth {
            0 => None,
            _ => origin.as_ref().and_then(|origin| origin.text(depth - 1)),
        };
        Some(match self {
            ValueOrigin::Int(value) => value.to_string(),
            ValueOrigin::Null => "null".to_string(),
            ValueOrigin::Local(text) | ValueOrigin::Static(text) | ValueOrigin::Call(text) => text.clone(),
            ValueOrigin::Field(object, name) => match inner(object) {
                Some(object) => format!("{object}.{name}"),
                None => name.to_string(),
            },
            ValueOrigin::Element(array, index) => {
                let dots = || "...".to_string();
                format!(
                    "{}[{}]",
                    inner(array).unwrap_or_else(|| "<array>".to_string()),
                    inner(index).unwrap_or_else(dots)
                )
            }
        })
    }
}

impl ValueOrigin {
    /// Returns the value as source writes it, as far as that is known.
    pub fn display(&self) -> String {
        self.text(5).unwrap_or_default()
    }
}

impl Body<'_> {
    /// Records the origin of a value.
    pub fn note_origin(&mut self, value: Operand, origin: ValueOrigin) {
        if let Operand::Reg(reg) = value {
            self.origins.insert(reg, Rc::new(origin));
        }
    }

    /// Records that the top of the stack is the result of a call.
    pub fn note_call_origin(&mut self, member: &MemberRef, desc: &MethodDesc) {
        if let (Desc::Ref(_), Some(value)) = (&desc.result, self.stack.last().copied()) {
            self.note_origin(value, ValueOrigin::Call(call_text(member, desc)));
        }
    }

    pub fn origin(&self, value: Operand) -> Option<Rc<ValueOrigin>> {
        match value {
            Operand::Const(Ty::Ptr, _) => Some(Rc::new(ValueOrigin::Null)),
            Operand::Const(_, bits) => Some(Rc::new(ValueOrigin::Int(bits as u32 as i32))),
            Operand::Reg(reg) => match self.origins.get(&reg) {
                Some(origin) => Some(origin.clone()),
                None => self.local_of(reg).map(|index| Rc::new(ValueOrigin::Local(self.local_text(index)))),
            },
        }
    }

    fn local_text(&self, index: u16) -> String {
        if let Some(name) = self.code.local_name(index, self.position) {
            return name.to_string();
        }
        match (self.is_static, index) {
            (false, 0) => "this".to_string(),
            _ if index < self.params => format!("<parameter{}>", index + u16::from(self.is_static)),
            _ => format!("<local{index}>"),
        }
    }

    /// Returns the reason for which a value may be null, if it is known.
    pub fn null_reason(&self, value: Operand) -> Option<String> {
        let origin = self.origin(value)?;
        let text = origin.text(5)?;
        Some(match &*origin {
            ValueOrigin::Call(_) => format!("the return value of \"{text}\""),
            _ => format!("\"{text}\""),
        })
    }
}

/// Returns a method as messages write it.
pub(crate) fn call_text(member: &MemberRef, desc: &MethodDesc) -> String {
    let params: Vec<String> = desc.params.iter().map(type_name).collect();
    format!("{}.{}({})", type_name(&Desc::Ref(member.class.clone())), member.name, params.join(", "))
}

/// Returns an array type as messages write it.
pub(crate) fn array_word(array: ArrayKind) -> &'static str {
    match array {
        ArrayKind::Int => "int",
        ArrayKind::Long => "long",
        ArrayKind::Float => "float",
        ArrayKind::Double => "double",
        ArrayKind::Ref => "object",
        ArrayKind::Byte => "byte/boolean",
        ArrayKind::Char => "char",
        ArrayKind::Short => "short",
    }
}
