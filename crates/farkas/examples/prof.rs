use farkas::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source::new(path.as_str(), text.as_str());
    let mut best: Vec<(&str, f64)> = vec![];
    for _ in 0..n {
        let m = Engine::new().compile_source(&source).unwrap();
        for t in m.functions()[0].timings() {
            let ms = t.time.as_secs_f64() * 1e3;
            match best.iter_mut().find(|b| b.0 == t.stage) { Some(b) => b.1 = b.1.min(ms), None => best.push((t.stage, ms)) }
        }
    }
    println!("{best:?}");
}
