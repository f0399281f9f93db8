//! Totals of a callgrind output file, and the counts per packet from several of them.

use record::Metric;

/// Callgrind's counts of one run of a program, from its first instruction to its last.
///
/// Without `--cache-sim=yes` and `--branch-sim=yes` callgrind counts only `ir`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Instructions.
    pub ir: u64,
    /// Data accesses, if the caches were simulated.
    pub data: Option<DataTotals>,
    /// Branches, if the predictor was simulated.
    pub branches: Option<BranchTotals>,
}

/// Data accesses of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataTotals {
    /// Loads (Dr).
    pub loads: u64,
    /// Stores (Dw).
    pub stores: u64,
    /// Loads that the first-level cache did not answer (D1mr).
    pub l1_load_misses: u64,
    /// Loads that the last-level cache did not answer either (DLmr).
    pub ll_load_misses: u64,
}

/// Branches of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BranchTotals {
    /// Conditional and indirect branches (Bc + Bi).
    pub executed: u64,
    /// Branches predicted wrongly (Bcm + Bim).
    pub missed: u64,
}

/// A callgrind file, or a pair of files, that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallgrindError {
    /// A line is missing that every callgrind file has.
    #[error("callgrind's output has no line {0:?}: was the program killed while it wrote?")]
    NoLine(&'static str),
    /// The totals do not match the events.
    #[error("callgrind's totals are malformed: {0}")]
    Malformed(String),
    /// The longer run counted less than the shorter one.
    #[error(
        "the longer run counted less than the shorter one ({metric}: {short} in the shorter run, \
         {long} in the longer), so it did not forward more packets the same way"
    )]
    Shrunk {
        /// The metric.
        metric: Metric,
        /// Count of the shorter run.
        short: u64,
        /// Count of the longer run.
        long: u64,
    },
    /// The two runs received the same number of packets, or the longer one fewer.
    #[error("the runs received {short} and {long} packets: there is no difference to divide by")]
    NoPackets {
        /// Packets of the shorter run.
        short: u64,
        /// Packets of the longer run.
        long: u64,
    },
}

