//! Failures outside the driver. Each ends the driver within ten seconds, with exit status 1 and one
//! message that names the device, the cause and the remedy.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, processors, saturated, wait_until};
use conformance::{Implementation, Output, Program, TestNic};
use nic::MmioMode;
use rustix::process::Signal;

for_each_implementation!(
    a_socket_that_never_appears,
    a_socket_that_appears_later_is_waited_for,
    a_signal_ends_the_wait_for_a_socket,
    a_name_without_a_device,
    every_wait_for_a_device_is_bounded,
    a_server_that_disconnects_or_has_another_protocol,
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
fn expect_failure(driver: Implementation, devices: [&str; 2], texts: &[&str]) -> Result<()> {
    let program = Program::forwarder(driver)?.args(["--connect-timeout", "0.1"]);
    check_failure(&program.args(devices).run_within(LIMIT)?, texts)
}

/// Checks that a forwarder failed with exit status 1 and one line that contains all `texts`.
fn check_failure(output: &Output, texts: &[&str]) -> Result<()> {
    output.expect_failure(texts)?;
    let lines = output.stderr.lines();
    let lines: Vec<_> = lines.filter(|line| !line.contains("huge pages")).collect();
    let is_one = lines.len() == 1 && lines[0].starts_with("ixgbe-fwd: ");
    ensure!(is_one, "not one message of the program: {output}");
    Ok(())
}

/// The name of a device.
fn at(path: &Path) -> String {
    format!("vfio-user:{}", path.display())
}

/// The message names the socket, the time that the driver waited, and the command that starts a card.
fn a_socket_that_never_appears(driver: Implementation) -> Result<()> {
    for (path, folder) in [
        ("/nonexistent/port0.sock", "/nonexistent"),
        ("/no-port.sock", "/"),
        ("no-port.sock", "."),
    ] {
        let device = at(Path::new(path));
        let program = Program::forwarder(driver)?.args(["--connect-timeout", "0.5"]);
        let output = program.args([&device, OTHER]).run_within(LIMIT)?;
        let command = format!("`build/bin/nic --socket-dir {folder}`");
        let cause = "No such file or directory";
        check_failure(&output, &[&device, cause, "500 ms", &command])?;
        // The message names the cause once.
        ensure!(output.stderr.matches(cause).count() == 1, "{output}");
        ensure!(output.elapsed >= Duration::from_millis(500), "{output}");
    }
    Ok(())
}

/// A software card that starts after the driver. One socket is missing, and a card that was killed has
/// left the other behind.
fn a_socket_that_appears_later_is_waited_for(driver: Implementation) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let paths = [0, 1].map(|port| directory.path().join(format!("port{port}.sock")));
    drop(UnixListener::bind(&paths[0])?);
    let program = Program::forwarder(driver)?.args(["--packets", "1000"]);
    let mut running = program
        .args(paths.each_ref().map(|path| at(path)))
        .start()?;
    std::thread::sleep(Duration::from_secs(1));
    ensure!(running.is_running()?, "{:?}", running.so_far());
    let nic = Program::nic(directory.path())?;
    let _nic = nic.args(["--traffic", "saturate"]).start()?;
    running.wait(LIMIT)?.expect_success().map(drop)
}

/// As during the wait for the link: no device is open, so there is nothing to stop.
fn a_signal_ends_the_wait_for_a_socket(driver: Implementation) -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let program = Program::forwarder(driver)?.args(["--connect-timeout", "3600"]);
        let mut running = program.args([OTHER, "vfio-user:/nonexistent"]).start()?;
        std::thread::sleep(Duration::from_millis(300));
        running.signal(signal)?;
        let output = running.wait(Duration::from_secs(2))?;
        ensure!(output.status.signal() == Some(signal.as_raw()), "{output}");
    }
    Ok(())
}

