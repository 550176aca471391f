//! Looks up host names with `hickory-resolver`.
//!
//! The release build for Linux is static, and a static program cannot use the resolver of the C
//! library, which loads parts of itself at run time. `hickory-resolver` reads `/etc/hosts` and
//! `/etc/resolv.conf` instead, like the reference. `docs/decisions/static-linking.md` has the
//! reasons.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::{Error, Timeout};

/// The most addresses that `ureq` accepts.
const MAX_ADDRESSES: usize = 16;

/// Timeout of a lookup without one.
const LONGEST: Duration = Duration::from_secs(3600);

/// The resolver for `ureq`.
#[derive(Debug)]
pub(super) struct NameResolver;

impl Resolver for NameResolver {
    fn resolve(&self, uri: &Uri, _: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let default_port = match uri.scheme_str() {
            Some("https") => 443,
            Some("socks4" | "socks4a" | "socks5" | "socks5h") => 1080,
            _ => 80,
        };
        let port = uri.port_u16().unwrap_or(default_port);
        let found = addresses(uri.host().unwrap_or_default(), port, (*timeout.after).min(LONGEST));
        let found = found.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::HostNotFound,
            io::ErrorKind::TimedOut => Error::Timeout(Timeout::Resolve),
            _ => Error::Io(error),
        })?;
        let mut result = self.empty();
        for address in found.into_iter().take(MAX_ADDRESSES) {
            result.push(address);
        }
        Ok(result)
    }
}

/// The addresses of a host, IPv4 first, each with the port. Fails after `within`.
pub(super) fn addresses(host: &str, port: u16, within: Duration) -> io::Result<Vec<SocketAddr>> {
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = literal.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(async { tokio::time::timeout(within, look_up(host)).await });
    let mut addresses = match found {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) if is_unknown(&error) => Vec::new(),
        Ok(Err(NetError::Timeout)) => return Err(failed("no answer")),
        Ok(Err(error)) => return Err(failed(&error)),
        Err(_) => return Err(io::ErrorKind::TimedOut.into()),
    };
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no such host"));
    }
    addresses.sort_by_key(IpAddr::is_ipv6);
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

async fn look_up(host: &str) -> Result<Vec<IpAddr>, NetError> {
    // Like the reference, ask a server on this machine where the system names none.
    let mut builder = TokioResolver::builder_tokio().unwrap_or_else(|_| {
        let server = NameServerConfig::udp_and_tcp(Ipv4Addr::LOCALHOST.into());
        let config = ResolverConfig::from_name_servers(vec![server]);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    });
    builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    Ok(builder.build()?.lookup_ip(host).await?.iter().collect())
}

/// Whether the name does not exist, has no addresses, or cannot be a name.
fn is_unknown(error: &NetError) -> bool {
    error.is_no_records_found() || matches!(error, NetError::Proto(_))
}

fn failed(why: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("failed to lookup address information: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn literal_addresses_need_no_lookup() {
        for (host, want) in [("127.0.0.1", "127.0.0.1:80"), ("[::1]", "[::1]:80"), ("::1", "[::1]:80")] {
            assert_eq!(addresses(host, 80, Duration::ZERO).unwrap(), [want.parse().unwrap()]);
        }
    }

    #[test]
    fn localhost_needs_no_server() {
        for host in ["localhost", "LOCALHOST.", "a.localhost"] {
            let found = addresses(host, 8080, SOON).unwrap();
            assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 8080), "{host}");
        }
    }

    #[test]
    fn invalid_names_are_unknown_hosts() {
        for host in ["", "a..b", &"x".repeat(64), &"x.".repeat(128)] {
            let error = addresses(host, 80, SOON).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{host}: {error}");
        }
    }
}
