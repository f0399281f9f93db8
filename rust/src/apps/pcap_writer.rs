//! Files that frames are recorded to, in the classic pcap format with nanoseconds.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use clap::Args;
use ixgbe::driver::mempool::MAX_SIZE;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::program::parse_number;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION_2_4: u32 = 4 << 16 | 2;
const LINK_TYPE_ETHERNET: u32 = 1;

const FILE_HEADER_SIZE: usize = 24;
const RECORD_HEADER_SIZE: usize = 16;

/// What a writer keeps before it writes: many records, so that there are few system calls.
const BUFFER_SIZE: usize = 256 << 10;

/// A reader of a pipe that takes nothing for so long ends the run.
const PIPE_TIMEOUT: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// The smallest file of a row: its header and a record with a whole frame fit.
const MIN_ROTATE_SIZE: u64 = 4096;

/// What is recorded, and where.
#[derive(Args, Debug)]
pub struct PcapOptions {
    /// Record to FILE; without it, frames are only counted
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Record at most so many bytes of a frame, 14 to 1984
    #[arg(long, value_name = "BYTES", default_value_t = MAX_SIZE, value_parser = parse_snap)]
    snap: usize,

    /// Begin another file before one has more bytes than this, from 4096 on; the files are FILE-00001,
    /// FILE-00002, with the ending of FILE
    #[arg(long, value_name = "BYTES", value_parser = parse_rotate_size)]
    rotate_size: Option<u64>,

    /// Keep the newest N files only; needs --rotate-size
    #[arg(long, value_name = "N", value_parser = parse_files)]
    files: Option<u32>,
}

impl PcapOptions {
    /// Says what is wrong with options that parse.
    pub fn check(&self) -> std::result::Result<(), String> {
        if self.rotate_size.is_some() && self.write.is_none() {
            return Err("--rotate-size needs --write FILE".to_owned());
        }
        if self.files.is_some() && self.rotate_size.is_none() {
            return Err("--files needs --rotate-size BYTES".to_owned());
        }
        Ok(())
    }
}

fn parse_snap(text: &str) -> std::result::Result<usize, String> {
    let must = "--snap must be a number of bytes";
    parse_number(text, 14..=MAX_SIZE as u64, must)
}

fn parse_rotate_size(text: &str) -> std::result::Result<u64, String> {
    let must = "--rotate-size must be a number of bytes";
    parse_number(text, MIN_ROTATE_SIZE..=u32::MAX.into(), must)
}

fn parse_files(text: &str) -> std::result::Result<u32, String> {
    parse_number(text, 1..=99999, "--files must be a number")
}

/// A file that frames are recorded to, or a row of such files.
pub struct PcapWriter<'o> {
    options: &'o PcapOptions,
    /// As the user wrote it.
    path: &'o Path,
    /// Of the open file, from 1.
    pub number: u32,
    open: OpenFile,
    /// Written, in all files.
    pub frames: u64,
}

struct OpenFile {
    file: File,
    name: PathBuf,
    /// Bytes in the file, all of them whole records.
    written: u64,
    /// Whole records, after the header of a new file.
    buffer: Vec<u8>,
    /// The ends of header and records in the buffer.
    ends: Vec<usize>,
}

