//! Runs the program as with a real card and a load generator. Stand-ins for both are wired: neither has a
//! link while the other does not run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{text, wait_until, works_here, Build};
use record::Metric;
use rustix::process::{kill_process, Pid, Signal};

/// A generator that speaks the protocol of bench/pktgen/README.md. It sends 29.76 Mpps, if
/// its ports have a link, and one frame in ten does not come back.
const GENERATOR: &str = r#"#!/bin/bash
cable=@CABLE@
echo $$ >>"$cable/../generators"
trap 'rm -f "$cable/generator" "$cable/sending"' EXIT
touch "$cable/generator"
say() { echo "triptych: $1"; }
up() { [ -e "$cable/forwarder" ]; }
sent=0 at=0
count() {
    local now; now=$(date +%s%N)
    [ $at = 0 ] || sent=$((sent + (now - at) * 14880 / 1000000))
    [ $at = 0 ] || at=$now
}
say "ready 2 stand-in"
while read -r name argument; do
    case "$name" in
    links) if up; then say "links up up"; else say "links down down"; fi ;;
    size) echo "$argument" >>"$cable/../sizes"; say "size $argument" ;;
    start) up && touch "$cable/sending" && at=$(date +%s%N); say started ;;
    stop) count; at=0; rm -f "$cable/sending"; say stopped ;;
    counters) count; say "counters $sent $((sent * 9 / 10)) $sent $((sent * 9 / 10))" ;;
    *) say "error unknown command $name" ;;
    esac
done
"#;

/// A build whose forwarders are wired to the generator, and the matrix of a run.
struct Lab {
    build: Build,
    _ports: [UnixListener; 2],
}

impl Lab {
    fn new(matrix: &str) -> Self {
        let build = Build::new();
        let cable = build.path().join("cable");
        fs::create_dir(&cable).unwrap();
        let define = format!("CABLE=\"{}\"", cable.display());
        for driver in ["c", "rust"] {
            build.driver(&format!("bin/{driver}"), &[&define]);
        }
        let generator = build.path().join("generator");
        let lines = GENERATOR.replace("@CABLE@", cable.to_str().unwrap());
        fs::write(&generator, lines).unwrap();
        fs::set_permissions(&generator, fs::Permissions::from_mode(0o755)).unwrap();
        let configuration = format!(
            "tool = \"command\"\nprogram = {generator:?}\nports = [\"03:00.0\", \"03:00.1\"]\n\
             warm_up_seconds = 0.1\n"
        );
        fs::write(build.path().join("generator.toml"), configuration).unwrap();
        let sockets = ["port0.sock", "port1.sock"].map(|name| build.path().join(name));
        let devices = sockets
            .each_ref()
            .map(|path| format!("vfio-user:{}", path.display()));
        fs::write(
            build.path().join("matrix.toml"),
            format!(
                "devices = {devices:?}\npktgen = \"generator.toml\"\nlink_timeout = 5\n{matrix}"
            ),
        )
        .unwrap();
        Self {
            _ports: sockets.map(|path| UnixListener::bind(path).unwrap()),
            build,
        }
    }

    fn run(&self) -> Command {
        self.build.triptych(&["run", "--config", "matrix.toml"])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.build.path().join(name)
    }

    /// The generators that were started to measure; the first one only shows that it answers.
    fn generators(&self) -> Vec<String> {
        let pids = fs::read_to_string(self.path("generators")).unwrap_or_default();
        pids.lines().skip(1).map(str::to_owned).collect()
    }
}

fn gone(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z"))
}

#[test]
fn one_generator_sends_to_all_cells() {
    if !works_here("wall") {
        return;
    }
    let lab = Lab::new(
        "wall = { repeats = 1 }\n[[block]]\nbackends = [\"wall\"]\nimpl = [\"c\", \"rust\"]\n\
         frame_size = [60, 124]\n",
    );
    let output = lab.run().output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let folder = lab.path("results/latest");
    let run = record::read_run(&folder).unwrap();
    assert!(run.failures.is_empty(), "{:?}", run.failures);
    let samples = record::read_samples(&folder.join(record::SAMPLES_FILE)).unwrap();
    let rates: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.metric == Metric::Mpps)
        .map(|sample| sample.value)
        .collect();
    assert_eq!(rates.len(), 4);
    assert!(rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
    assert_eq!(lab.generators().len(), 1);
    // The program gets a new frame size without a restart.
    let sizes = fs::read_to_string(lab.path("sizes")).unwrap();
    assert_eq!(sizes, "60\n60\n124\n");
    let settings = &run.settings["wall"];
    assert_eq!(settings["order"][1], "forwarder");
    assert_eq!(settings["link_timeout"], 5.0);
    let lowest = settings["generator_mpps"]["lowest"].as_f64().unwrap();
    assert!(lowest > 25.0, "{lowest}");
    // 124-byte frames cannot have that rate on a wire.
    let warned = run
        .warnings
        .iter()
        .any(|text| text.contains("by the counters of its ports"));
    assert!(warned, "{:?}", run.warnings);
}

#[test]
fn the_generator_ends_with_the_run_in_any_way() {
    if !works_here("wall") {
        return;
    }
    for how in [Signal::INT, Signal::KILL] {
        let lab = Lab::new(
            "wall = { seconds = 600 }\n[[block]]\nbackends = [\"wall\"]\nimpl = [\"c\"]\n",
        );
        let mut run = lab
            .run()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let sending = lab.path("cable/sending");
        wait_until("it sends nothing", || sending.exists());
        let generator = lab.generators().remove(0);
        kill_process(Pid::from_child(&run), how).unwrap();
        run.wait().unwrap();
        let stopped = || gone(&generator) && !lab.path("cable/generator").exists();
        wait_until(&format!("the generator lives after {how:?}"), stopped);
    }
}
