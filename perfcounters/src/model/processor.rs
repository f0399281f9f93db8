//! The processors that the model computes values for.

use std::collections::BTreeMap;

use model::cpu::Cpu;
use model::pipeline::Llvm;
use model::MODEL_VERSION;
use serde_json::json;

/// A processor to model, and its clocks.
#[derive(Debug, Clone)]
pub struct Processor {
    /// The processor.
    pub cpu: Cpu,
    /// Its clocks, MHz. Cycles of caches and memory depend on it.
    pub clocks_mhz: Vec<u32>,
}

/// The processors of a run.
#[derive(Debug, Clone, Default)]
pub struct Processors {
    /// Those whose values stand for a machine with a real card.
    pub modelled: Vec<Processor>,
    /// The processor of this machine, to compare the model with `lockstep`; `None` if no CPU file
    /// describes it.
    pub host: Option<Cpu>,
    /// LLVM's programs, which know the costs of instructions.
    pub llvm: Option<Llvm>,
}

impl Processors {
    /// What the record of a run says about the processors.
    pub(super) fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let cpus: BTreeMap<_, _> = self
            .modelled
            .iter()
            .map(|processor| (processor.cpu.name.clone(), json!(processor.clocks_mhz)))
            .collect();
        let mut settings = BTreeMap::from([
            ("version".to_owned(), json!(MODEL_VERSION)),
            ("cpus_mhz".to_owned(), json!(cpus)),
        ]);
        if let Some(host) = &self.host {
            settings.insert("host_cpu".to_owned(), json!(host.name));
        }
        match &self.llvm {
            Some(llvm) => settings.insert("llvm".to_owned(), json!(llvm.version())),
            None => settings.insert("counts_only".to_owned(), json!(NO_LLVM)),
        };
        settings
    }
}

/// Why a run has no cycles.
pub(super) const NO_LLVM: &str =
    "cycles need LLVM's llvm-mca and llvm-mc: run bench/setup/llvm-mca.sh";
