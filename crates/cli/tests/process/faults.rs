//! Faults of the machine: a clear error, and no partial output.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{BIN, Scratch, finish};

fn inputs() -> Scratch {
    let scratch = Scratch::with(&[("work/out/a.yml", "old")]);
    for number in 0..20 {
        scratch.write(&format!("work/in/f{number:02}.yml"), format!("text: {}\n", "x".repeat(20_000)));
    }
    scratch
}

/// Runs a script in its own mount namespace; `None` if that is not allowed.
fn with_own_mounts(scratch: &Scratch, script: &str) -> Option<(i32, String, String)> {
    let allowed = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    if !allowed.is_ok_and(|status| status.success()) {
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).env("BIN", BIN).current_dir(&scratch.0).stdin(Stdio::null());
    Some(finish(&mut command))
}

#[test]
fn a_full_disk_changes_nothing() {
    for flag in ["--output-files", "--dangerous-emptied-output-directory"] {
        let scratch = inputs();
        let script = format!(
            "mkdir m && mount -t tmpfs -o size=128k tmpfs m && mkdir m/out && echo old > m/out/a.yml &&\
             \"$BIN\" -f work/in {flag} m/out; echo \"exit $?\"; find m | sort; cat m/out/a.yml"
        );
        let Some((_, stdout, stderr)) = with_own_mounts(&scratch, &script) else { return };
        assert!(stderr.contains("no space left on device"), "{stderr}");
        assert_eq!(stdout, "exit 1\nm\nm/out\nm/out/a.yml\nold\n", "{flag}");
    }
}

/// A file that a flag names is complete or the old one, and nothing is left beside it.
#[test]
fn a_full_disk_keeps_old_source_maps_and_profiles() {
    for flags in ["--source-map m/map", "--profile=json --profile-file m/map"] {
        let scratch = inputs();
        let script = format!(
            "mkdir m && mount -t tmpfs -o size=4k tmpfs m && echo old > m/map &&\
             \"$BIN\" -f work/in {flags} > printed; echo \"exit $?\"; ls -A m; cat m/map"
        );
        let Some((_, stdout, stderr)) = with_own_mounts(&scratch, &script) else { return };
        assert!(stderr.contains("m/map: no space left on device"), "{stderr}");
        assert_eq!(stdout, "exit 1\nmap\nold\n", "{flags}");
    }
}

#[test]
fn a_read_only_disk_is_an_error() {
    let scratch = inputs();
    let script = "mkdir m && mount -t tmpfs tmpfs m && mkdir m/out && echo old > m/out/a.yml && mount -o remount,ro m &&\
                  \"$BIN\" -f work/in --output-files m/out; echo \"exit $?\";\
                  \"$BIN\" -f work/in --dangerous-emptied-output-directory m/out; echo \"exit $?\"; cat m/out/a.yml";
    let Some((_, stdout, stderr)) = with_own_mounts(&scratch, script) else { return };
    assert_eq!(stdout, "exit 1\nexit 1\nold\n", "{stderr}");
    assert_eq!(stderr.matches("read-only file system").count(), 2, "{stderr}");
}

#[test]
fn only_own_files_are_deleted_from_mount_points() {
    let scratch = inputs();
    let run = "\"$BIN\" -f work/in/f00.yml --dangerous-emptied-output-directory m > /dev/null; echo \"exit $?\"";
    let script = format!(
        "mkdir m && mount -t tmpfs tmpfs m && {run}; {run}; ls -A m; echo mine > m/note.txt; {run}; cat m/note.txt"
    );
    let Some((_, stdout, stderr)) = with_own_mounts(&scratch, &script) else { return };
    assert_eq!(stdout, "exit 0\nexit 0\n.ytterby-manifest\nf00.yml\nexit 1\nmine\n", "{stderr}");
    assert!(stderr.contains("a mount point") && stderr.contains("note.txt"), "{stderr}");
}

#[test]
fn a_directory_that_vanishes_is_an_error() {
    let scratch = Scratch::with(&[("in/a.yml", "a: 1\n")]);
    let script = format!("mkdir gone && cd gone && rmdir ../gone && '{BIN}' -f ../in --output-files out");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(&scratch.0).stdin(Stdio::null());
    let (exit, stdout, stderr) = finish(&mut command);
    assert!(exit == 1 && stdout.is_empty() && stderr.contains("Error: "), "{exit} {stderr}");
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let scratch = Scratch::with(&[("in/a.yml", "#@ for i in range(100000):\n- some text\n#@ end\n")]);
    let script = format!("'{BIN}' -f in | head -n 1; '{BIN}' -f in --debug 2>&1 > /dev/null | head -c 1 > /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(&scratch.0).stdin(Stdio::null());
    let (exit, stdout, stderr) = finish(&mut command);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (0, "- some text\n", ""));
}

/// Files that others write and directories that they replace while the program reads them: an error
/// or a result, never a crash or an endless run.
#[test]
fn inputs_that_change_meanwhile_are_read_or_refused() {
    let scratch = Scratch::with(&[("in/a.yml", "a: 1\n")]);
    let (path, stop) = (scratch.0.clone(), Arc::new(AtomicBool::new(false)));
    let stopped = stop.clone();
    let writer = std::thread::spawn(move || {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: A}\n---\n";
        for round in 0.. {
            let text = if round % 2 == 0 { pod.repeat(round % 500) } else { "a: [\n".to_owned() };
            let _ = fs::write(path.join("in/a.yml"), text);
            let _ = fs::create_dir(path.join("in/d"));
            let _ = fs::write(path.join("in/d/b.yml"), "#@ x = 1\nb: #@ x\n");
            let _ = fs::remove_dir_all(path.join("in/d"));
            if stopped.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    for _ in 0..10 {
        for args in [
            &["-f", "in"][..],
            &["-f", "in", "--output-files", "out"],
            &["fmt", "--check", "in"],
            &["check", "-f", "in"],
            &["kubernetes", "validate", "in"],
            &["kubevirt", "validate", "in"],
        ] {
            let (exit, _, stderr) = scratch.run(args);
            assert!((0..=2).contains(&exit) && !stderr.contains("Internal error"), "{args:?}: {exit} {stderr}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("the writer ends");
}

#[test]
fn an_input_that_vanishes_is_an_error() {
    let scratch = Scratch::with(&[("in/b.yml", "b: 1\n")]);
    std::os::unix::fs::symlink("b.yml", scratch.0.join("in/a.yml")).unwrap();
    fs::remove_file(scratch.0.join("in/b.yml")).unwrap();
    let (exit, stdout, stderr) = scratch.run(&["-f", "in"]);
    assert!(exit == 1 && stdout.is_empty() && stderr.contains("Error: "), "{stderr}");
}
