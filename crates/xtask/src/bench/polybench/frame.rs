//! A C program around the C source of a kernel: reads its arguments from files, times calls, and prints sums of the results.

use std::fmt::Write as _;

/// An argument as the signature in the C source's first comment declares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    /// A scalar type of the language.
    pub(super) ty: String,
    /// `None` for a scalar.
    pub(super) extents: Option<Vec<String>>,
    pub(super) is_written: bool,
    pub(super) is_read: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) sizes: Vec<String>,
    pub(super) args: Vec<Argument>,
}

impl Signature {
    /// Reads the line ` * fn NAME<SIZES>(ARGS) -> (RESULTS)` of the header comment.
    pub(super) fn read(source: &str) -> Option<Signature> {
        let line = source.lines().find_map(|line| line.strip_prefix(" * fn "))?;
        let (name, rest) = line.split_once('<')?;
        let (sizes, rest) = rest.split_once(">(")?;
        let (inputs, rest) = rest.split_once(')')?;
        let results = rest.split_once("-> (").and_then(|(_, results)| results.split_once(')')).map(|(list, _)| list);
        let mut args = Vec::new();
        for text in split_list(inputs) {
            let (text, is_written) = text.strip_prefix("inout ").map_or((text, false), |text| (text, true));
            args.push(read_argument(text, is_written, true)?);
        }
        for text in split_list(results.unwrap_or_default()) {
            args.push(read_argument(text, true, false)?);
        }
        Some(Signature {
            name: name.to_owned(),
            sizes: sizes.split(',').map(|size| size.trim().to_owned()).collect(),
            args,
        })
    }
}

fn read_argument(text: &str, is_written: bool, is_read: bool) -> Option<Argument> {
    let (name, ty) = text.split_once(": ")?;
    let (ty, extents) = match ty.split_once('[') {
        None => (ty, None),
        Some((ty, extents)) => (ty, Some(split_list(extents.strip_suffix(']')?).map(str::to_owned).collect())),
    };
    Some(Argument { name: name.to_owned(), ty: ty.trim().to_owned(), extents, is_written, is_read })
}

/// The parts between the commas that stand in no bracket.
fn split_list(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = list.split(move |letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn c_type(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "f64" => "double",
        "f32" => "float",
        "i64" => "int64_t",
        "i32" => "int32_t",
        "i8" => "int8_t",
        _ => return None,
    })
}

/// The program `FOLDER SIZES… SCALARS… REPEAT`, which prints the best time in seconds, and then the sum of each result.
pub(super) fn write_program(signature: &Signature, kernel_file: &str) -> Result<String, String> {
    let mut body = String::new();
    let mut reset = String::new();
    let mut sums = String::new();
    let mut call: Vec<String> = Vec::new();
    let mut position = 2;
    for size in &signature.sizes {
        let _ = writeln!(body, "    int64_t {size} = argument(argc, argv, {position});");
        call.push(size.clone());
        position += 1;
    }
    for Argument { name, ty, extents, is_written, is_read } in &signature.args {
        let c = c_type(ty).ok_or_else(|| format!("{}: no C type for {ty}", signature.name))?;
        match extents {
            None => {
                let _ = writeln!(body, "    {c} {name} = ({c})atof(argv[{position}]);");
                call.push(name.clone());
                position += 1;
            }
            Some(extents) => {
                let count = extents.iter().map(|extent| format!("({extent})")).collect::<Vec<_>>().join(" * ");
                let _ = writeln!(
                    body,
                    "    size_t count_{name} = (size_t)({count}), bytes_{name} = count_{name} * sizeof({c});"
                );
                let origin =
                    if *is_read { format!("read_array(argv[1], \"{name}\", bytes_{name})") } else { "NULL".to_owned() };
                let _ = writeln!(body, "    {c} *first_{name} = {origin};");
                if *is_written {
                    let _ = writeln!(body, "    {c} *now_{name} = allocate_array(bytes_{name});");
                    if *is_read {
                        let _ = writeln!(reset, "        memcpy(now_{name}, first_{name}, bytes_{name});");
                    }
                    let _ = writeln!(
                        sums,
                        "    {{ double sum = 0; for (size_t i = 0; i < count_{name}; i++) sum += (double)now_{name}[i]; printf(\"{name} %.17g\\n\", sum); }}"
                    );
                    call.push(format!("now_{name}"));
                } else {
                    call.push(format!("first_{name}"));
                }
            }
        }
    }
    let call = format!("{}({})", signature.name, call.join(", "));
    Ok(format!(
        "#include \"{kernel_file}\"\n#include <string.h>\n#include \"bench.h\"\n#include \"arrays.h\"\n\n\
         int main(int argc, char **argv) {{\n    if (argc <= {position}) return 2;\n{body}    double best = 1e300;\n    \
         for (long r = argument(argc, argv, {position}); r > 0; r--) {{\n{reset}        double start = now();\n        \
         int status = {call};\n        double spent = now() - start;\n        if (status) return 1;\n        \
         if (spent < best) best = spent;\n    }}\n    printf(\"%.9f\\n\", best);\n{sums}    return 0;\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/*\n * fn f<N, M>( a: f32, A: f64[N, M], inout C: i32[M], ) -> (x: f64[N + 1])\n *\n";

    fn argument(name: &str, ty: &str, extents: Option<&[&str]>, is_written: bool, is_read: bool) -> Argument {
        let extents = extents.map(|list| list.iter().map(|&extent| extent.to_owned()).collect());
        Argument { name: name.to_owned(), ty: ty.to_owned(), extents, is_written, is_read }
    }

    #[test]
    fn signatures_are_read_from_the_comment() {
        let signature = Signature::read(SOURCE).expect("the comment holds a signature");
        assert_eq!((signature.name.as_str(), signature.sizes.as_slice()), ("f", &["N".to_owned(), "M".to_owned()][..]));
        let wanted = [
            argument("a", "f32", None, false, true),
            argument("A", "f64", Some(&["N", "M"]), false, true),
            argument("C", "i32", Some(&["M"]), true, true),
            argument("x", "f64", Some(&["N + 1"]), true, false),
        ];
        assert_eq!(signature.args, wanted);
        assert_eq!(Signature::read("int main() {}"), None);
    }

    #[test]
    fn programs_call_with_sizes_first_and_reset_what_is_written() {
        let signature = Signature::read(SOURCE).expect("the comment holds a signature");
        let program = write_program(&signature, "f.c").expect("all types have a C type");
        assert!(program.contains("f(N, M, a, first_A, now_C, now_x)"), "{program}");
        assert!(program.contains("memcpy(now_C, first_C, bytes_C)"), "{program}");
        assert!(!program.contains("memcpy(now_x"), "{program}");
        assert!(program.contains("(size_t)((N + 1))"), "{program}");
    }
}
