//! Renders templates: what the program does without a subcommand.
//!
//! Flags become [`Inputs`] and options for the engine; other commands that render share these
//! steps. The result goes to standard output or to a directory.

use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use ytterby::input::{library_and_key, library_and_rest};
use ytterby::{
    Compat, Content, Failure, Host, InputFile, Inspect, Options, OutputFile, OutputForm, OutputTypes, ValueFlags,
    ValueFromFile, ValuesFile,
};
use ytterby_diag::render::{Rendering, Report};
use ytterby_diag::{Diagnostic, Id, Sources};
use ytterby_text::profile::phase;

use crate::commands::flag;
use crate::flags::Invocation;
use crate::host::{self, Terminal};
use crate::read::{self, InputOptions, Skip, Stdin, Symlinks, Urls};
use crate::write::Recovered;
use crate::{bulk, kubernetes, limits, profile, report, source_map, write};

const OTHER_FILES: &str = "Found Non-YAML templates in input. Non-YAML templates are not rendered to standard output.
If you want to include those results, use the --output-files or --dangerous-emptied-output-directory flag.";

/// Renders as the flags request. Returns the exit code; `Err` is a problem of the flags.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let started = Instant::now();
    let compat = compat(program, flags)?;
    let rendering = match report::rendering(program, flags)? {
        // `--compat=ytt` disables what ytt does not have: such flags are accepted and ignored.
        _ if compat.is_ytt_only() => Rendering::Text,
        rendering => rendering,
    };
    let profiling = if compat.is_ytt_only() { None } else { profile::begin(flags)? };
    let terminal = Rc::new(Terminal::new(rendering));
    let mut outcome = render(program, flags, rendering, compat, sources, &terminal);
    let profiled = profiling.map_or(Ok(()), |profiling| profiling.finish(sources));
    if let (Ok(_), Err(failure)) = (&outcome, profiled) {
        outcome = Err(failure);
    }

    let (failure, warnings) = match &outcome {
        Ok(warnings) => (None, &warnings[..]),
        Err(failure) => (Some(failure), failure.warnings()),
    };
    if flags.is_on(&flag::DEBUG) {
        terminal.debug(&format!("total: {:?}\n", started.elapsed()));
    }
    let printed = &terminal.take_printed();
    report::write(&Report { printed, ..Report::new(program, failure, warnings, sources) }, rendering);
    write::end_if_interrupted();
    // Nothing is freed before: that would take a tenth of a short run.
    std::process::exit(i32::from(outcome.is_err()))
}

/// Reads, renders, writes. Returns the warnings.
fn render(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    compat: Compat,
    sources: &Arc<Sources>,
    terminal: &Rc<Terminal>,
) -> Result<Vec<Diagnostic>, Failure> {
    let Inputs { files, options } = {
        let _span = phase("inputs");
        inputs(program, flags, rendering, compat, sources)?
    };
    let options = ManuallyDrop::new(Options { is_last_run: true, ..options });
    let result = ytterby::render(files, &options, sources, terminal.clone());

    if flags.is_on(&flag::BULK_OUT) {
        let text = match &result {
            Ok(rendered) => bulk::write(Ok(&rendered.files)),
            Err(failure) => bulk::write(Err(&failure.text(sources))),
        };
        host::write_output(&text)?;
        // `--bulk-out` contains the failure; only warnings are left to report.
        return Ok(match result {
            Ok(rendered) => rendered.warnings,
            Err(failure) => failure.warnings().to_vec(),
        });
    }

    let rendered = result?;
    let _span = phase("output");
    let mut warnings = rendered.warnings;
    let source_map = match flags.is_given(&flag::SOURCE_MAP) && !compat.is_ytt_only() {
        true => Some(source_map::draft(flags.text(&flag::SOURCE_MAP), &rendered.source_map)?),
        false => None,
    };
    let emptied = flags.text(&flag::DANGEROUS_EMPTIED_OUTPUT_DIRECTORY);
    let added = flags.text(&flag::OUTPUT_FILES);
    let written = if !emptied.is_empty() {
        write::replace_directory(emptied, &rendered.files, &mut Recovered::default())
            .and_then(|()| announce(emptied, &rendered.files))
    } else if !added.is_empty() {
        write::add_files(added, &rendered.files).and_then(|()| announce(added, &rendered.files))
    } else {
        if rendered.has_other_files {
            warn_of_other_files(rendering, &mut warnings);
        }
        host::write_output(&rendered.documents)
    };
    let written = written.and_then(|()| source_map.map_or(Ok(()), write::Draft::finish));
    match written {
        Ok(()) => Ok(warnings),
        Err(mut failure) => {
            failure.set_warnings(warnings);
            Err(failure)
        }
    }
}

/// The input of a render.
pub struct Inputs {
    /// The files of `-f`, not read yet.
    pub files: Vec<InputFile>,
    /// The options from the other flags.
    pub options: Options,
}

