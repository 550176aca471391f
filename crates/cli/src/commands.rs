//! The table of commands and flags.

use crate::flags::{Command, Flag, FlagKind, Group, Operands, Values};
use crate::kubevirt::KUBEVIRT;

// Flags of several commands.

const FILE: Flag = Flag::new(
    "file",
    FlagKind::List("path"),
    "Input: a file, a directory, an HTTP(S) URL, or - for standard input; name=path gives it another name",
)
.short('f')
.offers(Values::Files);

const FILE_MARK: Flag = Flag::new(
    "file-mark",
    FlagKind::List("path:key=value"),
    "Treat matching files otherwise: path, type, exclude, for-output, exclusive-for-output",
);

const ALLOW_SYMLINK_DESTINATION: Flag = Flag::new(
    "allow-symlink-destination",
    FlagKind::Commas("path"),
    "Follow symbolic links that lead to this place or below it",
)
.offers(Values::Files);

const DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS: Flag =
    Flag::new("dangerous-allow-all-symlink-destinations", FlagKind::Bool, "Follow symbolic links wherever they lead");

const DATA_VALUE: Flag =
    Flag::new("data-value", FlagKind::List("key=text"), "Set one data value to a string: db.name=prod")
        .short('v')
        .offers(Values::Keys);

const DATA_VALUE_YAML: Flag =
    Flag::new("data-value-yaml", FlagKind::List("key=yaml"), "Set one data value to a piece of YAML: db.port=5432")
        .offers(Values::Keys);

const DATA_VALUE_FILE: Flag =
    Flag::new("data-value-file", FlagKind::List("key=path"), "Set one data value to the content of a file")
        .offers(Values::KeysOfFiles);

const DATA_VALUES_FILE: Flag =
    Flag::new("data-values-file", FlagKind::List("path"), "Set data values from plain YAML files")
        .offers(Values::Files);

const DATA_VALUES_ENV: Flag = Flag::new(
    "data-values-env",
    FlagKind::List("prefix"),
    "Set data values to strings from variables of the environment: PREFIX_db__name",
);

const DATA_VALUES_ENV_YAML: Flag =
    Flag::new("data-values-env-yaml", FlagKind::List("prefix"), "The same, each read as YAML");

const DATA_VALUE_COERCE: Flag = Flag::new(
    "data-value-coerce",
    FlagKind::Bool,
    "Read strings from flags and the environment as numbers or booleans where the schema wants those",
);

const DIAGNOSTICS: Flag = Flag::new(
    "diagnostics",
    FlagKind::Text("format"),
    "Report problems as text, rich, json, sarif, github, gitlab or junit",
)
.offers(Values::OneOf(&["text", "rich", "json", "sarif", "github", "gitlab", "junit"]));

const COLOR: Flag = Flag::new("color", FlagKind::Text("when"), "Colour reports: auto, always or never")
    .offers(Values::OneOf(&["auto", "always", "never"]));

const STRICT: Flag = Flag::new("strict", FlagKind::Bool, "Accept only the strict subset of YAML").short('s');

const IGNORE_UNKNOWN_COMMENTS: Flag =
    Flag::new("ignore-unknown-comments", FlagKind::Bool, "Accept comments other than #! and #@ in templates");

const IMPLICIT_MAP_KEY_OVERRIDES: Flag =
    Flag::new("implicit-map-key-overrides", FlagKind::Bool, "Accept repeated map keys in templates; the last one wins");

const DEBUG: Flag = Flag::new("debug", FlagKind::Bool, "Say what is being done");

const FILES: Group = Group {
    title: "Input",
    flags: &[
        FILE,
        FILE_MARK,
        Flag::new("files-inspect", FlagKind::Bool, "Show which files take part, and stop"),
        Flag::new("bulk-in", FlagKind::Text("json"), "Take the input files from this JSON instead"),
        ALLOW_SYMLINK_DESTINATION,
        DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS,
    ],
};

