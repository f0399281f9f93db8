//! Transmit offloads: the card fills in checksums and inserts VLAN tags. `segmentation.rs` cuts large
//! packets into segments.
//!
//! A frame's first data descriptor requests the offloads. The context descriptor that it names has
//! the places of the headers. A driver wrote both, so they may make no sense. Then the card does not
//! send the frame and reports the reason.

use crate::device::packet::{fold, sctp_checksum, sum, Transport, TYPE_OFFSET};
use crate::device::registers as r;

/// The register settings for offloads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OffloadSettings {
    /// EtherType of inserted VLAN tags.
    pub(crate) vlan_type: u16,
    /// TCP flags that the first, the middle and the last segment keep.
    pub(crate) first_flags: u16,
    pub(crate) middle_flags: u16,
    pub(crate) last_flags: u16,
}

/// A context descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    pub(super) mac_len: usize,
    pub(super) ip_len: usize,
    vlan: u16,
    pub(super) ipv4: bool,
    /// `None` for the reserved value.
    pub(super) transport: Option<Transport>,
    pub(super) transport_len: usize,
    pub(super) segment_len: usize,
}

impl Context {
    pub(crate) fn of(words: [u64; 2]) -> Self {
        let first = |mask| r::field64_get(mask, words[0]) as usize;
        let second = |mask| r::field64_get(mask, words[1]) as usize;
        Self {
            mac_len: first(r::TXD_CONTEXT_MACLEN),
            ip_len: first(r::TXD_CONTEXT_IPLEN),
            vlan: first(r::TXD_CONTEXT_VLAN) as u16,
            ipv4: words[1] & r::TXD_CONTEXT_IPV4 != 0,
            transport: match words[1] & r::TXD_CONTEXT_L4T {
                r::TXD_CONTEXT_L4T_UDP => Some(Transport::Udp),
                r::TXD_CONTEXT_L4T_TCP => Some(Transport::Tcp),
                r::TXD_CONTEXT_L4T_SCTP => Some(Transport::Sctp),
                _ => None,
            },
            transport_len: second(r::TXD_CONTEXT_L4LEN),
            segment_len: second(r::TXD_CONTEXT_MSS),
        }
    }
}

/// The bits of an advanced data descriptor that request offloads.
pub(crate) const REQUESTS: u64 = r::TXD_TSE | r::TXD_VLE | r::TXD_POPTS;
/// Legacy descriptors: insert a checksum (IC).
const LEGACY_IC: u64 = 1 << 26;

/// Why the card cannot send a frame, in words.
pub(super) type Complaint = &'static str;

/// Whether a frame's first descriptor asks for segmentation.
pub(crate) fn asks_for_segments(descriptor: u64) -> bool {
    descriptor & r::TXD_DEXT != 0 && descriptor & r::TXD_TSE != 0
}

/// Applies the offloads that a frame's first descriptor requests, except segmentation.
pub(crate) fn apply(
    frame: &mut Vec<u8>,
    descriptor: u64,
    context: &Context,
    settings: &OffloadSettings,
) -> Result<(), Complaint> {
    if descriptor & r::TXD_DEXT == 0 {
        return apply_legacy(frame, descriptor, settings);
    }
    if descriptor & r::TXD_POPTS_IPSEC != 0 {
        return Err("it asks for IPsec, which is not modelled");
    }
    let options = Options::of(descriptor, context);
    if options.ip {
        fill_ip_checksum(frame, context)?;
    }
    if options.transport {
        fill_transport_checksum(frame, context)?;
    }
    insert_tag(frame, options.tag, settings)
}

fn apply_legacy(
    frame: &mut Vec<u8>,
    descriptor: u64,
    settings: &OffloadSettings,
) -> Result<(), Complaint> {
    if descriptor & LEGACY_IC != 0 {
        let [place, start] = [16, 40].map(|shift| (descriptor >> shift & 0xff) as usize);
        let covered = frame
            .get(start..)
            .ok_or("the legacy checksum starts behind the end")?;
        let checksum = !fold(sum(covered));
        put(frame, place, checksum).ok_or("the legacy checksum lies behind the end")?;
    }
    let tag = (descriptor & r::TXD_VLE != 0).then_some((descriptor >> 48) as u16);
    insert_tag(frame, tag, settings)
}

