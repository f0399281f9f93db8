//! The kernel's own, unchanged ixgbe on the software 82599.
//!
//! A cable connects the two ports of a NIC. Each port is in a network namespace of its own, so that
//! the guest's kernel sends through the NIC to itself.

use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use conformance::{wait_until, Implementation, Output};
use libtest_mimic::Trial;
use nic::{MmioMode, Module, Port};
use rustix::process::Signal;

use crate::applications;
use crate::environment::{Environment, Prepared};
use crate::fixture::{named, on_machine, test, Ports, Test};
use crate::registers::{self, TracedPorts};
use crate::vm::Vm;

/// How long a transfer may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long the probe of a port may take.
const PROBE_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of a transfer.
const TRANSFER: u64 = 64 << 20;
/// Equal readings in a row that show a quiet wire.
const QUIET_READINGS: u32 = 3;
/// Time between two such readings. Linux delays an acknowledgement by at most 200 ms.
const QUIET_INTERVAL: Duration = Duration::from_millis(250);
/// Bound of the padding in a transfer: 20 ARP frames of 42 bytes, padded to 60.
const MAX_PADDING: u64 = 60 * 6;

/// A machine with a pair of ports with trapped registers and optical modules, and a pair with
/// shared registers and direct-attach cables.
pub(crate) struct StockMachine {
    vm: Vm,
    pairs: [Ports; 2],
    /// A port of each family, whose register accesses are recorded, without an IOMMU.
    traced: Option<TracedPorts>,
}

/// The names of the pairs.
const PAIRS: [&str; 2] = ["trap_sr", "shared_dac"];

impl StockMachine {
    fn boot(environment: &Environment, name: &str, address_bits: Option<u8>) -> Result<Self> {
        let mut devices = Vec::new();
        let mut pair = |slot, mmio, module| {
            Ports::new(&mut devices, 0, slot, |config| {
                let config = config.with_mmio(mmio).with_cable(0, 1);
                config.with_each_port(|port| port.module = module)
            })
        };
        let pairs = [
            pair(3, MmioMode::Trap, Module::Sr)?,
            pair(5, MmioMode::Shared, Module::Dac)?,
        ];
        let traced = match address_bits {
            Some(_) => None,
            None => Some(TracedPorts::new(&mut devices)?),
        };
        let vm = Vm::boot(environment, name, address_bits, &devices)?;
        // The tests bind the ports.
        vm.shell("echo 0 >/sys/bus/pci/drivers_autoprobe; load_ixgbe; dmesg -c")?;
        Ok(Self { vm, pairs, traced })
    }

    /// One of the pairs, by its number.
    pub(crate) fn pair(&self, number: usize) -> PortPair<'_> {
        let (vm, ports) = (&self.vm, &self.pairs[number]);
        PortPair { vm, ports, number }
    }
}

/// Two ports connected by a cable, and their places in the guest.
pub(crate) struct PortPair<'a> {
    pub(crate) vm: &'a Vm,
    ports: &'a Ports,
    number: usize,
}

