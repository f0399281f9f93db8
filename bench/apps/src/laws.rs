//! What holds for any bytes of a client: laws of the parsers.
//!
//! Only tests and fuzzing compile this file. The inputs are random, those in `fuzz/corpus/`, and those that
//! `make test ONLY=fuzz` finds.

use std::fmt::Debug;

use crate::http::{Http, RecordSite, Records};
use crate::kv::{resp, Kv};
use crate::node::frame::Frame;
use crate::node::Node;
use crate::service::{DatagramService, Service, MAX_DATAGRAM, OUTPUT_LIMIT};

/// Bytes of the values of a store.
const STORE: usize = 64 * 1024;

/// A parser finds the same request, whether its bytes arrive together or one by one. `length` is that of a request.
fn check_parser<'i, R, E: Debug + PartialEq>(
    input: &'i [u8],
    parse: impl Fn(&'i [u8]) -> Result<Option<R>, E>,
    length: impl Fn(&R) -> usize,
) {
    let Ok(Some(request)) = parse(input) else {
        return;
    };
    let end = length(&request);
    assert!((1..=input.len()).contains(&end), "{end} bytes");
    let alone = parse(&input[..end]).unwrap();
    assert_eq!(
        alone.as_ref().map(&length),
        Some(end),
        "without what follows"
    );
    assert!(
        matches!(parse(&input[..end - 1]), Ok(None)),
        "without its last byte"
    );
}

/// Any bytes to the key-value store.
pub fn kv(input: &[u8]) {
    check_parser(input, resp::parse, |request| request.length);
    let mut kv = Kv::new(STORE);
    let mut at = 0;
    loop {
        let mut output = Vec::new();
        let served = kv.serve(&mut (), &input[at..], &mut output);
        at += served.consumed;
        assert!(at <= input.len());
        assert!(output.len() <= OUTPUT_LIMIT + Kv::ANSWER_LIMIT);
        if served.close || output.len() < OUTPUT_LIMIT {
            break;
        }
    }
}

/// Any bytes to the HTTP server, in two parts.
pub fn http(input: &[u8]) {
    let mut http = Http::new(RecordSite::new(Records::open(None, 1).unwrap()));
    let mut connection = None;
    for part in input.chunks(input.len() / 2 + 1) {
        let mut output = Vec::new();
        let served = http.serve(&mut connection, part, &mut output);
        assert!(served.consumed <= part.len() && output.len() <= OUTPUT_LIMIT);
        if served.close {
            break;
        }
    }
}

/// Any datagram to the node.
pub fn node(input: &[u8]) {
    let mut node = Node::new([1; 13]);
    let mut answer = Vec::new();
    let to = node.answer(input, &mut answer);
    match Frame::parse(input) {
        Ok(asked) if to.is_some() => {
            assert!(answer.len() <= MAX_DATAGRAM);
            let answered = Frame::parse(&answer).unwrap();
            assert_eq!(answered.tid, asked.tid);
        }
        Ok(_) => {}
        Err(_) => assert!(to.is_none(), "an answer to no frame"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    /// Runs a law on the inputs of its corpus.
    fn run_corpus(name: &str, law: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            law(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "{} is empty", folder.display());
    }

    #[test]
    fn the_laws_hold_for_the_inputs_of_the_corpus() {
        run_corpus("kv_requests", kv);
        run_corpus("http_requests", http);
        run_corpus("node_frames", node);
    }

    proptest! {
        #[test]
        fn the_laws_hold_for_random_inputs(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            kv(&bytes);
            http(&bytes);
            node(&bytes);
        }

        #[test]
        fn the_laws_hold_for_almost_right_inputs(
            resp in "(\\*[0-9]{1,2}\r\n(\\$[0-9]{1,2}\r\n[A-Za-z0-9]{0,6}\r\n){0,3}){1,3}",
            text in "(GET|POST) /[a-z]{0,5} HTTP/1\\.[01]\r\n(Host: a\r\n|Content-Length: [0-9]{1,2}\r\n|X: y\r\n){0,4}\r\n[a-z]{0,20}",
        ) {
            kv(resp.as_bytes());
            http(text.as_bytes());
        }
    }
}
