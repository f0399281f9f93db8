//! What a port of the card says of itself over vfio-user: its PCI configuration space and the sizes of
//! its BARs.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};

/// BARs of a PCI function.
pub const BARS: usize = 6;

/// Bytes of the configuration space that are asked for: the part without extended capabilities.
const CONFIG_BYTES: u32 = 256;
/// The region that holds the configuration space.
const CONFIG_REGION: u32 = 7;

const VERSION: u16 = 1;
const GET_REGION_INFO: u16 = 5;
const REGION_READ: u16 = 9;

const HEADER: usize = 16;
/// Longest reply.
const MAX_REPLY: usize = 4096;
/// Flag of a reply that holds an error number.
const ERROR: u32 = 0x20;

/// Time for each reply.
const PATIENCE: Duration = Duration::from_secs(60);

/// The identity of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortIdentity {
    /// The first 256 bytes of the configuration space.
    pub config: Vec<u8>,
    /// Bytes of each BAR; 0 if there is none.
    pub bars: [u64; BARS],
}

impl PortIdentity {
    /// Asks the port behind a socket. The connection ends before this returns.
    ///
    /// # Errors
    /// No card listens, or it gives no valid answer within five seconds.
    pub fn ask(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("cannot connect to the card at {}", socket.display()))?;
        Self::ask_over(stream).with_context(|| {
            format!(
                "the card at {} does not answer; perhaps another program uses this port",
                socket.display()
            )
        })
    }

    fn ask_over(stream: UnixStream) -> Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut client = Client { stream, next: 0 };
        let version = [&0_u16.to_le_bytes()[..], &1_u16.to_le_bytes(), b"{}\0"].concat();
        client.call(VERSION, &version)?;
        let mut bars = [0; BARS];
        for (index, size) in (0..).zip(&mut bars) {
            *size = client.region_size(index)?;
        }
        let config = client.read_region(CONFIG_REGION, CONFIG_BYTES)?;
        Ok(Self { config, bars })
    }

    /// A 16-bit value of the configuration space.
    pub fn u16_at(&self, offset: usize) -> u16 {
        let byte = |at: usize| self.config.get(at).copied().unwrap_or_default();
        u16::from_le_bytes([byte(offset), byte(offset + 1)])
    }

    /// A 32-bit value of the configuration space.
    pub fn u32_at(&self, offset: usize) -> u32 {
        u32::from(self.u16_at(offset)) | u32::from(self.u16_at(offset + 2)) << 16
    }
}

/// A connection to the card.
struct Client {
    stream: UnixStream,
    next: u16,
}

impl Client {
    fn region_size(&mut self, index: u32) -> Result<u64> {
        // argsz, flags, index, offset of capabilities, size, offset
        let mut request = [0; 32];
        request[..4].copy_from_slice(&32_u32.to_le_bytes());
        request[8..12].copy_from_slice(&index.to_le_bytes());
        let reply = self.call(GET_REGION_INFO, &request)?;
        let size = reply.get(16..24).context("the reply is too short")?;
        Ok(u64::from_le_bytes(size.try_into()?))
    }

    fn read_region(&mut self, region: u32, count: u32) -> Result<Vec<u8>> {
        let request = [
            &0_u64.to_le_bytes()[..],
            &region.to_le_bytes(),
            &count.to_le_bytes(),
        ];
        let reply = self.call(REGION_READ, &request.concat())?;
        let data = reply.get(16..).unwrap_or_default();
        ensure!(
            data.len() == count as usize,
            "the reply has {} bytes of data",
            data.len()
        );
        Ok(data.to_vec())
    }

    /// Sends a request. Returns the payload of its reply.
    fn call(&mut self, command: u16, payload: &[u8]) -> Result<Vec<u8>> {
        self.next += 1;
        let size = u32::try_from(HEADER + payload.len())?;
        let mut message = [self.next.to_le_bytes(), command.to_le_bytes()].concat();
        message.extend_from_slice(&size.to_le_bytes());
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(payload);
        self.stream.write_all(&message)?;

        let mut header = [0; HEADER];
        self.stream.read_exact(&mut header)?;
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i]));
        ensure!(
            header[..2] == self.next.to_le_bytes(),
            "the reply belongs to another request"
        );
        if word(8) & ERROR != 0 {
            bail!(io::Error::from_raw_os_error(i32::try_from(word(12))?));
        }
        let length = usize::try_from(word(4))?;
        ensure!(
            (HEADER..=MAX_REPLY).contains(&length),
            "the reply has {length} bytes"
        );
        let mut reply = vec![0; length - HEADER];
        self.stream.read_exact(&mut reply)?;
        Ok(reply)
    }
}
