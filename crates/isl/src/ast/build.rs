//! Generating loop programs from schedules.
//!
//! In: a schedule, a context of known constraints, hooks.  Out: [`AstNode`].
//! Hooks outlive the call that sets them, and isl hands copies of a build to them; so all hooks of a build live in one
//! counted value, and every [`AstBuild`] that can still reach them holds it.

use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

use crate::runtime::{Arg, Call, Error, Failure, Object, Result};
use crate::{AstExpr, AstNode, Context, Id, PwAff, PwMultiAff, Schedule, Set, Space, UnionMap};

object! {
    private
    /// The C object of a build.
    pub(crate) Build, "isl_ast_build_"
}

bind! { Build;
    pub(crate) fn alloc = "isl_ast_build_alloc"(context: &Context) -> Build;
    pub(crate) fn from_context = "isl_ast_build_from_context"(set: Set) -> Build;
    fn copy = "isl_ast_build_copy"(&self) -> Build;
    fn get_schedule_space = "isl_ast_build_get_schedule_space"(&self) -> Space;
    fn get_schedule = "isl_ast_build_get_schedule"(&self) -> UnionMap;
    fn restrict = "isl_ast_build_restrict"(self, set: Set) -> Build;
    fn set_options = "isl_ast_build_set_options"(self, options: UnionMap) -> Build;
    fn set_iterators = "isl_ast_build_set_iterators"(self, iterators: &[Id]) -> Build;
    fn expr_from_set = "isl_ast_build_expr_from_set"(&self, set: Set) -> AstExpr;
    fn expr_from_pw_aff = "isl_ast_build_expr_from_pw_aff"(&self, pa: PwAff) -> AstExpr;
    fn access_from_pw_multi_aff = "isl_ast_build_access_from_pw_multi_aff"(&self, pma: PwMultiAff) -> AstExpr;
    fn call_from_pw_multi_aff = "isl_ast_build_call_from_pw_multi_aff"(&self, pma: PwMultiAff) -> AstExpr;
    fn node_from_schedule = "isl_ast_build_node_from_schedule"(&self, schedule: Schedule) -> AstNode;
    fn node_from_schedule_map = "isl_ast_build_node_from_schedule_map"(&self, schedule: UnionMap) -> AstNode;
}

// The user pointers must belong to the hooks, and outlive the build.
bind! { trusted Build;
    fn set_at_each_domain = "isl_ast_build_set_at_each_domain"(self, hook: OnNode, user: UserHooks) -> Build;
    fn set_before_each_for = "isl_ast_build_set_before_each_for"(self, hook: OnBuild, user: UserHooks) -> Build;
    fn set_after_each_for = "isl_ast_build_set_after_each_for"(self, hook: OnNode, user: UserHooks) -> Build;
}

/// Where and how loops are generated: known constraints, iterator names, options, hooks.
pub struct AstBuild {
    build: Build,
    hooks: Rc<Hooks>,
}

/// Attaches something to a node, or replaces it.
type NodeHook = dyn FnMut(AstNode, &AstBuild) -> Result<AstNode>;
/// Makes the annotation of the loop about to be generated.
type LoopHook = dyn FnMut(&AstBuild) -> Result<Id>;

#[derive(Default, Clone)]
struct HookSet {
    at_each_domain: Option<Rc<RefCell<NodeHook>>>,
    before_each_for: Option<Rc<RefCell<LoopHook>>>,
    after_each_for: Option<Rc<RefCell<NodeHook>>>,
}

/// All hooks of a build, and what stopped the last of them.
struct Hooks {
    context: Context,
    set: HookSet,
    failure: RefCell<Option<Failure>>,
}

impl AstBuild {
    /// A build without known constraints.
    pub fn alloc(context: &Context) -> Result<AstBuild> {
        Ok(AstBuild::without_hooks(Build::alloc(context)?))
    }

    /// A build where these constraints on parameters are known.
    pub fn from_context(set: Set) -> Result<AstBuild> {
        Ok(AstBuild::without_hooks(Build::from_context(set)?))
    }

    fn without_hooks(build: Build) -> AstBuild {
        let hooks =
            Rc::new(Hooks { context: build.context.clone(), set: HookSet::default(), failure: RefCell::default() });
        AstBuild { build, hooks }
    }

    /// The context the build was made in.
    pub fn context(&self) -> &Context {
        &self.build.context
    }

    /// `isl_ast_build_get_schedule_space` of the isl manual.
    pub fn get_schedule_space(&self) -> Result<Space> {
        self.build.get_schedule_space()
    }

