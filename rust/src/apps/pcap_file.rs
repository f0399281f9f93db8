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

// The words of the headers of the file and of a record.
const FILE_HEADER_WORDS: usize = 6;
const RECORD_HEADER_WORDS: usize = 4;

const LINK_TYPE_ETHERNET: u32 = 1;

/// Destination, source and type of a frame.
const MIN_FRAME: u32 = 14;

const MAX_FILE_SIZE: u64 = 2 << 30;

const NANOSECONDS: u64 = 1_000_000_000;

/// All frames of a file, in memory.
pub struct Recording {
    bytes: Vec<u8>,
    /// The place of each frame in them, and its time: nanoseconds since the first one, not less than that of
    /// the frame before.
    frames: Vec<(Range<usize>, u64)>,
}

impl Recording {
    /// The number of frames, at least 1.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// The bytes of a frame, without CRC.
    pub fn frame(&self, index: usize) -> &[u8] {
        &self.bytes[self.frames[index].0.clone()]
    }

    /// Nanoseconds from the first frame to this one, not less than those of the frame before.
    pub fn time(&self, index: usize) -> u64 {
        self.frames[index].1
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

        let [magic, _, _, _, _, link_type] = reader.words::<FILE_HEADER_WORDS>()?;
        reader.swapped = [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&magic.swap_bytes());
        if magic == MAGIC_PCAPNG {
            bail!("this is pcapng, and only classic pcap is read; convert it: editcap -F pcap");
        }
        match reader.in_order(magic) {
            MAGIC_MICROSECONDS => {}
            MAGIC_NANOSECONDS => reader.fraction = 1,
            _ => bail!("this is not a pcap file: it begins with {magic:08x}"),
        }
        let link_type = reader.in_order(link_type);
        if link_type != LINK_TYPE_ETHERNET {
            bail!(
                "the link type is {link_type}, not 1 (Ethernet); record on an Ethernet interface"
            );
        }
        Ok(reader)
    }

    fn in_order(&self, word: u32) -> u32 {
        match self.swapped {
            true => word.swap_bytes(),
            false => word,
        }
    }

    /// Moves on by `count` bytes, and returns their place.
    fn skip(&mut self, count: usize) -> Result<Range<usize>> {
        if self.bytes.len() - self.at < count {
            bail!(
                "the file is cut short, or has no frame: it ends in frame {}; record it again",
                self.frames + 1
            );
        }
        self.at += count;
        Ok(self.at - count..self.at)
    }

    /// Reads a header.
    fn words<const N: usize>(&mut self) -> Result<[u32; N]> {
        let place = self.skip(4 * N)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(self.bytes[place].chunks_exact(4)) {
            *word = self.in_order(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        }
        Ok(words)
    }

    /// Reads the next frame. Returns its place and its time, in nanoseconds since 1970.
    fn read_frame(&mut self) -> Result<(Range<usize>, u64)> {
        let [seconds, fraction, captured, original] = self.words::<RECORD_HEADER_WORDS>()?;
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
        let place = self.skip(captured as usize)?;
        self.frames = number;
        let time = u64::from(seconds) * NANOSECONDS + u64::from(fraction) * self.fraction;
        Ok((place, time))
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
        let most = 4 * (FILE_HEADER_WORDS + RECORD_HEADER_WORDS) + room;
        let bytes = read_file(path, most as u64)?;
        let (first, _) = Reader::new(&bytes, room)?.read_frame()?;
        Ok(bytes[first].to_vec())
    };
    read().with_context(|| path.display().to_string())
}

/// Reads and checks all frames of a file, each at most `room` bytes. A file may have up to 2 GiB. The errors are
/// those of [`pcap_read_first`], and name the first wrong frame.
pub fn pcap_load(path: &Path, room: usize) -> Result<Recording> {
    let read = || -> Result<Recording> {
        let bytes = read_file(path, MAX_FILE_SIZE + 1)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            bail!("the file has more than 2 GiB; divide it: editcap -c");
        }
        let mut reader = Reader::new(&bytes, room)?;
        let (place, start) = reader.read_frame()?;
        let mut frames = vec![(place, 0)];
        let mut last = 0;
        while reader.at < bytes.len() {
            let (place, time) = reader.read_frame()?;
            // A clock may go back. Then the frame follows the one before at once.
            last = time.saturating_sub(start).max(last);
            frames.push((place, last));
        }
        Ok(Recording { bytes, frames })
    };
    read().with_context(|| path.display().to_string())
}
