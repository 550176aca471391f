//! `--profile`: shows where a run spends time, steps and memory.
//!
//! The engine records the profile (`ytterby_text::profile`); this module turns it into tables for
//! people, JSON for programs, a trace for the viewers of Chrome and Perfetto, or a picture. It is
//! written at the end of a run, even if that fails.

mod flame;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use ytterby::{Failure, Meter};
use ytterby_diag::{FileId, Pos, Sources};
use ytterby_text::budget::shown_size;
use ytterby_text::gojson::{self, Html};
use ytterby_text::profile::{self, Cost, Profile, Recording, SourcePosition, SpanKind};

use crate::commands::flag;
use crate::flags::Invocation;
use crate::write::Draft;
use crate::{host, limits};

/// Maximum rows of a table.
const ROWS: usize = 15;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileFormat {
    /// Tables for people.
    Text,
    /// Everything, for programs.
    Json,
    /// Each span with its time, for the viewers of Chrome and Perfetto.
    Trace,
    /// A flame graph.
    Flame,
}

/// A profile that is being recorded.
pub struct Profiling {
    format: ProfileFormat,
    file: Option<String>,
    recording: Recording,
}

/// Starts the profile that the flags request.
///
/// # Errors
/// If the format is unknown.
pub fn begin(flags: &Invocation) -> Result<Option<Profiling>, Failure> {
    let unknown = |value: &str| format!("Unknown value '{value}' of --profile");
    let Some(format) = flags.choice(&flag::PROFILE, unknown)? else { return Ok(None) };
    let file = flags.given(&flag::PROFILE_FILE).map(str::to_owned);
    Ok(Some(Profiling { format, file, recording: profile::begin(clock, format == ProfileFormat::Trace) }))
}

/// Processor time, as `--limit-time` counts it, independent of other programs.
fn clock() -> Duration {
    limits::Process::default().time().unwrap_or_default()
}

impl Profiling {
    /// Ends the profile and writes it.
    ///
    /// # Errors
    /// If the file of `--profile-file` cannot be written.
    pub fn finish(self, sources: &Sources) -> Result<(), Failure> {
        let report = ProfileReport { profile: self.recording.finish(), sources };
        let text = match self.format {
            ProfileFormat::Text => report.text(),
            ProfileFormat::Json => report.json(),
            ProfileFormat::Trace => report.trace(),
            ProfileFormat::Flame => report.flame(),
        };
        match self.file {
            None => host::write_error(&text),
            Some(path) => Draft::new(&path, text.into_bytes())?.finish()?,
        }
        Ok(())
    }
}

struct ProfileReport<'a> {
    profile: Profile,
    sources: &'a Sources,
}

/// A row of a table.
struct ProfileRow {
    kind: &'static str,
    name: String,
    place: Option<(String, u32)>,
    count: Option<u64>,
    own: Cost,
    total: Cost,
}

/// The tables: name in JSON, heading for people, kinds of spans.
const TABLES: [(&str, &str, &[SpanKind]); 5] = [
    ("phases", "Phases", &[SpanKind::Phase]),
    ("files", "Files", &[SpanKind::Parse, SpanKind::Compile, SpanKind::Evaluate]),
    ("functions", "Functions", &[SpanKind::Function]),
    ("overlays", "Overlays", &[SpanKind::Overlay]),
    ("rules", "Rules", &[SpanKind::Rule]),
];

