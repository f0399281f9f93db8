// A forwarder between two ports of Intel's 82599, on Triptych's software card, by vfio-user. Numbers such as 4.6.7 are
// sections of the 82599's datasheet, and the functions follow its order.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
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
	bufferSize, buffers          = 2048, 4*ringSize + batch // all that full rings and a batch hold, so `free` never runs out
	memorySize, iovaBase         = 4*ringBytes + buffers*bufferSize, 0x100000
	minFrame, maxFrame, patience = 14, 1518, time.Second // an Ethernet header; with a VLAN tag, without CRC
)

// Registers (8.2.3) of queue 0 and packet buffer 0.
const (
	CTRL, STATUS, CTRL_EXT, ESDP, EEC, HLREG0   = 0x00000, 0x00008, 0x00018, 0x00020, 0x10010, 0x04240
	EICR, EIMC, EIMC_EX0, EIMC_EX1, FCTRL       = 0x00800, 0x00888, 0x00AB0, 0x00AB4, 0x05080
	RDBAL, RDBAH, RDLEN, RDH, RDT, RXDCTL       = 0x01000, 0x01004, 0x01008, 0x01010, 0x01018, 0x01028
	DCA_RXCTRL, SRRCTL, RDRXCTL, RXCTRL         = 0x0100C, 0x01014, 0x02F00, 0x03000
	RXPBSIZE, SECRXCTRL, SECRXSTAT, FCRTH       = 0x03C00, 0x08D00, 0x08D04, 0x03260
	TDBAL, TDBAH, TDLEN, TDH, TDT, TXDCTL       = 0x06000, 0x06004, 0x06008, 0x06010, 0x06018, 0x06028
	DCA_TXCTRL, DTXMXSZRQ, MTQC, AUTOC, AUTOC2  = 0x0600C, 0x08100, 0x08120, 0x042A0, 0x042A8
	TXPBSIZE, TXPBTHRESH, RTTDCS, DMATXCTL      = 0x0CC00, 0x04950, 0x04900, 0x04A80
	PCI_COMMAND, PCI_BUS_MASTER                 = 4, 1 << 2
	CTRL_MASTER_DISABLE, CTRL_RESETS            = 1 << 2, 1<<3 | 1<<26
	STATUS_MASTER, CTRL_EXT_SNOOP_AND_LOADED    = 1 << 19, 1<<16 | 1<<28
	ESDP_LASER_OFF, EEC_ARD, FCTRL_ALL          = 1 << 3, 1 << 9, 7 << 8
	RX_DIS, SECRX_RDY, RXEN, TE, ARBDIS, ENABLE = 1 << 1, 1, 1, 1, 1 << 6, 1 << 25
	AUTOC_RESTART, AUTOC_LMS, AUTOC_10G_SERIAL  = 1 << 12, 7 << 13, 3 << 13
	AUTOC2_SERIAL, AUTOC2_SFI, AUTOC2_DISABLE   = 3 << 16, 2 << 16, 7 << 28
	RXCRCSTRP, JUMBOEN, TXCRCEN, TXPADEN        = 1 << 1, 1 << 2, 1, 1 << 10
	RDRXCTL_DMAIDONE, RDRXCTL_0, RDRXCTL_1      = 1 << 3, 31 << 17, 1<<1 | 3<<25
	SRRCTL_2K_ONE_BUFFER_DROP, TXDCTL_THRESH    = 2 | 1<<25 | 1<<28, 36 | 8<<8
	RX_UNORDERED, TX_UNORDERED                  = 1<<12 | 1<<13 | 1<<15, 1 << 11
	RXD_DD, RXD_EOP, RXD_LENGTH_SHIFT           = 1, 1 << 1, 32
	TXD_DD, TXD_PAYLEN_SHIFT                    = 1 << 32, 46
	TXD_DATA_EXT_EOP_CRC_RS                     = 3<<20 | 1<<29 | 1<<24 | 1<<25 | 1<<27
)

type ring struct {
	iova        uint64           // where the device sees it
	words       []uint64         // two of each descriptor
	buffer      [ringSize]uint32 // the buffer that each descriptor points to
	next, clean uint32           // the descriptor that the driver uses next; the oldest that was sent and not cleaned
}

