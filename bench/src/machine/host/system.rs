//! Reads the files in which Linux describes a machine, below a root that tests replace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A user of the machine.
#[derive(Debug, Clone)]
pub struct User {
    /// User ID.
    pub uid: u32,
    /// The user's name, or the ID if there is no name.
    pub name: String,
}

impl User {
    pub fn current() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let name = user_name(uid);
        Self { uid, name }
    }

    pub fn is_root(&self) -> bool {
        self.uid == 0
    }
}

/// The path by which the user started this program, for commands in messages.
pub fn program() -> String {
    let path = std::env::args().next().unwrap_or_default();
    if path.ends_with("triptych") {
        path
    } else {
        "triptych".to_owned()
    }
}

/// The name of a user, or the ID if there is no name.
pub fn user_name(uid: u32) -> String {
    nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(uid))
        .ok()
        .flatten()
        .map_or_else(|| uid.to_string(), |user| user.name)
}

/// A machine whose `/sys`, `/proc` and `/dev` are below a root folder.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
    user: User,
    /// IP addresses by network interface. No file of the kernel lists all of them.
    addresses: BTreeMap<String, Vec<String>>,
}

impl System {
    /// This machine, for the user of this process.
    pub fn here() -> Self {
        Self {
            root: PathBuf::from("/"),
            user: User::current(),
            addresses: interface_addresses(),
        }
    }

    /// This machine if `root` is `/`, or else one of a test.
    pub fn at(root: &Path) -> Self {
        if root == Path::new("/") {
            Self::here()
        } else {
            Self::below(root, User::current(), BTreeMap::new())
        }
    }

    /// A machine whose files are below `root` and whose interfaces have these addresses.
    pub fn below(root: &Path, user: User, addresses: BTreeMap<String, Vec<String>>) -> Self {
        Self {
            root: root.to_owned(),
            user,
            addresses,
        }
    }

    /// The machine's own addresses that SSH sessions use. `sudo` removes `SSH_CONNECTION`, so the
    /// kernel's list of connections to port 22 counts, too.
    pub fn ssh_addresses(&self) -> BTreeSet<IpAddr> {
        let mut found = BTreeSet::new();
        for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let text = self.read(path).unwrap_or_default();
            found.extend(text.lines().filter_map(ssh_session));
        }
        if let (true, Ok(text)) = (self.is_here(), std::env::var("SSH_CONNECTION")) {
            // The client's address and port, then the server's.
            let server = text.split_whitespace().nth(2);
            found.extend(server.and_then(|text| text.parse::<IpAddr>().ok()));
        }
        found
    }

    /// Whether this is the machine that the process runs on.
    pub fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    pub fn user(&self) -> &User {
        &self.user
    }

    /// The IP addresses of an interface, without link-local ones of IPv6.
    pub fn addresses(&self, interface: &str) -> &[String] {
        self.addresses.get(interface).map_or(&[], Vec::as_slice)
    }

    /// The location of a file such as `/sys/bus/pci` below the root.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The trimmed content of a file; `None` if it cannot be read.
    pub fn read(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The decimal number in a file.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.read(path)?.parse().ok()
    }

    /// The hexadecimal number in a file, such as `0x8086`.
    pub fn hex(&self, path: &str) -> Option<u32> {
        u32::from_str_radix(self.read(path)?.trim_start_matches("0x"), 16).ok()
    }

    /// The sorted names in a folder; empty if it cannot be read.
    pub fn entries(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// The numbers of the NUMA nodes.
    pub fn nodes(&self) -> Vec<u32> {
        let names = self.entries("/sys/devices/system/node");
        let names = names.iter().filter_map(|name| name.strip_prefix("node"));
        let mut nodes: Vec<u32> = names.filter_map(|number| number.parse().ok()).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The last part of a symbolic link's target.
    pub fn link_name(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    pub fn owner(&self, path: &str) -> Option<u32> {
        Some(fs::metadata(self.path(path)).ok()?.uid())
    }

    /// Whether the user may read and write a file; `None` if it does not exist.
    pub fn may_use(&self, path: &str) -> Option<bool> {
        use rustix::fs::{accessat, Access, AtFlags, CWD};
        let path = self.path(path);
        let mode = fs::metadata(&path).ok()?.mode();
        Some(if self.is_here() {
            // The kernel also evaluates access control lists.
            let both = Access::READ_OK | Access::WRITE_OK;
            accessat(CWD, path, both, AtFlags::EACCESS).is_ok()
        } else {
            // The user of a test's machine owns no files.
            self.user.is_root() || mode & 0o006 == 0o006
        })
    }
}

/// The own address of a line of `/proc/net/tcp` that is a connection to port 22.
fn ssh_session(line: &str) -> Option<IpAddr> {
    const ESTABLISHED: &str = "01";
    let mut fields = line.split_whitespace();
    let (local, state) = (fields.nth(1)?, fields.nth(1)?);
    let (address, port) = local.split_once(':')?;
    if u16::from_str_radix(port, 16) != Ok(22) || state != ESTABLISHED {
        return None;
    }
    // Words of 32 bits in this processor's byte order.
    let mut bytes = Vec::new();
    for start in (0..address.len()).step_by(8) {
        let word = u32::from_str_radix(address.get(start..start + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let address = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(v4) => IpAddr::from(v4),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?),
    };
    // A socket for both versions of IP lists an IPv4 address as ::ffff:192.0.2.7.
    Some(address.to_canonical())
}

/// The IP addresses of all interfaces. Link-local addresses of IPv6 are left out, because every
/// interface that is up has one.
fn interface_addresses() -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for found in nix::ifaddrs::getifaddrs().into_iter().flatten() {
        let Some(address) = found.address else {
            continue;
        };
        let v4 = address.as_sockaddr_in().map(|it| it.ip());
        let v6 = address.as_sockaddr_in6().map(|it| it.ip());
        let v6 = v6.filter(|ip| !ip.is_unicast_link_local());
        let ip = v4.map(IpAddr::from).or(v6.map(IpAddr::from));
        let of_interface = all.entry(found.interface_name).or_default();
        of_interface.extend(ip.map(|ip| ip.to_string()));
    }
    all
}

/// The numbers of a list such as `0-3,8`.
pub fn parse_list(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            // A malformed file must not exhaust memory.
            numbers.extend(first..=last.min(first.saturating_add(65_535)));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_are_parsed() {
        assert_eq!(parse_list("0,x,2-y,5-7\n"), [0, 5, 6, 7]);
    }

    #[test]
    fn connections_to_port_22_are_ssh_sessions() {
        for (local, address) in [
            ("070200C0:0016 x 01", Some("192.0.2.7")),
            (
                "0000000000000000FFFF0000070200C0:0016 x 01",
                Some("192.0.2.7"),
            ),
            (
                "B80D0120000000000000000001000000:0016 x 01",
                Some("2001:db8::1"),
            ),
            // Listening, another port, and malformed.
            ("00000000:0016 x 0A", None),
            ("070200C0:0050 x 01", None),
            ("070200:0016 x 01", None),
            ("ä70200C0:0016 x 01", None),
        ] {
            let found = ssh_session(&format!("   0: {local} 0 0 1")).map(|ip| ip.to_string());
            assert_eq!(found.as_deref(), address, "{local}");
        }
    }
}
