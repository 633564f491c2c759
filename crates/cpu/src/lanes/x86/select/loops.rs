//! Counted loops, and which registers their values share.

use std::collections::HashMap;

use iced_x86::Code;

use super::Selector;
use crate::lanes::ir::{Carried, Loop, Op, Stmt, ValueId};
use crate::lanes::x86::machine::{First, Item, Operand, VReg, View};

impl Selector<'_> {
    pub(super) fn r#loop(&mut self, r#loop: &Loop) -> diag::Result<()> {
        if let Some(jump) = self.jump_unless(r#loop.trips) {
            return self.once(r#loop, jump);
        }
        let entry = self.position;
        let trips = self.constants[r#loop.trips.index()];
        // Before the parameters are set, as one of them may take the register of the number of trips.
        let count = self.general();
        match trips {
            Some(trips) => self.set_word(count, trips),
            None => {
                let trips = self.word(r#loop.trips);
                self.copy(count, trips);
            }
        }
        self.start(r#loop, entry);
        let (head, exit) = (self.stream.label(), self.stream.label());
        if trips.is_none_or(|trips| trips <= 0) {
            let operands = vec![Operand::Reg(count, View::Q), Operand::Reg(count, View::Q)];
            self.push(Code::Test_rm64_r64, First::Read, operands);
            self.jump(Code::Jle_rel32_64, exit);
        }
        self.stream.items.push(Item::LoopStart);
        self.place_label(head);
        self.turn(r#loop)?;
        self.general_op(Code::Add_rm64_imm8, count, Operand::Imm(-1));
        self.jump(Code::Jne_rel32_64, head);
        self.stream.items.push(Item::LoopEnd);
        self.place_label(exit);
        self.finish(&r#loop.carried);
        Ok(())
    }

    /// What happens once or not at all needs no counter, and nothing in it is repeated. The flags say which; values are moved in between, which
    /// leaves them alone.
    fn once(&mut self, r#loop: &Loop, jump: Code) -> diag::Result<()> {
        self.start(r#loop, self.position);
        let exit = self.stream.label();
        self.jump(jump, exit);
        self.turn(r#loop)?;
        self.place_label(exit);
        self.finish(&r#loop.carried);
        Ok(())
    }

    /// The registers of the parameters, with what they start as.
    fn start(&mut self, r#loop: &Loop, entry: usize) {
        let all = r#loop.carried.as_slice();
        let mut taken = Vec::new();
        for carried in all {
            let registers = self.parameter(carried, all, entry, &taken);
            taken.extend_from_slice(&registers);
            self.places[carried.param.index()] = registers;
        }
        self.enter(all);
        let made: HashMap<ValueId, &Op> = r#loop.body.iter().filter_map(Stmt::as_let).collect();
        for carried in all {
            if self.can_update_in_place(carried, all) {
                self.wanted[carried.next.index()] = Some(self.places[carried.param.index()].clone());
                self.add_in_place(carried, &made);
            }
        }
    }

    /// Where several products are added to a parameter, each sum between them is made in its register, too.
    fn add_in_place(&mut self, carried: &Carried, made: &HashMap<ValueId, &Op>) {
        let Carried { param, next, .. } = *carried;
        let mut sum = next;
        while let Some(Op::Fma(a, b, addend)) = made.get(&sum).copied().copied() {
            let facts = &self.facts;
            let (defined, last_use) = (facts.defined[addend.index()], facts.last_use[addend.index()]);
            let same_shape = facts.uniform[addend.index()] == facts.uniform[param.index()];
            let between = facts.last_use[param.index()] <= defined && last_use <= facts.defined[sum.index()];
            let alone = addend != a && addend != b && self.wanted[addend.index()].is_none();
            if !made.contains_key(&addend) || facts.folded[addend.index()] || !same_shape || !between || !alone {
                break;
            }
            self.wanted[addend.index()] = Some(self.places[param.index()].clone());
            sum = addend;
        }
    }

    /// The body, and the next values into the registers of the parameters.
    fn turn(&mut self, r#loop: &Loop) -> diag::Result<()> {
        self.stmts(&r#loop.body)?;
        self.position += 1;
        let steps = r#loop.carried.iter().map(|carried| (carried.param, carried.next)).collect::<Vec<_>>();
        self.move_all(&steps);
        Ok(())
    }

    /// The results are where the parameters were.
    fn finish(&mut self, all: &[Carried]) {
        for carried in all {
            self.places[carried.result.index()] = self.places[carried.param.index()].clone();
            self.constants[carried.result.index()] = None;
        }
    }

    /// Registers for a parameter: those that its result has to be in, or those of an initial value that nobody else
    /// needs, or new ones. `taken` are those of other parameters.
    fn parameter(&mut self, carried: &Carried, all: &[Carried], entry: usize, taken: &[VReg]) -> Vec<VReg> {
        if let Some(registers) = self.wanted[carried.result.index()].take() {
            return registers;
        }
        let Carried { init, param, .. } = *carried;
        let same_shape = self.facts.uniform[init.index()] == self.facts.uniform[param.index()];
        let once = all.iter().filter(|other| other.init == init).count() == 1;
        let free = self.facts.last_use[init.index()] == entry;
        // A register that another value has to be made in must not be kept busy until then.
        let promised = |place: &Vec<VReg>| {
            self.wanted.iter().flatten().any(|wanted| wanted == place) || place.iter().any(|reg| taken.contains(reg))
        };
        match &self.places[init.index()] {
            place if same_shape && once && free && !place.is_empty() && !promised(place) => place.clone(),
            _ => self.fresh_for(param),
        }
    }

    /// Whether the next value may be made in the register of the parameter: it is made in the loop, and nothing reads
    /// the parameter after that.
    fn can_update_in_place(&self, carried: &Carried, all: &[Carried]) -> bool {
        let Carried { param, next, .. } = *carried;
        let facts = &self.facts;
        let inside = facts.depth[next.index()] == facts.depth[param.index()];
        let is_parameter = all.iter().any(|other| other.param == next);
        let once = all.iter().filter(|other| other.next == next).count() == 1;
        let same_shape = facts.uniform[next.index()] == facts.uniform[param.index()];
        let dead = facts.last_use[param.index()] <= facts.defined[next.index()];
        let made_here = facts.defined[next.index()] > facts.defined[param.index()];
        inside && made_here && !is_parameter && once && same_shape && dead
    }

    /// The initial values, into the registers of the parameters.
    fn enter(&mut self, carried: &[Carried]) {
        let moves: Vec<(ValueId, ValueId)> = carried.iter().map(|carried| (carried.param, carried.init)).collect();
        self.move_all(&moves);
    }

    /// Copies values into the registers of others, all at once.
    fn move_all(&mut self, moves: &[(ValueId, ValueId)]) {
        let mut copies = Vec::new();
        for (to, from) in moves {
            let to = self.places[to.index()].clone();
            for (position, to) in to.into_iter().enumerate() {
                if self.places[from.index()].is_empty() {
                    copies.push((to, None, self.constants[from.index()]));
                } else {
                    let from = self.piece(*from, position);
                    if from != to {
                        copies.push((to, Some(from), None));
                    }
                }
            }
        }
        // What one copy overwrites and a later one reads goes through a register of its own.
        let written: Vec<VReg> = copies.iter().map(|(to, _, _)| *to).collect();
        for (position, (_, from, _)) in copies.iter_mut().enumerate() {
            if let Some(from) = from.as_mut().filter(|from| written[..position].contains(from)) {
                let kept = self.stream.fresh(self.stream.classes[from.index()]);
                self.stream.items.push(Item::Copy { to: kept, from: *from });
                *from = kept;
            }
        }
        for (to, from, constant) in copies {
            match from {
                Some(from) => self.copy(to, from),
                None => self.set_word(to, constant.unwrap_or(0)),
            }
        }
    }
}
