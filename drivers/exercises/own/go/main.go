// A forwarder between two ports of Intel's 82599, on Triptych's software card, by vfio-user. Numbers such as 4.6.7 are
// sections of the 82599's datasheet, in its order. An error ends the program: the card sees that, and resets itself.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	ringSize, ringBytes, batch   = 512, 512 * 16, 32
	bufferSize, buffers          = 2048, 4*ringSize + batch // what full rings and a batch hold, so `free` never runs out
	memorySize, iovaBase         = 4*ringBytes + buffers*bufferSize, 0x100000
	minFrame, maxFrame, patience = 14, 1518, time.Second // an Ethernet header; with a VLAN tag, without CRC
	// Commands and regions of vfio-user.
	cmdVersion, cmdMap, cmdRegion, cmdRead, cmdWrite, bar0, config = 1, 2, 5, 9, 10, 0, 7
	// Registers (8.2.3) of queue 0 and packet buffer 0.
	CTRL, STATUS, CTRL_EXT, ESDP, EICR, EIMC, EIMC_EX0, EIMC_EX1 = 0x0, 0x8, 0x18, 0x20, 0x800, 0x888, 0xab0, 0xab4
	RDBAL, RDBAH, RDLEN, DCA_RXCTRL, RDH, SRRCTL, RDT            = 0x1000, 0x1004, 0x1008, 0x100c, 0x1010, 0x1014, 0x1018
	RDRXCTL, RXCTRL, RXPBSIZE, HLREG0, AUTOC, AUTOC2, FCTRL      = 0x2f00, 0x3000, 0x3c00, 0x4240, 0x42a0, 0x42a8, 0x5080
	TDBAL, TDBAH, TDLEN, DCA_TXCTRL, TDH, TDT, TXDCTL            = 0x6000, 0x6004, 0x6008, 0x600c, 0x6010, 0x6018, 0x6028
	RTTDCS, TXPBTHRESH, DMATXCTL, DTXMXSZRQ, MTQC, TXPBSIZE      = 0x4900, 0x4950, 0x4a80, 0x8100, 0x8120, 0xcc00
	RXDCTL, SECRXCTRL, SECRXSTAT, EEC, PCI_COMMAND               = 0x1028, 0x8d00, 0x8d04, 0x10010, 4
	// Bits of the registers, then of descriptors (7.1.6.2, 7.2.3.2.4).
	MASTER_DISABLE, RESETS, STATUS_MASTER, NS_DIS, DRV_LOAD    = 1 << 2, 1<<3 | 1<<26, 1 << 19, 1 << 16, 1 << 28
	EEC_ARD, FCTRL_ALL, RXCRCSTRP, JUMBOEN, TXCRCEN, TXPADEN   = 1 << 9, 7 << 8, 1 << 1, 1 << 2, 1, 1 << 10
	DMAIDONE, RDRXCTL_ZEROS, RDRXCTL_ONES                      = 1 << 3, 31 << 17, 1<<1 | 3<<25
	RX_DIS, SECRX_RDY, RXEN, TE, ARBDIS, ENABLE                = 1 << 1, 1, 1, 1, 1 << 6, 1 << 25
	BUFFER_2K, ONE_BUFFER, DROP_EN, RX_UNORDERED, TX_UNORDERED = 2, 1 << 25, 1 << 28, 11 << 12, 1 << 11
	LASER_OFF, AN_RESTART, LMS, LMS_10G_SERIAL                 = 1 << 3, 1 << 12, 7 << 13, 3 << 13
	PMA_SERIAL, PMA_SFI, LINK_DISABLE, TXDCTL_THRESHOLDS       = 3 << 16, 2 << 16, 7 << 28, 36 | 8<<8
	PCI_MEMORY, PCI_MASTER, RXD_DD, RXD_EOP, RXD_LENGTH_SHIFT  = 2, 4, 1, 2, 32
	TXD_DD, TXD_PAYLEN_SHIFT, TXD_DATA_EXT_EOP_CRC_RS          = 1 << 32, 46, 3<<20 | 1<<29 | 1<<24 | 1<<25 | 1<<27
)

type ring struct {
	iova        uint64           // where the device sees it
	words       []uint64         // two of each descriptor
	buffer      [ringSize]uint32 // the buffer that each descriptor points to
	next, clean uint32           // the descriptor that the driver uses next; the oldest that was sent and not cleaned
}
type port struct {
	conn    *net.UnixConn
	pages   map[uint32][]byte // of the registers, that the card shares
	rx, tx  ring
	within  bool // the last descriptor did not end its frame
	dropped int
}
type frame struct{ buffer, length uint32 }

