//! What a balancer has done.

use serde::Serialize;

/// What went through a frontend, or to a backend. Bytes are those of the payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Connections since the start.
    pub connections_total: u64,
    /// Connections now, half-open and closing ones included.
    pub connections_current: u64,
    /// Bytes of clients.
    pub bytes_in: u64,
    /// Bytes to clients.
    pub bytes_out: u64,
}

/// A frontend.
#[derive(Clone, Debug, Serialize)]
pub struct FrontendCounts {
    /// Its name.
    pub name: String,
    /// Its port.
    pub port: u16,
    /// What went through it.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Connections that were reset because no backend was up.
    pub refused: u64,
}

/// A backend.
#[derive(Clone, Debug, Serialize)]
pub struct BackendCounts {
    /// Its name.
    pub name: String,
    /// Its address and port.
    pub address: String,
    /// Whether it gets connections.
    pub is_up: bool,
    /// What went to it.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Checks with a result.
    pub checks: u64,
    /// Checks that failed.
    pub checks_failed: u64,
}

/// The connection table.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TableCounts {
    /// Connections that it can hold.
    pub size: usize,
    /// Bytes that it takes.
    pub memory_bytes: usize,
    /// Connections whose handshake is not complete.
    pub opening: usize,
    /// Connections whose handshake is complete.
    pub open: usize,
    /// Connections that have ended.
    pub closing: usize,
    /// Connections whose handshake took too long.
    pub opening_expired: u64,
    /// Connections on which nothing moved for too long.
    pub idle_expired: u64,
    /// Connections that went early, because the table was full.
    pub evicted: u64,
    /// SYNs that were dropped, because all connections of the table were open.
    pub full: u64,
}

/// Frames, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameCounts {
    /// Segments that were sent on.
    pub forwarded: u64,
    /// Resets that answered a segment without a connection, or with a backend that is down.
    pub resets: u64,
    /// Resets that let a backend forget an ended connection, because its port comes back.
    pub port_resets: u64,
    /// Fragments, which are dropped.
    pub fragments: u64,
    /// Segments that no sender should have sent, which are dropped.
    pub malformed: u64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    /// The frontends, as in the configuration.
    pub frontends: Vec<FrontendCounts>,
    /// The backends, as in the configuration.
    pub backends: Vec<BackendCounts>,
    /// The connection table.
    pub table: TableCounts,
    /// Frames.
    pub frames: FrameCounts,
}
