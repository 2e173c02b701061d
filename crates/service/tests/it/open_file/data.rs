//! Bytes of open files.

use super::*;

#[tokio::test]
async fn bytes_are_read_as_they_were_written() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let file = smb.open(open_if("f")).await.unwrap();
    assert_eq!(told(file.read(0, 10).await), "EndOfFile");
    assert_eq!(told(file.read(0, 0).await), "ok");
    write(&file, 5, b"hello").await.unwrap();
    assert_eq!(read_all(&file).await, b"\0\0\0\0\0hello");
    assert_eq!(file.read(8, 100).await.unwrap().concat(), b"lo");
    assert_eq!(told(file.read(10, 1).await), "EndOfFile");
    let large: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
    write(&file, 100_000, &large).await.unwrap();
    let read = read_all(&file).await;
    assert_eq!((read.len(), &read[100_000..] == large.as_slice()), (400_000, true));
    assert!(read[10..100_000].iter().all(|byte| *byte == 0));
    assert_eq!(bench.usage().await, 400_000);
    let (ranges, more) = file.allocated_ranges(0..400_000, 10).await.unwrap();
    assert_eq!((ranges, more), (vec![5..10, 100_000..400_000], false));
    file.zero_range(100_000..399_872).await.unwrap();
    let (ranges, _) = file.allocated_ranges(0..400_000, 10).await.unwrap();
    assert_eq!(ranges.last(), Some(&(399_872..400_000)));
    file.set_end_of_file(7).await.unwrap();
    assert_eq!(read_all(&file).await, b"\0\0\0\0\0he");
    file.set_end_of_file(9).await.unwrap();
    assert_eq!(read_all(&file).await, b"\0\0\0\0\0he\0\0");
    file.set_allocation(1 << 20).await.unwrap();
    assert_eq!(file.info().await.unwrap().length, 9);
    file.set_allocation(6).await.unwrap();
    assert_eq!(file.info().await.unwrap().length, 6);
    file.flush().await.unwrap();
    let other = smb.open(open_if("g")).await.unwrap();
    write(&other, 0, b"abcdef").await.unwrap();
    assert_eq!(file.copy_from(&other, 1, 2, 4).await.unwrap(), 4);
    assert_eq!(read_all(&file).await, b"\0\0bcde");
    assert_eq!(told(file.copy_from(&other, 5, 0, 4).await), "InvalidParameter");
    assert_eq!(told(file.write(u64::MAX, Bytes::from_static(b"x")).await), "InvalidParameter");
    assert_eq!(told(file.write(5 << 40, Bytes::from_static(b"x")).await), "DiskFull");
}

