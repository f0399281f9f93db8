//! What goes wrong around a driver: each ends it within ten seconds, with exit status 1 and a
//! message that names the device, says what is wrong and what to do.

use std::os::unix::net::UnixListener;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{
    expect, for_each_implementation, processors, wait_until, Implementation, Output, Program,
    TestNic,
};
use nic::{MmioMode, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_socket_that_is_not_there,
    a_socket_path_that_is_too_long,
    a_file_that_is_no_socket,
    a_name_that_is_no_device,
    a_pci_address_without_a_device,
    whatever_never_happens_is_waited_for_within_bounds,
    a_server_that_hangs_up,
    a_server_that_talks_nonsense,
    a_device_of_an_unknown_kind,
    devices_of_all_known_kinds_are_driven,
    a_device_that_never_finishes_its_reset,
    a_nic_that_is_killed_in_mid_traffic,
    a_nic_that_disconnects_in_mid_traffic,
    totals_that_cannot_be_written,
    totals_for_a_full_disk,
    the_second_device_fails,
);

/// What every failure must stay within.
const LIMIT: Duration = Duration::from_secs(10);

/// A device that is not looked for any more when the first has failed.
const OTHER: &str = "vfio-user:/nonexistent/other.sock";

/// Runs a forwarder on these devices, which must end it with exit status 1 and one line that says
/// all of `says`.
fn expect_failure(
    implementation: Implementation,
    devices: [&str; 2],
    says: &[&str],
) -> Result<Output> {
    let output = Program::forwarder(implementation)?
        .args(devices)
        .run(LIMIT)?;
    check_failure(&output, says)?;
    Ok(output)
}

fn check_failure(output: &Output, says: &[&str]) -> Result<()> {
    output.expect_exit(1)?.expect_says(says)?;
    let lines: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| !line.contains("huge pages"))
        .collect();
    ensure!(lines.len() == 1, "not one message: {output}");
    ensure!(
        lines[0].starts_with("ixgbe-fwd: "),
        "the message is not the program's: {output}"
    );
    Ok(())
}

fn a_socket_that_is_not_there(implementation: Implementation) -> Result<()> {
    let device = "vfio-user:/nonexistent/port0.sock";
    let says = [
        device,
        "No such file or directory",
        "is the software NIC running",
    ];
    let output = expect_failure(implementation, [device, OTHER], &says)?;
    // The cause is told once.
    let causes = output.stderr.matches("No such file or directory").count();
    ensure!(causes == 1, "{output}");
    Ok(())
}

fn a_socket_path_that_is_too_long(implementation: Implementation) -> Result<()> {
    // 107 characters fit into an address; that is tried, and not found.
    let longest = format!("vfio-user:/{}", "x".repeat(106));
    expect_failure(
        implementation,
        [&longest, OTHER],
        &[&longest, "No such file"],
    )?;
    for length in [107, 500, 5000] {
        let device = format!("vfio-user:/{}", "x".repeat(length));
        expect_failure(implementation, [&device, OTHER], &["xxxx", "character"])?;
    }
    expect_failure(
        implementation,
        ["vfio-user:", OTHER],
        &["vfio-user:", "1 to 107 characters"],
    )?;
    Ok(())
}

fn a_file_that_is_no_socket(implementation: Implementation) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let device = format!("vfio-user:{}", file.path().display());
    expect_failure(
        implementation,
        [&device, OTHER],
        &[&device, "Connection refused", "is the software NIC running"],
    )?;
    Ok(())
}

fn a_name_that_is_no_device(implementation: Implementation) -> Result<()> {
    for name in [
        "eth0",
        "03:00.0",
        "0000:03:00.0/../x",
        "0000:zz:00.0",
        "vfio:/x",
        "",
        " ",
    ] {
        let says = [name, "not a device", "0000:03:00.0", "vfio-user:PATH"];
        expect_failure(implementation, [name, OTHER], &says)?;
    }
    Ok(())
}

fn a_pci_address_without_a_device(implementation: Implementation) -> Result<()> {
    let address = "ffff:ff:1f.7";
    expect_failure(
        implementation,
        [address, OTHER],
        &[address, "no such PCI device", "lspci"],
    )?;
    Ok(())
}

