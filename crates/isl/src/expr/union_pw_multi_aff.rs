//! Functions over several spaces.

object! {
    /// Piecewise tuples of expressions on several spaces.
    UnionPwMultiAff, "isl_union_pw_multi_aff_"
}
