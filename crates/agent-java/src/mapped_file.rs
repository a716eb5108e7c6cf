//! Memory that is a file.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn mmap(address: *mut c_void, length: usize, access: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    fn munmap(address: *mut c_void, length: usize) -> c_int;
    fn posix_fallocate(file: c_int, offset: i64, length: i64) -> c_int;
    fn ftruncate(file: c_int, length: i64) -> c_int;
}

const READ_WRITE: c_int = 1 | 2;
const SHARED: c_int = 1;

/// A part of a file that is mapped.
pub struct Mapped {
    address: *mut u8,
    length: usize,
}

// SAFETY: whoever has it may write to it; it is used behind a lock.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps a new part of a file. Room for it is really there: a store into it can't fail any more.
    pub fn new(file: &File, from: u64, length: usize) -> Option<Mapped> {
        let (number, from, size) = (file.as_raw_fd(), i64::try_from(from).ok()?, i64::try_from(length).ok()?);
        // SAFETY: the file is open; what is given back is a new mapping of as many bytes, or -1.
        let address = unsafe {
            if posix_fallocate(number, from, size) != 0 {
                return None;
            }
            mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, number, from)
        };
        (address as isize != -1).then_some(Mapped { address: address.cast(), length })
    }

    /// Maps a new file that takes only what is written to it.
    pub fn sparse(file: &File, length: usize) -> Option<Mapped> {
        // SAFETY: the file is open; what is given back is a new mapping of as many bytes, or -1.
        let address = unsafe {
            if ftruncate(file.as_raw_fd(), i64::try_from(length).ok()?) != 0 {
                return None;
            }
            mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, file.as_raw_fd(), 0)
        };
        (address as isize != -1).then_some(Mapped { address: address.cast(), length })
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        self.address as u64
    }

    /// How long it is.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Writes bytes; what does not fit is left out.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let room = self.length.saturating_sub(at).min(bytes.len());
        // SAFETY: the mapping has `length` bytes, and stays.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.add(at), room) };
    }

    /// Writes a word, and not before what was written until now; one that does not fit is left out.
    pub fn put_word(&mut self, at: usize, word: u32) {
        if at.is_multiple_of(4) && at + 4 <= self.length {
            // SAFETY: the word is inside of the mapping, which begins with a page.
            let place = unsafe { AtomicU32::from_ptr(self.address.add(at).cast()) };
            place.store(word.to_le(), Ordering::Release);
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has it any more. What was written stays in the file.
        unsafe { munmap(self.address.cast(), self.length) };
    }
}