/// A server that accepts a driver and then does with the connection what `serve` does.
fn with_server(
    implementation: Implementation,
    serve: impl FnOnce(std::os::unix::net::UnixStream) + Send + 'static,
    says: &[&str],
) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("server.sock");
    let listener = UnixListener::bind(&path)?;
    let device = format!("vfio-user:{}", path.display());
    let server = std::thread::spawn(move || listener.accept().map(|(stream, _)| serve(stream)));
    let output = expect_failure(implementation, [&device, OTHER], says)?;
    output.expect_says([&device])?;
    ensure!(
        server.join().is_ok_and(|accepted| accepted.is_ok()),
        "the server had no visitor"
    );
    Ok(())
}

fn a_server_that_hangs_up(implementation: Implementation) -> Result<()> {
    with_server(implementation, drop, &["went away", "start it again"])
}

fn a_server_that_talks_nonsense(implementation: Implementation) -> Result<()> {
    let nonsense = |mut stream: std::os::unix::net::UnixStream| {
        let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    };
    with_server(implementation, nonsense, &["vfio-user server", "protocol"])
}

fn a_device_of_an_unknown_kind(implementation: Implementation) -> Result<()> {
    for id in [0x1521, 0x10c9, 0x1572, 0xffff] {
        let nic = TestNic::still(|config| config.with_each_port(|port| port.device_id = id))?;
        let [device_a, device_b] = nic.devices();
        let says = [
            &device_a,
            &format!("8086:{id:04x}"),
            "82599",
            "X540",
            "X550",
        ];
        expect_failure(implementation, [&device_a, &device_b], &says)?;
        // It was not touched: no register was written, no bus master, no memory.
        wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;
        let session = nic.ports()[0]
            .last_session()
            .context("there was no driver")?;
        ensure!(session.resets == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    Ok(())
}

fn devices_of_all_known_kinds_are_driven(implementation: Implementation) -> Result<()> {
    for id in [0x10fb, 0x154d, 0x1528, 0x1560, 0x1563, 0x15ad] {
        let mut nic = TestNic::running(|config| {
            config.with_each_port(|port| {
                port.device_id = id;
                port.traffic = Traffic::Saturate;
            })
        })?;
        let output = nic
            .forwarder(implementation)?
            .args(["--packets", "5000"])
            .run(LIMIT)?;
        output.expect_success()?;
        nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
        nic.stop_data_plane()?;
        expect::nothing_lost(nic.ports(), &output.totals()?)?;
    }
    Ok(())
}

fn a_device_that_never_finishes_its_reset(implementation: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| {
        config.with_each_port(|port| port.faults.never_finish_reset = true)
    })?;
    let [device_a, device_b] = nic.devices();
    let says = [
        &device_a,
        "CTRL.RST",
        "reset the device",
        "restart the software NIC",
    ];
    expect_failure(implementation, [&device_a, &device_b], &says)?;
    for session in nic.sessions()? {
        ensure!(
            session.snapshot.quiescent() && session.snapshot.dma_maps == 0,
            "{session:#?}"
        );
    }
    Ok(())
}

/// A server that does not accept, one that accepts and does not answer, and a device whose link
/// does not come up. All at once, because each takes a driver some seconds.
fn whatever_never_happens_is_waited_for_within_bounds(
    implementation: Implementation,
) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let listen = |name: &str| -> Result<_> {
        let path = directory.path().join(name);
        Ok((
            UnixListener::bind(&path)?,
            format!("vfio-user:{}", path.display()),
        ))
    };
    let start = |device: &str, other: &str| {
        Program::forwarder(implementation)?
            .args([device, other])
            .start()
    };

    let (_not_accepting, deaf) = listen("deaf.sock")?;
    let not_accepted = start(&deaf, OTHER)?;

    let (accepting, mute) = listen("mute.sock")?;
    let not_answered = start(&mute, OTHER)?;
    let connection = accepting.accept()?;

    let nic = TestNic::still(|config| config.with_each_port(|port| port.faults.no_link = true))?;
    let mut data_plane = nic.nic().data_plane()?;
    let [device_a, device_b] = nic.devices();
    let not_linked = start(&device_a, &device_b)?;
    // The data plane is wanted for nothing but to switch the queues on, now and then.
    let mut not_linked = not_linked;
    wait_until("the driver to wait for the link, or to give up", || {
        data_plane.poll();
        let state = nic.ports()[0].snapshot();
        !state.tx_queues.is_empty() || !not_linked.is_running().unwrap_or(false)
    })?;

    for (running, device) in [(not_accepted, &deaf), (not_answered, &mute)] {
        check_failure(
            &running.wait(LIMIT)?,
            &[device, "no answer", "stopped or stuck"],
        )?;
    }
    drop(connection);
    check_failure(&not_linked.wait(LIMIT)?, &[&device_a, "LINKS.UP", "cable"])?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(!state.bus_master && state.dma_maps == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    Ok(())
}

/// The process is gone from one moment to the next, with the memory it shared still mapped.
fn a_nic_that_is_killed_in_mid_traffic(implementation: Implementation) -> Result<()> {
    for mmio in ["shared", "trap"] {
        let _processors = processors();
        let directory = tempfile::tempdir()?;
        let mut nic = Program::nic()?
            .arg("--socket-dir")
            .arg(directory.path())
            .args(["--traffic", "saturate", "--mmio", mmio])
            .start()?;
        wait_until("the NIC to be ready", || {
            nic.stdout_so_far().is_ok_and(|text| text.contains("ready"))
        })?;
        let devices =
            [0, 1].map(|port| format!("vfio-user:{}/port{port}.sock", directory.path().display()));
        let mut running = Program::forwarder(implementation)?
            .json(directory.path().join("totals.json"))
            .args(&devices)
            .start()?;
        // Rates are printed: it is in mid-traffic. Or it has ended, which the signal below reveals.
        wait_until("a line with rates", || {
            let rates = running
                .stdout_so_far()
                .is_ok_and(|text| text.contains("Mpps"));
            rates || !running.is_running().unwrap_or(false)
        })?;
        nic.signal(Signal::KILL)?;
        let output = running.wait(LIMIT)?;
        check_failure(&output, &["vfio-user:", "went away", "start it again"])?;
        ensure!(
            devices.iter().any(|device| output.stderr.contains(device)),
            "{output}"
        );
        let totals = output.totals()?;
        totals.check(32)?;
        ensure!(totals.rx > 0, "{totals:?}");
    }
    Ok(())
}

/// The same, in an orderly way: the NIC closes its sockets, while its memory and its data plane
/// go on.
fn a_nic_that_disconnects_in_mid_traffic(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut nic = TestNic::running(|config| {
            config
                .with_mmio(mmio)
                .with_each_port(|port| port.traffic = Traffic::Saturate)
        })?;
        let running = nic.forwarder(implementation)?.start()?;
        nic.wait_for_traffic(10_000)?;
        nic.stop();
        let output = running.wait(LIMIT)?;
        check_failure(&output, &["vfio-user:", "went away", "start it again"])?;
        let totals = output.totals()?;
        totals.check(32)?;
        ensure!(totals.rx >= 20_000, "{totals:?}");
    }
    Ok(())
}

