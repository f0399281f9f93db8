//! The table of the ladder to the limit: medians per packet, for each language.

use record::{Implementation, LinePlacement, Metric, Sample};

use super::manifest::Ladder;

/// A column: its head, the metric, the batch size and the placement.
type Column = (&'static str, Metric, u32, Option<LinePlacement>);

const COLUMNS: [Column; 7] = [
    ("instr.", Metric::Instructions, 32, None),
    ("loads", Metric::Loads, 32, None),
    ("stores", Metric::Stores, 32, None),
    ("warm", Metric::TscCycles, 32, Some(LinePlacement::Warm)),
    ("l3", Metric::TscCycles, 32, Some(LinePlacement::L3)),
    ("memory", Metric::TscCycles, 32, Some(LinePlacement::Memory)),
    ("instr. at batch 8", Metric::Instructions, 8, None),
];

pub(super) fn table(limit: &Ladder, samples: &[Sample]) -> String {
    let mut text = String::new();
    for implementation in Implementation::OURS {
        let heads = COLUMNS.map(|column| column.0).join(" | ");
        let lines = "---:|".repeat(COLUMNS.len());
        text += &format!("\n| {implementation} | {heads} |\n|---|{lines}\n");
        for rung in &limit.rungs {
            let cell = |(_, metric, batch, placement): Column| {
                let samples = samples.iter().filter(|sample| {
                    let (driver, variant) = (sample.implementation, &sample.variant);
                    let conditions = sample.conditions;
                    (driver, variant) == (implementation, &rung.name)
                        && (sample.metric, conditions.batch) == (metric, batch)
                        && conditions.placement == placement
                });
                let mut values: Vec<f64> = samples.map(|sample| sample.value).collect();
                values.sort_by(f64::total_cmp);
                Some(format!("{:.1}", values.get(values.len() / 2)?))
            };
            let cells = COLUMNS.map(|column| cell(column).unwrap_or_default());
            if cells.iter().any(|cell| !cell.is_empty()) {
                text += &format!("| {} | {} |\n", rung.title, cells.join(" | "));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::ladder::manifest::both;

    #[test]
    fn the_table_has_medians_and_gaps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        let mut lines = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,ring_size,frame_size,\
                         offered_mpps,note,cpu,queues,waiting,placement,process\n"
            .to_owned();
        for (batch, metric, value, place) in [
            (32, "lockstep,tsc_cycles", 3.0, "warm"),
            (32, "lockstep,tsc_cycles", 9.0, "warm"),
            (32, "lockstep,tsc_cycles", 4.0, "warm"),
            (8, "trace,instructions", 37.25, ""),
        ] {
            lines +=
                &format!("c,tuned,gcc,{batch},{metric},{value},u,1,0,512,60,,,,1,poll,{place},0\n");
        }
        std::fs::write(&path, lines).unwrap();
        let text = table(&both()[1], &record::read_samples(&path).unwrap());
        let row = "| four at once (the tuned path) |  |  |  | 4.0 |  |  | 37.2 |";
        assert!(text.contains(row), "{text}");
        assert_eq!(text.matches("four at once").count(), 1);
    }
}
