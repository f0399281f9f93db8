//! Requests in the Redis serialization protocol, version 2: an array of bulk strings, or a line of words.
//!
//! The parser copies nothing and allocates nothing that a client chooses. Every length has a limit.

use std::fmt::Write as _;

/// The most words of a request.
pub const MAX_WORDS: usize = 64;

/// The longest word in bytes.
pub const MAX_WORD: usize = 512 * 1024;

/// The longest request in bytes: words may together have twice the length of the longest one.
pub const MAX_REQUEST: usize = 2 * MAX_WORD;

/// The longest line: an inline request, or a length.
const MAX_LINE: usize = 4096;

/// A request that no more bytes can make right. The message goes to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// A request: its words, in the bytes of the client.
#[derive(Debug)]
pub struct Request<'i> {
    words: [&'i [u8]; MAX_WORDS],
    count: usize,
    /// Bytes of the request.
    pub length: usize,
}

impl<'i> Request<'i> {
    /// The words: the command first. None if the line was empty.
    pub fn words(&self) -> &[&'i [u8]] {
        &self.words[..self.count]
    }

    fn new() -> Self {
        Self {
            words: [&[]; MAX_WORDS],
            count: 0,
            length: 0,
        }
    }

    fn push(&mut self, word: &'i [u8]) -> Result<(), Malformed> {
        let place = self.words.get_mut(self.count);
        *place.ok_or(Malformed("too many words in a request"))? = word;
        self.count += 1;
        Ok(())
    }
}

/// Parses the request at the start of `input`. `None` if it is not whole yet.
///
/// # Errors
/// If no more bytes can make it right.
pub fn parse(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    match input.first() {
        None => Ok(None),
        Some(b'*') => parse_array(input),
        Some(_) => parse_inline(input),
    }
}

/// The line at `from`, without its end, and the position after it.
fn line(input: &[u8], from: usize) -> Result<Option<(&[u8], usize)>, Malformed> {
    let rest = &input[from..];
    match rest.iter().take(MAX_LINE).position(|byte| *byte == b'\n') {
        Some(end) => {
            let line = &rest[..end];
            Ok(Some((
                line.strip_suffix(b"\r").unwrap_or(line),
                from + end + 1,
            )))
        }
        None if rest.len() >= MAX_LINE => Err(Malformed("a line is too long")),
        None => Ok(None),
    }
}

/// A decimal number without a sign.
fn number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn parse_array(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    let Some((count, mut at)) = line(input, 0)? else {
        return Ok(None);
    };
    let count = number(&count[1..])
        .filter(|count| *count <= MAX_WORDS)
        .ok_or(Malformed("invalid multibulk length"))?;
    let mut request = Request::new();
    for _ in 0..count {
        let Some((length, start)) = line(input, at)? else {
            return Ok(None);
        };
        let length = length.strip_prefix(b"$").ok_or(Malformed("expected '$'"))?;
        let length = number(length)
            .filter(|length| *length <= MAX_WORD)
            .ok_or(Malformed("invalid bulk length"))?;
        let end = start + length;
        if end > MAX_REQUEST {
            return Err(Malformed("the request is too long"));
        }
        match input.get(end..end + 2) {
            Some(b"\r\n") => {}
            Some(_) => return Err(Malformed("expected CRLF after a bulk string")),
            None => return Ok(None),
        }
        request.push(&input[start..end])?;
        at = end + 2;
    }
    request.length = at;
    Ok(Some(request))
}

fn parse_inline(input: &[u8]) -> Result<Option<Request<'_>>, Malformed> {
    let Some((line, length)) = line(input, 0)? else {
        return Ok(None);
    };
    let mut request = Request::new();
    for word in line.split(|byte| *byte == b' ' || *byte == b'\t') {
        if !word.is_empty() {
            request.push(word)?;
        }
    }
    request.length = length;
    Ok(Some(request))
}

/// Appends a simple string, which has no line end.
pub fn simple(output: &mut Vec<u8>, text: &str) {
    output.push(b'+');
    output.extend_from_slice(text.as_bytes());
    output.extend_from_slice(b"\r\n");
}

