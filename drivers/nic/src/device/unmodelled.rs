//! Features of the real cards that this card does not model. Their registers keep the value that is
//! written and have no effect. The card reports a driver that uses one, so that nothing passes for
//! success in silence.

use crate::device::families::Family;
use crate::device::registers::{self as r, RegisterId};

/// A feature that is not modelled, and the registers that serve nothing else.
struct Feature {
    name: &'static str,
    registers: &'static [RegisterId],
}

/// A write that changes one of these registers is reported.
#[rustfmt::skip] // a group of registers a line
const FEATURES: &[Feature] = {
    use RegisterId::*;
    &[
        Feature { name: "five-tuple, EtherType and SYN filters", registers: &[
            ETQF, ETQS, SAQF, DAQF, SDPQF, FTQF, L34T_IMIR, SYNQF, IMIRVP, LLITHRESH,
        ] },
        Feature { name: "virtual machine queues and virtual functions (VMDq, SR-IOV)", registers: &[
            PFVTCTL, PFVFLRE, PFVFLREC, PFVFRE, PFVFTE, PFVFSPOOF, PFVMTXSW, PFVMVIR,
            PFVML2FLT, PFVLVF, PFVLVFB, PFMRCTL, PFMRVLAN, PFMRVM, PFMBICR, PFMBIMR,
            PFMBMEM, PFQDE, PFDTXGSWC, EITRSEL,
        ] },
        Feature { name: "data centre bridging: traffic classes, bursts of rate limits", registers: &[
            RTRPCS, RTTPCS, RTRUP2TC, RTTUP2TC, RTRPT4C, RTTPT2C, RTTDT1C, RTTBCNRM,
        ] },
        Feature { name: "pause frames", registers: &[
            FCCFG, PFCTOP,
        ] },
        Feature { name: "direct cache access", registers: &[
            DCA_CTRL,
        ] },
        Feature { name: "Fibre Channel over Ethernet", registers: &[
            FCPTRL, FCPTRH, FCBUFF, FCDMARW, FCFLT, FCFLTRW, FCRECTL, FCRETA, FCD_ID,
            FCSMAC, TEOFF, TSOFF, REOFF, RSOFF,
        ] },
        Feature { name: "time stamps (IEEE 1588)", registers: &[
            TSYNCRXCTL, TSYNCTXCTL, TIMINCA, TIMADJL, TIMADJH, TSAUXC, TRGTTIML0,
            TRGTTIMH0, TRGTTIML1, TRGTTIMH1, TSIM, RXMTRL,
        ] },
        Feature { name: "wake-up", registers: &[
            WUFC, IPAV, IP4AT, IP6AT, WUPM, FHFT, FHFT_EXT,
        ] },
        Feature { name: "management and its firmware", registers: &[
            MANC, MANC2H, MFVAL, MAVTV, MFUTP, MDEF, MDEF_EXT, METF, MMAL, MMAH, LSWFW,
            HICR, FLEX_MNG, EEMNGCTL, EEMNGDATA, FLMNGCTL, FLMNGDATA, FLMNGCNT,
        ] },
        Feature { name: "LinkSec and IPsec", registers: &[
            LSECTXCAP, LSECRXCAP, LSECTXCTRL, LSECRXCTRL, LSECTXSCL, LSECTXSCH, LSECTXSA,
            LSECTXPN0, LSECTXPN1, LSECTXKEY0, LSECTXKEY1, LSECRXSCL, LSECRXSCH, LSECRXSA,
            LSECRXPN, LSECRXKEY, LSECTXUT, LSECTXPKTE, LSECTXPKTP, LSECTXOCTE, LSECTXOCTP,
            LSECRXUT, LSECRXOCTD, LSECRXOCTV, LSECRXBAD, LSECRXNOSCI, LSECRXUNSCI,
            LSECRXUNCH, LSECRXDELAY, LSECRXLATE, LSECRXOK, LSECRXINV, LSECRXNV, LSECRXUNSA,
            LSECRXNUSA, IPSTXIDX, IPSTXSALT, IPSTXKEY, IPSRXIDX, IPSRXIPADDR, IPSRXSPI,
            IPSRXIPIDX, IPSRXKEY, IPSRXSALT, IPSRXMOD,
        ] },
        Feature { name: "writing the EEPROM and the flash", registers: &[
            EEWR, FLA, FLOP,
        ] },
        Feature { name: "the timer", registers: &[
            TCPTIMER,
        ] },
        Feature { name: "configuration space of virtual functions", registers: &[
            CIAA, CIAD,
        ] },
    ]
};

