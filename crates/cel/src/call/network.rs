//! Functions of URLs, addresses and networks.
//!
//! What counts as valid is Kubernetes' decision, not the standard library's: no zones in addresses,
//! no IPv4 addresses within IPv6, and URLs are absolute or begin with a slash. The parsers are at
//! the top, the functions that use them below.

use std::net::IpAddr;
use std::rc::Rc;

use ytterby_text::url;

use super::{overload, text};
use crate::eval::{Result, fail};
use crate::functions::Fun;
use crate::value::Val;

/// A URL as Kubernetes accepts it: absolute, or a path that begins with a slash.
pub(super) fn parse_url(subject: &str) -> Option<url::Url> {
    let url = url::parse(subject.as_bytes()).ok()?;
    (!url.scheme().is_empty() || subject.starts_with('/')).then_some(url)
}

pub(super) fn urls(fun: Fun, args: &[Val]) -> Result<Val> {
    let lossy = |bytes: &[u8]| text(String::from_utf8_lossy(bytes));
    match (fun, &args[0]) {
        (Fun::IsUrl, Val::Str(subject)) => Ok(Val::Bool(parse_url(subject).is_some())),
        (Fun::Url, Val::Str(subject)) => match parse_url(subject) {
            Some(url) => Ok(Val::Url(Rc::new(url))),
            None => fail("the text is no URL"),
        },
        (Fun::Scheme, Val::Url(url)) => Ok(lossy(url.scheme())),
        (Fun::Host, Val::Url(url)) => Ok(lossy(url.host())),
        (Fun::Hostname, Val::Url(url)) => Ok(lossy(url.hostname().as_bytes())),
        (Fun::Port, Val::Url(url)) => Ok(lossy(url.port())),
        (Fun::EscapedPath, Val::Url(url)) => Ok(lossy(&url.escaped_path())),
        (Fun::Query, Val::Url(url)) => Ok(query_map(&String::from_utf8_lossy(url.query()))),
        _ => overload(fun, args),
    }
}

fn query_map(query: &str) -> Val {
    let decode = |part: &str| {
        let part = part.replace('+', " ");
        match url::unescape(part.as_bytes(), url::UrlPart::Query) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => part,
        }
    };
    let mut entries: Vec<(String, Vec<Val>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decode(key), text(decode(value)));
        match entries.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => entries.push((key, vec![value])),
        }
    }
    Val::map(entries.into_iter().map(|(key, values)| (text(key), Val::list(values))).collect())
}

/// An address as Kubernetes accepts it: no zone, no IPv4 address within IPv6.
fn parse_ip(subject: &str) -> Option<IpAddr> {
    let address: IpAddr = subject.parse().ok()?;
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => None,
        address => Some(address),
    }
}

fn parse_cidr(subject: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = subject.split_once('/')?;
    let address = parse_ip(address)?;
    let is_plain = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = bits.len() == 1 || !bits.starts_with('0');
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits: u8 = bits.parse().ok().filter(|bits| is_plain && is_short && *bits <= most)?;
    Some((address, bits))
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

pub(super) fn addresses(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, &args[0]) {
        (Fun::IsIp, Val::Str(subject)) => Ok(Val::Bool(parse_ip(subject).is_some())),
        (Fun::Ip, Val::Str(subject)) => match parse_ip(subject) {
            Some(address) => Ok(Val::Ip(address)),
            None => fail("the text is no IP address"),
        },
        (Fun::Ip, Val::Cidr(address, _)) => Ok(Val::Ip(*address)),
        (Fun::IsCanonical, Val::Str(subject)) => match parse_ip(subject) {
            Some(address) => Ok(Val::Bool(address.to_string() == **subject)),
            None => fail("the text is no IP address"),
        },
        (Fun::Family, Val::Ip(address)) => Ok(Val::Int(if address.is_ipv4() { 4 } else { 6 })),
        (Fun::IsUnspecified, Val::Ip(address)) => Ok(Val::Bool(address.is_unspecified())),
        (Fun::IsLoopback, Val::Ip(address)) => Ok(Val::Bool(address.is_loopback())),
        (Fun::IsLinkLocalUnicast, Val::Ip(address)) => Ok(Val::Bool(is_link_local(*address))),
        (Fun::IsLinkLocalMulticast, Val::Ip(address)) => Ok(Val::Bool(is_link_local_multicast(*address))),
        (Fun::IsGlobalUnicast, Val::Ip(address)) => {
            let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            let is_special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
            Ok(Val::Bool(!is_broadcast && !is_special && !is_link_local(*address)))
        }
        (Fun::IsCidr, Val::Str(subject)) => Ok(Val::Bool(parse_cidr(subject).is_some())),
        (Fun::Cidr, Val::Str(subject)) => match parse_cidr(subject) {
            Some((address, bits)) => Ok(Val::Cidr(address, bits)),
            None => fail("the text is no CIDR"),
        },
        (Fun::Masked, Val::Cidr(address, bits)) => Ok(Val::Cidr(masked(*address, *bits), *bits)),
        (Fun::PrefixLength, Val::Cidr(_, bits)) => Ok(Val::Int(i64::from(*bits))),
        (Fun::ContainsIp, Val::Cidr(network, bits)) => {
            let address = match &args[1] {
                Val::Ip(address) => *address,
                Val::Str(subject) => match parse_ip(subject) {
                    Some(address) => address,
                    None => return fail("the text is no IP address"),
                },
                _ => return overload(fun, args),
            };
            Ok(Val::Bool(within(*network, *bits, address)))
        }
        (Fun::ContainsCidr, Val::Cidr(network, bits)) => {
            let (address, other) = match &args[1] {
                Val::Cidr(address, bits) => (*address, *bits),
                Val::Str(subject) => match parse_cidr(subject) {
                    Some(found) => found,
                    None => return fail("the text is no CIDR"),
                },
                _ => return overload(fun, args),
            };
            Ok(Val::Bool(other >= *bits && within(*network, *bits, masked(address, other))))
        }
        _ => overload(fun, args),
    }
}

fn within(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && masked(network, bits) == masked(address, bits)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}
