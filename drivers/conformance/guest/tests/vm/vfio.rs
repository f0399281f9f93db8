//! The three drivers through the kernel's VFIO.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::trace::{expect_same, without_polling};
use conformance::{expect, wait_until, Implementation, TestNic, Totals};
use guest::{Output, Run, Vm};
use libtest_mimic::Trial;
use nic::{Faults, FrameSizes, MmioMode, Port, TraceEntry, TraceTo, Traffic};
use rustix::process::Signal;

use crate::fixture::{bind, machine, on_machine, Environment, Ports, Test};

/// No run here takes so long to end.
const LIMIT: Duration = Duration::from_secs(20);

/// A user who is not root.
const USER: u32 = 1000;
/// Reserves more huge pages than a run uses.
pub(crate) const RESERVE: &str = "echo 64 >/proc/sys/vm/nr_hugepages";

/// A machine whose ports are in an IOMMU group each: slots 3 and 4, and with trapped registers and a
/// trace slots 5 and 6.
struct TwoGroups {
    vm: Vm,
    fast: Ports,
    traced: Ports,
}

fn two_groups(environment: &Environment) -> Result<TwoGroups> {
    let (fast, devices) = Ports::new(0, [3, 4], |config| {
        config.with_each_port(|port| port.sizes = FrameSizes::range(60, 1514).unwrap_or_default())
    })?;
    let (traced, more) = Ports::new(0, [5, 6], |config| {
        config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory)
    })?;
    let vm = environment.boot(&machine("two-groups", Some(48), &[devices, more].concat()))?;
    vm.shell(RESERVE)?;
    for address in fast.addresses.iter().chain(&traced.addresses) {
        bind(&vm, address, "vfio-pci")?;
    }
    Ok(TwoGroups { vm, fast, traced })
}

/// An implementation's forwarder between two ports.
fn forwarder<'vm>(vm: &'vm Vm, implementation: Implementation, ports: &Ports) -> Run<'vm> {
    // The run may remove another user's file, but not write to it.
    vm.program([
        "/bin/sh",
        "-c",
        "rm -f /out/totals.json; exec \"$@\"",
        "sh",
        &format!("/drivers/{implementation}/ixgbe-fwd"),
        "--json",
        "/out/totals.json",
    ])
    .args(ports.addresses.clone())
}

fn totals(vm: &Vm) -> Result<Totals> {
    let text = vm.shell("cat /out/totals.json; rm /out/totals.json")?;
    Totals::parse(&(text + "\n"))
}

/// Runs a forwarder until it has forwarded `frames` frames each way, and checks the rules that hold for
/// every run.
fn forwards(vm: &Vm, ports: &Ports, run: Run<'_>, frames: u64) -> Result<Output> {
    let before = ports.settled()?;
    ports.set_traffic(&Traffic::Saturate);
    let job = run.start()?;
    let flowed = ports.wait_for_traffic(&before, frames);
    if let Err(error) = flowed {
        job.signal(Signal::INT)?;
        let output = job.wait(LIMIT)?;
        return Err(error.context(output.to_string()));
    }
    job.signal(Signal::INT)?;
    let output = job.wait(LIMIT)?;
    ports.set_traffic(&Traffic::Off);
    output.expect_exit(0)?;
    at_rest(ports).with_context(|| output.to_string())?;
    let totals = totals(vm)?;
    totals.check(32)?;
    expect::nothing_lost_since(&before, &ports.settled()?, &totals)?;
    Ok(output)
}

/// Checks that nothing is enabled, no memory is mapped and no DMA fault occurred.
fn at_rest(ports: &Ports) -> Result<()> {
    for port in ports.ports() {
        let state = port.snapshot();
        ensure!(
            state.quiescent(),
            "port {} is not at rest: {state:#?}",
            port.index()
        );
        ensure!(
            state.dma_maps == 0,
            "port {}: memory is still mapped: {:x?}",
            port.index(),
            port.dma_maps()
        );
        ensure!(
            state.dma_faults == 0,
            "port {}: {:#?}",
            port.index(),
            port.dma_faults()
        );
    }
    Ok(())
}

