//! Initialisers of globals and static locals: bytes and addresses, evaluated at compile time.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::selected;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::string_literals;
use crate::lower::context::unit::Unit;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{GlobalId, Init, Linkage};

/// A compile-time value.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Constant {
    /// An integer, or the bits of a float.
    Int(u64),
    Address(GlobalId, i64),
}

/// The initial contents of an object under construction.
#[derive(Default)]
struct Image {
    bytes: Vec<u8>,
    addresses: Vec<(u64, GlobalId, i64)>,
}

/// The maximum size of an initialised object, in bytes.
const MAX_IMAGE_BYTES: u64 = 1 << 28;

type Evaluated<T> = Result<T, Construct>;

fn refuse<T>(construct: Construct) -> Evaluated<T> {
    Err(construct)
}

/// Returns the string in the braces of `char x[4] = {"q"}`. clang also puts braces around the initialiser of a flexible
/// array member.
pub(crate) fn unbraced<'n>(node: &'n AstNode, ty: &Type) -> &'n AstNode {
    let of_characters = match &ty.kind {
        TypeKind::Array(element, _) | TypeKind::OpenArray(element) => matches!(element.kind, TypeKind::Int { .. }),
        _ => false,
    };
    let is_string = |node: &AstNode| matches!(node.kind, K::StringLiteral | K::PredefinedExpr);
    match node.inner.as_slice() {
        [only] if node.kind == K::InitListExpr && of_characters && is_string(only) => only,
        _ => node,
    }
}