impl PortPair<'_> {
    /// The name of an end's namespace, which is also the interface's name.
    fn space(&self, end: usize) -> String {
        format!("pair{}end{end}", self.number)
    }

    pub(crate) fn address(&self, end: usize) -> String {
        format!("10.0.{}.{}", self.number, end + 1)
    }

    /// The command that runs a script in the namespace of one end. `$dev` is the end's interface.
    pub(crate) fn script(&self, end: usize, script: &str) -> String {
        let space = self.space(end);
        format!("nsenter --net=/proc/$(cat /tmp/{space})/ns/net sh -c 'dev={space}; {script}'")
    }

    pub(crate) fn run(&self, end: usize, script: &str) -> Result<Output> {
        self.vm.run(self.script(end, script))
    }

    pub(crate) fn shell(&self, end: usize, script: &str) -> Result<String> {
        self.vm.shell(self.script(end, script))
    }

    /// Binds the ports to ixgbe if they are not bound, moves the interfaces into their namespaces and
    /// brings them up.
    pub(crate) fn set_up(&self, mtu: u32) -> Result<()> {
        self.set_up_end(0, mtu)?;
        self.set_up_end(1, mtu)?;
        self.wait_for_carrier("1")
    }

    fn set_up_end(&self, end: usize, mtu: u32) -> Result<()> {
        let (pci, space) = (&self.ports.addresses[end], self.space(end));
        self.vm.shell(format!(
            "if ! [ -e /sys/bus/pci/devices/{pci}/driver ]; then
                 echo {pci} >/sys/bus/pci/drivers/ixgbe/bind
             fi
             if ! [ -e /tmp/{space} ]; then
                 unshare -n sh -c 'echo $$ >/tmp/{space}; exec sleep 100000' >/dev/null 2>&1 &
                 await 20 [ -s /tmp/{space} ]
             fi
             if [ -n \"$(net {pci})\" ]; then
                 ip link set $(net {pci}) name {space}
                 ip link set {space} netns $(cat /tmp/{space})
             fi"
        ))?;
        let address = format!("ip addr replace {}/24 dev $dev", self.address(end));
        let up = format!("ip link set lo up; {address}; ip link set $dev mtu {mtu} up");
        self.shell(end, &up).map(drop)
    }

    fn wait_for_carrier(&self, wanted: &str) -> Result<()> {
        self.wait_for_carrier_of(0, wanted)?;
        self.wait_for_carrier_of(1, wanted)
    }

    /// Waits until the carrier of an end is `1` or `0`.
    fn wait_for_carrier_of(&self, end: usize, wanted: &str) -> Result<()> {
        let carrier = format!("[ $(ip link show $dev | grep -c LOWER_UP) = {wanted} ]");
        let wait = self
            .vm
            .run(format!("await 10 {}", self.script(end, &carrier)))?;
        let carrier = format!("carrier of {} is not {wanted}", self.space(end));
        wait.expect_exit(0).context(carrier).map(drop)
    }

    /// Pings an end from the other, with a packet of each of these sizes.
    fn ping(&self, from: usize, sizes: &str) -> Result<Output> {
        let to = self.address(1 - from);
        let script = format!(
            "lost=; for size in {sizes}; do \
                 ping -q -c 1 -W 2 -s $size {to} >/dev/null || lost=\"$lost $size\"; \
             done; echo lost:$lost"
        );
        self.run(from, &script)
    }

    /// Sends `bytes` bytes over TCP from one end to the other, and compares their hashes.
    fn transfer(&self, from: usize, bytes: u64) -> Result<()> {
        let to = 1 - from;
        let receive = self.script(to, "exec guest tcp-receive");
        let receiver = self.vm.start(format!("exec {receive}"))?;
        let send = format!("guest tcp-send {} {bytes}", self.address(to));
        let sent = self.run(from, &send)?;
        sent.expect_silence()?;
        let received = receiver.wait(LIMIT)?;
        received.expect_silence()?;
        ensure!(sent.stdout == received.stdout, "{sent}{received}");
        ensure!(sent.stdout.starts_with(&format!("{bytes} ")), "{sent}");
        Ok(())
    }

    fn bind(&self, address: &str) -> Result<Output> {
        let bind = format!("echo {address} >/sys/bus/pci/drivers/ixgbe/bind");
        let output = self.vm.run(bind)?;
        output.expect_silence()?;
        Ok(output)
    }
}

fn probes_without_warnings(pair: &PortPair) -> Result<()> {
    for address in &pair.ports.addresses {
        let output = pair.bind(address)?;
        ensure!(
            output.elapsed <= PROBE_LIMIT,
            "the probe takes too long: {output}"
        );
    }
    Ok(())
}

fn has_carrier_at_10_gbit(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    for end in [0, 1] {
        // The interfaces of a namespace appear only in a sysfs that is mounted in it.
        let speed = "mount -t sysfs sysfs /sys; cat /sys/class/net/$dev/speed";
        let speed = pair
            .vm
            .shell(format!("unshare -m {}", pair.script(end, speed)))?;
        ensure!(speed == "10000", "{}: speed is {speed}", pair.space(end));
    }
    Ok(())
}

