//! The cache on disk: what it serves is what compiling gives, and whatever happens to its files costs a compilation and nothing else.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use farkas::{Args, Cache, CacheDirectory, Emit, Engine, Error, Function, Module, Options, Schedule, Source, Style};

fn engine(directory: &Path) -> Engine {
    let cache = Cache::Disk(CacheDirectory::new(directory));
    Engine::with_options(Options { cache, time_limit: Duration::from_secs(600), ..Options::default() })
}

fn compile(engine: &Engine, source: &Source) -> Module {
    engine.compile_source(source).unwrap_or_else(|error| panic!("{}", error.render(Style::Plain)))
}

/// Whether the loops were not generated.
fn is_served(function: &Function) -> bool {
    !function.timings().iter().any(|timing| timing.stage == "loops")
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fks") {
            found.push(path);
        }
    }
}

#[test]
fn examples_are_served_as_they_were_compiled() {
    let place = tempfile::tempdir().expect("a directory");
    let mut paths = Vec::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    programs(&examples, &mut paths);
    let read = |path: &Path| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Source::new(path.to_string_lossy(), text)
    };
    let mut work: Vec<(PathBuf, Option<Schedule>)> = paths.iter().map(|path| (path.clone(), None)).collect();
    for (program, script) in
        [("matmul", "matmul"), ("matmul", "matmul-avx2"), ("softmax", "softmax"), ("row-statistics", "row-statistics")]
    {
        let script = read(&examples.join(format!("schedules/{script}.sched")));
        work.push((examples.join(format!("{program}.fks")), Some(Schedule::Script(script))));
    }
    let mut not_served = Vec::new();
    for (path, schedule) in work {
        let cache = Cache::Disk(CacheDirectory::new(place.path()));
        // What is slow may have been cut short, and is not stored; machines that run tests are busy.
        let time_limit = Duration::from_secs(600);
        let options = Options { cache, schedule, time_limit, ..Options::default() };
        let source = read(&path);
        let cold = compile(&Engine::with_options(options.clone()), &source);
        let warm = compile(&Engine::with_options(options), &source);
        assert_eq!(cold.serialize(), warm.serialize(), "{}", path.display());
        let missed = warm.functions().iter().filter(|function| !is_served(function));
        not_served.extend(missed.map(|function| format!("{} of {}", function.name(), path.display())));
    }
    assert!(not_served.is_empty(), "{not_served:#?}");
}

const PROGRAM: &str = "fn f<N>(x: f64[N, N]) -> (y: f64[N]) { y[i] = sum[j] x[i, j] * x[j, i] }";

fn source(text: &str) -> Source {
    Source::new("program.fks", text)
}

/// What the function `f` makes of some numbers.
fn result(module: &Module) -> Vec<f64> {
    let (x, mut y) = ((0..9).map(f64::from).collect::<Vec<f64>>(), vec![0.0; 3]);
    let mut args = Args::new();
    args.slice("x", &x, &[3, 3]).slice_mut("y", &mut y, &[3]);
    let called = module.function("f").and_then(|function| function.call(&mut args));
    called.unwrap_or_else(|error| panic!("{error}"));
    drop(args);
    y
}

/// The one file of a cache.
fn file(directory: &Path) -> PathBuf {
    let mut files = fs::read_dir(directory).expect("a directory").map(|file| file.expect("a file").path());
    let file = files.next().expect("something is stored");
    assert!(files.next().is_none());
    file
}

#[test]
fn an_engine_remembers_what_it_compiled() {
    let engine = Engine::new();
    let (first, second) = (compile(&engine, &source(PROGRAM)), compile(&engine.clone(), &source(PROGRAM)));
    assert!(!is_served(&first.functions()[0]) && is_served(&second.functions()[0]));
    assert_eq!(result(&first), result(&second));
    assert!(!is_served(&compile(&Engine::new(), &source(PROGRAM)).functions()[0]), "engines are apart");
    let off = Engine::with_options(Options { cache: Cache::Off, ..Options::default() });
    compile(&off, &source(PROGRAM));
    assert!(!is_served(&compile(&off, &source(PROGRAM)).functions()[0]));
}

#[test]
fn texts_and_replays_are_not_served() {
    let place = tempfile::tempdir().expect("a directory");
    compile(&engine(place.path()), &source(PROGRAM));
    let cache = Cache::Disk(CacheDirectory::new(place.path()));
    for options in [
        Options { emit: vec![Emit::Schedule, Emit::Loops], cache: cache.clone(), ..Options::default() },
        Options { verify_dynamic: true, cache, ..Options::default() },
    ] {
        let emitted = options.emit.len();
        let module = compile(&Engine::with_options(options), &source(PROGRAM));
        assert!(!is_served(&module.functions()[0]));
        assert_eq!(module.functions()[0].texts().len(), emitted);
    }
}

#[test]
fn modules_are_serialized() {
    let engine = Engine::new();
    let module = compile(&engine, &source(PROGRAM));
    let bytes = module.serialize();
    let again = Module::deserialize(&bytes, &engine).unwrap_or_else(|error| panic!("{error}"));
    assert!(is_served(&again.functions()[0]));
    assert_eq!(result(&module), result(&again));
    assert_eq!(again.serialize(), bytes);
    let own = Source::new("own.fks", format!("use \"other.fks\"\n{PROGRAM}"));
    let linked =
        Source::linked(&[own, Source::new("other.fks", "fn half<N>(x: f64[N]) -> (y: f64[N]) { y[i] = x[i] / 2 }\n")]);
    let module = compile(&engine, &linked);
    let again = Module::deserialize(&module.serialize(), &engine).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format!("{:?}", again.source()), format!("{:?}", module.source()));
    for position in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[position] ^= 4;
        let refused = Module::deserialize(&changed, &engine);
        assert!(matches!(refused, Err(Error::Unusable { .. })), "changed at {position}");
    }
}

