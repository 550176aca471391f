//! A small HTTP service that renders a project for each request: the body is a JSON object of data
//! values, the answer is YAML, or the problems as JSON lines with status 422. `/validate` only
//! checks the values.
//!
//!     cargo run --example service -- examples/hello 127.0.0.1:8080
//!     curl --data '{"name": "kiosk"}' http://127.0.0.1:8080/

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use ytterby::diag::render::Rendering;
use ytterby::{Limits, Project, ProjectError, Values};

mod common;

/// More than any values file needs.
const LONGEST_BODY: usize = 1 << 20;

/// The request line and all headers together.
const LONGEST_HEAD: u64 = 16 << 10;

/// Requests that are answered at the same time; others wait in the queue of the system.
const THREADS: usize = 4;

/// A client that is slower than this is disconnected.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, address] = &arguments[..] else { return Err("usage: service PATH ADDRESS".into()) };
    // Steps bound the time without a clock. Without a meter, the memory limit counts all bytes that
    // a render ever allocates.
    let limits =
        Limits { steps: Some(10_000_000), memory: Some(512 << 20), output: Some(16 << 20), ..Limits::default() };
    let project = Project::builder().inputs(common::files(Path::new(path))?).limits(limits).build()?;
    // Mistakes in files show at the start, not in the first request.
    project.compile()?;
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}/", listener.local_addr()?);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            // Threads share the project: nothing is parsed again.
            scope.spawn(|| {
                for stream in listener.incoming() {
                    if let Err(error) = stream.and_then(|stream| answer(&project, stream)) {
                        eprintln!("{error}");
                    }
                }
            });
        }
    });
    Ok(())
}

fn answer(project: &Project, stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let (status, body) = match read(&mut reader)? {
        Ok(Request { path, values }) => match respond(project, &path, &Values::new().yaml("request", &values)) {
            Ok(documents) => ("200 OK", documents),
            Err(error) => ("422 Unprocessable Content", error.report("service", Rendering::Json)),
        },
        Err(status) => (status, format!("{status}\n")),
    };
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

fn respond(project: &Project, path: &str, values: &Values) -> Result<String, ProjectError> {
    match path {
        "/validate" => project.renderer().values(values).map(|_| String::new()),
        _ => project.render(values)?.yaml(),
    }
}

struct Request {
    path: String,
    values: Vec<u8>,
}

/// Reads a request; the inner error is the status to answer with.
fn read(reader: &mut impl BufRead) -> io::Result<Result<Request, &'static str>> {
    let mut head = reader.by_ref().take(LONGEST_HEAD);
    let mut first = String::new();
    head.read_line(&mut first)?;
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        head.read_line(&mut line)?;
        if !line.ends_with('\n') {
            return Ok(Err("431 Request Header Fields Too Large"));
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            match value.trim().parse() {
                Ok(given) => length = given,
                Err(_) => return Ok(Err("400 Bad Request")),
            }
        }
    }
    if length > LONGEST_BODY {
        return Ok(Err("413 Content Too Large"));
    }
    let mut values = vec![0; length];
    reader.read_exact(&mut values)?;
    Ok(Ok(Request { path, values }))
}
