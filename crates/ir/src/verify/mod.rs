//! The verifier: what every pass may rely on.
//!
//! Checked, for a module:
//! - names of functions are unique, and so are names of globals; every file, type, global and function id is in range;
//! - integer data types are 8, 16, 32 or 64 bits wide, alignments are at least 1, no type contains itself by value, sizes
//!   fit into 64 bits, and fields lie inside their structure;
//! - a type with variants is contained by none; its variants are structures that have the tag as a field, and differ in it; what
//!   is thrown is such a type;
//! - a structure that is counted ends in a named array without elements of its own, where its size ends, too; an integer field
//!   before it says how many there are; it is contained by none;
//! - the table of memory speaks of types that there are; types that are the same have one size and one number; texts are of
//!   bytes; a structure that is open ends in an array of elements that have a size;
//! - functions that run at start have a body, neither parameters nor a result; objects of the heap are local;
//! - initialisers are in order, don't overlap and lie inside their global; a global that is only declared has none.
//!
//! For a function:
//! - registers are 1, 8, 16, 32 or 64 bits or pointers; parameter *n* is register *n*; aggregate parameters and the hidden
//!   result parameter are pointers, and a function with the latter returns no value;
//! - the leaves of each decision's tree, from left to right, are its conditions in order, each once;
//! - constants are masked to their width; operands have the types that [`crate::InstKind`] asks for; `i1` is never
//!   loaded or stored; casts change the width in the right direction; float operations have as many operands as they
//!   take, and their operands and results have the widths that [`touchstone_base::float::FloatOp`] tells;
//! - calls and builtins have the right number and types of arguments and results;
//! - what is thrown and what is caught is a pointer, and a block that catches ends with a call;
//! - branches go to existing blocks, ask an `i1`, and have tags of existing conditions, checks and dispatches none; the ranges of a switch are not
//!   empty and don't overlap; a function without result returns no value;
//! - points are those of the function, and a condition point has the tag of an existing condition;
//! - expressions of points are well-typed at every node: registers, slots and globals are in range and have the node's
//!   type (slots and globals `ptr`), constants are masked, both sides of arithmetic (never on pointers) have its type and
//!   both sides of a relation the same type, relations and logic are `i1` over `i1`, an address is `ptr` and what is
//!   loaded no `i1`, an offset is `i64`, both results of a conditional have its type, casts and float operations are as in instructions;
//!   conditions and labels are `i1`; no expression is nested deeper than [`crate::Expr::MAX_DEPTH`].
//!
//! Not checked:
//! - that a register is written before it is read (that is an error of the program, found when it runs);
//! - that a slot or global is as big as its data type says, that bit patterns fit data types, that memory accesses are in
//!   bounds;
//! - that every condition has a branch (dead code may have been dropped), or that branches evaluate the conditions of a
//!   decision in the order that its tree implies;
//! - that every point is marked, or marked once (code may have been dropped or doubled), or that a condition point stands
//!   before its condition's branch;
//! - that the signedness and text of an expression fit the source;
//! - that a function with a result always returns one (`return` without a value gives an undefined one);
//! - reachability of blocks.

mod function;
mod points;

use crate::{
    BlockId, DataType, DataTypeId, Field, FuncId, Function, Global, GlobalRole, Init, Linkage, Module, PointId,
    Pointee, PointeeShape, StructKind, TaggedVariant, VariantTag, mask,
};
use std::collections::BTreeSet;
use std::fmt;
use touchstone_base::{Id, Span};

