//! Files that are mapped into memory.

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

/// A mapped part of a file.
pub struct MappedFile {
    address: *mut u8,
    length: usize,
}

// SAFETY: the mapping may be written by any thread; it is used behind a lock.
unsafe impl Send for MappedFile {}

impl MappedFile {
    /// Extends a file by `length` bytes and maps them. The file system reserves the space, so a later store can't fail.
    pub fn extend(file: &File, from: u64, length: usize) -> Option<MappedFile> {
        let (number, from, size) = (file.as_raw_fd(), i64::try_from(from).ok()?, i64::try_from(length).ok()?);
        // SAFETY: the file is open; `mmap` returns a new mapping of `length` bytes, or -1.
        let address = unsafe {
            if posix_fallocate(number, from, size) != 0 {
                return None;
            }
            mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, number, from)
        };
        (address as isize != -1).then_some(MappedFile { address: address.cast(), length })
    }

    /// Maps a new sparse file.
    pub fn sparse(file: &File, length: usize) -> Option<MappedFile> {
        // SAFETY: the file is open; `mmap` returns a new mapping of `length` bytes, or -1.
        let address = unsafe {
            if ftruncate(file.as_raw_fd(), i64::try_from(length).ok()?) != 0 {
                return None;
            }
            mmap(std::ptr::null_mut(), length, READ_WRITE, SHARED, file.as_raw_fd(), 0)
        };
        (address as isize != -1).then_some(MappedFile { address: address.cast(), length })
    }

    /// The address of the mapping.
    pub fn address(&self) -> u64 {
        self.address as u64
    }

    /// The length of the mapping in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Writes bytes; those beyond the end are dropped.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let room = self.length.saturating_sub(at).min(bytes.len());
        // SAFETY: the mapping has `length` bytes, and lives as long as `self`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.add(at), room) };
    }

    /// Writes a word after all earlier writes (release); one beyond the end is dropped.
    pub fn put_word(&mut self, at: usize, word: u32) {
        if at.is_multiple_of(4) && at + 4 <= self.length {
            // SAFETY: the word is inside of the mapping, which is aligned to a page.
            let cell = unsafe { AtomicU32::from_ptr(self.address.add(at).cast()) };
            cell.store(word.to_le(), Ordering::Release);
        }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: `self` owns the mapping. The file keeps what was written.
        unsafe { munmap(self.address.cast(), self.length) };
    }
}
