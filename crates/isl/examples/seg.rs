use farkas_isl::*;
fn main() {
    let c = Context::new().unwrap();
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let yaml = "domain: \"[N] -> { S[i, j] : 0 <= i < N and 0 <= j < N }\"\nchild:\n  schedule: \"[N] -> L[{ S[i,j] -> [(i)] }]\"\n";
    let flow = Schedule::read_from_yaml(&c, yaml).unwrap().to_str().unwrap();
    let t = [format!("{flow} more"), format!("{yaml}\n- more"), format!("{yaml}\nmore: 3"), "".to_string(), "domain:".into(), "schedule: x".into(), "domain: \"{ A[i] }\"\nchild:\n  schedule: 3".into(), "\u{feff}[[".into()];
    println!("{:?} -> {:?}", t[n], Schedule::read_from_yaml(&c, &t[n]));
}