const VALUES: Group = Group {
    title: "Data values",
    flags: &[
        DATA_VALUE,
        DATA_VALUE_YAML,
        DATA_VALUE_FILE,
        DATA_VALUES_FILE,
        DATA_VALUES_ENV,
        DATA_VALUES_ENV_YAML,
        DATA_VALUE_COERCE,
        Flag::new("data-values-inspect", FlagKind::Bool, "Show the final data values, and stop"),
        Flag::new(
            "data-values-schema-inspect",
            FlagKind::Bool,
            "Show the schema in the format that --output names, and stop",
        ),
        Flag::new(
            "schema-inspect",
            FlagKind::Bool,
            "The same, as a description of all fields unless --output says otherwise",
        ),
        Flag::new(
            "library",
            FlagKind::List("name"),
            "Inspect this library instead; repeat it for a library in a library",
        ),
    ],
};

const CHECKS: Group = Group {
    title: "Checks",
    flags: &[
        Flag::new("all-errors", FlagKind::Bool, "Report all wrong data values, not only those of the first input"),
        Flag::new("strict-annotations", FlagKind::Bool, "Fail on unknown, repeated and misplaced annotations"),
        Flag::new("dangerous-data-values-disable-validation", FlagKind::Bool, "Do not check the rules of data values"),
        Flag::new("data-value-schema-disable-validation", FlagKind::Bool, "The same under its newer name"),
        Flag::new("output-disable-validation", FlagKind::Bool, "Do not check the rules of output documents"),
    ],
};

const KUBERNETES_VERSION: Flag = Flag::new(
    "kubernetes",
    FlagKind::Text("version"),
    "Check documents as the API server of this version does: 1.24 to 1.36, or off",
)
.offers(Values::OneOf(&[
    "1.36", "1.35", "1.34", "1.33", "1.32", "1.31", "1.30", "1.29", "1.28", "1.27", "1.26", "1.25", "1.24", "off",
]));

const KUBERNETES_SCHEMA: Flag = Flag::new(
    "kubernetes-schema",
    FlagKind::List("path"),
    "Further schemas: CRDs, policies, an OpenAPI document, a directory, a URL or a template of one",
)
.offers(Values::Files);

const KUBERNETES_UNKNOWN: Flag =
    Flag::new("kubernetes-unknown", FlagKind::Text("mode"), "Kinds of which nothing is known: ignore, warn or error")
        .offers(Values::OneOf(&["ignore", "warn", "error"]));

const SKIP: Flag =
    Flag::new("skip", FlagKind::Commas("kind"), "Kinds that are not checked: Secret, apps/v1/Deployment");

/// The check of rendered output.
const KUBERNETES: Group =
    Group { title: "Kubernetes", flags: &[KUBERNETES_VERSION, KUBERNETES_SCHEMA, KUBERNETES_UNKNOWN, SKIP] };

/// `lsp`.
const LSP: Group = Group {
    title: "Flags",
    flags: &[Flag::new("stdio", FlagKind::Bool, "Use standard input and output, which is what happens anyway")],
};

/// `kubernetes validate`.
const VALIDATE: Group = Group {
    title: "Flags",
    flags: &[
        KUBERNETES_VERSION,
        KUBERNETES_SCHEMA,
        KUBERNETES_UNKNOWN,
        SKIP,
        Flag::new(
            "output",
            FlagKind::Text("format"),
            "Write a result for each resource: text, json, junit, tap or sarif",
        )
        .short('o')
        .offers(Values::OneOf(&["text", "json", "junit", "tap", "sarif"])),
        Flag::new("summary", FlagKind::Bool, "Count resources at the end"),
        Flag::new("verbose", FlagKind::Bool, "With --output, list valid and skipped resources, too"),
        DIAGNOSTICS,
        COLOR,
    ],
};

const KUBERNETES_COMMANDS: &[Command] = &[Command {
    name: "validate",
    aliases: &[],
    summary: "Check manifests as the API server does",
    details: "Reads files, directories (.yaml, .yml, .json) or standard input. Exits with 0 where all are valid, 1 where \
              one is not, and 2 where something cannot be read.",
    operands: Operands::Some("[FILE|DIRECTORY|-] …"),
    flags: &[VALIDATE],
    commands: &[],
}];

const LANGUAGE: Group = Group {
    title: "Language",
    flags: &[
        STRICT,
        IGNORE_UNKNOWN_COMMENTS,
        IMPLICIT_MAP_KEY_OVERRIDES,
        Flag::new(
            "compat",
            FlagKind::Text("version"),
            "Behave as this version of ytt, in everything: 0.49, 0.50 to 0.55; or off",
        )
        .offers(Values::OneOf(&["0.49", "0.55", "off"])),
    ],
};

