//! The names that every record uses: drivers and backends.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoStaticStr, VariantNames};

/// A driver that runs can measure: one of the three drivers of this repository, or a peer. A peer is a
/// driver of another project, which `make peers` builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Implementation {
    /// The idiomatic C driver.
    C,
    /// The safe Rust driver.
    Rust,
    /// The C driver, transpiled to unsafe Rust.
    RustUnsafe,
    /// Peer: ixy, in C.
    Ixy,
    /// Peer: ixy.rs, in Rust.
    IxyRs,
    /// Peer: ixy, transpiled to unsafe Rust.
    IxyC2rust,
    /// Peer: DPDK's testpmd, with the vector functions of its driver.
    DpdkVector,
    /// Peer: DPDK's testpmd, with the scalar functions of its driver.
    DpdkScalar,
}

impl Implementation {
    /// The three drivers of this repository, in the order of tables.
    pub const OURS: [Self; 3] = [Self::C, Self::Rust, Self::RustUnsafe];
    /// The drivers of other projects, in the order of tables.
    pub const PEERS: [Self; 5] = [
        Self::Ixy,
        Self::IxyRs,
        Self::IxyC2rust,
        Self::DpdkVector,
        Self::DpdkScalar,
    ];

    /// Whether it is a driver of another project.
    pub fn is_peer(self) -> bool {
        Self::PEERS.contains(&self)
    }
}

/// A way to count, in the order in which a run uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(Display, EnumString, EnumIter, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum BackendName {
    /// The processor's own counters.
    Perf,
    /// Exact counts of a driver in single steps, and a simulation of a named processor's caches and branch
    /// predictor.
    Trace,
    /// Valgrind: exact instruction counts, simulated branch predictor and caches.
    Valgrind,
    /// Driver and NIC model take turns in one thread; a clock times the driver's turns.
    Lockstep,
    /// The card, on another processor, times bursts of packets through a whole program.
    Burst,
    /// Whole processes, side by side.
    Wall,
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;

    #[test]
    fn every_driver_is_ours_or_a_peer_and_has_one_name() {
        let all = [&Implementation::OURS[..], &Implementation::PEERS].concat();
        let names: Vec<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names, Implementation::VARIANTS);
        for (name, implementation) in names.iter().zip(all) {
            assert_eq!(name.parse(), Ok(implementation));
            let json = serde_json::to_string(&implementation).unwrap();
            assert_eq!(json, format!("{name:?}"));
        }
    }
}
