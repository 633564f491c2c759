//! Weights under which facts contradict each other: Farkas' lemma.
//!
//! In: linear forms of which none is said to be negative.  Out: `true` if weights are found, none of them negative, under which the sum of the
//! forms is a negative number. Wherever no rational values make all forms hold, there are such weights, so that no order in which to look at
//! facts has to be guessed.
//! Which forms matter is found in floating point: they span the face of a cone that is nearest to a negative number (non-negative least
//! squares, after Lawson and Hanson). Their weights are computed, and the sum is taken, in integers: what is not exact may cost an answer, but
//! cannot make one wrong.

use super::forms::Form;

/// So often the set of forms that matter is changed at most.
const MOST_CHANGES: usize = 200;
/// So many proofs are remembered.
const MOST_PROOFS: usize = 8;
/// What is smaller is rounding.
const SMALL: f64 = 1e-9;

/// The numbers of forms that have contradicted each other, those of the last proof first. Where forms come in the same order again, others
/// like them do so, too.
#[derive(Debug, Default)]
pub(super) struct Proofs(Vec<Vec<usize>>);

impl Proofs {
    /// Whether one of them shows of these forms, too, that they contradict each other.
    pub(super) fn fit(&mut self, forms: &[&Form]) -> bool {
        let known = self.0.iter().position(|chosen| is_contradiction(forms, chosen));
        known.inspect(|known| self.0[..=*known].rotate_right(1)).is_some()
    }
}

/// Whether it is shown that at least one of the forms is negative, whatever its variables are. How is kept.
pub(super) fn contradict(forms: &[&Form], proofs: &mut Proofs) -> bool {
    let Some(chosen) = Cone::of(forms).face().filter(|chosen| is_contradiction(forms, chosen)) else { return false };
    proofs.0.insert(0, chosen);
    proofs.0.truncate(MOST_PROOFS);
    true
}

/// Whether weights show it of the forms with these numbers.
fn is_contradiction(forms: &[&Form], chosen: &[usize]) -> bool {
    let chosen: Option<Vec<&Form>> = chosen.iter().map(|number| forms.get(*number).copied()).collect();
    let refuted = |forms: Vec<&Form>| is_refutation(&forms, &vanishing(&forms)?);
    chosen.and_then(refuted).unwrap_or(false)
}

/// Whether no weight is negative and the weighted sum is a negative number; `None` on overflow.
fn is_refutation(forms: &[&Form], weights: &[i128]) -> Option<bool> {
    let mut constant = 0i128;
    let mut sums = vec![0i128; variables(forms).last().map_or(0, |last| last + 1)];
    for (form, weight) in forms.iter().zip(weights) {
        constant = constant.checked_add(weight.checked_mul(form.constant.into())?)?;
        for (variable, coefficient) in &form.terms {
            sums[*variable] = sums[*variable].checked_add(weight.checked_mul((*coefficient).into())?)?;
        }
    }
    let allowed = forms.len() == weights.len() && weights.iter().all(|weight| *weight >= 0);
    Some(allowed && sums.iter().all(|sum| *sum == 0) && constant < 0)
}

