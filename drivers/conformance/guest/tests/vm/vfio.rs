//! The three drivers through the kernel's VFIO.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::trace::{expect_same, without_polling};
use conformance::{wait_until, Implementation, TestNic};
use libtest_mimic::Trial;
use nic::{Faults, FrameSizes, MmioMode, Port, TraceEntry, TraceTo, Traffic};
use rustix::process::Signal;

use crate::environment::{Environment, Prepared};
use crate::fixture::{named, on_machine, test, Ports, Test};
use crate::rig::{Machine, Rig, LIMIT};
use crate::scripts::{Script, Scripts};
use crate::vm::{Device, Vm, SHARED_BUS};

/// More huge pages than a run uses.
const RESERVE: &str = "pages 64";
/// Size of a huge page.
const HUGE_PAGE: u64 = 2 << 20;
/// Huge pages of a run: two for each of two pools, and one for each of four rings.
const HUGE_PAGES: usize = 2 * 2 + 4;

/// Boots a machine, and binds all ports to VFIO.
fn boot(
    environment: &Environment,
    name: &str,
    address_bits: u8,
    (devices, ports, others): (Vec<Device>, Ports, Vec<Ports>),
) -> Result<Machine> {
    let vm = Vm::boot(environment, name, Some(address_bits), &devices)?;
    vm.shell(RESERVE)?;
    for address in others
        .iter()
        .chain([&ports])
        .flat_map(|ports| &ports.addresses)
    {
        vm.shell(format!("bind {address} vfio-pci"))?;
    }
    Ok(Machine::new(vm, ports, others))
}

/// Each port is in an IOMMU group of its own: slots 3 and 4, and with trapped registers and a trace slots 5 and 6.
fn two_groups(environment: &Environment, name: &str) -> Result<Machine> {
    let mut devices = Vec::new();
    let ports = Ports::new(&mut devices, 0, 3, |config| {
        config.with_each_port(|port| port.sizes = FrameSizes::range(60, 1514).unwrap_or_default())
    })?;
    let traced = Ports::new(&mut devices, 0, 5, |config| {
        config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory)
    })?;
    boot(environment, name, 48, (devices, ports, vec![traced]))
}

/// Both ports are in one group behind an IOMMU of 39 bits. Three other NICs disappear, one for each driver.
fn one_group(environment: &Environment, name: &str) -> Result<Machine> {
    let mut devices = Vec::new();
    let ports = Ports::new(&mut devices, SHARED_BUS, 1, |config| config)?;
    let mut disposable = |slot| Ports::new(&mut devices, 0, slot, |config| config);
    let others = vec![disposable(3)?, disposable(5)?, disposable(7)?];
    let machine = boot(environment, name, 39, (devices, ports, others))?;
    // When a driver closes a device that has disappeared, the kernel tries to reset it for a minute.
    // Without a reset method it does not try.
    let reset_methods = "/sys/bus/pci/devices/0000:00:0[3-8].0/reset_method";
    machine.vm.shell(format!(
        "for method in {reset_methods}; do echo >$method; done"
    ))?;
    Ok(machine)
}

/// A machine without an IOMMU.
fn no_iommu(environment: &Environment, name: &str) -> Result<Machine> {
    let mut devices = Vec::new();
    let ports = Ports::new(&mut devices, 0, 3, |config| config)?;
    let vm = Vm::boot(environment, name, None, &devices)?;
    Ok(Machine::new(vm, ports, Vec::new()))
}

fn forwards_as_root(rig: &Rig) -> Result<()> {
    rig.forwards_frames(rig.forwarder(), 20_000)
}

/// The limit of locked memory is exactly the memory that the forwarder maps.
fn forwards_as_the_owner_of_the_groups(rig: &Rig) -> Result<()> {
    let [a, b] = &rig.ports.addresses;
    let groups = format!("/dev/vfio/$(group {a}) /dev/vfio/$(group {b})");
    let own = |user| rig.shell(format!("chown {user} {groups}"));
    let limit = HUGE_PAGES as u64 * HUGE_PAGE / 1024;
    own("user")?;
    let script = format!("ulimit -l {limit}; exec su user -c '{}'", rig.forwarder());
    let forwarded = rig.forwards_frames(script, 20_000);
    own("root")?;
    forwarded
}

