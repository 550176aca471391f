//! Starts a real API server and its store, for tests that compare verdicts with it.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that ends with the test.
pub struct Process(Child);

impl Process {
    fn start(program: &str, log: &Path, args: &[String]) -> Process {
        let log = std::fs::File::create(log).unwrap();
        let child = Command::new(program).args(args).stdout(Stdio::null()).stderr(log).spawn();
        Process(child.unwrap_or_else(|error| panic!("{program}: {error}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The binaries given by `KUBE_APISERVER` and `ETCD`, if any.
pub fn binaries() -> Option<[String; 2]> {
    let names =
        ["KUBE_APISERVER", "ETCD"].map(|name| std::env::var(name).ok().filter(|path| Path::new(path).is_file()));
    let [Some(apiserver), Some(etcd)] = names else {
        eprintln!("SKIPPED: KUBE_APISERVER and ETCD name no binaries");
        return None;
    };
    Some([apiserver, etcd])
}

/// Starts both with their files below `scratch`. The `token` has all permissions; `identity`
/// contains the flags for certificates and keys. The server is not ready yet when this returns.
pub fn start(
    [apiserver, etcd]: &[String; 2],
    scratch: &Path,
    token: &str,
    identity: &[String],
) -> (SocketAddr, [Process; 2]) {
    let [store, peers, address] = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let path = |name: &str| scratch.join(name).display().to_string();
    let store_process = Process::start(
        etcd,
        &scratch.join("etcd.log"),
        &[
            format!("--data-dir={}", path("etcd")),
            format!("--listen-client-urls=http://{store}"),
            format!("--advertise-client-urls=http://{store}"),
            format!("--listen-peer-urls=http://{peers}"),
            format!("--initial-advertise-peer-urls=http://{peers}"),
            format!("--initial-cluster=default=http://{peers}"),
        ],
    );
    std::fs::write(scratch.join("tokens.csv"), format!("{token},admin,1,system:masters\n")).unwrap();
    let mut args = vec![
        format!("--etcd-servers=http://{store}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", address.port()),
        "--service-account-issuer=https://localhost".to_owned(),
        format!("--token-auth-file={}", path("tokens.csv")),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ];
    args.extend_from_slice(identity);
    let server = Process::start(apiserver, &scratch.join("apiserver.log"), &args);
    (address, [server, store_process])
}