fn a_name_without_a_device(driver: Implementation) -> Result<()> {
    let forms = ["not a device", "0000:03:00.0", "vfio-user:PATH"];
    for name in [
        "eth0",
        "03:00.0",
        "0000:03:00.0/../x",
        "0000:zz:00.0",
        "vfio:/x",
        "",
        " ",
    ] {
        expect_failure(driver, [name, OTHER], &[&[name], &forms[..]].concat())?;
    }
    let file = tempfile::NamedTempFile::new()?;
    let of_length = |length| format!("vfio-user:/{}", "x".repeat(length));
    for (name, texts) in [
        (
            "ffff:ff:1f.7",
            ["ffff:ff:1f.7", "no such PCI device", "lspci"],
        ),
        (
            &at(file.path()),
            [
                &at(file.path()),
                "Connection refused",
                "no software NIC listens",
            ],
        ),
        // A socket address holds 107 characters. The driver tries such a path and does not find it.
        (&of_length(106), [&of_length(106), "No such file", ""]),
        (&of_length(107), ["xxxx", "character", ""]),
        (&of_length(500), ["xxxx", "character", ""]),
        (&of_length(5000), ["xxxx", "character", ""]),
        ("vfio-user:", ["vfio-user:", "1 to 107 characters", ""]),
    ] {
        expect_failure(driver, [name, OTHER], &texts)?;
    }
    Ok(())
}

fn a_server_that_disconnects_or_has_another_protocol(driver: Implementation) -> Result<()> {
    let in_http = |mut stream: UnixStream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    };
    for (serve, texts) in [
        (drop as fn(UnixStream), ["went away", "start it again"]),
        (in_http, ["vfio-user server", "protocol"]),
    ] {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("server.sock");
        let listener = UnixListener::bind(&path)?;
        let server = std::thread::spawn(move || listener.accept().map(|(stream, _)| serve(stream)));
        let device = at(&path);
        expect_failure(
            driver,
            [&device, OTHER],
            &[&[&device[..]], &texts[..]].concat(),
        )?;
        let accepted = server.join().is_ok_and(|accepted| accepted.is_ok());
        ensure!(accepted, "the driver did not connect to the server");
    }
    Ok(())
}

fn a_device_with_an_unknown_id(driver: Implementation) -> Result<()> {
    for id in [0x1521, 0x10c9, 0x1572, 0xffff] {
        let nic = TestNic::still(|config| {
            config.with_each_port(|port| port.faults.foreign_device_id = Some(id))
        })?;
        let [device_a, device_b] = nic.devices();
        let named = format!("8086:{id:04x}");
        let texts = [&device_a, &named, "82599", "X540", "X550"];
        expect_failure(driver, [&device_a, &device_b], &texts)?;
        // The driver did not touch the device: no reset, no bus master, no memory.
        let session = TestNic::session(&nic.ports()[0])?;
        ensure!(session.resets == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    Ok(())
}

fn every_known_device_is_driven(driver: Implementation) -> Result<()> {
    for id in [0x10fb, 0x154d, 0x1528, 0x1560, 0x1563, 0x15d1] {
        let mut nic = TestNic::running(|config| {
            saturated(config).with_each_port(|port| port.device_id = id)
        })?;
        let totals = nic.forward(driver, &["--packets", "5000"]);
        totals.with_context(|| format!("{id:04x}"))?;
    }
    Ok(())
}

fn a_device_that_never_finishes_its_reset(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| {
        config.with_each_port(|port| port.faults.never_finish_reset = true)
    })?;
    let [device_a, device_b] = nic.devices();
    let remedy = ["CTRL.RST", "reset the device", "restart the software NIC"];
    let texts = [&[&device_a[..]], &remedy[..]].concat();
    expect_failure(driver, [&device_a, &device_b], &texts)?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(state.quiescent() && state.dma_maps == 0, "{session:#?}");
    }
    Ok(())
}

/// A server that does not accept, a server that does not answer, and a device whose link stays down.
/// All three run at once, because each takes a driver several seconds.
fn every_wait_for_a_device_is_bounded(driver: Implementation) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let listen = |name: &str| -> Result<_> {
        let path = directory.path().join(name);
        Ok((UnixListener::bind(&path)?, at(&path)))
    };
    let start = |devices: [&str; 2]| {
        let program = Program::forwarder(driver)?.args(["--connect-timeout", "0.1"]);
        program.args(["--link-timeout", "1"]).args(devices).start()
    };

    let (_not_accepting, unaccepted) = listen("unaccepted.sock")?;
    let not_accepted = start([&unaccepted, OTHER])?;

    let (accepting, unanswered) = listen("unanswered.sock")?;
    let not_answered = start([&unanswered, OTHER])?;
    let connection = accepting.accept()?;

    let nic = TestNic::still(|config| config.with_each_port(|port| port.faults.no_link = true))?;
    let mut data_plane = nic.nic().data_plane()?;
    let [device_a, device_b] = nic.devices();
    let mut not_linked = start([&device_a, &device_b])?;
    // The data plane only has to enable the queues.
    wait_until("the driver to wait for the link or to end", || {
        data_plane.poll();
        let state = nic.ports()[0].snapshot();
        !state.tx_queues.is_empty() || !not_linked.is_running().unwrap_or(false)
    })?;

    for (running, device) in [(not_accepted, &unaccepted), (not_answered, &unanswered)] {
        let texts = [device, "no answer", "stopped or stuck"];
        check_failure(&running.wait(LIMIT)?, &texts)?;
    }
    drop(connection);
    check_failure(&not_linked.wait(LIMIT)?, &[&device_a, "no link", "cable"])?;
    for session in nic.sessions()? {
        let state = &session.snapshot;
        ensure!(!state.bus_master && state.dma_maps == 0, "{session:#?}");
        expect::well_behaved(&session)?;
    }
    Ok(())
}