var le = binary.LittleEndian
var memory []byte // that the devices see: four rings, then the buffers
var free []uint32 // the pool: numbers of the buffers that are nowhere else

func check(what string, err error) {
	if err != nil && err != syscall.Errno(0) {
		log.Fatalf("go-fwd: %s: %v", what, err)
	}
}

// call sends a request of vfio-user: 16 bytes, a payload, and at times a file. It returns those of the reply.
func (p *port) call(command uint64, request, file []byte) (reply []byte, passed []int) {
	header, control := words(command<<16|uint64(16+len(request))<<32, 0), make([]byte, syscall.CmsgSpace(4))
	check("socket", p.conn.SetDeadline(time.Now().Add(5*patience)))
	_, _, err := p.conn.WriteMsgUnix(append(header, request...), file, nil)
	check("the card does not take a request", err)
	_, size, _, _, err := p.conn.ReadMsgUnix(header, control)
	check("the card does not answer", err)
	if parts, _ := syscall.ParseSocketControlMessage(control[:size]); len(parts) == 1 {
		passed, _ = syscall.ParseUnixRights(&parts[0])
	}
	reply = make([]byte, 4096)
	_, err = io.ReadFull(p.conn, reply[:(le.Uint32(header[4:])-16)%4097])
	check("the card's answer ends early", err)
	check("the card refuses a request (does another driver use it?)", syscall.Errno(le.Uint32(header[12:])))
	return reply, passed
}

// open connects, lets the device see the memory at iovaBase, and maps the registers that the card shares.
func open(path string, file int) *port {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	check("start a card first, see drivers/nic/README.md", err)
	p := &port{conn: conn, pages: map[uint32][]byte{}}
	p.call(cmdVersion, append([]byte{0, 0, 1, 0}, "{\"capabilities\":{\"max_msg_fds\":1}}\x00"...), nil)
	p.call(cmdMap, words(32|3<<32, 0, iovaBase, memorySize), syscall.UnixRights(file)) // readable and writable
	info, files := p.call(cmdRegion, words(4096, bar0, 0, 0), nil)
	areas := info[le.Uint32(info[12:])%2048+16:] // without a file, all accesses are messages
	for ; len(files) > 0 && le.Uint64(areas[8:]) != 0; areas = areas[16:] {
		for page, end := le.Uint64(areas), le.Uint64(areas)+le.Uint64(areas[8:]); page < end; page += 4096 {
			mapped, err := syscall.Mmap(files[0], int64(le.Uint64(info[24:])+page), 4096, 3, syscall.MAP_SHARED)
			check("cannot map registers", err)
			p.pages[uint32(page)] = mapped
		}
	}
	return p
}

func words(values ...uint64) (bytes []byte) {
	for _, value := range values {
		bytes = le.AppendUint64(bytes, value)
	}
	return bytes
}

func (p *port) read(register uint32) uint32 {
	if page := p.pages[register&^4095]; page != nil {
		return atomic.LoadUint32((*uint32)(unsafe.Pointer(&page[register&4095])))
	}
	reply, _ := p.call(cmdRead, words(uint64(register), bar0|4<<32), nil)
	return le.Uint32(reply[16:])
}

// write takes pairs of register and value. Its store is atomic: it comes after all earlier stores to a ring.
func (p *port) write(pairs ...uint32) {
	for ; len(pairs) > 0; pairs = pairs[2:] {
		if page := p.pages[pairs[0]&^4095]; page != nil {
			atomic.StoreUint32((*uint32)(unsafe.Pointer(&page[pairs[0]&4095])), pairs[1])
		} else {
			p.call(cmdWrite, le.AppendUint32(words(uint64(pairs[0]), bar0|4<<32), pairs[1]), nil)
		}
	}
}

func (p *port) change(register, clear, set uint32) { p.write(register, p.read(register)&^clear|set) }

func (p *port) wait(what string, register, mask, value uint32) {
	for start := time.Now(); p.read(register)&mask != value; time.Sleep(10 * time.Microsecond) {
		if time.Since(start) > patience {
			log.Fatalf("go-fwd: the card did not change %s within %v; reset it", what, patience)
		}
	}
}

// 4.6.3.1: this driver polls.
func (p *port) disableInterrupts() {
	p.write(EIMC, 0x7fffffff, EIMC_EX0, ^uint32(0), EIMC_EX1, ^uint32(0))
	p.read(EICR)
}