/// The variables of some forms, in ascending order.
fn variables(forms: &[&Form]) -> Vec<usize> {
    let mut variables: Vec<usize> = forms.iter().flat_map(|form| form.terms.iter().map(|(of, _)| *of)).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

fn coefficient(form: &Form, variable: usize) -> i64 {
    form.terms.iter().find(|(of, _)| *of == variable).map_or(0, |(_, coefficient)| *coefficient)
}

/// The weights under which all variables vanish, where they are the only ones but for a factor: Gauss and Jordan without
/// fractions, in which the pivot before divides every entry (Bareiss).
fn vanishing(forms: &[&Form]) -> Option<Vec<i128>> {
    let row = |variable: usize| forms.iter().map(|form| coefficient(form, variable).into()).collect::<Vec<i128>>();
    let mut rows: Vec<Vec<i128>> = variables(forms).into_iter().map(row).collect();
    let (mut pivots, mut free, mut before) = (Vec::new(), None, 1i128);
    for column in 0..forms.len() {
        let next = pivots.len();
        let Some(found) = (next..rows.len()).find(|row| rows[*row][column] != 0) else {
            match free.replace(column) {
                None => continue,
                Some(_) => return None,
            }
        };
        rows.swap(next, found);
        let with = rows[next].clone();
        for row in rows.iter_mut().enumerate().filter(|(number, _)| *number != next).map(|(_, row)| row) {
            let by = row[column];
            for (entry, with_entry) in row.iter_mut().zip(&with) {
                let (here, there) = (entry.checked_mul(with[column])?, with_entry.checked_mul(by)?);
                *entry = here.checked_sub(there)? / before;
            }
        }
        before = with[column];
        pivots.push(column);
    }
    let free = free?;
    let mut weights = vec![0i128; forms.len()];
    weights[free] = before.checked_abs()?;
    for (row, column) in pivots.into_iter().enumerate() {
        weights[column] = rows[row][free].checked_mul(-before.signum())?;
    }
    Some(weights)
}

/// Forms as vectors: their coefficients and, last, their constant, without zeros. Each variable is measured by its largest coefficient, and
/// each vector has length one.
struct Cone {
    vectors: Vec<Vec<(usize, f64)>>,
    /// How many numbers a vector has.
    rank: usize,
}

impl Cone {
    fn of(forms: &[&Form]) -> Cone {
        let variables = variables(forms);
        let rank = variables.len() + 1;
        let mut largest = vec![0.0f64; rank];
        let mut vectors = Vec::with_capacity(forms.len());
        for form in forms {
            let place = |variable: &usize| variables.partition_point(|known| known < variable);
            let terms = form.terms.iter().map(|(variable, coefficient)| (place(variable), *coefficient as f64));
            let vector: Vec<(usize, f64)> = terms.chain([(rank - 1, form.constant as f64)]).collect();
            vector.iter().for_each(|(place, entry)| largest[*place] = largest[*place].max(entry.abs()));
            vectors.push(vector);
        }
        for vector in &mut vectors {
            vector.retain(|(_, entry)| *entry != 0.0);
            vector.iter_mut().for_each(|(place, entry)| *entry /= largest[*place]);
            let length = vector.iter().map(|(_, entry)| entry * entry).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|(_, entry)| *entry /= length);
        }
        Cone { vectors, rank }
    }

    /// The vectors of which a negative number is a sum with positive weights, if it seems to be one. None can be left out.
    fn face(&self) -> Option<Vec<usize>> {
        let mut face = Face::new(self.rank);
        // What has turned out to be of no help in the present place.
        let mut barred = Vec::new();
        for _ in 0..MOST_CHANGES {
            if dot(&face.rest, &face.rest).sqrt() < SMALL {
                return Some(face.chosen);
            }
            let mut best = (None, SMALL);
            for (number, vector) in self.vectors.iter().enumerate() {
                let help = vector.iter().map(|(place, entry)| entry * face.rest[*place]).sum();
                if help > best.1 && !face.chosen.contains(&number) && !barred.contains(&number) {
                    best = (Some(number), help);
                }
            }
            let best = best.0?;
            match self.widened(&face, best) {
                Some(wider) => {
                    face = wider;
                    barred.clear();
                }
                None => barred.push(best),
            }
        }
        None
    }

    /// A face with one more vector, but without those whose weights would then be negative; none if that is the new one.
    fn widened(&self, face: &Face, with: usize) -> Option<Face> {
        let mut weights = [face.weights(), vec![0.0]].concat();
        let mut face = face.clone();
        face.push(with, &self.vectors[with])?;
        let mut best = face.weights();
        if *best.last()? <= 0.0 {
            return None;
        }
        while best.iter().any(|weight| *weight <= 0.0) {
            // As far towards them as all weights stay positive.
            let pairs = || weights.iter().zip(&best);
            let steps = pairs().filter(|(_, best)| **best <= 0.0).map(|(weight, best)| weight / (weight - best));
            let step = steps.fold(1.0, f64::min);
            let moved: Vec<f64> = pairs().map(|(weight, best)| weight + step * (best - weight)).collect();
            let stays = |number: &usize| best[*number] > 0.0 || moved[*number] > SMALL;
            let mut narrower = Face::new(self.rank);
            for number in (0..moved.len()).filter(stays) {
                narrower.push(face.chosen[number], &self.vectors[face.chosen[number]])?;
            }
            weights = (0..moved.len()).filter(stays).map(|number| moved[number]).collect();
            best = narrower.weights();
            face = narrower;
        }
        Some(face)
    }
}

/// Some vectors of a cone, and the point of their span that is nearest to a negative number.
#[derive(Clone)]
struct Face {
    chosen: Vec<usize>,
    /// The vectors made orthogonal to those before (Gram and Schmidt), and what each had of these and of itself.
    across: Vec<Vec<f64>>,
    upper: Vec<Vec<f64>>,
    /// How far that point is along each, and what is missing from there.
    along: Vec<f64>,
    rest: Vec<f64>,
}

impl Face {
    fn new(rank: usize) -> Face {
        let mut rest = vec![0.0; rank];
        rest[rank - 1] = -1.0;
        Face { chosen: Vec::new(), across: Vec::new(), upper: Vec::new(), along: Vec::new(), rest }
    }

