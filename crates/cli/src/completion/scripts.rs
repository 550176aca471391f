//! The shell scripts: each passes the words up to the cursor to the program and shows the answer.

/// The script for a shell. `question` is the hidden command to call.
pub fn script(shell: &str, program: &str, question: &str) -> String {
    let template = match shell {
        "bash" => BASH,
        "fish" => FISH,
        "zsh" => ZSH,
        _ => POWERSHELL,
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let function: String = program.chars().map(plain).collect();
    template.replace("PROGRAM", program).replace("FUNCTION", &function).replace("QUESTION", question)
}

// Words are taken from the raw line because bash also splits them at `=` and `:`. It replaces only
// the text after those, which is why the program answers `--flag=` with bare values.
const BASH: &str = r#"# Completions of PROGRAM for bash. Load them with: source <(PROGRAM completion bash)
_FUNCTION_complete() {
    local line=${COMP_LINE:0:COMP_POINT} answer directive=0
    local -a words
    # What stands before the command's name (variables) is not the program's business.
    line=${line#"${line%%"$1"*}"}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    COMPREPLY=()
    while IFS= read -r answer; do
        case $answer in
        :[0-9]*) directive=${answer#:} ;;
        ?*) COMPREPLY+=("${answer%%$'\t'*}") ;;
        esac
    done < <("${1/#\~/$HOME}" QUESTION "${words[@]:1}" 2>/dev/null)
    if type compopt >/dev/null 2>&1; then
        ((directive & 2)) && compopt -o nospace
        ((directive & 4)) && compopt +o default
        ((directive & 16)) && compopt +o default -o dirnames
    fi
    return 0
}
complete -o default -F _FUNCTION_complete PROGRAM
"#;

const ZSH: &str = r#"#compdef PROGRAM
# Completions of PROGRAM for zsh. Load them with: source <(PROGRAM completion zsh)
# or write them to a file named _PROGRAM in a directory of $fpath.
_FUNCTION() {
    local answer directive=0
    local -a found
    while IFS= read -r answer; do
        case $answer in
        :[0-9]*) directive=${answer#:} ;;
        *$'\t'*) found+=("${${answer%%$'\t'*}//:/\\:}:${answer#*$'\t'}") ;;
        ?*) found+=("${answer//:/\\:}") ;;
        esac
    done < <("${(Q)words[1]/#\~/$HOME}" QUESTION "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    # Behind `--flag=` the values alone are completed.
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if (($#found && directive & 2)); then
        _describe -V 'PROGRAM' found -S ''
    elif (($#found)); then
        _describe -V 'PROGRAM' found
    elif ((directive & 16)); then
        _files -/
    elif ((!(directive & 4))); then
        _files
    fi
}
if [[ ${funcstack[1]-} == _FUNCTION ]]; then
    _FUNCTION "$@"
else
    compdef _FUNCTION PROGRAM
fi
"#;

const FISH: &str = r#"# Completions of PROGRAM for fish. Load them with: PROGRAM completion fish | source
function __FUNCTION_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answers ($words[1] QUESTION $words[2..-1] $current 2>/dev/null)
    set -l directive (string replace ':' '' -- $answers[-1])
    set -e answers[-1]
    # Behind `--flag=` the values come alone, and fish wants the whole word.
    set -l prefix (string match -r -- '^--[^=]*=' $current)
    set -l path (string replace -r -- '^--[^=]*=' '' $current)
    if test (count $answers) -gt 0
        printf '%s\n' "$prefix"$answers
    else if test "$directive" = 16
        printf '%s\n' "$prefix"(__fish_complete_directories "$path" '')
    else if test "$directive" = 0
        printf '%s\n' "$prefix"(__fish_complete_path "$path")
    end
end
complete -c PROGRAM -f -a '(__FUNCTION_complete)'
"#;

const POWERSHELL: &str = r#"# Completions of PROGRAM for PowerShell. Load them with: PROGRAM completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'PROGRAM' -ScriptBlock {
    param($current, $ast, $position)
    $typed = $ast.CommandElements | Where-Object { $_.Extent.StartOffset -lt $position } | ForEach-Object { $_.ToString() }
    $words = @($typed | Select-Object -Skip 1)
    if ($current -eq '') {
        # Older versions leave out arguments that are empty.
        $words += if ($PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { '""' }
    }
    $program = @($typed)[0]
    $answers = @(& $program QUESTION @words 2>$null)
    $directive = 0
    if ($answers.Count -gt 0) { $directive = [int]$answers[-1].TrimStart(':') }
    # Behind `--flag=` the values come alone, and PowerShell wants the whole word.
    $prefix = if ($current -match '^(--[^=]*=)') { $Matches[1] } else { '' }
    $found = @($answers | Select-Object -SkipLast 1 | ForEach-Object {
        $word, $description = $_ -split "`t", 2
        if (-not $description) { $description = $word }
        [System.Management.Automation.CompletionResult]::new("$prefix$word", $word, 'ParameterValue', $description)
    })
    # Nothing at all means files to PowerShell.
    if ($found.Count -gt 0) { $found } elseif ($directive -band 4) { '' }
}
"#;
