//! A vfio-user client.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{fence, Ordering};

use harness::client::{accepted, new_eventfd, Answer, Session};
use harness::codec::payload::{self, CONNECT, MSIX};
use harness::codec::{command, get32, get64, BAR0, CONFIG};
use nic::registers as r;

use super::memory::Memory;

pub const REGION_IO: u32 = 2;
pub const REGION_MSIX: u32 = 4;

/// A client that reads and writes shared registers as a driver does, and fails if the card breaks the protocol.
pub struct Client {
    pub session: Session,
    /// The mapping of the shared register pages, if the server offers them.
    pub pages: Option<Memory>,
    /// Offset and length of the shared parts of BAR0.
    pub areas: Vec<(u64, u64)>,
}

impl Client {
    pub fn connect(path: &Path) -> Self {
        let mut session = Session::connect(path).unwrap();
        let mut ask = |command, payload: &[u8]| session.command(command, payload, &[]).unwrap();
        let version = ask(command::VERSION, &payload::version());
        assert_eq!((&version[..2], version.last()), (&[0, 0][..], Some(&0)));
        let mut info = |room| ask(command::REGION_INFO, &payload::region_info(room, BAR0));
        let size = get32(&info(32), 0);
        let (mut pages, mut areas) = (None, Vec::new());
        if size > 32 {
            let info = info(size);
            assert_eq!((info.len() as u32, get32(&info, 12)), (size, 32));
            areas = (0..get32(&info, 40) as usize)
                .map(|n| (get64(&info, 48 + 16 * n), get64(&info, 56 + 16 * n)))
                .collect();
            let file = session.register_file().unwrap();
            pages = Some(Memory::of_file(file, 0x8000));
        }
        Self {
            session,
            pages,
            areas,
        }
    }

    /// Sends a command and waits for the reply, or the error number.
    pub fn command(&mut self, command: u16, payload: &[u8], files: &[BorrowedFd<'_>]) -> Answer {
        self.session.call(command, payload, files).unwrap()
    }

    pub fn dma_map(
        &mut self,
        iova: u64,
        size: u64,
        offset: u64,
        permissions: u32,
        file: Option<&OwnedFd>,
    ) -> Result<(), u32> {
        let payload = payload::map(permissions, offset, iova, size);
        let files: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
        self.command(command::DMA_MAP, &payload, &files).map(drop)
    }

    pub fn dma_unmap(&mut self, iova: u64, size: u64) -> Result<(), u32> {
        let payload = payload::unmap(0, iova, size);
        self.command(command::DMA_UNMAP, &payload, &[]).map(drop)
    }

    pub fn region_read(&mut self, region: u32, offset: u64, count: u32) -> Result<Vec<u8>, u32> {
        let payload = payload::access(offset, region, count);
        self.command(command::REGION_READ, &payload, &[])
            .map(|reply| reply[16..].to_vec())
    }

    pub fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), u32> {
        let payload = payload::write(offset, region, data);
        self.command(command::REGION_WRITE, &payload, &[]).map(drop)
    }

    pub fn reset(&mut self) {
        self.command(command::RESET, &[], &[]).unwrap();
    }

    fn shared(&self, register: u32) -> Option<&Memory> {
        let register = u64::from(register);
        let mut areas = self.areas.iter();
        let inside = areas.any(|(start, len)| (*start..start + len).contains(&register));
        self.pages.as_ref().filter(|_| inside)
    }

    pub fn get(&mut self, register: u32) -> u32 {
        if let Some(pages) = self.shared(register) {
            return pages.read_u32(register as usize);
        }
        self.session.get(register).unwrap()
    }

    pub fn set(&mut self, register: u32, value: u32) {
        if let Some(pages) = self.shared(register) {
            fence(Ordering::Release);
            return pages.write_u32(register as usize, value);
        }
        self.session.set(register, value).unwrap();
    }

    pub fn change(&mut self, register: u32, set: u32, clear: u32) {
        let value = self.get(register) & !clear | set;
        self.set(register, value);
    }

    /// Lets frames of up to 9014 bytes arrive.
    pub fn allow_jumbo(&mut self) {
        self.change(r::HLREG0, r::HLREG0_JUMBOEN, 0);
        self.set(r::MAXFRS, r::field(r::MAXFRS_MFS, 9018));
    }

    /// Resets the card and waits until it is ready.
    pub fn reset_card(&mut self) {
        self.set(r::CTRL, r::CTRL_RST);
        while self.get(r::CTRL) & r::CTRL_RST != 0 {}
    }

    /// Runs a cycle on the MDIO bus, as IEEE 802.3 clause 45 has it, to a register of a device of the PHY.
    pub fn mdio(&mut self, operation: u32, device: u32, register: u32) {
        let place = r::field(r::MSCA_DEV_TYPE, device) | register;
        for cycle in [r::MSCA_OP_CODE_ADDRESS, operation] {
            self.set(r::MSCA, place | cycle | r::MSCA_MDI_COMMAND);
            assert_eq!(self.get(r::MSCA) & r::MSCA_MDI_COMMAND, 0);
        }
    }

    /// Reads a register of the PHY.
    pub fn read_phy(&mut self, device: u32, register: u32) -> u16 {
        self.mdio(r::MSCA_OP_CODE_READ, device, register);
        r::field_get(r::MSRWD_READ_DATA, self.get(r::MSRWD)) as u16
    }

    pub fn set_bus_master(&mut self, on: bool) {
        let command = if on { 6 } else { 2 };
        self.region_write(CONFIG, 4, &[command, 0]).unwrap();
    }

    /// Connects an eventfd to an MSI-X vector, and enables it for the causes in IVAR(0).
    pub fn interrupt(&mut self, vector: u32, causes: u32) -> OwnedFd {
        let fd = new_eventfd().unwrap();
        self.set_irq(vector, &fd);
        self.set(r::GPIE, r::GPIE_MSIX_MODE);
        self.set(r::IVAR(0), causes);
        self.set(r::EIMS, 1 << vector);
        fd
    }

    pub fn set_irq(&mut self, vector: u32, eventfd: &OwnedFd) {
        let connected = self
            .session
            .interrupt(CONNECT, MSIX, vector, &[eventfd.as_fd()]);
        accepted(connected.unwrap()).unwrap();
    }
}

/// Takes the signals out of an eventfd.
pub fn signals(fd: &OwnedFd) -> u64 {
    harness::client::signals(fd).unwrap()
}

/// Looks at the link like a driver: LINKS.UP stays clear until the first read.
pub fn links(client: &mut Client) -> u32 {
    client.get(r::LINKS);
    client.get(r::LINKS)
}

pub fn link_is_up(client: &mut Client) -> bool {
    links(client) & r::LINKS_UP != 0
}

/// Reads a word of the EEPROM through EERD; `None` if the card does not answer.
pub fn read_eeprom(client: &mut Client, word: u32) -> Option<u16> {
    client.set(r::EERD, r::field(r::EERD_ADDR, word) | r::EERD_START);
    let value = client.get(r::EERD);
    let done = value & (r::EERD_DONE | r::EERD_START) == r::EERD_DONE;
    done.then_some(r::field_get(r::EERD_DATA, value) as u16)
}