/// Size of a huge page.
const HUGE_PAGE: u64 = 2 << 20;
/// Huge pages of a run: two for each of two pools, and one for each of four rings.
const HUGE_PAGES: usize = 2 * 2 + 4;

/// The IOMMU group of a device.
fn group(vm: &Vm, address: &str) -> Result<String> {
    vm.shell(&format!(
        "basename $(readlink /sys/bus/pci/devices/{address}/iommu_group)"
    ))
}

/// Makes a user the owner of the ports' groups. Dropping it makes root the owner again.
struct GroupOwnership<'vm> {
    vm: &'vm Vm,
    groups: Vec<String>,
}

impl<'vm> GroupOwnership<'vm> {
    fn of(vm: &'vm Vm, user: u32, ports: &Ports) -> Result<Self> {
        let groups = ports.addresses.iter().map(|address| group(vm, address));
        let groups = groups.collect::<Result<Vec<_>>>()?;
        for group in &groups {
            vm.shell(&format!("chown {user} /dev/vfio/{group}"))?;
        }
        Ok(Self { vm, groups })
    }
}

impl Drop for GroupOwnership<'_> {
    fn drop(&mut self) {
        for group in &self.groups {
            // If this fails, a later test fails as well.
            let _ = self.vm.shell(&format!("chown 0 /dev/vfio/{group}"));
        }
    }
}

fn forwards_as_root(machine: &mut TwoGroups, implementation: Implementation) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    forwards(vm, fast, forwarder(vm, implementation, fast), 20_000)?.expect_success()?;
    Ok(())
}

/// The limit of locked memory is exactly the memory that the forwarder maps.
fn forwards_as_the_owner_of_the_groups(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let _owned = GroupOwnership::of(vm, USER, fast)?;
    let limit = HUGE_PAGES as u64 * HUGE_PAGE / 1024;
    let run = forwarder(vm, implementation, fast)
        .user(USER)
        .memlock_kib(limit);
    forwards(vm, fast, run, 20_000)?.expect_success()?;
    Ok(())
}

fn forwards_with_four_queues(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let before = fast.settled()?;
    fast.set_traffic(&Traffic::Saturate);
    let run = forwarder(vm, implementation, fast).args(["--queues", "4", "--duration", "1"]);
    let output = run.run(LIMIT)?;
    fast.set_traffic(&Traffic::Off);
    output.expect_success()?;
    at_rest(fast)?;
    let totals = totals(vm)?;
    totals.check(32)?;
    ensure!(
        totals.queues.len() == 4 && totals.queues.iter().all(|queue| queue.rx > 0),
        "{totals:?}"
    );
    expect::nothing_lost_since(&before, &fast.settled()?, &totals)
}

/// The kernel signals the driver's eventfds. At 1,000 packets a second, a driver sleeps between two packets.
fn sleeps_until_an_interrupt(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let before = fast.settled()?;
    // 5 ms between frames: an emulated processor that was held up has caught up by then, and sleeps.
    // While it is held up, at most the two rings of 64 descriptors fill.
    fast.set_traffic(&Traffic::Rate { mpps: 0.0002 });
    let arguments = ["--interrupts", "--ring-size", "64", "--packets", "400"];
    let run = forwarder(vm, implementation, fast).args(arguments);
    let output = run.run(LIMIT)?;
    fast.set_traffic(&Traffic::Off);
    output.expect_success()?;
    at_rest(fast)?;
    let totals = totals(vm)?;
    totals.check(32)?;
    let more_than_a_few = |count: Option<u64>| count.is_some_and(|count| count > 20);
    ensure!(
        totals.rx == 400 && more_than_a_few(totals.interrupts) && more_than_a_few(totals.sleeps),
        "{totals:?}"
    );
    expect::nothing_lost_since(&before, &fast.settled()?, &totals)
}