/// 200 pings, of sizes 56 to 8900.
fn answers_pings_of_all_sizes(pair: &PortPair) -> Result<()> {
    pair.set_up(9000)?;
    let output = pair.ping(0, "$(seq 56 44 8812) 8900")?;
    ensure!(output.stdout == "lost:\n", "{output}");
    Ok(())
}

fn carries_tcp_unaltered(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    pair.transfer(0, TRANSFER)?;
    pair.transfer(1, TRANSFER)
}

fn carries_udp_of_every_length(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    let echo = pair.script(1, "exec guest udp-echo");
    let _echo = pair.vm.start(format!("exec {echo}"))?;
    let output = pair.run(0, &format!("guest udp-check {}", pair.address(1)))?;
    output.expect_silence()?;
    ensure!(output.stdout == "3000 datagrams\n", "{output}");
    Ok(())
}

/// What one end counts: frames and bytes received, frames and bytes sent, without CRC.
type Counts = [u64; 4];

fn counted_by_the_model(port: &Port) -> Counts {
    let stats = port.stats();
    let (rx, tx) = (stats.delivered, stats.transmitted);
    [
        rx,
        stats.delivered_bytes - 4 * rx,
        tx,
        stats.transmitted_bytes - 4 * tx,
    ]
}

/// Reads `/proc/net/dev`, which `ip -s link` also shows. The name of the interface precedes bytes
/// and frames received, six other numbers, and bytes and frames sent.
fn counted_by_the_kernel(pair: &PortPair, end: usize) -> Result<Counts> {
    let text = pair.shell(end, "grep $dev: /proc/net/dev")?;
    let words = text.split_whitespace().skip(1);
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    ensure!(numbers.len() == 16, "/proc/net/dev: {text}");
    Ok([1, 0, 9, 8].map(|place| numbers[place]))
}

/// The counts of kernel and model at both ends while the wire is quiet. Kernel and model cannot be read at the same
/// instant, and the kernel counts a frame later than the model. So the counts are valid only if
/// several readings in a row are equal.
fn counts_when_quiet(pair: &PortPair) -> Result<[[Counts; 2]; 2]> {
    let read = || -> Result<_> {
        let of = |end: usize| -> Result<_> {
            let model = counted_by_the_model(&pair.ports.ports[end]);
            Ok([counted_by_the_kernel(pair, end)?, model])
        };
        Ok([of(0)?, of(1)?])
    };
    let deadline = Instant::now() + LIMIT;
    let (mut last, mut equal) = (read()?, 1);
    while equal < QUIET_READINGS {
        ensure!(
            Instant::now() < deadline,
            "the counts do not stop changing: {last:?}"
        );
        std::thread::sleep(QUIET_INTERVAL);
        let now = read()?;
        equal = if now == last { equal + 1 } else { 1 };
        last = now;
    }
    Ok(last)
}

/// The kernel counts the bytes that it hands to the card, and the card pads frames to 60 bytes. So
/// only the sent bytes may differ, and only by that padding.
fn counts_what_the_model_counts(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    for end in [0, 1] {
        // Without IPv6 the kernel sends no frames of its own while the wire should be quiet.
        let conf = "conf=/proc/sys/net/ipv6/conf/$dev/disable_ipv6";
        pair.shell(
            end,
            &format!("{conf}; if [ -e $conf ]; then echo 1 >$conf; fi"),
        )?;
    }
    // After this transfer, each end knows the other's address and sends no ARP request for a while.
    pair.transfer(0, 100_000)?;
    let before = counts_when_quiet(pair)?;
    pair.transfer(0, 4 << 20)?;
    let after = counts_when_quiet(pair)?;
    for (before, after) in before.iter().zip(after) {
        let since =
            |who: usize| -> Counts { std::array::from_fn(|n| after[who][n] - before[who][n]) };
        let (kernel, model) = (since(0), since(1));
        let padding = model[3].checked_sub(kernel[3]);
        ensure!(
            kernel[..3] == model[..3]
                && padding.is_some_and(|padding| padding < MAX_PADDING)
                && kernel[0] > 0
                && kernel[2] > 0,
            "the kernel counts {kernel:?}, the model {model:?}"
        );
    }
    Ok(())
}

