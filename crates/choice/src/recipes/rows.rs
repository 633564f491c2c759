//! Rows of a pass, several at a time: what is read along a row is read once for all of them.
//!
//! A nest that goes through a matrix row by row reads or updates other cells along each row, as those of a vector. Blocks of rows do so once, with
//! the rows of a block as straight code in one loop along them. Where nests go through the same rows (`passes`), and one needs what another has made
//! of a whole row, it is a block of rows behind: both are in the same loop along the rows, and rows are fetched while those before are used.
//! No term of a sum is computed in another way, but sums down the columns are added up in the order of blocks.
//! Where nothing is summed down the columns, nobody is behind: a row that is gone through several times is in a cache, and four of them seldom are.
//! Not here: rows that wait for themselves (`interleave`), and nests that read every row many times (`contraction`).

use poly::{Access, Branch, Entry, Loop, LoopId, LoopKind, Scop, Statement, Tree, is_box};
use program::{Affine, IterId};

use crate::cost::Walk;

/// So many rows at a time: their partial results are in registers.
const ROWS: i64 = 4;
/// So many rows are a part of their own, which others need not wait for, where a statement is behind another one.
const PART: i64 = 256;
/// A statement is at most so many blocks behind the first.
const MOST_BEHIND: i64 = 2;

/// Where a statement runs in an iteration of the loop over blocks of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Once for each row, before the loop along the rows.
    Before,
    /// In the loop along the rows.
    Along,
    /// Once for each row, after it.
    After,
}

/// A statement of a nest over rows.
struct Member<'a> {
    statement: &'a Statement,
    row: IterId,
    /// What counts along the row, if something does.
    along: Option<IterId>,
    /// How many blocks it is behind, and where it runs then.
    behind: i64,
    phase: Phase,
}

/// The tree in which nests over rows, and those that share such a loop, take several rows at a time, and the numbers of those branches whose
/// cells are in a cache; none if there is nothing to gain. `cached` are these numbers in `tree`.
pub(crate) fn abreast(scop: &Scop, tree: &Tree, cached: &[usize]) -> diag::Result<Option<(Tree, Vec<usize>)>> {
    let (mut loops, branches) = (tree.table(), tree.branches());
    let mut grown: Vec<(Branch, bool)> = Vec::new();
    let mut start = 0;
    let mut found = false;
    while start < branches.len() {
        let nest = start..start + nest_length(&branches[start..]);
        start = nest.end;
        let own = |number: usize| (branches[number].clone(), cached.contains(&number));
        let members = members(scop, &branches[nest.clone()])?.filter(|members| gains(members));
        let Some(members) = members else {
            grown.extend(nest.map(own));
            continue;
        };
        found = true;
        let mut inside: Vec<(Branch, bool)> = nest.clone().map(own).collect();
        if in_blocks(&members, &mut loops, &mut inside).is_none() {
            return Ok(None);
        }
        inside.sort_by_key(|(one, _)| places(one));
        grown.extend(inside);
    }
    if !found {
        return Ok(None);
    }
    let cached = (0..grown.len()).filter(|number| grown[*number].1).collect();
    Ok(Some((Tree::grow(loops, grown.into_iter().map(|(branch, _)| branch).collect()), cached)))
}

/// How many branches from the first on are in the loop that the first one is in.
fn nest_length(branches: &[Branch]) -> usize {
    let outermost = branches.first().and_then(|first| first.loops().next()).map(|(_, id, _)| id);
    let in_it = |branch: &&Branch| outermost.is_some_and(|id| branch.level_of(id).is_some());
    branches.iter().take_while(in_it).count().max(1)
}

/// The statements of a nest over rows, each as far behind the others as it must be; none if it is no such nest.
fn members<'a>(scop: &'a Scop, nest: &[Branch]) -> diag::Result<Option<Vec<Member<'a>>>> {
    let mut members: Vec<Member<'a>> = Vec::new();
    for branch in nest {
        let Some(mut member) = Member::new(scop, branch) else { return Ok(None) };
        // In a triangle rows have no common length.
        if !is_box(scop, member.statement)? {
            return Ok(None);
        }
        for earlier in &members {
            if !member.follow(earlier) {
                return Ok(None);
            }
        }
        members.push(member);
    }
    Ok(Some(members))
}

