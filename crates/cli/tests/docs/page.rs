//! Parses the examples of a page: sections with files and commands.

/// A page.
pub struct Page<'a> {
    text: &'a str,
    /// The part before the first `##`, then one section per `##`.
    pub sections: Vec<Section<'a>>,
    /// Whether the sections build on each other.
    pub is_continuous: bool,
}

/// A `##` with everything below it.
#[derive(Default)]
pub struct Section<'a> {
    /// The steps of its examples, in order.
    pub steps: Vec<Step<'a>>,
}

impl Section<'_> {
    /// Whether a command names something in `examples/`.
    pub fn uses_examples(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Command(command) if command.text.contains("examples/")))
    }
}

/// A step of an example.
pub enum Step<'a> {
    /// A fenced block whose info string names a file.
    File { name: &'a str, content: String },
    /// A line that begins with `$ `, and its output.
    Command(Command<'a>),
}

/// A line that begins with `$ ` in a `console` block.
pub struct Command<'a> {
    /// The line of the page, from 1.
    pub line: usize,
    /// The command line after `$ `.
    pub text: &'a str,
    /// Its output.
    pub output: String,
}

/// Marks a page whose sections share one directory.
const CONTINUOUS: &str = "<!-- examples: each section goes on where the last one ended -->";

/// Blocks that are not run: messages and layouts, code that `cargo test --doc` runs, code for other
/// programs, and examples of the reference, which the tests of `ytterby-ide` run.
const NOT_RUN: [&str; 6] = ["text", "rust", "sh", "toml", "yaml title=workflow", "yaml title=example"];

impl<'a> Page<'a> {
    /// Reads a page. The error begins with a line number.
    pub fn parse(text: &'a str) -> Result<Page<'a>, String> {
        let mut page = Page { text, sections: vec![Section::default()], is_continuous: false };
        let mut lines = text.lines().enumerate();
        // The paragraph above a block, where readers look for the name of the file.
        let mut above = String::new();
        while let Some((number, line)) = lines.next() {
            if line == CONTINUOUS {
                page.is_continuous = true;
            } else if line.starts_with("## ") {
                page.sections.push(Section::default());
            } else if let Some(info) = line.strip_prefix("```") {
                let mut block = Vec::new();
                loop {
                    match lines.next() {
                        Some((_, "```")) => break,
                        Some(line) => block.push(line),
                        None => return Err(format!("{}: a block is never closed", number + 1)),
                    }
                }
                let steps = &mut page.sections.last_mut().expect("there is always one").steps;
                read_block(info, &block, steps).map_err(|problem| format!("{}: {problem}", number + 1))?;
                if let Some((_, name)) = info.split_once(" file=").filter(|(_, name)| !above.contains(name)) {
                    return Err(format!("{}: the line above the block does not name {name}", number + 1));
                }
                above.clear();
                continue;
            }
            if above.ends_with("\n\n") && !line.is_empty() {
                above.clear();
            }
            above.extend([line, "\n"]);
        }
        Ok(page)
    }

    /// The page with these outputs of its commands.
    pub fn with_outputs(&self, outputs: &[String]) -> String {
        let steps = self.sections.iter().flat_map(|section| &section.steps);
        let commands = steps.filter_map(|step| match step {
            Step::Command(command) => Some(command),
            Step::File { .. } => None,
        });
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let mut out = String::new();
        let mut at = 0;
        for (command, output) in commands.zip(outputs) {
            let end = command.line + command.output.lines().count();
            out.extend(lines[at..command.line].iter().copied());
            if matches(&command.output, output) {
                out.push_str(&command.output);
            } else {
                out.push_str(output);
            }
            at = end;
        }
        out.extend(lines[at..].iter().copied());
        out
    }
}

fn read_block<'a>(info: &'a str, lines: &[(usize, &'a str)], steps: &mut Vec<Step<'a>>) -> Result<(), String> {
    if let Some((_, name)) = info.split_once(" file=") {
        let content = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        steps.push(Step::File { name, content });
        return Ok(());
    }
    if NOT_RUN.contains(&info) {
        return Ok(());
    }
    if info != "console" {
        return Err(format!("a block marked `{info}`; name its file (`{info} file=NAME`), or mark it `text`"));
    }
    let mut command: Option<Command<'a>> = None;
    for &(number, line) in lines {
        match (line.strip_prefix("$ "), &mut command) {
            (Some(text), _) => {
                steps.extend(
                    command.replace(Command { line: number + 1, text, output: String::new() }).map(Step::Command),
                );
            }
            (None, Some(command)) => command.output.extend([line, "\n"]),
            (None, None) => return Err("output without a command".to_owned()),
        }
    }
    match command {
        Some(command) => steps.push(Step::Command(command)),
        None => return Err("a console without a command".to_owned()),
    }
    Ok(())
}

/// Whether an output matches the page; a line `…` matches any number of lines.
pub fn matches(shown: &str, actual: &str) -> bool {
    let mut pieces = shown.split("…\n");
    let Some(mut rest) = pieces.next().and_then(|first| actual.strip_prefix(first)) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        let found = match pieces.peek() {
            Some(_) => rest.find(piece),
            None => rest.ends_with(piece).then(|| rest.len() - piece.len()),
        };
        let Some(at) = found else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}
