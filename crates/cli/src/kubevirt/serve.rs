//! `serve`: the admission webhook on the command line.
//!
//! The reference's flags have the same meanings and defaults, so that its deployment can run this
//! program instead; other flags are additions of ours.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ytterby_diag::{Id, Sources};
use ytterby_kubevirt::admission::ReviewOptions;
use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::parameters::Parameters;
use ytterby_kubevirt::server::cluster::{self, Cluster, Pauses};
use ytterby_kubevirt::server::log::{Encoder, Log, Times};
use ytterby_kubevirt::server::{self, ClientLimits, FileTemplate, KnownObjects, ServerConfig};

use super::args::{choice, is_compat};
use super::flag;
use super::{Failure, Host, OK, UNREADABLE, load, usage};
use crate::flags::{Invocation, TextFlag};

/// Interval for reloading certificates.
const RELOAD: Duration = Duration::from_secs(2);

/// Runs the server that the flags describe.
pub(super) fn run(program: &str, flags: &Invocation, host: &dyn Host) -> Result<i32, Failure> {
    let options = ServeOptions::read(flags)?;
    give_memory_back();
    let log = Arc::new(options.log());
    log.info("Starting", &[("component", program.into()), ("version", env!("CARGO_PKG_VERSION").into())]);
    let known = match options.known(host) {
        Ok(known) => known,
        Err(problem) => {
            log.error("cannot begin", &[("error", (&problem).into())]);
            return Ok(UNREADABLE);
        }
    };
    let delay = options.shutdown_delay;
    let config = ServerConfig {
        listen: options.listen,
        webhook_port: options.webhook_port,
        metrics_port: options.metrics_port,
        cert_dir: options.cert_dir,
        tls_options_dir: options.tls_options_dir,
        reload_every: RELOAD,
        policy: options.policy,
        limits: options.limits,
        known,
        log: Arc::clone(&log),
    };
    match server::run(config, delay) {
        Ok(()) => Ok(OK),
        Err(error) => {
            log.error("cannot serve", &[("error", (&error.to_string()).into())]);
            Ok(UNREADABLE)
        }
    }
}

/// Settings for glibc that return memory to the system after a flood of large reviews. glibc reads
/// them when a program starts. See `docs/decisions/allocator.md`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MEMORY: &str = "glibc.malloc.arena_max=2:glibc.malloc.trim_threshold=131072:glibc.malloc.mmap_threshold=131072";

/// Restarts this program in the same process with [`MEMORY`], unless the user has chosen other
/// settings.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_memory_back() {
    use std::os::unix::process::CommandExt;

    const TUNABLES: &str = "GLIBC_TUNABLES";
    let is_chosen =
        |(name, _): (std::ffi::OsString, _)| name == TUNABLES || name.as_encoded_bytes().starts_with(b"MALLOC_");
    if std::env::vars_os().any(is_chosen) {
        return;
    }
    let mut words = std::env::args_os();
    let (Some(name), Ok(program)) = (words.next(), std::env::current_exe()) else { return };
    // `exec` returns only if it fails; then the server runs with the default settings.
    let _ = std::process::Command::new(program).arg0(name).args(words).env(TUNABLES, MEMORY).exec();
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_memory_back() {}

struct ServeOptions {
    listen: IpAddr,
    webhook_port: u16,
    metrics_port: u16,
    cert_dir: Option<PathBuf>,
    tls_options_dir: PathBuf,
    kubeconfig: Option<PathBuf>,
    no_cluster: bool,
    templates: Vec<String>,
    instancetypes: Vec<String>,
    policy: ReviewOptions,
    limits: ClientLimits,
    shutdown_delay: Duration,
    verbosity: Option<i32>,
    encoder: Option<Encoder>,
    times: Option<Times>,
    devel: bool,
}