/// The name of file `number`: `a.pcap`, or with rotation `a-00001.pcap`.
fn name_file(path: &Path, rotates: bool, number: u32) -> PathBuf {
    if !rotates {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number:05}"));
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// Opens the file that the user names, which may be a device or a pipe. A pipe without a reader is an error, so
/// that nothing waits.
fn open_named(name: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    options.open(name)
}

/// Creates a file of a row, and replaces a file of the user's own. Others may have left a link or a pipe under its
/// name, which is an error.
fn create_in_row(name: &Path) -> io::Result<File> {
    File::create_new(name).or_else(|error| {
        let replaced = error.kind() == ErrorKind::AlreadyExists
            && fs::symlink_metadata(name)
                .is_ok_and(|old| old.is_file() && old.uid() == geteuid().as_raw())
            && fs::remove_file(name).is_ok();
        match replaced {
            true => File::create_new(name),
            false => Err(error),
        }
    })
}

impl OpenFile {
    fn create(name: PathBuf, rotates: bool, snap: usize) -> Result<Self> {
        let snap = snap as u32;
        let header = [
            MAGIC_NANOSECONDS,
            VERSION_2_4,
            0,
            0,
            snap,
            LINK_TYPE_ETHERNET,
        ];
        let file = match rotates {
            true => create_in_row(&name),
            false => open_named(&name),
        };
        let mut buffer = Vec::with_capacity(BUFFER_SIZE);
        buffer.extend(header.iter().flat_map(|word| word.to_ne_bytes()));
        Ok(Self {
            file: file.with_context(|| name.display().to_string())?,
            name,
            written: 0,
            ends: vec![buffer.len()],
            buffer,
        })
    }

    /// Writes the buffer. Returns how many bytes were written, and the cause if they are not all.
    fn write_buffer(&mut self) -> (usize, io::Result<()>) {
        let mut done = 0;
        while done < self.buffer.len() {
            match self.file.write(&self.buffer[done..]) {
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.takes_more() => {}
                Err(error) => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }

    /// Waits until the reader of a pipe has made room.
    fn takes_more(&self) -> bool {
        let mut pipe = [PollFd::new(&self.file, PollFlags::OUT)];
        poll(&mut pipe, Some(&PIPE_TIMEOUT)) != Ok(0)
    }
}

impl<'o> PcapWriter<'o> {
    /// Opens the first file, if the user names one. With a limit of the size, a number precedes the ending of
    /// its name.
    pub fn open(options: &'o PcapOptions) -> Result<Option<Self>> {
        let Some(path) = options.write.as_deref() else {
            return Ok(None);
        };
        let rotates = options.rotate_size.is_some();
        let name = name_file(path, rotates, 1);
        Ok(Some(Self {
            options,
            path,
            number: 1,
            open: OpenFile::create(name, rotates, options.snap)?,
            frames: 0,
        }))
    }

    /// Opens the next file, and removes the oldest one if there are too many.
    fn open_next(&mut self) -> Result<()> {
        self.number += 1;
        let name = name_file(self.path, true, self.number);
        self.open = OpenFile::create(name, true, self.options.snap)?;
        let oldest = self
            .number
            .checked_sub(self.options.files.unwrap_or(u32::MAX));
        if let Some(oldest) = oldest.filter(|oldest| *oldest > 0) {
            // Somebody may have removed it.
            let _ = fs::remove_file(name_file(self.path, true, oldest));
        }
        Ok(())
    }

    /// Records a frame of `size` bytes that came at `time` since 1970; `read` copies its first bytes. Returns
    /// whether that is only a part. Begins the next file if this one would be too large. If the disk is
    /// full, the file ends with the last whole record, and the error says so.
    pub fn put(
        &mut self,
        size: usize,
        time: Duration,
        read: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<bool> {
        let captured = size.min(self.options.snap);
        let record = RECORD_HEADER_SIZE + captured;
        let file = self.open.written + self.open.buffer.len() as u64;

        if let Some(limit) = self.options.rotate_size {
            if file > FILE_HEADER_SIZE as u64 && file + record as u64 > limit {
                self.flush()?;
                self.open_next()?;
            }
        }
        if self.open.buffer.len() + record > BUFFER_SIZE {
            self.flush()?;
        }
        let (seconds, nanoseconds) = (time.as_secs() as u32, time.subsec_nanos());
        let header = [seconds, nanoseconds, captured as u32, size as u32];
        let buffer = &mut self.open.buffer;
        buffer.extend(header.iter().flat_map(|word| word.to_ne_bytes()));
        let start = buffer.len();
        buffer.resize(start + captured, 0);
        // The frame has that many bytes.
        let _ = read(&mut buffer[start..]);
        self.open.ends.push(start + captured);
        Ok(captured < size)
    }

    /// Writes what is in the buffer, so that a reader of the file sees it.
    pub fn flush(&mut self) -> Result<()> {
        let open = &mut self.open;
        let (done, result) = open.write_buffer();
        let parts = open.ends.partition_point(|end| *end <= done);
        let whole = parts.checked_sub(1).map_or(0, |last| open.ends[last]);
        // The header is no frame.
        let frames = parts - usize::from(parts > 0 && open.written == 0);
        open.buffer.clear();
        open.ends.clear();
        open.written += whole as u64;
        self.frames += frames as u64;
        result.map_err(|cause| {
            // A device such as /dev/full has no size.
            let _ = open.file.set_len(open.written);
            anyhow!(
                "{}: {cause}; {} frames are written and stay; make room, or limit the files with \
                 --rotate-size and --files",
                open.name.display(),
                self.frames
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_precedes_the_ending() {
        let name = |path: &str| name_file(Path::new(path), true, 7);
        assert_eq!(name("a.b/c.pcap"), Path::new("a.b/c-00007.pcap"));
        assert_eq!(name("a.b/c"), Path::new("a.b/c-00007"));
        assert_eq!(
            name_file(Path::new("c.pcap"), false, 1),
            Path::new("c.pcap")
        );
    }
}
