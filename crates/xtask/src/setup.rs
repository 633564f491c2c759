//! Set-up: the tools that building isl from source needs, installed where that is possible without asking.
//!
//! In: what is on the `PATH` and who we are.  Out: nothing to do, commands that were run, or the line for the user to run.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::{command, run_shown, say};

/// A tool, found under any of `names`, and the Debian packages it comes in.
struct Tool {
    names: &'static [&'static str],
    packages: &'static [&'static str],
}

/// What `autoreconf`, `configure` and `make` of isl call.
const TOOLS: [Tool; 6] = [
    Tool { names: &["cc", "gcc", "clang"], packages: &["gcc", "libc6-dev"] },
    Tool { names: &["make", "gmake"], packages: &["make"] },
    Tool { names: &["autoconf"], packages: &["autoconf"] },
    Tool { names: &["autoreconf"], packages: &["autoconf"] },
    Tool { names: &["automake"], packages: &["automake"] },
    // Homebrew installs GNU libtool with a `g`, because macOS has another libtool.
    Tool { names: &["libtoolize", "glibtoolize"], packages: &["libtool"] },
];

/// Installed together even if only one is missing: they depend on each other's versions.
const PACKAGES: [&str; 4] = ["autoconf", "automake", "libtool", "make"];

/// How software gets onto this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    macos: bool,
    apt: bool,
    root: bool,
    /// `sudo` works without a password.
    sudo: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    /// Run apt-get, through sudo or not.
    Install {
        sudo: bool,
        packages: Vec<&'static str>,
    },
    /// Only the user can do it.
    Tell(String),
}

/// Makes sure that isl can be built.
pub(crate) fn set_up() -> Result<(), String> {
    let missing = missing_tools(&search_path());
    if missing.is_empty() {
        say("set-up: C compiler, make, autoconf, automake and libtool are there");
        return Ok(());
    }
    let names = describe(&missing);
    match plan_for(&missing, this_machine()) {
        Plan::Nothing => Ok(()),
        Plan::Tell(line) => Err(format!("building isl needs {names}, which this machine lacks; run\n\n    {line}\n")),
        Plan::Install { sudo, packages } => {
            say(format!("set-up: {names} not found; installing"));
            // An unreachable third-party repository fails the update, but need not fail the installation.
            if let Err(message) = run_shown(&mut apt_get(sudo, &["update"])) {
                say(format!("set-up: {message}; trying to install all the same"));
            }
            let mut install = vec!["install", "-y", "--no-install-recommends"];
            install.extend(&packages);
            run_shown(&mut apt_get(sudo, &install))
                .map_err(|message| format!("{message}\nInstall {names}, then run the command again."))?;
            match missing_tools(&search_path()) {
                still if still.is_empty() => Ok(()),
                still => Err(format!("{} still missing after the installation", describe(&still))),
            }
        }
    }
}

/// The newest clang that Debian has with Polly inside.
const CLANG: &str = "clang-19";

/// The name of a clang for benchmarks; installed if root or a password-free sudo can do it.
pub(crate) fn clang() -> Result<String, String> {
    let found = || [CLANG, "clang"].into_iter().find(|name| is_installed(name)).map(str::to_owned);
    if let Some(name) = found() {
        return Ok(name);
    }
    let machine = this_machine();
    if !machine.apt || !(machine.root || machine.sudo) {
        return Err(format!("`{CLANG}` is not installed"));
    }
    let sudo = !machine.root;
    // As above: an update that fails need not matter.
    let _ = run_shown(&mut apt_get(sudo, &["update"]));
    run_shown(&mut apt_get(sudo, &["install", "-y", "--no-install-recommends", CLANG]))?;
    found().ok_or_else(|| format!("`{CLANG}` is missing after its installation"))
}

/// Whether a program is on the `PATH`.
pub(crate) fn is_installed(name: &str) -> bool {
    find_program(name, &search_path()).is_some()
}

/// Makes sure that `cargo fmt` and `cargo clippy` are there; a minimal Rust installation lacks them.
pub(crate) fn set_up_rust_components() -> Result<(), String> {
    let works = |subcommand| succeeds(&mut command(crate::process::cargo(), &[subcommand, "--version"]));
    if works("fmt") && works("clippy") {
        return Ok(());
    }
    run_shown(&mut command("rustup", &["component", "add", "rustfmt", "clippy"]))
        .map_err(|message| format!("rustfmt and clippy are needed for the checks: {message}"))
}