/// Appends an error. Line ends in it become blanks.
pub fn error(output: &mut Vec<u8>, text: &str) {
    output.push(b'-');
    output.extend(text.bytes().map(|byte| match byte {
        b'\r' | b'\n' => b' ',
        other => other,
    }));
    output.extend_from_slice(b"\r\n");
}

/// Appends an integer.
pub fn integer(output: &mut Vec<u8>, number: i64) {
    head(output, ':', number);
}

/// Appends the head of an array of so many values.
pub fn array(output: &mut Vec<u8>, count: usize) {
    head(output, '*', count as i64);
}

/// Appends a bulk string.
pub fn bulk(output: &mut Vec<u8>, bytes: &[u8]) {
    head(output, '$', bytes.len() as i64);
    output.extend_from_slice(bytes);
    output.extend_from_slice(b"\r\n");
}

/// Appends the value that stands for none.
pub fn null(output: &mut Vec<u8>) {
    output.extend_from_slice(b"$-1\r\n");
}

fn head(output: &mut Vec<u8>, kind: char, number: i64) {
    let mut text = Text(output);
    // A vector takes everything.
    let _ = write!(text, "{kind}{number}\r\n");
}

/// Formats into bytes.
struct Text<'o>(&'o mut Vec<u8>);

impl std::fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn words(input: &[u8]) -> Vec<Vec<u8>> {
        let request = parse(input).unwrap().unwrap();
        assert_eq!(request.length, input.len());
        request.words().iter().map(|word| word.to_vec()).collect()
    }

    fn encoded(words: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        array(&mut bytes, words.len());
        words.iter().for_each(|word| bulk(&mut bytes, word));
        bytes
    }

    #[test]
    fn an_array_of_bulk_strings_is_a_request() {
        let input = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n";
        assert_eq!(
            words(input),
            [b"SET".to_vec(), b"k".to_vec(), b"a\r\nb".to_vec()]
        );
    }

    #[test]
    fn a_line_is_a_request_too() {
        assert_eq!(
            words(b"PING  hello\t\r\n"),
            [b"PING".to_vec(), b"hello".to_vec()]
        );
        assert!(words(b"\r\n").is_empty());
    }

    #[test]
    fn what_no_more_bytes_can_make_right_is_malformed() {
        for input in [
            &b"*1000000000\r\n"[..],
            b"*-1\r\n",
            b"*+1\r\n",
            b"*x\r\n",
            b"*1\r\n:1\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$99999999999999999999\r\n",
            b"*1\r\n$1000000\r\n",
            b"*1\r\n$1\r\nabc",
        ] {
            assert!(
                parse(input).is_err(),
                "{:?}",
                String::from_utf8_lossy(input)
            );
        }
        assert!(parse(&[b'a'; MAX_LINE]).is_err());
        assert!(parse(&b" a".repeat(MAX_WORDS + 1)[..]).unwrap().is_none());
        assert!(parse(&[&b" a".repeat(MAX_WORDS + 1)[..], b"\n"].concat()).is_err());
    }

    proptest! {
        #[test]
        fn every_request_is_read_as_it_was_written(request in vec(vec(any::<u8>(), 0..40), 0..9)) {
            prop_assert_eq!(words(&encoded(&request)), request);
        }

        #[test]
        fn a_part_of_a_request_is_not_whole(request in vec(vec(any::<u8>(), 0..40), 1..9)) {
            let bytes = encoded(&request);
            for end in 0..bytes.len() {
                prop_assert!(parse(&bytes[..end]).unwrap().is_none());
            }
        }

        #[test]
        fn no_bytes_make_the_parser_fail(bytes: Vec<u8>, numbers in vec("[*$0-9\r\n]{0,8}", 0..8)) {
            let _ = parse(&bytes);
            if let Ok(Some(request)) = parse(numbers.concat().as_bytes()) {
                prop_assert!(request.length <= numbers.concat().len());
            }
        }
    }
}