/// What an open is not for, it does not do.
#[tokio::test]
async fn each_open_does_what_it_was_opened_for() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    smb.open(open_if("f")).await.unwrap();
    let reader = smb.open(access(open("f"), AccessMask::READ_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(told(write(&reader, 0, b"x").await), "AccessDenied");
    assert_eq!(told(reader.set_end_of_file(1).await), "AccessDenied");
    assert_eq!(told(reader.set_disposition(true, false).await), "AccessDenied");
    assert_eq!(told(reader.set_basic_info(BasicInfo::default()).await), "AccessDenied");
    let writer = smb.open(access(open("f"), AccessMask::WRITE_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(told(writer.read(0, 1).await), "AccessDenied");
    write(&writer, 0, b"grows without APPEND_DATA").await.unwrap();
    let appender = smb.open(access(open("f"), AccessMask::APPEND_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(told(write(&appender, 0, b"x").await), "AccessDenied");
    write(&appender, 25, b"!").await.unwrap();
    let directory = smb.open(directory("d")).await.unwrap();
    assert_eq!(told(directory.read(0, 1).await), "InvalidDeviceRequest");
    assert_eq!(told(write(&directory, 0, b"x").await), "InvalidDeviceRequest");
}

/// Growth counts against the quota, and what does not fit is refused.
#[tokio::test]
async fn the_quota() {
    let bench = bench().await;
    bench.set_quota(1).await;
    let smb = bench.smb(1).await;
    let file = smb.open(open_if("f")).await.unwrap();
    file.set_end_of_file(1 << 30).await.unwrap();
    assert_eq!(told(write(&file, 1 << 30, b"x").await), "DiskFull");
    assert_eq!(told(file.set_end_of_file((1 << 30) + 1).await), "DiskFull");
    write(&file, (1 << 30) - 1, b"x").await.unwrap();
    let volume = smb.share.volume().await.unwrap();
    assert_eq!((volume.total, volume.free, volume.label.as_str()), (1 << 30, 0, "s"));
    assert_eq!(told(smb.open(Create { allocation_size: 2 << 30, ..open_if("g") }).await), "DiskFull");
}

/// Times: 0 leaves one, -1 keeps it from being changed through this open, -2 ends that, and so does no write.
#[tokio::test]
async fn times_that_are_set_stay() {
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let (file, other) = (smb.open(open_if("f")).await.unwrap(), smb.open(open_if("f")).await.unwrap());
    let first = file.info().await.unwrap();
    write(&file, 0, b"x").await.unwrap();
    let second = file.info().await.unwrap();
    assert!(second.last_written > first.last_written && second.created == first.created);
    let set = |last_written| BasicInfo { last_written, ..BasicInfo::default() };
    let then = later(first.created, -1_000);
    file.set_basic_info(set(TimeWish::Set(then))).await.unwrap();
    write(&file, 0, b"y").await.unwrap();
    assert_eq!(file.info().await.unwrap().last_written, then, "set through this open");
    write(&other, 0, b"y").await.unwrap();
    let third = file.info().await.unwrap().last_written;
    assert!(third > then, "another open does");
    file.set_basic_info(set(TimeWish::Freeze)).await.unwrap();
    write(&file, 0, b"z").await.unwrap();
    assert_eq!(file.info().await.unwrap().last_written, third);
    file.set_basic_info(set(TimeWish::Thaw)).await.unwrap();
    write(&file, 0, b"z").await.unwrap();
    assert!(file.info().await.unwrap().last_written > third);
    let hidden = BasicInfo { attributes: Some(FileAttributes::HIDDEN), ..BasicInfo::default() };
    file.set_basic_info(hidden).await.unwrap();
    assert_eq!(file.info().await.unwrap().attributes, FileAttributes::HIDDEN);
    let bad = BasicInfo { attributes: Some(FileAttributes::DIRECTORY), ..BasicInfo::default() };
    assert_eq!(told(file.set_basic_info(bad).await), "InvalidParameter");
}

#[tokio::test]
async fn security_descriptors_come_back() {
    use lazuli_model::sddl::SecurityDescriptor;
    let bench = bench().await;
    let smb = bench.smb(1).await;
    let all = AccessMask::FILE_ALL.and(AccessMask::ACCESS_SYSTEM_SECURITY);
    let file = smb.open(access(open_if("f"), all, Rights::ALL)).await.unwrap();
    let dacl = SecurityParts { dacl: true, ..SecurityParts::default() };
    let owner = SecurityParts { owner: true, ..SecurityParts::default() };
    let first = file.security(dacl).await.unwrap();
    assert!(first.dacl.is_some() && first.owner.is_none());
    let new = SecurityDescriptor::parse_text("O:BAG:BAD:(A;;FR;;;WD)").unwrap();
    file.set_security(dacl, new.clone()).await.unwrap();
    assert_eq!(file.security(dacl).await.unwrap().dacl, new.dacl);
    assert_eq!(file.security(owner).await.unwrap().owner, first_owner(&file).await);
    let made = Create { security: Some(new.clone()), ..open_if("g") };
    let made = smb.open(made).await.unwrap();
    assert_eq!(made.security(owner).await.unwrap().owner, new.owner);
    let reader = smb.open(access(open("f"), AccessMask::READ_DATA, Rights::ALL)).await.unwrap();
    assert_eq!(told(reader.security(dacl).await), "AccessDenied");
    assert_eq!(told(reader.set_security(dacl, new).await), "AccessDenied");
}

async fn first_owner(file: &OpenFile) -> Option<lazuli_model::sddl::Sid> {
    file.security(SecurityParts { owner: true, ..SecurityParts::default() }).await.unwrap().owner
}

/// Writes to one file at once share commits; none is lost, and those that meet come one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_writes_to_one_file() {
    let bench = bench().await;
    bench.smb(0).await.open(open_if("f")).await.unwrap().close().await.unwrap();
    let mut files = Vec::new();
    for guid in 0..4 {
        files.push(bench.smb(guid).await.open(open("f")).await.unwrap());
    }
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..200_u64 {
        let file = files[number as usize % files.len()].clone();
        writers.spawn(async move {
            // Blocks that lie apart, some of them longer than a row holds, over some that meet in one place.
            let length = if number % 10 == 0 { 20_000 } else { 1_000 };
            let byte = number as u8 + 1;
            write(&file, number * 20_000, &vec![byte; length]).await.unwrap();
            write(&file, 10_000_000, &vec![byte; 3_000]).await.unwrap();
        });
    }
    timeout(PATIENCE, writers.join_all()).await.unwrap();
    let mut read = Vec::new();
    while let Ok(parts) = files[0].read(read.len() as u64, 1 << 20).await {
        read.extend(parts.concat());
    }
    assert_eq!(read.len(), 10_003_000);
    for number in 0..200_usize {
        let length = if number % 10 == 0 { 20_000 } else { 1_000 };
        let (block, byte) = (&read[number * 20_000..(number + 1) * 20_000], number as u8 + 1);
        assert!(block[..length].iter().all(|b| *b == byte), "block {number}");
        assert!(block[length..].iter().all(|b| *b == 0), "behind block {number}");
    }
    let last = &read[10_000_000..];
    assert!(last.iter().all(|b| *b == last[0]) && last[0] > 0, "one of them, and all of it");
    assert_eq!(bench.usage().await, 10_003_000);
}

/// In a batch each write has its own answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_refused_leaves_its_neighbours() {
    let bench = bench().await;
    bench.set_quota(1).await;
    let smb = bench.smb(1).await;
    let (file, other) = (smb.open(open_if("f")).await.unwrap(), smb.open(open_if("f")).await.unwrap());
    file.lock(&[LockRange { offset: 5_000, length: 10, exclusive: true }], false).await.unwrap();
    for _ in 0..20 {
        let (one, two, three, four) = tokio::join!(
            write(&other, 0, b"fits"),
            write(&other, 5_000, b"locked"),
            write(&other, 2 << 30, b"too far"),
            write(&file, 5_000, b"own"),
        );
        let all = [told(one), told(two), told(three), told(four)];
        assert_eq!(all, ["ok", "FileLockConflict", "DiskFull", "ok"]);
    }
    assert_eq!(other.info().await.unwrap().length, 5_003);
}
