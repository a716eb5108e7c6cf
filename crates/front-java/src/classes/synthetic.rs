//! Members that the source does not contain: synthetic methods, implicit methods of enumerations and records, and code
//! that generators annotated as theirs. They have no objectives.

use crate::classfile::{Attribute, ClassFile, Cursor, Insn, Malformed, Member, access, decode};

/// The access flag `ACC_SYNTHETIC`: bridge methods, accessors, lambda bodies.
pub(crate) const SYNTHETIC: u16 = 0x1000;

/// Returns true if a method is the body of a lambda expression.
pub(crate) fn is_lambda(member: &Member) -> bool {
    member.is(SYNTHETIC) && member.is(access::PRIVATE) && member.name.starts_with("lambda$")
}

/// The part of an annotation's name that marks generated code; JaCoCo uses the same convention.
const GENERATED: &str = "Generated";
/// The attributes with annotations of a class or a member.
const ANNOTATIONS: [&str; 2] = ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];
/// Maximum nesting of annotations in annotations.
const MAX_ANNOTATION_DEPTH: usize = 64;

/// Returns true if a method is not written in the source.
pub(crate) fn is_synthetic(file: &ClassFile, member: &Member) -> bool {
    let of_enum = file.is(access::ENUM) && matches!(&*member.name, "values" | "valueOf");
    member.is(SYNTHETIC) && !is_lambda(member)
        || of_enum
        || is_implicit_record_member(file, member)
        || is_generated(file, &member.attributes)
        || is_lambda(member) && is_lambda_of_generated(file, member)
}

/// Returns true if a lambda body belongs to a generated method, directly or through another lambda body.
fn is_lambda_of_generated(file: &ClassFile, lambda: &Member) -> bool {
    if !file.methods.iter().any(|method| is_generated(file, &method.attributes)) {
        return false;
    }
    // `lambda$NAME$3`; the name for constructors depends on the compiler.
    let inner = lambda.name.trim_start_matches("lambda$");
    let name = inner.rsplit_once('$').map_or(inner, |(name, _)| name);
    let around = file.methods.iter().filter(|method| {
        let of_lambda = is_lambda(method) && method.name != lambda.name;
        of_lambda && method.name.starts_with(&format!("lambda${name}$")) || *method.name == *name
    });
    around.filter(|method| creates_lambda(file, method, lambda)).any(|method| is_synthetic(file, method))
}

/// Returns true if a method creates the lambda object of a lambda body.
fn creates_lambda(file: &ClassFile, method: &Member, lambda: &Member) -> bool {
    let insns = method.code().and_then(|code| decode(&code.bytes, code.offset).ok()).unwrap_or_default();
    insns.iter().any(|insn| match &insn.insn {
        Insn::InvokeDynamic(site) => {
            let bootstrap = file.pool.call_site(*site).ok().and_then(|(number, _, _)| file.bootstrap(number));
            let arguments = bootstrap.iter().flat_map(|bootstrap| &bootstrap.arguments);
            let mut handles = arguments.filter_map(|constant| file.pool.handle(*constant).ok());
            handles.any(|handle| handle.member.class == file.name && handle.member.name == lambda.name)
        }
        _ => false,
    })
}

/// Returns true if a whole class is generated.
pub(crate) fn is_generated_class(file: &ClassFile) -> bool {
    is_generated(file, &file.attributes)
}

/// Returns true if the compiler added a method of a record, or if the source's method does exactly the same.
fn is_implicit_record_member(file: &ClassFile, member: &Member) -> bool {
    if file.superclass.as_deref() != Some("java/lang/Record") {
        return false;
    }
    let insns = member.code().and_then(|code| decode(&code.bytes, code.offset).ok()).unwrap_or_default();
    if matches!(&*member.name, "toString" | "hashCode" | "equals") {
        return insns.iter().take(3).any(|insn| matches!(insn.insn, Insn::InvokeDynamic(_)));
    }
    let insns: Vec<&Insn> = insns.iter().map(|insn| &insn.insn).collect();
    match insns.as_slice() {
        [Insn::Load(_, 0), Insn::GetField(field), Insn::Return(Some(_))] => {
            member.desc.starts_with("()") && file.pool.field(*field).is_ok_and(|field| field.name == member.name)
        }
        _ => false,
    }
}

fn is_generated(file: &ClassFile, attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match attribute {
        Attribute::Other { name, bytes } if ANNOTATIONS.contains(&&**name) => {
            let mut names = Vec::new();
            // An attribute that can't be parsed is ignored.
            let mut cursor = Cursor::new(bytes, 0);
            drop(cursor.list(|cursor| annotation_type(cursor, MAX_ANNOTATION_DEPTH).map(|name| names.push(name))));
            names
                .into_iter()
                .filter_map(|name| file.pool.name(name).ok())
                .any(|name| simple_name(&name).contains(GENERATED))
        }
        _ => false,
    })
}

/// Returns `Generated` of `Llombok/Generated;`.
fn simple_name(desc: &str) -> &str {
    desc.rsplit(['/', '$']).next().unwrap_or(desc)
}

/// Returns the type of an annotation and skips its values.
fn annotation_type(cursor: &mut Cursor<'_>, depth: usize) -> Result<u16, Malformed> {
    let name = cursor.u2()?;
    cursor.list(|cursor| {
        cursor.u2()?;
        skip_value(cursor, depth)
    })?;
    Ok(name)
}

fn skip_value(cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Malformed> {
    let Some(depth) = depth.checked_sub(1) else { return cursor.wrong("annotations are nested too deep") };
    match cursor.u1()? {
        b'e' => cursor.take(4).map(drop),
        b'@' => annotation_type(cursor, depth).map(drop),
        b'[' => cursor.list(|cursor| skip_value(cursor, depth)).map(drop),
        _ => cursor.take(2).map(drop),
    }
}