/// The file is read, found out, and written again.
#[test]
fn files_that_were_changed_cost_a_compilation() {
    let place = tempfile::tempdir().expect("a directory");
    let right = compile(&engine(place.path()), &source(PROGRAM));
    let stored = file(place.path());
    let bytes = fs::read(&stored).expect("it can be read");
    let mut middle = bytes.clone();
    middle[bytes.len() / 2] ^= 1;
    let foreign = [b"other 1\n".as_slice(), &bytes].concat();
    for changed in [Vec::new(), bytes[..bytes.len() / 2].to_vec(), middle, foreign, vec![0xff; 100]] {
        fs::write(&stored, &changed).expect("it can be written");
        let module = compile(&engine(place.path()), &source(PROGRAM));
        assert!(!is_served(&module.functions()[0]));
        assert_eq!(result(&module), result(&right));
        assert_eq!(fs::read(&stored).expect("it can be read"), bytes, "it is right again");
    }
    fs::remove_file(&stored).expect("it is there");
    fs::create_dir(&stored).expect("a directory in its place");
    assert_eq!(result(&compile(&engine(place.path()), &source(PROGRAM))), result(&right));
}

#[test]
fn directories_that_cannot_be_used_cost_nothing_else() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("file");
    fs::write(&file, "no directory").expect("it can be written");
    for directory in [file.clone(), file.join("below"), PathBuf::from("/proc/farkas")] {
        assert_eq!(result(&compile(&engine(&directory), &source(PROGRAM))).len(), 3, "{}", directory.display());
    }
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "no directory");
}

/// A child process runs only the test that starts it, with what to do in the environment.
fn child(test: &str, directory: &Path, work: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--nocapture"]).env(WORK, work).env(DIRECTORY, directory);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

const WORK: &str = "FARKAS_CACHE_TEST_WORK";
const DIRECTORY: &str = "FARKAS_CACHE_TEST_DIRECTORY";

/// The work of this process if it is a child, and its directory.
fn is_child() -> Option<(String, PathBuf)> {
    Some((std::env::var(WORK).ok()?, std::env::var_os(DIRECTORY)?.into()))
}

#[test]
fn processes_that_start_at_once_are_all_right() {
    if let Some((_, directory)) = is_child() {
        assert_eq!(result(&compile(&engine(&directory), &source(PROGRAM))), [15.0, 54.0, 111.0]);
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let start = |_| child("processes_that_start_at_once_are_all_right", place.path(), "once").spawn();
    let children: Vec<_> = (0..100).map(start).collect();
    for child in children {
        assert!(child.and_then(|mut child| child.wait()).expect("it runs").success());
    }
    file(place.path());
    assert!(is_served(&compile(&engine(place.path()), &source(PROGRAM)).functions()[0]));
}

/// A program like [`PROGRAM`] under another key.
fn another(number: usize) -> Source {
    source(&format!("{PROGRAM} # {number}"))
}

#[cfg(unix)]
#[test]
fn processes_that_are_killed_leave_a_cache_that_can_be_used() {
    if let Some((work, directory)) = is_child() {
        let first: usize = work.parse().expect("a number");
        (first..first + 1000).for_each(|number| drop(compile(&engine(&directory), &another(number))));
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    for round in 0..12 {
        let test = "processes_that_are_killed_leave_a_cache_that_can_be_used";
        let mut child = child(test, place.path(), &(round * 1000).to_string()).spawn().expect("it starts");
        let jitter = std::process::id().wrapping_mul(2_654_435_761).rotate_left(round) % 120;
        std::thread::sleep(Duration::from_millis(30 + u64::from(jitter)));
        child.kill().and_then(|()| child.wait()).expect("it was there");
    }
    let served = |number: u32| {
        let module = compile(&engine(place.path()), &another(number as usize));
        assert_eq!(result(&module), [15.0, 54.0, 111.0]);
        is_served(&module.functions()[0])
    };
    // What is there under its name is complete, so nothing is compiled twice.
    let stored = CacheDirectory::new(place.path()).size().expect("a directory").functions;
    let known =
        (0..12).flat_map(|round| (0..).map(move |step| round * 1000 + step).take_while(|number| served(*number)));
    assert_eq!(known.count(), stored);
}

/// A limit on the size of files is the nearest thing to a full disk that needs no privileges.
#[cfg(unix)]
#[test]
fn full_disks_cost_nothing_else() {
    if let Some((_, directory)) = is_child() {
        assert_eq!(result(&compile(&engine(&directory), &source(PROGRAM))), [15.0, 54.0, 111.0]);
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let limited = child("full_disks_cost_nothing_else", place.path(), "once");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(limited.get_program())
        .args(limited.get_args());
    shell.envs(limited.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = shell.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("there is a shell");
    assert!(status.success());
    assert_eq!(CacheDirectory::new(place.path()).size().expect("a directory").functions, 0);
}
