//! Standard streams on Windows, which programs that are started do not inherit by chance.
//!
//! A parent marks the handles of its child's standard streams as inheritable, and from then on every
//! program that is started anywhere below gets them, whatever its own streams are. What a hook
//! leaves running would keep the agent's pipes open, and the agent waits for their end.

use std::os::windows::io::{AsRawHandle, IntoRawHandle};

use filedescriptor::{FileDescriptor, StdioDescriptor};

/// Replaces the handles of the standard streams by copies that are not inherited. The standard
/// library gives a child its own streams by copies of its own.
pub(crate) fn keep_from_children() {
    let replaced = [
        FileDescriptor::redirect_stdio(&std::io::stdin(), StdioDescriptor::Stdin),
        FileDescriptor::redirect_stdio(&std::io::stdout(), StdioDescriptor::Stdout),
        FileDescriptor::redirect_stdio(&std::io::stderr(), StdioDescriptor::Stderr),
    ];
    let mut closed = Vec::new();
    // A stream that cannot be copied stays as it is. Two may be one handle, which is closed once.
    for original in replaced.into_iter().flatten() {
        let handle = original.as_raw_handle();
        if closed.contains(&handle) {
            let _ = original.into_raw_handle();
        } else {
            closed.push(handle);
        }
    }
}