    /// `isl_ast_build_get_schedule` of the isl manual: from instances to the loops around, inside a hook.
    pub fn get_schedule(&self) -> Result<UnionMap> {
        self.build.get_schedule()
    }

    /// `isl_ast_build_restrict` of the isl manual.
    pub fn restrict(self, set: Set) -> Result<AstBuild> {
        self.with(|build| build.restrict(set))
    }

    /// `isl_ast_build_set_options` of the isl manual.
    pub fn set_options(self, options: UnionMap) -> Result<AstBuild> {
        self.with(|build| build.set_options(options))
    }

    /// The names of the iterators, outermost first.
    pub fn set_iterators(self, iterators: &[Id]) -> Result<AstBuild> {
        self.with(|build| build.set_iterators(iterators))
    }

    /// Calls `hook` for every statement node.
    pub fn set_at_each_domain(
        self,
        hook: impl FnMut(AstNode, &AstBuild) -> Result<AstNode> + 'static,
    ) -> Result<AstBuild> {
        self.with_hooks(|set| set.at_each_domain = Some(Rc::new(RefCell::new(hook))))
    }

    /// Calls `hook` before each loop is generated, for its annotation.
    pub fn set_before_each_for(self, hook: impl FnMut(&AstBuild) -> Result<Id> + 'static) -> Result<AstBuild> {
        self.with_hooks(|set| set.before_each_for = Some(Rc::new(RefCell::new(hook))))
    }

    /// Calls `hook` for each loop after it is generated. Needs [`AstBuild::set_before_each_for`] for annotations.
    pub fn set_after_each_for(
        self,
        hook: impl FnMut(AstNode, &AstBuild) -> Result<AstNode> + 'static,
    ) -> Result<AstBuild> {
        self.with_hooks(|set| set.after_each_for = Some(Rc::new(RefCell::new(hook))))
    }

    /// The truth of a set at this place.
    pub fn expr_from_set(&self, set: Set) -> Result<AstExpr> {
        self.build.expr_from_set(set)
    }

    /// The value of an expression at this place.
    pub fn expr_from_pw_aff(&self, expr: PwAff) -> Result<AstExpr> {
        self.build.expr_from_pw_aff(expr)
    }

    /// An array access.
    pub fn access_from_pw_multi_aff(&self, index: PwMultiAff) -> Result<AstExpr> {
        self.build.access_from_pw_multi_aff(index)
    }

    /// A call.
    pub fn call_from_pw_multi_aff(&self, args: PwMultiAff) -> Result<AstExpr> {
        self.build.call_from_pw_multi_aff(args)
    }

    /// The loops of a schedule tree.
    pub fn node_from_schedule(&self, schedule: Schedule) -> Result<AstNode> {
        self.surface(self.build.node_from_schedule(schedule))
    }

    /// The loops of a schedule map.
    pub fn node_from_schedule_map(&self, schedule: UnionMap) -> Result<AstNode> {
        self.surface(self.build.node_from_schedule_map(schedule))
    }

    /// The outcome of generation, or what stopped a hook.
    fn surface<T>(&self, outcome: Result<T>) -> Result<T> {
        let failure = self.hooks.failure.borrow_mut().take();
        match failure {
            Some(failure) => Err(failure.surface()),
            None => outcome,
        }
    }

    fn with(self, change: impl FnOnce(Build) -> Result<Build>) -> Result<AstBuild> {
        Ok(AstBuild { build: change(self.build)?, hooks: self.hooks })
    }

    /// Points all of isl's hooks at a new set, so that any of them leads to all.
    fn with_hooks(self, change: impl FnOnce(&mut HookSet)) -> Result<AstBuild> {
        let mut set = self.hooks.set.clone();
        change(&mut set);
        let hooks = Rc::new(Hooks { context: self.context().clone(), set, failure: RefCell::default() });
        let user = || UserHooks(Rc::as_ptr(&hooks));
        let mut build = self.build;
        if hooks.set.at_each_domain.is_some() {
            build = build.set_at_each_domain(OnNode(at_each_domain), user())?;
        }
        if hooks.set.before_each_for.is_some() {
            build = build.set_before_each_for(OnBuild(before_each_for), user())?;
        }
        if hooks.set.after_each_for.is_some() {
            build = build.set_after_each_for(OnNode(after_each_for), user())?;
        }
        Ok(AstBuild { build, hooks })
    }
}

impl Clone for AstBuild {
    fn clone(&self) -> AstBuild {
        let copied = self.build.copy();
        AstBuild {
            build: copied.expect("isl copies a build by counting a reference, which cannot fail"),
            hooks: Rc::clone(&self.hooks),
        }
    }
}

