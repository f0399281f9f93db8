//! Prints which peers there are, and what is skipped.

use std::fmt::Write;

use super::record::PeersRecord;

/// The table of `triptych peers`.
pub fn table(record: &PeersRecord) -> String {
    let mut text = String::new();
    let mut rows =
        vec![["impl", "variant", "batch", "commit", "from", "built with"].map(str::to_owned)];
    for peer in &record.peers {
        let batches: Vec<_> = peer.builds.iter().map(|build| build.batch).collect();
        let commit: String = peer.source.commit.chars().take(12).collect();
        rows.push([
            peer.implementation.clone(),
            peer.variant.clone(),
            shortened(&batches),
            commit,
            peer.source.from.to_string(),
            peer.toolchain.clone(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..5).map(width).collect();
    if rows.len() > 1 {
        for row in &rows {
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(text, "{cell:width$}  ");
            }
            let _ = writeln!(text, "{}", row[5]);
        }
    }
    for skipped in &record.skipped {
        let _ = writeln!(
            text,
            "skipped: {} ({}): {}",
            skipped.implementation, skipped.variant, skipped.reason
        );
    }
    text
}

/// Batch sizes in order, such as `1 to 256` for nine of them.
fn shortened(batches: &[u32]) -> String {
    let mut sorted = batches.to_vec();
    sorted.sort_unstable();
    match (sorted.as_slice(), sorted.len()) {
        ([first, .., last], 4..) => format!("{first} to {last}"),
        _ => sorted
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::peers::record::{Origin, PeerRecord, Skipped, SourceRecord, VERSION};
    use crate::build::peers::workshop::two_ports;

    #[test]
    fn the_table_names_builds_and_what_is_skipped() {
        let record = PeersRecord {
            version: VERSION,
            peers: vec![PeerRecord {
                implementation: "ixy".to_owned(),
                variant: "own-flags".to_owned(),
                toolchain: "gcc -O2".to_owned(),
                source: SourceRecord {
                    url: String::new(),
                    commit: "0123456789abcdef".to_owned(),
                    from: Origin::Bundle,
                },
                expect: "none".to_owned(),
                builds: vec![
                    two_ports(32, None, "/a".into(), 512),
                    two_ports(8, None, "/b".into(), 512),
                ],
            }],
            skipped: vec![Skipped {
                implementation: "ixy-rs".to_owned(),
                variant: "default".to_owned(),
                reason: "no bundle".to_owned(),
            }],
        };
        let text = table(&record);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[0],
            "impl  variant    batch  commit        from    built with"
        );
        assert_eq!(
            lines[1],
            "ixy   own-flags  8, 32  0123456789ab  bundle  gcc -O2"
        );
        assert_eq!(lines[2], "skipped: ixy-rs (default): no bundle");
        assert_eq!(shortened(&[32, 8, 1, 256]), "1 to 256");
    }
}