/// A broken invariant, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct VerifyError {
    /// The function, if it is about one.
    pub function: Option<FuncId>,
    /// The block.
    pub block: Option<BlockId>,
    /// Index of the instruction in the block; the number of instructions for the terminator.
    pub inst: Option<usize>,
    /// The violated invariant.
    pub what: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "{function} ")?;
        }
        if let Some(block) = self.block {
            write!(f, "{block} ")?;
        }
        if let Some(inst) = self.inst {
            write!(f, "instruction {inst}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// Every broken invariant of a module, in order of appearance. Nothing else in the tool accepts a module that has any.
pub fn verify(module: &Module) -> Vec<VerifyError> {
    let mut verifier = Verifier::new(module);
    for (id, data) in module.types.iter() {
        verifier.data_type(id, data);
    }
    if verifier.errors.is_empty() {
        verifier.layouts();
    }
    for (id, pointee) in module.memory.rows() {
        verifier.pointee(id, pointee);
    }
    if let Some(thrown) = module.thrown {
        let known = matches!(module.types.get(thrown), Some(DataType::OneOf { .. }));
        verifier.check(known, || format!("what is thrown is {thrown}, which has no variants"));
    }
    for start in &module.startup {
        let fits =
            |function: &Function| function.is_defined() && function.params.is_empty() && function.result.is_none();
        let fits = module.functions.get(*start).is_some_and(fits);
        verifier.check(fits, || format!("{start} can't run at start"));
    }
    verifier.names();
    for global in module.globals.values() {
        verifier.global(global);
    }
    for (id, function) in module.functions.iter() {
        verifier.function = Some(id);
        verifier.function(function);
    }
    verifier.errors
}

struct Verifier<'m> {
    module: &'m Module,
    function: Option<FuncId>,
    block: Option<BlockId>,
    inst: Option<usize>,
    point: Option<PointId>,
    errors: Vec<VerifyError>,
}

impl<'m> Verifier<'m> {
    fn new(module: &'m Module) -> Self {
        Verifier { module, function: None, block: None, inst: None, point: None, errors: Vec::new() }
    }

    fn error(&mut self, what: impl Into<String>) {
        let Verifier { function, block, inst, point, .. } = *self;
        let what = point.map_or(String::new(), |point| format!("{point}: ")) + &what.into();
        self.errors.push(VerifyError { function, block, inst, what });
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.error(what());
        }
    }

    fn names(&mut self) {
        let mut seen = BTreeSet::new();
        for function in self.module.functions.values() {
            self.check(seen.insert(&function.name), || format!("two functions are named `{}`", function.name));
        }
        let mut seen = BTreeSet::new();
        for global in self.module.globals.values() {
            self.check(seen.insert(&global.name), || format!("two globals are named `{}`", global.name));
        }
    }

    fn span(&mut self, span: Span) {
        let known = !span.is_some() || span.file.index() < self.module.files.len();
        self.check(known, || format!("{} is no file", span.file));
    }

    fn data(&mut self, id: DataTypeId) {
        self.check(id.index() < self.module.types.len(), || format!("{id} is no data type"));
    }

    // Data types.

    fn data_type(&mut self, id: DataTypeId, data: &DataType) {
        match data {
            DataType::Void | DataType::Bool { .. } | DataType::Float { .. } => {}
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => {
                self.check(matches!(bits, 8 | 16 | 32 | 64), || format!("{id} is {bits} bits wide"));
            }
            DataType::Pointer { pointee, .. } => self.data(*pointee),
            DataType::Array { element, .. } => self.contained(id, *element),
            DataType::Struct { fields, align, .. } => {
                self.check(*align > 0, || format!("{id} has no alignment"));
                for field in fields {
                    self.contained(id, field.ty);
                }
            }
            DataType::Union { members, align, .. } => {
                self.check(*align > 0, || format!("{id} has no alignment"));
                for member in members {
                    self.check(member.offset == 0, || format!("{id} has a member behind its start"));
                    self.contained(id, member.ty);
                }
            }
            DataType::Bits { first, width, .. } => {
                let fits = *first < 8 && *width > 0 && first.saturating_add(*width) <= 64;
                self.check(fits, || format!("{id} has bits that don't fit into 64"));
            }
            DataType::OneOf { tag, variants, .. } => self.variants(id, *tag, variants),
            DataType::Opaque { align, .. } => self.check(*align > 0, || format!("{id} has no alignment")),
        }
    }

    /// A type that another contains by value.
    fn contained(&mut self, id: DataTypeId, part: DataTypeId) {
        self.data(part);
        let varies = matches!(self.module.types.get(part), Some(DataType::OneOf { .. }));
        self.check(!varies, || format!("{id} contains {part}, which has variants"));
        let counted = StructKind::is_counted;
        let counted = matches!(self.module.types.get(part), Some(DataType::Struct { kind, .. }) if counted(*kind));
        self.check(!counted, || format!("{id} contains {part}, whose objects say how large they are"));
    }

    fn variants(&mut self, id: DataTypeId, tag: VariantTag, variants: &[TaggedVariant]) {
        self.check(matches!(tag.bits, 8 | 16 | 32 | 64), || format!("the tag of {id} is {} bits wide", tag.bits));
        let mut seen = BTreeSet::new();
        for variant in variants {
            self.data(variant.ty);
            self.check(seen.insert(variant.tag), || format!("two variants of {id} have the tag {}", variant.tag));
            self.check(mask(variant.tag, tag.bits) == variant.tag, || {
                format!("the tag {} of {id} is not {} bits wide", variant.tag, tag.bits)
            });
            let types = &self.module.types;
            let is_tag = |field: &Field| {
                let number = matches!(types.get(field.ty), Some(DataType::Int { bits, .. } | DataType::Enum { bits, .. }) if *bits == tag.bits);
                field.offset == tag.offset && number
            };
            let fits = match types.get(variant.ty) {
                Some(DataType::Struct { fields, .. }) => fields.iter().any(is_tag),
                Some(_) => false,
                None => true,
            };
            self.check(fits, || format!("{} is no structure with the tag of {id}", variant.ty));
        }
    }

    /// A row of the table of memory: of types that there are, told apart by a type that is alike itself.
    fn pointee(&mut self, id: DataTypeId, pointee: Pointee) {
        let before = self.errors.len();
        let Pointee { element, same, part, stands, .. } = pointee;
        [id, element, same, part].into_iter().for_each(|id| self.data(id));
        if self.errors.len() > before {
            return;
        }
        let module = self.module;
        self.check(module.pointee(same).same == same, || format!("{id} is the same as {same}, which is another's"));
        self.check(module.pointee(part).part == part, || format!("{id} is a part as {part}, which is another's"));
        let is_byte = matches!(module.types[element], DataType::Int { bits: 8, .. });
        self.check(stands != PointeeShape::Text || is_byte, || format!("texts behind {id} are not of bytes"));
        // Broken types have no size.
        if self.errors.is_empty() {
            let sizes = [id, same].map(|id| module.types[id].size(&module.types));
            self.check(sizes[0] == sizes[1], || format!("{id} is the same as {same}, which has another size"));
        }
    }

    /// Sizes, computed without recursion so that a type that contains itself is found and not followed.
    fn layouts(&mut self) {
        let types = &self.module.types;
        let mut sizes: Vec<Option<u64>> = vec![None; types.len()];
        let mut remaining: Vec<DataTypeId> = types.ids().collect();
        loop {
            let before = remaining.len();
            let mut overflow = Vec::new();
            remaining.retain(|&id| {
                let size = match &types[id] {
                    DataType::Array { element, length } => {
                        let Some(size) = sizes[element.index()] else { return true };
                        let size = size.checked_mul(*length);
                        if size.is_none() {
                            overflow.push(id);
                        }
                        size.unwrap_or(0)
                    }
                    DataType::Struct { fields, .. } if fields.iter().any(|field| sizes[field.ty.index()].is_none()) => {
                        return true;
                    }
                    data => data.size(types),
                };
                sizes[id.index()] = Some(size);
                false
            });
            for id in overflow {
                self.error(format!("the size of {id} does not fit into 64 bits"));
            }
            if remaining.len() == before {
                break;
            }
        }
        for id in remaining {
            self.error(format!("{id} contains itself"));
        }
        for (id, data) in types.iter() {
            let DataType::Struct { fields, size, kind, .. } = data else { continue };
            if let StructKind::Counted { by } = kind {
                self.counted(id, *by, fields, *size, &sizes);
            }
            for field in fields {
                let end = sizes[field.ty.index()].and_then(|length| field.offset.checked_add(length));
                self.check(end.is_none_or(|end| end <= *size), || {
                    format!("field `{}` does not lie inside {id}", field.name)
                });
            }
            let last = fields.last().map(|last| &types[last.ty]);
            let ends_in_array =
                matches!(last, Some(DataType::Array { element, .. }) if sizes[element.index()] != Some(0));
            self.check(*kind != StructKind::Open || ends_in_array, || {
                format!("{id} is open and does not end in an array")
            });
        }
    }

    /// A structure that ends in an array with as many elements as a field says.
    fn counted(&mut self, id: DataTypeId, by: usize, fields: &[Field], size: u64, sizes: &[Option<u64>]) {
        let types = &self.module.types;
        let has_size = |element: DataTypeId| sizes[element.index()].is_some_and(|size| size > 0);
        let is_array = |field: &&Field| match types[field.ty] {
            DataType::Array { element, length: 0 } => !field.name.is_empty() && has_size(element),
            _ => false,
        };
        let array = fields.last().filter(is_array).filter(|field| field.offset == size);
        self.check(array.is_some(), || format!("{id} is counted and does not end in an array without elements"));
        let before = &fields[..fields.len().saturating_sub(1)];
        let is_count = |field: &Field| match types[field.ty] {
            DataType::Int { bits, .. } => field.offset.checked_add(u64::from(bits / 8)).is_some_and(|end| end <= size),
            _ => false,
        };
        let fits = before.get(by).is_some_and(is_count);
        self.check(fits, || format!("{id} is counted by field {by}, which is no integer before its array"));
    }

    // Globals.

    fn global(&mut self, global: &Global) {
        self.span(global.span);
        self.data(global.data);
        let name = &global.name;
        if let Some(function) = global.function {
            let known = function.index() < self.module.functions.len();
            self.check(known, || format!("{function} of `{name}` is no function"));
            self.check(global.size == 0, || format!("`{name}` stands for a function and has a size"));
        }
        let on_heap = matches!(global.role, GlobalRole::Heap | GlobalRole::Runtime);
        let nameless = !on_heap || global.linkage == Linkage::Local;
        self.check(nameless, || format!("`{name}` is on the heap and not local"));
        let declared_only = global.linkage == Linkage::Undefined;
        self.check(!(declared_only && global.init.is_some()), || format!("`{name}` is undefined and has contents"));
        let mut free_from = 0;
        for piece in global.init.iter().flatten() {
            let (offset, length) = match piece {
                Init::Bytes { offset, bytes } => (*offset, bytes.len() as u64),
                Init::GlobalAddr { offset, global, .. } => {
                    let known = global.index() < self.module.globals.len();
                    self.check(known, || format!("{global} in `{name}` is no global"));
                    (*offset, 8)
                }
            };
            self.check(offset >= free_from, || format!("contents of `{name}` overlap at {offset}"));
            let end = offset.checked_add(length).filter(|&end| end <= global.size);
            self.check(end.is_some(), || format!("contents at {offset} do not lie inside `{name}`"));
            free_from = end.unwrap_or(free_from);
        }
    }
}

#[cfg(test)]
mod tests;
