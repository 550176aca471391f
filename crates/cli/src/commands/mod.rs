//! The table of commands: operands, flags and help of each. The flags themselves are in `flag`.
//!
//! Parsing, help, pages for `man`, `docs/commands.md` and completions all read this table, so they
//! cannot disagree. Groups of flags come first, because several commands share them; `ROOT` at the
//! end is the place to start reading.

pub mod flag;
mod formats;

use crate::flags::{Command, FlagGroup, Operands};
use crate::kubevirt::KUBEVIRT;

const FILES: FlagGroup = FlagGroup {
    title: "Input",
    flags: &[
        flag::FILE.0,
        flag::FILE_MARK.0,
        flag::FILES_INSPECT.0,
        flag::BULK_IN.0,
        flag::ALLOW_SYMLINK_DESTINATION.0,
        flag::DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS.0,
    ],
};

const VALUES: FlagGroup = FlagGroup {
    title: "Data values",
    flags: &[
        flag::DATA_VALUE.0,
        flag::DATA_VALUE_YAML.0,
        flag::DATA_VALUE_FILE.0,
        flag::DATA_VALUES_FILE.0,
        flag::DATA_VALUES_ENV.0,
        flag::DATA_VALUES_ENV_YAML.0,
        flag::DATA_VALUE_COERCE.0,
        flag::DATA_VALUES_INSPECT.0,
        flag::DATA_VALUES_SCHEMA_INSPECT.0,
        flag::SCHEMA_INSPECT.0,
        flag::LIBRARY.0,
    ],
};

const CHECKS: FlagGroup = FlagGroup {
    title: "Checks",
    flags: &[
        flag::ALL_ERRORS.0,
        flag::STRICT_ANNOTATIONS.0,
        flag::DANGEROUS_DATA_VALUES_DISABLE_VALIDATION.0,
        flag::DATA_VALUE_SCHEMA_DISABLE_VALIDATION.0,
        flag::OUTPUT_DISABLE_VALIDATION.0,
    ],
};

/// Flags that check rendered output.
const KUBERNETES: FlagGroup = FlagGroup {
    title: "Kubernetes",
    flags: &[flag::KUBERNETES_VERSION.0, flag::KUBERNETES_SCHEMA.0, flag::KUBERNETES_UNKNOWN.0, flag::SKIP.0],
};

/// Flags of `lsp`.
const LSP: FlagGroup = FlagGroup { title: "Flags", flags: &[flag::STDIO.0] };

/// Flags of `kubernetes validate`.
const VALIDATE: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[
        flag::KUBERNETES_VERSION.0,
        flag::KUBERNETES_SCHEMA.0,
        flag::KUBERNETES_UNKNOWN.0,
        flag::SKIP.0,
        flag::VALIDATE_OUTPUT.0,
        flag::SUMMARY.0,
        flag::VERBOSE.0,
        flag::DIAGNOSTICS.0,
        flag::COLOR.0,
    ],
};

const KUBERNETES_COMMANDS: &[Command] = &[Command {
    name: "validate",
    aliases: &[],
    summary: "Check manifests as the API server does",
    details: "Reads files, directories (.yaml, .yml, .json) or standard input. Exits with 0 if all are valid, with 1 \
              if one is not, and with 2 if something cannot be read.",
    operands: Operands::Some("[FILE|DIRECTORY|-] …"),
    flags: &[VALIDATE, LIMITS],
    commands: &[],
}];

const LANGUAGE: FlagGroup = FlagGroup {
    title: "Language",
    flags: &[flag::STRICT.0, flag::IGNORE_UNKNOWN_COMMENTS.0, flag::IMPLICIT_MAP_KEY_OVERRIDES.0, flag::COMPAT.0],
};

/// Resource limits, for every command that evaluates, reads or checks untrusted input.
pub const LIMITS: FlagGroup = FlagGroup {
    title: "Limits",
    flags: &[flag::LIMIT_TIME.0, flag::LIMIT_MEMORY.0, flag::LIMIT_STEPS.0, flag::LIMIT_OUTPUT.0, flag::LIMIT_DEPTH.0],
};

const OUTPUT: FlagGroup = FlagGroup {
    title: "Output",
    flags: &[
        flag::OUTPUT.0,
        flag::OUTPUT_FILES.0,
        flag::DANGEROUS_EMPTIED_OUTPUT_DIRECTORY.0,
        flag::SOURCE_MAP.0,
        flag::BULK_OUT.0,
        flag::DIAGNOSTICS.0,
        flag::COLOR.0,
        flag::DEBUG.0,
        flag::PROFILE.0,
        flag::PROFILE_FILE.0,
    ],
};

