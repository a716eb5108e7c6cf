//! Declarations of types: typedefs, structures, unions and enumerations. Reads them into the type table of the program.

use crate::clang::ast_enums::TagKind;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::unit::Unit;
use crate::types::ctype::{FieldDecl, RecordLayout, Type, TypeKind};
use crate::types::scope::TagType;
use touchstone_ir::EnumItem;

impl Unit<'_> {
    /// Registers a declaration of a type, at file or block scope.
    pub fn type_declaration(&mut self, node: &AstNode) {
        match &node.kind {
            K::TypedefDecl => self.typedef(node),
            K::RecordDecl => self.record(node),
            K::EnumDecl => self.enumeration(node),
            _ => {}
        }
    }

    fn typedef(&mut self, node: &AstNode) {
        self.note_aliasing(node);
        let direct = node.inner.first().and_then(|inner| self.declared_tag(inner));
        let mut ty = match direct {
            Some(TagType::Record(id)) => {
                let record = &mut self.program.types.records[id];
                if !record.named {
                    record.named = true;
                    record.name = node.name.clone();
                    self.program.types.refresh_record(id);
                }
                Type::plain(TypeKind::Record(id))
            }
            Some(TagType::Enum(id)) => {
                let info = &mut self.program.types.enums[id];
                if !info.named {
                    info.named = true;
                    info.name = node.name.clone();
                    self.program.types.refresh_enum(id);
                }
                Type::plain(TypeKind::Enum(id))
            }
            None => self.type_of(node),
        };
        if node.inner.iter().any(|inner| inner.kind == K::AlignedAttr) {
            ty = Type::unsupported(&node.name, Construct::AlignedTypedef);
        }
        self.scopes.add_typedef(&node.name, ty);
        self.forget_types();
    }

    /// Redefines a typedef from here on.
    pub fn redefine_type(&mut self, name: &str, ty: Type) {
        self.scopes.add_typedef(name, ty);
        self.forget_types();
    }

    /// Returns the tag of a type node without pointers, arrays or qualifiers around it.
    fn declared_tag(&self, node: &AstNode) -> Option<TagType> {
        match &node.kind {
            K::ElaboratedType => match self.scopes.by_id.get(&node.link) {
                Some(&tag) => Some(tag),
                None => node.inner.first().and_then(|inner| self.declared_tag(inner)),
            },
            K::RecordType | K::EnumType => self.scopes.by_id.get(&node.decl.as_ref()?.id).copied(),
            _ => None,
        }
    }

    fn unnamed_key(&self, node: &AstNode) -> Option<String> {
        let loc = node.loc.expansion?;
        Some(format!("{}:{}:{}", self.names.get(loc.file as usize)?, loc.line, loc.column))
    }

    /// Returns the tag of a declaration, if an earlier one introduced it.
    fn earlier_tag(&self, node: &AstNode, full: &str) -> Option<TagType> {
        self.scopes
            .by_id
            .get(&node.link)
            .copied()
            .or_else(|| if node.name.is_empty() { None } else { self.scopes.own_tag(full) })
    }

    fn record(&mut self, node: &AstNode) {
        let full = format!("{} {}", node.tag, node.name);
        let id = match self.earlier_tag(node, &full) {
            Some(TagType::Record(id)) => id,
            _ => {
                let named = !node.name.is_empty();
                let key = self.unnamed_key(node).unwrap_or_default();
                let name = if named { full.clone() } else { format!("{} (unnamed at {key})", node.tag) };
                let id = self.program.types.new_record(name, named, node.tag == TagKind::Union);
                if named {
                    self.scopes.add_tag(&full, TagType::Record(id));
                } else {
                    self.scopes.unnamed.insert(key, TagType::Record(id));
                }
                self.forget_types();
                id
            }
        };
        self.scopes.by_id.insert(node.id, TagType::Record(id));
        self.note_aliasing(node);
        if !node.is_complete {
            return;
        }
        let mut fields = Vec::new();
        let (mut packed, mut aligned, mut most) = (false, None, self.program.types.packing);
        for inner in &node.inner {
            match &inner.kind {
                K::RecordDecl | K::EnumDecl => self.type_declaration(inner),
                K::FieldDecl => fields.push(self.field(inner)),
                K::PackedAttr => packed = true,
                K::AlignedAttr => aligned = self.alignment(inner).max(aligned),
                K::MaxFieldAlignmentAttr => {
                    most = self.pragma_pack(node);
                    if most.is_none() {
                        self.program.types.records[id].problem = Some(Construct::PragmaPack);
                    }
                }
                _ => {}
            }
        }
        // The macro `scalar_storage_order` (`clang/flags.rs`) marks records with this attribute, too.
        if node.inner.iter().any(|inner| inner.kind.word() == "MSStructAttr") {
            self.program.types.records[id].problem = Some(Construct::RecordLayout);
        } else if self.may_be_reversed(node) {
            self.program.types.records[id].problem = Some(Construct::StorageOrder);
        }
        for field in &fields {
            let own = self.program.types.align(&field.ty).min(most.unwrap_or(u64::MAX));
            let own = if packed || field.packed { 1 } else { own };
            self.alignments.insert(field.id, own.max(field.aligned.unwrap_or(1)));
        }
        let ids: Vec<u64> = fields.iter().filter(|field| field.width != Some(0)).map(|field| field.id).collect();
        self.program.types.complete_record(id, fields, RecordLayout { packed, aligned, most });
        self.fields.extend(ids.into_iter().enumerate().map(|(index, field)| (field, (id, index))));
        self.forget_types();
    }

    /// Returns the `#pragma pack` in effect at a record. clang's JSON does not contain it, so the preceding directives
    /// of the file are parsed; `None` if they don't determine it.
    fn pragma_pack(&self, node: &AstNode) -> Option<u64> {
        let begin = node.begin.expansion?;
        let text = self.program.sources.text(self.names.get(begin.file as usize)?);
        crate::types::packing::in_effect(std::str::from_utf8(text.get(..begin.offset as usize)?).ok()?)
    }

    fn field(&mut self, node: &AstNode) -> FieldDecl {
        let width = if node.is_bitfield { node.inner.first().and_then(|width| self.const_int(width)) } else { None };
        let mut aligned = None;
        for attribute in node.inner.iter().filter(|inner| inner.kind == K::AlignedAttr) {
            aligned = self.alignment(attribute).max(aligned);
        }
        FieldDecl {
            id: node.id,
            name: node.name.clone(),
            ty: self.type_of(node),
            width,
            packed: node.inner.iter().any(|inner| inner.kind == K::PackedAttr),
            aligned,
        }
    }

    /// Returns the value of an `aligned` attribute; without an argument, the largest alignment.
    pub fn alignment(&self, node: &AstNode) -> Option<u64> {
        match node.inner.first() {
            Some(value) => self.const_int(value),
            None => Some(16),
        }
    }

    fn enumeration(&mut self, node: &AstNode) {
        let full = format!("enum {}", node.name);
        let id = match self.earlier_tag(node, &full) {
            Some(TagType::Enum(id)) => id,
            _ => {
                let named = !node.name.is_empty();
                let key = self.unnamed_key(node).unwrap_or_default();
                let name = if named { full.clone() } else { format!("enum (unnamed at {key})") };
                let id = self.program.types.new_enum(name, named);
                if named {
                    self.scopes.add_tag(&full, TagType::Enum(id));
                } else {
                    self.scopes.unnamed.insert(key, TagType::Enum(id));
                }
                self.forget_types();
                id
            }
        };
        self.scopes.by_id.insert(node.id, TagType::Enum(id));
        let mut items = Vec::new();
        let mut next = 0i64;
        for item in node.inner.iter().filter(|inner| inner.kind == K::EnumConstantDecl) {
            let written = item.inner.iter().find(|inner| inner.kind.is_expression());
            let value = written.and_then(|value| self.const_signed(value)).unwrap_or(next);
            next = value.wrapping_add(1);
            self.constants.insert(item.id, value);
            self.scopes.constants.insert(item.name.clone(), value);
            items.push(EnumItem { name: item.name.clone(), value });
        }
        if items.is_empty() {
            return;
        }
        let packed = self.program.types.short_enums || node.inner.iter().any(|inner| inner.kind == K::PackedAttr);
        let fixed = node.arg_type.as_ref().map(|text| self.type_named(text));
        let (bits, signed) = match fixed {
            Some(ty) => (self.program.types.scalar(&ty).bits(), self.program.types.is_signed(&ty)),
            None => enum_layout(&items, packed),
        };
        let info = &mut self.program.types.enums[id];
        info.bits = bits;
        info.signed = signed;
        info.items = items;
        self.program.types.refresh_enum(id);
        self.forget_types();
    }
}

/// Returns the width and signedness that GNU C chooses for an enumeration.
fn enum_layout(items: &[EnumItem], packed: bool) -> (u8, bool) {
    let lowest = items.iter().map(|item| item.value).min().unwrap_or(0);
    let highest = items.iter().map(|item| item.value).max().unwrap_or(0);
    let signed = lowest < 0;
    let widths: &[u8] = if packed { &[8, 16, 32, 64] } else { &[32, 64] };
    let fits = |bits: &&u8| {
        let bits = u32::from(**bits);
        if signed {
            bits == 64 || (lowest >= -(1i64 << (bits - 1)) && highest < 1i64 << (bits - 1))
        } else {
            bits == 64 || highest < 1i64 << bits
        }
    };
    (*widths.iter().find(fits).unwrap_or(&64), signed)
}