type port struct {
	name    string
	conn    *net.UnixConn
	pages   map[uint32][]byte // of BAR0, that the card shares
	rx, tx  ring
	within  bool  // the last descriptor did not end its frame
	dropped int   // frames
	err     error // the first one, so that callers check once for many accesses
	gone    bool  // nothing answers
}

type frame struct{ buffer, length uint32 }

var (
	le     = binary.LittleEndian
	memory []byte   // that the devices see: four rings, then the buffers
	free   []uint32 // the pool: numbers of the buffers that nobody uses
)

func (p *port) fail(format string, values ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(p.name+": "+format, values...)
	}
}

// ---- vfio-user: each message has a header of 16 bytes, and may carry a file ----

const cmdVersion, cmdMap, cmdRegion, cmdRead, cmdWrite, bar0, config = 1, 2, 5, 9, 10, 0, 7

// call sends a request. It returns the payload of the reply, and the file that came with it.
func (p *port) call(command uint32, request, file []byte) (reply []byte, passed []int) {
	reply = make([]byte, 4096)
	if p.gone {
		return reply, nil
	}
	header, control, got := make([]byte, 16), make([]byte, syscall.CmsgSpace(4)), 0
	le.PutUint32(header, command<<16)
	le.PutUint32(header[4:], uint32(16+len(request)))
	_ = p.conn.SetDeadline(time.Now().Add(5 * patience))
	_, _, err := p.conn.WriteMsgUnix(append(header, request...), file, nil)
	if err == nil {
		_, got, _, _, err = p.conn.ReadMsgUnix(header, control)
	}
	if parts, _ := syscall.ParseSocketControlMessage(control[:got]); len(parts) == 1 {
		passed, _ = syscall.ParseUnixRights(&parts[0])
	}
	if err == nil {
		_, err = io.ReadFull(p.conn, reply[:(le.Uint32(header[4:])-16)%4097])
	}
	if code := le.Uint32(header[12:]); err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	if err != nil {
		p.gone = true
		p.fail("command %d of vfio-user: %v; does the card run, and no other driver use it?", command, err)
	}
	return reply, passed
}

// open connects, lets the device see the memory at iovaBase, and maps the registers that the card shares.
func open(path string, file int) (*port, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	p := &port{name: path, conn: conn, err: err, gone: err != nil, pages: map[uint32][]byte{}}
	p.call(cmdVersion, append([]byte{0, 0, 1, 0}, "{\"capabilities\":{\"max_msg_fds\":1}}\x00"...), nil)
	p.call(cmdMap, words(32|3<<32, 0, iovaBase, memorySize), syscall.UnixRights(file)) // readable and writable
	info, files := p.call(cmdRegion, words(4096, bar0, 0, 0), nil)
	if len(files) == 0 {
		return p, p.err // all accesses are messages
	}
	areas := info[le.Uint32(info[12:])%2048+16:]
	for size := uint64(0); len(areas) > 16; areas = areas[16:] {
		from := le.Uint64(areas)
		if size = le.Uint64(areas[8:]); size == 0 {
			break
		}
		mapped, err := syscall.Mmap(files[0], int64(le.Uint64(info[24:])+from), int(size), 3, syscall.MAP_SHARED)
		if err != nil {
			return p, fmt.Errorf("%s: cannot map registers: %w", path, err)
		}
		for page := uint64(0); page < size; page += 4096 {
			p.pages[uint32(from+page)] = mapped[page:]
		}
	}
	return p, p.err
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
	for start := time.Now(); p.read(register)&mask != value && !p.gone; time.Sleep(10 * time.Microsecond) {
		if time.Since(start) > patience {
			p.fail("the card did not change %s within %v", what, patience)
			return
		}
	}
}

func (p *port) busMaster(on uint16) {
	reply, _ := p.call(cmdRead, words(PCI_COMMAND, config|2<<32), nil)
	command := le.Uint16(reply[16:])&^PCI_BUS_MASTER | on
	p.call(cmdWrite, le.AppendUint16(words(PCI_COMMAND, config|2<<32), command), nil)
}

// ---- 4.6.3 Initialization, 4.6.3.1 to 4.6.3.2: no interrupts, reset, snooping ----

func (p *port) disableInterrupts() {
	p.write(EIMC, 0x7fffffff, EIMC_EX0, ^uint32(0), EIMC_EX1, ^uint32(0))
	p.read(EICR)
}

