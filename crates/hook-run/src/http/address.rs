//! Addresses of HTTP servers.

use hyper::Uri;
use hyper::http::uri::Scheme;

/// The destination of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// A domain name, or an IP address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_encrypted: bool,
    /// The value of `Host`.
    pub(super) authority: String,
    /// The path and query in the request line.
    pub(super) target: String,
}

impl Address {
    /// Parses a URL.
    ///
    /// # Errors
    /// Returns the reason why no request can be sent there.
    pub(super) fn of(url: &str) -> Result<Self, &'static str> {
        // The fragment is not for the server.
        let url = url.split('#').next().unwrap_or_default();
        let uri: Uri = url.parse().map_err(|_| "it is no URL")?;
        let is_encrypted = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err("it begins with neither `https://` nor `http://`"),
        };
        let authority = uri.authority().ok_or("it names no server")?;
        if authority.as_str().contains('@') {
            return Err("it has a name and a password in it; a header can have those");
        }
        let host = authority.host();
        // `Uri` treats a port that is too large like none.
        let port = match authority.as_str().strip_prefix(host).unwrap_or_default() {
            "" if is_encrypted => 443,
            "" => 80,
            given => {
                let port = given.strip_prefix(':').and_then(|port| port.parse().ok());
                port.ok_or("its port is no number below 65536")?
            }
        };
        let host_name =
            host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host_name.is_empty() {
            return Err("it names no server");
        }
        let target = uri.path_and_query().map_or("/", |path| path.as_str());
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        let authority = authority.as_str().to_owned();
        Ok(Self { host: host_name.to_owned(), port, is_encrypted, authority, target })
    }

    /// Returns the URL without its query, which may be secret.
    pub(super) fn shown(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        let path = self.target.split('?').next().unwrap_or_default();
        format!("{scheme}://{}{path}", self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_where_they_say() {
        for (url, host, port, authority, target, shown) in [
            ("http://a.b", "a.b", 80, "a.b", "/", "http://a.b/"),
            ("HTTPS://a.b/c?d=e#f", "a.b", 443, "a.b", "/c?d=e", "https://a.b/c"),
            ("http://a.b:8080?x", "a.b", 8080, "a.b:8080", "/?x", "http://a.b:8080/"),
            ("http://[::1]:1/", "::1", 1, "[::1]:1", "/", "http://[::1]:1/"),
            ("http://127.0.0.1/%20", "127.0.0.1", 80, "127.0.0.1", "/%20", "http://127.0.0.1/%20"),
        ] {
            let address = Address::of(url).unwrap();
            let Address { host: found, port: number, authority: name, target: path, .. } = &address;
            assert_eq!(
                (&**found, *number, &**name, &**path),
                (host, port, authority, target),
                "{url}"
            );
            assert_eq!(address.shown(), shown);
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for url in [
            "",
            "a.b",
            "/a",
            "ftp://a.b/",
            "file:///etc/passwd",
            "http://",
            "http:///a",
            "http://u:p@a.b/",
            "http://a.b:99999/",
            "http://a.b:/",
            "http://a b/",
            "http://a.b/\r\nX: y",
        ] {
            assert!(Address::of(url).is_err(), "{url}: {:?}", Address::of(url));
        }
    }
}
