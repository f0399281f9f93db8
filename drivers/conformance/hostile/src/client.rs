//! A row of the hostile client, and its run against the card.
//!
//! During each attack and after it, an honest driver sends frames through another port. Afterwards
//! one does so through the attacked port.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::attack::{Attack, Target};
use crate::card::{Card, Holdings};
use crate::honest;
use crate::program::{outcome, Broken, LIMIT};
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
    // The honest sessions have ended when the number of files stays.
    let mut last = card.holdings()?.files;
    let settled = |now: &Holdings| std::mem::replace(&mut last, now.files) == now.files;
    let before = holdings_when(&card, Duration::from_secs(2), settled)?;
    let start = Instant::now();
    let mut broken = Broken::default();
    let slowest = attack(row, &card, before, &mut broken)?;
    drive(&card, 0, "after the attack", &mut broken);
    drive(&card, 1, "after the attack", &mut broken);
    let elapsed = start.elapsed();
    if !card.has_ended()? {
        let returned = |after: &Holdings| {
            after.files <= before.files + SPARE_FILES
                && after.mappings <= before.mappings + SPARE_MAPPINGS
                && after.resident <= before.resident + SPARE_RESIDENT
        };
        // The card waits a moment for the rest of a message.
        let after = holdings_when(&card, Duration::from_secs(6), returned)?;
        let text = format!("the card held {before:?} before and {after:?} after the attack");
        broken.unless(returned(&after), text);
    }
    let status = card.terminate()?;
    let failed = format!("after SIGTERM, the card has this end: {}", outcome(status));
    broken.unless(status.is_some_and(|status| status.success()), failed);
    let stderr = card.stderr();
    broken.unless(!stderr.contains("panicked"), "the card panicked");
    for text in row.says.iter() {
        let times = stderr.matches(text).count();
        let said = format!("the card says {text:?} {times} times, not once");
        broken.unless(times == 1, said);
    }
    // A slow machine may be the cause, so a second run alone decides.
    let fast = slowest <= SLOW;
    let late = if broken.0.is_empty() {
        !fast
    } else {
        elapsed > LIMIT
    };
    let slow = format!("port 1 needed {slowest:.1?} for 200 frames");
    broken.unless(fast, slow);
    Ok(Verdict {
        outcome: outcome(status),
        elapsed,
        detail: format!("port 1: at most {slowest:.0?} for 200 frames"),
        broken: broken.0,
        late,
    })
}

/// Attacks, and checks what must hold while the attacker stays. Returns the longest time that an
/// honest driver needed meanwhile.
fn attack(row: &Row, card: &Card, before: Holdings, broken: &mut Broken) -> Result<Duration> {
    let target = Target {
        socket: card.socket(0),
        second: card.socket(2),
    };
    let few = row.files.map(|files| before.files as u64 + files);
    let limit = few.map(|few| card.limit_files(Some(few))).transpose()?;
    let mut slowest = Duration::ZERO;
    let mut check = |when, broken: &mut Broken| match row.files {
        Some(0) => std::thread::sleep(Duration::from_millis(5)),
        _ => slowest = slowest.max(drive(card, 1, when, broken)),
    };
    let (start, attack) = (Instant::now(), row.attack.clone());
    let attacker = std::thread::Builder::new().spawn(move || attack.perform(&target))?;
    while !attacker.is_finished() && start.elapsed() < ATTACK_LIMIT && broken.0.is_empty() {
        check("during the attack", broken);
    }
    let ended = attacker.join();
    let held = ended.map_err(|_| anyhow::anyhow!("the attack panicked"))??;
    check("while the attacker stays", broken);
    let now = card.holdings()?;
    let within = now.space <= before.space + (row.room >> 10)
        && now.resident <= before.resident + USED_RESIDENT
        && now.mappings <= before.mappings + USED_MAPPINGS;
    let text = format!("the card holds {now:?} for the attacker, and held {before:?} before");
    broken.unless(within, text);
    if row.yields {
        drive(card, 0, "while the attacker stays", broken);
    }
    if !row.busy {
        let (used, start) = (card.processor_time()?, Instant::now());
        std::thread::sleep(IDLE_TIME);
        let used = card.processor_time()?.saturating_sub(used);
        let share = 100.0 * used.as_secs_f64() / start.elapsed().as_secs_f64();
        let text = format!("the idle card uses {share:.0} % of a processor");
        broken.unless(share <= 60.0, text);
    }
    drop(held);
    limit.map(|limit| card.limit_files(limit)).transpose()?;
    Ok(slowest)
}

/// Checks that an honest driver at a port works. Returns how long it took.
fn drive(card: &Card, port: usize, when: &str, broken: &mut Broken) -> Duration {
    let driven = honest::drive(&card.socket(port));
    driven.unwrap_or_else(|error| {
        broken.unless(false, format!("port {port} {when}: {error}"));
        Duration::ZERO
    })
}

/// Waits until what the card holds is right, or the time is over. Returns what it holds then.
fn holdings_when(
    card: &Card,
    limit: Duration,
    mut right: impl FnMut(&Holdings) -> bool,
) -> Result<Holdings> {
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(25));
        let now = card.holdings()?;
        if right(&now) || start.elapsed() > limit {
            return Ok(now);
        }
    }
}
