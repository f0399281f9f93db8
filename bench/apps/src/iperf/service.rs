//! The course of a test: parameters, connections with data, results.

use std::collections::VecDeque;
use std::time::Instant;

use serde::Serialize;

use super::message::{json, put_json, state, Parameters, Results, StreamResults, COOKIE, MAX_JSON};
use crate::service::{ConnectionId, Served, Service, OUTPUT_LIMIT};
use crate::statistics::processor_seconds;

/// The most connections with data.
const MAX_STREAMS: usize = 64;

/// What happened in all tests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IperfCounts {
    /// Tests that ended with an exchange of results.
    pub tests: u64,
    /// Connections that did not speak iperf3, or came during another client's test.
    pub malformed: u64,
    /// Bytes of data from clients.
    pub data_received: u64,
    /// Bytes of data to clients. Some may still wait in buffers.
    pub data_sent: u64,
}

/// What a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its cookie has not come.
    New,
    /// It controls the test.
    Control(Step),
    /// It has data: the number of the stream.
    Stream(usize),
    /// It has nothing to do with the test.
    Refused,
}

/// What the control connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    Parameters,
    Streams,
    End,
    Results,
    Done,
}

/// A stream, and the bytes that it has carried.
struct Stream {
    connection: ConnectionId,
    sends: bool,
    bytes: u64,
}

/// When streams send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Before,
    Running,
    After,
}

/// The test that runs.
struct Test {
    cookie: [u8; COOKIE],
    control: ConnectionId,
    parameters: Parameters,
    streams: Vec<Stream>,
    phase: Phase,
    start: Instant,
    cpu: (f64, f64),
}

impl Test {
    /// The connections with data that the client opens.
    fn wanted_streams(&self) -> usize {
        let each_way = self.parameters.parallel.max(1);
        each_way * if self.parameters.bidirectional { 2 } else { 1 }
    }
}

/// The server of iperf3.
#[derive(Default)]
pub struct Iperf {
    test: Option<Test>,
    counts: IperfCounts,
    woken: VecDeque<ConnectionId>,
}

/// A connection, and what it is.
pub struct Connection {
    id: ConnectionId,
    role: Role,
}

const REFUSED: Served = Served {
    consumed: 0,
    close: true,
    more: false,
};

impl Iperf {
    /// What happened so far.
    pub fn counts(&self) -> IperfCounts {
        self.counts.clone()
    }

    /// Finds out what a new connection is, by its cookie.
    fn greet(&mut self, connection: &mut Connection, input: &[u8], output: &mut Vec<u8>) -> Served {
        let Some(cookie) = input.first_chunk::<COOKIE>() else {
            return Served::default();
        };
        let done = Served {
            consumed: COOKIE,
            ..Served::default()
        };
        match &mut self.test {
            None => {
                connection.role = Role::Control(Step::Parameters);
                self.test = Some(Test {
                    cookie: *cookie,
                    control: connection.id,
                    parameters: Parameters::default(),
                    streams: Vec::new(),
                    phase: Phase::Before,
                    start: Instant::now(),
                    cpu: (0.0, 0.0),
                });
                output.push(state::PARAM_EXCHANGE);
                done
            }
            Some(test) if test.cookie == *cookie && test.streams.len() < test.wanted_streams() => {
                let number = test.streams.len();
                // With both directions, the client opens those first on which it sends.
                let sends = match test.parameters.bidirectional {
                    true => number >= test.wanted_streams() / 2,
                    false => test.parameters.reverse,
                };
                test.streams.push(Stream {
                    connection: connection.id,
                    sends,
                    bytes: 0,
                });
                connection.role = Role::Stream(number);
                if test.streams.len() == test.wanted_streams() {
                    self.woken.push_back(test.control);
                }
                done
            }
            Some(_) => {
                self.counts.malformed += 1;
                connection.role = Role::Refused;
                output.push(state::ACCESS_DENIED);
                REFUSED
            }
        }
    }

