//! A server between a driver and a card, which passes all messages on and lies at its moment.

use std::collections::HashMap;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::descriptors::{files, pipe, BAR0_LEN};
use crate::memory::memfd;
use crate::message::{
    command, get32, get64, receive, send, send_message, Message, FLAG_REPLY, HEADER_LEN,
};
use crate::server::lie::{Lie, Moment, Row};
use crate::server::tamper::{Lent, Ring, Rings, Tamper};

/// Longest time that the server answers one driver. No run lasts as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lying server that listens. Dropping it ends its thread.
#[derive(Debug)]
pub struct Proxy {
    stop: Arc<AtomicBool>,
    lied: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Listens at `path`, and passes messages of one driver to the card at `card`.
    ///
    /// # Errors
    /// If the socket cannot be bound or the thread cannot be started.
    pub fn start(path: &Path, card: &Path, row: Arc<Row>) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        let (card, stop) = (card.to_owned(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let lied = Arc::new(AtomicBool::new(false));
        let lying = Arc::clone(&lied);
        let thread = std::thread::Builder::new().spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                match listener.accept() {
                    // The error says how the connection ended. The driver's own end is what counts.
                    Ok((driver, _)) => {
                        drop(Session::serve(driver, &card, &row, &stopped, &lying));
                    }
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        })?;
        Ok(Self {
            stop,
            lied,
            thread: Some(thread),
        })
    }