fn forwards_with_four_queues(rig: &Rig) -> Result<()> {
    let script = rig.forwarder() + " --queues 4 --duration 1";
    let totals = rig.forwards(Traffic::Saturate, script, &|_, _| Ok(()))?;
    let all = totals.queues.len() == 4 && totals.queues.iter().all(|queue| queue.rx > 0);
    ensure!(all, "{totals:?}");
    Ok(())
}

/// The kernel signals the driver's eventfds. The driver sleeps between two packets.
fn sleeps_until_an_interrupt(rig: &Rig) -> Result<()> {
    // 5 ms between frames: an emulated processor that was held up has caught up by then, and sleeps.
    // While it is held up, at most the two rings of 64 descriptors fill.
    let traffic = Traffic::Rate { mpps: 0.0002 };
    let script = rig.forwarder() + " --interrupts --ring-size 64 --packets 400";
    let totals = rig.forwards(traffic, script, &|_, _| Ok(()))?;
    let more_than_a_few = |count: Option<u64>| count.is_some_and(|count| count > 20);
    ensure!(
        totals.rx == 400 && more_than_a_few(totals.interrupts) && more_than_a_few(totals.sleeps),
        "{totals:?}"
    );
    Ok(())
}

/// The forwarder warns, and maps the same memory in small pages.
fn runs_without_huge_pages(rig: &Rig) -> Result<()> {
    rig.shell("pages 0".to_owned())?;
    let script = format!("exec 2>/out/warning; {}", rig.forwarder());
    let forwarded = rig.forwards_frames(script, 5_000);
    rig.shell(RESERVE.to_owned())?;
    forwarded?;
    let warning = rig.machine.vm.run("cat /out/warning; rm /out/warning")?;
    warning.expect_stdout(&["warning", "huge pages", "make hugepages"])?;
    Ok(())
}

/// The forwarder drops and counts the packets that it cannot send.
fn counts_what_it_drops(rig: &Rig) -> Result<()> {
    let mut stalled = Faults::default();
    stalled.stall_tx = true;
    rig.ports.set_faults(stalled);
    let ended = rig.under_traffic(Traffic::Saturate, rig.forwarder(), &|job, before| {
        wait_until("reception", || {
            let mut ports = rig.ports.ports.iter().zip(before);
            ports.all(|(port, before)| port.stats().delivered > before.delivered + 5_000)
        })?;
        job.signal(Signal::TERM)
    });
    rig.ports.set_faults(Faults::default());
    let (_, output) = ended?;
    output.expect_failure(["TDH", &*rig.ports.addresses[0], "not sent"])?;
    rig.ports.at_rest()?;
    let totals = rig.totals()?;
    // The card also delivers before the driver clears its counters, so no more can be said of the received packets.
    ensure!(totals.tx == 2 * 511 && totals.dropped > 0, "{totals:?}");
    Ok(())
}

/// The kernel cleans up after a killed driver, and the next driver works.
fn leaves_nothing_when_it_is_killed(rig: &Rig) -> Result<()> {
    let (_, output) = rig.under_traffic(Traffic::Saturate, rig.forwarder(), &|job, before| {
        rig.ports.wait_for_traffic(before, 2_000)?;
        job.signal(Signal::KILL)
    })?;
    let killed = output.status.signal() == Some(Signal::KILL.as_raw());
    ensure!(killed, "{output}");
    rig.ports.at_rest()?;
    rig.forwards_frames(rig.forwarder(), 2_000)
}

/// The IOVAs that the kernel reserves for a device, for example for interrupts.
fn reserved(rig: &Rig, address: &str) -> Result<Vec<(u64, u64)>> {
    let group = format!("/sys/bus/pci/devices/{address}/iommu_group");
    let text = rig.shell(format!("cat {group}/reserved_regions"))?;
    let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let region = |line: &str| {
        let mut words = line.split_whitespace().filter_map(hex);
        Some((words.next()?, words.next()?))
    };
    let regions: Option<_> = text.lines().map(region).collect();
    regions.with_context(|| format!("reserved_regions: {text:?}"))
}

