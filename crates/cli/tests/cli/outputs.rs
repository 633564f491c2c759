//! Output files: whole or not at all, all of them or none, and nothing else is left behind.

use std::process::Stdio;

use crate::support::{Place, command, npy_f64, tail_f64};

#[test]
fn nothing_is_written_when_something_fails() {
    let place = Place::new();
    place.write("b.npy", b"old");
    std::fs::create_dir(place.path("dir")).expect("a directory");
    let before = place.names();
    let failing = [
        ("--out B=@b.npy --out C=@dir", 2, "cannot write `dir`: it is a directory"),
        ("--out B=@b.npy --out C=@nowhere/c.npy", 2, "cannot write `nowhere/c.npy`: there is no such directory"),
        ("--out B=@b.npy --out C=@..", 2, "it is a directory"),
        ("--out B=@b.npy --out C=@./b.npy", 2, "`B` and `C` both go to"),
        ("--out B=@b.npy --expect C=[0,0]", 4, "`C` differs"),
        ("--out B=@b.npy --out C=@copy.fks/c.npy", 2, "cannot write"),
    ];
    for (flags, code, words) in failing {
        let run = place.farkas(&format!("run two.fks --in A=[1,2] {flags}")).fails(code, &[words]);
        assert_eq!(run.stdout, "", "{flags}");
        assert_eq!(place.read("b.npy"), b"old", "{flags}");
        assert_eq!(place.names(), before, "{flags}");
    }
}

#[test]
fn results_replace_files_as_a_whole() {
    let place = Place::new();
    place.write("b.npy", &vec![7; 100_000]);
    let run = place.farkas("run two.fks --in A=[1,2] --out B=@b.npy --out C=@c.npy").succeeds();
    assert_eq!(run.stdout, "");
    assert_eq!(tail_f64(&place.read("b.npy"), 2), [1.0, 2.0]);
    assert_eq!(tail_f64(&place.read("c.npy"), 2), [2.0, 3.0]);
    assert_eq!(place.read("b.npy").len(), place.read("c.npy").len());
    assert_eq!(place.names(), ["b.npy", "c.npy", "copy.fks", "double.fks", "matmul.fks", "two.fks"]);
    place.farkas("run two.fks --in A=[1,2] --out B=@b.npy").succeeds().prints(&["C: f64[2]"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn set_mode(place: &Place, name: &str, mode: u32) {
        std::fs::set_permissions(place.path(name), Permissions::from_mode(mode)).expect("the mode can be set");
    }

    fn mode(place: &Place, name: &str) -> u32 {
        std::fs::metadata(place.path(name)).expect("the file is there").permissions().mode() & 0o777
    }

    #[test]
    fn what_may_not_be_written_is_not() {
        let place = Place::new();
        place.write("b.npy", b"old");
        set_mode(&place, "b.npy", 0o444);
        place.farkas("run copy.fks --in A=[1] --out B=@b.npy").fails(2, &["cannot write `b.npy`: it is read-only"]);
        assert_eq!(place.read("b.npy"), b"old");

        std::fs::create_dir(place.path("dir")).expect("a directory");
        set_mode(&place, "dir", 0o555);
        // The mode of a directory does not bind root.
        if std::fs::write(place.path("dir/probe"), b"").is_err() {
            place.farkas("run copy.fks --in A=[1] --out B=@dir/b.npy").fails(2, &["permission denied"]);
        }
        set_mode(&place, "dir", 0o755);
    }

    #[test]
    fn permissions_and_links_stay() {
        let place = Place::new();
        place.write("b.npy", b"old");
        set_mode(&place, "b.npy", 0o640);
        std::os::unix::fs::symlink("b.npy", place.path("link.npy")).expect("a link");
        place.farkas("run copy.fks --in A=[1] --out B=@link.npy").succeeds();
        assert!(place.path("link.npy").is_symlink());
        assert_eq!(mode(&place, "b.npy"), 0o640);
        assert_eq!(tail_f64(&place.read("b.npy"), 1), [1.0]);
        // A new file has the mode that any program would give it.
        place.write("plain", b"");
        place.farkas("run copy.fks --in A=[1] --out B=@new.npy").succeeds();
        assert_eq!(mode(&place, "new.npy"), mode(&place, "plain"));
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        let place = Place::new();
        place.farkas("run copy.fks --in A=[1] --out B=@/dev/null").succeeds();
        use std::os::unix::fs::FileTypeExt;
        assert!(std::fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
        let piped =
            command(place.root()).args(["run", "copy.fks", "--in", "A=[1]", "--out", "B=@/dev/stdout"]).output();
        assert!(piped.expect("the binary starts").stdout.starts_with(b"\x93NUMPY"));
    }

    #[test]
    fn inputs_can_come_through_a_pipe() {
        use std::io::Write;
        let place = Place::new();
        let mut child = command(place.root())
            .args(["run", "copy.fks", "--in", "A=@/dev/stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        child.stdin.take().expect("a pipe").write_all(&npy_f64("(1,)", &[2.5])).expect("the pipe takes it");
        let output = child.wait_with_output().expect("it ends");
        assert!(String::from_utf8_lossy(&output.stdout).contains("[2.5]"), "{output:?}");
    }

    #[test]
    fn a_full_disk_is_a_run_time_error() {
        if !std::path::Path::new("/dev/full").exists() {
            return;
        }
        let place = Place::new();
        let full = std::fs::File::options().write(true).open("/dev/full").expect("it can be opened");
        let output =
            command(place.root()).args(["build", "matmul.fks"]).stdout(full).output().expect("the binary starts");
        crate::support::outcome(&output).fails(4, &["cannot write to stdout"]);
        place.farkas("run copy.fks --in A=[1] --out B=@/dev/full").fails(4, &["cannot write `/dev/full`"]);
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let place = Place::new();
    for words in [["build", "matmul.fks", "--emit=asm"], ["completions", "bash", "--color=never"]] {
        let mut child = command(place.root())
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    }
}
