//! A controller on the kernel's sockets: it discovers a node, and reads its properties.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use hdrhistogram::Histogram;
use serde::Serialize;

use super::frame::{esv, Frame, Object, Writer};
use super::objects::{MANDATORY, NODE_PROFILE};
use super::service::{GROUP, PORT};
use crate::kernel::group_socket;
use crate::run::Run;

/// The controller's own object.
const CONTROLLER: Object = [0x05, 0xff, 0x01];

/// An answer that takes longer is lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the controller saw.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Rounds of a discovery and the reads.
    pub rounds: u64,
    /// Requests of all rounds.
    pub requests: u64,
    /// Requests without an answer.
    pub lost: u64,
    /// Answers with another value than the first one, or that a property is not available.
    pub wrong: u64,
    /// Seconds from the first request to the last answer.
    pub seconds: f64,
    /// Percentiles of the time to an answer, in milliseconds.
    pub p50_ms: f64,
    /// The same.
    pub p99_ms: f64,
    /// The same.
    pub p999_ms: f64,
}

/// A controller and its socket.
struct Controller {
    socket: UdpSocket,
    tid: u16,
    latencies: Histogram<u64>,
    lost: u64,
    wrong: u64,
    /// The values of the first round.
    known: [Option<Vec<u8>>; MANDATORY.len()],
}

/// Runs rounds of a discovery and a read of each mandatory property, until the run is over.
///
/// # Errors
/// If the socket cannot be used, or no node answers the first discovery.
pub fn control(own: Ipv4Addr, rounds: u64, run: &Run) -> Result<Report> {
    let socket = group_socket(own, GROUP, PORT)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut controller = Controller {
        socket,
        tid: 0,
        latencies: Histogram::new(3)?,
        lost: 0,
        wrong: 0,
        known: std::array::from_fn(|_| None),
    };
    let start = Instant::now();
    let mut done = 0;
    while done < rounds && !run.is_over() {
        controller.round()?;
        ensure!(
            done > 0 || controller.lost <= MANDATORY.len() as u64,
            "no node answers at {GROUP} on the interface of {own}"
        );
        done += 1;
    }
    let milliseconds = |share| controller.latencies.value_at_quantile(share) as f64 / 1e6;
    Ok(Report {
        rounds: done,
        requests: done * (1 + MANDATORY.len() as u64),
        lost: controller.lost,
        wrong: controller.wrong,
        seconds: start.elapsed().as_secs_f64(),
        p50_ms: milliseconds(0.5),
        p99_ms: milliseconds(0.99),
        p999_ms: milliseconds(0.999),
    })
}

impl Controller {
    fn round(&mut self) -> Result<()> {
        let discovered = self.ask(SocketAddr::from((GROUP, PORT)), 0xd6)?;
        let Some((node, _)) = discovered else {
            // Without a node, there is nothing to read.
            self.lost += MANDATORY.len() as u64;
            return Ok(());
        };
        for (place, epc) in MANDATORY.into_iter().enumerate() {
            if let Some((_, value)) = self.ask(node, epc)? {
                match &self.known[place] {
                    Some(known) if *known != value => self.wrong += 1,
                    Some(_) => {}
                    None => self.known[place] = Some(value),
                }
            }
        }
        Ok(())
    }

    /// Reads a property. Returns who answered, and the value; `None` if no answer came in time.
    fn ask(&mut self, to: SocketAddr, epc: u8) -> Result<Option<(SocketAddr, Vec<u8>)>> {
        self.tid = self.tid.wrapping_add(1);
        let mut request = Vec::new();
        let objects = (CONTROLLER, NODE_PROFILE);
        Writer::begin(&mut request, self.tid.to_be_bytes(), objects, esv::GET).property(epc, &[]);
        let start = Instant::now();
        self.socket
            .send_to(&request, to)
            .with_context(|| format!("cannot send to {to}"))?;
        let mut datagram = [0; 2048];
        while start.elapsed() < PATIENCE {
            let (size, from) = match self.socket.recv_from(&mut datagram) {
                Ok(received) => received,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => break,
                    ErrorKind::Interrupted => continue,
                    _ => return Err(error).context("cannot receive"),
                },
            };
            let Ok(frame) = Frame::parse(&datagram[..size]) else {
                continue;
            };
            // Late answers to older requests, and what others send to the group.
            if frame.tid != self.tid.to_be_bytes() || frame.deoj != CONTROLLER {
                continue;
            }
            // A latency beyond the histogram's range cannot be: it is below PATIENCE.
            let _ = self.latencies.record(start.elapsed().as_nanos() as u64);
            let value = frame.properties().find(|(code, _)| *code == epc);
            let Some((_, value)) = value.filter(|_| frame.esv == esv::GET_RES) else {
                self.wrong += 1;
                return Ok(None);
            };
            return Ok(Some((from, value.to_vec())));
        }
        self.lost += 1;
        Ok(None)
    }
}