const VERSION: FlagGroup = FlagGroup { title: "Other", flags: &[flag::VERSION.0] };

const FMT: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[
        flag::FMT_FILE.0,
        flag::STRICT.0,
        flag::FMT_CHECK.0,
        flag::WRITE.0,
        flag::FMT_DIFF.0,
        flag::DIAGNOSTICS.0,
        flag::COLOR.0,
        flag::DEBUG.0,
    ],
};

const BUILD: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[flag::BUILD_CHECK.0, flag::BUILD_DIFF.0, flag::SHARD.0, flag::JOBS.0, flag::DIAGNOSTICS.0, flag::COLOR.0],
};

const WATCH: FlagGroup = FlagGroup { title: "Flags", flags: &[flag::JOBS.0, flag::DIAGNOSTICS.0, flag::COLOR.0] };

const INIT: FlagGroup = FlagGroup { title: "Flags", flags: &[flag::DIAGNOSTICS.0, flag::COLOR.0] };

const TEST: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[
        flag::FILTER.0,
        flag::UPDATE.0,
        flag::FORMAT.0,
        flag::COVERAGE.0,
        flag::SHARD.0,
        flag::JOBS.0,
        flag::COLOR.0,
    ],
};

/// Flags of `check`.
const CHECK: FlagGroup = FlagGroup {
    title: "Findings",
    flags: &[flag::IGNORE.0, flag::DENY.0, flag::FIX.0, flag::CHECK_DIFF.0, flag::DIAGNOSTICS.0, flag::COLOR.0],
};

/// Inputs of `check` outside of a project.
const CHECK_INPUT: FlagGroup = FlagGroup {
    title: "Input",
    flags: &[
        flag::CHECK_FILE.0,
        flag::FILE_MARK.0,
        flag::DATA_VALUE.0,
        flag::DATA_VALUE_YAML.0,
        flag::DATA_VALUE_FILE.0,
        flag::DATA_VALUES_FILE.0,
        flag::DATA_VALUES_ENV.0,
        flag::DATA_VALUES_ENV_YAML.0,
        flag::DATA_VALUE_COERCE.0,
        flag::ALLOW_SYMLINK_DESTINATION.0,
        flag::DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS.0,
        flag::STRICT.0,
        flag::IGNORE_UNKNOWN_COMMENTS.0,
        flag::IMPLICIT_MAP_KEY_OVERRIDES.0,
    ],
};

/// Inputs of `explain`, `gen` and other commands that render.
const INPUTS: FlagGroup = FlagGroup {
    title: "Input",
    flags: &[
        flag::FILE.0,
        flag::FILE_MARK.0,
        flag::ALLOW_SYMLINK_DESTINATION.0,
        flag::DANGEROUS_ALLOW_ALL_SYMLINK_DESTINATIONS.0,
        flag::DATA_VALUE.0,
        flag::DATA_VALUE_YAML.0,
        flag::DATA_VALUE_FILE.0,
        flag::DATA_VALUES_FILE.0,
        flag::DATA_VALUES_ENV.0,
        flag::DATA_VALUES_ENV_YAML.0,
        flag::DATA_VALUE_COERCE.0,
    ],
};

/// Template dialect flags of those commands.
const DIALECT: FlagGroup = FlagGroup {
    title: "Language",
    flags: &[flag::STRICT.0, flag::IGNORE_UNKNOWN_COMMENTS.0, flag::IMPLICIT_MAP_KEY_OVERRIDES.0],
};

const GEN: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[flag::COUNT.0, flag::SEED.0, flag::GEN_CHECK.0, flag::GEN_OUTPUT.0, flag::DIAGNOSTICS.0, flag::COLOR.0],
};

const EXPLAIN: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[flag::IMPACT.0, flag::TARGET.0, flag::EXPLAIN_OUTPUT.0, flag::DIAGNOSTICS.0, flag::COLOR.0],
};

const IMPORT: FlagGroup =
    FlagGroup { title: "Flags", flags: &[flag::FROM.0, flag::IMPORT_NAME.0, flag::DIAGNOSTICS.0, flag::COLOR.0] };

