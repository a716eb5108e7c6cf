//! Memory that is a file.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;

unsafe extern "C" {
    fn mmap(address: *mut c_void, length: usize, access: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    fn posix_fallocate(file: c_int, offset: i64, length: i64) -> c_int;
    fn ftruncate(file: c_int, length: i64) -> c_int;
}

const READ_WRITE: c_int = 1 | 2;
const SHARED: c_int = 1;

/// A file that is mapped, until the process ends.
pub struct Mapped {
    address: *mut u8,
    length: usize,
}

// SAFETY: whoever has it may write to it; it is used behind a lock, but for single bytes that Java code sets.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps a new file. Room for it is really there: a store into it can't fail any more.
    pub fn new(file: &File, length: usize) -> Option<Mapped> {
        // SAFETY: the file is open.
        let done = unsafe { posix_fallocate(file.as_raw_fd(), 0, i64::try_from(length).ok()?) };
        if done == 0 { Mapped::of(file, length) } else { None }
    }

    /// Maps a new file that takes only what is written to it.
    pub fn sparse(file: &File, length: usize) -> Option<Mapped> {
        // SAFETY: the file is open.
        let done = unsafe { ftruncate(file.as_raw_fd(), i64::try_from(length).ok()?) };
        if done == 0 { Mapped::of(file, length) } else { None }
    }

    fn of(file: &File, length: usize) -> Option<Mapped> {
        // SAFETY: the file is open; what is given back is a new mapping of as many bytes, or -1.
        let address = unsafe { mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, file.as_raw_fd(), 0) };
        (address as isize != -1).then_some(Mapped { address: address.cast(), length })
    }

    /// Eight bytes.
    pub fn get(&self, at: usize) -> [u8; 8] {
        let mut bytes = [0; 8];
        if at + bytes.len() <= self.length {
            // SAFETY: the mapping has `length` bytes, and stays.
            unsafe { std::ptr::copy_nonoverlapping(self.address.add(at), bytes.as_mut_ptr(), bytes.len()) };
        }
        bytes
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        self.address as u64
    }

    /// Writes bytes; what does not fit is left out.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let room = self.length.saturating_sub(at).min(bytes.len());
        // SAFETY: the mapping has `length` bytes, and stays.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.add(at), room) };
    }
}