/// Found out before the run, not after it: the devices are not even looked for.
fn totals_that_cannot_be_written(implementation: Implementation) -> Result<()> {
    let directory = tempfile::tempdir()?;
    for (path, cause) in [
        (
            directory.path().join("no/such/folder/totals.json"),
            "No such file",
        ),
        (directory.path().to_owned(), "Is a directory"),
    ] {
        let program = Program::forwarder(implementation)?.json(&path);
        let output = program
            .args(["vfio-user:/nonexistent/a.sock", OTHER])
            .run(LIMIT)?;
        check_failure(&output, &[&path.display().to_string(), cause])?;
        ensure!(
            !output.stderr.contains("vfio-user:"),
            "the device came first: {output}"
        );
    }
    Ok(())
}

fn totals_for_a_full_disk(implementation: Implementation) -> Result<()> {
    let nic =
        TestNic::running(|config| config.with_each_port(|port| port.traffic = Traffic::Saturate))?;
    let output = Program::forwarder(implementation)?
        .json("/dev/full")
        .args(["--packets", "1000"])
        .args(nic.devices())
        .run(LIMIT)?;
    check_failure(&output, &["/dev/full", "No space left"])?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)
}

/// The first device is let go of as it should be.
fn the_second_device_fails(implementation: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let [device_a, _] = nic.devices();
    expect_failure(implementation, [&device_a, OTHER], &[OTHER, "No such file"])?;
    wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;

    // Later: both are there, the second does not start, the first already runs.
    let nic = TestNic::running(|mut config| {
        config.ports[1].faults.never_finish_reset = true;
        config
    })?;
    let [device_a, device_b] = nic.devices();
    expect_failure(
        implementation,
        [&device_a, &device_b],
        &[&device_b, "CTRL.RST"],
    )?;
    let sessions = nic.sessions()?;
    expect::left_at_rest(&sessions[0])?;
    let state = &sessions[1].snapshot;
    ensure!(state.quiescent() && state.dma_maps == 0, "{state:#?}");
    Ok(())
}
