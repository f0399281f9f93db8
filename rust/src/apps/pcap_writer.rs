//! Files that frames are recorded to, in the classic pcap format with nanoseconds.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, Context, Result};

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION_2_4: u32 = 4 << 16 | 2;
const LINK_TYPE_ETHERNET: u32 = 1;

const FILE_HEADER_SIZE: usize = 24;
const RECORD_HEADER_SIZE: usize = 16;

/// What a writer keeps before it writes: many records, so that there are few system calls.
const BUFFER_SIZE: usize = 256 << 10;

/// A file that frames are recorded to, or a row of such files.
pub struct PcapWriter {
    /// As the user wrote it.
    path: PathBuf,
    /// The most bytes of a frame that are recorded.
    snap: usize,
    /// The most bytes of a file; `None`: one file without a limit.
    rotate_size: Option<u64>,
    /// The newest files that are kept; `None`: all.
    files: Option<u32>,
    /// Of the open file, from 1.
    number: u32,
    file: File,
    /// Of the open file.
    name: PathBuf,
    /// Bytes of the open file, all of them whole records.
    written: u64,
    /// Written, in all files.
    frames: u64,
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

/// A buffer with the header of a file.
fn header(snap: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(BUFFER_SIZE);
    for word in [
        MAGIC_NANOSECONDS,
        VERSION_2_4,
        0,
        0,
        snap as u32,
        LINK_TYPE_ETHERNET,
    ] {
        buffer.extend(word.to_ne_bytes());
    }
    buffer
}

fn create(name: &Path) -> Result<File> {
    File::create(name).with_context(|| name.display().to_string())
}

impl PcapWriter {
    /// Opens the first file. With a limit of the size, a number precedes the ending of its name.
    pub fn open(
        path: &Path,
        snap: usize,
        rotate_size: Option<u64>,
        files: Option<u32>,
    ) -> Result<Self> {
        let name = name_file(path, rotate_size.is_some(), 1);
        Ok(Self {
            path: path.to_owned(),
            snap,
            rotate_size,
            files,
            number: 1,
            file: create(&name)?,
            name,
            written: 0,
            frames: 0,
            buffer: header(snap),
            ends: vec![FILE_HEADER_SIZE],
        })
    }

    /// Opens the next file, and removes the oldest one if there are too many.
    fn open_next(&mut self) -> Result<()> {
        self.number += 1;
        self.name = name_file(&self.path, true, self.number);
        self.file = create(&self.name)?;
        if let Some(oldest) = self.files.and_then(|files| self.number.checked_sub(files)) {
            if oldest > 0 {
                // Somebody may have removed it.
                let _ = fs::remove_file(name_file(&self.path, true, oldest));
            }
        }
        self.written = 0;
        self.buffer = header(self.snap);
        self.ends = vec![FILE_HEADER_SIZE];
        Ok(())
    }

    /// Records a frame of `size` bytes that came at `time` since 1970; `read` copies its first bytes. Begins
    /// the next file if this one would be too large. If the disk is full, the file ends with the last whole
    /// record, and the error says so.
    pub fn put(
        &mut self,
        size: usize,
        time: Duration,
        read: impl FnOnce(&mut [u8]) -> bool,
    ) -> Result<()> {
        let captured = size.min(self.snap);
        let record = RECORD_HEADER_SIZE + captured;
        let file = self.written + self.buffer.len() as u64;

        if let Some(limit) = self.rotate_size {
            if file > FILE_HEADER_SIZE as u64 && file + record as u64 > limit {
                self.flush()?;
                self.open_next()?;
            }
        }
        if self.buffer.len() + record > BUFFER_SIZE {
            self.flush()?;
        }
        for word in [
            time.as_secs() as u32,
            time.subsec_nanos(),
            captured as u32,
            size as u32,
        ] {
            self.buffer.extend(word.to_ne_bytes());
        }
        let start = self.buffer.len();
        self.buffer.resize(start + captured, 0);
        // The frame has that many bytes.
        let _ = read(&mut self.buffer[start..]);
        self.ends.push(self.buffer.len());
        Ok(())
    }

    /// Writes what is in the buffer, so that a reader of the file sees it.
    pub fn flush(&mut self) -> Result<()> {
        let (done, result) = self.write_buffer();
        let parts = self.ends.partition_point(|end| *end <= done);
        let whole = parts.checked_sub(1).map_or(0, |last| self.ends[last]);
        // The header is no frame.
        let frames = parts - usize::from(parts > 0 && self.written == 0);
        self.buffer.clear();
        self.ends.clear();
        self.written += whole as u64;
        self.frames += frames as u64;
        result.map_err(|cause| {
            // A device such as /dev/full has no size.
            let _ = self.file.set_len(self.written);
            anyhow!(
                "{}: {cause}; {} frames are written and stay; make room, or limit the files with \
                 --rotate-size and --files",
                self.name.display(),
                self.frames
            )
        })
    }

    /// Writes the buffer. Returns how many bytes were written, and the cause if they are not all.
    fn write_buffer(&mut self) -> (usize, io::Result<()>) {
        let mut done = 0;
        while done < self.buffer.len() {
            match self.file.write(&self.buffer[done..]) {
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }

    /// The frames that are written, in all files.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of files, of which some may be removed.
    pub fn files(&self) -> u32 {
        self.number
    }

    /// The most bytes of a frame that are recorded.
    pub fn snap(&self) -> usize {
        self.snap
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
