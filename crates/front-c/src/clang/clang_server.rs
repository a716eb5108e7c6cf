//! A resident clang: it is started once, and serves every request in a fork.
//!
//! For a small file, most of clang's time is spent on loading and linking its libraries. `measure` keeps a clang for
//! the duration of a run; compiler wrappers send requests to the socket that the environment names. The server is a
//! library written in C (`clang_server.c`, `compact.c`) that is preloaded into clang. If any step fails, clang is
//! started as usual.

use crate::clang::json_keys::table_in_c;
use crate::clang::process::with_deep_stack;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use touchstone_base::stable_hash;

/// The environment variable that names the socket, and the one that names the clang that serves it.
const SOCKET_VARIABLE: &str = "TOUCHSTONE_RESIDENT";
const CLANG_VARIABLE: &str = "TOUCHSTONE_RESIDENT_IS";

/// Returns the source of the preloaded library, in C.
fn source() -> String {
    [table_in_c().as_str(), include_str!("compact.c"), include_str!("clang_server.c")].concat()
}

/// A resident clang, which ends when this value is dropped.
pub struct ClangServer {
    child: Child,
}

impl ClangServer {
    /// Starts a clang that serves requests at `socket`, with a library that is compiled into `folder` unless it exists.
    pub fn start(clang: &Path, folder: &Path, socket: &Path) -> Option<ClangServer> {
        let library = library(clang, folder)?;
        let mut command = with_deep_stack(clang);
        command
            .arg("--version")
            .env("LD_PRELOAD", library)
            .env(SOCKET_VARIABLE, socket)
            .env(CLANG_VARIABLE, clang.canonicalize().ok()?);
        // Symbols are resolved once here, instead of in every fork.
        command.env("LD_BIND_NOW", "1");
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().ok().map(|child| ClangServer { child })
    }

    /// Returns the environment variables by which compiler wrappers find it.
    pub fn variables(clang: &Path, socket: &Path) -> [(&'static str, OsString); 2] {
        [(SOCKET_VARIABLE, socket.as_os_str().to_os_string()), (CLANG_VARIABLE, clang.as_os_str().to_os_string())]
    }
}

impl Drop for ClangServer {
    fn drop(&mut self) {
        // The server ends at the end of its standard input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Returns the path of the preloaded library; compiles it with clang if necessary.
fn library(clang: &Path, folder: &Path) -> Option<PathBuf> {
    let source = source();
    let made = folder.join(format!("resident-{:016x}.so", stable_hash(source.as_str())));
    if made.is_file() {
        return Some(made);
    }
    let part = |extension: &str| folder.join(format!("resident-{}.{extension}", std::process::id()));
    let (from, to) = (part("c"), part("so"));
    std::fs::write(&from, source).ok()?;
    let mut command = Command::new(clang);
    command.args(["-O2", "-w", "-shared", "-fPIC", "-o"]).arg(&to).arg(&from).arg("-ldl");
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let _ = std::fs::remove_file(&from);
    if !done.is_ok_and(|status| status.success()) {
        let _ = std::fs::remove_file(&to);
        return None;
    }
    std::fs::rename(&to, &made).ok().map(|()| made)
}

/// The reply to a request, readable as a stream of clang's output.
pub(crate) struct ServerReply {
    stream: UnixStream,
    end: ReplyState,
}

/// The progress of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReplyState {
    Open,
    /// The zero byte before the exit status was read.
    Printed,
    Ended(u8),
}

/// Sends a request to the server of this clang, if one is running.
pub(crate) fn send_request(clang: &Path, words: &[OsString]) -> Option<ServerReply> {
    let socket = std::env::var_os(SOCKET_VARIABLE)?;
    if std::env::var_os(CLANG_VARIABLE)? != clang {
        return None;
    }
    send_request_to(Path::new(&socket), clang, words)
}

fn send_request_to(socket: &Path, clang: &Path, words: &[OsString]) -> Option<ServerReply> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.write_all(&request(&std::env::current_dir().ok()?, clang, words)?).ok()?;
    Some(ServerReply { stream, end: ReplyState::Open })
}

fn request(directory: &Path, clang: &Path, words: &[OsString]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut add = |part: &[u8]| {
        text.extend_from_slice(part);
        text.push(0);
    };
    add(directory.as_os_str().as_bytes());
    add(clang.as_os_str().as_bytes());
    words.iter().for_each(|word| add(word.as_bytes()));
    let mut variables = 0u32;
    for (name, value) in std::env::vars_os() {
        add(&[name.as_bytes(), b"=", value.as_bytes()].concat());
        variables += 1;
    }
    let head = [u32::try_from(text.len()).ok()?, u32::try_from(words.len()).ok()? + 1, variables];
    Some(head.iter().flat_map(|number| number.to_ne_bytes()).chain(text).collect())
}

impl ServerReply {
    /// Returns clang's exit status after all output was read; `None` if the reply was incomplete.
    pub fn status(&self) -> Option<u8> {
        match self.end {
            ReplyState::Ended(status) => Some(status),
            ReplyState::Open | ReplyState::Printed => None,
        }
    }
}

impl Read for ServerReply {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if let ReplyState::Ended(_) = self.end {
            return Ok(0);
        }
        let length = self.stream.read(out)?;
        let got = &out[..length];
        let (printed, status) = match self.end {
            ReplyState::Printed => (0, got),
            // clang's output contains no zero byte.
            _ => match memchr::memchr(0, got) {
                Some(at) => {
                    self.end = ReplyState::Printed;
                    (at, &got[at + 1..])
                }
                None => return Ok(length),
            },
        };
        if let [status, ..] = status {
            self.end = ReplyState::Ended(*status);
        } else if length > 0 && printed == 0 {
            // The status is still to come, and a read of zero bytes would mean the end.
            return self.read(out);
        }
        Ok(printed)
    }
}

#[cfg(test)]
mod equivalence_tests;

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a reply that arrives in these parts.
    fn reply(parts: &[&[u8]]) -> (Vec<u8>, Option<u8>) {
        let (mut from, to) = UnixStream::pair().expect("sockets");
        let mut asked = ServerReply { stream: to, end: ReplyState::Open };
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let writer = std::thread::spawn(move || {
            for part in parts {
                from.write_all(&part).expect("a reader");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let mut text = Vec::new();
        asked.read_to_end(&mut text).expect("a socket");
        writer.join().expect("a writer");
        (text, asked.status())
    }

    #[test]
    fn an_answer_ends_with_a_status_however_it_comes() {
        assert_eq!(reply(&[b"ab\0\x00"]), (b"ab".to_vec(), Some(0)));
        assert_eq!(reply(&[b"ab", b"c\0", b"\x01"]), (b"abc".to_vec(), Some(1)));
        assert_eq!(reply(&[b"ab", b"\0", b"\xff"]), (b"ab".to_vec(), Some(255)));
        assert_eq!(reply(&[b"\0\x01"]), (Vec::new(), Some(1)));
    }

    #[test]
    fn an_answer_without_a_status_is_none() {
        assert_eq!(reply(&[b"ab"]).1, None);
        assert_eq!(reply(&[b"ab\0"]), (b"ab".to_vec(), None));
        assert_eq!(reply(&[]).1, None);
    }
}
