//! The link, the SFP+ module's pins, and the control socket.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::Module;
use support::{frame, link_is_up, Bench, Client, Control, Rings};

/// A card with a cable between its ports.
fn bench(module: Module) -> Bench {
    Bench::of(|config| {
        let config = config.with_cable(0, 1);
        config.with_each_port(|port| port.module = module)
    })
}

fn connected(module: Module) -> (Bench, Client) {
    let bench = bench(module);
    let client = bench.client(0);
    (bench, client)
}

#[test]
fn a_link_change_is_an_interrupt_cause() {
    let (bench, mut client) = connected(Module::Dac);
    let port = bench.port(0);
    assert!(link_is_up(&mut client));
    assert_eq!(client.get(r::EICR) & r::EICR_LSC, 0);
    // The second time, the link does not change.
    for (plugged, cause) in [(false, r::EICR_LSC), (false, 0), (true, r::EICR_LSC)] {
        port.set_plugged(plugged);
        assert_eq!(client.get(r::EICR) & r::EICR_LSC, cause);
        assert_eq!(link_is_up(&mut client), plugged);
        assert_eq!(port.snapshot().link_up, plugged);
        assert_eq!(client.get(r::STATUS) & r::STATUS_LINK_UP != 0, plugged);
    }
}

#[test]
fn both_ends_of_a_pulled_cable_lose_the_link() {
    let mut bench = bench(Module::Dac);
    let [mut a, mut b] = [0, 1].map(|port| bench.driver(port, Rings::default()));
    bench.settle();
    a.transmit(&frame(60, 1));
    a.transmit(&frame(1200, 2));
    b.transmit(&frame(70, 3));
    bench.settle();
    assert_eq!(b.receive_all(), [frame(60, 1), frame(1200, 2)]);
    assert_eq!(a.receive_all(), [frame(70, 3)]);
    bench.port(0).set_plugged(false);
    bench.settle();
    assert!(!link_is_up(&mut a.client) && !link_is_up(&mut b.client));
    let slot = a.transmit(&frame(60, 2));
    bench.settle();
    assert!(!a.tx_done(slot), "the card sends nothing without a link");
    bench.port(0).set_plugged(true);
    bench.settle();
    assert!(link_is_up(&mut a.client) && link_is_up(&mut b.client));
    bench.settle();
    assert_eq!(b.receive(), Some(frame(60, 2)));
}

#[test]
fn switching_one_laser_off_ends_the_link_of_the_other_end() {
    for (module, up) in [(Module::Sr, false), (Module::Dac, true)] {
        let mut bench = bench(module);
        let [mut a, mut b] = [0, 1].map(|port| bench.client(port));
        a.change(r::ESDP, r::ESDP_SDP3, 0);
        bench.settle();
        assert!(link_is_up(&mut a), "its own receiver still sees light");
        assert_eq!(link_is_up(&mut b), up, "{module:?}");
        a.change(r::ESDP, 0, r::ESDP_SDP3);
        bench.settle();
        assert!(link_is_up(&mut b));
    }
}

/// Drivers use the link reset on a card without a link. It resets the whole card.
#[test]
fn a_link_reset_resets_the_whole_card() {
    let bench = bench(Module::Sr);
    let client = &mut bench.driver(0, Rings::default()).client;
    client.set(r::CTRL, r::CTRL_MASTER_DISABLE);
    client.set(r::CTRL, r::CTRL_MASTER_DISABLE | r::CTRL_LNK_RST);
    let seen = [client.get(r::CTRL), client.get(r::CTRL)];
    assert_eq!(seen, [r::CTRL_LNK_RST, 0], "the reset takes a moment");
    assert_ne!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
    assert_eq!(client.get(r::RXDCTL(0)) & r::RXDCTL_ENABLE, 0);
}

#[test]
fn without_a_module_there_is_no_link() {
    let (bench, mut client) = connected(Module::None);
    assert!(!link_is_up(&mut client));
    assert_eq!(client.get(r::ESDP) & r::ESDP_SDP2, 0);
    client.set(r::GPIE, r::GPIE_SDP2_GPIEN);
    bench.port(0).set_module(Module::Sr);
    let reported = client.get(r::EICR) & r::EICR_GPI_SDP2;
    assert_ne!(reported, 0, "the card reports the new module");
    assert_ne!(client.get(r::ESDP) & r::ESDP_SDP2, 0);
    client.set(r::ESDP, 0);
    assert_ne!(
        client.get(r::ESDP) & r::ESDP_SDP2,
        0,
        "the card drives the pin"
    );
}

