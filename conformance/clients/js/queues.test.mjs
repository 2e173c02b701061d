// The Queue service as the official JavaScript client sees it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { QueueClient, QueueSASPermissions, QueueServiceClient } from "@azure/storage-queue";
import { advance, collect, refused } from "./target.mjs";

// A retry would hide what the server answered first.
const options = { retryOptions: { maxTries: 1 } };
const service = QueueServiceClient.fromConnectionString(process.env.LAZULI_TEST_CONNECTION_STRING, options);

async function newQueue(t) {
  const queue = service.getQueueClient("q" + randomUUID().replaceAll("-", ""));
  await queue.create();
  t.after(() => queue.deleteIfExists());
  return queue;
}

const receive = async (queue, options) => (await queue.receiveMessages(options)).receivedMessageItems;
const texts = (messages) => messages.map((message) => message.messageText);

test("create, create again, metadata, count", async (t) => {
  const queue = await newQueue(t);
  assert.equal((await queue.create())._response.status, 204);
  await refused(409, "QueueAlreadyExists", () => queue.create({ metadata: { a: "1" } }));
  assert.equal((await queue.createIfNotExists()).succeeded, false);
  await queue.setMetadata({ colour: "blue" });
  await queue.sendMessage("x");
  const properties = await queue.getProperties();
  assert.deepEqual(properties.metadata, { colour: "blue" });
  assert.equal(properties.approximateMessagesCount, 1);
  assert.equal(await queue.exists(), true);
  await queue.delete();
  assert.equal(await queue.exists(), false);
  await refused(404, "QueueNotFound", () => queue.sendMessage("x"));
});

test("listing by pages", async (t) => {
  const prefix = "j" + randomUUID().slice(0, 8);
  const names = ["a", "b", "c"].map((letter) => `${prefix}-${letter}`);
  for (const name of names) await service.createQueue(name, { metadata: { own: name } });
  t.after(() => Promise.all(names.map((name) => service.deleteQueue(name))));
  const found = await collect(service.listQueues({ prefix, includeMetadata: true }), (queue) => queue);
  assert.deepEqual(found.map((queue) => queue.name), names);
  assert.deepEqual(found.map((queue) => queue.metadata.own), names);
  const pages = await collect(service.listQueues({ prefix }).byPage({ maxPageSize: 2 }), (page) =>
    page.queueItems.map((queue) => queue.name),
  );
  assert.deepEqual(pages, [names.slice(0, 2), names.slice(2)]);
});

test("a message and its receipts", async (t) => {
  const queue = await newQueue(t);
  const sent = await queue.sendMessage("one <&>");
  const peeked = (await queue.peekMessages({ numberOfMessages: 5 })).peekedMessageItems;
  assert.deepEqual(peeked.map((message) => [message.messageText, message.dequeueCount]), [["one <&>", 0]]);
  const [got] = await receive(queue, { visibilityTimeout: 10 });
  assert.deepEqual([got.messageId, got.messageText, got.dequeueCount], [sent.messageId, "one <&>", 1]);
  assert.deepEqual(await receive(queue), []);
  await refused(404, "MessageNotFound", () => queue.deleteMessage(sent.messageId, sent.popReceipt));
  const updated = await queue.updateMessage(got.messageId, got.popReceipt, "two", 5);
  await refused(404, "MessageNotFound", () => queue.updateMessage(got.messageId, got.popReceipt, "three"));
  await advance(5);
  const [again] = await receive(queue);
  assert.deepEqual([again.messageText, again.dequeueCount], ["two", 2]);
  await refused(404, "MessageNotFound", () => queue.deleteMessage(got.messageId, updated.popReceipt));
  await queue.deleteMessage(again.messageId, again.popReceipt);
  await refused(404, "MessageNotFound", () => queue.deleteMessage(again.messageId, again.popReceipt));
});

test("order, delay, expiry, clear", async (t) => {
  const queue = await newQueue(t);
  await queue.sendMessage("later", { visibilityTimeout: 3 });
  await queue.sendMessage("short", { messageTimeToLive: 2 });
  for (const text of ["a", "b", "c"]) await queue.sendMessage(text, { messageTimeToLive: -1 });
  await advance(3);
  assert.deepEqual(texts(await receive(queue, { numberOfMessages: 32 })), ["a", "b", "c", "later"]);
  await queue.clearMessages();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

test("out of range", async (t) => {
  const queue = await newQueue(t);
  for (const numberOfMessages of [0, 33]) {
    await refused(400, "OutOfRangeQueryParameterValue", () => queue.receiveMessages({ numberOfMessages }));
    await refused(400, "OutOfRangeQueryParameterValue", () => queue.peekMessages({ numberOfMessages }));
  }
  await refused(400, "OutOfRangeQueryParameterValue", () => queue.receiveMessages({ visibilityTimeout: 0 }));
  await refused(400, "InvalidQueryParameterValue", () => queue.sendMessage("x", { messageTimeToLive: 0 }));
  await refused(413, "RequestBodyTooLarge", () => queue.sendMessage("x".repeat(65537)));
});

test("signatures and stored policies", async (t) => {
  const queue = await newQueue(t);
  const [startsOn, expiresOn] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  await queue.setAccessPolicy([{ id: "p", accessPolicy: { startsOn, expiresOn, permissions: "ap" } }]);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers.map((policy) => policy.id), ["p"]);
  const byPolicy = new QueueClient(await queue.generateSasUrl({ identifier: "p" }), undefined, options);
  await byPolicy.sendMessage("x");
  assert.deepEqual(texts(await receive(byPolicy)), ["x"]);
  await refused(403, "AuthorizationPermissionMismatch", () => byPolicy.peekMessages());
  const permissions = QueueSASPermissions.parse("r");
  const reader = new QueueClient(await queue.generateSasUrl({ permissions, expiresOn }), undefined, options);
  await reader.peekMessages();
  await refused(403, "AuthorizationPermissionMismatch", () => reader.sendMessage("x"));
  await refused(403, "AuthorizationFailure", () => reader.delete());
});

test("many consumers get each message once", async (t) => {
  const queue = await newQueue(t);
  const wanted = Array.from({ length: 200 }, (_, number) => `m${number}`);
  await Promise.all(wanted.map((text) => queue.sendMessage(text)));
  const given = [];
  const consume = async () => {
    for (;;) {
      const messages = await receive(queue, { numberOfMessages: 5, visibilityTimeout: 60 });
      if (messages.length === 0) return;
      for (const { messageId, popReceipt, messageText } of messages) {
        await queue.deleteMessage(messageId, popReceipt);
        given.push(messageText);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, consume));
  assert.deepEqual(given.sort(), wanted.sort());
});
