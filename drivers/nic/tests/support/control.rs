//! A client of the control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::TIMEOUT;

pub struct Control(BufReader<UnixStream>);

impl Control {
    pub fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self(BufReader::new(stream))
    }

    pub fn say(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Sends text, which may be a line, and reads a line.
    pub fn ask(&mut self, text: &str) -> String {
        self.say(text);
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer
    }
}