    /// Adds a vector; none if it depends on the others.
    fn push(&mut self, number: usize, entries: &[(usize, f64)]) -> Option<()> {
        let mut vector = vec![0.0; self.rest.len()];
        entries.iter().for_each(|(place, entry)| vector[*place] = *entry);
        let mut above = Vec::with_capacity(self.across.len() + 1);
        for known in &self.across {
            let along = dot(&vector, known);
            vector.iter_mut().zip(known).for_each(|(entry, known)| *entry -= along * known);
            above.push(along);
        }
        let length = dot(&vector, &vector).sqrt();
        if length < SMALL {
            return None;
        }
        vector.iter_mut().for_each(|entry| *entry /= length);
        above.push(length);
        let along = dot(&self.rest, &vector);
        self.rest.iter_mut().zip(&vector).for_each(|(rest, entry)| *rest -= along * entry);
        self.chosen.push(number);
        self.along.push(along);
        self.across.push(vector);
        self.upper.push(above);
        Some(())
    }

    /// The weights of the vectors at that point, whatever their sign.
    fn weights(&self) -> Vec<f64> {
        let mut weights = self.along.clone();
        for column in (0..weights.len()).rev() {
            weights[column] /= self.upper[column][column];
            for row in 0..column {
                weights[row] -= self.upper[column][row] * weights[column];
            }
        }
        weights
    }
}

fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(constant: i64, terms: &[(usize, i64)]) -> Form {
        Form { constant, terms: terms.to_vec() }
    }

    fn do_contradict(forms: &[Form]) -> bool {
        contradict(&forms.iter().collect::<Vec<_>>(), &mut Proofs::default())
    }

    #[test]
    fn forms_that_cannot_all_hold_contradict() {
        // `x >= 3` and `x <= 2`.
        let (above, below) = (form(-3, &[(0, 1)]), form(2, &[(0, -1)]));
        assert!(do_contradict(&[above.clone(), below]));
        assert!(!do_contradict(&[above, form(3, &[(0, -1)])]));
        assert!(do_contradict(&[form(-1, &[])]));
        assert!(!do_contradict(&[form(0, &[])]));
        assert!(!do_contradict(&[]));
        // `3 x >= 2 y + 1`, `5 y >= 7 z + 1`, `2 z >= x`, and none of them large: 15 x >= 14 z + 7 >= 7 x + 7 holds from 1 on.
        let circle = |most: i64| {
            [
                form(-1, &[(0, 3), (1, -2)]),
                form(-1, &[(1, 5), (2, -7)]),
                form(0, &[(0, -1), (2, 2)]),
                form(most, &[(0, -8)]),
            ]
        };
        assert!(do_contradict(&circle(6)));
        assert!(!do_contradict(&circle(7)));
    }

    #[test]
    fn what_does_not_matter_does_not_disturb() {
        let mut forms: Vec<Form> = (0..40).map(|number| form(number, &[(number as usize, 1), (50, -1)])).collect();
        assert!(!do_contradict(&forms));
        forms.extend([form(-100, &[(50, 1)]), form(60, &[(7, -1)])]);
        assert!(do_contradict(&forms));
    }

    #[test]
    fn what_overflows_shows_nothing() {
        let large = i64::MAX;
        let forms: Vec<Form> = (0..8)
            .flat_map(|number| [form(-large, &[(number, large), (number + 1, -large + 1)])])
            .chain([form(-1, &[(8, large)]), form(-large, &[(0, -large)])])
            .collect();
        let chosen: Vec<&Form> = forms.iter().collect();
        assert_eq!(vanishing(&chosen), None);
        assert_eq!(is_refutation(&[&forms[0]; 3], &[i128::MAX; 3]), None);
    }

    #[test]
    fn only_weights_that_add_up_refute() {
        let forms = [form(-3, &[(0, 1)]), form(2, &[(0, -1)])];
        let forms: Vec<&Form> = forms.iter().collect();
        assert_eq!(is_refutation(&forms, &[1, 1]), Some(true));
        for wrong in [[1, 2], [0, 0], [-1, -1]] {
            assert_eq!(is_refutation(&forms, &wrong), Some(false));
        }
        assert_eq!(is_refutation(&forms, &[1]), Some(false));
    }

    #[test]
    fn proofs_fit_what_is_alike() {
        let forms = |least: i64| [form(9, &[(1, 1)]), form(-least, &[(0, 1)]), form(5, &[(0, -1)])];
        let mut proofs = Proofs::default();
        let fits = |proofs: &mut Proofs, forms: &[Form]| proofs.fit(&forms.iter().collect::<Vec<_>>());
        assert!(!fits(&mut proofs, &forms(6)));
        assert!(contradict(&forms(6).iter().collect::<Vec<_>>(), &mut proofs));
        assert!(fits(&mut proofs, &forms(7)));
        assert!(!fits(&mut proofs, &forms(5)));
        assert!(!fits(&mut proofs, &forms(7)[..2]));
    }
}
