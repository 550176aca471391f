//! Finds the API server: from a kubeconfig, or from a pod's service account.
//!
//! The order is the reference's: the flag, `KUBECONFIG`, the pod's service account,
//! `~/.kube/config`.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use ytterby_diag::{Source, Sources};
use ytterby_yaml::{ReadOptions, parse};

use crate::objects;
use crate::value::Value;

/// Looks up the addresses of a host.
pub type HostLookup = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// The directory of a pod's service account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// An API server and the credentials for it.
#[derive(Clone)]
pub struct Connection {
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as in the URL.
    pub(super) authority: String,
    /// The prefix of all paths.
    pub(super) prefix: String,
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    auth: Auth,
    pub(super) resolver: HostLookup,
}

#[derive(Clone)]
enum Auth {
    None,
    Token(String),
    /// Read again for every request, because tokens of pods are replaced.
    TokenFile(PathBuf),
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.authority)
    }
}

impl Connection {
    /// The bearer token, if any.
    pub(super) fn token(&self) -> Result<Option<String>, String> {
        match &self.auth {
            Auth::None => Ok(None),
            Auth::Token(token) => Ok(Some(token.clone())),
            Auth::TokenFile(path) => match std::fs::read_to_string(path) {
                Ok(token) => Ok(Some(token.trim().to_owned())),
                Err(error) => Err(format!("{}: {error}", path.display())),
            },
        }
    }

    fn new(server: &str, resolver: HostLookup) -> Result<(Connection, bool), String> {
        let wrong = || format!("the server must be a URL with http or https, found {server}");
        let (scheme, rest) = server.split_once("://").ok_or_else(wrong)?;
        let (authority, prefix) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong()),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (authority, if is_tls { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || authority.contains('@') {
            return Err(wrong());
        }
        let prefix = prefix.trim_end_matches('/');
        let connection = Connection {
            host: host.to_owned(),
            port,
            authority: authority.to_owned(),
            prefix: if prefix.is_empty() { String::new() } else { format!("/{prefix}") },
            tls: None,
            auth: Auth::None,
            resolver,
        };
        Ok((connection, is_tls))
    }
}

/// Finds a cluster; `None` if there is none.
pub fn find(
    flag: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<OsString>,
    resolver: HostLookup,
) -> Result<Option<Connection>, String> {
    if let Some(path) = flag {
        return kubeconfig(&[path.to_owned()], resolver).map(Some);
    }
    if let Some(paths) = variable("KUBECONFIG").filter(|paths| !paths.is_empty()) {
        // Like kubectl, skip files that do not exist.
        let mut paths: Vec<PathBuf> =
            std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect();
        if paths.iter().any(|path| path.exists()) {
            paths.retain(|path| path.exists());
        }
        return kubeconfig(&paths, resolver).map(Some);
    }
    let text = |name: &str| variable(name).and_then(|value| value.into_string().ok()).filter(|text| !text.is_empty());
    if let (Some(host), Some(port)) = (text("KUBERNETES_SERVICE_HOST"), text("KUBERNETES_SERVICE_PORT"))
        && Path::new(ACCOUNT).join("token").exists()
    {
        return in_cluster(&host, &port, Path::new(ACCOUNT), resolver).map(Some);
    }
    let home = variable("HOME").map(|home| Path::new(&home).join(".kube/config"));
    match home.filter(|path| path.is_file()) {
        Some(path) => kubeconfig(&[path], resolver).map(Some),
        None => Ok(None),
    }
}

fn in_cluster(host: &str, port: &str, account: &Path, resolver: HostLookup) -> Result<Connection, String> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let (mut connection, _) = Connection::new(&format!("https://{host}:{port}"), resolver)?;
    let path = account.join("ca.crt");
    let authority = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    connection.tls = Some(tls(&connection.host, Some(&authority), None)?);
    connection.auth = Auth::TokenFile(account.join("token"));
    Ok(connection)
}

/// A TLS configuration that trusts an authority, or those of the system, with a client certificate
/// if any.
fn tls(
    name: &str,
    authority: Option<&[u8]>,
    own: Option<(&[u8], &[u8])>,
) -> Result<(Arc<ClientConfig>, ServerName<'static>), String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match authority {
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(pem, "the certificate authority")? {
                roots.add(certificate).map_err(|error| format!("the certificate authority: {error}"))?;
            }
            builder.with_root_certificates(roots)
        }
        None => builder.with_platform_verifier().map_err(|error| error.to_string())?,
    };
    let config = match own {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let chain = certificates(chain, "the client certificate")?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "the client key cannot be read".to_owned())?;
            builder.with_client_auth_cert(chain, key).map_err(|error| format!("the client certificate: {error}"))?
        }
    };
    let name = ServerName::try_from(name.to_owned()).map_err(|_| format!("{name} is no name of a host"))?;
    Ok((Arc::new(config), name))
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(format!("{what}: there is no certificate in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("{what}: {error:?}")),
    }
}

/// A kubeconfig, with the directory that its paths are relative to.
struct KubeconfigFile {
    root: Value,
    directory: PathBuf,
}

