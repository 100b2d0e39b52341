use super::*;
use crate::DecodedRecord;
use ids::Oid;
use page::PageBuf;

fn policy(redo: u64, compression: Compression) -> ImagePolicy {
    ImagePolicy { redo: Lsn(redo), full_page_writes: true, compression, checked: 0 }
}

fn decode(builder: &mut RecordBuilder) -> DecodedRecord {
    builder.seal(Lsn(40));
    let mut bytes = builder.out.clone();
    assert_eq!(crate::record::record_crc(&bytes), RecordHeader::read(&bytes).crc);
    let mut record = DecodedRecord::default();
    record.swap_bytes(&mut bytes);
    record.decode(Lsn(1000), Lsn(2000)).expect("own record decodes");
    record
}

fn some_page(lsn: u64) -> PageBuf {
    let mut page = PageBuf::new();
    page.set_u32_at(0, (lsn >> 32) as u32);
    page.set_u32_at(4, lsn as u32);
    page.set_u16_at(12, 40);
    page.set_u16_at(14, 6000);
    for i in 6000..8192 {
        page.bytes_mut()[i] = (i / 7) as u8;
    }
    page
}

const REL: RelFile = RelFile::new(Oid(1663), Oid(5), Oid(16384));

#[test]
fn records_round_trip_with_images_in_every_compression() {
    let (old, new) = (some_page(100), some_page(5000));
    for compression in [Compression::Off, Compression::Pglz, Compression::Lz4, Compression::Zstd] {
        let mut builder = RecordBuilder::new(RmgrId::Heap, 0x20);
        builder
            .main(&[7; 300])
            .block(0, REL, Fork::Main, BlockNo(9), RegFlags::STANDARD)
            .block_data(0, b"dropped")
            .block(1, REL, Fork::Main, BlockNo(10), RegFlags::STANDARD)
            .block_data(1, b"kept")
            .block(3, REL, Fork::Vm, BlockNo(0), RegFlags::WILL_INIT);
        builder.origin(3).toplevel_xid(Xid(77));
        let pages = [(0, old.page()), (1, new.page())];
        let images = builder.assemble(&pages, Xid(78), &policy(1000, compression)).unwrap();
        assert_eq!(images, 1);
        let record = decode(&mut builder);
        assert_eq!(record.main(), [7; 300]);
        assert_eq!((record.origin, record.toplevel_xid, record.xid()), (3, Xid(77), Xid(78)));
        assert_eq!(record.header.prev, Lsn(40));
        assert_eq!(record.block_data(0), None);
        assert_eq!(record.block_data(1), Some(&b"kept"[..]));
        assert!(record.block(2).is_none());
        let vm = record.block(3).unwrap();
        assert!(vm.will_init() && vm.image.is_none());
        assert_eq!((vm.rel, vm.fork, vm.block), (REL, Fork::Vm, BlockNo(0)));
        let image = record.block(0).unwrap().image.unwrap();
        assert_eq!((image.hole_offset, image.hole_length), (40, 5960));
        assert_eq!(image.compressed(), compression != Compression::Off);
        let mut restored = some_page(1);
        record.restore_image(0, &mut restored).unwrap();
        assert_eq!(restored.as_bytes()[..40], old.as_bytes()[..40]);
        assert!(restored.as_bytes()[40..6000].iter().all(|b| *b == 0));
        assert_eq!(restored.as_bytes()[6000..], old.as_bytes()[6000..]);
    }
}

#[test]
fn decoding_damaged_bytes_does_not_panic() {
    let page = some_page(1);
    let mut builder = RecordBuilder::new(RmgrId::Heap, 0);
    builder.main(b"main").block(0, REL, Fork::Main, BlockNo(1), RegFlags::STANDARD);
    builder.assemble(&[(0, page.page())], Xid(3), &policy(10, Compression::Pglz)).unwrap();
    builder.seal(Lsn(8));
    let good = builder.out.clone();
    let mut out = PageBuf::new();
    let random = vfs::SeededRandom::new(15);
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            let at = RECORD_HEADER as u64 + random.below(60);
            bytes[at as usize] = random.next() as u8;
        }
        bytes.truncate(RECORD_HEADER + random.below(bytes.len() as u64 - 23) as usize);
        let mut record = DecodedRecord::default();
        record.swap_bytes(&mut bytes);
        if record.decode(Lsn(8), Lsn(16)).is_ok() {
            let ids: Vec<u8> = record.blocks().map(|(id, _)| id).collect();
            for id in ids {
                let _ = (record.block_data(id), record.restore_image(id, &mut out));
            }
            let _ = record.main();
        }
    }
}

#[test]
fn an_image_that_does_not_shrink_is_stored_plain() {
    let random = vfs::SeededRandom::new(7);
    for hole in [false, true] {
        let mut old = some_page(100);
        let data_from = if hole { 6000 } else { 24 };
        old.set_u16_at(14, data_from as u16);
        let lower = if hole { 40 } else { 24 };
        old.set_u16_at(12, lower as u16);
        for range in [16..lower, data_from..8192] {
            old.bytes_mut()[range].iter_mut().for_each(|b| *b = random.next() as u8);
        }
        for compression in [Compression::Pglz, Compression::Lz4, Compression::Zstd] {
            let mut builder = RecordBuilder::new(RmgrId::Heap, 0);
            builder.main(b"m").block(0, REL, Fork::Main, BlockNo(1), RegFlags::STANDARD);
            let pages = [(0, old.page())];
            builder.assemble(&pages, Xid(3), &policy(1000, compression)).unwrap();
            let plain = builder.out.len();
            builder.assemble(&pages, Xid(3), &policy(1000, Compression::Off)).unwrap();
            let off = builder.out.len();
            assert_eq!(off, plain, "{compression:?} {hole}");
            builder.assemble(&pages, Xid(3), &policy(1000, compression)).unwrap();
            let record = decode(&mut builder);
            let image = record.block(0).unwrap().image.unwrap();
            assert!(!image.compressed(), "{compression:?}");
            let mut restored = some_page(1);
            record.restore_image(0, &mut restored).unwrap();
            assert_eq!(restored.as_bytes()[data_from..], old.as_bytes()[data_from..]);
        }
    }
}