/// Checks that both ports see the same maps of 2 MiB, no more than the run uses, outside the kernel's
/// reserved IOVAs and within `bits`.
fn maps_exactly(rig: &Rig, bits: u8) -> Result<()> {
    let [maps, others] = [0, 1].map(|port| rig.ports.ports[port].dma_maps());
    let exact = maps.len() == HUGE_PAGES && maps.iter().all(|(_, size)| *size == HUGE_PAGE);
    ensure!(exact, "not {HUGE_PAGES} maps of 2 MiB: {maps:x?}");
    ensure!(maps == others, "the ports differ: {maps:x?}, {others:x?}");
    for address in &rig.ports.addresses {
        let reserved = reserved(rig, address)?;
        ensure!(!reserved.is_empty(), "the kernel reserves no IOVAs");
        for (iova, size) in &maps {
            let last = iova + (size - 1);
            let within = *iova > 0 && last < 1 << bits;
            ensure!(within, "{iova:#x} is not within {bits} bits");
            let mut reserved = reserved.iter();
            let clash = reserved.find(|(from, to)| iova <= to && *from <= last);
            ensure!(clash.is_none(), "{iova:#x} is reserved: {clash:x?}");
        }
    }
    Ok(())
}

fn maps_exactly_what_it_uses(rig: &Rig) -> Result<()> {
    rig.check_meanwhile(|| maps_exactly(rig, 48))
}

fn maps_within_39_bits(rig: &Rig) -> Result<()> {
    rig.check_meanwhile(|| maps_exactly(rig, 39))
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

/// The accesses to the registers of each port. The kernel accesses the configuration space, so those accesses are left
/// out. So are the reads of every second, for statistics and by `rx_check`, whose number depends on the machine's speed.
/// The order of accesses to different ports does not matter.
fn registers(trace: Vec<TraceEntry>) -> [Vec<TraceEntry>; 2] {
    let each_second = [
        "GPTC", "GOTCL", "GOTCH", "STATUS", "RDH(", "QPTC(", "QPRC(", "QPRDC(", "QBRC_", "QBTC_",
    ];
    let of_port = |port| {
        let wanted = trace.iter().filter(|entry| {
            let register = entry.register.as_str();
            let repeated = each_second.iter().any(|name| {
                register == *name || name.ends_with(['(', '_']) && register.starts_with(name)
            });
            entry.port == port && !register.starts_with("PCI(") && (entry.write || !repeated)
        });
        without_polling(wanted.cloned().collect())
    };
    [of_port(0), of_port(1)]
}

fn makes_the_same_register_accesses_as_over_vfio_user(rig: &Rig) -> Result<()> {
    let others = rig.machine.others.borrow();
    let ports = others.first().context("the machine has no traced ports")?;
    ports.nic.borrow().take_trace();
    let rig = Rig { ports, ..*rig };
    rig.check_meanwhile(|| frame_by_frame(&ports.ports))?;
    let in_guest = registers(ports.nic.borrow().take_trace());

    let nic =
        TestNic::running(|config| config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory))?;
    let mut running = nic.forwarder(rig.driver)?.start()?;
    nic.wait_until_running([0, 1])?;
    std::thread::sleep(Duration::from_millis(300));
    frame_by_frame(nic.ports())?;
    running.signal(Signal::TERM)?;
    running.wait(LIMIT)?.expect_success()?;
    nic.sessions()?;
    let over_socket = registers(nic.nic().take_trace());

    for (guest, socket) in in_guest.iter().zip(&over_socket) {
        ensure!(socket.len() > 50, "only {} accesses", socket.len());
        expect_same(("vfio-user", socket), ("in the guest", guest))?;
    }
    Ok(())
}

fn refuses_a_group_that_another_process_drives(rig: &Rig) -> Result<()> {
    rig.check_meanwhile(|| {
        // The first one writes totals.
        let second = rig
            .forwarder()
            .replace("/out/totals.json", "/out/none.json");
        let second = rig.machine.vm.run(second)?;
        second.expect_failure(&["/dev/vfio/", "another process drives it"])?;
        Ok(())
    })
}

