//! Descriptions: Markdown to HTML, of which only what is on a list of harmless elements survives.
//!
//! The sanitiser reads tags itself and writes every tag and attribute anew, so that what it lets through cannot mean
//! something else to a browser. What it writes is balanced: a description cannot close an element of the page around it.

use pulldown_cmark::{Options, Parser};

use super::escaped;

/// The elements that may stand in a description.
pub(super) const ELEMENTS: [&str; 34] = [
    "p",
    "br",
    "hr",
    "b",
    "i",
    "em",
    "strong",
    "code",
    "pre",
    "kbd",
    "sub",
    "sup",
    "del",
    "span",
    "a",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
];

/// Elements without content.
const EMPTY: [&str; 2] = ["br", "hr"];

/// Elements that mean something only inside a table. Outside of one they would become part of the page's.
const PARTS_OF_TABLES: [&str; 5] = ["thead", "tbody", "tr", "th", "td"];

/// Elements that go with their content.
const DROPPED: [&str; 2] = ["script", "style"];

/// Deeper nesting is not written; nobody can read it, and some browsers stumble over it.
const MAX_DEPTH: usize = 100;

/// A description as HTML.
pub(super) fn html(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut rendered = String::with_capacity(text.len() + 16);
    pulldown_cmark::html::push_html(&mut rendered, Parser::new_ext(text, options));
    sanitised(&rendered)
}

/// HTML with nothing but harmless elements.
fn sanitised(html: &str) -> String {
    let mut writer = Writer { out: String::with_capacity(html.len()), open: Vec::new() };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        writer.text(&rest[..at]);
        rest = &rest[at..];
        match tag(rest) {
            Some((Tag::Start(name), _)) if DROPPED.contains(&&*name) => rest = after_element(rest, &name),
            Some((tag, length)) => {
                writer.tag(&tag, &rest[..length]);
                rest = &rest[length..];
            }
            None => {
                writer.text("<");
                rest = &rest[1..];
            }
        }
    }
    writer.text(rest);
    writer.finish()
}

enum Tag {
    /// `<p …>`, with the name in lower case.
    Start(String),
    End(String),
    /// Comments, declarations, processing instructions.
    Other,
}

/// The tag at the start of `html` and its length; none where `<` begins no tag. One that does not end swallows the rest, as
/// it does in browsers.
fn tag(html: &str) -> Option<(Tag, usize)> {
    let until = |mark: &str, from: usize| html[from..].find(mark).map_or(html.len(), |at| from + at + mark.len());
    if html.starts_with("<!--") {
        return Some((Tag::Other, until("-->", 4)));
    }
    if html.starts_with("<!") || html.starts_with("<?") {
        return Some((Tag::Other, until(">", 2)));
    }
    let (is_end, name_at) = if html.starts_with("</") { (true, 2) } else { (false, 1) };
    if !html[name_at..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let name_end = html[name_at..].find(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>');
    let name_end = name_end.map_or(html.len(), |at| name_at + at);
    let name = html[name_at..name_end].to_ascii_lowercase();
    // A `>` in a quoted attribute does not end the tag.
    let mut quote = None;
    let mut before = ' ';
    let mut length = html.len();
    for (at, c) in html[name_end..].char_indices() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if before == '=' => quote = Some(c),
            (None, '>') => {
                length = name_end + at + 1;
                break;
            }
            (None, _) => {}
        }
        if !c.is_ascii_whitespace() {
            before = c;
        }
    }
    Some((if is_end { Tag::End(name) } else { Tag::Start(name) }, length))
}

/// What follows an element whose content is not wanted.
fn after_element<'a>(html: &'a str, name: &str) -> &'a str {
    let mut from = 1;
    while let Some(at) = html[from..].find("</") {
        let end = &html[from + at..];
        if end.get(2..2 + name.len()).is_some_and(|other| other.eq_ignore_ascii_case(name)) {
            return end.find('>').map_or("", |close| &end[close + 1..]);
        }
        from += at + 2;
    }
    ""
}

struct Writer {
    out: String,
    /// The elements that are open.
    open: Vec<&'static str>,
}