/// Runs a forwarder without traffic, and runs `check` meanwhile. Both must succeed.
fn check_during_run(
    vm: &Vm,
    ports: &Ports,
    run: Run<'_>,
    check: impl FnOnce() -> Result<()>,
) -> Result<Output> {
    let job = run.start()?;
    let checked = ports.wait_until_enabled().and_then(|()| {
        // After that the driver waits for the link, and then handles signals.
        std::thread::sleep(Duration::from_millis(700));
        check()
    });
    if job.is_running() {
        job.signal(Signal::TERM)?;
    }
    let output = job.wait(LIMIT)?;
    checked.with_context(|| output.to_string())?;
    output.expect_exit(0)?;
    at_rest(ports).with_context(|| output.to_string())?;
    let totals = totals(vm)?;
    ensure!(
        totals.rx_calls > 0 && totals.rx == totals.tx + totals.dropped,
        "{totals:?}"
    );
    Ok(output)
}

/// The IOVAs that the kernel reserves, for example for interrupts.
fn reserved(vm: &Vm, address: &str) -> Result<Vec<(u64, u64)>> {
    let text = vm.shell(&format!(
        "cat /sys/bus/pci/devices/{address}/iommu_group/reserved_regions"
    ))?;
    let hex = |word: Option<&str>| -> Result<u64> {
        let word = word.with_context(|| format!("reserved_regions: {text:?}"))?;
        Ok(u64::from_str_radix(word.trim_start_matches("0x"), 16)?)
    };
    let region = |line: &str| {
        let mut words = line.split_whitespace();
        Ok((hex(words.next())?, hex(words.next())?))
    };
    text.lines().map(region).collect()
}

/// Checks that both ports see the same maps of 2 MiB, no more than the run uses, outside the kernel's
/// reserved IOVAs and within `bits`.
fn maps_are_exact(vm: &Vm, ports: &Ports, bits: u8) -> Result<()> {
    for (port, address) in ports.ports().iter().zip(&ports.addresses) {
        let maps = port.dma_maps();
        ensure!(
            maps.len() == HUGE_PAGES && maps.iter().all(|(_, size)| *size == HUGE_PAGE),
            "not {HUGE_PAGES} maps of 2 MiB: {maps:x?}"
        );
        ensure!(
            maps == ports.ports()[0].dma_maps(),
            "the ports have different maps: {maps:x?}"
        );
        let reserved = reserved(vm, address)?;
        ensure!(!reserved.is_empty(), "the kernel reserves no IOVAs");
        for (iova, size) in maps {
            let last = iova + (size - 1);
            ensure!(
                iova > 0 && last < 1 << bits,
                "{iova:#x} is not within {bits} bits"
            );
            let clash = reserved
                .iter()
                .find(|(from, to)| iova <= *to && *from <= last);
            ensure!(
                clash.is_none(),
                "{iova:#x} to {last:#x} is reserved: {clash:x?}"
            );
        }
    }
    Ok(())
}

fn maps_exactly_what_it_uses(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let run = forwarder(vm, implementation, fast);
    check_during_run(vm, fast, run, || maps_are_exact(vm, fast, 48))?.expect_success()?;
    Ok(())
}

/// The forwarder warns, and maps the same memory in small pages.
fn runs_without_huge_pages(machine: &mut TwoGroups, implementation: Implementation) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    vm.shell("echo 0 >/proc/sys/vm/nr_hugepages")?;
    let output = forwards(vm, fast, forwarder(vm, implementation, fast), 5_000);
    vm.shell(RESERVE)?;
    output?.expect_stderr(["warning", "huge pages", "make hugepages"])?;
    Ok(())
}

