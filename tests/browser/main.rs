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

#[test]
fn the_page_works() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no browser found; install chromium or set YTTERBY_BROWSER");
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../browser");
    fs::create_dir_all(&out).expect("the target directory can be written");
    let out = out.canonicalize().expect("it was just made");
    let rendered = Command::new(env!("CARGO_BIN_EXE_ytterby"))
        .args(["-f", "schema.yml", "--data-values-schema-inspect", "-o", "html"])
        .current_dir(&here)
        .output()
        .expect("the program starts");
    let page = String::from_utf8(rendered.stdout).expect("the page is UTF-8");
    assert!(page.ends_with("</html>\n"), "{}", String::from_utf8_lossy(&rendered.stderr));
    let plain = out.join("page.html");
    fs::write(&plain, &page).expect("the page can be written");

    let driver = fs::read_to_string(here.join("driver.js")).expect("the driver is there");
    let driven = out.join("driven.html");
    fs::write(&driven, page.replace("</head>", &format!("<script>{driver}</script>\n</head>")))
        .expect("it can be written");
    let dom = visit(&browser, &driven, &["--virtual-time-budget=5000", "--dump-dom"]);
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).map(|(title, _)| title);
    let title = title.unwrap_or_default().replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let results: Value = serde_json::from_str(&title).unwrap_or_else(|_| panic!("the driver did not finish: {title}"));

    let names = |name: &str| -> Vec<&str> {
        results[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    assert!(names("start").contains(&"db") && !names("start").contains(&"db.db_url"), "nested fields are folded");
    assert_eq!(names("search"), ["db", "db.ports", "db.ports[].num"], "a search shows what it found, unfolded");
    assert_eq!(results["count"], "1 field");
    assert_eq!(names("nothing"), [""; 0]);
    assert!(results["folded"].as_u64() < results["unfolded"].as_u64());
    assert_eq!(results["linked"], true, "a link to a folded field unfolds it");
    assert_eq!(
        results["values"],
        json!("username: \"\"\ndb:\n  db_url: \"\"\n  ports:\n    - num: 80\npassword: \"\"\nlabels:\n  _: \"\"\n")
    );
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
