//! Descriptions are untrusted: tests that they cannot harm the page.

use super::markdown::html;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(html(text).trim(), expected);
}

#[test]
fn markdown_is_rendered() {
    check("uses `code` and *more*", "<p>uses <code>code</code> and <em>more</em></p>");
    check("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>");
    check("~~a~~", "<p><del>a</del></p>");
    check("[x](docs/a.md \"t\")", "<p><a href=\"docs/a.md\" title=\"t\" rel=\"noopener noreferrer\">x</a></p>");
}

#[test]
fn other_angle_brackets_are_text() {
    check("a < b & c > d", "<p>a &lt; b &amp; c &gt; d</p>");
    check("see <docs/x.md>", "<p>see &lt;docs/x.md&gt;</p>");
    check("&lt;script&gt; &copy;", "<p>&lt;script&gt; ©</p>");
}

#[test]
fn scripts_and_styles_are_removed_with_their_content() {
    check("a <script>alert(1)</script> b", "<p>a  b</p>");
    check("a <SCRIPT src=x>alert(1)</sCript > b", "<p>a  b</p>");
    check("a <style>p{}</style> b", "<p>a  b</p>");
    check("a <script>alert(1)", "<p>a </p>");
    check("<script>\n\nalert(1)\n\n</script>\n\nafter", "<p>after</p>");
}

#[test]
fn handlers_and_other_attributes_are_removed() {
    check("<p onclick=\"alert(1)\" style='x' id=a>a</p>", "<p>a</p>");
    check("<b title=x onmouseover=alert(1)>a</b>", "<p><b>a</b></p>");
    check("a<br onload=alert(1)/>b", "<p>a<br>b</p>");
}

#[test]
fn only_harmless_links_are_kept() {
    for link in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "java&#10;script:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;avascript:alert(1)",
        " javascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
    ] {
        let result = html(&format!("<a href=\"{link}\">x</a>"));
        assert!(!result.contains("href"), "{link:?}: {result}");
        // Markdown escapes blanks and control characters: then the link is relative, since no
        // scheme contains `%`.
        let result = html(&format!("[x](<{link}>)"));
        let scheme = result.split_once("href=\"").and_then(|(_, link)| link.split_once(':'));
        assert!(scheme.is_none_or(|(scheme, _)| scheme.contains('%')), "{link:?}: {result}");
    }
    for link in ["https://example.com/a?b=c&d", "HTTP://x", "mailto:a@b.c", "docs/a.md", "#a", "?q", "/a:b", "./x:y"] {
        assert!(html(&format!("<a href='{link}'>x</a>")).contains("href"), "{link}");
    }
    // Named references are decoded before the scheme is read.
    check("<a href=\"javascript&colon;alert(1)\">x</a>", "<p><a rel=\"noopener noreferrer\">x</a></p>");
    check(
        "<a title='\"><img src=x onerror=alert(1)>' href=a>x</a>",
        "<p><a title=\"&quot;&gt;&lt;img src=x onerror=alert(1)&gt;\" href=\"a\" rel=\"noopener noreferrer\">x</a></p>",
    );
}

#[test]
fn other_elements_are_replaced_by_their_content() {
    check("a <blink>b</blink> <img src=x onerror=alert(1)> c", "<p>a b  c</p>");
    check("<svg onload=alert(1)><circle/></svg>", "<p></p>");
    check("<iframe srcdoc='<script>alert(1)</script>'>a</iframe>", "a");
    check("a <!-- <script>alert(1)</script> --> b", "<p>a  b</p>");
    check("![alt](x.png)", "<p></p>");
}

#[test]
fn descriptions_cannot_break_the_page() {
    check("</td></tr></table><h1>x", "<h1>x</h1>");
    check("<td>a<tr>b", "a<tr>b".replace("<tr>", "").as_str());
    check("<p><i>a", "<p><i>a</i></p>");
    check("<b><i>a</b>c</i>", "<p><b><i>a</i></b><i>c</i></p>");
    check("<table><table></table></table><td>a", "<table></table><table></table>a");
    check(
        "<table><tr><td><table></table>a</td></tr></table>",
        "<table><tbody><tr><td><table></table>a</td></tr></tbody></table>",
    );
    check("<table><tr><td>a</table>", "<table><tbody><tr><td>a</td></tr></tbody></table>");
    check("<p title='", "");
}

#[test]
fn descriptions_with_very_many_tags_are_plain_text() {
    check(&"<b>".repeat(2_001), &format!("<p>{}</p>", "&lt;b&gt;".repeat(2_001)));
    check(&">".repeat(5_000), &format!("<p>{}</p>", "&gt;".repeat(5_000)));
    assert!(html(&"<b>".repeat(1_000)).starts_with("<p><b><b>"));
}

/// Vectors that people tried on other pages; `tests/browser` tries them in a browser too.
const HOSTILE: &str = include_str!("../../../../../tests/browser/hostile.txt");

#[test]
fn hostile_descriptions_are_harmless() {
    let tag = regex::Regex::new(r#"^</?[a-z0-9]+(?: (?:href|title)="[^"<>]*")*(?: rel="noopener noreferrer")?>"#);
    let tag = tag.expect("it is a regular expression");
    let vectors: Vec<&str> = HOSTILE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    assert!(vectors.len() >= 60, "{}", vectors.len());
    for vector in vectors {
        let text = vector.replace("\\n", "\n");
        for text in
            [text.clone(), format!("a *b* {text} c"), format!("<div>{text}</div>"), format!("- {text}\n\n{text}")]
        {
            let result = html(&text);
            let mut rest = &*result;
            while let Some(at) = rest.find('<') {
                rest = &rest[at..];
                let found = tag.find(rest).unwrap_or_else(|| panic!("{text}\n{result}")).as_str();
                let name = found.trim_matches(['<', '>', '/']).split(' ').next().unwrap_or_default();
                assert!(super::markdown::ELEMENTS.contains(&name), "{text}\n{result}");
                if let Some((_, link)) = found.split_once("href=\"") {
                    let scheme = link.split(['"', '/', '?', '#']).next().unwrap_or_default().split_once(':');
                    let scheme = scheme.map(|(scheme, _)| scheme.to_ascii_lowercase());
                    assert!(
                        scheme.is_none_or(|name| ["http", "https", "mailto"].contains(&&*name)),
                        "{text}\n{result}"
                    );
                }
                rest = &rest[found.len()..];
            }
        }
    }
}

#[test]
fn long_descriptions_take_linear_time() {
    for text in ["<div>&", "<a href='&", "<p <", "<!--", "<script>", "</", "<a "] {
        assert!(html(&text.repeat(50_000)).len() < 4_000_000);
    }
}
