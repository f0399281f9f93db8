//! Tests `triptych pktgen`. testpmd runs on DPDK's software ports if it is installed or unpacked
//! (bench/setup/testpmd.sh). The Lua scripts run in a Lua interpreter, if there is one, on a simulated dpdk-pktgen and a
//! simulated MoonGen. A stand-in for SSH runs the commands on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use perfcounters::process::{allowed_cpus, find_program};
use perfcounters::{Interrupt, MeasureError};
use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;
use triptych::measure::pktgen::{Config, Generator};

use crate::support::{script, text, wait_until};

/// A folder with a stand-in for testpmd, which answers as DPDK 22.11 does.
struct Bench(tempfile::TempDir);

/// It sends 1000 frames per second for each Mbit/s of its limit, and loses one in ten. While a file `no-link`
/// exists, its ports have no link: they send nothing, and it ignores limits of the rate.
const FAKE_TESTPMD: &str = r##"cd "$(dirname "$0")" && echo "$$" >pid && echo "$*" >arguments && echo "Done"
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
        speed=$([ -e no-link ] && echo 0 || echo 10000)
        if [ "${line##* }" -gt $speed ]; then echo "Invalid rate value:${line##* } bigger than link speed: $speed"
        else rate=${line##* }; fi ;;
    "show port summary all")
        link=$([ -e no-link ] && echo "down     None" || echo "up       10 Gbps")
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
            echo "  RX-packets: 0          RX-missed: $((sent * 9 / 10))          RX-bytes:  0"
            echo "  TX-packets: $sent   TX-errors: 0          TX-bytes:  0"
        done ;;
    esac
done
echo ended >ended
"##;

impl Bench {
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        bench.program("testpmd", FAKE_TESTPMD);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn program(&self, name: &str, text: &str) {
        script(&self.path(name), text);
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

    /// `triptych pktgen`; its reports go to `reports.json`.
    fn triptych(&self, config: &Path, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_triptych"));
        command.arg("pktgen").arg("--config").arg(config);
        command.args(arguments.split_whitespace());
        if !arguments.contains("--check") {
            command.arg("--json").arg(self.path("reports.json"));
        }
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.0.path().display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        command
    }

    /// Runs it, and expects this exit status and all these parts of its output.
    fn run(&self, config: &Path, arguments: &str, status: i32, parts: &[&str]) {
        let output = self.triptych(config, arguments).output().unwrap();
        expect(&output, status, parts);
    }

    fn reports(&self) -> Value {
        serde_json::from_str(&self.read("reports.json")).unwrap()
    }

    /// Waits until a file exists, and reads it.
    fn wait_for(&self, name: &str) -> String {
        wait_until(name, || self.read(name).ends_with('\n'));
        self.read(name)
    }
}

fn expect(output: &Output, status: i32, parts: &[&str]) {
    let said = text(output);
    assert_eq!(output.status.code(), Some(status), "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?}: {said}");
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
    let mut command = bench.triptych(&config, "--rate 4 --seconds 1");
    let child = command.spawn().unwrap();
    bench.wait_for("commands");
    std::thread::sleep(Duration::from_millis(500));
    let before = bench.read("commands");
    assert!(before.contains("show port summary all"), "{before}");
    let sends = before.contains("start") || before.contains("rate");
    assert!(!sends, "{before}");
    // The forwarder starts, and the links come up.
    fs::remove_file(bench.path("no-link")).unwrap();
    let output = child.wait_with_output().unwrap();
    expect(&output, 0, &["waiting 60 s for links: start the forwarder"]);
    // Without the limit it would send at line rate. A busy machine may lose a little.
    let offered = bench.reports()[0]["offered_mpps"].as_f64().unwrap();
    assert!((2.0..6.0).contains(&offered), "{offered}");
}

#[test]
fn one_program_sends_other_sizes_and_rates_and_notices_a_link_that_goes_down() {
    let bench = Bench::new();
    let config = Config::read(&bench.fake("")).unwrap();
    let mut generator = Generator::launch(&config, &Interrupt::new()).unwrap();
    let pid = bench.wait_for("pid");
    let mut report = |size, rate| {
        generator.set_frame_size(size)?;
        generator.start(rate)?;
        generator.sleep(Duration::from_millis(300))?;
        generator.stop()
    };
    for size in [60, 124] {
        let sent = report(size, None).unwrap();
        assert_eq!(sent.frame_size, size);
        assert!(sent.offered_mpps > 15.0, "{sent:?}");
    }
    let link = bench.write("no-link", "");
    // The old testpmd would ignore the rate, and send at line rate when the link is back.
    let error = report(60, Some(3.0)).unwrap_err();
    assert!(matches!(error, MeasureError::Link(_)), "{error}");
    // A link that is back within two seconds is no error.
    let back = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        fs::remove_file(link).unwrap();
    });
    let sent = report(60, Some(3.0)).unwrap();
    assert!((sent.offered_mpps - 3.0).abs() < 0.2, "{sent:?}");
    back.join().unwrap();
    assert_eq!(pid, bench.wait_for("pid"));
    let sizes = ["set txpkts 60", "set txpkts 124"];
    contains_lines(&bench.read("commands"), &sizes);
}

