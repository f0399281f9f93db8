//! The kernel's own ixgbe, as it comes, on the software 82599.
//!
//! The two ports of a NIC are wired to each other, and each is in a network namespace of its own, so
//! that the guest's kernel sends to itself over the NIC and not past it.

use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use conformance::wait_until;
use guest::{Output, Vm};
use libtest_mimic::Trial;
use nic::{MmioMode, Module, Port};

use crate::fixture::{machine, on_machine, Bench, Ports, Test};

/// Longest that a transfer may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Longest that a port's probe may take, in milliseconds of the guest.
const PROBE_MS: u64 = 5_000;
/// Bytes of a transfer.
const TRANSFER: u64 = 64 << 20;

/// Two ports, cable between them, and where the kernel has put them.
struct Wire {
    ports: Ports,
    /// Names of the namespaces' keepers, and the last part of their addresses.
    spaces: [String; 2],
    subnet: u8,
}

impl Wire {
    /// Runs a script in the namespace of one end; `$dev` is its interface.
    fn at(&self, vm: &Vm, end: usize, script: &str, limit: Duration) -> Result<Output> {
        vm.script(&self.script(end, script)).run(limit)
    }

    fn script(&self, end: usize, script: &str) -> String {
        let space = &self.spaces[end];
        format!("nsenter --net=/proc/$(cat /tmp/{space})/ns/net sh -c 'dev={space}; {script}'")
    }

    fn shell(&self, vm: &Vm, end: usize, script: &str) -> Result<String> {
        vm.shell(&self.script(end, script))
    }

    fn address(&self, end: usize) -> String {
        format!("10.0.{}.{}", self.subnet, end + 1)
    }

    /// Puts the interfaces into their namespaces and switches them on.
    fn set_up(&self, vm: &Vm, mtu: u32) -> Result<()> {
        for end in [0, 1] {
            let (pci, space) = (&self.ports.addresses[end], &self.spaces[end]);
            vm.shell(&format!(
                "if ! [ -e /tmp/{space} ]; then
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
        }
        self.wait_for_carrier(vm, "1")
    }

    fn wait_for_carrier(&self, vm: &Vm, wanted: &str) -> Result<()> {
        for end in [0, 1] {
            let look = self.script(end, "ip link show $dev | grep -c LOWER_UP");
            // grep fails if there are none.
            vm.wait_for(&format!("{look} || true"), wanted, Duration::from_secs(10))
                .with_context(|| format!("carrier of {}", self.spaces[end]))?;
        }
        Ok(())
    }
}

/// Ports with trapped registers and optical modules, and ports with shared registers and direct-attach
/// cables.
struct Stock {
    vm: Vm,
    wires: Vec<Wire>,
}

fn wires() -> Result<(Vec<Wire>, Vec<guest::Device>)> {
    let (mut wires, mut devices) = (Vec::new(), Vec::new());
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
        wires.push(Wire {
            ports,
            spaces: spaces.map(str::to_owned),
            subnet: nth,
        });
    }
    Ok((wires, devices))
}

fn boot(bench: &Bench, name: &str, address_bits: Option<u8>) -> Result<Stock> {
    let (wires, devices) = wires()?;
    let vm = bench.boot(&machine(name, address_bits, &devices))?;
    // Each is bound when its test wants it.
    vm.shell("echo 0 >/sys/bus/pci/drivers_autoprobe; insmod /lib/modules/ixgbe.ko")?;
    vm.kernel_log(7)?;
    Ok(Stock { vm, wires })
}

fn stock(bench: &Bench) -> Result<Stock> {
    boot(bench, "stock-ixgbe", None)
}

fn stock_iommu(bench: &Bench) -> Result<Stock> {
    boot(bench, "stock-ixgbe-iommu", Some(48))
}

fn no_complaint(vm: &Vm) -> Result<()> {
    no_complaint_but(vm, &[])
}

/// The kernel has warned of nothing, or of what `expected` says.
fn no_complaint_but(vm: &Vm, expected: &[&str]) -> Result<()> {
    // A guest whose processors have to wait for the host's.
    let of_the_host = [
        "hrtimer: interrupt took",
        "clocksource:",
        "perf: interrupt took",
    ];
    let mut said = vm.kernel_log(4)?;
    let known = of_the_host.iter().chain(expected);
    said.retain(|line| !known.clone().any(|remark| line.contains(remark)));
    ensure!(said.is_empty(), "the kernel says {said:#?}");
    Ok(())
}

fn bind(vm: &Vm, address: &str) -> Result<Output> {
    let script = format!("echo {address} >/sys/bus/pci/drivers/ixgbe/bind");
    let output = vm.script(&script).run(LIMIT)?;
    output.expect_success()?;
    Ok(output)
}

fn is_probed_without_complaint(vm: &Vm, wire: &Wire) -> Result<()> {
    for address in &wire.ports.addresses {
        let output = bind(vm, address)?;
        ensure!(
            output.end.milliseconds <= PROBE_MS,
            "takes too long: {output}"
        );
    }
    no_complaint(vm)
}

fn has_carrier_at_10g(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    for end in [0, 1] {
        let speed = "mount -t sysfs sysfs /sys; cat /sys/class/net/$dev/speed";
        let space = &wire.spaces[end];
        // The other namespaces' interfaces are in a sysfs of their own.
        let script = format!(
            "unshare -m nsenter --net=/proc/$(cat /tmp/{space})/ns/net sh -c 'dev={space}; {speed}'"
        );
        let speed = vm.shell(&script)?;
        ensure!(speed == "10000", "{space}: speed is {speed}");
    }
    no_complaint(vm)
}

/// 200 pings, of sizes 56 to 8900.
fn answers_pings_of_all_sizes(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 9000)?;
    let to = wire.address(1);
    let script = format!(
        "lost=; size=56; for n in $(seq 200); do \
             ping -q -c 1 -W 2 -s $size {to} >/dev/null || lost=\"$lost $size\"; \
             size=$((56 + n * 8844 / 199)); \
         done; echo lost:$lost"
    );
    let output = wire.at(vm, 0, &script, LIMIT)?;
    ensure!(output.end.stdout == "lost:\n", "{output}");
    no_complaint(vm)
}

