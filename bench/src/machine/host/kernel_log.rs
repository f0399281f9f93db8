//! Reads the kernel's log.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

use super::system::System;

/// Each read of `/dev/kmsg` returns one record, which must fit.
const RECORD: usize = 8192;
/// Limit on records, which the kernel's buffer does not reach.
const RECORDS: usize = 100_000;

/// The messages of the kernel's log, oldest first; empty if the user may not read it.
pub fn messages(system: &System) -> Vec<String> {
    let mut messages = Vec::new();
    let opened = OpenOptions::new()
        .read(true)
        // A read at the end of the log fails instead of waiting for the next message.
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(system.path("/dev/kmsg"));
    let Ok(mut log) = opened else {
        return messages;
    };
    let mut record = vec![0; RECORD];
    for _ in 0..RECORDS {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(length) => {
                let text = String::from_utf8_lossy(&record[..length]);
                messages.extend(text.lines().filter_map(message));
            }
            // The kernel overwrote the record; the next read returns a later one.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(_) => break,
        }
    }
    messages
}

/// The message of a line such as `6,339,5140900,-;text`. Lines with details begin with a blank.
fn message(line: &str) -> Option<String> {
    let (head, text) = line.split_once(';')?;
    (!head.starts_with(' ')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::host::fixture::Machine;

    #[test]
    fn messages_are_read_without_their_heads() {
        let machine = Machine::new();
        assert!(messages(&machine.system()).is_empty());
        machine.file(
            "/dev/kmsg",
            "6,339,5140900,-;first; with a semicolon\n SUBSYSTEM=pci\n4,340,5140901,-;second\n",
        );
        assert_eq!(
            messages(&machine.system()),
            ["first; with a semicolon", "second"]
        );
    }

    #[test]
    fn the_log_of_this_machine_ends() {
        // Without permission there are no messages. In no case does the function wait.
        let _ = messages(&System::here());
    }
}
