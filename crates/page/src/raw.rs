//! The 8 KB of a page in memory, and the only unsafe code of this crate: typed loads and stores at
//! byte offsets, all bounds-checked.
//!
//! A page in shared buffers is read by many threads under the share latch while one thread, under
//! the share-exclusive latch, may set *hints*: `pd_lsn`, `pd_flags`, `pd_prune_xid`, line-pointer
//! flags, a heap tuple's infomasks, flag words of an index's special space. So all fields are read
//! by relaxed atomic loads (plain instructions on the supported processors), and plain slices are
//! returned only of bytes that no hint changes.
//!
//! Fields are little-endian, as PostgreSQL's on x86-64 and aarch64; other machines are not
//! supported.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Size of a page, in bytes. Counterpart: `BLCKSZ`.
pub const PAGE_SIZE: usize = 8192;

const _: () = assert!(cfg!(target_endian = "little"), "on-disk formats are little-endian");

/// A page in a buffer frame or a [`PageBuf`]. `&Page` reads, `&mut Page` (exclusive latch) changes.
#[repr(C, align(8))]
pub struct Page(UnsafeCell<[u8; PAGE_SIZE]>);

/// Read access, for the lifetime of a latch of any mode.
pub type PageRef<'a> = &'a Page;
/// Write access, for the lifetime of an exclusive latch; given by a page edit.
pub type PageMut<'a> = &'a mut Page;

impl Page {
    /// # Safety
    /// `ptr` is aligned to 8 and valid for reads of a page for all of `'a`. During `'a` other
    /// threads change at most hint fields, through [`Hints`] (the caller holds a latch).
    pub unsafe fn from_ptr<'a>(ptr: *const u8) -> &'a Page {
        debug_assert!(ptr.addr().is_multiple_of(8));
        // SAFETY: aligned and valid by the contract; UnsafeCell allows the changes by others.
        unsafe { &*ptr.cast::<Page>() }
    }

    /// # Safety
    /// As [`Page::from_ptr`], and for all of `'a` no other thread reads or writes the page (the
    /// caller holds the exclusive latch, or no other thread can reach the frame).
    pub unsafe fn from_ptr_mut<'a>(ptr: *mut u8) -> &'a mut Page {
        debug_assert!(ptr.addr().is_multiple_of(8));
        // SAFETY: aligned, valid and unshared by the contract.
        unsafe { &mut *ptr.cast::<Page>() }
    }

    #[inline(always)]
    fn base(&self) -> *mut u8 {
        self.0.get().cast()
    }

    /// The two bytes at the even offset `at`.
    #[inline(always)]
    pub fn u16_at(&self, at: usize) -> u16 {
        assert!(at <= PAGE_SIZE - 2 && at.is_multiple_of(2));
        // SAFETY: in bounds and aligned (the page is aligned to 8).
        unsafe { AtomicU16::from_ptr(self.base().add(at).cast()) }.load(Relaxed)
    }

    /// The four bytes at `at`, a multiple of four.
    #[inline(always)]
    pub fn u32_at(&self, at: usize) -> u32 {
        assert!(at <= PAGE_SIZE - 4 && at.is_multiple_of(4));
        // SAFETY: in bounds and aligned.
        unsafe { AtomicU32::from_ptr(self.base().add(at).cast()) }.load(Relaxed)
    }

    /// The eight bytes at `at`, a multiple of eight.
    #[inline(always)]
    pub fn u64_at(&self, at: usize) -> u64 {
        assert!(at <= PAGE_SIZE - 8 && at.is_multiple_of(8));
        // SAFETY: in bounds and aligned.
        unsafe { AtomicU64::from_ptr(self.base().add(at).cast()) }.load(Relaxed)
    }

    /// Bytes that no hint changes: tuple bodies, index tuples, the null bitmap. Not for a range
    /// with the page header, line pointers or a heap tuple's infomasks, unless the latch excludes
    /// hint setters. A range outside the page (a corrupt line pointer) is empty.
    #[inline]
    pub fn slice(&self, at: usize, len: usize) -> &[u8] {
        if at > PAGE_SIZE || len > PAGE_SIZE - at {
            return &[];
        }
        // SAFETY: in bounds; the bytes of bodies do not change while a latch is held.
        unsafe { std::slice::from_raw_parts(self.base().add(at), len) }
    }

    /// Copies the page word by word with atomic loads, so that a concurrent hint is either in the
    /// copy or not.
    pub fn copy_to(&self, to: &mut Page) {
        let words = to.bytes_mut().chunks_exact_mut(8);
        for (i, word) in words.enumerate() {
            word.copy_from_slice(&self.u64_at(i * 8).to_le_bytes());
        }
    }

    /// A copy of the page.
    pub fn to_buf(&self) -> PageBuf {
        let mut buf = PageBuf::new();
        self.copy_to(&mut buf);
        buf
    }