fn plan_for(missing: &[&Tool], machine: Machine) -> Plan {
    if missing.is_empty() {
        return Plan::Nothing;
    }
    let no_compiler = missing.iter().any(|tool| tool.packages.contains(&"gcc"));
    if machine.macos {
        let compiler = if no_compiler { "xcode-select --install; " } else { "" };
        return Plan::Tell(format!("{compiler}brew install autoconf automake libtool"));
    }
    let mut packages: Vec<&'static str> = PACKAGES.to_vec();
    for tool in missing {
        packages.extend(tool.packages.iter().filter(|package| !PACKAGES.contains(package)));
    }
    if machine.apt && (machine.root || machine.sudo) {
        return Plan::Install { sudo: !machine.root, packages };
    }
    let list = packages.join(" ");
    if machine.apt {
        return Plan::Tell(format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {list}"));
    }
    let list = list.replace(" libc6-dev", "");
    Plan::Tell(format!("your package manager to install: {list}   (for instance `dnf install {list}`)"))
}

fn this_machine() -> Machine {
    let path = search_path();
    let has = |name| find_program(name, &path).is_some();
    let root =
        has("id") && Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    Machine {
        macos: cfg!(target_os = "macos"),
        apt: has("apt-get"),
        root,
        sudo: !root && has("sudo") && succeeds(Command::new("sudo").args(["-n", "true"])),
    }
}

fn apt_get(sudo: bool, args: &[&str]) -> Command {
    let quiet = "DEBIAN_FRONTEND=noninteractive";
    let mut words = if sudo { vec!["sudo", "-n"] } else { Vec::new() };
    words.extend(["env", quiet, "apt-get"]);
    words.extend(args);
    command(words[0], &words[1..])
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn search_path() -> std::ffi::OsString {
    env::var_os("PATH").unwrap_or_default()
}

fn missing_tools(path: &OsStr) -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| tool.names.iter().all(|name| find_program(name, path).is_none())).collect()
}

fn describe(tools: &[&Tool]) -> String {
    tools.iter().map(|tool| tool.names[0]).collect::<Vec<_>>().join(", ")
}

fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(path).map(|folder| folder.join(&file)).find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(file: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &std::path::Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Machine = Machine { macos: false, apt: false, root: false, sudo: false };

    fn without(absent: &[&str]) -> Vec<&'static Tool> {
        TOOLS.iter().filter(|tool| absent.contains(&tool.names[0])).collect()
    }

    #[test]
    fn nothing_to_do_when_all_tools_exist() {
        assert_eq!(plan_for(&[], Machine { apt: true, root: true, ..BARE }), Plan::Nothing);
    }

    #[test]
    fn root_installs_without_sudo() {
        let plan = plan_for(&without(&["automake"]), Machine { apt: true, root: true, ..BARE });
        assert_eq!(plan, Plan::Install { sudo: false, packages: PACKAGES.to_vec() });
        let line = crate::process::command_line(&apt_get(false, &["update"]));
        assert_eq!(line, "env DEBIAN_FRONTEND=noninteractive apt-get update");
    }

    #[test]
    fn password_free_sudo_is_used_and_never_prompts() {
        let plan = plan_for(&without(&["libtoolize"]), Machine { apt: true, sudo: true, ..BARE });
        assert_eq!(plan, Plan::Install { sudo: true, packages: PACKAGES.to_vec() });
        let line = crate::process::command_line(&apt_get(true, &["update"]));
        assert_eq!(line, "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update");
    }

    #[test]
    fn others_are_told_the_line() {
        let told = |absent, machine| plan_for(&without(&[absent]), machine);
        let tell = |line: &str| Plan::Tell(line.to_owned());
        assert_eq!(
            told("make", Machine { apt: true, ..BARE }),
            tell(
                "sudo apt-get update && \
                 sudo apt-get install -y --no-install-recommends autoconf automake libtool make"
            )
        );
        assert_eq!(told("make", Machine { macos: true, ..BARE }), tell("brew install autoconf automake libtool"));
        assert_eq!(
            told("cc", Machine { macos: true, ..BARE }),
            tell("xcode-select --install; brew install autoconf automake libtool")
        );
        assert_eq!(
            told("cc", Machine { root: true, ..BARE }),
            tell(
                "your package manager to install: autoconf automake libtool make gcc   \
                 (for instance `dnf install autoconf automake libtool make gcc`)"
            )
        );
    }

    #[test]
    fn a_missing_compiler_adds_its_packages() {
        let plan = plan_for(&without(&["cc", "make"]), Machine { apt: true, root: true, ..BARE });
        let packages = vec!["autoconf", "automake", "libtool", "make", "gcc", "libc6-dev"];
        assert_eq!(plan, Plan::Install { sudo: false, packages });
    }

    #[cfg(unix)]
    #[test]
    fn tools_are_looked_up_on_the_path() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;

        let folder = env::temp_dir().join(format!("xtask-setup-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let install = |name: &str, mode: u32| {
            let file = folder.join(name);
            fs::write(&file, "").expect("the temporary folder is writable");
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("the file is ours");
        };
        let missing = || describe(&missing_tools(folder.as_os_str()));

        assert_eq!(missing(), "cc, make, autoconf, autoreconf, automake, libtoolize");
        for name in ["gcc", "make", "autoconf", "autoreconf", "glibtoolize"] {
            install(name, 0o755);
        }
        install("automake", 0o644);
        assert_eq!(missing(), "automake", "a file that cannot be executed is not a tool");
        install("automake", 0o755);
        assert_eq!(missing(), "");
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }
}