/// How many interrupts the queues of end 1 have raised so far, and how many frames it has received.
fn interrupts_and_frames(pair: &PortPair) -> Result<[u64; 2]> {
    let of_queues = format!("grep -e {} /proc/interrupts", pair.ports.addresses[1]);
    // A line has a number for each of two processors.
    let sum = format!("{of_queues} | awk '{{ sum += $2 + $3 }} END {{ print sum }}'");
    let interrupts = pair.vm.shell(sum)?.parse()?;
    Ok([interrupts, pair.ports.ports[1].stats().delivered])
}

fn throttles_its_interrupts(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    let before = interrupts_and_frames(pair)?;
    pair.transfer(0, 16 << 20)?;
    let after = interrupts_and_frames(pair)?;
    let [interrupts, frames] = [0, 1].map(|n| after[n] - before[n]);
    ensure!(
        interrupts > 0 && interrupts < frames,
        "{interrupts} interrupts for {frames} frames"
    );
    Ok(())
}

fn notices_link_changes(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    pair.ports.ports[0].set_plugged(false);
    let gone = pair.wait_for_carrier("0");
    pair.ports.ports[0].set_plugged(true);
    gone?;
    pair.wait_for_carrier("1")?;
    pair.transfer(0, 1 << 20)
}

/// The model's notes on the stock driver, which does not follow the datasheet in these points.
const KNOWN_NOTES: [&str; 4] = [
    "EIMC: bit 31 is reserved",
    "TXPBSIZE changed while RTTDCS.ARBDIS is clear",
    "TXPBTHRESH changed while RTTDCS.ARBDIS is clear",
    "FCTRL changed while RXCTRL.RXEN is set",
];

/// The model has no other notes, and refused no access to memory.
fn follows_the_datasheet_except_in_known_points(pair: &PortPair) -> Result<()> {
    for port in &pair.ports.ports {
        let mut notes = port.notes();
        notes.retain(|note| !KNOWN_NOTES.iter().any(|known| note.starts_with(known)));
        let faults = port.dma_faults();
        let none = notes.is_empty() && faults.is_empty();
        ensure!(none, "port {}: {notes:#?} {faults:#?}", port.index());
    }
    Ok(())
}

/// How often a test repeats its steps: 20 times on the first pair, fewer on the second.
fn rounds(pair: &PortPair) -> usize {
    [20, 4][pair.number]
}

/// The link works again after each `ip link set down` and `up`.
fn survives_down_and_up(pair: &PortPair) -> Result<()> {
    pair.set_up(1500)?;
    for round in 0..rounds(pair) {
        pair.shell(round % 2, "ip link set $dev down; ip link set $dev up")?;
        let carrier = pair.wait_for_carrier("1");
        carrier.with_context(|| format!("round {round}"))?;
    }
    pair.transfer(0, 1 << 20)?;
    // An optical port switches its light off when it goes down. A frame that the other end has not
    // sent by then stays in its ring, and the driver resets the port. A cable has no light.
    let expected = [
        "initiating reset to clear Tx work after link loss",
        "Reset adapter",
    ];
    pair.vm.no_complaint_except(&expected)
}

/// Behind an IOMMU, the model sees the driver's maps.
fn unbinding_leaves_no_map(pair: &PortPair) -> Result<()> {
    let (address, port) = (&pair.ports.addresses[0], &pair.ports.ports[0]);
    for round in 0..rounds(pair) {
        pair.bind(address)?;
        pair.vm.shell(format!("ip link set $(net {address}) up"))?;
        wait_until("the rings to be mapped", || port.snapshot().dma_maps > 0)?;
        pair.vm
            .shell(format!("echo {address} >/sys/bus/pci/drivers/ixgbe/unbind"))?;
        wait_until("all maps to be gone", || port.snapshot().dma_maps == 0)
            .with_context(|| format!("round {round}: {:x?}", port.dma_maps()))?;
    }
    let state = port.snapshot();
    ensure!(state.dma_faults == 0, "{:#?}", port.dma_faults());
    ensure!(
        !state.bus_master && state.rx_queues.is_empty(),
        "{state:#?}"
    );
    Ok(())
}

