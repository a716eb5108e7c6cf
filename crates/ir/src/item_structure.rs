//! The structure of module items (functions, globals, data types) independent of their number and position, as nodes of
//! a graph. Two programs with equal graphs behave equally there, also if an item was moved.
//!
//! A node is hashed as a whole, except for two things: references to other nodes, which become edges, and source
//! positions, of which only the order counts. Literals have no names: they are numbered in their module.
//!
//! Deliberately not here: the selection of relevant nodes.

use crate::{
    Builtin, Callee, DataType, DataTypeId, Expr, ExprKind, FuncId, Function, Global, GlobalId, Init, InstKind, Linkage,
    Module, Operand, PointKind, Pointee,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use touchstone_base::{Id, IndexMap, Span, WideHasher};

/// A part of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ModuleItem {
    /// A function.
    Function(FuncId),
    /// A global.
    Global(GlobalId),
    /// A data type.
    Type(DataTypeId),
}

/// The structure of one item.
#[derive(Clone, Debug)]
pub struct ItemStructure {
    /// Everything but what it names and where it stands.
    pub own: u128,
    /// The items that it references, each once, in order of occurrence.
    pub names: Vec<ModuleItem>,
    /// The source positions in a function, each once, in order.
    pub places: Vec<Span>,
    /// True if a function has indirect calls.
    pub has_indirect_calls: bool,
    /// The memory-sharing classes of a data type: only which types share a class counts.
    pub classes: Option<[DataTypeId; 2]>,
}

/// The structures of the items of a module, computed on demand.
#[derive(Debug)]
pub struct ItemStructures<'m> {
    module: &'m Module,
    functions: IndexMap<FuncId, OnceLock<ItemStructure>>,
    globals: IndexMap<GlobalId, OnceLock<ItemStructure>>,
    types: IndexMap<DataTypeId, OnceLock<ItemStructure>>,
}