#[test]
fn mistakes_and_failures_have_their_exit_status_and_a_reason() {
    let bench = Bench::new();
    let down = "port 03:00.0 has no link, port 03:00.1 has no link";
    for (file, arguments, status, parts) in [
        ("", "--rate 0", 2, vec![]),
        ("", "--rate fast", 2, vec![]),
        ("", "--seconds 0", 2, vec![]),
        ("", "--check --rate 1", 2, vec![]),
        ("", "--rate 30", 1, vec!["29.76"]),
        (
            "frame_size = 1\n",
            "--check",
            1,
            vec!["generator.toml: frame_size"],
        ),
        // The wanted rate is above the speed of the link.
        (
            "line_rate_gbit = 40\n",
            "--rate 100",
            1,
            vec!["bigger than link speed: 10000", "line_rate_gbit"],
        ),
    ] {
        bench.run(&bench.fake(file), arguments, status, &parts);
    }
    let nowhere = ["cannot read /nonexistent.toml"];
    bench.run(Path::new("/nonexistent.toml"), "--check", 1, &nowhere);
    let config = bench.fake("");
    bench.write("no-link", "");
    let no_link = ["no link within 1 s", down];
    bench.run(&config, "--link-timeout 1", 1, &no_link);
    // A check shows the links, and is no failure.
    bench.run(&config, "--check", 0, &["port 03:00.1 has no link"]);
    let fails = "echo 'EAL: no hugepages' >&2\nexit 1\n";
    bench.program("testpmd", fails);
    bench.run(&config, "--check", 1, &["EAL: no hugepages"]);
    fs::remove_file(bench.path("testpmd")).unwrap();
    bench.run(&config, "--check", 1, &["testpmd", "ended"]);
}

