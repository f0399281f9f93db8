//! Tests `triptych pktgen`. testpmd runs on DPDK's software ports if it is installed or unpacked
//! (bench/setup/testpmd.sh). dpdk-pktgen's script runs in a Lua interpreter, if there is one, on a
//! simulated dpdk-pktgen. A stand-in for SSH runs the commands on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use perfcounters::process::find_program;
use perfcounters::Interrupt;
use triptych::measure::pktgen::{Config, Generator, PktgenError};

/// A folder with a stand-in for testpmd, which answers as DPDK 22.11 does.
struct Bench {
    folder: tempfile::TempDir,
}

/// It sends 1000 frames per second for each Mbit/s of its limit, and loses one in ten. While a file `no-link`
/// exists, its ports have no link: they send nothing, and it ignores limits of the rate.
const FAKE_TESTPMD: &str = r##"#!/bin/bash
echo "$$" >"$(dirname "$0")/pid"
echo "$*" >"$(dirname "$0")/arguments"
echo "Done"
rate=10000 started=0 sent=0 shown=0 shown_at=0
down() { [ -e "$(dirname "$0")/no-link" ]; }
now() { date +%s%N; }
count() {
    at=$(now)
    [ $started = 0 ] || down || sent=$((sent + (at - started) * rate / 1000000))
    [ $started = 0 ] || started=$at
}
while read -r line; do
    echo "testpmd> $line"
    echo "$line" >>"$(dirname "$0")/commands"
    case "$line" in
    "set txpkts"*) echo "$line" >>"$(dirname "$0")/arguments" ;;
    "set port"*)
        count
        if down; then echo "Invalid rate value:${line##* } bigger than link speed: 0"
        elif [ "${line##* }" -gt 10000 ]; then echo "Invalid rate value:${line##* } bigger than link speed: 10000"
        else rate=${line##* }; fi ;;
    "show port summary all")
        if down; then link="down     None"; else link="up       10 Gbps"; fi
        echo "Number of available ports: 2"
        echo "Port MAC Address       Name         Driver         Status   Link"
        for port in 0 1; do echo "$port    02:00:00:00:00:0$port 0000:03:00.$port net_ixgbe      $link"; done ;;
    start) started=$(now); echo "txonly packet forwarding - ports=2 - cores=2" ;;
    stop) count; started=0; echo "  +++ Accumulated forward statistics for all ports+++" ;;
    "show port stats all")
        count
        pps=$(((sent - shown) * 1000000 / ((at - shown_at) / 1000))) shown=$sent shown_at=$at
        for port in 0 1; do
            echo "  ### NIC statistics for port $port  ###"
            echo "  RX-packets: 0          RX-missed: $((sent * 9 / 10))          RX-bytes:  0"
            echo "  TX-packets: $sent   TX-errors: 0          TX-bytes:  0"
            echo "  Tx-pps:   $pps          Tx-bps:            0"
        done ;;
    hang) sleep 1000 ;;
    esac
done
echo ended >"$(dirname "$0")/ended"
"##;

