//! Tests `triptych pktgen`. testpmd runs on DPDK's software ports if it is installed or unpacked
//! (bench/setup/testpmd.sh). The Lua scripts run in a Lua interpreter, if there is one, on a simulated dpdk-pktgen and a
//! simulated MoonGen. A stand-in for SSH runs the commands on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use perfcounters::process::{allowed_cpus, find_program};
use perfcounters::{Interrupt, MeasureError};
use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;
use triptych::measure::pktgen::{Config, Generator};

/// A folder with a stand-in for testpmd, which answers as DPDK 22.11 does.
struct Bench {
    folder: tempfile::TempDir,
}

/// It sends 1000 frames per second for each Mbit/s of its limit, and loses one in ten. While a file `no-link`
/// exists, its ports have no link: they send nothing, and it ignores limits of the rate.
const FAKE_TESTPMD: &str = r##"#!/bin/bash
cd "$(dirname "$0")" && echo "$$" >pid && echo "$*" >arguments && echo "Done"
rate=10000 started=0 sent=0
count() {
    at=$(date +%s%N)
    [ $started = 0 ] || [ -e no-link ] || sent=$((sent + (at - started) * rate / 1000000))
    [ $started = 0 ] || started=$at
}
while read -r line; do
    echo "testpmd> $line"
    echo "$line" >>commands
    case "$line" in
    "set port"*)
        count
        speed=10000
        [ ! -e no-link ] || speed=0
        if [ "${line##* }" -gt $speed ]; then echo "Invalid rate value:${line##* } bigger than link speed: $speed"
        else rate=${line##* }; fi ;;
    "show port summary all")
        link="up       10 Gbps"
        [ ! -e no-link ] || link="down     None"
        echo "Number of available ports: 2"
        echo "Port MAC Address       Name         Driver         Status   Link"
        for port in 0 1; do echo "$port    02:00:00:00:00:0$port 0000:03:00.$port net_ixgbe      $link"; done ;;
    start) started=$(date +%s%N); echo "txonly packet forwarding - ports=2 - cores=2" ;;
    stop)
        count; started=0
        echo "  +++ Accumulated forward statistics for all ports+++"
        echo "  TX-packets: 7              TX-dropped: 0             TX-total: 7" ;;
    "show port stats all")
        count
        for port in 0 1; do
            echo "  ### NIC statistics for port $port  ###"
            echo "  RX-packets: 0          RX-missed: $((sent * 9 / 10))          RX-bytes:  0"
            echo "  RX-errors: 0"
            echo "  TX-packets: $sent   TX-errors: 0          TX-bytes:  0"
        done ;;
    esac
done
echo ended >ended
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

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A configuration of a program in the folder.
    fn config(&self, tool: &str, program: &str, more: &str) -> PathBuf {
        let program = self.path(program);
        let text = format!("tool = '{tool}'\nprogram = '{}'\n{more}", program.display());
        self.write("generator.toml", &text)
    }

    /// A configuration that runs the stand-in.
    fn fake(&self, more: &str) -> PathBuf {
        let ports = "ports = ['03:00.0', '03:00.1']\nlcores = '0-2'\nwarm_up_seconds = 0.1\n";
        self.config("testpmd", "testpmd", &format!("{ports}{more}"))
    }

    fn generator(&self) -> Generator {
        let config = Config::read(&self.fake("")).unwrap();
        Generator::launch(&config, &Interrupt::new()).unwrap()
    }

    /// `triptych pktgen`; its reports go to `reports.json`.
    fn triptych(&self, config: &Path, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
        command
            .arg("pktgen")
            .arg("--config")
            .arg(config)
            .args(arguments.split_whitespace());
        if !arguments.contains("--check") {
            command.arg("--json").arg(self.path("reports.json"));
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.folder.path().display()));
        command
    }

    /// Runs it, and expects this exit status and all these parts of its output.
    fn run(&self, config: &Path, arguments: &str, status: i32, parts: &[&str]) {
        expect(
            &self.triptych(config, arguments).output().unwrap(),
            status,
            parts,
        );
    }

    fn reports(&self) -> Value {
        serde_json::from_str(&self.read("reports.json")).unwrap()
    }

    /// Waits until a file exists, and reads it.
    fn wait_for(&self, name: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.read(name).ends_with('\n') {
            assert!(Instant::now() < deadline, "no {name}");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.read(name)
    }
}