/// The NIC's process dies, and the memory that it shared stays mapped in the driver.
fn a_nic_killed_during_traffic(driver: Implementation) -> Result<()> {
    for mmio in ["shared", "trap"] {
        let _processors = processors();
        let directory = tempfile::tempdir()?;
        let nic = Program::nic(directory.path())?.args(["--mmio", mmio]);
        let mut nic = nic.args(["--traffic", "saturate"]).start()?;
        wait_until("the NIC to be ready", || nic.has_said("ready"))?;
        let socket = |port| at(&directory.path().join(format!("port{port}.sock")));
        let devices = [socket(0), socket(1)];
        let program = Program::forwarder(driver)?.args(&devices);
        let mut running = program.json(directory.path().join("totals.json")).start()?;
        // A printed rate shows traffic. If the driver has ended, the checks below fail.
        wait_until("a line with rates", || running.has_said("Mpps"))?;
        nic.signal(Signal::KILL)?;
        let output = running.wait(LIMIT)?;
        check_failure(&output, &["went away", "start it again"])?;
        let named = devices.iter().any(|device| output.stderr.contains(device));
        ensure!(named && output.totals()?.rx > 0, "{output}");
    }
    Ok(())
}

/// The NIC closes its sockets, while its memory and its data plane remain.
fn a_nic_that_disconnects_during_traffic(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut nic = TestNic::running(|config| saturated(config).with_mmio(mmio))?;
        let running = nic.forwarder(driver)?.start()?;
        nic.wait_for_traffic(10_000)?;
        nic.stop();
        let output = running.wait(LIMIT)?;
        check_failure(&output, &["vfio-user:", "went away", "start it again"])?;
        ensure!(output.totals()?.rx >= 20_000, "{output}");
    }
    Ok(())
}

/// The driver notices it before the run, and does not open the devices.
fn a_totals_file_that_cannot_be_written(driver: Implementation) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let nowhere = directory.path().join("no/such/folder/totals.json");
    for (path, cause) in [
        (nowhere.as_path(), "No such file"),
        (directory.path(), "Is a directory"),
    ] {
        let program = Program::forwarder(driver)?.json(path);
        let program = program.args(["vfio-user:/nonexistent/a.sock", OTHER]);
        let output = program.run_within(LIMIT)?;
        check_failure(&output, &[&path.display().to_string(), cause])?;
        ensure!(!output.stderr.contains("vfio-user:"), "{output}");
    }
    Ok(())
}

fn a_totals_file_on_a_full_disk(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(saturated)?;
    let program = Program::forwarder(driver)?.json("/dev/full");
    let program = program.args(["--packets", "1000"]).args(nic.devices());
    let output = program.run_within(LIMIT)?;
    check_failure(&output, &["/dev/full", "No space left"])?;
    nic.expect_rest()
}

/// The driver releases the first device correctly.
fn a_second_device_that_fails(driver: Implementation) -> Result<()> {
    let nic = TestNic::still(|config| config)?;
    let [device_a, _] = nic.devices();
    expect_failure(driver, [&device_a, OTHER], &[OTHER, "No such file"])?;
    TestNic::session(&nic.ports()[0])?;

    // Both devices exist and the first runs, but the second does not start.
    let nic = TestNic::running(|mut config| {
        config.ports[1].faults.never_finish_reset = true;
        config
    })?;
    let [device_a, device_b] = nic.devices();
    expect_failure(driver, [&device_a, &device_b], &[&device_b, "CTRL.RST"])?;
    let sessions = nic.sessions()?;
    expect::left_at_rest(&sessions[0])?;
    let state = &sessions[1].snapshot;
    ensure!(state.quiescent() && state.dma_maps == 0, "{state:#?}");
    Ok(())
}
