//! Evaluates its arguments as scripts; what `farkas layout` does.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use farkas_layout::calculator::evaluate;

fn main() {
    for script in std::env::args().skip(1) {
        println!("> {script}");
        match evaluate(&script) {
            Ok(answer) => {
                println!("{}", answer.result);
                if let Some(map) = answer.map {
                    println!("{map}");
                }
                answer.notes.iter().for_each(|note| println!("note: {note}"));
                if let Some(table) = answer.table {
                    print!("{}", table.to_text());
                }
            }
            Err(error) => println!("{error}"),
        }
    }
}
