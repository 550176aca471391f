//! The flags, one row each: name, kind of value, help, completions; where a value is one of a few,
//! their names and meanings.
//!
//! Where flags of the same name differ between commands, the constant's name begins with the
//! command's name.

use ytterby::{Impact, ImportFrom};
use ytterby_diag::render::Rendering;
use ytterby_kubernetes::UnknownKinds;

use super::formats::OUTPUT_HELP;
use crate::flags::{ChoiceFlag, FlagValues, ListFlag, Switch, TextFlag, names_of};
use crate::generate::ValuesFormat;
use crate::host::ColourWish;
use crate::kubernetes::ResultFormat;
use crate::profile::ProfileFormat;
use crate::test::{CoverageFormat, TestFormat};

/// The format of answers on standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AnswerFormat {
    /// Lines for people.
    #[default]
    Text,
    /// For programs.
    Json,
}

pub const FILE: ListFlag = ListFlag::new(
    "file",
    "path",
    "Input: a file, a directory, an HTTP(S) URL, or - for standard input; name=path gives it another name",
)
.short('f')
.offers(FlagValues::Files);

pub const FILE_MARK: ListFlag = ListFlag::new(
    "file-mark",
    "path:key=value",
    "Change how matching files are treated: path, type, exclude, for-output, exclusive-for-output",
);

pub const ALLOW_SYMLINK_DESTINATION: ListFlag =
    ListFlag::commas("allow-symlink-destination", "path", "Follow symbolic links to this path or below it")
        .offers(FlagValues::Files);

pub const DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS: Switch =
    Switch::new("dangerous-allow-all-symlink-destinations", "Follow all symbolic links");

pub const DATA_VALUE: ListFlag =
    ListFlag::new("data-value", "key=text", "Set one data value to a string: db.name=prod")
        .short('v')
        .offers(FlagValues::Keys);

pub const DATA_VALUE_YAML: ListFlag =
    ListFlag::new("data-value-yaml", "key=yaml", "Set one data value to YAML: db.port=5432").offers(FlagValues::Keys);

pub const DATA_VALUE_FILE: ListFlag =
    ListFlag::new("data-value-file", "key=path", "Set one data value to the content of a file")
        .offers(FlagValues::KeysOfFiles);

pub const DATA_VALUES_FILE: ListFlag =
    ListFlag::new("data-values-file", "path", "Set data values from plain YAML files").offers(FlagValues::Files);

pub const DATA_VALUES_ENV: ListFlag = ListFlag::new(
    "data-values-env",
    "prefix",
    "Set data values from environment variables, as strings: PREFIX_db__name",
);

pub const DATA_VALUES_ENV_YAML: ListFlag =
    ListFlag::new("data-values-env-yaml", "prefix", "Set data values from environment variables, read as YAML");

pub const DATA_VALUE_COERCE: Switch = Switch::new(
    "data-value-coerce",
    "Convert strings from flags and the environment to the types that the schema declares",
);

pub const DIAGNOSTICS: TextFlag =
    TextFlag::new("diagnostics", "format", "Report problems as text, rich, json, sarif, github, gitlab or junit")
        .offers(FlagValues::OneOf(&names_of(&Rendering::NAMES)));

const COLOUR_WISHES: [(&str, ColourWish); 3] =
    [("auto", ColourWish::Auto), ("always", ColourWish::Always), ("never", ColourWish::Never)];

pub const COLOR: ChoiceFlag<ColourWish> = ChoiceFlag::new(
    "color",
    "when",
    "Colour reports: auto, always or never",
    &COLOUR_WISHES,
    &names_of(&COLOUR_WISHES),
);

pub const STRICT: Switch = Switch::new("strict", "Accept only the strict subset of YAML").short('s');

pub const IGNORE_UNKNOWN_COMMENTS: Switch =
    Switch::new("ignore-unknown-comments", "Accept comments other than #! and #@ in templates");

pub const IMPLICIT_MAP_KEY_OVERRIDES: Switch =
    Switch::new("implicit-map-key-overrides", "Accept repeated map keys in templates; the last one wins");

pub const DEBUG: Switch = Switch::new("debug", "Show debug output");

