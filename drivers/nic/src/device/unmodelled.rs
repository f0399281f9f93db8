//! What the 82599 has and this device does not: registers that keep what is written to them, and do
//! nothing. Touching them is told, once per register and reset of the device, so that nobody takes
//! silence for success.

/// A part of the 82599 that is not modelled.
struct Part {
    /// What it is, in words.
    what: &'static str,
    /// Its registers. A name that ends in `*` stands for all that begin so.
    registers: &'static [&'static str],
}

/// A write to one of these registers that changes it, is told.
const PARTS: &[Part] = &[
    Part {
        what: "five-tuple, EtherType and SYN filters",
        registers: &[
            "ETQF",
            "ETQS",
            "SAQF",
            "DAQF",
            "SDPQF",
            "FTQF",
            "L34T_IMIR",
            "SYNQF",
            "IMIRVP",
            "LLITHRESH",
        ],
    },
    Part {
        what: "header split",
        registers: &["PSRTYPE"],
    },
    Part {
        what: "virtual machine queues and virtual functions (VMDq, SR-IOV)",
        registers: &[
            "PFVT*",
            "PFVF*",
            "PFVM*",
            "PFVL*",
            "PFMR*",
            "PFMB*",
            "PFQDE",
            "PFDTXGSWC",
            "EITRSEL",
        ],
    },
    Part {
        what: "data centre bridging: traffic classes and rate limits",
        registers: &[
            "RTRPCS", "RTTPCS", "RTRUP2TC", "RTTUP2TC", "RTRPT4C", "RTTPT2C", "RTTDT1C",
            "RTTBCNRC", "RTTBCNRM",
        ],
    },
    Part {
        what: "pause frames",
        registers: &["FCCFG", "PFCTOP"],
    },
    Part {
        what: "direct cache access",
        registers: &["DCA_CTRL"],
    },
    Part {
        what: "Fibre Channel over Ethernet",
        registers: &[
            "FCPTRL", "FCPTRH", "FCBUFF", "FCDMARW", "FCFLT", "FCFLTRW", "FCRECTL", "FCRETA",
            "FCD_ID", "FCSMAC", "TEOFF", "TSOFF", "REOFF", "RSOFF",
        ],
    },
    Part {
        what: "time stamps (IEEE 1588)",
        registers: &[
            "TSYNC*", "TIMINCA", "TIMADJ*", "TSAUXC", "TRGTTIM*", "TSIM", "RXMTRL",
        ],
    },
    Part {
        what: "wake-up",
        registers: &["WUFC", "IPAV", "IP4AT", "IP6AT", "WUPM", "FHFT", "FHFT_EXT"],
    },
    Part {
        what: "management and its firmware",
        registers: &[
            "MANC*", "MFVAL", "MAVTV", "MFUTP", "MDEF*", "METF", "MMAL", "MMAH", "LSWFW", "HICR",
            "FLEX_MNG", "EEMNG*", "FLMNG*",
        ],
    },
    Part {
        what: "LinkSec and IPsec",
        registers: &["LSEC*", "IPSTX*", "IPSRX*"],
    },
    Part {
        what: "writing the EEPROM and the flash",
        registers: &["EEWR", "FLA", "FLOP"],
    },
    Part {
        what: "the timer",
        registers: &["TCPTIMER"],
    },
    Part {
        what: "configuration space of virtual functions",
        registers: &["CIAA", "CIAD"],
    },
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// What a register belongs to that is not modelled; nothing if it is, or has nothing to model.
pub(crate) fn part_of(name: &str) -> Option<&'static str> {
    PARTS
        .iter()
        .find(|part| part.registers.iter().any(|pattern| matches(pattern, name)))
        .map(|part| part.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::registers::REGISTERS;

    #[test]
    fn every_name_is_a_registers() {
        for pattern in PARTS.iter().flat_map(|part| part.registers) {
            assert!(
                REGISTERS
                    .iter()
                    .any(|register| matches(pattern, register.name)),
                "{pattern}"
            );
        }
    }

    #[test]
    fn registers_that_work_are_not_among_them() {
        for name in [
            "CTRL", "RDT", "TDT", "EICR", "VFTA", "FCTRL", "MRQC", "RETA",
        ] {
            assert_eq!(part_of(name), None, "{name}");
        }
        assert!(part_of("SAQF").is_some());
    }
}
