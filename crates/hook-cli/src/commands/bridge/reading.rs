//! The agent's input: one JSON value on standard input. An agent may leave its pipe open, so
//! reading ends with the value instead of the input.

use std::io::{self, Read};
use std::time::Duration;

use hook_bus::wire::MAX_LINE;
use tokio::sync::mpsc;

use crate::error::CommandError;

/// The size of a read, in bytes.
const CHUNK: usize = 64 * 1024;

/// The time limit for trailing whitespace after the value, such as the end of its line.
const NEWLINE_TIMEOUT: Duration = Duration::from_millis(20);

/// Reads the value on standard input, unchanged, with trailing whitespace that arrives with it.
/// Further input is skipped.
///
/// # Errors
/// Returns an error if the value cannot be read, is too long, or is incomplete after that time.
pub(super) async fn value(timeout: Duration) -> Result<String, CommandError> {
    let (send, mut chunks) = mpsc::channel(4);
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    // The thread ends with the input, with the receiver, or with the process.
    thread.spawn(move || read(io::stdin().lock(), &send)).map_err(CommandError::Thread)?;
    let mut scanner = JsonScanner::default();
    let whole = async {
        while scanner.is_open() {
            let Some(chunk) = chunks.recv().await else { break };
            scanner.take(&chunk.map_err(CommandError::Input)?).map_err(CommandError::Input)?;
        }
        Ok::<(), CommandError>(())
    };
    match tokio::time::timeout(timeout, whole).await {
        Ok(read) => read?,
        Err(_) => {
            let text = "what stands there is no complete JSON value, and nothing more came";
            return Err(CommandError::Input(io::Error::new(io::ErrorKind::TimedOut, text)));
        }
    }
    if scanner.may_have_newline()
        && let Ok(Some(Ok(chunk))) = tokio::time::timeout(NEWLINE_TIMEOUT, chunks.recv()).await
    {
        scanner.push_rest(&chunk);
    }
    Ok(scanner.finish())
}

/// Reads on a separate thread, since the writer may never finish.
fn read(mut input: impl Read, send: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => Ok(chunk.get(..count).unwrap_or_default().to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_over = read.is_err();
        if send.blocking_send(read).is_err() || is_over {
            return;
        }
    }
}

/// The bytes read so far, and the state of the scanner.
#[derive(Debug, Default)]
struct JsonScanner {
    bytes: Vec<u8>,
    /// The number of scanned bytes.
    scanned: usize,
    /// The number of open brackets.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The end of the value, as an index into the bytes.
    end: Option<usize>,
}

impl JsonScanner {
    /// Returns `true` if the value is incomplete.
    fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Appends and scans more bytes.
    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(chunk);
        while let (None, Some(byte)) = (self.end, self.bytes.get(self.scanned)) {
            self.scan(*byte);
            self.scanned += 1;
        }
        match self.end.unwrap_or(self.bytes.len()) > MAX_LINE {
            true => Err(io::Error::other(format!("it is longer than {MAX_LINE} bytes"))),
            false => Ok(()),
        }
    }

    /// Scans the next byte. The parser checks later that brackets match.
    fn scan(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_string => self.is_escaped = true,
            b'"' if self.depth > 0 => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end = Some(self.scanned + 1);
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            // A value that is neither an object nor an array is not an agent's input.
            _ if self.depth == 0 => self.end = Some(self.bytes.len()),
            _ => {}
        }
    }

    /// Returns `true` if nothing after the value has been read yet.
    fn may_have_newline(&self) -> bool {
        self.end == Some(self.bytes.len())
    }

    /// Appends bytes that follow the value.
    fn push_rest(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    /// Returns the value with its trailing whitespace.
    fn finish(mut self) -> String {
        let end = self.end.unwrap_or(self.bytes.len());
        let rest = self.bytes.get(end..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blanks < rest.len() {
            tracing::warn!(
                target: "hook::bridge",
                "{} bytes behind the agent's JSON value were not read", rest.len() - blanks
            );
        }
        self.bytes.truncate(end + blanks);
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(chunks: &[&[u8]]) -> (String, usize) {
        let mut reading = JsonScanner::default();
        let mut taken = 0;
        for chunk in chunks {
            if !reading.is_open() {
                break;
            }
            reading.take(chunk).unwrap();
            taken += 1;
        }
        (reading.finish(), taken)
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i64>().prop_map(Into::into),
            "[\\PC\"\\\\{}\\[\\]]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map("[\"\\\\{a]{0,4}", inner, 0..4)
                    .prop_map(|it| it.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn fault_58_a_value_is_the_same_however_it_is_cut_and_whatever_stands_around_it(
            fields in proptest::collection::btree_map("[a-z]{1,4}", json(), 0..4),
            blanks in "[ \t\r\n]{0,3}",
            behind in "(?s).{0,8}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let value: serde_json::Value = fields.into_iter().collect::<serde_json::Map<_, _>>().into();
            let whole = format!("{blanks}{value}");
            let text = format!("{whole}{behind}");
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> =
                at.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            let (read, taken) = read(&chunks);
            prop_assert_eq!(read.trim_end(), whole.trim_end());
            // Only the value's own bytes are awaited.
            let needed = at.iter().skip(1).position(|cut| *cut >= whole.len()).unwrap() + 1;
            prop_assert_eq!(taken, needed);
        }

        #[test]
        fn any_bytes_are_read_without_panic(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..6),
        ) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            read(&chunks);
        }
    }
}
