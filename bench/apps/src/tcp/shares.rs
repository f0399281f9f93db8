//! How many connections each host has: none may keep others out.

use std::collections::HashMap;
use std::net::Ipv4Addr;

/// A host may have this part of all connections while others wait.
const PART: usize = 4;

/// The connections of all hosts.
#[derive(Debug)]
pub struct Shares {
    limit: usize,
    hosts: HashMap<Ipv4Addr, usize>,
    count: usize,
}

impl Shares {
    /// No connections, and at most `limit` of them.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            hosts: HashMap::new(),
            count: 0,
        }
    }

    fn share(&self) -> usize {
        (self.limit / PART).max(1)
    }

    fn of(&self, host: Ipv4Addr) -> usize {
        self.hosts.get(&host).copied().unwrap_or(0)
    }

    /// The host with the most connections, if it has more than its share.
    fn largest(&self) -> Option<Ipv4Addr> {
        let (host, count) = self.hosts.iter().max_by_key(|(_, count)| **count)?;
        (*count > self.share()).then_some(*host)
    }

    /// Whether a host may have one more connection, which may cost another host one.
    pub fn admits(&self, host: Ipv4Addr) -> bool {
        self.count < self.limit || self.of(host) < self.share() && self.largest().is_some()
    }

    /// Adds a connection of a host. Returns the host that has to give up one for it.
    pub fn add(&mut self, host: Ipv4Addr) -> Option<Ipv4Addr> {
        let crowded = self.count >= self.limit;
        *self.hosts.entry(host).or_default() += 1;
        self.count += 1;
        self.largest().filter(|largest| crowded && *largest != host)
    }

    /// Removes a connection of a host.
    pub fn remove(&mut self, host: Ipv4Addr) {
        if let Some(count) = self.hosts.get_mut(&host) {
            *count -= 1;
            self.count -= 1;
            if *count == 0 {
                self.hosts.remove(&host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn one_host_may_have_all_connections_until_another_one_waits() {
        let mut shares = Shares::new(8);
        for _ in 0..8 {
            assert!(shares.admits(A));
            assert_eq!(shares.add(A), None);
        }
        assert!(!shares.admits(A), "it has its share");
        for _ in 0..2 {
            assert!(shares.admits(B));
            assert_eq!(shares.add(B), Some(A));
            shares.remove(A);
        }
        assert!(!shares.admits(B), "it has its share, too");
        shares.remove(A);
        assert!(shares.admits(B), "there is room");
    }

    #[test]
    fn no_host_gives_up_a_connection_if_all_have_their_shares() {
        let mut shares = Shares::new(4);
        for host in 1..=4 {
            assert_eq!(shares.add(Ipv4Addr::new(10, 0, 0, host)), None);
        }
        assert!(!shares.admits(Ipv4Addr::new(10, 0, 0, 9)));
    }
}
