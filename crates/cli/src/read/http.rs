//! Inputs from HTTP(S) URLs.
//!
//! Proxies come from the usual environment variables, certificates from the system. A server that is slow or sends
//! without end does not hold a run for ever.

use std::rc::Rc;
use std::time::Duration;

use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Error};

/// A whole request takes no longer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// No input is larger.
const MAX_BYTES: u64 = 256 << 20;

/// The body behind a URL, or the reference's text of why it cannot be had.
pub(super) fn get(url: &str) -> Result<Rc<[u8]>, String> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).tls_config(tls);
    let agent = config.build().new_agent();
    let requesting = |why: String| format!("Requesting URL '{url}': {why}");

    let mut response =
        agent.get(url).call().map_err(|error| requesting(format!("Get \"{url}\": {}", reason(&error))))?;
    let status = response.status();
    if !status.is_success() {
        let reason = status.canonical_reason().unwrap_or_default();
        return Err(requesting(format!("{} {reason}", status.as_u16()).trim_end().to_owned()));
    }
    let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec();
    body.map(Rc::from).map_err(|error| match error {
        Error::BodyExceedsLimit(_) => format!("Reading URL '{url}': more than {} MiB", MAX_BYTES >> 20),
        error => format!("Reading URL '{url}': {}", reason(&error)),
    })
}

fn reason(error: &Error) -> String {
    match error {
        Error::Io(error) => super::io_text(error),
        Error::Timeout(_) => format!("no answer within {} seconds", TIMEOUT.as_secs()),
        error => error.to_string(),
    }
}
