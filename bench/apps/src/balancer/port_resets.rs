//! Resets that let backends forget ended connections, before the balancer uses their ports again.
//!
//! A backend that closed first is in TIME-WAIT, on Linux for a minute, and would not take the port's next SYN. A reset
//! with the expected number ends TIME-WAIT (RFC 1337 calls that assassination). TIME-WAIT guards against old segments.
//! Only the balancer sends from its address, and it forwards nothing more of the connection, so there are none.

use std::collections::VecDeque;

use smoltcp::wire::TcpSeqNumber;

use super::segment::{new_reset, Route};

/// The resets that wait to be sent, in order.
pub struct PortResets {
    waiting: VecDeque<Vec<u8>>,
    most: usize,
}

impl PortResets {
    /// At most so many resets wait.
    pub fn new(most: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            most,
        }
    }

    /// Adds a reset to a backend, which expects `number` next. If too many wait, because the port sends nothing, the
    /// oldest one goes.
    pub fn add(&mut self, route: &Route, number: TcpSeqNumber) {
        if self.waiting.len() >= self.most {
            self.waiting.pop_front();
        }
        self.waiting.push_back(new_reset(route, number));
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next reset to send.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.waiting.pop_front()
    }
}
