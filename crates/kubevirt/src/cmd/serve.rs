//! `serve`: the admission webhook on the command line.
//!
//! Flags are the reference's, with their meaning and their defaults, so that its deployment can run this program instead;
//! beyond them there is what the reference cannot do.

use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::args::{guess, split};
use super::load;
use super::{Failure, Host, OK, UNREADABLE};
use crate::admission::Policy;
use crate::instancetype::Given;
use crate::parameters::Parameters;
use crate::server::cluster::{self, Cluster, Pauses};
use crate::server::log::{Encoder, Log, Times};
use crate::server::{self, Config, FileTemplate, Known, Limits};

/// How often certificates are looked at.
const RELOAD: Duration = Duration::from_secs(2);

pub(super) const HELP: &str = "\
Check VirtualMachines when a cluster is about to store them: an admission webhook

Usage:
  {program} kubevirt serve [OPTION]...

Answers POST /virtualmachine-validate and /template-validate, GET /readyz and /healthz on the port for
webhooks, and GET /metrics on the port for metrics.

Options:
      --listen ADDRESS            address of both ports (default 0.0.0.0)
      --webhook-port PORT         port for webhooks (default 9443)
      --metrics-port PORT         port for metrics (default 8443)
  -c, --cert-dir DIRECTORY        directory with tls.crt and tls.key; without it there is no TLS
      --tls-options-dir DIRECTORY directory that may hold tls-config.json (default /tls-options)
      --kubeconfig FILE           how to reach the cluster; else $KUBECONFIG, the pod's account, ~/.kube/config
      --no-cluster                ask no cluster: rules come from VMs and from files
  -t, --template FILE             templates that VMs may refer to
      --instancetype FILE         instance types and preferences that VMs refer to
      --compat ssp                evaluate as the reference validator of ssp-operator does
      --ratchet                   let updates keep what a VM broke before, with a warning
      --max-request-bytes BYTES   size of a review (default 8388608)
      --max-connections COUNT     connections to each port (default 1024)
      --request-timeout SECONDS   time for a review and its answer (default 10)
      --idle-timeout SECONDS      time between two requests of a connection (default 120)
      --shutdown-delay SECONDS    serve on after SIGTERM while /readyz says no (default 5)
      --zap-log-level LEVEL       error, info, debug or a number for more detail (default info)
      --zap-encoder FORM          json or console
      --zap-time-encoding FORM    epoch, millis, nano, iso8601, rfc3339 or rfc3339nano
      --zap-devel                 log for people, in detail
      --zap-stacktrace-level LEVEL
                                  taken as in the reference; there are no traces of stacks
  -V, --version                   show the version and exit
  -h, --help                      show this text
";

/// Names, short ones first, and whether they take a value.
const OPTIONS: [(&str, &str, bool); 23] = [
    ("", "--listen", true),
    ("", "--webhook-port", true),
    ("", "--metrics-port", true),
    ("-c", "--cert-dir", true),
    ("", "--tls-options-dir", true),
    ("", "--kubeconfig", true),
    ("", "--no-cluster", false),
    ("-t", "--template", true),
    ("", "--instancetype", true),
    ("", "--compat", true),
    ("", "--ratchet", false),
    ("", "--max-request-bytes", true),
    ("", "--max-connections", true),
    ("", "--request-timeout", true),
    ("", "--idle-timeout", true),
    ("", "--shutdown-delay", true),
    ("", "--zap-log-level", true),
    ("", "--zap-encoder", true),
    ("", "--zap-time-encoding", true),
    ("", "--zap-devel", false),
    ("", "--zap-stacktrace-level", true),
    ("-V", "--version", false),
    ("-h", "--help", false),
];

