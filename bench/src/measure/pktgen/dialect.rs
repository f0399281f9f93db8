//! What each generator reads and answers.

use super::config::Tool;

/// A question or an order, and the answer to it.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The lines to send, with names such as `{size}` for values. A line with `{port}` is sent for each port.
    pub(super) send: &'static str,
    /// A pattern for the lines of the answer. What its groups match are the words of the answer.
    pub(super) answer: &'static str,
    /// The words that the answer has for each port. If it has none, the first line is the whole answer.
    pub(super) words_per_port: usize,
    /// A pattern for the line that refuses an order. If it has a group, that is the reason.
    pub(super) refusal: &'static str,
}

/// The exchanges with one kind of generator.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The generator has started its ports; a link is not needed.
    pub(super) ready: Exchange,
    /// A word for each port: `up` or `down`.
    pub(super) links: Exchange,
    /// Sets the size of the frames.
    pub(super) size: Exchange,
    /// Limits the rate of each port. The ports have a link.
    pub(super) rate: Exchange,
    pub(super) start: Exchange,
    pub(super) stop: Exchange,
    /// Numbers for each port. `count` makes of them the packets that the port has sent and received since its set-up,
    /// including those that arrived but found no free descriptor. A port that only sends never frees descriptors.
    pub(super) counters: Exchange,
    pub(super) count: fn(&[u64]) -> [u64; 2],
}

impl Dialect {
    pub(super) fn of(tool: Tool) -> &'static Self {
        match tool {
            Tool::Testpmd => &TESTPMD,
            Tool::Pktgen | Tool::Moongen | Tool::Command => &LINE_PROTOCOL,
        }
    }
}

/// The line protocol of `bench/pktgen/README.md`, which the Lua scripts for dpdk-pktgen and MoonGen speak.
static LINE_PROTOCOL: Dialect = Dialect {
    ready: line("", r"triptych: ready (\d+) ?(\S*)", 0),
    links: line("links", "triptych: links (.*)", 1),
    size: line("size {size}", "triptych: size", 0),
    rate: line("rate {percent}", "triptych: rate", 0),
    start: line("start", "triptych: started", 0),
    stop: line("stop", "triptych: stopped", 0),
    counters: line("counters", "triptych: counters (.*)", 2),
    count: |words| [words[0], words[1]],
};

const fn line(send: &'static str, answer: &'static str, words_per_port: usize) -> Exchange {
    exchange(send, answer, words_per_port, "triptych: error (.*)")
}

/// The commands of testpmd since DPDK 22.11. It executes them as soon as it has started its ports. An order prints nothing
/// if it succeeds, so the links are asked for, too.
static TESTPMD: Dialect = Dialect {
    ready: exchange("show port summary all", LINK, 1, NEVER),
    links: exchange("show port summary all", LINK, 1, NEVER),
    size: exchange(
        "set txpkts {length}\nshow port summary all",
        LINK,
        1,
        COMPLAINT,
    ),
    rate: exchange(
        "set port {port} queue 0 rate {mbit}\nshow port summary all",
        LINK,
        1,
        COMPLAINT,
    ),
    start: exchange("start", "packet forwarding - ports=", 0, NEVER),
    stop: exchange("stop", "Accumulated forward statistics", 0, NEVER),
    counters: exchange(
        "show port stats all",
        r"RX-packets:\s*(\d+)\s+RX-missed:\s*(\d+)|TX-packets:\s*(\d+)\s+TX-errors",
        3,
        NEVER,
    ),
    count: |words| [words[2], words[0] + words[1]],
};

/// A port in the list of links: its number, MAC address, name, driver, status and speed.
const LINK: &str = r"^\d+\s+\S+\s+\S+\s+\S+\s+(up|down)\s";
/// What testpmd says instead of nothing.
const COMPLAINT: &str = "Invalid|rate_limit|Bad arguments|failed|not supported|error";
/// A pattern that no line matches.
const NEVER: &str = "$.";

const fn exchange(
    send: &'static str,
    answer: &'static str,
    words_per_port: usize,
    refusal: &'static str,
) -> Exchange {
    Exchange {
        send,
        answer,
        words_per_port,
        refusal,
    }
}
