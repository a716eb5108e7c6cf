//! Classes of the JDK that tests make in ways of their own: boxes, collections, and classes that stand for wider types.

use crate::classfile::Desc;
use touchstone_fixture_java::CollectionForm;

/// What a class of the JDK boxes.
pub(crate) fn unboxed(class: &str) -> Option<Desc> {
    Some(match class {
        "java/lang/Boolean" => Desc::Boolean,
        "java/lang/Byte" => Desc::Byte,
        "java/lang/Character" => Desc::Char,
        "java/lang/Short" => Desc::Short,
        "java/lang/Integer" => Desc::Int,
        "java/lang/Long" => Desc::Long,
        "java/lang/Float" => Desc::Float,
        "java/lang/Double" => Desc::Double,
        _ => return None,
    })
}

/// How a collection is made.
pub(crate) struct Collection {
    /// The class that is made.
    pub class: &'static str,
    /// What fills it, with its descriptor.
    pub add: (&'static str, &'static str),
    pub form: CollectionForm,
    /// Whether it holds pairs.
    pub pairs: bool,
    /// So many elements are tried: keys cost more than others.
    pub most: usize,
}

/// The collection that stands for a type. Sorted ones stand for sets and maps, since they need no hash codes.
pub(crate) fn collection(class: &str) -> Option<Collection> {
    let name = class.strip_prefix("java/util/").or((class == "java/lang/Iterable").then_some("Iterable"))?;
    let made = match name {
        "List"
        | "Collection"
        | "Iterable"
        | "AbstractList"
        | "AbstractCollection"
        | "ArrayList"
        | "SequencedCollection" => "java/util/ArrayList",
        "LinkedList" | "AbstractSequentialList" => "java/util/LinkedList",
        "Vector" => "java/util/Vector",
        "Stack" => "java/util/Stack",
        "Set" | "SortedSet" | "NavigableSet" | "TreeSet" | "AbstractSet" | "SequencedSet" => "java/util/TreeSet",
        "HashSet" => "java/util/HashSet",
        "LinkedHashSet" => "java/util/LinkedHashSet",
        "Queue" | "Deque" | "ArrayDeque" => "java/util/ArrayDeque",
        "PriorityQueue" | "AbstractQueue" => "java/util/PriorityQueue",
        "Map" | "SortedMap" | "NavigableMap" | "TreeMap" | "AbstractMap" | "SequencedMap" => "java/util/TreeMap",
        "HashMap" => "java/util/HashMap",
        "LinkedHashMap" => "java/util/LinkedHashMap",
        "Hashtable" => "java/util/Hashtable",
        _ => return None,
    };
    let pairs = made.ends_with("Map") || made.ends_with("table");
    let add = match pairs {
        true => ("put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
        false => ("add", "(Ljava/lang/Object;)Z"),
    };
    let most = if pairs { 2 } else { 3 };
    let by_call = pairs || matches!(made, "java/util/PriorityQueue" | "java/util/Stack");
    Some(Collection {
        class: made,
        add,
        form: if by_call { CollectionForm::CallByCall } else { CollectionForm::ElementList },
        pairs,
        most,
    })
}

/// Whether a method is what people fill and empty collections with.
pub(crate) fn is_usual(name: &str, desc: &str) -> bool {
    let params = desc.split(')').next().unwrap_or_default();
    match name {
        "put" => true,
        "add" | "remove" => params == "(Ljava/lang/Object;",
        "addFirst" | "pollFirst" | "poll" => params == "(" || params == "(Ljava/lang/Object;",
        _ => false,
    }
}

/// Types of the JDK, and the classes that are made for them.
pub(crate) fn stands_for(class: &str) -> &'static [&'static str] {
    match class {
        "java/lang/Object" => &["java/lang/Integer", "java/lang/String"],
        "java/lang/Comparable" | "java/io/Serializable" => &["java/lang/Integer", "java/lang/String"],
        "java/lang/Number" => &["java/lang/Integer", "java/lang/Double", "java/lang/Long"],
        "java/lang/CharSequence" => &["java/lang/String", "java/lang/StringBuilder"],
        "java/lang/Appendable" => &["java/lang/StringBuilder"],
        "java/io/Reader" => &["java/io/StringReader"],
        "java/io/Writer" => &["java/io/StringWriter"],
        "java/io/InputStream" => &["java/io/ByteArrayInputStream"],
        "java/io/OutputStream" => &["java/io/ByteArrayOutputStream"],
        "java/lang/Throwable" => &["java/lang/Exception"],
        _ => &[],
    }
}

/// Whether tests call a constructor of the JDK: some have others that say the same, or take sizes that nobody sees.
pub(crate) fn is_worth_calling(class: &str, desc: &str) -> bool {
    match class {
        "java/lang/StringBuilder" | "java/lang/StringBuffer" => desc == "(Ljava/lang/String;)V",
        "java/io/StringWriter" | "java/io/ByteArrayOutputStream" => desc == "()V",
        // Others build texts of their causes, and causes of causes.
        _ if class.ends_with("Exception") || class.ends_with("Error") || class == "java/lang/Throwable" => {
            desc == "(Ljava/lang/String;)V"
        }
        _ => true,
    }
}