/// What a run may use: for every command that evaluates, reads or checks what others wrote.
pub const LIMITS: Group = Group {
    title: "Limits",
    flags: &[
        Flag::new(
            "limit-time",
            FlagKind::Text("time"),
            "Processor time: 500ms, 10s, 2m or none; by default 10s and 1s for each MB of input",
        ),
        Flag::new(
            "limit-memory",
            FlagKind::Text("size"),
            "Memory: 400MiB, 2GiB or none; by default 1GiB and 64 times the input",
        ),
        Flag::new("limit-steps", FlagKind::Text("count"), "Turns of loops and calls of functions; by default none"),
        Flag::new("limit-output", FlagKind::Text("size"), "Output, that of print() included; by default 1GiB"),
        Flag::new("limit-depth", FlagKind::Text("count"), "Calls inside each other; by default 200000"),
    ],
};

const OUTPUT: Group = Group { title: "Output", flags: &[
    Flag::new(
        "output",
        FlagKind::Commas("type"),
        "Write documents as yaml, json, pos or yaml+source; show a schema as openapi-v3, json-schema, crd, ytt-schema, markdown, html or values",
    )
    .short('o')
    .offers(Values::OneOf(&["yaml", "json", "pos", "yaml+source", "openapi-v3", "json-schema", "crd", "ytt-schema", "markdown", "html", "values"])),
    Flag::new("output-files", FlagKind::Text("directory"), "Write output files to this directory")
        .offers(Values::Directories),
    Flag::new(
        "dangerous-emptied-output-directory",
        FlagKind::Text("directory"),
        "Write output files to this directory and delete everything else in it",
    )
    .offers(Values::Directories),
    Flag::new("source-map", FlagKind::Text("file"), "Write to this file where each line of the output comes from, as JSON")
        .offers(Values::Files),
    Flag::new("bulk-out", FlagKind::Bool, "Write output files as JSON to standard output"),
    DIAGNOSTICS,
    COLOR,
    DEBUG,
] };

const VERSION: Group = Group { title: "Other", flags: &[Flag::new("version", FlagKind::Bool, "Show the version")] };

const FMT: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new(
            "file",
            FlagKind::List("path"),
            "Input: a file, a directory, an HTTP(S) URL, or - for standard input",
        )
        .short('f')
        .offers(Values::Files),
        STRICT,
        Flag::new("check", FlagKind::Bool, "List files that have another form, and exit with 1 where there are any"),
        Flag::new("write", FlagKind::Bool, "Write files in their new form, and list those that changed"),
        Flag::new("diff", FlagKind::Bool, "Show what would change"),
        DIAGNOSTICS,
        COLOR,
        DEBUG,
    ],
};

const SHARD: Flag = Flag::new("shard", FlagKind::Text("I/N"), "Do one of N equal parts of the work, I from 1 to N");
const JOBS: Flag = Flag::new("jobs", FlagKind::Text("N"), "Use this many threads; all cores by default").short('j');

const BUILD: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("check", FlagKind::Bool, "Write nothing, and exit with 1 where a directory is not up to date"),
        Flag::new("diff", FlagKind::Bool, "Write nothing, and show what would change"),
        SHARD,
        JOBS,
        DIAGNOSTICS,
        COLOR,
    ],
};

const WATCH: Group = Group { title: "Flags", flags: &[JOBS, DIAGNOSTICS, COLOR] };

const INIT: Group = Group { title: "Flags", flags: &[DIAGNOSTICS, COLOR] };

const TEST: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("filter", FlagKind::Text("text"), "Run only tests whose name contains this text"),
        Flag::new("update", FlagKind::Bool, "Write snapshots that differ or are missing"),
        Flag::new("format", FlagKind::Text("format"), "Report as text, junit, github or json")
            .offers(Values::OneOf(&["text", "junit", "github", "json"])),
        Flag::new(
            "coverage",
            FlagKind::Optional("format"),
            "Say what no test reached, as text or lcov: lines of templates, data values, rules, overlays",
        )
        .offers(Values::OneOf(&["text", "lcov"])),
        SHARD,
        JOBS,
        COLOR,
    ],
};