#[test]
fn rates_are_swept_corrected_and_reported() {
    let bench = Bench::new();
    let about = ["testpmd, 2 ports on this machine"];
    bench.run(&bench.fake(""), "--rate 4,9 --seconds 1", 0, &about);
    let reports = bench.reports();
    for (index, asked) in [(0, 4.0), (1, 9.0)] {
        let report = &reports[index];
        let number = |name: &str| report[name].as_f64().unwrap();
        // The stand-in's frames per Mbit/s differ from a card's, so the rate needed a correction.
        let offered = number("offered_mpps");
        assert!((offered / asked - 1.0).abs() < 0.03, "{report}");
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
    let fake = "echo \"$*\" >\"$(dirname \"$0\")/ssh-arguments\"\n\
                while [ \"$1\" != -- ]; do shift; done\nexec sh -c \"$3\"\n";
    bench.program("ssh", fake);
    let config = bench.fake("ssh = 'root@elsewhere'\nmode = 'flowgen'\n");
    let found = ["testpmd, 2 ports on root@loadgen"];
    bench.run(&config, "--ssh root@loadgen --check", 0, &found);
    let arguments = bench.read("ssh-arguments");
    assert!(arguments.contains("-o BatchMode=yes -o ConnectTimeout=10"));
    let command = "-- root@loadgen exec 2>&1; exec timeout -k 5 3600 stdbuf -oL";
    assert!(arguments.contains(command), "{arguments}");
    assert!(bench.read("arguments").contains("--flowgen-flows=1024"));
    contains_lines(&bench.read("commands"), &["set txpkts 64"]);
    let no_route = "ssh: connect to host loadgen port 22: No route to host";
    let fails = format!("echo '{no_route}' >&2\nexit 255\n");
    bench.program("ssh", &fails);
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
        wait_until("both have ended", || {
            child.try_wait().unwrap().is_some() && gone()
        });
    }
}

/// testpmd, if it is installed or unpacked. Tests download nothing.
fn testpmd() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    let home = folder("HOME").map(|home| home.join(".cache/triptych"));
    let cache = folder("TRIPTYCH_CACHE").or(home);
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
    let unlimited = "cannot limit their rate";
    bench.run(&config(nowhere, options), "--rate 1", 1, &[unlimited]);

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

/// What both simulations need: a log, and objects whose functions are all noted there.
const NOTE: &str = r#"
local log = io.open(FOLDER .. "/log", "w")
local function note(...)
    log:write(table.concat({ ... }, " "), "\n")
    log:flush()
end
local function noting(name, functions)
    local any = function(_, key) return noting(name .. key, {}) end
    return setmetatable(functions, { __index = any, __call = function(_, ...) note(name, ...) end })
end
"#;

/// The Lua functions of dpdk-pktgen that the script uses, with the names of app/lpktgenlib.c in
/// Pktgen-DPDK. The counters advance with every query.
const PRETENDED_PKTGEN: &str = r#"
local asked, sending = 0, false
pktgen = noting("", {
    info = { Pktgen_Version = "23.10.0" },
    range = noting("range.", {}),
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
})
io.write("\27[2J\27[1;1H/ Ports 0-1 of 2 <Main Page>")
"#;

/// The parts of MoonGen and libmoon that the script's master uses, with the names of lua/device.lua and lua/libmoon.lua
/// there. The counters advance with every query.
const PRETENDED_MOONGEN: &str = r#"
package.loaded.moongen = {
    startTask = function(name, queue, ...)
        note("task", name, ...)
        return { wait = function() note("ended") end }
    end,
}
package.loaded.namespaces = { get = function() return {} end }
package.loaded.memory = {}
package.loaded.device = {
    config = function(arguments)
        local id, queue, sent, dev = arguments.port, {}, 0, {}
        function queue:setRate(rate) note("rate", id, string.format("%.0f", rate)) end
        function dev:getTxQueue() return queue end
        function dev:getLinkStatus() return { status = not (DOWN and id == 1), speed = 10000 } end
        function dev:getTxStats() sent = sent + 1000; return sent, sent * 64 end
        function dev:getRxStats() return sent / 10, 0 end
        return dev
    end,
}
print("[INFO]  Initializing DPDK. This will take a few seconds...")
"#;

