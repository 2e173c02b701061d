// The server under test, found in the environment; `cargo xtask test js` puts it there.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { BlobServiceClient } from "@azure/storage-blob";

const { LAZULI_TEST_CONNECTION_STRING: connectionString, LAZULI_TEST_CLOCK_URL: clockUrl } = process.env;
if (!connectionString || !clockUrl) {
  throw new Error("no server: set LAZULI_TEST_CONNECTION_STRING and LAZULI_TEST_CLOCK_URL");
}

// A retry would hide what the server answered first.
export const service = BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } });

/** Let time pass for the server. */
export async function advance(seconds) {
  const answer = await fetch(clockUrl, { method: "POST", body: JSON.stringify({ advance_ms: seconds * 1000 }) });
  assert.ok(answer.ok, await answer.text());
}

/** An empty container with a name of its own, gone after the test, leased or not. */
export async function newContainer(test) {
  const container = service.getContainerClient("t" + randomUUID().replaceAll("-", ""));
  await container.create();
  test.after(async () => {
    try {
      await container.deleteIfExists();
    } catch (refused) {
      assert.equal(refused.statusCode, 412);
      await container.getBlobLeaseClient().breakLease(0);
      await container.delete();
    }
  });
  return container;
}

/** A blob with this content in a container of its own. */
export async function newBlob(test, content) {
  const blob = (await newContainer(test)).getBlockBlobClient("blob");
  if (content !== undefined) await blob.upload(content, Buffer.byteLength(content));
  return blob;
}

export const put = (blob, content, options) => blob.upload(content, Buffer.byteLength(content), options);
export const content = async (blob) => (await blob.downloadToBuffer()).toString();

/** What the service must refuse, and exactly how. */
export async function refused(status, code, asked) {
  await assert.rejects(asked, (error) => {
    assert.deepEqual([error.statusCode, error.code], [status, code], error.message);
    return true;
  });
}
