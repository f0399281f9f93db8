//! A server that lies where its input says. Elsewhere it passes on what an honest card answers, so that
//! the client gets as far as the lie. All waits end by themselves: a server that leaves a reply
//! unfinished closes the connection.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fuzz_input::Input;
use harness::codec::{receive, send_message, Header, Message, BAR0_LEN, HEADER_LEN};
use hostile::descriptors::Kind;
use hostile::lie::{body, edit, header, payload, refuse, Lie};
use hostile::proxy::Conversation;
use hostile::row::Row;
use ixgbe::driver::device::OpenDevice;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;
use nic::stepped::SteppedNic;
use nic::NicConfig;

/// Longest wait for a client that sends half a message, or does not take a reply.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes that a lie adds to a reply.
const MOST_ADDED: u16 = 8192;
/// Descriptors of a lie, and the most of them.
const KINDS: [Kind; 8] = [
    Kind::Memory(BAR0_LEN),
    Kind::Sealed(4096),
    Kind::Sealed(0),
    Kind::Sealed(0x6800),
    Kind::Null,
    Kind::Folder,
    Kind::Zero,
    Kind::Socket,
];
const MOST_DESCRIPTORS: u8 = 20;
/// Part of the names of the memory files of liar and card.
const FILE_NAMES: [&str; 2] = ["memfd:hostile", "memfd:82599"];

/// Runs a client against a server that acts as the input says. The client gets the name of the
/// device to open.
///
/// # Panics
/// If the client has kept a descriptor or a mapping when it returns.
pub fn attack(input: &[u8], client: impl FnOnce(&str)) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("port0.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut nic = NIC
        .get_or_init(|| Mutex::new(SteppedNic::new(&NicConfig::new("", 1)).unwrap()))
        .lock()
        .unwrap();
    let nic = &mut *nic;
    let before = (open_descriptors(), mappings());
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener, nic, &mut Input(input)));
        client(&format!("vfio-user:{}", socket.display()));
        // A client that sends nothing ends the server.
        drop(UnixStream::connect(&socket).unwrap());
        server.join().unwrap();
    });
    assert_eq!(open_descriptors(), before.0, "the client keeps descriptors");
    assert_eq!(mappings(), before.1, "the client keeps a mapping");
}

/// The honest card of all servers. Making one takes longer than a conversation.
static NIC: OnceLock<Mutex<SteppedNic>> = OnceLock::new();

/// Mappings of the memory files of liar and card.
fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_shared = |line: &&str| FILE_NAMES.iter().any(|name| line.contains(name));
    maps.lines().filter(is_shared).count()
}

/// Opens a device with the safe driver, reads registers, and maps memory. Returns whether that succeeded.
pub fn safe_client(address: &str) -> bool {
    let container = Container::new();
    let opened = OpenDevice::open(&container, address);
    if let Ok(device) = &opened {
        for offset in [0, 0x1000, 0x1018, 0x1ffc, 0x6018, 0x1_fffc] {
            let _ = device.register_read(offset);
        }
    }
    let pool = Mempool::create(&container, 64);
    opened.is_ok() && pool.is_ok()
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Serves the clients that connect, one after the other, until one sends nothing.
fn serve(listener: &UnixListener, nic: &mut SteppedNic, input: &mut Input<'_>) {
    while let Ok((client, _)) = listener.accept() {
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_write_timeout(Some(PATIENCE)).unwrap();
        let (card, end) = UnixStream::pair().unwrap();
        card.set_read_timeout(Some(PATIENCE)).unwrap();
        let (mut end, mut asked) = (Some(end), false);
        let ask = |request: &Message| {
            asked = true;
            send_message(&card, request)?;
            match end.take() {
                Some(end) => nic.connect(end),
                None => nic.answer(),
            };
            receive(&card)
        };
        // Each conversation ends with an error.
        let _ = Conversation::new(client, Arc::default()).hold(ask, |_| lies(input));
        nic.disconnect();
        if !asked {
            return;
        }
    }
}

/// The lies that come next in the input. Half of the replies are honest, so that short inputs get far.
fn lies(input: &mut Input<'_>) -> Vec<Lie> {
    let (mut lies, mut close) = (Vec::new(), None);
    let mut kind = input.u8();
    while kind & 0x80 != 0 {
        lies.push(lie(kind & 0xf, input, &mut close));
        kind = input.u8();
    }
    lies.extend(close.map(Lie::Close));
    lies
}

/// A lie. After some, the client may wait for more, so the server sends so many bytes and closes.
fn lie(kind: u8, input: &mut Input<'_>, close: &mut Option<usize>) -> Lie {
    match kind {
        0..=2 => {
            let (at, byte) = (usize::from(input.u8()) % HEADER_LEN, input.u8());
            *close = Some(usize::MAX);
            header(move |header| {
                let mut bytes = header.bytes();
                bytes[at] = byte;
                *header = Header::parse(&bytes);
            })
        }
        3..=6 => {
            let (at, len) = (usize::from(input.u8()), usize::from(input.u8() % 16) + 1);
            let value = input.take(len);
            body(move |payload| {
                for (place, byte) in payload.iter_mut().skip(at).zip(&value) {
                    *place = *byte;
                }
            })
        }
        // An error, which is an honest message.
        7 => refuse(input.u8().into()),
        8 | 9 => {
            let len = usize::from(input.u16() % MOST_ADDED);
            payload(move |payload| payload.resize(len, 0))
        }
        10 => {
            *close = Some(input.u16().into());
            Lie::Truth
        }
        11 => {
            let len = usize::from(input.u8());
            let more = input.take(len);
            *close = Some(usize::MAX);
            body(move |payload| payload.extend(&more))
        }
        12 => {
            let size = input.u32();
            *close = Some(usize::MAX);
            header(move |header| header.size = size)
        }
        13 => Lie::Files(Vec::new()),
        14 => {
            let count = input.u8() % MOST_DESCRIPTORS;
            Lie::Files(
                (0..count)
                    .map(|_| KINDS[input.index(KINDS.len())])
                    .collect(),
            )
        }
        _ => {
            static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
            let rows = ROWS.get_or_init(hostile::server_rows::all);
            *close = Some(usize::MAX);
            match &rows[usize::from(input.u16()) % rows.len()].lie {
                lie @ (Lie::Edit(_) | Lie::Files(_)) => lie.clone(),
                // Others take time.
                _ => edit(|_, _| ()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    /// The check itself must be able to fail. Other tests open descriptors meanwhile, so either one fails.
    #[test]
    #[should_panic(expected = "the client keeps")]
    fn a_mapping_that_stays_is_detected() {
        super::attack(&[], |_| {
            let file = harness::memory::memfd(4096).unwrap();
            std::mem::forget(harness::memory::Mapping::of(file).unwrap());
        });
    }
}
