//! An example for each command, its most common flags, and its page in the manual.

use crate::flags::Command;

/// The parts of help that are not in the table of flags.
pub struct Example {
    /// The words of the command, without the program's name.
    command: &'static str,
    /// Example command lines, without the program's name.
    pub lines: &'static [&'static str],
    /// The flags that `--help` shows; empty means all.
    pub common: &'static [&'static str],
    /// The page with more information.
    pub page: Option<&'static str>,
}

/// The example of the last command on a path.
pub fn of(path: &[&Command]) -> &'static Example {
    let name = path.iter().skip(1).map(|command| command.name).collect::<Vec<_>>().join(" ");
    EXAMPLES.iter().find(|example| example.command == name).unwrap_or(&NONE)
}

const fn example(
    command: &'static str,
    lines: &'static [&'static str],
    common: &'static [&'static str],
    page: &'static str,
) -> Example {
    Example { command, lines, common, page: Some(page) }
}

static NONE: Example = Example { command: "", lines: &[], common: &[], page: None };

const RENDER: &[&str] = &[
    "file",
    "data-value",
    "data-value-yaml",
    "data-values-file",
    "data-values-inspect",
    "output",
    "output-files",
    "kubernetes",
    "diagnostics",
    "strict-annotations",
];

const KUBERNETES: &[&str] = &["kubernetes", "kubernetes-schema", "summary", "output", "diagnostics", "skip"];

static EXAMPLES: [Example; 31] = [
    example("", &["-f config --data-values-file prod.yml -v host=shop.test"], RENDER, "language"),
    example("template", &["template -f config"], RENDER, "language"),
    example(
        "build",
        &["build", "build prod --diff"],
        &["check", "diff", "jobs", "kubernetes", "diagnostics"],
        "projects",
    ),
    example(
        "check",
        &["check", "check -f config --ignore lint/unused-value"],
        &["ignore", "deny", "fix", "diff", "file", "data-values-file", "kubernetes", "diagnostics"],
        "check",
    ),
    example("completion", &["completion bash > /etc/bash_completion.d/ytterby"], &[], "command-line"),
    example("completion bash", &["completion bash > /etc/bash_completion.d/ytterby"], &[], "command-line"),
    example("completion fish", &["completion fish > ~/.config/fish/completions/ytterby.fish"], &[], "command-line"),
    example("completion powershell", &["completion powershell > ytterby.ps1"], &[], "command-line"),
    example("completion zsh", &["completion zsh > ~/.zfunc/_ytterby"], &[], "command-line"),
    example(
        "explain",
        &["explain -f config db.port", "explain -f config Deployment/web:spec.replicas"],
        &["file", "data-value", "data-values-file", "impact", "output"],
        "explain",
    ),
    example("fmt", &["fmt --check", "fmt --write config"], &["check", "write", "diff", "file"], "command-line"),
    example(
        "gen",
        &["gen -f config --count 5", "gen -f config --check"],
        &["file", "check", "count", "seed", "output", "kubernetes"],
        "gen",
    ),
    example("help", &["help overlays", "help build", "help json.encode", "help --man build"], &[], "command-line"),
    example("init", &["init shop"], &[], "projects"),
    example("kubernetes", &["kubernetes validate --kubernetes 1.36 manifests"], &[], "kubernetes"),
    example(
        "kubernetes validate",
        &["kubernetes validate --kubernetes 1.36 --summary manifests"],
        KUBERNETES,
        "kubernetes",
    ),
    example("kubevirt", &["kubevirt validate -t templates vm.yaml"], &[], "kubevirt"),
    example("kubevirt explain", &["kubevirt explain template.yaml"], &[], "kubevirt"),
    example("kubevirt export", &["kubevirt export cel template.yaml"], &[], "kubevirt"),
    example("kubevirt export cel", &["kubevirt export cel template.yaml"], &[], "kubevirt"),
    example("kubevirt lint", &["kubevirt lint templates"], &[], "kubevirt"),
    example("kubevirt serve", &["kubevirt serve -t templates --cert-dir certs"], &[], "webhook"),
    example("kubevirt validate", &["kubevirt validate -t templates vm.yaml"], &[], "kubevirt"),
    example("lsp", &["lsp"], &[], "editors"),
    example("schema", &["schema import openapi.json > schema.yml", "schema diff old new"], &[], "exports"),
    example("schema diff", &["schema diff --fail-on major old new"], &["fail-on", "output", "diagnostics"], "exports"),
    example("schema import", &["schema import crd.yaml > schema.yml"], &["from", "name", "diagnostics"], "exports"),
    example("schema project", &["schema project > ytterby.schema.json"], &[], "projects"),
    example(
        "test",
        &["test", "test --filter prod --update"],
        &["filter", "update", "coverage", "format", "jobs", "kubernetes"],
        "testing",
    ),
    example("version", &["version"], &[], "command-line"),
    example("watch", &["watch dev"], &["jobs", "kubernetes", "diagnostics"], "projects"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::ROOT;
    use crate::help::pages;

    fn check(path: &[&Command], seen: &mut Vec<&'static str>) {
        let command = path[path.len() - 1];
        let name = path.iter().skip(1).map(|command| command.name).collect::<Vec<_>>().join(" ");
        let example = of(path);
        assert!(example.page.is_some(), "{name} has no example");
        seen.push(example.command);
        for flag in example.common {
            assert!(command.all_flags().any(|known| known.name == *flag), "{name}: there is no --{flag}");
        }
        if let Some(page) = example.page {
            assert!(pages::find(page).is_some(), "{name}: there is no page {page}");
        }
        for command in command.commands.iter().filter(|command| !command.is_hidden()) {
            check(&[path, &[command]].concat(), seen);
        }
    }

    #[test]
    fn every_command_has_an_example_with_flags_and_a_page_that_exist() {
        let mut seen = Vec::new();
        check(&[&ROOT], &mut seen);
        let unused: Vec<&str> =
            EXAMPLES.iter().map(|example| example.command).filter(|name| !seen.contains(name)).collect();
        assert_eq!(unused, [""; 0], "examples of commands that do not exist");
    }
}
