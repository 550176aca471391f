//! `@ytt:ip`: addresses and networks.

use std::net::{IpAddr, Ipv6Addr};

use ytterby_starlark::{Args, Error, Eval, Value};

use super::{Module, Object, method};
use crate::args::{fail, none, one_string};

/// The module.
pub(super) fn module() -> Module {
    Module::new("ip").with("parse_addr", parse_addr).with("parse_cidr", parse_cidr)
}

fn parse_addr(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let text = one_string(&args)?.to_str();
    match text.parse::<IpAddr>() {
        Ok(addr) => Ok(addr_value(addr)),
        Err(_) => fail!("invalid IP address: {text}"),
    }
}

fn parse_cidr(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let text = one_string(&args)?.to_str();
    match cidr(&text) {
        Some((addr, net)) => Ok(Value::tuple(vec![addr_value(addr), net_value(net)])),
        None => fail!("invalid CIDR address: {text}"),
    }
}

/// A network: its first address and the number of fixed leading bits, of the 128 of IPv6 or the 32
/// of IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Net {
    addr: IpAddr,
    bits: u32,
}

fn cidr(text: &str) -> Option<(IpAddr, Net)> {
    let (addr, bits) = text.split_once('/')?;
    let addr: IpAddr = addr.parse().ok()?;
    if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let bits: u32 = bits.parse().ok()?;
    let net = match addr {
        IpAddr::V4(v4) if bits <= 32 => Net { addr: IpAddr::V4((v4.to_bits() & mask(bits + 96) as u32).into()), bits },
        IpAddr::V6(v6) if bits <= 128 => mapped(Net { addr: IpAddr::V6((v6.to_bits() & mask(bits)).into()), bits }),
        _ => return None,
    };
    Some((addr, net))
}

/// The highest `bits` of 128 set.
fn mask(bits: u32) -> u128 {
    u128::MAX.checked_shl(128 - bits).unwrap_or(0)
}

/// Converts a network of IPv4 addresses in IPv6 notation to one of IPv4.
fn mapped(net: Net) -> Net {
    match canonical(net.addr) {
        addr @ IpAddr::V4(_) => Net { addr, bits: net.bits.saturating_sub(96) },
        IpAddr::V6(_) => net,
    }
}

/// IPv4 addresses written as IPv6 (`::ffff:1.2.3.4`) count as IPv4.
fn canonical(addr: IpAddr) -> IpAddr {
    match addr {
        IpAddr::V6(v6) => Ipv6Addr::to_ipv4_mapped(&v6).map_or(addr, IpAddr::V4),
        IpAddr::V4(_) => addr,
    }
}

fn addr_value(addr: IpAddr) -> Value {
    let addr = canonical(addr);
    let fields = [
        method("is_ipv4", "ip.addr.is_ipv4", move |_, args| none(&args).map(|()| Value::Bool(addr.is_ipv4()))),
        method("is_ipv6", "ip.addr.is_ipv6", move |_, args| none(&args).map(|()| Value::Bool(addr.is_ipv6()))),
        method("string", "ip.addr.string", move |_, args| none(&args).map(|()| Value::from(addr.to_string()))),
    ];
    Value::host(Object::new("@ytt:ip.addr", "*yttlibrary.IPAddrValue", "use .string()", fields))
}

fn net_value(net: Net) -> Value {
    let fields = [
        method("addr", "ip.net.addr", move |_, args| none(&args).map(|()| addr_value(net.addr))),
        method("string", "ip.net.string", move |_, args| {
            none(&args).map(|()| Value::from(format!("{}/{}", net.addr, net.bits)))
        }),
    ];
    Value::host(Object::new("@ytt:ip.net", "*yttlibrary.IPNetValue", "use .string()", fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = cidr(text).map(|(addr, net)| (canonical(addr).to_string(), format!("{}/{}", net.addr, net.bits)));
        assert_eq!(found.as_ref().map(|(addr, net)| (&**addr, &**net)), expected, "{text}");
    }

    #[test]
    fn networks_are_masked() {
        check("10.1.2.3/8", Some(("10.1.2.3", "10.0.0.0/8")));
        check("10.1.2.3/0", Some(("10.1.2.3", "0.0.0.0/0")));
        check("10.1.2.3/32", Some(("10.1.2.3", "10.1.2.3/32")));
        check("10.1.2.3/08", Some(("10.1.2.3", "10.0.0.0/8")));
        check("2001:db8::1/33", Some(("2001:db8::1", "2001:db8::/33")));
        check("2001:db8::1/128", Some(("2001:db8::1", "2001:db8::1/128")));
        check("::ffff:1.2.3.4/100", Some(("1.2.3.4", "0.0.0.0/4")));
        check("::ffff:1.2.3.4/96", Some(("1.2.3.4", "0.0.0.0/0")));
        check("::ffff:1.2.3.4/80", Some(("1.2.3.4", "::/80")));
        for bad in [
            "10.1.2.3",
            "10.1.2.3/",
            "10.1.2.3/33",
            "10.1.2.3/+8",
            "10.1.2/8",
            "fe80::1%eth0/64",
            "1.2.3.4/8/9",
            "::/999999999999",
        ] {
            check(bad, None);
        }
    }
}