pub const FILES_INSPECT: Switch = Switch::new("files-inspect", "List the input files, and stop");

pub const BULK_IN: TextFlag = TextFlag::new("bulk-in", "json", "Read the input files from this JSON instead");

pub const DATA_VALUES_INSPECT: Switch = Switch::new("data-values-inspect", "Show the final data values, and stop");

pub const DATA_VALUES_SCHEMA_INSPECT: Switch =
    Switch::new("data-values-schema-inspect", "Show the schema in the format that --output names, and stop");

pub const SCHEMA_INSPECT: Switch =
    Switch::new("schema-inspect", "Show the schema as a list of all fields, unless --output names another format");

pub const LIBRARY: ListFlag =
    ListFlag::new("library", "name", "Inspect this library instead of the root; repeat it for a nested library");

pub const ALL_ERRORS: Switch =
    Switch::new("all-errors", "Report all invalid data values, not only those of the first input");

pub const STRICT_ANNOTATIONS: Switch =
    Switch::new("strict-annotations", "Fail on unknown, repeated and misplaced annotations");

pub const DANGEROUS_DATA_VALUES_DISABLE_VALIDATION: Switch =
    Switch::new("dangerous-data-values-disable-validation", "Skip the validation of data values");

pub const DATA_VALUE_SCHEMA_DISABLE_VALIDATION: Switch =
    Switch::new("data-value-schema-disable-validation", "The same as --dangerous-data-values-disable-validation");

pub const OUTPUT_DISABLE_VALIDATION: Switch =
    Switch::new("output-disable-validation", "Skip the validation of output documents");

pub const KUBERNETES_VERSION: TextFlag = TextFlag::new(
    "kubernetes",
    "version",
    "Check documents as the API server of this version does: 1.24 to 1.36, or off",
)
.offers(FlagValues::OneOf(&[
    "1.36", "1.35", "1.34", "1.33", "1.32", "1.31", "1.30", "1.29", "1.28", "1.27", "1.26", "1.25", "1.24", "off",
]));

pub const KUBERNETES_SCHEMA: ListFlag = ListFlag::new(
    "kubernetes-schema",
    "path",
    "More schemas: CRDs, policies, an OpenAPI document, a directory, a URL or a URL template",
)
.offers(FlagValues::Files);

const UNKNOWN_KINDS: [(&str, UnknownKinds); 3] =
    [("ignore", UnknownKinds::Ignore), ("warn", UnknownKinds::Warn), ("error", UnknownKinds::Error)];

pub const KUBERNETES_UNKNOWN: ChoiceFlag<UnknownKinds> = ChoiceFlag::new(
    "kubernetes-unknown",
    "mode",
    "What to do with unknown kinds: ignore, warn or error",
    &UNKNOWN_KINDS,
    &names_of(&UNKNOWN_KINDS),
);

pub const SKIP: ListFlag = ListFlag::commas("skip", "kind", "Do not check these kinds: Secret, apps/v1/Deployment");

pub const STDIO: Switch = Switch::new("stdio", "Use standard input and output: the default");

const RESULT_FORMATS: [(&str, ResultFormat); 5] = [
    ("text", ResultFormat::Text),
    ("json", ResultFormat::Json),
    ("junit", ResultFormat::Junit),
    ("tap", ResultFormat::Tap),
    ("sarif", ResultFormat::Sarif),
];

pub const VALIDATE_OUTPUT: ChoiceFlag<ResultFormat> = ChoiceFlag::new(
    "output",
    "format",
    "Write a result for each resource: text, json, junit, tap or sarif",
    &RESULT_FORMATS,
    &names_of(&RESULT_FORMATS),
)
.short('o');

pub const SUMMARY: Switch = Switch::new("summary", "Count resources at the end");

pub const VERBOSE: Switch = Switch::new("verbose", "With --output, also list valid and skipped resources");

pub const COMPAT: TextFlag =
    TextFlag::new("compat", "version", "Behave exactly like this version of ytt: 0.49 to 0.55, or off")
        .offers(FlagValues::OneOf(&["0.49", "0.55", "off"]));

pub const LIMIT_TIME: TextFlag = TextFlag::new(
    "limit-time",
    "time",
    "Processor time: 500ms, 10s, 2m or none; by default 10s plus 1s per MB of input",
);