/// Reads kubeconfigs; of duplicate names the first one counts.
fn kubeconfig(paths: &[PathBuf], resolver: HostLookup) -> Result<Connection, String> {
    let files: Vec<KubeconfigFile> = paths.iter().map(|path| KubeconfigFile::read(path)).collect::<Result<_, _>>()?;
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    of_files(&files, resolver).map_err(|problem| format!("{}: {problem}", shown.join(", ")))
}

fn of_files(files: &[KubeconfigFile], resolver: HostLookup) -> Result<Connection, String> {
    let current =
        files.iter().find_map(|file| file.root.at(&["current-context"])?.as_str()).filter(|name| !name.is_empty());
    let name = current.ok_or("it has no current-context")?;
    let (_, context) = named(files, "contexts", "context", name)?;
    let part = |key: &str| context.at(&[key]).and_then(Value::as_str).unwrap_or_default();
    let (file, cluster) = named(files, "clusters", "cluster", part("cluster"))?;
    let server = cluster.at(&["server"]).and_then(Value::as_str).ok_or("the cluster has no server")?;
    let (mut connection, is_tls) = Connection::new(server, resolver)?;
    if cluster.at(&["insecure-skip-tls-verify"]) == Some(&Value::Bool(true)) {
        return Err("insecure-skip-tls-verify is not supported; give a certificate-authority".to_owned());
    }
    if cluster.at(&["proxy-url"]).is_some() {
        return Err("proxy-url is not supported".to_owned());
    }
    let authority = data(file, cluster, "certificate-authority")?;
    let nobody = (&files[0], &Value::Null);
    let (file, user) = if part("user").is_empty() { nobody } else { named(files, "users", "user", part("user"))? };
    for key in ["exec", "auth-provider", "username", "impersonate", "as"] {
        if user.at(&[key]).is_some() {
            return Err(format!("a user with {key} is not supported; give a token or a client certificate"));
        }
    }
    let certificate = data(file, user, "client-certificate")?;
    let key = data(file, user, "client-key")?;
    let own = match (&certificate, &key) {
        (Some(certificate), Some(key)) => Some((&certificate[..], &key[..])),
        (None, None) => None,
        _ => return Err("client-certificate and client-key belong together".to_owned()),
    };
    if is_tls {
        let name = cluster.at(&["tls-server-name"]).and_then(Value::as_str).unwrap_or(&connection.host);
        connection.tls = Some(tls(name, authority.as_deref(), own)?);
    }
    connection.auth = match (user.at(&["tokenFile"]), user.at(&["token"])) {
        (Some(path), _) => Auth::TokenFile(file.directory.join(path.as_str().unwrap_or_default())),
        (None, Some(token)) => Auth::Token(token.as_str().ok_or("the token must be a string")?.to_owned()),
        (None, None) => Auth::None,
    };
    Ok(connection)
}

/// The object with this name in one of the lists.
fn named<'a>(
    files: &'a [KubeconfigFile],
    list: &str,
    key: &str,
    name: &str,
) -> Result<(&'a KubeconfigFile, &'a Value), String> {
    let found = files.iter().find_map(|file| {
        let items = file.root.at(&[list])?.as_array()?;
        let item = items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(name))?;
        Some((file, item.at(&[key])?))
    });
    found.ok_or_else(|| format!("there is no {key} named {name:?}"))
}

/// The value of `KEY-data`, or the content of the file in `KEY`.
fn data(file: &KubeconfigFile, object: &Value, key: &str) -> Result<Option<Vec<u8>>, String> {
    if let Some(text) = object.at(&[&format!("{key}-data")]).and_then(Value::as_str).filter(|text| !text.is_empty()) {
        // The error message must not contain any part of a key.
        return STANDARD.decode(text.trim()).map(Some).map_err(|_| format!("{key}-data is not base64"));
    }
    let Some(path) = object.at(&[key]).and_then(Value::as_str).filter(|path| !path.is_empty()) else { return Ok(None) };
    let path = file.directory.join(path);
    std::fs::read(&path).map(Some).map_err(|error| format!("{}: {error}", path.display()))
}