/// Lists the files and reads the flags shared by all commands that render. Flags that a command
/// lacks are off.
pub fn inputs(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    compat: Compat,
    sources: &Arc<Sources>,
) -> Result<Inputs, Failure> {
    let symlinks = Symlinks {
        allow_all: flags.is_on(&flag::DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS),
        allowed: flags.list(&flag::ALLOW_SYMLINK_DESTINATION).to_vec(),
    };
    let stdin = Stdin::default();
    let files = match flags.text(&flag::BULK_IN) {
        "" => read::list_as(rules(compat), flags.list(&flag::FILE), &symlinks, &stdin)?,
        text => bulk::read(text)?,
    };
    let mut options = options(program, flags, rendering, compat, &symlinks, &stdin)?;
    if compat == Compat::Latest {
        options.output_check = kubernetes::output_check(flags, sources)?;
    }
    Ok(Inputs { files, options })
}

/// Prints which files were written, unless the user interrupted the program.
fn announce(directory: &str, files: &[OutputFile]) -> Result<(), Failure> {
    write::end_if_interrupted();
    host::write_output(write::announcement(directory, files).as_bytes())
}

/// The options that the flags set.
pub fn options(
    program: &str,
    flags: &Invocation,
    rendering: Rendering,
    compat: Compat,
    symlinks: &Symlinks,
    stdin: &Stdin,
) -> Result<Options, Failure> {
    let list = |path: &str| read::list_as(rules(compat), &[path.to_owned()], symlinks, stdin);
    let values = value_flags(flags, &list);
    let env = environment(values.env.iter().chain(&values.env_yaml))?;
    let inspect = if flags.is_on(&flag::FILES_INSPECT) {
        Some(Inspect::Files)
    } else if flags.is_on(&flag::SCHEMA_INSPECT) && !compat.is_ytt_only() {
        Some(Inspect::SchemaDocs)
    } else if flags.is_on(&flag::SCHEMA_INSPECT) || flags.is_on(&flag::DATA_VALUES_SCHEMA_INSPECT) {
        Some(Inspect::Schema)
    } else if flags.is_on(&flag::DATA_VALUES_INSPECT) {
        Some(Inspect::Values)
    } else {
        None
    };
    let into_files = [&flag::DANGEROUS_EMPTIED_OUTPUT_DIRECTORY, &flag::OUTPUT_FILES]
        .iter()
        .any(|flag| !flags.text(flag).is_empty());
    Ok(Options {
        program: program.to_owned(),
        strict: flags.is_on(&flag::STRICT),
        ignore_unknown_comments: flags.is_on(&flag::IGNORE_UNKNOWN_COMMENTS),
        implicit_map_key_overrides: flags.is_on(&flag::IMPLICIT_MAP_KEY_OVERRIDES),
        debug: flags.is_on(&flag::DEBUG),
        file_marks: flags.list(&flag::FILE_MARK).to_vec(),
        values,
        env,
        inspect,
        output_types: OutputTypes(flags.list(&flag::OUTPUT).to_vec()),
        target: if into_files || flags.is_on(&flag::BULK_OUT) { OutputForm::Files } else { OutputForm::Documents },
        skip_value_validation: flags.is_on(&flag::DANGEROUS_DATA_VALUES_DISABLE_VALIDATION)
            || flags.is_on(&flag::DATA_VALUE_SCHEMA_DISABLE_VALIDATION),
        skip_output_validation: flags.is_on(&flag::OUTPUT_DISABLE_VALIDATION),
        strict_annotations: flags.is_on(&flag::STRICT_ANNOTATIONS),
        all_errors: flags.is_on(&flag::ALL_ERRORS) && !compat.is_ytt_only() || rendering.is_for_machines(),
        coerce_values: flags.is_on(&flag::DATA_VALUE_COERCE) && !compat.is_ytt_only(),
        compat,
        look_for_slips: rendering != Rendering::Text,
        library: if !compat.is_ytt_only() { flags.list(&flag::LIBRARY).to_vec() } else { Vec::new() },
        limits: limits::of_flags(flags)?,
        meter: Some(Arc::new(limits::Process::default())),
        cancellation: None,
        overlay_record: None,
        find_causes: rendering != Rendering::Text,
        source_map: flags.is_given(&flag::SOURCE_MAP) && !compat.is_ytt_only(),
        output_check: None,
        coverage: None,
        is_last_run: false,
    })
}

/// How to parse flag arguments that name files.
pub fn rules(compat: Compat) -> InputOptions<'static> {
    InputOptions {
        urls: if compat == Compat::V0_49 { Urls::AreCutAtEquals } else { Urls::MayHoldEquals },
        skip: if compat.is_ytt_only() { Skip::Nothing } else { Skip::Project(&[]) },
    }
}

/// Lists the files of a path.
type ListFiles<'a> = dyn Fn(&str) -> Result<Vec<InputFile>, Failure> + 'a;

