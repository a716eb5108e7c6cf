//! Names of methods, parameters and fields, as tests and reports show them.

use crate::classes::synthetic::{SYNTHETIC, is_lambda};
use crate::classes::type_names::short_type_name;
use crate::classes::{FieldRef, MethodRef};
use crate::classfile::{Code, Desc, MethodDesc, access};
use crate::lower::context::{ANY, Lowering};
use crate::lower::data_types::DataUse;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_ir::{DataTypeId, Function};

impl Lowering {
    /// Returns `package.Class.method`, with parameter types if the method is overloaded.
    pub fn source_name(&self, method: MethodRef) -> String {
        let class = self.classes.get(method.class);
        let member = self.classes.method(method);
        let title = class.title().replace('$', ".");
        let name = match &*member.name {
            "<init>" => title.rsplit('.').next().unwrap_or_default().to_string(),
            // The keyword can't be the name of a method.
            "<clinit>" => "static".to_string(),
            name => name.to_string(),
        };
        if member.is(SYNTHETIC) && !is_lambda(member) {
            return format!("{title}.{name}{}", member.desc);
        }
        let namesakes = class.file().map_or(0, |file| {
            file.methods.iter().filter(|other| other.name == member.name && !other.is(SYNTHETIC)).count()
        });
        match namesakes {
            0 | 1 => format!("{title}.{name}"),
            _ => {
                let desc = MethodDesc::parse(&member.desc);
                let params: Vec<String> = desc.iter().flat_map(|desc| &desc.params).map(short_type_name).collect();
                format!("{title}.{name}({})", params.join(","))
            }
        }
    }

    /// Returns `package.Class.field` for a static field that the program may change.
    pub fn source_field_name(&self, field: FieldRef) -> Option<String> {
        let class = self.classes.get(field.class);
        let (member, _) = self.classes.static_field(field);
        let changes = !class.of_jdk && !member.is(access::FINAL) && !member.is(SYNTHETIC);
        changes.then(|| format!("{}.{}", class.title().replace('$', "."), member.name))
    }

    /// Gives a function the names and data types of its source.
    pub fn apply_source_names(&mut self, method: MethodRef, code: &Code, desc: &MethodDesc, function: &mut Function) {
        function.name = self.source_name(method);
        let member = self.classes.method(method);
        function.internal = member.is(access::PRIVATE);
        let receiver = (!member.is(access::STATIC)).then_some(None);
        let params = receiver.into_iter().chain(desc.params.iter().map(Some));
        let mut local = 0;
        for (index, (param, desc)) in function.params.iter_mut().zip(params).enumerate() {
            let known = code.local_name(local, 0).map(|name| name.to_string());
            param.name = known.unwrap_or_else(|| format!("arg{index}"));
            param.data = desc.map_or(DataTypeId::new(ANY), |desc| self.data_of(desc, DataUse::Input));
            local += if desc.is_some_and(Desc::is_wide) { 2 } else { 1 };
        }
        function.result_data = self.data_of(&desc.result, DataUse::Result);
        let first = function.points.values().map(|point| point.span).find(Span::is_some);
        if let Some(first) = first {
            function.span = first;
        }
    }
}
