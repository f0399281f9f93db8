//! A row of the hostile client, and its run against the card.
//!
//! During each attack and after it, an honest driver sends frames through another port. Afterwards
//! one does so through the attacked port.

use std::borrow::Cow;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::attack::{Attack, Target};
use crate::card::{Card, Holdings};
use crate::honest;
use crate::program::LIMIT;
use crate::suite::Verdict;

/// Longest attack. The card keeps no client waiting as long.
const ATTACK_LIMIT: Duration = Duration::from_secs(30);
/// Longest time for 200 frames of the honest driver beside the attack. Alone they need milliseconds.
const SLOW: Duration = Duration::from_secs(1);
/// Files that the card may keep beyond those at the start.
const SPARE_FILES: usize = 8;
/// Mappings that the card may keep, for example of its allocator.
const SPARE_MAPPINGS: usize = 24;
/// Resident memory in KiB that the card may keep.
const SPARE_RESIDENT: u64 = 64 << 10;
/// Address space in bytes that a client may take, with some for the card itself.
const ROOM: u64 = 9 << 37;
/// Resident memory in KiB that the card may use for a client that stays.
const USED_RESIDENT: u64 = 512 << 10;
/// Mappings of a client that stays.
const USED_MAPPINGS: usize = 4000;
/// Time over which the card's use of the processor is measured.
const IDLE_TIME: Duration = Duration::from_millis(400);

/// A scenario: a client attacks port 0.
#[derive(Clone)]
pub struct Row {
    /// Name, `class: what the client does`.
    pub name: Cow<'static, str>,
    /// What the client does.
    pub attack: Attack,
    /// The card works while the attacker stays. Otherwise it must leave the processor alone.
    pub busy: bool,
    /// The attacker has no session, so the attacked port must serve others while the attacker stays.
    pub yields: bool,
    /// During the attack, the card can open only so many files beyond those that it has open. With
    /// none, it can serve no one else meanwhile, and must only do so afterwards.
    pub files: Option<u64>,
    /// Most bytes of address space that the card takes while the attacker stays.
    pub room: u64,
    /// What the card writes to standard error once.
    pub says: Option<&'static str>,
}

impl Row {
    /// A row after which the card must be idle.
    pub fn new(name: impl Into<Cow<'static, str>>, attack: Attack) -> Self {
        Self {
            name: name.into(),
            attack,
            busy: false,
            yields: false,
            files: None,
            room: ROOM,
            says: None,
        }
    }
}

/// Attacks port 0 of a card. An honest driver uses port 1 meanwhile, and port 0 afterwards.
///
/// # Errors
/// If the card or the attack cannot be started: the scenario has not run then.
pub fn run(row: &Row) -> Result<Verdict> {
    let folder = tempfile::tempdir()?;
    // Frames arrive if the attack may make the card receive them.
    let traffic = if row.busy { "rate=0.01" } else { "off" };
    let mut card = Card::start(folder.path(), traffic)?;
    // The first session makes the card allocate what it keeps.
    for port in [0, 1] {
        honest::drive(&card.socket(port)).context("before the attack")?;
    }
    let before = settled(&card)?;
    let start = Instant::now();
    let mut broken = Vec::new();
    let slowest = attack(row, &card, before, &mut broken)?;
    if let Err(error) = honest::drive(&card.socket(0)) {
        broken.push(format!("port 0 after the attack: {error}"));
    }
    check_other_port(&card, "after the attack", &mut broken);
    let elapsed = start.elapsed();
    if !card.has_ended()? {
        check_holdings(&card, before, &mut broken)?;
    }
    let outcome = end(&mut card, &mut broken)?;
    let said = |text: &str| card.stderr().matches(text).count();
    if let Some(text) = row.says.filter(|text| said(text) != 1) {
        broken.push(format!(
            "the card says {text:?} {} times, not once",
            said(text)
        ));
    }
    // A slow machine may be the cause, so a second run alone decides.
    let mut late = !broken.is_empty() && elapsed > LIMIT;
    if slowest > SLOW {
        late |= broken.is_empty();
        broken.push(format!("port 1 needed {slowest:.1?} for 200 frames"));
    }
    Ok(Verdict {
        outcome,
        elapsed,
        detail: format!("port 1: at most {slowest:.0?} for 200 frames"),
        broken,
        late,
    })
}

