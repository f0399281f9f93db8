//! A server between a driver and a card, which passes all messages on and lies at its moments.
//! Because all else is true, the driver gets as far as the lie.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use harness::codec::{command, get32, get64, receive, send_message, Message, BAR0, BAR0_LEN};
use harness::memory::memfd;
use nic::registers as r;

use crate::lie::{tell_all, Lie};
use crate::row::{Moments, Row};
use crate::tamper::{Lent, Ring, Rings, Tamper};

/// Longest time that the server answers one driver. No run lasts as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lying server that listens. Dropping it ends its thread.
#[derive(Debug)]
pub struct Proxy {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    did: Arc<Did>,
    thread: Option<JoinHandle<()>>,
}

/// What a liar has done.
#[derive(Debug, Default)]
pub struct Did {
    /// The moment of the lie has come. Otherwise the run has shown nothing.
    pub lied: AtomicBool,
    /// A change of memory that lasts was possible.
    pub changed: AtomicBool,
}

impl Proxy {
    /// Listens at `socket`, and passes messages of drivers to the card at `card`.
    ///
    /// # Errors
    /// If the socket cannot be bound or the thread cannot be started.
    pub fn start(socket: &Path, card: &Path, row: Arc<Row>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let (card, stop, did) = (
            card.to_owned(),
            Arc::new(AtomicBool::new(false)),
            Arc::default(),
        );
        let (stopped, done) = (Arc::clone(&stop), Arc::clone(&did));
        let thread = std::thread::Builder::new().spawn(move || {
            for driver in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                // The error says how the connection ended. The driver's own end is what counts.
                let _ = serve(driver, &card, &row, &done);
            }
        })?;
        Ok(Self {
            socket: socket.to_owned(),
            stop,
            did,
            thread: Some(thread),
        })
    }

    /// What the liar has done so far.
    pub fn did(&self) -> &Did {
        &self.did
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread. An error means that it has ended.
        let _ = UnixStream::connect(&self.socket);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

fn serve(driver: UnixStream, card: &Path, row: &Row, did: &Arc<Did>) -> io::Result<()> {
    let card = UnixStream::connect(card)?;
    card.set_read_timeout(Some(Duration::from_secs(10)))?;
    // The limit ends a wait for a driver that neither sends nor leaves.
    driver.set_read_timeout(Some(PATIENCE))?;
    driver.set_write_timeout(Some(PATIENCE))?;
    let mut moments = Moments::default();
    let lies = |request: &Message| {
        let lies = moments.are_due(row.moment, request);
        did.lied.fetch_or(lies, Ordering::Relaxed);
        lies.then(|| row.lie.clone()).into_iter().collect()
    };
    let ask = |request: &Message| {
        send_message(&card, request)?;
        receive(&card)
    };
    Conversation::new(driver, Arc::clone(did)).hold(ask, lies)
}

/// A driver's connection, and what the driver has shown of itself.
pub struct Conversation {
    driver: UnixStream,
    did: Arc<Did>,
    lent: Vec<Lent>,
    rings: Rings,
    stop: Arc<AtomicBool>,
    tampering: Vec<JoinHandle<()>>,
}

impl Conversation {
    /// A connection that has not begun.
    pub fn new(driver: UnixStream, did: Arc<Did>) -> Self {
        Self {
            driver,
            did,
            lent: Vec::new(),
            rings: Rings::default(),
            stop: Arc::default(),
            tampering: Vec::new(),
        }
    }

    /// Answers the driver's requests: `ask` has the honest reply, and `lies` what becomes of it.
    ///
    /// # Errors
    /// Those of the sockets. Each conversation ends with one.
    pub fn hold(
        &mut self,
        mut ask: impl FnMut(&Message) -> io::Result<Message>,
        mut lies: impl FnMut(&Message) -> Vec<Lie>,
    ) -> io::Result<()> {
        let mut previous = Vec::new();
        loop {
            let request = receive(&self.driver)?;
            self.observe(&request)?;
            let mut reply = ask(&request)?;
            let (honest, lies) = (reply.bytes(), lies(&request));
            let mut registers = None;
            for lie in &lies {
                match lie {
                    Lie::Tamper(tamper) => {
                        let lent = self.lent.iter().map(|lent| {
                            let file = lent.file.try_clone()?;
                            Ok(Lent { file, ..*lent })
                        });
                        let lent: io::Result<Vec<_>> = lent.collect();
                        self.tamper(*tamper, lent?)?;
                    }
                    Lie::OwnRegisters(tamper) => {
                        let file = memfd(BAR0_LEN)?;
                        reply.files = vec![file.try_clone()?];
                        registers = Some((*tamper, Lent { iova: 0, file }));
                    }
                    _ => {}
                }
            }
            tell_all(&lies, &self.driver, Some(&request), reply, &previous)?;
            if let Some((tamper, file)) = registers {
                self.tamper(tamper, vec![file])?;
            }
            previous = honest;
        }
    }

    /// Remembers the memory that the driver lends, and its rings.
    fn observe(&mut self, request: &Message) -> io::Result<()> {
        let payload = &request.payload;
        if request.header.command == command::DMA_MAP {
            for file in &request.files {
                let (iova, file) = (get64(payload, 16), file.try_clone()?);
                self.lent.push(Lent { iova, file });
            }
        }
        let is_write = request.header.command == command::REGION_WRITE;
        let Some((BAR0, offset)) = request.access().filter(|_| is_write) else {
            return Ok(());
        };
        let value = get32(payload, 16);
        let low = |ring: &mut Ring| ring.base = ring.base >> 32 << 32 | u64::from(value);
        let high = |ring: &mut Ring| ring.base = ring.base & 0xffff_ffff | u64::from(value) << 32;
        let Rings { receive, transmit } = &mut self.rings;
        match offset as u32 {
            at if at == r::RDBAL(0) => low(receive),
            at if at == r::RDBAH(0) => high(receive),
            at if at == r::RDLEN(0) => receive.len = value,
            at if at == r::TDBAL(0) => low(transmit),
            at if at == r::TDBAH(0) => high(transmit),
            at if at == r::TDLEN(0) => transmit.len = value,
            _ => {}
        }
        Ok(())
    }

    /// Changes memory in a thread, until the connection ends.
    fn tamper(&mut self, tamper: Tamper, memory: Vec<Lent>) -> io::Result<()> {
        let (stop, did, rings) = (Arc::clone(&self.stop), Arc::clone(&self.did), self.rings);
        let work = move || {
            let changed = tamper.perform(&memory, rings, &stop);
            did.changed.fetch_or(changed, Ordering::Relaxed);
        };
        self.tampering
            .push(std::thread::Builder::new().spawn(work)?);
        Ok(())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.tampering.drain(..) {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}
