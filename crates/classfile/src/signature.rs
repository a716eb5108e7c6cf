//! Generic signatures (JVM specification, section 4.7.9.1). Wildcards are read as their bounds.

use super::descriptor::Desc;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type with type arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Generic {
    /// A primitive type or `void`.
    Value(Desc),
    /// A class with its type arguments; no arguments if it is raw or not generic.
    Class(Arc<str>, Vec<Generic>),
    /// An array.
    Array(Box<Generic>),
    /// A type variable.
    Variable(Arc<str>),
}

/// A type parameter with its first bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeParameter {
    /// Its name.
    pub name: Arc<str>,
    /// Its first bound.
    pub bound: Generic,
}

/// The signature of a class or a method. The types of a class are its superclass and superinterfaces; those of a method
/// are its parameters and then its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GenericSignature {
    /// Type parameters.
    pub formals: Vec<TypeParameter>,
    /// Types.
    pub types: Vec<Generic>,
}

const OBJECT: &str = "java/lang/Object";

impl Generic {
    /// Returns a class without type arguments.
    pub fn class(name: &str) -> Generic {
        Generic::Class(name.into(), Vec::new())
    }

    /// Returns the type of a descriptor.
    pub fn of(desc: &Desc) -> Generic {
        match desc {
            Desc::Ref(name) => match name.strip_prefix('[').and_then(Desc::parse) {
                Some(element) => Generic::Array(Box::new(Generic::of(&element))),
                None => Generic::Class(name.clone(), Vec::new()),
            },
            value => Generic::Value(value.clone()),
        }
    }

    /// Returns the erasure.
    pub fn erased(&self) -> Desc {
        match self {
            Generic::Value(desc) => desc.clone(),
            Generic::Class(name, _) => Desc::Ref(name.clone()),
            Generic::Array(element) => Desc::Ref(format!("[{}", element.erased().text()).into()),
            Generic::Variable(_) => Desc::Ref(OBJECT.into()),
        }
    }

    /// Substitutes type variables. Variables without a substitution become `Object`.
    pub fn with(&self, types: &BTreeMap<Arc<str>, Generic>) -> Generic {
        match self {
            Generic::Value(_) => self.clone(),
            Generic::Class(name, arguments) => {
                Generic::Class(name.clone(), arguments.iter().map(|argument| argument.with(types)).collect())
            }
            Generic::Array(element) => Generic::Array(Box::new(element.with(types))),
            Generic::Variable(name) => types.get(name).cloned().unwrap_or_else(|| Generic::class(OBJECT)),
        }
    }

    /// Returns the type as source, with qualified names.
    pub fn text(&self) -> String {
        match self {
            Generic::Value(desc) => desc.word().unwrap_or("Object").to_string(),
            Generic::Class(name, arguments) => {
                let name = name.replace(['/', '$'], ".");
                let arguments: Vec<String> = arguments.iter().map(Generic::text).collect();
                if arguments.is_empty() { name } else { format!("{name}<{}>", arguments.join(", ")) }
            }
            Generic::Array(element) => format!("{}[]", element.text()),
            Generic::Variable(_) => "Object".to_string(),
        }
    }
}

impl GenericSignature {
    /// Parses the signature of a class or a method.
    pub fn parse(text: &str) -> Option<GenericSignature> {
        let mut reader = Reader { rest: text, depth: 0 };
        let formals = reader.formals()?;
        let mut types = Vec::new();
        let is_method = reader.take("(");
        while !reader.rest.is_empty() && !reader.rest.starts_with('^') {
            if is_method && reader.take(")") {
                continue;
            }
            types.push(reader.generic()?);
        }
        Some(GenericSignature { formals, types })
    }
}

/// The maximum depth of nested types.
const MAX_DEPTH: u32 = 64;

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl Reader<'_> {
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn until(&mut self, ends: &[char]) -> Option<Arc<str>> {
        let end = self.rest.find(ends)?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word.into())
    }

    fn formals(&mut self) -> Option<Vec<TypeParameter>> {
        let mut formals = Vec::new();
        if !self.take("<") {
            return Some(formals);
        }
        while !self.take(">") {
            let name = self.until(&[':'])?;
            let mut bound = None;
            while self.take(":") {
                // A class bound may be omitted before an interface bound.
                if !self.rest.starts_with(':') {
                    bound = bound.or(Some(self.generic()?));
                }
            }
            formals.push(TypeParameter { name, bound: bound? });
        }
        Some(formals)
    }

    fn generic(&mut self) -> Option<Generic> {
        self.depth += 1;
        let read = if self.depth > MAX_DEPTH { None } else { self.nested() };
        self.depth -= 1;
        read
    }

    fn nested(&mut self) -> Option<Generic> {
        if self.take("*") {
            return Some(Generic::class(OBJECT));
        }
        if self.take("+") || self.take("-") {
            return self.generic();
        }
        if self.take("[") {
            return Some(Generic::Array(Box::new(self.generic()?)));
        }
        if self.take("T") {
            let name = self.until(&[';'])?;
            self.take(";");
            return Some(Generic::Variable(name));
        }
        if self.take("L") {
            let mut name = self.until(&['<', '.', ';'])?.to_string();
            let mut arguments = Vec::new();
            loop {
                if self.take("<") {
                    arguments.clear();
                    while !self.take(">") {
                        arguments.push(self.generic()?);
                    }
                } else if self.take(".") {
                    arguments.clear();
                    name = format!("{name}${}", self.until(&['<', '.', ';'])?);
                } else if self.take(";") {
                    return Some(Generic::Class(name.into(), arguments));
                } else {
                    return None;
                }
            }
        }
        let desc = Desc::parse(self.rest.get(..1)?)?;
        self.rest = &self.rest[1..];
        Some(Generic::Value(desc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read_and_others_are_refused() {
        let method = "<K::Ljava/lang/Comparable<-TK;>;>(ILjava/util/Map<TK;+Ljava/lang/Number;>;[TT;)TK;^TX;";
        let read = GenericSignature::parse(method).expect("a signature");
        assert_eq!(&*read.formals[0].name, "K");
        assert_eq!(read.formals[0].bound.erased().text(), "Ljava/lang/Comparable;");
        let texts: Vec<String> = read.types.iter().map(Generic::text).collect();
        assert_eq!(texts, ["int", "java.util.Map<Object, java.lang.Number>", "Object[]", "Object"]);
        let class = GenericSignature::parse("<T:Ljava/lang/Object;>Lp/Outer<TT;>.Inner<*>;Ljava/util/List<[J>;");
        let types: Vec<String> = class.expect("a signature").types.iter().map(Generic::text).collect();
        assert_eq!(types, ["p.Outer.Inner<java.lang.Object>", "java.util.List<long[]>"]);
        for wrong in ["<", "<T", "Lx", "Lx<", "(Q)V", "<T>"] {
            assert_eq!(GenericSignature::parse(wrong), None, "{wrong}");
        }
    }
}
