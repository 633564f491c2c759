//! Loads, stores, atomics and copies: addresses are checked, races found, sectors and waves counted.

use super::code::{Lanes, Place, Source};
use super::fault::{FaultKind, Step, Trouble, trouble};
use super::memory::{Buffer, SHARED_BASE};
use super::shadow::{Conflict, Now, Touch};
use super::step::{Context, sign_extended};
use super::warp::{Arrival, Warp};
use crate::ir::{AtomicOp, Space, Type};

/// Where the bytes of one lane are.
enum Spot<'a> {
    Global(&'a Buffer, u64),
    Shared(u64),
}

/// Which reads of a warp's lanes say something new about a place.
///
/// Two lanes that read it make the record "several lanes". What a third one did before is known to be ordered, since the first two
/// were not told of a race.
#[derive(Default)]
struct Repeats {
    address: Option<u64>,
    times: u32,
}

impl Repeats {
    #[inline]
    fn is_news(&mut self, address: u64) -> bool {
        if self.address == Some(address) {
            self.times += 1;
            return self.times <= 2;
        }
        *self = Repeats { address: Some(address), times: 1 };
        true
    }
}

impl<'m> Context<'m> {
    #[expect(clippy::too_many_arguments, reason = "the fields of one instruction")]
    pub(super) fn load(
        &mut self,
        warp: &mut Warp,
        at: u32,
        place: Place,
        nc: bool,
        extend: Option<u32>,
        dst: &[u32; 4],
        mask: u32,
    ) -> Step<()> {
        let addresses = self.addresses(warp, place, mask)?;
        let touch = if nc { Touch::ReadOnly } else { Touch::Read };
        let mut values = [[0u64; 32]; 4];
        let mut before = Repeats::default();
        for lane in lanes(mask) {
            let spot = self.spot(warp, place, addresses[lane], lane)?;
            if before.is_news(addresses[lane]) {
                self.touch(warp, at, &spot, place, touch, lane)?;
            }
            for (element, values) in (0..place.count).zip(&mut values) {
                let value = match &spot {
                    Spot::Global(buffer, offset) => buffer.load(offset + u64::from(element * place.size), place.size),
                    Spot::Shared(offset) => self.shared.load(offset + u64::from(element * place.size), place.size),
                };
                values[lane] = sign_extended(value, place.size, extend);
            }
        }
        for (_, (row, values)) in (0..place.count).zip(dst.iter().zip(&values)) {
            warp.write(*row, values, mask);
        }
        Ok(())
    }

