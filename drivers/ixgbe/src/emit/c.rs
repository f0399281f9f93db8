//! The C driver's header of register constants, and its table of device ids.

use super::constants::{chapters, Comment, Constant, Value};
use super::HEADER;
use crate::map::{Range, RegisterMap};
use crate::usage::Selection;

const PREAMBLE: &str = "\
/*
 * The registers of the 82599 that the drivers use: offsets in BAR0, masks of fields, and named
 * values of fields, shifted to the place of the field. Each register has its datasheet section.
 * drivers/ixgbe/registers.toml has the whole map.
 */
#ifndef IXGBE_REGISTERS_H
#define IXGBE_REGISTERS_H

#include <stdint.h>

/* clang-format off */

/* `value` shifted to the place of the field that `mask` covers. It must fit the field. */
#define IXGBE_FIELD(mask, value) ((value) * ((mask) & (~(mask) + 1u)))
/* The value of the field that `mask` covers, in the register's value `reg`. */
#define IXGBE_FIELD_GET(mask, reg) (((reg) & (mask)) / ((mask) & (~(mask) + 1u)))

";

/// `c/src/driver/registers.h`: the constants of `selection`.
pub fn registers(map: &RegisterMap, selection: &Selection) -> String {
    let mut out = format!("/* {HEADER} */\n{PREAMBLE}");
    for chapter in chapters(map, selection) {
        out += &format!("\n/* ---- {} ---- */\n", chapter.title);
        for part in chapter.parts {
            out += &format!("\n/* {} */\n", part.about);
            out.extend(part.constants.iter().map(define));
        }
    }
    out + "\n/* clang-format on */\n\n#endif\n"
}

fn define(constant: &Constant) -> String {
    let comment = match &constant.comment {
        Comment::Always(text) => format!("/* {text} */\n"),
        Comment::None | Comment::InRust(_) => String::new(),
    };
    let index = matches!(constant.value, Value::Entry(_));
    let parameters = if index { "(n)" } else { "" };
    let value = match &constant.value {
        Value::Entry(ranges) => match ranges.as_slice() {
            [low, high] => format!(
                "((n) < {}u ? {} : {})",
                high.first,
                address(low),
                address(high)
            ),
            ranges => format!("({})", ranges.iter().map(address).collect::<String>()),
        },
        Value::Decimal(value) => format!("{value}u"),
        Value::Hex(value, 64, digits) => format!("UINT64_C(0x{value:0digits$X})"),
        Value::Hex(value, _, digits) => format!("0x{value:0digits$X}u"),
    };
    format!(
        "{comment}#define IXGBE_{}{parameters} {value}\n",
        constant.name
    )
}

/// The address of entry `n`, as an expression.
fn address(range: &Range) -> String {
    let (offset, stride) = (range.offset, range.stride);
    match range.first {
        0 => format!("0x{offset:05X}u + {stride:#x}u * (n)"),
        first => format!("0x{offset:05X}u + {stride:#x}u * ((n) - {first}u)"),
    }
}

/// `c/src/driver/device_ids.h`.
pub fn device_ids(map: &RegisterMap) -> String {
    let mut out = format!(
        "/* {HEADER} */
/* The network cards that the driver knows. Only one source file includes this header, for the table. */
#ifndef IXGBE_DEVICE_IDS_H
#define IXGBE_DEVICE_IDS_H

#include \"driver/device.h\"

/* clang-format off */

/* A network card, by its PCI device id; the vendor is Intel. */
struct ixgbe_device_id {{
\tuint16_t id;
\tenum device_family family;
\tconst char *name;
\tconst char *refused; /* why the driver refuses this card, or NULL */
}};

#define IXGBE_DEVICE_ID_COUNT {}u

static const struct ixgbe_device_id ixgbe_device_ids[IXGBE_DEVICE_ID_COUNT] = {{
",
        map.devices.len()
    );
    for device in &map.devices {
        let refused = match &device.refused {
            Some(reason) => format!("\n\t \"{reason}\""),
            None => " NULL".to_owned(),
        };
        let (id, family, name) = (device.id.get_ref(), device.family.name(), &device.name);
        out += &format!("\t{{{id:#06x}, DEVICE_FAMILY_{family}, \"{name}\",{refused}}},\n");
    }
    out + "};\n\n/* clang-format on */\n\n#endif\n"
}