impl Writer {
    /// Text in which character references stay what they are.
    fn text(&mut self, text: &str) {
        for (at, c) in text.char_indices() {
            match c {
                '&' if is_reference(&text[at..]) => self.out.push('&'),
                '&' | '<' | '>' | '"' | '\0' => self.out.push_str(&escaped(c.encode_utf8(&mut [0; 4]))),
                c => self.out.push(c),
            }
        }
    }

    fn tag(&mut self, tag: &Tag, source: &str) {
        match tag {
            Tag::Start(name) => self.start(name, source),
            Tag::End(name) => self.end(name),
            Tag::Other => {}
        }
    }

    fn start(&mut self, name: &str, source: &str) {
        let Some(name) = ELEMENTS.iter().copied().find(|known| *known == name) else { return };
        // A table right inside another would end it for browsers, and a part of a table outside of one would become
        // part of the page's: then the next end tag would be about the page.
        let around = self.open.iter().rev().find(|open| **open == "table" || PARTS_OF_TABLES.contains(open));
        let fits = match name {
            "table" => matches!(around, None | Some(&("td" | "th"))),
            part => around.is_some() || !PARTS_OF_TABLES.contains(&part),
        };
        if self.open.len() >= MAX_DEPTH || !fits {
            return;
        }
        // Browsers do not nest these but close the first one; so do we, to know what is open.
        if matches!(name, "p" | "a" | "li") && self.open.last() == Some(&name) {
            self.end(name);
        }
        self.out.push('<');
        self.out.push_str(name);
        if name == "a" {
            for (attribute, value) in attributes(source) {
                let is_harmless = attribute == "title" || (attribute == "href" && is_harmless_link(&value));
                if is_harmless {
                    self.out.push_str(&format!(" {attribute}=\"{}\"", escaped(&value)));
                }
            }
            self.out.push_str(" rel=\"noopener noreferrer\"");
        }
        self.out.push('>');
        if !EMPTY.contains(&name) {
            self.open.push(name);
        }
    }

    /// Closes an element and all inside it; nothing where it is not open.
    fn end(&mut self, name: &str) {
        let Some(at) = self.open.iter().rposition(|open| *open == name) else { return };
        for name in self.open.drain(at..).rev() {
            self.out.push_str(&format!("</{name}>"));
        }
    }

    fn finish(mut self) -> String {
        for name in self.open.iter().rev() {
            self.out.push_str(&format!("</{name}>"));
        }
        self.out
    }
}

/// Whether `text` starts with a character reference: `&lt;`, `&#60;`.
fn is_reference(text: &str) -> bool {
    let Some(name) = reference(text) else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
}

/// What stands between the `&` that `text` starts with and the next `;`, as long as it can be a reference.
fn reference(text: &str) -> Option<&str> {
    let end = text.bytes().take(40).position(|byte| byte == b';')?;
    text.get(1..end)
}

/// The attributes of a tag: names in lower case, values decoded.
fn attributes(tag: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let inner = tag.trim_start_matches('<').trim_end_matches('>');
    let mut rest = inner.trim_start_matches(|c: char| !c.is_ascii_whitespace() && c != '/');
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/' | '>')).unwrap_or(rest.len());
        // A name may begin with any character, even `=`.
        let end = end.max(rest.chars().next().map_or(0, char::len_utf8));
        let name = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = match quote {
                Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                None => after.split_at(after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len())),
            };
        }
        // Browsers take the first of equal names.
        if matches!(&*name, "href" | "title") && !found.iter().any(|(other, _)| *other == name) {
            found.push((name, decoded(value)));
        }
    }
}

/// A value with its character references decoded, as far as they matter. The rest is escaped again and so stays text.
fn decoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let reference = reference(rest);
        let c = reference.and_then(|name| match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = name.strip_prefix('#')?;
                let code = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                    None => number.parse().ok()?,
                };
                char::from_u32(code)
            }
        });
        match (c, reference) {
            (Some(c), Some(name)) => {
                out.push(c);
                rest = &rest[name.len() + 2..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a link leads to a page or an address, and nowhere that runs something.
fn is_harmless_link(link: &str) -> bool {
    // Browsers skip these before they look for the scheme.
    let link: String = link.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    match link.find([':', '/', '?', '#']) {
        Some(at) if link[at..].starts_with(':') => {
            ["http", "https", "mailto"].iter().any(|scheme| link[..at].eq_ignore_ascii_case(scheme))
        }
        _ => true,
    }
}
