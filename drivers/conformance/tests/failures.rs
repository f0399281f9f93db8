//! Failures outside the driver. Each ends the driver within ten seconds, with exit status 1 and one
//! message that names the device, the cause and the remedy.

use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{
    expect, for_each_implementation, processors, wait_until, Implementation, Output, Program,
    TestNic,
};
use nic::{MmioMode, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    a_socket_that_never_appears,
    a_socket_that_appears_later_is_waited_for,
    a_signal_ends_the_wait_for_a_socket,
    a_socket_path_that_is_too_long,
    a_file_that_is_not_a_socket,
    a_name_that_is_not_a_device,
    a_pci_address_without_a_device,
    every_wait_for_a_device_is_bounded,
    a_server_that_disconnects,
    a_server_with_another_protocol,
    a_device_with_an_unknown_id,
    every_known_device_is_driven,
    a_device_that_never_finishes_its_reset,
    a_nic_killed_during_traffic,
    a_nic_that_disconnects_during_traffic,
    a_totals_file_that_cannot_be_written,
    a_totals_file_on_a_full_disk,
    a_second_device_that_fails,
);

/// Every failure must end the driver within this time.
const LIMIT: Duration = Duration::from_secs(10);

/// A second device. The driver does not open it after the first has failed.
const OTHER: &str = "vfio-user:/nonexistent/other.sock";

/// Runs a forwarder on these devices, and checks that it fails with one line that contains all
/// `texts`.
fn expect_failure(
    implementation: Implementation,
    devices: [&str; 2],
    texts: &[&str],
) -> Result<Output> {
    let output = Program::forwarder(implementation)?
        .args(["--connect-timeout", "0.1"])
        .args(devices)
        .run(LIMIT)?;
    check_failure(&output, texts)?;
    Ok(output)
}

/// Checks that a forwarder failed with exit status 1 and one line that contains all `texts`.
fn check_failure(output: &Output, texts: &[&str]) -> Result<()> {
    output.expect_exit(1)?.expect_stderr(texts)?;
    let lines: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| !line.contains("huge pages"))
        .collect();
    ensure!(lines.len() == 1, "not exactly one message: {output}");
    ensure!(
        lines[0].starts_with("ixgbe-fwd: "),
        "the message does not begin with the program's name: {output}"
    );
    Ok(())
}

/// The message names the socket, the time that the driver waited, and the command that starts a card.
fn a_socket_that_never_appears(implementation: Implementation) -> Result<()> {
    for (path, folder) in [
        ("/nonexistent/port0.sock", "/nonexistent"),
        ("/no-port.sock", "/"),
        ("no-port.sock", "."),
    ] {
        let device = format!("vfio-user:{path}");
        let output = Program::forwarder(implementation)?
            .args(["--connect-timeout", "0.5", &device, OTHER])
            .run(LIMIT)?;
        let command = format!("`build/bin/nic --socket-dir {folder}`");
        check_failure(
            &output,
            &[&device, "No such file or directory", "500 ms", &command],
        )?;
        // The message names the cause once.
        let causes = output.stderr.matches("No such file or directory").count();
        ensure!(causes == 1, "{output}");
        ensure!(
            output.elapsed >= Duration::from_millis(500),
            "ended early: {output}"
        );
    }
    Ok(())
}

/// A software card that starts after the driver. One socket is missing, and a card that was killed has
/// left the other behind.
fn a_socket_that_appears_later_is_waited_for(implementation: Implementation) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let paths = [0, 1].map(|port| directory.path().join(format!("port{port}.sock")));
    drop(UnixListener::bind(&paths[0])?);
    let mut running = Program::forwarder(implementation)?
        .args(["--packets", "1000"])
        .args(
            paths
                .each_ref()
                .map(|path| format!("vfio-user:{}", path.display())),
        )
        .start()?;
    std::thread::sleep(Duration::from_secs(1));
    ensure!(running.is_running()?, "{}", running.wait(LIMIT)?);
    let _nic = Program::nic()?
        .arg("--socket-dir")
        .arg(directory.path())
        .args(["--traffic", "saturate"])
        .start()?;
    running.wait(LIMIT)?.expect_success()?;
    Ok(())
}

/// As during the wait for the link: no device is open, so there is nothing to stop.
fn a_signal_ends_the_wait_for_a_socket(implementation: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let mut running = Program::forwarder(implementation)?
            .args(["--connect-timeout", "3600"])
            .args(["vfio-user:/nonexistent/port0.sock", OTHER])
            .start()?;
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal)?;
        let output = running.wait(Duration::from_secs(2))?;
        ensure!(
            output.status.signal() == Some(signal.as_raw()),
            "not ended by {signal:?}: {output}"
        );
    }
    Ok(())
}

fn a_socket_path_that_is_too_long(implementation: Implementation) -> Result<()> {
    // A socket address holds 107 characters. The driver tries such a path and does not find it.
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

fn a_file_that_is_not_a_socket(implementation: Implementation) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let device = format!("vfio-user:{}", file.path().display());
    expect_failure(
        implementation,
        [&device, OTHER],
        &[&device, "Connection refused", "no software NIC listens"],
    )?;
    Ok(())
}

