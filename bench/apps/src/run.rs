//! The bounds of a run: its end, its connections, its memory.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// A run, from its start until a signal or the end of its time.
pub struct Run {
    ended: Arc<AtomicBool>,
    end: Option<Instant>,
    start: Instant,
}

impl Run {
    /// Starts a run. From here on, a signal ends the run and not the process.
    ///
    /// # Errors
    /// If the signals cannot be caught.
    pub fn start(duration: Option<Duration>) -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&ended))?;
        }
        let start = Instant::now();
        Ok(Self {
            ended,
            end: duration.and_then(|duration| start.checked_add(duration)),
            start,
        })
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The time until the run is over, if no signal comes.
    pub fn left(&self) -> Duration {
        self.end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    /// The seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// Bounds of connections and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections of clients at the same time.
    pub connections: usize,
    /// Bytes of each of the two buffers of a socket.
    pub socket_buffer: usize,
    /// A connection on which nothing moves for this time is closed.
    pub idle_timeout: Duration,
    /// A request or an answer that has begun must be whole after this time, and a second for each 4 KiB of it.
    pub request_timeout: Duration,
}
