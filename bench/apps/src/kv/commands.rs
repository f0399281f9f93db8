//! The commands of the store. Their answers are those of Redis, so that its own clients can use them.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::resp::{self, MAX_REQUEST, MAX_WORD};
use super::store::{Expiry, Full, Store};
use crate::service::{Served, Service, OUTPUT_LIMIT};

const WRONG_NUMBER: &str = "ERR value is not an integer or out of range";
const SYNTAX: &str = "ERR syntax error";
const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'";

/// What was asked, and what was answered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KvCounts {
    /// Requests with an answer, errors included.
    pub requests: u64,
    /// Answers that are errors.
    pub errors: u64,
    /// Requests that no parser understands. Each ends its connection.
    pub malformed: u64,
    /// Requests to store that found no memory.
    pub out_of_memory: u64,
    /// Keys at the end.
    pub keys: u64,
    /// Keys that expired.
    pub expired: u64,
    /// Bytes that keys and values took at the end.
    pub used_bytes: u64,
    /// The most bytes that keys and values may take.
    pub limit_bytes: u64,
}

/// The store as a service.
pub struct Kv {
    store: Store,
    limit: usize,
    counts: KvCounts,
    /// The time of these requests.
    now: Instant,
}

/// Why a command has no value as its answer.
enum Refusal {
    Text(String),
    Full,
}

impl From<&str> for Refusal {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Full> for Refusal {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// Whether the connection goes on.
enum Next {
    More,
    Quit,
}

impl Kv {
    /// An empty store of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            store: Store::new(limit),
            limit,
            counts: KvCounts::default(),
            now: Instant::now(),
        }
    }

    /// What was asked so far.
    pub fn counts(&self) -> KvCounts {
        KvCounts {
            keys: self.store.len() as u64,
            expired: self.store.expired,
            used_bytes: self.store.used() as u64,
            limit_bytes: self.limit as u64,
            ..self.counts.clone()
        }
    }

    fn run(&mut self, words: &[&[u8]], output: &mut Vec<u8>) -> Next {
        let Some((command, arguments)) = words.split_first() else {
            return Next::More;
        };
        self.counts.requests += 1;
        let mut upper = [0; 16];
        let name = upper_case(command, &mut upper);
        if name == b"QUIT" {
            resp::simple(output, "OK");
            return Next::Quit;
        }
        match self.command(name, arguments, output) {
            Ok(()) => {}
            Err(Refusal::Text(text)) => {
                self.counts.errors += 1;
                resp::error(output, &text);
            }
            Err(Refusal::Full) => {
                self.counts.errors += 1;
                self.counts.out_of_memory += 1;
                resp::error(output, OUT_OF_MEMORY);
            }
        }
        Next::More
    }

    /// Runs a command. A command that is refused has written nothing.
    fn command(
        &mut self,
        name: &[u8],
        arguments: &[&[u8]],
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let now = self.now;
        match (name, arguments) {
            (b"GET", [key]) => match self.store.get(key, now) {
                Some(value) => resp::bulk(output, value),
                None => resp::null(output),
            },
            (b"SET", [key, value, options @ ..]) => return self.set(key, value, options, output),
            (b"DEL", [_, ..]) => {
                let removed = arguments.iter().filter(|key| self.store.remove(key, now));
                resp::integer(output, removed.count() as i64);
            }
            (b"EXISTS", [_, ..]) => {
                let found = arguments
                    .iter()
                    .filter(|key| self.store.get(key, now).is_some());
                resp::integer(output, found.count() as i64);
            }
            (b"INCR", [key]) => return self.increment(key, 1, output),
            (b"DECR", [key]) => return self.increment(key, -1, output),
            (b"INCRBY", [key, by]) => return self.increment(key, integer(by)?, output),
            (b"EXPIRE", [key, time]) => self.expire(key, integer(time)?, 1000, output)?,
            (b"PEXPIRE", [key, time]) => self.expire(key, integer(time)?, 1, output)?,
            (b"PERSIST", [key]) => {
                let expires = matches!(self.store.time_left(key, now), Some(Some(_)));
                self.store.set_expiry(key, None, now);
                resp::integer(output, expires.into());
            }
            (b"TTL", [key]) => self.time_left(key, 1000, output),
            (b"PTTL", [key]) => self.time_left(key, 1, output),
            (b"PING", []) => resp::simple(output, "PONG"),
            (b"PING" | b"ECHO", [text]) => resp::bulk(output, text),
            (b"DBSIZE", []) => resp::integer(output, self.store.len() as i64),
            (b"FLUSHALL" | b"FLUSHDB", _) => {
                self.store.clear();
                resp::simple(output, "OK");
            }
            // There is one database.
            (b"SELECT", [b"0"]) => resp::simple(output, "OK"),
            (b"SELECT", [_]) => return Err("ERR DB index is out of range".into()),
            // redis-cli asks for the commands to help with them, and does without.
            (b"COMMAND", _) => resp::array(output, 0),
            (b"CLIENT", _) => resp::simple(output, "OK"),
            // redis-benchmark asks for the settings that it prints.
            (b"CONFIG", [_, setting]) => {
                resp::array(output, 2);
                resp::bulk(output, setting);
                resp::bulk(output, b"");
            }
            (
                b"GET" | b"SET" | b"DEL" | b"EXISTS" | b"INCR" | b"DECR" | b"INCRBY" | b"EXPIRE"
                | b"PEXPIRE" | b"PERSIST" | b"TTL" | b"PTTL" | b"PING" | b"ECHO" | b"DBSIZE"
                | b"SELECT" | b"CONFIG",
                _,
            ) => {
                let name = String::from_utf8_lossy(name).to_lowercase();
                let text = format!("ERR wrong number of arguments for '{name}' command");
                return Err(Refusal::Text(text));
            }
            _ => {
                let name = String::from_utf8_lossy(&name[..name.len().min(64)]);
                return Err(Refusal::Text(format!("ERR unknown command '{name}'")));
            }
        }
        Ok(())
    }

