//! The kernel's own, unchanged ixgbe on the software 82599.
//!
//! A cable connects the two ports of a NIC. Each port is in a network namespace of its own, so that
//! the guest's kernel sends through the NIC to itself.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use conformance::{wait_until, Implementation};
use guest::{Output, Vm};
use libtest_mimic::Trial;
use nic::{MmioMode, Module, Port};
use rustix::process::Signal;

use crate::applications;
use crate::fixture::{self, machine, on_machine, Environment, Ports, Test};
use crate::registers::{self, TracedPorts};
use crate::vfio::RESERVE;

/// How long a transfer may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long the probe of a port may take, in milliseconds of the guest's clock.
const PROBE_MS: u64 = 5_000;
/// Bytes of a transfer.
const TRANSFER: u64 = 64 << 20;
/// Equal readings in a row that show a quiet wire.
const QUIET_READINGS: u32 = 3;
/// Time between two such readings. Linux delays an acknowledgement by at most 200 ms.
const QUIET_INTERVAL: Duration = Duration::from_millis(250);
/// Bound of the padding in a transfer: 20 ARP frames of 42 bytes, padded to 60.
const MAX_PADDING: u64 = 60 * 6;

/// Two ports connected by a cable, and their places in the guest.
pub(crate) struct PortPair {
    ports: Ports,
    /// Names of the two namespaces, which are also the interfaces' names.
    spaces: [String; 2],
    subnet: u8,
}

impl PortPair {
    /// Runs a script in the namespace of one end. `$dev` is the end's interface.
    pub(crate) fn at(&self, vm: &Vm, end: usize, script: &str, limit: Duration) -> Result<Output> {
        vm.script(&self.script(end, script)).run(limit)
    }

    pub(crate) fn script(&self, end: usize, script: &str) -> String {
        let space = &self.spaces[end];
        format!("nsenter --net=/proc/$(cat /tmp/{space})/ns/net sh -c 'dev={space}; {script}'")
    }

    pub(crate) fn shell(&self, vm: &Vm, end: usize, script: &str) -> Result<String> {
        vm.shell(&self.script(end, script))
    }

    pub(crate) fn address(&self, end: usize) -> String {
        format!("10.0.{}.{}", self.subnet, end + 1)
    }

    /// Binds the ports to ixgbe if they are not bound, moves the interfaces into their namespaces and
    /// brings them up.
    pub(crate) fn set_up(&self, vm: &Vm, mtu: u32) -> Result<()> {
        for end in [0, 1] {
            self.set_up_end(vm, end, mtu)?;
        }
        self.wait_for_carrier(vm, "1")
    }

