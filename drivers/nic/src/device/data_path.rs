//! What the data path needs from the registers, in one structure. The card derives it after each
//! register write that may change it, so that the data path decodes no registers.

use crate::device::filter::Filter;
use crate::device::offload::OffloadSettings;
use crate::device::packet_buffer::bytes_in_use;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::rss::Rss;
use crate::device::tx::TxSettings;

/// The longest frame without HLREG0.JUMBOEN, in bytes with CRC.
const MAX_FRAME: usize = 1518;

/// The data path's settings.
#[derive(Debug, Default)]
pub(crate) struct DataPathSettings {
    /// The port receives frames from the wire.
    pub(crate) rx: bool,
    /// The port sends frames.
    pub(crate) tx: bool,
    /// The driver gets frames without CRC.
    pub(crate) strip_crc: bool,
    /// The longest frame that is received, in bytes with CRC.
    pub(crate) max_frame: usize,
    /// Bytes in the packet buffer for frames that wait for descriptors.
    pub(crate) buffer_bytes: usize,
    /// How frames are sent.
    pub(crate) sending: TxSettings,
    /// Which frames the port accepts.
    pub(crate) filter: Filter,
    /// How frames spread over the queues; `None` while RSS is off.
    pub(crate) rss: Option<Rss>,
    /// Whether the traffic generator's frames pass the filter.
    pub(crate) accepts_generated: bool,
}

/// Conditions outside the data path's registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The card may start bus transactions.
    pub(crate) master: bool,
    /// The port has a link.
    pub(crate) link: bool,
    /// The far end of the wire has a link, so that it sends.
    pub(crate) far_end: bool,
    /// The transmit queues are stuck, which is a fault.
    pub(crate) stall_tx: bool,
    /// Bytes of packet buffer that the card has for reception.
    pub(crate) buffer_limit: usize,
}

impl DataPathSettings {
    /// Derives everything but the filters.
    pub(crate) fn update(&mut self, registers: &RegisterFile, conditions: Conditions) {
        let get = |address| registers.get(address);
        let mac = get(r::HLREG0);
        let up = conditions.master && conditions.link;
        self.rx = up
            && conditions.far_end
            && bytes_in_use(registers) <= conditions.buffer_limit
            && get(r::RXCTRL) & r::RXCTRL_RXEN != 0
            && get(r::SECRXCTRL) & r::SECRXCTRL_RX_DIS == 0;
        self.tx = up && get(r::DMATXCTL) & r::DMATXCTL_TE != 0 && !conditions.stall_tx;
        self.strip_crc = mac & r::HLREG0_RXCRCSTRP != 0;
        self.max_frame = if mac & r::HLREG0_JUMBOEN != 0 {
            r::field_get(r::MAXFRS_MFS, get(r::MAXFRS)) as usize
        } else {
            MAX_FRAME
        };
        self.buffer_bytes = bytes_in_use(registers);
        self.sending = TxSettings {
            pad: mac & r::HLREG0_TXPADEN != 0,
            insert_crc: mac & r::HLREG0_TXCRCEN != 0,
            offload: OffloadSettings {
                vlan_type: r::field_get(r::DMATXCTL_VT, get(r::DMATXCTL)) as u16,
                first_flags: r::field_get(r::DTXTCPFLGL_FIRST, get(r::DTXTCPFLGL)) as u16,
                middle_flags: r::field_get(r::DTXTCPFLGL_MIDDLE, get(r::DTXTCPFLGL)) as u16,
                last_flags: r::field_get(r::DTXTCPFLGH_LAST, get(r::DTXTCPFLGH)) as u16,
            },
        };
    }

    /// Derives the filters, which takes longer: they read some 500 registers. `generated` is the
    /// address that the traffic generator sends to.
    pub(crate) fn update_filters(&mut self, registers: &RegisterFile, generated: [u8; 6]) {
        self.filter = Filter::from_registers(registers);
        self.rss = Rss::from_registers(registers);
        self.accepts_generated = self.filter.accepts(generated).is_some();
    }
}

/// SECRXCTRL.RX_DIS halts the receive path; SECRXSTAT reports at once that the path is empty.
pub(crate) fn secrxctrl_written(registers: &RegisterFile, value: u32) {
    let halted = value & r::SECRXCTRL_RX_DIS != 0;
    registers.put(r::SECRXSTAT, r::SECRXSTAT_SECRX_RDY, halted);
}
