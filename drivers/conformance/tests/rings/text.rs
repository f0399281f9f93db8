//! The moments as text, for a terminal and for readers who do not see the pictures.

use crate::ring::{Descriptor, Moment, Says};

/// All moments, one block each.
pub fn draw(moments: &[Moment]) -> String {
    let blocks: Vec<String> = moments.iter().map(block).collect();
    blocks.join("\n")
}

/// Head, tail, and a line for each descriptor. Neighbours that are alike share a line.
fn block(moment: &Moment) -> String {
    let [head, tail] = moment.ring.registers();
    let mut text = format!(
        "Step {}. {}\n{head} {}, {tail} {}\n",
        moment.step,
        moment.title.trim_end_matches('.'),
        moment.head,
        moment.tail
    );
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for index in 0..moment.descriptors.len() {
        match lines.last_mut() {
            Some((first, last)) if alike(moment, *first, *last, index) => *last = index,
            _ => lines.push((index, index)),
        }
    }
    for (first, last) in lines {
        let place = match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        };
        let owner = match moment.card_owns(first) {
            true => "card",
            false => "driver",
        };
        text += &format!("  {place:<9}  {owner:<6}  {}\n", said(moment, first, last));
    }
    text
}

/// Whether a descriptor continues a line: same owner, same contents, and the next buffer.
fn alike(moment: &Moment, first: usize, last: usize, index: usize) -> bool {
    let [one, before, next] = [first, last, index].map(|at| moment.descriptors[at]);
    let follows = match (before.buffer, next.buffer) {
        (Some(before), Some(next)) => before + 1 == next,
        (before, next) => before == next,
    };
    moment.card_owns(first) == moment.card_owns(index) && one.says == next.says && follows
}

fn said(moment: &Moment, first: usize, last: usize) -> String {
    let Descriptor { says, buffer } = moment.descriptors[first];
    let buffers = match (buffer, moment.descriptors[last].buffer) {
        (Some(one), Some(other)) if one != other => format!("buffers {one} to {other}"),
        (Some(one), _) => format!("buffer {one}"),
        (None, _) => "no buffer".to_owned(),
    };
    match says {
        Says::Zero => "never written".to_owned(),
        Says::Empty => format!("{buffers}, empty"),
        Says::Full(bytes) => format!("{buffers}, {bytes} bytes"),
        Says::Received(bytes, true) => format!("{buffers}, DD, {bytes} bytes"),
        Says::Received(bytes, false) => format!("{buffers}, DD, {bytes} bytes and more"),
        Says::Sent => format!("{buffers}, DD, sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::Kind;

    #[test]
    fn neighbours_that_are_alike_share_a_line() {
        let empty = |buffer| Descriptor {
            says: Says::Empty,
            buffer: Some(buffer),
        };
        let moment = Moment {
            step: 3,
            title: "After the doorbell".to_owned(),
            ring: Kind::Receive,
            head: 0,
            tail: 3,
            first: 0,
            descriptors: vec![empty(0), empty(1), empty(7), empty(8)],
        };
        assert_eq!(
            draw(&[moment]),
            "Step 3. After the doorbell\nRDH 0, RDT 3\n  \
             0 to 1     card    buffers 0 to 1, empty\n  \
             2          card    buffer 7, empty\n  \
             3          driver  buffer 8, empty\n"
        );
    }
}
