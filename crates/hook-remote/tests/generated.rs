//! The code in `src/grpc/generated` is what its `.proto` files say now. `HOOK_GENERATE=1` writes it.

#![allow(clippy::unwrap_used, reason = "a test that finds something else fails")]

use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;

/// Makes the code of some `.proto` files, and compares it with what is there.
fn is_current(protos: &Path, files: &[&str], generated: &str, with_server: bool) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there: PathBuf = here.join(generated);
    let made = tempfile::tempdir().unwrap();
    let files = files.iter().map(|file| protos.join(file));
    let mut described = protox::compile(files, [protos]).unwrap();
    tonic_prost_build::configure()
        .build_server(with_server)
        .build_transport(false)
        .out_dir(made.path())
        .compile_fds(described.clone())
        .unwrap();
    for file in &mut described.file {
        file.source_code_info = None;
    }
    if with_server {
        fs::write(made.path().join("descriptors.bin"), described.encode_to_vec()).unwrap();
    }
    let mut names: Vec<_> = fs::read_dir(made.path()).unwrap().collect::<Result<_, _>>().unwrap();
    names.sort_by_key(fs::DirEntry::file_name);
    assert!(!names.is_empty());
    for entry in names {
        // What has no package gets a name of its own.
        let name = entry.file_name().into_string().unwrap();
        let name = if name == "_.rs" { "hooks.rs".to_owned() } else { name };
        let (made, kept) = (fs::read(entry.path()).unwrap(), there.join(name));
        if std::env::var_os("HOOK_GENERATE").is_some() {
            fs::create_dir_all(&there).unwrap();
            fs::write(&kept, &made).unwrap();
        }
        assert!(
            fs::read(&kept).unwrap_or_default() == made,
            "{} is not what its .proto says; HOOK_GENERATE=1 writes it",
            kept.display()
        );
    }
}

#[test]
fn the_generated_code_is_what_proto_says() {
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    is_current(&protos, &["hooks.proto", "hook_bus.proto"], "src/grpc/generated", true);
}

#[test]
fn the_code_of_an_old_client_is_what_its_proto_says() {
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seed");
    is_current(&protos, &["hooks.proto"], "tests/seed/generated", false);
}
