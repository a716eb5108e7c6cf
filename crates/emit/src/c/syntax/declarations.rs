//! Declarations of C types, and names for types that the source leaves unnamed.

use crate::EmitError;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::names::{is_identifier, source_name};
use std::collections::BTreeMap;
use touchstone_base::float::Format;
use touchstone_ir::{DataType, DataTypeId, FuncId, Linkage, Module};

/// The compilers' built-in name of `va_list`, which needs no header.
const ARGUMENT_LIST: &str = "__builtin_va_list";

/// Clang's name for the element of a `va_list`; gcc does not know it.
const LIST_ELEMENT: &str = "struct __va_list_tag";

/// The types of a module, prepared for declarations.
pub(crate) struct CTypes<'m> {
    module: &'m Module,
    /// Maps each unnamed type to an expression of that type.
    unnamed: BTreeMap<DataTypeId, String>,
}

impl<'m> CTypes<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let mut types = CTypes { module, unnamed: BTreeMap::new() };
        types.find_unnamed();
        types
    }

    /// Returns the declaration of `declarator` with this type: `int *(*p)[4]`; with an empty declarator, the type name
    /// alone.
    pub(crate) fn declare(&self, ty: DataTypeId, declarator: &str) -> Result<String, EmitLimitation> {
        match &self.module.types[ty] {
            DataType::Void => Ok(join("void", declarator)),
            DataType::Int { name, bits, signed, .. } | DataType::Enum { name, bits, signed, .. } => {
                Ok(join(if is_type_name(name) { name } else { integer_of(*bits, *signed) }, declarator))
            }
            DataType::Float { name, format } => {
                let plain = if *format == Format::F32 { "float" } else { "double" };
                Ok(join(if is_type_name(name) { name } else { plain }, declarator))
            }
            DataType::Bool { name } => Ok(join(if is_type_name(name) { name } else { "_Bool" }, declarator)),
            DataType::Bits { .. } => Err(EmitLimitation::BitField),
            DataType::OneOf { name, .. } => Err(EmitLimitation::Variants(name.clone())),
            DataType::Pointer { pointee, to_const } => self.declare_pointer(*pointee, *to_const, declarator),
            DataType::Array { element, .. } if self.is_argument_list(*element) => Ok(join(ARGUMENT_LIST, declarator)),
            DataType::Array { element, length } => self.declare(*element, &format!("{declarator}[{length}]")),
            DataType::Struct { name, .. } | DataType::Union { name, .. } | DataType::Opaque { name, .. } => {
                Ok(join(&self.named(ty, name)?, declarator))
            }
        }
    }

    fn declare_pointer(&self, pointee: DataTypeId, to_const: bool, declarator: &str) -> Result<String, EmitLimitation> {
        let inner = match &self.module.types[pointee] {
            DataType::Array { .. } => format!("(*{declarator})"),
            DataType::Pointer { .. } if to_const => return self.declare(pointee, &format!("const *{declarator}")),
            _ => format!("*{declarator}"),
        };
        let text = self.declare(pointee, &inner)?;
        Ok(if to_const { format!("const {text}") } else { text })
    }

    /// Returns true if the type is the element type of `va_list`. Its name belongs to the compiler, so tests cannot
    /// write it.
    fn is_argument_list(&self, ty: DataTypeId) -> bool {
        matches!(&self.module.types[ty], DataType::Struct { name, .. } if name == LIST_ELEMENT)
    }

    fn named(&self, ty: DataTypeId, name: &str) -> Result<String, EmitLimitation> {
        if self.is_argument_list(ty) {
            return Ok(format!("__typeof__(**({ARGUMENT_LIST} *)0)"));
        }
        if is_type_name(name) {
            return Ok(name.to_string());
        }
        if name.contains('(') && !name.contains("unnamed") && !name.contains("anonymous") {
            // Function types may have a `va_list` parameter as well.
            let name = name.replace(&format!("{LIST_ELEMENT} (*)[1]"), &format!("{ARGUMENT_LIST} *"));
            let name = name.replace(LIST_ELEMENT, &format!("__typeof__(**({ARGUMENT_LIST} *)0)"));
            return Ok(format!("__typeof__({name})"));
        }
        let expression = self.unnamed.get(&ty);
        expression.map(|text| format!("__typeof__({text})")).ok_or(EmitLimitation::UnnamedType)
    }

    /// Finds, for every unnamed type, an expression of the source that has this type. A type that was found may make
    /// further ones nameable, so the search runs to a fixpoint.
    fn find_unnamed(&mut self) {
        let module = self.module;
        for global in module.globals.values() {
            if !matches!(global.linkage, Linkage::Local | Linkage::Literal) {
                self.note(global.data, source_name(&global.name));
            }
        }
        loop {
            let before = self.unnamed.len();
            for (id, ty) in module.types.iter() {
                let DataType::Struct { name, fields, .. } = ty else { continue };
                let Ok(own) = self.named(id, name) else { continue };
                for field in fields.iter().filter(|field| !field.name.is_empty()) {
                    self.note(field.ty, &format!("(({own} *)0)->{}", field.name));
                }
            }
            if self.unnamed.len() == before {
                return;
            }
        }
    }

    fn note(&mut self, ty: DataTypeId, expression: &str) {
        match &self.module.types[ty] {
            DataType::Pointer { pointee, .. } => self.note(*pointee, &format!("*{expression}")),
            DataType::Array { element, .. } => self.note(*element, &format!("({expression})[0]")),
            DataType::Struct { name, .. } | DataType::Union { name, .. } | DataType::Opaque { name, .. }
                if !is_type_name(name) =>
            {
                self.unnamed.entry(ty).or_insert_with(|| expression.to_string());
            }
            _ => {}
        }
    }
}