/// Without an IOMMU, VFIO names the device node of a group differently. Debian's kernel has no such
/// mode, so a file stands in for the node.
fn refuses_a_group_in_no_iommu_mode(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let device = format!("/sys/bus/pci/devices/{}", fast.addresses[0]);
    let node = format!("/dev/vfio/noiommu-$(basename $(readlink {device}/iommu_group))");
    vm.shell(&format!("touch {node}"))?;
    let output = forwarder(vm, implementation, fast).run(LIMIT)?;
    vm.shell(&format!("rm {node}"))?;
    output.expect_exit(1)?.expect_stderr([
        &fast.addresses[0],
        "no-IOMMU mode",
        "intel_iommu=on",
    ])?;
    Ok(())
}

/// The forwarder drops and counts the packets that it cannot send.
fn counts_what_it_drops(machine: &mut TwoGroups, implementation: Implementation) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let before = fast.settled()?;
    let mut stalled = Faults::default();
    stalled.stall_tx = true;
    fast.set_faults(stalled);
    fast.set_traffic(&Traffic::Saturate);
    let job = forwarder(vm, implementation, fast).start()?;
    let flowed = wait_until("reception", || {
        let ports = fast.ports().iter().zip(&before);
        ports
            .into_iter()
            .all(|(port, before)| port.stats().delivered > before.delivered + 5_000)
    });
    job.signal(Signal::TERM)?;
    let output = job.wait(LIMIT)?;
    fast.set_traffic(&Traffic::Off);
    fast.set_faults(Faults::default());
    flowed.with_context(|| output.to_string())?;
    output
        .expect_exit(1)?
        .expect_stderr(["TDH", &fast.addresses[0], "not sent"])?;
    at_rest(fast)?;
    let totals = totals(vm)?;
    totals.check(32)?;
    // The card also delivers before the driver clears its counters, so no more can be said of the received packets.
    ensure!(totals.tx == 2 * 511 && totals.dropped > 0, "{totals:?}");
    Ok(())
}

/// The kernel cleans up after a killed driver, and the next driver works.
fn leaves_nothing_when_it_is_killed(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let before = fast.settled()?;
    fast.set_traffic(&Traffic::Saturate);
    let job = forwarder(vm, implementation, fast).start()?;
    let flowed = fast.wait_for_traffic(&before, 2_000);
    job.signal(Signal::KILL)?;
    let output = job.wait(LIMIT)?;
    fast.set_traffic(&Traffic::Off);
    flowed.with_context(|| output.to_string())?;
    ensure!(output.end.signal == Some(Signal::KILL.as_raw()), "{output}");
    at_rest(fast)?;
    forwards(vm, fast, forwarder(vm, implementation, fast), 2_000)?.expect_success()?;
    Ok(())
}

/// Forwards three frames one at a time, so that each run makes the same accesses.
fn frame_by_frame(ports: &[Port]) -> Result<()> {
    for (arrives, leaves) in [(0, 1), (1, 0), (0, 1)] {
        let before = ports[leaves].stats().transmitted;
        ports[arrives].inject(&[0x5a; 60])?;
        wait_until("the frame to be forwarded", || {
            ports[leaves].stats().transmitted == before + 1
        })?;
    }
    Ok(())
}

/// The accesses to registers. The kernel accesses the configuration space, so those accesses are left
/// out. So are the reads of every second, for statistics and by `rx_check`, whose number depends on the
/// machine's speed.
fn registers(trace: Vec<TraceEntry>) -> Vec<TraceEntry> {
    let each_second = ["GPTC", "GOTCL", "GOTCH", "STATUS"];
    let of_a_queue = ["RDH(", "QPTC(", "QPRC(", "QPRDC(", "QBRC_", "QBTC_"];
    let wanted = trace.into_iter().filter(|entry| {
        let register = entry.register.as_str();
        let of_each_second = each_second.contains(&register)
            || of_a_queue.iter().any(|name| register.starts_with(name));
        !register.starts_with("PCI(") && (entry.write || !of_each_second)
    });
    without_polling(wanted.collect())
}

/// The accesses to one port. The order of accesses to different ports does not matter.
fn by_port(trace: &[TraceEntry], port: usize) -> Vec<TraceEntry> {
    trace
        .iter()
        .filter(|entry| entry.port == port)
        .cloned()
        .collect()
}

