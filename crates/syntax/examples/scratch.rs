use diag::{Source, Style, render};
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    for case in text.split("\n%%\n") {
        let source = Source::new("f.fks", case);
        let show = |t: &str| println!("{t}\n~~~~");
        match std::env::args().nth(2).as_deref() {
            Some("fmt") => match farkas_syntax::format(&source) { Ok(t) => show(&t), Err(e) => show(&render(&source, &e, Style::Plain)) },
            _ => match farkas_syntax::parse(&source) { Ok(f) => show(&farkas_syntax::print_ast(&f)), Err(e) => show(&render(&source, &e, Style::Plain)) },
        }
    }
}
