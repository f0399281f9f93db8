//! The node as a service: it answers requests, and drops and counts what is none.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::frame::{esv, Frame, Writer, HEADER};
use super::objects::{Objects, NODE_PROFILE};
use crate::service::{DatagramService, To, MAX_DATAGRAM};

/// The port of ECHONET Lite, of both sides.
pub const PORT: u16 = 3610;

/// The group of all nodes.
pub const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 23, 0);

/// What was asked, and what was answered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NodeCounts {
    /// Requests with an answer.
    pub requests: u64,
    /// Answers that some property is not available.
    pub not_available: u64,
    /// Datagrams that are no frames.
    pub malformed: u64,
    /// Frames that are no requests to this node.
    pub ignored: u64,
}

/// A node.
pub struct Node {
    objects: Objects,
    counts: NodeCounts,
}

impl Node {
    /// A node whose identity is `number`.
    pub fn new(number: [u8; 13]) -> Self {
        Self {
            objects: Objects::new(number),
            counts: NodeCounts::default(),
        }
    }

    /// What was asked so far.
    pub fn counts(&self) -> NodeCounts {
        self.counts.clone()
    }

    /// Answers a frame. `None` if it is no request to one of the objects, or needs no answer.
    fn answer_frame(&mut self, frame: &Frame<'_>, answer: &mut Vec<u8>) -> Option<To> {
        let object = self.objects.find(frame.deoj)?;
        // The services if all goes well, and if a property is not available.
        let (success, failure) = match frame.esv {
            esv::GET => (esv::GET_RES, esv::GET_SNA),
            esv::INF_REQ => (esv::INF, esv::INF_SNA),
            esv::SET_I => (0, esv::SET_I_SNA),
            esv::SET_C => (esv::SET_RES, esv::SET_C_SNA),
            esv::INFC => (esv::INFC_RES, esv::INFC_RES),
            _ => return None,
        };
        let mut writer = Writer::begin(answer, frame.tid, (object, frame.seoj), success);
        let mut available = true;
        // Each property needs two bytes, and the rest is room for values.
        let mut room = MAX_DATAGRAM - HEADER - 2 * frame.properties().count();
        for (epc, edt) in frame.properties() {
            let value = match frame.esv {
                esv::GET | esv::INF_REQ => self.objects.read(object, epc),
                // An announcement is acknowledged by its codes.
                esv::INFC => Some(&[][..]),
                // Nothing can be set: the request comes back.
                _ => None,
            };
            // What does not fit into an answer is not available.
            let value = value.filter(|value| value.len() <= room);
            let refused = if matches!(frame.esv, esv::SET_I | esv::SET_C) {
                edt
            } else {
                &[]
            };
            available &= value.is_some();
            let written = value.unwrap_or(&refused[..refused.len().min(room)]);
            room -= written.len();
            writer.property(epc, written);
        }
        if !available {
            self.counts.not_available += 1;
            writer.set_esv(failure);
        }
        Some(if available && frame.esv == esv::INF_REQ {
            To::Group
        } else {
            To::Sender
        })
    }
}

impl DatagramService for Node {
    const GROUP: Ipv4Addr = GROUP;

    fn answer(&mut self, datagram: &[u8], answer: &mut Vec<u8>) -> Option<To> {
        let Ok(frame) = Frame::parse(datagram) else {
            self.counts.malformed += 1;
            return None;
        };
        let to = self.answer_frame(&frame, answer);
        match to {
            Some(_) => self.counts.requests += 1,
            None => self.counts.ignored += 1,
        }
        to
    }

