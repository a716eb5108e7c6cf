//! What a method tells while it runs, so that whoever reads the code again can follow it: where control goes, and which objects
//! are accessed and passed. Locals and the stack follow from the code.

use crate::cfg::blocks::{Flow, is_conditional};
use std::collections::BTreeSet;
use touchstone_classfile::{ClassFile, Decoded, Desc, Insn, Member, MemberRef, MethodDesc, access};

/// What an instruction tells before it is executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// Nothing: what it does follows from the code.
    Nothing,
    /// That it comes now.
    Itself,
    /// The object whose field is accessed.
    Object,
    /// The array and the index.
    Element,
    /// References among the receiver and the arguments, as positions in their list.
    Call(Vec<usize>),
}

/// A method that is followed.
#[derive(Clone, Debug)]
pub struct Followed {
    pub(crate) flow: Flow,
    told: Vec<Told>,
    /// Blocks that tell that they begin.
    begins: BTreeSet<usize>,
    /// In a constructor: the call of another one for the same object. Before it the object is none yet.
    own_constructor: Option<usize>,
    has_receiver: bool,
}

/// What never changes: who holds such an object knows all of it.
const FIXED: [&str; 10] = [
    "java/lang/String",
    "java/lang/Class",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Boolean",
    "java/lang/Float",
    "java/lang/Double",
];

/// So many references of a call are told.
const MOST_REFERENCES: usize = 8;

impl Followed {
    /// Of a method; `None` if it has no code, or one that can't be read.
    pub fn new(class: &ClassFile, method: &Member) -> Option<Followed> {
        let code = method.code()?;
        let flow = Flow::new(code)?;
        let mut begins: BTreeSet<usize> = flow.blocks.iter().flat_map(|block| block.handlers.iter().copied()).collect();
        for block in &flow.blocks {
            let last = &flow.insns[block.last].insn;
            if is_conditional(last) || matches!(last, Insn::Switch(..)) {
                begins.extend(&block.next);
            }
        }
        let own_constructor = (&*method.name == "<init>").then(|| own_constructor(class, &flow)).flatten();
        let told = (0..flow.insns.len()).map(|index| told(class, &flow.insns[index].insn, index, own_constructor));
        let told = told.collect();
        let has_receiver = !method.is(access::STATIC) && &*method.name != "<init>";
        Some(Followed { told, begins, own_constructor, has_receiver, flow })
    }

    /// Its instructions.
    pub fn insns(&self) -> &[Decoded] {
        &self.flow.insns
    }

    /// The instruction at a position in the code.
    pub fn index(&self, at: usize) -> Option<usize> {
        self.flow.index(at)
    }

    /// What an instruction tells.
    pub fn told(&self, insn: usize) -> &Told {
        &self.told[insn]
    }

    /// Whether a block tells that it begins, as all do that a condition or an exception leads to.
    pub fn tells_begin(&self, block: usize) -> bool {
        self.begins.contains(&block)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.flow.blocks.len()
    }

    /// The block of an instruction.
    pub fn block_of(&self, insn: usize) -> usize {
        self.flow.block_of(insn)
    }

    /// The first and the last instruction of a block.
    pub fn stretch(&self, block: usize) -> (usize, usize) {
        (self.flow.blocks[block].first, self.flow.blocks[block].last)
    }

    /// Blocks that follow a block, if nothing is thrown.
    pub fn next(&self, block: usize) -> &[usize] {
        &self.flow.blocks[block].next
    }

    /// By block: the first block that every way from it passes, if there is one.
    pub fn passed_by_all(&self) -> Vec<Option<usize>> {
        self.flow.passed_by_all()
    }

    /// In a constructor: the call of another one for the same object.
    pub fn own_constructor(&self) -> Option<usize> {
        self.own_constructor
    }

    /// Whether it tells its receiver when it begins.
    pub fn tells_receiver(&self) -> bool {
        self.has_receiver
    }
}

