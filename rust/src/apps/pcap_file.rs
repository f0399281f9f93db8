//! Files of recorded frames, in the classic pcap format.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
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
const CAPTURED_LENGTH: usize = 8;
const ORIGINAL_LENGTH: usize = 12;

const LINK_TYPE_ETHERNET: u32 = 1;

/// Destination, source and type of a frame.
const MIN_FRAME: u32 = 14;

fn read32(bytes: &[u8], at: usize, swapped: bool) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    match swapped {
        true => u32::from_ne_bytes(word).swap_bytes(),
        false => u32::from_ne_bytes(word),
    }
}

fn read_all(file: &mut File, bytes: &mut [u8]) -> Result<()> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            bail!("the file is cut short, or has no frame; record it again")
        }
        result => Ok(result?),
    }
}

/// Reads the header of the file. Returns whether its numbers have the other byte order.
fn read_header(file: &mut File) -> Result<bool> {
    let mut header = [0; FILE_HEADER_SIZE];

    read_all(file, &mut header)?;
    let magic = read32(&header, 0, false);
    let swapped = [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&magic.swap_bytes());
    if magic == MAGIC_PCAPNG {
        bail!("this is pcapng, and only classic pcap is read; convert it: editcap -F pcap");
    }
    if !swapped && ![MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&magic) {
        bail!("this is not a pcap file: it begins with {magic:08x}");
    }
    let link_type = read32(&header, LINK_TYPE, swapped);
    if link_type != LINK_TYPE_ETHERNET {
        bail!("the link type is {link_type}, not 1 (Ethernet); record on an Ethernet interface");
    }
    Ok(swapped)
}

fn read_first(file: &mut File, room: u32) -> Result<Vec<u8>> {
    let mut record = [0; RECORD_HEADER_SIZE];
    let swapped = read_header(file)?;

    read_all(file, &mut record)?;
    let captured = read32(&record, CAPTURED_LENGTH, swapped);
    let original = read32(&record, ORIGINAL_LENGTH, swapped);
    if captured != original {
        bail!(
            "frame 1 has {original} bytes, and {captured} of them are recorded; record whole frames"
        );
    }
    if !(MIN_FRAME..=room).contains(&captured) {
        bail!("frame 1 has {captured} bytes, and a frame has {MIN_FRAME} to {room}");
    }
    let mut frame = vec![0; captured as usize];
    read_all(file, &mut frame)?;
    Ok(frame)
}

/// Reads the first frame of a file, at most `room` bytes.
///
/// # Errors
/// File, reason and fix: another format, another link type than Ethernet, cut short, no frame, or a frame
/// that is too long, too short, or recorded in part.
pub fn pcap_read_first(path: &Path, room: usize) -> Result<Vec<u8>> {
    let read = || {
        // A pipe without a writer would hold the program for ever.
        if !fs::metadata(path)?.is_file() {
            bail!("this is not a file; name a pcap file");
        }
        read_first(&mut File::open(path)?, room as u32)
    };
    read().with_context(|| path.display().to_string())
}
