//! Packs the manual into releases, and links the release build for Linux statically, at fixed
//! addresses.
//!
//! A static program runs on every distribution and in empty containers, and starts in a third of
//! the CPU time: no libraries to load, no relocations. The compiler's option `-C
//! target-feature=+crt-static` would also apply to procedural macros, which cannot be linked
//! statically; see `docs/decisions/static-linking.md`. Without a static C library, the program is
//! linked as usual.

mod manual_pages;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The libraries that the standard library requests by the name of a shared one, and their static
/// replacements.
const LIBRARIES: [(&str, &[&str]); 3] =
    [("gcc_s", &["libgcc_eh.a", "libgcc.a"]), ("m", &["libm.a"]), ("c", &["libc.a", "libgcc_eh.a"])];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=YTTERBY_LINK");
    let var = |name: &str| env::var(name).unwrap_or_default();
    println!("cargo:rustc-check-cfg=cfg(manual_on_disk)");
    println!("cargo:rerun-if-changed=manual_pages.rs");
    pack_manual(&PathBuf::from(var("OUT_DIR")));
    match var("PROFILE") == "release" {
        true => println!("cargo:rerun-if-changed=manual/"),
        // Pages are read from the source tree, so that a changed page needs no new build.
        false => println!("cargo:rustc-cfg=manual_on_disk"),
    }
    let is_native = var("HOST") == var("TARGET");
    let is_glibc = var("CARGO_CFG_TARGET_OS") == "linux" && var("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_wanted = var("PROFILE") == "release" && var("YTTERBY_LINK") != "dynamic";
    if is_native && is_glibc && is_wanted {
        // If this fails, the program is linked as usual.
        let _ = link_statically(&PathBuf::from(var("OUT_DIR")));
    }
}

/// Writes all pages as one compressed archive: for each its name, a line break, its text and a zero
/// byte.
fn pack_manual(dir: &Path) {
    let pages = manual_pages::pages(Path::new("manual"));
    let text: String = pages.iter().map(|(name, text)| format!("{name}\n{text}\0")).collect();
    let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 10);
    fs::write(dir.join("manual.bin"), packed).expect("the output directory is ours");
}

fn link_statically(dir: &Path) -> Option<()> {
    let mut scripts = Vec::new();
    for (name, archives) in LIBRARIES {
        let archives: Option<Vec<String>> = archives.iter().map(|archive| find(archive)).collect();
        scripts.push((dir.join(format!("lib{name}.so")), format!("GROUP ( {} )\n", archives?.join(" "))));
    }
    for (path, text) in scripts {
        fs::write(path, text).ok()?;
    }
    for arg in [format!("-L{}", dir.display()), "-static".into(), "-no-pie".into()] {
        println!("cargo:rustc-link-arg-bins={arg}");
    }
    Some(())
}

/// The path of a static library of the C compiler, if it exists.
fn find(archive: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Path::new(&path).is_absolute().then_some(path)
}