fn makes_the_same_register_accesses_as_over_vfio_user(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, traced, .. } = machine;
    traced.nic.take_trace();
    let run = forwarder(vm, implementation, traced);
    check_during_run(vm, traced, run, || frame_by_frame(traced.ports()))?.expect_success()?;
    let in_guest = registers(traced.nic.take_trace());

    let nic =
        TestNic::running(|config| config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory))?;
    let mut running = nic.forwarder(implementation)?.start()?;
    wait_until("both ports to be enabled", || {
        let mut states = nic.ports().iter().map(Port::snapshot);
        states.all(|port| port.rx_enabled && port.tx_enabled)
    })?;
    std::thread::sleep(Duration::from_millis(300));
    frame_by_frame(nic.ports())?;
    running.signal(Signal::TERM)?;
    running.wait(LIMIT)?.expect_success()?;
    nic.sessions()?;
    let over_socket = registers(nic.nic().take_trace());

    ensure!(
        over_socket.len() > 100,
        "only {} accesses",
        over_socket.len()
    );
    for port in [0, 1] {
        let [guest, socket] = [&in_guest, &over_socket].map(|trace| by_port(trace, port));
        expect_same(("vfio-user", &socket), ("in the guest", &guest))?;
    }
    Ok(())
}

fn refuses_a_device_of_the_kernels_driver(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let address = &fast.addresses[1];
    // The module takes unbound ports when it is loaded, but all ports are bound.
    vm.shell("grep -q ^ixgbe /proc/modules || insmod /lib/modules/ixgbe.ko")?;
    let bound = bind(vm, address, "ixgbe");
    let output = forwarder(vm, implementation, fast).run(LIMIT);
    bind(vm, address, "vfio-pci")?;
    bound?;
    output?.expect_exit(1)?.expect_stderr([
        address.as_str(),
        "bound to ixgbe, not to vfio-pci",
        &format!("`triptych bind {address}`"),
    ])?;
    at_rest(fast)
}

fn refuses_a_group_of_another_user(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let number = group(vm, &fast.addresses[0])?;
    let output = forwarder(vm, implementation, fast).user(USER).run(LIMIT)?;
    output.expect_exit(1)?.expect_stderr([
        format!("/dev/vfio/{number}"),
        "ermission denied".to_owned(),
        format!("`chown {USER} /dev/vfio/{number}`"),
    ])?;
    at_rest(fast)
}

fn reports_a_low_limit_of_locked_memory(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let _owned = GroupOwnership::of(vm, USER, fast)?;
    let run = forwarder(vm, implementation, fast)
        .user(USER)
        .memlock_kib(8192);
    let output = run.run(LIMIT)?;
    output
        .expect_exit(1)?
        .expect_stderr(["MAP_DMA", "ulimit -l"])?;
    at_rest(fast)
}

fn refuses_a_group_that_another_process_drives(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let run = forwarder(vm, implementation, fast);
    check_during_run(vm, fast, run, || {
        let second = vm.program([&format!("/drivers/{implementation}/ixgbe-fwd")]);
        let output = second.args(fast.addresses.clone()).run(LIMIT)?;
        output
            .expect_exit(1)?
            .expect_stderr(["/dev/vfio/", "another process drives it"])?;
        Ok(())
    })?
    .expect_success()?;
    Ok(())
}

