//! Completion scripts, made from the table of commands.

use std::fmt::Write;

use crate::flags::{Command, Flag};

/// The script for a shell.
pub fn script(shell: &str, program: &str, root: &Command) -> String {
    let commands = flatten(root);
    match shell {
        "bash" => bash(program, &commands),
        "fish" => fish(program, &commands),
        "zsh" => zsh(program, &commands),
        _ => powershell(program, &commands),
    }
}

/// A command and the words that lead to it: `completion bash`, empty for the root.
struct Entry<'a> {
    words: String,
    command: &'a Command,
}

fn flatten(root: &Command) -> Vec<Entry<'_>> {
    let mut entries = vec![Entry { words: String::new(), command: root }];
    let mut at = 0;
    while at < entries.len() {
        let children: Vec<_> = entries[at]
            .command
            .commands
            .iter()
            .map(|command| Entry {
                words: format!("{} {}", entries[at].words, command.name).trim().to_owned(),
                command,
            })
            .collect();
        entries.extend(children);
        at += 1;
    }
    entries
}

/// All flags as they are typed.
fn dashed(flag: &Flag) -> impl Iterator<Item = String> {
    let long = format!("--{}", flag.name);
    flag.short.map(|short| format!("-{short}")).into_iter().chain(std::iter::once(long))
}

/// A case per command: its words, and everything that can be typed behind them.
fn word_cases(commands: &[Entry<'_>], indent: &str) -> String {
    let mut out = String::new();
    for entry in commands {
        let subcommands = entry.command.commands.iter().map(|command| command.name.to_owned());
        let words: Vec<_> = subcommands.chain(entry.command.all_flags().flat_map(dashed)).collect();
        let _ = writeln!(out, "{indent}'{}') candidates='{}' ;;", entry.words, words.join(" "));
    }
    out
}

/// A function name made of the program's name.
fn identifier(program: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("_{}_complete", program.chars().map(plain).collect::<String>())
}

/// The names of subcommands at any depth, as a pattern of alternatives.
fn subcommand_pattern(commands: &[Entry<'_>]) -> String {
    let mut names: Vec<_> = commands.iter().skip(1).map(|entry| entry.command.name).collect();
    names.sort_unstable();
    names.dedup();
    names.join("|")
}

fn bash(program: &str, commands: &[Entry<'_>]) -> String {
    format!(
        r#"# Completions of {program} for bash. Load them with: source <({program} completion bash)
{function}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command='' word candidates=''
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $word in
        {names}) command="${{command:+$command }}$word" ;;
        esac
    done
    case $command in
{cases}    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$current"))
    if [[ ${{#COMPREPLY[@]}} -eq 0 ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F {function} {program}
"#,
        function = identifier(program),
        names = subcommand_pattern(commands),
        cases = word_cases(commands, "    "),
    )
}

fn zsh(program: &str, commands: &[Entry<'_>]) -> String {
    format!(
        r#"#compdef {program}
# Completions of {program} for zsh. Load them with: source <({program} completion zsh)
{function}() {{
    local command='' word candidates=''
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case $word in
        {names}) command="${{command:+$command }}$word" ;;
        esac
    done
    case $command in
{cases}    esac
    compadd -- ${{=candidates}}
    _files
}}
compdef {function} {program}
"#,
        function = identifier(program),
        names = subcommand_pattern(commands),
        cases = word_cases(commands, "    "),
    )
}

fn fish(program: &str, commands: &[Entry<'_>]) -> String {
    let mut out = format!("# Completions of {program} for fish. Load them with: {program} completion fish | source\n");
    for entry in commands {
        let condition = match entry.words.rsplit(' ').next() {
            Some("") | None => "__fish_use_subcommand".to_owned(),
            Some(name) => format!("__fish_seen_subcommand_from {name}"),
        };
        let start = format!("complete -c {program} -n '{condition}'");
        for command in entry.command.commands {
            let _ = writeln!(out, "{start} -f -a {} -d {}", command.name, single_quoted(command.summary, "\\'"));
        }
        for flag in entry.command.all_flags() {
            let short = flag.short.map(|short| format!(" -s {short}")).unwrap_or_default();
            let value = if flag.kind.value_name().is_some() { " -r" } else { "" };
            let help = single_quoted(flag.help, "\\'");
            let _ = writeln!(out, "{start}{short} -l {}{value} -d {help}", flag.name);
        }
    }
    out
}

fn powershell(program: &str, commands: &[Entry<'_>]) -> String {
    let mut cases = String::new();
    for entry in commands {
        let _ = writeln!(cases, "        '{}' {{", entry.words);
        for command in entry.command.commands {
            let _ = writeln!(cases, "            @('{}', {})", command.name, single_quoted(command.summary, "''"));
        }
        for flag in entry.command.all_flags() {
            for word in dashed(flag) {
                let _ = writeln!(cases, "            @('{word}', {})", single_quoted(flag.help, "''"));
            }
        }
        cases.push_str("        }\n");
    }
    let names: Vec<_> = subcommand_pattern(commands).split('|').map(|name| format!("'{name}'")).collect();
    format!(
        r#"# Completions of {program} for PowerShell. Load them with: {program} completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName '{program}' -ScriptBlock {{
    param($current, $ast, $position)
    $names = @({names})
    $words = $ast.CommandElements | Select-Object -Skip 1 | ForEach-Object {{ $_.ToString() }}
    $command = ($words | Where-Object {{ $names -contains $_ -and $_ -ne $current }}) -join ' '
    $found = switch ($command) {{
{cases}    }}
    for ($at = 0; $at -lt $found.Count; $at += 2) {{
        if ($found[$at] -like "$current*") {{
            [System.Management.Automation.CompletionResult]::new($found[$at], $found[$at], 'ParameterValue', $found[$at + 1])
        }}
    }}
}}
"#,
        names = names.join(", "),
    )
}

/// `text` in single quotes, with those inside written as the shell wants them.
fn single_quoted(text: &str, inner: &str) -> String {
    format!("'{}'", text.replace('\'', inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::ROOT;

    #[test]
    fn every_flag_is_in_every_script() {
        for shell in ["bash", "fish", "zsh", "powershell"] {
            let script = script(shell, "ytterby", &ROOT);
            for flag in ROOT.all_flags() {
                let typed = if shell == "fish" { format!("-l {}", flag.name) } else { format!("--{}", flag.name) };
                assert!(script.contains(&typed), "{shell} {typed}");
            }
            assert!(script.contains("powershell"), "{shell}");
        }
    }
}
