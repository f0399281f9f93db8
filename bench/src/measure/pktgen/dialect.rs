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
    pub(super) refusal: Option<&'static str>,
}

/// Packets of a port since its set-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) sent: u64,
    /// Includes packets that arrived but found no free descriptor. A port that only sends never frees descriptors.
    pub(super) received: u64,
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
    /// Numbers for each port, which `count` reads.
    pub(super) counters: Exchange,
    pub(super) count: fn(&[u64]) -> Counters,
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
    count: |words| Counters {
        sent: words[0],
        received: words[1],
    },
};

const fn line(send: &'static str, answer: &'static str, words_per_port: usize) -> Exchange {
    let refusal = Some("triptych: error (.*)");
    Exchange {
        send,
        answer,
        words_per_port,
        refusal,
    }
}

/// The commands of testpmd since DPDK 22.11. It executes them as soon as it has started its ports.
static TESTPMD: Dialect = Dialect {
    ready: testpmd_set("show port summary all"),
    links: testpmd_set("show port summary all"),
    size: Exchange {
        refusal: Some(COMPLAINT),
        ..testpmd_set("set txpkts {length}\nshow port summary all")
    },
    rate: Exchange {
        refusal: Some(COMPLAINT),
        ..testpmd_set("set port {port} queue 0 rate {mbit}\nshow port summary all")
    },
    start: testpmd("start", r"packet forwarding - ports=", 0),
    stop: testpmd("stop", "Accumulated forward statistics", 0),
    counters: testpmd(
        "show port stats all",
        r"RX-packets:\s*(\d+)\s+RX-missed:\s*(\d+)|TX-packets:\s*(\d+)\s+TX-errors",
        3,
    ),
    count: |words| Counters {
        sent: words[2],
        received: words[0] + words[1],
    },
};

/// What testpmd says instead of nothing.
const COMPLAINT: &str = r"Invalid|rate_limit|Bad arguments|failed|not supported|error";

const fn testpmd(send: &'static str, answer: &'static str, words_per_port: usize) -> Exchange {
    Exchange {
        send,
        answer,
        words_per_port,
        refusal: None,
    }
}

/// An order of testpmd prints nothing if it succeeds, so the links are asked for, too. The words of their lines are
/// number, MAC address, name, driver, status and speed.
const fn testpmd_set(send: &'static str) -> Exchange {
    testpmd(send, r"^\d+\s+\S+\s+\S+\s+\S+\s+(up|down)\s", 1)
}