/// The kernel requests the device and waits until the driver returns it.
fn returns_a_device_that_is_unbound(
    machine: &mut TwoGroups,
    implementation: Implementation,
) -> Result<()> {
    let TwoGroups { vm, fast, .. } = machine;
    let before = fast.settled()?;
    fast.set_traffic(&Traffic::Saturate);
    let job = forwarder(vm, implementation, fast).start()?;
    let flowed = fast.wait_for_traffic(&before, 1_000);
    let address = &fast.addresses[1];
    let unbind = vm
        .script(&format!(
            "echo {address} >/sys/bus/pci/drivers/vfio-pci/unbind"
        ))
        .start()?;
    let output = job.wait(LIMIT);
    unbind.wait(LIMIT)?.expect_success()?;
    fast.set_traffic(&Traffic::Off);
    let output = output?;
    flowed.with_context(|| output.to_string())?;
    output
        .expect_exit(1)?
        .expect_stderr([address, "unbound or removed", "`triptych bind "])?;
    let state = fast.ports()[0].snapshot();
    ensure!(state.quiescent() && state.dma_maps == 0, "{state:#?}");
    bind(vm, address, "vfio-pci")?;
    let run = forwarder(vm, implementation, fast);
    check_during_run(vm, fast, run, || frame_by_frame(fast.ports()))?.expect_success()?;
    Ok(())
}

/// A machine with two ports in one IOMMU group behind an IOMMU of 39 bits, and with three NICs that
/// disappear in a test.
struct OneGroup {
    vm: Vm,
    ports: Ports,
    /// NICs that disappear, one for each implementation.
    disposable: Vec<Ports>,
}

fn one_group(environment: &Environment) -> Result<OneGroup> {
    let (ports, devices) = Ports::new(1, [1, 2], |config| config)?;
    let mut devices = devices.to_vec();
    let mut disposable = Vec::new();
    for slot in [3, 5, 7] {
        let (ports, more) = Ports::new(0, [slot, slot + 1], |config| config)?;
        devices.extend(more);
        disposable.push(ports);
    }
    let vm = environment.boot(&machine("one-group", Some(39), &devices))?;
    vm.shell(RESERVE)?;
    for address in disposable
        .iter()
        .chain([&ports])
        .flat_map(|ports| &ports.addresses)
    {
        bind(&vm, address, "vfio-pci")?;
    }
    // When a driver closes a device that has disappeared, the kernel tries to reset it for a minute.
    // Without a reset method it does not try.
    for address in disposable.iter().flat_map(|ports| &ports.addresses) {
        vm.shell(&format!(
            "echo >/sys/bus/pci/devices/{address}/reset_method"
        ))?;
    }
    Ok(OneGroup {
        vm,
        ports,
        disposable,
    })
}

fn forwards_between_ports_of_one_group(
    machine: &mut OneGroup,
    implementation: Implementation,
) -> Result<()> {
    let OneGroup { vm, ports, .. } = machine;
    let [a, b] = &ports.addresses;
    ensure!(
        group(vm, a)? == group(vm, b)?,
        "the ports are in two groups"
    );
    forwards(vm, ports, forwarder(vm, implementation, ports), 20_000)?.expect_success()?;
    Ok(())
}

fn maps_within_39_bits(machine: &mut OneGroup, implementation: Implementation) -> Result<()> {
    let OneGroup { vm, ports, .. } = machine;
    let run = forwarder(vm, implementation, ports);
    check_during_run(vm, ports, run, || maps_are_exact(vm, ports, 39))?.expect_success()?;
    Ok(())
}

fn refuses_a_group_that_is_not_viable(
    machine: &mut OneGroup,
    implementation: Implementation,
) -> Result<()> {
    let OneGroup {
        vm,
        ports,
        disposable,
    } = machine;
    vm.shell("grep -q ^ixgbe /proc/modules || insmod /lib/modules/ixgbe.ko")?;
    let [a, b] = &ports.addresses;
    let bound = bind(vm, b, "ixgbe");
    let program = format!("/drivers/{implementation}/ixgbe-fwd");
    let other = &disposable[0].addresses[0];
    let output = vm.program([&program, a, other]).run(LIMIT);
    bind(vm, b, "vfio-pci")?;
    bound?;
    let number = group(vm, a)?;
    output?.expect_exit(1)?.expect_stderr([
        format!("IOMMU group {number} is not viable"),
        "`triptych ".to_owned(),
    ])?;
    at_rest(ports)
}

