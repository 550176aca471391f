//! Certificates and TLS options from files that may change at any time.
//!
//! The files are read every few seconds and compared. That detects every way of replacing them,
//! including the swapped links of Kubernetes' volumes and file systems without notifications. An
//! unusable configuration is reported once, and the last usable one stays active.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::{fs, io};

use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedCipherSuite, SupportedProtocolVersion, version};

use super::log::Log;
use crate::json;
use crate::value::Value;

/// The paths of the files, and the current configuration.
pub(super) struct Tls {
    certificates: PathBuf,
    options: PathBuf,
    state: RwLock<TlsState>,
}

#[derive(Default)]
struct TlsState {
    /// The last content, usable or not.
    seen: Option<TlsFiles>,
    config: Option<Arc<ServerConfig>>,
}

/// The content of the files; an error message if one cannot be read.
#[derive(Clone, PartialEq, Eq)]
struct TlsFiles {
    certificate: Result<Vec<u8>, String>,
    key: Result<Vec<u8>, String>,
    /// `None` if there is no such file.
    options: Result<Option<Vec<u8>>, String>,
}

/// The result of reading the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reload {
    Unchanged,
    Changed,
    Failed,
}

impl Tls {
    pub(super) fn new(certificates: &Path, options: &Path) -> Tls {
        Tls { certificates: certificates.to_owned(), options: options.to_owned(), state: RwLock::default() }
    }

    /// The configuration for the next handshake, if there is one.
    pub(super) fn config(&self) -> Option<Arc<ServerConfig>> {
        self.state.read().ok()?.config.clone()
    }

    /// Reads the files, and applies changes if they are usable.
    pub(super) fn reload(&self, log: &Log) -> Reload {
        let files = TlsFiles::read(&self.certificates, &self.options);
        let Ok(mut state) = self.state.write() else { return Reload::Unchanged };
        if state.seen.as_ref() == Some(&files) {
            return Reload::Unchanged;
        }
        let directory = self.certificates.to_string_lossy();
        let made = files.config(log);
        state.seen = Some(files);
        match made {
            Ok(config) => {
                log.info("certificate retrieved", &[("directory", (&*directory).into())]);
                state.config = Some(Arc::new(config));
                Reload::Changed
            }
            Err(problem) => {
                let remedy = match state.config {
                    Some(_) => "the last certificate that could be used stays in use",
                    None => "connections are refused until it is fixed",
                };
                log.error(
                    "failed to load certificate or TLS options",
                    &[
                        ("directory", (&*directory).into()),
                        ("error", (&problem).into()),
                        ("consequence", remedy.into()),
                    ],
                );
                Reload::Failed
            }
        }
    }
}