/// Attacks, and checks what must hold while the attacker stays. Returns the longest time that an
/// honest driver needed meanwhile.
fn attack(row: &Row, card: &Card, before: Holdings, broken: &mut Vec<String>) -> Result<Duration> {
    let target = Target {
        socket: card.socket(0),
        second: card.socket(2),
    };
    let mut limit = None;
    if let Some(files) = row.files {
        limit = Some(card.limit_files(Some(before.files as u64 + files))?);
    }
    let serves_others = row.files != Some(0);
    let mut slowest = Duration::ZERO;
    let mut check = |when, broken: &mut Vec<String>| {
        if serves_others {
            slowest = slowest.max(check_other_port(card, when, broken));
        } else {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let (start, attack) = (Instant::now(), row.attack.clone());
    let attacker = std::thread::Builder::new().spawn(move || attack.perform(&target))?;
    while !attacker.is_finished() && start.elapsed() < ATTACK_LIMIT && broken.is_empty() {
        check("during the attack", broken);
    }
    let ended = attacker.join();
    let held = ended.map_err(|_| anyhow::anyhow!("the attack panicked"))??;
    check("while the attacker stays", broken);
    let now = card.holdings()?;
    let within = now.space <= before.space + (row.room >> 10)
        && now.resident <= before.resident + USED_RESIDENT
        && now.mappings <= before.mappings + USED_MAPPINGS;
    if !within {
        broken.push(format!(
            "the card holds {now:?} for the attacker, and held {before:?} before"
        ));
    }
    if row.yields {
        if let Err(error) = honest::drive(&card.socket(0)) {
            broken.push(format!("port 0 while the attacker stays: {error}"));
        }
    }
    if !row.busy {
        check_idle(card, broken)?;
    }
    drop(held);
    if let Some(limit) = limit {
        card.limit_files(limit)?;
    }
    Ok(slowest)
}

/// Ends the card, and says how it ended.
fn end(card: &mut Card, broken: &mut Vec<String>) -> Result<String> {
    let status = card.terminate()?;
    match status {
        None => broken.push("SIGTERM does not end the card".to_owned()),
        Some(status) if !status.success() => broken.push(format!("the card ended with {status}")),
        Some(_) => {}
    }
    if card.stderr().contains("panicked") {
        broken.push("the card panicked".to_owned());
    }
    Ok(match status {
        None => "hangs".to_owned(),
        Some(status) => status.signal().map_or_else(
            || format!("exit {}", status.code().unwrap_or(-1)),
            |signal| format!("signal {signal}"),
        ),
    })
}

/// Checks that an honest driver at port 1 works. Returns how long it took.
fn check_other_port(card: &Card, when: &str, broken: &mut Vec<String>) -> Duration {
    match honest::drive(&card.socket(1)) {
        Ok(time) => time,
        Err(error) => {
            broken.push(format!("port 1 {when}: {error}"));
            Duration::ZERO
        }
    }
}

/// What the card holds when the honest sessions have ended.
fn settled(card: &Card) -> Result<Holdings> {
    let start = Instant::now();
    let mut last = card.holdings()?;
    loop {
        std::thread::sleep(Duration::from_millis(30));
        let now = card.holdings()?;
        if now.files == last.files || start.elapsed() > Duration::from_secs(2) {
            return Ok(now);
        }
        last = now;
    }
}

/// Checks that a card with nothing to do leaves most of a processor to others.
fn check_idle(card: &Card, broken: &mut Vec<String>) -> Result<()> {
    let (before, start) = (card.processor_time()?, Instant::now());
    std::thread::sleep(IDLE_TIME);
    let used = card.processor_time()?.saturating_sub(before);
    let share = used.as_secs_f64() / start.elapsed().as_secs_f64();
    if share > 0.6 {
        broken.push(format!(
            "the idle card uses {:.0} % of a processor",
            100.0 * share
        ));
    }
    Ok(())
}

/// Checks that the card gives back what the attacker made it take. It has six seconds for
/// that, because the card waits a moment for the rest of a message.
fn check_holdings(card: &Card, before: Holdings, broken: &mut Vec<String>) -> Result<()> {
    let start = Instant::now();
    loop {
        let after = card.holdings()?;
        let returned = after.files <= before.files + SPARE_FILES
            && after.mappings <= before.mappings + SPARE_MAPPINGS
            && after.resident <= before.resident + SPARE_RESIDENT;
        if returned {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(6) {
            broken.push(format!(
                "the card held {before:?} before and {after:?} after the attack"
            ));
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
