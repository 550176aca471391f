//! Interrupts while output files are written.
//!
//! As soon as a file shows that the program is in the middle of writing, it gets a signal; then it
//! must undo its work.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Once};

use rustix::process::{Pid, Signal, kill_process};

use super::{BIN, Scratch};

const COUNT: usize = 400;

/// Many inputs, and an output directory with something in it.
fn workspace() -> Scratch {
    let scratch = Scratch::with(&[("w/out/f0000.yml", "old"), ("w/out/d/other.yml", "other")]);
    for number in 0..COUNT {
        scratch.write(&format!("in/f{number:04}.yml"), "a: 1\n");
    }
    scratch
}

const BEFORE: [&str; 4] = ["out/", "out/d/", "out/d/other.yml=other", "out/f0000.yml=old"];

/// Makes children start with the default actions for SIGHUP and SIGINT. Under `nohup` or in the
/// background of a script they would inherit that these are ignored; a signal with a handler gets
/// the default action back when another program is executed. Signals that are not ignored keep
/// their action, so that Ctrl-C still ends the tests.
pub(super) fn reset_ignored_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
        for signal in [Signal::HUP.as_raw(), Signal::INT.as_raw()] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}

fn start(scratch: &Scratch, args: &[&str], stdout: impl Into<Stdio>) -> Child {
    reset_ignored_signals();
    scratch.command(args).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
}

/// Pauses between two checks of the disk, so that the program can write.
fn pause() {
    std::thread::sleep(std::time::Duration::from_micros(200));
}

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Sends the signal as soon as a path (with `PID` for the process id) exists. Returns the output of
/// the program, and the signal that ended it.
fn interrupt(scratch: &Scratch, args: &[&str], signal: Signal, path: &str) -> (Output, Option<i32>) {
    let mut child = start(scratch, args, Stdio::null());
    let path = scratch.0.join(path.replace("PID", &child.id().to_string()));
    while !path.exists() && child.try_wait().unwrap().is_none() {
        pause();
    }
    if child.try_wait().unwrap().is_none() {
        send(signal, &child);
    }
    let output = child.wait_with_output().unwrap();
    let signal = output.status.signal();
    (output, signal)
}

/// The program may be faster than the signal; then everything is written, and we try again.
#[track_caller]
fn check_taken_back(args: &[&str], path: &str) {
    let scratch = workspace();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let was_in_time = (0..20).any(|_| {
            let (output, ended_by) = interrupt(&scratch, args, signal, path);
            let stderr = String::from_utf8(output.stderr).unwrap();
            let is_complete = scratch.0.join(format!("w/out/f{:04}.yml", COUNT - 1)).exists();
            if is_complete {
                assert!(scratch.list("w").len() > COUNT && stderr.is_empty(), "{stderr}");
                std::fs::remove_dir_all(scratch.0.join("w")).unwrap();
                scratch.write("w/out/f0000.yml", "old");
                scratch.write("w/out/d/other.yml", "other");
            } else {
                assert_eq!(stderr, "ytterby: Error: Interrupted; nothing was changed\n");
                assert_eq!(ended_by, Some(signal.as_raw()));
                assert_eq!(scratch.list("w"), BEFORE);
            }
            !is_complete
        });
        assert!(was_in_time, "{signal:?} never came in time");
    }
}

#[test]
fn a_directory_is_not_replaced_by_half_of_the_files() {
    check_taken_back(&["-f", "in", "--dangerous-emptied-output-directory", "w/out"], "w/.ytterby-PID-0/new/f0010.yml");
}

#[test]
fn files_are_not_added_when_some_are_not_written_yet() {
    check_taken_back(&["-f", "in", "--output-files", "w/out"], "w/out/.ytterby-PID-0/10");
}

#[test]
fn files_already_in_place_are_restored() {
    check_taken_back(&["-f", "in", "--output-files", "w/out"], "w/out/f0010.yml");
}

#[test]
fn new_directories_are_removed() {
    let scratch = workspace();
    for (flag, stage) in [
        ("--output-files", "w/a/b/.ytterby-PID-0/9"),
        ("--dangerous-emptied-output-directory", "w/a/.ytterby-PID-0/new/f0009.yml"),
    ] {
        let was_in_time = (0..20).any(|_| {
            let (_, ended_by) = interrupt(&scratch, &["-f", "in", flag, "w/a/b"], Signal::INT, stage);
            let is_complete = scratch.0.join("w/a").exists();
            if is_complete {
                assert_eq!(scratch.list("w/a/b").len(), COUNT);
                std::fs::remove_dir_all(scratch.0.join("w/a")).unwrap();
            } else {
                assert_eq!(ended_by, Some(2));
                assert_eq!(scratch.list("w"), BEFORE);
            }
            !is_complete
        });
        assert!(was_in_time, "{flag}");
    }
}

#[test]
fn once_everything_is_written_a_signal_ends_the_program() {
    let scratch = workspace();
    // The names of the files are not read, and are more than the capacity of a pipe.
    let out = format!("w/{}", "o".repeat(200));
    let mut child = start(&scratch, &["-f", "in", "--output-files", &out], Stdio::piped());
    let stage = scratch.0.join(format!("{out}/.ytterby-{}-0", child.id()));
    let last = scratch.0.join(format!("{out}/f{:04}.yml", COUNT - 1));
    while !last.exists() || stage.exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        pause();
    }
    send(Signal::TERM, &child);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(scratch.list(&out).len(), COUNT);
}

#[test]
#[cfg(target_os = "linux")]
fn ignored_signals_stay_ignored() {
    let scratch = workspace();
    let command = format!("trap '' HUP; exec '{BIN}' -f in --output-files w/out");
    let mut child = Command::new("sh");
    child.args(["-c", &command]).current_dir(&scratch.0).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let first = scratch.0.join(format!("w/out/.ytterby-{}-0/0", child.id()));
    while !first.exists() {
        pause();
    }
    send(Signal::HUP, &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(scratch.list("w/out").len(), COUNT + 2);
}