/// The NIC disappears, and does not come back for a later test.
fn reports_that_the_nic_has_disappeared(
    machine: &mut OneGroup,
    implementation: Implementation,
) -> Result<()> {
    let OneGroup { vm, disposable, .. } = machine;
    let mut ports = disposable
        .pop()
        .context("all disposable NICs are used up")?;
    let before = ports.settled()?;
    ports.set_traffic(&Traffic::Saturate);
    let job = forwarder(vm, implementation, &ports).start()?;
    let flowed = ports.wait_for_traffic(&before, 1_000);
    ports.nic.stop();
    let output = job.wait(LIMIT)?;
    flowed.with_context(|| output.to_string())?;
    output
        .expect_exit(1)?
        .expect_stderr([&ports.addresses[0], "the device is gone"])?;
    Ok(())
}

/// A machine without an IOMMU.
struct NoIommu {
    vm: Vm,
    ports: Ports,
}

fn no_iommu(environment: &Environment) -> Result<NoIommu> {
    let (ports, devices) = Ports::new(0, [3, 4], |config| config)?;
    let vm = environment.boot(&machine("no-iommu", None, &devices))?;
    Ok(NoIommu { vm, ports })
}

fn reports_that_the_iommu_is_off(
    machine: &mut NoIommu,
    implementation: Implementation,
) -> Result<()> {
    let NoIommu { vm, ports } = machine;
    let output = forwarder(vm, implementation, ports).run(LIMIT)?;
    output.expect_exit(1)?.expect_stderr([
        &ports.addresses[0],
        "no IOMMU group",
        "intel_iommu=on",
    ])?;
    Ok(())
}

/// A test's name and function.
type NamedTest<T> = (&'static str, fn(&mut T, Implementation) -> Result<()>);

/// Makes a test of each function for each implementation.
fn for_each<T: 'static>(tests: &[NamedTest<T>]) -> Vec<Test<T>> {
    let of = |implementation: Implementation| {
        tests.iter().map(move |(name, test)| {
            let (name, test) = (format!("{implementation}::{name}"), *test);
            Test::new(name, move |machine: &mut T| test(machine, implementation))
        })
    };
    Implementation::OURS.into_iter().flat_map(of).collect()
}

/// Pairs each test function with its name.
macro_rules! named {
    ($($test:ident),+ $(,)?) => {
        &[$((stringify!($test), $test as _)),+]
    };
}

pub(crate) fn tests(environment: &Option<Environment>) -> Vec<Trial> {
    let of_two_groups = for_each::<TwoGroups>(named![
        forwards_as_root,
        forwards_with_four_queues,
        sleeps_until_an_interrupt,
        forwards_as_the_owner_of_the_groups,
        maps_exactly_what_it_uses,
        refuses_a_group_in_no_iommu_mode,
        runs_without_huge_pages,
        counts_what_it_drops,
        leaves_nothing_when_it_is_killed,
        makes_the_same_register_accesses_as_over_vfio_user,
        refuses_a_device_of_the_kernels_driver,
        refuses_a_group_of_another_user,
        reports_a_low_limit_of_locked_memory,
        refuses_a_group_that_another_process_drives,
        returns_a_device_that_is_unbound,
    ]);
    let of_one_group = for_each::<OneGroup>(named![
        forwards_between_ports_of_one_group,
        maps_within_39_bits,
        refuses_a_group_that_is_not_viable,
    ]);
    let of_disposable = for_each::<OneGroup>(named![reports_that_the_nic_has_disappeared]);
    let of_no_iommu = for_each::<NoIommu>(named![reports_that_the_iommu_is_off]);
    [
        on_machine(environment, "two-groups", two_groups, of_two_groups),
        on_machine(
            environment,
            "one-group",
            one_group,
            [of_one_group, of_disposable]
                .into_iter()
                .flatten()
                .collect(),
        ),
        on_machine(environment, "no-iommu", no_iommu, of_no_iommu),
    ]
    .into_iter()
    .flatten()
    .collect()
}
