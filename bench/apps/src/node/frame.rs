//! Frames of ECHONET Lite (specification version 1.14, part 2, chapter 3), format 1.
//!
//! EHD1, EHD2, TID (2 bytes), SEOJ (3), DEOJ (3), ESV, OPC, then OPC times: EPC, PDC, and PDC bytes of EDT.

/// EHD1: ECHONET Lite.
const EHD1: u8 = 0x10;
/// EHD2: format 1.
const EHD2: u8 = 0x81;
/// Bytes before the first property.
pub const HEADER: usize = 12;

/// The service codes (ESV).
pub mod esv {
    #![allow(missing_docs)]
    pub const SET_I: u8 = 0x60;
    pub const SET_C: u8 = 0x61;
    pub const GET: u8 = 0x62;
    pub const INF_REQ: u8 = 0x63;
    pub const SET_GET: u8 = 0x6e;
    pub const SET_RES: u8 = 0x71;
    pub const GET_RES: u8 = 0x72;
    pub const INF: u8 = 0x73;
    pub const INFC: u8 = 0x74;
    pub const INFC_RES: u8 = 0x7a;
    pub const SET_GET_RES: u8 = 0x7e;
    pub const SET_I_SNA: u8 = 0x50;
    pub const SET_C_SNA: u8 = 0x51;
    pub const GET_SNA: u8 = 0x52;
    pub const INF_SNA: u8 = 0x53;
    pub const SET_GET_SNA: u8 = 0x5e;
}

/// An object: class group, class, instance. Instance 0 means all of the class.
pub type Object = [u8; 3];

/// A frame that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'d> {
    /// The sender's number of the transaction.
    pub tid: [u8; 2],
    /// The object that sends.
    pub seoj: Object,
    /// The object that is meant.
    pub deoj: Object,
    /// The service.
    pub esv: u8,
    count: u8,
    properties: &'d [u8],
}

/// Why a datagram is no frame of format 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl<'d> Frame<'d> {
    /// Reads a frame, and checks all of its lengths.
    ///
    /// # Errors
    /// If it is of another protocol or format, has no property, or does not end with its last one.
    pub fn parse(datagram: &'d [u8]) -> Result<Self, Malformed> {
        let (header, properties) = datagram.split_first_chunk::<HEADER>().ok_or(Malformed)?;
        let &[EHD1, EHD2, t0, t1, s0, s1, s2, d0, d1, d2, esv, count] = header else {
            return Err(Malformed);
        };
        let frame = Self {
            tid: [t0, t1],
            seoj: [s0, s1, s2],
            deoj: [d0, d1, d2],
            esv,
            count,
            properties,
        };
        // SetGet has a second list of properties.
        let lists = if frame.is_set_get() { 2 } else { 1 };
        let mut rest = properties;
        let mut count = count;
        for list in 0..lists {
            if list > 0 {
                (count, rest) = rest
                    .split_first()
                    .map(|(count, rest)| (*count, rest))
                    .ok_or(Malformed)?;
            }
            if count == 0 {
                return Err(Malformed);
            }
            for _ in 0..count {
                rest = split_property(rest).ok_or(Malformed)?.1;
            }
        }
        match rest {
            [] => Ok(frame),
            _ => Err(Malformed),
        }
    }

    fn is_set_get(&self) -> bool {
        matches!(self.esv, esv::SET_GET | esv::SET_GET_RES | esv::SET_GET_SNA)
    }

    /// The properties: each code (EPC) with its value (EDT), which is empty in a request to read. Of SetGet, those to
    /// set.
    pub fn properties(&self) -> impl Iterator<Item = (u8, &'d [u8])> {
        let mut rest = self.properties;
        (0..self.count).map_while(move |_| {
            let (property, after) = split_property(rest)?;
            rest = after;
            Some(property)
        })
    }
}

type Property<'d> = (u8, &'d [u8]);

fn split_property(bytes: &[u8]) -> Option<(Property<'_>, &[u8])> {
    let ([epc, pdc], rest) = bytes.split_first_chunk::<2>()?;
    let (edt, rest) = rest.split_at_checked(usize::from(*pdc))?;
    Some(((*epc, edt), rest))
}

/// Writes a frame.
pub struct Writer<'o> {
    output: &'o mut Vec<u8>,
    count: usize,
}

impl<'o> Writer<'o> {
    /// Begins a frame without properties.
    pub fn begin(
        output: &'o mut Vec<u8>,
        tid: [u8; 2],
        (seoj, deoj): (Object, Object),
        esv: u8,
    ) -> Self {
        output.clear();
        output.extend([EHD1, EHD2]);
        output.extend(tid);
        output.extend(seoj);
        output.extend(deoj);
        output.extend([esv, 0]);
        Self {
            count: output.len() - 1,
            output,
        }
    }

    /// Appends a property. A value has at most 255 bytes; what is beyond is left out.
    pub fn property(&mut self, epc: u8, edt: &[u8]) {
        let edt = &edt[..edt.len().min(255)];
        self.output.extend([epc, edt.len() as u8]);
        self.output.extend(edt);
        self.output[self.count] = self.output[self.count].saturating_add(1);
    }

    /// Changes the service.
    pub fn set_esv(&mut self, esv: u8) {
        self.output[self.count - 1] = esv;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const A: Object = [0x05, 0xff, 0x01];
    const B: Object = [0x0e, 0xf0, 0x01];

    fn written(esv: u8, properties: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes, [1, 2], (A, B), esv);
        for (epc, edt) in properties {
            writer.property(*epc, edt);
        }
        bytes
    }

    #[test]
    fn a_frame_is_laid_out_as_the_specification_says() {
        let bytes = written(esv::GET, &[(0xd6, vec![])]);
        assert_eq!(
            bytes,
            [0x10, 0x81, 1, 2, 5, 0xff, 1, 0x0e, 0xf0, 1, 0x62, 1, 0xd6, 0]
        );
    }

    #[test]
    fn a_frame_whose_lengths_do_not_fit_is_malformed() {
        let whole = written(esv::SET_C, &[(0x80, vec![0x30])]);
        for end in 0..whole.len() {
            assert_eq!(Frame::parse(&whole[..end]), Err(Malformed), "{end}");
        }
        assert_eq!(Frame::parse(&[&whole[..], &[0]].concat()), Err(Malformed));
        for (at, value) in [(0, 0x11), (1, 0x82), (11, 0), (11, 2), (13, 2), (13, 0)] {
            let mut wrong = whole.clone();
            wrong[at] = value;
            assert_eq!(
                Frame::parse(&wrong),
                Err(Malformed),
                "byte {at} is {value:#x}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_was_written(
            esv in 0x60..0x6e_u8,
            properties in vec((any::<u8>(), vec(any::<u8>(), 0..20)), 1..10),
        ) {
            let bytes = written(esv, &properties);
            let frame = Frame::parse(&bytes).unwrap();
            prop_assert_eq!((frame.tid, frame.seoj, frame.deoj, frame.esv), ([1, 2], A, B, esv));
            let read: Vec<_> = frame.properties().map(|(epc, edt)| (epc, edt.to_vec())).collect();
            prop_assert_eq!(read, properties);
        }

        #[test]
        fn no_bytes_make_the_parser_fail(mut bytes in vec(any::<u8>(), 0..80)) {
            let _ = Frame::parse(&bytes);
            if bytes.len() > 2 {
                bytes[..2].copy_from_slice(&[EHD1, EHD2]);
                if let Ok(frame) = Frame::parse(&bytes) {
                    prop_assert!(frame.properties().count() > 0);
                }
            }
        }
    }
}
