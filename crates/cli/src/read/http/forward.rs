//! Plain HTTP through a proxy.
//!
//! For `https` a proxy opens a tunnel (`CONNECT`), which `ureq` requests. For `http` it expects the
//! whole URL in the request line instead; most proxies refuse tunnels to port 80.

use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, RustlsConnector, TcpConnector, Transport,
};
use ureq::{Error, Proxy};

/// Connects to the configured proxy and rewrites requests for `origin` (`http://host:port`).
#[derive(Debug)]
pub(super) struct Forward {
    pub origin: String,
}

impl Connector for Forward {
    type Out = Box<dyn Transport>;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Self::Out>, Error> {
        let proxy = details.config.proxy().map(Proxy::uri).ok_or(Error::InvalidProxyUrl)?;
        let details = ConnectionDetails {
            uri: proxy,
            addrs: details.resolver.resolve(proxy, details.config, details.timeout)?,
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        let stream = TcpConnector::default().connect(&details, None::<()>)?;
        // Does nothing unless the proxy's own URL begins with `https`.
        let stream = RustlsConnector::default().connect(&details, stream)?;
        Ok(stream
            .map(|stream| -> Self::Out { Box::new(Forwarded { stream, origin: self.origin.clone(), is_first: true }) }))
    }
}

#[derive(Debug)]
struct Forwarded<S> {
    stream: S,
    origin: String,
    is_first: bool,
}

impl<S: Transport> Transport for Forwarded<S> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.stream.buffers()
    }

    /// The first output is `GET /path …`; the origin is inserted before the path.
    fn transmit_output(&mut self, mut amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if std::mem::take(&mut self.is_first) {
            let output = self.stream.buffers().output();
            let path = output[..amount].iter().position(|&byte| byte == b' ').map_or(0, |space| space + 1);
            let added = self.origin.len();
            if amount + added > output.len() {
                return Err(Error::LargeResponseHeader(amount + added, output.len()));
            }
            output.copy_within(path..amount, path + added);
            output[path..path + added].copy_from_slice(self.origin.as_bytes());
            amount += added;
        }
        self.stream.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.stream.is_open()
    }
}
