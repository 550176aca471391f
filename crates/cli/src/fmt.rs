//! `fmt`: formats YAML files.
//!
//! Without `--check`, `--diff` and `--write` the result goes to standard output, as in ytt, and the
//! first error ends the run. With these flags files are independent: an unparsable one is reported,
//! and the others are still formatted. Without paths they apply to the files of the project, and
//! never to its output directories.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use ytterby::{FileKind, InputFile};
use ytterby_diag::{Diagnostic, Failure, Id, Pos, Readers, Source, Sources};
use ytterby_text::budget;
use ytterby_yaml::{NodeId, ReadOptions, Tree, View, format, format_in_place, parse};

use crate::build::unified;
use crate::commands::flag;
use crate::flags::Invocation;
use crate::project::{self, findings::Findings};
use crate::read::{self, InputOptions, Skip, Stdin, Symlinks, Urls};
use crate::write::Recovered;
use crate::{host, limits, report, write};

/// Formats the YAML files given by flags and operands.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let started = Instant::now();
    let mode = FormatMode {
        check: flags.is_on(&flag::FMT_CHECK),
        write: flags.is_on(&flag::WRITE),
        diff: flags.is_on(&flag::FMT_DIFF),
    };
    let mut paths: Vec<String> = flags.list(&flag::FMT_FILE).iter().chain(&flags.operands).cloned().collect();
    let mut outputs = Vec::new();
    if mode.is_by_file() {
        let hint = "name files or directories, or change to a directory of a project";
        match project::read(sources, hint) {
            Ok((project, _)) => {
                outputs = project::outputs(&project.file, &project.root);
                if paths.is_empty() {
                    paths = project::own_paths(&project);
                }
            }
            Err(failure) if paths.is_empty() => return Err(failure),
            Err(_) => {}
        }
    }
    let rules = InputOptions { urls: Urls::MayHoldEquals, skip: Skip::Generated(&outputs) };
    let files = read::list_as(rules, &paths, &Symlinks::default(), &Stdin::default())?;
    let options = ReadOptions { strict: flags.is_on(&flag::STRICT), ..ReadOptions::default() };
    let yaml = files.iter().filter(|file| file.kind() == FileKind::Yaml);
    let exit = match mode.is_by_file() {
        true => {
            let rendering = report::rendering(program, flags)?;
            let mut findings = Findings::default();
            let mut changed = 0;
            let mut recovered = Recovered::default();
            for (number, file) in yaml.enumerate() {
                match one(file, &options, sources, mode, &mut recovered) {
                    Ok(FileResult::Same) => {}
                    Ok(FileResult::Other) => changed += 1,
                    Ok(FileResult::Left(warning)) => findings.warn(number, "", &[*warning], sources),
                    Err(failure) => findings.fail(number, "", failure, sources),
                }
                budget::check()?;
            }
            let is_good = findings.is_good() && !(mode.check && changed > 0);
            host::write_error(&findings.report(program, sources, rendering));
            write::end_if_interrupted();
            i32::from(!is_good)
        }
        false => {
            let mut formatted = Vec::new();
            for file in yaml {
                if let Err(failure) = add_formatted(file, &options, sources, &mut formatted) {
                    // ytt writes the files before the one that it cannot parse. After a limit,
                    // nothing is written.
                    limits::write_output(&formatted)?;
                    return Err(failure);
                }
            }
            limits::write_output(&formatted)?;
            0
        }
    };
    if flags.is_on(&flag::DEBUG) {
        host::write_error(&format!("total: {:?}\n", started.elapsed()));
    }
    Ok(exit)
}

#[derive(Clone, Copy)]
struct FormatMode {
    check: bool,
    write: bool,
    diff: bool,
}

impl FormatMode {
    fn is_by_file(self) -> bool {
        self.check || self.write || self.diff
    }
}

/// The result for one file.
enum FileResult {
    /// It is formatted.
    Same,
    /// It is, or was, not formatted.
    Other,
    /// It cannot be formatted, for this reason.
    Left(Box<Diagnostic>),
}

/// Adds a formatted file to the output.
fn add_formatted(
    file: &InputFile,
    options: &ReadOptions,
    sources: &Sources,
    formatted: &mut Vec<u8>,
) -> Result<(), Failure> {
    let content = file.content.read()?;
    budget::input(content.len());
    let source = Source::new(file.path.clone(), content.clone()).with_place(file.place.as_deref());
    let id = sources.add(source);
    let _working = budget::working_at(id.0, 0);
    let tree = parse(&content, id, options).map_err(|error| Failure::from(Diagnostic::from(error)))?;
    formatted.append(&mut format(&tree));
    budget::may_output(formatted.len())?;
    Ok(())
}

