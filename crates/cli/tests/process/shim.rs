//! Faults below the C library: devices that fail in the middle, and clocks that jump.
//!
//! A small library, compiled here, replaces some functions of the C library for one run
//! (`LD_PRELOAD`). It counts the calls for files in the scratch directory and lets one of them
//! fail. The tests are skipped with a message if there is no C compiler, or if the program is
//! linked statically.

use std::process::{Command, Stdio};

use super::{BIN, Scratch, finish};

/// `FAULT_CALL` is the function, `FAULT_NUMBER` the number of the call that fails with EIO.
/// `FAULT_CLOCK` lets all clocks except those of processor time jump by an hour to and fro.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fails(const char *name) {
    static int calls = 0;
    const char *wanted = getenv("FAULT_CALL"), *number = getenv("FAULT_NUMBER");
    if (!wanted || !number || strcmp(wanted, name)) return 0;
    if (++calls != atoi(number)) return 0;
    errno = EIO;
    return 1;
}

static int is_ours(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strstr(path, "ytterby-process-") != NULL;
}

ssize_t write(int fd, const void *buf, size_t n) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (fd > 2 && is_ours(fd) && fails("write")) return -1;
    return real(fd, buf, n);
}

ssize_t read(int fd, void *buf, size_t n) {
    static ssize_t (*real)(int, void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "read");
    if (fd > 2 && is_ours(fd) && fails("read")) return -1;
    return real(fd, buf, n);
}

int rename(const char *old, const char *new) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    return fails("rename") ? -1 : real(old, new);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return fails("fsync") ? -1 : real(fd);
}

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static int turn = 0;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    int jumps = getenv("FAULT_CLOCK") && (id == CLOCK_REALTIME || id == CLOCK_MONOTONIC);
    if (jumps && turn++ % 2) time->tv_sec -= 3600;
    return result;
}
"#;

/// Compiles the shim; `None` if that is not possible, or if the program ignores it.
fn shim(scratch: &Scratch) -> Option<String> {
    scratch.write("shim.c", SHIM);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"]).current_dir(&scratch.0).stdin(Stdio::null());
    let is_compiled = compiler.output().is_ok_and(|output| output.status.success());
    let library = scratch.0.join("shim.so").display().to_string();
    // Does the program use it at all?
    let mut probe = scratch.command(&["-f", "shim.c=/dev/null"]);
    probe.env("LD_PRELOAD", &library).env("LD_DEBUG", "libs");
    let is_used =
        is_compiled && probe.output().is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains("shim.so"));
    if !is_used {
        eprintln!("SKIPPED: no C compiler, or {BIN} is static");
    }
    is_used.then_some(library)
}

/// Runs the program with each call of `function` failing in turn, until none fails any more. `look`
/// gets the exit code and standard error.
fn each_fault(scratch: &Scratch, library: &str, function: &str, args: &[&str], mut look: impl FnMut(i32, &str)) -> u32 {
    for number in 1..500 {
        let mut command = scratch.command(args);
        command.env("LD_PRELOAD", library).env("FAULT_CALL", function).env("FAULT_NUMBER", number.to_string());
        let (exit, _, stderr) = finish(&mut command);
        look(exit, &stderr);
        if exit == 0 {
            return number - 1;
        }
    }
    panic!("{function} never stops failing");
}

#[test]
fn a_device_that_fails_leaves_the_old_files() {
    let scratch = Scratch::new();
    let Some(library) = shim(&scratch) else { return };
    for (flag, function, least) in [
        ("--output-files", "write", 6),
        ("--dangerous-emptied-output-directory", "write", 6),
        ("--output-files", "rename", 1),
    ] {
        for number in 0..6 {
            scratch.write(&format!("in/f{number}.yml"), format!("new: {number}\n"));
            scratch.write(&format!("out/f{number}.yml"), "old");
        }
        let old = scratch.list("out");
        let faults = each_fault(&scratch, &library, function, &["-f", "in", flag, "out"], |exit, stderr| {
            if exit == 0 {
                assert_ne!(scratch.list("out"), old);
                return;
            }
            assert!(exit == 1 && stderr.to_lowercase().contains("input/output error"), "{flag}: {exit} {stderr}");
            assert_eq!(scratch.list("out"), old, "{flag} {function}: {stderr}");
        });
        assert!(faults >= least, "{flag}: {faults} faults");
    }
}

#[test]
fn a_source_is_replaced_as_a_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let Some(library) = shim(&scratch) else { return };
    let old = "a:   1\nb: [1,   2]\n";
    for function in ["write", "fsync", "rename"] {
        scratch.write("src/a.yml", old);
        each_fault(&scratch, &library, function, &["fmt", "--write", "src/a.yml"], |exit, stderr| {
            let now = std::fs::read_to_string(scratch.0.join("src/a.yml")).unwrap();
            assert!(exit == 0 || now == old, "{function}: {stderr} {now}");
            assert_eq!(scratch.list("src").len(), 1, "{function}: something is left over");
        });
    }
}

#[test]
fn an_input_that_cannot_be_read_is_an_error() {
    let scratch = Scratch::with(&[("in/a.yml", "a: 1\n"), ("in/b.yml", "b: 1\n")]);
    let Some(library) = shim(&scratch) else { return };
    let faults = each_fault(&scratch, &library, "read", &["-f", "in"], |exit, stderr| {
        assert!(exit == 0 || exit == 1 && stderr.to_lowercase().contains("input/output error"), "{exit} {stderr}");
    });
    assert!(faults >= 2, "{faults} faults");
}

#[test]
fn clocks_may_jump() {
    let scratch = Scratch::with(&[("in/a.yml", "a: #@ [i for i in range(100000)][-1]\n")]);
    let Some(library) = shim(&scratch) else { return };
    for args in [&["-f", "in"][..], &["-f", "in", "--output-files", "out"], &["fmt", "-f", "in/a.yml"]] {
        let mut command = scratch.command(args);
        command.env("LD_PRELOAD", &library).env("FAULT_CLOCK", "1");
        let (exit, _, stderr) = finish(&mut command);
        assert_eq!((exit, stderr.as_str()), (0, ""), "{args:?}");
    }
    // The limit is processor time, so it ends the run nevertheless.
    scratch.write("loop/a.yml", "#@ while True:\n#@   x = 1\n#@ end\n");
    let mut command = scratch.command(&["-f", "loop", "--limit-time", "200ms"]);
    command.env("LD_PRELOAD", &library).env("FAULT_CLOCK", "1");
    let (exit, _, stderr) = finish(&mut command);
    assert!(exit == 1 && stderr.contains("time limit exceeded"), "{stderr}");
}
