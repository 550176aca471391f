//! Converts Markdown to plain text for a terminal, limited to the syntax that the manual uses.
//!
//! Headings are underlined, code is indented, and tables that are too wide become lists of their
//! rows.

use std::fmt::Write;

use super::wrap;

/// Converts a page; lines have at most `width` characters, except code.
pub fn render(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut paragraph = String::new();
    while let Some(line) = lines.next() {
        if line.starts_with("<!--") {
            continue;
        }
        let goes_on =
            !(line.is_empty() || line.starts_with(['#', '|', '`']) || is_item(line) || line.starts_with("    "));
        if !goes_on {
            flush(&mut out, &mut paragraph, width);
        }
        if let Some(info) = line.trim_start().strip_prefix("```") {
            push_code(&mut out, info, lines.by_ref().take_while(|line| line.trim_start() != "```"));
        } else if line.starts_with('#') {
            push_heading(&mut out, line);
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(line));
            }
            push_table(&mut out, &rows, width);
        } else if line.starts_with("    ") && paragraph.is_empty() && !is_item(line) {
            let _ = writeln!(out, "{line}");
        } else if line.is_empty() {
            if !out.ends_with("\n\n") && !out.is_empty() {
                out.push('\n');
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    flush(&mut out, &mut paragraph, width);
    out.trim_end().to_owned() + "\n"
}

/// Whether a line is a list item.
fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.starts_with("- ") || number.len() < text.len() && number.starts_with(". ")
}

fn flush(out: &mut String, paragraph: &mut String, width: usize) {
    if paragraph.is_empty() {
        return;
    }
    let text = plain(paragraph);
    let indent = text.len() - text.trim_start().len();
    let mark = if is_item(&text) { text.trim_start().find(' ').map_or(0, |at| at + 1) } else { 0 };
    let first = " ".repeat(indent);
    wrap::push(out, &text, &first, &" ".repeat(indent + mark), width);
    paragraph.clear();
}

fn push_heading(out: &mut String, line: &str) {
    let title = plain(line.trim_start_matches('#').trim());
    let line = match line.chars().take_while(|c| *c == '#').count() {
        1 => "=",
        2 => "-",
        _ => "",
    };
    let _ = writeln!(out, "{title}");
    if !line.is_empty() {
        let _ = writeln!(out, "{}", line.repeat(title.chars().count().min(78)));
    }
}

fn push_code<'a>(out: &mut String, info: &str, lines: impl Iterator<Item = &'a str>) {
    // Most pages name the file just before the code.
    let is_named = |name: &str| out.trim_end().lines().next_back().is_some_and(|line| line.contains(name));
    if let Some(name) = info.split(' ').find_map(|word| word.strip_prefix("file=")).filter(|name| !is_named(name)) {
        let _ = writeln!(out, "  {name}:");
    }
    for line in lines {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
}

fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| plain(cell.trim()).replace('\0', "|")).collect()
}

fn push_table(out: &mut String, rows: &[Vec<String>], width: usize) {
    let is_rule = |row: &Vec<String>| row.iter().all(|cell| cell.chars().all(|c| c == '-' || c == ':'));
    let (head, body) = match rows {
        [head, rule, body @ ..] if is_rule(rule) => (head, body),
        _ => return,
    };
    let columns = head.len();
    let length = |column: usize| {
        let cells = rows.iter().filter(|row| !is_rule(row)).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let lengths: Vec<usize> = (0..columns).map(length).collect();
    if lengths.iter().map(|length| length + 2).sum::<usize>() <= width {
        let has_head = head.iter().any(|cell| !cell.is_empty());
        for row in has_head.then_some(head).into_iter().chain(body) {
            let padded = row.iter().zip(&lengths).map(|(cell, length)| format!("  {cell:length$}"));
            let _ = writeln!(out, "{}", padded.collect::<String>().trim_end());
        }
        return;
    }
    for row in body {
        let Some((first, others)) = row.split_first() else { continue };
        wrap::push(out, first, "  ", "    ", width);
        let named = columns > 2;
        for (cell, title) in
            others.iter().zip(head.iter().skip(1)).filter(|(cell, _)| !matches!(cell.as_str(), "" | "–"))
        {
            let text = if named && !title.is_empty() { format!("{title}: {cell}") } else { cell.clone() };
            wrap::push(out, &text, "      ", "      ", width);
        }
    }
}

/// A text without markup: links become their text, followed by the page if it is one of ours.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((to_text, from_page)) = rest.split_once("](") {
        let Some((before, title)) = to_text.rsplit_once('[') else { break };
        let Some((target, after)) = from_page.split_once(')') else { break };
        let before = before.strip_suffix('!').unwrap_or(before);
        out.push_str(before);
        out.push_str(title);
        match target.contains("://") {
            true => {
                let _ = write!(out, " <{target}>");
            }
            false => {
                let page = topic(target).map(|name| (name, format!(" (see {name})")));
                // Several links to one page need one remark.
                let page =
                    page.filter(|(name, see)| !title.to_lowercase().contains(name) && !out.contains(see.as_str()));
                out.extend(page.map(|(_, see)| see));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    let is_bold_only = out.replace("**", "");
    is_bold_only.replace('`', "").replace("<br>", " ")
}

/// The name by which `ytterby help` finds the page that a link leads to.
fn topic(target: &str) -> Option<&str> {
    let path = target.split('#').next()?.strip_suffix(".md")?;
    let mut parts = path.rsplit('/');
    match (parts.next()?, parts.next()) {
        ("README", None | Some(".." | ".")) => Some("manual"),
        ("README", Some(folder)) => Some(folder),
        (name, _) => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &str) {
        assert_eq!(render(markdown, 40), expected);
    }

    #[test]
    fn headings_paragraphs_and_lists_become_text() {
        check(
            "# Title\n\nSome `code` and **bold** words\nin a paragraph that is longer.\n\n- one\n- two that is long enough to be wrapped\n",
            "Title\n=====\n\nSome code and bold words in a paragraph\nthat is longer.\n\n- one\n- two that is long enough to be wrapped\n",
        );
    }

    #[test]
    fn code_keeps_its_lines() {
        check("```yaml file=a.yml\na: 1\n\nb: 2\n```\nAfter.\n", "  a.yml:\n    a: 1\n\n    b: 2\nAfter.\n");
    }

    #[test]
    fn tables_are_aligned_or_listed() {
        check("| a | b |\n|---|---|\n| `x` | one |\n", "  a  b\n  x  one\n");
        check(
            "| a | b | c |\n|---|---|---|\n| `x` | a text that is quite long | and another one |\n",
            "  x\n      b: a text that is quite long\n      c: and another one\n",
        );
    }

    #[test]
    fn links_name_pages() {
        check("See [the rules](validations.md#formats).\n", "See the rules (see validations).\n");
        check("[ytt](https://carvel.dev) is.\n", "ytt <https://carvel.dev> is.\n");
        check("[How to](guides/README.md), [all](../README.md)\n", "How to (see guides), all (see manual)\n");
        check("[a](x.md#1), [b](x.md#2)\n", "a (see x), b\n");
    }
}
