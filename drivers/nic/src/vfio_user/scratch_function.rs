//! Tests that the server serves any PCI function: here one with a single BAR of scratch memory.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use rustix::event::{eventfd, EventfdFlags};
use rustix::io::Errno;

use crate::memory::map_request::{MapError, Permissions};
use crate::pci_function::{IrqRequest, PciFunction, Region, SessionEnd};
use crate::socket::ListeningSocket;
use crate::vfio_user::server;

/// Bytes of BAR2, the function's only region.
const SCRATCH_LEN: usize = 64;
const BAR2: u32 = 2;

#[derive(Debug, Default)]
struct State {
    scratch: Vec<u8>,
    maps: Vec<(u64, u64)>,
    ends: Vec<SessionEnd>,
}

/// A PCI function that keeps what is written to its BAR until it is reset.
#[derive(Debug, Default)]
struct ScratchFunction(Mutex<State>);

impl ScratchFunction {
    fn range(offset: u64, len: usize) -> Result<std::ops::Range<usize>, Errno> {
        let start = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        let end = start.checked_add(len).ok_or(Errno::INVAL)?;
        (end <= SCRATCH_LEN)
            .then_some(start..end)
            .ok_or(Errno::INVAL)
    }
}

impl PciFunction for ScratchFunction {
    fn begin_session(&self) {
        self.reset();
    }

    fn end_session(&self, end: SessionEnd) {
        self.0.lock().unwrap().ends.push(end);
    }

    fn reset(&self) {
        self.0.lock().unwrap().scratch = vec![0; SCRATCH_LEN];
    }

    fn region(&self, region: u32) -> Region {
        match region {
            BAR2 => Region::of_len(SCRATCH_LEN as u64),
            _ => Region::of_len(0),
        }
    }

    fn region_read(&self, _region: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let range = Self::range(offset, into.len())?;
        into.copy_from_slice(&self.0.lock().unwrap().scratch[range]);
        Ok(())
    }

    fn region_write(&self, _region: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        let range = Self::range(offset, from.len())?;
        self.0.lock().unwrap().scratch[range].copy_from_slice(from);
        Ok(())
    }

    fn region_file(&self, _region: u32) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn irq_vectors(&self, _kind: u32) -> u32 {
        0
    }

    fn set_irqs(&self, _kind: u32, _request: IrqRequest) -> Result<(), Errno> {
        Err(Errno::INVAL)
    }

    fn dma_map(
        &self,
        iova: u64,
        size: u64,
        _permissions: Permissions,
        _file: Option<OwnedFd>,
        _offset: u64,
    ) -> Result<(), MapError> {
        self.0.lock().unwrap().maps.push((iova, size));
        Ok(())
    }

    fn dma_unmap(&self, iova: u64, size: u64) -> Result<(), MapError> {
        self.0
            .lock()
            .unwrap()
            .maps
            .retain(|map| *map != (iova, size));
        Ok(())
    }

    fn dma_unmap_all(&self) {
        self.0.lock().unwrap().maps.clear();
    }
}

/// Sends a command and returns the payload of the reply, or the error number in it.
fn ask(client: &mut UnixStream, command: u16, payload: &[u8]) -> Result<Vec<u8>, u32> {
    let mut message = Vec::new();
    message.extend([7_u16.to_le_bytes(), command.to_le_bytes()].concat());
    message.extend(
        [16 + payload.len() as u32, 0, 0]
            .map(u32::to_le_bytes)
            .concat(),
    );
    message.extend(payload);
    client.write_all(&message).unwrap();
    let mut head = [0; 16];
    client.read_exact(&mut head).unwrap();
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
    let mut reply = vec![0; word(4) as usize - 16];
    client.read_exact(&mut reply).unwrap();
    match word(12) {
        0 => Ok(reply),
        errno => Err(errno),
    }
}

/// The fixed part of a region access.
fn access(offset: u64, region: u32, count: u32) -> Vec<u8> {
    let mut bytes = offset.to_le_bytes().to_vec();
    bytes.extend([region, count].map(u32::to_le_bytes).concat());
    bytes
}

#[test]
fn a_function_that_is_not_the_card_is_served() {
    const VERSION: u16 = 1;
    const DMA_MAP: u16 = 2;
    const DEVICE_GET_REGION_INFO: u16 = 5;
    const REGION_READ: u16 = 9;
    const REGION_WRITE: u16 = 10;
    const DEVICE_RESET: u16 = 13;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scratch.sock");
    let function = Arc::new(ScratchFunction::default());
    let stop = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let socket = ListeningSocket::bind(&path).unwrap();
    let thread = server::spawn(0, socket, function.clone(), stop.try_clone().unwrap()).unwrap();

    let mut client = UnixStream::connect(&path).unwrap();
    ask(&mut client, VERSION, &[0, 0, 1, 0]).unwrap();

    let info = [32, 0, BAR2, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
    let info = ask(&mut client, DEVICE_GET_REGION_INFO, &info).unwrap();
    assert_eq!(info[16..24], (SCRATCH_LEN as u64).to_le_bytes());

    let mut write = access(8, BAR2, 4);
    write.extend([1, 2, 3, 4]);
    ask(&mut client, REGION_WRITE, &write).unwrap();
    let read = ask(&mut client, REGION_READ, &access(9, BAR2, 2)).unwrap();
    assert_eq!(read[16..], [2, 3]);

    let outside = ask(&mut client, REGION_READ, &access(60, BAR2, 8));
    assert_eq!(outside, Err(Errno::INVAL.raw_os_error() as u32));
    let absent = ask(&mut client, REGION_READ, &access(0, 0, 1));
    assert_eq!(absent, Err(Errno::INVAL.raw_os_error() as u32));

    let mut map = [32_u32, 3].map(u32::to_le_bytes).concat();
    map.extend([0_u64, 0x10_0000, 0x1000].map(u64::to_le_bytes).concat());
    ask(&mut client, DMA_MAP, &map).unwrap();
    assert_eq!(function.0.lock().unwrap().maps, [(0x10_0000, 0x1000)]);

    ask(&mut client, DEVICE_RESET, &[]).unwrap();
    let read = ask(&mut client, REGION_READ, &access(8, BAR2, 4)).unwrap();
    assert_eq!(read[16..], [0; 4]);

    drop(client);
    rustix::io::write(&stop, &1_u64.to_ne_bytes()).unwrap();
    thread.join().unwrap();
    let ends = std::mem::take(&mut function.0.lock().unwrap().ends);
    assert!(matches!(
        ends[..],
        [SessionEnd::Disconnected | SessionEnd::Stopped]
    ));
}
