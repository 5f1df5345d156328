//! Where the socket is, whose it is, and when it goes.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use hook_tests::{Finished, Hook, Project, SocketServed, skipped};
use rustix::process::Signal;
use serde_json::json;

use super::{is_root, prompt};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Tries to serve where that cannot be.
fn refused(project: &Project, socket: &Path) -> Finished {
    let socket = socket.to_str().unwrap();
    let finished =
        Hook::new(project, &["serve", "--settings=settings.json", "--socket", socket]).run();
    assert_eq!(finished.status, 1, "{finished:?}");
    finished
}

#[tokio::test]
async fn the_socket_and_its_directory_are_for_their_owner_alone() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start_after(&project, "umask 0", &[]).await;
    let socket = served.socket().to_owned();
    let directory = socket.parent().unwrap().to_owned();
    assert!(fs::metadata(&socket).unwrap().file_type().is_socket());
    assert_eq!((mode(&directory), mode(&socket)), (0o700, 0o600));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "nothing else is left there");
    // The umask of what hooks make is still that of whoever started the server.
    let mut client = served.client().await;
    assert_eq!(client.ask(&prompt("a", "a")).await["success"], true);
    served.signal(Signal::TERM);
    let (status, _) = served.ended().await;
    assert_eq!(status.code(), Some(128 + 15));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "the socket goes with the server");
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let project = Project::with_hook("BeforeAgent", "true");
    let killed = SocketServed::start(&project, &[]).await;
    let socket = killed.socket().to_owned();
    killed.signal(Signal::KILL);
    killed.ended().await;
    assert!(socket.exists(), "nobody was left to remove it");
    let served = SocketServed::start(&project, &[]).await;
    assert_eq!(served.client().await.ask(&prompt("a", "a")).await["success"], true);
}

#[tokio::test]
async fn a_second_server_is_refused_and_harms_nothing() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let finished = refused(&project, served.socket());
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to make the socket [HOME]/run/hook.sock: a server listens there already; end it first, or name another path
    ");
    assert_eq!(served.client().await.ask(&prompt("a", "a")).await["success"], true);
}

#[test]
fn what_is_no_socket_stays() {
    let project = Project::with_hook("BeforeAgent", "true");
    let run = project.home().join("run");
    fs::create_dir(&run).unwrap();
    let (file, link, folder) = (run.join("file"), run.join("link"), run.join("folder"));
    fs::write(&file, "mine").unwrap();
    symlink(&file, &link).unwrap();
    fs::create_dir(&folder).unwrap();
    for path in [&file, &link, &folder] {
        let finished = refused(&project, path);
        assert!(finished.stderr.contains("there is something else of that name"), "{finished:?}");
    }
    assert_eq!(fs::read_to_string(&link).unwrap(), "mine");
    assert!(folder.is_dir());
    assert_eq!(fs::read_dir(&run).unwrap().count(), 3, "nothing is left behind");
}

#[tokio::test]
async fn a_file_that_came_in_its_place_stays() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let socket = served.socket().to_owned();
    fs::remove_file(&socket).unwrap();
    let another = UnixListener::bind(&socket).unwrap();
    served.signal(Signal::TERM);
    served.ended().await;
    assert!(socket.exists());
    drop(another);
}

#[test]
fn a_directory_that_others_can_change_is_refused() {
    let project = Project::with_hook("BeforeAgent", "true");
    let outer = project.home().join("outer");
    let inner = outer.join("inner");
    fs::create_dir_all(&inner).unwrap();
    for open in [&inner, &outer] {
        chmod(open, 0o777);
        let finished = refused(&project, &inner.join("hook.sock"));
        let told = format!("other users can write to the directory {};", open.display());
        assert!(finished.stderr.contains(&told), "{}", finished.stderr);
        assert!(finished.stderr.contains("chmod go-w"), "{}", finished.stderr);
        chmod(open, 0o755);
    }
    let long = refused(&project, &inner.join("x".repeat(120)));
    assert!(long.stderr.contains("name a shorter one"), "{}", long.stderr);
}

#[tokio::test]
async fn a_sticky_directory_will_do() {
    let project = Project::with_hook("BeforeAgent", "true");
    let run = project.home().join("run");
    fs::create_dir(&run).unwrap();
    chmod(&run, 0o1777);
    let served = SocketServed::start(&project, &[]).await;
    assert_eq!(mode(served.socket()), 0o600);
    served.client().await;
}

/// Lets everybody reach a file, and says whether that was possible.
fn open_up(path: &Path) {
    for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with("/tmp/")) {
        chmod(folder, 0o755);
    }
    chmod(path, 0o666);
}

const CONNECT_AS_ANOTHER: &str = "
import os, socket, sys
os.setgid(65534); os.setuid(65534)
peer = socket.socket(socket.AF_UNIX)
try:
    peer.connect(sys.argv[1])
except PermissionError:
    print('denied')
else:
    print(peer.makefile().readline(), end='')
";

#[tokio::test]
async fn another_user_is_refused() {
    if !is_root() {
        return skipped("another_user_is_refused: only root can become another user");
    }
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let connect = async || {
        let connect =
            Command::new("python3").args(["-c", CONNECT_AS_ANOTHER]).arg(served.socket()).output();
        String::from_utf8(connect.unwrap().stdout).unwrap()
    };
    // By the directory's mode; and were that wide open, by who they are.
    assert_eq!(connect().await, "denied\n");
    open_up(served.socket());
    assert_eq!(
        connect().await,
        "{\"type\":\"hook-refused\",\"message\":\"only the user that started this server may use it\"}\n"
    );
    served.client().await;
}

const LISTEN_AS_ANOTHER: &str = "
import os, socket, sys
os.umask(0)
peer = socket.socket(socket.AF_UNIX)
os.setgid(65534); os.setuid(65534)
peer.bind(sys.argv[1]); peer.listen(); print('ready', flush=True)
peer.accept()[0].recv(1)
";

#[test]
fn a_server_of_another_user_is_told_nothing() {
    if !is_root() {
        return skipped("a_server_of_another_user_is_told_nothing: only root can become another");
    }
    let project = Project::with_settings(&json!({}));
    let run = project.home().join("run");
    fs::create_dir(&run).unwrap();
    let socket = run.join("theirs.sock");
    open_up(&project.write("x", ""));
    chmod(&project.home(), 0o755);
    chmod(&run, 0o777);
    let mut theirs = Command::new("python3")
        .args(["-c", LISTEN_AS_ANOTHER])
        .arg(&socket)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    let mut said = std::io::BufReader::new(theirs.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut said, &mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    let finished = Hook::new(&project, &["tail", "--socket", socket.to_str().unwrap()]).run();
    theirs.kill().unwrap();
    theirs.wait().unwrap();
    assert_eq!(finished.status, 1);
    assert!(finished.stderr.contains("the server there is not yours"), "{}", finished.stderr);
}
