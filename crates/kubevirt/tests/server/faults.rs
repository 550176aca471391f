//! Any bytes get an answer, and the next client is served.

use ytterby_kubevirt::value::Value;

use super::client::{Client, Response};
use super::serve;
use super::verdicts::{TEMPLATES, VMS, create, review, rules, vm};

/// The code in the review, and its message.
fn told(response: &Response) -> (i128, String) {
    let review = response.review();
    assert_eq!(review.get("allowed"), Some(&Value::Bool(false)), "{review}");
    let Some(Value::Int(code)) = review.at(&["status", "code"]) else { panic!("{review}") };
    (*code, review.at(&["status", "message"]).and_then(Value::as_str).unwrap().to_owned())
}

#[test]
fn invalid_reviews_are_answered_with_a_reason() {
    let (server, _) = serve(|_| {});
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let deep_vm = create(&format!("{{\"a\":{deep}}}"));
    for (body, expect) in [
        ("", "the body is not JSON: unexpected end of JSON input"),
        ("{", "the body is not JSON: unexpected end of JSON input"),
        ("null", "the review has no request"),
        ("[]", "the review has no request"),
        ("\"text\"", "the review has no request"),
        ("{}", "the review has no request"),
        (r#"{"request":null}"#, "the review has no request"),
        (r#"{"request":[]}"#, "the request of the review must be an object, found an array"),
        (r#"{"kind":"Pod","request":{}}"#, "expected an AdmissionReview, found the kind Pod"),
        (r#"{"apiVersion":"v2","request":{}}"#, "expected admission.k8s.io/v1, found v2"),
        (&deep, "the body is not JSON: invalid character '[' exceeded max depth"),
        (&deep_vm, "the body is not JSON: invalid character '[' exceeded max depth"),
    ] {
        for path in [VMS, TEMPLATES] {
            let response = Client::plain(server.webhook).post(path, body);
            assert_eq!(response.status, 400, "{body}");
            assert_eq!(told(&response), (400, expect.to_owned()), "{body}");
        }
    }
    let response = Client::plain(server.webhook).post(VMS, b"{\"request\":{\"uid\":\"\xff\"}}");
    assert_eq!(
        (response.status, told(&response).1.as_str()),
        (400, "the body is not UTF-8: a wrong byte at offset 19")
    );
}

#[test]
fn a_request_for_something_else_is_answered_by_its_uid() {
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let fine = create(&vm(2, Some(&rules(2))));
    for (body, expect) in [
        (fine.replace("virtualmachines", "pods"), "expect resource {kubevirt.io v1 pods} to be 'virtualmachines'"),
        (fine.replace("\"resource\":{", "\"other\":{"), "expect resource {  } to be 'virtualmachines'"),
        (create("null"), "the request has no object"),
        (create("[]"), "the object of the request must be an object, found an array"),
        (create("\"vm\""), "the object of the request must be an object, found a string"),
        (create(r#"{"kind":"Pod"}"#), "expected a VirtualMachine, found the kind Pod"),
    ] {
        let response = client.post(VMS, &body);
        assert_eq!(response.status, 200, "{body}");
        assert_eq!(told(&response), (400, expect.to_owned()), "{body}");
        assert_eq!(response.review().get("uid").and_then(Value::as_str), Some("u-1"));
    }
    let response = client.post(
        VMS,
        create(&format!(
            r#"{{"metadata":{{"annotations":{{"vm.kubevirt.io/validations":{}}}}}}}"#,
            ytterby_kubevirt::value::quoted(&rules(2))
        )),
    );
    assert_eq!(told(&response), (422, "the VM has no spec.template, so no rule can be evaluated".to_owned()));
    let response = client.post(TEMPLATES, review("DELETE", "null", "7").replace("virtualmachines", "templates"));
    assert_eq!(told(&response), (400, "the oldObject of the request must be an object, found a number".to_owned()));
}

#[test]
fn compatibility_mode_has_the_messages_of_go() {
    let (server, _) = serve(|config| config.policy.compat = true);
    let mut client = Client::plain(server.webhook);
    for (body, expect) in [
        (create("null"), "unexpected end of JSON input"),
        (create("[]"), "json: cannot unmarshal array into Go value of type v1.VirtualMachine"),
        (
            create(r#"{"kind":"Pod"}"#).replace("virtualmachines", "x"),
            "expect resource {kubevirt.io v1 x} to be 'virtualmachines'",
        ),
    ] {
        assert_eq!(told(&client.post(VMS, &body)), (400, expect.to_owned()), "{body}");
    }
    // There are no warnings; the warning is among the causes.
    let response = client.post(VMS, create(&vm(1, Some(&rules(2))))).review();
    assert_eq!(response.get("warnings"), None);
    let message = response.at(&["status", "message"]).and_then(Value::as_str).unwrap();
    assert_eq!(message, "too few cores: value 1 is lower than minimum [2], old machine: Some of [pc] are not in [q35]");
    // Like in Go, invalid UTF-8 is replaced.
    let body = create(&vm(2, Some(&rules(2)))).into_bytes();
    let body = [&body[..body.len() - 2], b",\"x\":\"\xff\"}}"].concat();
    assert_eq!(client.post(VMS, body).status, 200);
}

#[test]
fn requests_without_a_review_are_refused_by_their_head() {
    let (server, _) = serve(|_| {});
    let body = create(&vm(2, Some(&rules(2))));
    for (kind, expect) in [
        ("text/plain", 400),
        ("application/jsonx", 400),
        ("", 400),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
    ] {
        let response = Client::plain(server.webhook).post_as(VMS, kind, &body);
        assert_eq!(response.status, expect, "{kind}");
    }
    let response = Client::plain(server.webhook).post_as(VMS, "text/plain", &body);
    assert_eq!(told(&response), (400, "contentType=text/plain, expect application/json".to_owned()));
    let response = Client::plain(server.webhook).get(VMS);
    assert_eq!((response.status, told(&response).1.as_str()), (405, "reviews come with POST, found GET"));
    assert!(response.head.to_ascii_lowercase().contains("allow: post\r\n"), "{}", response.head);
    let response = Client::plain(server.webhook).post("/readyz", "");
    assert_eq!(response.status, 405);
    assert_eq!(Client::plain(server.webhook).get("/").status, 404);
    assert_eq!(Client::plain(server.webhook).get("/metrics").status, 404);
    assert_eq!(Client::plain(server.metrics).get(VMS).status, 404);
    // Not HTTP.
    let mut client = Client::plain(server.webhook);
    client.send("\x16\x03\x01 hello\r\n\r\n").unwrap();
    assert_eq!(client.receive().unwrap().status, 400);
    let mut client = Client::plain(server.webhook);
    client.send(format!("GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000))).unwrap();
    assert_eq!(client.receive().unwrap().status, 431);
}

#[test]
fn large_reviews_are_refused_before_they_use_memory() {
    let (server, _) = serve(|config| config.limits.body = 64 << 10);
    let fine = create(&vm(2, Some(&rules(2))));
    let padded = |size: usize| format!("{fine}{}", " ".repeat(size - fine.len()));
    assert_eq!(Client::plain(server.webhook).post(VMS, padded(64 << 10)).status, 200);
    let response = Client::plain(server.webhook).post(VMS, padded((64 << 10) + 1));
    assert_eq!((response.status, told(&response)), (413, (413, "the review is larger than 65536 bytes".to_owned())));
    // Without a length.
    let mut client = Client::plain(server.webhook);
    client
        .send(format!(
            "POST {VMS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        ))
        .unwrap();
    let chunk = " ".repeat(50_000);
    for _ in 0..2 {
        client.send(format!("{:x}\r\n{chunk}\r\n", chunk.len())).unwrap();
    }
    client.send("0\r\n\r\n").unwrap();
    assert_eq!(client.receive().unwrap().status, 413);
    assert!(client.is_closed());
}

#[test]
fn half_closed_and_pipelined_requests_are_answered() {
    let (server, _) = serve(|_| {});
    let body = create(&vm(1, Some(&rules(2))));
    let length = body.len();
    let request = format!(
        "POST {VMS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let mut client = Client::plain(server.webhook);
    client.send(&request).unwrap();
    client.finish();
    assert_eq!(told(&client.receive().unwrap()).0, 422);
    assert!(client.is_closed());
    // Two pipelined requests are answered in order.
    let mut client = Client::plain(server.webhook);
    client.send(format!("{request}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).unwrap();
    assert_eq!(told(&client.receive().unwrap()).0, 422);
    assert_eq!(client.receive().unwrap().text(), "ok");
    // A request that ends early may get an answer or none, and does not affect others.
    let mut client = Client::plain(server.webhook);
    client.send(&request[..request.len() / 2]).unwrap();
    client.finish();
    let _ = client.receive();
    assert_eq!(Client::plain(server.webhook).get("/healthz").text(), "ok");
}

#[test]
fn reviews_share_memory() {
    let (server, _) = serve(|config| {
        config.limits.memory = 2000;
        config.limits.request = std::time::Duration::from_secs(1);
    });
    let small = create(&vm(2, Some(&rules(2))));
    let body = format!("{small}{}", " ".repeat(70_000));
    let response = Client::plain(server.webhook).post(VMS, &body);
    assert_eq!((response.status, told(&response).1.as_str()), (503, "there are too many reviews at once"));
    assert_eq!(Client::plain(server.webhook).post(VMS, &small).status, 200);
}

#[test]
fn a_review_with_too_many_values_is_refused() {
    let (server, _) = serve(|_| {});
    let many = create(&format!(r#"{{"spec":[{}0]}}"#, "0,".repeat(300_000)));
    let response = Client::plain(server.webhook).post(VMS, &many);
    let expect = (400, (400, "the review has more than 250000 values".to_owned()));
    assert_eq!((response.status, told(&response)), expect);
    // Commas in a text do not count as values.
    let script =
        vm(2, Some(&rules(2))).replacen("\"spec\":{", &format!("\"x\":\"{}\",\"spec\":{{", ",".repeat(400_000)), 1);
    assert_eq!(Client::plain(server.webhook).post(VMS, create(&script)).status, 200);
}