    /// All bytes, for changing.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        self.0.get_mut()
    }

    /// All bytes, for reading; needs `&mut`, since only that excludes hint setters.
    #[inline]
    pub fn bytes(&mut self) -> &[u8; PAGE_SIZE] {
        self.0.get_mut()
    }

    #[inline(always)]
    pub fn set_u16_at(&mut self, at: usize, value: u16) {
        self.bytes_mut()[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    #[inline(always)]
    pub fn set_u32_at(&mut self, at: usize, value: u32) {
        self.bytes_mut()[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    #[inline(always)]
    pub fn set_u64_at(&mut self, at: usize, value: u64) {
        self.bytes_mut()[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// The hint setter.
    ///
    /// # Safety
    /// The caller holds the share-exclusive or exclusive latch, and no slice from [`Page::slice`]
    /// of this thread covers a hint field.
    pub unsafe fn hints(&self) -> Hints<'_> {
        Hints(self)
    }

    /// The hint setter, for a caller that has exclusive access anyway.
    pub fn hints_mut(&mut self) -> Hints<'_> {
        Hints(self)
    }
}

/// Sets hint fields of a page that other threads are reading.
#[derive(Clone, Copy)]
pub struct Hints<'a>(&'a Page);

impl Hints<'_> {
    #[inline]
    fn a16(&self, at: usize) -> &AtomicU16 {
        assert!(at <= PAGE_SIZE - 2 && at.is_multiple_of(2));
        // SAFETY: in bounds and aligned; the memory lives as long as the page's borrow.
        unsafe { AtomicU16::from_ptr(self.0.base().add(at).cast()) }
    }

    #[inline]
    fn a32(&self, at: usize) -> &AtomicU32 {
        assert!(at <= PAGE_SIZE - 4 && at.is_multiple_of(4));
        // SAFETY: in bounds and aligned; the memory lives as long as the page's borrow.
        unsafe { AtomicU32::from_ptr(self.0.base().add(at).cast()) }
    }

    /// ORs `bits` into the 16-bit word at `at`.
    pub fn or_u16(&self, at: usize, bits: u16) {
        self.a16(at).fetch_or(bits, Relaxed);
    }

    /// Clears `bits` of the 16-bit word at `at`.
    pub fn clear_u16(&self, at: usize, bits: u16) {
        self.a16(at).fetch_and(!bits, Relaxed);
    }

    pub fn store_u16(&self, at: usize, value: u16) {
        self.a16(at).store(value, Relaxed);
    }

    pub fn store_u32(&self, at: usize, value: u32) {
        self.a32(at).store(value, Relaxed);
    }

    /// Sets `pd_lsn` (the hint's full-page image was logged).
    pub fn set_lsn(&self, lsn: ids::Lsn) {
        // SAFETY: the page is aligned to 8 and its first eight bytes are pd_lsn.
        let word = unsafe { AtomicU64::from_ptr(self.0.base().cast()) };
        word.store(lsn.0.rotate_left(32), Relaxed);
    }
}

impl Deref for Hints<'_> {
    type Target = Page;
    fn deref(&self) -> &Page {
        self.0
    }
}

/// An owned page, aligned for direct I/O.
pub struct PageBuf(Box<Aligned>);

#[repr(C, align(4096))]
struct Aligned(Page);

impl PageBuf {
    /// All zeros.
    pub fn new() -> PageBuf {
        let layout = std::alloc::Layout::new::<Aligned>();
        // SAFETY: the layout is not empty.
        let memory = unsafe { std::alloc::alloc_zeroed(layout) };
        if memory.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        // SAFETY: allocated just now with the layout of Aligned, for which zeros are a valid value.
        PageBuf(unsafe { Box::from_raw(memory.cast()) })
    }

    pub fn from_bytes(bytes: &[u8; PAGE_SIZE]) -> PageBuf {
        let mut buf = PageBuf::new();
        buf.bytes_mut().copy_from_slice(bytes);
        buf
    }

    /// The page's bytes. Sound without `&mut`: setting hints through a shared borrow is unsafe and
    /// never done to a private page.
    pub fn as_bytes(&self) -> &[u8; PAGE_SIZE] {
        // SAFETY: the page is owned, and &self excludes every safe change.
        unsafe { &*self.0.0.0.get() }
    }

    pub fn page(&self) -> PageRef<'_> {
        &self.0.0
    }

    pub fn page_mut(&mut self) -> PageMut<'_> {
        &mut self.0.0
    }
}

impl Default for PageBuf {
    fn default() -> PageBuf {
        PageBuf::new()
    }
}

impl Clone for PageBuf {
    fn clone(&self) -> PageBuf {
        PageBuf::from_bytes(self.as_bytes())
    }
}

// SAFETY: shared borrows of an owned page only read; see `PageBuf::as_bytes`.
unsafe impl Sync for PageBuf {}

impl Deref for PageBuf {
    type Target = Page;
    fn deref(&self) -> &Page {
        &self.0.0
    }
}

impl DerefMut for PageBuf {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.0.0
    }
}
