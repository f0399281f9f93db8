//! Totals of a callgrind output file, and the counts per packet from several of them.

use record::Metric;

use crate::backend::MeasureError;

/// Callgrind's counts of one run of a program, from its first instruction to its last.
///
/// Callgrind simulates a first and a last level of cache. A load that the first misses and the last
/// answers is an L3 hit; L2 is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals(Vec<(Metric, u64)>);

fn malformed(why: &str) -> MeasureError {
    MeasureError::Other(format!(
        "callgrind's output is malformed: {why}; was the program killed while it wrote?"
    ))
}

impl Totals {
    /// Reads the lines `events:` and `totals:` of callgrind's output.
    pub fn parse(text: &str) -> Result<Self, MeasureError> {
        let line = |key: &str| {
            let mut lines = text.lines();
            let found = lines.find_map(|line| line.strip_prefix(key));
            found.ok_or_else(|| malformed(&format!("no line {key:?}")))
        };
        let events: Vec<&str> = line("events:")?.split_whitespace().collect();
        let counts = line("totals:")?
            .split_whitespace()
            .map(|count| {
                let number = count.parse::<u64>();
                number.map_err(|_| malformed(&format!("{count:?} is not a count")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let count = |event: &str| {
            let at = events.iter().position(|name| *name == event);
            // The format omits zeros at the end of a line.
            at.map(|at| counts.get(at).copied().unwrap_or(0))
                .ok_or_else(|| malformed(&format!("{event} is not counted")))
        };
        let less = |all: u64, part: u64| {
            all.checked_sub(part)
                .ok_or_else(|| malformed("more cache misses than loads"))
        };
        let (loads, l1_misses, l3_misses) = (count("Dr")?, count("D1mr")?, count("DLmr")?);
        let totals = Self(vec![
            (Metric::Instructions, count("Ir")?),
            (Metric::Loads, loads),
            (Metric::Stores, count("Dw")?),
            (Metric::L1Hits, less(loads, l1_misses)?),
            (Metric::L3Hits, less(l1_misses, l3_misses)?),
            (Metric::L3Misses, l3_misses),
            (Metric::Branches, count("Bc")? + count("Bi")?),
            (Metric::BranchMisses, count("Bcm")? + count("Bim")?),
        ]);
        match totals.get(Metric::Instructions) {
            0 => Err(malformed("no instructions")),
            _ => Ok(totals),
        }
    }

    /// The count of a metric; 0 for one that callgrind does not count.
    pub fn get(&self, metric: Metric) -> u64 {
        let mut counts = self.0.iter();
        let found = counts.find(|(name, _)| *name == metric);
        found.map_or(0, |(_, count)| *count)
    }
}

/// One run of a forwarder under callgrind.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub fn from_runs(short: &Run, long: &Run, idle: Option<&Run>) -> Result<Self, MeasureError> {
        if long.packets <= short.packets {
            return Err(MeasureError::Other(format!(
                "the runs received {} and {} packets; the second must receive more",
                short.packets, long.packets
            )));
        }
        let packets = long.packets - short.packets;
        let mut values = Vec::new();
        for &(metric, longer) in &long.totals.0 {
            let shorter = short.totals.get(metric);
            let rare = matches!(
                metric,
                Metric::BranchMisses | Metric::L3Hits | Metric::L3Misses
            );
            if longer < shorter && !rare {
                return Err(MeasureError::Other(format!(
                    "the longer run counted less than the shorter one ({metric}: {shorter} in the \
                     shorter run, {longer} in the longer), so it did not forward more packets the \
                     same way"
                )));
            }
            let both = difference(long, short, metric);
            let value = match idle {
                None => both.events / both.packets,
                Some(idle) => per_packet(both, difference(short, idle, metric)),
            };
            values.push((metric, value.max(0.0)));
        }
        Ok(Self { packets, values })
    }

    /// The value of one metric, if callgrind counted it.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        let mut values = self.values.iter();
        let found = values.find(|(name, _)| *name == metric);
        found.map(|(_, value)| *value)
    }
}

/// The difference of two runs: an equation `events = p * packets + w * waits`.
struct Equation {
    events: f64,
    packets: f64,
    waits: f64,
}

fn difference(a: &Run, b: &Run, metric: Metric) -> Equation {
    Equation {
        events: a.totals.get(metric) as f64 - b.totals.get(metric) as f64,
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

    const EVENTS: &str = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n";

    fn parse(totals: &str) -> Result<Totals, MeasureError> {
        Totals::parse(&format!(
            "# callgrind format\nversion: 1\npart: 1\n\npositions: line\n{EVENTS}\
             summary: 500000 1\n\nfn=(1) main\n16 400000\n\n{totals}"
        ))
    }

    #[test]
    fn totals_are_read_by_event_name() {
        let totals = parse("totals: 500000 100000 50000 10 2000 5 10 500 5 60000 900 40 9\n");
        assert_eq!(
            totals.unwrap().0,
            [
                (Metric::Instructions, 500_000),
                (Metric::Loads, 100_000),
                (Metric::Stores, 50_000),
                (Metric::L1Hits, 98_000),
                (Metric::L3Hits, 1500),
                (Metric::L3Misses, 500),
                (Metric::Branches, 60_040),
                (Metric::BranchMisses, 909),
            ]
        );
        let short = parse("totals: 7 3\n").unwrap();
        assert_eq!(
            (short.get(Metric::Loads), short.get(Metric::Stores)),
            (3, 0)
        );
    }

    #[test]
    fn malformed_files_are_refused() {
        for (totals, why) in [
            ("", "no line \"totals:\""),
            ("totals: many\n", "\"many\" is not a count"),
            ("totals: -4\n", "\"-4\" is not a count"),
            ("totals: 0 1\n", "no instructions"),
            ("totals: 9 1 0 0 2\n", "more cache misses than loads"),
        ] {
            let error = parse(totals).unwrap_err().to_string();
            assert!(error.contains(why), "{totals:?}: {error}");
        }
        let error = Totals::parse("events: Ir\ntotals: 1\n").unwrap_err();
        assert!(error.to_string().contains("Dr is not counted"), "{error}");
    }

    fn run(ir: u64, missed: u64, packets: u64, waits: u64) -> Run {
        let totals = vec![(Metric::Instructions, ir), (Metric::BranchMisses, missed)];
        Run {
            totals: Totals(totals),
            packets,
            waits,
        }
    }

    #[test]
    fn start_up_cancels_and_rare_events_do_not_become_negative() {
        let values = |missed| {
            let (short, long) = (run(5000, 8, 100, 0), run(18000, missed, 200, 0));
            PerPacket::from_runs(&short, &long, None).unwrap()
        };
        assert_eq!(values(9).packets, 100);
        assert_eq!(values(9).get(Metric::Instructions), Some(130.0));
        assert_eq!(values(9).get(Metric::BranchMisses), Some(0.01));
        assert_eq!(values(7).get(Metric::BranchMisses), Some(0.0));
        assert_eq!(values(9).get(Metric::L2Hits), None);
    }

    #[test]
    fn waits_are_subtracted() {
        // 1000 instructions to start, 130 for a packet, 50 for a wait.
        let run = |packets, waits| run(1000 + 130 * packets + 50 * waits, 8, packets, waits);
        let (short, long, idle) = (run(100, 7), run(200, 40), run(0, 500));
        let value = |idle: Option<&Run>| {
            let found = PerPacket::from_runs(&short, &long, idle).unwrap();
            found.get(Metric::Instructions).unwrap()
        };
        assert!((value(Some(&idle)) - 130.0).abs() < 1e-9);
        assert!(value(None) > 146.0);
    }

    #[test]
    fn runs_that_cannot_be_compared_are_refused() {
        let (few, many) = (run(5000, 8, 200, 0), run(18000, 9, 200, 0));
        let refused =
            |short: &Run, long: &Run| PerPacket::from_runs(short, long, None).unwrap_err();
        let fewer = run(18000, 9, 100, 0);
        for long in [&many, &fewer] {
            let error = refused(&few, long).to_string();
            assert!(error.contains("must receive more"), "{error}");
        }
        let error = refused(&fewer, &few).to_string();
        assert!(error.contains("instructions: 18000"), "{error}");
    }
}