fn expect(output: &Output, status: i32, parts: &[&str]) {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    for part in parts {
        assert!(
            out.contains(part) || err.contains(part),
            "no {part:?}: {out}{err}"
        );
    }
}

fn contains_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|found| found == *line), "{line}:\n{text}");
    }
}

#[test]
fn a_wait_for_links_sends_nothing_and_sets_no_rate() {
    let bench = Bench::new();
    bench.write("no-link", "");
    let config = bench.fake("");
    let child = bench
        .triptych(&config, "--rate 4 --seconds 1")
        .spawn()
        .unwrap();
    bench.wait_for("commands");
    std::thread::sleep(Duration::from_millis(500));
    let before = bench.read("commands");
    assert!(before.contains("show port summary all"), "{before}");
    assert!(
        !before.contains("start") && !before.contains("rate"),
        "{before}"
    );
    // The forwarder starts, and the links come up.
    fs::remove_file(bench.path("no-link")).unwrap();
    let output = child.wait_with_output().unwrap();
    expect(&output, 0, &["waiting 60 s for links: start the forwarder"]);
    let offered = bench.reports()[0]["offered_mpps"].as_f64().unwrap();
    assert!((offered / 4.0 - 1.0).abs() < 0.03, "{offered}");
}

#[test]
fn a_link_that_goes_down_is_noticed() {
    let bench = Bench::new();
    let mut generator = bench.generator();
    generator.wait_for_link(Duration::from_secs(5)).unwrap();
    let link = bench.write("no-link", "");
    // The old testpmd would ignore the rate, and send at line rate when the link is back.
    let error = generator.start(Some(3.0)).unwrap_err();
    assert!(matches!(error, MeasureError::Link(_)), "{error}");
    // A link that is back within two seconds is no error.
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
fn one_program_sends_frames_of_other_sizes_and_at_other_rates() {
    let bench = Bench::new();
    let mut generator = bench.generator();
    let pid = bench.wait_for("pid");
    assert!(generator
        .stop()
        .unwrap_err()
        .to_string()
        .contains("not started"));
    for size in [60, 124] {
        generator.set_frame_size(size).unwrap();
        generator.start(None).unwrap();
        generator.sleep(Duration::from_millis(300)).unwrap();
        let report = generator.stop().unwrap();
        assert_eq!(report.frame_size, size);
        assert!(report.offered_mpps > 15.0, "{report:?}");
    }
    assert_eq!(pid, bench.wait_for("pid"));
    contains_lines(
        &bench.read("commands"),
        &["set txpkts 60", "set txpkts 124"],
    );
}

#[test]
fn mistakes_and_failures_have_their_exit_status_and_a_reason() {
    let bench = Bench::new();
    let config = bench.fake("");
    for wrong in ["--rate 0", "--rate fast", "--seconds 0", "--check --rate 1"] {
        bench.run(&config, wrong, 2, &[]);
    }
    bench.run(&config, "--rate 30", 1, &["29.76"]);
    let nowhere = ["cannot read /nonexistent.toml"];
    bench.run(Path::new("/nonexistent.toml"), "--check", 1, &nowhere);
    bench.run(
        &bench.fake("frame_size = 1\n"),
        "--check",
        1,
        &["generator.toml: frame_size"],
    );
    // The wanted rate is above the speed of the link.
    let faster = bench.fake("line_rate_gbit = 40\n");
    let refused = ["bigger than link speed: 10000", "line_rate_gbit"];
    bench.run(&faster, "--rate 100", 1, &refused);
    let config = bench.fake("");
    bench.write("no-link", "");
    let down = "port 03:00.0 has no link, port 03:00.1 has no link";
    bench.run(
        &config,
        "--link-timeout 1",
        1,
        &["no link within 1 s", down],
    );
    // A check shows the links, and is no failure.
    bench.run(&config, "--check", 0, &["port 03:00.1 has no link"]);
    bench.program(
        "testpmd",
        "#!/bin/sh\necho 'EAL: no hugepages' >&2\nexit 1\n",
    );
    bench.run(&config, "--check", 1, &["EAL: no hugepages"]);
    fs::remove_file(bench.path("testpmd")).unwrap();
    bench.run(&config, "--check", 1, &["testpmd", "ended"]);
}

#[test]
fn rates_are_swept_corrected_and_reported() {
    let bench = Bench::new();
    bench.run(
        &bench.fake(""),
        "--rate 4,9 --seconds 1",
        0,
        &["testpmd, 2 ports on this machine"],
    );
    let reports = bench.reports();
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
    let arguments = "--lcores 0-2 --file-prefix triptych --no-telemetry -a 03:00.0 -a 03:00.1 -- --disable-link-check -i \
                     --port-topology=paired --forward-mode=txonly --txonly-multi-flow --nb-cores=2\n";
    assert_eq!(bench.read("arguments"), arguments);
    assert!(bench.path("ended").exists(), "it was not ended in order");
}

#[test]
fn another_machine_is_reached_by_ssh() {
    let bench = Bench::new();
    let fake = "#!/bin/bash\necho \"$*\" >\"$(dirname \"$0\")/ssh-arguments\"\n\
                while [ \"$1\" != -- ]; do shift; done\nexec sh -c \"$3\"\n";
    bench.program("ssh", fake);
    let config = bench.fake("ssh = 'root@elsewhere'\nmode = 'flowgen'\n");
    let found = ["testpmd, 2 ports on root@loadgen"];
    bench.run(&config, "--ssh root@loadgen --check", 0, &found);
    let arguments = bench.read("ssh-arguments");
    for part in [
        "-o BatchMode=yes -o ConnectTimeout=10",
        "-- root@loadgen exec 2>&1; exec timeout -k 5 3600 stdbuf -oL",
    ] {
        assert!(arguments.contains(part), "{arguments}");
    }
    assert!(bench.read("arguments").contains("--flowgen-flows=1024"));
    contains_lines(&bench.read("commands"), &["set txpkts 64"]);
    let no_route = "ssh: connect to host loadgen port 22: No route to host";
    bench.program(
        "ssh",
        &format!("#!/bin/sh\necho '{no_route}' >&2\nexit 255\n"),
    );
    bench.run(&config, "--check", 1, &["root@elsewhere ended", no_route]);
}

#[test]
fn the_generator_ends_when_the_runner_ends_in_any_way() {
    for how in [Signal::INT, Signal::KILL] {
        let bench = Bench::new();
        let config = bench.fake("");
        let mut child = bench.triptych(&config, "--seconds 600").spawn().unwrap();
        let pid = bench.wait_for("pid");
        kill_process(Pid::from_child(&child), how).unwrap();
        let gone = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            stat.map_or(true, |stat| stat.contains(") Z"))
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() || !gone() {
            assert!(Instant::now() < deadline, "{how:?}: it lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// testpmd, if it is installed or unpacked. Tests download nothing.
fn testpmd() -> Option<PathBuf> {
    let cache = std::env::var_os("TRIPTYCH_CACHE").map(PathBuf::from);
    let cache =
        cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/triptych")));
    let unpacked = cache.map(|cache| cache.join("testpmd/dpdk-testpmd"));
    find_program("dpdk-testpmd").or(unpacked.filter(|path| path.exists()))
}

#[test]
fn testpmd_sends_to_software_ports() {
    let Some(program) = testpmd() else {
        eprintln!("skipped: no testpmd; bench/setup/testpmd.sh unpacks one");
        return;
    };
    let bench = Bench::new();
    let cpus: Vec<_> = allowed_cpus().iter().map(usize::to_string).collect();
    let config = |ports: &str, more: &str| {
        let program = program.to_str().unwrap();
        let common = format!(
            "vdevs = [{ports}]\nlcores = '(0-2)@({})'\nwarm_up_seconds = 0.2\n\
             eal = ['--no-huge', '--no-pci', '-m', '256']\n{more}",
            cpus.join(",")
        );
        bench.config("testpmd", program, &common)
    };
    let options = "options = ['--total-num-mbufs=8192']\n";

    // These ports accept all packets and return none.
    let nowhere = "'net_null0,no-rx=1', 'net_null1,no-rx=1'";
    bench.run(&config(nowhere, options), "--seconds 1", 0, &[]);
    let sent = bench.reports();
    assert!(sent[0]["offered_mpps"].as_f64().unwrap() > 0.1, "{sent}");
    assert_eq!(sent[0]["loss_ratio"], 1.0, "{sent}");

    // It refuses a rate above the speed of the link, and a rate of ports that cannot limit it.
    let faster = format!("{options}line_rate_gbit = 40\n");
    let refused = "bigger than link speed: 10000";
    bench.run(&config(nowhere, &faster), "--rate 100", 1, &[refused]);
    bench.run(
        &config(nowhere, options),
        "--rate 1",
        1,
        &["cannot limit their rate"],
    );

    // These ports return all packets.
    let rings = "'net_ring0', 'net_ring1'";
    let flowgen = format!("{options}mode = 'flowgen'\n");
    bench.run(&config(rings, &flowgen), "--seconds 1", 0, &[]);
    let returned = &bench.reports()[0];
    let mpps = |name: &str| returned[name].as_f64().unwrap();
    let ratio = mpps("received_mpps") / mpps("offered_mpps");
    assert!((ratio - 1.0).abs() < 0.02, "{returned}");

    // One of these ports has no link.
    let commands = bench.write("link-down", "set link-down port 1\n");
    let file = format!("'--cmdline-file={}'", commands.display());
    let down = format!("options = ['--total-num-mbufs=8192', {file}]\n");
    let named = "port net_ring0 has a link, port net_ring1 has no link";
    bench.run(&config(rings, &down), "--link-timeout 1", 1, &[named]);
}

/// What both simulations need: a log.
const NOTE: &str = r#"
local log = io.open(FOLDER .. "/log", "w")
local function note(...)
    log:write(table.concat({ ... }, " "), "\n")
    log:flush()
end
local function noting(name) return function(...) note(name, ...) end end
"#;

/// The Lua functions of dpdk-pktgen that the script uses, with the names of app/lpktgenlib.c in
/// Pktgen-DPDK. The counters advance with every query.
const PRETENDED_PKTGEN: &str = r#"
local asked, sending = 0, false
pktgen = {
    info = { Pktgen_Version = "23.10.0" },
    range = {},
    portCount = function() return 2 end,
    linkState = function() return { [0] = "<UP-10000-FD>", [1] = DOWN and "<--Down-->" or "<UP-10000-FD>" } end,
    portStats = function()
        if sending then asked = asked + 1 end
        local count = { opackets = asked * 1000, ipackets = asked * 900, imissed = asked * 50 }
        return { [0] = count, [1] = count }
    end,
    start = function(ports) sending = true; note("start", ports) end,
    stop = function(ports) sending = false; note("stop", ports) end,
    quit = function() note("quit"); os.exit(0) end,
}
for _, name in ipairs({ "set", "screen", "clr", "set_range" }) do pktgen[name] = noting(name) end
for _, name in ipairs({ "ip_proto", "pkt_size", "src_ip", "dst_ip", "src_port", "dst_port" }) do
    pktgen.range[name] = noting("range." .. name)
end
io.write("\27[2J\27[1;1H/ Ports 0-1 of 2 <Main Page>")
"#;

/// The parts of MoonGen and libmoon that the script uses, with the names of lua/device.lua, lua/libmoon.lua and
/// lua/memory.lua there. A task is a coroutine that runs while the counters are read, and sends a batch each time.
const PRETENDED_MOONGEN: &str = r#"
local unpack = table.unpack or unpack
local shared, tasks = {}, {}
local function step(task)
    if coroutine.status(task) ~= "dead" then assert(coroutine.resume(task)) end
    return coroutine.status(task) ~= "dead"
end
package.loaded.moongen = {
    running = function() return true end,
    startTask = function(name, ...)
        local arguments = { ... }
        local task = coroutine.create(function() _G[name](unpack(arguments)) end)
        tasks[#tasks + 1] = task
        note("task", name, arguments[2], arguments[3], arguments[4])
        return { wait = function() while step(task) do end; note("ended") end }
    end,
}
package.loaded.namespaces = { get = function() return shared end }
package.loaded.memory = {
    createMemPool = function(fill)
        local packet = { udp = {} }
        function packet:fill(fields) note("fill", fields.ip4Src, fields.pktLength, fields.udpDst) end
        function packet.udp:setSrcPort(port) packet.last = port end
        local buffer = { getUdpPacket = function() return packet end }
        fill(buffer)
        return {
            bufArray = function(_, n)
                local array = {}
                for i = 1, n do array[i] = buffer end
                function array:alloc() end
                function array:offloadIPChecksums() note("last port", packet.last) end
                return array
            end,
        }
    end,
}
package.loaded.device = {
    config = function(arguments)
        local id, queue, sent = arguments.port, {}, 0
        note("config", id)
        function queue:setRate(rate) note("rate", id, string.format("%.0f", rate)) end
        function queue:send(buffers) sent = sent + #buffers; coroutine.yield() end
        local dev = {}
        function dev:getTxQueue() return queue end
        function dev:getLinkStatus() return { status = not (DOWN and id == 1), speed = 10000 } end
        function dev:getTxStats() for _, task in ipairs(tasks) do step(task) end; return sent, sent * 64 end
        function dev:getRxStats() return sent - sent % 10, 0 end
        return dev
    end,
}
print("[INFO]  Initializing DPDK. This will take a few seconds...")
"#;

/// A program at `path` that runs its script in a Lua interpreter, after a simulation. Its configuration, or `None` without
/// an interpreter.
fn simulated(
    bench: &Bench,
    tool: &str,
    path: &str,
    simulation: &str,
    run: &str,
) -> Option<PathBuf> {
    // MoonGen itself runs LuaJIT.
    let lua = ["luajit", "lua5.4", "lua5.3", "lua"]
        .into_iter()
        .find_map(find_program);
    let Some(lua) = lua else {
        eprintln!("skipped: no Lua interpreter; Debian's package lua5.4 has one");
        return None;
    };
    let folder = bench.folder.path().display();
    let before = format!("FOLDER, DOWN = '{folder}', os.getenv('DOWN')\n{NOTE}{simulation}\n");
    bench.write("run.lua", &format!("{before}dofile(arg[1])\n{run}\n"));
    fs::create_dir_all(bench.path(path).parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/bash\necho \"$*\" >'{folder}/arguments'\nfor word in \"$@\"; do\n\
         case $word in *.lua) [ \"${{word#--}}\" != \"$word\" ] || script=$word ;; esac; done\n\
         [ ! -e \"${{2#*=}}\" ] || cat \"${{2#*=}}\" >'{folder}/dpdk-conf'\n\
         exec {} '{folder}/run.lua' \"$script\"\n",
        lua.display()
    );
    bench.program(path, &script);
    let ports =
        "ports = ['03:00.0', '03:00.1']\nlcores = '4-6'\nflows = 100\nwarm_up_seconds = 0\n";
    Some(bench.config(tool, path, ports))
}

/// What both programs must do: name ports without a link, and leave no script behind.
fn check_simulated(bench: &Bench, config: &Path) {
    let mut command = bench.triptych(config, "--link-timeout 1");
    let output = command.env("DOWN", "1").output().unwrap();
    expect(
        &output,
        1,
        &["port 03:00.0 has a link, port 03:00.1 has no link"],
    );
    let arguments = bench.read("arguments");
    let script = arguments
        .split_whitespace()
        .find(|word| word.ends_with(".lua"))
        .unwrap();
    assert!(!Path::new(script).exists(), "{script} was left behind");
}

#[test]
fn dpdk_pktgens_script_runs_in_a_lua_interpreter() {
    let bench = Bench::new();
    let Some(config) = simulated(&bench, "pktgen", "pktgen", PRETENDED_PKTGEN, "") else {
        return;
    };
    let about = ["dpdk-pktgen 23.10.0, 2 ports on this machine"];
    bench.run(&config, "--seconds 1", 0, &about);
    let report = &bench.reports()[0];
    // The counters of each port are a query.
    assert_eq!(report["sent"], serde_json::json!([2000, 2000]), "{report}");
    assert_eq!(
        report["received"],
        serde_json::json!([1900, 1900]),
        "{report}"
    );
    assert_eq!(report["flows"], 100);
    let log = bench.read("log");
    let lines = [
        "set all size 64",
        "range.pkt_size all max 64",
        "set all rate 100",
        "range.src_port 0 min 1024",
        "range.src_port 1 max 1123",
        "range.dst_ip 1 start 198.19.1.1",
        "set_range all on",
        "start all",
    ];
    contains_lines(&log, &lines);
    assert!(log.ends_with("stop all\nquit\n"), "{log}");
    let arguments = bench.read("arguments");
    assert!(arguments.contains("--lcores 4-6"), "{arguments}");
    assert!(
        arguments.contains("-- -P -m 5.0,6.1 -f /tmp/triptych-"),
        "{arguments}"
    );
    check_simulated(&bench, &config);
}

#[test]
fn moongens_script_runs_in_a_lua_interpreter() {
    let bench = Bench::new();
    let path = "build/MoonGen";
    let Some(config) = simulated(&bench, "moongen", path, PRETENDED_MOONGEN, "master()") else {
        return;
    };
    bench.run(
        &config,
        "--seconds 1",
        0,
        &["MoonGen ?, 2 ports on this machine"],
    );
    // A burst of each port is sent whenever a port's counters are read.
    let report = &bench.reports()[0];
    assert_eq!(report["sent"], serde_json::json!([126, 126]), "{report}");
    let lines = [
        "config 0",
        "config 1",
        "task send 1 60 100",
        "fill 198.18.1.1 60 9",
        "last port 1086", // 63 frames, from 1024
        "last port 1049", // the next 63 of 100 flows
    ];
    contains_lines(&bench.read("log"), &lines);
    assert_eq!(bench.read("log").matches("ended\n").count(), 2);
    assert_eq!(
        bench.read("dpdk-conf"),
        "DPDKConfig { cores = {4, 5, 6}, pciWhitelist = {\"03:00.0\", \"03:00.1\"}, \
         cli = {\"--file-prefix\", \"triptych\"} }\n"
    );
    // A tenth of the line rate, in MoonGen's Mbit/s: 84 bytes on the wire carry a frame of 64.
    bench
        .triptych(&config, "--rate 2.976 --seconds 1")
        .output()
        .unwrap();
    contains_lines(&bench.read("log"), &["rate 1 762"]);
    check_simulated(&bench, &config);
}