/// The kernel requests the device and waits until the driver returns it.
fn returns_a_device_that_is_unbound(rig: &Rig) -> Result<()> {
    let address = &*rig.ports.addresses[1];
    let unbind = format!("echo {address} >/sys/bus/pci/drivers/vfio-pci/unbind");
    let (unbind, output) =
        rig.under_traffic(Traffic::Saturate, rig.forwarder(), &|_, before| {
            rig.ports.wait_for_traffic(before, 1_000)?;
            rig.machine.vm.start(&*unbind)
        })?;
    unbind.wait(LIMIT)?.expect_silence()?;
    output.expect_failure([address, "unbound or removed", "`triptych bind "])?;
    let state = rig.ports.ports[0].snapshot();
    ensure!(state.quiescent() && state.dma_maps == 0, "{state:#?}");
    rig.shell(format!("bind {address} vfio-pci"))?;
    rig.check_meanwhile(|| frame_by_frame(&rig.ports.ports))
}

fn forwards_between_ports_of_one_group(rig: &Rig) -> Result<()> {
    let [a, b] = &rig.ports.addresses;
    rig.shell(format!("[ $(group {a}) = $(group {b}) ]"))?;
    rig.forwards_frames(rig.forwarder(), 20_000)
}

/// The NIC disappears, and does not come back for a later test.
fn reports_that_the_nic_has_disappeared(rig: &Rig) -> Result<()> {
    let ports = rig.machine.others.borrow_mut().pop();
    let ports = &ports.context("all disposable NICs are used up")?;
    let rig = Rig { ports, ..*rig };
    let (_, output) = rig.under_traffic(Traffic::Saturate, rig.forwarder(), &|_, before| {
        ports.wait_for_traffic(before, 1_000)?;
        ports.nic.borrow_mut().stop();
        Ok(())
    })?;
    output.expect_failure([&*ports.addresses[0], "the device is gone"])?;
    Ok(())
}

type NamedTest = (&'static str, fn(&Rig) -> Result<()>);

/// Makes a test for each driver of each function, and of each script of the machine.
fn for_each_driver(tests: &[NamedTest], scripts: Option<&Vec<Script>>) -> Vec<Test<Machine>> {
    let mut all = Vec::new();
    for driver in Implementation::OURS {
        // The last function needs a NIC that the scripts use.
        for script in scripts.into_iter().flatten().cloned() {
            let forwarder = format!("/drivers/{driver}/ixgbe-fwd");
            all.push(test(format!("{driver}::{}", script.name), move |machine| {
                script.run(machine, &forwarder)
            }));
        }
        for (name, run) in tests.iter().copied() {
            all.push(test(
                format!("{driver}::{name}"),
                move |machine: &Machine| {
                    let ports = &machine.ports;
                    run(&Rig {
                        machine,
                        ports,
                        driver,
                    })
                },
            ));
        }
    }
    all
}

pub(crate) fn tests(environment: &Prepared, scripts: &Scripts) -> Vec<Trial> {
    let of_two_groups = named![
        forwards_as_root,
        forwards_with_four_queues,
        sleeps_until_an_interrupt,
        forwards_as_the_owner_of_the_groups,
        maps_exactly_what_it_uses,
        runs_without_huge_pages,
        counts_what_it_drops,
        leaves_nothing_when_it_is_killed,
        makes_the_same_register_accesses_as_over_vfio_user,
        refuses_a_group_that_another_process_drives,
        returns_a_device_that_is_unbound,
    ];
    let of_one_group = named![
        forwards_between_ports_of_one_group,
        maps_within_39_bits,
        reports_that_the_nic_has_disappeared,
    ];
    let of = |machine, boot: fn(&Environment, &str) -> _, tests: &[_]| {
        let tests = for_each_driver(tests, scripts.get(machine));
        on_machine(environment, machine, boot, tests)
    };
    let mut all = of("two-groups", two_groups, &of_two_groups);
    all.extend(of("one-group", one_group, &of_one_group));
    all.extend(of("no-iommu", no_iommu, &[]));
    all
}