/// In a constructor the call of another one: the first that is not of an object made here.
fn own_constructor(class: &ClassFile, flow: &Flow) -> Option<usize> {
    let mut made = 0;
    flow.insns.iter().position(|insn| match insn.insn {
        Insn::New(_) => {
            made += 1;
            false
        }
        Insn::InvokeSpecial(index) if class.pool.method(index).is_ok_and(|(method, _)| &*method.name == "<init>") => {
            made -= 1;
            made < 0
        }
        _ => false,
    })
}

/// A call: whom, and its type.
pub(crate) struct Called {
    pub member: MemberRef,
    pub desc: MethodDesc,
    /// Whether a receiver stands below the arguments, and is an object already.
    pub has_receiver: bool,
}

impl Called {
    pub fn of(class: &ClassFile, insn: &Insn) -> Option<Called> {
        let (member, has_receiver) = match insn {
            Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) => (class.pool.method(*index).ok()?.0, true),
            Insn::InvokeSpecial(index) => {
                let member = class.pool.method(*index).ok()?.0;
                let is_object = &*member.name != "<init>";
                (member, is_object)
            }
            Insn::InvokeStatic(index) => (class.pool.method(*index).ok()?.0, false),
            Insn::InvokeDynamic(index) => {
                let (_, name, desc) = class.pool.call_site(*index).ok()?;
                (MemberRef { class: "".into(), name, desc }, false)
            }
            _ => return None,
        };
        let desc = MethodDesc::parse(&member.desc)?;
        Some(Called { member, desc, has_receiver })
    }
}

fn told(class: &ClassFile, insn: &Insn, index: usize, own_constructor: Option<usize>) -> Told {
    let own_field = |field: u16| class.pool.field(field).is_ok_and(|field| field.class == class.name);
    match insn {
        Insn::GetField(_) => Told::Object,
        // What an object gets before it is one: who follows knows whose it is.
        Insn::PutField(field) if own_constructor.is_some_and(|call| index < call) && own_field(*field) => Told::Nothing,
        Insn::PutField(_) => Told::Object,
        Insn::ArrayLoad(_) | Insn::ArrayStore(_) => Told::Element,
        Insn::PutStatic(_) | Insn::Return(_) => Told::Itself,
        _ => match Called::of(class, insn) {
            Some(called) => Told::Call(references(class, insn, &called)),
            None => Told::Nothing,
        },
    }
}

/// References of a call that are told. Of a call that leads to a method of the same class nobody needs them.
fn references(class: &ClassFile, insn: &Insn, called: &Called) -> Vec<usize> {
    let Called { member, desc, has_receiver } = called;
    let is_own = member.class == class.name && class.method(&member.name, &member.desc).is_some();
    match insn {
        Insn::InvokeStatic(_) | Insn::InvokeSpecial(_) if is_own => return Vec::new(),
        Insn::InvokeDynamic(index) if makes_lambda(class, *index) => return Vec::new(),
        _ => {}
    }
    let changes = |name: &str| !FIXED.contains(&name);
    let mut told = Vec::new();
    if *has_receiver && changes(&member.class) {
        told.push(0);
    }
    // The object that a constructor is called for has a position, too.
    let first = usize::from(!matches!(insn, Insn::InvokeStatic(_) | Insn::InvokeDynamic(_)));
    let params = desc.params.iter().enumerate();
    told.extend(params.filter_map(|(number, param)| match param {
        Desc::Ref(name) if changes(name) => Some(first + number),
        _ => None,
    }));
    told.truncate(MOST_REFERENCES);
    told
}

/// Whether a call site makes an object of a lambda expression or a method's name.
fn makes_lambda(class: &ClassFile, index: u16) -> bool {
    let bootstrap = class.pool.call_site(index).ok().and_then(|(bootstrap, ..)| class.bootstrap(bootstrap));
    let handle = bootstrap.and_then(|bootstrap| class.pool.handle(bootstrap.method).ok());
    handle.is_some_and(|handle| &*handle.member.class == "java/lang/invoke/LambdaMetafactory")
}