#[test]
fn a_request_for_an_unmodelled_feature_is_reported_once() {
    let (bench, mut client) = connected(Module::Dac);
    client.set(r::SAQF(0), 0);
    let reported = bench.port(0).unmodelled();
    assert!(reported.is_empty(), "a write of 0 requests nothing");
    for _ in 0..3 {
        client.set(r::SAQF(0), 7);
        client.set(r::SAQF(1), 7);
    }
    client.set(r::MRQC, r::MRQC_MRQE_VMDQ);
    let reported = bench.port(0).unmodelled();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].starts_with("SAQF") && reported[1].starts_with("MRQC"));
}

#[test]
fn flow_director_commands_finish() {
    let (bench, mut client) = connected(Module::Dac);
    assert_eq!(client.get(r::FDIRCTRL) & r::FDIRCTRL_INIT_DONE, 0);
    client.set(r::FDIRCTRL, r::FDIRCTRL_PBALLOC_64K);
    assert_ne!(client.get(r::FDIRCTRL) & r::FDIRCTRL_INIT_DONE, 0);
    client.set(r::FDIRCMD, r::FDIRCMD_CMD_ADD | r::FDIRCMD_QUEUE_EN);
    assert_eq!(client.get(r::FDIRCMD) & r::FDIRCMD_CMD, 0);
    assert_eq!(bench.port(0).unmodelled().len(), 1);
}

#[test]
fn waking_up_resets_the_card() {
    const POWER_STATUS: u64 = 0x44;
    let (bench, mut client) = connected(Module::Dac);
    client.set_bus_master(true);
    client.set(r::LEDCTL, 7);
    let power = |client: &mut Client, state| {
        let region = harness::codec::CONFIG;
        client
            .region_write(region, POWER_STATUS, &[state, 0])
            .unwrap();
    };
    power(&mut client, 3);
    assert!(!bench.port(0).snapshot().bus_master, "the card is in D3");
    power(&mut client, 0);
    assert_eq!(client.get(r::LEDCTL), 0);
    let cause = bench.port(0).last_reset().unwrap().cause;
    assert_eq!(cause, nic::ResetCause::WakeUp);
}

#[test]
fn control_commands_change_the_link_and_report_the_state() {
    let bench = bench(Module::Dac);
    let path = bench.folder.path().join("control");
    let serving = bench.nic.serve_control(&path).unwrap();
    let [mut control, mut other] = [(); 2].map(|()| Control::connect(&path));
    assert_eq!(control.ask("link 1 down\n"), "ok\n");
    let stats: serde_json::Value = serde_json::from_str(&other.ask("stats\n")).unwrap();
    let [first, second] = [0, 1].map(|port| &stats["ports"][port]);
    assert_eq!(first["state"]["link_up"], true);
    assert_eq!(second["state"]["link_up"], false);
    assert_eq!(
        (&second["delivered"], &second["state"]["dma_maps"]),
        (&0.into(), &0.into())
    );
    assert_eq!(second["module"], "dac");
    assert_eq!(control.ask("link 1 up\nmodule 0 none\n"), "ok\n");
    assert_eq!(control.ask(""), "ok\n");
    assert_eq!(bench.port(0).module(), Module::None);
    drop(serving);
    assert!(!path.exists());
    assert_eq!(control.ask(""), "", "the NIC has closed the connection");
}

#[test]
fn an_unknown_command_lists_the_valid_ones() {
    let bench = bench(Module::Dac);
    let path = bench.folder.path().join("control");
    let _serving = bench.nic.serve_control(&path).unwrap();
    let mut control = Control::connect(&path);
    for (line, expected) in [
        ("link 2 down\n", "ports are numbered 0 to 1"),
        ("link one down\n", "ports are numbered 0 to 1"),
        ("link 0 sideways\n", "choose one of: link PORT up|down"),
        ("module 0 lr\n", "must be dac, sr or none"),
        ("\n", "unknown command"),
        ("st\u{fffd}ts\n", "unknown command"),
    ] {
        let answer = control.ask(line);
        assert!(answer.starts_with("error: "), "{line:?}: {answer:?}");
        assert!(answer.contains(expected), "{line:?}: {answer:?}");
    }
    // The NIC disconnects a client that sends an endless line, and keeps the others.
    let answer = Control::connect(&path).ask(&"x".repeat(5000));
    assert!(answer.contains("more than 256 bytes"), "{answer:?}");
    // A client that leaves in the middle of a line disturbs no other.
    Control::connect(&path).say("sta");
    assert!(control.ask("stats\n").starts_with("{\"ports\""));
}