fn a_name_that_is_not_a_device(implementation: Implementation) -> Result<()> {
    for name in [
        "eth0",
        "03:00.0",
        "0000:03:00.0/../x",
        "0000:zz:00.0",
        "vfio:/x",
        "",
        " ",
    ] {
        let texts = [name, "not a device", "0000:03:00.0", "vfio-user:PATH"];
        expect_failure(implementation, [name, OTHER], &texts)?;
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

/// Runs a forwarder on a server that accepts the connection and then runs `serve`.
fn with_server(
    implementation: Implementation,
    serve: impl FnOnce(std::os::unix::net::UnixStream) + Send + 'static,
    texts: &[&str],
) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("server.sock");
    let listener = UnixListener::bind(&path)?;
    let device = format!("vfio-user:{}", path.display());
    let server = std::thread::spawn(move || listener.accept().map(|(stream, _)| serve(stream)));
    let output = expect_failure(implementation, [&device, OTHER], texts)?;
    output.expect_stderr([&device])?;
    ensure!(
        server.join().is_ok_and(|accepted| accepted.is_ok()),
        "the driver did not connect to the server"
    );
    Ok(())
}

fn a_server_that_disconnects(implementation: Implementation) -> Result<()> {
    with_server(implementation, drop, &["went away", "start it again"])
}

fn a_server_with_another_protocol(implementation: Implementation) -> Result<()> {
    let answer_in_http = |mut stream: std::os::unix::net::UnixStream| {
        let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    };
    with_server(
        implementation,
        answer_in_http,
        &["vfio-user server", "protocol"],
    )
}

fn a_device_with_an_unknown_id(implementation: Implementation) -> Result<()> {
    for id in [0x1521, 0x10c9, 0x1572, 0xffff] {
        let nic = TestNic::still(|config| {
            config.with_each_port(|port| port.faults.foreign_device_id = Some(id))
        })?;
        let [device_a, device_b] = nic.devices();
        let texts = [
            &device_a,
            &format!("8086:{id:04x}"),
            "82599",
            "X540",
            "X550",
        ];
        expect_failure(implementation, [&device_a, &device_b], &texts)?;
        // The driver did not touch the device: no reset, no bus master, no memory.
        wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;
        let session = nic.ports()[0]
            .last_session()
            .context("there was no driver")?;
        ensure!(
            session.resets == 0,
            "the driver reset the device: {session:#?}"
        );
        expect::well_behaved(&session)?;
    }
    Ok(())
}

fn every_known_device_is_driven(implementation: Implementation) -> Result<()> {
    for id in [0x10fb, 0x154d, 0x1528, 0x1560, 0x1563, 0x15d1] {
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
    let texts = [
        &device_a,
        "CTRL.RST",
        "reset the device",
        "restart the software NIC",
    ];
    expect_failure(implementation, [&device_a, &device_b], &texts)?;
    for session in nic.sessions()? {
        ensure!(
            session.snapshot.quiescent() && session.snapshot.dma_maps == 0,
            "the device is not at rest: {session:#?}"
        );
    }
    Ok(())
}

/// A server that does not accept, a server that does not answer, and a device whose link stays down.
/// All three run at once, because each takes a driver several seconds.
fn every_wait_for_a_device_is_bounded(implementation: Implementation) -> Result<()> {
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
            .args(["--connect-timeout", "0.1"])
            .args(["--link-timeout", "1", device, other])
            .start()
    };

    let (_not_accepting, unaccepted) = listen("unaccepted.sock")?;
    let not_accepted = start(&unaccepted, OTHER)?;

    let (accepting, unanswered) = listen("unanswered.sock")?;
    let not_answered = start(&unanswered, OTHER)?;
    let connection = accepting.accept()?;

    let nic = TestNic::still(|config| config.with_each_port(|port| port.faults.no_link = true))?;
    let mut data_plane = nic.nic().data_plane()?;
    let [device_a, device_b] = nic.devices();
    let mut not_linked = start(&device_a, &device_b)?;
    // The data plane only has to enable the queues.
    wait_until("the driver to wait for the link or to end", || {
        data_plane.poll();
        let state = nic.ports()[0].snapshot();
        !state.tx_queues.is_empty() || !not_linked.is_running().unwrap_or(false)
    })?;

    for (running, device) in [(not_accepted, &unaccepted), (not_answered, &unanswered)] {
        check_failure(
            &running.wait(LIMIT)?,
            &[device, "no answer", "stopped or stuck"],
        )?;
    }
    drop(connection);
    check_failure(&not_linked.wait(LIMIT)?, &[&device_a, "no link", "cable"])?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(
            !state.bus_master && state.dma_maps == 0,
            "the device can still access memory: {session:#?}"
        );
        expect::well_behaved(&session)?;
    }
    Ok(())
}

/// The NIC's process dies, and the memory that it shared stays mapped in the driver.
fn a_nic_killed_during_traffic(implementation: Implementation) -> Result<()> {
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
        // A printed rate shows traffic. If the driver has ended, the checks below fail.
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
        ensure!(totals.rx > 0, "the driver received no packet");
    }
    Ok(())
}

/// The NIC closes its sockets, while its memory and its data plane remain.
fn a_nic_that_disconnects_during_traffic(implementation: Implementation) -> Result<()> {
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
        ensure!(
            totals.rx >= 20_000,
            "received {} packets, expected at least 20000",
            totals.rx
        );
    }
    Ok(())
}

/// The driver notices it before the run, and does not open the devices.
fn a_totals_file_that_cannot_be_written(implementation: Implementation) -> Result<()> {
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
            "the driver opened a device first: {output}"
        );
    }
    Ok(())
}

fn a_totals_file_on_a_full_disk(implementation: Implementation) -> Result<()> {
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

/// The driver releases the first device correctly.
fn a_second_device_that_fails(implementation: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let [device_a, _] = nic.devices();
    expect_failure(implementation, [&device_a, OTHER], &[OTHER, "No such file"])?;
    wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;

    // Both devices exist and the first runs, but the second does not start.
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
    ensure!(
        state.quiescent() && state.dma_maps == 0,
        "the device is not at rest: {state:#?}"
    );
    Ok(())
}
