//! Inputs from HTTP(S) URLs, and the messages if they fail.

use std::io::Write;
use std::process::Command;

use super::server::{self, Identity, Server, Stream, response};
use super::{Scratch, finish};

/// The error of a run with this URL, which must fail without output.
#[track_caller]
fn error_of(command: &mut Command) -> String {
    let (exit, stdout, stderr) = finish(command);
    assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
    stderr
}

#[track_caller]
fn check_error(url: &str, want: &str) {
    assert_eq!(error_of(&mut Scratch::new().command(&["-f", url])), format!("ytterby: Error: {want}\n"));
}

/// The layout of a failed request.
fn get(url: &str, why: &str) -> String {
    format!("Requesting URL '{url}':\n  Get \"{url}\": {why}")
}

#[track_caller]
fn check_content(url: &str, want: &str) {
    assert_eq!(Scratch::new().run(&["-f", url]), (0, want.to_owned(), String::new()), "{url}");
}

#[test]
fn every_flag_for_files_accepts_urls() {
    let server = Server::answering(response("200 OK", &[], b"a:   [1,2]"));
    let url = server.url("dir/a.yml");
    check_content(&url, "a:\n- 1\n- 2\n");
    let scratch = Scratch::with(&[
        ("schema.yml", "#@data/values-schema\n---\n#@schema/type any=True\na: 0\n"),
        ("t.yml", "#@ load('@ytt:data', 'data')\nv: #@ data.values.a\n"),
    ]);
    let check = |args: &[&str], want: &str| {
        assert_eq!(scratch.run(args), (0, want.to_owned(), String::new()), "{args:?}");
    };
    check(&["fmt", "-f", &url], "a:\n  - 1\n  - 2\n");
    check(&["--files-inspect", "-f", &url], "- a.yml\n");
    check(&["--files-inspect", "-f", &format!("b/c.yml={url}")], "- b/c.yml\n");
    check(&["-f", "schema.yml", "-f", "t.yml", "--data-values-file", &url], "v:\n- 1\n- 2\n");
    check(&["-f", "schema.yml", "-f", "t.yml", "--data-value-file", &format!("a={url}")], "v: 'a:   [1,2]'\n");
    // Unused inputs are not requested.
    let before = server.requests().len();
    check(&["--files-inspect", "-f", &url], "- a.yml\n");
    assert_eq!(server.requests().len(), before);
    let head = &server.requests()[0];
    assert!(head.starts_with("GET /dir/a.yml HTTP/1.1\r\n") && head.contains("user-agent: ytterby/"), "{head}");
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}
";

const THING: &str = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: x}\n";

#[test]
fn kubernetes_schemas_come_from_urls() {
    let scratch = Scratch::with(&[("thing.yml", THING)]);
    let check = |schema: &str, want: &str| {
        let args = ["kubernetes", "validate", "--kubernetes-schema", schema, "--kubernetes", "1.36", "thing.yml"];
        let (exit, stdout, stderr) = scratch.run(&args);
        assert_eq!(exit, 1, "{schema}: {stdout}{stderr}");
        assert!(stdout.contains(want), "{schema}: {stdout}{stderr}");
        let (exit, stdout, stderr) =
            scratch.run(&["--kubernetes=1.36", "--kubernetes-schema", schema, "-f", "thing.yml"]);
        assert_eq!((exit, stdout.as_str()), (1, ""), "{schema}: {stderr}");
        assert!(stderr.contains(want), "{schema}: {stderr}");
    };
    let definition = Server::answering(response("200 OK", &[], DEFINITION.as_bytes()));
    check(&definition.url("crds.yml?ref=main"), "expected integer, found string");
    let schema =
        br#"{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}"#;
    let kinds = Server::answering(response("200 OK", &[], schema));
    check(&kinds.url("{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"), "expected integer, found string");
    assert!(kinds.requests()[0].starts_with("GET /example.com/thing_v1.json HTTP/1.1\r\n"), "{:?}", kinds.requests());
}