/// Whether something is read or updated along the rows that is the same for all of them.
fn gains(members: &[Member<'_>]) -> bool {
    let streams: Vec<&Member<'_>> = members.iter().filter(|member| member.along.is_some()).collect();
    let close = streams.iter().all(|member| {
        let along = member.along.map(Walk::along);
        along.is_some_and(|walk| {
            let steps = walk.kinds_of_steps(member.statement, &[]);
            steps.near > 0 && steps.far == 0
        })
    });
    let sums = streams.iter().any(|member| {
        let stays = |iter: IterId| Walk::along(iter).stays(&member.statement.write.index);
        member.statement.kind.is_update() && stays(member.row)
    });
    let is_behind = members.iter().any(|member| member.behind > 0);
    close && (sums || streams.len() > 1 && !is_behind)
}

impl<'a> Member<'a> {
    /// The statement of a branch that has a loop over rows and at most one inside.
    fn new(scop: &'a Scop, branch: &Branch) -> Option<Member<'a>> {
        let statement = scop.at(branch.statement);
        let inside = &branch.entries[in_front(branch)..];
        let plain = inside.iter().all(|entry| matches!(entry, Entry::Place(_) | Entry::Loop(..)));
        let free = &statement.iters[statement.ordered..];
        let mut counted = Vec::new();
        for (_, _, expr) in branch.loops() {
            counted.push(expr.as_iter().filter(|iter| free.contains(iter))?);
        }
        let (row, along) = match counted.as_slice() {
            [row] => (*row, None),
            [row, along] => (*row, Some(*along)),
            _ => return None,
        };
        let first = matches!(inside.first(), Some(Entry::Loop(..)));
        let phase = if along.is_some() { Phase::Along } else { Phase::Before };
        let fits = plain && first && statement.block.is_none() && free.len() == counted.len();
        fits.then_some(Member { statement, row, along, behind: 0, phase })
    }

    /// Moves behind an earlier statement as far as it must be; `false` if there is no such place.
    fn follow(&mut self, earlier: &Member<'_>) -> bool {
        let Some(meeting) = self.meets(earlier) else { return false };
        let (behind, phase) = match (meeting, earlier.phase, self.phase) {
            (Meeting::Nowhere, ..) => return true,
            (Meeting::Cell, _, Phase::Along) => (earlier.behind, Phase::Along),
            // What is made of a whole row is there after the loop along it.
            (_, Phase::Along | Phase::After, Phase::Along) => (earlier.behind + 1, Phase::Along),
            (_, Phase::Before, Phase::Along) => (earlier.behind, Phase::Along),
            (_, Phase::Along | Phase::After, _) => (earlier.behind, Phase::After),
            (_, Phase::Before, phase) => (earlier.behind, phase),
        };
        (self.behind, self.phase) = (self.behind, self.phase).max((behind, phase));
        self.behind <= MOST_BEHIND
    }

    /// In what the two meet where one of them writes; none if it is neither the same cell of the same row nor something of the same row.
    fn meets(&self, earlier: &Member<'_>) -> Option<Meeting> {
        let mut meeting = Meeting::Nowhere;
        for (own, own_writes) in accesses(self.statement) {
            for (other, other_writes) in accesses(earlier.statement) {
                if own.array == other.array && (own_writes || other_writes) {
                    meeting = meeting.max(self.meets_in(own, earlier, other)?);
                }
            }
        }
        Some(meeting)
    }

    fn meets_in(&self, own: &Access, earlier: &Member<'_>, other: &Access) -> Option<Meeting> {
        let (mut rows, mut cells) = (false, false);
        for (own, other) in own.index.iter().zip(&other.index) {
            let (own, other) = (own.as_affine()?, other.as_affine()?);
            match (own.as_iter(), other.as_iter()) {
                (Some(one), Some(two)) if one == self.row && two == earlier.row => rows = true,
                (Some(one), Some(two)) if Some(one) == self.along && Some(two) == earlier.along => cells = true,
                _ => return None,
            }
        }
        match (rows, cells) {
            (true, true) => Some(Meeting::Cell),
            (true, false) => Some(Meeting::Row),
            (false, _) => None,
        }
    }
}

/// In what statements meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meeting {
    Nowhere,
    /// A cell of a row, when both are at it.
    Cell,
    /// Something that belongs to a whole row.
    Row,
}

fn accesses(statement: &Statement) -> impl Iterator<Item = (&Access, bool)> {
    std::iter::once((&statement.write, true)).chain(statement.reads.iter().map(|read| (read, false)))
}

/// Puts the branches of a nest into loops over blocks of rows; none if a number is too large.
fn in_blocks(members: &[Member<'_>], loops: &mut Vec<Loop>, inside: &mut [(Branch, bool)]) -> Option<()> {
    let mut fresh = |name: &str, kind: LoopKind| {
        loops.push(Loop { kind, ..Loop::named(name) });
        LoopId(loops.len() as u32 - 1)
    };
    let [parts, blocks, shared] = [(); 3].map(|()| fresh("rows", LoopKind::Serial));
    let is_behind = members.iter().any(|member| member.behind > 0);
    for (order, (member, (branch, _))) in members.iter().zip(inside).enumerate() {
        let row = Affine::iter(member.row);
        let order = Entry::Place(order as i64);
        branch.entries.truncate(in_front(branch));
        if is_behind {
            branch.entries.push(Entry::Loop(parts, row.div(PART)?));
        }
        let block = row.add(&Affine::constant(ROWS * member.behind))?;
        branch.entries.push(Entry::Loop(blocks, block.div(ROWS)?));
        branch.entries.push(Entry::Place(member.phase as i64));
        branch.entries.extend(member.along.map(|along| Entry::Loop(shared, Affine::iter(along))));
        branch.entries.extend([order, Entry::Loop(fresh("row", LoopKind::Unrolled), row)]);
    }
    Some(())
}

/// How many entries a branch has in front of the nest: its place among nests, if there are several.
fn in_front(branch: &Branch) -> usize {
    usize::from(matches!(branch.entries.first(), Some(Entry::Place(_))))
}

/// The places in sequences on the way to a leaf.
fn places(branch: &Branch) -> Vec<i64> {
    let place = |entry: &Entry| match entry {
        Entry::Place(place) => Some(*place),
        _ => None,
    };
    branch.entries.iter().filter_map(place).collect()
}
