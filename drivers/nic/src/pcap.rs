//! Files of recorded frames (pcap) as the wire of a port.

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_file::pcap::{PcapHeader, PcapReader};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

use crate::error::NicError;
use crate::traffic::frame::MIN_FRAME;

/// Bytes that wait in memory before they go to the file.
const BLOCK: usize = 64 << 10;

/// Bytes of a file's header, and of a record's.
const FILE_HEADER: u64 = 24;
const RECORD_HEADER: u64 = 16;

/// The first error of a wire while frames move. The thread that moves them cannot return it.
pub(crate) type Failure = Arc<OnceLock<NicError>>;

/// The recorded frames that arrive at a port, and the file of those that it sends.
#[derive(Debug)]
pub(crate) struct Pcap {
    input: Option<Input>,
    output: Option<Output>,
    failure: Failure,
}

#[derive(Debug)]
struct Input {
    path: PathBuf,
    reader: PcapReader<File>,
    /// Where the next record begins.
    offset: u64,
    /// The number of the next record, from 1.
    record: u64,
    /// The next frame, which waits for descriptors.
    next: Option<Vec<u8>>,
    /// Frames that have not arrived.
    left: u64,
}

#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: File,
    /// Whole records that are not in the file.
    buffer: Vec<u8>,
    /// Bytes of whole records in the file.
    written: u64,
}

fn error(path: &Path, reason: impl Display, remedy: &str) -> NicError {
    NicError::unusable("pcap", path, reason, remedy)
}

/// What is wrong with a file, from the reader's error.
fn reason(error: PcapError, damaged: &str) -> String {
    match error {
        PcapError::IoError(reason) if reason.kind() != ErrorKind::UnexpectedEof => {
            reason.to_string()
        }
        _ => damaged.to_owned(),
    }
}

/// Refuses files on which opening or writing waits for another program.
fn check_kind(path: &Path) -> Result<Option<Metadata>, NicError> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    let kind = metadata.file_type();
    if kind.is_fifo() || kind.is_socket() || kind.is_dir() {
        let reason = "it is a pipe, a socket or a folder";
        return Err(error(path, reason, "choose a regular file"));
    }
    Ok(Some(metadata))
}

impl Input {
    /// Opens a file, and reads all of it once, so that a damaged one is refused at the start.
    fn open(path: &Path) -> Result<Self, NicError> {
        check_kind(path)?;
        let mut whole = Self::begin(path)?;
        while whole.read()?.is_some() {}
        let mut input = Self::begin(path)?;
        input.left = whole.record - 1;
        input.next = input.read()?;
        Ok(input)
    }

    fn begin(path: &Path) -> Result<Self, NicError> {
        let file = File::open(path)
            .map_err(|reason| error(path, reason, "choose a file that you can read"))?;
        let reader = PcapReader::new(file).map_err(|damage| {
            let reason = reason(damage, "no header of a pcap file");
            let remedy = "record it as pcap (tcpdump -w), or convert pcapng (editcap -F pcap)";
            error(path, format_args!("byte 0: {reason}"), remedy)
        })?;
        let link = reader.header().datalink;
        if link != DataLink::ETHERNET {
            let reason = format!("byte 20: link type {}, not Ethernet (1)", u32::from(link));
            return Err(error(
                path,
                reason,
                "record frames of an Ethernet interface",
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            reader,
            offset: FILE_HEADER,
            record: 1,
            next: None,
            left: 0,
        })
    }

    /// The next frame of the file; `None` at its end.
    fn read(&mut self) -> Result<Option<Vec<u8>>, NicError> {
        let place = format!("record {} at byte {}", self.record, self.offset);
        let wrong = |reason: &str, remedy| error(&self.path, format!("{place}: {reason}"), remedy);
        let Some(packet) = self.reader.next_raw_packet() else {
            return Ok(None);
        };
        let packet = packet.map_err(|damage| {
            let reason = reason(damage, "the file ends within it");
            wrong(
                &reason,
                "record the file again, or keep its whole records (editcap)",
            )
        })?;
        let (kept, len) = (packet.incl_len, packet.orig_len);
        if kept != len {
            let reason = format!("it has {kept} bytes of a frame of {len}");
            return Err(wrong(&reason, "record whole frames (tcpdump -s 0)"));
        }
        self.record += 1;
        self.offset += RECORD_HEADER + u64::from(kept);
        let mut frame = packet.data.into_owned();
        // A real wire has no shorter frames.
        frame.resize(frame.len().max(MIN_FRAME), 0);
        Ok(Some(frame))
    }
}

impl Output {
    fn create(path: &Path) -> Result<Self, NicError> {
        check_kind(path)?;
        let mut output = Self {
            path: path.to_owned(),
            file: File::create(path)
                .map_err(|reason| error(path, reason, "choose a file that you can write"))?,
            buffer: Vec::with_capacity(2 * BLOCK),
            written: 0,
        };
        let header = PcapHeader {
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        // Writing to memory does not fail.
        let _ = header.write_to(&mut output.buffer);
        output.flush()?;
        Ok(output)
    }

    fn write(&mut self, frame: &[u8], time: Duration) -> Result<(), NicError> {
        let len = frame.len() as u32;
        for word in [time.as_secs() as u32, time.subsec_nanos(), len, len] {
            self.buffer.extend(word.to_le_bytes());
        }
        self.buffer.extend(frame);
        match self.buffer.len() {
            0..BLOCK => Ok(()),
            _ => self.flush(),
        }
    }

    /// Writes whole records. If the disk is full, those that the file had before stay readable.
    fn flush(&mut self) -> Result<(), NicError> {
        let result = self.file.write_all(&self.buffer);
        let len = self.buffer.len() as u64;
        self.buffer.clear();
        let Err(reason) = result else {
            self.written += len;
            return Ok(());
        };
        // A device such as /dev/full has no length.
        let _ = self.file.set_len(self.written);
        let _ = self.file.seek(SeekFrom::Start(self.written));
        let reason = format!("byte {}: {reason}", self.written);
        let remedy = "make room, or choose another file; frames are missing from here on";
        Err(error(&self.path, reason, remedy))
    }
}

impl Pcap {
    /// Opens the file of frames that arrive, and makes the one for frames that the driver sends.
    pub(crate) fn open(
        input: Option<&Path>,
        output: Option<&Path>,
        failure: &Failure,
    ) -> Result<Self, NicError> {
        if let (Some(from), Some(to)) = (input, output) {
            let same = |a: Metadata, b: Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
            if let (Some(a), Some(b)) = (check_kind(from)?, check_kind(to)?) {
                if a.is_file() && same(a, b) {
                    let reason = "it is the file of the arriving frames too";
                    return Err(error(to, reason, "choose another file"));
                }
            }
        }
        Ok(Self {
            input: input.map(Input::open).transpose()?,
            output: output.map(Output::create).transpose()?,
            failure: failure.clone(),
        })
    }

