//! Draws a flame graph as one SVG file: each span is a bar as wide as its time, on top of its
//! parent.
//!
//! The picture needs no script and no other file. Hovering over a bar shows its name, position,
//! time, steps and memory.

use std::fmt::Write as _;

use ytterby_text::budget::shown_size;
use ytterby_text::profile::{Cost, Profile, SpanKind};
use ytterby_text::xml;

use super::millis;

const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
/// Narrower bars are left out: they would be invisible.
const NARROWEST: f64 = 0.3;
/// The width of a letter.
const LETTER: f64 = 6.6;

/// Draws the spans. `place` returns the file and line of a span.
pub fn svg(profile: &Profile, place: impl Fn(usize) -> Option<String>) -> String {
    let totals = profile.totals();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); profile.spans.len()];
    let mut roots = Vec::new();
    for (at, span) in profile.spans.iter().enumerate() {
        match span.parent {
            Some(parent) => children[parent].push(at),
            None => roots.push(at),
        }
    }
    let whole = profile.whole.time.as_secs_f64().max(1e-9);
    let mut bars = String::new();
    let mut rows = 1;
    bar(&mut bars, 0.0, WIDTH, 0, "#d8dee9", "all", &title("all", None, profile.whole, 1));
    // Spans are nested at most 200 levels deep, but an explicit stack is as simple as recursion.
    let mut pending: Vec<(usize, f64, usize)> = Vec::new();
    let lay_out = |spans: &[usize], mut x: f64, row: usize, pending: &mut Vec<(usize, f64, usize)>| {
        for &span in spans {
            pending.push((span, x, row));
            x += totals[span].time.as_secs_f64() / whole * WIDTH;
        }
    };
    lay_out(&roots, 0.0, 1, &mut pending);
    while let Some((at, x, row)) = pending.pop() {
        let width = totals[at].time.as_secs_f64() / whole * WIDTH;
        if width < NARROWEST {
            continue;
        }
        rows = rows.max(row + 1);
        let span = &profile.spans[at];
        let name = match span.kind {
            SpanKind::Parse | SpanKind::Compile | SpanKind::Evaluate => format!("{} {}", span.kind.name(), span.name),
            SpanKind::Phase | SpanKind::Function | SpanKind::Overlay | SpanKind::Rule => {
                span.name.to_str().into_owned()
            }
        };
        let told = title(&format!("{} {}", span.kind.name(), span.name), place(at), totals[at], span.count);
        bar(&mut bars, x, width, row, colour(span.kind), &name, &told);
        lay_out(&children[at], x, row + 1, &mut pending);
    }
    let height = rows as f64 * ROW + 4.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{bars}</svg>\n"
    )
}

fn colour(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Phase => "#a3be8c",
        SpanKind::Parse => "#88c0d0",
        SpanKind::Compile => "#81a1c1",
        SpanKind::Evaluate => "#ebcb8b",
        SpanKind::Function => "#f0a070",
        SpanKind::Overlay => "#b48ead",
        SpanKind::Rule => "#e88388",
    }
}

fn title(name: &str, place: Option<String>, cost: Cost, count: u64) -> String {
    let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
    let size = shown_size(cost.bytes);
    format!("{name}{place}: {} ms, {} steps, {size}, {count} times", millis(cost.time), cost.steps)
}

fn bar(out: &mut String, x: f64, width: f64, row: usize, colour: &str, name: &str, title: &str) {
    let y = row as f64 * ROW + 2.0;
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" rx=\"1\" fill=\"{colour}\"/>",
        xml::escaped(title),
        (width - 0.4).max(NARROWEST),
        ROW - 1.0,
    );
    let letters = (width / LETTER) as usize;
    if letters >= 3 {
        let shown: String = match name.chars().count() <= letters {
            true => name.to_owned(),
            false => name.chars().take(letters - 1).chain(['…']).collect(),
        };
        let _ = write!(out, "<text x=\"{:.1}\" y=\"{}\">{}</text>", x + 2.0, y + 12.5, xml::escaped(&shown));
    }
    out.push_str("</g>\n");
}
