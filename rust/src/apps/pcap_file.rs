//! Files of recorded frames, in the classic pcap format.
#![forbid(unsafe_code)]
#![allow(dead_code)] // a program reads the first frame or all

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use anyhow::{bail, Context, Result};

// The first word, with times in microseconds or in nanoseconds.
const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const MAGIC_PCAPNG: u32 = 0x0a0d_0d0a;

// The headers of the file and of a record, and places in them.
const FILE_HEADER_SIZE: usize = 24;
const LINK_TYPE: usize = 20;
const RECORD_HEADER_SIZE: usize = 16;
const SECONDS: usize = 0;
const FRACTION: usize = 4;
const CAPTURED_LENGTH: usize = 8;
const ORIGINAL_LENGTH: usize = 12;

const LINK_TYPE_ETHERNET: u32 = 1;

/// Destination, source and type of a frame.
const MIN_FRAME: u32 = 14;

const MAX_FILE_SIZE: u64 = 2 << 30;

const NANOSECONDS: u64 = 1_000_000_000;

/// A frame of a recording.
struct Frame {
    /// Its place in the bytes of the recording.
    place: Range<usize>,
    /// Nanoseconds since the first frame, not less than that of the frame before.
    time: u64,
}

/// All frames of a file, in memory.
pub struct Recording {
    bytes: Vec<u8>,
    frames: Vec<Frame>,
}

impl Recording {
    /// The number of frames, at least 1.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// The bytes of a frame, without CRC.
    pub fn frame(&self, index: usize) -> &[u8] {
        &self.bytes[self.frames[index].place.clone()]
    }

    /// Nanoseconds from the first frame to this one, not less than those of the frame before.
    pub fn time(&self, index: usize) -> u64 {
        self.frames[index].time
    }
}

/// A file that is being read, in memory.
struct Reader<'b> {
    bytes: &'b [u8],
    /// Where the next record begins.
    at: usize,
    /// Read so far.
    frames: u64,
    /// The most bytes of a frame.
    room: u32,
    /// Numbers have the other byte order.
    swapped: bool,
    /// Nanoseconds of a unit of a time stamp's fraction.
    fraction: u64,
}

impl<'b> Reader<'b> {
    /// Reads the header of the file.
    fn new(bytes: &'b [u8], room: usize) -> Result<Self> {
        let mut reader = Self {
            bytes,
            at: 0,
            frames: 0,
            room: room as u32,
            swapped: false,
            fraction: 1000,
        };

        reader.has(FILE_HEADER_SIZE)?;
        let magic = reader.read32(0);
        reader.swapped = [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&magic.swap_bytes());
        if reader.read32(0) == MAGIC_NANOSECONDS {
            reader.fraction = 1;
        }
        if magic == MAGIC_PCAPNG {
            bail!("this is pcapng, and only classic pcap is read; convert it: editcap -F pcap");
        }
        if !reader.swapped && ![MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&magic) {
            bail!("this is not a pcap file: it begins with {magic:08x}");
        }
        let link_type = reader.read32(LINK_TYPE);
        if link_type != LINK_TYPE_ETHERNET {
            bail!(
                "the link type is {link_type}, not 1 (Ethernet); record on an Ethernet interface"
            );
        }
        reader.at = FILE_HEADER_SIZE;
        Ok(reader)
    }

    fn read32(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes[at..at + 4]);
        match self.swapped {
            true => u32::from_ne_bytes(word).swap_bytes(),
            false => u32::from_ne_bytes(word),
        }
    }

    /// Checks that `count` more bytes are there.
    fn has(&self, count: usize) -> Result<()> {
        if self.bytes.len() - self.at < count {
            bail!(
                "the file is cut short, or has no frame: it ends in frame {}; record it again",
                self.frames + 1
            );
        }
        Ok(())
    }

    /// Reads the next frame. Its time is nanoseconds since 1970.
    fn read_frame(&mut self) -> Result<Frame> {
        self.has(RECORD_HEADER_SIZE)?;
        let captured = self.read32(self.at + CAPTURED_LENGTH);
        let original = self.read32(self.at + ORIGINAL_LENGTH);
        let (number, room) = (self.frames + 1, self.room);
        if captured != original {
            bail!(
                "frame {number} has {original} bytes, and {captured} of them are recorded; record \
                 whole frames"
            );
        }
        if !(MIN_FRAME..=room).contains(&captured) {
            bail!("frame {number} has {captured} bytes, and a frame has {MIN_FRAME} to {room}");
        }
        let size = RECORD_HEADER_SIZE + captured as usize;
        self.has(size)?;
        let seconds = u64::from(self.read32(self.at + SECONDS));
        let fraction = u64::from(self.read32(self.at + FRACTION));
        let place = self.at + RECORD_HEADER_SIZE..self.at + size;
        self.at += size;
        self.frames += 1;
        Ok(Frame {
            place,
            time: seconds * NANOSECONDS + fraction * self.fraction,
        })
    }
}

/// Reads at most `most` bytes of a file.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    // A pipe without a writer would hold the program for ever.
    if !fs::metadata(path)?.is_file() {
        bail!("this is not a file; name a pcap file");
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the first frame of a file, at most `room` bytes.
///
/// # Errors
/// File, reason and fix: another format, another link type than Ethernet, cut short, no frame, or a frame
/// that is too long, too short, or recorded in part.
pub fn pcap_read_first(path: &Path, room: usize) -> Result<Vec<u8>> {
    let read = || -> Result<Vec<u8>> {
        let most = FILE_HEADER_SIZE + RECORD_HEADER_SIZE + room;
        let bytes = read_file(path, most as u64)?;
        let first = Reader::new(&bytes, room)?.read_frame()?;
        Ok(bytes[first.place].to_vec())
    };
    read().with_context(|| path.display().to_string())
}

fn load(bytes: Vec<u8>, room: usize) -> Result<Recording> {
    let mut frames = Vec::new();
    let (mut first, mut last) = (None, 0);
    let mut reader = Reader::new(&bytes, room)?;

    while frames.is_empty() || reader.at < bytes.len() {
        let mut frame = reader.read_frame()?;
        let first = *first.get_or_insert(frame.time);
        // A clock may go back. Then the frame follows the one before at once.
        last = frame.time.saturating_sub(first).max(last);
        frame.time = last;
        frames.push(frame);
    }
    Ok(Recording { bytes, frames })
}

/// Reads and checks all frames of a file, each at most `room` bytes. A file may have up to 2 GiB.
///
/// # Errors
/// As [`pcap_read_first`]; the reason names the first wrong frame.
pub fn pcap_load(path: &Path, room: usize) -> Result<Recording> {
    let read = || -> Result<Recording> {
        let bytes = read_file(path, MAX_FILE_SIZE + 1)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            bail!("the file has more than 2 GiB; divide it: editcap -c");
        }
        load(bytes, room)
    };
    read().with_context(|| path.display().to_string())
}