/// `check`.
const CHECK: Group = Group {
    title: "Findings",
    flags: &[
        Flag::new("ignore", FlagKind::Commas("id"), "Leave out findings with this id: lint/unused-value"),
        Flag::new("deny", FlagKind::Text("what"), "Fail on warnings, too: --deny warnings")
            .offers(Values::OneOf(&["warnings"])),
        Flag::new("fix", FlagKind::Bool, "Apply the fixes that cannot be wrong"),
        Flag::new("diff", FlagKind::Bool, "Show these fixes and change nothing"),
        DIAGNOSTICS,
        COLOR,
    ],
};

/// The inputs of `check` where there is no project.
const CHECK_INPUT: Group = Group {
    title: "Input",
    flags: &[
        Flag::new(
            "file",
            FlagKind::List("path"),
            "Check these files instead of the targets of a project: a file, a directory, a URL, or - for standard input",
        )
        .short('f')
        .offers(Values::Files),
        FILE_MARK,
        DATA_VALUE,
        DATA_VALUE_YAML,
        DATA_VALUE_FILE,
        DATA_VALUES_FILE,
        DATA_VALUES_ENV,
        DATA_VALUES_ENV_YAML,
        DATA_VALUE_COERCE,
        ALLOW_SYMLINK_DESTINATION,
        DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS,
        STRICT,
        IGNORE_UNKNOWN_COMMENTS,
        IMPLICIT_MAP_KEY_OVERRIDES,
    ],
};

/// The inputs of commands around a render.
const INPUTS: Group = Group {
    title: "Input",
    flags: &[
        FILE,
        FILE_MARK,
        ALLOW_SYMLINK_DESTINATION,
        DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS,
        DATA_VALUE,
        DATA_VALUE_YAML,
        DATA_VALUE_FILE,
        DATA_VALUES_FILE,
        DATA_VALUES_ENV,
        DATA_VALUES_ENV_YAML,
        DATA_VALUE_COERCE,
    ],
};

/// How templates are read, for commands around a render.
const DIALECT: Group =
    Group { title: "Language", flags: &[STRICT, IGNORE_UNKNOWN_COMMENTS, IMPLICIT_MAP_KEY_OVERRIDES] };

const GEN: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("count", FlagKind::Text("number"), "How many documents to make: 20 unless told, 200 with --check"),
        Flag::new("seed", FlagKind::Text("number"), "The same seed gives the same documents: 0 unless told"),
        Flag::new(
            "check",
            FlagKind::Bool,
            "Render each document; print the smallest values that fail, and exit with 1",
        ),
        Flag::new("output", FlagKind::Text("type"), "Write documents as yaml or json")
            .short('o')
            .offers(Values::OneOf(&["yaml", "json"])),
        DIAGNOSTICS,
        COLOR,
    ],
};

const EXPLAIN: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("impact", FlagKind::List("value"), "Show which nodes of the output change with this data value"),
        Flag::new("output", FlagKind::Text("type"), "Write answers as text or json")
            .short('o')
            .offers(Values::OneOf(&["text", "json"])),
        DIAGNOSTICS,
        COLOR,
    ],
};

const IMPORT: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new(
            "from",
            FlagKind::Text("kind"),
            "What FILE holds: schema (the default), or values to make a schema of by example",
        )
        .offers(Values::OneOf(&["schema", "values"])),
        Flag::new(
            "name",
            FlagKind::Text("name"),
            "The schema of an OpenAPI document, the version of a CRD, or the definition of a JSON Schema",
        ),
        DIAGNOSTICS,
        COLOR,
    ],
};

const DIFF: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("output", FlagKind::Text("type"), "Write changes as text or json")
            .short('o')
            .offers(Values::OneOf(&["text", "json"])),
        Flag::new(
            "fail-on",
            FlagKind::Text("kind"),
            "Exit with 1 on changes that are major, minor or more, patch or more",
        )
        .offers(Values::OneOf(&["major", "minor", "patch"])),
        DIAGNOSTICS,
        COLOR,
    ],
};

const SHELL_DETAILS: &str = "Writes the script to standard output.";

const SHELL: Group = Group {
    title: "Flags",
    flags: &[Flag::new("no-descriptions", FlagKind::Bool, "Offer words without saying what they mean")],
};

const fn shell(name: &'static str, summary: &'static str) -> Command {
    let operands = Operands::None;
    Command { name, aliases: &[], summary, details: SHELL_DETAILS, operands, flags: &[SHELL], commands: &[] }
}

