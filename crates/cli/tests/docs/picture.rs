//! Pictures of terminals: runs the command above an image of a page, and draws its output as SVG.
//!
//! `<!-- $ ytterby … -->` and, on the next line, `![…](path.svg)` is such a picture.
//! `YTTERBY_BLESS=docs` draws it again; otherwise the test fails if the file differs from the
//! current output.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use ytterby_text::xml::escaped;

use crate::example::Directory;
use crate::page::{Page, Step};
use crate::words::words;

/// Width of a character and height of a line in a monospaced font of 14 pixels.
const CELL: (f32, f32) = (8.43, 19.0);
const MARGIN: f32 = 16.0;

/// Draws or checks the pictures of a page.
pub fn check(root: &Path, file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).expect("the page can be read");
    let page = Page::parse(&text)?;
    for pair in text.lines().collect::<Vec<_>>().windows(2) {
        let Some(command) = pair[0].strip_prefix("<!-- $ ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let target = pair[1].rsplit_once("](").and_then(|(_, rest)| rest.strip_suffix(')'));
        let target = target.ok_or_else(|| format!("no image follows the command `{command}`"))?;
        let directory = Directory::new(root, "picture", false);
        for step in page.sections.iter().flat_map(|section| &section.steps) {
            if let Step::File { name, content } = step {
                directory.write(name, content)?;
            }
        }
        let words = words(command)?;
        let output = Command::new(env!("CARGO_BIN_EXE_ytterby"))
            .args(&words[1..])
            .args(["--diagnostics=rich", "--color=always"])
            .current_dir(&directory.path)
            .env_clear()
            .output()
            .expect("the program can be started");
        let printed = format!("$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
        let svg = draw(&printed);
        let path = file.parent().expect("a page is in a folder").join(target);
        if std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "docs") {
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the repository is ours");
            fs::write(&path, svg).expect("the repository is ours");
        } else if fs::read_to_string(&path).unwrap_or_default() != svg {
            return Err(format!("{target} is not what `{command}` prints; YTTERBY_BLESS=docs draws it again"));
        }
    }
    Ok(())
}

/// A text with the colours of a terminal as SVG.
fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let columns = lines.iter().map(|line| pieces(line).map(|(_, text)| text.chars().count()).sum::<usize>()).max();
    let width = CELL.0 * columns.unwrap_or(0) as f32 + 2.0 * MARGIN;
    let height = CELL.1 * lines.len() as f32 + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" font-size=\"14\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + CELL.1 * (number as f32 + 0.75);
        let _ = write!(out, "<text xml:space=\"preserve\" y=\"{y:.1}\" fill=\"#cdd6f4\">");
        let mut column = 0;
        for (style, text) in pieces(line) {
            // Each piece has its own position, so that fonts of another width do not move it.
            let x = MARGIN + CELL.0 * column as f32;
            let length = text.chars().count();
            let _ = write!(
                out,
                "<tspan x=\"{x:.1}\" textLength=\"{:.1}\"{style}>{}</tspan>",
                CELL.0 * length as f32,
                escaped(text)
            );
            column += length;
        }
        out.push_str("</text>\n");
    }
    out + "</svg>\n"
}

/// The pieces of a line that have one style, with the attributes of that style.
fn pieces(line: &str) -> impl Iterator<Item = (String, &str)> {
    let mut style = String::new();
    line.split("\x1b[").enumerate().filter_map(move |(number, piece)| {
        let text = match (number, piece.split_once('m')) {
            (1.., Some((codes, text))) => {
                style = codes.split(';').map(attribute).collect();
                text
            }
            _ => piece,
        };
        (!text.is_empty()).then(|| (style.clone(), text))
    })
}

fn attribute(code: &str) -> &'static str {
    match code {
        "1" => " font-weight=\"bold\"",
        "31" => " fill=\"#f38ba8\"",
        "32" => " fill=\"#a6e3a1\"",
        "33" => " fill=\"#f9e2af\"",
        "34" => " fill=\"#89b4fa\"",
        "36" => " fill=\"#94e2d5\"",
        _ => "",
    }
}