/// Formats one file as `mode` requests.
fn one(
    file: &InputFile,
    options: &ReadOptions,
    sources: &Sources,
    mode: FormatMode,
    recovered: &mut Recovered,
) -> Result<FileResult, Failure> {
    let content = file.content.read()?;
    budget::input(content.len());
    let readers = Readers { outline: ytterby_yaml::outline, ..Readers::default() };
    let source = Source::new(file.path.clone(), content.clone()).with_place(file.place.as_deref());
    let place = file.place.clone().unwrap_or_else(|| file.path.clone());
    let id = sources.add(source.with_readers(readers));
    let _working = budget::working_at(id.0, 0);
    let tree = parse(&content, id, options)
        .map_err(|error| Failure::from(Diagnostic::from(error)).doing(format!("Formatting {place}")))?;
    let text = format_in_place(&tree);
    // Editors format like standard output, where most templates begin with a blank line.
    if text == content.strip_prefix(b"\n").unwrap_or(&content) {
        return Ok(FileResult::Same);
    }
    if has_aliases(&tree) {
        let message =
            format!("{place} contains aliases, which formatting would replace by copies; it was left as it is");
        return Ok(FileResult::Left(Box::new(Diagnostic::warning(Id::FILE_CONFLICT, message))));
    }
    if !says_the_same(&tree, &text, options) {
        let message = format!("{place} cannot be formatted without changing what it means; it was left as it is");
        return Err(Failure::new(Id::FILE_CONFLICT, message));
    }
    let is_written = mode.write && !mode.check;
    if is_written {
        budget::output(text.len())?;
    }
    if mode.diff {
        limits::write_output(unified(&place, Some(&content), Some(&text)).as_bytes())?;
    } else if mode.check || mode.write {
        limits::write_output(format!("{place}\n").as_bytes())?;
    }
    if is_written {
        if file.place.is_none() {
            return Err(Failure::new(Id::FILE_WRITE, format!("{place} is not a file that can be written")));
        }
        write::change_source(&place, &text, recovered)?;
    }
    Ok(FileResult::Other)
}

/// Whether the tree contains a node that is used twice.
fn has_aliases(tree: &Tree) -> bool {
    let mut seen = HashSet::new();
    let mut pending: Vec<NodeId> = tree.documents().iter().map(|document| document.value).collect();
    while let Some(node) = pending.pop() {
        let span = tree.span(node);
        if span.start < span.end && !seen.insert(node) {
            return true;
        }
        match tree.value(node) {
            View::Scalar(_) => {}
            View::Array(items) => pending.extend(items.iter().map(|item| item.value)),
            View::Map(items) => pending.extend(items.iter().map(|item| item.value)),
        }
    }
    false
}

/// Whether a text parses to the documents of a tree. A file is only overwritten if it does.
fn says_the_same(tree: &Tree, text: &[u8], options: &ReadOptions) -> bool {
    let Ok(again) = parse(text, Pos::UNKNOWN.file, options) else { return false };
    let filled = |tree: &Tree| -> Vec<String> {
        let documents = tree.documents().iter().filter(|document| !document.injected);
        documents.map(|document| shown(tree, document.value)).filter(|text| text != "null").collect()
    };
    let comments = |tree: &Tree| tree.all_comments().iter().map(|comment| comment.text.clone()).collect::<Vec<_>>();
    let (mut old, mut new) = (comments(tree), comments(&again));
    old.sort();
    new.sort();
    filled(tree) == filled(&again) && old == new
}

/// The content of a node in a canonical form, to compare.
fn shown(tree: &Tree, node: NodeId) -> String {
    stacker::maybe_grow(64 << 10, 1 << 20, || match tree.value(node) {
        View::Scalar(ytterby_yaml::Scalar::Null) => "null".to_owned(),
        View::Scalar(scalar) => format!("{scalar:?}"),
        View::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(tree, item.value)).collect();
            format!("[{}]", items.join(","))
        }
        View::Map(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{:?}:{}", item.key, shown(tree, item.value))).collect();
            format!("{{{}}}", items.join(","))
        }
    })
}