impl KubeconfigFile {
    fn read(path: &Path) -> Result<KubeconfigFile, String> {
        let fail = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read(path).map_err(|error| fail(&error))?;
        let sources = Sources::new();
        let id = sources.add(Source::new(path.display().to_string(), text.clone()));
        let options = ReadOptions { comments: false, ..ReadOptions::default() };
        let tree = parse(&text, id, &options).map_err(|error| fail(&error.reference()))?;
        let document = tree.documents().iter().next().map(|document| document.value);
        let root = match document {
            Some(node) => objects::value(&tree, node).map_err(|error| fail(&error))?,
            None => Value::Null,
        };
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(KubeconfigFile { root, directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(_: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(Vec::new())
    }

    /// A new directory with these files, deleted at the end.
    struct TemporaryFiles(PathBuf);

    impl TemporaryFiles {
        fn new(files: &[(&str, &str)]) -> TemporaryFiles {
            static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let directory = std::env::temp_dir().join(format!("ytterby-config-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            for (name, content) in files {
                std::fs::write(directory.join(name), content).unwrap();
            }
            TemporaryFiles(directory)
        }
    }

    impl Drop for TemporaryFiles {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn config(cluster: &str, user: &str) -> String {
        format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n"
        )
    }

    fn check(text: &str, expect: Result<(&str, &str, u16, &str), &str>) {
        let files = TemporaryFiles::new(&[("config", text)]);
        let path = files.0.join("config");
        let got = kubeconfig(std::slice::from_ref(&path), resolver);
        let got = got.map(|c| (c.host.clone(), c.prefix.clone(), c.port, c.token().unwrap().unwrap_or_default()));
        let shown = got.map_err(|error| error.replace(&path.display().to_string(), "config"));
        let expect = expect.map(|(host, prefix, port, token)| (host.into(), prefix.into(), port, token.into()));
        assert_eq!(shown, expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn kubeconfigs_are_read() {
        let server = |server: &str| format!("{{server: '{server}'}}");
        check(&config(&server("http://127.0.0.1:8001"), "{token: t}"), Ok(("127.0.0.1", "", 8001, "t")));
        check(&config(&server("http://[::1]:80/a/"), "{}"), Ok(("::1", "/a", 80, "")));
        check(&config(&server("http://host"), "{}"), Ok(("host", "", 80, "")));
        check(
            &config(&server("ftp://host"), "{}"),
            Err("config: the server must be a URL with http or https, found ftp://host"),
        );
        check(
            &config(&server("http://host"), "{exec: {command: x}}"),
            Err("config: a user with exec is not supported; give a token or a client certificate"),
        );
        check(
            &config("{server: 'https://host', insecure-skip-tls-verify: true}", "{}"),
            Err("config: insecure-skip-tls-verify is not supported; give a certificate-authority"),
        );
        check(&config(&server("http://host"), "{client-key-data: '!'}"), Err("config: client-key-data is not base64"));
        check(
            &config(&server("http://host"), "{client-key-data: AAAA}"),
            Err("config: client-certificate and client-key belong together"),
        );
        check("{}", Err("config: it has no current-context"));
        check("current-context: x", Err("config: there is no context named \"x\""));
    }

    #[test]
    fn certificates_come_from_files_and_texts() {
        let made = rcgen::generate_simple_self_signed(["host".to_owned()]).unwrap();
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let user = format!("{{client-certificate-data: {}, client-key: key.pem}}", STANDARD.encode(&certificate));
        let text =
            config("{server: 'https://10.0.0.1:6443', certificate-authority: ca.pem, tls-server-name: host}", &user);
        let files = TemporaryFiles::new(&[("config", &text), ("ca.pem", &certificate), ("key.pem", &key)]);
        let connection = kubeconfig(&[files.0.join("config")], resolver).unwrap();
        let (tls, name) = connection.tls.unwrap();
        assert_eq!((name.to_str().as_ref(), tls.client_auth_cert_resolver.has_certs()), ("host", true));

        let account = TemporaryFiles::new(&[("ca.crt", &certificate), ("token", "one\n")]);
        let connection = in_cluster("fd00::1", "443", &account.0, resolver).unwrap();
        assert_eq!((connection.host.as_str(), connection.authority.as_str()), ("fd00::1", "[fd00::1]:443"));
        assert_eq!(connection.token().unwrap().as_deref(), Some("one"));
        std::fs::write(account.0.join("token"), "two").unwrap();
        assert_eq!(connection.token().unwrap().as_deref(), Some("two"));
    }

    #[test]
    fn configurations_are_tried_in_order() {
        let text = |host: &str| config(&format!("{{server: 'http://{host}'}}"), "{}");
        let files = TemporaryFiles::new(&[("a", &text("a")), ("b", &text("b"))]);
        std::fs::create_dir(files.0.join(".kube")).unwrap();
        std::fs::write(files.0.join(".kube/config"), text("home")).unwrap();
        let path = |name: &str| files.0.join(name);
        let found = |flag: Option<&str>, kubeconfig: &[&str], home: bool| {
            let joined = std::env::join_paths(kubeconfig.iter().map(|name| path(name))).unwrap();
            let variable = |name: &str| match name {
                "KUBECONFIG" => Some(joined.clone()),
                "HOME" if home => Some(files.0.clone().into_os_string()),
                _ => None,
            };
            let found = find(flag.map(path).as_deref(), &variable, resolver);
            found.map(|connection| connection.map_or("none".to_owned(), |connection| connection.host))
        };
        assert_eq!(found(Some("a"), &["b"], true).unwrap(), "a");
        assert_eq!(found(None, &["missing", "b", "a"], true).unwrap(), "b");
        assert_eq!(found(None, &[], true).unwrap(), "home");
        assert_eq!(found(None, &[], false).unwrap(), "none");
        assert!(found(None, &["missing"], true).unwrap_err().contains("missing"));
    }
}