/// Returns the parameters of a function as in its definition: `int a[3], const char *s`; `void` if it has none.
pub fn parameter_list(module: &Module, function: FuncId) -> Result<String, EmitError> {
    let params = module.functions[function].own_params().iter().enumerate();
    let name = |(index, param): (usize, &touchstone_ir::Param)| match param.name.as_str() {
        "" => format!("argument{}", index + 1),
        name => name.to_string(),
    };
    parameter_list_with_names(module, function, &params.map(name).collect::<Vec<_>>())
}

/// Returns the parameters of a function with the given names.
pub fn parameter_list_with_names(module: &Module, function: FuncId, names: &[String]) -> Result<String, EmitError> {
    let types = CTypes::new(module);
    let function = &module.functions[function];
    let mut parts = Vec::new();
    for (param, name) in function.own_params().iter().zip(names) {
        let part = types.declare(param.data, name);
        parts.push(part.map_err(|why| EmitError::NoParameterList { function: function.name.clone(), why })?);
    }
    Ok(if parts.is_empty() { "void".to_string() } else { parts.join(", ") })
}

/// Returns the declaration of a variable with the function's result type, or `None` if the function returns nothing.
pub fn result_declaration(module: &Module, function: FuncId, name: &str) -> Result<Option<String>, EmitError> {
    let function = &module.functions[function];
    let declare = || CTypes::new(module).declare(function.result_data, name);
    let declared = function.result.map(|_| declare()).transpose();
    declared.map_err(|why| EmitError::NoParameterList { function: function.name.clone(), why })
}

fn join(base: &str, declarator: &str) -> String {
    if declarator.is_empty() { base.to_string() } else { format!("{base} {declarator}") }
}

/// Returns true if the string consists of words only: `struct point`, `unsigned int`, `uint8_t`.
pub(crate) fn is_type_name(name: &str) -> bool {
    !name.is_empty() && name.split(' ').all(is_identifier) && !matches!(name, "struct" | "union" | "enum")
}

fn integer_of(bits: u8, signed: bool) -> &'static str {
    match (bits, signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned int",
        (_, true) => "long",
        (_, false) => "unsigned long",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::Span;
    use touchstone_ir::{Field, Global};

    fn pointer(pointee: DataTypeId, to_const: bool) -> DataType {
        DataType::Pointer { pointee, to_const }
    }

    #[test]
    fn declarations_are_those_of_c() {
        let mut module = Module::default();
        let int = module.types.push(DataType::Int {
            name: "int".into(),
            bits: 32,
            signed: true,
            kind: touchstone_ir::IntKind::Number,
        });
        let row = module.types.push(DataType::Array { element: int, length: 4 });
        let matrix = module.types.push(DataType::Array { element: row, length: 3 });
        let int_ptr = module.types.push(pointer(int, false));
        let const_ptr = module.types.push(pointer(int, true));
        let row_ptr = module.types.push(pointer(row, false));
        let ptr_ptr = module.types.push(pointer(int_ptr, false));
        let ptr_const_ptr = module.types.push(pointer(int_ptr, true));
        let pointers = module.types.push(DataType::Array { element: int_ptr, length: 2 });
        let function = module.types.push(DataType::Opaque { name: "int (int)".into(), size: 0, align: 1 });
        let function_ptr = module.types.push(pointer(function, false));
        let color =
            module.types.push(DataType::Enum { name: String::new(), bits: 32, signed: false, items: Vec::new() });
        let types = CTypes::new(&module);
        let check = |ty, expected: &str| assert_eq!(types.declare(ty, "x").as_deref(), Ok(expected));
        check(int, "int x");
        check(matrix, "int x[3][4]");
        check(const_ptr, "const int *x");
        check(row_ptr, "int (*x)[4]");
        check(ptr_ptr, "int **x");
        check(ptr_const_ptr, "int *const *x");
        check(pointers, "int *x[2]");
        check(function_ptr, "__typeof__(int (int)) *x");
        check(color, "unsigned int x");
        assert_eq!(types.declare(int_ptr, "").as_deref(), Ok("int *"));
    }

    #[test]
    fn a_type_without_name_is_named_by_something_that_has_it() {
        let mut module = Module::default();
        let int = module.types.push(DataType::Int {
            name: "int".into(),
            bits: 32,
            signed: true,
            kind: touchstone_ir::IntKind::Number,
        });
        let field = |ty| vec![Field { name: "part".into(), offset: 0, ty }];
        let unnamed = |fields| DataType::Struct {
            name: String::new(),
            fields,
            size: 8,
            align: 8,
            kind: touchstone_ir::StructKind::Record,
        };
        let inner = module.types.push(unnamed(field(int)));
        let inner_ptr = module.types.push(pointer(inner, false));
        let outer = module.types.push(unnamed(field(inner_ptr)));
        let lost = module.types.push(unnamed(Vec::new()));
        let outers = module.types.push(DataType::Array { element: outer, length: 2 });
        module.globals.push(Global {
            name: "table".into(),
            span: Span::none(),
            data: outers,
            size: 16,
            constant: false,
            linkage: Linkage::External,
            role: touchstone_ir::GlobalRole::Variable,
            display_name: None,
            function: None,
            init: None,
        });
        let types = CTypes::new(&module);
        assert_eq!(types.declare(outer, "x").as_deref(), Ok("__typeof__((table)[0]) x"));
        assert_eq!(types.declare(inner, "x").as_deref(), Ok("__typeof__(*((__typeof__((table)[0]) *)0)->part) x"));
        assert!(types.declare(lost, "x").is_err());
    }
}
