//! A page per error code: a wrong program, its message, why it is wrong, and a corrected program.
//!
//! Not here: checking that the pages tell the truth, which takes the compiler; the tests of `cli` do that.

macro_rules! pages {
    ($($code:ident)*) => {
        /// All codes and their pages, ascending.
        const PAGES: &[(&str, &str)] =
            &[$((stringify!($code), include_str!(concat!("explain/", stringify!($code), ".md")))),*];
    };
}

pages! {
    E0001 E0002 E0003 E0004 E0005
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108
    E0110 E0111 E0112 E0113 E0114 E0115
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210
    E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312 E0313
    E0401 E0402 E0403 E0404 E0405 E0406 E0407 E0408
    E0410 E0411 E0412 E0413 E0414 E0415
    E0501 E0502 E0503 E0504 E0510 E0511 E0512 E0513 E0514 E0515
    E0516 E0517 E0518 E0519 E0520
    E0601
}

/// The page of a code such as `E0401`, as Markdown.
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// The codes that have a page, ascending.
pub fn explained_codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}
