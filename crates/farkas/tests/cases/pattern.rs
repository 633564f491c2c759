//! Expected text in which `…` stands for anything: for any number of lines on a line of its own, else for any
//! characters of its line.

const ANYTHING: char = '…';

/// Lines without trailing spaces, and without blank lines at both ends.
fn lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(start, |last| last + 1);
    lines[start..end].to_vec()
}

/// The text as `lines` sees it, for a section.
pub(crate) fn normalise(text: &str) -> String {
    lines(text).iter().map(|line| format!("{line}\n")).collect()
}

/// Whether the pattern asks for anything at all.
pub(crate) fn says_something(pattern: &str) -> bool {
    pattern.lines().any(|line| !line.trim().is_empty() && !is_gap(line))
}

pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    glob(&lines(pattern), &lines(text), &|line| is_gap(line), &|pattern, line| line_matches(pattern, line))
}

fn is_gap(line: &str) -> bool {
    line.trim() == "…"
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let (pattern, line): (Vec<char>, Vec<char>) = (pattern.chars().collect(), line.chars().collect());
    glob(&pattern, &line, &|c| *c == ANYTHING, &|a, b| a == b)
}

/// Whether `items` is `pattern` with every gap filled. On a mismatch the last gap takes one item more.
fn glob<T>(pattern: &[T], items: &[T], is_gap: &impl Fn(&T) -> bool, same: &impl Fn(&T, &T) -> bool) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while i < items.len() {
        if pattern.get(p).is_some_and(is_gap) {
            retry = Some((p, i));
            p += 1;
        } else if pattern.get(p).is_some_and(|expected| same(expected, &items[i])) {
            (p, i) = (p + 1, i + 1);
        } else if let Some((gap, from)) = retry {
            retry = Some((gap, from + 1));
            (p, i) = (gap + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_gap)
}

/// Expected and found text, line by line: `-` is expected only, `+` is found only.
pub(crate) fn diff(expected: &str, found: &str) -> String {
    let (expected, found) = (lines(expected), lines(found));
    // The length of the longest common part of the rests that begin at each pair of lines.
    let mut common = vec![vec![0_usize; found.len() + 1]; expected.len() + 1];
    for e in (0..expected.len()).rev() {
        for f in (0..found.len()).rev() {
            common[e][f] = if !is_gap(expected[e]) && line_matches(expected[e], found[f]) {
                common[e + 1][f + 1] + 1
            } else {
                common[e + 1][f].max(common[e][f + 1])
            };
        }
    }
    let (mut e, mut f) = (0, 0);
    let mut diff = String::new();
    while e < expected.len() || f < found.len() {
        let both = e < expected.len() && f < found.len();
        let (mark, line) = if both && !is_gap(expected[e]) && line_matches(expected[e], found[f]) {
            (e, f) = (e + 1, f + 1);
            (' ', found[f - 1])
        } else if f >= found.len() || both && common[e + 1][f] >= common[e][f + 1] {
            e += 1;
            (if is_gap(expected[e - 1]) { ' ' } else { '-' }, expected[e - 1])
        } else {
            f += 1;
            ('+', found[f - 1])
        };
        diff.push_str(&format!("{mark} {line}\n"));
    }
    diff
}