impl Totals {
    /// Parses the totals of a callgrind output file.
    ///
    /// # Errors
    /// [`CallgrindError::NoLine`] or [`CallgrindError::Malformed`].
    pub fn parse(text: &str) -> Result<Self, CallgrindError> {
        let line = |key: &'static str| {
            text.lines()
                .find_map(|line| line.strip_prefix(key))
                .ok_or(CallgrindError::NoLine(key))
        };
        let events: Vec<&str> = line("events:")?.split_whitespace().collect();
        let counts = line("totals:")?
            .split_whitespace()
            .map(|count| {
                count
                    .parse::<u64>()
                    .map_err(|_| CallgrindError::Malformed(format!("{count:?} is not a count")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if counts.len() > events.len() {
            return Err(CallgrindError::Malformed(format!(
                "{} counts for {} events",
                counts.len(),
                events.len()
            )));
        }
        // The format omits zeros at the end of a line.
        let count = |event: &str| {
            let at = events.iter().position(|name| *name == event)?;
            Some(counts.get(at).copied().unwrap_or(0))
        };
        let data = || {
            Some(DataTotals {
                loads: count("Dr")?,
                stores: count("Dw")?,
                l1_load_misses: count("D1mr")?,
                ll_load_misses: count("DLmr")?,
            })
        };
        let branches = || {
            Some(BranchTotals {
                executed: count("Bc")?.checked_add(count("Bi")?)?,
                missed: count("Bcm")?.checked_add(count("Bim")?)?,
            })
        };
        let ir = count("Ir")
            .ok_or_else(|| CallgrindError::Malformed("no instructions (Ir) counted".into()))?;
        let totals = Self {
            ir,
            data: data(),
            branches: branches(),
        };
        if totals.ir == 0 {
            return Err(CallgrindError::Malformed(
                "the program ran no instructions".into(),
            ));
        }
        if let Some(data) = totals.data {
            if data.l1_load_misses > data.loads || data.ll_load_misses > data.l1_load_misses {
                return Err(CallgrindError::Malformed(
                    "more cache misses than loads".into(),
                ));
            }
        }
        Ok(totals)
    }

    /// The counts of two parts of a run together. A count that one part lacks is absent.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            ir: self.ir + other.ir,
            data: self.data.zip(other.data).map(|(a, b)| DataTotals {
                loads: a.loads + b.loads,
                stores: a.stores + b.stores,
                l1_load_misses: a.l1_load_misses + b.l1_load_misses,
                ll_load_misses: a.ll_load_misses + b.ll_load_misses,
            }),
            branches: self
                .branches
                .zip(other.branches)
                .map(|(a, b)| BranchTotals {
                    executed: a.executed + b.executed,
                    missed: a.missed + b.missed,
                }),
        }
    }

    /// The counts by metric. Callgrind simulates a first and a last level of cache. A load that the
    /// first misses and the last answers is an L3 hit; L2 is absent.
    fn metrics(&self) -> Vec<(Metric, u64)> {
        let mut metrics = vec![(Metric::Instructions, self.ir)];
        if let Some(data) = self.data {
            metrics.extend([
                (Metric::Loads, data.loads),
                (Metric::Stores, data.stores),
                (
                    Metric::L1Hits,
                    data.loads.saturating_sub(data.l1_load_misses),
                ),
                (
                    Metric::L3Hits,
                    data.l1_load_misses.saturating_sub(data.ll_load_misses),
                ),
                (Metric::L3Misses, data.ll_load_misses),
            ]);
        }
        if let Some(branches) = self.branches {
            metrics.extend([
                (Metric::Branches, branches.executed),
                (Metric::BranchMisses, branches.missed),
            ]);
        }
        metrics
    }
}

/// One run of a forwarder under callgrind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The counts.
    pub totals: Totals,
    /// Packets received.
    pub packets: u64,
    /// Receive calls that returned less than a full batch, nearly always no packet.
    pub waits: u64,
}

/// The cost of one packet: the difference of two runs, one of which forwards more packets. Starting
/// and stopping cancel.
#[derive(Debug, Clone, PartialEq)]
pub struct PerPacket {
    /// Packets by which the longer run exceeds the shorter one.
    pub packets: u64,
    /// Events per packet.
    pub values: Vec<(Metric, f64)>,
}

impl PerPacket {
    /// Divides the difference of the counts by the difference of the packets.
    ///
    /// A driver that waits for packets makes receive calls without a packet. The run without traffic,
    /// `idle`, shows the cost of such a call. If starting costs *s*, a packet *p* and a wait *w*, each
    /// run counts *s* + *p* × packets + *w* × waits; the three runs give *p*. Without `idle` the runs
    /// must not have waited.
    ///
    /// Rare events (cache misses, mispredicts) during the start differ slightly from run to run. If
    /// the longer run has fewer of them, the result is 0.
    ///
    /// # Errors
    /// [`CallgrindError::NoPackets`] or [`CallgrindError::Shrunk`].
    pub fn from_runs(short: &Run, long: &Run, idle: Option<&Run>) -> Result<Self, CallgrindError> {
        let packets = long
            .packets
            .checked_sub(short.packets)
            .filter(|packets| *packets > 0)
            .ok_or(CallgrindError::NoPackets {
                short: short.packets,
                long: long.packets,
            })?;
        let before = short.totals.metrics();
        let at_rest = idle.map(|idle| idle.totals.metrics());
        let mut values = Vec::new();
        for (metric, longer) in long.totals.metrics() {
            let Some(shorter) = find(&before, metric) else {
                continue;
            };
            let rare = matches!(
                metric,
                Metric::BranchMisses | Metric::L3Hits | Metric::L3Misses
            );
            if longer < shorter && !rare {
                return Err(CallgrindError::Shrunk {
                    metric,
                    short: shorter,
                    long: longer,
                });
            }
            let resting = at_rest.as_ref().and_then(|counts| find(counts, metric));
            let value = match idle.zip(resting) {
                None => (longer as f64 - shorter as f64) / packets as f64,
                Some((idle, resting)) => per_packet(
                    difference(long, short, longer as f64 - shorter as f64),
                    difference(short, idle, shorter as f64 - resting as f64),
                ),
            };
            values.push((metric, value.max(0.0)));
        }
        Ok(Self { packets, values })
    }