impl<'m> ItemStructures<'m> {
    /// Creates the structures of a module.
    pub fn new(module: &'m Module) -> ItemStructures<'m> {
        ItemStructures {
            module,
            functions: module.functions.values().map(|_| OnceLock::new()).collect(),
            globals: module.globals.values().map(|_| OnceLock::new()).collect(),
            types: module.types.values().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The structure of a part.
    pub fn of(&self, part: ModuleItem) -> &ItemStructure {
        match part {
            ModuleItem::Function(id) => self.functions[id].get_or_init(|| function(self.module, id)),
            ModuleItem::Global(id) => self.globals[id].get_or_init(|| global(&self.module.globals[id])),
            ModuleItem::Type(id) => self.types[id].get_or_init(|| data_type(self.module, id)),
        }
    }
}

/// Numbers of other parts become places in a list.
#[derive(Default)]
struct Names {
    list: Vec<ModuleItem>,
    known: BTreeMap<ModuleItem, usize>,
}

impl Names {
    fn index(&mut self, part: ModuleItem) -> usize {
        let next = self.list.len();
        *self.known.entry(part).or_insert_with(|| {
            self.list.push(part);
            next
        })
    }

    fn data(&mut self, id: &mut DataTypeId) {
        *id = DataTypeId::new(self.index(ModuleItem::Type(*id)));
    }

    fn global(&mut self, id: &mut GlobalId) {
        *id = GlobalId::new(self.index(ModuleItem::Global(*id)));
    }

    fn function(&mut self, id: &mut FuncId) {
        *id = FuncId::new(self.index(ModuleItem::Function(*id)));
    }

    /// Replaces the number of a data type in the code by a reference.
    fn cast_pointee(&mut self, args: &mut [Operand], module: &Module) {
        if let Some(Operand::Const(_, number)) = args.get_mut(1)
            && *number < module.types.len() as u64
        {
            *number = self.index(ModuleItem::Type(DataTypeId::new(*number as usize))) as u64;
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            if let ExprKind::Global(id) = &mut expr.kind {
                self.global(id);
            }
            pending.extend(expr.parts_mut());
        }
    }

    fn structure(self, own: u128) -> ItemStructure {
        ItemStructure { own, names: self.list, places: Vec::new(), has_indirect_calls: false, classes: None }
    }
}

fn hash(value: &dyn std::fmt::Debug) -> u128 {
    let mut hasher = WideHasher::default();
    hasher.debug(value);
    hasher.wide()
}

fn function(module: &Module, id: FuncId) -> ItemStructure {
    let mut plain = module.functions[id].clone();
    let mut names = Names::default();
    plain.params.iter_mut().for_each(|param| names.data(&mut param.data));
    names.data(&mut plain.result_data);
    plain.slots.values_mut().for_each(|slot| names.data(&mut slot.data));
    let mut has_indirect_calls = false;
    for inst in plain.blocks.values_mut().flat_map(|block| &mut block.insts) {
        match &mut inst.kind {
            InstKind::GlobalAddr { global, .. } => names.global(global),
            InstKind::Call { callee: Callee::Direct(callee), .. } => names.function(callee),
            InstKind::Call { callee: Callee::Indirect(_), .. } => has_indirect_calls = true,
            InstKind::Builtin { builtin: Builtin::CastPointee, args, .. } => names.cast_pointee(args, module),
            _ => {}
        }
    }
    for point in plain.points.values_mut() {
        match &mut point.kind {
            PointKind::Statement | PointKind::TooDeep => {}
            PointKind::Value(expr)
            | PointKind::Decision(expr)
            | PointKind::Condition { value: expr, .. }
            | PointKind::Hazard(expr)
            | PointKind::Label { predicate: expr, .. } => names.expr(expr),
            PointKind::Store { address, value } => {
                names.expr(address);
                names.expr(value);
            }
        }
        if let Some(variables) = &point.variables {
            let mut own = variables.to_vec();
            own.iter_mut().for_each(|expr| names.expr(expr));
            point.variables = Some(own.into());
        }
    }
    let mut all = BTreeSet::new();
    each_place(&mut plain, |span| {
        if span.is_some() {
            all.insert(*span);
        }
    });
    let places: Vec<Span> = all.into_iter().collect();
    let ranks: BTreeMap<Span, u32> = (1..).zip(&places).map(|(rank, span)| (*span, rank)).collect();
    each_place(&mut plain, |span| *span = Span { line: ranks.get(span).copied().unwrap_or(0), ..Span::none() });
    ItemStructure { places, has_indirect_calls, ..names.structure(hash(&plain)) }
}

/// All places of a function.
fn each_place(function: &mut Function, mut each: impl FnMut(&mut Span)) {
    each(&mut function.span);
    for decision in function.decisions.values_mut() {
        each(&mut decision.span);
        decision.conditions.values_mut().for_each(|condition| each(&mut condition.span));
    }
    function.points.values_mut().for_each(|point| each(&mut point.span));
    for block in function.blocks.values_mut() {
        block.insts.iter_mut().for_each(|inst| each(&mut inst.span));
        each(&mut block.terminator.span);
    }
}

fn global(global: &Global) -> ItemStructure {
    let mut plain = Global { span: Span::none(), ..global.clone() };
    let mut names = Names::default();
    if plain.linkage == Linkage::Literal {
        plain.name.clear();
    }
    names.data(&mut plain.data);
    plain.function.iter_mut().for_each(|id| names.function(id));
    for piece in plain.init.iter_mut().flatten() {
        match piece {
            Init::Bytes { .. } => {}
            Init::GlobalAddr { global, .. } => names.global(global),
        }
    }
    names.structure(hash(&plain))
}

/// Returns the name of a type without the position that replaces a missing name: `union (unnamed union at list.h:3:5)`.
pub fn without_location(name: &str) -> String {
    let place = name.find("(unnamed ").or_else(|| name.find("(anonymous ")).and_then(|start| {
        let at = start + name[start..].find(" at ")?;
        Some((at, at + name[at..].find(')')?))
    });
    match place {
        Some((from, to)) => format!("{}{}", &name[..from], &name[to..]),
        None => name.to_string(),
    }
}

fn data_type(module: &Module, id: DataTypeId) -> ItemStructure {
    let mut plain = module.types[id].clone();
    let mut names = Names::default();
    if let DataType::Struct { name, .. }
    | DataType::Union { name, .. }
    | DataType::Enum { name, .. }
    | DataType::Opaque { name, .. } = &mut plain
    {
        *name = without_location(name);
    }
    match &mut plain {
        DataType::Pointer { pointee: other, .. } | DataType::Array { element: other, .. } => names.data(other),
        DataType::Struct { fields, .. } | DataType::Union { members: fields, .. } => {
            fields.iter_mut().for_each(|field| names.data(&mut field.ty));
        }
        DataType::OneOf { variants, .. } => variants.iter_mut().for_each(|variant| names.data(&mut variant.ty)),
        DataType::Void
        | DataType::Int { .. }
        | DataType::Float { .. }
        | DataType::Bool { .. }
        | DataType::Enum { .. }
        | DataType::Bits { .. }
        | DataType::Opaque { .. } => {}
    }
    // The pointees are a rule of the module.
    let Pointee { mut element, stands, same, part, shares } = module.pointee(id);
    names.data(&mut element);
    let own = hash(&(plain, element, stands, shares));
    ItemStructure { classes: Some([same, part]), ..names.structure(own) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn module(text: &str) -> Module {
        parse(text).expect("well-formed")
    }

    fn own(module: &Module, name: &str) -> u128 {
        let id = module.function_named(name).expect("there");
        ItemStructures::new(module).of(ModuleItem::Function(id)).own
    }

    const LEAF: &str = "func @leaf(%0: i32) -> i32 {\nb0:\n  %1: i32 = add %0, 1\n  return %1\n}\n";
    const CALLER: &str = "func @caller(%0: i32) -> i32 {\nb0:\n  %1: i32 = call @leaf(%0)\n  return %1\n}\n";

    #[test]
    fn the_order_of_functions_makes_no_difference_and_their_code_does() {
        let (one, other) = (module(&format!("{LEAF}{CALLER}")), module(&format!("{CALLER}{LEAF}")));
        for name in ["leaf", "caller"] {
            assert_eq!(own(&one, name), own(&other, name));
        }
        let edited = module(&format!("{}{CALLER}", LEAF.replace("add %0, 1", "add %0, 2")));
        assert_ne!(own(&one, "leaf"), own(&edited, "leaf"));
        assert_eq!(own(&one, "caller"), own(&edited, "caller"), "it names the leaf as before");
    }

    #[test]
    fn a_type_that_stands_in_the_code_is_named() {
        let text = |types: &str, number: u32| {
            let body = format!("b0:\n  builtin cast_pointee(%0, i64 {number})\n  return\n");
            module(&format!("{types}func @f(%0: ptr) {{\n{body}}}\n"))
        };
        let (int, char) = ("= int \"int\" 32 signed\n", "= int \"char\" 8 signed\n");
        let one = text(&format!("type ty0 = void\ntype ty1 {int}type ty2 {char}"), 1);
        let other = text(&format!("type ty0 = void\ntype ty1 {char}type ty2 {int}"), 2);
        let names = |module: &Module| {
            let structures = ItemStructures::new(module);
            let own = structures.of(ModuleItem::Function(FuncId::new(0)));
            (own.own, own.names.iter().map(|part| structures.of(*part).own).collect::<Vec<_>>())
        };
        assert_eq!(names(&one), names(&other));
        assert_ne!(names(&one), names(&text(&format!("type ty0 = void\ntype ty1 {char}type ty2 {int}"), 1)));
    }

    #[test]
    fn a_type_without_a_name_has_no_place() {
        assert_eq!(without_location("union (unnamed union at a b/list.h:3:5)"), "union (unnamed union)");
        assert_eq!(without_location("struct point"), "struct point");
        assert_eq!(without_location("struct (unnamed at"), "struct (unnamed at");
    }

    #[test]
    fn places_count_by_their_order_only() {
        let plain = module(LEAF);
        let placed = |lines: [u32; 2]| {
            let mut placed = plain.clone();
            let block = placed.functions.values_mut().flat_map(|function| function.blocks.values_mut()).next();
            let block = block.expect("one");
            block.insts[0].span = Span::at(touchstone_base::FileId::new(0), lines[0], 1);
            block.terminator.span = Span::at(touchstone_base::FileId::new(0), lines[1], 1);
            own(&placed, "leaf")
        };
        assert_eq!(placed([3, 5]), placed([30, 31]));
        assert_ne!(placed([3, 5]), placed([5, 3]));
        assert_ne!(placed([3, 5]), placed([3, 3]));
    }
}
