//! Descriptions: Markdown to HTML that is safe to show.
//!
//! `pulldown-cmark` renders the Markdown. `ammonia` then parses the result as a browser would and
//! keeps only the elements, attributes and link schemes listed here. Its output is balanced, so a
//! description cannot close an element of the page around it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;
use pulldown_cmark::{Options, Parser};

use ytterby_text::xml::escaped;

/// The elements that a description may contain.
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

/// Descriptions with more tags are shown as plain text. Parsing nested HTML takes time quadratic in
/// its depth, and browsers do not show deep nesting anyway.
const MAX_TAGS: usize = 2_000;

static SANITISER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(HashSet::from(ELEMENTS))
        .clean_content_tags(HashSet::from(["script", "style"]))
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([("a", HashSet::from(["href", "title"]))]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .link_rel(Some("noopener noreferrer"));
    builder
});

/// A description as HTML.
pub(super) fn html(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut rendered = String::with_capacity(text.len() + 16);
    pulldown_cmark::html::push_html(&mut rendered, Parser::new_ext(text, options));
    if memchr::memchr_iter(b'<', rendered.as_bytes()).nth(MAX_TAGS).is_some() {
        return format!("<p>{}</p>", escaped(text));
    }
    SANITISER.clean(&rendered).to_string()
}