    /// Divides the counts of a part of a run, which neither started nor stopped in it, by its packets.
    ///
    /// # Errors
    /// [`CallgrindError::NoPackets`].
    pub fn of_part(totals: &Totals, packets: u64) -> Result<Self, CallgrindError> {
        if packets == 0 {
            return Err(CallgrindError::NoPackets { short: 0, long: 0 });
        }
        let metrics = totals.metrics().into_iter();
        let values = metrics
            .map(|(metric, count)| (metric, count as f64 / packets as f64))
            .collect();
        Ok(Self { packets, values })
    }

    /// The value of one metric, if callgrind counted it.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values
            .iter()
            .find(|(name, _)| *name == metric)
            .map(|(_, value)| *value)
    }
}

fn find(counts: &[(Metric, u64)], metric: Metric) -> Option<u64> {
    counts
        .iter()
        .find(|(name, _)| *name == metric)
        .map(|(_, count)| *count)
}

/// The difference of two runs: an equation `events = p * packets + w * waits`.
struct Equation {
    events: f64,
    packets: f64,
    waits: f64,
}

fn difference(a: &Run, b: &Run, events: f64) -> Equation {
    Equation {
        events,
        packets: a.packets as f64 - b.packets as f64,
        waits: a.waits as f64 - b.waits as f64,
    }
}

