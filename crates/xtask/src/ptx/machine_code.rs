//! The hot loop of a kernel, in the output of `nvdisasm`.

use std::fmt;

/// The opcodes of a loop, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HotLoop {
    opcodes: Vec<String>,
}

impl HotLoop {
    /// How many opcodes start with these words: `LDG.E` counts `LDG.E.128.CONSTANT`, but not `LDGSTS`.
    pub(super) fn count(&self, words: &str) -> usize {
        let fits =
            |opcode: &&String| opcode.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.opcodes.iter().filter(fits).count()
    }

    pub(super) fn ffma_share(&self) -> f64 {
        self.count("FFMA") as f64 / self.opcodes.len().max(1) as f64
    }
}

impl fmt::Display for HotLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instructions, {:.0} % FFMA", self.opcodes.len(), self.ffma_share() * 100.0)?;
        for opcode in ["LDG", "LDS", "STS"] {
            let (all, wide) = (self.count(opcode), self.count_wide(opcode));
            if all > 0 {
                write!(f, ", {all} {opcode} ({wide} of 128 bits)")?;
            }
        }
        Ok(())
    }
}

impl HotLoop {
    fn count_wide(&self, opcode: &str) -> usize {
        let wide =
            |known: &&String| known.split('.').next() == Some(opcode) && known.split('.').any(|word| word == "128");
        self.opcodes.iter().filter(wide).count()
    }
}

/// How many instructions of all the code access global memory, and how many of them move 128 bits.
pub(super) fn global_accesses(code: &str) -> (usize, usize) {
    let all = HotLoop { opcodes: code.lines().filter_map(opcode).map(str::to_owned).collect() };
    let both = |count: fn(&HotLoop, &str) -> usize| count(&all, "LDG") + count(&all, "STG");
    (both(HotLoop::count), both(HotLoop::count_wide))
}

/// The opcode in a line, if it is an instruction: `@!P0 BRA` is `BRA`.
fn opcode(line: &str) -> Option<&str> {
    let (_, instruction) = line.split_once("*/")?;
    let opcode = instruction.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    Some(opcode.trim_end_matches(';'))
}

/// The loop with the most FFMA, of those the shortest; without FFMA the longest innermost loop.
pub(super) fn hot_loop(code: &str) -> Option<HotLoop> {
    let mut labels: Vec<(&str, usize)> = Vec::new();
    let mut opcodes: Vec<String> = Vec::new();
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for line in code.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            labels.push((label, opcodes.len()));
        } else if let Some(opcode) = opcode(line) {
            let opcode = opcode.to_owned();
            // Returns from a subroutine name its start, but are no loop.
            let jumps = opcode == "BRA";
            opcodes.push(opcode);
            let target = line.split_once("`(").and_then(|(_, rest)| rest.split_once(')')).filter(|_| jumps);
            if let Some((target, _)) = target
                && let Some((_, start)) = labels.iter().find(|(label, _)| *label == target)
                && opcodes.len() - start > 1
            {
                loops.push((*start, opcodes.len()));
            }
        }
    }
    let innermost = |(start, end): &(usize, usize)| {
        !loops.iter().any(|(a, b)| (*a, *b) != (*start, *end) && start <= a && b <= end)
    };
    let body = |(start, end): &(usize, usize)| HotLoop { opcodes: opcodes[*start..*end].to_vec() };
    let found: Vec<HotLoop> = loops.iter().filter(|span| innermost(span)).map(body).collect();
    found.into_iter().max_by_key(|found| (found.count("FFMA"), found.opcodes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_by_their_branches_back() {
        let code = "\
matmul:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0020*/                   LDS.128 R4, [R2] ;
        /*0030*/                   LDG.E.128.CONSTANT R8, [R28.64] ;
        /*0040*/                   FFMA R4, R8, R9, R4 ;
        /*0050*/                   FFMA R5, R8, R9, R5 ;
        /*0060*/              @P1  BRA `(.L_x_1) ;
.L_x_0:
        /*0070*/                   EXIT ;
        /*0078*/                   RET.REL.NODEC R2 `(matmul) ;
.L_x_2:
        /*0080*/                   BRA `(.L_x_2);
";
        let hot = hot_loop(code).expect("there is a loop");
        assert_eq!(hot.opcodes, ["LDS.128", "LDG.E.128.CONSTANT", "FFMA", "FFMA", "BRA"]);
        assert_eq!((hot.count("LDS.128"), hot.count("LDG.E.128"), hot.count("LD")), (1, 1, 0));
        assert_eq!(hot.to_string(), "5 instructions, 40 % FFMA, 1 LDG (1 of 128 bits), 1 LDS (1 of 128 bits)");
        assert_eq!(hot_loop("        /*0070*/                   EXIT ;\n"), None);
        assert_eq!(global_accesses(code), (1, 1));
        let narrow = code.replace("EXIT", "STG.E [R2.64], R4").replace("LDG.E.128.CONSTANT", "LDG.E.64");
        assert_eq!(global_accesses(&narrow), (2, 0));
    }
}
