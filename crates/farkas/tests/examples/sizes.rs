//! Every engine at small sizes: 0, 1, 2, primes, and beside a power of two.

use farkas::{Role, ScalarType};
use ndarray::{ArrayD, IxDyn};

use crate::example::{Example, Refusal};
use crate::numbers::{Random, array, scalar};

pub(crate) type Sizes<'a> = Vec<(&'a str, usize)>;

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let mut agreed = 0;
    for sizes in sizes_to_try(example)?.into_iter().filter(|sizes| is_well_posed(example, sizes)) {
        match inputs(example, &sizes).and_then(|inputs| example.try_run(&sizes, &inputs)) {
            Ok(_) => agreed += 1,
            Err(Refusal::Sizes | Refusal::Data(_)) => {}
            Err(Refusal::Failed(why)) => return Err(format!("{sizes:?}: {why}")),
        }
    }
    if agreed < 5 && !example.brings_its_data() { Err(format!("only {agreed} calls were possible")) } else { Ok(()) }
}

/// Equal sizes, the last larger than tiles for a small machine if there are few of them; different ones, rotated; and each parameter in turn at 31 and 33 while the others are small.
pub(crate) fn sizes_to_try(example: &Example) -> Result<Vec<Sizes<'_>>, String> {
    let params: Vec<&str> = example.function()?.signature().params.iter().map(String::as_str).collect();
    let mut found = sizes_of(&params);
    found.retain(|sizes| is_small(example, sizes));
    Ok(found)
}

fn sizes_of<'a>(params: &[&'a str]) -> Vec<Sizes<'a>> {
    const DIFFERENT: [usize; 7] = [5, 3, 7, 2, 1, 4, 0];
    let numbered = || params.iter().copied().enumerate();
    let mut found: Vec<Sizes<'a>> = [0, 1, 2].map(|size| numbered().map(|(_, name)| (name, size)).collect()).into();
    if params.len() <= 4 {
        found.push(numbered().map(|(_, name)| (name, 23)).collect());
    }
    for shift in 0..DIFFERENT.len() {
        found.push(numbered().map(|(place, name)| (name, DIFFERENT[(place + shift) % DIFFERENT.len()])).collect());
    }
    for (wide, _) in numbered() {
        for (size, other) in [(31, 2), (33, 3)] {
            found.push(numbered().map(|(place, name)| (name, if place == wide { size } else { other })).collect());
        }
    }
    found
}

/// Whether the arguments have so few elements that the interpreter does not take long. A size may count tiles.
fn is_small(example: &Example, sizes: &Sizes<'_>) -> bool {
    let Ok(function) = example.function() else { return true };
    let args = function.signature().args.iter();
    let elements =
        args.filter_map(|argument| Some(example.shape(sizes, &argument.name).ok()?.iter().product::<usize>()));
    elements.sum::<usize>() <= 1 << 16
}

/// More columns than rows cannot be independent: what is left of the later ones is rounding errors.
pub(crate) fn is_well_posed(example: &Example, sizes: &Sizes<'_>) -> bool {
    let size = |name: &str| sizes.iter().find(|(known, _)| *known == name).map_or(0, |(_, size)| *size);
    example.name != "polybench/gramschmidt" || size("M") >= size("N")
}

/// Numbers in no pattern, but such that nothing is ill-conditioned: matrices have large diagonals, vectors are positive
/// and small.
pub(crate) fn inputs<'a>(example: &'a Example, sizes: &Sizes<'_>) -> Result<Vec<(&'a str, ArrayD<f64>)>, Refusal> {
    let mut random = Random(1);
    let mut inputs = Vec::new();
    let signature = example.function().map_err(Refusal::Failed)?.signature();
    for argument in signature.args.iter().filter(|argument| argument.role != Role::Out) {
        let array = match (argument.ty, argument.shape.len()) {
            (ScalarType::F32 | ScalarType::F64, 0) => {
                // PolyBench has N as a number as well.
                let size = sizes.iter().find(|(param, _)| argument.name == "float_n" && *param == "N");
                scalar(size.map_or_else(|| 0.25 + random.fraction(), |(_, size)| *size as f64))
            }
            (_, 0) => scalar(random.below(5) - 2.0),
            (ty, _) => {
                let shape = example.shape(sizes, &argument.name)?;
                array(IxDyn(&shape), |place| match (ty, shape.as_slice()) {
                    (ty, _) if ty.is_unsigned() => random.below(2),
                    (ScalarType::I8 | ScalarType::I64, _) => random.below(4),
                    (ScalarType::I16 | ScalarType::I32, _) => random.below(20),
                    (_, [length]) => random.fraction() / *length as f64,
                    (_, [rows, columns]) if place[0] == place[1] => random.fraction() + (rows + columns) as f64 / 2.0,
                    _ => random.fraction() - 0.5,
                })
            }
        };
        inputs.push((argument.name.as_str(), array));
    }
    Ok(inputs)
}
