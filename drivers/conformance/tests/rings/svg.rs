//! The moments of a step as a picture: one panel below the other.
//!
//! A filled cell belongs to the card and a hollow one to the driver, and a dot is DD. So the picture
//! needs no colours. It brings its own background, light or dark as the reader's browser asks for.

use std::fmt::Write;

use crate::ring::{Descriptor, Moment, Says};

/// Width of the picture, in pixels.
const WIDTH: usize = 800;
/// Space at the left and right.
const MARGIN: usize = 16;
/// Height of a panel.
const PANEL: usize = 186;
/// Height of the legend.
const LEGEND: usize = 40;
/// Descriptors shown in detail.
const DETAIL: usize = 8;
/// Width of a descriptor in detail, with the gap after it.
const BOX: usize = (WIDTH - 2 * MARGIN) / DETAIL;

const STYLE: &str = "\
text{font:13px sans-serif;fill:#1f2328}\
.paper{fill:#fff;stroke:#d0d7de}\
.title{font-weight:bold;font-size:15px}\
.mark{font-weight:bold}\
.card{fill:#ffc559;stroke:#7a5200}\
.driver{fill:#fff;stroke:#0b5c8a}\
.shown{stroke-width:2.5}\
.dd{fill:#1f2328}\
.in{fill:#1f2328}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}\
.paper{fill:#0d1117;stroke:#30363d}\
.card{fill:#8a5a00;stroke:#ffd58a}\
.driver{fill:#0d1117;stroke:#79c0ff}\
.dd{fill:#e6edf3}\
.in{fill:#fff}}";

/// The picture of the moments.
pub fn draw(moments: &[Moment]) -> String {
    let height = moments.len() * PANEL + LEGEND;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        WIDTH - 1,
        height - 1
    );
    for (nth, moment) in moments.iter().enumerate() {
        panel(&mut svg, moment, nth * PANEL);
    }
    legend(&mut svg, moments.len() * PANEL);
    svg += "</svg>\n";
    svg
}

fn text(svg: &mut String, class: &str, anchor: &str, (x, y): (usize, usize), words: &str) {
    let words = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn cell(svg: &mut String, class: &str, (x, y): (usize, usize), (width, height): (usize, usize)) {
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
    );
}

/// The descriptors in detail, as indices into the ring.
fn detail(moment: &Moment) -> impl Iterator<Item = usize> + '_ {
    let size = moment.descriptors.len();
    (0..DETAIL).map(move |nth| (moment.first + nth) % size)
}

/// Title, the whole ring as a strip with head and tail, and eight descriptors in detail.
fn panel(svg: &mut String, moment: &Moment, top: usize) {
    let [head, tail] = moment.ring.registers();
    let title = format!(
        "{} ({head} {}, {tail} {})",
        moment.title(),
        moment.head,
        moment.tail
    );
    text(svg, "title", "start", (MARGIN, top + 28), &title);

    let width = (WIDTH - 2 * MARGIN) / moment.descriptors.len();
    let shown: Vec<usize> = detail(moment).collect();
    for (index, descriptor) in moment.descriptors.iter().enumerate() {
        let x = MARGIN + index * width;
        let mark = if shown.contains(&index) { " shown" } else { "" };
        let class = format!("{}{mark}", moment.owner(index));
        cell(svg, &class, (x, top + 58), (width - 2, 14));
        if matches!(descriptor.says, Says::Received(..) | Says::Sent) {
            dot(svg, x + width / 2 - 1, top + 65);
        }
    }
    for (name, index, y) in [(head, moment.head, top + 52), (tail, moment.tail, top + 86)] {
        let x = MARGIN + index as usize * width;
        let [right, left] = if y < top + 58 {
            ["┐", "┌"]
        } else {
            ["┘", "└"]
        };
        // A label at the right end is to the left of its place.
        let (anchor, x, words) = if x > WIDTH / 2 {
            ("end", x + width - 2, format!("{name} {index} {right}"))
        } else {
            ("start", x, format!("{left} {name} {index}"))
        };
        text(svg, "mark", anchor, (x, y), &words);
    }
    for (nth, index) in shown.into_iter().enumerate() {
        descriptor(svg, moment, index, (MARGIN + nth * BOX, top + 98));
    }
}

/// One descriptor in detail.
fn descriptor(svg: &mut String, moment: &Moment, index: usize, (x, y): (usize, usize)) {
    let Descriptor { says, buffer } = moment.descriptors[index];
    let owner = moment.owner(index);
    cell(svg, owner, (x, y), (BOX - 5, 78));
    let state = match says {
        Says::Zero => "unwritten".to_owned(),
        Says::Empty => "empty".to_owned(),
        Says::Full(bytes) => format!("{bytes} bytes"),
        Says::Received(bytes, true) => format!("DD, {bytes} bytes"),
        Says::Received(bytes, false) => format!("DD, {bytes}, more"),
        Says::Sent => "DD, sent".to_owned(),
    };
    let buffer = buffer.map_or_else(|| "no buffer".to_owned(), |n| format!("buffer {n}"));
    let middle = x + (BOX - 5) / 2;
    let lines = [index.to_string(), buffer, state, owner.to_owned()];
    for (nth, words) in lines.iter().enumerate() {
        let class = if nth == 0 { "in mark" } else { "in" };
        text(svg, class, "middle", (middle, y + 17 + nth * 18), words);
    }
}

fn dot(svg: &mut String, x: usize, y: usize) {
    let _ = writeln!(svg, "<circle class=\"dd\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
}

fn legend(svg: &mut String, top: usize) {
    let y = top + 12;
    let words = |svg: &mut String, x, words| text(svg, "", "start", (MARGIN + x, y + 12), words);
    cell(svg, "card", (MARGIN, y), (14, 14));
    words(svg, 20, "the card owns it");
    cell(svg, "driver", (MARGIN + 150, y), (14, 14));
    words(svg, 170, "the driver owns it");
    dot(svg, MARGIN + 317, y + 7);
    words(svg, 328, "DD is set");
    words(svg, 420, "thick border: shown in detail below the ring");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::Kind;

    #[test]
    fn the_picture_shows_head_tail_owner_and_dd() {
        let one = |says| Descriptor {
            says,
            buffer: Some(5),
        };
        let mut moment = Moment {
            step: 4,
            title: "A & B".to_owned(),
            ring: Kind::Receive,
            head: 1,
            tail: 7,
            first: 0,
            descriptors: vec![one(Says::Empty); 8],
        };
        moment.descriptors[0] = one(Says::Received(60, true));
        let svg = draw(&[moment]);
        for part in ["A &amp; B (RDH 1, RDT 7)", "DD, 60 bytes", "buffer 5"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        // In the ring, in detail, and in the legend.
        assert_eq!(svg.matches("class=\"card").count(), 6 + 6 + 1);
        assert_eq!(svg.matches("class=\"driver").count(), 2 + 2 + 1);
        assert_eq!(svg.matches("class=\"dd\"").count(), 2);
    }
}
