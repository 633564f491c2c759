//! Lists: slices going in, vectors coming out, so that no isl list type is visible.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use super::call::{Arg, Call, Ret};
use super::context::Context;
use super::object::Object;

/// An object that isl has a list type for.
pub(crate) trait Listed: Object + Clone {
    /// The C functions of the list type.
    const LIST: ListFunctions;
}

/// The C functions of one list type.
#[derive(Clone, Copy)]
pub(crate) struct ListFunctions {
    alloc: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    add: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void,
    size: unsafe extern "C" fn(*mut c_void) -> c_int,
    get_at: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
}

impl<T: Listed> Arg for &[T]
where
    for<'a> &'a T: Arg,
{
    type Raw = *mut c_void;
    fn context(&self) -> Option<&Context> {
        self.first().map(T::context_of)
    }
    fn check(&self, call: &mut Call) -> super::Result<()> {
        self.iter().skip(1).try_for_each(|item| call.admit(&item))
    }
    /// Elements are copied (a reference each). A failure makes the list NULL, which isl passes on as a failure.
    fn into_raw(self, call: &Call) -> *mut c_void {
        let Ok(context) = call.context() else {
            return std::ptr::null_mut();
        };
        // SAFETY: the context is live, the capacity is only a hint, and every element gives away its own reference.
        unsafe {
            let mut list = (T::LIST.alloc)(context.as_ptr(), self.len().min(1 << 20) as c_int);
            for item in self {
                list = (T::LIST.add)(list, item.clone().into_ptr());
            }
            list
        }
    }
}

impl<T: Listed> Ret for Vec<T> {
    type Raw = *mut c_void;
    unsafe fn receive(raw: *mut c_void, context: &Context) -> Option<Vec<T>> {
        if raw.is_null() {
            return None;
        }
        // SAFETY: `raw` is one owned reference to a list of this type; positions are below its size; each element
        // comes with a reference of its own; the list is freed once.
        unsafe {
            let size = (T::LIST.size)(raw);
            let items = (0..size)
                .map(|i| NonNull::new((T::LIST.get_at)(raw, i)))
                .map(|item| item.map(|ptr| T::from_ptr(ptr, context.clone())))
                .collect::<Option<Vec<T>>>();
            (T::LIST.free)(raw);
            if size < 0 { None } else { items }
        }
    }
}

macro_rules! listed {
    ($($type:ty, $prefix:literal;)*) => {$(
        impl Listed for $type {
            const LIST: ListFunctions = {
                unsafe extern "C" {
                    #[link_name = concat!($prefix, "alloc")]
                    fn alloc(ctx: *mut c_void, capacity: c_int) -> *mut c_void;
                    #[link_name = concat!($prefix, "add")]
                    fn add(list: *mut c_void, item: *mut c_void) -> *mut c_void;
                    #[link_name = concat!($prefix, "size")]
                    fn size(list: *mut c_void) -> c_int;
                    #[link_name = concat!($prefix, "get_at")]
                    fn get_at(list: *mut c_void, index: c_int) -> *mut c_void;
                    #[link_name = concat!($prefix, "free")]
                    fn free(list: *mut c_void) -> *mut c_void;
                }
                ListFunctions { alloc, add, size, get_at, free }
            };
        }
    )*};
}

listed! {
    crate::Aff, "isl_aff_list_";
    crate::PwAff, "isl_pw_aff_list_";
    crate::PwMultiAff, "isl_pw_multi_aff_list_";
    crate::UnionPwAff, "isl_union_pw_aff_list_";
    crate::UnionPwMultiAff, "isl_union_pw_multi_aff_list_";
    crate::Id, "isl_id_list_";
    crate::Val, "isl_val_list_";
    crate::Constraint, "isl_constraint_list_";
    crate::BasicSet, "isl_basic_set_list_";
    crate::Set, "isl_set_list_";
    crate::UnionSet, "isl_union_set_list_";
    crate::BasicMap, "isl_basic_map_list_";
    crate::Map, "isl_map_list_";
    crate::UnionMap, "isl_union_map_list_";
    crate::AstExpr, "isl_ast_expr_list_";
    crate::AstNode, "isl_ast_node_list_";
}