func (p *port) reset() {
	p.disableInterrupts()
	p.change(CTRL, 0, CTRL_RESETS)
	time.Sleep(time.Millisecond) // no register is touched meanwhile: 4.2.1.6.1
	p.wait("CTRL.RST", CTRL, CTRL_RESETS, 0)
	time.Sleep(10 * time.Millisecond)
	p.disableInterrupts()
	p.write(FCRTH, (512-24)<<10) // 3.7.7.3.2
	p.change(CTRL_EXT, 0, CTRL_EXT_SNOOP_AND_LOADED)
	p.wait("EEC.ARD", EEC, EEC_ARD, EEC_ARD)
	p.wait("RDRXCTL.DMAIDONE", RDRXCTL, RDRXCTL_DMAIDONE, RDRXCTL_DMAIDONE)
}

// 4.6.4 Link: 10 Gbit/s over one lane.
func (p *port) startLink() {
	p.change(ESDP, ESDP_LASER_OFF, 0)
	p.change(AUTOC, AUTOC_LMS, AUTOC_10G_SERIAL)
	p.change(AUTOC2, AUTOC2_SERIAL|AUTOC2_DISABLE, AUTOC2_SFI)
	p.change(AUTOC, 0, AUTOC_RESTART)
}

// 4.6.7 Receive: filters, packet buffer, CRC, then the ring.
func (p *port) startReceive() {
	p.change(FCTRL, 0, FCTRL_ALL)
	p.write(RXPBSIZE, 512<<10)
	for i := uint32(4); i < 32; i += 4 {
		p.write(RXPBSIZE+i, 0)
	}
	p.change(HLREG0, JUMBOEN, RXCRCSTRP)
	p.change(RDRXCTL, RDRXCTL_0, RDRXCTL_1)
	for i := range p.rx.buffer {
		p.rx.buffer[i] = take()
		p.rx.fill(uint32(i), 0)
	}
	p.write(RDBAL, uint32(p.rx.iova), RDBAH, uint32(p.rx.iova>>32), RDLEN, ringBytes, RDH, 0, RDT, 0)
	p.write(SRRCTL, SRRCTL_2K_ONE_BUFFER_DROP)
	p.change(DCA_RXCTRL, RX_UNORDERED, 0) // 8.2.3.11.1: a frame is in memory before its DD
	p.change(RXDCTL, 0, ENABLE)
	p.wait("RXDCTL.ENABLE", RXDCTL, ENABLE, ENABLE)
	p.write(RDT, ringSize-1) // the device owns all but one: RDH == RDT would mean none
	p.setReceiver(RXEN)
}

// 4.6.7: RXEN changes only while the path is halted.
func (p *port) setReceiver(on uint32) {
	p.change(SECRXCTRL, 0, RX_DIS)
	p.wait("SECRXSTAT.SECRX_RDY", SECRXSTAT, SECRX_RDY, SECRX_RDY)
	p.change(RXCTRL, RXEN, on)
	p.change(SECRXCTRL, RX_DIS, 0)
}

// 4.6.8 Transmit: the arbiter rests while packet buffers change. WTHRESH 0: each DD comes at once (7.2.3.4.1).
func (p *port) startTransmit() {
	p.change(HLREG0, 0, TXCRCEN|TXPADEN)
	p.change(RTTDCS, 0, ARBDIS)
	p.write(DTXMXSZRQ, 0xfff, MTQC, 0, TXPBSIZE, 160<<10, TXPBTHRESH, 160-2)
	for i := uint32(4); i < 32; i += 4 {
		p.write(TXPBSIZE+i, 0, TXPBTHRESH+i, 0)
	}
	p.change(RTTDCS, ARBDIS, 0)
	p.change(DMATXCTL, 0, TE)
	p.write(TDBAL, uint32(p.tx.iova), TDBAH, uint32(p.tx.iova>>32), TDLEN, ringBytes, TDH, 0, TDT, 0)
	p.change(DCA_TXCTRL, TX_UNORDERED, 0)
	p.write(TXDCTL, TXDCTL_THRESH|ENABLE)
	p.wait("TXDCTL.ENABLE", TXDCTL, ENABLE, ENABLE)
}

// ---- 7.1 Receive, 7.2 Transmit ----

func take() uint32 {
	buffer := free[len(free)-1]
	free = free[:len(free)-1]
	return buffer
}

func place(buffer uint32) uint64 { return 4*ringBytes + uint64(buffer)*bufferSize }

