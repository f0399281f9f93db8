//! The kernel's network interfaces: their links and their uses.

use serde::Serialize;

use super::system::System;

/// A network interface of a port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Interface {
    pub name: String,
    pub up: bool,
    /// Whether it has a link; `None` if the kernel does not report it, as for an interface that is down.
    pub link: Option<bool>,
    pub speed_mbit: Option<u32>,
    /// Its uses, in words.
    pub carries: Vec<String>,
}

/// From `include/uapi/linux/if.h`.
const IFF_UP: u32 = 1;
/// From `include/uapi/linux/ipv6_route.h` and `route.h`: a route that rejects packets.
const RTF_REJECT: u32 = 0x0200;

impl Interface {
    /// Reads an interface by name.
    pub fn read(system: &System, name: &str) -> Self {
        let folder = format!("/sys/class/net/{name}");
        let flags = system.hex(&format!("{folder}/flags"));
        let number = |file: &str| system.number(&format!("{folder}/{file}"));
        Self {
            name: name.to_owned(),
            up: flags.is_some_and(|flags| flags & IFF_UP != 0),
            link: number("carrier").map(|carrier| carrier == 1),
            // Without a link, the speed reads -1.
            speed_mbit: number("speed").and_then(|speed| speed.try_into().ok()),
            carries: carries_below(system, name, STACKED),
        }
    }
}

/// Interfaces can be stacked: a port in a bond, the bond below a VLAN, the VLAN in a bridge.
const STACKED: u32 = 4;

/// The uses of an interface: addresses, routes, SSH sessions, and interfaces on top of it with
/// their uses.
fn carries_below(system: &System, name: &str, depth: u32) -> Vec<String> {
    let mut carries = own_uses(system, name);
    let folder = format!("/sys/class/net/{name}");
    let master = system.link_name(&format!("{folder}/master"));
    let mut above: Vec<String> = master.clone().into_iter().collect();
    if let Some(master) = &master {
        let kinds = [("bridge", "bridge "), ("bonding", "bond ")];
        let kind = kinds
            .iter()
            .find(|(folder, _)| system.exists(&format!("/sys/class/net/{master}/{folder}")))
            .map_or("", |(_, kind)| kind);
        carries.push(format!("a place in {kind}{master}"));
    }
    // VLANs and similar interfaces.
    for entry in system.entries(&folder) {
        match entry.strip_prefix("upper_") {
            Some(upper) if Some(upper) != master.as_deref() => {
                carries.push(format!("the interface {upper}"));
                above.push(upper.to_owned());
            }
            _ => {}
        }
    }
    for upper in above.iter().filter(|_| depth > 0) {
        let uses = carries_below(system, upper, depth - 1).into_iter();
        carries.extend(uses.map(|what| {
            if what.contains(" through ") {
                what
            } else {
                format!("{what} through {upper}")
            }
        }));
    }
    carries
}

/// The uses of an interface itself.
fn own_uses(system: &System, name: &str) -> Vec<String> {
    let addresses = system.addresses(name);
    let mut uses: Vec<String> = addresses
        .iter()
        .map(|address| format!("the address {address}"))
        .collect();
    if has_default_route(system, name) {
        uses.push("the default route".to_owned());
    }
    let sessions = system.ssh_addresses();
    let own = addresses.iter().filter_map(|text| text.parse().ok());
    if own.into_iter().any(|address| sessions.contains(&address)) {
        uses.push("an SSH session".to_owned());
    }
    uses
}

/// Whether the default route of IPv4 or IPv6 uses an interface.
fn has_default_route(system: &System, name: &str) -> bool {
    let v4 = system.read("/proc/net/route").unwrap_or_default();
    let v4 = v4.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        matches!(fields.as_slice(), [interface, "00000000", _, flags, _, _, _, "00000000", ..]
            if *interface == name && forwards(flags))
    });
    let v6 = system.read("/proc/net/ipv6_route").unwrap_or_default();
    let v6 = v6.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        matches!(fields.as_slice(), [to, "00", _, _, _, _, _, _, flags, interface]
            if *interface == name && to.bytes().all(|byte| byte == b'0') && forwards(flags))
    });
    v4 || v6
}

fn forwards(flags: &str) -> bool {
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & RTF_REJECT == 0)
}
