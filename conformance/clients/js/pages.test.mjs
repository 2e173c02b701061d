// Page blobs: disks that are written in places, snapshots of them, and what changed between two.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newContainer, refused, signed } from "./target.mjs";

const PAGE = 512;
const page = (letter, count = 1) => Buffer.alloc(count * PAGE, letter);

async function newDisk(t, pages = 16, options) {
  const container = await newContainer(t);
  const disk = container.getPageBlobClient("disk");
  await disk.create(pages * PAGE, options);
  return { container, disk };
}

// This client's `count` is the distance to the last byte, one less than a count.
const shown = (ranges) => ranges.map(({ offset, count }) => `${offset / PAGE}+${(count + 1) / PAGE}`).join(" ");
const read = (disk, offset, count) => disk.downloadToBuffer(offset * PAGE, count * PAGE);

test("pages are written, cleared and read", async (t) => {
  const { disk } = await newDisk(t);
  const { etag } = await disk.uploadPages(page("a", 4), 2 * PAGE, 4 * PAGE);
  await disk.uploadPages(page("b"), 10 * PAGE, PAGE);
  const cleared = await disk.clearPages(3 * PAGE, PAGE);
  assert.notEqual(cleared.etag, etag);
  assert.equal(shown((await disk.getPageRanges()).pageRange), "2+1 4+2 10+1");
  assert.equal(shown((await disk.getPageRanges(4 * PAGE, 2 * PAGE)).pageRange), "4+2");
  const expected = Buffer.concat([page("a"), page(0), page("a", 2), page(0, 4), page("b")]);
  assert.ok(expected.equals(await read(disk, 2, 9)));
  const told = await disk.getProperties();
  assert.deepEqual([told.blobType, told.contentLength, told.blobSequenceNumber], ["PageBlob", 16 * PAGE, 0]);
  await refused(416, "InvalidPageRange", disk.uploadPages(page("x"), 16 * PAGE, PAGE));
  await refused(400, "InvalidHeaderValue", disk.uploadPages(Buffer.alloc(100), 0, 100));
});

test("what changed since a snapshot", async (t) => {
  const { disk } = await newDisk(t);
  await disk.uploadPages(page("a", 4), 0, 4 * PAGE);
  const { snapshot: first } = await disk.createSnapshot();
  await disk.uploadPages(page("b"), 8 * PAGE, PAGE);
  await disk.clearPages(PAGE, PAGE);
  const { snapshot: second } = await disk.createSnapshot();
  await disk.uploadPages(page("c"), 12 * PAGE, PAGE);
  const sinceFirst = await disk.getPageRangesDiff(0, 16 * PAGE, first);
  assert.equal(shown(sinceFirst.pageRange), "8+1 12+1");
  assert.equal(shown(sinceFirst.clearRange), "1+1");
  const sinceSecond = await disk.getPageRangesDiff(0, 16 * PAGE, second);
  assert.equal(shown(sinceSecond.pageRange), "12+1");
  const between = await disk.withSnapshot(second).getPageRangesDiff(0, 16 * PAGE, first);
  assert.equal(shown(between.pageRange), "8+1");
  const iterated = [];
  for await (const range of disk.listPageRangesDiff(0, 16 * PAGE, first)) iterated.push(`${range.start / PAGE} ${range.isClear}`);
  assert.deepEqual(iterated.sort(), ["1 true", "12 false", "8 false"]);
  assert.ok(page("a", 4).equals(await read(disk.withSnapshot(first), 0, 4)));
});

test("page ranges by pages of a listing", async (t) => {
  const { disk } = await newDisk(t, 64);
  for (let number = 0; number < 20; number += 2) await disk.uploadPages(page("a"), number * PAGE, PAGE);
  const pages = [];
  for await (const answer of disk.listPageRanges().byPage({ maxPageSize: 4 })) pages.push(answer.pageRange.length);
  assert.deepEqual(pages, [4, 4, 2]);
});

test("sequence numbers order writers", async (t) => {
  const { disk } = await newDisk(t, 8, { blobSequenceNumber: 7 });
  assert.equal((await disk.updateSequenceNumber("increment")).blobSequenceNumber, 8);
  assert.equal((await disk.updateSequenceNumber("max", 5)).blobSequenceNumber, 8);
  assert.equal((await disk.updateSequenceNumber("max", 20)).blobSequenceNumber, 20);
  assert.equal((await disk.updateSequenceNumber("update", 3)).blobSequenceNumber, 3);
  const write = (conditions) => disk.uploadPages(page("a"), 0, PAGE, { conditions });
  await write({ ifSequenceNumberEqualTo: 3 });
  await write({ ifSequenceNumberLessThan: 4 });
  await write({ ifSequenceNumberLessThanOrEqualTo: 3 });
  await refused(412, "SequenceNumberConditionNotMet", write({ ifSequenceNumberEqualTo: 4 }));
  await refused(412, "SequenceNumberConditionNotMet", write({ ifSequenceNumberLessThan: 3 }));
  await refused(412, "SequenceNumberConditionNotMet", write({ ifSequenceNumberLessThanOrEqualTo: 2 }));
});

test("a disk grows and shrinks", async (t) => {
  const { disk } = await newDisk(t, 4);
  await disk.uploadPages(page("a", 4), 0, 4 * PAGE);
  await disk.resize(2 * PAGE);
  await disk.resize(1024 ** 4);
  assert.equal((await disk.getProperties()).contentLength, 1024 ** 4);
  assert.ok(Buffer.concat([page("a", 2), page(0, 2)]).equals(await read(disk, 0, 4)), "what was cut off is zeros");
  assert.equal(shown((await disk.getPageRanges()).pageRange), "0+2");
  await refused(400, "InvalidHeaderValue", disk.resize(100));
});

test("pages from a URL", async (t) => {
  const { container, disk } = await newDisk(t);
  await disk.uploadPages(Buffer.concat([page("a"), page("b")]), 0, 2 * PAGE);
  const other = container.getPageBlobClient("other");
  await other.create(4 * PAGE);
  await other.uploadPagesFromURL(await signed(disk), PAGE, 2 * PAGE, PAGE);
  assert.ok(Buffer.concat([page(0, 2), page("b"), page(0)]).equals(await read(other, 0, 4)));
  await refused(401, "CannotVerifyCopySource", other.uploadPagesFromURL(disk.url, 0, 0, PAGE));
});

test("incremental copies keep a snapshot each", async (t) => {
  const { container, disk } = await newDisk(t, 4);
  const backup = container.getPageBlobClient("backup");
  const kept = [];
  for (const letter of ["a", "b"]) {
    await disk.uploadPages(page(letter), 0, PAGE);
    const { snapshot } = await disk.createSnapshot();
    const sas = new URL(await signed(disk)).search.slice(1);
    await backup.startCopyIncremental(`${disk.withSnapshot(snapshot).url}&${sas}`);
    const told = await backup.getProperties();
    assert.deepEqual([told.copyStatus, told.isIncrementalCopy], ["success", true]);
    kept.push([told.destinationSnapshot, letter]);
  }
  for (const [snapshot, letter] of kept) {
    assert.ok(page(letter).equals(await read(backup.withSnapshot(snapshot), 0, 1)));
  }
  await refused(409, "OperationNotAllowedOnIncrementalCopyBlob", backup.download());
});