/// So many bytes over TCP from one end to the other, which must agree on their sum.
fn transfer(vm: &Vm, wire: &Wire, from: usize, bytes: u64) -> Result<()> {
    let to = 1 - from;
    let receiver = vm
        .script(&wire.script(to, "exec guest tcp-receive"))
        .start()?;
    let address = wire.address(to);
    let sent = wire.at(
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

fn carries_tcp_unharmed(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    transfer(vm, wire, 0, TRANSFER)?;
    transfer(vm, wire, 1, TRANSFER)?;
    no_complaint(vm)
}

fn carries_udp_of_every_length(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    let echo = vm.script(&wire.script(1, "exec guest udp-echo")).start()?;
    let to = wire.address(1);
    let output = wire.at(
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

/// What a port has counted: frames and bytes without CRC, in and out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    rx: [u64; 2],
    tx: [u64; 2],
}

fn counted_by_the_model(port: &Port) -> Counts {
    let stats = port.stats();
    let without_crc = |bytes: u64, frames: u64| bytes - 4 * frames;
    Counts {
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

/// What `ip -s link` shows, too: after the interface's name bytes and frames received, six more, and
/// bytes and frames sent.
fn counted_by_the_kernel(vm: &Vm, wire: &Wire, end: usize) -> Result<Counts> {
    let text = wire.shell(vm, end, "grep $dev: /proc/net/dev")?;
    let words = text
        .split(':')
        .nth(1)
        .unwrap_or_default()
        .split_whitespace();
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    ensure!(numbers.len() == 16, "/proc/net/dev: {text}");
    Ok(Counts {
        rx: [numbers[1], numbers[0]],
        tx: [numbers[9], numbers[8]],
    })
}

/// The kernel counts what it hands over, and the card pads what is shorter than 60 bytes: so the bytes
/// that are sent differ by that, and no others do.
fn counts_what_the_model_counts(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    // Whom ARP has found, it does not ask again for a while.
    transfer(vm, wire, 0, 100_000)?;
    let settled = |end: usize| -> Result<(Counts, Counts)> {
        wire.ports.settled()?;
        let model = counted_by_the_model(&wire.ports.ports()[end]);
        Ok((counted_by_the_kernel(vm, wire, end)?, model))
    };
    let before = [settled(0)?, settled(1)?];
    transfer(vm, wire, 0, 4 << 20)?;
    for end in [0, 1] {
        let (kernel, model) = settled(end)?;
        let since = |now: Counts, then: Counts| Counts {
            rx: [now.rx[0] - then.rx[0], now.rx[1] - then.rx[1]],
            tx: [now.tx[0] - then.tx[0], now.tx[1] - then.tx[1]],
        };
        let kernel = since(kernel, before[end].0);
        let model = since(model, before[end].1);
        let padding = model.tx[1].checked_sub(kernel.tx[1]);
        ensure!(
            kernel.rx == model.rx && kernel.tx[0] == model.tx[0] && padding < Some(60 * 6),
            "{}: the kernel {kernel:?}, the model {model:?}",
            wire.spaces[end]
        );
        ensure!(
            padding.is_some(),
            "the kernel has sent more than the model: {kernel:?}, {model:?}"
        );
        ensure!(kernel.rx[0] > 0 && kernel.tx[0] > 0, "{kernel:?}");
    }
    no_complaint(vm)
}

/// The messages of one end's queues so far.
fn interrupts(vm: &Vm, wire: &Wire, end: usize) -> Result<u64> {
    let pci = &wire.ports.addresses[end];
    let text = vm.shell(&format!("grep -e {pci} /proc/interrupts"))?;
    let of_line = |line: &str| -> u64 {
        line.split_whitespace()
            .skip(1)
            .map_while(|word| word.parse::<u64>().ok())
            .sum()
    };
    Ok(text.lines().map(of_line).sum())
}

fn throttles_its_interrupts(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    let before = interrupts(vm, wire, 1)?;
    let frames = wire.ports.ports()[1].stats().delivered;
    transfer(vm, wire, 0, 16 << 20)?;
    let interrupts = interrupts(vm, wire, 1)? - before;
    let frames = wire.ports.ports()[1].stats().delivered - frames;
    ensure!(interrupts > 0, "no interrupt at all");
    ensure!(
        interrupts < frames,
        "{interrupts} interrupts for {frames} frames"
    );
    no_complaint(vm)
}

fn notices_when_the_link_goes_and_comes(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    wire.ports.ports()[0].set_plugged(false);
    let gone = wire.wait_for_carrier(vm, "0");
    wire.ports.ports()[0].set_plugged(true);
    gone?;
    wire.wait_for_carrier(vm, "1")?;
    transfer(vm, wire, 0, 1 << 20)?;
    no_complaint(vm)
}

/// What the stock driver does against the datasheet's advice, and the model remarks on.
const KNOWN_NOTES: [&str; 4] = [
    "EIMC: bit 31 is reserved",
    "TXPBSIZE changed while RTTDCS.ARBDIS is clear",
    "TXPBTHRESH changed while RTTDCS.ARBDIS is clear",
    "FCTRL changed while RXCTRL.RXEN is set",
];

/// No other remark than those, and no access to memory that was refused.
fn leaves_no_note(_: &Vm, wire: &Wire) -> Result<()> {
    for port in wire.ports.ports() {
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

/// How often something is done over again: 20 times, and fewer on the second wire, where it is not
/// the first time.
fn rounds(wire: &Wire) -> usize {
    match wire.subnet {
        0 => 20,
        _ => 4,
    }
}

/// Down and up, and each time it must work again.
fn survives_down_and_up(vm: &Vm, wire: &Wire) -> Result<()> {
    wire.set_up(vm, 1500)?;
    for round in 0..rounds(wire) {
        let script = "ip link set $dev down; ip link set $dev up";
        wire.shell(vm, round % 2, script)?;
        wire.wait_for_carrier(vm, "1")
            .with_context(|| format!("round {round}"))?;
    }
    transfer(vm, wire, 0, 1 << 20)?;
    // An optical port that goes down takes its light away. A frame that the other end wants to send
    // at this moment stays in its ring, and the driver's answer is a reset. A cable has no light.
    no_complaint_but(
        vm,
        &[
            "initiating reset to clear Tx work after link loss",
            "Reset adapter",
        ],
    )
}

/// Behind the IOMMU, where the model sees what is mapped.
fn unbinding_leaves_no_map(vm: &Vm, wire: &Wire) -> Result<()> {
    let address = &wire.ports.addresses[0];
    let port = &wire.ports.ports()[0];
    for round in 0..rounds(wire) {
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

fn carries_tcp_behind_an_iommu(vm: &Vm, wire: &Wire) -> Result<()> {
    for address in &wire.ports.addresses {
        bind(vm, address)?;
    }
    wire.set_up(vm, 1500)?;
    transfer(vm, wire, 0, 4 << 20)?;
    leaves_no_note(vm, wire)?;
    no_complaint(vm)
}

type OfWire = fn(&Vm, &Wire) -> Result<()>;

/// Each of these for each wire.
fn for_each_wire(tests: &[(&'static str, OfWire)]) -> Vec<Test<Stock>> {
    let of = |wire: usize, kind: &'static str| {
        tests.iter().map(move |(name, test)| {
            let test = *test;
            Test::new(format!("{kind}::{name}"), move |stock: &mut Stock| {
                let Some(wire) = stock.wires.get(wire) else {
                    bail!("there is no such wire");
                };
                test(&stock.vm, wire)
            })
        })
    };
    of(0, "trap_sr").chain(of(1, "shared_dac")).collect()
}

/// The name of a test is its function's.
macro_rules! named {
    ($($test:ident),+ $(,)?) => {
        &[$((stringify!($test), $test as OfWire)),+]
    };
}

pub(crate) fn tests(bench: &Option<Bench>) -> Vec<Trial> {
    let plain = for_each_wire(named![
        is_probed_without_complaint,
        answers_pings_of_all_sizes,
        has_carrier_at_10g,
        carries_tcp_unharmed,
        carries_udp_of_every_length,
        counts_what_the_model_counts,
        throttles_its_interrupts,
        notices_when_the_link_goes_and_comes,
        survives_down_and_up,
        leaves_no_note,
    ]);
    let behind_iommu = for_each_wire(named![unbinding_leaves_no_map, carries_tcp_behind_an_iommu]);
    [
        on_machine(bench, "stock-ixgbe", stock, plain),
        on_machine(bench, "stock-ixgbe-iommu", stock_iommu, behind_iommu),
    ]
    .into_iter()
    .flatten()
    .collect()
}