    fn set_up_end(&self, vm: &Vm, end: usize, mtu: u32) -> Result<()> {
        let (pci, space) = (&self.ports.addresses[end], &self.spaces[end]);
        vm.shell(&format!(
            "if ! [ -e /sys/bus/pci/devices/{pci}/driver ]; then
                     echo {pci} >/sys/bus/pci/drivers/ixgbe/bind
                 fi
                 if ! [ -e /tmp/{space} ]; then
                     unshare -n sh -c 'echo $$ >/tmp/{space}; exec sleep 100000' >/dev/null 2>&1 &
                     while ! [ -s /tmp/{space} ]; do sleep 0.1; done
                 fi
                 net=$(ls /sys/bus/pci/devices/{pci}/net)
                 if [ -n \"$net\" ]; then
                     ip link set $net name {space}
                     ip link set {space} netns $(cat /tmp/{space})
                 fi"
        ))?;
        let address = self.address(end);
        self.shell(
                vm,
                end,
                &format!("ip link set lo up; ip addr replace {address}/24 dev $dev; ip link set $dev mtu {mtu} up"),
            )?;
        Ok(())
    }

    fn wait_for_carrier(&self, vm: &Vm, wanted: &str) -> Result<()> {
        [0, 1]
            .into_iter()
            .try_for_each(|end| self.wait_for_carrier_of(vm, end, wanted))
    }

    fn wait_for_carrier_of(&self, vm: &Vm, end: usize, wanted: &str) -> Result<()> {
        let look = self.script(end, "ip link show $dev | grep -c LOWER_UP");
        // grep fails if it finds no line.
        vm.wait_for(&format!("{look} || true"), wanted, Duration::from_secs(10))
            .with_context(|| format!("carrier of {}", self.spaces[end]))
    }
}

/// A machine with one pair of ports with trapped registers and optical modules, and one pair with
/// shared registers and direct-attach cables.
pub(crate) struct StockMachine {
    pub(crate) vm: Vm,
    pub(crate) pairs: Vec<PortPair>,
    /// A port of each family, whose register accesses are recorded.
    traced: Option<TracedPorts>,
}

fn pairs() -> Result<(Vec<PortPair>, Vec<guest::Device>)> {
    let (mut pairs, mut devices) = (Vec::new(), Vec::new());
    let kinds = [
        (MmioMode::Trap, Module::Sr, ["trap0", "trap1"]),
        (MmioMode::Shared, Module::Dac, ["shared0", "shared1"]),
    ];
    for (nth, (mmio, module, spaces)) in (0_u8..).zip(kinds) {
        let slot = 3 + 2 * nth;
        let (ports, more) = Ports::new(0, [slot, slot + 1], |config| {
            let config = config.with_mmio(mmio).with_cable(0, 1);
            config.with_each_port(|port| port.module = module)
        })?;
        devices.extend(more);
        pairs.push(PortPair {
            ports,
            spaces: spaces.map(str::to_owned),
            subnet: nth,
        });
    }
    Ok((pairs, devices))
}

fn boot(environment: &Environment, name: &str, address_bits: Option<u8>) -> Result<StockMachine> {
    let (pairs, mut devices) = pairs()?;
    let traced = match address_bits {
        Some(_) => None,
        None => {
            let (traced, more) = TracedPorts::new()?;
            devices.extend(more);
            Some(traced)
        }
    };
    let vm = environment.boot(&machine(name, address_bits, &devices))?;
    // The tests bind the ports.
    vm.shell("echo 0 >/sys/bus/pci/drivers_autoprobe; insmod /lib/modules/ixgbe.ko")?;
    vm.kernel_log(7)?;
    Ok(StockMachine { vm, pairs, traced })
}

fn stock(environment: &Environment) -> Result<StockMachine> {
    boot(environment, "stock-ixgbe", None)
}

fn stock_iommu(environment: &Environment) -> Result<StockMachine> {
    boot(environment, "stock-ixgbe-iommu", Some(48))
}

pub(crate) fn no_complaint(vm: &Vm) -> Result<()> {
    no_complaint_except(vm, &[])
}

/// Checks that the kernel logged no warning, except those that contain one of `expected`.
fn no_complaint_except(vm: &Vm, expected: &[&str]) -> Result<()> {
    // A slow host causes these warnings: the guest's processors wait for the host's.
    let slow_host = [
        "hrtimer: interrupt took",
        "clocksource:",
        "perf: interrupt took",
    ];
    let mut warnings = vm.kernel_log(4)?;
    let known = slow_host.iter().chain(expected);
    warnings.retain(|line| !known.clone().any(|text| line.contains(text)));
    ensure!(warnings.is_empty(), "the kernel warns: {warnings:#?}");
    Ok(())
}

fn bind(vm: &Vm, address: &str) -> Result<Output> {
    let script = format!("echo {address} >/sys/bus/pci/drivers/ixgbe/bind");
    let output = vm.script(&script).run(LIMIT)?;
    output.expect_success()?;
    Ok(output)
}

fn probes_without_warnings(vm: &Vm, pair: &PortPair) -> Result<()> {
    for address in &pair.ports.addresses {
        let output = bind(vm, address)?;
        ensure!(
            output.end.milliseconds <= PROBE_MS,
            "the probe takes too long: {output}"
        );
    }
    no_complaint(vm)
}

fn has_carrier_at_10_gbit(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    for end in [0, 1] {
        let speed = "mount -t sysfs sysfs /sys; cat /sys/class/net/$dev/speed";
        let space = &pair.spaces[end];
        // The interfaces of a namespace appear only in a sysfs that is mounted in it.
        let script = format!(
            "unshare -m nsenter --net=/proc/$(cat /tmp/{space})/ns/net sh -c 'dev={space}; {speed}'"
        );
        let speed = vm.shell(&script)?;
        ensure!(speed == "10000", "{space}: speed is {speed}");
    }
    no_complaint(vm)
}

/// 200 pings, of sizes 56 to 8900.
fn answers_pings_of_all_sizes(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 9000)?;
    let to = pair.address(1);
    let script = format!(
        "lost=; size=56; for n in $(seq 200); do \
             ping -q -c 1 -W 2 -s $size {to} >/dev/null || lost=\"$lost $size\"; \
             size=$((56 + n * 8844 / 199)); \
         done; echo lost:$lost"
    );
    let output = pair.at(vm, 0, &script, LIMIT)?;
    ensure!(output.end.stdout == "lost:\n", "{output}");
    no_complaint(vm)
}