/// For the scripts: what could follow the words behind it.
const fn question(name: &'static str) -> Command {
    let operands = Operands::Raw("WORD …");
    Command { name, aliases: &[], summary: "", details: "", operands, flags: &[], commands: &[] }
}

const SHELLS: &[Command] = &[
    shell("bash", "Completions for bash"),
    shell("fish", "Completions for fish"),
    shell("powershell", "Completions for PowerShell"),
    shell("zsh", "Completions for zsh"),
];

const SCHEMA: &[Command] = &[
    Command {
        name: "diff",
        aliases: &[],
        summary: "Compare two versions of a schema",
        details: "Lists what changed and whether it is a major, a minor or a patch release for users of the schema.",
        operands: Operands::Some("OLD NEW"),
        flags: &[DIFF, LIMITS],
        commands: &[],
    },
    Command {
        name: "import",
        aliases: &[],
        summary: "Write a schema from JSON Schema, OpenAPI, a CRD or values",
        details: "Recognises what FILE is by its content. What has no counterpart is reported as a warning.",
        operands: Operands::Some("FILE"),
        flags: &[IMPORT, LIMITS],
        commands: &[],
    },
    Command {
        name: "project",
        aliases: &[],
        summary: "Show the JSON Schema of ytterby.yml",
        details: "",
        operands: Operands::None,
        flags: &[],
        commands: &[],
    },
];

