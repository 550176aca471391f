//! The page of `-o html` in a real browser; see `README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

fn browser() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("YTTERBY_BROWSER") {
        return Some(path.into());
    }
    let folders = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}

/// Runs the browser on a page and gives what it prints.
fn visit(browser: &Path, page: &Path, flags: &[&str]) -> String {
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Where pages and pictures go.
fn folder() -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../browser");
    fs::create_dir_all(&out).expect("the target directory can be written");
    out.canonicalize().expect("it was just made")
}

/// The page of a schema.
fn page_of(folder: &Path, schema: &str) -> String {
    let rendered = Command::new(env!("CARGO_BIN_EXE_ytterby"))
        .args(["-f", schema, "--data-values-schema-inspect", "-o", "html"])
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let page = String::from_utf8(rendered.stdout).expect("the page is UTF-8");
    assert!(page.ends_with("</html>\n"), "{}", String::from_utf8_lossy(&rendered.stderr));
    page
}

/// What a script that runs in the page leaves in its title, as JSON.
fn drive(browser: &Path, page: &str, file: &Path, driver: &str) -> Value {
    fs::write(file, page.replacen("</head>", &format!("<script>{driver}</script>\n</head>"), 1))
        .expect("the page can be written");
    let dom = visit(browser, file, &["--virtual-time-budget=5000", "--dump-dom"]);
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(title, _)| title);
    let title = title.unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&title).unwrap_or_else(|_| panic!("the driver did not finish: {title}"))
}

/// The attempts of `hostile.txt`, in every text of a schema that reaches the page.
#[test]
fn nothing_hostile_happens() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no browser found; install chromium or set YTTERBY_BROWSER");
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let out = folder();
    let attempts = fs::read_to_string(here.join("hostile.txt")).expect("the attempts are there");
    let attempts: Vec<String> = attempts
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace("\\n", "\n").replace("\\x0c", "\u{c}"))
        .collect();
    let mut schema = String::new();
    for text in &attempts {
        // JSON's texts are texts of Starlark and keys of YAML too.
        let text = Value::from(text.as_str()).to_string().replace("\\f", "\\x0c");
        schema.push_str(&format!(
            "#@schema/title {text}\n#@schema/desc {text}\n#@schema/deprecated {text}\n#@schema/examples ({text}, {text})\n\
             #@schema/validation ({text}, lambda v: True)\n{text}: {text}\n"
        ));
    }
    let about = "#@schema/title \"</title><script>hack()</script>\"\n#@schema/desc \"<img src=x onerror=hack()>\"\n";
    fs::write(out.join("hostile.yml"), format!("#@data/values-schema\n{about}---\n{schema}"))
        .expect("it can be written");
    let page = page_of(&out, "hostile.yml");
    let driver = "
        let calls = 0;
        window.hack = () => { calls += 1; };
        window.alert = window.hack;
        addEventListener('load', () => setTimeout(() => {
          document.getElementById('unfold').click();
          const cells = ['fieldname', 'title', 'documentation', 'example'];
          const rows = [...document.querySelectorAll('.data-values-fields > tbody.field > tr.datavalue')];
          const whole = rows.filter((row) => [...row.children].every((cell, at) => cell.className === cells[at]));
          document.querySelectorAll('a, input, [title]').forEach((one) => {
            for (const kind of ['mouseover', 'focus', 'click']) {
              one.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true, ctrlKey: true }));
            }
          });
          const handlers = [...document.querySelectorAll('main *')]
            .flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on')));
          setTimeout(() => {
            document.title = JSON.stringify({
              calls, handlers, rows: whole.length, fields: document.querySelectorAll('tbody.field').length,
              foreign: document.querySelectorAll('main script, main img, main svg, main iframe, main style, main form').length,
              links: [...document.querySelectorAll('main a[href]')].filter((one) => !/^(https?|mailto|file):$/.test(one.protocol)).length,
              requests: performance.getEntriesByType('resource').length,
            });
          }, 100);
        }, 0));";
    let results = drive(&browser, &page, &out.join("hostile.html"), driver);
    let expected = json!({
        "calls": 0, "handlers": [], "rows": attempts.len(), "fields": attempts.len(), "foreign": 0, "links": 0,
        "requests": 0,
    });
    assert_eq!(results, expected);
}

#[test]
fn the_page_works() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no browser found; install chromium or set YTTERBY_BROWSER");
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let out = folder();
    let page = page_of(&here, "schema.yml");
    let plain = out.join("page.html");
    fs::write(&plain, &page).expect("the page can be written");
    let driver = fs::read_to_string(here.join("driver.js")).expect("the driver is there");
    let results = drive(&browser, &page, &out.join("driven.html"), &driver);

    let names = |name: &str| -> Vec<&str> {
        results[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    assert!(names("start").contains(&"db") && !names("start").contains(&"db.db_url"), "nested fields are folded");
    assert_eq!(names("search"), ["db", "db.ports", "db.ports[].num"], "a search shows what it found, unfolded");
    assert_eq!(results["count"], "1 field");
    assert_eq!(names("nothing"), [""; 0]);
    assert_eq!(results["hint"], "No field has all these words.", "an empty result is explained");
    assert_eq!(results["focused"], "search", "the slash leads to the search");
    assert!(results["folded"].as_u64() < results["unfolded"].as_u64());
    assert_eq!(results["linked"], true, "the list of what has to be given leads to a folded field, and unfolds it");
    assert_eq!(
        results["values"],
        json!("username: \"\"\ndb:\n  db_url: \"\"\n  ports:\n    - num: 80\npassword: \"\"\nlabels:\n  _: \"\"\n")
    );
    assert_eq!(results["map"], "range:\n  lo: 1\n  hi: 2\n", "a map comes with what is in it");
    assert_eq!(results["shape"], "backup:\n  hosts:\n    - name: \"a\"\n", "fields of shapes can be picked");
    assert_eq!(results["clipboard"], results["values"]);
    assert_eq!(results["copied"], "Copied");
    assert_eq!(results["requests"], 0, "the page asks nothing of the network");

    let sizes = [("desktop", "1200,1600"), ("phone", "500,1800")];
    for (name, size) in sizes {
        for (colours, flag) in [("light", "--disable-features=x"), ("dark", "--blink-settings=preferredColorScheme=0")]
        {
            let shot = out.join(format!("{name}-{colours}.png"));
            let size = format!("--window-size={size}");
            visit(&browser, &plain, &[&size, flag, &format!("--screenshot={}", shot.display())]);
            assert!(shot.is_file(), "{}", shot.display());
        }
    }
}
