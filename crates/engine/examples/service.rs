//! A small HTTP service that renders a project for each request: the body is a JSON object of data values, the answer is
//! YAML, or the problems as JSON lines with status 422.
//!
//!     cargo run --example service -- examples/hello 127.0.0.1:8080
//!     curl --data '{"name": "kiosk"}' http://127.0.0.1:8080/

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use ytterby::diag::render::Rendering;
use ytterby::{Project, Values};

mod common;

/// More than any values file needs.
const LONGEST_BODY: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, address] = &arguments[..] else { return Err("usage: service PATH ADDRESS".into()) };
    let project = Project::builder().inputs(common::files(Path::new(path))?).build()?;
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}/", listener.local_addr()?);
    for stream in listener.incoming() {
        // Threads share the project: nothing is parsed again.
        let project = project.clone();
        std::thread::spawn(move || stream.and_then(|stream| answer(&project, stream)));
    }
    Ok(())
}

fn answer(project: &Project, stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let (status, body) = if length > LONGEST_BODY {
        ("413 Content Too Large", format!("the values may have at most {LONGEST_BODY} bytes\n"))
    } else {
        let mut values = vec![0; length];
        reader.read_exact(&mut values)?;
        match project.render(&Values::new().yaml("request", &values)).and_then(|output| output.yaml()) {
            Ok(documents) => ("200 OK", documents),
            Err(error) => ("422 Unprocessable Content", error.report("service", Rendering::Json)),
        }
    };
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}