pub const LIMIT_MEMORY: TextFlag =
    TextFlag::new("limit-memory", "size", "Memory: 400MiB, 2GiB or none; by default 1GiB plus 64 times the input");

pub const LIMIT_STEPS: TextFlag =
    TextFlag::new("limit-steps", "count", "Number of loop iterations and function calls; by default none");

pub const LIMIT_OUTPUT: TextFlag =
    TextFlag::new("limit-output", "size", "Size of the output, print() included; by default 1GiB");

pub const LIMIT_DEPTH: TextFlag = TextFlag::new("limit-depth", "count", "Depth of nested calls; by default 200000");

pub const OUTPUT: ListFlag =
    ListFlag::commas("output", "type", OUTPUT_HELP).short('o').offers(FlagValues::OneOf(ytterby::OutputTypes::NAMES));

pub const OUTPUT_FILES: TextFlag =
    TextFlag::new("output-files", "directory", "Write output files to this directory").offers(FlagValues::Directories);

pub const DANGEROUS_EMPTIED_OUTPUT_DIRECTORY: TextFlag = TextFlag::new(
    "dangerous-emptied-output-directory",
    "directory",
    "Write output files to this directory and delete everything else in it",
)
.offers(FlagValues::Directories);

pub const SOURCE_MAP: TextFlag =
    TextFlag::new("source-map", "file", "Write the origin of each line of the output to this file, as JSON")
        .offers(FlagValues::Files);

pub const BULK_OUT: Switch = Switch::new("bulk-out", "Write output files as JSON to standard output");

const PROFILE_FORMATS: [(&str, ProfileFormat); 4] = [
    ("text", ProfileFormat::Text),
    ("json", ProfileFormat::Json),
    ("trace", ProfileFormat::Trace),
    ("flame", ProfileFormat::Flame),
];

pub const PROFILE: ChoiceFlag<ProfileFormat> = ChoiceFlag::optional(
    "profile",
    "format",
    "Show what the run spent time, steps and memory on, as text, json, a trace for Chrome and Perfetto, or a flame graph",
    &PROFILE_FORMATS,
    &names_of(&PROFILE_FORMATS),
);

pub const PROFILE_FILE: TextFlag =
    TextFlag::new("profile-file", "file", "Write the profile to this file instead of standard error")
        .offers(FlagValues::Files);

pub const VERSION: Switch = Switch::new("version", "Show the version");

pub const FMT_FILE: ListFlag =
    ListFlag::new("file", "path", "Input: a file, a directory, an HTTP(S) URL, or - for standard input")
        .short('f')
        .offers(FlagValues::Files);

pub const FMT_CHECK: Switch =
    Switch::new("check", "List files that are not formatted, and exit with 1 if there are any");

pub const WRITE: Switch = Switch::new("write", "Format files in place, and list those that changed");

pub const FMT_DIFF: Switch = Switch::new("diff", "Show what would change");

pub const SHARD: TextFlag = TextFlag::new("shard", "I/N", "Do only part I of N of the work, with I from 1 to N");

pub const JOBS: TextFlag = TextFlag::new("jobs", "N", "Use this many threads; all cores by default").short('j');

pub const BUILD_CHECK: Switch = Switch::new("check", "Write nothing, and exit with 1 if a directory is not up to date");

pub const BUILD_DIFF: Switch = Switch::new("diff", "Write nothing, and show what would change");

pub const FILTER: TextFlag = TextFlag::new("filter", "text", "Run only tests whose name contains this text");

pub const UPDATE: Switch = Switch::new("update", "Write snapshots that are different or missing");

const TEST_FORMATS: [(&str, TestFormat); 4] = [
    ("text", TestFormat::Text),
    ("junit", TestFormat::Junit),
    ("github", TestFormat::Github),
    ("json", TestFormat::Json),
];

pub const FORMAT: ChoiceFlag<TestFormat> = ChoiceFlag::new(
    "format",
    "format",
    "Report as text, junit, github or json",
    &TEST_FORMATS,
    &names_of(&TEST_FORMATS),
);

const COVERAGE_FORMATS: [(&str, CoverageFormat); 2] = [("text", CoverageFormat::Text), ("lcov", CoverageFormat::Lcov)];

