//! The functions against correctly rounded values, C's special values, and recordings of themselves.

mod accuracy;
mod reference;
mod special;
mod straight_line;
