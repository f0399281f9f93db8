//! `triptych asm --diff`: how the machine code of two builds differs.

use anyhow::{Context as _, Result};
use console::Term;
use perfcounters::Interrupt;

use super::arguments::AsmArguments;
use crate::build::sides::build::{build, check};
use crate::build::sides::show::json::json;
use crate::build::sides::show::side_by_side::side_by_side;
use crate::build::sides::show::summary::summary;
use crate::build::sides::show::unified::unified;
use crate::build::sides::show::{Comparison, Shown};
use crate::build::sides::side::{resolve, Side};
use crate::build::sides::spec::SideSpec;
use crate::build::toolchain::machine::ThisMachine;

/// The width of a page that is no terminal.
const WIDTH: usize = 160;

/// Builds both sides and compares them.
///
/// # Errors
/// If a side cannot be built, or has none of the functions.
pub(super) fn run(
    arguments: &AsmArguments,
    specs: &[SideSpec; 2],
    wanted: &[&str],
    interrupt: &Interrupt,
) -> Result<String> {
    let [a, b] = resolve(&ThisMachine, specs, arguments.implementation)?;
    check([&a, &b])?;
    let one = |side: &Side| -> Result<Shown> {
        let built = build(side, &arguments.build_dir, interrupt)?;
        Ok(Shown {
            code: built.code(wanted)?,
            label: built.label,
        })
    };
    let shown = &arguments.shown;
    let comparison = Comparison::new(one(&a)?, one(&b)?, shown.exact_registers);
    if shown.json {
        let text = json(&comparison).context("cannot write the difference as JSON")?;
        return Ok(text + "\n");
    }
    let colours = console::colors_enabled();
    let listing = match shown.unified {
        true => unified(&comparison, shown.context, colours),
        false => {
            let terminal = Term::stdout().size_checked();
            let width = terminal.map_or(WIDTH, |(_, columns)| columns.into());
            side_by_side(
                &comparison,
                shown.context,
                shown.width.unwrap_or(width),
                colours,
            )
        }
    };
    Ok(format!("{}\n{listing}", summary(&comparison)))
}
