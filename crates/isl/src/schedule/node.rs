//! Positions in schedule trees: walking and rewriting.

use crate::{
    AstLoopType, Id, MultiUnionPwAff, MultiVal, Schedule, ScheduleNodeType, Set, Space, UnionMap, UnionPwMultiAff,
    UnionSet,
};

object! {
    /// A position in a schedule tree, with the tree.
    ScheduleNode, "isl_schedule_node_"
}

bind! { ScheduleNode, "isl_schedule_node_";
    fn from_domain(domain: UnionSet) -> ScheduleNode;
    fn from_extension(extension: UnionMap) -> ScheduleNode;
    fn is_equal(&self, other: &ScheduleNode) -> bool;
    fn get_type(&self) -> ScheduleNodeType;
    fn get_parent_type(&self) -> ScheduleNodeType;
    fn get_schedule(&self) -> Schedule;
    fn get_tree_depth(&self) -> usize;
    fn has_parent(&self) -> bool;
    fn has_children(&self) -> bool;
    fn has_previous_sibling(&self) -> bool;
    fn has_next_sibling(&self) -> bool;
    fn n_children(&self) -> usize;
    fn get_child_position(&self) -> usize;
    fn get_ancestor_child_position(&self, ancestor: &ScheduleNode) -> usize;
    fn get_child(&self, pos: usize) -> ScheduleNode;
    fn get_shared_ancestor(&self, other: &ScheduleNode) -> ScheduleNode;
    fn root(self) -> ScheduleNode;
    fn parent(self) -> ScheduleNode;
    fn grandparent(self) -> ScheduleNode;
    fn ancestor(self, generation: usize) -> ScheduleNode;
    fn child(self, pos: usize) -> ScheduleNode;
    fn grandchild(self, pos1: usize, pos2: usize) -> ScheduleNode;
    fn first_child(self) -> ScheduleNode;
    fn previous_sibling(self) -> ScheduleNode;
    fn next_sibling(self) -> ScheduleNode;
    fn is_subtree_anchored(&self) -> bool;
    fn group(self, group_id: Id) -> ScheduleNode;
    fn sequence_splice_child(self, pos: usize) -> ScheduleNode;
    fn sequence_splice_children(self) -> ScheduleNode;
    fn band_get_space(&self) -> Space;
    fn band_get_partial_schedule(&self) -> MultiUnionPwAff;
    fn band_get_partial_schedule_union_map(&self) -> UnionMap;
    fn band_member_get_ast_loop_type(&self, pos: usize) -> AstLoopType;
    fn band_member_set_ast_loop_type(self, pos: usize, kind: AstLoopType) -> ScheduleNode;
    fn band_member_get_isolate_ast_loop_type(&self, pos: usize) -> AstLoopType;
    fn band_member_set_isolate_ast_loop_type(self, pos: usize, kind: AstLoopType) -> ScheduleNode;
    fn band_get_ast_build_options(&self) -> UnionSet;
    fn band_set_ast_build_options(self, options: UnionSet) -> ScheduleNode;
    fn band_get_ast_isolate_option(&self) -> Set;
    fn band_n_member(&self) -> usize;
    fn band_member_get_coincident(&self, pos: usize) -> bool;
    fn band_member_set_coincident(self, pos: usize, coincident: bool) -> ScheduleNode;
    fn band_get_permutable(&self) -> bool;
    fn band_set_permutable(self, permutable: bool) -> ScheduleNode;
    fn band_scale(self, mv: MultiVal) -> ScheduleNode;
    fn band_scale_down(self, mv: MultiVal) -> ScheduleNode;
    fn band_mod(self, mv: MultiVal) -> ScheduleNode;
    fn band_shift(self, shift: MultiUnionPwAff) -> ScheduleNode;
    fn band_tile(self, sizes: MultiVal) -> ScheduleNode;
    fn band_sink(self) -> ScheduleNode;
    fn band_split(self, pos: usize) -> ScheduleNode;
    fn context_get_context(&self) -> Set;
    fn domain_get_domain(&self) -> UnionSet;
    fn expansion_get_expansion(&self) -> UnionMap;
    fn expansion_get_contraction(&self) -> UnionPwMultiAff;
    fn extension_get_extension(&self) -> UnionMap;
    fn filter_get_filter(&self) -> UnionSet;
    fn guard_get_guard(&self) -> Set;
    fn mark_get_id(&self) -> Id;
    fn get_schedule_depth(&self) -> usize;
    fn get_domain(&self) -> UnionSet;
    fn get_universe_domain(&self) -> UnionSet;
    fn get_prefix_schedule_multi_union_pw_aff(&self) -> MultiUnionPwAff;
    fn get_prefix_schedule_union_pw_multi_aff(&self) -> UnionPwMultiAff;
    fn get_prefix_schedule_union_map(&self) -> UnionMap;
    fn get_prefix_schedule_relation(&self) -> UnionMap;
    fn get_subtree_schedule_union_map(&self) -> UnionMap;
    fn get_subtree_expansion(&self) -> UnionMap;
    fn get_subtree_contraction(&self) -> UnionPwMultiAff;
    fn insert_context(self, context: Set) -> ScheduleNode;
    fn insert_partial_schedule(self, schedule: MultiUnionPwAff) -> ScheduleNode;
    fn insert_filter(self, filter: UnionSet) -> ScheduleNode;
    fn insert_guard(self, context: Set) -> ScheduleNode;
    fn insert_mark(self, mark: Id) -> ScheduleNode;
    fn insert_sequence(self, filters: &[UnionSet]) -> ScheduleNode;
    fn insert_set(self, filters: &[UnionSet]) -> ScheduleNode;
    fn cut(self) -> ScheduleNode;
    fn delete(self) -> ScheduleNode;
    fn order_before(self, filter: UnionSet) -> ScheduleNode;
    fn order_after(self, filter: UnionSet) -> ScheduleNode;
    fn graft_before(self, graft: ScheduleNode) -> ScheduleNode;
    fn graft_after(self, graft: ScheduleNode) -> ScheduleNode;
    fn align_params(self, space: Space) -> ScheduleNode;
}

bind_callbacks! { ScheduleNode, "isl_schedule_node_";
    fn foreach_descendant_top_down: descend(ScheduleNode);
    fn every_descendant: test(ScheduleNode);
    fn foreach_ancestor_top_down: visit(ScheduleNode);
    fn map_descendant_bottom_up: rewrite(ScheduleNode);
}