/// Sends `bytes` bytes over TCP from one end to the other, and compares their hashes.
fn transfer(vm: &Vm, pair: &PortPair, from: usize, bytes: u64) -> Result<()> {
    let to = 1 - from;
    let receiver = vm
        .script(&pair.script(to, "exec guest tcp-receive"))
        .start()?;
    let address = pair.address(to);
    let sent = pair.at(
        vm,
        from,
        &format!("guest tcp-send {address} --bytes {bytes}"),
        LIMIT,
    )?;
    let received = receiver.wait(LIMIT)?;
    sent.expect_success()?;
    received.expect_success()?;
    ensure!(sent.end.stdout == received.end.stdout, "{sent}{received}");
    ensure!(sent.end.stdout.starts_with(&format!("{bytes} ")), "{sent}");
    Ok(())
}

fn carries_tcp_unaltered(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    transfer(vm, pair, 0, TRANSFER)?;
    transfer(vm, pair, 1, TRANSFER)?;
    no_complaint(vm)
}

fn carries_udp_of_every_length(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    let echo = vm.script(&pair.script(1, "exec guest udp-echo")).start()?;
    let to = pair.address(1);
    let output = pair.at(
        vm,
        0,
        &format!("guest udp-check {to} --from 1 --to 3000"),
        LIMIT,
    )?;
    drop(echo);
    output.expect_success()?;
    ensure!(output.end.stdout == "3000 datagrams\n", "{output}");
    no_complaint(vm)
}

/// A port's counts in both directions: frames, and bytes without CRC.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PortCounts {
    rx: [u64; 2],
    tx: [u64; 2],
}

impl PortCounts {
    fn since(self, before: Self) -> Self {
        let difference = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        Self {
            rx: difference(self.rx, before.rx),
            tx: difference(self.tx, before.tx),
        }
    }
}

/// One end's counts, as kernel and model count them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EndCounts {
    kernel: PortCounts,
    model: PortCounts,
}

fn counted_by_the_model(port: &Port) -> PortCounts {
    let stats = port.stats();
    let without_crc = |bytes: u64, frames: u64| bytes - 4 * frames;
    PortCounts {
        rx: [
            stats.delivered,
            without_crc(stats.delivered_bytes, stats.delivered),
        ],
        tx: [
            stats.transmitted,
            without_crc(stats.transmitted_bytes, stats.transmitted),
        ],
    }
}