    fn set(
        &mut self,
        key: &[u8],
        value: &[u8],
        options: &[&[u8]],
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut expiry = Expiry::Never;
        // Whether the key must exist.
        let mut exists = None;
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut upper = [0; 16];
            match upper_case(option, &mut upper) {
                b"NX" if exists.is_none() => exists = Some(false),
                b"XX" if exists.is_none() => exists = Some(true),
                b"KEEPTTL" if expiry == Expiry::Never => expiry = Expiry::Keep,
                unit @ (b"EX" | b"PX") if expiry == Expiry::Never => {
                    let time = integer(options.next().ok_or(SYNTAX)?)?;
                    let unit = if unit == b"EX" { 1000 } else { 1 };
                    let time = u64::try_from(time)
                        .ok()
                        .filter(|time| *time > 0)
                        .and_then(|time| time.checked_mul(unit))
                        .ok_or("ERR invalid expire time in 'set' command")?;
                    expiry = Expiry::After(Duration::from_millis(time));
                }
                _ => return Err(SYNTAX.into()),
            }
        }
        let now = self.now;
        if exists.is_some_and(|exists| self.store.get(key, now).is_some() != exists) {
            resp::null(output);
            return Ok(());
        }
        self.store.set(key, value, expiry, now)?;
        resp::simple(output, "OK");
        Ok(())
    }

    fn increment(&mut self, key: &[u8], by: i64, output: &mut Vec<u8>) -> Result<(), Refusal> {
        let now = self.now;
        let number = match self.store.get(key, now) {
            Some(value) => integer(value)?,
            None => 0,
        };
        let number = number
            .checked_add(by)
            .ok_or("ERR increment or decrement would overflow")?;
        self.store
            .set(key, number.to_string().as_bytes(), Expiry::Keep, now)?;
        resp::integer(output, number);
        Ok(())
    }

    /// Lets a key expire after `time` units of so many milliseconds.
    fn expire(
        &mut self,
        key: &[u8],
        time: i64,
        unit: u64,
        output: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let now = self.now;
        let found = match u64::try_from(time).ok().filter(|time| *time > 0) {
            Some(time) => {
                let time = time.checked_mul(unit).ok_or("ERR invalid expire time")?;
                self.store
                    .set_expiry(key, Some(Duration::from_millis(time)), now)
            }
            // A time in the past.
            None => self.store.remove(key, now),
        };
        resp::integer(output, found.into());
        Ok(())
    }

    /// Answers the time that a key has left, in units of so many milliseconds, rounded.
    fn time_left(&mut self, key: &[u8], unit: u128, output: &mut Vec<u8>) {
        let answer = match self.store.time_left(key, self.now) {
            None => -2,
            Some(None) => -1,
            Some(Some(left)) => ((left.as_millis() + unit / 2) / unit) as i64,
        };
        resp::integer(output, answer);
    }
}

impl Service for Kv {
    type Connection = ();

    const REQUEST_LIMIT: usize = MAX_REQUEST + 4096;

    const ANSWER_LIMIT: usize = MAX_WORD + 64;

    fn serve(&mut self, (): &mut (), input: &[u8], output: &mut Vec<u8>) -> Served {
        let mut served = Served::default();
        self.now = Instant::now();
        while output.len() < OUTPUT_LIMIT {
            match resp::parse(&input[served.consumed..]) {
                Ok(Some(request)) => {
                    served.consumed += request.length;
                    if let Next::Quit = self.run(request.words(), output) {
                        served.close = true;
                        break;
                    }
                }
                Ok(None) => break,
                Err(malformed) => {
                    self.counts.malformed += 1;
                    resp::error(output, &format!("ERR Protocol error: {}", malformed.0));
                    served.close = true;
                    break;
                }
            }
        }
        served
    }

