//! Frames in files: what a port of the card plays and records, and what the programs read and write.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use nic::WireTo;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::TsResolution;
use tempfile::TempDir;

use crate::test_nic::TestNic;

/// Frame number `number`: of another length and contents than its neighbours.
pub fn frame(number: usize) -> Vec<u8> {
    let length = 60 + number * 7 % 1455;
    (0..length).map(|at| (at * 3 + number) as u8).collect()
}

/// The first frames, at the same time.
pub fn frames(count: usize) -> impl Iterator<Item = (Duration, Vec<u8>)> {
    (0..count).map(|number| (Duration::ZERO, frame(number)))
}

/// Writes a file with these frames.
pub fn write<F: AsRef<[u8]>>(
    path: &Path,
    header: PcapHeader,
    frames: impl IntoIterator<Item = (Duration, F)>,
) -> Result<()> {
    let mut writer = PcapWriter::with_header(File::create(path)?, header)?;
    for (time, frame) in frames {
        let frame = frame.as_ref();
        writer.write_packet(&PcapPacket::new(time, frame.len() as u32, frame))?;
    }
    Ok(())
}

/// A frame of a file.
#[derive(Debug)]
pub struct Recorded {
    /// When it arrived.
    pub time: Duration,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its length on the wire.
    pub length: usize,
}

/// The frames of a file.
pub fn read(path: &Path) -> Result<Vec<Recorded>> {
    let mut reader = PcapReader::new(File::open(path)?)?;
    let unit = match reader.header().ts_resolution {
        TsResolution::MicroSecond => 1000,
        TsResolution::NanoSecond => 1,
    };
    let mut frames = Vec::new();
    // The crate's checked packets cannot be longer on the wire than the snap length, but real ones are.
    while let Some(packet) = reader.next_raw_packet() {
        let packet = packet?;
        frames.push(Recorded {
            time: Duration::new(packet.ts_sec.into(), packet.ts_frac * unit),
            bytes: packet.data.into_owned(),
            length: packet.orig_len as usize,
        });
    }
    Ok(frames)
}

/// Checks that these are the frames from number `first` on, or their first `snap` bytes.
pub fn expect_frames(found: &[Recorded], first: usize, count: usize, snap: usize) -> Result<()> {
    crate::expect::exactly("found", found.len() as u64, "frames", count as u64)?;
    for (number, found) in (first..).zip(found) {
        let expected = frame(number);
        let shown = &expected[..expected.len().min(snap)];
        ensure!(
            found.bytes == shown && found.length == expected.len(),
            "frame {number}: {found:x?}"
        );
    }
    Ok(())
}

/// A card whose port 0 has a file as its wire.
#[derive(Debug)]
pub struct RecordingNic {
    nic: TestNic,
    folder: TempDir,
}

impl RecordingNic {
    /// Port 0 receives these frames, and records what it sends.
    pub fn of<F: AsRef<[u8]>>(frames: impl IntoIterator<Item = (Duration, F)>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let input = folder.path().join("wire.pcap");
        write(&input, PcapHeader::default(), frames)?;
        Self::with_wire(folder, Some(input))
    }

    /// Port 0 receives nothing, and records what it sends.
    pub fn silent() -> Result<Self> {
        Self::with_wire(tempfile::tempdir()?, None)
    }

    fn with_wire(folder: TempDir, input: Option<PathBuf>) -> Result<Self> {
        let output = Some(folder.path().join("sent.pcap"));
        let mut wire = Some(WireTo::Pcap { input, output });
        let nic = TestNic::running(|config| config.with_each_port(|port| port.wire = wire.take()))?;
        Ok(Self { nic, folder })
    }

    /// The card.
    pub fn nic(&self) -> &TestNic {
        &self.nic
    }

    /// A path in the folder of the recordings.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The frames that port 0 has sent.
    pub fn sent(self) -> Result<Vec<Recorded>> {
        let Self { mut nic, folder } = self;
        nic.stop_data_plane()?;
        drop(nic);
        read(&folder.path().join("sent.pcap")).context("what the port has sent")
    }
}