impl ServeOptions {
    fn read(flags: &Invocation) -> Result<ServeOptions, Failure> {
        let path = |flag: &TextFlag| Some(flags.text(flag)).filter(|text| !text.is_empty()).map(PathBuf::from);
        let defaults = ClientLimits::default();
        let mut limits = ClientLimits {
            body: number(flags, &flag::MAX_REQUEST_BYTES, 1024, 1 << 30)?.unwrap_or(defaults.body),
            connections: number(flags, &flag::MAX_CONNECTIONS, 1, 1 << 20)?
                .map_or(defaults.connections, |count| count as usize),
            request: seconds(flags, &flag::REQUEST_TIMEOUT, 1)?.unwrap_or(defaults.request),
            idle: seconds(flags, &flag::IDLE_TIMEOUT, 1)?.unwrap_or(defaults.idle),
            ..defaults
        };
        // At least one review must fit.
        limits.memory = limits.memory.max((limits.body as usize).saturating_mul(2));
        choice(flags, &flag::ZAP_STACKTRACE_LEVEL)?;
        let options = ServeOptions {
            listen: address(flags)?,
            webhook_port: port(flags, &flag::WEBHOOK_PORT)?.unwrap_or(9443),
            metrics_port: port(flags, &flag::METRICS_PORT)?.unwrap_or(8443),
            cert_dir: path(&flag::CERT_DIR),
            tls_options_dir: path(&flag::TLS_OPTIONS_DIR).unwrap_or_else(|| "/tls-options".into()),
            kubeconfig: path(&flag::KUBECONFIG),
            no_cluster: flags.is_on(&flag::NO_CLUSTER),
            templates: flags.list(&flag::SERVE_TEMPLATE).to_vec(),
            instancetypes: flags.list(&flag::INSTANCETYPE).to_vec(),
            policy: ReviewOptions { compat: is_compat(flags)?, ratchet: flags.is_on(&flag::RATCHET) },
            limits,
            shutdown_delay: seconds(flags, &flag::SHUTDOWN_DELAY, 0)?.unwrap_or(Duration::from_secs(5)),
            verbosity: verbosity(flags)?,
            encoder: choice(flags, &flag::ZAP_ENCODER)?,
            times: choice(flags, &flag::ZAP_TIME_ENCODING)?,
            devel: flags.is_on(&flag::ZAP_DEVEL),
        };
        if options.no_cluster && options.kubeconfig.is_some() {
            return Err(usage(Id::FLAG_VALUE, "--no-cluster and --kubeconfig exclude each other"));
        }
        if options.policy.compat && options.policy.ratchet {
            let text = "--ratchet and --compat ssp exclude each other: the reference does not compare updates";
            return Err(usage(Id::FLAG_VALUE, text));
        }
        Ok(options)
    }

    fn log(&self) -> Log {
        let (verbosity, encoder) = if self.devel { (1, Encoder::Console) } else { (0, Encoder::Json) };
        Log::stderr(
            self.verbosity.unwrap_or(verbosity),
            self.encoder.unwrap_or(encoder),
            self.times.unwrap_or_default(),
        )
    }

    /// The templates and instance types from files, and the cluster to ask for others.
    fn known(&self, host: &dyn Host) -> Result<KnownObjects, String> {
        let mut templates = Vec::new();
        let mut instancetypes = Vec::new();
        for (paths, wanted) in [(&self.templates, "Template"), (&self.instancetypes, "instance type")] {
            for file in load::files(paths, &Parameters::default(), host, &Sources::new()) {
                let objects = file.objects.map_err(|problem| {
                    let at = problem.at.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
                    format!("{}{at}: {}", file.name, problem.message)
                })?;
                if objects.templates.is_empty() && objects.instancetypes.is_empty() {
                    return Err(format!("{}: there is no {wanted} in it", file.name));
                }
                for template in objects.templates {
                    // A template that is not in a cluster was not processed, so the rules of its
                    // inner VM were not copied.
                    let inner = template.vm_rules.filter(|_| !self.policy.compat);
                    let rules = match template.rules.or(inner) {
                        None => None,
                        Some(annotation) => match annotation.readable() {
                            Ok(text) => Some(Arc::from(text)),
                            Err(problem) => return Err(format!("{}: {}", file.name, problem.message())),
                        },
                    };
                    templates.push(FileTemplate { name: template.name, namespace: template.namespace, rules });
                }
                instancetypes.extend(objects.instancetypes);
            }
        }
        let cluster = match self.no_cluster {
            true => None,
            false => cluster::find(self.kubeconfig.as_deref(), &|name| std::env::var_os(name), crate::read::addresses)?,
        };
        let cluster = cluster.map(|connection| Cluster::new(connection, Pauses::default()));
        Ok(KnownObjects::new(templates, Instancetypes::new(instancetypes), cluster))
    }
}

