use farkas::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source::new(path.as_str(), text.as_str());
    let emit = std::env::args().skip(2).map(|s| s.parse().unwrap()).collect();
    match Engine::with_options(Options { emit, ..Options::default() }).compile_source(&source) {
        Err(e) => println!("{}", e.render(Style::Plain)),
        Ok(m) => for f in m.functions() {
            for (e, t) in f.texts() { println!("--- {e}\n{t}"); }
            for t in f.timings() { println!("time: {} {:.3} ms", t.stage, t.time.as_secs_f64()*1e3); }
        }
    }
}