const DIFF: FlagGroup =
    FlagGroup { title: "Flags", flags: &[flag::DIFF_OUTPUT.0, flag::FAIL_ON.0, flag::DIAGNOSTICS.0, flag::COLOR.0] };

/// Flags of `help`.
const HELP_FLAGS: FlagGroup = FlagGroup { title: "Flags", flags: &[flag::MAN.0] };

const SHELL_DETAILS: &str = "Writes the script to standard output.";

const SHELL: FlagGroup = FlagGroup { title: "Flags", flags: &[flag::NO_DESCRIPTIONS.0] };

const fn shell(name: &'static str, summary: &'static str) -> Command {
    let operands = Operands::None;
    Command { name, aliases: &[], summary, details: SHELL_DETAILS, operands, flags: &[SHELL], commands: &[] }
}

/// A hidden command that completion scripts call with the words typed so far.
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
        details: "Lists the changes, and classifies them as major, minor or patch for users of the schema.",
        operands: Operands::Some("OLD NEW"),
        flags: &[DIFF, LIMITS],
        commands: &[],
    },
    Command {
        name: "import",
        aliases: &[],
        summary: "Write a schema from JSON Schema, OpenAPI, a CRD or values",
        details: "Recognises the kind of FILE by its content. Warns about keywords that have no counterpart.",
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
            details: "Reads ytterby.yml in this directory or above it. Without names it builds all targets.",
            operands: Operands::Some("[TARGET] …"),
            flags: &[BUILD, KUBERNETES, LIMITS],
            commands: &[],
        },
        Command {
            name: "check",
            aliases: &[],
            summary: "Find problems without writing output",
            details: "Reports every problem that a run of any target would report, and also values that nothing declares or \
                      uses, overlays that match nothing and rules without effect. Exits with 1 on errors.",
            operands: Operands::Some("[TARGET] …"),
            flags: &[CHECK, CHECK_INPUT, KUBERNETES, LIMITS],
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
            details: "A data value is written db.port, or @app:db.port in a library; a node of the output \
                      Deployment/web:spec.replicas, \
                      Deployment/shop/web:spec.replicas, or #2:spec for the second document; * matches any name. Shows \
                      where it was set, changed and removed, and which data values decide it.",
            operands: Operands::Some("[VALUE|DOCUMENT:PATH] …"),
            flags: &[INPUTS, EXPLAIN, DIALECT, LIMITS],
            commands: &[],
        },
        Command {
            name: "fmt",
            aliases: &[],
            summary: "Format YAML and templates",
            details: "Writes the formatted files to standard output, or formats them in place (--write). Keeps comments. \
                      Without paths, --check, --diff and --write apply to the files of the project.",
            operands: Operands::Some("[FILE|DIRECTORY] …"),
            flags: &[FMT, LIMITS],
            commands: &[],
        },
        Command {
            name: "gen",
            aliases: &[],
            summary: "Generate valid data values, and find those that fail",
            details: "Writes data values that the schema and its rules allow: defaults, bounds, each member of enums and \
                      unions, with and without optional keys, pairs of choices. With --check it renders each of them and \
                      reports valid values that fail. Without -f it uses the files of the project, or of one of its \
                      targets.",
            operands: Operands::Some("[TARGET]"),
            flags: &[INPUTS, GEN, KUBERNETES, DIALECT, LIMITS],
            commands: &[],
        },
        Command {
            name: "help",
            aliases: &[],
            summary: "Show all flags of a command, or a page of the manual",
            details: "Without a word it lists commands and pages. The word may also be the id of an error, an annotation, a \
                      module, a function or a rule.",
            operands: Operands::Some("[COMMAND|PAGE|NAME]"),
            flags: &[HELP_FLAGS],
            commands: &[],
        },
        Command {
            name: "init",
            aliases: &[],
            summary: "Start a new project",
            details: "Writes a schema, a template, values for two targets, a test and ytterby.yml. Never overwrites files.",
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
            summary: "Run the language server for editors",
            details: "Speaks the Language Server Protocol on standard input and output. Editors start it.",
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
            details: "Runs the tests in files named *_test.yml below the given paths, or below those of tests: in ytterby.yml. \
                      Exits with 1 if a test fails, and with 2 if a test file is invalid.",
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
            details: "Shows what changed in the output, and continues after errors.",
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

    /// Collects the full names of all visible commands, and their flags.
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
    fn names_in_the_table_are_unique_and_described() {
        check(&ROOT);
    }
}