/// The offloads of each frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) ip: bool,
    pub(super) transport: bool,
    pub(super) tag: Option<u16>,
}

impl Options {
    /// The offloads that an advanced descriptor requests.
    pub(super) fn of(descriptor: u64, context: &Context) -> Self {
        Self {
            ip: descriptor & r::TXD_POPTS_IXSM != 0,
            transport: descriptor & r::TXD_POPTS_TXSM != 0,
            tag: (descriptor & r::TXD_VLE != 0).then_some(context.vlan),
        }
    }
}

pub(super) fn put(frame: &mut [u8], at: usize, value: u16) -> Option<()> {
    frame
        .get_mut(at..at + 2)?
        .copy_from_slice(&value.to_be_bytes());
    Some(())
}

/// Fills in the IPv4 checksum over IPLEN bytes. The sum includes the field's old value: drivers write
/// 0, or a value that compensates for bytes outside the header.
pub(super) fn fill_ip_checksum(frame: &mut [u8], context: &Context) -> Result<(), Complaint> {
    const SHORT: &str = "the context's IP header does not fit into the frame";
    if context.ip_len < 20 {
        return Err("it asks for an IP checksum, and the context has no IP header");
    }
    let header = frame
        .get(context.mac_len..context.mac_len + context.ip_len)
        .ok_or(SHORT)?;
    let checksum = !fold(sum(header));
    put(frame, context.mac_len + 10, checksum).ok_or(SHORT)
}

/// Fills in the transport checksum, from the transport header to the end of the frame. The field
/// holds the sum of the pseudo header.
pub(super) fn fill_transport_checksum(
    frame: &mut [u8],
    context: &Context,
) -> Result<(), Complaint> {
    const SHORT: &str = "the context's transport header does not fit into the frame";
    let at = context.mac_len + context.ip_len;
    let transport = context
        .transport
        .ok_or("the context's transport protocol is a reserved value")?;
    let segment = frame.get(at..).ok_or(SHORT)?;
    let place = at + transport.checksum_offset();
    if transport == Transport::Sctp {
        let checksum = sctp_checksum(segment);
        frame
            .get_mut(place..place + 4)
            .ok_or(SHORT)?
            .copy_from_slice(&checksum);
        return Ok(());
    }
    let checksum = match !fold(sum(segment)) {
        // 0 would mean "no checksum".
        0 if transport == Transport::Udp => 0xffff,
        other => other,
    };
    put(frame, place, checksum).ok_or(SHORT)
}

