//! The comparison as Markdown, for readers.

use std::fmt::Write;

use nic::registers::{field_get, register};

use crate::recorded::{Recorded, Row};
use crate::summary::Phase;

/// The page.
pub fn markdown(recorded: &Recorded) -> String {
    let mut text = format!(
        "# The registers that Linux writes and those that we write\n\n\
         Both sides drive the software card, which records every write. Linux's side is recorded: {}. A virtual machine \
         with two processors ran it, and no frame arrived. Our side is what all three drivers write alike, with rings of \
         512 descriptors.\n\n\
         - A driver may write several values to a register in a phase. The comparison is about the last one. The page shows \
         all, each once.\n\
         - If a write only sets or clears bits, the value has all bits that the driver sets or clears.\n\
         - *An address*, *a tail*, *an index*, *a random key*, *commands*, *by interrupts*: the value differs from run to \
         run, and only the fact of the write counts.\n\
         - Accesses to the configuration space are left out, because Linux's core makes most of them.\n\
         - The software card is not a real card. On a real card Linux also writes what the card's own EEPROM, PHY and \
         firmware make it write.\n",
        recorded.driver
    );
    for (phase, rows) in &recorded.rows {
        let (title, extent) = match phase {
            Phase::BeforeReset => ("Before the reset", "From the driver's first access to the last reset before packets flow, which discards most of these writes."),
            Phase::SetUp => ("Set-up", "From that reset until the link is up."),
            Phase::Stop => ("Stop", "From `ip link set down` until the driver is unbound, or from the signal until the process ends."),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {title}\n\n{extent}\n\n\
             | Register | Cards | Linux | Our drivers | Reason for a difference |\n|---|---|---|---|---|\n"
        );
        for row in rows {
            let [linux, ours] = fields(row);
            let reason = recorded.reasons.get(&row.reason);
            let cards = row.some_cards().map(|cards| cards.join(", "));
            let _ = writeln!(
                text,
                "| `{}` | {} | {}{linux} | {}{ours} | {} |",
                row.register,
                cards.as_deref().unwrap_or("all"),
                row.linux,
                row.ours,
                reason.map_or("", |reason| reason)
            );
        }
    }
    text
}

/// The fields in which the last values differ, for Linux and for us.
fn fields(row: &Row) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    let value = |written: &str| u32::from_str_radix(written.rsplit("0x").next()?, 16).ok();
    let (Some(linux), Some(ours)) = (value(&row.linux), value(&row.ours)) else {
        return texts;
    };
    for field in register(row.name()).map_or(&[][..], |register| register.fields) {
        let both = [linux, ours].map(|value| field_get(field.mask, value));
        if both[0] != both[1] {
            for (text, value) in texts.iter_mut().zip(both) {
                let _ = write!(text, "<br>{} = {value:#x}", field.name);
            }
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_values_fields_and_reasons() {
        let recorded: Result<Recorded, _> = toml::from_str(
            r#"
            driver = "D"
            set-up = [
                { register = "CTRL_EXT", cards = ["X540"], linux = "0x00000000 0x10000000", ours = "0x00010000", reason = "why" },
                { register = "EERD", linux = "commands", reason = "why" },
            ]
            reasons = { why = "A. (8.2)" }
            "#,
        );
        let text = markdown(&recorded.unwrap());
        for line in [
            "| `CTRL_EXT` | X540 | 0x00000000 0x10000000<br>NS_DIS = 0x0<br>DRV_LOAD = 0x1 | 0x00010000<br>NS_DIS = 0x1<br>DRV_LOAD = 0x0 | A. (8.2) |",
            "| `EERD` | all | commands |  | A. (8.2) |",
        ] {
            assert!(text.lines().any(|found| found == line), "{text}");
        }
    }
}