#[test]
fn kubernetes_schemas_that_are_not_there() {
    let scratch = Scratch::with(&[("thing.yml", THING)]);
    let missing = Server::answering(response("404 Not Found", &[], b""));
    let run = |schema: &str| {
        scratch.run(&["kubernetes", "validate", "--kubernetes-schema", schema, "--kubernetes", "1.36", "thing.yml"])
    };
    let (exit, stdout, stderr) = run(&missing.url("crds.yml"));
    assert_eq!(exit, 2, "{stdout}{stderr}");
    assert!(format!("{stdout}{stderr}").contains("404 Not Found"), "{stdout}{stderr}");
    // A kind without a schema there is one more unknown kind.
    let (exit, stdout, stderr) = run(&missing.url("{{.ResourceKind}}.json"));
    assert_eq!(exit, 0, "{stdout}{stderr}");
    assert!(stdout.contains("nothing is known about the kind Thing"), "{stdout}{stderr}");
}

#[test]
fn bodies_of_every_encoding_are_read() {
    let check = |answer: &[u8]| check_content(&Server::answering(answer).url("a.yml"), "a: 1\n");
    check(b"HTTP/1.0 200 OK\r\n\r\na: 1\n");
    check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na:\r\n3\r\n 1\n\r\n0\r\n\r\n");
    check(&response("201 Created", &[], b"a: 1\n"));
    check(&response("200 OK", &["Content-Encoding: gzip"], &gzipped(b"a: 1\n")));
    check_content(&Server::answering(response("204 No Content", &[], b"")).url("a.yml"), "");
}

#[test]
fn characters_are_escaped_and_users_are_sent() {
    let server = Server::answering(response("200 OK", &[], b"a: 1\n"));
    check_content(&server.url("ä b.yml"), "a: 1\n");
    check_content(&server.url("a.yml").replace("127", "us%40r:p%3Aw@127"), "a: 1\n");
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /%C3%A4%20b.yml HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[1].contains("authorization: Basic dXNAcjpwOnc=\r\n"), "{requests:?}");
}

#[test]
fn other_statuses_are_errors() {
    for status in ["404 Not Found", "500 Internal Server Error", "401 Unauthorized", "304 Not Modified"] {
        let url = Server::answering(response(status, &[], b"")).url("a.yml");
        check_error(&url, &format!("Requesting URL '{url}': {status}"));
    }
    let scratch = Scratch::with(&[("schema.yml", "#@data/values-schema\n---\na: 0\n")]);
    let url = Server::answering(response("404 Not Found", &[], b"")).url("v.yml");
    assert_eq!(
        error_of(&mut scratch.command(&["-f", "schema.yml", "--data-values-file", &url])),
        format!(
            "ytterby: Error: Extracting data value from file:\n  Reading file 'v.yml':\n    \
             Requesting URL '{url}': 404 Not Found\n"
        )
    );
}

#[test]
fn redirects_are_followed() {
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let server = Server::start(move |head, stream| {
            let answer = match head.split(' ').nth(1) {
                Some("/d/a.yml") => response(status, &["Location: ../e/./b.yml?x"], b""),
                Some("/e/b.yml?x") => response("200 OK", &[], b"a: 1\n"),
                _ => response("404 Not Found", &[], b""),
            };
            server::write(stream, &answer);
        });
        check_content(&server.url("d/a.yml"), "a: 1\n");
    }
    let there = Server::answering(response("200 OK", &[], b"a: 1\n"));
    let here = Server::answering(response("302 Found", &[&format!("Location: {}", there.url("x"))], b""));
    check_content(&here.url("a.yml"), "a: 1\n");
}