/// Runs a script in a Lua interpreter, as a program at `path` after a simulation. It names a port without link, leaves
/// no file behind, says what it is, sends so many frames, and makes these lines of the log.
fn simulate(
    [tool, path, simulation, run]: [&str; 4],
    about: &str,
    sent: [u64; 2],
    lines: &[&str],
) -> Option<Bench> {
    // MoonGen itself runs LuaJIT.
    let interpreters = ["luajit", "lua5.4", "lua5.3", "lua"];
    let Some(lua) = interpreters.into_iter().find_map(find_program) else {
        eprintln!("skipped: no Lua interpreter; Debian's package lua5.4 has one");
        return None;
    };
    let bench = Bench::new();
    let folder = bench.0.path().display();
    let before = format!("FOLDER, DOWN = '{folder}', os.getenv('DOWN')\n{NOTE}{simulation}\n");
    bench.write("run.lua", &format!("{before}dofile(arg[1])\n{run}\n"));
    fs::create_dir_all(bench.path(path).parent().unwrap()).unwrap();
    let start = format!(
        "echo \"$*\" >'{folder}/arguments'\nfor word in \"$@\"; do\n\
         case $word in *.lua) [ \"${{word#--}}\" != \"$word\" ] || script=$word ;; esac; done\n\
         [ ! -e \"${{2#*=}}\" ] || cat \"${{2#*=}}\" >'{folder}/dpdk-conf'\n\
         exec {} '{folder}/run.lua' \"$script\"\n",
        lua.display()
    );
    bench.program(path, &start);
    let ports =
        "ports = ['03:00.0', '03:00.1']\nlcores = '4-6'\nflows = 100\nwarm_up_seconds = 0\n";
    let config = bench.config(tool, path, ports);

    let mut command = bench.triptych(&config, "--link-timeout 1");
    let output = command.env("DOWN", "1").output().unwrap();
    let down = "port 03:00.0 has a link, port 03:00.1 has no link";
    expect(&output, 1, &[down]);
    let arguments = bench.read("arguments");
    let mut words = arguments.split_whitespace();
    let file = words.find(|word| word.ends_with(".lua")).unwrap();
    assert!(!Path::new(file).exists(), "{file} was left behind");

    bench.run(&config, "--seconds 1", 0, &[about]);
    assert_eq!(bench.reports()[0]["sent"], serde_json::json!(sent));
    contains_lines(&bench.read("log"), lines);
    Some(bench)
}

#[test]
fn dpdk_pktgens_script_runs_in_a_lua_interpreter() {
    let program = ["pktgen", "pktgen", PRETENDED_PKTGEN, ""];
    let about = "dpdk-pktgen 23.10.0, 2 ports on this machine";
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
    // The counters of each port are a query.
    let Some(bench) = simulate(program, about, [2000, 2000], &lines) else {
        return;
    };
    let received = &bench.reports()[0]["received"];
    assert_eq!(*received, serde_json::json!([1900, 1900]));
    assert!(bench.read("log").ends_with("stop all\nquit\n"));
    let arguments = bench.read("arguments");
    let mapped = arguments.contains("-- -P -m 5.0,6.1 -f /tmp/triptych-");
    assert!(mapped && arguments.contains("--lcores 4-6"), "{arguments}");
}

#[test]
fn moongens_script_runs_in_a_lua_interpreter() {
    let program = ["moongen", "build/MoonGen", PRETENDED_MOONGEN, "master()"];
    let about = "MoonGen ?, 2 ports on this machine";
    let lines = ["task send 0 60 100", "task send 1 60 100", "ended"];
    let Some(bench) = simulate(program, about, [1000, 1000], &lines) else {
        return;
    };
    assert_eq!(
        bench.read("dpdk-conf"),
        "DPDKConfig { cores = {4, 5, 6}, pciWhitelist = {\"03:00.0\", \"03:00.1\"}, \
         cli = {\"--file-prefix\", \"triptych\"} }\n"
    );
    // A tenth of the line rate, in MoonGen's Mbit/s: 84 bytes on the wire carry a frame of 64.
    let config = bench.path("generator.toml");
    let mut command = bench.triptych(&config, "--rate 2.976 --seconds 1");
    command.output().unwrap();
    contains_lines(&bench.read("log"), &["rate 1 762"]);
}
