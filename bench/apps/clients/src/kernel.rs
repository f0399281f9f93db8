//! What the kernel counts in this name space.

use std::fs;

use anyhow::{Context, Result};

/// The kernel's counters, by protocol.
const FILES: [&str; 2] = [
    "/proc/thread-self/net/snmp",
    "/proc/thread-self/net/netstat",
];

/// Adds up the counters whose names end with `suffix`, such as `InCsumErrors`, over all protocols. A protocol without
/// such a counter adds nothing.
///
/// # Errors
/// If the kernel's files are missing or malformed.
pub fn sum_of(suffix: &str) -> Result<u64> {
    let mut sum = 0;
    for file in FILES {
        let text = fs::read_to_string(file).context(file)?;
        sum += sum_in(&text, suffix).with_context(|| format!("{file} is malformed"))?;
    }
    Ok(sum)
}

/// Each protocol has a line of names and a line of values.
fn sum_in(text: &str, suffix: &str) -> Option<u64> {
    let lines: Vec<_> = text.lines().collect();
    let mut sum = 0;
    for pair in lines.chunks(2) {
        let [names, values] = pair else {
            return None;
        };
        let fields = names.split_whitespace().zip(values.split_whitespace());
        for (_, value) in fields.filter(|(name, _)| name.ends_with(suffix)) {
            sum += value.parse::<u64>().ok()?;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_all_protocols_are_added() {
        let text = "Icmp: InMsgs InCsumErrors\nIcmp: 9 1\nTcp: InCsumErrors OutRsts\nTcp: 2 7\nUdp: InErrors\nUdp: 5\n";
        assert_eq!(sum_in(text, "InCsumErrors"), Some(3));
        assert_eq!(sum_in("Tcp: InCsumErrors\nTcp: x\n", "InCsumErrors"), None);
        assert_eq!(sum_in("Tcp: InCsumErrors\n", "InCsumErrors"), None);
    }

    #[test]
    fn the_kernel_has_the_counters() {
        for (file, suffix) in FILES.into_iter().zip(["InCsumErrors", "SynRetrans"]) {
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains(suffix), "{file} has no {suffix}");
            assert!(sum_of(suffix).is_ok());
        }
    }
}