impl ProfileReport<'_> {
    /// The file and line of a position.
    fn line(&self, place: SourcePosition) -> Option<(String, u32)> {
        let pos = self.sources.source_place(Pos::new(FileId(place.0), place.1));
        let source = self.sources.get(pos.file)?;
        Some((source.place().to_owned(), source.line(pos.offset)))
    }

    fn rows(&self, kinds: &[SpanKind]) -> Vec<ProfileRow> {
        let row = |total: profile::Total| {
            let span = &self.profile.spans[total.span];
            ProfileRow {
                kind: span.kind.name(),
                name: span.name.to_str().into_owned(),
                place: span.place.and_then(|place| self.line(place)),
                count: Some(total.count),
                own: total.own,
                total: total.total,
            }
        };
        self.profile.by_name(kinds).into_iter().map(row).collect()
    }

    /// The lines of code, slowest first.
    fn lines(&self) -> Vec<ProfileRow> {
        let mut lines: BTreeMap<(String, u32), Cost> = BTreeMap::new();
        for (place, cost) in &self.profile.lines {
            if let Some(line) = self.line(*place) {
                *lines.entry(line).or_default() += *cost;
            }
        }
        let row = |(place, own)| ProfileRow {
            kind: "line",
            name: String::new(),
            place: Some(place),
            count: None,
            own,
            total: own,
        };
        let mut rows: Vec<ProfileRow> = lines.into_iter().map(row).collect();
        rows.sort_by_key(|row| Reverse(row.own.time));
        rows
    }

    fn text(&self) -> String {
        let whole = self.profile.whole;
        let mut out = format!(
            "Profile: {} ms, {} steps, {} allocated\n",
            millis(whole.time),
            whole.steps,
            shown_size(whole.bytes)
        );
        for (_, heading, kinds) in TABLES {
            table(&mut out, heading, self.rows(kinds), whole.time);
        }
        table(&mut out, "Hottest lines", self.lines(), whole.time);
        out
    }

    fn json(&self) -> String {
        let mut out = format!("{{\"version\":1,\"whole\":{}", cost(self.profile.whole));
        let tables = TABLES.iter().map(|(name, _, kinds)| (*name, self.rows(kinds)));
        for (name, rows) in tables.chain([("lines", self.lines())]) {
            let rows: Vec<String> = rows.iter().map(json_row).collect();
            let _ = write!(out, ",\n\"{name}\":[\n{}\n]", rows.join(",\n"));
        }
        out.push_str("}\n");
        out
    }

    fn flame(&self) -> String {
        flame::svg(&self.profile, |span| {
            let (file, line) = self.line(self.profile.spans[span].place?)?;
            Some(format!("{file}:{line}"))
        })
    }

    fn trace(&self) -> String {
        let event = |event: &profile::Event| {
            let span = &self.profile.spans[event.span];
            let place = span.place.and_then(|place| self.line(place));
            let place = place.map(|(file, line)| format!("\"place\":{},", quoted(&format!("{file}:{line}"))));
            format!(
                "{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{},\"dur\":{},\"args\":{{{}\"steps\":{},\"bytes\":{}}}}}",
                quoted(&span.name.to_str()),
                span.kind.name(),
                micros(event.start),
                micros(event.cost.time),
                place.unwrap_or_default(),
                event.cost.steps,
                event.cost.bytes,
            )
        };
        let events: Vec<String> = self.profile.events.iter().map(event).collect();
        format!(
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"spansLeftOut\":{}}},\"traceEvents\":[\n{}\n]}}\n",
            self.profile.events_left_out,
            events.join(",\n")
        )
    }
}

/// Appends a table, unless it is empty.
fn table(out: &mut String, heading: &str, rows: Vec<ProfileRow>, whole: Duration) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{heading}\n  total ms     %    own ms      steps     memory  count");
    let hidden = rows.len().saturating_sub(ROWS);
    for row in rows.into_iter().take(ROWS) {
        let part = row.total.time.as_secs_f64() * 100.0 / whole.as_secs_f64().max(1e-9);
        let count = row.count.map(|count| count.to_string()).unwrap_or_default();
        let place = row.place.map(|(file, line)| format!("{file}:{line}"));
        let verb = if heading == "Files" { format!("{} ", row.kind) } else { String::new() };
        let name = [format!("{verb}{}", row.name), place.unwrap_or_default()];
        let name: Vec<String> = name.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(
            out,
            "{:>10} {part:>5.1} {:>9} {:>10} {:>10} {count:>6}  {}",
            millis(row.total.time),
            millis(row.own.time),
            row.total.steps,
            shown_size(row.total.bytes),
            name.join("  "),
        );
    }
    if hidden > 0 {
        let _ = writeln!(out, "  … {hidden} more; --profile=json has all");
    }
}

fn json_row(row: &ProfileRow) -> String {
    let mut fields = vec![format!("\"kind\":\"{}\"", row.kind)];
    if !row.name.is_empty() {
        fields.push(format!("\"name\":{}", quoted(&row.name)));
    }
    if let Some((file, line)) = &row.place {
        fields.push(format!("\"file\":{},\"line\":{line}", quoted(file)));
    }
    if let Some(count) = row.count {
        fields.push(format!("\"count\":{count}"));
    }
    fields.push(format!("\"own\":{},\"total\":{}", cost(row.own), cost(row.total)));
    format!("{{{}}}", fields.join(","))
}

fn cost(cost: Cost) -> String {
    format!("{{\"nanoseconds\":{},\"steps\":{},\"bytes\":{}}}", cost.time.as_nanos(), cost.steps, cost.bytes)
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

fn micros(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e6)
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}
