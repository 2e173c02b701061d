use super::*;

fn write(file: &SimFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.write_at(offset, &[IoSlice::new(bytes)])
}

fn contents(images: &[SimDisk], name: &str) -> Vec<Option<Vec<u8>>> {
    let read = |image: &SimDisk| {
        let file = image.dir(Path::new("d")).open_file(name).ok()?;
        file.read_at(0, file.size().ok()? as usize).ok()
    };
    let mut all: Vec<_> = images.iter().map(read).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn an_unsynced_write_may_be_there_or_not_and_a_synced_one_is() {
    let disk = SimDisk::new();
    let dir = disk.dir(Path::new("d"));
    let file = dir.create("f").unwrap();
    write(&file, 0, b"one").unwrap();
    assert_eq!(contents(&disk.images(), "f"), [None, Some(vec![]), Some(b"one".to_vec())]);
    file.sync().unwrap();
    dir.sync().unwrap();
    assert_eq!(contents(&disk.images(), "f"), [Some(b"one".to_vec())]);
    write(&file, 0, b"a").unwrap();
    write(&file, 2, b"c").unwrap();
    let expected = ["anc", "ane", "onc", "one"].map(|text| Some(text.as_bytes().to_vec()));
    assert_eq!(contents(&disk.images(), "f"), expected);
}

#[test]
fn a_long_write_may_be_torn() {
    let disk = SimDisk::new();
    let dir = disk.dir(Path::new("d"));
    let file = dir.create("f").unwrap();
    dir.sync().unwrap();
    file.allocate(1_024).unwrap();
    file.sync().unwrap();
    write(&file, 0, &[7; 1_024]).unwrap();
    let mut torn = vec![7; 512];
    torn.resize(1_024, 0);
    assert!(contents(&disk.images(), "f").contains(&Some(torn)));
}

#[test]
fn a_failed_sync_leaves_its_writes_in_doubt_for_ever() {
    let disk = SimDisk::new();
    let dir = disk.dir(Path::new("d"));
    let file = dir.create("f").unwrap();
    dir.sync().unwrap();
    write(&file, 0, b"x").unwrap();
    disk.set_fault(Some(Fault::Fail { call: disk.calls(), errno: 5 }));
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    file.sync().unwrap();
    assert_eq!(contents(&disk.images(), "f"), [Some(vec![]), Some(b"x".to_vec())]);
}

#[test]
fn after_the_cut_every_call_fails() {
    let disk = SimDisk::new();
    let dir = disk.dir(Path::new("d"));
    disk.set_fault(Some(Fault::Cut { call: 1 }));
    let file = dir.create("f").unwrap();
    assert!(write(&file, 0, b"x").is_err());
    assert!(file.sync().is_err());
    assert!(dir.create("g").is_err());
}