fn carries_tcp_behind_an_iommu(pair: &PortPair) -> Result<()> {
    for address in &pair.ports.addresses {
        pair.bind(address)?;
    }
    pair.set_up(1500)?;
    pair.transfer(0, 4 << 20)?;
    follows_the_datasheet_except_in_known_points(pair)
}

/// Pings that the echo program answers.
const PINGS: u64 = 200;

/// The kernel's ixgbe at one end of the cable pings `ixgbe-echo` at the other, with ever larger packets.
fn is_answered_by_echo(pair: &PortPair, implementation: Implementation) -> Result<()> {
    let [kernels, ours] = &pair.ports.addresses;
    pair.vm.shell(format!(
        "bind {ours} vfio-pci; bind {kernels} ixgbe; pages 64"
    ))?;
    pair.set_up_end(0, 1500)?;
    let echo = format!("exec /drivers/{implementation}/ixgbe-echo --json /out/echo.json --ip");
    let job = pair
        .vm
        .start(format!("{echo} {} {ours}", pair.address(1)))?;
    pair.wait_for_carrier_of(0, "1")?;
    let pinged = pair.ping(0, &format!("$(seq 7 7 {})", 7 * PINGS));
    job.signal(Signal::INT)?;
    let output = job.wait(LIMIT)?;
    let pinged = pinged?;
    ensure!(pinged.stdout == "lost:\n", "{pinged}{output}");
    output.expect_silence()?;
    let totals = pair.vm.run("cat /out/echo.json; rm /out/echo.json")?;
    totals
        .expect_stdout(&[&format!("\"icmp\":{PINGS},"), "\"dropped\":0,"])
        .map(drop)
}

/// Makes a test of a pair. The kernel must not warn in it.
pub(crate) fn of_pair(
    name: String,
    number: usize,
    run: impl Fn(&PortPair) -> Result<()> + Send + 'static,
) -> Test<StockMachine> {
    test(name, move |stock: &StockMachine| {
        run(&stock.pair(number))?;
        stock.vm.no_complaint_except(&[])
    })
}

type NamedTest = (&'static str, fn(&PortPair) -> Result<()>);

/// Makes a test of each function for each pair.
fn for_each_pair(tests: &[NamedTest]) -> Vec<Test<StockMachine>> {
    let mut all = Vec::new();
    for (number, kind) in PAIRS.iter().enumerate() {
        for (name, run) in tests {
            all.push(of_pair(format!("{kind}::{name}"), number, *run));
        }
    }
    all
}

pub(crate) fn tests(environment: &Prepared) -> Vec<Trial> {
    let mut plain = for_each_pair(&named![
        probes_without_warnings,
        answers_pings_of_all_sizes,
        has_carrier_at_10_gbit,
        carries_tcp_unaltered,
        carries_udp_of_every_length,
        counts_what_the_model_counts,
        throttles_its_interrupts,
        notices_link_changes,
        survives_down_and_up,
        follows_the_datasheet_except_in_known_points,
    ]);
    plain.push(test(registers::TEST, |stock: &StockMachine| {
        let traced = stock.traced.as_ref();
        let traced = traced.context("the machine has no traced ports")?;
        traced.write_what_is_recorded(&stock.vm)
    }));
    plain.extend(applications::tests());
    let mut behind_iommu = for_each_pair(&named![
        unbinding_leaves_no_map,
        carries_tcp_behind_an_iommu
    ]);
    behind_iommu.extend(Implementation::OURS.map(|driver| {
        let name = format!("{driver}::is_answered_by_echo");
        of_pair(name, 1, move |pair| is_answered_by_echo(pair, driver))
    }));
    let boot = |bits| move |environment: &_, name: &_| StockMachine::boot(environment, name, bits);
    let mut tests = on_machine(environment, "stock-ixgbe", boot(None), plain);
    let iommu = "stock-ixgbe-iommu";
    tests.extend(on_machine(environment, iommu, boot(Some(48)), behind_iommu));
    tests
}
