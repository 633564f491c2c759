//! Large pages: an allocator that gives large arrays memory whose addresses a core can keep in mind.
//!
//! A core knows the places of a few thousand pages. Arrays of many megabytes on pages of 4 KiB have more of them, and those who walk across rows, or
//! through memory as fast as it goes, wait for places: sums of rows take a third longer, transpositions half as long again. Where the
//! system lets it be, pages are 2 MiB large. NumPy asks for the same for its arrays.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, but arrays of more than 4 MiB lie on large pages, where there are such. For the `#[global_allocator]` of a program whose arrays
/// are large; nothing else depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

#[cfg(target_os = "linux")]
mod linux {
    use std::alloc::Layout;

    /// A large page.
    pub(super) const PAGE: usize = 2 << 20;
    /// Less than this does not have enough pages to matter.
    const ENOUGH: usize = 2 * PAGE;

    pub(super) fn is_large(layout: Layout) -> bool {
        layout.size() > ENOUGH && layout.align() <= PAGE
    }

    /// Zeros on pages of their own; null if that much memory cannot be had.
    pub(super) fn map(size: usize) -> *mut u8 {
        let Some(reserved) = size.checked_next_multiple_of(PAGE).and_then(|size| size.checked_add(PAGE)) else {
            return std::ptr::null_mut();
        };
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: it is a new mapping, which takes no place from others.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), reserved, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        let start = start.cast::<u8>();
        let before = start.align_offset(PAGE);
        let used = reserved - PAGE;
        // SAFETY: `before` is less than a page, so that both are inside of the mapping.
        let (memory, end) = unsafe { (start.add(before), start.add(before + used)) };
        // SAFETY: what is in front of the memory and behind it belongs to the mapping, and nobody has it. The sizes are whole small pages, as those of
        // the mapping and of a large page are. Without the advice the memory is as good.
        unsafe {
            if before > 0 {
                libc::munmap(start.cast(), before);
            }
            if before < PAGE {
                libc::munmap(end.cast(), PAGE - before);
            }
            libc::madvise(memory.cast(), used, libc::MADV_HUGEPAGE);
        }
        memory
    }

    /// Gives back what `map` has given for this size.
    ///
    /// # Safety
    ///
    /// Nobody uses the memory any more.
    pub(super) unsafe fn unmap(memory: *mut u8, size: usize) {
        // SAFETY: `map` has left a mapping of so many large pages from here on.
        unsafe { libc::munmap(memory.cast(), size.next_multiple_of(PAGE)) };
    }
}

#[cfg(target_os = "linux")]
// SAFETY: memory is that of the system's allocator or a mapping of its own, whichever the size and alignment of the layout say, which are the same when it is
// given back. A mapping is aligned to a large page, as much as any layout that gets one, and holds at least as many bytes.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if linux::is_large(layout) {
            return linux::map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if linux::is_large(layout) {
            return linux::map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if linux::is_large(layout) {
            // SAFETY: it was given for this layout, and the caller does not use it any more.
            return unsafe { linux::unmap(memory, layout.size()) };
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(not(target_os = "linux"))]
// SAFETY: all is the system's.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_all_sizes_is_zero_and_keeps_what_is_written() {
        for size in [1, 4096, 4 << 20, (4 << 20) + 1, (6 << 20) - 7, 33 << 20] {
            let layout = Layout::from_size_align(size, 64).expect("a layout");
            // SAFETY: the size is not zero; the memory is used below its size, and given back with the layout that it has.
            unsafe {
                let memory = LargePages.alloc_zeroed(layout);
                assert!(!memory.is_null() && memory.align_offset(64) == 0);
                assert!((0..size).step_by(1000).chain([size - 1]).all(|at| memory.add(at).read() == 0));
                memory.write(1);
                memory.add(size - 1).write(2);
                let longer = Layout::from_size_align(size + (9 << 20), 64).expect("a layout");
                let moved = LargePages.realloc(memory, layout, longer.size());
                assert!(!moved.is_null());
                let first = if size == 1 { 2 } else { 1 };
                assert_eq!((moved.read(), moved.add(size - 1).read()), (first, 2), "{size}");
                moved.add(longer.size() - 1).write(3);
                LargePages.dealloc(moved, longer);
            }
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        let layout = Layout::from_size_align(1 << 62, 64).expect("a layout");
        // SAFETY: the size is not zero, and there is nothing to give back.
        unsafe {
            assert!(LargePages.alloc(layout).is_null());
            assert!(LargePages.alloc_zeroed(layout).is_null());
        }
    }
}