/// Solves two equations for *p*, by Cramer's rule. They are independent: the runs of the first differ
/// mostly in their packets, those of the second in their waits.
fn per_packet(a: Equation, b: Equation) -> f64 {
    (a.events * b.waits - b.events * a.waits) / (a.packets * b.waits - b.packets * a.waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 4242\n\
        cmd:  ixgbe-fwd --packets 1000\npart: 1\n\n\
        desc: I1 cache: 32768 B, 64 B, 8-way associative\n\n\
        positions: line\n\
        events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n\
        summary: 500000 100000 50000 10 2000 5 10 500 5 60000 900 40 9\n\n\
        fn=(1) main\n16 400000\n\n\
        totals: 500000 100000 50000 10 2000 5 10 500 5 60000 900 40 9\n";

    #[test]
    fn parts_of_a_run_are_added_and_divided_by_their_packets() {
        let part = Totals::parse(FILE).unwrap();
        let both = part.plus(&part);
        assert_eq!(both.ir, 1_000_000);
        let counts = PerPacket::of_part(&both, 10_000).unwrap();
        assert_eq!(counts.get(Metric::Instructions), Some(100.0));
        assert_eq!(counts.get(Metric::Loads), Some(20.0));
        assert_eq!(counts.get(Metric::Branches), Some(12.008));
        let without = Totals {
            branches: None,
            ..part
        };
        assert_eq!(part.plus(&without).branches, None);
        assert!(PerPacket::of_part(&both, 0).is_err());
    }

    fn run(ir: u64, loads: u64, missed: u64, packets: u64) -> Run {
        let totals = Totals {
            ir,
            data: Some(DataTotals {
                loads,
                stores: 50,
                l1_load_misses: 40,
                ll_load_misses: 10,
            }),
            branches: Some(BranchTotals {
                executed: 90,
                missed,
            }),
        };
        Run {
            totals,
            packets,
            waits: 0,
        }
    }

    #[test]
    fn totals_are_read_by_event_name() {
        assert_eq!(
            Totals::parse(FILE).unwrap(),
            Totals {
                ir: 500_000,
                data: Some(DataTotals {
                    loads: 100_000,
                    stores: 50_000,
                    l1_load_misses: 2000,
                    ll_load_misses: 500,
                }),
                branches: Some(BranchTotals {
                    executed: 60_040,
                    missed: 909
                }),
            }
        );
    }

    #[test]
    fn missing_counts_at_the_end_are_zero() {
        let text = "events: Ir Bc Bcm Bi Bim\ntotals: 7 3\n";
        let totals = Totals::parse(text).unwrap();
        assert_eq!(totals.ir, 7);
        assert_eq!(totals.data, None);
        assert_eq!(
            totals.branches,
            Some(BranchTotals {
                executed: 3,
                missed: 0
            })
        );
    }

    #[test]
    fn instructions_alone_are_enough() {
        let totals = Totals::parse("events: Ir\ntotals: 12\n").unwrap();
        assert_eq!((totals.ir, totals.data, totals.branches), (12, None, None));
    }

    #[test]
    fn malformed_files_are_refused() {
        for (text, why) in [
            ("", "events:"),
            ("events: Ir\n", "totals:"),
            ("events: Ir\ntotals: many\n", "\"many\" is not a count"),
            ("events: Ir\ntotals: -4\n", "\"-4\" is not a count"),
            (
                "events: Ir\ntotals: 99999999999999999999999\n",
                "is not a count",
            ),
            ("events: Ir\ntotals: 1 2\n", "2 counts for 1 events"),
            ("events: Dr\ntotals: 1\n", "no instructions"),
            ("events: Ir\ntotals: 0\n", "no instructions"),
            (
                "events: Ir Dr Dw D1mr DLmr\ntotals: 9 1 0 2 0\n",
                "more cache misses than loads",
            ),
        ] {
            let error = Totals::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    #[test]
    fn start_up_cancels() {
        let (short, long) = (run(5000, 1000, 8, 100), run(18000, 4000, 9, 200));
        let per_packet = PerPacket::from_runs(&short, &long, None).unwrap();
        assert_eq!(per_packet.packets, 100);
        assert_eq!(per_packet.get(Metric::Instructions), Some(130.0));
        assert_eq!(per_packet.get(Metric::Loads), Some(30.0));
        assert_eq!(per_packet.get(Metric::L1Hits), Some(30.0));
        assert_eq!(per_packet.get(Metric::Stores), Some(0.0));
        assert_eq!(per_packet.get(Metric::BranchMisses), Some(0.01));
        assert_eq!(per_packet.get(Metric::L2Hits), None);
    }

    #[test]
    fn waits_are_subtracted() {
        // 1000 instructions to start, 130 for a packet, 50 for a wait.
        let with_waits = |packets, waits| Run {
            waits,
            ..run(1000 + 130 * packets + 50 * waits, 1000, 8, packets)
        };
        let (short, long, idle) = (with_waits(100, 7), with_waits(200, 40), with_waits(0, 500));
        let value = |idle: Option<&Run>| {
            PerPacket::from_runs(&short, &long, idle)
                .unwrap()
                .get(Metric::Instructions)
                .unwrap()
        };
        assert!((value(Some(&idle)) - 130.0).abs() < 1e-9);
        assert!(value(None) > 146.0);
    }

    #[test]
    fn rare_events_do_not_become_negative() {
        let (short, long) = (run(5000, 1000, 9, 100), run(18000, 4000, 8, 200));
        let per_packet = PerPacket::from_runs(&short, &long, None).unwrap();
        assert_eq!(per_packet.get(Metric::BranchMisses), Some(0.0));
    }

    #[test]
    fn runs_that_cannot_be_compared_are_refused() {
        let (few, many) = (run(5000, 1000, 8, 200), run(18000, 4000, 9, 200));
        let refused =
            |short: &Run, long: &Run| PerPacket::from_runs(short, long, None).unwrap_err();
        assert!(matches!(
            refused(&few, &many),
            CallgrindError::NoPackets { .. }
        ));
        let fewer = Run {
            packets: 100,
            ..many
        };
        assert!(matches!(
            refused(&few, &fewer),
            CallgrindError::NoPackets { .. }
        ));
        assert!(matches!(
            refused(&fewer, &few),
            CallgrindError::Shrunk {
                metric: Metric::Instructions,
                ..
            }
        ));
    }
}