pub(super) fn insert_tag(
    frame: &mut Vec<u8>,
    tag: Option<u16>,
    settings: &OffloadSettings,
) -> Result<(), Complaint> {
    let Some(tag) = tag else { return Ok(()) };
    if frame.len() < TYPE_OFFSET {
        return Err("it asks for a VLAN tag in a frame without addresses");
    }
    let bytes = [settings.vlan_type, tag].map(u16::to_be_bytes).concat();
    frame.splice(TYPE_OFFSET..TYPE_OFFSET, bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::packet::tests::{frame, transports, verdict};
    use crate::device::packet::{pseudo_header, word16, Version};
    use crate::device::segmentation::{Segmentation, LEAST_MSS};
    use proptest::prelude::*;

    const SETTINGS: OffloadSettings = OffloadSettings {
        vlan_type: 0x8100,
        first_flags: 0xff6,
        middle_flags: 0xff6,
        last_flags: 0xf7f,
    };

    fn headers(version: Version, extra: usize) -> usize {
        match version {
            Version::V4 => 20 + 4 * extra,
            Version::V6 => 40 + 8 * extra,
        }
    }

    fn context(version: Version, transport: Transport, extra: usize, mss: usize) -> Context {
        Context {
            mac_len: 14,
            ip_len: headers(version, extra),
            vlan: 0x2123,
            ipv4: version == Version::V4,
            transport: Some(transport),
            transport_len: if transport == Transport::Tcp { 20 } else { 8 },
            segment_len: mss,
        }
    }

    /// Puts into the checksum fields what a driver puts there.
    fn seed(frame: &mut [u8], context: &Context, len: usize) {
        let transport = context.transport.unwrap();
        let at = context.mac_len;
        let addresses = if context.ipv4 {
            put(frame, at + 10, 0);
            frame[at + 12..at + 20].to_vec()
        } else {
            frame[at + 8..at + 40].to_vec()
        };
        let place = at + context.ip_len + transport.checksum_offset();
        match transport {
            Transport::Sctp => frame[place..place + 4].fill(0),
            _ => {
                let sum = pseudo_header(&addresses, transport.protocol(), len);
                put(frame, place, fold(sum));
            }
        }
    }

    fn run(frame: &[u8], descriptor: u64, context: &Context) -> Result<Vec<Vec<u8>>, &'static str> {
        let command = descriptor | r::TXD_DEXT;
        if !asks_for_segments(command) {
            let mut frame = frame.to_vec();
            apply(&mut frame, command, context, &SETTINGS)?;
            return Ok(vec![frame]);
        }
        let mut rest = Segmentation::new(frame.to_vec(), command, context)?;
        let (mut sent, mut segment) = (Vec::new(), Vec::new());
        while !rest.is_done() {
            rest.next(&SETTINGS, &mut segment)?;
            sent.push(segment.clone());
        }
        Ok(sent)
    }

    const CHECKSUMS: u64 = r::TXD_POPTS_IXSM | r::TXD_POPTS_TXSM;

    /// The checksum of the frame with this payload, as the device fills it in.
    fn filled_in(transport: Transport, payload: &[u8]) -> Option<u16> {
        let context = context(Version::V4, transport, 0, 0);
        let mut seeded = frame(Version::V4, transport, 0, None, payload);
        let len = seeded.len() - 14 - context.ip_len;
        seed(&mut seeded, &context, len);
        let sent = run(&seeded, CHECKSUMS, &context).ok()?;
        word16(
            sent.first()?,
            14 + context.ip_len + transport.checksum_offset(),
        )
    }

    #[test]
    fn a_checksum_of_zero_stays_zero_in_tcp_and_becomes_all_ones_in_udp() {
        let values =
            |transport| (0..=u16::MAX).map(move |value| filled_in(transport, &value.to_be_bytes()));
        assert_eq!(
            values(Transport::Tcp).filter(|sum| *sum == Some(0)).count(),
            1
        );
        assert!(values(Transport::Tcp).all(|sum| sum != Some(0xffff)));
        assert_eq!(
            values(Transport::Udp).filter(|sum| *sum == Some(0)).count(),
            0
        );
        assert!(values(Transport::Udp).any(|sum| sum == Some(0xffff)));
    }

    proptest! {
        /// With its checksums filled in by the device, a frame is what it was with right ones.
        #[test]
        fn checksums_are_filled_in(
            v6: bool,
            transport in transports(),
            extra in 0..3_usize,
            payload in prop::collection::vec(any::<u8>(), 0..300),
            tag: bool,
        ) {
            let version = if v6 { Version::V6 } else { Version::V4 };
            let right = frame(version, transport, extra, None, &payload);
            let context = context(version, transport, extra, 0);
            let mut seeded = right.clone();
            let len = right.len() - 14 - context.ip_len;
            seed(&mut seeded, &context, len);
            let asks = if v6 { r::TXD_POPTS_TXSM } else { CHECKSUMS } | if tag { r::TXD_VLE } else { 0 };
            let sent = run(&seeded, asks, &context).unwrap();
            let expected = frame(version, transport, extra, tag.then_some(0x2123), &payload);
            prop_assert_eq!(sent, [expected]);
        }

        /// Segments have right checksums and no more than MSS bytes, and together they are the
        /// payload.
        #[test]
        fn segments_together_are_the_payload(
            v6: bool,
            udp: bool,
            extra in 0..3_usize,
            mss in LEAST_MSS..1500_usize,
            payload in prop::collection::vec(any::<u8>(), 1..6000),
            tag: bool,
        ) {
            prop_assume!(payload.len() / mss < 200);
            let version = if v6 { Version::V6 } else { Version::V4 };
            let transport = if udp { Transport::Udp } else { Transport::Tcp };
            let context = context(version, transport, extra, mss);
            let mut whole = frame(version, transport, extra, None, &payload);
            seed(&mut whole, &context, 0);
            let asks = r::TXD_TSE | if v6 { r::TXD_POPTS_TXSM } else { CHECKSUMS } | if tag { r::TXD_VLE } else { 0 };
            let sent = run(&whole, asks, &context).unwrap();
            prop_assert_eq!(sent.len(), payload.len().div_ceil(mss));
            let mut together = Vec::new();
            for (nth, segment) in sent.iter().enumerate() {
                let verdict = verdict(segment);
                prop_assert_ne!(verdict.bits & r::RXD_L4I, 0);
                prop_assert_eq!(verdict.bits & (r::RXD_IPE | r::RXD_L4E), 0);
                prop_assert_eq!(verdict.vlan, tag.then_some(0x2123));
                let at = 14 + if tag { 4 } else { 0 };
                let transport_at = at + context.ip_len;
                let data = &segment[transport_at + context.transport_len..];
                prop_assert!(data.len() <= mss);
                if !v6 {
                    prop_assert_eq!(word16(segment, at + 4), Some(0x1234_u16.wrapping_add(nth as u16)));
                }
                if !udp {
                    let number = u32::from_be_bytes(segment[transport_at + 4..transport_at + 8].try_into().unwrap());
                    prop_assert_eq!(number, 0x0102_0304 + together.len() as u32);
                    let push = segment[transport_at + 13] & 8 != 0;
                    prop_assert_eq!(push, nth + 1 == sent.len(), "PSH in the last segment only");
                }
                together.extend_from_slice(data);
            }
            prop_assert_eq!(together, payload);
        }

        /// Whatever a driver writes, nothing goes wrong but its frame.
        #[test]
        fn no_context_makes_the_card_panic(
            words in any::<[u64; 2]>(),
            descriptor: u64,
            bytes in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let context = Context::of(words);
            let sent = run(&bytes, descriptor, &context).unwrap_or_default();
            prop_assert!(sent.len() <= bytes.len().max(1));
            let _ = apply(&mut bytes.clone(), descriptor & !r::TXD_DEXT, &context, &SETTINGS);
        }
    }

    #[test]
    fn a_context_is_read_as_written() {
        let first = 14 << 9 | 20 | 0x2123 << 16;
        let second = r::TXD_CONTEXT_L4T_TCP
            | r::TXD_CONTEXT_IPV4
            | r::field64(r::TXD_CONTEXT_L4LEN, 20)
            | r::field64(r::TXD_CONTEXT_MSS, 1448);
        assert_eq!(
            Context::of([first, second]),
            context(Version::V4, Transport::Tcp, 0, 1448)
        );
    }

    #[test]
    fn a_frame_with_senseless_offloads_is_not_sent() {
        let whole = frame(Version::V4, Transport::Tcp, 0, None, &[1; 100]);
        let good = context(Version::V4, Transport::Tcp, 0, 50);
        assert!(run(&whole, r::TXD_TSE, &good).is_ok());
        let bad: [fn(&mut Context); 6] = [
            |context| context.segment_len = 0,
            |context| context.segment_len = LEAST_MSS - 1,
            |context| context.transport = None,
            |context| context.transport = Some(Transport::Sctp),
            |context| context.transport_len = 8,
            |context| context.transport_len = 120,
        ];
        for spoil in bad {
            let mut context = good;
            spoil(&mut context);
            assert!(run(&whole, r::TXD_TSE, &context).is_err(), "{context:?}");
        }
        assert!(run(&whole, r::TXD_POPTS_IPSEC, &good).is_err());
        let mut far = good;
        (far.mac_len, far.ip_len) = (127, 511);
        assert!(run(&whole, r::TXD_POPTS_IXSM, &far).is_err());
        assert!(run(&whole, r::TXD_POPTS_TXSM, &far).is_err());
    }

    #[test]
    fn legacy_descriptors_have_their_own_checksum_and_tag() {
        let right = frame(Version::V4, Transport::Udp, 0, None, &[5; 33]);
        let mut seeded = right.clone();
        seed(&mut seeded, &context(Version::V4, Transport::Udp, 0, 0), 41);
        seeded[24..26].copy_from_slice(&right[24..26]);
        let command = LEGACY_IC | 40 << 16 | 34 << 40 | r::TXD_VLE | 0x0007 << 48;
        apply(&mut seeded, command, &Context::default(), &SETTINGS).unwrap();
        let tagged = frame(Version::V4, Transport::Udp, 0, Some(7), &[5; 33]);
        assert_eq!(seeded, tagged);
    }
}
