//! Classes that are written here: constants, fields, methods, as a class file has them. They need no stack maps.

use crate::pool::{Pool, VERSION};
pub use touchstone_classfile::opcode as op;

/// What a class or a member may be.
pub mod access {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const VOLATILE: u16 = 0x0040;
    pub const NATIVE: u16 = 0x0100;
    /// What every class says.
    pub const SUPER: u16 = 0x0020;
}

/// A class file that is being written.
pub struct Written {
    pub pool: Pool,
    own: u16,
    above: u16,
    /// The name of the attribute.
    code: u16,
    fields: Vec<[u16; 4]>,
    methods: Vec<Vec<u8>>,
}

impl Written {
    /// A final class that everybody may use.
    pub fn new(name: &str, above: &str) -> Written {
        let mut pool = Pool::default();
        let (own, above, code) = (pool.class(name), pool.class(above), pool.text("Code"));
        Written { pool, own, above, code, fields: Vec::new(), methods: Vec::new() }
    }

    /// The class itself, as code names it.
    pub fn own(&self) -> u16 {
        self.own
    }

    /// A field, as code names it.
    pub fn field(&mut self, access: u16, name: &str, desc: &str) -> u16 {
        let field = [access, self.pool.text(name), self.pool.text(desc), 0];
        self.fields.push(field);
        self.pool.member(crate::pool::FIELD, self.own, name, desc)
    }

    /// A method of the class, as code names it.
    pub fn named(&mut self, name: &str, desc: &str) -> u16 {
        self.pool.member(crate::pool::METHOD, self.own, name, desc)
    }

    /// A method that somebody else gives what it does.
    pub fn native(&mut self, access: u16, name: &str, desc: &str) {
        let numbers = [access | access::NATIVE, self.pool.text(name), self.pool.text(desc), 0];
        self.methods.push(numbers.iter().flat_map(|number| number.to_be_bytes()).collect());
    }

    /// A method with its code.
    pub fn method(&mut self, access: u16, name: &str, desc: &str, code: Code) {
        let bytes = code.bytes();
        let attributes = 1 + u16::from(code.stays_a_call);
        let head = [access, self.pool.text(name), self.pool.text(desc), attributes, self.code];
        let mut out: Vec<u8> = head.iter().flat_map(|number| number.to_be_bytes()).collect();
        let handlers: u32 = if code.handler.is_some() { 1 } else { 0 };
        out.extend((bytes.len() as u32 + 12 + 8 * handlers).to_be_bytes());
        let (stack, locals) = code.room.unwrap_or((Code::STACK, Code::LOCALS));
        out.extend([0, stack, 0, locals]);
        out.extend((bytes.len() as u32).to_be_bytes());
        out.extend(bytes);
        out.extend((handlers as u16).to_be_bytes());
        // All before it, whatever is thrown.
        if let Some(handler) = code.handler {
            [0, handler, handler, 0].into_iter().for_each(|number: u16| out.extend(number.to_be_bytes()));
        }
        // No attributes of the code.
        out.extend([0, 0]);
        if code.stays_a_call {
            let (name, said) = (self.pool.text("RuntimeVisibleAnnotations"), self.pool.text(STAYS_A_CALL));
            out.extend(name.to_be_bytes());
            // One annotation, which says nothing more.
            out.extend(6u32.to_be_bytes());
            [1, said, 0].into_iter().for_each(|number: u16| out.extend(number.to_be_bytes()));
        }
        self.methods.push(out);
    }

    /// The class file.
    pub fn bytes(self) -> Vec<u8> {
        let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
        let numbers = |numbers: &[u16], out: &mut Vec<u8>| numbers.iter().for_each(|n| out.extend(n.to_be_bytes()));
        numbers(&[0, VERSION, self.pool.count + 1], &mut out);
        out.extend(&self.pool.bytes);
        let access = access::PUBLIC | access::FINAL | access::SUPER;
        numbers(&[access, self.own, self.above, 0, self.fields.len() as u16], &mut out);
        self.fields.iter().for_each(|field| numbers(field, &mut out));
        numbers(&[self.methods.len() as u16], &mut out);
        self.methods.iter().for_each(|method| out.extend(method));
        numbers(&[0], &mut out);
        out
    }
}

/// What JVMs believe classes of their own.
const STAYS_A_CALL: &str = "Ljdk/internal/vm/annotation/DontInline;";

/// A place in code that jumps lead to.
pub type Label = usize;

/// The code of a method.
#[derive(Default)]
pub struct Code {
    written: Vec<u8>,
    /// Where jumps stand, and where they lead to.
    jumps: Vec<(usize, Label)>,
    labels: Vec<(Label, usize)>,
    handler: Option<u16>,
    /// What it needs of the stack and of locals, if somebody said it.
    room: Option<(u8, u8)>,
    stays_a_call: bool,
}

impl Code {
    /// No method here needs more.
    const STACK: u8 = 12;
    const LOCALS: u8 = 10;

    /// It needs no more than this of the stack and of locals: compilers of JVMs put only methods that need little into their callers.
    pub fn within(mut self, stack: u8, locals: u8) -> Code {
        self.room = Some((stack, locals));
        self
    }

    /// Compilers don't put it into its callers, however often they call it.
    pub fn stays_a_call(mut self) -> Code {
        self.stays_a_call = true;
        self
    }

    /// Instructions as they are.
    pub fn does(mut self, bytes: &[u8]) -> Code {
        self.written.extend(bytes);
        self
    }

    /// An instruction that names a constant or a number of two bytes.
    pub fn with(self, opcode: u8, index: u16) -> Code {
        let [high, low] = index.to_be_bytes();
        self.does(&[opcode, high, low])
    }

    /// A jump.
    pub fn jump(mut self, opcode: u8, to: Label) -> Code {
        self.jumps.push((self.written.len(), to));
        self.does(&[opcode, 0, 0])
    }

    /// Where jumps lead to.
    pub fn label(mut self, label: Label) -> Code {
        self.labels.push((label, self.written.len()));
        self
    }

    /// What is thrown before this comes here, and nowhere else.
    pub fn catches_all(mut self) -> Code {
        self.handler = u16::try_from(self.written.len()).ok();
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.written.clone();
        for (at, label) in &self.jumps {
            let to = self.labels.iter().find(|(known, _)| known == label).map_or(*at, |(_, to)| *to);
            let distance = (to as i32 - *at as i32) as i16;
            bytes[at + 1..at + 3].copy_from_slice(&distance.to_be_bytes());
        }
        bytes
    }
}
