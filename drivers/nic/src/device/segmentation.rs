//! Cuts large TCP and UDP packets into segments, one at a time: a packet may become more segments
//! than one round of the data plane has time for.

use crate::device::offload::{
    fill_ip_checksum, fill_transport_checksum, insert_tag, put, Complaint, Context,
    OffloadSettings, Options,
};
use crate::device::packet::{fold, word16, Transport};
use crate::device::registers as r;

/// The least MSS. The datasheet names none; Linux sends no smaller segments of TCP
/// (TCP_MIN_GSO_SIZE).
pub(crate) const LEAST_MSS: usize = 8;

/// A packet, and how much of it has been cut off.
#[derive(Clone, Debug)]
pub(crate) struct Segmentation {
    packet: Vec<u8>,
    context: Context,
    options: Options,
    transport: Transport,
    /// Bytes of all headers.
    header_len: usize,
    /// Segments cut off so far.
    done: usize,
}

/// A frame that is being cut into segments.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    pub(crate) rest: Segmentation,
    pub(crate) own_crc: bool,
    /// The memory of the next segment.
    pub(crate) segment: Vec<u8>,
}

impl Segmentation {
    pub(crate) fn new(
        packet: Vec<u8>,
        descriptor: u64,
        context: &Context,
    ) -> Result<Self, Complaint> {
        if descriptor & r::TXD_POPTS_IPSEC != 0 {
            return Err("it asks for IPsec, which is not modelled");
        }
        let (transport, header_len) = segmented_headers(&packet, context)?;
        Ok(Self {
            packet,
            context: *context,
            options: Options::of(descriptor, context),
            transport,
            header_len,
            done: 0,
        })
    }

    fn payload(&self) -> &[u8] {
        self.packet.get(self.header_len..).unwrap_or_default()
    }

    /// Whether no segment is left.
    pub(crate) fn is_done(&self) -> bool {
        self.done >= self.payload().len().div_ceil(self.context.segment_len)
    }

    /// Cuts off the next segment: at most MSS bytes of payload, with updated headers. There must be
    /// one left.
    pub(crate) fn next(
        &mut self,
        settings: &OffloadSettings,
        segment: &mut Vec<u8>,
    ) -> Result<(), Complaint> {
        let nth = self.done;
        self.done += 1;
        let context = &self.context;
        let Some(part) = self.payload().chunks(context.segment_len).nth(nth) else {
            return Err("it has no segment left");
        };
        segment.clear();
        segment.extend_from_slice(&self.packet[..self.header_len]);
        segment.extend_from_slice(part);
        let ip_payload = context.transport_len + part.len();
        update_ip_header(segment, context, nth, ip_payload);
        let transport_at = context.mac_len + context.ip_len;
        if self.transport == Transport::Tcp {
            update_tcp_header(segment, context, nth, self.is_done(), settings);
        } else {
            put(segment, transport_at + 4, ip_payload as u16);
        }
        if self.options.ip {
            fill_ip_checksum(segment, context)?;
        }
        if self.options.transport {
            // The driver's sum of the pseudo header omits the length, which differs between
            // segments.
            let checksum_at = transport_at + self.transport.checksum_offset();
            let pseudo_header = word16(&self.packet, checksum_at).unwrap_or_default();
            let with_length = fold(u64::from(pseudo_header) + ip_payload as u64);
            put(segment, checksum_at, with_length);
            fill_transport_checksum(segment, context)?;
        }
        insert_tag(segment, self.options.tag, settings)
    }
}

/// The transport protocol of a packet to segment, and the bytes of all its headers.
fn segmented_headers(frame: &[u8], context: &Context) -> Result<(Transport, usize), Complaint> {
    let (least, transport) = match context.transport {
        Some(transport @ Transport::Tcp) => (20, transport),
        Some(transport @ Transport::Udp) => (8, transport),
        _ => return Err("it asks for segmentation of neither TCP nor UDP"),
    };
    if context.segment_len < LEAST_MSS {
        return Err("it asks for segmentation with an MSS below 8");
    }
    if context.transport_len < least || context.ip_len < 20 || context.mac_len < 14 {
        return Err("it asks for segmentation with headers that are too short");
    }
    let header_len = context.mac_len + context.ip_len + context.transport_len;
    if frame.len() <= header_len {
        return Err("it asks for segmentation of a frame without payload");
    }
    Ok((transport, header_len))
}

/// Updates the lengths and the IPv4 identification in the `nth` segment.
fn update_ip_header(segment: &mut [u8], context: &Context, nth: usize, ip_payload: usize) {
    let at = context.mac_len;
    if context.ipv4 {
        put(segment, at + 2, (context.ip_len + ip_payload) as u16);
        let number = word16(segment, at + 4).unwrap_or_default();
        put(segment, at + 4, number.wrapping_add(nth as u16));
    } else {
        let extensions = context.ip_len.saturating_sub(40);
        put(segment, at + 4, (extensions + ip_payload) as u16);
    }
}

/// Updates the sequence number and the flags in the `nth` segment of TCP.
fn update_tcp_header(
    segment: &mut [u8],
    context: &Context,
    nth: usize,
    last: bool,
    settings: &OffloadSettings,
) {
    let at = context.mac_len + context.ip_len;
    let number = segment[at + 4..at + 8]
        .iter()
        .fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
    let number = number.wrapping_add((nth * context.segment_len) as u32);
    segment[at + 4..at + 8].copy_from_slice(&number.to_be_bytes());
    let keep = match (nth == 0, last) {
        (true, true) => u16::MAX,
        (true, false) => settings.first_flags,
        (false, false) => settings.middle_flags,
        (false, true) => settings.last_flags,
    };
    // The upper bits of the word are the header's length.
    let flags = word16(segment, at + 12).unwrap_or_default();
    put(segment, at + 12, flags & (keep | 0xf000));
}