    /// Takes a step of the control connection. `None` if its message is not whole yet.
    fn control(
        &mut self,
        step: Step,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Option<(usize, Option<Step>)> {
        let test = self.test.as_mut()?;
        match step {
            Step::Parameters => {
                let (text, length) = match json(input) {
                    Ok(found) => found?,
                    Err(()) => return Some((0, None)),
                };
                let parameters: Parameters = serde_json::from_slice(text).unwrap_or_default();
                test.parameters = parameters;
                if !test.parameters.tcp || test.wanted_streams() > MAX_STREAMS {
                    // The client expects two numbers of errors.
                    output.push(state::SERVER_ERROR);
                    output.extend_from_slice(&[0; 8]);
                    return Some((length, None));
                }
                output.push(state::CREATE_STREAMS);
                Some((length, Some(Step::Streams)))
            }
            Step::Streams => {
                if test.streams.len() < test.wanted_streams() {
                    return None;
                }
                output.extend_from_slice(&[state::TEST_START, state::TEST_RUNNING]);
                test.phase = Phase::Running;
                test.start = Instant::now();
                test.cpu = processor_seconds().unwrap_or_default();
                let sends = test.streams.iter().filter(|stream| stream.sends);
                self.woken.extend(sends.map(|stream| stream.connection));
                Some((0, Some(Step::End)))
            }
            Step::End => match input.first()? {
                &state::TEST_END => {
                    test.phase = Phase::After;
                    // The client may wait for the rest of a block. The end of its stream ends that.
                    let sends = test.streams.iter().filter(|stream| stream.sends);
                    self.woken.extend(sends.map(|stream| stream.connection));
                    output.push(state::EXCHANGE_RESULTS);
                    Some((1, Some(Step::Results)))
                }
                byte => {
                    self.counts.malformed += u64::from(*byte != state::CLIENT_TERMINATE);
                    Some((1, None))
                }
            },
            Step::Results => {
                let (_, length) = match json(input) {
                    Ok(found) => found?,
                    Err(()) => return Some((0, None)),
                };
                put_json(output, &results(test));
                output.push(state::DISPLAY_RESULTS);
                self.counts.tests += 1;
                Some((length, Some(Step::Done)))
            }
            Step::Done => {
                let ended = matches!(input.first()?, &state::IPERF_DONE);
                self.counts.malformed += u64::from(!ended);
                Some((1, None))
            }
        }
    }

    fn data(&mut self, number: usize, input: &[u8], output: &mut Vec<u8>) -> Served {
        let Some(test) = &mut self.test else {
            return REFUSED;
        };
        let phase = test.phase;
        let Some(stream) = test.streams.get_mut(number) else {
            return REFUSED;
        };
        if !stream.sends {
            stream.bytes += input.len() as u64;
            self.counts.data_received += input.len() as u64;
        } else if phase == Phase::Running && output.len() < OUTPUT_LIMIT {
            let size = OUTPUT_LIMIT - output.len();
            output.resize(OUTPUT_LIMIT, 0);
            stream.bytes += size as u64;
            self.counts.data_sent += size as u64;
        }
        Served {
            consumed: input.len(),
            close: stream.sends && phase == Phase::After,
            more: stream.sends && phase == Phase::Running,
        }
    }
}

fn results(test: &Test) -> Results {
    let seconds = test.start.elapsed().as_secs_f64();
    let (user, system) = processor_seconds().unwrap_or_default();
    let percent = |after: f64, before: f64| 100.0 * (after - before) / seconds;
    let streams = test.streams.iter().enumerate();
    Results {
        cpu_util_total: percent(user + system, test.cpu.0 + test.cpu.1),
        cpu_util_user: percent(user, test.cpu.0),
        cpu_util_system: percent(system, test.cpu.1),
        sender_has_retransmits: 0,
        streams: streams
            .map(|(number, stream)| StreamResults {
                id: if number == 0 { 1 } else { number + 2 },
                bytes: stream.bytes,
                retransmits: 0,
                jitter: 0.0,
                errors: 0,
                packets: 0,
                start_time: 0.0,
                end_time: seconds,
            })
            .collect(),
    }
}

impl Service for Iperf {
    type Connection = Connection;

    const REQUEST_LIMIT: usize = 2 * MAX_JSON;

    const ANSWER_LIMIT: usize = MAX_JSON;

    fn accepted(&mut self, id: ConnectionId) -> Connection {
        Connection {
            id,
            role: Role::New,
        }
    }

    fn serve(&mut self, connection: &mut Connection, input: &[u8], output: &mut Vec<u8>) -> Served {
        let mut served = Served::default();
        loop {
            let rest = &input[served.consumed..];
            match connection.role {
                Role::New => {
                    let greeted = self.greet(connection, rest, output);
                    served.consumed += greeted.consumed;
                    served.close = greeted.close;
                    if connection.role == Role::New || greeted.close {
                        return served;
                    }
                }
                Role::Control(step) => match self.control(step, rest, output) {
                    None => return served,
                    Some((consumed, Some(next))) => {
                        served.consumed += consumed;
                        connection.role = Role::Control(next);
                    }
                    Some((consumed, None)) => {
                        served.consumed += consumed;
                        served.close = true;
                        return served;
                    }
                },
                Role::Stream(number) => {
                    let data = self.data(number, rest, output);
                    served.consumed += data.consumed;
                    served.close = data.close;
                    served.more = data.more;
                    return served;
                }
                Role::Refused => return REFUSED,
            }
        }
    }