#[test]
fn endless_and_invalid_redirects_are_errors() {
    let redirect = |location: &str| {
        Server::answering(response("302 Found", &[&format!("Location: {location}")], b"")).url("a.yml")
    };
    let url = redirect("/a.yml");
    let loops = "Get \"/a.yml\": stopped after 10 redirects";
    check_error(&url, &format!("Requesting URL '{url}':\n  {loops}"));
    let url = redirect("ftp://host/a.yml");
    let scheme = "Get \"ftp://host/a.yml\": unsupported protocol scheme \"ftp\"";
    check_error(&url, &format!("Requesting URL '{url}':\n  {scheme}"));
    let url = redirect("http://[::1");
    check_error(
        &url,
        &get(&url, "failed to parse Location header \"http://[::1\": parse \"http://[::1\": missing ']' in host"),
    );
    for headers in [&[][..], &["Location: "]] {
        let url = Server::answering(response("302 Found", headers, b"")).url("a.yml");
        check_error(&url, &format!("Requesting URL '{url}': 302 Found"));
    }
    // Multiple Choices: no choice is made for the user.
    let url = Server::answering(response("300 Multiple Choices", &["Location: /b"], b"")).url("a.yml");
    check_error(&url, &format!("Requesting URL '{url}': 300 Multiple Choices"));
}

#[test]
fn unreachable_hosts_are_errors() {
    let address = format!("127.0.0.1:{}", server::closed_port());
    let url = format!("http://{address}/a.yml");
    check_error(&url, &get(&url, &format!("dial tcp {address}: connect: connection refused")));
    // Invalid names fail without a name server.
    let url = "http://a..b/a.yml";
    let hint = "(hint: check the name; proxies are set in HTTP_PROXY and HTTPS_PROXY)";
    check_error(url, &get(url, &format!("dial tcp: lookup a..b: no such host {hint}")));
}

#[test]
fn invalid_urls_are_errors() {
    check_error("http:///a.yml", &get("http:///a.yml", "http: no Host in request URL"));
    for (url, why) in [
        ("http://[::1/a.yml", "missing ']' in host"),
        ("http://h:x/a.yml", "invalid port \":x\" after host"),
        ("http://h h/a.yml", "invalid character \" \" in host name"),
        ("http://h/%zz/a.yml", "invalid URL escape \"%zz\""),
    ] {
        check_error(url, &format!("Requesting URL '{url}': parse \"{url}\": {why}"));
    }
    let url = "http://127.0.0.1:99999/a.yml";
    check_error(url, &get(url, "dial tcp: address 99999: invalid port"));
    let url = "http://ä.invalid/a.yml";
    let stderr = error_of(&mut Scratch::new().command(&["-f", url]));
    assert!(stderr.contains("ä.invalid, is not ASCII (hint: "), "{stderr}");
}

