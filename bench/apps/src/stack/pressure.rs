//! Whether clients come all at once, or a flood of SYNs does.
//!
//! A client that finds no socket comes again a second later. So many clients at once lack sockets for a moment only,
//! and those that do have one complete their handshake. In a flood, sockets are lacking all the time.

use std::time::{Duration, Instant};

/// Sockets are lacking for at least this time in a flood.
const FLOOD: Duration = Duration::from_millis(20);

/// A time in which SYNs found no socket.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: Instant,
    last: Instant,
}

/// How long SYNs have found no socket.
#[derive(Debug, Default)]
pub struct Pressure(Option<Span>);

impl Pressure {
    /// Notes that a SYN found no socket. Returns whether that has been so for long enough to be a flood.
    pub fn note(&mut self, now: Instant) -> bool {
        let first = match self.0 {
            Some(span) if now.saturating_duration_since(span.last) < FLOOD => span.first,
            _ => now,
        };
        self.0 = Some(Span { first, last: now });
        now.saturating_duration_since(first) >= FLOOD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the moments, in milliseconds, are a flood.
    fn floods(moments: &[u64]) -> Vec<u64> {
        let start = Instant::now();
        let mut pressure = Pressure::default();
        let flood = |at: &&u64| pressure.note(start + Duration::from_millis(**at));
        moments.iter().filter(flood).copied().collect()
    }

    #[test]
    fn clients_that_come_at_once_and_again_a_second_later_are_no_flood() {
        assert_eq!(floods(&[0, 1, 3, 7, 1000, 1002, 1005, 3001, 3010]), [0; 0]);
    }

    #[test]
    fn a_flood_goes_on_and_ends_when_sockets_were_there_for_a_while() {
        let moments = [0, 10, 19, 20, 30, 45, 80, 85, 99, 100, 101];
        assert_eq!(floods(&moments), [20, 30, 45, 100, 101]);
    }
}
