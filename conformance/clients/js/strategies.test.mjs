// The three ways to manage concurrency, as the service's documentation describes them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { advance, content, newBlob, newContainer, put, refused } from "./target.mjs";

describe("optimistic", () => {
  test("the original ETag is refused after another writer", async (t) => {
    const blob = await newBlob(t, "mine");
    const { etag } = await blob.getProperties();
    await put(blob, "theirs");
    await refused(412, "ConditionNotMet", put(blob, "mine again", { conditions: { ifMatch: etag } }));
    assert.equal(await content(blob), "theirs");
  });

  test("the current ETag is taken and replaced", async (t) => {
    const blob = await newBlob(t);
    const first = await put(blob, "one");
    const second = await put(blob, "two", { conditions: { ifMatch: first.etag } });
    assert.notEqual(second.etag, first.etag);
    assert.equal((await blob.getProperties()).etag, second.etag);
  });

  const writes = {
    "Set Blob Metadata": (blob, options) => blob.setMetadata({ a: "b" }, options),
    "Set Blob Properties": (blob, options) => blob.setHTTPHeaders({ blobContentType: "text/plain" }, options),
    "Put Block List": (blob, options) => blob.commitBlockList([], options),
    "Snapshot Blob": (blob, options) => blob.createSnapshot(options),
    "Delete Blob": (blob, options) => blob.delete(options),
  };
  for (const [title, write] of Object.entries(writes)) {
    test(`${title} honours If-Match`, async (t) => {
      const blob = await newBlob(t);
      const old = await put(blob, "one");
      const current = await put(blob, "two");
      await refused(412, "ConditionNotMet", write(blob, { conditions: { ifMatch: old.etag } }));
      assert.equal(await content(blob), "two");
      await write(blob, { conditions: { ifMatch: current.etag } });
    });
  }

  test("create if absent", async (t) => {
    const blob = await newBlob(t);
    await put(blob, "first", { conditions: { ifNoneMatch: "*" } });
    await refused(409, "BlobAlreadyExists", put(blob, "second", { conditions: { ifNoneMatch: "*" } }));
    assert.equal(await content(blob), "first");
  });

  test("many create at once, one does", async (t) => {
    const container = await newContainer(t);
    for (let round = 0; round < 10; round += 1) {
      const blob = container.getBlockBlobClient(`blob${round}`);
      const tries = Array.from({ length: 50 }, (_, index) => put(blob, `${index}`, { conditions: { ifNoneMatch: "*" } }));
      const outcomes = await Promise.allSettled(tries);
      const winners = outcomes.flatMap((outcome, index) => (outcome.status === "fulfilled" ? [index] : []));
      assert.equal(winners.length, 1);
      assert.ok(outcomes.every((outcome) => outcome.status === "fulfilled" || outcome.reason.code === "BlobAlreadyExists"));
      assert.equal(await content(blob), `${winners[0]}`);
    }
  });

  test("sixteen count together and no update is lost", async (t) => {
    const blob = await newBlob(t, "0");
    const count = async () => {
      for (let done = 0; done < 5; ) {
        const read = await blob.download();
        const chunks = [];
        for await (const chunk of read.readableStreamBody) chunks.push(chunk);
        const next = `${Number(Buffer.concat(chunks).toString()) + 1}`;
        try {
          await put(blob, next, { conditions: { ifMatch: read.etag } });
          done += 1;
        } catch (error) {
          assert.equal(error.statusCode, 412, error.message);
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, count));
    assert.equal(await content(blob), "80");
  });
});

describe("pessimistic", () => {
  test("a write needs the lease id", async (t) => {
    const blob = await newBlob(t, "old");
    const lease = blob.getBlobLeaseClient();
    const { leaseId } = await lease.acquireLease(60);
    await refused(412, "LeaseIdMissing", put(blob, "new"));
    await refused(412, "LeaseIdMissing", blob.setMetadata({ a: "b" }));
    await refused(412, "LeaseIdMissing", blob.delete());
    await refused(412, "LeaseIdMismatchWithBlobOperation", put(blob, "new", { conditions: { leaseId: randomUUID() } }));
    assert.equal(await content(blob), "old");
    await put(blob, "new", { conditions: { leaseId } });
    assert.equal(await content(blob), "new");
  });

  test("acquire on a leased blob", async (t) => {
    const blob = await newBlob(t, "x");
    await blob.getBlobLeaseClient().acquireLease(15);
    await refused(409, "LeaseAlreadyPresent", blob.getBlobLeaseClient().acquireLease(15));
  });

  test("a write with an expired lease", async (t) => {
    const blob = await newBlob(t, "old");
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(15);
    await advance(16);
    assert.equal((await blob.getProperties()).leaseState, "expired");
    await refused(412, "LeaseLost", put(blob, "late", { conditions: { leaseId } }));
    assert.equal(await content(blob), "old");
    await put(blob, "anybody");
    await refused(412, "LeaseNotPresentWithBlobOperation", put(blob, "late", { conditions: { leaseId } }));
  });

  test("renew, change, release, break", async (t) => {
    const blob = await newBlob(t, "x");
    const lease = blob.getBlobLeaseClient();
    await lease.acquireLease(15);
    await advance(10);
    await lease.renewLease();
    await advance(10);
    assert.equal((await blob.getProperties()).leaseState, "leased");
    await lease.changeLease(randomUUID());
    await put(blob, "y", { conditions: { leaseId: lease.leaseId } });
    await lease.releaseLease();
    assert.equal((await blob.getProperties()).leaseState, "available");
    await lease.acquireLease(-1);
    assert.equal((await lease.breakLease(5)).leaseTime, 5);
    assert.equal((await blob.getProperties()).leaseState, "breaking");
    await advance(6);
    assert.equal((await blob.getProperties()).leaseState, "broken");
    await put(blob, "z");
  });

  test("many acquire at once, one does", async (t) => {
    const blob = await newBlob(t, "x");
    for (let round = 0; round < 10; round += 1) {
      const leases = Array.from({ length: 50 }, () => blob.getBlobLeaseClient());
      const outcomes = await Promise.allSettled(leases.map((lease) => lease.acquireLease(60)));
      const winners = leases.filter((_, index) => outcomes[index].status === "fulfilled");
      assert.equal(winners.length, 1);
      assert.ok(outcomes.every((outcome) => outcome.status === "fulfilled" || outcome.reason.code === "LeaseAlreadyPresent"));
      await winners[0].releaseLease();
    }
  });

  test("a container lease guards only delete", async (t) => {
    const container = await newContainer(t);
    const { leaseId } = await container.getBlobLeaseClient().acquireLease(60);
    const blob = container.getBlockBlobClient("blob");
    await put(blob, "x");
    await container.setMetadata({ a: "b" });
    await blob.delete();
    await refused(412, "LeaseIdMissing", container.delete());
    await refused(412, "LeaseIdMismatchWithContainerOperation", container.delete({ conditions: { leaseId: randomUUID() } }));
    await container.delete({ conditions: { leaseId } });
  });
});

describe("last writer wins", () => {
  test("without conditions the last write stays", async (t) => {
    const blob = await newBlob(t);
    await put(blob, "first", { metadata: { by: "first", only: "first" } });
    await put(blob, "second", { metadata: { by: "second" } });
    assert.equal(await content(blob), "second");
    assert.deepEqual((await blob.getProperties()).metadata, { by: "second" });
  });

  test("writers at once never mix", async (t) => {
    const blob = await newBlob(t);
    const writers = "abcdefgh".split("");
    const told = await Promise.all(writers.map((by) => put(blob, by.repeat(50_000), { metadata: { by } })));
    assert.equal(new Set(told.map((answer) => answer.etag)).size, writers.length);
    const { etag, metadata } = await blob.getProperties();
    assert.equal(await content(blob), metadata.by.repeat(50_000));
    assert.equal(told[writers.indexOf(metadata.by)].etag, etag);
  });
});