    /// Whether the moment of the lie has come. Otherwise the run has shown nothing.
    pub fn has_lied(&self) -> bool {
        self.lied.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

/// One driver's connection.
struct Session<'a> {
    driver: UnixStream,
    card: UnixStream,
    row: &'a Row,
    stop: &'a AtomicBool,
    lied: &'a AtomicBool,
    replies: HashMap<u16, u32>,
    writes: HashMap<u64, u32>,
    lent: Vec<Lent>,
    rings: Rings,
    previous: Vec<u8>,
    /// The lie of [`Moment::From`] has begun.
    begun: bool,
    tampering: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl<'a> Session<'a> {
    fn serve(
        driver: UnixStream,
        card: &Path,
        row: &'a Row,
        stop: &'a AtomicBool,
        lied: &'a AtomicBool,
    ) -> io::Result<()> {
        driver.set_nonblocking(false)?;
        let card = UnixStream::connect(card)?;
        card.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut session = Session {
            driver,
            card,
            row,
            stop,
            lied,
            replies: HashMap::new(),
            writes: HashMap::new(),
            lent: Vec::new(),
            rings: Rings::default(),
            previous: Vec::new(),
            begun: false,
            tampering: Vec::new(),
        };
        let ended = session.converse();
        for (stop, thread) in session.tampering {
            stop.store(true, Ordering::Relaxed);
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
        ended
    }

    fn converse(&mut self) -> io::Result<()> {
        // The limit ends a wait for a driver that neither sends nor leaves.
        self.driver.set_read_timeout(Some(PATIENCE))?;
        self.driver.set_write_timeout(Some(PATIENCE))?;
        loop {
            let request = receive(&self.driver)?;
            self.observe(&request)?;
            send_message(&self.card, &request)?;
            let reply = receive(&self.card)?;
            let lies = self.is_due(&request);
            let honest = reply.bytes();
            if lies {
                self.lied.store(true, Ordering::Relaxed);
                self.lie(&request, reply)?;
            } else {
                send_message(&self.driver, &reply)?;
            }
            self.previous = honest;
        }
    }

    /// Remembers the memory that the driver lends, and its rings.
    fn observe(&mut self, request: &Message) -> io::Result<()> {
        let payload = &request.payload;
        match request.header.command {
            command::DMA_MAP => {
                for file in &request.files {
                    let (iova, file) = (get64(payload, 16), file.try_clone()?);
                    self.lent.push(Lent { iova, file });
                }
            }
            command::REGION_WRITE if get32(payload, 8) == 0 => {
                let value = get32(payload, 16);
                let low = |ring: &mut Ring| ring.base = ring.base >> 32 << 32 | u64::from(value);
                let high = |ring: &mut Ring| {
                    ring.base = ring.base & 0xffff_ffff | u64::from(value) << 32;
                };
                match get64(payload, 0) {
                    0x1000 => low(&mut self.rings.receive),
                    0x1004 => high(&mut self.rings.receive),
                    0x1008 => self.rings.receive.len = value,
                    0x6000 => low(&mut self.rings.transmit),
                    0x6004 => high(&mut self.rings.transmit),
                    0x6008 => self.rings.transmit.len = value,
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the reply, and says whether it is one to lie at.
    fn is_due(&mut self, request: &Message) -> bool {
        let asked = request.header.command;
        let count = |counter: &mut u32| std::mem::replace(counter, *counter + 1);
        let nth = count(self.replies.entry(asked).or_default());
        let register = get64(&request.payload, 0);
        let is_write = asked == command::REGION_WRITE && get32(&request.payload, 8) == 0;
        let nth_write = is_write.then(|| count(self.writes.entry(register).or_default()));
        match self.row.moment {
            Moment::Always => true,
            Moment::Replies(wanted) => asked == wanted,
            Moment::Reply(wanted, number) => asked == wanted && nth == number,
            Moment::From(wanted, number) => {
                self.begun |= asked == wanted && nth == number;
                self.begun
            }
            Moment::Write(wanted, number) => {
                register == u64::from(wanted) && nth_write == Some(number)
            }
        }
    }

    fn lie(&mut self, request: &Message, mut reply: Message) -> io::Result<()> {
        let limit = Instant::now() + PATIENCE;
        match self.row.lie {
            Lie::Nothing => {}
            Lie::Header(change) => change(&mut reply.header),
            Lie::Payload(change) => {
                change(request, &mut reply.payload);
                reply.fit_size();
            }
            Lie::Body(change) => change(&mut reply.payload),
            Lie::Files(kinds) => reply.files = files(kinds, std::mem::take(&mut reply.files))?,
            Lie::Pipes(count) => {
                let made: io::Result<Vec<_>> = (0..count).map(|_| pipe()).collect();
                reply.files = made?;
            }
            Lie::Omit => return Ok(()),
            Lie::Silence => loop {
                receive(&self.driver)?;
            },
            Lie::Drip(pause) => {
                for byte in reply.bytes() {
                    send(&self.driver, &[byte], &[])?;
                    self.pause(pause)?;
                }
                return Ok(());
            }
            Lie::Late(pause) => self.pause(pause)?,
            Lie::Close(count) => {
                let bytes = reply.bytes();
                send(&self.driver, &bytes[..count.min(bytes.len())], &[])?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Lie::Stop(count) => {
                let bytes = reply.bytes();
                send(&self.driver, &bytes[..count.min(bytes.len())], &[])?;
                loop {
                    receive(&self.driver)?;
                }
            }
            Lie::Repeat(count) => {
                for _ in 1..count {
                    send_message(&self.driver, &reply)?;
                }
            }
            Lie::Stale => return send(&self.driver, &self.previous, &[]),
            Lie::Unasked(header) => send(&self.driver, &header.bytes(), &[])?,
            Lie::Flood => {
                let mut header = reply.header;
                (header.size, header.flags) = (HEADER_LEN as u32, FLAG_REPLY);
                while Instant::now() < limit {
                    header.id = header.id.wrapping_add(1);
                    send(&self.driver, &header.bytes(), &[])?;
                }
            }
            Lie::Tamper(tamper) => {
                let lent = self.lent.iter().map(|lent| {
                    let file = lent.file.try_clone()?;
                    Ok(Lent { file, ..*lent })
                });
                let lent: io::Result<Vec<_>> = lent.collect();
                self.tamper(tamper, lent?)?;
            }
            Lie::OwnRegisters(tamper) => {
                let file = memfd(BAR0_LEN)?;
                reply.files = vec![file.try_clone()?];
                send_message(&self.driver, &reply)?;
                return self.tamper(tamper, vec![Lent { iova: 0, file }]);
            }
        }
        send_message(&self.driver, &reply)
    }

    /// Changes memory in a thread, until the connection ends.
    fn tamper(&mut self, tamper: Tamper, memory: Vec<Lent>) -> io::Result<()> {
        let (stop, rings) = (Arc::new(AtomicBool::new(false)), self.rings);
        let stopped = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().spawn(move || tamper.perform(&memory, rings, &stopped))?;
        self.tampering.push((stop, thread));
        Ok(())
    }

    /// Waits so many milliseconds. Fails if the server must stop.
    fn pause(&self, milliseconds: u64) -> io::Result<()> {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        while Instant::now() < end {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            let left = end.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        Ok(())
    }
}
