//! Every decoder of the modules takes any text: it gives a value, which can be encoded again, or an
//! error.

#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;
use ytterby::Options;

const TEMPLATE: &str = r#"#@ load("@ytt:data", "data")
#@ load("@ytt:assert", "assert")
#@ load("@ytt:json", "json")
#@ load("@ytt:yaml", "yaml")
#@ load("@ytt:toml", "toml")
#@ load("@ytt:base64", "base64")
#@ load("@ytt:url", "url")
#@ load("@ytt:ip", "ip")
#@ load("@ytt:version", "version")
#@ load("@ytt:regexp", "regexp")
#@ load("@ytt:md5", "md5")
#@ load("@ytt:sha256", "sha256")
#@ text = data.read("input.bin")
#@ def both(decode, encode):
#@   value, error = assert.try_to(lambda: decode(text))
#@   return error if error else assert.try_to(lambda: encode(value))[0]
#@ end
---
json: #@ both(json.decode, json.encode)
yaml: #@ both(yaml.decode, yaml.encode)
toml: #@ both(toml.decode, toml.encode)
base64: #@ both(base64.decode, base64.encode)
query: #@ both(url.query_params_decode, url.query_params_encode)
segment: #@ both(url.path_segment_decode, url.path_segment_encode)
url: #@ both(url.parse, lambda u: u.string())
address: #@ both(ip.parse_addr, lambda a: a.string())
regexp: #@ assert.try_to(lambda: regexp.replace(text, text, text))[0]
sums: #@ md5.sum(text) + sha256.sum(text)
"#;

fuzz_target!(|data: &[u8]| {
    common::render(&[("a.yml", TEMPLATE.as_bytes()), ("input.bin", data)], &Options::default());
});