impl Bench {
    fn new() -> Self {
        let bench = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        bench.program("testpmd", FAKE_TESTPMD);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn config(&self, text: &str) -> PathBuf {
        let path = self.path("generator.toml");
        fs::write(&path, text).unwrap();
        path
    }

    /// A configuration that runs the stand-in.
    fn fake(&self, more: &str) -> PathBuf {
        self.config(&format!(
            "tool = 'testpmd'\nprogram = '{}'\nports = ['03:00.0', '03:00.1']\nlcores = '0-2'\n\
             warm_up_seconds = 0.1\n{more}",
            self.path("testpmd").display()
        ))
    }

    fn triptych(&self, config: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
        command
            .arg("pktgen")
            .arg("--config")
            .arg(config)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.folder.path().display()));
        command
    }

    fn run(&self, config: &Path, arguments: &[&str]) -> Output {
        self.triptych(config, arguments).output().unwrap()
    }

    /// Waits until a file exists, and reads it.
    fn wait_for(&self, name: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match fs::read_to_string(self.path(name)) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => assert!(Instant::now() < deadline, "no {name}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_wait_for_links_sends_nothing_and_sets_no_rate() {
    let bench = Bench::new();
    fs::write(bench.path("no-link"), "").unwrap();
    let json = bench.path("reports.json");
    let child = bench
        .triptych(
            &bench.fake(""),
            &[
                "--rate",
                "4",
                "--seconds",
                "1",
                "--json",
                json.to_str().unwrap(),
            ],
        )
        .spawn()
        .unwrap();
    bench.wait_for("commands");
    std::thread::sleep(Duration::from_millis(500));
    let before = fs::read_to_string(bench.path("commands")).unwrap();
    assert!(before.contains("show port summary all"), "{before}");
    assert!(
        !before.contains("start") && !before.contains("rate"),
        "{before}"
    );
    // The forwarder starts, and the links come up.
    fs::remove_file(bench.path("no-link")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("waiting 60 s for links: start the forwarder"));
    let offered = report(&json)[0]["offered_mpps"].as_f64().unwrap();
    assert!((offered / 4.0 - 1.0).abs() < 0.03, "{offered}");
}

#[test]
fn ports_without_link_are_named() {
    let bench = Bench::new();
    fs::write(bench.path("no-link"), "").unwrap();
    let config = bench.fake("");
    let output = bench.run(&config, &["--link-timeout", "1"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no link within 1 s: port 03:00.0 has no link, port 03:00.1 has no link"),
        "{said}"
    );
    // A check shows the links, and is no failure.
    let output = bench.run(&config, &["--check"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("port 03:00.1 has no link"));
}

#[test]
fn a_refused_rate_is_an_error() {
    let bench = Bench::new();
    // The wanted rate is above the speed of the link.
    let output = bench.run(&bench.fake("line_rate_gbit = 40\n"), &["--rate", "100"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("bigger than link speed: 10000") && said.contains("line_rate_gbit"),
        "{said}"
    );
}

#[test]
fn a_link_that_goes_down_is_noticed() {
    let bench = Bench::new();
    let config = Config::read(&bench.fake("")).unwrap();
    let mut generator = Generator::launch(&config, &Interrupt::new()).unwrap();
    generator.wait_for_link(Duration::from_secs(5)).unwrap();
    fs::write(bench.path("no-link"), "").unwrap();
    // The old testpmd would ignore the rate, and send at line rate when the link is back.
    let error = generator.start(Some(3.0)).unwrap_err();
    assert!(matches!(error, PktgenError::NoLink { .. }), "{error}");
    // A link that is back within two seconds is no error.
    let link = bench.path("no-link");
    let back = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(link).unwrap();
    });
    generator.start(Some(3.0)).unwrap();
    back.join().unwrap();
    generator.sleep(Duration::from_millis(300)).unwrap();
    let report = generator.stop().unwrap();
    assert!((report.offered_mpps - 3.0).abs() < 0.2, "{report:?}");
}

#[test]
fn another_frame_size_needs_no_new_program() {
    let bench = Bench::new();
    let config = Config::read(&bench.fake("")).unwrap();
    let mut generator = Generator::launch(&config, &Interrupt::new()).unwrap();
    let pid = bench.wait_for("pid");
    for size in [60, 124] {
        generator.set_frame_size(size).unwrap();
        generator.start(None).unwrap();
        assert_eq!(generator.stop().unwrap().frame_size, size);
    }
    assert_eq!(pid, bench.wait_for("pid"));
    let arguments = fs::read_to_string(bench.path("arguments")).unwrap();
    assert!(
        arguments.ends_with("set txpkts 60\nset txpkts 124\n"),
        "{arguments}"
    );
}

fn report(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_wrong_command_line_ends_with_2_and_a_wrong_file_with_1() {
    let bench = Bench::new();
    let config = bench.fake("");
    for wrong in [
        &["--rate", "0"][..],
        &["--rate", "fast"],
        &["--seconds", "0"],
        &["--check", "--rate", "1"],
    ] {
        let output = bench.run(&config, wrong);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    }
    let output = bench.run(&bench.fake("frame_size = 1\n"), &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("generator.toml: frame_size"));
    let output = bench.run(Path::new("/nonexistent.toml"), &["--check"]);
    assert!(text(&output).contains("cannot read /nonexistent.toml"));
}

#[test]
fn rates_are_swept_corrected_and_reported() {
    let bench = Bench::new();
    let json = bench.path("reports.json");
    let config = bench.fake("");
    let output = bench.run(
        &config,
        &[
            "--rate",
            "4,9",
            "--seconds",
            "1",
            "--json",
            json.to_str().unwrap(),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let reports = report(&json);
    for (index, asked) in [(0, 4.0), (1, 9.0)] {
        let report = &reports[index];
        let number = |name: &str| report[name].as_f64().unwrap();
        // The stand-in's frames per Mbit/s differ from a card's, so the rate needed a correction.
        assert!(
            (number("offered_mpps") / asked - 1.0).abs() < 0.03,
            "{report}"
        );
        assert!((number("loss_ratio") - 0.1).abs() < 0.02, "{report}");
        assert!((number("seconds") - 1.0).abs() < 0.5, "{report}");
        assert_eq!(report["flows"], 256);
    }
    let arguments = fs::read_to_string(bench.path("arguments")).unwrap();
    for part in [
        "--lcores 0-2",
        "-a 03:00.0 -a 03:00.1",
        "--forward-mode=txonly --txonly-multi-flow",
        "--nb-cores=2",
        "set txpkts 60",
    ] {
        assert!(arguments.contains(part), "{arguments}");
    }
    assert!(bench.path("ended").exists(), "it was not ended in order");
}

#[test]
fn a_rate_that_no_port_can_send_is_refused() {
    let bench = Bench::new();
    let output = bench.run(&bench.fake(""), &["--rate", "30"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("29.76"), "{}", text(&output));
}

#[test]
fn a_generator_that_does_not_start_reports_why() {
    let bench = Bench::new();
    bench.program(
        "testpmd",
        "#!/bin/sh\necho 'EAL: no hugepages' >&2\nexit 1\n",
    );
    let output = bench.run(&bench.fake(""), &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("EAL: no hugepages"),
        "{}",
        text(&output)
    );
    fs::remove_file(bench.path("testpmd")).unwrap();
    let output = bench.run(&bench.fake(""), &["--check"]);
    assert!(text(&output).contains("testpmd"), "{}", text(&output));
}

/// A stand-in for `ssh` that records its arguments and runs the command on this machine.
const FAKE_SSH: &str = "#!/bin/bash\necho \"$*\" >\"$(dirname \"$0\")/ssh-arguments\"\n\
                        while [ \"$1\" != -- ]; do shift; done\nexec sh -c \"$3\"\n";

#[test]
fn another_machine_is_reached_by_ssh() {
    let bench = Bench::new();
    bench.program("ssh", FAKE_SSH);
    let config = bench.fake("ssh = 'root@elsewhere'\nmode = 'flowgen'\n");
    let output = bench.run(&config, &["--ssh", "root@loadgen", "--check"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("testpmd, 2 ports on root@loadgen"));
    let arguments = fs::read_to_string(bench.path("ssh-arguments")).unwrap();
    for part in [
        "-o BatchMode=yes",
        "-o ConnectTimeout=10",
        "-- root@loadgen exec timeout -k 5 3600 stdbuf -oL",
    ] {
        assert!(arguments.contains(part), "{arguments}");
    }
    let arguments = fs::read_to_string(bench.path("arguments")).unwrap();
    assert!(arguments.contains("--flowgen-flows=1024"), "{arguments}");
    assert!(arguments.contains("set txpkts 64"), "{arguments}");
    bench.program(
        "ssh",
        "#!/bin/sh\necho 'ssh: connect to host loadgen port 22: No route to host' >&2\nexit 255\n",
    );
    let output = bench.run(&config, &["--check"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(
        said.contains("root@elsewhere ended") && said.contains("No route to host"),
        "{said}"
    );
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

fn gone(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .map_or(true, |stat| stat.contains(") Z"))
}

#[test]
fn the_generator_ends_when_the_runner_ends_in_any_way() {
    for how in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let bench = Bench::new();
        let mut child = bench
            .triptych(&bench.fake(""), &["--seconds", "600"])
            .spawn()
            .unwrap();
        let pid = bench.wait_for("pid");
        signal(&child, how);
        let deadline = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() || !gone(&pid) {
            assert!(Instant::now() < deadline, "{how:?}: it lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn stop_without_start_is_an_error() {
    let bench = Bench::new();
    let config = Config::read(&bench.fake("")).unwrap();
    let mut generator = Generator::launch(&config, &Interrupt::new()).unwrap();
    assert!(matches!(generator.stop(), Err(PktgenError::NotStarted)));
    // First at full speed, then at a rate.
    generator.start(None).unwrap();
    generator.sleep(Duration::from_millis(300)).unwrap();
    let report = generator.stop().unwrap();
    assert!(report.offered_mpps > 15.0, "{report:?}");
    generator.start(Some(3.0)).unwrap();
    generator.sleep(Duration::from_millis(300)).unwrap();
    let report = generator.stop().unwrap();
    assert!((report.offered_mpps - 3.0).abs() < 0.2, "{report:?}");
}

/// testpmd, if it is installed or unpacked. Tests download nothing.
fn testpmd() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cache = std::env::var_os("TRIPTYCH_CACHE")
        .map(PathBuf::from)
        .or_else(|| Some(home?.join(".cache/triptych")));
    find_program("dpdk-testpmd").or_else(|| {
        let path = cache?.join("testpmd/dpdk-testpmd");
        path.exists().then_some(path)
    })
}

#[test]
fn testpmd_sends_to_software_ports() {
    let Some(program) = testpmd() else {
        eprintln!("skipped: no testpmd; bench/setup/testpmd.sh unpacks one");
        return;
    };
    let bench = Bench::new();
    let config = |mode: &str, ports: &str| {
        bench.config(&format!(
            "tool = 'testpmd'\nprogram = '{}'\nmode = '{mode}'\nvdevs = [{ports}]\n\
             lcores = '(0-2)@({})'\nwarm_up_seconds = 0.2\n\
             eal = ['--no-huge', '--no-pci', '-m', '256']\n\
             options = ['--total-num-mbufs=8192']\n",
            program.display(),
            perfcounters::process::allowed_cpus()
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(",")
        ))
    };
    let json = bench.path("report.json");
    let arguments = ["--seconds", "1", "--json", json.to_str().unwrap()];

    // These ports accept all packets and return none.
    let nowhere = config("txonly", "'net_null0,no-rx=1', 'net_null1,no-rx=1'");
    let output = bench.run(&nowhere, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let sent = report(&json);
    assert!(sent[0]["offered_mpps"].as_f64().unwrap() > 0.1, "{sent}");
    assert_eq!(sent[0]["received_mpps"], 0.0, "{sent}");
    assert_eq!(sent[0]["loss_ratio"], 1.0, "{sent}");

    // testpmd refuses a rate above the speed of the link, and would send at line rate.
    let faster = fs::read_to_string(&nowhere).unwrap() + "line_rate_gbit = 40\n";
    let output = bench.run(&bench.config(&faster), &["--rate", "100"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("bigger than link speed: 10000"), "{said}");

    // They cannot limit their rate, which must be an error.
    let nowhere = config("txonly", "'net_null0,no-rx=1', 'net_null1,no-rx=1'");
    let output = bench.run(&nowhere, &["--rate", "1"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot limit their rate"), "{said}");

    // These ports return all packets.
    let back = config("flowgen", "'net_ring0', 'net_ring1'");
    let output = bench.run(&back, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let returned = report(&json);
    let ratio = returned[0]["received_mpps"].as_f64().unwrap()
        / returned[0]["offered_mpps"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.02, "{returned}");

    // One of these ports has no link.
    let commands = bench.path("link-down");
    fs::write(&commands, "set link-down port 1\n").unwrap();
    let down = fs::read_to_string(config("txonly", "'net_ring0', 'net_ring1'"))
        .unwrap()
        .replace(
            "'--total-num-mbufs=8192'",
            &format!(
                "'--total-num-mbufs=8192', '--cmdline-file={}'",
                commands.display()
            ),
        );
    let output = bench.run(&bench.config(&down), &["--link-timeout", "1"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("port net_ring0 has a link, port net_ring1 has no link"),
        "{said}"
    );
}

/// The Lua functions of dpdk-pktgen that the script uses, with the names of app/lpktgenlib.c in
/// Pktgen-DPDK. The counters advance with every query.
const PRETENDED_PKTGEN: &str = r#"
local log = io.open(LOG, "w")
local function note(name)
    return function(...)
        local words = { name }
        for _, word in ipairs({ ... }) do words[#words + 1] = tostring(word) end
        log:write(table.concat(words, " "), "\n")
        log:flush()
    end
end
local asked, sending = 0, false
pktgen = {
    info = { Pktgen_Version = "23.10.0" },
    range = {},
    portCount = function() return 2 end,
    linkState = function() return { n = 2, [0] = "<UP-10000-FD>", [1] = DOWN and "<--Down-->" or "<UP-10000-FD>" } end,
    portStats = function()
        if sending then asked = asked + 1 end
        local count = { opackets = asked * 1000, ipackets = asked * 900, imissed = asked * 50 }
        return { n = 2, [0] = count, [1] = count }
    end,
    start = function(ports) sending = true; note("start")(ports) end,
    stop = function(ports) sending = false; note("stop")(ports) end,
    quit = function() note("quit")(); os.exit(0) end,
}
for _, name in ipairs({ "set", "screen", "clr", "set_range" }) do pktgen[name] = note(name) end
for _, name in ipairs({ "ip_proto", "pkt_size", "src_ip", "dst_ip", "src_port", "dst_port" }) do
    pktgen.range[name] = note("range." .. name)
end
io.write("\27[2J\27[1;1H/ Ports 0-1 of 2 <Main Page>")
"#;

#[test]
fn dpdk_pktgens_script_runs_in_a_lua_interpreter() {
    let Some(lua) = ["lua5.4", "lua5.3", "lua"]
        .into_iter()
        .find_map(find_program)
    else {
        eprintln!("skipped: no Lua interpreter; Debian's package lua5.4 has one");
        return;
    };
    let bench = Bench::new();
    let log = bench.path("log");
    fs::write(
        bench.path("pretended.lua"),
        format!("LOG = '{}'\n{PRETENDED_PKTGEN}", log.display()),
    )
    .unwrap();
    let program = bench.program(
        "pktgen",
        &format!(
            "#!/bin/bash\necho \"$*\" >'{0}/arguments'\nfor script in \"$@\"; do :; done\n\
             exec {1} -l pretended -e 'dofile(arg[1])' \"$script\"\n",
            bench.folder.path().display(),
            lua.display()
        )
        .replace(
            "-l pretended -e 'dofile(arg[1])'",
            &format!("'{}/run.lua'", bench.folder.path().display()),
        ),
    );
    fs::write(
        bench.path("run.lua"),
        format!(
            "dofile('{}')\ndofile(arg[1])\n",
            bench.path("pretended.lua").display()
        ),
    )
    .unwrap();
    let config = bench.config(&format!(
        "tool = 'pktgen'\nprogram = '{}'\nports = ['03:00.0', '03:00.1']\nlcores = '4-6'\n\
         flows = 1024\nwarm_up_seconds = 0\n",
        program.display()
    ));
    let json = bench.path("report.json");
    let output = bench.run(
        &config,
        &["--seconds", "1", "--json", json.to_str().unwrap()],
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("dpdk-pktgen 23.10.0, 2 ports"), "{said}");
    let report = report(&json);
    assert_eq!(
        report[0]["sent"],
        serde_json::json!([1000, 1000]),
        "{report}"
    );
    assert_eq!(
        report[0]["received"],
        serde_json::json!([950, 950]),
        "{report}"
    );
    assert_eq!(report[0]["flows"], 1024);
    let log = fs::read_to_string(log).unwrap();
    for line in [
        "set all size 64",
        "range.pkt_size all max 64",
        "set all rate 100",
        "range.src_port 0 min 1024",
        "range.src_port 1 max 2047",
        "range.dst_ip 1 start 198.19.1.1",
        "set_range all on",
        "start all",
        "stop all",
    ] {
        assert!(log.lines().any(|found| found == line), "{line}:\n{log}");
    }
    assert!(log.ends_with("stop all\nquit\n"), "{log}");
    let arguments = fs::read_to_string(bench.path("arguments")).unwrap();
    assert!(
        arguments.contains("--lcores 4-6")
            && arguments.contains("-- -P -m 5.0,6.1 -f /tmp/triptych-"),
        "{arguments}"
    );
    let script = arguments.split_whitespace().last().unwrap();
    assert!(!Path::new(script).exists(), "{script} was left behind");
}

/// The parts of MoonGen and libmoon that the script uses, with the names of lua/device.lua, lua/libmoon.lua and
/// lua/memory.lua there. A task is a coroutine that runs while the counters are read, and sends a batch each time.
const PRETENDED_MOONGEN: &str = r#"
local log = io.open(LOG, "w")
local function note(...)
    log:write(table.concat({ ... }, " "), "\n")
    log:flush()
end
local unpack = table.unpack or unpack
local shared, tasks = {}, {}
local function step()
    for _, task in ipairs(tasks) do
        if coroutine.status(task) ~= "dead" then assert(coroutine.resume(task)) end
    end
end
package.preload.moongen = function()
    return {
        running = function() return true end,
        startTask = function(name, ...)
            local arguments = { ... }
            local task = coroutine.create(function() _G[name](unpack(arguments)) end)
            tasks[#tasks + 1] = task
            note("task", name, arguments[2], arguments[3], arguments[4])
            return {
                wait = function()
                    while coroutine.status(task) ~= "dead" do assert(coroutine.resume(task)) end
                    note("ended")
                end,
            }
        end,
    }
end
package.preload.namespaces = function() return { get = function() return shared end } end
package.preload.memory = function()
    return {
        createMemPool = function(fill)
            local buffer = {}
            local packet = { udp = {} }
            function packet:fill(fields) note("fill", fields.ip4Src, fields.pktLength, fields.udpDst) end
            function packet.udp:setSrcPort(port) packet.last = port end
            function buffer:getUdpPacket() return packet end
            fill(buffer)
            return {
                bufArray = function(_, n)
                    local array = {}
                    for i = 1, n do array[i] = buffer end
                    function array:alloc(size) self.size = size end
                    function array:offloadIPChecksums() note("last port", packet.last) end
                    return array
                end,
            }
        end,
    }
end
package.preload.device = function()
    local function get(id)
        local queue, sent = {}, 0
        function queue:setRate(rate) note("rate", id, string.format("%.0f", rate)) end
        function queue:send(buffers) sent = sent + #buffers; coroutine.yield() end
        local dev = {}
        function dev:getTxQueue() return queue end
        function dev:getLinkStatus() return { status = not (DOWN and id == 1), speed = 10000 } end
        function dev:getTxStats() step(); return sent, sent * 64 end
        function dev:getRxStats() return sent - sent % 10, 0 end
        return dev
    end
    return { config = function(arguments) note("config", arguments.port); return get(arguments.port) end }
end
print("[INFO]  Initializing DPDK. This will take a few seconds...")
"#;

#[test]
fn moongens_script_runs_in_a_lua_interpreter() {
    // MoonGen itself runs LuaJIT.
    let Some(lua) = ["luajit", "lua5.4", "lua5.3", "lua"]
        .into_iter()
        .find_map(find_program)
    else {
        eprintln!("skipped: no Lua interpreter; Debian's package lua5.4 has one");
        return;
    };
    let bench = Bench::new();
    let log = bench.path("log");
    fs::create_dir(bench.path("build")).unwrap();
    fs::write(
        bench.path("run.lua"),
        format!(
            "LOG = '{}'\nDOWN = {}\n{PRETENDED_MOONGEN}\ndofile(arg[1])\nmaster()\n",
            log.display(),
            "os.getenv('DOWN')"
        ),
    )
    .unwrap();
    let program = bench.program(
        "build/MoonGen",
        &format!(
            "#!/bin/bash\necho \"$*\" >'{0}/arguments'\ncat \"${{2#*=}}\" >'{0}/dpdk-conf'\n\
             exec {1} '{0}/run.lua' \"$1\"\n",
            bench.folder.path().display(),
            lua.display()
        ),
    );
    let config = bench.config(&format!(
        "tool = 'moongen'\nprogram = '{}'\nports = ['03:00.0', '03:00.1']\nlcores = '4-6'\n\
         flows = 100\nwarm_up_seconds = 0\n",
        program.display()
    ));
    let json = bench.path("report.json");
    let output = bench.run(
        &config,
        &["--seconds", "1", "--json", json.to_str().unwrap()],
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("MoonGen ?, 2 ports on this machine"),
        "{said}"
    );
    let report = report(&json);
    // A burst of each port is sent whenever a port's counters are read.
    assert_eq!(report[0]["sent"], serde_json::json!([126, 126]), "{report}");
    let log = fs::read_to_string(&log).unwrap();
    for line in [
        "config 0",
        "config 1",
        "task send 1 60 100",
        "fill 198.18.1.1 60 9",
        "last port 1086", // 63 frames, from 1024
        "last port 1049", // the next 63 of 100 flows
    ] {
        assert!(log.lines().any(|found| found == line), "{line}:\n{log}");
    }
    assert_eq!(log.lines().filter(|line| *line == "ended").count(), 2);
    assert_eq!(
        fs::read_to_string(bench.path("dpdk-conf")).unwrap(),
        "DPDKConfig { cores = {4, 5, 6}, pciWhitelist = {\"03:00.0\", \"03:00.1\"}, \
         cli = {\"--file-prefix\", \"triptych\"} }\n"
    );
    let arguments = fs::read_to_string(bench.path("arguments")).unwrap();
    let script = arguments.split_whitespace().next().unwrap();
    assert!(!Path::new(script).exists(), "{script} was left behind");

    // A tenth of the line rate, in MoonGen's Mbit/s: 84 bytes on the wire carry a frame of 64.
    let output = bench.run(&config, &["--rate", "2.976", "--seconds", "1"]);
    let log = fs::read_to_string(bench.path("log")).unwrap();
    assert!(log.contains("rate 1 762\n"), "{log}\n{}", text(&output));
    let output = bench
        .triptych(&config, &["--link-timeout", "1"])
        .env("DOWN", "1")
        .output()
        .unwrap();
    let said = text(&output);
    assert!(
        said.contains("port 03:00.0 has a link, port 03:00.1 has no link"),
        "{said}"
    );
}