// 4.6.3.2. The driver touches no register for a millisecond after the reset (4.2.1.6.1).
func (p *port) reset() {
	p.disableInterrupts()
	p.change(CTRL, 0, RESETS)
	time.Sleep(time.Millisecond)
	p.wait("CTRL.RST", CTRL, RESETS, 0)
	time.Sleep(10 * time.Millisecond)
	p.disableInterrupts()
	p.change(CTRL_EXT, 0, NS_DIS|DRV_LOAD)
	p.wait("EEC.ARD", EEC, EEC_ARD, EEC_ARD)
	p.wait("RDRXCTL.DMAIDONE", RDRXCTL, DMAIDONE, DMAIDONE)
	// 4.6.4: the link has 10 Gbit/s over one lane.
	p.change(ESDP, LASER_OFF, 0)
	p.change(AUTOC, LMS, LMS_10G_SERIAL)
	p.change(AUTOC2, PMA_SERIAL|LINK_DISABLE, PMA_SFI)
	p.change(AUTOC, 0, AN_RESTART)
}

// 4.6.11.3.4: one packet buffer in each direction. The arbiter rests meanwhile (4.6.8).
func (p *port) setPacketBuffers() {
	p.change(RTTDCS, 0, ARBDIS)
	p.write(RXPBSIZE, 512<<10, TXPBSIZE, 160<<10, TXPBTHRESH, 160-2, DTXMXSZRQ, 0xfff, MTQC, 0)
	for i := uint32(4); i < 32; i += 4 {
		p.write(RXPBSIZE+i, 0, TXPBSIZE+i, 0, TXPBTHRESH+i, 0)
	}
	p.change(RTTDCS, ARBDIS, 0)
}

// 4.6.7: filters, CRC, then the ring. The device owns all descriptors but one, because RDH == RDT means none.
func (p *port) startReceive() {
	p.change(FCTRL, 0, FCTRL_ALL)
	p.change(HLREG0, JUMBOEN, RXCRCSTRP)
	p.change(RDRXCTL, RDRXCTL_ZEROS, RDRXCTL_ONES)
	for i := range p.rx.buffer {
		p.rx.refill(uint32(i))
	}
	p.write(RDBAL, uint32(p.rx.iova), RDBAH, uint32(p.rx.iova>>32), RDLEN, ringBytes, RDH, 0, RDT, 0)
	p.write(SRRCTL, BUFFER_2K|ONE_BUFFER|DROP_EN)
	p.change(DCA_RXCTRL, RX_UNORDERED, 0) // 8.2.3.11.1: a frame is in memory before its DD
	p.change(RXDCTL, 0, ENABLE)
	p.wait("RXDCTL.ENABLE", RXDCTL, ENABLE, ENABLE)
	p.write(RDT, ringSize-1)
	p.setReceiver(RXEN)
}

// 4.6.7: RXEN changes only while the path is halted.
func (p *port) setReceiver(on uint32) {
	p.change(SECRXCTRL, 0, RX_DIS)
	p.wait("SECRXSTAT.SECRX_RDY", SECRXSTAT, SECRX_RDY, SECRX_RDY)
	p.change(RXCTRL, RXEN, on)
	p.change(SECRXCTRL, RX_DIS, 0)
}

// 4.6.8. WTHRESH is 0, so that each DD comes at once (7.2.3.4.1).
func (p *port) startTransmit() {
	p.change(HLREG0, 0, TXCRCEN|TXPADEN)
	p.change(DMATXCTL, 0, TE)
	p.write(TDBAL, uint32(p.tx.iova), TDBAH, uint32(p.tx.iova>>32), TDLEN, ringBytes, TDH, 0, TDT, 0)
	p.change(DCA_TXCTRL, TX_UNORDERED, 0)
	p.write(TXDCTL, TXDCTL_THRESHOLDS|ENABLE)
	p.wait("TXDCTL.ENABLE", TXDCTL, ENABLE, ENABLE)
}

func place(buffer uint32) uint64 { return 4*ringBytes + uint64(buffer)*bufferSize }

// refill takes an empty buffer from the pool, and gives it to the device. The 0 behind its address clears DD (7.1.6.1).
func (r *ring) refill(at uint32) {
	r.buffer[at], free = free[len(free)-1], free[:len(free)-1]
	r.words[2*at], r.words[2*at+1] = iovaBase+place(r.buffer[at]), 0
}

