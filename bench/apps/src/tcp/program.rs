//! The loop of a program over TCP.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{ConnectionId, Event, Tcp};
use crate::contain::contained;
use crate::run::Run;
use crate::statistics::Statistics;

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(100);

/// What a program does with its connections. Each call does a bounded amount of work for one of them.
pub trait Application {
    /// A client has connected to a port.
    fn accepted(
        &mut self,
        tcp: &mut dyn Tcp,
        id: ConnectionId,
        port: u16,
        statistics: &mut Statistics,
    );

    /// There may be something to do for a connection.
    fn ready(&mut self, tcp: &mut dyn Tcp, id: ConnectionId, statistics: &mut Statistics);

    /// The work for a connection has panicked. The application gives it up.
    fn lost(&mut self, tcp: &mut dyn Tcp, id: ConnectionId);

    /// Does what is due about ten times a second.
    fn tick(&mut self, tcp: &mut dyn Tcp, now: Instant, statistics: &mut Statistics);
}

/// Runs an application until the run is over. The statistics are valid even after an error.
///
/// # Errors
/// If the device or the kernel fails.
pub fn serve<T: Tcp>(
    application: &mut impl Application,
    mut tcp: T,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let ran = serve_until_end(application, &mut tcp, run, statistics);
    let ended = tcp.end(statistics);
    ran.and(ended)
}

fn serve_until_end<T: Tcp>(
    application: &mut impl Application,
    tcp: &mut T,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let mut ticked = Instant::now();
    while !run.is_over() {
        let mut busy = tcp.turn();
        // What is woken meanwhile waits for the next turn, so that a busy connection does not keep the others waiting.
        for _ in 0..tcp.events() {
            let Some(event) = tcp.next_event() else {
                break;
            };
            busy = true;
            let (Event::Accepted { id, .. } | Event::Ready(id)) = event;
            let done = contained(|| match event {
                Event::Accepted { id, port } => application.accepted(tcp, id, port, statistics),
                Event::Ready(id) => application.ready(tcp, id, statistics),
            });
            if done.is_none() {
                statistics.panics += 1;
                application.lost(tcp, id);
            }
            if run.is_over() {
                return Ok(());
            }
        }
        let now = Instant::now();
        if now - ticked >= TICK {
            tcp.tick();
            application.tick(tcp, now, statistics);
            ticked = now;
        }
        tcp.rest(busy, run)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::TURN;
    use crate::run::Limits;
    use crate::tcp::memory::{Echo, Memory};
    use crate::tcp::Server;

    fn run(tcp: &mut Memory) -> Statistics {
        // A busy machine may take seconds to print a panic.
        let long = Duration::from_secs(600);
        let limits = Limits {
            connections: 8,
            socket_buffer: 1024,
            idle_timeout: long,
            request_timeout: long,
        };
        let mut server = Server::new(Echo, limits);
        let mut statistics = Statistics::default();
        let run = Run::start(None).unwrap();
        serve_until_end(&mut server, tcp, &run, &mut statistics).unwrap_err();
        statistics
    }

    #[test]
    fn a_panic_costs_one_connection() {
        let mut tcp = Memory::with_clients(&[b"a".to_vec(), b"!".to_vec(), b"b".to_vec()]);
        let statistics = run(&mut tcp);
        assert_eq!((statistics.panics, tcp.aborted), (1, vec![1]));
        let answers: Vec<_> = tcp.clients.iter().map(|client| &client.1[..]).collect();
        assert_eq!(answers, [&b"a"[..], b"", b"b"]);
    }

    #[test]
    fn a_connection_with_much_to_do_leaves_the_others_their_turns() {
        let much = vec![b'x'; 4 * TURN];
        let mut tcp = Memory::with_clients(&[much.clone(), b"y".to_vec()]);
        run(&mut tcp);
        assert_eq!(tcp.order[..4], [0, 1, 0, 0], "each in turn");
        assert_eq!(tcp.clients[0].1, much);
    }
}