#[test]
fn truncated_answers_are_errors() {
    let reading = |answer: &[u8], why: &str| {
        let url = Server::answering(answer).url("a.yml");
        check_error(&url, &format!("Reading URL '{url}': {why}"));
    };
    reading(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na: 1\n", "unexpected EOF");
    reading(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na: 1\n\r\n", "unexpected EOF");
    let packed = gzipped(b"a: 1\n");
    let answer = response("200 OK", &["Content-Encoding: gzip"], &packed[..packed.len() - 4]);
    reading(&answer, "unexpected EOF");
    let url = Server::start(|_, _| {}).url("a.yml");
    check_error(&url, &format!("{}\n    EOF", get(&url, "").trim_end()));
    let url = Server::answering("SSH-2.0-server\r\n\r\n").url("a.yml");
    let stderr = error_of(&mut Scratch::new().command(&["-f", &url]));
    assert!(stderr.contains("transport connection broken: "), "{stderr}");
}

#[test]
fn slow_servers_time_out() {
    let check = |server: Server, start: &str, what: &str| {
        let url = server.url("a.yml");
        let stderr = error_of(Scratch::new().command(&["-f", &url]).env("YTTERBY_HTTP_TIMEOUT", "0.25"));
        assert!(stderr.starts_with(&format!("ytterby: Error: {start} URL '{url}':")), "{stderr}");
        let hint = "within 0.25 seconds (hint: set YTTERBY_HTTP_TIMEOUT to more seconds)";
        assert!(stderr.ends_with(&format!("{what} {hint}\n")), "{stderr}");
    };
    let silent = |_: &str, stream: &mut dyn Stream| server::wait_for_the_end(stream);
    check(Server::start(silent), "Requesting", "no answer");
    let stalls = |_: &str, stream: &mut dyn Stream| {
        server::write(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na: 1\n");
        server::wait_for_the_end(stream);
    };
    check(Server::start(stalls), "Reading", "not complete");
    // Redirects share the time limit: each of them alone would be fast enough.
    let circles = |_: &str, stream: &mut dyn Stream| {
        std::thread::sleep(std::time::Duration::from_millis(60));
        server::write(stream, &response("302 Found", &["Location: /a.yml"], b""));
    };
    check(Server::start(circles), "Requesting", "no answer");
}

#[test]
fn bodies_are_limited() {
    let check = |server: Server| {
        let url = server.url("a.yml");
        let want = "more than 1 MiB (hint: set YTTERBY_HTTP_MAX_SIZE to as many MiB as it has, or give a file)";
        assert_eq!(
            error_of(Scratch::new().command(&["-f", &url]).env("YTTERBY_HTTP_MAX_SIZE", "1")),
            format!("ytterby: Error: Reading URL '{url}': {want}\n")
        );
    };
    check(Server::start(|_, stream| {
        server::write(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'#'; 65536]).is_ok() {}
    }));
    // Below the limit when compressed, above it when decompressed.
    check(Server::answering(response("200 OK", &["Content-Encoding: gzip"], &gzipped(&vec![b'#'; (1 << 20) + 1]))));
    let fits = [&vec![b'#'; (1 << 20) - 6][..], b"\na: 1\n"].concat();
    let url = Server::answering(response("200 OK", &["Content-Encoding: gzip"], &gzipped(&fits))).url("a.yml");
    let scratch = Scratch::new();
    let mut command = scratch.command(&["-f", &url, "--ignore-unknown-comments"]);
    assert_eq!(finish(command.env("YTTERBY_HTTP_MAX_SIZE", "1")), (0, "a: 1\n".into(), String::new()));
    let stderr = error_of(Scratch::new().command(&["-f", &url]).env("YTTERBY_HTTP_MAX_SIZE", "lots"));
    assert!(stderr.contains("Expected YTTERBY_HTTP_MAX_SIZE to be a number of MiB, found 'lots'"), "{stderr}");
}

#[test]
fn plain_http_goes_through_a_proxy() {
    let proxy = Server::answering(response("200 OK", &[], b"a: proxied\n"));
    let scratch = Scratch::new();
    let address = format!("http://us%40r:pass@127.0.0.1:{}", proxy.port());
    let url = "http://config.invalid:8080/a.yml?q";
    let mut command = scratch.command(&["-f", &format!("a.yml={url}")]);
    let want = (0, "a: proxied\n".to_owned(), String::new());
    assert_eq!(finish(command.env("HTTP_PROXY", &address)), want);
    let [head] = &proxy.requests()[..] else { panic!("{:?}", proxy.requests()) };
    assert!(head.starts_with(&format!("GET {url} HTTP/1.1\r\n")), "{head}");
    assert!(head.contains("\r\nhost: config.invalid:8080\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: Basic dXNAcjpwYXNz\r\n"), "{head}");
    // The proxy's host name alone is enough, also in lower case.
    let mut command = scratch.command(&["-f", "http://config.invalid/a.yml"]);
    assert_eq!(finish(command.env("http_proxy", format!("127.0.0.1:{}", proxy.port()))), want);
    assert!(proxy.requests()[1].starts_with("GET http://config.invalid/a.yml HTTP/1.1\r\n"));
}

#[test]
fn some_hosts_need_no_proxy() {
    let proxy = Server::answering(response("200 OK", &[], b"a: proxied\n"));
    let server = Server::answering(response("200 OK", &[], b"a: direct\n"));
    let address = format!("http://127.0.0.1:{}", proxy.port());
    let scratch = Scratch::new();
    let mut command = scratch.command(&["-f", &server.url("a.yml")]);
    assert_eq!(finish(command.env("HTTP_PROXY", &address)).1, "a: direct\n");
    // The failed lookup of an invalid name shows that there was a direct request.
    let mut command = scratch.command(&["-f", "http://c.a..b/a.yml"]);
    let stderr = error_of(command.env("HTTP_PROXY", &address).env("NO_PROXY", "x, a..b"));
    assert!(stderr.contains("lookup c.a..b: no such host"), "{stderr}");
    // The proxy of the other scheme is not used.
    let mut command = scratch.command(&["-f", "http://a..b/a.yml"]);
    let stderr = error_of(command.env("HTTPS_PROXY", &address));
    assert!(stderr.contains("lookup a..b: no such host"), "{stderr}");
    assert!(proxy.requests().is_empty());
}

#[test]
fn broken_proxies_are_named() {
    let scratch = Scratch::new();
    let check = |url: &str, variable: &str, value: &str, want: &str| {
        let stderr = error_of(scratch.command(&["-f", url]).env(variable, value));
        assert!(stderr.contains(want) && stderr.contains("(hint: ") && stderr.contains(variable), "{stderr}");
    };
    let closed = format!("127.0.0.1:{}", server::closed_port());
    let refused = format!("proxyconnect tcp: dial tcp {closed}: connect: connection refused (hint: ");
    check("http://h/a.yml", "HTTP_PROXY", &closed, &refused);
    check("https://h/a.yml", "HTTPS_PROXY", &closed, &refused);
    check("http://h/a.yml", "HTTP_PROXY", "http://a..b:1", "lookup a..b: no such host (hint: ");
    check("http://h/a.yml", "HTTP_PROXY", "gopher://x", "invalid proxy address \"gopher://x\" in HTTP_PROXY");
    let refusing = Server::answering(response("407 Proxy Authentication Required", &[], b""));
    let address = format!("127.0.0.1:{}", refusing.port());
    check("https://h/a.yml", "HTTPS_PROXY", &address, "proxy server responded 407");
    let dead = Server::start(|_, _| {});
    check("http://h/a.yml", "HTTP_PROXY", &format!("127.0.0.1:{}", dead.port()), "EOF (hint: ");
}

#[test]
fn each_redirect_chooses_its_proxy() {
    let there = Server::answering(response("200 OK", &[], b"a: direct\n"));
    let location = format!("Location: {}", there.url("b.yml"));
    let proxy = Server::answering(response("302 Found", &[&location], b""));
    let scratch = Scratch::new();
    let mut command = scratch.command(&["-f", "http://config.invalid/a.yml"]);
    let got = finish(command.env("HTTP_PROXY", format!("127.0.0.1:{}", proxy.port())));
    assert_eq!(got, (0, "a: direct\n".into(), String::new()));
    assert!(there.requests()[0].starts_with("GET /b.yml HTTP/1.1\r\n"), "{:?}", there.requests());
}

#[test]
fn socks_proxies_get_the_name_of_the_host() {
    let proxy = Server::start_raw(|stream| {
        // Version 5, one method: no password. Then: connect to a name.
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).unwrap();
        server::write(stream, &[5, 0]);
        let mut request = [0; 5 + "config.invalid".len() + 2];
        stream.read_exact(&mut request).unwrap();
        assert_eq!((greeting, &request[..5]), ([5, 1, 0], &[5, 1, 0, 3, 14][..]));
        assert_eq!(&request[5..19], b"config.invalid");
        server::write(stream, &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert!(server::read_head(stream).starts_with("GET /a.yml HTTP/1.1\r\n"));
        server::write(stream, &response("200 OK", &[], b"a: 1\n"));
    });
    let scratch = Scratch::new();
    let mut command = scratch.command(&["-f", "http://config.invalid/a.yml"]);
    let got = finish(command.env("HTTP_PROXY", format!("socks5://127.0.0.1:{}", proxy.port())));
    assert_eq!(got, (0, "a: 1\n".into(), String::new()));
}

#[test]
fn trusted_certificates_are_accepted() {
    let scratch = Scratch::new();
    let identity = Identity::of("localhost");
    scratch.write("authority.pem", &identity.authority);
    let server = Server::start_tls(&identity, |_, stream| server::write(stream, &response("200 OK", &[], b"a: 1\n")));
    let url = format!("https://localhost:{}/a.yml", server.port());
    let mut command = scratch.command(&["-f", &url]);
    assert_eq!(finish(command.env("SSL_CERT_FILE", "authority.pem")), (0, "a: 1\n".into(), String::new()));

    // From plain HTTP to TLS.
    let here = Server::answering(response("302 Found", &[&format!("Location: {url}")], b""));
    let mut command = scratch.command(&["-f", &here.url("a.yml")]);
    assert_eq!(finish(command.env("SSL_CERT_FILE", "authority.pem")), (0, "a: 1\n".into(), String::new()));
}

#[test]
fn tls_through_a_proxy_is_a_tunnel() {
    let scratch = Scratch::new();
    let identity = Identity::of("config.invalid");
    scratch.write("authority.pem", &identity.authority);
    let config = identity.config.clone();
    let proxy = Server::start(move |_, stream| {
        server::write(stream, b"HTTP/1.1 200 Connection established\r\n\r\n");
        let mut inner = server::secured(stream, config.clone());
        let head = server::read_head(&mut inner);
        server::write(&mut inner, &response("200 OK", &[], format!("a: {:?}\n", &head[..13]).as_bytes()));
    });
    let mut command = scratch.command(&["-f", "https://config.invalid/a.yml"]);
    command.env("SSL_CERT_FILE", "authority.pem").env("HTTPS_PROXY", format!("http://127.0.0.1:{}", proxy.port()));
    assert_eq!(finish(&mut command), (0, "a: GET /a.yml HT\n".into(), String::new()));
    assert!(proxy.requests()[0].starts_with("CONNECT config.invalid:443 HTTP/1.1\r\n"), "{:?}", proxy.requests());
}

#[test]
fn untrusted_certificates_are_rejected() {
    let scratch = Scratch::new();
    let check = |identity: Identity, trusted: bool, want: &str| {
        scratch.write("authority.pem", if trusted { &identity.authority } else { "" });
        let server = Server::start_tls(&identity, |_, _| panic!("got a request"));
        let url = format!("https://localhost:{}/a.yml", server.port());
        let stderr = error_of(scratch.command(&["-f", &url]).env("SSL_CERT_FILE", "authority.pem"));
        assert!(stderr.starts_with(&format!("ytterby: Error: Requesting URL '{url}':")), "{stderr}");
        assert!(stderr.contains(want) && stderr.contains("(hint: "), "{stderr}");
    };
    check(Identity::of("localhost"), false, "x509: certificate signed by unknown authority (hint: add ");
    check(Identity::of("other.invalid"), true, "certificate not valid for name \"localhost\"");
    let why = "x509: certificate is one of an authority, not of a server (hint: make ";
    check(Identity::of_authority("localhost"), true, why);
    let server = Server::start_raw(|stream| {
        server::write(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        server::wait_for_the_end(stream);
    });
    let url = server.url("a.yml").replace("http:", "https:");
    let why = "http: server gave HTTP response to HTTPS client (hint: try http:// instead)";
    check_error(&url, &get(&url, why));
}

fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