    pub(super) fn store(&mut self, warp: &mut Warp, at: u32, place: Place, src: &[Source; 4], mask: u32) -> Step<()> {
        let addresses = self.addresses(warp, place, mask)?;
        let mut values = [[0u64; 32]; 4];
        for (_, (source, values)) in (0..place.count).zip(src.iter().zip(&mut values)) {
            *values = *warp.read(self.code, *source, mask)?;
        }
        for lane in lanes(mask) {
            let spot = self.spot(warp, place, addresses[lane], lane)?;
            self.touch(warp, at, &spot, place, Touch::Write, lane)?;
            for (element, values) in (0..place.count).zip(&values) {
                match &spot {
                    Spot::Global(buffer, offset) => {
                        buffer.store(offset + u64::from(element * place.size), place.size, values[lane]);
                    }
                    Spot::Shared(offset) => {
                        self.shared.store(offset + u64::from(element * place.size), place.size, values[lane]);
                    }
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one instruction")]
    pub(super) fn atomic(
        &mut self,
        warp: &mut Warp,
        at: u32,
        place: Place,
        op: AtomicOp,
        ty: Type,
        dst: Option<u32>,
        operands: (Source, Option<Source>),
        mask: u32,
    ) -> Step<()> {
        let addresses = self.addresses(warp, place, mask)?;
        let b = *warp.read(self.code, operands.0, mask)?;
        let c = match operands.1 {
            Some(c) => *warp.read(self.code, c, mask)?,
            None => b,
        };
        let mut before: Lanes = [0; 32];
        for lane in lanes(mask) {
            let spot = self.spot(warp, place, addresses[lane], lane)?;
            self.touch(warp, at, &spot, place, Touch::Atomic, lane)?;
            let update = |old: u64| updated(op, ty, old, b[lane], c[lane]);
            before[lane] = match &spot {
                Spot::Global(buffer, offset) => buffer.update(*offset, place.size, update),
                Spot::Shared(offset) => {
                    let old = self.shared.load(*offset, place.size);
                    self.shared.store(*offset, place.size, update(old));
                    old
                }
            };
        }
        if let Some(dst) = dst {
            warp.write(dst, &before, mask);
        }
        Ok(())
    }

    /// Reads global memory now; shared memory is written when the group arrives.
    pub(super) fn copy_async(&mut self, warp: &mut Warp, at: u32, to: Place, from: Place, mask: u32) -> Step<()> {
        let sources = self.addresses(warp, from, mask)?;
        let targets = self.addresses(warp, to, mask)?;
        for lane in lanes(mask) {
            let spot = self.spot(warp, from, sources[lane], lane)?;
            self.touch(warp, at, &spot, from, Touch::Read, lane)?;
            let (Spot::Global(buffer, offset), Spot::Shared(to)) = (spot, self.spot(warp, to, targets[lane], lane)?)
            else {
                continue;
            };
            let words = (0..from.count).map(|word| buffer.load(offset + u64::from(word * 4), 4) as u32).collect();
            warp.arrivals.push(Arrival { group: warp.group, lane: lane as u32, to, words, at });
        }
        Ok(())
    }

    /// All but the newest `pending` committed groups arrive.
    pub(super) fn arrive(&mut self, warp: &mut Warp, pending: u32, mask: u32) -> Step<()> {
        let (due, later) = std::mem::take(&mut warp.arrivals)
            .into_iter()
            .partition(|arrival: &Arrival| arrival.group + pending < warp.group && mask >> arrival.lane & 1 == 1);
        warp.arrivals = later;
        let due: Vec<Arrival> = due;
        for arrival in due {
            let count = arrival.words.len() as u32;
            let place = Place { space: Space::Shared, base: Source::Constant(0), offset: 0, size: 4, count };
            let spot = Spot::Shared(arrival.to);
            self.touch(warp, arrival.at, &spot, place, Touch::Write, arrival.lane as usize)?;
            for (word, value) in (0..).zip(&arrival.words) {
                self.shared.store(arrival.to + word * 4, 4, u64::from(*value));
            }
        }
        Ok(())
    }

    /// The address of each lane. Counts what the access costs.
    fn addresses(&mut self, warp: &Warp, place: Place, mask: u32) -> Step<Lanes> {
        let base = warp.read(self.code, place.base, mask)?;
        let addresses = base.map(|base| base.wrapping_add(place.offset as u64));
        let bytes = u64::from(place.size * place.count);
        let mut found = [0u64; 32];
        let mut placed = [(0u32, 0u64); 32];
        let (mut globals, mut shareds) = (0, 0);
        for lane in lanes(mask) {
            let address = addresses[lane];
            // What threads have for themselves costs neither.
            if place.space == Space::Local
                || place.space == Space::Generic
                    && address >= SHARED_BASE
                    && self.specials.is_local(address - SHARED_BASE)
            {
                continue;
            }
            if place.space == Space::Shared || (place.space == Space::Generic && address >= SHARED_BASE) {
                placed[shareds] = (lane as u32, address);
                shareds += 1;
            } else {
                found[globals] = address;
                globals += 1;
            }
        }
        if globals > 0 {
            self.counts.global_access(&mut found[..globals], bytes);
        }
        if shareds > 0 {
            self.counts.shared_access(&placed[..shareds], bytes);
        }
        Ok(addresses)
    }

    /// Checks alignment and bounds.
    #[inline]
    fn spot(&self, warp: &Warp, place: Place, address: u64, lane: usize) -> Step<Spot<'m>> {
        let bytes = u64::from(place.size * place.count);
        let shared = matches!(place.space, Space::Shared | Space::Local)
            || (place.space == Space::Generic && address >= SHARED_BASE);
        let address = if shared && place.space == Space::Generic { address - SHARED_BASE } else { address };
        if !address.is_multiple_of(bytes) {
            return self.misaligned(warp, lane, address, bytes, shared);
        }
        if shared {
            let thread = warp.number * 32 + lane as u32;
            let local = place.space == Space::Local || place.space == Space::Generic && self.specials.is_local(address);
            let (kind, start, has) = match local {
                true => ("its own", self.specials.local_start(thread), self.specials.local),
                false => ("shared", 0, self.specials.shared),
            };
            let end = address.checked_add(bytes);
            if address < start || end.is_none_or(|end| end > start + has) {
                let (who, offset) = (self.who(thread, self.block), address.wrapping_sub(start) as i64);
                let message = format!("{who} touches byte {offset} of {kind} memory, which has {has} bytes");
                return trouble(FaultKind::OutOfBounds, message);
            }
            return Ok(Spot::Shared(address));
        }
        match self.memory.find(address) {
            (Some(buffer), offset) if offset + bytes <= buffer.bytes => Ok(Spot::Global(buffer, offset)),
            _ => {
                let who = self.who(warp.number * 32 + lane as u32, self.block);
                trouble(FaultKind::OutOfBounds, format!("{who} touches {}", self.memory.describe(address)))
            }
        }
    }

    #[cold]
    fn misaligned<T>(&self, warp: &Warp, lane: usize, address: u64, bytes: u64, shared: bool) -> Step<T> {
        let who = self.who(warp.number * 32 + lane as u32, self.block);
        let place = if shared { self.shared_name(address) } else { self.memory.describe(address) };
        trouble(FaultKind::Misaligned, format!("{who} touches {bytes} bytes at {place}: no multiple of {bytes}"))
    }

    /// Records the access, and finds what it races with.
    #[inline]
    fn touch(&mut self, warp: &Warp, at: u32, spot: &Spot<'_>, place: Place, touch: Touch, lane: usize) -> Step<()> {
        let now =
            Now { block: self.block, thread: warp.number * 32 + lane as u32, clock: warp.clock, barrier: self.barrier };
        let bytes = u64::from(place.size * place.count);
        match spot {
            Spot::Global(buffer, offset) => {
                let granule = self.code.global_granule;
                let cells = buffer.cells(granule);
                let range = (offset >> granule) as usize..((offset + bytes) >> granule) as usize;
                for (number, cell) in range.clone().zip(cells.get(range).unwrap_or(&[])) {
                    if let Err(conflict) = cell.touch(touch, now, at) {
                        let place = format!("byte {} of `{}`", (number as u64) << granule, buffer.name);
                        return self.race(now, touch, conflict, &place);
                    }
                }
            }
            Spot::Shared(offset) => {
                let granule = self.code.shared_granule;
                let range = (offset >> granule) as usize..((offset + bytes) >> granule) as usize;
                for number in range {
                    let Some(cell) = self.shared.cells.get_mut(number) else { continue };
                    let unwritten = touch != Touch::Write && !cell.is_written();
                    if let Err(conflict) = cell.touch(touch, now, at) {
                        let place = self.shared_name((number as u64) << granule);
                        return self.race(now, touch, conflict, &place);
                    }
                    if unwritten && self.unwritten.is_none() {
                        self.unwritten = Some((at, self.unwritten_read(now, (number as u64) << granule)));
                    }
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn unwritten_read(&self, now: Now, offset: u64) -> Box<Trouble> {
        let (who, place) = (self.who(now.thread, now.block), self.shared_name(offset));
        let message = format!("{who} reads {place}, which no thread has written");
        Box::new(Trouble { kind: FaultKind::UninitialisedShared, message, earlier: None })
    }

    #[cold]
    fn race<T>(&self, now: Now, touch: Touch, conflict: Conflict, place: &str) -> Step<T> {
        let what = match touch {
            Touch::Read => "reads",
            Touch::ReadOnly => "reads (as read-only)",
            Touch::Write => "writes",
            Touch::Atomic => "updates",
        };
        // A record of several threads keeps the name of one, which may be the thread itself.
        let itself = (conflict.with.thread(), conflict.with.block()) == (now.thread, now.block);
        let other = match (conflict.with.is_several(), itself) {
            (true, true) => "other threads".to_owned(),
            (true, false) => format!("{} and others", self.who(conflict.with.thread(), conflict.with.block())),
            (false, _) => self.who(conflict.with.thread(), conflict.with.block()),
        };
        let did = if conflict.wrote { "wrote" } else { "read" };
        let line = self.code.lines.get(conflict.at as usize).copied().unwrap_or(0);
        let order = if conflict.with.block() == now.block { "no barrier in between" } else { "blocks are not ordered" };
        let who = self.who(now.thread, now.block);
        let message = format!("race: {who} {what} {place}, which {other} {did} in line {line}; {order}");
        Err(Box::new(Trouble { kind: FaultKind::Race, message, earlier: Some(conflict.at) }))
    }

    /// A thread in words.
    fn who(&self, thread: u32, block: u32) -> String {
        let [x, y, z] = self.specials.thread(thread);
        let [columns, rows, _] = self.specials.grid;
        let (block_x, block_y, block_z) = (block % columns, block / columns % rows, block / columns / rows);
        format!("thread ({x}, {y}, {z}) of block ({block_x}, {block_y}, {block_z})")
    }

    fn shared_name(&self, offset: u64) -> String {
        if self.specials.is_local(offset) {
            return "a thread's own memory".to_owned();
        }
        let inside = |(_, start, length): &&(String, u64, Option<u64>)| {
            offset >= *start && length.is_none_or(|length| offset < start + length)
        };
        match self.code.variables.iter().find(inside) {
            Some((name, start, _)) => format!("byte {} of shared `{name}`", offset - start),
            None => format!("byte {offset} of shared memory"),
        }
    }
}

/// The lanes of a mask.
#[inline]
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// The new value of a cell.
fn updated(op: AtomicOp, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    let narrow = ty.bits() == 32;
    let signed = |value: u64| if narrow { i64::from(value as i32) } else { value as i64 };
    let value = match (op, ty) {
        (AtomicOp::Add, Type::F32) => u64::from((f32::from_bits(old as u32) + f32::from_bits(b as u32)).to_bits()),
        (AtomicOp::Add, Type::F64) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (AtomicOp::Add, _) => old.wrapping_add(b),
        (AtomicOp::Min, _) if ty.is_signed() => {
            if signed(b) < signed(old) {
                b
            } else {
                old
            }
        }
        (AtomicOp::Max, _) if ty.is_signed() => {
            if signed(b) > signed(old) {
                b
            } else {
                old
            }
        }
        (AtomicOp::Min, _) => old.min(b),
        (AtomicOp::Max, _) => old.max(b),
        (AtomicOp::And, _) => old & b,
        (AtomicOp::Or, _) => old | b,
        (AtomicOp::Xor, _) => old ^ b,
        (AtomicOp::Exchange, _) => b,
        (AtomicOp::CompareSwap, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (AtomicOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    };
    if narrow { value & 0xffff_ffff } else { value }
}