// fill gives a descriptor the address of its buffer. On a receive ring, upper 0 clears DD (7.1.6.1).
func (r *ring) fill(at uint32, upper uint64) {
	r.words[2*at], r.words[2*at+1] = iovaBase+place(r.buffer[at]), upper
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
			r.buffer[r.next] = take()
		} else {
			p.dropped++
		}
		r.fill(r.next, 0)
		r.next = (r.next + 1) % ringSize
	}
	if r.next != start {
		p.write(RDT, (r.next-1)%ringSize) // the doorbell (7.1.9)
	}
	return frames
}

// clean takes back the buffers of sent frames.
func (p *port) clean() {
	for r := &p.tx; r.clean != r.next && atomic.LoadUint64(&r.words[2*r.clean+1])&TXD_DD != 0; {
		free = append(free, r.buffer[r.clean])
		r.clean = (r.clean + 1) % ringSize
	}
}

// send drops frames for which the ring has no room. TDH == TDT means empty, so one descriptor stays free (7.2.1.2).
func (p *port) send(frames []frame) {
	r, start := &p.tx, p.tx.next
	for _, f := range frames {
		if (r.next+1)%ringSize == r.clean {
			free, p.dropped = append(free, f.buffer), p.dropped+1
			continue
		}
		r.buffer[r.next] = f.buffer
		r.fill(r.next, TXD_DATA_EXT_EOP_CRC_RS|uint64(f.length)|uint64(f.length)<<TXD_PAYLEN_SHIFT)
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
		p.clean()
	}
	for _, control := range []uint32{TXDCTL, RXDCTL} {
		p.change(control, ENABLE, 0)
		p.wait("the queue's ENABLE", control, ENABLE, 0)
	}
	p.change(DMATXCTL, TE, 0)
	p.disableInterrupts()
	p.change(CTRL_EXT, 1<<28, 0)
	p.change(CTRL, 0, CTRL_MASTER_DISABLE)
	p.wait("STATUS.MASTER_ENABLE", STATUS, STATUS_MASTER, 0)
	p.busMaster(0)
}

func start(paths []string) (ports [2]*port, err error) {
	name := [4]byte{'d', 'm', 'a'}
	number := map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH] // memfd_create
	file, _, code := syscall.Syscall(number, uintptr(unsafe.Pointer(&name)), 0, 0)
	if code != 0 {
		return ports, fmt.Errorf("memfd_create: %w", code)
	}
	if err = syscall.Ftruncate(int(file), memorySize); err == nil {
		memory, err = syscall.Mmap(int(file), 0, memorySize, 3, syscall.MAP_SHARED)
	}
	for i := uint32(0); i < buffers; i++ {
		free = append(free, i)
	}
	for i := 0; i < 2 && err == nil; i++ {
		p, failed := open(paths[i], int(file))
		for nth, r := range []*ring{&p.rx, &p.tx} {
			at := (2*i + nth) * ringBytes
			r.iova, r.words = uint64(iovaBase+at), unsafe.Slice((*uint64)(unsafe.Pointer(&memory[at])), 2*ringSize)
		}
		if ports[i], err = p, failed; err == nil {
			p.reset()
			p.startLink()
			p.busMaster(PCI_BUS_MASTER)
			p.startReceive()
			p.startTransmit()
			err = p.err
		}
	}
	return ports, err
}

func forward(paths []string) error {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	ports, err := start(paths)
	frames, look := make([]frame, 0, batch), time.NewTicker(patience/10)
	for err == nil {
		select {
		case <-end:
			ports[0].stop()
			ports[1].stop()
			fmt.Printf("dropped %d and %d frames\n", ports[0].dropped, ports[1].dropped)
			if ports[0].err != nil {
				return ports[0].err
			}
			return ports[1].err
		case <-look.C:
			for _, p := range ports { // a card that was pulled out reads all ones
				if p.read(STATUS) == ^uint32(0) {
					p.fail("the card is gone")
				}
				if p.err != nil {
					err = p.err
				}
			}
		default:
			for i, p := range ports {
				received := p.receive(frames)
				for _, f := range received {
					memory[place(f.buffer)+1]++
				}
				ports[1-i].clean()
				ports[1-i].send(received)
			}
		}
	}
	return err
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go-fwd SOCKET0 SOCKET1")
		os.Exit(2)
	}
	if err := forward(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "go-fwd:", err)
		os.Exit(1)
	}
}