fn address(flags: &Invocation) -> Result<IpAddr, Failure> {
    let Some(text) = flags.given(&flag::LISTEN) else { return Ok(Ipv4Addr::UNSPECIFIED.into()) };
    text.parse().map_err(|_| usage(Id::FLAG_VALUE, format!("--listen must be an IP address, found {text}")))
}

fn number(flags: &Invocation, flag: &TextFlag, least: u64, most: u64) -> Result<Option<u64>, Failure> {
    let Some(text) = flags.given(flag) else { return Ok(None) };
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
        _ => {
            let text = format!("--{} must be a number from {least} to {most}, found {text}", flag.name);
            Err(usage(Id::FLAG_VALUE, text))
        }
    }
}

fn port(flags: &Invocation, flag: &TextFlag) -> Result<Option<u16>, Failure> {
    Ok(number(flags, flag, 0, u16::MAX.into())?.map(|number| number as u16))
}

fn seconds(flags: &Invocation, flag: &TextFlag, least: u64) -> Result<Option<Duration>, Failure> {
    Ok(number(flags, flag, least, 3600)?.map(Duration::from_secs))
}

fn verbosity(flags: &Invocation) -> Result<Option<i32>, Failure> {
    let Some(text) = flags.given(&flag::ZAP_LOG_LEVEL) else { return Ok(None) };
    match text.to_ascii_lowercase().as_str() {
        "error" | "panic" => Ok(Some(-1)),
        "info" => Ok(Some(0)),
        "debug" => Ok(Some(1)),
        level => match level.parse() {
            Ok(level @ 1..=100) => Ok(Some(level)),
            _ => {
                let text = format!("--zap-log-level must be error, info, debug or a number from 1, found {text}");
                Err(usage(Id::FLAG_VALUE, text))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ServeOptions, String> {
        let words = ["kubevirt", "serve"].into_iter().chain(text.split_whitespace()).map(str::to_owned).collect();
        let parsed = crate::flags::parse(&crate::commands::ROOT, words, &ytterby_diag::Sources::new());
        ServeOptions::read(&parsed.map_err(|failure| failure.to_string())?).map_err(|failure| match failure {
            Failure::Usage(failure) => failure.to_string(),
            Failure::Output(error) => error.to_string(),
        })
    }

    #[test]
    fn the_flags_of_the_reference_are_accepted() {
        let options = parse("--webhook-port=1 --metrics-port 2 --cert-dir=/certs --listen=127.0.0.1").unwrap();
        assert_eq!((options.webhook_port, options.metrics_port), (1, 2));
        assert_eq!(options.cert_dir, Some("/certs".into()));
        assert_eq!(parse("-c /certs").unwrap().cert_dir, Some("/certs".into()));
        let options = parse("--zap-log-level=8 --zap-encoder=console --zap-time-encoding=epoch --zap-devel").unwrap();
        assert_eq!((options.verbosity, options.encoder), (Some(8), Some(Encoder::Console)));
        let defaults = parse("").unwrap();
        assert_eq!((defaults.webhook_port, defaults.metrics_port), (9443, 8443));
        assert_eq!(defaults.listen.to_string(), "0.0.0.0");
    }

    #[test]
    fn wrong_flags_are_explained() {
        for (text, expect) in [
            ("--web-hook-port 1", "unknown flag: --web-hook-port"),
            ("--webhook-port 70000", "--webhook-port must be a number from 0 to 65535, found 70000"),
            ("--listen here", "--listen must be an IP address, found here"),
            ("--cert-dir", "flag needs an argument: --cert-dir"),
            ("--zap-log-level loud", "--zap-log-level must be error, info, debug or a number from 1, found loud"),
            (
                "--ratchet --compat ssp",
                "--ratchet and --compat ssp exclude each other: the reference does not compare updates",
            ),
        ] {
            assert_eq!(parse(text).err().as_deref(), Some(expect), "{text}");
        }
    }
}