    fn closed(&mut self, id: ConnectionId, connection: Connection) {
        if !matches!(connection.role, Role::Control(_)) {
            return;
        }
        // The end of the control connection is the end of the test: its streams find none any more, and close.
        if self.test.as_ref().is_some_and(|test| test.control == id) {
            let streams = self
                .test
                .take()
                .map(|test| test.streams)
                .unwrap_or_default();
            self.woken
                .extend(streams.iter().map(|stream| stream.connection));
        }
    }

    fn woken(&mut self) -> Option<ConnectionId> {
        self.woken.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with its connections, each with the bytes that it has sent.
    struct Bench {
        iperf: Iperf,
        connections: Vec<Connection>,
    }

    impl Bench {
        fn new(count: usize) -> Self {
            let mut iperf = Iperf::default();
            let connections = (0..count).map(|id| iperf.accepted(id)).collect();
            Self { iperf, connections }
        }

        fn send(&mut self, id: usize, bytes: &[u8]) -> (Vec<u8>, Served) {
            let mut output = Vec::new();
            let served = self
                .iperf
                .serve(&mut self.connections[id], bytes, &mut output);
            (output, served)
        }
    }

    fn with_length(json: &str) -> Vec<u8> {
        [&(json.len() as u32).to_be_bytes()[..], json.as_bytes()].concat()
    }

    const COOKIE_A: [u8; COOKIE] = [b'a'; COOKIE];

    #[test]
    fn a_test_goes_through_its_states() {
        let mut bench = Bench::new(2);
        assert_eq!(bench.send(0, &COOKIE_A[..10]).1.consumed, 0);
        assert_eq!(bench.send(0, &COOKIE_A).0, [state::PARAM_EXCHANGE]);
        let parameters = with_length(r#"{"tcp":true,"parallel":1,"time":10,"len":131072}"#);
        assert_eq!(bench.send(0, &parameters).0, [state::CREATE_STREAMS]);
        assert!(bench.send(1, &COOKIE_A).0.is_empty());
        assert_eq!(bench.iperf.woken(), Some(0));
        assert_eq!(
            bench.send(0, b"").0,
            [state::TEST_START, state::TEST_RUNNING]
        );
        assert_eq!(bench.send(1, &[7; 5000]).1.consumed, 5000);
        assert_eq!(
            bench.send(0, &[state::TEST_END]).0,
            [state::EXCHANGE_RESULTS]
        );
        let (results, _) = bench.send(0, &with_length("{}"));
        let (text, length) = json(&results).unwrap().unwrap();
        let parsed: serde_json::Value = serde_json::from_slice(text).unwrap();
        assert_eq!(parsed["streams"][0]["bytes"], 5000);
        assert_eq!(parsed["streams"][0]["id"], 1);
        assert_eq!(results[length..], [state::DISPLAY_RESULTS]);
        assert!(bench.send(0, &[state::IPERF_DONE]).1.close);
        assert_eq!(bench.iperf.counts().tests, 1);
    }

    #[test]
    fn a_reverse_test_sends_while_there_is_room() {
        let mut bench = Bench::new(2);
        bench.send(0, &COOKIE_A);
        bench.send(
            0,
            &with_length(r#"{"tcp":true,"parallel":1,"reverse":true}"#),
        );
        bench.send(1, &COOKIE_A);
        assert!(!bench.send(1, b"").1.more, "before the start");
        bench.send(0, b"");
        let (data, served) = bench.send(1, b"");
        assert_eq!((data.len(), served.more), (OUTPUT_LIMIT, true));
        bench.send(0, &[state::TEST_END]);
        assert!(bench.send(1, b"").1.close, "after the end");
    }

    #[test]
    fn another_client_is_refused_until_the_test_has_ended() {
        let mut bench = Bench::new(3);
        bench.send(0, &COOKIE_A);
        let (answer, served) = bench.send(1, &[b'b'; COOKIE]);
        assert_eq!((answer, served.close), (vec![state::ACCESS_DENIED], true));
        let control = bench.connections.remove(0);
        bench.iperf.closed(0, control);
        assert_eq!(bench.send(1, &[b'b'; COOKIE]).0, [state::PARAM_EXCHANGE]);
    }

    #[test]
    fn parameters_that_cannot_be_met_end_the_test() {
        for parameters in [
            "{}",
            r#"{"tcp":false}"#,
            r#"{"tcp":true,"parallel":65}"#,
            "nonsense",
        ] {
            let mut bench = Bench::new(1);
            bench.send(0, &COOKIE_A);
            let (answer, served) = bench.send(0, &with_length(parameters));
            assert!(
                served.close && answer[0] == state::SERVER_ERROR,
                "{parameters}"
            );
        }
        let mut bench = Bench::new(1);
        bench.send(0, &COOKIE_A);
        assert!(bench.send(0, &u32::MAX.to_be_bytes()).1.close);
    }
}