    /// A node tells the others its instances when it starts.
    fn announce(&mut self) -> Vec<u8> {
        let mut frame = Vec::new();
        let mut writer = Writer::begin(&mut frame, [0, 0], (NODE_PROFILE, NODE_PROFILE), esv::INF);
        writer.property(
            0xd5,
            self.objects.read(NODE_PROFILE, 0xd5).unwrap_or_default(),
        );
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::MANDATORY;

    const CONTROLLER: [u8; 3] = [0x05, 0xff, 0x01];

    fn request(esv: u8, deoj: [u8; 3], properties: &[(u8, &[u8])]) -> Vec<u8> {
        let mut frame = Vec::new();
        let mut writer = Writer::begin(&mut frame, [0x12, 0x34], (CONTROLLER, deoj), esv);
        for (epc, edt) in properties {
            writer.property(*epc, edt);
        }
        frame
    }

    fn ask(node: &mut Node, datagram: &[u8]) -> Option<(To, Vec<u8>)> {
        let mut answer = Vec::new();
        node.answer(datagram, &mut answer).map(|to| (to, answer))
    }

    #[test]
    fn discovery_is_answered_with_the_instances() {
        let mut node = Node::new([7; 13]);
        let (to, answer) =
            ask(&mut node, &request(esv::GET, NODE_PROFILE, &[(0xd6, &[])])).unwrap();
        let frame = Frame::parse(&answer).unwrap();
        assert_eq!(to, To::Sender);
        assert_eq!((frame.tid, frame.esv), ([0x12, 0x34], esv::GET_RES));
        assert_eq!((frame.seoj, frame.deoj), (NODE_PROFILE, CONTROLLER));
        assert_eq!(
            frame.properties().collect::<Vec<_>>(),
            [(0xd6, &[1, 0, 0x11, 1][..])]
        );
    }

    #[test]
    fn all_mandatory_properties_are_read_at_once() {
        let mut node = Node::new([7; 13]);
        let wanted: Vec<(u8, &[u8])> = MANDATORY.iter().map(|epc| (*epc, &[][..])).collect();
        let (_, answer) = ask(&mut node, &request(esv::GET, NODE_PROFILE, &wanted)).unwrap();
        let frame = Frame::parse(&answer).unwrap();
        assert_eq!(frame.esv, esv::GET_RES);
        assert!(frame.properties().all(|(_, edt)| !edt.is_empty()));
    }

    #[test]
    fn what_is_not_available_is_said() {
        let mut node = Node::new([7; 13]);
        for (asked, answered) in [
            (esv::GET, esv::GET_SNA),
            (esv::INF_REQ, esv::INF_SNA),
            (esv::SET_I, esv::SET_I_SNA),
            (esv::SET_C, esv::SET_C_SNA),
        ] {
            let frame = request(asked, NODE_PROFILE, &[(0xff, &[0x30])]);
            let (to, answer) = ask(&mut node, &frame).unwrap();
            assert_eq!(
                (to, Frame::parse(&answer).unwrap().esv),
                (To::Sender, answered)
            );
        }
        assert_eq!(node.counts().not_available, 4);
    }

    #[test]
    fn an_announcement_on_request_goes_to_the_group() {
        let mut node = Node::new([7; 13]);
        let (to, answer) = ask(
            &mut node,
            &request(esv::INF_REQ, NODE_PROFILE, &[(0xd5, &[])]),
        )
        .unwrap();
        assert_eq!(
            (to, Frame::parse(&answer).unwrap().esv),
            (To::Group, esv::INF)
        );
    }

    #[test]
    fn what_is_no_request_to_this_node_is_counted_and_dropped() {
        let mut node = Node::new([7; 13]);
        assert_eq!(ask(&mut node, b"nonsense"), None);
        assert_eq!(
            ask(
                &mut node,
                &request(esv::GET, [0x02, 0x90, 0x01], &[(0x80, &[])])
            ),
            None
        );
        assert_eq!(
            ask(
                &mut node,
                &request(esv::GET_RES, NODE_PROFILE, &[(0x80, &[0x30])])
            ),
            None
        );
        let counts = node.counts();
        assert_eq!(
            (counts.requests, counts.malformed, counts.ignored),
            (0, 1, 2)
        );
    }

    #[test]
    fn an_answer_fits_into_a_datagram() {
        let mut node = Node::new([7; 13]);
        let wanted = [(0x83, &[][..]); 255];
        let (_, answer) = ask(&mut node, &request(esv::GET, NODE_PROFILE, &wanted)).unwrap();
        assert!(answer.len() <= MAX_DATAGRAM, "{}", answer.len());
        assert_eq!(Frame::parse(&answer).unwrap().esv, esv::GET_SNA);
    }
}
