//! Methods of the program as tests and reports show them: names, parameters, types.

use super::origin::type_text;
use super::types::Use;
use super::world::{ANY, World};
use crate::classfile::{Code, Desc, Member, MethodDesc, access};
use crate::world::{FieldRef, MethodRef};
use touchstone_base::float::Format;
use touchstone_base::{Id, Span};
use touchstone_ir::{DataType, DataTypeId, DataTypes, Function, IntKind};

/// Where the types of values begin in a module's table.
const VALUES: usize = 4;

/// Puts the types of values behind those that every module has.
pub(crate) fn add_types(types: &mut DataTypes) {
    let int = |name: &str, bits, signed| {
        let kind = if name == "char" { IntKind::Character } else { IntKind::Number };
        DataType::Int { name: name.to_string(), bits, signed, kind }
    };
    let float = |name: &str, format| DataType::Float { name: name.to_string(), format };
    let first = types.push(DataType::Void);
    debug_assert_eq!(first.index(), VALUES);
    types.push(DataType::Bool { name: "boolean".to_string() });
    types.push(int("byte", 8, true));
    types.push(int("char", 16, false));
    types.push(int("short", 16, true));
    types.push(int("int", 32, true));
    types.push(int("long", 64, true));
    types.push(float("float", Format::F32));
    types.push(float("double", Format::F64));
}

/// The data type of a number, a character or a truth value; of what is none, one that nobody can make.
pub(crate) fn value_type(desc: &Desc) -> DataTypeId {
    DataTypeId::new(match desc {
        Desc::Void => VALUES,
        Desc::Boolean => VALUES + 1,
        Desc::Byte => VALUES + 2,
        Desc::Char => VALUES + 3,
        Desc::Short => VALUES + 4,
        Desc::Int => VALUES + 5,
        Desc::Long => VALUES + 6,
        Desc::Float => VALUES + 7,
        Desc::Double => VALUES + 8,
        Desc::Ref(_) => ANY,
    })
}

/// A type without its package.
pub(crate) fn short_type(desc: &Desc) -> String {
    let text = type_text(desc);
    text.rsplit(['.', '$']).next().unwrap_or(&text).to_string()
}

/// Flags of what the compiler made: bridges and synthetic members.
pub(crate) const MADE: u16 = 0x1000;

/// Whether a method is the body of a lambda expression.
pub(crate) fn is_lambda(member: &Member) -> bool {
    member.is(MADE) && member.is(access::PRIVATE) && member.name.starts_with("lambda$")
}

impl World {
    /// `package.Class.method`, with parameter types where the class has several methods of the name.
    pub fn shown_name(&self, method: MethodRef) -> String {
        let class = self.classes.get(method.class);
        let member = self.classes.method(method);
        let title = class.title().replace('$', ".");
        let name = match &*member.name {
            "<init>" => title.rsplit('.').next().unwrap_or_default().to_string(),
            // No method can be called so.
            "<clinit>" => "static".to_string(),
            name => name.to_string(),
        };
        if member.is(MADE) && !is_lambda(member) {
            return format!("{title}.{name}{}", member.desc);
        }
        let namesakes = class
            .file()
            .map_or(0, |file| file.methods.iter().filter(|other| other.name == member.name && !other.is(MADE)).count());
        match namesakes {
            0 | 1 => format!("{title}.{name}"),
            _ => {
                let desc = MethodDesc::parse(&member.desc);
                let params: Vec<String> = desc.iter().flat_map(|desc| &desc.params).map(short_type).collect();
                format!("{title}.{name}({})", params.join(","))
            }
        }
    }

    /// `package.Class.field` of a field that the program may change at any time.
    pub fn shown_static(&self, field: FieldRef) -> Option<String> {
        let class = self.classes.get(field.class);
        let (member, _) = self.classes.static_field(field);
        let changes = !class.of_jdk && !member.is(access::FINAL) && !member.is(MADE);
        changes.then(|| format!("{}.{}", class.title().replace('$', "."), member.name))
    }

    /// Names and types a function as its source does.
    pub fn present(&mut self, method: MethodRef, code: &Code, desc: &MethodDesc, function: &mut Function) {
        function.name = self.shown_name(method);
        let member = self.classes.method(method);
        function.internal = member.is(access::PRIVATE);
        let receiver = (!member.is(access::STATIC)).then_some(None);
        let params = receiver.into_iter().chain(desc.params.iter().map(Some));
        let mut local = 0;
        for (index, (param, desc)) in function.params.iter_mut().zip(params).enumerate() {
            let known = code.local_name(local, 0).map(|name| name.to_string());
            param.name = known.unwrap_or_else(|| format!("arg{index}"));
            param.data = desc.map_or(DataTypeId::new(ANY), |desc| self.data_of(desc, Use::Input));
            local += if desc.is_some_and(Desc::is_wide) { 2 } else { 1 };
        }
        function.result_data = self.data_of(&desc.result, Use::Result);
        let first = function.points.values().map(|point| point.span).find(Span::is_some);
        if let Some(first) = first {
            function.span = first;
        }
    }
}
