//! Prints how long each phase of a trace takes: `phases CPU DRIVER ARGS...`. For a driver that speaks
//! VFIO, the variable `LAUNCHER` names the program `triptych`.
#![allow(clippy::unwrap_used)]

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    eprintln!("the tracer needs x86-64");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    use std::ffi::OsString;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use nic::{Nic, NicConfig, Traffic};
    use tracer::{with_session, Counts, Extent, Launch};

    let mut arguments = std::env::args_os().skip(1);
    let cpu: Option<usize> = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let driver = std::fs::canonicalize(arguments.next().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = NicConfig::new(folder.path(), 2).with_each_port(|port| {
        port.traffic = Traffic::Saturate;
    });
    let nic = Nic::new(config).unwrap();
    let _serving = nic.serve_turns(&folder.path().join("control")).unwrap();
    let mut command: Vec<OsString> = Vec::new();
    // Another project's driver needs a launcher that connects it to the card.
    let launcher = std::env::var_os("LAUNCHER");
    if let Some(launcher) = &launcher {
        command.extend([launcher.clone(), "with-card".into()]);
        for port in nic.ports() {
            command.extend(["--socket".into(), port.socket().into()]);
        }
        command.push("--".into());
    }
    command.push(driver.clone().into());
    command.extend(arguments);
    if launcher.is_none() {
        command.extend(nic.ports().iter().map(|port| port.device_name().into()));
    }
    let launch = Launch {
        command,
        driver,
        environment: std::env::vars_os()
            .filter(|(name, _)| name == "LD_LIBRARY_PATH")
            .collect(),
        folder: folder.path().to_owned(),
        control: folder.path().join("control"),
        cpu,
        limit: Duration::from_secs(60),
        check: std::env::var_os("CHECK").is_some(),
        interrupt: Arc::default(),
    };
    let start = Instant::now();
    with_session(&launch, |session| {
        println!("started {:?}", start.elapsed());
        session.run(None, 4096)?;
        println!("native {:?}", start.elapsed());
        let traced = session.record(None, Extent::Packets(1024), Extent::Packets(1024))?;
        println!(
            "recorded {:?} {:?}",
            start.elapsed(),
            Counts::of(&traced.stream)
        );
        for ready in [16, 5, 1] {
            session.run(Some(ready), 128)?;
            let few = session.record(Some(ready), Extent::Packets(0), Extent::Packets(128))?;
            println!(
                "{ready}: {:?} {:?}",
                start.elapsed(),
                Counts::of(&few.stream)
            );
        }
        session.run(Some(0), 0)?;
        let idle = session.record(Some(0), Extent::Polls(1), Extent::Polls(64))?;
        println!("0: {:?} {:?}", start.elapsed(), Counts::of(&idle.stream));
        Ok(())
    })
    .unwrap();
    println!("ended {:?}", start.elapsed());
}
