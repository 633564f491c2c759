//! What a space comes to: how many points are what, and which dependences stand in the way.

use std::collections::BTreeMap;
use std::time::Duration;

use farkas::explore::{Judgement, Row, Space};
use serde_json::{Value, json};

use super::table::{millis, witness};

/// A dependence without its instances.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Obstacle {
    kind: String,
    array: String,
    source: String,
    sink: String,
}

#[derive(Debug)]
pub(super) struct Summary {
    points: usize,
    legal: usize,
    illegal: usize,
    refused: usize,
    pub(super) unknown: usize,
    duplicates: usize,
    /// With the number of points each makes illegal, the largest first.
    obstacles: Vec<(Obstacle, usize)>,
    /// Of the points that were measured.
    fastest: Option<Fastest>,
}

/// A point and its time, and the first one that was measured, which is often the program as it is.
#[derive(Debug)]
struct Fastest {
    point: usize,
    choices: String,
    time: Duration,
    first: usize,
    first_time: Duration,
}

impl Fastest {
    fn of(space: &Space, rows: &[Row]) -> Option<Fastest> {
        let measured = || rows.iter().filter_map(|row| Some((row, row.time?)));
        let (first, first_time) = measured().next()?;
        let (row, time) = measured().min_by_key(|(_, time)| *time)?;
        let choices = space.dimensions.iter().zip(&row.choices);
        let choices = choices.map(|(dimension, choice)| format!("{} = {choice}", dimension.text));
        let choices = choices.collect::<Vec<_>>().join(", ");
        Some(Fastest { point: row.point, choices, time, first: first.point, first_time })
    }
}

/// How many obstacles are told to people.
const SHOWN: usize = 3;

impl Summary {
    pub(super) fn of(space: &Space, rows: &[Row]) -> Summary {
        let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
        let mut obstacles: BTreeMap<Obstacle, usize> = BTreeMap::new();
        for witness in rows.iter().filter_map(witness) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let obstacle = Obstacle {
                kind: text(&witness["kind"]),
                array: text(&witness["array"]),
                source: text(&witness["source"]["statement"]),
                sink: text(&witness["sink"]["statement"]),
            };
            *obstacles.entry(obstacle).or_default() += 1;
        }
        let mut obstacles: Vec<(Obstacle, usize)> = obstacles.into_iter().collect();
        obstacles.sort_by_key(|(_, points)| std::cmp::Reverse(*points));
        Summary {
            points: rows.len(),
            legal: count(|row| row.judgement == Judgement::Legal),
            illegal: count(|row| matches!(row.judgement, Judgement::Illegal { .. })),
            refused: count(|row| matches!(row.judgement, Judgement::Refused { .. })),
            unknown: count(|row| row.judgement == Judgement::Unknown),
            duplicates: count(|row| row.same_as.is_some()),
            obstacles,
            fastest: Fastest::of(space, rows),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let Summary { points, legal, illegal, refused, unknown, duplicates, obstacles, fastest } = self;
        let mut text = format!(
            "{points} points: {legal} legal, {illegal} illegal, {refused} refused, {unknown} unknown; \
             {duplicates} have the schedule of an earlier one\n"
        );
        for (position, (Obstacle { kind, array, source, sink }, points)) in obstacles.iter().take(SHOWN).enumerate() {
            let lead = if position == 0 { "most often in the way" } else { "then" };
            text.push_str(&format!(
                "{lead}: the {kind} dependence {source} -> {sink} through {array}, {points} points\n"
            ));
        }
        if let Some(Fastest { point, choices, time, first, first_time }) = fastest {
            let (time, ratio) = (millis(*time), first_time.as_secs_f64() / time.as_secs_f64().max(1e-9));
            text.push_str(&format!(
                "fastest: point {point} ({choices}), {time} ms; point {first} takes {} ms, {ratio:.2} times that\n",
                millis(*first_time)
            ));
        }
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let obstacles = self.obstacles.iter().map(|(Obstacle { kind, array, source, sink }, points)| {
            json!({ "kind": kind, "array": array, "source": source, "sink": sink, "points": points })
        });
        json!({
            "points": self.points, "legal": self.legal, "illegal": self.illegal, "refused": self.refused,
            "unknown": self.unknown, "duplicates": self.duplicates, "obstacles": obstacles.collect::<Vec<_>>(),
            "fastest": self.fastest.as_ref().map(|fastest| fastest.point),
        })
    }
}
