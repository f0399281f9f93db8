//! The messages of iperf3's control connection, version 3.1 and later: states of one byte, and JSON with its length.

use serde::{Deserialize, Serialize};

/// Bytes of the cookie that names a test: 36 letters and a NUL.
pub const COOKIE: usize = 37;

/// The longest JSON of a client.
pub const MAX_JSON: usize = 16 * 1024;

/// The states that both sides send each other.
pub mod state {
    #![allow(missing_docs)]
    pub const TEST_START: u8 = 1;
    pub const TEST_RUNNING: u8 = 2;
    pub const TEST_END: u8 = 4;
    pub const PARAM_EXCHANGE: u8 = 9;
    pub const CREATE_STREAMS: u8 = 10;
    pub const CLIENT_TERMINATE: u8 = 12;
    pub const EXCHANGE_RESULTS: u8 = 13;
    pub const DISPLAY_RESULTS: u8 = 14;
    pub const IPERF_DONE: u8 = 16;
    pub const SERVER_ERROR: u8 = 254;
    pub const ACCESS_DENIED: u8 = 255;
}

/// What a client wants of a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Whether the test uses TCP.
    pub tcp: bool,
    /// Connections with data.
    pub parallel: usize,
    /// Whether the server sends.
    pub reverse: bool,
    /// Whether both send.
    pub bidirectional: bool,
}

/// The server's side of the results.
#[derive(Debug, Default, Serialize)]
pub struct Results {
    /// Processor time in percent of the time of the test.
    pub cpu_util_total: f64,
    /// The same, in user mode.
    pub cpu_util_user: f64,
    /// The same, of the kernel.
    pub cpu_util_system: f64,
    /// 0: we do not count them.
    pub sender_has_retransmits: i64,
    /// The connections.
    pub streams: Vec<StreamResults>,
}

/// The results of a connection with data.
#[derive(Debug, Serialize)]
pub struct StreamResults {
    /// Its number: 1, 3, 4, 5, as iperf3 counts.
    pub id: usize,
    /// Bytes that the server sent or received.
    pub bytes: u64,
    /// Not counted.
    pub retransmits: i64,
    /// Only for UDP.
    pub jitter: f64,
    /// Only for UDP.
    pub errors: u64,
    /// Only for UDP.
    pub packets: u64,
    /// Seconds.
    pub start_time: f64,
    /// Seconds.
    pub end_time: f64,
}

/// JSON at the start of `input`, after its length in 4 bytes, and the bytes of both. `None` if it is not whole yet.
///
/// # Errors
/// If it is too long.
pub fn json(input: &[u8]) -> Result<Option<(&[u8], usize)>, ()> {
    let Some(length) = input.first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    if length > MAX_JSON {
        return Err(());
    }
    Ok(input.get(4..4 + length).map(|json| (json, 4 + length)))
}

/// Appends JSON after its length.
pub fn put_json(output: &mut Vec<u8>, value: &impl Serialize) {
    let text = serde_json::to_vec(value).unwrap_or_default();
    output.extend_from_slice(&(text.len() as u32).to_be_bytes());
    output.extend_from_slice(&text);
}