/// Reads `/proc/net/dev`, which `ip -s link` also shows. The name of the interface precedes bytes
/// and frames received, six other numbers, and bytes and frames sent.
fn counted_by_the_kernel(vm: &Vm, pair: &PortPair, end: usize) -> Result<PortCounts> {
    let text = pair.shell(vm, end, "grep $dev: /proc/net/dev")?;
    let words = text
        .split(':')
        .nth(1)
        .unwrap_or_default()
        .split_whitespace();
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    ensure!(numbers.len() == 16, "/proc/net/dev: {text}");
    Ok(PortCounts {
        rx: [numbers[1], numbers[0]],
        tx: [numbers[9], numbers[8]],
    })
}

/// The counts of both ends while the wire is quiet. Kernel and model cannot be read at the same
/// instant, and the kernel counts a frame later than the model. So the counts are valid only if
/// several readings in a row are equal.
fn counts_when_quiet(vm: &Vm, pair: &PortPair) -> Result<[EndCounts; 2]> {
    let read = |end: usize| -> Result<EndCounts> {
        Ok(EndCounts {
            kernel: counted_by_the_kernel(vm, pair, end)?,
            model: counted_by_the_model(&pair.ports.ports()[end]),
        })
    };
    let deadline = Instant::now() + LIMIT;
    let mut last = [read(0)?, read(1)?];
    let mut equal = 1;
    while equal < QUIET_READINGS {
        ensure!(
            Instant::now() < deadline,
            "the counts do not stop changing: {last:?}"
        );
        std::thread::sleep(QUIET_INTERVAL);
        let now = [read(0)?, read(1)?];
        equal = if now == last { equal + 1 } else { 1 };
        last = now;
    }
    Ok(last)
}

/// The kernel counts the bytes that it hands to the card, and the card pads frames to 60 bytes. So
/// only the sent bytes may differ, and only by that padding.
fn counts_what_the_model_counts(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    for end in [0, 1] {
        // Without IPv6 the kernel sends no frames of its own while the wire should be quiet.
        let disable = "conf=/proc/sys/net/ipv6/conf/$dev/disable_ipv6; \
                       if [ -e $conf ]; then echo 1 >$conf; fi";
        pair.shell(vm, end, disable)?;
    }
    // After this transfer, each end knows the other's address and sends no ARP request for a while.
    transfer(vm, pair, 0, 100_000)?;
    let before = counts_when_quiet(vm, pair)?;
    transfer(vm, pair, 0, 4 << 20)?;
    let after = counts_when_quiet(vm, pair)?;
    for end in [0, 1] {
        let kernel = after[end].kernel.since(before[end].kernel);
        let model = after[end].model.since(before[end].model);
        let counts = format!(
            "{}: the kernel counts {kernel:?}, the model {model:?}",
            pair.spaces[end]
        );
        ensure!(
            kernel.rx == model.rx && kernel.tx[0] == model.tx[0],
            "{counts}"
        );
        let padding = model.tx[1].checked_sub(kernel.tx[1]);
        ensure!(
            padding.is_some_and(|padding| padding < MAX_PADDING),
            "{counts}"
        );
        ensure!(kernel.rx[0] > 0 && kernel.tx[0] > 0, "{counts}");
    }
    no_complaint(vm)
}

/// How many interrupts one end's queues have raised so far.
fn interrupts(vm: &Vm, pair: &PortPair, end: usize) -> Result<u64> {
    let pci = &pair.ports.addresses[end];
    let text = vm.shell(&format!("grep -e {pci} /proc/interrupts"))?;
    let of_line = |line: &str| -> u64 {
        line.split_whitespace()
            .skip(1)
            .map_while(|word| word.parse::<u64>().ok())
            .sum()
    };
    Ok(text.lines().map(of_line).sum())
}

fn throttles_its_interrupts(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    let before = interrupts(vm, pair, 1)?;
    let frames = pair.ports.ports()[1].stats().delivered;
    transfer(vm, pair, 0, 16 << 20)?;
    let interrupts = interrupts(vm, pair, 1)? - before;
    let frames = pair.ports.ports()[1].stats().delivered - frames;
    ensure!(interrupts > 0, "there was no interrupt");
    ensure!(
        interrupts < frames,
        "{interrupts} interrupts for {frames} frames"
    );
    no_complaint(vm)
}