/// Runs the server with the arguments behind `serve`.
pub(super) fn run(program: &str, given: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Result<i32, Failure> {
    let options = Options::parse(given).map_err(Failure::Usage)?;
    if options.help {
        out.write_all(HELP.replace("{program}", program).as_bytes())?;
        return Ok(OK);
    }
    if options.version {
        writeln!(out, "{program} version {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(OK);
    }
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
    let config = Config {
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
    let stopped = server::start(config).and_then(|running| {
        let delay = running.wait(delay)?;
        running.stop(delay);
        Ok(())
    });
    match stopped {
        Ok(()) => Ok(OK),
        Err(error) => {
            log.error("cannot serve", &[("error", (&error.to_string()).into())]);
            Ok(UNREADABLE)
        }
    }
}

struct Options {
    listen: IpAddr,
    webhook_port: u16,
    metrics_port: u16,
    cert_dir: Option<PathBuf>,
    tls_options_dir: PathBuf,
    kubeconfig: Option<PathBuf>,
    no_cluster: bool,
    templates: Vec<OsString>,
    instancetypes: Vec<OsString>,
    policy: Policy,
    limits: Limits,
    shutdown_delay: Duration,
    verbosity: Option<i32>,
    encoder: Option<Encoder>,
    times: Option<Times>,
    devel: bool,
    version: bool,
    help: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: Ipv4Addr::UNSPECIFIED.into(),
            webhook_port: 9443,
            metrics_port: 8443,
            cert_dir: None,
            tls_options_dir: "/tls-options".into(),
            kubeconfig: None,
            no_cluster: false,
            templates: Vec::new(),
            instancetypes: Vec::new(),
            policy: Policy::default(),
            limits: Limits::default(),
            shutdown_delay: Duration::from_secs(5),
            verbosity: None,
            encoder: None,
            times: None,
            devel: false,
            version: false,
            help: false,
        }
    }
}

impl Options {
    fn parse(given: &[OsString]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut rest = given.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            let (name, attached) = split(&text);
            let known = OPTIONS.iter().find(|(short, long, _)| *long == name || (!short.is_empty() && *short == name));
            let Some(&(_, option, takes_value)) = known else {
                if !text.starts_with('-') {
                    return Err(format!("serve: Expected no file, found {text}; templates are given with -t"));
                }
                return Err(format!("Unknown option {name}{}", guess(name, OPTIONS.map(|option| option.1))));
            };
            if takes_value {
                let value = match attached {
                    Some(value) => OsString::from(value),
                    None => rest.next().cloned().ok_or_else(|| format!("{name} needs a value"))?,
                };
                options.set(option, value)?;
                continue;
            }
            let is_on = match attached {
                None | Some("true") => true,
                Some("false") => false,
                Some(_) => return Err(format!("{name} is true or false")),
            };
            match option {
                "--no-cluster" => options.no_cluster = is_on,
                "--ratchet" => options.policy.ratchet = is_on,
                "--zap-devel" => options.devel = is_on,
                "--version" => options.version = is_on,
                "--help" => options.help = is_on,
                _ => unreachable!("all options without a value are here"),
            }
        }
        if options.no_cluster && options.kubeconfig.is_some() {
            return Err("--no-cluster and --kubeconfig exclude each other".to_owned());
        }
        if options.policy.compat && options.policy.ratchet {
            return Err("--ratchet and --compat ssp exclude each other: the reference does not compare updates".into());
        }
        // One review must fit.
        options.limits.memory = options.limits.memory.max((options.limits.body as usize).saturating_mul(2));
        Ok(options)
    }

    fn set(&mut self, name: &str, value: OsString) -> Result<(), String> {
        let mut text = value.to_string_lossy().into_owned();
        if name.starts_with("--zap-") {
            text.make_ascii_lowercase();
        }
        let number = |least: u64, most: u64| match text.parse() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(format!("{name} must be a number from {least} to {most}, found {text}")),
        };
        let port = || number(0, u64::from(u16::MAX)).map(|number| number as u16);
        let seconds = |least| number(least, 3600).map(Duration::from_secs);
        match name {
            "--listen" => {
                self.listen = text.parse().map_err(|_| format!("--listen must be an IP address, found {text}"))?;
            }
            "--webhook-port" => self.webhook_port = port()?,
            "--metrics-port" => self.metrics_port = port()?,
            "--cert-dir" => self.cert_dir = Some(value).filter(|value| !value.is_empty()).map(PathBuf::from),
            "--tls-options-dir" => self.tls_options_dir = value.into(),
            "--kubeconfig" => self.kubeconfig = Some(value).filter(|value| !value.is_empty()).map(PathBuf::from),
            "--template" => self.templates.push(value),
            "--instancetype" => self.instancetypes.push(value),
            "--compat" if text == "ssp" => self.policy.compat = true,
            "--compat" => return Err(format!("--compat knows only ssp, found {text}")),
            "--max-request-bytes" => self.limits.body = number(1024, 1 << 30)?,
            "--max-connections" => self.limits.connections = number(1, 1 << 20)? as usize,
            "--request-timeout" => self.limits.request = seconds(1)?,
            "--idle-timeout" => self.limits.idle = seconds(1)?,
            "--shutdown-delay" => self.shutdown_delay = seconds(0)?,
            "--zap-log-level" => {
                self.verbosity = Some(match text.as_str() {
                    "error" | "panic" => -1,
                    "info" => 0,
                    "debug" => 1,
                    _ => number(1, 100).map_err(|_| {
                        format!("--zap-log-level must be error, info, debug or a number from 1, found {text}")
                    })? as i32,
                });
            }
            "--zap-encoder" => {
                self.encoder = Some(match text.as_str() {
                    "json" => Encoder::Json,
                    "console" => Encoder::Console,
                    _ => return Err(format!("--zap-encoder must be json or console, found {text}")),
                });
            }
            "--zap-stacktrace-level" => {
                if !matches!(text.as_str(), "info" | "error" | "panic") {
                    return Err(format!("--zap-stacktrace-level must be info, error or panic, found {text}"));
                }
            }
            "--zap-time-encoding" => {
                self.times = Some(match text.as_str() {
                    "epoch" => Times::Epoch,
                    "millis" => Times::Millis,
                    "nano" => Times::Nanos,
                    "iso8601" => Times::Iso8601,
                    "rfc3339" => Times::Rfc3339,
                    "rfc3339nano" => Times::Rfc3339Nano,
                    _ => {
                        let known = "epoch, millis, nano, iso8601, rfc3339 or rfc3339nano";
                        return Err(format!("--zap-time-encoding must be {known}, found {text}"));
                    }
                });
            }
            _ => unreachable!("all options with a value are here"),
        }
        Ok(())
    }

    fn log(&self) -> Log {
        let (verbosity, encoder) = if self.devel { (1, Encoder::Console) } else { (0, Encoder::Json) };
        Log::stderr(
            self.verbosity.unwrap_or(verbosity),
            self.encoder.unwrap_or(encoder),
            self.times.unwrap_or_default(),
        )
    }

    /// What the files tell, and where the cluster is.
    fn known(&self, host: &dyn Host) -> Result<Known, String> {
        let mut templates = Vec::new();
        let mut instancetypes = Vec::new();
        for (paths, wanted) in [(&self.templates, "Template"), (&self.instancetypes, "instance type")] {
            for file in load::files(paths, &Parameters::default(), host) {
                let objects = file.objects.map_err(|problem| {
                    let at = problem.at.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
                    format!("{}{at}: {}", file.name, problem.message)
                })?;
                if objects.templates.is_empty() && objects.instancetypes.is_empty() {
                    return Err(format!("{}: there is no {wanted} in it", file.name));
                }
                for template in objects.templates {
                    // Nobody has copied the rules of the VM inside for a template that is not in a cluster.
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
            false => cluster::find(self.kubeconfig.as_deref(), &|name| std::env::var_os(name), host.resolver())?,
        };
        let cluster = cluster.map(|connection| Cluster::new(connection, Pauses::default()));
        Ok(Known::new(templates, Given::new(instancetypes), cluster))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        let args: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        Options::parse(&args)
    }

    #[test]
    fn the_flags_of_the_reference_are_taken() {
        let options = parse("--webhook-port=1 --metrics-port 2 --cert-dir=/certs --listen=127.0.0.1").unwrap();
        assert_eq!((options.webhook_port, options.metrics_port), (1, 2));
        assert_eq!(options.cert_dir, Some("/certs".into()));
        assert_eq!(parse("-c /certs").unwrap().cert_dir, Some("/certs".into()));
        assert!(parse("-V").unwrap().version && !parse("--version=false").unwrap().version);
        let options = parse("--zap-log-level=8 --zap-encoder=console --zap-time-encoding=epoch --zap-devel").unwrap();
        assert_eq!((options.verbosity, options.encoder), (Some(8), Some(Encoder::Console)));
        let defaults = parse("").unwrap();
        assert_eq!((defaults.webhook_port, defaults.metrics_port), (9443, 8443));
        assert_eq!(defaults.listen.to_string(), "0.0.0.0");
    }

    #[test]
    fn misuse_is_explained() {
        for (text, expect) in [
            ("vm.yaml", "serve: Expected no file, found vm.yaml; templates are given with -t"),
            ("--web-hook-port 1", "Unknown option --web-hook-port; did you mean --webhook-port?"),
            ("--webhook-port 70000", "--webhook-port must be a number from 0 to 65535, found 70000"),
            ("--listen here", "--listen must be an IP address, found here"),
            ("--cert-dir", "--cert-dir needs a value"),
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
