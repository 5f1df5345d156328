//! Guards of clients, saved for the next server, which does not know them yet and must not allow a
//! request that they would have denied.

use std::path::{Path, PathBuf};
use std::{fs, io};

use hook_files::plain_path::resolved;
use hook_files::regular_file;
use hook_json::{ObjectWriter, RawJson, RawObject};
use hook_settings::state_home;
use hook_trust::sha256;

use super::register::HookRegister;
use crate::private_file;

/// The maximum size of the file in bytes: enough for all hooks of clients, with long matchers.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// A guard, with the key of its client.
pub(super) struct SavedGuard {
    pub(super) key: Box<str>,
    pub(super) register: HookRegister,
}

/// Returns the path of the file with the guards of the server at a socket, which need not exist, or
/// at another address, in the user's state directory; `None` without one.
pub fn guard_file(socket: &Path) -> Option<PathBuf> {
    let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The folder of sockets may be gone, as after a restart of the machine.
    let folder = resolved(folder.unwrap_or(Path::new(".")));
    let name =
        socket.file_name().filter(|_| !socket.as_os_str().as_encoded_bytes().starts_with(b"grpc:"));
    let socket = name.map_or_else(|| socket.to_path_buf(), |name| folder.join(name));
    let name = sha256(socket.as_os_str().as_encoded_bytes());
    let name = format!("{}.json", name.get(..32).unwrap_or(&name));
    Some(state_home()?.join("hook/guards").join(name))
}

/// Checks that the file can be written if there is none.
pub(super) fn check_writable(file: &Path) -> io::Result<()> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private_file::write(file, b"{}")?;
            write(file, &[])
        }
        _ => Ok(()),
    }
}

/// Reads the guards of the previous server. A guard that cannot be read is `None`.
pub(super) fn read(file: &Path) -> io::Result<Vec<Option<SavedGuard>>> {
    let text = match regular_file::read_to_string(file, MAX_FILE_SIZE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "these are no guards");
    let fields = RawObject::parse(text).map_err(|_| invalid())?.fields();
    let Some(guards) = fields.get("guards") else { return Ok(Vec::new()) };
    Ok(guards.to_items().ok_or_else(invalid)?.iter().map(guard).collect())
}

fn guard(item: &RawJson) -> Option<SavedGuard> {
    let fields = item.to_object().ok()?;
    let key = fields.get("clientKey").and_then(RawJson::to_text)?;
    let register = fields.get("register")?.to_object().ok()?;
    Some(SavedGuard { key: key.into(), register: HookRegister::read(&register).ok()? })
}

/// Saves the present guards; without any, removes the file.
pub(super) fn write(file: &Path, guards: &[SavedGuard]) -> io::Result<()> {
    if guards.is_empty() {
        return match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let text = ObjectWriter::value(512, |out| {
        out.objects("guards", guards, |out, guard| {
            out.text("clientKey", &guard.key);
            out.object("register", |out| guard.register.write(out));
        });
    });
    private_file::write(file, &text)
}