/// The feature that a register belongs to; `None` if the card models the register.
fn feature_of(register: RegisterId) -> Option<&'static str> {
    let feature = FEATURES
        .iter()
        .find(|feature| feature.registers.contains(&register))?;
    Some(feature.name)
}

/// The feature that a write asks for and the card does not model, in words; `None` if there is none.
/// `before` is the register's value before the write.
pub(crate) fn feature_asked_for(
    family: &Family,
    register: RegisterId,
    before: u32,
    value: u32,
) -> Option<String> {
    let text = match register {
        RegisterId::RDT | RegisterId::TDT => return None,
        RegisterId::HLREG0 if value & r::HLREG0_LPBK != 0 => {
            "HLREG0.LPBK: loop-back in the MAC".to_owned()
        }
        RegisterId::RSCCTL if value & r::RSCCTL_RSCEN != 0 => {
            "RSCCTL.RSCEN: packets are never coalesced, as hardware may do too".to_owned()
        }
        RegisterId::MRQC
            if !matches!(value & r::MRQC_MRQE, r::MRQC_MRQE_OFF | r::MRQC_MRQE_RSS) =>
        {
            let mode = r::field_get(r::MRQC_MRQE, value);
            format!("MRQC.MRQE {mode}: pools and traffic classes; frames go to queue 0")
        }
        RegisterId::MFLCN if value & (r::MFLCN_RFCE | r::MFLCN_RPFCE) != 0 => {
            "MFLCN: received pause frames change nothing".to_owned()
        }
        RegisterId::RXDCTL if value & !family.reserved_bits(register) & r::RXDCTL_RLPML_EN != 0 => {
            "RXDCTL.RLPML_EN: the limit on a packet's length has no effect".to_owned()
        }
        RegisterId::CTRL_EXT if value & r::CTRL_EXT_EXTENDED_VLAN != 0 => double_vlan(register),
        RegisterId::DMATXCTL if value & r::DMATXCTL_GDV != 0 => double_vlan(register),
        RegisterId::FDIRCMD if value & r::FDIRCMD_CMD == r::FDIRCMD_CMD_ADD => {
            "flow director: filters are taken, and never match".to_owned()
        }
        _ if value == before || value == 0 || family.models(register) => return None,
        _ => format!("{register}: {}", feature_of(register)?),
    };
    Some(text)
}

fn double_vlan(register: RegisterId) -> String {
    format!("{register}: double VLAN tags")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    #[test]
    fn registers_that_work_belong_to_no_missing_feature() {
        use RegisterId::*;
        // PSRTYPE chooses headers for queues that split them, and only those: SRRCTL.DESCTYPE asks for
        // the feature. DPDK writes PSRTYPE for queues with one buffer.
        for register in [CTRL, RDT, TDT, EICR, VFTA, FCTRL, MRQC, RETA, PSRTYPE] {
            assert_eq!(feature_of(register), None, "{register}");
        }
        assert!(feature_of(SAQF).is_some());
    }

    #[test]
    fn only_a_write_that_asks_for_the_feature_is_reported() {
        let family = family_of(0x10fb).unwrap();
        let asked = |before, value| feature_asked_for(family, RegisterId::SAQF, before, value);
        assert!(asked(0, 1).is_some_and(|text| text.starts_with("SAQF: five-tuple")));
        assert_eq!(asked(1, 1), None, "the write changes nothing");
        assert_eq!(asked(1, 0), None, "the write clears the register");
    }
}