fn notices_link_changes(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    pair.ports.ports()[0].set_plugged(false);
    let gone = pair.wait_for_carrier(vm, "0");
    pair.ports.ports()[0].set_plugged(true);
    gone?;
    pair.wait_for_carrier(vm, "1")?;
    transfer(vm, pair, 0, 1 << 20)?;
    no_complaint(vm)
}

/// The model's notes on the stock driver, which does not follow the datasheet in these points.
const KNOWN_NOTES: [&str; 4] = [
    "EIMC: bit 31 is reserved",
    "TXPBSIZE changed while RTTDCS.ARBDIS is clear",
    "TXPBTHRESH changed while RTTDCS.ARBDIS is clear",
    "FCTRL changed while RXCTRL.RXEN is set",
];

/// The model has no other notes, and refused no access to memory.
fn follows_the_datasheet_except_in_known_points(_: &Vm, pair: &PortPair) -> Result<()> {
    for port in pair.ports.ports() {
        let known = |note: &String| KNOWN_NOTES.iter().any(|known| note.starts_with(known));
        let mut notes = port.notes();
        notes.retain(|note| !known(note));
        ensure!(notes.is_empty(), "port {}: {notes:#?}", port.index());
        ensure!(
            port.dma_faults().is_empty(),
            "port {}: {:#?}",
            port.index(),
            port.dma_faults()
        );
    }
    Ok(())
}

/// How often a test repeats its steps: 20 times on the first pair, fewer on the second.
fn rounds(pair: &PortPair) -> usize {
    match pair.subnet {
        0 => 20,
        _ => 4,
    }
}

/// The link works again after each `ip link set down` and `up`.
fn survives_down_and_up(vm: &Vm, pair: &PortPair) -> Result<()> {
    pair.set_up(vm, 1500)?;
    for round in 0..rounds(pair) {
        let script = "ip link set $dev down; ip link set $dev up";
        pair.shell(vm, round % 2, script)?;
        pair.wait_for_carrier(vm, "1")
            .with_context(|| format!("round {round}"))?;
    }
    transfer(vm, pair, 0, 1 << 20)?;
    // An optical port switches its light off when it goes down. A frame that the other end has not
    // sent by then stays in its ring, and the driver resets the port. A cable has no light.
    no_complaint_except(
        vm,
        &[
            "initiating reset to clear Tx work after link loss",
            "Reset adapter",
        ],
    )
}

/// Behind an IOMMU, the model sees the driver's maps.
fn unbinding_leaves_no_map(vm: &Vm, pair: &PortPair) -> Result<()> {
    let address = &pair.ports.addresses[0];
    let port = &pair.ports.ports()[0];
    for round in 0..rounds(pair) {
        bind(vm, address)?;
        vm.shell(&format!(
            "ip link set $(ls /sys/bus/pci/devices/{address}/net) up"
        ))?;
        wait_until("the rings to be mapped", || port.snapshot().dma_maps > 0)?;
        vm.shell(&format!(
            "echo {address} >/sys/bus/pci/drivers/ixgbe/unbind"
        ))?;
        wait_until("all maps to be gone", || port.snapshot().dma_maps == 0)
            .with_context(|| format!("round {round}: {:x?}", port.dma_maps()))?;
    }
    let state = port.snapshot();
    ensure!(state.dma_faults == 0, "{:#?}", port.dma_faults());
    ensure!(
        !state.bus_master && state.rx_queues.is_empty(),
        "{state:#?}"
    );
    no_complaint(vm)
}

fn carries_tcp_behind_an_iommu(vm: &Vm, pair: &PortPair) -> Result<()> {
    for address in &pair.ports.addresses {
        bind(vm, address)?;
    }
    pair.set_up(vm, 1500)?;
    transfer(vm, pair, 0, 4 << 20)?;
    follows_the_datasheet_except_in_known_points(vm, pair)?;
    no_complaint(vm)
}

