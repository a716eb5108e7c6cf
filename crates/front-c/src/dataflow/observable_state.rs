//! Observable state where a function returns: its variables and those of the unit, with their members and elements, as
//! expressions of scalar, string or pointer type.

use super::actions::{Observable, ValueForm};
use super::object_names::spelled;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use std::collections::BTreeMap;

/// The maximum depth of members and pointees.
const MAX_DEPTH: usize = 3;
/// The maximum number of elements of an array that are observed.
const MAX_ELEMENTS: u64 = 8;

/// The types of a unit by their spelling.
#[derive(Default)]
pub(super) struct ObservableTypes {
    /// The members of structures and unions: their names and the spellings of their types.
    records: BTreeMap<String, Vec<(String, String)>>,
    typedefs: BTreeMap<String, String>,
    enums: BTreeMap<String, Vec<(String, i64)>>,
    /// The last structure, union or enumeration if it is unnamed: a typedef may name it.
    nameless: Option<Nameless>,
}

enum Nameless {
    Record(Vec<(String, String)>),
    Enum(Vec<(String, i64)>),
}

impl ObservableTypes {
    /// Registers a declaration of the unit.
    pub fn declaration(&mut self, node: &AstNode) {
        match node.kind {
            K::RecordDecl if node.is_complete => {
                let fields = node.inner.iter().filter(|child| child.kind == K::FieldDecl && !child.is_bitfield);
                let fields = fields.filter(|field| !field.name.is_empty());
                let fields = fields.map(|field| (field.name.clone(), spelled(field.ty.as_ref()).to_string())).collect();
                match node.name.is_empty() {
                    true => self.nameless = Some(Nameless::Record(fields)),
                    false => drop(self.records.insert(format!("{} {}", node.tag, node.name), fields)),
                }
            }
            K::EnumDecl => {
                let constants = constants(node);
                match node.name.is_empty() {
                    true => self.nameless = Some(Nameless::Enum(constants)),
                    false => drop(self.enums.insert(format!("enum {}", node.name), constants)),
                }
            }
            K::TypedefDecl => {
                let ty = spelled(node.ty.as_ref()).to_string();
                let is_its_own = ty.rsplit(' ').next() == Some(&node.name) || ty.contains('(');
                match self.nameless.take().filter(|_| is_its_own) {
                    Some(Nameless::Record(fields)) => drop(self.records.insert(node.name.clone(), fields)),
                    Some(Nameless::Enum(constants)) => drop(self.enums.insert(node.name.clone(), constants)),
                    None => drop(self.typedefs.insert(node.name.clone(), ty)),
                }
            }
            _ => self.nameless = None,
        }
    }

    /// Returns the observable expressions of a variable. A pointee of one pointer is included, since its address is
    /// known without a dereference; deeper ones are not.
    pub fn of_variable(&self, name: &str, ty: &str) -> Vec<Observable> {
        let mut found = Vec::new();
        self.look(name, ty, 0, &mut found);
        found.retain(|seen| seen.text.matches("->").count() + seen.text.matches('*').count() <= 1);
        found
    }

    fn look(&self, text: &str, ty: &str, depth: usize, found: &mut Vec<Observable>) {
        let ty = self.plain(ty);
        if depth > MAX_DEPTH || ty.contains("volatile") || ty.contains("_Atomic") {
            return;
        }
        let mut add = |form: ValueForm| found.push(Observable { text: text.to_string(), form });
        if let Some((element, rest)) = ty.split_once('[') {
            let Some((count, more)) = rest.split_once(']') else { return };
            let Ok(count) = count.parse::<u64>() else { return };
            if self.plain(element) == "char" && more.is_empty() {
                return add(ValueForm::Text);
            }
            for index in 0..count.min(MAX_ELEMENTS) {
                self.look(&format!("{text}[{index}]"), &format!("{}{more}", element.trim_end()), depth + 1, found);
            }
            return;
        }
        if let Some(pointee) = ty.strip_suffix('*') {
            let pointee = self.plain(pointee);
            if pointee.contains("(") {
                return;
            }
            add(if pointee == "char" { ValueForm::PointedText } else { ValueForm::Pointer });
            if let Some(fields) = self.records.get(&pointee) {
                for (name, ty) in fields {
                    self.look(&format!("{text}->{name}"), ty, depth + 1, found);
                }
            } else if scalar(&pointee).is_some() && pointee != "char" {
                self.look(&format!("*{text}"), &pointee, depth + 1, found);
            }
            return;
        }
        if let Some(fields) = self.records.get(&ty) {
            for (name, ty) in fields {
                self.look(&format!("{text}.{name}"), ty, depth + 1, found);
            }
        } else if let Some(constants) = self.enums.get(&ty) {
            add(ValueForm::Enum(constants.clone()));
        } else if let Some(form) = scalar(&ty) {
            add(form);
        }
    }

    /// Returns the spelling of a type without qualifiers and typedefs.
    fn plain(&self, ty: &str) -> String {
        let words = |ty: &str| {
            let spaced = ty.replace('*', " * ");
            let words = spaced.split_whitespace().filter(|word| !matches!(*word, "const" | "restrict" | "__restrict"));
            words.collect::<Vec<_>>().join(" ")
        };
        let mut plain = words(ty);
        for _ in 0..20 {
            let end = plain.find([' ', '*', '[']).unwrap_or(plain.len());
            let Some(meant) = self.typedefs.get(&plain[..end]) else { break };
            plain = words(&format!("{meant}{}", &plain[end..]));
        }
        plain
    }
}

fn constants(node: &AstNode) -> Vec<(String, i64)> {
    let mut next = 0;
    let mut found = Vec::new();
    for constant in node.inner.iter().filter(|child| child.kind == K::EnumConstantDecl) {
        let given = constant.inner.iter().find_map(|child| child.value.as_ref()?.parse::<i64>().ok());
        next = given.unwrap_or(next);
        found.push((constant.name.clone(), next));
        next += 1;
    }
    found
}

/// Returns the kind of an arithmetic type.
fn scalar(ty: &str) -> Option<ValueForm> {
    Some(match ty {
        "_Bool" | "bool" => ValueForm::Bool,
        "float" => ValueForm::Float,
        "double" => ValueForm::Double,
        "char" | "signed char" | "short" | "int" | "long" | "long long" => ValueForm::Signed,
        "unsigned char" | "unsigned short" | "unsigned int" | "unsigned long" | "unsigned long long" => {
            ValueForm::Unsigned
        }
        _ => return None,
    })
}
