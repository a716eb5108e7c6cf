//! Constants of classes that are written here and in the agent.

/// Class files of this version need no stack maps, and are read by every JVM.
pub const VERSION: u16 = 49;

/// The tag of a field,
pub const FIELD: u8 = 9;
/// and that of a method.
pub const METHOD: u8 = 10;

/// Constants, one behind the other.
#[derive(Default)]
pub struct Pool {
    /// As the file has them,
    pub bytes: Vec<u8>,
    /// and how many there are.
    pub count: u16,
}

impl Pool {
    fn add(&mut self, tag: u8, content: &[u8]) -> u16 {
        self.bytes.push(tag);
        self.bytes.extend(content);
        // Who adds more than a class can have counts on its own.
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// A text.
    pub fn text(&mut self, text: &str) -> u16 {
        let length = (text.len() as u16).to_be_bytes();
        self.add(1, &[&length[..], text.as_bytes()].concat())
    }

    /// A constant that names others.
    pub fn of(&mut self, tag: u8, numbers: &[u16]) -> u16 {
        let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        self.add(tag, &content)
    }

    /// A class.
    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.of(7, &[name])
    }

    /// A field or a method of a class.
    pub fn member(&mut self, tag: u8, class: u16, name: &str, desc: &str) -> u16 {
        let (name, desc) = (self.text(name), self.text(desc));
        let both = self.of(12, &[name, desc]);
        self.of(tag, &[class, both])
    }

    /// A `long`.
    pub fn long(&mut self, value: u64) -> u16 {
        let index = self.add(5, &value.to_be_bytes());
        // It takes two places.
        self.count = self.count.wrapping_add(1);
        index
    }
}