fn value_flags(flags: &Invocation, list: &ListFiles<'_>) -> ValueFlags {
    ValueFlags {
        files: flags.list(&flag::DATA_VALUES_FILE).iter().map(|arg| values_file(arg, list)).collect(),
        env: flags.list(&flag::DATA_VALUES_ENV).to_vec(),
        env_yaml: flags.list(&flag::DATA_VALUES_ENV_YAML).to_vec(),
        strings: flags.list(&flag::DATA_VALUE).to_vec(),
        yaml: flags.list(&flag::DATA_VALUE_YAML).to_vec(),
        contents: flags.list(&flag::DATA_VALUE_FILE).iter().map(|arg| value_from_file(arg, list)).collect(),
        ..ValueFlags::default()
    }
}

/// Parses `[@library:]path`.
fn values_file(arg: &str, list: &ListFiles<'_>) -> ValuesFile {
    let (library, path) = match library_and_rest(arg) {
        Ok(found) => found,
        Err(why) => {
            let why = Failure::new(Id::LIBRARY_REF, why);
            return ValuesFile { library: String::new(), path: arg.to_owned(), files: Err(why) };
        }
    };
    let files = list(path).map_err(|failure| failure.doing(format!("Find files '{path}'")));
    ValuesFile { library: library.to_owned(), path: path.to_owned(), files }
}

/// Parses `[@library:]key=path`.
fn value_from_file(arg: &str, list: &ListFiles<'_>) -> ValueFromFile {
    let failed = |why: Failure| ValueFromFile {
        library: String::new(),
        key: String::new(),
        path: arg.to_owned(),
        content: Content::failed(why),
    };
    let wrong = |why: String| failed(Failure::new(Id::VALUES_FLAG, why));
    let Some((key, path)) = arg.split_once('=') else { return wrong("Expected format key=/file/path".into()) };
    let file = match list(path) {
        Ok(files) => match <[InputFile; 1]>::try_from(files) {
            Ok([file]) => file,
            Err(_) => return wrong(format!("Expected '{path}' to be a file, but is a directory")),
        },
        Err(failure) => return failed(failure.doing(format!("Finding file '{path}'"))),
    };
    // The reference checks the key only after reading the content.
    let reading = format!("Reading file '{path}'");
    match library_and_key(key) {
        Ok((library, key)) => ValueFromFile {
            library: library.to_owned(),
            key: key.to_owned(),
            path: path.to_owned(),
            content: Content::later(move || file.content.read().map_err(|_| Content::unreadable(reading))),
        },
        Err(why) if file.content.read().is_ok() => wrong(why),
        Err(_) => failed(Content::unreadable(reading)),
    }
}

/// The variables with one of these prefixes, each given as `[@library:]prefix`.
fn environment<'a>(flags: impl Iterator<Item = &'a String>) -> Result<Vec<(String, String)>, Failure> {
    let prefixes: Vec<&str> = flags.map(|flag| library_and_rest(flag).map_or("", |(_, prefix)| prefix)).collect();
    let mut found = Vec::new();
    if prefixes.is_empty() {
        return Ok(found);
    }
    for (name, value) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if prefixes.iter().any(|prefix| shown.starts_with(prefix)) {
            match (name.to_str(), value.into_string()) {
                (Some(name), Ok(value)) => found.push((name.to_owned(), value)),
                _ => {
                    let text = format!("Expected environment variable '{shown}' to be UTF-8");
                    return Err(Failure::new(Id::VALUES_FLAG, text));
                }
            }
        }
    }
    Ok(found)
}

/// The level of compatibility: from the flag, then the environment; a program called `ytt` has the
/// highest.
pub fn compat(program: &str, flags: &Invocation) -> Result<Compat, Failure> {
    let variable = || std::env::var("YTTERBY_COMPAT").ok().filter(|level| !level.is_empty());
    let level = if flags.is_given(&flag::COMPAT) { Some(flags.text(&flag::COMPAT).to_owned()) } else { variable() };
    let Some(level) = level else {
        return Ok(if program == "ytt" { Compat::V0_55 } else { Compat::Latest });
    };
    Compat::find(&level).ok_or_else(|| {
        let text = format!("Unknown compatibility level '{level}' (expected 0.49 or 0.50 to 0.55)");
        let help = "levels are 0.49 and 0.50 to 0.55; off switches on what goes beyond ytt";
        Diagnostic::error(Id::FLAG_VALUE, text).help(help).into()
    })
}

/// Reports ignored files. ytt prints this without the program's name; other formats get a warning.
fn warn_of_other_files(rendering: Rendering, warnings: &mut Vec<Diagnostic>) {
    match rendering {
        Rendering::Text => host::write_error(&format!("\nWarning: {OTHER_FILES}\n")),
        _ => warnings.push(Diagnostic::warning(Id::INPUT_OTHER_FILES, OTHER_FILES.replace('\n', " "))),
    }
}