pub const COVERAGE: ChoiceFlag<CoverageFormat> = ChoiceFlag::optional(
    "coverage",
    "format",
    "Show what no test reached, as text or lcov: lines of templates, data values, rules, overlays",
    &COVERAGE_FORMATS,
    &names_of(&COVERAGE_FORMATS),
);

pub const IGNORE: ListFlag = ListFlag::commas("ignore", "id", "Leave out findings with this id: lint/unused-value");

pub const DENY: TextFlag =
    TextFlag::new("deny", "what", "Fail on warnings as well: --deny warnings").offers(FlagValues::OneOf(&["warnings"]));

pub const FIX: Switch = Switch::new("fix", "Apply all safe fixes");

pub const CHECK_DIFF: Switch = Switch::new("diff", "Show the safe fixes and change nothing");

pub const CHECK_FILE: ListFlag = ListFlag::new(
    "file",
    "path",
    "Check these files instead of the targets of a project: a file, a directory, a URL, or - for standard input",
)
.short('f')
.offers(FlagValues::Files);

pub const COUNT: TextFlag = TextFlag::new("count", "number", "Number of documents; by default 20, with --check 200");

pub const SEED: TextFlag =
    TextFlag::new("seed", "number", "Seed for random choices; the same seed gives the same documents; by default 0");

pub const GEN_CHECK: Switch =
    Switch::new("check", "Render each document; print the smallest values that fail, and exit with 1");

const VALUES_FORMATS: [(&str, ValuesFormat); 2] = [("yaml", ValuesFormat::Yaml), ("json", ValuesFormat::Json)];

pub const GEN_OUTPUT: ChoiceFlag<ValuesFormat> =
    ChoiceFlag::new("output", "type", "Write documents as yaml or json", &VALUES_FORMATS, &names_of(&VALUES_FORMATS))
        .short('o');

pub const IMPACT: ListFlag =
    ListFlag::new("impact", "value", "Show which nodes of the output change if this data value changes");

pub const TARGET: TextFlag =
    TextFlag::new("target", "name", "Explain this target of the project; the first one by default");

const EXPLAIN_FORMATS: [(&str, AnswerFormat); 2] = [("text", AnswerFormat::Text), ("json", AnswerFormat::Json)];

pub const EXPLAIN_OUTPUT: ChoiceFlag<AnswerFormat> =
    ChoiceFlag::new("output", "type", "Write answers as text or json", &EXPLAIN_FORMATS, &names_of(&EXPLAIN_FORMATS))
        .short('o');

const IMPORT_KINDS: [(&str, ImportFrom); 2] = [("schema", ImportFrom::Schema), ("values", ImportFrom::Values)];

pub const FROM: ChoiceFlag<ImportFrom> = ChoiceFlag::new(
    "from",
    "kind",
    "What FILE contains: schema (the default), or values from which to infer a schema",
    &IMPORT_KINDS,
    &names_of(&IMPORT_KINDS),
);

pub const IMPORT_NAME: TextFlag = TextFlag::new(
    "name",
    "name",
    "The schema of an OpenAPI document, the version of a CRD, or the definition of a JSON Schema",
);

const DIFF_FORMATS: [(&str, AnswerFormat); 2] = [("text", AnswerFormat::Text), ("json", AnswerFormat::Json)];

pub const DIFF_OUTPUT: ChoiceFlag<AnswerFormat> =
    ChoiceFlag::new("output", "type", "Write changes as text or json", &DIFF_FORMATS, &names_of(&DIFF_FORMATS))
        .short('o');

const IMPACTS: [(&str, Impact); 3] = [("major", Impact::Major), ("minor", Impact::Minor), ("patch", Impact::Patch)];

pub const FAIL_ON: ChoiceFlag<Impact> = ChoiceFlag::new(
    "fail-on",
    "kind",
    "Exit with 1 on changes of this kind or larger: major, minor or patch",
    &IMPACTS,
    &names_of(&IMPACTS),
);

pub const NO_DESCRIPTIONS: Switch = Switch::new("no-descriptions", "Offer words without descriptions");

pub const MAN: Switch = Switch::new("man", "Write the page of a command for man, in roff");