    fn tick(&mut self, now: Instant) {
        self.store.sweep(now);
    }
}

/// A word in upper case. A word that is no command, because it is too long, stays as it is.
fn upper_case<'w>(word: &'w [u8], room: &'w mut [u8; 16]) -> &'w [u8] {
    match room.get_mut(..word.len()) {
        Some(upper) => {
            upper.copy_from_slice(word);
            upper.make_ascii_uppercase();
            upper
        }
        None => word,
    }
}

fn integer(word: &[u8]) -> Result<i64, &'static str> {
    let text = std::str::from_utf8(word).map_err(|_| WRONG_NUMBER)?;
    text.parse().map_err(|_| WRONG_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(kv: &mut Kv, requests: &str) -> String {
        let mut output = Vec::new();
        let served = kv.serve(&mut (), requests.as_bytes(), &mut output);
        assert!(served.close || served.consumed == requests.len());
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn the_commands_answer_as_redis_does() {
        let mut kv = Kv::new(1 << 20);
        for (request, answer) in [
            ("PING", "+PONG"),
            ("ping hello", "$5\r\nhello"),
            ("GET a", "$-1"),
            ("SET a 1", "+OK"),
            ("GET a", "$1\r\n1"),
            ("SET a 2 NX", "$-1"),
            ("SET b 2 XX", "$-1"),
            ("INCR a", ":2"),
            ("INCRBY a -12", ":-10"),
            ("DECR new", ":-1"),
            ("EXISTS a new none", ":2"),
            ("DEL a new none", ":2"),
            ("SET t 1 EX 100", "+OK"),
            ("TTL t", ":100"),
            ("PERSIST t", ":1"),
            ("TTL t", ":-1"),
            ("TTL none", ":-2"),
            ("EXPIRE t 0", ":1"),
            ("EXPIRE t 5", ":0"),
            ("DBSIZE", ":0"),
            ("SET text x", "+OK"),
            ("INCR text", "-ERR value is not an integer or out of range"),
            ("SET n 9223372036854775807", "+OK"),
            ("INCR n", "-ERR increment or decrement would overflow"),
            ("SET a 1 EX", "-ERR syntax error"),
            ("SET a 1 EX 0", "-ERR invalid expire time in 'set' command"),
            ("GET", "-ERR wrong number of arguments for 'get' command"),
            ("NONSENSE a", "-ERR unknown command 'NONSENSE'"),
            ("COMMAND DOCS", "*0"),
            ("SELECT 1", "-ERR DB index is out of range"),
        ] {
            assert_eq!(
                serve(&mut kv, &format!("{request}\r\n")),
                format!("{answer}\r\n"),
                "{request}"
            );
        }
        let counts = kv.counts();
        assert_eq!((counts.requests, counts.errors), (30, 7));
    }

    #[test]
    fn requests_in_a_row_are_answered_in_their_order() {
        let mut kv = Kv::new(1 << 20);
        let answers = serve(&mut kv, "SET a 1\r\nGET a\r\nGET b\r\nINCR a\r\n");
        assert_eq!(answers, "+OK\r\n$1\r\n1\r\n$-1\r\n:2\r\n");
    }

    #[test]
    fn a_malformed_request_ends_the_connection() {
        let mut kv = Kv::new(1 << 20);
        let mut output = Vec::new();
        let served = kv.serve(&mut (), b"PING\r\n*1\r\n:5\r\nPING\r\n", &mut output);
        assert!(served.close);
        assert_eq!(output, b"+PONG\r\n-ERR Protocol error: expected '$'\r\n");
        assert_eq!(kv.counts().malformed, 1);
    }

    #[test]
    fn a_full_store_refuses_values_and_serves_the_rest() {
        let mut kv = Kv::new(1000);
        assert_eq!(serve(&mut kv, "SET a 1\r\n"), "+OK\r\n");
        let value = "x".repeat(1000);
        let answer = serve(&mut kv, &format!("SET b {value}\r\nGET a\r\n"));
        assert_eq!(answer, format!("-{OUT_OF_MEMORY}\r\n$1\r\n1\r\n"));
        assert_eq!(kv.counts().out_of_memory, 1);
    }

    #[test]
    fn a_client_that_does_not_read_is_not_served() {
        let mut kv = Kv::new(1 << 20);
        let value = "x".repeat(4000);
        serve(&mut kv, &format!("SET a {value}\r\n"));
        let mut output = Vec::new();
        let requests = "GET a\r\n".repeat(1000);
        let served = kv.serve(&mut (), requests.as_bytes(), &mut output);
        assert!(served.consumed < requests.len());
        assert!(output.len() < OUTPUT_LIMIT + Kv::ANSWER_LIMIT);
    }
}