/// Pings that the echo program answers.
const PINGS: u64 = 200;

/// The kernel's ixgbe at one end of the cable pings `ixgbe-echo` at the other, with ever larger packets.
fn is_answered_by_echo(vm: &Vm, pair: &PortPair, implementation: Implementation) -> Result<()> {
    let [kernels, ours] = &pair.ports.addresses;
    fixture::bind(vm, ours, "vfio-pci")?;
    fixture::bind(vm, kernels, "ixgbe")?;
    pair.set_up_end(vm, 0, 1500)?;
    vm.shell(RESERVE)?;
    let to = pair.address(1);
    let job = vm
        .program([
            &format!("/drivers/{implementation}/ixgbe-echo"),
            "--json",
            "/out/echo.json",
            "--ip",
            &to,
            ours,
        ])
        .start()?;
    pair.wait_for_carrier_of(vm, 0, "1")?;
    let script = format!(
        "lost=; for n in $(seq {PINGS}); do \
             ping -q -c 1 -W 2 -s $((n * 7)) {to} >/dev/null || lost=\"$lost $n\"; \
         done; echo lost:$lost"
    );
    let pinged = pair.at(vm, 0, &script, LIMIT);
    job.signal(Signal::INT)?;
    let output = job.wait(LIMIT)?;
    let pinged = pinged?;
    ensure!(pinged.end.stdout == "lost:\n", "{pinged}{output}");
    output.expect_success()?;
    let totals = vm.shell("cat /out/echo.json; rm /out/echo.json")?;
    ensure!(
        totals.contains(&format!("\"icmp\":{PINGS},")) && totals.contains("\"dropped\":0,"),
        "{totals}"
    );
    no_complaint(vm)
}

type PortPairTest = fn(&Vm, &PortPair) -> Result<()>;

/// Makes a test of each function for each pair.
fn for_each_pair(tests: &[(&'static str, PortPairTest)]) -> Vec<Test<StockMachine>> {
    let of = |pair: usize, kind: &'static str| {
        tests.iter().map(move |(name, test)| {
            let test = *test;
            Test::new(
                format!("{kind}::{name}"),
                move |stock: &mut StockMachine| {
                    let Some(pair) = stock.pairs.get(pair) else {
                        bail!("there is no pair {pair}");
                    };
                    test(&stock.vm, pair)
                },
            )
        })
    };
    of(0, "trap_sr").chain(of(1, "shared_dac")).collect()
}

/// Pairs each test function with its name.
macro_rules! named {
    ($($test:ident),+ $(,)?) => {
        &[$((stringify!($test), $test as PortPairTest)),+]
    };
}

pub(crate) fn tests(environment: &Option<Environment>) -> Vec<Trial> {
    let mut plain = for_each_pair(named![
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
    plain.push(Test::new(
        "writes_the_registers_that_the_archive_lists",
        |stock: &mut StockMachine| match &stock.traced {
            Some(traced) => {
                registers::writes_the_registers_that_the_archive_lists(&stock.vm, traced)
            }
            None => bail!("the machine has no traced ports"),
        },
    ));
    plain.extend(applications::tests());
    let mut behind_iommu =
        for_each_pair(named![unbinding_leaves_no_map, carries_tcp_behind_an_iommu]);
    for implementation in Implementation::OURS {
        behind_iommu.push(Test::new(
            format!("{implementation}::is_answered_by_echo"),
            move |stock: &mut StockMachine| match stock.pairs.last() {
                Some(pair) => is_answered_by_echo(&stock.vm, pair, implementation),
                None => bail!("the machine has no pair"),
            },
        ));
    }
    [
        on_machine(environment, "stock-ixgbe", stock, plain),
        on_machine(environment, "stock-ixgbe-iommu", stock_iommu, behind_iommu),
    ]
    .into_iter()
    .flatten()
    .collect()
}