// receive takes the frames that are done, and gives the device an empty buffer for each. It checks the device's length,
// because a longer one would send memory behind the frame. Of a frame in several descriptors it takes nothing.
func (p *port) receive(frames []frame) []frame {
	r, start := &p.rx, p.rx.next
	for i := 0; i < batch; i++ {
		status := atomic.LoadUint64(&r.words[2*r.next+1]) // DD, EOP and length at once (7.1.6.2)
		if status&RXD_DD == 0 {
			break
		}
		length, whole := uint32(status>>RXD_LENGTH_SHIFT&0xffff), status&RXD_EOP != 0 && !p.within
		p.within = status&RXD_EOP == 0
		if whole && length >= minFrame && length <= maxFrame {
			frames = append(frames, frame{r.buffer[r.next], length})
		} else {
			free, p.dropped = append(free, r.buffer[r.next]), p.dropped+1
		}
		r.refill(r.next)
		r.next = (r.next + 1) % ringSize
	}
	if r.next != start {
		p.write(RDT, (r.next-1)%ringSize) // the doorbell (7.1.9)
	}
	return frames
}

// send cleans the ring, then fills it. TDH == TDT means empty, so one descriptor stays free (7.2.1.2).
func (p *port) send(frames []frame) {
	r, start := &p.tx, p.tx.next
	for ; r.clean != r.next && atomic.LoadUint64(&r.words[2*r.clean+1])&TXD_DD != 0; r.clean = (r.clean + 1) % ringSize {
		free = append(free, r.buffer[r.clean])
	}
	for _, f := range frames {
		if (r.next+1)%ringSize == r.clean {
			free, p.dropped = append(free, f.buffer), p.dropped+1
			continue
		}
		r.buffer[r.next] = f.buffer
		r.words[2*r.next] = iovaBase + place(f.buffer)
		r.words[2*r.next+1] = TXD_DATA_EXT_EOP_CRC_RS | uint64(f.length) | uint64(f.length)<<TXD_PAYLEN_SHIFT
		r.next = (r.next + 1) % ringSize
	}
	if r.next != start {
		p.write(TDT, r.next) // the doorbell (7.2.1.2)
	}
}

// stop: the receiver (4.6.7.1.2), what is left to send (4.6.8.1.2), then the bus (5.2.5.3.2).
func (p *port) stop() {
	p.setReceiver(0)
	for start := time.Now(); p.tx.clean != p.tx.next && time.Since(start) < patience; {
		p.send(nil)
	}
	p.change(TXDCTL, ENABLE, 0)
	p.wait("TXDCTL.ENABLE", TXDCTL, ENABLE, 0)
	p.change(RXDCTL, ENABLE, 0)
	p.wait("RXDCTL.ENABLE", RXDCTL, ENABLE, 0)
	p.change(DMATXCTL, TE, 0)
	p.disableInterrupts()
	p.change(CTRL_EXT, DRV_LOAD, 0)
	p.change(CTRL, 0, MASTER_DISABLE)
	p.wait("STATUS.MASTER_ENABLE", STATUS, STATUS_MASTER, 0)
	p.call(cmdWrite, append(words(PCI_COMMAND, config|2<<32), PCI_MEMORY, 0), nil)
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Print("usage: go-fwd SOCKET0 SOCKET1")
		os.Exit(2)
	}
	number, name := map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH], [4]byte{'d', 'm', 'a'}
	file, _, code := syscall.Syscall(number, uintptr(unsafe.Pointer(&name)), 0, 0) // memfd_create
	check("memfd_create", code)
	check("memory", syscall.Ftruncate(int(file), memorySize))
	var err error
	memory, err = syscall.Mmap(int(file), 0, memorySize, 3, syscall.MAP_SHARED)
	check("memory", err)
	for i := uint32(0); i < buffers; i++ {
		free = append(free, i)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	ports := [2]*port{open(os.Args[1], int(file)), open(os.Args[2], int(file))}
	for i, p := range ports {
		for nth, r := range []*ring{&p.rx, &p.tx} {
			at := (2*i + nth) * ringBytes
			r.iova, r.words = uint64(iovaBase+at), unsafe.Slice((*uint64)(unsafe.Pointer(&memory[at])), 2*ringSize)
		}
		p.reset()
		p.call(cmdWrite, append(words(PCI_COMMAND, config|2<<32), PCI_MEMORY|PCI_MASTER, 0), nil)
		p.setPacketBuffers()
		p.startReceive()
		p.startTransmit()
	}
	frames := make([]frame, 0, batch)
	for polls := 1; len(end) == 0; polls++ {
		for i, p := range ports {
			received := p.receive(frames)
			for _, f := range received {
				memory[place(f.buffer)+1]++
			}
			ports[1-i].send(received)
			if polls%(1<<20) == 0 && p.read(STATUS) == ^uint32(0) {
				log.Fatal("go-fwd: the card was removed: its registers read all ones")
			}
		}
	}
	ports[0].stop()
	ports[1].stop()
	log.Printf("go-fwd: dropped %d and %d frames", ports[0].dropped, ports[1].dropped)
}