    /// The frame that arrives next.
    pub(crate) fn next(&self) -> Option<&[u8]> {
        self.input.as_ref()?.next.as_deref()
    }

    /// Frames that have not arrived.
    pub(crate) fn left(&self) -> u64 {
        self.input.as_ref().map_or(0, |input| input.left)
    }

    /// The next frame has arrived.
    pub(crate) fn advance(&mut self) {
        let Some(input) = &mut self.input else { return };
        input.left = input.left.saturating_sub(1);
        // An error here means that another program has changed the file since the start.
        input.next = input.read().unwrap_or_else(|error| {
            tracing::error!("{error}");
            let _ = self.failure.set(error);
            None
        });
    }

    /// Records frames that the driver has sent.
    pub(crate) fn send(&mut self, mut frames: impl Iterator<Item = Vec<u8>>) {
        let Some(output) = &mut self.output else {
            return;
        };
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.unwrap_or_default();
        if let Err(error) = frames.try_for_each(|frame| output.write(&frame, time)) {
            tracing::error!("{error}");
            let _ = self.failure.set(error);
            // A gap in the middle of a record of traffic would mislead.
            self.output = None;
        }
    }
}

impl Drop for Pcap {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.output.as_mut().map(Output::flush) {
            let _ = self.failure.set(error);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn header(magic: u32, link: u32, word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let versions = if word(1) == [1, 0, 0, 0] {
            [2, 0, 4, 0]
        } else {
            [0, 2, 0, 4]
        };
        let rest = [0, 0, 65535, link].map(word).concat();
        [&word(magic)[..], &versions, &rest].concat()
    }

    fn record(frame: &[u8], word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let len = frame.len() as u32;
        [&[1, 2, len, len].map(word).concat(), frame].concat()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut pcap = Pcap::open(Some(file.path()), None, &Failure::default())
            .map_err(|error| error.to_string())?;
        let mut frames = Vec::new();
        while let Some(frame) = pcap.next() {
            frames.push(frame.to_vec());
            pcap.advance();
        }
        assert_eq!(pcap.left(), 0);
        Ok(frames)
    }

    #[test]
    fn files_of_both_byte_orders_and_resolutions_are_read() {
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
            for word in [u32::to_le_bytes, u32::to_be_bytes] {
                let frames = [vec![7; 1514], vec![8; 14]];
                let records = frames.each_ref().map(|frame| record(frame, word));
                let bytes = [header(magic, 1, word), records.concat()].concat();
                let padded = [vec![8; 14], vec![0; 46]].concat();
                assert_eq!(read(&bytes), Ok(vec![vec![7; 1514], padded]));
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_with_the_place() {
        let word = u32::to_le_bytes;
        let start = header(0xa1b2_c3d4, 1, word);
        let whole = [start.clone(), record(&[1; 60], word)].concat();
        let short = [whole.clone(), record(&[1; 60], word)[..40].to_vec()].concat();
        let cut = [&start[..], &[1, 2, 60, 90].map(word).concat(), &[1; 60]].concat();
        let endless = [&start[..], &[1, 2, u32::MAX, u32::MAX].map(word).concat()].concat();
        for (bytes, place) in [
            (&b""[..], "byte 0"),
            (&[0x0a; 40], "editcap -F pcap"),
            (&header(0xa1b2_c3d4, 113, word), "link type 113"),
            (&whole[..30], "record 1 at byte 24: the file ends within it"),
            (&short, "record 2 at byte 100"),
            (&cut, "60 bytes of a frame of 90"),
            (&endless, "record 1 at byte 24"),
        ] {
            let error = read(bytes).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
        assert_eq!(read(&start), Ok(vec![]));
    }

    #[test]
    fn sent_frames_are_recorded_or_the_failure_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.pcap");
        let frames: Vec<_> = (60..1514).map(|len| vec![len as u8; len]).collect();
        let failure = Failure::default();
        let mut pcap = Pcap::open(None, Some(&path), &failure).unwrap();
        pcap.send(frames.clone().into_iter());
        drop(pcap);
        assert!(failure.get().is_none());
        assert_eq!(read(&std::fs::read(&path).unwrap()), Ok(frames));
        assert!(Pcap::open(Some(&path), Some(&path), &failure).is_err());
        assert!(read(&std::fs::read(&path).unwrap()).is_ok());
        let full = Pcap::open(None, Some(Path::new("/dev/full")), &failure);
        assert!(full.unwrap_err().to_string().contains("/dev/full"));
    }
}