/// The program itself. Without a subcommand it renders templates.
pub static ROOT: Command = Command {
    name: "",
    aliases: &[],
    summary: "Template, patch and validate YAML",
    details: "Reads the files given by -f, evaluates the code in their comments, applies overlays and writes the result.",
    operands: Operands::None,
    flags: &[FILES, VALUES, CHECKS, KUBERNETES, LANGUAGE, LIMITS, OUTPUT, VERSION],
    commands: &[
        question("__complete"),
        question("__completeNoDesc"),
        Command {
            name: "build",
            aliases: &[],
            summary: "Render the targets of a project",
            details: "Reads ytterby.yml, here or above. Without names, all targets are built.",
            operands: Operands::Some("[TARGET] …"),
            flags: &[BUILD, KUBERNETES, LIMITS],
            commands: &[],
        },
        Command {
            name: "check",
            aliases: &[],
            summary: "Find problems without writing output",
            details: "Reports what runs of all targets report, and what can be told from the files: values that nothing \
                      declares or uses, overlays that match nothing, rules that decide nothing. Exits with 1 on errors.",
            operands: Operands::Some("[TARGET] …"),
            flags: &[CHECK, CHECK_INPUT, KUBERNETES],
            commands: &[],
        },
        Command {
            name: "completion",
            aliases: &[],
            summary: "Write completions for a shell",
            details: "Each subcommand writes the script for one shell.",
            operands: Operands::None,
            flags: &[],
            commands: SHELLS,
        },
        Command {
            name: "explain",
            aliases: &[],
            summary: "Show where a data value or a node of the output comes from",
            details: "A data value is written db.port; a node of the output Deployment/web:spec.replicas, \
                      Deployment/shop/web:spec.replicas, or #2:spec for the second document; * stands for any name. Shows \
                      what gave, changed and removed it, and the data values that decide it.",
            operands: Operands::Some("[VALUE|DOCUMENT:PATH] …"),
            flags: &[INPUTS, EXPLAIN, DIALECT, LIMITS],
            commands: &[],
        },
        Command {
            name: "fmt",
            aliases: &[],
            summary: "Format YAML and templates",
            details: "Writes all YAML files that are named to standard output, comments kept; or writes them back (--write).",
            operands: Operands::Some("[FILE|DIRECTORY] …"),
            flags: &[FMT, LIMITS],
            commands: &[],
        },
        Command {
            name: "gen",
            aliases: &[],
            summary: "Make data values that the schema allows, and find those that fail",
            details: "Writes values files made from the schema and its rules: defaults, bounds, each member of enums and \
                      unions, optional keys given and not, pairs of choices. With --check it renders each of them and \
                      reports legal values that fail.",
            operands: Operands::None,
            flags: &[INPUTS, GEN, KUBERNETES, DIALECT, LIMITS],
            commands: &[],
        },
        Command {
            name: "help",
            aliases: &[],
            summary: "Show the help of a command",
            details: "",
            operands: Operands::Some("[COMMAND]"),
            flags: &[],
            commands: &[],
        },
        Command {
            name: "init",
            aliases: &[],
            summary: "Start a new project",
            details: "Writes a schema, a template, values for two targets, a test and ytterby.yml. Overwrites nothing.",
            operands: Operands::Some("[DIRECTORY]"),
            flags: &[INIT],
            commands: &[],
        },
        Command {
            name: "kubernetes",
            aliases: &[],
            summary: "Check manifests as the Kubernetes API server does",
            details: "",
            operands: Operands::None,
            flags: &[],
            commands: KUBERNETES_COMMANDS,
        },
        KUBEVIRT,
        Command {
            name: "lsp",
            aliases: &[],
            summary: "Serve editors: the language server",
            details: "Speaks the Language Server Protocol on standard input and output. Editors start it; docs/editors.md has their settings.",
            operands: Operands::None,
            flags: &[LSP],
            commands: &[],
        },
        Command {
            name: "schema",
            aliases: &[],
            summary: "Import, compare and show schemas",
            details: "",
            operands: Operands::None,
            flags: &[],
            commands: SCHEMA,
        },
        Command {
            name: "template",
            aliases: &["t", "tpl"],
            summary: "Render templates (deprecated: leave the word out)",
            details: "Does the same as the program without a subcommand.",
            operands: Operands::None,
            flags: &[FILES, VALUES, CHECKS, KUBERNETES, LANGUAGE, LIMITS, OUTPUT],
            commands: &[],
        },
        Command {
            name: "test",
            aliases: &[],
            summary: "Run the tests of a project",
            details: "Runs the tests of files named *_test.yml, below the paths or those that tests: of ytterby.yml names. Exits \
                      with 1 where a test fails, and with 2 where a test file is wrong.",
            operands: Operands::Some("[PATH] …"),
            flags: &[TEST, KUBERNETES, LIMITS],
            commands: &[],
        },
        Command {
            name: "version",
            aliases: &[],
            summary: "Show the version",
            details: "",
            operands: Operands::None,
            flags: &[],
            commands: &[],
        },
        Command {
            name: "watch",
            aliases: &[],
            summary: "Build again whenever an input changes",
            details: "Says what changed in the output, and goes on after errors.",
            operands: Operands::Some("[TARGET] …"),
            flags: &[WATCH, KUBERNETES, LIMITS],
            commands: &[],
        },
    ],
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    fn check(command: &Command) {
        let mut seen = HashSet::new();
        for flag in command.all_flags() {
            assert!(seen.insert(flag.name.to_owned()), "--{} twice", flag.name);
            assert!(flag.short.is_none_or(|short| seen.insert(short.to_string())), "-{:?} twice", flag.short);
            assert!(!flag.help.is_empty() && !flag.help.ends_with('.'), "--{}", flag.name);
        }
        assert!(command.commands.is_sorted_by_key(|command| command.name), "{}", command.name);
        command.commands.iter().for_each(check);
    }

    /// The commands that people use, as they are called, and their flags.
    fn all(path: &str, command: &Command, commands: &mut Vec<String>, flags: &mut Vec<String>) {
        if !path.is_empty() {
            commands.push(format!("ytterby {path}"));
        }
        flags.extend(command.all_flags().map(|flag| format!("--{}", flag.name)));
        for command in command.commands.iter().filter(|command| !command.is_hidden()) {
            all(format!("{path} {}", command.name).trim(), command, commands, flags);
        }
    }

    #[test]
    fn the_documentation_names_all_commands_and_flags() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let entries = docs.read_dir().expect("the documentation is there");
        let paths = entries.map(|entry| entry.expect("its pages can be listed").path());
        let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
        let pages: String = pages.map(|path| std::fs::read_to_string(path).expect("a page can be read")).collect();
        let goes_on = |c: char| c.is_alphanumeric() || c == '-';
        let is_named =
            |name: &String| pages.match_indices(&**name).any(|(at, _)| !pages[at + name.len()..].starts_with(goes_on));
        let (mut commands, mut flags) = (Vec::new(), Vec::new());
        all("", &ROOT, &mut commands, &mut flags);
        let missing: Vec<&String> = commands.iter().chain(&flags).filter(|name| !is_named(name)).collect();
        assert!(missing.is_empty(), "no page in docs/ names these: {missing:?}");
    }

    #[test]
    fn the_table_is_sound() {
        check(&ROOT);
    }
}