impl Unit<'_> {
    /// Evaluates the initial contents of a global. An unsupported initialiser poisons the global.
    pub fn global_init(&mut self, id: GlobalId, node: &AstNode, ty: &Type) -> Vec<Init> {
        let size = self.program.types.size(ty);
        if size > MAX_IMAGE_BYTES {
            self.program.mark_unsupported(id, Construct::LargeInitialiser);
            return Vec::new();
        }
        let mut image = Image { bytes: vec![0; size as usize], addresses: Vec::new() };
        if let Err(what) = self.fill(&mut image, node, ty, 0) {
            self.program.mark_unsupported(id, what);
            return Vec::new();
        }
        let global = &mut self.program.globals[id];
        global.size = global.size.max(image.bytes.len() as u64);
        image.pieces()
    }

    fn fill(&mut self, image: &mut Image, node: &AstNode, ty: &Type, at: u64) -> Evaluated<()> {
        let node = unbraced(node, ty);
        match &node.kind {
            K::ImplicitValueInitExpr => return Ok(()),
            K::ParenExpr | K::ConstantExpr if node.inner.len() == 1 => return self.fill(image, &node.inner[0], ty, at),
            K::StringLiteral | K::PredefinedExpr if !ty.is_pointer() => {
                let Some(bytes) = string_literals::bytes(node, self) else { return refuse(Construct::StringLiteral) };
                if matches!(ty.kind, TypeKind::OpenArray(_)) {
                    image.grow(at + bytes.len() as u64);
                    return image.put(at, &bytes);
                }
                let length = bytes.len().min(self.program.types.size(ty) as usize);
                return image.put(at, &bytes[..length]);
            }
            K::CompoundLiteralExpr if !ty.is_pointer() => return self.fill_first(image, node, ty, at),
            K::ImplicitCastExpr if node.cast == Cast::LValueToRValue && ty.is_record() => {
                return self.fill_first(image, node, ty, at);
            }
            K::ImplicitCastExpr | K::CStyleCastExpr if node.cast == Cast::NoOp && ty.is_record() => {
                return self.fill_first(image, node, ty, at);
            }
            K::InitListExpr => match &ty.kind {
                TypeKind::Array(element, _) | TypeKind::Vector(element, _) => {
                    return self.fill_array(image, node, element, at);
                }
                TypeKind::Complex(part) if node.inner.len() == 2 => return self.fill_array(image, node, part, at),
                TypeKind::Record(id) => return self.fill_record(image, node, *id, at),
                // The initial elements of a flexible array member make the object larger than its type.
                TypeKind::OpenArray(element) => {
                    image.grow(at + self.program.types.size(element) * elements(node).len() as u64);
                    return self.fill_array(image, node, element, at);
                }
                _ => {
                    return match node.inner.first() {
                        Some(inner) => self.fill(image, inner, ty, at),
                        None => Ok(()),
                    };
                }
            },
            _ => {}
        }
        if ty.wide().is_some() {
            let Some(value) = self.const_wide(node) else { return refuse(Construct::Int128Initialiser) };
            return image.put(at, &value.to_le_bytes());
        }
        if ty.is_long_double() {
            let Some(value) = self.const_long_double(node) else { return refuse(Construct::LongDoubleInitialiser) };
            image.put(at, &value.significand.to_le_bytes())?;
            return image.put(at + 8, &value.head.to_le_bytes());
        }
        if let Some(part) = ty.complex() {
            let Some(parts) = self.const_complex(node) else { return refuse(Construct::ComplexInitialiser) };
            let size = self.program.types.size(&part);
            for (index, value) in parts.into_iter().enumerate() {
                image.put(at + index as u64 * size, &value.bytes(size))?;
            }
            return Ok(());
        }
        if ty.vector().is_some() {
            return refuse(Construct::VectorInitialiser);
        }
        let value = self.constant(node)?;
        self.store(image, value, ty, at)
    }
    fn fill_first(&mut self, image: &mut Image, node: &AstNode, ty: &Type, at: u64) -> Evaluated<()> {
        match node.inner.first() {
            Some(inner) => self.fill(image, inner, ty, at),
            None => refuse(Construct::Initialiser),
        }
    }
    fn fill_array(&mut self, image: &mut Image, node: &AstNode, element: &Type, at: u64) -> Evaluated<()> {
        let size = self.program.types.size(element);
        for (index, value) in elements(node).iter().enumerate() {
            self.fill(image, value, element, at + index as u64 * size)?;
        }
        Ok(())
    }
    fn fill_record(&mut self, image: &mut Image, node: &AstNode, id: usize, at: u64) -> Evaluated<()> {
        let record = self.program.types.records[id].clone();
        if let Some(problem) = record.problem {
            return refuse(problem);
        }
        if record.is_union {
            let Some(value) = node.inner.first() else { return Ok(()) };
            let wanted = node.decl.as_ref().map(|decl| decl.id);
            let Some(field) = record.fields.iter().find(|field| Some(field.id) == wanted) else {
                return refuse(Construct::Union);
            };
            return self.fill(image, value, &field.ty, at);
        }
        let fields = record.fields.iter().filter(|field| field.bits.is_none() || !field.name.is_empty());
        for (field, value) in fields.zip(&node.inner) {
            match field.bits {
                None => self.fill(image, value, &field.ty, at + field.offset)?,
                Some((bit, width)) => {
                    if let Some(value) = self.const_int(value) {
                        image.put_bits(at * 8 + bit, width, value);
                    } else {
                        return refuse(Construct::BitFieldInitialiser);
                    }
                }
            }
        }
        Ok(())
    }
    fn store(&mut self, image: &mut Image, value: Constant, ty: &Type, at: u64) -> Evaluated<()> {
        let size = self.program.types.size(ty) as usize;
        match (value, &ty.kind) {
            (Constant::Int(value), TypeKind::Bool) => image.put(at, &[u8::from(value != 0)]),
            (
                Constant::Int(value),
                TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) | TypeKind::Pointer(_),
            ) => image.put(at, &value.to_le_bytes()[..size]),
            (Constant::Address(global, addend), _) if size == 8 => {
                image.addresses.push((at, global, addend));
                Ok(())
            }
            _ => refuse(self.program.types.unsupported(ty).unwrap_or(Construct::Initialiser)),
        }
    }

    fn constant(&mut self, node: &AstNode) -> Evaluated<Constant> {
        if let Some(value) = self.const_int(node).or_else(|| self.const_float(node)) {
            return Ok(Constant::Int(value));
        }
        let ty = self.type_of(node);
        let first = |node: &AstNode| node.inner.first().cloned().ok_or(Construct::Initialiser);
        match &node.kind {
            K::ParenExpr | K::ConstantExpr => self.constant(&first(node)?),
            K::GenericSelectionExpr => match selected(node) {
                Some(node) => self.constant(node),
                None => refuse(Construct::GenericSelection),
            },
            K::ImplicitCastExpr | K::CStyleCastExpr => self.constant_cast(node, &first(node)?, &ty),
            K::UnaryOperator => match (&node.opcode, first(node)?) {
                (Opcode::Amp, inner) => self.address(&inner),
                (Opcode::Extension | Opcode::Plus, inner) => self.constant(&inner),
                _ => refuse(Construct::Initialiser),
            },
            K::BinaryOperator => self.constant_sum(node, &ty),
            K::ConditionalOperator => {
                let [condition, yes, no] = node.inner.as_slice() else { return refuse(Construct::Initialiser) };
                match self.const_int(condition) {
                    Some(truth) => self.constant(if truth != 0 { yes } else { no }),
                    None => refuse(Construct::Initialiser),
                }
            }
            K::ImplicitValueInitExpr => Ok(Constant::Int(0)),
            K::InitListExpr => match node.inner.first() {
                Some(inner) => self.constant(inner),
                None => Ok(Constant::Int(0)),
            },
            K::AddrLabelExpr => match self.label_address(node) {
                Some(number) => Ok(Constant::Int(number)),
                None => refuse(Construct::LabelAddress),
            },
            K::ChooseExpr => match self.chosen(node) {
                Some(node) => self.constant(node),
                None => refuse(Construct::ChooseExpression),
            },
            _ => refuse(self.program.types.unsupported(&ty).unwrap_or(Construct::Initialiser)),
        }
    }

    fn constant_cast(&mut self, node: &AstNode, inner: &AstNode, ty: &Type) -> Evaluated<Constant> {
        match &node.cast {
            Cast::ArrayToPointerDecay | Cast::FunctionToPointerDecay => self.address(inner),
            Cast::NullToPointer => Ok(Constant::Int(0)),
            Cast::NoOp | Cast::BitCast | Cast::NonAtomicToAtomic => self.constant(inner),
            Cast::PointerToIntegral | Cast::IntegralCast if self.program.types.size(ty) == 8 => self.constant(inner),
            Cast::IntegralCast => match self.constant(inner)? {
                Constant::Int(value) => Ok(Constant::Int(value)),
                Constant::Address(..) => refuse(Construct::NarrowAddress),
            },
            Cast::IntegralToPointer => match self.constant(inner)? {
                Constant::Int(_) => self
                    .const_signed(inner)
                    .map_or_else(|| refuse(Construct::Initialiser), |value| Ok(Constant::Int(value as u64))),
                other => Ok(other),
            },
            Cast::FloatingCast | Cast::IntegralToFloating | Cast::FloatingToIntegral => {
                let types = &self.program.types;
                refuse(
                    types
                        .unsupported(ty)
                        .or_else(|| types.unsupported(&self.type_of(inner)))
                        .unwrap_or(Construct::Initialiser),
                )
            }
            _ => refuse(Construct::Initialiser),
        }
    }

    /// Evaluates the sum or difference of a pointer and an integer.
    fn constant_sum(&mut self, node: &AstNode, ty: &Type) -> Evaluated<Constant> {
        let [left, right] = node.inner.as_slice() else { return refuse(Construct::Initialiser) };
        if let Some(what) = self.program.types.unsupported(ty) {
            return refuse(what);
        }
        let scale = match ty.element() {
            Some(element) => self.program.types.size(element) as i64,
            None => 1,
        };
        let (pointer, number, sign) = match &node.opcode {
            Opcode::Plus if self.const_int(left).is_some() => (right, left, 1),
            Opcode::Plus => (left, right, 1),
            Opcode::Minus => (left, right, -1),
            _ => return refuse(Construct::Initialiser),
        };
        if let (Opcode::Minus, Ok(Constant::Int(a)), Ok(Constant::Int(b))) =
            (&node.opcode, self.constant(left), self.constant(right))
            && self.type_of(right).is_pointer()
        {
            // Addresses of labels are numbers.
            return Ok(Constant::Int(a.wrapping_sub(b)));
        }
        let (Constant::Address(global, addend), Some(number)) = (self.constant(pointer)?, self.const_signed(number))
        else {
            return refuse(Construct::Initialiser);
        };
        Ok(Constant::Address(global, addend.wrapping_add(number.wrapping_mul(scale * sign))))
    }

    /// Evaluates the address of an lvalue.
    fn address(&mut self, node: &AstNode) -> Evaluated<Constant> {
        let Some(first) = node.inner.first() else { return self.leaf_address(node) };
        match &node.kind {
            K::ParenExpr | K::ImplicitCastExpr => self.address(first),
            K::UnaryOperator if node.opcode == Opcode::Star => self.constant(first),
            K::UnaryOperator if node.opcode == Opcode::Extension => self.address(first),
            K::ArraySubscriptExpr => {
                let [base, index] = node.inner.as_slice() else { return refuse(Construct::Initialiser) };
                let (base, index) = if self.type_of(base).is_pointer() { (base, index) } else { (index, base) };
                let size = self.program.types.size(&self.type_of(node)) as i64;
                match (self.constant(base)?, self.const_signed(index)) {
                    (Constant::Address(global, addend), Some(index)) => {
                        Ok(Constant::Address(global, addend.wrapping_add(index.wrapping_mul(size))))
                    }
                    _ => refuse(Construct::Initialiser),
                }
            }
            K::MemberExpr => {
                let base = if node.is_arrow { self.constant(first)? } else { self.address(first)? };
                let Some(&(record, field)) = self.fields.get(&node.link) else { return refuse(Construct::Initialiser) };
                let field = &self.program.types.records[record].fields[field];
                match base {
                    Constant::Address(global, addend) if field.bits.is_none() => {
                        Ok(Constant::Address(global, addend.wrapping_add(field.offset as i64)))
                    }
                    Constant::Int(value) => Ok(Constant::Int(value.wrapping_add(field.offset))),
                    _ => refuse(Construct::Initialiser),
                }
            }
            _ => self.leaf_address(node),
        }
    }
    fn leaf_address(&mut self, node: &AstNode) -> Evaluated<Constant> {
        let ty = self.type_of(node);
        let span = self.span(node);
        match &node.kind {
            K::StringLiteral | K::PredefinedExpr => match self.string_global(node, span) {
                Some(global) => Ok(Constant::Address(global, 0)),
                None => refuse(Construct::StringLiteral),
            },
            K::CompoundLiteralExpr => {
                let Some(value) = node.inner.first() else { return refuse(Construct::CompoundLiteral) };
                let file = self.file.clone();
                let global = self.program.static_local(".literal", &ty, span, &file);
                let init = self.global_init(global, value, &ty);
                self.program.globals[global].init = Some(init);
                self.program.globals[global].linkage = Linkage::Local;
                Ok(Constant::Address(global, 0))
            }
            K::DeclRefExpr => {
                let Some(decl) = &node.decl else { return refuse(Construct::Initialiser) };
                match &decl.kind {
                    K::FunctionDecl => {
                        let global = self.function_address(&decl.name.clone(), decl.ty.as_ref(), span);
                        Ok(Constant::Address(global, 0))
                    }
                    K::VarDecl => {
                        let global = match self.static_locals.get(&decl.id) {
                            Some(&global) => global,
                            None => self.global_named(&decl.name, decl.ty.as_ref()),
                        };
                        Ok(Constant::Address(global, 0))
                    }
                    _ => refuse(Construct::Initialiser),
                }
            }
            _ => refuse(Construct::Initialiser),
        }
    }
    /// Returns the global of a string literal.
    pub fn string_global(&mut self, node: &AstNode, span: Span) -> Option<GlobalId> {
        let ty = self.type_of(node);
        let bytes = string_literals::bytes(node, self)?;
        Some(self.program.literal(bytes, &ty, span))
    }
}