impl TlsFiles {
    fn read(certificates: &Path, options: &Path) -> TlsFiles {
        let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
        let path = options.join("tls-config.json");
        let options = match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", path.display())),
        };
        TlsFiles { certificate: read(certificates.join("tls.crt")), key: read(certificates.join("tls.key")), options }
    }

    fn config(&self, log: &Log) -> Result<ServerConfig, String> {
        let options = match self.options.as_ref().map_err(Clone::clone)? {
            Some(text) => TlsOptions::read(text, log).map_err(|problem| format!("tls-config.json: {problem}"))?,
            None => TlsOptions::default(),
        };
        let certificate = self.certificate.as_ref().map_err(Clone::clone)?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("tls.crt: {error:?}"))?;
        if chain.is_empty() {
            return Err("tls.crt: there is no certificate in it".to_owned());
        }
        // The error message must not contain any part of the key.
        let key = PrivateKeyDer::from_pem_slice(self.key.as_ref().map_err(Clone::clone)?)
            .map_err(|_| "tls.key: there is no private key in it that can be read".to_owned())?;
        let mut provider = default_provider();
        provider.cipher_suites = options.suites;
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&options.versions)
            .map_err(|error| format!("tls-config.json: {error}"))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| format!("tls.crt, tls.key: {error}"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The content of `tls-config.json`.
struct TlsOptions {
    versions: Vec<&'static SupportedProtocolVersion>,
    suites: Vec<SupportedCipherSuite>,
}

impl Default for TlsOptions {
    fn default() -> TlsOptions {
        TlsOptions { versions: vec![&version::TLS13, &version::TLS12], suites: default_provider().cipher_suites }
    }
}

/// The cipher suites of TLS 1.2 by OpenSSL's names.
const SUITES: [(&str, SupportedCipherSuite); 6] = [
    ("ECDHE-ECDSA-AES128-GCM-SHA256", cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-RSA-AES128-GCM-SHA256", cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-ECDSA-AES256-GCM-SHA384", cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-RSA-AES256-GCM-SHA384", cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("ECDHE-RSA-CHACHA20-POLY1305", cipher_suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

/// Those of TLS 1.3. Like in the reference, they are not configurable: all are enabled.
const SUITES_13: [(&str, SupportedCipherSuite); 3] = [
    ("TLS_AES_256_GCM_SHA384", cipher_suite::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", cipher_suite::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", cipher_suite::TLS13_CHACHA20_POLY1305_SHA256),
];

impl TlsOptions {
    fn read(text: &[u8], log: &Log) -> Result<TlsOptions, String> {
        let root = json::read(text)?;
        if !matches!(root, Value::Object(_) | Value::Null) {
            return Err(format!("expected an object, found {}", root.what()));
        }
        let mut options = TlsOptions::default();
        let minimum = match root.at(&["minTLSVersion"]) {
            None => "",
            Some(value) => value.as_str().ok_or("minTLSVersion must be a string")?,
        };
        match minimum {
            "" | "1.2" => {}
            "1.3" => options.versions = vec![&version::TLS13],
            "1.0" | "1.1" => {
                log.info(
                    "TLS below 1.2 is not offered, whatever minTLSVersion is",
                    &[("minTLSVersion", minimum.into())],
                );
            }
            other => return Err(format!("minTLSVersion must be 1.2 or 1.3, found {other}")),
        }
        let names = match root.at(&["openSSLCipherNames"]) {
            None => return Ok(options),
            Some(value) => value.as_array().ok_or("openSSLCipherNames must be an array")?,
        };
        if names.is_empty() {
            return Ok(options);
        }
        options.suites = SUITES_13.iter().map(|(_, suite)| *suite).collect();
        for name in names {
            let name = name.as_str().ok_or("openSSLCipherNames must contain strings")?;
            if let Some((_, suite)) = SUITES.iter().find(|(known, _)| *known == name) {
                options.suites.push(*suite);
            } else if !SUITES_13.iter().any(|(known, _)| *known == name) {
                log.info("unsupported cipher name, it is left out", &[("name", name.into())]);
            }
        }
        if options.suites.len() == SUITES_13.len() && options.versions.len() > 1 {
            log.info("no cipher of TLS 1.2 is left, so only TLS 1.3 is offered", &[]);
            options.versions = vec![&version::TLS13];
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<(usize, usize), &str>) {
        let log = Log::to(Box::new(std::io::sink()), 0);
        let got = TlsOptions::read(text.as_bytes(), &log).map(|options| (options.versions.len(), options.suites.len()));
        assert_eq!(got, expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn options_of_the_operator_are_applied() {
        check("{}", Ok((2, 9)));
        check("null", Ok((2, 9)));
        check(r#"{"minTLSVersion":"1.2","openSSLCipherNames":[]}"#, Ok((2, 9)));
        check(r#"{"minTLSVersion":"1.3"}"#, Ok((1, 9)));
        check(r#"{"minTLSVersion":"1.0"}"#, Ok((2, 9)));
        check(r#"{"openSSLCipherNames":["ECDHE-RSA-AES128-GCM-SHA256","TLS_AES_128_GCM_SHA256","DHE-X"]}"#, Ok((2, 4)));
        check(r#"{"openSSLCipherNames":["AES128-SHA"]}"#, Ok((1, 3)));
        check(r#"{"minTLSVersion":"2"}"#, Err("minTLSVersion must be 1.2 or 1.3, found 2"));
        check(r#"{"minTLSVersion":2}"#, Err("minTLSVersion must be a string"));
        check("[]", Err("expected an object, found an array"));
        check("{", Err("unexpected end of JSON input"));
    }
}
