//! Attributes of variables and types, and assembly that names variables: opaque code that the module does not contain.
//!
//! An attribute is harmless only if it is known to be. Any other one makes the variable accessible to opaque code:
//! `section` places it where `__start_` symbols and linker scripts find it, `used` says that something unseen uses it,
//! an assembler label gives it another symbol.

use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::unit::Unit;
use rustc_hash::FxHashSet;
use std::path::Path;
use touchstone_base::Id;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{GlobalId, GlobalRole, Linkage};

/// Attributes of variables without an effect on their values.
const HARMLESS: [&str; 24] = [
    "AlignedAttr",
    "AnnotateAttr",
    "CommonAttr",
    "ConstAttr",
    "DeprecatedAttr",
    "FormatAttr",
    "MaxFieldAlignmentAttr",
    "MayAliasAttr",
    "ModeAttr",
    "NoCommonAttr",
    "NoDebugAttr",
    "NoDestroyAttr",
    "NoSanitizeAttr",
    "NoThrowAttr",
    "NonNullAttr",
    "NonStringAttr",
    "PackedAttr",
    "PureAttr",
    "TLSModelAttr",
    "TransparentUnionAttr",
    "UninitializedAttr",
    "UnusedAttr",
    "VisibilityAttr",
    "WeakAttr",
];

/// Returns true if an attribute lets opaque code access the variable.
fn is_exposed(node: &AstNode) -> bool {
    !is_injected(Fault::AttributesIgnored)
        && node.inner.iter().any(|inner| inner.kind.is_attribute() && !HARMLESS.contains(&inner.kind.word()))
}

/// Returns true if a function is called at the end of a local variable's scope.
pub(crate) fn has_cleanup(node: &AstNode) -> bool {
    node.inner.iter().any(|inner| inner.kind.word() == "CleanupAttr")
}

impl Unit<'_> {
    /// Records the attributes of a variable with static storage duration.
    pub fn note_attributes(&mut self, node: &AstNode, id: GlobalId) {
        if is_exposed(node) {
            self.expose(id);
        }
    }

    /// Records that opaque code can access a variable.
    pub fn expose(&mut self, id: GlobalId) {
        let global = &mut self.program.globals[id];
        if global.role == GlobalRole::Variable {
            global.role = GlobalRole::Exposed;
        }
    }

    /// Records that the file contains instructions in assembly, which can access its variables by their symbols.
    pub fn note_assembly(&mut self) {
        self.has_assembly = true;
    }

    /// Exposes the private variables that this file added, if it contains assembly.
    pub fn expose_to_assembly(&mut self) {
        if !self.has_assembly || self.is_library() {
            return;
        }
        let own = (self.first_global..self.program.globals.len()).map(GlobalId::new);
        let private = |id: &GlobalId| matches!(self.program.globals[*id].linkage, Linkage::Internal | Linkage::Local);
        for id in own.filter(private).collect::<Vec<_>>() {
            self.expose(id);
        }
    }

    /// Returns true if the text of the file, or of a file that it includes, contains a word. Headers of the system are left
    /// out.
    pub fn mentions(&self, word: &[u8]) -> bool {
        let is_own = |name: &str| !name.starts_with("/usr/") && !name.starts_with('<');
        let own = self.names.iter().map(AsRef::as_ref).filter(|name| is_own(name));
        let mut pending: Vec<String> = own.chain([self.file.as_ref()]).map(str::to_string).collect();
        let mut seen: FxHashSet<String> = FxHashSet::default();
        while let Some(name) = pending.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let text = self.program.sources.text(&name);
            if memchr::memmem::find(&text, word).is_some() {
                return true;
            }
            let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
            for line in String::from_utf8_lossy(&text).lines() {
                let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
                let quoted = directive.and_then(|rest| rest.strip_prefix("include")?.trim_start().strip_prefix('"'));
                let included = quoted.and_then(|rest| rest.split_once('"')).map(|(name, _)| folder.join(name));
                pending.extend(included.map(|path| path.to_string_lossy().into_owned()));
            }
        }
        false
    }

    /// Returns true if the file of a record may reverse the bytes of members by a directive, which clang ignores.
    pub fn may_be_reversed(&self, node: &AstNode) -> bool {
        let name = node.begin.expansion.and_then(|begin| self.names.get(begin.file as usize));
        name.is_some_and(|name| {
            memchr::memmem::find(&self.program.sources.text(name), b"scalar_storage_order").is_some()
        })
    }

    /// Records a type through which objects of any type may be accessed.
    pub fn note_aliasing(&mut self, node: &AstNode) {
        self.program.any_aliasing |= node.inner.iter().any(|inner| inner.kind.word() == "MayAliasAttr");
    }
}

/// Returns true for assembly at file scope.
pub(crate) fn is_file_assembly(kind: &K) -> bool {
    kind.word() == "FileScopeAsmDecl"
}
