//! Reads and writes messages on a stream: headers, an empty line, a body.

use std::io::{self, BufRead, Read, Write};

/// Maximum size of a message.
const MAX_BODY: usize = 256 << 20;

/// Bytes that the headers of a message may have.
const MAX_HEADERS: u64 = 64 << 10;

/// Reads the body of the next message; nothing at the end of the stream. Headers that are not known
/// are passed over.
///
/// # Errors
/// If the stream fails, or a header has no length.
pub fn read(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length: Option<usize> = None;
    let mut has_header = false;
    let mut left = MAX_HEADERS;
    loop {
        let mut line = Vec::new();
        let read = stream.take(left).read_until(b'\n', &mut line)? as u64;
        if read == 0 && left > 0 {
            return Ok(None);
        }
        left -= read;
        if left == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "headers that are too long"));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            match length {
                Some(_) => break,
                // Line feeds between messages do no harm.
                None if !has_header => {
                    left = MAX_HEADERS;
                    continue;
                }
                None => return Err(io::Error::new(io::ErrorKind::InvalidData, "a message without Content-Length")),
            }
        }
        has_header = true;
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length = length.unwrap_or_default();
    if length > MAX_BODY {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message that is too long"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(body))
}

/// Writes a message.
///
/// # Errors
/// If the stream fails.
pub fn write(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    write!(stream, "Content-Length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"{}").unwrap();
        write(&mut bytes, b"\"two\"").unwrap();
        let mut stream = &bytes[..];
        assert_eq!(read(&mut stream).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(read(&mut stream).unwrap().as_deref(), Some(&b"\"two\""[..]));
        assert_eq!(read(&mut stream).unwrap(), None);
    }

    #[test]
    fn headers_have_a_limit() {
        let mut stream = io::BufReader::new(io::repeat(b'a'));
        assert!(read(&mut stream).is_err());
        let mut stream = &b"a: b\r\n".repeat(20_000)[..];
        assert!(read(&mut stream).is_err());
        let mut stream = &[&b"\r\n".repeat(60_000)[..], b"Content-Length: 2\r\n\r\n{}"].concat()[..];
        assert_eq!(read(&mut stream).unwrap().as_deref(), Some(&b"{}"[..]));
    }

    #[test]
    fn other_headers_are_ignored() {
        let mut stream = &b"content-type: x; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}"[..];
        assert_eq!(read(&mut stream).unwrap().as_deref(), Some(&b"{}"[..]));
        let mut stream = &b"Content-Type: x\r\n\r\n{}"[..];
        assert!(read(&mut stream).is_err());
    }
}
