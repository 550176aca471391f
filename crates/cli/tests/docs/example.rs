//! Runs the examples of a page, each section in its own directory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use crate::page::{Command, Page, Section, Step, matches};
use crate::words::words;

/// The result of a page.
#[derive(Default)]
pub struct Outcome {
    /// The output of each command.
    pub outputs: Vec<String>,
    /// The differences from the outputs on the page.
    pub differences: String,
}

/// Runs a page's examples. An error is a mistake in their syntax.
pub fn run(root: &Path, name: &str, page: &Page<'_>) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    let mut directory = Directory::new(root, name, page.sections.iter().any(Section::uses_examples));
    for (number, section) in page.sections.iter().enumerate() {
        if !page.is_continuous && number > 0 {
            directory = Directory::new(root, name, section.uses_examples());
            // Files before the first section exist in all of them.
            directory.write_files(&page.sections[0])?;
        }
        directory.run(section, name, &mut outcome)?;
    }
    Ok(outcome)
}

/// A directory for running examples, deleted afterwards.
pub struct Directory {
    /// The working directory: the directory itself, or the copy of the example that the page
    /// belongs to.
    pub path: PathBuf,
    /// The directory to delete.
    root: PathBuf,
    /// The exit code of the last command, for `echo $?`.
    exit: i32,
}

impl Directory {
    /// A new directory for a page; with a copy of `examples/` if the page uses it, or of the
    /// example that the page is about.
    pub fn new(root: &Path, name: &str, uses_examples: bool) -> Directory {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("docs-{}-{number}-{}", std::process::id(), name.replace('/', "-"));
        let copied = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        let example = name.strip_prefix("examples/").and_then(|page| page.split_once('/')).map(|(example, _)| example);
        let path = match example {
            Some(example) => copied.join("examples").join(example),
            None => copied.clone(),
        };
        fs::create_dir_all(&path).expect("the target directory is ours");
        let needed = match example {
            Some(example) => Some(Path::new("examples").join(example)),
            None => uses_examples.then(|| PathBuf::from("examples")),
        };
        if let Some(needed) = needed {
            copy(&root.join(&needed), &copied.join(&needed)).expect("the target directory is ours");
        }
        Directory { path, root: copied, exit: 0 }
    }

    fn run(&mut self, section: &Section<'_>, name: &str, outcome: &mut Outcome) -> Result<(), String> {
        for step in &section.steps {
            match step {
                Step::File { name, content } => self.write(name, content)?,
                Step::Command(command) => {
                    let place = format!("{name}:{}", command.line);
                    let output = self.execute(command).map_err(|problem| format!("{place}: {problem}"))?;
                    if !matches(&command.output, &output) {
                        let lines = similar::TextDiff::from_lines(command.output.as_str(), &output);
                        let diff = lines.unified_diff().header("the page", "the program").to_string();
                        outcome.differences.push_str(&format!("{place}: $ {}\n{diff}\n", command.text));
                    }
                    outcome.outputs.push(output);
                }
            }
        }
        Ok(())
    }

    fn write_files(&self, section: &Section<'_>) -> Result<(), String> {
        let files = section.steps.iter().filter_map(|step| match step {
            Step::File { name, content } => Some(self.write(name, content)),
            Step::Command(_) => None,
        });
        files.collect()
    }

    pub fn write(&self, name: &str, content: &str) -> Result<(), String> {
        let path = self.inside(name)?;
        fs::create_dir_all(path.parent().expect("it is below the directory")).expect("the directory is ours");
        fs::write(path, content).expect("the directory is ours");
        Ok(())
    }

    /// A path inside the directory.
    fn inside(&self, name: &str) -> Result<PathBuf, String> {
        let is_inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if is_inside { Ok(self.path.join(name)) } else { Err(format!("{name} is outside of the example")) }
    }

    /// Runs a command of the program that must succeed and print nothing to standard error.
    pub fn succeed(&self, args: &[&str]) -> Result<(), String> {
        let mut process = Process::new(env!("CARGO_BIN_EXE_ytterby"));
        process.args(args).current_dir(&self.path).env_clear();
        let output = process.output().expect("the program can be started");
        if output.status.success() && output.stderr.is_empty() {
            return Ok(());
        }
        let printed = [output.stdout, output.stderr].concat();
        Err(format!("$ ytterby {}\n{}", args.join(" "), String::from_utf8_lossy(&printed)))
    }

    /// Runs a command and returns what it prints, standard output and standard error in order.
    fn execute(&mut self, command: &Command<'_>) -> Result<String, String> {
        let mut words = words(command.text)?;
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cat", file] => {
                return fs::read_to_string(self.inside(file)?).map_err(|error| format!("{file}: {error}"));
            }
            ["echo", "$?"] => return Ok(format!("{}\n", self.exit)),
            _ => {}
        }
        let (mut reader, writer) = io::pipe().expect("the system has pipes");
        let mut stdout: Stdio = writer.try_clone().expect("the system has pipes").into();
        let mut stderr: Stdio = writer.into();
        let mut stdin = Stdio::null();
        while words.len() > 2 {
            let file = |open: fn(PathBuf) -> io::Result<File>| -> Result<Stdio, String> {
                let name = &words[words.len() - 1];
                Ok(open(self.inside(name)?).map_err(|error| format!("{name}: {error}"))?.into())
            };
            match words[words.len() - 2].as_str() {
                "<" => stdin = file(File::open)?,
                ">" => stdout = file(File::create)?,
                "2>" => stderr = file(File::create)?,
                _ => break,
            }
            words.truncate(words.len() - 2);
        }
        let start = words.iter().position(|word| !word.contains('=')).unwrap_or(words.len());
        let (variables, words) = words.split_at(start);
        let Some((program @ ("ytterby" | "ytt"), args)) =
            words.split_first().map(|(program, args)| (program.as_str(), args))
        else {
            return Err(format!("`{}` is no command that examples have", command.text));
        };
        let mut process = Process::new(env!("CARGO_BIN_EXE_ytterby"));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut process, program);
        process
            .args(args)
            .current_dir(&self.path)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")])
            .envs(variables.iter().filter_map(|word| word.split_once('=')))
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr);
        let mut child = process.spawn().expect("the program can be started");
        // Closes our ends of the pipe.
        drop(process);
        let mut output = Vec::new();
        let read = reader.read_to_end(&mut output);
        self.exit = child.wait().expect("the program is ours").code().unwrap_or(-1);
        read.map_err(|error| format!("what it prints: {error}"))?;
        Ok(tidy(&String::from_utf8_lossy(&output)))
    }
}

/// Without trailing blanks and trailing blank lines, which are invisible on a page.
fn tidy(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}
