// Append blobs: logs that many write to, and that are sealed in the end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, content, newContainer, refused, signed } from "./target.mjs";

async function newLog(t, options) {
  const container = await newContainer(t);
  const log = container.getAppendBlobClient("log");
  await log.create(options);
  return { container, log };
}

const append = (log, text, options) => log.appendBlock(text, Buffer.byteLength(text), options);

test("a log is written line by line", async (t) => {
  const { log } = await newLog(t, { metadata: { kind: "log" } });
  const told = [];
  for (const line of ["one\n", "two\n", "three\n"]) told.push(await append(log, line));
  assert.deepEqual(told.map((answer) => [answer.blobAppendOffset, answer.blobCommittedBlockCount]), [["0", 1], ["4", 2], ["8", 3]]);
  assert.equal(await content(log), "one\ntwo\nthree\n");
  const properties = await log.getProperties();
  assert.deepEqual([properties.blobType, properties.blobCommittedBlockCount, properties.metadata], ["AppendBlob", 3, { kind: "log" }]);
});

test("created once", async (t) => {
  const { log } = await newLog(t);
  await append(log, "kept");
  assert.equal((await log.createIfNotExists()).succeeded, false);
  assert.equal(await content(log), "kept");
});

test("conditions on position and size", async (t) => {
  const { log } = await newLog(t);
  await append(log, "0123456789", { conditions: { appendPosition: 0, maxSize: 10 } });
  await refused(412, "AppendPositionConditionNotMet", append(log, "x", { conditions: { appendPosition: 0 } }));
  await refused(412, "MaxBlobSizeConditionNotMet", append(log, "x", { conditions: { maxSize: 10 } }));
  assert.equal(await content(log), "0123456789");
});

test("lines of a crowd are whole", async (t) => {
  const { log } = await newLog(t);
  const lines = Array.from({ length: 120 }, (_, number) => String(number).padStart(4, "0").repeat(25) + "\n");
  const told = await Promise.all(lines.map((line) => append(log, line)));
  const all = await content(log);
  assert.equal(all.length, lines.length * 101);
  told.forEach(({ blobAppendOffset }, index) => assert.equal(all.substr(Number(blobAppendOffset), 101), lines[index]));
});

test("of the appenders at one position one wins", async (t) => {
  const { log } = await newLog(t);
  const tries = Array.from({ length: 16 }, (_, number) => append(log, `writer ${number}`, { conditions: { appendPosition: 0 } }));
  const outcomes = await Promise.allSettled(tries);
  const winners = outcomes.flatMap(({ status }, number) => (status === "fulfilled" ? [number] : []));
  assert.equal(winners.length, 1);
  assert.ok(outcomes.every(({ status, reason }) => status === "fulfilled" || reason.code === "AppendPositionConditionNotMet"));
  assert.equal(await content(log), `writer ${winners[0]}`);
});

test("blocks from a URL", async (t) => {
  const { container, log } = await newLog(t);
  const source = container.getBlockBlobClient("source");
  await source.upload("0123456789", 10);
  await log.appendBlockFromURL(await signed(source), 2, 5);
  await log.appendBlockFromURL(await signed(source), 0, 1, { conditions: { appendPosition: 5 } });
  assert.equal(await content(log), "234560");
  const { etag } = await source.getProperties();
  await log.appendBlockFromURL(await signed(source), 9, 1, { sourceConditions: { ifMatch: etag } });
  assert.equal(await content(log), "2345609");
  // Of a source that is read as by a client, a failed condition is answered as a client would hear it.
  const unless = { sourceConditions: { ifNoneMatch: etag } };
  await refused(304, undefined, log.appendBlockFromURL(await signed(source), 0, 1, unless));
});

test("what is sealed is read and not written", async (t) => {
  const { container, log } = await newLog(t);
  await append(log, "all");
  await refused(412, "AppendPositionConditionNotMet", log.seal({ conditions: { appendPosition: 2 } }));
  assert.equal((await log.seal()).isSealed, true);
  await refused(409, "BlobIsSealed", append(log, "more"));
  assert.equal((await log.getProperties()).isSealed, true);
  assert.deepEqual(await collect(container.listBlobsFlat(), (item) => item.properties.isSealed), [true]);
  assert.equal(await content(log), "all");
  const copy = container.getAppendBlobClient("copy");
  await (await copy.beginCopyFromURL(log.url, { sealBlob: false })).pollUntilDone();
  await append(copy, " and more");
  assert.equal(await content(copy), "all and more");
});
