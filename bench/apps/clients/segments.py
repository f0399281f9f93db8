"""A client that sends its segments by hand, from an address that the kernel does not know and so never resets."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

from clients.process import AppError
from clients.world import ADDRESS, INTERFACE

OWN_IP, OWN_MAC, BROADCAST = "10.0.0.77", bytes.fromhex("02000000004d"), b"\xff" * 6
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ETHERNET, IPV4, TCP, UDP = 14, 20, 6, 17
SEQUENCES = 1 << 32
LIMIT = 5.0
Ports = tuple[int, int]


def checksum(data: bytes) -> int:
    """Return the Internet checksum."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data[: len(data) & ~1]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source: str, payload: bytes, protocol: int = TCP, fragment: int = 0) -> bytes:
    """Return a packet to the server. `fragment` is the word of flags and offset."""
    addresses = socket.inet_aton(source) + socket.inet_aton(ADDRESS)
    head = struct.pack("!BBHHHBBH", 0x45, 0, IPV4 + len(payload), 77, fragment, 64, protocol, 0) + addresses
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def transport(source: str, segment: bytes, protocol: int, place: int) -> bytes:
    """Return a packet with a segment or datagram, whose checksum goes to a place."""
    pseudo = socket.inet_aton(source) + socket.inet_aton(ADDRESS) + struct.pack("!BBH", 0, protocol, len(segment))
    summed = struct.pack("!H", checksum(pseudo + segment))
    return ipv4(source, segment[:place] + summed + segment[place + 2 :], protocol)


def tcp(ports: Ports, numbers: tuple[int, int], flags: int, payload: bytes = b"", source: str = OWN_IP) -> bytes:
    """Return a packet with a segment from a port to another. `numbers` are of sequence and acknowledgement."""
    sequence, acknowledges = (number % SEQUENCES for number in numbers)
    head = struct.pack("!HHIIBBHHH", *ports, sequence, acknowledges, 5 << 4, flags, 0x4000, 0, 0)
    return transport(source, head + payload, TCP, 16)


def udp(ports: Ports, payload: bytes, source: str) -> bytes:
    """Return a packet with a datagram from a port to another."""
    return transport(source, struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload, UDP, 6)


class Answer(NamedTuple):
    """A segment of the server. `length` counts its SYN and its FIN."""

    flags: int
    sequence: int
    acknowledges: int
    payload: bytes
    length: int


class HandClient:
    """A client of a port."""

    def __init__(self, port: int, own_port: int = 7000) -> None:
        """Ask for the server's Ethernet address, and so say the own one."""
        self.ports, self.next, self.expected = (own_port, port), 1000, 0
        self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.wire.bind((INTERFACE, 0))
        self.mac = BROADCAST
        question = struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + OWN_MAC + socket.inet_aton(OWN_IP) + bytes(6)
        self.send_frame(BROADCAST + OWN_MAC + b"\x08\x06" + question + socket.inet_aton(ADDRESS))
        for frame in self.frames(LIMIT):
            if frame[12:14] == b"\x08\x06" and frame[28:32] == socket.inet_aton(ADDRESS):
                self.mac = frame[22:28]
                return
        raise AppError("the server has no Ethernet address")

    def send_frame(self, frame: bytes) -> None:
        """Send a frame as it is. The kernel may have no room for it, as on a real wire."""
        try:
            self.wire.send(frame)
        except OSError:
            time.sleep(0.001)

    def send(self, packet: bytes, mac: bytes = OWN_MAC) -> None:
        """Send a packet to the server."""
        self.send_frame(self.mac + mac + b"\x08\x00" + packet)

    def frames(self, limit: float) -> Iterator[bytes]:
        """Receive frames for so many seconds."""
        end = time.monotonic() + limit
        while (left := end - time.monotonic()) > 0:
            self.wire.settimeout(left)
            try:
                frame, origin = self.wire.recvfrom(65536)
            except TimeoutError:
                return
            # The socket sees what this machine sends, too.
            if origin[2] != socket.PACKET_OUTGOING:
                yield frame

    def segment(self, sequence: int, flags: int, payload: bytes = b"") -> bytes:
        """Return a packet of the connection."""
        return tcp(self.ports, (sequence, 0 if flags == SYN else self.expected), flags, payload)

    def send_next(self, flags: int, payload: bytes = b"") -> None:
        """Send the next bytes of the connection."""
        self.send(self.segment(self.next, flags, payload))
        self.next += len(payload) + bool(flags & (SYN | FIN))

    def half_open(self) -> None:
        """Open a connection, but leave the acknowledgement of the server's SYN to the next segment."""
        self.send_next(SYN)
        answer = self.answer()
        if answer is None or not answer.flags & SYN:
            raise AppError("no answer to a SYN")
        self.expected = answer.sequence + 1

    def connect(self) -> None:
        """Open a connection."""
        self.half_open()
        self.send_next(ACK)

    def answer(self, limit: float = LIMIT) -> Answer | None:
        """Return the server's next segment for this connection; none if there is none for so long."""
        for frame in self.frames(limit):
            packet = frame[ETHERNET:]
            ours = packet[12:20] == socket.inet_aton(ADDRESS) + socket.inet_aton(OWN_IP)
            if frame[12:14] != b"\x08\x00" or not ours or packet[9] != TCP:
                continue
            segment = packet[IPV4 : int.from_bytes(packet[2:4], "big")]
            *ports, sequence, acknowledges, size, flags = struct.unpack("!HHIIBB", segment[:14])
            if tuple(ports) == self.ports[::-1]:
                payload = segment[(size >> 4) * 4 :]
                length = len(payload) + bool(flags & SYN) + bool(flags & FIN)
                return Answer(flags, sequence, acknowledges, payload, length)
        return None

    def read(self, size: int | None = None) -> bytes:
        """Receive so many bytes in order, or all until the server closes; acknowledge everything but its FIN."""
        received = b""
        while size is None or len(received) < size:
            answer = self.answer()
            if answer is None:
                raise AppError(f"only {received!r} came, and the server did not close")
            if answer.sequence == self.expected % SEQUENCES and answer.length:
                self.expected += answer.length
                received += answer.payload
                if answer.flags & FIN and size is None:
                    break
                self.send_next(ACK)
        return received

    def close(self, limit: float) -> bool:
        """Close after the server has closed; return whether it acknowledges that in time."""
        self.send_next(FIN | ACK)
        end = time.monotonic() + limit
        while answer := self.answer(max(0.0, end - time.monotonic())):
            if answer.acknowledges == self.next and not answer.flags & RST:
                return True
        return False

    def flood(self, count: int) -> None:
        """Send so many SYNs, each from another address and port, which never go on."""
        for number in range(count):
            ports = (1024 + number // 126 % 60_000, self.ports[1])
            self.send(tcp(ports, (number, 0), SYN, source=f"10.0.0.{128 + number % 126}"))


def fragments(packet: bytes, first: int) -> list[bytes]:
    """Divide a packet into two fragments, the first with so many bytes after the header, a multiple of 8."""
    source, data = socket.inet_ntoa(packet[12:16]), packet[IPV4:]
    return [ipv4(source, data[:first], packet[9], 0x2000), ipv4(source, data[first:], packet[9], first // 8)]