impl fmt::Debug for AstBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AstBuild").finish_non_exhaustive()
    }
}

/// The `user` pointer of all hooks.
struct UserHooks(*const Hooks);

impl Arg for UserHooks {
    type Raw = *mut c_void;
    fn into_raw(self, _: &Call) -> *mut c_void {
        self.0.cast_mut().cast()
    }
}

/// `isl_ast_node *(*)(__isl_take isl_ast_node *, __isl_keep isl_ast_build *, void *)`.
struct OnNode(unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> *mut c_void);

impl Arg for OnNode {
    type Raw = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> *mut c_void;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

/// `isl_id *(*)(__isl_keep isl_ast_build *, void *)`.
struct OnBuild(unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void);

impl Arg for OnBuild {
    type Raw = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;
    fn into_raw(self, _: &Call) -> Self::Raw {
        self.0
    }
}

unsafe extern "C" fn at_each_domain(node: *mut c_void, build: *mut c_void, user: *mut c_void) -> *mut c_void {
    // SAFETY: the arguments come from isl, for a hook set by `with_hooks`.
    unsafe { run_node_hook(node, build, user, |set| set.at_each_domain.clone()) }
}

unsafe extern "C" fn after_each_for(node: *mut c_void, build: *mut c_void, user: *mut c_void) -> *mut c_void {
    // SAFETY: the arguments come from isl, for a hook set by `with_hooks`.
    unsafe { run_node_hook(node, build, user, |set| set.after_each_for.clone()) }
}

/// # Safety
/// `node` is given, `build` is kept, `user` was made by `with_hooks`.
unsafe fn run_node_hook(
    node: *mut c_void,
    build: *mut c_void,
    user: *mut c_void,
    select: impl FnOnce(&HookSet) -> Option<Rc<RefCell<NodeHook>>>,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let Some(build) = (unsafe { borrowed_build(build, user) }) else {
        return null_mut();
    };
    let Some(node) = NonNull::new(node) else {
        return null_mut();
    };
    // SAFETY: `node` is given to us, in the context of the build.
    let node = unsafe { AstNode::from_ptr(node, build.context().clone()) };
    run(&build, || match select(&build.hooks.set) {
        None => Ok(node),
        Some(hook) => {
            let mut hook = hook.try_borrow_mut().map_err(|_| Error::ReentrantCallback)?;
            hook(node, &build)
        }
    })
}

unsafe extern "C" fn before_each_for(build: *mut c_void, user: *mut c_void) -> *mut c_void {
    // SAFETY: isl keeps `build`; `user` was made by `with_hooks`.
    let Some(build) = (unsafe { borrowed_build(build, user) }) else {
        return null_mut();
    };
    run(&build, || {
        let hook = build.hooks.set.before_each_for.clone();
        let hook = hook.ok_or(Error::ReentrantCallback)?;
        let mut hook = hook.try_borrow_mut().map_err(|_| Error::ReentrantCallback)?;
        hook(&build)
    })
}

/// Runs a hook and hands its result to isl; NULL, and the failure kept, if it has none.
fn run<T: Object>(build: &AstBuild, hook: impl FnOnce() -> Result<T>) -> *mut c_void {
    let outcome = Failure::catch(|| {
        let result = hook()?;
        if !result.context_of().is_same(build.context()) {
            return Err(Error::ContextMix { function: "a hook" });
        }
        Ok(result)
    });
    match outcome {
        Ok(result) => result.into_ptr(),
        Err(failure) => {
            *build.hooks.failure.borrow_mut() = Some(failure);
            null_mut()
        }
    }
}

/// A build of our own for the one that isl keeps.
///
/// # Safety
/// `build` is kept by isl and `user` was made by `with_hooks`.
unsafe fn borrowed_build(build: *mut c_void, user: *mut c_void) -> Option<AstBuild> {
    let kept = NonNull::new(build)?;
    let hooks = user.cast_const().cast::<Hooks>();
    // SAFETY: the build that isl works for holds the hooks, so they are alive; the count is raised for the new `Rc`.
    let hooks = unsafe {
        Rc::increment_strong_count(hooks);
        Rc::from_raw(hooks)
    };
    // SAFETY: `build` is live and of this context; the reference taken here is handed back by `into_ptr`.
    let kept = unsafe { Build::from_ptr(kept, hooks.context.clone()) };
    let build = kept.copy().ok();
    kept.into_ptr();
    Some(AstBuild { build: build?, hooks })
}