/// Returns the explicit elements of an array initialiser; the rest is zero.
pub(crate) fn elements(node: &AstNode) -> &[AstNode] {
    if node.filler.is_empty() { &node.inner } else { &node.filler[1..] }
}

impl Image {
    fn put(&mut self, at: u64, bytes: &[u8]) -> Evaluated<()> {
        match self.bytes.get_mut(at as usize..at as usize + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                Ok(())
            }
            None => refuse(Construct::Initialiser),
        }
    }
    fn grow(&mut self, size: u64) {
        if size < MAX_IMAGE_BYTES && self.bytes.len() < size as usize {
            self.bytes.resize(size as usize, 0);
        }
    }
    fn put_bits(&mut self, first: u64, width: u64, value: u64) {
        for bit in 0..width.min(64) {
            let at = first + bit;
            if value >> bit & 1 == 1
                && let Some(byte) = self.bytes.get_mut((at / 8) as usize)
            {
                *byte |= 1 << (at % 8);
            }
        }
    }
    /// Returns the bytes between the addresses, without leading and trailing zeros.
    fn pieces(mut self) -> Vec<Init> {
        self.addresses.sort_by_key(|address| address.0);
        let mut pieces = Vec::new();
        let mut at = 0usize;
        let end = (self.bytes.len() as u64, None);
        let stops = self.addresses.iter().map(|&(offset, global, addend)| (offset, Some((global, addend))));
        for (offset, address) in stops.chain([end]) {
            let run = self.bytes.get(at..offset as usize).unwrap_or_default();
            if let Some(first) = run.iter().position(|&byte| byte != 0) {
                let last = run.iter().rposition(|&byte| byte != 0).unwrap_or(first);
                pieces.push(Init::Bytes { offset: (at + first) as u64, bytes: run[first..=last].to_vec() });
            }
            if let Some((global, addend)) = address {
                pieces.push(Init::GlobalAddr { offset, global, addend });
                at = offset as usize + 8;
            }
        }
        pieces
    }
}
